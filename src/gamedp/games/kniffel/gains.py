"""The gain in winning probability from playing to win instead of for points.

Both players play for points until a few boxes are free on each card; then one of them plays to win.
The gain in a position is computed, with proof; the positions over which the mean is taken are
random: they are drawn as players for points reach them. Between two players for points who
alternate in beginning, each wins half of the games, so the winning probability is a half plus the
gain.
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
from gamedp.games.kniffel.boxes import refuse
from gamedp.games.kniffel.duel import Duel
from gamedp.games.kniffel.remainder import MOST_CONTEXTS, Compile
from gamedp.games.kniffel.rules import Kniffel, Sheet

CACHED_SHEETS = 256
"""Number of sheets whose turns are cached while positions are drawn: all games begin with the same
one."""


@attrs.frozen(eq=False, repr=False, kw_only=True)
class Gain:
    """The gain from playing to win instead of for points, in n positions.

    Attributes
    ----------
    free : int
        The number of free boxes on each card.
    seed : int
        The seed of the positions.
    exact : bool
        Whether each decision takes both cards into account, as in :meth:`Duel.endgame`; otherwise
        play is that of :attr:`Duel.lower`, which ignores the opponent's throws to come.
    for_points : (n,) float64
        The probability that a player for points wins against another, in each position; a draw
        counts as half. It is either player's turn with the same probability.
    to_win : (n,) float64
        The same for a player who plays to win.
    error : float
        The largest error of each of these gains.

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
        """The gain from playing to win in each position."""
        return self.to_win - self.for_points

    @property
    def mean(self) -> float:
        """The mean of the gains."""
        return math.fsum(self.gains) / len(self.gains)

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return Student's interval of the gain in a whole game.

        It is approximate: gains are not normally distributed, since many positions are decided; if
        all drawn ones are, it is much too narrow. The error of each gain is added at both ends.
        """
        deviation = float(self.gains.std(ddof=1)) if len(self.gains) > 1 else math.nan
        low, high = gamedp.policies.student_interval(
            self.mean, deviation, len(self.gains), confidence
        )
        return low - self.error, high + self.error

    def __repr__(self) -> str:
        """Return the gain in short."""
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
    """Compute the gain from playing to win against a player for points.

    Parameters
    ----------
    free : int
        The number of free boxes on each card when one player begins to play to win.
    positions : int
        The number of positions drawn: each has a card of either player, after play for points so
        far.
    seed : int
        The same seed gives the same positions.
    exact : bool
        Whether each decision takes both cards into account; with more than three free boxes this
        takes a long time, and much memory. Otherwise, the result is that of play that ignores
        the opponent's throws to come.
    rules : Kniffel, optional
        Those of the article if not given.
    solution : gamedp.StagedSolution, optional
        The solution of the rules, for playing for points. It is computed if not given.
    max_contexts, compile
        As for :class:`Duel`.

    Raises
    ------
    gamedp.errors.InvalidParameterError
        If a number is invalid, or a table would be larger than `max_contexts`.
    """
    rules = Kniffel() if rules is None else rules
    for name, number, least in (("free", free, 1), ("positions", positions, 1), ("seed", seed, 0)):
        _check_whole(name, number, least)
    if free > rules.num_boxes:
        refuse(f"free is {free}; a card has {rules.num_boxes} boxes.")
    if solution is None:
        solution = gamedp.solve(rules, tolerance=1e-8, compile=compile)
    drawn = _Drawn(rules, solution, np.random.default_rng(seed))
    found = []
    for _ in range(positions):
        (sheet, points), (opponent_sheet, opponent_points) = drawn.card(free), drawn.card(free)
        duel = Duel(
            rules,
            sheet,
            opponent_sheet,
            points - opponent_points,
            solution=solution,
            max_contexts=max_contexts,
            compile=compile,
        )
        low, high = _winning(duel, exact=exact)
        to_win, off = (low + high) / 2, (high - low) / 2
        # The winning probability of a player for points uses two distributions, the opponent's
        # twice, and few further operations. That of playing to win uses the opponent's as well.
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


def _winning(duel: Duel, *, exact: bool) -> tuple[float, float]:
    """Return bounds of my probability of winning: exactly, averaged over both seats; or advised."""
    if not exact:
        low, high = duel._solved.bounds()  # noqa: SLF001 - duel.lower is its end alone
        return low, high
    solution = duel.endgame().solution
    start = solution.model.rules.game.start
    ends = [solution.bounds(start._replace(opponent_to_move=turn)) for turn in (0, 1)]
    low, high = (sum(each) / 2 for each in zip(*ends, strict=True))
    return low, high


class _Drawn:
    """Draws cards as they occur after some rounds of a game for points."""

    def __init__(self, rules: Kniffel, solution: Any, rng: np.random.Generator) -> None:
        self._rules, self._rng = rules, rng
        self._ends = functools.lru_cache(CACHED_SHEETS)(
            functools.partial(gamedp.stages.end_probabilities, solution)
        )

    def card(self, free: int) -> tuple[Sheet, int]:
        """Return a sheet with a number of free boxes, and the points so far without the bonus."""
        rules, points = self._rules, 0
        sheet = rules.initial_state()
        while rules.tier(sheet) > free:
            ends = self._ends(sheet)
            chances = np.array(list(ends.values()))
            end = list(ends)[self._rng.choice(len(ends), p=chances / chances.sum())]
            points += int(rules.reward(sheet, end, 0))
            sheet = rules.following(sheet, end)
        return sheet, points


def _check_whole(name: str, number: Any, least: int) -> None:
    """Raise InvalidParameterError unless this is an integer that is large enough."""
    number = as_whole(number)
    if isinstance(number, bool) or not isinstance(number, int) or number < least:
        refuse(f"{name} must be a whole number of at least {least}, not {shown(number)}.")
