"""Matches: a statistical comparison of two players."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from scipy.special import stdtrit

from gamedp.errors import InvalidParameterError, UnsupportedProblemError, shown
from gamedp.play.play import MOST_PLIES, GameRecord, Played, checked_plies, drawn_seed, played
from gamedp.play.players import seated, seats_taken
from gamedp.policies.policy import RandomPlayer
from gamedp.rules.game import Rules
from gamedp.runtime.limit import Reporter, callback_of, shows_progress
from gamedp.runtime.notebook import html_table, with_error
from gamedp.runtime.options import checked_whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.play.protocol import Seat
    from gamedp.runtime.limit import ProgressCallback
    from gamedp.runtime.options import CompileMode


OPENINGS_TRIED = 1_000
"""Number of openings drawn before an error says that the game is always over after them."""


def _as_records(records: Iterable[GameRecord]) -> tuple[GameRecord, ...]:
    return tuple(records)


@attrs.frozen(eq=False, repr=False)
class Match:
    """The games between two players, `one` and `other`; `other` takes all seats except one.

    Games for two come in pairs: `one` begins the first of a pair, `other` the second. In general a
    group has one game for each seat of the game, and `one` sits in each seat once. Groups are
    independent of one another, but the games of a group are not, since they share the opening; the
    statistics are therefore based on groups.

    Attributes
    ----------
    records : tuple of GameRecord
        The games of all groups in order; an even number in games for two.
    seconds : float
        The time they took.
    players : int
        The number of seats; if not given, that of the first finished game, or 2.
    """

    records: tuple[GameRecord, ...] = attrs.field(converter=_as_records)
    seconds: float = 0.0
    players: int = attrs.field()

    @players.default
    def _as_the_games_say(self) -> int:
        finished = (record.payoffs for record in self.records if record.payoffs is not None)
        return len(next(finished, (0, 0)))

    def __attrs_post_init__(self) -> None:
        """Refuse games that do not form whole groups."""
        if len(self.records) % self.players or not self.records:
            groups = "pairs" if self.players == 2 else f"groups of {self.players}"
            message = f"a match has its games in {groups}; there are {len(self.records)}."
            raise InvalidParameterError(message)

    def _compared(self, others: Callable[[list[float]], float]) -> NDArray[np.float64]:
        """Return the payoff of `one` minus what `others` returns for the other payoffs."""
        found = np.full(len(self.records), math.nan)
        for number, record in enumerate(self.records):
            if record.payoffs is not None:
                payoffs = list(record.payoffs)
                found[number] = payoffs.pop(number % self.players) - others(payoffs)
        return found

    @property
    def forfeits(self) -> tuple[int, int]:
        """The numbers of games that `one` and `other` have lost by a fault of a program."""
        lost = [
            number % self.players == record.forfeit.player
            for number, record in enumerate(self.records)
            if record.forfeit is not None
        ]
        return sum(lost), len(lost) - sum(lost)

    @functools.cached_property
    def differences(self) -> NDArray[np.float64]:
        """The payoff of `one` minus that of `other` in each game; NaN where it has no payoffs.

        With more than two seats, the mean over the seats of `other` is subtracted. A game has no
        payoffs if it is unfinished, or forfeited and its rules do not define what can be lost.
        """
        return self._compared(lambda payoffs: math.fsum(payoffs) / len(payoffs))

    @functools.cached_property
    def _leads(self) -> NDArray[np.float64]:
        """The payoff of `one` minus the largest other one; infinite after a forfeit."""
        found = self._compared(max)
        for number, record in enumerate(self.records):
            if record.forfeit is not None:
                is_lost = number % self.players == record.forfeit.player
                found[number] = -math.inf if is_lost else math.inf
        return found

    @property
    def wins(self) -> int:
        """The number of games in which `one` got more than every other player."""
        return int((self._leads > 0).sum())

    @property
    def draws(self) -> int:
        """The number of games in which `one` got as much as the best of the others."""
        return int((self._leads == 0).sum())

    @property
    def losses(self) -> int:
        """The number of games in which another player got more than `one`."""
        return int((self._leads < 0).sum())

    @property
    def by_seat(self) -> NDArray[np.int64]:
        """The numbers of games won, drawn, lost and unfinished by `one` per seat; (players, 4)."""
        leads = self._leads.reshape(-1, self.players)
        kinds = (leads > 0, leads == 0, leads < 0, np.isnan(leads))
        return np.array([kind.sum(axis=0) for kind in kinds]).T

    @property
    def unfinished(self) -> int:
        """The number of games left at the limit of plies; the statistics leave out their groups."""
        return int(np.isnan(self._leads).sum())

    @functools.cached_property
    def _groups(self) -> NDArray[np.float64]:
        means: NDArray[np.float64] = self.differences.reshape(-1, self.players).mean(axis=1)
        return means[~np.isnan(means)]

    @property
    def group_word(self) -> str:
        """The word for a group of games."""
        return "pair" if self.players == 2 else "group"

    @property
    def mean_difference(self) -> float:
        """The mean of the differences over the finished groups; NaN if there are none."""
        return float(self._groups.mean()) if len(self._groups) else math.nan

    @property
    def standard_error(self) -> float:
        """The standard error of that mean; NaN with fewer than two groups."""
        count = len(self._groups)
        return float(self._groups.std(ddof=1) / math.sqrt(count)) if count > 1 else math.nan

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95% confidence interval of that mean, by Student's t distribution of the groups.

        None with fewer than two groups. Approximate unless the means of groups are normal; accurate
        for a few dozen groups or more.
        """
        if len(self._groups) < 2:
            return None
        reach = float(stdtrit(len(self._groups) - 1, 0.975)) * self.standard_error
        return self.mean_difference - reach, self.mean_difference + reach

    @property
    def mean_plies(self) -> float:
        """The average number of actions of a game."""
        return float(np.mean([record.plies for record in self.records]))

    @property
    def distinct(self) -> int:
        """The number of different games. Without chance and openings they may all be the same."""
        return len({(record.states, record.actions) for record in self.records})

    def facts(self) -> dict[str, Any]:
        """Return the results by name, as ``gamedp selfplay --json`` prints them."""
        names = ("wins", "draws", "losses", "unfinished", "distinct", "mean_plies",
                 "mean_difference", "standard_error", "interval", "seconds")  # fmt: skip
        return {"games": len(self.records)} | {name: getattr(self, name) for name in names}

    def _repr_html_(self) -> str:
        """Return a small table for notebooks."""
        rows = {name: f"{getattr(self, name):,}" for name in ("wins", "draws", "losses")}
        rows["unfinished"] = f"{self.unfinished:,}"
        groups = f"{self.group_word}s of games that have ended"
        rows["mean difference"] = with_error(self.mean_difference, self.standard_error, groups)
        if self.interval is not None:
            rows["95 % interval"] = "{:.6g} … {:.6g}".format(*self.interval)
        rows["mean plies"] = f"{self.mean_plies:.6g}"
        return html_table(rows)

    def __repr__(self) -> str:
        """Return the results in short."""
        return (
            f"<Match wins={self.wins} draws={self.draws} losses={self.losses} "
            f"unfinished={self.unfinished} mean_difference={self.mean_difference!r} "
            f"standard_error={self.standard_error!r}>"
        )


