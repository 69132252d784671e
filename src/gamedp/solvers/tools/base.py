"""The `Solver` protocol, the base classes of methods, and how solvers are called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import attrs
import numpy as np

from gamedp.errors import NotSolvedError, UnsupportedProblemError
from gamedp.model.problem import Problem
from gamedp.reduction import OutOfTimeError, Reduction
from gamedp.results.status import Guarantee, Status, Tolerance
from gamedp.runtime.limit import Limit, ProgressCallback, within
from gamedp.solvers.tools.facts import Support
from gamedp.solvers.tools.prepared import Prepared, prepare, support_of_proper
from gamedp.solvers.tools.run import Run, finer_tolerance
from gamedp.solvers.tools.solution import STOPS, make_solution, solution_of, way_out

if TYPE_CHECKING:
    from collections.abc import Callable

    from gamedp.results.solution import Solution

__all__ = [
    "FixedPointSolver",
    "PreparingSolver",
    "Solver",
    "handed",
    "is_close",
    "require",
    "settle_in_time",
    "solve_as_asked",
]


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


def settle_in_time(solver: Any, prepared: Prepared, limit: Limit | None = None) -> bool:
    """Decide the open cases that a solver needs; return whether its time suffices.

    Parameters
    ----------
    limit : Limit, optional
        The solver's time limit, if it has begun.
    """
    if not isinstance(solver, PreparingSolver):
        return True
    try:
        solver.settle(prepared, limit or Limit(getattr(solver, "max_seconds", np.inf)))
    except OutOfTimeError:
        return False
    return True


def handed(solver: Any, problem: Any) -> Any:
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
        settle_in_time(self, prepared)
        return self.support_of(prepared)

    def support_of(self, prepared: Prepared) -> Support:
        """Return whether this solver supports the problem, and why not, as far as is known."""
        raise NotImplementedError  # each solver defines its own

    def settle(self, prepared: Prepared, out_of_time: Callable[[], bool]) -> None:
        """Decide numerically what this solver needs to know about the problem.

        Raises
        ------
        OutOfTimeError
            If `out_of_time` returns True on the way.
        """
        prepared.settle(out_of_time)

    def settle_in_time(self, prepared: Prepared, limit: Limit) -> float:
        """Settle the problem within a time limit; return the number of seconds left.

        Raises
        ------
        NotSolvedError
            If that takes longer: nothing is known of the values then.
        """
        if not settle_in_time(self, prepared, limit):
            model = prepared.problem.model
            choices = model.choice_offsets
            nothing = np.full(model.num_states, np.inf)
            make_solution(
                prepared.problem,
                self,
                (np.zeros(model.num_states), -nothing, nothing),
                np.where(np.diff(choices) > 0, choices[:-1], -1).astype(np.int64),
                status=Status.TIME_LIMIT,
                sweeps=0,
                seconds=self.max_seconds,  # type: ignore[attr-defined] # it has a limit
            )
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

    def support_of(self, prepared: Prepared) -> Support:
        """Return whether this solver supports the problem, and why not."""
        return support_of_proper(prepared)

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
        seconds = self.settle_in_time(prepared, limit)
        require(self, prepared)
        if relative and not self.goes_relative:
            asked = Tolerance(0.0, tolerance)
            solution: Solution = solve_as_asked(self, prepared, asked, progress)
            return solution
        found = prepared.reduction if self.deflates else prepared.proper
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


def solve_as_asked(
    solver: Any, problem: Any, asked: Tolerance, progress: ProgressCallback | None
) -> Any:
    """Solve a problem with an absolute or relative tolerance, whichever the solver supports.

    A solver without relative tolerances solves again with a smaller absolute one, as long as that
    helps. If both are given, a solver tries to reach the absolute one; if it stops before that,
    the relative one may suffice for large values.

    Parameters
    ----------
    problem : Problem, Prepared or AnyProblem of a staged model
        A solver that prepares problems receives a prepared one unchanged.

    Raises
    ------
    NotSolvedError
        As the solver does; or if 64-bit rounding ends before the relative tolerance is reached.
    """
    problem = handed(solver, problem)
    if asked.absolute:
        return _solved_or_close(solver, problem, asked, progress)
    tolerance = asked.relative
    if getattr(solver, "goes_relative", False):
        return _solved_or_close(solver, problem, asked, progress)
    absolute = tolerance
    limit = Limit(getattr(solver, "max_seconds", np.inf))
    limit()
    while True:
        stopped = None
        in_time = within(solver, limit)
        try:
            solution = _solved_or_close(in_time, problem, Tolerance(absolute), progress)
        except NotSolvedError as error:
            stopped, solution = error, error.solution
        if in_time is not solver:
            solution = attrs.evolve(solution, solver=solver)
        lower, upper = solution.lower, solution.upper
        if asked.admits(lower, upper):
            return attrs.evolve(solution, status=Status.SOLVED)
        is_exact = stopped is None and getattr(solution, "exact", None) is not None
        if solution.guarantee is Guarantee.NONE or is_exact:  # no double is closer
            return attrs.evolve(solution, status=Status.ROUNDING) if is_exact else solution
        if stopped is not None and solution.status is not Status.ROUNDING:
            stopped.solution = solution
            raise stopped
        finer = finer_tolerance(lower, upper, tolerance)
        if stopped is not None or not 0 < finer < absolute:
            raise _too_coarse(problem, solution, tolerance)
        absolute = finer


def _solved_or_close(
    solver: Any, problem: Any, asked: Tolerance, progress: ProgressCallback | None
) -> Any:
    """Solve a problem; if the solver stops with bounds that are close enough, it is solved.

    A solver takes one tolerance. If payments of the rules were rounded, it is half of the requested
    one: bounds that are widened by that may take the rest. A solver that stops although its bounds
    are as close as requested needs more than that: exact values.
    """
    model = getattr(problem, "problem", problem).model
    tolerance = asked.absolute or asked.relative
    if any(getattr(model, "rounding", ())):
        tolerance /= 2
    told = Tolerance(tolerance) if asked.absolute else Tolerance(0.0, tolerance)
    more = {} if asked.absolute else {"relative": True}
    try:
        solution = solver.solve(problem, tolerance=tolerance, progress=progress, **more)
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
