"""Solving a model component by component, successors first.

What the arrays mean is said in :mod:`gamedp.kernels.bellman`, what is proven in
:mod:`gamedp.kernels.proofs`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.kernels.bellman import backup_jit, sweep_jit
from gamedp.kernels.jit import compiled
from gamedp.kernels.proofs import GREEDY, UNIT, certify_jit, settle_jit, survey_jit, weigh_jit

if TYPE_CHECKING:
    import numpy.typing as npt

    from gamedp.kernels.bellman import Rows

    Integers = npt.NDArray[np.signedinteger[Any]]
    Floats = npt.NDArray[np.float64]
    Flags = npt.NDArray[np.bool_]


def newton(
    start: int,
    stop: int,
    rows: Rows,
    key_state: int,
    values: Floats,
    slopes: Floats,
    weights: Floats,
    shares: Floats,
    policy: Integers,
) -> int:
    """Solve a component all of whose cycles lead through one state, `key_state`.

    One sweep maps the value x of that state to g(x), and gives the slope of g. Where play leaves
    the component almost surely, ``x - g(x)`` rises strictly, so that Newton's method, kept inside
    the interval where the sign changes, finds its zero: when a sweep no longer changes the policy,
    the step after it is exact, and all values follow along their slopes.

    The weights of the greedy policy (see :func:`gamedp.kernels.proofs.weigh`) come along: they
    solve a linear system with the same one unknown. Slopes, weights and shares are zero outside the
    component; slopes and shares are zero everywhere in the end.

    Returns
    -------
    sweeps : int
        Negative if the component has no finite weights: play may stay in it for ever.
    """
    low = -np.inf
    high = np.inf
    sweeps = 0
    step = values[key_state]
    guess = np.nan
    changed = True
    while changed and step != guess and sweeps < 64:
        changed = False
        sweeps += 1
        values[key_state] = step
        guess = step
        slopes[key_state] = 1.0
        weights[key_state] = 0.0
        shares[key_state] = 1.0
        for position in range(start, stop):
            state = rows.order[position]
            sign = 1.0 if rows.maximise[state] else -1.0
            best = -np.inf
            best_choice = rows.choice_offsets[state]
            slope = weight = share = 0.0
            for choice in range(rows.choice_offsets[state], rows.choice_offsets[state + 1]):
                # Four sums at once take hardly longer than one: each waits for its own last term.
                total = its_slope = its_weight = its_share = 0.0
                for t in range(
                    rows.transition_offsets[choice], rows.transition_offsets[choice + 1]
                ):
                    target = rows.successors[t]
                    probability = rows.probabilities[t]
                    total += probability * values[target]
                    its_slope += probability * slopes[target]
                    its_weight += abs(probability) * weights[target]
                    its_share += abs(probability) * shares[target]
                value = sign * (rows.constants[choice] + rows.discount * total)
                if value > best:
                    best = value
                    best_choice = choice
                    slope, weight, share = its_slope, its_weight, its_share
            if best_choice != policy[state]:
                policy[state] = best_choice
                changed = True
            values[state] = sign * best
            slopes[state] = rows.discount * slope
            weights[state] = 1.0 + rows.discount * weight
            shares[state] = rows.discount * share
        result = values[key_state]
        slope = slopes[key_state]
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
            for position in range(start, stop):
                values[rows.order[position]] += slopes[rows.order[position]] * (step - guess)
            values[key_state] = step
    weight = weights[key_state] / (1.0 - shares[key_state])
    if not 0.0 < weight < np.inf:
        sweeps = -sweeps
    for position in range(start, stop):
        state = rows.order[position]
        # States after the key state have its own weight and share in theirs already.
        weights[state] += shares[state] * weight
        shares[state] = 0.0
        slopes[state] = 0.0
    weights[key_state] = weight
    return sweeps


newton_jit = compiled(newton)


def sweep_until(
    start: int,
    stop: int,
    rows: Rows,
    threshold: float,
    values: Floats,
    weights: Floats,
    policy: Integers,
    visits: Integers,
) -> bool:
    """Sweep over a component until its values change little, and find weights; not for long."""
    for round_ in range(100):
        visits[0] += stop - start
        if sweep_jit(start, stop, rows, values, policy) <= threshold:
            break
        if round_ == 99:
            return False
    for position in range(start, stop):
        weights[rows.order[position]] = 1.0 / (1.0 - rows.discount) if rows.discount < 1.0 else 1.0
    for _ in range(100):
        if rows.discount < 1.0:
            return True
        if weigh_jit(start, stop, rows, values, policy, GREEDY, 0.0, weights) <= 0.5:
            return True
    return False


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
    weights: Floats,
    slopes: Floats,
    shares: Floats,
    place: Integers,
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
        key_state, outside = survey_jit(start, stop, rows, errors, place)
        width = np.inf
        if key_state >= 0:
            # Neighbouring components tend to have similar values.
            values[key_state] = guess
            sweeps = newton_jit(
                start, stop, rows, key_state, values, slopes, weights, shares, policy
            )
            visits[0] += abs(sweeps) * size
            if sweeps > 0:
                width = certify_jit(start, stop, rows, outside, values, weights, errors, policy)
            guess = values[key_state]
        elif sweep_until_jit(start, stop, rows, 0.01 * tolerance, values, weights, policy, visits):
            width = certify_jit(start, stop, rows, outside, values, weights, errors, policy)
        if not width <= tolerance:
            return number
    return last


solve_components_jit = compiled(solve_components)
