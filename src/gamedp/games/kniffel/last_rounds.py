"""The last rounds of two players, solved exactly: each decision knows both cards.

They take turns until both cards are full; then the higher total wins. The opponent either plays for
points, whatever happens, or for his own victory. A table over both cards is small enough only when
few boxes are free: about two or three on each.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import attrs
import numpy as np
from numpy.typing import NDArray

import gamedp
from gamedp.games.kniffel.rules import Kniffel, Sheet
from gamedp.games.kniffel.targets import MOST_CONTEXTS, Remainder, check_size
from gamedp.games.kniffel.turn import KniffelTurn, Turn

__all__ = [
    "AgainstOpponent",
    "AgainstPoints",
    "EitherTurn",
    "LastRounds",
    "MyTurnOrHisResult",
    "Play",
    "Sides",
    "Standing",
    "against",
    "mine",
]

WAITING, MINE, HIS = range(3)


class Play(NamedTuple):
    """A position in the turn of either player.

    Attributes
    ----------
    mover : int
        `WAITING` before anything has been thrown; then whose turn it is: `MINE` or `HIS`.
    turn : Turn
        The position in that turn.
    sheet, following, points : int
        If only the result of his turn is known: the numbers of his sheet before it and after it,
        and the points he has earned. Else 0.
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
    """A turn of one of two players; the game says whose it may be by the ends that it allows."""

    num_players = 2

    # A turn of one player, by names that are not taken here.
    turn_start = KniffelTurn.initial_state
    turn_is_over = KniffelTurn.is_terminal
    turn_actions = KniffelTurn.actions
    turn_outcomes = KniffelTurn.outcomes

    def initial_state(self) -> Any:
        return Play(WAITING, self.turn_start(), 0, 0, 0)

    def is_terminal(self, state: Any) -> bool:
        return self.turn_is_over(state.turn)

    def player(self, state: Any) -> int:
        return 1 if state.mover == HIS else 0

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
            return "his turn" if action else "my turn"
        return KniffelTurn.action_name(self, state.turn, action)

    def render(self, state: Any) -> str:
        if state.mover == WAITING:
            return "before the turn"
        words = KniffelTurn.render(self, state.turn)
        return f"{'his' if state.mover == HIS else 'my'} turn, {words}"


@attrs.frozen(eq=False, kw_only=True)
class MyTurnOrHisResult(EitherTurn):
    """My turn, or the result of his, which is chance: he does not look at my card.

    Parameters
    ----------
    offsets : (H+1,) int64
        The results of a turn that begins with his sheet h are ``offsets[h] .. offsets[h+1] - 1``.
    probabilities : (R,) float64
    followings : (R,) int64
        The number of his sheet after it.
    earned : (R,) int64
        His points.
    """

    offsets: NDArray[np.int64] = attrs.field(repr=False)
    probabilities: NDArray[np.float64] = attrs.field(repr=False)
    followings: NDArray[np.int64] = attrs.field(repr=False)
    earned: NDArray[np.int64] = attrs.field(repr=False)

    num_players = 1

    def player(self, state: Any) -> int:
        return 0

    def is_terminal(self, state: Any) -> bool:
        return state.mover == HIS or self.turn_is_over(state.turn)

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
                        Play(HIS, state.turn, sheet, following, points),
                    )
        else:
            for chance, turn in self.turn_outcomes(state.turn, action):
                yield chance, Play(state.mover, turn, 0, 0, 0)

    def render(self, state: Any) -> str:
        if state.mover == HIS:
            return f"he has earned {state.points}"
        return EitherTurn.render(self, state)


