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

# Places in `results`: the largest rise and the largest change of a value, the largest reward, and
# the place among the contexts where something was wrong.
RISE, CHANGE, REWARD, PLACE = range(4)

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
    fields = work.fields
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


def fill_ends(game, work, lanes, never, codes, values, weights):
    """Write into the ends' rows what each end is worth in each of the contexts `codes`.

    Where an end is not allowed, that is `never`; `lanes` columns of the block lie together.

    With `weights`, rewards do not count: it is what the next context's number in `values` says.
    """
    block, alive, results = work.block.reshape(-1), work.alive, work.results
    columns, allowed = work.columns, work.allowed
    low, high, stride, constant_sum = work.low, work.high, work.stride, work.constant_sum
    status = DONE
    largest = results[REWARD]
    fields = work.fields
    for column in range(codes.size):
        decode_context_jit(codes[column], low, stride, fields)
        for k in range(fields.size):
            columns[k, column] = fields[k]
    # Contexts that agree in all that `allows` looks at are asked about as one.
    asked = 1
    for k in range(fields.size):
        for column in range(1, codes.size):
            if work.matters[k] and columns[k, column] != columns[k, 0]:
                asked = codes.size
    for place in range(work.end_fields.shape[0]):
        end = game.gamedp_decode_end(work.end_fields[place])
        some = False
        for column in range(asked):
            allowed[column] = game.allows(game.gamedp_decode_column(columns, column), end)
            some = some or allowed[column]
        for column in range(asked, codes.size):
            allowed[column] = some
        if not some and not alive[place]:
            continue  # as it was for the contexts before
        alive[place] = some
        for column in range(codes.size, LANES):
            allowed[column] = False
        for column in range(LANES):
            worth = never
            if allowed[column]:
                context = game.gamedp_decode_column(columns, column)
                following, swapped = game.canonical(game.following(context, end))
                code = game.gamedp_encode(following, low, high, stride)
                if code < 0:
                    results[PLACE] = column
                    status = BAD
                worth = values[max(code, 0)]
                if not weights:
                    if swapped:
                        worth = constant_sum - worth
                    reward = game.reward(context, end, 0)
                    worth += reward
                    if abs(reward) > largest:
                        largest = abs(reward)
                if not abs(worth) < np.inf:
                    results[PLACE] = column
                    status = max(status, NOT_SOLVED_YET)
            block[work.places[column] + place * lanes] = worth
    results[REWARD] = largest
    return status


fill_ends_jit = njit(fill_ends)


def take_over(block, row, codes, weights, writes, values, results):
    """Measure how the values of contexts change, and write the new ones if `writes`.

    The `row` of the block has the values of the stage in these contexts; a weight counts the stage
    itself, too. Returns the first column without a value, or -1.
    """
    lanes = block.shape[2]
    for column in range(codes.size):
        new = block[column // lanes, row, column % lanes] + weights
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
        status = fill_ends_jit(game, work, program.lanes, program.never, some, values, weights)
        if status == DONE:
            sweep_stage_jit(program, work.alive, work.block)
            row = program.own_rows[-1]
            column = take_over_jit(work.block, row, some, weights, writes, values, work.results)
            if column >= 0:
                work.results[PLACE] = column
                status = BAD
        if status != DONE:
            work.results[PLACE] += first
            return status
    return DONE


def follow_contexts(game, work, codes, payoffs, following, swaps, ranks, rewards):
    """Say where each end of the stage leads to from each of the contexts `codes`.

    `payoffs` are NaN where the game goes on. There `following` holds for each end the code of the
    next context's representative, -1 if the end is not allowed; `swaps` whether the players change
    places, `ranks` the next context's rank, `rewards` what player 0 earns. Where the game is over,
    all of `following` is -1.

    Returns DONE; BAD if a context leads to what is no context.
    """
    fields = work.fields
    for place in range(codes.size):
        decode_context_jit(codes[place], work.low, work.stride, fields)
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
                code = game.gamedp_encode(representative, work.low, work.high, work.stride)
                if code < 0:
                    work.results[PLACE] = place
                    return BAD
                following[place, k] = code
                swaps[place, k] = swapped
                ranks[place, k] = game.rank(representative)
                rewards[place, k] = game.reward(context, end, 0)
    return DONE
