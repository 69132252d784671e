"""Statistics of game results: ratings, and a sequential test."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import attrs
import numpy as np
from scipy.optimize import brentq, minimize
from scipy.special import expit, log_expit

from gamedp.errors import InvalidParameterError, shown
from gamedp.runtime.notebook import html_rows, html_table

if TYPE_CHECKING:
    from numpy.typing import NDArray


ELO = 400.0 / math.log(10.0)
"""Points of Elo per unit of the natural logarithm of the odds."""

NORMALIZED_ELO = 800.0 / math.log(10.0)
"""Points of normalized Elo per standard deviation of a game."""

PRIOR = 1_000.0
"""Standard deviation of ratings before any game, in points of Elo. It keeps the rating of a player
who has won all games finite, and hardly changes that of any other."""

MOST_ELO = 200.0
"""Largest difference that a test accepts, in normalized Elo; beyond it, a few games decide."""

FAINT = 1e-3
"""Count used for a score that no pair has had, so that no variance is 0."""

MOST_ROUNDS, CLOSE = 20, 1e-9
"""Largest number of rounds to find the likeliest distribution, and the change that ends them."""

PAIR_SCORES = np.arange(5) / 4.0
"""The possible scores of a pair, as a share of its two games."""


@attrs.frozen(eq=False)
class Ratings:
    """Ratings of players from the games between them.

    They follow the model of Bradley and Terry, with a constant for the first seat, and a draw as
    half a win and half a loss: the first player wins against the second with odds of
    10^((difference + constant) / 400). Games of a pair, which have the same dice and opening, may
    depend on each other; the errors allow for it.

    Attributes
    ----------
    names : tuple of str
        The names of N players.
    elo : (N,) float64
        The ratings; their mean is 0, since only differences count.
    errors : (N,) float64
        The standard errors of the ratings.
    first_move : float
        The advantage of the first seat, in the same points.
    first_move_error : float
        Its standard error.
    """

    names: tuple[str, ...]
    elo: NDArray[np.float64]
    errors: NDArray[np.float64]
    first_move: float
    first_move_error: float

    def _repr_html_(self) -> str:
        """Return the players for notebooks, the strongest first."""
        order = np.argsort(-self.elo, kind="stable").tolist()
        rows = [
            (self.names[place], f"{self.elo[place]:.1f}", f"{self.errors[place]:.1f}")
            for place in order
        ]
        rows.append(("the first move", f"{self.first_move:.1f}", f"{self.first_move_error:.1f}"))
        return html_rows(["player", "Elo", "standard error"], rows)


Group: TypeAlias = tuple[float, Sequence[tuple[int, int, float]]]
"""A number of groups of games, and the games of each: the numbers of the players in the first and
the second seat, and the first one's score, 0, 1/2 or 1. Games of a group may depend on each other.
"""


def rated(names: Sequence[str], groups: Iterable[Group]) -> Ratings:
    """Return the ratings that best fit the results, by a regression with a weak prior.

    The errors are the larger ones of two: those of independent games, and those that hold however
    games of a group depend on each other [1]_.

    References
    ----------
    .. [1] K.-Y. Liang, S. Zeger, "Longitudinal data analysis using generalized linear models",
       Biometrika 73 (1986).

    Examples
    --------
    >>> won, lost = [(0, 1, 1.0), (1, 0, 0.0)], [(0, 1, 0.0), (1, 0, 1.0)]
    >>> found = rated(["strong", "weak"], [(75, won), (25, lost)])
    >>> found.elo.round(1).tolist(), abs(round(found.first_move, 1))
    ([95.4, -95.4], 0.0)
    """
    there = [(number, games) for number, games in groups if number]
    table = np.array([(*game, number) for number, games in there for game in games], dtype=float)
    table = table.reshape(-1, 4)
    count = len(names)
    design = np.zeros((len(table), count + 1))
    rows = np.arange(len(table))
    design[rows, table[:, 0].astype(int)] += 1.0
    design[rows, table[:, 1].astype(int)] -= 1.0
    design[:, count] = 1.0
    scores, weights = table[:, 2:].T
    precision = (ELO / PRIOR) ** 2

    def loss(parameters: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        odds = design @ parameters
        value = -(weights @ (scores * log_expit(odds) + (1 - scores) * log_expit(-odds)))
        slope = design.T @ (weights * (expit(odds) - scores))
        penalty = precision * parameters
        return float(value + 0.5 * penalty @ parameters), slope + penalty

    def curvature(parameters: NDArray[np.float64]) -> NDArray[np.float64]:
        odds = design @ parameters
        curved: NDArray[np.float64] = (design.T * (weights * expit(odds) * expit(-odds))) @ design
        return curved + precision * np.eye(count + 1)

    start = np.zeros(count + 1)
    # Rounding of the slope grows with the number of games.
    close = 1e-12 * max(1.0, float(weights.sum()))
    found = minimize(loss, start, jac=True, hess=curvature, method="trust-exact", tol=close).x
    numbers = np.array([number for number, _ in there])
    sizes = np.array([len(games) for _, games in there], dtype=int)
    slopes = np.zeros((len(there), count + 1))
    residuals = (scores - expit(design @ found))[:, None] * design
    np.add.at(slopes, np.repeat(np.arange(len(there)), sizes), residuals)
    few = numbers.sum() / max(numbers.sum() - 1, 1)
    spread = few * (slopes.T * numbers) @ slopes
    # Relative to the mean of the players, which the games do not determine.
    centre = np.eye(count + 1)
    centre[:count, :count] -= 1.0 / count
    inverse = centre @ np.linalg.inv(curvature(found))
    variances = [np.diag(inverse @ each @ inverse.T) for each in (curvature(found), spread)]
    elo = centre @ found * ELO
    errors = np.sqrt(np.maximum(*variances)) * ELO
    return Ratings(
        tuple(names), elo[:count], errors[:count], float(elo[count]), float(errors[count])
    )


@attrs.frozen
class Sprt:
    """The result of a sequential probability ratio test.

    Attributes
    ----------
    llr : float
        The logarithm of the likelihood ratio of the larger difference to the smaller one.
    lower, upper : float
        The bounds of `llr` at which the test ends.
    verdict : {"better", "not better", "undecided"}
        Whether one player is better by the larger difference, or by no more than the smaller one.
    """

    llr: float
    lower: float
    upper: float
    verdict: Literal["better", "not better", "undecided"]

    def _repr_html_(self) -> str:
        """Return a small table for notebooks."""
        return html_table(
            {
                "verdict": self.verdict,
                "log-likelihood ratio": f"{self.llr:.4g}",
                "ends at": f"{self.lower:.4g} and {self.upper:.4g}",
            }
        )


def sprt(
    pair_scores: Sequence[float],
    better_by: tuple[float, float] = (0.0, 5.0),
    errors: tuple[float, float] = (0.05, 0.05),
) -> Sprt:
    """Decide whether a match can stop because one player is proven better or not better.

    This is Wald's sequential probability ratio test [1]_ on the scores of pairs of games, by the
    generalised likelihood ratio in normalized Elo [2]_. Games of a pair share openings and dice, so
    they are not independent, and a test of single games would be wrong. It may be applied after
    every pair if the match continues until the verdict.

    Parameters
    ----------
    pair_scores : sequence of 5 float
        Numbers of pairs with 0, 1/2, 1, 3/2 and 2 points.
    better_by : (float, float)
        The two differences to distinguish, in normalized Elo.
    errors : (float, float)
        The probability of the verdict "better" if the smaller difference is the true one, and of
        "not better" if the larger one is; approximate, and accurate where a match takes dozens of
        pairs.

    Raises
    ------
    InvalidParameterError
        If an argument makes no sense.

    References
    ----------
    .. [1] A. Wald, "Sequential Tests of Statistical Hypotheses", Annals of Mathematical Statistics
       16 (1945).
    .. [2] M. Van den Bergh, "A practical introduction to the GSPRT" and "Normalized Elo" (2020),
       as used by fishtest and fastchess.

    Examples
    --------
    >>> found = sprt([379, 10170, 21828, 10640, 343], better_by=(0, 2))
    >>> round(found.llr, 3), found.verdict
    (2.945, 'better')
    """
    try:
        counts = np.asarray(pair_scores, dtype=float)
    except (TypeError, ValueError):
        counts = np.empty(0)
    if counts.shape != (5,) or not (np.isfinite(counts).all() and (counts >= 0).all()):
        message = f"pair_scores is {shown(pair_scores)}; it must be 5 counts of pairs."
        raise InvalidParameterError(message)
    low, high = _two(better_by)
    if not -MOST_ELO <= low < high <= MOST_ELO:
        message = (
            f"better_by is {shown(better_by)}; it must be two numbers, the smaller one first, from "
            f"{-MOST_ELO:.0f} to {MOST_ELO:.0f}."
        )
        raise InvalidParameterError(message)
    false_alarm, miss = _two(errors)
    if not (false_alarm > 0 and miss > 0 and false_alarm + miss < 1):
        message = f"errors is {shown(errors)}; it must be two probabilities, together below 1."
        raise InvalidParameterError(message)
    lower, upper = math.log(miss / (1 - false_alarm)), math.log((1 - miss) / false_alarm)
    llr = _log_likelihood_ratio(counts, low, high) if counts.any() else 0.0
    if llr >= upper:
        return Sprt(llr, lower, upper, "better")
    return Sprt(llr, lower, upper, "not better" if llr <= lower else "undecided")


def _two(given: Any) -> tuple[float, float]:
    """Return two numbers; NaN for anything else."""
    try:
        first, second = map(float, given)
    except (TypeError, ValueError, OverflowError):
        return math.nan, math.nan
    return first, second


def _log_likelihood_ratio(counts: NDArray[np.float64], low: float, high: float) -> float:
    """Return the logarithm of the ratio of the largest likelihoods under two differences."""
    counts = np.where(counts == 0, FAINT, counts)
    shares = counts / counts.sum()
    near, far = (_likeliest(shares, math.sqrt(2.0) * elo / NORMALIZED_ELO) for elo in (low, high))
    return float(counts @ (np.log(far) - np.log(near)))


def _likeliest(shares: NDArray[np.float64], wanted: float) -> NDArray[np.float64]:
    """Return the likeliest distribution whose mean is a given number of deviations from a half.

    Each round takes the standard deviation from the last one, and linearises the condition around
    it; the likeliest shares are then the given ones, each divided by 1 + x times its coefficient.
    """
    found = np.full(5, 0.2)
    for _ in range(MOST_ROUNDS):
        mean = found @ PAIR_SCORES
        deviation = math.sqrt(found @ (PAIR_SCORES - mean) ** 2)
        spread = 1.0 + ((mean - PAIR_SCORES) / deviation) ** 2
        slope = PAIR_SCORES - 0.5 - 0.5 * wanted * deviation * spread
        ends = -1.0 / slope.max(), -1.0 / slope.min()
        inside = 1.0 - 1e-12
        tilt = brentq(
            lambda x, slope=slope: float(shares @ (slope / (1.0 + x * slope))),
            ends[0] * inside,
            ends[1] * inside,
            xtol=1e-14,
        )
        last, found = found, shares / (1.0 + tilt * slope)
        if np.abs(found - last).max() < CLOSE:
            break
    return found
