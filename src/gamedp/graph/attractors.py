"""Attractors: states from which a set is reached, with positive probability or almost surely.

Each state belongs to a side: the one that `helps` to reach the set, or the one that hinders it.
Only `active` choices are taken; a hindering state is in an attractor if it has some and each of
them may lead there, a helping one if one may. Sets grow breadth first through the reversed graph,
without recursion.

References
----------
.. [1] C. Baier, J.-P. Katoen, "Principles of Model Checking", MIT Press 2008, section 10.6.
.. [2] L. de Alfaro, T. Henzinger, "Concurrent omega-regular games", LICS 2000: almost sure sets as
   nested fixed points.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gamedp.runtime.jit import compiled

if TYPE_CHECKING:
    from gamedp.graph.graph import Graph, Reverse
    from gamedp.runtime.arrays import Flags, Integers


NONE = -1
ONE = np.uintp(1)


def attract(
    graph: Graph,
    reverse: Reverse,
    helps: Flags,
    active: Flags,
    barred: Flags,
    members: Flags,
    via: Integers,
    queue: Integers,
    missing: Integers,
    hit: Flags,
) -> None:
    """Grow a set of states by all states from which it is reached with positive probability.

    Parameters
    ----------
    graph, reverse : Graph, Reverse
    helps : (S,) bool
        Whether the player to move in a state wants to reach the set.
    active : (C,) bool
        The choices that can be taken.
    barred : (S,) bool
        States that never belong to the set.
    members : (S,) bool
        The set; grows.
    via : (S,)
        Filled for helping states that join: the choice that may lead nearer to the set.
    queue, missing, hit : (S,), (S,), (C,)
        Scratch.
    """
    num_states = len(members)
    tail = 0
    for choice in range(len(hit)):
        hit[choice] = False
    for state in range(num_states):
        if members[state]:
            queue[tail] = state
            tail += 1
        elif not helps[state] and not barred[state]:
            missing[state] = 0
            for its_choice in range(graph.choice_offsets[state], graph.choice_offsets[state + 1]):
                missing[state] += active[its_choice]
    head = 0
    while head < tail:
        successor = np.uintp(queue[head])
        head += 1
        for place in range(reverse.offsets[successor], reverse.offsets[successor + ONE]):
            number = np.uintp(reverse.choices[place])
            owner = np.uintp(reverse.owners[number])
            if members[owner] or barred[owner] or hit[number] or not active[number]:
                continue
            if helps[owner]:
                via[owner] = number
            else:
                hit[number] = True
                missing[owner] -= 1
                if missing[owner] > 0:
                    continue
            members[owner] = True
            queue[tail] = owner
            tail += 1


attract_jit = compiled(attract)


def first_outside(graph: Graph, state: int, choices: Flags, members: Flags) -> int:
    """Return the first of a state's `choices` that certainly avoids a set of states, or NONE."""
    for choice in range(graph.choice_offsets[state], graph.choice_offsets[state + 1]):
        if not choices[choice]:
            continue
        avoids = True
        for t in range(graph.transition_offsets[choice], graph.transition_offsets[choice + 1]):
            if members[graph.successors[t]]:
                avoids = False
                break
        if avoids:
            return int(choice)
    return NONE


first_outside_jit = compiled(first_outside)


