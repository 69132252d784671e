"""A fingerprint of functions: their byte code, and all that they name, as far as it is known.

Parts of Python and of the libraries below this one are identified by name and version. All else is
followed: functions into their byte code, whether they are named directly or as attributes of a
module or of a class; whatever wraps a function to what it wraps; containers and instances to what
they hold.
"""

from __future__ import annotations

import dis
import enum
import functools
import hashlib
import os
import re
import sys
import sysconfig
import types
from collections import deque
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.rules.game import HELPER_MARK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["Fingerprint", "codes", "names_in"]

LIBRARIES = ("attr", "attrs", "cattrs", "llvmlite", "numba", "numpy", "scipy")
"""Libraries that are identified by name and version, as Python's own modules are."""

OWN, OWN_GAMES = "gamedp", "gamedp.games"
"""This library is identified by its name, too; the games in it are rules like any others."""

LOOKUPS = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"})
"""Instructions of byte code that look up a name in the module."""

STAND_INS: tuple[tuple[Any, tuple[str, ...]], ...] = (
    (functools.partial, ("func", "args", "keywords")),
    (functools.cached_property, ("func",)),
    (types.MethodType, ("__func__", "__self__")),
    ((staticmethod, classmethod), ("__func__",)),
    (property, ("fget", "fset", "fdel")),
)
"""The types that stand for a function, and the attributes in which they hold it."""


def codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield a code object and those nested in it: generator expressions, inner functions."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes(constant)


def names_in(code: types.CodeType) -> list[str]:
    """Return the names that a function uses, and the functions inside it."""
    return [name for part in codes(code) for name in part.co_names]


@functools.cache
def _globals_in(code: types.CodeType) -> tuple[str, ...]:
    """Return the names that a function, or one inside it, looks up in its module, sorted.

    Those of attributes alone are not among them: ``self.n`` has nothing to do with a variable `n`.
    """
    found = {
        str(instruction.argval)
        for part in codes(code)
        for instruction in dis.get_instructions(part)
        if instruction.opname in LOOKUPS
    }
    return tuple(sorted(found))


class Fingerprint:
    """Feeds functions and everything that they name to a hash.

    Attributes
    ----------
    helpers : list of functions
        The marked ones among those that were fed.
    """

    def __init__(self) -> None:
        self.helpers: list[Callable[..., Any]] = []
        self._text = hashlib.sha256()
        self._seen: dict[int, Any] = {}
        self._searched: set[tuple[int, tuple[str, ...]]] = set()
        self._waiting: deque[types.FunctionType] = deque()

    def hexdigest(self) -> str:
        """Return the SHA-256 of everything fed so far."""
        return self._text.hexdigest()

    def add_function(self, title: str, function: Any) -> None:
        """Feed a function, under a title, and all that it refers to."""
        self._add(title)
        self._add_code(function)
        while self._waiting:  # no recursion, for one function may lead to very many
            self._add_code(self._waiting.popleft())

    def _add(self, *parts: object) -> None:
        self._text.update(repr(parts).encode())

    def _is_new(self, value: object) -> bool:
        """Return whether an object is new; it is held, so that its id stays unique."""
        if id(value) in self._seen:
            return False
        self._seen[id(value)] = value
        return True

    def _add_code(self, function: Any) -> None:
        """Feed the byte code of a function, and visit all that it names."""
        code = function.__code__
        for part in codes(code):
            constants = [_text_of(c) for c in part.co_consts if not isinstance(c, types.CodeType)]
            self._add(part.co_code, constants, part.co_names, part.co_varnames)
            self._add(part.co_freevars, part.co_cellvars, part.co_flags)
        names = names_in(code)
        self._visit("", function.__defaults__, names)
        self._visit("", function.__kwdefaults__, names)
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            self._visit(name, cell.cell_contents, names)
        for name in _globals_in(code):
            if name in function.__globals__:
                self._visit(name, function.__globals__[name], names)

    def _visit(self, name: str, value: Any, names: Iterable[str]) -> None:
        """Feed a value that some code names and whose attributes `names` it reads."""
        self._add(name)
        parts = _parts(value)
        if isinstance(value, types.ModuleType):
            self._visit_module(value, names)
        elif isinstance(value, types.FunctionType):
            self._visit_function(value)
        elif isinstance(value, type):
            self._visit_class(value, names)
        elif isinstance(value, (np.ndarray, np.generic)):
            self._visit_array(value, names)
        elif parts is not None:
            self._visit_parts(value, parts, names)
        elif callable(value) or _has_attributes(value):
            self._visit_object(value, names)
        else:
            self._add(_text_of(value))

    def _visit_parts(self, value: Any, parts: list[Any], names: Iterable[str]) -> None:
        self._add(type(value).__qualname__, len(parts))
        if isinstance(value, tuple) or self._is_new(value):  # a list may hold itself
            for part in parts:
                self._visit("", part, names)

    def _visit_function(self, function: types.FunctionType) -> None:
        """Queue a function, or feed its name and version if it belongs to a library."""
        if not self._is_new(function):
            return
        is_helper = bool(getattr(function, HELPER_MARK, False))
        if is_helper:
            self.helpers.append(function)
        if _is_library(function.__module__ or "") and not is_helper:
            self._add(*_origin(function))
        else:
            self._waiting.append(function)

    def _visit_array(self, array: Any, names: Iterable[str]) -> None:
        self._add(str(array.dtype), array.shape)
        if array.dtype.hasobject:
            self._visit("", array.tolist(), names)
        else:
            self._add(array.tobytes())

    def _visit_class(self, kind: type, names: Iterable[str]) -> None:
        """Feed what the code may read of a class: members, fields, and the methods `names`."""
        self._add(*_origin(kind))
        if issubclass(kind, enum.Enum):
            self._add([(member.name, member.value) for member in kind])
        elif issubclass(kind, tuple):
            self._add(getattr(kind, "_fields", ()), getattr(kind, "_field_defaults", {}))
        for name, member in _members(kind, names):
            self._visit(name, member, names)

    def _visit_object(self, value: Any, names: Iterable[str]) -> None:
        """Feed an object: its name, its content, and the methods of its class."""
        self._add(*_origin(value))
        kind = type(value)
        if self._is_new(value) and not _is_library(kind.__module__):
            self._visit_class(kind, names)
            held = attrs.fields_dict(kind) if attrs.has(kind) else getattr(value, "__dict__", {})
            for name in held:
                self._visit(name, getattr(value, name, None), names)

    def _visit_module(self, module: types.ModuleType, names: Iterable[str]) -> None:
        """Feed the parts of a module that the code may read: all those with one of the `names`."""
        key = (id(module), tuple(sorted(set(names))))
        if key in self._searched:
            return
        self._searched.add(key)
        self._add(module.__name__, getattr(module, "__version__", ""))
        is_own = f"{module.__name__}.".startswith(f"{OWN}.")  # where helpers are
        if is_own or not _is_library(module.__name__):
            for name in key[1]:
                self._visit(name, getattr(module, name, None), names)


