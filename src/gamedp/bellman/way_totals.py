"""What is earned beyond the gains on the way to the end components where play stays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.bellman.ways import MOST_RATE, REPEATS, STAY, Map, solve_jit
from gamedp.runtime.jit import compiled

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers = npt.NDArray[np.signedinteger[Any]]
    Floats = npt.NDArray[np.float64]
    Flags = npt.NDArray[np.bool_]


def leave_totals(num_inner: int, ways: Map, rewards: Floats, sign: float, gains: Floats,
                 values: Floats, margin: float, budget: int, extra: Floats, zeros: Floats,
                 constants: Floats, exits: Integers, nodes: Integers,
                 room: Floats) -> bool:  # fmt: skip
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
    exits, nodes : (N,)
        Room.
    room : (2, N)
        Room.
    """
    graph = ways.graph
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
                    first = graph.transition_offsets[choice]
                    for t in range(first, graph.transition_offsets[choice + 1]):
                        total += ways.probabilities[t] * (
                            values[graph.successors[t]] - values[state]
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
                         0.5 * margin, budget, constants, exits, room):  # fmt: skip
            return False
    return True


leave_totals_jit = compiled(leave_totals)


def lead(ways: Map, rewards: Floats, sign: float, gains: Floats, policy: Integers, moving: Flags,
         margin: float, budget: int, biases: Floats, deltas: Floats) -> bool:  # fmt: skip
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
        Sweeps over a component at most.
    biases : (S,)
        Filled where the policy moves; given elsewhere.
    deltas : (S,)
        Room.
    """
    graph = ways.graph
    for number in range(len(ways.offsets) - 1):
        start = ways.offsets[number]
        stop = ways.offsets[number + 1]
        for repeat in range(budget):
            change = 0.0
            same = 0.0
            before = 0.0
            for i in range(start, stop):
                state = ways.order[i]
                if not moving[state]:
                    continue
                choice = policy[state]
                here = biases[state]
                delta = sign * rewards[choice] - gains[state] - margin
                for t in range(
                    graph.transition_offsets[choice], graph.transition_offsets[choice + 1]
                ):
                    delta += ways.probabilities[t] * (biases[graph.successors[t]] - here)
                if delta - delta != 0.0:
                    return False
                biases[state] = here + delta
                change = max(change, abs(delta))
                same += delta * deltas[i]
                before += deltas[i] * deltas[i]
                deltas[i] = delta
            if change <= 0.5 * margin:
                break
            if repeat % REPEATS == REPEATS - 1 and 0.0 < same < MOST_RATE * before:
                more = same / (before - same)
                for i in range(start, stop):
                    if moving[ways.order[i]]:
                        biases[ways.order[i]] += more * deltas[i]
        else:
            return False
    return True


lead_jit = compiled(lead)
