"""Targets in graphs without cycles: values as a depth-first search leaves states behind.

The arrays are described in :mod:`gamedp.bellman.equation`. A state that leads to itself alone is
no cycle here: play stays there for ever, and misses the target.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.runtime.floats import TINY, UNIT, UPWARD
from gamedp.runtime.jit import compiled, inlined

if TYPE_CHECKING:
    import numpy.typing as npt

    from gamedp.bellman.equation import Equation

    Integers = npt.NDArray[np.signedinteger[Any]]
    Floats = npt.NDArray[np.float64]

UNSEEN, OPEN, DONE, MISSED, SURE = 0, 1, 2, 3, 4
"""States of the search; those that are done with may have a value that the graph tells."""

MORE, ALL, CYCLE = 0, 1, 2
"""Why a search stops: there is more to do, all is done, a state can come again."""

NONE = -1
ONE = np.uintp(1)
START, DEPTH = 0, 1


def never_leaves(state: int, equation: Equation) -> bool:
    """Say whether a state leads to itself alone."""
    graph = equation.graph
    first = graph.transition_offsets[graph.choice_offsets[state]]
    last = graph.transition_offsets[graph.choice_offsets[state + 1]]
    for t in range(first, last):
        if graph.successors[t] != state:
            return False
    return True


never_leaves_jit = compiled(never_leaves)


def leave(
    state: int,
    equation: Equation,
    probable: bool,
    status: Integers,
    values: Floats,
    errors: Floats,
    policy: Integers,
) -> None:
    """Give a state its value, once its successors have theirs.

    A probability is 0 if the target is surely missed, and 1 if it is surely reached. A total is
    infinite if the target may be missed. Errors are those of
    :func:`gamedp.bellman.residuals.rounded`.
    """
    graph = equation.graph
    # If it leads to itself alone, that is what it comes to.
    status[state] = MISSED
    values[state] = 0.0 if probable else np.inf
    sign = 1.0 if equation.maximise[state] else -1.0
    first = graph.choice_offsets[state]
    last = graph.choice_offsets[np.uintp(state) + ONE]
    best = -np.inf
    best_choice = first
    error = 0.0
    missing = reaching = NONE
    num_missing = num_reaching = 0
    next_t = np.uintp(graph.transition_offsets[first])
    for choice in range(first, last):
        first_t = next_t
        next_t = np.uintp(graph.transition_offsets[choice + 1])
        total = size = slack = 0.0
        not_missed = not_sure = 0
        for t in range(first_t, next_t):
            target = np.uintp(graph.successors[t])
            probability = equation.probabilities[t]
            term = probability * values[target]
            total += term
            size += abs(term)
            slack += probability * errors[target]
            not_missed += status[target] != MISSED
            not_sure += status[target] != SURE
        if not probable and not_missed < int(next_t - first_t):
            # Infinite: nothing to reckon with.
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
        if not_missed == 0:
            num_missing += 1
            missing = choice if missing == NONE else missing
        if not_sure == 0:
            num_reaching += 1
            reaching = choice if reaching == NONE else reaching
        result = sign * value
        if result > best:
            best = result
            best_choice = choice
        # Against the best so far: against the best of all, it is not more.
        if (result - best) + slack > error:
            error = (result - best) + slack
    # To miss the target is the worst for who maximises a probability, the best for a total.
    seeks = equation.maximise[state] == probable
    if num_missing == last - first or (num_missing > 0 and not seeks):
        policy[state] = missing
    elif probable and (num_reaching == last - first or (num_reaching > 0 and seeks)):
        status[state] = SURE
        values[state] = 1.0
        policy[state] = reaching
    else:
        status[state] = DONE
        values[state] = sign * best
        errors[state] = error * UPWARD
        policy[state] = best_choice


leave_jit = inlined(leave)


def search(
    budget: int,
    equation: Equation,
    probable: bool,
    cursor: Integers,
    stack: Integers,
    next_transition: Integers,
    status: Integers,
    values: Floats,
    errors: Floats,
    policy: Integers,
) -> int:
    """Go through a graph depth first, and solve what is left behind, until a state comes again.

    Parameters
    ----------
    budget : int
        How many transitions to look at, about.
    equation : Equation
        Without order and places; the constants are zeros for a probability.
    probable : bool
        Whether a probability is asked for, and not a total.
    cursor : (2,) int64
        Where the search is; zeros at first.
    stack, next_transition : (S,), (S,)
        Scratch that is kept between calls.
    status : (S,) int8
        UNSEEN at first; DONE, MISSED or SURE where the search ends, with the value there.
    values, errors, policy : (S,)
        Filled.

    Returns
    -------
    int
        MORE, ALL or CYCLE.
    """
    graph = equation.graph
    depth = cursor[DEPTH]
    start = cursor[START]
    left = budget
    while left > 0:
        if depth == 0:
            while start < len(status) and status[start] != UNSEEN:
                start += 1
            if start == len(status):
                cursor[START] = start
                return ALL
            stack[0] = start
            next_transition[0] = graph.transition_offsets[graph.choice_offsets[start]]
            status[start] = OPEN
            depth = 1
        top = np.uintp(depth - 1)
        state = np.uintp(stack[top])
        t = np.uintp(next_transition[top])
        last = np.uintp(graph.transition_offsets[graph.choice_offsets[state + ONE]])
        left -= 1 + int(last - t)
        successor = state
        while t < last:
            successor = np.uintp(graph.successors[t])
            t += ONE
            if status[successor] == UNSEEN:
                break
            if status[successor] == OPEN and not (
                successor == state and never_leaves_jit(state, equation)
            ):
                return CYCLE
        if status[successor] == UNSEEN:
            next_transition[top] = t
            stack[top + ONE] = successor
            next_transition[top + ONE] = graph.transition_offsets[graph.choice_offsets[successor]]
            status[successor] = OPEN
            depth += 1
        else:
            leave_jit(state, equation, probable, status, values, errors, policy)
            depth -= 1
    cursor[DEPTH] = depth
    cursor[START] = start
    return MORE


search_jit = compiled(search)
