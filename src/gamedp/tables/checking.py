"""Checks of tables by the rules in plain Python, one position at a time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Protocol

from gamedp.errors import InvalidModelError, UnknownStateError, shown
from gamedp.rules.expand import expand
from gamedp.runtime.floats import UNIT

if TYPE_CHECKING:
    import numpy as np

    from gamedp.rules.game import Rules
    from gamedp.tables.numbered_plan import NumberedPlan
    from gamedp.tables.plan import Plan

__all__ = ["action_bounds", "rounding_of", "verify_samples"]

MAX_RANDOM_MOVES = 10_000
"""Largest number of moves of a random game before it is given up on its way to the tables."""


class Valued(Protocol):
    """Tables, as far as checks need them; see :class:`gamedp.tables.Tables`."""

    def bounds(self, state: Any, player: int = 0) -> tuple[float, float]:
        """Return (lower, upper) of what `player` can expect in a state."""

    def number_at(self, level: int, place: int) -> tuple[float, float]:
        """Return the value at a place and its error; NaN for none."""


def action_bounds(tables: Valued, rules: Rules, state: Any) -> list[tuple[Any, float, float]]:
    """Return each action in a state, with bounds of what player 0 gets from there on."""
    found = []
    for choice in expand(rules, state).choices:
        parts = [[choice.rewards[0]], [choice.rewards[0]]]
        for (after, swapped), probability in choice.outcomes.items():
            for part, end in zip(parts, tables.bounds(after, int(swapped)), strict=True):
                part.append(probability * end)
        slack = rounding_of(parts)
        found.append((choice.action, math.fsum(parts[0]) - slack, math.fsum(parts[1]) + slack))
    return found


def rounding_of(parts: list[list[float]]) -> float:
    """Return what rounding of products with probabilities, and of their sums, may amount to."""
    return 4 * UNIT * (len(parts[0]) + 2) * max(math.fsum(map(abs, part)) for part in parts)


def verify_samples(
    tables: Valued,
    plan: Plan | NumberedPlan,
    made: list[int],
    samples: int,
    generator: np.random.Generator,
) -> int:
    """Verify places drawn at random, and play from the start; see `Tables.verify`."""
    sizes = [plan.size(level) for level in made]
    checked = 0
    while sum(sizes) and checked < samples:
        drawn = _drawn(tables, plan, made, sizes, generator)
        checked += 1
        for begin in (drawn, _played(plan, made, generator)):
            state = begin
            while state is not None and checked < samples:
                _check(tables, plan.rules, state)
                checked += 1
                state = _next(plan.rules, state, generator)
    return checked


def _drawn(
    tables: Valued,
    plan: Plan | NumberedPlan,
    made: list[int],
    sizes: list[int],
    generator: np.random.Generator,
) -> Any:
    """Return the position at a place drawn at random, None if there is none or the game is over."""
    place, number = int(generator.integers(sum(sizes))), 0
    while place >= sizes[number]:
        place -= sizes[number]
        number += 1
    state = plan.state(made[number], place)
    value, error = tables.number_at(made[number], place)
    is_one = plan.is_position(state)
    if is_one == math.isnan(value):
        message = (
            f"the tables contradict the rules: {shown(state)} is {'a' if is_one else 'no'} "
            "position by the rules, but not so by the tables."
        )
        raise InvalidModelError(message)
    if is_one and plan.rules.is_terminal(state):
        payoff = float(plan.rules.game.payoff(state, 0))
        if not abs(payoff - value) <= error:
            message = (
                f"the tables contradict the rules: {shown(state)} is {value:g} by the "
                f"tables, but the payoff there is {payoff:g}."
            )
            raise InvalidModelError(message)
        return None
    return state if is_one else None


def _played(plan: Plan | NumberedPlan, made: list[int], generator: np.random.Generator) -> Any:
    """Return the first position of random play that the tables have, None if there is none."""
    pairs = plan.rules.initial()
    state = plan.rules.canonical(pairs[int(generator.integers(len(pairs)))][1])[0]
    if plan.rules.is_terminal(state):
        return None
    for _ in range(MAX_RANDOM_MOVES):
        try:
            if plan.place(state)[0] in made:
                return state
        except UnknownStateError:  # in a higher tier, or outside the box
            pass
        state = _next(plan.rules, state, generator)
        if state is None:
            return None
    return None


def _next(rules: Rules, state: Any, generator: np.random.Generator) -> Any:
    """Return a position after this one, drawn at random; None at an end."""
    choices = expand(rules, state).choices
    outcomes = list(choices[int(generator.integers(len(choices)))].outcomes)
    after, _ = outcomes[int(generator.integers(len(outcomes)))]
    return None if rules.is_terminal(after) else after


def _check(tables: Valued, rules: Rules, state: Any) -> None:
    """Raise if the bounds of a state have nothing in common with those that it leads to."""
    low, high = tables.bounds(state)
    best = max if rules.player(state) == 0 else min
    found = action_bounds(tables, rules, state)
    least, most = best(each[1] for each in found), best(each[2] for each in found)
    if most < low or least > high:
        message = (
            f"the tables contradict the rules: {shown(state)} is {low:g} to {high:g} by the "
            f"tables, and {least:g} to {most:g} by what its actions lead to."
        )
        raise InvalidModelError(message)
