"""Proofs of error bounds for values, rounding included.

There is one number ``errors[s]`` per state, with ``|values[s] - true value| <= errors[s]``.
Let e be such numbers outside a component. Inside it, numbers e with

    e(s) >= |Q_v(s, a) - v(s)| + rounding + discount * sum(|P(t | s, a)| * e(t))

for the greedy action a, and the same with the signed difference for all other actions (an action
that is worse by more than this does not matter), bound the error of v if play leaves the component
almost surely under all policies, or the discount is below one: there Bellman's operator has a
unique fixed point, and is a contraction in a weighted maximum norm [1]_. We look for e as
``E + epsilon * weights``, with E the largest error outside, and weights close to the expected
number of steps inside the component under the greedy policy: weights that fall by about one with
every step leave room for the residual.

Rounding follows the usual model [2]_: with k transitions and A the sum of the absolute terms, the
computed value is within ``(k + 1) * u * A / (1 - (k + 1) * u)`` of the exact one, u = 2**-53. We
allow ``(k + 8) * u * A``, which covers as well that every stored probability is off by up to two
units in the last place, as 1/6 and 0.1 * 0.9 are: the bounds hold for the rules as
intended. A constant counts with the sum of the absolute values of its terms, even if they cancel.
Where numbers underflow, each term may lose all of its digits: the allowance for that is per term.
An error is rounded up before a difference is added to it, which may be negative, and is rounded
itself: ``error * 2**-46`` is more than that loses, where their sum is positive.

References
----------
.. [1] D. Bertsekas, J. Tsitsiklis, "An analysis of stochastic shortest path problems", Mathematics
   of Operations Research 16 (1991); for two players: S. Patek, D. Bertsekas, "Stochastic shortest
   path games", SIAM Journal on Control and Optimization 37 (1999).
.. [2] N. Higham, "Accuracy and Stability of Numerical Algorithms", SIAM 2002, chapter 3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gamedp.bellman.blocks import NUMBERS, VALUE, WEIGHT, isolate_jit, size_of_jit
from gamedp.bellman.equation import ONE
from gamedp.runtime.floats import LEAST, TINY, UNIT, UPWARD
from gamedp.runtime.jit import compiled, inlined

if TYPE_CHECKING:
    from gamedp.bellman.blocks import Block
    from gamedp.bellman.equation import Equation
    from gamedp.runtime.arrays import Flags, Floats, Integers


GREEDY, NEAR, ALL = 0, 1, 2
"""The steps that the weights count: the greedy policy's, nearly optimal ones', or any."""


def rounded(
    choice: int,
    equation: Equation,
    values: Floats,
    errors: Floats,
) -> tuple[float, float]:
    """Return a choice's value, and its largest error by rounding and by its successors."""
    # Names and unsigned numbers: see `backup`.
    graph = equation.graph
    successors, probabilities = graph.successors, equation.probabilities
    discount = equation.discount
    number = np.uintp(choice)
    first = np.uintp(graph.transition_offsets[number])
    last = np.uintp(graph.transition_offsets[number + ONE])
    constant, size_of_constant = equation.constants[number], abs(equation.sizes[number])
    if last - first == ONE and discount == 1.0 and abs(probabilities[first]) == 1.0:
        # A certain step: one addition, whose error is known exactly (Knuth's two-sum).
        successor = np.uintp(successors[first])
        addend = probabilities[first] * values[successor]
        value = constant + addend
        part = value - constant
        lost = abs((constant - (value - part)) + (addend - part))
        if size_of_constant != abs(constant):
            lost += 2.0 * UNIT * size_of_constant
        return value, (lost + errors[successor]) * UPWARD
    total = 0.0
    size = 0.0
    slack = 0.0
    for t in range(first, last):
        successor = np.uintp(successors[t])
        term = probabilities[t] * values[successor]
        total += term
        size += abs(term)
        slack += abs(probabilities[t]) * errors[successor]
    size = size_of_constant + discount * size
    slack = discount * slack
    count = np.int64(last - first) + 8
    return (
        constant + discount * total,
        (slack + count * UNIT * (size + slack)) * UPWARD + count * TINY,
    )


rounded_jit = compiled(rounded)


def settle(
    state: int,
    equation: Equation,
    values: Floats,
    errors: Floats,
    policy: Integers,
) -> float:
    """Set the greedy choice of a state that cannot recur; return the error of its value."""
    graph = equation.graph
    sign = 1.0 if equation.maximise[state] else -1.0
    best = -np.inf
    best_slack = 0.0
    error = 0.0
    value = sign * values[state]
    for choice in range(graph.choice_offsets[state], graph.choice_offsets[state + 1]):
        result, slack = rounded_jit(
            choice,
            equation,
            values,
            errors,
        )
        result = sign * result
        if result > best:
            best = result
            best_slack = slack
            policy[state] = choice
        if (result - value) + slack > error:
            error = (result - value) + slack
    if (value - best) + best_slack > error:
        error = (value - best) + best_slack
    return error * UPWARD if error > 0.0 else 0.0


