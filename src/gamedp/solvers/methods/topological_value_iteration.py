"""Value iteration, one strongly connected component after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import attrs
import numpy as np

from gamedp.model.problem import Problem
from gamedp.runtime.limit import Limit
from gamedp.solvers.request import Support
from gamedp.solvers.tools.base import SweepingSolver, solution_of
from gamedp.solvers.tools.components import sweep_components
from gamedp.solvers.tools.deflation import bound_by_deflation
from gamedp.solvers.tools.endless_play import may_be_forced, solve_where_ends_are_forced
from gamedp.solvers.tools.prepared import Prepared
from gamedp.solvers.tools.run import Run

if TYPE_CHECKING:
    from gamedp.results.solution import Solution
    from gamedp.runtime.limit import ProgressCallback


@attrs.frozen(kw_only=True)
class TopologicalValueIteration(SweepingSolver):
    """Solve the strongly connected components in reverse topological order, successors first.

    A state that cannot recur takes one step. A component whose cycles all lead through one
    state is solved by Newton's method on the value of that state; any other by Gauss-Seidel sweeps
    in depth-first order and, between them, by policy evaluation: exact, by elimination without
    subtraction, if that costs no more than the sweeps so far, else by a few sweeps over the
    choices of the policy alone. Two opponents begin with sweeps; where these converge slowly,
    policies are evaluated and improved in turns, as by :class:`PolicyIteration`. If players change
    places, sweeps come first; where these converge slowly, the policy is eliminated together with
    its mirror image. If two opponents can prolong play for ever, both bounds of a component are
    swept over and deflated, as in :class:`IntervalIteration`.

    The stopping rule is a theorem: errors e with
    ``e >= |residual| + rounding + discount * sum(|P| * e)`` bound the distance to the unique
    fixed point of Bellman's operator [1]_; see :mod:`gamedp.bellman.residuals`. If play lasts so
    long that rounding on every step would be too much, the theorem of elimination is used [3]_;
    see :mod:`gamedp.bellman.sparse_elimination` and :mod:`gamedp.bellman.policy_proofs`. The idea
    of going by components is from [2]_.

    Parameters
    ----------
    max_sweeps : int
        Largest number of sweeps over one component.
    max_seconds : float
        Time limit.

    References
    ----------
    .. [1] D. Bertsekas, J. Tsitsiklis, "An analysis of stochastic shortest path problems",
       Mathematics of Operations Research 16 (1991); for two players: S. Patek, D. Bertsekas,
       "Stochastic shortest path games", SIAM Journal on Control and Optimization 37 (1999).
    .. [2] P. Dai, Mausam, D. Weld, J. Goldsmith, "Topological value iteration algorithms", Journal
       of Artificial Intelligence Research 42 (2011).
    .. [3] C. O'Cinneide, "Entrywise perturbation theory and error analysis for Markov chains",
       Numerische Mathematik 65 (1993).

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.wubbel import Wubbel
    >>> solution = gamedp.solve(Wubbel(goal=10), solver=gamedp.solvers.TopologicalValueIteration())
    >>> round(solution.value(), 6)
    0.67072
    """

    deflates: ClassVar[bool] = True
    sweeps_in_order: ClassVar[bool] = False  # it gathers each component

    def support_of(self, prepared: Prepared) -> Support:
        """Return whether this solver supports the problem, and why not."""
        support = prepared.support_of_fixed_points()
        return support or prepared.support_of_deflating()

    def solved_at_once(
        self, prepared: Prepared, tolerance: float, progress: ProgressCallback | None
    ) -> Solution | None:
        """Return the solution if no reduction is needed.

        That is the case if a depth-first search has left components that play surely leaves; or if
        play could go on for ever, but either opponent makes an end.
        """
        limit = Limit(self.max_seconds)
        limit()
        problem, searched = prepared.problem, prepared.searched
        if searched is not None and searched.parts.num_components:
            presumed = problem.presuming_ends()
            run = Run(presumed, tolerance, progress, limit.left, searched=searched)
            with np.errstate(over="ignore", invalid="ignore"):  # refused at the end
                self.iterate(run)
                return solution_of(run, self)
        if not may_be_forced(problem) or problem.draws != (0.0, 0.0):
            return None
        return self.solved_if_forced(problem, tolerance, progress)

    def solved_if_forced(
        self, problem: Problem, tolerance: float, progress: ProgressCallback | None
    ) -> Solution | None:
        """Return the same, whatever endless play counts: then that does not matter."""
        return solve_where_ends_are_forced(
            self, problem, tolerance, progress, self.max_sweeps, self.max_seconds
        )

    def iterate(self, run: Run) -> None:
        """Go through the components, successors first."""
        if run.problem.needs_deflation:
            bound_by_deflation(run, self.max_sweeps)
            return
        sweep_components(run, self.max_sweeps)
