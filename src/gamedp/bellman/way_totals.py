"""What is earned beyond the gains on the way to the end components where play stays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.bellman.chains import STAY, Room, settle_jit
from gamedp.bellman.equation import ONE
from gamedp.bellman.ways import Map, follow_jit, solve_jit
from gamedp.runtime.jit import compiled

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers = npt.NDArray[np.signedinteger[Any]]
    Floats = npt.NDArray[np.float64]
    Flags = npt.NDArray[np.bool_]


def leave_totals(num_inner: int, ways: Map, rewards: Floats, sign: float, gains: Floats,
                 values: Floats, margin: float, budget: int, extra: Floats, zeros: Floats,
                 constants: Floats, exits: Integers, nodes: Integers, best: Floats,
                 room: Room) -> bool:  # fmt: skip
    """Find the most that may be earned beyond the gains until play stays; say whether it is found.

    Parameters
    ----------
    rewards : (C,)
        Times `sign`, they are to be made most of.
    gains, values : (S,)
        Gains of the states, and potentials.
    margin : float
        How much more is counted on each step.
    budget : int
        Sweeps over a component at most.
    extra : (C,)
        Room.
    zeros : (K, 2)
        Zeros.
    constants : (N,)
        Filled: what is to be added to the potentials of a node. NaN, at first.
    exits, nodes, best, room : (N,), (N,), (N,), Room
        Room.
    """
    graph = ways.graph
    offsets, successors = graph.transition_offsets, graph.successors
    probabilities = ways.probabilities
    for number in range(len(ways.offsets) - 1):
        start = ways.offsets[number]
        stop = ways.offsets[number + 1]
        count = start - start  # zero, but no literal, for which `solve` would be compiled, too
        for i in range(start, stop):
            state = ways.order[i]
            here = ways.node[state]
            for choice in range(graph.choice_offsets[state], graph.choice_offsets[state + 1]):
                if ways.leaves[choice]:
                    total = sign * rewards[choice] - gains[state] + margin
                    first, last = np.uintp(offsets[choice]), np.uintp(offsets[choice + 1])
                    for t in range(first, last):
                        total += probabilities[t] * (
                            values[np.uintp(successors[t])] - values[state]
                        )
                    extra[choice] = total
            if constants[here] != constants[here]:
                nodes[count] = here
                count += 1
                constants[here] = 0.0
                exits[here] = graph.choice_offsets[state]
                if here < num_inner or exits[here] == graph.choice_offsets[state + 1]:
                    exits[here] = STAY
        if not solve_jit(start, stop, count, nodes, num_inner, ways, ways.leaves, extra, zeros,
                         0.5 * margin, budget, constants, exits, best, room):  # fmt: skip
            return False
    return True


leave_totals_jit = compiled(leave_totals)


def lead(ways: Map, rewards: Floats, sign: float, gains: Floats, policy: Integers, moving: Flags,
         margin: float, budget: int, biases: Floats, extra: Floats, states: Integers,
         room: Room) -> bool:  # fmt: skip
    """Set biases to what a policy earns beyond the gains until it stays; say whether they are it.

    Parameters
    ----------
    rewards : (C,)
        Times `sign`, they are to be made most of.
    gains : (S,)
    policy : (S,)
    moving : (S,)
        Whether the policy does not stay in an end component there, nor is at the end.
    margin : float
        How much less they are on each step.
    budget : int
        How often to follow the policy in a component at most.
    biases : (S,)
        Filled where the policy moves; given elsewhere.
    extra, states, room : (C,), (S,), Room
        Room.
    """
    # Arrays are not looked up in a tuple, and numbers unsigned: see `equation.backup`.
    order, offsets, successors = ways.order, ways.graph.transition_offsets, ways.graph.successors
    probabilities = ways.probabilities
    for number in range(len(ways.offsets) - 1):
        start = ways.offsets[number]
        stop = ways.offsets[number + 1]
        count = start - start  # zero, but no literal: see `leave_totals`
        for i in range(start, stop):
            state = order[i]
            if moving[state]:
                extra[policy[state]] = sign * rewards[policy[state]] - gains[state] - margin
                states[count] = state
                count += 1
        for _ in range(budget if count > 0 else 0):
            if not settle_jit(count, states, offsets, successors, probabilities, extra, policy,
                              0.25 * margin, biases, room):  # fmt: skip
                follow_jit(count, states, offsets, successors, probabilities, extra, biases,
                           policy, room.deltas, room.weights)  # fmt: skip
            change = 0.0
            for i in range(count):
                state = states[i]
                choice = np.uintp(policy[state])
                here = biases[state]
                delta = extra[choice]
                for t in range(np.uintp(offsets[choice]), np.uintp(offsets[choice + ONE])):
                    delta += probabilities[t] * (biases[np.uintp(successors[t])] - here)
                if delta - delta != 0.0:
                    return False
                biases[state] = here + delta
                change = max(change, abs(delta))
            if change <= 0.5 * margin:
                break
        else:
            if count > 0:
                return False
    return True


lead_jit = compiled(lead)
