"""Expected values at the start: means over the initial states.

Fractions of the start count exactly. A float agrees with the intended number to two units in the
last place, as the probability of any outcome does, and bounds are widened accordingly.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from gamedp.model.model import given_numbers
from gamedp.runtime.floats import PROBABILITY_ROUNDING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gamedp.model.objectives import AnyModel

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

    With two players it is player 0's; their values add up to `total`, by default the constant
    sum. Rounded to nearest, or `outward`.

    Parameters
    ----------
    numbers, opposite : (I,) or (I, N)
        Numbers of the initial states.
    """
    probabilities = given_numbers(model, "initial_probabilities").tolist()
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
    probabilities: Sequence[Fraction | float],
    constant_sum: float,
    outward: float | None = None,
) -> float:
    """Return the mean of numbers with probabilities, computed exactly.

    Parameters
    ----------
    numbers : list of float
    probabilities : sequence of Fraction or float
        Scaled to sum to one; negative where the players have changed places: then the constant
        sum minus the number counts.
    constant_sum : float
    outward : float, optional
        Minus or plus infinity, for a bound: beyond the mean for all probabilities that sum to one
        and agree with those given, Fractions exactly and floats to two units in the last place.
        If not given, the mean is rounded to the nearest double.

    Infinite numbers of both signs have no mean: bounds are then infinite, and so is the number in
    place of the mean, that of the lower bound.
    """
    infinite = {
        -number if probability < 0 else number
        for number, probability in zip(numbers, probabilities, strict=True)
        if not math.isfinite(number)
    }
    if len(infinite) > 1:
        return -math.inf if outward is None else outward
    if infinite:
        return infinite.pop()
    sizes = [abs(Fraction(probability)) for probability in probabilities]
    terms = [
        Fraction(constant_sum) - Fraction(number) if probability < 0 else Fraction(number)
        for number, probability in zip(numbers, probabilities, strict=True)
    ]
    mean = exact_mean(terms, sizes, 0.0)
    if outward is not None:
        # A mean m moves by the sum of w d (x - m) where each weight w becomes w (1 + d).
        away: list[Fraction | float] = [
            max(term - mean, mean - term) if isinstance(probability, float) else Fraction(0)
            for term, probability in zip(terms, probabilities, strict=True)
        ]
        spread = Fraction(math.copysign(PROBABILITY_ROUNDING, outward))
        mean += spread * exact_mean(away, sizes, 0.0)
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
    numbers: Sequence[Fraction | float],
    probabilities: Sequence[Fraction | float],
    constant_sum: float,
) -> Fraction | float:
    """Return the mean of rational numbers, as :func:`mean_of`; a float if some are infinite."""
    weights = [Fraction(probability) for probability in probabilities]
    total: Fraction | float = Fraction(0)
    for number, weight in zip(numbers, weights, strict=True):
        total += abs(weight) * (Fraction(constant_sum) - number if weight < 0 else number)
    return total / sum(map(abs, weights))
