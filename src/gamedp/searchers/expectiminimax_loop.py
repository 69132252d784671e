"""The compiled loop of expectiminimax over a game's own methods, with Star1 and Star2 pruning.

Depth first, on stacks of its own, so that the loop can stop at any position and go on later. A ply
is a position, its actions, and the outcomes of the one that is being searched. Scores are from the
mover's side and zero-sum: half of the constant sum is taken off.

Bounds of the outcomes that are known before they are searched (ends of the game, ``value_range``),
and the results of those that have been searched, bound the mean over them. The action is left
as soon as these bounds decide it (Star1). Star2 first searches one action of each outcome, which
bounds that outcome from the side of its mover.

A position at the horizon has the value of the heuristic, or one end of ``value_range``: the lower
one as the first player to move sees it, or the upper one. Searches with these two ends give bounds
of the true value.
"""

from __future__ import annotations

from gamedp.bellman.equation import rounds_jit
from gamedp.compiler.native import compiled_for_all
from gamedp.searchers.node_loop import (
    ENTER,
    KINDS,
    MAX_WINDOW,
    NEXT,
    NO_ACTION,
    above_jit,
    ask_estimate_jit,
    ask_outcomes_jit,
    begin_actions_jit,
    bound_outcomes_jit,
    come_to_jit,
    divided_jit,
    next_action_jit,
    next_probe_jit,
    note_success_jit,
    order_actions_jit,
    place_of_jit,
    sum_bounds_jit,
    swap_actions_jit,
)
from gamedp.searchers.stacks import (
    AGES,
    EXACT,
    LOWER,
    MOVE,
    MOVES,
    UPPER,
    Fields,
    LoopStatus,
    find_entry_jit,
    flipped_jit,
    hash_fields_jit,
    keep_entry_jit,
    usable_jit,
)

# Phases, besides ENTER and NEXT.
CHANCE, ACTION, RETURN = range(2, 5)

# Where the search stands at an action's outcomes.
SEARCHING, PROBING = range(2)

# Ways to prune.
NONE, STAR1, STAR2 = range(3)

PLY = Fields(
    "row first count current mover rest best_place hash last_kind flips_sign probed range_true "
    "all_true action_true first_row outcomes outcome stage",
    "alpha beta original best low high reward sum sum_low sum_high child_alpha child_beta",
)
"""A position on the way, its actions, and the outcomes of one of them, which are positions from
`first_row` on. Of these, `low` and `high` bound the score from the side of the player who moves
before them, and `rest_low` and `rest_high` are the sums from there to the last outcome.

The window, the best score, bounds that are certain; the current action's reward, what the outcomes
done with add up to, and bounds of that; the next position's window.
"""

UNLIMITED = 1 << 27
"""Plies left in a search to the end of the game."""


