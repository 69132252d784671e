"""The command line: ``gamedp solve wubbel`` and its kin.

Whatever a command does not need is not imported: what starts fast is used for small questions, too.
"""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

from gamedp.errors import CompilationWarning, GamedpError, InvalidParameterError, UnknownNameError

if TYPE_CHECKING:
    from cyclopts import App

__all__ = ["main"]

FAILED, USAGE, INTERRUPTED, BROKEN_PIPE = 1, 2, 130, 141
"""Exit codes other than 0; the last two are what a shell reports for SIGINT and SIGPIPE."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        What follows ``gamedp``; what the process was started with if not given.

    Returns
    -------
    int
        0 if all went well; 2 for a name, a parameter or an option that does not exist or makes no
        sense; 1 if something else stood in the way; 130 after Ctrl-C; 141 if nobody reads the
        output any more.
    """
    _show_what_cannot_be_encoded()
    tokens = list(sys.argv[1:] if arguments is None else arguments)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            code = _run(tokens)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return _complain("interrupted.", INTERRUPTED)
    except BrokenPipeError:
        # What is left in the buffer goes nowhere; else Python complains once more as it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    return code


def _run(tokens: list[str]) -> int:
    """Run a command; turn what went wrong into one line and an exit code."""
    from cyclopts import CycloptsError  # noqa: PLC0415 - inside the reach of Ctrl-C

    try:
        _app()(tokens, exit_on_error=False, print_error=False, result_action="return_value")
    except (CycloptsError, InvalidParameterError, UnknownNameError) as error:
        return _complain(str(error), USAGE)
    except BrokenPipeError:
        raise
    except (GamedpError, OSError) as error:
        return _complain(str(error), FAILED)
    except MemoryError:
        return _complain(
            "memory is full; --max-bytes stops earlier and says how far it got.", FAILED
        )
    return 0


def _app() -> App:
    """Make the table of commands; none of them is imported before it is asked for."""
    from cyclopts import App, Parameter  # noqa: PLC0415 - inside the reach of Ctrl-C

    app = App(
        name="gamedp",
        help=(
            "Solves games and Markov decision processes: the value of every position, between "
            "proven bounds, and the best action."
        ),
        version=_version,
        default_parameter=Parameter(negative=()),
        suppress_keyboard_interrupt=False,
    )
    for home, name in (
        ("solve:solve", "solve"),
        ("query:query", "query"),
        ("explain:explain", "explain"),
        ("lists:games", "games"),
        ("lists:solvers", "solvers"),
    ):
        app.command(f"gamedp.cli.{home}", name=name)
    return app


def _version() -> str:
    from importlib.metadata import version  # noqa: PLC0415 - for --version alone

    return version("gamedp")


def _complain(message: str, code: int) -> int:
    """Say on one line of stderr what went wrong."""
    print("gamedp:", " ".join(message.split()), file=sys.stderr)
    return code


def _show_warning(  # noqa: PLR0913, PLR0917 - the signature is Python's
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Show our own warnings as one line, without the place in our code that raised them."""
    if issubclass(category, CompilationWarning):
        text = f"gamedp: warning: {message}\n"
    else:
        text = warnings.formatwarning(message, category, filename, lineno, line)
    (file or sys.stderr).write(text)


def _show_what_cannot_be_encoded() -> None:
    """Make a name that the terminal's encoding lacks come out escaped, not as an error."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
