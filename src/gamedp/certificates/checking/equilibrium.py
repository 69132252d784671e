"""Certificates of equilibria of players with payoffs of their own, and the rules for them.

Such a game has no single value: what a player gets depends on what the others do where they are
indifferent. So the claim is about one joint policy.

**Theorem.** Let ranks fall with every step, whatever is chosen. In every state and for every
player, let ``lower`` be at most, and ``upper`` at least, the value of the policy's choice computed
from the bounds of its successors; and where that player moves, let ``upper`` be at least the value
of *any* choice, computed from the upper bounds of its successors. Then a player's total under the
policy, and the most that the player can get while all others keep to it, lie between ``lower`` and
``upper``.

*Proof.* By induction over the ranks, as both totals follow by backward induction from those of the
successors. ∎

So in no state does a player gain more than ``upper - lower`` by deviating alone: the policy is a
subgame-perfect equilibrium up to that. For players who minimise, the bounds change places.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.certificates.checking.choice_values import (
    Rows,
    groups_of,
    means_below,
    slices,
    sums_below,
)
from gamedp.certificates.checking.rule_set import ArraySpec, Counts, always
from gamedp.errors import CertificateError, shown
from gamedp.model.model import Model, check_finite, describe_choice
from gamedp.model.objectives import Objective, TotalReward

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.certificates.certificate import Certificate
    from gamedp.runtime.arrays import Flags, Floats
    from gamedp.runtime.limit import Reporter

    Array = NDArray[Any]

DIRECTIONS = ((1.0, "lower"), (-1.0, "upper"))


def _bounds(model: Model, certificate: Certificate, array: Array) -> tuple[Flags, str]:
    """Allow finite numbers."""
    del model, certificate
    return np.isfinite(array), "it must be a finite number"


def _policy(model: Model, certificate: Certificate, array: Array) -> tuple[Flags, str]:
    """Allow the choices of each state."""
    del certificate
    first, last = model.choice_offsets[:-1], model.choice_offsets[1:]
    own = (first <= array) & (array < last)
    own |= (first == last) & (array == -1)
    return own, "it must be a choice of the state, or -1"


def _ranks(model: Model, certificate: Certificate, array: Array) -> tuple[Flags, str]:
    """Allow non-negative numbers."""
    del model, certificate
    return array >= 0, "it must be 0 or more"


class EquilibriumRules:
    """A policy of players with payoffs of their own, bounds of their values and best responses.

    The theorem is at the head of this file.
    """

    name = "equilibrium"
    model_type: type = Model
    arrays: tuple[ArraySpec, ...] = (
        ArraySpec("lower", np.float64, "S N", always, _bounds),
        ArraySpec("upper", np.float64, "S N", always, _bounds),
        ArraySpec("policy", np.int64, "S", always, _policy),
        ArraySpec("ranks", np.int64, "S", always, _ranks),
    )
    most_shift = 0

    def sizes(self, model: Model) -> dict[str, int]:
        """Return the numbers of states and players."""
        return {"S": model.num_states, "N": model.num_players}

    def accepts(self, model: Model, objective: Objective) -> str:
        """Return why there are no certificates for such a problem; ``""`` if there are."""
        if not isinstance(objective, TotalReward) or objective.until is not None:
            return "certificates of equilibria are for the total reward without a target."
        if not model.is_general_sum or (model.num_transitions and model.probabilities.min() < 0):
            return "certificates of equilibria are for players with payoffs of their own."
        return ""

    def claim(self, model: Model, objective: Objective) -> str:
        """Return the claim in words."""
        del model, objective
        return (
            "In every state, what a player gets by the policy, and the most that it can get while "
            "all others keep to it, lie between lower and upper: an equilibrium within the width."
        )

    def check(self, model: Model, certificate: Certificate, reporter: Reporter) -> Counts:
        """Raise CertificateError unless everything holds."""
        check_finite(model)
        _check_ends(model, certificate)
        for rows in slices(model):
            reporter.report(int(rows.movers[0]), model.num_states, "bounds")
            _check_ranks(model, certificate, rows)
            for sign, name in DIRECTIONS:
                claimed = sign * getattr(certificate, name)
                wrong = ~(claimed[rows.movers] <= needed(model, certificate, rows, sign))
                if wrong.any():
                    _refuse(model, certificate, rows, wrong, sign)
        return Counts(model.num_states, model.num_choices, 0)


def needed(model: Model, certificate: Certificate, rows: Rows, sign: float) -> Floats:
    """Return upper limits of lower bounds in the states of `rows` that are not over; (s, N).

    Parameters
    ----------
    model : Model
    certificate : Certificate
    rows : Rows
    sign : {1.0, -1.0}
        -1 for upper bounds, and numbers of the other sign.
    """
    bounds = sign * (certificate.lower if sign > 0 else certificate.upper)
    rewards = sign * model.rewards[rows.choices]
    with np.errstate(all="ignore"):  # what overflows is not proven
        choice_values = sums_below(means_below(groups_of(rows), bounds), rewards)
    least: Floats = choice_values[certificate.evidence["policy"][rows.movers] - rows.choices[0]]
    # The bound on the side that the mover wants covers all choices: more than the policy's, or
    # less.
    if (certificate.objective.optimum == "max") == (sign < 0):
        places = np.arange(len(rows.movers)), model.players[rows.movers]
        owners = np.searchsorted(rows.movers, rows.state_of)
        own = choice_values[np.arange(len(owners)), places[1][owners]]
        least[places] = np.minimum.reduceat(own, rows.first_choices)
    return least


def _check_ends(model: Model, certificate: Certificate) -> None:
    """Raise unless the bounds are right where the game is over."""
    for sign, name in DIRECTIONS:
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


def _check_ranks(model: Model, certificate: Certificate, rows: Rows) -> None:
    """Raise unless every step lowers the rank."""
    ranks = certificate.evidence["ranks"]
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
    certificate: Certificate,
    rows: Rows,
    wrong: Flags,
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
        f"follow, {limit} than {number!r} is guaranteed, or possible by another choice of that "
        "player."
    )
    raise CertificateError(message)
