"""Bellman's equation of a whole model, with the rows of the chosen choices in sequence.

For models whose players keep their places; the graph of the equation is unsigned. The rows of the
choices that a policy takes are copied to separate arrays, so that a sweep along the policy
reads no others. A choice that is better than the others of its state by some gap is still the
best as long as the values have moved by less, apart from what they have in common: Bellman's
operator is then known without evaluating the others.

In the loops, arrays have names of their own: each access to a tuple counts references, at the price
of several transitions. Numbers are unsigned: whether a signed index counts from the end of an array
would be checked each time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gamedp.bellman.equation import probability_jit
from gamedp.runtime.jit import compiled

if TYPE_CHECKING:
    import numpy.typing as npt

    from gamedp.bellman.equation import Equation, Probabilities
    from gamedp.graph.graph import Graph
    from gamedp.runtime.arrays import Floats, Naturals

    Integers = npt.NDArray[np.int64]

ONE = np.uintp(1)
TWO = np.uintp(2)

SLICE = 1 << 15
"""Largest number of states of one call of :func:`improve`."""

AT_HAND, STATES_PER_EXAMINED = 1 << 13, 6
"""States are examined one by one if at most one in `STATES_PER_EXAMINED` needs it, in models of
more than `AT_HAND` states: too many for the processor's cache. In smaller ones, if at most one in
two does."""

MOST_WALKS = 64
"""Walks that look for a cycle."""

LOW, HIGH, LEAST, LIMIT, NEAREST, LAST, DRIFT, MARGIN, SIZE, DOWN, UP = range(11)
"""Meaning of the places of the array `numbers`."""
NUM_NUMBERS = 11


class Extremes(NamedTuple):
    """Properties that all choices of an equation have in common.

    Attributes
    ----------
    has_terminals : bool
    longest : int
        The largest number of transitions of a choice.
    width : int
        The number that all choices have, unsigned, if there are no terminal states; else 0.
    largest : float
        The largest absolute value of `constants`.
    sum_low, sum_high : float
        The extremes of the sums of probabilities of a choice.
    """

    has_terminals: bool
    longest: int
    width: np.unsignedinteger[Any]
    largest: float
    sum_low: float
    sum_high: float


class PolicyRows(NamedTuple):
    """The rows of the chosen choices.

    Attributes
    ----------
    first, last : (S,)
        The transitions of state s are ``first[s] .. last[s] - 1``; there is room for those of its
        longest choice.
    successors, probabilities : (R,)
        To be read.
    codebook : (P,) or None
        As in the equation.
    room_successors, room_probabilities : (R,) or empty
        The same arrays, to be written; empty if no state has several choices, and the arrays read
        are those of the model.
    constants : (S,)
        The rewards of the choices, or the payoff.
    policy : (S,) int64
        The choices; -1 if there is none yet.
    clear : (S,)
        The drift, discounted, up to which the choice is surely the best. Infinite without choices.
    undecided : (SLICE or S,)
        Scratch for the states of a slice.
    """

    first: Naturals
    last: Naturals
    successors: Naturals
    probabilities: Probabilities
    codebook: Floats | None
    room_successors: Naturals
    room_probabilities: Probabilities
    constants: Floats
    policy: Integers
    clear: Floats
    undecided: Naturals


def survey(equation: Equation, first: Naturals) -> tuple[int, int, int, int, float, float, float]:
    """Find where the rows of each state's choice begin, if each has room for the longest.

    Returns
    -------
    room : int
        The room that all rows need.
    shortest, longest : int
        The smallest and the largest number of transitions of a choice.
    most_choices : int
        The largest number of choices of a state.
    largest : float
        The largest absolute value of a constant.
    sum_low, sum_high : float
        The extremes of the sums of probabilities of a choice.
    """
    graph = equation.graph
    choice_offsets, transition_offsets = graph.choice_offsets, graph.transition_offsets
    probabilities, codebook = equation.probabilities, equation.codebook
    constants = equation.constants
    room = np.uintp(0)
    shortest = np.uintp(transition_offsets[-1])
    longest = np.uintp(0)
    most_choices = np.uintp(0)
    largest = 0.0
    sum_low, sum_high = np.inf, -np.inf
    for state in range(np.uintp(len(first))):
        first_choice = choice_offsets[state]
        last_choice = choice_offsets[state + ONE]
        first[state] = room
        if last_choice - first_choice > most_choices:
            most_choices = last_choice - first_choice
        width = np.uintp(0)
        for choice in range(first_choice, last_choice):
            first_t = transition_offsets[choice]
            next_t = transition_offsets[ONE + choice]
            its = next_t - first_t
            width = its if its > width else width
            shortest = its if its < shortest else shortest
            size = abs(constants[choice])
            # Written so that a NaN counts.
            largest = largest if size <= largest else size
            total = 0.0
            for t in range(first_t, next_t):
                total += probability_jit(probabilities, codebook, t)
            sum_low = total if total < sum_low else sum_low
            sum_high = total if total > sum_high else sum_high
        room += width
        longest = width if width > longest else longest
    return int(room), int(shortest), int(longest), int(most_choices), largest, sum_low, sum_high


survey_jit = compiled(survey)


def meets_itself(graph: Graph, met: Integers) -> bool:
    """Return whether a random walk visits a state twice; `met` has zeros for all states.

    There are several walks, of not many more steps than states; finding nothing proves nothing.
    """
    choice_offsets, transition_offsets = graph.choice_offsets, graph.transition_offsets
    num_states = len(met)
    dice = 1
    steps = 0
    for walk in range(1, MOST_WALKS + 1):
        dice = (dice * 1664525 + 1013904223) & 0xFFFFFFFF
        state = np.uintp(dice % num_states)
        while choice_offsets[state] < choice_offsets[state + ONE]:
            if met[state] == walk:
                return True
            steps += 1
            if steps > num_states + MOST_WALKS**2:
                return False
            met[state] = walk
            dice = (dice * 1664525 + 1013904223) & 0xFFFFFFFF
            first = choice_offsets[state]
            choice = first + np.uintp(dice >> 16) % (choice_offsets[state + ONE] - first)
            first = transition_offsets[choice]
            its = transition_offsets[choice + ONE] - first
            state = np.uintp(graph.successors[first + np.uintp(dice >> 8) % its])
    return False


meets_itself_jit = compiled(meets_itself)


def is_narrow(graph: Graph, width: int) -> bool:
    """Return whether no transition leads farther than `width` states, except to terminal states."""
    choice_offsets, transition_offsets = graph.choice_offsets, graph.transition_offsets
    num_states = np.uintp(len(choice_offsets) - 1)
    for state in range(num_states):
        first = transition_offsets[choice_offsets[state]]
        last = transition_offsets[choice_offsets[state + ONE]]
        for t in range(first, last):
            successor = np.uintp(graph.successors[t])
            # Written so that nothing is below zero.
            if (successor > state + np.uintp(width) or state > successor + np.uintp(width)) and (
                choice_offsets[successor] < choice_offsets[successor + ONE]
            ):
                return False
    return True


is_narrow_jit = compiled(is_narrow)


def find_undecided(start: int, stop: int, limit: float, rows: PolicyRows) -> int:
    """List the states among ``start .. stop-1`` whose choice is not clear; return their number."""
    clear, undecided = rows.clear, rows.undecided
    count = np.uintp(0)
    for state in range(start, stop):
        # No branch, because none could be predicted.
        undecided[count] = state - start
        count += ONE - np.uintp(clear[state] > limit)
    return count  # type: ignore[return-value] # unsigned


find_undecided_jit = compiled(find_undecided)


def examine(
    start: int,
    number: int,
    listed: bool,
    drift: float,
    equation: Equation,
    extremes: Extremes,
    rows: PolicyRows,
    values: Floats,
    new_values: Floats,
) -> int:
    """Apply Bellman's operator to states from `start` on; return how many choices changed.

    These are the next `number` ones, or as many listed ones. How far values may drift, `drift`
    included, until a choice need not be the best, is written to `rows.clear`.
    """
    choice_offsets, transition_offsets, successors = equation.graph
    probabilities, codebook = equation.probabilities, equation.codebook
    constants, maximise, discount = equation.constants, equation.maximise, equation.discount
    width = extremes.width
    clear, policy, undecided = rows.clear, rows.policy, rows.undecided
    first, last, row_constants = rows.first, rows.last, rows.constants
    room_successors, room_probabilities = rows.room_successors, rows.room_probabilities
    changed = 0
    for place in range(number):
        state = start + (np.uintp(undecided[place]) if listed else np.uintp(place))
        first_choice = choice_offsets[state]
        last_choice = choice_offsets[state + ONE]
        if first_choice == last_choice:
            new_values[state] = values[state]
            continue
        sign = 1.0 if maximise[state] else -1.0
        best = second = -np.inf
        best_choice = first_choice
        t = transition_offsets[first_choice]
        for choice in range(first_choice, last_choice):
            total = 0.0
            next_t = t + width if width > 0 else transition_offsets[choice + ONE]
            # Two together count as one; with more, fewer values are prefetched.
            while t + TWO <= next_t:
                for _ in range(2):
                    total += probability_jit(probabilities, codebook, t) * values[successors[t]]
                    t += ONE
            while t < next_t:
                total += probability_jit(probabilities, codebook, t) * values[successors[t]]
                t += ONE
            result = sign * (constants[choice] + discount * total)
            less = best if result > best else result
            second = less if less > second else second
            best_choice = choice if result > best else best_choice
            best = result if result > best else best
        new_values[state] = sign * best
        clear[state] = drift + (best - second)
        if policy[state] != np.int64(best_choice):
            policy[state] = best_choice
            row_constants[state] = constants[best_choice]
            t = transition_offsets[best_choice]
            last_t = transition_offsets[best_choice + ONE]
            room = first[state]
            while t < last_t:
                room_successors[room] = successors[t]
                room_probabilities[room] = probabilities[t]
                room += ONE
                t += ONE
            last[state] = room
            changed += 1
    return changed


examine_jit = compiled(examine)


def follow_any(
    start: int,
    stop: int,
    backwards: bool,
    discount: float,
    rows: PolicyRows,
    values: Floats,
    new: Floats,
) -> None:
    """Write the values of the chosen rows of the states ``start .. stop-1`` into `new`."""
    first, last, constants = rows.first, rows.last, rows.constants
    successors, probabilities, codebook = rows.successors, rows.probabilities, rows.codebook
    for place in range(start, stop):
        state = start + (stop - ONE) - place if backwards else place
        total = 0.0
        t = first[state]
        last_t = last[state]
        while t + TWO <= last_t:
            for _ in range(2):
                total += probability_jit(probabilities, codebook, t) * values[successors[t]]
                t += ONE
        while t < last_t:
            total += probability_jit(probabilities, codebook, t) * values[successors[t]]
            t += ONE
        new[state] = constants[state] + discount * total


follow_any_jit = compiled(follow_any)


def follow_even(
    start: int,
    stop: int,
    row: tuple[int, ...],
    discount: float,
    rows: PolicyRows,
    values: Floats,
    new: Floats,
) -> None:
    """Do the same if all rows are as long as `row`, a tuple, so that each length is compiled."""
    constants, successors = rows.constants, rows.successors
    probabilities, codebook = rows.probabilities, rows.codebook
    t = start * np.uintp(len(row))
    for state in range(start, stop):
        total = 0.0
        for _ in range(len(row)):
            total += probability_jit(probabilities, codebook, t) * values[successors[t]]
            t += ONE
        new[state] = constants[state] + discount * total


follow_even_jit = compiled(follow_even)


def follow(
    start: int,
    stop: int,
    backwards: bool,
    discount: float,
    extremes: Extremes,
    rows: PolicyRows,
    values: Floats,
    new: Floats,
) -> None:
    """Write the values of the chosen rows of the states ``start .. stop-1`` into `new`.

    These may be the values themselves (Gauss-Seidel).
    """
    width = 0 if backwards else int(extremes.width)
    if width == 2:
        follow_even_jit(start, stop, (0,) * 2, discount, rows, values, new)
    elif width == 3:
        follow_even_jit(start, stop, (0,) * 3, discount, rows, values, new)
    elif width == 4:
        follow_even_jit(start, stop, (0,) * 4, discount, rows, values, new)
    elif width == 5:
        follow_even_jit(start, stop, (0,) * 5, discount, rows, values, new)
    else:
        follow_any_jit(start, stop, backwards, discount, rows, values, new)


follow_jit = compiled(follow)


def improve(
    start: int,
    stop: int,
    equation: Equation,
    extremes: Extremes,
    rows: PolicyRows,
    values: Floats,
    new_values: Floats,
    numbers: Floats,
) -> int:
    """Apply Bellman's operator to the states ``start .. stop-1``; return how many choices changed.

    The extremes of the changes go to `numbers`. If most choices are clear, these are followed
    first, all together, and then the other states, here and there, which takes longer.
    """
    discount = equation.discount
    count = find_undecided_jit(start, stop, discount * numbers[DRIFT] + numbers[MARGIN], rows)
    arguments = (discount * numbers[DRIFT], equation, extremes, rows, values, new_values)
    spared = STATES_PER_EXAMINED if len(values) > AT_HAND else 2
    if spared * count < stop - start:
        backwards = np.bool_(False)  # a literal would be compiled for separately
        follow_jit(start, stop, backwards, discount, extremes, rows, values, new_values)
        changed = examine_jit(start, count, True, *arguments)
    else:
        changed = examine_jit(start, stop - start, False, *arguments)
    low, high = numbers[LOW], numbers[HIGH]
    for state in range(start, stop):
        difference = new_values[state] - values[state]
        # Written so that a NaN counts.
        low = low if difference >= low else difference
        high = high if difference <= high else difference
    numbers[LOW], numbers[HIGH] = low, high
    return int(changed)


improve_jit = compiled(improve)


def probe(
    step: int, discount: float, rows: PolicyRows, values: Floats
) -> tuple[float, float, float]:
    """Return by how much following the choices would change some states, `step` apart.

    Returns
    -------
    lowest, highest, mean : float
        The extremes and the mean of these changes; all 0 if there are none.
    """
    first, last, constants = rows.first, rows.last, rows.constants
    successors, probabilities, codebook = rows.successors, rows.probabilities, rows.codebook
    lowest = np.inf
    highest = -np.inf
    sum_of_all = 0.0
    count = 0
    for state in range(0, len(values), step):
        t = first[state]
        last_t = last[state]
        if t == last_t:
            continue
        total = 0.0
        while t < last_t:
            total += probability_jit(probabilities, codebook, t) * values[successors[t]]
            t += ONE
        change = constants[state] + discount * total - values[state]
        lowest = lowest if change >= lowest else change
        highest = highest if change <= highest else change
        sum_of_all += change
        count += 1
    return (lowest, highest, sum_of_all / count) if count else (0.0, 0.0, 0.0)


probe_jit = compiled(probe)
