"""Entry point of ``gamedp`` and ``python -m gamedp``: the command line.

Importing it takes a while; during that, Ctrl-C ends the process as it does later.
"""

import sys
from collections.abc import Callable
from typing import Any

__all__ = ["main"]

INTERRUPTED = 130
"""The exit code that a shell reports for SIGINT."""


def main() -> int:
    """Run the command line, and return the exit code."""
    try:
        try:
            return _imported()()
        except KeyboardInterrupt:  # while it was imported, or a second one within the first
            _leave_alone()
            sys.stderr.write("gamedp: interrupted.\n")
            return INTERRUPTED
        finally:
            _leave_alone()
    except KeyboardInterrupt:  # once more, before that
        return INTERRUPTED


def _imported() -> Callable[[], int]:
    """Import and return the command line; raise a KeyboardInterrupt that the import swallowed."""
    usual, swallowed = sys.unraisablehook, []

    def hook(unraisable: Any) -> None:
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            swallowed.append(True)
        else:
            usual(unraisable)

    sys.unraisablehook = hook
    try:
        from gamedp.cli import main as command  # noqa: PLC0415 - inside the reach of Ctrl-C
    finally:
        sys.unraisablehook = usual
    if swallowed:
        raise KeyboardInterrupt
    return command


def _leave_alone() -> None:
    """Let Ctrl-C end the process immediately from now on: only exiting is left."""
    import signal  # noqa: PLC0415 - as above

    signal.signal(signal.SIGINT, signal.SIG_DFL)


if __name__ == "__main__":
    sys.exit(main())
