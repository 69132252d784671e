"""The compiled loop of alpha-beta search over a game's own methods; no model is built.

Depth first, on a stack of its own: a game may be as long as memory allows, and the loop can stop at
any node and go on later. Scores are from the mover's side and zero-sum: half of the constant sum is
taken off. The positions on the stack are representatives of their symmetry.

What a node returns bounds what a plain minimax search of the same depth would return: its kind says
from which sides. Two more bits say from which sides it also bounds the true value, because nothing
below was estimated. An end of a window may lie just above or just below a number, at no distance: a
test whether a score exceeds a number, or reaches it, has both ends there. Subtracting a reward
never makes them meet.
"""

from __future__ import annotations

from gamedp.bellman.equation import rounds_jit
from gamedp.compiler.native import RAISED, call_native, compiled_for_all
from gamedp.runtime.jit import inlined
from gamedp.searchers.node_loop import (
    ENTER,
    KEEPS_TURN,
    NEXT,
    ask_estimate_jit,
    begin_actions_jit,
    come_to_jit,
    next_action_jit,
    next_promising_jit,
    note_success_jit,
    order_actions_jit,
    place_of_jit,
    swap_actions_jit,
    zero_sum_range_jit,
)
from gamedp.searchers.position_loop import FULL, KNOWN, NO_NUMBER, UNREAD
from gamedp.searchers.stacks import (
    AGES,
    DEPTH,
    EXACT,
    LOWER,
    MOVE,
    MOVES,
    POSITIONS,
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
RETURN, LOOK = range(2, 4)

# What `stage` says of a position: its actions are made as they are searched; they are all probed
# first; they have been, and those are searched that a probe has left open.
STRAIGHT, PROBE, AFTER_PROBE = range(3)

PLY = Fields(
    "row first count current first_row outcomes outcome mover rest ends original_ends "
    "child_ends raised best_place best_proof all_proof flips_sign tested hash stage open",
    "alpha beta original best low high reward child_alpha child_beta",
)
"""A position on the way, and where its search stands: its window, its best score, bounds that are
certain, the reward of the current action, and the window after it before the reward is taken off.

`outcomes` counts the rows that the positions after it take: one, or one for each action if all are
probed; there is no chance, so no next `outcome`.
"""

CUT = 2
"""Value of `raised` after a cutoff: the score has reached beta."""

UNLIMITED = 1 << 28
"""A depth that no search reaches: it goes to the ends of games."""

JUST_BELOW, JUST_ABOVE = 1, 2
"""Ends of a window: alpha lies just below the number that it is given as, beta just above."""


def fails_low(score, alpha, ends):
    """Return whether a score does not exceed alpha."""
    return score < alpha or (score == alpha and not ends & JUST_BELOW)


fails_low_jit = inlined(fails_low)


def fails_high(score, beta, ends):
    """Return whether a score is beta or more."""
    return score > beta or (score == beta and not ends & JUST_ABOVE)


fails_high_jit = inlined(fails_high)


def alpha_beta(work, page, rules, budget):
    """Search the position at ply 0 within the window that stands there.

    Far enough from the horizon, all that the actions lead to is probed first: an end of the
    game, a table, a range that the game is certain of or the transposition table may say
    enough. Only what is left open then is entered, and counts as a node. The phases::

        LOOK    at the first position  --> ENTER
        ENTER   a position             --> NEXT; RETURN if over, certain, at the horizon or in the
                                           table; NEXT one ply up if a probe leaves it open
        NEXT    its next action        --> ENTER one ply down; RETURN after the last, or a cutoff
        RETURN  with a score           --> NEXT one ply up; ENTER again after a test that fails high

    It is one long function because its phases share a score, what that bounds and a dozen arrays,
    and going from one to the next costs nothing this way.

    Parameters
    ----------
    work
        The record of the stack, the table and the options.
    page, rules
        The record of a question to the rules, see `gamedp.searchers.driver`.
    budget : int
        Nodes after which to pause.

    Returns
    -------
    status : LoopStatus
        DONE, with the score in ``tally.score``, what it bounds in ``tally.kind``, and what of that
        is proven in ``tally.proven``.
    """
    plies, positions, actions, fields = work.plies, page.positions, page.actions, page.fields
    killers, history = work.killers, work.history
    keys, scores, infos = work.keys, work.scores, work.infos
    tally, question = work.tally[0], page.question[0]
    half, strict, extends, eager = work.half, work.strict, work.extends, work.eager
    num_players, earns = work.num_players, work.has_rewards or page.banks
    keeps = infos.size > 0
    probes = keeps or page.top_tier >= 0
    age, most_plies = tally.age & AGES, tally.most_plies
    infinity = float("inf")
    ply, phase = tally.ply, tally.phase
    score, kind, proof = tally.score, tally.kind, tally.proven
    last_node = tally.nodes + budget
    if phase == LOOK:
        question.row = plies[ply].row
        if call_native(rules.enter, rules.game, rules.page) == RAISED:
            return LoopStatus.FAILED
        phase = ENTER
    while True:
        here = plies[ply]
        if phase == ENTER:
            status = come_to_jit(tally, plies, ply, last_node)
            if status != LoopStatus.DONE:
                return status
            # Enter: whose move it is, and the window, seen from that side.
            row = here.row
            position = positions[row]
            mover = position.mover
            if mover < 0 or mover >= num_players:
                return LoopStatus.BAD_RULES
            here.mover = mover
            is_probe = False
            if ply > 0:
                above = plies[ply - 1]
                is_probe = above.stage == PROBE
                alpha = above.child_alpha
                beta = above.child_beta
                ends = above.child_ends
                if earns:
                    alpha -= above.reward
                    beta -= above.reward
                flips_sign = (mover ^ position.swapped) != above.mover
                depth = above.rest - 1
                if flips_sign:
                    alpha, beta = -beta, -alpha
                    ends = flipped_jit(ends)  # LOWER and UPPER are as JUST_BELOW and JUST_ABOVE
                elif extends and ply < most_plies:
                    depth += 1
                here.flips_sign = flips_sign
                here.rest = depth
            else:
                alpha = here.alpha
                beta = here.beta
                ends = here.ends
                depth = here.rest
            # Enter: what is known without searching: ends, tables, the range.
            low, high = zero_sum_range_jit(tally, position, half)
            if position.is_over:
                if not is_probe:
                    tally.nodes += 1
                if not abs(low) < infinity:
                    return LoopStatus.BAD_RULES
                score = low
                kind = EXACT
                proof = EXACT
                phase = RETURN
                continue
            if position.ending != 0:
                if position.ending == NO_NUMBER:
                    return LoopStatus.OUTSIDE
                if position.ending == UNREAD:
                    tally.phase = LOOK
                    tally.wanted = position.block
                    return LoopStatus.READ
                if position.ending == KNOWN:
                    tally.probes += 1
                    low = max(low, position.ending_low - half)
                    high = min(high, position.ending_high - half)
            if not low <= high or low == infinity or high == -infinity:
                return LoopStatus.UNORDERED
            if not is_probe:
                tally.nodes += 1
            phase = RETURN
            if low == high:
                score = low
                kind = EXACT
                proof = EXACT
                continue
            if fails_high_jit(low, beta, ends):
                score = low
                kind = LOWER
                proof = LOWER
                continue
            if fails_low_jit(high, alpha, ends):
                score = high
                kind = UPPER
                proof = UPPER
                continue
            # Enter: the horizon.
            if depth <= 0:
                status, score = ask_estimate_jit(work, question, rules, row, mover)
                if status != LoopStatus.DONE:
                    return status
                kind = EXACT
                proof = 0
                if score <= low:
                    score = low
                    proof = LOWER
                elif score >= high:
                    score = high
                    proof = UPPER
                continue
            # Enter: the transposition table.
            suggested = -1
            mixed = 0
            if keeps:
                mixed = hash_fields_jit(fields[row])
                entry = find_entry_jit(keys, infos, fields[row], mixed)
                if entry >= 0:
                    tally.hits += 1
                    kind, proven = usable_jit(infos[entry], depth, strict)
                    score = scores[entry]
                    if kind == EXACT:
                        proof = proven
                        continue
                    if kind & LOWER:
                        if fails_high_jit(score, beta, ends):
                            kind = LOWER
                            proof = proven & LOWER
                            continue
                        if proven & LOWER and score > low:
                            low = score
                    if kind & UPPER:
                        if fails_low_jit(score, alpha, ends):
                            kind = UPPER
                            proof = proven & UPPER
                            continue
                        if proven & UPPER and score < high:
                            high = score
                    if low >= high:
                        score = low
                        kind = EXACT
                        proof = EXACT
                        continue
                    if depth < UNLIMITED >> 1 or infos[entry] >> DEPTH >= UNLIMITED >> 1:
                        # On the way to the ends of the game, what an estimate suggests misleads.
                        suggested = ((infos[entry] >> MOVE) & MOVES) - 1
            # Enter: a probe goes back.
            if is_probe:
                # Nothing settles it: it has to wait until all have been probed.
                if high - low < infinity:
                    doubt = high - low
                    promise = low + doubt / 2
                else:
                    doubt = 0.0
                    status, promise = ask_estimate_jit(work, question, rules, row, mover)
                    if status != LoopStatus.DONE:
                        return status
                promise = (-promise if here.flips_sign else promise) - doubt / 16
                above = plies[ply - 1]
                current = actions[above.first + above.current - 1]
                waiting = actions[above.first + above.open]
                waiting.label = current.label
                waiting.order = current.order
                waiting.row = row
                waiting.promise = position.reward + promise
                if depth >= UNLIMITED >> 1 and not here.flips_sign:
                    waiting.order += KEEPS_TURN << 20
                above.open += 1
                ply -= 1
                phase = NEXT
                continue
            # Enter: the actions, in order, and the window narrowed to the range.
            status = begin_actions_jit(tally, question, rules, plies, ply)
            if status != LoopStatus.DONE:
                tally.nodes -= 1
                return status
            order_actions_jit(
                actions, here.first, here.count, history, mover, killers[ply, 0], killers[ply, 1],
                suggested,
            )  # fmt: skip
            here.open = 0
            here.stage = STRAIGHT
            here.outcomes = 1
            if probes and depth > eager:
                here.stage = PROBE
                here.outcomes = here.count
            here.best_place = -1
            here.best_proof = 0
            here.all_proof = UPPER
            here.hash = mixed
            here.raised = 0
            here.original_ends = ends
            here.original = alpha
            if low > alpha:
                alpha = low
                ends &= JUST_ABOVE
            if high < beta:
                beta = high
                ends &= JUST_BELOW
            here.ends = ends
            here.alpha = alpha
            here.beta = beta
            here.best = -infinity
            here.low = low
            here.high = high
            phase = NEXT
        elif phase == NEXT:
            # Next: after the last probe, the actions that it has left open.
            cut = here.raised == CUT
            if here.stage == PROBE and here.current == here.count and not cut:
                here.stage = AFTER_PROBE
                here.count = here.open
                here.current = 0
            first, count, current, stage = here.first, here.count, here.current, here.stage
            # Next: the most promising action, and the position after it.
            if current < count and not cut:
                chosen = first + current
                if stage == AFTER_PROBE and here.rest >= UNLIMITED >> 1:
                    chosen = next_promising_jit(actions, first, count, current)
                elif stage != PROBE:
                    chosen = next_action_jit(actions, first, count, current)
                swap_actions_jit(actions, chosen, first + current)
                action = actions[first + current]
                row = here.first_row
                if stage == AFTER_PROBE:
                    row = action.row
                else:
                    if stage == PROBE:
                        row += current
                    tally.ply = ply
                    tally.phase = NEXT
                    question.row = here.row
                    question.first = row
                    question.action = action.label
                    question.mover = here.mover
                    number = call_native(rules.follow, rules.game, rules.page)
                    if number != 1:
                        tally.wanted = POSITIONS
                        if number > 1:
                            return LoopStatus.CHANCE
                        if number == FULL:
                            return LoopStatus.GROW
                        return LoopStatus.FAILED if number == RAISED else LoopStatus.BAD_RULES
                    position = positions[row]
                    reward = position.banked
                    if position.is_rounded:
                        tally.inexact = 1
                    if work.has_rewards:
                        earned = question.reward
                        reward += earned
                        if rounds_jit(position.banked, earned, reward):
                            tally.inexact = 1
                    position.reward = reward
                here.reward = positions[row].reward
                # Next: its window, empty for all but the first action: a test.
                alpha, beta, ends = here.alpha, here.beta, here.ends
                is_test = alpha < beta and stage != PROBE and (current > 0 or here.raised > 0)
                if is_test:
                    beta = alpha
                    ends = JUST_BELOW if ends & JUST_BELOW else JUST_ABOVE
                here.tested = is_test
                here.child_ends = ends
                here.child_alpha = alpha
                here.child_beta = beta
                here.current = current + 1
                ply += 1
                plies[ply].row = row
                phase = ENTER
                continue
            # Next: all actions are done, or one cuts off: the score, and what it bounds.
            best, low, high = here.best, here.low, here.high
            score = best
            proof = here.best_proof & LOWER
            if best >= high:
                score = high
                kind = EXACT
                proof |= UPPER
            elif cut:
                kind = LOWER
            else:
                proof |= here.all_proof
                kind = EXACT if here.raised else UPPER
                if best <= low:
                    score = low
                    kind = EXACT
                    proof |= LOWER
                elif not here.raised and not fails_low_jit(best, here.original, here.original_ends):
                    # Rounding alone has lifted a bound from above over alpha.
                    score = here.original
            # Next: what this teaches the move ordering and the table.
            if cut:
                tally.cutoffs += 1
                label = actions[first + current - 1].label
                if label != killers[ply, 0]:
                    killers[ply, 1] = killers[ply, 0]
                    killers[ply, 0] = label
                if here.rest < UNLIMITED >> 1:
                    note_success_jit(history, here.mover, label, here.rest * here.rest)
            if keeps:
                keep_entry_jit(
                    keys, scores, infos, fields[here.row], here.hash, age, score, kind,
                    proof, here.best_place, here.rest,
                )  # fmt: skip
            phase = RETURN
        else:
            # Return: the score at ply 0 is the result.
            size = abs(score)
            if size > tally.largest:
                tally.largest = size
            if ply == 0:
                tally.ply = 0
                tally.kind = kind
                tally.proven = proof
                tally.score = score
                return LoopStatus.DONE
            # Return: the score from the side of the player above, with the reward.
            if here.flips_sign:
                score = -score
                kind = flipped_jit(kind)
                proof = flipped_jit(proof)
            ply -= 1
            here = plies[ply]
            if earns:
                total = here.reward + score
                if rounds_jit(here.reward, score, total):
                    tally.inexact = 1
                score = total
            # Return: a test that exceeds alpha is searched again, in the open window.
            ends = here.ends
            exceeds = kind != UPPER and not fails_low_jit(score, here.alpha, ends)
            cuts = kind != UPPER and fails_high_jit(score, here.beta, ends)
            if kind == LOWER:
                # What the child has found lies beyond its window, whatever rounding says.
                exceeds = True
                cuts = cuts or not here.tested
            if here.tested and exceeds and not cuts:
                here.tested = 0
                here.child_ends = ends
                here.child_beta = here.beta
                ply += 1
                phase = ENTER
                continue
            # Return: the best so far.
            here.all_proof &= proof
            if score > here.best:
                here.best = score
                here.best_proof = proof
                here.best_place = place_of_jit(actions[here.first + here.current - 1])
            elif score == here.best:
                here.best_proof |= proof & LOWER
            if exceeds:
                here.raised = CUT if cuts else 1
                here.alpha = max(here.alpha, score)
                here.ends = ends & JUST_ABOVE
            phase = NEXT


alpha_beta_jit = compiled_for_all(alpha_beta)
