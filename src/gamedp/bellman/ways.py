"""Ways to end components: bounds of the best reachable average, and numbers that prove them.

Each maximal end component counts as one state, a node, where play may stay permanently; every
other state is a node of its own. Whatever is chosen, play finally stays somewhere or reaches a
terminal state, so that the best average is the only solution of

    x(n)  =  the best of: the gain, if n is an end component, and sum(P * x) for what leaves it,

and sweeps converge to it. They only propose values v, by policies. Then weights w are found with
``w >= 1/2 + sum(P * w)`` within a strongly connected component, for the choices that are nearly as
good as the best one: steps until these lead out of it. If no node misses its equation by more than
e / 2, ``v - e * w`` and ``v + e * w`` are bounds: the operator does not lower the first, nor raise
the second [1]_; the other choices are worse by more than e times a weight. Rounding
is allowed for as in :mod:`gamedp.bellman.average`.

Once it is known where play stays, `leave_totals` and `lead` find the rewards beyond the gains on
the way there.

The states are those of the model, in the order of its strongly connected components, successors
first: the nodes of each are connected, too.

References
----------
.. [1] D. Bertsekas, J. Tsitsiklis, "An analysis of stochastic shortest path problems", Mathematics
   of Operations Research 16 (1991), proposition 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gamedp.bellman.chains import REPEATS, STAY, Room, combine_jit, settle_jit
from gamedp.bellman.equation import ONE
from gamedp.runtime.floats import TINY, UNIT, UPWARD
from gamedp.runtime.jit import compiled, inlined

if TYPE_CHECKING:
    from gamedp.graph.graph import Graph
    from gamedp.runtime.arrays import Flags, Floats, Integers


NOTHING = -1
"""The end of a list; a state without a choice."""

TOO_LARGE_NUMBER = 2.0**1000
"""Size from which numbers are left to others: differences of larger ones may be infinite."""

FIRST_SWEEPS = 3
"""Number of sweeps that improve a policy before it is followed."""

NEARLY_BEST_SHARE = 2.0**-8
"""Part of the largest changes to which they must decrease for the policy to be nearly the best."""

FOLLOWING_SHARE = 2.0**-10
"""Part of its change to which following the policy then reduces the changes of a sweep."""

MARGIN = 2.0**-30
"""Smallest margin of biases on each step, relative to the largest numbers; not critical."""

MOST_MARGIN, ROOM = 2.0**-10, 2.0**10
"""Largest such margin, and its multiple of the tolerance, if sweeps find biases: more saves sweeps.
The margin is rounded with them, and that must stay small compared with the tolerance."""

ATTEMPTS = 3
"""Number of attempts to refine values until they are close enough for the steps of play."""


class Map(NamedTuple):
    """A model with its nodes: S states, C choices, T transitions, N nodes, K end components.

    The quotient of the model by its maximal end components. It is a separate type, not an
    :class:`~gamedp.bellman.equation.Equation` of N states: values belong to nodes, but sweeps,
    policies and rewards to the choices of the states within them. It therefore keeps both
    numberings, and no second graph has to be made; and it has no constants, as one map serves many.

    Attributes
    ----------
    order : (S,)
        The states by strongly connected component, successors first.
    offsets : (number of components + 1,)
        Component i is ``order[offsets[i]:offsets[i + 1]]``.
    node : (S,)
        The node of each state: below K for those of an end component.
    graph : Graph
    successor_nodes : (T,)
        The nodes that transitions lead to.
    probabilities : (T,)
    leaves : (C,)
        Whether a choice does not stay in an end component.
    """

    order: Integers
    offsets: Integers
    node: Integers
    graph: Graph
    successor_nodes: Integers
    probabilities: Floats
    leaves: Flags


def surround(start: int, stop: int, num_inner: int, ways: Map, gains: Floats,
             low: Floats, high: Floats, exits: Integers,
             nodes: Integers) -> tuple[int, float, float]:  # fmt: skip
    """Start with the bounds of all that a component leads to.

    Parameters
    ----------
    low, high : (N,)
        NaN for nodes that have no bounds yet.
    nodes : (N,)
        Filled with the nodes of the component.

    Returns
    -------
    count : int
        The number of its nodes.
    apart : float
        The largest distance of the bounds of anything that it leads to.
    best : float
        The largest lower bound of these.
    """
    graph = ways.graph
    least = np.inf
    most = best = -np.inf
    apart = 0.0
    for i in range(start, stop):
        state = ways.order[i]
        here = ways.node[state]
        if here < num_inner:
            least = min(least, gains[here, 0])
            most = max(most, gains[here, 1])
            best = max(best, gains[here, 0])
            apart = max(apart, gains[here, 1] - gains[here, 0])
        for choice in range(graph.choice_offsets[state], graph.choice_offsets[state + 1]):
            if ways.leaves[choice]:
                for t in range(
                    graph.transition_offsets[choice], graph.transition_offsets[choice + 1]
                ):
                    there = ways.successor_nodes[t]
                    if low[there] == low[there]:
                        least = min(least, low[there])
                        most = max(most, high[there])
                        best = max(best, low[there])
                        apart = max(apart, high[there] - low[there])
    count = start - start  # zero, but no literal, for which `solve` would be compiled as well
    for i in range(start, stop):
        state = ways.order[i]
        here = ways.node[state]
        if low[here] == low[here]:
            continue
        nodes[count] = here
        count += 1
        low[here] = least
        high[here] = most
        exits[here] = graph.choice_offsets[state]
        if here < num_inner:
            low[here] = gains[here, 0]
            exits[here] = STAY
        elif graph.choice_offsets[state] == graph.choice_offsets[state + 1]:
            low[here] = high[here] = 0.0  # a terminal state
            exits[here] = STAY
    return count, apart, best


surround_jit = inlined(surround)


def value(choice: int, offsets: Integers, nodes: Integers, probabilities: Floats,
          values: Floats) -> tuple[float, float]:  # fmt: skip
    """Return the expected value after a choice, and its rounding.

    Arrays are not read from a tuple, and numbers are unsigned: see :func:`.equation.backup`.
    """
    number = np.uintp(choice)
    first = np.uintp(offsets[number])
    last = np.uintp(offsets[number + ONE])
    # Relative to one of them, so that what all successors share is not rounded.
    base = values[np.uintp(nodes[first])]
    total = 0.0
    moved = 0.0
    far = 0.0
    for t in range(first + ONE, last):
        difference = values[np.uintp(nodes[t])] - base
        term = probabilities[t] * difference
        total += term
        moved += abs(term)
        far += abs(difference)
    slack = (float(last - first) + 10.0) * (UNIT * moved + TINY) + 4.0 * UNIT * abs(base + total)
    if far == 0.0:
        slack = 0.0
    return base + total, slack


value_jit = inlined(value)


def improve(start: int, stop: int, num_inner: int, ways: Map, active: Flags, extra: Floats,
            gains: Floats, values: Floats, exits: Integers, best: Floats) -> float:  # fmt: skip
    """Give each node of a component its best choice, and the value of that; return the change."""
    choice_offsets, order, node = ways.graph.choice_offsets, ways.order, ways.node
    offsets, successors = ways.graph.transition_offsets, ways.successor_nodes
    probabilities = ways.probabilities
    change = 0.0
    for i in range(start, stop):
        here = node[order[i]]
        if here < num_inner:
            best[here] = gains[here, 0]
            exits[here] = STAY
    for i in range(start, stop):
        state = order[i]
        here = node[state]
        first = choice_offsets[state]
        last = choice_offsets[state + 1]
        if first == last:
            continue
        own = chosen = exits[here]
        most = best[here] if here < num_inner else -np.inf
        for choice in range(first, last):
            if active[choice]:
                found, _ = value_jit(choice, offsets, successors, probabilities, values)
                total = extra[choice] + found
                # Of equally good choices, the current one stays.
                better = total > most or (choice == own and total == most)
                most = total if better else most
                chosen = choice if better else chosen
        best[here] = most
        exits[here] = chosen
        if here >= num_inner:
            moved = abs(best[here] - values[here])
            if not moved <= change:  # no number is passed on
                change = moved
            values[here] = best[here]
    for i in range(start, stop):
        here = node[order[i]]
        if here < num_inner:
            moved = abs(best[here] - values[here])
            if not moved <= change:  # no number is passed on
                change = moved
            values[here] = best[here]
    return change


improve_jit = inlined(improve)


def follow(count: int, nodes: Integers, offsets: Integers, successors: Integers,
           probabilities: Floats, extra: Floats, values: Floats, exits: Integers,
           deltas: Floats, weights: Floats) -> None:  # fmt: skip
    """Sweep along the policy, and extrapolate; the parameters are those of :func:`.chains.settle`.

    Parameters
    ----------
    deltas, weights : (REPEATS, N), (REPEATS,)
        Scratch.
    """
    for repeat in range(REPEATS):
        for i in range(count):
            here = nodes[i]
            delta = 0.0
            if exits[here] != STAY:
                found, _ = value_jit(exits[here], offsets, successors, probabilities, values)
                delta = extra[exits[here]] + found - values[here]
                values[here] += delta
            deltas[repeat, i] = delta
    if combine_jit(count, deltas, weights):
        for i in range(count):
            more = 0.0
            for repeat in range(1, REPEATS):
                more += weights[repeat] * deltas[repeat, i]
            values[nodes[i]] -= more


follow_jit = compiled(follow)


def solve(start: int, stop: int, count: int, nodes: Integers, num_inner: int, ways: Map,
          active: Flags, extra: Floats, gains: Floats, enough: float, budget: int,
          values: Floats, exits: Integers, best: Floats, room: Room) -> bool:  # fmt: skip
    """Find the best totals of a component by sweeps; return whether they converge.

    Parameters
    ----------
    count, nodes
        The nodes of the component.
    active : (C,)
        The choices that count.
    extra : (C,)
        Their rewards.
    gains : (K, 2)
        The first column: the value of staying in each end component.
    enough : float
        The change of a value that is small enough.
    budget : int
        Largest number of sweeps that improve the policy.
    values, exits : (N,)
        Initial values and exits; filled.
    best, room : (N,), Room
        Scratch.
    """
    offsets, successors = ways.graph.transition_offsets, ways.successor_nodes
    probabilities = ways.probabilities
    largest = 0.0
    for sweep in range(budget):
        change = improve_jit(
            start, stop, num_inner, ways, active, extra, gains, values, exits, best
        )
        if change <= enough:
            return True
        if change - change != 0.0:  # infinite, or no number
            return False
        largest = max(largest, change)
        if sweep >= FIRST_SWEEPS:
            closer = max(0.25 * enough, FOLLOWING_SHARE * change)
            if change > NEARLY_BEST_SHARE * largest or not settle_jit(
                count, nodes, offsets, successors, probabilities, extra, exits, closer, values, room
            ):
                follow_jit(count, nodes, offsets, successors, probabilities, extra, values, exits,
                           room.deltas, room.weights)  # fmt: skip
    return False


solve_jit = compiled(solve)


def look(start: int, stop: int, num_inner: int, ways: Map, gains: Floats, values: Floats,
         exits: Integers, margin: float, near: Flags) -> float:  # fmt: skip
    """Return the largest violation of the equation in a component, rounding included.

    Parameters
    ----------
    margin : float
    near : (C,)
        Filled: which choices are worse than the value of their node by no more than the margin.
    """
    graph = ways.graph
    offsets, successors = ways.graph.transition_offsets, ways.successor_nodes
    probabilities = ways.probabilities
    worst = 0.0
    for i in range(start, stop):
        state = ways.order[i]
        here = ways.node[state]
        if here < num_inner:
            worst = max(worst, gains[here, 0] - values[here])
            if exits[here] == STAY:
                worst = max(worst, values[here] - gains[here, 0])
        for choice in range(graph.choice_offsets[state], graph.choice_offsets[state + 1]):
            near[choice] = False
            if ways.leaves[choice]:
                found, slack = value_jit(choice, offsets, successors, probabilities, values)
                near[choice] = found + slack >= values[here] - margin
                worst = max(worst, found - values[here] + slack)
                if choice == exits[here]:
                    worst = max(worst, values[here] - found + slack)
    return worst


look_jit = inlined(look)


def approach(num_inner: int, ways: Map, gains: Floats, tolerance: float, budget: int,
             low: Floats, high: Floats, exits: Integers, extra: Floats, zeros: Floats,
             near: Flags, nodes: Integers, numbers: Floats, room: Room) -> bool:  # fmt: skip
    """Find bounds of the best average; return whether they are close enough.

    Parameters
    ----------
    num_inner : int
        The number of end components (K).
    gains : (K, 2)
        Bounds of their gains.
    tolerance : float
        How much wider the bounds of a component may be than those of what it leads to.
    budget : int
        Largest number of sweeps over a component.
    low, high : (N,)
        Filled.
    exits : (N,)
        Filled with a policy for which `low` holds: choices that lead on, or `STAY`.
    extra, zeros, near : (2, C), (K, 2), (C,)
        Scratch.
    nodes, numbers, room : (2, N), (2, N), Room
        Scratch.
    """
    nodes, others = nodes[0], nodes[1]  # unpacked, their layout would not be known
    steps, best = numbers[0], numbers[1]
    for here in range(len(low)):
        low[here] = np.nan  # without bounds
        steps[here] = 0.0
    for part in range(num_inner):
        zeros[part, 0] = 0.0
    for choice in range(len(near)):
        extra[0, choice] = 0.0
        extra[1, choice] = 1.0
    offsets, successors = ways.graph.transition_offsets, ways.successor_nodes
    probabilities = ways.probabilities
    for number in range(len(ways.offsets) - 1):
        start = ways.offsets[number]
        stop = ways.offsets[number + 1]
        count, apart, top = surround_jit(
            start, stop, num_inner, ways, gains, low, high, exits, nodes
        )
        width = 0.0
        least = np.inf
        for i in range(count):
            width = max(width, high[nodes[i]] - low[nodes[i]])
            least = min(least, low[nodes[i]])
        if width <= apart:
            continue
        most = high[nodes[0]]
        if not max(abs(least), abs(most)) < TOO_LARGE_NUMBER:
            return False
        for i in range(count):
            low[nodes[i]] = top  # from most of them, nearly the best is reached
        error = np.inf
        size = 0.0
        enough = 2.0**-8 * tolerance
        for attempt in range(ATTEMPTS):
            if not solve_jit(start, stop, count, nodes, num_inner, ways, ways.leaves, extra[0],
                             gains, enough, budget, low, exits, best, room):  # fmt: skip
                return False
            error = look_jit(start, stop, num_inner, ways, gains, low, exits, 2.0 * tolerance, near)
            size = 0.0
            for i in range(count):
                size = max(size, abs(low[nodes[i]]))
                others[nodes[i]] = exits[nodes[i]]
            settle_jit(count, nodes, offsets, successors, probabilities, extra[1], others, 0.0625,
                       steps, room)  # fmt: skip
            if not solve_jit(start, stop, count, nodes, num_inner, ways, near, extra[1],
                             zeros, 0.25, budget, steps, others, best, room):  # fmt: skip
                return False
            longest = 1.0
            for i in range(count):
                longest = max(longest, steps[nodes[i]])
            if error > 0.0:  # a part of what comes is rounded off
                error = 2.0 * error * UPWARD + 16.0 * UNIT * (size + apart)
            if 2.0 * error * longest <= tolerance:
                break
            if attempt == ATTEMPTS - 1:
                return False
            enough = min(2.0**-5 * tolerance / longest, 0.25 * enough)
        for i in range(count):
            here = nodes[i]
            off = error * steps[here] * UPWARD
            upper = low[here] + apart + off
            lower = low[here] - off
            if not upper - lower < TOO_LARGE_NUMBER:  # also if one of them is no number
                return False
            if off > 0.0 or apart > 0.0:
                upper += 4.0 * UNIT * (size + apart)
            if off > 0.0:
                lower -= 4.0 * UNIT * (size + apart)
            low[here] = max(lower, least)
            high[here] = min(upper, most)
            steps[here] = 0.0
    return True


approach_jit = compiled(approach)


def arrive(choice_offsets: Integers, part: Graph, offsets: Integers, states: Integers,
           choices: Integers, within: Integers, policy: Integers, stays: Flags, places: Integers,
           lists: Integers) -> None:  # fmt: skip
    """Complete a policy in the end components: where it stays, and on the way out of the others.

    From the other states of a component, it goes towards the one where the component is left, by
    as few steps as may do: the policy that earns the gain might stay for ever.

    Parameters
    ----------
    choice_offsets : (S + 1,)
    part, offsets, states, choices
        The end components, M states, with their own numbers: see
        :class:`gamedp.solvers.tools.end_components.EndComponents`.
    within : (M,)
        The policy that earns the gain, by the numbers of their own.
    policy : (S,)
        In an end component the choice that leaves it, or `STAY`: replaced.
    stays : (S,)
        False. Filled: where play stays permanently.
    places, lists : (2, M), (3, their transitions)
        Scratch.
    """
    last, queue = places[0], places[1]
    before, sources, taken = lists[0], lists[1], lists[2]
    for number in range(len(offsets) - 1):
        start, stop = offsets[number], offsets[number + 1]
        leaving = policy[states[start]]
        for i in range(start, stop):
            state = states[i]
            last[i] = NOTHING
            policy[state] = NOTHING
            if leaving == STAY:
                policy[state] = choices[within[i]]
                stays[state] = True
            elif choice_offsets[state] <= leaving < choice_offsets[state + 1]:
                policy[state] = leaving
                queue[0] = i
        if leaving == STAY:
            continue
        for i in range(start, stop):
            for choice in range(part.choice_offsets[i], part.choice_offsets[i + 1]):
                for t in range(
                    part.transition_offsets[choice], part.transition_offsets[choice + 1]
                ):
                    there = part.successors[t]
                    before[t], sources[t], taken[t] = last[there], i, choice
                    last[there] = t
        head, waiting = 0, 1
        while head < waiting:
            t = last[queue[head]]
            head += 1
            while t != NOTHING:
                state = states[sources[t]]
                if policy[state] == NOTHING:
                    policy[state] = choices[taken[t]]
                    queue[waiting] = sources[t]
                    waiting += 1
                t = before[t]


arrive_jit = compiled(arrive)


def margin_of(rewards: Floats, gains: Floats, values: Floats, tolerance: float) -> float:
    """Return how much biases gain or lose on each step to make up for their rounding."""
    size = TINY
    for reward in rewards:
        size = max(size, abs(reward))
    for state in range(len(gains)):
        size = max(size, abs(gains[state]), abs(values[state]))
    return max(MARGIN * size, min(MOST_MARGIN * size, ROOM * tolerance))


margin_of_jit = inlined(margin_of)


def leave_totals(num_inner: int, ways: Map, rewards: Floats, sign: float, gains: Floats,
                 values: Floats, tolerance: float, budget: int, extra: Floats, zeros: Floats,
                 constants: Floats, exits: Integers, nodes: Integers, best: Floats,
                 room: Room) -> bool:  # fmt: skip
    """Find the largest total beyond the gains until play stays; return whether it is found.

    Parameters
    ----------
    rewards : (C,)
        Multiplied by `sign`, they are maximised.
    gains, values : (S,)
        Gains of the states, and potentials.
    tolerance : float
        Of the gains; the amount added on each step is small beside it.
    budget : int
        Largest number of sweeps over a component.
    extra, zeros : (C,), (K, 2)
        Scratch.
    constants : (N,)
        Filled: the amount to add to the potentials of a node.
    exits, nodes, best, room : (N,), (N,), (N,), Room
        Scratch.
    """
    graph = ways.graph
    offsets, successors = graph.transition_offsets, graph.successors
    probabilities = ways.probabilities
    margin = margin_of_jit(rewards, gains, values, tolerance)
    for part in range(num_inner):
        zeros[part, 0] = 0.0
    for here in range(len(constants)):
        constants[here] = np.nan
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
         tolerance: float, budget: int, biases: Floats, extra: Floats, states: Integers,
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
    tolerance : float
        Of the gains; the amount subtracted on each step is small beside it.
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
    margin = margin_of_jit(rewards, gains, biases, tolerance)
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
