"""The anatomy of a game's rules: their methods, helpers and fields, and a digest of them."""

from __future__ import annotations

import dis
import hashlib
import inspect
import itertools
import json
import sys
import types
from typing import TYPE_CHECKING, Any

import attrs

from gamedp.rules.fingerprint import Fingerprint, codes, names_in
from gamedp.rules.game import DEFAULTS, STAGED_DEFAULTS, STAGED_METHODS, default_of, is_staged
from gamedp.runtime.encoding import encode, encode_object

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["Anatomy", "dissect", "encode_game", "fields_read", "rules_digest"]

ENTRY_METHODS = ("is_terminal", "actions", "outcomes", "payoff")
"""The methods that compiled exploration calls, besides those that have stand-ins."""


@attrs.frozen
class Anatomy:
    """The parts of compiled rules.

    Attributes
    ----------
    methods : dict of name to function
        The entry methods and all methods that they call on `self`.
    helpers : tuple of functions
        Marked functions that they call.
    fields : tuple of str
        Attributes of `self` that they read.
    digest : str
        SHA-256 over the byte code and constants of all of these.
    """

    methods: dict[str, Callable[..., Any]]
    helpers: tuple[Callable[..., Any], ...]
    fields: tuple[str, ...]
    digest: str


def dissect(
    game: object,
    entry_methods: tuple[str, ...] = ENTRY_METHODS,
    defaults: Mapping[str, Callable[..., Any]] = DEFAULTS,
) -> Anatomy:
    """Find the methods, helpers and fields that take part in the rules of `game`.

    Parameters
    ----------
    game
    entry_methods : tuple of str
        Methods that the compiled loop calls.
    defaults : mapping of method name to function
        Others that it calls, with what stands in for them where the game leaves them out.
    """
    kind = type(game)
    methods: dict[str, Callable[..., Any]] = {}
    fields: set[str] = set()
    waiting = [*entry_methods, *defaults]
    while waiting:
        name = waiting.pop()
        if name in methods or name in fields:
            continue
        if name in defaults:
            methods[name] = getattr(kind, name, None) or default_of(kind, name, defaults)
        elif isinstance(inspect.getattr_static(kind, name, None), types.FunctionType):
            methods[name] = getattr(kind, name)
        elif not callable(getattr(game, name, None)) and hasattr(game, name):
            fields.add(name)
            continue
        else:
            continue
        waiting.extend(names_in(methods[name].__code__))
    fingerprint = Fingerprint()
    for name in sorted(methods):
        fingerprint.add_function(f"method {name}", methods[name])
    helpers = tuple(fingerprint.helpers)
    return Anatomy(methods, helpers, tuple(sorted(fields)), fingerprint.hexdigest())


def fields_read(function: Callable[..., Any], argument: int) -> set[str] | None:
    """Return the attributes of an argument that a function reads; None if they are unknown.

    It can if the argument is only ever used as ``argument.name``, and by the function itself.
    """
    code = function.__code__
    if argument >= code.co_argcount:
        return None
    name = code.co_varnames[argument]
    if name in code.co_cellvars or any(part is not code for part in codes(code)):
        return None
    found = set()
    instructions = list(dis.get_instructions(code))
    for instruction, following in itertools.pairwise(instructions):
        used = (
            instruction.argval if isinstance(instruction.argval, tuple) else (instruction.argval,)
        )
        if "_FAST" not in instruction.opname or name not in used:
            continue
        is_load = instruction.opname.startswith("LOAD_FAST") and used[-1] == name
        if not is_load or used.count(name) > 1 or following.opname != "LOAD_ATTR":
            return None
        found.add(str(following.argval))
    return found


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
            required: tuple[str, ...] = STAGED_METHODS
            anatomy = dissect(game, required, STAGED_DEFAULTS)
            inner = game.stage()
            stage = [encode_object(inner), rules_digest(inner)]
            if stage[1] is None:
                return None
        else:
            required = *ENTRY_METHODS, *(name for name in more if hasattr(type(game), name))
            anatomy = dissect(game, required)
        if not _is_followed(type(game), anatomy.methods, required):
            return None
        values = [[name, encode(getattr(game, name))] for name in anatomy.fields]
    except (AttributeError, TypeError, ValueError):
        return None
    # Byte code differs from one Python to the next.
    parts = [sys.implementation.name, sys.version_info[:2], anatomy.digest, values, *stage]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _is_followed(
    kind: type, methods: Mapping[str, Callable[..., Any]], required: tuple[str, ...]
) -> bool:
    """Return whether the methods found are all those of the game that the rules call.

    A method that is not a plain function, such as a cached or a static one, is not found.
    """
    called = {name for method in methods.values() for name in names_in(method.__code__)}
    return methods.keys() >= set(required) and not any(
        callable(getattr(kind, name, None)) for name in called - methods.keys()
    )
