"""Validators of solvers' options."""

from __future__ import annotations

import operator
from typing import Any

from gamedp.errors import InvalidParameterError

__all__ = ["positive", "whole_and_positive"]


def positive(_instance: object, attribute: Any, value: float) -> None:
    """Refuse numbers that are not above zero."""
    if not value > 0:
        message = f"{attribute.name} is {value!r}; it must be positive."
        raise InvalidParameterError(message)


def whole_and_positive(instance: object, attribute: Any, value: Any) -> None:
    """Refuse what is not a whole number above zero."""
    try:
        operator.index(value)
    except TypeError:
        message = f"{attribute.name} is {value!r}; it must be a whole number."
        raise InvalidParameterError(message) from None
    positive(instance, attribute, value)
