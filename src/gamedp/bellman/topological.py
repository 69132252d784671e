"""Solving a model component by component, successors first.

The arrays are described in :mod:`gamedp.bellman.equation`, the proofs in
:mod:`gamedp.bellman.residuals`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gamedp.bellman.blocks import SHARE, SLOPE, VALUE, WEIGHT, gather_jit, measure_jit, sweep_jit
from gamedp.bellman.component_sweeps import (
    CHANGING_LITTLE,
    EXACT,
    RELATIVE,
    SWAPS,
    SWEEPS,
    begin_jit,
    chooser_jit,
    iterate_jit,
)
from gamedp.bellman.policy_proofs import dwell_jit, prove_policy_jit
from gamedp.bellman.residuals import allot_jit, check_jit, conclude_jit
from gamedp.runtime.floats import UNIT
from gamedp.runtime.jit import compiled, inlined

if TYPE_CHECKING:
    from gamedp.bellman.blocks import Block
    from gamedp.bellman.equation import Equation
    from gamedp.runtime.arrays import Flags, Floats, Integers


UNLIMITED_SWEEPS = 1 << 30
"""More sweeps than there is time for."""
CHOICES, TRANSITIONS = 1, 2
"""Where the size of a component stands beside the number of visits."""
LEAST_WORK = 1 << 20
"""Number of transitions that even a small component may visit: some thousandths of a second."""


def newton(
    num_states: int, discount: float, key_state: int, guess: float, block: Block, numbers: Floats
) -> int:
    """Solve a component all of whose cycles lead through one state, `key_state`.

    One sweep maps the value x of that state to g(x), and gives the slope of g. If play leaves
    the component almost surely, ``x - g(x)`` rises strictly, so that Newton's method, kept inside
    the interval where the sign changes, finds its zero: when a sweep no longer changes the policy,
    the step after it is exact, and all values follow along their slopes.

    The weights of the greedy policy (see :func:`gamedp.bellman.residuals.weigh`) are computed with
    them: they solve a linear system with the same one unknown.

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
    # Whatever an earlier component has left in the policy says nothing about the first sweep.
    while not (same and sweeps > 1) and step != guess and sweeps < 64:
        sweeps += 1
        guess = step
        numbers[VALUE, key_state] = guess
        numbers[SLOPE, key_state] = 1.0
        numbers[WEIGHT, key_state] = 0.0
        numbers[SHARE, key_state] = 1.0
        _, _, same = sweep_jit(num_states, discount, block, numbers)
        result = numbers[VALUE, key_state]
        slope = numbers[SLOPE, key_state]
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
    if numbers[SHARE, key_state] < 1.0:
        weight = numbers[WEIGHT, key_state] / (1.0 - numbers[SHARE, key_state])
    for state in range(num_states):
        # States after the key state have its own weight and share in theirs already.
        numbers[VALUE, state] += numbers[SLOPE, state] * (step - guess)
        numbers[WEIGHT, state] += numbers[SHARE, state] * weight
    numbers[VALUE, key_state] = step
    numbers[WEIGHT, key_state] = weight
    return sweeps if 0.0 < weight < np.inf else -sweeps


newton_jit = inlined(newton)


def take_over(
    start: int,
    size: int,
    equation: Equation,
    block: Block,
    numbers: Floats,
    values: Floats,
    policy: Integers,
) -> None:
    """Copy values and choices of the gathered component to its states."""
    for number in range(size):
        state = equation.order[start + number]
        chosen = block.policy[number] - block.graph.choice_offsets[number]
        policy[state] = equation.graph.choice_offsets[state] + chosen
        values[state] = numbers[VALUE, number]


take_over_jit = inlined(take_over)


def prove_by_weights(
    start: int,
    stop: int,
    equation: Equation,
    outside: float,
    block: Block,
    numbers: Floats,
    errors: Floats,
    policy: Integers,
) -> float:
    """Prove errors for the values of a gathered component by the weights computed with them.

    Parameters
    ----------
    outside : float
        The largest error of a successor outside.

    Returns
    -------
    width : float
        As for :func:`gamedp.bellman.residuals.allot`.
    """
    if equation.discount < 1.0:
        for number in range(stop - start):
            numbers[WEIGHT, number] = 1.0 / (1.0 - equation.discount)
    least, most = check_jit(
        start, stop, start, equation, outside, block, numbers, 0.0, np.inf, policy
    )
    return float(allot_jit(start, stop, equation, outside, least, most, numbers, errors))


