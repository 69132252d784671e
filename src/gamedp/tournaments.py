"""Tournaments: which of two players is the better one, and how certain that is."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from scipy.special import stdtrit

from gamedp.compiler.search import bind_once
from gamedp.errors import InvalidParameterError, UnsupportedProblemError, shown
from gamedp.game import Rules
from gamedp.playing import (
    MOST_PLIES,
    Compile,
    GameRecord,
    Line,
    RandomPlayer,
    check_plies,
    checked_seed,
    seated,
)
from gamedp.progress import Reporter

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.playing import Seat
    from gamedp.progress import ProgressCallback

__all__ = ["Tournament", "tournament"]

OPENINGS_TRIED = 1_000
"""As many are drawn before it is said that the game is over by then."""


def _as_records(records: Iterable[GameRecord]) -> tuple[GameRecord, ...]:
    return tuple(records)


@attrs.frozen(eq=False, repr=False)
class Tournament:
    """The games between two players, `one` and `other`.

    Games come in pairs: `one` begins the first of a pair, `other` the second. Pairs are independent
    of one another, the games of a pair are not, since they have the opening in common: so it is
    the pairs on which the statistics rest.

    Attributes
    ----------
    records : tuple of GameRecord
        An even number of them, the pairs side by side.
    seconds : float
        That they took.
    """

    records: tuple[GameRecord, ...] = attrs.field(converter=_as_records)
    seconds: float = 0.0

    @records.validator
    def _are_pairs(self, _attribute: object, records: tuple[GameRecord, ...]) -> None:
        if len(records) % 2 or not records:
            message = f"a tournament has its games in pairs; there are {len(records)}."
            raise InvalidParameterError(message)

    @functools.cached_property
    def differences(self) -> NDArray[np.float64]:
        """The payoff of `one` less that of `other` in each game; NaN where it is unfinished."""
        signs = (1.0, -1.0)
        return np.array(
            [
                math.nan
                if record.payoffs is None
                else signs[number % 2] * (record.payoffs[0] - record.payoffs[1])
                for number, record in enumerate(self.records)
            ]
        )

    @property
    def wins(self) -> int:
        """Games in which `one` got more."""
        return int((self.differences > 0).sum())

    @property
    def draws(self) -> int:
        """Games in which both got as much."""
        return int((self.differences == 0).sum())

    @property
    def losses(self) -> int:
        """Games in which `other` got more."""
        return int((self.differences < 0).sum())

    @property
    def unfinished(self) -> int:
        """Games that were left at the limit of plies; the statistics leave out their pairs."""
        return int(np.isnan(self.differences).sum())

    @functools.cached_property
    def _pairs(self) -> NDArray[np.float64]:
        means: NDArray[np.float64] = self.differences.reshape(-1, 2).mean(axis=1)
        return means[~np.isnan(means)]

    @property
    def mean_difference(self) -> float:
        """The mean of the differences, over the pairs that were finished; NaN if none was."""
        return float(self._pairs.mean()) if len(self._pairs) else math.nan

    @property
    def standard_error(self) -> float:
        """The standard error of that mean; NaN with fewer than two pairs."""
        count = len(self._pairs)
        return float(self._pairs.std(ddof=1) / math.sqrt(count)) if count > 1 else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% confidence interval of that mean, by Student's t distribution of the pairs.

        Approximate unless the means of pairs are normal; good for a few dozen pairs and more.
        """
        reach = float(stdtrit(max(len(self._pairs) - 1, 1), 0.975)) * self.standard_error
        return self.mean_difference - reach, self.mean_difference + reach

    @property
    def mean_plies(self) -> float:
        """How many actions a game took on average."""
        return float(np.mean([record.plies for record in self.records]))

    @property
    def distinct(self) -> int:
        """How many of the games differ. Without chance and openings they may all be the same."""
        return len({(record.states, record.actions) for record in self.records})

    def __repr__(self) -> str:
        """Give the results in short."""
        return (
            f"<Tournament wins={self.wins} draws={self.draws} losses={self.losses} "
            f"unfinished={self.unfinished} mean_difference={self.mean_difference!r} "
            f"standard_error={self.standard_error!r}>"
        )


