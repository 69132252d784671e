"""Goals: a total to reach, points to make, and the distribution of the points that remain.

A player who needs a certain number of points plays differently from one who maximises the expected
points. The rest of the game then depends on the points so far, besides the sheet; so the table of
contexts has one more dimension, and includes only free boxes. With up to seven free boxes it is
solved in seconds; the empty card has 200 million contexts, which take about 10 GB and some minutes,
and are refused without a request.

The probability of a goal after one decision for it, followed by play for points, is known exactly,
from the first throw on, where playing for the goal to the end would take too large a table.
Continued play for the goal reaches at least as much, so the number is a lower bound, too.

The distribution of the remaining points of one sheet requires those of all sheets after it, so that
many are computed together. The early ones are kept: every new game needs them, and they take
longest.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

import gamedp
from gamedp.games.kniffel.boxes import refuse
from gamedp.games.kniffel.card import Card
from gamedp.games.kniffel.prospects import Prospect, as_thrown, prospects
from gamedp.games.kniffel.remainder import (
    MOST_CONTEXTS,
    Compile,
    ProgressCallback,
    Remainder,
    RestOfCard,
    Size,
    check_size,
    filled_with,
)
from gamedp.games.kniffel.rules import Kniffel, Sheet
from gamedp.games.kniffel.turn import Turn


@attrs.frozen(eq=False)
class Targets:
    """The best probability of reaching each total from a card.

    Parameters
    ----------
    rules : Kniffel
    sheet : Sheet
    entered : int
        The points on the card, without the bonus for the upper part.
    draw : float
        The value of reaching the total exactly; 1 for the probability of at least this many points.
    max_contexts : float
        The largest number of contexts of a table.
    compile, progress
        As for :func:`gamedp.solve`.

    Attributes
    ----------
    most : int
        The largest total that can be reached.
    game : ForTotal
    solution : gamedp.StagedSolution

    Raises
    ------
    TooLargeError
        If the table would be larger: a :class:`gamedp.errors.InvalidParameterError`.

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
    progress: ProgressCallback | None = attrs.field(default=None, repr=False)
    most: int = attrs.field(init=False)
    game: ForTotal = attrs.field(init=False, repr=False)
    solution: Any = attrs.field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        """Solve the game for all totals."""
        remainder = Remainder.of(self.rules, self.sheet)
        # Only the missing points matter: the total is reached with the most points that can be
        # earned, and exceeded with one point more.
        worths = np.zeros(remainder.most + 1 + (self.draw < 1))
        worths[-1], worths[remainder.most] = 1.0, self.draw
        size = Size(len(worths) * remainder.num_sheets)
        words = "playing for a total from this card takes a table of"
        check_size(size, self.max_contexts, words)
        game = ForTotal.of(remainder, worths)
        object.__setattr__(self, "most", self.entered + remainder.most)
        object.__setattr__(self, "game", game)
        solution = gamedp.solve(game, tolerance=1e-9, compile=self.compile, progress=self.progress)
        object.__setattr__(self, "solution", solution)

    @classmethod
    def of(cls, card: Card, rules: Kniffel | None = None, **options: Any) -> Targets:
        """Return the targets of a card.

        Parameters
        ----------
        card : Card
        rules : Kniffel, optional
            Those of the article if not given.
        **options
            `draw`, `max_contexts`, `compile` and `progress`, as for the class.
        """
        rules = Kniffel() if rules is None else rules
        return cls(rules, card.sheet(rules), card.entered(rules), **options)

    def context(self, total: int) -> Any:
        """Return the context from which `total` is to be reached, or None if that is impossible."""
        return None if total > self.most else self.game.starting(self.most - total)

    def is_open(self, total: int) -> bool:
        """Return whether a total can be reached, but is not certain."""
        context = self.context(total)
        return context is not None and not self.game.is_terminal(context)

    def at_least(self, total: int) -> float:
        """Return the best probability of at least `total` points in the end."""
        context = self.context(total)
        return 0.0 if context is None else float(self.solution.value(context))

    def bounds(self, total: int) -> tuple[float, float]:
        """Return proven bounds of that probability."""
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
            The throw: its faces, or the number of dice by face.
        number : int
            The number of the throw in the turn, from 1.
        total : int

        Raises
        ------
        gamedp.errors.InvalidParameterError
            If there is no such throw, or the total is out of reach or reached.
        """
        thrown = as_thrown(self.rules, dice, number)
        context = self.context(total)
        if not self.is_open(total):
            word = "out of reach" if context is None else "reached, or the card full"
            refuse(f"{total} points are {word}: every decision is as good.")
        return prospects(self.solution.inside(context), self.game, context, thrown)

    def best(self, dice: str | tuple[int, ...], number: int, *, total: int) -> Prospect:
        """Return the best decision; see :meth:`options`."""
        return self.options(dice, number, total=total)[0]


MIN_FREE_KEPT = 10
"""Least number of free boxes of the sheets that are kept."""


Rest: TypeAlias = dict[Sheet, Any]
"""The distribution of the remaining points, with the bonus for the upper part, from some sheets."""


def early_rest(solution: Any, *, progress: ProgressCallback | None = None) -> Rest:
    """Return the remaining points from each reachable sheet with `MIN_FREE_KEPT` free."""
    rules: Kniffel = solution.model.rules.game
    sheets = [Card().sheet(rules)]
    known = set(sheets)
    for sheet in sheets:  # grows during the iteration
        if rules.tier(sheet) > MIN_FREE_KEPT:
            after = [each for each in _following(solution, sheet) if each not in known]
            known.update(after)
            sheets += after
    return _find_rest(solution, sheets, progress)


def rest_after(solution: Any, sheet: Sheet, *, progress: ProgressCallback | None = None) -> Rest:
    """Return the remaining points from a sheet, and from each sheet after a turn."""
    return _find_rest(solution, [sheet, *_following(solution, sheet)], progress)


def _find_rest(solution: Any, sheets: list[Sheet], progress: ProgressCallback | None) -> Rest:
    found = gamedp.stages.distributions(solution, sheets, progress=progress)
    return dict(zip(sheets, found, strict=True))


def _following(solution: Any, sheet: Sheet) -> list[Sheet]:
    """Return the distinct sheets after a turn."""
    rules: Kniffel = solution.model.rules.game
    ends = [end for _, end in solution.model.ends if rules.allows(sheet, end)]
    return list(dict.fromkeys(rules.following(sheet, end) for end in ends))


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

    def box(self) -> dict[str, tuple[int, int]]:
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

    def tier(self, context: Any) -> int:
        return self.sheet_tier(self.sheet(context))

    def render(self, context: Any) -> str:
        return f"{context.points} points earned; {Kniffel.render(self, self.sheet(context))}"


@attrs.frozen(eq=False, kw_only=True)
class PointsForTotal(ForTotal):
    """The same contexts, with the points earned in them, for their distribution."""

    def reward(self, context: Any, end: Turn, player: int) -> float:
        return self.sheet_reward(self.sheet(context), end, player)

    def payoff(self, context: Any, player: int) -> float:
        return self.sheet_payoff(self.sheet(context), player)


Worth = Callable[[NDArray[np.int64]], NDArray[np.float64]]
"""The value of earning a number of points: the probability of the goal for each."""

ROUNDING = 2.0**-40
"""Upper bound of the rounding error of a probability here: a sum of some thousand products of a
turn, of a distribution, and of another one."""


class _Inside(NamedTuple):
    """The part of a turn's solution that `prospects` needs."""

    model: Any
    values: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]


