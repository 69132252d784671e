"""Backward induction: from the end of the game, or of the horizon, to the start."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

from gamedp.bellman import equation
from gamedp.errors import shown
from gamedp.model.objectives import AverageReward, Discounted, FiniteHorizon, has_target
from gamedp.model.problem import Problem
from gamedp.reduction import Reduction, needs_reduction, never
from gamedp.results.status import Guarantee, Status
from gamedp.runtime.limit import Reporter
from gamedp.solvers.request import Support
from gamedp.solvers.tools.base import PreparingSolver, make_solution, require, solution_of
from gamedp.solvers.tools.components import solve_by_components
from gamedp.solvers.tools.prepared import Prepared, prepare
from gamedp.solvers.tools.run import (
    DepthFirstResult,
    Run,
    check_range,
    finished,
    outward,
    sweep_horizon,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from gamedp.results.solution import Solution
    from gamedp.runtime.limit import ProgressCallback


def _is_acyclic(found: object) -> bool:
    """Return whether a reduced problem has no cycles."""
    return isinstance(found, Reduction) and found.problem.model.structure.is_acyclic


def _refuse(number: int) -> None:
    """Solve a component with cycles: there are none."""
    raise AssertionError(number)


@attrs.frozen(kw_only=True)
class BackwardInduction(PreparingSolver):
    """Compute the value of each state after those of its successors, in one pass.

    For acyclic models, and for finite horizons of any model. Rounding is the only error, and is
    bounded with every step; if all steps are certain and the sums exact, both bounds are the value
    itself.

    Where each player has payoffs of their own (three and more, or two without a constant sum;
    max-n [1]_), each takes the action that is best for itself when it
    moves, the first of equally good ones. That is a subgame-perfect equilibrium: no player gains by
    deviating alone, in any state, up to the width of the bounds. Other ways to break ties may give
    other values, to all players; the bounds are therefore about this policy. This is for
    acyclic models and the total reward.

    References
    ----------
    .. [1] C. Luckhardt, K. Irani, "An algorithmic solution of N-person games", AAAI 1986.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> game = Matches(matches=17)
    >>> gamedp.solve(game, solver=gamedp.solvers.BackwardInduction(), compile="never").value()
    -1.0
    """

    def support_of(self, prepared: Prepared) -> Support:  # noqa: PLR0911 - a table of reasons
        """Return whether this solver supports the problem, and why not."""
        problem = prepared.problem
        model = problem.model
        many = model.is_general_sum
        if isinstance(problem.objective, FiniteHorizon):
            if many:
                return Support(False, "does finite horizons for one player and two opponents only.")
            return Support(True)
        if isinstance(problem.objective, AverageReward):
            reason = "does not support long-run averages; RelativeValueIteration does."
            return Support(False, reason)
        if many and (isinstance(problem.objective, Discounted) or has_target(problem.objective)):
            reason = (
                "supports neither discounts nor targets where each player has payoffs of their own."
            )
            return Support(False, reason)
        if not many and prepared.depth_first_solution is not None:
            return Support(True)
        if not many and needs_reduction(problem):
            support = prepared.support_of_fixed_points()
            # States that only lead to known values are in no cycles.
            found = prepared.proper if support else None
            if not support or support.is_open or _is_acyclic(found):
                return support
        if not model.structure.is_acyclic:
            cycle = model.structure.cycle()
            path = " → ".join(shown(model.state(index), 80) for index in cycle[:6])
            dots = " → …" if len(cycle) > 6 else ""
            steps = "1 step" if len(cycle) == 1 else f"{len(cycle)} steps"
            way_out = (
                "No solver does that where each player has payoffs of their own: count the turns "
                "in the state, and let the last one end the game."
                if many
                else "Use TopologicalValueIteration, or name no solver to let gamedp choose."
            )
            return Support(
                False,
                f"needs an acyclic model; {shown(model.state(cycle[0]))} can be reached from "
                f"itself in {steps} ({path}{dots} → {shown(model.state(cycle[0]), 80)}). {way_out}",
            )
        return Support(True)

    def decide(self, prepared: Prepared, out_of_time: Callable[[], bool]) -> None:
        """Decide numerically what the graph leaves open, if it matters."""
        if prepared.depth_first_solution is None and not prepared.problem.model.is_general_sum:
            prepared.decide(out_of_time)

    def solve(
        self,
        problem: Problem | Prepared,
        *,
        tolerance: float,
        progress: ProgressCallback | None = None,
    ) -> Solution:
        """Solve the problem; only rounding separates the bounds, whatever `tolerance` is."""
        prepared = prepare(problem, progress)
        problem, answer = prepared.problem, prepared.depth_first_solution
        if answer is not None:
            return self._searched(problem, answer, tolerance)
        self.decide(prepared, never)
        require(self, prepared)
        if isinstance(problem.objective, FiniteHorizon):
            return self._finite_horizon(problem, problem.objective, tolerance, progress)
        if problem.model.is_general_sum:
            return self._max_n(problem, tolerance, progress)
        reduction = prepared.proper if isinstance(prepared.proper, Reduction) else None
        run = Run(problem if reduction is None else reduction.problem, tolerance, progress)
        solve_by_components(run, _refuse, noun="states")
        return solution_of(run, self, reduction=reduction)

    def _searched(self, problem: Problem, answer: DepthFirstResult, tolerance: float) -> Solution:
        """Return the solution if a search has found all of it."""
        low, high = problem.range_of_values()
        numbers, policy, width = finished(
            problem.model, None, answer.values, answer.errors, answer.policy, low, high
        )
        return make_solution(
            problem,
            self,
            numbers,
            policy,
            status=Status.SOLVED if width <= tolerance else Status.ROUNDING,
            tolerance=tolerance if any(problem.model.rounding) else None,
            seconds=answer.seconds,
        )

    def _finite_horizon(
        self,
        problem: Problem,
        objective: FiniteHorizon,
        tolerance: float,
        progress: ProgressCallback | None,
    ) -> Solution:
        """Sweep once for each step, and keep the best choices for each number of steps to go."""
        run = Run(problem, tolerance, progress)
        step_policies, following = sweep_horizon(run, objective.horizon)
        return solution_of(run, self, step_policies=step_policies, following=following)

    def _max_n(
        self, problem: Problem, tolerance: float, progress: ProgressCallback | None
    ) -> Solution:
        """Let each player take the action that is best for itself."""
        model = problem.model
        reporter = Reporter(progress, "solve")
        shape = (model.num_states, model.num_players)
        values, errors = np.zeros(shape), np.zeros(shape)
        values[model.terminals] = model.payoffs
        policy = np.full(model.num_states, -1, np.int64)
        sign = 1.0 if problem.objective.optimum == "max" else -1.0
        equation.solve_max_n_jit(
            model.structure.order,
            model.choice_offsets,
            model.transition_offsets,
            model.successors,
            model.probabilities,
            model.rewards,
            model.players,
            sign,
            values,
            errors,
            policy,
        )
        check_range(model, values)
        lower, upper = outward(values, errors)
        return make_solution(
            problem,
            self,
            (values, lower, upper),
            policy,
            guarantee=Guarantee.EQUILIBRIUM,
            tolerance=tolerance,
            seconds=reporter.seconds,
        )