class Standing(NamedTuple):
    """Where two players stand.

    Attributes
    ----------
    his_turn : int
        1 if the next turn is his.
    lead : int
        My points minus his, without the bonuses for upper parts that are still to be paid.
    upper, boxes, bonus : int
        My sheet, as in :class:`gamedp.games.kniffel.targets.Pace`.
    his_upper, his_boxes, his_bonus : int
        His, likewise; if he plays for points, `his_boxes` is the number of his sheet, and the
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
class LastRounds(Kniffel):
    """The rounds to come of two players, the same rules for both: what both kinds share.

    Parameters
    ----------
    draw : float
        What a draw is worth to me; a victory is worth 1.
    start : Standing
    leads : (int, int)
        The range of leads that are told apart. Beyond it the game is decided.
    masks, upper_left, uppers, bonuses
        My sheet: see :class:`gamedp.games.kniffel.targets.Remainder`.
    """

    draw: float
    start: Standing
    leads: tuple[int, int] = attrs.field(repr=False)
    masks: NDArray[np.int64] = attrs.field(repr=False)
    upper_left: NDArray[np.int64] = attrs.field(repr=False)
    uppers: tuple[int, int] = attrs.field(repr=False)
    bonuses: tuple[int, int] = attrs.field(repr=False)

    # What the rules say of a sheet, by names that are not taken here.
    sheet_allows = Kniffel.allows
    sheet_following = Kniffel.following
    sheet_reward = Kniffel.reward
    sheet_payoff = Kniffel.payoff
    sheet_rank = Kniffel.rank
    is_sheet = Kniffel.is_state

    @property
    def all_filled(self) -> int:
        """What `Standing.boxes` is when all mine are filled."""
        return len(self.masks) - 1

    @property
    def num_free(self) -> int:
        """How many boxes of mine were free."""
        return self.all_filled.bit_length()

    @property
    def least_upper(self) -> int:
        """Where my upper part begins."""
        return self.uppers[0]

    @property
    def least_lead(self) -> int:
        """With this lead, all is lost."""
        return self.leads[0]

    @property
    def largest_lead(self) -> int:
        """With this lead, all is won."""
        return self.leads[1]

    def initial_state(self) -> Any:
        return self.start

    def sheet(self, context: Any) -> Sheet:
        """Return my sheet."""
        return Sheet(context.upper, self.masks[context.boxes], context.bonus)

    def clipped(self, lead: int) -> int:
        """Return a lead within the range."""
        return min(max(lead, self.least_lead), self.largest_lead)

    def worth(self, lead: int) -> float:
        """Return what a final lead is worth."""
        if lead == 0:
            return self.draw
        return 1.0 if lead > 0 else 0.0

    def filled(self, boxes: int, after: Sheet) -> int:
        """Return which of my boxes are filled after an entry."""
        for place in range(self.num_free):
            if self.masks[boxes | (1 << place)] == after.boxes:
                return boxes | (1 << place)
        return boxes

    def upper_that_matters(self, upper: int, boxes: int) -> int:
        """Return my points in the upper part, forgotten if they cannot lead to the bonus."""
        if upper + self.upper_left[boxes] < self.threshold:
            return self.least_upper
        return upper


@attrs.frozen(eq=False, kw_only=True)
class AgainstPoints(LastRounds):
    """The last rounds against one who plays for points.

    Parameters
    ----------
    his : tuple of arrays
        As for :class:`MyTurnOrHisResult`.
    free : (H,) int64
        How many boxes of his are free on each of his sheets.
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

    def is_state(self, context: Any) -> bool:
        if not self.is_sheet(self.sheet(context)):
            return False
        he_is_full = bool(self.free[context.his_boxes] == 0)
        if context.his_turn == 1:
            return not he_is_full
        return he_is_full or bool(context.boxes < self.all_filled)

    def is_terminal(self, context: Any) -> bool:
        return bool(context.boxes == self.all_filled and self.free[context.his_boxes] == 0)

    def payoff(self, context: Any, player: int) -> float:
        return self.worth(context.lead + int(self.sheet_payoff(self.sheet(context), 0)))

    def allows(self, context: Any, end: Any) -> bool:
        if end.mover == HIS:
            return bool(context.his_turn == 1 and end.sheet == context.his_boxes)
        return context.his_turn == 0 and self.sheet_allows(self.sheet(context), end.turn)

    def following(self, context: Any, end: Any) -> Any:
        upper, boxes, bonus = context.upper, context.boxes, context.bonus
        lead, his_sheet = context.lead, context.his_boxes
        if end.mover == HIS:
            lead -= end.points
            his_sheet = end.following
            his_turn = 1 if boxes == self.all_filled else 0
        else:
            sheet = self.sheet(context)
            after = self.sheet_following(sheet, end.turn)
            lead += int(self.sheet_reward(sheet, end.turn, 0))
            boxes = self.filled(boxes, after)
            upper, bonus = after.upper, after.bonus
            his_turn = 1
        if self.free[his_sheet] == 0:
            his_turn = 0
        upper = self.upper_that_matters(upper, boxes)
        return Standing(his_turn, self.clipped(lead), upper, boxes, bonus, 0, his_sheet, 0)

    def reward(self, context: Any, end: Any, player: int) -> float:
        return 0.0

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
    """The last rounds against one who wants to win as well, and plays as well as can be.

    Parameters
    ----------
    his_masks, his_upper_left, his_uppers, his_bonuses
        His sheet: see :class:`gamedp.games.kniffel.targets.Remainder`.
    """

    his_masks: NDArray[np.int64] = attrs.field(repr=False)
    his_upper_left: NDArray[np.int64] = attrs.field(repr=False)
    his_uppers: tuple[int, int] = attrs.field(repr=False)
    his_bonuses: tuple[int, int] = attrs.field(repr=False)

    num_players = 2
    constant_sum = 1.0

    @property
    def his_all_filled(self) -> int:
        """What `Standing.his_boxes` is when all are filled."""
        return len(self.his_masks) - 1

    @property
    def his_num_free(self) -> int:
        """How many boxes of his were free."""
        return self.his_all_filled.bit_length()

    @property
    def his_least_upper(self) -> int:
        """Where his upper part begins."""
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
        """Return his points in the upper part, forgotten if they cannot lead to the bonus."""
        if upper + self.his_upper_left[boxes] < self.threshold:
            return self.his_least_upper
        return upper

    def his_sheet(self, context: Any) -> Sheet:
        """Return his sheet."""
        return Sheet(context.his_upper, self.his_masks[context.his_boxes], context.his_bonus)

    def is_state(self, context: Any) -> bool:
        if not self.is_sheet(self.sheet(context)) or not self.is_sheet(self.his_sheet(context)):
            return False
        he_is_full = bool(context.his_boxes == self.his_all_filled)
        if context.his_turn == 1:
            return not he_is_full
        return he_is_full or bool(context.boxes < self.all_filled)

    def is_terminal(self, context: Any) -> bool:
        is_full = bool(context.boxes == self.all_filled)
        return is_full and bool(context.his_boxes == self.his_all_filled)

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
        upper, boxes, bonus = context.upper, context.boxes, context.bonus
        his_upper, his_boxes, his_bonus = context.his_upper, context.his_boxes, context.his_bonus
        lead = context.lead
        if end.mover == HIS:
            sheet = self.his_sheet(context)
            after = self.sheet_following(sheet, end.turn)
            lead -= int(self.sheet_reward(sheet, end.turn, 0))
            for place in range(self.his_num_free):
                if self.his_masks[context.his_boxes | (1 << place)] == after.boxes:
                    his_boxes |= 1 << place
            his_upper, his_bonus = after.upper, after.bonus
            his_turn = 1 if boxes == self.all_filled else 0
        else:
            sheet = self.sheet(context)
            after = self.sheet_following(sheet, end.turn)
            lead += int(self.sheet_reward(sheet, end.turn, 0))
            boxes = self.filled(boxes, after)
            upper, bonus = after.upper, after.bonus
            his_turn = 1
        if his_boxes == self.his_all_filled:
            his_turn = 0
        upper = self.upper_that_matters(upper, boxes)
        his_upper = self.his_upper_that_matters(his_upper, his_boxes)
        return Standing(
            his_turn, self.clipped(lead), upper, boxes, bonus, his_upper, his_boxes, his_bonus
        )

    def reward(self, context: Any, end: Any, player: int) -> float:
        return 0.0

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


