"""The last rounds of two sheets, solved: the probability that I win, and the best decisions."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

import gamedp
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

__all__ = ["Endgame", "Sides", "against"]

MY_ENDS = 250
"""Approximate number of ways in which a turn ends; the results of his turns are as many again."""


@attrs.frozen(eq=False)
class Sides:
    """Two sheets, the lead of the first one, and the value of a draw.

    Attributes
    ----------
    rules : Kniffel
    sheet, opponent_sheet : Sheet
    lead : int
        My points minus his, without bonuses for upper parts.
    draw : float
    opponent_to_move : bool
    """

    rules: Kniffel
    sheet: Sheet
    opponent_sheet: Sheet
    lead: int = 0
    draw: float = 0.5
    opponent_to_move: bool = False


def against(sides: Sides, solution: Any = None, max_contexts: float = MOST_CONTEXTS) -> LastRounds:
    """Return the game of two sheets.

    Parameters
    ----------
    sides : Sides
    solution : gamedp.StagedSolution, optional
        The solution of the rules, by which he plays for points. If not given, he plays to win.
    max_contexts : float
        The largest number of contexts of the table.

    Raises
    ------
    gamedp.errors.InvalidParameterError
        If the table would be larger.
    """
    rules = sides.rules
    my, his = Remainder.of(rules, sides.sheet), Remainder.of(rules, sides.opponent_sheet)
    leads = -my.most - 1, his.most + 1
    shared = {
        **attrs.asdict(rules, recurse=False),
        "draw": float(sides.draw),
        "leads": leads,
        **my.fields(),
    }
    moves = 1 if (sides.opponent_to_move or len(my.masks) == 1) and len(his.masks) > 1 else 0
    lead = min(max(sides.lead, leads[0]), leads[1])
    rows = 2 * (leads[1] - leads[0] + 1) * my.num_sheets
    words = "the last rounds of these two cards, solved exactly, take a table of"
    upper, bonus = sides.sheet.upper, sides.sheet.bonus
    if solution is None:
        check_size(Size(rows * his.num_sheets), max_contexts, words)
        start = Standing(
            moves, lead, upper, 0, bonus, sides.opponent_sheet.upper, 0, sides.opponent_sheet.bonus
        )
        game: LastRounds = AgainstOpponent(
            **shared,
            start=start,
            **{f"opponent_{name}": value for name, value in his.fields().items()},
        )
    else:
        # The number of sheets he may reach is known only from his results, which take a while to
        # compute.
        least = Size(rows * len(his.masks))
        check_size(least, max(max_contexts, MOST_CONTEXTS), f"{words} at least")
        results, free = _results(rules, sides.opponent_sheet, solution)
        size = Size(rows * len(free), 1 + len(results[1]) / MY_ENDS)
        check_size(size, max_contexts, words)
        start = Standing(moves, lead, upper, 0, bonus, 0, 0, 0)
        game = AgainstPoints(**shared, start=start, results=results, free=free)
    representative, _ = gamedp.rules.StagedRules(game).canonical(start)
    return attrs.evolve(game, start=representative)


def _results(
    rules: Kniffel, first: Sheet, solution: Any
) -> tuple[tuple[NDArray[Any], ...], NDArray[np.int64]]:
    """Return the results of his turns, and the number of free boxes on each of his sheets.

    The bonus for the upper part is included in the points of the turn that fills his last box.
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
    free = np.array([rules.rank(sheet) for sheet in sheets], np.int64)
    return (np.array(offsets), *arrays), free


@attrs.frozen(eq=False)
class Endgame:
    """The last rounds of two players, solved exactly; see :meth:`Duel.endgame`."""

    game: LastRounds
    compile: Compile = "auto"
    progress: ProgressCallback | None = attrs.field(default=None, repr=False)
    solution: Any = attrs.field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        """Solve the game."""
        solution = gamedp.solve(
            self.game, tolerance=1e-9, compile=self.compile, progress=self.progress
        )
        object.__setattr__(self, "solution", solution)

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
            message = "the next turn is not mine: there is nothing for me to decide."
            raise gamedp.errors.InvalidParameterError(message)
        turn = Kniffel.stage(self.game)
        sheet = self.game.sheet(start)
        plain = Kniffel(
            **{field.name: getattr(self.game, field.name) for field in attrs.fields(Kniffel)}
        )
        entries = plain.entries(sheet, thrown)
        return prospects(self.solution.inside(start), turn, entries, (number, thrown), mine)

    def best(self, dice: str | tuple[int, ...], number: int) -> Prospect:
        """Return my best decision; see :meth:`options`."""
        return self.options(dice, number)[0]
