"""Steps common to all search loops at a position: small functions, compiled into each loop.

What they return first is a `LoopStatus`: DONE, or why the loop must return.
"""

from __future__ import annotations

from gamedp.bellman.rounding import shift_rounds_jit
from gamedp.compiler.native import RAISED, call_native
from gamedp.runtime.jit import inlined
from gamedp.searchers.position_loop import FULL
from gamedp.searchers.stacks import ACTIONS, PLIES, POSITIONS, LoopStatus

__all__ = [
    "ENTER",
    "NEXT",
    "ask_actions_jit",
    "ask_estimate_jit",
    "ask_outcomes_jit",
    "begin_actions_jit",
    "come_to_jit",
    "next_outcome_jit",
    "zero_sum_range_jit",
]

ENTER, NEXT = range(2)
"""The phases of a loop: entering a position, and going on to its next action."""


def come_to(tally, plies, ply, last_node):
    """Count a position that the loop enters, where it can stop and resume later."""
    tally.ply = ply
    tally.phase = ENTER
    if tally.nodes >= last_node:
        return LoopStatus.PAUSED
    if ply + 2 > len(plies):
        tally.wanted = PLIES
        return LoopStatus.GROW
    return LoopStatus.DONE


come_to_jit = inlined(come_to)


def ask_actions(tally, question, rules, row, first):
    """List the actions of a position; return the status, and their number.

    Parameters
    ----------
    tally, question
        The records.
    rules
        The record of a question to the rules.
    row : int
        Of the position.
    first : int
        The index of its first action on their stack.
    """
    question.row = row
    question.first = first
    count = call_native(rules.list_actions, rules.game, rules.page)
    if count == FULL:
        tally.wanted = ACTIONS
        return LoopStatus.GROW, 0
    if count <= 0:
        return (LoopStatus.FAILED if count == RAISED else LoopStatus.BAD_RULES), 0
    return LoopStatus.DONE, count


ask_actions_jit = inlined(ask_actions)


def begin_actions(tally, question, rules, plies, ply):
    """List the actions of the position at a ply; return the status.

    They stand on their stack behind those of the ply before, and so will their outcomes.
    """
    here = plies[ply]
    here.first = 0
    here.first_row = 1
    if ply > 0:
        above = plies[ply - 1]
        here.first = above.first + above.count
        here.first_row = above.first_row + above.outcomes
    status, count = ask_actions_jit(tally, question, rules, here.row, here.first)
    if status != LoopStatus.DONE:
        return status
    here.count = count
    here.current = 0
    here.outcomes = 0
    here.outcome = 0
    if ply > tally.deepest:
        tally.deepest = ply
    return LoopStatus.DONE


begin_actions_jit = inlined(begin_actions)


def ask_outcomes(tally, question, rules, function, plies, ply, action, mover):
    """List the outcomes of an action of the position at a ply; return the status.

    Parameters
    ----------
    tally, question
        The records.
    rules
        The record of a question to the rules.
    function
        Of the rules: `follow` or `follow_many`.
    plies
        The stack. The outcomes are written to the rows from `first_row` on.
    ply, action, mover : int
    """
    here = plies[ply]
    tally.ply = ply
    tally.phase = NEXT
    question.row = here.row
    question.first = here.first_row
    question.action = action
    question.mover = mover
    number = call_native(function, rules.game, rules.page)
    if number == FULL:
        tally.wanted = POSITIONS
        return LoopStatus.GROW
    if number < 0:
        return LoopStatus.FAILED if number == RAISED else LoopStatus.BAD_RULES
    if number > tally.most:
        tally.most = number
    here.outcomes = number
    here.outcome = 0
    return LoopStatus.DONE


ask_outcomes_jit = inlined(ask_outcomes)


def next_outcome(plies, ply):
    """Put the next outcome of the current action, if any, on the next ply.

    Return whether there is.
    """
    here = plies[ply]
    if here.outcome == here.outcomes:
        return False
    plies[ply + 1].row = here.first_row + here.outcome
    here.outcome += 1
    return True


next_outcome_jit = inlined(next_outcome)


def zero_sum_range(tally, position, half):
    """Return a position's range less half the constant sum; its payoff, twice, if it is over."""
    low, high = position.low, position.high
    if half != 0.0:
        if shift_rounds_jit(low, half) or shift_rounds_jit(high, half):
            tally.inexact = 1
        low -= half
        high -= half
    return low, high


zero_sum_range_jit = inlined(zero_sum_range)


def ask_estimate(work, question, rules, row, mover):
    """Ask the heuristic; return the status, and the mover's estimate less half the constant sum."""
    question.row = row
    question.mover = mover
    if work.has_heuristic and call_native(rules.estimate, rules.game, rules.page) == RAISED:
        return LoopStatus.FAILED, 0.0
    score = question.estimate - work.half
    if not abs(score) < float("inf"):
        return LoopStatus.BAD_ESTIMATE, 0.0
    return LoopStatus.DONE, score


ask_estimate_jit = inlined(ask_estimate)
