"""A game of one player as an environment of Gymnasium; imported only where Gymnasium is used."""

from __future__ import annotations

import operator
from typing import Any, Literal

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec

from gamedp.adapters.positions import Positions, Seating, drawn
from gamedp.errors import InvalidParameterError, UnsupportedProblemError, shown

RENDER_MODES = ("ansi",)


class GameEnvironment(gymnasium.Env[Any, Any]):
    """The environment that :func:`gamedp.adapters.as_environment` returns.

    Attributes
    ----------
    positions : Positions
        The model that is played, in `positions.model`, and the game's own number of each action, in
        `positions.labels`.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 1}  # noqa: RUF012 - Gymnasium's own way

    def __init__(
        self,
        positions: Positions,
        *,
        illegal: Literal["error", "stay"] = "error",
        render_mode: str | None = None,
    ) -> None:
        model = positions.model
        if model.num_players != 1:
            message = (
                f"an environment of Gymnasium has one player, and this game {model.num_players}; "
                "gamedp.adapters.as_pettingzoo(game) makes one for all of them."
            )
            raise UnsupportedProblemError(message)
        if illegal not in ("error", "stay"):
            message = f'illegal is {shown(illegal)}; it must be "error" or "stay".'
            raise InvalidParameterError(message)
        self.positions = positions
        self.render_mode = checked_render_mode(render_mode)
        self.observation_space = space_of(positions)
        self.action_space = gymnasium.spaces.Discrete(len(positions.labels))
        maker: Any = GameEnvironment  # with options of its own
        # By this, Gymnasium makes it again: for checks, and several of them side by side.
        self.spec = EnvSpec(
            id=f"gamedp/{positions.name}-v0",
            entry_point=maker,
            kwargs={"positions": positions, "illegal": illegal, "render_mode": render_mode},
        )
        self._illegal = illegal
        self._position: Seating | None = None

    @property
    def state(self) -> Any:
        """The present state, as the game has it; None before the first reset."""
        if self._position is None:
            return None
        return self.positions.model.state(self._position.state)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode; return the observation and the actions that are possible."""
        super().reset(seed=seed, options=options)
        self._position = drawn(self.positions.starts, self.np_random)
        return self._seen(self._position)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take an action; the payoff of the game comes with the step that ends it.

        Raises
        ------
        InvalidParameterError
            If the action is not possible, unless ``illegal="stay"``; or the episode is over.
        """
        positions, position = self.positions, self._position
        if position is None or positions.is_over(position):
            message = "there is no episode to go on with; call reset() first."
            raise InvalidParameterError(message)
        choice = positions.choices(position).get(number_of(action))
        reward = 0.0
        if choice is None:
            if self._illegal == "error":
                remedy = ' With illegal="stay", it would change nothing and earn 0.'
                raise positions.refused(position, action, 'info["action_mask"]', remedy)
        else:
            self._position = drawn(positions.outcomes(position, choice), self.np_random)
            (reward,) = positions.received(position, choice, self._position)
            position = self._position
        observation, info = self._seen(position)
        return observation, reward, positions.is_over(position), False, info

    def render(self) -> Any:
        """Return the state as text if the render mode is "ansi"."""
        if self.render_mode is None or self._position is None:
            return None
        return self.positions.render(self._position)

    def _seen(self, position: Seating) -> tuple[Any, dict[str, Any]]:
        mask = self.positions.mask(position)
        return self.positions.observation(position), {"action_mask": mask}


def checked_render_mode(render_mode: Any) -> str | None:
    """Return a render mode; raise InvalidParameterError if it does not exist."""
    if render_mode is None or render_mode in RENDER_MODES:
        return render_mode  # type: ignore[no-any-return]
    message = f'render_mode is {shown(render_mode)}; it must be "ansi" or None.'
    raise InvalidParameterError(message)


def space_of(positions: Positions) -> Any:
    """Return the space of observations: a box with the range of each field, or the indices."""
    fields = positions.fields
    if fields is None:
        return gymnasium.spaces.Discrete(positions.model.num_states)
    low, high = fields.min(axis=0), fields.max(axis=0)
    # Where a field never changes, checkers take a box that holds nothing else for a mistake.
    return gymnasium.spaces.Box(low, np.maximum(high, low + 1), dtype=np.int64)


def number_of(action: Any) -> int:
    """Return an action as an int; -1 if it is not an action."""
    try:
        return operator.index(action)
    except TypeError:
        return -1
