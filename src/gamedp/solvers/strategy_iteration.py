"""Strategy iteration: two opponents, of whom each can keep play from ending."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.kernels.rounding import TINY, UNIT
from gamedp.progress import Reporter
from gamedp.reduction.unfolding import rounding_of, widened
from gamedp.solution import Guarantee, Status, width_of
from gamedp.solvers.base import Limit, PreparingSolver, Support, require, support_by
from gamedp.solvers.contest import Contest, solved_anyhow
from gamedp.solvers.finishing import make_solution
from gamedp.solvers.options import positive, whole_and_positive
from gamedp.solvers.policy_iteration import PolicyIteration
from gamedp.solvers.prepared import Prepared, prepare

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from gamedp.problem import Problem
    from gamedp.progress import ProgressCallback
    from gamedp.solution import Solution

    Flags = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    Integers = NDArray[np.signedinteger[Any]]

__all__ = ["StrategyIteration"]

REFINEMENT = 16.0
"""How many times closer values are looked at when they do not tell which choice is better."""


@attrs.frozen(kw_only=True)
class StrategyIteration(PreparingSolver):
    """Improve one player's policy, each time against the other one's best answer [1]_, [2]_.

    For two opponents who take turns, also where each of them can keep the other from an end, as in
    simple stochastic games that do not stop: there Bellman's equation has many solutions, and
    value iteration from above stays above. For one player it is one step.

    Whoever keeps to a policy leaves the other a decision process, which is made proper and solved
    by :class:`PolicyIteration` with proven bounds. So a policy of the maximiser proves a lower
    bound of every value, and one of the minimiser an upper bound, whatever policies they are. A
    policy is replaced only where another choice is better for certain, by the bounds; then every
    value rises or stays, and no policy comes again. If bounds that are apart do not tell which
    choice is better, they are made narrower, until rounding ends that.

    Where each policy has its own best answer, values need not be found in doubles to the last digit
    at any point: what is returned lies between two proven bounds. Where play lasts so long that
    rounding keeps these apart, and rewards have one sign, small models are solved in rational
    numbers, from the policies that were found, and the values widened by as much as probabilities
    that round to the stored ones can move them [3]_. The policy of the solution is
    the maximiser's that proves the lower bound, and the minimiser's that proves the upper one.

    Without a target, and where play may go on for ever, the rewards on the way must have one sign,
    or surely add up to ever more of one, and the payoffs must add up to 0. Until a target, they
    must not be negative, or surely add up to ever more, where play can be kept from it. Where some
    end components bring gains and others losses, :class:`IntervalIteration` does it.

    Parameters
    ----------
    max_policies : int
        Policies to improve at most.
    max_seconds : float
        Time at most.
    rationals : bool
        Whether to go on in rational numbers where rounding ends what doubles can prove.

    References
    ----------
    .. [1] A. Hoffman, R. Karp, "On nonterminating stochastic games", Management Science 12 (1966).
    .. [2] A. Condon, "On algorithms for simple stochastic games", DIMACS Series in Discrete
       Mathematics 13 (1993).
    .. [3] E. Solan, "Continuity of the value of competitive Markov decision processes", Journal of
       Theoretical Probability 16 (2003).

    Examples
    --------
    The maximiser in 0 and the minimiser in 1 can send each other back and forth. Who leaves is sent
    to 3, which wins, with probability 1/4 from 0 and 3/4 from 1.

    >>> import gamedp
    >>> model = gamedp.Model.from_arrays(
    ...     [0, 2, 4, 4, 4], [0, 1, 3, 4, 6], [1, 2, 3, 0, 2, 3], [1, 0.75, 0.25, 1, 0.25, 0.75],
    ...     players=[0, 1, 0, 0], terminals=[2, 3],
    ... )
    >>> gamedp.solve(model, gamedp.Reachability([3]), gamedp.StrategyIteration()).values.tolist()
    [0.25, 0.25, 0.0, 1.0]
    """

    max_policies: int = attrs.field(default=10_000, validator=whole_and_positive)
    max_seconds: float = attrs.field(default=float("inf"), validator=positive)
    rationals: bool = attrs.field(default=True, validator=attrs.validators.instance_of(bool))

    def support_of(self, prepared: Prepared) -> Support:
        """Say whether this solver can do the problem, and why not."""
        return support_by(prepared.contest)

    def settle(self, prepared: Prepared, out_of_time: Callable[[], bool]) -> None:
        """Decide by numbers whether the problem is a contest."""
        prepared.settle_contest(out_of_time)

    @np.errstate(over="ignore", invalid="ignore")  # what overflows is refused in the end
    def solve(
        self,
        problem: Problem | Prepared,
        *,
        tolerance: float,
        progress: ProgressCallback | None = None,
    ) -> Solution:
        """Solve the problem so that every value is known within `tolerance`."""
        prepared = prepare(problem, progress)
        problem = prepared.problem
        seconds = self.settled(prepared, Limit(self.max_seconds))
        require(self, prepared)
        contest = prepared.contest
        assert isinstance(contest, Contest)  # noqa: S101 - supported
        within = attrs.evolve(self, max_seconds=seconds)
        search = _Search(within, contest, tolerance, Reporter(progress, "solve"))
        search.improve_policies()
        states = slice(problem.model.num_states)
        lower, upper, policy = search.lower[states], search.upper[states], search.policy[states]
        if problem.model.has_swaps:
            lower, upper = widened(lower, upper, rounding_of(problem.model))
        if search.status is Status.SOLVED and not width_of(lower, upper) <= tolerance:
            search.status = Status.ROUNDING
        if search.status is Status.ROUNDING and self.rationals:
            from gamedp.solvers.rational_bounds import bounds_by_rationals  # noqa: PLC0415 - rare

            found = bounds_by_rationals(prepared, policy, seconds, search.reporter)
            if found is not None and not width_of(lower, upper) <= width_of(found[0], found[1]):
                lower, upper, policy = found[0][states], found[1][states], found[2][states]
                if width_of(lower, upper) <= tolerance:
                    search.status = Status.SOLVED
        return make_solution(
            problem,
            self,
            (_between(lower, upper), lower, upper),
            policy,
            guarantee=Guarantee.TWO_SIDED,
            status=search.status,
            sweeps=search.sweeps,
            seconds=search.reporter.seconds,
        )


def _between(lower: Floats, upper: Floats) -> Floats:
    """Return numbers between bounds: the middle, or the finite one."""
    with np.errstate(invalid="ignore", over="ignore"):
        middle = np.clip(lower + (upper - lower) / 2, lower, upper)
    apart = lower != upper
    middle = np.where(apart & np.isfinite(middle), middle, np.where(apart, lower, upper))
    middle = np.where(np.isfinite(middle) | ~apart, middle, upper)
    return np.where(np.isfinite(middle) | ~apart, middle, 0.0)


@attrs.frozen(eq=False)
class _Answer:
    """What a policy of one side is worth, for certain, with the other's best answer to it.

    `least` and `most` bound it as the improver sees it.
    """

    least: Floats
    most: Floats
    policy: Integers
    is_precise: bool


class _Search:
    """The policies as they are improved, and the bounds that they prove."""

    def __init__(
        self, solver: StrategyIteration, contest: Contest, tolerance: float, reporter: Reporter
    ) -> None:
        model = contest.model
        self.solver = solver
        self.contest = contest
        self.tolerance = tolerance
        self.reporter = reporter
        self.lower = np.full(model.num_states, -np.inf)
        self.upper = np.full(model.num_states, np.inf)
        self.policy = contest.start.astype(np.int64)
        self.status = Status.SOLVED
        self.sweeps = 0
        self.owners = model.structure.owners
        self.improves = contest.improves

    def improve_policies(self) -> None:
        """Improve until the bounds meet, or a limit is reached."""
        contest = self.contest
        precision = self.tolerance / 2 if contest.improver.any() else self.tolerance
        policy = contest.start
        before: tuple[Integers, _Answer] | None = None
        for number in range(1, self.solver.max_policies + 1):
            own = self._answer(policy, contest.improver, precision)
            self._learn(own, bounds_below=True)
            if before is not None and not _is_better(own, before[1]):
                # To wait for ever was worth a trial: values were too close to tell.
                if not own.is_precise:
                    return self._stop(Status.ROUNDING)
                policy, precision = before[0], precision / REFINEMENT
                before = None
                continue
            before = None
            stuck, via = contest.escapes(own.most < 0, self._may_be_best(own))
            reply = contest.answer(np.where(contest.improver, policy, own.policy), via)
            theirs = own
            if contest.improver.any():
                theirs = self._answer(reply, ~contest.improver, precision)
            self._learn(theirs, bounds_below=False)
            self.policy = np.where(contest.improver, policy, reply)
            self.reporter.report(number, None, f"{number:,} policies evaluated")
            if self._bounds_meet():
                return None
            if self.reporter.seconds > self.solver.max_seconds:
                return self._stop(Status.TIME_LIMIT)
            better = self._better(policy, own)
            if (better == policy).all() and stuck.any():
                better = np.where(stuck & contest.improver, via, policy)
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

    def _answer(self, policy: Integers, who: Flags, precision: float) -> _Answer:
        """Solve what is left if some keep to a policy."""
        problem, rows = self.contest.kept(policy, who)
        left = max(self.solver.max_seconds - self.reporter.seconds, 1e-3)
        solution = solved_anyhow(PolicyIteration(max_seconds=left), problem, precision)
        self.sweeps += solution.statistics.sweeps
        least, most = np.asarray(solution.lower), np.asarray(solution.upper)
        if self.contest.sign < 0:
            least, most = -most, -least
        choices = np.append(rows, -1)[solution.policy]
        return _Answer(least, most, choices, solution.status is Status.SOLVED)

    def _learn(self, answer: _Answer, *, bounds_below: bool) -> None:
        """Keep what an answer proves: of the improver's policy from below, of the other's above."""
        one_sided = not self.contest.improver.any()
        below = answer.least if bounds_below or one_sided else np.full_like(answer.least, -np.inf)
        above = answer.most if not bounds_below or one_sided else np.full_like(answer.most, np.inf)
        if self.contest.sign < 0:
            below, above = -above, -below
        np.maximum(self.lower, below, out=self.lower)
        np.minimum(self.upper, above, out=self.upper)

    def _bounds_meet(self) -> bool:
        return width_of(self.lower, self.upper) <= self.tolerance

    def _results(self, values: Floats) -> tuple[Floats, Floats]:
        """Return what choices are worth to the improver, and how far rounding may be off."""
        contest, model = self.contest, self.contest.model
        chances = contest.problem.discount * model.probabilities
        starts = model.transition_offsets[:-1]
        rewards = contest.sign * contest.earns * np.asarray(model.rewards)
        if not len(starts):
            return rewards, rewards
        terms = chances * values[model.successors]
        with np.errstate(invalid="ignore"):  # what is infinite both ways is not better for certain
            results = rewards + np.add.reduceat(terms, starts)
        sizes = np.abs(rewards) + np.add.reduceat(np.abs(terms), starts)
        slack = (np.diff(model.transition_offsets) + 8) * (UNIT * sizes + TINY)
        return results, np.where(np.isfinite(slack), slack, 0.0)

    def _better(self, policy: Integers, answer: _Answer) -> Integers:
        """Return the policy with choices instead that are better for certain."""
        results, slack = self._results(answer.least)
        with np.errstate(invalid="ignore"):  # an infinite value that stays so is no gain
            gains = results - slack - answer.most[self.owners]
        gains[~(self.improves & (gains > 0))] = 0.0
        best = np.zeros(len(policy))
        np.maximum.at(best, self.owners, gains)
        choices = np.flatnonzero((gains > 0) & (gains == best[self.owners]))[::-1]
        better = policy.copy()
        better[self.owners[choices]] = choices
        return better

    def _may_be_best(self, answer: _Answer) -> Flags:
        """Say which choices are as good to their mover as the values, as far as is known."""
        least, slack = self._results(answer.least)
        most, _ = self._results(answer.most)
        return np.where(
            self.contest.improver[self.owners],
            most + slack >= answer.least[self.owners],
            least - slack <= answer.most[self.owners],
        )


def _is_better(answer: _Answer, before: _Answer) -> bool:
    """Say whether an answer is worth more somewhere for certain, and nowhere less for certain."""
    return bool((answer.least > before.most).any() and (answer.most >= before.least).all())