@shows_progress
def match(  # noqa: PLR0913 - what is usually set in one call
    game: Any,
    one: Any,
    other: Any,
    *,
    games: int = 100,
    seed: int | None = None,
    opening: int = 0,
    max_plies: int = MOST_PLIES,
    compile: CompileMode = "auto",
    progress: ProgressCallback | bool | None = None,
) -> Match:
    """Let two players play many games, and take turns at beginning.

    In a game for three or more, `one` sits in each seat equally often, and `other` in all others.

    Parameters
    ----------
    game
        For two players or more, with chance or without.
    one, other
        As for :func:`gamedp.play.play_game`.
    games : int
        Number of games, rounded up so that each player takes every seat equally often: to an even
        number for two players, to a multiple of 3 for three.
    seed : int, optional
        The same seed gives the same games; a new one is drawn each time if not given.
    opening : int
        Number of plies at the start that are played at random, the same in all games of a group (a
        pair, for two players). The game is not over after them.
    max_plies : int
        A game that has not ended after this many plies counts as unfinished, not as a draw.
    compile : {"auto", "always", "never"}
        As for :func:`gamedp.compile`.
    progress : callable or bool, optional
        As for :func:`gamedp.solve`.

    Raises
    ------
    UnsupportedProblemError
        If the game is for one player.
    InvalidParameterError
        If an option makes no sense.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> game = Matches(matches=9)
    >>> one, other = gamedp.searchers.AlphaBeta(), gamedp.play.RandomPlayer(game)
    >>> result = gamedp.play.match(game, one, other, games=20, seed=1, compile="never")
    >>> result.wins > result.losses, result.wins + result.losses + result.draws
    (True, 20)
    """
    rules = Rules(game)
    count = rules.num_players
    rounds = rounds_of(rules, games=games, seed=seed, opening=opening, max_plies=max_plies)
    groups = np.random.SeedSequence(drawn_seed(seed)).spawn(rounds)
    games = count * len(groups)
    reporter = Reporter(callback_of(progress), "play")
    began = time.perf_counter()
    records = []
    # A program in several seats of a game is started once for each.
    with seats_taken(rules, [one, *[other] * (count - 1)], compile) as seats:
        for group in groups:
            for record in _group(rules, seats, group, opening, max_plies):
                records.append(record)
                reporter.report(len(records), games, f"{len(records):,} of {games:,} games")
    return Match(tuple(records), time.perf_counter() - began, count)


