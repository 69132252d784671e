"""What the loops of search do alike at every position: small functions, compiled into each loop.

What they return first is a `LoopStatus`: DONE, or why the loop must return.
"""

from __future__ import annotations

from gamedp.compiler.native import RAISED, call_native
from gamedp.runtime.jit import inlined
from gamedp.searchers.position_loop import FULL
from gamedp.searchers.stacks import ACTIONS, PLIES, POSITIONS, LoopStatus

__all__ = ["ENTER", "ask_actions_jit", "ask_estimate_jit", "ask_outcomes_jit", "come_to_jit"]

ENTER = 0
"""The phase in which a loop comes to a position."""


def come_to(tally, plies, ply, last_node):
    """Note that the loop comes to a position, where it can stop and go on later."""
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
    """List the actions of a position; return the status, and how many there are.

    Parameters
    ----------
    tally, question
        The records.
    rules
        What the rules are asked with.
    row : int
        Of the position.
    first : int
        Where its actions begin on their stack.
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


def ask_outcomes(tally, question, rules, function, here, action, mover):
    """Look at what an action leads to; return the status, and how many outcomes it has.

    Parameters
    ----------
    tally, question
        The records.
    rules
        What the rules are asked with.
    function
        Of the rules: `follow` or `follow_many`.
    here
        The record of the ply; its `first_row` is where the outcomes are written.
    action, mover : int
    """
    question.row = here.row
    question.first = here.first_row
    question.action = action
    question.mover = mover
    number = call_native(function, rules.game, rules.page)
    if number == FULL:
        tally.wanted = POSITIONS
        return LoopStatus.GROW, 0
    if number < 0:
        return (LoopStatus.FAILED if number == RAISED else LoopStatus.BAD_RULES), 0
    return LoopStatus.DONE, number


ask_outcomes_jit = inlined(ask_outcomes)


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
