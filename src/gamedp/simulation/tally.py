"""Sums over many games that do not depend on the number of threads.

They are statistics, not bounds: sums are rounded, and the sampling error is far larger.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import TYPE_CHECKING

import attrs
import numpy as np

from gamedp.runtime.floats import UNIT

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCK = 8_192
"""Number of games per block: earnings are summed within a block in order, and then over the
blocks."""


@attrs.frozen(eq=False)
class Tally:
    """The sums of games so far: of the first of two opponents, otherwise of each player.

    Attributes
    ----------
    games, unfinished, plies : int
    outcomes : tuple of dict of float to int
        Number of games by final payoff.
    sums : tuple of (float, float)
        The sum of the totals of the games that ended, and the sum of their squares.
    """

    games: int
    unfinished: int
    plies: int
    outcomes: tuple[dict[float, int], ...]
    sums: tuple[tuple[float, float], ...]

    def moments(self, column: int) -> tuple[float, float]:
        """Return mean and standard deviation, NaN if there are too few games."""
        return moments(self.sums[column], self.games - self.unfinished)

    def rounding(self, column: int) -> float:
        """Return the largest deviation that rounding of the sum of squares may hide."""
        count = self.games - self.unfinished
        squares = self.sums[column][1]
        return math.sqrt(3 * BLOCK * UNIT * squares / (count - 1)) if count > 1 else math.nan

    @classmethod
    def total(cls, tallies: Iterable[Tally]) -> Tally:
        """Return the sum of several tallies, in their order."""
        parts = list(tallies)
        outcomes: list[dict[float, int]] = []
        for column in range(len(parts[0].sums)):
            found: dict[float, int] = {}
            for part in parts:
                for payoff, count in part.outcomes[column].items():
                    found[payoff] = found.get(payoff, 0) + count
            outcomes.append(dict(sorted(found.items())))
        return cls(
            games=sum(part.games for part in parts),
            unfinished=sum(part.unfinished for part in parts),
            plies=sum(part.plies for part in parts),
            outcomes=tuple(outcomes),
            sums=tuple(map(added, zip(*(part.sums for part in parts), strict=True))),
        )


def added(sums: Iterable[tuple[float, float]]) -> tuple[float, float]:
    """Return sums and sums of squares, each added up."""
    totals, squares = zip(*sums, strict=True)
    return _sum(totals), _sum(squares)


def sums_of(numbers: NDArray[np.float64]) -> tuple[float, float]:
    """Return the sum of numbers and that of their squares, infinite where doubles end."""
    with np.errstate(over="ignore"):
        squares = numbers * numbers
    return _sum(numbers), _sum(squares)


def _sum(numbers: Iterable[float]) -> float:
    """Return a sum, infinite where doubles end, NaN if some terms are infinite both ways."""
    terms = list(numbers)
    try:
        return math.fsum(terms)
    except OverflowError:  # of a part, perhaps, and not of the sum
        return math.fsum(term * 2.0**-64 for term in terms) * 2.0**64
    except ValueError:
        return math.nan


@attrs.frozen(eq=False)
class Played:
    """Consecutive games with N seats.

    Attributes
    ----------
    earned, paid : (games, N) float64
        The total and the final payoff of each seat; meaningless if a game was left unfinished.
    plies : (games,) int64
    is_over : (games,) bool
    """

    earned: NDArray[np.float64]
    paid: NDArray[np.float64]
    plies: NDArray[np.int64]
    is_over: NDArray[np.bool_]

    @classmethod
    def of(
        cls, earned: NDArray[np.float64], paid: NDArray[np.float64], plies: NDArray[np.int64]
    ) -> Played:
        """Return games whose `plies` are -1 minus their number if a game was left unfinished."""
        is_over = plies >= 0
        return cls(earned, paid, np.where(is_over, plies, -1 - plies), is_over)

    def tally(self, columns: int) -> Tally:
        """Return the tally of the first seats of these games."""
        outcomes, sums = [], []
        for column in range(columns):
            paid, counts = np.unique(self.paid[self.is_over, column] + 0.0, return_counts=True)
            outcomes.append(dict(zip(paid.tolist(), counts.tolist(), strict=True)))
            sums.append(sums_of(self.earned[self.is_over, column]))
        return Tally(
            games=len(self.plies),
            unfinished=int((~self.is_over).sum()),
            plies=int(self.plies.sum()),
            outcomes=tuple(outcomes),
            sums=tuple(sums),
        )


def moments(sums: tuple[float, float], count: int) -> tuple[float, float]:
    """Return mean and standard deviation of so many numbers, by their sum and that of squares.

    The deviation is infinite where squares are too large for doubles.
    """
    total, squares = sums
    mean = total / count if count else math.nan
    if count < 2:
        return mean, math.nan
    of_mean = count * mean * mean
    if not (math.isfinite(squares) and math.isfinite(of_mean)):
        return mean, math.inf
    return mean, math.sqrt(max(0.0, squares - of_mean) / (count - 1))


def in_blocks(
    begin: int, end: int, threads: int, play: Callable[[int, int, int, int], None]
) -> None:
    """Play the games from `begin`, the start of a block, to `end`.

    Parameters
    ----------
    begin, end, threads : int
    play : callable
        A function of the numbers of the thread and the block, the block's first game, and its end.
        An exception in one thread ends the others after their block, and so does Ctrl-C.
    """
    is_stopped = Event()

    def run(thread: int) -> None:
        for block in range(begin // BLOCK + thread, math.ceil(end / BLOCK), threads):
            if is_stopped.is_set():
                return
            try:
                play(thread, block, block * BLOCK, min((block + 1) * BLOCK, end))
            except BaseException:
                is_stopped.set()
                raise

    if threads == 1:
        run(0)
        return
    with ThreadPoolExecutor(threads) as pool:
        try:
            list(pool.map(run, range(threads)))
        except BaseException:
            is_stopped.set()
            raise
