"""The loop that plays games by compiled rules, one position after the other, without a table.

It is compiled for each game together with the policies, so that a position stays in registers
between the methods that look at it. Each game has streams of random numbers that its number
determines, as in :mod:`gamedp.policies.walk_kernels`: one for each seat's dice, and one for what
the policy of each seat leaves to chance.
"""

from __future__ import annotations

import numpy as np

from gamedp.compiler.bridge import as_action
from gamedp.policies.walk_kernels import GAMMA, ONCE, S11, TWICE, UNIT, mixed_jit
from gamedp.runtime.floats import SUM_TOLERANCE

DONE, WRONG, ILLEGAL = range(3)
"""What the loop returns: whether the rules, or a policy, are wrong in the game it was playing."""

CHECKED = 16
"""In one of so many games all outcomes of an action are looked at, so that their probabilities are
known to sum to one; in the others only those up to the one that is drawn: a third less time."""


def play_games(table, page, begin, end):
    """Play the games with the numbers from `begin` to `end`.

    The steps of each game::

        seed the streams of random numbers, draw a start
          v
        is it over? -- yes, or too many plies --> payoffs, checked as the rest is
          | no
        list the actions; if there are two or more, ask the policy of the seat
          v
        add the rewards, draw an outcome; again

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
    page.in_pairs : bool
        Whether the games 2k and 2k + 1 have the same dice, and seats changed in the second one.
    page.has_rewards, page.num_players, page.total
        Of the game; what the payoffs of two players add up to.
    page.start_sums : (K,) float64
        Up to each start of the game, how likely these are together.
    page.starts : (K, fields) int64
    page.fields : (fields,) int64
        Where the position of a game is put down.
    page.streams : (2 N,) uint64
        The random numbers of the dice of N seats, then of the policies at these.
    page.number : (1,) int64
        The game that is played.
    page.origin : int
        The game that has the first row of the arrays below; each game has one.
    page.earned, page.paid : (games, N) float64
        What each seat got in all, and at the end; written.
    page.plies : (games,) int64
        How many actions each game took; written; negative if it was left unfinished.
    """
    game, fields, streams = table.game, page.fields, page.streams
    num_players, most, total = page.num_players, page.most, page.total
    start_sums, starts = page.start_sums, page.starts
    for number in range(begin, end):
        row = number - page.origin
        page.number[0] = number
        seats_changed = page.in_pairs and number & 1 == 1
        of_dice = number >> 1 if page.in_pairs else number
        adds_up = of_dice % CHECKED == 0
        root = np.uint64(mixed_jit(page.key + np.uint64(of_dice) * TWICE))
        for stream in range(2 * num_players):
            streams[stream] = np.uint64(mixed_jit(root + np.uint64(stream + 1) * ONCE))
        if seats_changed:
            for seat in range(num_players):
                streams[num_players + seat] ^= TWICE
        place = 0
        if len(start_sums) > 1:
            drawn = float(np.int64(np.uint64(mixed_jit(root)) >> S11)) * UNIT
            while place < len(start_sums) - 1 and start_sums[place] <= drawn:
                place += 1
        for field in range(len(fields)):
            fields[field] = starts[place, field]
        for player in range(num_players):
            page.earned[row, player] = 0.0
        plies = 0
        while True:
            state = game.gamedp_decode(fields)
            if game.is_terminal(state):
                break
            if plies >= most:
                plies = -1 - plies
                break
            mover = game.player(state)
            if mover < 0 or mover >= num_players:
                return WRONG
            seat = num_players - 1 - mover if seats_changed else mover
            action = 0
            wanted = 0
            count = 0
            is_legal = False
            for label in game.actions(state):
                offered = as_action(label)
                if count == 0:
                    action = offered
                else:
                    if count == 1:
                        streams[num_players + seat] += GAMMA
                        chance = np.uint64(mixed_jit(streams[num_players + seat])) >> S11
                        wanted = table.gamedp_choose(state, seat, float(np.int64(chance)) * UNIT)
                        is_legal = wanted == action
                    if wanted == offered:
                        is_legal = True
                count += 1
            if count > 1:
                if not is_legal:
                    return ILLEGAL
                action = wanted
            if page.has_rewards:
                balance = 0.0
                size = 1.0
                for player in range(num_players):
                    reward = float(game.reward(state, action, player))
                    if not abs(reward) < np.inf:
                        return WRONG
                    page.earned[row, player] += reward
                    balance += reward
                    size = max(size, abs(reward))
                if num_players == 2 and abs(balance) > SUM_TOLERANCE * size:
                    return WRONG
            streams[mover] += GAMMA
            drawn = float(np.int64(np.uint64(mixed_jit(streams[mover])) >> S11)) * UNIT
            reached = 0.0
            is_drawn = False
            for given, successor in game.outcomes(state, action):
                probability = float(given)
                if not (0.0 <= probability <= 1.0 + SUM_TOLERANCE):
                    return WRONG
                reached += probability
                if not is_drawn and probability > 0.0:
                    # So the last one is taken where rounding leaves the sum a little short.
                    game.gamedp_flatten(successor, fields)
                    is_drawn = drawn < reached
                    if is_drawn and not adds_up:
                        reached = 1.0
                        break
            if count == 0 or not abs(reached - 1.0) <= SUM_TOLERANCE:
                return WRONG
            plies += 1
        page.plies[row] = plies
        if plies >= 0:
            for player in range(num_players):
                payoff = float(game.payoff(state, player))
                if not abs(payoff) < np.inf:
                    return WRONG
                page.paid[row, player] = payoff
                page.earned[row, player] += payoff
            if num_players == 2:
                first, second = page.paid[row, 0], page.paid[row, 1]
                size = max(1.0, abs(first), abs(second))
                if abs(first + second - total) > SUM_TOLERANCE * size:
                    return WRONG
    return DONE
