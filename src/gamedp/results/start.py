"""What can be expected at the start: exact means over the initial states."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gamedp.model.any_model import AnyModel

__all__ = ["bounds_at_start", "exact_mean", "mean_at_start", "mean_of"]


def bounds_at_start(
    model: AnyModel,
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    player: int = 0,
    *,
    total: float | None = None,
) -> tuple[float, float]:
    """Return bounds of the mean over the initial states, from those of each; see below."""
    return (
        mean_at_start(model, lower, upper, player, -math.inf, total=total),
        mean_at_start(model, upper, lower, player, math.inf, total=total),
    )


def mean_at_start(
    model: AnyModel,
    numbers: NDArray[np.float64],
    opposite: NDArray[np.float64],
    player: int = 0,
    outward: float | None = None,
    *,
    total: float | None = None,
) -> float:
    """Return the mean over the I initial states; swapped ones read from the opposite bound.

    Of two players' it is player 0's; their values add up to `total`, the constant sum if not
    given. Rounded to the next number, or `outward`.

    Parameters
    ----------
    numbers, opposite : (I,) or (I, N)
        Of the initial states.
    """
    probabilities = model.initial_probabilities.tolist()
    total = model.constant_sum if total is None else total
    rows = [
        (other if probability < 0 else own)
        for own, other, probability in zip(numbers, opposite, probabilities, strict=True)
    ]
    return mean_of(
        [float(row if np.ndim(row) == 0 else row[player]) for row in rows],
        probabilities,
        total,
        outward,
    )


def mean_of(
    numbers: list[float],
    probabilities: list[float],
    constant_sum: float,
    outward: float | None = None,
) -> float:
    """Return the mean of numbers with probabilities, computed exactly.

    Parameters
    ----------
    numbers : list of float
    probabilities : list of float
        Scaled to sum to one; negative where the players have changed places, and the constant sum
        less the number counts.
    constant_sum : float
    outward : float, optional
        Minus or plus infinity: where to round what is no 64-bit number; to the next, if not given.
    """
    if not all(map(math.isfinite, numbers)):
        signed = zip(numbers, probabilities, strict=True)
        return sum(
            abs(probability) * (-number if probability < 0 else number)
            for number, probability in signed
        )
    mean = exact_mean(list(map(Fraction, numbers)), probabilities, constant_sum)
    try:
        nearest = float(mean)
    except OverflowError:
        sign = 1.0 if mean > 0 else -1.0
        largest = math.nextafter(math.inf, 0.0)
        return sign * (largest if outward is not None and sign * outward < 0 else math.inf)
    if outward is None or Fraction(nearest) == mean or (nearest > mean) == (outward > 0):
        return nearest
    return math.nextafter(nearest, outward)


def exact_mean(
    numbers: Sequence[Fraction | float], probabilities: list[float], constant_sum: float
) -> Fraction | float:
    """Return the mean of rational numbers, as :func:`mean_of`; a float if some are infinite."""
    weights = list(map(Fraction, probabilities))
    total: Fraction | float = Fraction(0)
    for number, weight in zip(numbers, weights, strict=True):
        total += abs(weight) * (Fraction(constant_sum) - number if weight < 0 else number)
    return total / sum(map(abs, weights))
