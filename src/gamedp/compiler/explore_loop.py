"""The compiled loop of the exploration: breadth-first search over packed states.

First come the two functions that are compiled for each game by :mod:`gamedp.compiler.methods`. They
write the answers of its rules for one state to a page: a record of arrays with all that they read
and write, the fields of the state and the results.

Then come plain functions on arrays, compiled once for all games, which know no rules: they call
those two through their addresses, see :mod:`gamedp.compiler.native`. States are packed into words
of mixed radix; a table leads from a code to the index of its state, directly where the codes are
few, by hashing elsewhere.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from gamedp.compiler.bridge import as_action
from gamedp.compiler.native import RAISED, call_native, called_by_rules, compiled_for_all, held_at
from gamedp.rules.exactness import LONG_ROW
from gamedp.runtime.floats import LEAST_PROBABILITY, SUM_ROUNDING, SUM_TOLERANCE, lost
from gamedp.runtime.jit import inlined

# What a call returns.
TERMINAL, ORDINARY, UNREAL, FULL, OUTSIDE, WRONG, NOT_CANONICAL, FENCED = range(8)

# Places in `found`.
MOVER, NUM_CHOICES, TIER = range(3)


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


def expand(place, page, fenced):
    """Write the choices of the state in `fields`, whose code is in `own`, to the page.

    Unless `fenced` is None, this is done for states of one tier alone, that in `found`.

    Returns
    -------
    answer : int
        TERMINAL, with the `payoffs`. FENCED if the state is of another tier. ORDINARY, with who
        moves and how many choices there are in `found`; of each choice the label, the end of its
        outcomes, and the rewards; of each outcome the probability, negative if the players change
        places, and the code of the state. FULL if the page is; OUTSIDE if a field of the state left
        in `fields` is out of range; WRONG if the rules are; NOT_CANONICAL if the state does not
        represent itself.
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
    if fenced is not None and game.tier(state) != page.found[TIER]:
        return FENCED
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
            if swapped and not page.has_opponents:
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


expand_jit = called_by_rules(expand, forceinline=True)


def expand_state(place, page):
    """Write the choices of a state to the page, see `expand`."""
    return expand_jit(place, page, None)


def expand_in_tier(place, page):
    """Write the choices of a state to the page if it is of the tier in `found`, see `expand`."""
    return expand_jit(place, page, True)


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
    if swapped and not page.has_opponents:
        return WRONG
    if not encode_jit(place, page, representative, ranges, keys, 0):
        return OUTSIDE
    for position in range(page.own.size):
        page.own[position] = keys[position]
    if not is_canonical_jit(place, page, representative, ranges, keys):
        return NOT_CANONICAL
    return ORDINARY


# What a call returns.
DONE, PAUSED, GROW_STATES, GROW_CHOICES, GROW_TRANSITIONS, GROW_TABLE, GROW_PAGE = range(7)
WIDEN, BAD, FAILED, NO_REPRESENTATIVE = range(7, 11)

# Places in `counters`.
NEXT, STATES, CHOICES, TRANSITIONS, TERMINALS, SEED = range(6)

lost_jit = inlined(lost)


def hash_key(keys, at, num_words):
    """Mix the words of a code; 31 bits at a time, so that nothing overflows."""
    mixed = 0
    for position in range(at, at + num_words):
        word = keys[position] ^ mixed
        low = word & 0x7FFFFFFF
        high = (word >> 31) & 0x7FFFFFFF
        mixed = low * 0x2C1B3C6D + high * 0x297A2D39
        mixed ^= mixed >> 29
        mixed = (mixed & 0x7FFFFFFF) * 0x1B873593 ^ (mixed >> 31)
        mixed ^= mixed >> 32
    return mixed


hash_key_jit = called_by_rules(hash_key, _nrt=False)


