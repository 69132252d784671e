"""Solvers: the protocol, the base classes of methods, the solutions they make, tolerances."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import attrs
import numpy as np

from gamedp.errors import InvalidParameterError, NotSolvedError, UnsupportedProblemError
from gamedp.model.problem import Problem
from gamedp.reduction import OutOfTimeError, Reduction
from gamedp.results.solution import Solution
from gamedp.results.status import Guarantee, Statistics, Status, Tolerance, width_of
from gamedp.runtime.limit import Limit, ProgressCallback, with_time_left
from gamedp.runtime.options import positive, whole_and_positive
from gamedp.solvers.request import Refusal, Support, changed
from gamedp.solvers.tools.prepared import Prepared, prepare
from gamedp.solvers.tools.run import Run, RunResult, finer_tolerance, widened

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from gamedp.solvers.tools.run import Numbers


class Solver(Protocol):
    """A solver: an immutable value whose attributes are its options.

    A solver need not support relative tolerances: see :func:`solve_as_asked`.
    """

    def supports(self, problem: Problem) -> Support:
        """Return whether this solver supports the problem, and why not."""

    def solve(
        self, problem: Problem, *, tolerance: float, progress: ProgressCallback | None = None
    ) -> Solution:
        """Solve the problem so that every value is known within `tolerance`."""


def decide_in_time(solver: Any, prepared: Prepared, limit: Limit | None = None) -> bool:
    """Decide the open cases that a solver needs; return whether its time suffices.

    Parameters
    ----------
    limit : Limit, optional
        The solver's time limit, if it has begun.
    """
    if not isinstance(solver, PreparingSolver):
        return True
    try:
        solver.decide(prepared, limit or Limit(getattr(solver, "max_seconds", np.inf)))
    except OutOfTimeError:
        return False
    return True


def to_solver_input(solver: Any, problem: Any) -> Any:
    """Return a problem in the form that a solver takes: prepared, or the problem alone."""
    takes_more = not isinstance(problem, Prepared) or isinstance(solver, PreparingSolver)
    return problem if takes_more else problem.problem


def require(solver: Any, problem: Problem | Prepared) -> None:
    """Raise UnsupportedProblemError with the solver's reason unless it supports the problem."""
    support = solver.supports(problem)
    if not support:
        message = f"{type(solver).__name__} {support.reason}"
        raise UnsupportedProblemError(message)


class PreparingSolver:
    """The base class of solvers that take a prepared problem.

    They take a :class:`gamedp.Problem` as well, and prepare it themselves.
    """

    def supports(self, problem: Problem | Prepared) -> Support:
        """Return whether this solver supports the problem, and why not.

        For a prepared problem, only what its graph tells is considered. For any other, open cases
        are decided first; if `max_seconds` pass before they are, nothing speaks against the
        problem: `solve` will stop there.
        """
        if isinstance(problem, Prepared):
            return self.support_of(problem)
        prepared = prepare(problem)
        decide_in_time(self, prepared)
        return self.support_of(prepared)

    def support_of(self, prepared: Prepared) -> Support:
        """Return whether this solver supports the problem, and why not, as far as is known."""
        raise NotImplementedError  # each solver defines its own

    def decide(self, prepared: Prepared, out_of_time: Callable[[], bool]) -> None:
        """Decide numerically what this solver needs to know about the problem.

        Raises
        ------
        OutOfTimeError
            If `out_of_time` returns True on the way.
        """
        prepared.decide(out_of_time)

    def decide_in_time(self, prepared: Prepared, limit: Limit) -> float:
        """Decide what is open within a time limit; return the number of seconds left.

        Raises
        ------
        NotSolvedError
            If that takes longer: nothing is known of the values then.
        """
        if not decide_in_time(self, prepared, limit):
            answer = RunResult.unknown(prepared.problem.model)
            seconds = self.max_seconds  # type: ignore[attr-defined] # it has a limit
            solution_with(answer, prepared.problem, self, seconds=seconds)
        return limit.left


