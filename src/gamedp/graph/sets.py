"""Sets of states from which others are reached: how surely, and whether again and again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gamedp.graph import attractors
from gamedp.graph.structure import Structure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.runtime.arrays import Flags, Integers


def attractor(
    structure: Structure, helps: Flags, target: Flags, active: Flags, barred: Flags | None = None
) -> tuple[Flags, Integers]:
    """Find the states from which a target is reached with positive probability despite hindrance.

    Parameters
    ----------
    structure : Structure
    helps : (S,) bool
        Whether the player to move in a state wants to reach the target; others avoid it.
    target : (S,) bool
    active : (C,) bool
        The choices that can be taken.
    barred : (S,) bool, optional
        States that never count as members.

    Returns
    -------
    members : (S,) bool
        The members, including the target.
    via : (S,)
        A choice that may lead a helping state nearer to the target; -1 in other states.
    """
    members = target.copy()
    via = np.full(len(target), -1, structure.choice_type)
    attractors.attract_jit(
        structure.graph,
        structure.reverse,
        helps,
        active,
        np.zeros(len(target), np.bool_) if barred is None else barred,
        members,
        via,
        *_scratch(structure),
    )
    return members, via


def _scratch(structure: Structure) -> list[NDArray[Any]]:
    """Return a queue, and arrays to count and mark choices, for :mod:`gamedp.graph.attractors`."""
    num_states, num_choices = structure.num_states, len(structure.owners)
    dtype = structure.choice_type
    counted, marked = np.empty(num_states, dtype), np.empty(num_choices, np.bool_)
    return [np.empty(num_states, dtype), counted, marked]


def almost_sure(structure: Structure, helps: Flags, target: Flags, active: Flags) -> Sure:
    """Find the states from which a target is reached with probability one despite hindrance.

    Parameters
    ----------
    structure, helps, target, active
        As for :func:`attractor`.
    """
    num_states, num_choices = structure.num_states, len(active)
    possible, members, gone, lost, hinders = np.empty((5, num_states), np.bool_)
    safe = np.empty(num_choices, np.bool_)
    sure = Sure(possible, members, safe, np.empty(num_states, structure.choice_type))
    attractors.almost_sure_jit(
        structure.graph,
        structure.reverse,
        helps,
        target,
        active,
        *sure,
        *_scratch(structure),
        gone,
        lost,
        hinders,
    )
    return sure


class Sure(NamedTuple):
    """States from which a target is reached with positive probability, and almost surely.

    Attributes
    ----------
    possible : (S,) bool
        Those with positive probability, including the target.
    members : (S,) bool
        Those with probability one, including the target.
    safe : (C,) bool
        The active choices that stay among the members.
    via : (S,)
        The choice by which a helping member finally reaches the target, and by which a hindering
        state outside misses it with positive probability; surely, if the target is not possible.
        -1 in other states.
    """

    possible: Flags
    members: Flags
    safe: Flags
    via: Integers


def leads_into(structure: Structure, states: Flags) -> Flags:
    """Return which choices may lead into a set of states; (C,)."""
    if not len(structure.successors):
        return np.zeros(0, np.bool_)
    hits = states[structure.successors]
    return np.logical_or.reduceat(hits, structure.transition_offsets[:-1])


def first_choices(structure: Structure, choices: Flags) -> Integers:
    """Return the first of the given choices of each state, -1 where there is none; (S,)."""
    first = np.full(structure.num_states, -1, np.int64)
    numbers = np.flatnonzero(choices)[::-1]
    first[structure.owners[numbers]] = numbers
    return first


def end_components(
    structure: Structure, states: Flags, choices: Flags
) -> tuple[Integers, Flags] | None:
    """Find the maximal end components of a part of the graph.

    Parameters
    ----------
    structure : Structure
    states : (S,) bool
        The states of the part.
    choices : (C,) bool
        Its choices; those of other states, and those that may lead to other states, do not count.

    Returns
    -------
    labels : (S,)
        The end component of each state, -1 for a state in none.
    stays : (C,) bool
        The choices of the part that surely keep play in the end component of their state.
    or None
        If there are none.
    """
    states, choices = states.copy(), choices.copy()
    graph = structure.graph
    local, counts, _ = _scratch(structure)
    if not attractors.keep_staying_jit(graph, structure.reverse, states, choices, local, counts):
        return None
    choice_offsets = np.empty_like(structure.choice_offsets)
    transition_offsets = np.empty_like(structure.transition_offsets)
    successors = np.empty_like(structure.successors)
    num_states, num_choices, num_transitions = attractors.extract_jit(
        graph, states, choices, local, choice_offsets, transition_offsets, successors
    )
    part = Structure.of(
        choice_offsets=choice_offsets[: num_states + 1],
        transition_offsets=transition_offsets[: num_choices + 1],
        successors=successors[:num_transitions],
    )
    labels = np.full(structure.num_states, -1, part.end_component.dtype)
    labels[states] = part.end_component
    choices[choices] = part.stays
    return labels, choices


def buchi_states(
    structure: Structure, helps: Flags, good: Flags, active: Flags
) -> tuple[Flags, Integers]:
    """Find the states from which one side can satisfy a Büchi condition with positive probability.

    First, the states from which the good choices are taken infinitely often almost surely: the
    largest set from within which that side can almost surely reach a good choice again and again
    [1]_. The other side avoids this set and its attractor; the search is repeated in the game
    without them.

    Parameters
    ----------
    structure : Structure
    helps : (S,) bool
        Whether the player to move in a state wants the good choices to be taken infinitely often;
        the others want them to be taken finitely often.
    good : (C,) bool
        The good choices, of either player.
    active : (C,) bool
        The choices that can be taken.

    Returns
    -------
    members : (S,) bool
        From all other states, the others can force that good choices are taken finitely often,
        almost surely.
    via : (S,)
        The choice of helping members; -1 in other states.

    References
    ----------
    .. [1] L. de Alfaro, T. Henzinger, "Concurrent omega-regular games", LICS 2000.
    """
    num_states = structure.num_states
    split = _split(structure, good & active)
    added = split.num_states - num_states
    helps = np.append(helps, np.zeros(added, np.bool_))
    active = np.append(active, np.ones(added, np.bool_))
    members = np.zeros(split.num_states, np.bool_)
    via = np.full(split.num_states, -1, np.int64)
    left = active
    while True:
        target = np.zeros(split.num_states, np.bool_)
        target[num_states:] = ~members[num_states:]
        while True:
            sure = almost_sure(split, helps, target, left)
            out = leads_into(split, ~sure.members)
            lost = target.copy()
            lost[num_states:] &= out[len(good) :]
            if not lost.any():
                break
            target &= ~lost
        if not target.any():
            return members[:num_states], np.where(members & helps, via, -1)[:num_states]
        new = sure.members & ~members
        via = np.where(new, sure.via, via)
        grown, towards = attractor(split, helps, members | new, active)
        via = np.where(grown & ~members & ~new, towards, via)
        members = grown
        left = active & ~leads_into(split, members)


def _split(structure: Structure, good: Flags) -> Structure:
    """Insert a separate state into each good choice, after the choice and before its outcomes.

    The last G states and choices of the result are the inserted ones.
    """
    chosen = np.flatnonzero(good)
    lengths = np.diff(structure.transition_offsets)
    places = np.repeat(good, lengths)
    counts = np.where(good, 1, lengths)
    offsets = np.concatenate([[0], np.cumsum(np.append(counts, lengths[chosen]))])
    successors = np.empty(offsets[-1], structure.successors.dtype)
    first = np.repeat(good, counts)
    ahead = successors[: len(first)]
    ahead[first] = structure.num_states + np.arange(len(chosen))
    ahead[~first] = structure.successors[~places]
    successors[len(first) :] = structure.successors[places]
    choices = np.append(
        structure.choice_offsets, structure.choice_offsets[-1] + 1 + np.arange(len(chosen))
    )
    return Structure.of(choice_offsets=choices, transition_offsets=offsets, successors=successors)
