"""The compiled loop of expectiminimax over a game's own methods, with Star1 and Star2 pruning.

Depth first, on stacks of its own, so that the loop can stop at any position and go on later. A ply
is a position, its actions, and the outcomes of the one that is being searched. Scores are from the
mover's side and zero-sum: half of the constant sum is taken off.

What is known of the outcomes before they are searched (ends of the game, ``value_range``) bounds
the mean over them, and so does what is known of those that have been searched. The action is left
as soon as these bounds decide it (Star1). Star2 first searches one action of each outcome, which
bounds that outcome from the side of whoever moves there.

At the horizon stands the heuristic, or an end of ``value_range``: the lower one as the first player
to move sees it, or the upper one. From the two others' results follow bounds of the true value.
"""

from __future__ import annotations

from gamedp.compiler.bridge import as_action
from gamedp.compiler.loop import lost_jit
from gamedp.compiler.search_loop import (
    MOST_HISTORY,
    PLACES,
    next_place_jit,
    shift_rounds_jit,
    usable_jit,
)
from gamedp.kernels.jit import inlined
from gamedp.kernels.rounding import rounds_jit
from gamedp.kernels.transposition import (
    AGES,
    EXACT,
    LOWER,
    MOVE,
    MOVES,
    UPPER,
    find_entry_jit,
    hash_fields_jit,
    keep_entry_jit,
)
from gamedp.model import LEAST_PROBABILITY, SUM_ROUNDING

# What a call returns.
(DONE, PAUSED, GROW_PLIES, GROW_MOVES, GROW_OUTCOMES, BAD, BAD_OUTCOME, BAD_ESTIMATE) = range(8)

# Where the loop goes on.
ENTER, NEXT, CHANCE, ACTION, RETURN = range(5)

# Where the search stands at an action's outcomes.
SEARCHING, PROBING = range(2)

# What stands at the horizon, from the side of the mover there.
ESTIMATE, LOW_END, HIGH_END = range(3)
KINDS = 4
"""A position's last field is one of these, and so many times the plies that are left: positions
come back with other numbers of plies left, and neither entry in the table may drive out the other.
"""

# Ways to prune.
NONE, STAR1, STAR2 = range(3)

# Places in `counters`.
(PLY, PHASE, NODES, KIND, TRUE, HITS, CUTOFFS, INEXACT, DEEPEST, MOST, YEAR, WANTED) = range(12)
COUNTERS = 12

# Places in `results`.
SCORE, LARGEST = range(2)

# Columns of `ints`: of each ply, the position there, its actions, and the outcomes of one of them.
(FIRST, COUNT, CURRENT, MOVER, REST, BEST_PLACE, HASH, LAST_KIND, OPPOSED, PROBED, RANGE_TRUE,
 ALL_TRUE, ACTION_TRUE, OUT_FIRST, OUT_COUNT, OUT_CURRENT, OUT_STAGE) = range(17)  # fmt: skip
INTS = 17

# Columns of `floats`: the window, the best score, bounds that are certain; the current action's
# reward, what the outcomes done with add up to, and bounds of that; the next position's window.
(ALPHA, BETA, ORIGINAL, BEST, LOW, HIGH, REWARD, SUM, SUM_LOW, SUM_HIGH, CHILD_ALPHA,
 CHILD_BETA) = range(12)  # fmt: skip
FLOATS = 12

# Columns of `out_ints` and `out_floats`: of each outcome, who moves there, and the bounds of its
# score from the side of whoever moves before it, and whether these hold for the true value; the
# sums run from there to the last outcome.
OUT_MOVER, OUT_OPPOSED, OUT_TRUE = range(3)
OUT_INTS = 3
PROBABILITY, OUT_LOW, OUT_HIGH, REST_LOW, REST_HIGH = range(5)
OUT_FLOATS = 5

ENDLESS = 1 << 27
"""Plies left where the search goes on to the end of the game."""

SLACK = 1e-9
"""By how much the probabilities of an action's outcomes may miss 1."""

LARGE = 1e308
"""Windows have no other infinite ends than those that are open."""


