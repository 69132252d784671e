"""Solving a model component by component, successors first.

What the arrays mean is said in :mod:`gamedp.kernels.bellman`, what is proven in
:mod:`gamedp.kernels.proofs`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.kernels.bellman import backup_jit
from gamedp.kernels.blocks import (
    SHARE,
    SLOPE,
    VALUE,
    WEIGHT,
    gather_jit,
    measure_jit,
    reserve_jit,
    sweep_jit,
)
from gamedp.kernels.jit import compiled
from gamedp.kernels.proofs import UNIT, allot_jit, check_jit, settle_jit

if TYPE_CHECKING:
    import numpy.typing as npt

    from gamedp.kernels.bellman import Rows
    from gamedp.kernels.blocks import Block

    Integers = npt.NDArray[np.signedinteger[Any]]
    Floats = npt.NDArray[np.float64]
    Flags = npt.NDArray[np.bool_]


def newton(
    num_states: int, discount: float, key_state: int, guess: float, block: Block, numbers: Floats
) -> int:
    """Solve a component all of whose cycles lead through one state, `key_state`.

    One sweep maps the value x of that state to g(x), and gives the slope of g. Where play leaves
    the component almost surely, ``x - g(x)`` rises strictly, so that Newton's method, kept inside
    the interval where the sign changes, finds its zero: when a sweep no longer changes the policy,
    the step after it is exact, and all values follow along their slopes.

    The weights of the greedy policy (see :func:`gamedp.kernels.proofs.weigh`) come along: they
    solve a linear system with the same one unknown.

    Returns
    -------
    sweeps : int
        Negative if the component has no finite weights: play may stay in it for ever.
    """
    low = -np.inf
    high = np.inf
    sweeps = 0
    step = guess
    guess = np.nan
    same = False
    # What an earlier component has left in the policy says nothing about the first sweep.
    while not (same and sweeps > 1) and step != guess and sweeps < 64:
        sweeps += 1
        guess = step
        numbers[key_state, VALUE] = guess
        numbers[key_state, SLOPE] = 1.0
        numbers[key_state, WEIGHT] = 0.0
        numbers[key_state, SHARE] = 1.0
        _, _, same = sweep_jit(num_states, discount, block, numbers)
        result = numbers[key_state, VALUE]
        slope = numbers[key_state, SLOPE]
        if abs(result - guess) > 4.0 * UNIT * abs(result):
            if result > guess:
                low = guess
            else:
                high = guess
            step = guess + (result - guess) / (1.0 - slope) if slope < 1.0 else result
            if not low < step < high:
                step = 0.5 * (low + high)
                if not abs(step) < np.inf:
                    step = result
    weight = 0.0
    if numbers[key_state, SHARE] < 1.0:
        weight = numbers[key_state, WEIGHT] / (1.0 - numbers[key_state, SHARE])
    for state in range(num_states):
        # States after the key state have its own weight and share in theirs already.
        numbers[state, VALUE] += numbers[state, SLOPE] * (step - guess)
        numbers[state, WEIGHT] += numbers[state, SHARE] * weight
    numbers[key_state, VALUE] = step
    numbers[key_state, WEIGHT] = weight
    return sweeps if 0.0 < weight < np.inf else -sweeps


newton_jit = compiled(newton)


def sweep_until(
    start: int,
    stop: int,
    rows: Rows,
    threshold: float,
    values: Floats,
    block: Block,
    numbers: Floats,
) -> int:
    """Sweep over a component until its values change little and its weights hold; not for long.

    Returns
    -------
    sweeps : int
        Negative if that was not enough.
    """
    for number in range(stop - start):
        numbers[number, VALUE] = values[rows.order[start + number]]
        numbers[number, SLOPE] = numbers[number, WEIGHT] = numbers[number, SHARE] = 0.0
    for sweeps in range(1, 129):
        change, increase, _ = sweep_jit(stop - start, rows.discount, block, numbers)
        if change <= threshold and (increase <= 0.5 or rows.discount < 1.0):
            if rows.discount < 1.0:
                for number in range(stop - start):
                    numbers[number, WEIGHT] = 1.0 / (1.0 - rows.discount)
            return sweeps
    return -128


sweep_until_jit = compiled(sweep_until)


def solve_components(
    first: int,
    last: int,
    component_offsets: Integers,
    nontrivial: Flags,
    rows: Rows,
    budget: int,
    tolerance: float,
    max_size: int,
    proves: bool,
    values: Floats,
    errors: Floats,
    policy: Integers,
    visits: Integers,
) -> int:
    """Solve the components ``first .. last-1`` one by one, successors first.

    Stops before a component that has more than `max_size` states or that does not settle soon, for
    the caller to go on with in pieces, and after about `budget` visits of states.

    Parameters
    ----------
    tolerance : float
        How much error each component may add.
    proves : bool
        Whether errors can be proven; without, they are infinite where play may cycle.
    visits : (1,) int64
        Counts the states visited.

    Returns
    -------
    component : int
        The first component that is not solved.
    """
    enough = visits[0] + budget
    guess = 0.0
    block = reserve_jit(0, 0, 0, rows)
    numbers = np.empty((0, 4))
    for number in range(first, last):
        if visits[0] > enough:
            return number
        start = component_offsets[number]
        stop = component_offsets[number + 1]
        if not nontrivial[number]:
            state = rows.order[start]
            if rows.choice_offsets[state] < rows.choice_offsets[state + 1]:
                visits[0] += 1
                values[state], policy[state] = backup_jit(state, rows, values)
                errors[state] = settle_jit(state, rows, values, errors, policy)
            continue
        size = stop - start
        if size > max_size or not proves:
            return number
        num_choices, num_transitions = measure_jit(start, stop, rows)
        if size > len(numbers):
            numbers = np.empty((2 * size, 4))
        if (
            size > len(block.signs)
            or num_choices > len(block.known)
            or num_transitions > len(block.targets)
        ):
            block = reserve_jit(2 * size, 2 * num_choices, 2 * num_transitions, rows)
        key_state, outside = gather_jit(start, stop, start, stop, rows, values, errors, block)
        if key_state >= 0:
            # Neighbouring components tend to have similar values.
            sweeps = newton_jit(size, rows.discount, key_state, guess, block, numbers)
            guess = numbers[key_state, VALUE]
        else:
            sweeps = sweep_until_jit(start, stop, rows, 0.01 * tolerance, values, block, numbers)
        visits[0] += abs(sweeps) * size
        for member in range(size):
            values[rows.order[start + member]] = numbers[member, VALUE]
        if sweeps < 0:
            return number
        least, most = check_jit(
            start, stop, start, rows, outside, block, numbers, 0.0, np.inf, policy
        )
        if not allot_jit(start, stop, rows, outside, least, most, numbers, errors) <= tolerance:
            return number
    return last


solve_components_jit = compiled(solve_components)
