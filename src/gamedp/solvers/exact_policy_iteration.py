"""Policy iteration in rational numbers: the values themselves, not bounds of them."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.errors import InvalidModelError, UnsupportedProblemError, shown
from gamedp.objectives import AverageReward, FiniteHorizon
from gamedp.progress import Reporter
from gamedp.solution import Guarantee, Status, width_of
from gamedp.solvers.backward_induction import BackwardInduction
from gamedp.solvers.base import Limit, PreparingSolver, Support, require, support_by
from gamedp.solvers.contest import Contest, solved_anyhow
from gamedp.solvers.finishing import make_solution, room_for_policies
from gamedp.solvers.options import positive, whole_and_positive
from gamedp.solvers.prepared import Prepared, prepare
from gamedp.solvers.proper import OpenCases, Refusal
from gamedp.solvers.rational_process import Process, StoppedError, Terms
from gamedp.solvers.rationals import (
    Rational,
    RationalModel,
    Value,
    as_fraction,
    enclosed,
    is_infinite,
    is_less,
    rational,
)
from gamedp.solvers.strategy_iteration import StrategyIteration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from gamedp.model import Model
    from gamedp.problem import Problem
    from gamedp.progress import ProgressCallback
    from gamedp.solution import Solution

    Flags = NDArray[np.bool_]
    Integers = NDArray[np.signedinteger[Any]]

__all__ = ["ExactPolicyIteration", "Work"]


def _whole_or_none(instance: object, attribute: Any, value: Any) -> None:
    if value is not None:
        whole_and_positive(instance, attribute, value)


@attrs.frozen(kw_only=True)
class ExactPolicyIteration(PreparingSolver):
    """Policy iteration in rational numbers [1]_: the value of every state, exactly.

    The policy to start with is found in doubles; it is mostly the best one already. Then the
    linear system of a policy is solved in rational numbers, component by component, and the policy
    replaced where another choice is strictly better, until none is. Against an opponent, each
    policy of one player is held against the other's best answer, also where each of them can keep
    play from ending (as in :class:`StrategyIteration`). Nothing is rounded, so nothing is close:
    ties are ties, and no policy comes again.

    The solution has the rationals, `exact`. Its bounds are the two doubles next to each, equal
    where it is a double. They speak of these very numbers: probabilities, rewards and payoffs are
    those that the rules give, where these are :class:`fractions.Fraction` or int, so that 1/6 is
    1/6; else those that are stored, probabilities scaled to sum to one exactly. Where two
    neighbouring doubles are further apart than the tolerance, the status says `ROUNDING`, and
    nothing is raised.

    With python-flint (``pip install gamedp[exact]``), systems of some thousand states can be
    solved; without it, plain Fractions do for some hundred. Numerators and denominators grow with
    the number of states that depend on each other.

    Parameters
    ----------
    max_policies : int
        Linear systems to solve at most.
    max_seconds : float
        Time at most; looked at between the steps in which a linear system is solved.
    max_states : int, optional
        Refuse models that have more states than this.

    References
    ----------
    .. [1] A. Hartmanns, S. Junges, T. Quatmann, M. Weininger, "A practitioner's guide to MDP model
       checking algorithms", TACAS 2023: policy iteration with exact linear systems.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> model = gamedp.Model.from_arrays(
    ...     [0, 1, 1, 1], [0, 3], [0, 1, 2], [0.25, 0.25, 0.5], terminals=[1, 2], payoffs=[0, 1]
    ... )
    >>> gamedp.solve(model, solver=gamedp.ExactPolicyIteration()).exact_value(0)
    Fraction(2, 3)
    """

    max_policies: int = attrs.field(default=10_000, validator=whole_and_positive)
    max_seconds: float = attrs.field(default=float("inf"), validator=positive)
    max_states: int | None = attrs.field(default=None, validator=_whole_or_none)

    def support_of(self, prepared: Prepared) -> Support:
        """Say whether this solver can do the problem, and why not."""
        problem = prepared.problem
        refusal = self._refusal(problem)
        if refusal is not None:
            return refusal
        if isinstance(problem.objective, FiniteHorizon):
            return Support(problem.model.num_players <= 2, "is for one or two players.")
        return support_by(prepared.contest)

    def _refusal(self, problem: Problem) -> Support | None:
        """Return why not, if that is known at once."""
        states = problem.model.num_states
        if self.max_states is not None and states > self.max_states:
            return Support(
                False, f"has max_states={self.max_states}, and there are {states} states."
            )
        if isinstance(problem.objective, AverageReward):
            reason = "does not support long-run averages; RelativeValueIteration does."
            return Support(False, reason)
        return None

    def settle(self, prepared: Prepared, out_of_time: Callable[[], bool]) -> None:
        """Decide by numbers whether the problem is a contest."""
        if self._refusal(prepared.problem) is None:
            prepared.settle_contest(out_of_time)

    def solve(
        self,
        problem: Problem | Prepared,
        *,
        tolerance: float,
        progress: ProgressCallback | None = None,
    ) -> Solution:
        """Solve the problem; the bounds are apart by rounding to doubles alone."""
        prepared = prepare(problem, progress)
        problem = prepared.problem
        seconds = self.settled(prepared, Limit(self.max_seconds))
        require(self, prepared)
        reporter = Reporter(progress, "solve")
        stored = prepared
        if any(problem.model.rounding):  # here the rules are asked; a start may be rounded
            model = attrs.evolve(problem.model, rounding=(0.0, 0.0, 0.0))
            stored = prepare(attrs.evolve(problem, model=model))
        work = Work(attrs.evolve(self, max_seconds=seconds), stored, tolerance, reporter)
        following = None
        try:
            if isinstance(problem.objective, FiniteHorizon):
                values, policy, step_policies = work.finite_horizon(problem.objective.horizon)
                if work.following is not None:
                    following = _enclosed(problem, tuple(map(as_fraction, work.following)))
            else:
                values, policy = work.best_policies()
                step_policies = None
        except StoppedError as stopped:
            return self._unfinished(problem, work, stopped.status)
        exact = tuple(as_fraction(value) for value in values)
        numbers = _enclosed(problem, exact)
        solution = make_solution(
            problem,
            self,
            numbers,
            policy,
            guarantee=Guarantee.TWO_SIDED,
            status=Status.SOLVED,
            sweeps=work.policies,
            seconds=reporter.seconds,
            exact=True,
        )
        # No finer bounds are possible, and the numbers themselves are there: so this is no error.
        close = width_of(numbers[1], numbers[2]) <= tolerance
        status = Status.SOLVED if close else Status.ROUNDING
        return attrs.evolve(
            solution,
            exact=exact,
            status=status,
            step_policies=step_policies,
            following=following,
            tight=work.tight,
        )

    def _unfinished(self, problem: Problem, work: Work, status: Status) -> Solution:
        """Return what is known in doubles, for the error that says so."""
        rough = work.rough
        return make_solution(
            problem,
            self,
            (np.array(rough.values), np.array(rough.lower), np.array(rough.upper)),
            np.array(rough.policy),
            guarantee=rough.guarantee,
            status=status,
            sweeps=work.policies,
            seconds=work.reporter.seconds,
        )


def _enclosed(problem: Problem, exact: tuple[Fraction | float, ...]) -> Any:
    """Return values, lower and upper bounds as doubles."""
    rows = []
    for state, number in enumerate(exact):
        try:
            rows.append(enclosed(number))
        except OverflowError:
            message = (
                f"the value of {shown(problem.model.state(state))} is beyond the range of 64-bit "
                "floating point."
            )
            raise InvalidModelError(message) from None
    columns = np.array(rows).reshape(-1, 3).T
    return tuple(np.ascontiguousarray(column) for column in columns)


class Work:
    """A problem as it is solved in rational numbers.

    Parameters
    ----------
    guess : (S,), optional
        The policy to start with, if there is one already.

    Attributes
    ----------
    policies : int
        How many linear systems were solved.
    tight : (C,) bool
        When the values are known: whether a choice is worth exactly what its state is.
    following : list or None
        For a finite horizon, then: the values with one step fewer to go.
    """

    def __init__(
        self,
        solver: ExactPolicyIteration,
        prepared: Prepared,
        tolerance: float,
        reporter: Reporter,
        guess: Integers | None = None,
    ) -> None:
        self.solver = solver
        self.prepared = prepared
        self.problem = problem = prepared.problem
        self.tolerance = tolerance
        self.reporter = reporter
        self.numbers = RationalModel.of(problem.model)
        self.policies = 0
        self.tight = np.zeros(problem.model.num_choices, np.bool_)
        self.following: list[Value] | None = None
        self._rough: Solution | None = None
        self._given = guess

    @property
    def rough(self) -> Solution:
        """The solution in doubles, as far as it goes."""
        if self._rough is None:
            finite = isinstance(self.problem.objective, FiniteHorizon)
            seconds = self.seconds_left()
            solver: Any = (
                BackwardInduction()
                if finite
                else StrategyIteration(max_seconds=seconds, rationals=False)
            )
            self._rough = solved_anyhow(solver, self.prepared, self.tolerance)
        return self._rough

    def seconds_left(self) -> float:
        """Return how long a part of the work may take."""
        return max(self.solver.max_seconds - self.reporter.seconds, 1e-3)

    def check_limits(self) -> None:
        """Raise if there is no time left."""
        if self.reporter.seconds > self.solver.max_seconds:
            raise StoppedError(Status.TIME_LIMIT)

    def is_late(self) -> bool:
        """Return False, or raise if there is no time left."""
        self.check_limits()
        return False

    def best_policies(self) -> tuple[list[Value], Integers]:
        """Improve one side's policy, each time against the other's best answer."""
        self.prepared.settle_contest(self.is_late)
        contest = self.prepared.contest
        assert isinstance(contest, Contest)  # noqa: S101 - supported
        game = _Game(self, contest)
        states = self.problem.model.num_states
        policy = np.where(contest.improver, self._guess(contest), contest.start)
        values, answer = game.best_answer(policy)
        if contest.improver.any() and game.is_improper(values):
            policy = contest.start  # rounding has led the guess astray
            values, answer = game.best_answer(policy)
        while True:
            better = game.improved(policy, values)
            if (better == policy).all():
                below = np.array([game.is_below(value, 0) for value in values])
                best = game.best_choices(values, below)
                stuck, via = contest.escapes(below, best)
                better = np.where(stuck & contest.improver, via, policy)
                if (better == policy).all():
                    reply = contest.answer(answer, via)
                    self.tight = game.tight(values)[: self.problem.model.num_choices]
                    return values[:states], np.where(contest.improver, policy, reply)[:states]
            policy = better
            values, answer = game.best_answer(policy)

    def _guess(self, contest: Contest) -> Integers:
        """Return the policy found in doubles; the unfolded model has it twice."""
        if not contest.improver.any():
            return contest.start
        try:
            policy = np.asarray(self.rough.policy if self._given is None else self._given)
        except InvalidModelError:  # beyond the range of doubles
            return contest.start
        if len(policy) < contest.model.num_states:
            policy = np.concatenate([policy, policy + self.problem.model.num_choices])
        return policy

    def finite_horizon(
        self, horizon: int
    ) -> tuple[list[Value], NDArray[np.int64], NDArray[np.unsignedinteger[Any]]]:
        """Go backwards step by step; return values, the first step's policy, and all of them."""
        model = self.problem.model
        wants_most = (model.players == 0) == (self.problem.objective.optimum == "max")
        counts = np.diff(model.choice_offsets)
        policy = np.full(model.num_states, -1, np.int64)
        step_policies = room_for_policies(model, horizon)
        zero = rational(0)
        values = [self.numbers.payoffs.get(state, zero) for state in range(model.num_states)]
        for step in range(horizon):
            self.check_limits()
            self.following, following = values, list(values)
            for state in np.flatnonzero(counts).tolist():
                first = int(model.choice_offsets[state])
                results = [
                    self._worth(choice, values) for choice in range(first, first + counts[state])
                ]
                following[state] = max(results) if wants_most[state] else min(results)
                place = results.index(following[state])
                self.tight[first : first + counts[state]] = [r == following[state] for r in results]
                policy[state] = first + place
                step_policies[step, state] = place
            values = following
            self.policies += 1
            self.reporter.report(step + 1, horizon, f"{step + 1:,} steps to go")
        return values, policy, step_policies

    def _worth(self, choice: int, values: list[Value]) -> Rational:
        """Return what a choice is worth if these are the values one step later."""
        model, numbers = self.problem.model, self.numbers
        row = slice(*model.transition_offsets[choice : choice + 2].tolist())
        total = numbers.reward(choice)
        for successor, sign, chance in zip(
            model.successors[row].tolist(),
            model.probabilities[row].tolist(),
            numbers.chance(choice),
            strict=True,
        ):
            value = values[successor]
            total += chance * (numbers.constant_sum - value if sign < 0 else value)
        return total