def almost_sure(
    graph: Graph,
    reverse: Reverse,
    helps: Flags,
    target: Flags,
    active: Flags,
    possible: Flags,
    members: Flags,
    safe: Flags,
    via: Integers,
    queue: Integers,
    missing: Integers,
    hit: Flags,
    gone: Flags,
    lost: Flags,
    hinders: Flags,
) -> None:
    """Find the states from which a set is reached with probability one, against all hindrance.

    The largest set X within which the target is reached with positive probability, while no choice
    leads out of X: choices of helping states that might are not taken [2]_.

    Parameters
    ----------
    graph, reverse : Graph, Reverse
    helps, target : (S,) bool
    active : (C,) bool
        The choices that can be taken.
    possible : (S,) bool
        Filled: the states from which the target is reached with positive probability.
    members : (S,) bool
        Filled: X, the target included.
    safe : (C,) bool
        Filled: the active choices that stay among the members.
    via : (S,)
        Filled: the choice by which a helping member finally reaches the target, and by which a
        hindering state outside misses it with positive probability; surely, if the target is not
        possible. NONE in other states.
    queue, missing, hit, gone, lost, hinders : (S,), (S,), (C,), (S,), (S,), (S,)
        Scratch.
    """
    num_states = len(target)
    # In loops: code that copies slices lets each process import much of numba.
    nobody_helps = True
    for state in range(num_states):
        hinders[state] = not helps[state]
        nobody_helps &= hinders[state]
        gone[state] = False
        via[state] = NONE
        possible[state] = target[state]
    for choice in range(len(active)):
        safe[choice] = active[choice]
    attract_jit(graph, reverse, helps, safe, gone, possible, via, queue, missing, hit)
    for state in range(num_states):
        members[state] = possible[state]
    while True:
        any_left = False
        for state in range(num_states):
            lost[state] = not members[state]
            any_left |= lost[state] and not gone[state]
        if not any_left:
            return
        # Players who hinder keep away from the members; and where that place may be reached in
        # spite of those who help, they go there.
        for state in range(num_states):
            if gone[state]:
                continue
            via[state] = NONE
            if lost[state] and hinders[state]:
                via[state] = first_outside_jit(graph, state, safe, members)
        attract_jit(graph, reverse, hinders, active, target, lost, via, queue, missing, hit)
        for state in range(num_states):
            if lost[state] and not gone[state]:
                for place in range(reverse.offsets[state], reverse.offsets[state + 1]):
                    safe[reverse.choices[place]] = False
            # If nobody helps, all choices of the others stay among them: the target is possible as
            # before.
            members[state] = not lost[state] if nobody_helps else target[state]
        if nobody_helps:
            return
        for state in range(num_states):
            gone[state] = lost[state]
        attract_jit(graph, reverse, helps, safe, gone, members, via, queue, missing, hit)


almost_sure_jit = compiled(almost_sure)


def keep_staying(
    graph: Graph,
    reverse: Reverse,
    states: Flags,
    choices: Flags,
    queue: Integers,
    counts: Integers,
) -> int:
    """Shrink a part of a graph to the states in which play can go on for ever.

    Parameters
    ----------
    graph, reverse : Graph, Reverse
    states : (S,) bool
        The states of the part; shrinks to the largest set of which each has a choice of the part
        that surely stays in it.
    choices : (C,) bool
        The choices of the part; shrinks to those.
    queue, counts : (S,)
        Scratch.

    Returns
    -------
    int
        The number of states that are left. The part has an end component exactly if it is positive.
    """
    num_states = len(states)
    tail = 0
    for state in range(num_states):
        counts[state] = 0
        for its_choice in range(graph.choice_offsets[state], graph.choice_offsets[state + 1]):
            choices[its_choice] &= states[state]
            counts[state] += choices[its_choice]
        if counts[state] == 0:
            states[state] = False
            queue[tail] = state
            tail += 1
    head = 0
    while head < tail:
        successor = np.uintp(queue[head])
        head += 1
        for place in range(reverse.offsets[successor], reverse.offsets[successor + ONE]):
            choice = np.uintp(reverse.choices[place])
            if not choices[choice]:
                continue
            choices[choice] = False
            owner = np.uintp(reverse.owners[choice])
            counts[owner] -= 1
            if counts[owner] == 0:
                states[owner] = False
                queue[tail] = owner
                tail += 1
    return num_states - tail


keep_staying_jit = compiled(keep_staying)


def extract(
    graph: Graph,
    states: Flags,
    choices: Flags,
    local: Integers,
    choice_offsets: Integers,
    transition_offsets: Integers,
    successors: Integers,
) -> tuple[int, int, int]:
    """Copy a part of a graph that none of its choices leaves, with its states renumbered.

    Parameters
    ----------
    states, choices : (S,), (C,) bool
        The part.
    local : (S,)
        Filled: the number of each state in the part, NONE outside.
    choice_offsets, transition_offsets, successors
        Filled from the start; they have room for the whole graph.

    Returns
    -------
    num_states, num_choices, num_transitions
        Their number in the part.
    """
    count = 0
    for state in range(len(states)):
        local[state] = NONE
        if states[state]:
            local[state] = count
            count += 1
    num_states = num_choices = num_transitions = 0
    choice_offsets[0] = transition_offsets[0] = 0
    for state in range(len(states)):
        if not states[state]:
            continue
        for choice in range(graph.choice_offsets[state], graph.choice_offsets[state + 1]):
            if not choices[choice]:
                continue
            for t in range(graph.transition_offsets[choice], graph.transition_offsets[choice + 1]):
                successors[num_transitions] = local[graph.successors[t]]
                num_transitions += 1
            num_choices += 1
            transition_offsets[num_choices] = num_transitions
        num_states += 1
        choice_offsets[num_states] = num_choices
    return num_states, num_choices, num_transitions


extract_jit = compiled(extract)
