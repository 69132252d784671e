"""The interpreted tier: breadth-first exploration in plain Python, for any hashable states."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import attrs

from gamedp.compiler.chances import LONG_ROW
from gamedp.compiler.expand import expand
from gamedp.compiler.limits import LATE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gamedp.compiler.limits import Watch
    from gamedp.game import Rules

__all__ = ["Patience", "Rows", "explore"]

CHECK_EVERY = 256
"""States between two looks at the clock."""

BYTES = (500, 200, 70)
"""What a state with its place in the dictionary, a choice and a transition take, about."""


@attrs.frozen
class Patience:
    """How long plain Python goes on before something faster is worth its while.

    Attributes
    ----------
    states : float
        States found, whether they have been explored or not.
    transitions : float
    seconds : float
        Processor time.
    """

    states: float = float("inf")
    transitions: float = float("inf")
    seconds: float = float("inf")


class Rows:
    """A model while it grows, as plain lists; states in the order of their discovery.

    Parameters
    ----------
    seeds : sequence of states
        Where the exploration begins; representatives.
    """

    def __init__(self, seeds: Sequence[Any]) -> None:
        self.states: list[Any] = list(dict.fromkeys(seeds))
        self.indices: dict[Any, int] = {state: k for k, state in enumerate(self.states)}
        self.done = 0
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

    @property
    def num_bytes(self) -> int:
        """About how much memory all this takes."""
        sizes = len(self.states), len(self.labels), len(self.successors)
        return sum(size * each for size, each in zip(sizes, BYTES, strict=True))

    def check(self, watch: Watch) -> None:
        """Look at the limits."""
        sizes = len(self.states), len(self.labels), len(self.successors)
        watch.check(self.done, *sizes, self.num_bytes, lambda: self.states[-LATE:])


def explore(rules: Rules, rows: Rows, watch: Watch, patience: Patience | None = None) -> bool:
    """Go on exploring all that can be reached, and say whether all has been.

    Without `patience` it is, or a limit raises its error. With some, it may be given up before; a
    limit of memory then is no error, for compiled rules take less.
    """
    begin = time.thread_time()
    while rows.done < len(rows.states):
        if patience is not None and (
            len(rows.states) > patience.states
            or len(rows.successors) > patience.transitions
            or time.thread_time() - begin > patience.seconds
            or rows.num_bytes > watch.limits.max_bytes
        ):
            return False
        expansion = expand(rules, rows.states[rows.done])
        rows.players.append(expansion.player)
        if expansion.payoffs is not None:
            rows.terminals.append(rows.done)
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
        rows.done += 1
        if rows.done % CHECK_EVERY == 0 or len(rows.states) > watch.limits.max_states:
            rows.check(watch)
    rows.check(watch)
    return True
