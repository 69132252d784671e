"""Solution of a whole discounted model, by modified policy iteration in compiled slices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.bellman import discounted as kernels, policy_rows
from gamedp.bellman.equation import Equation, unordered_equation
from gamedp.graph.graph import Graph
from gamedp.model.objectives import Discounted
from gamedp.results.solution import Solution
from gamedp.results.status import Status
from gamedp.runtime.limit import ProgressCallback, Reporter
from gamedp.runtime.slices import TRANSITIONS
from gamedp.solvers.tools.base import make_solution, solution_of
from gamedp.solvers.tools.run import Run, outward

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.model.model import Model
    from gamedp.model.problem import Problem
    from gamedp.runtime.arrays import Floats

FAR, WIDEST = 10, 20
"""Horizon below which sweeps are always the fastest, and the width beyond which they are."""

TRANSITIONS_IN_CACHE = 1 << 21
"""Transitions that do not fit into a processor's caches; with fewer, a codebook saves nothing."""


def is_one_equation(problem: Problem) -> bool:
    """Return whether a problem is for :func:`solve_discounted`."""
    model = problem.model
    discounted = isinstance(problem.objective, Discounted) and not model.is_general_sum
    return discounted and not model.has_swaps


def may_be_acyclic(model: Model) -> bool:
    """Return whether it is possible that no state recurs; a short look finds most cycles."""
    if not len(model.terminals):  # no terminal states
        return False
    return not policy_rows.meets_itself_jit(_graph(model), np.zeros(model.num_states, np.int32))


def is_narrow(problem: Problem) -> bool:
    """Return whether a discounted model is so narrow that elimination is faster than any sweeps.

    Sweeps take longer the farther the discount lets one look ahead; elimination takes longer the
    farther transitions lead, in the order of the model.
    """
    if problem.discount >= 1:
        return False
    model = problem.model
    horizon = 1 / (1 - problem.discount)
    width = min(WIDEST, int((horizon / 2) ** 0.5))
    if not len(model.terminals) and model.successors[0] > width:
        return False  # state 0 decides: there is no need to check the others
    return horizon >= FAR and bool(policy_rows.is_narrow_jit(_graph(model), width))


