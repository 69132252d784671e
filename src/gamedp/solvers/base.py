"""What all solvers share: what they are asked for, and whether they can do it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import attrs
import numpy as np

from gamedp import compiling
from gamedp.errors import NotSolvedError, UnsupportedProblemError, shown
from gamedp.objectives import AverageReward, FiniteHorizon, has_target
from gamedp.problem import Problem
from gamedp.progress import ProgressCallback
from gamedp.reduction import (
    OutOfTimeError,
    Reduction,
    UndefinedTotalError,
    needs_reduction,
    never,
    reduce,
)
from gamedp.solution import Guarantee, Solution, Status, width_of
from gamedp.solvers.finishing import make_solution
from gamedp.solvers.run import Run

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "FixedPointSolver",
    "Limit",
    "Solver",
    "Support",
    "deflatable",
    "is_found_in_time",
    "prepared",
    "reduction_of",
    "refused_draws",
    "require",
    "solve_as_asked",
    "support_of_deflating",
    "support_of_fixed_points",
    "support_of_proper",
    "within",
]


@attrs.frozen
class Support:
    """Whether a solver can do a problem, and why not.

    Attributes
    ----------
    ok : bool
    reason : str
        In words; empty if `ok`.
    """

    ok: bool
    reason: str = ""

    def __bool__(self) -> bool:
        """Return `ok`."""
        return self.ok


class Solver(Protocol):
    """A way to solve problems: an immutable value, its attributes are its options.

    A solver need not know of relative tolerances: see :func:`solve_as_asked`.
    """

    def supports(self, problem: Problem) -> Support:
        """Say whether this solver can do the problem, and why not."""

    def solve(
        self, problem: Problem, *, tolerance: float, progress: ProgressCallback | None = None
    ) -> Solution:
        """Solve the problem so that every value is known within `tolerance`."""


def support_of_fixed_points(problem: Problem) -> Support:
    """Say what solvers of Bellman's equation as a fixed point can do: not steps, not max-n."""
    if isinstance(problem.objective, FiniteHorizon):
        return Support(False, "does not support finite horizons; BackwardInduction does.")
    if isinstance(problem.objective, AverageReward):
        return Support(False, "does not support long-run averages; RelativeValueIteration does.")
    if problem.model.num_players > 2:
        return Support(False, "is for one or two players; BackwardInduction supports more.")
    reduction = reduction_of(problem)
    declined = has_target(problem.objective) or refused_draws(problem)
    if isinstance(reduction, str) and (declined or problem.found.get("undefined", False)):
        return Support(False, reduction)
    return Support(True)


def refused_draws(problem: Problem) -> str:
    """Say why no solver does what endless play counts; empty if that is 0, or there is none."""
    if problem.draws == (0.0, 0.0):
        return ""
    low, high = problem.draws
    if low != high:
        return f"{problem.undeclared()} gamedp.solve finds out whether it matters."
    return f"takes endless play to count 0, not {low:g}; gamedp.solve shifts all payoffs for it."


def support_of_proper(problem: Problem) -> Support:
    """Say what solvers of fixed points can do that need play to end, or to be made to."""
    support = support_of_fixed_points(problem)
    reduction = reduction_of(problem) if support else None
    return Support(False, reduction) if isinstance(reduction, str) else support


def support_of_deflating(problem: Problem) -> Support:
    """Say what solvers of proper problems can do that deflate bounds where opponents go on."""
    support = support_of_proper(problem)
    reduction = deflatable(problem)
    if support or reduction is None:
        return support
    return Support(False, reduction) if isinstance(reduction, str) else Support(True)


def reduction_of(
    problem: Problem, out_of_time: Callable[[], bool] = never
) -> Reduction | str | None:
    """Return what makes the problem proper: None if nothing need to, or why nothing does."""
    reduction = deflatable(problem, out_of_time)
    if isinstance(reduction, Reduction) and reduction.problem.is_contested:
        state = reduction.original.model.state(reduction.contested)
        return (
            "does not solve games in which either player can prolong play for ever, as around "
            f"state {shown(state)}; StrategyIteration, IntervalIteration and "
            "TopologicalValueIteration do."
        )
    return reduction


