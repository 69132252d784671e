"""The time that numba takes to compile, and reports of it.

A kernel is compiled when it is first called, wherever that is; what was compiled is kept on disk.
So the first solution on a machine takes some seconds that are not the solver's: they are counted
separately, and the reason is shown to the user.

Meanwhile the garbage collector pauses: its repeated passes over numba's objects took a tenth of the
time.
"""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import TypeAlias


class _Pauses:
    """The number of pauses of the collector now in force, of all threads."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.count = 0
        self.was_enabled = False


_pauses = _Pauses()


def pause() -> None:
    """Pause the garbage collector until `resume` has been called as often."""
    with _pauses.lock:
        if _pauses.count == 0:
            _pauses.was_enabled = gc.isenabled()
        _pauses.count += 1
        gc.disable()


def resume() -> None:
    """End one pause; the end of the last one restores the collector's former state."""
    with _pauses.lock:
        _pauses.count = max(
            0, _pauses.count - 1
        )  # an interruption may have kept one from beginning
        if _pauses.count == 0 and _pauses.was_enabled:
            gc.enable()


class without_collection:  # noqa: N801 - reads as what follows `with`
    """Pause the garbage collector.

    Importing makes a great many objects that all stay. To look through them again and again took a
    fifth of the time that it takes to import numba.
    """

    def __enter__(self) -> None:
        pause()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        resume()


Listener: TypeAlias = Callable[[int, float], None]
"""Called with the number of functions compiled so far, and the seconds spent on them."""


class _Compilations(threading.local):
    """The compilations of one thread."""

    def __init__(self) -> None:
        self.depth = 0
        self.began = 0.0
        self.spans: list[tuple[float, float]] = []
        self.listeners: list[reporting_compilation] = []


_record = _Compilations()


class reporting_compilation:  # noqa: N801 - reads as what follows `with`
    """Call a listener whenever a function begins to be compiled, within a block."""

    def __init__(self, listener: Listener | None) -> None:
        self._listener = listener
        self._count = 0
        self._seconds = 0.0

    def __enter__(self) -> None:
        if self._listener is not None:
            _record.listeners.append(self)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._listener is not None:
            _record.listeners.remove(self)

    def tell(self, seconds: float) -> None:
        """Report that another function is compiled, `seconds` after the first that waits for it."""
        if self._listener is not None:
            self._listener(self._count, self._seconds + seconds)
        self._count += 1

    def add(self, seconds: float) -> None:
        """Add a compilation."""
        self._seconds += seconds


def begin() -> None:
    """Record the start of a function's compilation, perhaps within another one's."""
    now = time.perf_counter()
    _record.depth += 1
    if _record.depth == 1:
        _record.began = now
        pause()
    if _record.listeners:
        _record.listeners[-1].tell(now - _record.began)


def end() -> None:
    """Record the end of a compilation, or that a listener has prevented it."""
    _record.depth = max(0, _record.depth - 1)
    if _record.depth == 0:
        resume()
        now = time.perf_counter()
        _record.spans.append((_record.began, now))
        for each in _record.listeners:
            each.add(now - _record.began)


def seconds_within(seconds: float) -> float:
    """Return the time that this thread has spent compiling within the last `seconds`."""
    start = time.perf_counter() - seconds
    if not _record.spans or _record.spans[-1][1] <= start:
        return 0.0
    return sum(stop - max(begun, start) for begun, stop in _record.spans if stop > start)
