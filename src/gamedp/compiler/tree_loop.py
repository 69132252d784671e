"""The compiled loops over a whole tree of play: counting positions, and plain minimax.

On stacks of their own, so that a game may be long and the loops can pause anywhere.
"""

from __future__ import annotations

from gamedp.compiler.bridge import as_action
from gamedp.compiler.loop import lost_jit
from gamedp.compiler.search_loop import shift_rounds_jit
from gamedp.kernels.rounding import rounds_jit
from gamedp.model import LEAST_PROBABILITY, SUM_ROUNDING

# What a call returns.
DONE, PAUSED, GROW_PLIES, GROW_MOVES, BAD = range(5)

# Where plain minimax goes on.
ENTER, NEXT, RETURN = range(3)

# Places in `counters`.
PLY, PHASE, NODES, PROVEN, INEXACT, DEEPEST, MOST = range(7)
COUNTERS = 7

# Places in `results`.
SCORE, LARGEST = range(2)

# Columns of `ints` and `floats` of plain minimax.
FIRST, COUNT, CURRENT, OUTCOME, MOVER, REST, ALL_PROVEN, SWAPPED, OPPOSED = range(9)
INTS = 9
BEST, SUM, PROBABILITY, LOW, HIGH = range(5)
FLOATS = 5

SLACK = 1e-9
"""By how much the probabilities of an action's outcomes may miss 1."""


def perft(game, work, budget):
    """Count the positions at each ply, and how many of them end the game.

    Parameters
    ----------
    game
        The game, bound for compiled loops.
    work
        ``fields`` (P, K) and ``plies`` (P,) are a stack of ``counters[PLY]`` positions that wait;
        ``found`` and ``over`` (depth + 1,) count; ``depth`` is where to stop.
    budget : int
        Positions after which to pause.

    Returns
    -------
    status : int
        DONE, PAUSED, or GROW_PLIES if the stack is full; the position that was begun is then still
        on it.
    """
    fields, plies, counters = work.fields, work.plies, work.counters
    found, over, depth = work.found, work.over, work.depth
    height = counters[PLY]
    last_node = counters[NODES] + budget
    while height > 0:
        if counters[NODES] >= last_node:
            counters[PLY] = height
            return PAUSED
        ply = plies[height - 1] + 1
        state = game.gamedp_decode(fields[height - 1])
        top = height - 1
        many = 0
        ended = 0
        for label in game.actions(state):
            for probability, successor in game.outcomes(state, as_action(label)):
                if probability > 0.0:
                    many += 1
                    if game.is_terminal(successor):
                        ended += 1
                    elif ply < depth:
                        # One place is kept free: there the position itself is still needed.
                        if top + 2 > plies.size - 1:
                            counters[PLY] = height
                            return GROW_PLIES
                        top += 1
                        game.gamedp_flatten(successor, fields[top])
                        plies[top] = ply
        if many == 0:
            counters[PLY] = height
            return BAD
        counters[NODES] += many
        found[ply] += many
        over[ply] += ended
        # The last one takes the place of the position that is done with.
        if top >= height:
            for k in range(fields.shape[1]):
                fields[height - 1, k] = fields[top, k]
            plies[height - 1] = plies[top]
        height = top
    counters[PLY] = 0
    return DONE


