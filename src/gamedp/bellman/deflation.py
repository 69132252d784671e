"""Deflation of bounds if two opponents can prolong play for ever.

A sweep narrows bounds as those of :mod:`gamedp.bellman.intervals` do. It changes a choice of the
policy only where a bound gets strictly narrower by it. The successors of a choice therefore had
their bounds before, and choices do not form a cycle in which each only preserves the bound of the
next one. The theory is in :mod:`gamedp.solvers.tools.deflation`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.bellman.equation import backup_jit
from gamedp.bellman.intervals import enclose_best_jit, enclose_jit
from gamedp.runtime.jit import compiled

if TYPE_CHECKING:
    import numpy.typing as npt

    from gamedp.bellman.equation import Equation

    Integers = npt.NDArray[np.signedinteger[Any]]
    Floats = npt.NDArray[np.float64]
    Flags = npt.NDArray[np.bool_]


def narrow(
    start: int, stop: int, equation: Equation, lower: Floats, upper: Floats, policy: Integers
) -> int:
    """Narrow the bounds of ``order[start:stop]`` in place; return the number that got narrower."""
    graph = equation.graph
    moved = 0
    for place in range(start, stop):
        state = equation.order[place]
        if graph.choice_offsets[state] == graph.choice_offsets[state + 1]:
            continue
        maximises = equation.maximise[state]
        low, high, low_choice, high_choice = enclose_best_jit(state, equation, lower, upper)
        if low > lower[state]:
            moved += 1
            lower[state] = low
            if maximises:
                policy[state] = low_choice
        if high < upper[state]:
            moved += 1
            upper[state] = high
            if not maximises:
                policy[state] = high_choice
        if policy[state] < 0:
            policy[state] = low_choice if maximises else high_choice
    return moved


narrow_jit = compiled(narrow)


def reply(
    states: Integers, equation: Equation, bounds: Floats, side: bool, replies: Integers
) -> bool:
    """Set the choices that are best by some bounds, in the states of one side.

    Returns
    -------
    changed : bool
        Whether any choice differs from the one before.
    """
    changed = False
    for state in states:
        if equation.maximise[state] != side:
            continue
        _, choice = backup_jit(state, equation, bounds)
        if choice != replies[state]:
            replies[state] = choice
            changed = True
    return changed


reply_jit = compiled(reply)


def deflate(
    offsets: Integers,
    members: Integers,
    inside: Flags,
    equation: Equation,
    lower: Floats,
    upper: Floats,
    side: bool,
    improper_value: float,
    replies: Integers,
    policy: Integers,
) -> int:
    """Lower upper bounds to the best way out, or raise lower ones.

    In each of some sets of states, one side keeps to replies that earn nothing and stay in the set.
    Then the other side gets the value of staying for ever, or leaves by its best choice.

    Parameters
    ----------
    offsets, members
        Set k consists of the states ``members[offsets[k]:offsets[k + 1]]``.
    inside : (C,) bool
        The choices that earn nothing and stay in the set of their state.
    side : bool
        Whether the side that may leave maximises: then upper bounds are lowered.
    improper_value : float
        The value of endless play.
    replies : (S,)
        The choices that the other side keeps to.
    policy : (S,)
        Becomes `replies` where a bound gets narrower.

    Returns
    -------
    moved : int
        The number of bounds that are narrower than before.
    """
    graph = equation.graph
    moved = 0
    sign = 1.0 if side else -1.0
    for number in range(len(offsets) - 1):
        best = sign * improper_value
        for place in range(offsets[number], offsets[number + 1]):
            state = members[place]
            if equation.maximise[state] != side:
                continue
            for choice in range(graph.choice_offsets[state], graph.choice_offsets[state + 1]):
                if inside[choice]:
                    continue
                below, above = enclose_jit(choice, equation, lower, upper)
                value = above if side else -below
                # Written so that a NaN counts as the best.
                if not value <= best:
                    best = value
        for place in range(offsets[number], offsets[number + 1]):
            state = members[place]
            bound = upper[state] if side else -lower[state]
            if not best < bound:
                continue
            moved += 1
            if side:
                upper[state] = best
            else:
                lower[state] = -best
            if equation.maximise[state] != side:
                policy[state] = replies[state]
    return moved


deflate_jit = compiled(deflate)
