"""A model in rational numbers, and linear systems of them.

Rationals are those of python-flint if it is installed, else :class:`fractions.Fraction`, which is
ten to a hundred times slower. Their type is called `Rational` here; a value is one of them, or a
float that is infinite.

Large systems are solved in small steps, between which Ctrl-C and time limits are heeded: the
solution is found digit by digit to the base of a prime (Dixon [1]_), from one inverse matrix modulo
that prime, until fractions with the same digits solve the system. They are then checked exactly.

.. [1] J. Dixon, "Exact solution of linear equations using P-adic expansions", Numerische Mathematik
   40 (1982).
"""

from __future__ import annotations

import contextlib
import importlib
import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs
import numpy as np

from gamedp.errors import InvalidModelError, shown
from gamedp.model.model import given_numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gamedp.model.model import Model

flint: Any = None
with contextlib.suppress(ImportError):  # without the extra "exact"
    flint = importlib.import_module("flint")

Rational: TypeAlias = Any
Value: TypeAlias = Any


def rational(number: Any) -> Rational:
    """Return a rational number equal to an int, float or Fraction."""
    fraction = Fraction(number)
    if flint is None:
        return fraction
    return flint.fmpq(int(fraction.numerator), int(fraction.denominator))


def as_fraction(value: Value) -> Fraction | float:
    """Return a value as a Fraction, or an infinite float."""
    if isinstance(value, (Fraction, float)):
        return value
    return Fraction(int(value.p), int(value.q))


def is_infinite(value: Value) -> bool:
    """Return whether a value is plus or minus infinity."""
    return isinstance(value, float)


def is_less(first: Value, second: Value) -> bool:
    """Return whether one value is less than another; each may be infinite."""
    if is_infinite(first):
        return bool(first < (second if is_infinite(second) else 0.0))
    if is_infinite(second):
        return bool(second > 0.0)
    return bool(first < second)


def enclosed(number: Fraction | float) -> tuple[float, float, float]:
    """Return the nearest double, and the two that enclose a number as closely as possible.

    Raises
    ------
    OverflowError
        If it is beyond the range of doubles.
    """
    nearest = float(number)
    if number == nearest:
        return nearest, nearest, nearest
    if nearest < number:
        return nearest, nearest, math.nextafter(nearest, math.inf)
    return nearest, math.nextafter(nearest, -math.inf), nearest


def enclosed_values(model: Model, exact: tuple[Fraction | float, ...]) -> Any:
    """Return exact values as doubles: the nearest ones, lower and upper bounds."""
    rows = []
    for state, number in enumerate(exact):
        try:
            rows.append(enclosed(number))
        except OverflowError:
            message = (
                f"the value of {shown(model.state(state))} is beyond the range of 64-bit "
                "floating point."
            )
            raise InvalidModelError(message) from None
    columns = np.array(rows).reshape(-1, 3).T
    return tuple(np.ascontiguousarray(column) for column in columns)


