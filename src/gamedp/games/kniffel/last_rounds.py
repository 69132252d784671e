"""The last rounds of two players, solved exactly: each decision takes both cards into account.

They take turns until both cards are full; then the higher total wins. The opponent either plays for
points, whatever happens, or to win. A table over both cards is small enough only when
few boxes are free: about two or three on each.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import attrs
import numpy as np
from numpy.typing import NDArray

from gamedp.games.kniffel.remainder import RestOfCard, filled_with
from gamedp.games.kniffel.rules import Kniffel, Sheet
from gamedp.games.kniffel.turn import KniffelTurn, Turn

WAITING, MINE, OPPONENT = range(3)


class Play(NamedTuple):
    """A position in the turn of either player.

    Attributes
    ----------
    mover : int
        `WAITING` before the first throw; then the player whose turn it is: `MINE` or `OPPONENT`.
    turn : Turn
        The position in that turn.
    sheet, following, points : int
        If only the result of the opponent's turn is known, the numbers of the opponent's sheet
        before and after it, and the points earned; otherwise 0.
    """

    mover: int
    turn: Turn
    sheet: int
    following: int
    points: int


def mine(turn: Turn) -> Play:
    """Return a position in my turn."""
    return Play(MINE, turn, 0, 0, 0)


@attrs.frozen(eq=False, kw_only=True)
class EitherTurn(KniffelTurn):
    """A turn of either of two players; the game determines whose by the ends that it allows."""

    num_players = 2

    # A turn of one player, by names that are not used here.
    turn_start = KniffelTurn.initial_state
    turn_is_over = KniffelTurn.is_terminal
    turn_actions = KniffelTurn.actions
    turn_outcomes = KniffelTurn.outcomes

    def initial_state(self) -> Any:
        return Play(WAITING, self.turn_start(), 0, 0, 0)

    def is_terminal(self, state: Any) -> bool:
        return self.turn_is_over(state.turn)

    def player(self, state: Any) -> int:
        return 1 if state.mover == OPPONENT else 0

    def actions(self, state: Any) -> Iterator[int]:
        if state.mover == WAITING:
            yield 0
            yield 1
        else:
            for action in self.turn_actions(state.turn):  # noqa: UP028 - numba knows no `yield from`
                yield action

    def outcomes(self, state: Any, action: int) -> Iterator[tuple[float, Any]]:
        if state.mover == WAITING:
            yield 1.0, Play(MINE + action, state.turn, 0, 0, 0)
        else:
            for chance, turn in self.turn_outcomes(state.turn, action):
                yield chance, Play(state.mover, turn, 0, 0, 0)

    def payoff(self, state: Any, player: int) -> float:
        return 0.0

    def action_name(self, state: Any, action: int) -> str:
        if state.mover == WAITING:
            return "the opponent's turn" if action else "my turn"
        return KniffelTurn.action_name(self, state.turn, action)

    def render(self, state: Any) -> str:
        if state.mover == WAITING:
            return "before the turn"
        words = KniffelTurn.render(self, state.turn)
        whose = "the opponent's" if state.mover == OPPONENT else "my"
        return f"{whose} turn, {words}"


@attrs.frozen(eq=False, kw_only=True)
class MyTurnOrResult(EitherTurn):
    """My turn, or the random result of the opponent's, who ignores my card.

    Parameters
    ----------
    offsets : (H+1,) int64
        The results of a turn that begins with the sheet h are ``offsets[h] .. offsets[h+1] - 1``.
    probabilities : (R,) float64
    followings : (R,) int64
        The number of the opponent's sheet after it.
    earned : (R,) int64
        The points earned.
    """

    offsets: NDArray[np.int64] = attrs.field(repr=False)
    probabilities: NDArray[np.float64] = attrs.field(repr=False)
    followings: NDArray[np.int64] = attrs.field(repr=False)
    earned: NDArray[np.int64] = attrs.field(repr=False)

    num_players = 1

    def player(self, state: Any) -> int:
        return 0

    def is_terminal(self, state: Any) -> bool:
        return state.mover == OPPONENT or self.turn_is_over(state.turn)

    def actions(self, state: Any) -> Iterator[int]:
        if state.mover == WAITING:
            yield 0
            for sheet in range(len(self.offsets) - 1):
                if self.offsets[sheet] < self.offsets[sheet + 1]:
                    yield 1 + sheet
        else:
            for action in self.turn_actions(state.turn):  # noqa: UP028 - numba knows no `yield from`
                yield action

    def outcomes(self, state: Any, action: int) -> Iterator[tuple[float, Any]]:
        if state.mover == WAITING:
            if action == 0:
                yield 1.0, Play(MINE, state.turn, 0, 0, 0)
            else:
                sheet = action - 1
                for place in range(self.offsets[sheet], self.offsets[sheet + 1]):
                    following, points = self.followings[place], self.earned[place]
                    yield (
                        self.probabilities[place],
                        Play(OPPONENT, state.turn, sheet, following, points),
                    )
        else:
            for chance, turn in self.turn_outcomes(state.turn, action):
                yield chance, Play(state.mover, turn, 0, 0, 0)

    def render(self, state: Any) -> str:
        if state.mover == OPPONENT:
            return f"the opponent has earned {state.points}"
        return EitherTurn.render(self, state)


class Standing(NamedTuple):
    """The standing of two players.

    Attributes
    ----------
    opponent_to_move : int
        1 if the next turn is the opponent's.
    lead : int
        My points minus the opponent's, without the bonuses for upper parts still to be paid.
    upper, boxes, bonus : int
        My sheet, as in :class:`RestOfCard`.
    opponent_upper, opponent_boxes, opponent_bonus : int
        The opponent's sheet, likewise. If the opponent plays for points, `opponent_boxes` is the
        number of the sheet, and the others are 0.
    """

    opponent_to_move: int
    lead: int
    upper: int
    boxes: int
    bonus: int
    opponent_upper: int
    opponent_boxes: int
    opponent_bonus: int


@attrs.frozen(eq=False, kw_only=True)
class LastRounds(RestOfCard):
    """The remaining rounds of two players under the same rules: the base of both kinds.

    The fields of the base class are those of my sheet. A kind of opponent says which boxes fill
    the opponent's sheet, which points in its upper part matter, and what follows the opponent's
    turn.

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

    def initial_state(self) -> Any:
        return self.start

    def clipped(self, lead: int) -> int:
        """Return a lead within the range."""
        return min(max(lead, self.leads[0]), self.leads[1])

    def worth(self, lead: int) -> float:
        """Return the value of a final lead."""
        if lead == 0:
            return self.draw
        return 1.0 if lead > 0 else 0.0

    def is_opponent_full(self, boxes: int) -> bool:
        """Return whether all boxes of the opponent's sheet are filled."""
        raise NotImplementedError  # abstract: each kind of opponent has its own boxes

    def opponent_upper_that_matters(self, upper: int, boxes: int) -> int:
        """Return the opponent's upper points, dropped if they cannot lead to the bonus."""
        raise NotImplementedError  # likewise

    def after_opponent_turn(self, context: Any, end: Any) -> tuple[int, int, int, int]:
        """Return the lead and the fields of the opponent's sheet after the opponent's turn."""
        raise NotImplementedError  # likewise

    def allows_opponent(self, context: Any, end: Any) -> bool:
        """Return whether the opponent's turn can end in this way."""
        raise NotImplementedError  # likewise

    def has_mover(self, context: Any) -> bool:
        """Return whether the player to move has a free box; I am to move when both have none."""
        is_full = self.is_opponent_full(context.opponent_boxes)
        if context.opponent_to_move == 1:
            return not is_full
        return is_full or bool(context.boxes < self.all_filled)

    def is_terminal(self, context: Any) -> bool:
        is_full = self.is_opponent_full(context.opponent_boxes)
        return bool(context.boxes == self.all_filled) and is_full

    def after_my_turn(self, context: Any, end: Turn) -> tuple[int, int, int, int]:
        """Return the lead and the fields of my sheet after my turn."""
        sheet = self.sheet(context)
        after = self.sheet_following(sheet, end)
        lead = context.lead + int(self.sheet_reward(sheet, end, 0))
        return lead, after.upper, filled_with(self.masks, context.boxes, after.boxes), after.bonus

    def allows(self, context: Any, end: Any) -> bool:
        if end.mover == OPPONENT:
            return context.opponent_to_move == 1 and self.allows_opponent(context, end)
        return context.opponent_to_move == 0 and self.sheet_allows(self.sheet(context), end.turn)

    def following(self, context: Any, end: Any) -> Any:
        _, _, upper, boxes, bonus, opponent_upper, opponent_boxes, opponent_bonus = context
        if end.mover == OPPONENT:
            after = self.after_opponent_turn(context, end)
            lead, opponent_upper, opponent_boxes, opponent_bonus = after
            opponent_to_move = 1 if boxes == self.all_filled else 0
        else:
            lead, upper, boxes, bonus = self.after_my_turn(context, end.turn)
            opponent_to_move = 1
        if self.is_opponent_full(opponent_boxes):
            opponent_to_move = 0
        return Standing(
            opponent_to_move,
            self.clipped(lead),
            self.upper_that_matters(upper, boxes),
            boxes,
            bonus,
            self.opponent_upper_that_matters(opponent_upper, opponent_boxes),
            opponent_boxes,
            opponent_bonus,
        )

    def canonical(self, context: Any) -> tuple[Any, bool]:
        to_move, lead, upper, boxes, bonus, opponent_upper, opponent_boxes, opponent_bonus = context
        return (
            Standing(
                to_move,
                lead,
                self.upper_that_matters(upper, boxes),
                boxes,
                bonus,
                self.opponent_upper_that_matters(opponent_upper, opponent_boxes),
                opponent_boxes,
                opponent_bonus,
            ),
            False,
        )

    def box(self) -> dict[str, tuple[int, int]]:
        return {
            "opponent_to_move": (0, 1),
            "lead": self.leads,
            "upper": self.uppers,
            "boxes": (0, self.all_filled),
            "bonus": self.bonuses,
            **self.opponent_ranges(),
        }

    def opponent_ranges(self) -> dict[str, tuple[int, int]]:
        """Return the ranges of the fields of the opponent's sheet."""
        raise NotImplementedError  # abstract: each kind of opponent has its own

    def reward(self, context: Any, end: Any, player: int) -> float:
        return 0.0


