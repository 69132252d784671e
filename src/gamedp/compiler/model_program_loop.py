"""The loops that explore any program: they read it as arrays, so nothing is compiled for a model.

All numbers are integers, and exact: a probability is its number in a list of exact values, and so
are the products and sums of two of them. What integers cannot express, such as ``x / 3 > y``, has a
number as well, and is looked up by the values of the variables in it. Where one is not known yet, a
loop stops, and is called again when it is: see :mod:`gamedp.compiler.model_programs`.

The functions run on lists as well as on arrays: plain Python is several times faster with lists.

A state is packed into words of `BITS` bits. An expression is a sequence of instructions for a stack
machine. Arrays come in tuples:

code
    The kind, and two arguments, of each instruction; the first and the last of each expression.
space
    The least and the largest value of each variable, and its word, shift and mask there.
program
    `guards` (an expression for each command), `alone` (commands without an action), the branches
    of each command; each branch's probability (a number, or -1), an expression for it, the rewards
    of each structure (an expression, or -1), and its assignments: variables and expressions. Then
    the parts of each synchronisation, the commands of each part, and these commands.
known
    A hash table, the words of its keys, the values, and for each expression looked up the masks of
    the words of a state that it depends on; the hash table of products and sums, keys and values.
states
    The words of each state, a hash table of states, and for each the last transition to it.
rows
    The offsets of choices, their synchronisation, first command and rewards; the offsets of
    transitions, their successors and probabilities.
work
    Room: for the values of variables, now and next, the stack, words, enabled commands, and those
    chosen.
"""

from __future__ import annotations

from typing import Any

from gamedp.runtime.jit import compiled

BITS = 62
"""Bits of a word of a state."""

HALF = (1 << 31) - 1
WHOLE = (1 << 62) - 1
FACTOR, OTHER_FACTOR = 1_013_904_223, 826_366_247

(
    CONSTANT, VARIABLE, EQUAL_TO, AND, OR, LESS_THAN, MORE_THAN, AT_MOST, AT_LEAST, UNEQUAL_TO,
    NOT, IF, JUMP, ADD, SUBTRACT, MULTIPLY, EQUAL, UNEQUAL, LESS, MORE, NO_MORE, NO_LESS,
    LEAST, LARGEST, REMAINDER, NEGATE, LOOKED_UP,
) = range(27)  # fmt: skip
"""Instructions; EQUAL_TO and its kin compare a variable with a constant."""

ZERO, ONE = 0, 1
"""The numbers of two exact values."""

PRODUCT, SUM, INVERSE = 0, 1, 2
"""Operations on exact values; of INVERSE, the first is an integer."""

DONE, MORE_TO_DO, UNKNOWN_VALUE, UNKNOWN_PAIR, FULL, BEYOND = range(6)
"""Reasons for which a loop stops."""

STATES, NEXT, CHOICES, TRANSITIONS, FIRST, SECOND, OPERATION, NEEDED = range(8)
"""Places of counters: states found and explored, and what is not known, or needs room."""


