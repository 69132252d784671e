"""Time limits that several parts of a computation share."""

from __future__ import annotations

import time
from typing import Any

import attrs

from gamedp.runtime import compile_clock

__all__ = ["Limit", "within"]


class Limit:
    """A time limit that returns, when called, whether time is up; the first call starts the clock.

    Compiling by numba is not counted: it happens once on each machine.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._began: float | None = None

    def __call__(self) -> bool:
        """Return whether no time is left."""
        return self._spent() > self._seconds

    @property
    def left(self) -> float:
        """The number of seconds left; always positive."""
        return max(self._seconds - self._spent(), min(self._seconds, 1e-9))

    def _spent(self) -> float:
        if self._began is None:
            self._began = time.perf_counter()
        seconds = time.perf_counter() - self._began
        return seconds - compile_clock.seconds_within(seconds)


def within(solver: Any, limit: Limit) -> Any:
    """Return the solver with no more time than is left, if it has a time limit."""
    most = getattr(solver, "max_seconds", None)
    if most is None or limit.left >= most:
        return solver
    return attrs.evolve(solver, max_seconds=limit.left)
