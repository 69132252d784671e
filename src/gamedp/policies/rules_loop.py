"""The loop that plays games by compiled rules, from position to position.

It is compiled for each game together with the policies, so that a position stays in registers
between the methods that look at it. Each game has streams of random numbers that its number
determines, as in :mod:`gamedp.policies.walk_kernels`: one for each seat's dice, and one for what
the policy of each seat leaves to chance.

What has been learned of a position is kept, while there is room: the outcomes of what is done
there, with their probabilities. So most plies take one random number and no question to the rules.
A game that gets to a position for which there is no room goes on by the rules to its end, and is
the same game.
"""

from __future__ import annotations

import numpy as np

from gamedp.compiler.bridge import as_action
from gamedp.policies.known_kernels import (
    EDGES,
    drawn_from_jit,
    node_of_action_jit,
    node_of_jit,
    walk_on_jit,
)
from gamedp.policies.walk_kernels import GAMMA, ONCE, S11, TWICE, UNIT, mixed_jit
from gamedp.runtime.floats import SUM_TOLERANCE
from gamedp.runtime.jit import inlined

DONE, WRONG, ILLEGAL = range(3)
"""What the loop returns: whether the rules, or a policy, are wrong in the game it was playing."""

MOST_IN_A_ROW = 1 << 24
"""Actions of a state, or outcomes of an action: a loop that yields more is taken to be endless."""

CHECKED = 16
"""In one of so many games all outcomes of an action are looked at, so that their probabilities are
known to sum to one; in the others only those up to the one that is drawn: a third less time. Where
they are kept, all are looked at."""


def begin_game(page, number, is_changed):
    """Seed the streams of a game and put down its start; return the number of that start."""
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


def chosen_action(table, page, state, seat):
    """Return what the policy of a seat does, its place among the actions, and how many there are.

    The place is -1 if it is none of the actions; there are said to be none if there is no end.
    """
    action = 0
    wanted = 0
    count = 0
    place = 0
    for label in table.game.actions(state):
        offered = as_action(label)
        if count == 0:
            action = offered
        else:
            if count == 1:
                chance = 0.0
                if page.is_mixed[seat]:
                    stream = page.num_players + seat
                    chance = drawn_from_jit(page.streams, page.coming, stream)
                wanted = table.gamedp_choose(state, seat, chance)
                place = 0 if wanted == action else -1
            if wanted == offered:
                place = count
        count += 1
        if count > MOST_IN_A_ROW:
            return 0, -1, 0
    return wanted if count > 1 else action, place, count


chosen_action_jit = inlined(chosen_action)


def earn(game, page, state, action, row, node):
    """Add up, and keep, what an action earns its players; say whether it is right."""
    balance = 0.0
    size = 1.0
    for player in range(page.num_players):
        reward = float(game.reward(state, action, player))
        if not abs(reward) < np.inf:
            return False
        page.earned[row, player] += reward
        if node >= 0:
            page.rewards[node, player] = reward
        balance += reward
        size = max(size, abs(reward))
    return page.num_players != 2 or abs(balance) <= SUM_TOLERANCE * size


earn_jit = inlined(earn)


def draw_outcome(game, page, state, action, drawn, node, sees_all):
    """Draw an outcome and put its position down; keep all of them in a node, if there is room.

    Returns
    -------
    is_right : bool
        Whether they are a distribution.
    following : int
        The node of the position that was drawn; -1 if it has none.
    num_edges : int
        How many outcomes are kept in the node; 0 if there is no room for them.
    """
    reached = 0.0
    is_drawn = False
    following = -1
    first = page.used[EDGES]
    edge = first
    count = 0
    for given, successor in game.outcomes(state, action):
        probability = float(given)
        if not (0.0 <= probability <= 1.0 + SUM_TOLERANCE):
            return False, -1, 0
        reached += probability
        count += 1
        if reached > 1.0 + SUM_TOLERANCE or count > MOST_IN_A_ROW:
            return False, -1, 0
        if probability == 0.0:
            continue
        found = -1
        if node >= 0:
            game.gamedp_flatten(successor, page.following)
            if edge < len(page.successors):
                found = node_of_jit(page.slots, page.keys, page.used, page.following)
            if found >= 0:
                page.cumulative[edge] = reached
                page.successors[edge] = found
                edge += 1
            else:
                node = -1
                following = -1
        if not is_drawn:
            # So the last one is taken where rounding leaves the sum a little short.
            game.gamedp_flatten(successor, page.fields)
            is_drawn = drawn < reached
            following = found
            if is_drawn and not sees_all:
                return True, -1, 0
    if not abs(reached - 1.0) <= SUM_TOLERANCE:
        return False, -1, 0
    if node < 0:
        return True, -1, 0
    page.cumulative[edge - 1] = np.inf
    return True, following, edge - first


draw_outcome_jit = inlined(draw_outcome)


def pay(game, page, state, row):
    """Add what is paid at the end of a game; say whether it is right."""
    for player in range(page.num_players):
        payoff = float(game.payoff(state, player))
        if not abs(payoff) < np.inf:
            return False
        page.paid[row, player] = payoff
        page.earned[row, player] += payoff
    if page.num_players != 2:
        return True
    first, second = page.paid[row, 0], page.paid[row, 1]
    size = max(1.0, abs(first), abs(second))
    return abs(first + second - page.total) <= SUM_TOLERANCE * size


