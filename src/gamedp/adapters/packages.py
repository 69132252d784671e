"""Packages that only some adapters need, imported when they are used, and their probabilities."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from gamedp.errors import MissingPackageError


def installed(module: str, install: str) -> Any:
    """Return a module of an optional package.

    Raises
    ------
    MissingPackageError
        If it is not installed; names what ``pip install`` takes.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        message = f"{module.partition('.')[0]} is not installed; pip install {install}"
        raise MissingPackageError(message) from error


MAX_SIMPLE_DENOMINATOR = 1_000
"""Largest denominator of a probability that is taken for a simple fraction."""

TWO_UNITS = Fraction(1, 2**52)
"""Relative distance of a stored probability from the one that is meant, as for all rules."""

MAX_SUM_ROUNDING = 1e-9
"""Distance of a sum of probabilities from one beyond rounding: the model refuses it."""


def meant(probabilities: Iterable[float]) -> list[Any]:
    """Return probabilities as fractions whose sum is one; unchanged, if it is not nearly one.

    Examples
    --------
    >>> third = 1 / 3
    >>> meant([(1 - third) / 2, third, (1 - third) / 2])
    [Fraction(1, 3), Fraction(1, 3), Fraction(1, 3)]
    """
    given = list(probabilities)
    exact = [Fraction(number) for number in given]
    simple = [number.limit_denominator(MAX_SIMPLE_DENOMINATOR) for number in exact]
    are_close = all(
        abs(near - number) <= TWO_UNITS * number for near, number in zip(simple, exact, strict=True)
    )
    if are_close and sum(simple) == 1:
        return simple
    total = sum(exact, Fraction())
    return given if abs(total - 1) > MAX_SUM_ROUNDING else [number / total for number in exact]
