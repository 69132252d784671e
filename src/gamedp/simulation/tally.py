"""Playing in blocks, and sums over many games that do not depend on the workers.

They are statistics, not bounds: sums are rounded, and the sampling error is far larger.
"""

from __future__ import annotations

import abc
import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.runtime.floats import UNIT
from gamedp.runtime.workers import deal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.runtime.workers import Workers

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
    sums : tuple of tuple of (float, float)
        For each block of games, the sum of the totals of those that ended, and the sum of their
        squares.
    """

    games: int
    unfinished: int
    plies: int
    outcomes: tuple[dict[float, int], ...]
    sums: tuple[tuple[tuple[float, float], ...], ...]

    def moments(self, column: int) -> tuple[float, float]:
        """Return mean and standard deviation, NaN if there are too few games."""
        return moments(added(self.sums[column]), self.games - self.unfinished)

    def rounding(self, column: int) -> float:
        """Return the largest deviation that rounding of the sum of squares may hide."""
        count = self.games - self.unfinished
        squares = added(self.sums[column])[1]
        return math.sqrt(3 * BLOCK * UNIT * squares / (count - 1)) if count > 1 else math.nan

    @classmethod
    def total(cls, tallies: Iterable[Tally]) -> Tally:
        """Return the sum of several tallies, in their order."""
        parts = iter(tallies)
        first = next(parts)
        games, unfinished, plies = first.games, first.unfinished, first.plies
        outcomes, sums = list(map(Counter, first.outcomes)), list(map(list, first.sums))
        for part in parts:
            games += part.games
            unfinished += part.unfinished
            plies += part.plies
            for column, counts in enumerate(part.outcomes):
                outcomes[column].update(counts)
                sums[column] += part.sums[column]
        found = tuple(dict(sorted(counts.items())) for counts in outcomes)
        return cls(games, unfinished, plies, found, tuple(map(tuple, sums)))


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
class PlayedGames:
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
    ) -> PlayedGames:
        """Return games whose `plies` are -1 minus their number if a game was left unfinished."""
        is_over = plies >= 0
        return cls(earned, paid, np.where(is_over, plies, -1 - plies), is_over)

    @classmethod
    def joined(cls, parts: Iterable[PlayedGames]) -> PlayedGames:
        """Return consecutive games as one."""
        arrays = zip(*(attrs.astuple(part, recurse=False) for part in parts), strict=True)
        return cls(*map(np.concatenate, arrays))

    def tally(self, columns: int) -> Tally:
        """Return the tally of the first seats of these games."""
        outcomes, sums = [], []
        for column in range(columns):
            paid, counts = np.unique(self.paid[self.is_over, column] + 0.0, return_counts=True)
            outcomes.append(dict(zip(paid.tolist(), counts.tolist(), strict=True)))
            sums.append((sums_of(self.earned[self.is_over, column]),))
        return Tally(
            games=len(self.plies),
            unfinished=int((~self.is_over).sum()),
            plies=int(self.plies.sum()),
            outcomes=tuple(outcomes),
            sums=tuple(sums),
        )


def moments(sums: tuple[float, float], count: int) -> tuple[float, float]:
    """Return mean and standard deviation of `count` numbers, from their sum and sum of squares.

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


def blocks(begin: int, end: int) -> list[tuple[int, int]]:
    """Return the first game and the end of each block of games; `begin` is the start of one."""
    return [(first, min(first + BLOCK, end)) for first in range(begin, end, BLOCK)]


class Playing(abc.ABC):
    """Plays games of given policies, in blocks.

    Parameters
    ----------
    workers : int or Executor
        A number of threads, or an executor.
    outcomes : sequence of iterables of float
        For each column of the tally, the payoffs that are shown even if no game ends so.

    Attributes
    ----------
    names : tuple of str
        Of the policies.
    total : float
        The sum of the payoffs of two opponents.
    has_rewards : bool
    made_by : callable
        It makes the same in another process.
    """

    names: tuple[str, ...]
    total: float
    has_rewards: bool
    made_by: Callable[[], Playing]

    def __init__(self, workers: Workers, outcomes: Sequence[Iterable[float]]) -> None:
        self.workers = workers
        known = tuple(dict.fromkeys(payoffs, 0) for payoffs in outcomes)
        self._tally = Tally(0, 0, 0, known, ((),) * len(known))
        self._games = 0

    def __reduce__(self) -> tuple[Callable[[], Playing], tuple[()]]:
        """Return what is sent to workers."""
        return self.made_by, ()

    @abc.abstractmethod
    def payoffs(self) -> tuple[set[float] | None, float, float]:
        """Return all payoffs of player 0, None if unknown, and the least and the greatest."""

    @abc.abstractmethod
    def block(self, begin: int, end: int) -> Any:
        """Play the games with the numbers from `begin` to `end`; return their tally."""

    @abc.abstractmethod
    def played_pairs(self, begin: int, end: int) -> tuple[PlayedGames, PlayedGames]:
        """Play the pairs with the numbers from `begin` to `end`; return both games of each."""

    def blocks(self, calls: Iterable[tuple[int, int]]) -> Iterator[Any]:
        """Play blocks; yield the sums of each."""
        return itertools.starmap(self.block, calls)

    def play(self, end: int) -> None:
        """Play on, up to a number of games."""
        with closing(deal(self.workers, self.blocks, blocks(self._games, end))) as found:
            self._tally = Tally.total(itertools.chain([self._tally], found))
        self._games = end

    def tally(self) -> Tally:
        """Return the sums of all games so far."""
        return self._tally

    def pairs(
        self, calls: Iterable[tuple[int, int]]
    ) -> Iterator[tuple[Tally, Tally, tuple[float, float], int]]:
        """Play blocks of pairs; yield for each what `tally_pairs` adds up."""
        half = self.total / 2
        for begin, end in calls:
            first, second = self.played_pairs(begin, end)
            both = first.is_over & second.is_over
            own, other = first.earned[both, 0] / 2, second.earned[both, 1] / 2
            means = own - half / 2 + (other - half / 2)
            yield first.tally(1), second.tally(1), sums_of(means), int(both.sum())

    def tally_pairs(self, pairs: int) -> tuple[tuple[Tally, Tally], tuple[float, float], int]:
        """Play all pairs.

        Returns
        -------
        tallies : (Tally, Tally)
            The tallies of the first games of all pairs, and of the second ones.
        sums : (float, float)
            The sum over pairs of the first policy's average payoff minus half of the constant sum,
            and the sum of its squares. Without the subtraction, squares of large payoffs would lose
            the differences.
        finished : int
            The number of pairs of which both games have ended; the sums are over these.
        """
        with closing(deal(self.workers, self.pairs, blocks(0, pairs))) as found:
            firsts, seconds, sums, finished = zip(*found, strict=True)
        return (Tally.total(firsts), Tally.total(seconds)), added(sums), sum(finished)
