"""The compiled loop over the ends of a stage: the value of each in a few dozen contexts at a time.

Plain functions on arrays and on a staged game bound by :mod:`gamedp.compiler.bridge`; compiled for
each game by :mod:`gamedp.stages.sweepers`.

A loop over columns asks one rule, and stores its answers. Where the rule has no loop itself and
cannot raise, LLVM turns such a loop into vector instructions, a register of contexts at a time. For
that the loops must be inlined, so that what they read does not change under them; arrays must be
few, and have a layout that is known when the loop is compiled; and nothing may be stored on
condition.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numba.extending import register_jitable

from gamedp.runtime.jit import LANES

# What a call returns.
DONE, NOT_SOLVED_YET, BAD = range(3)

# Places in `results`: the largest rise and the largest change of a value, and the place among the
# contexts where something was wrong.
RISE, CHANGE, PLACE = range(3)

NONE = -2
"""The code of no context, nor of one before a context."""

# Of a floating-point number, as an integer. Without the sign, the bits of numbers are in the order
# of the numbers, and those of NaN above all.
SIGN = -(2**63)
INFINITE = int(np.array(np.inf).view(np.int64))


@register_jitable
def decode_context(code, low, stride, fields):
    """Unpack the code of a context into its fields."""
    rest = code
    for k in range(fields.size - 1, -1, -1):
        digit = rest // stride[k]
        rest -= digit * stride[k]
        fields[k] = digit + low[k]


@register_jitable
def decode_next(code, before, low, high, stride, fields):
    """Unpack a code where `fields` are those of the code `before`, or of `NONE`."""
    # Field 0 has stride 1, and a step is faster than a division.
    if code == before + 1 and fields[0] + 1 < high[0]:
        fields[0] += 1
    else:
        decode_context(code, low, stride, fields)


@register_jitable(forceinline=True)
def spread(work, codes):
    """Unpack contexts into columns; return how many of them `allows` must be asked about.

    It is one if they agree in all that it looks at.
    """
    columns, fields, asked = work.columns, work.fields, 1
    before = NONE
    for column in range(codes.size):
        work.chosen[column] = column
        decode_next(codes[column], before, work.low, work.high, work.stride, fields)
        before = codes[column]
        for k in range(fields.size):
            columns[k * LANES + column] = fields[k]
            if work.matters[k] and fields[k] != columns[k * LANES]:
                asked = codes.size
    return asked


@register_jitable(forceinline=True)
def choose(game, columns, end, asked, count, chosen):
    """List the columns whose contexts allow an end, if not all agree; return how many do."""
    if asked == 1:
        return count if game.allows(game.gamedp_decode_column(columns, 0), end) else 0
    found = 0
    for column in range(count):
        chosen[found] = column
        if game.allows(game.gamedp_decode_column(columns, column), end):
            found += 1
    return found


@register_jitable(forceinline=True)
def pack(columns, chosen, count, num_fields, packed):
    """Move the chosen columns together."""
    for column in range(count):
        for k in range(num_fields):
            packed[k * LANES + column] = columns[k * LANES + chosen[column]]


@register_jitable(forceinline=True)
def unpack(end_values, chosen, count, never, size, thin):
    """Move what belongs to the chosen columns back to where they are."""
    for column in range(size):
        thin[column] = never
    for column in range(count):
        thin[chosen[column]] = end_values[column]


@register_jitable(forceinline=True)
def lead_on(game, columns, end, count, ranges, following, swaps):
    """Find the code of the context that an end leads to from each column.

    Where that is outside the box it is -1, and then so is what is returned.
    """
    outside = 0
    for column in range(count):
        context = game.gamedp_decode_column(columns, column)
        representative, swapped = game.canonical(game.following(context, end))
        code = game.gamedp_encode(representative, *ranges)
        following[column] = code
        swaps[column] = swapped
        outside |= code
    return outside


@register_jitable(forceinline=True)
def pay(game, columns, end, count, rewards, peaks):
    """Find what an end earns in each column; `peaks` are the bits of the largest sizes so far."""
    bits = rewards.view(np.int64)
    for column in range(count):
        rewards[column] = game.reward(game.gamedp_decode_column(columns, column), end, 0)
        size = bits[column] & ~SIGN
        peaks[column] = max(peaks[column], size)


@register_jitable(forceinline=True)
def add_up(values, following, swaps, rewards, constant_sum, count, end_values):
    """Find the value of an end in each column; return the bits of the largest size."""
    for column in range(count):
        end_values[column] = values[np.uint64(following[column])]  # unsigned: no index from the end
    bits = end_values.view(np.int64)
    most = 0
    for column in range(count):
        value = end_values[column]
        end_values[column] = (constant_sum - value if swaps[column] else value) + rewards[column]
        size = bits[column] & ~SIGN
        most = max(most, size)
    return most


def fill_ends(game, work, never, codes, values, weights):
    """Write into the ends' rows the value of each end in each of the contexts `codes`.

    Where an end is not allowed, that is `never`.

    With `weights`, rewards do not count: it is what the next context's number in `values` says.
    """
    block, alive, end_fields = work.block, work.alive, work.end_fields
    columns, chosen, packed = work.columns, work.chosen, work.packed
    following, swaps, rewards, end_values = (
        work.following,
        work.swaps,
        work.rewards,
        work.end_values,
    )
    ranges = game.gamedp_ranges(work.low, work.high, work.stride)
    shape = (block.shape[0], block.shape[2])
    whole, thin = end_values.reshape(shape), work.thin.reshape(shape)
    asked = spread(work, codes)
    for place in range(end_fields.shape[0]):
        end = game.gamedp_decode_end(end_fields[place])
        count = choose(game, columns, end, asked, codes.size, chosen)
        if count == 0 and not alive[place]:
            continue  # as it was for the contexts before
        alive[place] = count > 0
        table, row = columns, whole
        if count < codes.size:
            table, row = packed, thin
            pack(columns, chosen, count, work.low.size, packed)
        if lead_on(game, table, end, count, ranges, following, swaps) < 0:
            for column in range(count):
                if following[column] < 0:
                    work.results[PLACE] = chosen[column]
            return BAD
        if weights:
            swaps[:] = False
        else:
            pay(game, table, end, count, rewards, work.peaks)
        most = add_up(values, following, swaps, rewards, work.constant_sum, count, end_values)
        if most >= INFINITE:  # or NaN
            for column in range(count):
                if not abs(end_values[column]) < np.inf:
                    work.results[PLACE] = chosen[column]
            return NOT_SOLVED_YET
        if count < codes.size:
            unpack(end_values, chosen, count, never, codes.size, work.thin)
        for part in range(block.shape[0]):
            for lane in range(block.shape[2]):
                block[part, place, lane] = row[part, lane]
    return DONE


fill_ends_jit = njit(fill_ends)
