"""Ranks for certificates: numbers that fall on the way to where nothing is left to be shown.

Both bounds of a state are ranked, the lower one on side 0 and the upper one on side 1: a node is
``side * S + state``. Both are turned into lower bounds, so that one rule does for both. A step on
which the players change places leads to the other side. Nodes belong to a helper, for whom one
good choice is enough, or to an opponent, all of whose choices must be good.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gamedp.kernels.jit import compiled
from gamedp.kernels.rounding import TINY, UNIT

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers = npt.NDArray[np.signedinteger[Any]]
    Floats = npt.NDArray[np.float64]
    Flags = npt.NDArray[np.bool_]

NONE = -1

ULPS = 2.0**-51
ROUGH = 1.5 * 2.0**26
"""To add and take off again leaves a multiple of 2**-26."""
MOST_UNSURE = 2.0**-20
"""More than probabilities of a distribution may be off, as a part of them."""
LEAST_MISS = 2.0**-60
"""What is missed at least where something is."""
FAINT = 2.0**-1070
"""What a product or a probability may lose where numbers end, as the checker counts it."""


class Graph(NamedTuple):
    """A model, seen from both bounds: S states, C choices, T transitions.

    Attributes
    ----------
    choice_offsets, transition_offsets, successors, probabilities
        As in :class:`gamedp.Model`.
    owners : (C,)
        The state of each choice.
    helps : (2, S) bool
        Whether the mover of a node is its helper.
    rewards : (2, C)
        What choices earn, turned.
    """

    choice_offsets: Integers
    transition_offsets: Integers
    successors: Integers
    probabilities: Floats
    owners: Integers
    helps: Flags
    rewards: Floats


def turn_round(graph: Graph, offsets: Integers, sources: Integers) -> None:
    """Find the choices that may lead to each state, ``-1 - choice`` for a change of places.

    Those that lead to state s are ``sources[offsets[s]:offsets[s + 1]]``; `offsets` are S + 1
    zeros at first. Without changes of places, the structure of a model has the same.
    """
    num_states = len(offsets) - 1
    for t in range(len(graph.successors)):
        offsets[graph.successors[t] + 1] += 1
    for state in range(num_states):
        offsets[state + 1] += offsets[state]
    for choice in range(len(graph.owners)):
        for t in range(graph.transition_offsets[choice], graph.transition_offsets[choice + 1]):
            target = graph.successors[t]
            sources[offsets[target]] = choice if graph.probabilities[t] > 0.0 else -1 - choice
            offsets[target] += 1
    for state in range(num_states, 0, -1):
        offsets[state] = offsets[state - 1]
    offsets[0] = 0


turn_round_jit = compiled(turn_round)


def spread(
    graph: Graph,
    offsets: Integers,
    sources: Integers,
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
    offsets, sources
        What :func:`turn_round` has filled.
    good : (2, C) bool
        The choices that count.
    queue : (2 S,)
        Room for all nodes.
    seen : (2, C) bool
        The opponents' choices that may lead to a rank already.
    waiting : (2, S)
        How many choices of an opponent's node do not yet.
    ranks : (2, S)
        NONE for nodes without.
    via : (2, S)
        The choice by which a node got its rank.

    Returns
    -------
    last : int
        How many nodes are in the queue in the end.
    """
    num_states = len(offsets) - 1
    while first < last:
        there = queue[first] // num_states
        target = queue[first] - there * num_states
        rank = ranks[there, target] + 1
        first += 1
        for place in range(offsets[target], offsets[target + 1]):
            choice = sources[place]
            side = there
            if choice < 0:
                choice = -1 - choice
                side = 1 - there
            state = graph.owners[choice]
            if ranks[side, state] != NONE or not good[side, choice]:
                continue
            if not graph.helps[side, state]:
                if seen[side, choice]:
                    continue
                seen[side, choice] = True
                waiting[side, state] -= 1
                if waiting[side, state] > 0:
                    continue
            ranks[side, state] = rank
            via[side, state] = choice
            queue[last] = side * num_states + state
            last += 1
    return last


spread_jit = compiled(spread)


