"""Kernels that explore the states reached if some of the players follow policies.

A node is a state of the model, with the players' places swapped or not, and the members of a field
of opponents that may still be the one that plays. Its code is
``((members - 1) * 2 + changed) * S + state``; if players never swap places, and there is no field,
that is the state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from gamedp.runtime.jit import compiled, inlined

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers = npt.NDArray[Any]
    Floats = npt.NDArray[Any]

ALL_MET = -1
"""Result of `explore` if every policy has an action in every state that is visited."""

NODES, THROWS, CHOICES, TRANSITIONS = range(4)
"""Indices into `sizes`."""


def staying(choice: int, members: int, first: int, count: int, weights: Floats) -> int:
    """Return which members of a field take a choice, as bits; all for a single policy."""
    if count == 1:
        return members if weights[first, choice] > 0.0 else 0
    left = 0
    for member in range(count):
        if members >> member & 1 and weights[first + member, choice] > 0.0:
            left |= 1 << member
    return left


staying_jit = inlined(staying)


def decoded(code: int, num_states: int) -> tuple[int, int, int]:
    """Return the state of a node, whether places are swapped there, and its members as bits."""
    return code % num_states, code // num_states & 1, code // num_states // 2 + 1


decoded_jit = inlined(decoded)


def following(probability: float, successor: int, changed: int, left: int, num_states: int) -> int:
    """Return the code of the node to which a transition leads, with the members `left`."""
    side = changed ^ 1 if probability < 0.0 else changed
    return ((left - 1) * 2 + side) * num_states + successor


following_jit = inlined(following)


class Given(NamedTuple):
    """A model of C choices, and the policies that N players follow.

    Attributes
    ----------
    choice_offsets, transition_offsets, successors, probabilities, players
        The model.
    two : bool
        Whether the mover is another player where places are swapped.
    firsts, counts : (N,)
        The rows of `weights` with a player's policies: none if the player is free, more than one
        for a field.
    weights : (P, C)
        The probability of each choice under each policy.
    """

    choice_offsets: Integers
    transition_offsets: Integers
    successors: Integers
    probabilities: Floats
    players: Integers
    two: bool
    firsts: Integers
    counts: Integers
    weights: Floats


def explore(
    given: Given,
    numbers: Integers,
    codes: Integers,
    sizes: Integers,
) -> int:
    """Find all nodes that are reached, breadth first.

    Parameters
    ----------
    given : Given
    numbers : (codes,)
        The number of a node by its code; -1 if it is not reached. Those of the first nodes are set.
    codes : (codes,)
        The codes by number; the first ones are given.
    sizes : (4,)
        The number of given nodes; then the numbers of nodes, throws, choices and transitions.

    Returns
    -------
    node : int
        The first node in which a policy that may play takes no choice; `ALL_MET` if there is none.
    """
    choice_offsets, transition_offsets, successors, probabilities = given[:4]
    players, two, firsts, counts, weights = given[4:]
    num_states = len(choice_offsets) - 1
    found = sizes[NODES]
    throws = 0
    rows = 0
    num_transitions = 0
    node = 0
    while node < found:
        state, changed, members = decoded_jit(codes[node], num_states)
        start = choice_offsets[state]
        stop = choice_offsets[state + 1]
        mover = players[state] ^ changed if two else players[state]
        is_free = counts[mover] == 0 or stop - start == 1
        taken = 0
        heard = 0
        for choice in range(start, stop):
            left = members
            if not is_free:
                left = staying_jit(choice, members, firsts[mover], counts[mover], weights)
                if left == 0:
                    continue
            heard |= left
            taken += 1
            rows += 1
            num_transitions += transition_offsets[choice + 1] - transition_offsets[choice]
            for transition in range(transition_offsets[choice], transition_offsets[choice + 1]):
                reached = following_jit(
                    probabilities[transition], successors[transition], changed, left, num_states
                )
                if numbers[reached] < 0:
                    numbers[reached] = found
                    codes[found] = reached
                    found += 1
        if heard != members and stop > start:
            return int(node)
        if taken > 1 and not is_free:
            throws += taken
            num_transitions += taken
            rows += 1
        node += 1
    sizes[NODES] = found
    sizes[THROWS] = throws
    sizes[CHOICES] = rows
    sizes[TRANSITIONS] = num_transitions
    return ALL_MET


explore_jit = compiled(explore)


def lay_out(
    given: Given,
    shares: Floats,
    numbers: Integers,
    codes: Integers,
    num_nodes: int,
    new_choice_offsets: Integers,
    new_transition_offsets: Integers,
    new_successors: Integers,
    new_probabilities: Floats,
    sources: Integers,
    sides: Integers,
    thrown: Integers,
) -> None:
    """Write the process on the nodes that `explore` has found.

    If a policy takes several choices, the node has one choice, which leads to a throw for each of
    them with its probability; a throw has this choice alone.

    Parameters
    ----------
    given, numbers, codes
        As for `explore`, which has filled them.
    shares : (2 ** K,)
        The probability of each subset of a field of K members.
    num_nodes : int
    new_choice_offsets, new_transition_offsets, new_successors, new_probabilities
        The process: the nodes, followed by the throws.
    sources, sides : (choices,)
        The choice of the model behind each choice, -1 if it leads to throws; and whether the
        players' places are swapped there.
    thrown : (throws, 2)
        Working space for each throw: its choice, and the code of its node without the state.
    """
    choice_offsets, transition_offsets, successors, probabilities = given[:4]
    players, two, firsts, counts, weights = given[4:]
    num_states = len(choice_offsets) - 1
    throws = 0
    row = 0
    transition = 0
    for node in range(num_nodes):
        new_choice_offsets[node] = row
        state, changed, members = decoded_jit(codes[node], num_states)
        start = choice_offsets[state]
        stop = choice_offsets[state + 1]
        mover = players[state] ^ changed if two else players[state]
        is_free = counts[mover] == 0 or stop - start == 1
        first = firsts[mover]
        taken = 0
        if not is_free:
            for choice in range(start, stop):
                if staying_jit(choice, members, first, counts[mover], weights) > 0:
                    taken += 1
        if taken > 1:
            new_transition_offsets[row] = transition
            sources[row] = -1
            sides[row] = changed
            row += 1
            for choice in range(start, stop):
                left = staying_jit(choice, members, first, counts[mover], weights)
                if left == 0:
                    continue
                new_successors[transition] = num_nodes + throws
                if counts[mover] == 1:
                    new_probabilities[transition] = weights[first, choice]
                else:
                    new_probabilities[transition] = shares[left] / shares[members]
                thrown[throws, 0] = choice
                thrown[throws, 1] = (left - 1) * 2 + changed
                transition += 1
                throws += 1
            continue
        for choice in range(start, stop):
            left = members
            if not is_free:
                left = staying_jit(choice, members, first, counts[mover], weights)
                if left == 0:
                    continue
            new_transition_offsets[row] = transition
            sources[row] = choice
            sides[row] = changed
            row += 1
            for old in range(transition_offsets[choice], transition_offsets[choice + 1]):
                reached = following_jit(
                    probabilities[old], successors[old], changed, left, num_states
                )
                new_successors[transition] = numbers[reached]
                new_probabilities[transition] = abs(probabilities[old])
                transition += 1
    for throw in range(throws):
        choice = thrown[throw, 0]
        mode = thrown[throw, 1]
        new_choice_offsets[num_nodes + throw] = row
        new_transition_offsets[row] = transition
        sources[row] = choice
        sides[row] = mode & 1
        row += 1
        for old in range(transition_offsets[choice], transition_offsets[choice + 1]):
            change = 1 if probabilities[old] < 0.0 else 0
            reached = (mode ^ change) * num_states + successors[old]
            new_successors[transition] = numbers[reached]
            new_probabilities[transition] = abs(probabilities[old])
            transition += 1
    new_choice_offsets[num_nodes + throws] = row
    new_transition_offsets[row] = transition


lay_out_jit = compiled(lay_out)
