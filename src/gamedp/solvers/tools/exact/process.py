"""Decision processes of one player in rational numbers: totals and long-run averages.

Both by Howard's policy iteration; averages as in [1]_.

.. [1] M. Puterman, "Markov Decision Processes", Wiley 1994, section 9.2: several recurrent classes;
   theorems 9.1.2 and 9.2.3.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Protocol

import attrs
import numpy as np

from gamedp.errors import GamedpError, InvalidModelError
from gamedp.graph.sets import attractor
from gamedp.graph.structure import Structure
from gamedp.solvers.tools.exact.systems import (
    Rational,
    RationalModel,
    rational,
    solve_linear_system,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gamedp.model.problem import Problem
    from gamedp.results.status import Status
    from gamedp.runtime.arrays import Integers


class StoppedError(GamedpError):
    """Raised at a limit."""

    def __init__(self, status: Status) -> None:
        super().__init__(status.value)
        self.status = status


@attrs.frozen(eq=False)
class Terms:
    """A choice of a proper problem: a constant, and the probabilities of its successors."""

    constant: Rational
    probabilities: dict[int, Rational]

    def result(self, values: list[Rational]) -> Rational:
        """Return the value of the choice."""
        return self.constant + self.mean(values)

    def mean(self, values: list[Rational]) -> Rational:
        """Return the mean of the successors' values."""
        return sum(
            (probability * values[state] for state, probability in self.probabilities.items()),
            start=rational(0),
        )


class Account(Protocol):
    """Counts the policies, and checks the limits."""

    def count_policy(self) -> None:
        """Count and report a policy that was evaluated."""

    def check_policies(self) -> None:
        """Raise StoppedError unless there may be another policy."""

    def guess(self, problem: Problem) -> Integers:
        """Return a policy that is nearly the best, found in doubles; -1 in terminal states."""

    def check_limits(self) -> None:
        """Raise StoppedError at a limit."""


@attrs.frozen(eq=False)
class RationalProcess:
    """A proper problem of one player: policies are improved until none is better."""

    work: Account
    problem: Problem
    terms: list[Terms]

    def solve(self) -> tuple[list[Rational], Integers]:
        """Return the values and a policy that attains them; 0 and -1 in terminal states."""
        policy = self._first_policy()
        while True:
            values = self._evaluated(policy)
            self.work.count_policy()
            if not self._improve(policy, values):
                return values, policy
            self.work.check_policies()

    def _first_policy(self) -> Integers:
        """Return a policy under which play surely ends, the one found in doubles if it is such."""
        model = self.problem.model
        structure = model.structure
        everyone = np.ones(model.num_states, np.bool_)
        ends = np.zeros(model.num_states, np.bool_)
        ends[model.terminals] = True
        try:
            guess = self.work.guess(self.problem)
        except InvalidModelError:  # beyond the range of doubles
            guess = np.where(ends, -1, model.choice_offsets[:-1])
        kept = np.zeros(model.num_choices, np.bool_)
        kept[guess[guess >= 0]] = True
        if self.problem.discount < 1 or attractor(structure, everyone, ends, kept)[0].all():
            return guess
        return attractor(structure, everyone, ends, np.ones_like(kept))[1].astype(np.int64)

    def _improve(self, policy: Integers, values: list[Rational]) -> bool:
        """Improve the policy; return whether it changed."""
        problem = self.problem
        maximise = problem.maximise.tolist()
        offsets = problem.model.choice_offsets.tolist()
        changed = False
        for state, most in enumerate(maximise):
            best = values[state]
            for choice in range(offsets[state], offsets[state + 1]):
                result = self.terms[choice].result(values)
                if result > best if most else result < best:
                    best = result
                    policy[state] = choice
                    changed = True
        return changed

    def _evaluated(self, policy: Integers) -> list[Rational]:
        """Return the values of a policy."""
        rows = [self.terms[choice] if choice >= 0 else None for choice in policy.tolist()]
        return evaluated(rows, [rational(0)] * len(rows), self.work.check_limits)


def evaluated(
    rows: list[Terms | None], known: list[Rational], pause: Callable[[], object]
) -> list[Rational]:
    """Return the values of a chain, by one linear system for each component.

    Parameters
    ----------
    rows : list
        The terms of each state; None if the value is known. Every component leads out.
    known : list
        The known values.
    pause : callable
        Called now and then; may raise, as at a time limit.
    """
    values = list(known)
    for states in components(rows):
        pause()
        place = {state: number for number, state in enumerate(states)}
        system, constants = [], []
        for state in states:
            row = rows[state]
            if row is None:
                continue
            constant, left = row.constant, {}
            for successor, probability in row.probabilities.items():
                if successor in place:
                    left[place[successor]] = probability
                else:
                    constant += probability * values[successor]
            system.append(left)
            constants.append(constant)
        solved = solve_linear_system(system, constants, pause)
        for state, value in zip(states, solved, strict=False):
            values[state] = value
    return values


def components(rows: list[Terms | None]) -> Iterator[list[int]]:
    """Yield the states of each component of a policy's graph, after all it leads to."""
    counts = [0 if row is None else 1 for row in rows]
    lengths = [len(row.probabilities) for row in rows if row is not None]
    successors = [state for row in rows if row is not None for state in row.probabilities]
    structure = Structure.of(
        choice_offsets=np.cumsum([0, *counts]),
        transition_offsets=np.cumsum([0, *lengths]),
        successors=np.array(successors, np.int32),  # typed as in models: no kernel anew
    )
    offsets = structure.component_offsets.tolist()
    order = structure.order.tolist()
    for start, stop in itertools.pairwise(offsets):
        yield order[start:stop]


