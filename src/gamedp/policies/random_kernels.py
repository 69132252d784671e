"""Random numbers of games, each with a stream of its own that its number determines.

A stream is a counter that is mixed to 64 bits [1]_. So games may be played in any order, by any
number of threads.

References
----------
.. [1] G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014;
   the mixing function is David Stafford's variant 13.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gamedp.runtime.jit import inlined

__all__ = ["GAMMA", "ONCE", "S11", "TWICE", "UNIT", "mixed", "mixed_jit"]

GAMMA = np.uint64(0x9E3779B97F4A7C15)
ONCE = np.uint64(0xBF58476D1CE4E5B9)
TWICE = np.uint64(0x94D049BB133111EB)
S27, S30, S31, S11 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(11)

UNIT = 2.0**-53
"""The unit of which random numbers are multiples."""


def mixed(number: Any) -> Any:
    """Return 64 bits, each of which depends on all bits of a number."""
    number = (number ^ (number >> S30)) * ONCE
    number = (number ^ (number >> S27)) * TWICE
    return number ^ (number >> S31)


mixed_jit = inlined(mixed)
