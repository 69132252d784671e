"""Bellman's equation of one component, gathered into arrays of its own.

The states of a component lie scattered over the arrays of a model, and so do their successors.
Solvers that visit them several times gather their equation first: states and choices are
renumbered, in the order of the sweeps, and the constant part, that of successors outside the
component, is summed once. The rest fits into the processor's cache. Where ways out are long, the
states are put in another order: those nearest to an exit first.

Numbers of states, choices and transitions are unsigned here: whether a signed index counts from the
end of an array is checked on each access, which costs a fifth of the time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gamedp.graph.graph import Graph, transpose_jit
from gamedp.runtime.floats import TINY, UNIT
from gamedp.runtime.jit import compiled, inlined

if TYPE_CHECKING:
    from gamedp.bellman.equation import Equation
    from gamedp.runtime.arrays import Floats, Naturals


ONE = np.uintp(1)

VALUE, SLOPE, WEIGHT, SHARE, ERROR, ELIMINATED = range(6)
"""Rows of the numbers that are computed for each state of a component, (NUMBERS, S): four by a
sweep; the errors of values by an elimination, and these values, before sweeps go on from them."""
NUMBERS = 6


class Block(NamedTuple):
    """The equation of some states of a component: S states, C choices, T transitions within it.

    The value of choice c is ``constants[c] + discount * sum(probabilities * values[successors])``.
    A separate type from :class:`gamedp.bellman.equation.Equation`, because it is refilled again and
    again: arrays may be longer than needed, and there is more about choices, for proofs. All that
    is 0 for a choice that stays in the component: zeros that are never written take no memory.

    Attributes
    ----------
    graph : Graph
        The graph of the states by their numbers in the component; unsigned.
    signs : (S,)
        1 where the player to move maximises, else -1.
    policy : (S,)
        The greedy choice in the last sweep.
    constants : (C,)
        The reward of a choice, and the contribution of successors outside the component.
    sizes : (C,)
        The same with the absolute values of all terms; 0 if that is the constant's own absolute
        value, see :func:`size_of`.
    slacks : (C,)
        The part of the successors outside in ``sum(|P| * errors)``; the possible loss of products
        at the end of the number range; and the possible error of the constant, if it is more than a
        reward: then there is no discount.
    outer : (C,)
        The number of successors outside the component.
    leaving : (C,)
        The probability that the choice leaves the component.
    probabilities : (T,)
        Signed.
    """

    graph: Graph
    signs: Floats
    policy: Naturals
    constants: Floats
    sizes: Floats
    slacks: Floats
    outer: Floats
    leaving: Floats
    probabilities: Floats


def measure(start: int, stop: int, equation: Equation) -> tuple[int, int]:
    """Count the choices and the transitions of the states ``order[start:stop]``."""
    graph = equation.graph
    num_choices = num_transitions = 0
    for position in range(start, stop):
        state = equation.order[position]
        first = graph.choice_offsets[state]
        last = graph.choice_offsets[state + 1]
        num_choices += last - first
        num_transitions += graph.transition_offsets[last] - graph.transition_offsets[first]
    return num_choices, num_transitions


measure_jit = inlined(measure)


def reserve(num_states: int, num_choices: int, num_transitions: int, equation: Equation) -> Block:
    """Return a block with room for this many states, choices and transitions."""
    graph = Graph(
        np.empty(num_states + 1, np.uintp),
        np.empty(num_choices + 1, np.uintp),
        np.empty(num_transitions, equation.place.dtype),
    )
    return Block(
        graph,
        np.empty(num_states),
        np.empty(num_states, np.uintp),
        np.empty(num_choices),
        np.zeros(num_choices),
        np.zeros(num_choices),
        np.zeros(num_choices),
        np.zeros(num_choices),
        np.empty(num_transitions),
    )


reserve_jit = compiled(reserve)


def size_of(block: Block, choice: int) -> float:
    """Return the sum of the absolute values of a choice's constant terms."""
    size = block.sizes[choice]
    return float(size if size != 0.0 else abs(block.constants[choice]))


size_of_jit = inlined(size_of)


def put(column: Floats, place: int, number: float) -> None:
    """Write a number unless it is there: not the zeros of a new column."""
    if column[place] != number:
        column[place] = number