def _members(kind: type, names: Iterable[str]) -> list[tuple[str, Any]]:
    """Return the methods of a class with one of the names, and those that they call."""
    found: dict[tuple[str, type], Any] = {}
    waiting = sorted(set(names), reverse=True)
    bases = [base for base in kind.__mro__ if not _is_library(base.__module__)]
    while waiting:
        name = waiting.pop()
        for base in bases:
            member = vars(base).get(name)
            if member is None or (name, base) in found:
                continue
            parts = [member] if isinstance(member, types.FunctionType) else _parts(member)
            if parts is not None:
                found[name, base] = member
                functions = [part for part in parts if isinstance(part, types.FunctionType)]
                called = {each for part in functions for each in names_in(part.__code__)}
                waiting += sorted(called, reverse=True)
    return [(name, member) for (name, _), member in found.items()]


def _parts(value: Any) -> list[Any] | None:
    """Return the content of a container, or of something that stands for a function; else None."""
    if isinstance(value, dict):
        return [part for item in value.items() for part in item]
    if isinstance(value, (tuple, list)):
        return list(value)
    for kinds, attributes in STAND_INS:
        if isinstance(value, kinds):
            return [getattr(value, attribute) for attribute in attributes]
    if not isinstance(value, (types.FunctionType, type)):
        for attribute in ("py_func", "__wrapped__"):  # of what numba compiles, and of a cache
            function = getattr(value, attribute, None)
            if isinstance(function, types.FunctionType):
                return [function]
    return None


def _origin(value: Any) -> tuple[str, str, str]:
    """Return module, name and version of an object that is identified by them."""
    named = value if hasattr(value, "__qualname__") else type(value)
    home = str(getattr(named, "__module__", None) or "")
    root = sys.modules.get(home.partition(".")[0])
    version = getattr(root, "__version__", "") if _is_library(home) else ""
    return home, str(named.__qualname__), str(version)


def _is_library(module: str) -> bool:
    """Return whether a module belongs to Python, to a library below this one, or to this one."""
    root = module.partition(".")[0]
    if root == OWN:
        return not f"{module}.".startswith(f"{OWN_GAMES}.")
    return root in LIBRARIES or (root in sys.stdlib_module_names and _is_of_python(root))


def _is_of_python(module: str) -> bool:
    """Return whether a module with the name of one of Python's own is that module."""
    file = getattr(sys.modules.get(module), "__file__", None)
    return file is None or file.startswith(_python_homes())


@functools.cache
def _python_homes() -> tuple[str, ...]:
    return tuple({sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib")})


def _has_attributes(value: Any) -> bool:
    """Return whether an object's content must be read because its text does not tell everything."""
    kind = type(value)
    has_text = "__repr__" in {name for base in kind.__mro__[:-1] for name in vars(base)}
    return attrs.has(kind) or (not has_text and hasattr(value, "__dict__"))


def _text_of(value: object) -> str:
    """Return a value's text, with sets in order and without memory addresses."""
    if isinstance(value, (set, frozenset)):
        return repr((type(value).__name__, sorted(map(_text_of, value))))
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))