def minimax(game, work, budget):
    """Give the position at ply 0 its value by looking at every line of play down to a depth.

    The value is the mover's, with half of the constant sum taken off. Chance is averaged over.

    Parameters
    ----------
    game
        The game, bound for compiled loops.
    work
        ``fields`` (P, K), ``ints`` and ``floats`` are the stack, ``moves`` the actions on it;
        ``results[SCORE]`` takes the score, ``results[LARGEST]`` the largest one met. For the error
        by rounding, the counters say whether there may be one, how many plies were searched, and
        how many outcomes an action had at most.
    budget : int
        Positions after which to pause.

    Returns
    -------
    status : int
        DONE, PAUSED, GROW_*, or BAD if the rules are wrong in the position at ``counters[PLY]``.
    """
    fields, ints, floats, moves = work.fields, work.ints, work.floats, work.moves
    counters, results = work.counters, work.results
    ply, phase = counters[PLY], counters[PHASE]
    score, proven = results[SCORE], counters[PROVEN]
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
            if ply > 0:
                ints[ply, REST] = ints[ply - 1, REST] - 1
                ints[ply, OPPOSED] = (mover ^ ints[ply, SWAPPED]) != ints[ply - 1, MOVER]
            counters[NODES] += 1
            phase = RETURN
            if is_terminal:
                payoff = float(game.payoff(state, 0))
                if not abs(payoff) < float("inf"):
                    counters[PLY] = ply
                    return BAD
                score = payoff - work.half
                if rounds_jit(payoff, -work.half, score):
                    counters[INEXACT] = 1
                proven = 1
                continue
            one, other = game.value_range(state, mover)
            low, high = float(one), float(other)
            if work.half != 0.0:
                if shift_rounds_jit(low, work.half) or shift_rounds_jit(high, work.half):
                    counters[INEXACT] = 1
                low -= work.half
                high -= work.half
            if not low <= high or low == float("inf") or high == -float("inf"):
                counters[PLY] = ply
                return BAD
            if ints[ply, REST] == 0:
                score = float(game.heuristic(state, mover)) - work.half
                if not abs(score) < float("inf"):
                    counters[PLY] = ply
                    return BAD
                if score < low:
                    score = low
                elif score > high:
                    score = high
                proven = int(low == high)
                continue
            first = 0
            if ply > 0:
                first = ints[ply - 1, FIRST] + ints[ply - 1, COUNT]
            count = 0
            for label in game.actions(state):
                if first + count >= moves.size:
                    counters[NODES] -= 1
                    counters[PLY] = ply
                    counters[PHASE] = ENTER
                    return GROW_MOVES
                moves[first + count] = as_action(label)
                count += 1
            if count == 0:
                counters[PLY] = ply
                return BAD
            if ply > counters[DEEPEST]:
                counters[DEEPEST] = ply
            ints[ply, FIRST] = first
            ints[ply, COUNT] = count
            ints[ply, CURRENT] = 0
            ints[ply, OUTCOME] = 0
            ints[ply, ALL_PROVEN] = 1
            floats[ply, BEST] = -float("inf")
            floats[ply, SUM] = 0.0
            floats[ply, LOW] = low
            floats[ply, HIGH] = high
            phase = NEXT
        elif phase == NEXT:
            current = ints[ply, CURRENT]
            if current == ints[ply, COUNT]:
                score = floats[ply, BEST]
                proven = ints[ply, ALL_PROVEN]
                if score < floats[ply, LOW]:
                    score = floats[ply, LOW]
                elif score > floats[ply, HIGH]:
                    score = floats[ply, HIGH]
                phase = RETURN
                continue
            state = game.gamedp_decode(fields[ply])
            action = moves[ints[ply, FIRST] + current]
            number = 0
            chance = 0.0
            chances = 0.0
            missing = 0.0
            for share, successor in game.outcomes(state, action):
                probability = float(share)
                is_faint = 0.0 < probability < LEAST_PROBABILITY
                if is_faint or not (0.0 <= probability <= 1.0 + SLACK):
                    counters[PLY] = ply
                    return BAD
                longer = chances + probability
                missing += lost_jit(chances, probability, longer)
                chances = longer
                if probability > 0.0:
                    if number == ints[ply, OUTCOME]:
                        chance = probability
                        following, swapped = game.canonical(successor)
                        game.gamedp_flatten(following, fields[ply + 1])
                        ints[ply + 1, SWAPPED] = swapped
                    number += 1
            excess = (chances - 1.0) + missing
            if number == 0 or not abs(excess) <= SLACK:
                counters[PLY] = ply
                return BAD
            if number > counters[MOST]:
                counters[MOST] = number
            if ints[ply, OUTCOME] < number:
                if abs(excess) > SUM_ROUNDING:
                    chance /= 1.0 + excess
                floats[ply, PROBABILITY] = chance
                ints[ply, OUTCOME] += 1
                ply += 1
                phase = ENTER
                continue
            total = floats[ply, SUM]
            if work.has_rewards:
                reward = float(game.reward(state, action, ints[ply, MOVER]))
                total += reward
                if rounds_jit(reward, floats[ply, SUM], total):
                    counters[INEXACT] = 1
            if number > 1 or floats[ply, PROBABILITY] != 1.0:
                counters[INEXACT] = 1
            if total > floats[ply, BEST]:
                floats[ply, BEST] = total
            ints[ply, CURRENT] = current + 1
            ints[ply, OUTCOME] = 0
            floats[ply, SUM] = 0.0
        else:
            if ply == 0:
                counters[PLY] = 0
                counters[PROVEN] = proven
                results[SCORE] = score
                return DONE
            if abs(score) > results[LARGEST]:
                results[LARGEST] = abs(score)
            if ints[ply, OPPOSED]:
                score = -score
            ply -= 1
            floats[ply, SUM] += floats[ply, PROBABILITY] * score
            if not proven:
                ints[ply, ALL_PROVEN] = 0
            phase = NEXT
