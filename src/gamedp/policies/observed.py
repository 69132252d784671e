"""How likely games that were counted are, if what is computed is right."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

from gamedp.errors import InvalidParameterError, UnsupportedProblemError, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["normal_p_value", "p_value"]

NEAR = 1e-9
"""Payoffs that differ by less, relatively, are the same, however they were rounded."""


def normal_p_value(
    mean: float, error: float, bounds: tuple[float, float], *, is_known: bool
) -> float:
    """Return how likely a mean is so far from an exact value, by the normal distribution.

    Parameters
    ----------
    mean, error : float
        With its standard error.
    bounds : (float, float)
        Of the exact value.
    is_known : bool
        Whether the error is the true one, not that of what was seen.

    Raises
    ------
    UnsupportedProblemError
        If nothing is known of the error: one game was played, or all were the same by chance.
    """
    from scipy.stats import norm  # noqa: PLC0415 - slow to import, and rarely needed

    low, high = bounds
    apart = max(low - mean, mean - high, 0.0)
    if error > 0:
        return float(2 * norm.sf(apart / error))
    is_same = apart <= 1e-9 * max(1.0, abs(mean))
    if not (is_same or is_known):
        message = "so few games, or games that all brought the same, have no p-value; play more."
        raise UnsupportedProblemError(message)
    return 1.0 if is_same else 0.0


def p_value(
    counts: Mapping[float, int],
    distribution: Mapping[float, tuple[float, float]],
    value: float,
    bounds: tuple[float, float],
) -> float:
    """Return how likely counts of payoffs are as far off as these, or farther.

    Of all that the bounds leave open, the value counts that is nearest to the counts.

    Parameters
    ----------
    counts : mapping of float to int
        How many games have brought which payoff.
    distribution : mapping of float to (float, float)
        Bounds of how likely each payoff is.
    value : float
        What is expected.
    bounds : (float, float)
        Of that.

    Raises
    ------
    InvalidParameterError
        If something is no count, or there are no games.
    """
    from scipy.stats import binomtest  # noqa: PLC0415 - slow to import, and rarely needed

    games = sum(map(_checked_count, counts.values()))
    if not games:
        message = "no games were counted."
        raise InvalidParameterError(message)
    possible = {payoff: ends for payoff, ends in distribution.items() if ends[1] > 0}
    found = dict.fromkeys(possible, 0)
    for payoff, count in counts.items():
        nearest = min(possible, key=lambda known: abs(known - payoff), default=math.inf)
        if count and not abs(nearest - payoff) <= NEAR * max(1.0, abs(payoff)):
            return 0.0
        if count:
            found[nearest] += count
    if len(possible) == 1:
        return 1.0
    if len(possible) == 2:
        low, high = sorted(possible)
        least, most = ((bound - low) / (high - low) for bound in bounds)
        nearest = min(max(found[high] / games, least), most)
        chance = min(max(nearest, 0.0), 1.0)
        return float(binomtest(found[high], games, chance).pvalue)
    squares = ((payoff - value) ** 2 * sum(ends) / 2 for payoff, ends in possible.items())
    error = math.sqrt(math.fsum(squares) / games)
    mean = math.fsum(payoff * count for payoff, count in found.items()) / games
    return normal_p_value(mean, error, bounds, is_known=True)


def _checked_count(count: Any) -> int:
    try:
        number = operator.index(count)
    except TypeError:
        number = -1
    if number < 0:
        message = f"a count is {shown(count)}; it must be an integer, 0 or more."
        raise InvalidParameterError(message)
    return number
