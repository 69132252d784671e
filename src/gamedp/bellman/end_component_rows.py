"""The rows of end components: the choices that stay in each, and the nodes of the quotient."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.bellman.equation import ONE
from gamedp.runtime.jit import compiled

if TYPE_CHECKING:
    import numpy.typing as npt

    from gamedp.graph.graph import Graph

    Integers = npt.NDArray[np.signedinteger[Any]]
    Floats = npt.NDArray[np.float64]
    Flags = npt.NDArray[np.bool_]

OUTSIDE = -1
"""The end component of a state in none."""


def take_apart(
    graph: Graph,
    probabilities: Floats,
    rewards: Floats,
    sign: float,
    end_component: Integers,
    stays: Flags,
    offsets: Integers,
    node: Integers,
    place: Integers,
    states: Integers,
    choices: Integers,
    part: Graph,
    own_probabilities: Floats,
    own_rewards: Floats,
) -> tuple[int, int]:
    """Copy the choices that stay in an end component, and number the nodes of the quotient.

    Parameters
    ----------
    graph, probabilities, rewards
        The model: S states, C choices, T transitions.
    sign : float
        The factor of the rewards.
    end_component, stays : (S,), (C,)
        As :mod:`gamedp.graph.end_components` fills them, with K end components.
    offsets : (K + 1,)
        Filled: the states of component k are ``states[offsets[k]:offsets[k + 1]]``, ascending.
    node : (S,)
        Filled: the end component of each state; K, K + 1, ... for states in none.
    place : (S,)
        Filled where a state is in an end component: its position in `states`.
    states, choices : (S,), (C,)
        Filled from the start: the states and the choices of the end components.
    part : Graph
        Filled from the start, for as many states, choices and transitions: the end components,
        their states numbered by `place`.
    own_probabilities, own_rewards : (T,), (C,)
        Filled from the start: of its transitions and choices.

    Returns
    -------
    num_states, num_choices : int
        Their number in end components.
    """
    for number in range(len(offsets)):  # a slice takes longer to compile
        offsets[number] = 0
    num_nodes = len(offsets) - 1
    for state in range(len(node)):
        if end_component[state] == OUTSIDE:
            node[state] = num_nodes
            num_nodes += 1
        else:
            node[state] = end_component[state]
            offsets[end_component[state] + 1] += 1
    for number in range(1, len(offsets)):
        offsets[number] += offsets[number - 1]
    # While the lists are filled, the offset of a component is where its next state belongs; in the
    # end, that is where the next list begins.
    for state in range(len(node)):
        number = end_component[state]
        if number != OUTSIDE:
            place[state] = offsets[number]
            states[offsets[number]] = state
            offsets[number] += 1
    for number in range(len(offsets) - 1, 0, -1):
        offsets[number] = offsets[number - 1]
    offsets[0] = 0
    num_states = int(offsets[-1])
    num_choices = num_transitions = 0
    part.choice_offsets[0] = part.transition_offsets[0] = 0
    for number in range(num_states):
        state = states[number]
        for choice in range(graph.choice_offsets[state], graph.choice_offsets[state + 1]):
            if not stays[choice]:
                continue
            first = np.uintp(graph.transition_offsets[choice])
            for t in range(first, np.uintp(graph.transition_offsets[choice + ONE])):
                part.successors[num_transitions] = place[np.uintp(graph.successors[t])]
                own_probabilities[num_transitions] = probabilities[t]
                num_transitions += 1
            choices[num_choices] = choice
            own_rewards[num_choices] = sign * rewards[choice]
            num_choices += 1
            part.transition_offsets[num_choices] = num_transitions
        part.choice_offsets[number + 1] = num_choices
    return num_states, num_choices


take_apart_jit = compiled(take_apart)
