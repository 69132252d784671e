"""The numbers of floating-point arithmetic, and whether a sum is exact."""

from __future__ import annotations

from gamedp.runtime.jit import inlined

UNIT = 2.0**-53
"""How much of a number is lost at most when it is rounded."""
LEAST = 2.0**-1074
"""The smallest positive number: what a quotient may have been rounded to zero from."""
TINY = 2.0**-1060
"""More than what a few operations on one number may lose where numbers end."""
UPWARD = 1.0 + 2.0**-46
"""Outweighs the rounding of the few operations that put a bound together."""


def rounds(first: float, second: float, total: float) -> bool:
    """Say whether `total`, computed as ``first + second``, is not their sum; all are finite.

    What is lost can be computed itself [1]_.

    References
    ----------
    .. [1] D. Knuth, "The Art of Computer Programming" 2 (1997), section 4.2.2, theorem B.
    """
    part = total - first
    return (first - (total - part)) + (second - part) != 0.0


rounds_jit = inlined(rounds)
