"""Expected rewards of choices whose rewards depend on their outcomes."""

from __future__ import annotations

import functools
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.rules.exactness import as_given, nearest, upward
from gamedp.rules.probabilities import lost
from gamedp.runtime.floats import PROBABILITY_ROUNDING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Floats = NDArray[np.float64]

__all__ = ["means_of"]


def means_of(
    offsets: Integers,
    probabilities: NDArray[Any],
    paid: NDArray[Any],
    *certain: NDArray[Any],
) -> tuple[NDArray[Any], tuple[float, float]]:
    """Return the expected reward of each choice: the average of its transitions, and fixed parts.

    Parameters
    ----------
    offsets : (C+1,) int64
        The transitions of each choice, at least one.
    probabilities, paid : (T,)
        Numbers as they were given: doubles, or objects if there are Fractions among them. The
        payment of a transition counts by its probability without the sign, in proportion.
    *certain : (C,)
        Rewards that do not depend on the outcome; added up.

    Returns
    -------
    means : (C,)
        Doubles, or objects if there are Fractions among them.
    errors : (float, float)
        Largest distance of a reward from the nearest double, and as a part of that: by rounding,
        and by two units in the last place of each probability that is a double.

    Raises
    ------
    OverflowError
        If a mean is beyond the range of doubles.
    """
    starts = offsets[:-1]
    if not len(starts):
        return np.zeros(0), (0.0, 0.0)
    numbers = nearest(paid)
    means = numbers[starts].copy()
    is_rounded = np.maximum.reduceat(numbers, starts) > np.minimum.reduceat(numbers, starts)
    if paid.dtype == object:
        is_rounded |= np.logical_or.reduceat(paid != numbers, starts)
    with np.errstate(over="ignore", invalid="ignore"):  # computed again, exactly
        for part in certain:
            before, term = means, nearest(part)
            means = before + term
            is_rounded |= (_lost(before, term, means) != 0) | (part != term)
    found = means.astype(object)
    most, share = Fraction(0), Fraction(0)
    mean_of = functools.cache(_mean)  # many choices have the same numbers
    for choice in np.flatnonzero(is_rounded).tolist():
        row = slice(offsets[choice], offsets[choice + 1])
        mean, spread = mean_of(tuple(probabilities[row].tolist()), tuple(paid[row].tolist()))
        found[choice] = mean = sum((Fraction(part[choice]) for part in certain), mean)
        stored = Fraction(float(mean))
        error = abs(mean - stored) + spread
        if error:
            most = max(most, error)
            share = max(share, error / abs(stored) if stored else Fraction(2))
    return as_given(found.tolist()), (upward(most), upward(share))


def _lost(first: Floats, second: Floats, total: Floats) -> Floats:
    """Return the rounding error of a sum, as :func:`gamedp.rules.probabilities.lost` does."""
    rest: Any = lost(first, second, total)  # type: ignore[arg-type]
    return rest  # type: ignore[no-any-return]


def _mean(weights: tuple[Any, ...], numbers: tuple[Any, ...]) -> tuple[Fraction, Fraction]:
    """Return the mean of numbers, and its largest error by rounding of weights that are doubles.

    A weight w may be w (1 + d) with d up to some e; all sum to one. Then the mean m moves by the
    sum of w d (x - m) over the numbers x: by no more than e times that of all w |x - m|.
    """
    exact = list(map(Fraction, numbers))
    if all(number == exact[0] for number in exact):
        return exact[0], Fraction(0)
    shares = [abs(Fraction(weight)) for weight in weights]
    size = sum(shares)
    mean = sum((w * x for w, x in zip(shares, exact, strict=True)), Fraction(0)) / size
    moved = sum(
        (
            share * abs(number - mean)
            for weight, share, number in zip(weights, shares, exact, strict=True)
            if not isinstance(weight, Fraction)
        ),
        Fraction(0),
    )
    return mean, Fraction(PROBABILITY_ROUNDING) * moved / size
