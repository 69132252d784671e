"""The games between a set of players: counted, or computed without playing; and their file."""

from __future__ import annotations

import itertools
import json
import math
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self

import attrs
import numpy as np

from gamedp.errors import DamagedFileError, InvalidParameterError, shown
from gamedp.play.play import drawn_seed
from gamedp.play.protocol import REASONS
from gamedp.policies.arguments import as_model
from gamedp.policies.evaluation import evaluate
from gamedp.policies.policy import Policy, RandomPlayer, as_policies, model_of
from gamedp.policies.statistics import mean_and_deviation_of
from gamedp.results.solution import Solution
from gamedp.runtime.files import as_path, lock, open_plain
from gamedp.runtime.notebook import html_rows, html_table, with_error

if TYPE_CHECKING:
    from gamedp.play.play import GameRecord
    from gamedp.policies.evaluation import Evaluation
    from gamedp.runtime.options import CompileMode


GROUPS = "groups of games that were played to the end"
"""The unit over which mean payoffs of three or more players are taken."""

SCORES = {"win": 1.0, "draw": 0.5, "loss": 0.0}
"""The points for each result of a game."""

Result = tuple[Any, str]
"""The result of a game, and how it ended: ``"played"``, or the reason of a forfeit. In a pairing,
the result is a win, draw or loss of the first player, or ``"none"`` if the game was left
unfinished. In a meeting of more players, it is the payoffs by seat, None if the game was left
unfinished, or after a forfeit the name of the loser."""


@attrs.define
class Pairing:
    """The games between two players, `one` and `other`, counted or computed.

    Attributes
    ----------
    one, other : str
        Their names.
    first, second : list of 3 float
        Numbers of games that `one` has won, drawn and lost, sitting first, and sitting second;
        expected numbers where these are computed.
    pairs : list of 3 lists of 3 int
        Numbers of pairs of games: ``pairs[i][j]`` of those in which `one` had result i, of win,
        draw and loss, sitting first, and result j sitting second.
    unfinished : float
        Number of games that were left at the limit of plies; `pairs` leaves out their pairs.
    forfeits : dict
        Number of games lost by a program's fault, by (name, reason).
    is_exact : bool
        Whether the numbers were computed, within 1e-9 of each game, and no games played;
        `pairs` are then 0.
    """

    one: str
    other: str
    first: list[float] = attrs.field(factory=lambda: [0] * 3)
    second: list[float] = attrs.field(factory=lambda: [0] * 3)
    pairs: list[list[int]] = attrs.field(factory=lambda: [[0] * 3 for _ in range(3)])
    unfinished: float = 0
    forfeits: dict[tuple[str, str], int] = attrs.field(factory=dict)
    is_exact: bool = False

    @property
    def names(self) -> tuple[str, str]:
        """The two players."""
        return self.one, self.other

    @property
    def games(self) -> float:
        """The number of games that were won, drawn or lost."""
        return sum(self.first) + sum(self.second)

    @property
    def pair_scores(self) -> list[int]:
        """Numbers of pairs in which `one` has got 0, 1/2, 1, 3/2 and 2 points, for `sprt`; (5,)."""
        flipped = np.fliplr(self.pairs)
        return [int(flipped.trace(place)) for place in range(-2, 3)]

    def groups(self) -> Iterator[tuple[float, tuple[tuple[bool, float], ...]]]:
        """Yield how often games that depend on each other went how, pairs before single games.

        A game is whether `one` sat first, and the score of the first seat.
        """
        points = list(SCORES.values())
        pairs = np.array(self.pairs)
        for (i, j), number in np.ndenumerate(pairs):
            yield float(number), ((True, points[i]), (False, 1.0 - points[j]))
        singles = self.first - pairs.sum(axis=1), self.second - pairs.sum(axis=0)
        for i, score in enumerate(points):
            yield float(singles[0][i]), ((True, score),)
            yield float(singles[1][i]), ((False, 1.0 - score),)

    @property
    def score(self) -> float:
        """The share of the points that `one` has; NaN before the first game."""
        wins, draws = self.first[0] + self.second[0], self.first[1] + self.second[1]
        return (wins + 0.5 * draws) / self.games if self.games else math.nan

    def result(self, order: Sequence[str], record: GameRecord) -> Result:
        """Return the result of a game, with the players in the order of their seats."""
        place = order.index(self.one)
        if record.forfeit is not None:
            return "loss" if record.forfeit.player == place else "win", record.forfeit.reason
        if record.payoffs is None:
            return "none", "played"
        lead = record.payoffs[place] - record.payoffs[1 - place]
        return "draw" if lead == 0 else "win" if lead > 0 else "loss", "played"

    def is_result(self, result: Any, how: Any) -> bool:
        """Return whether a value from a file can be the result of a game."""
        if how in REASONS:
            return result in ("win", "loss")
        return how == "played" and result in (*SCORES, "none")

    def add(self, results: Iterable[Result]) -> None:
        """Count a pair of games; `one` sits first in the first game."""
        places = []
        for seat, (result, how) in enumerate(results):
            if result == "none":
                self.unfinished += 1
                continue
            places.append(list(SCORES).index(result))
            (self.first, self.second)[seat][places[-1]] += 1
            if how != "played":
                key = (self.one if result == "loss" else self.other), how
                self.forfeits[key] = self.forfeits.get(key, 0) + 1
        if len(places) == 2:
            self.pairs[places[0]][places[1]] += 1

    def expect(self, order: Sequence[str], found: Evaluation, games: int) -> None:
        """Add the expected results of a number of games in one order of the seats."""
        seat = order.index(self.one)
        counts = [games / 2 * (low + high) for low, high in found.results(seat)]
        (self.first, self.second)[seat][:] = counts
        never = games - math.fsum(counts)
        self.unfinished += never if never > 1e-6 * games else 0
        self.is_exact = True

    def facts(self) -> dict[str, Any]:
        """Return the results by name, as ``gamedp tournament --json`` prints them."""
        found = attrs.asdict(self) | {"pair_scores": self.pair_scores}
        return found | {"forfeits": _forfeits(self)}

    def _repr_html_(self) -> str:
        """Return a small table for notebooks."""
        rows = {"players": f"{self.one} against {self.other}"}
        for seat, counts in (("first", self.first), ("second", self.second)):
            wins, draws, losses = (f"{count:,.10g}" for count in counts)
            rows[f"sitting {seat}"] = f"wins {wins}, draws {draws}, loses {losses}"
        return html_table(rows | _facts(self))


