"""How far payoffs and rewards of the rules are from the doubles that a model stores of them.

Fractions, and integers beyond 2**53, may have no double of their own. Bounds are widened by what
that can do to a value: see :func:`gamedp.solvers.finishing.widened`.
"""

from __future__ import annotations

import math
from fractions import Fraction
from numbers import Rational
from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.game import method

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gamedp.game import Rules
    from gamedp.model import Model

__all__ = ["rounding_of"]

LARGE = 2.0**53
"""Integers up to here are doubles."""


def rounding_of(
    rules: Rules, model: Model, state_of: Callable[[int], Any], *, compiled: bool
) -> tuple[float, float, float]:
    """Return the largest error of a payoff, of a reward, and of either as a part of itself.

    Parameters
    ----------
    rules : Rules
    model : Model
        As it was explored.
    state_of : callable
        From the index of a state to the state.
    compiled : bool
        Whether the rules were: then all their numbers are doubles or 64-bit integers.
    """
    game = rules.game
    terminals, choices = range(len(model.terminals)), range(model.num_choices)
    if compiled:
        terminals, choices = _large(model.payoffs), _large(model.rewards)
    elif not hasattr(game, "reward"):
        choices = range(0)
    payoffs = (
        (game.payoff(state_of(int(model.terminals[place])), 0), _first(model.payoffs[place]))
        for place in terminals
    )
    earns = method(game, "reward")
    owners = np.repeat(np.arange(model.num_states), np.diff(model.choice_offsets) * bool(choices))
    rewards = (
        (
            earns(game, state_of(int(owners[choice])), int(model.action_labels[choice]), 0),
            _first(model.rewards[choice]),
        )
        for choice in choices
    )
    payoff, one = _largest(payoffs)
    reward, other = _largest(rewards)
    return payoff, reward, max(one, other)


def _large(numbers: Any) -> Any:
    """Return the places of numbers of the first player that may be rounded integers."""
    first = numbers if numbers.ndim == 1 else numbers[:, 0]
    return np.flatnonzero(np.abs(first) >= LARGE).tolist()


def _first(number: Any) -> float:
    return float(number if np.ndim(number) == 0 else number[0])


def _largest(pairs: Iterable[tuple[Any, float]]) -> tuple[float, float]:
    """Return the largest error of stored numbers, and the largest as a part of the number."""
    most, part = Fraction(0), Fraction(0)
    for given, stored in pairs:
        if type(given) is float or not isinstance(given, Rational):
            continue
        error = abs(Fraction(given) - Fraction(stored))
        if error:
            most = max(most, error)
            part = max(part, error / abs(Fraction(stored)) if stored else Fraction(2))
    return _upward(most), _upward(part)


def _upward(number: Fraction) -> float:
    """Return a double that is not less."""
    nearest = float(number)
    return math.nextafter(nearest, math.inf) if Fraction(nearest) < number else nearest
