"""The command line: ``gamedp solve wubbel`` and the other commands.

A command imports only what it needs, so that it starts fast and can be used for small questions.
"""

from __future__ import annotations

import _thread
import contextlib
import gc
import io
import os
import re
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from gamedp.errors import (
    CompilationWarning,
    GamedpError,
    InvalidParameterError,
    KeptSolutionWarning,
    UnknownNameError,
)
from gamedp.runtime.registry import load, registered

if TYPE_CHECKING:
    from cyclopts import App

__all__ = ["main", "make_app"]

PLUGINS = "gamedp.commands"
"""The entry point group of commands."""

DEBUG = "--debug"
"""Option of all commands that shows the traceback of an error instead of one line."""

OURS = "gamedp: "
"""Prefix of a note that says which of the rules has raised an error."""

OF_ALL = ("help", "completion")
"""Commands that describe all the others."""

FAILED, USAGE, INTERRUPTED, BROKEN_PIPE = 1, 2, 130, 141
"""Exit codes other than 0; the last two are those that a shell reports for SIGINT and SIGPIPE."""

AGAIN, ONCE_MORE = 0.01, 1.0
"""Seconds before Ctrl-C is sent again if Python could not handle it, and before it is sent once
more if that was too early.
"""

IN_OPTIONS = (
    (r"(?:the objective )?TotalReward\(draw=([^()]*)\)", r"--draw \1"),
    (r"Discounted with a discount near one, or FiniteHorizon\b", "--discount 0.999, or --horizon"),
    (r"\bmax_(states|seconds|bytes)= ?", r"--max-\1 "),
    (r"\b([Rr])aise max_seconds\b", r"\1aise --max-seconds"),
    (r"\b([Rr])aise (max_sweeps|max_policies)\b", r"\1aise it by --option \2=..."),
    (r"\bcompile='never'", "--compile never"),
    (r"\bname a field for each axis", "name a field for each axis by --fields"),
    (r"\bwith relative=True", "with --relative"),
    (r"\bgamedp\.solvers\.ExactPolicyIteration\(\)", "--solver exact-policy-iteration"),
    (r"([Rr])ead \.solution on this error", r"\1ead the bounds above"),
    (r"are in \.solution on this error", "are above"),
)
"""Ways out of an error as Python's words name them: a pattern, and the options in its place."""

EXAMPLES = """\
Examples:

gamedp solve wubbel --set goal=100

gamedp query wubbel --state own=0,opponent=24,turn=17

gamedp solve nim --set heaps=3,5,7 --set misere=true --json

gamedp search mancala --set stones=4 --depth 12

gamedp kniffel - 8 - 16 15 - 15 9 25 30 40 - - 3 13345

gamedp kniffel - 8 - 16 15 - 15 9 25 30 40 - - 3 13345 --target 250

Add --debug to any command to see where an error was raised.
"""

COMMANDS = {
    "solve": "gamedp.cli.solve:solve",
    "query": "gamedp.cli.query:query",
    "plot": "gamedp.cli.plot:plot",
    "explain": "gamedp.cli.small:explain",
    "verify": "gamedp.cli.verify:verify",
    "compare": "gamedp.cli.compare:compare",
    "search": "gamedp.cli.search:search",
    "perft": "gamedp.cli.small:perft",
    "play": "gamedp.cli.play:play",
    "serve": "gamedp.cli.serve:serve",
    "selfplay": "gamedp.cli.tournament:selfplay",
    "evaluate": "gamedp.cli.evaluate:evaluate",
    "respond": "gamedp.cli.evaluate:respond",
    "tournament": "gamedp.cli.tournament:tournament",
    "simulate": "gamedp.cli.evaluate:simulate",
    "referee": "gamedp.cli.small:referee",
    "tables": "gamedp.cli.tables:tables",
    "games": "gamedp.cli.lists:games",
    "solvers": "gamedp.cli.lists:solvers",
    "searchers": "gamedp.cli.lists:searchers",
    "grundy": "gamedp.cli.small:grundy",
    "new": "gamedp.cli.new:new",
    "help": "gamedp.cli.small:print_help",
    "completion": "gamedp.cli.small:completion",
}
"""The function of each command, imported on demand. Commands of plugins come after them."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        The arguments after ``gamedp``; those of the process if not given.

    Returns
    -------
    int
        0 on success; 2 for a name, a parameter or an option that does not exist or makes no sense;
        1 for any other error; 130 after Ctrl-C; 141 if the output is closed.
    """
    if arguments is not None:
        return _guarded(list(arguments))
    # Hundreds of modules are imported and a few arrays made, none of which is garbage. Not
    # collecting any, now and as the process ends, saves a fifth of the time of a small question.
    gc.set_threshold(1_000_000)
    code = _guarded(sys.argv[1:])
    gc.freeze()
    return code


