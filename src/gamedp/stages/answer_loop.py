"""The answers of a staged game's rules for an end, in a few dozen contexts at a time.

A function that is compiled for each game by :mod:`gamedp.stages.sweepers`; the loops of
:mod:`gamedp.stages.ends_loop`, which know no rules, call it through :mod:`gamedp.compiler.native`.
All that it reads and writes is on the page.

A loop over columns asks one rule, and stores its answers. Where the rule has no loop itself and
cannot raise, LLVM turns such a loop into vector instructions, a register of contexts at a time. For
that the loops must be inlined, so that what they read does not change under them; arrays must be
few, and have a layout that is known when the loop is compiled; and nothing may be stored on
condition.
"""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from gamedp.compiler.native import held_at
from gamedp.runtime.jit import LANES
from gamedp.runtime.linking import PART

OUTSIDE = -2
"""Return value of a call, instead of a number of columns, if a context has no code."""

# Places in `numbers`: which end is asked about, in how many columns, how many of these `allows`
# must be asked about, whether rewards count; and the column where something was wrong.
END, COLUMNS, ASKED, PAYS, COLUMN = range(5)

# Of a floating-point number, as an integer. Without the sign, the bits of numbers are in the order
# of the numbers, and those of NaN above all.
SIGN = -(2**63)


@register_jitable(forceinline=True, **PART)
def choose(game, columns, end, asked, count, chosen):
    """List the columns whose contexts allow an end, unless all agree; return their number."""
    if asked == 1:
        return count if game.allows(game.gamedp_decode_column(columns, 0), end) else 0
    found = 0
    for column in range(count):
        chosen[found] = column
        if game.allows(game.gamedp_decode_column(columns, column), end):
            found += 1
    return found


@register_jitable(forceinline=True, **PART)
def pack(columns, chosen, count, num_fields, packed):
    """Move the chosen columns together."""
    for column in range(count):
        for k in range(num_fields):
            packed[k * LANES + column] = columns[k * LANES + chosen[column]]


@register_jitable(forceinline=True, **PART)
def lead_on(game, columns, end, count, ranges, following, swaps):
    """Find the code of the context that an end leads to from each column.

    It is -1 outside the box, and then the result is -1, too.
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


@register_jitable(forceinline=True, **PART)
def pay(game, columns, end, count, rewards, peaks):
    """Find the reward of an end in each column; `peaks` are the bits of the largest sizes."""
    bits = rewards.view(np.int64)
    for column in range(count):
        rewards[column] = game.reward(game.gamedp_decode_column(columns, column), end, 0)
        size = bits[column] & ~SIGN
        peaks[column] = max(peaks[column], size)


def answer_end(place, page):
    """Find the successor and the reward of an end in each of the columns.

    Where not all columns allow it, what is found for those that do stands together, in the order of
    `chosen`.

    Returns
    -------
    count : int
        The columns that allow it; OUTSIDE if in one of them it leads out of the box.
    """
    game, numbers = held_at(place), page.numbers
    chosen, following = page.chosen, page.following
    size = numbers[COLUMNS]
    end = game.gamedp_decode_end(page.end_fields[numbers[END]])
    count = choose(game, page.columns, end, numbers[ASKED], size, chosen)
    if count == 0:
        return 0
    columns = page.columns
    if count < size:
        columns = page.packed
        pack(page.columns, chosen, count, page.low.size, columns)
    ranges = game.gamedp_ranges(page.low, page.high, page.stride)
    if lead_on(game, columns, end, count, ranges, following, page.swaps) < 0:
        for column in range(count):
            if following[column] < 0:
                numbers[COLUMN] = chosen[column]
        return OUTSIDE
    if numbers[PAYS]:
        pay(game, columns, end, count, page.rewards, page.peaks)
    return count
