"""Policy iteration in rational numbers: the values themselves, not bounds of them."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import attrs
import numpy as np

from gamedp.model.objectives import AverageReward, FiniteHorizon
from gamedp.model.problem import Problem
from gamedp.results.status import Status, width_of
from gamedp.runtime.limit import Limit, Reporter
from gamedp.runtime.options import positive, whole_and_positive
from gamedp.solvers.request import Support
from gamedp.solvers.tools.base import PreparingSolver, make_solution, require
from gamedp.solvers.tools.exact.process import StoppedError
from gamedp.solvers.tools.exact.systems import as_fraction, enclosed_values
from gamedp.solvers.tools.exact.work import Work
from gamedp.solvers.tools.opponents import Opponents
from gamedp.solvers.tools.policies import MOST_POLICIES
from gamedp.solvers.tools.prepared import Prepared, prepare
from gamedp.solvers.tools.run import Run, RunResult, sweep_horizon
from gamedp.solvers.tools.strategies import improve_strategies

if TYPE_CHECKING:
    from collections.abc import Callable

    from gamedp.results.solution import Solution
    from gamedp.runtime.limit import ProgressCallback


@attrs.frozen(kw_only=True)
class ExactPolicyIteration(PreparingSolver):
    """Policy iteration in rational numbers [1]_: the value of every state, exactly.

    The initial policy is found in doubles; it usually is the best one already. Then the linear
    system of a policy is solved in rational numbers, component by component, and the policy is
    replaced where another choice is strictly better, until none is. With two opponents, each policy
    of one player is evaluated against the other's best answer, even if each of them can keep play
    from ending (as in :class:`StrategyIteration`). Nothing is rounded, so ties are exact, and no
    policy recurs. Long-run averages are supported for one player: a policy is improved by its
    gains, and where none rises by its biases [2]_.

    The solution has the rationals, `exact`. Its bounds are the two doubles next to each, equal
    if it is a double. They hold for exactly these numbers: probabilities, rewards and payoffs are
    those that rules, arrays or a file give, if these are :class:`fractions.Fraction`,
    :class:`decimal.Decimal` or int, so that 1/6 is 1/6; otherwise the stored ones, with
    probabilities scaled to sum to one exactly. The same holds for the probabilities of several
    initial states. If two neighbouring doubles are further apart than the tolerance, the status is
    `ROUNDING`, and nothing is raised.

    With python-flint (``pip install gamedp[exact]``), systems of some thousand states can be
    solved; without it, plain Fractions suffice for a few hundred. Numerators and denominators grow
    with the number of states that depend on each other.

    Parameters
    ----------
    max_policies : int
        Largest number of linear systems to solve.
    max_seconds : float
        Time limit; checked between the steps in which a linear system is solved.
    max_states : int, optional
        Refuse models that have more states than this.

    References
    ----------
    .. [1] A. Hartmanns, S. Junges, T. Quatmann, M. Weininger, "A practitioner's guide to MDP model
       checking algorithms", TACAS 2023: policy iteration with exact linear systems.
    .. [2] M. Puterman, "Markov Decision Processes", Wiley 1994, theorems 9.1.2 and 9.2.3.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> model = gamedp.Model.from_arrays(
    ...     [0, 1, 1, 1], [0, 3], [0, 1, 2], [0.25, 0.25, 0.5], terminals=[1, 2], payoffs=[0, 1]
    ... )
    >>> gamedp.solve(model, solver=gamedp.solvers.ExactPolicyIteration()).exact_value(0)
    Fraction(2, 3)
    """

    max_policies: int = attrs.field(default=MOST_POLICIES, validator=whole_and_positive)
    max_seconds: float = attrs.field(default=float("inf"), validator=positive)
    max_states: int | None = attrs.field(
        default=None, validator=attrs.validators.optional(whole_and_positive)
    )

    def support_of(self, prepared: Prepared) -> Support:
        """Return whether this solver supports the problem, and why not."""
        refusal = self._refusal(prepared.problem)
        return prepared.support_of_rationals() if refusal is None else refusal

    def _refusal(self, problem: Problem) -> Support | None:
        """Return the reason to refuse a model that is larger than allowed."""
        states = problem.model.num_states
        if self.max_states is None or states <= self.max_states:
            return None
        return Support(False, f"has max_states={self.max_states}, and there are {states} states.")

    def decide(self, prepared: Prepared, out_of_time: Callable[[], bool]) -> None:
        """Decide numerically who the opponents are, or that there are none."""
        is_average = isinstance(prepared.problem.objective, AverageReward)
        if self._refusal(prepared.problem) is None and not is_average:
            prepared.decide_opponents(out_of_time)

    def solve(
        self,
        problem: Problem | Prepared,
        *,
        tolerance: float,
        progress: ProgressCallback | None = None,
    ) -> Solution:
        """Solve the problem; only rounding to doubles separates the bounds."""
        prepared = prepare(problem, progress)
        problem = prepared.problem
        seconds = self.decide_in_time(prepared, Limit(self.max_seconds))
        require(self, prepared)
        reporter = Reporter(progress, "solve")
        stored = prepared
        if any(problem.model.rounding):  # here Fractions count; the initial policy may be rounded
            model = attrs.evolve(problem.model, rounding=(0.0, 0.0, 0.0))
            stored = prepare(attrs.evolve(problem, model=model))

        @functools.cache
        def rough() -> RunResult:
            return _solved_in_doubles(stored, tolerance, work.seconds_left())

        work = Work(
            stored,
            tolerance,
            reporter,
            lambda: rough().policy,
            max_policies=self.max_policies,
            max_seconds=seconds,
        )
        following = biases = None
        try:
            if isinstance(problem.objective, AverageReward):
                values, known, policy = work.average()
                step_policies = None
                bias = enclosed_values(problem.model, tuple(map(as_fraction, known)))[0]
                biases = bias, bias.copy()
            elif isinstance(problem.objective, FiniteHorizon):
                values, policy, step_policies = work.finite_horizon(problem.objective.horizon)
                if work.following is not None:
                    following = enclosed_values(
                        problem.model, tuple(map(as_fraction, work.following))
                    )
            else:
                values, policy = work.best_policies()
                step_policies = None
        except StoppedError as stopped:
            return make_solution(  # raises: this is an error, which reports what doubles tell
                problem,
                self,
                rough().numbers,
                rough().policy,
                status=stopped.status,
                sweeps=work.policies,
                seconds=reporter.seconds,
            )
        exact = tuple(as_fraction(value) for value in values)
        numbers = enclosed_values(problem.model, exact)
        solution = make_solution(
            problem,
            self,
            numbers,
            policy,
            status=Status.SOLVED,
            sweeps=work.policies,
            seconds=reporter.seconds,
            exact=True,
        )
        # No finer bounds are possible, and the exact values are known: this is not an error.
        close = width_of(numbers[1], numbers[2]) <= tolerance
        status = Status.SOLVED if close else Status.ROUNDING
        return attrs.evolve(
            solution,
            exact=exact,
            status=status,
            step_policies=step_policies,
            following=following,
            tight=None if biases else work.tight,
            biases=biases,
        )


def _solved_in_doubles(prepared: Prepared, tolerance: float, max_seconds: float) -> RunResult:
    """Return the answer in doubles, as far as it goes; of averages, the range of the rewards."""
    problem = prepared.problem
    model, objective = problem.model, problem.objective
    if isinstance(objective, FiniteHorizon):
        run = Run(problem, tolerance, None)
        sweep_horizon(run, objective.horizon)
        return run.answer()
    if isinstance(objective, AverageReward):
        rewards = np.append(np.asarray(model.rewards, np.float64), 0.0)
        lower = np.full(model.num_states, rewards.min())
        upper = np.full(model.num_states, rewards.max())
        policy = np.where(np.diff(model.choice_offsets) > 0, model.choice_offsets[:-1], -1)
        middle = lower + 0.5 * (upper - lower)
        return RunResult(middle, lower, upper, policy, Status.SWEEP_LIMIT, 0)
    opponents = prepared.opponents
    assert isinstance(opponents, Opponents)  # noqa: S101 - settled
    reporter = Reporter(None, "solve")
    return improve_strategies(problem, opponents, tolerance, reporter, max_seconds=max_seconds)
