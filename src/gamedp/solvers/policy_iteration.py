"""Policy iteration: the values of a policy by elimination, then a better policy."""

from __future__ import annotations

import hashlib

import attrs
import numpy as np

from gamedp.kernels import iteration
from gamedp.problem import Problem
from gamedp.reduction.unfolding import rounding_of, unfold
from gamedp.solution import Status
from gamedp.solvers.base import FixedPointSolver, Support, support_of_proper
from gamedp.solvers.components import share_of_tolerance, solve_by_components
from gamedp.solvers.gathered import Component
from gamedp.solvers.linear_systems import leading_out
from gamedp.solvers.options import positive, whole_and_positive
from gamedp.solvers.run import Run

__all__ = ["PolicyIteration"]

MARGIN = 1e-12
"""An action must be better by this, relatively, to replace the policy's: rounding must not."""


@attrs.frozen(kw_only=True)
class PolicyIteration(FixedPointSolver):
    """Evaluate a policy exactly, improve it where another action is better, until none is [1]_.

    Two opponents take turns: for each policy of the maximiser, the minimiser's best answer is
    found first (Hoffman and Karp [2]_). A model in which the players change places is unfolded
    into one state for each side.

    Components are solved one by one. Policies are evaluated by elimination without subtraction [3]_
    along the structure of the component, which loses no digits however long play stays; only where
    that would take too many terms, as many states that lead to random others do, by sweeps over the
    policy's choices. Errors are proven for the values that come out, as by
    :class:`TopologicalValueIteration`.

    Where play may go on for ever, which is worst then, the first policy is one that leads out.

    Parameters
    ----------
    max_policies : int
        Policies to evaluate at most, for one component.
    max_seconds : float
        Time at most.

    References
    ----------
    .. [1] R. Howard, "Dynamic Programming and Markov Processes", MIT Press 1960.
    .. [2] A. Hoffman, R. Karp, "On nonterminating stochastic games", Management Science 12 (1966).
    .. [3] W. Grassmann, M. Taksar, D. Heyman, "Regenerative analysis and steady state distributions
       for Markov chains", Operations Research 33 (1985).

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.wubbel import Wubbel
    >>> solution = gamedp.solve(Wubbel(goal=10), solver="policy-iteration", compile="never")
    >>> round(solution.value(), 6)
    0.67072
    """

    max_policies: int = attrs.field(default=10_000, validator=whole_and_positive)
    max_seconds: float = attrs.field(default=float("inf"), validator=positive)

    def support_of(self, problem: Problem) -> Support:
        """Say whether this solver can do the problem, and why not."""
        return support_of_proper(problem)

    def iterate(self, run: Run) -> None:
        """Improve policies until none is better, and prove what the last one is worth."""
        if run.problem.model.has_swaps:
            self._iterate_unfolded(run)
            return
        run.policy[:] = leading_out(run)
        solved = _Count()
        solve_by_components(run, lambda number: self._solve_one(run, number, solved))

    def _iterate_unfolded(self, run: Run) -> None:
        """Solve the model of both sides of every state, and take over what one side is worth."""
        model = unfold(run.problem.model)
        twice = Run(Problem(model, run.problem.objective), run.tolerance, None)
        twice.reporter, twice.max_seconds, twice.stop = run.reporter, run.max_seconds, run.stop
        self.iterate(twice)
        run.status, run.visits = twice.status, twice.visits
        # In place: all of these are the first half of twice as many.
        run.values[:] = twice.values[: len(run.values)]
        run.errors[:] = twice.errors[: len(run.values)]
        run.policy[:] = twice.policy[: len(run.values)]
        lost = rounding_of(run.problem.model)
        if lost > 0:
            run.errors[:] = np.nextafter(run.errors + lost, np.inf)

    def _solve_one(self, run: Run, number: int, solved: _Count) -> None:
        """Improve the policy of a component, the minimisers' against each of the maximisers'."""
        component = Component(run, number)
        component.take_policy()
        allowed = share_of_tolerance(run)
        enough = 0.01 * allowed
        while True:
            self._improve(run, component, enough, solved)
            width = component.prove(allowed)
            if width <= allowed or not component.is_dear or run.status is not Status.SOLVED:
                return
            if enough <= component.floor:
                return
            enough /= 16

    def _improve(self, run: Run, component: Component, enough: float, solved: _Count) -> None:
        """Evaluate policies and improve them, until there is none or a limit is reached."""
        opponents = component.who == iteration.OPPONENTS
        first = iteration.MINIMISERS if opponents else iteration.BOTH
        # Values improve strictly, so that no policy comes again, save by rounding: then the choices
        # that differ are equally good as far as these numbers can tell.
        seen: set[bytes] = set()
        while True:
            policy = component.block.policy[: component.size]
            digest = hashlib.blake2b(policy.tobytes(), digest_size=16).digest()
            if digest in seen or not component.evaluate(enough):
                return
            seen.add(digest)
            solved.number += 1
            run.visits[0] += component.size
            run.reporter.report(solved.number, None, f"{solved.number:,} policies evaluated")
            if run.out_of_time:
                run.status = Status.TIME_LIMIT
                return
            if len(seen) >= self.max_policies:
                run.status = Status.SWEEP_LIMIT
                return
            if component.improve(first, MARGIN):
                continue
            if not (opponents and component.improve(iteration.MAXIMISERS, MARGIN)):
                return


@attrs.define
class _Count:
    """How many policies have been evaluated."""

    number: int = 0
