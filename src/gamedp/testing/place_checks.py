"""Checks of where a game says that its positions stand in tables."""

from __future__ import annotations

from typing import Any

import numpy as np

import gamedp
from gamedp.errors import shown
from gamedp.testing.complaints import Complaints

TABLES = "positions are where tables look for them"
"""The name of the check."""

DRAWN = 200
"""Number of places that are drawn at random, whether play leads there or not."""


def can_have_tables(game: Any) -> bool:
    """Return whether a game says in which order its positions can be valued, and where they are."""
    return hasattr(game, "tier") and (hasattr(game, "box") or hasattr(game, "tier_size"))


class PlaceChecks:
    """Asks a game for the places of positions; of one that has none, nothing."""

    def __init__(self, game: Any, complaints: Complaints) -> None:
        self._game = game
        self._complaints = complaints
        self._places: gamedp.tables.Places | None = None
        if not can_have_tables(game):
            return
        try:
            self._places = gamedp.tables.Places(game)
        except gamedp.UnsupportedProblemError as error:
            complaints.omit(TABLES, str(error))
        except Exception as error:  # noqa: BLE001 - whatever the rules may raise
            complaints.add(TABLES, str(error))

    def check(self, state: Any) -> None:
        """Check where a position stands, and those that its actions lead to."""
        if self._places is None:
            return
        try:
            if not self._game.is_terminal(state):
                self._places.check(state)
        except gamedp.InvalidModelError as error:
            self._complaints.add(TABLES, str(error))
        except Exception as error:  # noqa: BLE001 - whatever the rules may raise
            words = f"around {shown(state)}, the rules raise {type(error).__name__}: {error}"
            self._complaints.add(TABLES, words)

    def check_drawn(self) -> None:
        """Check the positions at some places drawn at random."""
        if self._places is None:
            return
        try:
            for state in self._places.drawn(DRAWN, np.random.default_rng(0)):
                self.check(state)
        except gamedp.InvalidModelError as error:
            self._complaints.add(TABLES, str(error))
