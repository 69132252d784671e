"""The rules' answers about a position in a search, written to stacks.

These functions are compiled for each game; the loops of search, which know no rules, call them
through :mod:`gamedp.compiler.native`. They read the question from the page's `question`, and the
integers of the position from `fields`, at `question.row`. A negative result is a fault.
"""

from __future__ import annotations

from gamedp.bellman.equation import rounds_jit
from gamedp.compiler.bridge import as_action
from gamedp.compiler.explore_loop import lost_jit
from gamedp.compiler.native import called_by_rules, held_at
from gamedp.runtime.block_file import BLOCK
from gamedp.runtime.floats import LEAST_PROBABILITY, SUM_ROUNDING
from gamedp.searchers.stacks import LoopStatus

# What is asked, in `question.what`: so that it can be asked again when the rules raise an error.
(
    ENTER, LIST, FOLLOW, FOLLOW_MANY, FOLLOW_FOR_ONE, ESTIMATE, UNFOLD, SHARES, REWARDS, ENDINGS,
) = range(10)  # fmt: skip

# Faults, beside `native.RAISED`: a stack is full, or the rules are wrong.
FULL, WRONG = -2, -3

# What the tables say, in `ending`: nothing, as the position is of a higher tier; a range of
# values; that a block must be read first; that the position has no number in them.
NO_ENDING, KNOWN, UNREAD, NO_NUMBER = range(4)

CHANCE, BAD_RULES, OUTSIDE, COMES_AGAIN, RISES, MISNUMBERED, TOO_LARGE = (
    int(status)
    for status in (
        LoopStatus.CHANCE, LoopStatus.BAD_RULES, LoopStatus.OUTSIDE, LoopStatus.COMES_AGAIN,
        LoopStatus.RISES, LoopStatus.MISNUMBERED, LoopStatus.TOO_LARGE,
    )
)  # fmt: skip
"""Values of `question.fault`: errors of an ending."""

UNKNOWN = -128
"""The mark in a table of a position without a value yet."""

MAX_ENDING_VALUE = 127
"""The largest value that fits into a byte beside that mark."""

CHECKED_MASK = 63
"""A mask: of each 64 numbers, one is checked to be that of the position made from it."""

SLACK = 1e-9
"""Tolerance for the sum of the probabilities of an action's outcomes."""


