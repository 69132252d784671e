"""What the graph alone tells: sets of states from which others are reached, and how surely."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.structure import Structure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Flags = NDArray[np.bool_]
    Integers = NDArray[np.signedinteger[Any]]

__all__ = [
    "almost_sure",
    "end_components",
    "first_choices",
    "leads_into",
    "positive",
]


def positive(
    structure: Structure, helps: Flags, target: Flags, active: Flags, barred: Flags | None = None
) -> tuple[Flags, Integers]:
    """Find from where a target is reached with positive probability, against all hindrance.

    Parameters
    ----------
    structure : Structure
    helps : (S,) bool
        Whether the mover of a state wants to reach the target; the others want to avoid it.
    target : (S,) bool
    active : (C,) bool
        The choices that can be taken.
    barred : (S,) bool, optional
        States that do not count even so.

    Returns
    -------
    members : (S,) bool
        The target included.
    via : (S,)
        A choice that may lead a helping state nearer to the target; -1 in other states.
    """
    from gamedp.kernels import attractors  # noqa: PLC0415 - brings numba along

    offsets, choices = structure.predecessors
    members = target.copy()
    via = np.full(len(target), -1, choices.dtype)
    attractors.attract_jit(
        structure.choice_offsets,
        structure.owners,
        offsets,
        choices,
        helps,
        active,
        np.zeros(len(target), np.bool_) if barred is None else barred,
        members,
        via,
        np.empty(len(target), choices.dtype),
    )
    return members, via


def almost_sure(
    structure: Structure, helps: Flags, target: Flags, active: Flags
) -> tuple[Flags, Flags, Integers]:
    """Find from where a target is reached with probability one, against all hindrance.

    The largest set X within which the target is reached with positive probability, while no choice
    leads out of X: those of helping states that might are not taken [1]_.

    Parameters
    ----------
    structure, helps, target, active
        As for :func:`positive`.

    Returns
    -------
    members : (S,) bool
        The target included.
    safe : (C,) bool
        The active choices that stay among the members.
    via : (S,)
        The choice by which a helping member reaches the target in the end, and by which a hindering
        state outside misses it with positive probability; -1 in other states.

    References
    ----------
    .. [1] L. de Alfaro, T. Henzinger, "Concurrent omega-regular games", LICS 2000.
    """
    safe = active.copy()
    gone = np.zeros(len(target), np.bool_)
    misses = np.full(len(target), -1, np.int64)
    while True:
        members, via = positive(structure, helps, target, safe, gone)
        left = ~members & ~gone
        if not left.any():
            return members, safe, np.where(members, via, misses)
        # Who hinders keeps away from the members; and from wherever that place may be reached in
        # spite of those who help, goes there.
        ways = first_choices(structure, safe & ~leads_into(structure, members))
        misses = np.where(left & ~helps, ways, misses)
        lost, towards = positive(structure, ~helps, gone | left, active, target)
        misses = np.where(lost & ~gone & ~left, towards, misses)
        gone = lost
        safe = active & ~leads_into(structure, gone)


def leads_into(structure: Structure, states: Flags) -> Flags:
    """Say which choices may lead into a set of states; (C,)."""
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


def end_components(structure: Structure, states: Flags, choices: Flags) -> tuple[Integers, Flags]:
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
    labels : (S,) int64
        The end component of each state, -1 for a state in none.
    stays : (C,) bool
        The choices of the part that surely keep play in the end component of their state.
    """
    labels = np.full(structure.num_states, -1, np.int64)
    stays = np.zeros(len(structure.owners), np.bool_)
    if structure.always_ends:
        return labels, stays
    # An end component of a part lies within one of the whole.
    states = states & (structure.end_component >= 0)
    inside = choices & states[structure.owners] & structure.stays & ~leads_into(structure, ~states)
    numbers = np.flatnonzero(inside)
    if not len(numbers):
        return labels, stays
    members = np.flatnonzero(states)
    local = np.full(structure.num_states, -1, structure.successors.dtype)
    local[members] = np.arange(len(members))
    counts = np.bincount(local[structure.owners[numbers]], minlength=len(members))
    lengths = np.diff(structure.transition_offsets)
    part = Structure.of(
        choice_offsets=_offsets(counts),
        transition_offsets=_offsets(lengths[numbers]),
        successors=local[structure.successors[np.repeat(inside, lengths)]],
    )
    labels[members] = part.end_component
    stays[numbers] = part.stays
    return labels, stays


def _offsets(counts: Any) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
