"""Two players: how to win, which is not the same as maximising expected points.

The opponent plays for points, as the solution of the game for one player does; so the
opponent's final total has a distribution that does not depend on what I do. Three numbers describe
my probability of winning:

* a policy that ignores the opponent's throws can maximise the expected probability that my final
  total beats the opponent's: this is the basis of the advice, and a lower bound of the best
  probability;
* if I knew the opponent's final total beforehand, playing for exactly that target would be optimal:
  an upper bound;
* when few boxes are free, the last rounds can be solved exactly, against an opponent who plays for
  points, or to win. The first of these lies between the two bounds.

The article's program has done this since 2014.
"""

from __future__ import annotations

import math
from collections import defaultdict
from functools import cached_property
from typing import Any, Literal

import attrs
import numpy as np
from numpy.typing import NDArray

import gamedp
from gamedp.errors import shown
from gamedp.games.kniffel.boxes import refuse
from gamedp.games.kniffel.card import Card
from gamedp.games.kniffel.last_rounds import (
    AgainstOpponent,
    AgainstPoints,
    LastRounds,
    Standing,
    mine,
)
from gamedp.games.kniffel.prospects import Prospect, as_thrown, prospects
from gamedp.games.kniffel.remainder import (
    MOST_CONTEXTS,
    Compile,
    ProgressCallback,
    Remainder,
    Size,
    check_size,
)
from gamedp.games.kniffel.rules import Kniffel, Sheet
from gamedp.games.kniffel.targets import ForTotal, PointsForTotal, Targets

MY_ENDS = 250
"""Approximate number of ways in which a turn ends; the opponent's turns have as many again."""


def _a_probability(_duel: object, attribute: attrs.Attribute[float], value: float) -> None:
    if not 0 <= value <= 1:
        refuse(f"{attribute.name} must lie between 0 and 1, not {shown(value)}.")


