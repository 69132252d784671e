"""Policies evaluated by elimination, and improved until none is better: Howard's iteration."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.bellman import component_sweeps
from gamedp.graph.sets import attractor
from gamedp.model.problem import Problem
from gamedp.reduction.unfolding import rounding_of, unfold
from gamedp.results.status import Status
from gamedp.runtime.arrays import places_of_rows
from gamedp.solvers.tools.components import Component, solve_by_components
from gamedp.solvers.tools.run import Run

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.bellman.equation import Equation
    from gamedp.runtime.arrays import Floats

MARGIN = 1e-12
"""Relative margin by which an action must be better to replace the policy's, above rounding."""

MOST_POLICIES = 10_000
"""Default for the largest number of policies to evaluate for one component, or of one of two
opponents to improve."""


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
    work = _PolicyWork(run, max_policies)
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
class _PolicyWork:
    """A run, its limit, and the number of policies evaluated."""

    run: Run
    max_policies: int
    evaluated: int = 0

    def solve_one(self, number: int) -> None:
        """Improve the policy of a component, the minimisers' against each of the maximisers'."""
        component = Component(self.run, number)
        component.take_policy()
        allowed = self.run.share
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


def proper_policy(run: Run) -> NDArray[np.int64]:
    """Return a policy along which play can end from every state; -1 in terminal states.

    The first choices if play ends whatever is chosen, or later rewards count less.
    """
    model, structure = run.problem.model, run.problem.model.structure
    first = model.choice_offsets[:-1]
    inner = first < model.choice_offsets[1:]
    policy = np.where(inner, first, -1)
    if run.problem.improper_is_worst:
        ends = np.zeros(model.num_states, np.bool_)
        ends[model.terminals] = True
        everyone = np.ones(model.num_states, np.bool_)
        _, via = attractor(structure, everyone, ends, np.ones(model.num_choices, np.bool_))
        policy = np.where(inner & (via >= 0), via, policy)
    return policy.astype(np.int64)


def inner_matrix(
    start: int,
    stop: int,
    equation: Equation,
    choices: NDArray[np.integer[Any]],
    values: Floats,
) -> tuple[Any, Floats]:
    """Return choices of the component ``order[start:stop]`` as equations over its states.

    Parameters
    ----------
    choices : (R,) int
    values : (S,)
        The values of the states outside.

    Returns
    -------
    matrix : (R, stop - start) csr_array
        Discounted probabilities.
    known : (R,) float64
        The reward of a choice, and the contribution of the states outside.
    """
    import scipy.sparse  # noqa: PLC0415 - slow to import

    begin = equation.graph.transition_offsets[choices]
    lengths = equation.graph.transition_offsets[choices + 1] - begin
    places, _ = places_of_rows(begin, lengths)
    owners = np.repeat(np.arange(len(choices)), lengths)
    successors = equation.graph.successors[places]
    columns = equation.place[successors].astype(np.int64) - start
    probabilities = equation.discount * equation.probabilities[places]
    inside = (columns >= 0) & (columns < stop - start)
    outside = ~inside
    known = equation.constants[choices] + np.bincount(
        owners[outside], probabilities[outside] * values[successors[outside]], len(choices)
    )
    matrix = scipy.sparse.csr_array(
        (probabilities[inside], (owners[inside], columns[inside])),
        shape=(len(choices), stop - start),
    )
    return matrix, known
