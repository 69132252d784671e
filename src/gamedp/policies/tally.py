"""Sums over many games that do not depend on the number of threads.

They are statistics, not bounds: sums are rounded, and the sampling error is far larger.
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

__all__ = [
    "BLOCK",
    "Played",
    "Tally",
    "added",
    "as_paid",
    "counted_as_paid",
    "in_blocks",
    "mean_and_deviation_of",
    "moments",
    "scaled_to_one",
    "student_interval",
    "sums_of",
]

BLOCK = 8_192
"""Number of games per block: earnings are summed within a block in order, and then over the
blocks."""


@attrs.frozen(eq=False)
class Tally:
    """The sums of games so far: of the first of two players, otherwise of each player.

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

    def tally(self) -> Tally:
        """Return the tally of these games."""
        num_players = self.paid.shape[1]
        outcomes, sums = [], []
        for column in range(num_players if num_players > 2 else 1):
            paid, counts = np.unique(self.paid[self.is_over, column] + 0.0, return_counts=True)
            outcomes.append(dict(zip(paid.tolist(), counts.tolist(), strict=True)))
            earned = self.earned[self.is_over, column]
            sums.append(sums_of(earned))
        return Tally(
            games=len(self.plies),
            unfinished=int((~self.is_over).sum()),
            plies=int(self.plies.sum()),
            outcomes=tuple(outcomes),
            sums=tuple(sums),
        )


def as_paid(
    payoffs: NDArray[np.float64], total: float, *, of_other: bool = False
) -> NDArray[np.float64]:
    """Return payoffs of one of two players, with those that differ only by rounding made equal.

    If seats are merged, a player's payoff is the constant sum minus the other one's, which may
    differ from the number of the rules: 1 - 0.9 is not 0.1. Of such numbers, the one with the
    fewest digits is returned.

    Parameters
    ----------
    payoffs : (n,) float64
    total : float
        The constant sum.
    of_other : bool
        Whether to return the payoffs of the other player instead.
    """
    if not (total and len(payoffs)):
        return total - payoffs if of_other else payoffs
    numbers, places = np.unique(np.concatenate([payoffs, total - payoffs]), return_inverse=True)
    # Each payoff, the sum and the difference are rounded by half a unit in the last place at most.
    sizes = np.spacing(np.maximum(np.maximum(np.abs(numbers), np.abs(total - numbers)), abs(total)))
    firsts = np.flatnonzero(np.diff(numbers, prepend=-np.inf) > 2 * sizes)
    for same in np.split(numbers, firsts[1:]):  # these are views
        if len(same) > 1:
            same[:] = min(same.tolist(), key=lambda number: len(repr(number)))
    first, other = places.reshape(2, -1)
    written: NDArray[np.float64] = numbers[other if of_other else first]
    return written


def counted_as_paid(
    counts: Mapping[float, int], total: float, *, of_other: bool = False
) -> dict[float, int]:
    """Return counts by the payoffs of :func:`as_paid`, or by those of the other player."""
    payoffs = np.array(list(counts), np.float64)
    found: dict[float, int] = {}
    paid = as_paid(payoffs, total, of_other=of_other)
    for payoff, count in zip(paid.tolist(), counts.values(), strict=True):
        found[payoff] = found.get(payoff, 0) + count
    return dict(sorted(found.items()))


def mean_and_deviation_of(counts: Mapping[float, int]) -> tuple[float, float]:
    """Return mean and standard deviation of numbers that were counted, NaN where there is none.

    No square overflows or underflows, since the largest number is scaled to about one.
    """
    count = sum(counts.values())
    scaled, exponent = scaled_to_one(counts)
    pairs = list(zip(scaled, counts.values(), strict=True))
    if not count:
        return math.nan, math.nan
    mean = math.fsum(number * times for number, times in pairs) / count
    if count < 2:
        return _unscaled(mean, exponent), math.nan
    squares = math.fsum((number - mean) ** 2 * times for number, times in pairs)
    return _unscaled(mean, exponent), _unscaled(math.sqrt(squares / (count - 1)), exponent)


def scaled_to_one(numbers: Iterable[float]) -> tuple[list[float], int]:
    """Return numbers over a power of two, the largest about one, and its exponent."""
    own = list(numbers)
    _, exponent = math.frexp(max(map(abs, own), default=0.0))
    return [math.ldexp(number, -exponent) for number in own], exponent


def _unscaled(number: float, exponent: int) -> float:
    """Return a number times a power of two, infinite where doubles end."""
    try:
        return math.ldexp(number, exponent)
    except OverflowError:
        return math.copysign(math.inf, number)


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


def student_interval(
    mean: float, deviation: float, count: int, confidence: float = 0.95
) -> tuple[float, float]:
    """Return Student's confidence interval of the expectation of numbers [1]_.

    It is exact for numbers with a normal distribution, and approximate for others.

    Parameters
    ----------
    mean, deviation : float
        Mean and standard deviation of independent numbers.
    count : int
        How many there are. Of fewer than two, the interval has no end, nor if the deviation is
        infinite.
    confidence : float

    Raises
    ------
    InvalidParameterError
        If `count` or `confidence` is impossible.

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
    if count < 2 or math.isinf(deviation):
        return -math.inf, math.inf
    reach = float(stdtrit(count - 1, (1 + confidence) / 2)) * deviation / math.sqrt(count)
    return mean - reach, mean + reach


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
