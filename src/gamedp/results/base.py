"""What solutions of all kinds have in common."""

from __future__ import annotations

import html
import math
from abc import abstractmethod
from collections.abc import Hashable
from typing import Any, ClassVar, Generic, TypeVar

import attrs
import numpy as np
from numpy.typing import NDArray

from gamedp.model.model import AnyModel
from gamedp.model.objectives import Objective, TotalReward
from gamedp.results.status import Guarantee, Statistics, Status

__all__ = ["BaseSolution", "hint_of"]


ModelT = TypeVar("ModelT", bound=AnyModel)


@attrs.frozen(eq=False, kw_only=True, repr=False)
class BaseSolution(Generic[ModelT]):
    """Values between bounds, what they are of, and what they rest on.

    Attributes
    ----------
    model
    objective : Objective
        What the values mean.
    solver : object
        The solver with its options.
    values : float64
        The first axis is that of the states.
    status : Status
        How far the solver got.
    guarantee : Guarantee
        What one may rely on.
    statistics : Statistics
    """

    counted: ClassVar[str] = "states"
    """What the values are of, in words."""

    model: ModelT
    objective: Objective
    solver: Any
    values: NDArray[np.float64]
    status: Status
    guarantee: Guarantee
    statistics: Statistics

    @abstractmethod
    def value(self, state: Hashable | None = None, player: int = 0) -> float:
        """Return what `player` can expect in `state`, or from the start."""

    @abstractmethod
    def bounds(self, state: Hashable | None = None, player: int = 0) -> tuple[float, float]:
        """Return (lower, upper) of what `player` can expect in `state`, or from the start."""

    def __repr__(self) -> str:
        """Give the value at the start, its bounds and what they rest on."""
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
        cells = "".join(
            f"<tr><th>{key}</th><td>{html.escape(text)}</td></tr>" for key, text in rows.items()
        )
        return f"<table>{cells}</table>"


def hint_of(solution: BaseSolution[Any]) -> str:
    """Return what to ask instead where the total from the start is infinite; empty if it is not.

    Not where the objective has targets: there it says that they may be missed.
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
