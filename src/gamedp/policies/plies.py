"""How likely play is not over after so many actions: for policies, and at most for any."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.errors import InvalidParameterError, UnsupportedProblemError, shown
from gamedp.policies.given import model_for
from gamedp.results.start import mean_of
from gamedp.runtime.floats import TINY, UNIT
from gamedp.runtime.options import Tier

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from gamedp.model.model import Model

    Flags = NDArray[np.bool_]
    Floats = NDArray[np.float64]

__all__ = ["most_unfinished", "unfinished"]


def unfinished(
    model: Model, plies: int, counted: Flags, starts: NDArray[np.int64]
) -> tuple[float, float]:
    """Return bounds of how likely play is not over after so many actions that count, at most.

    By backward induction: the probability that play goes on for k + 1 of them is the mean of those
    for k. It is computed with positive numbers alone, so that each step is relatively exact but
    for a few units in the last place, and all of them together but for their sum.

    Parameters
    ----------
    model : Model
        Each choice is the one that most likely prolongs play.
    plies : int
    counted : (C,) bool
        The choices that count.
    starts : (I,)
        Where play begins, with the model's initial probabilities.

    Raises
    ------
    UnsupportedProblemError
        If play may go on and on with choices that do not count.
    """
    matrix: Any = model.transition_matrix.copy()
    matrix.data = np.abs(model.probabilities)
    if not counted.all():
        _refuse_loops(model, counted)
    open_states = np.flatnonzero(np.diff(model.choice_offsets))
    begins = model.choice_offsets[open_states]
    goes_on = np.zeros(model.num_states)
    goes_on[open_states] = 1.0
    depth = 1
    for _ in range(plies):
        after: Any = matrix @ goes_on
        if counted.all():
            goes_on[open_states] = np.maximum.reduceat(after, begins) if len(begins) else 0.0
            continue
        goes_on, rounds = _with_free_choices(matrix, after, counted, open_states, begins)
        depth = max(depth, rounds)
    entries = int(np.diff(model.transition_offsets).max(initial=0))
    loss = 1.01 * plies * depth * (entries + 8) * UNIT
    if loss > 0.01:
        message = f"{plies:,} plies are too many for bounds."
        raise UnsupportedProblemError(message)
    found = goes_on[starts]
    lower = np.maximum(found * (1 - loss) - TINY, 0.0).tolist()
    upper = np.minimum(found * (1 + loss) + TINY, 1.0).tolist()
    probabilities = np.abs(model.initial_probabilities).tolist()
    return mean_of(lower, probabilities, 0.0, -math.inf), mean_of(
        upper, probabilities, 0.0, math.inf
    )


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
    if number < 0:
        message = f"plies is {shown(plies)}; it must be an integer, 0 or more."
        raise InvalidParameterError(message)
    return number


def counted_choices(labels: NDArray[Any], actions: Collection[int] | None) -> Flags:
    """Return which choices count: those with one of some actions, or all."""
    if actions is None:
        return np.ones(len(labels), np.bool_)
    return np.isin(labels, np.array(sorted(actions), np.int64))


def most_unfinished(
    game_or_model: Any,
    plies: int,
    *,
    actions: Collection[int] | None = None,
    compile: Tier = "auto",
) -> tuple[float, float]:
    """Return bounds of how likely play is not over after so many plies, whatever policies play.

    That is the greatest probability over all joint policies, including those that remember what was
    played before.

    Parameters
    ----------
    game_or_model
        An instance of a class that fulfils :class:`gamedp.Game`, or a Model.
    plies : int
    actions : collection of int, optional
        The actions that count; all if not given.
    compile : {"auto", "always", "never"}
        For a game, as for :func:`gamedp.compile`.

    Returns
    -------
    lower, upper : float

    Raises
    ------
    InvalidParameterError
        If `plies` is no number of plies.
    UnsupportedProblemError
        If play may go on and on with actions that do not count.

    Examples
    --------
    With five matches, of which each takes one to three, it may take five:

    >>> from gamedp.games.matches import Matches
    >>> low, high = most_unfinished(Matches(matches=5), 4, compile="never")
    >>> low <= 1.0 <= high, most_unfinished(Matches(matches=5), 5, compile="never")[1] < 1e-300
    (True, True)
    """
    model = model_for(game_or_model, [], compile)
    counted = counted_choices(model.action_labels, actions)
    return unfinished(model, checked_plies(plies), counted, model.initial_states)
