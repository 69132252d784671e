"""A seat: one player, in successive games."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np

__all__ = ["Fault", "Forfeit", "Seat"]


@attrs.frozen
class Forfeit:
    """A game that a program has lost without playing it to the end.

    Attributes
    ----------
    player : int
        The loser.
    reason : str
        ``"no start"``, ``"disconnect"``, ``"time"``, ``"illegal action"`` or ``"protocol error"``.
    detail : str
        What happened, as a sentence.
    """

    player: int
    reason: str
    detail: str


class Fault(Exception):  # noqa: N818 - it is the program's, not an error of whoever calls
    """Raised when a fault of a program loses it the game."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


class Seat:
    """Chooses the actions of one player."""

    def begin(self, number: int) -> None:
        """Prepare for a game as this player; raise Fault if that is impossible."""

    def choose(self, state: Any, actions: Sequence[Any], rng: np.random.Generator) -> Any:
        """Return one of the actions; raise Fault if a program does not."""
        raise NotImplementedError  # implemented by each kind of player

    def end(self, payoffs: Sequence[float] | None, forfeit: Forfeit | None) -> None:
        """Receive the end of the game."""

    def close(self) -> None:
        """Leave the seat permanently."""