@attrs.frozen(eq=False)
class RationalModel:
    """The probabilities and rewards of a model, in rational numbers.

    Probabilities, rewards and payoffs are those that were given, by rules or in the arrays, if
    these are rational; otherwise the stored ones, with probabilities scaled to sum to one exactly.

    Attributes
    ----------
    model : Model
        A model with C choices and S states.
    probabilities : list
        For each choice, the probabilities of its transitions without signs, in order.
    rewards : list
        The reward of each choice.
    payoffs : dict
        The value of each terminal state.
    constant_sum : Rational
    """

    model: Model
    probabilities: list[list[Rational]]
    rewards: list[Rational]
    payoffs: Mapping[int, Rational]
    constant_sum: Rational

    @classmethod
    def of(cls, model: Model) -> RationalModel:
        """Convert a model."""
        probabilities = []
        offsets = model.transition_offsets.tolist()
        given = given_numbers(model, "probabilities").tolist()
        stored = [abs(Fraction(number)) for number in given]
        for choice in range(model.num_choices):
            row = stored[offsets[choice] : offsets[choice + 1]]
            total = sum(row)
            probabilities.append([rational(number / total) for number in row])
        rewards = [rational(number) for number in given_numbers(model, "rewards").tolist()]
        payoffs = {
            state: rational(number)
            for state, number in zip(
                model.terminals.tolist(), given_numbers(model, "payoffs").tolist(), strict=True
            )
        }
        return cls(model, probabilities, rewards, payoffs, rational(model.constant_sum))

    def probabilities_of(self, choice: int) -> list[Rational]:
        """Return the probabilities of a choice of the model, or of the unfolded one."""
        return self.probabilities[choice % self.model.num_choices]

    def reward(self, choice: int) -> Rational:
        """Return the reward of a choice of the model, or of the unfolded one."""
        count = self.model.num_choices
        return self.rewards[choice] if choice < count else -self.rewards[choice - count]

    def payoff(self, state: int) -> Rational | None:
        """Return the value of a terminal state of the model, or of the unfolded one."""
        count = self.model.num_states
        payoff = self.payoffs.get(state % count)
        return payoff if payoff is None or state < count else self.constant_sum - payoff


AT_ONCE = 100
"""Largest number of equations solved in one call: some hundredths of a second."""

FIRST_PRIME = 2**62 - 57
"""The largest prime below 2 to the power of 62: products of two fit into 128 bits."""

FEW_DIGITS = 16
"""Digits after which fractions are looked for first; then after half as many more, and so on."""

CLEAR_FACTOR = 1 << 64
"""Factor by which a quotient or the remaining room must exceed chance when fractions are found."""


def solve_linear_system(
    rows: Sequence[Mapping[int, Rational]], known: list[Rational], pause: Callable[[], object]
) -> list[Any]:
    """Solve x = P x + b in rational numbers.

    Parameters
    ----------
    rows : n mappings of column to P
        Rows of a matrix with one solution: the probabilities of going on; each state leads out.
    known : n numbers
        b.
    pause : callable
        Called now and then; may raise, as at a time limit.

    Returns
    -------
    list of Rational
    """
    count = len(rows)
    if flint is None or count < 3:
        return _eliminated([dict(row) for row in rows], list(known), pause)
    if count > AT_ONCE:
        return _expanded(rows, known, pause)
    one, zero = flint.fmpq(1), flint.fmpq(0)
    entries = [zero] * (count * count)
    for number, row in enumerate(rows):
        entries[number * count + number] = one
        for column, probability in row.items():
            entries[number * count + column] -= probability
    matrix = flint.fmpq_mat(count, count, entries)
    solved = matrix.solve(flint.fmpq_mat(count, 1, known))
    return [solved[number, 0] for number in range(count)]


def _eliminated(
    rows: list[dict[int, Rational]], known: list[Rational], pause: Callable[[], object]
) -> list[Rational]:
    """Solve by eliminating one unknown after the other."""
    users: list[set[int]] = [set() for _ in rows]
    for number, row in enumerate(rows):
        for column in row:
            users[column].add(number)
    for number in reversed(range(len(rows))):
        pause()
        row = rows[number]
        stays = row.pop(number, None)
        if stays is not None:
            for column in row:
                row[column] /= 1 - stays
            known[number] /= 1 - stays
        for user in users[number]:
            if user >= number:
                continue
            share = rows[user].pop(number)
            known[user] += share * known[number]
            for column, probability in row.items():
                rows[user][column] = rows[user].get(column, 0) + share * probability
                users[column].add(user)
    for number, row in enumerate(rows):
        known[number] += sum(probability * known[column] for column, probability in row.items())
    return known


