"""From a problem to a proper one, or why there is none: by its graph, and by numbers if need be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.errors import UnsupportedProblemError, shown
from gamedp.reduction import (
    OutOfTimeError,
    Reduction,
    UndefinedTotalError,
    needs_reduction,
    never,
    reduce,
)
from gamedp.results.status import Status
from gamedp.solvers.tools.policies import improve_policies
from gamedp.solvers.tools.run import Run

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from gamedp.model.problem import Problem

__all__ = ["OpenCases", "Refusal", "find_reduction", "refused_draws", "refused_opponents"]


@attrs.frozen
class Refusal:
    """The reason why nothing makes a problem proper, or one of two opponents.

    Attributes
    ----------
    reason : str
        A phrase that follows a solver's name.
    is_undefined : bool
        Whether each of two opponents can make the total infinite, in their own direction.
    """

    reason: str
    is_undefined: bool = False


@attrs.frozen(eq=False)
class OpenCases:
    """Cases that the graph does not decide, but numbers do.

    Attributes
    ----------
    reduction : Reduction or None
        The reduction that makes the problem proper, unless it might be better to alternate between
        earning and losing for ever; None if even that is unknown, as endless play earns and loses.
    """

    reduction: Reduction | None = None


def find_reduction(
    problem: Problem,
    out_of_time: Callable[[], bool] = never,
    open_cases: OpenCases | None = None,
) -> Reduction | Refusal | OpenCases | None:
    """Return the reduction that makes a problem proper, None if it is, or why there is none.

    Parameters
    ----------
    problem : Problem
    out_of_time : callable
        Called before numbers are iterated, and now and then on the way; returns whether to stop.
    open_cases : OpenCases, optional
        What is already known of the graph.

    Returns
    -------
    OpenCases
        If no time is left to find it out.
    """
    if not needs_reduction(problem):
        return None
    if refusal := refused_draws(problem):
        return Refusal(refusal)
    reduction = None if open_cases is None else open_cases.reduction
    try:
        reduction = reduction or reduce(problem, out_of_time)
        states, limsups = reduction.open_cases()
        if not len(states):
            return reduction
        return _decided(reduction, states, limsups, out_of_time)
    except UnsupportedProblemError as error:
        return Refusal(str(error), isinstance(error, UndefinedTotalError))
    except OutOfTimeError:
        return OpenCases(reduction)


def refused_draws(problem: Problem) -> str:
    """Return why no solver takes this draw; empty if it is 0, or all play ends."""
    if problem.draws == (0.0, 0.0):
        return ""
    low, high = problem.draws
    if low != high:
        return f"{problem.undeclared()} gamedp.solve finds out whether it matters."
    return f"takes endless play to count 0, not {low:g}; gamedp.solve shifts all payoffs for it."


def refused_opponents(reduction: Reduction) -> Refusal:
    """Return why solvers that do not deflate refuse opponents who can prolong play for ever."""
    state = reduction.original.model.state(reduction.improper_state)
    return Refusal(
        "does not solve games in which either player can prolong play for ever, as around "
        f"state {shown(state)}; StrategyIteration, IntervalIteration and "
        "TopologicalValueIteration do."
    )


def _decided(
    reduction: Reduction,
    states: NDArray[np.signedinteger[Any]],
    limsups: NDArray[np.float64],
    out_of_time: Callable[[], bool],
) -> Reduction | Refusal:
    """Return the reduction, unless it might be better to earn and lose in turn for ever."""
    if out_of_time():
        raise OutOfTimeError
    small = reduction.problem
    size = max(
        float(np.abs(numbers).max(initial=0.0)) for numbers in (small.model.rewards, limsups)
    )
    run = Run(small, 1e-9 * size, None, stop=out_of_time)
    with np.errstate(over="ignore", invalid="ignore"):
        improve_policies(run)
        if run.status is Status.TIME_LIMIT:
            raise OutOfTimeError
        (_, lower, upper), _ = run.results()
    lower, upper = reduction.expand(lower), reduction.expand(upper)
    maximises = reduction.original.objective.optimum == "max"
    worse = upper[states] < limsups if maximises else lower[states] > limsups
    if not worse.any():
        return reduction
    name = reduction.original.model.state(int(states[worse.argmax()]))
    return Refusal(
        f"finds no total around state {shown(name)}: to go on for ever there earns and loses in "
        "turn, and may be better than to stop, but such sums go up and down without a limit. Use "
        "AverageReward, Discounted, or TotalReward with until."
    )
