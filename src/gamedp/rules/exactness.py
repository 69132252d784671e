"""Exact numbers and truth values, from rules and callers; and those that no double equals.

Probabilities of one choice: equal outcomes are added up, and the sum is made one. The loops over
compiled rules do the same in the same order, so that both modes store the same bits.

The rules mean an exact probability, such as 1/6 or 0.1 * 0.9, and give it rounded. The stored
number is within two units in the last place of the exact one. With u = 2**-53, a number rounded
once has a relative error of at most u, a product of two such numbers of at most 3 u, and the sum of
all of at most 3 u as well: a sum this close to one is left unchanged. Equal outcomes are added up
with the error of each addition (Knuth's two-sum), and rounded once, which adds one u. A sum that
misses one by more is not explained by rounding, and all probabilities are divided by it.
"""

from __future__ import annotations

import decimal
import math
import operator
from collections.abc import Iterable, Sequence
from fractions import Fraction
from numbers import Rational
from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.errors import InvalidModelError, shown
from gamedp.runtime.floats import PROBABILITY_ROUNDING, SUM_ROUNDING, SUM_TOLERANCE, lost

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "IN_STAGES",
    "LONG_ROW",
    "MAX_EXACT_INTEGER",
    "SEVERAL",
    "WRITTEN_DIGITS",
    "Gathering",
    "are_own_decimals",
    "as_array",
    "as_decimal",
    "as_given",
    "as_rational",
    "as_real",
    "as_sum_of_two",
    "as_truth",
    "errors_of",
    "exact_sum",
    "gather",
    "is_rounded",
    "is_written",
    "mean_of",
    "model_numbers",
    "nearest",
    "read_back",
    "refuse_rounded",
    "sum_to_one",
    "upward",
    "written",
]

MAX_EXACT_INTEGER = 2.0**53
"""Largest number up to which all integers are doubles."""

MOST_DIGITS = 5000
"""Largest shift of a decimal's point; beyond it, a number exceeds all doubles or is too long."""


IN_STAGES = "the bounds of a staged game are proven in these."
"""Reason for which rounded payments of contexts are refused."""

SEVERAL = (
    "where each player has payoffs of its own, to round it may change what is best for one of them."
)
"""Reason for which others are refused where players have payoffs of their own."""


def as_rational(number: Any) -> Fraction | None:
    """Return a rational number of any library as a Fraction; None for floats and anything else.

    Decimals, and floats of more than 64 bits, are rational numbers, too.

    Raises
    ------
    OverflowError
        If it has too many digits.
    """
    if isinstance(number, np.ndarray) and not number.ndim:
        number = number[()]
    if isinstance(number, float):
        return None
    if isinstance(number, Rational):
        return Fraction(int(number.numerator), int(number.denominator))
    if hasattr(number, "__index__") and not getattr(number, "ndim", 0):
        return Fraction(operator.index(number))
    is_decimal = isinstance(number, decimal.Decimal)
    if is_decimal and number.is_finite() and number and abs(number.adjusted()) > MOST_DIGITS:
        message = f"{number:.3e} is beyond the range of 64-bit floating point"
        raise OverflowError(message)
    if (is_decimal and number.is_finite()) or (
        isinstance(number, np.longdouble) and np.isfinite(number)
    ):
        return Fraction(*number.as_integer_ratio())
    return None


def is_rounded(number: Any) -> bool:
    """Return whether a number is rational, and no double is equal to it."""
    if type(number) is float or (
        isinstance(number, int) and -MAX_EXACT_INTEGER <= number <= MAX_EXACT_INTEGER
    ):
        return False
    try:
        exact = as_rational(number)
        return exact is not None and exact != Fraction(float(exact))
    except OverflowError:
        return True


def as_exact(number: Any) -> Fraction | float:
    """Return a number from the rules as a double, or as a Fraction if no double is equal to it.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If it is not a number, or beyond the range of doubles.
    """
    rounded = as_real(number)
    exact = as_rational(number) if is_rounded(number) else None
    return rounded if exact is None else exact


