"""The sign of the best average reward in end components with rewards of both signs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gamedp.bellman import average
from gamedp.bellman.equation import unordered_equation
from gamedp.graph.graph import Graph
from gamedp.runtime.slices import TIMED_TRANSITIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from gamedp.model.model import Model
    from gamedp.runtime.arrays import Flags, Floats, Integers


UNDECIDED = 2
"""Mark for end components with rewards of both signs if it is not known which of them prevails."""

MOST_VISITS = 30_000_000
"""Approximate number of transitions visited in one end component before its sign is given up."""

FEW_SWEEPS, MOST_SWEEPS = 250, 16_000
"""Sweeps over one end component at first, and at most; each of few states is also eliminated."""


class OutOfTimeError(Exception):
    """Raised at a time limit while it is unknown what endless play earns."""


def never() -> bool:
    """Return False: there is time left."""
    return False


def signs_of_endless_play(
    model: Model, labels: Integers, stays: Flags, decide: Callable[[Flags], int]
) -> tuple[NDArray[np.int64], Flags]:
    """Find out whether endless play in each end component earns or loses.

    Parameters
    ----------
    model : Model
        A model in which no players change places.
    labels : (S,)
        The end component of each state, -1 for a state in none.
    stays : (C,) bool
        The choices that stay in the end component of their state.
    decide : callable
        Called with the states of an end component in which rewards have both signs: returns 1, -1,
        or 0 if it cannot decide.

    Returns
    -------
    signs : (end components,) int
        1, -1, 0 if nothing is earned at all, or `UNDECIDED`.
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
    """Return which states are in an end component in which rewards have both signs; (S,)."""
    where = labels[model.structure.owners]
    rewards = np.asarray(model.rewards)
    return (
        np.isin(labels, where[stays & (rewards > 0)])
        & np.isin(labels, where[stays & (rewards < 0)])
        & (labels >= 0)
    )


def sign_for_all(
    model: Model, stays: Flags, out_of_time: Callable[[], bool]
) -> Callable[[Flags], int]:
    """Return the decision for opponents: whether all endless play earns, or all of it loses."""

    def decide(members: Flags) -> int:
        for sign in (1, -1):
            if sign_of_gain(model, members, stays, sign, out_of_time).sign < 0:
                return -sign
        return 0

    return decide


class GainSign(NamedTuple):
    """The known facts about the best average of an end component.

    Attributes
    ----------
    sign : int
        1 if from every state there is a policy that gains without end almost surely, and they are
        one; -1 if all policies lose without end; 0 if it is neither, or too close to tell.
    policy : (S,)
        The policy that gains; -1 elsewhere.
    gaps : (C,)
        If the sign is 0: the known shortfall of choices from the best average; infinite for
        those of other states.
    """

    sign: int
    policy: NDArray[np.int64]
    gaps: Floats


def sign_of_gain(
    model: Model,
    members: Flags,
    stays: Flags,
    sign: float,
    out_of_time: Callable[[], bool] = never,
) -> GainSign:
    """Find out whether all endless play in an end component loses, or some policy's always gains.

    For any numbers h, the best policy's average reward per step lies between the least
    and the greatest of ``max(r + P h) - h`` over the states [1]_. Sweeps and the biases of policies
    bring the two together, see :mod:`gamedp.bellman.average`. Everything is rounded outward, also
    for probabilities that are off by two units in the last place.

    Parameters
    ----------
    model : Model
        A model in which no players change places.
    members : (S,) bool
        The states of the end component.
    stays : (C,) bool
        Its choices.
    sign : float
        1 if rewards count as they are, -1 if as losses.
    out_of_time : callable
        Called now and then; returns whether to give up.

    Raises
    ------
    OutOfTimeError
        If it returns True.

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
    successors = place[model.successors[places]].astype(model.successors.dtype)
    probabilities = model.probabilities[places]
    rewards = sign * np.asarray(model.rewards)[choices]
    policy = np.full(model.num_states, -1, np.int64)
    gaps = np.full(model.num_choices, np.inf)
    equation = unordered_equation(
        Graph(np.append(first, len(choices)), starts, successors),
        probabilities,
        rewards,
        np.ones(len(states), np.bool_),
    )
    values, new_values = np.zeros((2, len(states)))
    own, bounds = np.zeros(len(states), np.int64), np.empty((1, 2))
    sweeps, most = FEW_SWEEPS, min(MOST_SWEEPS, max(FEW_SWEEPS, MOST_VISITS // len(places)))
    at_once = sys.maxsize if out_of_time is never else max(1, TIMED_TRANSITIONS // len(places))
    done = 0
    while True:
        if out_of_time():
            raise OutOfTimeError
        piece = min(sweeps - done, at_once)
        settled = average.settle_jit(
            0,
            1,
            np.array([0, len(states)]),
            len(states),
            piece,
            0.0,
            equation,
            values,
            new_values,
            own,
            bounds,
            np.zeros(1, np.int64),
        )
        lowest, highest = bounds[0].tolist()
        if highest < 0:
            return GainSign(-1, policy, gaps)
        if lowest > 0:
            policy[states] = choices[own]
            return GainSign(1, policy, gaps)
        if settled or not np.isfinite(lowest + highest):
            break
        done += piece
        if done == sweeps:
            if sweeps >= most:
                break
            done, sweeps = 0, 4 * sweeps
    choice_values = rewards + np.add.reduceat(probabilities * values[successors], starts[:-1])
    best = np.maximum.reduceat(choice_values, first)
    gaps[choices] = best[owners] - choice_values
    return GainSign(0, policy, gaps)
