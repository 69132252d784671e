"""From a solver's numbers to a Solution, or to NotSolvedError with advice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.errors import InvalidParameterError, NotSolvedError
from gamedp.results.solution import Solution
from gamedp.results.status import Guarantee, Statistics, Status, width_of
from gamedp.solvers.tools.prepared import Prepared, prepare, support_of_rationals
from gamedp.solvers.tools.run import widened

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.model.problem import Problem
    from gamedp.reduction import Reduction
    from gamedp.solvers.tools.run import Numbers, Run

__all__ = ["STOPS", "how_close", "make_solution", "solution_of", "way_out"]

STOPS = {
    Status.SWEEP_LIMIT: "its limit of sweeps",
    Status.TIME_LIMIT: "its limit of time",
    Status.ROUNDING: "the limit of 64-bit rounding",
}
"""Statuses at which a solver may stop."""

MAX_STATES_IN_RATIONALS = 1000
"""Largest number of states for which linear systems in rational numbers take at most seconds."""

DIGITS = 1e-12
"""Smallest tolerance, relative to the largest value, that 64-bit numbers can prove."""


def make_solution(  # noqa: PLR0913 - what a solution consists of
    problem: Problem | Prepared,
    solver: Any,
    numbers: Numbers,
    policy: NDArray[np.int64],
    *,
    guarantee: Guarantee = Guarantee.TWO_SIDED,
    status: Status | None = None,
    tolerance: float | None = None,
    sweeps: int = 1,
    seconds: float = 0.0,
    relative: bool = False,
    exact: bool = False,
    **others: Any,
) -> Solution:
    """Return the Solution with a solver's numbers; raise NotSolvedError if it has stopped.

    If the model's payoffs or rewards are those of the rules rounded to doubles, the bounds are
    widened by that. The status is about the widened bounds.

    Parameters
    ----------
    problem : Problem or Prepared
    solver
        The solver that has solved it.
    numbers : (values, lower, upper), each (S,) float64
        New arrays, not those of the model; with infinite bounds where nothing is known.
    policy : (S,) int64
        The number of the choice in each state, -1 in terminal states.
    guarantee : Guarantee
        The guarantee that the bounds carry.
    status : Status, optional
        The reason why the solver stopped. By default nothing is proven if `guarantee` says so, and
        otherwise it is solved.
    tolerance : float, optional
        The requested distance between the bounds of a value. If they are farther apart, no solver
        has solved the problem: it was stopped by rounding. May only be left out with a status, or
        if nothing is proven.
    sweeps : int
        The number of passes over all states, rounded up.
    seconds : float
        Duration of solving.
    relative : bool
        Whether the tolerance is relative.
    exact : bool
        Whether the bounds are about the numbers of the rules, not about the nearest doubles.
    **others
        Further attributes of the solution, such as `step_policies`, `distances` or `biases`.

    Raises
    ------
    InvalidParameterError
        If neither a status nor a tolerance determines whether proven bounds are close enough.
    NotSolvedError
        If a limit or rounding has stopped the solver; the message contains advice.
    """
    problem = prepare(problem).problem
    model = problem.model
    values, lower, upper = numbers
    is_proven = guarantee is not Guarantee.NONE
    if status is None:
        status = Status.SOLVED if is_proven else Status.UNPROVEN
        if is_proven and tolerance is None:
            message = "give make_solution the tolerance that solve was asked for, or a status."
            raise InvalidParameterError(message)
    if any(model.rounding) and is_proven and not exact:
        lower, upper = widened(problem, lower, upper)
    if status is Status.SOLVED and is_proven and tolerance is not None:
        is_close = width_of(lower, upper, relative=relative) <= tolerance
        status = Status.SOLVED if is_close else Status.ROUNDING
    num_bytes = values.nbytes + lower.nbytes + upper.nbytes + policy.nbytes
    solution = Solution(
        model=model,
        objective=problem.objective,
        solver=solver,
        values=values,
        lower=lower,
        upper=upper,
        policy=policy,
        status=status,
        guarantee=guarantee,
        statistics=Statistics(
            states=model.num_states,
            choices=model.num_choices,
            transitions=model.num_transitions,
            sweeps=sweeps,
            seconds={"compile": 0.0, "explore": 0.0, **model.seconds, "solve": seconds},
            bytes=model.num_bytes + num_bytes,
        ),
        **others,
    )
    if status in STOPS:
        message = (
            f"{type(solver).__name__} stopped at {STOPS[status]} after {sweeps:,} sweeps; "
            f"{how_close(solution, relative=relative)}. "
            f"{way_out(problem, solution, relative=relative)}"
        )
        raise NotSolvedError(message, solution)
    return solution


def solution_of(
    run: Run,
    solver: Any,
    *,
    proven: bool = True,
    reduction: Reduction | None = None,
    **others: Any,
) -> Solution:
    """Return the solution that a run has found; raise NotSolvedError if it is not as requested.

    Parameters
    ----------
    run : Run
    solver
        The solver that the solution names.
    proven : bool
        Whether errors can be proven at all.
    reduction : Reduction, optional
        How the problem was derived from the one that is solved.
    **others
        Further attributes of the solution.
    """
    numbers, policy = run.results(proven=proven, reduction=reduction)
    return make_solution(
        run.problem if reduction is None else reduction.original,
        solver,
        numbers,
        policy,
        guarantee=Guarantee.TWO_SIDED if proven else Guarantee.NONE,
        status=run.status,
        tolerance=run.tolerance,
        sweeps=run.sweeps,
        seconds=run.reporter.seconds,
        relative=run.relative,
        **others,
    )


def how_close(solution: Solution, *, relative: bool) -> str:
    """Return a phrase for how much is known of all values."""
    width = width_of(solution.lower, solution.upper)
    if solution.guarantee is Guarantee.NONE or not np.isfinite(width):
        return "nothing is proven yet for some values"
    share = width_of(solution.lower, solution.upper, relative=True)
    if not relative or not np.isfinite(share):
        close = f"every value is known to within {width:.3g}"
        return f"{close}, and some may be 0, to which nothing is relative" if relative else close
    return f"every value is known to within {share:.3g} of itself"


def way_out(problem: Problem | Prepared, solution: Solution, *, relative: bool) -> str:
    """Return advice for a solver that has stopped.

    Parameters
    ----------
    problem : Problem or Prepared
    solution : Solution
        The solution so far.
    relative : bool
        Whether a relative tolerance was asked for.
    """
    ways = []
    solver = solution.solver
    if solution.status is Status.TIME_LIMIT:
        ways.append("Raise max_seconds")
    elif solution.status is Status.SWEEP_LIMIT:
        ways.append(f"Raise {'max_policies' if hasattr(solver, 'max_policies') else 'max_sweeps'}")
    elif solution.guarantee is not Guarantee.NONE and _can_be_exact(problem):
        ways.append("Use gamedp.solvers.ExactPolicyIteration(), which does not round")
    largest = float(np.abs(solution.values[np.isfinite(solution.values)]).max(initial=0.0))
    width = width_of(solution.lower, solution.upper, relative=relative)
    if not relative and solution.status is Status.ROUNDING and width < DIGITS**0.5 * largest:
        ways.append("ask for digits of each value with relative=True")
    if relative and not np.isfinite(width):
        ways.append("ask for an absolute tolerance")
    if np.isfinite(width) and width > 0:
        ways.append(f"ask for a tolerance of {2 * width:.1g}")
    ways.append("read .solution on this error")
    words = f"{', '.join(ways[:-1])}, or {ways[-1]}" if len(ways) > 1 else ways[0]
    return f"{words[0].upper()}{words[1:]}."


def _can_be_exact(problem: Problem | Prepared) -> bool:
    """Return whether rational numbers would do, in seconds, as far as the graph tells."""
    prepared = prepare(problem)
    if prepared.problem.model.num_states > MAX_STATES_IN_RATIONALS:
        return False
    support = support_of_rationals(prepared)
    return support.ok and not support.is_open