@attrs.frozen(eq=False, slots=False)
class ForPoints:
    """A sheet, and the probability of a goal after each decision if play continues for points.

    Parameters
    ----------
    solution : gamedp.StagedSolution
        The solution of the rules, for playing for points.
    sheet : Sheet
    rest : Rest
        The remaining points from the sheet, and from each sheet after the turn.
    worth : callable
        The value of earning a number of points from the sheet on, the bonus for the upper part
        included: see :func:`beating` and :func:`reaching`.
    error : float
        The largest error of that value.
    """

    solution: Any = attrs.field(repr=False)
    sheet: Sheet
    rest: Rest
    worth: Worth = attrs.field(repr=False)
    error: float = 0.0

    @property
    def slack(self) -> float:
        """The largest error of a number."""
        errors = [each.relative_error for each in self.rest.values()]
        return float(max(errors)) + self.error + ROUNDING

    @property
    def value(self) -> float:
        """The probability of the goal if all decisions are for points."""
        return self._expected(self.sheet, 0)

    def options(self, dice: str | tuple[int, ...], number: int) -> tuple[Prospect, ...]:
        """Return all decisions after a throw, the best one first.

        The value of each is exact, up to rounding, for play for points after it; its lower bound
        also holds for continued play for the goal, and its upper bound is 1.

        Raises
        ------
        gamedp.errors.InvalidParameterError
            If there is no such throw.
        """
        rules: Kniffel = self.solution.model.rules.game
        thrown = as_thrown(rules, dice, number)
        return tuple(
            attrs.evolve(each, lower=max(each.value - self.slack, 0.0), upper=1.0)
            for each in prospects(self._inside, rules, self.sheet, thrown)
        )

    def _expected(self, sheet: Sheet, earned: int) -> float:
        """Return the probability of the goal from a sheet on, with points earned before it."""
        rest = self.rest[sheet]
        return float(rest.probabilities @ self.worth(earned + rest.totals))

    @cached_property
    def _inside(self) -> _Inside:
        """The turn, with the probability of the goal from each of its states on."""
        inside = self.solution.inside(self.sheet)
        model, policy = inside.model, inside.policy
        values = np.zeros(model.num_states)
        for index in model.terminals.tolist():
            values[index] = self._entered(model.state(index))
        for state in model.structure.order.tolist():  # successors come first
            if policy[state] >= 0:
                row = slice(*model.transition_offsets[policy[state] : policy[state] + 2].tolist())
                values[state] = model.probabilities[row] @ values[model.successors[row]]
        return _Inside(model, values, values - ROUNDING, values + ROUNDING)

    def _entered(self, end: Turn) -> float:
        rules: Kniffel = self.solution.model.rules.game
        earned = int(rules.reward(self.sheet, end, 0))
        return self._expected(rules.following(self.sheet, end), earned)


def reaching(missing: int) -> Worth:
    """Return the value of points for a player who needs a number of them."""
    return lambda points: (points >= missing).astype(np.float64)


def beating(remaining: Any, lead: int, draw: float = 0.5) -> Worth:
    """Return the value of points against an opponent with a distribution of remaining points.

    Parameters
    ----------
    remaining : gamedp.stages.Distribution
        The opponent's remaining points.
    lead : int
        My points minus the opponent's, without the bonuses for upper parts.
    draw : float
        The value of a draw; a victory counts 1.
    """
    below = np.concatenate([[0.0], np.cumsum(remaining.probabilities)])

    def worth(points: NDArray[np.int64]) -> NDArray[np.float64]:
        less = below[np.searchsorted(remaining.totals, lead + points, "left")]
        no_more = below[np.searchsorted(remaining.totals, lead + points, "right")]
        won: NDArray[np.float64] = (1 - draw) * less + draw * no_more
        return won

    return worth
