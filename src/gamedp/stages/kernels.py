"""Sweeps of a stage for many contexts together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.bellman.equation import backup_jit
from gamedp.bellman.residuals import settle_jit
from gamedp.runtime.floats import UNIT
from gamedp.runtime.jit import compiled
from gamedp.stages.vector_code import StageProgram, run_unrolled_code, settle_row

if TYPE_CHECKING:
    from gamedp.bellman.equation import Equation
    from gamedp.runtime.arrays import Flags, Floats, Integers


# Places in `results`: the largest rise and the largest change of a value, and the place among the
# contexts where something was wrong.
RISE, CHANGE, PLACE = range(3)


def sweep_stage(program: StageProgram, alive: Flags, block: Floats, scratch: Floats) -> None:
    """Fill the rows of all inner states, successors first.

    Parameters
    ----------
    program : StageProgram
    alive : (R,) bool
        Which rows hold values in some column; given for the ends, filled for the others. Straight
        code does without.
    block : (LANES / lanes, R, lanes) float64
        Values by row and context; given for the ends, filled for the others. The last state's row
        is the value of the stage.
    scratch : (R, lanes) float64
        Further arrays of unrolled code.
    """
    if program.address != 0:
        for register in range(block.shape[0]):
            run_unrolled_code(program.address, block[register], scratch)
    else:
        for state in range(len(program.own_rows)):
            alive[program.own_rows[state]] = settle_row(program, state, alive, block[0])
        if not alive[program.own_rows[-1]]:
            block[0, program.own_rows[-1], :] = np.nan


sweep_stage_jit: Any = compiled(sweep_stage)


def take_over(
    block: Floats,
    row: int,
    codes: Integers,
    weights: bool,
    writes: bool,
    values: Floats,
    results: Floats,
) -> int:
    """Measure the changes of the values of contexts, and write the new ones if `writes`.

    The `row` of the block has the values of the stage in these contexts; a weight counts the stage
    itself, too. Returns the first column without a value, or -1.
    """
    lanes = block.shape[2]
    for column in range(codes.size):
        new = block[column // lanes, row, column % lanes] + weights
        if not abs(new) < np.inf:
            return column
        # What had no value before (NaN) has not changed.
        change = new - values[codes[column]]
        if change > results[RISE]:
            results[RISE] = change
        if abs(change) > results[CHANGE]:
            results[CHANGE] = abs(change)
        if writes:
            values[codes[column]] = new
    return -1


take_over_jit: Any = compiled(take_over)


def restrict(
    order: Integers,
    choice_offsets: Integers,
    transition_offsets: Integers,
    successors: Integers,
    start: int,
    possible: Flags,
    kept: Flags,
    reached: Flags,
) -> None:
    """Find the part of a stage that remains when only some ends are allowed.

    Parameters
    ----------
    order : (S,) integers
        All states, successors first.
    possible : (S,) bool
        Given for the ends: which are allowed; filled for the others.
    kept : (C,) bool
        Filled: choices all of whose successors are possible, in states that can be reached.
    reached : (S,) bool
        False at first; filled: states that can be reached from `start` by such choices.
    """
    for state in order:
        for choice in range(choice_offsets[state], choice_offsets[state + 1]):
            kept[choice] = True
            for place in range(transition_offsets[choice], transition_offsets[choice + 1]):
                if not possible[successors[place]]:
                    kept[choice] = False
            if kept[choice]:
                possible[state] = True
    reached[start] = possible[start]
    for place in range(len(order) - 1, -1, -1):
        state = order[place]
        for choice in range(choice_offsets[state], choice_offsets[state + 1]):
            kept[choice] = kept[choice] and reached[state]
            if kept[choice]:
                for place_ in range(transition_offsets[choice], transition_offsets[choice + 1]):
                    reached[successors[place_]] = True


restrict_jit: Any = compiled(restrict)


def evaluate(
    order: Integers, equation: Equation, values: Floats, errors: Floats, policy: Integers
) -> None:
    """Compute the value, the error and the best choice of every state of an acyclic model.

    `values` and `errors` are given for terminal states.
    """
    graph = equation.graph
    for state in order:
        if graph.choice_offsets[state] < graph.choice_offsets[state + 1]:
            values[state], policy[state] = backup_jit(state, equation, values)
            errors[state] = settle_jit(state, equation, values, errors, policy)


evaluate_jit: Any = compiled(evaluate)


def bound_rounding(
    order: Integers,
    choice_offsets: Integers,
    transition_offsets: Integers,
    successors: Integers,
    probabilities: Floats,
    rewards: Floats,
    errors: Floats,
    sums: Floats,
) -> None:
    """Add up rounding errors and rewards on the longest path from each state.

    Parameters
    ----------
    order : (S,) integers
        All states, successors first.
    errors : (S,)
        Zero at first; filled: how far off a value may be by rounding, relatively to the largest
        number in it. A sure step without a reward is exact.
    sums : (S,)
        Zero at first; filled: the largest sum of the absolute rewards.
    """
    for state in order:
        for choice in range(choice_offsets[state], choice_offsets[state + 1]):
            first, end = transition_offsets[choice], transition_offsets[choice + 1]
            reward = abs(rewards[choice])
            longest = largest = 0.0
            for place in range(first, end):
                longest = max(longest, errors[successors[place]])
                largest = max(largest, sums[successors[place]])
            if end - first > 1 or probabilities[first] != 1.0 or reward != 0.0:
                longest += (end - first + 8) * UNIT
            errors[state] = max(errors[state], longest)
            sums[state] = max(sums[state], largest + reward)


bound_rounding_jit: Any = compiled(bound_rounding)