def tournament(  # noqa: PLR0913 - what is usually set in one call
    game: Any,
    one: Any,
    other: Any,
    *,
    games: int = 100,
    seed: int | None = None,
    opening: int = 0,
    max_plies: int = MOST_PLIES,
    compile: Compile = "auto",
    progress: ProgressCallback | None = None,
) -> Tournament:
    """Let two players play many games; each of them begins every other one.

    Parameters
    ----------
    game
        For two players, with chance or without.
    one, other
        As for :func:`gamedp.play_game`.
    games : int
        An even number.
    seed : int, optional
        The same seed gives the same games; another one each time if not given.
    opening : int
        Plies at the start that are played at random, the same ones in both games of a pair. The
        game is not over after them.
    max_plies : int
        A game that has not ended by then counts as unfinished, not as a draw.
    compile : {"auto", "always", "never"}
        As for :func:`gamedp.compile`.
    progress : callable, optional
        Is called with a :class:`gamedp.Progress` now and then.

    Raises
    ------
    UnsupportedProblemError
        If the game is not for two players.
    InvalidParameterError
        If an option makes no sense.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> game = Matches(matches=9)
    >>> one, other = gamedp.AlphaBeta(), gamedp.RandomPlayer(game)
    >>> result = gamedp.tournament(game, one, other, games=20, seed=1, compile="never")
    >>> result.wins > result.losses, result.wins + result.losses + result.draws
    (True, 20)
    """
    rules = Rules(game)
    if rules.num_players != 2:
        message = (
            f"a tournament is between two players; {type(game).__name__} has {rules.num_players}. "
            "Use play_game."
        )
        raise UnsupportedProblemError(message)
    if games < 2 or games % 2:
        message = f"games is {shown(games)}; it must be even, so that both begin equally often."
        raise InvalidParameterError(message)
    check_plies(max_plies)
    if not 0 <= opening < max_plies or opening != int(opening):
        message = (
            f"opening is {shown(opening)}; it must be a whole number from 0 to below max_plies."
        )
        raise InvalidParameterError(message)
    seats = seated(rules, one, compile), seated(rules, other, compile)
    pairs = np.random.SeedSequence(checked_seed(seed))
    reporter = Reporter(progress, "play")
    began = time.perf_counter()
    records = []
    with bind_once():
        for pair in pairs.spawn(games // 2):
            for record in _pair(rules, seats, pair, opening, max_plies):
                records.append(record)
                reporter.report(len(records), games, f"{len(records):,} of {games:,} games")
    return Tournament(tuple(records), time.perf_counter() - began)


def _pair(
    rules: Rules,
    seats: tuple[Seat, Seat],
    seed: np.random.SeedSequence,
    opening: int,
    max_plies: int,
) -> Iterator[GameRecord]:
    """Play the same opening twice, with each of the two in each seat."""
    first, *both = (np.random.default_rng(part) for part in seed.spawn(3))
    line = _opened(rules, opening, first)
    for order, rng in zip((seats, seats[::-1]), both, strict=True):
        yield line.copy().play(order, rng, max_plies)


def _opened(rules: Rules, opening: int, rng: np.random.Generator) -> Line:
    """Return a game after a random opening, and not over."""
    anyone = seated(rules, RandomPlayer(rules.game), "auto")
    for _ in range(OPENINGS_TRIED):
        line = Line.begin(rules, None, rng)
        if opening:
            line.play((anyone, anyone), rng, opening)
        if not line.is_over:
            return line
    message = (
        f"{shown(rules.game)} is over after {opening} random plies, {OPENINGS_TRIED:,} times out "
        "of as many; choose a shorter opening."
    )
    raise InvalidParameterError(message)
