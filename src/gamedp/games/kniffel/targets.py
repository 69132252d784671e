"""Playing for a total: the best probability of reaching it, for all totals at once.

Whoever needs a certain number of points plays differently from whoever wants as many as can be
expected. What matters for the rest of the game is then the points so far, besides the sheet; so the
table of contexts has one more dimension, and only boxes that are free take part in it. With up to
seven free boxes it is solved in seconds; the empty card has 200 million contexts, which take about
10 GB and some minutes, and are refused unless asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations_with_replacement, product
from typing import Any, Literal, NamedTuple, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

import gamedp
from gamedp.games.kniffel.boxes import (
    FULL_HOUSE,
    LARGE_STRAIGHT,
    box_names,
    points,
    points_as_joker,
    shown,
    throw,
)
from gamedp.games.kniffel.card import Card
from gamedp.games.kniffel.rules import Kniffel, Sheet
from gamedp.games.kniffel.turn import KniffelTurn, Turn

__all__ = ["ForTotal", "Pace", "PointsForTotal", "Prospect", "Remainder", "Targets"]

Compile: TypeAlias = Literal["auto", "always", "never"]

MOST_CONTEXTS = 20_000_000
"""Beyond this, a table of contexts is made only if it is asked for: about a gigabyte."""


@attrs.frozen(eq=False)
class Remainder:
    """What is still to be played on a sheet: its free boxes, numbered anew from 0.

    Attributes
    ----------
    rules : Kniffel
    sheet : Sheet
    masks : (2**n,) int64
        For each subset of the n free boxes: `Sheet.boxes` when these are filled, too.
    upper_left : (2**n,) int64
        For each: the most points that the boxes of the upper part can still earn.
    most : int
        No more points than this can be earned, the bonus for the upper part included.
    """

    rules: Kniffel
    sheet: Sheet
    masks: NDArray[np.int64] = attrs.field(repr=False)
    upper_left: NDArray[np.int64] = attrs.field(repr=False)
    most: int

    @classmethod
    def of(cls, rules: Kniffel, sheet: Sheet) -> Remainder:
        """Take the free boxes of a sheet."""
        free = [box for box in range(rules.num_boxes) if not (sheet.boxes >> box) & 1]
        best = {box: _best_entry(rules, box) for box in free}
        masks, upper_left = np.zeros(1, np.int64), np.zeros(1, np.int64)
        for box in free:
            masks = np.concatenate([masks, masks | (1 << box)])
            more = best[box] * (box < rules.faces)
            upper_left = np.concatenate([upper_left + more, upper_left])
        further = len(free) if sheet.bonus else len(free) - 1
        is_open = sheet.bonus or rules.kniffel_box in free
        most = sum(best.values()) + rules.further_bonus * max(0, further if is_open else 0)
        if sheet.upper + int(upper_left[0]) >= rules.threshold:
            most += rules.upper_bonus
        return cls(rules, sheet, masks | sheet.boxes, upper_left, most)

    @property
    def uppers(self) -> tuple[int, int]:
        """The range of the upper part, where it matters."""
        low, threshold = self.sheet.upper, self.rules.threshold
        highest = low + int(self.upper_left[0])
        return low, (low if highest < threshold else min(highest, threshold))

    @property
    def bonuses(self) -> tuple[int, int]:
        """The range of `Sheet.bonus`."""
        pays = self.rules.further_bonus > 0 and not (self.sheet.boxes >> self.rules.kniffel_box) & 1
        return self.sheet.bonus, 1 if pays else self.sheet.bonus

    @property
    def num_sheets(self) -> int:
        """How many combinations of these and the boxes there are."""
        (low, high), (least, most) = self.uppers, self.bonuses
        return (high - low + 1) * (most - least + 1) * len(self.masks)


def _best_entry(rules: Kniffel, box: int) -> int:
    """Return the most that a throw can count in a box."""
    lower = box - rules.faces
    best = 0
    if rules.joker != "none" and FULL_HOUSE <= lower <= LARGE_STRAIGHT:
        best = points_as_joker(rules.faces, box)
    for dice in throws(rules.dice, rules.faces):
        best = max(best, points(dice, box, rules.kniffel_is_full_house))
    return best


def throws(dice: int, faces: int) -> Iterator[tuple[int, ...]]:
    """Yield all throws of some dice."""
    for shown_faces in combinations_with_replacement(range(1, faces + 1), dice):
        yield throw(shown_faces, dice=dice, faces=faces)


def check_size(contexts: int, max_contexts: float, what: str) -> None:
    """Refuse a table that is too large, in words.

    Raises
    ------
    gamedp.InvalidParameterError
        If there are more contexts than that.
    """
    if contexts > max_contexts:
        message = (
            f"{what} takes a table of {contexts:,} contexts, about {contexts * 50 / 1e9:.1f} GB "
            f"and {contexts / 250_000:,.0f} seconds on one processor; at most {max_contexts:,} are "
            "made unless asked for. Fill more boxes, or pass max_contexts=."
        )
        raise gamedp.InvalidParameterError(message)


class Pace(NamedTuple):
    """What of a game matters for its final total.

    Attributes
    ----------
    points : int
        What has been earned so far.
    upper, bonus : int
        As in :class:`Sheet`.
    boxes : int
        Which of the boxes that were free are filled: the sum of ``1 << place``, their places
        counted from 0.
    """

    points: int
    upper: int
    boxes: int
    bonus: int


@attrs.frozen(eq=False, kw_only=True)
class ForTotal(Kniffel):
    """The rest of a game, played for what its final total is worth: a staged game.

    Parameters
    ----------
    worths : (M+1,) float64
        What it is worth to have earned 0 to M points in the end, or more than M. A context in which
        M points are reached is over.
    masks, upper_left, first, uppers, bonuses
        The sheet at the start: see :class:`Remainder`. :meth:`of` fills them in.
    """

    worths: NDArray[np.float64] = attrs.field(repr=False)
    masks: NDArray[np.int64] = attrs.field(repr=False)
    upper_left: NDArray[np.int64] = attrs.field(repr=False)
    first: Sheet
    uppers: tuple[int, int] = attrs.field(repr=False)
    bonuses: tuple[int, int] = attrs.field(repr=False)

    # What the rules say of a sheet, by names that are not taken here.
    sheet_allows = Kniffel.allows
    sheet_following = Kniffel.following
    sheet_reward = Kniffel.reward
    sheet_payoff = Kniffel.payoff
    sheet_rank = Kniffel.rank
    is_sheet = Kniffel.is_state

    @classmethod
    def of(cls, remainder: Remainder, worths: NDArray[np.float64]) -> Any:
        """Make the game of what is still to be played on a sheet."""
        return cls(
            **attrs.asdict(remainder.rules, recurse=False),
            worths=worths,
            masks=remainder.masks,
            upper_left=remainder.upper_left,
            first=remainder.sheet,
            uppers=remainder.uppers,
            bonuses=remainder.bonuses,
        )

    @property
    def most(self) -> int:
        """How many points settle the game."""
        return len(self.worths) - 1

    @property
    def all_filled(self) -> int:
        """What `Pace.boxes` is when all boxes are filled."""
        return len(self.masks) - 1

    @property
    def num_free(self) -> int:
        """How many boxes were free."""
        return self.all_filled.bit_length()

    @property
    def least_upper(self) -> int:
        """Where the upper part begins."""
        return self.uppers[0]

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
        """Return the context at the start, if so many points count as earned."""
        pace = Pace(min(max(already, 0), self.most), self.first.upper, 0, self.first.bonus)
        return self.canonical(pace)[0]

    def upper_that_matters(self, upper: int, boxes: int) -> int:
        """Return the points in the upper part, forgotten if they cannot lead to its bonus."""
        if upper + self.upper_left[boxes] < self.threshold:
            return self.least_upper
        return upper

    def sheet(self, context: Any) -> Sheet:
        """Return the sheet of a context."""
        return Sheet(context.upper, self.masks[context.boxes], context.bonus)

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
        boxes = context.boxes
        for place in range(self.num_free):
            if self.masks[context.boxes | (1 << place)] == after.boxes:
                boxes |= 1 << place
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
    """The same contexts, and the points that are earned in them: for their distribution."""

    def reward(self, context: Any, end: Turn, player: int) -> float:
        return self.sheet_reward(self.sheet(context), end, player)

    def payoff(self, context: Any, player: int) -> float:
        return self.sheet_payoff(self.sheet(context), player)


@attrs.frozen
class Prospect:
    """A decision that can be taken, and the probability it leaves.

    Attributes
    ----------
    kept : tuple of int or None
        How many dice of each face stay on the table, if this is a keep.
    box : int or None
        The number of the box, from 0, if this is an entry.
    points : int
        What the entry counts in its box; 0 for a keep.
    value : float
        The probability if play is at its best afterwards.
    lower, upper : float
        Bounds of that.
    """

    kept: tuple[int, ...] | None
    box: int | None
    points: int
    value: float
    lower: float
    upper: float

    def name(self, language: str = "de") -> str:
        """Return the dice that are kept, or the name of the box."""
        if self.kept is not None:
            return shown(self.kept)
        return box_names(language)[-1 if self.box is None else self.box]


def prospects(
    inside: Any,
    turn: KniffelTurn,
    entries: list[Turn],
    situation: tuple[int, tuple[int, ...]],
    state: Callable[[Turn], Any],
) -> tuple[Prospect, ...]:
    """Return all decisions after a throw, the best one first.

    Parameters
    ----------
    inside : gamedp.Solution
        Of the turn.
    turn : KniffelTurn
    entries : list of Turn
        The ways to enter the throw, if it is the last one.
    situation : (number, dice)
        Which throw it was, and how many dice show each face.
    state : callable
        The state of the stage that a position within the turn is.
    """
    number, dice = situation
    found = []
    if number < turn.throws:
        for stay in product(*(range(count + 1) for count in dice)):
            position = state(turn.on_the_table(turn.throws - number, stay))
            found.append(Prospect(stay, None, 0, inside.value(position), *inside.bounds(position)))
    else:
        for end in entries:
            position = state(end)
            found.append(
                Prospect(
                    None, end.box, end.points, inside.value(position), *inside.bounds(position)
                )
            )
    found.sort(key=lambda each: (-each.value, -sum(each.kept or ()), -each.points))
    return tuple(found)


def as_thrown(rules: Kniffel, dice: str | tuple[int, ...], number: int) -> tuple[int, ...]:
    """Read a throw, and see that its number is one of the turn's.

    Raises
    ------
    gamedp.InvalidParameterError
        If it is no throw, or there is none of that number.
    """
    if not 1 <= number <= rules.throws:
        message = f"there is no throw {number}; a turn has throws 1 to {rules.throws}."
        raise gamedp.InvalidParameterError(message)
    if not isinstance(dice, str):
        dice = "".join(str(face) * count for face, count in enumerate(dice, start=1))
    return throw(dice, dice=rules.dice, faces=rules.faces)


def entered_on(card: Card, rules: Kniffel) -> int:
    """Return the points on a card; the bonus for the upper part is paid at the end."""
    return sum(entry or 0 for entry in card.entries) + card.further * rules.further_bonus


@attrs.frozen(eq=False)
class Targets:
    """The best probability of reaching each total from a card, whatever the total.

    Parameters
    ----------
    rules : Kniffel
    sheet : Sheet
    entered : int
        The points on the card, without the bonus for the upper part.
    draw : float
        What it counts to reach the total exactly; 1 for the probability of at least so many points.
    max_contexts : float
        How large a table may become.
    compile : {"auto", "always", "never"}
        As for :func:`gamedp.solve`.

    Attributes
    ----------
    most : int
        The largest total that might be reached.
    game : ForTotal
    solution : gamedp.StagedSolution

    Raises
    ------
    gamedp.InvalidParameterError
        If the table would be larger.

    Examples
    --------
    >>> targets = Targets.of(Card.of("- 8 9 16 15 - 15 9 25 30 40 - 20"))
    >>> print(f"{targets.at_least(200):.4f} {targets.at_least(260):.4f}")
    0.9...
    >>> print(targets.best("11266", 2, total=200).name())
    66
    """

    rules: Kniffel
    sheet: Sheet
    entered: int = 0
    draw: float = 1.0
    max_contexts: float = MOST_CONTEXTS
    compile: Compile = "auto"
    most: int = attrs.field(init=False)
    game: ForTotal = attrs.field(init=False, repr=False)
    solution: Any = attrs.field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        """Solve the game for all totals."""
        remainder = Remainder.of(self.rules, self.sheet)
        # All that matters is how much is missing: the total is reached with the most that can be
        # earned, and exceeded with one point more.
        worths = np.zeros(remainder.most + 1 + (self.draw < 1))
        worths[-1], worths[remainder.most] = 1.0, self.draw
        contexts = len(worths) * remainder.num_sheets
        check_size(contexts, self.max_contexts, "playing for a total from this card")
        game = ForTotal.of(remainder, worths)
        object.__setattr__(self, "most", self.entered + remainder.most)
        object.__setattr__(self, "game", game)
        solution = gamedp.solve(game, tolerance=1e-9, compile=self.compile)
        object.__setattr__(self, "solution", solution)

    @classmethod
    def of(cls, card: Card, rules: Kniffel | None = None, **options: Any) -> Targets:
        """Solve it for a card.

        Parameters
        ----------
        card : Card
        rules : Kniffel, optional
            Those of the article if not given.
        **options
            `draw`, `max_contexts` and `compile`, as for the class.
        """
        rules = Kniffel() if rules is None else rules
        return cls(rules, card.sheet(rules), entered_on(card, rules), **options)

    def context(self, total: int) -> Any:
        """Return the context from which `total` is to be reached, or None if it cannot be."""
        return None if total > self.most else self.game.starting(self.most - total)

    def at_least(self, total: int) -> float:
        """Return the best probability of at least `total` points in the end."""
        context = self.context(total)
        return 0.0 if context is None else float(self.solution.value(context))

    def bounds(self, total: int) -> tuple[float, float]:
        """Return what that probability is proven to lie between."""
        context = self.context(total)
        if context is None:
            return 0.0, 0.0
        low, high = self.solution.bounds(context)
        return max(low, 0.0), min(high, 1.0)

    def options(
        self, dice: str | tuple[int, ...], number: int, *, total: int
    ) -> tuple[Prospect, ...]:
        """Return all decisions after a throw, by the probability of at least `total` points.

        Parameters
        ----------
        dice : str or tuple of int
            The throw: its faces, or how many dice show each.
        number : int
            Which throw of the turn it was, from 1.
        total : int

        Raises
        ------
        gamedp.InvalidParameterError
            If there is no such throw, or the total is out of reach or reached.
        """
        thrown = as_thrown(self.rules, dice, number)
        context = self.context(total)
        if context is None or self.game.is_terminal(context):
            word = "out of reach" if context is None else "reached, or the card full"
            message = f"{total} points are {word}: every decision is as good."
            raise gamedp.InvalidParameterError(message)
        return prospects(
            self.solution.inside(context),
            self.game.stage(),
            self.game.entries(context, thrown),
            (number, thrown),
            lambda state: state,
        )

    def best(self, dice: str | tuple[int, ...], number: int, *, total: int) -> Prospect:
        """Return the best decision; see :meth:`options`."""
        return self.options(dice, number, total=total)[0]