def deflatable(problem: Problem, out_of_time: Callable[[], bool] = never) -> Reduction | str | None:
    """Return what makes the problem proper, but for two opponents who can keep play from ending.

    Raises
    ------
    OutOfTimeError
        If `out_of_time` says so on the way.
    """
    if not needs_reduction(problem):
        return None
    if refusal := refused_draws(problem):
        return refusal
    if "reduction" not in problem.found:
        try:
            reduced = reduce(attrs.evolve(problem), out_of_time)
            found: Reduction | str = _without_doubts(reduced, out_of_time)
        except UnsupportedProblemError as error:
            found = str(error)
            problem.found["undefined"] = isinstance(error, UndefinedTotalError)
        problem.found["reduction"] = found
    known: Reduction | str = problem.found["reduction"]
    return known


def _without_doubts(reduction: Reduction, out_of_time: Callable[[], bool]) -> Reduction | str:
    """Return the reduction, unless it might be better to earn and lose in turn for ever."""
    states, worth = reduction.doubts()
    if not len(states):
        return reduction
    from gamedp.solvers.policy_iteration import PolicyIteration  # noqa: PLC0415 - it imports this

    small = reduction.problem
    size = max(float(np.abs(numbers).max(initial=0.0)) for numbers in (small.model.rewards, worth))
    solver = PolicyIteration()
    run = Run(small, 1e-9 * size, None, stop=out_of_time)
    with np.errstate(over="ignore", invalid="ignore"):
        solver.iterate(run)
        if run.status is Status.TIME_LIMIT:
            raise OutOfTimeError
        try:
            solution = run.solution(solver)
        except NotSolvedError as error:
            solution = error.solution
    lower, upper = reduction.lift(solution.lower), reduction.lift(solution.upper)
    maximises = reduction.original.objective.optimum == "max"
    worse = upper[states] < worth if maximises else lower[states] > worth
    if not worse.any():
        return reduction
    name = reduction.original.model.state(int(states[worse.argmax()]))
    return (
        f"finds no total around state {shown(name)}: to go on for ever there earns and loses in "
        "turn, and may be better than to stop, but such sums go up and down without a limit. Use "
        "AverageReward, Discounted, or TotalReward with until."
    )


class Limit:
    """Says whether time is up, counted from when that is asked for the first time.

    What numba compiles meanwhile is not counted: it happens once, on one machine.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._began: float | None = None

    def __call__(self) -> bool:
        """Return whether no time is left."""
        return self._spent() > self._seconds

    @property
    def left(self) -> float:
        """How many seconds are left; always positive."""
        return max(self._seconds - self._spent(), min(self._seconds, 1e-9))

    def _spent(self) -> float:
        if self._began is None:
            self._began = time.perf_counter()
        seconds = time.perf_counter() - self._began
        return seconds - compiling.seconds_within(seconds)


def within(solver: Any, limit: Limit) -> Any:
    """Return the solver with no more time than is left, if it has a limit of time."""
    most = getattr(solver, "max_seconds", None)
    if most is None or limit.left >= most:
        return solver
    return attrs.evolve(solver, max_seconds=limit.left)


def is_found_in_time(
    solver: Any, problem: Problem, prepare: Callable[[Problem, Callable[[], bool]], object]
) -> bool:
    """Find out what the structure tells of a problem; say whether the solver's time suffices."""
    try:
        prepare(problem, Limit(solver.max_seconds))
    except OutOfTimeError:
        return False
    return True


def prepared(
    solver: Any,
    problem: Problem,
    prepare: Callable[[Problem, Callable[[], bool]], object],
    limit: Limit | None = None,
) -> float:
    """Find out what the structure tells of a problem; return how many seconds the solver has left.

    Parameters
    ----------
    limit : Limit, optional
        The solver's, if it has begun.

    Raises
    ------
    NotSolvedError
        If that takes longer than the solver may: nothing is known of the values then.
    """
    limit = limit or Limit(solver.max_seconds)
    try:
        prepare(problem, limit)
    except OutOfTimeError:
        model = problem.model
        choices = model.choice_offsets
        nothing = np.full(model.num_states, np.inf)
        make_solution(
            problem,
            solver,
            (np.zeros(model.num_states), -nothing, nothing),
            np.where(np.diff(choices) > 0, choices[:-1], -1).astype(np.int64),
            guarantee=Guarantee.TWO_SIDED,
            status=Status.TIME_LIMIT,
            sweeps=0,
            seconds=solver.max_seconds,
        )
    return limit.left


def require(solver: Solver, problem: Problem) -> None:
    """Raise UnsupportedProblemError with the solver's reason if it cannot do the problem."""
    support = solver.supports(problem)
    if not support:
        message = f"{type(solver).__name__} {support.reason}"
        raise UnsupportedProblemError(message)


