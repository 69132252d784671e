"""Maximal end components: sets of states in which play can go on for ever.

References
----------
.. [1] C. Baier, J.-P. Katoen, "Principles of Model Checking", MIT Press 2008, algorithm 47.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gamedp.graph.decomposition import end_components_within_jit
from gamedp.graph.graph import UNSEEN, ZERO, Graph, stays_among_jit
from gamedp.runtime.jit import compiled

if TYPE_CHECKING:
    import numpy.typing as npt

    from gamedp.runtime.arrays import Flags, Integers

    Marks = npt.NDArray[np.uint8]

CLEARED, SETTLED, UNSETTLED = 0, 1, 2
"""Results of :func:`clear`: there is no end component; there is one; it is not known."""

SWEEPS = 8
"""Sweeps over a component before :func:`clear` gives up: the order of states is unsuitable."""

BOTH = np.uint8(3)


def clear(
    graph: Graph,
    order: Integers,
    component_offsets: Integers,
    nontrivial: Flags,
    sides: Marks,
    marks: Marks,
) -> int:
    """Find out whether one of two parts of a graph has an end component, and stop at the first.

    A part has some of the choices, and all states. From each component with a cycle, states are
    dropped that have no choice left which surely stays among those that are not dropped. In the
    order of the search, one sweep often drops them all. If a sweep drops nothing more, the rest
    contains an end component.

    Parameters
    ----------
    graph : Graph
    order, component_offsets, nontrivial
        As :mod:`gamedp.graph.graph` fills them.
    sides
        The parts that a choice belongs to, shape (C,): 1 the first, 2 the second, 3 both.
    marks
        Filled as far as it goes, shape (S,): the parts in which a state is not dropped.

    Returns
    -------
    int
        `CLEARED`, `SETTLED` or `UNSETTLED`.
    """
    for number in range(len(nontrivial)):
        start, stop = component_offsets[number], component_offsets[number + 1]
        for place in range(start, stop):
            marks[order[place]] = BOTH if nontrivial[number] else 0
        left = changed = nontrivial[number]
        sweeps = 0
        while left and changed:
            if sweeps == SWEEPS:
                return UNSETTLED
            sweeps += 1
            left = changed = False
            for place in range(start, stop):
                state = order[place]
                mark = marks[state]
                kept = np.uint8(0)
                for choice in range(graph.choice_offsets[state], graph.choice_offsets[state + 1]):
                    stays = mark & sides[choice]
                    for t in range(
                        graph.transition_offsets[choice], graph.transition_offsets[choice + 1]
                    ):
                        if stays == 0:
                            break
                        # Outside the component, nothing is left of what comes before it.
                        stays &= marks[graph.successors[t]]
                    kept |= stays
                    if kept == mark:
                        break
                if kept != mark:
                    marks[state] = kept
                    changed = True
                if kept != 0:
                    left = True
        if left:
            return SETTLED
    return CLEARED


clear_jit = compiled(clear)


def drop_leaving_choices(
    graph: Graph,
    component: Integers,
    order: Integers,
    nontrivial: Flags,
    end_component: Integers,
    stays: Flags,
) -> None:
    """Sweep once over the components with a cycle and drop the choices that leave them.

    A state left without a choice is dropped as well. It counts as outside for the states after it.
    :func:`gamedp.graph.graph.describe` counts in advance how many states that leaves.

    Parameters
    ----------
    graph : Graph
    component, order, nontrivial
        As :mod:`gamedp.graph.graph` fills them.
    end_component
        Filled, shape (S,): 0 for the states that may belong to an end component, else -1.
    stays
        Filled, shape (C,): whether the choice may belong to an end component. A choice that leads
        to a state dropped later in the sweep is still marked.
    """
    stays[:] = False
    for state in range(len(component)):
        end_component[state] = 0 if nontrivial[component[state]] else UNSEEN
    for state in order:
        if end_component[state] == UNSEEN:
            continue
        candidate = False
        for choice in range(graph.choice_offsets[state], graph.choice_offsets[state + 1]):
            stays[choice] = stays_among_jit(
                graph, component, end_component, component[state], choice
            )
            candidate |= stays[choice]
        if not candidate:
            end_component[state] = UNSEEN


drop_leaving_choices_jit = compiled(drop_leaving_choices)


def restrict(
    graph: Graph,
    component: Integers,
    local: Integers,
    members: Integers,
    stays: Flags,
    owners: Integers,
    part: Graph,
) -> int:
    """Copy the graph of the `members` of one component, with the choices that stay among them.

    Parameters
    ----------
    graph, component
        The whole graph, and the component of each state.
    local
        The number of each state among the `members`, below 0 for other states of the component,
        shape (S,).
    members
        The states to keep, shape (n,).
    stays
        Only choices marked here are kept; the mark of those that lead to other states is removed,
        shape (C,).
    owners
        Filled: the state of each choice that is kept.
    part
        Filled from the start: the graph of the members, numbered by their position among these.

    Returns
    -------
    int
        The number of choices that are kept.
    """
    num_choices = num_transitions = 0
    part.choice_offsets[0] = part.transition_offsets[0] = 0
    for number in range(len(members)):
        state = members[number]
        for choice in range(graph.choice_offsets[state], graph.choice_offsets[state + 1]):
            if not stays[choice]:
                continue
            stays[choice] = stays_among_jit(graph, component, local, component[state], choice)
            if not stays[choice]:
                continue
            for t in range(graph.transition_offsets[choice], graph.transition_offsets[choice + 1]):
                part.successors[num_transitions] = local[graph.successors[t]]
                num_transitions += 1
            owners[num_choices] = number
            num_choices += 1
            part.transition_offsets[num_choices] = num_transitions
        part.choice_offsets[number + 1] = num_choices
    return num_choices


restrict_jit = compiled(restrict)


def end_components_of_members(
    graph: Graph,
    component: Integers,
    states: Integers,
    num_members: int,
    max_choices: int,
    max_transitions: int,
    num_before: int,
    end_component: Integers,
    stays: Flags,
) -> int:
    """Find the maximal end components in one strongly connected component.

    Of its `states`, `num_members` may belong to one; they have `max_choices` marked choices with
    `max_transitions` transitions. `num_before` end components were found in other components. The
    remaining parameters are those of `maximal_end_components`.

    Returns
    -------
    int
        The number of end components found so far.
    """
    members = np.empty(num_members, end_component.dtype)
    number = 0
    for state in states:
        if end_component[state] != UNSEEN:
            end_component[state] = number
            members[number] = state
            number += 1
    owners = np.empty(max_choices, end_component.dtype)
    choice_offsets = np.empty(num_members + 1, np.int64)
    transition_offsets = np.empty(max_choices + 1, np.int64)
    successors = np.empty(max_transitions, end_component.dtype)
    num_choices = restrict_jit(
        graph,
        component,
        end_component,
        members,
        stays,
        owners,
        Graph(choice_offsets, transition_offsets, successors),
    )
    kept = np.empty(num_choices, np.bool_)
    local_component = np.empty_like(members)
    part = Graph(
        choice_offsets,
        transition_offsets[: num_choices + 1],
        successors[: transition_offsets[num_choices]],
    )
    num_found = end_components_within_jit(part, owners[:num_choices], kept, local_component)
    next_choice = 0
    for number in range(num_members):
        state = members[number]
        end_component[state] = UNSEEN
        if local_component[number] != UNSEEN:
            end_component[state] = num_before + local_component[number]
        for choice in range(graph.choice_offsets[state], graph.choice_offsets[state + 1]):
            if stays[choice]:
                stays[choice] = kept[next_choice]
                next_choice += 1
    return num_before + int(num_found)


end_components_of_members_jit = compiled(end_components_of_members)


def maximal_end_components(
    graph: Graph,
    component: Integers,
    order: Integers,
    component_offsets: Integers,
    nontrivial: Flags,
    end_component: Integers,
    stays: Flags,
) -> int:
    """Find the maximal end components.

    An end component is a set of states with at least one choice for each, such that these choices
    lead only to states of the set, and each state can be reached from each by them. The maximal
    ones are disjoint, and each lies in one strongly connected component [1]_. A component from
    which nothing was dropped is one; in the others, choices that cannot stay are dropped and the
    rest decomposed again, until nothing changes.

    Parameters
    ----------
    graph : Graph
    component, order, component_offsets, nontrivial
        As :mod:`gamedp.graph.graph` fills them.
    end_component, stays
        Filled, shapes (S,) and (C,): the number of the maximal end component of each state, -1 if
        it is in none; whether the choice keeps play in that component with certainty. The type of
        `end_component` must have room for the number of choices.

    Returns
    -------
    int
        The number of maximal end components.
    """
    drop_leaving_choices_jit(graph, component, order, nontrivial, end_component, stays)
    num_found = ZERO
    for number in range(len(component_offsets) - 1):
        states = order[component_offsets[number] : component_offsets[number + 1]]
        num_members = num_choices = num_transitions = num_dropped = ZERO
        for state in states:
            if end_component[state] != UNSEEN:
                num_members += 1
            for choice in range(graph.choice_offsets[state], graph.choice_offsets[state + 1]):
                if stays[choice]:
                    num_choices += 1
                    num_transitions += (
                        graph.transition_offsets[choice + 1] - graph.transition_offsets[choice]
                    )
                else:
                    num_dropped += 1
        if num_members > 0 and num_dropped == 0:
            for state in states:
                end_component[state] = num_found
            num_found += 1
        elif num_members > 0:
            num_found = end_components_of_members_jit(
                graph,
                component,
                states,
                num_members,
                num_choices,
                num_transitions,
                num_found,
                end_component,
                stays,
            )
    return int(num_found)


maximal_end_components_jit = compiled(maximal_end_components)
