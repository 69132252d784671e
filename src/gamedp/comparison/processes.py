"""Measurement of each method in a process of its own, which is ended at its limits.

The problem goes to the child in a file. The child writes a line
whenever it begins a call or to compile something, and its row at the end. It ends when its parent
does.
"""

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

from gamedp.comparison.measure import measured, refused
from gamedp.comparison.measurement import Measurement
from gamedp.comparison.methods import Task
from gamedp.errors import InvalidParameterError
from gamedp.runtime import compile_clock
from gamedp.runtime.machine import peak_bytes, resident_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from gamedp.comparison.methods import ComparedMethod, ComparisonLimits, Facts

__all__ = ["measured_apart", "serve"]

GRACE = 10.0
"""Seconds beyond its limit after which a call, or the compilation of one function, is ended."""

MAX_OUTPUT_BYTES = 1 << 20
"""Largest number of bytes kept of what a child writes: the last ones."""

TICK = 0.05
"""Seconds between two looks at the memory of a child."""

COMMAND = "from gamedp.comparison.processes import serve; serve()"


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
