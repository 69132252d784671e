"""Total rewards of play that surely ends, however long that takes."""

from __future__ import annotations

import time
import warnings
from typing import TYPE_CHECKING

import attrs
import numpy as np

from gamedp.bellman import equation, residuals
from gamedp.errors import InvalidModelError
from gamedp.model.objectives import TotalReward
from gamedp.model.problem import Problem
from gamedp.results.status import Status
from gamedp.runtime.floats import TINY
from gamedp.solvers.tools.average.end_components import (
    is_easy_to_eliminate,
    offsets_of,
    ragged,
)
from gamedp.solvers.tools.components import sweep_components
from gamedp.solvers.tools.policies import improve_policies
from gamedp.solvers.tools.run import Run
from gamedp.solvers.tools.strategies import Answer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.model.model import Model

__all__ = ["bound_of_total", "solved_total"]

FEW_SWEEPS = 1000
"""Sweeps over a component before linear systems are tried."""


def solved_total(
    model: Model, tolerance: float, seconds: float, max_sweeps: int = 1_000_000
) -> Answer:
    """Return the total of a model in which all play ends, as far as it was found.

    By sweeps, if few of them suffice; otherwise by linear systems if these are easy, for the values
    and for the weights of the proof: if an end component is hardly ever left, sweeps take as many
    steps as play does.
    """
    problem = Problem(model, TotalReward())
    begin = time.monotonic()
    easy = is_easy_to_eliminate(model.structure.graph)
    run = Run(problem, tolerance, None, seconds)
    with np.errstate(over="ignore", invalid="ignore"):  # an overflow is refused at the end
        sweep_components(run, min(max_sweeps, FEW_SWEEPS) if easy else max_sweeps)
        swept = _found(run)
    left = seconds - (time.monotonic() - begin)
    if swept.width <= tolerance or not easy or left <= 0:
        return swept
    direct = _EliminatingRun(problem, tolerance, None, left)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a matrix that is singular as far as these numbers tell
        improve_policies(direct)
    if np.isfinite(direct.values).all():
        solved = _found(direct)
        if solved.width <= swept.width:
            return solved
    # It is not for lack of sweeps that these bounds are no closer.
    return attrs.evolve(swept, status=Status.ROUNDING)


def _found(run: Run) -> Answer:
    """Return the results of a run, proven as far as all play ends."""
    numbers, policy = run.results(proven=run.problem.is_proper)
    return Answer(*numbers, policy, run.status, run.sweeps)


class _EliminatingRun(Run):
    """A run whose proofs count the steps of the greedy policy by a linear system."""

    def prove_all(self, max_sweeps: int = 1000) -> float:
        """Prove errors for all values, with weights for the choices that are best by them."""
        ignored = np.empty_like(self.values)
        equation.sweep_apart_jit(0, len(ignored), self.equation, self.values, ignored, self.policy)
        return super().prove_all(max_sweeps)

    def _weigh(self, start: int, stop: int, mode: int, margin: float, max_sweeps: int) -> None:
        model, structure = self.problem.model, self.problem.model.structure
        states = np.asarray(self.equation.order[start:stop], np.int64)
        if mode == residuals.GREEDY:
            choices = self.policy[states]
        else:
            choices = ragged(model.choice_offsets, states)
        if mode == residuals.NEAR:
            followed = model.transition_matrix[choices] @ self.values
            worse = self.values[structure.owners[choices]] - model.rewards[choices] - followed
            choices = choices[worse <= margin]
        weights = _most_steps(model, states, choices, self.max_seconds - self.reporter.seconds)
        if np.isfinite(weights).all() and (weights > 0).all():
            self.weights[states] = weights
        else:
            super()._weigh(start, stop, mode, margin, max_sweeps)


def _most_steps(
    model: Model, states: NDArray[np.int64], choices: NDArray[np.int64], seconds: float
) -> NDArray[np.float64]:
    """Return the largest number of steps that some choices can take to leave their states."""
    size = len(states)
    place = np.full(model.num_states, size)
    place[states] = np.arange(size)
    transitions = ragged(model.transition_offsets, choices)
    counts = np.bincount(place[model.structure.owners[choices]], minlength=size + 1)
    part = attrs.evolve(
        model,
        choice_offsets=offsets_of(counts),
        transition_offsets=offsets_of(np.diff(model.transition_offsets)[choices]),
        successors=place[model.successors[transitions]].astype(  # type: ignore[arg-type]
            model.successors.dtype
        ),
        probabilities=model.probabilities[transitions],
        rewards=np.ones(len(choices)),
        players=np.zeros(size + 1, np.int8),
        terminals=np.array([size]),
        payoffs=np.zeros(1),
        action_labels=choices,
    )
    run = Run(Problem(part, TotalReward()), np.inf, None, max(1e-3, seconds))
    improve_policies(run)
    return run.values[:size]


def bound_of_total(model: Model, which: str, seconds: float) -> NDArray[np.float64] | None:
    """Return a bound of the total reward, close enough for a bias; None if there is none."""
    scale = max(np.abs(numbers).max(initial=0.0) for numbers in (model.rewards, model.payoffs))
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            solution = solved_total(model, 1e-3 * float(scale) + TINY, seconds)
    except InvalidModelError:  # beyond the range of these numbers
        return None
    bound: NDArray[np.float64] = getattr(solution, which)
    return bound if np.isfinite(bound).all() else None
