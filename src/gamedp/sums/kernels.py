"""Nim-values: of the states of a model, and of the heaps of an octal game.

The nim-value of a position is the least number that no position after it has, its mex; that of two
positions side by side is their exclusive or.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gamedp.runtime.jit import compiled

if TYPE_CHECKING:
    from gamedp.runtime.arrays import Flags, Integers


def model_values(
    order: Integers,
    choice_offsets: Integers,
    successors: Integers,
    marks: Integers,
    values: Integers,
) -> None:
    """Fill in the nim-value of every state of an acyclic model without chance.

    Parameters
    ----------
    order : (S,)
        The states, successors first.
    choice_offsets, successors
        As in :class:`gamedp.Model`; one transition for each choice.
    marks : (the most choices of a state + 2,)
        All -1; the value of a state is at most its number of choices.
    values : (S,)
        Filled in.
    """
    for place in range(len(order)):
        state = order[place]
        for choice in range(choice_offsets[state], choice_offsets[state + 1]):
            marks[values[successors[choice]]] = place
        least = 0
        while marks[least] == place:
            least += 1
        values[state] = least


def heap_values(
    code: Integers,
    is_common: Flags,
    start: int,
    stop: int,
    num_rare: int,
    rare: Integers,
    marks: Integers,
    values: Integers,
) -> int:
    """Fill in the nim-values of heaps of an octal game, in order of their size.

    Values are called rare or common such that two rare or two common ones add up to a rare one, and
    a rare and a common one to a common one: by the parity of some of their binary digits. Then all
    common values of the positions after a heap come from its splits into two parts of which one is
    rare. If few heaps are rare, there are few such splits; it remains to check that the rare values
    below the least missing common one occur, too, and other splits show that soon [1]_. The choice
    of the digits affects only the time.

    Parameters
    ----------
    code : (t + 1,)
        The digits of the game; in ``code[k]``, bit 0 allows taking a whole heap of k, bit 1 taking
        k from a larger heap, bit 2 taking k and splitting the rest into two heaps.
    is_common : (L,) bool
        Whether a value is common; L is a power of two.
    start, stop : int
        The sizes to compute; the values of smaller heaps are known.
    num_rare : int
        The number of heaps below `start` with a rare value, not counting the empty one.
    rare : (at least `stop`,)
        These heaps, ascending; more are appended.
    marks : (L,)
        Scratch, with numbers below `start` only.
    values : (at least `stop`,)
        Filled in.

    Returns
    -------
    int
        The size at which it stopped: `stop`, or an earlier one if values come near L.

    References
    ----------
    .. [1] E. Berlekamp, J. Conway, R. Guy, "Winning Ways", chapter 4: the sparse space phenomenon;
       A. Gangolli, T. Plambeck, "A note on periodicity in some octal games", International Journal
       of Game Theory 18 (1989).
    """
    digits = len(code)
    for heap in range(start, stop):
        for taken in range(min(digits, heap + 1)):
            digit = code[taken]
            left = heap - taken
            if left == 0:
                if digit & 1:
                    marks[0] = heap
                continue
            if digit & 2:
                marks[values[left]] = heap
            if digit & 4:
                for place in range(num_rare):
                    part = rare[place]
                    if part >= left:
                        break
                    marks[values[part] ^ values[left - part]] = heap
        least = 0
        missing = 0
        while not is_common[least] or marks[least] == heap:
            if marks[least] != heap:
                missing += 1
            least += 1
        for taken in range(min(digits, heap)):
            if code[taken] & 4 == 0:
                continue
            left = heap - taken
            part = 1
            while missing > 0 and 2 * part <= left:
                value = values[part] ^ values[left - part]
                if value < least and marks[value] != heap:
                    marks[value] = heap
                    missing -= 1
                part += 1
        if missing > 0:
            least = 0
            while is_common[least] or marks[least] == heap:
                least += 1
        values[heap] = least
        if not is_common[least]:
            rare[num_rare] = heap
            num_rare += 1
        if 4 * least >= len(is_common):
            return heap + 1
    return stop


def matches_at_end(values: Integers, lengths: Integers) -> None:
    """Compute how far the end of a sequence agrees with its end shifted by p, for each p.

    ``lengths[p]`` is the most n such that ``values[-i] == values[-i - p]`` for i of 1 to n. This is
    the Z-function of the reversed sequence, found in linear time.
    """
    size = len(values)
    if size == 0:
        return
    last = size - 1
    lengths[0] = size
    left = 0
    right = 0
    for shift in range(1, size):
        length = 0
        if shift < right:
            length = min(right - shift, lengths[shift - left])
        while shift + length < size and values[last - length] == values[last - shift - length]:
            length += 1
        lengths[shift] = length
        if shift + length > right:
            left = shift
            right = shift + length


model_values_jit = compiled(model_values)
heap_values_jit = compiled(heap_values)
matches_at_end_jit = compiled(matches_at_end)
