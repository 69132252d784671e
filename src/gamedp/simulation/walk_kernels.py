"""Kernels that play games on a Markov chain, as fast as random numbers can be drawn.

Each game has its own stream of random numbers: see :mod:`gamedp.policies.random_kernels`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.policies.random_kernels import GAMMA, ONCE, S11, TWICE, mixed_jit
from gamedp.runtime.jit import compiled

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers = npt.NDArray[Any]
    Floats = npt.NDArray[Any]

__all__ = ["walk", "walk_in_seats", "walk_in_seats_jit", "walk_jit"]

ONE = np.uintp(1)
"""Unsigned one, for indices without a test for negative ones."""

PLIES, SQUARES, UNFINISHED = range(3)
"""Indices into `counters`."""

TOTAL, TOTAL_SQUARES = range(2)
"""Indices into `sums`."""


def walk(
    begin: int,
    end: int,
    key: Any,
    most: int,
    first_node: int,
    firsts: Integers,
    scales: Floats,
    steps: Integers,
    cumulative: Floats,
    successors: Integers,
    has_rewards: bool,
    rewards: Floats,
    payoffs: Floats,
    ends: Integers,
    counters: Integers,
    sums: Floats,
) -> None:
    """Play the games with the numbers from `begin` to `end`.

    Parameters
    ----------
    begin, end : int
    key : uint64
        Of all games.
    most : int
        Plies after which a game is left unfinished.
    first_node : int
        The node in which each game begins.
    firsts : (nodes,)
        The first successor of each node.
    scales : (nodes,)
        The number of successors times `UNIT`; negative if they are not equally likely, and 0 if the
        game is over.
    steps : (nodes,)
        The plies that a node counts for.
    cumulative : (T,)
        The cumulative probability of the successors of a node, in units of `UNIT`.
    successors : (T,)
    has_rewards : bool
    rewards : (nodes,)
        The reward in each node.
    payoffs : (nodes,)
        The payoff where the game is over.
    ends : (nodes,)
        The number of games that have ended in each node; increased.
    counters : (3,)
        The sums of plies and of their squares, and the number of unfinished games; increased.
    sums : (2,)
        The sums of the totals of games that ended, and of their squares; increased.
    """
    for game in range(begin, end):
        state = mixed_jit(key + np.uint64(game) * TWICE)
        node = np.uintp(first_node)
        plies = 0
        earned = 0.0
        scale = scales[node]
        while scale != 0.0 and plies < most:
            place = np.uintp(firsts[node])
            plies += steps[node]
            if has_rewards:
                earned += rewards[node]
            state += GAMMA
            drawn = float(np.int64(mixed_jit(state) >> S11))
            if scale > 0.0:
                place += np.uintp(np.int64(drawn * scale))
            else:
                while cumulative[place] <= drawn:
                    place += ONE
            node = np.uintp(successors[place])
            scale = scales[node]
        counters[PLIES] += plies
        counters[SQUARES] += plies * plies
        if scale != 0.0:
            counters[UNFINISHED] += 1
        else:
            ends[node] += 1
            earned += payoffs[node]
            sums[TOTAL] += earned
            sums[TOTAL_SQUARES] += earned * earned


walk_jit = compiled(walk)


def walk_in_seats(
    begin: int,
    end: int,
    key: Any,
    most: int,
    first_node: int,
    firsts: Integers,
    scales: Floats,
    steps: Integers,
    cumulative: Floats,
    successors: Integers,
    drawers: Integers,
    seats_changed: bool,
    rewards: Floats,
    payoffs: Floats,
    streams: Any,
    earned: Floats,
    paid: Floats,
    plies: Integers,
) -> None:
    """Play the games with the numbers from `begin` to `end`, with streams of numbers by seat.

    Each seat has its own dice, so that the k-th throw of a seat is the same in every game with that
    number, for any player there. The random choices of the policy at a seat have their own stream,
    too.

    Parameters
    ----------
    begin, end, key, most, first_node
        As for `walk`.
    firsts, scales, steps, cumulative, successors, rewards, payoffs
        As for `walk`, too.
    drawers : (nodes,)
        The stream from which the successor of a node is drawn: that of a seat's dice, 0 or 1; of
        the random choices of its policy, 2 or 3; or of the start, 4.
    seats_changed : bool
        Whether these are the games with swapped seats: the policies draw other numbers there.
    streams : (5,) uint64
        Working space for the streams.
    earned, paid : (end - begin,)
        The total and the final payoff of the first seat; written.
    plies : (end - begin,)
        The number of actions of each game; negative if it was left unfinished; written.
    """
    for game in range(begin, end):
        row = game - begin
        root = np.uint64(mixed_jit(key + np.uint64(game) * TWICE))
        for stream in range(4):
            streams[stream] = np.uint64(mixed_jit(root + np.uint64(stream + 1) * ONCE))
        streams[4] = root
        if seats_changed:
            streams[2] ^= TWICE
            streams[3] ^= TWICE
        node = first_node
        taken = 0
        total = 0.0
        scale = scales[node]
        while scale != 0.0 and taken < most:
            place = int(firsts[node])
            taken += steps[node]
            total += rewards[node]
            drawer = drawers[node]
            streams[drawer] += GAMMA
            drawn = float(np.int64(np.uint64(mixed_jit(streams[drawer])) >> S11))
            if scale > 0.0:
                place += int(drawn * scale)
            else:
                while cumulative[place] <= drawn:
                    place += 1
            node = int(successors[place])
            scale = scales[node]
        plies[row] = taken if scale == 0.0 else -1 - taken
        paid[row] = payoffs[node]
        earned[row] = total + payoffs[node]


walk_in_seats_jit = compiled(walk_in_seats)
