"""Sequential stopping of simulations at a valid confidence level."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

import attrs

from gamedp.errors import InvalidParameterError, UnsupportedProblemError, shown
from gamedp.policies.tally import BLOCK, Tally, mean_and_deviation_of, student_interval
from gamedp.runtime.options import is_number

__all__ = ["SequentialInterval", "Stopping", "check_stopping"]

GROWTH = 1.5
"""Factor between the numbers of games at successive looks."""


@attrs.frozen
class SequentialInterval:
    """The confidence interval of player 0's mean after a sequential stop.

    Attributes
    ----------
    low, high : float
        The ends of an interval that contains the expected payoff of games that end, with this
        confidence.
    confidence : float
        The confidence of the intervals of all looks together, whichever look was the last one.
    looks : int
        The number of times that the interval was examined.
    is_approximate : bool
        Whether it is Student's interval, for games with rewards on the way. It assumes that the
        mean of many games is nearly normal, and may miss rare large rewards.
    """

    low: float
    high: float
    confidence: float
    looks: int
    is_approximate: bool = False

    @property
    def width(self) -> float:
        """The distance between the two ends."""
        return self.high - self.low


@attrs.frozen(eq=False)
class Stopping:
    """The rule for when to examine the games so far, and whether to stop.

    The allowed error is split evenly between all possible looks, so that with the promised
    confidence the intervals of all of them contain the mean (the union bound). With only two
    payoffs, an interval is that of Clopper and Pearson [1]_. Otherwise it follows from Hoeffding's
    inequality for payoffs in a range [2]_: with the mean x and the true one p on a scale of 0 to 1,
    ``x log(x / p) + (1 - x) log((1 - x) / (1 - p))`` is at most ``log(2 / error) / games``.

    Rewards on the way have no known range. The interval is then Student's, whose confidence is
    approximate.

    Attributes
    ----------
    width : float
        The width of the interval at which to stop.
    confidence : float
    games : int
        The largest number of games.
    payoffs : collection of float or None
        All possible payoffs, if they are known.
    low, high : float
        The range of payoffs.
    has_rewards : bool
        Whether there may be rewards on the way, besides the payoffs.

    References
    ----------
    .. [1] C. Clopper, E. Pearson, "The use of confidence or fiducial limits illustrated in the case
       of the binomial", Biometrika 26 (1934).
    .. [2] W. Hoeffding, "Probability inequalities for sums of bounded random variables", Journal
       of the American Statistical Association 58 (1963), theorem 1.
    """

    width: float
    confidence: float
    games: int
    payoffs: Collection[float] | None
    low: float
    high: float
    has_rewards: bool = attrs.field(default=False, kw_only=True)

    def __attrs_post_init__(self) -> None:
        """Refuse invalid values."""
        check_stopping(self.width, self.confidence)
        if not self.has_rewards and not math.isfinite(self.high - self.low):
            message = (
                "to stop at a width, the range of payoffs must be known: let the game have a "
                "value_range(state, player), or simulate a number of games."
            )
            raise UnsupportedProblemError(message)

    def looks(self) -> list[int]:
        """Return the numbers of games after which to look."""
        found, wanted = [], float(BLOCK)
        while wanted < self.games:
            found.append(math.ceil(wanted / BLOCK) * BLOCK)
            wanted *= GROWTH
        return [*(look for look in found if look < self.games), self.games]

    def interval(self, tally: Tally, looks: int) -> SequentialInterval:
        """Return the interval at a look, given the number of looks so far."""
        error = (1 - self.confidence) / len(self.looks())
        count = tally.games - tally.unfinished
        if self.has_rewards:
            mean, deviation = tally.moments(0)
            deviation = math.hypot(deviation, tally.rounding(0))
            ends = student_interval(mean, deviation, count, 1 - error)
            return SequentialInterval(*ends, self.confidence, looks, is_approximate=True)
        low, high = 0.0, 1.0
        if count and self.high > self.low:
            if self.payoffs is not None and len(self.payoffs) <= 2:
                middle = self.low + (self.high - self.low) / 2
                counts = tally.outcomes[0].items()
                wins = sum(count for payoff, count in counts if payoff > middle)
                low, high = _clopper_pearson(wins, count, error)
            else:
                mean, _ = mean_and_deviation_of(tally.outcomes[0])
                mean = (mean / 2 - self.low / 2) / (self.high / 2 - self.low / 2)
                low, high = _hoeffding(min(max(mean, 0.0), 1.0), count, error)
        extent = self.high / 2 - self.low / 2  # all of it may be too large for doubles
        low, high = (self.low + half + half for half in (low * extent, high * extent))
        return SequentialInterval(low, high, self.confidence, looks)


def check_stopping(width: Any, confidence: Any) -> None:
    """Raise InvalidParameterError for an impossible width or confidence."""
    if not (is_number(width) and 0 < width < math.inf):
        message = f"width is {shown(width)}; it must be a positive number."
        raise InvalidParameterError(message)
    if not (is_number(confidence) and 0 < confidence < 1):
        message = f"confidence is {shown(confidence)}; it must lie between 0 and 1."
        raise InvalidParameterError(message)


def _clopper_pearson(wins: int, count: int, error: float) -> tuple[float, float]:
    from scipy.stats import binomtest  # noqa: PLC0415 - slow to import, and rarely needed

    low, high = binomtest(wins, count).proportion_ci(1 - error, "exact")
    return float(low), float(high)


def _hoeffding(mean: float, count: int, error: float) -> tuple[float, float]:
    """Return the range of means whose divergence from the observed one is not too large."""
    most = math.log(2 / error) / count

    def last(true: float, end: float) -> float:
        """Return the last number on the way from `true` to `end` that is not refuted."""
        for _ in range(100):
            middle = (true + end) / 2
            if _divergence(mean, middle) <= most:
                true = middle
            else:
                end = middle
        return end

    return last(mean, 0.0), last(mean, 1.0)


def _divergence(seen: float, true: float) -> float:
    """Return the divergence of Kullback and Leibler of two probabilities."""
    parts = ((seen, true), (1 - seen, 1 - true))
    return math.fsum(
        0.0 if one == 0 else math.inf if other <= 0 else one * math.log(one / other)
        for one, other in parts
    )
