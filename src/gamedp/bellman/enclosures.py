"""Bounds of weighted sums: the one place that accounts for rounding, besides the kernels.

A weighted sum is computed in doubles, each product and each sum rounded by half a unit in the last
place; its weights may have errors themselves; and of its terms, bounds are known. The total error
is in proportion to the sum of the absolute products [1]_, never to the sum itself, in which they
may have cancelled.

References
----------
.. [1] N. Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., SIAM 2002, section 3.1.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.runtime.floats import PROBABILITY_ROUNDING, TINY, UNIT

if TYPE_CHECKING:
    from gamedp.runtime.arrays import Flags, Floats, Integers


def enclosed_sums(
    offsets: Integers,
    weights: Floats,
    lower: Floats,
    upper: Floats,
    *,
    relative: float = PROBABILITY_ROUNDING,
    absolute: Floats | float = 0.0,
    factor: float = 1.0,
    constants: tuple[Floats, Floats] | None = None,
) -> tuple[Floats, Floats]:
    """Return bounds of weighted sums, one for each of R rows: ``constant + factor * sum(w * t)``.

    A row with the single weight 1 is certain: the weight has no error, and a sum that is a 64-bit
    number is its own bound. So is the constant if all terms are zero.

    Parameters
    ----------
    offsets : (R+1,)
        The terms of row r are those from ``offsets[r]`` to ``offsets[r+1]``; the first one is 0.
    weights : (T,)
    lower, upper : (T,)
        Bounds of each term, which may be infinite.
    relative : float
        Largest relative error of a weight.
    absolute : float or (T,)
        Largest additional error.
    factor : float
        Exact, from 0 to 1: a discount.
    constants : (lower, upper), (R,) each, optional
        Bounds of the number added to each row.

    Returns
    -------
    lower, upper : (R,)
    """
    num_rows, lengths = len(offsets) - 1, np.diff(offsets)
    owners = np.repeat(np.arange(num_rows), lengths)
    nothing = np.zeros(num_rows)
    least, most = (nothing, nothing) if constants is None else constants
    with np.errstate(over="ignore", invalid="ignore"):
        largest = np.maximum(np.abs(lower), np.abs(upper))
        has_infinite = not bool(np.isfinite(largest).all())
        if has_infinite:
            largest = np.where(np.isfinite(largest), largest, 0.0)
        sizes = factor * np.bincount(owners, np.abs(weights) * largest, num_rows)
        is_zero = sizes == 0
        if is_zero.any():  # unless products were too small
            is_zero &= np.bincount(owners, (lower != 0) | (upper != 0), num_rows) == 0
        # Each product, sum, and the factor; a part of the computed value, not of the exact one.
        share = (lengths + 3) * UNIT + relative
        slack = share / (1 - 2 * share) * (sizes + np.maximum(np.abs(least), np.abs(most)))
        slack += (lengths + 4) * TINY
        if np.any(absolute):
            slack += 1.01 * factor * np.bincount(owners, absolute * largest, num_rows)
        is_sure = (lengths == 1) & (factor == 1) & ~np.any(absolute)
        firsts = offsets[:-1][is_sure]
        is_sure[is_sure] = weights[firsts] == 1
        swapped = weights < 0
        bounds = []
        for own, other, constant, outward in (
            (lower, upper, least, -np.inf),
            (upper, lower, most, np.inf),
        ):
            terms = np.where(swapped, other, own) if swapped.any() else own
            totals = constant + factor * np.bincount(owners, weights * terms, num_rows)
            exact = is_zero | is_sure
            exact[is_sure] = _adds_up(constant[is_sure], terms[offsets[:-1][is_sure]])
            if has_infinite:
                exact |= np.bincount(owners, np.isinf(terms), num_rows) > 0
            moved = np.nextafter(totals + np.copysign(slack, outward), outward)
            totals = np.where(exact, totals, moved)
            # Plus and minus infinity were added.
            bounds.append(np.where(np.isnan(totals), outward, totals))
    return bounds[0], bounds[1]


def enclosed_sum(
    weights: Any,
    lower: Any,
    upper: Any,
    *,
    relative: float = PROBABILITY_ROUNDING,
    absolute: Any = 0.0,
) -> tuple[float, float]:
    """Return bounds of a single weighted sum; see :func:`enclosed_sums`."""
    numbers = [np.asarray(each, np.float64) for each in (weights, lower, upper)]
    offsets = np.array([0, len(numbers[0])])
    low, high = enclosed_sums(offsets, *numbers, relative=relative, absolute=absolute)
    return float(low[0]), float(high[0])


@attrs.frozen(eq=False)
class Products:
    """Bounds of products of a sparse matrix with vectors, none of them with negative numbers.

    Sums are then their own absolute sums: bounds therefore keep most digits, however often products
    are taken.

    Attributes
    ----------
    matrix : (R, S) scipy.sparse.csr_array
    relative : float
        Largest relative error of its entries.
    """

    matrix: Any
    relative: float = PROBABILITY_ROUNDING

    @functools.cached_property
    def _factors(self) -> tuple[Floats, Floats, Floats]:
        """Factors by which sums are multiplied downward and upward, and the amount then added."""
        counts = np.diff(self.matrix.indptr)
        share = (counts + 3) * UNIT + self.relative  # sums, and the operations on them below
        share /= 1 - 2 * share
        return 1 - share, 1 + share, (counts + 4) * TINY

    def enclosed(self, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
        """Return bounds of the product with a vector whose finite bounds are known."""
        down, up, least = self._factors
        return np.maximum(self.matrix @ lower * down - least, 0.0), self.matrix @ upper * up + least


def enclosed_difference(
    total: float, lower: Floats | np.float64, upper: Floats | np.float64
) -> tuple[Floats, Floats]:
    """Return bounds of a number minus others whose bounds are known, outward if rounded."""
    bounds = []
    for number, outward in ((upper, -np.inf), (lower, np.inf)):
        bound: Floats = np.asarray(number)
        with np.errstate(over="ignore", invalid="ignore"):
            rest = total - bound
            exact = _adds_up(np.full(bound.shape, total), -bound)
            exact |= np.isinf(bound) | np.isinf(total)
            moved = np.where(exact, rest, np.nextafter(rest, outward))
        bounds.append(np.where(np.isnan(moved), outward, moved))
    return bounds[0], bounds[1]


def rounded_outward(lower: Floats, upper: Floats, amount: Floats | float) -> tuple[Floats, Floats]:
    """Return bounds that are wider by an amount; unchanged for zero, and infinite ones stay."""
    if not np.any(amount):
        return lower, upper
    with np.errstate(over="ignore", invalid="ignore"):
        return (
            np.where(np.isinf(lower), lower, np.nextafter(lower - amount, -np.inf)),
            np.where(np.isinf(upper), upper, np.nextafter(upper + amount, np.inf)),
        )


def scaled(probabilities: Floats) -> tuple[Floats, float]:
    """Return probabilities scaled to sum to one, and the largest relative error of each."""
    total = np.abs(probabilities).sum()
    return np.abs(probabilities) / total, PROBABILITY_ROUNDING + (len(probabilities) + 3) * UNIT


def estimated_sums(offsets: Integers, weights: Floats, terms: Floats) -> Floats:
    """Return weighted sums of rows without bounds, added up from the first term to the last.

    Solvers add up in the same order: the sums therefore agree with theirs to the bit.
    """
    num_rows = len(offsets) - 1
    owners = np.repeat(np.arange(num_rows), np.diff(offsets))
    with np.errstate(over="ignore", invalid="ignore"):
        return np.bincount(owners, weights * terms, num_rows).astype(np.float64)


def _adds_up(one: Floats, other: Floats) -> Flags:
    """Return where the sum of two numbers is itself a 64-bit number (D. Knuth's two-sum)."""
    total = one + other
    seen = total - one
    exact: Flags = (one - (total - seen)) + (other - seen) == 0
    return exact
