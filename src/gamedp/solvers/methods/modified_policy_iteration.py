"""Modified policy iteration: some sweeps along one policy between two improvements of it."""

from __future__ import annotations

import attrs
import numpy as np

from gamedp.bellman import equation
from gamedp.results.solution import Solution
from gamedp.runtime.limit import ProgressCallback
from gamedp.runtime.options import limits_last, none_or_more
from gamedp.solvers.tools.base import SweepingSolver
from gamedp.solvers.tools.components import solve_by_components, sweep_until_proven
from gamedp.solvers.tools.discounted import is_one_equation, solve_discounted
from gamedp.solvers.tools.prepared import Prepared
from gamedp.solvers.tools.run import Run

USUAL_SWEEPS = 20
"""Number of sweeps along the policy of a component between two improvements."""

MAX_EVALUATION_SWEEPS = 1000
"""Largest such number for a discounted model, where sweeps end once they have done their part."""


@attrs.frozen(kw_only=True, field_transformer=limits_last)
class ModifiedPolicyIteration(SweepingSolver):
    """Alternate sweeps over all choices with sweeps along the best ones [1]_.

    Efficient if states have many choices: a sweep along a policy evaluates one of them. If changes
    do not shrink from one improvement to the next, as may happen without a discount or with two
    opponents, there are fewer sweeps in between, and finally none: that is value iteration.

    With a discount b, and players who keep their places, the values of the whole model are found
    together, without analysing its structure. If an improvement changes them by d, the true values
    lie in ``v + b/(1-b) * [min d, max d]`` (Puterman [2]_, theorem 6.6.3); iteration ends as soon
    as this is narrow enough, rounding included, and the values are moved to its middle. Sweeps
    along the policy go on until they have reduced the changes to a part of the improvement's. A
    choice is not compared again while its lead over the others of its state exceeds how much the
    values have moved since, apart from what all have in common.

    Otherwise components are solved one by one. With two opponents, the maximiser keeps to a policy,
    and the minimiser chooses the best reply in every sweep [3]_. The results are proven as by
    :class:`TopologicalValueIteration`.

    Parameters
    ----------
    inner_sweeps : int, optional
        Number of sweeps along a policy between improvements; with a discount the largest. By
        default 20, and with a discount as many as needed.
    max_sweeps : int
        Largest number of improvements of the policy, of one component or of the whole model.
    max_seconds : float
        Time limit.

    References
    ----------
    .. [1] M. Puterman, M. Shin, "Modified policy iteration algorithms for discounted Markov
       decision problems", Management Science 24 (1978).
    .. [2] M. Puterman, "Markov Decision Processes", Wiley 1994, sections 6.5 to 6.7.
    .. [3] J. van der Wal, "Discounted Markov games: generalized policy iteration method", Journal
       of Optimization Theory and Applications 25 (1978).

    Examples
    --------
    >>> import gamedp
    >>> model = gamedp.Model.from_arrays([0, 1], [0, 1], [0], [1.0], rewards=[1.0])
    >>> solver = gamedp.solvers.ModifiedPolicyIteration()
    >>> solution = gamedp.solve(model, gamedp.Discounted(0.9), solver, tolerance=1e-9)
    >>> abs(solution.value() - 10) < 1e-9
    True
    """

    inner_sweeps: int | None = attrs.field(
        default=None, validator=attrs.validators.optional(none_or_more)
    )

    def solved_at_once(
        self, prepared: Prepared, tolerance: float, progress: ProgressCallback | None
    ) -> Solution | None:
        """Return the solution of a discounted problem whose players keep their places."""
        problem = prepared.problem
        if not is_one_equation(problem):
            return None
        return solve_discounted(
            self,
            problem,
            tolerance,
            progress,
            max_sweeps=self.max_sweeps,
            inner_sweeps=MAX_EVALUATION_SWEEPS if self.inner_sweeps is None else self.inner_sweeps,
            max_seconds=self.max_seconds,
        )

    def iterate(self, run: Run) -> None:
        """Go through the components."""
        solve_by_components(run, lambda number: self._solve_one(run, number))

    def _solve_one(self, run: Run, number: int) -> None:
        start, stop = run.component(number)
        patience = _SweepNumber(USUAL_SWEEPS if self.inner_sweeps is None else self.inner_sweeps)
        answers = _has_opponents(run)

        def improve_and_follow(threshold: float) -> float:
            change = equation.sweep_jit(start, stop, run.equation, run.values, run.policy)
            for _ in range(patience.after(change)):
                if run.out_of_time:
                    break
                run.visits[0] += stop - start
                moved = equation.follow_jit(
                    start, stop, run.equation, answers, run.values, run.policy
                )
                if moved <= threshold:
                    break
            return float(change)

        sweep_until_proven(run, number, improve_and_follow, self.max_sweeps)


@attrs.define
class _SweepNumber:
    """The number of sweeps along a policy: fewer, if these do not reduce the changes."""

    inner_sweeps: int
    least: float = float("inf")
    in_vain: int = 0

    def after(self, change: float) -> int:
        """Return the new number of sweeps."""
        self.in_vain = 0 if change < self.least else self.in_vain + 1
        self.least = min(self.least, change)
        if self.in_vain > 8:
            self.inner_sweeps //= 2
            self.in_vain = 0
        return self.inner_sweeps


def _has_opponents(run: Run) -> bool:
    """Return whether choices of both kinds have to be made."""
    free = np.diff(run.problem.model.choice_offsets) > 1
    sides = run.equation.maximise[free]
    return run.problem.model.has_swaps or 0 < int(sides.sum()) < len(sides)
