"""Interval iteration: bounds from below and from above, until they meet."""

from __future__ import annotations

from typing import ClassVar

import attrs

from gamedp.solvers.request import Support
from gamedp.solvers.tools.base import SweepingSolver
from gamedp.solvers.tools.bound_pair import BoundPair
from gamedp.solvers.tools.deflation import bound_by_deflation
from gamedp.solvers.tools.prepared import Prepared
from gamedp.solvers.tools.run import Run


@attrs.frozen(kw_only=True)
class IntervalIteration(SweepingSolver):
    """Apply Bellman's operator to a lower and to an upper bound, until they are close [1]_ [2]_.

    Bounds are rounded outward, so they hold at every moment, also when a limit stops the solver.
    The first ones are the extremes of the values that a component leads to; if rewards have both
    signs, they are proven for values that are nearly right, by the expected number of steps.

    If two opponents can prolong play for ever, the upper bound is deflated from time to time: it
    is lowered to the maximiser's value of leaving, and the lower bound is raised in the same way
    [3]_ [4]_ (:mod:`gamedp.solvers.tools.deflation`). Models in which they cannot take no extra
    time.

    Parameters
    ----------
    max_sweeps : int
        Largest number of sweeps over one component.
    max_seconds : float
        Time limit.

    References
    ----------
    .. [1] S. Haddad, B. Monmege, "Interval iteration algorithm for MDPs and IMDPs", Theoretical
       Computer Science 735 (2018).
    .. [2] C. Baier, J. Klein, L. Leuschner, D. Parker, S. Wunderlich, "Ensuring the reliability of
       your model checker: interval iteration for Markov decision processes", CAV 2017.
    .. [3] E. Kelmendi, J. Krämer, J. Křetínský, M. Weininger, "Value iteration for simple
       stochastic games: stopping criterion and learning algorithm", CAV 2018.
    .. [4] J. Křetínský, T. Meggendorfer, M. Weininger, "Stopping criteria for value iteration on
       stochastic games with quantitative objectives", LICS 2023.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.wubbel import Wubbel
    >>> solution = gamedp.solve(Wubbel(goal=10), solver=gamedp.solvers.IntervalIteration())
    >>> round(solution.value(), 6)
    0.67072
    """

    goes_relative: ClassVar[bool] = True
    deflates: ClassVar[bool] = True

    def support_of(self, prepared: Prepared) -> Support:
        """Return whether this solver supports the problem, and why not."""
        return prepared.support_of_deflating()

    def iterate(self, run: Run) -> None:
        """Go through the components, successors first."""
        if run.problem.needs_deflation:
            bound_by_deflation(run, self.max_sweeps)
            return
        pair = BoundPair(run, self.max_sweeps)

        def narrow(number: int) -> None:
            pair.bound_somehow(number)
            if pair.is_finite(number):
                pair.narrow(number)

        pair.go_through(narrow)