class FixedPointSolver(PreparingSolver):
    """The base class of solvers that iterate Bellman's equation to its fixed point.

    A solver is a frozen attrs class with the option `max_seconds`, and its `iterate` finds the
    values. Targets, end components and infinite totals are handled before and after
    (:mod:`gamedp.reduction`): the problem passed to `iterate` is proper, except for totals of
    endless play of which nothing can be proven.
    """

    max_seconds: float
    goes_relative: ClassVar[bool] = False
    """Whether `iterate` supports `run.relative`; if not, smaller tolerances are tried."""
    deflates: ClassVar[bool] = False
    """Whether `iterate` solves problems with :attr:`gamedp.Problem.needs_deflation`."""
    sweeps_in_order: ClassVar[bool] = False
    """Whether `iterate` sweeps over a whole model: faster if its arrays are in that order."""

    def support_of(self, prepared: Prepared) -> Support:
        """Return whether this solver supports the problem, and why not."""
        return prepared.support_of_proper()

    def solve(
        self,
        problem: Problem | Prepared,
        *,
        tolerance: float,
        progress: ProgressCallback | None = None,
        relative: bool = False,
    ) -> Solution:
        """Solve the problem so that every value is known within `tolerance`.

        Parameters
        ----------
        relative : bool
            Whether that is `tolerance` times the absolute value, for each state.
        """
        limit = Limit(self.max_seconds)
        limit()
        prepared = prepare(problem, progress)
        if not relative:
            at_once = self.solved_at_once(prepared, tolerance, progress)
            if at_once is not None:
                return at_once
        seconds = self.decide_in_time(prepared, limit)
        require(self, prepared)
        if relative and not self.goes_relative:
            asked = Tolerance(0.0, tolerance)
            solution: Solution = solve_as_asked(self, prepared, asked, progress)
            return solution
        found = prepared.reduction if self.deflates else prepared.proper
        if self.sweeps_in_order and not isinstance(found, Refusal):
            found = prepared.in_order()
        reduction = found if isinstance(found, Reduction) else None
        proper = prepared.problem if reduction is None else reduction.problem
        run = Run(proper, tolerance, progress, seconds, relative=relative)
        with np.errstate(over="ignore", invalid="ignore"):  # an overflow is refused at the end
            self.iterate(run)
            proven = proper.is_proper or proper.needs_deflation
            return solution_of(run, self, proven=proven, reduction=reduction)

    def solved_at_once(
        self, prepared: Prepared, tolerance: float, progress: ProgressCallback | None
    ) -> Solution | None:
        """Return the solution if the method finds it without a reduction, else None."""
        del prepared, tolerance, progress
        return None

    def iterate(self, run: Run) -> None:
        """Fill in the values of a run and prove them if possible."""
        raise NotImplementedError  # each method defines its own


@attrs.frozen(kw_only=True)
class SweepingSolver(FixedPointSolver):
    """The base class of those that sweep, with limits as options: of sweeps, and of time."""

    sweeps_in_order: ClassVar[bool] = True
    max_sweeps: int = attrs.field(default=1_000_000, validator=whole_and_positive)
    max_seconds: float = attrs.field(default=float("inf"), validator=positive)


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
    if any(problem.rounding) and is_proven and not exact:
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
    problem = run.problem if reduction is None else reduction.original
    return make_solution(
        problem,
        solver,
        numbers,
        policy,
        guarantee=Guarantee.TWO_SIDED if proven else Guarantee.NONE,
        status=run.status,
        # The run has looked at the width, unless its bounds are yet to be widened.
        tolerance=run.tolerance if any(problem.rounding) else None,
        sweeps=run.sweeps,
        seconds=run.reporter.seconds,
        relative=run.relative,
        **others,
    )


