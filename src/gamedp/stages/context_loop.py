"""The compiled loops over contexts: a survey of all, and a sweep of the stage for many together.

The sweep is compiled once for all staged games, and so is the loop over the ends of a stage, a few
dozen contexts at a time. For the rules' answer about an end it calls `answer_end`, which
:mod:`gamedp.stages.sweepers` compiles for each game, through its address; see
:mod:`gamedp.compiler.native`. All that this reads and writes is on the page. Where each context is
visited once, the loop is compiled with the rules of each game, bound by
:mod:`gamedp.compiler.bridge`.

A loop over columns asks one rule, and stores its answers. Where the rule has no loop itself and
cannot raise, LLVM turns such a loop into vector instructions, a register of contexts at a time. For
that the loops must be inlined, so that what they read does not change under them; arrays must be
few, and have a layout that is known when the loop is compiled; and nothing may be stored on
condition.
"""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from gamedp.compiler.native import call_native, called_by_rules, compiled_for_all, held_at
from gamedp.runtime.jit import LANES, PART
from gamedp.stages.kernels import PLACE, sweep_stage_jit, take_over_jit

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


REAL, TERMINAL = 1, 2


def survey(game, work, kinds, tiers, values):
    """Examine every combination of the box: whether it is a context of its own, its tier, its end.

    `kinds` is 0 for a non-context or one represented by another. Those that are over get
    their payoff. Returns the code of the first context that the rules say something wrong of, or
    -1.
    """
    fields = work.fields
    ranges = game.gamedp_ranges(work.low, work.high, work.stride)
    before = NONE
    for code in range(kinds.size):
        decode_next(code, before, work.low, work.high, work.stride, fields)
        before = code
        context = game.gamedp_decode(fields)
        if not game.is_state(context):
            continue
        representative, swapped = game.canonical(context)
        own = game.gamedp_encode(representative, *ranges)
        if own < 0:
            return code
        if own != code:
            again, swapped = game.canonical(representative)
            if swapped or game.gamedp_encode(again, *ranges) != own:
                return code
            continue
        if swapped:
            return code
        tiers[code] = game.tier(context)
        kinds[code] = REAL
        if game.is_terminal(context):
            kinds[code] = TERMINAL
            values[code] = game.payoff(context, 0)
            if not abs(values[code]) < np.inf:
                return code
    return -1


def sweep_contexts(work, rules, program, codes, values, weights, writes):
    """Sweep the stage for all contexts in `codes`, LANES at a time.

    Its value goes to `values` if `writes`, else only the changes are measured;
    ``work.results`` are to be set to zero before.

    Returns
    -------
    status : int
        DONE; NOT_SOLVED_YET if a context leads to one that has no value yet; BAD if one leads to
        a non-context, or one without a way to go on; FAILED if the rules raise an error, which they
        raise again where the function of `rules` is called from Python.
    """
    for first in range(0, codes.size, LANES):
        some = codes[first : min(first + LANES, codes.size)]
        status = fill_ends_jit(work, rules, program.never, some, values, weights)
        if status == DONE:
            sweep_stage_jit(program, work.alive, work.block, work.scratch)
            row = program.own_rows[-1]
            column = take_over_jit(work.block, row, some, weights, writes, values, work.results)
            if column >= 0:
                work.results[PLACE] = column
                status = BAD
        if status != DONE:
            work.results[PLACE] += first
            return status
    return DONE


sweep_contexts_jit = compiled_for_all(sweep_contexts)


def follow_contexts(game, work, codes, payoffs, following, swaps, tiers, rewards):
    """Find the successor of each of the contexts `codes` after each end of the stage.

    `payoffs` are NaN where the game goes on. There `following` holds for each end the code of the
    next context's representative, -1 if the end is not allowed; `swaps` whether the players change
    places, `tiers` the next context's tier, `rewards` what player 0 earns. Where the game is over,
    all of `following` is -1.

    Returns DONE; BAD if a context leads to a non-context.
    """
    fields = work.fields
    ranges = game.gamedp_ranges(work.low, work.high, work.stride)
    for place in range(codes.size):
        decode_context(codes[place], work.low, work.stride, fields)
        context = game.gamedp_decode(fields)
        payoffs[place] = np.nan
        if game.is_terminal(context):
            payoffs[place] = game.payoff(context, 0)
            following[place, :] = -1
            continue
        for k in range(work.end_fields.shape[0]):
            end = game.gamedp_decode_end(work.end_fields[k])
            following[place, k] = -1
            if game.allows(context, end):
                representative, swapped = game.canonical(game.following(context, end))
                code = game.gamedp_encode(representative, *ranges)
                if code < 0:
                    work.results[PLACE] = place
                    return BAD
                following[place, k] = code
                swaps[place, k] = swapped
                tiers[place, k] = game.tier(representative)
                rewards[place, k] = game.reward(context, end, 0)
    return DONE
