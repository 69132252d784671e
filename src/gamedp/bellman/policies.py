"""Following a policy: Bellman's equation with some of the choices fixed.

The arrays are described in :mod:`gamedp.bellman.equation`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.bellman.equation import ONE, backup_jit
from gamedp.runtime.jit import compiled, inlined

if TYPE_CHECKING:
    import numpy.typing as npt

    from gamedp.bellman.equation import Rows

    Integers = npt.NDArray[np.signedinteger[Any]]
    Floats = npt.NDArray[np.float64]


def worth(choice: int, rows: Rows, values: Floats) -> float:
    """Return what a choice is worth."""
    # As in `backup`: arrays with names of their own, and unsigned numbers.
    transition_offsets, successors = rows.transition_offsets, rows.successors
    probabilities = rows.probabilities
    number = np.uintp(choice)
    total = 0.0
    for t in range(
        np.uintp(transition_offsets[number]), np.uintp(transition_offsets[number + ONE])
    ):
        total += probabilities[t] * values[np.uintp(successors[t])]
    return float(rows.constants[number] + rows.discount * total)


worth_jit = inlined(worth)


def follow(
    start: int, stop: int, rows: Rows, answers: bool, values: Floats, policy: Integers
) -> float:
    """Update ``order[start:stop]`` in place (Gauss-Seidel) by a policy; return the largest change.

    Parameters
    ----------
    answers : bool
        Whether those who want the least choose the best answer instead.
    """
    change = 0.0
    for place in range(start, stop):
        state = rows.order[place]
        if rows.choice_offsets[state] == rows.choice_offsets[state + 1]:
            continue
        if answers and not rows.maximise[state]:
            value, policy[state] = backup_jit(state, rows, values)
        else:
            value = worth_jit(policy[state], rows, values)
        difference = abs(value - values[state])
        # Written so that a NaN counts as a change without end.
        if not difference <= change:
            change = difference
        values[state] = value
    return change


follow_jit = compiled(follow)
