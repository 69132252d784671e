"""What comes after the last sweep: numbers of the asked model's states, checked, in a Solution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.errors import InvalidModelError, LimitExceededError, NotSolvedError
from gamedp.kernels import quotients
from gamedp.solution import Guarantee, Solution, Statistics, Status, width_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.model import Model
    from gamedp.problem import Problem
    from gamedp.reduction import Reduction

    Numbers = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]

__all__ = ["check_range", "finished", "make_solution", "outward", "room_for_policies"]

_LIMITS = {
    Status.SWEEP_LIMIT: ("its limit of sweeps", "Raise max_sweeps, loosen tolerance"),
    Status.TIME_LIMIT: ("its limit of time", "Raise max_seconds, loosen tolerance"),
    Status.ROUNDING: ("the limit of 64-bit rounding", "Loosen tolerance"),
}
"""What a solver may stop at, and the way out."""


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
        Of S states.
    reduction : Reduction or None
        How the problem came out of the model's, if it is another one.
    values, errors, policy : (S',)
        Of the problem that was solved.
    low, high : float
        Bounds that hold for all values anyhow.
    """
    if reduction is None:
        none = np.empty(0, np.int64)
        lifting = (none, np.empty(0), none, none)
    else:
        small, model = reduction.quotient, reduction.model
        lifting = (small.class_of, reduction.known, reduction.policy, small.choice_of)
    numbers = (np.empty(model.num_states), np.empty(model.num_states), np.empty(model.num_states))
    choices = np.empty(model.num_states, np.int64)
    width = quotients.finish_jit(
        values, errors, policy, low, high, *lifting, model.choice_offsets, *numbers, choices
    )
    if reduction is not None:
        reduction.leave(choices)
        value, lower, upper = numbers
        numbers = (reduction.fold(value), reduction.fold(lower, -1), reduction.fold(upper, 1))
        choices = reduction.fold_policy(choices)
        width = max(width, width_of(*numbers[1:]) if reduction.recasts else 0.0)
    return numbers, choices, width


def outward(
    values: NDArray[np.float64], errors: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return lower and upper bounds that are values minus and plus errors at least."""
    lower = np.nextafter(values - errors, -np.inf)
    upper = np.nextafter(values + errors, np.inf)
    exact = errors == 0
    lower[exact] = upper[exact] = values[exact]
    return lower, upper


def room_for_policies(model: Model, horizon: int) -> NDArray[np.unsignedinteger[Any]]:
    """Return zeros for a policy of each step of a horizon, (H, S): places among the actions.

    Raises
    ------
    LimitExceededError
        If there is not so much memory.
    """
    most_actions = int(np.diff(model.choice_offsets).max(initial=0))
    dtype: type[Any] = np.uint8 if most_actions <= 256 else np.uint32
    shape = (horizon, model.num_states)
    try:
        return np.zeros(shape, dtype)
    except (MemoryError, ValueError):  # ValueError: beyond what an array can be
        message = (
            f"a policy for each of {horizon:,} steps and {model.num_states:,} states is too large "
            "for this computer's memory. Take a shorter horizon, or Discounted or AverageReward, "
            "whose policies do not depend on the time."
        )
        raise LimitExceededError(
            message,
            states=model.num_states,
            choices=model.num_choices,
            transitions=model.num_transitions,
        ) from None


def check_range(
    model: Model, values: NDArray[np.float64], known: NDArray[np.float64] | None = None
) -> None:
    """Raise InvalidModelError if a value, of any player, is too large for a 64-bit number.

    Parameters
    ----------
    known : (S,), optional
        Values that are known, and may be infinite; NaN for the others.
    """
    finite = np.isfinite(values)
    if known is not None:
        finite |= ~np.isnan(known)
    if not finite.all():
        state = model.state(int(np.argwhere(~finite)[0, 0]))
        message = f"the value of {state!r} is beyond the range of 64-bit floating point."
        raise InvalidModelError(message)


def make_solution(  # noqa: PLR0913 - what a solution consists of
    problem: Problem,
    solver: Any,
    numbers: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]],
    policy: NDArray[np.int64],
    *,
    guarantee: Guarantee,
    status: Status,
    sweeps: int,
    seconds: float,
    relative: bool = False,
) -> Solution:
    """Make the Solution, and raise NotSolvedError if it is not what was asked for.

    Parameters
    ----------
    numbers : (values, lower, upper)
    seconds : float
        How long solving took.
    relative : bool
        Whether a relative tolerance was asked for.
    """
    model = problem.model
    values, lower, upper = numbers
    num_bytes = values.nbytes + lower.nbytes + upper.nbytes + policy.nbytes
    solution = Solution(
        model=model,
        objective=problem.objective,
        solver=solver,
        values=values,
        lower=lower,
        upper=upper,
        policy=policy,
        status=status,
        guarantee=guarantee,
        statistics=Statistics(
            states=model.num_states,
            choices=model.num_choices,
            transitions=model.num_transitions,
            sweeps=sweeps,
            seconds={"compile": 0.0, "explore": 0.0, **model.seconds, "solve": seconds},
            bytes=model.num_bytes + num_bytes,
        ),
    )
    if status in _LIMITS:
        what, way_out = _LIMITS[status]
        if hasattr(solver, "max_policies"):
            way_out = way_out.replace("max_sweeps", "max_policies")
        width = width_of(lower, upper, relative=relative)
        known = (
            f"every value is known to within {width:.3g}{' of itself' if relative else ''}"
            if guarantee is not Guarantee.NONE and np.isfinite(width)
            else "nothing is proven yet for some values"
        )
        message = (
            f"{type(solver).__name__} stopped at {what} after {sweeps:,} sweeps; {known}. "
            f"{way_out}, or read .solution on this error."
        )
        raise NotSolvedError(message, solution)
    return solution
