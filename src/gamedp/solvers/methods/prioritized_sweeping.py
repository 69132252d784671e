"""Prioritized sweeping: updates first the state whose value is likely to change most."""

from __future__ import annotations

from typing import ClassVar

import attrs

from gamedp.bellman import priorities
from gamedp.solvers.tools.base import SweepingSolver
from gamedp.solvers.tools.components import solve_by_components, sweep_until_proven
from gamedp.solvers.tools.run import Run


@attrs.frozen(kw_only=True)
class PrioritizedSweeping(SweepingSolver):
    """Update first the state whose value may change most, then its predecessors [1]_ [2]_.

    A state's priority is the sum of the changes of its successors since its last update, each
    with its probability: a bound on the change of its own value. Priorities are rounded to
    powers of two. Efficient if values change in few places, as along the front of a maze.

    Components are solved one by one, and the results are proven as by
    :class:`TopologicalValueIteration`.

    Parameters
    ----------
    max_sweeps : int
        Largest number of backups, in units of sweeps over a component.
    max_seconds : float
        Time limit.

    References
    ----------
    .. [1] A. Moore, C. Atkeson, "Prioritized sweeping: reinforcement learning with less data and
       less time", Machine Learning 13 (1993).
    .. [2] D. Wingate, K. Seppi, "Prioritization methods for accelerating MDP solvers", Journal of
       Machine Learning Research 6 (2005).

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.wubbel import Wubbel
    >>> solution = gamedp.solve(Wubbel(goal=10), solver=gamedp.solvers.PrioritizedSweeping())
    >>> round(solution.value(), 6)
    0.67072
    """

    sweeps_in_order: ClassVar[bool] = False  # its queue jumps anyway

    def iterate(self, run: Run) -> None:
        """Go through the components, successors first."""
        solve_by_components(run, lambda number: self._solve_one(run, number))

    def _solve_one(self, run: Run, number: int) -> None:
        start, stop = run.component(number)
        structure = run.problem.model.structure
        queue = priorities.fill_jit(stop - start)

        def sweep(threshold: float) -> float:
            change = priorities.back_up_first_jit(
                start,
                stop,
                run.equation,
                structure.reverse,
                threshold,
                run.values,
                run.policy,
                queue,
            )
            return float(change)

        sweep_until_proven(run, number, sweep, self.max_sweeps)