def find(work, keys, at):
    """Return the index of the state whose code is in `keys` from `at` on, or -1; and its slot."""
    codes, table, mask = work.codes, work.table, work.mask
    num_words = codes.shape[1]
    if mask < 0:
        slot = keys[at]
        return table[slot], slot
    slot = hash_key_jit(keys, at, num_words) & mask
    while True:
        index = table[slot]
        if index < 0:
            return index, slot
        same = True
        for position in range(num_words):
            if codes[index, position] != keys[at + position]:
                same = False
                break
        if same:
            return index, slot
        slot = (slot + 1) & mask


find_jit = njit(find, inline="always")


def rehash(work, page):
    """Enter all known states into a new table that is looked up by hashing."""
    page = held_at(page)
    num_words = work.codes.shape[1]
    for index in range(work.counters[STATES]):
        for position in range(num_words):
            page.own[position] = work.codes[index, position]
        _, slot = find_jit(work, page.own, 0)
        work.table[slot] = index


def decode(work, page, index):
    """Put the code of a state and its fields on the page."""
    codes, own, fields = work.codes, page.own, page.fields
    low, stride, word = page.low, page.stride, page.word
    for position in range(own.size):
        own[position] = codes[index, position]
    # The last field of a word has the largest stride: so one division a field is enough.
    position = -1
    rest = 0
    for k in range(fields.size - 1, -1, -1):
        if word[k] != position:
            position = word[k]
            rest = own[position]
        if stride[k] == 0:
            fields[k] = rest
            rest = 0  # for the fields before it in its word, which have one value
        else:
            digit = rest // stride[k]
            rest -= digit * stride[k]
            fields[k] = digit + low[k]


decode_jit = njit(decode, inline="always")


def merge_row(successors, probabilities, start, end):
    """Sort a long row by successor, unswapped ones first, and add up duplicates; return its end.

    They are added in the order of their appearance, and rounded once. The arrays' next places are
    used as scratch.
    """
    length = end - start
    source, scratch = start, end
    width = 1
    while width < length:
        for left in range(0, length, 2 * width):
            middle = left + width
            if middle > length:
                middle = length
            right = middle + width
            if right > length:
                right = length
            one, other = left, middle
            for place in range(left, right):
                first = successors[source + one]
                if other >= right:
                    take_one = True
                elif one >= middle:
                    take_one = False
                elif first != successors[source + other]:
                    take_one = first < successors[source + other]
                else:
                    take_one = probabilities[source + one] > 0 or probabilities[source + other] < 0
                taken = one if take_one else other
                successors[scratch + place] = successors[source + taken]
                probabilities[scratch + place] = probabilities[source + taken]
                if take_one:
                    one += 1
                else:
                    other += 1
        source, scratch = scratch, source
        width *= 2
    last = start - 1
    rest = 0.0
    for place in range(source, source + length):
        successor, probability = successors[place], probabilities[place]
        if (
            last >= start
            and successors[last] == successor
            and (probabilities[last] < 0) == (probability < 0)
        ):
            total = probabilities[last] + probability
            rest += lost_jit(probabilities[last], probability, total)
            probabilities[last] = total
        else:
            if last >= start:
                probabilities[last] += rest
            rest = 0.0
            last += 1
            successors[last] = successor
            probabilities[last] = probability
    probabilities[last] += rest
    return last + 1


merge_row_jit = called_by_rules(merge_row, _nrt=False)


def add_rests(probabilities, start, rests):
    """Add the rounding errors of their sums to the first probabilities of a row; zero elsewhere."""
    for place in range(rests.size):
        if rests[place] != 0.0:
            probabilities[start + place] += rests[place]


add_rests_jit = called_by_rules(add_rests, _nrt=False)


def fault_of(answer):
    """Return the status of a loop for an answer of the rules that it cannot use."""
    if answer == FULL:
        return GROW_PAGE
    if answer == OUTSIDE:
        return WIDEN
    if answer == RAISED:
        return FAILED
    if answer == NOT_CANONICAL:
        return NO_REPRESENTATIVE
    return BAD


