"""After the last sweep: values and bounds of the original states, checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.bellman.enclosures import rounded_outward
from gamedp.errors import (
    InvalidModelError,
    UnsupportedProblemError,
    shown,
)
from gamedp.model.objectives import AverageReward, Discounted, FiniteHorizon, Reachability
from gamedp.reduction import quotient_kernels
from gamedp.results.status import width_of
from gamedp.results.step_values import room_for_steps
from gamedp.runtime.floats import UNIT, UPWARD

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.model.model import Model
    from gamedp.model.problem import Problem
    from gamedp.reduction import Reduction

    Numbers = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]

MOST_SWEEPS = 10_000
"""Largest number of steps of play examined to bound its length: about a second for small models."""

__all__ = [
    "check_range",
    "finer_tolerance",
    "finished",
    "outward",
    "room_for_policies",
    "widened",
]


def finished(
    model: Model,
    reduction: Reduction | None,
    values: NDArray[np.float64],
    errors: NDArray[np.float64],
    policy: NDArray[np.int64],
    low: float,
    high: float,
) -> tuple[Numbers, NDArray[np.int64], float]:
    """Return values, bounds and the policy for the states of a model, and the width.

    Parameters
    ----------
    model : Model
        A model with S states.
    reduction : Reduction or None
        How the problem was derived from the model's, if it is another one.
    values, errors, policy : (S',)
        Results for the problem that was solved.
    low, high : float
        Bounds of all finite values, known before solving.
    """
    if reduction is None:
        # Of the types that reductions have, so that the kernel compiles only once.
        none, choices = np.empty(0, model.successors.dtype), np.empty(0, np.int64)
        choices.flags.writeable = False
        expanding = (none, np.empty(0), none, choices)
    else:
        small, model = reduction.quotient, reduction.model
        expanding = (small.class_of, reduction.known, reduction.policy, small.choice_of)
    numbers = (np.empty(model.num_states), np.empty(model.num_states), np.empty(model.num_states))
    choices = np.empty(model.num_states, np.int64)
    width = quotient_kernels.finish_jit(
        values, errors, policy, low, high, *expanding, model.choice_offsets, *numbers, choices
    )
    if reduction is not None:
        reduction.leave(choices)
        value, lower, upper = numbers
        numbers = (
            reduction.project(value),
            reduction.project(lower, -1),
            reduction.project(upper, 1),
        )
        choices = reduction.project_policy(choices)
        width = max(width, width_of(*numbers[1:]) if reduction.recasts else 0.0)
    return numbers, choices, width


def outward(
    values: NDArray[np.float64], errors: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return lower and upper bounds, at least as wide as values minus and plus errors."""
    lower = np.nextafter(values - errors, -np.inf)
    upper = np.nextafter(values + errors, np.inf)
    exact = errors == 0
    lower[exact] = upper[exact] = values[exact]
    return lower, upper


def room_for_policies(model: Model, horizon: int) -> NDArray[np.unsignedinteger[Any]]:
    """Return zeros for a policy of each step of a horizon, (H, S): positions among the actions.

    Raises
    ------
    LimitExceededError
        If there is not enough memory.
    """
    most_actions = int(np.diff(model.choice_offsets).max(initial=0))
    dtype: type[Any] = np.uint8 if most_actions <= 256 else np.uint32
    message = (
        f"a policy for each of {horizon:,} steps and {model.num_states:,} states is too large "
        "for this computer's memory. Take a shorter horizon, or Discounted or AverageReward, "
        "whose policies do not depend on the time."
    )
    return room_for_steps(model, (horizon, model.num_states), dtype, message)


def check_range(
    model: Model, values: NDArray[np.float64], known: NDArray[np.float64] | None = None
) -> None:
    """Raise InvalidModelError if a value, of any player, is too large for a 64-bit number.

    Parameters
    ----------
    known : (S,), optional
        Known values, which may be infinite; NaN for the others.
    """
    finite = np.isfinite(values)
    if known is not None:
        finite |= ~np.isnan(known)
    if not finite.all():
        state = model.state(int(np.argwhere(~finite)[0, 0]))
        message = f"the value of {shown(state)} is beyond the range of 64-bit floating point."
        raise InvalidModelError(message)


def widened(
    problem: Problem,
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    rounding: tuple[float, float, float] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return bounds for the payoffs and rewards of the rules, which doubles may not hold.

    With payoffs off by at most p and rewards by r, the value of every policy is the same to within
    p, and r for each step, discounted. If steps are not bounded, but nothing is negative (or
    nothing positive), it is the same to within a part of itself, the largest part by which a number
    is off; the same then holds for the optimum. Otherwise it takes a bound of the expected steps.

    Parameters
    ----------
    problem : Problem
    lower, upper : (S,)
    rounding : (float, float, float), optional
        As in :class:`gamedp.Model`; by default the model's own.

    Raises
    ------
    UnsupportedProblemError
        If rewards of both signs are rounded and play may last for ever, or very long.
    """
    model, objective = problem.model, problem.objective
    payoff, reward, part = rounding or model.rounding
    if isinstance(objective, Reachability) or not (payoff or reward):
        return lower, upper
    amount: Any = payoff
    if reward > 0:
        if isinstance(objective, Discounted):
            amount = payoff + reward / (1 - objective.discount) * (1 + 2.0**-40)
        elif isinstance(objective, FiniteHorizon):
            amount = payoff + reward * objective.horizon
        elif isinstance(objective, AverageReward):
            amount = reward
        elif not model.structure.cycle():
            amount = payoff + reward * model.structure.num_levels
        elif problem.has_one_sign and not model.has_swaps and part < 0.5:
            most = np.maximum(np.abs(lower), np.abs(upper))
            amount = np.where(np.isfinite(most), most * 2 * part, 0.0)
        else:
            amount = payoff + reward * _most_steps(model)
        if not np.isfinite(amount).all():
            message = (
                "some rewards are not 64-bit numbers, and with rewards of both signs their "
                "rounding adds up for as long as play lasts. Use ExactPolicyIteration, or give "
                "rewards that are (by float(...))."
            )
            raise UnsupportedProblemError(message)
    return rounded_outward(lower, upper, amount * (1 + 2.0**-40))


def _most_steps(model: Model) -> float:
    """Return a bound of the expected number of steps under any policy; may be infinite.

    If it lasts beyond m steps with probability at most q from everywhere, that is m / (1 - q).
    """
    if not model.structure.always_ends:
        return np.inf
    inner = np.flatnonzero(np.diff(model.choice_offsets))
    starts, rows = model.choice_offsets[inner], model.transition_offsets[:-1]
    shares = np.abs(model.probabilities)
    longest = int(np.diff(model.transition_offsets).max(initial=0))
    lasts = np.zeros(model.num_states)
    lasts[inner] = 1.0
    for steps in range(1, MOST_SWEEPS):
        of_choices = np.add.reduceat(shares * lasts[model.successors], rows)
        lasts[inner] = np.maximum.reduceat(of_choices, starts)
        most = float(lasts.max(initial=0.0)) * (1 + 2 * steps * (longest + 8) * UNIT)
        if most <= 0.5:
            return steps / (1 - most) * UPWARD
    return np.inf


def finer_tolerance(
    lower: NDArray[np.float64], upper: NDArray[np.float64], tolerance: float
) -> float:
    """Return an absolute tolerance that may suffice for a relative one, by the bounds so far."""
    with np.errstate(invalid="ignore", over="ignore"):  # equal ones may be infinite
        wide = upper - lower > tolerance * np.maximum(lower, -upper)
    apart = (lower != upper) & wide
    most = np.maximum(np.abs(lower), np.abs(upper))[apart]
    return 0.5 * tolerance * float(most.min(initial=np.inf))
