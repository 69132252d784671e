"""Converters and validators for the parameters of games, with helpful messages."""

# Without `from __future__ import annotations`: attrs copies the converters' annotations into the
# games' signatures, where names in text form could not be resolved.

import importlib.resources
import json
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias, get_args

import attrs

import gamedp
from gamedp.errors import shown

__all__ = [
    "a_truth_value",
    "as_whole",
    "as_whole_tuple",
    "one_of",
    "texts_from_file",
    "whole_at_least",
    "wholes_at_least",
]

Validator: TypeAlias = Callable[[Any, "attrs.Attribute[Any]", Any], None]


def as_whole(value: int) -> int:
    """Convert integers of other libraries to ints; leave anything else to the validator.

    Examples
    --------
    >>> import numpy as np
    >>> as_whole(np.int8(5))
    5
    """
    if isinstance(value, bool):
        return value
    try:
        return operator.index(value)
    except TypeError:
        return value


def as_whole_tuple(values: int | Iterable[int]) -> tuple[int, ...]:
    """Convert any sequence of integers, or a single integer, to a tuple of ints.

    Examples
    --------
    >>> as_whole_tuple([1, 2]), as_whole_tuple(6)
    ((1, 2), (6,))
    """
    if isinstance(values, Iterable) and not isinstance(values, (str, bytes)):
        return tuple(as_whole(value) for value in values)
    return (as_whole(values),)  # type: ignore[arg-type] # a text: the validator's to refuse


def whole_at_least(least: int) -> Validator:
    """Return a validator that requires an integer of at least `least`."""

    def check(_game: object, attribute: "attrs.Attribute[Any]", value: object) -> None:
        if not _is_whole(value, least):
            message = (
                f"{attribute.name} must be a whole number of at least {least}, not {shown(value)}; "
                f"the usual game has {attribute.name}={attribute.default!r}."
            )
            raise gamedp.errors.InvalidParameterError(message)

    return check


def wholes_at_least(least: int) -> Validator:
    """Return a validator that requires one or more integers of at least `least`."""

    def check(_game: object, attribute: "attrs.Attribute[Any]", values: tuple[object, ...]) -> None:
        if not values or not all(_is_whole(value, least) for value in values):
            message = (
                f"{attribute.name} must be one or more whole numbers of at least {least}, "
                f"not {shown(values)}; the usual game has {attribute.name}={attribute.default!r}."
            )
            raise gamedp.errors.InvalidParameterError(message)

    return check


def a_truth_value(_game: object, attribute: "attrs.Attribute[Any]", value: object) -> None:
    """Require a bool, and nothing that merely counts as one."""
    if not isinstance(value, bool):
        message = f"{attribute.name} must be True or False, not {shown(value)}."
        raise gamedp.errors.InvalidParameterError(message)


def one_of(choices: Any) -> Validator:
    """Return a validator that requires one of the values of a literal type."""

    def check(_game: object, attribute: "attrs.Attribute[Any]", value: object) -> None:
        if value not in get_args(choices):
            words = ", ".join(repr(choice) for choice in get_args(choices))
            message = f"{attribute.name} must be one of {words}, not {shown(value)}."
            raise gamedp.errors.InvalidParameterError(message)

    return check


def texts_from_file(name: str, language: str) -> Mapping[str, Any]:
    """Return the `texts` of a game, from ``texts/NAME.json``.

    The messages of the validators here are among the sentences.

    Examples
    --------
    >>> texts_from_file("nim", "en")["names"]
    {'misere': 'last one loses'}
    """
    folder = importlib.resources.files("gamedp.games") / "texts"
    own, common = (
        json.loads((folder / f"{file}.json").read_text("utf-8")).get(language, {})
        for file in (name, "parameters")
    )
    sentences = {**own.get("sentences", {}), **common.get("sentences", {})}
    return {**own, "sentences": sentences} if sentences else own


def _is_whole(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least
