"""What a certificate claims, and whether it is complete."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

from gamedp.certificates.certificate import AnyCertificate, check_array
from gamedp.errors import CertificateError, UnsupportedProblemError
from gamedp.model.model import check_finite
from gamedp.model.objectives import (
    AverageReward,
    Discounted,
    Objective,
    Reachability,
    TotalReward,
    resolved,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.model.model import Model

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

__all__ = ["ARRAYS", "Certificate", "check_complete", "may_drift", "sums_until"]

ARRAYS = (
    *("lower", "upper", "lower_rest", "upper_rest", "lower_ranks", "upper_ranks"),
    *("lower_gains", "upper_gains", "escapes", "bias_lower", "bias_upper"),
)

MOST_SHIFT = 2000
MOST_RESTS = 8
"""How many numbers may be added to a bound: so few that their sum is rounded seven times."""
LARGEST_REST = 2.0**1000


@attrs.frozen(eq=False, kw_only=True, repr=False, getstate_setstate=False)
class Certificate(AnyCertificate):
    """Bounds of all values of a model, with what :func:`gamedp.verify` needs to check them.

    Made by :func:`gamedp.certify`; or by hand, as all that counts is whether it is
    accepted. S states. The arrays are read-only.

    Attributes
    ----------
    objective : Objective
        What the values mean, with sets of states as masks.
    lower, upper : (S,) float64
        What is claimed: the value of every state lies between them. An infinite number claims
        nothing if it is on the outer side, and else that the value is infinite.
    lower_rest, upper_rest : (K, S) float64 or None
        What is proven, where a double is too coarse for it: not `lower`, but its exact sum with the
        K numbers here, which are at least 0 and so imply the bound that is claimed; at most 0 for
        `upper`. For discounted and other totals, and for probabilities; None if doubles do.
    rest_shift : int
        The rests count 2 to the power of minus this: for numbers where doubles end.
    lower_ranks, upper_ranks : (S,) int64 or None
        For :class:`TotalReward` and :class:`Reachability`: a number that can fall with a step; or
        -1 for a state that needs none. In terminal states and targets it counts as 0.
    lower_gains, upper_gains : (S,) int64 or None
        Numbers that can fall while the rank stays, until something is earned (for the lower bound)
        or paid (for the upper one), or endless play is worth the bound. None if there is no
        need for any.
    escapes : (S,) int64 or None
        If some total until a target is minus infinity: a number that can fall until the target is
        reached, or -1 for a state that needs none, or whose rank does for it. None if there is no
        need for any.
    bias_lower, bias_upper : (S,) float64 or None
        For :class:`AverageReward`: the bias of each state, for either bound. For a total of endless
        play that earns and loses: drifts, numbers that are less than the expected reward and drift
        after the next step (greater, for the upper bound); infinite for states that need none,
        and None if there is no need for any.
    digest : str
        :meth:`gamedp.Model.digest` of the model.
    """

    lower_rest: Floats | None = None
    upper_rest: Floats | None = None
    rest_shift: int = 0
    lower_ranks: Integers | None = None
    upper_ranks: Integers | None = None
    lower_gains: Integers | None = None
    upper_gains: Integers | None = None
    escapes: Integers | None = None
    bias_lower: Floats | None = None
    bias_upper: Floats | None = None


def may_drift(model: Model, objective: Objective) -> bool:
    """Say whether endless play may earn and lose, and by and by have earned ever more."""
    return isinstance(objective, TotalReward) and not model.has_swaps


def sums_until(objective: Objective) -> bool:
    """Say whether a total is summed until a target is reached, and infinite without that."""
    return isinstance(objective, TotalReward) and objective.until is not None


def check_complete(model: Model, certificate: Certificate) -> Objective:
    """Return the objective with masks, if the certificate has all it needs; it is of this model."""
    check_finite(model)
    objective = resolved(certificate.objective, model)
    _check_supported(model, objective)
    _check_draw(model, objective)
    average = isinstance(objective, AverageReward)
    ranked = isinstance(objective, (TotalReward, Reachability))
    ranks = {"lower_ranks", "upper_ranks"} if ranked else set()
    biases = {"bias_lower", "bias_upper"} if average or may_drift(model, objective) else set()
    needed = {"lower", "upper"} | ranks | (biases if average else set())
    optional = biases | ({"lower_gains", "upper_gains"} if ranked else set())
    if ranked or isinstance(objective, Discounted):
        optional |= {"lower_rest", "upper_rest"}
    if sums_until(objective):
        optional.add("escapes")
    for name in ARRAYS:
        array = getattr(certificate, name)
        if name in needed if array is None else name not in needed | optional:
            verb = "needs" if array is None else "has no use for"
            message = f"a certificate for {type(objective).__name__} {verb} {name}."
            raise CertificateError(message)
        if array is not None:
            _check_array(model, certificate, name, finite=average)
    if type(certificate.rest_shift) is not int or not 0 <= certificate.rest_shift <= MOST_SHIFT:
        message = f"rest_shift is {certificate.rest_shift!r}; it must be from 0 to {MOST_SHIFT}."
        raise CertificateError(message)
    return objective


def _check_array(model: Model, certificate: Certificate, name: str, *, finite: bool) -> None:
    array = getattr(certificate, name)
    kind: type = np.int64 if name.endswith(("ranks", "gains", "escapes")) else np.float64
    rows: tuple[int, ...] = ()
    if name.endswith("rest"):
        rows = (min(len(array) if array.ndim == 2 else 1, MOST_RESTS),)
    check_array(name, array, kind, (*rows, model.num_states))
    if kind is np.int64:
        wrong, what = (array < -1) | (array >= 1 << 62), "it must be -1, or from 0 to 2**62 - 1"
    elif name.endswith("rest"):
        own, sign = (certificate.lower, 1) if name == "lower_rest" else (certificate.upper, -1)
        most = np.where(np.isinf(own), 0.0, LARGEST_REST)
        wrong = ~((sign * array >= 0) & (np.abs(array) <= most))
        what = f"it must be finite and at {'least' if sign > 0 else 'most'} 0, or 0 beside infinity"
    elif finite:
        wrong, what = ~np.isfinite(array), "it must be a finite number"
    elif name.startswith("bias"):
        outer = -np.inf if name == "bias_lower" else np.inf
        wrong, what = ~np.isfinite(array) & (array != outer), f"it must be finite, or {outer!r}"
    else:
        wrong, what = np.isnan(array), "it must be a number"
    if wrong.any():
        place = np.argwhere(wrong)[0].tolist()
        message = f"{name}[{', '.join(map(str, place))}] is {array[tuple(place)]}; {what}."
        raise CertificateError(message)


def _check_supported(model: Model, objective: Objective) -> None:
    """Raise UnsupportedProblemError for what no certificate is about."""
    message = ""
    if model.num_players > 2:
        message = "such a certificate is for one or two players; of more, equilibria are certified."
    elif model.has_swaps and (sums_until(objective) or isinstance(objective, Reachability)):
        message = (
            "there are no certificates for a target where the players change places (canonical): "
            "one player wants to reach it, and the other does not."
        )
    elif model.has_swaps and model.constant_sum and not isinstance(objective, TotalReward):
        message = (
            f"{type(objective).__name__} does not go with constant_sum={model.constant_sum:g} and "
            "players who change places (canonical): truncated totals no longer add up to that."
        )
    if message:
        raise UnsupportedProblemError(message)


def _check_draw(model: Model, objective: Objective) -> None:
    """Raise unless endless play may count what the objective says."""
    draw = getattr(objective, "draw", None)
    if draw and model.rewards.any():
        message = (
            f"draw is {draw!r}; only a total of payoffs alone, where no step earns anything, may "
            "let endless play count another number than 0."
        )
        raise CertificateError(message)
