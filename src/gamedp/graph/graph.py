"""A graph of choices as arrays, and its transpose: the choices that lead to each state.

S states, C choices, T transitions. The probability of a transition does not matter here; all have
a positive one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gamedp.runtime.jit import compiled

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers = npt.NDArray[np.signedinteger[Any]]
    Floats = npt.NDArray[np.float64]

ONE = np.uintp(1)


class Graph(NamedTuple):
    """The choices of each state, and the successors of each choice.

    Attributes
    ----------
    choice_offsets : (S + 1,)
        The choices of state s are ``choice_offsets[s] .. choice_offsets[s + 1] - 1``.
    transition_offsets : (C + 1,)
        The transitions of choice c are ``transition_offsets[c] .. transition_offsets[c + 1] - 1``.
    successors : (T,)
        The state that each transition leads to.
    """

    choice_offsets: Integers
    transition_offsets: Integers
    successors: Integers


class Reverse(NamedTuple):
    """The transposed graph: the choices that may lead to each state.

    Attributes
    ----------
    owners : (C,)
        The state of each choice.
    offsets, choices : (S + 1,), (T,)
        The choices that may lead to state s are ``choices[offsets[s]:offsets[s + 1]]``, ascending;
        one that has s as a successor several times is listed as often. ``-1 - choice`` represents a
        transition on which the players change places, if these are distinguished.
    """

    owners: Integers
    offsets: Integers
    choices: Integers


def transpose(
    row_offsets: Integers,
    successors: Integers,
    probabilities: Floats | None,
    offsets: Integers,
    rows: Integers,
) -> None:
    """List for every state the rows of a matrix that may lead to it, by counting.

    The rows are the choices; or the states, if every choice has one transition.

    Parameters
    ----------
    row_offsets, successors : (R + 1,), (T,)
        Row r leads to ``successors[row_offsets[r]:row_offsets[r + 1]]``.
    probabilities : (T,) or None
        Negative for transitions on which the players change places: these are listed as
        ``-1 - row``. None if that does not matter.
    offsets, rows : (S + 1,), (T,)
        Filled: the rows that lead to state s are ``rows[offsets[s]:offsets[s + 1]]``, ascending.
    """
    offsets[:] = 0
    for t in range(len(successors)):
        offsets[np.uintp(successors[t]) + ONE] += 1
    for state in range(1, len(offsets)):
        offsets[state] += offsets[state - 1]
    # While the lists are filled, the offset of a state is where its next row belongs; in the end,
    # that is where the next state's list begins.
    start = np.uintp(0)
    for row in range(len(row_offsets) - 1):
        stop = np.uintp(row_offsets[row + 1])
        for t in range(start, stop):
            successor = np.uintp(successors[t])
            place = offsets[successor]
            offsets[successor] = place + 1
            if probabilities is None:
                rows[np.uintp(place)] = row
            else:
                rows[np.uintp(place)] = row if probabilities[t] > 0.0 else -1 - row
        start = stop
    for state in range(len(offsets) - 1, 0, -1):
        offsets[state] = offsets[state - 1]
    offsets[0] = 0


transpose_jit = compiled(transpose)
