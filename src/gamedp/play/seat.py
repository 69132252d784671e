"""A seat at the board: one player, in one game after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np

__all__ = ["Fault", "Forfeit", "Seat"]


@attrs.frozen
class Forfeit:
    """How a program has lost a game without playing it to the end.

    Attributes
    ----------
    player : int
        Who has lost.
    reason : str
        ``"no start"``, ``"disconnect"``, ``"time"``, ``"illegal action"`` or ``"protocol error"``.
    detail : str
        What happened, as a sentence.
    """

    player: int
    reason: str
    detail: str


class Fault(Exception):  # noqa: N818 - it is the program's, not an error of whoever calls
    """A program has done what loses it the game."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


class Seat:
    """Chooses the actions of one player."""

    def begin(self, number: int) -> None:
        """Get ready for a game as this player of it; raise Fault if that cannot be."""

    def choose(self, state: Any, actions: Sequence[int], rng: np.random.Generator) -> int:
        """Return one of several actions; raise Fault for a program that does not."""
        raise NotImplementedError  # what each kind of player has of its own

    def end(self, payoffs: Sequence[float] | None, forfeit: Forfeit | None) -> None:
        """Learn how the game has ended."""

    def close(self) -> None:
        """Leave the board for good."""
