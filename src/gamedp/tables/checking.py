"""Checks of tables by the rules in plain Python, one position at a time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Protocol

from gamedp.errors import InvalidModelError, shown
from gamedp.rules.expand import expand
from gamedp.runtime.floats import UNIT

if TYPE_CHECKING:
    import numpy as np

    from gamedp.rules.game import Rules
    from gamedp.tables.plan import Plan

__all__ = ["action_bounds", "verify_samples"]

LONGEST = 10_000
"""Largest number of moves of a random game before it is given up."""


class Valued(Protocol):
    """Tables, as far as checks need them; see :class:`gamedp.tables.Tables`."""

    def bounds(self, state: Any, player: int = 0) -> tuple[float, float]:
        """Return (lower, upper) of what `player` can expect in a state."""

    def number_at(self, level: int, place: int) -> float:
        """Return the value at a place; NaN for none."""


def action_bounds(tables: Valued, rules: Rules, state: Any) -> list[tuple[Any, float, float]]:
    """Return each action in a state, with bounds of what player 0 gets from there on."""
    found = []
    for choice in expand(rules, state).choices:
        parts = [[choice.rewards[0]], [choice.rewards[0]]]
        for (after, swapped), probability in choice.outcomes.items():
            for part, end in zip(parts, tables.bounds(after, int(swapped)), strict=True):
                part.append(probability * end)
        slack = 4 * UNIT * (len(parts[0]) + 2) * max(math.fsum(map(abs, part)) for part in parts)
        found.append((choice.action, math.fsum(parts[0]) - slack, math.fsum(parts[1]) + slack))
    return found


def verify_samples(
    tables: Valued, plan: Plan, made: list[int], samples: int, generator: np.random.Generator
) -> int:
    """Verify places drawn at random from some levels, see `Tables.verify`."""
    sizes = [plan.size(level) for level in made]
    checked = 0
    while made and checked < samples:
        place = int(generator.integers(sum(sizes)))
        level = 0
        while place >= sizes[level]:
            place -= sizes[level]
            level += 1
        state = plan.state(made[level], place)
        is_one = plan.rules.is_state(state) and plan.rules.canonical(state)[0] == state
        value = tables.number_at(made[level], place)
        checked += 1
        if is_one == math.isnan(value):
            message = (
                f"the tables contradict the rules: {shown(state)} is "
                f"{'a' if is_one else 'no'} position by the rules, but not so by the tables."
            )
            raise InvalidModelError(message)
        for _ in range(LONGEST if is_one else 0):
            if plan.rules.is_terminal(state):
                break
            _check(tables, plan.rules, state)
            checked += 1
            choices = expand(plan.rules, state).choices
            outcomes = list(choices[int(generator.integers(len(choices)))].outcomes)
            state, _ = outcomes[int(generator.integers(len(outcomes)))]
            if checked >= samples:
                break
    return checked


def _check(tables: Valued, rules: Rules, state: Any) -> None:
    """Raise if the bounds of a state have nothing in common with those that it leads to."""
    low, high = tables.bounds(state)
    best = max if rules.player(state) == 0 else min
    found = action_bounds(tables, rules, state)
    least, most = best(each[1] for each in found), best(each[2] for each in found)
    if most < low or least > high:
        message = (
            f"the tables contradict the rules: {shown(state)} is worth {low:g} to {high:g} by the "
            f"tables, and {least:g} to {most:g} by what its actions lead to."
        )
        raise InvalidModelError(message)