settle_jit = compiled(settle)


def conclude(
    state: int,
    equation: Equation,
    values: Floats,
    errors: Floats,
    results: Floats,
    slacks: Floats,
) -> tuple[float, float, int]:
    """Return a state's value, its error as :func:`settle` has it, and its greedy choice.

    Each choice is looked at once.

    Parameters
    ----------
    results, slacks : (R,) float64
        Scratch, for at least as many choices as the state has.
    """
    graph = equation.graph
    sign = 1.0 if equation.maximise[state] else -1.0
    first = graph.choice_offsets[state]
    count = graph.choice_offsets[state + 1] - first
    best = -np.inf
    best_number = 0
    for number in range(count):
        result, slacks[number] = rounded_jit(first + number, equation, values, errors)
        results[number] = sign * result
        if results[number] > best:
            best = results[number]
            best_number = number
    error = 0.0
    for number in range(count):
        if (results[number] - best) + slacks[number] > error:
            error = (results[number] - best) + slacks[number]
    return sign * best, error * UPWARD, first + best_number


conclude_jit = inlined(conclude)


def settle_components(
    first: int,
    last: int,
    component_offsets: Integers,
    nontrivial: Flags,
    equation: Equation,
    values: Floats,
    errors: Floats,
    policy: Integers,
) -> int:
    """Prove errors for given values of states that cannot recur, successors first.

    Returns
    -------
    component : int
        The first component from `first` on that has a cycle, or `last`.
    """
    graph = equation.graph
    for number in range(first, last):
        if nontrivial[number]:
            return number
        state = equation.order[component_offsets[number]]
        if graph.choice_offsets[state] < graph.choice_offsets[state + 1]:
            errors[state] = settle_jit(state, equation, values, errors, policy)
    return last


settle_components_jit = compiled(settle_components)


def step(
    equation: Equation,
    states: Integers,
    values: Floats,
    errors: Floats,
    new_values: Floats,
    new_errors: Floats,
    policy: Integers,
    results: Floats,
    slacks: Floats,
) -> None:
    """Go back one step of a finite horizon: from values and errors to new ones of some states.

    Parameters
    ----------
    results, slacks : (R,) float64
        Scratch, for at least as many choices as a state has.
    """
    for state in states:
        new_values[state], new_errors[state], policy[state] = conclude_jit(
            state, equation, values, errors, results, slacks
        )


step_jit = compiled(step)


def weigh(
    start: int,
    stop: int,
    equation: Equation,
    values: Floats,
    policy: Integers,
    mode: int,
    margin: float,
    weights: Floats,
) -> float:
    """Sweep once over the weights of a component; return the largest increase.

    A weight becomes one more than the discounted weights of the successors within the component,
    for the greedy choice, or the most over choices whose value is within `margin` of the state's,
    or over all choices. Weights outside the component are zero.
    """
    graph = equation.graph
    increase = 0.0
    for place in range(start, stop):
        state = equation.order[place]
        first = graph.choice_offsets[state]
        last = graph.choice_offsets[state + 1]
        if mode == GREEDY:
            first = policy[state]
            last = first + 1
        most = 0.0
        for choice in range(first, last):
            weight = 0.0
            value = equation.constants[choice]
            for t in range(graph.transition_offsets[choice], graph.transition_offsets[choice + 1]):
                successor = graph.successors[t]
                if mode == NEAR:
                    value += equation.discount * equation.probabilities[t] * values[successor]
                weight += abs(equation.probabilities[t]) * weights[successor]
            if mode == NEAR:
                worse = values[state] - value if equation.maximise[state] else value - values[state]
                if worse > margin:
                    continue
            if weight > most:
                most = weight
        most = 1.0 + equation.discount * most
        if most - weights[state] > increase:
            increase = most - weights[state]
        weights[state] = most
    return increase


weigh_jit = compiled(weigh)


