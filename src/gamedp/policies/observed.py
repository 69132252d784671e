"""P-values of observed games, given computed probabilities; statistics, not bounds."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

from gamedp.errors import InvalidParameterError, UnsupportedProblemError, shown
from gamedp.policies.tally import scaled_to_one

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["normal_p_value", "p_value"]

NEAR = 1e-9
"""Relative difference below which payoffs are equal, however they were rounded."""


def normal_p_value(
    mean: float, error: float, bounds: tuple[float, float], *, is_known: bool
) -> float:
    """Return the p-value of the distance of a mean from an exact value, by the normal distribution.

    Parameters
    ----------
    mean, error : float
        The mean and its standard error.
    bounds : (float, float)
        Bounds of the exact value.
    is_known : bool
        Whether the error is the true one, not an estimate.

    Raises
    ------
    UnsupportedProblemError
        If the error is unknown: one game was played, or all were the same by chance.
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
    counts: Mapping[float, int], distribution: Mapping[float, tuple[float, float]]
) -> float:
    """Return the probability of a deviation at least as large as that of counts of payoffs.

    The counted games have ended, so the probability of each payoff is conditional on the end. Among
    all values within the bounds, the one nearest to the counts is used.

    Parameters
    ----------
    counts : mapping of float to int
        The number of games by payoff.
    distribution : mapping of float to (float, float)
        Bounds of the probability of each payoff among all games.

    Raises
    ------
    InvalidParameterError
        If an entry is not a count, or there are no games.
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
        (low_least, low_most), (least, most) = possible[low], possible[high]
        chance = min(
            max(found[high] / games, least / (least + low_most)), most / (most + low_least)
        )
        return float(binomtest(found[high], games, min(chance, 1.0)).pvalue)
    # Scaled: the squares of large payoffs would overflow.
    sizes = dict(zip(possible, scaled_to_one(possible)[0], strict=True))
    middles = {payoff: sum(ends) / 2 for payoff, ends in possible.items()}
    ended, surely = math.fsum(middles.values()), math.fsum(ends[0] for ends in possible.values())
    value = math.fsum(sizes[payoff] * chance for payoff, chance in middles.items()) / ended
    squares = ((sizes[payoff] - value) ** 2 * chance for payoff, chance in middles.items())
    error = math.sqrt(math.fsum(squares) / ended / games)
    # The mean minus the value is the mean of the payoffs' differences from the value.
    open_ = math.fsum(
        abs(sizes[payoff] - value) * (high - low) / 2 for payoff, (low, high) in possible.items()
    )
    reach = open_ / surely if surely else math.inf
    mean = math.fsum(sizes[payoff] * count for payoff, count in found.items()) / games
    return normal_p_value(mean, error, (value - reach, value + reach), is_known=True)


def _checked_count(count: Any) -> int:
    try:
        number = operator.index(count)
    except TypeError:
        number = -1
    if number < 0:
        message = f"a count is {shown(count)}; it must be an integer, 0 or more."
        raise InvalidParameterError(message)
    return number
