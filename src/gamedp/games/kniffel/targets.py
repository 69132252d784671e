"""Playing for a total: the best probability of reaching it, for all totals together.

A player who needs a certain number of points plays differently from one who maximises the expected
points. The rest of the game then depends on the points so far, besides the sheet; so the table of
contexts has one more dimension, and includes only free boxes. With up to seven free boxes it is
solved in seconds; the empty card has 200 million contexts, which take about 10 GB and some minutes,
and are refused without a request.
"""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

import gamedp
from gamedp.games.kniffel.card import Card
from gamedp.games.kniffel.for_total import ForTotal
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

__all__ = ["Targets"]


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
            message = f"{total} points are {word}: every decision is as good."
            raise gamedp.errors.InvalidParameterError(message)
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
