"""Decision processes solved by policy iteration, as a step of other methods."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

from gamedp.errors import UnsupportedProblemError
from gamedp.reduction import OutOfTimeError, Reduction
from gamedp.results.status import Status, width_of
from gamedp.solvers.tools.finish import widened
from gamedp.solvers.tools.limit import Limit
from gamedp.solvers.tools.policies import improve_policies
from gamedp.solvers.tools.prepared import prepare
from gamedp.solvers.tools.run import Run
from gamedp.solvers.tools.support import support_of_proper

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.model.problem import Problem

__all__ = ["Answer", "solve_process"]


@attrs.frozen(eq=False)
class Answer:
    """The result for a problem, solved or not: S states.

    Attributes
    ----------
    values, lower, upper : (S,) float64
    policy : (S,) int64
    status : Status
        Whether the bounds are as close as requested, and if not, the reason.
    sweeps : int
    """

    values: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    policy: NDArray[np.int64]
    status: Status
    sweeps: int

    @property
    def width(self) -> float:
        """The largest distance of an upper from a lower bound."""
        return width_of(self.lower, self.upper)


def solve_process(problem: Problem, tolerance: float, max_seconds: float) -> Answer:
    """Solve a problem as :class:`gamedp.solvers.PolicyIteration` does, as far as possible.

    Parameters
    ----------
    problem : Problem
        A problem of one player, or of two who cannot keep each other from an end.
    tolerance : float
    max_seconds : float
        Time limit.

    Raises
    ------
    UnsupportedProblemError
        If nothing makes it proper.
    InvalidModelError
        If a value is beyond the range of 64-bit numbers.
    """
    limit = Limit(max_seconds)
    prepared = prepare(problem)
    try:
        prepared.settle(limit)
    except OutOfTimeError:
        return _nothing(problem)
    support = support_of_proper(prepared)
    if not support:
        message = f"PolicyIteration {support.reason}"
        raise UnsupportedProblemError(message)
    reduction = prepared.proper if isinstance(prepared.proper, Reduction) else None
    proper = problem if reduction is None else reduction.problem
    run = Run(proper, tolerance, None, limit.left)
    with np.errstate(over="ignore", invalid="ignore"):  # an overflow is refused at the end
        improve_policies(run)
        numbers, policy = run.results(proven=proper.is_proper, reduction=reduction)
    values, lower, upper = numbers
    if any(problem.model.rounding) and proper.is_proper:
        lower, upper = widened(problem, lower, upper)
        if run.status is Status.SOLVED and not width_of(lower, upper) <= tolerance:
            run.status = Status.ROUNDING
    return Answer(values, lower, upper, policy, run.status, run.sweeps)


def _nothing(problem: Problem) -> Answer:
    """Return an answer without bounds: time was up."""
    model = problem.model
    first = model.choice_offsets[:-1]
    infinite = np.full(model.num_states, np.inf)
    policy = np.where(first < model.choice_offsets[1:], first, -1).astype(np.int64)
    values = np.zeros(model.num_states)
    return Answer(values, -infinite, infinite, policy, Status.TIME_LIMIT, 0)