def value_of(
    code: Any, known: Any, number: int, values: Any, words: Any, at: int, width: int, stack: Any
) -> int:
    """Return the value of an expression in a state.

    If what it looks up is not known, ``stack[0]`` is the number of that, plus one.
    """
    kinds, first, second, begins, ends = code
    i, end, top = begins[number], ends[number], 0
    while i < end:
        kind, a = kinds[i], first[i]
        i += 1
        if kind == VARIABLE:
            top += 1
            stack[top] = values[a]
        elif kind == EQUAL_TO:
            top += 1
            stack[top] = 1 if values[a] == second[i - 1] else 0
        elif kind == AND:
            if stack[top] == 0:
                i = a
            else:
                top -= 1
        elif kind == CONSTANT:
            top += 1
            stack[top] = a
        elif kind == OR:
            if stack[top] != 0:
                i = a
            else:
                top -= 1
        elif kind == LESS_THAN:
            top += 1
            stack[top] = 1 if values[a] < second[i - 1] else 0
        elif kind == MORE_THAN:
            top += 1
            stack[top] = 1 if values[a] > second[i - 1] else 0
        elif kind == AT_MOST:
            top += 1
            stack[top] = 1 if values[a] <= second[i - 1] else 0
        elif kind == AT_LEAST:
            top += 1
            stack[top] = 1 if values[a] >= second[i - 1] else 0
        elif kind == UNEQUAL_TO:
            top += 1
            stack[top] = 1 if values[a] != second[i - 1] else 0
        elif kind == NOT:
            stack[top] = 1 - stack[top]
        elif kind == IF:
            top -= 1
            if stack[top + 1] == 0:
                i = a
        elif kind == JUMP:
            i = a
        elif kind == NEGATE:
            stack[top] = -stack[top]
        elif kind == LOOKED_UP:
            place = place_of_value_jit(known, a, words, at, width)
            if place < 0:
                stack[0] = a + 1
                return 0
            top += 1
            stack[top] = known[2][place]
        else:
            top -= 1
            x, y = stack[top], stack[top + 1]
            if kind == ADD:
                stack[top] = x + y
            elif kind == SUBTRACT:
                stack[top] = x - y
            elif kind == MULTIPLY:
                stack[top] = x * y
            elif kind == EQUAL:
                stack[top] = 1 if x == y else 0
            elif kind == UNEQUAL:
                stack[top] = 1 if x != y else 0
            elif kind == LESS:
                stack[top] = 1 if x < y else 0
            elif kind == MORE:
                stack[top] = 1 if x > y else 0
            elif kind == NO_MORE:
                stack[top] = 1 if x <= y else 0
            elif kind == NO_LESS:
                stack[top] = 1 if x >= y else 0
            elif kind == LEAST:
                stack[top] = x if x < y else y
            elif kind == LARGEST:
                stack[top] = x if x > y else y
            else:
                stack[top] = x % y
    return stack[top]


def mixed(number: int, word: int) -> int:
    """Return a hash value with one more word in it; all are integers from 0 below 2**62."""
    number ^= word
    number = ((number & HALF) * FACTOR + (number >> 31) * OTHER_FACTOR) & WHOLE
    number ^= number >> 29
    return number


def place_of_value(known: Any, number: int, words: Any, at: int, width: int) -> int:
    """Return the place of a value that is looked up in a state, or -1."""
    table, keys, _, masks = known[0], known[1], known[2], known[3]
    size = len(table) - 1
    h = number
    for w in range(width):
        h = mixed_jit(h, words[at + w] & masks[number * width + w])
    h &= size
    while table[h] >= 0:
        begin = table[h] * (width + 1)
        is_same = keys[begin] == number
        for w in range(width):
            if keys[begin + 1 + w] != words[at + w] & masks[number * width + w]:
                is_same = False
        if is_same:
            return table[h]
        h = (h + 1) & size
    return -1


def pair_of(known: Any, first: int, second: int, operation: int) -> int:
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
    table, keys, values = known[4], known[5], known[6]
    size = len(table) - 1
    h = mixed_jit(mixed_jit(operation, first), second) & size
    while table[h] >= 0:
        begin = 3 * table[h]
        if keys[begin] == operation and keys[begin + 1] == first and keys[begin + 2] == second:
            return values[table[h]]
        h = (h + 1) & size
    return -1


def unpack(space: Any, words: Any, at: int, values: Any) -> None:
    """Write the values of the variables in a state."""
    low, _, word, shift, mask = space
    for i in range(len(low)):
        values[i] = ((words[at + word[i]] >> shift[i]) & mask[i]) + low[i]


def pack(space: Any, values: Any, key: Any) -> None:
    """Write the words of a state."""
    low, _, word, shift, _ = space
    for w in range(len(key)):
        key[w] = 0
    for i in range(len(low)):
        key[word[i]] |= (values[i] - low[i]) << shift[i]


