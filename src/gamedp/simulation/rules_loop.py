"""The loop that plays games by the rules, from position to position.

It is compiled once for all games, and calls two functions through their addresses, which know the
rules: `decide` is compiled for each game and its policies, `act` for each game. Called again with
the same page, they raise the same error again. Each game has streams of
random numbers that its number determines, as in :mod:`gamedp.simulation.kernels`: one for each
seat's dice, and one for the random choices of each seat's policy.

The outcomes of the action taken in a position are cached with their probabilities while there is
space. So most plies take one random number and no call of the rules. A game that reaches a position
for which there is no space continues by the rules to its end, with the same result.
"""

from __future__ import annotations

import numpy as np

from gamedp.compiler.bridge import as_action
from gamedp.compiler.native import RAISED, call_native, compiled_for_all, held_at
from gamedp.runtime.floats import SUM_TOLERANCE
from gamedp.runtime.jit import inlined
from gamedp.simulation.kernels import (
    EDGES,
    GAMMA,
    ONCE,
    S11,
    TWICE,
    UNIT,
    drawn_from_jit,
    mixed_jit,
    node_of_action_jit,
    node_of_jit,
    walk_on_jit,
)

DONE, WRONG, ILLEGAL, DECIDE_RAISED, ACT_RAISED = range(5)
"""Results of the loop: done; the rules or a policy are wrong in the current game; or one of their
functions has raised an error."""

GAMES_PER_CHECK = 16
"""In one of this many games, all outcomes of an action are examined, to check that their
probabilities sum to one; in the others only those up to the drawn one, which takes a third less
time. Outcomes that are cached are always all examined."""


def begin_game(page, number, is_changed):
    """Seed the streams of a game and write its start; return the number of the start."""
    streams, num_players = page.streams, page.num_players
    root = np.uint64(mixed_jit(page.key + np.uint64(number) * TWICE))
    for stream in range(len(streams)):
        seeded = np.uint64(mixed_jit(root + np.uint64(stream + 1) * ONCE))
        if is_changed and stream >= num_players:
            seeded ^= TWICE
        streams[stream] = seeded + GAMMA
        page.coming[stream] = np.uint64(mixed_jit(seeded + GAMMA))
    place = 0
    sums = page.start_sums
    if len(sums) > 1:
        drawn = float(np.int64(np.uint64(mixed_jit(root)) >> S11)) * UNIT
        while place < len(sums) - 1 and sums[place] <= drawn:
            place += 1
    for field in range(page.starts.shape[1]):
        page.fields[field] = page.starts[place, field]
    return place


begin_game_jit = inlined(begin_game)


def first_node(page, place, is_changed):
    """Return the node of a start of the game; -1 if there is no space for it."""
    if len(page.keys) == 0:
        return -1
    page.fields[-1] = page.following[-1] = is_changed
    node = page.start_nodes[int(is_changed), place] - 1
    if node < 0:
        node = node_of_jit(page.slots, page.keys, page.used, page.fields)
        page.start_nodes[int(is_changed), place] = node + 1
    return node


first_node_jit = inlined(first_node)


