"""Measurement of methods: first calls, compiling, warm calls in turns; in processes or not."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import selectors
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from gamedp.comparison.measurement import Measurement
from gamedp.comparison.methods import Task, facts_of_error
from gamedp.errors import InvalidParameterError
from gamedp.runtime import compile_clock, jit
from gamedp.runtime.machine import peak_bytes, resident_bytes
from gamedp.solvers.tools.base import require, to_solver_input

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from gamedp.comparison.methods import Call, ComparedMethod, ComparisonLimits, Facts
    from gamedp.solvers.tools.prepared import Prepared


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


GRACE = 10.0
"""Seconds beyond its limit after which a call, or the compilation of one function, is ended."""

MAX_OUTPUT_BYTES = 1 << 20
"""Largest number of bytes kept of what a child writes: the last ones."""

TICK = 0.05
"""Seconds between two looks at the memory of a child."""

COMMAND = "from gamedp.comparison.measure import serve; serve()"


def measured_apart(
    task: Task,
    methods: Sequence[ComparedMethod],
    limits: ComparisonLimits,
    tell: Callable[[ComparedMethod], None],
) -> Iterator[Measurement]:
    """Yield the row of each method, measured in a process of its own if it supports the problem.

    Parameters are those of :func:`gamedp.comparison.measure.measured`.

    Raises
    ------
    InvalidParameterError
        If a game or a solver cannot be sent to a process.
    """
    if not methods:
        return
    with tempfile.TemporaryDirectory(prefix="gamedp-compare-") as folder:
        path = Path(folder, "task")
        Path(folder, "path").write_text(json.dumps(sys.path), encoding="utf-8")
        _dump(path, task)
        prepared = task.prepared()
        for method in methods:
            tell(method)
            _dump(Path(folder, "method"), (method, limits))
            row = refused(task, method, limits, prepared)
            yield row or _row_of_child(path, task, method, limits)


def _dump(path: Path, thing: Any) -> None:
    """Write an object for the child."""
    try:
        _refuse_main(thing)
        with path.open("wb") as file:
            pickle.dump(thing, file, protocol=5)  # locked arrays stay locked
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        message = (
            f"a process of its own cannot get this problem: {error}. Put classes into a file, or "
            "compare without processes."
        )
        raise InvalidParameterError(message) from error


def _refuse_main(thing: Any) -> None:
    """Raise TypeError if the class of a game or solver is in the program that was started."""
    part = thing.game if isinstance(thing, Task) else thing[0].tool
    if type(part).__module__ == "__main__":
        message = f"{type(part).__name__} is defined in the program itself or in a notebook"
        raise TypeError(message)


def _load(path: Path) -> Any:
    """Return an object that `_dump` has written."""
    with path.open("rb") as file:
        return pickle.load(file)  # noqa: S301 - from our own parent


def serve() -> None:
    """Measure one method, as the child: read the folder from the command line, write the row."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)  # what rules print does not get among the rows
    threading.Thread(target=_end_with_parent, daemon=True).start()
    path = Path(sys.argv[1])
    sys.path[:] = json.loads(path.with_name("path").read_text(encoding="utf-8"))
    method, limits = _load(path.with_name("method"))
    task = _load(path)

    def alive(*_: object) -> None:
        out.write("\n")

    with compile_clock.reporting_compilation(alive):
        (row,) = measured(task, [method], limits, alive)
    out.write(attrs.evolve(row, peak_bytes=peak_bytes()).to_json() + "\n")


def _end_with_parent() -> None:
    """End the process when the other end of its input is closed."""
    os.read(0, 1)  # nothing is ever written; a buffered reader would be locked at the end
    os._exit(1)


def _row_of_child(
    path: Path, task: Task, method: ComparedMethod, limits: ComparisonLimits
) -> Measurement:
    """Run a child to its end or its limits; return its row."""
    child = subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-c", COMMAND, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,  # Ctrl-C is ours to handle
    )
    try:
        found = _answer_of(child, limits)
    finally:
        _kill(child)
    if isinstance(found, str):
        return Measurement.from_facts(json.loads(found))
    return task.row(method, **found)


def _answer_of(child: subprocess.Popen[bytes], limits: ComparisonLimits) -> str | Facts:
    """Return the last line of a child, or the facts of one that was ended or has failed."""
    assert child.stdout is not None and child.stderr is not None  # noqa: S101, PT018 - both are pipes
    texts = {child.stdout: b"", child.stderr: b""}
    longest = limits.max_seconds + GRACE
    heard = time.monotonic()
    with selectors.DefaultSelector() as selector:
        for pipe in texts:
            selector.register(pipe, selectors.EVENT_READ)
        while selector.get_map():
            for key, _ in selector.select(TICK):
                data = os.read(key.fd, 1 << 16)
                told: Any = key.fileobj
                texts[told] = (texts[told] + data)[-MAX_OUTPUT_BYTES:]
                if not data:
                    selector.unregister(told)
                elif told is child.stdout:
                    heard = time.monotonic()
            if time.monotonic() - heard > longest:
                reason = (
                    f"ended {longest:g} s after its last call began, {GRACE:g} s past its limit."
                )
                return {"status": "OUT_OF_TIME", "reason": reason}
            if limits.max_bytes is not None and resident_bytes(child.pid) > limits.max_bytes:
                reason = f"ended at {limits.max_bytes:,.0f} bytes."
                return {"status": "OUT_OF_MEMORY", "reason": reason}
    code = child.wait()
    if code == 0:
        return texts[child.stdout].decode().splitlines()[-1]
    words = texts[child.stderr].decode(errors="replace").strip().splitlines()
    ended = f"ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
    reason = f"its process {ended}{f': {words[-1]}' if words else ''}"
    return {"status": "FAILED", "reason": reason}


def _kill(child: subprocess.Popen[bytes]) -> None:
    """End a child and all that it has started, unless it is over."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(child.pid, signal.SIGKILL)
        else:
            child.kill()
    child.wait()
    for pipe in (child.stdin, child.stdout, child.stderr):
        if pipe is not None:
            pipe.close()
