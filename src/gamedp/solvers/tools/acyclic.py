"""Problems with targets and without cycles, solved in one pass: there is nothing to reduce."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gamedp.bellman import acyclic
from gamedp.bellman.equation import unordered_equation
from gamedp.graph.graph import Graph
from gamedp.model.objectives import Reachability, TotalReward, has_target
from gamedp.runtime.progress import Reporter
from gamedp.runtime.slices import VISITS
from gamedp.solvers.tools.finish import check_range

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.model.problem import Problem
    from gamedp.runtime.progress import ProgressCallback

__all__ = ["AcyclicAnswer", "solve_acyclic"]


class AcyclicAnswer(NamedTuple):
    """The answer to a problem in which nothing but its ends comes again.

    Attributes
    ----------
    values, errors : (S,) float64
        ``|values - true values| <= errors``; infinite values are exact.
    policy : (S,) int64
    seconds : float
        How long it took.
    """

    values: NDArray[np.float64]
    errors: NDArray[np.float64]
    policy: NDArray[np.int64]
    seconds: float


def _nothing(count: int) -> NDArray[np.float64]:
    """Return so many zeros that take no memory, and cannot be changed."""
    return np.ndarray(count, np.float64, bytes(8), strides=(0,))


def solve_acyclic(
    problem: Problem, progress: ProgressCallback | None = None
) -> AcyclicAnswer | None:
    """Return the answer to a problem with targets, if no state but the last ones comes again.

    Else None, as soon as one is seen.
    """
    model, objective = problem.model, problem.objective
    if model.num_players > 2 or not has_target(objective):
        return None
    reporter = Reporter(progress, "solve")
    probable = isinstance(objective, Reachability)
    status = np.zeros(model.num_states, np.int8)
    status[model.terminals] = acyclic.MISSED
    values = np.zeros(model.num_states)
    if isinstance(objective, Reachability):
        if objective.allowed is not None:
            status[~objective.allowed] = acyclic.MISSED
        status[objective.target] = acyclic.SURE
        values[objective.target] = 1.0
    elif isinstance(objective, TotalReward) and objective.until is not None:
        status[objective.until] = acyclic.DONE
        values[model.terminals] = np.where(objective.until[model.terminals], model.payoffs, np.inf)
    rewards = _nothing(model.num_choices) if probable else model.rewards
    equation = unordered_equation(
        Graph(model.choice_offsets, model.transition_offsets, model.successors),
        model.probabilities,
        rewards,
        (model.players == 0) == (objective.optimum == "max"),
    )
    errors = np.zeros(model.num_states)
    policy = model.choice_offsets[:-1].copy()
    policy[model.terminals] = acyclic.NONE
    cursor = np.zeros(2, np.int64)
    stack = np.empty(model.num_states, model.successors.dtype)
    next_transition = np.empty(model.num_states, np.int64)
    found = acyclic.MORE
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused below
        while found == acyclic.MORE:
            found = acyclic.search_jit(
                VISITS,
                equation,
                probable,
                cursor,
                stack,
                next_transition,
                status,
                values,
                errors,
                policy,
            )
            done = int(cursor[acyclic.START])
            reporter.report(done, model.num_states, f"{done:,} of {model.num_states:,} states seen")
    if found != acyclic.ALL:
        return None
    if not probable:
        check_range(model, np.where(status == acyclic.MISSED, 0.0, values))
    return AcyclicAnswer(values, errors, policy, reporter.seconds)
