"""The compiled loop of max-n search, in which every mover maximises their own payoff.

Depth first, on stacks of its own, so that the loop can stop at any position and go on later. Every
score is a row with one number for each player. Chance is averaged over. The loop is compiled once
for all games, and asks the rules through pointers; see :mod:`gamedp.searchers.position_loop`.

The error of a score is that of the action taken. Where one or two play, it also covers that
rounding may have hidden that another action is better: `others` is the most that one of these
gives.
"""

from __future__ import annotations

from gamedp.compiler.native import RAISED, call_native, compiled_for_all
from gamedp.runtime.floats import TINY, UNIT, UPWARD
from gamedp.runtime.jit import inlined
from gamedp.searchers.node_loop import (
    ENTER,
    NEXT,
    ask_outcomes_jit,
    begin_actions_jit,
    come_to_jit,
    next_outcome_jit,
)
from gamedp.searchers.stacks import Fields, LoopStatus

RETURN = 2
"""A phase, besides ENTER and NEXT."""

# What `share_out` returns: the scores are estimates, or certain; or the rules are wrong.
ESTIMATED, CERTAIN = range(2)
BAD_NUMBER, BAD_ESTIMATE = -1, -2

PLY = Fields(
    "row first count current mover rest first_row outcomes outcome all_proven",
    "high others",
)
"""A position on the way, its actions, and the outcomes of the one that is being searched."""

OF_PLAYERS = ("best", "best_error", "sum", "sum_error", "size")
"""Arrays with a row for each ply and a column for each player: the scores after the best action,
and what the outcomes of the current one add up to so far; their errors by rounding; and the sum of
the absolute values. The scores of a position that is done with stand in the first two."""


def share_out(work, shares, ply, is_over):
    """Enter the scores of a position that is not searched further; return their kind."""
    infinity, found = float("inf"), CERTAIN
    num_players = work.num_players
    for player in range(num_players):
        share = shares[player]
        score, error = share.estimate, 0.0
        if is_over:
            if player == 1 and work.has_opponents:
                # What the constant sum leaves, whatever the rules make of it by rounding.
                score = work.constant_sum - work.best[ply, 0]
                if work.constant_sum != 0.0:
                    error = abs(score) * UNIT * UPWARD
            if not abs(score) < infinity:
                return BAD_NUMBER
        else:
            low, high = share.low, share.high
            if not low <= high or low == infinity or high == -infinity:
                return BAD_NUMBER
            if not abs(score) < infinity:
                return BAD_ESTIMATE
            score = min(max(score, low), high)
            if low < high:
                found = ESTIMATED
        work.best[ply, player] = score
        work.best_error[ply, player] = error
    return found


share_out_jit = inlined(share_out)


def widen(work, ply, mover, others):
    """Widen two players' errors, as rounding may have hidden that another action is better."""
    best, error = work.best[ply, mover], work.best_error[ply, mover]
    more = gap = -error
    if others > -float("inf"):
        gap = others - best
        more = gap + error + 4.0 * UNIT * (abs(gap) + error)  # rounded up
    if more > 0.0:
        work.best_error[ply, mover] = max(error, gap * UPWARD)
        for player in range(work.num_players):
            if player != mover:
                work.best_error[ply, player] = (work.best_error[ply, player] + more) * UPWARD


widen_jit = inlined(widen)


def compare(work, shares, ply, mover, others, number, is_sure):
    """Take an action, after summing its outcomes, if it is better for the mover.

    Parameters
    ----------
    work
        Of the loop.
    shares
        Each player's reward for the action, if there are rewards.
    ply, mover : int
    others : float
        The most that an action that was not taken may give the mover.
    number : int
        The number of outcomes of the action.
    is_sure : bool
        Whether it has a single one, for certain.

    Returns
    -------
    others : float
        NaN if a reward is not a finite number.
    """
    num_players, is_better = work.num_players, False
    # The mover's own number first: it decides whether the others' are wanted.
    for place in range(num_players):
        player = (mover + place) % num_players
        reward = 0.0
        if work.has_rewards:
            reward = shares[player].reward
            if not abs(reward) < float("inf"):
                return float("nan")
        total = reward + work.sum[ply, player]
        slack = work.sum_error[ply, player]
        if not is_sure or reward != 0.0:
            size = work.size[ply, player] + abs(reward) + slack
            count = number + 8
            slack = (slack + count * UNIT * size) * UPWARD + count * TINY
        if place == 0:
            best, error = work.best[ply, player], work.best_error[ply, player]
            is_better = total > best
            most, off = (best, error) if is_better else (total, slack)
            if off > 0.0:
                most += off
                most += 2.0 * UNIT * abs(most)  # rounded up
            others = max(others, most)
        if is_better:
            work.best[ply, player] = total
            work.best_error[ply, player] = slack
    return others