pay_jit = inlined(pay)


def first_node(page, place, is_changed):
    """Return the node of a start of the game; -1 if there is no room for it."""
    if len(page.keys) == 0:
        return -1
    page.fields[-1] = page.following[-1] = is_changed
    node = page.start_nodes[int(is_changed), place] - 1
    if node < 0:
        node = node_of_jit(page.slots, page.keys, page.used, page.fields)
        page.start_nodes[int(is_changed), place] = node + 1
    return node


first_node_jit = inlined(first_node)


def play_games(table, page, begin, end):
    """Play the games with the numbers from `begin` to `end`.

    The steps of each game::

        seed the streams of random numbers, draw a start
          v
        go on along the positions that are known <----------------------------+
          v                                                                   |
        is it over? -- yes, or too many plies --> payoffs, checked as the rest |
          | no                                                                |
        list the actions; if there are two or more, ask the policy of the seat |
          v                                                                   |
        add the rewards, draw an outcome; keep them if there is room ---------+

    Parameters
    ----------
    table : record
        The `game`, and ``gamedp_choose(state, seat, chance)``, which asks the policy of a seat.
    page : record
        With the fields below.
    begin, end : int
    page.key : uint64
        Of all games.
    page.most : int
        Plies after which a game is left unfinished.
    page.patience : int
        Plies after which to return, at the end of a game.
    page.checked : int
        In one of so many games all outcomes are looked at.
    page.in_pairs : bool
        Whether the games 2k and 2k + 1 have the same dice, and seats changed in the second one.
    page.has_rewards, page.num_players, page.total
        Of the game; what the payoffs of two players add up to.
    page.is_mixed : (N,) bool
        Whether the policy of each seat leaves something to chance.
    page.start_sums : (K,) float64
        Up to each start of the game, how likely these are together.
    page.starts : (K, fields) int64
    page.fields, page.following : (fields + 1,) int64
        Where the position of a game is put down, and one after it; then whether seats are changed.
    page.streams : (N,) or (2 N,) uint64
        The random numbers of the dice of N seats, then of the policies at these, if any is mixed.
    page.coming : as page.streams
        The next number of each, which is mixed beforehand.
    page.number : (1,) int64
        The game that is played; afterwards the next one.
    page.origin : int
        The game that has the first row of the arrays below; each game has one.
    page.earned, page.paid : (games, N) float64
        What each seat got in all, and at the end; written.
    page.plies : (games,) int64
        How many actions each game took; written; negative if it was left unfinished.
    page.used : (2,) int64
        Nodes and edges that are in use. All that follows is kept from call to call.
    page.slots : (2**k,) int32
        Where the positions are found; one more than their node, 0 if empty.
    page.start_nodes : (2, K) int32
        Those of the starts, before and after seats are changed, one more than each; 0 if not known.
    page.keys : (nodes, fields + 1) int64
        The position of each node. There is nothing to be known of them if there are no nodes.
    page.firsts, page.sizes : (nodes,) int32
        The first of its edges, and how many there are: outcomes; negative if its edges are actions
        between which chance decides, each with a node of its own; 0 if they are not known.
    page.drawers : (nodes,) uint8
        From which stream one of its edges is drawn.
    page.rewards : (nodes, N) float64
        What is earned there.
    page.cumulative : (edges,) float64
        Up to each outcome of its node, how likely these are together; infinite at the last one.
    page.successors : (edges,) int32
    """
    game, fields, num_players = table.game, page.fields, page.num_players
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
        for player in range(num_players):
            page.earned[row, player] = 0.0
        plies = 0
        while True:
            if node >= 0:
                node, plies = walk_on_jit(
                    node, plies, page.most, page.streams, page.coming,
                    page.firsts, page.sizes, page.drawers, page.cumulative, page.successors,
                    page.has_rewards, page.rewards, page.earned, row,
                )  # fmt: skip
                for field in range(page.starts.shape[1]):
                    fields[field] = page.keys[node, field]
            state = game.gamedp_decode(fields)
            is_over = game.is_terminal(state)
            if is_over or plies >= page.most:
                break
            mover = game.player(state)
            if mover < 0 or mover >= num_players:
                return WRONG
            seat = num_players - 1 - mover if is_changed else mover
            action, place, count = chosen_action_jit(table, page, state, seat)
            if count == 0:
                return WRONG
            if place < 0:
                return ILLEGAL
            if node >= 0 and count > 1 and page.is_mixed[seat]:
                page.drawers[node] = num_players + seat
                node = node_of_action_jit(
                    page.firsts, page.sizes, page.successors, page.used, node, place, count
                )
            if page.has_rewards and not earn_jit(game, page, state, action, row, node):
                return WRONG
            drawn = drawn_from_jit(page.streams, page.coming, mover)
            sees_all = node >= 0 or of_dice % page.checked == 0
            is_right, following, num_edges = draw_outcome_jit(
                game, page, state, action, drawn, node, sees_all
            )
            if not is_right:
                return WRONG
            if num_edges > 0:
                page.firsts[node] = page.used[EDGES]
                page.sizes[node] = num_edges
                page.drawers[node] = mover
                page.used[EDGES] += num_edges
            node = following
            plies += 1
        page.plies[row] = plies if is_over else -1 - plies
        if is_over and not pay_jit(game, page, state, row):
            return WRONG
        taken += plies
        page.number[0] = number + 1
    return DONE
