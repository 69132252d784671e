"""Constants of floating-point arithmetic, and a check that it works as proofs assume."""

from __future__ import annotations

from gamedp.errors import UnsupportedArithmeticError

UNIT = 2.0**-53
"""Largest relative error of rounding."""
LEAST = 2.0**-1074
"""The smallest positive number: quotients that are rounded to zero are smaller."""
TINY = 2.0**-1060
"""Upper bound of what a few operations on one number may lose to underflow."""
UPWARD = 1.0 + 2.0**-46
"""Outweighs the rounding of the few operations that put a bound together."""
SMALLEST_NORMAL = 2.0**-1022

SUM_TOLERANCE = 1e-9
"""Tolerance for the sum of the probabilities of a choice."""
SUM_ROUNDING = 3 * UNIT
"""Largest relative error of the sum of probabilities in a model, as of products of two rounded
numbers: with a larger one, they are scaled."""
PROBABILITY_ROUNDING = 4 * UNIT
"""Largest relative error of a stored probability against the exact one: two units in the last
place."""
LEAST_PROBABILITY = 2.0**-1021
"""Least probability: smaller ones are refused. Below half of this, which scaling may reach, numbers
have fewer digits: two units in the last place may be the whole number."""
FAINT = f"One below {LEAST_PROBABILITY:.2g} has too few digits for proofs; leave it out."
"""Words of messages about smaller ones."""


def check_arithmetic() -> None:
    """Raise UnsupportedArithmeticError unless numbers are rounded to the nearest, however small.

    A library built with ``-ffast-math`` may change that for the whole process when it is loaded: so
    it is asked again with each problem, and takes less than a microsecond.
    """
    half = 0.5 * SMALLEST_NORMAL
    if half == 0 or half + half != SMALLEST_NORMAL:
        message = (
            "in this process, numbers smaller than 2.2e-308 count as zero, and no bound could be "
            "relied on. Most likely a library built with -ffast-math was loaded: import it later, "
            "or in another process."
        )
        raise UnsupportedArithmeticError(message)
    if 1 + UNIT != 1 or 1 + 1.5 * UNIT == 1 or -1 - UNIT != -1:
        message = (
            "in this process, sums are not rounded to the nearest number, and no bound could be "
            "relied on: some library has changed the rounding mode. Use it in another process."
        )
        raise UnsupportedArithmeticError(message)


def rounds(first: float, second: float, total: float) -> bool:
    """Return whether `total`, computed as ``first + second``, is not their sum; all are finite.

    The error can itself be computed [1]_.

    References
    ----------
    .. [1] D. Knuth, "The Art of Computer Programming" 2 (1997), section 4.2.2, theorem B.
    """
    part = total - first
    return (first - (total - part)) + (second - part) != 0.0


def lost(first: float, second: float, total: float) -> float:
    """Return what `total`, computed as ``first + second``, lacks of their sum [1]_.

    References
    ----------
    .. [1] D. Knuth, "The Art of Computer Programming" 2 (1997), section 4.2.2, theorem B.
    """
    part = total - first
    return (first - (total - part)) + (second - part)