def expectiminimax(work, page, rules, budget):
    """Search the first of the actions on the stack, in the position at ply 0.

    The phases::

        ENTER   a position             --> NEXT; RETURN if certain, at the horizon or in the table
        NEXT    its next action        --> CHANCE; ACTION if an outcome is infinite; RETURN after
                                           the last, or a cutoff
        CHANCE  its next outcome       --> ENTER one ply down; ACTION if the bounds decide; first
                                           comes a probe of each outcome, with Star2
        ACTION  its score is known     --> NEXT
        RETURN  with a score           --> CHANCE or ACTION one ply up

    It is one long function because its phases share a score, what that bounds and a dozen arrays,
    and going from one to the next costs nothing this way.

    Parameters
    ----------
    work
        The record of the stacks, the table and the options. Ply 0 stands there as if its position
        had been entered, with one action; the last field of a position on the stack, and in the
        table, says what stands at the horizon.
    page, rules
        The record of a question to the rules, see `gamedp.searchers.driver`.
    budget : int
        Positions after which to pause.

    Returns
    -------
    status : LoopStatus
        DONE, with the score in ``tally.score``, what it bounds in ``tally.kind``, and in
        ``tally.proven`` whether that holds for the true value, too, because no estimate was needed.
    """
    plies, positions, actions, fields = work.plies, page.positions, page.actions, page.fields
    history, keys, scores, infos = work.history, work.keys, work.scores, work.infos
    tally, question = work.tally[0], page.question[0]
    pruning, keeps = work.pruning, infos.size > 0
    horizon = fields.shape[1] - 1
    infinity = float("inf")
    ply, phase = tally.ply, tally.phase
    score, kind, is_true = 0.0, EXACT, 1
    last_node = tally.nodes + budget
    while True:
        here = plies[ply]
        if phase == ENTER:
            status = come_to_jit(tally, plies, ply, last_node)
            if status != LoopStatus.DONE:
                return status
            # Enter: the window, and what is certain, from the side of the player to move.
            above = plies[ply - 1]
            row = here.row
            position = positions[row]
            mover, flips_sign = position.mover, position.flips_sign
            low, high = position.low, position.high
            alpha, beta = above.child_alpha, above.child_beta
            if flips_sign:
                alpha, beta = -beta, -alpha
                low, high = -high, -low
            rest = above.rest
            if rest < UNLIMITED:
                rest -= 1
            here.flips_sign = flips_sign
            tally.nodes += 1
            phase = RETURN
            is_true = position.is_true
            known_true = is_true
            # Enter: certain bounds that decide, or the horizon.
            if low >= beta:
                score = low
                kind = LOWER
                continue
            if high <= alpha:
                score = high
                kind = UPPER
                continue
            if rest == 0:
                status, score = ask_estimate_jit(work, question, rules, row, mover)
                if status != LoopStatus.DONE:
                    return status
                score = min(max(score, low), high)
                kind = EXACT
                is_true = 0
                continue
            # Enter: the transposition table.
            suggested = -1
            mixed = 0
            if keeps:
                mixed = hash_fields_jit(fields[here.row])
                entry = find_entry_jit(keys, infos, fields[here.row], mixed)
                if entry < 0 and rest < UNLIMITED:
                    # What was found at the depth before may be proven, and names a good action.
                    fields[row, horizon] -= KINDS
                    entry = find_entry_jit(
                        keys, infos, fields[here.row], hash_fields_jit(fields[here.row])
                    )
                    fields[row, horizon] += KINDS
                if entry >= 0:
                    tally.hits += 1
                    known, proven = usable_jit(infos[entry], rest, True)
                    score = scores[entry]
                    kind = known
                    is_true = int(proven == known)
                    if (
                        known == EXACT
                        or (known == LOWER and score >= beta)
                        or (known == UPPER and score <= alpha)
                    ):
                        continue
                    if known == LOWER and score > low:
                        low = score
                        known_true &= is_true
                    elif known == UPPER and score < high:
                        high = score
                        known_true &= is_true
                    if low >= high:
                        kind = EXACT
                        is_true = known_true
                        continue
                    suggested = ((infos[entry] >> MOVE) & MOVES) - 1
            # Enter: the actions, in order.
            status = begin_actions_jit(tally, question, rules, plies, ply)
            if status != LoopStatus.DONE:
                tally.nodes -= 1
                return status
            order_actions_jit(
                actions, here.first, here.count, history, mover, NO_ACTION, NO_ACTION, suggested
            )
            here.mover = mover
            here.rest = rest
            here.best_place = -1
            here.hash = mixed
            here.range_true = known_true
            here.all_true = known_true
            here.original = alpha
            here.alpha = max(alpha, low)
            here.beta = min(beta, high)
            here.best = -infinity
            here.low = low
            here.high = high
            phase = NEXT
        elif phase == NEXT:
            first, count, current = here.first, here.count, here.current
            best = here.best
            is_cut = best >= here.beta
            # Next: the most promising action, its outcomes and their bounds.
            if current < count and not is_cut and not (here.probed and current == 1):
                chosen = next_action_jit(actions, first, count, current)
                swap_actions_jit(actions, chosen, first + current)
                at_horizon = fields[here.row, horizon] % KINDS
                rest = here.rest
                if rest < UNLIMITED:
                    rest -= 1
                action = actions[first + current].label
                status = ask_outcomes_jit(
                    tally, question, rules, rules.follow, plies, ply, action, here.mover
                )
                if status != LoopStatus.DONE:
                    return status
                status, num_known, are_true, endless = bound_outcomes_jit(
                    work, page, here, at_horizon, rest
                )
                if status != LoopStatus.DONE:
                    return status
                reward = 0.0
                if work.has_rewards:
                    reward = question.reward
                    if not abs(reward) < infinity:
                        return LoopStatus.BAD_RULES
                tally.nodes += num_known
                base, number = here.first_row, here.outcomes
                if number > 1 or positions[base].probability != 1.0:
                    tally.inexact = 1
                here.current = current + 1
                here.action_true = are_true
                here.stage = SEARCHING
                if pruning == STAR2 and number > 1 and rest > 0:
                    here.stage = PROBING
                here.reward = reward
                here.sum = 0.0
                here.sum_low = 0.0
                here.sum_high = 0.0
                phase = CHANCE
                if endless != 0.0:
                    # Nothing finite in the other outcomes changes that.
                    score = endless
                    kind = EXACT
                    phase = ACTION
                else:
                    sum_bounds_jit(positions, base, base + number - 1)
                continue
            # Next: all actions are done, or one cuts off: the score, and what it bounds.
            score = best
            phase = RETURN
            if ply == 0:
                kind = here.last_kind
                is_true = here.all_true
                continue
            low, high = here.low, here.high
            is_true = here.range_true & here.action_true
            if is_cut:
                kind = LOWER
                if best >= high:
                    score = high
                    kind = EXACT
                tally.cutoffs += 1
                label = actions[first + current - 1].label
                note_success_jit(history, here.mover, label, min(1024, here.rest * here.rest))
            elif current < count:
                # Only one action was looked at: it bounds the score if its own is known.
                kind = LOWER
                if here.last_kind == UPPER or best <= low:
                    score = low
                    is_true = here.range_true
                    continue
            else:
                is_true = here.all_true
                if best <= low:
                    score = low
                    kind = EXACT
                elif best <= here.original:
                    kind = UPPER
                else:
                    kind = EXACT
            # Next: what this teaches the table.
            if keeps:
                proof = kind if is_true else 0
                keep_entry_jit(
                    keys, scores, infos, fields[here.row], here.hash, tally.age & AGES,
                    score, kind, proof, here.best_place, here.rest,
                )  # fmt: skip
        elif phase == CHANCE:
            current, number = here.outcome, here.outcomes
            base = here.first_row
            last = base + number - 1
            place = base + current
            reward = here.reward
            alpha, beta = here.alpha - reward, here.beta - reward
            child_alpha, child_beta = -infinity, infinity
            probed = here.stage == PROBING
            # Chance: the window of the next probe; after the last, all outcomes are searched.
            if probed:
                place, low, high = next_probe_jit(
                    positions, place, last, here.sum_low, here.sum_high, alpha, beta
                )
                if place > last:
                    sum_bounds_jit(positions, base, last)
                    here.outcome = 0
                    here.stage = SEARCHING
                    continue
                here.sum_low = low
                here.sum_high = high
                probability = positions[place].probability
                if place < last:
                    low += positions[place + 1].rest_low
                    high += positions[place + 1].rest_high
                if positions[place].flips_sign:
                    child_alpha = min(divided_jit(alpha - high, probability), MAX_WINDOW)
                else:
                    child_beta = max(divided_jit(beta - low, probability), -MAX_WINDOW)
            else:
                # Chance: the window of the next open outcome; if bounds decide, the action is done.
                total = here.sum
                while place <= last and positions[place].low == positions[place].high:
                    total += positions[place].probability * positions[place].low
                    place += 1
                here.sum = total
                if place > last:
                    score = total
                    kind = EXACT
                    phase = ACTION
                    continue
                if pruning != NONE:
                    low, high = positions[place].rest_low, positions[place].rest_high
                    if total + low >= beta:
                        score = total + low
                        kind = LOWER
                        phase = ACTION
                        continue
                    if total + high <= alpha:
                        score = total + high
                        kind = UPPER
                        phase = ACTION
                        continue
                    low, high = total, total
                    if place < last:
                        low += positions[place + 1].rest_low
                        high += positions[place + 1].rest_high
                    probability = positions[place].probability
                    child_alpha = min(divided_jit(alpha - high, probability), MAX_WINDOW)
                    child_beta = max(divided_jit(beta - low, probability), -MAX_WINDOW)
                    if child_beta <= child_alpha:
                        child_beta = above_jit(child_alpha)
            here.child_alpha = child_alpha
            here.child_beta = child_beta
            here.outcome = place - base
            ply += 1
            plies[ply].row = place
            plies[ply].probed = probed
            phase = ENTER
        elif phase == ACTION:
            # Action: its score with the reward, and the best so far.
            if abs(score) < infinity:
                total = here.reward + score
                if rounds_jit(here.reward, score, total):
                    tally.inexact = 1
                score = total
                tally.largest = max(tally.largest, abs(total))
            if kind != EXACT:
                place = here.first_row
                last = place + here.outcomes - 1
                if here.stage == SEARCHING:
                    place += here.outcome
                for k in range(place, last + 1):
                    end = positions[k].low if kind == LOWER else positions[k].high
                    tally.largest = max(tally.largest, abs(end))
            # Where rounding puts a score beside the window that it was compared with.
            if kind == UPPER and score > here.alpha:
                score = here.alpha
                tally.inexact = 1
            elif kind == LOWER and score < here.beta:
                score = here.beta
                tally.inexact = 1
            here.all_true &= here.action_true
            here.last_kind = kind
            if score > here.best:
                here.best = score
                here.best_place = place_of_jit(actions[here.first + here.current - 1])
            if kind != UPPER and score > here.alpha:
                here.alpha = score
            phase = NEXT
        else:
            # Return: the score at ply 0 is the result.
            if abs(score) < infinity:
                tally.largest = max(tally.largest, abs(score))
            if ply == 0:
                tally.score = score
                tally.kind = kind
                tally.proven = is_true
                tally.ply = 0
                return LoopStatus.DONE
            if here.flips_sign:
                score = -score
                kind = flipped_jit(kind)
            # Return: an infinite outcome decides.
            ply -= 1
            here = plies[ply]
            here.action_true &= is_true
            if (score == infinity and kind & LOWER) or (score == -infinity and kind & UPPER):
                kind = EXACT
                phase = ACTION
                continue
            # Return: the mean of the outcomes, and whether bounds decide.
            place = here.first_row + here.outcome
            here.outcome += 1
            phase = CHANCE
            probability = positions[place].probability
            reward = here.reward
            low, high = 0.0, 0.0
            if here.outcome < here.outcomes:
                low, high = positions[place + 1].rest_low, positions[place + 1].rest_high
            if here.stage == PROBING:
                positions[place].is_true &= is_true
                if kind & LOWER and score > positions[place].low:
                    positions[place].low = min(score, positions[place].high)
                if kind & UPPER and score < positions[place].high:
                    positions[place].high = max(score, positions[place].low)
                here.sum_low += probability * positions[place].low
                here.sum_high += probability * positions[place].high
                if here.sum_low + low >= here.beta - reward:
                    score = here.sum_low + low
                    kind = LOWER
                    phase = ACTION
                elif here.sum_high + high <= here.alpha - reward:
                    score = here.sum_high + high
                    kind = UPPER
                    phase = ACTION
            elif kind == EXACT:
                here.sum += probability * score
            elif kind == LOWER:
                score = here.sum + probability * score + low
                phase = ACTION
            else:
                score = here.sum + probability * score + high
                phase = ACTION


expectiminimax_jit = compiled_for_all(expectiminimax)
