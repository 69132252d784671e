"""Sound value iteration: expected rewards of some steps, and the probability of going on.

The arrays are described in :mod:`gamedp.bellman.equation`. No players change places.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.runtime.jit import compiled

if TYPE_CHECKING:
    import numpy.typing as npt

    from gamedp.bellman.equation import Equation

    Integers = npt.NDArray[np.signedinteger[Any]]
    Floats = npt.NDArray[np.float64]


def sweep(
    start: int,
    stop: int,
    equation: Equation,
    values: Floats,
    low: float,
    high: float,
    earned: Floats,
    going_on: Floats,
    policy: Integers,
) -> tuple[float, float]:
    """Update each state of a component by one more step (Gauss-Seidel).

    The value of a state is ``earned + going_on * x``, where x is a mean of values of states of the
    component. The least and the greatest ``earned / (1 - going_on)`` therefore bound all of them,
    as long as the same policy is followed.

    Parameters
    ----------
    low, high : float
        The values assumed for x by minimising and by maximising players.
    earned, going_on : (S,)
        Numbers of the component's states, in their order.

    Returns
    -------
    least, greatest : float
        The new bounds of x; infinite while play may surely go on.
    """
    graph = equation.graph
    least = np.inf
    greatest = -np.inf
    for position in range(start, stop):
        state = equation.order[position]
        sign = 1.0 if equation.maximise[state] else -1.0
        beyond = high if equation.maximise[state] else low
        best = -np.inf
        best_earned = best_going_on = 0.0
        for choice in range(graph.choice_offsets[state], graph.choice_offsets[state + 1]):
            its_earned = its_going_on = 0.0
            for t in range(graph.transition_offsets[choice], graph.transition_offsets[choice + 1]):
                successor = graph.successors[t]
                place = int(equation.place[successor])
                if start <= place < stop:
                    its_earned += equation.probabilities[t] * earned[place - start]
                    its_going_on += equation.probabilities[t] * going_on[place - start]
                else:
                    its_earned += equation.probabilities[t] * values[successor]
            its_earned = equation.constants[choice] + equation.discount * its_earned
            its_going_on *= equation.discount
            value = sign * (its_earned + its_going_on * beyond)
            if value > best:
                best = value
                best_earned, best_going_on = its_earned, its_going_on
                policy[state] = choice
        number = position - start
        earned[number] = best_earned
        going_on[number] = best_going_on
        ratio_low, ratio_high = -np.inf, np.inf
        if best_going_on < 1.0:
            ratio_low = ratio_high = best_earned / (1.0 - best_going_on)
        if ratio_low < least:
            least = ratio_low
        if ratio_high > greatest:
            greatest = ratio_high
    return least, greatest


sweep_jit = compiled(sweep)
