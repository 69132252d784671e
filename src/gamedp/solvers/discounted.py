"""The whole of a discounted model at once, by modified policy iteration in compiled slices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.kernels import discounted as kernels
from gamedp.solution import Status
from gamedp.solvers.base import outward

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.model import Model
    from gamedp.solvers.base import Run

__all__ = ["solve_discounted"]

BUDGET = 10_000_000
"""Transitions that one call of a kernel looks at, about."""


def solve_discounted(run: Run, max_sweeps: int, inner_sweeps: int) -> None:
    """Find and prove the values of a discounted problem whose players keep their places.

    Parameters
    ----------
    run : Run
        What is filled in, the bounds included.
    max_sweeps : int
        Improvements of the policy at most.
    inner_sweeps : int
        Sweeps along a policy at most, each time.
    """
    equation, kept = _laid_out(run)
    values, other = run.values, np.empty_like(run.values)
    marks = np.zeros(kernels.NUM_MARKS, np.int64)
    marks[kernels.MOST_IMPROVEMENTS] = max_sweeps
    marks[kernels.MOST_INNER] = inner_sweeps
    numbers = np.zeros(kernels.NUM_NUMBERS)
    numbers[kernels.LEAST] = numbers[kernels.SUM_LOW] = np.inf
    numbers[kernels.SUM_HIGH] = -np.inf
    kernels.begin_jit(equation, kept, values, other)
    arguments = (equation, kept, values, other, marks, numbers)
    phase = kernels.IMPROVE
    while phase < kernels.DONE:
        phase = kernels.advance_jit(BUDGET, run.tolerance, *arguments)
        if run.reporter.has_listener:
            count = int(marks[kernels.IMPROVEMENTS])
            change = float(numbers[kernels.LEAST])
            run.reporter.report(count, None, f"{count:,} improvements, change {change:.2e}")
        if phase < kernels.DONE and run.out_of_time:
            run.status = Status.TIME_LIMIT
            # One more improvement, for that is what proves something.
            marks[kernels.MOST_IMPROVEMENTS] = 0
            if phase == kernels.FOLLOW:
                marks[kernels.PHASE], marks[kernels.PLACE] = kernels.IMPROVE, 0
    if marks[kernels.FLIPPED]:
        values, other = other, values
    lower, upper = np.empty_like(values), np.empty_like(values)
    kernels.conclude_jit(equation, numbers, values, lower, upper)
    run.values, run.policy = values, kept.policy
    run.visits[0] += marks[kernels.VISITS]
    run.bounds = lower, upper
    if phase == kernels.OUT_OF_SWEEPS and run.status is Status.SOLVED:
        run.status = Status.SWEEP_LIMIT
    if phase == kernels.STUCK:
        _prove_each(run)


def _laid_out(run: Run) -> tuple[kernels.Equation, kernels.Kept]:
    """Return the equation of a problem, and room for the rows of the choices."""
    model = run.problem.model
    num_states = model.num_states
    graph = _graph(model)
    constants = run.problem.constants()
    first = np.empty(num_states, np.uint64)
    room, longest, most_choices, largest = kernels.survey_jit(*graph[:2], constants, first)
    maximise = (model.players == 0) == (run.problem.objective.optimum == "max")
    equation = kernels.Equation(
        *graph,
        model.probabilities,
        constants,
        maximise,
        run.problem.discount,
        len(model.terminals) > 0,
        longest,
        largest,
    )
    if most_choices > 1:
        own = np.empty(room, graph[2].dtype), np.empty(room)
        rows = own[0].view(), own[1].view()
        for row in rows:
            row.flags.writeable = False
    else:
        own = np.empty(0, graph[2].dtype), np.empty(0)
        rows = graph[2], model.probabilities
    kept = kernels.Kept(
        first,
        np.empty(num_states, np.uint64),
        *rows,
        *own,
        np.empty(num_states),
        np.empty(num_states, np.int64),
        np.empty(num_states),
        np.empty(min(num_states, kernels.SLICE), np.uint32),
    )
    return equation, kept


def _graph(model: Model) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return offsets and successors, unsigned: so no index is taken to count from the end."""
    successors = model.successors
    return (
        model.choice_offsets.view(np.uint64),
        model.transition_offsets.view(np.uint64),
        successors.view(np.uint32 if successors.dtype == np.int32 else np.uint64),
    )


def _prove_each(run: Run) -> None:
    """Where rounding ends: prove the error of each value by itself, and take what is closer."""
    lower, upper = run.bounds
    run.prove_all()
    least, most = outward(run.values, run.errors)
    np.maximum(lower, least, out=lower)
    np.minimum(upper, most, out=upper)
