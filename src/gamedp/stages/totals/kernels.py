"""Propagation of play under a policy: through a stage, and between contexts with totals.

A stage has N inner states and E ends. It is unfolded into M nodes, one for each state and each sum
of rewards with which it can be reached, so that a node knows what has been paid on the way to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gamedp.runtime.jit import LANES, compiled
from gamedp.stages.vector_code import StageProgram, settle_row

if TYPE_CHECKING:
    from gamedp.runtime.arrays import Flags, Floats, Integers


class Nodes(NamedTuple):
    """A stage unfolded; node 0 is its start, and each node comes before those it leads to.

    Attributes
    ----------
    places : (M,)
        Which inner state of the program each node is; -1 for an end.
    firsts : (M,)
        The index in `successors` of each node's first transition; all choices of its state have
        theirs there.
    successors : (L,)
        The node a transition leads to.
    ends : (Z,)
        The nodes in which the stage is over.
    """

    places: Integers
    firsts: Integers
    successors: Integers
    ends: Integers


def spread(program: StageProgram, nodes: Nodes, policy: Integers, weights: Floats) -> None:
    """Fill `weights` (M,) with the probability of each node under the choices `policy` (N,)."""
    weights[:] = 0.0
    weights[0] = 1.0
    for node in range(len(weights)):
        place = nodes.places[node]
        if place < 0 or weights[node] == 0.0:
            continue
        origin = program.transition_offsets[program.choice_offsets[place]]
        choice = policy[place]
        for t in range(program.transition_offsets[choice], program.transition_offsets[choice + 1]):
            successor = nodes.successors[nodes.firsts[node] + t - origin]
            weights[successor] += weights[node] * program.probabilities[t]


spread_jit: Any = compiled(spread)


def compare(
    program: StageProgram, place: int, alive: Flags, block: Floats, result: Floats, best: Floats,
    chosen: Integers,
) -> None:  # fmt: skip
    """Fill `chosen` (LANES,) with the first best choice of an inner state in each column.

    `result` and `best` (LANES,) are room to work in.
    """
    sign = 1.0 if program.maximise[place] else -1.0
    for column in range(LANES):
        best[column] = -np.inf
        chosen[column] = -1
    for choice in range(program.choice_offsets[place], program.choice_offsets[place + 1]):
        first = program.transition_offsets[choice]
        last = program.transition_offsets[choice + 1]
        allowed = True
        for t in range(first, last):
            allowed = allowed and alive[program.rows[t]]
        if not allowed:
            continue
        reward = program.rewards[choice]
        for column in range(LANES):
            result[column] = reward
        for t in range(first, last):
            row = program.rows[t]
            probability = program.probabilities[t]
            for column in range(LANES):
                result[column] += probability * block[row, column]
        for column in range(LANES):
            # False for NaN: such a choice is not allowed.
            better = sign * result[column] > best[column]
            best[column] = sign * result[column] if better else best[column]
            chosen[column] = choice if better else chosen[column]


compare_jit: Any = compiled(compare)


def spread_block(
    program: StageProgram, nodes: Nodes, alive: Flags, block: Floats, weights: Floats
) -> None:
    """Spread like `spread` for the best choices in each column; `weights` (M, LANES) are 0.

    Column by column within each step: so the compiler makes vector instructions of it.
    """
    own, part = np.empty(LANES), np.empty(LANES)
    best, chosen = np.empty(LANES), np.empty(LANES, np.int64)
    for node in range(len(weights)):
        place = nodes.places[node]
        if place < 0:
            continue
        total = 0.0
        for column in range(LANES):
            own[column] = weights[node, column]
            total += own[column]
        if total == 0.0:
            continue
        first_choice = program.choice_offsets[place]
        last_choice = program.choice_offsets[place + 1]
        if last_choice - first_choice == 1:
            chosen[:] = first_choice
        else:
            compare_jit(program, place, alive, block, part, best, chosen)
        origin = program.transition_offsets[first_choice]
        for choice in range(first_choice, last_choice):
            total = 0.0
            for column in range(LANES):
                part[column] = own[column] if chosen[column] == choice else 0.0
                total += part[column]
            if total == 0.0:
                continue
            for t in range(
                program.transition_offsets[choice], program.transition_offsets[choice + 1]
            ):
                successor = nodes.successors[nodes.firsts[node] + t - origin]
                probability = program.probabilities[t]
                for column in range(LANES):
                    weights[successor, column] += part[column] * probability


spread_block_jit: Any = compiled(spread_block)


def fill(program: StageProgram, end_values: Floats, first: int, alive: Flags, block: Floats) -> int:
    """Find the values of all states in up to LANES contexts from `first` on.

    Parameters
    ----------
    program, end_values
        As for `trace`.
    alive : (R,) bool
        Filled: which rows have values in some column.
    block : (R, LANES)
        Filled; what is left of the columns with NaN.

    Returns
    -------
    column : int
        The first one in which the stage cannot be played to an end, or -1.
    """
    count = min(LANES, len(end_values) - first)
    for end in range(end_values.shape[1]):
        alive[end] = False
        for column in range(LANES):
            block[end, column] = end_values[first + column, end] if column < count else np.nan
            if block[end, column] == block[end, column]:
                alive[end] = True
    for place in range(len(program.own_rows)):
        alive[program.own_rows[place]] = settle_row(program, place, alive, block)
    start = program.own_rows[-1]
    for column in range(count):
        if not alive[start] or not abs(block[start, column]) < np.inf:
            return column
    return -1


fill_jit: Any = compiled(fill)


def trace(program: StageProgram, nodes: Nodes, end_values: Floats, probabilities: Floats) -> int:
    """Find the probability of each end under the best policy in each of n contexts.

    Parameters
    ----------
    program : StageProgram
        With a row for every state, the inner ones in their order.
    end_values : (n, E)
        The value of each end in each context; NaN where it is not allowed.
    probabilities : (n, Z)
        Filled.

    Returns
    -------
    place : int
        The first context in which the stage cannot be played to an end, or -1.
    """
    block = np.empty((program.num_rows, LANES))
    alive = np.empty(program.num_rows, np.bool_)
    weights = np.empty((len(nodes.places), LANES))
    for first in range(0, len(end_values), LANES):
        count = min(LANES, len(end_values) - first)
        bad = fill_jit(program, end_values, first, alive, block)
        if bad >= 0:
            return first + int(bad)
        weights[:] = 0.0
        for column in range(count):
            weights[0, column] = 1.0
        spread_block_jit(program, nodes, alive, block, weights)
        for place in range(len(nodes.ends)):
            for column in range(count):
                probabilities[first + column, place] = weights[nodes.ends[place], column]
    return -1


trace_jit: Any = compiled(trace)


def choose(program: StageProgram, end_values: Floats, chosen: Integers) -> int:
    """Find for each of n contexts the first best choice of each inner state.

    Parameters
    ----------
    program, end_values
        As for `trace`.
    chosen : (n, N)
        Filled, but for states with a single choice; -1 where no choice is allowed.

    Returns
    -------
    place : int
        The first context in which the stage cannot be played to an end, or -1.
    """
    block = np.empty((program.num_rows, LANES))
    alive = np.empty(program.num_rows, np.bool_)
    room, best = np.empty(LANES), np.empty(LANES)
    columns = np.empty(LANES, np.int64)
    for first in range(0, len(end_values), LANES):
        bad = fill_jit(program, end_values, first, alive, block)
        if bad >= 0:
            return first + int(bad)
        for place in range(len(program.own_rows)):
            if program.choice_offsets[place + 1] - program.choice_offsets[place] > 1:
                compare_jit(program, place, alive, block, room, best, columns)
                for column in range(min(LANES, len(end_values) - first)):
                    chosen[first + column, place] = columns[column]
    return -1


choose_jit: Any = compiled(choose)


def enlist(keys: Integers, slots: Integers, known: int, found: Integers) -> int:
    """Assign the next slot to each key without one.

    Parameters
    ----------
    keys : (n,)
    slots : (B,)
        The slot of each key, -1 without one; filled.
    known : int
        The number of slots.
    found : (n,)
        Filled with the keys that are new, in their order.

    Returns
    -------
    new : int
        Their number.
    """
    new = 0
    for key in keys:
        if slots[key] < 0:
            slots[key] = known + new
            found[new] = key
            new += 1
    return new


enlist_jit: Any = compiled(enlist)


def move(
    old_starts: Integers,
    old_lows: Integers,
    old_highs: Integers,
    old_pool: Floats,
    starts: Integers,
    lows: Integers,
    pool: Floats,
) -> None:
    """Copy the totals of each slot, ``low`` to ``high``, to their places in a larger pool."""
    for slot in range(len(old_starts)):
        place = starts[slot] + old_lows[slot] - lows[slot]
        for k in range(old_highs[slot] - old_lows[slot] + 1):
            pool[place + k] = old_pool[old_starts[slot] + k]


move_jit: Any = compiled(move)


def push(
    sources: Integers,
    successors: Integers,
    shifts: Integers,
    weights: Floats,
    source_starts: Integers,
    source_lows: Integers,
    source_highs: Integers,
    source_pool: Floats,
    successor_starts: Integers,
    successor_lows: Integers,
    successor_pool: Floats,
) -> None:
    """Add the totals of the sources, shifted and weighted, to those of their successors.

    The totals of slot s are ``low[s] .. high[s]``; their probabilities begin at ``start[s]`` in the
    pool.
    """
    for t in range(len(sources)):
        source = sources[t]
        successor = successors[t]
        weight = weights[t]
        first = source_starts[source]
        shift = source_lows[source] + shifts[t] - successor_lows[successor]
        place = successor_starts[successor] + shift
        for k in range(source_highs[source] - source_lows[source] + 1):
            successor_pool[place + k] += weight * source_pool[first + k]


push_jit: Any = compiled(push)
