"""Bounds of the mean over an action's outcomes: small functions for expectiminimax.

Before the outcomes are searched, ends of the game and ``value_range`` bound each of them, and after
that what has been found; see Star1 and Star2 in `gamedp.searchers.expectiminimax_loop`.
"""

from __future__ import annotations

from gamedp.runtime.jit import inlined
from gamedp.searchers.node_loop import zero_sum_range_jit
from gamedp.searchers.stacks import LoopStatus

# What stands at the horizon, from the side of the mover there.
ESTIMATE, LOW_END, HIGH_END = range(3)
KINDS = 4
"""A position's last field is one of these, and so many times the plies that are left: positions
come back with other numbers of plies left, and neither entry in the table may drive out the other.
"""

MAX_WINDOW = 1e308
"""Bound of finite ends of windows: only open ends are infinite."""


def divided(number, probability):
    """Return the quotient, which is infinite only if the number is."""
    if abs(number) < MAX_WINDOW * probability:
        return number / probability
    if abs(number) == float("inf"):
        return number
    return MAX_WINDOW if number > 0.0 else -MAX_WINDOW


divided_jit = inlined(divided)


def above(number: float) -> float:
    """Return a slightly greater number: no two scores of interest are closer."""
    size = abs(number)
    return number + max(size, 1e-290) * 2.0**-51


above_jit = inlined(above)


def bound_outcomes(work, page, here, at_horizon, rest):
    """Bound each outcome of an action from the side of the player who takes it.

    Parameters
    ----------
    work, page
        Of the loop. ``tally.wanted`` is left at the outcome that is wrong, if one is.
    here
        The record of the ply.
    at_horizon : int
        The value at the horizon, from that player's side.
    rest : int
        Plies left after the action.

    Returns
    -------
    status : LoopStatus
    num_known : int
        The number of outcomes with known values.
    are_true : int
        0 if what stands at the horizon has narrowed one.
    endless : float
        The infinite value of an outcome, and so of the action; 0 if there is none.
    """
    tally, positions, fields = work.tally[0], page.positions, page.fields
    infinity, horizon = float("inf"), page.fields.shape[1] - 1
    num_known, are_true, endless = 0, 1, 0.0
    for place in range(here.first_row, here.first_row + here.outcomes):
        position = positions[place]
        mover = position.mover
        tally.wanted = place
        if mover < 0 or mover >= work.num_players:
            return LoopStatus.BAD_OUTCOME, 0, 0, 0.0
        flips_sign = (mover ^ position.swapped) != here.mover
        low, high = zero_sum_range_jit(tally, position, work.half)
        if position.is_over:
            if not abs(low) < infinity:
                return LoopStatus.BAD_OUTCOME, 0, 0, 0.0
        else:
            if not low <= high or low == infinity or high == -infinity:
                return LoopStatus.BAD_OUTCOME, 0, 0, 0.0
            there = at_horizon
            if flips_sign and there != ESTIMATE:
                there = LOW_END + HIGH_END - there
            if rest == 0 and there != ESTIMATE and low < high:
                are_true = 0
                if there == LOW_END:
                    high = low
                else:
                    low = high
            fields[place, horizon] = there + KINDS * rest
        if flips_sign:
            low, high = -high, -low
        if low == high:
            num_known += 1
            if abs(low) < infinity:
                tally.largest = max(tally.largest, abs(low))
            else:
                endless = low
        position.flips_sign = flips_sign
        position.is_true = 1
        position.low = low
        position.high = high
    return LoopStatus.DONE, num_known, are_true, endless


bound_outcomes_jit = inlined(bound_outcomes)


def sum_bounds(positions, first, last):
    """Write to each outcome the sums of the bounds from it to the last one."""
    low, high = 0.0, 0.0
    for place in range(last, first - 1, -1):
        position = positions[place]
        low += position.probability * position.low
        high += position.probability * position.high
        position.rest_low = low
        position.rest_high = high


sum_bounds_jit = inlined(sum_bounds)


def next_probe(positions, place, last, low, high, alpha, beta):
    """Find the next outcome to probe, if probing may decide the action.

    Parameters
    ----------
    positions
    place, last : int
        The outcomes that have not been probed.
    low, high : float
        Sums of the bounds of the others.
    alpha, beta : float
        The window of the action, without its reward.

    Returns
    -------
    place : int
        The outcome; beyond the last one if there is none.
    low, high : float
        With the outcomes before it.
    """
    infinity = float("inf")
    # The best that looking at one action of each outcome could show, either way.
    hope = 0.0
    is_low = False
    is_high = False
    for k in range(place, last + 1):
        end = positions[k].low if positions[k].flips_sign else positions[k].high
        if abs(end) < infinity:
            hope += positions[k].probability * end
        elif end < 0.0:
            is_low = True
        else:
            is_high = True
    wants_upper = alpha > -infinity and high < infinity and not is_high
    wants_upper = wants_upper and (is_low or high + hope <= alpha)
    wants_lower = beta < infinity and low > -infinity and not is_low
    wants_lower = wants_lower and (is_high or low + hope >= beta)
    if not wants_upper and not wants_lower:
        return last + 1, low, high
    while place <= last:
        position = positions[place]
        wants = wants_upper if position.flips_sign else wants_lower
        if wants and position.low < position.high:
            break
        low += position.probability * position.low
        high += position.probability * position.high
        place += 1
    return place, low, high


next_probe_jit = inlined(next_probe)