prove_by_weights_jit = inlined(prove_by_weights)


def take_over_and_prove(
    start: int,
    stop: int,
    equation: Equation,
    outside: float,
    block: Block,
    numbers: Floats,
    values: Floats,
    errors: Floats,
    policy: Integers,
) -> float:
    """Take over a gathered component, and prove errors by the weights; return the width."""
    take_over_jit(start, stop - start, equation, block, numbers, values, policy)
    return float(
        prove_by_weights_jit(start, stop, equation, outside, block, numbers, errors, policy)
    )


take_over_and_prove_jit = inlined(take_over_and_prove)


def prove_by_policy(
    start: int,
    stop: int,
    equation: Equation,
    outside: float,
    tolerance: float,
    most: int,
    who: int,
    one_sign: bool,
    relative: float,
    block: Block,
    numbers: Floats,
    values: Floats,
    errors: Floats,
    policy: Integers,
) -> float:
    """Prove errors if the weights computed with the values do not suffice.

    If rounding on all the steps of play is too much, the policy is eliminated, for an error that
    does not grow with them (:mod:`gamedp.bellman.policy_proofs`). If neither suffices, because
    choices that are as good as those of the policy take longer, weights that count the longest ways
    are tried.

    Parameters
    ----------
    outside : float
        The largest error of a successor outside.
    tolerance : float
        The width that is good enough.
    most : int
        Largest number of terms of eliminations.
    who : int
        Who chooses, see :func:`gamedp.bellman.component_sweeps.chooser`.
    one_sign : bool
        Whether no two rewards or payoffs of the model have different signs.
    relative : float
        What is known of the policy, as for :func:`gamedp.bellman.policy_proofs.prove_policy`.

    Returns
    -------
    width : float
        As for :func:`gamedp.bellman.residuals.allot`.
    """
    size = stop - start
    # These values are at least close to the policy's, so that no previous proof is kept.
    best_width = float(
        prove_policy_jit(
            start,
            stop,
            equation,
            outside,
            most,
            one_sign,
            who,
            relative,
            block,
            numbers,
            values,
            errors,
            policy,
        )
    )
    if best_width <= tolerance:
        return best_width
    by_policy = True
    best = np.empty(size)
    for number in range(size):
        best[number] = errors[equation.order[start + number]]
    for attempt in range(2):
        if attempt == 1 and (
            equation.discount < 1.0
            or not dwell_jit(size, equation.discount, who == SWAPS, most, block, numbers)
        ):
            break
        width = float(
            prove_by_weights_jit(start, stop, equation, outside, block, numbers, errors, policy)
        )
        if width <= tolerance:
            return width
        if width < best_width:
            best_width = width
            by_policy = False
            for number in range(size):
                best[number] = errors[equation.order[start + number]]
    for number in range(size):
        errors[equation.order[start + number]] = best[number]
    if by_policy:
        take_over_jit(start, size, equation, block, numbers, values, policy)
    return best_width


prove_by_policy_jit = compiled(prove_by_policy)


