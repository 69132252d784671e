"""Strategy iteration for two opponents, each of whom can keep play from ending."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from gamedp.model.problem import Problem
from gamedp.results.status import Status
from gamedp.runtime.limit import Limit, Reporter
from gamedp.runtime.options import positive, whole_and_positive
from gamedp.solvers.request import Support
from gamedp.solvers.tools.base import PreparingSolver, require, solution_with
from gamedp.solvers.tools.opponents import Opponents
from gamedp.solvers.tools.policies import MOST_POLICIES
from gamedp.solvers.tools.prepared import Prepared, prepare, support_by
from gamedp.solvers.tools.strategies import improve_strategies

if TYPE_CHECKING:
    from collections.abc import Callable

    from gamedp.results.solution import Solution
    from gamedp.runtime.limit import ProgressCallback


@attrs.frozen(kw_only=True)
class StrategyIteration(PreparingSolver):
    """Improve one player's policy, each time against the other's best answer [1]_, [2]_.

    For two opponents who take turns, even if both can prolong play for ever, as in simple
    stochastic games that do not stop: there Bellman's equation has many solutions, and value
    iteration from above does not converge to the value. For one player it is one step.

    A fixed policy of one player leaves the other a decision process, which is made proper and
    solved as by :class:`PolicyIteration`, with proven bounds. Any policy of the maximiser therefore
    proves a lower bound of every value, and any of the minimiser an upper bound. A policy is
    replaced only where the bounds prove that another choice is better; then every value rises or
    stays, and no policy recurs. If the bounds do not tell which choice is better, they
    are narrowed, until rounding ends that.

    Since each policy has its own best answer, values need not be found in doubles to the last digit
    at any point: the result lies between two proven bounds. If play lasts so long that
    rounding keeps these apart, and rewards have one sign, small models are solved in rational
    numbers, starting from the policies found, and the values widened by as much as probabilities
    that round to the stored ones can move them [3]_. The policy of the solution is
    the maximiser's that proves the lower bound, and the minimiser's that proves the upper one.

    Without a target, and if play may go on for ever, the rewards on the way must have one sign,
    or surely add up to ever more of one, and the payoffs must add up to 0. Until a target, they
    must not be negative, or surely add up to ever more, if play can be kept from it. If some
    end components bring gains and others losses, :class:`IntervalIteration` solves the problem.

    Parameters
    ----------
    max_policies : int
        Largest number of policies to improve.
    max_seconds : float
        Time limit.
    rationals : bool
        Whether to go on in rational numbers if rounding ends what doubles can prove.

    References
    ----------
    .. [1] A. Hoffman, R. Karp, "On nonterminating stochastic games", Management Science 12 (1966).
    .. [2] A. Condon, "On algorithms for simple stochastic games", DIMACS Series in Discrete
       Mathematics 13 (1993).
    .. [3] E. Solan, "Continuity of the value of competitive Markov decision processes", Journal of
       Theoretical Probability 16 (2003).

    Examples
    --------
    The maximiser in 0 and the minimiser in 1 can send each other back and forth. Leaving leads to
    3, which wins, with probability 1/4 from 0 and 3/4 from 1.

    >>> import gamedp
    >>> model = gamedp.Model.from_arrays(
    ...     [0, 2, 4, 4, 4], [0, 1, 3, 4, 6], [1, 2, 3, 0, 2, 3], [1, 0.75, 0.25, 1, 0.25, 0.75],
    ...     players=[0, 1, 0, 0], terminals=[2, 3],
    ... )
    >>> solver = gamedp.solvers.StrategyIteration()
    >>> gamedp.solve(model, gamedp.Reachability([3]), solver).values.tolist()
    [0.25, 0.25, 0.0, 1.0]
    """

    max_policies: int = attrs.field(default=MOST_POLICIES, validator=whole_and_positive)
    max_seconds: float = attrs.field(default=float("inf"), validator=positive)
    rationals: bool = attrs.field(default=True, validator=attrs.validators.instance_of(bool))

    def support_of(self, prepared: Prepared) -> Support:
        """Return whether this solver supports the problem, and why not."""
        return support_by(prepared.opponents)

    def decide(self, prepared: Prepared, out_of_time: Callable[[], bool]) -> None:
        """Decide numerically who the opponents are, or that there are none."""
        prepared.decide_opponents(out_of_time)

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
        seconds = self.decide_in_time(prepared, Limit(self.max_seconds))
        require(self, prepared)
        opponents = prepared.opponents
        assert isinstance(opponents, Opponents)  # noqa: S101 - supported
        reporter = Reporter(progress, "solve")
        answer = improve_strategies(
            problem,
            opponents,
            tolerance,
            reporter,
            max_policies=self.max_policies,
            max_seconds=seconds,
        )
        if answer.status is Status.ROUNDING and self.rationals:
            from gamedp.solvers.tools.exact.work import narrowed  # noqa: PLC0415 - rare

            answer = narrowed(prepared, answer, tolerance, seconds, reporter)
        return solution_with(answer, problem, self, tolerance=tolerance, seconds=reporter.seconds)