class _Game:
    """The unfolded model in rational numbers: best answers, and better choices."""

    def __init__(self, work: Work, contest: Contest) -> None:
        self.work = work
        self.contest = contest
        self.numbers = work.numbers
        self.discount = rational(contest.problem.discount)
        model = contest.model
        self.offsets = model.transition_offsets.tolist()
        self.successors = model.successors.tolist()
        self.choices = model.choice_offsets.tolist()

    def outcomes(self, choice: int) -> Iterator[tuple[int, Rational]]:
        """Yield the successors of a choice with what they count: discounted probabilities."""
        successors = self.successors[self.offsets[choice] : self.offsets[choice + 1]]
        for successor, chance in zip(successors, self.numbers.chance(choice), strict=True):
            yield successor, self.discount * chance

    def reward(self, choice: int) -> Rational:
        """Return what a choice earns, if the objective counts it."""
        return self.numbers.reward(choice) if self.contest.earns else rational(0)

    def result(self, choice: int, values: list[Value]) -> Value:
        """Return what a choice is worth; only one of the two infinities is among the values."""
        total = self.reward(choice)
        for successor, chance in self.outcomes(choice):
            value = values[successor]
            if is_infinite(value):
                return value
            total += chance * value
        return total

    def is_below(self, value: Value, other: Value) -> bool:
        """Say whether a value is worse than another for the improver."""
        return is_less(value, other) if self.contest.sign > 0 else is_less(other, value)

    def is_improper(self, values: list[Value]) -> bool:
        """Say whether a policy leaves the improver worse off than need be, by infinity."""
        return any(
            is_infinite(value) and self.is_below(value, 0) and not lost
            for value, lost in zip(values, self.contest.lost.tolist(), strict=True)
        )

    def improved(self, policy: Integers, values: list[Value]) -> Integers:
        """Return the improver's policy with the best choices where they are strictly better."""
        better = policy.copy()
        owners = self.contest.model.structure.owners.tolist()
        best = list(values)
        for choice in np.flatnonzero(self.contest.improves).tolist():
            state = owners[choice]
            result = self.result(choice, values)
            if self.is_below(best[state], result):
                best[state] = result
                better[state] = choice
        return better

    def best_choices(self, values: list[Value], states: Flags) -> Flags:
        """Say which choices of some states are worth what the state is, if that is finite; (C,)."""
        return self.tight(values, states & np.isfinite(_floats(values)))

    def tight(self, values: list[Value], states: Flags | None = None) -> Flags:
        """Say which choices of some states, or of all, are worth what the state is; (C,)."""
        best = np.zeros(self.contest.model.num_choices, np.bool_)
        some = range(len(self.choices) - 1) if states is None else np.flatnonzero(states).tolist()
        for state in some:
            value = values[state]
            for choice in range(self.choices[state], self.choices[state + 1]):
                result = self.result(choice, values)
                best[choice] = is_infinite(result) == is_infinite(value) and result == value
        return best

    def best_answer(self, policy: Integers) -> tuple[list[Value], Integers]:
        """Return the values if the improver keeps to a policy, and the other's best answer."""
        contest = self.contest
        problem, rows = contest.kept(policy, contest.improver)
        prepared = prepare(problem)
        prepared.settle(self.work.is_late)
        reduction = prepared.proper
        if isinstance(reduction, Refusal):
            raise UnsupportedProblemError(reduction.reason)
        assert not isinstance(reduction, OpenCases)  # noqa: S101 - settled
        if reduction is None:
            small, choice_of = problem, np.arange(problem.model.num_choices)
            given, model = choice_of, problem.model
            class_of = np.arange(problem.model.num_states)
            known = np.full(problem.model.num_states, np.nan)
            class_of[problem.model.terminals] = -1
            known[problem.model.terminals] = problem.model.payoffs
        else:
            small, choice_of = reduction.problem, reduction.quotient.choice_of
            class_of, known = reduction.quotient.class_of, reduction.known
            given, model = reduction.original_choices(), reduction.model
            if reduction.recasts:
                self._require_stored(rows)
        fixed = [self._known(state, known[state]) for state in range(len(known))]
        terms = [
            Terms(rational(0), {})
            if choice < 0
            else self._terms(int(rows[given[choice]]), class_of, fixed)
            if given[choice] >= 0
            else _leg(model, choice, class_of, fixed)
            for choice in choice_of.tolist()
        ]
        solved, chosen = Process(self.work, small, terms).solve()
        values = [
            fixed[state] if number < 0 else solved[number]
            for state, number in enumerate(class_of[: problem.model.num_states].tolist())
        ]
        lifted = chosen if reduction is None else reduction.lift_policy(chosen)
        return values, np.append(rows, -1)[lifted]

    def _require_stored(self, choices: Integers) -> None:
        """Raise if rewards are others than those stored, of which sums were formed."""
        stored = self.contest.model.rewards
        for choice in choices.tolist():
            if self.reward(choice) != rational(float(stored[choice])):
                message = (
                    "ExactPolicyIteration does not do end components that earn and lose in turn, "
                    "where rewards are Fractions that are not 64-bit numbers. Count them in "
                    "smaller units, as whole numbers."
                )
                raise UnsupportedProblemError(message)

    def _known(self, state: int, value: float) -> Value:
        """Return a known value, exactly; 0 where there is none."""
        if np.isinf(value):
            return float(value)
        if np.isnan(value):
            return rational(0)
        is_given = self.contest.earns and state < self.contest.model.num_states
        payoff = self.numbers.payoff(state) if is_given else None
        return rational(float(value)) if payoff is None else payoff

    def _terms(self, choice: int, class_of: Integers, known: list[Value]) -> Terms:
        """Return what a choice earns for certain, known values included, and what is left."""
        constant = self.reward(choice)
        chances: dict[int, Rational] = {}
        for successor, chance in self.outcomes(choice):
            number = int(class_of[successor])
            if number < 0:
                constant += chance * known[successor]
            else:
                chances[number] = chances.get(number, 0) + chance
        return Terms(constant, chances)


def _leg(model: Model, choice: int, class_of: Integers, known: list[Value]) -> Terms:
    """Return what a choice brings that is none of the game's: one sure step."""
    earned = rational(float(model.rewards[choice]))
    state = int(model.successors[model.transition_offsets[choice]])
    if class_of[state] < 0:
        return Terms(earned + known[state], {})
    return Terms(earned, {int(class_of[state]): rational(1)})


def _floats(values: list[Value]) -> NDArray[np.float64]:
    """Return infinite values as they are, and 0 for others."""
    return np.array([value if is_infinite(value) else 0.0 for value in values])
