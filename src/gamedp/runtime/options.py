"""Validators of solvers' options."""

from __future__ import annotations

import math
import numbers
import operator
from collections.abc import Callable
from typing import Any, Literal, TypeAlias, get_args

from gamedp.errors import InvalidParameterError, shown

__all__ = [
    "CompileMode",
    "Sweep",
    "finite",
    "is_number",
    "none_or_more",
    "one_of",
    "positive",
    "whole_and_positive",
]

Sweep: TypeAlias = Literal["gauss-seidel", "jacobi"]
"""Whether a sweep uses its own new values, in depth-first order, or the last sweep's alone."""

CompileMode: TypeAlias = Literal["auto", "always", "never"]
"""Whether numba compiles the rules of a game: where that pays, always, or never."""


def one_of(choices: Any) -> Callable[[Any, Any, Any], None]:
    """Return a validator that refuses values other than the words of a Literal."""

    def check(_instance: object, attribute: Any, value: Any) -> None:
        words = get_args(choices)
        if not isinstance(value, str) or value not in words:
            message = (
                f"{attribute.name} is {shown(value)}; it must be one of "
                f"{', '.join(map(repr, words))}."
            )
            raise InvalidParameterError(message)

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


def whole_and_positive(instance: object, attribute: Any, value: Any) -> None:
    """Refuse anything but a positive integer."""
    _whole(attribute, value)
    positive(instance, attribute, value)


def none_or_more(_instance: object, attribute: Any, value: Any) -> None:
    """Refuse anything but a non-negative integer."""
    _whole(attribute, value)
    if value < 0:
        message = f"{attribute.name} is {shown(value)}; it cannot be negative."
        raise InvalidParameterError(message)


def is_number(value: Any) -> bool:
    """Return whether something is one real number: no text, array or None."""
    return isinstance(value, numbers.Real)


def _number(attribute: Any, value: Any) -> None:
    if not is_number(value):
        message = f"{attribute.name} is {shown(value)}; it must be a number."
        raise InvalidParameterError(message)


def _whole(attribute: Any, value: Any) -> None:
    try:
        operator.index(value)
    except TypeError:
        message = f"{attribute.name} is {shown(value)}; it must be a whole number."
        raise InvalidParameterError(message) from None
