"""One way to solve a problem: prepare it, choose solvers, and let each in turn do what it can.

No method is the best one everywhere. The chosen one goes first, within a budget of sweeps, counted
and not timed, so that the answer is the same on every machine. If the budget or rounding stops it,
others take over: those that eliminate states, or whose proofs lose less. If the budget stopped the
first one and no other has solved the problem, it finally gets its full limits; therefore not much
more than the budgets can be lost. A time limit, if there is one, applies to all of them together.
The proven bounds of all hold together: they are intersected.

Solvers take endless play to count 0; payoffs are shifted for another value of it
(:mod:`gamedp.solvers.tools.endless_play`). If it is not declared, it may be any number in an
interval; see :class:`gamedp.TotalReward`. Values are monotone in it. The lower bounds for the least
and the upper bounds for the greatest therefore hold for all in between.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs
import numpy as np

from gamedp.errors import NotSolvedError, shown
from gamedp.model.objectives import AverageReward
from gamedp.model.problem import Problem
from gamedp.reduction import OutOfTimeError, Reduction
from gamedp.results.solution import Solution
from gamedp.results.status import Guarantee, Status, Tolerance
from gamedp.runtime.limit import Limit, with_time_left
from gamedp.solvers.choose import choose, followers, forcing_solver, may_be_handed_over
from gamedp.solvers.request import Refusal, changed
from gamedp.solvers.tools.base import STOPS, how_close, is_close, reach, solve_as_asked, way_out
from gamedp.solvers.tools.endless_play import at_zero, counts_zero, declare, shifted_back
from gamedp.solvers.tools.prepared import Prepared, prepare

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gamedp.runtime.limit import ProgressCallback
    from gamedp.solvers.tools.base import Solver

    Attempt: TypeAlias = Callable[[Tolerance], Solution]

WORK = 2_000_000_000
"""Number of transitions that a solver may visit before the next takes over: some seconds."""

MIN_BUDGET_SWEEPS, MAX_BUDGET_SWEEPS = 300, 50_000
"""Smallest and largest budget of sweeps over a component before the next solver takes over."""

POLICY = 1000
"""Number of sweeps that a policy solved against its best answer counts as."""

DEFLATION_BUDGET = 500
"""Largest budget if bounds are deflated: no policies are evaluated on the way."""

SHARE = 0.49
"""Part of the tolerance for each of two values of endless play; the rest is for what a relative one
falls by where the bounds of both are joined.
"""


def solve_problem(
    problem: Problem,
    solver: Any,
    asked: Tolerance,
    progress: ProgressCallback | None = None,
    *,
    limit: Limit,
) -> Solution:
    """Return the solution of a problem, by the given solver, or by a chosen one if it is None."""
    # The first attempt is at an absolute tolerance.
    if not counts_zero(problem) or (asked.absolute > 0 and forcing_solver(problem, solver)):
        request = _Request(solver, asked, progress, limit)
        solution: Solution = reach(request.whatever_endless_play_counts(problem), problem, asked)
    elif solver is not None:
        solution = solve_as_asked(with_time_left(solver, limit), problem, asked, progress)
    else:
        prepared, chosen, _ = choose(problem, progress, limit)
        solution = solve_in_turn(prepared, chosen, asked, progress, limit=limit)
    return solution


@attrs.frozen
class _Request:
    """A request: by which solver, or None to choose; how closely; in what time.

    The tolerance and the limit are for all attempts together.
    """

    solver: Any
    asked: Tolerance
    progress: ProgressCallback | None
    limit: Limit

    def whatever_endless_play_counts(self, problem: Problem) -> Attempt:
        """Return how to solve a problem: directly if each player can force an end."""
        first = forcing_solver(problem, self.solver)
        if first is None:
            return self._by_endless_value(problem)

        def attempt(told: Tolerance) -> Solution:
            found = with_time_left(first, self.limit).solved_if_forced(
                problem, told.absolute, self.progress
            )
            return self._by_endless_value(problem)(told) if found is None else found

        return attempt

    def _by_endless_value(self, problem: Problem) -> Attempt:
        """Return how to solve a problem by its value of endless play, or by the extremes of it."""
        if problem.draws[0] != problem.draws[1]:
            return partial(self._for_any_endless_value, problem)
        if self.solver is None:
            prepared, solver, _ = choose(problem, limit=self.limit)
        else:
            prepared, solver = None, with_time_left(self.solver, self.limit)
        if getattr(solver, "counts_endless_value", False):
            return partial(self._by, solver, problem)
        shifted = at_zero(problem) if prepared is None else prepared.problem

        def attempt(told: Tolerance) -> Solution:
            if prepared is None:
                return self._by(solver, shifted, told)
            asked = self.asked.scaled(told.absolute)
            return solve_in_turn(prepared, solver, asked, self.progress, limit=self.limit)

        if shifted is problem:
            return attempt
        return partial(_for_an_endless_value, problem, shifted, attempt)

    def _by(self, solver: Any, problem: Problem, told: Tolerance) -> Solution:
        solution: Solution = solver.solve(problem, tolerance=told.absolute, progress=self.progress)
        return solution

    def _for_any_endless_value(self, problem: Problem, told: Tolerance) -> Solution:
        """Solve a problem in which the value of endless play is not declared."""
        stopped: NotSolvedError | None = None
        ends: list[Solution] = []
        for value in problem.draws:
            attempt = self._by_endless_value(declare(problem, value))
            try:
                ends.append(attempt(Tolerance(SHARE * told.absolute)))
            except NotSolvedError as error:
                stopped = stopped or error
                ends.append(error.solution)
        least, most = ends
        return _between(problem, least, most, self.asked.scaled(told.absolute), stopped)


def _for_an_endless_value(
    problem: Problem, shifted: Problem, attempt: Attempt, told: Tolerance
) -> Solution:
    """Solve a problem in which endless play counts another number than 0, by the shifted one."""
    tolerance = told.absolute
    narrower = Tolerance(tolerance / 2) if any(shifted.model.rounding) else told
    solution: Solution = changed(
        partial(attempt, narrower), lambda found: shifted_back(found, problem)
    )
    if solution.exact is not None:  # no double is closer
        status = Status.SOLVED if solution.width <= tolerance else Status.ROUNDING
        return attrs.evolve(solution, status=status)
    if solution.status is Status.SOLVED and not solution.width <= tolerance:
        message = (
            f"{type(solution.solver).__name__} knows every value to within "
            f"{solution.width:.3g}: payoffs less {problem.draws[0]!r} are rounded. Read "
            ".solution on this error."
        )
        raise NotSolvedError(message, attrs.evolve(solution, status=Status.ROUNDING))
    return solution


def _between(
    problem: Problem,
    least: Solution,
    most: Solution,
    asked: Tolerance,
    stopped: NotSolvedError | None,
) -> Solution:
    """Return the solution for all draws from those for the least and the greatest.

    Raises
    ------
    NotSolvedError
        If the values depend on the draw, or one of the two was not found.
    """
    model = problem.model
    lower, upper = np.asarray(least.lower), np.asarray(most.upper)
    with np.errstate(invalid="ignore"):
        middle = np.clip(lower + 0.5 * (upper - lower), lower, upper)
    distances = least.distances
    if distances is not None and most.distances is not None:
        distances = distances if (distances == most.distances).all() else None
    solution = attrs.evolve(
        least,
        objective=problem.objective,
        values=np.where(np.isfinite(middle), middle, least.values),
        lower=lower,
        upper=upper,
        # Each side's policy for the draw that is worst for it.
        policy=np.where(problem.maximise, least.policy, most.policy),
        exact=least.exact if least.exact == most.exact else None,
        tight=least.tight if least.exact == most.exact else None,
        distances=distances,
        statistics=_with_all_work(least, [least, most]).statistics,
    )
    if asked.admits(lower, upper):
        return attrs.evolve(solution, status=Status.SOLVED)
    if stopped is not None:
        status = stopped.solution.status
        raise NotSolvedError(str(stopped), attrs.evolve(solution, status=status))
    unproven = [end for end in (least, most) if end.guarantee is Guarantee.NONE]
    if unproven:  # which tells nothing about what the values depend on
        return attrs.evolve(solution, status=unproven[0].status, guarantee=Guarantee.NONE)
    apart = np.asarray(most.values) - np.asarray(least.values)
    state = int(np.argmax(apart))
    low, high = problem.draws
    message = (
        "the value depends on what endless play counts, which is not declared: from "
        f"{shown(model.state(state))} it is {float(least.values[state]):.6g} if that is {low:g}, "
        f"and {float(most.values[state]):.6g} if that is {high:g}. Declare it: "
        f"TotalReward(draw={model.constant_sum / 2:g}) shares the constant sum equally. Bounds "
        "that hold for all between are in .solution on this error."
    )
    raise NotSolvedError(message, attrs.evolve(solution, status=Status.UNDECLARED))


def solve_in_turn(
    problem: Problem | Prepared,
    chosen: Solver,
    asked: Tolerance,
    progress: ProgressCallback | None,
    *,
    limit: Limit | None = None,
) -> Solution:
    """Solve a problem by the chosen solver or, if it makes no progress, by others.

    Parameters
    ----------
    problem : Problem or Prepared
    limit : Limit, optional
        The time limit for all of them together.

    Raises
    ------
    NotSolvedError
        If none solves it. The error's solution has the bounds that all have proven together.
    """
    limit = limit or Limit(float("inf"))
    prepared = prepare(problem, progress)
    stopped: list[NotSolvedError] = []
    for solver, limited in _turns(prepared, chosen, stopped, limit, asked):
        in_time = with_time_left(limited, limit)
        try:
            solution = solve_as_asked(in_time, prepared, asked, progress)
        except NotSolvedError as error:
            stopped.append(error)
            error.solution = attrs.evolve(error.solution, solver=solver)
        else:
            object.__setattr__(solution, "solver", solver)  # made here, and not shared yet
            return _with_all_work(solution, [*(error.solution for error in stopped), solution])
    solutions = [error.solution for error in stopped]
    is_late = limit()
    if len(stopped) == 1 and solutions[0].guarantee is Guarantee.TWO_SIDED and not is_late:
        raise stopped[0]
    together = _with_all_work(_intersection(solutions), solutions)
    if is_close(together, asked):
        return attrs.evolve(together, status=Status.SOLVED)
    if is_late:
        together = attrs.evolve(together, status=Status.TIME_LIMIT)
    elif solutions[0].status is Status.ROUNDING:  # the others' few sweeps are not their own limit
        together = attrs.evolve(together, status=Status.ROUNDING)
    raise NotSolvedError(_message(prepared, together, solutions, asked), together)


def _turns(
    prepared: Prepared,
    chosen: Solver,
    stopped: list[NotSolvedError],
    limit: Limit,
    asked: Tolerance,
) -> Iterator[tuple[Solver, Solver]]:
    """Yield solvers, each also with its budget; `stopped` holds the errors of those before."""
    objective = prepared.problem.objective
    budgeted = may_be_handed_over(prepared.problem) and not isinstance(objective, AverageReward)
    limited = _within_budget(chosen, prepared, limit, MAX_BUDGET_SWEEPS) if budgeted else chosen
    yield chosen, limited
    first = stopped[0].solution
    if first.guarantee is Guarantee.NONE or limit():
        return
    sweeps = MIN_BUDGET_SWEEPS if first.status is Status.ROUNDING else MAX_BUDGET_SWEEPS
    for solver in followers(prepared, chosen, asked, limit):
        yield solver, _within_budget(solver, prepared, limit, sweeps)
        if limit():
            return
    if limited != chosen and first.status is Status.SWEEP_LIMIT:
        yield chosen, chosen


_limited = lru_cache(maxsize=64)(attrs.evolve)  # a solver with other limits


def _within_budget(solver: Any, prepared: Prepared, limit: Limit, most: int) -> Any:
    """Return a solver with a limit of sweeps that the size of the problem allows.

    Parameters
    ----------
    most : int
        The smallest budget if rounding has stopped another solver: long sweeps round as often.
    """
    transitions = max(1, prepared.problem.model.num_transitions)
    sweeps = min(max(WORK // transitions, MIN_BUDGET_SWEEPS), most)
    if hasattr(solver, "max_policies"):
        policies = max(WORK // (POLICY * transitions), 10)
        return _limited(solver, max_policies=min(solver.max_policies, policies))
    if not hasattr(solver, "max_sweeps"):
        return solver
    if prepared.searched is None:
        try:
            prepared.decide(limit)
        except OutOfTimeError:
            return solver  # which stops there
        found = prepared.reduction
        if isinstance(found, Reduction) and found.problem.needs_deflation:
            sweeps = min(sweeps, DEFLATION_BUDGET)
    return _limited(solver, max_sweeps=min(solver.max_sweeps, sweeps))


def _with_all_work(solution: Solution, solutions: list[Solution]) -> Solution:
    """Return a solution whose statistics count the work of all solvers."""
    if len(solutions) == 1:
        return solution
    own = solution.statistics
    seconds = dict(own.seconds)
    seconds["solve"] = sum(each.statistics.seconds["solve"] for each in solutions)
    sweeps = sum(each.statistics.sweeps for each in solutions)
    return attrs.evolve(solution, statistics=attrs.evolve(own, sweeps=sweeps, seconds=seconds))


def _intersection(solutions: list[Solution]) -> Solution:
    """Return the narrowest of the stopped solutions, with the bounds of all."""
    proven = [each for each in solutions if each.guarantee is Guarantee.TWO_SIDED]
    if len(proven) < 2:
        return (proven or solutions)[0]
    narrowest = min(proven, key=lambda each: each.width)
    lower = np.maximum.reduce([each.lower for each in proven])
    upper = np.minimum.reduce([each.upper for each in proven])
    if (lower > upper).any():
        state = narrowest.model.state(int((lower > upper).argmax()))
        names = " and ".join(type(each.solver).__name__ for each in proven)
        message = f"{names} contradict each other at {shown(state)}: please report this as a bug."
        raise RuntimeError(message)
    values = np.clip(narrowest.values, lower, upper)
    return attrs.evolve(narrowest, values=values, lower=lower, upper=upper)


def _message(
    prepared: Prepared, together: Solution, solutions: list[Solution], asked: Tolerance
) -> str:
    """Return a message: which solvers stopped, where, how much is known, and what would help."""
    tried: dict[str, str] = {}
    for each in solutions:
        tried[type(each.solver).__name__] = (
            f"stopped at {STOPS[each.status]} after {each.statistics.sweeps:,} sweeps"
        )
    who = "; ".join(f"{name} {what}" for name, what in tried.items())
    relative = not asked.absolute
    late = "; no time is left" if together.status is Status.TIME_LIMIT else ""
    message = f"{who}{late}; {how_close(together, relative=relative)}. "
    if together.guarantee is Guarantee.NONE:
        why = prepared.reduction
        if isinstance(why, Refusal):
            message += f"{type(together.solver).__name__} {why.reason} "
        return message + (
            "Raise max_sweeps of a solver that you name, or read .solution on this error."
        )
    return f"{message}{way_out(prepared.problem, together, relative=relative)}"
