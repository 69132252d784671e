"""Reports of the progress of a long run."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeAlias

import attrs

__all__ = ["Progress", "ProgressCallback", "Reporter"]


@attrs.frozen
class Progress:
    """The progress of a phase.

    Attributes
    ----------
    phase : str
        ``"explore"``, ``"solve"``, ``"verify"``, ``"search"`` or ``"play"``; or ``"compile"``,
        while the others wait for numba, which happens the first time only.
    done : int
        States explored or solved so far, or sweeps, positions or games done, or functions compiled.
    total : int or None
        Out of how many, where that is known.
    seconds : float
        Since the phase began.
    detail : str
        In words.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> met: list[gamedp.Progress] = []
    >>> solution = gamedp.solve(Matches(matches=18), compile="never", progress=met.append)
    >>> {one.phase for one in met} <= {"compile", "explore", "solve"}  # the longer, the more
    True
    """

    phase: str
    done: int
    total: int | None
    seconds: float
    detail: str


ProgressCallback: TypeAlias = Callable[[Progress], None]

INTERVAL = 0.1
"""Least number of seconds between two reports."""


class Reporter:
    """Passes on reports of one phase, no more often than a person can read them."""

    def __init__(self, callback: ProgressCallback | None, phase: str) -> None:
        self._callback = callback
        self._phase = phase
        self._start = time.perf_counter()
        self._last = self._start

    @property
    def seconds(self) -> float:
        """Seconds since the phase began."""
        return time.perf_counter() - self._start

    def report(self, done: int, total: int | None, detail: str) -> None:
        """Pass the report on, unless the last one was a moment ago."""
        now = time.perf_counter()
        if self._callback is not None and now - self._last >= INTERVAL:
            self._last = now
            self._callback(Progress(self._phase, done, total, now - self._start, detail))