@attrs.frozen(eq=False)
class Sides:
    """Two sheets, the lead of the one, and what a draw is worth.

    Attributes
    ----------
    rules : Kniffel
    sheet, his_sheet : Sheet
    lead : int
        My points minus his, without bonuses for upper parts.
    draw : float
    his_turn : bool
    """

    rules: Kniffel
    sheet: Sheet
    his_sheet: Sheet
    lead: int = 0
    draw: float = 0.5
    his_turn: bool = False


def against(sides: Sides, solution: Any = None, max_contexts: float = MOST_CONTEXTS) -> LastRounds:
    """Make the game of two sheets.

    Parameters
    ----------
    sides : Sides
    solution : gamedp.StagedSolution, optional
        How he plays for points: that of the rules. If not given, he plays to win.
    max_contexts : float
        How large the table may become.

    Raises
    ------
    gamedp.InvalidParameterError
        If it would be larger.
    """
    rules = sides.rules
    my, his = Remainder.of(rules, sides.sheet), Remainder.of(rules, sides.his_sheet)
    leads = -my.most - 1, his.most + 1
    shared = {
        **attrs.asdict(rules, recurse=False),
        "draw": float(sides.draw),
        "leads": leads,
        "masks": my.masks,
        "upper_left": my.upper_left,
        "uppers": my.uppers,
        "bonuses": my.bonuses,
    }
    moves = 1 if (sides.his_turn or len(my.masks) == 1) and len(his.masks) > 1 else 0
    lead = min(max(sides.lead, leads[0]), leads[1])
    rows = 2 * (leads[1] - leads[0] + 1) * my.num_sheets
    words = "the last rounds of these two cards, solved exactly,"
    upper, bonus = sides.sheet.upper, sides.sheet.bonus
    if solution is None:
        check_size(rows * his.num_sheets, max_contexts, words)
        start = Standing(
            moves, lead, upper, 0, bonus, sides.his_sheet.upper, 0, sides.his_sheet.bonus
        )
        game: LastRounds = AgainstOpponent(
            **shared,
            start=start,
            his_masks=his.masks,
            his_upper_left=his.upper_left,
            his_uppers=his.uppers,
            his_bonuses=his.bonuses,
        )
    else:
        check_size(rows * len(his.masks), max_contexts, words)
        results, free = _results(rules, sides.his_sheet, solution)
        check_size(rows * len(free), max_contexts, words)
        start = Standing(moves, lead, upper, 0, bonus, 0, 0, 0)
        game = AgainstPoints(**shared, start=start, his=results, free=free)
    representative, _ = gamedp.StagedRules(game).canonical(start)
    return attrs.evolve(game, start=representative)


def _results(
    rules: Kniffel, first: Sheet, solution: Any
) -> tuple[tuple[NDArray[Any], ...], NDArray[np.int64]]:
    """Return the results of his turns, and how many boxes are free on each of his sheets.

    The bonus for the upper part is among the points of the turn that fills his last box.
    """
    sheets = [first]
    numbers = {first: 0}
    offsets, rows = [0], []
    for sheet in sheets:  # grows while it is read
        if not rules.is_terminal(sheet):
            for end, chance in gamedp.end_probabilities(solution, sheet).items():
                after = rules.following(sheet, end)
                if after not in numbers:
                    numbers[after] = len(sheets)
                    sheets.append(after)
                points = rules.reward(sheet, end, 0)
                points += rules.payoff(after, 0) if rules.is_terminal(after) else 0
                rows.append((chance, numbers[after], int(points)))
        offsets.append(len(rows))
    columns = tuple(zip(*rows, strict=True)) if rows else ((), (), ())
    kinds = (np.float64, np.int64, np.int64)
    arrays = [np.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    free = np.array([rules.rank(sheet) for sheet in sheets], np.int64)
    return (np.array(offsets), *arrays), free