@attrs.define
class Meeting:
    """The games between three players or more, as many as the game has seats.

    Games come in groups, with one game for each order of the players; all games of a group have the
    same opening and the same dice at each seat. Groups are independent of one another.

    Attributes
    ----------
    names : tuple of str
        The players.
    payoffs : list of tuple of float
        The average payoff of each player, for each group of games that were played to the end;
        where it is computed, a single entry with the expected average over all orders.
    by_order : dict of tuple of str to tuple of float
        For each order of the players in the seats, the average payoff of each seat in these groups,
        or its expectation.
    unfinished : int
        Number of games that were left at the limit of plies; `payoffs` leaves out their groups.
    forfeits : dict
        Number of games lost by a program's fault, by (name, reason); `payoffs` leaves out their
        groups, since the rules do not define the payoffs of the others.
    is_exact : bool
        Whether the payoffs were computed by :func:`gamedp.evaluate`, and no games played. Endless
        play then counts 0.
    """

    names: tuple[str, ...]
    payoffs: list[tuple[float, ...]] = attrs.field(factory=list)
    by_order: dict[tuple[str, ...], tuple[float, ...]] = attrs.field(factory=dict)
    unfinished: int = 0
    forfeits: dict[tuple[str, str], int] = attrs.field(factory=dict)
    is_exact: bool = False

    @property
    def games(self) -> int:
        """The number of games that count: those of the groups that were played to the end."""
        return 0 if self.is_exact else len(self.payoffs) * math.factorial(len(self.names))

    def result(self, order: Sequence[str], record: GameRecord) -> Result:
        """Return the result of a game, with the players in the order of their seats."""
        if record.forfeit is not None:
            return order[record.forfeit.player], record.forfeit.reason
        return record.payoffs, "played"

    def is_result(self, result: Any, how: Any) -> bool:
        """Return whether a value from a file can be the result of a game."""
        if how in REASONS:
            return result in self.names
        if how != "played" or not isinstance(result, list | None):
            return False
        right = [type(payoff) is float and math.isfinite(payoff) for payoff in result or ()]
        return result is None or right == [True] * len(self.names)

    def add(self, results: Iterable[Result]) -> None:
        """Count a group of games: one for each permutation of the players, in order."""
        orders = itertools.permutations(self.names)
        earned: dict[tuple[str, ...], tuple[float, ...]] = {}
        is_whole = True
        for order, (result, how) in zip(orders, results, strict=True):
            if how != "played":
                self.forfeits[result, how] = self.forfeits.get((result, how), 0) + 1
            elif result is None:
                self.unfinished += 1
            else:
                earned[order] = tuple(result)
            is_whole &= order in earned
        if not is_whole:
            return
        self.payoffs.append(self._means(earned))
        count = len(self.payoffs)
        for order, payoffs in earned.items():
            before = self.by_order.get(order, (0.0,) * len(order))
            self.by_order[order] = tuple(
                mean + (payoff - mean) / count for mean, payoff in zip(before, payoffs, strict=True)
            )

    def expect(self, order: Sequence[str], found: Evaluation, games: int) -> None:  # noqa: ARG002 - as for pairings
        """Add the expected payoffs of a game in one order of the seats."""
        seats = range(len(order))
        self.by_order[tuple(order)] = tuple(found.value(player=seat) for seat in seats)
        self.payoffs = [self._means(self.by_order)]
        self.is_exact = True

    def _means(self, earned: Mapping[tuple[str, ...], tuple[float, ...]]) -> tuple[float, ...]:
        """Return what each player got on average over some orders."""
        of_each = (
            Counter(payoffs[order.index(name)] for order, payoffs in earned.items())
            for name in self.names
        )
        return tuple(mean_and_deviation_of(counts)[0] for counts in of_each)

    def payoff(self, name: str) -> tuple[float, float]:
        """Return the average payoff of a player, and its standard error; NaN where it is not known.

        Raises
        ------
        InvalidParameterError
            If the player does not take part.
        """
        if name not in self.names:
            message = f"{shown(name)} is not one of {', '.join(self.names)}."
            raise InvalidParameterError(message)
        place, count = self.names.index(name), len(self.payoffs)
        own = [group[place] for group in self.payoffs]
        mean, deviation = mean_and_deviation_of(Counter(own))
        if self.is_exact:
            return mean, 0.0
        return mean, deviation / math.sqrt(count) if count else math.nan

    def facts(self) -> dict[str, Any]:
        """Return the results by name, as ``gamedp tournament --json`` prints them."""
        return {
            "names": self.names,
            "is_exact": self.is_exact,
            "groups": 0 if self.is_exact else len(self.payoffs),
            "payoffs": [self.payoff(name)[0] for name in self.names],
            "by_order": [
                {"names": order, "payoffs": payoffs} for order, payoffs in self.by_order.items()
            ],
            "unfinished": self.unfinished,
            "forfeits": _forfeits(self),
        }

    def _repr_html_(self) -> str:
        """Return the average payoff of each player, for notebooks."""
        payoffs = ((name, self.payoff(name)) for name in self.names)
        head, *rows = payoff_rows(payoffs, is_exact=self.is_exact)
        return html_rows(list(head), [*rows, *_facts(self).items()])


