"""The game of a saved solution: stored, recreated, and compared with the stored one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from gamedp.errors import InvalidParameterError, UnknownNameError, shown
from gamedp.runtime.encoding import decode_object, encode_object
from gamedp.runtime.registry import GAMES, class_named

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["changed", "game_of"]


def game_of(folder: Path, saved: dict[str, Any] | None, game: Any) -> Any:
    """Return the solved game, or None for a model of arrays; raise if it has changed.

    Parameters
    ----------
    folder : Path
    saved : dict or None
        What `encode_game` has written.
    game
        The game that the user has passed, or None.
    """
    if saved is None:
        if game is not None:
            message = f"the model in {folder} was made of arrays; leave game={shown(game)} out."
            raise InvalidParameterError(message)
        return None
    if game is not None:
        _check_game(folder, saved, game)
        return game
    try:
        return decode_object(saved, lambda path: class_named(GAMES, path))
    except UnknownNameError as error:
        message = (
            f"the game that is solved in {folder} cannot be loaded: {error} Pass it: "
            f"gamedp.load({str(folder)!r}, game=...), or --game file.py:ClassName on the command "
            "line."
        )
        raise UnknownNameError(message) from error


def _check_game(folder: Path, saved: dict[str, Any], game: Any) -> None:
    """Raise unless `game` has the name and the parameters of the game that was solved."""
    given = encode_object(game)
    name = saved["class"].rpartition(":")[2].rpartition(".")[2]
    different = sorted(
        key
        for key in saved["fields"].keys() | given["fields"].keys()
        if json.dumps(saved["fields"].get(key)) != json.dumps(given["fields"].get(key))
    )
    if name != type(game).__name__:
        different = ["its class"]
    if different:
        message = (
            f"the solution in {folder} is of {saved['name']}, not of {shown(game)}: "
            f"{', '.join(different)} differ{'s' if len(different) == 1 else ''}. Load it without "
            "game=, or solve this game."
        )
        raise InvalidParameterError(message)


def changed(folder: Path, game: Any, how: str) -> str:
    """Return the message that the rules of a game differ from the saved ones."""
    return (
        f"the rules of {shown(game)} have changed since {folder} was saved: {how}. Solve and save "
        "again, or go back to the rules as they were."
    )