class FixedPointSolver:
    """What solvers of Bellman's equation as a fixed point have in common.

    A solver is a frozen attrs class with the option `max_seconds`, and says in `iterate` how values
    are found. Targets, end components and infinite totals are dealt with before and after
    (:mod:`gamedp.reduction`): whatever `iterate` sees is proper, but for total rewards of play
    without end that nothing can be proven of.
    """

    max_seconds: float
    goes_relative: ClassVar[bool] = False
    """Whether `iterate` minds `run.relative`; if not, smaller tolerances are tried."""
    deflates: ClassVar[bool] = False
    """Whether `iterate` can do what is contested (:attr:`gamedp.Problem.is_contested`)."""

    def supports(self, problem: Problem) -> Support:
        """Say whether this solver can do the problem, and why not.

        Where `max_seconds` are over before that is known, nothing speaks against it: `solve` will
        stop there.
        """
        return (
            self.support_of(problem)
            if is_found_in_time(self, problem, deflatable)
            else Support(True)
        )

    def support_of(self, problem: Problem) -> Support:
        """Say the same, once it is known what the structure tells of the problem."""
        return support_of_fixed_points(problem)

    def solve(
        self,
        problem: Problem,
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
        at_once = None if relative else self.solved_at_once(problem, tolerance, progress)
        if at_once is not None:
            return at_once
        seconds = prepared(self, problem, deflatable, limit)
        require(self, problem)
        if relative and not self.goes_relative:
            solution: Solution = solve_as_asked(self, problem, tolerance, progress, relative=True)
            return solution
        found = deflatable(problem) if self.deflates else reduction_of(problem)
        reduction = found if isinstance(found, Reduction) else None
        proper = problem if reduction is None else reduction.problem
        run = Run(proper, tolerance, progress, seconds, relative=relative)
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused in the end
            self.iterate(run)
            proven = proper.is_proper or proper.is_contested
            return run.solution(self, proven=proven, reduction=reduction)

    def solved_at_once(
        self, problem: Problem, tolerance: float, progress: ProgressCallback | None
    ) -> Solution | None:
        """Return the solution where a method has a way of its own to it, without a run."""
        del problem, tolerance, progress
        return None

    def iterate(self, run: Run) -> None:
        """Fill in the values of a run and, where that can be done, prove them."""
        raise NotImplementedError  # what each method has of its own


def solve_as_asked(
    solver: Any,
    problem: Any,
    tolerance: float,
    progress: ProgressCallback | None,
    *,
    relative: bool,
) -> Any:
    """Solve a problem with an absolute tolerance or a relative one, whatever the solver knows.

    One that knows no relative tolerance solves again with a smaller absolute one, as long as that
    helps.

    Raises
    ------
    NotSolvedError
        As the solver does; or where 64-bit rounding ends before the relative tolerance is reached.
    """
    if not relative:
        return solver.solve(problem, tolerance=tolerance, progress=progress)
    if getattr(solver, "goes_relative", False):
        return solver.solve(problem, tolerance=tolerance, progress=progress, relative=True)
    absolute = tolerance
    limit = Limit(getattr(solver, "max_seconds", np.inf))
    limit()
    while True:
        stopped = None
        in_time = within(solver, limit)
        try:
            solution = in_time.solve(problem, tolerance=absolute, progress=progress)
        except NotSolvedError as error:
            stopped, solution = error, error.solution
        if in_time is not solver:
            solution = attrs.evolve(solution, solver=solver)
        lower, upper = solution.lower, solution.upper
        if width_of(lower, upper, relative=True) <= tolerance:
            return attrs.evolve(solution, status=Status.SOLVED)
        if solution.guarantee is Guarantee.NONE:
            return solution
        if stopped is not None and solution.status is not Status.ROUNDING:
            stopped.solution = solution
            raise stopped
        with np.errstate(invalid="ignore", over="ignore"):  # equal ones may be infinite
            wide = upper - lower > tolerance * np.maximum(lower, -upper)
        apart = (lower != upper) & wide
        most = np.maximum(np.abs(lower), np.abs(upper))[apart]
        finer = 0.5 * tolerance * float(most.min(initial=np.inf))
        if stopped is not None or not 0 < finer < absolute:
            width, name = solution.width, type(solution.solver).__name__
            message = (
                f"{name} stopped at the limit of 64-bit rounding: every value is known to within "
                f"{width:.3g}, and some are too close to 0 for the relative tolerance "
                f"{tolerance:g}. Let gamedp.solve choose the solver, ask for an absolute "
                "tolerance, or read .solution on this error."
            )
            raise NotSolvedError(message, attrs.evolve(solution, status=Status.ROUNDING))
        absolute = finer
