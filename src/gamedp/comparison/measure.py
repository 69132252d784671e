"""Measurement of methods in one process: the first call, compiling, and warm calls in turns."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Any

import attrs

from gamedp.comparison.methods import facts_of_error
from gamedp.runtime import compile_clock, jit
from gamedp.solvers.tools.base import require, to_solver_input

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from gamedp.comparison.measurement import Measurement
    from gamedp.comparison.methods import Call, ComparedMethod, ComparisonLimits, Facts, Task
    from gamedp.solvers.tools.prepared import Prepared

__all__ = ["measured", "refused"]

MIN_CALLS, MAX_CALLS = 3, 200
"""Numbers of warm calls: of a method that is not slow, and of one however quick."""


@attrs.define
class _Run:
    """One method at work on one problem.

    Attributes
    ----------
    method : ComparedMethod
    call : callable or None
        Solves the problem once; None if the method does not, or no longer.
    facts : dict
        Attributes of its row.
    warm : list of float
        Processor seconds of the warm calls.
    """

    method: ComparedMethod
    call: Call | None
    facts: Facts
    warm: list[float] = attrs.field(factory=list)

    def once(self) -> tuple[float, float]:
        """Call once; return seconds of the processor, and of compiling on the clock."""
        assert self.call is not None  # noqa: S101 - who calls has looked
        began, start = time.perf_counter(), time.process_time()
        spent = 0.0
        try:
            facts = self.call()
            spent = time.process_time() - start
            self.facts |= facts()
        except Exception as error:  # noqa: BLE001 - of any package; the others are unharmed
            # What it answered before is not trusted, nor is its time.
            self.facts = facts_of_error(error, type(self.method.tool).__name__)
            self.warm.clear()
            self.call = None
        if self.facts["status"] != "SOLVED" and self.facts["status"] != "UNPROVEN":
            self.call = None  # a limit: to reach it once more tells nothing
        return spent, compile_clock.seconds_within(time.perf_counter() - began)

    def is_done(self, seconds: float) -> bool:
        """Return whether there have been enough warm calls."""
        spent = sum(self.warm)
        if self.call is None or len(self.warm) >= MAX_CALLS:
            return True
        return spent >= seconds and (len(self.warm) >= MIN_CALLS or spent >= 3 * seconds)

    def row(self, task: Task) -> Measurement:
        """Return the row of what was measured so far."""
        return task.row(self.method, warm_seconds=tuple(self.warm), **self.facts)


def measured(
    task: Task,
    methods: Sequence[ComparedMethod],
    limits: ComparisonLimits,
    tell: Callable[[ComparedMethod], None],
) -> Iterator[Measurement]:
    """Yield the row of each method, once all have been measured.

    Parameters
    ----------
    task : Task
    methods : sequence of ComparedMethod
    limits : ComparisonLimits
    tell : callable
        Called with a method before each of its calls.
    """
    runs = []
    for method in methods:
        tell(method)
        run = _begun(task, method, limits)
        runs.append(run)
        if run.call is None:
            continue
        first, compiling = run.once()
        run.facts |= {"first_seconds": first, "compile_seconds": compiling}
        if run.call is not None:
            tell(method)
            with _kernels_compiled_at_once():
                _, more = run.once()
            run.facts["compile_seconds"] = compiling + more
    with _kernels_compiled_at_once():
        while not all(run.is_done(limits.seconds) for run in runs):
            for run in runs:
                if not run.is_done(limits.seconds):
                    tell(run.method)
                    seconds, _ = run.once()
                    if run.call is not None:
                        run.warm.append(seconds)
    for run in runs:
        yield run.row(task)


def refused(
    task: Task, method: ComparedMethod, limits: ComparisonLimits, prepared: Prepared | None
) -> Measurement | None:
    """Return the row of a method of gamedp's own that refuses a problem at once; else None.

    Others are not asked in this process, which they might end or never give back.
    """
    if method.kind == "peer" or not type(method.tool).__module__.startswith("gamedp."):
        return None
    run = _begun(task, method, limits, prepared)
    return run.row(task) if run.call is None else None


def _begun(
    task: Task, method: ComparedMethod, limits: ComparisonLimits, prepared: Prepared | None = None
) -> _Run:
    """Return the run of a method, before its first call; it is asked about a prepared problem."""
    try:
        call = task.call(method, limits)
        if prepared is not None and method.kind == "solver" and method.tool is not None:
            require(method.tool, to_solver_input(method.tool, prepared))
        return _Run(method, call, {})
    except Exception as error:  # noqa: BLE001 - of any package; the others are unharmed
        return _Run(method, None, facts_of_error(error, type(method.tool).__name__))


@contextlib.contextmanager
def _kernels_compiled_at_once() -> Iterator[None]:
    """Leave no kernel to plain Python: warm calls are those of a machine that has compiled all."""
    before: Any = jit.SECONDS_BEFORE_COMPILING
    jit.SECONDS_BEFORE_COMPILING = 0.0
    try:
        yield
    finally:
        jit.SECONDS_BEFORE_COMPILING = before
