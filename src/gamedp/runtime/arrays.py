"""Types of arrays, as annotations name them, and where rows of several lengths lie in one array."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Flags: TypeAlias = NDArray[np.bool_]
Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.signedinteger[Any]]
Naturals: TypeAlias = NDArray[np.unsignedinteger[Any]]


def places_of_rows(firsts: Integers, counts: Integers) -> tuple[Integers, Integers]:
    """Return ``firsts[i] .. firsts[i] + counts[i] - 1`` for all i together, and where each begins.

    Parameters
    ----------
    firsts, counts : (n,)

    Examples
    --------
    >>> places_of_rows(np.array([7, 2]), np.array([3, 1]))
    (array([7, 8, 9, 2]), array([0, 3]))
    """
    starts = np.cumsum(counts) - counts
    return np.arange(int(counts.sum())) + np.repeat(firsts - starts, counts), starts