def _expanded(
    rows: Sequence[Mapping[int, Rational]], known: list[Rational], pause: Callable[[], object]
) -> list[Rational]:
    """Solve digit by digit."""
    matrix, right = _in_integers(rows, known)
    prime, inverse = _inverse(matrix)
    digits: list[list[int]] = []
    left, wanted = right, FEW_DIGITS
    while True:
        pause()
        remainders = flint.nmod_mat(len(left), 1, [number % prime for number in left], prime)
        step = [int(digit) for digit in (inverse * remainders).entries()]
        digits.append(step)
        left = [
            (number - sum(entry * step[column] for column, entry in row.items())) // prime
            for number, row in zip(left, matrix, strict=True)
        ]
        if len(digits) < wanted:
            continue
        found = _fractions(digits, prime, pause)
        if found is not None:
            tops, bottom = found
            if all(
                sum(entry * tops[column] for column, entry in row.items()) == number * bottom
                for number, row in zip(right, matrix, strict=True)
            ):
                return [flint.fmpq(top, bottom) for top in tops]
        wanted += wanted // 2


def _in_integers(
    rows: Sequence[Mapping[int, Rational]], known: list[Rational]
) -> tuple[list[dict[int, int]], list[int]]:
    """Return x - P x = b with each equation scaled to integers."""
    matrix, right = [], []
    for number, (row, constant) in enumerate(zip(rows, known, strict=True)):
        times = math.lcm(int(constant.q), *(int(probability.q) for probability in row.values()))
        entries = {
            column: -int(probability.p) * (times // int(probability.q))
            for column, probability in row.items()
        }
        entries[number] = entries.get(number, 0) + times
        matrix.append(entries)
        right.append(int(constant.p) * (times // int(constant.q)))
    return matrix, right


def _inverse(matrix: list[dict[int, int]]) -> tuple[int, Any]:
    """Return a prime, and the inverse modulo that prime."""
    count, prime = len(matrix), FIRST_PRIME
    while True:
        entries = [0] * (count * count)
        for number, row in enumerate(matrix):
            for column, entry in row.items():
                entries[number * count + column] = entry % prime
        try:
            return prime, flint.nmod_mat(count, count, entries, prime).inv()
        except ZeroDivisionError:  # the prime divides the determinant
            prime -= 2
            while not flint.fmpz(prime).is_prime():
                prime -= 2


def _fractions(
    digits: list[list[int]], prime: int, pause: Callable[[], object]
) -> tuple[list[Any], Any] | None:
    """Return numerators and their denominator with these digits; None if they are too few."""
    modulus = flint.fmpz(prime) ** len(digits)
    tops: list[Any] = []
    bottom = flint.fmpz(1)
    for place in range(len(digits[0])):
        pause()
        number = _composed([step[place] for step in digits], prime)
        top = number * bottom % modulus
        if 2 * top > modulus:
            top -= modulus
        if abs(top) * bottom * CLEAR_FACTOR > modulus:
            ratio = _ratio(top % modulus, modulus)
            if ratio is None:
                return None
            top, more = ratio
            bottom *= more
            tops = [other * more for other in tops]
            if abs(top) * bottom * CLEAR_FACTOR > modulus:
                return None
        tops.append(top)
    return tops, bottom


def _composed(digits: list[int], prime: int) -> Any:
    """Return the number with these digits, lowest first."""
    numbers, base = [flint.fmpz(digit) for digit in digits], flint.fmpz(prime)
    while len(numbers) > 1:
        if len(numbers) % 2:
            numbers.append(flint.fmpz(0))
        numbers = [low + base * high for low, high in zip(numbers[::2], numbers[1::2], strict=True)]
        base *= base
    return numbers[0]


def _ratio(number: Any, modulus: Any) -> tuple[Any, Any] | None:
    """Return numerator and denominator of a small fraction equal to a number by a modulus, if any.

    Among those that Euclid's algorithm passes, it is the one before the largest quotient.
    """
    left, right = modulus, number
    before, now = flint.fmpz(0), flint.fmpz(1)
    largest, found = CLEAR_FACTOR, None
    while right:
        quotient, rest = divmod(left, right)
        if quotient > largest:
            largest, found = quotient, (right, now)
        left, right = right, rest
        before, now = now, before - quotient * now
    if found is None:
        return None
    top, bottom = found
    return (top, bottom) if bottom > 0 else (-top, -bottom)
