"""Conversion of the rules' answers, and of callers' numbers, to the types that they must have."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gamedp.errors import InvalidModelError, shown
from gamedp.rules.exactness import is_rounded

__all__ = ["as_real", "as_sum_of_two", "as_truth"]


def as_real(value: Any) -> float:
    """Return a number from the rules or a caller as a double; refuse text and masks.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If it is not a number, or beyond the range of doubles.
    """
    if type(value) is float:
        return value
    is_text = isinstance(value, (str, bytes, bytearray))
    if is_text or getattr(value, "ndim", False) or hasattr(value, "mask"):
        message = f"{shown(value)} is not one number"
        raise TypeError(message)
    return float(value)


def as_sum_of_two(value: Any) -> float:
    """Return the constant sum of two players' payoffs as a double.

    Raises
    ------
    InvalidModelError
        If it is not a finite number, or no double is equal to it.
    """
    try:
        total = as_real(value)
    except (TypeError, ValueError, OverflowError):
        total = math.nan
    if not math.isfinite(total):
        message = f"constant_sum is {shown(value)}; it must be a finite number."
        raise InvalidModelError(message)
    if is_rounded(value):
        message = (
            f"constant_sum is {shown(value)}, which no 64-bit float is equal to. Scale all "
            "payoffs and rewards so that one is."
        )
        raise InvalidModelError(message)
    return total


def as_truth(answer: Any, name: str, *arguments: Any) -> bool:
    """Return the answer of a method of the rules as a truth value.

    Raises
    ------
    InvalidModelError
        If it is not one: a text, None, a list or nan would count as one or the other, silently.
    """
    if answer is True or answer is False:
        return bool(answer)
    is_one = not isinstance(answer, np.ndarray) or answer.size == 1
    is_number = is_one and isinstance(answer, (int, float, np.number, np.bool_, np.ndarray))
    if is_number and answer == answer:  # noqa: PLR0124 - nan
        return bool(answer)
    hint = "Is a return missing?" if answer is None else "bool(...) makes it one of them."
    message = (
        f"{name}({', '.join(map(shown, arguments))}) is {shown(answer)}; it must be True or False. "
        f"{hint}"
    )
    raise InvalidModelError(message)
