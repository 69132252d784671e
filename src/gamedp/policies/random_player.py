"""A player who takes random actions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    import numpy as np

__all__ = ["RandomPlayer"]


@attrs.frozen
class RandomPlayer:
    """A player who takes a random action, all equally likely.

    Parameters
    ----------
    game
        The game that is played.

    Examples
    --------
    >>> import numpy as np
    >>> from gamedp.games.matches import Matches, MatchesState
    >>> RandomPlayer(Matches())(MatchesState(0, 1), np.random.default_rng(0))
    1
    """

    game: Any

    def __call__(self, state: Any, rng: np.random.Generator) -> int:
        """Return an action in `state`."""
        actions = list(self.game.actions(state))
        return int(actions[rng.integers(len(actions))])