def solution_with(
    answer: RunResult, problem: Problem | Prepared, solver: Any, **others: Any
) -> Solution:
    """Return the solution with an answer; see :func:`make_solution`."""
    return make_solution(
        problem,
        solver,
        answer.numbers,
        answer.policy,
        status=answer.status,
        sweeps=answer.sweeps,
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
    support = prepared.support_of_rationals()
    return support.ok and not support.is_open


def solve_as_asked(
    solver: Any, problem: Any, asked: Tolerance, progress: ProgressCallback | None
) -> Any:
    """Solve a problem with an absolute or relative tolerance, whichever the solver supports.

    Parameters
    ----------
    problem : Problem, Prepared or AnyProblem of a staged model
        A solver that prepares problems receives a prepared one unchanged.

    Raises
    ------
    NotSolvedError
        As the solver does; or if 64-bit rounding ends before the relative tolerance is reached.
    """
    problem = to_solver_input(solver, problem)
    if asked.absolute or getattr(solver, "goes_relative", False):
        more = {} if asked.absolute else {"relative": True}
        return _despite_rounding(
            lambda told: solver.solve(
                problem, tolerance=told.absolute or told.relative, progress=progress, **more
            ),
            problem,
            asked,
        )
    limit = Limit(getattr(solver, "max_seconds", np.inf))
    limit()

    def attempt(told: Tolerance) -> Any:
        limited = with_time_left(solver, limit)
        solve = partial(limited.solve, problem, tolerance=told.absolute, progress=progress)
        if limited is solver:
            return solve()
        return changed(solve, lambda solution: attrs.evolve(solution, solver=solver))

    return reach(attempt, problem, asked)


def reach(attempt: Callable[[Tolerance], Any], problem: Any, asked: Tolerance) -> Any:
    """Reach a tolerance by attempts at absolute ones: for a relative one, smaller and smaller.

    If both are given, an attempt is at the absolute one; if it stops before that, the relative one
    may suffice for large values.

    Raises
    ------
    NotSolvedError
        As an attempt does; or if 64-bit rounding ends before the relative tolerance is reached.
    """
    if asked.absolute:
        return _despite_rounding(attempt, problem, asked)
    absolute = tolerance = asked.relative
    while True:
        stopped = None
        try:
            solution = _despite_rounding(attempt, problem, Tolerance(absolute))
        except NotSolvedError as error:
            stopped, solution = error, error.solution
        lower, upper = solution.lower, solution.upper
        if asked.admits(lower, upper):
            return attrs.evolve(solution, status=Status.SOLVED)
        is_exact = stopped is None and getattr(solution, "exact", None) is not None
        if solution.guarantee is Guarantee.NONE or is_exact:  # no double is closer
            return attrs.evolve(solution, status=Status.ROUNDING) if is_exact else solution
        if stopped is not None and solution.status is not Status.ROUNDING:
            raise stopped
        finer = finer_tolerance(lower, upper, tolerance)
        if stopped is not None or not 0 < finer < absolute:
            raise _too_coarse(problem, solution, tolerance)
        absolute = finer


def _despite_rounding(attempt: Callable[[Tolerance], Any], problem: Any, asked: Tolerance) -> Any:
    """Make an attempt; if it stops with bounds that are close enough, the problem is solved.

    An attempt is at one tolerance. If payments of the rules were rounded, it is half of the
    requested one: bounds that are widened by that may take the rest. A solver that stops although
    its bounds are as close as requested needs more than that: exact values.
    """
    part = 0.5 if any(getattr(getattr(problem, "problem", problem), "rounding", ())) else 1.0
    told = Tolerance(part * asked.absolute, 0.0 if asked.absolute else part * asked.relative)
    try:
        solution = attempt(told)
    except NotSolvedError as error:
        solution = error.solution
        is_stopped = solution.status in STOPS and not is_close(solution, told)
        if not is_stopped or not is_close(solution, asked):
            raise
    if solution.status in STOPS and is_close(solution, asked):
        return attrs.evolve(solution, status=Status.SOLVED)
    return solution


def _too_coarse(problem: Any, solution: Any, tolerance: float) -> NotSolvedError:
    """Return the error for a relative tolerance that 64-bit numbers do not reach."""
    stopped = attrs.evolve(solution, status=Status.ROUNDING)
    ways = "Ask for an absolute tolerance, or read .solution on this error."
    if isinstance(problem, (Problem, Prepared)):
        ways = way_out(problem, stopped, relative=True)
    message = (
        f"{type(solution.solver).__name__} stopped at the limit of 64-bit rounding: every value is "
        f"known to within {solution.width:.3g}, and some are too close to 0 for the relative "
        f"tolerance {tolerance:g}. {ways}"
    )
    return NotSolvedError(message, stopped)


def is_close(solution: Any, asked: Tolerance) -> bool:
    """Return whether the bounds of a solution are proven, and as close as requested."""
    if solution.guarantee is Guarantee.NONE:
        return False
    return asked.admits(solution.lower, solution.upper)
