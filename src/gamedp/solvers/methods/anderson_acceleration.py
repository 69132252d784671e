"""Value iteration that extrapolates from its last sweeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

from gamedp.bellman import equation
from gamedp.runtime.options import limits_last, whole_and_positive
from gamedp.solvers.tools.base import SweepingSolver
from gamedp.solvers.tools.components import solve_by_components, sweep_until_proven
from gamedp.solvers.tools.run import Run

if TYPE_CHECKING:
    from gamedp.runtime.arrays import Floats


MAX_MIXED_CHANGE = 0.9
"""Largest factor by which a mix may leave the change of the next sweep."""


@attrs.frozen(kw_only=True, field_transformer=limits_last)
class AndersonAcceleration(SweepingSolver):
    """Extrapolate to the combination of the last sweeps with the smallest residual [1]_ [2]_.

    A combination may be worse than the last sweep alone, since a maximum is not linear. It is
    therefore tested by the next sweep: if that changes no less than the one before, the mix and
    its memory are dropped, and sweeps go on from where they were.

    Components are solved one by one, and the results are proven as by
    :class:`TopologicalValueIteration`.

    Parameters
    ----------
    memory : int
        The number of sweeps that are mixed.
    max_sweeps : int
        Largest number of sweeps over one component.
    max_seconds : float
        Time limit.

    References
    ----------
    .. [1] D. Anderson, "Iterative procedures for nonlinear integral equations", Journal of the ACM
       12 (1965).
    .. [2] M. Geist, B. Scherrer, "Anderson acceleration for reinforcement learning", EWRL 2018.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.wubbel import Wubbel
    >>> solution = gamedp.solve(Wubbel(goal=10), solver=gamedp.solvers.AndersonAcceleration())
    >>> round(solution.value(), 6)
    0.67072
    """

    memory: int = attrs.field(default=8, validator=whole_and_positive)

    def iterate(self, run: Run) -> None:
        """Go through the components, successors first."""
        solve_by_components(run, lambda number: self._solve_one(run, number))

    def _solve_one(self, run: Run, number: int) -> None:
        start, stop = run.component(number)
        states = run.equation.order[start:stop]
        # If play may go on at a cost, values that are far off recover by no more than that cost
        # in each sweep: an extrapolation must therefore not take them far off.
        reach = np.inf if run.problem.model.structure.always_ends else 10.0 * self.memory
        mixing = _Mixing(self.memory, reach if run.equation.discount == 1 else np.inf)

        def sweep_and_mix(threshold: float) -> float:
            before = run.values[states]
            change = float(equation.sweep_jit(start, stop, run.equation, run.values, run.policy))
            if change <= threshold:
                return change
            run.values[states], change = mixing.after(before, run.values[states], change)
            return change

        sweep_until_proven(run, number, sweep_and_mix, self.max_sweeps)


class _Mixing:
    """The last sweeps over a component: the values before and after each."""

    def __init__(self, memory: int, reach: float) -> None:
        self.memory = memory
        self.reach = reach  # a mix may be away by this many times the last change
        self.results: list[Floats] = []
        self.changes: list[Floats] = []
        self.plain: Floats | None = None  # the result to return to if the mix is worse
        self.last_change = np.inf

    def after(self, before: Floats, result: Floats, change: float) -> tuple[Floats, float]:
        """Return the values to continue from after a sweep, and how much that sweep changed."""
        if self.plain is not None and not change <= MAX_MIXED_CHANGE * self.last_change:
            plain, self.plain = self.plain, None
            self.results.clear()
            self.changes.clear()
            return plain, self.last_change
        self.last_change = change
        self.results = [*self.results[-self.memory :], result]
        self.changes = [*self.changes[-self.memory :], result - before]
        self.plain = None
        if len(self.results) < 2 or not np.isfinite(change):
            return result, change
        steps = np.diff(np.array(self.changes), axis=0).T
        shares = np.linalg.lstsq(steps, self.changes[-1], rcond=1e-10)[0]
        mixed = result - np.diff(np.array(self.results), axis=0).T @ shares
        if not np.abs(mixed - result).max() <= self.reach * change:
            return result, change
        self.plain = result
        return mixed, change
