"""How much more often wins who plays to win than who plays for points, over whole games.

Both play for points until a few boxes are free on each card; then one of them plays to win. What
that gains from a position is computed, and proven; over which positions to take the mean is left to
chance: they are drawn as points players get there. Between two points players who take turns at
beginning each wins half of the games, so half plus the gain is how often the other one wins.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

import gamedp
from gamedp.errors import shown
from gamedp.games._parameters import as_whole
from gamedp.games.kniffel.duel import Duel
from gamedp.games.kniffel.remainder import MOST_CONTEXTS, Compile
from gamedp.games.kniffel.rules import Kniffel, Sheet

__all__ = ["Gain", "gain"]

KEPT = 256
"""Sheets whose turns are kept while positions are drawn: all games begin with the same one."""


@attrs.frozen(eq=False, repr=False, kw_only=True)
class Gain:
    """What playing to win gains over playing for points, in n positions.

    Attributes
    ----------
    free : int
        How many boxes are free on each card.
    seed : int
        What the positions are drawn from.
    exact : bool
        Whether each decision knows both cards, as in :meth:`Duel.endgame`; else play is that of
        :attr:`Duel.lower`, which does not look at his throws to come.
    for_points : (n,) float64
        How likely a points player wins against one, in each position; a draw counts as half. It is
        my turn or his with the same probability.
    to_win : (n,) float64
        The same for one who plays to win.
    error : float
        Each of these gains is off by at most this.

    Examples
    --------
    >>> from gamedp.games.kniffel import Kniffel, gain
    >>> small = Kniffel(dice=2, faces=2, throws=2, threshold=3, upper_bonus=7)
    >>> found = gain(1, positions=20, seed=1, rules=small, compile="never")
    >>> low, high = found.interval()
    >>> low < found.mean < high
    True
    """

    free: int
    seed: int
    exact: bool
    for_points: NDArray[np.float64]
    to_win: NDArray[np.float64]
    error: float

    @property
    def gains(self) -> NDArray[np.float64]:
        """What playing to win gains in each position."""
        return self.to_win - self.for_points

    @property
    def mean(self) -> float:
        """The mean of the gains."""
        return math.fsum(self.gains) / len(self.gains)

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return Student's interval of what is gained in a whole game.

        It is approximate: gains are not normal, for many positions are decided; if all that were
        drawn are, it is much too narrow. The error of each gain is added at both ends.
        """
        deviation = float(self.gains.std(ddof=1)) if len(self.gains) > 1 else math.nan
        low, high = gamedp.policies.student_interval(
            self.mean, deviation, len(self.gains), confidence
        )
        return low - self.error, high + self.error

    def __repr__(self) -> str:
        """Say what is gained."""
        least = "" if self.exact else "at least "
        low, high = self.interval()
        return (
            f"<Gain with {self.free} free boxes, {len(self.gains):,} positions: "
            f"{least}{self.mean:.5f}, 95 % interval {low:.5f} to {high:.5f}>"
        )


def gain(
    free: int,
    *,
    positions: int = 100,
    seed: int = 0,
    exact: bool = True,
    rules: Kniffel | None = None,
    solution: Any = None,
    max_contexts: float = MOST_CONTEXTS,
    compile: Compile = "auto",
) -> Gain:
    """Return what playing to win gains against one who plays for points.

    Parameters
    ----------
    free : int
        How many boxes are free on each card when one begins to play to win.
    positions : int
        How many are drawn: each is a card of either player, after a game for points so far.
    seed : int
        The same seed gives the same positions.
    exact : bool
        Whether each decision is to know both cards; with more than three free boxes that takes
        long, and much memory. Else what is found is reached by play that does not look at his
        throws to come.
    rules : Kniffel, optional
        Those of the article if not given.
    solution : gamedp.StagedSolution, optional
        Of the rules: how one plays for points. It is found if not given.
    max_contexts, compile
        As for :class:`Duel`.

    Raises
    ------
    gamedp.errors.InvalidParameterError
        If a number is no such number, or a table would be larger than `max_contexts`.
    """
    rules = Kniffel() if rules is None else rules
    for name, number, least in (("free", free, 1), ("positions", positions, 1), ("seed", seed, 0)):
        _check_whole(name, number, least)
    if free > rules.num_boxes:
        message = f"free is {free}; a card has {rules.num_boxes} boxes."
        raise gamedp.errors.InvalidParameterError(message)
    if solution is None:
        solution = gamedp.solve(rules, tolerance=1e-8, compile=compile)
    drawn = _Drawn(rules, solution, np.random.default_rng(seed))
    found = []
    for _ in range(positions):
        (sheet, points), (his_sheet, his_points) = drawn.card(free), drawn.card(free)
        duel = Duel(
            rules,
            sheet,
            his_sheet,
            points - his_points,
            solution=solution,
            max_contexts=max_contexts,
            compile=compile,
        )
        to_win, off = _by_both_cards(duel) if exact else _by_advice(duel)
        # A points player wins by two distributions, his twice, and few operations more. To play to
        # win rests on his as well.
        off += 4 * float(duel.opponent.relative_error) + float(duel.own.relative_error) + 2.0**-48
        found.append((duel.for_points, to_win, off))
    for_points, wins, errors = np.array(found).T
    return Gain(
        free=free,
        seed=seed,
        exact=exact,
        for_points=for_points,
        to_win=wins,
        error=float(errors.max()),
    )


def _by_both_cards(duel: Duel) -> tuple[float, float]:
    """Return how likely I am to win, on average of both seats, and how far off that may be."""
    solution = duel.endgame().solution
    start = solution.model.rules.game.start
    ends = [solution.bounds(start._replace(his_turn=turn)) for turn in (0, 1)]
    low, high = (sum(each) / 2 for each in zip(*ends, strict=True))
    return (low + high) / 2, (high - low) / 2


def _by_advice(duel: Duel) -> tuple[float, float]:
    """Return how likely I am to win by play that does not look at his throws to come."""
    low, high = duel._solved.bounds()  # noqa: SLF001 - a duel's own lower bound is its end alone
    return (low + high) / 2, (high - low) / 2


class _Drawn:
    """Draws cards as they are after some rounds of a game for points."""

    def __init__(self, rules: Kniffel, solution: Any, rng: np.random.Generator) -> None:
        self._rules, self._rng = rules, rng
        self._ends = functools.lru_cache(KEPT)(
            functools.partial(gamedp.stages.end_probabilities, solution)
        )

    def card(self, free: int) -> tuple[Sheet, int]:
        """Return a sheet with so many free boxes, and the points so far without the bonus."""
        rules, points = self._rules, 0
        sheet = rules.initial_state()
        while rules.rank(sheet) > free:
            ends = self._ends(sheet)
            chances = np.array(list(ends.values()))
            end = list(ends)[self._rng.choice(len(ends), p=chances / chances.sum())]
            points += int(rules.reward(sheet, end, 0))
            sheet = rules.following(sheet, end)
        return sheet, points


def _check_whole(name: str, number: Any, least: int) -> None:
    """Raise InvalidParameterError unless this is a whole number that is large enough."""
    number = as_whole(number)
    if isinstance(number, bool) or not isinstance(number, int) or number < least:
        message = f"{name} must be a whole number of at least {least}, not {shown(number)}."
        raise gamedp.errors.InvalidParameterError(message)
