"""How long play lasts where equally good choices are told apart by it: who is ahead hurries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.runtime.jit import compiled, inlined

if TYPE_CHECKING:
    import numpy.typing as npt

    from gamedp.graph.graph import Graph

    Integers = npt.NDArray[np.signedinteger[Any]]
    Floats = npt.NDArray[np.float64]
    Flags = npt.NDArray[np.bool_]

SAME = 1e-9
"""Two lengths that differ by less, relative to them, are the same."""
SETTLED = 1e-10
"""Once no length of a component grows by more, relative to it, they are known."""


def length(graph: Graph, probabilities: Floats, choice: int, plies: Floats) -> float:
    """Return how many choices are made with this one, itself counted."""
    total = 1.0
    for transition in range(graph.transition_offsets[choice], graph.transition_offsets[choice + 1]):
        weight = abs(probabilities[transition])
        if weight > 0:
            total += weight * plies[graph.successors[transition]]
    return total


length_jit = inlined(length)


def count_plies(
    graph: Graph,
    probabilities: Floats,
    order: Integers,
    component_offsets: Integers,
    nontrivial: Flags,
    hurry: npt.NDArray[np.int8],
    most_visits: int,
    equal: Flags,
    policy: Integers,
    plies: Floats,
) -> int:
    """Find how many choices are still made from each state, and the choices that make it so many.

    Component by component, successors first: one visit to each state that cannot come again; within
    a cycle the lengths rise from 0, monotonically, to the least ones that fulfil the equation
    ``plies = 1 + (mean of those that follow)``, with the least or the greatest over the choices of
    a state. Once they rise by less than a half, the choices taken lead to an end: each brings it
    nearer on average. A component that takes too long is left as it is; so is a state on a
    cycle whose mover does not care, since it may go round there for ever.

    Parameters
    ----------
    graph : Graph
    probabilities : (T,)
        Negative where the players change places.
    order, component_offsets, nontrivial
        The components, see :class:`gamedp.graph.structure.Structure`.
    hurry : (S,)
        1 where the mover wants the end soon, -1 where late, 0 where the policy says what to do.
    most_visits : int
        Looks at a transition of components with a cycle that there is time for.
    equal : (C,)
        Between which choices a state may choose; at the end, those of the length in `plies` where
        `hurry` is not 0.
    policy : (S,)
        The choice of each state, of those in `equal`, -1 at ends; where another one is better by
        its length, that one at the end.
    plies : (S,)
        At ends 0; infinite where it is not known, or play may go on for ever.

    Returns
    -------
    visits : int
        Looks at a transition of components with a cycle.
    """
    visits = 0
    for component in range(len(nontrivial)):
        begin, end = component_offsets[component], component_offsets[component + 1]
        cyclic = nontrivial[component]
        for place in range(begin, end):
            state = order[place]
            goes_round = cyclic and hurry[state] == 0 and policy[state] >= 0
            plies[state] = np.inf if goes_round else 0.0
        settled = False
        while not settled and (visits <= most_visits or not cyclic):
            settled = True
            for place in range(begin, end):
                state = order[place]
                own = policy[state]
                if own < 0 or plies[state] == np.inf:
                    continue
                first, last = graph.choice_offsets[state], graph.choice_offsets[state + 1]
                if hurry[state] == 0:
                    first, last = own, own + 1
                best = -1.0
                for choice in range(first, last):
                    if equal[choice]:
                        found = length_jit(graph, probabilities, choice, plies)
                        if best < 0 or (found < best if hurry[state] > 0 else found > best):
                            best = found
                if cyclic:
                    starts = graph.transition_offsets
                    visits += starts[last] - starts[first]
                    settled = settled and best <= plies[state] * (1 + SETTLED)
                plies[state] = best
        for place in range(begin, end):
            state = order[place]
            own = policy[state]
            if own < 0:
                continue
            if not settled:
                plies[state] = np.inf
            if hurry[state] == 0 or plies[state] == np.inf:
                continue
            chosen = -1
            for choice in range(graph.choice_offsets[state], graph.choice_offsets[state + 1]):
                if equal[choice]:
                    found = length_jit(graph, probabilities, choice, plies)
                    equal[choice] = abs(found - plies[state]) <= SAME * plies[state]
                    if equal[choice] and (chosen < 0 or choice == own):
                        chosen = choice
            policy[state] = chosen
    return visits


count_plies_jit = compiled(count_plies)