def _forfeits(games: Pairing | Meeting) -> list[dict[str, Any]]:
    """Return the games that were lost by a program's fault."""
    return [
        {"name": loser, "reason": reason, "games": count}
        for (loser, reason), count in games.forfeits.items()
    ]


def payoff_rows(
    payoffs: Iterable[tuple[str, tuple[float, float]]], *, is_exact: bool
) -> list[tuple[str, str]]:
    """Return a header, and the average payoff of each player, with its error unless it is exact."""
    if is_exact:
        return [("player", "mean payoff"), *((name, f"{mean:.6g}") for name, (mean, _) in payoffs)]
    rows = ((name, with_error(*found, GROUPS)) for name, found in payoffs)
    return [("player", "mean payoff ± standard error"), *rows]


def _facts(meeting: Pairing | Meeting) -> dict[str, str]:
    """Describe in words how the games went."""
    faults = ", ".join(
        f"{name}: {reason} ({count:,})" for (name, reason), count in meeting.forfeits.items()
    )
    return {
        "games": "computed" if meeting.is_exact else f"{meeting.games:,.10g}",
        "unfinished": f"{meeting.unfinished:,.10g}",
    } | ({"forfeits": faults} if faults else {})


def new_meeting(names: tuple[str, ...]) -> Pairing | Meeting:
    """Return an empty meeting of some players; for two, a pairing."""
    return Pairing(*names) if len(names) == 2 else Meeting(names)


