"""Value iteration: sweeps over all states until the error is proven to be small."""

from __future__ import annotations

import attrs
import numpy as np

from gamedp.kernels import bellman, proofs
from gamedp.solution import Status
from gamedp.solvers.base import FixedPointSolver, Run
from gamedp.solvers.jacobi import SLICE, jacobi_sweep, move_to_middle, spread
from gamedp.solvers.options import Sweep, one_of, positive, whole_and_positive

__all__ = ["ValueIteration"]


@attrs.frozen(kw_only=True)
class ValueIteration(FixedPointSolver):
    """Apply Bellman's operator to all states again and again.

    A small change per sweep proves nothing. When the change is small, errors are proven as by
    :class:`TopologicalValueIteration`; if they are not small enough, the sweeps go on. With a
    discount b and Jacobi sweeps, the values are first moved to the middle of the interval
    ``v + b/(1-b) * [min d, max d]`` that contains the true ones, d being the last change
    (Puterman [1]_, theorem 6.6.3).

    Parameters
    ----------
    sweep : {"gauss-seidel", "jacobi"}
        Whether a sweep uses its own new values, in depth-first order, or the last sweep's alone.
    max_sweeps : int
        Sweeps at most.
    max_seconds : float
        Time at most.

    References
    ----------
    .. [1] M. Puterman, "Markov Decision Processes", Wiley 1994, sections 6.3 and 6.6.

    Examples
    --------
    >>> import gamedp
    >>> model = gamedp.Model.from_arrays([0, 1], [0, 1], [0], [1.0], rewards=[1.0])
    >>> solver = gamedp.ValueIteration(sweep="jacobi")
    >>> solution = gamedp.solve(model, gamedp.Discounted(0.9), solver, tolerance=1e-9)
    >>> abs(solution.value() - 10) < 1e-9
    True
    """

    sweep: Sweep = attrs.field(default="gauss-seidel", validator=one_of(Sweep))
    max_sweeps: int = attrs.field(default=1_000_000, validator=whole_and_positive)
    max_seconds: float = attrs.field(default=float("inf"), validator=positive)

    def iterate(self, run: Run) -> None:
        """Sweep until the error is proven to be small enough, or a limit is reached."""
        proper, tolerance = run.problem.is_proper, run.tolerance
        threshold = 0.01 * tolerance
        for sweep in range(1, self.max_sweeps + 1):
            lowest, highest = self._sweep_once(run)
            change = max(-lowest, highest)
            run.reporter.report(sweep, None, f"{sweep:,} sweeps, change {change:.2e}")
            if run.out_of_time:
                run.status = Status.TIME_LIMIT
                break
            width = spread(run, lowest, highest) if self.sweep == "jacobi" else np.inf
            floor = 8 * proofs.UNIT * float(np.abs(run.values).max())
            if min(change, width) <= max(threshold, floor):
                if width < change:
                    move_to_middle(run, lowest, highest)
                if not proper or run.prove_all() <= 0.5 * tolerance or change <= floor:
                    break
                threshold = min(change, width) / 16
        else:
            run.status = Status.SWEEP_LIMIT
        if proper and run.status is not Status.SOLVED:
            run.prove_all()

    def _sweep_once(self, run: Run) -> tuple[float, float]:
        """Sweep over all states; return the smallest and the largest change, signed."""
        if self.sweep == "jacobi":
            return jacobi_sweep(run)
        num_states = len(run.values)
        run.visits[0] += num_states - len(run.problem.model.terminals)
        change = 0.0
        for start in range(0, num_states, SLICE):
            stop = min(start + SLICE, num_states)
            change = max(change, bellman.sweep_jit(start, stop, run.rows, run.values, run.policy))
        return -change, change
