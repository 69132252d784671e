"""The compiled loop of the exploration: breadth-first search over a game's own methods.

Plain functions on arrays and on a game bound by :mod:`gamedp.compiler.bridge`; compiled for each
game by :mod:`gamedp.compiler.compiled`. States are packed into words of mixed radix; a table leads
from a code to the index of its state, directly where the codes are few, by hashing elsewhere.
"""

from __future__ import annotations

from numba import njit

from gamedp.compiler.bridge import as_action
from gamedp.compiler.chances import LONG_ROW, lost
from gamedp.kernels.jit import compiled, inlined
from gamedp.model import LEAST_PROBABILITY, SUM_ROUNDING

# What a call returns.
DONE, PAUSED, GROW_STATES, GROW_CHOICES, GROW_TRANSITIONS, GROW_TABLE, WIDEN, BAD = range(8)

# Places in `counters`.
NEXT, STATES, CHOICES, TRANSITIONS, TERMINALS, SEED = range(6)

SLACK = 1e-9

lost_jit = inlined(lost)


def hash_key(key, num_words):
    """Mix the words of a code; 31 bits at a time, so that nothing overflows."""
    mixed = 0
    for position in range(num_words):
        word = key[position] ^ mixed
        low = word & 0x7FFFFFFF
        high = (word >> 31) & 0x7FFFFFFF
        mixed = low * 0x2C1B3C6D + high * 0x297A2D39
        mixed ^= mixed >> 29
        mixed = (mixed & 0x7FFFFFFF) * 0x1B873593 ^ (mixed >> 31)
        mixed ^= mixed >> 32
    return mixed


hash_key_jit = njit(hash_key)


def find(work):
    """Return the index of the state whose code is in `key`, or -1; its slot goes behind the key."""
    key, codes, table, mask = work.key, work.codes, work.table, work.mask
    num_words = codes.shape[1]
    if mask < 0:
        slot = key[0]
        key[num_words] = slot
        return table[slot]
    slot = hash_key_jit(key, num_words) & mask
    while True:
        index = table[slot]
        if index < 0:
            key[num_words] = slot
            return -1
        same = True
        for position in range(num_words):
            if codes[index, position] != key[position]:
                same = False
                break
        if same:
            key[num_words] = slot
            return index
        slot = (slot + 1) & mask


find_jit = njit(find, inline="always")


def rehash(work):
    """Enter all known states into a new table."""
    num_words = work.codes.shape[1]
    for index in range(work.counters[STATES]):
        for position in range(num_words):
            work.key[position] = work.codes[index, position]
        find_jit(work)
        work.table[work.key[num_words]] = index


rehash_jit = compiled(rehash)


def encode(game, work, state):
    """Write the code of `state` to `key`; return false if a field is out of range.

    The fields are left in `fields` whenever they are out of range.
    """
    low, high, stride, word = work.low, work.high, work.stride, work.word
    fields, key = work.fields, work.key
    if work.direct:
        code = game.gamedp_encode(state, low, high, stride)
        if code >= 0:
            key[0] = code
            return True
    game.gamedp_flatten(state, fields)
    key[: key.size - 1] = 0
    for k in range(fields.size):
        if stride[k] == 0:
            # Also here a range is kept: a number that wraps around is far out of it.
            if fields[k] < low[k] or fields[k] > high[k]:
                return False
            key[word[k]] = fields[k]
        elif fields[k] < low[k] or fields[k] >= high[k]:
            return False
        else:
            key[word[k]] += (fields[k] - low[k]) * stride[k]
    return True


encode_jit = njit(encode, inline="always")


def decode(work, index):
    """Unpack the code of a state into its fields."""
    codes, fields = work.codes, work.fields
    low, stride, word = work.low, work.stride, work.word
    # The last field of a word has the largest stride: so one division a field is enough.
    position = -1
    rest = 0
    for k in range(fields.size - 1, -1, -1):
        if word[k] != position:
            position = word[k]
            rest = codes[index, position]
        if stride[k] == 0:
            fields[k] = rest
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
    source, target = start, end
    width = 1
    while width < length:
        for left in range(0, length, 2 * width):
            middle = min(left + width, length)
            right = min(left + 2 * width, length)
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
                successors[target + place] = successors[source + taken]
                probabilities[target + place] = probabilities[source + taken]
                if take_one:
                    one += 1
                else:
                    other += 1
        source, target = target, source
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


merge_row_jit = njit(merge_row)


def fold(probabilities, start, rests):
    """Add to the first probabilities of a row what their sums have lost; zero elsewhere."""
    for place in range(rests.size):
        if rests[place] != 0.0:
            probabilities[start + place] += rests[place]


fold_jit = njit(fold)


def is_settled(game, work, representative, index):
    """Say whether a representative, whose code is that of state `index`, represents itself."""
    again, swapped = game.canonical(representative)
    if swapped or not encode_jit(game, work, again):
        return False
    for position in range(work.codes.shape[1]):
        if work.codes[index, position] != work.key[position]:
            return False
    return True


is_settled_jit = njit(is_settled, inline="always")