put_jit = inlined(put)


def gather(
    first: int,
    last: int,
    start: int,
    stop: int,
    equation: Equation,
    values: Floats,
    errors: Floats,
    block: Block,
) -> tuple[int, float]:
    """Gather the states ``order[first:last]`` of the component ``order[start:stop]``.

    Returns
    -------
    key_state : int
        The number in the component of the only state that a state not after it in the order leads
        to; -1 if there are several. If all states are gathered, all cycles go through it.
    outside : float
        The largest error of a successor outside the component.
    """
    inner = block.graph
    successors, probabilities = inner.successors, block.probabilities
    graph = equation.graph
    key_state = -1
    several = False
    outside = 0.0
    num_choices = num_transitions = np.uintp(0)
    inner.choice_offsets[0] = 0
    inner.transition_offsets[0] = 0
    for position in range(first, last):
        state = np.uintp(equation.order[position])
        block.signs[position - first] = 1.0 if equation.maximise[state] else -1.0
        first_choice = np.uintp(graph.choice_offsets[state])
        last_choice = np.uintp(graph.choice_offsets[state + ONE])
        next_t = np.uintp(graph.transition_offsets[first_choice])
        for choice in range(first_choice, last_choice):
            first_t = next_t
            next_t = np.uintp(graph.transition_offsets[ONE + choice])
            total = size = slack = outer = leaving = 0.0
            some = False
            for t in range(first_t, next_t):
                successor = np.uintp(graph.successors[t])
                probability = equation.probabilities[t]
                place: Any = np.int64(equation.place[successor])
                if start <= place < stop:
                    number = place - start
                    successors[num_transitions] = number
                    probabilities[num_transitions] = probability
                    num_transitions += ONE
                    if place >= position and number != key_state:
                        several = key_state >= 0
                        key_state = number
                else:
                    term = probability * values[successor]
                    total += term
                    size += abs(term)
                    slack += abs(probability) * errors[successor]
                    leaving += abs(probability)
                    outer += 1.0
                    some |= values[successor] != 0.0
                    if errors[successor] > outside:
                        outside = errors[successor]
            if some:
                slack += float(next_t - first_t) * TINY  # even if all products are rounded to zero
            constant, constant_size = equation.constants[choice], abs(equation.sizes[choice])
            if constant_size != abs(constant):
                slack += (float(next_t - first_t) + 8.0) * UNIT * constant_size
            constant += equation.discount * total
            size = constant_size + equation.discount * size
            block.constants[num_choices] = constant
            put_jit(block.sizes, num_choices, size if size != abs(constant) else 0.0)
            put_jit(block.slacks, num_choices, slack)
            put_jit(block.outer, num_choices, outer)
            put_jit(block.leaving, num_choices, leaving)
            num_choices += ONE
            inner.transition_offsets[num_choices] = num_transitions
        inner.choice_offsets[position - first + 1] = num_choices
    return -1 if several else key_state, outside


gather_jit = compiled(gather)


def isolate(
    first: int, last: int, start: int, stop: int, equation: Equation, values: Floats, errors: Floats
) -> tuple[Block, int, float]:
    """Gather states into a block of their own; return it and the results of `gather`."""
    lengths = measure_jit(first, last, equation)
    # Of one type, or they would be compiled for a literal 0 as well.
    block = reserve_jit(last - first, np.int64(lengths[0]), np.int64(lengths[1]), equation)
    key_state, outside = gather_jit(first, last, start, stop, equation, values, errors, block)
    return block, key_state, outside


isolate_jit = compiled(isolate)


