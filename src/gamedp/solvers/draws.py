"""The value of endless play: payoffs are shifted so that it is 0.

If all is paid at the end, let the value of endless play be d. Subtract d from every payoff, and 2 d
from the constant sum: then the value of every pair of policies falls by d, and that of endless play
is 0, which is the problem that solvers know.

If d is not declared, it may be any number in an interval; see :class:`gamedp.TotalReward`. Values
are monotone in d. The lower bounds for the least d and the upper bounds for the greatest therefore
hold for all d in between.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.bellman.enclosures import rounded_outward
from gamedp.errors import InvalidModelError, NotSolvedError, shown
from gamedp.model.model import given_numbers
from gamedp.model.objectives import TotalReward
from gamedp.model.problem import Problem
from gamedp.results.solution import Solution
from gamedp.results.status import Status, Tolerance
from gamedp.rules.exactness import as_given, errors_of, model_numbers
from gamedp.runtime.limit import Limit, within
from gamedp.solvers.methods.topological_value_iteration import TopologicalValueIteration
from gamedp.solvers.tools.forced_ends import may_be_forced

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from gamedp.runtime.limit import ProgressCallback

    Floats = NDArray[np.float64]

__all__ = ["at_zero", "counts_zero", "declare", "for_draws", "is_tried_at_once"]

SHARE = 0.49
"""Part of the tolerance for each of two draws; the rest is for what a relative one falls by where
the bounds of both are joined.
"""


def counts_zero(problem: Problem) -> bool:
    """Return whether endless play counts 0, or all play ends."""
    return problem.draws == (0.0, 0.0)


def at_zero(problem: Problem) -> Problem:
    """Return the problem with payoffs shifted so that endless play counts 0.

    If that is not declared, it is the problem in which it counts the least possible number.
    """
    if counts_zero(problem):
        return problem
    model, draw = problem.model, problem.draws[0]
    payoffs = _less(given_numbers(model, "payoffs"), draw)
    numbers = model_numbers(payoffs=payoffs)
    error, part = errors_of(payoffs)
    unknown = 0.0 if "payoffs" in model.fractions else model.rounding[0]
    if unknown or (error and not model.fractions):
        # Rounded up, it says that these numbers were not given as fractions, to be solved as such.
        error = math.nextafter(error + unknown, math.inf)
    kept = {name: array for name, array in model.fractions.items() if name != "payoffs"}
    shifted = attrs.evolve(
        model,
        payoffs=numbers["payoffs"],
        fractions=kept | numbers["fractions"],
        constant_sum=model.constant_sum - 2 * draw,
        rounding=(error, model.rounding[1], max(part, model.rounding[2])),
    )
    object.__setattr__(shifted, "structure", model.structure)  # found once
    return Problem(shifted, TotalReward(problem.objective.optimum, draw=0.0))


def _less(payoffs: NDArray[Any], draw: float) -> NDArray[Any]:
    """Return payoffs as they were given, less a number, exactly."""
    given = payoffs.tolist()
    less = {number: Fraction(number) - Fraction(draw) for number in set(given)}
    try:
        return as_given([less[number] for number in given])
    except OverflowError:
        message = (
            f"the payoffs less {draw!r}, which endless play counts, are beyond the range of 64-bit "
            "floating point."
        )
        raise InvalidModelError(message) from None


def declare(problem: Problem, draw: float) -> Problem:
    """Return the problem with a declared value of endless play."""
    return attrs.evolve(problem, objective=TotalReward(problem.objective.optimum, draw=draw))


def for_draws(
    solver: Any,
    problem: Problem,
    choose: Callable[[Problem], Any],
    asked: Tolerance,
    limit: Limit,
) -> Any:
    """Return a solver that solves the problem by `solver`, whatever endless play counts.

    Parameters
    ----------
    solver
        None to `choose` one, for each problem that has to be solved.
    problem : Problem
    asked : Tolerance
        The tolerance of which the returned solver gets a share.
    limit : Limit
        The time limit for all of them together.
    """
    first: TopologicalValueIteration | None = None
    if is_tried_at_once(problem):
        if solver is None:
            first = TopologicalValueIteration()
        elif isinstance(solver, TopologicalValueIteration) and not counts_zero(problem):
            first = solver
    if first is not None:
        return _Forced(first, solver, choose, asked, limit)
    return _with_draw(solver, problem, choose, asked, limit)


def is_tried_at_once(problem: Problem) -> bool:
    """Return whether to try first if each player can force an end; retrograde is faster."""
    return not problem.model.is_deterministic and may_be_forced(problem)


def _with_draw(
    solver: Any,
    problem: Problem,
    choose: Callable[[Problem], Any],
    asked: Tolerance,
    limit: Limit,
) -> Any:
    if counts_zero(problem):
        return choose(problem) if solver is None else within(solver, limit)
    if problem.draws[0] != problem.draws[1]:
        return _ForAnyDraw(solver, choose, asked, limit)
    chosen = choose(problem) if solver is None else within(solver, limit)
    return chosen if getattr(chosen, "counts_draws", False) else _ForADraw(chosen)


@attrs.frozen
class _Forced:
    """A solver that takes one pass if each player can force an end, else the chosen one."""

    first: TopologicalValueIteration
    solver: Any
    choose: Callable[[Problem], Any]
    asked: Tolerance
    limit: Limit

    def solve(
        self, problem: Problem, *, tolerance: float, progress: ProgressCallback | None = None
    ) -> Solution:
        first = within(self.first, self.limit)
        found: Solution | None = first.solved_if_forced(problem, tolerance, progress)
        if found is not None:
            return found
        solver = _with_draw(self.solver, problem, self.choose, self.asked, self.limit)
        solution: Solution = solver.solve(problem, tolerance=tolerance, progress=progress)
        return solution


@attrs.frozen
class _ForADraw:
    """A solver of problems in which endless play counts another number than 0."""

    solver: Any

    def solve(
        self, problem: Problem, *, tolerance: float, progress: ProgressCallback | None = None
    ) -> Solution:
        shifted = at_zero(problem)
        narrower = tolerance / 2 if any(shifted.model.rounding) else tolerance
        try:
            solution = self.solver.solve(shifted, tolerance=narrower, progress=progress)
        except NotSolvedError as error:
            error.solution = _shifted_back(error.solution, problem)
            raise
        solution = _shifted_back(solution, problem)
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


def _shifted_back(solution: Solution, problem: Problem) -> Solution:
    """Return the solution of a problem, from that of the one with shifted payoffs."""
    model, draw = problem.model, problem.draws[0]
    exact = None
    if solution.exact is not None:
        from gamedp.solvers.tools.exact.rationals import enclosed_values  # noqa: PLC0415

        exact = tuple(
            value + Fraction(draw) if isinstance(value, Fraction) else value
            for value in solution.exact
        )
        values, lower, upper = enclosed_values(model, exact)
    else:
        lower, upper = (
            _plus(numbers, draw, outward)
            for numbers, outward in ((solution.lower, -np.inf), (solution.upper, np.inf))
        )
        paid = rounded_outward(model.payoffs, model.payoffs, model.rounding[0])
        lower[model.terminals], upper[model.terminals] = paid
        values = np.clip(solution.values + draw, lower, upper)
    return attrs.evolve(
        solution,
        model=model,
        objective=problem.objective,
        values=values,
        lower=lower,
        upper=upper,
        exact=exact,
    )


def _plus(numbers: Floats, addend: float, outward: float) -> Floats:
    """Return sums, rounded outward; exact ones unchanged."""
    total = numbers + addend
    with np.errstate(invalid="ignore"):  # infinite ones stay so
        part = total - numbers
        lost = (numbers - (total - part)) + (addend - part)
    return np.where((lost == 0) | np.isinf(numbers), total, np.nextafter(total, outward))


@attrs.frozen
class _ForAnyDraw:
    """A solver of problems in which the value of endless play is not declared."""

    solver: Any
    choose: Callable[[Problem], Any]
    asked: Tolerance
    limit: Limit

    def solve(
        self, problem: Problem, *, tolerance: float, progress: ProgressCallback | None = None
    ) -> Solution:
        stopped: NotSolvedError | None = None
        ends: list[Solution] = []
        for draw in problem.draws:
            declared = declare(problem, draw)
            one = _with_draw(self.solver, declared, self.choose, self.asked, self.limit)
            try:
                ends.append(one.solve(declared, tolerance=SHARE * tolerance, progress=progress))
            except NotSolvedError as error:
                stopped = stopped or error
                ends.append(error.solution)
        least, most = ends
        return _between(problem, least, most, self.asked.scaled(tolerance), stopped)


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
    maximise = (model.players == 0) == (problem.objective.optimum == "max")
    lower, upper = np.asarray(least.lower), np.asarray(most.upper)
    with np.errstate(invalid="ignore"):
        middle = np.clip(lower + 0.5 * (upper - lower), lower, upper)
    distances = least.distances
    if distances is not None and most.distances is not None:
        distances = distances if (distances == most.distances).all() else None
    seconds = dict(least.statistics.seconds)
    seconds["solve"] += most.statistics.seconds["solve"]
    solution = attrs.evolve(
        least,
        objective=problem.objective,
        values=np.where(np.isfinite(middle), middle, least.values),
        lower=lower,
        upper=upper,
        # Each side's policy for the draw that is worst for it.
        policy=np.where(maximise, least.policy, most.policy),
        exact=least.exact if least.exact == most.exact else None,
        tight=least.tight if least.exact == most.exact else None,
        distances=distances,
        statistics=attrs.evolve(
            least.statistics,
            sweeps=least.statistics.sweeps + most.statistics.sweeps,
            seconds=seconds,
        ),
    )
    if asked.admits(lower, upper):
        return attrs.evolve(solution, status=Status.SOLVED)
    if stopped is not None:
        status = stopped.solution.status
        raise NotSolvedError(str(stopped), attrs.evolve(solution, status=status))
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