@attrs.frozen(eq=False, slots=False)
class Duel:
    """Two sheets, and the best way to win with the first one against a player for points.

    :meth:`of` makes it from two cards.

    Parameters
    ----------
    rules : Kniffel
    sheet, opponent_sheet : Sheet
        The parts of both cards that matter.
    lead : int
        My points minus the opponent's, without bonuses for the upper part.
    draw : float
        The value of a draw; a victory counts 1.
    solution : gamedp.StagedSolution, optional
        The solution of the rules, by which the opponent plays. It is computed if not given.
    max_contexts : float
        The largest number of contexts of a table.
    compile, progress
        As for :func:`gamedp.solve`.

    Examples
    --------
    >>> mine = Card.of("- 8 9 16 15 - 15 9 25 30 40 - 20")
    >>> other = Card.of("3 8 - 16 15 24 - 9 25 30 40 0 -")
    >>> duel = Duel.of(mine, other)
    >>> print(f"{duel.lower:.4f} to {duel.upper:.4f}")
    0.1238 to 0.1325
    >>> print(duel.best("11266", 2).name(), duel.best("11266", 3).name())
    66 Einser
    """

    rules: Kniffel
    sheet: Sheet
    opponent_sheet: Sheet
    lead: int = 0
    draw: float = attrs.field(default=0.5, validator=_a_probability)
    solution: Any = attrs.field(default=None, repr=False)
    max_contexts: float = MOST_CONTEXTS
    compile: Compile = "auto"
    progress: ProgressCallback | None = attrs.field(default=None, repr=False)
    _endgames: dict[Any, Endgame] = attrs.field(factory=dict, init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        """Solve the game of one player if necessary."""
        if self.solution is None:
            solution = self._solve(self.rules, 1e-8)
            object.__setattr__(self, "solution", solution)

    @classmethod
    def of(cls, card: Card, opponent: Card, rules: Kniffel | None = None, **options: Any) -> Duel:
        """Return the duel of two cards.

        Parameters
        ----------
        card, opponent : Card
        rules : Kniffel, optional
            Those of the article if not given.
        **options
            `draw`, `solution`, `max_contexts`, `compile` and `progress`, as for the class.
        """
        rules = Kniffel() if rules is None else rules
        lead = card.entered(rules) - opponent.entered(rules)
        return cls(rules, card.sheet(rules), opponent.sheet(rules), lead, **options)

    @cached_property
    def opponent(self) -> Any:
        """The distribution of the opponent's remaining points, upper bonus included."""
        return gamedp.stages.distribution(self.solution, self.opponent_sheet)

    @cached_property
    def _remainder(self) -> Remainder:
        return Remainder.of(self.rules, self.sheet)

    @cached_property
    def _solved(self) -> Any:
        """The game in which the value of a final total is the probability that it wins."""
        remainder = self._remainder
        # A bonus that has been reached is still to be paid.
        points = remainder.most + 1
        size = Size(points * remainder.num_sheets)
        check_size(size, self.max_contexts, "this duel takes a table of")
        worths = [self._worth(self.lead + earned) for earned in range(points)]
        game = ForTotal.of(remainder, np.array(worths))
        return self._solve(game, 1e-9)

    def _solve(self, game: Kniffel, tolerance: float) -> Any:
        return gamedp.solve(game, tolerance=tolerance, compile=self.compile, progress=self.progress)

    def _worth(self, ahead: int) -> float:
        """Return my probability of winning by my lead before the opponent's remaining points."""
        exactly = self.opponent.probability(ahead)
        return 1.0 - float(self.opponent.at_least(ahead)) + self.draw * float(exactly)

    @cached_property
    def own(self) -> Any:
        """The distribution of my remaining points if I play for points, too."""
        return gamedp.stages.distribution(self.solution, self.sheet)

    @cached_property
    def for_points(self) -> float:
        """My probability of winning if I play for points as well."""
        return float(self.own.expectation(lambda points: self._worth(self.lead + points)))

    @property
    def lower(self) -> float:
        """The probability when the opponent's throws to come are ignored; a lower bound."""
        return max(float(self._solved.bounds()[0]) - self._slack, 0.0)

    @cached_property
    def upper(self) -> float:
        """The probability if the opponent's final total were known; an upper bound."""
        known = self.opponent.expectation(lambda total: self._targets.bounds(total)[1])
        return min(float(known) + self._slack, 1.0)

    @cached_property
    def _slack(self) -> float:
        """The largest error of a number: the opponent's probabilities and their sum are rounded."""
        # The value of a final total has two of them, and few operations in addition.
        return 2 * float(self.opponent.relative_error) + 2.0**-50

    @cached_property
    def _targets(self) -> Targets:
        """The best probabilities for each final total of the opponent."""
        return Targets(
            self.rules,
            self.sheet,
            self.lead,
            self.draw,
            self.max_contexts,
            self.compile,
            self.progress,
        )

    def points(self) -> Any:
        """Return the distribution of my remaining points when I play to win as advised."""
        game = self._solved.model.rules.game
        fields = {field.name: getattr(game, field.name) for field in attrs.fields(ForTotal)}
        return gamedp.stages.distribution(self._solved, counting=PointsForTotal(**fields))

    def options(
        self, dice: str | tuple[int, ...], number: int, *, clairvoyant: bool = False
    ) -> tuple[Prospect, ...]:
        """Return all my decisions after a throw by my probability of winning, the best one first.

        Parameters
        ----------
        dice : str or tuple of int
            The throw: its faces, or the number of dice by face.
        number : int
            The number of the throw in the turn, from 1.
        clairvoyant : bool
            Whether the upper bound of each is the probability after it if the opponent's final
            total were known, as for :attr:`upper`; otherwise it is that of play as advised.

        Raises
        ------
        gamedp.errors.InvalidParameterError
            If there is no such throw, or my card is full.
        """
        thrown = as_thrown(self.rules, dice, number)
        if self.rules.is_terminal(self.sheet):
            refuse("the card is full, and there is nothing more to decide.")
        game = self._solved.model.rules.game
        start = game.initial_state()
        found = prospects(self._solved.inside(start), game, start, thrown)
        most = self._clairvoyant(dice, number) if clairvoyant else {}
        return tuple(
            attrs.evolve(
                each,
                lower=max(each.lower - self._slack, 0.0),
                upper=min(most.get(each.decision, each.upper) + self._slack, 1.0),
            )
            for each in found
        )

    def _clairvoyant(self, dice: str | tuple[int, ...], number: int) -> dict[Any, float]:
        """Return the probability after each decision if the opponent's final total were known."""
        targets = self._targets
        parts: dict[Any, list[float]] = defaultdict(list)
        sure = []
        for total, chance in self.opponent:
            if targets.is_open(total):
                for option in targets.options(dice, number, total=total):
                    parts[option.decision].append(chance * option.upper)
            else:
                sure.append(chance * targets.bounds(total)[1])
        decisions = list(parts) or [each.decision for each in self.options(dice, number)]
        return {decision: math.fsum(parts[decision] + sure) for decision in decisions}

    def best(self, dice: str | tuple[int, ...], number: int) -> Prospect:
        """Return my best decision; see :meth:`options`."""
        return self.options(dice, number)[0]

    def endgame(
        self,
        *,
        opponent_goal: Literal["points", "victory"] = "points",
        opponent_to_move: bool = False,
        max_contexts: float | None = None,
    ) -> Endgame:
        """Solve the remaining rounds exactly; each decision takes both cards into account.

        Parameters
        ----------
        opponent_goal : {"points", "victory"}
        opponent_to_move : bool
            Whether the next turn is the opponent's.
        max_contexts : float, optional
            The largest number of contexts of this table; that of the class if not given.

        Raises
        ------
        TooLargeError
            If too many boxes are free: a :class:`gamedp.errors.InvalidParameterError`.
        """
        if opponent_goal not in {"points", "victory"}:
            refuse(f'opponent_goal must be "points" or "victory", not {shown(opponent_goal)}.')
        most = self.max_contexts if max_contexts is None else max_contexts
        game = self._last_rounds(opponent_goal, opponent_to_move, most)
        key = opponent_goal, opponent_to_move
        if key not in self._endgames:
            self._endgames[key] = Endgame(self._solve(game, 1e-9))
        return self._endgames[key]

    def _last_rounds(self, goal: str, opponent_to_move: bool, max_contexts: float) -> LastRounds:
        """Return the game of the remaining rounds; raise TooLargeError as :meth:`endgame` does."""
        rules, sheet, opponent = self.rules, self.sheet, self.opponent_sheet
        mine, theirs = Remainder.of(rules, sheet), Remainder.of(rules, opponent)
        leads = -mine.most - 1, theirs.most + 1
        moves = 1 if (opponent_to_move or len(mine.masks) == 1) and len(theirs.masks) > 1 else 0
        lead = min(max(self.lead, leads[0]), leads[1])
        start = Standing(moves, lead, sheet.upper, 0, sheet.bonus, 0, 0, 0)
        shared = {
            **attrs.asdict(rules, recurse=False),
            "draw": float(self.draw),
            "leads": leads,
            **mine.fields(),
        }
        rows = 2 * (leads[1] - leads[0] + 1) * mine.num_sheets
        words = "the last rounds of these two cards, solved exactly, take a table of"
        if goal == "victory":
            check_size(Size(rows * theirs.num_sheets), max_contexts, words)
            start = start._replace(opponent_upper=opponent.upper, opponent_bonus=opponent.bonus)
            fields = {f"opponent_{name}": value for name, value in theirs.fields().items()}
            game: LastRounds = AgainstOpponent(**shared, start=start, **fields)
        else:
            # The number of sheets that the opponent may reach is known only from the results of the
            # turns, which take a while to compute.
            least = Size(rows * len(theirs.masks))
            check_size(least, max(max_contexts, MOST_CONTEXTS), f"{words} at least")
            results, free = _results(rules, opponent, self.solution)
            size = Size(rows * len(free), 1 + len(results[1]) / MY_ENDS)
            check_size(size, max_contexts, words)
            game = AgainstPoints(**shared, start=start, results=results, free=free)
        representative, _ = gamedp.rules.StagedRules(game).canonical(start)
        return attrs.evolve(game, start=representative)


def _results(
    rules: Kniffel, first: Sheet, solution: Any
) -> tuple[tuple[NDArray[Any], ...], NDArray[np.int64]]:
    """Return the results of the opponent's turns, and each sheet's number of free boxes.

    The bonus for the upper part is included in the points of the turn that fills the last box.
    """
    sheets = [first]
    numbers = {first: 0}
    offsets, rows = [0], []
    for sheet in sheets:  # grows during the iteration
        if not rules.is_terminal(sheet):
            for end, chance in gamedp.stages.end_probabilities(solution, sheet).items():
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
    free = np.array([rules.tier(sheet) for sheet in sheets], np.int64)
    return (np.array(offsets), *arrays), free


@attrs.frozen(eq=False)
class Endgame:
    """The last rounds of two players, solved exactly; see :meth:`Duel.endgame`."""

    solution: Any = attrs.field(repr=False)

    @property
    def game(self) -> LastRounds:
        """The game of the last rounds."""
        game: LastRounds = self.solution.model.rules.game
        return game

    @property
    def value(self) -> float:
        """The probability that I win, with draws counted by their value."""
        return float(self.solution.value())

    def bounds(self) -> tuple[float, float]:
        """Return proven bounds of that probability."""
        low, high = self.solution.bounds()
        return max(low, 0.0), min(high, 1.0)

    def options(self, dice: str | tuple[int, ...], number: int) -> tuple[Prospect, ...]:
        """Return all my decisions after a throw, as :meth:`Duel.options` does.

        Raises
        ------
        gamedp.errors.InvalidParameterError
            If there is no such throw, or it is not my turn.
        """
        thrown = as_thrown(self.game, dice, number)
        start = self.game.initial_state()
        if start.opponent_to_move or self.game.is_terminal(start):
            refuse("the next turn is not mine: there is nothing for me to decide.")
        rules = Kniffel(
            **{field.name: getattr(self.game, field.name) for field in attrs.fields(Kniffel)}
        )
        return prospects(self.solution.inside(start), rules, self.game.sheet(start), thrown, mine)

    def best(self, dice: str | tuple[int, ...], number: int) -> Prospect:
        """Return my best decision; see :meth:`options`."""
        return self.options(dice, number)[0]
