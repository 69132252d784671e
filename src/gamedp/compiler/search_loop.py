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

from gamedp.compiler.bridge import as_action
from gamedp.kernels.jit import inlined
from gamedp.kernels.rounding import rounds_jit
from gamedp.kernels.transposition import (
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

# What a call returns.
DONE, PAUSED, GROW_PLIES, GROW_MOVES, BAD, CHANCE, UNORDERED, READ, OUTSIDE = range(9)

# Where the loop goes on.
ENTER, NEXT, RETURN = range(3)

# Places in `counters`.
(PLY, PHASE, NODES, KIND, PROVEN, HITS, CUTOFFS, INEXACT, DEEPEST, PROBES, YEAR, MOST_PLIES,
 WANTED) = range(13)  # fmt: skip
COUNTERS = 13

# Places in `results`.
SCORE, LARGEST = range(2)

# Columns of `ints`: of each ply, the position there and where its search stands.
(FIRST, COUNT, CURRENT, MOVER, REST, ENDS, ORIGINAL_ENDS, CHILD_ENDS, RAISED, BEST_PLACE,
 BEST_PROOF, ALL_PROOF, SWAPPED, OPPOSED, TESTED, HASH, STAGE, OPEN) = range(18)  # fmt: skip
INTS = 18

# What STAGE says of a position: its actions are made as they are searched; they are all glanced at;
# they have been, and those are searched that a glance has left open.
STRAIGHT, GLANCE, AFTER_GLANCE = range(3)

# Columns of `floats`: the window, the best score, bounds that are certain, the reward of the
# current action, and the window of the position after it before the reward is taken off.
ALPHA, BETA, ORIGINAL, BEST, LOW, HIGH, REWARD, CHILD_ALPHA, CHILD_BETA = range(9)
FLOATS = 9

CUT = 2
"""What has been raised so far that nobody will come here."""

BLOCK = 1 << 16
"""Positions in a block of an endgame table."""

PLACES = (1 << 20) - 1
"""An action's priority is kept with its place among the actions, the earlier the higher."""

FROM_TABLE, KEEPS_TURN, KILLER, MOST_HISTORY = 1 << 42, 1 << 41, 1 << 40, 1 << 38
"""Priorities: the best action of an earlier search, one after which the mover moves again, what cut
off elsewhere at this ply, and the most that an action can earn by cutting off anywhere."""

RANK = 61
"""Above this bit of an action's priority, only the first two of these stand."""

ENDLESS = 1 << 28
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


def shift_rounds(bound, half):
    """Say whether a finite bound is rounded when half of the constant sum is taken off."""
    return abs(bound) < float("inf") and rounds_jit(bound, -half, bound - half)


shift_rounds_jit = inlined(shift_rounds)


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


def next_place(order, first, count, current):
    """Return where the action of the highest priority stands among those not yet searched."""
    chosen = first + current
    for place in range(first + current + 1, first + count):
        if order[place] > order[chosen]:
            chosen = place
    return chosen


next_place_jit = inlined(next_place)


def next_promising(order, promises, first, count, current):
    """Return where the action stands that comes next on the way to the ends of games.

    That is the one from the table, then those after which the mover moves again, which say more
    about a position than a reply to them; among these what promises most; of equals the last.
    """
    chosen = first + current
    for place in range(chosen + 1, first + count):
        rank, best_rank = order[place] >> RANK, order[chosen] >> RANK
        if rank > best_rank or (
            rank == best_rank
            and (
                promises[place] > promises[chosen]
                or (
                    promises[place] == promises[chosen]
                    and order[place] & PLACES < order[chosen] & PLACES
                )
            )
        ):
            chosen = place
    return chosen


next_promising_jit = inlined(next_promising)


def alpha_beta(game, work, budget):
    """Search the position at ply 0 within the window that stands there.

    Far enough from the horizon, all that the actions lead to is glanced at first: an end of the
    game, an endgame table, a range that the game is certain of or the transposition table may say
    enough. Only what is left open then is entered, and counts as a node.

    Parameters
    ----------
    game
        The game, bound for compiled loops.
    work
        The record of the stack, the table and the options; see `gamedp.compiler.search`.
    budget : int
        Nodes after which to pause.

    Returns
    -------
    status : int
        DONE, with the score in ``results[SCORE]``; PAUSED or GROW_* to be called again; BAD if the
        rules are wrong in the position at ``counters[PLY]``, CHANCE if they throw dice there,
        UNORDERED if what they claim of its value contradicts itself, OUTSIDE if the number that
        they give it is in no endgame table; READ if the block ``counters[WANTED]`` of these is
        needed.
    """
    fields, ints, floats = work.fields, work.ints, work.floats
    moves, order, promises, slots = work.moves, work.order, work.promises, work.slots
    glanced, glanced_swaps, glanced_rewards = work.glanced, work.glanced_swaps, work.glanced_rewards
    killers, history = work.killers, work.history
    keys, scores, infos = work.keys, work.scores, work.infos
    counters, results = work.counters, work.results
    half, strict, extends, eager = work.half, work.strict, work.extends, work.eager
    has_rewards, most_material = work.has_rewards, work.most_material
    keeps = infos.size > 0
    glances = keeps or most_material >= 0
    strips = work.strips
    earns = has_rewards or strips
    year, most_plies = counters[YEAR] & AGES, counters[MOST_PLIES]
    ply, phase = counters[PLY], counters[PHASE]
    score, kind, proof = results[SCORE], counters[KIND], counters[PROVEN]
    last_node = counters[NODES] + budget
    while True:
        if phase == ENTER:
            if counters[NODES] >= last_node or ply + 2 > ints.shape[0]:
                counters[PLY] = ply
                counters[PHASE] = ENTER
                return PAUSED if counters[NODES] >= last_node else GROW_PLIES
            state = game.gamedp_decode(fields[ply])
            is_terminal = game.is_terminal(state)
            mover = 0 if is_terminal else game.player(state)
            if mover < 0 or mover >= work.num_players:
                counters[PLY] = ply
                return BAD
            ints[ply, MOVER] = mover
            glance = 0
            if ply > 0:
                if ints[ply - 1, STAGE] == GLANCE:
                    glance = 1
                alpha = floats[ply - 1, CHILD_ALPHA]
                beta = floats[ply - 1, CHILD_BETA]
                ends = ints[ply - 1, CHILD_ENDS]
                if earns:
                    reward = floats[ply - 1, REWARD]
                    alpha -= reward
                    beta -= reward
                opposed = (mover ^ ints[ply, SWAPPED]) != ints[ply - 1, MOVER]
                depth = ints[ply - 1, REST] - 1
                if opposed:
                    alpha, beta = -beta, -alpha
                    ends = (ends >> 1) | ((ends & JUST_BELOW) << 1)
                elif extends and ply < most_plies:
                    depth += 1
                ints[ply, OPPOSED] = opposed
                ints[ply, REST] = depth
            else:
                alpha = floats[0, ALPHA]
                beta = floats[0, BETA]
                ends = ints[0, ENDS]
                depth = ints[0, REST]
            counters[NODES] += 1 - glance
            if is_terminal:
                payoff = float(game.payoff(state, 0))
                score = payoff - half
                if not abs(payoff) < float("inf"):
                    counters[PLY] = ply
                    return BAD
                if rounds_jit(payoff, -half, score):
                    counters[INEXACT] = 1
                kind = EXACT
                proof = EXACT
                phase = RETURN
                continue
            low, high = game.value_range(state, mover)
            if half != 0.0:
                if shift_rounds_jit(low, half) or shift_rounds_jit(high, half):
                    counters[INEXACT] = 1
                low -= half
                high -= half
            if most_material >= 0:
                material = game.material(state)
                if material <= most_material:
                    place = game.ending_index(state)
                    if material < 0 or place < 0 or place >= work.ending_sizes[material]:
                        counters[PLY] = ply
                        return OUTSIDE
                    place += work.ending_offsets[material]
                    if not work.ending_present[place // BLOCK]:
                        counters[NODES] -= 1 - glance
                        counters[PLY] = ply
                        counters[PHASE] = ENTER
                        counters[WANTED] = place // BLOCK
                        return READ
                    one, other = game.ending_range(state, float(work.endings[place]))
                    counters[PROBES] += 1
                    if one - half > low:
                        low = one - half
                    if other - half < high:
                        high = other - half
            if not low <= high or low == float("inf") or high == -float("inf"):
                counters[PLY] = ply
                return UNORDERED
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
                score = float(game.heuristic(state, mover)) - half
                kind = EXACT
                proof = 0
                if not abs(score) < float("inf"):
                    counters[PLY] = ply
                    return BAD
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
                mixed = hash_fields_jit(fields[ply])
                entry = find_entry_jit(keys, infos, fields[ply], mixed)
                if entry >= 0:
                    counters[HITS] += 1
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
                    if depth < ENDLESS >> 1 or infos[entry] >> DEPTH >= ENDLESS >> 1:
                        # What an estimate suggests leads astray on the way to the end of the game.
                        suggested = ((infos[entry] >> MOVE) & MOVES) - 1
            if glance:
                # Nothing settles it: it has to wait until all have been glanced at.
                if high - low < float("inf"):
                    doubt = high - low
                    promise = low + doubt / 2
                else:
                    doubt = 0.0
                    promise = float(game.heuristic(state, mover)) - half
                promise = (-promise if ints[ply, OPPOSED] else promise) - doubt / 16
                ply -= 1
                place = ints[ply, FIRST] + ints[ply, OPEN]
                current = ints[ply, FIRST] + ints[ply, CURRENT] - 1
                for k in range(fields.shape[1]):
                    glanced[place, k] = fields[ply + 1, k]
                glanced_swaps[place] = ints[ply + 1, SWAPPED]
                glanced_rewards[place] = floats[ply, REWARD]
                promises[place] = floats[ply, REWARD] + promise
                slots[place] = place
                moves[place], order[place] = moves[current], order[current]
                if depth >= ENDLESS >> 1 and not ints[ply + 1, OPPOSED]:
                    order[place] += KEEPS_TURN << 20
                ints[ply, OPEN] += 1
                phase = NEXT
                continue
            first = 0
            if ply > 0:
                first = ints[ply - 1, FIRST] + ints[ply - 1, COUNT]
            count = 0
            for label in game.actions(state):
                action = as_action(label)
                if first + count >= moves.size or count >= PLACES:
                    counters[NODES] -= 1
                    counters[PLY] = ply
                    counters[PHASE] = ENTER
                    return GROW_MOVES
                priority = history[mover, action & (history.shape[1] - 1)]
                if action == killers[ply, 0]:
                    priority += KILLER
                elif action == killers[ply, 1]:
                    priority += KILLER >> 1
                if count == suggested:
                    priority += FROM_TABLE
                moves[first + count] = action
                order[first + count] = (priority << 20) + PLACES - count
                count += 1
            if count == 0:
                counters[PLY] = ply
                return BAD
            ints[ply, FIRST] = first
            ints[ply, COUNT] = count
            ints[ply, CURRENT] = 0
            ints[ply, OPEN] = 0
            ints[ply, STAGE] = GLANCE if glances and depth > eager else STRAIGHT
            ints[ply, BEST_PLACE] = -1
            ints[ply, BEST_PROOF] = 0
            ints[ply, ALL_PROOF] = UPPER
            ints[ply, HASH] = mixed
            ints[ply, RAISED] = 0
            ints[ply, ORIGINAL_ENDS] = ends
            floats[ply, ORIGINAL] = alpha
            if low > alpha:
                alpha = low
                ends &= JUST_ABOVE
            if high < beta:
                beta = high
                ends &= JUST_BELOW
            ints[ply, ENDS] = ends
            floats[ply, ALPHA] = alpha
            floats[ply, BETA] = beta
            floats[ply, BEST] = -float("inf")
            floats[ply, LOW] = low
            floats[ply, HIGH] = high
            phase = NEXT
            if ply > counters[DEEPEST]:
                counters[DEEPEST] = ply
        elif phase == NEXT:
            first, count, current = ints[ply, FIRST], ints[ply, COUNT], ints[ply, CURRENT]
            stage = ints[ply, STAGE]
            best = floats[ply, BEST]
            cut = ints[ply, RAISED] == CUT
            if stage == GLANCE and current == count and not cut:
                stage = AFTER_GLANCE
                count, current = ints[ply, OPEN], 0
                ints[ply, STAGE] = stage
                ints[ply, COUNT] = count
            if current < count and not cut:
                chosen = first + current
                if stage == AFTER_GLANCE and ints[ply, REST] >= ENDLESS >> 1:
                    chosen = next_promising_jit(order, promises, first, count, current)
                elif stage != GLANCE:
                    chosen = next_place_jit(order, first, count, current)
                action, priority = moves[chosen], order[chosen]
                moves[chosen], order[chosen] = moves[first + current], order[first + current]
                moves[first + current], order[first + current] = action, priority
                if stage == AFTER_GLANCE:
                    promise, slot = promises[chosen], slots[chosen]
                    promises[chosen], slots[chosen] = (
                        promises[first + current],
                        slots[first + current],
                    )
                    promises[first + current], slots[first + current] = promise, slot
                    for k in range(fields.shape[1]):
                        fields[ply + 1, k] = glanced[slot, k]
                    ints[ply + 1, SWAPPED] = glanced_swaps[slot]
                    reward = glanced_rewards[slot]
                else:
                    state = game.gamedp_decode(fields[ply])
                    found = 0
                    reward = 0.0
                    for probability, successor in game.outcomes(state, action):
                        if probability > 0.0:
                            following, swapped = game.canonical(successor)
                            if strips and not game.is_terminal(following):
                                side = ints[ply, MOVER] ^ swapped
                                whole = float(game.settled(following, side))
                                following = game.remainder(following)
                                rest = float(game.settled(following, side))
                                reward = whole - rest
                                if rounds_jit(whole, -rest, reward):
                                    counters[INEXACT] = 1
                            game.gamedp_flatten(following, fields[ply + 1])
                            ints[ply + 1, SWAPPED] = swapped
                            found += 1
                            if not probability > 1.0 - 1e-9:
                                found = 2
                    if found != 1:
                        counters[PLY] = ply
                        return CHANCE if found else BAD
                    if has_rewards:
                        settled = reward
                        earned = float(game.reward(state, action, ints[ply, MOVER]))
                        reward += earned
                        if rounds_jit(settled, earned, reward):
                            counters[INEXACT] = 1
                floats[ply, REWARD] = reward
                alpha, beta = floats[ply, ALPHA], floats[ply, BETA]
                ends = ints[ply, ENDS]
                is_test = (
                    alpha < beta and stage != GLANCE and (current > 0 or ints[ply, RAISED] > 0)
                )
                if is_test:
                    beta = alpha
                    ends = JUST_BELOW if ends & JUST_BELOW else JUST_ABOVE
                ints[ply, TESTED] = is_test
                ints[ply, CHILD_ENDS] = ends
                floats[ply, CHILD_ALPHA] = alpha
                floats[ply, CHILD_BETA] = beta
                ints[ply, CURRENT] = current + 1
                ply += 1
                phase = ENTER
                continue
            low, high = floats[ply, LOW], floats[ply, HIGH]
            score = best
            proof = ints[ply, BEST_PROOF] & LOWER
            if best >= high:
                score = high
                kind = EXACT
                proof |= UPPER
            elif cut:
                kind = LOWER
            else:
                proof |= ints[ply, ALL_PROOF]
                kind = EXACT if ints[ply, RAISED] else UPPER
                if best <= low:
                    score = low
                    kind = EXACT
                    proof |= LOWER
                elif not ints[ply, RAISED] and not fails_low_jit(
                    best, floats[ply, ORIGINAL], ints[ply, ORIGINAL_ENDS]
                ):
                    # Rounding alone has lifted a bound from above over alpha.
                    score = floats[ply, ORIGINAL]
            if cut:
                counters[CUTOFFS] += 1
                action = moves[first + current - 1]
                if action != killers[ply, 0]:
                    killers[ply, 1] = killers[ply, 0]
                    killers[ply, 0] = action
                slot = action & (history.shape[1] - 1)
                if ints[ply, REST] < ENDLESS >> 1:
                    earned = history[ints[ply, MOVER], slot] + ints[ply, REST] * ints[ply, REST]
                    history[ints[ply, MOVER], slot] = min(MOST_HISTORY, earned)
            if keeps:
                keep_entry_jit(
                    keys, scores, infos, fields[ply], ints[ply, HASH], year, score, kind,
                    proof, ints[ply, BEST_PLACE], ints[ply, REST],
                )  # fmt: skip
            phase = RETURN
        else:
            size = abs(score)
            if size > results[LARGEST]:
                results[LARGEST] = size
            if ply == 0:
                counters[PLY] = 0
                counters[KIND] = kind
                counters[PROVEN] = proof
                results[SCORE] = score
                return DONE
            if ints[ply, OPPOSED]:
                score = -score
                kind = (kind >> 1) | ((kind & LOWER) << 1)
                proof = (proof >> 1) | ((proof & LOWER) << 1)
            ply -= 1
            if earns:
                reward = floats[ply, REWARD]
                total = reward + score
                if rounds_jit(reward, score, total):
                    counters[INEXACT] = 1
                score = total
            ends = ints[ply, ENDS]
            exceeds = kind != UPPER and not fails_low_jit(score, floats[ply, ALPHA], ends)
            cuts = kind != UPPER and fails_high_jit(score, floats[ply, BETA], ends)
            if kind == LOWER:
                # What the child has found lies beyond its window, whatever rounding says.
                exceeds = True
                cuts = cuts or not ints[ply, TESTED]
            if ints[ply, TESTED] and exceeds and not cuts:
                ints[ply, TESTED] = 0
                ints[ply, CHILD_ENDS] = ends
                floats[ply, CHILD_BETA] = floats[ply, BETA]
                ply += 1
                phase = ENTER
                continue
            ints[ply, ALL_PROOF] &= proof
            if score > floats[ply, BEST]:
                floats[ply, BEST] = score
                ints[ply, BEST_PROOF] = proof
                place = ints[ply, FIRST] + ints[ply, CURRENT] - 1
                ints[ply, BEST_PLACE] = PLACES - (order[place] & PLACES)
            elif score == floats[ply, BEST]:
                ints[ply, BEST_PROOF] |= proof & LOWER
            if exceeds:
                ints[ply, RAISED] = CUT if cuts else 1
                if score > floats[ply, ALPHA]:
                    floats[ply, ALPHA] = score
                ints[ply, ENDS] = ends & JUST_ABOVE
            phase = NEXT