@attrs.frozen(eq=False, kw_only=True)
class AgainstPoints(LastRounds):
    """The last rounds against an opponent who plays for points.

    Parameters
    ----------
    results : tuple of arrays
        As for :class:`MyTurnOrResult`.
    free : (H,) int64
        The number of free boxes on each of the opponent's sheets.
    """

    results: tuple[NDArray[Any], ...] = attrs.field(repr=False)
    free: NDArray[np.int64] = attrs.field(repr=False)

    def stage(self) -> Any:
        names = ("offsets", "probabilities", "followings", "earned")
        fields: dict[str, Any] = attrs.asdict(Kniffel.stage(self), recurse=False)
        return MyTurnOrResult(**fields | dict(zip(names, self.results, strict=True)))

    def opponent_ranges(self) -> dict[str, tuple[int, int]]:
        return {
            "opponent_upper": (0, 0),
            "opponent_boxes": (0, len(self.free) - 1),
            "opponent_bonus": (0, 0),
        }

    def is_opponent_full(self, boxes: int) -> bool:
        return bool(self.free[boxes] == 0)

    def opponent_upper_that_matters(self, upper: int, boxes: int) -> int:
        return 0

    def after_opponent_turn(self, context: Any, end: Any) -> tuple[int, int, int, int]:
        return context.lead - end.points, 0, end.following, 0

    def allows_opponent(self, context: Any, end: Any) -> bool:
        return bool(end.sheet == context.opponent_boxes)

    def is_state(self, context: Any) -> bool:
        return self.is_sheet(self.sheet(context)) and self.has_mover(context)

    def payoff(self, context: Any, player: int) -> float:
        return self.worth(context.lead + int(self.sheet_payoff(self.sheet(context), 0)))

    def tier(self, context: Any) -> int:
        return self.sheet_tier(self.sheet(context)) + int(self.free[context.opponent_boxes])


