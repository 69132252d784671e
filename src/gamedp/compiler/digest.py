"""What the rules of a game consist of, found by following the names that its methods use.

The digest is the key under which compiled rules are kept: it sees every edit to a method, to a
helper (in whatever file), to a constant, or to the state's fields, because it is made of their
byte code and values and not of file names and dates.
"""

from __future__ import annotations

import dis
import enum
import hashlib
import inspect
import itertools
import types
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.game import DEFAULTS, HELPER_MARK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = ["Anatomy", "dissect", "fields_read"]

ENTRY_METHODS = ("is_terminal", "actions", "outcomes", "payoff")
"""The methods that compiled exploration calls, besides those that have stand-ins."""


@attrs.frozen
class Anatomy:
    """What compiled rules consist of.

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
        waiting.extend(_names(methods[name].__code__))
    text = hashlib.sha256()
    visitor = _Visitor(text)
    for name in sorted(methods):
        text.update(f"method {name}\n".encode())
        visitor.visit_function(methods[name])
    return Anatomy(methods, tuple(visitor.helpers), tuple(sorted(fields)), text.hexdigest())


def fields_read(function: Callable[..., Any], argument: int) -> set[str] | None:
    """Return which attributes of an argument a function reads; None if that cannot be told.

    It can if the argument is only ever used as ``argument.name``, and by the function itself.
    """
    code = function.__code__
    if argument >= code.co_argcount:
        return None
    name = code.co_varnames[argument]
    if name in code.co_cellvars or any(part is not code for part in _codes(code)):
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


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield a code object and those nested in it: generator expressions, inner functions."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _names(code: types.CodeType) -> list[str]:
    return [name for part in _codes(code) for name in part.co_names]


class _Visitor:
    """Feeds functions, and everything global that they name, to a hash."""

    def __init__(self, text: Any) -> None:
        self.text = text
        self.helpers: list[Callable[..., Any]] = []
        self._seen: set[int] = set()
        self._modules: list[tuple[types.ModuleType, Any]] = []

    def visit_function(self, function: Callable[..., Any]) -> None:
        code = function.__code__
        for part in _codes(code):
            constants = [c for c in part.co_consts if not isinstance(c, types.CodeType)]
            self._add(part.co_code, repr(constants), part.co_names, part.co_varnames)
            self._add(part.co_freevars, part.co_cellvars, part.co_flags)
        self._add(function.__defaults__, function.__kwdefaults__)
        names = _names(code)
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            self._visit_value(name, cell.cell_contents, names)
        for name in sorted(set(names)):
            if name in function.__globals__:
                self._visit_value(name, function.__globals__[name], names)

    def _add(self, *parts: object) -> None:
        self.text.update(repr(parts).encode())

    def _visit_value(self, name: str, value: Any, names: Any) -> None:
        """Feed one global: functions and classes by what they are, the rest by its value."""
        self._add(name)
        if isinstance(value, types.ModuleType):
            self._visit_module(value, names)
        elif isinstance(value, types.FunctionType) or hasattr(value, "py_func"):
            function = getattr(value, "py_func", value)
            if id(function) not in self._seen:
                self._seen.add(id(function))
                if getattr(value, HELPER_MARK, False) and function is value:
                    self.helpers.append(value)
                self.visit_function(function)
        elif isinstance(value, type):
            self._visit_class(value)
        elif isinstance(value, (np.ndarray, np.generic)):
            self._add(str(value.dtype), value.shape, value.tobytes())
        elif isinstance(value, tuple):
            self._add(type(value).__qualname__, len(value))
            for item in value:
                self._visit_value("", item, names)
        elif callable(value):
            self._add(getattr(value, "__module__", ""), getattr(value, "__qualname__", ""))
        else:
            self._add(value)

    def _visit_class(self, kind: type) -> None:
        """Feed what the code may read of a class: the members of an enumeration, fields."""
        self._add(kind.__module__, kind.__qualname__)
        if issubclass(kind, enum.Enum):
            self._add([(member.name, member.value) for member in kind])
        elif issubclass(kind, tuple):
            self._add(getattr(kind, "_fields", ()), getattr(kind, "_field_defaults", {}))

    def _visit_module(self, module: types.ModuleType, names: Any) -> None:
        """Feed what the code may read of a module: all that bears one of the `names`."""
        if (module, names) in self._modules:
            return
        self._modules.append((module, names))
        self._add(module.__name__, getattr(module, "__version__", ""))
        for name in sorted(set(names)):
            value = getattr(module, name, None)
            # A function without the mark is one that numba knows, or does not compile at all.
            if not isinstance(value, types.FunctionType) or hasattr(value, HELPER_MARK):
                self._visit_value(name, value, names)
