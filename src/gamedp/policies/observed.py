"""Numbers of visits of each state, between bounds; and p-values of observed games, no bounds."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.bellman.enclosures import (
    Products,
    enclosed_sum,
    enclosed_sums,
    rounded_outward,
    scaled,
)
from gamedp.errors import InvalidParameterError, UnsupportedProblemError, shown
from gamedp.policies.tally import scaled_to_one
from gamedp.runtime.floats import PROBABILITY_ROUNDING, TINY, UNIT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from gamedp.model.model import Model

    Floats = NDArray[np.float64]

__all__ = ["normal_p_value", "p_value", "visits"]


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


def visits(chain: Model, longest: Floats) -> tuple[Floats, Floats]:
    """Return bounds of the expected number of visits of each state.

    They solve ``x = p + P' x`` for the initial distribution p and the probabilities P [1]_. For any
    x, the residual is r = p + P' x - x, and the true numbers differ from x by ``inv(I - P') r``.
    The columns of this inverse sum to the expected lengths of play, so that all differences
    together are at most the sum of ``|r| * length``.

    Parameters
    ----------
    chain : Model
        One choice in each state; play surely ends.
    longest : (S,)
        Upper bounds of the expected number of states visited from each state, itself included;
        terminal ones need not be counted.

    Returns
    -------
    lower, upper : (S,)

    References
    ----------
    .. [1] J. Kemeny, J. Snell, "Finite Markov Chains" (1960), theorem 3.2.4.
    """
    import scipy.sparse  # noqa: PLC0415 - slow to import, and rarely needed
    import scipy.sparse.linalg  # noqa: PLC0415 - likewise

    size, lengths = chain.num_states, np.diff(chain.transition_offsets)
    weights, off = scaled(chain.initial_probabilities)
    order = np.argsort(chain.initial_states, kind="stable")
    offsets = np.searchsorted(chain.initial_states[order], np.arange(size + 1))
    ones = np.ones(len(order))
    # Of several starts none is certain, however close to 1 its probability is.
    least_off = TINY if len(order) > 1 else 0.0
    begins = enclosed_sums(offsets, weights[order], ones, ones, relative=off, absolute=least_off)
    owners = np.repeat(np.flatnonzero(~chain.is_terminal), lengths)
    moves = scipy.sparse.csr_array(
        (np.abs(chain.probabilities), (chain.successors, owners)), shape=(size, size)
    )
    # Parallel transitions have been added up.
    products = Products(moves, PROBABILITY_ROUNDING + UNIT * int(lengths.max(initial=0)))
    system = scipy.sparse.eye_array(size, format="csc") - moves.tocsc()

    def missing(visits: Floats) -> tuple[Floats, Floats]:
        """Return bounds of the residual."""
        came = products.enclosed(visits, visits)
        terms = (
            np.column_stack([*each, -visits]).ravel() for each in zip(begins, came, strict=True)
        )
        return enclosed_sums(3 * np.arange(size + 1), np.ones(3 * size), *terms, relative=0.0)

    # A state is visited no more often than play from there is long.
    most = np.nextafter(longest + 1.0, np.inf)
    least = np.maximum(begins[0], 0.0)
    try:
        solve = scipy.sparse.linalg.splu(system).solve
        found = np.clip(solve(begins[0]), 0.0, most)
        for _ in range(2):  # what was lost by rounding is found from what is missed
            low, high = missing(found)
            found = np.clip(found + solve((low + high) / 2), 0.0, most)
    except RuntimeError:  # singular, as far as doubles can tell
        return least, most
    with np.errstate(over="ignore"):
        low, high = missing(found)
        _, error = enclosed_sum(np.maximum(-low, high), most, most, relative=0.0)
        lower, upper = rounded_outward(found, found, error)
    # What is no number comes from where play is too long for doubles.
    return np.fmax(lower, least), np.fmin(upper, most)