def rounds_of(rules: Rules, *, games: int, seed: int | None, opening: int, max_plies: int) -> int:
    """Return the number of groups of games of two players; raise for options that make no sense.

    Raises
    ------
    UnsupportedProblemError, InvalidParameterError
        As for :func:`match`.
    """
    count = rules.num_players
    if count < 2:
        message = f"a match is between players; {type(rules.game).__name__} has 1. Use play_game."
        raise UnsupportedProblemError(message)
    max_plies, opening = checked_plies(max_plies, opening)
    drawn_seed(seed)  # refuses an invalid seed
    return groups_of(count, games)


def _group(
    rules: Rules,
    seats: Sequence[Seat],
    seed: np.random.SeedSequence,
    opening: int,
    max_plies: int,
) -> Iterator[GameRecord]:
    """Play the same opening once for each seat, with the first of the two in that seat."""
    count = rules.num_players
    first, *later = (np.random.default_rng(part) for part in seed.spawn(1 + count))
    line = opened(rules, opening, first)
    one, *others = seats
    for place, rng in enumerate(later):
        yield played(line.copy(), [*others[:place], one, *others[place:]], rng, max_plies)


def groups_of(size: int, games: Any) -> int:
    """Return the number of groups of this size for a number of games, rounded up.

    Raises
    ------
    InvalidParameterError
        If it is not a valid number of games.

    Examples
    --------
    >>> groups_of(6, 96), groups_of(6, 100)
    (16, 17)
    """
    return -(-checked_whole("games", games, 1) // size)


def opened(rules: Rules, opening: int, rng: np.random.Generator) -> Played:
    """Return a game after a random opening that is not over."""
    anyone = seated(rules, RandomPlayer(rules.game), "auto")
    for _ in range(OPENINGS_TRIED):
        line = Played.begin(rules, None, rng)
        if opening:
            line.play([anyone] * rules.num_players, rng, opening)
        if not line.is_over:
            return line
    message = (
        f"{shown(rules.game)} is over after {opening} random plies, {OPENINGS_TRIED:,} times out "
        "of as many; choose a shorter opening."
    )
    raise InvalidParameterError(message)
