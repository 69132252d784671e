"""How far payoffs and rewards of the rules are from the doubles that a model stores of them.

Fractions, and integers beyond 2**53, may have no double of their own. Bounds are widened by what
that can do to a value: see :func:`gamedp.solvers.tools.finish.widened`.
"""

from __future__ import annotations

import math
from fractions import Fraction
from numbers import Rational
from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.errors import InvalidModelError, shown
from gamedp.rules.game import method

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gamedp.model.model import Model
    from gamedp.rules.game import Rules

__all__ = ["IN_STAGES", "is_rounded", "refuse_rounded", "rounding_of"]

LARGE = 2.0**53
"""Integers up to here are doubles."""


def is_rounded(number: Any) -> bool:
    """Say whether a number is rational, and no double is equal to it."""
    if type(number) is float or (isinstance(number, int) and -LARGE <= number <= LARGE):
        return False
    if not isinstance(number, Rational):
        return False
    try:
        return Fraction(number) != Fraction(float(number))
    except OverflowError:
        return True


def refuse_rounded(number: Any, words: str, why: str) -> None:
    """Raise InvalidModelError if no double is equal to a payment.

    Parameters
    ----------
    number
    words : str
        What it is, such as ``payoff(Place(1), 0)``.
    why : str
        A sentence on why it cannot be rounded here.
    """
    if is_rounded(number):
        message = (
            f"{words} is {shown(number)}, which no 64-bit number is equal to; {why} Return "
            "float(...) to have it rounded."
        )
        raise InvalidModelError(message)


IN_STAGES = "the bounds of a staged game are proven in these."
"""Why payments of contexts are refused."""

SEVERAL = "with three players or more, to round it may change what is best for one of them."
"""Why all others are, then."""


def _refuse_for_several(
    rules: Rules, model: Model, state_of: Callable[[int], Any], *, compiled: bool
) -> None:
    """Raise InvalidModelError if payments of three players or more are not those of the rules."""
    game = rules.game
    terminals, choices, owners = _to_ask(rules, model, compiled=compiled)
    for place in terminals:
        state = state_of(int(model.terminals[place]))
        for player in range(rules.num_players):
            words = f"payoff({shown(state)}, {player})"
            refuse_rounded(game.payoff(state, player), words, SEVERAL)
    for choice in choices:
        state, action = state_of(int(owners[choice])), int(model.action_labels[choice])
        for player in range(rules.num_players):
            words = f"reward({shown(state)}, {action}, {player})"
            refuse_rounded(game.reward(state, action, player), words, SEVERAL)


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
    if rules.num_players > 2:
        _refuse_for_several(rules, model, state_of, compiled=compiled)
        return 0.0, 0.0, 0.0
    game = rules.game
    terminals, choices, owners = _to_ask(rules, model, compiled=compiled)
    payoffs = (
        (game.payoff(state_of(int(model.terminals[place])), 0), _first(model.payoffs[place]))
        for place in terminals
    )
    earns = method(game, "reward")
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


def _to_ask(rules: Rules, model: Model, *, compiled: bool) -> tuple[Any, Any, Any]:
    """Return the places of terminal states, and the choices with the states that they belong to."""
    terminals, choices = range(len(model.terminals)), range(model.num_choices)
    if compiled:
        terminals, choices = _large(model.payoffs), _large(model.rewards)
    elif not hasattr(rules.game, "reward"):
        choices = range(0)
    owners = np.repeat(np.arange(model.num_states), np.diff(model.choice_offsets) * bool(choices))
    return terminals, choices, owners


def _large(numbers: Any) -> Any:
    """Return the places of numbers, of any player, that may be rounded integers."""
    most = np.abs(numbers) if numbers.ndim == 1 else np.abs(numbers).max(axis=1, initial=0.0)
    return np.flatnonzero(most >= LARGE).tolist()


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
