"""The process that policies induce, solved: its values, lengths of play, and visits of states."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import attrs
import numpy as np

from gamedp.bellman.enclosures import Products, enclosed_sum, enclosed_sums, rounded_outward, scaled
from gamedp.errors import NotSolvedError
from gamedp.model.model import Model
from gamedp.model.objectives import (
    FiniteHorizon,
    TotalReward,
    known_at_the_end,
    value_of_endless_play,
)
from gamedp.model.problem import Problem
from gamedp.results.solution import Solution
from gamedp.results.status import Status, Tolerance, width_of
from gamedp.runtime.floats import PROBABILITY_ROUNDING, TINY, UNIT, UPWARD
from gamedp.runtime.limit import Limit
from gamedp.solvers.solving import solve_problem
from gamedp.solvers.tools.run import widened

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.model.objectives import Objective
    from gamedp.policies.chain import Process
    from gamedp.runtime.arrays import Floats
    from gamedp.runtime.limit import ProgressCallback


def solved(process: Process, objective: Objective, tolerance: float) -> Solution:
    """Return the solution of a process; bounds wider than the tolerance are accepted.

    Raises
    ------
    NotSolvedError
        If values depend on the value of endless play, which is not declared.
    """
    low, high = value_of_endless_play(objective, process.of)
    off = process.probabilities_off
    problem = Problem(process.model, process.objective(objective, low))
    first = solved_problem(problem, tolerance, probabilities_off=off)
    if low == high or process.model.structure.always_ends:
        return first
    problem = Problem(process.model, process.objective(objective, high))
    second = solved_problem(problem, tolerance, probabilities_off=off)
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
    """Return the expected number of some choices taken until the end, as a solution.

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
    *,
    probabilities_off: float = 0.0,
) -> Solution:
    """Return the solution of a problem; a solution stopped by rounding is accepted.

    The errors of the model's rewards, payoffs and probabilities are included here, without the
    solver: it has no rules to ask for the intended numbers. Nor are the stored numbers solved as
    exact ones: bounds hold for all probabilities that agree with these to two units in the last
    place.

    Parameters
    ----------
    problem : Problem
    tolerance : float
    limit, progress : optional
    probabilities_off : float
        As in :class:`gamedp.policies.chain.Process`. If all probabilities of a choice have a
        relative error of e together, a mean of values of at most v has an error of e v, like that
        of a reward.
    """
    limit = limit or Limit(math.inf)
    payoff_off, reward_off, part = problem.model.rounding
    if any(problem.model.rounding) or problem.model.fractions:
        empty = {"rounding": (0.0, 0.0, 0.0), "fractions": {}}
        fields = {**problem.model.__getstate__(), **empty}
        problem = attrs.evolve(problem, model=Model.unchecked(**fields))
    try:
        found = solve_problem(problem, None, Tolerance(tolerance), progress, limit=limit)
    except NotSolvedError as error:
        known = error.solution
        if not (isinstance(known, Solution) and known.status is Status.ROUNDING):
            raise
        found = known
    if probabilities_off:
        most = _largest(problem, found, (payoff_off, reward_off))
        reward_off = (reward_off + probabilities_off * most) * UPWARD
    lower, upper = widened(problem, found.lower, found.upper, (payoff_off, reward_off, part))
    status = found.status
    if status is Status.SOLVED and not width_of(lower, upper) <= tolerance:
        status = Status.ROUNDING
    return attrs.evolve(found, lower=lower, upper=upper, status=status)


def _largest(problem: Problem, solution: Solution, off: tuple[float, float]) -> float:
    """Return an upper bound of the values after a step; payoffs and rewards may have errors."""
    model, objective = problem.model, problem.objective
    if not isinstance(objective, FiniteHorizon):
        return float(np.maximum(np.abs(solution.lower), np.abs(solution.upper)).max())
    paid, earned = (
        float(np.abs(numbers).max(initial=0.0)) + each
        for numbers, each in zip(
            (known_at_the_end(objective, model), model.rewards), off, strict=True
        )
    )
    return (objective.horizon * earned + paid) * UPWARD


def visits(chain: Model, longest: Floats) -> tuple[Floats, Floats]:
    """Return bounds of the expected number of visits of each state.

    They solve ``x = p + P' x`` for the initial distribution p and the probabilities P [1]_. For any
    x, the residual is r = p + P' x - x, and the true numbers differ from x by ``inv(I - P') r``.
    The columns of this inverse sum to the expected lengths of play, so that all differences
    together are at most the sum of ``|r| * length``.

    Parameters
    ----------
    chain : Model
        One choice in each state; play surely ends.
    longest : (S,)
        Upper bounds of the expected number of states visited from each state, itself included;
        terminal ones need not be counted.

    Returns
    -------
    lower, upper : (S,)

    References
    ----------
    .. [1] J. Kemeny, J. Snell, "Finite Markov Chains" (1960), theorem 3.2.4.
    """
    import scipy.sparse  # noqa: PLC0415 - slow to import, and rarely needed
    import scipy.sparse.linalg  # noqa: PLC0415 - likewise

    size, lengths = chain.num_states, np.diff(chain.transition_offsets)
    weights, off = scaled(chain.initial_probabilities)
    order = np.argsort(chain.initial_states, kind="stable")
    offsets = np.searchsorted(chain.initial_states[order], np.arange(size + 1))
    ones = np.ones(len(order))
    # With several starts, none is certain, however close to 1 its probability is.
    least_off = TINY if len(order) > 1 else 0.0
    begins = enclosed_sums(offsets, weights[order], ones, ones, relative=off, absolute=least_off)
    owners = np.repeat(np.flatnonzero(~chain.is_terminal), lengths)
    moves = scipy.sparse.csr_array(
        (np.abs(chain.probabilities), (chain.successors, owners)), shape=(size, size)
    )
    # Parallel transitions have been added up.
    products = Products(moves, PROBABILITY_ROUNDING + UNIT * int(lengths.max(initial=0)))
    system = scipy.sparse.eye_array(size, format="csc") - moves.tocsc()

    def missing(visits: Floats) -> tuple[Floats, Floats]:
        """Return bounds of the residual."""
        came = products.enclosed(visits, visits)
        terms = (
            np.column_stack([*each, -visits]).ravel() for each in zip(begins, came, strict=True)
        )
        return enclosed_sums(3 * np.arange(size + 1), np.ones(3 * size), *terms, relative=0.0)

    # A state is visited no more often than play from there is long.
    most = np.nextafter(longest + 1.0, np.inf)
    least = np.maximum(begins[0], 0.0)
    try:
        solve = scipy.sparse.linalg.splu(system).solve
        found = np.clip(solve(begins[0]), 0.0, most)
        for _ in range(2):  # what was lost by rounding is found from what is missed
            low, high = missing(found)
            found = np.clip(found + solve((low + high) / 2), 0.0, most)
    except RuntimeError:  # singular, as far as doubles can tell
        return least, most
    with np.errstate(over="ignore"):
        low, high = missing(found)
        _, error = enclosed_sum(np.maximum(-low, high), most, most, relative=0.0)
        lower, upper = rounded_outward(found, found, error)
    # NaN comes from states where play is too long for doubles.
    return np.fmax(lower, least), np.fmin(upper, most)
