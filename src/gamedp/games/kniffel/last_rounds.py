"""The last rounds of two players, solved exactly: each decision takes both cards into account.

They take turns until both cards are full; then the higher total wins. The opponent either plays for
points, whatever happens, or for his own victory. A table over both cards is small enough only when
few boxes are free: about two or three on each.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import attrs
import numpy as np
from numpy.typing import NDArray

from gamedp.games.kniffel.either_turn import HIS, EitherTurn, MyTurnOrHisResult
from gamedp.games.kniffel.remainder import RestOfCard, filled_with
from gamedp.games.kniffel.rules import Kniffel, Sheet
from gamedp.games.kniffel.turn import Turn

__all__ = ["AgainstOpponent", "AgainstPoints", "LastRounds", "Standing"]


class Standing(NamedTuple):
    """The standing of two players.

    Attributes
    ----------
    his_turn : int
        1 if the next turn is his.
    lead : int
        My points minus his, without the bonuses for upper parts that are still to be paid.
    upper, boxes, bonus : int
        My sheet, as in :class:`RestOfCard`.
    his_upper, his_boxes, his_bonus : int
        His sheet, likewise; if he plays for points, `his_boxes` is the number of his sheet, and the
        others are 0.
    """

    his_turn: int
    lead: int
    upper: int
    boxes: int
    bonus: int
    his_upper: int
    his_boxes: int
    his_bonus: int


@attrs.frozen(eq=False, kw_only=True)
class LastRounds(RestOfCard):
    """The remaining rounds of two players under the same rules: the base of both kinds.

    The fields of the base class are those of my sheet.

    Parameters
    ----------
    draw : float
        The value of a draw for me; a victory counts 1.
    start : Standing
    leads : (int, int)
        The range of leads that are distinguished; beyond it the game is decided.
    """

    draw: float
    start: Standing
    leads: tuple[int, int] = attrs.field(repr=False)

    @property
    def least_lead(self) -> int:
        """The lead with which the game is lost."""
        return self.leads[0]

    @property
    def largest_lead(self) -> int:
        """The lead with which the game is won."""
        return self.leads[1]

    def initial_state(self) -> Any:
        return self.start

    def clipped(self, lead: int) -> int:
        """Return a lead within the range."""
        return min(max(lead, self.least_lead), self.largest_lead)

    def worth(self, lead: int) -> float:
        """Return the value of a final lead."""
        if lead == 0:
            return self.draw
        return 1.0 if lead > 0 else 0.0

    def he_is_full(self, context: Any) -> bool:
        """Return whether all his boxes are filled."""
        raise NotImplementedError  # abstract: each kind of opponent has its own boxes

    def has_mover(self, context: Any) -> bool:
        """Return whether the player to move has a free box; I am to move when both have none."""
        if context.his_turn == 1:
            return not self.he_is_full(context)
        return self.he_is_full(context) or bool(context.boxes < self.all_filled)

    def is_terminal(self, context: Any) -> bool:
        return bool(context.boxes == self.all_filled) and self.he_is_full(context)

    def after_my_turn(self, context: Any, end: Turn) -> tuple[int, int, int, int]:
        """Return the lead and the fields of my sheet after my turn."""
        sheet = self.sheet(context)
        after = self.sheet_following(sheet, end)
        lead = context.lead + int(self.sheet_reward(sheet, end, 0))
        boxes = filled_with(self.masks, context.boxes, after.boxes)
        return lead, self.upper_that_matters(after.upper, boxes), boxes, after.bonus

    def reward(self, context: Any, end: Any, player: int) -> float:
        return 0.0


@attrs.frozen(eq=False, kw_only=True)
class AgainstPoints(LastRounds):
    """The last rounds against an opponent who plays for points.

    Parameters
    ----------
    his : tuple of arrays
        As for :class:`MyTurnOrHisResult`.
    free : (H,) int64
        The number of free boxes on each of his sheets.
    """

    his: tuple[NDArray[Any], ...] = attrs.field(repr=False)
    free: NDArray[np.int64] = attrs.field(repr=False)

    def stage(self) -> Any:
        offsets, probabilities, followings, earned = self.his
        return MyTurnOrHisResult(
            **attrs.asdict(Kniffel.stage(self), recurse=False),
            offsets=offsets,
            probabilities=probabilities,
            followings=followings,
            earned=earned,
        )

    def contexts(self) -> dict[str, tuple[int, int]]:
        return {
            "his_turn": (0, 1),
            "lead": self.leads,
            "upper": self.uppers,
            "boxes": (0, self.all_filled),
            "bonus": self.bonuses,
            "his_upper": (0, 0),
            "his_boxes": (0, len(self.free) - 1),
            "his_bonus": (0, 0),
        }

    def he_is_full(self, context: Any) -> bool:
        return bool(self.free[context.his_boxes] == 0)

    def is_state(self, context: Any) -> bool:
        return self.is_sheet(self.sheet(context)) and self.has_mover(context)

    def payoff(self, context: Any, player: int) -> float:
        return self.worth(context.lead + int(self.sheet_payoff(self.sheet(context), 0)))

    def allows(self, context: Any, end: Any) -> bool:
        if end.mover == HIS:
            return bool(context.his_turn == 1 and end.sheet == context.his_boxes)
        return context.his_turn == 0 and self.sheet_allows(self.sheet(context), end.turn)

    def following(self, context: Any, end: Any) -> Any:
        if end.mover == HIS:
            lead, his_sheet = context.lead - end.points, end.following
            upper = self.upper_that_matters(context.upper, context.boxes)
            boxes, bonus = context.boxes, context.bonus
            his_turn = 1 if boxes == self.all_filled else 0
        else:
            lead, upper, boxes, bonus = self.after_my_turn(context, end.turn)
            his_sheet, his_turn = context.his_boxes, 1
        if self.free[his_sheet] == 0:
            his_turn = 0
        return Standing(his_turn, self.clipped(lead), upper, boxes, bonus, 0, his_sheet, 0)

    def canonical(self, context: Any) -> tuple[Any, bool]:
        upper = self.upper_that_matters(context.upper, context.boxes)
        return (
            Standing(
                context.his_turn,
                context.lead,
                upper,
                context.boxes,
                context.bonus,
                0,
                context.his_boxes,
                0,
            ),
            False,
        )

    def rank(self, context: Any) -> int:
        return self.sheet_rank(self.sheet(context)) + int(self.free[context.his_boxes])


@attrs.frozen(eq=False, kw_only=True)
class AgainstOpponent(LastRounds):
    """The last rounds against an opponent who also plays to win, optimally.

    Parameters
    ----------
    his_masks, his_upper_left, his_uppers, his_bonuses
        The fields of the base class for his sheet.
    """

    his_masks: NDArray[np.int64] = attrs.field(repr=False)
    his_upper_left: NDArray[np.int64] = attrs.field(repr=False)
    his_uppers: tuple[int, int] = attrs.field(repr=False)
    his_bonuses: tuple[int, int] = attrs.field(repr=False)

    num_players = 2
    constant_sum = 1.0

    @property
    def his_all_filled(self) -> int:
        """The value of `Standing.his_boxes` when all are filled."""
        return len(self.his_masks) - 1

    @property
    def his_least_upper(self) -> int:
        """The least number of his upper part."""
        return self.his_uppers[0]

    def stage(self) -> Any:
        return EitherTurn(**attrs.asdict(Kniffel.stage(self), recurse=False))

    def contexts(self) -> dict[str, tuple[int, int]]:
        return {
            "his_turn": (0, 1),
            "lead": self.leads,
            "upper": self.uppers,
            "boxes": (0, self.all_filled),
            "bonus": self.bonuses,
            "his_upper": self.his_uppers,
            "his_boxes": (0, self.his_all_filled),
            "his_bonus": self.his_bonuses,
        }

    def his_upper_that_matters(self, upper: int, boxes: int) -> int:
        """Return his points in the upper part, dropped if they cannot lead to the bonus."""
        if upper + self.his_upper_left[boxes] < self.threshold:
            return self.his_least_upper
        return upper

    def his_sheet(self, context: Any) -> Sheet:
        """Return his sheet."""
        return Sheet(context.his_upper, self.his_masks[context.his_boxes], context.his_bonus)

    def he_is_full(self, context: Any) -> bool:
        return bool(context.his_boxes == self.his_all_filled)

    def is_state(self, context: Any) -> bool:
        is_sheet = self.is_sheet(self.sheet(context)) and self.is_sheet(self.his_sheet(context))
        return is_sheet and self.has_mover(context)

    def payoff(self, context: Any, player: int) -> float:
        mine = int(self.sheet_payoff(self.sheet(context), 0))
        his = int(self.sheet_payoff(self.his_sheet(context), 0))
        worth = self.worth(context.lead + mine - his)
        return worth if player == 0 else 1.0 - worth

    def allows(self, context: Any, end: Any) -> bool:
        if end.mover == HIS:
            return context.his_turn == 1 and self.sheet_allows(self.his_sheet(context), end.turn)
        return context.his_turn == 0 and self.sheet_allows(self.sheet(context), end.turn)

    def following(self, context: Any, end: Any) -> Any:
        if end.mover == HIS:
            sheet = self.his_sheet(context)
            after = self.sheet_following(sheet, end.turn)
            lead = context.lead - int(self.sheet_reward(sheet, end.turn, 0))
            his_boxes = filled_with(self.his_masks, context.his_boxes, after.boxes)
            his_upper, his_bonus = after.upper, after.bonus
            upper = self.upper_that_matters(context.upper, context.boxes)
            boxes, bonus = context.boxes, context.bonus
            his_turn = 1 if boxes == self.all_filled else 0
        else:
            lead, upper, boxes, bonus = self.after_my_turn(context, end.turn)
            his_upper, his_boxes = context.his_upper, context.his_boxes
            his_bonus, his_turn = context.his_bonus, 1
        if his_boxes == self.his_all_filled:
            his_turn = 0
        his_upper = self.his_upper_that_matters(his_upper, his_boxes)
        return Standing(
            his_turn, self.clipped(lead), upper, boxes, bonus, his_upper, his_boxes, his_bonus
        )

    def canonical(self, context: Any) -> tuple[Any, bool]:
        upper = self.upper_that_matters(context.upper, context.boxes)
        his_upper = self.his_upper_that_matters(context.his_upper, context.his_boxes)
        return (
            Standing(
                context.his_turn,
                context.lead,
                upper,
                context.boxes,
                context.bonus,
                his_upper,
                context.his_boxes,
                context.his_bonus,
            ),
            False,
        )

    def rank(self, context: Any) -> int:
        return self.sheet_rank(self.sheet(context)) + self.sheet_rank(self.his_sheet(context))
