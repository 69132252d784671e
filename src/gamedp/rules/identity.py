"""Identification of the rules of a game, in files and across processes."""

from __future__ import annotations

import hashlib
import json
import sys
from typing import TYPE_CHECKING, Any

from gamedp.rules.anatomy import ENTRY_METHODS, dissect
from gamedp.rules.fingerprint import names_in
from gamedp.rules.staged import STAGED_DEFAULTS, STAGED_METHODS, is_staged
from gamedp.runtime.encoding import encode, encode_object

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["encode_game", "rules_digest"]


def encode_game(game: Any) -> dict[str, Any]:
    """Return the class and the parameters of a game, its name and the digest of its rules."""
    return {**encode_object(game), "name": repr(game), "rules": rules_digest(game)}


def rules_digest(game: Any, more: tuple[str, ...] = ()) -> str | None:
    """Return a digest of the rules, or None if not all of them can be followed.

    The digest of a staged game covers its stage.

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
    """Return whether the methods found are all those of the game that the rules call.

    A method that is not a plain function, such as a cached or a static one, is not found.
    """
    kind = type(game)
    required = STAGED_METHODS if is_staged(game) else ENTRY_METHODS
    called = {name for method in methods.values() for name in names_in(method.__code__)}
    return methods.keys() >= set(required) and not any(
        callable(getattr(kind, name, None)) for name in called - methods.keys()
    )
