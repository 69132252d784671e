"""The protocol of all models, of ordinary games and of staged ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    import numpy as np
    from numpy.typing import NDArray

__all__ = ["AnyModel"]


class AnyModel(Protocol):
    """The common interface of models of ordinary games and of staged games."""

    @property
    def num_players(self) -> int:
        """The number of players."""

    @property
    def constant_sum(self) -> float:
        """The sum of two players' payoffs."""

    @property
    def num_states(self) -> int:
        """The number of states; for a staged game, of combinations in the box of contexts."""

    @property
    def initial_states(self) -> NDArray[np.int64]:
        """The states in which play begins."""

    @property
    def initial_probabilities(self) -> NDArray[np.float64]:
        """Their probabilities, with a minus sign where the players have changed places."""

    @property
    def fractions(self) -> Mapping[str, NDArray[Any]]:
        """Arrays again, with the Fractions that were given where no doubles are equal to them."""

    def state(self, index: int) -> Any:
        """Return the game's own state with that number."""

    def index(self, state: Hashable) -> tuple[int, bool]:
        """Return the number of a state's representative, and whether the players are swapped."""

    def digest(self) -> str:
        """Return a digest that only equal models share."""
