"""Reports of the progress of a long run, shown as a bar; and its limits of time and work."""

from __future__ import annotations

import contextlib
import functools
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ParamSpec, TypeAlias, TypeVar, cast

import attrs

from gamedp.errors import InvalidParameterError, shown
from gamedp.runtime import compile_clock

if TYPE_CHECKING:
    import rich.progress


@attrs.frozen
class Progress:
    """The progress of a phase.

    Attributes
    ----------
    phase : str
        ``"explore"``, ``"solve"``, ``"verify"``, ``"search"``, ``"play"`` or ``"compare"``; or
        ``"compile"``, while the others wait for numba, which happens the first time only.
    done : int
        States explored or solved so far, or sweeps, positions or games done, or functions compiled.
    total : int or None
        Out of how many, where that is known.
    seconds : float
        Since the phase began.
    detail : str
        In words.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> met: list[gamedp.Progress] = []
    >>> solution = gamedp.solve(Matches(matches=18), compile="never", progress=met.append)
    >>> {one.phase for one in met} <= {"compile", "explore", "solve"}  # the longer, the more
    True
    """

    phase: str
    done: int
    total: int | None
    seconds: float
    detail: str


ProgressCallback: TypeAlias = Callable[[Progress], None]

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def shows_progress(verb: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Let a function that takes a callback `progress` take True for it, and show a bar then."""

    @functools.wraps(verb)
    def showing(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        if kwargs.get("progress") is not True:
            return verb(*args, **kwargs)
        with bar() as report:
            kwargs["progress"] = report
            return verb(*args, **kwargs)

    return showing


def callback_of(progress: ProgressCallback | bool | None) -> ProgressCallback | None:
    """Return the callback of a function that `shows_progress`.

    Raises
    ------
    InvalidParameterError
        If it cannot be called, and is neither a truth value nor None.
    """
    given: Any = progress
    if given is None or given is False or given is True:
        return None
    if not callable(given):
        message = f"progress is {shown(given)}; it must be True or be called with a Progress."
        raise InvalidParameterError(message)
    callback: ProgressCallback = given
    return callback


INTERVAL = 0.1
"""Least number of seconds between two reports."""


def without_compiling(seconds: float) -> float:
    """Return how many of the last seconds this thread has not spent compiling."""
    return seconds - compile_clock.seconds_within(seconds)


class Reporter:
    """Passes on reports of one phase, no more often than a person can read them."""

    def __init__(self, callback: ProgressCallback | None, phase: str) -> None:
        self._callback = callback
        self._phase = phase
        self._start = time.perf_counter()
        self._last = self._start

    @property
    def seconds(self) -> float:
        """Seconds since the phase began."""
        return time.perf_counter() - self._start

    @property
    def spent(self) -> float:
        """Seconds since the phase began that count against a limit: without compiling by numba."""
        return without_compiling(self.seconds)

    @property
    def is_due(self) -> bool:
        """Whether a report would be passed on now: there is a callback, and none was just sent."""
        return self._callback is not None and time.perf_counter() - self._last >= INTERVAL

    def report(self, done: int, total: int | None, detail: str) -> None:
        """Pass the report on, unless the last one was a moment ago."""
        if self._callback is not None and self.is_due:
            self._last = now = time.perf_counter()
            self._callback(Progress(self._phase, done, total, now - self._start, detail))


class Budget(Reporter):
    """Limits the time of a piece of work and what it counts, and reports its progress.

    Parameters
    ----------
    progress : callable or None
    phase : str
        See :class:`gamedp.Progress`.
    max_seconds : float
        From now on.
    max_count : float
    count : callable, optional
        Returns what has been counted so far: nodes, states or sweeps.
    """

    def __init__(
        self,
        progress: ProgressCallback | None,
        phase: str,
        max_seconds: float = float("inf"),
        max_count: float = float("inf"),
        count: Callable[[], int] = int,
    ) -> None:
        super().__init__(progress, phase)
        self.max_seconds = max_seconds
        self.max_count = max_count
        self.count = count

    @property
    def is_late(self) -> bool:
        """Whether the time is up."""
        return self.spent > self.max_seconds

    @property
    def is_spent(self) -> bool:
        """Whether a limit is reached."""
        return self.is_late or self.count() >= self.max_count


class Limit:
    """A time limit that returns, when called, whether time is up; the first call starts the clock.

    Compiling by numba is not counted: it happens once on each machine.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._is_endless = seconds == float("inf")
        self._began: float | None = None

    def __call__(self) -> bool:
        """Return whether no time is left."""
        return not self._is_endless and self._spent() > self._seconds

    @property
    def left(self) -> float:
        """The number of seconds left; always positive."""
        if self._is_endless:
            return self._seconds
        return max(self._seconds - self._spent(), min(self._seconds, 1e-9))

    def _spent(self) -> float:
        if self._began is None:
            self._began = time.perf_counter()
        return without_compiling(time.perf_counter() - self._began)


def with_time_left(solver: Any, limit: Limit) -> Any:
    """Return the solver with no more time than is left, if it has a time limit."""
    most = getattr(solver, "max_seconds", None)
    if most is None or limit.left >= most:
        return solver
    return attrs.evolve(solver, max_seconds=limit.left)


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
        line = _NotebookBar()
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


class _NotebookBar:
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
