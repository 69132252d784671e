"""One ply of a game: calls of the rules and the policies, with results in a page of arrays.

Two functions: `decide` is compiled for each game and its policies, `act` for each game. The loop of
:mod:`gamedp.simulation.rules_loop`, which knows no rules, calls them through
:mod:`gamedp.compiler.native`. Called again with the same page, they raise the same error again.
"""

from __future__ import annotations

import numpy as np

from gamedp.compiler.bridge import as_action
from gamedp.compiler.native import held_at
from gamedp.runtime.floats import SUM_TOLERANCE
from gamedp.simulation.kernels import EDGES, S11, UNIT, node_of_jit

# Results of a call: continue; the game is over, or at the limit of plies; the policy takes an
# action that does not exist; the rules are wrong.
RIGHT, OVER, UNFINISHED, UNKNOWN_ACTION, WRONG_RULES = range(5)

# Indices into `asked`: the row of the game, whether seats are swapped, whether no ply may follow;
# the node for the cache, or -1, and whether to examine all outcomes.
ROW, IS_CHANGED, IS_LAST, NODE, SEES_ALL = range(NUM_ASKED := 5)

# Indices into `found`: the player to move, and the seat; the action, its index, and the number of
# actions; the node of the position that was drawn, or -1, and the number of outcomes cached.
MOVER, SEAT, ACTION, PLACE, COUNT, SUCCESSOR, NUM_EDGES = range(NUM_FOUND := 7)

MOST_IN_A_ROW = 1 << 24
"""Largest number of actions of a state, or of outcomes of an action: a loop that yields more is
considered endless."""


def decide(place, page):
    """Find the action that is taken in the position in `fields`; pay if the game is over.

    If a policy randomises, the next number of its stream decides. The number is not removed from
    the stream.

    Parameters
    ----------
    place
        The pointer of the record of the `game` and ``gamedp_choose(state, seat, chance)``, which
        asks the policy of a seat.
    page
        See :func:`gamedp.simulation.rules_loop.play_games`.
    """
    table, asked, found = held_at(place), page.asked, page.found
    game, num_players = table.game, page.num_players
    state = game.gamedp_decode(page.fields)
    if game.is_terminal(state):
        row = asked[ROW]
        total = 0.0
        size = 1.0
        for player in range(num_players):
            payoff = float(game.payoff(state, player))
            if not abs(payoff) < np.inf:
                return WRONG_RULES
            page.paid[row, player] = payoff
            page.earned[row, player] += payoff
            total += payoff
            size = max(size, abs(payoff))
        if page.has_opponents and not abs(total - page.total) <= SUM_TOLERANCE * size:
            return WRONG_RULES
        return OVER
    if asked[IS_LAST]:
        return UNFINISHED
    mover = game.player(state)
    if mover < 0 or mover >= num_players:
        return WRONG_RULES
    seat = num_players - 1 - mover if asked[IS_CHANGED] else mover
    action = 0
    wanted = 0
    count = 0
    chosen = 0
    for label in game.actions(state):
        offered = as_action(label)
        if count == 0:
            action = offered
        else:
            if count == 1:
                chance = 0.0
                if page.is_mixed[seat]:
                    chance = float(np.int64(page.coming[num_players + seat] >> S11)) * UNIT
                wanted = table.gamedp_choose(state, seat, chance)
                chosen = 0 if wanted == action else -1
            if wanted == offered:
                chosen = count
        count += 1
        if count > MOST_IN_A_ROW:
            return WRONG_RULES
    if count == 0:
        return WRONG_RULES
    if chosen < 0:
        return UNKNOWN_ACTION
    found[MOVER] = mover
    found[SEAT] = seat
    found[ACTION] = wanted if count > 1 else action
    found[PLACE] = chosen
    found[COUNT] = count
    return RIGHT


def act(place, page):
    """Take the action that was found in the position in `fields`: add rewards, draw an outcome.

    The position that is drawn is written to `drawn`. The rewards and all outcomes are cached in the
    given node if there is space.
    """
    game, asked, found = held_at(place), page.asked, page.found
    state = game.gamedp_decode(page.fields)
    action = int(found[ACTION])  # so that plain rules see an int, too
    node, sees_all = asked[NODE], asked[SEES_ALL]
    if page.has_rewards:
        total = 0.0
        size = 1.0
        for player in range(page.num_players):
            reward = float(game.reward(state, action, player))
            if not abs(reward) < np.inf:
                return WRONG_RULES
            page.earned[asked[ROW], player] += reward
            if node >= 0:
                page.rewards[node, player] = reward
            total += reward
            size = max(size, abs(reward))
        if page.has_opponents and not abs(total) <= SUM_TOLERANCE * size:
            return WRONG_RULES
    found[SUCCESSOR] = -1
    found[NUM_EDGES] = 0
    drawn = page.chance[0]
    following = -1
    reached = 0.0
    is_drawn = False
    first = page.used[EDGES]
    edge = first
    count = 0
    for given, successor in game.outcomes(state, action):
        probability = float(given)
        if not (0.0 <= probability <= 1.0 + SUM_TOLERANCE):
            return WRONG_RULES
        reached += probability
        count += 1
        if reached > 1.0 + SUM_TOLERANCE or count > MOST_IN_A_ROW:
            return WRONG_RULES
        if probability == 0.0:
            continue
        known = -1
        if node >= 0:
            game.gamedp_flatten(successor, page.following)
            if edge < len(page.successors):
                known = node_of_jit(page.slots, page.keys, page.used, page.following)
            if known >= 0:
                page.cumulative[edge] = reached
                page.successors[edge] = known
                edge += 1
            else:
                node = -1
        if not is_drawn:
            # So the last one is taken if rounding leaves the sum slightly below 1.
            game.gamedp_flatten(successor, page.drawn)
            is_drawn = drawn < reached
            following = known
            if is_drawn and not sees_all:
                return RIGHT
    if not abs(reached - 1.0) <= SUM_TOLERANCE:
        return WRONG_RULES
    if node >= 0:
        page.cumulative[edge - 1] = np.inf
        found[SUCCESSOR] = following
        found[NUM_EDGES] = edge - first
    return RIGHT
