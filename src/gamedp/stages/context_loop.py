"""The compiled loops over contexts: a survey of all, and a sweep of the stage for many together.

The sweep is compiled once for all staged games, and calls the rules through an address. Where each
context is looked at once, the loop is compiled with the rules of each game, bound by
:mod:`gamedp.compiler.bridge`, by :mod:`gamedp.stages.sweepers`.
"""

from __future__ import annotations

import numpy as np

from gamedp.compiler.native import compiled_for_all
from gamedp.runtime.jit import LANES
from gamedp.stages.ends_loop import (
    BAD,
    DONE,
    NONE,
    decode_context,
    decode_next,
    fill_ends_jit,
)
from gamedp.stages.kernels import PLACE, sweep_stage_jit, take_over_jit

REAL, TERMINAL = 1, 2


def survey(game, work, kinds, ranks, values):
    """Examine every combination of the box: whether it is a context of its own, its rank, its end.

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
        ranks[code] = game.rank(context)
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
        what is no context, or has no way to go on; FAILED if the rules raise an error, which they
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


def follow_contexts(game, work, codes, payoffs, following, swaps, ranks, rewards):
    """Find the successor of each of the contexts `codes` after each end of the stage.

    `payoffs` are NaN where the game goes on. There `following` holds for each end the code of the
    next context's representative, -1 if the end is not allowed; `swaps` whether the players change
    places, `ranks` the next context's rank, `rewards` what player 0 earns. Where the game is over,
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
                ranks[place, k] = game.rank(representative)
                rewards[place, k] = game.reward(context, end, 0)
    return DONE
