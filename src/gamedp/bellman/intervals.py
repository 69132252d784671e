"""Two-sided bounds in every sweep of Bellman's operator, rounded outward.

Let T be Bellman's operator. If T has a unique fixed point, and improper policies are infinitely bad
for the player who chooses them, then ``lower <= T(lower)`` implies that `lower` is below it, and
``upper >= T(upper)`` that `upper` is above it: the best choices of `lower` are proper, since
otherwise a finite number would be at most a sum that falls to minus infinity; so `lower` is at most
the value of these choices, and `upper` at least the value of any. And if ``lower <= v <= upper``
for the true values v, the same holds for ``max(lower, T(lower))`` and ``min(upper, T(upper))``.

T is rounded down for `lower` and up for `upper`, by the model of rounding of
:mod:`gamedp.bellman.residuals`. If the players change places, the lower bound of the successor is
computed from its upper one, and the other way round.

Deflation is for two opponents who can prolong play for ever. Its sweep narrows bounds as the others
do, and changes a choice of the policy only where a bound gets strictly narrower by it. The
successors of a choice therefore had their bounds before, and choices do not form a cycle in which
each only preserves the bound of the next one. The theory is in
:mod:`gamedp.solvers.tools.deflation`.

Sound value iteration, last, sweeps over expected rewards of some steps, and the probability of
going on; no players change places there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gamedp.bellman.equation import backup_jit
from gamedp.runtime.floats import TINY, UNIT, UPWARD
from gamedp.runtime.jit import compiled, inlined

if TYPE_CHECKING:
    from gamedp.bellman.equation import Equation
    from gamedp.runtime.arrays import Flags, Floats, Integers


def enclose(choice: int, equation: Equation, lower: Floats, upper: Floats) -> tuple[float, float]:
    """Return a lower and an upper bound of the value of a choice."""
    graph = equation.graph
    first = graph.transition_offsets[choice]
    last = graph.transition_offsets[choice + 1]
    constant, constant_size = equation.constants[choice], abs(equation.sizes[choice])
    low = high = low_size = high_size = 0.0
    least = np.inf
    most = -np.inf
    low_is_zero = high_is_zero = constant_size == 0.0
    swaps = False
    for t in range(first, last):
        successor = graph.successors[t]
        probability = equation.probabilities[t]
        below, above = lower[successor], upper[successor]
        if probability < 0.0:
            below, above = above, below
            swaps = True
        low += probability * below
        high += probability * above
        low_size += abs(probability * below)
        high_size += abs(probability * above)
        low_is_zero &= below == 0.0
        high_is_zero &= above == 0.0
        if below < least:
            least = below
        if above > most:
            most = above
    low_part, high_part = low, high
    low = constant + equation.discount * low
    high = constant + equation.discount * high
    if last - first == 1 and equation.discount == 1.0 and abs(equation.probabilities[first]) == 1.0:
        # A certain step is one addition; if it is exact, nothing is lost.
        inexact = constant_size != abs(constant)
        part = low - constant
        if inexact or (constant - (low - part)) + (low_part - part) != 0.0:
            low -= 4.0 * UNIT * (constant_size + abs(low)) + TINY
        part = high - constant
        if inexact or (constant - (high - part)) + (high_part - part) != 0.0:
            high += 4.0 * UNIT * (constant_size + abs(high)) + TINY
        return low, high
    count = last - first + 8
    share = count * UNIT * UPWARD
    # Zero is not rounded; a tiny number may be rounded to zero.
    if not low_is_zero:
        low -= share * (constant_size + equation.discount * low_size) + count * TINY
    if not high_is_zero:
        high += share * (constant_size + equation.discount * high_size) + count * TINY
    if constant == 0.0 and equation.discount == 1.0 and not swaps:
        # A mean lies between the numbers averaged: that needs no rounding.
        if low < least:
            low = least
        if high > most:
            high = most
    return low, high


enclose_jit = inlined(enclose)


def enclose_best(
    state: int, equation: Equation, lower: Floats, upper: Floats
) -> tuple[float, float, int, int]:
    """Return a lower and an upper bound of the value of a state, and the choice that has each."""
    graph = equation.graph
    sign = 1.0 if equation.maximise[state] else -1.0
    low = high = -np.inf
    low_choice = high_choice = graph.choice_offsets[state]
    for choice in range(graph.choice_offsets[state], graph.choice_offsets[state + 1]):
        below, above = enclose_jit(choice, equation, lower, upper)
        if sign * below > low:
            low = sign * below
            low_choice = choice
        if sign * above > high:
            high = sign * above
            high_choice = choice
    return sign * low, sign * high, low_choice, high_choice


enclose_best_jit = inlined(enclose_best)


def tighten(
    start: int,
    stop: int,
    equation: Equation,
    lower: Floats,
    upper: Floats,
    policy: Integers,
) -> tuple[int, int]:
    """Narrow the bounds of ``order[start:stop]`` in place (Gauss-Seidel).

    Where a sweep confirms a bound, the policy becomes one that attains it: the lower bound in the
    maximiser's states, the upper bound in the minimiser's.

    Returns
    -------
    moved : int
        The number of bounds that are narrower than before.
    refuted : int
        The number that would have to be wider to be bounds by this sweep alone. If it is 0, the
        bounds hold, wherever they came from.
    """
    graph = equation.graph
    moved = refuted = 0
    for place in range(start, stop):
        state = equation.order[place]
        if graph.choice_offsets[state] == graph.choice_offsets[state + 1]:
            continue
        maximises = equation.maximise[state]
        low, high, low_choice, high_choice = enclose_best_jit(state, equation, lower, upper)
        # Written so that a NaN refutes.
        if low >= lower[state]:
            moved += low > lower[state]
            lower[state] = low
            if maximises:
                policy[state] = low_choice
        else:
            refuted += 1
        if high <= upper[state]:
            moved += high < upper[state]
            upper[state] = high
            if not maximises:
                policy[state] = high_choice
        else:
            refuted += 1
        if policy[state] < 0:
            policy[state] = low_choice if maximises else high_choice
    return moved, refuted


tighten_jit = compiled(tighten)


def widest(
    start: int, stop: int, equation: Equation, lower: Floats, upper: Floats
) -> tuple[float, float]:
    """Return the largest distance of bounds, and that divided by the least absolute value."""
    absolute = relative = 0.0
    for place in range(start, stop):
        state = equation.order[place]
        if lower[state] == upper[state]:
            continue
        width = upper[state] - lower[state]
        if not width <= absolute:
            absolute = width
        least = max(lower[state], -upper[state])
        if least <= 0.0:
            relative = np.inf
        elif not width <= relative * least:
            relative = width / least
    return absolute, relative


widest_jit = compiled(widest)


def tighten_trivial(
    first: int,
    last: int,
    component_offsets: Integers,
    nontrivial: Flags,
    equation: Equation,
    lower: Floats,
    upper: Floats,
    policy: Integers,
) -> int:
    """Bound the states that cannot recur, successors first.

    Returns
    -------
    component : int
        The first component from `first` on that has a cycle, or `last`.
    """
    for number in range(first, last):
        if nontrivial[number]:
            return number
        start = np.int64(component_offsets[number])  # as callers from outside pass it
        tighten_jit(start, start + 1, equation, lower, upper, policy)
    return last


tighten_trivial_jit = compiled(tighten_trivial)


def surroundings(
    start: int, stop: int, equation: Equation, lower: Floats, upper: Floats
) -> tuple[float, float, float, float, bool]:
    """Return the extremes of the bounds that a component leads to, and of its rewards.

    Returns
    -------
    low, high : float
        The least and the greatest bound of the states that its transitions lead to outside; if
        there is none, low is infinite.
    least, most : float
        The extremes of the rewards of a choice.
    swaps : bool
        Whether the players may change places.
    """
    graph = equation.graph
    low, high = np.inf, -np.inf
    least, most = np.inf, -np.inf
    swaps = False
    for position in range(start, stop):
        state = equation.order[position]
        for choice in range(graph.choice_offsets[state], graph.choice_offsets[state + 1]):
            least = min(least, equation.constants[choice])
            most = max(most, equation.constants[choice])
            for t in range(graph.transition_offsets[choice], graph.transition_offsets[choice + 1]):
                successor = graph.successors[t]
                swaps |= equation.probabilities[t] < 0.0
                place = equation.place[successor]
                if not start <= place < stop:
                    low = min(low, lower[successor])
                    high = max(high, upper[successor])
    return low, high, least, most, swaps


surroundings_jit = compiled(surroundings)


def approach(
    start: int, stop: int, equation: Equation, values: Floats, policy: Integers
) -> tuple[float, float]:
    """Update ``order[start:stop]`` in place; return the largest change, absolute and relative.

    If terms cancel out, changes that rounding alone may cause do not count.
    """
    graph = equation.graph
    change = relative = 0.0
    for place in range(start, stop):
        state = equation.order[place]
        if graph.choice_offsets[state] == graph.choice_offsets[state + 1]:
            continue
        value, policy[state] = backup_jit(state, equation, values)
        difference = abs(value - values[state])
        # Written so that a NaN counts as an infinite change.
        if not difference <= change:
            change = difference
        if not difference <= relative * abs(value):
            first = graph.transition_offsets[policy[state]]
            last = graph.transition_offsets[policy[state] + 1]
            size = 0.0
            for t in range(first, last):
                size += abs(equation.probabilities[t] * values[graph.successors[t]])
            size = abs(equation.sizes[policy[state]]) + equation.discount * size
            if not difference <= 8.0 * UNIT * size:
                relative = difference / abs(value) if value != 0.0 else np.inf
        values[state] = value
    return change, relative


approach_jit = compiled(approach)


def narrow(
    start: int, stop: int, equation: Equation, lower: Floats, upper: Floats, policy: Integers
) -> int:
    """Narrow the bounds of ``order[start:stop]`` in place; return the number that got narrower."""
    graph = equation.graph
    moved = 0
    for place in range(start, stop):
        state = equation.order[place]
        if graph.choice_offsets[state] == graph.choice_offsets[state + 1]:
            continue
        maximises = equation.maximise[state]
        low, high, low_choice, high_choice = enclose_best_jit(state, equation, lower, upper)
        if low > lower[state]:
            moved += 1
            lower[state] = low
            if maximises:
                policy[state] = low_choice
        if high < upper[state]:
            moved += 1
            upper[state] = high
            if not maximises:
                policy[state] = high_choice
        if policy[state] < 0:
            policy[state] = low_choice if maximises else high_choice
    return moved


narrow_jit = compiled(narrow)


def reply(
    states: Integers, equation: Equation, bounds: Floats, side: bool, replies: Integers
) -> bool:
    """Set the choices that are best by some bounds, in the states of one side.

    Returns
    -------
    changed : bool
        Whether any choice differs from the one before.
    """
    changed = False
    for state in states:
        if equation.maximise[state] != side:
            continue
        _, choice = backup_jit(state, equation, bounds)
        if choice != replies[state]:
            replies[state] = choice
            changed = True
    return changed


reply_jit = compiled(reply)


def deflate(
    offsets: Integers,
    members: Integers,
    inside: Flags,
    equation: Equation,
    lower: Floats,
    upper: Floats,
    side: bool,
    improper_value: float,
    replies: Integers,
    policy: Integers,
) -> int:
    """Lower upper bounds to the best way out, or raise lower ones.

    In each of some sets of states, one side keeps to replies that earn nothing and stay in the set.
    Then the other side gets the value of staying for ever, or leaves by its best choice.

    Parameters
    ----------
    offsets, members
        Set k consists of the states ``members[offsets[k]:offsets[k + 1]]``.
    inside : (C,) bool
        The choices that earn nothing and stay in the set of their state.
    side : bool
        Whether the side that may leave maximises: then upper bounds are lowered.
    improper_value : float
        The value of endless play.
    replies : (S,)
        The choices that the other side keeps to.
    policy : (S,)
        Becomes `replies` where a bound gets narrower.

    Returns
    -------
    moved : int
        The number of bounds that are narrower than before.
    """
    graph = equation.graph
    moved = 0
    sign = 1.0 if side else -1.0
    for number in range(len(offsets) - 1):
        best = sign * improper_value
        for place in range(offsets[number], offsets[number + 1]):
            state = members[place]
            if equation.maximise[state] != side:
                continue
            for choice in range(graph.choice_offsets[state], graph.choice_offsets[state + 1]):
                if inside[choice]:
                    continue
                below, above = enclose_jit(choice, equation, lower, upper)
                value = above if side else -below
                # Written so that a NaN counts as the best.
                if not value <= best:
                    best = value
        for place in range(offsets[number], offsets[number + 1]):
            state = members[place]
            bound = upper[state] if side else -lower[state]
            if not best < bound:
                continue
            moved += 1
            if side:
                upper[state] = best
            else:
                lower[state] = -best
            if equation.maximise[state] != side:
                policy[state] = replies[state]
    return moved


deflate_jit = compiled(deflate)


def sound_sweep(
    start: int,
    stop: int,
    equation: Equation,
    values: Floats,
    low: float,
    high: float,
    earned: Floats,
    going_on: Floats,
    policy: Integers,
) -> tuple[float, float]:
    """Update each state of a component by one more step (Gauss-Seidel).

    The value of a state is ``earned + going_on * x``, where x is a mean of values of states of the
    component. The least and the greatest ``earned / (1 - going_on)`` therefore bound all of them,
    as long as the same policy is followed.

    Parameters
    ----------
    low, high : float
        The values assumed for x by minimising and by maximising players.
    earned, going_on : (S,)
        Numbers of the component's states, in their order.

    Returns
    -------
    least, greatest : float
        The new bounds of x; infinite while play may surely go on.
    """
    graph = equation.graph
    least = np.inf
    greatest = -np.inf
    for position in range(start, stop):
        state = equation.order[position]
        sign = 1.0 if equation.maximise[state] else -1.0
        beyond = high if equation.maximise[state] else low
        best = -np.inf
        best_earned = best_going_on = 0.0
        for choice in range(graph.choice_offsets[state], graph.choice_offsets[state + 1]):
            its_earned = its_going_on = 0.0
            for t in range(graph.transition_offsets[choice], graph.transition_offsets[choice + 1]):
                successor = graph.successors[t]
                place = int(equation.place[successor])
                if start <= place < stop:
                    its_earned += equation.probabilities[t] * earned[place - start]
                    its_going_on += equation.probabilities[t] * going_on[place - start]
                else:
                    its_earned += equation.probabilities[t] * values[successor]
            its_earned = equation.constants[choice] + equation.discount * its_earned
            its_going_on *= equation.discount
            value = sign * (its_earned + its_going_on * beyond)
            if value > best:
                best = value
                best_earned, best_going_on = its_earned, its_going_on
                policy[state] = choice
        number = position - start
        earned[number] = best_earned
        going_on[number] = best_going_on
        ratio_low, ratio_high = -np.inf, np.inf
        if best_going_on < 1.0:
            ratio_low = ratio_high = best_earned / (1.0 - best_going_on)
        if ratio_low < least:
            least = ratio_low
        if ratio_high > greatest:
            greatest = ratio_high
    return least, greatest


sound_sweep_jit = compiled(sound_sweep)
