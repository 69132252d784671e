"""The rest of a game, played for a value of its final total."""

from __future__ import annotations

from typing import Any, NamedTuple

import attrs
import numpy as np
from numpy.typing import NDArray

from gamedp.games.kniffel.remainder import Remainder, RestOfCard, filled_with
from gamedp.games.kniffel.rules import Kniffel, Sheet
from gamedp.games.kniffel.turn import Turn

__all__ = ["ForTotal", "Pace", "PointsForTotal"]


class Pace(NamedTuple):
    """The part of a game's state that determines its final total.

    Attributes
    ----------
    points : int
        The points earned so far.
    upper, boxes, bonus : int
        See :class:`RestOfCard`.
    """

    points: int
    upper: int
    boxes: int
    bonus: int


@attrs.frozen(eq=False, kw_only=True)
class ForTotal(RestOfCard):
    """The rest of a game, played for a value of its final total, as a staged game.

    Parameters
    ----------
    worths : (M+1,) float64
        The value of having earned 0 to M points in the end, or more than M. A context in which M
        points are reached is over.
    first : Sheet
        The sheet at the start. :meth:`of` fills it in, with the fields of the boxes.
    """

    worths: NDArray[np.float64] = attrs.field(repr=False)
    first: Sheet

    @classmethod
    def of(cls, remainder: Remainder, worths: NDArray[np.float64]) -> Any:
        """Return the game of the rest of a sheet."""
        return cls(
            **attrs.asdict(remainder.rules, recurse=False),
            **remainder.fields(),
            worths=worths,
            first=remainder.sheet,
        )

    @property
    def most(self) -> int:
        """The number of points that decides the game."""
        return len(self.worths) - 1

    def contexts(self) -> dict[str, tuple[int, int]]:
        return {
            "points": (0, self.most),
            "upper": self.uppers,
            "boxes": (0, self.all_filled),
            "bonus": self.bonuses,
        }

    def initial_state(self) -> Any:
        return self.starting(0)

    def starting(self, already: int) -> Any:
        """Return the context at the start, if some points count as earned."""
        pace = Pace(min(max(already, 0), self.most), self.first.upper, 0, self.first.bonus)
        return self.canonical(pace)[0]

    def is_state(self, context: Any) -> bool:
        return self.is_sheet(self.sheet(context))

    def is_terminal(self, context: Any) -> bool:
        return bool(context.points == self.most or context.boxes == self.all_filled)

    def payoff(self, context: Any, player: int) -> float:
        bonus = int(self.sheet_payoff(self.sheet(context), player))
        worth: float = self.worths[min(context.points + bonus, self.most)]
        return worth

    def allows(self, context: Any, end: Turn) -> bool:
        return self.sheet_allows(self.sheet(context), end)

    def following(self, context: Any, end: Turn) -> Any:
        sheet = self.sheet(context)
        after = self.sheet_following(sheet, end)
        earned = context.points + int(self.sheet_reward(sheet, end, 0))
        boxes = filled_with(self.masks, context.boxes, after.boxes)
        upper = self.upper_that_matters(after.upper, boxes)
        return Pace(min(earned, self.most), upper, boxes, after.bonus)

    def reward(self, context: Any, end: Turn, player: int) -> float:
        return 0.0

    def canonical(self, context: Any) -> tuple[Any, bool]:
        upper = self.upper_that_matters(context.upper, context.boxes)
        return Pace(context.points, upper, context.boxes, context.bonus), False

    def rank(self, context: Any) -> int:
        return self.sheet_rank(self.sheet(context))

    def render(self, context: Any) -> str:
        return f"{context.points} points earned; {Kniffel.render(self, self.sheet(context))}"


@attrs.frozen(eq=False, kw_only=True)
class PointsForTotal(ForTotal):
    """The same contexts, with the points earned in them, for their distribution."""

    def reward(self, context: Any, end: Turn, player: int) -> float:
        return self.sheet_reward(self.sheet(context), end, player)

    def payoff(self, context: Any, player: int) -> float:
        return self.sheet_payoff(self.sheet(context), player)
