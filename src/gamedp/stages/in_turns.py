"""Contexts of one rank that lead to each other, with players changing places on each such way.

Let v be their values, T Bellman's operator, and e > 0 a number for each context such that
``T(v - e) >= v - e + c`` and ``T(v + e) <= v + e - c`` for some c > 0, where T takes the value for
one player to be the constant sum minus the other's bound. Then a player who takes the choices that
are best by v - e gains at least c in expectation with each stage that stays in the rank, whatever
the other one does. Gains are bounded, so play leaves the rank almost surely, and its value is at
least v - e. So the value of endless play does not matter. Since every way within the rank changes
places, T(v + e) has the lower bounds, and T(v - e) the upper ones.

Each e is a multiple of a weight: the expected number of stages in the rank still to come, under
choices that are best or nearly best. Weights are measured: for a small d, the difference of
T(v - d w) and T(v) is d times the expected weight of the next context. A player who is far behind
stays in the rank almost surely with the next stage, but not with the one after that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gamedp.results.status import Status
from gamedp.runtime.jit import LANES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.stages.induction import StageRun

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

__all__ = ["always_changes_places", "settle_in_turns"]

MARGINS = 12
"""Number of times that a margin is quadrupled and tried again."""

AHEAD = 4
"""Number of sweeps between two extrapolations of the values."""
MOST_AHEAD = 16
"""Largest number of extrapolations: after them, sweeps alone must converge."""
STEADY = 0.9
"""Largest ratio of successive changes at which values are extrapolated."""

MOST_WEIGHING = 64
"""Largest number of sweeps to find weights: with those found, a proof is tried."""
NEARLY = 2.0**12
"""Multiple of the rounding by which a nearly best choice may be worse."""


def always_changes_places(run: StageRun, codes: Integers) -> bool:
    """Return whether players change places on every way from a context to one of its rank."""
    for first in range(0, len(codes), LANES):
        onward = run.model.sweeper.follow(codes[first : first + LANES])
        stays = (onward.following >= 0) & np.isin(onward.following, codes)
        if (stays & ~onward.swaps).any():
            return False
    return True


def settle_in_turns(run: StageRun, codes: Integers, allowed: float) -> float:
    """Find the values of the contexts `codes`; return their error, infinite if unproven.

    Parameters
    ----------
    run : Run
    codes
        All contexts of a rank, which :func:`always_changes_places`.
    allowed : float
        The error that is small enough.
    """
    threshold = allowed / 64
    trail: list[Floats] = []
    times_ahead = 0
    for _ in range(run.solver.max_sweeps):
        run.sweeps += len(codes)
        result = run.model.sweeper.sweep(run.program, codes, run.values)
        if run.is_out_of_time:
            run.status = Status.TIME_LIMIT
            return np.inf
        values = run.values[codes]
        run.largest = max(run.largest, float(np.abs(values).max()))
        floor = run.rounding(result.reward)
        if result.change <= max(threshold, 8 * floor):
            error = _prove(run, codes, 2 * (result.change + 4 * floor))
            if error <= allowed or result.change <= 8 * floor or not np.isfinite(error):
                return error
            threshold = result.change / 16
        trail.append(values)
        if len(trail) > AHEAD and times_ahead < MOST_AHEAD:
            run.values[codes] = _ahead(trail[0], trail[AHEAD // 2], values)
            times_ahead += 1
            trail.clear()
    return np.inf


def _ahead(first: Floats, second: Floats, third: Floats) -> Floats:
    """Return the limit of values whose changes shrink by a constant factor (Aitken's method)."""
    change = third - second
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = change / (second - first)
    steady = (factor > 0) & (factor < STEADY)
    factor = np.where(steady, factor, 0.0)
    return third + change * (factor / (1 - factor))


def _prove(run: StageRun, codes: Integers, margin: float) -> float:
    """Return the largest proven error, trying from `margin` for each weight on."""
    values = run.values[codes].copy()
    weights = _weigh(run, codes, values)
    try:
        for _ in range(MARGINS):
            if run.is_out_of_time:
                break
            below, above = values - margin * weights, values + margin * weights
            # Players change places: from bounds above follow those below.
            least, reward = _swept(run, codes, above)
            most, other_reward = _swept(run, codes, below)
            room = min(float((least - below).min()), float((above - most).min()))
            apart = margin * float(weights.max())
            if room > 4 * run.rounding(max(reward, other_reward), apart) + 2.0**-20 * margin:
                return float(np.maximum(values - below, above - values).max())
            margin *= 4
    finally:
        run.values[codes] = values
    return np.inf


def _weigh(run: StageRun, codes: Integers, values: Floats) -> Floats:
    """Return the expected number of further stages in the rank, by best or nearly best choices."""
    weights = np.ones(len(codes))
    present, reward = _swept(run, codes, values)
    small = NEARLY * run.rounding(reward)
    for _ in range(MOST_WEIGHING):
        moved, _ = _swept(run, codes, values - small * weights)
        longer = 1 + (moved - present) / small
        rise = float((longer - weights).max())
        weights = np.maximum(weights, longer)
        if not rise > 0.5 or run.is_out_of_time:
            break
    return weights


def _swept(run: StageRun, codes: Integers, values: Floats) -> tuple[Floats, float]:
    """Return the values of the contexts `codes` after a sweep, and the largest reward.

    Within LANES contexts, all is read before anything is written.
    """
    run.values[codes] = values
    found, reward = np.empty(len(codes)), 0.0
    for first in range(0, len(codes), LANES):
        part = slice(first, first + LANES)
        result = run.model.sweeper.sweep(run.program, codes[part], run.values)
        found[part] = run.values[codes[part]]
        if not result.is_complete:
            found[part] = np.nan
        run.values[codes[part]] = values[part]
        reward = max(reward, result.reward)
    run.sweeps += len(codes)
    return found, reward
