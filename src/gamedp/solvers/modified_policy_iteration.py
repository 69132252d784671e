"""Modified policy iteration: some sweeps along one policy between two that improve it."""

from __future__ import annotations

import attrs
import numpy as np

from gamedp.kernels import bellman, policies
from gamedp.problem import Problem
from gamedp.solvers.base import FixedPointSolver, Run, Support, support_of_proper
from gamedp.solvers.components import solve_by_components, sweep_until_proven
from gamedp.solvers.discounted import solve_discounted
from gamedp.solvers.options import Sweep, none_or_more, one_of, positive, whole_and_positive

__all__ = ["ModifiedPolicyIteration"]


@attrs.frozen(kw_only=True)
class ModifiedPolicyIteration(FixedPointSolver):
    """Sweep over all choices now and then, and in between along the best ones alone [1]_.

    Pays where states have many choices: a sweep along a policy looks at one of them. Of two
    opponents, the maximiser's choices are kept, and the minimiser answers in every sweep [2]_. If
    changes do not shrink from one improvement to the next, as may happen without a discount, there
    are fewer sweeps in between, and in the end none: that is value iteration.

    With a discount and Jacobi sweeps, the values of the whole model are found at once, and moved to
    the middle of the interval of the true ones as by :class:`ValueIteration`; else components are
    solved one by one. What is claimed is proven as by :class:`TopologicalValueIteration`.

    Parameters
    ----------
    inner_sweeps : int
        Sweeps along a policy, each time.
    sweep : {"gauss-seidel", "jacobi"}
        Whether a sweep uses its own new values, in depth-first order, or the last sweep's alone.
        Without a discount, for components, always the former.
    max_sweeps : int
        Improvements of the policy at most, of one component.
    max_seconds : float
        Time at most.

    References
    ----------
    .. [1] M. Puterman, M. Shin, "Modified policy iteration algorithms for discounted Markov
       decision problems", Management Science 24 (1978).
    .. [2] J. van der Wal, "Discounted Markov games: generalized policy iteration method", Journal
       of Optimization Theory and Applications 25 (1978).

    Examples
    --------
    >>> import gamedp
    >>> model = gamedp.Model.from_arrays([0, 1], [0, 1], [0], [1.0], rewards=[1.0])
    >>> solver = gamedp.ModifiedPolicyIteration(sweep="jacobi")
    >>> solution = gamedp.solve(model, gamedp.Discounted(0.9), solver, tolerance=1e-9)
    >>> abs(solution.value() - 10) < 1e-9
    True
    """

    inner_sweeps: int = attrs.field(default=20, validator=none_or_more)
    sweep: Sweep = attrs.field(default="gauss-seidel", validator=one_of(Sweep))
    max_sweeps: int = attrs.field(default=1_000_000, validator=whole_and_positive)
    max_seconds: float = attrs.field(default=float("inf"), validator=positive)

    def supports(self, problem: Problem) -> Support:
        """Say whether this solver can do the problem, and why not."""
        return support_of_proper(problem)

    def iterate(self, run: Run) -> None:
        """Go through the components, or over the whole model."""
        if run.problem.discount < 1 and not run.problem.model.has_swaps:
            solve_discounted(run, self.max_sweeps, self.inner_sweeps)
        else:
            solve_by_components(run, lambda number: self._solve_one(run, number))

    def _solve_one(self, run: Run, number: int) -> None:
        start, stop = run.component(number)
        patience = _Patience(self.inner_sweeps)
        answers = _has_opponents(run)

        def improve_and_follow(threshold: float) -> float:
            change = bellman.sweep_jit(start, stop, run.rows, run.values, run.policy)
            for _ in range(patience.after(change)):
                if run.out_of_time:
                    break
                run.visits[0] += stop - start
                moved = policies.follow_jit(start, stop, run.rows, answers, run.values, run.policy)
                if moved <= threshold:
                    break
            return float(change)

        sweep_until_proven(run, number, improve_and_follow, self.max_sweeps)


@attrs.define
class _Patience:
    """How many sweeps there are along a policy: fewer, if these do not bring the changes down."""

    inner_sweeps: int
    least: float = float("inf")
    in_vain: int = 0

    def after(self, change: float) -> int:
        """Return how many there are now."""
        self.in_vain = 0 if change < self.least else self.in_vain + 1
        self.least = min(self.least, change)
        if self.in_vain > 8:
            self.inner_sweeps //= 2
            self.in_vain = 0
        return self.inner_sweeps


def _has_opponents(run: Run) -> bool:
    """Say whether choices of both kinds have to be made."""
    free = np.diff(run.problem.model.choice_offsets) > 1
    sides = run.rows.maximise[free]
    return run.problem.model.has_swaps or 0 < int(sides.sum()) < len(sides)
