"""Steps that search loops share at a position, and move ordering: small functions in the loops.

What the steps return first is a `LoopStatus`: DONE, or why the loop must return.

The order of actions: first the best one of an earlier search, from the transposition table; then
the killers, which have cut off elsewhere at the same ply; then by how often each has cut off, from
the history.

Before the outcomes of an action are searched, ends of the game and ``value_range`` bound each of
them; afterwards, their results do. See Star1 and Star2 in
`gamedp.searchers.expectiminimax_loop`.
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
    """Ask the heuristic; return the status, and the mover's estimate less half the constant sum.

    Without a heuristic that is 0: neither of the two is ahead.
    """
    if not work.has_heuristic:
        return LoopStatus.DONE, 0.0
    question.row = row
    question.mover = mover
    if call_native(rules.estimate, rules.game, rules.page) == RAISED:
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


# What stands at the horizon, from the side of the mover there.
ESTIMATE, LOW_END, HIGH_END = range(3)
KINDS = 4
"""A position's last field is one of these, times the number of plies left: positions
come back with other numbers of plies left, and neither entry in the table may drive out the other.
"""

MAX_WINDOW = 1e308
"""Bound of finite ends of windows: only open ends are infinite."""


def divided(number, probability):
    """Return the quotient, which is infinite only if the number is."""
    if abs(number) < MAX_WINDOW * probability:
        return number / probability
    if abs(number) == float("inf"):
        return number
    return MAX_WINDOW if number > 0.0 else -MAX_WINDOW


divided_jit = inlined(divided)


def above(number: float) -> float:
    """Return a slightly greater number: no two scores of interest are closer."""
    size = abs(number)
    return number + max(size, 1e-290) * 2.0**-51


above_jit = inlined(above)


def bound_outcomes(work, page, here, at_horizon, rest):
    """Bound each outcome of an action from the side of the player who takes it.

    Parameters
    ----------
    work, page
        Of the loop. ``tally.wanted`` is left at the outcome that is wrong, if one is.
    here
        The record of the ply.
    at_horizon : int
        The value at the horizon, from that player's side.
    rest : int
        Plies left after the action.

    Returns
    -------
    status : LoopStatus
    num_known : int
        The number of outcomes with known values.
    are_true : int
        0 if what stands at the horizon has narrowed one.
    endless : float
        The infinite value of an outcome, and so of the action; 0 if there is none.
    """
    tally, positions, fields = work.tally[0], page.positions, page.fields
    infinity, horizon = float("inf"), page.fields.shape[1] - 1
    num_known, are_true, endless = 0, 1, 0.0
    for place in range(here.first_row, here.first_row + here.outcomes):
        position = positions[place]
        mover = position.mover
        tally.wanted = place
        if mover < 0 or mover >= work.num_players:
            return LoopStatus.BAD_OUTCOME, 0, 0, 0.0
        flips_sign = (mover ^ position.swapped) != here.mover
        low, high = zero_sum_range_jit(tally, position, work.half)
        if position.is_over:
            if not abs(low) < infinity:
                return LoopStatus.BAD_OUTCOME, 0, 0, 0.0
        else:
            if not low <= high or low == infinity or high == -infinity:
                return LoopStatus.BAD_OUTCOME, 0, 0, 0.0
            there = at_horizon
            if flips_sign and there != ESTIMATE:
                there = LOW_END + HIGH_END - there
            if rest == 0 and there != ESTIMATE and low < high:
                are_true = 0
                if there == LOW_END:
                    high = low
                else:
                    low = high
            fields[place, horizon] = there + KINDS * rest
        if flips_sign:
            low, high = -high, -low
        if low == high:
            num_known += 1
            if abs(low) < infinity:
                tally.largest = max(tally.largest, abs(low))
            else:
                endless = low
        position.flips_sign = flips_sign
        position.is_true = 1
        position.low = low
        position.high = high
    return LoopStatus.DONE, num_known, are_true, endless


bound_outcomes_jit = inlined(bound_outcomes)


def sum_bounds(positions, first, last):
    """Write to each outcome the sums of the bounds from it to the last one."""
    low, high = 0.0, 0.0
    for place in range(last, first - 1, -1):
        position = positions[place]
        low += position.probability * position.low
        high += position.probability * position.high
        position.rest_low = low
        position.rest_high = high


sum_bounds_jit = inlined(sum_bounds)


def next_probe(positions, place, last, low, high, alpha, beta):
    """Find the next outcome to probe, if probing may decide the action.

    Parameters
    ----------
    positions
    place, last : int
        The outcomes that have not been probed.
    low, high : float
        Sums of the bounds of the others.
    alpha, beta : float
        The window of the action, without its reward.

    Returns
    -------
    place : int
        The outcome; beyond the last one if there is none.
    low, high : float
        With the outcomes before it.
    """
    infinity = float("inf")
    # The best that looking at one action of each outcome could show, either way.
    hope = 0.0
    is_low = False
    is_high = False
    for k in range(place, last + 1):
        end = positions[k].low if positions[k].flips_sign else positions[k].high
        if abs(end) < infinity:
            hope += positions[k].probability * end
        elif end < 0.0:
            is_low = True
        else:
            is_high = True
    wants_upper = alpha > -infinity and high < infinity and not is_high
    wants_upper = wants_upper and (is_low or high + hope <= alpha)
    wants_lower = beta < infinity and low > -infinity and not is_low
    wants_lower = wants_lower and (is_high or low + hope >= beta)
    if not wants_upper and not wants_lower:
        return last + 1, low, high
    while place <= last:
        position = positions[place]
        wants = wants_upper if position.flips_sign else wants_lower
        if wants and position.low < position.high:
            break
        low += position.probability * position.low
        high += position.probability * position.high
        place += 1
    return place, low, high


next_probe_jit = inlined(next_probe)
