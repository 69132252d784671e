"""Files of played games: one line each, replayed when they are read."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from gamedp.errors import DamagedFileError, UnknownNameError, UnsupportedProblemError, shown
from gamedp.play.play import Played
from gamedp.play.protocol import REASONS, Forfeit
from gamedp.rules.expand import expand, refuse_no_state
from gamedp.rules.game import Rules
from gamedp.rules.layout import Layout
from gamedp.runtime.encoding import decode, decode_object, encode, encode_object, near
from gamedp.runtime.files import as_path, open_plain, write_whole
from gamedp.runtime.registry import GAMES, class_named

if TYPE_CHECKING:
    from gamedp.play.play import GameRecord


FORMAT, VERSION = "gamedp games", 1

FAULTS = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""Errors that reading invalid text can raise."""


def save_games(path: str | Path, game: Any, records: Iterable[GameRecord]) -> None:
    """Write games to a file, one line of JSON each, after a first line that names the game.

    A game is stored as its start, its actions and the outcomes of chance, with a note if it began
    elsewhere than the rules say. :func:`load_games` replays it by the rules.

    Parameters
    ----------
    path : str or Path
        An existing file is replaced once everything is written.
    game
    records : iterable of GameRecord

    Raises
    ------
    UnsupportedProblemError
        If the states hold values that JSON cannot represent.
    """
    path = as_path(path)
    lines = [{"format": FORMAT, "version": VERSION, "game": encode_object(game)}]
    starts = _Starts(Rules(game))
    for record in records:
        try:
            start = encode(record.states[0])
            actions = [encode(action) for action in record.actions]
        except (TypeError, RecursionError) as error:
            message = f"a game from {shown(record.states[0])} cannot be kept in a file: {error}."
            raise UnsupportedProblemError(message) from None
        entry = {"start": start, "actions": actions}
        entry |= {"outcomes": record.outcomes, "payoffs": record.payoffs}
        if not starts.has(record.states[0]):
            entry["elsewhere"] = True
        if record.forfeit is not None:
            entry["forfeit"] = attrs.asdict(record.forfeit)
        lines.append(entry)
    text = "".join(json.dumps(line) + "\n" for line in lines)
    write_whole(path, lambda file: file.write(text.encode()))


def load_games(path: str | Path, game: Any = None) -> tuple[Any, list[GameRecord]]:
    """Read games that :func:`save_games` has written, and replay them by the rules.

    Parameters
    ----------
    path : str or Path
    game : optional
        The game that was played. If not given, it is the registered game that the file names: a
        file never causes the import of anything that is not registered.

    Returns
    -------
    game
    records : list of GameRecord

    Raises
    ------
    DamagedFileError
        If the file is not such a file, or a game cannot have begun or gone as it says by the rules.
    UnknownNameError
        If the game is neither registered nor given.
    """
    path = as_path(path)
    head, *rest = _lines(path)
    if head.get("format") != FORMAT or head.get("version") != VERSION:
        message = f"{path} does not hold games that this version of gamedp has written."
        raise DamagedFileError(message)
    if game is None:
        game = _game_of(path, head.get("game"))
    starts = _Starts(Rules(game))
    records = []
    for number, entry in enumerate(rest, 1):
        try:
            records.append(_again(starts, entry))
        except FAULTS as error:
            message = f"game {number} in {path} does not follow the rules of {shown(game)}: {error}"
            raise DamagedFileError(message) from error
    return game, records


def _lines(path: Path) -> list[dict[str, Any]]:
    """Return the JSON objects in a file, one per line; at least one."""
    try:
        with open_plain(path, links=True) as file:
            found = [json.loads(line) for line in file.read().decode().splitlines()]
    except (ValueError, RecursionError) as error:
        message = f"{path} is damaged, or does not hold games: {error}"
        raise DamagedFileError(message) from error
    if not found or not all(isinstance(line, dict) for line in found):
        message = f"{path} is damaged, or does not hold games."
        raise DamagedFileError(message)
    return found


