"""The remaining length of play from each state of a solved game."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import attrs
import numpy as np

from gamedp.errors import InvalidParameterError, UnsupportedProblemError, shown
from gamedp.model.objectives import TotalReward
from gamedp.model.problem import Problem
from gamedp.policies.chain import InducedChain
from gamedp.policies.choices import choices_in
from gamedp.policies.solving import lengths_of
from gamedp.results.base import mean_of
from gamedp.runtime import compile_clock
from gamedp.runtime.limit import Limit
from gamedp.solvers import Retrograde
from gamedp.solvers.asked import checked_number, reporting

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.results.solution import Solution
    from gamedp.runtime.limit import ProgressCallback

    Floats = NDArray[np.float64]

__all__ = ["Remoteness", "remoteness"]

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
    def _model(self) -> Any:
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


def remoteness(
    solution: Solution,
    *,
    max_seconds: float = math.inf,
    progress: ProgressCallback | None = None,
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
    progress : callable, optional
        Called with a :class:`gamedp.Progress` now and then.

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
    listener = None if progress is None else reporting(progress)
    with compile_clock.reporting_compilation(listener):
        return _remoteness(solution, limit, progress)


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
