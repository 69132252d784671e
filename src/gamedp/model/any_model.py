"""What can be asked of any model, of an ordinary game or of a staged one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    import numpy as np
    from numpy.typing import NDArray

__all__ = ["AnyModel"]


class AnyModel(Protocol):
    """What a model of an ordinary game and one of a staged game have in common."""

    @property
    def num_players(self) -> int:
        """How many players there are."""

    @property
    def constant_sum(self) -> float:
        """What the payoffs of two players add up to."""

    @property
    def num_states(self) -> int:
        """How many states there are; of a staged game, combinations in the box of contexts."""

    @property
    def initial_states(self) -> NDArray[np.int64]:
        """Where play begins."""

    @property
    def initial_probabilities(self) -> NDArray[np.float64]:
        """How likely, with a minus sign where the players have changed places."""

    @property
    def fractions(self) -> Mapping[str, NDArray[Any]]:
        """Arrays again with the Fractions that were given, where no doubles are equal to them."""

    def state(self, index: int) -> Any:
        """Return the game's own state with that number."""

    def index(self, state: Hashable) -> tuple[int, bool]:
        """Return the number of a state's representative, and whether the players are swapped."""

    def digest(self) -> str:
        """Return what is equal for equal models alone."""
