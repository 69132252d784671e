"""Probabilities of one choice: equal outcomes are added up, and the sum is made one.

The loops over compiled rules do the same in the same order, so that both modes store the same bits.

The rules mean an exact probability, such as 1/6 or 0.1 * 0.9, and give it rounded. The stored
number is within two units in the last place of the exact one. With u = 2**-53, a number rounded
once has a relative error of at most u, a product of two such numbers of at most 3 u, and the sum of
all of at most 3 u as well: a sum this close to one is left alone. Equal outcomes are added up with
the error of each addition (Knuth's two-sum), and rounded once, which adds one u. A sum that misses
one by more is not explained by rounding, and all probabilities are divided by it.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from gamedp.errors import InvalidModelError
from gamedp.rules.exactness import as_rational
from gamedp.runtime.floats import SUM_ROUNDING, SUM_TOLERANCE

__all__ = ["LONG_ROW", "Gathering", "gathered", "lost", "sum_to_one"]

LONG_ROW = 16
"""Largest number of outcomes kept in the order of appearance; more are sorted by index."""


def lost(first: float, second: float, total: float) -> float:
    """Return what `total`, computed as ``first + second``, lacks of their sum [1]_.

    References
    ----------
    .. [1] D. Knuth, "The Art of Computer Programming" 2 (1997), section 4.2.2, theorem B.
    """
    part = total - first
    return (first - (total - part)) + (second - part)


class Gathering:
    """Collects outcomes: each key with its total probability.

    Floats are added up in two parts, as the compiled loop does. With the first rational number,
    such as a :class:`~fractions.Fraction`, all become fractions: these are exact, and rounded at
    the end.
    """

    __slots__ = ("_given", "_is_exact", "_tails", "_totals")

    def __init__(self) -> None:
        self._totals: dict[Any, Any] = {}
        self._tails: dict[Any, float] = {}
        self._given: list[float] = []
        self._is_exact = False

    def add(self, key: Any, probability: Any) -> None:
        """Add an outcome with its probability as the rules give it, above zero."""
        if type(probability) is not float:
            exact = None if isinstance(probability, int) else as_rational(probability)
            probability = float(probability) if exact is None else exact
            if exact is not None:
                self._go_exact()
        totals = self._totals
        if self._is_exact:
            totals[key] = totals.get(key, 0) + Fraction(probability)
            return
        self._given.append(probability)
        if key in totals:
            total = totals[key] + probability
            rest = lost(totals[key], probability, total)
            self._tails[key] = self._tails.get(key, 0.0) + rest
            totals[key] = total
            return
        totals[key] = probability
        if len(totals) == LONG_ROW + 1:  # from here on, the compiled loop adds up in the end
            self._fold()

    def scaled(self, place: object) -> dict[Any, float]:
        """Return the probabilities as doubles, which sum to one; as :meth:`exactly` does."""
        totals = self.exactly(place)
        return {key: float(total) for key, total in totals.items()} if self._is_exact else totals

    def exactly(self, place: object) -> dict[Any, Any]:
        """Return the probabilities, divided by their sum if it is not one.

        They are Fractions if one of them was given as a rational number.

        Raises
        ------
        InvalidModelError
            If they miss one by more than 1e-9 in total; `place` says where.
        """
        excess = self._excess()
        if not abs(excess) <= SUM_TOLERANCE:
            message = (
                f"{place} have total probability {float(1 + excess)!r}, not 1. "
                f"Probabilities must sum to 1 within {SUM_TOLERANCE:g}."
            )
            raise InvalidModelError(message)
        self._fold()
        totals = self._totals
        if abs(excess) > SUM_ROUNDING:
            totals = {key: total / (1 + excess) for key, total in totals.items()}
        return totals

    def _excess(self) -> Any:
        """Return how much the sum of all exceeds one."""
        if self._is_exact:
            return sum(self._totals.values()) - 1
        excess = math.fsum((*self._given, -1.0))
        if abs(excess) <= SUM_ROUNDING / 2 or abs(excess) > 2 * SUM_TOLERANCE:
            return excess  # the last digits of it do not matter
        total = rest = 0.0
        for probability in self._given:
            longer = total + probability
            rest += lost(total, probability, longer)
            total = longer
        return (total - 1.0) + rest

    def _fold(self) -> None:
        """Add up both parts of each probability."""
        for key, rest in self._tails.items():
            self._totals[key] += rest
        self._tails.clear()

    def _go_exact(self) -> None:
        if not self._is_exact:
            self._is_exact = True
            self._totals = {
                key: Fraction(total) + Fraction(self._tails.get(key, 0.0))
                for key, total in self._totals.items()
            }
            self._tails.clear()


def sum_to_one(given: list[float]) -> bool:
    """Return whether probabilities, all of them floats, sum to one up to rounding."""
    return abs(math.fsum((*given, -1.0))) <= SUM_ROUNDING / 2


def gathered(
    keys: list[Any], given: list[Any], place: object, *, exactly: bool = False
) -> dict[Any, float]:
    """Return the probabilities of outcomes with those of the same key added up, summing to one.

    Parameters
    ----------
    keys : list
    given : list
        A probability above zero for each key, as the rules give it.
    place : object
        The place, for messages.
    exactly : bool
        Whether rational numbers stay Fractions.
    """
    gathering = Gathering()
    for key, probability in zip(keys, given, strict=True):
        gathering.add(key, probability)
    return gathering.exactly(place) if exactly else gathering.scaled(place)
