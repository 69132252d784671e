"""The parts of a game's rules, found by following the names that its methods use.

The digest is the key under which compiled rules are kept: it sees every edit to a method, to a
helper (in whatever file), to a constant, or to the state's fields, because it is made of their
byte code and values and not of file names and dates.
"""

from __future__ import annotations

import dis
import inspect
import itertools
import types
from typing import TYPE_CHECKING, Any

import attrs

from gamedp.rules.fingerprint import Fingerprint, codes, names_in
from gamedp.rules.game import DEFAULTS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["Anatomy", "dissect", "fields_read"]

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
            methods[name] = getattr(kind, name, None) or defaults[name]
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
