"""Attractors: from where a set of states is reached, and how surely.

The arrays of a graph are those of :mod:`gamedp.kernels.components`. Each state belongs to a side:
the one that `helps` to reach the set, or the one that hinders it. Only `active` choices are taken;
a hindering state is in an attractor if it has some and each of them may lead there, a helping one
if one may. Sets grow breadth first through predecessors, without recursion.

References
----------
.. [1] C. Baier, J.-P. Katoen, "Principles of Model Checking", MIT Press 2008, section 10.6.
.. [2] L. de Alfaro, T. Henzinger, "Concurrent omega-regular games", LICS 2000: almost sure sets as
   nested fixed points.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.kernels.jit import compiled

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers = npt.NDArray[np.signedinteger[Any]]
    Flags = npt.NDArray[np.bool_]


def turn_round(
    transition_offsets: Integers, successors: Integers, offsets: Integers, choices: Integers
) -> None:
    """Turn the graph round, by counting: which choices may lead to a state.

    They are ``choices[offsets[s]:offsets[s + 1]]``, ascending; one that has s as successor several
    times is there as often. `offsets` are S + 1 zeros at first, `choices` has room for all
    transitions.
    """
    for t in range(len(successors)):
        offsets[successors[t] + 1] += 1
    for state in range(len(offsets) - 1):
        offsets[state + 1] += offsets[state]
    for choice in range(len(transition_offsets) - 1):
        for t in range(transition_offsets[choice], transition_offsets[choice + 1]):
            state = successors[t]
            choices[offsets[state]] = choice
            offsets[state] += 1
    for state in range(len(offsets) - 1, 0, -1):
        offsets[state] = offsets[state - 1]
    offsets[0] = 0


turn_round_jit = compiled(turn_round)


def attract(
    choice_offsets: Integers,
    owners: Integers,
    offsets: Integers,
    choices: Integers,
    helps: Flags,
    active: Flags,
    barred: Flags,
    members: Flags,
    via: Integers,
    queue: Integers,
) -> None:
    """Grow a set of states by all from where it is reached with positive probability.

    Parameters
    ----------
    choice_offsets : (S + 1,)
    owners : (C,)
        The state of each choice.
    offsets, choices
        What :func:`turn_round` has filled.
    helps : (S,) bool
        Whether the mover of a state wants to reach the set.
    active : (C,) bool
        The choices that can be taken.
    barred : (S,) bool
        States that never belong to the set.
    members : (S,) bool
        The set; grows.
    via : (S,)
        Filled for helping states that join: the choice that may lead nearer to the set.
    queue : (S,)
        Scratch.
    """
    num_states = len(members)
    hit = np.zeros(len(active), np.bool_)
    missing = np.zeros(num_states, choices.dtype)
    tail = 0
    for state in range(num_states):
        if members[state]:
            queue[tail] = state
            tail += 1
        elif not helps[state]:
            for choice in range(choice_offsets[state], choice_offsets[state + 1]):
                missing[state] += active[choice]
    head = 0
    while head < tail:
        successor = queue[head]
        head += 1
        for place in range(offsets[successor], offsets[successor + 1]):
            choice = choices[place]
            state = owners[choice]
            if hit[choice] or members[state] or barred[state] or not active[choice]:
                continue
            hit[choice] = True
            if helps[state]:
                via[state] = choice
            else:
                missing[state] -= 1
                if missing[state] > 0:
                    continue
            members[state] = True
            queue[tail] = state
            tail += 1


attract_jit = compiled(attract)
