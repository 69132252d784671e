"""The loops that explore any program: they read it as arrays, so nothing is compiled for a model.

All numbers are integers, and exact: a probability is its number in a list of exact values, and so
are the products and sums of two of them. What integers cannot express, such as ``x / 3 > y``, has a
number as well, and is looked up by the values of the variables in it. Where one is not known yet, a
loop stops, and is called again when it is: see :mod:`gamedp.compiler.model_programs`.

The functions run on lists as well as on arrays: plain Python is several times faster with lists.

A state is packed into words of `BITS` bits. An expression is a sequence of instructions for a stack
machine. Passing an array takes time, so there are few, and each has several columns:

code
    Where the spans of expressions begin, where the words of a state and the stack stand in
    `memory`, and how many words there are; then instructions: a kind and two arguments; then spans.
looked
    The values that are looked up: the size of the hash table, and where its keys, its values, and
    the masks of the words on which each expression depends begin; then these.
pairs
    The products and sums of two exact values, in the same form.
memory
    The values of variables, now and next; the words of the state, and of the next; the stack.
space
    The least and the largest value of each variable, its word, shift and mask.
program
    `guards`, an expression for each command, and `steady`, the commands whose guards are always
    looked at. `switches`: a variable, its least value, and the place of that in `cases`, which
    says where the part of `switched` with the commands for each value begins. `alone`,
    the commands without an action; then the parts of each synchronisation, the commands of each
    part, and these commands.
branches
    The branches of each command; for each branch a number, or -1 and an expression, and where its
    assignments end; the rewards of each structure (an expression, or -1); the assignments.
states
    The words of each state, a hash table of states, and for each the last transition to it.
rows
    The offsets of choices; for each of these the synchronisation, the first command, and the end of
    its transitions; its rewards; for each transition a successor and a probability.
work
    Enabled commands, picked ones, their branches, those of each part, and how many they are; for
    each branch its probability and what it adds to the words of a state; and of the first so many
    parts together the probability and the words.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from gamedp.runtime.jit import compiled

BITS = 62
"""Bits of a word of a state."""

HALF = (1 << 31) - 1
WHOLE = (1 << 62) - 1
FACTOR, OTHER_FACTOR = 1_013_904_223, 826_366_247

(
    CONSTANT, VARIABLE, EQUAL_TO, AND, OR, LESS_THAN, MORE_THAN, AT_MOST, AT_LEAST, UNEQUAL_TO,
    NOT, IF, JUMP, ADD, SUBTRACT, MULTIPLY, EQUAL, UNEQUAL, LESS, MORE, NO_MORE, NO_LESS,
    MINIMUM, MAXIMUM, REMAINDER, NEGATE, LOOKED_UP,
) = range(27)  # fmt: skip
"""Instructions; EQUAL_TO and its kin compare a variable with a constant."""

JUMPS = frozenset({AND, OR, IF, JUMP})
"""Instructions whose argument is another instruction."""

ZERO, ONE = 0, 1
"""The numbers of two exact values."""

PRODUCT, SUM, INVERSE = 0, 1, 2
"""Operations on exact values; of INVERSE, the first is an integer."""

DONE, MORE_TO_DO, UNKNOWN_VALUE, UNKNOWN_PAIR, FULL, BEYOND = range(6)
"""Reasons for which a loop stops."""

STATES, NEXT, CHOICES, TRANSITIONS, FIRST, SECOND, OPERATION, NEEDED = range(8)
"""Places of counters: states found and explored, and what is not known, or needs room."""


class Machine(NamedTuple):
    """All arrays, by the names above."""

    code: Any
    looked: Any
    pairs: Any
    memory: Any
    space: Any
    program: Any
    branches: Any
    states: Any
    rows: Any
    work: Any
    counters: Any


def value_of(code: Any, looked: Any, memory: Any, number: int) -> int:
    """Return the value of an expression in the state in memory.

    If what it looks up is not known, the first place of the stack is the number of that, plus one.
    """
    span = code[0] + 2 * number
    i, end, stack, top = code[span], code[span + 1], code[2], code[2]
    while i < end:
        kind, a = code[i], code[i + 1]
        i += 3
        if kind == VARIABLE:
            top += 1
            memory[top] = memory[a]
        elif kind == EQUAL_TO:
            top += 1
            memory[top] = 1 if memory[a] == code[i - 1] else 0
        elif kind == AND:
            if memory[top] == 0:
                i = a
            else:
                top -= 1
        elif kind == CONSTANT:
            top += 1
            memory[top] = a
        elif kind == OR:
            if memory[top] != 0:
                i = a
            else:
                top -= 1
        elif kind == LESS_THAN:
            top += 1
            memory[top] = 1 if memory[a] < code[i - 1] else 0
        elif kind == MORE_THAN:
            top += 1
            memory[top] = 1 if memory[a] > code[i - 1] else 0
        elif kind == AT_MOST:
            top += 1
            memory[top] = 1 if memory[a] <= code[i - 1] else 0
        elif kind == AT_LEAST:
            top += 1
            memory[top] = 1 if memory[a] >= code[i - 1] else 0
        elif kind == UNEQUAL_TO:
            top += 1
            memory[top] = 1 if memory[a] != code[i - 1] else 0
        elif kind == NOT:
            memory[top] = 1 - memory[top]
        elif kind == IF:
            top -= 1
            if memory[top + 1] == 0:
                i = a
        elif kind == JUMP:
            i = a
        elif kind == NEGATE:
            memory[top] = -memory[top]
        elif kind == LOOKED_UP:
            place = place_of_value_jit(looked, a, memory, code[1])
            if place < 0:
                memory[stack] = a + 1
                return 0
            top += 1
            memory[top] = looked[looked[2] + place]
        else:
            top -= 1
            x, y = memory[top], memory[top + 1]
            if kind == ADD:
                memory[top] = x + y
            elif kind == SUBTRACT:
                memory[top] = x - y
            elif kind == MULTIPLY:
                memory[top] = x * y
            elif kind == EQUAL:
                memory[top] = 1 if x == y else 0
            elif kind == UNEQUAL:
                memory[top] = 1 if x != y else 0
            elif kind == LESS:
                memory[top] = 1 if x < y else 0
            elif kind == MORE:
                memory[top] = 1 if x > y else 0
            elif kind == NO_MORE:
                memory[top] = 1 if x <= y else 0
            elif kind == NO_LESS:
                memory[top] = 1 if x >= y else 0
            elif kind == MINIMUM:
                memory[top] = min(x, y)
            elif kind == MAXIMUM:
                memory[top] = max(x, y)
            else:
                memory[top] = x % y
    return memory[top]


def mixed(number: int, word: int) -> int:
    """Return a hash value with one more word in it; all are integers from 0 below 2**62."""
    number ^= word
    number = ((number & HALF) * FACTOR + (number >> 31) * OTHER_FACTOR) & WHOLE
    number ^= number >> 29
    return number


def place_of_value(looked: Any, number: int, memory: Any, at: int) -> int:
    """Return the place of a value that is looked up in the state in memory, or -1."""
    size, keys, masks, width = looked[0] - 1, looked[1], looked[3], looked[4]
    h = number
    for w in range(width):
        h = mixed_jit(h, memory[at + w] & looked[masks + number * width + w])
    h &= size
    while looked[8 + h] >= 0:
        place = looked[8 + h]
        begin = keys + place * (width + 1)
        is_same = looked[begin] == number
        for w in range(width):
            word = memory[at + w] & looked[masks + number * width + w]
            if looked[begin + 1 + w] != word:
                is_same = False
        if is_same:
            return place
        h = (h + 1) & size
    return -1


def pair_of(pairs: Any, first: int, second: int, operation: int) -> int:
    """Return the number of the product or sum of two exact values, or -1 if it is not known."""
    if operation == PRODUCT:
        if first == ONE or second == ZERO:
            return second
        if second == ONE or first == ZERO:
            return first
    elif operation == SUM:
        if first == ZERO:
            return second
        if second == ZERO:
            return first
    size, keys, values = pairs[0] - 1, pairs[1], pairs[2]
    h = mixed_jit(mixed_jit(operation, first), second) & size
    while pairs[8 + h] >= 0:
        place = pairs[8 + h]
        begin = keys + 3 * place
        if pairs[begin] == operation and pairs[begin + 1] == first and pairs[begin + 2] == second:
            return pairs[values + place]
        h = (h + 1) & size
    return -1


def unpack(space: Any, words: Any, at: int, memory: Any, place: int, width: int) -> None:
    """Write a state into memory: the values of its variables, and its words."""
    for w in range(width):
        memory[place + w] = words[at + w]
    for i in range(len(space) // 5):
        low, word, shift, mask = space[5 * i], space[5 * i + 2], space[5 * i + 3], space[5 * i + 4]
        memory[i] = ((words[at + word] >> shift) & mask) + low


def pack(space: Any, memory: Any, begin: int, key: int, width: int) -> None:
    """Write the words of the values that begin at a place into others."""
    for w in range(width):
        memory[key + w] = 0
    for i in range(len(space) // 5):
        low, word, shift = space[5 * i], space[5 * i + 2], space[5 * i + 3]
        memory[key + word] |= (memory[begin + i] - low) << shift


def number_of_state(
    words: Any, table: Any, last: Any, memory: Any, key: int, width: int, count: int
) -> int:
    """Return the number of the state at a place, entering it with the number `count` if new."""
    size = len(table) - 1
    h = 0
    for w in range(width):
        h = mixed_jit(h, memory[key + w])
    h &= size
    while table[h] >= 0:
        begin = table[h] * width
        is_same = True
        for w in range(width):
            if words[begin + w] != memory[key + w]:
                is_same = False
                break
        if is_same:
            return table[h]
        h = (h + 1) & size
    table[h] = count
    for w in range(width):
        words[count * width + w] = memory[key + w]
    last[count] = -1
    return count


def index_states(states: Any, count: int, width: int) -> int:
    """Enter states into an empty hash table; return DONE."""
    words, table, _ = states
    size = len(table) - 1
    for s in range(count):
        h = 0
        for w in range(width):
            h = mixed_jit(h, words[s * width + w])
        h &= size
        while table[h] >= 0:
            h = (h + 1) & size
        table[h] = s
    return DONE


def lacks(counters: Any, first: int, second: int, operation: int) -> int:
    """Note two values whose product or sum is not known; return the status."""
    counters[FIRST], counters[SECOND], counters[OPERATION] = first, second, operation
    return UNKNOWN_PAIR


def look_at_branches(m: Any, parts: int) -> int:
    """Note what each branch of the picked commands does by itself; return a status.

    No two of them change the same variable, so what they add to the words of a state adds up.
    """
    code, looked, pairs, memory, space = m.code, m.looked, m.pairs, m.memory, m.space
    rewards, work, counters = m.rows[2], m.work, m.counters
    branch_offsets, listed, earned, assignments = m.branches
    picked, factors, added = work[1], work[5], work[6]
    width, stack = code[3], code[2]
    choice, structures = counters[CHOICES], len(earned) // (len(listed) // 3)
    for q in range(structures):
        rewards[choice * structures + q] = ZERO
    for k in range(parts):
        for b in range(branch_offsets[picked[k]], branch_offsets[picked[k] + 1]):
            factor = listed[3 * b]
            if factor < 0:
                factor = value_of_jit(code, looked, memory, listed[3 * b + 1])
                if memory[stack] != 0:
                    return UNKNOWN_VALUE
            factors[b] = factor
            for w in range(width):
                added[b * width + w] = 0
            if factor == ZERO:
                continue
            for q in range(structures):
                expression = earned[structures * b + q]
                if expression < 0:
                    continue
                reward = value_of_jit(code, looked, memory, expression)
                if memory[stack] != 0:
                    return UNKNOWN_VALUE
                product = pair_of_jit(pairs, factor, reward, PRODUCT)
                if product < 0:
                    return lacks_jit(counters, factor, reward, PRODUCT)
                before = rewards[choice * structures + q]
                after = pair_of_jit(pairs, before, product, SUM)
                if after < 0:
                    return lacks_jit(counters, before, product, SUM)
                rewards[choice * structures + q] = after
            for x in range(listed[3 * b - 1] if b > 0 else 0, listed[3 * b + 2]):
                variable = assignments[2 * x]
                new = value_of_jit(code, looked, memory, assignments[2 * x + 1])
                if memory[stack] != 0:
                    return UNKNOWN_VALUE
                place = 5 * variable
                if new < space[place] or new > space[place + 1]:
                    counters[FIRST], counters[SECOND] = x, new
                    return BEYOND
                word, shift = space[place + 2], space[place + 3]
                added[b * width + word] += (new - memory[variable]) << shift
    return DONE


def add_choice(m: Any, parts: int, synchronisation: int, is_chain: bool, begin: int) -> int:
    """Add a choice made of the picked commands; return a status."""
    code, pairs, memory, work, counters = m.code, m.pairs, m.memory, m.work, m.counters
    branch_offsets = m.branches[0]
    words, table, last = m.states
    choices, transitions = m.rows[1], m.rows[3]
    picked, chosen, factors, added, shares, sums = (
        work[1], work[2], work[5], work[6], work[7], work[8],
    )  # fmt: skip
    width, total = code[3], 1
    for k in range(parts):
        total *= branch_offsets[picked[k] + 1] - branch_offsets[picked[k]]
        if total > HALF:
            counters[NEEDED] = total
            return FULL
    choice = counters[CHOICES]
    if (
        3 * (choice + 2) > len(choices)
        or 2 * (counters[TRANSITIONS] + total + 1) > len(transitions)
        or counters[STATES] + total + 1 > len(last)
        or 2 * (counters[STATES] + total) > len(table)
    ):
        counters[NEEDED] = total
        return FULL
    if not is_chain:
        begin = counters[TRANSITIONS]
    status = look_at_branches_jit(m, parts)
    if status != DONE:
        return status
    shares[0] = ONE
    for w in range(width):
        sums[w] = memory[code[1] + w]
    for k in range(parts):
        chosen[k] = branch_offsets[picked[k]]
    changed = 0
    for _ in range(total):
        for k in range(changed, parts):
            b, now, after = chosen[k], k * width, (k + 1) * width
            shares[k + 1] = pair_of_jit(pairs, shares[k], factors[b], PRODUCT)
            if shares[k + 1] < 0:
                return lacks_jit(counters, shares[k], factors[b], PRODUCT)
            for w in range(width):
                sums[after + w] = sums[now + w] + added[b * width + w]
        probability = shares[parts]
        changed = parts - 1
        while changed > 0 and chosen[changed] + 1 == branch_offsets[picked[changed] + 1]:
            chosen[changed] = branch_offsets[picked[changed]]
            changed -= 1
        chosen[changed] += 1
        if probability == ZERO:
            continue
        found = counters[STATES]
        s = number_of_state_jit(words, table, last, sums, parts * width, width, found)
        if s == found:
            counters[STATES] = found + 1
        transition = last[s]
        if transition >= begin:
            before = transitions[2 * transition + 1]
            together = pair_of_jit(pairs, before, probability, SUM)
            if together < 0:
                return lacks_jit(counters, before, probability, SUM)
            transitions[2 * transition + 1] = together
        else:
            transition = counters[TRANSITIONS]
            transitions[2 * transition], transitions[2 * transition + 1] = s, probability
            last[s] = transition
            counters[TRANSITIONS] = transition + 1
    choices[3 * choice], choices[3 * choice + 1] = synchronisation, picked[0]
    choices[3 * choice + 2] = counters[TRANSITIONS]
    counters[CHOICES] = choice + 1
    return DONE


def find_enabled(code: Any, looked: Any, memory: Any, program: Any, is_enabled: Any) -> int:
    """Note the commands whose guards hold in the state in memory; return a status."""
    guards, steady, switches, cases, switched = program[:5]
    stack = code[2]
    for c in range(len(guards)):
        is_enabled[c] = 0
    for c in steady:
        is_enabled[c] = value_of_jit(code, looked, memory, guards[c])
        if memory[stack] != 0:
            return UNKNOWN_VALUE
    for i in range(0, len(switches), 3):
        case = switches[i + 2] + memory[switches[i]] - switches[i + 1]
        for x in range(cases[case], cases[case + 1]):
            c = switched[x]
            is_enabled[c] = value_of_jit(code, looked, memory, guards[c])
            if memory[stack] != 0:
                return UNKNOWN_VALUE
    return DONE


def add_state(m: Any, is_chain: bool) -> int:
    """Add the choices of the next state; return a status."""
    code, memory, rows, work, counters = m.code, m.memory, m.rows, m.work, m.counters
    alone, part_offsets, command_offsets, commands = m.program[5:]
    is_enabled, picked, _, enabled, counts = work[:5]
    choices, transitions = rows[1], rows[3]
    state, width, begin = counters[NEXT], code[3], counters[TRANSITIONS]
    first_choice, room = counters[CHOICES], len(enabled) // len(picked)
    unpack_jit(m.space, m.states[0], state * width, memory, code[1], width)
    status = find_enabled_jit(code, m.looked, memory, m.program, is_enabled)
    if status != DONE:
        return status
    for c in alone:
        if is_enabled[c] != 0:
            picked[0] = c
            status = add_choice_jit(m, 1, -1, is_chain, begin)
            if status != DONE:
                return status
    for u in range(len(part_offsets) - 1):
        parts, total = part_offsets[u + 1] - part_offsets[u], 1
        for k in range(parts):
            many = 0
            part = part_offsets[u] + k
            for x in range(command_offsets[part], command_offsets[part + 1]):
                if is_enabled[commands[x]] != 0:
                    enabled[k * room + many] = commands[x]
                    many += 1
            counts[k] = many
            total *= many
            if total == 0 or total > HALF:
                break
        if total > HALF:
            counters[NEEDED] = total
            return FULL
        for combination in range(total):
            rest = combination
            for k in range(parts - 1, -1, -1):
                picked[k] = enabled[k * room + rest % counts[k]]
                rest //= counts[k]
            status = add_choice_jit(m, parts, u, is_chain, begin)
            if status != DONE:
                return status
    many = counters[CHOICES] - first_choice
    if many == 0:  # a deadlock leads to itself
        choice, structures = first_choice, len(m.branches[2]) // (len(m.branches[1]) // 3)
        if 3 * (choice + 2) > len(choices) or 2 * (begin + 2) > len(transitions):
            counters[NEEDED] = 1
            return FULL
        for q in range(structures):
            rows[2][choice * structures + q] = ZERO
        transitions[2 * begin], transitions[2 * begin + 1] = state, ONE
        choices[3 * choice], choices[3 * choice + 1], choices[3 * choice + 2] = -1, -1, begin + 1
        counters[CHOICES], counters[TRANSITIONS] = choice + 1, begin + 1
    elif is_chain and many > 1:
        share = pair_of_jit(m.pairs, many, 0, INVERSE)
        if share < 0:
            return lacks_jit(counters, many, 0, INVERSE)
        for t in range(begin, counters[TRANSITIONS]):
            before = transitions[2 * t + 1]
            after = pair_of_jit(m.pairs, before, share, PRODUCT)
            if after < 0:
                return lacks_jit(counters, before, share, PRODUCT)
            transitions[2 * t + 1] = after
    counters[NEXT] = state + 1
    rows[0][state + 1] = counters[CHOICES]
    return DONE


def explore(m: Any, is_chain: bool, most: int) -> int:
    """Explore states until `most` of work is done, or something is missing; return a status.

    A state that is not finished has no trace in `rows`, and is begun again.
    """
    rows, counters, last = m.rows, m.counters, m.states[2]
    memory, stack, spent = m.memory, m.code[2], 0
    while counters[NEXT] < counters[STATES]:
        if spent > most:
            return MORE_TO_DO
        if counters[NEXT] + 4 > len(rows[0]):
            counters[NEEDED] = 1
            return FULL
        choices, transitions = counters[CHOICES], counters[TRANSITIONS]
        status = add_state_jit(m, is_chain)
        if status != DONE:
            for t in range(transitions, counters[TRANSITIONS]):
                last[rows[3][2 * t]] = -1
            # The part of the state that was written is dropped, but will need its room again.
            counters[NEEDED] += counters[CHOICES] - choices + counters[TRANSITIONS] - transitions
            counters[CHOICES], counters[TRANSITIONS] = choices, transitions
            if status == UNKNOWN_VALUE:
                counters[FIRST] = memory[stack] - 1
                memory[stack] = 0
            return status
        spent += len(m.program[0]) + counters[TRANSITIONS] - transitions
    return DONE


def evaluate(m: Any, number: int, end: int, found: Any) -> int:
    """Write the values of an expression in the states from ``counters[NEXT]`` to `end`."""
    code, memory, counters, words = m.code, m.memory, m.counters, m.states[0]
    width, stack = code[3], code[2]
    while counters[NEXT] < end:
        state = counters[NEXT]
        unpack_jit(m.space, words, state * width, memory, code[1], width)
        found[state] = value_of_jit(code, m.looked, memory, number)
        if memory[stack] != 0:
            counters[FIRST] = memory[stack] - 1
            memory[stack] = 0
            return UNKNOWN_VALUE
        counters[NEXT] = state + 1
    return DONE


def seek_starts(m: Any, number: int, low: Any, high: Any, most: int) -> int:
    """Enter states in which an expression holds, of all from the one in memory on.

    The last variable changes fastest, each from `low` to `high`.
    """
    code, memory, space, states, counters = m.code, m.memory, m.space, m.states, m.counters
    width, stack, words = code[3], code[2], code[1]
    for _ in range(most):
        if counters[STATES] + 2 > len(states[2]) or 2 * (counters[STATES] + 1) > len(states[1]):
            counters[NEEDED] = 1
            return FULL
        pack_jit(space, memory, 0, words, width)
        holds = value_of_jit(code, m.looked, memory, number)
        if memory[stack] != 0:
            counters[FIRST] = memory[stack] - 1
            memory[stack] = 0
            return UNKNOWN_VALUE
        if holds != 0:
            found = counters[STATES]
            entered = number_of_state_jit(
                states[0], states[1], states[2], memory, words, width, found
            )
            if entered == found:
                counters[STATES] = found + 1
        i = len(low) - 1
        while i >= 0 and memory[i] == high[i]:
            memory[i] = low[i]
            i -= 1
        if i < 0:
            return DONE
        memory[i] += 1
    return MORE_TO_DO


mixed_jit = compiled(mixed)
place_of_value_jit = compiled(place_of_value)
pair_of_jit = compiled(pair_of)
value_of_jit = compiled(value_of)
unpack_jit = compiled(unpack)
pack_jit = compiled(pack)
number_of_state_jit = compiled(number_of_state)
index_states_jit = compiled(index_states)
lacks_jit = compiled(lacks)
find_enabled_jit = compiled(find_enabled)
look_at_branches_jit = compiled(look_at_branches)
add_choice_jit = compiled(add_choice)
add_state_jit = compiled(add_state)
explore_jit = compiled(explore)
evaluate_jit = compiled(evaluate)
seek_starts_jit = compiled(seek_starts)
