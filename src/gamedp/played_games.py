"""Games that were played, in files: one line each, and played again when they are read."""

from __future__ import annotations

import functools
import json
import math
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gamedp.errors import DamagedFileError, UnsupportedProblemError
from gamedp.game import Rules
from gamedp.plain import decode, decode_object, encode, encode_object
from gamedp.playing import Line

if TYPE_CHECKING:
    from gamedp.playing import GameRecord

__all__ = ["load_games", "save_games"]

FORMAT, VERSION = "gamedp games", 1


def save_games(path: str | Path, game: Any, records: Iterable[GameRecord]) -> None:
    """Write games to a file, one line of JSON each, behind a line that says what was played.

    A game is kept as its start, its actions and the outcomes that chance gave. :func:`load_games`
    plays them again by the rules.

    Parameters
    ----------
    path : str or Path
        What is there is replaced, once all is written.
    game
    records : iterable of GameRecord

    Raises
    ------
    UnsupportedProblemError
        If the states hold what cannot be written down.
    """
    path = Path(path)
    lines = [{"format": FORMAT, "version": VERSION, "game": encode_object(game)}]
    for record in records:
        try:
            start = encode(record.states[0])
        except TypeError as error:
            message = f"{record.states[0]!r} cannot be kept in a file: {error}."
            raise UnsupportedProblemError(message) from None
        fields = ("actions", "outcomes", "payoffs")
        lines.append({"start": start} | {name: getattr(record, name) for name in fields})
    beside = path.with_name(path.name + ".part")
    with beside.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


def load_games(path: str | Path, game: Any = None) -> tuple[Any, list[GameRecord]]:
    """Read games that :func:`save_games` has written, and play them again by the rules.

    Parameters
    ----------
    path : str or Path
    game : optional
        What was played; made as the file says if not given.

    Returns
    -------
    game
    records : list of GameRecord

    Raises
    ------
    DamagedFileError
        If the file is none of these, or a game cannot have gone by the rules as it says.
    UnknownNameError
        If the class of the game cannot be found.
    """
    path = Path(path)
    head, *rest = _lines(path)
    if head.get("format") != FORMAT or head.get("version") != VERSION:
        message = f"{path} does not hold games that this version of gamedp has written."
        raise DamagedFileError(message)
    if game is None:
        game = decode_object(head["game"], lambda _kind: True)
    rules = Rules(game)
    records = []
    for number, entry in enumerate(rest, 1):
        try:
            records.append(_again(rules, entry))
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            message = f"game {number} in {path} does not go by the rules of {game!r}: {error}"
            raise DamagedFileError(message) from error
    return game, records


def _lines(path: Path) -> list[dict[str, Any]]:
    """Return the JSON objects in a file, one a line; at least one."""
    try:
        found = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    except ValueError as error:
        message = f"{path} is damaged, or does not hold games: {error}"
        raise DamagedFileError(message) from error
    if not found or not all(isinstance(line, dict) for line in found):
        message = f"{path} is damaged, or does not hold games."
        raise DamagedFileError(message)
    return found


def _again(rules: Rules, entry: dict[str, Any]) -> GameRecord:
    """Return a game that was kept, played again; raise ValueError where that cannot be."""
    line = Line(rules, [decode(entry["start"])], earned=[0.0] * rules.num_players)
    for action, outcome in zip(entry["actions"], entry["outcomes"], strict=True):
        state = line.states[-1]
        if line.is_over or action not in line.choices():
            message = f"{action!r} is no action in {state!r}"
            raise ValueError(message)
        line.take(action, functools.partial(_possible, outcome))
    record = line.record()
    if not _same(record.payoffs, entry["payoffs"]):
        message = f"the payoffs are {record.payoffs!r}, not {entry['payoffs']!r}"
        raise ValueError(message)
    return record


def _possible(outcome: int, chances: Sequence[float]) -> int:
    """Return the place of an outcome that was kept; raise ValueError if it cannot come up."""
    if not 0 <= outcome < len(chances) or not chances[outcome] > 0:
        message = f"outcome {outcome!r} cannot come up"
        raise ValueError(message)
    return outcome


def _same(one: Sequence[float] | None, other: Sequence[float] | None) -> bool:
    """Compare payoffs; sums of rewards may differ in rounding between machines."""
    if one is None or other is None:
        return one is other
    return len(one) == len(other) and all(
        math.isclose(first, second, rel_tol=1e-12, abs_tol=1e-12)
        for first, second in zip(one, other, strict=True)
    )
