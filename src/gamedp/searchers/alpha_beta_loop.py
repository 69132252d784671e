"""The compiled loop of alpha-beta search over a game's own methods; no model is built.

Depth first, on a stack of its own: a game may be as long as memory allows, and the loop can stop at
any node and go on later. Scores are from the mover's side and zero-sum: half of the constant sum is
taken off. The positions on the stack are representatives of their symmetry.

What a node returns bounds what a plain minimax search of the same depth would return: its kind says
from which sides. Two more bits say from which it bounds the true value, too, because nothing below
was estimated. A window may have ends infinitely near to a number: a test whether a score is more
than a number, or as much, has both ends there. No reward that is taken off can make them meet.
"""

from __future__ import annotations

from gamedp.bellman.rounding import rounds_jit, shift_rounds_jit
from gamedp.compiler.native import RAISED, call_native, compiled_for_all
from gamedp.runtime.jit import inlined
from gamedp.searchers.node_loop import ENTER, ask_actions_jit, ask_estimate_jit, come_to_jit
from gamedp.searchers.position_loop import FULL, KNOWN, NO_NUMBER, UNREAD
from gamedp.searchers.stacks import POSITIONS, Fields, LoopStatus
from gamedp.searchers.transposition import (
    AGES,
    DEPTH,
    EXACT,
    LOWER,
    MOVE,
    MOVES,
    PROOF,
    UPPER,
    find_entry_jit,
    hash_fields_jit,
    keep_entry_jit,
)

# Where the loop goes on.
NEXT, RETURN, LOOK = range(1, 4)

# What `stage` says of a position: its actions are made as they are searched; they are all probed
# first; they have been, and those are searched that a probe has left open.
STRAIGHT, PROBE, AFTER_PROBE = range(3)

PLY = Fields(
    "row first count current first_row rows mover rest ends original_ends child_ends raised "
    "best_place best_proof all_proof flips_sign tested hash stage open",
    "alpha beta original best low high reward child_alpha child_beta",
)
"""A position on the way, and where its search stands: its window, its best score, bounds that are
certain, the reward of the current action, and the window after it before the reward is taken off.
"""

CUT = 2
"""What has been raised so far that nobody will come here."""

PLACES = (1 << 20) - 1
"""An action's priority is kept with its place among the actions, the earlier the higher."""

FROM_TABLE, KEEPS_TURN, KILLER, MOST_HISTORY = 1 << 42, 1 << 41, 1 << 40, 1 << 38
"""Priorities: the best action of an earlier search, one after which the mover moves again, what cut
off elsewhere at this ply, and the most that an action can earn by cutting off anywhere."""

RANK = 61
"""Above this bit of an action's priority, only the first two of these stand."""

UNLIMITED = 1 << 28
"""A depth that no search comes to the end of: it goes to the ends of games."""

JUST_BELOW, JUST_ABOVE = 1, 2
"""Ends of a window: alpha lies just below the number that it is given as, beta just above."""


def fails_low(score, alpha, ends):
    """Say whether a score does not exceed alpha."""
    return score < alpha or (score == alpha and not ends & JUST_BELOW)


fails_low_jit = inlined(fails_low)


def fails_high(score, beta, ends):
    """Say whether a score is beta or more."""
    return score > beta or (score == beta and not ends & JUST_ABOVE)


fails_high_jit = inlined(fails_high)


def usable(info, depth, strict):
    """Return what an entry's score bounds for a search of this depth, and what of it is proven."""
    stored = info >> DEPTH
    proven = (info >> PROOF) & EXACT
    if strict:
        # A proof of fewer plies is part of the deeper search, too; one of more plies is not.
        if stored > depth:
            return 0, 0
        if stored < depth:
            return proven, proven
        return (info & EXACT) | proven, proven
    if stored < depth:
        return proven, proven
    return (info & EXACT) | proven, proven


usable_jit = inlined(usable)


def next_action(actions, first, count, current):
    """Return where the action of the highest priority stands among those not yet searched."""
    chosen = first + current
    for place in range(chosen + 1, first + count):
        if actions[place].order > actions[chosen].order:
            chosen = place
    return chosen


next_action_jit = inlined(next_action)


