"""How kernels are compiled, and kept on disk so that a second process compiles nothing."""

from __future__ import annotations

import functools
import hashlib
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import config, njit
from numba.core.caching import FunctionCache
from numba.core.runtime import rtsys

__all__ = ["QuickCache", "compiled", "inlined", "sources"]

logger = logging.getLogger("gamedp")


@functools.cache
def sources() -> str:
    """Return the digest of all kernels' source."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


class QuickCache(FunctionCache):  # type: ignore[misc] # numba has no types
    """numba's cache of one function, without what only compiling needs.

    Before it looks for compiled code, numba imports all that it can compile, scipy's linear algebra
    among it; that takes longer than everything else in a second start. Compiled code needs numba's
    runtime alone. What cannot be read is compiled anew.

    Where numba looks at the date of the function's own file, this looks at the text of all kernels,
    so that one may call another in a different file.
    """

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self._cache_file._source_stamp = sources()  # noqa: SLF001 - of the class we extend

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Return the compiled function, or None when there is none that can be read."""
        rtsys.initialize(target_context)
        try:
            with self._guard_against_spurious_io_errors():
                return self._load_overload(signature, target_context)
        except Exception as error:  # noqa: BLE001 - a damaged file may fail in any way
            logger.info("compiled code in %s cannot be read: %s", self.cache_path, error)
        return None

    def save_overload(self, signature: Any, data: Any) -> None:
        """Keep the compiled function if the folder can be written; replace what is damaged."""
        try:
            super().save_overload(signature, data)
        except OSError as error:
            logger.info("compiled code cannot be kept in %s: %s", self.cache_path, error)
        except Exception as error:  # noqa: BLE001 - a damaged index may fail in any way
            logger.info("the index in %s is damaged and begun anew: %s", self.cache_path, error)
            self.flush()
            super().save_overload(signature, data)


def inlined(function: Callable[..., Any]) -> Any:
    """Compile a small kernel into each that calls it: a call would pass dozens of pointers."""
    return njit(function, inline="always")


def compiled(function: Callable[..., Any]) -> Any:
    """Compile a kernel at its first call for each combination of argument types.

    No fastmath: rounding is accounted for. Division by zero gives infinity or NaN, as in numpy.
    """
    dispatcher = njit(function, nogil=True, error_model="numpy")
    if not config.DISABLE_JIT:
        dispatcher._cache = QuickCache(function)  # noqa: SLF001 - where numba itself puts it
    return dispatcher
