"""The probability that play is not over after each number of actions."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.bellman.enclosures import Products, enclosed_sums, scaled
from gamedp.errors import InvalidParameterError, UnsupportedProblemError, shown
from gamedp.policies.given import model_for
from gamedp.runtime.notebook import html_rows
from gamedp.runtime.options import CompileMode

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from gamedp.model.model import Model

    Flags = NDArray[np.bool_]
    Floats = NDArray[np.float64]

__all__ = ["Survival", "greatest_survival", "most_unfinished", "survival"]


MOST_SHOWN = 12
"""Largest number of rows that notebooks show."""


@attrs.frozen(eq=False, kw_only=True, repr=False)
class Survival:
    """The survival function: the probability that play is not over after n = 0 ... N actions.

    Attributes
    ----------
    lower, upper : (N+1,) float64
        Proven bounds.
    names : tuple of str
        The names of the policies, player 0's first; empty for the maximum over all policies.
    actions : tuple of int or None
        The actions that count; None if all do.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> model = gamedp.compile(Matches(matches=4), compile="never")
    >>> chance = gamedp.Policy.uniform(model)
    >>> found = gamedp.evaluate(model, [chance, chance]).survival(4)
    >>> found
    <Survival of uniform against uniform: 0 ... 4 plies>
    >>> found.upper.round(6).tolist()
    [1.0, 1.0, 0.388889, 0.055556, 0.0]
    """

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    names: tuple[str, ...]
    actions: tuple[int, ...] | None

    def __attrs_post_init__(self) -> None:
        """Lock the arrays."""
        for array in (self.lower, self.upper):
            array.flags.writeable = False

    def __repr__(self) -> str:
        """Return the policies and the range in short."""
        counted = "plies" if self.actions is None else "actions that count"
        return f"<Survival of {self.title}: 0 ... {self.plies:,} {counted}>"

    def _repr_html_(self) -> str:
        """Return some of the rows as a table for notebooks."""
        count = self.plies + 1
        places = range(count)
        if count > MOST_SHOWN:
            places = range(0, count, -(-self.plies // (MOST_SHOWN - 1)))
        numbers = dict.fromkeys([*places, self.plies])
        rows = [(f"{n:,}", f"{self.lower[n]:.10g} … {self.upper[n]:.10g}") for n in numbers]
        return html_rows(["plies" if self.actions is None else "actions", "not over"], rows)

    @property
    def title(self) -> str:
        """A title that names the policies."""
        return " against ".join(self.names) or "the longest games"

    @property
    def plies(self) -> int:
        """N, the largest number of actions."""
        return len(self.lower) - 1

    def bounds(self, plies: int) -> tuple[float, float]:
        """Return (lower, upper) of the probability that play is not over after a number of actions.

        Raises
        ------
        InvalidParameterError
            If it is not a number from 0 to `plies`.
        """
        try:
            number = operator.index(plies)
        except TypeError:
            number = -1
        if not 0 <= number <= self.plies:
            message = f"plies is {shown(plies)}; it must be an integer from 0 to {self.plies:,}."
            raise InvalidParameterError(message)
        return float(self.lower[number]), float(self.upper[number])


MOST_PLIES = 10**8
"""Largest number of plies of a survival function, which takes a few gigabytes."""


def survival(
    model: Model,
    plies: int,
    counted: Flags,
    names: tuple[str, ...],
    actions: tuple[int, ...] | None,
) -> Survival:
    """Return bounds of the greatest probability that play lasts beyond n counted actions.

    The bounds are for all n, by backward induction: the probability that play continues for k + 1
    of them is the mean of those for k. It is computed with positive numbers alone, so that the
    relative error of each step is a few units in the last place.

    Parameters
    ----------
    model : Model
        In each state, the choice that most likely prolongs play is taken.
    plies : int
        The largest n.
    counted : (C,) bool
        The choices that count.
    names, actions
        As for :class:`Survival`.

    Raises
    ------
    UnsupportedProblemError
        If play may continue for ever with choices that do not count.
    """
    matrix: Any = model.transition_matrix.copy()
    matrix.data = np.abs(model.probabilities)
    open_states = np.flatnonzero(np.diff(model.choice_offsets))

    def best(of_choices: Floats) -> Floats:
        found = np.zeros(model.num_states)
        if len(open_states):
            begins = model.choice_offsets[open_states]
            found[open_states] = np.maximum.reduceat(of_choices, begins)
        return found

    counts_all = bool(counted.all())
    if not counts_all:
        _refuse_loops(model, counted)
    # Choices that do not count follow each other before the next one that does.
    products, free = Products(matrix), Products(matrix[~counted])
    lower = upper = best(np.ones(model.num_choices))
    starts = model.initial_states
    weights, off = scaled(model.initial_probabilities)
    found = np.empty((2, plies + 1, len(starts)))
    found[:, 0] = lower[starts], upper[starts]
    for ply in range(1, plies + 1):
        low, high = products.enclosed(lower, upper)
        lower, upper = best(low), best(high)
        while not counts_all:
            low[~counted], high[~counted] = free.enclosed(lower, upper)
            before = lower, upper
            lower, upper = best(low), best(high)
            if np.array_equal(before, (lower, upper)):
                break
        lower, upper = np.minimum(lower, 1.0), np.minimum(upper, 1.0)
        found[:, ply] = lower[starts], upper[starts]
    lower, upper = found[:, :, 0]
    if len(starts) > 1:
        offsets, rows = np.arange(plies + 2) * len(starts), np.tile(weights, plies + 1)
        means = enclosed_sums(offsets, rows, *found.reshape(2, -1), relative=off)
        lower, upper = np.clip(means, 0.0, 1.0)
    return Survival(lower=lower, upper=upper, names=names, actions=actions)


def _refuse_loops(model: Model, counted: Flags) -> None:
    """Raise if choices that do not count form a cycle."""
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
        If it is not a number of plies.
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
        If they are not integers.
    """
    if actions is None:
        return None
    try:
        return tuple(sorted({operator.index(action) for action in actions}))
    except TypeError:
        message = f"actions is {shown(actions)}; it must be a collection of integers."
        raise InvalidParameterError(message) from None


def counted_choices(labels: NDArray[Any], actions: tuple[int, ...] | None) -> Flags:
    """Return which choices count: those with one of the given actions, or all."""
    if actions is None:
        return np.ones(len(labels), np.bool_)
    known = np.unique(labels)
    return np.isin(labels, [action for action in known.tolist() if action in actions])


def greatest_survival(
    game_or_model: Any,
    plies: int,
    *,
    actions: Collection[int] | None = None,
    compile: CompileMode = "auto",
) -> Survival:
    """Return bounds of the greatest probability over all policies that play lasts beyond n plies.

    For each n, it is the greatest probability over all joint policies, including those that
    remember the history; the maximising policy may differ between n.

    Parameters
    ----------
    game_or_model
        An instance of a class that fulfils :class:`gamedp.Game`, or a Model.
    plies : int
        The largest n, 100,000,000 at most.
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
        If `plies` is not a number of plies, or an action is not an integer.
    UnsupportedProblemError
        If play may continue for ever with actions that do not count.

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
    compile: CompileMode = "auto",
) -> tuple[float, float]:
    """Return bounds of the greatest probability that play is not over after a number of plies.

    They are the last ones of :func:`gamedp.policies.greatest_survival`, which has the same
    parameters and errors.

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
