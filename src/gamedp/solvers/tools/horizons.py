"""Finite horizons: one sweep for each step, from the end to the start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.bellman import residuals
from gamedp.model.objectives import FiniteHorizon
from gamedp.solvers.tools.run import outward, room_for_policies, widened

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.solvers.tools.run import Numbers, Run

__all__ = ["sweep_horizon"]


def sweep_horizon(
    run: Run, horizon: int
) -> tuple[NDArray[np.unsignedinteger[Any]], Numbers | None]:
    """Sweep once for each step, and keep the best choices for each number of steps to go.

    Parameters
    ----------
    run : Run
        Its values, errors and policy are filled in, for all steps to go.
    horizon : int
        H steps.

    Returns
    -------
    step_policies : (H, S)
        Positions among the actions of a state; row h is for h + 1 steps to go.
    following : (values, lower, upper) or None
        The values with one step fewer to go, if there is any.
    """
    model = run.problem.model
    step_policies = room_for_policies(model, horizon)
    first_choices = model.choice_offsets[:-1]
    values, errors = run.values, run.errors
    following = None
    for step in range(horizon):
        if step == horizon - 1:
            before = attrs.evolve(run.problem, objective=FiniteHorizon(step))
            following = (values, *widened(before, *outward(values, errors)))
        new_values, new_errors = values.copy(), errors.copy()
        residuals.step_jit(run.equation, values, errors, new_values, new_errors, run.policy)
        values, errors = new_values, new_errors
        step_policies[step] = np.maximum(run.policy - first_choices, 0)
        run.visits[0] += model.num_states - len(model.terminals)
        run.reporter.report(step + 1, horizon, f"{step + 1:,} steps to go")
    run.values, run.errors = values, errors
    return step_policies, following
