"""Strategies of two opponents: one is improved, each time against the other's best answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

from gamedp.reduction.unfolding import rounding_of, with_error
from gamedp.results.status import Status, width_of
from gamedp.runtime.floats import TINY, UNIT
from gamedp.solvers.tools.policies import MOST_POLICIES
from gamedp.solvers.tools.prepared import solve_process
from gamedp.solvers.tools.run import RunResult

if TYPE_CHECKING:
    from gamedp.model.problem import Problem
    from gamedp.runtime.arrays import Flags, Floats, Integers
    from gamedp.runtime.limit import Reporter
    from gamedp.solvers.tools.opponents import Opponents


REFINEMENT = 16.0
"""Factor by which values are refined if they do not tell which choice is better."""


@np.errstate(over="ignore", invalid="ignore")  # an overflow is refused at the end
def improve_strategies(
    problem: Problem,
    opponents: Opponents,
    tolerance: float,
    reporter: Reporter,
    *,
    max_policies: int = MOST_POLICIES,
    max_seconds: float = float("inf"),
) -> RunResult:
    """Improve policies of one side until the bounds are close, or a limit is reached.

    Parameters
    ----------
    problem : Problem
        A problem with S states.
    opponents : Opponents
        Opponents of the problem: the first S states of their model are those of the problem.
    tolerance : float
    reporter : Reporter
        Its clock has begun.
    max_policies : int
        Largest number of policies to improve.
    max_seconds : float
        Time limit, by that clock.
    """
    search = _StrategySearch(opponents, tolerance, reporter, max_policies, max_seconds)
    search.improve_policies()
    states = slice(problem.model.num_states)
    lower, upper, policy = search.lower[states], search.upper[states], search.policy[states]
    if problem.model.has_swaps:
        lower, upper = with_error(lower, upper, rounding_of(problem.model))
    status = search.status
    if status is Status.SOLVED and not width_of(lower, upper) <= tolerance:
        status = Status.ROUNDING
    return RunResult(middle_of(lower, upper), lower, upper, policy, status, search.sweeps)


def middle_of(lower: Floats, upper: Floats) -> Floats:
    """Return numbers between bounds: the middle, or the finite one."""
    with np.errstate(invalid="ignore", over="ignore"):
        middle = np.clip(lower + (upper - lower) / 2, lower, upper)
    apart = lower != upper
    middle = np.where(apart & np.isfinite(middle), middle, np.where(apart, lower, upper))
    middle = np.where(np.isfinite(middle) | ~apart, middle, upper)
    return np.where(np.isfinite(middle) | ~apart, middle, 0.0)


@attrs.frozen(eq=False)
class _PolicyBounds:
    """Proven bounds of a policy of one side, with the other's best answer to it.

    `least` and `most` bound it as the improver sees it.
    """

    least: Floats
    most: Floats
    policy: Integers
    is_precise: bool


@attrs.define(eq=False, slots=False)
class _StrategySearch:
    """The policies during improvement, and the bounds that they prove."""

    opponents: Opponents
    tolerance: float
    reporter: Reporter
    max_policies: int
    max_seconds: float

    def __attrs_post_init__(self) -> None:
        opponents, model = self.opponents, self.opponents.model
        self.lower = np.full(model.num_states, -np.inf)
        self.upper = np.full(model.num_states, np.inf)
        self.policy = opponents.start.astype(np.int64)
        self.status = Status.SOLVED
        self.sweeps = 0
        self.owners = model.structure.owners
        self.improves = opponents.improves

    def improve_policies(self) -> None:
        """Improve until the bounds are close, or a limit is reached."""
        opponents = self.opponents
        precision = self.tolerance / 2 if opponents.improver.any() else self.tolerance
        policy = opponents.start
        before: tuple[Integers, _PolicyBounds] | None = None
        for number in range(1, self.max_policies + 1):
            own = self._answer(policy, opponents.improver, precision)
            self._learn(own, bounds_below=True)
            if before is not None and not _is_better(own, before[1]):
                # Waiting for ever was only tried: values were too close to tell.
                if not own.is_precise:
                    return self._stop(Status.ROUNDING)
                policy, precision = before[0], precision / REFINEMENT
                before = None
                continue
            before = None
            stuck, via = opponents.escapes(own.most < 0, self._may_be_best(own))
            reply = opponents.answer(np.where(opponents.improver, policy, own.policy), via)
            theirs = own
            if opponents.improver.any():
                theirs = self._answer(reply, ~opponents.improver, precision)
            self._learn(theirs, bounds_below=False)
            self.policy = np.where(opponents.improver, policy, reply)
            self.reporter.report(number, None, f"{number:,} policies evaluated")
            if width_of(self.lower, self.upper) <= self.tolerance:
                return None
            if self.reporter.spent > self.max_seconds:
                return self._stop(Status.TIME_LIMIT)
            better = self._better(policy, own)
            if (better == policy).all() and stuck.any():
                better = np.where(stuck & opponents.improver, via, policy)
                before = policy, own
            if (better == policy).all():
                if not (own.is_precise and theirs.is_precise):
                    return self._stop(Status.ROUNDING)
                precision /= REFINEMENT
                before = None
            policy = better
        return self._stop(Status.SWEEP_LIMIT)

    def _stop(self, status: Status) -> None:
        self.status = status

    def _answer(self, policy: Integers, who: Flags, precision: float) -> _PolicyBounds:
        """Solve the problem that is left if some players keep to a policy."""
        problem, rows = self.opponents.kept(policy, who)
        left = max(self.max_seconds - self.reporter.spent, 1e-3)
        found = solve_process(problem, precision, left)
        self.sweeps += found.sweeps
        least, most = found.lower, found.upper
        if self.opponents.sign < 0:
            least, most = -most, -least
        choices = np.append(rows, -1)[found.policy]
        return _PolicyBounds(least, most, choices, found.status is Status.SOLVED)

    def _learn(self, answer: _PolicyBounds, *, bounds_below: bool) -> None:
        """Keep what an answer proves: of the improver's policy from below, of the other's above."""
        one_sided = not self.opponents.improver.any()
        below = answer.least if bounds_below or one_sided else np.full_like(answer.least, -np.inf)
        above = answer.most if not bounds_below or one_sided else np.full_like(answer.most, np.inf)
        if self.opponents.sign < 0:
            below, above = -above, -below
        np.maximum(self.lower, below, out=self.lower)
        np.minimum(self.upper, above, out=self.upper)

    def _results(self, values: Floats) -> tuple[Floats, Floats]:
        """Return the values of choices to the improver, and the largest error by rounding."""
        opponents, model = self.opponents, self.opponents.model
        probabilities = opponents.problem.discount * model.probabilities
        starts = model.transition_offsets[:-1]
        rewards = opponents.sign * opponents.earns * np.asarray(model.rewards)
        if not len(starts):
            return rewards, rewards
        terms = probabilities * values[model.successors]
        with np.errstate(invalid="ignore"):  # infinite both ways is not certainly better
            results = rewards + np.add.reduceat(terms, starts)
        sizes = np.abs(rewards) + np.add.reduceat(np.abs(terms), starts)
        slack = (np.diff(model.transition_offsets) + 8) * (UNIT * sizes + TINY)
        return results, np.where(np.isfinite(slack), slack, 0.0)

    def _better(self, policy: Integers, answer: _PolicyBounds) -> Integers:
        """Return the policy with choices that are certainly better in place of its own."""
        results, slack = self._results(answer.least)
        with np.errstate(invalid="ignore"):  # an infinite value that stays infinite is not a gain
            gains = results - slack - answer.most[self.owners]
        gains[~(self.improves & (gains > 0))] = 0.0
        best = np.zeros(len(policy))
        np.maximum.at(best, self.owners, gains)
        choices = np.flatnonzero((gains > 0) & (gains == best[self.owners]))[::-1]
        better = policy.copy()
        better[self.owners[choices]] = choices
        return better

    def _may_be_best(self, answer: _PolicyBounds) -> Flags:
        """Return which choices are as good to their player as the values, as far as is known."""
        least, slack = self._results(answer.least)
        most, _ = self._results(answer.most)
        return np.where(
            self.opponents.improver[self.owners],
            most + slack >= answer.least[self.owners],
            least - slack <= answer.most[self.owners],
        )


def _is_better(answer: _PolicyBounds, before: _PolicyBounds) -> bool:
    """Return whether an answer certainly has a higher value somewhere, and nowhere a lower one."""
    return bool((answer.least > before.most).any() and (answer.most >= before.least).all())
