"""Problems with targets: a depth-first search solves, or orders, the components it leaves.

The arrays are described in :mod:`gamedp.bellman.equation`. The search is Tarjan's [1]_ in Pearce's
form [2]_, as in :mod:`gamedp.graph.graph`, except for targets and ends, which lead nowhere. It
leaves a component once all components that this leads to are left. Then

- what surely reaches or misses the target has its value;
- a state that cannot recur, and depends on nothing that is deferred, gets its value;
- all else is deferred until its components are solved, in the order in which they were left.

A deferred component has no end component: play leaves it almost surely, whatever the players
do. Bellman's equation therefore has a unique solution there, and all policies are proper. If there
is an end component, or a total that one player alone can make infinite, the search gives up.

Before the search, another one finds whether play surely leaves a component, and from where it
surely reaches or misses a target.

References
----------
.. [1] R. Tarjan, "Depth-first search and linear graph algorithms", SIAM Journal on Computing 1
   (1972).
.. [2] D. Pearce, "A space-efficient algorithm for finding strongly connected components",
   Information Processing Letters 116 (2016).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gamedp.runtime.floats import TINY, UNIT, UPWARD
from gamedp.runtime.jit import compiled, inlined

if TYPE_CHECKING:
    from gamedp.bellman.equation import Equation
    from gamedp.runtime.arrays import Flags, Floats, Integers, Naturals


UNSEEN, STAYS, SURE, MISSED, DONE, LATER, OPEN = 0, 1, 2, 4, 8, 16, 32
"""The knowledge about a state, one bit each.

