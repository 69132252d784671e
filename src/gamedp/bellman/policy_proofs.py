r"""Proofs of the values of a policy, and of its optimality, however long play lasts.

The values of a policy in a component are computed by elimination, with errors that do not grow with
the length of play (:mod:`gamedp.bellman.sparse_elimination`). Let V be its exact values, and v and
e the computed ones and their errors. The advantage of a choice a in state s,

.. math:: d(s, a) = r + \sum_{t \ne s} p_t (V_t - V_s)

does not depend on the probability to stay in s, and differences of nearly equal values round
little. (With a discount :math:`\beta`, probabilities are :math:`\beta p_t`, and :math:`(1 - \beta)
V_s` is taken off.) It is within :math:`\sum p_t (e_t + e_s)` and rounding of the advantage computed
from v. If it is not positive for any choice, V is the fixed point of Bellman's operator: the values
are proven, within e alone. This is for the maximiser; for the minimiser all signs change. A choice
that is certainly better replaces that of the policy: improved in this way, no policy recurs.

There remain choices with an advantage of uncertain sign. How much can they improve the values?

**By steps.** Let W be the expected steps of the policy, so that
:math:`W_s - \sum_t p_t W_t = 1` for its own choices. If for all others
:math:`d(s, a) \le \kappa (W_s - \sum_t p_t W_t)`, then
:math:`V + \kappa W \ge T(V + \kappa W)` for Bellman's operator T, so :math:`V + \kappa W` is an
upper bound of the optimal values [1]_, and :math:`V - \kappa W` a lower bound.

**By factors,** if all rewards and payoffs have the same sign. Let :math:`d(s, a) \le \varepsilon_s
B(s, a)` with :math:`B = |r| + \sum p_t |V_t - V_s|`. Change r and the probabilities of these
choices, to the worse, by a factor of :math:`1 \pm \varepsilon_s` each: in that model no choice is
better than the policy's, so V is optimal. By the theorem for elimination, the values of all
policies, and so the optimal ones, differ between the two models by a factor of at most
:math:`\prod_s (1 + \varepsilon_s) / (1 - \varepsilon_s)`. Choices with the same outcomes and
rewards as the policy's have :math:`\varepsilon_s` of the size of rounding.

References
----------
.. [1] D. Bertsekas, J. Tsitsiklis, "An analysis of stochastic shortest path problems", Mathematics
   of Operations Research 16 (1991); for two players: S. Patek, D. Bertsekas, "Stochastic shortest
   path games", SIAM Journal on Control and Optimization 37 (1999).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gamedp.bellman.blocks import ELIMINATED, ERROR, NUMBERS, VALUE, WEIGHT, Block, size_of_jit
from gamedp.bellman.component_sweeps import OPPONENTS, SWAPS
from gamedp.bellman.sparse_elimination import LARGE_ERROR, eliminate_jit
from gamedp.graph.graph import Graph
from gamedp.runtime.floats import TINY, UNIT, UPWARD
from gamedp.runtime.jit import compiled, inlined

if TYPE_CHECKING:
    from gamedp.bellman.equation import Equation
    from gamedp.runtime.arrays import Floats, Integers


ONE = np.uintp(1)
ROUNDS = 64
"""Largest number of policies evaluated to find one that no choice is certainly better than."""
TIE = 1e-14
"""Largest relative loss of a choice by rounding, for each step that is left."""


def count_policy_transitions(size: int, block: Block) -> int:
    """Count the transitions within a component that its policy may take."""
    graph = block.graph
    count = np.uintp(0)
    for state in range(np.uintp(size)):
        choice = block.policy[state]
        count += graph.transition_offsets[choice + ONE] - graph.transition_offsets[choice]
    return int(count)


count_policy_transitions_jit = inlined(count_policy_transitions)


def mirrored(size: int, block: Block) -> Block:
    """Return a component with a mirror image of each state, whose value has the opposite sign.

    The policy is mirrored as well: where the players change places, play leads to the other side.
    """
    graph = block.graph
    length = 2 * count_policy_transitions_jit(size, block)
    choices = Graph(
        np.empty(2 * size + 1, np.uintp),
        np.empty(2 * size + 1, np.uintp),
        np.empty(length, graph.successors.dtype),
    )
    result = Block(
        choices,
        np.empty(2 * size),
        np.empty(2 * size, np.uintp),
        np.empty(2 * size),
        np.empty(2 * size),
        np.empty(2 * size),
        np.empty(2 * size),
        np.empty(2 * size),
        np.empty(length),
    )
    place = np.uintp(0)
    choices.choice_offsets[0] = choices.transition_offsets[0] = 0
    for number in range(np.uintp(2 * size)):
        other = number >= size
        sign = -1.0 if other else 1.0
        state = number - np.uintp(size) if other else number
        choice = block.policy[state]
        for t in range(graph.transition_offsets[choice], graph.transition_offsets[choice + ONE]):
            crosses = (block.probabilities[t] < 0.0) != other
            choices.successors[place] = graph.successors[t] + (size if crosses else 0)
            result.probabilities[place] = abs(block.probabilities[t])
            place += ONE
        result.signs[number] = sign * block.signs[state]
        result.policy[number] = number
        result.constants[number] = sign * block.constants[choice]
        result.sizes[number] = block.sizes[choice]
        result.slacks[number] = block.slacks[choice]
        result.outer[number] = block.outer[choice]
        result.leaving[number] = block.leaving[choice]
        choices.choice_offsets[number + ONE] = number + ONE
        choices.transition_offsets[number + ONE] = place
    return result


mirrored_jit = compiled(mirrored)


def same(first: int, second: int, equation: Equation) -> bool:
    """Return whether two choices have the same reward and outcomes, as they are stored."""
    graph = equation.graph
    start, other = graph.transition_offsets[first], graph.transition_offsets[second]
    length = graph.transition_offsets[first + 1] - start
    if graph.transition_offsets[second + 1] - other != length:
        return False
    if equation.constants[first] != equation.constants[second]:
        return False
    for t in range(length):
        if graph.successors[start + t] != graph.successors[other + t]:
            return False
        if equation.probabilities[start + t] != equation.probabilities[other + t]:
            return False
    return True


same_jit = inlined(same)


def advantage(
    choice: int,
    state: int,
    start: int,
    stop: int,
    equation: Equation,
    values: Floats,
    errors: Floats,
    numbers: Floats,
    relative: float,
) -> tuple[float, float, float, float]:
    """Return how much more valuable a choice is than its state, by differences, for a maximiser.

    Parameters
    ----------
    numbers : (NUMBERS, stop - start)
        Numbers of the component ``order[start:stop]``; the weights are its policy's expected steps.
    relative : float
        The relative error of the weights.

    Returns
    -------
    total, slack
        The advantage, and its largest error.
    size
        The sum of the absolute terms.
    fall
        The least amount by which the weights fall on the step.
    """
    graph = equation.graph
    value = values[state]
    error = errors[state]
    weight = numbers[WEIGHT, int(equation.place[state]) - start]
    constant = equation.constants[choice]
    first, last = graph.transition_offsets[choice], graph.transition_offsets[choice + 1]
    total = size = inherited = 0.0
    fall = fall_size = fall_error = 0.0
    sum_of_probabilities = 0.0
    for t in range(first, last):
        successor = graph.successors[t]
        probability = abs(equation.probabilities[t])
        sum_of_probabilities += probability
        other = values[successor] if equation.probabilities[t] > 0.0 else -values[successor]
        if successor == state and equation.probabilities[t] > 0.0:
            continue
        term = probability * (other - value)
        total += term
        size += abs(term)
        inherited += probability * (errors[successor] + error)
        place = int(equation.place[successor])
        other = numbers[WEIGHT, place - start] if start <= place < stop else 0.0
        term = probability * (weight - other)
        fall += term
        fall_size += abs(term)
        fall_error += probability * (weight + other)
    count = float(last - first) + 12.0
    discount = equation.discount
    rest = (1.0 - discount) * value
    total = constant + (discount * total - rest)
    size = abs(equation.sizes[choice]) + (discount * size + abs(rest))
    inherited = discount * inherited + (1.0 - discount) * error
    # Of probabilities that are scaled, or their meaning is unknown.
    off = abs(sum_of_probabilities - 1.0)
    if off > count * UNIT:
        inherited = np.inf
    slack = inherited + (count * UNIT + off) * (size + inherited)
    if size > 0.0:
        slack += count * TINY
    rest = (1.0 - discount) * weight
    fall = discount * fall + rest
    fall_size = discount * fall_size + rest
    fall_error = relative * (discount * fall_error + rest)
    if fall_size > 0.0:
        off = (count * UNIT + off) * (fall_size + fall_error)
        fall -= (fall_error + off) * UPWARD + count * TINY
    return total, slack * UPWARD, size, fall


advantage_jit = compiled(advantage)


def compare(
    start: int,
    stop: int,
    equation: Equation,
    values: Floats,
    errors: Floats,
    numbers: Floats,
    relative: float,
    maximisers: bool,
    minimisers: bool,
    policy: Integers,
) -> tuple[int, float, float]:
    """Replace the choices of a policy by certainly better ones; look for possibly better ones.

    Parameters
    ----------
    values, errors : (S,)
        Those of the policy, in the component and outside.
    numbers, relative
        As for :func:`advantage`.
    maximisers, minimisers : bool
        Whose choices the policy replaces by certainly better ones; those of the others are
        examined all the same.

    Returns
    -------
    better : int
        The number of states in which a choice was replaced.
    multiple : float
        The multiple of the weights by which best values may be better; infinite if there is none.
    ties : float
        The sum over all states of the relative change of choices after which none is better.
    """
    graph = equation.graph
    better = 0
    least = 0.0
    most = np.inf
    ties = 0.0
    for position in range(start, stop):
        state = equation.order[position]
        sign = 1.0 if equation.maximise[state] else -1.0
        may = maximisers if equation.maximise[state] else minimisers
        kept = policy[state]
        best = 0.0
        best_choice = kept
        tie = 0.0
        for choice in range(graph.choice_offsets[state], graph.choice_offsets[state + 1]):
            if choice == kept:
                continue
            total, slack, size, fall = advantage_jit(
                choice, state, start, stop, equation, values, errors, numbers, relative
            )
            total = sign * total
            if same_jit(choice, kept, equation):
                # They may differ by the possible error of stored probabilities.
                total = 0.0
                slack = 16.0 * UNIT * (size + slack)
                tie = max(tie, 16.0 * UNIT)
            elif total + slack > 0.0:
                sure = size - slack
                tie = max(tie, (total + slack) / sure) if sure > TINY else np.inf
            need = total + slack
            if total - slack > best:
                best = total - slack
                best_choice = choice
            if need > 0.0:
                if fall > 0.0:
                    least = max(least, need / fall * UPWARD + TINY)
                else:
                    most = -1.0
            elif fall < 0.0:
                most = min(most, need / fall / UPWARD)
        ties += tie
        if best_choice != kept and may:
            better += 1
            policy[state] = best_choice
    return better, least if least <= most else np.inf, ties * UPWARD


compare_jit = compiled(compare)


def evaluate(
    size: int, discount: float, swaps: bool, most: int, block: Block, numbers: Floats
) -> tuple[int, float]:
    """Eliminate the policy of a component, as :func:`gamedp.bellman.sparse_elimination.eliminate`.

    If players change places, so do the signs of values, and elimination needs positive ones:
    then it is that of both sides of every state, :func:`mirrored`.
    """
    if not swaps:
        terms, relative = eliminate_jit(size, discount, block, most, numbers)
        return int(terms), float(relative)
    both = np.empty((NUMBERS, 2 * size))
    terms, relative = eliminate_jit(2 * size, discount, mirrored_jit(size, block), most, both)
    if terms >= 0:
        for number in range(size):
            numbers[VALUE, number] = both[VALUE, number]
            numbers[WEIGHT, number] = both[WEIGHT, number]
            numbers[ERROR, number] = both[ERROR, number]
    return int(terms), float(relative)


evaluate_jit = compiled(evaluate)


def dwell(
    num_states: int, discount: float, swaps: bool, most: int, block: Block, numbers: Floats
) -> bool:
    """Let the weights count the most steps of all choices that are equally good up to rounding.

    Values and policy stay unchanged.

    Parameters
    ----------
    swaps : bool
        Whether players change places, as for :func:`evaluate`.
    most : int
        Largest number of terms that an elimination may combine.

    Returns
    -------
    done : bool
        Whether there are such weights, and they were not too expensive.
    """
    graph = block.graph
    policy = np.empty(num_states, np.uintp)
    values = np.empty(num_states)
    scale = 0.0
    for state in range(np.uintp(num_states)):
        policy[state] = block.policy[state]
        values[state] = numbers[VALUE, state]
        scale = max(scale, abs(values[state]))
    terms = 0
    changed = 1
    rounds = 0
    while changed > 0 and terms >= 0 and rounds < ROUNDS:
        changed = 0
        rounds += 1
        for state in range(np.uintp(num_states)):
            longest = numbers[WEIGHT, state] * (1.0 + 1e-9)
            for choice in range(graph.choice_offsets[state], graph.choice_offsets[state + ONE]):
                total = length = 0.0
                for t in range(
                    graph.transition_offsets[choice], graph.transition_offsets[choice + ONE]
                ):
                    successor = graph.successors[t]
                    total += block.probabilities[t] * values[successor]
                    length += abs(block.probabilities[t]) * numbers[WEIGHT, successor]
                worse = block.signs[state] * (
                    values[state] - (block.constants[choice] + discount * total)
                )
                weight = 1.0 + discount * length
                # A choice that is worse by more does no harm, however much longer it takes.
                size = max(scale, size_of_jit(block, choice))
                if weight > longest and worse <= TIE * size * weight:
                    longest = weight
                    block.policy[state] = choice
                    changed += 1
            if longest > numbers[WEIGHT, state] * (1.0 + 1e-9):
                numbers[WEIGHT, state] = longest
        if changed > 0:
            terms, _ = evaluate_jit(num_states, discount, swaps, most, block, numbers)
    for state in range(np.uintp(num_states)):
        block.policy[state] = policy[state]
        numbers[VALUE, state] = values[state]
    return terms >= 0


dwell_jit = compiled(dwell)


def look_around(
    start: int,
    stop: int,
    equation: Equation,
    relative: float,
    who: int,
    block: Block,
    numbers: Floats,
    values: Floats,
    errors: Floats,
    policy: Integers,
) -> tuple[int, float, float]:
    """Give a component the numbers of its policy, and improve the policy where that is certain.

    Returns
    -------
    better, multiple, ties
        As for :func:`compare`; `better` is negative if nothing is known of the numbers.
    """
    inner = block.graph
    graph = equation.graph
    size = stop - start
    for number in range(size):
        state = equation.order[start + number]
        values[state] = numbers[VALUE, number]
        errors[state] = numbers[ERROR, number]
        chosen = block.policy[number] - inner.choice_offsets[number]
        policy[state] = graph.choice_offsets[state] + chosen
    if not relative < LARGE_ERROR:
        return -1, np.inf, np.inf
    better = 0
    multiple = ties = np.inf
    opponents = who == OPPONENTS
    for turn in range(2 if opponents else 1):  # the minimisers' first
        if better == 0:
            may = (turn == 1 or not opponents, turn == 0)
            better, multiple, ties = compare_jit(
                start, stop, equation, values, errors, numbers, relative, *may, policy
            )
    if better > 0:
        for number in range(size):
            state = equation.order[start + number]
            chosen = policy[state] - graph.choice_offsets[state]
            block.policy[number] = inner.choice_offsets[number] + chosen
    return better, multiple, ties


look_around_jit = compiled(look_around)


def grant(
    start: int,
    stop: int,
    equation: Equation,
    outside: float,
    one_sign: bool,
    better: int,
    multiple: float,
    ties: float,
    numbers: Floats,
    values: Floats,
    errors: Floats,
) -> float:
    """Set the errors of a component from the results of :func:`look_around`.

    Parameters
    ----------
    outside : float
        The largest error of a successor outside.
    one_sign : bool
        Whether no two rewards or payoffs of the model have different signs.

    Returns
    -------
    width : float
        The largest error that the component adds to `outside`; infinite if there is no proof.
    """
    width = 0.0
    for number in range(stop - start):
        state = equation.order[start + number]
        error = np.inf
        if better == 0:
            error = errors[state]
            more = 0.0
            if multiple > 0.0:
                more = multiple * numbers[WEIGHT, number] * (1.0 + 4.0 * LARGE_ERROR)
            if one_sign and ties < LARGE_ERROR:
                by_factors = 2.0 * ties * (1.0 + 4.0 * LARGE_ERROR) * (abs(values[state]) + error)
                more = min(more, by_factors)
            error = (error + more) * UPWARD
            if not error < np.inf:
                error = np.inf
        if error - outside > width:
            width = error - outside
        errors[state] = error
    return width


grant_jit = compiled(grant)


def prove_policy(
    start: int,
    stop: int,
    equation: Equation,
    outside: float,
    most: int,
    one_sign: bool,
    who: int,
    relative: float,
    block: Block,
    numbers: Floats,
    values: Floats,
    errors: Floats,
    policy: Integers,
) -> float:
    """Evaluate a component's policy by elimination, improve it where that is certain, and prove it.

    Sets the values, errors and the policy of the component's states, in the arrays of the model,
    and, except for the errors, in those of the gathered component. Without such a proof, they are
    those of some policy nevertheless; errors are then infinite.

    Parameters
    ----------
    outside, one_sign
        As for :func:`grant`.
    most : int
        Largest number of terms that an elimination may combine.
    who : int
        Who chooses, see :func:`gamedp.bellman.component_sweeps.chooser`. Opponents take turns;
        players who change places do not, so that improving need not come to an end.
    relative : float
        The relative error of the weights if the numbers are those of an elimination of this policy,
        and its values those that were `ELIMINATED`; 0 if it is yet to be eliminated.

    Returns
    -------
    width : float
        As for :func:`grant`.
    """
    better = 1
    multiple = ties = np.inf
    size, terms = stop - start, 0
    is_known = relative > 0.0 and equation.discount == 1.0  # or the weights are others now
    for _ in range(ROUNDS):
        if is_known:
            for number in range(size):
                numbers[VALUE, number] = numbers[ELIMINATED, number]
        else:
            terms, relative = evaluate_jit(
                size, equation.discount, who == SWAPS, most, block, numbers
            )
        is_known = False
        if terms < 0:
            better = -1
            break
        better, multiple, ties = look_around_jit(
            start, stop, equation, relative, who, block, numbers, values, errors, policy
        )
        if better <= 0:
            break
    return float(
        grant_jit(
            start,
            stop,
            equation,
            outside,
            one_sign,
            better,
            multiple,
            ties,
            numbers,
            values,
            errors,
        )
    )


prove_policy_jit = compiled(prove_policy)