def explore(game, work, budget):
    """Expand states in the order of their discovery until all are, or something is in the way.

    What is written for a state counts only once the state is finished: when an array is full or a
    range too narrow, the caller mends that and calls again.

    Parameters
    ----------
    game
        The game, bound for compiled loops.
    work
        The record of the exploration's arrays and numbers; see `gamedp.compiler.explorer`.
    budget : int
        Transitions after which to pause.

    Returns
    -------
    status : int
        DONE; PAUSED; GROW_* if an array is full; WIDEN if a field of the state left in `fields` is
        out of range; BAD if the rules are wrong in state ``counters[NEXT]``.
    """
    num_players, has_rewards, mask = work.num_players, work.has_rewards, work.mask
    key, codes, table, counters = work.key, work.codes, work.table, work.counters
    choice_offsets, transition_offsets = work.choice_offsets, work.transition_offsets
    successors, probabilities = work.successors, work.probabilities
    rewards, labels, players = work.rewards, work.labels, work.players
    terminals, payoffs, rests = work.terminals, work.payoffs, work.rests
    num_words = codes.shape[1]
    num_stored = payoffs.shape[1]
    last_transition = counters[TRANSITIONS] + budget
    while counters[NEXT] < counters[STATES]:
        if counters[TRANSITIONS] >= last_transition:
            return PAUSED
        index = counters[NEXT]
        choice = counters[CHOICES]
        end = counters[TRANSITIONS]
        decode_jit(work, index)
        state = game.gamedp_decode(work.fields)
        if game.is_terminal(state):
            place = counters[TERMINALS]
            if place >= terminals.size:
                return GROW_CHOICES
            total = 0.0
            size = 1.0
            for player in range(num_players):
                payoff = float(game.payoff(state, player))
                if not abs(payoff) < float("inf"):
                    return BAD
                if player < num_stored:
                    payoffs[place, player] = payoff
                total += payoff
                size = max(size, abs(payoff))
            if num_players == 2 and abs(total - work.constant_sum) > SLACK * size:
                return BAD
            terminals[place] = index
            counters[TERMINALS] = place + 1
            players[index] = 0
        else:
            mover = game.player(state)
            if mover < 0 or mover >= num_players:
                return BAD
            players[index] = mover
            for label in game.actions(state):
                action = as_action(label)
                if choice >= labels.size:
                    return GROW_CHOICES
                if action < -(2**31) or action >= 2**31:
                    return BAD
                start = end
                total = 0.0
                missing = 0.0
                merges = False
                for chance, successor in game.outcomes(state, action):
                    probability = float(chance)
                    if not (0.0 <= probability <= 1.0 + SLACK):
                        return BAD
                    longer = total + probability
                    missing += lost_jit(total, probability, longer)
                    total = longer
                    if probability < LEAST_PROBABILITY:
                        if probability > 0.0:
                            return BAD
                        continue
                    representative, swapped = game.canonical(successor)
                    if swapped and num_players != 2:
                        return BAD
                    if not encode_jit(game, work, representative):
                        return WIDEN
                    target = find_jit(work)
                    if target < 0:
                        target = counters[STATES]
                        if target >= codes.shape[0]:
                            return GROW_STATES
                        if mask >= 0 and 2 * target > mask:
                            return GROW_TABLE
                        slot = key[num_words]
                        for position in range(num_words):
                            codes[target, position] = key[position]
                        if not is_settled_jit(game, work, representative, target):
                            return BAD
                        table[slot] = target
                        counters[STATES] = target + 1
                    if swapped:
                        probability = -probability
                    place = end
                    if end - start <= LONG_ROW:
                        place = start
                        while place < end and (
                            successors[place] != target
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
                        successors[end] = target
                        probabilities[end] = probability
                        end += 1
                        if merges and end - start > LONG_ROW:
                            fold_jit(probabilities, start, rests)
                            merges = False
                excess = (total - 1.0) + missing
                if not abs(excess) <= SLACK:
                    return BAD
                if merges:
                    fold_jit(probabilities, start, rests)
                if end - start > LONG_ROW:
                    if 2 * end - start > successors.size:
                        return GROW_TRANSITIONS
                    end = merge_row_jit(successors, probabilities, start, end)
                if abs(excess) > SUM_ROUNDING:
                    for place in range(start, end):
                        probabilities[place] /= 1.0 + excess
                if has_rewards:
                    total = 0.0
                    size = 1.0
                    for player in range(num_players):
                        reward = float(game.reward(state, action, player))
                        if not abs(reward) < float("inf"):
                            return BAD
                        if player < num_stored:
                            rewards[choice, player] = reward
                        total += reward
                        size = max(size, abs(reward))
                    if num_players == 2 and abs(total) > SLACK * size:
                        return BAD
                labels[choice] = action
                choice += 1
                transition_offsets[choice] = end
            if choice == counters[CHOICES]:
                return BAD
        counters[CHOICES] = choice
        counters[TRANSITIONS] = end
        counters[NEXT] = index + 1
        choice_offsets[index + 1] = choice
    return DONE


def seed_box(game, work, box_low, box_extent, total):
    """Enter every real state of a box, representatives only.

    `counters[SEED]` counts through the box. Returns DONE, or GROW_*, WIDEN or BAD as in `explore`.
    """
    key, codes, counters = work.key, work.codes, work.counters
    num_words = codes.shape[1]
    while counters[SEED] < total:
        rest = counters[SEED]
        for k in range(work.fields.size):
            work.fields[k] = rest % box_extent[k] + box_low[k]
            rest //= box_extent[k]
        state = game.gamedp_decode(work.fields)
        if game.is_state(state):
            representative, swapped = game.canonical(state)
            if swapped and work.num_players != 2:
                return BAD
            if not encode_jit(game, work, representative):
                return WIDEN
            if find_jit(work) < 0:
                target = counters[STATES]
                if target >= codes.shape[0]:
                    return GROW_STATES
                if work.mask >= 0 and 2 * target > work.mask:
                    return GROW_TABLE
                slot = key[num_words]
                for position in range(num_words):
                    codes[target, position] = key[position]
                if not is_settled_jit(game, work, representative, target):
                    return BAD
                work.table[slot] = target
                counters[STATES] = target + 1
        counters[SEED] += 1
    return DONE
