"""The game of a saved solution: stored, made again, and compared with the stored one."""

from __future__ import annotations

import hashlib
import json
import sys
from typing import TYPE_CHECKING, Any

from gamedp.errors import InvalidParameterError, UnknownNameError, shown
from gamedp.rules.anatomy import ENTRY_METHODS, dissect
from gamedp.rules.fingerprint import names_in
from gamedp.rules.staged import STAGED_DEFAULTS, STAGED_METHODS, is_staged
from gamedp.runtime.encoding import decode_object, encode, encode_object
from gamedp.runtime.registry import GAMES, class_named

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

__all__ = ["changed", "encode_game", "game_of", "rules_digest"]


def encode_game(game: Any) -> dict[str, Any]:
    """Return the class and the parameters of a game, its name and the digest of its rules."""
    return {**encode_object(game), "name": repr(game), "rules": rules_digest(game)}


def rules_digest(game: Any, more: tuple[str, ...] = ()) -> str | None:
    """Return a digest of what the rules say, or None if that cannot be followed to the end.

    That of a staged game covers its stage.

    Parameters
    ----------
    game
    more : tuple of str
        Methods to cover besides those of all games, as far as the game has them.
    """
    stage: list[Any] = []
    try:
        if is_staged(game):
            anatomy = dissect(game, STAGED_METHODS, STAGED_DEFAULTS)
            inner = game.stage()
            stage = [encode_object(inner), rules_digest(inner)]
            if stage[1] is None:
                return None
        else:
            has = tuple(name for name in more if hasattr(type(game), name))
            anatomy = dissect(game, (*ENTRY_METHODS, *has))
        if not _is_followed(game, anatomy.methods):
            return None
        values = [[name, encode(getattr(game, name))] for name in anatomy.fields]
    except (AttributeError, TypeError, ValueError):
        return None
    # Byte code differs from one Python to the next.
    parts = [sys.implementation.name, sys.version_info[:2], anatomy.digest, values, *stage]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _is_followed(game: Any, methods: Mapping[str, Callable[..., Any]]) -> bool:
    """Say whether the methods found are all that the rules call of the game.

    A method that is no plain function, such as a cached or a static one, is not found.
    """
    kind = type(game)
    required = STAGED_METHODS if is_staged(game) else ENTRY_METHODS
    called = {name for method in methods.values() for name in names_in(method.__code__)}
    return methods.keys() >= set(required) and not any(
        callable(getattr(kind, name, None)) for name in called - methods.keys()
    )


def game_of(folder: Path, saved: dict[str, Any] | None, game: Any) -> Any:
    """Return the game that was solved, None for a model of arrays, or raise.

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
    """Return the message that the rules of a game are not those that were saved."""
    return (
        f"the rules of {shown(game)} have changed since {folder} was saved: {how}. Solve and save "
        "again, or go back to the rules as they were."
    )
