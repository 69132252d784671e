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
    "texts_of",
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
    return _each_at_least(least, "a whole number", lambda value: (value,))


def wholes_at_least(least: int) -> Validator:
    """Return a validator that requires one or more integers of at least `least`."""
    return _each_at_least(least, "one or more whole numbers", lambda values: values)


def _each_at_least(least: int, kind: str, listed: Callable[[Any], tuple[Any, ...]]) -> Validator:
    def check(_game: object, attribute: "attrs.Attribute[Any]", value: Any) -> None:
        whole = [isinstance(each, int) and not isinstance(each, bool) for each in listed(value)]
        if not whole or not all(whole) or min(listed(value)) < least:
            message = (
                f"{attribute.name} must be {kind} of at least {least}, not {shown(value)}; "
                f"the usual game has {attribute.name}={attribute.default!r}."
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


def texts_of(name: str) -> "staticmethod[[str], Mapping[str, Any]]":
    """Return the method `texts` of a game: its words in a language, from ``texts/NAME.json``.

    The messages of the validators here are among the sentences.
    """

    def texts(language: str) -> Mapping[str, Any]:
        folder = importlib.resources.files("gamedp.games") / "texts"
        own, common = (
            json.loads((folder / f"{file}.json").read_text("utf-8")).get(language, {})
            for file in (name, "parameters")
        )
        return {
            **common,
            **own,
            "sentences": own.get("sentences", {}) | common.get("sentences", {}),
        }

    return staticmethod(texts)
