"""The length of play if equally good choices are distinguished by it: the leader hurries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gamedp.runtime.jit import compiled, inlined

if TYPE_CHECKING:
    import numpy.typing as npt

    from gamedp.graph.graph import Graph
    from gamedp.runtime.arrays import Flags, Floats, Integers


LENGTH_TOLERANCE = 1e-9
"""Relative difference below which two lengths are the same."""
MAX_SETTLED_GROWTH = 1e-10
"""Relative growth below which the lengths of a component are known."""


def length(graph: Graph, probabilities: Floats, choice: int, plies: Floats) -> float:
    """Return the number of choices that are made with this one, itself included."""
    total = 1.0
    for transition in range(graph.transition_offsets[choice], graph.transition_offsets[choice + 1]):
        weight = abs(probabilities[transition])
        if weight > 0:
            total += weight * plies[graph.successors[transition]]
    return total


length_jit = inlined(length)


def leads_on(graph: Graph, probabilities: Floats, choice: int, plies: Floats) -> bool:
    """Return whether a choice may lead nearer to an end, and not to where play may never end."""
    found = False
    for transition in range(graph.transition_offsets[choice], graph.transition_offsets[choice + 1]):
        if probabilities[transition] != 0:
            following = plies[graph.successors[transition]]
            if following == np.inf:
                return False
            found = found or following >= 0
    return found


leads_on_jit = inlined(leads_on)


def find_endless(
    graph: Graph,
    probabilities: Floats,
    states: Integers,
    hurry: npt.NDArray[np.int8],
    equal: Flags,
    policy: Integers,
    plies: Floats,
) -> None:
    """Find where in a component play may go on for ever if players who delay have their way.

    Backwards from the ends: a state leads on with a choice that does, or for a player who delays
    with all of them. The others never end; the search is repeated without whatever leads to them.

    Parameters
    ----------
    states : (n,)
        States of the component. The other parameters are those of :func:`count_plies`.
    plies : (S,)
        At the end infinite at those states, elsewhere in the component 0.
    """
    for state in states:
        goes_round = hurry[state] == 0 and policy[state] >= 0
        plies[state] = np.inf if goes_round else 0.0
    again = True
    while again:
        for state in states:
            if policy[state] >= 0 and plies[state] < np.inf:
                plies[state] = -1.0  # not known yet
        changed = True
        while changed:
            changed = False
            for state in states:
                if plies[state] < 0:
                    delays = hurry[state] < 0
                    leads = delays
                    for choice in range(
                        graph.choice_offsets[state], graph.choice_offsets[state + 1]
                    ):
                        if equal[choice] and leads == delays:
                            leads = leads_on_jit(graph, probabilities, choice, plies)
                    if leads:
                        plies[state] = 0.0
                        changed = True
        again = False
        for state in states:
            if plies[state] < 0:
                plies[state] = np.inf
                again = True


find_endless_jit = compiled(find_endless)


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
    """Find how many choices are still made from each state, and the choices that lead to it.

    Component by component, successors first: one visit to each state that cannot recur; within
    a cycle the lengths rise from 0, monotonically, to the least ones that fulfil the equation
    ``plies = 1 + (mean over the successors)``, with the least or the greatest over the choices of
    a state. Once they rise by less than a half, the choices taken lead to an end: each brings it
    nearer on average. A component that takes too long is left unchanged; so is a state on a
    cycle whose player does not care, since it may go round there for ever, and what may lead there.

    Parameters
    ----------
    graph : Graph
    probabilities : (T,)
        Negative where the players change places.
    order, component_offsets, nontrivial
        The components, see :class:`gamedp.graph.structure.Structure`.
    hurry : (S,)
        1 where the player to move wants an early end, -1 a late one, 0 where the policy decides.
    most_visits : int
        Largest number of visits to a transition of components with a cycle.
    equal : (C,)
        The choices among which a state may choose; at the end, those of the length in `plies` where
        `hurry` is not 0.
    policy : (S,)
        The choice of each state, of those in `equal`, -1 at ends; at the end another one if that
        has a better length.
    plies : (S,)
        0 at ends; infinite where it is unknown, or play may go on for ever.

    Returns
    -------
    visits : int
        Visits to a transition of components with a cycle.
    """
    visits = 0
    for component in range(len(nontrivial)):
        begin, end = component_offsets[component], component_offsets[component + 1]
        cyclic = nontrivial[component]
        states = order[begin:end]
        if cyclic:
            find_endless_jit(graph, probabilities, states, hurry, equal, policy, plies)
        else:
            plies[states[0]] = 0.0
        settled = False
        while not settled and (visits <= most_visits or not cyclic):
            settled = True
            for state in states:
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
                    settled = settled and best <= plies[state] * (1 + MAX_SETTLED_GROWTH)
                plies[state] = best
        for state in states:
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
                    equal[choice] = abs(found - plies[state]) <= LENGTH_TOLERANCE * plies[state]
                    if equal[choice] and (chosen < 0 or choice == own):
                        chosen = choice
            policy[state] = chosen
    return visits


count_plies_jit = compiled(count_plies)
