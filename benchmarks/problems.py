"""The problems that the benchmarks build, beside the games that come with gamedp."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import attrs
import numpy as np
from numpy.typing import NDArray

__all__ = ["Pig", "SlipGrid", "State", "Throw", "chain", "many_choices"]


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


class Throw(NamedTuple):
    """Who is to move, the scores of both players, and what is in hand."""

    player: int
    first: int
    second: int
    turn: int


@attrs.frozen
class Pig:
    """Pig for two, with the player in the state, and 1 for the winner.

    Parameters
    ----------
    goal : int
    ends : bool
        Whether play must end: nobody may hold nothing, or roll with the goal in hand. In Pig's own
        rules both may, so that they could go on for ever.
    throws : bool
        Whether the throw of the die is a state of its own, with `turn` -1 minus what is in hand.
    """

    goal: int = 100
    ends: bool = False
    throws: bool = False

    num_players = 2
    constant_sum = 1.0

    def initial_state(self) -> Throw:
        """Return the start."""
        return Throw(0, 0, 0, 0)

    def player(self, state: Throw) -> int:
        """Return who is to move."""
        return state.player

    def is_terminal(self, state: Throw) -> bool:
        """Say whether one player has reached the goal."""
        return state.first >= self.goal or state.second >= self.goal

    def actions(self, state: Throw) -> Iterator[int]:
        """Yield 1, to roll, and 0, to hold."""
        own = state.second if state.player else state.first
        if not self.ends or state.turn < 0 or own + state.turn < self.goal:
            yield 1
        if state.turn > 0 or (state.turn == 0 and not self.ends):
            yield 0

    def outcomes(self, state: Throw, action: int) -> Iterator[tuple[float, Throw]]:
        """Yield what the die may show; a one ends the turn with nothing."""
        own = state.second if state.player else state.first
        if action == 0:
            if state.player == 0:
                yield 1.0, Throw(1, state.first + state.turn, state.second, 0)
            else:
                yield 1.0, Throw(0, state.first, state.second + state.turn, 0)
        elif self.throws and state.turn >= 0:
            yield 1.0, Throw(state.player, state.first, state.second, -1 - state.turn)
        else:
            yield 1 / 6, Throw(1 - state.player, state.first, state.second, 0)
            turn = state.turn if state.turn >= 0 else -1 - state.turn
            for die in range(2, 7):
                after = min(turn + die, self.goal - own)
                yield 1 / 6, Throw(state.player, state.first, state.second, after)

    def payoff(self, state: Throw, player: int) -> float:
        """Return 1 for the player who has reached the goal."""
        won = state.first >= self.goal if player == 0 else state.second >= self.goal
        return 1.0 if won else 0.0


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
    chances = random.integers(1, 100, (choices, branches)).astype(np.float64)
    chances /= chances.sum(axis=1, keepdims=True)
    return {
        "choice_offsets": np.arange(states + 1) * actions,
        "transition_offsets": np.arange(choices + 1) * branches,
        "successors": successors.ravel(),
        "probabilities": chances.ravel(),
        "rewards": random.random(choices),
    }
