"""Problems with targets that need no reduction: one pass solves the acyclic part."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gamedp.bellman import depth_first, escapes
from gamedp.bellman.equation import unordered_equation
from gamedp.graph.graph import Graph
from gamedp.model.objectives import Reachability, TotalReward, has_target
from gamedp.runtime.limit import Reporter
from gamedp.runtime.slices import VISITS
from gamedp.solvers.tools.facts import Parts, Searched
from gamedp.solvers.tools.run import check_range

if TYPE_CHECKING:
    from gamedp.model.problem import Problem
    from gamedp.runtime.limit import ProgressCallback

__all__ = ["search_depth_first"]


MAX_SEARCHED_TRANSITIONS = 1 << 14
"""Transitions beyond which a model with choices is not searched. By then it likely has an end
component, which the search may only reach at its end; and on such a model passes over sets cost
less than the search."""


def search_depth_first(
    problem: Problem, progress: ProgressCallback | None = None
) -> Searched | None:
    """Search a problem with targets depth first; return the results, and what is left to solve.

    None for other problems, for those with choices beyond `MAX_SEARCHED_TRANSITIONS`, and as soon
    as play turns out to be able to stay somewhere for ever where someone chooses, or one player
    alone can make a total infinite.
    """
    model, objective = problem.model, problem.objective
    if model.num_players > 2 or not has_target(objective):
        return None
    free = model.num_choices > model.num_states - len(model.terminals)
    if free and model.num_transitions > MAX_SEARCHED_TRANSITIONS:
        return None
    reporter = Reporter(progress, "solve")
    probable = isinstance(objective, Reachability)
    size, dtype = model.num_states, model.successors.dtype
    status = np.zeros(size, np.int8)
    status[model.terminals] = escapes.MISSED
    values = np.zeros(size)
    rewards = model.rewards
    if isinstance(objective, Reachability):
        if objective.allowed is not None:
            status[~objective.allowed] = escapes.MISSED
        status[objective.target] = escapes.SURE
        values[objective.target] = 1.0
        rewards = np.zeros(model.num_choices)
        rewards.flags.writeable = False
    elif isinstance(objective, TotalReward) and objective.until is not None:
        status[objective.until] = escapes.DONE
        values[model.terminals] = np.where(objective.until[model.terminals], model.payoffs, np.inf)
    equation = unordered_equation(
        Graph(model.choice_offsets, model.transition_offsets, model.successors),
        model.probabilities,
        rewards,
        (model.players == 0) == (objective.optimum == "max"),
    )
    errors = np.zeros(size)
    policy = model.choice_offsets[:-1].copy()
    policy[model.terminals] = depth_first.NONE
    cursor = np.zeros(depth_first.CURSOR, np.int64)
    cursor[depth_first.WAITING] = size
    scratch = (
        np.empty(size, dtype),
        np.empty(size, np.int64),
        np.empty(size, np.bool_),
        np.empty(size, dtype),
        np.zeros(size, dtype),
    )
    order = np.empty(size, dtype)
    place = np.full(size, -1, dtype).view(f"u{dtype.itemsize}")
    offsets = np.zeros(size + 1, dtype)
    nontrivial = np.empty(size, np.bool_)
    found = depth_first.MORE
    with np.errstate(over="ignore", invalid="ignore"):  # an overflow is refused below
        while found == depth_first.MORE:
            found = depth_first.search_jit(
                VISITS,
                equation,
                probable,
                cursor,
                *scratch,
                status,
                values,
                errors,
                policy,
                order,
                place,
                offsets,
                nontrivial,
            )
            done = size if found == depth_first.ALL else int(cursor[depth_first.SEEN])
            reporter.report(done, size, f"{done:,} of {size:,} states seen")
    if found != depth_first.ALL:
        return None
    if not probable:
        check_range(model, np.where(status == escapes.MISSED, 0.0, values))
    count = int(cursor[depth_first.COMPONENTS])
    kept = order[: offsets[count]], place, offsets[: count + 1], nontrivial[:count]
    for array in kept:
        array.flags.writeable = False  # typed as in a structure, so kernels compile once
    equation = equation._replace(order=kept[0], place=kept[1])
    parts = Parts(*kept[2:], int(cursor[depth_first.LEVELS]))
    return Searched(values, errors, policy, equation, parts, reporter.seconds)
