"""Chains of a policy: its rewards until it reaches states whose values are known.

The value of a state along a policy is ``extra + sum(P * values)``. Most states need not be swept:
in the order in which a depth-first search of the policy finishes them, a state leads to states
before it, whose rows are substituted into its own, and to unfinished ones: these are kept.
The kept states, and rows that become long, form a smaller chain with the same values: it is swept,
and its limit is extrapolated [1]_. Its values directly give those of all others.

Nothing is proven here: callers verify the values.

References
----------
.. [1] D. Smith, W. Ford, A. Sidi, "Extrapolation methods for vector sequences", SIAM Review 29
   (1987): reduced rank extrapolation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gamedp.runtime.jit import compiled, inlined

if TYPE_CHECKING:
    import numpy.typing as npt

    from gamedp.runtime.arrays import Floats, Integers, Naturals

    Marks = npt.NDArray[np.uint8]

STAY = -1
"""Represents the choice to stay in an end component permanently."""

REPEATS = 8
"""Sweeps between two extrapolations."""

CYCLES = 32
"""Largest number of extrapolations of one chain."""

LONGEST = np.uintp(4)
"""Largest number of successors of a state whose row is substituted for it."""

LEAST_PIVOT = 2.0**-44
"""Assumed relative difference of changes of sweeps that are nearly combinations of others."""

MOST_WEIGHT = 1e8
"""Largest weight with which sweeps are extrapolated."""

KNOWN, NEW, OPEN, WAITED_FOR, KEPT, REPLACED = range(6)
"""The state of knowledge about a node: its value; nothing yet; that the search has not finished it,
and that others need it first; and finally whether it is kept or replaced by its row."""

ONE = np.uintp(1)


class Room(NamedTuple):
    """Scratch arrays for a chain: N nodes.

    Attributes
    ----------
    marks : (N,)
        `KNOWN` for all nodes, before and after.
    stack, next_transition, finished, row_of, kept, seen : (N,)
    row_starts : (N + 1,)
    constants : (N,)
    columns, shares : (T,)
        For the rows. If they take more, there is no chain.
    deltas, weights : (REPEATS, N), (REPEATS,)
    """

    marks: Marks
    stack: Naturals
    next_transition: Naturals
    finished: Naturals
    row_of: Naturals
    kept: Naturals
    seen: Naturals
    row_starts: Naturals
    constants: Floats
    columns: Naturals
    shares: Floats
    deltas: Floats
    weights: Floats


def room_for(num_nodes: int, num_transitions: int) -> Room:
    """Return room for chains with this many nodes, and choices with at most so many transitions."""
    stack, next_transition, finished, row_of, kept, seen = np.empty((6, num_nodes), np.uintp)
    room = 2 * num_transitions + 16
    return Room(
        np.full(num_nodes, KNOWN, np.uint8),
        stack,
        next_transition,
        finished,
        row_of,
        kept,
        seen,
        np.empty(num_nodes + 1, np.uintp),
        np.empty(num_nodes),
        np.empty(room, np.uint32 if num_nodes < 2**32 else np.uint64),
        np.empty(room),
        np.empty((REPEATS, num_nodes)),
        np.empty(REPEATS),
    )


def combine(count: int, deltas: Floats, weights: Floats) -> bool:
    """Find the combination of sweeps with the least change; return whether there is one.

    The sweeps are linear: if the values after sweep j count c(j) times, and these numbers sum to
    one, so do their changes. This is reduced rank extrapolation [1]_.

    Parameters
    ----------
    count : int
        The number of values that were swept.
    deltas : (REPEATS, N)
        The changes by each sweep.
    weights : (REPEATS,)
        Filled: how often each change is to be subtracted from the last values.
    """
    products = np.empty((REPEATS, REPEATS))
    for one in range(REPEATS):
        for other in range(0, one + 1, 4):  # four sums together do not wait for each other
            first = second = third = fourth = 0.0
            for i in range(count):
                delta = deltas[one, i]
                first += delta * deltas[other, i]
                second += delta * deltas[other + 1, i]
                third += delta * deltas[other + 2, i]
                fourth += delta * deltas[other + 3, i]
            products[one, other] = first
            products[one, other + 1] = second
            products[one, other + 2] = third
            products[one, other + 3] = fourth
    # The least squares by Cholesky's factors, each change scaled to the length one.
    for one in range(REPEATS):
        size = np.sqrt(products[one, one])
        if not 0.0 < size < np.inf:
            return False
        weights[one] = 1.0 / size
    for one in range(REPEATS):
        for other in range(one + 1):
            products[one, other] *= weights[one] * weights[other]
    total = 0.0
    for one in range(REPEATS):
        for other in range(one + 1):
            rest = products[one, other]
            for i in range(other):
                rest -= products[one, i] * products[other, i]
            if other < one:
                products[one, other] = rest / products[other, other]
            else:
                products[one, one] = np.sqrt(max(rest, LEAST_PIVOT))
    scales = np.empty(REPEATS)
    for one in range(REPEATS):
        scales[one] = weights[one]
        rest = weights[one]
        for i in range(one):
            rest -= products[one, i] * weights[i]
        weights[one] = rest / products[one, one]
    for back in range(REPEATS):
        one = REPEATS - 1 - back
        rest = weights[one]
        for i in range(one + 1, REPEATS):
            rest -= products[i, one] * weights[i]
        weights[one] = rest / products[one, one]
    for one in range(REPEATS):
        weights[one] *= scales[one]
        total += weights[one]
    before = 0.0
    for one in range(REPEATS):
        share = weights[one] / total
        weights[one] = before  # those of all sweeps before, whose values lack this change
        before += share
        if not abs(share) < MOST_WEIGHT:
            return False
    return True


combine_jit = compiled(combine)


def shorten(count: int, nodes: Integers, offsets: Integers, successors: Integers,
            probabilities: Floats, extra: Floats, values: Floats, exits: Integers,
            room: Room) -> tuple[int, int]:  # fmt: skip
    """Find the states of a chain that are kept, and the rows of all in terms of these.

    Parameters
    ----------
    count, nodes, offsets, successors, probabilities, extra, values, exits
        As in :func:`settle`.
    room : Room
        Filled: `finished`, `row_starts`, `columns`, `shares`, `constants` with the rows, in the
        order in which the search finishes states; `kept`, which of these are kept; `marks`.

    Returns
    -------
    num_rows, num_kept : int
        -1 for the latter if there is not enough room, or play seems to stay for ever.
    """
    marks, stack, next_transition = room.marks, room.stack, room.next_transition
    finished, row_of, kept, seen = room.finished, room.row_of, room.kept, room.seen
    row_starts, constants = room.row_starts, room.constants
    columns, shares = room.columns, room.shares
    num_rows = num_kept = used = np.uintp(0)
    row_starts[0] = 0
    for i in range(count):
        if exits[nodes[i]] != STAY:
            marks[nodes[i]] = NEW
    for i in range(count):
        if marks[nodes[i]] != NEW:
            continue
        depth = 0
        stack[0] = nodes[i]
        next_transition[0] = offsets[exits[nodes[i]]]
        marks[nodes[i]] = OPEN
        while depth >= 0:
            here = stack[depth]
            choice = np.uintp(exits[here])
            last = np.uintp(offsets[choice + ONE])
            t = next_transition[depth]
            while t < last and marks[np.uintp(successors[t])] != NEW:
                t += ONE
            if t < last:
                next_transition[depth] = t + ONE
                there = np.uintp(successors[t])
                depth += 1
                stack[depth] = there
                next_transition[depth] = offsets[np.uintp(exits[there])]
                marks[there] = OPEN
                continue
            depth -= 1
            first = np.uintp(offsets[choice])
            start = used
            constant = extra[choice]
            stays = 0.0
            if used + (LONGEST + ONE) * (last - first) > len(columns):
                return np.int64(num_rows), np.int64(-1)  # type: ignore[return-value] # signed again
            for t in range(first, last):
                there = np.uintp(successors[t])
                begin, end = used, used
                if marks[there] == KNOWN:
                    constant += probabilities[t] * values[there]
                    continue
                if marks[there] == REPLACED:
                    row = row_of[there]
                    constant += probabilities[t] * constants[row]
                    begin, end = row_starts[row], row_starts[row + ONE]
                else:  # by itself, as a row of one
                    if marks[there] == OPEN:
                        marks[there] = WAITED_FOR
                    columns[used] = there
                    shares[used] = 1.0
                    end += ONE
                for place in range(begin, end):
                    column = np.uintp(columns[place])
                    share = probabilities[t] * shares[place]
                    if column == here:
                        stays += share
                    elif start <= seen[column] < used and columns[seen[column]] == column:
                        shares[seen[column]] += share
                    else:
                        seen[column] = used
                        columns[used] = column
                        shares[used] = share
                        used += ONE
            if not stays < 1.0:
                return np.int64(num_rows), np.int64(-1)  # type: ignore[return-value] # signed again
            if stays > 0.0:
                constant /= 1.0 - stays
                for place in range(start, used):
                    shares[place] /= 1.0 - stays
            if marks[here] == WAITED_FOR or used - start > LONGEST:
                marks[here] = KEPT
                kept[num_kept] = num_rows
                num_kept += ONE
            else:
                marks[here] = REPLACED
            finished[num_rows] = here
            row_of[here] = num_rows
            constants[num_rows] = constant
            num_rows += ONE
            row_starts[num_rows] = used
    return np.int64(num_rows), np.int64(num_kept)  # type: ignore[return-value]


shorten_jit = compiled(shorten)


def value_of_row(row: int, values: Floats, room: Room) -> float:
    """Return the value of a state, by its row."""
    total = room.constants[row]
    for place in range(room.row_starts[row], room.row_starts[row + ONE]):
        total += room.shares[place] * values[room.columns[place]]
    return float(total)


value_of_row_jit = inlined(value_of_row)


def settle(count: int, nodes: Integers, offsets: Integers, successors: Integers,
           probabilities: Floats, extra: Floats, exits: Integers, enough: float, values: Floats,
           room: Room) -> bool:  # fmt: skip
    """Set values approximately to those of a policy; return False, and leave them, if that fails.

    Parameters
    ----------
    count, nodes
        The states whose values are computed; those that stay keep theirs.
    offsets, successors, probabilities
        The transitions of choices.
    extra : (C,)
        The rewards of choices.
    exits : (N,)
        The choice of each state, or `STAY`.
    enough : float
        The change of a value in a sweep that is small enough.
    values : (N,)
        The initial values; those of states not listed are known.
    room : Room
    """
    num_rows, num_kept = shorten_jit(
        count, nodes, offsets, successors, probabilities, extra, values, exits, room
    )
    finished, kept = room.finished, room.kept
    deltas, weights = room.deltas, room.weights
    for _ in range(CYCLES if num_kept > 0 else 0):
        change = 0.0
        for repeat in range(REPEATS):
            change = 0.0
            for i in range(num_kept):
                state = finished[kept[i]]
                delta = value_of_row_jit(kept[i], values, room) - values[state]
                values[state] += delta
                deltas[repeat, i] = delta
                change = max(change, abs(delta))
            if change <= enough:
                break
        if not change > enough or not combine_jit(num_kept, deltas, weights):
            break
        for i in range(num_kept):
            more = 0.0
            for repeat in range(1, REPEATS):
                more += weights[repeat] * deltas[repeat, i]
            values[finished[kept[i]]] -= more
    if num_kept >= 0:
        for row in range(np.uintp(num_rows)):
            if room.marks[finished[row]] == REPLACED:
                values[finished[row]] = value_of_row_jit(row, values, room)
    for i in range(count):
        room.marks[nodes[i]] = KNOWN
    return bool(num_kept >= 0)


settle_jit = compiled(settle)