def _game_of(path: Path, encoded: Any) -> Any:
    """Return the game that a file names, if it is registered."""
    try:
        return decode_object(encoded, lambda name: class_named(GAMES, name))
    except UnknownNameError as error:
        message = (
            f"the game in {path} cannot be loaded: {error} Pass it: "
            f"gamedp.play.load_games({str(path)!r}, game=...)."
        )
        raise UnknownNameError(message) from error
    except FAULTS as error:
        message = f"{path} is damaged, or does not say which game it holds: {error!r}"
        raise DamagedFileError(message) from error


class _Starts:
    """The starts of the games of some rules, and the form of their other positions."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self._states = {state: None for probability, state in rules.initial() if probability > 0}
        self._homes = [near(kind) for kind in {type(rules.game), *map(type, self._states)}]

    @functools.cached_property
    def _layout(self) -> Layout | None:
        """The layout of the game's states, None if they are not made of integers."""
        first = next(iter(self._states))
        refuse_no_state(first, "the initial states")
        return Layout.of(first)

    def has(self, state: Any) -> bool:
        """Return whether the rules let a game begin there."""
        return state in self._states

    def read(self, entry: dict[str, Any]) -> Any:
        """Return the start of a stored game; raise ValueError if it cannot be one."""
        start = decode(entry["start"], self._class_named)
        if self._layout is not None:
            self._layout.flatten(start)
        if entry.get("elsewhere") is True:
            expand(self.rules, start)  # refuses a position from which the rules cannot continue
        elif not self.has(start):
            message = f"it starts in {shown(start)}, where no game of these rules begins"
            raise ValueError(message)
        return start

    def action(self, stored: Any) -> Any:
        """Return a stored action; raise ValueError if it cannot be one."""
        action = decode(stored, self._class_named)
        hash(action)
        return action

    def _class_named(self, path: str) -> type | None:
        """Return a class that states and actions may have: one of the game's own module."""
        return next(filter(None, (known(path) for known in self._homes)), None)


def _again(starts: _Starts, entry: dict[str, Any]) -> GameRecord:
    """Replay a stored game; raise ValueError if that is impossible."""
    rules = starts.rules
    line = Played(rules, [starts.read(entry)])
    for action, outcome in zip(entry["actions"], entry["outcomes"], strict=True):
        state = line.states[-1]
        taken = starts.action(action)
        choices = [] if line.is_over else line.choices()
        if not any(type(each) is type(taken) and each == taken for each in choices):
            message = f"{shown(taken)} is not an action in {shown(state)}"
            raise ValueError(message)
        line.take(taken, functools.partial(_possible, outcome))
    forfeit = _forfeit_of(entry, rules)
    if forfeit is not None and line.actions and line.is_over:
        message = "it ends before it is forfeited"
        raise ValueError(message)
    record = line.record(forfeit)
    if not _same(record.payoffs, entry["payoffs"]):
        message = f"the payoffs are {shown(record.payoffs)}, not {shown(entry['payoffs'])}"
        raise ValueError(message)
    return record


def _forfeit_of(entry: dict[str, Any], rules: Rules) -> Forfeit | None:
    """Return the forfeit of a stored game; raise ValueError if it cannot have happened."""
    if "forfeit" not in entry:
        return None
    forfeit = Forfeit(**entry["forfeit"])
    known = forfeit.reason in REASONS and isinstance(forfeit.detail, str)
    if type(forfeit.player) is not int or not 0 <= forfeit.player < rules.num_players or not known:
        message = f"{shown(forfeit)} is no forfeit"
        raise ValueError(message)
    return forfeit


def _possible(outcome: int, probabilities: Sequence[float]) -> int:
    """Return the index of a stored outcome; raise ValueError if it cannot occur."""
    is_there = type(outcome) is int and 0 <= outcome < len(probabilities)
    if not is_there or not probabilities[outcome] > 0:
        message = f"outcome {shown(outcome)} cannot come up"
        raise ValueError(message)
    return outcome


def _same(one: Sequence[float] | None, other: Sequence[float] | None) -> bool:
    """Return whether payoffs are equal; sums of rewards may differ in rounding between machines."""
    if one is None or other is None:
        return one is other
    return len(one) == len(other) and all(
        math.isclose(first, second, rel_tol=1e-12, abs_tol=1e-12)
        for first, second in zip(one, other, strict=True)
    )
