"""What a policy is worth in a gathered component, by elimination that keeps to what is there.

States are eliminated in the order of the sweeps: whoever comes to a state before it goes on to
where that one leads in the end. In depth-first order most successors of a state come before it, so
that little is left of each equation: the few states later in the order to which cycles lead back.
Nothing is subtracted, as in :mod:`gamedp.kernels.elimination`: no digits are lost however long play
stays.

Numbers of states are unsigned where they are looked up most, see :mod:`gamedp.kernels.blocks`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.kernels.blocks import VALUE, WEIGHT
from gamedp.kernels.jit import compiled, inlined

if TYPE_CHECKING:
    import numpy.typing as npt

    from gamedp.kernels.blocks import Block

    Naturals = npt.NDArray[np.unsignedinteger[Any]]
    Floats = npt.NDArray[np.float64]

STAYS, DEAR = -1, -2
"""Why there is no result: play stays for ever with the policy; or there is too much to do."""

ONE = np.uintp(1)


def push(heap: Naturals, count: int, number: int) -> None:
    """Put a number into a heap of so many, the least first."""
    place = np.uintp(count)
    while place > 0 and heap[(place - ONE) >> ONE] > number:
        heap[place] = heap[(place - ONE) >> ONE]
        place = (place - ONE) >> ONE
    heap[place] = number


push_jit = inlined(push)


def sift(heap: Naturals, count: int) -> None:
    """Replace the first number of a heap by the one after its end."""
    number = heap[count]
    place = np.uintp(0)
    while True:
        child = place + place + ONE
        if child >= count:
            break
        if child + ONE < count and heap[child + ONE] < heap[child]:
            child += ONE
        if heap[child] >= number:
            break
        heap[place] = heap[child]
        place = child
    heap[place] = number


sift_jit = inlined(sift)


def eliminate(num_states: int, discount: float, block: Block, most: int, numbers: Floats) -> int:
    """Set the values and the weights of a component to those of its policy; no players swap.

    The weights are the expected steps within the component.

    Parameters
    ----------
    most : int
        How many terms to combine at most.

    Returns
    -------
    terms : int
        How many were combined; or, with the numbers as they were, `STAYS` or `DEAR`.
    """
    offsets = np.empty(num_states + 1, np.uintp)
    columns = np.empty(2 * num_states + 16, block.targets.dtype)
    shares = np.empty(2 * num_states + 16)
    earned = np.empty(num_states)
    lengths = np.empty(num_states)
    away = np.empty(num_states)  # the share that leaves the component
    chances = np.empty(num_states)
    seen = np.empty(num_states, np.uintp)
    seen[:] = num_states
    before = np.empty(num_states + 1, np.uintp)
    after = np.empty(num_states, np.uintp)
    used = terms = np.uintp(0)
    offsets[0] = 0
    for state in range(np.uintp(num_states)):
        choice = block.policy[state]
        gain = block.known[choice]
        length = 1.0
        leaving = (1.0 - discount) + discount * block.leaving[choice]
        num_before = num_after = np.uintp(0)
        for t in range(block.first_transition[choice], block.first_transition[choice + ONE]):
            target = np.uintp(block.targets[t])
            chance = discount * block.chances[t]
            if seen[target] == state:
                chances[target] += chance
                continue
            seen[target] = state
            chances[target] = chance
            if target < state:
                push_jit(before, num_before, target)
                num_before += ONE
            else:
                after[num_after] = target
                num_after += ONE
        while num_before > 0:
            middle = before[0]
            num_before -= ONE
            sift_jit(before, num_before)
            chance = chances[middle]
            gain += chance * earned[middle]
            length += chance * lengths[middle]
            leaving += chance * away[middle]
            terms += ONE
            for place in range(offsets[middle], offsets[middle + ONE]):
                target = np.uintp(columns[place])
                terms += ONE
                if seen[target] == state:
                    chances[target] += chance * shares[place]
                    continue
                seen[target] = state
                chances[target] = chance * shares[place]
                if target < state:
                    push_jit(before, num_before, target)
                    num_before += ONE
                else:
                    after[num_after] = target
                    num_after += ONE
        if terms > most:
            return DEAR
        out = leaving
        for number in range(num_after):
            if after[number] != state:
                out += chances[after[number]]
        if not out > 0.0:
            return STAYS
        if used + num_after > len(columns):
            more = np.empty(2 * len(columns) + num_states, columns.dtype)
            larger = np.empty(len(more))
            for place in range(used):
                more[place] = columns[place]
                larger[place] = shares[place]
            columns, shares = more, larger
        for number in range(num_after):
            later = after[number]
            if later != state:
                columns[used] = later
                shares[used] = chances[later] / out
                used += ONE
        offsets[state + ONE] = used
        earned[state] = gain / out
        lengths[state] = length / out
        away[state] = leaving / out
    for position in range(num_states):
        last = np.uintp(num_states - 1 - position)
        value = earned[last]
        weight = lengths[last]
        for place in range(offsets[last], offsets[last + ONE]):
            value += shares[place] * numbers[VALUE, columns[place]]
            weight += shares[place] * numbers[WEIGHT, columns[place]]
        numbers[VALUE, last] = value
        numbers[WEIGHT, last] = weight
    return int(terms)


eliminate_jit = compiled(eliminate)
