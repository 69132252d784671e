"""Games played on a Markov chain, as fast as chance can be drawn.

Each game has a stream of random numbers of its own, which its number determines: a counter that is
mixed to 64 bits [1]_. So games may be played in any order, by any number of threads.

References
----------
.. [1] G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014;
   the mixing function is David Stafford's variant 13.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.runtime.jit import compiled, inlined

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers = npt.NDArray[Any]
    Floats = npt.NDArray[Any]

__all__ = ["UNIT", "walk", "walk_in_seats", "walk_in_seats_jit", "walk_jit"]

GAMMA = np.uint64(0x9E3779B97F4A7C15)
ONCE = np.uint64(0xBF58476D1CE4E5B9)
TWICE = np.uint64(0x94D049BB133111EB)
S27, S30, S31, S11 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(11)

ONE = np.uintp(1)
"""Unsigned numbers of places: no test whether one counts from the end."""

UNIT = 2.0**-53
"""What random numbers are multiples of."""

PLIES, SQUARES, UNFINISHED = range(3)
"""Places in `counters`."""

TOTAL, TOTAL_SQUARES = range(2)
"""Places in `sums`."""


def mixed(number: Any) -> Any:
    """Return 64 bits that each depend on all those of a number."""
    number = (number ^ (number >> S30)) * ONCE
    number = (number ^ (number >> S27)) * TWICE
    return number ^ (number >> S31)


mixed_jit = inlined(mixed)


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
        Where each game begins.
    firsts : (nodes,)
        Where the successors of a node begin.
    scales : (nodes,)
        How many there are, times `UNIT`; negative if they are not equally likely, and 0 if the game
        is over.
    steps : (nodes,)
        The plies that a node counts for.
    cumulative : (T,)
        Up to each successor of its node, how likely these are together, in units of `UNIT`.
    successors : (T,)
    has_rewards : bool
    rewards : (nodes,)
        What is earned there.
    payoffs : (nodes,)
        What is paid where the game is over.
    ends : (nodes,)
        How many games have ended there; counted up.
    counters : (3,)
        Plies, their squares summed, and unfinished games; counted up.
    sums : (2,)
        What was earned and paid in games that ended, and its squares; added up.
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

    Each seat has dice of its own, so that the k-th throw of a seat is the same in every game with
    that number, whoever sits there; and so has what is left to chance by the policy at a seat.

    Parameters
    ----------
    begin, end, key, most, first_node
        As for `walk`.
    firsts, scales, steps, cumulative, successors, rewards, payoffs
        As for `walk`, too.
    drawers : (nodes,)
        The stream from which the way on from a node is drawn: that of a seat's dice, 0 or 1; of
        what the policy there leaves to chance, 2 or 3; or of the start, 4.
    seats_changed : bool
        Whether these are the games with the seats changed: the policies draw other numbers there.
    streams : (5,) uint64
        Where the streams are kept.
    earned, paid : (end - begin,)
        What the first seat got in all, and at the end; written.
    plies : (end - begin,)
        How many actions each game took; negative if it was left unfinished; written.
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