@attrs.frozen(eq=False, kw_only=True)
class AgainstOpponent(LastRounds):
    """The last rounds against an opponent who also plays to win, optimally.

    Parameters
    ----------
    opponent_masks, opponent_upper_left, opponent_uppers, opponent_bonuses
        The fields of the base class for the opponent's sheet.
    """

    opponent_masks: NDArray[np.int64] = attrs.field(repr=False)
    opponent_upper_left: NDArray[np.int64] = attrs.field(repr=False)
    opponent_uppers: tuple[int, int] = attrs.field(repr=False)
    opponent_bonuses: tuple[int, int] = attrs.field(repr=False)

    num_players = 2
    constant_sum = 1.0

    @property
    def opponent_all_filled(self) -> int:
        """The value of `Standing.opponent_boxes` when all are filled."""
        return len(self.opponent_masks) - 1

    def stage(self) -> Any:
        return EitherTurn(**attrs.asdict(Kniffel.stage(self), recurse=False))

    def opponent_ranges(self) -> dict[str, tuple[int, int]]:
        return {
            "opponent_upper": self.opponent_uppers,
            "opponent_boxes": (0, self.opponent_all_filled),
            "opponent_bonus": self.opponent_bonuses,
        }

    def is_opponent_full(self, boxes: int) -> bool:
        return bool(boxes == self.opponent_all_filled)

    def opponent_upper_that_matters(self, upper: int, boxes: int) -> int:
        lost = upper + self.opponent_upper_left[boxes] < self.threshold
        return self.opponent_uppers[0] if lost else upper

    def opponent_sheet(self, context: Any) -> Sheet:
        """Return the opponent's sheet."""
        boxes = self.opponent_masks[context.opponent_boxes]
        return Sheet(context.opponent_upper, boxes, context.opponent_bonus)

    def after_opponent_turn(self, context: Any, end: Any) -> tuple[int, int, int, int]:
        sheet = self.opponent_sheet(context)
        after = self.sheet_following(sheet, end.turn)
        lead = context.lead - int(self.sheet_reward(sheet, end.turn, 0))
        boxes = filled_with(self.opponent_masks, context.opponent_boxes, after.boxes)
        return lead, after.upper, boxes, after.bonus

    def allows_opponent(self, context: Any, end: Any) -> bool:
        return self.sheet_allows(self.opponent_sheet(context), end.turn)

    def is_state(self, context: Any) -> bool:
        is_sheet = self.is_sheet(self.sheet(context))
        return is_sheet and self.is_sheet(self.opponent_sheet(context)) and self.has_mover(context)

    def payoff(self, context: Any, player: int) -> float:
        mine = int(self.sheet_payoff(self.sheet(context), 0))
        theirs = int(self.sheet_payoff(self.opponent_sheet(context), 0))
        worth = self.worth(context.lead + mine - theirs)
        return worth if player == 0 else 1.0 - worth

    def tier(self, context: Any) -> int:
        mine, theirs = self.sheet(context), self.opponent_sheet(context)
        return self.sheet_tier(mine) + self.sheet_tier(theirs)
