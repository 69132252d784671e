"""Whether a sum is rounded, for compiled loops."""

from __future__ import annotations

from gamedp.runtime.floats import rounds
from gamedp.runtime.jit import inlined

__all__ = ["rounds_jit", "shift_rounds", "shift_rounds_jit"]

rounds_jit = inlined(rounds)


def shift_rounds(bound: float, half: float) -> bool:
    """Return whether a finite bound is rounded when half of the constant sum is subtracted."""
    return abs(bound) < float("inf") and rounds_jit(bound, -half, bound - half)


shift_rounds_jit = inlined(shift_rounds)
