"""The compiled loop over contexts: what each end of the stage is worth, then a sweep of the stage.

Plain functions on arrays and on a staged game bound by :mod:`gamedp.compiler.bridge`; compiled for
each game by :mod:`gamedp.compiler.stages`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from gamedp.kernels.lanes import LANES
from gamedp.kernels.stages import sweep_stage_jit

# What a call returns.
DONE, NOT_SOLVED_YET, BAD = range(3)

# Places in `results`: the largest rise and the largest change of a value, the largest number that
# was added up, and the place of the block where something was wrong.
RISE, CHANGE, SIZE, PLACE = range(4)

REAL, TERMINAL = 1, 2


def decode_context(code, low, stride, fields):
    """Unpack the code of a context into its fields."""
    rest = code
    for k in range(fields.size - 1, -1, -1):
        digit = rest // stride[k]
        rest -= digit * stride[k]
        fields[k] = digit + low[k]


decode_context_jit = njit(decode_context)


def survey(game, work, kinds, ranks, values):
    """Look at every combination of the box: what is a context of its own, of what rank, and over.

    `kinds` is 0 for what is no context or is represented by another one. Those that are over get
    their payoff. Returns the code of the first context that the rules say something wrong of, or
    -1.
    """
    fields = work.columns[0]
    for code in range(kinds.size):
        decode_context_jit(code, work.low, work.stride, fields)
        context = game.gamedp_decode(fields)
        if not game.is_state(context):
            continue
        representative, swapped = game.canonical(context)
        own = game.gamedp_encode(representative, work.low, work.high, work.stride)
        if own < 0:
            return code
        if own != code:
            again, swapped = game.canonical(representative)
            if swapped or game.gamedp_encode(again, work.low, work.high, work.stride) != own:
                return code
            continue
        if swapped:
            return code
        ranks[code] = game.rank(context)
        kinds[code] = REAL
        if game.is_terminal(context):
            kinds[code] = TERMINAL
            values[code] = game.payoff(context, 0)
            if not abs(values[code]) < np.inf:
                return code
    return -1


def fill_ends(game, work, codes, values, weights):
    """Write into the ends' rows what each end is worth in each of the contexts `codes`.

    With `weights`, rewards do not count: it is what the next context's number in `values` says.
    """
    block, alive, results, columns = work.block, work.alive, work.results, work.columns
    low, high, stride, constant_sum = work.low, work.high, work.stride, work.constant_sum
    status = DONE
    size = results[SIZE]
    for column in range(codes.size):
        decode_context_jit(codes[column], low, stride, columns[column])
    for place in range(work.end_fields.shape[0]):
        end = game.gamedp_decode_end(work.end_fields[place])
        some = False
        for column in range(codes.size):
            context = game.gamedp_decode(columns[column])
            worth = np.nan
            if game.allows(context, end):
                some = True
                following, swapped = game.canonical(game.following(context, end))
                code = game.gamedp_encode(following, low, high, stride)
                if code < 0:
                    results[PLACE] = column
                    status = BAD
                    continue
                worth = values[code]
                if not weights:
                    size = max(size, abs(worth))
                    if swapped:
                        worth = constant_sum - worth
                    worth += game.reward(context, end, 0)
                    size = max(size, abs(worth))
                if not abs(worth) < np.inf:
                    results[PLACE] = column
                    status = max(status, NOT_SOLVED_YET)
            block[place, column] = worth
        for column in range(codes.size, LANES):
            block[place, column] = np.nan
        alive[place] = some
    results[SIZE] = size
    return status


fill_ends_jit = njit(fill_ends)


def take_over(row, codes, weights, writes, values, results):
    """Measure how the values of contexts change, and write the new ones if `writes`.

    `row` are the values of the stage in these contexts; a weight counts the stage itself, too.
    Returns the first column without a value, or -1.
    """
    for column in range(codes.size):
        new = row[column] + weights
        if not abs(new) < np.inf:
            return column
        # What had no value before (NaN) has not changed.
        change = new - values[codes[column]]
        if change > results[RISE]:
            results[RISE] = change
        if abs(change) > results[CHANGE]:
            results[CHANGE] = abs(change)
        if writes:
            values[codes[column]] = new
    return -1


take_over_jit = njit(take_over)


def sweep_contexts(game, work, program, codes, values, weights, writes):
    """Sweep the stage for all contexts in `codes`, LANES at a time.

    What it is worth goes to `values` if `writes`, else only the changes are measured;
    ``work.results`` are to be set to zero before.

    Returns
    -------
    status : int
        DONE; NOT_SOLVED_YET if a context leads to one that has no value yet; BAD if one leads to
        what is no context, or has no way to go on.
    """
    for first in range(0, codes.size, LANES):
        some = codes[first : min(first + LANES, codes.size)]
        status = fill_ends_jit(game, work, some, values, weights)
        if status == DONE:
            sweep_stage_jit(program, work.alive, work.block)
            row = work.block[program.own_rows[-1]]
            if not work.alive[program.own_rows[-1]]:
                row[:] = np.nan
            column = take_over_jit(row, some, weights, writes, values, work.results)
            if column >= 0:
                work.results[PLACE] = column
                status = BAD
        if status != DONE:
            work.results[PLACE] += first
            return status
    return DONE