def play_games(page, rules, begin, end):
    """Play the games with the numbers from `begin` to `end`.

    The steps of each game::

        seed the streams of random numbers, draw a start
          v
        go on along the positions that are known <-------------------------------+
          v                                                                      |
        decide: is it over? -- yes, or too many plies --> payoffs, checked as the rest
          | no: the action that the policy of the seat takes, if there are several |
          v                                                                      |
        act: add the rewards, draw an outcome; keep them if there is room -------+

    Parameters
    ----------
    page
        The pointer of the record with the fields below, which the rules read, too.
    rules
        The record of the functions called: `decide` with the `table` of game and policies, and
        `act` with the `game`; and the `page`.
    begin, end : int
    page.key : uint64
        The key of all games.
    page.most : int
        Plies after which a game is left unfinished.
    page.patience : int
        Number of plies after which to return, at the end of a game.
    page.checked : int
        In one of this many games all outcomes are examined.
    page.in_pairs : bool
        Whether the games 2k and 2k + 1 have the same dice, and swapped seats in the second one.
    page.has_rewards, page.num_players, page.has_opponents, page.total
        Properties of the game; `total` is the sum of the payoffs of two opponents.
    page.is_mixed : (N,) bool
        Whether the policy of each seat randomises.
    page.start_sums : (K,) float64
        The cumulative probabilities of the starts of the game.
    page.starts : (K, fields) int64
    page.fields, page.following, page.drawn : (fields + 1,) int64
        The position of a game, one that follows it, and the one that is drawn; then whether seats
        are swapped.
    page.asked : (5,) int64
    page.found : (7,) int64
    page.chance : (1,) float64
        The questions to the rules, and their answers; see `gamedp.simulation.rules_loop`.
    page.streams : (N,) or (2 N,) uint64
        The random numbers of the dice of N seats, then of the policies at these, if any is mixed.
    page.coming : as page.streams
        The next number of each stream, mixed in advance.
    page.number : (1,) int64
        The current game; afterwards the next one.
    page.origin : int
        The game with the first row of the arrays below; each game has one row.
    page.earned, page.paid : (games, N) float64
        The total and the final payoff of each seat; written.
    page.plies : (games,) int64
        The number of actions of each game; written; negative if it was left unfinished.
    page.used : (2,) int64
        The numbers of nodes and edges in use. This and the following fields are kept between calls.
    page.slots : (2**k,) int32
        The hash table of the positions: one more than their node, 0 if empty.
    page.start_nodes : (2, K) int32
        The nodes of the starts plus one, before and after seats are swapped; 0 if unknown.
    page.keys : (nodes, fields + 1) int64
        The position of each node. Without nodes, nothing is cached.
    page.firsts, page.sizes : (nodes,) int32
        The first edge, and the number of edges: outcomes; negative if the edges are actions between
        which chance decides, each with its own node; 0 if unknown.
    page.drawers : (nodes,) uint8
        The stream from which an edge is drawn.
    page.rewards : (nodes, N) float64
        The rewards in each node.
    page.cumulative : (edges,) float64
        The cumulative probability of the outcomes of a node; infinite at the last one.
    page.successors : (edges,) int32
    """
    page = held_at(page)
    fields, num_players, asked, found = page.fields, page.num_players, page.asked, page.found
    taken = 0
    for number in range(begin, end):
        if taken >= page.patience:
            break
        row = number - page.origin
        page.number[0] = number
        is_changed = page.in_pairs and number & 1 == 1
        of_dice = number >> 1 if page.in_pairs else number
        start = begin_game_jit(page, of_dice, is_changed)
        node = first_node_jit(page, start, is_changed)
        asked[IS_CHANGED] = is_changed
        for player in range(num_players):
            page.earned[row, player] = 0.0
        plies = 0
        asked[ROW] = row
        while True:
            if node >= 0:
                node, plies = walk_on_jit(
                    node, plies, page.most, page.streams, page.coming,
                    page.firsts, page.sizes, page.drawers, page.cumulative, page.successors,
                    page.has_rewards, page.rewards, page.earned, row,
                )  # fmt: skip
                for field in range(page.starts.shape[1]):
                    fields[field] = page.keys[node, field]
            asked[IS_LAST] = plies >= page.most
            answer = call_native(rules.decide, rules.table, rules.page)
            if answer != RIGHT:
                break
            seat, mover, count = found[SEAT], found[MOVER], found[COUNT]
            if count > 1 and page.is_mixed[seat]:
                drawn_from_jit(page.streams, page.coming, num_players + seat)
                if node >= 0:
                    page.drawers[node] = num_players + seat
                    node = node_of_action_jit(
                        page.firsts, page.sizes, page.successors, page.used,
                        node, found[PLACE], count,
                    )  # fmt: skip
            asked[NODE] = node
            asked[SEES_ALL] = node >= 0 or of_dice % page.checked == 0
            page.chance[0] = drawn_from_jit(page.streams, page.coming, mover)
            answer = call_native(rules.act, rules.game, rules.page)
            if answer == RAISED:
                return ACT_RAISED
            if answer != RIGHT:
                return WRONG
            for field in range(page.starts.shape[1]):
                fields[field] = page.drawn[field]
            if found[NUM_EDGES] > 0:
                page.firsts[node] = page.used[EDGES]
                page.sizes[node] = found[NUM_EDGES]
                page.drawers[node] = mover
                page.used[EDGES] += found[NUM_EDGES]
            node = found[SUCCESSOR]
            plies += 1
        if answer == RAISED:
            return DECIDE_RAISED
        if answer == UNKNOWN_ACTION:
            return ILLEGAL
        is_over = answer == OVER
        if not is_over and answer != UNFINISHED:
            return WRONG
        page.plies[row] = plies if is_over else -1 - plies
        taken += plies
        page.number[0] = number + 1
    return DONE


play_games_jit = compiled_for_all(play_games)


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
