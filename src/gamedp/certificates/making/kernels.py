"""Kernels of certificates: ranks that fall towards states that need no proof, and the first look.

Both bounds of a state are ranked, the lower one as direction 0, the upper one as direction 1: a
node is ``direction * S + state``. Both are oriented to be lower bounds, so one rule serves
both. A step on which the players change places leads to the other direction. Nodes belong to a
helper, for whom one good choice is enough, or to an opponent, all of whose choices must be good.

The equation is oriented both ways: its `maximise`, (2, S), says whether the mover of a node is
its helper, and its `constants`, (2, C), are what choices earn, without shares of the constant sum.

The first look finds the choices that keep their bounds, and by how much the others miss them. No
proof rests on it, as the checker repeats it; but it should find the same as the checker.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gamedp.runtime.floats import TINY, UNIT
from gamedp.runtime.jit import compiled, inlined

if TYPE_CHECKING:
    from gamedp.bellman.equation import Equation
    from gamedp.graph.graph import Reverse
    from gamedp.runtime.arrays import Flags, Floats, Integers


NONE = -1

ULPS = 2.0**-51
ROUGH = 1.5 * 2.0**26
"""Adding and subtracting it leaves a multiple of 2**-26."""
MOST_UNSURE = 2.0**-20
"""Upper bound of the relative error of the probabilities of a distribution."""
LEAST_MISS = 2.0**-60
"""Least miss that counts."""
FAINT = 2.0**-1070
"""Bound of what a product or a probability may lose to underflow, as in the checker."""


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

    One sweep, as that of :func:`rank_in_order`; in the order of the equation, if that has one.

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
    order = equation.order
    for place in range(num_states):
        state = place if forward else num_states - 1 - place
        if len(order) > 0:
            state = order[state]
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


class ChoiceMisses(NamedTuple):
    """The results of :func:`look` for the choices, in both directions.

    Attributes
    ----------
    misses : (2, C)
        By which part of the bounds a choice may miss its inequality: 0 if it surely does not.
    undecided : (2, C) bool
        Those that rounding leaves open.
    best : (2, S)
        The choice that seems to have the largest value; NONE where there is none.
    """

    misses: Floats
    undecided: Flags
    best: Integers


def unsure_part(choice: int, equation: Equation) -> float:
    """Return the relative error bound of each probability of a choice, as the checker does."""
    graph = equation.graph
    first = graph.transition_offsets[choice]
    last = graph.transition_offsets[choice + 1]
    if last - first == 1 and abs(equation.probabilities[first]) == 1.0:
        return ULPS
    excess = -1.0
    rest = 0.0
    for t in range(first, last):
        probability = abs(equation.probabilities[t])
        coarse = (probability + ROUGH) - ROUGH
        excess += coarse
        rest += probability - coarse
    count = float(last - first)
    return max(ULPS, abs(excess + rest) * (1.0 + 2.0**-19) + count * count * 2.0**-79)


unsure_part_jit = compiled(unsure_part)


def half(number: float) -> float:
    """Return the first half of the digits of a number (Veltkamp)."""
    scaled = (2.0**27 + 1.0) * number
    return scaled - (scaled - number)


half_jit = inlined(half)


def wanted(bound: float, reward: float, discount: float) -> tuple[float, float, float]:
    """Return the mean that a choice must reach, as `mean` and `rest`, and its size."""
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


wanted_jit = inlined(wanted)


def sums(
    choice: int, equation: Equation, bounds: Floats, one: float, other: float
) -> tuple[float, float, float, float]:
    """Return the mean of the bounds after a choice less `one` and `other`, and the sizes summed."""
    graph = equation.graph
    rest = 0.0
    size = 0.0
    other_rest = 0.0
    other_size = 0.0
    for t in range(graph.transition_offsets[choice], graph.transition_offsets[choice + 1]):
        probability = equation.probabilities[t]
        successor = graph.successors[t]
        bound = bounds[successor, 0]
        other_bound = bounds[successor, 1]
        if probability < 0.0:
            probability = -probability
            bound = bounds[successor, 2]
            other_bound = bounds[successor, 3]
        term = probability * (bound - one)
        rest += term
        size += abs(term)
        term = probability * (other_bound - other)
        other_rest += term
        other_size += abs(term)
    return rest, size, other_rest, other_size


sums_jit = compiled(sums)


def extremes(
    choice: int, direction: int, equation: Equation, bounds: Floats
) -> tuple[float, float]:
    """Return the least and the greatest bound that may follow."""
    graph = equation.graph
    least = np.inf
    most = -np.inf
    for t in range(graph.transition_offsets[choice], graph.transition_offsets[choice + 1]):
        column = direction if equation.probabilities[t] > 0.0 else 2 + direction
        bound = bounds[graph.successors[t], column]
        least = min(least, bound)
        most = max(most, bound)
    return least, most


extremes_jit = compiled(extremes)


def look(
    equation: Equation,
    bounds: Floats,
    discount: float,
    missing_counts: Flags,
    is_rounded: bool,
    found: ChoiceMisses,
) -> None:
    """Find the choices that keep the bounds, as the checker's first look does, but compiled.

    No proof rests on it: its result is checked.

    Parameters
    ----------
    bounds : (S, 4)
        Of both directions; and those that count after a change of places, rounded down.
    missing_counts : (2,) bool
        Whether the value of missing a target is plus infinity in every case.
    is_rounded : bool
        Whether the latter are rounded.
    found : ChoiceMisses
        Filled.
    """
    graph = equation.graph
    least_short = np.empty(2)
    short = np.empty(2)
    size = np.empty(2)
    mean = np.empty(2)
    rest = np.empty(2)
    blur = np.empty(2)
    for state in range(len(graph.choice_offsets) - 1):
        for direction in range(2):
            found.best[direction, state] = NONE
        for choice in range(graph.choice_offsets[state], graph.choice_offsets[state + 1]):
            for direction in range(2):
                mean[direction], rest[direction], blur[direction] = wanted_jit(
                    bounds[state, direction], equation.constants[direction, choice], discount
                )
            short[0], size[0], short[1], size[1] = sums_jit(
                choice, equation, bounds, mean[0], mean[1]
            )
            count = graph.transition_offsets[choice + 1] - graph.transition_offsets[choice]
            part = -1.0
            for direction in range(2):
                bound = bounds[state, direction]
                undecided = False
                if abs(bound) < np.inf and size[direction] < np.inf:
                    total = discount * short[direction]
                    missed = rest[direction] - total
                    slack = ((count + 2) * UNIT + MOST_UNSURE) * size[direction]
                    blurred = 2.0**-49 * (blur[direction] + abs(total) + slack)
                    if size[direction] > 0.0 and abs(missed) <= slack + blurred:
                        if part < 0.0:
                            part = unsure_part_jit(choice, equation)
                        slack = ((count + 2) * UNIT + part) * size[direction] * (1.0 + 2.0**-20)
                        blurred = 2.0**-50 * (blur[direction] + abs(total) + slack)
                    if size[direction] > 0.0 and (size[direction] < 1e-280 or abs(bound) < 1e-280):
                        blurred += count * FAINT * (1.0 + size[direction])
                    off = slack + blurred
                    up = ULPS * (abs(mean[direction]) + size[direction]) if is_rounded else 0.0
                    undecided = -off < missed <= off + up
                    missed += off
                else:
                    least, most = extremes_jit(choice, direction, equation, bounds)
                    lost = least == -np.inf and not (most == np.inf and missing_counts[direction])
                    missed = np.inf if lost else -np.inf
                    if not lost and most < np.inf:
                        undecided = abs(bound) < np.inf  # too large to be added
                        missed = np.inf
                    if bound == np.inf:
                        missed = -np.inf
                scale = max(abs(bound), abs(mean[direction]))
                found.undecided[direction, choice] = undecided
                if missed <= 0.0:
                    found.misses[direction, choice] = 0.0
                elif missed < np.inf and scale > 0.0:
                    found.misses[direction, choice] = max((missed - TINY) / scale, LEAST_MISS)
                else:
                    found.misses[direction, choice] = LEAST_MISS if missed <= TINY else np.inf
                if found.best[direction, state] == NONE or missed < least_short[direction]:
                    least_short[direction] = missed
                    found.best[direction, state] = choice


look_jit = compiled(look)


def keeps(
    choice: int,
    direction: int,
    bound: float,
    equation: Equation,
    bounds: Floats,
    discount: float,
) -> bool:
    """Return whether a choice certainly keeps a finite bound of its state, as :func:`look` does."""
    graph = equation.graph
    first = graph.transition_offsets[choice]
    last = graph.transition_offsets[choice + 1]
    mean, rest, blur = wanted_jit(bound, equation.constants[direction, choice], discount)
    short = 0.0
    size = 0.0
    for t in range(first, last):
        probability = equation.probabilities[t]
        column = direction
        if probability < 0.0:
            probability = -probability
            column = 2 + direction
        term = probability * (bounds[graph.successors[t], column] - mean)
        short += term
        size += abs(term)
    if size == 0.0 and blur == 0.0:
        return True
    total = discount * short
    missed = rest - total
    slack = ((last - first + 2) * UNIT + MOST_UNSURE) * size
    blurred = 2.0**-49 * (blur + abs(total) + slack)
    if abs(missed) <= slack + blurred:
        slack = ((last - first + 2) * UNIT + unsure_part_jit(choice, equation)) * size
        slack *= 1.0 + 2.0**-20
        blurred = 2.0**-50 * (blur + abs(total) + slack)
    if size > 0.0 and (size < 1e-280 or abs(bound) < 1e-280):
        blurred += (last - first) * FAINT * (1.0 + size)
    return bool(missed + slack + blurred <= 0.0)


keeps_jit = inlined(keeps)


def look_along(
    equation: Equation,
    bounds: Floats,
    discount: float,
    required: Flags,
    via: Integers,
    fails: Flags,
) -> int:
    """Find the nodes whose bounds a policy may not keep; return their number.

    Parameters
    ----------
    bounds : (S, 4)
        As for :func:`look`.
    required : (2, S) bool
        The nodes with something to be shown.
    via : (2, S)
        A helper's choices. Where one does not surely keep the bound and another does, that one is
        put in its place.
    fails : (2, S) bool
        Filled.
    """
    graph = equation.graph
    count = 0
    for state in range(len(graph.choice_offsets) - 1):
        first = graph.choice_offsets[state]
        last = graph.choice_offsets[state + 1]
        for direction in range(2):
            fails[direction, state] = False
            if not required[direction, state]:
                continue
            helps = equation.maximise[direction, state]
            bound = bounds[state, direction]
            own = via[direction, state]
            if helps and keeps_jit(own, direction, bound, equation, bounds, discount):
                continue
            does = not helps
            for choice in range(first, last):
                if helps and choice == own:
                    continue
                if keeps_jit(choice, direction, bound, equation, bounds, discount) == helps:
                    does = helps
                    via[direction, state] = choice
                    break
            if not does:
                fails[direction, state] = True
                count += 1
    return count


look_along_jit = compiled(look_along)
