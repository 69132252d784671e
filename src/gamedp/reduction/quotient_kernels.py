"""Smaller models: known states cut off, end components collapsed; and the way back.

The arrays of a graph are those of :mod:`gamedp.graph.graph`. A class is the preimage of a
state of the smaller model: one state of the given one, or a whole end component.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gamedp.runtime.jit import compiled

if TYPE_CHECKING:
    from gamedp.runtime.arrays import Flags, Floats, Integers


NONE = -1
STOP = -1
"""The choice to stay for ever in a collapsed end component."""


def number_classes(known: Floats, labels: Integers, class_of: Integers, named: Integers) -> int:
    """Assign numbers to the classes in the order of their first states; return their number.

    Parameters
    ----------
    known : (S,)
        The values that are known; NaN for the states that are left.
    labels : (S,) or (0,)
        The end component of each state that is left, below 0 for a single state. Empty if all
        are by themselves.
    class_of : (S,)
        Filled: the class of each state; NONE where the value is known.
    named : as `labels`
        Scratch.
    """
    num_classes = 0
    named[:] = NONE
    for state in range(len(known)):
        class_of[state] = NONE
        if not np.isnan(known[state]):
            continue
        label = labels[state] if len(labels) else NONE
        if label != NONE and named[label] != NONE:
            class_of[state] = named[label]
            continue
        class_of[state] = num_classes
        if label != NONE:
            named[label] = num_classes
        num_classes += 1
    return num_classes


number_classes_jit = compiled(number_classes)


def count_choices(
    choice_offsets: Integers,
    transition_offsets: Integers,
    labels: Integers,
    keep: Flags,
    may_stop: bool,
    class_of: Integers,
    small_offsets: Integers,
) -> int:
    """Set where the choices of each class begin; return the total number of their transitions.

    Parameters
    ----------
    labels, class_of
        As in :func:`number_classes`.
    keep : (C,) bool
        The choices that are left.
    may_stop : bool
        Whether staying in an end component for ever is a choice as well: then the last one.
    small_offsets : (S' + 1,)
        Filled; states beyond the classes have no choices.
    """
    num_transitions = 0
    newest = NONE
    small_offsets[:] = 0
    for state in range(len(class_of)):
        number = class_of[state]
        if number == NONE:
            continue
        for choice in range(choice_offsets[state], choice_offsets[state + 1]):
            if keep[choice]:
                small_offsets[number + 1] += 1
                num_transitions += transition_offsets[choice + 1] - transition_offsets[choice]
        if number > newest:
            newest = number
            if may_stop and len(labels) and labels[state] != NONE:
                small_offsets[number + 1] += 1
                num_transitions += 1
    for number in range(len(small_offsets) - 1):
        small_offsets[number + 1] += small_offsets[number]
    return num_transitions


count_choices_jit = compiled(count_choices)


def classify(
    choice_offsets: Integers,
    transition_offsets: Integers,
    players: Integers,
    known: Floats,
    labels: Integers,
    keep: Flags,
    may_stop: bool,
    num_ends: int,
    class_of: Integers,
    named: Integers,
    small_offsets: Integers,
    small_players: Integers,
) -> tuple[int, int]:
    """Find the classes, and count their choices and transitions.

    Parameters
    ----------
    choice_offsets, transition_offsets, players
        The given model: S states, C choices.
    known, labels, class_of, named
        As in :func:`number_classes`.
    keep, may_stop
        As in :func:`count_choices`.
    num_ends : int
        The number of terminal states that follow the classes.
    small_offsets, small_players
        Room for all states, the ends and one more entry; filled from the start.

    Returns
    -------
    num_classes, num_transitions : int
    """
    num_classes = number_classes_jit(known, labels, class_of, named)
    small_players[num_classes : num_classes + num_ends] = 0
    for state in range(len(class_of)):
        if class_of[state] != NONE:
            small_players[class_of[state]] = players[state]
    num_transitions = count_choices_jit(
        choice_offsets,
        transition_offsets,
        labels,
        keep,
        may_stop,
        class_of,
        small_offsets[: num_classes + num_ends + 1],
    )
    return num_classes, num_transitions


classify_jit = compiled(classify)


def place_in(value: float, ascending: Floats) -> int:
    """Return the position of a value in an ascending array that contains it."""
    low = 0
    high = len(ascending) - 1
    while low < high:
        middle = (low + high) // 2
        if ascending[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


place_in_jit = compiled(place_in)


def sort_choices(
    choice_offsets: Integers,
    keep: Flags,
    class_of: Integers,
    small_offsets: Integers,
    next_choice: Integers,
    choice_of: Integers,
) -> None:
    """List the choices of each class, `STOP` where there is room for one more."""
    choice_of[:] = STOP
    for number in range(len(next_choice)):
        next_choice[number] = small_offsets[number]
    for state in range(len(class_of)):
        number = class_of[state]
        if number == NONE:
            continue
        for choice in range(choice_offsets[state], choice_offsets[state + 1]):
            if keep[choice]:
                choice_of[next_choice[number]] = choice
                next_choice[number] += 1


sort_choices_jit = compiled(sort_choices)


def copy_choices(
    choice_offsets: Integers,
    transition_offsets: Integers,
    successors: Integers,
    probabilities: Floats,
    rewards: Floats,
    known: Floats,
    keep: Flags,
    class_of: Integers,
    ends: Floats,
    first_choice: Integers,
    next_choice: Integers,
    choice_of: Integers,
    small_offsets: Integers,
    small_successors: Integers,
    small_probabilities: Floats,
    small_rewards: Floats,
) -> None:
    """Copy the choices that are left into the arrays of the smaller model.

    Parameters
    ----------
    choice_offsets, transition_offsets, successors, probabilities, rewards
        The given model; only the first of `rewards` counts if there is only one.
    known, keep, class_of
        As in :func:`classify`.
    ends : (Z,)
        The values of the terminal states that follow the classes, ascending; each finite one of
        `known` is among them, and 0.
    first_choice : (S' + 1,)
        The start of the choices of each class, as found by :func:`classify`.
    next_choice : (number of classes,)
        Scratch.
    choice_of : (C',)
        Filled: the given model's choice for each choice; `STOP` for staying for ever, with value 0.
    small_offsets, small_successors, small_probabilities, small_rewards
        Filled: the starts of the choices' transitions; those, and the rewards of choices.
    """
    sort_choices_jit(choice_offsets, keep, class_of, first_choice, next_choice, choice_of)
    num_classes = len(next_choice)
    last_reward = len(rewards) - 1
    zero = num_classes + place_in_jit(0.0, ends)
    filled = 0
    small_offsets[0] = 0
    for place in range(len(choice_of)):
        choice = choice_of[place]
        if choice == STOP:
            small_rewards[place] = 0.0
            small_successors[filled] = zero
            small_probabilities[filled] = 1.0
            filled += 1
        else:
            small_rewards[place] = rewards[min(choice, last_reward)]
            for t in range(transition_offsets[choice], transition_offsets[choice + 1]):
                successor = np.uintp(successors[t])
                leads_to = class_of[successor]
                if leads_to == NONE:
                    leads_to = num_classes + place_in_jit(known[successor], ends)
                small_successors[filled] = leads_to
                small_probabilities[filled] = probabilities[t]
                filled += 1
        small_offsets[place + 1] = filled


copy_choices_jit = compiled(copy_choices)


def finish(
    values: Floats,
    errors: Floats,
    policy: Integers,
    low: float,
    high: float,
    class_of: Integers,
    known: Floats,
    choices: Integers,
    choice_of: Integers,
    choice_offsets: Integers,
    all_values: Floats,
    lower: Floats,
    upper: Floats,
    all_choices: Integers,
) -> float:
    """Turn values and errors into bounds, rounded outward; return their largest distance.

    Parameters
    ----------
    values, errors, policy : (S',)
        Numbers of the classes, and of terminal states.
    low, high : float
        Bounds of all finite values, known before solving.
    class_of, known, choices : (S,) or (0,)
        The class of each state; the value, and the choice where that matters, for those that
        are NONE. Empty if states are classes.
    choice_of : (C',) or (0,)
        The choice that each choice of a class corresponds to.
    choice_offsets : (S + 1,)
    all_values, lower, upper, all_choices : (S,)
        Filled.
    """
    width = 0.0
    for state in range(len(all_values)):
        number = class_of[state] if len(class_of) else state
        if number == NONE:
            all_values[state] = lower[state] = upper[state] = known[state]
            choice = choices[state]
            if choice == NONE and choice_offsets[state] < choice_offsets[state + 1]:
                choice = choice_offsets[state]
            all_choices[state] = choice
            continue
        choice = policy[number]
        if len(choice_of) and choice != NONE:
            choice = choice_of[choice]
        all_choices[state] = choice
        least = most = value = values[number]
        if errors[number] != 0.0:
            least = np.nextafter(value - errors[number], -np.inf)
            most = np.nextafter(value + errors[number], np.inf)
        if np.isfinite(value):
            if least < low:
                least = low
            if most > high:
                most = high
        if value < least:
            value = least
        if value > most:
            value = most
        if least != most and not most - least <= width:
            width = most - least
        all_values[state] = value
        lower[state] = least
        upper[state] = most
    return width


finish_jit = compiled(finish)