def solve_components(
    first: int,
    last: int,
    component_offsets: Integers,
    nontrivial: Flags,
    equation: Equation,
    budget: int,
    tolerance: float,
    may_stay: bool,
    swaps: bool,
    one_sign: bool,
    room: tuple[Block, Floats] | None,
    memory: Floats | None,
    values: Floats,
    errors: Floats,
    policy: Integers,
    visits: Integers,
    scratch: Floats,
) -> int:
    """Solve the components ``first .. last-1`` one by one, successors first.

    Stops before a component that `room` and `memory` do not suffice for or that does not converge
    soon, for the caller to continue with, and after about `budget` visits of states. The result for
    a single state is final, even if its error is larger than that.

    The way of a component::

        a single state without a loop -----> its value and its error, final
        all cycles lead through one state -> Newton's method ---------------.
        any other -------------------------> sweeps and policies (`iterate`) |
                                                                             v
                       too large an error: by the policy's elimination <- error by the weights

    Each None is a type of its own to numba: code without room for its data is not compiled.

    Parameters
    ----------
    tolerance : float
        The error that each component may add.
    may_stay : bool
        Whether policies may stay in a component for ever, which is the worst outcome for the player
        able to do so.
    swaps : bool
        Whether players change places somewhere.
    one_sign : bool
        Whether no two rewards or payoffs have different signs.
    room : (Block, (NUMBERS, R) float64) or None
        For a gathered component and its numbers. None stops at the first cycle.
    memory : (MEMORY,) float64 or None
        Scratch, see :func:`gamedp.bellman.component_sweeps.iterate`. None stops where a component
        takes more than Newton's method and its weights.
    visits : (3,) int64
        First, counts the states visited. If there is room, then the choices and transitions of the
        last component with a cycle.
    scratch : (2, R) float64
        For the largest number of choices of a state.

    Returns
    -------
    component : int
        The first component that is not solved.
    """
    graph = equation.graph
    enough = visits[0] + budget
    guess = 0.0
    results, slacks = scratch
    for number in range(first, last):
        if visits[0] > enough:
            return number
        start = np.int64(component_offsets[number])
        if not nontrivial[number]:
            state = equation.order[start]
            if graph.choice_offsets[state] < graph.choice_offsets[state + 1]:
                visits[0] += 1
                values[state], errors[state], policy[state] = conclude_jit(
                    state, equation, values, errors, results, slacks
                )
            continue
        if room is None:
            return number
        block, numbers = room
        stop = np.int64(component_offsets[number + 1])
        size = stop - start
        num_choices, num_transitions = measure_jit(start, stop, equation)
        visits[CHOICES], visits[TRANSITIONS] = num_choices, num_transitions
        if size > len(block.signs):
            return number
        if num_choices > len(block.constants) or num_transitions > len(block.graph.successors):
            return number
        key_state, outside = gather_jit(start, stop, start, stop, equation, values, errors, block)
        done = EXACT
        relative = 0.0
        if key_state >= 0:
            # Neighbouring components tend to have similar values.
            sweeps = newton_jit(size, equation.discount, key_state, guess, block, numbers)
            guess = numbers[VALUE, key_state]
        elif memory is None:
            return number
        else:
            for member in range(size):
                numbers[VALUE, member] = values[equation.order[start + member]]
                numbers[SLOPE, member] = numbers[WEIGHT, member] = numbers[SHARE, member] = 0.0
            begin_jit(size, block)
            memory[:] = 0.0
            num_inner = np.int64(block.graph.transition_offsets[num_choices])
            done = iterate_jit(
                size,
                np.int64(num_choices),  # of the type that callers from outside have: compiled once
                num_inner,
                equation.discount,
                chooser_jit(size, block, swaps),
                may_stay,
                0.01 * tolerance,
                np.int64(UNLIMITED_SWEEPS),
                max(64 * (size + num_inner), LEAST_WORK),
                block,
                numbers,
                memory,
            )
            sweeps = int(memory[SWEEPS])
            relative = memory[RELATIVE]
        visits[0] += abs(sweeps) * size
        if sweeps < 0 or done < CHANGING_LITTLE:
            for member in range(size):
                values[equation.order[start + member]] = numbers[VALUE, member]
                errors[equation.order[start + member]] = np.inf
            return number
        width = take_over_and_prove_jit(
            start, stop, equation, outside, block, numbers, values, errors, policy
        )
        if width <= tolerance:
            continue
        if memory is None:
            return number
        width = prove_by_policy_jit(
            start,
            stop,
            equation,
            outside,
            tolerance,
            64 * (size + np.int64(block.graph.transition_offsets[num_choices])),
            chooser_jit(size, block, swaps),
            one_sign,
            relative,
            block,
            numbers,
            values,
            errors,
            policy,
        )
        # For a single state nothing is left to find: its one unknown is solved for.
        if not width <= tolerance and (size > 1 or not width < np.inf):
            return number
    return last


solve_components_jit = compiled(solve_components)
