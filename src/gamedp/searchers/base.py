"""Searchers: their limits and their one way in, and what a running search and its root keep."""

from __future__ import annotations

import abc
import math
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import attrs

from gamedp.errors import SearchInterrupted
from gamedp.results.search_result import SearchResult, SearchStatistics
from gamedp.results.status import Status
from gamedp.runtime.floats import TINY
from gamedp.runtime.options import CompileMode, positive, whole_and_positive
from gamedp.searchers.bound_rules import bind_once
from gamedp.searchers.driver import Driver, SearchBudget, note_ctrl_c
from gamedp.searchers.root import RoundingLog, result_of_end, root_of
from gamedp.searchers.stacks import LOWER, UPPER

if TYPE_CHECKING:
    from gamedp.runtime.limit import ProgressCallback
    from gamedp.searchers.driver import Loop
    from gamedp.searchers.root import Root, RootChoice

INFINITY = math.inf

Result = TypeVar("Result", bound=SearchResult)


def plies_ahead() -> Any:
    """Return the field of a number of plies to look ahead; None is to the end of the game."""
    return attrs.field(default=None, validator=attrs.validators.optional(whole_and_positive))


@attrs.frozen(kw_only=True)
class Searcher(abc.ABC, Generic[Result]):
    """A way to search one position; an immutable value.

    Attributes
    ----------
    max_seconds, max_nodes : float
        Limits at which the result so far is returned, with a status that says so.
    takes_chance : bool
        Whether it can search games with chance.
    """

    takes_chance: ClassVar[bool] = True
    max_seconds: float = attrs.field(default=INFINITY, validator=positive)
    max_nodes: float = attrs.field(default=INFINITY, validator=positive)

    def search(
        self,
        game: Any,
        state: Any = None,
        *,
        compile: CompileMode = "auto",
        progress: ProgressCallback | None = None,
    ) -> Result:
        """Search a position.

        Parameters
        ----------
        game
            A game for as many players as the searcher supports, with chance if it supports that.
        state
            The position; the start of the game if not given.
        compile : {"auto", "always", "never"}
            As for :func:`gamedp.compile`.
        progress : callable, optional
            Called with a :class:`gamedp.Progress` now and then.

        Raises
        ------
        UnsupportedProblemError
            If the searcher does not support the game: for its chance or its number of players, or
            because it can go on for ever and neither a depth nor a limit is given.
        InvalidModelError
            If the rules are wrong somewhere; the message names the state and the action.
        SearchInterrupted
            After Ctrl-C: a KeyboardInterrupt whose `result` is what is known so far.
        """
        root = self._root(game, state)
        if not root.choices:
            return self._ended(root)
        with bind_once():
            search = self._start(root, compile, progress)
            budget = search.budget  # the first one: other limits follow it
            with note_ctrl_c(budget):
                result = search.run()
        if budget.interrupted:
            raise SearchInterrupted(result)
        return result

    def _root(self, game: Any, state: Any) -> Root:
        """Return the position to search, after checking it."""
        return root_of(game, state, type(self).__name__, with_chance=self.takes_chance)

    def _ended(self, root: Root) -> Result:
        """Return the result of a game that is over."""
        result: Result = result_of_end(root, self)
        return result

    @abc.abstractmethod
    def _start(
        self, root: Root, compile: CompileMode, progress: ProgressCallback | None
    ) -> Search[Result]:
        """Return a search of a position that has actions."""


class Search(abc.ABC, Generic[Result]):
    """A running search.

    Parameters
    ----------
    options : Searcher
    root : Root
    compile, progress
        As for `Searcher.search`.
    driver_options
        Other arguments of `Driver`.

    Attributes
    ----------
    loop : Loop
        The compiled loop, of the class.
    extra_fields : int
        The number of integers that it keeps after those of each position, of the class.
    driver : Driver
    tally
        The record of where the loop stands.
    roundings : RoundingLog
    budget : SearchBudget
    """

    loop: ClassVar[Loop]
    extra_fields: ClassVar[int] = 0

    def __init__(
        self,
        options: Any,
        root: Root,
        compile: CompileMode,
        progress: ProgressCallback | None,
        **driver_options: Any,
    ) -> None:
        self.options = options
        self.root = root
        self.compile = compile
        self.roundings = RoundingLog()
        self.entries = 0
        name = type(options).__name__
        self.driver = Driver(
            name,
            self.loop,
            root.rules,
            root.state,
            compile,
            arrays=self._arrays,
            extra_fields=self.extra_fields,
            **driver_options,
        )
        driver = self.driver  # not the search, or what it holds would stay until it is collected
        self.tally = driver.tally
        self.budget = SearchBudget(
            options.max_seconds, options.max_nodes, progress, lambda: driver.nodes
        )

    def _arrays(self, num_fields: int) -> dict[str, Any]:
        """Return arrays and constants of the search's own; a position has `num_fields` integers."""
        del num_fields
        return {}

    @abc.abstractmethod
    def run(self) -> Result:
        """Search until the result is known, or a limit is reached."""

    def slack_of_sums(self) -> float:
        """Return the largest error of a score whose every ply adds the outcomes of an action."""
        steps = (int(self.tally.deepest) + 4) * (int(self.tally.most) + 8)
        largest = max(float(self.tally.largest), self.roundings.largest)
        return steps * (2.0**-52 * (largest + abs(self.root.half)) + TINY)

    def common(self, status: Status, depth: int) -> dict[str, Any]:
        """Return the fields of a result that do not depend on what was found."""
        return {
            "rules": self.root.rules,
            "state": self.root.state,
            "searcher": self.options,
            "status": status,
            "statistics": SearchStatistics(
                nodes=self.driver.nodes + 1,
                depth=depth,
                table_hits=int(self.tally.hits),
                table_entries=self.entries,
                ending_probes=int(self.tally.probes),
                cutoffs=int(self.tally.cutoffs),
                seconds=self.budget.seconds,
            ),
        }


@attrs.define
class RootAction:
    """The results for one action at the root, from the mover's side, less half the constant sum.

    Attributes
    ----------
    choice : RootChoice
    score, kind, is_true
        The result of the last search, the kind of bound that it is, and whether also of the truth.
    low, high
        Bounds of the true score.
    """

    choice: RootChoice
    score: float = 0.0
    kind: int = 0
    is_true: bool = False
    low: float = -INFINITY
    high: float = INFINITY

    def narrow(self, score: float, kind: int) -> None:
        """Record proven bounds."""
        if kind & LOWER:
            self.low = max(self.low, score)
        if kind & UPPER:
            self.high = min(self.high, score)
