"""States in which something holds, as far as that is known, and their numbers between bounds."""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.rules.exactness import as_decimal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.languages.expressions import Value
    from gamedp.runtime.arrays import Flags, Floats, Integers


@attrs.frozen(eq=False)
class Truth:
    """Where a formula holds.

    Attributes
    ----------
    certain, possible : (S,) bool
        It holds where it is certain, and not where it is not even possible. Between them, it is
        undecided.
    """

    certain: Flags
    possible: Flags

    @classmethod
    def of(cls, mask: Flags) -> Truth:
        """Return what is known of a set of states without doubt."""
        return cls(mask, mask)

    @property
    def is_known(self) -> bool:
        """Whether nothing is undecided."""
        return self.certain is self.possible or bool((self.certain == self.possible).all())

    def __invert__(self) -> Truth:
        """Return where it does not hold."""
        return Truth(~self.possible, ~self.certain)

    def __and__(self, other: Truth) -> Truth:
        """Return where both hold."""
        return Truth(self.certain & other.certain, self.possible & other.possible)

    def __or__(self, other: Truth) -> Truth:
        """Return where one of them holds."""
        return Truth(self.certain | other.certain, self.possible | other.possible)

    def numbers(self) -> StateNumbers:
        """Return one where it holds, and zero where it does not."""
        lower, upper = self.certain.astype(float), self.possible.astype(float)
        return StateNumbers(lower, upper, fractions_of(lower) if self.is_known else None)

    def equals(self, other: Truth) -> Truth:
        """Return where both hold or neither does."""
        return (self & other) | (~self & ~other)


@attrs.frozen(eq=False)
class StateNumbers:
    """StateNumbers of states.

    Attributes
    ----------
    lower, upper : (S,) float64
    exact : (S,) objects or None
        The numbers themselves, as Fractions, or floats if they are infinite.
    solution : Solution or None
        Where they come from.
    """

    lower: Floats
    upper: Floats
    exact: NDArray[Any] | None = None
    solution: Any = None

    @classmethod
    def of(cls, values: NDArray[Any]) -> StateNumbers:
        """Return numbers that are known: Fractions and integers, or floats known to a rounding."""
        lower, upper = np.array([_around(value) for value in values.tolist()]).reshape(-1, 2).T
        is_exact = not any(isinstance(value, float) for value in values.tolist())
        return cls(lower, upper, values if is_exact else None)

    @classmethod
    def as_given(cls, values: NDArray[Any]) -> StateNumbers:
        """Return numbers that were given as Fractions, or as doubles, which stand for decimals."""
        return cls.of(decimals(values))

    def at(self, states: Integers) -> StateNumbers:
        """Return the numbers of some states."""
        exact = None if self.exact is None else self.exact[states]
        return StateNumbers(self.lower[states], self.upper[states], exact, self.solution)

    def one_less(self) -> StateNumbers:
        """Return one less the numbers, which are probabilities."""
        exact = None if self.exact is None else 1 - self.exact
        lower, upper = _one_less(self.upper, up=False), _one_less(self.lower, up=True)
        return StateNumbers(lower, upper, exact, self.solution)

    def compared(self, comparison: str, other: StateNumbers) -> Truth:
        """Return where the numbers compare as wanted with others."""
        if comparison in ("=", "!="):
            same = self.compared("<=", other) & self.compared(">=", other)
            return same if comparison == "=" else ~same
        if comparison in (">", ">="):
            return ~self.compared("<" if comparison == ">=" else "<=", other)
        compare = COMPARISONS[comparison]
        if self.exact is not None and other.exact is not None:
            return Truth.of(np.asarray(compare(self.exact, other.exact), np.bool_))
        # A rational number is compared itself, and not the double next to it.
        own = (self.lower, self.upper) if self.exact is None else (self.exact, self.exact)
        its = (other.lower, other.upper) if other.exact is None else (other.exact, other.exact)
        certain = np.asarray(compare(own[1], its[0]), np.bool_)
        return Truth(certain, np.asarray(compare(own[0], its[1]), np.bool_))


COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {"<": operator.lt, "<=": operator.le}


def decimals(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return numbers as Fractions, floats as the decimals that are shown for them."""
    return np.array([as_decimal(each) for each in numbers.tolist()], object)


def fractions_of(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return numbers as Fractions."""
    return np.array([Fraction(number) for number in numbers.tolist()], object)


def _one_less(numbers: Floats, *, up: bool) -> Floats:
    """Return one less some numbers, rounded up or down where that is not exact."""
    found = 1.0 - numbers
    is_exact = 1.0 - found == numbers
    away = np.nextafter(found, np.inf if up else -np.inf)
    return np.clip(np.where(is_exact, found, away), 0.0, 1.0)


def _around(value: Value) -> tuple[float, float]:
    """Return the doubles next to a number."""
    try:
        near = float(value)
    except OverflowError:
        return (np.finfo(float).max, np.inf) if value > 0 else (-np.inf, np.finfo(float).min)
    if isinstance(value, float):
        return float(np.nextafter(near, -np.inf)), float(np.nextafter(near, np.inf))
    if Fraction(near) == value:
        return near, near
    if Fraction(near) < value:
        return near, float(np.nextafter(near, np.inf))
    return float(np.nextafter(near, -np.inf)), near
