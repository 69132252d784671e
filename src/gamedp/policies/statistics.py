"""Statistics of games that were played: payoffs as they are paid, p-values, confidence intervals.

They are not bounds: sums are rounded, and the sampling error is far larger.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.errors import InvalidParameterError, UnsupportedProblemError, shown
from gamedp.rules.exactness import MAX_EXACT_INTEGER, as_real
from gamedp.runtime.options import checked_whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

PAYOFF_TOLERANCE = 1e-9
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

    given: Any = counts
    if not isinstance(given, Mapping):
        message = f"the counts are {shown(counts)}; they must be a mapping of payoffs to counts."
        raise InvalidParameterError(message)
    counts = {_checked_payoff(payoff): count for payoff, count in counts.items()}
    games = sum(checked_whole("a count", n, 0, MAX_EXACT_INTEGER) for n in counts.values())
    if not games:
        message = "no games were counted."
        raise InvalidParameterError(message)
    possible = {payoff: ends for payoff, ends in distribution.items() if ends[1] > 0}
    found = dict.fromkeys(possible, 0)
    for payoff, count in counts.items():
        nearest = min(possible, key=lambda known: abs(known - payoff), default=math.inf)
        if count and not abs(nearest - payoff) <= PAYOFF_TOLERANCE * max(1.0, abs(payoff)):
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


def _checked_payoff(given: Any) -> float:
    """Return a payoff as a double; raise InvalidParameterError if it is no number."""
    try:
        return as_real(given)
    except (TypeError, ValueError, OverflowError):
        message = f"a payoff is {shown(given)}, which is not a number."
        raise InvalidParameterError(message) from None


def as_paid(
    payoffs: NDArray[np.float64], total: float, *, of_other: bool = False
) -> NDArray[np.float64]:
    """Return payoffs of one of two players, with those that differ only by rounding made equal.

    If seats are merged, a player's payoff is the constant sum minus the other one's, which may
    differ from the number of the rules: 1 - 0.9 is not 0.1. Of such numbers, the one with the
    fewest digits is returned.

    Parameters
    ----------
    payoffs : (n,) float64
    total : float
        The constant sum.
    of_other : bool
        Whether to return the payoffs of the other player instead.
    """
    if not (total and len(payoffs)):
        return total - payoffs if of_other else payoffs
    numbers, places = np.unique(np.concatenate([payoffs, total - payoffs]), return_inverse=True)
    # Each payoff, the sum and the difference are rounded by half a unit in the last place at most.
    sizes = np.spacing(np.maximum(np.maximum(np.abs(numbers), np.abs(total - numbers)), abs(total)))
    firsts = np.flatnonzero(np.diff(numbers, prepend=-np.inf) > 2 * sizes)
    for same in np.split(numbers, firsts[1:]):  # these are views
        if len(same) > 1:
            same[:] = min(same.tolist(), key=lambda number: len(repr(number)))
    first, other = places.reshape(2, -1)
    written: NDArray[np.float64] = numbers[other if of_other else first]
    return written


def counted_as_paid(
    counts: Mapping[float, int], total: float, *, of_other: bool = False
) -> dict[float, int]:
    """Return counts by the payoffs of :func:`as_paid`, or by those of the other player."""
    payoffs = np.array(list(counts), np.float64)
    found: dict[float, int] = {}
    paid = as_paid(payoffs, total, of_other=of_other)
    for payoff, count in zip(paid.tolist(), counts.values(), strict=True):
        found[payoff] = found.get(payoff, 0) + count
    return dict(sorted(found.items()))


def mean_and_deviation_of(counts: Mapping[float, int]) -> tuple[float, float]:
    """Return mean and standard deviation of numbers that were counted, NaN where there is none.

    No square overflows or underflows, since the largest number is scaled to about one.
    """
    count = sum(counts.values())
    scaled, exponent = scaled_to_one(counts)
    pairs = list(zip(scaled, counts.values(), strict=True))
    if not count:
        return math.nan, math.nan
    mean = math.fsum(number * times for number, times in pairs) / count
    if count < 2:
        return _unscaled(mean, exponent), math.nan
    squares = math.fsum((number - mean) ** 2 * times for number, times in pairs)
    return _unscaled(mean, exponent), _unscaled(math.sqrt(squares / (count - 1)), exponent)


def scaled_to_one(numbers: Iterable[float]) -> tuple[list[float], int]:
    """Return numbers over a power of two, the largest about one, and its exponent."""
    own = list(numbers)
    _, exponent = math.frexp(max(map(abs, own), default=0.0))
    return [math.ldexp(number, -exponent) for number in own], exponent


def _unscaled(number: float, exponent: int) -> float:
    """Return a number times a power of two, infinite where doubles end."""
    try:
        return math.ldexp(number, exponent)
    except OverflowError:
        return math.copysign(math.inf, number)


def student_interval(
    mean: float, deviation: float, count: int, confidence: float = 0.95
) -> tuple[float, float]:
    """Return Student's confidence interval of the expectation of numbers [1]_.

    It is exact for numbers with a normal distribution, and approximate for others.

    Parameters
    ----------
    mean, deviation : float
        Mean and standard deviation of independent numbers.
    count : int
        How many there are. Of fewer than two, the interval has no end, nor if the deviation is
        infinite.
    confidence : float

    Raises
    ------
    InvalidParameterError
        If `count` or `confidence` is impossible.

    References
    ----------
    .. [1] Student, "The probable error of a mean", Biometrika 6 (1908).

    Examples
    --------
    >>> import gamedp
    >>> low, high = gamedp.policies.student_interval(mean=5.0, deviation=2.0, count=16)
    >>> round(low, 3), round(high, 3)
    (3.934, 6.066)
    """
    from scipy.special import stdtrit  # noqa: PLC0415 - slow to import, and rarely needed

    count = checked_whole("count", count, 0)
    if not 0 < confidence < 1:
        message = f"confidence is {shown(confidence)}; it must lie between 0 and 1."
        raise InvalidParameterError(message)
    if count < 2 or math.isinf(deviation):
        return -math.inf, math.inf
    reach = float(stdtrit(count - 1, (1 + confidence) / 2)) * deviation / math.sqrt(count)
    return mean - reach, mean + reach
