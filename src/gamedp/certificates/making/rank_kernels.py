"""Ranks for certificates: numbers that fall on the way to states that need no proof.

Both bounds of a state are ranked, the lower one as direction 0, the upper one as direction 1: a
node is ``direction * S + state``. Both are oriented to be lower bounds, so that one rule does for
both. A step on which the players change places leads to the other direction. Nodes belong to a
helper, for whom one good choice is enough, or to an opponent, all of whose choices must be good.

The equation is oriented both ways: its `maximise`, (2, S), says whether the mover of a node is
its helper, and its `constants`, (2, C), are what choices earn, without shares of the constant sum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.runtime.floats import TINY, UNIT
from gamedp.runtime.jit import compiled, inlined

if TYPE_CHECKING:
    import numpy.typing as npt

    from gamedp.bellman.equation import Equation
    from gamedp.graph.graph import Reverse

    Integers = npt.NDArray[np.signedinteger[Any]]
    Floats = npt.NDArray[np.float64]
    Flags = npt.NDArray[np.bool_]

NONE = -1


def spread(
    equation: Equation,
    reverse: Reverse,
    good: Flags,
    first: int,
    last: int,
    queue: Integers,
    seen: Flags,
    waiting: Integers,
    ranks: Integers,
    via: Integers,
) -> int:
    """Go backwards from the nodes ``queue[first:last]``, which have ranks, breadth first.

    A helper's node gets one more than the rank that its first good choice may lead to, an
    opponent's node one more than what the last of its choices may lead to.

    Parameters
    ----------
    reverse : Reverse
        With transitions on which the players change places distinguished.
    good : (2, C) bool
        The choices that count.
    queue : (2 S,)
        Room for all nodes.
    seen : (2, C) bool
        The opponents' choices that may lead to a rank already.
    waiting : (2, S)
        The number of choices of an opponent's node that do not yet.
    ranks : (2, S)
        NONE for nodes without.
    via : (2, S)
        The choice by which a node got its rank.

    Returns
    -------
    last : int
        The number of nodes in the queue at the end.
    """
    num_states = len(reverse.offsets) - 1
    while first < last:
        there = queue[first] // num_states
        successor = queue[first] - there * num_states
        rank = ranks[there, successor] + 1
        first += 1
        for place in range(reverse.offsets[successor], reverse.offsets[successor + 1]):
            choice = reverse.choices[place]
            direction = there
            if choice < 0:
                choice = -1 - choice
                direction = 1 - there
            state = reverse.owners[choice]
            if ranks[direction, state] != NONE or not good[direction, choice]:
                continue
            if not equation.maximise[direction, state]:
                if seen[direction, choice]:
                    continue
                seen[direction, choice] = True
                waiting[direction, state] -= 1
                if waiting[direction, state] > 0:
                    continue
            ranks[direction, state] = rank
            via[direction, state] = choice
            queue[last] = direction * num_states + state
            last += 1
    return last


spread_jit = compiled(spread)


def rank_in_order(
    equation: Equation,
    forward: bool,
    good: Flags,
    candidates: Flags,
    ranks: Integers,
    via: Integers,
) -> int:
    """Rank nodes by their first good choice that leads to a rank; return their number.

    One sweep, which is enough where the numbers of states tell how far they are from the end.

    Parameters
    ----------
    forward : bool
        Whether to go through the states by their numbers, or the other way.
    good : (2, C) bool
    candidates : (2, S) bool
        The nodes that may get a rank.
    ranks, via : (2, S)
        NONE for nodes without; filled.
    """
    graph = equation.graph
    count = 0
    num_states = len(graph.choice_offsets) - 1
    for place in range(num_states):
        state = place if forward else num_states - 1 - place
        for direction in range(2):
            if ranks[direction, state] != NONE or not candidates[direction, state]:
                continue
            helps = equation.maximise[direction, state]
            rank = NONE
            by = NONE
            for choice in range(graph.choice_offsets[state], graph.choice_offsets[state + 1]):
                least = NONE
                if good[direction, choice]:
                    start = graph.transition_offsets[choice]
                    for t in range(start, graph.transition_offsets[choice + 1]):
                        there = direction if equation.probabilities[t] > 0.0 else 1 - direction
                        after = ranks[there, graph.successors[t]]
                        if after != NONE:
                            least = after
                            break
                if least == NONE and not helps:
                    rank = NONE
                    break
                if least != NONE:
                    rank = max(rank, least + 1)
                    by = choice
                    if helps:
                        break
            if rank != NONE:
                ranks[direction, state] = rank
                via[direction, state] = by
                count += 1
    return count


rank_in_order_jit = compiled(rank_in_order)


def rank_along(
    equation: Equation, forward: bool, via: Integers, candidates: Flags, ranks: Integers
) -> int:
    """Rank nodes that lead to a rank by a policy for helpers; return their number.

    One sweep, as that of :func:`rank_in_order`.

    Parameters
    ----------
    via : (2, S)
        A helper's choices; an opponent may take any.
    candidates : (2, S) bool
        The nodes that are to get a rank; those that get one are taken out.
    ranks : (2, S)
        NONE for nodes without; filled.
    """
    graph = equation.graph
    count = 0
    num_states = len(graph.choice_offsets) - 1
    for place in range(num_states):
        state = place if forward else num_states - 1 - place
        for direction in range(2):
            if not candidates[direction, state]:
                continue
            first = graph.choice_offsets[state]
            last = graph.choice_offsets[state + 1]
            if equation.maximise[direction, state]:
                first = via[direction, state]
                last = first + 1
            rank = NONE
            for choice in range(first, last):
                least = NONE
                start = graph.transition_offsets[choice]
                for t in range(start, graph.transition_offsets[choice + 1]):
                    there = direction if equation.probabilities[t] > 0.0 else 1 - direction
                    least = ranks[there, graph.successors[t]]
                    if least != NONE:
                        break
                if least == NONE:
                    rank = NONE
                    break
                rank = max(rank, least + 1)
            if rank != NONE:
                ranks[direction, state] = rank
                candidates[direction, state] = False
                count += 1
    return count


rank_along_jit = compiled(rank_along)


def look_ahead(
    choice: int, direction: int, equation: Equation, ranked: Flags, inside: Flags, gains: Integers
) -> tuple[bool, bool, int]:
    """Return whether a choice may lead to a ranked node, whether it stays inside, and its gain."""
    graph = equation.graph
    leads = False
    stays = True
    least = np.iinfo(np.int64).max
    for t in range(graph.transition_offsets[choice], graph.transition_offsets[choice + 1]):
        there = direction if equation.probabilities[t] > 0.0 else 1 - direction
        successor = graph.successors[t]
        if ranked[there, successor]:
            leads = True
        if not inside[there, successor]:
            stays = False
        gain = gains[there, successor]
        if gain != NONE and gain < least:
            least = gain
    return leads, stays, least


look_ahead_jit = compiled(look_ahead)


def keep_inside(
    equation: Equation, order: Integers, good: Flags, ranked: Flags, inside: Flags, gains: Integers
) -> bool:
    """Remove nodes that neither lead to a rank nor stay inside; return whether there were any.

    Parameters
    ----------
    order : (S,)
        The states, most successors before what leads to them.
    good : (2, C) bool
    ranked : (2, S) bool
    inside : (2, S) bool
        The set, changed in place.
    gains : (2, S)
        Not used, all NONE.
    """
    graph = equation.graph
    changed = False
    for direction in range(2):
        for place in range(len(order)):
            state = order[place]
            if not inside[direction, state]:
                continue
            helps = equation.maximise[direction, state]
            keeps = not helps
            for choice in range(graph.choice_offsets[state], graph.choice_offsets[state + 1]):
                leads, stays, _ = look_ahead_jit(choice, direction, equation, ranked, inside, gains)
                does = (leads or stays) and good[direction, choice]
                if does == helps:
                    keeps = helps
                    break
            if not keeps:
                inside[direction, state] = False
                changed = True
    return changed


keep_inside_jit = compiled(keep_inside)


def find_gains(
    equation: Equation,
    order: Integers,
    good: Flags,
    ranked: Flags,
    content: Flags,
    inside: Flags,
    gains: Integers,
    via: Integers,
) -> bool:
    """Set the gains of a set, the distances to a reward; return whether there are any.

    Choices lead to a rank, or stay inside and earn something or are those of a node that is
    content, or stay, lose nothing, and may lead to a node that has a number. `gains` are NONE for
    nodes without, and `via` are set to the choices that give a helper's nodes their numbers.
    """
    graph = equation.graph
    changed = False
    most = np.iinfo(np.int64).max
    for direction in range(2):
        for place in range(len(order)):
            state = order[place]
            if not inside[direction, state] or gains[direction, state] != NONE:
                continue
            helps = equation.maximise[direction, state]
            number = most if helps else 0
            by = NONE
            for choice in range(graph.choice_offsets[state], graph.choice_offsets[state + 1]):
                leads, stays, least = look_ahead_jit(
                    choice, direction, equation, ranked, inside, gains
                )
                its_number = most
                if leads or (stays and equation.constants[direction, choice] > 0.0):
                    its_number = 0
                elif stays and equation.constants[direction, choice] == 0.0:
                    if content[direction, state]:
                        its_number = 0
                    elif least < most:
                        its_number = least + 1
                if not good[direction, choice]:
                    its_number = most
                if helps and its_number < number:
                    number = its_number
                    by = choice
                elif not helps:
                    number = max(number, its_number)
            if number < most:
                gains[direction, state] = number
                via[direction, state] = by
                changed = True
    return changed


find_gains_jit = compiled(find_gains)


def choice_bound(
    choice: int,
    direction: int,
    equation: Equation,
    bounds: Floats,
    constant: float,
    discount: float,
) -> float:
    """Return a lower bound of a choice from the bounds of its successors.

    Around the mean of the bounds, so that nothing is lost where they are equal.
    """
    graph = equation.graph
    first = graph.transition_offsets[choice]
    last = graph.transition_offsets[choice + 1]
    least = np.inf
    most = -np.inf
    mean = 0.0
    for t in range(first, last):
        bound = bounds[direction, graph.successors[t]]
        if equation.probabilities[t] < 0.0:
            bound = constant + bounds[1 - direction, graph.successors[t]]
            if constant != 0.0:
                bound -= 2.0**-52 * abs(bound)
        if bound < least:
            least = bound
        if bound > most:
            most = bound
        mean += abs(equation.probabilities[t]) * bound
    if least == -np.inf:
        return -np.inf
    if most == np.inf:
        return np.inf
    if mean < least:
        mean = least
    if mean > most:
        mean = most
    rest = 0.0
    size = 0.0
    for t in range(first, last):
        bound = bounds[direction, graph.successors[t]]
        if equation.probabilities[t] < 0.0:
            bound = constant + bounds[1 - direction, graph.successors[t]]
            if constant != 0.0:
                bound -= 2.0**-52 * abs(bound)
        term = abs(equation.probabilities[t]) * (bound - mean)
        rest += term
        size += abs(term)
    slack = (last - first + 8) * UNIT * size
    if least < most:
        slack += (last - first) * TINY
    base = discount * mean
    reward = equation.constants[direction, choice]
    if discount != 1.0:
        slack += 4.0 * UNIT * abs(base)
    total = reward + base
    part = total - reward
    lost = (reward - (total - part)) + (base - part)
    rest = discount * rest + lost
    if rest == 0.0 and slack == 0.0:
        return float(total)
    result = total + (rest - slack)
    return float(result - 2.0 * UNIT * (abs(result) + abs(total)) - TINY)


choice_bound_jit = inlined(choice_bound)


def relax(
    equation: Equation,
    forward: bool,
    reverse: Reverse,
    via: Integers,
    active: Flags,
    constants: Floats,
    discount: float,
    dirty: Flags,
    bounds: Floats,
) -> int:
    """Lower bounds to the values of their choices, once each; return the number of changes.

    Parameters
    ----------
    forward : bool
        Whether to go through the states by their numbers, or the other way.
    reverse : Reverse
        With transitions on which the players change places distinguished.
    via : (2, S)
        The choice that a helper's node keeps to.
    active : (2, S) bool
        The nodes that have an inequality.
    constants : (2,)
        The number from which a change of places subtracts the value, oriented.
    dirty : (2, S) bool
        The nodes to look at; changed in place to those for which something has changed since.
    bounds : (2, S)
        Changed in place.
    """
    graph = equation.graph
    count = 0
    num_states = len(graph.choice_offsets) - 1
    for place in range(num_states):
        state = place if forward else num_states - 1 - place
        for direction in range(2):
            if not dirty[direction, state]:
                continue
            dirty[direction, state] = False
            if not active[direction, state]:
                continue
            bound = bounds[direction, state]
            for choice in range(graph.choice_offsets[state], graph.choice_offsets[state + 1]):
                if equation.maximise[direction, state] and choice != via[direction, state]:
                    continue
                its_bound = choice_bound_jit(
                    choice, direction, equation, bounds, constants[direction], discount
                )
                if its_bound < bound:
                    bound = its_bound
            if bound < bounds[direction, state]:
                bounds[direction, state] = bound
                count += 1
                for other in range(reverse.offsets[state], reverse.offsets[state + 1]):
                    choice = reverse.choices[other]
                    if choice >= 0:
                        dirty[direction, reverse.owners[choice]] = True
                    else:
                        dirty[1 - direction, reverse.owners[-1 - choice]] = True
    return count


relax_jit = compiled(relax)
