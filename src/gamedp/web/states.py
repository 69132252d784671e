"""Conversion of states and numbers to JSON values, and of states back, by an example's shape."""

from __future__ import annotations

import enum
import math
from typing import Any

import numpy as np

from gamedp.errors import shown
from gamedp.runtime.encoding import declared_fields
from gamedp.web.refusals import Refused

__all__ = ["plain_number", "plain_state", "state_like"]

EXACT = 2**53 - 1
"""Largest integer that a browser represents exactly; larger ones are sent as text."""

LARGEST_STATE_NUMBER = 2**64
"""Largest number in a state from a request."""

MAX_PARTS = 200
"""Largest number of parts of a tuple, and of characters of a text, in a state from a request."""


def plain_number(number: float) -> float | str | None:
    """Return a number for JSON: an infinite one as a text, an unknown one, NaN, as None.

    Examples
    --------
    >>> plain_number(0.5), plain_number(-float("inf")), plain_number(float("nan"))
    (0.5, '-Infinity', None)
    """
    number = float(number)
    if math.isfinite(number):
        return number
    return None if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


def plain_state(state: Any) -> Any:
    """Return a state as a JSON value.

    Examples
    --------
    >>> from collections import namedtuple
    >>> Heaps = namedtuple("Heaps", ["player", "heaps"])
    >>> plain_state(Heaps(player=0, heaps=(3, 5)))
    {'player': 0, 'heaps': [3, 5]}
    """
    if isinstance(state, np.generic):
        state = state.item()
    if state is None or isinstance(state, (bool, str)):
        return state
    if isinstance(state, int):
        return state if abs(state) <= EXACT else str(state)
    if isinstance(state, float):
        return "NaN" if math.isnan(state) else plain_number(state)
    return _plain_whole(state)


def _plain_whole(state: Any) -> Any:
    """Return a state of several parts, or of its own class, as a JSON value."""
    if isinstance(state, enum.Enum):
        return state.name
    fields = declared_fields(state)
    if fields is not None:
        return {name: plain_state(part) for name, part in fields.items()}
    if isinstance(state, tuple):
        return [plain_state(part) for part in state]
    return shown(state)


def state_like(example: Any, plain: Any) -> Any:
    """Return the state that `plain_state` has written, of the same shape as an example.

    Only integers, booleans, texts and tuples of these are accepted: nothing names a class.

    Raises
    ------
    Refused
        If the data has another shape.

    Examples
    --------
    >>> from collections import namedtuple
    >>> Heaps = namedtuple("Heaps", ["player", "heaps"])
    >>> state_like(Heaps(0, (3, 5)), {"player": 1, "heaps": [2, 5]})
    Heaps(player=1, heaps=(2, 5))
    """
    kind = type(example)
    if kind is bool and type(plain) is bool:
        return plain
    if kind is int:
        return _whole(plain)
    if kind is str and type(plain) is str and len(plain) <= MAX_PARTS:
        return plain
    fields = declared_fields(example)
    if fields is not None:
        if type(plain) is dict and plain.keys() == fields.keys():
            return kind(**{name: state_like(part, plain[name]) for name, part in fields.items()})
    elif isinstance(example, tuple):
        if type(plain) is list and len(plain) <= max(MAX_PARTS, len(example)):
            return _parts_like(example, plain)
    elif not isinstance(example, (bool, int, str)):
        sentence = "a state with {part} in it cannot be given, only played to."
        raise Refused(422, sentence, part=shown(example))
    sentence = "{state} has another shape than {example}."
    raise Refused(422, sentence, state=shown(plain), example=shown(example))


def _parts_like(example: tuple[Any, ...], plain: list[Any]) -> tuple[Any, ...]:
    """Return a tuple like the example, or of parts like its first one."""
    if len(plain) != len(example) and len({type(part) for part in example}) != 1:
        sentence = "{state} does not have the length of {example}."
        raise Refused(422, sentence, state=shown(plain), example=shown(example))
    like = example if len(plain) == len(example) else (example[0],) * len(plain)
    return tuple(state_like(part, item) for part, item in zip(like, plain, strict=True))


def _whole(plain: Any) -> int:
    """Return an integer, which is written as a text if it is large."""
    digits = plain.removeprefix("-") if type(plain) is str else ""
    if digits.isascii() and digits.isdigit() and len(digits) <= 20:
        plain = int(plain)
    if type(plain) is not int or abs(plain) > LARGEST_STATE_NUMBER:
        sentence = "{part} is not a whole number that a state can have."
        raise Refused(422, sentence, part=shown(plain))
    return plain
