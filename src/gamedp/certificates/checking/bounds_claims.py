"""Claims of certificates of bounds, in words, and the arrays that they have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.certificates.checking.rule_set import ArraySpec, always
from gamedp.errors import CertificateError
from gamedp.model.objectives import (
    AverageReward,
    Discounted,
    FiniteHorizon,
    Objective,
    Reachability,
    TotalReward,
    value_of_endless_play,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from gamedp.certificates.certificate import Certificate
    from gamedp.model.model import Model

    Array = NDArray[Any]
    Flags = NDArray[np.bool_]

__all__ = ["ARRAYS", "check_draw", "may_drift", "refusal", "sums_until", "words_of"]

LARGEST_REST = 2.0**1000


def may_drift(model: Model, objective: Objective) -> bool:
    """Return whether endless play may earn and lose, and earn ever more in the long run."""
    return isinstance(objective, TotalReward) and not model.has_swaps


def sums_until(objective: Objective) -> bool:
    """Return whether a total is summed until a target is reached, and infinite otherwise."""
    return isinstance(objective, TotalReward) and objective.until is not None


# Which arrays there are, and what they must be ---------------------------------------------------


def _of_ranks(model: Model, objective: Objective) -> bool | None:
    """Require ranks where play may go on for ever without a discount."""
    del model
    return True if isinstance(objective, (TotalReward, Reachability)) else None


def _of_gains(model: Model, objective: Objective) -> bool | None:
    """Allow gains where the certificate has ranks."""
    return None if _of_ranks(model, objective) is None else False


def _of_rests(model: Model, objective: Objective) -> bool | None:
    """Allow rests for all objectives but averages and finite horizons."""
    del model
    return False if isinstance(objective, (TotalReward, Reachability, Discounted)) else None


def _of_escapes(model: Model, objective: Objective) -> bool | None:
    """Allow escapes for totals until a target."""
    del model
    return False if sums_until(objective) else None


def _of_biases(model: Model, objective: Objective) -> bool | None:
    """Require biases for averages; allow drifts for totals."""
    if isinstance(objective, AverageReward):
        return True
    return False if may_drift(model, objective) else None


def _bounds(model: Model, certificate: Certificate, array: Array) -> tuple[Flags, str]:
    """Allow infinite bounds, except of averages."""
    del model
    if isinstance(certificate.objective, AverageReward):
        return np.isfinite(array), "it must be a finite number"
    return ~np.isnan(array), "it must be a number"


def _ranks(model: Model, certificate: Certificate, array: Array) -> tuple[Flags, str]:
    """Allow integers whose sums fit into 64 bits."""
    del model, certificate
    return (array >= -1) & (array < 1 << 62), "it must be -1, or from 0 to 2**62 - 1"


def _rests(sign: int) -> Callable[..., tuple[Flags, str]]:
    """Allow rests that imply the lower bound, for the sign 1, or the upper one."""

    def limits(model: Model, certificate: Certificate, array: Array) -> tuple[Flags, str]:
        del model
        bound = certificate.lower if sign > 0 else certificate.upper
        most = np.where(np.isinf(bound), 0.0, LARGEST_REST)
        right = (sign * array >= 0) & (np.abs(array) <= most)
        least = "least" if sign > 0 else "most"
        return right, f"it must be finite and at {least} 0, or 0 beside infinity"

    return limits


def _biases(outer: float) -> Callable[..., tuple[Flags, str]]:
    """Allow finite numbers; for drifts, also the one that claims nothing."""

    def limits(model: Model, certificate: Certificate, array: Array) -> tuple[Flags, str]:
        del model
        if isinstance(certificate.objective, AverageReward):
            return np.isfinite(array), "it must be a finite number"
        return np.isfinite(array) | (array == outer), f"it must be finite, or {outer!r}"

    return limits


ARRAYS: tuple[ArraySpec, ...] = (
    ArraySpec("lower", np.float64, "S", always, _bounds),
    ArraySpec("upper", np.float64, "S", always, _bounds),
    ArraySpec("lower_rest", np.float64, "K S", _of_rests, _rests(1)),
    ArraySpec("upper_rest", np.float64, "K S", _of_rests, _rests(-1)),
    ArraySpec("lower_ranks", np.int64, "S", _of_ranks, _ranks),
    ArraySpec("upper_ranks", np.int64, "S", _of_ranks, _ranks),
    ArraySpec("lower_gains", np.int64, "S", _of_gains, _ranks),
    ArraySpec("upper_gains", np.int64, "S", _of_gains, _ranks),
    ArraySpec("escapes", np.int64, "S", _of_escapes, _ranks),
    ArraySpec("bias_lower", np.float64, "S", _of_biases, _biases(-np.inf)),
    ArraySpec("bias_upper", np.float64, "S", _of_biases, _biases(np.inf)),
)


# What is claimed, and of what --------------------------------------------------------------------


def refusal(model: Model, objective: Objective) -> str:
    """Return the reason for which a problem has no certificates of bounds; ``""`` if it has."""
    if model.is_general_sum:
        return (
            "such a certificate is for one player or two opponents; of others, equilibria are "
            "certified."
        )
    if model.has_swaps and (sums_until(objective) or isinstance(objective, Reachability)):
        return (
            "there are no certificates for a target where the players change places (canonical): "
            "one player wants to reach it, and the other does not."
        )
    if model.has_swaps and model.constant_sum and not isinstance(objective, TotalReward):
        return (
            f"{type(objective).__name__} does not go with constant_sum={model.constant_sum:g} and "
            "players who change places (canonical): truncated totals no longer add up to that."
        )
    return ""


def check_draw(model: Model, objective: Objective) -> None:
    """Raise unless the objective gives endless play a possible value."""
    draw = getattr(objective, "draw", None)
    if draw and model.rewards.any():
        message = (
            f"draw is {draw!r}; only a total of payoffs alone, where no step earns anything, may "
            "let endless play count another number than 0."
        )
        raise CertificateError(message)


def words_of(model: Model, objective: Objective) -> str:
    """Return the claim of certificates of bounds."""
    what = {
        TotalReward: "expected total",
        Reachability: "probability that the target is reached",
        Discounted: "expected discounted total",
        FiniteHorizon: "expected total over the horizon",
        AverageReward: "expected reward per step in the long run",
    }[type(objective)]
    who = "largest" if objective.optimum == "max" else "smallest"
    return (
        f"For every state, the {who} {what} that player 0 can secure"
        f"{_against(model, objective)} lies between lower and upper"
        f"{_words_of_draws(model, objective)}."
    )


def _against(model: Model, objective: Objective) -> str:
    """Return the class of opponents for which the claim is true, if it is not true for all.

    A maximiser may play a fair game until they are ahead, which takes an infinite expected time: so
    with rewards of both signs, a total until a target is bounded from below only for opponents with
    finite memory.
    """
    if not sums_until(objective):
        return ""
    movers = model.players[np.diff(model.choice_offsets) > 0]
    has_opponents = len(movers) > 0 and bool((movers != movers[0]).any())
    if not has_opponents or not (model.rewards > 0).any() or not (model.rewards < 0).any():
        return ""
    return " against opponents with finite memory"


def _words_of_draws(model: Model, objective: Objective) -> str:
    """Return the value of endless play in words, if it has any."""
    if not isinstance(objective, TotalReward) or objective.until is not None:
        return ""
    low, high = value_of_endless_play(objective, model)
    if low != high:
        return f", whatever endless play counts from {low!r} to {high!r}"
    if low == 0:
        return ", where endless play counts what it earns on the way"
    return f", where endless play counts {low!r}"
