"""The problems that the benchmarks build, beside the games that come with gamedp."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import attrs
import numpy as np
from numpy.typing import NDArray

__all__ = ["SlipGrid", "State", "chain", "random_model", "slow_walk"]


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


def slow_walk(length: int) -> dict[str, Any]:
    """Return a walk that nearly always starts again: the arrays of a Markov chain.

    From the middle it goes left with probability 0.7, else right; on either side each step leads on
    with probability 1/2 and else back to the middle. So the left end is reached first with
    probability 0.7 exactly, after about 2^length steps; whoever stops when values change little
    stops at once [1]_.

    References
    ----------
    .. [1] S. Haddad, B. Monmege, "Interval iteration algorithm for MDPs and IMDPs", Theoretical
       Computer Science 735 (2018).
    """
    states = 2 * length + 1  # 0 the middle, 1 .. length the left side, the rest the right one
    ends = {length, 2 * length}
    successors, probabilities, offsets = [1, length + 1], [0.7, 0.3], [0, 2]
    for state in range(1, states):
        successors += [state] if state in ends else [0, state + 1]
        probabilities += [1.0] if state in ends else [0.5, 0.5]
        offsets.append(len(successors))
    return {
        "choice_offsets": np.arange(states + 1),
        "transition_offsets": offsets,
        "successors": successors,
        "probabilities": probabilities,
    }


def random_model(states: int, actions: int, branches: int, seed: int) -> dict[str, Any]:
    """Return the arrays of a random decision process: each choice may lead to `branches` states."""
    random = np.random.default_rng(seed)
    choices = states * actions
    # Distinct ones: each in its own part of the states.
    width = states // branches
    successors = random.integers(0, width, (choices, branches)) + width * np.arange(branches)
    chances = random.integers(1, 100, (choices, branches)).astype(np.float64)
    chances /= chances.sum(axis=1, keepdims=True)
    return {
        "choice_offsets": np.arange(states + 1) * actions,
        "transition_offsets": np.arange(choices + 1) * branches,
        "successors": successors.ravel(),
        "probabilities": chances.ravel(),
        "rewards": random.random(choices),
    }
