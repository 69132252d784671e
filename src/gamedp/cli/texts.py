"""Conversion of texts on the command line to values, by their types, and back."""

from __future__ import annotations

import ast
import enum
import numbers
import re
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn

from gamedp.errors import GamedpError, InvalidParameterError, UnknownNameError, shown
from gamedp.runtime.encoding import field_names
from gamedp.runtime.options import REQUIRED, settings_of

OPENING, CLOSING = "([", ")]"

HOW_TO_DRAW = """\


Positions are shown as Python prints them. To draw them, here and in the
browser, give the game a method that returns one of gamedp.views (Heaps, Pits,
Grid, Dice, Card, Scores, Text), such as

    def view(self, state):
        return gamedp.views.Heaps((state.left,))

or one that says them in words: `render(self, state)` returns a text."""
"""The hint for a game that has neither."""


def refuse(message: str) -> NoReturn:
    """Raise InvalidParameterError."""
    raise InvalidParameterError(message)


def how_to_draw(game: Any) -> str:
    """Return a hint how a game, or its class, could draw its positions; empty if it does."""
    return "" if hasattr(game, "view") or hasattr(game, "render") else HOW_TO_DRAW


def assignments(texts: Iterable[str], *, option: str) -> dict[str, str]:
    """Split ``name=value`` texts, each of which may hold several separated by commas.

    A comma begins a new assignment if a name and an equals sign follow; otherwise it is part of the
    value.

    Parameters
    ----------
    texts : iterable of str
        As given.
    option : str
        The option that they were given to, for messages.

    Raises
    ------
    InvalidParameterError
        For a text that is not an assignment, and for a name that occurs twice.

    Examples
    --------
    >>> assignments(["player=0,heaps=3,5,7"], option="--state")
    {'player': '0', 'heaps': '3,5,7'}
    """
    found: dict[str, str] = {}
    for text in texts:
        for part in re.split(r",(?=\s*\w+\s*=)", text):
            name, equals, value = (piece.strip() for piece in part.partition("="))
            if not equals or not name:
                refuse(f"{option} {text}: this must be name=value, one or more.")
            if name in found:
                refuse(f"{option} gives {name} twice, {found[name]!r} and {shown(value)}.")
            found[name] = value
    return found


def read_as(name: str, text: str, kind: Any) -> Any:
    """Read the value called `name`; raise InvalidParameterError if it is not one."""
    try:
        return read(text, kind)
    except ValueError as error:
        message = f"{name}={text}: {error}."
        raise InvalidParameterError(message) from None


def read(text: str, kind: Any) -> Any:
    """Return the value of type `kind` that `text` represents.

    Parameters
    ----------
    text : str
        Items of a tuple are separated by commas or semicolons, and may be in brackets.
    kind : type
        bool, int, float, str, an enumeration, a NamedTuple; tuples, lists, unions and literals of
        them. For ``Any``, `text` is read as Python writes it.

    Raises
    ------
    ValueError
        If it does not represent one.

    Examples
    --------
    >>> read("3,5,7", tuple[int, ...]), read("(1;2);(3;4)", tuple[tuple[int, ...], ...])
    ((3, 5, 7), ((1, 2), (3, 4)))
    """
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        return read(text, arguments[0])
    if origin in {typing.Union, types.UnionType}:
        return _first_that_reads(text, arguments)
    container = origin or kind
    if (
        isinstance(container, type)
        and container is not str
        and (issubclass(container, Sequence) or field_names(container) is not None)
    ):
        return _sequence(text, container, arguments)
    return _scalar(text, kind)


def _scalar(text: str, kind: Any) -> Any:
    """Return the value of a text as a scalar of a type."""
    named = _names(kind)
    if named is not None:
        return _named(text, kind, named)
    if kind is Any:
        return _literal(text)
    if kind not in {int, float, str}:
        message = f"a value of type {notation(kind)} cannot be given on the command line"
        raise ValueError(message)
    try:
        value = kind(text)
        whole = int(text) if kind is float and text.strip().isdecimal() else None
    except ValueError:
        message = f"{shown(text)} is not a {'whole ' if kind is int else ''}number"
        raise ValueError(message) from None
    if whole is not None and whole != value:
        message = f"{shown(text)} is a whole number that no 64-bit float is equal to"
        raise ValueError(message)
    return value


def _names(kind: Any) -> dict[str, Any] | None:
    """Return the values of a type that has only a few, by their notation."""
    if kind is bool:
        return {"true": True, "false": False}
    if kind is types.NoneType:
        return {"none": None}
    if typing.get_origin(kind) is typing.Literal:
        return {str(value): value for value in typing.get_args(kind)}
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return dict(kind.__members__)
    return None


def _named(text: str, kind: Any, values: dict[str, Any]) -> Any:
    name = text.lower() if kind in {bool, types.NoneType} else text
    if name not in values:
        message = f"{shown(text)} is not {' or '.join(values)}"
        raise ValueError(message)
    return values[name]


