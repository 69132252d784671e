"""A portfolio of solvers: one that makes no progress is followed by others, each with a budget.

No method is the best one everywhere. The chosen one goes first, within a budget of sweeps, counted
and not timed, so that the answer is the same on every machine. If the budget or rounding stops it,
others take over: those that eliminate states, or whose proofs lose less. If the budget stopped the
first one and no other has solved the problem, it finally gets its full limits; therefore not much
more than the budgets can be lost. A time limit, if there is one, applies to all of them together.
The proven bounds of all hold together: they are intersected.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.errors import NotSolvedError, shown
from gamedp.model.model import Model, given_numbers
from gamedp.model.objectives import AverageReward, Discounted, FiniteHorizon
from gamedp.reduction import OutOfTimeError, Reduction
from gamedp.results.status import Guarantee, Status, Tolerance
from gamedp.rules.exactness import model_numbers
from gamedp.runtime.limit import Limit, within
from gamedp.solvers.tools.base import (
    MAX_STATES_IN_RATIONALS,
    STOPS,
    handed,
    how_close,
    is_close,
    settle_in_time,
    solve_as_asked,
    way_out,
)
from gamedp.solvers.tools.facts import Refusal
from gamedp.solvers.tools.prepared import Prepared, prepare

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gamedp.model.problem import Problem
    from gamedp.results.solution import Solution
    from gamedp.runtime.limit import ProgressCallback
    from gamedp.solvers.tools.base import Solver

__all__ = ["followers", "is_for_deflation", "is_supported", "solve_in_turn"]

WORK = 2_000_000_000
"""Number of transitions that a solver may visit before it hands over: some seconds."""

MIN_BUDGET_SWEEPS, MAX_BUDGET_SWEEPS = 300, 50_000
"""Smallest and largest budget of sweeps over a component before a solver hands over."""

POLICY = 1000
"""Number of sweeps that a policy solved against its best answer counts as."""

DEFLATING = 500
"""Largest budget if bounds are deflated: no policies are evaluated on the way."""

CHOICES_FOR_DEFLATION = 2000
"""Number of choices from which deflated bounds are tried before policies of two opponents."""

SCATTERED = 100_000_000
"""States times components from which no solver is used that handles components one by one."""


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
    for solver, limited in _in_turn(prepared, chosen, stopped, limit, asked):
        in_time = within(limited, limit)
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


def followers(
    prepared: Prepared, chosen: Solver, asked: Tolerance, limit: Limit | None = None
) -> list[Solver]:
    """Return the solvers that continue after the chosen one has stopped, in order.

    Parameters
    ----------
    limit : Limit, optional
        Time limit for finding that out.
    """
    if not _may_be_handed_over(prepared.problem):
        return []
    limit = limit or Limit(float("inf"))
    return [
        solver
        for solver in _others(prepared.problem, relative=not asked.absolute)
        if type(solver) is not type(chosen) and is_supported(within(solver, limit), prepared)
    ]


def is_supported(solver: Any, prepared: Prepared) -> bool:
    """Return whether a solver supports a problem, with open cases decided as far as time allows."""
    settle_in_time(solver, prepared)
    return bool(solver.supports(handed(solver, prepared)))


def is_for_deflation(prepared: Prepared) -> bool:
    """Return whether to deflate bounds first, then improve policies, for two opponents."""
    found = prepared.reduction
    if not isinstance(found, Reduction) or found.problem.model.num_choices <= CHOICES_FOR_DEFLATION:
        return False
    return not _is_scattered(found.problem)


def _in_turn(
    prepared: Prepared,
    chosen: Solver,
    stopped: list[NotSolvedError],
    limit: Limit,
    asked: Tolerance,
) -> Iterator[tuple[Solver, Solver]]:
    """Yield solvers, each also with its budget; `stopped` holds the errors of those before."""
    objective = prepared.problem.objective
    budgeted = _may_be_handed_over(prepared.problem) and not isinstance(objective, AverageReward)
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


def _may_be_handed_over(problem: Problem) -> bool:
    return problem.model.num_players <= 2 and not isinstance(problem.objective, FiniteHorizon)


def _others(problem: Problem, *, relative: bool) -> Iterator[Solver]:
    """Yield the solvers that may know more, whether they support the problem or not."""
    # Solvers that are rarely needed are imported where they are used.
    from gamedp.solvers.methods.interval_iteration import IntervalIteration  # noqa: PLC0415
    from gamedp.solvers.methods.optimistic_value_iteration import OptimisticValueIteration  # noqa: PLC0415
    from gamedp.solvers.methods.strategy_iteration import StrategyIteration  # noqa: PLC0415
    from gamedp.solvers.methods.topological_value_iteration import TopologicalValueIteration  # noqa: PLC0415

    if isinstance(problem.objective, AverageReward):
        yield from _exact(problem, relative=relative)
        return
    if isinstance(problem.objective, Discounted):
        yield TopologicalValueIteration()
        yield StrategyIteration()
        yield from _exact(problem, relative=relative)
        return
    if _is_scattered(problem):
        return
    if relative:
        yield OptimisticValueIteration()
        yield IntervalIteration()
    yield StrategyIteration()
    if not relative:
        yield IntervalIteration()
    yield from _exact(problem, relative=relative)


def _exact(problem: Problem, *, relative: bool) -> Iterator[Solver]:
    """Yield the solver in rational numbers, if doubles cannot decide the problem.

    A value that is 0 because terms cancel is proven to be so; numbers that no double holds are not
    rounded. Its proofs hold for exactly the model's numbers, and for no others near them.
    """
    if problem.model.num_states > MAX_STATES_IN_RATIONALS or not (
        relative or _is_given_exactly(problem.model)
    ):
        return
    from gamedp.solvers.methods.exact_policy_iteration import ExactPolicyIteration  # noqa: PLC0415

    yield ExactPolicyIteration()


def _is_given_exactly(model: Model) -> bool:
    """Return whether a model was given fractions, and nothing else in it is rounded."""
    if not model.fractions:
        return False
    payoff, reward, _ = model.rounding
    exactly = model_numbers(
        rewards=given_numbers(model, "rewards"), payoffs=given_numbers(model, "payoffs")
    )["rounding"]
    return bool(payoff <= exactly[0] and reward <= exactly[1])


def _is_scattered(problem: Problem) -> bool:
    """Return whether there are too many components to handle them one by one."""
    structure = problem.model.structure
    return int(structure.nontrivial.sum()) * structure.num_states > SCATTERED


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
        return attrs.evolve(solver, max_policies=min(solver.max_policies, policies))
    if not hasattr(solver, "max_sweeps"):
        return solver
    if prepared.searched is None:
        try:
            prepared.settle(limit)
        except OutOfTimeError:
            return solver  # which stops there
        found = prepared.reduction
        if isinstance(found, Reduction) and found.problem.needs_deflation:
            sweeps = min(sweeps, DEFLATING)
    return attrs.evolve(solver, max_sweeps=min(solver.max_sweeps, sweeps))


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
