"""Terminal output: progress, width and encoding."""

from __future__ import annotations

import contextlib
import re
import shutil
import sys
import textwrap
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import rich.progress

    from gamedp.runtime.limit import Progress, ProgressCallback

__all__ = ["be_lenient", "columns", "fitted", "say", "watch"]

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


@contextlib.contextmanager
def watch(*, quiet: bool) -> Iterator[ProgressCallback | None]:
    """Yield a callback that shows progress on stderr; None if stderr is not a terminal.

    Parameters
    ----------
    quiet : bool
        Whether to hide progress.
    """
    if quiet or sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    display = Display()
    try:
        yield display.report
    finally:
        display.close()


def be_lenient() -> None:
    """Read invalid text in the terminal's encoding as a wrong answer, not as an error."""
    reconfigure = getattr(sys.stdin, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")


def columns() -> int | None:
    """Return the width of the terminal in characters; None if the output is redirected."""
    if sys.stdout is None or not sys.stdout.isatty():
        return None
    return shutil.get_terminal_size().columns


def say(text: str) -> None:
    """Print a text with the line breaks of `fitted`."""
    print(fitted(text))


def fitted(text: str) -> str:
    """Return a text; for a terminal, long lines are wrapped between words."""
    width = columns()
    return text if width is None else "\n".join(_wrapped(text, width))


def _wrapped(text: str, width: int) -> Iterator[str]:
    """Yield the wrapped lines of a text, indented to the second column if there is one.

    >>> list(_wrapped("  undo   take back your last action", 22))
    ['  undo   take back', '         your last', '         action']
    """
    for line in text.split("\n"):
        head = re.match(r" *\S+ {2,}(?=\S)| *", line)
        indent = len(head[0]) if head is not None else 0
        yield from textwrap.wrap(
            line,
            width,
            subsequent_indent=" " * (indent if indent < width // 2 else 0),
            break_long_words=False,
            break_on_hyphens=False,
        ) or [""]


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
