"""Values by the number of steps that are left, each from those with one step fewer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import attrs
import numpy as np

from gamedp.bellman.enclosures import rounded_outward
from gamedp.errors import LimitExceededError, UnsupportedProblemError
from gamedp.model.objectives import FiniteHorizon, known_at_the_end, off_at_the_end, over_in
from gamedp.results.choice_values import choice_values
from gamedp.runtime.options import checked_whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.model.model import Model
    from gamedp.results.base import Table
    from gamedp.runtime.arrays import Floats

    TableT = TypeVar("TableT", bound=Table)


def room_for_steps(
    model: Model, shape: tuple[int, ...], dtype: type[Any], message: str
) -> NDArray[Any]:
    """Return zeros; raise LimitExceededError with a message if there is not enough memory."""
    try:
        return np.zeros(shape, dtype)
    except (MemoryError, ValueError):  # ValueError: beyond what an array can be
        raise LimitExceededError(
            message,
            states=model.num_states,
            choices=model.num_choices,
            transitions=model.num_transitions,
        ) from None


def step_values(solution: Table) -> tuple[Floats, Floats, Floats]:
    """Return values, lower and upper bounds with 0, 1, …, H steps to go; (H+1, S) each.

    Every step's bounds are those of the step before, widened by the possible rounding of this
    step's sums and rewards; the last row is the solution's own.

    Raises
    ------
    UnsupportedProblemError
        If the objective is not a finite horizon, or the solver keeps no policy for each step.
    LimitExceededError
        If there is not enough memory.
    """
    model, objective = solution.model, solution.objective
    if not isinstance(objective, FiniteHorizon):
        message = f"steps are counted for FiniteHorizon alone, not for {objective!r}."
        raise UnsupportedProblemError(message)
    if solution.step_policies is None or solution.values.ndim > 1:
        message = f"{type(solution.solver).__name__} keeps no policy for each step."
        raise UnsupportedProblemError(message)
    horizon = objective.horizon
    message = (
        f"the values of {model.num_states:,} states for each of {horizon:,} steps are too large "
        "for this computer's memory; solve with a shorter horizon."
    )
    shape = (3, horizon + 1, model.num_states)
    values, lower, upper = found = room_for_steps(model, shape, np.float64, message)
    known = known_at_the_end(objective, model)
    off = off_at_the_end(objective, model)
    ends, over = np.diff(model.choice_offsets) == 0, over_in(objective)
    ends = ends if over is None else ends | over
    for numbers, last in zip(found, (known, *rounded_outward(known, known, off)), strict=True):
        numbers[0] = last
        numbers[:, ends] = last[ends]
    movers = np.flatnonzero(np.diff(model.choice_offsets))
    goes_on = ~ends[movers]
    inner = movers[goes_on]
    places = model.choice_offsets[movers]
    most = (model.players[inner] == 0) == (objective.optimum == "max")
    for step in range(1, horizon if len(inner) else 0):
        before = (values[step - 1], lower[step - 1], upper[step - 1])
        of_all = choice_values(solution, 0, model.num_choices, following=before)
        for row, of_choices in zip(found[:, step], of_all, strict=True):
            best, worst = (
                each.reduceat(of_choices, places)[goes_on] for each in (np.maximum, np.minimum)
            )
            row[inner] = np.where(most, best, worst)
    values[-1], lower[-1], upper[-1] = solution.values, solution.lower, solution.upper
    found.flags.writeable = False
    return found[0], found[1], found[2]


def steps_left(solution: TableT, numbers: tuple[Floats, Floats, Floats], steps: int) -> TableT:
    """Return the solution with `steps` steps to go.

    Parameters
    ----------
    solution : Table
    numbers : (values, lower, upper)
        Those of :func:`step_values`.
    steps : int

    Raises
    ------
    InvalidParameterError
        If the horizon is shorter.
    """
    values, lower, upper = numbers
    horizon = len(values) - 1
    count = checked_whole("steps", steps, 0, horizon)
    if count == horizon:
        return solution
    step_policies, offsets = solution.step_policies, solution.model.choice_offsets
    assert step_policies is not None  # noqa: S101 - or there were no values
    policy = np.full(solution.model.num_states, -1, np.int64)
    if count:
        chosen = offsets[:-1] + step_policies[count - 1]
        policy = np.where(np.diff(offsets) > 0, chosen, -1)
    before = (values[count - 1], lower[count - 1], upper[count - 1]) if count else None
    objective: Any = solution.objective
    return attrs.evolve(
        solution,
        objective=attrs.evolve(objective, horizon=count),
        values=values[count],
        lower=lower[count],
        upper=upper[count],
        policy=policy,
        step_policies=step_policies[:count],
        following=before,
        exact=None,
        tight=None,
    )
