"""Numbering of the boards of two players for tables of endings, and bounds from such a table.

A board here is the content of the pits, without the kalahs. Pits of both players that are equally
far from the kalahs form a pair. The boards with equally many stones are numbered by the stones in
each pair, and only then by their owners: first come those with more stones in the last pair, among
these those with more in the pair before it, and so on. Then a move that keeps all stones in play
leads to a smaller number, from either side of the board: it moves stones to later pairs. So the
boards can be valued in the order of their numbers.

With w(k) stones in pair k, s(k) in the pairs before it, r(k) the product of w(j) + 1 over the pairs
j after it, and o(k) stones of the mover in it, the number of a board is the sum of
r(k) * (before(k, s(k + 1), s(k)) + o(k)) over all pairs: before(k, n, s) is the number of boards on
the pairs up to k with n stones, fewer than s of them before pair k.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import NDArray

import gamedp

__all__ = [
    "boards_before",
    "following_rows",
    "num_boards",
    "rank_rows",
    "sums_up_to",
    "unrank_rows",
    "winning_range",
]


def num_boards(pits: int, stones: int) -> int:
    """Return the number of ways to place stones in the pits of both players."""
    return math.comb(stones + 2 * pits - 1, 2 * pits - 1)


def boards_before(pits: int, stones: int) -> NDArray[np.int64]:
    """Return before(k, n, s) at ((k - 1) * (stones + 1) + n) * (stones + 1) + s, for k from 1 on.

    Parameters
    ----------
    pits : int
        Number of pits of each player.
    stones : int
        The largest number of stones.

    Returns
    -------
    ((pits - 1) * (stones + 1) ** 2,) int64
        Read-only; flat, since compiled rules check one index faster than three.
    """
    table = np.zeros((pits - 1, stones + 1, stones + 1), np.int64)
    for pair in range(1, pits):
        boards = [num_boards(pair, below) for below in range(stones)]
        for total in range(stones + 1):
            ways = [(total - below + 1) * boards[below] for below in range(total)]
            table[pair - 1, total, 1 : total + 1] = list(itertools.accumulate(ways))
    flat = table.reshape(-1)
    flat.flags.writeable = False
    return flat


@gamedp.helper
def sums_up_to(row: int, width: int, home: int) -> int:
    """Return in each field the sum of the fields of a row up to it.

    The product with one stone in each field has the same fields, but may exceed 64 bits.

    Examples
    --------
    >>> bin(sums_up_to(0b0011_0000_0001, width=4, home=12))
    '0b10000010001'
    """
    step = width
    while step < home:
        row += (row & ((1 << (home - step)) - 1)) << step
        step += step
    return row


@gamedp.helper
def rank_rows(
    own: int, opponent: int, width: int, home: int, table: NDArray[np.int64], size: int
) -> int:
    """Return the number of a board among those with equally many stones in the pits.

    Parameters
    ----------
    own, opponent : int
        The sides; stones in the kalahs do not count.
    width, home : int
        Bits of a field, and of all pits.
    table : (N,) int64
        The table of `boards_before`.
    size : int
        The largest number of stones in the table, plus one.

    Raises
    ------
    ValueError
        If there are more stones on the board.
    """
    field = (1 << width) - 1
    row = (1 << home) - 1
    sums = sums_up_to((own & row) + (opponent & row), width, home)
    if (sums >> (home - width)) & field >= size:
        raise ValueError("tier_index: no table has that many stones in play")  # noqa: EM101, TRY003
    # The sum of products by Horner's rule, from the first pair on, for which before() is 0.
    rank = own & field
    below = sums & field
    offset = 0
    place = width
    while place < home:
        total = (sums >> place) & field
        before = table[offset + total * size + below]
        rank = rank * (total - below + 1) + before + ((own >> place) & field)
        below = total
        offset += size * size
        place += width
    return int(rank)


@gamedp.helper
def unrank_rows(
    index: int, stones: int, width: int, home: int, table: NDArray[np.int64], size: int
) -> tuple[int, int]:
    """Return the rows of the mover and the opponent to which `rank_rows` assigns this number."""
    pairs = 0
    total = stones
    offset = len(table)
    ways = 1
    place = home - width
    while place > 0:
        offset -= size * size
        below = total
        while ways * int(table[offset + total * size + below]) > index:
            below -= 1
        index -= ways * int(table[offset + total * size + below])
        ways *= total - below + 1
        pairs |= (total - below) << place
        total = below
        place -= width
    pairs |= total
    own = 0
    place = home - width
    field = (1 << width) - 1
    while place >= 0:
        choices = ((pairs >> place) & field) + 1
        own |= index % choices << place
        index //= choices
        place -= width
    return own, pairs - own


@gamedp.helper
def following_rows(own: int, opponent: int, width: int, home: int) -> tuple[int, int]:
    """Return the rows with the next number; after the last one, the result is not a board."""
    field = (1 << width) - 1
    place = home - width
    while place >= 0:
        if (opponent >> place) & field:
            return own + (1 << place), opponent - (1 << place)
        opponent += own & (field << place)
        own -= own & (field << place)
        place -= width
    # All are the opponent's now. One stone goes a pair back, and those of the first pair with it.
    first = opponent & field
    place = width
    while place < home and (opponent >> place) & field == 0:
        place += width
    opponent += ((first + 1) << (place - width)) - first - (1 << place)
    return own, opponent


@gamedp.helper
def winning_range(value: int, kalah: int, held: int, half: int) -> tuple[int, int]:
    """Return the range of the winner's result if play stops at the majority.

    Let the winner be ahead by `value` at the end of best play without that stop. The other player's
    kalah holds `kalah` stones now, both sides together `held`, and a kalah with more than `half`
    stops the game. From a stop with W in the winner's and L in the other one's kalah, play without
    the stop would end with a difference from 2 W - held to held - 2 L.

    The winner can keep to the play that ensures `value`. The other player then never has the
    majority, since that would win; if the winner has it, W > half and value <= held - 2 L, and if
    play ends without a stop, the result is at least `value`. The other player in turn can keep to
    the play that allows no more than `value`. Then at a stop by the winner, 2 W - held <= value,
    and L is at least `kalah`; without a stop, the same bound holds for the end.
    """
    return min(value, half + 1 - (held - value) // 2), (held + value) // 2 - kalah
