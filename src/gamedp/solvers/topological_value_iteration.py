"""Value iteration, one strongly connected component after the other."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np

from gamedp.kernels import bellman
from gamedp.problem import Problem
from gamedp.solvers.base import (
    FixedPointSolver,
    Run,
    Support,
    support_of_deflating,
    support_of_fixed_points,
)
from gamedp.solvers.components import solve_by_components, sweep_until_proven
from gamedp.solvers.deflation import bound_contested
from gamedp.solvers.linear_systems import DENSE, evaluate
from gamedp.solvers.options import positive, whole_and_positive

__all__ = ["TopologicalValueIteration"]

SMALL = 1 << 14
"""Components of up to this many states are solved within a kernel; larger ones sweep by sweep."""

PATIENCE = 1000
"""Sweeps over a component after which its greedy policy is evaluated as a whole."""


@attrs.frozen(kw_only=True)
class TopologicalValueIteration(FixedPointSolver):
    """Solve the components of the model in topological order, each once all it leads to is solved.

    A state that cannot come again takes one look. A component whose cycles all lead through one
    state is solved by Newton's method on the value of that state; any other by Gauss-Seidel sweeps
    in depth-first order, until its error is proven to be small enough. Where that takes thousands
    of sweeps, one player chooses, and the component has up to 2000 states, values jump now and then
    to those of the greedy policy, by elimination as in :class:`PolicyIteration`. Where two
    opponents can keep each other from an end, both bounds of a component are swept over and
    deflated, as in :class:`IntervalIteration`.

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

    deflates: ClassVar[bool] = True

    max_sweeps: int = attrs.field(default=1_000_000, validator=whole_and_positive)
    max_seconds: float = attrs.field(default=float("inf"), validator=positive)

    def supports(self, problem: Problem) -> Support:
        """Say whether this solver can do the problem, and why not."""
        support = support_of_fixed_points(problem)
        return support or support_of_deflating(problem)

    def iterate(self, run: Run) -> None:
        """Go through the components, successors first."""
        if run.problem.is_contested:
            bound_contested(run, self.max_sweeps)
            return

        def sweep_one(number: int) -> None:
            start, stop = run.component(number)
            may_jump = stop - start <= DENSE and _is_of_one_mind(run, number)
            count = 0

            def sweep(_: float) -> float:
                nonlocal count
                count += 1
                if may_jump and count % PATIENCE == 0:
                    evaluate(run, number)
                return float(bellman.sweep_jit(start, stop, run.rows, run.values, run.policy))

            sweep_until_proven(run, number, sweep, self.max_sweeps)

        solve_by_components(run, sweep_one, SMALL)


def _is_of_one_mind(run: Run, number: int) -> bool:
    """Say whether all who choose in a component want the same, and nobody changes places."""
    start, stop = run.component(number)
    states = run.rows.order[start:stop]
    sides = run.rows.maximise[states][np.diff(run.problem.model.choice_offsets)[states] > 1]
    return not run.problem.model.has_swaps and int(sides.sum()) in {0, len(sides)}
