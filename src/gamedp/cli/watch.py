"""Terminal output: progress, width and encoding."""

from __future__ import annotations

import contextlib
import re
import shutil
import sys
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gamedp.runtime.limit import Display

if TYPE_CHECKING:
    from gamedp.runtime.limit import ProgressCallback

__all__ = ["be_lenient", "columns", "fitted", "say", "watch"]


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
