"""The length of play: how likely it lasts beyond each number of actions, and what remains of it."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex

import attrs
import numpy as np

from gamedp.bellman.enclosures import Products, enclosed_sums, scaled
from gamedp.errors import (
    InvalidParameterError,
    UnknownNameError,
    UnsupportedProblemError,
    shown,
)
from gamedp.model.objectives import TotalReward
from gamedp.model.problem import Problem
from gamedp.policies.arguments import as_model
from gamedp.policies.chain import InducedChain
from gamedp.policies.policy import choices_in
from gamedp.policies.solving import lengths_of
from gamedp.results.base import mean_of
from gamedp.runtime import compile_clock
from gamedp.runtime.limit import Limit, callback_of, shows_progress
from gamedp.runtime.notebook import html_rows
from gamedp.runtime.options import CompileMode, checked_whole
from gamedp.solvers import Retrograde
from gamedp.solvers.request import checked_number, reporting

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable

    from numpy.typing import NDArray

    from gamedp.model.model import Model
    from gamedp.results.solution import Solution
    from gamedp.rules.game import Game
    from gamedp.runtime.arrays import Flags, Floats
    from gamedp.runtime.limit import ProgressCallback


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
    actions : tuple or None
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
    actions: tuple[Hashable, ...] | None

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
        number = checked_whole("plies", plies, 0, self.plies)
        return float(self.lower[number]), float(self.upper[number])


MOST_PLIES = 10**8
"""Largest number of plies of a survival function, which takes a few gigabytes."""


def survival(
    model: Model,
    plies: int,
    counted: Flags,
    names: tuple[str, ...],
    actions: tuple[Hashable, ...] | None,
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


def listed_actions(
    model: Model, actions: Collection[Hashable] | None
) -> tuple[Hashable, ...] | None:
    """Return the actions that count in the order of their numbers in a model; None for all.

    Raises
    ------
    InvalidParameterError
        If they are not actions of the model.
    """
    if actions is None:
        return None
    try:
        own = {
            operator.index(action) if isinstance(action, SupportsIndex) else action
            for action in actions
        }
        return tuple(sorted(own, key=model.action_label))
    except (TypeError, UnknownNameError) as error:
        reason = f" {error}" if isinstance(error, UnknownNameError) else ""
        wanted = "actions" if model.actions else "integers"
        message = f"actions is {shown(actions)}; it must be a collection of {wanted}.{reason}"
        raise InvalidParameterError(message) from None


def counted_choices(
    model: Model, labels: NDArray[Any], actions: tuple[Hashable, ...] | None
) -> Flags:
    """Return which choices count, by their labels in a model: those of some actions, or all."""
    if actions is None:
        return np.ones(len(labels), np.bool_)
    wanted = set(map(model.action_label, actions))
    return np.isin(labels, [label for label in np.unique(labels).tolist() if label in wanted])


def greatest_survival(
    game_or_model: Game | Model,
    plies: int,
    *,
    actions: Collection[Hashable] | None = None,
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
    actions : collection, optional
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
    number = checked_whole("plies", plies, 0, MOST_PLIES)
    model = as_model(game_or_model, [], compile)
    listed = listed_actions(model, actions)
    counted = counted_choices(model, model.action_labels, listed)
    return survival(model, number, counted, (), listed)


TOLERANCE = 1e-6
"""Allowed distance between the bounds of an expected number of actions."""


@attrs.frozen(eq=False, repr=False, kw_only=True)
class Remoteness:
    """The remaining number of actions from each state of a solved game.

    Attributes
    ----------
    solution : Solution
    kind : {"forced", "mean"}
        Forced, for games of one or two players, without chance and with payoffs at the end alone:
        both play optimally and, among equally good lines, the winner takes the shortest and the
        loser the longest; in a draw both take the shortest. Mean: the expected number if all take
        the :meth:`gamedp.Solution.best_action`.
    lower, upper : (S,) float64
        Proven bounds, equal where forced; infinite where play may continue for ever.
    """

    solution: Solution
    kind: Literal["forced", "mean"]
    lower: Floats
    upper: Floats

    def __repr__(self) -> str:
        """Return the kind in short."""
        return f"<Remoteness of {len(self.lower):,} states: {self.kind}>"

    def plies(self, state: Any = None) -> float:
        """Return the remaining number of actions from a state, or from the start.

        Raises
        ------
        UnknownStateError
            If the model has no such state.
        """
        model = self.solution.model
        if state is not None:
            return self._middle(model.index(state)[0])
        return self._mean(model.initial_states, model.initial_probabilities)

    def after(self, state: Any) -> dict[int, float]:
        """Return the remaining number for each action of a state if taken next, itself counted.

        Raises
        ------
        UnknownStateError
            If the model has no such state.
        """
        return {action: self._next(choice) for action, choice in choices_in(self._model, state)}

    @property
    def _model(self) -> Model:
        return self.solution.model

    def _next(self, choice: int) -> float:
        row = slice(*self._model.transition_offsets[choice : choice + 2].tolist())
        return 1.0 + self._mean(self._model.successors[row], self._model.probabilities[row])

    def _mean(self, states: NDArray[Any], probabilities: Floats) -> float:
        chances = np.abs(probabilities).tolist()
        return mean_of([self._middle(index) for index in states.tolist()], chances, 0.0)

    def _middle(self, index: int) -> float:
        low, high = float(self.lower[index]), float(self.upper[index])
        return low if low == high else low + (high - low) / 2


@shows_progress
def remoteness(
    solution: Solution,
    *,
    max_seconds: float = math.inf,
    progress: ProgressCallback | bool | None = None,
) -> Remoteness:
    """Return the remaining number of actions from each state of a solved game.

    Without chance, and with payoffs at the end alone, this is the number in "wins in 5": the loser
    delays and the winner hurries, as far as their values allow. Such numbers are called remoteness
    [1]_; :class:`gamedp.solvers.Retrograde` finds them. In other games it is the expected number if
    all take the :meth:`gamedp.Solution.best_action`.

    Parameters
    ----------
    solution : Solution
        A solution for the total reward.
    max_seconds : float
        Time limit, as for :func:`gamedp.solve`; a single pass is finished.
    progress : callable or bool, optional
        As for :func:`gamedp.solve`.

    Returns
    -------
    Remoteness

    Raises
    ------
    UnsupportedProblemError
        If the solution is for another objective.
    NotSolvedError
        If the time is up, or the expected number cannot be found.

    References
    ----------
    .. [1] E. Berlekamp, J. Conway, R. Guy, "Winning Ways for your Mathematical Plays" (1982),
       chapter 9.

    Examples
    --------
    Six matches, of which each player takes one to three, and the last one loses: the first player
    leaves five, and the second one delays.

    >>> import gamedp
    >>> from gamedp.games.matches import Matches, MatchesState
    >>> found = gamedp.policies.remoteness(gamedp.solve(Matches(matches=6)))
    >>> found.kind, found.plies(), found.after(MatchesState(0, 6))
    ('forced', 4.0, {1: 4.0, 2: 3.0, 3: 3.0})
    """
    limit = Limit(checked_number("max_seconds", max_seconds))
    limit()
    report = callback_of(progress)
    listener = None if report is None else reporting(report)
    with compile_clock.reporting_compilation(listener):
        return _remoteness(solution, limit, report)


def _remoteness(solution: Solution, limit: Limit, progress: ProgressCallback | None) -> Remoteness:
    """Return the remoteness within a time limit."""
    model, objective = solution.model, solution.objective
    if not isinstance(objective, TotalReward) or objective.until is not None:
        message = f"remoteness is for TotalReward, not for {shown(objective)}."
        raise UnsupportedProblemError(message)
    distances = solution.distances
    if distances is None:
        problem = Problem(model, objective)
        if Retrograde().supports(problem):
            # Distances are exact, however values are rounded.
            found = Retrograde().solve(problem, tolerance=math.inf, progress=progress)
            distances = found.distances
    if distances is not None:
        steps = np.where(distances < 0, math.inf, distances)
        return Remoteness(solution=solution, kind="forced", lower=steps, upper=steps)
    try:
        played = attrs.evolve(solution, policy=solution.played)
        chain = InducedChain(model, [played] * model.num_players, everywhere=True)
    except InvalidParameterError as error:
        message = f"the solution has no action in some states. {error}"
        raise UnsupportedProblemError(message) from None
    counted = chain.process.sources >= 0
    lengths = lengths_of(chain.model, counted, TOLERANCE, limit, progress)
    nodes = chain.process.numbers[: model.num_states]
    return Remoteness(
        solution=solution, kind="mean", lower=lengths.lower[nodes], upper=lengths.upper[nodes]
    )
