"""Numbers for the boards of two players, for tables of endings, and what such a table proves.

A board here is what lies in the pits, kalahs apart. Those with equally many stones are numbered by
:func:`gamedp.rank_distribution`, whose parts are the pits of the mover and then the opponent's;
these functions do the same on packed rows.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

import gamedp

__all__ = ["binomials", "rank_rows", "unrank_rows", "winning_range"]


def binomials(pits: int, stones: int) -> NDArray[np.int64]:
    """Return C(n + k - 1, k) at [k - 1, n]: the ways to lay n stones into k pits, for k below all.

    Parameters
    ----------
    pits : int
        Of both players.
    stones : int
        Up to how many; the table has one column more, by which unranking is counted.

    Returns
    -------
    (pits - 1, stones + 2) int64
        Read-only. What does not fit into 64 bits is -1.
    """
    table = np.array(
        [
            [value if (value := math.comb(n + k - 1, k)) < 2**63 else -1 for n in range(stones + 2)]
            for k in range(1, pits)
        ],
        np.int64,
    ).reshape(pits - 1, stones + 2)
    table.flags.writeable = False
    return table


@gamedp.helper
def rank_rows(own: int, opponent: int, width: int, home: int, table: NDArray[np.int64]) -> int:
    """Return the number of a board among those with as many stones in the pits."""
    field = (1 << width) - 1
    rank = 0
    stones = 0
    pit = 0
    for place in range(0, home, width):
        stones += (own >> place) & field
        rank += table[pit, stones]
        pit += 1
    for place in range(0, home - width, width):
        stones += (opponent >> place) & field
        rank += table[pit, stones]
        pit += 1
    return int(rank)


@gamedp.helper
def unrank_rows(
    index: int, stones: int, width: int, home: int, table: NDArray[np.int64]
) -> tuple[int, int]:
    """Return the rows of the mover and the opponent that `rank_rows` gives this number."""
    own = opponent = 0
    for part in range(len(table), 0, -1):
        below = stones  # in the pits before this one
        while table[part - 1, below] > index:
            below -= 1
        index -= table[part - 1, below]
        place = part * width
        if place >= home:
            opponent |= (stones - below) << (place - home)
        else:
            own |= (stones - below) << place
        stones = below
    return own | stones, opponent


@gamedp.helper
def winning_range(value: int, kalah: int, held: int, half: int) -> tuple[int, int]:
    """Return between what the winner ends up, if play stops at the majority.

    Let the winner be ahead by `value` at the end of best play without that stop. The other one's
    kalah holds `kalah` now, both sides together `held` stones, and a kalah with more than `half`
    stops the game. From a stop with W in the winner's and L in the other one's kalah, play without
    the stop would end with a difference from 2 W - held to held - 2 L.

    The winner can hold on to the play that ensures `value`. The other one never has the majority
    then, for that would win; if the winner has it, W > half and value <= held - 2 L, and if play
    ends without a stop, it does with `value` at least. The other one in turn can hold on to the
    play that allows no more than `value`. At a stop by the winner then 2 W - held <= value, and L
    is at least `kalah`; without a stop the same bound holds for the end.
    """
    return min(value, half + 1 - (held - value) // 2), (held + value) // 2 - kalah
