"""A model in rational numbers.

Rationals are those of python-flint if it is installed, else :class:`fractions.Fraction`, which is
ten to a hundred times slower. Their type is called `Rational` here; a value is one of them, or a
float that is infinite.
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

flint: Any = None
with contextlib.suppress(ImportError):  # without the extra "exact"
    flint = importlib.import_module("flint")

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gamedp.model.model import Model

__all__ = [
    "Rational",
    "RationalModel",
    "Value",
    "as_fraction",
    "enclosed",
    "enclosed_values",
    "is_infinite",
    "is_less",
    "rational",
]

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