def descend(
    graph: Graph, forward: bool, good: Flags, candidates: Flags, ranks: Integers, via: Integers
) -> int:
    """Rank nodes that lead to a rank by good choices, each by the first that does; say how many.

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
    count = 0
    num_states = len(graph.choice_offsets) - 1
    for place in range(num_states):
        state = place if forward else num_states - 1 - place
        for side in range(2):
            if ranks[side, state] != NONE or not candidates[side, state]:
                continue
            helps = graph.helps[side, state]
            rank = NONE
            by = NONE
            for choice in range(graph.choice_offsets[state], graph.choice_offsets[state + 1]):
                least = NONE
                if good[side, choice]:
                    start = graph.transition_offsets[choice]
                    for t in range(start, graph.transition_offsets[choice + 1]):
                        there = side if graph.probabilities[t] > 0.0 else 1 - side
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
                ranks[side, state] = rank
                via[side, state] = by
                count += 1
    return count


descend_jit = compiled(descend)


def look_ahead(
    choice: int, side: int, graph: Graph, ranked: Flags, inside: Flags, gains: Integers
) -> tuple[bool, bool, int]:
    """Say whether a choice may lead to a ranked node, surely stays inside, and its least gain."""
    leads = False
    stays = True
    least = np.iinfo(np.int64).max
    for t in range(graph.transition_offsets[choice], graph.transition_offsets[choice + 1]):
        there = side if graph.probabilities[t] > 0.0 else 1 - side
        target = graph.successors[t]
        if ranked[there, target]:
            leads = True
        if not inside[there, target]:
            stays = False
        gain = gains[there, target]
        if gain != NONE and gain < least:
            least = gain
    return leads, stays, least


look_ahead_jit = compiled(look_ahead)


def keep_inside(
    graph: Graph, order: Integers, good: Flags, ranked: Flags, inside: Flags, gains: Integers
) -> bool:
    """Take out of a set the nodes that neither lead to a rank nor stay inside; say whether any.

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
    changed = False
    for side in range(2):
        for place in range(len(order)):
            state = order[place]
            if not inside[side, state]:
                continue
            helps = graph.helps[side, state]
            keeps = not helps
            for choice in range(graph.choice_offsets[state], graph.choice_offsets[state + 1]):
                leads, stays, _ = look_ahead_jit(choice, side, graph, ranked, inside, gains)
                does = (leads or stays) and good[side, choice]
                if does == helps:
                    keeps = helps
                    break
            if not keeps:
                inside[side, state] = False
                changed = True
    return changed


keep_inside_jit = compiled(keep_inside)


def find_gains(
    graph: Graph,
    order: Integers,
    good: Flags,
    ranked: Flags,
    content: Flags,
    inside: Flags,
    gains: Integers,
    via: Integers,
) -> bool:
    """Set the gains of a set: how far it is to where something is earned; say whether there are.

    Choices lead to a rank, or stay inside and earn something or are those of a node that is
    content, or stay, lose nothing, and may lead to a node that has a number. `gains` are NONE for
    nodes without, and `via` are set to the choices that give a helper's nodes their numbers.
    """
    changed = False
    most = np.iinfo(np.int64).max
    for side in range(2):
        for place in range(len(order)):
            state = order[place]
            if not inside[side, state] or gains[side, state] != NONE:
                continue
            helps = graph.helps[side, state]
            number = most if helps else 0
            by = NONE
            for choice in range(graph.choice_offsets[state], graph.choice_offsets[state + 1]):
                leads, stays, least = look_ahead_jit(choice, side, graph, ranked, inside, gains)
                its_number = most
                if leads or (stays and graph.rewards[side, choice] > 0.0):
                    its_number = 0
                elif stays and graph.rewards[side, choice] == 0.0:
                    if content[side, state]:
                        its_number = 0
                    elif least < most:
                        its_number = least + 1
                if not good[side, choice]:
                    its_number = most
                if helps and its_number < number:
                    number = its_number
                    by = choice
                elif not helps:
                    number = max(number, its_number)
            if number < most:
                gains[side, state] = number
                via[side, state] = by
                changed = True
    return changed


find_gains_jit = compiled(find_gains)


def worth(
    choice: int, side: int, graph: Graph, bounds: Floats, constant: float, discount: float
) -> float:
    """Return what a choice is worth at least by the bounds of its successors.

    Around the mean of the bounds, so that nothing is lost where they are equal.
    """
    first = graph.transition_offsets[choice]
    last = graph.transition_offsets[choice + 1]
    least = np.inf
    most = -np.inf
    mean = 0.0
    for t in range(first, last):
        bound = bounds[side, graph.successors[t]]
        if graph.probabilities[t] < 0.0:
            bound = constant + bounds[1 - side, graph.successors[t]]
            if constant != 0.0:
                bound -= 2.0**-52 * abs(bound)
        if bound < least:
            least = bound
        if bound > most:
            most = bound
        mean += abs(graph.probabilities[t]) * bound
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
        bound = bounds[side, graph.successors[t]]
        if graph.probabilities[t] < 0.0:
            bound = constant + bounds[1 - side, graph.successors[t]]
            if constant != 0.0:
                bound -= 2.0**-52 * abs(bound)
        term = abs(graph.probabilities[t]) * (bound - mean)
        rest += term
        size += abs(term)
    slack = (last - first + 8) * UNIT * size
    if least < most:
        slack += (last - first) * TINY
    base = discount * mean
    reward = graph.rewards[side, choice]
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


