"""Graphs: strongly connected components, levels, cycles, maximal end components.

A graph of S states and T edges is two arrays: the edges of state s lead to
``successors[edge_offsets[s]:edge_offsets[s + 1]]``. Where choices matter, those of state s are
``choice_offsets[s]`` up to ``choice_offsets[s + 1]``, and choice c leads to
``successors[transition_offsets[c]:transition_offsets[c + 1]]``, all of which have a positive
probability.

Nothing recurses, and the stacks are arrays that the operating system fills page by page as a search
gets deeper. Arrays of state numbers have the type of ``order``, so that 32 bits are used where they
suffice.

References
----------
.. [1] R. Tarjan, "Depth-first search and linear graph algorithms", SIAM Journal on Computing 1
   (1972).
.. [2] D. Pearce, "A space-efficient algorithm for finding strongly connected components",
   Information Processing Letters 116 (2016).
.. [3] C. Baier, J.-P. Katoen, "Principles of Model Checking", MIT Press 2008, algorithm 47.
.. [4] K. Chatterjee, M. Henzinger, "Efficient and dynamic algorithms for alternating Büchi games
   and maximal end-component decomposition", Journal of the ACM 61 (2014).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.kernels.jit import compiled

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers = npt.NDArray[np.signedinteger[Any]]
    Flags = npt.NDArray[np.bool_]

UNSEEN = -1
FIRST_BUDGET = 16
# Counters start from this one: numba would compile a kernel that it calls with a literal 0 twice.
ZERO = np.int64(0)


def components_from(
    edge_offsets: Integers,
    successors: Integers,
    start: int,
    max_edges: int,
    max_components: int,
    num_components: int,
    component: Integers,
    order: Integers,
    component_offsets: Integers,
    stack: Integers,
    next_edge: Integers,
    is_root: Flags,
) -> tuple[int, int]:
    """Find the strongly connected components that `start` reaches, those without a way out first.

    Tarjan's search [1]_ in Pearce's form [2]_, without recursion. `component` holds ``UNSEEN``, the
    number of a finished component (0 or more), or, for a state whose component is still open, a
    number below ``UNSEEN`` that starts as the rank of its discovery and falls to the lowest rank
    known to be in reach. States on the path lie at the low end of `stack`; finished ones whose
    component is open wait at its high end, the last one lowest.

    The search gives up after looking at about `max_edges` edges, and stops when there are
    `max_components` components; states whose component is then still open are ``UNSEEN`` again.

    Returns
    -------
    num_components, looked
        The number of components found up to now, and the number of edges looked at, plus one.
    """
    waiting = num_states = len(component)
    depth = 0
    seen = 1
    looked = 1
    stack[0] = start
    next_edge[0] = edge_offsets[start]
    is_root[0] = True
    component[start] = -num_states - 1
    while depth >= 0 and looked <= max_edges and num_components < max_components:
        state = stack[depth]
        lowest = component[state]
        edge = next_edge[depth]
        last_edge = edge_offsets[state + 1]
        while edge < last_edge:
            rank = component[successors[edge]]
            if rank == UNSEEN:
                break
            if rank < lowest:
                lowest = rank
            edge += 1
        looked += edge - next_edge[depth]
        if lowest < component[state]:
            component[state] = lowest
            is_root[depth] = False
        if edge < last_edge:
            # Looked at again on the way back, the edge shows how low its successor reaches.
            next_edge[depth] = edge
            depth += 1
            stack[depth] = successors[edge]
            next_edge[depth] = edge_offsets[successors[edge]]
            is_root[depth] = True
            component[successors[edge]] = seen - num_states - 1
            seen += 1
            continue
        depth -= 1
        if not is_root[depth + 1]:
            waiting -= 1
            stack[waiting] = state
            continue
        placed = component_offsets[num_components]
        first = waiting
        while waiting < num_states and component[stack[waiting]] >= lowest:
            component[stack[waiting]] = num_components
            waiting += 1
        for position in range(first, waiting):
            order[placed + waiting - 1 - position] = stack[position]
        component[state] = num_components
        order[placed + waiting - first] = state
        num_components += 1
        component_offsets[num_components] = placed + waiting - first + 1
    for position in range(depth + 1):
        component[stack[position]] = UNSEEN
    for position in range(waiting, num_states):
        component[stack[position]] = UNSEEN
    return num_components, looked


components_from_jit = compiled(components_from)


def strongly_connected_components(
    edge_offsets: Integers,
    successors: Integers,
    component: Integers,
    order: Integers,
    component_offsets: Integers,
) -> int:
    """Find the strongly connected components, numbered so that no edge leads to a higher number.

    Parameters
    ----------
    edge_offsets, successors
        The graph, shapes (S + 1,) and (T,).
    component
        Filled, shape (S,): the component of each state.
    order
        Filled, shape (S,): the states by component, within a component as a depth-first search
        leaves them. So a state comes after all its successors, but for those edges that close a
        cycle of the search.
    component_offsets
        Filled up to the number of components, shape (S + 1,): component k is
        ``order[component_offsets[k]:component_offsets[k + 1]]``.

    Returns
    -------
    int
        The number of components.
    """
    num_states = len(component)
    stack = np.empty_like(order)
    next_edge = np.empty(num_states, np.int64)
    is_root = np.empty(num_states, np.bool_)
    component[:] = UNSEEN
    component_offsets[0] = 0
    num_components = ZERO
    for start in range(num_states):
        if component[start] == UNSEEN:
            num_components, _ = components_from_jit(
                edge_offsets,
                successors,
                start,
                len(successors) + 1,
                num_states + 1,
                num_components,
                component,
                order,
                component_offsets,
                stack,
                next_edge,
                is_root,
            )
    return int(num_components)


strongly_connected_components_jit = compiled(strongly_connected_components)


def condense(
    edge_offsets: Integers,
    successors: Integers,
    component: Integers,
    order: Integers,
    levels: Integers,
    nontrivial: Flags,
) -> int:
    """Find the level of every component, and whether it contains a cycle.

    Parameters
    ----------
    edge_offsets, successors
        The graph, shapes (S + 1,) and (T,).
    component, order
        As `strongly_connected_components` fills them.
    levels
        Filled, one entry a component: the number of edges on the longest way down from it, 0 when
        no edge leaves it.
    nontrivial
        Filled, one entry a component: whether an edge stays in it.

    Returns
    -------
    int
        The number of levels.
    """
    levels[:] = 0
    nontrivial[:] = False
    num_levels = 0
    for state in order:
        own = component[state]
        level = levels[own]
        for edge in range(edge_offsets[state], edge_offsets[state + 1]):
            other = component[successors[edge]]
            if other == own:
                nontrivial[own] = True
            elif levels[other] >= level:
                level = levels[other] + 1
        levels[own] = level
        if level >= num_levels:
            num_levels = level + 1
    return int(num_levels)


condense_jit = compiled(condense)


def shortest_cycle(
    edge_offsets: Integers, successors: Integers, component: Integers, start: int, cycle: Integers
) -> int:
    """Find a shortest way from `start` back to itself, breadth first within its component.

    Parameters
    ----------
    edge_offsets, successors, component
        The graph and its components, shapes (S + 1,), (T,) and (S,).
    start
        The state.
    cycle
        Filled up to the length: the states on the way in order, `start` first. It needs as many
        entries as the component of `start` has states.

    Returns
    -------
    int
        The length of the cycle, 0 when there is none.
    """
    predecessor = np.full(len(component), UNSEEN, cycle.dtype)
    cycle[0] = start
    head, found = 0, 1
    while head < found:
        state = cycle[head]
        head += 1
        for edge in range(edge_offsets[state], edge_offsets[state + 1]):
            successor = successors[edge]
            if successor == start:
                length = 1
                step = state
                while step != start:
                    length += 1
                    step = predecessor[step]
                for position in range(length - 1, 0, -1):
                    cycle[position] = state
                    state = predecessor[state]
                return length
            if component[successor] == component[start] and predecessor[successor] == UNSEEN:
                predecessor[successor] = state
                cycle[found] = successor
                found += 1
    return 0


shortest_cycle_jit = compiled(shortest_cycle)


def stays_among(
    transition_offsets: Integers,
    successors: Integers,
    component: Integers,
    candidate: Integers,
    own: int,
    choice: int,
) -> bool:
    """Tell whether `choice` leads only to candidates of the component `own`."""
    for edge in range(transition_offsets[choice], transition_offsets[choice + 1]):
        successor = successors[edge]
        if component[successor] != own or candidate[successor] < 0:
            return False
    return True


stays_among_jit = compiled(stays_among)


def drop_leaving_choices(
    choice_offsets: Integers,
    transition_offsets: Integers,
    successors: Integers,
    component: Integers,
    order: Integers,
    nontrivial: Flags,
    end_component: Integers,
    stays: Flags,
) -> int:
    """Sweep once over the components with a cycle and drop the choices that leave them.

    A state left without a choice is dropped as well. It counts as outside for the states after it.
    In the order of the search that one sweep is nearly always enough to find that a game has no end
    component at all; no lists of predecessors are needed then.

    Parameters
    ----------
    choice_offsets, transition_offsets, successors
        The graph, shapes (S + 1,), (C + 1,) and (T,).
    component, order, nontrivial
        As `strongly_connected_components` and `condense` fill them.
    end_component
        Filled, shape (S,): 0 for the states that may belong to an end component, else -1.
    stays
        Filled, shape (C,): whether the choice may belong to an end component. A choice that leads
        to a state dropped later in the sweep is still marked.

    Returns
    -------
    int
        The number of states that may belong to an end component.
    """
    stays[:] = False
    for state in range(len(component)):
        end_component[state] = 0 if nontrivial[component[state]] else UNSEEN
    num_candidates = 0
    for state in order:
        if end_component[state] == UNSEEN:
            continue
        candidate = False
        for choice in range(choice_offsets[state], choice_offsets[state + 1]):
            stays[choice] = stays_among_jit(
                transition_offsets, successors, component, end_component, component[state], choice
            )
            candidate |= stays[choice]
        if candidate:
            num_candidates += 1
        else:
            end_component[state] = UNSEEN
    return num_candidates


drop_leaving_choices_jit = compiled(drop_leaving_choices)


def restrict(
    choice_offsets: Integers,
    transition_offsets: Integers,
    successors: Integers,
    component: Integers,
    local: Integers,
    members: Integers,
    stays: Flags,
    owner: Integers,
    first_edge: Integers,
    edge_offsets: Integers,
    edges: Integers,
    remaining: Integers,
) -> int:
    """Copy the graph of the `members` of one component, with the choices that stay among them.

    Parameters
    ----------
    choice_offsets, transition_offsets, successors, component
        The whole graph and its components, shapes (S + 1,), (C + 1,), (T,) and (S,).
    local
        The number of each state among the `members`, below 0 for other states of the component,
        shape (S,).
    members
        The states to keep, shape (n,).
    stays
        Only choices marked here are kept; the mark of those that lead to other states is removed,
        shape (C,).
    owner, first_edge, edge_offsets, edges, remaining
        Filled: the state of each choice that is kept; its first edge, and one entry more; the first
        edge of each member, and one entry more; where the edges lead; how many choices each member
        keeps.

    Returns
    -------
    int
        The number of choices that are kept.
    """
    num_choices = num_edges = 0
    edge_offsets[0] = first_edge[0] = 0
    for number in range(len(members)):
        state = members[number]
        remaining[number] = 0
        for choice in range(choice_offsets[state], choice_offsets[state + 1]):
            if not stays[choice]:
                continue
            stays[choice] = stays_among_jit(
                transition_offsets, successors, component, local, component[state], choice
            )
            if not stays[choice]:
                continue
            for edge in range(transition_offsets[choice], transition_offsets[choice + 1]):
                edges[num_edges] = local[successors[edge]]
                num_edges += 1
            owner[num_choices] = number
            remaining[number] += 1
            num_choices += 1
            first_edge[num_choices] = num_edges
        edge_offsets[number + 1] = num_edges
    return num_choices


restrict_jit = compiled(restrict)


def transpose(
    first_edge: Integers, edges: Integers, predecessor_offsets: Integers, predecessors: Integers
) -> None:
    """List for every state the choices that may lead to it.

    Parameters
    ----------
    first_edge, edges
        Choice c leads to ``edges[first_edge[c]:first_edge[c + 1]]``.
    predecessor_offsets, predecessors
        Filled: the choices that lead to state s are
        ``predecessors[predecessor_offsets[s]:predecessor_offsets[s + 1]]``.
    """
    predecessor_offsets[:] = 0
    for successor in edges:
        predecessor_offsets[successor] += 1
    for state in range(1, len(predecessor_offsets)):
        predecessor_offsets[state] += predecessor_offsets[state - 1]
    # Filled from the back, the offsets move from the end of each list to its beginning.
    for choice in range(len(first_edge) - 2, -1, -1):
        for edge in range(first_edge[choice], first_edge[choice + 1]):
            successor = edges[edge]
            predecessor_offsets[successor] -= 1
            predecessors[predecessor_offsets[successor]] = choice


transpose_jit = compiled(transpose)


def drop_choice(
    owner: Integers,
    first_edge: Integers,
    choice: int,
    num_gone: int,
    num_tails: int,
    edges: Integers,
    kept: Flags,
    remaining: Integers,
    gone: Integers,
    tails: Integers,
    queued: Flags,
) -> tuple[int, int]:
    """Drop one choice, and note its owner.

    The owner is gone if this was its last choice; else it joins the queue of tails, unless it waits
    there already. The edges of the choice become edges from its owner to itself, which no search
    minds.

    Returns
    -------
    num_gone, num_tails
        The number of states that are gone, and of states that were ever queued.
    """
    state = owner[choice]
    kept[choice] = False
    edges[first_edge[choice] : first_edge[choice + 1]] = state
    remaining[state] -= 1
    if remaining[state] == 0:
        gone[num_gone] = state
        num_gone += 1
    elif not queued[state]:
        queued[state] = True
        tails[num_tails % len(tails)] = state
        num_tails += 1
    return num_gone, num_tails


drop_choice_jit = compiled(drop_choice)


def drop_choices_into(
    predecessor_offsets: Integers,
    predecessors: Integers,
    owner: Integers,
    first_edge: Integers,
    component: Integers,
    num_gone: int,
    num_tails: int,
    edges: Integers,
    kept: Flags,
    remaining: Integers,
    gone: Integers,
    tails: Integers,
    queued: Flags,
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
        state = gone[head]
        head += 1
        for position in range(predecessor_offsets[state], predecessor_offsets[state + 1]):
            choice = np.int64(predecessors[position])
            if kept[choice] and component[owner[choice]] == UNSEEN:
                num_gone, num_tails = drop_choice_jit(
                    owner,
                    first_edge,
                    choice,
                    num_gone,
                    num_tails,
                    edges,
                    kept,
                    remaining,
                    gone,
                    tails,
                    queued,
                )
    return num_tails


drop_choices_into_jit = compiled(drop_choices_into)


def drop_crossing_choices(
    owner: Integers,
    first_edge: Integers,
    part: Integers,
    component: Integers,
    edges: Integers,
    kept: Flags,
    remaining: Integers,
    gone: Integers,
    tails: Integers,
    queued: Flags,
    is_closed: Flags,
) -> tuple[int, int]:
    """Drop every choice of an undecided state that may lead to another part of the graph.

    Returns
    -------
    num_gone, num_tails
        The number of states that lost their last choice, and of the others that lost one.
    """
    num_gone = num_tails = ZERO
    for choice in range(len(owner)):
        state = owner[choice]
        if not kept[choice] or component[state] != UNSEEN:
            continue
        for edge in range(first_edge[choice], first_edge[choice + 1]):
            if part[edges[edge]] != part[state]:
                is_closed[part[state]] = False
                num_gone, num_tails = drop_choice_jit(
                    owner,
                    first_edge,
                    choice,
                    num_gone,
                    num_tails,
                    edges,
                    kept,
                    remaining,
                    gone,
                    tails,
                    queued,
                )
                break
    return int(num_gone), int(num_tails)


drop_crossing_choices_jit = compiled(drop_crossing_choices)


def split(
    edge_offsets: Integers,
    owner: Integers,
    first_edge: Integers,
    predecessor_offsets: Integers,
    predecessors: Integers,
    num_found: int,
    edges: Integers,
    kept: Flags,
    remaining: Integers,
    component: Integers,
    order: Integers,
    component_offsets: Integers,
    gone: Integers,
    tails: Integers,
    queued: Flags,
) -> tuple[int, int]:
    """Decompose the whole graph into parts and drop the choices between them.

    Parts that no choice leaves are end components.

    Returns
    -------
    num_found, num_tails
        The number of end components found up to now, and of undecided states that lost a choice.
    """
    part = np.empty_like(order)
    states = np.empty_like(order)
    part_offsets = np.empty_like(component_offsets)
    num_parts = strongly_connected_components_jit(edge_offsets, edges, part, states, part_offsets)
    is_closed = np.ones(num_parts, np.bool_)
    queued[:] = False
    num_gone, num_tails = drop_crossing_choices_jit(
        owner, first_edge, part, component, edges, kept, remaining, gone, tails, queued, is_closed
    )
    for number in range(num_parts):
        state = states[part_offsets[number]]
        if is_closed[number] and component[state] == UNSEEN and remaining[state] > 0:
            placed = component_offsets[num_found]
            for position in range(part_offsets[number], part_offsets[number + 1]):
                component[states[position]] = num_found
                order[placed] = states[position]
                placed += 1
            num_found += 1
            component_offsets[num_found] = placed
    num_tails = drop_choices_into_jit(
        predecessor_offsets,
        predecessors,
        owner,
        first_edge,
        component,
        num_gone,
        num_tails,
        edges,
        kept,
        remaining,
        gone,
        tails,
        queued,
    )
    return num_found, num_tails


split_jit = compiled(split)


def peel(
    edge_offsets: Integers,
    owner: Integers,
    first_edge: Integers,
    predecessor_offsets: Integers,
    predecessors: Integers,
    num_found: int,
    num_tails: int,
    edges: Integers,
    kept: Flags,
    remaining: Integers,
    component: Integers,
    order: Integers,
    component_offsets: Integers,
    gone: Integers,
    tails: Integers,
    queued: Flags,
) -> int:
    """Take off end components one by one, while that is cheaper than to decompose all again.

    A part of the graph that no choice leaves any more contains a state that has lost a choice, a
    tail, because before the loss the part could be left. So the searches start at the tails; the
    first component that a search completes has no way out and is an end component. To find a small
    one among many tails, every tail may look at a few edges, then at twice as many, and so on, in
    turn; this stands for the searches in lock-step of [4]_. After as many looks as there are edges,
    it is time for `split`.

    Returns
    -------
    int
        The number of end components found up to now.
    """
    num_states = len(component)
    stack = np.empty_like(order)
    next_edge = np.empty(num_states, np.int64)
    is_root = np.empty(num_states, np.bool_)
    budget = np.full(num_states, FIRST_BUDGET, np.int64)
    num_tried = total_looked = 0
    while num_tried < num_tails and total_looked < len(edges):
        tail = np.int64(tails[num_tried % num_states])
        num_tried += 1
        queued[tail] = False
        if component[tail] != UNSEEN or remaining[tail] == 0:
            continue
        num_before = num_found
        num_found, looked = components_from_jit(
            edge_offsets,
            edges,
            tail,
            budget[tail],
            num_found + 1,
            num_found,
            component,
            order,
            component_offsets,
            stack,
            next_edge,
            is_root,
        )
        total_looked += looked
        if num_found == num_before:
            budget[tail] *= 2
        else:
            first, last = component_offsets[num_before], component_offsets[num_found]
            for position in range(first, last):
                gone[position - first] = order[position]
            num_tails = drop_choices_into_jit(
                predecessor_offsets,
                predecessors,
                owner,
                first_edge,
                component,
                last - first,
                num_tails,
                edges,
                kept,
                remaining,
                gone,
                tails,
                queued,
            )
        if component[tail] == UNSEEN and remaining[tail] > 0 and not queued[tail]:
            queued[tail] = True
            tails[num_tails % num_states] = tail
            num_tails += 1
    return num_found


peel_jit = compiled(peel)


def any_undecided(component: Integers, remaining: Integers) -> bool:
    """Tell whether a state is left that has a choice and belongs to no component yet."""
    for state in range(len(component)):
        if component[state] == UNSEEN and remaining[state] > 0:
            return True
    return False


any_undecided_jit = compiled(any_undecided)


def end_components_within(
    edge_offsets: Integers,
    owner: Integers,
    first_edge: Integers,
    edges: Integers,
    remaining: Integers,
    kept: Flags,
    component: Integers,
) -> int:
    """Find the maximal end components of a graph whose every choice stays in it.

    Parameters
    ----------
    edge_offsets, owner, first_edge, edges, remaining
        The graph as `restrict` fills it. The edges of dropped choices are overwritten, `remaining`
        counts down.
    kept
        Filled: whether each choice belongs to an end component.
    component
        Filled: the number of the end component of each state, -1 if it is in none.

    Returns
    -------
    int
        The number of end components.
    """
    num_states = len(component)
    order = np.empty_like(component)
    gone = np.empty_like(component)
    tails = np.empty_like(component)
    queued = np.zeros(num_states, np.bool_)
    component_offsets = np.zeros(num_states + 1, component.dtype)
    predecessor_offsets = np.empty(num_states + 1, np.int64)
    predecessors = np.empty_like(edges)
    transpose_jit(first_edge, edges, predecessor_offsets, predecessors)
    component[:] = UNSEEN
    kept[:] = True
    num_gone = ZERO
    for state in range(num_states):
        if remaining[state] == 0:
            gone[num_gone] = state
            num_gone += 1
    drop_choices_into_jit(
        predecessor_offsets,
        predecessors,
        owner,
        first_edge,
        component,
        num_gone,
        ZERO,
        edges,
        kept,
        remaining,
        gone,
        tails,
        queued,
    )
    num_found = ZERO
    while any_undecided_jit(component, remaining):
        num_found, num_tails = split_jit(
            edge_offsets,
            owner,
            first_edge,
            predecessor_offsets,
            predecessors,
            num_found,
            edges,
            kept,
            remaining,
            component,
            order,
            component_offsets,
            gone,
            tails,
            queued,
        )
        num_found = peel_jit(
            edge_offsets,
            owner,
            first_edge,
            predecessor_offsets,
            predecessors,
            num_found,
            num_tails,
            edges,
            kept,
            remaining,
            component,
            order,
            component_offsets,
            gone,
            tails,
            queued,
        )
    return int(num_found)


end_components_within_jit = compiled(end_components_within)


def end_components_of_members(
    choice_offsets: Integers,
    transition_offsets: Integers,
    successors: Integers,
    component: Integers,
    states: Integers,
    num_members: int,
    max_choices: int,
    max_edges: int,
    num_before: int,
    end_component: Integers,
    stays: Flags,
) -> int:
    """Find the maximal end components in one strongly connected component.

    Of its `states`, `num_members` may belong to one; they have `max_choices` marked choices with
    `max_edges` edges. `num_before` end components were found in other components. The remaining
    parameters are those of `maximal_end_components`.

    Returns
    -------
    int
        The number of end components found up to now.
    """
    members = np.empty(num_members, end_component.dtype)
    number = 0
    for state in states:
        if end_component[state] != UNSEEN:
            end_component[state] = number
            members[number] = state
            number += 1
    owner = np.empty(max_choices, end_component.dtype)
    first_edge = np.empty(max_choices + 1, np.int64)
    edge_offsets = np.empty(num_members + 1, np.int64)
    edges = np.empty(max_edges, end_component.dtype)
    remaining = np.empty_like(members)
    num_choices = restrict_jit(
        choice_offsets,
        transition_offsets,
        successors,
        component,
        end_component,
        members,
        stays,
        owner,
        first_edge,
        edge_offsets,
        edges,
        remaining,
    )
    kept = np.empty(num_choices, np.bool_)
    local_component = np.empty_like(members)
    num_found = end_components_within_jit(
        edge_offsets,
        owner[:num_choices],
        first_edge[: num_choices + 1],
        edges[: first_edge[num_choices]],
        remaining,
        kept,
        local_component,
    )
    next_choice = 0
    for number in range(num_members):
        state = members[number]
        end_component[state] = UNSEEN
        if local_component[number] != UNSEEN:
            end_component[state] = num_before + local_component[number]
        for choice in range(choice_offsets[state], choice_offsets[state + 1]):
            if stays[choice]:
                stays[choice] = kept[next_choice]
                next_choice += 1
    return num_before + int(num_found)


end_components_of_members_jit = compiled(end_components_of_members)


def maximal_end_components(
    choice_offsets: Integers,
    transition_offsets: Integers,
    successors: Integers,
    component: Integers,
    order: Integers,
    component_offsets: Integers,
    end_component: Integers,
    stays: Flags,
) -> int:
    """Find the maximal end components.

    An end component is a set of states with at least one choice for each, such that these choices
    lead only to states of the set, and each state can be reached from each by them. The maximal
    ones are disjoint, and each lies in one strongly connected component [3]_. A component from
    which nothing was dropped is one; in the others, what cannot stay is dropped and the rest
    decomposed again, until nothing changes.

    Parameters
    ----------
    choice_offsets, transition_offsets, successors
        The graph, shapes (S + 1,), (C + 1,) and (T,).
    component, order, component_offsets
        As `strongly_connected_components` fills them.
    end_component, stays
        Taken as `drop_leaving_choices` leaves them. Then filled, shapes (S,) and (C,): the number
        of the maximal end component of each state, -1 if it is in none; whether the choice keeps
        play in that component for sure. The type of `end_component` must have room for the number
        of choices.

    Returns
    -------
    int
        The number of maximal end components.
    """
    num_found = ZERO
    for number in range(len(component_offsets) - 1):
        states = order[component_offsets[number] : component_offsets[number + 1]]
        num_members = num_choices = num_edges = num_dropped = ZERO
        for state in states:
            if end_component[state] != UNSEEN:
                num_members += 1
            for choice in range(choice_offsets[state], choice_offsets[state + 1]):
                if stays[choice]:
                    num_choices += 1
                    num_edges += transition_offsets[choice + 1] - transition_offsets[choice]
                else:
                    num_dropped += 1
        if num_members > 0 and num_dropped == 0:
            for state in states:
                end_component[state] = num_found
            num_found += 1
        elif num_members > 0:
            num_found = end_components_of_members_jit(
                choice_offsets,
                transition_offsets,
                successors,
                component,
                states,
                num_members,
                num_choices,
                num_edges,
                num_found,
                end_component,
                stays,
            )
    return int(num_found)


maximal_end_components_jit = compiled(maximal_end_components)
