"""Options of solvers and games: their validators, defaults and values."""

from __future__ import annotations

import inspect
import math
import numbers
import operator
import typing
from collections.abc import Callable
from typing import Any, Literal, TypeAlias, get_args

import attrs

from gamedp.errors import InvalidParameterError, shown

Sweep: TypeAlias = Literal["gauss-seidel", "jacobi"]
"""Whether a sweep uses its own new values, in depth-first order, or the last sweep's alone."""

CompileMode: TypeAlias = Literal["auto", "always", "never"]
"""Whether numba compiles the rules of a game: where that pays, always, or never."""

StateChoice: TypeAlias = Literal["reachable", "all"]
"""Which states a model has: those that are reached from the start, or all of the game's box."""


def check_word(name: str, value: Any, choices: Any) -> None:
    """Refuse a parameter that is not one of the words of a Literal."""
    words = get_args(choices)
    if not isinstance(value, str) or value not in words:
        message = f"{name} is {shown(value)}; it must be one of {', '.join(map(repr, words))}."
        raise InvalidParameterError(message)


def one_of(choices: Any) -> Callable[[Any, Any, Any], None]:
    """Return a validator that refuses values other than the words of a Literal."""

    def check(_instance: object, attribute: Any, value: Any) -> None:
        check_word(attribute.name, value, choices)

    return check


def finite(_instance: object, attribute: Any, value: float) -> None:
    """Refuse infinite numbers and NaN."""
    _number(attribute, value)
    if not math.isfinite(value):
        message = f"{attribute.name} is {shown(value)}; it must be one finite number."
        raise InvalidParameterError(message)


def positive(_instance: object, attribute: Any, value: float) -> None:
    """Refuse numbers that are not positive."""
    _number(attribute, value)
    if not value > 0:
        message = f"{attribute.name} is {shown(value)}; it must be positive."
        raise InvalidParameterError(message)


def whole_and_positive(_instance: object, attribute: Any, value: Any) -> None:
    """Refuse anything but a positive integer."""
    checked_whole(attribute.name, value, 1, math.inf)


def none_or_more(_instance: object, attribute: Any, value: Any) -> None:
    """Refuse anything but a non-negative integer."""
    checked_whole(attribute.name, value, 0, math.inf)


LARGEST_COUNT = 10**12
"""Largest number of games, plies and the like: more take years, and may overflow."""


def checked_whole(name: str, number: Any, least: int, most: float = LARGEST_COUNT) -> int:
    """Return an integer of any type; raise InvalidParameterError for others, beyond limits, too."""
    try:
        whole = least - 1 if isinstance(number, bool) else operator.index(number)
    except TypeError:
        whole = least - 1
    if not least <= whole <= most:
        is_usual = whole < least and most >= LARGEST_COUNT
        limits = f"{least:,} or more" if is_usual else f"{least:,} to {most:,}"
        message = f"{name} is {shown(number)}; it must be an integer, {limits}."
        raise InvalidParameterError(message)
    return whole


def is_number(value: Any) -> bool:
    """Return whether something is one real number: no text, array or None."""
    return type(value) in (float, int) or isinstance(value, numbers.Real)


def _number(attribute: Any, value: Any) -> None:
    if not is_number(value):
        message = f"{attribute.name} is {shown(value)}; it must be a number."
        raise InvalidParameterError(message)


REQUIRED = inspect.Parameter.empty
"""Stands for the default of a setting that has none."""


@attrs.frozen
class Setting:
    """One parameter of a class.

    Attributes
    ----------
    name : str
        As the class takes it.
    attribute : str
        Where an instance keeps it.
    kind : type
    default
        `REQUIRED` if there is none.
    """

    name: str
    attribute: str
    kind: Any
    default: Any


def settings_of(kind: type) -> dict[str, Setting]:
    """Return the settings of a class by name, in order.

    Examples
    --------
    >>> from gamedp import Discounted
    >>> [setting.default for setting in settings_of(Discounted).values()]
    [<class 'inspect._empty'>, 'max']
    """
    fields = {field.alias: field for field in getattr(kind, "__attrs_attrs__", ())}
    # A converter's annotation replaces that of the field in __init__: what the class says counts.
    hints = _hints(vars(kind).get("__init__")) | _hints(kind)
    settings = {}
    for name, parameter in inspect.signature(kind).parameters.items():
        if parameter.kind in {parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL}:
            continue
        attribute = fields[name].name if name in fields else name
        default = parameter.default
        if name in fields and isinstance(fields[name].default, attrs.Factory):  # type: ignore[arg-type] # attrs types it as a function
            factory = fields[name].default
            default = None if factory.takes_self else factory.factory()
        guess = Any if default is REQUIRED or default is None else type(default)
        settings[name] = Setting(name, attribute, hints.get(attribute, guess), default)
    return settings


def _hints(holder: Any) -> dict[str, Any]:
    """Return the annotations, or none if they contain unknown names."""
    try:
        return typing.get_type_hints(holder)
    except (NameError, TypeError, AttributeError):
        return {}


def values_of(instance: Any) -> dict[str, Any]:
    """Return the values with which an instance was created, as far as it keeps them."""
    settings = settings_of(type(instance)).values()
    return {each.name: getattr(instance, each.attribute, each.default) for each in settings}


LIMITS = {"max_sweeps", "max_seconds", "max_nodes"}
"""Options that end a solver or a searcher."""


def limits_last(_class: type, fields: list[attrs.Attribute[Any]]) -> list[attrs.Attribute[Any]]:
    """Order the fields of a solver or searcher: its own, then the limits that all have."""
    return sorted(fields, key=lambda field: field.name in LIMITS)