fault_of_jit = called_by_rules(fault_of, _nrt=False)


def enter(work, keys, at):
    """Return the index of the state whose code is in `keys`, which may be new; or -1 - GROW_*."""
    codes, counters = work.codes, work.counters
    found, slot = find_jit(work, keys, at)
    index = np.int64(found)
    if index < 0:
        index = counters[STATES]
        if index >= codes.shape[0]:
            return -1 - GROW_STATES
        if work.mask >= 0 and 2 * index > work.mask:
            return -1 - GROW_TABLE
        for position in range(codes.shape[1]):
            codes[index, position] = keys[at + position]
        work.table[slot] = index
        counters[STATES] = index + 1
    return index


enter_jit = njit(enter, inline="always")


def explore(work, page, rules, budget):
    """Expand states in the order of their discovery until all are done or something prevents it.

    What is written for a state counts only once the state is finished: when an array is full or a
    range too narrow, the caller enlarges it and calls again. All is one function, since a state
    that is not finished is a handful of numbers (the places of its choices and of a choice's
    transitions, the sums of its probabilities), which separate functions would have to pass back
    and forth.

    The steps for each state::

        decode it, and ask the rules (`expand`)
          |-- terminal: check its payoffs, which must add up
          |-- fenced off: an end whose payoff is not known yet, NaN
          |-- ordinary: for each choice, enter the successors, merge equal ones,
          |             check and scale the sum of the probabilities, check the rewards
          v
        advance the counters: from now on the state counts

    Parameters
    ----------
    work
        The record of the exploration's arrays and numbers; see `gamedp.compiler.explorer`.
    page
        The place of the record that the rules answer on.
    rules
        The record of what is called: `expand`, and what it takes, the `game` and the `page`.
    budget : int
        Transitions after which to pause.

    Returns
    -------
    status : int
        DONE; PAUSED; GROW_* if an array is full; WIDEN if a field of the state left in `fields` is
        out of range; and in state ``counters[NEXT]``: BAD if the rules are wrong, FAILED if they
        raise an error, NO_REPRESENTATIVE if the state was found as a representative but is not one.
    """
    page = held_at(page)
    num_players, has_rewards, counters = page.num_players, page.has_rewards, work.counters
    choice_offsets, transition_offsets = work.choice_offsets, work.transition_offsets
    successors, probabilities = work.successors, work.probabilities
    rewards, labels, players = work.rewards, work.labels, work.players
    terminals, payoffs, rests = work.terminals, work.payoffs, work.rests
    num_words = work.codes.shape[1]
    num_stored = payoffs.shape[1]
    last_transition = counters[TRANSITIONS] + budget
    while counters[NEXT] < counters[STATES]:
        if counters[TRANSITIONS] >= last_transition:
            return PAUSED
        index = counters[NEXT]
        choice = counters[CHOICES]
        end = counters[TRANSITIONS]
        # Decode it, and ask the rules.
        decode_jit(work, page, index)
        answer = call_native(rules.expand, rules.game, rules.page)
        if answer == TERMINAL:
            # Terminal: its payoffs.
            place = counters[TERMINALS]
            if place >= terminals.size:
                return GROW_CHOICES
            total = 0.0
            size = 1.0
            for player in range(num_players):
                payoff = page.payoffs[player]
                if not abs(payoff) < float("inf"):
                    return BAD
                if player < num_stored:
                    payoffs[place, player] = payoff
                total += payoff
                if abs(payoff) > size:
                    size = abs(payoff)
            if page.has_opponents and abs(total - work.constant_sum) > SUM_TOLERANCE * size:
                return BAD
            terminals[place] = index
            counters[TERMINALS] = place + 1
            players[index] = 0
        elif answer == FENCED:
            # Fenced off: an end without a payoff yet.
            place = counters[TERMINALS]
            if place >= terminals.size:
                return GROW_CHOICES
            payoffs[place, 0] = np.nan
            terminals[place] = index
            counters[TERMINALS] = place + 1
            players[index] = 0
        elif answer == ORDINARY:
            # Ordinary: its player, then choice by choice.
            mover = page.found[MOVER]
            if mover < 0 or mover >= num_players or page.found[NUM_CHOICES] == 0:
                return BAD
            players[index] = mover
            given = 0
            for number in range(page.found[NUM_CHOICES]):
                if choice >= labels.size:
                    return GROW_CHOICES
                start = end
                total = 0.0
                missing = 0.0
                merges = False
                last = page.ends[number]
                # The outcomes: successors entered, equal ones merged.
                while given < last:
                    probability = page.probabilities[given]
                    longer = total + abs(probability)
                    missing += lost_jit(total, abs(probability), longer)
                    total = longer
                    successor = enter_jit(work, page.keys, given * num_words)
                    if successor < 0:
                        return -1 - successor
                    given += 1
                    place = end
                    if end - start <= LONG_ROW:
                        place = start
                        while place < end and (
                            successors[place] != successor
                            or (probabilities[place] < 0) != (probability < 0)
                        ):
                            place += 1
                    if place < end:
                        if not merges:
                            rests[:] = 0.0
                            merges = True
                        longer = probabilities[place] + probability
                        rests[place - start] += lost_jit(probabilities[place], probability, longer)
                        probabilities[place] = longer
                    else:
                        if end >= successors.size:
                            return GROW_TRANSITIONS
                        successors[end] = successor
                        probabilities[end] = probability
                        end += 1
                        if merges and end - start > LONG_ROW:
                            add_rests_jit(probabilities, start, rests)
                            merges = False
                # Their probabilities: checked, and scaled.
                excess = (total - 1.0) + missing
                if not abs(excess) <= SUM_TOLERANCE:
                    return BAD
                if merges:
                    add_rests_jit(probabilities, start, rests)
                if end - start > LONG_ROW:
                    if 2 * end - start > successors.size:
                        return GROW_TRANSITIONS
                    end = merge_row_jit(successors, probabilities, start, end)
                if abs(excess) > SUM_ROUNDING:
                    for place in range(start, end):
                        probabilities[place] /= 1.0 + excess
                # The rewards, and the label.
                if has_rewards:
                    total = 0.0
                    size = 1.0
                    for player in range(num_players):
                        reward = page.rewards[number, player]
                        if not abs(reward) < float("inf"):
                            return BAD
                        if player < num_stored:
                            rewards[choice, player] = reward
                        total += reward
                        if abs(reward) > size:
                            size = abs(reward)
                    if page.has_opponents and abs(total) > SUM_TOLERANCE * size:
                        return BAD
                labels[choice] = page.labels[number]
                choice += 1
                transition_offsets[choice] = end
        else:
            return fault_of_jit(answer)
        # From now on the state counts.
        counters[CHOICES] = choice
        counters[TRANSITIONS] = end
        counters[NEXT] = index + 1
        choice_offsets[index + 1] = choice
    return DONE


def seed(work, page, rules, rows):
    """Enter every real state among rows of fields, representatives only.

    `counters[SEED]` counts through the rows. Returns DONE, or what is in the way as `explore` does.
    """
    page = held_at(page)
    counters = work.counters
    while counters[SEED] < rows.shape[0]:
        for k in range(page.fields.size):
            page.fields[k] = rows[counters[SEED], k]
        answer = call_native(rules.represent, rules.game, rules.page)
        if answer == ORDINARY:
            successor = enter_jit(work, page.keys, 0)
            if successor < 0:
                return -1 - successor
        elif answer != UNREAL:
            return fault_of_jit(answer)
        counters[SEED] += 1
    return DONE


rehash_jit = compiled_for_all(rehash)
explore_jit = compiled_for_all(explore)
seed_jit = compiled_for_all(seed)