def check(
    first: int,
    last: int,
    start: int,
    equation: Equation,
    outside: float,
    block: Block,
    numbers: Floats,
    least: float,
    most: float,
    policy: Integers,
) -> tuple[float, float]:
    """Narrow down which multiples of the weights are errors of the gathered states of a component.

    The states are ``order[first:last]``, the component begins at `start`; `outside` is the largest
    error outside it. The `policy` becomes greedy; a choice that is as good up to rounding stays.

    A choice's value in two parts, outside and inside, rounds no term more often than in one: either
    one part is empty and adds nothing, or each has fewer terms, and one more addition joins them.

    Returns
    -------
    least, most
        The multiples that suffice for these states as well as for those before, if any does.
    """
    inner = block.graph
    graph = equation.graph
    for position in range(first, last):
        state = equation.order[position]
        first_choice = inner.choice_offsets[position - first]
        sign = block.signs[position - first]
        value = sign * numbers[VALUE, position - start]
        its_weight = numbers[WEIGHT, position - start]
        best = -np.inf
        best_choice = first_choice
        best_slack = 0.0
        best_fall = 0.0
        kept = policy[state] - graph.choice_offsets[state]
        kept_choice = first_choice
        kept_value = -np.inf
        kept_slack = 0.0
        kept_fall = 0.0
        margin = 0.0
        for choice in range(first_choice, inner.choice_offsets[position - first + 1]):
            total = 0.0
            size = 0.0
            inside = 0.0
            weight = 0.0
            first_t, next_t = inner.transition_offsets[choice], inner.transition_offsets[choice + 1]
            for t in range(first_t, next_t):
                successor = inner.successors[t]
                term = block.probabilities[t] * numbers[VALUE, successor]
                probability = abs(block.probabilities[t])
                total += term
                size += abs(term)
                inside += probability
                weight += probability * numbers[WEIGHT, successor]
            size = size_of_jit(block, choice) + equation.discount * size
            result = sign * (block.constants[choice] + equation.discount * total)
            # The growth of the errors outside on this step, and rounding.
            slack = equation.discount * (block.slacks[choice] + inside * outside) - outside
            count = float(next_t - first_t) + block.outer[choice] + 8.0
            rounding = count * (UNIT * (size + 2.0 * outside) + TINY)
            slack += rounding
            fall = its_weight - equation.discount * weight * (1.0 + count * UNIT)
            if result > best:
                best = result
                best_choice = choice
                best_slack = slack
                best_fall = fall
            if np.int64(choice - first_choice) == kept:
                kept_choice = choice
                kept_value = result
                kept_slack = slack
                kept_fall = fall
                margin = 2.0 * rounding
            need = (result - value) + slack
            if fall > 0.0:
                if need > least * fall:
                    least = need / fall * UPWARD + LEAST
            elif need > 0.0:
                most = -1.0
            elif fall < 0.0 and -need < -fall * most:
                most = need / fall / UPWARD
        if best - kept_value <= margin:
            best, best_choice = kept_value, kept_choice
            best_slack, best_fall = kept_slack, kept_fall
        need = (value - best) + best_slack
        if best_fall > 0.0:
            if need > least * best_fall:
                least = need / best_fall * UPWARD + LEAST
        elif need > 0.0:
            most = -1.0
        policy[state] = graph.choice_offsets[state] + (best_choice - first_choice)
    return least, most


check_jit = compiled(check)


def allot(
    start: int,
    stop: int,
    equation: Equation,
    outside: float,
    least: float,
    most: float,
    numbers: Floats,
    errors: Floats,
) -> float:
    """Set the errors of a component from the results of :func:`check` for all of its states.

    Returns
    -------
    width : float
        The largest error that the component adds to `outside`; infinite if the weights do not
        suffice for a proof.
    """
    width = 0.0
    for position in range(start, stop):
        error = np.inf
        if least <= most:
            error = least * numbers[WEIGHT, position - start]
        if error > width:
            width = error
        errors[equation.order[position]] = (outside + error) * UPWARD
    return width


allot_jit = inlined(allot)


def certify(
    start: int,
    stop: int,
    equation: Equation,
    piece: int,
    values: Floats,
    weights: Floats,
    errors: Floats,
    policy: Integers,
) -> float:
    """Prove errors for the values of a component with cycles.

    Sets `errors` and the greedy `policy` of its states. Weights are zero outside it, and finally
    inside it as well. Of a large component, at most `piece` states are gathered at a time.

    Returns
    -------
    width : float
        The largest error that the component adds to those outside; infinite if the weights do not
        suffice for a proof.
    """
    numbers = np.empty((NUMBERS, stop - start))
    for position in range(start, stop):
        numbers[VALUE, position - start] = values[equation.order[position]]
        numbers[WEIGHT, position - start] = weights[equation.order[position]]
        weights[equation.order[position]] = 0.0
    outside = 0.0
    for first in range(start, stop, piece):
        last = min(first + piece, stop)
        _, _, error = isolate_jit(first, last, start, stop, equation, values, errors)
        outside = max(outside, error)
    least = 0.0
    most = np.inf
    for first in range(start, stop, piece):
        last = min(first + piece, stop)
        block, _, _ = isolate_jit(first, last, start, stop, equation, values, errors)
        least, most = check_jit(
            first, last, start, equation, outside, block, numbers, least, most, policy
        )
    return float(allot_jit(start, stop, equation, outside, least, most, numbers, errors))


certify_jit = compiled(certify)
