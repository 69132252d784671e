"""Certificates of equilibria of three players and more, and the rules by which they are accepted.

A value of the game there is not: what a player gets depends on what the others do where they do not
care. So the claim is about one policy of all of them.

**Theorem.** Let ranks fall with every step, whatever is chosen. In every state and for every
player, let ``lower`` be no more, and ``upper`` no less, than what the policy's choice is worth by
the bounds of what follows; and where that player moves, let ``upper`` be no less than what *any*
choice is worth by the upper bounds of what follows. Then a player's total under the policy, and the
most that the player can get while all others keep to it, lie between ``lower`` and ``upper``.

*Proof.* By induction over the ranks: both are, in every state, what they are by backward induction
from the states that may follow. ∎

So nobody gains more than ``upper - lower`` by leaving the policy alone, in any state: it is a
subgame-perfect equilibrium within that. For players who want the least, the bounds change places.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.certificates.certificate import (
    AnyCertificate,
    Verified,
    check_array,
    check_digest,
    widest,
)
from gamedp.certificates.checking.choice_values import Rows, slices
from gamedp.certificates.checking.rounded_means import groups_of, means_below, sums_below
from gamedp.errors import CertificateError, UnsupportedProblemError, shown
from gamedp.model.model import check_finite, describe_choice
from gamedp.model.objectives import TotalReward

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.model.model import Model

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

__all__ = ["EquilibriumCertificate", "needed", "verify_equilibrium"]


@attrs.frozen(eq=False, kw_only=True, repr=False, getstate_setstate=False)
class EquilibriumCertificate(AnyCertificate):
    """A policy of three or more players, and bounds of what each gets and could get alone.

    Made by :func:`gamedp.certify`; or by hand, as all that counts is whether
    :func:`gamedp.verify` accepts it. S states, N players. The arrays are read-only.

    Attributes
    ----------
    objective : TotalReward
        What the players want, each for itself; without `until`.
    lower, upper : (S, N) float64
        What is claimed: what a player gets if all keep to the policy, and the most that it can get
        if all others do, lie between them.
    policy : (S,) int64
        The number of the choice in each state; -1 where the game is over.
    ranks : (S,) int64
        Numbers from 0 on that fall with every step, whatever is chosen.
    digest : str
        :meth:`gamedp.Model.digest` of the model.
    """

    policy: Integers
    ranks: Integers


def verify_equilibrium(model: Model, certificate: EquilibriumCertificate) -> Verified:
    """Check a certificate of an equilibrium; see :func:`gamedp.verify`."""
    check_digest(model, certificate)
    check_finite(model)
    _check_claims(model, certificate)
    sides = ((1.0, "lower"), (-1.0, "upper"))
    for rows in slices(model):
        _check_ranks(model, certificate, rows)
        for sign, name in sides:
            claimed = sign * getattr(certificate, name)
            wrong = ~(claimed[rows.movers] <= needed(model, certificate, rows, sign))
            if wrong.any():
                _refuse(model, certificate, rows, wrong, sign)
    return Verified(
        claim=(
            "In every state, what a player gets by the policy, and the most that it can get while "
            "all others keep to it, lie between lower and upper: an equilibrium within the width."
        ),
        width=widest(certificate),
        states=model.num_states,
        choices=model.num_choices,
        in_rationals=0,
    )


def needed(model: Model, certificate: EquilibriumCertificate, rows: Rows, sign: float) -> Floats:
    """Return what lower bounds must not exceed in the states of `rows` that are not over; (s, N).

    Parameters
    ----------
    model : Model
    certificate : EquilibriumCertificate
    rows : Rows
    sign : {1.0, -1.0}
        -1 for upper bounds, and numbers of the other sign.
    """
    bounds = sign * (certificate.lower if sign > 0 else certificate.upper)
    rewards = sign * model.rewards[rows.choices]
    with np.errstate(all="ignore"):  # what overflows is not proven
        worths = sums_below(means_below(groups_of(rows), bounds), rewards)
    least: Floats = worths[certificate.policy[rows.movers] - rows.choices[0]]
    # What the mover wants counts for whatever it may choose: more than the policy gives, or less.
    if (certificate.objective.optimum == "max") == (sign < 0):
        places = np.arange(len(rows.movers)), model.players[rows.movers]
        owners = np.searchsorted(rows.movers, rows.state_of)
        own = worths[np.arange(len(owners)), places[1][owners]]
        least[places] = np.minimum.reduceat(own, rows.first_choices)
    return least


def _check_claims(model: Model, certificate: EquilibriumCertificate) -> None:
    """Raise unless the arrays are what they should be, and right where the game is over."""
    objective = certificate.objective
    if not isinstance(objective, TotalReward) or objective.until is not None:
        message = "certificates of equilibria are for the total reward without a target."
        raise UnsupportedProblemError(message)
    if model.num_players < 3 or (model.num_transitions and model.probabilities.min() < 0):
        message = "certificates of equilibria are for three players and more."
        raise UnsupportedProblemError(message)
    size = model.num_states
    for name in ("lower", "upper"):
        array = getattr(certificate, name)
        check_array(name, array, np.float64, (size, model.num_players))
        _check_each(name, array, np.isfinite(array), "it must be a finite number")
    for name in ("policy", "ranks"):
        check_array(name, getattr(certificate, name), np.int64, (size,))
    first, last = model.choice_offsets[:-1], model.choice_offsets[1:]
    own = (first <= certificate.policy) & (certificate.policy < last)
    own |= (first == last) & (certificate.policy == -1)
    _check_each("policy", certificate.policy, own, "it must be a choice of the state, or -1")
    _check_each("ranks", certificate.ranks, certificate.ranks >= 0, "it must be 0 or more")
    for sign, name in ((1.0, "lower"), (-1.0, "upper")):
        array = getattr(certificate, name)[model.terminals]
        wrong = ~(sign * array <= sign * model.payoffs)
        if wrong.any():
            end, player = np.argwhere(wrong)[0].tolist()
            message = (
                f"{name} = {float(array[end, player])!r} of player {player} in "
                f"{shown(model.state(int(model.terminals[end])))} is wrong: the game is over "
                f"there, and pays {float(model.payoffs[end, player])!r}."
            )
            raise CertificateError(message)


def _check_each(name: str, array: NDArray[Any], right: NDArray[np.bool_], what: str) -> None:
    if not right.all():
        place = np.argwhere(~right)[0]
        message = f"{name}{place.tolist()} is {array[tuple(place)]}; {what}."
        raise CertificateError(message)


def _check_ranks(model: Model, certificate: EquilibriumCertificate, rows: Rows) -> None:
    """Raise unless every step lowers the rank."""
    ranks = certificate.ranks
    after = np.maximum.reduceat(ranks[rows.successors], rows.starts)
    wrong = after >= ranks[rows.state_of]
    if wrong.any():
        row = int(wrong.argmax())
        message = (
            f"{describe_choice(model, int(rows.choices[row]))} does not lower the rank: it is "
            f"{ranks[rows.state_of[row]]}, and the greatest after it is {after[row]}."
        )
        raise CertificateError(message)


def _refuse(
    model: Model,
    certificate: EquilibriumCertificate,
    rows: Rows,
    wrong: NDArray[np.bool_],
    sign: float,
) -> None:
    """Raise for the first bound that does not hold."""
    place, player = np.argwhere(wrong)[0].tolist()
    state = int(rows.movers[place])
    name, limit = ("lower", "no more") if sign > 0 else ("upper", "no less")
    number = sign * float(needed(model, certificate, rows, sign)[place, player])
    message = (
        f"{name}[{state}, {player}] = {float(getattr(certificate, name)[state, player])!r} of "
        f"player {player} in {shown(model.state(state))} is not certified: by the bounds that "
        f"follow it is worth {limit} than {number!r} for sure, or may be by another choice of "
        "that player."
    )
    raise CertificateError(message)
