"""A game of any number of players as an environment of PettingZoo; imported where that is used."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from pettingzoo import AECEnv

from gamedp.adapters.gymnasium_environment import (
    RENDER_MODES,
    checked_render_mode,
    number_of,
    space_of,
)
from gamedp.adapters.positions import Positions, Seating, drawn
from gamedp.errors import InvalidParameterError


class GameForAgents(AECEnv[str, Any, Any]):
    """The environment that :func:`gamedp.adapters.as_pettingzoo` returns.

    Attributes
    ----------
    positions : Positions
        The model that is played, in `positions.model`, and the game's own number of each action, in
        `positions.labels`.
    """

    def __init__(self, positions: Positions, *, render_mode: str | None = None) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # PettingZoo's own
        self.metadata = {
            "name": f"{positions.name.lower()}_v0",
            "render_modes": list(RENDER_MODES),
            "is_parallelizable": False,
        }
        self.positions = positions
        self.render_mode = checked_render_mode(render_mode)
        self.possible_agents = [f"player_{n}" for n in range(positions.model.num_players)]
        self.agents = []
        count = len(positions.labels)
        self.observation_spaces = {agent: space_of(positions) for agent in self.possible_agents}
        self.action_spaces = {
            agent: gymnasium.spaces.Discrete(count) for agent in self.possible_agents
        }
        self._rng = np.random.default_rng()
        self._position: Seating | None = None

    def observation_space(self, agent: str) -> Any:
        """Return the space of what a player observes: the same for all."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """Return the space of a player's actions: those of all states and players."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:  # noqa: ARG002 - PettingZoo's signature
        """Begin a game."""
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._skip_agent_selection = None  # type: ignore[assignment]  # as AECEnv has it
        self._go_to(drawn(self.positions.starts, self._rng))

    def step(self, action: Any) -> None:
        """Take an action of the player to move; None where the game is over for that player.

        Raises
        ------
        InvalidParameterError
            If the action is not possible.
        """
        positions, position = self.positions, self._position
        if position is None or not self.agents:
            message = "there is no game to go on with; call reset() first."
            raise InvalidParameterError(message)
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        choice = positions.choices(position).get(number_of(action))
        if choice is None:
            raise positions.refused(position, action, 'info["action_mask"]')
        following = drawn(positions.outcomes(position, choice), self._rng)
        received = positions.received(position, choice, following)
        self._cumulative_rewards[agent] = 0.0
        self.rewards = dict(zip(self.agents, received, strict=True))
        self._go_to(following)
        self._accumulate_rewards()
        if positions.is_over(following):
            self.terminations = dict.fromkeys(self.agents, True)
            self._deads_step_first()

    def observe(self, agent: str) -> Any:  # noqa: ARG002 - everyone sees everything
        """Return the observation of a player: all see the whole state."""
        if self._position is None:
            return None
        return self.positions.observation(self._position)

    def state(self) -> Any:
        """Return the present state, as the game has it; None before the first game."""
        if self._position is None:
            return None
        return self.positions.model.state(self._position.state)

    def render(self) -> Any:
        """Return the state as text if the render mode is "ansi"."""
        if self.render_mode is None or self._position is None:
            return None
        return self.positions.render(self._position)

    def close(self) -> None:
        """Do nothing: nothing is open."""

    def _go_to(self, position: Seating) -> None:
        """Make a position the present one."""
        self._position = position
        mover = self.possible_agents[self.positions.mover(position)]
        self.agent_selection = mover
        nothing = np.zeros(len(self.positions.labels), np.int8)
        self.infos = {agent: {"action_mask": nothing.copy()} for agent in self.agents}
        self.infos[mover] = {"action_mask": self.positions.mask(position)}
