"""Requests to solvers and their answers: arguments, support, and added statistics."""

from __future__ import annotations

import numbers
import time
from typing import TYPE_CHECKING, Any, TypeVar

import attrs

from gamedp.errors import InvalidParameterError, NotSolvedError, shown
from gamedp.model.objectives import Objective, TotalReward, check_objective
from gamedp.reduction import Reduction
from gamedp.results.status import TOLERANCE, Tolerance
from gamedp.runtime import compile_clock
from gamedp.runtime.limit import Progress
from gamedp.runtime.registry import SOLVERS, find

if TYPE_CHECKING:
    from collections.abc import Callable

    from gamedp.model.problem import Problem
    from gamedp.results.base import BaseSolution
    from gamedp.runtime.limit import ProgressCallback


@attrs.frozen
class Refusal:
    """The reason why nothing makes a problem proper, or one of two opponents.

    Attributes
    ----------
    reason : str
        A phrase that follows a solver's name.
    is_undefined : bool
        Whether each of two opponents can make the total infinite, in their own direction.
    """

    reason: str
    is_undefined: bool = False


@attrs.frozen(eq=False)
class Undecided:
    """Cases that the graph does not decide, but numbers do.

    Attributes
    ----------
    reduction : Reduction or None
        The reduction that makes the problem proper, unless it might be better to alternate between
        earning and losing for ever; None if even that is unknown, as endless play earns and loses.
    """

    reduction: Reduction | None = None


def refused_endless_value(problem: Problem) -> str:
    """Return why no solver takes this draw; empty if it is 0, or all play ends."""
    if problem.draws == (0.0, 0.0):
        return ""
    low, high = problem.draws
    if low != high:
        return f"{problem.undeclared()} gamedp.solve finds out whether it matters."
    return f"takes endless play to count 0, not {low:g}; gamedp.solve shifts all payoffs for it."


def refused_opponents(reduction: Reduction) -> Refusal:
    """Return why solvers that do not deflate refuse opponents who can prolong play for ever."""
    state = reduction.original.model.state(reduction.improper_state)
    return Refusal(
        "does not solve games in which either player can prolong play for ever, as around "
        f"state {shown(state)}; StrategyIteration, IntervalIteration and "
        "TopologicalValueIteration do."
    )


@attrs.frozen
class Support:
    """Whether a solver supports a problem, and why not.

    Attributes
    ----------
    ok : bool
    reason : str
        The reason in words; empty if `ok`.
    is_open : bool
        Whether `ok` rests on the graph alone, and numbers must decide the rest: `solve`
        does, and then refuses the problem if necessary.
    """

    ok: bool
    reason: str = ""
    is_open: bool = attrs.field(default=False, repr=False)

    def __bool__(self) -> bool:
        """Return `ok`."""
        return self.ok


SolutionT = TypeVar("SolutionT", bound="BaseSolution[Any]")


def checked_number(name: str, given: Any) -> float:
    """Return a tolerance or a limit; raise InvalidParameterError unless it is a positive number."""
    if not (isinstance(given, numbers.Real) and given > 0):  # type: ignore[operator]
        message = f"{name} is {shown(given)}; it must be a positive number."
        raise InvalidParameterError(message)
    try:
        return float(given)
    except OverflowError:
        message = f"{name} is {shown(given)}, beyond the range of 64-bit floating point."
        raise InvalidParameterError(message) from None


def checked_tolerance(given: Any, *, relative: bool) -> Tolerance:
    """Return the given tolerance as a `Tolerance`, or :data:`TOLERANCE` for None."""
    if given is None:
        return Tolerance(0.0, TOLERANCE.relative) if relative else TOLERANCE
    number = checked_number("tolerance", given)
    return Tolerance(0.0, number) if relative else Tolerance(number)


def checked_objective(objective: Objective | None) -> Objective:
    """Return the given objective, or the default one."""
    objective = TotalReward() if objective is None else objective
    check_objective(objective)
    return objective


def checked_solver(solver: Any) -> Any:
    """Return the solver that is given or named; None to choose one."""
    chosen = find(SOLVERS, solver)() if isinstance(solver, str) else solver
    if isinstance(chosen, type) or not (chosen is None or hasattr(chosen, "solve")):
        name = chosen.__name__ if isinstance(chosen, type) else repr(chosen)
        message = f"solver is {name}; it must be a solver, such as gamedp.solvers.ValueIteration()."
        raise InvalidParameterError(message)
    return chosen


def answer(solve: Callable[[], SolutionT], solver: Any) -> SolutionT:
    """Solve; the solution names the solver as given, and its statistics list compiling separately.

    The same holds for the solution of a :class:`gamedp.NotSolvedError`.
    """
    began = time.perf_counter()
    most = getattr(solver, "max_seconds", float("inf"))
    return changed(solve, lambda solution: _with_compiling(_with_limit(solution, most), began))


def changed(solve: Callable[[], SolutionT], change: Callable[[SolutionT], SolutionT]) -> SolutionT:
    """Return a solution changed; that of a NotSolvedError is changed as well."""
    try:
        solution = solve()
    except NotSolvedError as error:
        error.solution = change(error.solution)
        raise
    return change(solution)


def _with_limit(solution: SolutionT, max_seconds: float) -> SolutionT:
    """Return a solution whose solver, if it has a time limit, has this one."""
    if getattr(solution.solver, "max_seconds", max_seconds) == max_seconds:
        return solution
    return attrs.evolve(solution, solver=attrs.evolve(solution.solver, max_seconds=max_seconds))


def reporting(progress: ProgressCallback) -> compile_clock.Listener:
    """Return a listener that reports to `progress` what is being compiled."""
    why = "only the first time: the result is kept"
    return lambda count, seconds: progress(Progress("compile", count, None, seconds, why))


def _with_compiling(solution: SolutionT, began: float) -> SolutionT:
    """Return a solution whose statistics list separately the compiling since `began`."""
    compiled = compile_clock.seconds_within(time.perf_counter() - began)
    if not compiled:
        return solution
    seconds = dict(solution.statistics.seconds)
    # A solver's clock starts when the structure is known; compiling for that is not in it.
    seconds["solve"] -= compile_clock.seconds_within(seconds["solve"])
    seconds["compile"] += compiled
    return attrs.evolve(solution, statistics=attrs.evolve(solution.statistics, seconds=seconds))