def sweep(
    num_states: int, discount: float, block: Block, numbers: Floats
) -> tuple[float, float, bool]:
    """Update the numbers of a whole component in place (Gauss-Seidel).

    The value of each state, its slope as a function of the key state's value, the expected
    number of steps of the greedy policy within the component up to the key state (the weight), and
    the probability that this policy gets there (the share), all discounted. Without a key state
    slopes and shares are zero, and the weights count all steps.

    Returns
    -------
    change, increase
        The largest change of a value, and the largest increase of a weight.
    same : bool
        Whether the policy is that of the sweep before.
    """
    graph = block.graph
    change = increase = 0.0
    same = True
    for state in range(num_states):
        sign = block.signs[state]
        best = -np.inf
        best_choice = graph.choice_offsets[state]
        slope = weight = share = 0.0
        for choice in range(graph.choice_offsets[state], graph.choice_offsets[state + 1]):
            # Four sums together take hardly longer than one: each waits for its own last term.
            total = its_slope = its_weight = its_share = 0.0
            for t in range(graph.transition_offsets[choice], graph.transition_offsets[choice + 1]):
                successor = graph.successors[t]
                probability = block.probabilities[t]
                total += probability * numbers[VALUE, successor]
                its_slope += probability * numbers[SLOPE, successor]
                its_weight += abs(probability) * numbers[WEIGHT, successor]
                its_share += abs(probability) * numbers[SHARE, successor]
            value = sign * (block.constants[choice] + discount * total)
            if value > best:
                best = value
                best_choice = choice
                slope, weight, share = its_slope, its_weight, its_share
        if best_choice != block.policy[state]:
            block.policy[state] = best_choice
            same = False
        value = sign * best
        weight = 1.0 + discount * weight
        difference = abs(value - numbers[VALUE, state])
        # Written so that a NaN counts as an infinite change.
        if not difference <= change:
            change = difference
        if weight - numbers[WEIGHT, state] > increase:
            increase = weight - numbers[WEIGHT, state]
        numbers[VALUE, state] = value
        numbers[SLOPE, state] = discount * slope
        numbers[WEIGHT, state] = weight
        numbers[SHARE, state] = discount * share
    return change, increase, same


sweep_jit = compiled(sweep)


def lead_out(
    num_states: int, num_choices: int, num_transitions: int, block: Block, sequence: Naturals
) -> int:
    """Set a policy that may leave the component in the fewest steps; return the number of states.

    Parameters
    ----------
    sequence : (S,)
        Set to the states, nearest to an exit first, those without one last.
    """
    graph = block.graph
    owners = np.empty(num_choices, graph.successors.dtype)
    offsets = np.empty(num_states + 1, np.int64)
    choices = np.empty(num_transitions, graph.successors.dtype)  # a block has fewer than 2**32
    transpose_jit(
        graph.transition_offsets[: num_choices + 1],
        graph.successors[:num_transitions],
        None,
        offsets,
        choices,
    )
    reached = np.zeros(num_states, np.bool_)
    count = np.uintp(0)
    for state in range(np.uintp(num_states)):
        for choice in range(graph.choice_offsets[state], graph.choice_offsets[state + ONE]):
            owners[choice] = state
            if not reached[state] and block.leaving[choice] > 0.0:
                reached[state] = True
                block.policy[state] = choice
                sequence[count] = state
                count += ONE
    done = np.uintp(0)
    while done < count:
        nearer = sequence[done]
        done += ONE
        for place in range(offsets[nearer + ONE] - 1, offsets[nearer] - 1, -1):
            leading = np.uintp(choices[place])
            owner = np.uintp(owners[leading])
            if not reached[owner]:
                reached[owner] = True
                block.policy[owner] = leading
                sequence[count] = owner
                count += ONE
    found = int(count)
    for state in range(np.uintp(num_states)):
        if not reached[state]:
            sequence[count] = state
            count += ONE
    return found


lead_out_jit = compiled(lead_out)


def nearest_exits_first(
    num_states: int,
    num_choices: int,
    num_transitions: int,
    block: Block,
    numbers: Floats,
    sequence: Naturals,
) -> None:
    """List the states of a component, nearest to an exit first, and set a policy that leads out.

    Values are set to one that is too bad for everyone: if a step costs, the values that sweeps find
    on ways that lead nowhere are too good, and rise by one step with every sweep.

    Parameters
    ----------
    sequence : (S,)
        Set to the states in their new order.
    """
    lead_out_jit(num_states, num_choices, num_transitions, block, sequence)
    worst = 0.0
    for choice in range(num_choices):
        worst = max(worst, abs(block.constants[choice]))
    for state in range(num_states):
        numbers[VALUE, state] = -block.signs[state] * worst * num_states


nearest_exits_first_jit = compiled(nearest_exits_first)
