"""From a problem to a proper one, or why there is none: by its graph, and by numbers if need be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
from gamedp.solvers.tools.facts import OpenCases, Refusal, refused_draws
from gamedp.solvers.tools.policies import improve_policies
from gamedp.solvers.tools.run import Run

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from gamedp.model.problem import Problem

__all__ = [
    "find_reduction",
]


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
