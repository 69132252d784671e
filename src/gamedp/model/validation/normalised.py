"""Normalisation of probabilities that were rounded or computed, where it is asked for."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.rules.exactness import nearest

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["exact_totals", "hint_of_number", "hint_of_sum", "normalised"]

LEAST_SUM, MOST_SUM = 0.9, 1.1
"""Range of sums that rounding may explain; beyond it there is another mistake."""

MOST_NEGATIVE = 1e-6
"""Largest distance of a probability below zero, as single precision leaves it."""

WAY_OUT = "normalise=True of from_arrays, from_scipy and read_model"


def hint_of_sum(total: float) -> str:
    """Return advice for probabilities that do not sum to one."""
    if LEAST_SUM <= total <= MOST_SUM:
        return f"If they are rounded, {WAY_OUT} divides them by their sum."
    return "If they are weights, such as percentages, divide them by their sum."


def hint_of_number(probability: float) -> str:
    """Return advice for a probability below 0 or above 1, with a space before it."""
    if -MOST_NEGATIVE <= probability < 0:
        return f" If this one is a rounding error, {WAY_OUT} takes it for 0."
    return f" {hint_of_sum(probability)}" if 1 < probability <= MOST_SUM else ""


def exact_totals(offsets: NDArray[np.int64], numbers: NDArray[Any]) -> dict[int, Fraction]:
    """Return the sum of the sizes in each finite row that has a Fraction, by the row's number.

    Parameters
    ----------
    offsets : (R+1,) int64
        The start of each row, and the end of the last one.
    numbers : (T,)
        As they were given: doubles, or objects if there are Fractions among them.
    """
    if numbers.dtype != object:
        return {}
    is_exact = np.array([isinstance(number, Fraction) for number in numbers.tolist()], np.bool_)
    owners = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    totals: dict[int, Fraction] = {}
    found: dict[tuple[int, ...], Fraction] = {}  # many rows have the same numbers
    for row in np.unique(owners[is_exact]).tolist():
        its = numbers[offsets[row] : offsets[row + 1]].tolist()
        key = tuple(map(id, its))
        if key not in found and all(map(math.isfinite, its)):
            found[key] = sum((abs(Fraction(number)) for number in its), Fraction(0))
        if key in found:
            totals[row] = found[key]
    return totals


def normalised(
    offsets: NDArray[np.int64], probabilities: NDArray[Any], *, signed: bool, rows: str = "choices"
) -> tuple[NDArray[Any], str]:
    """Return probabilities that sum to one in each row, and a description of the changes.

    Rows that are off by more than rounding explains are left unchanged, to be refused. Those with
    Fractions are divided exactly.

    Parameters
    ----------
    offsets : (R+1,) int64
        The start of each row, and the end of the last one.
    probabilities : (T,)
        As they were given: doubles, or objects if there are Fractions among them.
    signed : bool
        Whether a sign means that players change places: negative ones are then kept.
    rows : str
        A name for the rows, for messages.
    """
    doubles = nearest(probabilities)
    below = (doubles < 0) & (doubles >= -MOST_NEGATIVE) & (not signed)
    kept: NDArray[Any] = np.where(below, 0.0, probabilities)
    doubles = nearest(kept)
    wrong = (doubles < 0) & (not signed)
    filled = offsets[:-1] < offsets[1:]
    totals, scaled = np.ones(len(filled)), np.zeros(len(filled), np.bool_)
    if filled.any():
        begins = offsets[:-1][filled]
        totals[filled] = np.add.reduceat(np.abs(doubles), begins)
        scaled[filled] = ~np.logical_or.reduceat(wrong, begins)
    off, exact = totals - 1, exact_totals(offsets, kept)
    for row, total in exact.items():
        off[row] = total - 1
    scaled &= (off != 0) & (totals >= LEAST_SUM) & (totals <= MOST_SUM)
    divided = doubles / np.repeat(np.where(scaled, totals, 1.0), np.diff(offsets))
    divided = divided.astype(kept.dtype, copy=False)
    for row, total in exact.items():
        place = slice(*offsets[row : row + 2].tolist())
        its = kept[place]
        divided[place] = [Fraction(number) / total for number in its] if scaled[row] else its
    notes = []
    if below.any():
        notes.append(
            f"{np.count_nonzero(below):,} probabilities below 0, by at most "
            f"{-float(probabilities[below].min()):.2g}, were taken for 0"
        )
    if scaled.any():
        notes.append(
            f"the probabilities of {np.count_nonzero(scaled):,} of {len(totals):,} {rows}, which "
            f"sum to one within {np.abs(off[scaled]).max():.2g}, were divided by their sum"
        )
    return divided, "; ".join(notes)
