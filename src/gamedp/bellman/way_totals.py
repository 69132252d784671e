"""Rewards beyond the gains on the way to the end components where play stays."""

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
    """Find the largest total beyond the gains until play stays; return whether it is found.

    Parameters
    ----------
    rewards : (C,)
        Multiplied by `sign`, they are maximised.
    gains, values : (S,)
        Gains of the states, and potentials.
    margin : float
        The amount added on each step.
    budget : int
        Largest number of sweeps over a component.
    extra : (C,)
        Scratch.
    zeros : (K, 2)
        Zeros.
    constants : (N,)
        Filled: the amount to add to the potentials of a node. NaN at first.
    exits, nodes, best, room : (N,), (N,), (N,), Room
        Scratch.
    """
    graph = ways.graph
    offsets, successors = graph.transition_offsets, graph.successors
    probabilities = ways.probabilities
    for number in range(len(ways.offsets) - 1):
        start = ways.offsets[number]
        stop = ways.offsets[number + 1]
        count = start - start  # zero, but no literal, for which `solve` would be compiled as well
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
    """Set biases to a policy's rewards beyond the gains until it stays; return whether it succeeds.

    Parameters
    ----------
    rewards : (C,)
        Multiplied by `sign`, they are maximised.
    gains : (S,)
    policy : (S,)
    moving : (S,)
        Whether the policy neither stays in an end component there nor is at the end.
    margin : float
        The amount subtracted on each step.
    budget : int
        Largest number of times that the policy is followed in a component.
    biases : (S,)
        Filled where the policy moves; given elsewhere.
    extra, states, room : (C,), (S,), Room
        Scratch.
    """
    # Arrays are not read from a tuple, and numbers are unsigned: see `equation.backup`.
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
