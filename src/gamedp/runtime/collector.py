"""The garbage collector, paused while modules are imported and while numba compiles."""

from __future__ import annotations

import contextlib
import gc
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["pause", "resume", "without_collection"]


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


@contextlib.contextmanager
def without_collection() -> Iterator[None]:
    """Pause the garbage collector.

    Importing makes a great many objects that all stay. To look through them again and again took a
    fifth of the time that it takes to import numba.
    """
    pause()
    try:
        yield
    finally:
        resume()
