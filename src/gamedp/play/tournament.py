"""Tournaments: all players against each other, in all orders of the seats, with the same dice."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.errors import (
    InvalidParameterError,
    UnsupportedProblemError,
    shown,
)
from gamedp.play.match import groups_of, opened
from gamedp.play.pairing import Book, Meeting, Pairing, Result, compute, new_meeting, payoff_rows
from gamedp.play.play import MOST_PLIES, checked_plies, played
from gamedp.play.players import seats_taken
from gamedp.play.statistics import Ratings, Sprt, rated, sprt
from gamedp.rules.game import Rules
from gamedp.runtime.encoding import encode_object
from gamedp.runtime.limit import Reporter, callback_of, shows_progress
from gamedp.runtime.notebook import html_rows
from gamedp.runtime.workers import check_executor, deal

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from gamedp.play.protocol import Seat
    from gamedp.runtime.limit import ProgressCallback
    from gamedp.runtime.options import CompileMode

__all__ = ["Meeting", "Pairing", "Tournament", "tournament"]


@attrs.frozen(repr=False)
class Tournament:
    """The result of a tournament.

    Attributes
    ----------
    names : tuple of str
        The names of the players.
    meetings : tuple of Pairing or Meeting
        One for every set of as many players as there are seats; pairings of two.
    games : int
        Number of games that each of these was to play.
    seed : int
        The seed of all random numbers.
    test : Sprt or None
        The result of the sequential test of `better_by` for the first player; None without one.
    records : tuple of (str, ..., GameRecord)
        The names by seat, and the game; empty unless records were requested.
    """

    names: tuple[str, ...]
    meetings: tuple[Pairing | Meeting, ...]
    games: int
    seed: int
    test: Sprt | None = None
    records: tuple[tuple[Any, ...], ...] = attrs.field(default=(), eq=False)

    @property
    def is_exact(self) -> bool:
        """Whether all results were computed, without playing games."""
        return all(meeting.is_exact for meeting in self.meetings)

    @property
    def pairings(self) -> tuple[Pairing, ...]:
        """The pairings of all players; empty in a game for more than two."""
        return tuple(meeting for meeting in self.meetings if isinstance(meeting, Pairing))

    def payoff(self, name: str) -> tuple[float, float]:
        """Return the average payoff of a player, and its standard error.

        For games of three or more: the mean over the meetings of the player, which count equally.
        NaN where one of them has no groups of games, or only one.

        Raises
        ------
        UnsupportedProblemError
            If the game is for two; see :meth:`score` there.
        InvalidParameterError
            If there is no such player.
        """
        if self.pairings:
            message = "games for two are counted as won, drawn and lost; ask score() or ratings()."
            raise UnsupportedProblemError(message)
        if name not in self.names:
            message = f"there is no player {shown(name)}; there are {', '.join(self.names)}."
            raise InvalidParameterError(message)
        found = [
            meeting.payoff(name)
            for meeting in self.meetings
            if isinstance(meeting, Meeting) and name in meeting.names
        ]
        means, errors = zip(*found, strict=True)
        return math.fsum(means) / len(found), math.hypot(*errors) / len(found)

    def _refuse_many(self) -> None:
        if not self.pairings:
            message = (
                "points and ratings are for games of two; payoff(name) says what a player gets on "
                "average."
            )
            raise UnsupportedProblemError(message)

    def pairing(self, one: str, other: str) -> Pairing:
        """Return the games between two players; raise InvalidParameterError if there are none."""
        self._refuse_many()
        for pairing in self.pairings:
            if {pairing.one, pairing.other} == {one, other}:
                return pairing
        message = f"there are no games between {shown(one)} and {shown(other)}."
        raise InvalidParameterError(message)

    def score(self, name: str) -> float:
        """Return the points of a player: 1 for a win, 1/2 for a draw."""
        self._refuse_many()
        points = 0.0
        for pairing in self.pairings:
            if pairing.games and name in {pairing.one, pairing.other}:
                share = pairing.score if name == pairing.one else 1.0 - pairing.score
                points += share * pairing.games
        return points

    def ratings(self) -> Ratings:
        """Return the ratings of the players, with standard errors.

        Computed results count as the same number of games, in the errors as well; where all results
        were computed, the errors are 0.

        Raises
        ------
        UnsupportedProblemError
            If the game is for more than two.
        """
        self._refuse_many()
        number = {name: place for place, name in enumerate(self.names)}
        groups = []
        for pairing in self.pairings:
            one, other = number[pairing.one], number[pairing.other]
            for count, games in pairing.groups():
                seated = [(*((one, other) if first else (other, one)), won) for first, won in games]
                groups.append((count, seated))
        found = rated(self.names, groups)
        if not self.is_exact:
            return found
        return attrs.evolve(found, errors=np.zeros(len(self.names)), first_move_error=0.0)

    def facts(self) -> dict[str, Any]:
        """Return the results by name, as ``gamedp tournament --json`` prints them."""
        facts: dict[str, Any] = {"games": self.games, "seed": None if self.is_exact else self.seed}
        if not self.pairings:
            payoffs = ((name, self.payoff(name)) for name in self.names)
            return facts | {
                "entrants": [
                    {"name": name, "payoff": mean, "error": error}
                    for name, (mean, error) in payoffs
                ],
                "meetings": [meeting.facts() for meeting in self.meetings],
            }
        found = self.ratings()
        return facts | {
            "entrants": [
                {"name": name, "points": self.score(name), "elo": elo, "error": error}
                for name, elo, error in zip(self.names, found.elo, found.errors, strict=True)
            ],
            "first_move": found.first_move,
            "first_move_error": found.first_move_error,
            "test": None if self.test is None else attrs.asdict(self.test),
            "pairings": [pairing.facts() for pairing in self.pairings],
        }

    def _repr_html_(self) -> str:
        """Return the players for notebooks, those with the most points or payoffs first."""
        if not self.pairings:
            means = [(name, self.payoff(name)) for name in self.names]
            order = sorted(means, key=lambda found: found[1], reverse=True)
            head, *lines = payoff_rows(order, is_exact=self.is_exact)
            return html_rows(list(head), lines)
        games: dict[str, float] = dict.fromkeys(self.names, 0)
        for pairing in self.pairings:
            for name in (pairing.one, pairing.other):
                games[name] += pairing.games
        found = self.ratings()
        rated = dict(zip(found.names, zip(found.elo, found.errors, strict=True), strict=True))
        rows = [
            (
                name,
                f"{self.score(name):g}",
                f"{games[name]:,.10g}",
                ("{:.0f}" if self.is_exact else "{:.0f} ± {:.0f}").format(*rated[name]),
            )
            for name in sorted(self.names, key=self.score, reverse=True)
        ]
        elo = "Elo" if self.is_exact else "Elo ± standard error"
        return html_rows(["player", "points", "games", elo], rows)

    def __repr__(self) -> str:
        """Return the points, or the mean payoffs, in short."""
        if not self.pairings:
            means = ", ".join(f"{name} {self.payoff(name)[0]:.6g}" for name in self.names)
            return f"<Tournament {means}>"
        points = ", ".join(f"{name} {self.score(name):g}" for name in self.names)
        return f"<Tournament {points}>"


@shows_progress
def tournament(  # noqa: PLR0913 - what is usually set in one call
    game: Any,
    players: Mapping[str, Any],
    *,
    games: int = 100,
    seed: int | None = None,
    opening: int = 0,
    max_plies: int = MOST_PLIES,
    better_by: tuple[float, float] | None = None,
    exact: bool = False,
    save: str | Path | None = None,
    records: bool = False,
    compile: CompileMode = "auto",
    executor: Executor | None = None,
    progress: ProgressCallback | bool | None = None,
) -> Tournament:
    """Let all players play each other, in all orders of the seats.

    Every set of as many players as there are seats meets. Games come in groups, with one game for
    each order of the set; for two players, in pairs. All games of a group have the same start, the
    same opening and the same dice: the k-th draw of chance for a seat is the same in all of them.
    The results of a group depend only on the seed, the names and the number of the group, not on
    the other players.

    With two players, games are won, drawn and lost, and the players are rated by that. With three
    or more, the mean payoff of each player counts, with its standard error.

    Parameters
    ----------
    game
        For two players or more, with chance or without.
    players : mapping of str to player
        Players by name, at least as many as there are seats; as for :func:`gamedp.play.play_game`.
        Each program is started once.
    games : int
        Number of games for each set, rounded up so that all orders occur equally often: to an even
        number for two players, to a multiple of 6 for three.
    seed : int, optional
        The same seed gives the same games; a new one is drawn each time if not given.
    opening : int
        Number of plies at the start of each group that are played at random.
    max_plies : int
        A game that has not ended after this many plies counts as unfinished, not as a draw.
    better_by : (float, float), optional
        For two players: stop as soon as :func:`gamedp.play.sprt` decides that the first one is
        better by the larger of these differences, or by no more than the smaller one.
    exact : bool
        Whether to compute the results of players whose actions depend on the position alone by
        :func:`gamedp.evaluate`, for each order of the seats, instead of playing: policies,
        solutions, objects with ``choose(state)``, and RandomPlayer. The game must have few enough
        positions for a table. The other meetings are played, and so are games of two with rewards
        on the way.
    save : str or Path, optional
        A file to which each group is appended as it ends. If it exists, the tournament continues
        where it stopped, for whatever reason, with its seed if none is given. Only one tournament
        at a time may write to it.
    records : bool
        Whether to keep the games and not only their counts; games read from `save` are not
        included.
    compile : {"auto", "always", "never"}
        As for :func:`gamedp.compile`; for searchers.
    executor : concurrent.futures.Executor, optional
        Its workers play the groups of games side by side, such as those of a
        ``ProcessPoolExecutor``; the results are the same, where they depend on no clock. The game
        and the players are sent to other processes, which must be able to import their classes and
        functions; programs are started again for each part of the games. Threads share the players.
    progress : callable or bool, optional
        As for :func:`gamedp.solve`.

    Raises
    ------
    UnsupportedProblemError
        If the game is for one player.
    InvalidParameterError
        If an option makes no sense, or `save` holds another tournament, or one in progress, or a
        player cannot be sent to the workers.
    DamagedFileError
        If `save` holds something else.
    concurrent.futures.BrokenExecutor
        If a worker is lost; `save` has the groups up to there.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> game = Matches(matches=9)
    >>> players = {"best": gamedp.searchers.AlphaBeta(), "random": gamedp.play.RandomPlayer(game)}
    >>> table = gamedp.play.tournament(game, players, games=20, seed=1, compile="never")
    >>> table.score("best") > table.score("random"), table.pairing("best", "random").games
    (True, 20)
    """
    rules = Rules(game)
    rounds, book = begun(
        rules,
        list(players),
        games=games,
        seed=seed,
        opening=opening,
        max_plies=max_plies,
        better_by=better_by,
        exact=exact,
        save=save,
    )
    check_executor(
        executor, {"the game": game} | {f"player {shown(name)}": players[name] for name in players}
    )
    names, orders = tuple(players), math.factorial(rules.num_players)
    games = rounds * orders
    sets = itertools.combinations(names, rules.num_players)
    meetings = {some: new_meeting(some) for some in sets}
    if exact:
        compute(game, players, meetings, games, compile)
    left = tuple(some for some, meeting in meetings.items() if not meeting.is_exact)
    plan = _Plan(
        rules, dict(players), compile, left, rounds, book.seed, opening, max_plies, records
    )
    kept: list[tuple[Any, ...]] = []
    reporter = Reporter(callback_of(progress), "play")
    schedule, total = plan.schedule(), games * len(left)

    def test() -> Sprt | None:
        if better_by is None:
            return None
        (pairing,) = meetings.values()
        assert isinstance(pairing, Pairing)  # noqa: S101 - of two players
        return sprt(pairing.pair_scores, better_by)

    workers = 1 if executor is None else executor
    with book:
        book.read(schedule, meetings)
        found = test()
        is_open = found is None or found.verdict == "undecided"
        groups = list(schedule) if is_open else []  # that the book does not have yet
        with closing(deal(workers, plan.play, groups)) as played_groups:
            for (some, number), (results, group) in zip(groups, played_groups, strict=True):
                book.write(some, number, results)
                meetings[some].add(results)
                found = test()
                kept += group
                done = orders * (number * len(left) + left.index(some) + 1)
                reporter.report(done, total, f"{done:,} of {total:,} games")
                if found is not None and found.verdict != "undecided":
                    break
    return Tournament(names, tuple(meetings.values()), games, book.seed, found, tuple(kept))


def begun(  # noqa: PLR0913 - the options of a tournament
    rules: Rules,
    names: list[Any],
    *,
    games: int,
    seed: int | None,
    opening: int,
    max_plies: int,
    better_by: tuple[float, float] | None,
    exact: bool,
    save: str | Path | None,
) -> tuple[int, Book]:
    """Return the number of groups of games for each set of players, and the book of the results.

    It validates the options before players, which may be slow to construct, are created.

    Raises
    ------
    UnsupportedProblemError, InvalidParameterError, DamagedFileError
        As for :func:`tournament`.
    """
    count = rules.num_players
    if count < 2:
        message = f"a tournament is between players, and {shown(rules.game)} has {count}."
        raise UnsupportedProblemError(message)
    if len(names) < count or not all(isinstance(name, str) and name for name in names):
        least = "two" if count == 2 else f"{count}"
        message = f"players are {shown(names)}; there must be {least} or more, each by a name."
        raise InvalidParameterError(message)
    max_plies, opening = checked_plies(max_plies, opening)
    rounds = groups_of(math.factorial(count), games)
    if exact and (opening or better_by is not None):
        message = "exact results have no opening, and need no test by better_by."
        raise InvalidParameterError(message)
    if better_by is not None:
        if len(names) != 2:
            message = f"better_by is for two players; these are {len(names)}."
            raise InvalidParameterError(message)
        sprt([0.0] * 5, better_by)  # refuses values that make no sense
    facts: dict[str, Any] = {"game": encode_object(rules.game), "players": list(names)}
    facts |= {"games": rounds * math.factorial(count)} | ({"exact": True} if exact else {})
    return rounds, Book(save, facts | {"opening": opening, "max_plies": max_plies}, seed)


@attrs.frozen
class _Plan:
    """The groups of games to play, their order, and their random numbers.

    Attributes
    ----------
    sets : tuple of tuple of str
        The sets of players that meet: as many players as there are seats.
    rounds : int
        The number of groups that each set plays.
    """

    rules: Rules
    players: dict[str, Any]
    compile: CompileMode
    sets: tuple[tuple[str, ...], ...]
    rounds: int
    seed: int
    opening: int
    max_plies: int
    records: bool

    def schedule(self) -> Iterator[tuple[tuple[str, ...], int]]:
        """Yield each set of players and the number of its group: all sets once, then all again."""
        for number in range(self.rounds):
            for names in self.sets:
                yield names, number

    def play(
        self, groups: Sequence[tuple[tuple[str, ...], int]]
    ) -> Iterator[tuple[list[Result], list[tuple[Any, ...]]]]:
        """Play groups of games; yield the results of each, and its games if they are kept."""
        with seats_taken(self.rules, list(self.players.values()), self.compile) as seats:
            at = dict(zip(self.players, seats, strict=True))
            for names, number in groups:
                meeting, group = new_meeting(names), list(self._games(at, names, number))
                results = [meeting.result(order, record) for *order, record in group]
                yield results, group if self.records else []

    def _games(
        self, seats: Mapping[str, Seat], names: tuple[str, ...], number: int
    ) -> Iterator[tuple[Any, ...]]:
        """Play a game in each order of some players, with the same dice at each seat.

        Yield the names in the order of the seats, and the record.
        """
        words = hashlib.sha256(json.dumps(names).encode()).digest()
        key = [self.seed, int.from_bytes(words), number]
        count = len(names)
        parts = np.random.SeedSequence(key).spawn(1 + count + math.factorial(count))
        start, thrown, own = parts[0], parts[1 : 1 + count], parts[1 + count :]
        line = opened(self.rules, self.opening, np.random.default_rng(start))
        for order, rest in zip(itertools.permutations(names), own, strict=True):
            dice = [np.random.default_rng(part) for part in thrown]
            players = [seats[name] for name in order]
            rng = np.random.default_rng(rest)
            yield *order, played(line.copy(), players, rng, self.max_plies, dice)
