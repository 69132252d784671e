"""The value of every policy of a family against every other one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.bellman.enclosures import enclosed_difference, enclosed_sums
from gamedp.errors import InvalidParameterError, UnsupportedProblemError, shown
from gamedp.model.objectives import sum_of_values
from gamedp.model.problem import Problem
from gamedp.policies.arguments import as_model
from gamedp.policies.chain import Seats, even_steps, induce
from gamedp.policies.policy import as_policies
from gamedp.policies.solving import solved
from gamedp.results.base import mean_of
from gamedp.results.status import opposite_bounds
from gamedp.runtime.notebook import html_rows
from gamedp.runtime.options import CompileMode
from gamedp.solvers.request import checked_number, checked_objective

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.model.model import Model
    from gamedp.model.objectives import Objective
    from gamedp.policies.policy import Policy, PolicyLike
    from gamedp.rules.game import Game

    Table = NDArray[np.float64]

MOST_SHOWN = 10
"""Largest number of policies for which notebooks show the full table."""


@attrs.frozen(eq=False, kw_only=True, repr=False)
class CrossTable:
    """The value of every policy of a family against every other one.

    Attributes
    ----------
    names : tuple of n str
    lower, upper : (n, n) float64
        Bounds of the value of the row's policy as player 0 against the column's policy.
    constant_sum : float
        The sum of both players' values.
    """

    names: tuple[str, ...]
    lower: Table
    upper: Table
    constant_sum: float

    def __repr__(self) -> str:
        """Return the size, and the best policy, in short."""
        return f"<CrossTable of {len(self.names)} policies: {self.ranking()[0]} is best on average>"

    def _repr_html_(self) -> str:
        """Return each policy's value over both seats for notebooks, the best first."""
        order = np.argsort(-self.means, kind="stable").tolist()
        against = order if len(order) <= MOST_SHOWN else []
        header = ["policy", "average against all others", *(self.names[one] for one in against)]
        both, means = self.both, self.means
        rows = (
            (
                self.names[one],
                f"{means[one]:.6f}",
                *(f"{both[one, other]:.4f}" for other in against),
            )
            for one in order
        )
        return html_rows(header, rows)

    @property
    def first(self) -> Table:
        """The value of the row's policy as player 0, to within half of the bounds' distance."""
        return self.lower + (self.upper - self.lower) / 2

    @property
    def second(self) -> Table:
        """The value of the row's policy as player 1."""
        other: Table = self.constant_sum - self.first.T
        return other

    @property
    def both(self) -> Table:
        """The average value of the row's policy over both seats."""
        mean: Table = (self.first + self.second) / 2
        return mean

    @property
    def means(self) -> NDArray[np.float64]:
        """The average value of each policy over both seats and all other policies; (n,).

        A single policy is compared with itself. See :attr:`mean_bounds` for bounds of it.
        """
        low, high = self.mean_bounds
        return low + (high - low) / 2

    @property
    def mean_bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Bounds (lower, upper) of `means`; (n,) each."""
        count = len(self.names)
        others = ~np.eye(count, dtype=np.bool_) if count > 1 else np.ones((1, 1), np.bool_)
        second = enclosed_difference(self.constant_sum, self.lower.T, self.upper.T)
        terms = [
            np.concatenate([of_first[others], of_second[others]]).reshape(2, count, -1)
            for of_first, of_second in zip((self.lower, self.upper), second, strict=True)
        ]
        flat = [np.moveaxis(each, 0, 1).ravel() for each in terms]
        length = len(flat[0]) // count
        weights = np.full(len(flat[0]), 1 / length)
        return enclosed_sums(length * np.arange(count + 1), weights, *flat)

    @property
    def width(self) -> float:
        """The largest distance between the bounds."""
        return float((self.upper - self.lower).max())

    def ranking(self) -> list[str]:
        """Return the names, in descending order of their average value."""
        return [self.names[place] for place in np.argsort(-self.means, kind="stable")]

    def bounds(self, one: str, other: str) -> tuple[float, float]:
        """Return (lower, upper) of the value of one policy as player 0 against another.

        Raises
        ------
        InvalidParameterError
            If there is no policy with that name.
        """
        for name in (one, other):
            if name not in self.names:
                message = f"there is no {name} in the table; there are {', '.join(self.names)}."
                raise InvalidParameterError(message)
        place = self.names.index(one), self.names.index(other)
        return float(self.lower[place]), float(self.upper[place])


def cross_table(
    game_or_model: Game | Model,
    policies: Mapping[str, PolicyLike],
    objective: Objective | None = None,
    *,
    tolerance: float = 1e-9,
    compile: CompileMode = "auto",
) -> CrossTable:
    """Compute the value of every policy of a family against every other, without playing a game.

    Parameters
    ----------
    game_or_model
        A game for two players with a constant sum, or its Model; it is compiled once.
    policies : mapping of name to policy
        As for :func:`gamedp.evaluate`.
    objective, tolerance, compile
        As for :func:`gamedp.evaluate`.

    Returns
    -------
    CrossTable

    Raises
    ------
    InvalidParameterError, UnsupportedProblemError, NotSolvedError
        As for :func:`gamedp.evaluate`.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> model = gamedp.compile(Matches(matches=6), compile="never")
    >>> table = gamedp.cross_table(
    ...     model, {"best": gamedp.solve(model), "chance": gamedp.Policy.uniform(model)}
    ... )
    >>> table.ranking(), table.means.round(4).tolist()
    (['best', 'chance'], [0.8889, -0.8889])
    """
    given: Any = policies
    if not isinstance(given, Mapping):
        message = f"policies is {shown(policies)}; it must be a mapping of names to policies."
        raise InvalidParameterError(message)
    model = as_model(game_or_model, list(policies.values()), compile)
    objective = checked_objective(objective)
    tolerance = checked_number("tolerance", tolerance)
    Problem(model, objective)  # refuses what no solver supports
    if not model.has_opponents:
        message = f"a cross table is for two players; these are {model.num_players}."
        raise UnsupportedProblemError(message)
    if not policies:
        message = "a cross table needs a policy."
        raise InvalidParameterError(message)
    total = sum_of_values(objective, model.constant_sum)
    if total is None:
        message = (
            f"with constant_sum={model.constant_sum:g}, what both players get does not add up to a "
            f"constant under {objective!r}, so there is no table of both seats. Use "
            "TotalReward, or evaluate the pairs."
        )
        raise UnsupportedProblemError(message)
    made = as_policies(policies, model)
    count = len(made)
    lower, upper = np.empty((2, count, count))

    def write(row: int, column: int, pair: tuple[float, float]) -> None:
        lower[row, column], upper[row, column] = pair

    for row, one in enumerate(made):
        for column in range(row if model.has_swaps else 0, count):
            pairs = _meet(model, (one, made[column]), objective, tolerance, total)
            write(row, column, pairs[0])
            if len(pairs) > 1:
                write(column, row, pairs[1])
    names = tuple(policies)
    endless = np.argwhere(~(np.isfinite(lower) & np.isfinite(upper)))
    if len(endless):
        one, other = (names[place] for place in endless[0].tolist())
        message = (
            f"the total of {one} against {other} is infinite, and a table has averages. Use "
            "Discounted or AverageReward, or evaluate the pairs."
        )
        raise UnsupportedProblemError(message)
    return CrossTable(names=names, lower=lower, upper=upper, constant_sum=total)


def _meet(
    model: Model, pair: tuple[Policy, Policy], objective: Objective, tolerance: float, total: float
) -> list[tuple[float, float]]:
    """Return bounds of the first policy's value as player 0; and the second's if seats are merged.

    The same chain then has both: the second is player 0 where the players' places are swapped.
    """
    seats = Seats(tuple((policy,) for policy in pair))
    process = even_steps(induce(model, seats, both=model.has_swaps), objective)
    solution = solved(process, objective, tolerance)
    found = [solution.bounds()]
    if model.has_swaps:
        nodes, probabilities = process.initial_nodes(changed=1), model.initial_probabilities
        low, high = (
            mean_of(side[nodes].tolist(), np.abs(probabilities).tolist(), 0.0, outward)
            for side, outward in ((solution.lower, -math.inf), (solution.upper, math.inf))
        )
        found.append(opposite_bounds(total, low, high))
    return found
