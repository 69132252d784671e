"""Optimistic value iteration: guess bounds from values that hardly change, and verify them."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np

from gamedp.solvers.tools.base import SweepingSolver
from gamedp.solvers.tools.bound_pair import BoundPair
from gamedp.solvers.tools.run import Run


@attrs.frozen(kw_only=True)
class OptimisticValueIteration(SweepingSolver):
    """Iterate values until they hardly change, guess bounds from them, and verify those [1]_.

    The guess puts bounds about the values at the requested distance, absolute or relative.
    Sweeps of Bellman's operator, rounded outward, then narrow them where possible. Once there is a
    sweep in which no bound would have to be wider, the bounds are proven by that alone (Park's
    induction); if that takes longer than the values took, these are made more exact first.

    In [1]_, values rise from zero and are lower bounds themselves. Here both bounds are guessed and
    verified: the values may therefore begin anywhere, and rewards may have either sign.

    Parameters
    ----------
    max_sweeps : int
        Largest number of sweeps over one component.
    max_seconds : float
        Time limit.

    References
    ----------
    .. [1] A. Hartmanns, B. Kaminski, "Optimistic value iteration", CAV 2020.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.wubbel import Wubbel
    >>> solver = gamedp.solvers.OptimisticValueIteration()
    >>> solution = gamedp.solve(Wubbel(goal=10), solver=solver, tolerance=1e-9, relative=True)
    >>> round(solution.value(), 6)
    0.67072
    """

    goes_relative: ClassVar[bool] = True

    def iterate(self, run: Run) -> None:
        """Go through the components, successors first."""
        pair = BoundPair(run, self.max_sweeps)
        pair.go_through(lambda number: self._solve_one(pair, number))

    def _solve_one(self, pair: BoundPair, number: int) -> None:
        """Iterate, guess and verify, each time from better values."""
        margin = 0.5 * pair.share(number)
        sweeps = 0
        earlier, since = np.inf, 0
        while not pair.limit_reached(sweeps):
            change = pair.approach(number)
            sweeps += 1
            if not np.isfinite(change):
                return  # an overflow, which is reported at the end
            # The remaining distance if changes go on shrinking as they have done since the last
            # check, about half of the sweeps ago: a guess.
            fall = (change / earlier) ** (1 / (sweeps - since)) if change < earlier else 1.0
            is_close = change <= 0.1 * margin * (1 - fall)
            if sweeps >= 2 * since:
                earlier, since = change, sweeps
            if change and not is_close:
                continue
            patience = min(sweeps + 10, self.max_sweeps - sweeps)
            if pair.verify_guess(number, patience):
                return
            sweeps += patience
            if change == 0:
                break
            margin /= 4
        pair.settle_for_less(number, sweeps)