def divided(number, probability):
    """Return the quotient, which is infinite only if the number is."""
    if abs(number) < LARGE * probability:
        return number / probability
    if abs(number) == float("inf"):
        return number
    return LARGE if number > 0.0 else -LARGE


divided_jit = inlined(divided)


def above(number: float) -> float:
    """Return a number that is a little greater: no two scores of interest are nearer."""
    size = abs(number)
    return number + max(size, 1e-290) * 2.0**-51


above_jit = inlined(above)


def expectiminimax(game, work, budget):
    """Search the first of the actions on the stack, in the position at ply 0.

    Parameters
    ----------
    game
        The game, bound for compiled loops.
    work
        The record of the stacks, the table and the options. Ply 0 stands there as if its position
        had been entered, with one action; the last field of a position on the stack, and in the
        table, says what stands at the horizon.
    budget : int
        Positions after which to pause.

    Returns
    -------
    status : int
        DONE, with the score in ``results[SCORE]``, what it bounds in ``counters[KIND]``, and in
        ``counters[TRUE]`` whether that holds for the true value, too, because no estimate was
        needed; PAUSED or GROW_* to be called again; BAD if the rules are wrong in the position at
        ``counters[PLY]``, BAD_OUTCOME in the outcome at ``counters[WANTED]``, BAD_ESTIMATE if the
        heuristic is no number there.
    """
    fields, ints, floats = work.fields, work.ints, work.floats
    moves, order, history = work.moves, work.order, work.history
    out_fields, out_ints, out_floats = work.out_fields, work.out_ints, work.out_floats
    keys, scores, infos = work.keys, work.scores, work.infos
    counters, results = work.counters, work.results
    half, pruning, has_rewards = work.half, work.pruning, work.has_rewards
    keeps = infos.size > 0
    horizon = fields.shape[1] - 1
    infinity = float("inf")
    ply, phase = counters[PLY], counters[PHASE]
    score, kind, is_true = 0.0, EXACT, 1
    last_node = counters[NODES] + budget
    while True:
        if phase == ENTER:
            counters[PLY] = ply
            counters[PHASE] = ENTER
            if counters[NODES] >= last_node:
                return PAUSED
            if ply + 2 > ints.shape[0]:
                return GROW_PLIES
            place = ints[ply - 1, OUT_FIRST] + ints[ply - 1, OUT_CURRENT]
            mover, opposed = as_action(out_ints[place, OUT_MOVER]), out_ints[place, OUT_OPPOSED]
            low, high = out_floats[place, OUT_LOW], out_floats[place, OUT_HIGH]
            alpha, beta = floats[ply - 1, CHILD_ALPHA], floats[ply - 1, CHILD_BETA]
            if opposed:
                alpha, beta = -beta, -alpha
                low, high = -high, -low
            rest = ints[ply - 1, REST]
            if rest < ENDLESS:
                rest -= 1
            ints[ply, OPPOSED] = opposed
            counters[NODES] += 1
            phase = RETURN
            is_true = out_ints[place, OUT_TRUE]
            known_true = is_true
            if low >= beta:
                score = low
                kind = LOWER
                continue
            if high <= alpha:
                score = high
                kind = UPPER
                continue
            state = game.gamedp_decode(fields[ply])
            if rest == 0:
                score = float(game.heuristic(state, mover)) - half
                if not abs(score) < infinity:
                    return BAD_ESTIMATE
                score = min(max(score, low), high)
                kind = EXACT
                is_true = 0
                continue
            suggested = -1
            mixed = 0
            if keeps:
                mixed = hash_fields_jit(fields[ply])
                entry = find_entry_jit(keys, infos, fields[ply], mixed)
                if entry < 0 and rest < ENDLESS:
                    # What was found at the depth before may be proven, and names a good action.
                    fields[ply, horizon] -= KINDS
                    entry = find_entry_jit(keys, infos, fields[ply], hash_fields_jit(fields[ply]))
                    fields[ply, horizon] += KINDS
                if entry >= 0:
                    counters[HITS] += 1
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
            first = ints[ply - 1, FIRST] + ints[ply - 1, COUNT]
            count = 0
            for label in game.actions(state):
                action = as_action(label)
                if first + count >= moves.size or count >= PLACES:
                    counters[NODES] -= 1
                    return GROW_MOVES
                priority = history[mover, action & (history.shape[1] - 1)]
                if count == suggested:
                    priority = MOST_HISTORY + 1
                moves[first + count] = action
                order[first + count] = (priority << 20) + PLACES - count
                count += 1
            if count == 0:
                return BAD
            if ply > counters[DEEPEST]:
                counters[DEEPEST] = ply
            ints[ply, FIRST] = first
            ints[ply, COUNT] = count
            ints[ply, CURRENT] = 0
            ints[ply, MOVER] = mover
            ints[ply, REST] = rest
            ints[ply, BEST_PLACE] = -1
            ints[ply, HASH] = mixed
            ints[ply, RANGE_TRUE] = known_true
            ints[ply, ALL_TRUE] = known_true
            floats[ply, ORIGINAL] = alpha
            floats[ply, ALPHA] = max(alpha, low)
            floats[ply, BETA] = min(beta, high)
            floats[ply, BEST] = -infinity
            floats[ply, LOW] = low
            floats[ply, HIGH] = high
            phase = NEXT
        elif phase == NEXT:
            first, count, current = ints[ply, FIRST], ints[ply, COUNT], ints[ply, CURRENT]
            best = floats[ply, BEST]
            is_cut = best >= floats[ply, BETA]
            if current < count and not is_cut and not (ints[ply, PROBED] and current == 1):
                chosen = next_place_jit(order, first, count, current)
                action, priority = as_action(moves[chosen]), order[chosen]
                moves[chosen], order[chosen] = moves[first + current], order[first + current]
                moves[first + current], order[first + current] = action, priority
                base = 0
                if ply > 0:
                    base = ints[ply - 1, OUT_FIRST] + ints[ply - 1, OUT_COUNT]
                state = game.gamedp_decode(fields[ply])
                mover, ends = as_action(ints[ply, MOVER]), fields[ply, horizon] % KINDS
                rest = ints[ply, REST]
                if rest < ENDLESS:
                    rest -= 1
                counters[PLY] = ply
                counters[PHASE] = NEXT
                number = 0
                settled = 0
                everything_true = 1
                chances = 0.0
                missing = 0.0
                endless = 0.0
                for chance, successor in game.outcomes(state, action):
                    probability = float(chance)
                    if not (0.0 <= probability <= 1.0 + SLACK):
                        return BAD
                    longer = chances + probability
                    missing += lost_jit(chances, probability, longer)
                    chances = longer
                    if probability < LEAST_PROBABILITY:
                        if probability > 0.0:
                            return BAD
                        continue
                    place = base + number
                    if place >= out_ints.shape[0]:
                        return GROW_OUTCOMES
                    number += 1
                    following, swapped = game.canonical(successor)
                    game.gamedp_flatten(following, out_fields[place])
                    after = 0
                    if game.is_terminal(following):
                        opposed = (0 ^ swapped) != mover
                        payoff = float(game.payoff(following, 0))
                        if not abs(payoff) < infinity:
                            counters[WANTED] = place
                            return BAD_OUTCOME
                        low = payoff - half
                        high = low
                        if rounds_jit(payoff, -half, low):
                            counters[INEXACT] = 1
                    else:
                        after = game.player(following)
                        if after < 0 or after >= work.num_players:
                            counters[WANTED] = place
                            return BAD_OUTCOME
                        opposed = (after ^ swapped) != mover
                        one, other = game.value_range(following, after)
                        low, high = float(one), float(other)
                        if half != 0.0:
                            if shift_rounds_jit(low, half) or shift_rounds_jit(high, half):
                                counters[INEXACT] = 1
                            low -= half
                            high -= half
                        if not low <= high or low == infinity or high == -infinity:
                            counters[WANTED] = place
                            return BAD_OUTCOME
                        there = ends
                        if opposed and ends != ESTIMATE:
                            there = LOW_END + HIGH_END - ends
                        if rest == 0 and there != ESTIMATE and low < high:
                            everything_true = 0
                            if there == LOW_END:
                                high = low
                            else:
                                low = high
                        out_fields[place, horizon] = there + KINDS * rest
                    if opposed:
                        low, high = -high, -low
                    if low == high:
                        settled += 1
                        if abs(low) < infinity:
                            results[LARGEST] = max(results[LARGEST], abs(low))
                        else:
                            endless = low
                    out_ints[place, OUT_MOVER] = after
                    out_ints[place, OUT_OPPOSED] = opposed
                    out_ints[place, OUT_TRUE] = 1
                    out_floats[place, PROBABILITY] = probability
                    out_floats[place, OUT_LOW] = low
                    out_floats[place, OUT_HIGH] = high
                excess = (chances - 1.0) + missing
                if number == 0 or not abs(excess) <= SLACK:
                    return BAD
                if abs(excess) > SUM_ROUNDING:
                    for place in range(base, base + number):
                        out_floats[place, PROBABILITY] /= 1.0 + excess
                reward = 0.0
                if has_rewards:
                    reward = float(game.reward(state, action, mover))
                    if not abs(reward) < infinity:
                        return BAD
                counters[NODES] += settled
                if number > counters[MOST]:
                    counters[MOST] = number
                if number > 1 or out_floats[base, PROBABILITY] != 1.0:
                    counters[INEXACT] = 1
                ints[ply, CURRENT] = current + 1
                ints[ply, ACTION_TRUE] = everything_true
                ints[ply, OUT_FIRST] = base
                ints[ply, OUT_COUNT] = number
                ints[ply, OUT_CURRENT] = 0
                ints[ply, OUT_STAGE] = SEARCHING
                if pruning == STAR2 and number > 1 and rest > 0:
                    ints[ply, OUT_STAGE] = PROBING
                floats[ply, REWARD] = reward
                floats[ply, SUM] = 0.0
                floats[ply, SUM_LOW] = 0.0
                floats[ply, SUM_HIGH] = 0.0
                phase = CHANCE
                if endless != 0.0:
                    # Nothing finite in the other outcomes changes that.
                    score = endless
                    kind = EXACT
                    phase = ACTION
                else:
                    low, high = 0.0, 0.0
                    for place in range(base + number - 1, base - 1, -1):
                        low += out_floats[place, PROBABILITY] * out_floats[place, OUT_LOW]
                        high += out_floats[place, PROBABILITY] * out_floats[place, OUT_HIGH]
                        out_floats[place, REST_LOW] = low
                        out_floats[place, REST_HIGH] = high
                continue
            score = best
            phase = RETURN
            if ply == 0:
                kind = ints[0, LAST_KIND]
                is_true = ints[0, ALL_TRUE]
                continue
            low, high = floats[ply, LOW], floats[ply, HIGH]
            is_true = ints[ply, RANGE_TRUE] & ints[ply, ACTION_TRUE]
            if is_cut:
                kind = LOWER
                if best >= high:
                    score = high
                    kind = EXACT
                counters[CUTOFFS] += 1
                slot = moves[first + current - 1] & (history.shape[1] - 1)
                earned = min(1024, ints[ply, REST] * ints[ply, REST])
                earned += history[ints[ply, MOVER], slot]
                history[ints[ply, MOVER], slot] = min(MOST_HISTORY, earned)
            elif current < count:
                # Only one action was looked at: it bounds the score if its own is known.
                kind = LOWER
                if ints[ply, LAST_KIND] == UPPER or best <= low:
                    score = low
                    is_true = ints[ply, RANGE_TRUE]
                    continue
            else:
                is_true = ints[ply, ALL_TRUE]
                if best <= low:
                    score = low
                    kind = EXACT
                elif best <= floats[ply, ORIGINAL]:
                    kind = UPPER
                else:
                    kind = EXACT
            if keeps:
                proof = kind if is_true else 0
                keep_entry_jit(
                    keys, scores, infos, fields[ply], ints[ply, HASH], counters[YEAR] & AGES,
                    score, kind, proof, ints[ply, BEST_PLACE], ints[ply, REST],
                )  # fmt: skip
        elif phase == CHANCE:
            current, number = ints[ply, OUT_CURRENT], ints[ply, OUT_COUNT]
            base = ints[ply, OUT_FIRST]
            last = base + number - 1
            place = base + current
            reward = floats[ply, REWARD]
            alpha, beta = floats[ply, ALPHA] - reward, floats[ply, BETA] - reward
            child_alpha, child_beta = -infinity, infinity
            probed = ints[ply, OUT_STAGE] == PROBING
            if probed:
                low, high = floats[ply, SUM_LOW], floats[ply, SUM_HIGH]
                # The best that looking at one action of each outcome could show, either way.
                hope = 0.0
                is_low = False
                is_high = False
                for k in range(place, last + 1):
                    column = OUT_LOW if out_ints[k, OUT_OPPOSED] else OUT_HIGH
                    end = out_floats[k, column]
                    if abs(end) < infinity:
                        hope += out_floats[k, PROBABILITY] * end
                    elif end < 0.0:
                        is_low = True
                    else:
                        is_high = True
                wants_upper = alpha > -infinity and high < infinity and not is_high
                wants_upper = wants_upper and (is_low or high + hope <= alpha)
                wants_lower = beta < infinity and low > -infinity and not is_low
                wants_lower = wants_lower and (is_high or low + hope >= beta)
                if not wants_upper and not wants_lower:
                    place = last + 1
                while place <= last:
                    wants = wants_upper if out_ints[place, OUT_OPPOSED] else wants_lower
                    if wants and out_floats[place, OUT_LOW] < out_floats[place, OUT_HIGH]:
                        break
                    low += out_floats[place, PROBABILITY] * out_floats[place, OUT_LOW]
                    high += out_floats[place, PROBABILITY] * out_floats[place, OUT_HIGH]
                    place += 1
                if place > last:
                    low, high = 0.0, 0.0
                    for place in range(last, base - 1, -1):
                        low += out_floats[place, PROBABILITY] * out_floats[place, OUT_LOW]
                        high += out_floats[place, PROBABILITY] * out_floats[place, OUT_HIGH]
                        out_floats[place, REST_LOW] = low
                        out_floats[place, REST_HIGH] = high
                    ints[ply, OUT_CURRENT] = 0
                    ints[ply, OUT_STAGE] = SEARCHING
                    continue
                floats[ply, SUM_LOW] = low
                floats[ply, SUM_HIGH] = high
                probability = out_floats[place, PROBABILITY]
                if place < last:
                    low += out_floats[place + 1, REST_LOW]
                    high += out_floats[place + 1, REST_HIGH]
                if out_ints[place, OUT_OPPOSED]:
                    child_alpha = min(divided_jit(alpha - high, probability), LARGE)
                else:
                    child_beta = max(divided_jit(beta - low, probability), -LARGE)
            else:
                total = floats[ply, SUM]
                while place <= last and out_floats[place, OUT_LOW] == out_floats[place, OUT_HIGH]:
                    total += out_floats[place, PROBABILITY] * out_floats[place, OUT_LOW]
                    place += 1
                floats[ply, SUM] = total
                if place > last:
                    score = total
                    kind = EXACT
                    phase = ACTION
                    continue
                if pruning != NONE:
                    low, high = out_floats[place, REST_LOW], out_floats[place, REST_HIGH]
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
                        low += out_floats[place + 1, REST_LOW]
                        high += out_floats[place + 1, REST_HIGH]
                    probability = out_floats[place, PROBABILITY]
                    child_alpha = min(divided_jit(alpha - high, probability), LARGE)
                    child_beta = max(divided_jit(beta - low, probability), -LARGE)
                    if child_beta <= child_alpha:
                        child_beta = above_jit(child_alpha)
            floats[ply, CHILD_ALPHA] = child_alpha
            floats[ply, CHILD_BETA] = child_beta
            ints[ply, OUT_CURRENT] = place - base
            ply += 1
            for k in range(fields.shape[1]):
                fields[ply, k] = out_fields[place, k]
            ints[ply, PROBED] = probed
            phase = ENTER
        elif phase == ACTION:
            if abs(score) < infinity:
                reward = floats[ply, REWARD]
                total = reward + score
                part = total - reward
                if (reward - (total - part)) + (score - part) != 0.0:
                    counters[INEXACT] = 1
                score = total
                results[LARGEST] = max(results[LARGEST], abs(total))
            if kind != EXACT:
                place = ints[ply, OUT_FIRST]
                last = place + ints[ply, OUT_COUNT] - 1
                if ints[ply, OUT_STAGE] == SEARCHING:
                    place += ints[ply, OUT_CURRENT]
                column = OUT_LOW if kind == LOWER else OUT_HIGH
                for k in range(place, last + 1):
                    results[LARGEST] = max(results[LARGEST], abs(out_floats[k, column]))
            # Where rounding puts a score beside the window that it was compared with.
            if kind == UPPER and score > floats[ply, ALPHA]:
                score = floats[ply, ALPHA]
                counters[INEXACT] = 1
            elif kind == LOWER and score < floats[ply, BETA]:
                score = floats[ply, BETA]
                counters[INEXACT] = 1
            ints[ply, ALL_TRUE] &= ints[ply, ACTION_TRUE]
            ints[ply, LAST_KIND] = kind
            if score > floats[ply, BEST]:
                floats[ply, BEST] = score
                place = ints[ply, FIRST] + ints[ply, CURRENT] - 1
                ints[ply, BEST_PLACE] = PLACES - (order[place] & PLACES)
            if kind != UPPER and score > floats[ply, ALPHA]:
                floats[ply, ALPHA] = score
            phase = NEXT
        else:
            if abs(score) < infinity:
                results[LARGEST] = max(results[LARGEST], abs(score))
            if ply == 0:
                results[SCORE] = score
                counters[KIND] = kind
                counters[TRUE] = is_true
                counters[PLY] = 0
                return DONE
            if ints[ply, OPPOSED]:
                score = -score
                kind = (kind >> 1) | ((kind & LOWER) << 1)
            ply -= 1
            ints[ply, ACTION_TRUE] &= is_true
            if (score == infinity and kind & LOWER) or (score == -infinity and kind & UPPER):
                kind = EXACT
                phase = ACTION
                continue
            place = ints[ply, OUT_FIRST] + ints[ply, OUT_CURRENT]
            ints[ply, OUT_CURRENT] += 1
            phase = CHANCE
            probability = out_floats[place, PROBABILITY]
            reward = floats[ply, REWARD]
            low, high = 0.0, 0.0
            if ints[ply, OUT_CURRENT] < ints[ply, OUT_COUNT]:
                low, high = out_floats[place + 1, REST_LOW], out_floats[place + 1, REST_HIGH]
            if ints[ply, OUT_STAGE] == PROBING:
                out_ints[place, OUT_TRUE] &= is_true
                if kind & LOWER and score > out_floats[place, OUT_LOW]:
                    out_floats[place, OUT_LOW] = min(score, out_floats[place, OUT_HIGH])
                if kind & UPPER and score < out_floats[place, OUT_HIGH]:
                    out_floats[place, OUT_HIGH] = max(score, out_floats[place, OUT_LOW])
                floats[ply, SUM_LOW] += probability * out_floats[place, OUT_LOW]
                floats[ply, SUM_HIGH] += probability * out_floats[place, OUT_HIGH]
                if floats[ply, SUM_LOW] + low >= floats[ply, BETA] - reward:
                    score = floats[ply, SUM_LOW] + low
                    kind = LOWER
                    phase = ACTION
                elif floats[ply, SUM_HIGH] + high <= floats[ply, ALPHA] - reward:
                    score = floats[ply, SUM_HIGH] + high
                    kind = UPPER
                    phase = ACTION
            elif kind == EXACT:
                floats[ply, SUM] += probability * score
            elif kind == LOWER:
                score = floats[ply, SUM] + probability * score + low
                phase = ACTION
            else:
                score = floats[ply, SUM] + probability * score + high
                phase = ACTION
