"""A game as one of OpenSpiel; imported only where OpenSpiel is used."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyspiel
from open_spiel.python.observation import IIGObserverForPublicInfoGame

from gamedp.adapters.positions import Positions, Seating
from gamedp.errors import InvalidParameterError, UnsupportedProblemError, shown

ENDLESS_MOVES = 1 << 30
"""Stated largest number of moves of a game that may go on for ever."""


class GameForOpenSpiel(pyspiel.Game):  # type: ignore[misc]  # compiled, without annotations
    """The game that :func:`gamedp.adapters.as_openspiel` returns.

    Attributes
    ----------
    positions : Positions
        The model that is played, in `positions.model`, and the game's own number of each action, in
        `positions.labels`.
    less : float
        The part of every player's payoff that is left out: half of the constant sum, or 0.
    pays_on_the_way : bool
        Whether there are rewards before the end.
    """

    def __init__(self, positions: Positions, *, zero_sum: bool) -> None:
        model = positions.model
        players = model.num_players
        total = model.constant_sum if players == 2 and not model.is_general_sum else None
        if zero_sum and total is None:
            message = (
                f"{positions.name} has no sum of zero: that takes two opponents, whose payoffs "
                "have a constant sum."
            )
            raise UnsupportedProblemError(message)
        self.positions = positions
        self.pays_on_the_way = bool(np.any(model.rewards))
        self.less = total / 2 if zero_sum and total else 0.0
        total = 0.0 if zero_sum else total
        types = pyspiel.GameType
        super().__init__(
            types(
                short_name=f"gamedp_{positions.name}",
                long_name=positions.name,
                dynamics=types.Dynamics.SEQUENTIAL,
                chance_mode=types.ChanceMode.EXPLICIT_STOCHASTIC
                if _has_chance(positions)
                else types.ChanceMode.DETERMINISTIC,
                information=types.Information.PERFECT_INFORMATION,
                utility=types.Utility.GENERAL_SUM
                if total is None
                else types.Utility.CONSTANT_SUM
                if total
                else types.Utility.ZERO_SUM,
                reward_model=types.RewardModel.REWARDS
                if self.pays_on_the_way
                else types.RewardModel.TERMINAL,
                max_num_players=players,
                min_num_players=players,
                provides_information_state_string=True,
                provides_information_state_tensor=False,
                provides_observation_string=True,
                provides_observation_tensor=True,
                parameter_specification={},
            ),
            self._info(total),
            {},
        )

    def _info(self, total: float | None) -> Any:
        """Return the limits that OpenSpiel wants to know."""
        positions, model = self.positions, self.positions.model
        moves = model.structure.num_levels - 1 if model.structure.is_acyclic else ENDLESS_MOVES
        low, high = self._utilities(moves)
        outcomes = int(np.diff(model.transition_offsets).max(initial=0))
        return pyspiel.GameInfo(
            num_distinct_actions=len(positions.labels),
            max_chance_outcomes=max(outcomes, len(model.initial_states)),
            num_players=model.num_players,
            min_utility=low,
            max_utility=high,
            utility_sum=total,
            max_game_length=moves,
        )

    def _utilities(self, moves: int) -> tuple[float, float]:
        """Return what no player gets less or more than."""
        model = self.positions.model
        payoffs, rewards = model.payoffs - self.less, model.rewards
        if model.num_players == 2 and not model.is_general_sum:
            payoffs = np.append(payoffs, model.constant_sum - self.less - model.payoffs)
            rewards = np.append(rewards, -rewards)
        low, high = float(payoffs.min(initial=math.inf)), float(payoffs.max(initial=-math.inf))
        if not self.pays_on_the_way:
            return (low, high) if model.structure.is_acyclic else (min(low, 0.0), max(high, 0.0))
        if not model.structure.is_acyclic:
            return -math.inf, math.inf
        least, most = float(min(rewards.min(), 0.0)), float(max(rewards.max(), 0.0))
        return low + moves * least, high + moves * most

    def new_initial_state(self, state: Any = None) -> SpielGameState:
        """Return the start of a game."""
        if state is not None:
            message = f"state is {shown(state)}; a game begins at its start alone."
            raise InvalidParameterError(message)
        return SpielGameState(self)

    def value_of(self, state: int, values: Mapping[str, float]) -> float:
        """Return player 0's value of a state of the model, from OpenSpiel's values by text."""
        text = text_of(self.positions, Seating(state, swapped=False))
        if text in values:
            return values[text] + self.less
        # Only visited with the players' places changed, which changes the sign of a zero-sum game.
        return self.less - values[text_of(self.positions, Seating(state, swapped=True))]

    def make_py_observer(
        self, iig_obs_type: Any = None, params: Mapping[str, Any] | None = None
    ) -> Any:
        """Return what shows positions to programs that learn."""
        if iig_obs_type is None or (iig_obs_type.public_info and not iig_obs_type.perfect_recall):
            return Observer(self.positions, params)
        return IIGObserverForPublicInfoGame(iig_obs_type, params)


def text_of(positions: Positions, position: Seating, choice: int | None = None) -> str:
    """Return a position in words; after a choice, it is chance that moves."""
    swapped = ", players swapped" if position.swapped else ""
    drawn = "" if choice is None else f", choice {choice}"
    return f"{positions.render(position)} (state {position.state}{swapped}{drawn})"


def _has_chance(positions: Positions) -> bool:
    model = positions.model
    return len(model.initial_states) > 1 or bool((np.diff(model.transition_offsets) > 1).any())


class SpielGameState(pyspiel.State):  # type: ignore[misc]  # compiled, without annotations
    """A position at which a player moves or chance does, or the end.

    Chance moves first if the start is drawn, and after each action that has several outcomes.

    Attributes
    ----------
    state : hashable
        The state of gamedp that has been reached last; None before the start is drawn.
    """

    def __init__(self, game: GameForOpenSpiel) -> None:
        super().__init__(game)
        self._position: Seating | None = None
        self._choice: int | None = None  # whose outcome is to be drawn
        self._latest = [0.0] * game.positions.model.num_players
        self._returns = [0.0] * game.positions.model.num_players
        starts = self._game.positions.starts
        if len(starts) == 1:
            self._go_to(starts[0][1])

    @property
    def _game(self) -> GameForOpenSpiel:
        """The game, which is not an attribute: those are copied and written with the state."""
        game: GameForOpenSpiel = self.get_game()
        return game

    @property
    def state(self) -> Any:
        """The state of gamedp that has been reached last."""
        return (
            None
            if self._position is None
            else self._game.positions.model.state(self._position.state)
        )

    def _go_to(self, position: Seating) -> None:
        """Make a position the present one."""
        self._position, self._choice = position, None

    def _next(self) -> list[tuple[float, Seating]]:
        """Return what chance decides among, with the probability of each."""
        if self._position is None:
            return self._game.positions.starts
        if self._choice is None:
            return []
        return self._game.positions.outcomes(self._position, self._choice)

    def is_terminal(self) -> bool:
        """Return whether the game is over."""
        return (
            self._position is not None
            and self._choice is None
            and self._game.positions.is_over(self._position)
        )

    def current_player(self) -> int:
        """Return the player to move; OpenSpiel's own number for chance and for the end."""
        if self._position is None or self._choice is not None:
            return int(pyspiel.PlayerId.CHANCE)
        if self.is_terminal():
            return int(pyspiel.PlayerId.TERMINAL)
        return self._game.positions.mover(self._position)

    def _legal_actions(self, player: int) -> list[int]:
        """Return the numbers of the actions of the player to move."""
        if self._position is None or player != self.current_player():
            return []
        return sorted(self._game.positions.choices(self._position))

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return the number and the probability of each outcome."""
        return [(number, chance) for number, (chance, _) in enumerate(self._next())]

    def _apply_action(self, action: int) -> None:
        """Take an action, or an outcome of chance."""
        if self._position is None or self._choice is not None:
            self._arrive(self._next()[action][1])
            return
        choice = self._game.positions.choices(self._position).get(action)
        if choice is None:
            raise self._game.positions.refused(self._position, action, "legal_actions()")
        self._choice = choice
        self._latest = [0.0] * len(self._returns)
        if len(outcomes := self._next()) == 1:
            self._arrive(outcomes[0][1])

    def _arrive(self, following: Seating) -> None:
        """Go where the chosen action has led, and receive what it brings."""
        if self._position is not None and self._choice is not None:
            received = self._game.positions.received(self._position, self._choice, following)
            less = self._game.less if self._game.positions.is_over(following) else 0.0
            self._latest = [each - less for each in received]
            self._returns = [
                had + each for had, each in zip(self._returns, self._latest, strict=True)
            ]
        self._go_to(following)

    def rewards(self) -> list[float]:
        """Return what each player has received for the last action."""
        return list(self._latest)

    def returns(self) -> list[float]:
        """Return what each player has received so far."""
        return list(self._returns)

    def _action_to_string(self, player: int, action: int) -> str:
        """Return an action or an outcome in words."""
        positions, position = self._game.positions, self._position
        if position is not None and player != pyspiel.PlayerId.CHANCE:
            model, choice = positions.model, positions.choices(position)[action]
            (own,) = model.actions_of(choice, choice + 1)
            return model.action_name(own, model.state(position.state))
        return f"outcome {action + 1}: {positions.render(self._next()[action][1])}"

    def __str__(self) -> str:
        """Return the state in words, with the number that distinguishes it."""
        if self._position is None:
            return "start"
        return text_of(self._game.positions, self._position, self._choice)


class Observer:
    """The view of a position for programs that learn: its fields, or its number."""

    def __init__(self, positions: Positions, params: Mapping[str, Any] | None) -> None:
        if params:
            message = f"params is {shown(params)}; there are none for what is observed."
            raise InvalidParameterError(message)
        self._positions = positions
        size = 1 if positions.fields is None else positions.fields.shape[1]
        self.tensor = np.zeros(size, np.float32)
        self.dict = {"observation": self.tensor}

    def set_from(self, state: SpielGameState, player: int) -> None:  # noqa: ARG002 - everyone sees everything
        """Write a position to `tensor`; zeros before the start is drawn."""
        position = state._position  # noqa: SLF001 - both are this file's
        self.tensor[:] = 0 if position is None else self._positions.observation(position)

    def string_from(self, state: SpielGameState, player: int) -> str:  # noqa: ARG002 - likewise
        """Return a position as text."""
        return str(state)
