"""How likely play is not over after so many actions: for policies, and at most for any."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.errors import InvalidParameterError, UnsupportedProblemError, shown
from gamedp.policies.given import model_for
from gamedp.policies.survival import Survival
from gamedp.runtime.floats import LEAST, TINY, UNIT
from gamedp.runtime.options import Tier

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from gamedp.model.model import Model

    Flags = NDArray[np.bool_]
    Floats = NDArray[np.float64]

__all__ = ["greatest_survival", "most_unfinished", "survival"]

MOST_PLIES = 10**8
"""Of survival: a few gigabytes."""


def survival(
    model: Model,
    plies: int,
    counted: Flags,
    names: tuple[str, ...],
    actions: tuple[int, ...] | None,
) -> Survival:
    """Return bounds of how likely play is not over after n actions that count, at most, for all n.

    By backward induction: the probability that play goes on for k + 1 of them is the mean of those
    for k. It is computed with positive numbers alone, so that each step is relatively exact but
    for a few units in the last place, and all of them together but for their sum.

    Parameters
    ----------
    model : Model
        Each choice is the one that most likely prolongs play.
    plies : int
        The greatest n.
    counted : (C,) bool
        The choices that count.
    names, actions
        As for :class:`Survival`.

    Raises
    ------
    UnsupportedProblemError
        If play may go on and on with choices that do not count.
    """
    matrix: Any = model.transition_matrix.copy()
    matrix.data = np.abs(model.probabilities)
    counts_all = bool(counted.all())
    if not counts_all:
        _refuse_loops(model, counted)
    # Of each step: its sum, and what probabilities are off.
    entries = int(np.diff(model.transition_offsets).max(initial=0)) + 8
    open_states = np.flatnonzero(np.diff(model.choice_offsets))
    begins = model.choice_offsets[open_states]
    goes_on = np.zeros(model.num_states)
    goes_on[open_states] = 1.0
    chances = np.abs(model.initial_probabilities)
    of_mean = 0 if chances.tolist() == [1.0] else 2 * len(chances)
    found, steps = np.empty((2, plies + 1))
    depth = 1
    for ply in range(plies + 1):
        if ply:
            after: Any = matrix @ goes_on
            if counts_all:
                goes_on[open_states] = np.maximum.reduceat(after, begins) if len(begins) else 0.0
            else:
                goes_on, rounds = _with_free_choices(matrix, after, counted, open_states, begins)
                depth = max(depth, rounds)
        found[ply] = chances @ goes_on[model.initial_states] / chances.sum()
        steps[ply] = ply * depth * entries + of_mean
    loss, least = 1.01 * UNIT * steps, TINY + steps * LEAST
    if loss[-1] > 0.01:
        message = f"{plies:,} plies are too many for bounds."
        raise UnsupportedProblemError(message)
    lower = np.maximum(found * (1 - loss) - least, 0.0)
    upper = np.minimum(found * (1 + loss) + least, 1.0)
    return Survival(lower=lower, upper=upper, names=names, actions=actions)


def _with_free_choices(
    matrix: Any, after: Floats, counted: Flags, open_states: Any, begins: Any
) -> tuple[Floats, int]:
    """Return the same where some choices do not count, and how many follow each other at most."""
    goes_on = np.zeros(matrix.shape[1])
    rounds = 0
    while True:
        rounds += 1
        following = np.where(counted, after, matrix @ goes_on)
        found = np.zeros_like(goes_on)
        found[open_states] = np.maximum.reduceat(following, begins)
        if (found == goes_on).all():
            return found, rounds
        goes_on = found


def _refuse_loops(model: Model, counted: Flags) -> None:
    """Raise if choices that do not count lead back to where they were taken."""
    import scipy.sparse  # noqa: PLC0415 - slow to import, and rarely needed
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415 - likewise

    size = model.num_states
    owners = np.repeat(np.arange(size), np.diff(model.choice_offsets))
    lengths = np.where(counted, 0, np.diff(model.transition_offsets))
    kept = np.repeat(~counted, np.diff(model.transition_offsets))
    froms, to = np.repeat(owners, lengths), model.successors[kept]
    graph = scipy.sparse.coo_array((np.ones(len(to)), (froms, to)), shape=(size, size))
    number, _ = connected_components(graph, connection="strong")
    if number < size or (froms == to).any():
        message = (
            "play may go on and on with actions that are not counted; count more of them, or leave "
            "actions out to count all."
        )
        raise UnsupportedProblemError(message)


def checked_plies(plies: Any) -> int:
    """Return a number of plies.

    Raises
    ------
    InvalidParameterError
        If it is none.
    """
    try:
        number = operator.index(plies)
    except TypeError:
        number = -1
    if not 0 <= number <= MOST_PLIES:
        message = f"plies is {shown(plies)}; it must be an integer from 0 to {MOST_PLIES:,}."
        raise InvalidParameterError(message)
    return number


def listed_actions(actions: Collection[int] | None) -> tuple[int, ...] | None:
    """Return the actions that count in order; None for all.

    Raises
    ------
    InvalidParameterError
        If they are no integers.
    """
    if actions is None:
        return None
    try:
        return tuple(sorted({operator.index(action) for action in actions}))
    except TypeError:
        message = f"actions is {shown(actions)}; it must be a collection of integers."
        raise InvalidParameterError(message) from None


def counted_choices(labels: NDArray[Any], actions: tuple[int, ...] | None) -> Flags:
    """Return which choices count: those with one of some actions, or all."""
    if actions is None:
        return np.ones(len(labels), np.bool_)
    known = np.unique(labels)
    return np.isin(labels, [action for action in known.tolist() if action in actions])


def greatest_survival(
    game_or_model: Any,
    plies: int,
    *,
    actions: Collection[int] | None = None,
    compile: Tier = "auto",
) -> Survival:
    """Return bounds of how likely play is not over after n plies, whatever policies play.

    For each n that is the greatest probability over all joint policies, including those that
    remember what was played before; for another n it may be another policy.

    Parameters
    ----------
    game_or_model
        An instance of a class that fulfils :class:`gamedp.Game`, or a Model.
    plies : int
        The greatest n, 100,000,000 at most.
    actions : collection of int, optional
        The actions that count; all if not given.
    compile : {"auto", "always", "never"}
        For a game, as for :func:`gamedp.compile`.

    Returns
    -------
    Survival

    Raises
    ------
    InvalidParameterError
        If `plies` is no number of plies, or an action no integer.
    UnsupportedProblemError
        If play may go on and on with actions that do not count.

    Examples
    --------
    With five matches, of which each takes one to three, it may take five:

    >>> from gamedp.games.matches import Matches
    >>> found = greatest_survival(Matches(matches=5), 6, compile="never")
    >>> found.upper.round(9).tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0]
    """
    number, listed = checked_plies(plies), listed_actions(actions)
    model = model_for(game_or_model, [], compile)
    counted = counted_choices(model.action_labels, listed)
    return survival(model, number, counted, (), listed)


def most_unfinished(
    game_or_model: Any,
    plies: int,
    *,
    actions: Collection[int] | None = None,
    compile: Tier = "auto",
) -> tuple[float, float]:
    """Return bounds of how likely play is not over after so many plies, whatever policies play.

    The last of :func:`gamedp.policies.greatest_survival`, which takes the same and raises the same.

    Returns
    -------
    lower, upper : float

    Examples
    --------
    >>> from gamedp.games.matches import Matches
    >>> low, high = most_unfinished(Matches(matches=5), 4, compile="never")
    >>> low <= 1.0 <= high, most_unfinished(Matches(matches=5), 5, compile="never")[1] < 1e-300
    (True, True)
    """
    found = greatest_survival(game_or_model, plies, actions=actions, compile=compile)
    return found.bounds(found.plies)
