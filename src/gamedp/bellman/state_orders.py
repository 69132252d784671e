"""Gathered components with their states in another order: those nearest to an exit first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.bellman.blocks import VALUE, WEIGHT, Block
from gamedp.graph.graph import Graph, transpose_jit
from gamedp.runtime.jit import compiled

if TYPE_CHECKING:
    import numpy.typing as npt

    Naturals = npt.NDArray[np.unsignedinteger[Any]]
    Floats = npt.NDArray[np.float64]

ONE = np.uintp(1)


def lead_out(
    num_states: int, num_choices: int, num_transitions: int, block: Block, sequence: Naturals
) -> int:
    """Set a policy that may leave the component in the fewest steps; return the number of states.

    Parameters
    ----------
    sequence : (S,)
        Set to the states, nearest to an exit first, those without one last.
    """
    graph = block.graph
    owners = np.empty(num_choices, graph.successors.dtype)
    offsets = np.empty(num_states + 1, np.int64)
    choices = np.empty(num_transitions, np.int64)
    transpose_jit(
        graph.transition_offsets[: num_choices + 1],
        graph.successors[:num_transitions],
        None,
        offsets,
        choices,
    )
    reached = np.zeros(num_states, np.bool_)
    count = np.uintp(0)
    for state in range(np.uintp(num_states)):
        for choice in range(graph.choice_offsets[state], graph.choice_offsets[state + ONE]):
            owners[choice] = state
            if not reached[state] and block.leaving[choice] > 0.0:
                reached[state] = True
                block.policy[state] = choice
                sequence[count] = state
                count += ONE
    done = np.uintp(0)
    while done < count:
        nearer = sequence[done]
        done += ONE
        for place in range(offsets[nearer + ONE] - 1, offsets[nearer] - 1, -1):
            leading = np.uintp(choices[place])
            owner = np.uintp(owners[leading])
            if not reached[owner]:
                reached[owner] = True
                block.policy[owner] = leading
                sequence[count] = owner
                count += ONE
    found = int(count)
    for state in range(np.uintp(num_states)):
        if not reached[state]:
            sequence[count] = state
            count += ONE
    return found


lead_out_jit = compiled(lead_out)


def rearrange(
    num_states: int, num_choices: int, num_transitions: int, block: Block, sequence: Naturals
) -> Block:
    """Return a component with its states in another order, without data that only proofs need."""
    graph = block.graph
    number = np.empty(num_states, graph.successors.dtype)
    for position in range(num_states):
        number[sequence[position]] = position
    choices = Graph(
        np.empty(num_states + 1, np.uintp),
        np.empty(num_choices + 1, np.uintp),
        np.empty(num_transitions, graph.successors.dtype),
    )
    result = Block(
        choices,
        np.empty(num_states),
        np.empty(num_states, np.uintp),
        np.empty(num_choices),
        block.sizes,
        block.slacks,
        block.counts,
        np.empty(num_choices),
        np.empty(num_transitions),
    )
    choice = place = np.uintp(0)
    choices.choice_offsets[0] = choices.transition_offsets[0] = 0
    for position in range(np.uintp(num_states)):
        state = sequence[position]
        first = graph.choice_offsets[state]
        result.signs[position] = block.signs[state]
        result.policy[position] = choice + (block.policy[state] - first)
        for old in range(first, graph.choice_offsets[state + ONE]):
            for t in range(graph.transition_offsets[old], graph.transition_offsets[old + ONE]):
                choices.successors[place] = number[graph.successors[t]]
                result.probabilities[place] = block.probabilities[t]
                place += ONE
            result.constants[choice] = block.constants[old]
            result.leaving[choice] = block.leaving[old]
            choice += ONE
            choices.transition_offsets[choice] = place
        choices.choice_offsets[position + ONE] = choice
    return result


rearrange_jit = compiled(rearrange)


def nearest_exits_first(
    num_states: int,
    num_choices: int,
    num_transitions: int,
    block: Block,
    numbers: Floats,
    sequence: Naturals,
) -> Block:
    """Return a component with the states nearest to an exit first, and a policy that leads out.

    Values are set to one that is too bad for everyone: if a step costs, the values that sweeps find
    on ways that lead nowhere are too good, and rise by one step with every sweep.

    Parameters
    ----------
    sequence : (S,)
        Set to the states in their new order.
    """
    lead_out_jit(num_states, num_choices, num_transitions, block, sequence)
    worst = 0.0
    for choice in range(num_choices):
        worst = max(worst, abs(block.constants[choice]))
    for state in range(num_states):
        numbers[VALUE, state] = -block.signs[state] * worst * num_states
    ordered: Block = rearrange_jit(num_states, num_choices, num_transitions, block, sequence)
    return ordered


nearest_exits_first_jit = compiled(nearest_exits_first)


def put_back(
    num_states: int,
    rearranged: Block,
    found: Floats,
    sequence: Naturals,
    block: Block,
    numbers: Floats,
) -> None:
    """Copy back to a component the policy and the numbers found in another order of states."""
    for position in range(np.uintp(num_states)):
        state = sequence[position]
        chosen = rearranged.policy[position] - rearranged.graph.choice_offsets[position]
        block.policy[state] = block.graph.choice_offsets[state] + chosen
        numbers[VALUE, state] = found[VALUE, position]
        numbers[WEIGHT, state] = found[WEIGHT, position]


put_back_jit = compiled(put_back)
