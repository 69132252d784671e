"""Solving a model component by component, successors first."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from gamedp.bellman import blocks, component_sweeps, topological
from gamedp.results.status import Status
from gamedp.runtime.floats import UNIT
from gamedp.runtime.slices import VISITS
from gamedp.solvers.tools.run import Run

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["share_of_tolerance", "solve_by_components", "sweep_until_proven"]

ROOM = 64
"""Initial capacity for the states of a component."""

MANY = 2
"""Number of hard components from which it pays to compile what solves them one after the other.

Calling kernels for one of them takes longer than solving it, if it is small.
"""


def share_of_tolerance(run: Run) -> float:
    """Return the error that one component may add, so that no path adds more than allowed."""
    return 0.4 * run.tolerance / max(1, run.parts.num_cyclic_levels)


def solve_by_components(run: Run, solve_one: Callable[[int], None], small: int = 0) -> None:
    """Solve the components in reverse topological order; a single state without a loop in one step.

    Parameters
    ----------
    run : Run
    solve_one : callable
        Finds and proves the values of the component of that number.
    small : int
        Components of up to this many states are solved within a kernel if they converge soon. Code
        only for hard ones is compiled once there are several; the first is left to `solve_one`.
    """
    structure = run.parts
    total = structure.num_components
    allowed = share_of_tolerance(run)
    scratch = np.empty((2, int(np.diff(run.equation.graph.choice_offsets).max(initial=0))))
    room = None
    if small > 0 and run.problem.is_proper and not structure.is_acyclic:
        room = _room_for(run, ROOM, 2 * ROOM, 8 * ROOM)
    memory = None
    hard = 0
    number = 0
    while number < total:
        enough = int(run.visits[0]) + VISITS
        stopped = topological.solve_components_jit(
            number,
            total,
            structure.component_offsets,
            structure.nontrivial,
            run.equation,
            VISITS,
            allowed,
            run.problem.improper_is_worst,
            run.problem.model.has_swaps,
            run.problem.has_one_sign,
            room,
            memory,
            run.values,
            run.errors,
            run.policy,
            run.visits,
            scratch,
        )
        if stopped < total and run.visits[0] <= enough:
            start, stop = run.component(stopped)
            if room is not None and stop - start <= small:
                sizes = stop - start, *run.measure(stopped)
                if not _fits(room[0], *sizes):
                    room = _room_for(run, min(2 * sizes[0], small), 2 * sizes[1], 2 * sizes[2])
                    number = stopped
                    continue
                hard += 1
                # For a single state, nothing is better than what the kernel does.
                if memory is None and (hard == MANY or stop - start == 1):
                    memory = np.empty(component_sweeps.MEMORY)
                    number = stopped
                    continue
            solve_one(stopped)
            stopped += 1
        number = stopped
        run.reporter.report(number, total, f"{number:,} of {total:,} components solved")


def _room_for(
    run: Run, num_states: int, num_choices: int, num_transitions: int
) -> tuple[blocks.Block, NDArray[np.float64]]:
    """Return a block for a number of states, and an array for their numbers."""
    block = blocks.reserve(num_states, num_choices, num_transitions, run.equation)
    return block, np.empty((blocks.NUMBERS, num_states))


def _fits(block: blocks.Block, num_states: int, num_choices: int, num_transitions: int) -> bool:
    """Return whether a block has room for a number of states."""
    return (
        num_states <= len(block.signs)
        and num_choices <= len(block.constants)
        and num_transitions <= len(block.graph.successors)
    )


def sweep_until_proven(
    run: Run, number: int, sweep: Callable[[float], float], max_sweeps: int
) -> None:
    """Sweep over one component until its error is proven to be small, or a limit is reached.

    Parameters
    ----------
    run : Run
    number : int
        The component.
    sweep : callable
        Takes the change that is small enough to prove something; returns the largest change that
        Bellman's operator made.
    max_sweeps : int
    """
    start, stop = run.component(number)
    states = run.equation.order[start:stop]
    allowed = share_of_tolerance(run)
    threshold = 0.01 * allowed
    for count in range(1, max_sweeps + 1):
        change = sweep(threshold)
        run.visits[0] += stop - start
        run.reporter.report(
            count, None, f"component {number:,}: {stop - start:,} states, change {change:.2e}"
        )
        if not np.isfinite(change):
            run.errors[states] = np.inf  # an overflow, reported at the end
            return
        if run.out_of_time:
            run.status = Status.TIME_LIMIT
            break
        floor = 8 * UNIT * float(np.abs(run.values[states]).max())
        if change <= max(threshold, floor):
            if not run.problem.is_proper or run.prove(number, allowed, max_sweeps) <= allowed:
                return
            if change <= floor:
                run.end_unproven()
                return
            threshold = change / 16
    else:
        run.status = Status.SWEEP_LIMIT
    run.prove(number, allowed, max_sweeps)
