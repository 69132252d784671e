"""Policies evaluated by elimination, and improved until none is better: Howard's iteration."""

from __future__ import annotations

import hashlib

import attrs
import numpy as np

from gamedp.bellman import component_sweeps
from gamedp.model.problem import Problem
from gamedp.reduction.unfolding import rounding_of, unfold
from gamedp.results.status import Status
from gamedp.solvers.tools.by_components import share_of_tolerance, solve_by_components
from gamedp.solvers.tools.component import Component
from gamedp.solvers.tools.linear_systems import proper_policy
from gamedp.solvers.tools.run import Run

__all__ = ["MOST_POLICIES", "improve_policies"]

MARGIN = 1e-12
"""Relative margin by which an action must be better to replace the policy's, above rounding."""

MOST_POLICIES = 10_000
"""Default for the largest number of policies to evaluate for one component."""


def improve_policies(run: Run, max_policies: int = MOST_POLICIES) -> None:
    """Improve policies until none is better, and prove the value of the last one.

    Parameters
    ----------
    run : Run
        Its values, errors, policy and status are filled in.
    max_policies : int
        Largest number of policies to evaluate for one component.
    """
    if run.problem.model.has_swaps:
        _improve_unfolded(run, max_policies)
        return
    run.policy[:] = proper_policy(run)
    work = _Work(run, max_policies)
    solve_by_components(run, work.solve_one)


def _improve_unfolded(run: Run, max_policies: int) -> None:
    """Solve the model of both sides of every state, and take over the values of one side."""
    model = unfold(run.problem.model)
    twice = Run(Problem(model, run.problem.objective), run.tolerance, None)
    twice.reporter, twice.max_seconds, twice.stop = run.reporter, run.max_seconds, run.stop
    improve_policies(twice, max_policies)
    run.status, run.visits = twice.status, twice.visits
    # In place: these states are the first half of the unfolded ones.
    run.values[:] = twice.values[: len(run.values)]
    run.errors[:] = twice.errors[: len(run.values)]
    run.policy[:] = twice.policy[: len(run.values)]
    lost = rounding_of(run.problem.model)
    if lost > 0:
        run.errors[:] = np.nextafter(run.errors + lost, np.inf)


@attrs.define(eq=False)
class _Work:
    """A run, its limit, and the number of policies evaluated."""

    run: Run
    max_policies: int
    evaluated: int = 0

    def solve_one(self, number: int) -> None:
        """Improve the policy of a component, the minimisers' against each of the maximisers'."""
        component = Component(self.run, number)
        component.take_policy()
        allowed = share_of_tolerance(self.run)
        enough = 0.01 * allowed
        while True:
            self._improve(component, enough)
            width = component.prove(allowed)
            if (
                width <= allowed
                or not component.is_expensive
                or self.run.status is not Status.SOLVED
            ):
                return
            if enough <= component.floor:
                return
            enough /= 16

    def _improve(self, component: Component, enough: float) -> None:
        """Evaluate and improve policies, until none is better or a limit is reached."""
        run = self.run
        opponents = component.who == component_sweeps.OPPONENTS
        first = component_sweeps.MINIMISERS if opponents else component_sweeps.BOTH
        # Values improve strictly, so that no policy recurs, except by rounding: then the choices
        # that differ are equally good as far as these numbers can tell.
        seen: set[bytes] = set()
        while True:
            policy = component.block.policy[: component.size]
            digest = hashlib.blake2b(policy.tobytes(), digest_size=16).digest()
            if digest in seen or not component.evaluate(enough):
                return
            seen.add(digest)
            self.evaluated += 1
            run.visits[0] += component.size
            run.reporter.report(self.evaluated, None, f"{self.evaluated:,} policies evaluated")
            if run.out_of_time:
                run.status = Status.TIME_LIMIT
                return
            if len(seen) >= self.max_policies:
                run.status = Status.SWEEP_LIMIT
                return
            if component.improve(first, MARGIN):
                continue
            if not (opponents and component.improve(component_sweeps.MAXIMISERS, MARGIN)):
                return