worth_jit = compiled(worth)


class Judged(NamedTuple):
    """What :func:`judge` finds of the choices of both sides.

    Attributes
    ----------
    misses : (2, C)
        By which part of the bounds a choice may miss its inequality: 0 if it surely does not.
    doubtful : (2, C) bool
        Those that rounding leaves open.
    best : (2, S)
        The choice that seems to be worth the most; NONE where there is none.
    """

    misses: Floats
    doubtful: Flags
    best: Integers


def unsure_part(choice: int, graph: Graph) -> float:
    """Return the part of each probability of a choice by which it may be off, as the checker."""
    first = graph.transition_offsets[choice]
    last = graph.transition_offsets[choice + 1]
    if last - first == 1 and abs(graph.probabilities[first]) == 1.0:
        return ULPS
    excess = -1.0
    rest = 0.0
    for t in range(first, last):
        chance = abs(graph.probabilities[t])
        coarse = (chance + ROUGH) - ROUGH
        excess += coarse
        rest += chance - coarse
    count = float(last - first)
    return max(ULPS, abs(excess + rest) * (1.0 + 2.0**-19) + count * count * 2.0**-79)


unsure_part_jit = compiled(unsure_part)


def half(number: float) -> float:
    """Return the first half of the digits of a number (Veltkamp)."""
    scaled = (2.0**27 + 1.0) * number
    return scaled - (scaled - number)


half_jit = compiled(half)


def wanted(bound: float, reward: float, discount: float) -> tuple[float, float, float]:
    """Return what the mean after a choice has to be, as `mean` and `rest`, and the size of that."""
    target = bound - reward
    back = target - bound
    rest = (bound - (target - back)) - (reward + back)
    if discount == 1.0:
        return target, rest, abs(rest)
    mean = target / discount
    product = discount * mean
    high = half_jit(discount)
    low = discount - high
    other_high = half_jit(mean)
    other_low = mean - other_high
    lost = (high * other_high - product) + high * other_low + low * other_high + low * other_low
    gap = target - product
    size = abs(gap) + abs(rest) + abs(lost)
    rest = gap + rest - lost
    if not 2.0**-900 < abs(product) < 2.0**900 and mean != 0.0:
        rest += 2.0**-52 * abs(product) + FAINT
    return mean, rest, size


wanted_jit = compiled(wanted)


def sums(
    choice: int, graph: Graph, bounds: Floats, one: float, other: float
) -> tuple[float, float, float, float]:
    """Return the mean of the bounds after a choice less `one` and `other`, and the sizes summed."""
    rest = 0.0
    size = 0.0
    other_rest = 0.0
    other_size = 0.0
    for t in range(graph.transition_offsets[choice], graph.transition_offsets[choice + 1]):
        chance = graph.probabilities[t]
        target = graph.successors[t]
        bound = bounds[target, 0]
        other_bound = bounds[target, 1]
        if chance < 0.0:
            chance = -chance
            bound = bounds[target, 2]
            other_bound = bounds[target, 3]
        term = chance * (bound - one)
        rest += term
        size += abs(term)
        term = chance * (other_bound - other)
        other_rest += term
        other_size += abs(term)
    return rest, size, other_rest, other_size


sums_jit = compiled(sums)


def extremes(choice: int, side: int, graph: Graph, bounds: Floats) -> tuple[float, float]:
    """Return the least and the greatest bound that may follow."""
    least = np.inf
    most = -np.inf
    for t in range(graph.transition_offsets[choice], graph.transition_offsets[choice + 1]):
        column = side if graph.probabilities[t] > 0.0 else 2 + side
        bound = bounds[graph.successors[t], column]
        least = min(least, bound)
        most = max(most, bound)
    return least, most


extremes_jit = compiled(extremes)


