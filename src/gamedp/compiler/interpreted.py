"""The interpreted mode: breadth-first exploration in plain Python, for any hashable states."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import attrs

from gamedp.compiler.limits import LATE
from gamedp.rules.expand import Numbering, expand
from gamedp.rules.probabilities import LONG_ROW

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gamedp.compiler.limits import Limits, Watch
    from gamedp.rules.game import Rules

__all__ = ["Patience", "Rows", "explore"]

CHECK_EVERY = 256
"""Number of states between two checks of the limits."""

LOOK_EVERY = 16
"""Number of states between two checks of patience: they may have many outcomes each."""

MANY = 1 << 16
"""Number of states from which on growing fields cause a warning: some seconds of plain Python."""

BYTES = (300, 250, 200, 70)
"""Approximate bytes of a representative, a numbered state, a choice and a transition."""


@attrs.frozen
class Patience:
    """Limits of plain Python's work, beyond which something faster pays.

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


class Rows(Numbering):
    """A growing model as plain lists; states in the order of their discovery.

    Parameters
    ----------
    seeds : sequence of states
        The representatives from which the exploration begins.
    watch : Watch
        Knows the limits.
    """

    def __init__(self, seeds: Sequence[Any], watch: Watch) -> None:
        super().__init__(seeds)
        self._watch = watch
        self.done = 0
        self.choice_offsets = [0]
        self.transition_offsets = [0]
        self.successors: list[int] = []
        self.probabilities: list[float] = []
        self.rewards: list[float] = []
        self.players: list[int] = []
        self.terminals: list[int] = []
        self.payoffs: list[float] = []
        self.labels: list[int] = []

    @property
    def limits(self) -> Limits:
        """The limits of the watch."""
        return self._watch.limits

    @property
    def num_bytes(self) -> int:
        """The approximate memory of all lists."""
        sizes = len(self.states), len(self.numbers), len(self.labels), len(self.successors)
        return sum(size * each for size, each in zip(sizes, BYTES, strict=True))

    def look(self) -> None:
        """Check the limits."""
        sizes = len(self.states), len(self.labels), len(self.successors)
        self._watch.check(self.done, *sizes, self.num_bytes, lambda: self.states[-LATE:], MANY)


def explore(rules: Rules, rows: Rows, patience: Patience | None = None) -> bool:
    """Continue the exploration; return whether all reachable states have been explored.

    Without `patience` it is, or a limit raises its error. With some, it may be given up before; a
    limit of memory then is not an error, as compiled rules take less.
    """
    begin = time.thread_time()
    states, successors, probabilities = rows.states, rows.successors, rows.probabilities
    rewards, labels, ends = rows.rewards, rows.labels, rows.transition_offsets
    limits = rows.limits
    while rows.done < len(states):
        done = rows.done
        if patience is not None and (
            len(states) > patience.states or len(successors) > patience.transitions
        ):
            return False
        if done % LOOK_EVERY == 0:
            if patience is not None and (
                time.thread_time() - begin > patience.seconds or rows.num_bytes > limits.max_bytes
            ):
                return False
            if done % CHECK_EVERY == 0 and done > 0:
                rows.look()
        if len(states) > limits.max_states:
            rows.look()
        payoffs, player, choices = expand(rules, states[done], rows, rows.look)
        rows.players.append(player)
        if payoffs is not None:
            rows.terminals.append(done)
            rows.payoffs.extend(payoffs)
        for action, earned, outcomes in choices:
            row = outcomes.items()
            for number, probability in sorted(row) if len(row) > LONG_ROW else row:
                successors.append(number >> 1)
                probabilities.append(-probability if number & 1 else probability)
            ends.append(len(successors))
            rewards.extend(earned)
            labels.append(action)
        rows.choice_offsets.append(len(labels))
        rows.done = done + 1
    rows.look()
    return True
