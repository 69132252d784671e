"""Sound value iteration: both bounds from one iteration of two numbers a state."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np

from gamedp.bellman import intervals
from gamedp.runtime.floats import UNIT
from gamedp.solvers.request import Support
from gamedp.solvers.tools.base import SweepingSolver
from gamedp.solvers.tools.bound_pair import BoundPair
from gamedp.solvers.tools.prepared import Prepared
from gamedp.solvers.tools.run import Run


@attrs.frozen(kw_only=True)
class SoundValueIteration(SweepingSolver):
    """Iterate the expected reward of k steps, and the probability that play goes on then [1]_.

    Together they bound the value long before the second one is small: if states mix well, the
    continuation has nearly the same value from all of them. The bounds of [1]_ assume exact
    arithmetic; here they are verified by sweeps that are rounded outward, as those of
    :class:`OptimisticValueIteration` are.

    Parameters
    ----------
    max_sweeps : int
        Largest number of sweeps over one component.
    max_seconds : float
        Time limit.

    References
    ----------
    .. [1] T. Quatmann, J.-P. Katoen, "Sound value iteration", CAV 2018.

    Examples
    --------
    >>> import gamedp
    >>> model = gamedp.Model.from_arrays([0, 1], [0, 1], [0], [1.0], rewards=[1.0])
    >>> solver = gamedp.solvers.SoundValueIteration()
    >>> solution = gamedp.solve(model, gamedp.Discounted(0.9), solver, tolerance=1e-9)
    >>> abs(solution.value() - 10) < 1e-9
    True
    """

    goes_relative: ClassVar[bool] = True

    def support_of(self, prepared: Prepared) -> Support:
        """Return whether this solver supports the problem, and why not."""
        support = prepared.support_of_proper()
        if not support or support.is_open:
            return support
        if getattr(prepared.proper, "problem", prepared.problem).model.has_swaps:
            return Support(
                False, "does not change the players' places; OptimisticValueIteration does."
            )
        return support

    def iterate(self, run: Run) -> None:
        """Go through the components, successors first."""
        pair = BoundPair(run, self.max_sweeps)
        pair.go_through(lambda number: self._solve_one(pair, number))

    @staticmethod
    def _solve_one(pair: BoundPair, number: int) -> None:
        run = pair.run
        start, stop = run.component(number)
        states = pair.states(number)
        earned, going_on = np.zeros(stop - start), np.ones(stop - start)
        least = greatest = 0.0
        allowed = 0.5 * pair.share(number)
        sweeps = 0
        while not pair.limit_reached(sweeps):
            low, high = intervals.sound_sweep_jit(
                start, stop, run.equation, run.values, least, greatest, earned, going_on, run.policy
            )
            run.visits[0] += stop - start
            sweeps += 1
            if not np.isfinite(earned).all():
                run.values[states] = earned
                return  # an overflow, which is reported at the end
            if not (np.isfinite(low) and np.isfinite(high)):
                continue
            least, greatest = low, high
            values = earned + going_on * (0.5 * least + 0.5 * greatest)
            widths = going_on * (greatest - least)
            run.reporter.report(
                sweeps, None, f"component {number:,}: {stop - start:,} states, {widths.max():.2e}"
            )
            scale = np.abs(values) if run.relative else 1.0
            rounding = 8 * UNIT * (np.abs(values) if run.relative else np.abs(values).max())
            rests = (widths <= rounding).all() or np.array_equal(values, run.values[states])
            is_close = (widths <= allowed * scale).all()
            run.values[states] = values
            if not (is_close or rests):
                continue
            patience = min(sweeps + 10, pair.max_sweeps - sweeps)
            if pair.verify_guess(number, patience):
                return
            sweeps += patience
            if rests:
                break
            allowed /= 4
        pair.settle_for_less(number, sweeps)
