"""Decision processes of one player in rational numbers, solved by policy iteration."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Protocol

import attrs
import numpy as np

from gamedp.errors import GamedpError, InvalidModelError
from gamedp.graph.sets import attractor
from gamedp.graph.structure import Structure
from gamedp.results.status import Status
from gamedp.solvers.tools.exact.rationals import Rational, rational
from gamedp.solvers.tools.exact.systems import solve_linear_system
from gamedp.solvers.tools.strategies import solve_process

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from gamedp.model.problem import Problem
    from gamedp.runtime.limit import Reporter

    Integers = NDArray[np.signedinteger[Any]]

__all__ = ["Process", "StoppedError", "Terms", "components", "evaluated"]


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

    policies: int
    max_policies: int
    tolerance: float
    reporter: Reporter

    def seconds_left(self) -> float:
        """Return the number of seconds left."""

    def check_limits(self) -> None:
        """Raise StoppedError at a limit."""


@attrs.frozen(eq=False)
class Process:
    """A proper problem of one player: policies are improved until none is better."""

    work: Account
    problem: Problem
    terms: list[Terms]

    def solve(self) -> tuple[list[Rational], Integers]:
        """Return the values and a policy that attains them; 0 and -1 in terminal states."""
        policy = self._first_policy()
        while True:
            values = self._evaluated(policy)
            self.work.policies += 1
            self.work.reporter.report(
                self.work.policies, None, f"{self.work.policies:,} policies evaluated"
            )
            if not self._improve(policy, values):
                return values, policy
            if self.work.policies >= self.work.max_policies:
                raise StoppedError(Status.SWEEP_LIMIT)

    def _first_policy(self) -> Integers:
        """Return a policy under which play surely ends, the one found in doubles if it is such."""
        model = self.problem.model
        structure = model.structure
        everyone = np.ones(model.num_states, np.bool_)
        ends = np.zeros(model.num_states, np.bool_)
        ends[model.terminals] = True
        seconds = self.work.seconds_left()
        try:
            guess = solve_process(self.problem, self.work.tolerance, seconds).policy.copy()
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
        maximise = ((problem.model.players == 0) == (problem.objective.optimum == "max")).tolist()
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
