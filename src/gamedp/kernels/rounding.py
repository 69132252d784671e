"""Whether a sum is exact in floating point."""

from __future__ import annotations

from gamedp.kernels.jit import inlined


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
