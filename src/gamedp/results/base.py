"""The base class of all kinds of solutions."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Hashable
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

import attrs
import numpy as np
from numpy.typing import NDArray

from gamedp.errors import UnsupportedProblemError, shown
from gamedp.model.objectives import AnyModel, Objective, TotalReward, has_target, sum_of_values
from gamedp.results.start import bounds_at_start, mean_at_start
from gamedp.results.status import Guarantee, Statistics, Status, check_player, opposite_bounds
from gamedp.runtime.notebook import html_table

__all__ = ["BaseSolution", "Numbers", "hint_of"]

Numbers: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]
"""Values, lower and upper bounds."""


ModelT = TypeVar("ModelT", bound=AnyModel)


@attrs.frozen(eq=False, kw_only=True, repr=False)
class BaseSolution(Generic[ModelT]):
    """Values between bounds, with their model, objective, status and guarantee.

    Attributes
    ----------
    model
    objective : Objective
        The meaning of the values.
    solver : object
        The solver with its options.
    values : float64
        The states lie along the first axis.
    status : Status
        Why the solver stopped.
    guarantee : Guarantee
        The guarantee that the bounds carry.
    statistics : Statistics
    """

    counted: ClassVar[str] = "states"
    """The plural noun for the items that have values."""

    model: ModelT
    objective: Objective
    solver: Any
    values: NDArray[np.float64]
    status: Status
    guarantee: Guarantee
    statistics: Statistics

    @abstractmethod
    def _numbers(self, states: NDArray[np.int64]) -> Numbers:
        """Return values, lower and upper bounds of player 0 (or each player) in some states."""

    @property
    @abstractmethod
    def width(self) -> float:
        """The largest distance of an upper from a lower bound."""

    def value(self, state: Hashable | None = None, player: int = 0) -> float:
        """Return what `player` can expect in `state`, or from the start.

        The probabilities of several initial states count as they were given, Fractions exactly and
        floats as stored, scaled to sum to one.

        Raises
        ------
        UnknownStateError
            If the model has no such state.
        """
        check_player(self.model.num_players, player)
        if state is None:
            values = self._numbers(self.model.initial_states)[0]
            number = mean_at_start(self.model, values, values, player, total=self._start_sum)
            other_side = player == 1 and values.ndim == 1
        else:
            (number, _, _), other_side = self._at_state(state, player)
        return self._sum - number if other_side else number

    def bounds(self, state: Hashable | None = None, player: int = 0) -> tuple[float, float]:
        """Return (lower, upper) of what `player` can expect in `state`, or from the start.

        If there are several initial states, probabilities given as Fractions count exactly. Floats
        count to two units in the last place, as the probabilities of outcomes do.
        """
        check_player(self.model.num_players, player)
        if state is None:
            _, lower, upper = self._numbers(self.model.initial_states)
            low, high = bounds_at_start(self.model, lower, upper, player, total=self._start_sum)
            other_side = player == 1 and lower.ndim == 1
        else:
            (_, low, high), other_side = self._at_state(state, player)
        if other_side:
            low, high = opposite_bounds(self._sum, low, high)
        return min(low, high), max(low, high)

    def _at_state(self, state: Hashable, player: int) -> tuple[tuple[float, float, float], bool]:
        """Return value and bounds in a state, and whether they are the other player's."""
        index, swapped = self._index(state)
        numbers = self._numbers(np.array([index]))
        if numbers[0].ndim > 1:
            value, low, high = (float(array[0, player]) for array in numbers)
            return (value, low, high), False
        value, low, high = (float(array[0]) for array in numbers)
        return (value, low, high), swapped ^ (player == 1)

    def _index(self, state: Hashable) -> tuple[int, bool]:
        """Return the index of a state's representative and whether the players are swapped."""
        index, swapped = self.model.index(state)
        self._check_side(state, index, swapped)
        return index, swapped

    def _check_side(self, state: Hashable, index: int, swapped: bool) -> None:
        """Raise if the objective has no value for a state whose players have changed places."""
        if swapped and has_target(self.objective):
            message = (
                f"{type(self.objective).__name__} names its states as representatives, and "
                f"{shown(state)} is represented by {shown(self.model.state(index))} with the "
                "players' places changed: it has no value of this objective. Ask for the "
                "representative."
            )
            raise UnsupportedProblemError(message)

    @property
    def _sum(self) -> float:
        """The sum of the two players' values."""
        total = sum_of_values(self.objective, self.model.constant_sum)
        if total is None:
            message = (
                f"with constant_sum={self.model.constant_sum:g}, the values of the two players do "
                f"not add up to a constant under {self.objective!r}: a payoff may count less, or "
                "not at all. Ask for player 0, in states whose places are not changed "
                "(canonical); or solve the game with the other player as player 0."
            )
            raise UnsupportedProblemError(message)
        return total

    @property
    def _start_sum(self) -> float:
        """The same for the start; only computed if some initial state is swapped."""
        return self._sum if (self.model.initial_probabilities < 0).any() else 0.0

    def __repr__(self) -> str:
        """Return the value at the start, its bounds and the guarantee behind them."""
        low, high = self.bounds()
        hint = hint_of(self)
        return (
            f"<{type(self).__name__} value={self.value()!r} lower={low!r} upper={high!r} "
            f"guarantee={self.guarantee.name} status={self.status.name}{hint and '; '}{hint}>"
        )

    def _repr_html_(self) -> str:
        """Return a small table for notebooks."""
        low, high = self.bounds()
        hint = hint_of(self)
        rows = {
            "value": f"{self.value()!r}",
            "bounds": f"{low!r} … {high!r}",
            "guarantee": self.guarantee.value,
            "status": self.status.value,
            "solver": repr(self.solver),
            self.counted: f"{self.statistics.states:,}",
            **({"hint": hint} if hint else {}),
        }
        return html_table(rows)


def hint_of(solution: BaseSolution[Any]) -> str:
    """Return advice if the total from the start is infinite; empty if it is finite.

    Also empty if the objective has targets: then an infinite total means that they may be missed.
    """
    objective = solution.objective
    if not isinstance(objective, TotalReward) or objective.until is not None:
        return ""
    players = range(solution.model.num_players if solution.model.num_players > 2 else 1)
    if all(math.isfinite(solution.value(player=player)) for player in players):
        return ""
    if solution.guarantee is Guarantee.NONE:
        return ""
    return (
        "the total is infinite, for play earns or loses without end; a discount (Discounted) or "
        "the average per step (AverageReward) tells such plays apart"
    )
