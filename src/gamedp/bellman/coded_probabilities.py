"""Coded probabilities: indices into a codebook, where the same few values recur.

Dice, wind and servers have a handful of probabilities. A loop over more transitions than fit into
the processor's cache waits for memory: with two bytes for the number of a probability, instead of
eight for the probability itself, there is less to wait for. The values looked up are exactly the
same numbers, so sums are the same to the last bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.runtime.jit import compiled

if TYPE_CHECKING:
    import numpy.typing as npt

    from gamedp.runtime.arrays import Floats

    Naturals = npt.NDArray[np.unsignedinteger[Any]]
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
