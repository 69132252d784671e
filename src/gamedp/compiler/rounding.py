"""Exact payments of compiled rules: loops keep the doubles nearest to integers beyond 2**53."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.errors import shown
from gamedp.rules.exactness import LARGE, SEVERAL, as_given, refuse_rounded
from gamedp.rules.game import Rules, method

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.model.model import Model

__all__ = ["payments_of"]


def payments_of(rules: Rules, model: Model, *, compiled: bool) -> dict[str, NDArray[Any]]:
    """Return the exact rewards and payoffs of a model as given by the rules.

    Parameters
    ----------
    rules : Rules
        Asked again, in plain Python, where what is stored may be a rounded integer.
    model : Model
        As it was explored.
    compiled : bool
        Whether the rules were; if they have run as plain Python after all, all is asked.

    Raises
    ------
    InvalidModelError
        If payments of three players or more are no doubles.
    """
    owners = np.repeat(np.arange(model.num_states), np.diff(model.choice_offsets))

    def payoff(place: int, player: int) -> tuple[str, Any]:
        state = model.state(int(model.terminals[place]))
        return f"payoff({shown(state)}, {player})", rules.game.payoff(state, player)

    def reward(choice: int, player: int) -> tuple[str, Any]:
        state, action = model.state(int(owners[choice])), int(model.action_labels[choice])
        earned = method(rules.game, "reward")(rules.game, state, action, player)
        return f"reward({shown(state)}, {action}, {player})", earned

    found = {}
    for name, ask in (("payoffs", payoff), ("rewards", reward)):
        stored = getattr(model, name)
        sizes = np.abs(stored) if stored.ndim == 1 else np.abs(stored).max(axis=1, initial=0.0)
        given = {}
        for place in np.flatnonzero((sizes >= LARGE) | (not compiled)).tolist():
            for player in range(rules.num_players if rules.num_players > 2 else 1):
                words, given[place] = ask(place, player)
                if rules.num_players > 2:
                    refuse_rounded(given[place], words, SEVERAL)
        found[name] = stored
        if given and stored.ndim == 1:
            numbers = stored.tolist()
            for place, number in given.items():
                numbers[place] = number
            found[name] = as_given(numbers)
    return found
