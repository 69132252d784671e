"""Bellman's equation: the value of every state from those of its successors.

The value of choice c for values v is ``constants[c] + discount * sum(P * v[successors])`` with
signed probabilities P (see :class:`gamedp.Model`); that of a state is the largest or the smallest
one of its choices. All kernels take an :class:`Equation`.

In max-n, below, several players each take the action that is best for themselves.

Probabilities may be coded: indices into a codebook, where the same few values recur. Dice, wind and
servers have a handful of probabilities. A loop over more transitions than fit into the processor's
cache waits for memory: with two bytes for the number of a probability, instead of eight for the
probability itself, there is less to wait for. The values looked up are exactly the same numbers, so
sums are the same to the last bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gamedp.runtime.floats import TINY, UNIT, UPWARD, rounds
from gamedp.runtime.jit import compiled, inlined

if TYPE_CHECKING:
    import numpy.typing as npt

    from gamedp.graph.graph import Graph
    from gamedp.runtime.arrays import Flags, Floats, Integers, Naturals

    Probabilities = Floats | npt.NDArray[np.uint16]


MAX_CODES = 1 << 12
"""Largest size of a codebook: it stays in the processor's cache. With more, each access costs as
much as is saved."""

SLOTS = 4 * MAX_CODES
ONE = np.uintp(1)
HALF = np.uint64(32)
LOW_HALF = np.uint64(2**32 - 1)
FACTOR = np.uint64(0x9E3779B9)


def probability(codes: Probabilities, codebook: Floats | None, place: int) -> float:
    """Return the probability in a place: itself, or the value of its number in a codebook."""
    # Each of the two is compiled separately, without the other.
    if codebook is None:
        return codes[place]  # type: ignore[no-any-return]
    else:  # noqa: RET505 - numba leaves out a branch, not what follows
        return codebook[codes[place]]  # type: ignore[no-any-return]


# Not `inlined`: the branch to omit is only known once types are.
probability_jit = compiled(probability)


def collect(
    bits: npt.NDArray[np.uint64],
    slots: npt.NDArray[np.uint16],
    values: npt.NDArray[np.uint64],
    codes: npt.NDArray[np.uint16],
) -> int:
    """Assign numbers to the different values of an array, in the order in which they occur.

    Parameters
    ----------
    bits : (T,)
        The numbers, bit by bit.
    slots : (SLOTS,)
        Scratch: zeros.
    values : (MAX_CODES,)
        Filled with the different values.
    codes : (T,)
        Filled with their numbers.

    Returns
    -------
    count : int
        The number of values; MAX_CODES + 1 if there are more than MAX_CODES, where it has stopped.
    """
    count = np.uintp(0)
    for place in range(len(bits)):
        value = bits[place]
        folded = (value >> HALF) ^ (value & LOW_HALF)  # so that the product fits into 64 bits
        slot = np.uintp((folded * FACTOR) >> HALF) & np.uintp(SLOTS - 1)
        while slots[slot] > 0 and values[slots[slot] - 1] != value:
            slot = (slot + ONE) & np.uintp(SLOTS - 1)
        if slots[slot] == 0:
            if count == MAX_CODES:
                return MAX_CODES + 1
            values[count] = value
            count += ONE
            slots[slot] = count
        codes[place] = slots[slot] - 1
    return np.int64(count)  # type: ignore[return-value] # signed, as the other one


collect_jit = compiled(collect)


class Equation(NamedTuple):
    """Bellman's equation as arrays: S states, C choices, T transitions.

    Attributes
    ----------
    graph : Graph
    probabilities : (T,)
        Negative where the players change places; or numbers of probabilities in the codebook.
    codebook : (P,) or None
        See :mod:`gamedp.bellman.equation`. None if `probabilities` are not coded.
    constants : (C,)
        The constant part of a choice's value: its reward, and the shares of the constant sum from
        changes of places.
    sizes : (C,)
        The sum of the absolute values of each constant's terms, with or without a sign:
        rounding is in proportion to it, however much cancels out. A constant is exact where its
        absolute value is that of its size; rewards are their own sizes.
    maximise : (S,) bool
        Whether the player to move maximises.
    discount : float
        1 for total reward.
    order, place : (S,)
        The states in the order of the sweeps, successors first, and the position of each in it.
        Empty for kernels that need no order.
    """

    graph: Graph
    probabilities: Probabilities
    codebook: Floats | None
    constants: Floats
    sizes: Floats
    maximise: Flags
    discount: float
    order: Integers
    place: Naturals


NO_ORDER = np.empty(0, np.int32), np.empty(0, np.uint32)
"""Order and place of an equation without any."""


def unordered_equation(
    graph: Graph,
    probabilities: Probabilities,
    rewards: Floats,
    maximise: Flags,
    discount: float = 1.0,
    codebook: Floats | None = None,
) -> Equation:
    """Return the equation of a model without a constant sum, for kernels that need no order."""
    return Equation(graph, probabilities, codebook, rewards, rewards, maximise, discount, *NO_ORDER)


def backup(
    state: int,
    equation: Equation,
    values: Floats,
) -> tuple[float, int]:
    """Return the best value of a state's choices and the first choice that has it."""
    graph = equation.graph
    # Arrays have names of their own, because each access to a tuple counts references; and numbers
    # are unsigned, because signed ones are checked for counting from the end of an array each time.
    choice_offsets, transition_offsets = graph.choice_offsets, graph.transition_offsets
    successors, probabilities = graph.successors, equation.probabilities
    constants, discount = equation.constants, equation.discount
    number = np.uintp(state)
    sign = 1.0 if equation.maximise[number] else -1.0
    best = -np.inf
    first_choice: Any = np.uintp(choice_offsets[number])
    best_choice = first_choice
    next_t = np.uintp(transition_offsets[first_choice])
    for choice in range(first_choice, np.uintp(choice_offsets[number + ONE])):
        first_t = next_t
        next_t = np.uintp(transition_offsets[choice + ONE])
        total = 0.0
        for t in range(first_t, next_t):
            total += probabilities[t] * values[np.uintp(successors[t])]
        value = sign * (constants[choice] + discount * total)
        if value > best:
            best = value
            best_choice = choice
    return sign * best, np.int64(best_choice)  # type: ignore[return-value] # signed again


