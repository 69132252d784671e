"""Max-n: games of several players, each of whom takes the action that is best for itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.runtime.floats import TINY, UNIT, UPWARD
from gamedp.runtime.jit import compiled

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers = npt.NDArray[np.signedinteger[Any]]
    Floats = npt.NDArray[np.float64]


def solve(
    order: Integers,
    choice_offsets: Integers,
    transition_offsets: Integers,
    successors: Integers,
    probabilities: Floats,
    rewards: Floats,
    players: Integers,
    sign: float,
    values: Floats,
    errors: Floats,
    policy: Integers,
) -> None:
    """Fill in the values of all players in the states of an acyclic model, successors first.

    The player to move takes its first best choice (`sign` 1: the largest value). `errors`
    bounds the rounding of the values under that policy; see :mod:`gamedp.bellman.residuals`.
    """
    num_players = values.shape[1]
    for place in range(len(order)):
        state = order[place]
        mover = players[state]
        best = -np.inf
        for choice in range(choice_offsets[state], choice_offsets[state + 1]):
            total = 0.0
            for t in range(transition_offsets[choice], transition_offsets[choice + 1]):
                total += probabilities[t] * values[successors[t], mover]
            value = sign * (rewards[choice, mover] + total)
            if value > best:
                best = value
                policy[state] = choice
        choice = policy[state]
        if choice < 0:
            continue
        first = transition_offsets[choice]
        last = transition_offsets[choice + 1]
        for player in range(num_players):
            total = 0.0
            size = 0.0
            slack = 0.0
            for t in range(first, last):
                term = probabilities[t] * values[successors[t], player]
                total += term
                size += abs(term)
                slack += probabilities[t] * errors[successors[t], player]
            reward = rewards[choice, player]
            values[state, player] = reward + total
            exact = last - first == 1 and probabilities[first] == 1.0 and reward == 0.0
            if not exact:
                count = last - first + 8
                slack += count * UNIT * (size + abs(reward) + slack)
                slack = slack * UPWARD + count * TINY
            errors[state, player] = slack


solve_jit = compiled(solve)