def compute(
    game: Any,
    players: Mapping[str, Any],
    meetings: Mapping[tuple[str, ...], Pairing | Meeting],
    games: int,
    compile: CompileMode,
) -> None:
    """Fill the meetings that need no games with their expected results.

    Parameters
    ----------
    game
    players : mapping of str to player
    meetings : mapping of tuple of str to Pairing or Meeting
        By players; meetings that must be played are left unchanged.
    games : int
        Number of games in each meeting.
    compile : {"auto", "always", "never"}
        As for :func:`gamedp.compile`.
    """
    known = {name for name, player in players.items() if _is_policy(player)}
    wanted = [names for names in meetings if known.issuperset(names)]
    if not wanted:
        return
    rules = {name: players[name] for name in players if name in known}
    model = as_model(game, list(rules.values()), compile)
    if model.has_opponents and model.rewards.any():
        return  # the end alone does not determine the winner
    policies = dict(zip(rules, as_policies(rules, model), strict=True))
    for names in wanted:
        orders = list(itertools.permutations(names))
        for order in orders:
            found = evaluate(model, [policies[name] for name in order])
            meetings[names].expect(order, found, games // len(orders))


def _is_policy(player: Any) -> bool:
    """Return whether the actions of a player depend on the position alone."""
    if isinstance(player, (Policy, Solution, RandomPlayer)):
        return True
    if isinstance(player, type) or callable(getattr(player, "search", None)):
        return False
    return model_of(player) is None and callable(getattr(player, "choose", None))


FORMAT, VERSION = "gamedp round robin", 1


class Book:
    """A file of results: a line that names the tournament, then one line per group of games.

    Parameters
    ----------
    path : str, Path or None
        None for no file.
    facts : dict
        The facts that identify the tournament.
    seed : int or None
        The seed of the file if None.

    Raises
    ------
    InvalidParameterError
        If the file belongs to another tournament.
    DamagedFileError
        If the file holds something else.
    """

    def __init__(self, path: str | Path | None, facts: dict[str, Any], seed: int | None) -> None:
        self._path = None if path is None else as_path(path)
        self._file: IO[bytes] | None = None
        self._start = 0
        head = {"format": FORMAT, "version": VERSION, **facts}
        self._first = first = b""
        if self._path is not None and self._path.exists():
            with open_plain(self._path, links=True) as file:
                self._first = first = file.readline()
        if first.endswith(b"\n"):
            self.seed, self._start = self._seed_in(first, head, seed), len(first)
            return
        begun = f'{{"format": "{FORMAT}"'.encode()
        if not (first.startswith(begun) or begun.startswith(first)):
            raise DamagedFileError(self._foreign())
        self.seed = drawn_seed(seed)
        self._head = json.dumps(head | {"seed": self.seed}).encode() + b"\n"

    def _seed_in(self, line: bytes, head: dict[str, Any], seed: int | None) -> int:
        """Return the seed in the first line if it belongs to this tournament."""
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
                f"{self._path} holds another tournament: {key} is {shown(found.get(key))} there, "
                f"and {shown(wanted.get(key))} here."
            )
            raise InvalidParameterError(message)
        return kept

    def _foreign(self) -> str:
        return f"{self._path} does not hold a tournament; it is left as it is."

    def __enter__(self) -> Self:
        """Open the file, and lock it against other writers until it is closed.

        Raises
        ------
        InvalidParameterError
            If another tournament writes to it, or has begun to since it was read.
        """
        if self._path is not None:
            self._path.touch()
            self._file = self._path.open("r+b", buffering=0)
            if not lock(self._file) or self._file.readline() != self._first:
                self._file.close()
                message = f"another tournament is writing to {self._path}; let it end first."
                raise InvalidParameterError(message)
            if not self._start:
                self._file.seek(0)
                self._file.truncate(0)
                self._file.write(self._head)
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def read(
        self,
        schedule: Iterator[tuple[tuple[str, ...], int]],
        meetings: Mapping[tuple[str, ...], Pairing | Meeting],
    ) -> None:
        """Count the results in the file; an incomplete last line is cut off."""
        if self._file is None or self._path is None:
            return
        end = self._start or len(self._head)
        with self._path.open("rb") as lines:
            lines.seek(end)
            for line in lines:
                if not line.endswith(b"\n"):
                    break
                names, number = next(schedule, (None, -1))
                if names is None:
                    raise DamagedFileError(self._foreign())
                meetings[names].add(self._results(line, meetings[names], number))
                end += len(line)
        self._file.truncate(end)
        self._file.seek(0, os.SEEK_END)

    def _results(self, line: bytes, meeting: Pairing | Meeting, number: int) -> list[Result]:
        """Return the results in a line if they belong to this group of games."""
        names = meeting.names
        try:
            *own, found, group = json.loads(line)
            results = [(result, how) for result, how in group]
            right = all(meeting.is_result(result, how) for result, how in results)
        except (ValueError, TypeError, RecursionError):
            results, right, found, own = [], False, None, []
        if (
            tuple(own) != names
            or type(found) is not int
            or found != number
            or len(results) != math.factorial(len(names))
            or not right
        ):
            who = " and ".join(names) if len(names) == 2 else ", ".join(names)
            message = f"{self._path} is damaged at round {number + 1} of {who}."
            raise DamagedFileError(message)
        return results

    def write(self, names: tuple[str, ...], number: int, results: list[Result]) -> None:
        """Append a group of games immediately."""
        if self._file is not None:
            self._file.write(json.dumps([*names, number, results]).encode() + b"\n")
