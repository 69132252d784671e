"""The compiled loop of max-n search: every mover takes what is best for itself.

Depth first, on a stack of its own, so that the loop can stop at any position and go on later. Every
score is a row with one number for each player. Chance is averaged over.

The error of a score is that of the action taken. Where one or two play, it also covers that
rounding may have hidden that another action is better: OTHERS is the most that one of these gives.
"""

from __future__ import annotations

from gamedp.compiler.bridge import as_action
from gamedp.compiler.explore_loop import lost_jit
from gamedp.runtime.floats import LEAST_PROBABILITY, SUM_ROUNDING, TINY, UNIT, UPWARD

# What a call returns.
DONE, PAUSED, GROW_PLIES, GROW_MOVES, BAD, BAD_ESTIMATE = range(6)

# Where the loop goes on.
ENTER, NEXT, RETURN = range(3)

# Places in `counters`.
PLY, PHASE, NODES, PROVEN, DEEPEST, CUTOFFS = range(6)
COUNTERS = 6

# Columns of `ints` and `floats`: of each ply, the position there and where its search stands.
FIRST, COUNT, CURRENT, OUTCOME, MOVER, REST, ALL_PROVEN, SWAPPED = range(8)
INTS = 8
PROBABILITY, HIGH, OTHERS = range(3)
FLOATS = 3

# Rows of `rows` at each ply, with one column for each player: the scores after the best action, and
# what the outcomes of the current one add up to so far; their errors by rounding; and the sum of
# the absolute values. Those of a position that is done with stand in the first two.
BEST, BEST_ERROR, SUM, SUM_ERROR, SIZE = range(5)
ROWS = 5


SLACK = 1e-9
"""By how much the probabilities of an action's outcomes may miss 1."""


