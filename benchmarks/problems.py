"""The problems that the benchmarks build, beside the games that come with gamedp."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import attrs
import numpy as np
from numpy.typing import NDArray

__all__ = ["SlipGrid", "State", "chain", "many_choices"]


class State(NamedTuple):
    """A field of the grid."""

    row: int
    column: int


@attrs.frozen
class SlipGrid:
    """Walk over slippery ground from one corner of a square to the opposite one.

    A step goes where it should with probability 0.8, and to either side with 0.1 each. A wall keeps
    in place. A step costs 1.

    Parameters
    ----------
    size : int
        Fields along a side.
    """

    size: int = 1000

    def initial_state(self) -> State:
        """Return the corner at the top left."""
        return State(0, 0)

    def is_terminal(self, state: State) -> bool:
        """Say whether this is the corner at the bottom right."""
        return state.row == self.size - 1 and state.column == self.size - 1

    def actions(self, state: State) -> range:  # noqa: ARG002 - the same everywhere
        """Return up, right, down and left."""
        return range(4)

    def outcomes(self, state: State, action: int) -> Iterator[tuple[float, State]]:
        """Yield the field ahead and those to the sides."""
        yield 0.8, self.beside(state, action)
        yield 0.1, self.beside(state, (action + 1) % 4)
        yield 0.1, self.beside(state, (action + 3) % 4)

    def beside(self, state: State, direction: int) -> State:
        """Return the field in that direction, or the same one at a wall."""
        row = state.row + (direction == 2) - (direction == 0)
        column = state.column + (direction == 1) - (direction == 3)
        return State(min(max(row, 0), self.size - 1), min(max(column, 0), self.size - 1))

    def reward(self, state: State, action: int, player: int) -> float:  # noqa: ARG002
        """Return what a step costs."""
        return -1.0

    def payoff(self, state: State, player: int) -> float:  # noqa: ARG002 - all is in the steps
        """Return nothing."""
        return 0.0


def chain(length: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return offsets and successors of states that lead from each to the next, the last nowhere."""
    offsets = np.minimum(np.arange(length + 1, dtype=np.int64), length - 1)
    return offsets, np.arange(1, length, dtype=np.int32)


def many_choices(states: int, actions: int, branches: int, seed: int) -> dict[str, Any]:
    """Return the arrays of a random decision process: each choice may lead to `branches` states."""
    random = np.random.default_rng(seed)
    choices = states * actions
    # Distinct ones: each in its own part of the states.
    width = states // branches
    successors = random.integers(0, width, (choices, branches)) + width * np.arange(branches)
    probabilities = random.integers(1, 100, (choices, branches)).astype(np.float64)
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    return {
        "choice_offsets": np.arange(states + 1) * actions,
        "transition_offsets": np.arange(choices + 1) * branches,
        "successors": successors.ravel(),
        "probabilities": probabilities.ravel(),
        "rewards": random.random(choices),
    }