def look(place, page, state, position, asker, of_two):
    """Write the rules' answers for a position before it is searched: the player to move, its range.

    The range is the mover's, and a payoff player 0's; or both are the asker's, and so is an
    estimate, unless `asker` is None. If `of_two` is None, tables are not read. An argument
    that is None leaves out its code at compile time.
    """
    game = held_at(place)
    position.ending = NO_ENDING
    if game.is_terminal(state):
        position.is_over = 1
        position.mover = 0
        payoff = float(game.payoff(state, 0 if asker is None else asker))
        position.low = payoff
        position.high = payoff
        return
    position.is_over = 0
    mover = as_action(game.player(state))
    position.mover = mover
    if mover < 0 or mover >= page.num_players:
        return
    low, high = game.value_range(state, mover if asker is None else asker)
    position.low = float(low)
    position.high = float(high)
    if asker is not None:
        position.estimate = float(game.heuristic(state, asker))
    if of_two is not None and page.top_tier >= 0:
        tier = game.tier(state)
        position.tier = tier
        if tier <= page.top_tier:
            number = game.tier_index(state)
            if tier < 0 or number < 0 or number >= page.ending_sizes[tier]:
                position.ending = NO_NUMBER
                return
            number += page.ending_offsets[tier]
            if not page.ending_present[number // BLOCK]:
                position.ending = UNREAD
                position.block = number // BLOCK
                return
            one, other = game.ending_range(state, float(page.endings[number]))
            position.ending = KNOWN
            position.ending_low = float(one)
            position.ending_high = float(other)


look_jit = called_by_rules(look, forceinline=True)


def enter(place, page):
    """Write the rules' answers for the position in question."""
    question = page.question[0]
    question.what = ENTER
    state = held_at(place).gamedp_decode(page.fields[question.row])
    look_jit(place, page, state, page.positions[question.row], None, True)
    return 0


def list_actions(place, page):
    """Write the actions of a position to `actions`, from `first` on; return their number."""
    game, question, actions = held_at(place), page.question[0], page.actions
    question.what = LIST
    state = game.gamedp_decode(page.fields[question.row])
    here = question.first
    for label in game.actions(state):
        if here >= len(actions):
            return FULL
        actions[here].label = as_action(label)
        here += 1
    return here - question.first


def list_outcomes(place, page, for_one, of_two):
    """Write the outcomes of an action to `fields` and `positions`; return their number.

    If `of_two` is None, nothing is taken off the positions, and no table is read. Unless
    `for_one` is None, payoffs, ranges and estimates are those of the player who asks.
    """
    game, question = held_at(place), page.question[0]
    fields, positions = page.fields, page.positions
    state = game.gamedp_decode(fields[question.row])
    action, mover, first = question.action, question.mover, question.first
    row = first
    total = 0.0
    missing = 0.0
    for chance, successor in game.outcomes(state, action):
        probability = float(chance)
        if not (0.0 <= probability <= 1.0 + SLACK):
            return WRONG
        longer = total + probability
        missing += lost_jit(total, probability, longer)
        total = longer
        if probability < LEAST_PROBABILITY:
            if probability > 0.0:
                return WRONG
            continue
        if row >= len(positions):
            return FULL
        position = positions[row]
        after, swapped = game.canonical(successor)
        if swapped and not page.has_opponents:
            return WRONG
        side = mover ^ 1 if swapped else mover
        position.probability = probability
        position.swapped = 1 if swapped else 0
        position.banked = 0.0
        position.is_rounded = 0
        if of_two is not None and page.banks and not game.is_terminal(after):
            whole = float(game.settled(after, side))
            after = game.remainder(after)
            rest = float(game.settled(after, side))
            banked = whole - rest
            position.banked = banked
            position.is_rounded = 1 if rounds_jit(whole, -rest, banked) else 0
        game.gamedp_flatten(after, fields[row])
        if for_one is None:
            look_jit(place, page, after, position, None, of_two)
        else:
            look_jit(place, page, after, position, side, of_two)
        row += 1
    excess = (total - 1.0) + missing
    if row == first or not abs(excess) <= SLACK:
        return WRONG
    if abs(excess) > SUM_ROUNDING:
        for each in range(first, row):
            positions[each].probability /= 1.0 + excess
    if of_two is not None and page.has_rewards:
        question.reward = float(game.reward(state, action, mover))
    return row - first


list_outcomes_jit = called_by_rules(list_outcomes, forceinline=True)


def follow(place, page):
    """Write the outcomes of the mover's `action`; return their number.

    The positions are written to `fields` and `positions`, from `first` on. Their probabilities add
    up to 1 within a rounding. The `reward` is the mover's; `banked` is what the mover of a position
    had settled before it was taken off, and `is_rounded` says that this difference is rounded.
    """
    page.question[0].what = FOLLOW
    return list_outcomes_jit(place, page, None, True)


def follow_many(place, page):
    """Do as `follow` for any number of players: no reward, table or subtraction."""
    page.question[0].what = FOLLOW_MANY
    return list_outcomes_jit(place, page, None, None)


def follow_for_one(place, page):
    """Do as `follow`, with all numbers, including estimates, from the side of `mover`."""
    page.question[0].what = FOLLOW_FOR_ONE
    return list_outcomes_jit(place, page, True, True)


def estimate(place, page):
    """Write the game's heuristic for `mover`."""
    game, question = held_at(place), page.question[0]
    question.what = ESTIMATE
    state = game.gamedp_decode(page.fields[question.row])
    question.estimate = float(game.heuristic(state, question.mover))
    return 0


def unfold(place, page):
    """Write all positions after one to `fields`, from `first` on; return their number.

    Those in which the game is over are not written, but counted in `number`; nor are any written
    if `action` is 0.
    """
    game, question, fields = held_at(place), page.question[0], page.fields
    question.what = UNFOLD
    state = game.gamedp_decode(fields[question.row])
    goes_on = question.action != 0
    row = question.first
    many = 0
    ended = 0
    for label in game.actions(state):
        for probability, successor in game.outcomes(state, as_action(label)):
            if probability > 0.0:
                many += 1
                if game.is_terminal(successor):
                    ended += 1
                elif goes_on:
                    if row >= len(fields):
                        return FULL
                    game.gamedp_flatten(successor, fields[row])
                    row += 1
    question.number = ended
    return many


def list_shares(place, page):
    """Write to `shares` each player's payoff in a position, or a range and an estimate.

    The position has been looked at. The payoff of the second of two opponents is not asked for: it
    is what the constant sum leaves.
    """
    game, question, shares = held_at(place), page.question[0], page.shares
    question.what = SHARES
    state = game.gamedp_decode(page.fields[question.row])
    if page.positions[question.row].is_over:
        for player in range(1 if page.has_opponents else page.num_players):
            shares[player].estimate = float(game.payoff(state, player))
        return 0
    for player in range(page.num_players):
        low, high = game.value_range(state, player)
        shares[player].low = float(low)
        shares[player].high = float(high)
        shares[player].estimate = float(game.heuristic(state, player))
    return 0


def list_rewards(place, page):
    """Write to `shares` each player's reward for the action in question."""
    game, question = held_at(place), page.question[0]
    question.what = REWARDS
    state = game.gamedp_decode(page.fields[question.row])
    for player in range(page.num_players):
        page.shares[player].reward = float(game.reward(state, question.action, player))
    return 0


def value_ending(game, page, state, index):
    """Return the value of an ending to the player who moves there, number 0.

    Returns
    -------
    fault : int
        A `LoopStatus` if the rules are wrong, else 0.
    waits_for : int
        The number of an ending of the same tier whose value must be known first; -1 if none.
    value : float
    """
    question, values = page.question[0], page.endings
    tier, value = question.tier, 0.0
    best = -float("inf")
    if game.is_terminal(state):
        best = float(game.payoff(state, 0))
    else:
        for label in game.actions(state):
            action = as_action(label)
            question.action = action
            found = 0
            is_rounded = False
            for probability, successor in game.outcomes(state, action):
                if probability > 0.0:
                    found += 1
                    if not probability > 1.0 - SLACK:
                        found = 2
                    after, swapped = game.canonical(successor)
                    if game.is_terminal(after):
                        value = float(game.payoff(after, 1 if swapped else 0))
                        continue
                    left = game.tier(after)
                    if left < 0 or left > tier:
                        return RISES, -1, 0.0
                    number = game.tier_index(after)
                    if number < 0 or number >= page.ending_sizes[left]:
                        return OUTSIDE, -1, 0.0
                    known = values[page.ending_offsets[left] + number]
                    if known == UNKNOWN:
                        if number == index and left == tier:
                            return COMES_AGAIN, -1, 0.0
                        return 0, int(number), 0.0
                    mover = game.player(after)
                    if mover < 0 or mover > 1:
                        return BAD_RULES, -1, 0.0
                    settled = float(game.settled(after, mover))
                    value = settled + known
                    is_rounded = rounds_jit(settled, known, value)
                    if (mover ^ swapped) != 0:
                        value = -value
            if found != 1:
                return CHANCE if found else BAD_RULES, -1, 0.0
            if page.has_rewards:
                reward = float(game.reward(state, action, 0))
                total = reward + value
                is_rounded |= rounds_jit(reward, value, total)
                value = total
            if not abs(value) < float("inf"):
                return BAD_RULES, -1, 0.0
            if is_rounded:  # so not all of it is whole
                return TOO_LARGE, -1, 0.0
            if value > best:
                best = value
    if best == -float("inf"):
        return BAD_RULES, -1, 0.0
    if not abs(best) <= MAX_ENDING_VALUE or best != float(int(best)):
        return TOO_LARGE, -1, 0.0
    return 0, -1, best


value_ending_jit = called_by_rules(value_ending, forceinline=True)


def value_endings(place, page):
    """Compute the values of endings in the order of their numbers, until one must wait for another.

    They are those of the `tier` that is asked about, from `first` on, `last` left out. A value that
    is known stays. In the end, `first` is where that was over, and `number` says how many values
    were found.

    Returns
    -------
    waits : int
        0 if `last` has come; 1 if the ending at `first` waits for the one whose number is in `row`;
        `WRONG` with the reason in `fault`.
    """
    game, question, values = held_at(place), page.question[0], page.endings
    question.what = ENDINGS
    question.number = 0
    tier, index, last = question.tier, question.first, question.last
    start, size = page.ending_offsets[tier], page.ending_sizes[tier]
    made = index
    state = game.tier_state(tier, index)
    while index < last:
        question.first = index
        if values[start + index] == UNKNOWN:
            if made == index - 1 and page.steps:
                state = game.next_in_tier(state)
            elif made != index:
                state = game.tier_state(tier, index)
            made = index
            question.fault = MISNUMBERED
            if index & CHECKED_MASK == 0 or index == size - 1:
                if game.tier(state) != tier or game.tier_index(state) != index:
                    return WRONG
                if not game.is_terminal(state) and (
                    game.player(state) != 0 or game.settled(state, 0) != 0
                ):
                    return WRONG
            fault, waits_for, value = value_ending_jit(game, page, state, index)
            question.fault = fault
            question.row = waits_for
            if fault != 0:
                return WRONG
            if waits_for >= 0:
                return 1
            values[start + index] = int(value)
            question.number += 1
        index += 1
    question.first = index
    return 0


OF_ALL = ("is_terminal", "player", "payoff", "value_range")
OF_OUTCOMES = ("outcomes", "canonical", "settled", "remainder", "reward")
OF_ENDINGS = ("tier", "tier_index", "ending_range")
"""Methods that a search calls only if there are tables."""

QUESTIONS = {
    enter: (*OF_ALL, *OF_ENDINGS),
    list_actions: ("actions",),
    follow: (*OF_OUTCOMES, *OF_ALL, *OF_ENDINGS),
    follow_for_one: (*OF_OUTCOMES, *OF_ALL, *OF_ENDINGS, "heuristic"),
    follow_many: ("outcomes", "canonical", *OF_ALL),
    estimate: ("heuristic",),
    unfold: ("actions", "outcomes", "is_terminal"),
    list_shares: ("payoff", "value_range", "heuristic"),
    list_rewards: ("reward",),
    value_endings: (
        "tier_state", "next_in_tier", "tier", "tier_index", "settled", "is_terminal",
        "player", "payoff", "actions", "outcomes", "canonical", "reward",
    ),
}  # fmt: skip
"""The methods of a game that each function calls."""

NUMBERED = (
    enter, list_actions, follow, follow_many, follow_for_one, estimate, unfold, list_shares,
    list_rewards, value_endings,
)  # fmt: skip
"""The functions, each at its number in `question.what`."""
