"""Steps that search loops share at a position, and move ordering: small functions in the loops.

What the steps return first is a `LoopStatus`: DONE, or why the loop must return.

As for the order: first comes the best action of an earlier search, from the transposition table;
then the killers, which have cut off elsewhere at the same ply; then what has cut off most often, by
the history.
"""

from __future__ import annotations

from gamedp.bellman.equation import shift_rounds_jit
from gamedp.compiler.native import RAISED, call_native
from gamedp.runtime.jit import inlined
from gamedp.searchers.position_loop import FULL
from gamedp.searchers.stacks import ACTIONS, PLIES, POSITIONS, LoopStatus

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


ACTIONS_KEPT = 1 << 12
"""Number of actions, by their last bits, whose success is kept in the history, per player."""

NO_ACTION = -(1 << 62)
"""Stands for a missing killer."""

PLACES = (1 << 20) - 1
"""Mask of an action's place, kept in its priority; earlier places have a higher priority."""

FROM_TABLE, KEEPS_TURN, KILLER, MOST_HISTORY = 1 << 42, 1 << 41, 1 << 40, 1 << 38
"""Priorities: of the best action of an earlier search, of one after which the mover moves again, of
a killer, and the most that an action can earn in the history."""

RANK = 61
"""Above this bit of an action's priority, only the first two of these stand."""


def order_actions(actions, first, count, history, mover, killer, older_killer, suggested):
    """Compute the priorities of the actions of a position.

    Parameters
    ----------
    actions
        Their stack.
    first, count : int
        Their range on it.
    history : (2, ACTIONS_KEPT) int64
        The credit of each player's actions for cutoffs.
    mover, killer, older_killer : int
    suggested : int
        Place of the action that the table names; -1 if it names none.
    """
    for place in range(count):
        each = actions[first + place]
        label = each.label
        priority = history[mover, label & (history.shape[1] - 1)]
        if label == killer:
            priority += KILLER
        elif label == older_killer:
            priority += KILLER >> 1
        if place == suggested:
            priority += FROM_TABLE
        each.order = (priority << 20) + PLACES - place


order_actions_jit = inlined(order_actions)


def place_of(action):
    """Return the place that an action had when it was given its priority."""
    return PLACES - (action.order & PLACES)


place_of_jit = inlined(place_of)


def note_success(history, mover, label, earned):
    """Credit an action that has caused a cutoff in the history."""
    slot = label & (history.shape[1] - 1)
    history[mover, slot] = min(MOST_HISTORY, history[mover, slot] + earned)


note_success_jit = inlined(note_success)


def next_action(actions, first, count, current):
    """Return the place of the action with the highest priority among those not yet searched."""
    chosen = first + current
    for place in range(chosen + 1, first + count):
        if actions[place].order > actions[chosen].order:
            chosen = place
    return chosen


next_action_jit = inlined(next_action)


def next_promising(actions, first, count, current):
    """Return the place of the next action in a search to the ends of games.

    That is the one from the table, then those after which the mover moves again, which say more
    about a position than a reply to them; among these what promises most; of equals the last.
    """
    chosen = first + current
    for place in range(chosen + 1, first + count):
        here, best = actions[place], actions[chosen]
        rank, best_rank = here.order >> RANK, best.order >> RANK
        if rank > best_rank or (
            rank == best_rank
            and (
                here.promise > best.promise
                or (here.promise == best.promise and here.order & PLACES < best.order & PLACES)
            )
        ):
            chosen = place
    return chosen


next_promising_jit = inlined(next_promising)


def swap_actions(actions, one, other):
    """Exchange two actions on their stack."""
    if one != other:
        first, second = actions[one], actions[other]
        label, order, row, promise = first.label, first.order, first.row, first.promise
        first.label, first.order = second.label, second.order
        first.row, first.promise = second.row, second.promise
        second.label, second.order, second.row, second.promise = label, order, row, promise


swap_actions_jit = inlined(swap_actions)
