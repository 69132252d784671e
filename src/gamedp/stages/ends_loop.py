"""The compiled loop over the ends of a stage: their values in a few dozen contexts at a time.

Plain functions on arrays, compiled once for all staged games: what the rules answer for an end they
get by calling :func:`gamedp.stages.answer_loop.answer_end` through its address. Loops over columns
become vector instructions; :mod:`gamedp.stages.answer_loop` says when.
"""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from gamedp.compiler.native import call_native, called_by_rules
from gamedp.runtime.jit import LANES
from gamedp.runtime.linking import PART
from gamedp.stages.answer_loop import (
    ASKED,
    COLUMN,
    COLUMNS,
    END,
    OUTSIDE,
    PAYS,
    SIGN,
)
from gamedp.stages.kernels import PLACE

# What a call returns.
DONE, NOT_SOLVED_YET, BAD, FAILED = range(4)

NONE = -2
"""The code of no context, nor of one before a context."""

INFINITE = int(np.array(np.inf).view(np.int64))
"""The bits of infinity as an integer, as `SIGN`; those of NaN are above."""


@register_jitable(**PART)
def decode_context(code, low, stride, fields):
    """Unpack the code of a context into its fields."""
    rest = code
    for k in range(fields.size - 1, -1, -1):
        digit = rest // stride[k]
        rest -= digit * stride[k]
        fields[k] = digit + low[k]


@register_jitable(**PART)
def decode_next(code, before, low, high, stride, fields):
    """Unpack a code where `fields` are those of the code `before`, or of `NONE`."""
    # Field 0 has stride 1, and a step is faster than a division.
    if code == before + 1 and fields[0] + 1 < high[0]:
        fields[0] += 1
    else:
        decode_context(code, low, stride, fields)


@register_jitable(forceinline=True, **PART)
def spread(work, codes):
    """Unpack contexts into columns; return the number of those for which `allows` must be called.

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


@register_jitable(forceinline=True, **PART)
def unpack(end_values, chosen, count, never, size, thin):
    """Move the results of the chosen columns back to their places."""
    for column in range(size):
        thin[column] = never
    for column in range(count):
        thin[chosen[column]] = end_values[column]


@register_jitable(forceinline=True, **PART)
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


def fill_ends(work, rules, never, codes, values, weights):
    """Write into the ends' rows the value of each end in each of the contexts `codes`.

    Where an end is not allowed, that is `never`.

    With `weights`, rewards do not count: it is what the next context's number in `values` says.
    """
    block, alive, numbers = work.block, work.alive, work.numbers
    following, swaps, rewards, end_values = (
        work.following,
        work.swaps,
        work.rewards,
        work.end_values,
    )
    shape = (block.shape[0], block.shape[2])
    whole, thin = end_values.reshape(shape), work.thin.reshape(shape)
    numbers[COLUMNS] = codes.size
    numbers[PAYS] = not weights
    numbers[ASKED] = spread(work, codes)
    for place in range(work.num_ends):
        numbers[END] = place
        count = call_native(rules.answer, rules.game, rules.page)
        if count < 0:
            work.results[PLACE] = numbers[COLUMN]
            return BAD if count == OUTSIDE else FAILED
        if count == 0 and not alive[place]:
            continue  # as it was for the contexts before
        alive[place] = count > 0
        if weights:
            swaps[:] = False
        most = add_up(values, following, swaps, rewards, work.constant_sum, count, end_values)
        if most >= INFINITE:  # or NaN
            for column in range(count):
                if not abs(end_values[column]) < np.inf:
                    work.results[PLACE] = work.chosen[column]
            return NOT_SOLVED_YET
        row = whole
        if count < codes.size:
            row = thin
            unpack(end_values, work.chosen, count, never, codes.size, work.thin)
        for part in range(block.shape[0]):
            for lane in range(block.shape[2]):
                block[part, place, lane] = row[part, lane]
    return DONE


fill_ends_jit = called_by_rules(fill_ends, _nrt=False)
