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

    from gamedp.bellman.equation import Equation

    Integers = npt.NDArray[np.signedinteger[Any]]
    Floats = npt.NDArray[np.float64]


def choice_value(choice: int, equation: Equation, values: Floats) -> float:
    """Return the value of a choice."""
    graph = equation.graph
    # As in `backup`: arrays with names of their own, and unsigned numbers.
    transition_offsets, successors = graph.transition_offsets, graph.successors
    probabilities = equation.probabilities
    number = np.uintp(choice)
    total = 0.0
    for t in range(
        np.uintp(transition_offsets[number]), np.uintp(transition_offsets[number + ONE])
    ):
        total += probabilities[t] * values[np.uintp(successors[t])]
    return float(equation.constants[number] + equation.discount * total)


choice_value_jit = inlined(choice_value)


def follow(
    start: int, stop: int, equation: Equation, answers: bool, values: Floats, policy: Integers
) -> float:
    """Update ``order[start:stop]`` in place (Gauss-Seidel) by a policy; return the largest change.

    Parameters
    ----------
    answers : bool
        Whether minimising players choose the best answer instead.
    """
    graph = equation.graph
    change = 0.0
    for place in range(start, stop):
        state = equation.order[place]
        if graph.choice_offsets[state] == graph.choice_offsets[state + 1]:
            continue
        if answers and not equation.maximise[state]:
            value, policy[state] = backup_jit(state, equation, values)
        else:
            value = choice_value_jit(policy[state], equation, values)
        difference = abs(value - values[state])
        # Written so that a NaN counts as an infinite change.
        if not difference <= change:
            change = difference
        values[state] = value
    return change


follow_jit = compiled(follow)