def number_of_state(states: Any, key: Any, count: int) -> int:
    """Return the number of a state, entering it with the number `count` if it is new."""
    words, table, last = states
    size, width = len(table) - 1, len(key)
    h = 0
    for w in range(width):
        h = mixed_jit(h, key[w])
    h &= size
    while table[h] >= 0:
        begin = table[h] * width
        is_same = True
        for w in range(width):
            if words[begin + w] != key[w]:
                is_same = False
                break
        if is_same:
            return table[h]
        h = (h + 1) & size
    table[h] = count
    for w in range(width):
        words[count * width + w] = key[w]
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


def add_outcomes(
    code: Any,
    space: Any,
    program: Any,
    known: Any,
    states: Any,
    rows: Any,
    work: Any,
    counters: Any,
    parts: int,
    total: int,
    begin: int,
) -> int:
    """Add the transitions of a choice, made of a command of each part; return a status."""
    branch_offsets, numbers, formulas, earned = program[2], program[3], program[4], program[5]
    assigned, variables, assignments = program[6], program[7], program[8]
    words, last = states[0], states[2]
    rewards, successors, probabilities = rows[3], rows[5], rows[6]
    values, after, stack, key, _, picked, chosen, _, _ = work
    width, branches = len(key), len(numbers)
    structures = len(earned) // branches
    at, choice = counters[NEXT] * width, counters[CHOICES]
    for q in range(structures):
        rewards[choice * structures + q] = ZERO
    for combination in range(total):
        rest, probability = combination, ONE
        for k in range(parts - 1, -1, -1):
            many = branch_offsets[picked[k] + 1] - branch_offsets[picked[k]]
            chosen[k] = branch_offsets[picked[k]] + rest % many
            rest //= many
        for k in range(parts):
            factor = numbers[chosen[k]]
            if factor < 0:
                factor = value_of_jit(
                    code, known, formulas[chosen[k]], values, words, at, width, stack
                )
                if stack[0] != 0:
                    return UNKNOWN_VALUE
            product = pair_of_jit(known, probability, factor, PRODUCT)
            if product < 0:
                counters[FIRST], counters[SECOND] = probability, factor
                counters[OPERATION] = PRODUCT
                return UNKNOWN_PAIR
            probability = product
        if probability == ZERO:
            continue
        for q in range(structures):
            for k in range(parts):
                expression = earned[q * branches + chosen[k]]
                if expression < 0:
                    continue
                reward = value_of_jit(code, known, expression, values, words, at, width, stack)
                if stack[0] != 0:
                    return UNKNOWN_VALUE
                product = pair_of_jit(known, probability, reward, PRODUCT)
                if product < 0:
                    counters[FIRST], counters[SECOND] = probability, reward
                    counters[OPERATION] = PRODUCT
                    return UNKNOWN_PAIR
                before = rewards[choice * structures + q]
                total_reward = pair_of_jit(known, before, product, SUM)
                if total_reward < 0:
                    counters[FIRST], counters[SECOND] = before, product
                    counters[OPERATION] = SUM
                    return UNKNOWN_PAIR
                rewards[choice * structures + q] = total_reward
        for i in range(len(values)):
            after[i] = values[i]
        for k in range(parts):
            for x in range(assigned[chosen[k]], assigned[chosen[k] + 1]):
                new = value_of_jit(code, known, assignments[x], values, words, at, width, stack)
                if stack[0] != 0:
                    return UNKNOWN_VALUE
                variable = variables[x]
                if new < space[0][variable] or new > space[1][variable]:
                    counters[FIRST], counters[SECOND] = x, new
                    return BEYOND
                after[variable] = new
        pack_jit(space, after, key)
        found = counters[STATES]
        s = number_of_state_jit(states, key, found)
        if s == found:
            counters[STATES] = found + 1
        transition = last[s]
        if transition >= begin:
            total_probability = pair_of_jit(known, probabilities[transition], probability, SUM)
            if total_probability < 0:
                counters[FIRST], counters[SECOND] = probabilities[transition], probability
                counters[OPERATION] = SUM
                return UNKNOWN_PAIR
            probabilities[transition] = total_probability
        else:
            transition = counters[TRANSITIONS]
            successors[transition], probabilities[transition] = s, probability
            last[s] = transition
            counters[TRANSITIONS] = transition + 1
    return DONE


