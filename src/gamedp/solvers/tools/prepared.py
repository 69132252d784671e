"""A problem with its known facts, found once before numbers are iterated and then shared."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gamedp.model.objectives import AverageReward, FiniteHorizon, has_target
from gamedp.model.problem import Problem
from gamedp.reduction import OutOfTimeError, Reduction, never
from gamedp.solvers.tools.depth_first import search_depth_first
from gamedp.solvers.tools.facts import (
    OpenCases,
    Refusal,
    Searched,
    Support,
    refused_draws,
    refused_opponents,
)
from gamedp.solvers.tools.opponents import Opponents, find_opponents
from gamedp.solvers.tools.proper import find_reduction

if TYPE_CHECKING:
    from collections.abc import Callable

    from gamedp.runtime.limit import ProgressCallback

__all__ = [
    "Prepared",
    "prepare",
    "support_by",
    "support_of_deflating",
    "support_of_fixed_points",
    "support_of_proper",
    "support_of_rationals",
]


UNKNOWN = OpenCases()
"""A fact that has not been asked for yet."""


def _no_time() -> bool:
    """Return True: there is no time for numbers, and only the graph is examined."""
    return True


class Prepared:
    """A problem, and what is known of it before numbers are iterated.

    Each fact is found when first needed, by passes over the graph alone, and kept for all that
    share the object: the choice of a solver, and the solver. Whatever the graph cannot decide is an
    open case until :meth:`settle` decides it numerically. No fact changes.

    Attributes
    ----------
    problem : Problem
    """

    def __init__(self, problem: Problem, progress: ProgressCallback | None = None) -> None:
        self.problem = problem
        self._progress = progress
        self._searched: Searched | OpenCases | None = UNKNOWN
        self._reduction: Reduction | Refusal | OpenCases | None = UNKNOWN
        self._opponents: Opponents | Refusal | OpenCases = UNKNOWN

    @property
    def searched(self) -> Searched | None:
        """The result of a depth-first search, if there is a target and nothing needs to be reduced.

        Deciding this requires most of the work of solving.
        """
        if isinstance(self._searched, OpenCases):
            self._searched = search_depth_first(self.problem, self._progress)
        return self._searched

    @property
    def answer(self) -> Searched | None:
        """The same if it is the whole answer: no cycle that matters is left."""
        found = self.searched
        return found if found is not None and not found.parts.num_components else None

    @property
    def reduction(self) -> Reduction | Refusal | OpenCases | None:
        """The reduction that makes the problem proper; None if it is proper already.

        Opponents who can prolong play for ever are left to deflation: see :attr:`proper`.
        """
        if self._reduction is UNKNOWN:
            self._reduction = find_reduction(self.problem, _no_time)
        return self._reduction

    @property
    def proper(self) -> Reduction | Refusal | OpenCases | None:
        """The same for solvers that do not deflate: refused if play can be prolonged for ever."""
        found = self.reduction
        if isinstance(found, Reduction) and found.problem.needs_deflation:
            return refused_opponents(found)
        return found

    @property
    def opponents(self) -> Opponents | Refusal | OpenCases:
        """The two opponents of the problem, for policy against policy."""
        if self._opponents is UNKNOWN:
            self._opponents = self._find_opponents(_no_time)
        return self._opponents

    def _find_opponents(self, out_of_time: Callable[[], bool]) -> Opponents | Refusal | OpenCases:
        def reduce(problem: Problem) -> Reduction | Refusal | OpenCases | None:
            if problem is not self.problem:
                return find_reduction(problem, out_of_time)
            self._decide(out_of_time)
            return self._reduction

        return find_opponents(self.problem, out_of_time, reduce)

    def settle(self, out_of_time: Callable[[], bool] = never) -> None:
        """Decide numerically what makes the problem proper, if the graph does not tell.

        Parameters
        ----------
        out_of_time : callable
            Called now and then; returns whether to give up.

        Raises
        ------
        OutOfTimeError
            If it returns True: the case stays open.
        """
        self._decide(out_of_time)
        if isinstance(self._reduction, OpenCases):
            raise OutOfTimeError

    def settle_opponents(self, out_of_time: Callable[[], bool] = never) -> None:
        """Decide numerically who the opponents are, or that there are none; as :meth:`settle`."""
        if isinstance(self._opponents, OpenCases):
            self._opponents = self._find_opponents(out_of_time)
        if isinstance(self._opponents, OpenCases):
            raise OutOfTimeError

    def _decide(self, out_of_time: Callable[[], bool]) -> None:
        if isinstance(self._reduction, OpenCases):
            self._reduction = find_reduction(self.problem, out_of_time, self._reduction)


def prepare(problem: Problem | Prepared, progress: ProgressCallback | None = None) -> Prepared:
    """Return a problem with its known facts; a prepared one unchanged.

    Parameters
    ----------
    problem : Problem or Prepared
    progress : callable, optional
        Called with a :class:`gamedp.Progress` now and then.
    """
    return problem if isinstance(problem, Prepared) else Prepared(problem, progress)


def support_of_fixed_points(prepared: Prepared) -> Support:
    """Return the support of solvers for Bellman's equation as a fixed point: no steps, no max-n."""
    problem = prepared.problem
    if isinstance(problem.objective, FiniteHorizon):
        return Support(False, "does not support finite horizons; BackwardInduction does.")
    if isinstance(problem.objective, AverageReward):
        return Support(False, "does not support long-run averages; RelativeValueIteration does.")
    if problem.model.num_players > 2:
        return Support(False, "is for one or two players; BackwardInduction supports more.")
    found = prepared.proper
    if isinstance(found, Refusal) and (
        found.is_undefined or has_target(problem.objective) or refused_draws(problem)
    ):
        return Support(False, found.reason)
    return Support(True, is_open=isinstance(found, OpenCases))


def support_of_proper(prepared: Prepared) -> Support:
    """Return the support of solvers of fixed points that need play to end, or to be made to."""
    support = support_of_fixed_points(prepared)
    return support_by(prepared.proper) if support else support


def support_of_deflating(prepared: Prepared) -> Support:
    """Return the support of solvers of proper problems that deflate bounds of two opponents."""
    support = support_of_proper(prepared)
    if support or prepared.reduction is None:
        return support
    return support_by(prepared.reduction)


def support_by(found: object) -> Support:
    """Return the support of a solver that needs exactly what was found: yes, no, or open."""
    if isinstance(found, Refusal):
        return Support(False, found.reason)
    return Support(True, is_open=isinstance(found, OpenCases))


def support_of_averages(problem: Problem) -> Support:
    """Return whether one player makes all choices, as solvers of averages require."""
    model = problem.model
    movers = model.players[np.diff(model.choice_offsets) > 0]
    are_opponents = len(movers) > 0 and (movers != movers[0]).any()
    if model.num_players > 2 or model.has_swaps or are_opponents:
        return Support(
            False,
            "is for one player: with opponents, an end component has no single gain. Use "
            "Discounted with a discount near one, or FiniteHorizon.",
        )
    return Support(True)


def support_of_rationals(prepared: Prepared) -> Support:
    """Return the support of solvers in rational numbers, however long they take."""
    problem = prepared.problem
    if isinstance(problem.objective, AverageReward):
        return support_of_averages(problem)
    if isinstance(problem.objective, FiniteHorizon):
        return Support(problem.model.num_players <= 2, "is for one or two players.")
    return support_by(prepared.opponents)