@np.errstate(over="ignore", invalid="ignore")  # an overflow is refused at the end
def solve_discounted(
    solver: Any,
    problem: Problem,
    tolerance: float,
    progress: ProgressCallback | None,
    *,
    max_sweeps: int,
    inner_sweeps: int,
    max_seconds: float,
) -> Solution:
    """Solve a discounted problem whose players keep their places.

    The structure of the model is not analysed, unless rounding ends before the tolerance is
    reached: then the error of each value is bounded separately.

    Parameters
    ----------
    solver
        The solver that the solution names.
    max_sweeps : int
        Largest number of improvements of the policy.
    inner_sweeps : int
        Largest number of sweeps along a policy between improvements.
    max_seconds : float
        Time limit.
    """
    reporter = Reporter(progress, "solve")
    model = problem.model
    equation, extremes, rows = equation_of(problem)
    values = np.empty(model.num_states)
    if extremes.has_terminals:
        values[model.terminals] = model.payoffs
    other = np.empty_like(values)
    marks = np.zeros(kernels.NUM_MARKS, np.int64)
    marks[kernels.MOST_IMPROVEMENTS] = max_sweeps
    marks[kernels.MOST_INNER] = inner_sweeps
    numbers = np.zeros(policy_rows.NUM_NUMBERS)
    arguments = (equation, extremes, rows, values, other, marks, numbers)
    limit = None
    while True:
        phase = kernels.advance_jit(TRANSITIONS, tolerance, *arguments)
        if phase >= kernels.DONE:
            break
        count = int(marks[kernels.IMPROVEMENTS])
        change = float(numbers[policy_rows.LEAST])
        detail = f", change {change:.2e}" if count else ""
        reporter.report(count, None, f"{count:,} improvements{detail}")
        if reporter.spent > max_seconds and phase != kernels.BEGIN and limit is None:
            limit = Status.TIME_LIMIT
            # One more improvement, because only that proves something.
            marks[kernels.MOST_IMPROVEMENTS] = 0
            if phase == kernels.FOLLOW:
                marks[kernels.PHASE], marks[kernels.PLACE] = kernels.IMPROVE, 0
    if marks[kernels.FLIPPED]:
        values, other = other, values
    lower, upper = other, rows.clear
    status = Status.SOLVED
    if phase == kernels.OUT_OF_SWEEPS:
        status = limit or Status.SWEEP_LIMIT
    sweeps = -(-int(marks[kernels.VISITS]) // model.num_states)
    if phase == kernels.STUCK:
        return _proven_one_by_one(
            solver, problem, tolerance, reporter, (values, lower, upper), rows.policy, sweeps
        )
    return make_solution(
        problem,
        solver,
        (values, lower, upper),
        rows.policy,
        status=status,
        tolerance=tolerance,
        sweeps=sweeps,
        seconds=reporter.seconds,
    )


def equation_of(
    problem: Problem,
) -> tuple[Equation, policy_rows.Extremes, policy_rows.PolicyRows]:
    """Return the equation of a problem, its extremes, and room for the rows of the choices."""
    model = problem.model
    num_states = model.num_states
    probabilities, codebook = _probabilities(model)
    equation = unordered_equation(
        _graph(model),
        probabilities,
        model.rewards,
        problem.maximise,
        problem.discount,
        codebook,
    )
    first = np.empty(num_states, np.uint64)
    room, shortest, longest, most_choices, largest, *sums = policy_rows.survey_jit(equation, first)
    has_terminals = len(model.terminals) > 0
    extremes = policy_rows.Extremes(
        has_terminals,
        longest,
        np.uint64(longest if shortest == longest and not has_terminals else 0),
        largest,
        *sums,
    )
    successors = equation.graph.successors
    if most_choices > 1:
        own = np.empty(room, successors.dtype), np.empty(room, probabilities.dtype)
        read = own[0].view(), own[1].view()
        for array in read:
            array.flags.writeable = False
    else:
        own = np.empty(0, successors.dtype), np.empty(0, probabilities.dtype)
        read = successors, probabilities
    rows = policy_rows.PolicyRows(
        first,
        np.empty(num_states, np.uint64),
        *read,
        codebook,
        *own,
        np.empty(num_states),
        np.empty(num_states, np.int64),
        np.empty(num_states),
        np.empty(min(num_states, policy_rows.SLICE), np.uint32),
    )
    return equation, extremes, rows


def _graph(model: Model) -> Graph:
    """Return the graph of a model, unsigned, so that no index counts from the end."""
    successors = model.successors
    return Graph(
        model.choice_offsets.view(np.uint64),
        model.transition_offsets.view(np.uint64),
        successors.view(np.uint32 if successors.dtype == np.int32 else np.uint64),
    )


def _probabilities(model: Model) -> tuple[NDArray[Any], Floats | None]:
    """Return the probabilities, as numbers in a codebook if memory access dominates the time."""
    if model.num_transitions >= TRANSITIONS_IN_CACHE and model.coded_probabilities is not None:
        return model.coded_probabilities
    return model.probabilities, None


def _proven_one_by_one(
    solver: Any,
    problem: Problem,
    tolerance: float,
    reporter: Reporter,
    numbers: tuple[Floats, Floats, Floats],
    policy: NDArray[np.int64],
    sweeps: int,
) -> Solution:
    """Bound the error of each value separately; intersect the result with the present bounds."""
    run = Run(problem, tolerance, None)
    run.reporter = reporter
    run.values, lower, upper = numbers
    run.policy[:] = policy
    run.visits[0] = sweeps * max(1, len(run.values) - len(problem.model.terminals))
    run.prove_all()
    least, most = outward(run.values, run.errors)
    run.bounds = np.fmax(lower, least), np.fmin(upper, most)
    return solution_of(run, solver)
