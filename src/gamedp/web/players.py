"""The computer's choice: by a table, a search, at random, or with occasional mistakes."""

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
        All legal actions.
    values : Values or None
        Their values; None for a random player, and if there is only one action.
    rng : numpy.random.Generator
        Decides among equally good actions, and whether the player makes a mistake.
    """
    mistaken = player.chance is not None and rng.random() < player.chance
    among: Sequence[int] = () if values is None or mistaken else values.choose()
    among = among or actions
    return int(among[int(rng.integers(len(among)))])
