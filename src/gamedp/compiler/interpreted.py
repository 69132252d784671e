"""The interpreted tier: breadth-first exploration in plain Python, for any hashable states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gamedp.compiler.chances import LONG_ROW
from gamedp.compiler.expand import expand
from gamedp.compiler.limits import LATE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gamedp.compiler.limits import Watch
    from gamedp.game import Rules

__all__ = ["Rows", "explore"]

CHECK_EVERY = 256
"""States between two looks at the clock."""

BYTES = (500, 200, 70)
"""What a state with its place in the dictionary, a choice and a transition take, about."""


class Rows:
    """A model while it grows, as plain lists; states in the order of their discovery."""

    def __init__(self) -> None:
        self.states: list[Any] = []
        self.indices: dict[Any, int] = {}
        self.choice_offsets = [0]
        self.transition_offsets = [0]
        self.successors: list[int] = []
        self.probabilities: list[float] = []
        self.rewards: list[tuple[float, ...]] = []
        self.players: list[int] = []
        self.terminals: list[int] = []
        self.payoffs: list[tuple[float, ...]] = []
        self.labels: list[int] = []

    def index(self, state: Any) -> int:
        """Return the index of `state`, which is discovered now if it was not known."""
        index = self.indices.setdefault(state, len(self.states))
        if index == len(self.states):
            self.states.append(state)
        return index

    def check(self, done: int, watch: Watch) -> None:
        """Look at the limits."""
        sizes = len(self.states), len(self.labels), len(self.successors)
        needed = sum(size * each for size, each in zip(sizes, BYTES, strict=True))
        watch.check(done, *sizes, needed, lambda: self.states[-LATE:])


def explore(rules: Rules, seeds: Sequence[Any], watch: Watch) -> Rows:
    """Explore all that can be reached from `seeds`, which are representatives."""
    rows = Rows()
    for state in seeds:
        rows.index(state)
    done = 0
    while done < len(rows.states):
        expansion = expand(rules, rows.states[done])
        rows.players.append(expansion.player)
        if expansion.payoffs is not None:
            rows.terminals.append(done)
            rows.payoffs.append(expansion.payoffs)
        for choice in expansion.choices:
            row = [
                (rows.index(state), swapped, probability)
                for (state, swapped), probability in choice.outcomes.items()
            ]
            for successor, swapped, probability in sorted(row) if len(row) > LONG_ROW else row:
                rows.successors.append(successor)
                rows.probabilities.append(-probability if swapped else probability)
            rows.transition_offsets.append(len(rows.successors))
            rows.rewards.append(choice.rewards)
            rows.labels.append(choice.action)
        rows.choice_offsets.append(len(rows.labels))
        done += 1
        if done % CHECK_EVERY == 0 or len(rows.states) > watch.limits.max_states:
            rows.check(done, watch)
    rows.check(done, watch)
    return rows