def max_n(game, work, budget):
    """Search the first of the actions on the stack, in the position at ply 0.

    Parameters
    ----------
    game
        The game, bound for compiled loops.
    work
        The record of the stack. Ply 0 stands there as if its position had been entered, with one
        action.
    budget : int
        Positions after which to pause.

    Returns
    -------
    status : int
        DONE, with the scores and their errors in ``rows[0]``, and in ``counters[PROVEN]`` whether
        no estimate was needed; PAUSED or GROW_* to be called again; BAD if the rules are wrong in
        the position at ``counters[PLY]``, BAD_ESTIMATE if the heuristic is no number there.
    """
    fields, ints, floats, rows = work.fields, work.ints, work.floats, work.rows
    moves, counters = work.moves, work.counters
    num_players, has_rewards = work.num_players, work.has_rewards
    infinity = float("inf")
    ply, phase = counters[PLY], counters[PHASE]
    proven = 1
    last_node = counters[NODES] + budget
    while True:
        if phase == ENTER:
            counters[PLY] = ply
            counters[PHASE] = ENTER
            if counters[NODES] >= last_node:
                return PAUSED
            if ply + 2 > ints.shape[0]:
                return GROW_PLIES
            state = game.gamedp_decode(fields[ply])
            counters[NODES] += 1
            phase = RETURN
            proven = 1
            if game.is_terminal(state):
                payoff = 0.0
                for player in range(num_players):
                    error = 0.0
                    if player == 1 and num_players == 2:
                        # What the constant sum leaves, whatever the rules make of it by rounding.
                        payoff = work.constant_sum - payoff
                        if work.constant_sum != 0.0:
                            error = abs(payoff) * UNIT * UPWARD
                    else:
                        payoff = float(game.payoff(state, player))
                    if not abs(payoff) < infinity:
                        return BAD
                    rows[ply, BEST, player] = payoff
                    rows[ply, BEST_ERROR, player] = error
                continue
            mover = game.player(state)
            if mover < 0 or mover >= num_players:
                return BAD
            rest = ints[ply - 1, REST] - 1
            if rest == 0:
                for player in range(num_players):
                    one, other = game.value_range(state, player)
                    low, high = float(one), float(other)
                    if not low <= high or low == infinity or high == -infinity:
                        return BAD
                    estimate = float(game.heuristic(state, player))
                    if not abs(estimate) < infinity:
                        return BAD_ESTIMATE
                    rows[ply, BEST, player] = min(max(estimate, low), high)
                    rows[ply, BEST_ERROR, player] = 0.0
                    if low < high:
                        proven = 0
                continue
            one, other = game.value_range(state, mover)
            low, high = float(one), float(other)
            if not low <= high or low == infinity or high == -infinity:
                return BAD
            first = ints[ply - 1, FIRST] + ints[ply - 1, COUNT]
            count = 0
            for label in game.actions(state):
                if first + count >= moves.size:
                    counters[NODES] -= 1
                    return GROW_MOVES
                moves[first + count] = as_action(label)
                count += 1
            if count == 0:
                return BAD
            if ply > counters[DEEPEST]:
                counters[DEEPEST] = ply
            ints[ply, FIRST] = first
            ints[ply, COUNT] = count
            ints[ply, CURRENT] = 0
            ints[ply, OUTCOME] = 0
            ints[ply, MOVER] = mover
            ints[ply, REST] = rest
            ints[ply, ALL_PROVEN] = 1
            floats[ply, HIGH] = high
            floats[ply, OTHERS] = -infinity
            rows[ply, BEST, mover] = -infinity
            rows[ply, BEST_ERROR, mover] = 0.0
            phase = NEXT
        elif phase == NEXT:
            current, mover = ints[ply, CURRENT], as_action(ints[ply, MOVER])
            if current > 0 and rows[ply, BEST, mover] >= floats[ply, HIGH]:
                # Nothing is better, and the first of equally good actions is taken.
                if current < ints[ply, COUNT]:
                    counters[CUTOFFS] += 1
                current = ints[ply, COUNT]
            if current == ints[ply, COUNT]:
                proven = ints[ply, ALL_PROVEN]
                if num_players < 3:
                    best, error = rows[ply, BEST, mover], rows[ply, BEST_ERROR, mover]
                    more = gap = -error
                    if floats[ply, OTHERS] > -infinity:
                        gap = floats[ply, OTHERS] - best
                        more = gap + error + 4.0 * UNIT * (abs(gap) + error)  # rounded up
                    if more > 0.0:
                        rows[ply, BEST_ERROR, mover] = max(error, gap * UPWARD)
                        for player in range(num_players):
                            if player != mover:
                                total = rows[ply, BEST_ERROR, player] + more
                                rows[ply, BEST_ERROR, player] = total * UPWARD
                phase = RETURN
                continue
            counters[PLY] = ply
            state = game.gamedp_decode(fields[ply])
            action = as_action(moves[ints[ply, FIRST] + current])
            if ints[ply, OUTCOME] == 0:
                for player in range(num_players):
                    rows[ply, SUM, player] = 0.0
                    rows[ply, SUM_ERROR, player] = 0.0
                    rows[ply, SIZE, player] = 0.0
            number = 0
            chances = 0.0
            missing = 0.0
            for chance, successor in game.outcomes(state, action):
                probability = float(chance)
                is_faint = 0.0 < probability < LEAST_PROBABILITY
                if is_faint or not (0.0 <= probability <= 1.0 + SLACK):
                    return BAD
                longer = chances + probability
                missing += lost_jit(chances, probability, longer)
                chances = longer
                if probability > 0.0:
                    if number == ints[ply, OUTCOME]:
                        floats[ply, PROBABILITY] = probability
                        following, swapped = game.canonical(successor)
                        game.gamedp_flatten(following, fields[ply + 1])
                        ints[ply + 1, SWAPPED] = swapped
                    number += 1
            excess = (chances - 1.0) + missing
            if number == 0 or not abs(excess) <= SLACK:
                return BAD
            if ints[ply, OUTCOME] < number:
                if abs(excess) > SUM_ROUNDING:
                    floats[ply, PROBABILITY] /= 1.0 + excess
                ints[ply, OUTCOME] += 1
                ply += 1
                phase = ENTER
                continue
            is_sure = number == 1 and floats[ply, PROBABILITY] == 1.0
            is_better = False
            # The mover's own number first: it decides whether the others' are wanted.
            for place in range(num_players):
                player = (mover + place) % num_players
                reward = 0.0
                if has_rewards:
                    reward = float(game.reward(state, action, player))
                    if not abs(reward) < infinity:
                        return BAD
                total = reward + rows[ply, SUM, player]
                slack = rows[ply, SUM_ERROR, player]
                if not is_sure or reward != 0.0:
                    size = rows[ply, SIZE, player] + abs(reward) + slack
                    count = number + 8
                    slack = (slack + count * UNIT * size) * UPWARD + count * TINY
                if place == 0:
                    best, error = rows[ply, BEST, player], rows[ply, BEST_ERROR, player]
                    is_better = total > best
                    most, off = (best, error) if is_better else (total, slack)
                    if off > 0.0:
                        most += off
                        most += 2.0 * UNIT * abs(most)  # rounded up
                    floats[ply, OTHERS] = max(floats[ply, OTHERS], most)
                if is_better:
                    rows[ply, BEST, player] = total
                    rows[ply, BEST_ERROR, player] = slack
            ints[ply, CURRENT] = current + 1
            ints[ply, OUTCOME] = 0
        else:
            if ply == 0:
                counters[PLY] = 0
                counters[PROVEN] = proven
                return DONE
            swapped = ints[ply, SWAPPED]
            ply -= 1
            probability = floats[ply, PROBABILITY]
            for player in range(num_players):
                # Only two players can change places.
                seat = 1 - player if swapped else player
                term = probability * rows[ply + 1, BEST, seat]
                rows[ply, SUM, player] += term
                rows[ply, SIZE, player] += abs(term)
                error = probability * rows[ply + 1, BEST_ERROR, seat]
                rows[ply, SUM_ERROR, player] += error
            ints[ply, ALL_PROVEN] &= proven
            phase = NEXT
