"""Two players: how to win, which is not the same as to expect many points.

The opponent plays for points, as the solution of the game for one player does; so his final total
has a distribution that does not depend on what I do. Three numbers say how likely I am to win:

* whoever does not look at his throws to come can choose the policy for which a final total is worth
  the probability that it beats his: this is what the advice rests on, and a lower bound of what can
  be reached;
* whoever knew his final total beforehand could do no better than play for just that target: an
  upper bound;
* when few boxes are free the last rounds can be solved exactly, against one who plays for points,
  or one who plays to win. The first of these lies between the two bounds.

The article's program does this since 2014.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal

import attrs
import numpy as np

import gamedp
from gamedp.games.kniffel.card import Card
from gamedp.games.kniffel.either_turn import mine
from gamedp.games.kniffel.for_total import ForTotal, PointsForTotal
from gamedp.games.kniffel.last_rounds import LastRounds
from gamedp.games.kniffel.prospects import Prospect, as_thrown, prospects
from gamedp.games.kniffel.remainder import MOST_CONTEXTS, Compile, Remainder, check_size
from gamedp.games.kniffel.rules import Kniffel, Sheet
from gamedp.games.kniffel.sides import Sides, against
from gamedp.games.kniffel.targets import Targets

__all__ = ["Duel", "Endgame"]


def _a_probability(_duel: object, attribute: attrs.Attribute[float], value: float) -> None:
    if not 0 <= value <= 1:
        message = f"{attribute.name} must lie between 0 and 1, not {value!r}."
        raise gamedp.InvalidParameterError(message)


@attrs.frozen(eq=False, slots=False)
class Duel:
    """Two sheets, and the best way to win with the first one against one who plays for points.

    :meth:`of` makes it of two cards.

    Parameters
    ----------
    rules : Kniffel
    sheet, his_sheet : Sheet
        What matters of both cards.
    lead : int
        My points minus his, without bonuses for the upper part.
    draw : float
        What a draw is worth; a victory is worth 1.
    solution : gamedp.StagedSolution, optional
        Of the rules: how he plays. It is found if not given.
    max_contexts : float
        How large a table may become.
    compile : {"auto", "always", "never"}
        As for :func:`gamedp.solve`.

    Examples
    --------
    >>> mine = Card.of("- 8 9 16 15 - 15 9 25 30 40 - 20")
    >>> his = Card.of("3 8 - 16 15 24 - 9 25 30 40 0 -")
    >>> duel = Duel.of(mine, his)
    >>> print(f"{duel.lower:.4f} to {duel.upper:.4f}")
    0.1238 to 0.1325
    >>> print(duel.best("11266", 2).name(), duel.best("11266", 3).name())
    66 Einser
    """

    rules: Kniffel
    sheet: Sheet
    his_sheet: Sheet
    lead: int = 0
    draw: float = attrs.field(default=0.5, validator=_a_probability)
    solution: Any = attrs.field(default=None, repr=False)
    max_contexts: float = MOST_CONTEXTS
    compile: Compile = "auto"

    def __attrs_post_init__(self) -> None:
        """Solve the game of one player, if need be."""
        if self.solution is None:
            solution = gamedp.solve(self.rules, tolerance=1e-8, compile=self.compile)
            object.__setattr__(self, "solution", solution)

    @classmethod
    def of(cls, card: Card, opponent: Card, rules: Kniffel | None = None, **options: Any) -> Duel:
        """Make the duel of two cards.

        Parameters
        ----------
        card, opponent : Card
        rules : Kniffel, optional
            Those of the article if not given.
        **options
            `draw`, `solution`, `max_contexts` and `compile`, as for the class.
        """
        rules = Kniffel() if rules is None else rules
        lead = card.entered(rules) - opponent.entered(rules)
        return cls(rules, card.sheet(rules), opponent.sheet(rules), lead, **options)

    @cached_property
    def opponent(self) -> Any:
        """The distribution of what he still earns, the bonus for his upper part included."""
        return gamedp.distribution(self.solution, self.his_sheet)

    @cached_property
    def _remainder(self) -> Remainder:
        return Remainder.of(self.rules, self.sheet)

    @cached_property
    def _solved(self) -> Any:
        """The game in which a final total is worth the probability that it wins."""
        remainder = self._remainder
        # A bonus that is reached already is still to be paid.
        points = remainder.most + 1
        check_size(points * remainder.num_sheets, self.max_contexts, "this duel")
        worths = [self._worth(self.lead + earned) for earned in range(points)]
        game = ForTotal.of(remainder, np.array(worths))
        return gamedp.solve(game, tolerance=1e-9, compile=self.compile)

    def _worth(self, ahead: int) -> float:
        """Return how likely I am to win if he has to earn more than I am ahead."""
        exactly = self.opponent.probability(ahead)
        return 1.0 - float(self.opponent.at_least(ahead)) + self.draw * float(exactly)

    @property
    def lower(self) -> float:
        """What is reached by a policy that does not look at his throws to come; a lower bound."""
        return float(self._solved.value())

    @cached_property
    def upper(self) -> float:
        """What could be reached if his final total were known beforehand; an upper bound."""
        targets = Targets(
            self.rules, self.sheet, self.lead, self.draw, self.max_contexts, self.compile
        )
        return float(self.opponent.expectation(targets.at_least))

    def points(self) -> Any:
        """Return the distribution of what I still earn when I play to win as advised."""
        game = self._solved.model.rules.game
        fields = {field.name: getattr(game, field.name) for field in attrs.fields(ForTotal)}
        return gamedp.distribution(self._solved, counting=PointsForTotal(**fields))

    def options(self, dice: str | tuple[int, ...], number: int) -> tuple[Prospect, ...]:
        """Return all my decisions after a throw by how likely I am to win, the best one first.

        Parameters
        ----------
        dice : str or tuple of int
            The throw: its faces, or how many dice show each.
        number : int
            Which throw of the turn it was, from 1.

        Raises
        ------
        gamedp.InvalidParameterError
            If there is no such throw, or my card is full.
        """
        thrown = as_thrown(self.rules, dice, number)
        _check_free(self.rules, self.sheet)
        game = self._solved.model.rules.game
        start = game.initial_state()
        return prospects(
            self._solved.inside(start),
            game.stage(),
            game.entries(start, thrown),
            (number, thrown),
            lambda state: state,
        )

    def best(self, dice: str | tuple[int, ...], number: int) -> Prospect:
        """Return my best decision; see :meth:`options`."""
        return self.options(dice, number)[0]

    def endgame(
        self, *, he_plays_for: Literal["points", "victory"] = "points", his_turn: bool = False
    ) -> Endgame:
        """Solve the rounds to come exactly, where each decision knows both cards.

        Parameters
        ----------
        he_plays_for : {"points", "victory"}
        his_turn : bool
            Whether the next turn is his.

        Raises
        ------
        gamedp.InvalidParameterError
            If too many boxes are free.
        """
        if he_plays_for not in {"points", "victory"}:
            message = f'he plays for "points" or "victory", not for {he_plays_for!r}.'
            raise gamedp.InvalidParameterError(message)
        sides = Sides(self.rules, self.sheet, self.his_sheet, self.lead, self.draw, his_turn)
        how = self.solution if he_plays_for == "points" else None
        return Endgame(against(sides, how, self.max_contexts), self.compile)


def _check_free(rules: Kniffel, sheet: Sheet) -> None:
    if rules.is_terminal(sheet):
        message = "the card is full, and there is nothing more to decide."
        raise gamedp.InvalidParameterError(message)


@attrs.frozen(eq=False)
class Endgame:
    """The last rounds of two players, solved exactly; see :meth:`Duel.endgame`."""

    game: LastRounds
    compile: Compile = "auto"
    solution: Any = attrs.field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        """Solve it."""
        solution = gamedp.solve(self.game, tolerance=1e-9, compile=self.compile)
        object.__setattr__(self, "solution", solution)

    @property
    def value(self) -> float:
        """How likely I am to win, a draw counted as it is worth."""
        return float(self.solution.value())

    def bounds(self) -> tuple[float, float]:
        """Return what that is proven to lie between."""
        low, high = self.solution.bounds()
        return max(low, 0.0), min(high, 1.0)

    def options(self, dice: str | tuple[int, ...], number: int) -> tuple[Prospect, ...]:
        """Return all my decisions after a throw, as :meth:`Duel.options` does.

        Raises
        ------
        gamedp.InvalidParameterError
            If there is no such throw, or it is not my turn.
        """
        thrown = as_thrown(self.game, dice, number)
        start = self.game.initial_state()
        if start.his_turn or self.game.is_terminal(start):
            message = "the next turn is not mine: there is nothing for me to decide."
            raise gamedp.InvalidParameterError(message)
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
