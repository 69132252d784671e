"""A board of Mancala, packed into integers for the rules, and in readable form."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import gamedp
from gamedp.errors import shown
from gamedp.games._parameters import as_whole, as_whole_tuple

__all__ = ["Board", "MancalaState", "pack", "render", "unpack"]

PLAYER_NAMES = ("first player", "second player")


class MancalaState(NamedTuple):
    """A position, from the point of view of the player to move.

    :meth:`Mancala.position` makes one from lists, and :meth:`Mancala.board` converts it back.

    Attributes
    ----------
    player : int
        The player to move.
    sides : tuple of int
        The side of that player, then those of the others in the order in which sowing reaches them.
        A side is one integer, with equally many bits for each field: its pits, the first one
        lowest, and its kalah on top.
    """

    player: int
    sides: tuple[int, ...]


class Board(NamedTuple):
    """A position in lists, in the order of the players' numbers.

    Attributes
    ----------
    rows : tuple of tuple of int
        The stones in the pits of each player, in the order of their numbers.
    kalahs : tuple of int
        The stones in the kalah of each player.
    player : int
        The player to move.
    """

    rows: tuple[tuple[int, ...], ...]
    kalahs: tuple[int, ...]
    player: int


def pack(fields: Iterable[int], width: int) -> int:
    """Return one integer with `width` bits for each of the fields, the first one lowest.

    Examples
    --------
    >>> bin(pack((1, 0, 2), width=4))
    '0b1000000001'
    """
    return sum(field << width * place for place, field in enumerate(fields))


def unpack(side: int, width: int, length: int) -> tuple[int, ...]:
    """Return the first `length` fields of an integer that `pack` has made.

    Examples
    --------
    >>> unpack(0b10_0000_0001, width=4, length=3)
    (1, 0, 2)
    """
    return tuple(side >> width * place & (1 << width) - 1 for place in range(length))


def checked_board(
    rows: Sequence[Sequence[int]],
    kalahs: Sequence[int] | None,
    player: int,
    *,
    players: int,
    pits: int,
    total: int,
) -> Board:
    """Return a board from lists; require `total` stones.

    Raises
    ------
    gamedp.errors.InvalidParameterError
        If the numbers are not a board, or do not add up to all stones.
    """
    board = Board(
        tuple(as_whole_tuple(row) for row in rows),
        (0,) * players if kalahs is None else as_whole_tuple(kalahs),
        as_whole(player),
    )
    fields = [*board.kalahs, *(stones for row in board.rows for stones in row)]
    held = sum(fields) if all(type(stones) is int for stones in fields) else -1
    if len(board.rows) != players or any(len(row) != pits for row in board.rows):
        problem = f"rows of {[len(row) for row in board.rows]} pits; give {players} rows of {pits}"
    elif len(board.kalahs) != players:
        problem = f"{len(board.kalahs)} kalahs; give {players}, or none at all for empty ones"
    elif held < 0 or min(fields) < 0:
        problem = "something that is not a number of stones; give whole numbers of at least 0"
    elif held > total:
        problem = f"{held} stones, but the game has {total} in all; take {held - total} away"
    elif held < total and kalahs is not None:
        problem = (
            f"{held} of the {total} stones; put the other {total - held} into pits and kalahs, or "
            "give no kalahs, to look at the rows alone"
        )
    elif type(board.player) is not int or not 0 <= board.player < players:
        problem = f"player={shown(player)} to move; the players are 0 to {players - 1}"
    else:
        return board
    message = f"{shown(board)} has {problem}."
    raise gamedp.errors.InvalidParameterError(message)


def name_of(player: int, players: int) -> str:
    """Return the player in words: ``first player``, ``player 3``."""
    return PLAYER_NAMES[player] if players == 2 else f"player {player + 1}"


def render(board: Board) -> str:
    """Return the board as a drawing.

    Two sides are drawn facing each other, the first one's below: sowing goes counterclockwise. More
    sides are drawn one below the other.

    Examples
    --------
    >>> print(render(Board(((0, 2, 12), (3, 0, 1)), (4, 2), player=0)))
                3  2  1
       second   1  0  3
             2           4
        first   0  2 12
                1  2  3
    >>> print(render(Board(((1, 2), (1, 1), (0, 1)), (0, 0, 0), player=2)))
              1 2  kalah
    player 1  1 2      0
    player 2  1 1      0
    player 3  0 1      0
    """
    pits = range(1, len(board.rows[0]) + 1)
    most = max(*board.kalahs, *map(max, board.rows), pits[-1])
    cell = len(str(most))

    def line(numbers: Sequence[int]) -> str:
        return " ".join(f"{number:{cell}}" for number in numbers)

    if len(board.rows) != len(PLAYER_NAMES):
        lines = [f"{'':10}{line(pits)}  kalah"]
        for player, (row, kalah) in enumerate(zip(board.rows, board.kalahs, strict=True)):
            lines.append(f"{name_of(player, len(board.rows)):8}  {line(row)}  {kalah:5}")
        return "\n".join(lines)
    first, second = board.rows
    margin = " " * (cell + 2)
    between = " " * len(line(pits))
    return "\n".join(
        (
            f"{'':8}{margin}{line(pits[::-1])}",
            f"second  {margin}{line(second[::-1])}",
            f"{'':8}{board.kalahs[1]:{cell}}  {between}  {board.kalahs[0]:{cell}}",
            f"first   {margin}{line(first)}",
            f"{'':8}{margin}{line(pits)}",
        )
    )
