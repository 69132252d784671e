"""Modified policy iteration over a whole discounted model, in slices that follow one another.

Bellman's operator T looks at all choices, an improvement; between two of these, sweeps along the
chosen ones alone bring the values to what they are worth. With v the values before an improvement,
b the discount and d = Tv - v, the true values lie in ``v + [min d, max d] / (1 - b)``, and those
after it in ``Tv + b * [min d, max d] / (1 - b)`` [1]_. Terminal states, whose d is 0, count as well.
Nothing but this bound decides when it is over; all that is between two improvements may be done in
any way that is fast:

- The rows of the chosen choices lie one after the other in arrays of their own. A sweep along them
  goes from state to state in place (Gauss-Seidel), on and on in one direction or to and fro,
  whatever is faster. Then some states tell how far the values are off: their mean is the error that
  all values have in common, which sweeps alone would reduce by no more than the discount.
- A choice that is better than the others of its state by some gap is still the best as long as the
  values have moved by less, apart from what they have in common. So it is known without a look at
  the others: an exact step of Bellman's operator, along the chosen row.

Rounding: a value is off by at most ``(k + 10) * u * A``, for the largest number k of transitions of
a choice and the largest sum A of the absolute terms; see :mod:`gamedp.kernels.proofs`, where the
same allowance is made. Probabilities need not sum to one exactly: the least and the largest of
their sums count.

References
----------
.. [1] M. Puterman, "Markov Decision Processes", Wiley 1994, sections 6.5 and 6.6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gamedp.kernels.jit import compiled, inlined

if TYPE_CHECKING:
    import numpy.typing as npt

    Naturals = npt.NDArray[np.unsignedinteger[Any]]
    Integers = npt.NDArray[np.int64]
    Floats = npt.NDArray[np.float64]
    Flags = npt.NDArray[np.bool_]

ONE = np.uintp(1)
UNIT = 2.0**-53
UPWARD = 1.0 + 2.0**-46
"""Outweighs the rounding of the few operations that put a bound together."""

SLICE = 1 << 15
"""States between two looks at how much has been done."""

PATIENCE = 8
"""Improvements that may bring the changes down no further before sweeps in between get fewer."""

BATCH = 1 << 10
"""States that a probe looks at, about; of small models, a seventh of all."""

(
    PHASE, PLACE, FLIPPED, IMPROVEMENTS, MOST_IMPROVEMENTS, INNER, MOST_INNER, CHANGED, IN_VAIN,
    IN_VAIN_INNER, BACKWARDS, NO_SHIFTS, VISITS,
) = range(13)  # fmt: skip
"""Where a run is, as whole numbers."""
NUM_MARKS = 13

IMPROVE, FOLLOW, DONE, STUCK, OUT_OF_SWEEPS = range(5)
"""What is done next; or that values are as close as was asked, as rounding allows, or not at all."""

(
    LOW, HIGH, LEAST, LIMIT, NEAREST, LAST, DRIFT, MARGIN, SIZE, SUM_LOW, SUM_HIGH, DOWN, UP,
) = range(13)  # fmt: skip
"""Where a run is, as other numbers."""
NUM_NUMBERS = 13


class Equation(NamedTuple):
    """Bellman's equation of a model without swaps: S states, C choices, T transitions.

    Attributes
    ----------
    choice_offsets, transition_offsets, successors, probabilities
        As in :class:`gamedp.Model`, unsigned.
    constants : (C,)
        What a choice earns.
    maximise : (S,) bool
        Whether the mover wants the most.
    discount : float
    has_terminals : bool
    longest : int
        The largest number of transitions of a choice.
    largest : float
        The largest absolute value of `constants`.
    """

    choice_offsets: Naturals
    transition_offsets: Naturals
    successors: Naturals
    probabilities: Floats
    constants: Floats
    maximise: Flags
    discount: float
    has_terminals: bool
    longest: int
    largest: float


class Kept(NamedTuple):
    """The rows of the chosen choices.

    Attributes
    ----------
    first, last : (S,)
        The transitions of state s are ``first[s] .. last[s] - 1``; there is room for those of its
        longest choice.
    successors, probabilities : (R,)
        To be read.
    room_successors, room_probabilities : (R,) or empty
        The same arrays, to be written; empty if no state has several choices, and the arrays read
        are those of the model.
    constants : (S,)
        What the choices earn, or the payoff.
    policy : (S,) int64
        The choices; -1 if there is none yet.
    clear : (S,)
        The drift, discounted, up to which the choice is surely the best. Infinite without choices.
    doubtful : (SLICE or S,)
        Room for the states of a slice.
    """

    first: Naturals
    last: Naturals
    successors: Naturals
    probabilities: Floats
    room_successors: Naturals
    room_probabilities: Floats
    constants: Floats
    policy: Integers
    clear: Floats
    doubtful: Naturals


def survey(
    choice_offsets: Naturals, transition_offsets: Naturals, constants: Floats, first: Naturals
) -> tuple[int, int, int, float]:
    """Find where the rows of each state's choice begin, if each has room for the longest.

    Returns
    -------
    room : int
        How much room all rows need.
    longest : int
        The largest number of transitions of a choice.
    most_choices : int
        The largest number of choices of a state.
    largest : float
        The largest absolute value of a constant.
    """
    room = np.uintp(0)
    longest = np.uintp(0)
    most_choices = np.uintp(0)
    largest = 0.0
    for state in range(len(first)):
        first_choice = choice_offsets[state]
        last_choice = choice_offsets[state + 1]
        first[state] = room
        if last_choice - first_choice > most_choices:
            most_choices = last_choice - first_choice
        width = np.uintp(0)
        for choice in range(first_choice, last_choice):
            its = transition_offsets[ONE + choice] - transition_offsets[choice]
            width = its if its > width else width
            size = abs(constants[choice])
            # Written so that a NaN counts.
            largest = largest if size <= largest else size
        room += width
        longest = width if width > longest else longest
    return int(room), int(longest), int(most_choices), largest


survey_jit = compiled(survey)


def begin(equation: Equation, kept: Kept, values: Floats, before: Floats) -> None:
    """Set the first values: the best that a single step earns. There are no chosen rows yet.

    Where no state has a choice, its one row is chosen.
    """
    alone = len(kept.room_successors) == 0
    for state in range(len(values)):
        first_choice = equation.choice_offsets[state]
        last_choice = equation.choice_offsets[state + 1]
        kept.last[state] = kept.first[state]
        kept.policy[state] = -1
        kept.clear[state] = np.inf
        kept.constants[state] = values[state]
        if first_choice < last_choice:
            best = equation.constants[first_choice]
            for choice in range(ONE + first_choice, last_choice):
                other = equation.constants[choice]
                if (other > best) == equation.maximise[state]:
                    best = other
            values[state] = best
            kept.clear[state] = -1.0
            if alone:
                kept.last[state] = equation.transition_offsets[last_choice]
                kept.constants[state] = best
                kept.policy[state] = first_choice
        before[state] = values[state]


begin_jit = compiled(begin)


def keep(
    place: int,
    first: int,
    last: int,
    successors: Naturals,
    probabilities: Floats,
    room_successors: Naturals,
    room_probabilities: Floats,
) -> int:
    """Copy a row, the transitions ``first .. last-1``, to a place; return where it ends there."""
    for t in range(first, last):
        room_successors[place] = successors[t]
        room_probabilities[place] = probabilities[t]
        place += ONE
    return place


keep_jit = compiled(keep)


def find_doubtful(start: int, stop: int, limit: float, kept: Kept) -> int:
    """List the states among ``start .. stop-1`` whose choice is not clear; return how many."""
    clear, doubtful = kept.clear, kept.doubtful
    count = np.uintp(0)
    for state in range(start, stop):
        # No branch, for none could foresee it.
        doubtful[count] = state - start
        count += ONE - np.uintp(clear[state] > limit)
    return count


find_doubtful_jit = compiled(find_doubtful)


def examine(
    start: int,
    number: int,
    listed: bool,
    equation: Equation,
    kept: Kept,
    values: Floats,
    new_values: Floats,
    numbers: Floats,
) -> int:
    """Apply Bellman's operator to states from `start` on; return how many choices changed.

    These are the next `number` ones, or as many that are listed. The extremes of the sums of
    probabilities go to `numbers`.

    Arrays have names of their own here: in a loop, each look into a tuple counts references.
    """
    choice_offsets, transition_offsets = equation.choice_offsets, equation.transition_offsets
    successors, probabilities = equation.successors, equation.probabilities
    constants, maximise, discount = equation.constants, equation.maximise, equation.discount
    clear, policy, doubtful = kept.clear, kept.policy, kept.doubtful
    drift = discount * numbers[DRIFT]
    sum_low, sum_high = numbers[SUM_LOW], numbers[SUM_HIGH]
    changed = 0
    for place in range(number):
        state = start + (np.uintp(doubtful[place]) if listed else np.uintp(place))
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
            total = chances = 0.0
            next_t = transition_offsets[choice + ONE]
            while t < next_t:
                total += probabilities[t] * values[successors[t]]
                chances += probabilities[t]
                t += ONE
            result = sign * (constants[choice] + discount * total)
            less = best if result > best else result
            second = less if less > second else second
            best_choice = choice if result > best else best_choice
            best = result if result > best else best
            sum_low = chances if chances < sum_low else sum_low
            sum_high = chances if chances > sum_high else sum_high
        new_values[state] = sign * best
        clear[state] = drift + (best - second)
        if policy[state] != np.int64(best_choice):
            policy[state] = best_choice
            kept.constants[state] = constants[best_choice]
            kept.last[state] = keep_jit(
                kept.first[state],
                transition_offsets[best_choice],
                transition_offsets[best_choice + ONE],
                successors,
                probabilities,
                kept.room_successors,
                kept.room_probabilities,
            )
            changed += 1
    numbers[SUM_LOW], numbers[SUM_HIGH] = sum_low, sum_high
    return changed


examine_jit = compiled(examine)


def follow(
    start: int,
    stop: int,
    backwards: bool,
    discount: float,
    kept: Kept,
    values: Floats,
    new_values: Floats,
) -> None:
    """Write what the chosen rows of the states ``start .. stop-1`` are worth into `new_values`.

    These may be the values themselves (Gauss-Seidel).
    """
    first, last, constants = kept.first, kept.last, kept.constants
    successors, probabilities = kept.successors, kept.probabilities
    for place in range(start, stop):
        state = start + (stop - ONE) - place if backwards else place
        total = 0.0
        t = first[state]
        last_t = last[state]
        while t < last_t:
            total += probabilities[t] * values[successors[t]]
            t += ONE
        new_values[state] = constants[state] + discount * total


follow_jit = compiled(follow)


def improve(
    start: int,
    stop: int,
    equation: Equation,
    kept: Kept,
    values: Floats,
    new_values: Floats,
    numbers: Floats,
) -> int:
    """Apply Bellman's operator to the states ``start .. stop-1``; return how many choices changed.

    The extremes of the changes go to `numbers`. Where most choices are clear, these are followed
    first, all in one go, and then the other states are looked at.
    """
    discount = equation.discount
    count = find_doubtful_jit(start, stop, discount * numbers[DRIFT] + numbers[MARGIN], kept)
    arguments = (equation, kept, values, new_values, numbers)
    if 2 * count < stop - start:
        follow_jit(start, stop, False, discount, kept, values, new_values)
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
    return changed


improve_jit = compiled(improve)


def probe(step: int, discount: float, kept: Kept, values: Floats) -> tuple[float, float, float]:
    """Look at some states, `step` apart: by how much would following the choices change them?

    Returns
    -------
    lowest, highest, mean : float
        Of these changes; all 0 if there are none.
    """
    first, last, constants = kept.first, kept.last, kept.constants
    successors, probabilities = kept.successors, kept.probabilities
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
            total += probabilities[t] * values[successors[t]]
            t += ONE
        change = constants[state] + discount * total - values[state]
        lowest = lowest if change >= lowest else change
        highest = highest if change <= highest else change
        sum_of_all += change
        count += 1
    return (lowest, highest, sum_of_all / count) if count else (0.0, 0.0, 0.0)


probe_jit = compiled(probe)


def prepare(equation: Equation, values: Floats, before: Floats, numbers: Floats) -> None:
    """Make ready for an improvement: see how far values have moved since the last one, and how large.

    The range of the moves adds to the drift. A choice that was the best by more than that still is,
    even if all that has to do with it was off by rounding: that is the margin.
    """
    lowest = highest = 0.0 if equation.has_terminals else values[0] - before[0]
    most = 0.0
    for state in range(len(values)):
        move = values[state] - before[state]
        lowest = move if move < lowest else lowest
        highest = move if move > highest else highest
        size = abs(values[state])
        most = size if size > most else most
    numbers[DRIFT] += (highest - lowest) * UPWARD
    size = (equation.largest + equation.discount * max(1.0, numbers[SUM_HIGH]) * most) * UPWARD
    numbers[SIZE] = max(numbers[SIZE], size)
    apart = max(0.0, numbers[SUM_HIGH] - numbers[SUM_LOW])
    numbers[MARGIN] = 4.0 * slack_jit(equation, numbers) + 2.0 * apart * numbers[SIZE]
    numbers[LOW] = 0.0 if equation.has_terminals else np.inf
    numbers[HIGH] = 0.0 if equation.has_terminals else -np.inf


def slack(equation: Equation, numbers: Floats) -> float:
    """Return how far off a value may be by rounding."""
    return (equation.longest + 10) * UNIT * numbers[SIZE]


slack_jit = inlined(slack)
prepare_jit = compiled(prepare)


def bound(equation: Equation, numbers: Floats) -> float:
    """Set how far the true values are below and above those after an improvement; return the width.

    Bounds keep Bellman's inequalities, even when they are rounded once more. The width is infinite
    if probabilities sum to so much more than one that the discount does not outweigh it.
    """
    discount = equation.discount
    off = slack_jit(equation, numbers)
    # The sums of probabilities are rounded as well.
    counted = (1.0 + (equation.longest + 10) * UNIT) * UPWARD
    shrink = 1.0 - discount * numbers[SUM_HIGH] * counted
    if not shrink > 0.0:
        numbers[DOWN], numbers[UP] = -np.inf, np.inf
        return np.inf
    room = off / shrink * UPWARD
    for side, extreme in ((DOWN, -(numbers[LOW] - off)), (UP, numbers[HIGH] + off)):
        # Outward, all sums of probabilities are taken to be the largest; inward, the smallest.
        chances = numbers[SUM_HIGH] * counted if extreme > 0.0 else numbers[SUM_LOW] / counted
        ahead = discount * chances * extreme / (1.0 - discount * chances)
        ahead = ahead * UPWARD if extreme > 0.0 else ahead / UPWARD
        numbers[side] = ahead + room
    numbers[DOWN] = -numbers[DOWN]
    # Rounding outward adds a little.
    return float((numbers[UP] - numbers[DOWN]) * UPWARD + 8.0 * UNIT * numbers[SIZE])


bound_jit = compiled(bound)


def judge(tolerance: float, equation: Equation, marks: Integers, numbers: Floats) -> int:
    """Say what comes after an improvement, and how close sweeps along the choices are to come."""
    span = numbers[HIGH] - numbers[LOW]
    width = bound_jit(equation, numbers)
    if width <= tolerance:
        return DONE
    off = slack_jit(equation, numbers)
    if not span > 2.0 * off or not span < np.inf:
        return STUCK
    marks[IN_VAIN] = 0 if span < numbers[LEAST] else marks[IN_VAIN] + 1
    numbers[LEAST] = min(span, numbers[LEAST])
    if marks[IN_VAIN] > PATIENCE:
        marks[MOST_INNER] //= 2
        marks[IN_VAIN] = 0
    # What the changes have to come down to. The probe sees less than all.
    goal = tolerance * (1.0 - equation.discount) / max(equation.discount, 0.5)
    share = marks[CHANGED] / len(equation.maximise)
    fraction = min(0.1, max(0.001, share))
    numbers[LIMIT] = max(fraction * span, 0.25 * goal, off)
    if marks[CHANGED] == 0:
        numbers[LIMIT] = max(0.25 * goal, off)
    numbers[NEAREST] = numbers[LAST] = np.inf
    marks[INNER] = marks[IN_VAIN_INNER] = 0
    return FOLLOW if marks[MOST_INNER] > 0 else IMPROVE


judge_jit = compiled(judge)


def settle(equation: Equation, kept: Kept, values: Floats, marks: Integers, numbers: Floats) -> int:
    """After a sweep along the choices: see how far it has brought the values; say what is next."""
    num_states = len(values)
    step = max(7, num_states // BATCH) | 1
    lowest, highest, mean = probe_jit(step, equation.discount, kept, values)
    if equation.has_terminals:
        lowest, highest = min(lowest, 0.0), max(highest, 0.0)
    span = highest - lowest
    marks[INNER] += 1
    if span < numbers[NEAREST]:
        numbers[NEAREST] = span
        marks[IN_VAIN_INNER] = 0
    else:
        marks[IN_VAIN_INNER] += 1
    if not span > numbers[LIMIT]:
        return IMPROVE
    if marks[INNER] >= marks[MOST_INNER] or marks[IN_VAIN_INNER] > PATIENCE:
        return IMPROVE
    if span > 0.5 * numbers[LAST]:
        marks[BACKWARDS] = 1 - marks[BACKWARDS]
    if span > 4.0 * numbers[LAST]:
        # What the probe sees is not what all states have in common.
        marks[NO_SHIFTS] = 1
    numbers[LAST] = span
    if not equation.has_terminals and marks[NO_SHIFTS] == 0:
        shift = mean / (1.0 - equation.discount)
        for state in range(num_states):
            values[state] += shift
    return IMPROVE if span != span else FOLLOW


settle_jit = compiled(settle)


def advance(
    budget: int,
    tolerance: float,
    equation: Equation,
    kept: Kept,
    values: Floats,
    other: Floats,
    marks: Integers,
    numbers: Floats,
) -> int:
    """Go on until values are close enough, or about as many transitions as `budget` are looked at.

    The values are in `values`, or in `other` while ``marks[FLIPPED]`` is 1: an improvement reads
    the one and writes the other.

    Returns
    -------
    phase : int
        DONE, STUCK, or what comes next.
    """
    num_states = np.uintp(len(values))
    if marks[FLIPPED]:
        values, other = other, values
    phase = marks[PHASE]
    place = np.uintp(marks[PLACE])
    while budget > 0 and phase < DONE:
        if place == 0 and phase == IMPROVE:
            prepare_jit(equation, values, other, numbers)
            marks[CHANGED] = 0
        stop = min(place + np.uintp(SLICE), num_states)
        if phase == IMPROVE:
            marks[CHANGED] += improve_jit(place, stop, equation, kept, values, other, numbers)
            first = equation.transition_offsets[equation.choice_offsets[place]]
            last = equation.transition_offsets[equation.choice_offsets[stop]]
            budget -= int(last - first)
        else:
            first, last = place, stop
            if marks[BACKWARDS]:
                first, last = num_states - stop, num_states - place
            follow_jit(first, last, marks[BACKWARDS] == 1, equation.discount, kept, values, values)
            budget -= int(kept.last[last - ONE] - kept.first[first])
        budget -= int(stop - place)
        marks[VISITS] += int(stop - place)
        place = stop
        if place < num_states:
            continue
        place = np.uintp(0)
        if phase == FOLLOW:
            phase = settle_jit(equation, kept, values, marks, numbers)
            continue
        values, other = other, values
        marks[FLIPPED] = 1 - marks[FLIPPED]
        marks[IMPROVEMENTS] += 1
        phase = judge_jit(tolerance, equation, marks, numbers)
        if phase < DONE and marks[IMPROVEMENTS] >= marks[MOST_IMPROVEMENTS]:
            phase = OUT_OF_SWEEPS
    marks[PHASE] = phase
    marks[PLACE] = int(place)
    return int(phase)


advance_jit = compiled(advance)


def conclude(
    equation: Equation, numbers: Floats, values: Floats, lower: Floats, upper: Floats
) -> None:
    """Set the bounds of all values, and move these to the middle between them."""
    down, up = numbers[DOWN], numbers[UP]
    middle = 0.5 * (down + up)
    for state in range(len(values)):
        value = values[state]
        if equation.choice_offsets[state] < equation.choice_offsets[state + 1]:
            # Rounding is allowed for.
            lower[state] = value + down
            upper[state] = value + up
            values[state] = min(max(value + middle, lower[state]), upper[state])
        else:
            lower[state] = upper[state] = value


conclude_jit = compiled(conclude)
