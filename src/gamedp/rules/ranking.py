"""Ranking of distributions: their number, the n-th one, and the rank of a given one.

For tables with one entry for each way to lay stones on a board, instead of a hash table: see
:func:`rank_distribution`. Everything works the same in plain Python and in compiled rules.
"""

from __future__ import annotations

import math

import numpy as np

from gamedp.rules.game import helper, with_item

__all__ = ["binomial", "rank_distribution", "unrank_distribution"]

LARGEST_N = 127
TOO_LARGE = -1

PASCAL = np.array(
    [
        [
            value if (value := math.comb(n, k)) < 2**63 else TOO_LARGE
            for k in range(LARGEST_N // 2 + 1)
        ]
        for n in range(LARGEST_N + 1)
    ]
)
"""The left half of Pascal's triangle, as far as it fits into 64 bits: row n, column k."""
PASCAL.flags.writeable = False


@helper
def binomial(n: int, k: int) -> int:
    """Return the binomial coefficient: the number of ways to choose k of n things.

    Parameters
    ----------
    n : int
        ``0 <= n <= 127``.
    k : int
        At least 0; more than n can be chosen in no way.

    Raises
    ------
    ValueError
        If n or k is out of range.
    OverflowError
        If the number does not fit into 64 bits.

    Examples
    --------
    >>> binomial(49, 6), binomial(6, 49)
    (13983816, 0)
    """
    if n < 0 or n > LARGEST_N or k < 0:
        raise ValueError("binomial(n, k) needs n from 0 to 127, and k of at least 0")  # noqa: EM101, TRY003 - for numba
    if k > n:
        return 0
    value = int(PASCAL[n, min(k, n - k)])
    if value == TOO_LARGE:
        raise OverflowError("binomial(n, k) does not fit into 64 bits")  # noqa: EM101, TRY003
    return value


@helper
def rank_distribution(counts: tuple[int, ...]) -> int:
    """Return the rank of a distribution among all of the same number of stones over as many parts.

    The distributions of a total of m stones over p parts have the numbers 0 to
    ``binomial(m + p - 1, p - 1) - 1``, without a gap. Put the stones of all parts in a row, and a
    bar after those of each part but the last one: the rank is that of the places of the bars in the
    combinatorial number system [1]_. All stones in the last part are number 0.

    Parameters
    ----------
    counts : tuple of int
        The number of stones of each part; at least one part.

    Raises
    ------
    ValueError
        If a count is negative, or stones and parts are more than the table of `binomial` has.
    OverflowError
        If there are more such distributions than 64 bits can number.

    References
    ----------
    .. [1] D. E. Knuth, The Art of Computer Programming, volume 4A, section 7.2.1.3.

    Examples
    --------
    >>> [rank_distribution(counts) for counts in ((0, 0, 2), (0, 1, 1), (1, 0, 1), (0, 2, 0))]
    [0, 1, 2, 3]
    """
    parts = len(counts)
    rank = 0
    stones = 0
    for part in range(parts):
        if counts[part] < 0:
            raise ValueError("rank_distribution: a count is negative")  # noqa: EM101, TRY003
        stones += counts[part]
        if part < parts - 1:
            rank += binomial(stones + part, part + 1)
    binomial(stones + parts - 1, parts - 1)  # which is larger than the rank: do both fit?
    return rank


@helper
def unrank_distribution(index: int, total: int, like: tuple[int, ...]) -> tuple[int, ...]:
    """Return the distribution with the given rank: the inverse of `rank_distribution`.

    Parameters
    ----------
    index : int
        The number, from 0 on.
    total : int
        The number of stones.
    like : tuple of int
        Any tuple with an item for each part, one at least. Only its length matters: compiled rules
        must know it from the type.

    Raises
    ------
    ValueError
        If there is no such distribution, or more stones and parts than the table of `binomial` has.
    OverflowError
        If there are more such distributions than 64 bits can number.

    Examples
    --------
    >>> [unrank_distribution(index, 2, (0, 0, 0)) for index in range(6)]
    [(0, 0, 2), (0, 1, 1), (1, 0, 1), (0, 2, 0), (1, 1, 0), (2, 0, 0)]
    """
    parts = len(like)
    if index < 0 or index >= binomial(total + parts - 1, parts - 1):
        raise ValueError("unrank_distribution: no distribution has this number")  # noqa: EM101, TRY003
    counts = like
    for part in range(parts - 1, 0, -1):
        below = total  # stones in the parts before this one
        while binomial(below + part - 1, part) > index:
            below -= 1
        index -= binomial(below + part - 1, part)
        counts = with_item(counts, part, total - below)
        total = below
    return with_item(counts, 0, total)
