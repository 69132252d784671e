"""Checks of endgame tables against the rules in plain Python, one step at a time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.errors import InvalidModelError, InvalidParameterError, shown
from gamedp.rules.expand import expand
from gamedp.rules.game import Rules
from gamedp.searchers.root import refuse_chance

if TYPE_CHECKING:
    from gamedp.searchers.endings.strata import Strata

__all__ = ["verify"]

LONGEST = 10_000
"""Largest number of moves of a random game before it is given up."""


def verify(tables: Strata, samples: int, generator: np.random.Generator) -> int:
    """Verify endgame tables, see `EndgameTables.verify`."""
    if samples < 1:
        message = f"samples is {shown(samples)}; it must be at least 1."
        raise InvalidParameterError(message)
    check = _Check(tables, generator)
    while tables.num_positions > 0 and check.checked < samples:
        check.follow(check.drawn())
        played = check.played()
        if played is not None:
            check.follow(played)
    return check.checked


class _Check:
    """Checks positions, and counts them."""

    def __init__(self, tables: Strata, generator: np.random.Generator) -> None:
        self._tables = tables
        self._game = tables.game
        self._rules = Rules(tables.game)
        self._generator = generator
        self.checked = 0

    def drawn(self) -> Any:
        """Return a position with a randomly drawn number, after checking that number."""
        place = int(self._generator.integers(self._tables.num_positions))
        ends = np.cumsum(self._tables.sizes)
        material = int(np.searchsorted(ends, place, side="right"))
        index = place - int(ends[material] - self._tables.sizes[material])
        state = self._game.ending_state(material, index)
        found = int(self._game.material(state)), int(self._game.ending_index(state))
        if found != (material, index):
            message = (
                f"ending_state({material}, {index}) is {shown(state)}, which has material "
                f"{found[0]} and ending_index {found[1]}."
            )
            raise InvalidModelError(message)
        if self._game.is_terminal(state):
            self.checked += 1
            payoff = float(self._game.payoff(state, 0))
            value = int(self._tables.stratum(material)[index])
            if payoff != value:
                message = (
                    f"the endgame tables contradict the rules: {shown(state)} is worth {value} by "
                    f"the tables, but the payoff there is {payoff:g}."
                )
                raise InvalidModelError(message)
        return state

    def played(self) -> Any:
        """Return a position of random play from the start, or None if the tables cover none."""
        starts = self._rules.initial()
        state = starts[int(self._generator.integers(len(starts)))][1]
        for _ in range(LONGEST):
            if self._game.is_terminal(state):
                return None
            if self._game.material(state) <= self._tables.material:
                return state
            state = self._next(state)
        return None

    def _next(self, state: Any) -> Any:
        """Return a position after this one, by an action drawn at random."""
        choices = expand(self._rules, state).choices
        choice = choices[int(self._generator.integers(len(choices)))]
        successors = list(choice.outcomes)
        return successors[int(self._generator.integers(len(successors)))][0]

    def follow(self, state: Any) -> None:
        """Check a position, and those after it on a random path to the end."""
        for _ in range(LONGEST):
            state, _ = self._rules.canonical(state)
            if self._game.is_terminal(state):
                return
            self._check(state)
            state = self._next(state)

    def _check(self, state: Any) -> None:
        """Raise if the tables contradict themselves in this position and those after it."""
        self.checked += 1
        low, high = self._tables.value(state)
        least = most = -math.inf
        mover = self._rules.player(state)
        for choice in expand(self._rules, state).choices:
            if len(choice.outcomes) > 1:
                refuse_chance(state, choice.action, "EndgameTables")
            ((after, swapped),) = choice.outcomes
            reward = self._rules.reward(state, choice.action, mover)
            side = mover ^ swapped
            if self._game.is_terminal(after):
                ends = (float(self._game.payoff(after, side)),) * 2
            else:
                ends = self._tables.value(after)
                if self._rules.player(after) != side:
                    ends = -ends[1], -ends[0]
            least, most = max(least, reward + ends[0]), max(most, reward + ends[1])
        if most < low or least > high:
            message = (
                f"the endgame tables contradict the rules: {shown(state)} is worth "
                f"{_words(low, high)} to the mover by the tables, and {_words(least, most)} by "
                "what its actions lead to. Either material, settled, ending_index and ending_state "
                "do not fit together, or the tables are of other rules."
            )
            raise InvalidModelError(message)


def _words(low: float, high: float) -> str:
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"
