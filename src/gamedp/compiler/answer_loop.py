"""The answers of a game's rules for one state, written to a page of arrays.

Two functions that are compiled for each game by :mod:`gamedp.compiler.methods`; the loops of
:mod:`gamedp.compiler.explore_loop`, which know no rules, call them through
:mod:`gamedp.compiler.native`. All that they read and write is on the page: the fields of the state,
then what was found.
"""

from __future__ import annotations

from gamedp.compiler.bridge import as_action
from gamedp.compiler.native import called_by_rules, held_at
from gamedp.runtime.floats import LEAST_PROBABILITY, SUM_TOLERANCE

# What a call returns.
TERMINAL, ORDINARY, UNREAL, FULL, OUTSIDE, WRONG, NOT_CANONICAL = range(7)

# Places in `found`.
MOVER, NUM_CHOICES = range(2)


def encode_long(page, at):
    """Write the code of the state in `fields`, of several words or maybe out of range.

    This asks no rules: all games of a process share it. See `encode`.
    """
    low, high, stride, word = page.low, page.high, page.stride, page.word
    fields, keys = page.fields, page.keys
    for position in range(page.own.size):
        keys[at + position] = 0
    for k in range(fields.size):
        if stride[k] == 0:
            # Also here a range is kept: a number that wraps around is far out of it.
            if fields[k] < low[k] or fields[k] > high[k]:
                return False
            keys[at + word[k]] = fields[k]
        elif fields[k] < low[k] or fields[k] >= high[k]:
            return False
        else:
            keys[at + word[k]] += (fields[k] - low[k]) * stride[k]
    return True


encode_long_jit = called_by_rules(encode_long, _nrt=False)


def encode(place, page, state, ranges, keys, at):
    """Write the code of `state` to `keys` from `at`; return false if a field is out of range.

    The fields are left in `fields` whenever they are out of range. `ranges` and `keys` are those of
    the page, read from there once.
    """
    if page.direct:
        code = held_at(place).gamedp_encode(state, *ranges)
        if code >= 0:
            keys[at] = code
            return True
    held_at(place).gamedp_flatten(state, page.fields)
    return encode_long_jit(page, at)


encode_jit = called_by_rules(encode, forceinline=True, _nrt=False)


def is_canonical(place, page, state, ranges, keys):
    """Return whether a state, whose code is in `own`, represents itself."""
    own = page.own
    again, swapped = held_at(place).canonical(state)
    if swapped or not encode_jit(place, page, again, ranges, keys, own.size):
        return False
    for position in range(own.size):
        if own[position] != keys[own.size + position]:
            return False
    return True


is_canonical_jit = called_by_rules(is_canonical)


def expand_state(place, page):
    """Write the choices of the state in `fields`, whose code is in `own`, to the page.

    Returns
    -------
    answer : int
        TERMINAL, with the `payoffs`. ORDINARY, with who moves and how many choices there are in
        `found`; of each choice the label, the end of its outcomes, and the rewards; of each outcome
        the probability, negative if the players change places, and the code of the state. FULL if
        the page is; OUTSIDE if a field of the state left in `fields` is out of range; WRONG if the
        rules are; NOT_CANONICAL if the state does not represent itself.
    """
    game = held_at(place)
    num_players, num_words, has_rewards = page.num_players, page.own.size, page.has_rewards
    labels, ends, keys = page.labels, page.ends, page.keys
    probabilities = page.probabilities
    ranges = game.gamedp_ranges(page.low, page.high, page.stride)
    state = game.gamedp_decode(page.fields)
    if page.has_symmetry and not is_canonical_jit(place, page, state, ranges, keys):
        return NOT_CANONICAL
    if game.is_terminal(state):
        for player in range(num_players):
            page.payoffs[player] = float(game.payoff(state, player))
        return TERMINAL
    page.found[MOVER] = game.player(state)
    choice = 0
    end = 0
    passed = 0  # these take room, too: a loop that yields nothing else would have no end
    for label in game.actions(state):
        action = as_action(label)
        if choice >= labels.size:
            return FULL
        if action < -(2**31) or action >= 2**31:
            return WRONG
        labels[choice] = action
        for given, successor in game.outcomes(state, action):
            probability = float(given)
            if not (0.0 <= probability <= 1.0 + SUM_TOLERANCE):
                return WRONG
            if probability < LEAST_PROBABILITY:
                if probability > 0.0:
                    return WRONG
                passed += 1
                if passed >= probabilities.size:
                    return FULL
                continue
            if end >= probabilities.size:
                return FULL
            representative, swapped = game.canonical(successor)
            if swapped and num_players != 2:
                return WRONG
            if not encode_jit(place, page, representative, ranges, keys, end * num_words):
                return OUTSIDE
            probabilities[end] = -probability if swapped else probability
            end += 1
        ends[choice] = end
        if has_rewards:
            for player in range(num_players):
                page.rewards[choice, player] = float(game.reward(state, action, player))
        choice += 1
    page.found[NUM_CHOICES] = choice
    return ORDINARY


def represent_state(place, page):
    """Write the code of the state that represents the one in `fields` to the first of `keys`.

    Returns
    -------
    answer : int
        ORDINARY; UNREAL if the rules say that there is no such state; or one of the faults above.
    """
    game, keys = held_at(place), page.keys
    ranges = game.gamedp_ranges(page.low, page.high, page.stride)
    state = game.gamedp_decode(page.fields)
    if not game.is_state(state):
        return UNREAL
    representative, swapped = game.canonical(state)
    if swapped and page.num_players != 2:
        return WRONG
    if not encode_jit(place, page, representative, ranges, keys, 0):
        return OUTSIDE
    for position in range(page.own.size):
        page.own[position] = keys[position]
    if not is_canonical_jit(place, page, representative, ranges, keys):
        return NOT_CANONICAL
    return ORDINARY
