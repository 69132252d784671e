"""The states from which one player can force certain choices infinitely often (Büchi condition)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.graph.sets import almost_sure, attractor, leads_into
from gamedp.graph.structure import Structure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Flags = NDArray[np.bool_]
    Integers = NDArray[np.signedinteger[Any]]

__all__ = ["buchi_states"]


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