@attrs.frozen(eq=False)
class Averages:
    """A problem of one player: policies are improved, first their gains and then their biases."""

    work: Account
    problem: Problem
    numbers: RationalModel

    def solve(self) -> tuple[list[Rational], list[Rational], Integers]:
        """Return gains, biases and a policy that attains them; -1 in terminal states.

        With these biases, both optimality equations hold as inequalities for all choices.
        """
        model = self.problem.model
        offsets = model.choice_offsets
        policy = np.where(np.diff(offsets) > 0, offsets[:-1], -1)
        terms = [self._terms(choice) for choice in range(model.num_choices)]
        while True:
            rows = [terms[choice] if choice >= 0 else None for choice in policy.tolist()]
            gains, biases = self._evaluated(rows)
            self.work.count_policy()
            if not self._improve(policy, terms, gains, biases):
                return gains, self._for_all_choices(terms, gains, biases), policy
            self.work.check_policies()

    def _terms(self, choice: int) -> Terms:
        model = self.problem.model
        row = slice(*model.transition_offsets[choice : choice + 2].tolist())
        outcomes: dict[int, Rational] = {}
        for successor, probability in zip(
            model.successors[row].tolist(), self.numbers.probabilities_of(choice), strict=True
        ):
            outcomes[successor] = outcomes.get(successor, rational(0)) + probability
        return Terms(self.numbers.reward(choice), outcomes)

    def _improve(
        self, policy: Integers, terms: list[Terms], gains: list[Rational], biases: list[Rational]
    ) -> bool:
        """Improve the policy by gains or, if no gain rises, by biases; return whether any rose.

        For biases, only choices that keep the gain are considered.
        """
        model = self.problem.model
        offsets = model.choice_offsets.tolist()
        maximise = self.problem.maximise.tolist()
        means = [each.mean(gains) for each in terms]
        totals = [each.result(biases) for each in terms]
        for numbers in (means, totals):
            changed = False
            for state, most in enumerate(maximise):
                kept = int(policy[state])
                for choice in range(offsets[state], offsets[state + 1]):
                    if numbers is totals and means[choice] != means[kept]:
                        continue
                    one, other = numbers[choice], numbers[kept]
                    if one > other if most else one < other:
                        kept = choice
                changed |= kept != policy[state]
                policy[state] = kept
            if changed:
                return True
        return False

    def _for_all_choices(
        self, terms: list[Terms], gains: list[Rational], biases: list[Rational]
    ) -> list[Rational]:
        """Return biases that also bound choices after which the gain is worse.

        For these, the immediate reward may be higher: a multiple of the gains, added to the
        biases, outweighs it, and changes nothing for choices that keep the gain.
        """
        maximise = self.problem.objective.optimum == "max"
        multiple = rational(0)
        owners = self.problem.model.structure.owners.tolist()
        players = self.problem.model.players.tolist()
        for state, each in zip(owners, terms, strict=True):
            lost = gains[state] - each.mean(gains)
            if lost:
                earned = each.result(biases) - gains[state] - biases[state]
                most = (players[state] == 0) == maximise
                if earned > 0 if most else earned < 0:
                    multiple = max(multiple, earned / lost)
        return [bias + multiple * gain for bias, gain in zip(biases, gains, strict=True)]

    def _evaluated(self, rows: list[Terms | None]) -> tuple[list[Rational], list[Rational]]:
        """Return gains and biases of a Markov chain.

        Between two visits to its first state, a recurrent class earns its gain times the steps. The
        biases are 0 in these states: with that choice of them, no policy recurs.
        """
        zero, one = rational(0), rational(1)
        pause = self.work.check_limits
        classes = [
            members for members in map(sorted, components(rows)) if _is_closed(members, rows)
        ]
        inside: list[Terms | None] = [None] * len(rows)
        for members in classes:
            for state in members[1:]:
                inside[state] = rows[state]
        nothing = [zero] * len(rows)
        earned = evaluated(inside, nothing, pause)
        passed = evaluated(_with_constants(inside, [one] * len(rows)), nothing, pause)
        gains, biases = list(nothing), list(nothing)
        outside = list(rows)
        for members in classes:
            first = rows[members[0]]
            assert first is not None  # noqa: S101 - a closed class goes on
            gain = first.result(earned) / (one + first.mean(passed))
            for state in members:
                gains[state], biases[state] = gain, earned[state] - gain * passed[state]
                outside[state] = None
        gains = evaluated(_with_constants(outside, nothing), gains, pause)
        beyond = [
            zero if row is None else row.constant - gain
            for row, gain in zip(outside, gains, strict=True)
        ]
        return gains, evaluated(_with_constants(outside, beyond), biases, pause)


def _is_closed(members: list[int], rows: list[Terms | None]) -> bool:
    """Return whether a chain never leaves a component, and goes on there."""
    inside = set(members)
    return all(
        row is not None and inside.issuperset(row.probabilities)
        for row in (rows[state] for state in members)
    )


def _with_constants(rows: list[Terms | None], constants: list[Rational]) -> list[Terms | None]:
    """Return the same probabilities with other constants."""
    return [
        None if row is None else Terms(constant, row.probabilities)
        for row, constant in zip(rows, constants, strict=True)
    ]
