"""A game whose rules are tables: any model, written as rules that compile."""

# Without `from __future__ import annotations`: attrs reads the annotations of the fields.

from collections.abc import Iterator
from typing import Any, NamedTuple

import attrs
import numpy as np
from numpy.typing import ArrayLike, NDArray

import gamedp


class Place(NamedTuple):
    """A state of the tables; on side 1 the two players have exchanged places."""

    side: int
    number: int


def _integers(values: ArrayLike) -> NDArray[np.int64]:
    return np.array(values, np.int64)


def _floats(values: ArrayLike) -> NDArray[np.float64]:
    return np.array(values, np.float64)


TABLE: dict[str, Any] = {
    "eq": attrs.cmp_using(np.array_equal),
    "hash": False,
    "repr": False,
}
"""Options of a field that is an array."""


@attrs.frozen(kw_only=True)
class TableGame:
    """The rules of a model: compiled, they give the model again.

    An action is the number of the choice among those of its state. Where players change places on a
    transition, the game goes on at side 1, and `canonical` turns it back.

    Parameters
    ----------
    choice_offsets, transition_offsets, successors, probabilities, players : array_like
        As in :class:`gamedp.Model`.
    rewards : (C, 1) or (C, N) array_like
    payoffs : (S, 1) or (S, N) array_like
        Of player 0, or of all N where each has their own; zero where a state is not terminal.
    start : tuple of (probability, state)
        Signed as the probabilities are.
    num_players : int
    constant_sum : float or None

    Examples
    --------
    >>> import gamedp
    >>> model = gamedp.Model.from_arrays(
    ...     [0, 1, 1], [0, 2], [0, 1], [0.25, 0.75], terminals=[1], payoffs=[3.0]
    ... )
    >>> game = TableGame.of(model)
    >>> list(game.outcomes(Place(0, 0), 0))
    [(0.25, Place(side=0, number=0)), (0.75, Place(side=0, number=1))]
    """

    choice_offsets: NDArray[np.int64] = attrs.field(converter=_integers, **TABLE)
    transition_offsets: NDArray[np.int64] = attrs.field(converter=_integers, **TABLE)
    successors: NDArray[np.int64] = attrs.field(converter=_integers, **TABLE)
    probabilities: NDArray[np.float64] = attrs.field(converter=_floats, **TABLE)
    rewards: NDArray[np.float64] = attrs.field(converter=_floats, **TABLE)
    players: NDArray[np.int64] = attrs.field(converter=_integers, **TABLE)
    payoffs: NDArray[np.float64] = attrs.field(converter=_floats, **TABLE)
    start: tuple[tuple[float, int], ...]
    num_players: int = 1
    constant_sum: float | None = 0.0

    @classmethod
    def of(cls, model: gamedp.Model) -> "TableGame":
        """Return the rules of a model."""
        own = model.is_general_sum
        columns = model.num_players if own else 1
        payoffs = np.zeros((model.num_states, columns))
        payoffs[model.terminals] = model.payoffs.reshape(-1, columns)
        return cls(
            choice_offsets=model.choice_offsets,
            transition_offsets=model.transition_offsets,
            successors=model.successors,
            probabilities=model.probabilities,
            rewards=model.rewards.reshape(-1, columns),
            players=model.players,
            payoffs=payoffs,
            start=tuple(
                zip(
                    model.initial_probabilities.tolist(), model.initial_states.tolist(), strict=True
                )
            ),
            num_players=model.num_players,
            constant_sum=None if own and model.num_players == 2 else model.constant_sum,
        )

    def initial_state(self) -> list[tuple[float, Place]]:
        """Return the initial distribution."""
        return [(abs(chance), Place(int(chance < 0), number)) for chance, number in self.start]

    def is_terminal(self, state: Place) -> bool:
        """Return whether there is no choice."""
        return bool(self.choice_offsets[state.number] == self.choice_offsets[state.number + 1])

    def player(self, state: Place) -> int:
        """Return the player to move."""
        mover = int(self.players[state.number])
        return 1 - mover if state.side == 1 else mover

    def actions(self, state: Place) -> Iterator[int]:
        """Yield the numbers of the choices."""
        first = self.choice_offsets[state.number]
        for choice in range(first, self.choice_offsets[state.number + 1]):
            yield int(choice - first)

    def outcomes(self, state: Place, action: int) -> Iterator[tuple[float, Place]]:
        """Yield the transitions of a choice."""
        choice = self.choice_offsets[state.number] + action
        for place in range(self.transition_offsets[choice], self.transition_offsets[choice + 1]):
            chance = float(self.probabilities[place])
            side = 1 - state.side if chance < 0 else state.side
            yield abs(chance), Place(side, int(self.successors[place]))

    def reward(self, state: Place, action: int, player: int) -> float:
        """Return the reward in the table, or its negative for the opponent."""
        choice = self.choice_offsets[state.number] + action
        if self.constant_sum is None or self.num_players > 2:
            return float(self.rewards[choice, player])
        reward = float(self.rewards[choice, 0])
        return reward if player == state.side else -reward

    def payoff(self, state: Place, player: int) -> float:
        """Return the payoff in the table, or what it leaves for the opponent."""
        if self.constant_sum is None or self.num_players > 2:
            return float(self.payoffs[state.number, player])
        payoff = float(self.payoffs[state.number, 0])
        return payoff if player == state.side else self.constant_sum - payoff

    def canonical(self, state: Place) -> tuple[Place, bool]:
        """Map side 1 to side 0."""
        return Place(0, state.number), state.side == 1
