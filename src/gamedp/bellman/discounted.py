"""Modified policy iteration over a whole discounted model, in consecutive slices.

Bellman's operator T evaluates all choices, an improvement; between two of these, sweeps along the
chosen ones alone bring the values close to those of the policy. With v the values before an
improvement, b the discount and d = Tv - v, the true values lie in ``v + [min d, max d] / (1 - b)``,
and those after it in ``Tv + b * [min d, max d] / (1 - b)`` [1]_. Terminal states (d = 0) count.
Only this bound decides when iteration ends; between two improvements, anything may be done that is
fast.

A sweep along the choices goes from state to state in place (Gauss-Seidel), repeatedly in one
direction or back and forth, whichever is faster. Then some states show the error of the values:
their mean is the error that all values have in common, which sweeps alone would reduce by no more
than the discount.

Rounding: a value is off by at most ``(k + 10) * u * A``, for the largest number k of transitions of
a choice and the largest sum A of the absolute terms; see :mod:`gamedp.bellman.residuals`, where the
same allowance is made. Probabilities need not sum to one exactly: the least and the largest of
their sums count.

References
----------
.. [1] M. Puterman, "Markov Decision Processes", Wiley 1994, sections 6.5 and 6.6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gamedp.bellman.policy_rows import (
    DOWN,
    DRIFT,
    HIGH,
    LAST,
    LEAST,
    LIMIT,
    LOW,
    MARGIN,
    NEAREST,
    ONE,
    SIZE,
    SLICE,
    TWO,
    UP,
    follow_jit,
    improve_jit,
    probe_jit,
)
from gamedp.runtime.floats import TINY, UNIT, UPWARD
from gamedp.runtime.jit import compiled, inlined

if TYPE_CHECKING:
    import numpy.typing as npt

    from gamedp.bellman.equation import Equation
    from gamedp.bellman.policy_rows import Extremes, PolicyRows
    from gamedp.graph.graph import Graph
    from gamedp.runtime.arrays import Floats

    Integers = npt.NDArray[np.int64]

MAX_FAILED_IMPROVEMENTS = 8
"""Improvements that may fail to reduce the changes before there are fewer sweeps in between."""

COARSEST, FINEST = 0.2, 0.0001
"""Largest and smallest factor to which sweeps along the choices reduce the changes of an
improvement: the fewer choices have changed, the more exact values of the policy pay off."""

FINAL_ACCURACY_SHARE = 0.4
"""Fraction of the requested accuracy that they finally reach, as a probe misses some states."""

BATCH = 1 << 10
"""Approximate number of states that a probe visits; of small models, an eleventh of all."""

(
    PHASE, PLACE, FLIPPED, IMPROVEMENTS, MOST_IMPROVEMENTS, INNER, MOST_INNER, CHANGED, IN_VAIN,
    IN_VAIN_INNER, BACKWARDS, NO_SHIFTS, VISITS,
) = range(13)  # fmt: skip
"""Integer state of a run."""
NUM_MARKS = 13

BEGIN, IMPROVE, FOLLOW, DONE, STUCK, OUT_OF_SWEEPS = range(6)
"""The next phase; or whether values are as close as requested, as rounding allows, or neither."""


def begin(
    start: int,
    stop: int,
    equation: Equation,
    rows: PolicyRows,
    values: Floats,
    before: Floats,
) -> None:
    """Choose the highest immediate reward in the states ``start .. stop-1``; that is their value.

    Terminal states have their values. If no state has a choice, the rows are in place.
    """
    choice_offsets, transition_offsets, successors = equation.graph
    probabilities, constants, maximise = (
        equation.probabilities,
        equation.constants,
        equation.maximise,
    )
    first, last, policy, clear = rows.first, rows.last, rows.policy, rows.clear
    row_constants = rows.constants
    room_successors, room_probabilities = rows.room_successors, rows.room_probabilities
    in_place = len(room_successors) == 0
    for state in range(start, stop):
        first_choice = choice_offsets[state]
        last_choice = choice_offsets[state + ONE]
        if first_choice == last_choice:
            last[state] = first[state]
            row_constants[state] = before[state] = values[state]
            policy[state] = -1
            clear[state] = np.inf
            continue
        sign = 1.0 if maximise[state] else -1.0
        best = sign * constants[first_choice]
        best_choice = first_choice
        for choice in range(first_choice + ONE, last_choice):
            other = sign * constants[choice]
            best_choice = choice if other > best else best_choice
            best = other if other > best else best
        policy[state] = best_choice
        clear[state] = -1.0
        row_constants[state] = values[state] = before[state] = sign * best
        t = transition_offsets[best_choice]
        last_t = transition_offsets[best_choice + ONE]
        room = first[state]
        last[state] = room + (last_t - t)
        if in_place:
            continue
        while t + TWO <= last_t:
            for _ in range(2):
                room_successors[room] = successors[t]
                room_probabilities[room] = probabilities[t]
                room += ONE
                t += ONE
        while t < last_t:
            room_successors[room] = successors[t]
            room_probabilities[room] = probabilities[t]
            room += ONE
            t += ONE


begin_jit = compiled(begin)


def prepare(
    discount: float, extremes: Extremes, values: Floats, before: Floats, numbers: Floats
) -> None:
    """Prepare an improvement: measure how far values have moved since the last, and their size.

    The range of the moves adds to the drift. A choice that was the best by more than that still is,
    even if everything related to it was off by rounding: that is the margin.
    """
    lowest = highest = 0.0 if extremes.has_terminals else values[0] - before[0]
    most = 0.0
    for state in range(len(values)):
        move = values[state] - before[state]
        lowest = move if move < lowest else lowest
        highest = move if move > highest else highest
        size = abs(values[state])
        most = size if size > most else most
    numbers[DRIFT] += (highest - lowest) * UPWARD
    size = (extremes.largest + discount * max(1.0, extremes.sum_high) * most) * UPWARD
    numbers[SIZE] = max(numbers[SIZE], size)
    apart = max(0.0, extremes.sum_high - extremes.sum_low)
    numbers[MARGIN] = 4.0 * slack_jit(extremes, numbers) + 2.0 * apart * numbers[SIZE]
    numbers[LOW] = 0.0 if extremes.has_terminals else np.inf
    numbers[HIGH] = 0.0 if extremes.has_terminals else -np.inf


def slack(extremes: Extremes, numbers: Floats) -> float:
    """Return the largest error of a value by rounding."""
    return float((extremes.longest + 10) * (UNIT * numbers[SIZE] + TINY))


slack_jit = inlined(slack)
prepare_jit = compiled(prepare)


def bound(discount: float, extremes: Extremes, numbers: Floats) -> float:
    """Set bounds of the true values relative to those after an improvement; return the width.

    Bounds keep Bellman's inequalities, even when they are rounded once more. The width is infinite
    if probabilities sum to so much more than one that the discount does not outweigh it.
    """
    off = slack_jit(extremes, numbers)
    # The sums of probabilities are rounded as well.
    counted = (1.0 + (extremes.longest + 10) * UNIT) * UPWARD
    shrink = 1.0 - discount * extremes.sum_high * counted
    if not shrink > 0.0:
        numbers[DOWN], numbers[UP] = -np.inf, np.inf
        return np.inf
    room = off / shrink * UPWARD
    for side, extreme in ((DOWN, -(numbers[LOW] - off)), (UP, numbers[HIGH] + off)):
        # Outward, all sums of probabilities are assumed to be the largest; inward, the smallest.
        total = extremes.sum_high * counted if extreme > 0.0 else extremes.sum_low / counted
        ahead = discount * total * extreme / (1.0 - discount * total)
        ahead = ahead * UPWARD if extreme > 0.0 else ahead / UPWARD
        numbers[side] = ahead + room
    numbers[DOWN] = -numbers[DOWN]
    # Rounding outward adds a little.
    return float((numbers[UP] - numbers[DOWN]) * UPWARD + 8.0 * UNIT * numbers[SIZE])


bound_jit = compiled(bound)


def next_phase(
    tolerance: float, equation: Equation, extremes: Extremes, marks: Integers, numbers: Floats
) -> int:
    """Return the phase after an improvement, and set the accuracy of sweeps along the choices."""
    span = numbers[HIGH] - numbers[LOW]
    width = bound_jit(equation.discount, extremes, numbers)
    if width <= tolerance:
        return DONE
    off = slack_jit(extremes, numbers)
    marks[IN_VAIN] = 0 if span < numbers[LEAST] else marks[IN_VAIN] + 1
    numbers[LEAST] = min(span, numbers[LEAST])
    at_end = span <= 2.0 * off and (marks[IN_VAIN] > 3 or span <= 0.125 * off)
    if at_end or not span < np.inf:
        return STUCK
    if marks[IN_VAIN] > MAX_FAILED_IMPROVEMENTS:
        marks[MOST_INNER] //= 2
        marks[IN_VAIN] = 0
    # The target for the changes. The probe does not see all of them.
    goal = tolerance * (1.0 - equation.discount) / max(equation.discount, 0.5)
    closest = max(FINAL_ACCURACY_SHARE * goal, 0.125 * off)
    changed = marks[CHANGED] / len(equation.maximise)
    fraction = min(COARSEST, max(FINEST, 2.0 * changed))
    numbers[LIMIT] = closest if changed == 0.0 else max(fraction * span, closest)
    numbers[NEAREST] = numbers[LAST] = np.inf
    marks[INNER] = marks[IN_VAIN_INNER] = 0
    return FOLLOW if marks[MOST_INNER] > 0 else IMPROVE


next_phase_jit = compiled(next_phase)


def settle(
    discount: float,
    extremes: Extremes,
    rows: PolicyRows,
    values: Floats,
    marks: Integers,
    numbers: Floats,
) -> int:
    """Measure the progress of a sweep along the choices; return the next phase."""
    num_states = len(values)
    step = max(11, num_states // BATCH) | 1
    lowest, highest, mean = probe_jit(step, discount, rows, values)
    if extremes.has_terminals:
        lowest, highest = min(lowest, 0.0), max(highest, 0.0)
    span = highest - lowest
    marks[INNER] += 1
    if span < numbers[NEAREST]:
        numbers[NEAREST] = span
        marks[IN_VAIN_INNER] = 0
    else:
        marks[IN_VAIN_INNER] += 1
    if not span > numbers[LIMIT]:  # or it is NaN
        return IMPROVE
    if marks[INNER] >= marks[MOST_INNER] or marks[IN_VAIN_INNER] > MAX_FAILED_IMPROVEMENTS:
        return IMPROVE
    if span > 0.5 * numbers[LAST]:
        marks[BACKWARDS] = 1 - marks[BACKWARDS]
    if span > 4.0 * numbers[LAST]:
        # The changes seen by the probe are not what all states have in common.
        marks[NO_SHIFTS] = 1
    numbers[LAST] = span
    if not extremes.has_terminals and marks[NO_SHIFTS] == 0:
        shift = mean / (1.0 - discount)
        for state in range(num_states):
            values[state] += shift
    return FOLLOW


settle_jit = compiled(settle)


def conclude(graph: Graph, numbers: Floats, values: Floats, lower: Floats, upper: Floats) -> None:
    """Set the bounds of all values, and move these to the middle between them, if there is one."""
    down, up = numbers[DOWN], numbers[UP]
    middle = 0.5 * (down + up) if up - down < np.inf else 0.0
    for state in range(len(values)):
        value = values[state]
        if graph.choice_offsets[state] < graph.choice_offsets[state + 1]:
            # Rounding is allowed for.
            lower[state] = value + down
            upper[state] = value + up
            values[state] = min(max(value + middle, lower[state]), upper[state])
        else:
            lower[state] = upper[state] = value


conclude_jit = compiled(conclude)


def advance(
    budget: int,
    tolerance: float,
    equation: Equation,
    extremes: Extremes,
    rows: PolicyRows,
    values: Floats,
    other: Floats,
    marks: Integers,
    numbers: Floats,
) -> int:
    """Continue until values are close enough, or about `budget` transitions have been visited.

    At first, `values` contains the payoffs of terminal states, and `marks` only the limits.
    The values are in `values`, or in `other` while ``marks[FLIPPED]`` is 1: an improvement reads
    one and writes the other. At the end, the lower bounds are in the other one, and the
    upper bounds in `rows.clear`.

    Returns
    -------
    phase : int
        DONE, STUCK, or the next phase.
    """
    graph, discount = equation.graph, equation.discount
    num_states = np.uintp(len(values))
    if marks[FLIPPED]:
        values, other = other, values
    phase = marks[PHASE]
    place = np.uintp(marks[PLACE])
    while budget > 0 and phase < DONE:
        if place == 0 and phase == IMPROVE:
            prepare_jit(discount, extremes, values, other, numbers)
            marks[CHANGED] = 0
        stop = min(place + np.uintp(SLICE), num_states)
        if phase == BEGIN:
            begin_jit(place, stop, equation, rows, values, other)
            budget -= int(rows.last[stop - ONE] - rows.first[place])
        elif phase == IMPROVE:
            marks[CHANGED] += improve_jit(
                place, stop, equation, extremes, rows, values, other, numbers
            )
            first = graph.transition_offsets[graph.choice_offsets[place]]
            last = graph.transition_offsets[graph.choice_offsets[stop]]
            budget -= int(last - first)
        else:
            first, last = place, stop
            if marks[BACKWARDS]:
                first, last = num_states - stop, num_states - place
            follow_jit(first, last, marks[BACKWARDS] == 1, discount, extremes, rows, values, values)
            budget -= int(rows.last[last - ONE] - rows.first[first])
        budget -= int(stop - place)
        marks[VISITS] += int(stop - place)
        place = stop
        if place < num_states:
            continue
        place = np.uintp(0)
        if phase == BEGIN:
            numbers[LEAST] = numbers[NEAREST] = numbers[LAST] = np.inf
            phase = settle_jit(discount, extremes, rows, values, marks, numbers)
            numbers[LIMIT] = COARSEST * numbers[NEAREST]
            marks[INNER] = 0
            continue
        if phase == FOLLOW:
            phase = settle_jit(discount, extremes, rows, values, marks, numbers)
            continue
        values, other = other, values
        marks[FLIPPED] = 1 - marks[FLIPPED]
        marks[IMPROVEMENTS] += 1
        phase = next_phase_jit(tolerance, equation, extremes, marks, numbers)
        if phase < DONE and marks[IMPROVEMENTS] >= marks[MOST_IMPROVEMENTS]:
            phase = OUT_OF_SWEEPS
    if phase >= DONE:
        conclude_jit(graph, numbers, values, other, rows.clear)
    marks[PHASE] = phase
    marks[PLACE] = int(place)
    return int(phase)


advance_jit = compiled(advance)
