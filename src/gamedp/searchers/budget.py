"""The limits of a search, and Ctrl-C, which are checked between two slices of its work."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from typing import TYPE_CHECKING, TypeVar

from gamedp.errors import SearchInterrupted
from gamedp.results.status import Status
from gamedp.runtime.limit import Budget
from gamedp.runtime.slices import FIRST_NODES, MOST_NODES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from gamedp.runtime.limit import ProgressCallback

__all__ = ["OutOfTime", "SearchBudget", "run_until_ctrl_c"]

Result = TypeVar("Result")


class OutOfTime(Exception):  # noqa: N818 - not an error: a search ends early by it
    """A limit of time or of nodes was reached."""


class SearchBudget(Budget):
    """The budget of a search, checked between two slices of it.

    Parameters
    ----------
    max_seconds, max_nodes : float
    progress : callable or None
    count : callable
        Returns the nodes so far.
    total : int, optional
        Their final number, if known.
    unit : str
        The plural noun for the units counted.

    Attributes
    ----------
    interrupted : bool
        Whether Ctrl-C has been pressed; that ends the slice at work, as a limit does.
    """

    def __init__(
        self,
        max_seconds: float,
        max_nodes: float,
        progress: ProgressCallback | None,
        count: Callable[[], int],
        *,
        total: int | None = None,
        unit: str = "nodes",
    ) -> None:
        super().__init__(progress, "search", max_seconds, max_nodes, count)
        self._total = total
        self._unit = unit
        self._slice = FIRST_NODES
        self._last_look = time.perf_counter()
        self._seen = 0
        self.detail = ""
        self.interrupted = False

    def for_line(self) -> SearchBudget:
        """Return the limits of following best play: as much as the search took.

        But at most a tenth of the limits, if there are any.
        """
        return self._for_more(1.0, self.count(), self.count)

    def for_lengths(self, count: Callable[[], int]) -> SearchBudget:
        """Return the limits of another search, with its own `count`, for the length of play.

        A tenth of the work of this one, or of its limits if that is less.
        """
        return self._for_more(0.1, 0, count)

    def _for_more(self, share: float, first: int, count: Callable[[], int]) -> SearchBudget:
        """Return limits of about a share of the search's work; nodes count from the first."""
        seconds = 1.0 if self.interrupted else max(1.0, share * self.seconds)
        nodes = min(share * self.count() + 10_000, self.max_count / 10)
        return SearchBudget(min(seconds, self.max_seconds / 10), first + nodes, None, count)

    def next_slice(self) -> int:
        """Return the number of nodes until the next check: about a twentieth of a second.

        Raises
        ------
        OutOfTime
            If there is none left, or time is up: many short runs, each over before its slice is,
            are together as long as one long run.
        """
        if self.count() - self._seen >= self._slice:
            self.look()
        left = self.max_count - self.count()
        if left <= 0:
            raise OutOfTime
        return int(min(self._slice, max(1, left)))

    def look(self) -> None:
        """Report progress, and raise OutOfTime at a limit."""
        now = time.perf_counter()
        if now - self._last_look < 0.02:
            self._slice = min(2 * self._slice, MOST_NODES)
        elif now - self._last_look > 0.1:
            self._slice = max(self._slice // 2, 1)
        self._last_look = now
        nodes = self._seen = self.count()
        self.report(nodes, self._total, f"{self.detail}{nodes:,} {self._unit}")
        if self.interrupted or self.is_spent:
            raise OutOfTime

    @property
    def status(self) -> Status:
        """The limit that has ended the search."""
        if self.interrupted:
            return Status.INTERRUPTED
        return Status.TIME_LIMIT if self.is_late else Status.NODE_LIMIT


def run_until_ctrl_c(budget: SearchBudget, search: Callable[[], Result]) -> Result:
    """Return the result of a search; Ctrl-C ends it between two slices, so its tables stay intact.

    Pressed a second time, it ends the search immediately.

    Raises
    ------
    SearchInterrupted
        After Ctrl-C; its `result` is what is known so far.
    """
    with _note_ctrl_c(budget):
        result = search()
    if budget.interrupted:
        raise SearchInterrupted(result)
    return result


@contextlib.contextmanager
def _note_ctrl_c(budget: SearchBudget) -> Iterator[None]:
    """Record Ctrl-C in a block, if it would raise KeyboardInterrupt; only in the main thread."""
    is_main = threading.current_thread() is threading.main_thread()
    usual = signal.getsignal(signal.SIGINT)
    if not is_main or usual is not signal.default_int_handler:
        yield
        return

    def note(number: int, frame: FrameType | None) -> None:
        if budget.interrupted:
            signal.default_int_handler(number, frame)
        budget.interrupted = True

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
