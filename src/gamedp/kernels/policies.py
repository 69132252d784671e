"""Following a policy: Bellman's equation with some of the choices fixed.

What the arrays mean is said in :mod:`gamedp.kernels.bellman`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gamedp.kernels.bellman import backup_jit
from gamedp.kernels.jit import compiled, inlined

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from gamedp.kernels.bellman import Rows

    Integers = npt.NDArray[np.signedinteger[Any]]
    Floats = npt.NDArray[np.float64]


def worth(choice: int, rows: Rows, values: Floats) -> float:
    """Return what a choice is worth."""
    total = 0.0
    for t in range(rows.transition_offsets[choice], rows.transition_offsets[choice + 1]):
        total += rows.probabilities[t] * values[rows.successors[t]]
    return float(rows.constants[choice] + rows.discount * total)


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
