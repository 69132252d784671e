"""The maximal end components of a graph that no choice leaves.

Choices are dropped until what is left falls into parts without any choice from one to another. The
transitions of a dropped choice are overwritten in the graph: they then lead back to its own state,
which changes no search.

References
----------
.. [1] K. Chatterjee, M. Henzinger, "Efficient and dynamic algorithms for alternating Büchi games
   and maximal end-component decomposition", Journal of the ACM 61 (2014).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gamedp.graph.graph import (
    UNSEEN,
    ZERO,
    Graph,
    Reverse,
    components_from_jit,
    strongly_connected_components_jit,
    transpose_jit,
)
from gamedp.runtime.jit import compiled

if TYPE_CHECKING:
    from gamedp.runtime.arrays import Flags, Integers


FIRST_BUDGET = 16


class SplitState(NamedTuple):
    """Results of the decomposition, and the work still to be done: updated in place all the time.

    Attributes
    ----------
    transitions_from : (S+1,) integers
        The transitions of state s are ``transitions_from[s] .. transitions_from[s+1] - 1``.
    kept : (C,) bool
        Whether each choice is still present.
    remaining : (S,) integers
        The number of choices of each state that are still present.
    component : (S,) integers
        The number of the end component of each state, or `UNSEEN`.
    order, component_offsets : (S,), (S+1,) integers
        The states of end component k are ``order[component_offsets[k]:component_offsets[k + 1]]``.
    gone : (S,) integers
        States that have lost their last choice, or belong to an end component: those that nothing
        may lead to any more.
    tails : (S,) integers
        A queue of states that have lost a choice, but not their last one.
    queued : (S,) bool
        Whether each state waits in it.
    """

    transitions_from: Integers
    kept: Flags
    remaining: Integers
    component: Integers
    order: Integers
    component_offsets: Integers
    gone: Integers
    tails: Integers
    queued: Flags


def drop_choice(
    graph: Graph, reverse: Reverse, work: SplitState, choice: int, num_gone: int, num_tails: int
) -> tuple[int, int]:
    """Drop one choice, and note its owner.

    The owner is gone if this was its last choice; else it joins the queue of tails, unless it waits
    there already.

    Returns
    -------
    num_gone, num_tails
        The number of states that are gone, and of states that were ever queued.
    """
    state = reverse.owners[choice]
    work.kept[choice] = False
    first, last = graph.transition_offsets[choice], graph.transition_offsets[choice + 1]
    graph.successors[first:last] = state
    work.remaining[state] -= 1
    if work.remaining[state] == 0:
        work.gone[num_gone] = state
        num_gone += 1
    elif not work.queued[state]:
        work.queued[state] = True
        work.tails[num_tails % len(work.tails)] = state
        num_tails += 1
    return num_gone, num_tails


drop_choice_jit = compiled(drop_choice)


def drop_choices_into(
    graph: Graph, reverse: Reverse, work: SplitState, num_gone: int, num_tails: int
) -> int:
    """Drop every choice of an undecided state that may lead to a state in `gone`.

    States that lose their last choice are gone too.

    Returns
    -------
    int
        The number of states that were ever queued.
    """
    head = 0
    while head < num_gone:
        state = work.gone[head]
        head += 1
        for place in range(reverse.offsets[state], reverse.offsets[state + 1]):
            choice = np.int64(reverse.choices[place])
            if work.kept[choice] and work.component[reverse.owners[choice]] == UNSEEN:
                num_gone, num_tails = drop_choice_jit(
                    graph, reverse, work, choice, num_gone, num_tails
                )
    return num_tails


drop_choices_into_jit = compiled(drop_choices_into)


def drop_crossing_choices(
    graph: Graph, reverse: Reverse, work: SplitState, part: Integers, is_closed: Flags
) -> tuple[int, int]:
    """Drop every choice of an undecided state that may lead to another part of the graph.

    Returns
    -------
    num_gone, num_tails
        The number of states that lost their last choice, and of the others that lost one.
    """
    num_gone = num_tails = ZERO
    for choice in range(len(reverse.owners)):
        state = reverse.owners[choice]
        if not work.kept[choice] or work.component[state] != UNSEEN:
            continue
        for t in range(graph.transition_offsets[choice], graph.transition_offsets[choice + 1]):
            if part[graph.successors[t]] != part[state]:
                is_closed[part[state]] = False
                num_gone, num_tails = drop_choice_jit(
                    graph, reverse, work, choice, num_gone, num_tails
                )
                break
    return int(num_gone), int(num_tails)


drop_crossing_choices_jit = compiled(drop_crossing_choices)


def split(graph: Graph, reverse: Reverse, work: SplitState, num_found: int) -> tuple[int, int]:
    """Decompose the whole graph into parts and drop the choices between them.

    Parts that no choice leaves are end components.

    Returns
    -------
    num_found, num_tails
        The number of end components found so far, and of undecided states that lost a choice.
    """
    component, order = work.component, work.order
    component_offsets = work.component_offsets
    part = np.empty_like(order)
    states = np.empty_like(order)
    part_offsets = np.empty_like(component_offsets)
    num_parts = strongly_connected_components_jit(
        work.transitions_from,
        graph.successors,
        part,
        states,
        part_offsets,
        np.empty_like(order),
        np.empty(len(order), np.int64),
        np.empty(len(order), np.bool_),
    )
    is_closed = np.ones(num_parts, np.bool_)
    work.queued[:] = False
    num_gone, num_tails = drop_crossing_choices_jit(graph, reverse, work, part, is_closed)
    for number in range(num_parts):
        state = states[part_offsets[number]]
        if is_closed[number] and component[state] == UNSEEN and work.remaining[state] > 0:
            placed = component_offsets[num_found]
            for position in range(part_offsets[number], part_offsets[number + 1]):
                component[states[position]] = num_found
                order[placed] = states[position]
                placed += 1
            num_found += 1
            component_offsets[num_found] = placed
    num_tails = drop_choices_into_jit(graph, reverse, work, num_gone, num_tails)
    return num_found, num_tails


split_jit = compiled(split)


def peel(graph: Graph, reverse: Reverse, work: SplitState, num_found: int, num_tails: int) -> int:
    """Remove end components one by one, while that is cheaper than decomposing everything again.

    A part of the graph that no choice leaves any more contains a state that has lost a choice, a
    tail, because before the loss the part could be left. The searches therefore start at the tails;
    the first component that a search completes has no way out and is an end component. To find a
    small one among many tails, every tail may visit a few transitions, then twice as many, and so
    on, in turn; this replaces the searches in lock-step of [1]_. After as many visits as there are
    transitions, it is time for `split`.

    Returns
    -------
    int
        The number of end components found so far.
    """
    component, order = work.component, work.order
    component_offsets = work.component_offsets
    remaining, tails, queued = work.remaining, work.tails, work.queued
    num_states = len(component)
    stack = np.empty_like(order)
    next_transition = np.empty(num_states, np.int64)
    is_root = np.empty(num_states, np.bool_)
    budget = np.full(num_states, FIRST_BUDGET, np.int64)
    num_tried = total_looked = 0
    while num_tried < num_tails and total_looked < len(graph.successors):
        tail = np.int64(tails[num_tried % num_states])
        num_tried += 1
        queued[tail] = False
        if component[tail] != UNSEEN or remaining[tail] == 0:
            continue
        num_before = num_found
        num_found, looked = components_from_jit(
            work.transitions_from,
            graph.successors,
            tail,
            budget[tail],
            num_found + 1,
            num_found,
            component,
            order,
            component_offsets,
            stack,
            next_transition,
            is_root,
        )
        total_looked += looked
        if num_found == num_before:
            budget[tail] *= 2
        else:
            first, last = component_offsets[num_before], component_offsets[num_found]
            for position in range(first, last):
                work.gone[position - first] = order[position]
            num_tails = drop_choices_into_jit(graph, reverse, work, last - first, num_tails)
        if component[tail] == UNSEEN and remaining[tail] > 0 and not queued[tail]:
            queued[tail] = True
            tails[num_tails % num_states] = tail
            num_tails += 1
    return num_found


peel_jit = compiled(peel)


def any_undecided(component: Integers, remaining: Integers) -> bool:
    """Return whether a state is left that has a choice and belongs to no component yet."""
    for state in range(len(component)):
        if component[state] == UNSEEN and remaining[state] > 0:
            return True
    return False


any_undecided_jit = compiled(any_undecided)


def end_components_within(graph: Graph, owners: Integers, kept: Flags, component: Integers) -> int:
    """Find the maximal end components of a graph whose every choice stays in it.

    Parameters
    ----------
    graph
        Its transitions are overwritten.
    owners
        The state of each choice.
    kept
        Filled: whether each choice belongs to an end component.
    component
        Filled: the number of the end component of each state, -1 if it is in none. Numbers of
        choices must also fit into its type.

    Returns
    -------
    int
        The number of end components.
    """
    num_states = len(component)
    offsets = np.empty(num_states + 1, np.int64)
    choices = np.empty_like(graph.successors)
    transpose_jit(graph.transition_offsets, graph.successors, None, offsets, choices)
    reverse = Reverse(owners, offsets, choices)
    transitions_from = np.empty(num_states + 1, np.int64)
    remaining = np.empty_like(component)
    transitions_from[num_states] = len(graph.successors)
    for state in range(num_states):
        first, last = graph.choice_offsets[state], graph.choice_offsets[state + 1]
        transitions_from[state] = graph.transition_offsets[first]
        remaining[state] = last - first
    work = SplitState(
        transitions_from,
        kept,
        remaining,
        component,
        np.empty_like(component),
        np.zeros(num_states + 1, component.dtype),
        np.empty_like(component),
        np.empty_like(component),
        np.zeros(num_states, np.bool_),
    )
    component[:] = UNSEEN
    kept[:] = True
    num_gone = ZERO
    for state in range(num_states):
        if remaining[state] == 0:
            work.gone[num_gone] = state
            num_gone += 1
    drop_choices_into_jit(graph, reverse, work, num_gone, ZERO)
    num_found = ZERO
    while any_undecided_jit(component, remaining):
        num_found, num_tails = split_jit(graph, reverse, work, num_found)
        num_found = peel_jit(graph, reverse, work, num_found, num_tails)
    return int(num_found)


end_components_within_jit = compiled(end_components_within)
