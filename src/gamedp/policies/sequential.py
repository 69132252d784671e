"""Stopping a simulation as soon as enough is known, without fooling oneself."""

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
"""How many times as many games there are at the next look."""


@attrs.frozen
class SequentialInterval:
    """What is known of the mean of player 0 where games stop once enough is known.

    Attributes
    ----------
    low, high : float
        Contain the expected payoff of games that end, with this confidence.
    confidence : float
        Of the intervals of all looks together: whichever look was the last one.
    looks : int
        How often it was asked whether enough is known.
    is_approximate : bool
        Whether it is Student's, for games in which something is earned on the way. It relies on a
        mean of many games being nearly normal: what is earned rarely and is large may be missed.
    """

    low: float
    high: float
    confidence: float
    looks: int
    is_approximate: bool = False

    @property
    def width(self) -> float:
        """How far the two ends are apart."""
        return self.high - self.low


@attrs.frozen(eq=False)
class Stopping:
    """When to look at the games so far, and whether to stop.

    The error that is allowed is split evenly between all looks that there may be, so that with the
    promised confidence the intervals of all of them contain the mean (the union bound). If there
    are two payoffs only, an interval is that of Clopper and Pearson [1]_. Else it is what
    Hoeffding's inequality for payoffs in a range leaves open [2]_, with the mean x and the true
    one p on a scale of 0 to 1: ``x log(x / p) + (1 - x) log((1 - x) / (1 - p))`` is at most
    ``log(2 / error) / games``.

    What is earned on the way has no range that is known. Then the interval is Student's, which
    contains the mean about as often as it says.

    Attributes
    ----------
    width : float
        Stop where the interval is as narrow as this.
    confidence : float
    games : int
        At most.
    payoffs : collection of float or None
        All that there are, if they are known.
    low, high : float
        The range of payoffs.
    has_rewards : bool
        Whether anything may be earned on the way, beside the payoffs.

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
        """Refuse what cannot be."""
        check_stopping(self.width, self.confidence)
        if not self.has_rewards and not math.isfinite(self.high - self.low):
            message = (
                "to stop at a width, the range of payoffs must be known: let the game have a "
                "value_range(state, player), or simulate a number of games."
            )
            raise UnsupportedProblemError(message)

    def looks(self) -> list[int]:
        """Return after how many games to look."""
        found, wanted = [], float(BLOCK)
        while wanted < self.games:
            found.append(math.ceil(wanted / BLOCK) * BLOCK)
            wanted *= GROWTH
        return [*(look for look in found if look < self.games), self.games]

    def interval(self, tally: Tally, looks: int) -> SequentialInterval:
        """Return what is known at one of the looks, of which there have been so many."""
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
    """Raise InvalidParameterError for a width or confidence that cannot be."""
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
    """Return the ends of the means whose divergence from what was seen is not too large."""
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