backup_jit = inlined(backup)


def sweep(
    start: int,
    stop: int,
    equation: Equation,
    values: Floats,
    policy: Integers,
) -> float:
    """Update ``order[start:stop]`` in place (Gauss-Seidel); return the largest change."""
    graph = equation.graph
    change = 0.0
    for place in range(start, stop):
        state = equation.order[place]
        if graph.choice_offsets[state] == graph.choice_offsets[state + 1]:
            continue
        value, policy[state] = backup_jit(
            state,
            equation,
            values,
        )
        difference = abs(value - values[state])
        # Written so that a NaN counts as an infinite change.
        if not difference <= change:
            change = difference
        values[state] = value
    return change


sweep_jit = compiled(sweep)


def sweep_apart(
    start: int,
    stop: int,
    equation: Equation,
    values: Floats,
    new_values: Floats,
    policy: Integers,
) -> tuple[float, float]:
    """Update the states ``start .. stop-1`` from `values` into `new_values` (Jacobi).

    Returns
    -------
    lowest, highest
        The smallest and the largest change, signed.
    """
    graph = equation.graph
    lowest = np.inf
    highest = -np.inf
    for state in range(start, stop):
        if graph.choice_offsets[state] == graph.choice_offsets[state + 1]:
            new_values[state] = values[state]
            continue
        value, policy[state] = backup_jit(
            state,
            equation,
            values,
        )
        difference = value - values[state]
        if not difference >= lowest:
            lowest = difference
        if not difference <= highest:
            highest = difference
        new_values[state] = value
    return lowest, highest


sweep_apart_jit = compiled(sweep_apart)


def choice_value(choice: int, equation: Equation, values: Floats) -> float:
    """Return the value of a choice."""
    graph = equation.graph
    # As in `backup`: arrays with names of their own, and unsigned numbers.
    transition_offsets, successors = graph.transition_offsets, graph.successors
    probabilities = equation.probabilities
    number = np.uintp(choice)
    total = 0.0
    for t in range(
        np.uintp(transition_offsets[number]), np.uintp(transition_offsets[number + ONE])
    ):
        total += probabilities[t] * values[np.uintp(successors[t])]
    return float(equation.constants[number] + equation.discount * total)


