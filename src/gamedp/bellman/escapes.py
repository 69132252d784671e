"""Whether play surely leaves a component, and from where it surely reaches or misses a target.

The arrays are described in :mod:`gamedp.bellman.equation`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gamedp.runtime.jit import compiled

if TYPE_CHECKING:
    from gamedp.bellman.equation import Equation
    from gamedp.runtime.arrays import Integers


UNSEEN, STAYS, SURE, MISSED, DONE, LATER, OPEN = 0, 1, 2, 4, 8, 16, 32
"""The knowledge about a state, one bit each.

`SURE` surely reaches the target; `MISSED` misses it, surely or, for a total, with
positive probability; `DONE` has its value; `LATER` is deferred; `OPEN` is not left yet. When a
component is left, its states have those of the first bits that are not disproved.
"""

ONE = np.uintp(1)


def list_entries(
    start: int,
    stop: int,
    equation: Equation,
    order: Integers,
    numbers: Integers,
    status: Integers,
    offsets: Integers,
    choices: Integers,
) -> None:
    """List for each state of a component the choices of the component that may lead to it.

    Parameters
    ----------
    numbers : (S,)
        The number of each state of the component in it.
    offsets : (size + 1,)
        Filled: the start of the list of each state.
    choices : (T,)
        Filled from the start: the choices, by their numbers in the component.
    """
    graph = equation.graph
    offsets[:] = 0
    for fill in range(2):
        choice = 0
        for place in range(start, stop):
            state = np.uintp(order[place])
            for row in range(graph.choice_offsets[state], graph.choice_offsets[state + ONE]):
                for t in range(graph.transition_offsets[row], graph.transition_offsets[row + 1]):
                    successor = np.uintp(graph.successors[t])
                    if status[successor] & OPEN:
                        entry = np.uintp(numbers[successor])
                        if fill:
                            offsets[entry] -= 1
                            choices[np.uintp(offsets[entry])] = choice
                        else:
                            offsets[entry] += 1
                choice += 1
        if not fill:
            for number in range(1, len(offsets)):
                offsets[number] += offsets[number - 1]


list_entries_jit = compiled(list_entries)


def doubt(
    start: int,
    stop: int,
    equation: Equation,
    probable: bool,
    may: int,
    num_choices: int,
    num_transitions: int,
    order: Integers,
    numbers: Integers,
    status: Integers,
    policy: Integers,
) -> bool:
    """Find where play in a component can stay for ever, or surely reaches or misses a target.

    Each is the greatest fixed point of what the player to move can bring about, or cannot avoid:
    all states for which it is disproved are dropped. If play can stay for ever nowhere, it surely
    leaves the component; a player who keeps to states that lead only to sure ones therefore surely
    reaches the target.

    Parameters
    ----------
    may : int
        Those of `SURE` and `MISSED` that are possible at all.
    num_choices, num_transitions : int
        Their number in the component.
    numbers : (S,)
        Scratch.

    Returns
    -------
    bool
        Whether play surely leaves the component. If not, nothing else is determined.
    """
    graph = equation.graph
    size = stop - start
    for number in range(size):
        numbers[order[start + number]] = number
        status[order[start + number]] = OPEN | STAYS | may
    dead = np.empty(num_choices, np.bool_)
    owners = np.empty(num_choices, order.dtype)
    alive = np.empty(size, np.int64)
    queue = np.empty(size, order.dtype)
    entries, choices = np.empty(0, np.int64), np.empty(0, np.int64)
    for which in range(3):
        bit = 1 << which
        if not bit & (STAYS | may):
            continue
        head = tail = choice = 0
        # Many are dropped as they are visited: most states come after their successors.
        for number in range(size):
            state = np.uintp(order[start + number])
            seeks = SURE if equation.maximise[state] == probable else MISSED
            first, last = graph.choice_offsets[state], graph.choice_offsets[state + ONE]
            kept = 0
            for row in range(np.uintp(first), np.uintp(last)):
                lasts = True
                first_t = np.uintp(graph.transition_offsets[row])
                for t in range(first_t, np.uintp(graph.transition_offsets[row + ONE])):
                    if not status[np.uintp(graph.successors[t])] & bit:
                        lasts = False
                        break
                dead[choice] = not lasts
                owners[choice] = number
                kept += lasts
                choice += 1
            # How many more may be lost: none for a player who does not aim for this.
            alive[number] = kept if bit in (STAYS, seeks) else 1 if kept == last - first else 0
            if alive[number] == 0:
                status[state] &= ~bit
                queue[tail] = number
                tail += 1
        if head < tail < size and len(entries) == 0:
            entries, choices = np.empty(size + 1, np.int64), np.empty(num_transitions, np.int64)
            list_entries_jit(start, stop, equation, order, numbers, status, entries, choices)
        while head < tail < size:
            entry = np.uintp(queue[head])
            head += 1
            for place in range(entries[entry], entries[entry + ONE]):
                choice = choices[np.uintp(place)]
                if dead[choice]:
                    continue
                dead[choice] = True
                number = owners[choice]
                alive[number] -= 1
                if alive[number] == 0:
                    status[order[start + number]] &= ~bit
                    queue[tail] = number
                    tail += 1
        if bit == STAYS and tail < size:
            return False
        choice = 0
        for number in range(size):
            state = np.uintp(order[start + number])
            seeks = SURE if equation.maximise[state] == probable else MISSED
            first, last = graph.choice_offsets[state], graph.choice_offsets[state + ONE]
            if status[state] & bit & seeks:
                while dead[choice + policy[state] - first]:
                    policy[state] += 1
            choice += last - first
    return True


doubt_jit = compiled(doubt)
