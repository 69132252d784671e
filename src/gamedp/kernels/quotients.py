"""Smaller models: known states cut off, end components collapsed; and the way back.

The arrays of a graph are those of :mod:`gamedp.kernels.components`. A class is what a state of the
smaller model stands for: one state of the given one, or a whole end component.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.kernels.jit import compiled

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers = npt.NDArray[np.signedinteger[Any]]
    Floats = npt.NDArray[np.float64]
    Flags = npt.NDArray[np.bool_]

NONE = -1
STOP = -1
"""The choice to stay for ever in a collapsed end component."""


def number_classes(
    choice_offsets: Integers,
    transition_offsets: Integers,
    known: Floats,
    labels: Integers,
    keep: Flags,
    may_stop: bool,
    class_of: Integers,
    first_of: Integers,
    next_choice: Integers,
    next_transition: Integers,
) -> int:
    """Number the classes, and count what they have.

    Parameters
    ----------
    known : (S,)
        The values that are known; NaN for the states that are left.
    labels : (S,)
        The end component of each state that is left; below 0 for a state by itself.
    keep : (C,) bool
        The choices that are left.
    may_stop : bool
        Whether to stay in an end component for ever is a choice, too.
    class_of : (S,)
        Filled: the class of each state; NONE where the value is known. Classes are numbered by
        their first states.
    first_of : (S,)
        Filled from the start: the first state of each class.
    next_choice, next_transition : (S + 1,)
        Filled from the start: where the choices of each class begin, and their transitions; one
        entry more.

    Returns
    -------
    num_classes : int
    """
    num_classes = 0
    named = np.full(len(known), NONE, class_of.dtype)
    for state in range(len(known)):
        class_of[state] = NONE
        if not np.isnan(known[state]):
            continue
        number = num_classes
        label = labels[state]
        if label >= 0 and named[label] != NONE:
            number = named[label]
        else:
            first_of[number] = state
            next_choice[number + 1] = next_transition[number + 1] = 0
            num_classes += 1
            if label >= 0:
                named[label] = number
                if may_stop:
                    next_choice[number + 1] = next_transition[number + 1] = 1
        class_of[state] = number
        for choice in range(choice_offsets[state], choice_offsets[state + 1]):
            if keep[choice]:
                next_choice[number + 1] += 1
                next_transition[number + 1] += (
                    transition_offsets[choice + 1] - transition_offsets[choice]
                )
    next_choice[0] = next_transition[0] = 0
    for number in range(num_classes):
        next_choice[number + 1] += next_choice[number]
        next_transition[number + 1] += next_transition[number]
    return num_classes


number_classes_jit = compiled(number_classes)


def place_in(value: float, ascending: Floats) -> int:
    """Return where a value stands in an ascending array that has it."""
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


def fill_classes(
    choice_offsets: Integers,
    transition_offsets: Integers,
    successors: Integers,
    probabilities: Floats,
    rewards: Floats,
    known: Floats,
    labels: Integers,
    keep: Flags,
    may_stop: bool,
    class_of: Integers,
    first_of: Integers,
    ends: Floats,
    next_choice: Integers,
    next_transition: Integers,
    choice_of: Integers,
    small_offsets: Integers,
    small_successors: Integers,
    small_probabilities: Floats,
    small_rewards: Floats,
) -> None:
    """Copy what is left into the arrays of the smaller model, a class at a time.

    Parameters
    ----------
    choice_offsets, transition_offsets, successors, probabilities, rewards
        The given model. Only the first of `rewards` counts if there is just one.
    known, labels, keep, may_stop, class_of, first_of
        As in :func:`number_classes`.
    ends : (Z,)
        The values of the terminal states that follow the classes, ascending; each finite one of
        `known` is among them, and 0.
    next_choice, next_transition
        As :func:`number_classes` leaves them; they move on by one class.
    choice_of, small_offsets, small_successors, small_probabilities, small_rewards
        Filled: the choice that each choice is, `STOP` for one to stay for ever; where its
        transitions begin; those, and what it earns.
    """
    num_classes = len(first_of)
    last_reward = len(rewards) - 1
    small_offsets[0] = 0
    for state in range(len(known)):
        number = class_of[state]
        if number == NONE:
            continue
        place = next_choice[number]
        target = next_transition[number]
        for choice in range(choice_offsets[state], choice_offsets[state + 1]):
            if not keep[choice]:
                continue
            for t in range(transition_offsets[choice], transition_offsets[choice + 1]):
                successor = successors[t]
                leads_to = class_of[successor]
                if leads_to == NONE:
                    leads_to = num_classes + place_in_jit(known[successor], ends)
                small_successors[target] = leads_to
                small_probabilities[target] = probabilities[t]
                target += 1
            choice_of[place] = choice
            small_rewards[place] = rewards[min(choice, last_reward)]
            place += 1
            small_offsets[place] = target
        next_choice[number] = place
        next_transition[number] = target
    if may_stop:
        for number in range(num_classes):
            if labels[first_of[number]] >= 0:
                place = next_choice[number]
                target = next_transition[number]
                choice_of[place] = STOP
                small_rewards[place] = 0.0
                small_successors[target] = num_classes + place_in_jit(0.0, ends)
                small_probabilities[target] = 1.0
                small_offsets[place + 1] = target + 1


fill_classes_jit = compiled(fill_classes)
