"""Certificates of equilibria, made of solutions for players with payoffs of their own.

What a solver has proven of its policy need not bound the values of other choices to the last
digit. Then bounds are moved apart by a little for every step that may be left to the end, so that
those of a state are farther apart than any that may follow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

from gamedp.certificates.certificate import Certificate
from gamedp.certificates.checking.checker import accept
from gamedp.certificates.checking.choice_values import slices
from gamedp.certificates.checking.equilibrium import needed
from gamedp.errors import UnsupportedProblemError
from gamedp.model.objectives import TotalReward

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.model.model import Model
    from gamedp.results.solution import Solution

MOST_DOUBLINGS = 40
"""Largest number of doublings of the distance by which bounds miss their proof."""


def certify_equilibrium(solution: Solution) -> Certificate:
    """Return a certificate of a policy of several players; see :func:`gamedp.certify`."""
    model, structure, objective = solution.model, solution.model.structure, solution.objective
    if not isinstance(objective, TotalReward):
        message = f"there are no certificates of equilibria for {type(objective).__name__}."
        raise UnsupportedProblemError(message)
    certificate = Certificate(
        rules="equilibrium",
        objective=objective,
        lower=solution.lower,
        upper=solution.upper,
        evidence={
            "policy": solution.policy,
            "ranks": structure.levels[structure.component].astype(np.int64),
        },
        digest=model.digest(),
    )
    for sign in (1.0, -1.0):
        certificate = _moved(model, certificate, sign)
    accept(model, certificate)
    return certificate


def _moved(model: Model, certificate: Certificate, sign: float) -> Certificate:
    """Return the certificate with lower bounds (upper ones for -1) that are low enough."""
    name = "lower" if sign > 0 else "upper"
    bounds, steps = getattr(certificate, name), certificate.evidence["ranks"][:, None]
    apart = 0.0
    for _ in range(MOST_DOUBLINGS):
        missed = _missed(model, certificate, sign, getattr(certificate, name))
        if missed <= 0:
            break
        apart = max(2 * apart, missed)
        certificate = attrs.evolve(certificate, **{name: bounds - sign * apart * steps})
    return certificate


def _missed(
    model: Model, certificate: Certificate, sign: float, bounds: NDArray[np.float64]
) -> float:
    """Return the largest amount by which bounds miss their proof."""
    most = 0.0
    for rows in slices(model):
        least = needed(model, certificate, rows, sign)
        most = max(most, float((sign * bounds[rows.movers] - least).max()))
    return most
