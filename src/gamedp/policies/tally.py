"""What many games have brought, added up so that the number of threads makes no difference.

All of it is statistics and no bound: sums are rounded, and sampling errs by far more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import TYPE_CHECKING

import attrs
import numpy as np

from gamedp.errors import InvalidParameterError, shown
from gamedp.policies.given import checked_whole
from gamedp.runtime.floats import UNIT

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["BLOCK", "Played", "Tally", "deviation_of", "in_blocks", "moments", "student_interval"]

BLOCK = 8_192
"""Games of a block: what they earn is added up in their order, and then that of the blocks."""


@attrs.frozen(eq=False)
class Tally:
    """What games have brought so far; of two players the first one's, else each player's.

    Attributes
    ----------
    games, unfinished, plies : int
    outcomes : tuple of dict of float to int
        How many games paid what at the end.
    sums : tuple of (float, float)
        What was earned and paid in the games that ended, and its squares.
    """

    games: int
    unfinished: int
    plies: int
    outcomes: tuple[dict[float, int], ...]
    sums: tuple[tuple[float, float], ...]

    def moments(self, column: int) -> tuple[float, float]:
        """Return mean and standard deviation, NaN where so many games have none."""
        return moments(self.sums[column], self.games - self.unfinished)

    def rounding(self, column: int) -> float:
        """Return how large a deviation may be and yet be lost where squares are added up."""
        count = self.games - self.unfinished
        squares = self.sums[column][1]
        return math.sqrt(3 * BLOCK * UNIT * squares / (count - 1)) if count > 1 else math.nan

    @classmethod
    def total(cls, tallies: Iterable[Tally]) -> Tally:
        """Return what several rows of games have brought together, in their order."""
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
            sums=tuple(map(_added, zip(*(part.sums for part in parts), strict=True))),
        )


def _added(sums: Iterable[tuple[float, float]]) -> tuple[float, float]:
    """Return sums and sums of squares, each added up."""
    totals, squares = zip(*sums, strict=True)
    return math.fsum(totals), math.fsum(squares)


@attrs.frozen(eq=False)
class Played:
    """Some games in a row, of N seats.

    Attributes
    ----------
    earned, paid : (games, N) float64
        What each seat got in all, and at the end; of no meaning where a game was left unfinished.
    plies : (games,) int64
    is_over : (games,) bool
    """

    earned: NDArray[np.float64]
    paid: NDArray[np.float64]
    plies: NDArray[np.int64]
    is_over: NDArray[np.bool_]

    def tally(self) -> Tally:
        """Return what they have brought."""
        num_players = self.paid.shape[1]
        outcomes, sums = [], []
        for column in range(num_players if num_players > 2 else 1):
            paid, counts = np.unique(self.paid[self.is_over, column] + 0.0, return_counts=True)
            outcomes.append(dict(zip(paid.tolist(), counts.tolist(), strict=True)))
            earned = self.earned[self.is_over, column]
            sums.append((math.fsum(earned), math.fsum(earned * earned)))
        return Tally(
            games=len(self.plies),
            unfinished=int((~self.is_over).sum()),
            plies=int(self.plies.sum()),
            outcomes=tuple(outcomes),
            sums=tuple(sums),
        )


def deviation_of(counts: Mapping[float, int]) -> float:
    """Return the standard deviation of numbers that were counted, NaN of fewer than two."""
    count = sum(counts.values())
    if count < 2:
        return math.nan
    mean = math.fsum(number * times for number, times in counts.items()) / count
    squares = math.fsum((number - mean) ** 2 * times for number, times in counts.items())
    return math.sqrt(squares / (count - 1))


def moments(sums: tuple[float, float], count: int) -> tuple[float, float]:
    """Return mean and standard deviation of so many numbers, by their sum and that of squares."""
    total, squares = sums
    mean = total / count if count else math.nan
    if count < 2:
        return mean, math.nan
    return mean, math.sqrt(max(0.0, squares - count * mean * mean) / (count - 1))


def student_interval(
    mean: float, deviation: float, count: int, confidence: float = 0.95
) -> tuple[float, float]:
    """Return Student's confidence interval of what numbers are expected to be [1]_.

    It is exact for numbers with a normal distribution, and approximate for others.

    Parameters
    ----------
    mean, deviation : float
        Mean and standard deviation of independent numbers.
    count : int
        How many there are. Of fewer than two, the interval has no end.
    confidence : float

    Raises
    ------
    InvalidParameterError
        If `count` or `confidence` cannot be.

    References
    ----------
    .. [1] Student, "The probable error of a mean", Biometrika 6 (1908).

    Examples
    --------
    >>> import gamedp
    >>> low, high = gamedp.policies.student_interval(mean=5.0, deviation=2.0, count=16)
    >>> round(low, 3), round(high, 3)
    (3.934, 6.066)
    """
    from scipy.special import stdtrit  # noqa: PLC0415 - slow to import, and rarely needed

    count = checked_whole("count", count, 0)
    if not 0 < confidence < 1:
        message = f"confidence is {shown(confidence)}; it must lie between 0 and 1."
        raise InvalidParameterError(message)
    if count < 2:
        return -math.inf, math.inf
    reach = float(stdtrit(count - 1, (1 + confidence) / 2)) * deviation / math.sqrt(count)
    return mean - reach, mean + reach


def in_blocks(
    begin: int, end: int, threads: int, play: Callable[[int, int, int, int], None]
) -> None:
    """Play the games from `begin`, where a block begins, to `end`.

    Parameters
    ----------
    begin, end, threads : int
    play : callable
        Of the thread's number, the block's, and its first game and the one behind its last. What
        it raises in one thread ends the others after their block, and so does Ctrl-C.
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
