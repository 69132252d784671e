"""The driver of a search loop, which provides its stacks and reports errors; and its budget."""

from __future__ import annotations

import contextlib
import functools
import math
import signal
import threading
import time
from typing import TYPE_CHECKING, Any, NoReturn

import attrs
import numpy as np

from gamedp.compiler.native import RecordPointer
from gamedp.errors import InvalidParameterError, shown
from gamedp.results.status import Status
from gamedp.runtime.limit import Budget
from gamedp.runtime.slices import FIRST_NODES, MOST_NODES
from gamedp.searchers.bound_rules import search_rules
from gamedp.searchers.position_loop import NUMBERED
from gamedp.searchers.root import (
    checked_range,
    refuse_chance,
    refuse_contradiction,
    refuse_cycles,
    refuse_estimate,
)
from gamedp.searchers.stacks import (
    ACTION,
    ACTIONS,
    PLIES,
    POSITION,
    QUESTION,
    SHARE,
    TALLY,
    LoopStatus,
    clear,
    enlarge,
    record_at,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from numpy.typing import NDArray

    from gamedp.rules.game import Rules
    from gamedp.runtime.limit import ProgressCallback
    from gamedp.runtime.options import CompileMode
    from gamedp.searchers.bound_rules import SearchRules
    from gamedp.searchers.stacks import Fields


@attrs.frozen
class Loop:
    """A compiled loop of search.

    Attributes
    ----------
    function : callable
        Of (work, page, rules, budget); returns a `LoopStatus`.
    questions : tuple of functions
        Its questions to the rules: functions of `gamedp.searchers.position_loop`.
    ply : Fields
        Of the records of its main stack.
    more : tuple of str
        Methods that a game must have for it, besides those of every game.
    """

    function: Callable[..., int]
    questions: tuple[Callable[..., int], ...]
    ply: Fields
    more: tuple[str, ...] = ()


class Driver:
    """A loop with its stacks, for one game.

    Parameters
    ----------
    searcher : str
        Its name, for error messages.
    loop : Loop
    rules : Rules
    state
        A position of the game.
    compile : {"auto", "always", "never"}
        As for :func:`gamedp.compile`.
    arrays : callable
        Returns the searcher's own arrays and constants, given the number of fields of a position.
    with_plies : tuple of str
        Those of its arrays that have an entry for each ply.
    extra_fields : int
        The number of integers that the searcher keeps after those of each position.
    endings : WholeNumbers, optional
        Of tables of the game.
    banks : bool
        Whether what the players have settled is taken off the positions and counted apart.
    must_end : bool
        Whether the search follows every line to the end of the game.

    Attributes
    ----------
    asked : SearchRules
    tally
        The record of where the loop stands.
    work
        All arrays of the loop, by name.
    """

    def __init__(  # noqa: PLR0913 - what it drives
        self,
        searcher: str,
        loop: Loop,
        rules: Rules,
        state: Any,
        compile: CompileMode,
        *,
        arrays: Callable[[int], dict[str, Any]] = lambda _: {},
        with_plies: tuple[str, ...] = (),
        extra_fields: int = 0,
        endings: Any = None,
        banks: bool = False,
        must_end: bool = False,
    ) -> None:
        self._searcher = searcher
        self._loop = loop
        self._with_plies = with_plies
        self._extra_fields = extra_fields
        self._endings = endings
        self._banks = banks
        self._must_end = must_end
        asked = search_rules(
            rules,
            state,
            loop.function,
            functools.partial(self._warm_up, arrays),
            compile=compile,
            more=loop.more,
            with_endings=endings is not None,
        )
        if asked is not getattr(self, "asked", None):
            self._lay_out(arrays, asked)

    def _warm_up(self, arrays: Callable[[int], dict[str, Any]], asked: SearchRules) -> None:
        """Compile everything that a search needs, or load it from disk."""
        self._lay_out(arrays, asked)
        self._call(0)

    def _lay_out(self, arrays: Callable[[int], dict[str, Any]], asked: SearchRules) -> None:
        self.asked = asked
        compiled = asked.is_compiled
        room = 1024 if compiled else 64
        num_fields = asked.num_fields + self._extra_fields
        self._tally = TALLY.stack(1, compiled=compiled)
        self.tally = record_at(self._tally, 0)
        self.work = {
            "plies": self._loop.ply.stack(64, compiled=compiled),
            "tally": self._tally,
            "half": asked.rules.constant_sum / 2 if asked.rules.has_opponents else 0.0,
            "num_players": asked.rules.num_players,
            "has_opponents": asked.rules.has_opponents,
            "is_general_sum": asked.rules.is_general_sum,
            "has_rewards": hasattr(asked.rules.game, "reward"),
            "has_heuristic": hasattr(asked.rules.game, "heuristic"),
            **arrays(num_fields),
        }
        endings = self._endings
        self.page = {
            "fields": np.zeros((room, num_fields), np.int64),
            "positions": POSITION.stack(room, compiled=compiled),
            "actions": ACTION.stack(room, compiled=compiled),
            "question": QUESTION.stack(1, compiled=compiled),
            "shares": SHARE.stack(asked.rules.num_players, compiled=compiled),
            "num_players": asked.rules.num_players,
            "has_opponents": asked.rules.has_opponents,
            "is_general_sum": asked.rules.is_general_sum,
            "has_rewards": hasattr(asked.rules.game, "reward"),
            "banks": self._banks,
            "steps": hasattr(asked.rules.game, "next_in_tier"),
            "top_tier": -1 if endings is None else int(endings.top),
            "endings": np.zeros(1, np.int8) if endings is None else endings.values,
            "ending_offsets": np.zeros(1, np.int64) if endings is None else endings.offsets,
            "ending_sizes": np.zeros(1, np.int64) if endings is None else endings.sizes,
            "ending_present": np.zeros(1, np.bool_) if endings is None else endings.present,
        }
        self.question = record_at(self.page["question"], 0)
        self._page = RecordPointer(asked.record("search page", self.page))
        self._natives = {
            each.__name__: asked.native(each, self._page) for each in self._loop.questions
        }
        self._record()

    def _record(self) -> None:
        """Pass the present arrays to the loop."""
        self._work = self.asked.record("search", self.work)
        given = {name: each.given for name, each in self._natives.items()}
        places = {"game": self.asked.place.given, "page": self._page.given}
        self._rules = self.asked.record("questions", {**given, **places})

    def change(self, **constants: Any) -> None:
        """Give some of the searcher's constants other values of the same types."""
        self.work |= constants
        self._record()

    @property
    def nodes(self) -> int:
        """The number of positions searched so far."""
        return int(self.tally.nodes)

    def ply(self, number: int) -> Any:
        """Return the record of a ply."""
        return record_at(self.work["plies"], number)

    def enter(self, state: Any, *extra: int) -> Any:
        """Put a position where the loop begins, and return its ply's record, all zero."""
        self.tally.ply = 0
        self.page["fields"][0] = [*self.asked.flatten(state), *extra]
        clear(self.work["plies"], 0)
        return self.ply(0)

    def enter_action(self, action: Any) -> None:
        """Have the loop search only one action of that position, as if it had been entered."""
        record_at(self.page["actions"], 0).label = self.asked.actions.number(action)
        first = self.ply(0)
        first.count = first.first_row = 1

    def stack(self) -> NDArray[np.int64]:
        """Return the positions on the loop's current line, without the searcher's fields."""
        plies, last = self.work["plies"], int(self.tally.ply)
        rows = [int(record_at(plies, each).row) for each in range(last + 1)]
        found: NDArray[np.int64] = self.page["fields"][rows, : self.asked.num_fields]
        return found

    def _call(self, budget: int) -> LoopStatus:
        function, page = self.asked.loop, self._page.record
        return LoopStatus(int(function(self._work, page, self._rules, budget)))

    def _ask_again(self) -> None:
        """Repeat the loop's last question from Python, where the rules' error propagates."""
        last = self._natives[NUMBERED[int(self.question.what)].__name__]
        last.function(self.asked.place.itself, self._page.itself)

    def run(self, budget: SearchBudget, *, last_node: float = math.inf) -> bool:
        """Run the loop until it is done; return false if it reaches `last_node` first.

        Raises
        ------
        OutOfTime
            At a limit.
        InvalidModelError, UnsupportedProblemError
            If the rules are wrong somewhere.
        """
        while True:
            left = last_node - self.nodes
            if left <= 0:
                return False
            most = int(min(budget.next_slice(), left))
            try:
                status = self._call(most)
                if status is LoopStatus.FAILED:
                    self._ask_again()
            except Exception as error:  # noqa: BLE001 - whatever the rules may raise
                self.explain(error)
            if status is LoopStatus.DONE:
                return True
            if status is LoopStatus.PAUSED:
                budget.look()
            elif status is LoopStatus.GROW:
                self._grow(int(self.tally.wanted))
            elif status is LoopStatus.READ:
                self._endings.read(int(self.tally.wanted))
            else:
                self.refuse(status)

    def _grow(self, full: int) -> None:
        """Make room on a stack."""
        if full == PLIES:
            if self._must_end:
                refuse_cycles(self.asked, self.stack())
            for name in ("plies", *self._with_plies):
                self.work[name] = enlarge(self.work[name])
        elif full == ACTIONS:
            self.page["actions"] = enlarge(self.page["actions"])
        else:
            for name in ("fields", "positions"):
                self.page[name] = enlarge(self.page[name])
        self._page.put(self.asked.record("search page", self.page))
        self._record()

    def explain(self, error: Exception) -> NoReturn:
        """Raise the error that a call of the rules has raised, naming the position."""
        all_fields = self.page["fields"][:, : self.asked.num_fields]
        self.asked.refuse_overflow(all_fields, error)
        self.asked.explain(self.stack(), error)

    def refuse(self, status: LoopStatus) -> NoReturn:
        """Raise the error of the rules that the loop has found, in words."""
        asked, stack = self.asked, self.stack()
        if status is LoopStatus.BAD_OUTCOME:
            outcome = self.page["fields"][int(self.tally.wanted), : asked.num_fields]
            stack = np.concatenate((stack, outcome[None]))
        rules, state = asked.rules, asked.build(stack[-1])
        if status is LoopStatus.CHANCE:
            refuse_chance(state, asked.actions.action(int(self.question.action)), self._searcher)
        if status is LoopStatus.OUTSIDE:
            self._endings.refuse(state)
        if status is LoopStatus.BAD_ESTIMATE:
            refuse_estimate(rules, state)
        if not rules.game.is_terminal(state):
            for player in range(rules.num_players):
                checked_range(rules, state, player)
        if status is LoopStatus.UNORDERED:
            refuse_contradiction(state)
        asked.explain(stack)


def values_of_tables(tables: Any, rules: Rules) -> Any:
    """Return the values of tables as a loop reads them; None without tables.

    Raises
    ------
    InvalidParameterError
        If these are not tables, or of another game.
    UnsupportedProblemError
        If they are not of whole numbers.
    """
    if tables is None:
        return None
    if not hasattr(tables, "for_search"):
        message = (
            f"endings is {shown(tables)}; it must be what gamedp.tables.tabulate returns, or "
            "gamedp.tables.Tables.open."
        )
        raise InvalidParameterError(message)
    return tables.for_search(rules.game)


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


@contextlib.contextmanager
def note_ctrl_c(budget: SearchBudget) -> Iterator[None]:
    """Record Ctrl-C in a block, if it would raise KeyboardInterrupt; only in the main thread.

    The search then ends between two slices, so its tables stay intact. Pressed a second time, it
    ends the block immediately.
    """
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