def judge(
    graph: Graph,
    bounds: Floats,
    discount: float,
    missing_counts: Flags,
    is_rounded: bool,
    judged: Judged,
) -> None:
    """Find the choices that keep the bounds, as the checker's first look does, but compiled.

    Nothing rests on it: what comes of it is checked.

    Parameters
    ----------
    bounds : (S, 4)
        Of both sides; and those that count after a change of places, rounded down.
    missing_counts : (2,) bool
        Whether to miss a target is worth plus infinity, whatever else may come.
    is_rounded : bool
        Whether the latter are rounded.
    judged : Judged
        Filled.
    """
    least_short = np.empty(2)
    short = np.empty(2)
    size = np.empty(2)
    mean = np.empty(2)
    rest = np.empty(2)
    blur = np.empty(2)
    for state in range(len(graph.choice_offsets) - 1):
        for side in range(2):
            judged.best[side, state] = NONE
        for choice in range(graph.choice_offsets[state], graph.choice_offsets[state + 1]):
            for side in range(2):
                mean[side], rest[side], blur[side] = wanted_jit(
                    bounds[state, side], graph.rewards[side, choice], discount
                )
            short[0], size[0], short[1], size[1] = sums_jit(choice, graph, bounds, mean[0], mean[1])
            count = graph.transition_offsets[choice + 1] - graph.transition_offsets[choice]
            part = -1.0
            for side in range(2):
                bound = bounds[state, side]
                doubtful = False
                if abs(bound) < np.inf and size[side] < np.inf:
                    total = discount * short[side]
                    missed = rest[side] - total
                    slack = ((count + 2) * UNIT + MOST_UNSURE) * size[side]
                    blurred = 2.0**-49 * (blur[side] + abs(total) + slack)
                    if abs(missed) <= slack + blurred:
                        if part < 0.0:
                            part = unsure_part_jit(choice, graph)
                        slack = ((count + 2) * UNIT + part) * size[side] * (1.0 + 2.0**-20)
                        blurred = 2.0**-50 * (blur[side] + abs(total) + slack)
                    if size[side] > 0.0 and (size[side] < 1e-280 or abs(bound) < 1e-280):
                        blurred += count * FAINT * (1.0 + size[side])
                    off = slack + blurred
                    up = ULPS * (abs(mean[side]) + size[side]) if is_rounded else 0.0
                    doubtful = -off < missed <= off + up
                    missed += off
                else:
                    least, most = extremes_jit(choice, side, graph, bounds)
                    lost = least == -np.inf and not (most == np.inf and missing_counts[side])
                    missed = np.inf if lost else -np.inf
                    if not lost and most < np.inf:
                        doubtful = abs(bound) < np.inf  # too large to be added
                        missed = np.inf
                    if bound == np.inf:
                        missed = -np.inf
                scale = max(abs(bound), abs(mean[side]))
                judged.doubtful[side, choice] = doubtful
                if missed <= 0.0:
                    judged.misses[side, choice] = 0.0
                elif missed < np.inf and scale > 0.0:
                    judged.misses[side, choice] = max((missed - TINY) / scale, LEAST_MISS)
                else:
                    judged.misses[side, choice] = LEAST_MISS if missed <= TINY else np.inf
                if judged.best[side, state] == NONE or missed < least_short[side]:
                    least_short[side] = missed
                    judged.best[side, state] = choice


judge_jit = compiled(judge)


def relax(
    graph: Graph,
    forward: bool,
    offsets: Integers,
    sources: Integers,
    via: Integers,
    active: Flags,
    constants: Floats,
    discount: float,
    dirty: Flags,
    bounds: Floats,
) -> int:
    """Lower bounds to what their choices are worth, once each; return how many were too high.

    Parameters
    ----------
    forward : bool
        Whether to go through the states by their numbers, or the other way.
    offsets, sources
        What :func:`turn_round` has filled.
    via : (2, S)
        The choice that a helper's node keeps to.
    active : (2, S) bool
        The nodes that have an inequality.
    constants : (2,)
        What a change of places takes the value from, turned.
    dirty : (2, S) bool
        The nodes to look at; changed in place to those for which something has changed since.
    bounds : (2, S)
        Changed in place.
    """
    count = 0
    num_states = len(graph.choice_offsets) - 1
    for place in range(num_states):
        state = place if forward else num_states - 1 - place
        for side in range(2):
            if not dirty[side, state]:
                continue
            dirty[side, state] = False
            if not active[side, state]:
                continue
            bound = bounds[side, state]
            for choice in range(graph.choice_offsets[state], graph.choice_offsets[state + 1]):
                if graph.helps[side, state] and choice != via[side, state]:
                    continue
                its_worth = worth_jit(choice, side, graph, bounds, constants[side], discount)
                if its_worth < bound:
                    bound = its_worth
            if bound < bounds[side, state]:
                bounds[side, state] = bound
                count += 1
                for other in range(offsets[state], offsets[state + 1]):
                    choice = sources[other]
                    if choice >= 0:
                        dirty[side, graph.owners[choice]] = True
                    else:
                        dirty[1 - side, graph.owners[-1 - choice]] = True
    return count


relax_jit = compiled(relax)
