"""Linear programming: the least values that no choice exceeds."""

from __future__ import annotations

import attrs
import numpy as np

from gamedp.bellman import equation
from gamedp.results.status import Status
from gamedp.runtime.arrays import places_of_rows
from gamedp.runtime.options import positive
from gamedp.solvers.request import Support
from gamedp.solvers.tools.base import FixedPointSolver
from gamedp.solvers.tools.components import Component, solve_by_components
from gamedp.solvers.tools.policies import inner_matrix
from gamedp.solvers.tools.prepared import Prepared
from gamedp.solvers.tools.run import Run


@attrs.frozen(kw_only=True)
class LinearProgramming(FixedPointSolver):
    """Minimise the sum of values that are at least the value of every choice [1]_ [2]_.

    For a minimiser, the other way round. For one player only: two opponents have no such linear
    program. Components are solved one by one, each by HiGHS through scipy. Since HiGHS satisfies
    constraints to about 1e-7 only, the policy of its values is evaluated by a linear system, as by
    :class:`PolicyIteration`, and the errors of that are bounded as by
    :class:`TopologicalValueIteration`.

    Parameters
    ----------
    max_seconds : float
        Time limit.

    References
    ----------
    .. [1] F. d'Epenoux, "A probabilistic production and inventory problem", Management Science 10
       (1963).
    .. [2] M. Puterman, "Markov Decision Processes", Wiley 1994, sections 6.9 and 7.2.7.

    Examples
    --------
    >>> import gamedp
    >>> model = gamedp.Model.from_arrays([0, 1], [0, 1], [0], [1.0], rewards=[1.0])
    >>> solver = gamedp.solvers.LinearProgramming()
    >>> solution = gamedp.solve(model, gamedp.Discounted(0.9), solver, tolerance=1e-9)
    >>> abs(solution.value() - 10) < 1e-9
    True
    """

    max_seconds: float = attrs.field(default=float("inf"), validator=positive)

    def support_of(self, prepared: Prepared) -> Support:
        """Return whether this solver supports the problem, and why not."""
        support = prepared.support_of_proper()
        if not support or support.is_open:
            return support
        proper = getattr(prepared.proper, "problem", prepared.problem)
        model = proper.model
        if model.has_swaps:
            return Support(False, "does not change the players' places; PolicyIteration does.")
        sides = proper.equation().maximise[np.diff(model.choice_offsets) > 1]
        if sides.any() and not sides.all():
            return Support(
                False, "is for one player alone; PolicyIteration does two opponents who choose."
            )
        return support

    def iterate(self, run: Run) -> None:
        """Go through the components, successors first."""
        solve_by_components(run, lambda number: self._solve_one(run, number))

    def _solve_one(self, run: Run, number: int) -> None:
        import scipy.optimize  # noqa: PLC0415 - slow to import
        import scipy.sparse  # noqa: PLC0415

        start, stop = run.component(number)
        size = stop - start
        states = run.equation.order[start:stop]
        free = np.diff(run.problem.model.choice_offsets)[states] > 1
        sides = run.equation.maximise[states]
        sign = 1.0 if sides[free].all() and (free.any() or sides.all()) else -1.0
        first = run.equation.graph.choice_offsets[states]
        counts = run.equation.graph.choice_offsets[states + 1] - first
        choices, _ = places_of_rows(first, counts)
        matrix, known = inner_matrix(start, stop, run.equation, choices, run.values)
        if not np.isfinite(known).all():
            run.values[states] = np.nan  # an overflow, which is reported at the end
            return
        owners = np.repeat(np.arange(size), counts)
        own = scipy.sparse.csr_array(
            (np.ones(len(choices)), (np.arange(len(choices)), owners)), shape=matrix.shape
        )
        left = self.max_seconds - run.reporter.spent
        found = scipy.optimize.linprog(
            sign * np.ones(size),
            A_ub=sign * (matrix - own),
            b_ub=-sign * known,
            bounds=(None, None),
            method="highs",
            options={"time_limit": max(left, 1e-3)} if np.isfinite(left) else {},
        )
        run.visits[0] += size
        run.reporter.report(number, None, f"component {number:,}: {size:,} states, {found.message}")
        if found.x is not None:
            run.values[states] = found.x
        elif found.status == 1:
            run.status = Status.TIME_LIMIT
        equation.sweep_jit(start, stop, run.equation, run.values.copy(), run.policy)
        component = Component(run, number)
        component.take_policy()
        allowed = run.share
        component.evaluate(0.01 * allowed)
        component.prove(allowed)
