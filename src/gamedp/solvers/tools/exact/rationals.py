"""A model in rational numbers.

Rationals are those of python-flint if it is installed, else :class:`fractions.Fraction`: some ten
to a hundred times as slow. What they are called here is `Rational`; a value is one of them, or a
float that is infinite.
"""

from __future__ import annotations

import contextlib
import importlib
import math
import numbers
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs
import numpy as np

from gamedp.errors import InvalidModelError, shown
from gamedp.model.model import describe_choice
from gamedp.rules.game import method

flint: Any = None
with contextlib.suppress(ImportError):  # without the extra "exact"
    flint = importlib.import_module("flint")

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gamedp.model.model import Model
    from gamedp.rules.game import Rules

__all__ = [
    "Rational",
    "RationalModel",
    "Value",
    "as_fraction",
    "enclosed",
    "is_infinite",
    "is_less",
    "rational",
]

Rational: TypeAlias = Any
Value: TypeAlias = Any

CLOSE = 1e-12
"""How far a number that the rules give may be from the one that the model has, relatively."""


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
    """Say whether a value is plus or minus infinity."""
    return isinstance(value, float)


def is_less(first: Value, second: Value) -> bool:
    """Compare two values, of which each may be infinite."""
    if is_infinite(first):
        return bool(first < (second if is_infinite(second) else 0.0))
    if is_infinite(second):
        return bool(second > 0.0)
    return bool(first < second)


def enclosed(number: Fraction | float) -> tuple[float, float, float]:
    """Return the nearest double, and the two that enclose a number as closely as can be.

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


@attrs.frozen(eq=False)
class RationalModel:
    """What is random and what is earned in a model, in rational numbers.

    Probabilities, rewards and payoffs are those that the rules give, where these are Fractions or
    ints; else the stored ones, probabilities scaled to sum to one exactly.

    Attributes
    ----------
    model : Model
        Of C choices and S states.
    probabilities : list
        For each choice, the probabilities of its transitions without signs; in their order.
    rewards : list
        What each choice earns.
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
        """Convert a model, and ask its rules for what they give as Fractions.

        Raises
        ------
        InvalidModelError
            If the rules give other outcomes, rewards or payoffs than the model has.
        """
        probabilities = []
        offsets = model.transition_offsets.tolist()
        stored = [Fraction(number) for number in np.abs(model.probabilities).tolist()]
        for choice in range(model.num_choices):
            row = stored[offsets[choice] : offsets[choice + 1]]
            total = sum(row)
            probabilities.append([rational(number / total) for number in row])
        rewards = [rational(number) for number in np.asarray(model.rewards).tolist()]
        payoffs = {
            state: rational(number)
            for state, number in zip(
                model.terminals.tolist(), np.asarray(model.payoffs).tolist(), strict=True
            )
        }
        if model.rules is not None and model.states is not None:
            _Asker(model, model.rules).ask(probabilities, rewards, payoffs)
        return cls(model, probabilities, rewards, payoffs, rational(model.constant_sum))

    def probabilities_of(self, choice: int) -> list[Rational]:
        """Return the probabilities of a choice of the model, or of the unfolded one."""
        return self.probabilities[choice % self.model.num_choices]

    def reward(self, choice: int) -> Rational:
        """Return what a choice of the model, or of the unfolded one, earns."""
        count = self.model.num_choices
        return self.rewards[choice] if choice < count else -self.rewards[choice - count]

    def payoff(self, state: int) -> Rational | None:
        """Return the value of a terminal state of the model, or of the unfolded one."""
        count = self.model.num_states
        payoff = self.payoffs.get(state % count)
        return payoff if payoff is None or state < count else self.constant_sum - payoff


@attrs.frozen(eq=False)
class _Asker:
    """Asks the rules once more, for numbers that no double is equal to."""

    model: Model
    rules: Rules

    def ask(
        self,
        probabilities: list[list[Rational]],
        rewards: list[Rational],
        payoffs: dict[int, Rational],
    ) -> None:
        """Replace the stored numbers where the rules give rational ones."""
        model, game = self.model, self.rules.game
        earns = method(game, "reward")
        choices = model.choice_offsets.tolist()
        for index in range(model.num_states):
            state = model.state(index)
            if index in payoffs:
                payoff = game.payoff(state, 0)
                if isinstance(payoff, numbers.Rational):
                    self._check(payoff, payoffs[index], f"the payoff of {shown(state)}")
                    payoffs[index] = rational(payoff)
            for choice in range(choices[index], choices[index + 1]):
                action = int(model.action_labels[choice])
                reward = earns(game, state, action, 0)
                if isinstance(reward, numbers.Rational):
                    words = f"the reward of {describe_choice(model, choice)}"
                    self._check(reward, rewards[choice], words)
                    rewards[choice] = rational(reward)
                row = self._outcomes(choice, state, action, probabilities[choice])
                if row is not None:
                    probabilities[choice] = row

    def _outcomes(
        self, choice: int, state: Any, action: int, stored: Sequence[Rational]
    ) -> list[Rational] | None:
        """Return the probabilities of a choice if the rules give rational ones, else None."""
        model = self.model
        merged: dict[tuple[int, bool], Fraction] = {}
        for probability, successor in self.rules.game.outcomes(state, action):
            if not isinstance(probability, numbers.Rational):
                return None
            if probability:
                representative = model.represented(successor)
                place = representative[1], representative[2]
                merged[place] = merged.get(place, Fraction(0)) + Fraction(probability)
        row = slice(*model.transition_offsets[choice : choice + 2].tolist())
        places = zip(
            model.successors[row].tolist(), (model.probabilities[row] < 0).tolist(), strict=True
        )
        words = describe_choice(model, choice)
        given = [merged.pop(place, None) for place in places]
        if merged or None in given or sum(given) != 1:  # type: ignore[arg-type] # None is ruled out
            message = (
                f"the rules give other outcomes for {words} than the model has, or such that do "
                "not sum to one. Compile the game again."
            )
            raise InvalidModelError(message)
        for probability, number in zip(given, stored, strict=True):
            self._check(probability, number, f"a probability of {words}")
        return [rational(probability) for probability in given]

    @staticmethod
    def _check(given: Any, stored: Rational, words: str) -> None:
        one, other = float(given), float(as_fraction(stored))
        if abs(one - other) > CLOSE * max(abs(one), abs(other)):
            message = (
                f"{words} is {given} by the rules and {other!r} in the model. Compile the game "
                "again."
            )
            raise InvalidModelError(message)
