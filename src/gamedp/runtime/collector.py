"""The garbage collector, paused while modules are imported."""

from __future__ import annotations

import contextlib
import gc
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["without_collection"]


@contextlib.contextmanager
def without_collection() -> Iterator[None]:
    """Pause the garbage collector.

    Importing makes a great many objects that all stay. To look through them again and again took a
    fifth of the time that it takes to import numba.
    """
    was_enabled = gc.isenabled()
    try:
        gc.disable()
        yield
    finally:
        if was_enabled:
            gc.enable()
