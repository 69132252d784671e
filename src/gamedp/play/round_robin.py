"""Round robins: everyone against everyone, in pairs of games with the same dice."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self

import attrs
import numpy as np

from gamedp.errors import (
    DamagedFileError,
    InvalidParameterError,
    UnsupportedProblemError,
    shown,
)
from gamedp.play.pairing import SCORES, Pairing, Result, computed
from gamedp.play.play import MOST_PLIES, GameRecord, check_plies, checked_seed, played
from gamedp.play.players import seats_taken
from gamedp.play.protocol import REASONS
from gamedp.play.statistics import Ratings, Sprt, rated, sprt
from gamedp.play.tournament import check_opening, opened
from gamedp.rules.game import Rules
from gamedp.runtime.encoding import encode_object
from gamedp.runtime.files import lock
from gamedp.runtime.notebook import html_rows
from gamedp.runtime.progress import Reporter

if TYPE_CHECKING:
    from gamedp.play.seat import Seat
    from gamedp.runtime.options import Tier
    from gamedp.runtime.progress import ProgressCallback

__all__ = ["Pairing", "RoundRobin", "round_robin"]

FORMAT, VERSION = "gamedp round robin", 1


@attrs.frozen(repr=False)
class RoundRobin:
    """What has come of a round robin.

    Attributes
    ----------
    names : tuple of str
        Of the players.
    pairings : tuple of Pairing
        Each of the players with each of the others.
    seed : int
        From which everything was drawn.
    test : Sprt or None
        What the sequential test of `better_by` has found of the first player; None without one.
    records : tuple of (str, str, GameRecord)
        Who sat first, who second, and the game; none unless they were asked for.
    """

    names: tuple[str, ...]
    pairings: tuple[Pairing, ...]
    seed: int
    test: Sprt | None = None
    records: tuple[tuple[str, str, GameRecord], ...] = attrs.field(default=(), eq=False)

    def pairing(self, one: str, other: str) -> Pairing:
        """Return the games between two players; raise InvalidParameterError if there are none."""
        for pairing in self.pairings:
            if {pairing.one, pairing.other} == {one, other}:
                return pairing
        message = f"there are no games between {shown(one)} and {shown(other)}."
        raise InvalidParameterError(message)

    def score(self, name: str) -> float:
        """Return the points of a player: 1 for a win, 1/2 for a draw."""
        points = 0.0
        for pairing in self.pairings:
            if pairing.games and name in {pairing.one, pairing.other}:
                share = pairing.score if name == pairing.one else 1.0 - pairing.score
                points += share * pairing.games
        return points

    def ratings(self) -> Ratings:
        """Return how strong the players are, with standard errors.

        Results that were computed count as so many games, in the errors as well.
        """
        number = {name: place for place, name in enumerate(self.names)}
        results = []
        for pairing in self.pairings:
            one, other = number[pairing.one], number[pairing.other]
            wins, draws, losses = pairing.first
            results.append((one, other, wins + 0.5 * draws, losses + 0.5 * draws))
            wins, draws, losses = pairing.second
            results.append((other, one, losses + 0.5 * draws, wins + 0.5 * draws))
        return rated(self.names, results)

    def _repr_html_(self) -> str:
        """Return the players for notebooks, those with most points first."""
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
                "{:.0f} ± {:.0f}".format(*rated[name]),
            )
            for name in sorted(self.names, key=self.score, reverse=True)
        ]
        return html_rows(["player", "points", "games", "Elo ± standard error"], rows)

    def __repr__(self) -> str:
        """Give the points in short."""
        points = ", ".join(f"{name} {self.score(name):g}" for name in self.names)
        return f"<RoundRobin {points}>"


def round_robin(  # noqa: PLR0913 - what is usually set in one call
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
    compile: Tier = "auto",
    progress: ProgressCallback | None = None,
) -> RoundRobin:
    """Let each of some players play each of the others.

    Games come in pairs, one for each order of the two. Both games of a pair have the same start,
    the same opening and the same dice: the k-th draw of chance for the first seat is the same in
    both, and so is that for the second seat. What a pair brings depends on the seed, the two names
    and the number of the pair alone, not on who else takes part.

    Parameters
    ----------
    game
        For two players, with chance or without.
    players : mapping of str to player
        By name, at least two; as for :func:`gamedp.play.play_game`. Each program is started once.
    games : int
        Between each two of them; even.
    seed : int, optional
        The same seed gives the same games; another one each time if not given.
    opening : int
        Plies at the start of each pair that are played at random.
    max_plies : int
        A game that has not ended by then counts as unfinished, not as a draw.
    better_by : (float, float), optional
        For two players: stop as soon as :func:`gamedp.play.sprt` tells that the first one is better
        by the larger of these differences, or by no more than the smaller one.
    exact : bool
        Whether to compute the results of two players whose actions depend on the position alone,
        instead of playing: policies, solutions, objects with ``choose(state)``, and RandomPlayer.
        The game must have few enough positions for a table. The others are played.
    save : str or Path, optional
        A file to which each pair is appended as it ends. If it is there already, the round robin
        goes on from where it was left, however it was stopped, with its seed if none is given. Only
        one at a time may write to it.
    records : bool
        Whether to keep the games, not just their counts; those read from `save` are not among them.
    compile : {"auto", "always", "never"}
        As for :func:`gamedp.compile`; for searchers.
    progress : callable, optional
        Is called with a :class:`gamedp.Progress` now and then.

    Raises
    ------
    UnsupportedProblemError
        If the game is not for two.
    InvalidParameterError
        If an option makes no sense, or `save` holds another round robin, or one that goes on.
    DamagedFileError
        If `save` holds something else.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> game = Matches(matches=9)
    >>> players = {"best": gamedp.searchers.AlphaBeta(), "random": gamedp.play.RandomPlayer(game)}
    >>> table = gamedp.play.round_robin(game, players, games=20, seed=1, compile="never")
    >>> table.score("best") > table.score("random"), table.pairing("best", "random").games
    (True, 20)
    """
    rules = Rules(game)
    if rules.num_players != 2:
        message = (
            f"a round robin is of games for two players, and {shown(game)} has "
            f"{rules.num_players}. gamedp.play.tournament sets two players against each other in "
            "all seats of a game for more."
        )
        raise UnsupportedProblemError(message)
    _check(players, games, opening, max_plies)
    if exact and (opening or better_by is not None):
        message = "exact results have no opening, and need no test by better_by."
        raise InvalidParameterError(message)
    names = tuple(players)
    if better_by is not None and len(names) != 2:
        message = f"better_by is for two players; these are {len(names)}."
        raise InvalidParameterError(message)
    pairings = {pair: Pairing(*pair) for pair in itertools.combinations(names, 2)}
    if exact:
        pairings |= computed(rules, players, pairings, games, compile)
    played_pairs = tuple(pair for pair in pairings if not pairings[pair].is_exact)
    facts = {"game": encode_object(game), "players": list(names), "games": games}
    facts |= {"exact": True} if exact else {}
    book = _Book(save, facts | {"opening": opening, "max_plies": max_plies}, seed)
    plan = _Plan(rules, played_pairs, games // 2, book.seed, opening, max_plies)
    kept: list[tuple[str, str, GameRecord]] = []
    reporter = Reporter(progress, "play")
    schedule, total = plan.schedule(), games * len(played_pairs)

    def test() -> Sprt | None:
        if better_by is None:
            return None
        return sprt(pairings[names[0], names[1]].pair_scores, better_by)

    test()  # refuses what makes no sense
    with book:
        for pair, results in book.read(schedule):
            pairings[pair].add(results)
        found = test()
        with seats_taken(rules, list(players.values()), compile) as seats:
            at = dict(zip(names, seats, strict=True))
            for pair, number in schedule:  # what the book has not had
                if found is not None and found.verdict != "undecided":
                    break
                both = list(plan.play(at, pair, number))
                results = [_result(record, place) for place, (_, _, record) in enumerate(both)]
                book.write(pair, number, results)
                pairings[pair].add(results)
                found = test()
                kept += both if records else []
                done = 2 * (number * len(played_pairs) + played_pairs.index(pair) + 1)
                reporter.report(done, total, f"{done:,} of {total:,} games")
    return RoundRobin(names, tuple(pairings.values()), book.seed, found, tuple(kept))


def _check(players: Mapping[str, Any], games: int, opening: int, max_plies: int) -> None:
    """Raise InvalidParameterError for options that make no sense."""
    names: list[Any] = list(players)
    if len(names) < 2 or not all(isinstance(name, str) and name for name in names):
        message = f"players are {shown(names)}; there must be two or more, each by a name."
        raise InvalidParameterError(message)
    if games < 2 or games % 2:
        message = f"games is {shown(games)}; it must be even: each sits first equally often."
        raise InvalidParameterError(message)
    check_plies(max_plies)
    check_opening(opening, max_plies)


@attrs.frozen
class _Plan:
    """Which pairs of games are played, in which order, and from which random numbers."""

    rules: Rules
    pairs: tuple[tuple[str, str], ...]
    rounds: int
    seed: int
    opening: int
    max_plies: int

    def schedule(self) -> Iterator[tuple[tuple[str, str], int]]:
        """Yield who meets whom, and for which time: all once, then all a second time, and on."""
        for number in range(self.rounds):
            for pair in self.pairs:
                yield pair, number

    def play(
        self, seats: Mapping[str, Seat], pair: tuple[str, str], number: int
    ) -> Iterator[tuple[str, str, GameRecord]]:
        """Play a pair of games: the second with the seats changed, and the same dice at each."""
        words = hashlib.sha256(json.dumps(pair).encode()).digest()
        key = [self.seed, int.from_bytes(words), number]
        start, one, other, *own = np.random.SeedSequence(key).spawn(5)
        line = opened(self.rules, self.opening, np.random.default_rng(start))
        for order, rest in zip((pair, pair[::-1]), own, strict=True):
            dice = [np.random.default_rng(one), np.random.default_rng(other)]
            players = [seats[name] for name in order]
            rng = np.random.default_rng(rest)
            yield *order, played(line.copy(), players, rng, self.max_plies, dice)


def _result(record: GameRecord, place: int) -> Result:
    """Return what has become of a game for who sits at this place."""
    if record.forfeit is not None:
        return "loss" if record.forfeit.player == place else "win", record.forfeit.reason
    if record.payoffs is None:
        return "none", "played"
    lead = record.payoffs[place] - record.payoffs[1 - place]
    return "draw" if lead == 0 else "win" if lead > 0 else "loss", "played"


class _Book:
    """A file of results: a line that says of what, and a line for each pair of games, in order.

    Parameters
    ----------
    path : str, Path or None
        No file, if None.
    facts : dict
        What is played.
    seed : int or None
        The one of the file counts, if None is given.

    Raises
    ------
    InvalidParameterError
        If the file is of another round robin.
    DamagedFileError
        If it is something else.
    """

    def __init__(self, path: str | Path | None, facts: dict[str, Any], seed: int | None) -> None:
        self._path = None if path is None else Path(path)
        self._file: IO[bytes] | None = None
        self._start = 0
        head = {"format": FORMAT, "version": VERSION, **facts}
        self._first = first = b""
        if self._path is not None and self._path.exists():
            with self._path.open("rb") as file:
                self._first = first = file.readline()
        if first.endswith(b"\n"):
            self.seed, self._start = self._seed_in(first, head, seed), len(first)
            return
        begun = f'{{"format": "{FORMAT}"'.encode()
        if not (first.startswith(begun) or begun.startswith(first)):
            raise DamagedFileError(self._foreign())
        self.seed = int(np.random.SeedSequence(checked_seed(seed)).entropy)  # type: ignore[arg-type]
        self._head = json.dumps(head | {"seed": self.seed}).encode() + b"\n"

    def _seed_in(self, line: bytes, head: dict[str, Any], seed: int | None) -> int:
        """Return the seed of the first line, if that is of this round robin."""
        try:
            found = json.loads(line)
            kept = found.pop("seed")
        except (ValueError, AttributeError, LookupError, TypeError, RecursionError):
            raise DamagedFileError(self._foreign()) from None
        if found.get("format") != FORMAT or type(kept) is not int or kept < 0:
            raise DamagedFileError(self._foreign())
        wanted = json.loads(json.dumps(head)) | ({} if seed is None else {"seed": seed})
        found = found | ({} if seed is None else {"seed": kept})
        odd = [key for key in {**wanted, **found} if wanted.get(key) != found.get(key)]
        if odd:
            key = odd[0]
            message = (
                f"{self._path} holds another round robin: {key} is {shown(found.get(key))} there, "
                f"and {shown(wanted.get(key))} here."
            )
            raise InvalidParameterError(message)
        return kept

    def _foreign(self) -> str:
        return f"{self._path} does not hold a round robin; it is left as it is."

    def __enter__(self) -> Self:
        """Open the file, which nobody else may write to until it is closed.

        Raises
        ------
        InvalidParameterError
            If another round robin writes to it, or has begun to since it was looked at.
        """
        if self._path is not None:
            self._path.touch()
            self._file = self._path.open("r+b", buffering=0)
            if not lock(self._file) or self._file.readline() != self._first:
                self._file.close()
                message = f"another round robin is writing to {self._path}; let it end first."
                raise InvalidParameterError(message)
            if not self._start:
                self._file.seek(0)
                self._file.truncate(0)
                self._file.write(self._head)
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        if self._file is not None:
            self._file.close()

    def read(
        self, schedule: Iterator[tuple[tuple[str, str], int]]
    ) -> Iterator[tuple[tuple[str, str], list[Result]]]:
        """Yield what is there already; a last line that was not written to its end is cut off."""
        if self._file is None or self._path is None:
            return
        end = self._start or len(self._head)
        with self._path.open("rb") as lines:
            lines.seek(end)
            for line in lines:
                if not line.endswith(b"\n"):
                    break
                pair, number = next(schedule, (None, -1))
                if pair is None:
                    raise DamagedFileError(self._foreign())
                yield pair, self._results(line, pair, number)
                end += len(line)
        self._file.truncate(end)
        self._file.seek(0, os.SEEK_END)

    def _results(self, line: bytes, pair: tuple[str, str], number: int) -> list[Result]:
        try:
            one, other, found, both = json.loads(line)
            results = [(result, how) for result, how in both]
        except (ValueError, TypeError, RecursionError):
            results, found, one, other = [], None, "", ""
        right = all(
            result in {*SCORES, "none"} and how in {"played", *REASONS} for result, how in results
        )
        if (one, other) != pair or found != number or len(results) != 2 or not right:
            message = f"{self._path} is damaged at round {number + 1} of {pair[0]} and {pair[1]}."
            raise DamagedFileError(message)
        return results

    def write(self, pair: tuple[str, str], number: int, results: list[Result]) -> None:
        """Append a pair of games, at once."""
        if self._file is not None:
            self._file.write(json.dumps([*pair, number, results]).encode() + b"\n")
