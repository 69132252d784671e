"""Validators for the parameters of the models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gamedp
from gamedp.errors import shown


def whole(least: int) -> Callable[[Any, Any, Any], None]:
    """Return a validator that requires an integer of at least `least`."""

    def check(_model: object, attribute: Any, value: Any) -> None:
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            message = f"{attribute.name}={shown(value)} must be a whole number of at least {least}."
            raise gamedp.errors.InvalidParameterError(message)

    return check


def between(low: float, high: float) -> Callable[[Any, Any, Any], None]:
    """Return a validator that requires a number strictly between two others."""

    def check(_model: object, attribute: Any, value: Any) -> None:
        if not low < value < high:
            message = f"{attribute.name}={shown(value)} must lie between {low} and {high}."
            raise gamedp.errors.InvalidParameterError(message)

    return check