`SURE` surely reaches the target; `MISSED` misses it, surely or, for a total, with
positive probability; `DONE` has its value; `LATER` is deferred; `OPEN` is not left yet. When a
component is left, its states have those of the first bits that are not disproved.
"""

ONE = np.uintp(1)


def list_entries(
    start: int,
    stop: int,
    equation: Equation,
    order: Integers,
    numbers: Integers,
    status: Integers,
    offsets: Integers,
    choices: Integers,
) -> None:
    """List for each state of a component the choices of the component that may lead to it.

    Parameters
    ----------
    numbers : (S,)
        The number of each state of the component in it.
    offsets : (size + 1,)
        Filled: the start of the list of each state.
    choices : (T,)
        Filled from the start: the choices, by their numbers in the component.
    """
    graph = equation.graph
    offsets[:] = 0
    for fill in range(2):
        choice = 0
        for place in range(start, stop):
            state = np.uintp(order[place])
            for row in range(graph.choice_offsets[state], graph.choice_offsets[state + ONE]):
                for t in range(graph.transition_offsets[row], graph.transition_offsets[row + 1]):
                    successor = np.uintp(graph.successors[t])
                    if status[successor] & OPEN:
                        entry = np.uintp(numbers[successor])
                        if fill:
                            offsets[entry] -= 1
                            choices[np.uintp(offsets[entry])] = choice
                        else:
                            offsets[entry] += 1
                choice += 1
        if not fill:
            for number in range(1, len(offsets)):
                offsets[number] += offsets[number - 1]


list_entries_jit = compiled(list_entries)


def doubt(
    start: int,
    stop: int,
    equation: Equation,
    probable: bool,
    may: int,
    num_choices: int,
    num_transitions: int,
    order: Integers,
    numbers: Integers,
    status: Integers,
    policy: Integers,
) -> bool:
    """Find where play in a component can stay for ever, or surely reaches or misses a target.

    Each is the greatest fixed point of what the player to move can bring about, or cannot avoid:
    all states for which it is disproved are dropped. If play can stay for ever nowhere, it surely
    leaves the component; a player who keeps to states that lead only to sure ones therefore surely
    reaches the target.

    Parameters
    ----------
    may : int
        Those of `SURE` and `MISSED` that are possible at all.
    num_choices, num_transitions : int
        Their number in the component.
    numbers : (S,)
        Scratch.

    Returns
    -------
    bool
        Whether play surely leaves the component. If not, nothing else is determined.
    """
    graph = equation.graph
    size = stop - start
    for number in range(size):
        numbers[order[start + number]] = number
        status[order[start + number]] = OPEN | STAYS | may
    dead = np.empty(num_choices, np.bool_)
    owners = np.empty(num_choices, order.dtype)
    alive = np.empty(size, np.int64)
    queue = np.empty(size, order.dtype)
    entries, choices = np.empty(0, np.int64), np.empty(0, np.int64)
    for which in range(3):
        bit = 1 << which
        if not bit & (STAYS | may):
            continue
        head = tail = choice = 0
        # Many are dropped as they are visited: most states come after their successors.
        for number in range(size):
            state = np.uintp(order[start + number])
            seeks = SURE if equation.maximise[state] == probable else MISSED
            first, last = graph.choice_offsets[state], graph.choice_offsets[state + ONE]
            kept = 0
            for row in range(np.uintp(first), np.uintp(last)):
                lasts = True
                first_t = np.uintp(graph.transition_offsets[row])
                for t in range(first_t, np.uintp(graph.transition_offsets[row + ONE])):
                    if not status[np.uintp(graph.successors[t])] & bit:
                        lasts = False
                        break
                dead[choice] = not lasts
                owners[choice] = number
                kept += lasts
                choice += 1
            # How many more may be lost: none for a player who does not aim for this.
            alive[number] = kept if bit in (STAYS, seeks) else 1 if kept == last - first else 0
            if alive[number] == 0:
                status[state] &= ~bit
                queue[tail] = number
                tail += 1
        if head < tail < size and len(entries) == 0:
            entries, choices = np.empty(size + 1, np.int64), np.empty(num_transitions, np.int64)
            list_entries_jit(start, stop, equation, order, numbers, status, entries, choices)
        while head < tail < size:
            entry = np.uintp(queue[head])
            head += 1
            for place in range(entries[entry], entries[entry + ONE]):
                choice = choices[np.uintp(place)]
                if dead[choice]:
                    continue
                dead[choice] = True
                number = owners[choice]
                alive[number] -= 1
                if alive[number] == 0:
                    status[order[start + number]] &= ~bit
                    queue[tail] = number
                    tail += 1
        if bit == STAYS and tail < size:
            return False
        choice = 0
        for number in range(size):
            state = np.uintp(order[start + number])
            seeks = SURE if equation.maximise[state] == probable else MISSED
            first, last = graph.choice_offsets[state], graph.choice_offsets[state + ONE]
            if status[state] & bit & seeks:
                while dead[choice + policy[state] - first]:
                    policy[state] += 1
            choice += last - first
    return True


doubt_jit = compiled(doubt)


MORE, ALL, GIVEN_UP = 0, 1, 2
"""Reasons why a search stops."""

NONE = -1
START, DEPTH, WAITING, SEEN, COMPONENTS, LEVELS = range(6)
"""Positions in the cursor of a search: its first state, the length of its path, where states wait
whose component is open, the states it has seen, the components it has deferred, and the largest
number of those with cycles on any way."""
CURSOR = 6


def leave(
    state: int,
    equation: Equation,
    probable: bool,
    status: Integers,
    values: Floats,
    errors: Floats,
    policy: Integers,
) -> int:
    """Give a state its value once its successors have theirs; return the knowledge about it.

    A probability is 0 if the target is surely missed, and 1 if it is surely reached. A total is
    infinite if the target may be missed. Errors are those of
    :func:`gamedp.bellman.residuals.rounded`.

    Returns
    -------
    int
        `OPEN` if the state may follow itself, `UNSEEN` if it is not for this search.
    """
    graph = equation.graph
    sign = 1.0 if equation.maximise[state] else -1.0
    first = graph.choice_offsets[state]
    last = graph.choice_offsets[np.uintp(state) + ONE]
    best = -np.inf
    best_choice = first
    error = 0.0
    missing = reaching = NONE
    num_missing = num_reaching = 0
    seen = 0
    next_t = np.uintp(graph.transition_offsets[first])
    for choice in range(first, last):
        first_t = next_t
        next_t = np.uintp(graph.transition_offsets[choice + 1])
        total = size = slack = 0.0
        some, every = 0, SURE | MISSED
        for t in range(first_t, next_t):
            target = np.uintp(graph.successors[t])
            probability = equation.probabilities[t]
            term = probability * values[target]
            total += term
            size += abs(term)
            slack += probability * errors[target]
            some |= status[target]
            every &= status[target]
        seen |= some
        if not probable and some & MISSED:
            # Infinite: no error to account for.
            num_missing += 1
            missing = choice if missing == NONE else missing
            continue
        constant = equation.constants[choice]
        value = constant + total
        if next_t - first_t == ONE and equation.probabilities[first_t] == 1.0:
            part = value - constant
            slack = (slack + abs((constant - (value - part)) + (total - part))) * UPWARD
        else:
            count = int(next_t - first_t) + 8
            size += abs(constant)
            slack = (slack + count * UNIT * (size + slack)) * UPWARD + count * TINY
        if every & MISSED:
            num_missing += 1
            missing = choice if missing == NONE else missing
        if every & SURE:
            num_reaching += 1
            reaching = choice if reaching == NONE else reaching
        result = sign * value
        if result > best:
            best = result
            best_choice = choice
        # Against the best so far: against the best of all, it is not more.
        if (result - best) + slack > error:
            error = (result - best) + slack
    if seen & OPEN:
        return OPEN
    # Missing the target is worst for a player who maximises a probability, and best for a total.
    seeks = equation.maximise[state] == probable
    if num_missing == last - first or (num_missing > 0 and not seeks):
        values[state] = 0.0 if probable else np.inf
        policy[state] = missing
        return MISSED
    if num_reaching == last - first or (num_reaching > 0 and seeks):
        values[state] = 1.0
        policy[state] = reaching
        return SURE
    if seen & LATER:
        # A choice that must not be taken, as its total is infinite: others can leave that out.
        return LATER if probable or num_missing == 0 else UNSEEN
    values[state] = sign * best
    errors[state] = error * UPWARD
    policy[state] = best_choice
    return DONE


leave_jit = inlined(leave)


def part(
    start: int,
    stop: int,
    equation: Equation,
    probable: bool,
    order: Integers,
    numbers: Integers,
    status: Integers,
    values: Floats,
    policy: Integers,
) -> int:
    """Set the values in a cyclic component that the graph determines; keep the other states.

    Parameters
    ----------
    order : (S,)
        The component is ``order[start:stop]``. The deferred states are moved to its front.
    numbers : (S,)
        Scratch.

    Returns
    -------
    int
        The end of those; `NONE` if the component is not for this search.
    """
    graph = equation.graph
    exits = num_choices = num_transitions = 0
    for place in range(start, stop):
        state = np.uintp(order[place])
        first, last = graph.choice_offsets[state], graph.choice_offsets[state + ONE]
        num_choices += last - first
        for t in range(graph.transition_offsets[first], graph.transition_offsets[last]):
            exits |= status[np.uintp(graph.successors[t])]
            num_transitions += status[np.uintp(graph.successors[t])] == OPEN
    exits &= ~OPEN
    free = num_choices > stop - start
    # A player who surely misses the target need not be sure to leave.
    told = SURE if exits == SURE else LATER
    if exits & ~MISSED == 0 or (exits & MISSED and not probable and not free):
        told = MISSED
    elif free:
        if exits & MISSED and not probable:
            return NONE
        may = 0 if told == SURE else exits & (SURE | MISSED)
        sizes = num_choices, num_transitions
        if not doubt_jit(
            start, stop, equation, probable, may, *sizes, order, numbers, status, policy
        ):
            return NONE
    kept = start
    for place in range(start, stop):
        state = np.uintp(order[place])
        known = (told | status[state]) & (SURE | MISSED)
        if known == 0:
            status[state] = LATER
            order[kept] = state
            kept += 1
        else:
            status[state] = known
            values[state] = 1.0 if known == SURE else 0.0 if probable else np.inf
    return kept


part_jit = inlined(part)


def search(
    budget: int,
    equation: Equation,
    probable: bool,
    cursor: Integers,
    stack: Integers,
    next_transition: Integers,
    is_root: Flags,
    ranks: Integers,
    levels: Integers,
    status: Integers,
    values: Floats,
    errors: Floats,
    policy: Integers,
    order: Integers,
    place: Naturals,
    component_offsets: Integers,
    nontrivial: Flags,
) -> int:
    """Search a graph depth first: solve what can be solved directly, and order the rest.

    Parameters
    ----------
    budget : int
        Approximate number of transitions to visit.
    equation : Equation
        Without order and places; the constants are zeros for a probability.
    probable : bool
        Whether a probability is computed, and not a total.
    cursor : (CURSOR,) int64
        The position of the search; `WAITING` is S at first, all else 0.
    stack, next_transition, is_root, ranks : (S,)
        Scratch that is kept between calls, as in :mod:`gamedp.graph.graph`: the order of
        discovery falls to the lowest rank in reach.
    levels : (S,)
        Filled, zeros at first: the largest number of deferred components with cycles on any way
        from a state.
    status : (S,) int8
        `UNSEEN` at first; `DONE`, `MISSED` or `SURE` where the search ends, with the value there.
    values, errors, policy : (S,)
        Filled except for deferred states; the policy is the first choice of each state at first.
    order, place : (S,)
        Filled: the deferred states, successors first, and the position of each.
    component_offsets, nontrivial : (S + 1,), (S,)
        Filled as far as there are deferred components; the first offset is 0 at first. What
        remains of a component where some values are known stays together as one.

    Returns
    -------
    int
        `MORE`, `ALL` or `GIVEN_UP`.
    """
    graph = equation.graph
    num_states = len(status)
    start, depth, waiting = cursor[START], cursor[DEPTH], cursor[WAITING]
    seen, number = cursor[SEEN], cursor[COMPONENTS]
    left = budget
    while left > 0:
        # Advance: a new root, or the next transition of the deepest state that leads to an unseen
        # one; all passed on the way may lower its rank.
        if depth == 0:
            while start < num_states and status[start] != UNSEEN:
                start += 1
            if start == num_states:
                break
            successor = np.uintp(start)
            t = last = np.uintp(0)
        else:
            top = np.uintp(depth - 1)
            state = np.uintp(stack[top])
            t = first_t = np.uintp(next_transition[top])
            last = np.uintp(graph.transition_offsets[graph.choice_offsets[state + ONE]])
            lowest = ranks[state]
            successor = state
            while t < last:
                successor = np.uintp(graph.successors[t])
                if status[successor] == UNSEEN:
                    break
                if status[successor] == OPEN and ranks[successor] < lowest:
                    lowest = ranks[successor]
                t += ONE
            left -= 1 + int(t - first_t)
            if lowest < ranks[state]:
                ranks[state] = lowest
                is_root[top] = False
            # Visited again on the way back, the transition shows how low its successor reaches.
            next_transition[top] = t
        # Enter: the unseen state goes deeper.
        if depth == 0 or t < last:
            stack[depth] = successor
            next_transition[depth] = graph.transition_offsets[graph.choice_offsets[successor]]
            is_root[depth] = True
            status[successor] = OPEN
            ranks[successor] = seen
            seen += 1
            depth += 1
            continue
        # Leave: a state that is not a root waits until the root of its component is left.
        depth -= 1
        if not is_root[top]:
            waiting -= 1
            stack[waiting] = state
            continue
        # Leave a root: one state alone may be solved immediately; of a larger component, the states
        # without a known value are deferred.
        first = stop = int(component_offsets[number])
        found = OPEN
        if waiting == num_states or ranks[stack[waiting]] < lowest:
            found = leave_jit(state, equation, probable, status, values, errors, policy)
            status[state] = found
        if found == UNSEEN:
            return GIVEN_UP
        if found == LATER:
            order[first] = state
            stop = first + 1
        elif found == OPEN:
            after = waiting
            while after < num_states and ranks[stack[after]] >= lowest:
                after += 1
            for position in range(waiting, after):
                order[first + after - 1 - position] = stack[position]
            order[first + after - waiting] = state
            stop = part_jit(
                first,
                first + after - waiting + 1,
                equation,
                probable,
                order,
                ranks,
                status,
                values,
                policy,
            )
            waiting = after
            if stop == NONE:
                return GIVEN_UP
        if stop == first:
            continue
        # Defer: the places and the level of the states that are left.
        level = 0
        for position in range(first, stop):
            state = np.uintp(order[position])
            place[state] = position
            t = np.uintp(graph.transition_offsets[graph.choice_offsets[state]])
            last = np.uintp(graph.transition_offsets[graph.choice_offsets[state + ONE]])
            while t < last:
                level = max(level, levels[np.uintp(graph.successors[t])])
                t += ONE
        level += found == OPEN
        for position in range(first, stop):
            levels[order[position]] = level
        cursor[LEVELS] = max(cursor[LEVELS], level)
        nontrivial[number] = found == OPEN
        number += 1
        component_offsets[number] = stop
    cursor[START], cursor[DEPTH], cursor[WAITING] = start, depth, waiting
    cursor[SEEN], cursor[COMPONENTS] = seen, number
    return ALL if start == num_states and depth == 0 else MORE


search_jit = compiled(search)
