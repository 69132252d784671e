"""How the computer chooses: by a table, a search, at random, or mistaken now and then."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from gamedp.web.requests import Player
    from gamedp.web.values import Values

__all__ = ["chosen_action"]


def chosen_action(
    player: Player, actions: Sequence[int], values: Values | None, rng: np.random.Generator
) -> int:
    """Return the action that the computer takes.

    Parameters
    ----------
    player : Player
    actions : sequence of int
        All that there are.
    values : Values or None
        What is known of them; None for a player at random, and where there is but one action.
    rng : numpy.random.Generator
        Decides among equally good ones, and where the player is mistaken.
    """
    mistaken = player.chance is not None and rng.random() < player.chance
    among: Sequence[int] = () if values is None or mistaken else values.choose()
    among = among or actions
    return int(among[int(rng.integers(len(among)))])
