"""Value iteration: sweeps over all states until the error is proven to be small."""

from __future__ import annotations

import attrs
import numpy as np

from gamedp.bellman import equation
from gamedp.results.solution import Solution
from gamedp.results.status import Status
from gamedp.runtime.floats import UNIT
from gamedp.runtime.limit import ProgressCallback
from gamedp.runtime.options import Sweep, limits_last, one_of
from gamedp.runtime.slices import STATES
from gamedp.solvers.request import Support
from gamedp.solvers.tools.base import SweepingSolver
from gamedp.solvers.tools.discounted import is_one_equation, solve_discounted
from gamedp.solvers.tools.prepared import Prepared
from gamedp.solvers.tools.run import Run


@attrs.frozen(kw_only=True, field_transformer=limits_last)
class ValueIteration(SweepingSolver):
    """Apply Bellman's operator to all states again and again.

    A small change per sweep proves nothing. When the change is small, errors are proven as by
    :class:`TopologicalValueIteration`; if they are not small enough, the sweeps go on. With a
    discount b and Jacobi sweeps, and players who keep their places, iteration ends as soon as the
    interval ``v + b/(1-b) * [min d, max d]`` that contains the true values is narrow enough, d
    being the last change (Puterman [1]_, theorem 6.6.3), as by :class:`ModifiedPolicyIteration`.

    To see every sweep, as textbooks print them: :func:`gamedp.policies.trace_sweeps`.

    Parameters
    ----------
    sweep : {"gauss-seidel", "jacobi"}
        Whether a sweep uses its own new values, in depth-first order, or only the last sweep's.
    max_sweeps : int
        Largest number of sweeps.
    max_seconds : float
        Time limit.

    References
    ----------
    .. [1] M. Puterman, "Markov Decision Processes", Wiley 1994, sections 6.3 and 6.6.

    Examples
    --------
    >>> import gamedp
    >>> model = gamedp.Model.from_arrays([0, 1], [0, 1], [0], [1.0], rewards=[1.0])
    >>> solver = gamedp.solvers.ValueIteration(sweep="jacobi")
    >>> solution = gamedp.solve(model, gamedp.Discounted(0.9), solver, tolerance=1e-9)
    >>> abs(solution.value() - 10) < 1e-9
    True
    """

    sweep: Sweep = attrs.field(default="gauss-seidel", validator=one_of(Sweep))

    def support_of(self, prepared: Prepared) -> Support:
        """Return whether this solver supports the problem, and why not."""
        return prepared.support_of_fixed_points()

    def solved_at_once(
        self, prepared: Prepared, tolerance: float, progress: ProgressCallback | None
    ) -> Solution | None:
        """Return the solution of a discounted problem whose players keep their places."""
        problem = prepared.problem
        if self.sweep != "jacobi" or not is_one_equation(problem):
            return None
        return solve_discounted(
            self,
            problem,
            tolerance,
            progress,
            max_sweeps=self.max_sweeps,
            inner_sweeps=0,
            max_seconds=self.max_seconds,
        )

    def iterate(self, run: Run) -> None:
        """Sweep until the error is proven to be small enough, or a limit is reached."""
        proper, tolerance = run.problem.is_proper, run.tolerance
        threshold = 0.01 * tolerance
        for sweep in range(1, self.max_sweeps + 1):
            change = self._sweep_once(run)
            run.reporter.report(sweep, None, f"{sweep:,} sweeps, change {change:.2e}")
            if run.out_of_time:
                run.status = Status.TIME_LIMIT
                break
            floor = 8 * UNIT * float(np.abs(run.values).max())
            if change <= max(threshold, floor):
                is_last = change <= floor
                effort = self.max_sweeps if is_last else 1000
                if not proper or run.prove_all(effort) <= 0.5 * tolerance:
                    return
                if is_last:
                    run.end_unproven()
                    return
                threshold = change / 16
        else:
            run.status = Status.SWEEP_LIMIT
        if proper:
            run.prove_all()

    def _sweep_once(self, run: Run) -> float:
        """Sweep over all states; return the largest change."""
        num_states = len(run.values)
        run.visits[0] += num_states - len(run.problem.model.terminals)
        change = 0.0
        new_values = np.empty_like(run.values) if self.sweep == "jacobi" else run.values
        for start in range(0, num_states, STATES):
            stop = min(start + STATES, num_states)
            if self.sweep == "jacobi":
                lowest, highest = equation.sweep_apart_jit(
                    start, stop, run.equation, run.values, new_values, run.policy
                )
                moved = max(-lowest, highest)
            else:
                moved = equation.sweep_jit(start, stop, run.equation, run.values, run.policy)
            change = max(change, moved)
        run.values = new_values
        return change
