"""The solution of the process that policies leave."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import attrs
import numpy as np

from gamedp.errors import NotSolvedError
from gamedp.model.objectives import TotalReward
from gamedp.model.problem import Problem
from gamedp.results.solution import Solution
from gamedp.results.status import Status, Tolerance
from gamedp.solvers.choose import solve_problem
from gamedp.solvers.tools.limit import Limit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.model.model import Model
    from gamedp.model.objectives import Objective
    from gamedp.policies.chain import Process
    from gamedp.runtime.progress import ProgressCallback

__all__ = ["bounds_of", "lengths_of", "solved", "solved_problem", "widened"]


def bounds_of(
    solution: Solution, loss: float, node: int | None = None, player: int = 0
) -> tuple[float, float]:
    """Return the bounds of a process's solution, and `loss` beyond them."""
    return widened(solution.bounds(node, player), loss)


def widened(bounds: tuple[float, float], loss: float) -> tuple[float, float]:
    """Return bounds that are wider by `loss` on either side."""
    low, high = bounds
    if loss:
        low, high = math.nextafter(low - loss, -math.inf), math.nextafter(high + loss, math.inf)
    return low, high


def solved(process: Process, objective: Objective, tolerance: float) -> Solution:
    """Return the solution of a process; wider bounds than asked for are bounds.

    Raises
    ------
    NotSolvedError
        If values depend on what endless play counts, which is not declared.
    """
    low, high = process.draws(objective)
    first = solved_problem(Problem(process.model, process.objective(objective, low)), tolerance)
    if low == high or process.model.structure.always_ends:
        return first
    second = solved_problem(Problem(process.model, process.objective(objective, high)), tolerance)
    lower, upper = np.minimum(first.lower, second.lower), np.maximum(first.upper, second.upper)
    both = attrs.evolve(first, lower=lower, upper=upper)
    if np.abs(first.values - second.values).max() <= 2 * tolerance:
        return both
    message = (
        f"these policies may play for ever, and it is not declared who gets the constant sum "
        f"{process.of.constant_sum:g} then. Give the objective TotalReward(draw=...)."
    )
    raise NotSolvedError(message, attrs.evolve(both, status=Status.UNDECLARED))


def lengths_of(
    chain: Model,
    counted: NDArray[np.bool_],
    tolerance: float,
    limit: Limit | None = None,
    progress: ProgressCallback | None = None,
) -> Solution:
    """Return how many of some choices are taken until the end, as a solution of its own.

    Parameters
    ----------
    chain : Model
        One choice in each state.
    counted : (C,) bool
    tolerance : float
    limit, progress
        As for :func:`solved_problem`.
    """
    counting = attrs.evolve(
        chain,
        rewards=counted.astype(np.float64),
        payoffs=np.zeros(len(chain.terminals)),
        num_players=1,
        constant_sum=0.0,
        players=np.zeros(chain.num_states, np.int8),
        rounding=(0.0, 0.0, 0.0),
    )
    objective = TotalReward(until=counting.is_terminal)
    return solved_problem(Problem(counting, objective), tolerance, limit, progress)


def solved_problem(
    problem: Problem,
    tolerance: float,
    limit: Limit | None = None,
    progress: ProgressCallback | None = None,
) -> Solution:
    """Return the solution of a problem; where rounding stops the solver, that is one."""
    limit = limit or Limit(math.inf)
    try:
        return solve_problem(problem, None, Tolerance(tolerance), progress, limit=limit)
    except NotSolvedError as error:
        known = error.solution
        if isinstance(known, Solution) and known.status is Status.ROUNDING:
            return known
        raise
