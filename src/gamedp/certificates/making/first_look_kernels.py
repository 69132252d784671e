"""Choices that keep bounds, and the misses of the others: the checker's first look, compiled.

Nothing rests on it, as what comes of it is checked; but what it says should be what the checker
finds. Directions, nodes and equations are those of :mod:`gamedp.certificates.making.rank_kernels`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gamedp.runtime.floats import TINY, UNIT
from gamedp.runtime.jit import compiled, inlined

if TYPE_CHECKING:
    import numpy.typing as npt

    from gamedp.bellman.equation import Equation

    Integers = npt.NDArray[np.signedinteger[Any]]
    Floats = npt.NDArray[np.float64]
    Flags = npt.NDArray[np.bool_]

NONE = -1

ULPS = 2.0**-51
ROUGH = 1.5 * 2.0**26
"""Adding and subtracting it leaves a multiple of 2**-26."""
MOST_UNSURE = 2.0**-20
"""Upper bound of the relative error of the probabilities of a distribution."""
LEAST_MISS = 2.0**-60
"""Least miss that counts."""
FAINT = 2.0**-1070
"""Bound of what a product or a probability may lose to underflow, as in the checker."""


class ChoiceMisses(NamedTuple):
    """The results of :func:`look` for the choices, in both directions.

    Attributes
    ----------
    misses : (2, C)
        By which part of the bounds a choice may miss its inequality: 0 if it surely does not.
    undecided : (2, C) bool
        Those that rounding leaves open.
    best : (2, S)
        The choice that seems to have the largest value; NONE where there is none.
    """

    misses: Floats
    undecided: Flags
    best: Integers


def unsure_part(choice: int, equation: Equation) -> float:
    """Return the relative error bound of each probability of a choice, as the checker does."""
    graph = equation.graph
    first = graph.transition_offsets[choice]
    last = graph.transition_offsets[choice + 1]
    if last - first == 1 and abs(equation.probabilities[first]) == 1.0:
        return ULPS
    excess = -1.0
    rest = 0.0
    for t in range(first, last):
        probability = abs(equation.probabilities[t])
        coarse = (probability + ROUGH) - ROUGH
        excess += coarse
        rest += probability - coarse
    count = float(last - first)
    return max(ULPS, abs(excess + rest) * (1.0 + 2.0**-19) + count * count * 2.0**-79)


unsure_part_jit = compiled(unsure_part)


def half(number: float) -> float:
    """Return the first half of the digits of a number (Veltkamp)."""
    scaled = (2.0**27 + 1.0) * number
    return scaled - (scaled - number)


half_jit = inlined(half)


def wanted(bound: float, reward: float, discount: float) -> tuple[float, float, float]:
    """Return the mean that a choice must reach, as `mean` and `rest`, and its size."""
    target = bound - reward
    back = target - bound
    rest = (bound - (target - back)) - (reward + back)
    if discount == 1.0:
        return target, rest, abs(rest)
    mean = target / discount
    product = discount * mean
    high = half_jit(discount)
    low = discount - high
    other_high = half_jit(mean)
    other_low = mean - other_high
    lost = (high * other_high - product) + high * other_low + low * other_high + low * other_low
    gap = target - product
    size = abs(gap) + abs(rest) + abs(lost)
    rest = gap + rest - lost
    if not 2.0**-900 < abs(product) < 2.0**900 and mean != 0.0:
        rest += 2.0**-52 * abs(product) + FAINT
    return mean, rest, size


wanted_jit = inlined(wanted)


def sums(
    choice: int, equation: Equation, bounds: Floats, one: float, other: float
) -> tuple[float, float, float, float]:
    """Return the mean of the bounds after a choice less `one` and `other`, and the sizes summed."""
    graph = equation.graph
    rest = 0.0
    size = 0.0
    other_rest = 0.0
    other_size = 0.0
    for t in range(graph.transition_offsets[choice], graph.transition_offsets[choice + 1]):
        probability = equation.probabilities[t]
        successor = graph.successors[t]
        bound = bounds[successor, 0]
        other_bound = bounds[successor, 1]
        if probability < 0.0:
            probability = -probability
            bound = bounds[successor, 2]
            other_bound = bounds[successor, 3]
        term = probability * (bound - one)
        rest += term
        size += abs(term)
        term = probability * (other_bound - other)
        other_rest += term
        other_size += abs(term)
    return rest, size, other_rest, other_size


sums_jit = compiled(sums)


def extremes(
    choice: int, direction: int, equation: Equation, bounds: Floats
) -> tuple[float, float]:
    """Return the least and the greatest bound that may follow."""
    graph = equation.graph
    least = np.inf
    most = -np.inf
    for t in range(graph.transition_offsets[choice], graph.transition_offsets[choice + 1]):
        column = direction if equation.probabilities[t] > 0.0 else 2 + direction
        bound = bounds[graph.successors[t], column]
        least = min(least, bound)
        most = max(most, bound)
    return least, most


extremes_jit = compiled(extremes)


def look(
    equation: Equation,
    bounds: Floats,
    discount: float,
    missing_counts: Flags,
    is_rounded: bool,
    found: ChoiceMisses,
) -> None:
    """Find the choices that keep the bounds, as the checker's first look does, but compiled.

    Nothing rests on it: what comes of it is checked.

    Parameters
    ----------
    bounds : (S, 4)
        Of both directions; and those that count after a change of places, rounded down.
    missing_counts : (2,) bool
        Whether the value of missing a target is plus infinity in every case.
    is_rounded : bool
        Whether the latter are rounded.
    found : ChoiceMisses
        Filled.
    """
    graph = equation.graph
    least_short = np.empty(2)
    short = np.empty(2)
    size = np.empty(2)
    mean = np.empty(2)
    rest = np.empty(2)
    blur = np.empty(2)
    for state in range(len(graph.choice_offsets) - 1):
        for direction in range(2):
            found.best[direction, state] = NONE
        for choice in range(graph.choice_offsets[state], graph.choice_offsets[state + 1]):
            for direction in range(2):
                mean[direction], rest[direction], blur[direction] = wanted_jit(
                    bounds[state, direction], equation.constants[direction, choice], discount
                )
            short[0], size[0], short[1], size[1] = sums_jit(
                choice, equation, bounds, mean[0], mean[1]
            )
            count = graph.transition_offsets[choice + 1] - graph.transition_offsets[choice]
            part = -1.0
            for direction in range(2):
                bound = bounds[state, direction]
                undecided = False
                if abs(bound) < np.inf and size[direction] < np.inf:
                    total = discount * short[direction]
                    missed = rest[direction] - total
                    slack = ((count + 2) * UNIT + MOST_UNSURE) * size[direction]
                    blurred = 2.0**-49 * (blur[direction] + abs(total) + slack)
                    if size[direction] > 0.0 and abs(missed) <= slack + blurred:
                        if part < 0.0:
                            part = unsure_part_jit(choice, equation)
                        slack = ((count + 2) * UNIT + part) * size[direction] * (1.0 + 2.0**-20)
                        blurred = 2.0**-50 * (blur[direction] + abs(total) + slack)
                    if size[direction] > 0.0 and (size[direction] < 1e-280 or abs(bound) < 1e-280):
                        blurred += count * FAINT * (1.0 + size[direction])
                    off = slack + blurred
                    up = ULPS * (abs(mean[direction]) + size[direction]) if is_rounded else 0.0
                    undecided = -off < missed <= off + up
                    missed += off
                else:
                    least, most = extremes_jit(choice, direction, equation, bounds)
                    lost = least == -np.inf and not (most == np.inf and missing_counts[direction])
                    missed = np.inf if lost else -np.inf
                    if not lost and most < np.inf:
                        undecided = abs(bound) < np.inf  # too large to be added
                        missed = np.inf
                    if bound == np.inf:
                        missed = -np.inf
                scale = max(abs(bound), abs(mean[direction]))
                found.undecided[direction, choice] = undecided
                if missed <= 0.0:
                    found.misses[direction, choice] = 0.0
                elif missed < np.inf and scale > 0.0:
                    found.misses[direction, choice] = max((missed - TINY) / scale, LEAST_MISS)
                else:
                    found.misses[direction, choice] = LEAST_MISS if missed <= TINY else np.inf
                if found.best[direction, state] == NONE or missed < least_short[direction]:
                    least_short[direction] = missed
                    found.best[direction, state] = choice


look_jit = compiled(look)


def keeps(
    choice: int,
    direction: int,
    bound: float,
    equation: Equation,
    bounds: Floats,
    discount: float,
) -> bool:
    """Return whether a choice certainly keeps a finite bound of its state, as :func:`look` does."""
    graph = equation.graph
    first = graph.transition_offsets[choice]
    last = graph.transition_offsets[choice + 1]
    mean, rest, blur = wanted_jit(bound, equation.constants[direction, choice], discount)
    short = 0.0
    size = 0.0
    for t in range(first, last):
        probability = equation.probabilities[t]
        column = direction
        if probability < 0.0:
            probability = -probability
            column = 2 + direction
        term = probability * (bounds[graph.successors[t], column] - mean)
        short += term
        size += abs(term)
    if size == 0.0 and blur == 0.0:
        return True
    total = discount * short
    missed = rest - total
    slack = ((last - first + 2) * UNIT + MOST_UNSURE) * size
    blurred = 2.0**-49 * (blur + abs(total) + slack)
    if abs(missed) <= slack + blurred:
        slack = ((last - first + 2) * UNIT + unsure_part_jit(choice, equation)) * size
        slack *= 1.0 + 2.0**-20
        blurred = 2.0**-50 * (blur + abs(total) + slack)
    if size > 0.0 and (size < 1e-280 or abs(bound) < 1e-280):
        blurred += (last - first) * FAINT * (1.0 + size)
    return bool(missed + slack + blurred <= 0.0)


keeps_jit = inlined(keeps)


def look_along(
    equation: Equation,
    bounds: Floats,
    discount: float,
    required: Flags,
    via: Integers,
    fails: Flags,
) -> int:
    """Find the nodes whose bounds a policy may not keep; return their number.

    Parameters
    ----------
    bounds : (S, 4)
        As for :func:`look`.
    required : (2, S) bool
        The nodes with something to be shown.
    via : (2, S)
        A helper's choices. Where one does not surely keep the bound and another does, that one is
        put in its place.
    fails : (2, S) bool
        Filled.
    """
    graph = equation.graph
    count = 0
    for state in range(len(graph.choice_offsets) - 1):
        first = graph.choice_offsets[state]
        last = graph.choice_offsets[state + 1]
        for direction in range(2):
            fails[direction, state] = False
            if not required[direction, state]:
                continue
            helps = equation.maximise[direction, state]
            bound = bounds[state, direction]
            own = via[direction, state]
            if helps and keeps_jit(own, direction, bound, equation, bounds, discount):
                continue
            does = not helps
            for choice in range(first, last):
                if helps and choice == own:
                    continue
                if keeps_jit(choice, direction, bound, equation, bounds, discount) == helps:
                    does = helps
                    via[direction, state] = choice
                    break
            if not does:
                fails[direction, state] = True
                count += 1
    return count


look_along_jit = compiled(look_along)
