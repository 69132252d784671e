"""Whether staying in an end component earns or costs in the long run, if its rewards do both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gamedp.kernels.rounding import TINY, UNIT

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from gamedp.model import Model

    Flags = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    Integers = NDArray[np.signedinteger[Any]]

__all__ = [
    "UNDECIDED",
    "Gain",
    "have_both_signs",
    "sign_for_all",
    "sign_of_gain",
    "signs_of_endless_play",
]

UNDECIDED = 2
"""Where rewards have both signs, and it is not known which of them prevails."""

MOST_VISITS = 30_000_000
"""Transitions looked at for one end component; at least a thousand times each."""

STEP = 0.5
"""How far each sweep goes: not all the way, for play may go round in a circle."""


def signs_of_endless_play(
    model: Model, labels: Integers, stays: Flags, decide: Callable[[Flags], int]
) -> tuple[NDArray[np.int64], Flags]:
    """Find out whether endless play in each end component earns or loses.

    Parameters
    ----------
    model : Model
        In which no players change places.
    labels : (S,)
        The end component of each state, -1 for a state in none.
    stays : (C,) bool
        The choices that stay in the end component of their state.
    decide : callable
        Is asked about the states of an end component in which rewards have both signs: 1, -1, or 0
        if it cannot tell.

    Returns
    -------
    signs : (end components,) int
        1, -1, 0 where nothing is earned at all, or `UNDECIDED`.
    mixed : (S,) bool
        The states where rewards have both signs.
    """
    earned = np.asarray(model.rewards)[stays]
    where = labels[model.structure.owners[stays]]
    number = int(labels.max()) + 1
    most, least = np.zeros(number), np.zeros(number)
    np.maximum.at(most, where, earned)
    np.minimum.at(least, where, earned)
    signs = np.where(most > 0, 1, np.where(least < 0, -1, 0))
    mixed = np.zeros(len(labels), np.bool_)
    for label in np.flatnonzero((most > 0) & (least < 0)).tolist():
        members = labels == label
        signs[label] = decide(members) or UNDECIDED
        mixed |= members
    return signs, mixed


def have_both_signs(model: Model, labels: Integers, stays: Flags) -> Flags:
    """Say which states are in an end component in which rewards have both signs; (S,)."""
    where = labels[model.structure.owners]
    rewards = np.asarray(model.rewards)
    return (
        np.isin(labels, where[stays & (rewards > 0)])
        & np.isin(labels, where[stays & (rewards < 0)])
        & (labels >= 0)
    )


def sign_for_all(model: Model, stays: Flags) -> Callable[[Flags], int]:
    """Return what decides for opponents: whether all endless play earns, or all of it loses."""

    def decide(members: Flags) -> int:
        for sign in (1, -1):
            if sign_of_gain(model, members, stays, sign).sign < 0:
                return -sign
        return 0

    return decide


class Gain(NamedTuple):
    """What is known of the best average of an end component.

    Attributes
    ----------
    sign : int
        1 if from every state there is a policy that gains without end almost surely, and they are
        one; -1 if all policies lose without end; 0 if it is neither, or too close to tell.
    policy : (S,)
        The policy that gains; -1 elsewhere.
    gaps : (C,)
        Where the sign is 0: how much less than the best average choices bring, as far as is known;
        infinite for those of other states.
    """

    sign: int
    policy: NDArray[np.int64]
    gaps: Floats


def sign_of_gain(model: Model, members: Flags, stays: Flags, sign: float) -> Gain:
    """Find out whether all endless play in an end component loses, or some policy's always gains.

    For any numbers h, what the best policy earns per step in the long run lies between the least
    and the greatest of ``max(r + P h) - h`` over the states [1]_. Value iteration brings the two
    together. All is rounded outward, for probabilities that are off by two units in the last place,
    too.

    Parameters
    ----------
    model : Model
        In which no players change places.
    members : (S,) bool
        The states of the end component.
    stays : (C,) bool
        Its choices.
    sign : float
        1 if rewards count as they are, -1 if as losses.

    References
    ----------
    .. [1] A. Odoni, "On finding the maximal gain for Markov decision processes", Operations
       Research 17 (1969).
    """
    states = np.flatnonzero(members)
    choices = np.flatnonzero(stays & members[model.structure.owners])
    place = np.full(model.num_states, -1, np.int64)
    place[states] = np.arange(len(states))
    owners = place[model.structure.owners[choices]]
    first = np.searchsorted(owners, np.arange(len(states)))
    lengths = np.diff(model.transition_offsets)[choices]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    begin = model.transition_offsets[choices]
    places = np.repeat(begin - starts[:-1], lengths) + np.arange(starts[-1])
    successors = place[model.successors[places]]
    chances = model.probabilities[places]
    rewards = sign * np.asarray(model.rewards)[choices]
    size = float(np.abs(rewards).max())
    count = float(lengths.max()) + 8
    policy = np.full(model.num_states, -1, np.int64)
    gaps = np.full(model.num_choices, np.inf)
    bias = np.zeros(len(states))
    for _ in range(max(1000, MOST_VISITS // len(places))):
        worth = rewards + np.add.reduceat(chances * bias[successors], starts[:-1])
        best = np.maximum.reduceat(worth, first)
        change = best - bias
        least, most = float(change.min()), float(change.max())
        slack = 2 * count * (UNIT * (size + 2 * float(np.abs(bias).max())) + TINY)
        if most < -slack:
            return Gain(-1, policy, gaps)
        if least > slack:
            greedy = np.flatnonzero(worth == best[owners])[::-1]
            policy[states[owners[greedy]]] = choices[greedy]
            return Gain(1, policy, gaps)
        if most - least <= slack or not np.isfinite(slack):
            break
        bias = bias + STEP * change
        bias = bias - 0.5 * (bias.max() + bias.min())
    gaps[choices] = best[owners] - worth
    return Gain(0, policy, gaps)