compare_jit = inlined(compare)


def max_n(work, page, rules, budget):
    """Search the first of the actions on the stack, in the position at ply 0.

    The phases::

        ENTER   a position             --> NEXT; RETURN if over or at the horizon
        NEXT    outcome, or action     --> ENTER one ply down; RETURN after the last, or a cutoff
        RETURN  with a score           --> NEXT one ply up

    It is one function, because its phases share the arrays and where they stand in them.

    Parameters
    ----------
    work
        The stacks and constants. Ply 0 stands there as if its position had been entered, with one
        action.
    page, rules
        The record of a question to the rules, see `gamedp.searchers.driver`.
    budget : int
        Positions after which to pause.

    Returns
    -------
    status : LoopStatus
        DONE, with the scores and their errors in the first rows of ``best`` and ``best_error``, and
        in ``tally.proven`` whether no estimate was needed.
    """
    plies, positions, actions, shares = work.plies, page.positions, page.actions, page.shares
    tally, question = work.tally[0], page.question[0]
    num_players, infinity = work.num_players, float("inf")
    ply, phase, proven = tally.ply, tally.phase, 1
    last_node = tally.nodes + budget
    while True:
        here = plies[ply]
        if phase == ENTER:
            status = come_to_jit(tally, plies, ply, last_node)
            if status != LoopStatus.DONE:
                return status
            above, position = plies[ply - 1], positions[here.row]
            mover, high = position.mover, position.high
            if mover < 0 or mover >= num_players:
                return LoopStatus.BAD_RULES
            here.rest = above.rest - 1
            question.row = here.row
            if position.is_over or here.rest == 0:
                if not work.is_general_sum and position.is_over:
                    shares[0].estimate = position.low
                elif call_native(rules.list_shares, rules.game, rules.page) == RAISED:
                    return LoopStatus.FAILED
                proven = share_out_jit(work, shares, ply, position.is_over)
                if proven == BAD_ESTIMATE:
                    return LoopStatus.BAD_ESTIMATE
                if proven == BAD_NUMBER:
                    return LoopStatus.BAD_RULES
                tally.nodes += 1
                phase = RETURN
                continue
            if not position.low <= high or position.low == infinity or high == -infinity:
                return LoopStatus.BAD_RULES
            status = begin_actions_jit(tally, question, rules, plies, ply)
            if status != LoopStatus.DONE:
                return status
            tally.nodes += 1
            here.mover = mover
            here.all_proven = 1
            here.high = high
            here.others = -infinity
            work.best[ply, mover] = -infinity
            work.best_error[ply, mover] = 0.0
            phase = NEXT
        elif phase == NEXT:
            if next_outcome_jit(plies, ply):
                ply += 1
                phase = ENTER
                continue
            mover = here.mover
            tally.ply = ply
            tally.phase = NEXT
            if here.outcomes > 0:
                question.row = here.row
                question.action = actions[here.first + here.current].label
                if (
                    work.has_rewards
                    and call_native(rules.list_rewards, rules.game, rules.page) == RAISED
                ):
                    return LoopStatus.FAILED
                is_sure = here.outcomes == 1 and positions[here.first_row].probability == 1.0
                others = compare_jit(work, shares, ply, mover, here.others, here.outcomes, is_sure)
                if others != others:  # noqa: PLR0124 - not a number
                    return LoopStatus.BAD_RULES
                here.others = others
                here.current += 1
                here.outcomes = 0
                here.outcome = 0
            if here.current > 0 and work.best[ply, mover] >= here.high:
                # Nothing is better, and the first of equally good actions is taken.
                if here.current < here.count:
                    tally.cutoffs += 1
                here.current = here.count
            if here.current == here.count:
                proven = here.all_proven
                if not work.is_general_sum:
                    widen_jit(work, ply, mover, here.others)
                phase = RETURN
                continue
            action = actions[here.first + here.current].label
            status = ask_outcomes_jit(
                tally, question, rules, rules.follow_many, plies, ply, action, mover
            )
            if status != LoopStatus.DONE:
                return status
            for player in range(num_players):
                work.sum[ply, player] = 0.0
                work.sum_error[ply, player] = 0.0
                work.size[ply, player] = 0.0
        else:
            if ply == 0:
                tally.ply = 0
                tally.proven = proven
                return LoopStatus.DONE
            position = positions[here.row]
            probability, swapped = position.probability, position.swapped
            ply -= 1
            for player in range(num_players):
                # Only two opponents can change places.
                seat = 1 - player if swapped else player
                term = probability * work.best[ply + 1, seat]
                work.sum[ply, player] += term
                work.size[ply, player] += abs(term)
                work.sum_error[ply, player] += probability * work.best_error[ply + 1, seat]
            plies[ply].all_proven &= proven
            phase = NEXT


max_n_jit = compiled_for_all(max_n)
