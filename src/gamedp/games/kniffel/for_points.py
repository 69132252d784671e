"""The probability of a goal after one decision for it, followed by play for points.

This probability is known exactly, from the first throw on, where playing for the goal to the end
would take too large a table. Continued play for the goal reaches at least as much, so the number is
a lower bound, too.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import attrs
import numpy as np
from numpy.typing import NDArray

from gamedp.games.kniffel.prospects import Prospect, as_thrown, prospects
from gamedp.games.kniffel.rest import Rest
from gamedp.games.kniffel.rules import Kniffel, Sheet
from gamedp.games.kniffel.turn import Turn

__all__ = ["ForPoints", "beating", "reaching"]

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
        errors = [each.relative_error for each in self.rest.known.values()]
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
        entries = rules.entries(self.sheet, thrown)
        found = prospects(
            self._inside, rules.stage(), entries, (number, thrown), lambda state: state
        )
        return tuple(
            attrs.evolve(each, lower=max(each.value - self.slack, 0.0), upper=1.0) for each in found
        )

    def _expected(self, sheet: Sheet, earned: int) -> float:
        """Return the probability of the goal from a sheet on, with points earned before it."""
        rest = self.rest.known[sheet]
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


def beating(his: Any, lead: int, draw: float = 0.5) -> Worth:
    """Return the value of points against an opponent with a distribution of remaining points.

    Parameters
    ----------
    his : gamedp.stages.Distribution
    lead : int
        My points minus his, without the bonuses for upper parts.
    draw : float
        The value of a draw; a victory counts 1.
    """
    below = np.concatenate([[0.0], np.cumsum(his.probabilities)])

    def worth(points: NDArray[np.int64]) -> NDArray[np.float64]:
        less = below[np.searchsorted(his.totals, lead + points, "left")]
        no_more = below[np.searchsorted(his.totals, lead + points, "right")]
        won: NDArray[np.float64] = (1 - draw) * less + draw * no_more
        return won

    return worth
