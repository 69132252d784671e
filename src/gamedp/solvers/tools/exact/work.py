"""A problem in rational numbers: policies of one side, each against the other's best answer.

Bounds come from rational values where sums in 64-bit numbers prove too little: a proof by residuals
loses a rounding error with each step of play, which is too much if play takes millions of steps.
The values of the stored probabilities, scaled to sum to one, are rational, and can be computed
exactly. It remains to bound how far they move for other probabilities that round to the stored
ones.

Let n states have choices with chance, and consider memoryless policies of both players. The
expected number of visits to a state, and the probability of ending in some place, are quotients of
two sums over forests in the graph: of products of n - 1 or n probabilities, none of which leads
from a state to itself, and with no minus sign [1]_. So if each state's probabilities are off by a
factor between 1 - e and 1 + e, these are off by a factor of at most the product of all ``(1 + e) /
(1 - e)``. Where no reward is negative, and no payoff less than -c, the same is true of a total plus
c, for any two policies, and so of the value plus c. Elimination without subtraction rests on the
same fact.

References
----------
.. [1] M. Freidlin, A. Wentzell, "Random Perturbations of Dynamical Systems", Springer 1984,
   chapter 6.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.errors import InvalidModelError, UnsupportedProblemError
from gamedp.model.objectives import Discounted, is_probability, known_at_the_end, over_in
from gamedp.results.status import Status, width_of
from gamedp.runtime.floats import UNIT
from gamedp.runtime.limit import Reporter
from gamedp.solvers.request import Refusal, Undecided
from gamedp.solvers.tools.exact.process import Averages, RationalProcess, StoppedError, Terms
from gamedp.solvers.tools.exact.systems import (
    Rational,
    RationalModel,
    Value,
    as_fraction,
    enclosed,
    flint,
    is_infinite,
    is_less,
    rational,
)
from gamedp.solvers.tools.opponents import Opponents
from gamedp.solvers.tools.policies import MOST_POLICIES
from gamedp.solvers.tools.prepared import Prepared, prepare, solve_process
from gamedp.solvers.tools.run import RunResult, room_for_policies
from gamedp.solvers.tools.strategies import middle_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from gamedp.model.model import Model
    from gamedp.model.problem import Problem
    from gamedp.runtime.arrays import Flags, Floats, Integers
    from gamedp.solvers.tools.prepared import Prepared


@attrs.define(eq=False, slots=False)
class Work:
    """A problem that is being solved in rational numbers.

    Parameters
    ----------
    first_policy : callable
        Returns the initial policy, (S,): one that is nearly the best, if not the best one.

    Attributes
    ----------
    policies : int
        The number of linear systems that were solved.
    tight : (C,) bool
        Once the values are known: whether a choice has exactly the value of its state.
    following : list or None
        Then, for a finite horizon: the values with one step fewer to go.
    """

    prepared: Prepared
    tolerance: float
    reporter: Reporter
    first_policy: Callable[[], Integers]
    max_policies: int = MOST_POLICIES
    max_seconds: float = float("inf")

    def __attrs_post_init__(self) -> None:
        self.problem = self.prepared.problem
        self.numbers = RationalModel.of(self.problem.model)
        self.policies = 0
        self.tight = np.zeros(self.problem.model.num_choices, np.bool_)
        self.following: list[Value] | None = None

    def seconds_left(self) -> float:
        """Return the seconds that a part of the work may take."""
        return max(self.max_seconds - self.reporter.spent, 1e-3)

    def guess(self, problem: Problem) -> Integers:
        """Return a policy that is nearly the best for a process of one player, found in doubles."""
        return solve_process(problem, self.tolerance, self.seconds_left()).policy.copy()

    def check_limits(self) -> None:
        """Raise if no time is left."""
        if self.reporter.spent > self.max_seconds:
            raise StoppedError(Status.TIME_LIMIT)

    def count_policy(self) -> None:
        """Count and report a policy that was evaluated."""
        self.policies += 1
        self.reporter.report(self.policies, None, f"{self.policies:,} policies evaluated")

    def check_policies(self) -> None:
        """Raise unless there may be another policy."""
        if self.policies >= self.max_policies:
            raise StoppedError(Status.SWEEP_LIMIT)

    def is_late(self) -> bool:
        """Return False, or raise if no time is left."""
        self.check_limits()
        return False

    def average(self) -> tuple[list[Value], list[Value], Integers]:
        """Return the long-run averages, biases and a policy."""
        return Averages(self, self.problem, self.numbers).solve()

    def best_policies(self) -> tuple[list[Value], Integers]:
        """Improve one side's policy, each time against the other's best answer."""
        self.prepared.decide_opponents(self.is_late)
        opponents = self.prepared.opponents
        assert isinstance(opponents, Opponents)  # noqa: S101 - supported
        game = _ExactGame(self, opponents)
        states = self.problem.model.num_states
        policy = np.where(opponents.improver, self._begin(opponents), opponents.start)
        values, answer = game.best_answer(policy)
        if opponents.improver.any() and game.is_improper(values):
            policy = opponents.start  # rounding has made the guess wrong
            values, answer = game.best_answer(policy)
        while True:
            better = game.improved(policy, values)
            if (better == policy).all():
                below = np.array([game.is_below(value, 0) for value in values])
                best = game.best_choices(values, below)
                stuck, via = opponents.escapes(below, best)
                better = np.where(stuck & opponents.improver, via, policy)
                if (better == policy).all():
                    reply = opponents.answer(answer, via)
                    self.tight = game.tight(values)[: self.problem.model.num_choices]
                    return values[:states], np.where(opponents.improver, policy, reply)[:states]
            policy = better
            values, answer = game.best_answer(policy)

    def _begin(self, opponents: Opponents) -> Integers:
        """Return the policy found in doubles; the unfolded model has it twice."""
        if not opponents.improver.any():
            return opponents.start
        try:
            policy = np.asarray(self.first_policy())
        except InvalidModelError:  # beyond the range of doubles
            return opponents.start
        if len(policy) < opponents.model.num_states:
            policy = np.concatenate([policy, policy + self.problem.model.num_choices])
        return policy

    def finite_horizon(
        self, horizon: int
    ) -> tuple[list[Value], NDArray[np.int64], NDArray[np.unsignedinteger[Any]]]:
        """Go backwards step by step; return values, the first step's policy, and all of them."""
        model = self.problem.model
        wants_most = self.problem.maximise
        counts = np.diff(model.choice_offsets)
        policy = np.full(model.num_states, -1, np.int64)
        step_policies = room_for_policies(model, horizon)
        objective: Any = self.problem.objective
        earns, over = not is_probability(objective), over_in(objective)
        zero = rational(0)
        given = objective.final
        if earns and given is None:
            values = [self.numbers.payoffs.get(state, zero) for state in range(model.num_states)]
        else:
            known = known_at_the_end(objective, model)
            values = [rational(number) for number in (known if given is None else given).tolist()]
        going_on = np.flatnonzero(counts if over is None else np.where(over, 0, counts)).tolist()
        if horizon and over is not None:
            policy[over] = np.where(counts, model.choice_offsets[:-1], -1)[over]
            self.tight[np.repeat(over, counts)] = True
        for step in range(horizon):
            self.check_limits()
            self.following, following = values, list(values)
            for state in going_on:
                first = int(model.choice_offsets[state])
                results = [
                    self._choice_value(choice, values, earns=earns)
                    for choice in range(first, first + counts[state])
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

    def _choice_value(self, choice: int, values: list[Value], *, earns: bool) -> Rational:
        """Return the value of a choice if these are the values one step later."""
        model, numbers = self.problem.model, self.numbers
        row = slice(*model.transition_offsets[choice : choice + 2].tolist())
        total = numbers.reward(choice) if earns else rational(0)
        for successor, sign, probability in zip(
            model.successors[row].tolist(),
            model.probabilities[row].tolist(),
            numbers.probabilities_of(choice),
            strict=True,
        ):
            value = values[successor]
            total += probability * (numbers.constant_sum - value if sign < 0 else value)
        return total


class _ExactGame:
    """The unfolded model in rational numbers: best answers, and better choices."""

    def __init__(self, work: Work, opponents: Opponents) -> None:
        self.work = work
        self.opponents = opponents
        self.numbers = work.numbers
        self.discount = rational(opponents.problem.discount)
        model = opponents.model
        self.offsets = model.transition_offsets.tolist()
        self.successors = model.successors.tolist()
        self.choices = model.choice_offsets.tolist()

    def outcomes(self, choice: int) -> Iterator[tuple[int, Rational]]:
        """Yield the successors of a choice with their weights: discounted probabilities."""
        successors = self.successors[self.offsets[choice] : self.offsets[choice + 1]]
        for successor, probability in zip(
            successors, self.numbers.probabilities_of(choice), strict=True
        ):
            yield successor, self.discount * probability

    def reward(self, choice: int) -> Rational:
        """Return the reward of a choice, if the objective counts it."""
        return self.numbers.reward(choice) if self.opponents.earns else rational(0)

    def result(self, choice: int, values: list[Value]) -> Value:
        """Return the value of a choice; only one of the two infinities is among the values."""
        total = self.reward(choice)
        for successor, probability in self.outcomes(choice):
            value = values[successor]
            if is_infinite(value):
                return value
            total += probability * value
        return total

    def is_below(self, value: Value, other: Value) -> bool:
        """Return whether a value is worse than another for the improver."""
        return is_less(value, other) if self.opponents.sign > 0 else is_less(other, value)

    def is_improper(self, values: list[Value]) -> bool:
        """Return whether a policy leaves the improver infinitely worse off than necessary."""
        return any(
            is_infinite(value) and self.is_below(value, 0) and not lost
            for value, lost in zip(values, self.opponents.lost.tolist(), strict=True)
        )

    def improved(self, policy: Integers, values: list[Value]) -> Integers:
        """Return the improver's policy with the best choices where they are strictly better."""
        better = policy.copy()
        owners = self.opponents.model.structure.owners.tolist()
        best = list(values)
        for choice in np.flatnonzero(self.opponents.improves).tolist():
            state = owners[choice]
            result = self.result(choice, values)
            if self.is_below(best[state], result):
                best[state] = result
                better[state] = choice
        return better

    def best_choices(self, values: list[Value], states: Flags) -> Flags:
        """Return which choices of some states have their state's value, if that is finite; (C,)."""
        infinite = np.array([is_infinite(value) for value in values], np.bool_)
        return self.tight(values, states & ~infinite)

    def tight(self, values: list[Value], states: Flags | None = None) -> Flags:
        """Return which choices of some states, or of all, have the value of the state; (C,)."""
        best = np.zeros(self.opponents.model.num_choices, np.bool_)
        some = range(len(self.choices) - 1) if states is None else np.flatnonzero(states).tolist()
        for state in some:
            value = values[state]
            for choice in range(self.choices[state], self.choices[state + 1]):
                result = self.result(choice, values)
                best[choice] = is_infinite(result) == is_infinite(value) and result == value
        return best

    def best_answer(self, policy: Integers) -> tuple[list[Value], Integers]:
        """Return the values if the improver keeps to a policy, and the other's best answer."""
        opponents = self.opponents
        problem, rows = opponents.kept(policy, opponents.improver)
        prepared = prepare(problem)
        prepared.decide(self.work.is_late)
        reduction = prepared.proper
        if isinstance(reduction, Refusal):
            raise UnsupportedProblemError(reduction.reason)
        assert not isinstance(reduction, Undecided)  # noqa: S101 - settled
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
        solved, chosen = RationalProcess(self.work, small, terms).solve()
        values = [
            fixed[state] if number < 0 else solved[number]
            for state, number in enumerate(class_of[: problem.model.num_states].tolist())
        ]
        expanded = chosen if reduction is None else reduction.expand_policy(chosen)
        return values, np.append(rows, -1)[expanded]

    def _require_stored(self, choices: Integers) -> None:
        """Raise if rewards differ from the stored ones, of which sums were formed."""
        stored = self.opponents.model.rewards
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
        is_given = self.opponents.earns and state < self.opponents.model.num_states
        payoff = self.numbers.payoff(state) if is_given else None
        return rational(float(value)) if payoff is None else payoff

    def _terms(self, choice: int, class_of: Integers, known: list[Value]) -> Terms:
        """Return the certain reward of a choice, known values included, and the rest."""
        constant = self.reward(choice)
        probabilities: dict[int, Rational] = {}
        for successor, probability in self.outcomes(choice):
            number = int(class_of[successor])
            if number < 0:
                constant += probability * known[successor]
            else:
                probabilities[number] = probabilities.get(number, 0) + probability
        return Terms(constant, probabilities)


def _leg(model: Model, choice: int, class_of: Integers, known: list[Value]) -> Terms:
    """Return the terms of a choice that the reduction has added: one certain step."""
    earned = rational(float(model.rewards[choice]))
    state = int(model.successors[model.transition_offsets[choice]])
    if class_of[state] < 0:
        return Terms(earned + known[state], {})
    return Terms(earned, {int(class_of[state]): rational(1)})


MOST_STATES, MOST_WITHOUT_FLINT = 1000, 200
"""Largest models whose linear systems in rational numbers take at most seconds."""

SMALLEST = 2.0**-1000
"""Smaller probabilities are not known to within a factor near to 1."""


@np.errstate(over="ignore", invalid="ignore")  # an overflow is refused at the end
def narrowed(
    prepared: Prepared, answer: RunResult, tolerance: float, seconds: float, reporter: Reporter
) -> RunResult:
    """Return an answer whose bounds rational numbers have narrowed, or the given one.

    Parameters
    ----------
    prepared : Prepared
        A problem whose opponents are settled.
    answer : RunResult
        The result in doubles.
    tolerance : float
    seconds : float
        Time limit, counted by `reporter`.
    """
    found = bounds_by_rationals(prepared, answer.policy, seconds, reporter)
    if found is None or width_of(answer.lower, answer.upper) <= width_of(found[0], found[1]):
        return answer
    states = slice(prepared.problem.model.num_states)
    lower, upper, policy = found[0][states], found[1][states], found[2][states]
    status = Status.SOLVED if width_of(lower, upper) <= tolerance else answer.status
    return RunResult(middle_of(lower, upper), lower, upper, policy, status, answer.sweeps)


def bounds_by_rationals(
    prepared: Prepared, guess: NDArray[np.int64], seconds: float, reporter: Reporter
) -> tuple[Floats, Floats, NDArray[np.int64]] | None:
    """Return lower and upper bounds and a policy; None if they cannot be found that way.

    Parameters
    ----------
    prepared : Prepared
        A problem whose opponents are settled.
    guess : (S,)
        A policy that is nearly the best, if not the best one.
    seconds : float
        Time limit, counted by `reporter`.
    """
    opponents = prepared.opponents
    assert isinstance(opponents, Opponents)  # noqa: S101 - settled
    most = MOST_STATES if flint is not None else MOST_WITHOUT_FLINT
    if opponents.model.num_states > most or isinstance(prepared.problem.objective, Discounted):
        return None
    spread, offset = _spread(opponents), _offset(opponents)
    if spread is None or offset is None:
        return None
    try:
        work = Work(prepared, np.inf, reporter, lambda: guess, max_seconds=seconds)
        values, policy = work.best_policies()
        numbers = [_around(as_fraction(value), spread, offset) for value in values]
    except (StoppedError, InvalidModelError, UnsupportedProblemError, OverflowError):
        return None  # time is up, or values are beyond the range: the known bounds stand
    lower, upper = (np.array(bounds) for bounds in zip(*numbers, strict=True))
    return lower, upper, policy


def _around(value: Fraction | float, spread: Fraction, offset: Fraction) -> tuple[float, float]:
    """Return 64-bit bounds of a value for all possible probabilities."""
    if isinstance(value, float):
        return value, value
    error = spread * (abs(value) + offset)
    return enclosed(value - error)[1], enclosed(value + error)[2]


def _spread(opponents: Opponents) -> Fraction | None:
    """Return by which part of itself a sum without minus signs may move; None if by too much."""
    model = opponents.model
    probabilities = np.abs(model.probabilities)
    if not len(probabilities) or probabilities.min() < SMALLEST:
        return None
    owners = model.structure.owners.tolist()
    successors = model.successors.tolist()
    off = [0.0] * model.num_states
    for choice, (first, last) in enumerate(itertools.pairwise(model.transition_offsets.tolist())):
        if len(set(successors[first:last])) > 1:  # else it is certain
            # Stored numbers need not sum to one, and rules may have given rationals next to them.
            scaled = abs(math.fsum([*probabilities[first:last].tolist(), -1.0]))
            error = UNIT + scaled + max(4 * UNIT, scaled)
            off[owners[choice]] = max(off[owners[choice]], error)
    total = math.fsum(off)
    # The product of all (1 + e) / (1 - e) is at most exp(2.001 x), x their sum, so 1 + 2.01 x.
    return Fraction(2.01 * total) if total < 2.0**-10 else None


def _offset(opponents: Opponents) -> Fraction | None:
    """Return an offset that makes all rewards positive, or negative; None if there is none.

    Endless play that earns nothing ends with 0.
    """
    if not opponents.earns:
        return Fraction(0)
    model = opponents.model
    rewards = np.asarray(model.rewards)
    least, most = float(model.payoffs.min(initial=0.0)), float(model.payoffs.max(initial=0.0))
    sides = [
        Fraction(-least if sign > 0 else most) for sign in (1, -1) if (sign * rewards >= 0).all()
    ]
    # A payoff that a constant sum leaves to the other side may be rounded.
    return min(sides) * Fraction(1 + 2.0**-40) if sides else None
