"""Probabilities that were rounded, or computed: made to sum to one where that is asked for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["hint_of_number", "hint_of_sum", "normalised"]

Floats = NDArray[np.float64]

LEAST_SUM, MOST_SUM = 0.9, 1.1
"""A sum beyond these is no rounding but another mistake."""

MOST_NEGATIVE = 1e-6
"""How far below zero a probability may be, as single precision leaves it."""

WAY_OUT = "normalise=True of from_arrays, from_scipy and read_model"


def hint_of_sum(total: float) -> str:
    """Return what helps where probabilities do not sum to one."""
    if LEAST_SUM <= total <= MOST_SUM:
        return f"If they are rounded, {WAY_OUT} divides them by their sum."
    return "If they are weights, such as percentages, divide them by their sum."


def hint_of_number(probability: float) -> str:
    """Return what helps where a probability is below 0 or above 1, with a space before it."""
    if -MOST_NEGATIVE <= probability < 0:
        return f" If this one is a rounding error, {WAY_OUT} takes it for 0."
    return f" {hint_of_sum(probability)}" if 1 < probability <= MOST_SUM else ""


def normalised(
    offsets: NDArray[np.int64], probabilities: Floats, *, signed: bool, rows: str = "choices"
) -> tuple[Floats, str]:
    """Return probabilities that sum to one in each row, and in words what was changed.

    Rows that are off by more than rounding explains are left as they are, to be refused.

    Parameters
    ----------
    offsets : (R+1,) int64
        Where each row begins, and the last one ends.
    probabilities : (T,) float64
    signed : bool
        Whether the sign says that players change places: then negative ones stay.
    rows : str
        What the rows are, in words.
    """
    below = (probabilities < 0) & (probabilities >= -MOST_NEGATIVE) & (not signed)
    kept = np.where(below, 0.0, probabilities)
    wrong = (kept < 0) & (not signed)
    filled = offsets[:-1] < offsets[1:]
    totals, scaled = np.ones(len(filled)), np.zeros(len(filled), np.bool_)
    if filled.any():
        begins = offsets[:-1][filled]
        totals[filled] = np.add.reduceat(np.abs(kept), begins)
        scaled[filled] = ~np.logical_or.reduceat(wrong, begins)
    scaled &= (totals != 1) & (totals >= LEAST_SUM) & (totals <= MOST_SUM)
    kept = kept / np.repeat(np.where(scaled, totals, 1.0), np.diff(offsets))
    notes = []
    if below.any():
        notes.append(
            f"{np.count_nonzero(below):,} probabilities below 0, by at most "
            f"{-probabilities[below].min():.2g}, were taken for 0"
        )
    if scaled.any():
        notes.append(
            f"the probabilities of {np.count_nonzero(scaled):,} of {len(totals):,} {rows}, which "
            f"sum to one within {np.abs(totals[scaled] - 1).max():.2g}, were divided by their sum"
        )
    return kept, "; ".join(notes)
