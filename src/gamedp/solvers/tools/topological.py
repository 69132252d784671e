"""The pass of topological value iteration: each component by what suits it, successors first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gamedp.bellman import equation
from gamedp.solvers.tools.by_components import solve_by_components, sweep_until_proven
from gamedp.solvers.tools.component import LARGEST, solve_component

if TYPE_CHECKING:
    from gamedp.solvers.tools.run import Run

__all__ = ["SMALL", "sweep_components"]

SMALL = 1 << 14
"""Largest number of states of a component solved within a kernel; larger ones sweep by sweep."""


def sweep_components(run: Run, max_sweeps: int) -> None:
    """Find the values of a run, and prove their errors where its problem is proper.

    Parameters
    ----------
    run : Run
        Its values, errors, policy and status are filled in.
    max_sweeps : int
        Largest number of sweeps over one component.
    """

    def solve_one(number: int) -> None:
        if run.problem.is_proper and sum(run.measure(number)) <= LARGEST:
            solve_component(run, number, max_sweeps)
            return
        start, stop = run.component(number)

        def sweep(_: float) -> float:
            return float(equation.sweep_jit(start, stop, run.equation, run.values, run.policy))

        sweep_until_proven(run, number, sweep, max_sweeps)

    solve_by_components(run, solve_one, SMALL)
