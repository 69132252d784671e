"""Targets in graphs without cycles: values as a depth-first search leaves states behind.

What the arrays mean is said in :mod:`gamedp.kernels.bellman`. A state that leads to itself alone is
no cycle here: play stays there for ever, and misses the target.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.kernels.bellman import backup_jit
from gamedp.kernels.jit import compiled, inlined
from gamedp.kernels.proofs import settle_jit

if TYPE_CHECKING:
    import numpy.typing as npt

    from gamedp.kernels.bellman import Rows

    Integers = npt.NDArray[np.signedinteger[Any]]
    Floats = npt.NDArray[np.float64]

UNSEEN, OPEN, DONE, MISSED, SURE = 0, 1, 2, 3, 4
"""States of the search; those that are done with may have a value that the graph tells."""

MORE, ALL, CYCLE = 0, 1, 2
"""Why a search stops: there is more to do, all is done, a state can come again."""

NONE = -1
START, DEPTH = 0, 1


def never_leaves(state: int, rows: Rows) -> bool:
    """Say whether a state leads to itself alone."""
    first = rows.transition_offsets[rows.choice_offsets[state]]
    last = rows.transition_offsets[rows.choice_offsets[state + 1]]
    for t in range(first, last):
        if rows.successors[t] != state:
            return False
    return True


never_leaves_jit = compiled(never_leaves)


def told(state: int, rows: Rows, probable: bool, status: Integers) -> tuple[int, int]:
    """Say what the graph tells of a state whose successors are done, and by which choice.

    A probability is 0 if the target is surely missed, and 1 if it is surely reached. A total is
    infinite if the target may be missed.

    Returns
    -------
    status, choice : int
        DONE if it tells nothing; NONE if any choice will do.
    """
    any_missed = any_sure = NONE
    all_missed = all_sure = True
    for choice in range(rows.choice_offsets[state], rows.choice_offsets[state + 1]):
        first = rows.transition_offsets[choice]
        last = rows.transition_offsets[choice + 1]
        missed = sure = 0
        for t in range(first, last):
            its_status = status[rows.successors[t]]
            missed += its_status == MISSED
            sure += its_status == SURE
        if sure < last - first:
            all_sure = False
        elif any_sure == NONE:
            any_sure = choice
        if missed < (last - first if probable else 1):
            all_missed = False
        elif any_missed == NONE:
            any_missed = choice
    # To miss the target is the worst for who maximises a probability, the best for a total.
    seeks = rows.maximise[state] == probable
    if all_missed or (any_missed != NONE and not seeks):
        return MISSED, any_missed
    if probable and (all_sure or (any_sure != NONE and seeks)):
        return SURE, any_sure
    return DONE, NONE


told_jit = inlined(told)


def leave(
    state: int,
    rows: Rows,
    probable: bool,
    status: Integers,
    values: Floats,
    errors: Floats,
    policy: Integers,
) -> None:
    """Give a state its value, once its successors have theirs."""
    # If it leads to itself alone, that is what it comes to.
    status[state] = MISSED
    values[state] = 0.0 if probable else np.inf
    status[state], choice = told_jit(state, rows, probable, status)
    if status[state] == DONE:
        # Infinite choices are never the best here, and prove nothing wrong.
        values[state], policy[state] = backup_jit(state, rows, values)
        errors[state] = settle_jit(state, rows, values, errors, policy)
    else:
        if status[state] == SURE:
            values[state] = 1.0
        policy[state] = choice


leave_jit = inlined(leave)


def search(
    budget: int,
    rows: Rows,
    probable: bool,
    cursor: Integers,
    stack: Integers,
    next_edge: Integers,
    status: Integers,
    values: Floats,
    errors: Floats,
    policy: Integers,
) -> int:
    """Go through a graph depth first, and solve what is left behind, until a state comes again.

    Parameters
    ----------
    budget : int
        How many edges to look at, about.
    rows : Rows
        Without order and places; the constants are zeros for a probability.
    probable : bool
        Whether a probability is asked for, and not a total.
    cursor : (2,) int64
        Where the search is; zeros at first.
    stack, next_edge : (S,), (S,)
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
    depth = cursor[DEPTH]
    start = cursor[START]
    left = budget
    while left > 0:
        if depth == 0:
            while start < len(status) and status[start] != UNSEEN:
                start += 1
            if start == len(status):
                return ALL
            stack[0] = start
            next_edge[0] = rows.transition_offsets[rows.choice_offsets[start]]
            status[start] = OPEN
            depth = 1
        state = np.int64(stack[depth - 1])
        edge = np.int64(next_edge[depth - 1])
        last = rows.transition_offsets[rows.choice_offsets[state + 1]]
        left -= 1
        while edge < last:
            successor = np.int64(rows.successors[edge])
            if status[successor] == UNSEEN:
                break
            if status[successor] == OPEN and not (
                successor == state and never_leaves_jit(state, rows)
            ):
                return CYCLE
            edge += 1
        left -= edge - next_edge[depth - 1]
        if edge < last:
            next_edge[depth - 1] = edge + 1
            stack[depth] = successor
            next_edge[depth] = rows.transition_offsets[rows.choice_offsets[successor]]
            status[successor] = OPEN
            depth += 1
        else:
            leave_jit(state, rows, probable, status, values, errors, policy)
            depth -= 1
    cursor[DEPTH] = depth
    cursor[START] = start
    return MORE


search_jit = compiled(search)