def next_promising(actions, first, count, current):
    """Return where the action stands that comes next on the way to the ends of games.

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
    """Let two actions change places on their stack."""
    if one != other:
        first, second = actions[one], actions[other]
        label, order, row, promise = first.label, first.order, first.row, first.promise
        first.label, first.order = second.label, second.order
        first.row, first.promise = second.row, second.promise
        second.label, second.order, second.row, second.promise = label, order, row, promise


swap_actions_jit = inlined(swap_actions)


def alpha_beta(work, page, rules, budget):
    """Search the position at ply 0 within the window that stands there.

    Far enough from the horizon, all that the actions lead to is probed first: an end of the
    game, an endgame table, a range that the game is certain of or the transposition table may say
    enough. Only what is left open then is entered, and counts as a node::

        LOOK --> ENTER --> RETURN      over, certain, at the horizon, or in the table
                 ^   |        |
                 |   v        v
                 +-- NEXT <-- ply above            (a probe that leaves it open goes there, too)
                     (next action; a test that fails high once more; else RETURN)

    It is one long function, because its phases share a score, what that bounds and a dozen arrays,
    and going from one to the next costs nothing so.

    Parameters
    ----------
    work
        The record of the stack, the table and the options.
    page, rules
        What the rules are asked with, see `gamedp.searchers.driver`.
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
    probes = keeps or page.most_material >= 0
    year, most_plies = tally.year & AGES, tally.most_plies
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
                    ends = (ends >> 1) | ((ends & JUST_BELOW) << 1)
                elif extends and ply < most_plies:
                    depth += 1
                here.flips_sign = flips_sign
                here.rest = depth
            else:
                alpha = here.alpha
                beta = here.beta
                ends = here.ends
                depth = here.rest
            low, high = position.low, position.high
            if position.is_over:
                if not is_probe:
                    tally.nodes += 1
                if not abs(low) < infinity:
                    return LoopStatus.BAD_RULES
                score = low - half
                if rounds_jit(low, -half, score):
                    tally.inexact = 1
                kind = EXACT
                proof = EXACT
                phase = RETURN
                continue
            if half != 0.0:
                if shift_rounds_jit(low, half) or shift_rounds_jit(high, half):
                    tally.inexact = 1
                low -= half
                high -= half
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
                        # What an estimate suggests leads astray on the way to the end of the game.
                        suggested = ((infos[entry] >> MOVE) & MOVES) - 1
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
            here.first = 0
            here.first_row = 1
            if ply > 0:
                above = plies[ply - 1]
                here.first = above.first + above.count
                here.first_row = above.first_row + above.rows
            first = here.first
            status, count = ask_actions_jit(tally, question, rules, row, first)
            if status != LoopStatus.DONE:
                tally.nodes -= 1
                return status
            for place in range(count):
                each = actions[first + place]
                label = each.label
                priority = history[mover, label & (history.shape[1] - 1)]
                if label == killers[ply, 0]:
                    priority += KILLER
                elif label == killers[ply, 1]:
                    priority += KILLER >> 1
                if place == suggested:
                    priority += FROM_TABLE
                each.order = (priority << 20) + PLACES - place
            here.count = count
            here.current = 0
            here.open = 0
            here.stage = STRAIGHT
            here.rows = 1
            if probes and depth > eager:
                here.stage = PROBE
                here.rows = count
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
            if ply > tally.deepest:
                tally.deepest = ply
        elif phase == NEXT:
            cut = here.raised == CUT
            if here.stage == PROBE and here.current == here.count and not cut:
                here.stage = AFTER_PROBE
                here.count = here.open
                here.current = 0
            first, count, current, stage = here.first, here.count, here.current, here.stage
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
            if cut:
                tally.cutoffs += 1
                label = actions[first + current - 1].label
                if label != killers[ply, 0]:
                    killers[ply, 1] = killers[ply, 0]
                    killers[ply, 0] = label
                slot = label & (history.shape[1] - 1)
                if here.rest < UNLIMITED >> 1:
                    earned_so_far = history[here.mover, slot] + here.rest * here.rest
                    history[here.mover, slot] = min(MOST_HISTORY, earned_so_far)
            if keeps:
                keep_entry_jit(
                    keys, scores, infos, fields[here.row], here.hash, year, score, kind,
                    proof, here.best_place, here.rest,
                )  # fmt: skip
            phase = RETURN
        else:
            size = abs(score)
            if size > tally.largest:
                tally.largest = size
            if ply == 0:
                tally.ply = 0
                tally.kind = kind
                tally.proven = proof
                tally.score = score
                return LoopStatus.DONE
            if here.flips_sign:
                score = -score
                kind = (kind >> 1) | ((kind & LOWER) << 1)
                proof = (proof >> 1) | ((proof & LOWER) << 1)
            ply -= 1
            here = plies[ply]
            if earns:
                total = here.reward + score
                if rounds_jit(here.reward, score, total):
                    tally.inexact = 1
                score = total
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
            here.all_proof &= proof
            if score > here.best:
                here.best = score
                here.best_proof = proof
                place = here.first + here.current - 1
                here.best_place = PLACES - (actions[place].order & PLACES)
            elif score == here.best:
                here.best_proof |= proof & LOWER
            if exceeds:
                here.raised = CUT if cuts else 1
                here.alpha = max(here.alpha, score)
                here.ends = ends & JUST_ABOVE
            phase = NEXT


alpha_beta_jit = compiled_for_all(alpha_beta)
