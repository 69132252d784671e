"""Drifts: numbers that prove that endless play earns ever more, although it also loses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.model.model import Model

    Flags = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    Integers = NDArray[np.signedinteger[Any]]

__all__ = ["find_drifts"]

STEP = 0.5
"""Step size of each sweep: less than 1, as play may go round in a circle."""

SLACK = 2.0**-46
"""Least reward of each step, as a part of the size of the numbers, for the checker to see it."""

MOST_SWEEPS = 2000
"""Number of sweeps until the states that earn least are given up."""


def find_drifts(
    model: Model, helps: Flags, rewards: Floats, good: Flags, ranked: Flags, members: Flags
) -> tuple[Flags, Floats, NDArray[np.int64]]:
    """Find drifts: numbers that are less than the expected reward and drift of the next step.

    Value iteration of the average: states that earn too little are given up, until those that are
    left all earn, or none is.

    Parameters
    ----------
    model : Model
        In which no players change places.
    helps : (S,) bool
        Whether the mover of a state wants to earn.
    rewards : (C,)
    good : (C,) bool
        The choices that count.
    ranked : (S,) bool
        Where opponents may lead to as well.
    members : (S,) bool
        Where to look for such states.

    Returns
    -------
    members : (S,) bool
        Those that are found: play stays among them, or leads to ranked ones.
    drifts : (S,)
        Their numbers.
    via : (S,)
        The choice of helping members; -1 elsewhere.
    """
    structure, starts = model.structure, model.transition_offsets[:-1]
    owners, size = structure.owners, float(np.abs(rewards).max(initial=0.0))
    leads = np.logical_or.reduceat(ranked[model.successors], starts)
    numbers = np.zeros(model.num_states)
    via = np.full(model.num_states, -1, np.int64)

    while True:
        members, stays = _closed(model, helps, good, leads, members)
        if not members.any():
            return members, numbers, via
        choices = np.flatnonzero(stays)
        movers = owners[choices]
        first = np.flatnonzero(np.append(True, movers[1:] != movers[:-1]))
        states = movers[first]
        sign = np.where(helps[states], 1.0, -1.0)
        numbers[:] = 0.0
        for _ in range(MOST_SWEEPS):
            following = np.add.reduceat(model.probabilities * numbers[model.successors], starts)
            values = np.where(helps[movers], 1.0, -1.0) * (rewards + following)[choices]
            best = np.maximum.reduceat(values, first)
            change = sign * best - numbers[states]
            enough = change > SLACK * (size + float(np.abs(numbers).max()))
            if enough.all():
                greedy = np.flatnonzero(
                    values == np.repeat(best, np.diff(np.append(first, len(movers))))
                )
                via[movers[greedy[::-1]]] = choices[greedy[::-1]]
                return members, numbers, np.where(members & helps, via, -1)
            numbers[states] += STEP * change
            numbers[states] -= numbers[states].mean()
        members = members.copy()
        members[states[~enough]] = False


def _closed(
    model: Model, helps: Flags, good: Flags, leads: Flags, members: Flags
) -> tuple[Flags, Flags]:
    """Return the largest part in which the helper can stay, and the others stay or lead to ranks.

    Returns
    -------
    members : (S,) bool
    stays : (C,) bool
        The good choices that stay among them.
    """
    owners, starts = model.structure.owners, model.transition_offsets[:-1]
    while True:
        inside = np.logical_and.reduceat(members[model.successors], starts) & members[owners]
        stays = inside & good
        some = np.bincount(owners[stays], minlength=len(members)) > 0
        wrong = np.bincount(owners[~(good & (inside | leads))], minlength=len(members)) > 0
        kept = members & some & (helps | ~wrong)
        if (kept == members).all():
            return members, stays
        members = kept
