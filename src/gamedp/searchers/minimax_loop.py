"""The compiled loop of plain minimax over a whole tree of play.

On a stack of its own, so that a game may be long and the loop can pause anywhere. It is compiled
once for all games, and asks the rules through pointers; see
:mod:`gamedp.searchers.position_loop`.
"""

from __future__ import annotations

from gamedp.bellman.equation import rounds_jit
from gamedp.compiler.native import RAISED, call_native, compiled_for_all
from gamedp.searchers.node_loop import (
    ENTER,
    NEXT,
    ask_estimate_jit,
    ask_outcomes_jit,
    begin_actions_jit,
    come_to_jit,
    next_outcome_jit,
    zero_sum_range_jit,
)
from gamedp.searchers.stacks import Fields, LoopStatus

# Phases of minimax, besides ENTER and NEXT.
RETURN, BEGIN = range(2, 4)

PLY = Fields(
    "row first count current rest flips_sign first_row outcomes outcome all_proven most",
    "best sum reward low high",
)
"""A position on the way, its actions, and the outcomes of the one that is being searched."""


def minimax(work, page, rules, budget):
    """Compute the value of the position at ply 0 from every line of play down to a depth.

    The value is the mover's, with half of the constant sum taken off. Chance is averaged over. The
    phases::

        BEGIN   at the first position  --> ENTER
        ENTER   a position             --> NEXT; RETURN if over or at the horizon
        NEXT    outcome, or action     --> ENTER one ply down; RETURN after the last
        RETURN  with a score           --> NEXT one ply up

    It is one function, because its phases share a score and the arrays.

    Parameters
    ----------
    work
        ``plies`` is the stack. ``tally.score`` takes the score, ``tally.largest`` the largest one
        met. For the error by rounding, the tally says whether there may be one, how many plies were
        searched, and how many outcomes an action had at most.
    page, rules
        The record of a question to the rules, see `gamedp.searchers.driver`.
    budget : int
        Positions after which to pause.
    """
    plies, positions, actions = work.plies, page.positions, page.actions
    tally, question, half = work.tally[0], page.question[0], work.half
    num_players = work.num_players
    infinity = float("inf")
    ply, phase = tally.ply, tally.phase
    score, proven = tally.score, tally.proven
    last_node = tally.nodes + budget
    if phase == BEGIN:
        question.row = 0
        if call_native(rules.enter, rules.game, rules.page) == RAISED:
            return LoopStatus.FAILED
        phase = ENTER
    while True:
        here = plies[ply]
        if phase == ENTER:
            status = come_to_jit(tally, plies, ply, last_node)
            if status != LoopStatus.DONE:
                return status
            position = positions[here.row]
            mover = position.mover
            if mover < 0 or mover >= num_players:
                return LoopStatus.BAD_RULES
            if ply > 0:
                above = plies[ply - 1]
                here.rest = above.rest - 1
                swaps = position.swapped
                here.flips_sign = (mover ^ swaps) != positions[above.row].mover
            low, high = zero_sum_range_jit(tally, position, half)
            if position.is_over:
                if not abs(low) < infinity:
                    return LoopStatus.BAD_RULES
                tally.nodes += 1
                score = low
                proven = 1
                phase = RETURN
                continue
            if not low <= high or low == infinity or high == -infinity:
                return LoopStatus.BAD_RULES
            if here.rest == 0:
                status, score = ask_estimate_jit(work, question, rules, here.row, mover)
                if status != LoopStatus.DONE:
                    return status
                tally.nodes += 1
                if score < low:
                    score = low
                elif score > high:
                    score = high
                proven = 1 if low == high else 0
                phase = RETURN
                continue
            status = begin_actions_jit(tally, question, rules, plies, ply)
            if status != LoopStatus.DONE:
                return status
            tally.nodes += 1
            here.all_proven = 1
            here.best = -infinity
            here.low = low
            here.high = high
            phase = NEXT
        elif phase == NEXT:
            if next_outcome_jit(plies, ply):
                ply += 1
                phase = ENTER
                continue
            if here.outcomes > 0:
                total = here.sum + here.reward
                if rounds_jit(here.reward, here.sum, total):
                    tally.inexact = 1
                if here.outcomes > 1 or positions[here.first_row].probability != 1.0:
                    tally.inexact = 1
                if total > here.best:
                    here.best = total
                here.current += 1
                here.outcomes = 0
            if here.current == here.count:
                score = here.best
                proven = here.all_proven
                if score < here.low:
                    score = here.low
                elif score > here.high:
                    score = here.high
                phase = RETURN
                continue
            action, mover = actions[here.first + here.current].label, positions[here.row].mover
            status = ask_outcomes_jit(
                tally, question, rules, rules.follow, plies, ply, action, mover
            )
            if status != LoopStatus.DONE:
                return status
            here.sum = 0.0
            here.reward = question.reward
        else:
            if ply == 0:
                tally.ply = 0
                tally.proven = proven
                tally.score = score
                return LoopStatus.DONE
            if abs(score) > tally.largest:
                tally.largest = abs(score)
            if here.flips_sign:
                score = -score
            row = here.row
            ply -= 1
            plies[ply].sum += positions[row].probability * score
            if proven == 0:
                plies[ply].all_proven = 0
            phase = NEXT


minimax_jit = compiled_for_all(minimax)