def _guarded(tokens: list[str]) -> int:
    """Run a command; end quietly if it is stopped."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A name that the terminal's encoding lacks is printed escaped, without an error.
        sys.stdout.reconfigure(errors="backslashreplace")
    options = tokens[: tokens.index("--")] if "--" in tokens else tokens
    debug = DEBUG in options
    if debug:
        tokens = [token for token in options if token != DEBUG] + tokens[len(options) :]
    usual, ended = sys.unraisablehook, threading.Event()
    sys.unraisablehook = _not_swallowed(usual, ended)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            return _run(tokens, debug=debug)
    except KeyboardInterrupt as error:
        ended.set()
        _flush_or_drop()
        return _complain(str(error) or "interrupted.", INTERRUPTED)
    finally:
        ended.set()
        sys.unraisablehook = usual


def _not_swallowed(
    usual: Callable[[Any], object], ended: threading.Event
) -> Callable[[Any], object]:
    """Return a hook for errors that Python must ignore, which sends Ctrl-C until it is handled.

    Where C calls Python back, as LLVM does for numba while it compiles, no error can be raised, nor
    can it here. So another thread sends it, usually after the call is over, but on a busy machine
    possibly before.
    """
    started = threading.Event()
    sender = threading.Thread(target=_press_ctrl_c, args=(started, ended), daemon=True)

    def hook(unraisable: Any) -> None:
        if not issubclass(unraisable.exc_type, KeyboardInterrupt):
            usual(unraisable)
        elif sender.ident is None:
            try:
                sender.start()
            finally:
                started.set()

    return hook


def _press_ctrl_c(started: threading.Event, ended: threading.Event) -> None:
    """Send the signal of Ctrl-C to the main thread; wake it up where the system can."""
    started.wait()  # or it would be ignored where this thread is started
    main_thread = threading.main_thread().ident
    seconds = AGAIN
    while not ended.wait(seconds):
        if hasattr(signal, "pthread_kill") and main_thread is not None:
            signal.pthread_kill(main_thread, signal.SIGINT)
        else:
            _thread.interrupt_main()
        seconds = ONCE_MORE


def _run(tokens: list[str], *, debug: bool) -> int:
    """Run a command; turn an error into one line and an exit code, or its traceback for `debug`."""
    from cyclopts import CycloptsError  # noqa: PLC0415 - inside the reach of Ctrl-C

    try:
        is_own = bool(tokens) and tokens[0] in COMMANDS and tokens[0] not in OF_ALL
        app = make_app(plugins=not is_own)
        if not tokens or (tokens[0].startswith("-") and tokens[0] != "--version"):
            app.resolved_commands()  # the help page shows the help of each command
        with _unwrapped():
            app(tokens, exit_on_error=False, print_error=False, result_action="return_value")
        print(end="", flush=True)
    except (CycloptsError, InvalidParameterError, UnknownNameError) as error:
        if debug:
            raise
        return _complain(_usage_words(error, tokens), USAGE)
    except BrokenPipeError:
        _flush_or_drop()
        return BROKEN_PIPE
    except (GamedpError, OSError) as error:
        _flush_or_drop()
        if debug:
            raise
        return _complain(_in_words(error), FAILED)
    except MemoryError:
        return _complain("out of memory; --max-bytes sets a limit that stops earlier.", FAILED)
    except Exception as error:
        raised_in = [note for note in getattr(error, "__notes__", ()) if note.startswith(OURS)]
        if debug or not raised_in:
            raise
        _flush_or_drop()
        return _complain(_where(error, raised_in[0].removeprefix(OURS)), FAILED)
    return 0


@contextlib.contextmanager
def _unwrapped() -> Iterator[None]:
    """Raise KeyboardInterrupt for an error that it has caused: other code may have converted it.

    C code does so if it calls Python and takes any error for its own, such as a failed import.
    """
    try:
        yield
    except Exception as error:
        reason: BaseException | None = error
        while reason is not None and not isinstance(reason, KeyboardInterrupt):
            reason = reason.__cause__ or reason.__context__
        if reason is not None:
            raise KeyboardInterrupt from error
        raise


def _where(error: Exception, raised_in: str) -> str:
    """Describe what the rules have raised, and in which line of theirs, without our own frames."""
    import sysconfig  # noqa: PLC0415 - only for this
    import traceback  # noqa: PLC0415 - likewise

    name = type(error).__name__
    what = f"{name}: {error}" if str(error) else name
    frames = traceback.extract_tb(error.__traceback__)
    others = tuple(sysconfig.get_paths()[key] for key in ("stdlib", "purelib", "platlib"))
    own = [frame for frame in frames if not frame.filename.startswith(others)]
    place = (own or frames)[-1]
    return (
        f"{what}, {raised_in}, at {place.filename}, line {place.lineno}: {place.line} "
        f"({DEBUG} shows the full traceback.)"
    )


def _usage_words(error: Exception, tokens: list[str]) -> str:
    """Return what is wrong with a command line; name the words that cannot be interpreted."""
    from cyclopts import UnusedCliTokensError  # noqa: PLC0415 - comes with the commands

    if not isinstance(error, UnusedCliTokensError):
        return str(error)
    words = error.unused_tokens or []
    unused = " ".join(words)
    if all("=" in word[1:] for word in words) and hasattr(error.target, "__annotations__"):
        meant = " ".join(f"--set {word}" for word in words)
        if "settings" in error.target.__annotations__:  # it makes a game
            return f"`gamedp {tokens[0]}` takes no {unused!r} here; did you mean `{meant}`?"
    return (
        f"`gamedp {tokens[0]}` takes no {unused!r} here; `gamedp help {tokens[0]}` lists what it "
        "takes."
    )


def _in_words(error: Exception) -> str:
    """Return an error in words; for a file, its name without the system's error number."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def _flush_or_drop() -> None:
    """Write the remaining output; drop it on failure, or Python would complain at exit."""
    try:
        print(end="", flush=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def make_app(*, plugins: bool = True) -> App:
    """Return the table of commands. A command is imported only when it is needed.

    Parameters
    ----------
    plugins : bool
        Whether to include the commands of plugins; one that cannot be loaded is left out with a
        warning, and none replaces another command.
    """
    from cyclopts import App, Parameter  # noqa: PLC0415 - inside the reach of Ctrl-C

    app = App(
        name="gamedp",
        help=(
            "Solves games and Markov decision processes: the value of every position, between "
            "proven bounds, and the best action."
        ),
        help_epilogue=EXAMPLES,
        version=_version,
        version_format="plaintext",
        default_parameter=Parameter(negative=()),
        suppress_keyboard_interrupt=False,
    )
    for order, (name, home) in enumerate(COMMANDS.items()):
        app.command(home, name=name, sort_key=order, help_epilogue="")
    for name, command in _commands_of_plugins() if plugins else ():
        app.command(command, name=name, sort_key=len(COMMANDS), help_epilogue="")
    return app


def _commands_of_plugins() -> Iterator[tuple[str, Callable[..., None]]]:
    """Yield the commands that packages register in the entry point group ``gamedp.commands``."""
    for name, point in registered(PLUGINS).items():
        if name in COMMANDS:
            message = f"{point.value} is left out: {name} is a command of gamedp itself."
        else:
            try:
                yield name, load(point)
            except UnknownNameError as error:
                message = str(error)
            else:
                continue
        print(f"gamedp: warning: {message}", file=sys.stderr)


def _version() -> str:
    from importlib.metadata import version  # noqa: PLC0415 - for --version alone

    return version("gamedp")


def _complain(message: str, code: int) -> int:
    """Report an error on one line of stderr."""
    print("gamedp:", _in_options(message), file=sys.stderr)
    return code


def _in_options(message: str) -> str:
    """Return a message on one line, its ways out as options."""
    message = " ".join(message.split())
    for pattern, words in IN_OPTIONS:
        message = re.sub(pattern, words, message)
    return message


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Show warnings of compiling and computing as one line, without the line of our code."""
    if issubclass(category, (CompilationWarning, KeptSolutionWarning, RuntimeWarning)):
        text = f"gamedp: warning: {_in_options(str(message))}\n"
    else:
        text = warnings.formatwarning(message, category, filename, lineno, line)
    (file or sys.stderr).write(text)