def _first_that_reads(text: str, kinds: Sequence[Any]) -> Any:
    """Try one type after the other, str last, since it accepts anything."""
    reasons = []
    for kind in sorted(kinds, key=lambda kind: kind is str):
        try:
            return read(text, kind)
        except ValueError as error:
            reasons.append(str(error))
    raise ValueError("; ".join(reasons))


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text


def _sequence(text: str, container: type, kinds: tuple[Any, ...]) -> Any:
    """Return the list, tuple or named tuple that a text represents."""
    items = _items(text)
    fields = field_names(container)
    if fields is not None:
        hints = typing.get_type_hints(container)
        kinds = tuple(hints.get(field, Any) for field in fields)
    elif len(kinds) < 2 or kinds[1] is ...:
        kinds = (kinds[:1] or (Any,)) * len(items)
    if len(items) != len(kinds):
        items_found = "1 item" if len(items) == 1 else f"{len(items)} items"
        message = f"{shown(text)} has {items_found}, not {len(kinds)}"
        raise ValueError(message)
    values = [read(item, kind) for item, kind in zip(items, kinds, strict=True)]
    if fields is not None:
        return container(**dict(zip(fields, values, strict=True)))
    return values if container is list else tuple(values)


def _items(text: str) -> list[str]:
    """Split at the commas and semicolons outside of brackets; brackets around all are dropped."""
    depth, parts, closed_at = 0, [""], []
    for place, letter in enumerate(text.strip()):
        depth += (letter in OPENING) - (letter in CLOSING)
        if letter in CLOSING and depth == 0:
            closed_at.append(place)
        if letter in ",;" and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    if depth:
        message = f"the brackets of {shown(text)} do not match"
        raise ValueError(message)
    if len(parts) == 1 and closed_at == [len(parts[0]) - 1] and parts[0][0] in OPENING:
        return _items(parts[0][1:-1])
    items = [part.strip() for part in parts]
    return items if items[-1] else items[:-1]


def kind_of(example: Any) -> Any:
    """Return the type by which to read values like `example`, a part of a state.

    Raises
    ------
    InvalidParameterError
        If such values cannot be written on the command line.
    """
    if isinstance(example, (bool, str, enum.Enum)) or field_names(type(example)) is not None:
        return type(example)
    for abstract, kind in ((numbers.Integral, int), (numbers.Real, float)):
        if isinstance(example, abstract):
            return kind
    if isinstance(example, tuple):
        kinds = [kind_of(item) for item in example]
        alike = all(kind == kinds[0] for kind in kinds)
        return types.GenericAlias(tuple, ((*kinds, Any)[0], ...) if alike else tuple(kinds))
    if example is None:
        return Any
    refuse(
        f"a state of this game holds a {type(example).__name__}, which cannot be given on the "
        "command line; use gamedp.solve() in Python."
    )


def written(value: Any) -> str:
    """Return the text that `read` converts to `value`.

    Examples
    --------
    >>> written((3, 5, 7)), written(True), written(2.5)
    ('3,5,7', 'true', '2.5')
    """
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, (tuple, list)):
        items = (written(item) for item in value)
        nested = any(isinstance(item, (tuple, list)) for item in value)
        return ",".join(f"({item})" if nested else item for item in items)
    return str(value)


def notation(kind: Any) -> str:
    """Return a type as Python code."""
    if kind is types.NoneType:
        return "None"
    if isinstance(kind, type) and typing.get_origin(kind) is None:
        return kind.__name__
    return str(kind).replace("typing.", "")


def make(
    kind: type,
    texts: Iterable[str],
    *,
    name: str,
    option: str,
    word: str,
    given: Mapping[str, Any] | None = None,
) -> Any:
    """Make an instance from ``name=value`` texts.

    Parameters
    ----------
    kind : type
        The class.
    texts : iterable of str
        The texts given to `option`.
    name : str
        The user's name of the class.
    option : str
        ``"--set"`` or ``"--option"``.
    word : str
        ``"parameter"`` or ``"option"``.
    given : mapping, optional
        Values given in another way.

    Raises
    ------
    UnknownNameError
        For a name that the class does not have; offers the nearest one.
    InvalidParameterError
        For a value that is not of its type, or that the class refuses.
    """
    settings = settings_of(kind)
    values = dict(given or {})
    for key, text in assignments(texts, option=option).items():
        if key not in settings:
            what = f"{word} of {name} called"
            raise UnknownNameError.nearest(what, key, settings)
        if key in values:
            refuse(f"{option} {key}={text} repeats another option.")
        values[key] = read_as(key, text, settings[key].kind)
    missing = [
        key for key, each in settings.items() if each.default is REQUIRED and key not in values
    ]
    if missing:
        needed = " ".join(f"{option} {key}=..." for key in missing)
        refuse(f"{name} needs {needed}.")
    try:
        return kind(**values)
    except GamedpError:
        raise
    except (ArithmeticError, AssertionError, LookupError, TypeError, ValueError) as error:
        # attrs' own validators append the field and the value to the arguments after the message.
        reason = str(error.args[0]) if error.args else type(error).__name__
        message = f"{name} refuses its {word}s: {reason}"
        raise InvalidParameterError(message) from error
