"""A sweeper of plain rules that switches to compiled ones when that pays."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from gamedp.stages.model import Contexts, Onward, Sweep, Sweeper
    from gamedp.stages.vector_code import Program

__all__ = ["PatientSweeper"]

PATIENCE = 1.0
"""Seconds of processor time in plain Python before the rules are compiled, which takes seconds."""


class PatientSweeper:
    """Sweeps in plain Python for a second, and then by compiled rules.

    Both give the same values. Several threads may sweep concurrently.

    Parameters
    ----------
    plain : Sweeper
    make : callable
        Returns the sweeper of compiled rules, or None if they do not compile.
    """

    def __init__(self, plain: Sweeper, make: Callable[[], Sweeper | None]) -> None:
        self._plain = plain
        self._make = make
        self._compiled: Sweeper | None = None
        self._seconds = 0.0
        self._lock = threading.Lock()

    def _call(self, name: str, *arguments: Any, **options: Any) -> Any:
        """Call the present sweeper."""
        with self._lock:
            if self._seconds > PATIENCE:
                self._compiled = self._make()
                self._seconds = float("-inf")
        begin = time.thread_time()
        answer = getattr(self._compiled or self._plain, name)(*arguments, **options)
        with self._lock:
            self._seconds += time.thread_time() - begin
        return answer

    def survey(self) -> Contexts:
        """Examine every combination of the box."""
        contexts: Contexts = self._call("survey")
        return contexts

    def sweep(
        self,
        program: Program,
        codes: NDArray[np.int64],
        values: NDArray[np.float64],
        *,
        weights: bool = False,
        writes: bool = True,
    ) -> Sweep:
        """Sweep the stage for the contexts `codes`."""
        sweep: Sweep = self._call("sweep", program, codes, values, weights=weights, writes=writes)
        return sweep

    def follow(self, codes: NDArray[np.int64]) -> Onward:
        """Return the successors of the contexts `codes` after each end of the stage."""
        onward: Onward = self._call("follow", codes)
        return onward

    def unroll(self, program: Program, columns: int, *, unrolls: bool | None) -> Program:
        """Return the program as unrolled machine code, which calls no rules."""
        return self._plain.unroll(program, columns, unrolls=unrolls)