def as_decimal(number: Any) -> Fraction:
    """Return a number as a Fraction, a double as the shortest decimal that is read as it."""
    return Fraction(repr(float(number)) if isinstance(number, float) else number)


WRITTEN_DIGITS = 10
"""Digits of a decimal that was written. Of all doubles, one in a million has as few by chance."""

BINARY_DENOMINATOR = 2**30
"""A divisor of the denominators of exact sums of doubles, other than short ones."""


def is_written(number: Fraction | float) -> bool:
    """Return whether a number was written as a decimal or a fraction, and is not a rounded one.

    Doubles then have few digits, or are equal to their decimals. Sums of others are Fractions with
    large powers of two as denominators.
    """
    if isinstance(number, Fraction):
        return number.denominator % BINARY_DENOMINATOR != 0
    is_short = float(f"{number:.{WRITTEN_DIGITS - 1}e}") == number
    return is_short or as_decimal(number) == number


def are_own_decimals(numbers: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which doubles surely are the decimals shown for them: these have 17 digits at most.

    They are integers below 2^53, and multiples of 2^-10 below 2^20.
    """
    sizes = np.abs(numbers)
    steps = np.where(sizes < 2.0**20, 2.0**-10, 1.0)
    are_multiples: NDArray[np.bool_] = sizes % steps == 0
    return are_multiples & (sizes < 2.0**53)


def exact_sum(numbers: Iterable[Fraction | float]) -> Fraction:
    """Return a sum exactly: with doubles as the decimals shown for them, if these were written."""
    parts = list(numbers)
    read: Any = as_decimal if all(map(is_written, parts)) else Fraction
    return sum(map(read, parts), Fraction(0))


def added(one: Fraction | float, other: Fraction | float) -> Fraction | float:
    """Return the sum of two numbers: exactly, if one of them is a Fraction."""
    is_mixed = isinstance(one, Fraction) != isinstance(other, Fraction)
    if is_mixed and math.isfinite(one) and math.isfinite(other):
        return exact_sum((one, other))
    return one + other


def refuse_rounded(number: Any, words: str, why: str) -> None:
    """Raise InvalidModelError if no double is equal to a payment.

    Parameters
    ----------
    number
    words : str
        The name of the number, such as ``payoff(Place(1), 0)``.
    why : str
        A sentence on why it cannot be rounded here.
    """
    if is_rounded(number):
        message = (
            f"{words} is {shown(number)}, which no 64-bit number is equal to; {why} Return "
            "float(...) to have it rounded."
        )
        raise InvalidModelError(message)


def as_given(numbers: Sequence[Any]) -> NDArray[Any]:
    """Return numbers as an array: of doubles, or of doubles and Fractions.

    Raises
    ------
    OverflowError
        If a number is beyond the range of doubles.
    """
    if set(map(type, numbers)) <= {float}:
        return np.array(numbers, np.float64)
    # Files and callers repeat few objects, and to look at one takes a microsecond.
    made: dict[int, Any] = {
        key: as_rational(number) if is_rounded(number) else float(number)
        for key, number in {id(number): number for number in numbers}.items()
    }
    return as_array([made[id(number)] for number in numbers])


def as_array(numbers: Sequence[Fraction | float]) -> NDArray[Any]:
    """Return floats and Fractions as an array: of doubles, if there are no Fractions."""
    doubles = np.array([float(number) for number in numbers], np.float64)
    if not any(isinstance(number, Fraction) for number in numbers):
        return doubles
    array = np.empty(len(numbers), object)
    array[:] = numbers
    return array


def nearest(numbers: NDArray[Any]) -> NDArray[np.float64]:
    """Return the doubles nearest to the given numbers."""
    return numbers.astype(np.float64, copy=False)


def model_numbers(**given: NDArray[Any]) -> dict[str, Any]:
    """Return arrays of given numbers as fields of a :class:`gamedp.Model`.

    Parameters
    ----------
    **given
        Any of its probabilities, rewards, payoffs and initial probabilities.

    Returns
    -------
    dict
        The nearest doubles under the same names; `fractions`, for the arrays that hold any; and
        `rounding`, if `rewards` and `payoffs` are among them.
    """
    fields: dict[str, Any] = {name: nearest(array) for name, array in given.items()}
    fields["fractions"] = {name: array for name, array in given.items() if array.dtype == object}
    if "rewards" in given and "payoffs" in given:
        (payoff, one), (reward, other) = map(errors_of, (given["payoffs"], given["rewards"]))
        fields["rounding"] = (payoff, reward, max(one, other))
    return fields


def errors_of(given: NDArray[Any]) -> tuple[float, float]:
    """Return the largest absolute and relative errors of the nearest doubles."""
    most, part = Fraction(0), Fraction(0)
    for number in given.flat if given.dtype == object else ():
        stored = Fraction(float(number))
        error = abs(Fraction(number) - stored)
        if error:
            most = max(most, error)
            part = max(part, error / abs(stored) if stored else Fraction(2))
    return upward(most), upward(part)


def written(numbers: Iterable[Fraction | float]) -> str:
    """Return numbers as text, one a line; in hexadecimal, which Python reads at any length."""
    return "\n".join(
        f"{number.numerator:x}/{number.denominator:x}"
        if isinstance(number, Fraction)
        else repr(float(number))
        for number in numbers
    )


def read_back(text: str) -> list[Fraction | float]:
    """Return the numbers in a text from :func:`written`.

    Raises
    ------
    ValueError, ZeroDivisionError
        If a line is not a number.
    """
    pairs = (line.partition("/") for line in text.split("\n"))
    return [
        Fraction(int(number, 16), int(below, 16)) if slash else float(number)
        for number, slash, below in pairs
    ]


def upward(number: Fraction) -> float:
    """Return a double that is at least a number."""
    nearest_one = float(number)
    if Fraction(nearest_one) < number:
        return math.nextafter(nearest_one, math.inf)
    return nearest_one


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


LONG_ROW = 16
"""Largest number of outcomes kept in the order of appearance; more are sorted by index."""


class Gathering:
    """Collects outcomes: each key with its total probability.

    Floats are added up in two parts, as the compiled loop does. With the first rational number,
    such as a :class:`~fractions.Fraction`, all become fractions, floats as the decimals that are
    shown for them: these are exact, and rounded at the end.
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
            totals[key] = totals.get(key, 0) + as_decimal(probability)
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
                key: as_decimal(total) + Fraction(self._tails.get(key, 0.0))
                for key, total in self._totals.items()
            }
            self._tails.clear()


def sum_to_one(given: list[float]) -> bool:
    """Return whether probabilities, all of them floats, sum to one up to rounding."""
    return abs(math.fsum((*given, -1.0))) <= SUM_ROUNDING / 2


def gather(
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


def mean_of(weights: Sequence[Any], numbers: Sequence[Any]) -> tuple[Fraction, Fraction]:
    """Return the mean of numbers, and its largest error by rounding of weights that are doubles.

    A weight w may be w (1 + d) with d up to some e; all sum to one. Then the mean m moves by the
    sum of w d (x - m) over the numbers x: by no more than e times that of all w |x - m|.
    """
    exact = list(map(Fraction, numbers))
    if all(number == exact[0] for number in exact):
        return exact[0], Fraction(0)
    shares = [abs(Fraction(weight)) for weight in weights]
    size = sum(shares)
    mean = sum((w * x for w, x in zip(shares, exact, strict=True)), Fraction(0)) / size
    moved = sum(
        (
            share * abs(number - mean)
            for weight, share, number in zip(weights, shares, exact, strict=True)
            if not isinstance(weight, Fraction)
        ),
        Fraction(0),
    )
    return mean, Fraction(PROBABILITY_ROUNDING) * moved / size
