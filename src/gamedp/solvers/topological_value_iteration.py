"""Value iteration, one strongly connected component after the other."""

from __future__ import annotations

import attrs
import numpy as np

from gamedp.kernels import bellman, proofs, topological
from gamedp.solution import Status
from gamedp.solvers.base import FixedPointSolver, Run
from gamedp.solvers.options import positive, whole_and_positive

__all__ = ["TopologicalValueIteration"]

SMALL = 1 << 14
"""Components of up to this many states are solved within a kernel; larger ones sweep by sweep."""

BUDGET = 1 << 22
"""Visits of states between two looks at the limits: some hundredths of a second."""


@attrs.frozen(kw_only=True)
class TopologicalValueIteration(FixedPointSolver):
    """Solve the components of the model in topological order, each once all it leads to is solved.

    A state that cannot come again takes one look. A component whose cycles all lead through one
    state is solved by Newton's method on the value of that state; any other by Gauss-Seidel sweeps
    in depth-first order, until its error is proven to be small enough.

    The stopping rule is a theorem: errors e with
    ``e >= |residual| + rounding + discount * sum(|P| * e)`` bound the distance to the one fixed
    point of Bellman's operator [1]_; see :mod:`gamedp.kernels.proofs`. The idea to go by
    components is from [2]_.

    Parameters
    ----------
    max_sweeps : int
        Sweeps over one component at most.
    max_seconds : float
        Time at most.

    References
    ----------
    .. [1] D. Bertsekas, J. Tsitsiklis, "An analysis of stochastic shortest path problems",
       Mathematics of Operations Research 16 (1991).
    .. [2] P. Dai, Mausam, D. Weld, J. Goldsmith, "Topological value iteration algorithms", Journal
       of Artificial Intelligence Research 42 (2011).

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.wubbel import Wubbel
    >>> solution = gamedp.solve(Wubbel(goal=10), solver=gamedp.TopologicalValueIteration())
    >>> round(solution.value(), 6)
    0.67072
    """

    max_sweeps: int = attrs.field(default=1_000_000, validator=whole_and_positive)
    max_seconds: float = attrs.field(default=float("inf"), validator=positive)

    def iterate(self, run: Run) -> None:
        """Go through the components, successors first."""
        problem, tolerance = run.problem, run.tolerance
        structure = problem.model.structure
        total = structure.num_components
        proper = problem.is_proper
        allowed = 0.4 * tolerance / max(1, structure.num_cyclic_levels)
        number = 0
        while number < total:
            stopped = topological.solve_components_jit(
                number,
                total,
                structure.component_offsets,
                structure.nontrivial,
                run.rows,
                BUDGET,
                allowed,
                SMALL,
                proper,
                run.values,
                run.errors,
                run.policy,
                run.visits,
            )
            if stopped == number:
                self._solve_one(run, number, allowed)
                stopped += 1
            number = stopped
            run.reporter.report(number, total, f"{number:,} of {total:,} components solved")

    def _solve_one(self, run: Run, number: int, allowed: float) -> None:
        """Sweep over one component until its error is proven to be small, or a limit is reached."""
        start, stop = run.component(number)
        states = run.rows.order[start:stop]
        threshold = 0.01 * allowed
        for sweep in range(1, self.max_sweeps + 1):
            change = bellman.sweep_jit(start, stop, run.rows, run.values, run.policy)
            run.visits[0] += stop - start
            run.reporter.report(
                sweep, None, f"component {number:,}: {stop - start:,} states, change {change:.2e}"
            )
            if run.out_of_time:
                run.status = Status.TIME_LIMIT
                break
            floor = 8 * proofs.UNIT * float(np.abs(run.values[states]).max())
            if change <= max(threshold, floor):
                if (
                    not run.problem.is_proper
                    or run.prove(number, allowed, self.max_sweeps) <= allowed
                ):
                    return
                if change <= floor:
                    return
                threshold = change / 16
        else:
            run.status = Status.SWEEP_LIMIT
        run.prove(number, allowed, self.max_sweeps)
