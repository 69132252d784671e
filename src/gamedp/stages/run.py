"""The state of a running solver of staged games: its program, limits and rounding."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.results.status import Status
from gamedp.runtime.floats import TINY, UNIT
from gamedp.runtime.limit import Budget
from gamedp.stages.kernels import bound_rounding_jit
from gamedp.stages.vector_code import program_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.model.model import Model
    from gamedp.model.problem import AnyProblem
    from gamedp.runtime.limit import ProgressCallback
    from gamedp.stages.model import StagedModel

__all__ = ["StageRun", "largest"]


class StageRun:
    """A running solver of a staged game."""

    def __init__(
        self,
        solver: Any,
        problem: AnyProblem[StagedModel],
        tolerance: float,
        progress: ProgressCallback | None,
    ) -> None:
        self.solver = solver
        self.problem = problem
        self.tolerance = tolerance
        self.reporter = Budget(progress, "solve", solver.max_seconds)
        self.model = model = problem.model
        begin = time.perf_counter()
        contexts = model.sweeper.survey()
        self.explored = time.perf_counter() - begin
        self.codes, self.offsets, self.values = contexts.codes, contexts.offsets, contexts.values
        self.program = model.sweeper.unroll(
            program_of(model.stage, optimum=problem.objective.optimum),
            len(self.codes),
            unrolls=solver.unrolls,
        )
        self.stage_error = _rounding_of(model.stage)
        self.errors = np.zeros(len(self.offsets) - 1)
        self.largest = largest(self.values)  # absolute value known so far
        self.sweeps = 0
        self.status = Status.SOLVED
        self.is_proven = True

    @property
    def is_out_of_time(self) -> bool:
        """Whether the solver's time is up."""
        return self.reporter.is_late

    def rounding(self, reward: float, apart: float = 0.0) -> float:
        """Return the bound of the rounding error of one sweep.

        Parameters
        ----------
        reward : float
            The largest reward of an end.
        apart : float
            The largest excess of numbers over the largest value so far.
        """
        relative, rewards = self.stage_error
        size = self.largest + apart + abs(self.model.constant_sum) + reward + rewards
        # Three times for the sums at the end of the stage, once for this very formula.
        return (relative + 4 * UNIT) * (size + TINY / UNIT)  # and of what underflows


def largest(values: NDArray[np.float64]) -> float:
    """Return the largest absolute value; 0 if there is no number."""
    return float(np.fmax(np.fmax.reduce(values, initial=0.0), -np.fmin.reduce(values, initial=0.0)))


def _rounding_of(stage: Model) -> tuple[float, float]:
    """Return the relative error bound of a sweep, and the largest sum of rewards on the way."""
    errors, rewards = np.zeros(stage.num_states), np.zeros(stage.num_states)
    bound_rounding_jit(
        stage.structure.order,
        stage.choice_offsets,
        stage.transition_offsets,
        stage.successors,
        stage.probabilities,
        stage.rewards,
        errors,
        rewards,
    )
    start = stage.initial_states[0]
    return float(errors[start]), float(rewards[start])