choice_value_jit = inlined(choice_value)


def follow(
    start: int, stop: int, equation: Equation, answers: bool, values: Floats, policy: Integers
) -> float:
    """Update ``order[start:stop]`` in place (Gauss-Seidel) by a policy; return the largest change.

    Parameters
    ----------
    answers : bool
        Whether minimising players choose the best answer instead.
    """
    graph = equation.graph
    change = 0.0
    for place in range(start, stop):
        state = equation.order[place]
        if graph.choice_offsets[state] == graph.choice_offsets[state + 1]:
            continue
        if answers and not equation.maximise[state]:
            value, policy[state] = backup_jit(state, equation, values)
        else:
            value = choice_value_jit(policy[state], equation, values)
        difference = abs(value - values[state])
        # Written so that a NaN counts as an infinite change.
        if not difference <= change:
            change = difference
        values[state] = value
    return change


follow_jit = compiled(follow)


def swap_constants(
    transition_offsets: Integers,
    probabilities: Floats,
    rewards: Floats,
    constant_sum: float,
    constants: Floats,
    sizes: Floats,
) -> None:
    """Set constants to rewards and the shares of the constant sum from swaps, and their sizes."""
    for choice in range(len(constants)):
        first, last = transition_offsets[choice], transition_offsets[choice + 1]
        swapped = 0.0
        for t in range(first, last):
            if probabilities[t] < 0.0:
                swapped -= probabilities[t]
        if swapped == 0.0:
            constants[choice] = sizes[choice] = rewards[choice]
            continue
        share = constant_sum * swapped
        constant = rewards[choice] + share
        constants[choice] = sizes[choice] = constant
        is_sure = last - first == 1 and swapped == 1.0
        if not is_sure or rounds_jit(rewards[choice], share, constant):
            sizes[choice] = (abs(rewards[choice]) + abs(share)) * UPWARD + TINY


swap_constants_jit = compiled(swap_constants)


rounds_jit = inlined(rounds)


def shift_rounds(bound: float, half: float) -> bool:
    """Return whether a finite bound is rounded when half of the constant sum is subtracted."""
    return abs(bound) < float("inf") and rounds_jit(bound, -half, bound - half)


shift_rounds_jit = inlined(shift_rounds)


def solve_max_n(
    order: Integers,
    choice_offsets: Integers,
    transition_offsets: Integers,
    successors: Integers,
    probabilities: Floats,
    rewards: Floats,
    players: Integers,
    sign: float,
    values: Floats,
    errors: Floats,
    policy: Integers,
) -> None:
    """Fill in the values of all players in the states of an acyclic model, successors first.

    The player to move takes its first best choice (`sign` 1: the largest value). `errors`
    bounds the rounding of the values under that policy; see :mod:`gamedp.bellman.residuals`.
    """
    num_players = values.shape[1]
    for place in range(len(order)):
        state = order[place]
        mover = players[state]
        best = -np.inf
        for choice in range(choice_offsets[state], choice_offsets[state + 1]):
            total = 0.0
            for t in range(transition_offsets[choice], transition_offsets[choice + 1]):
                total += probabilities[t] * values[successors[t], mover]
            value = sign * (rewards[choice, mover] + total)
            if value > best:
                best = value
                policy[state] = choice
        choice = policy[state]
        if choice < 0:
            continue
        first = transition_offsets[choice]
        last = transition_offsets[choice + 1]
        for player in range(num_players):
            total = 0.0
            size = 0.0
            slack = 0.0
            for t in range(first, last):
                term = probabilities[t] * values[successors[t], player]
                total += term
                size += abs(term)
                slack += probabilities[t] * errors[successors[t], player]
            reward = rewards[choice, player]
            values[state, player] = reward + total
            exact = last - first == 1 and probabilities[first] == 1.0 and reward == 0.0
            if not exact:
                count = last - first + 8
                slack += count * UNIT * (size + abs(reward) + slack)
                slack = slack * UPWARD + count * TINY
            errors[state, player] = slack


solve_max_n_jit = compiled(solve_max_n)