def add_choice(
    code: Any,
    space: Any,
    program: Any,
    known: Any,
    states: Any,
    rows: Any,
    work: Any,
    counters: Any,
    parts: int,
    synchronisation: int,
    is_chain: bool,
    begin: int,
) -> int:
    """Add a choice made of the picked commands; return a status."""
    branch_offsets, picked = program[2], work[5]
    transition_offsets = rows[4]
    total = 1
    for k in range(parts):
        total *= branch_offsets[picked[k] + 1] - branch_offsets[picked[k]]
        if total > HALF:
            counters[NEEDED] = total
            return FULL
    choice, width = counters[CHOICES], len(work[3])
    if (
        choice + 2 > len(rows[1])
        or counters[TRANSITIONS] + total + 1 > len(rows[5])
        or (counters[STATES] + total + 1) * width > len(states[0])
        or 2 * (counters[STATES] + total) > len(states[1])
    ):
        counters[NEEDED] = total
        return FULL
    if not is_chain:
        begin = counters[TRANSITIONS]
    status = add_outcomes_jit(
        code, space, program, known, states, rows, work, counters, parts, total, begin
    )
    if status != DONE:
        return status
    rows[1][choice] = synchronisation
    rows[2][choice] = picked[0]
    counters[CHOICES] = choice + 1
    transition_offsets[choice + 1] = counters[TRANSITIONS]
    return DONE


