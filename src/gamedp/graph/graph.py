"""Graphs as arrays: their transposes, strongly connected components, levels, cycles.

S states, C choices, T transitions. The probability of a transition does not matter here; all have
a positive one. Where choices do not matter, two arrays suffice: the transitions of state s lead to
``successors[state_offsets[s]:state_offsets[s + 1]]``. Where they do, see :class:`Graph`.

Nothing recurses, and the stacks are arrays that the operating system fills page by page as a search
gets deeper. Arrays of state numbers have the type of ``order``, so that 32 bits are used where they
suffice. In the loops that take longest, indices are made unsigned: for a signed one, it is checked
each time whether it counts from the end.

References
----------
.. [1] R. Tarjan, "Depth-first search and linear graph algorithms", SIAM Journal on Computing 1
   (1972).
.. [2] D. Pearce, "A space-efficient algorithm for finding strongly connected components",
   Information Processing Letters 116 (2016).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gamedp.runtime.jit import compiled

if TYPE_CHECKING:
    from gamedp.runtime.arrays import Flags, Floats, Integers, Naturals


ONE = np.uintp(1)
UNSEEN = -1
# Counters start from this one: numba would compile a kernel that it calls with a literal 0 twice.
ZERO: int = np.int64(0)  # type: ignore[assignment] # compiled, an int is one


class Graph(NamedTuple):
    """The choices of each state, and the successors of each choice.

    Attributes
    ----------
    choice_offsets : (S + 1,)
        The choices of state s are ``choice_offsets[s] .. choice_offsets[s + 1] - 1``.
    transition_offsets : (C + 1,)
        The transitions of choice c are ``transition_offsets[c] .. transition_offsets[c + 1] - 1``.
    successors : (T,)
        The state that each transition leads to.
    """

    choice_offsets: Integers
    transition_offsets: Integers
    successors: Integers


class Reverse(NamedTuple):
    """The transposed graph: the choices that may lead to each state.

    Attributes
    ----------
    owners : (C,)
        The state of each choice.
    offsets, choices : (S + 1,), (T,)
        The choices that may lead to state s are ``choices[offsets[s]:offsets[s + 1]]``, ascending;
        one that has s as a successor several times is listed as often. ``-1 - choice`` represents a
        transition on which the players change places, if these are distinguished.
    """

    owners: Integers
    offsets: Integers
    choices: Integers


def transpose(
    row_offsets: Integers,
    successors: Integers,
    probabilities: Floats | None,
    offsets: Integers,
    rows: Integers,
) -> None:
    """List for every state the rows of a matrix that may lead to it, by counting.

    The rows are the choices; or the states, if every choice has one transition.

    Parameters
    ----------
    row_offsets, successors : (R + 1,), (T,)
        Row r leads to ``successors[row_offsets[r]:row_offsets[r + 1]]``.
    probabilities : (T,) or None
        Negative for transitions on which the players change places: these are listed as
        ``-1 - row``. None if that does not matter.
    offsets, rows : (S + 1,), (T,)
        Filled: the rows that lead to state s are ``rows[offsets[s]:offsets[s + 1]]``, ascending.
    """
    offsets[:] = 0
    for t in range(len(successors)):
        offsets[np.uintp(successors[t]) + ONE] += 1
    for state in range(1, len(offsets)):
        offsets[state] += offsets[state - 1]
    # While the lists are filled, the offset of a state is where its next row belongs; in the end,
    # that is where the next state's list begins.
    start = np.uintp(0)
    for row in range(len(row_offsets) - 1):
        stop = np.uintp(row_offsets[row + 1])
        for t in range(start, stop):
            successor = np.uintp(successors[t])
            place = offsets[successor]
            offsets[successor] = place + 1
            if probabilities is None:
                rows[np.uintp(place)] = row
            else:
                rows[np.uintp(place)] = row if probabilities[t] > 0.0 else -1 - row
        start = stop
    for state in range(len(offsets) - 1, 0, -1):
        offsets[state] = offsets[state - 1]
    offsets[0] = 0


transpose_jit = compiled(transpose)


def components_from(
    state_offsets: Integers,
    successors: Integers,
    start: int,
    max_transitions: int,
    max_components: int,
    num_components: int,
    component: Integers,
    order: Integers,
    component_offsets: Integers,
    stack: Integers,
    next_transition: Integers,
    is_root: Flags,
) -> tuple[int, int]:
    """Find the strongly connected components that `start` reaches, those without a way out first.

    Tarjan's search [1]_ in Pearce's form [2]_, without recursion. `component` holds ``UNSEEN``, the
    number of a finished component (0 or more), or, for a state whose component is still open, a
    number below ``UNSEEN`` that starts as the rank of its discovery and falls to the lowest rank
    known to be in reach. States on the path lie at the low end of `stack`; finished ones whose
    component is open wait at its high end, the last one lowest.

    The search gives up after visiting about `max_transitions`, and stops when there are
    `max_components` components; states whose component is then still open are ``UNSEEN`` again.

    Returns
    -------
    num_components, looked
        The number of components found so far, and the number of transitions visited, plus one.
    """
    waiting = num_states = len(component)
    depth = 0
    seen = 1
    looked = 1
    stack[0] = start
    next_transition[0] = state_offsets[start]
    is_root[0] = True
    component[start] = -num_states - 1
    while depth >= 0 and looked <= max_transitions and num_components < max_components:
        state = np.uintp(stack[depth])
        lowest = component[state]
        t = np.uintp(next_transition[depth])
        last_transition = np.uintp(state_offsets[state + ONE])
        while t < last_transition:
            rank = component[np.uintp(successors[t])]
            if rank == UNSEEN:
                break
            if rank < lowest:
                lowest = rank
            t += ONE
        looked += np.int64(t) - next_transition[depth]
        if lowest < component[state]:
            component[state] = lowest
            is_root[depth] = False
        if t < last_transition:
            # Visited again on the way back, the transition shows how low its successor reaches.
            next_transition[depth] = t
            depth += 1
            stack[depth] = successors[t]
            next_transition[depth] = state_offsets[successors[t]]
            is_root[depth] = True
            component[successors[t]] = seen - num_states - 1
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
    state_offsets: Integers,
    successors: Integers,
    component: Integers,
    order: Integers,
    component_offsets: Integers,
    stack: Integers,
    next_transition: Integers,
    is_root: Flags,
) -> int:
    """Find the strongly connected components, numbered so that no transition leads to a higher one.

    Parameters
    ----------
    state_offsets, successors
        The graph, shapes (S + 1,) and (T,).
    component
        Filled, shape (S,): the component of each state.
    order
        Filled, shape (S,): the states by component, within a component as a depth-first search
        leaves them. A state therefore comes after all its successors, except for transitions that
        close a cycle of the search.
    component_offsets
        Filled up to the number of components, shape (S + 1,): component k is
        ``order[component_offsets[k]:component_offsets[k + 1]]``.
    stack, next_transition, is_root
        Scratch, shape (S,).

    Returns
    -------
    int
        The number of components.
    """
    num_states = len(component)
    component[:] = UNSEEN
    component_offsets[0] = 0
    num_components = ZERO
    for start in range(num_states):
        if component[start] == UNSEEN:
            num_components, _ = components_from_jit(
                state_offsets,
                successors,
                start,
                len(successors) + 1,
                num_states + 1,
                num_components,
                component,
                order,
                component_offsets,
                stack,
                next_transition,
                is_root,
            )
    return num_components


strongly_connected_components_jit = compiled(strongly_connected_components)


def stays_among(
    graph: Graph,
    component: Integers,
    candidate: Integers,
    own: int,
    choice: int,
) -> bool:
    """Return whether `choice` leads only to candidates of the component `own`."""
    for t in range(graph.transition_offsets[choice], graph.transition_offsets[choice + 1]):
        successor = graph.successors[t]
        if component[successor] != own or candidate[successor] < 0:
            return False
    return True


stays_among_jit = compiled(stays_among)


def describe(
    graph: Graph,
    component: Integers,
    order: Integers,
    component_offsets: Integers,
    place_of: Naturals,
    levels: Integers,
    nontrivial: Flags,
    candidate: Integers,
) -> tuple[int, int, int]:
    """Find the level of every component, whether it has a cycle, and whether play may stay in it.

    Play can stay in a component for ever only if something is left of it when the choices that may
    leave it are dropped, and the states without any other, which then count as outside. One
    sweep in the order of the search is nearly always enough to find that a game has no end
    component at all; no lists of predecessors are needed then.

    Parameters
    ----------
    graph : Graph
    component, order, component_offsets
        As `strongly_connected_components` fills them.
    place_of
        Filled, one entry a state: its position in the order.
    levels
        Filled, one entry a component: the transitions on the longest way down from it, 0 when none
        leaves it.
    nontrivial
        Filled, one entry a component: whether a transition stays in it.
    candidate
        Scratch, shape (S,).

    Returns
    -------
    num_levels, num_cyclic_levels, num_candidates
        The number of levels, of those with a cycle, and of the states that the sweep leaves.
    """
    num_levels = num_cyclic_levels = num_candidates = 0
    candidate[:] = 0
    for own in range(len(component_offsets) - 1):
        start = np.uintp(component_offsets[own])
        stop = np.uintp(component_offsets[own + 1])
        level = 0
        cyclic = False
        for place in range(start, stop):
            state = np.uintp(order[place])
            place_of[state] = place
            first_transition = np.uintp(graph.transition_offsets[graph.choice_offsets[state]])
            last_transition = np.uintp(graph.transition_offsets[graph.choice_offsets[state + ONE]])
            for t in range(first_transition, last_transition):
                other = component[np.uintp(graph.successors[t])]
                if other == own:
                    cyclic = True
                elif levels[other] >= level:
                    level = levels[other] + 1
        levels[own] = level
        nontrivial[own] = cyclic
        if level >= num_levels:
            num_levels = level + 1
        if not cyclic:
            continue
        for place in range(start, stop):
            state = np.uintp(order[place])
            keeps = False
            for choice in range(graph.choice_offsets[state], graph.choice_offsets[state + ONE]):
                if stays_among_jit(graph, component, candidate, own, choice):
                    keeps = True
                    break
            if keeps:
                num_candidates += 1
            else:
                candidate[state] = UNSEEN
    for level in range(num_levels):
        candidate[level] = 0
    for own in range(len(nontrivial)):
        if nontrivial[own] and candidate[levels[own]] == 0:
            candidate[levels[own]] = 1
            num_cyclic_levels += 1
    return num_levels, num_cyclic_levels, num_candidates


describe_jit = compiled(describe)


def shortest_cycle(
    state_offsets: Integers, successors: Integers, component: Integers, start: int, cycle: Integers
) -> int:
    """Find a shortest way from `start` back to itself, breadth first within its component.

    Parameters
    ----------
    state_offsets, successors, component
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
        for t in range(state_offsets[state], state_offsets[state + 1]):
            successor = successors[t]
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
