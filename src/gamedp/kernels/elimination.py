"""What a policy is worth in a component, by elimination without subtraction.

A state is eliminated by letting play pass through it: whoever comes to it goes on to where it leads
in the end. The probability to leave a state at all is the sum of those to go elsewhere, never one
minus the rest: so no digits are lost however long play stays [1]_.

What the arrays mean is said in :mod:`gamedp.kernels.bellman`.

References
----------
.. [1] W. Grassmann, M. Taksar, D. Heyman, "Regenerative analysis and steady state distributions for
   Markov chains", Operations Research 33 (1985).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.kernels.jit import compiled

if TYPE_CHECKING:
    import numpy.typing as npt

    from gamedp.kernels.bellman import Rows

    Integers = npt.NDArray[np.signedinteger[Any]]
    Floats = npt.NDArray[np.float64]


def evaluate(start: int, stop: int, rows: Rows, policy: Integers, values: Floats) -> bool:
    """Set the values of ``order[start:stop]`` to those of a policy; no players change places.

    Returns
    -------
    leaves : bool
        Whether play leaves the component almost surely; if not, the values are as they were.
    """
    size = stop - start
    chances = np.zeros((size, size))
    leaving = np.full(size, 1.0 - rows.discount)
    earned = np.empty(size)
    for number in range(size):
        choice = policy[rows.order[start + number]]
        earned[number] = rows.constants[choice]
        for t in range(rows.transition_offsets[choice], rows.transition_offsets[choice + 1]):
            target = rows.successors[t]
            chance = rows.discount * rows.probabilities[t]
            place = int(rows.place[target])
            if start <= place < stop:
                chances[number, place - start] += chance
            else:
                leaving[number] += chance
                earned[number] += chance * values[target]
    ways = np.empty(size, np.int64)
    for last in range(size - 1, -1, -1):
        count = 0
        out = leaving[last]
        for target in range(last):
            if chances[last, target] > 0.0:
                out += chances[last, target]
                ways[count] = target
                count += 1
        if not out > 0.0:
            return False
        for number in range(last):
            if chances[number, last] > 0.0:
                share = chances[number, last] / out
                for way in range(count):
                    chances[number, ways[way]] += share * chances[last, ways[way]]
                leaving[number] += share * leaving[last]
                earned[number] += share * earned[last]
        leaving[last] = out
    for number in range(size):
        total = earned[number]
        for target in range(number):
            total += chances[number, target] * values[rows.order[start + target]]
        values[rows.order[start + number]] = total / leaving[number]
    return True


evaluate_jit = compiled(evaluate)


def improve(
    start: int,
    stop: int,
    rows: Rows,
    values: Floats,
    margin: float,
    maximisers: bool,
    minimisers: bool,
    policy: Integers,
) -> int:
    """Let a policy take better choices in ``order[start:stop]``; return how many it changed.

    Parameters
    ----------
    margin : float
        How much better they must be, relatively: rounding must not change anything.
    maximisers, minimisers : bool
        Whose choices may change.
    """
    changed = 0
    for position in range(start, stop):
        state = rows.order[position]
        if not (maximisers if rows.maximise[state] else minimisers):
            continue
        sign = 1.0 if rows.maximise[state] else -1.0
        best = present = -np.inf
        best_choice = policy[state]
        for choice in range(rows.choice_offsets[state], rows.choice_offsets[state + 1]):
            total = 0.0
            for t in range(rows.transition_offsets[choice], rows.transition_offsets[choice + 1]):
                total += rows.probabilities[t] * values[rows.successors[t]]
            value = sign * (rows.constants[choice] + rows.discount * total)
            if value > best:
                best = value
                best_choice = choice
            if choice == policy[state]:
                present = value
        if best > present + margin * max(abs(best), abs(present)):
            policy[state] = best_choice
            changed += 1
    return changed


improve_jit = compiled(improve)