def add_state(
    code: Any,
    space: Any,
    program: Any,
    known: Any,
    states: Any,
    rows: Any,
    work: Any,
    counters: Any,
    is_chain: bool,
) -> int:
    """Add the choices of the next state; return a status."""
    guards, alone = program[0], program[1]
    part_offsets, command_offsets, commands = program[9], program[10], program[11]
    words = states[0]
    values, _, stack, key, is_enabled, picked, _, enabled, counts = work
    state, width, begin = counters[NEXT], len(key), counters[TRANSITIONS]
    first_choice = counters[CHOICES]
    at, room = state * width, len(enabled) // len(picked)
    unpack_jit(space, words, at, values)
    for c in range(len(guards)):
        is_enabled[c] = value_of_jit(code, known, guards[c], values, words, at, width, stack)
        if stack[0] != 0:
            return UNKNOWN_VALUE
    for c in alone:
        if is_enabled[c] != 0:
            picked[0] = c
            status = add_choice_jit(
                code, space, program, known, states, rows, work, counters, 1, -1, is_chain, begin
            )
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
            status = add_choice_jit(
                code, space, program, known, states, rows, work, counters, parts, u, is_chain, begin
            )
            if status != DONE:
                return status
    many = counters[CHOICES] - first_choice
    if many == 0:  # a deadlock leads to itself
        choice, transition = first_choice, begin
        if choice + 2 > len(rows[1]) or transition + 2 > len(rows[5]):
            counters[NEEDED] = 1
            return FULL
        rows[1][choice], rows[2][choice] = -1, -1
        for q in range(len(program[5]) // len(program[3])):
            rows[3][choice * (len(program[5]) // len(program[3])) + q] = ZERO
        rows[5][transition], rows[6][transition] = state, ONE
        counters[CHOICES], counters[TRANSITIONS] = choice + 1, transition + 1
        rows[4][choice + 1] = transition + 1
    elif is_chain and many > 1:
        share = pair_of_jit(known, many, 0, INVERSE)
        if share < 0:
            counters[FIRST], counters[SECOND], counters[OPERATION] = many, 0, INVERSE
            return UNKNOWN_PAIR
        for t in range(begin, counters[TRANSITIONS]):
            part = pair_of_jit(known, rows[6][t], share, PRODUCT)
            if part < 0:
                counters[FIRST], counters[SECOND] = rows[6][t], share
                counters[OPERATION] = PRODUCT
                return UNKNOWN_PAIR
            rows[6][t] = part
    counters[NEXT] = state + 1
    rows[0][state + 1] = counters[CHOICES]
    return DONE


def explore(
    code: Any,
    space: Any,
    program: Any,
    known: Any,
    states: Any,
    rows: Any,
    work: Any,
    counters: Any,
    is_chain: bool,
    most: int,
) -> int:
    """Explore states until `most` of work is done, or something is missing; return a status.

    A state that is not finished has no trace in `rows`, and is begun again.
    """
    last, spent, stack = states[2], 0, work[2]
    while counters[NEXT] < counters[STATES]:
        if spent > most:
            return MORE_TO_DO
        if counters[NEXT] + 4 > len(rows[0]):
            counters[NEEDED] = 1
            return FULL
        choices, transitions = counters[CHOICES], counters[TRANSITIONS]
        status = add_state_jit(code, space, program, known, states, rows, work, counters, is_chain)
        if status != DONE:
            for t in range(transitions, counters[TRANSITIONS]):
                last[rows[5][t]] = -1
            # What has been written of the state is forgotten, but needs its room again.
            counters[NEEDED] += counters[CHOICES] - choices + counters[TRANSITIONS] - transitions
            counters[CHOICES], counters[TRANSITIONS] = choices, transitions
            if status == UNKNOWN_VALUE:
                counters[FIRST] = stack[0] - 1
                stack[0] = 0
            return status
        spent += len(program[0]) + counters[TRANSITIONS] - transitions
    return DONE


def evaluate(
    code: Any,
    space: Any,
    known: Any,
    words: Any,
    work: Any,
    counters: Any,
    number: int,
    end: int,
    found: Any,
) -> int:
    """Write the values of an expression in the states from ``counters[NEXT]`` to `end`."""
    values, stack, width = work[0], work[2], len(work[3])
    while counters[NEXT] < end:
        state = counters[NEXT]
        unpack_jit(space, words, state * width, values)
        found[state] = value_of_jit(code, known, number, values, words, state * width, width, stack)
        if stack[0] != 0:
            counters[FIRST] = stack[0] - 1
            stack[0] = 0
            return UNKNOWN_VALUE
        counters[NEXT] = state + 1
    return DONE


def seek_starts(
    code: Any,
    space: Any,
    known: Any,
    states: Any,
    work: Any,
    counters: Any,
    number: int,
    low: Any,
    high: Any,
    most: int,
) -> int:
    """Enter states in which an expression holds, of all from the one in `work` on.

    The last variable changes fastest, each from `low` to `high`.
    """
    values, _, stack, key, _, _, _, _, _ = work
    for _ in range(most):
        if (counters[STATES] + 2) * len(key) > len(states[0]) or 2 * (counters[STATES] + 1) > len(
            states[1]
        ):
            counters[NEEDED] = 1
            return FULL
        pack_jit(space, values, key)
        holds = value_of_jit(code, known, number, values, key, 0, len(key), stack)
        if stack[0] != 0:
            counters[FIRST] = stack[0] - 1
            stack[0] = 0
            return UNKNOWN_VALUE
        if holds != 0:
            found = counters[STATES]
            if number_of_state_jit(states, key, found) == found:
                counters[STATES] = found + 1
        i = len(low) - 1
        while i >= 0 and values[i] == high[i]:
            values[i] = low[i]
            i -= 1
        if i < 0:
            return DONE
        values[i] += 1
    return MORE_TO_DO


mixed_jit = compiled(mixed)
place_of_value_jit = compiled(place_of_value)
pair_of_jit = compiled(pair_of)
value_of_jit = compiled(value_of)
unpack_jit = compiled(unpack)
pack_jit = compiled(pack)
number_of_state_jit = compiled(number_of_state)
index_states_jit = compiled(index_states)
add_outcomes_jit = compiled(add_outcomes)
add_choice_jit = compiled(add_choice)
add_state_jit = compiled(add_state)
explore_jit = compiled(explore)
evaluate_jit = compiled(evaluate)
seek_starts_jit = compiled(seek_starts)
