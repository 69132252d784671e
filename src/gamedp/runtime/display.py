"""A bar that shows the progress of a long run, in a terminal or in a notebook."""

from __future__ import annotations

import contextlib
import sys
import threading
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Iterator

    import rich.progress

    from gamedp.runtime.limit import Progress, ProgressCallback

__all__ = ["Display", "bar"]

SECONDS_BEFORE_PROGRESS = 1.0
"""Seconds before progress is shown."""

PHASES = {
    "compile": "compiling",
    "explore": "looking for states",
    "solve": "solving",
    "verify": "verifying",
    "search": "searching",
    "play": "playing",
    "compare": "comparing",
}

CELLS = 24
"""Length of a bar in a notebook."""


@contextlib.contextmanager
def bar() -> Iterator[ProgressCallback | None]:
    """Yield a callback that shows a bar; None if there is neither a notebook nor a terminal."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if hasattr(shell, "kernel"):
        line = _Line()
        try:
            yield line.report
        finally:
            line.close()
    elif sys.stderr is not None and sys.stderr.isatty():
        display = Display()
        try:
            yield display.report
        finally:
            display.close()
    else:
        yield None


class _Line:
    """A bar of letters below the cell of a notebook; it is empty when the work is done."""

    def __init__(self) -> None:
        self._handle: Any = None

    def report(self, progress: Progress) -> None:
        """Write the bar anew."""
        self._write(_words(progress))

    def close(self) -> None:
        """Remove the bar."""
        if self._handle is not None:
            self._write("")

    def _write(self, text: str) -> None:
        from IPython import display  # noqa: PLC0415 - we run in one of its notebooks

        data, module = {"text/plain": text}, cast("Any", display)
        if self._handle is None:
            self._handle = module.display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)


def _words(progress: Progress) -> str:
    """Return a report as a line.

    >>> from gamedp.runtime.limit import Progress
    >>> _words(Progress("solve", 3, 4, 12.0, "states"))
    'solving [##################......] 75 %  states  12 s'
    >>> _words(Progress("explore", 3, None, 0.2, "3 states"))
    'looking for states  3 states  0 s'
    """
    share = ""
    if progress.total:
        part = min(progress.done / progress.total, 1.0)
        share = f" [{'#' * int(part * CELLS):.<{CELLS}}] {part:.0%}".replace("%", " %")
    phase = PHASES.get(progress.phase, progress.phase)
    return f"{phase}{share}  {progress.detail}  {progress.seconds:.0f} s"


class Display:
    """A progress line that appears after a moment, and disappears when the work is done.

    A timer starts it, not a report: while numba compiles a function, nothing is reported.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._bars: rich.progress.Progress | None = None
        self._task: rich.progress.TaskID | None = None
        self._last: Progress | None = None
        self._closed = False
        self._timer = threading.Timer(SECONDS_BEFORE_PROGRESS, self._show)
        self._timer.daemon = True
        self._timer.start()

    def report(self, progress: Progress) -> None:
        """Update the progress."""
        with self._lock:
            self._last = progress
            self._update()

    def close(self) -> None:
        """Remove the line."""
        self._timer.cancel()
        with self._lock:
            self._closed = True
            if self._bars is not None:
                self._bars.stop()

    def _show(self) -> None:
        """Start drawing the bar, unless the work is over."""
        from rich.console import Console  # noqa: PLC0415 - most runs end before they need it
        from rich.progress import BarColumn, Progress, SpinnerColumn, TimeElapsedColumn  # noqa: PLC0415

        with self._lock:
            if self._closed:
                return
            self._bars = Progress(
                SpinnerColumn(),
                "{task.description}",
                BarColumn(),
                "{task.fields[detail]}",
                TimeElapsedColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._task = self._bars.add_task(
                "compiling", total=None, detail="only the first time: the result is kept"
            )
            self._update()
            self._bars.start()

    def _update(self) -> None:
        """Redraw the line with the last report."""
        if self._bars is None or self._task is None or self._last is None:
            return
        last = self._last
        self._bars.update(
            self._task,
            description=PHASES.get(last.phase, last.phase),
            completed=last.done,
            total=last.total,
            detail=last.detail,
        )
