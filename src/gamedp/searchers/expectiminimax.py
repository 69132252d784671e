"""Expectiminimax: search of games with chance, with pruning."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import attrs
import numpy as np

from gamedp.results.search_result import SearchResult
from gamedp.results.status import Guarantee, Status
from gamedp.runtime.machine import allocate_lazily
from gamedp.runtime.options import limits_last, one_of
from gamedp.searchers import expectiminimax_loop as loop
from gamedp.searchers.base import INFINITY, RootAction, Search, Searcher, plies_ahead
from gamedp.searchers.bound_rules import table_entries
from gamedp.searchers.driver import Loop, OutOfTime
from gamedp.searchers.node_loop import ACTIONS_KEPT, ESTIMATE, HIGH_END, KINDS, LOW_END, NEXT, above
from gamedp.searchers.position_loop import estimate, follow, list_actions
from gamedp.searchers.root import checked_range, root_of, step
from gamedp.searchers.stacks import EXACT, LOWER, UPPER

if TYPE_CHECKING:
    from gamedp.searchers.root import Root

LOOP = Loop(loop.expectiminimax_jit, (list_actions, follow, estimate), loop.PLY)

Pruning: TypeAlias = Literal["star2", "star1", "none"]

PRUNINGS = {"none": loop.NONE, "star1": loop.STAR1, "star2": loop.STAR2}


@attrs.frozen(kw_only=True, field_transformer=limits_last)
class Expectiminimax(Searcher[SearchResult]):
    """Search one position of a game with or without chance, for one player or two.

    Depth-first search with iterative deepening and a transposition table, in which positions are
    compared whole. The value of an action with random outcomes is their mean; it is left as
    soon as bounds of that mean show that it cannot matter: *Star1* takes them from the outcomes
    that have been searched and from the game's ``value_range`` of the others; *Star2* first
    searches one action of each outcome, which bounds it, too [1]_ [2]_.

    The value at a depth is that of plain :class:`gamedp.searchers.Minimax`, whatever the pruning
    and the size of the table: both only save work. So the score of every position is clipped to the
    game's ``value_range`` there. A ply is an action with its outcome. Sums over chance are rounded,
    and the order of searching decides how; the difference stays within the bounds that the result
    gives for rounding.

    Parameters
    ----------
    depth : int or None
        Look ahead this many plies; None looks to the end of the game, which every line must have,
        unless there is a limit.
    pruning : {"star2", "star1", "none"}
        The kind of pruning; ``"none"`` searches everything.
    bounds : bool
        Whether to prove bounds of the true value as well: two more searches to each depth, with the
        lower and the upper end of ``value_range`` in place of the heuristic. Without them, and for
        games without ranges, only the ends of the game prove anything.
    table_bytes : float
        The size limit of the transposition table; 0 for none.
    max_seconds, max_nodes : float
        Limits. With one, the search looks one ply further at a time until the value is proven;
        where a limit stops it, the result of the last depth that was finished is returned, with a
        status that says so.

    Notes
    -----
    ``best_actions`` holds all actions whose values are within the rounding bound of the best: the
    computation cannot distinguish them.

    References
    ----------
    .. [1] B. W. Ballard, "The ``*``-minimax search procedure for trees containing chance nodes",
       Artificial Intelligence 21 (1983).
    .. [2] T. Hauk, M. Buro, J. Schaeffer, "Rediscovering ``*``-minimax search", Computers and Games
       2004.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.wubbel import Wubbel
    >>> game = Wubbel(goal=2, faces=2, busts=(2,), grace=True)
    >>> gamedp.searchers.Expectiminimax().search(game, compile="never").value()
    0.8125
    """

    depth: int | None = plies_ahead()
    pruning: Pruning = attrs.field(default="star2", validator=one_of(Pruning))
    bounds: bool = True
    table_bytes: float = 2**26

    def _start(self, root: Root, *asked: Any) -> ExpectiminimaxSearch:
        to_the_end = self.depth is None and min(self.max_seconds, self.max_nodes) == INFINITY
        return ExpectiminimaxSearch(self, root, *asked, to_the_end=to_the_end)


class ExpectiminimaxSearch(Search[SearchResult]):
    """A running search: its arrays, and the results at the root so far."""

    loop = LOOP
    extra_fields = 1  # what stands at the horizon

    def __init__(self, options: Expectiminimax, root: Root, *asked: Any, to_the_end: bool) -> None:
        super().__init__(options, root, *asked, must_end=to_the_end)
        self.to_the_end = to_the_end
        self.depth = 0
        self.found = [RootAction(choice) for choice in root.choices]

    def _arrays(self, num_fields: int) -> dict[str, Any]:
        """Return the transposition table, the arrays for move ordering, and the options."""
        self.entries = table_entries(self.options.table_bytes, num_fields)
        return {
            "history": np.zeros((2, ACTIONS_KEPT), np.int64),
            "keys": allocate_lazily((self.entries, num_fields), np.int64),
            "scores": allocate_lazily((self.entries,), np.float64),
            "infos": allocate_lazily((self.entries,), np.int64),
            "pruning": PRUNINGS[self.options.pruning],
        }

    def run(self) -> SearchResult:
        """Search deeper and deeper, and then follow best play."""
        result = self.look_ahead()
        return attrs.evolve(result, principal_variation=self._line(result))

    def look_ahead(self) -> SearchResult:
        """Search deeper and deeper; stop at a proof, at the requested depth, or at a limit."""
        low, high = checked_range(self.root.rules, self.root.state, self.root.player)
        self.low, self.high = (self.roundings.add(end, -self.root.half) for end in (low, high))
        status = Status.SOLVED
        try:
            while not self._is_decided():
                if self.depth == self.options.depth:
                    status = Status.DEPTH_LIMIT
                    break
                self._deepen()
        except OutOfTime:
            status = self.budget.status
        return self._result(status)

    def _is_decided(self) -> bool:
        """Whether no estimate has been needed, or the proven bounds meet."""
        if all(entry.is_true for entry in self.found):
            return True
        low, high = self._bounds()
        return low == high and all(entry.low >= low or entry.high < low for entry in self.found)

    def _bounds(self) -> tuple[float, float]:
        """Return proven bounds of the root, from the mover's side."""
        low = max(entry.low for entry in self.found)
        high = max(entry.high for entry in self.found)
        return min(max(low, self.low), self.high), max(min(high, self.high), self.low)

    def _deepen(self) -> None:
        """Search all actions one ply deeper, or to the end of the game, for proven bounds."""
        rest = loop.UNLIMITED if self.to_the_end else self.depth + 1
        self.tally.age += 1
        order = sorted(self.found, key=lambda entry: -entry.score)
        self._estimate(order, rest)
        self.depth = int(self.tally.deepest) + 1 if self.to_the_end else rest
        has_ranges = hasattr(self.root.rules.game, "value_range")
        if self.options.bounds and has_ranges and not self._is_decided():
            self._prove(order, rest)

    def _estimate(self, order: list[RootAction], rest: int) -> None:
        """Search with the heuristic at the horizon until all possibly best actions have a score."""
        results: dict[int, tuple[float, int, bool]] = {}
        best = -INFINITY
        waiting = order
        while waiting:
            for entry in waiting:
                self._say(entry, f"depth {rest}" if rest < loop.UNLIMITED else "to the end")
                alpha = -INFINITY
                if self.options.pruning != "none":
                    # Actions that only rounding may have put below the best one are wanted, too.
                    alpha = _below(best - 2 * self._slack())
                action = entry.choice.action
                results[action] = self._search(action, rest, ESTIMATE, alpha)
                best = max(best, results[action][0])
            # As larger numbers are met, the bound for rounding grows.
            least = best - self._slack()
            waiting = [
                entry
                for entry in order
                if results[entry.choice.action][0] >= least
                and results[entry.choice.action][1] != EXACT
            ]
        for entry in order:
            entry.score, entry.kind, entry.is_true = results[entry.choice.action]
            if entry.is_true:
                entry.narrow(entry.score, entry.kind)

    def _prove(self, order: list[RootAction], rest: int) -> None:
        """Search with certain bounds at the horizon."""
        for ends, wanted in ((LOW_END, LOWER), (HIGH_END, UPPER)):
            best = -INFINITY
            for entry in order:
                self._say(entry, f"depth {rest}, {'lower' if wanted == LOWER else 'upper'} bounds")
                alpha = -INFINITY if self.options.pruning == "none" else _below(best)
                score, kind, _ = self._search(entry.choice.action, rest, ends, alpha)
                best = max(best, score)
                entry.narrow(score, kind & wanted)

    def _say(self, entry: RootAction, what: str) -> None:
        number = self.found.index(entry) + 1
        self.budget.detail = f"{what}, action {number} of {len(self.found)}, "

    def _search(self, action: Any, rest: int, ends: int, alpha: float) -> tuple[float, int, bool]:
        """Run the loop on one action at the root until it is done; from the mover's side."""
        driver, tally = self.driver, self.tally
        first = driver.enter(self.root.state, ends + KINDS * rest)
        driver.enter_action(action)
        first.all_true = 1
        first.mover, first.rest = self.root.player, rest
        first.alpha, first.beta, first.best = alpha, INFINITY, -INFINITY
        tally.phase = NEXT
        driver.run(self.budget)
        return float(tally.score), int(tally.kind), bool(tally.proven)

    def _slack(self) -> float:
        """Return the largest error of a score by rounding."""
        if self.roundings.are_exact and not self.tally.inexact:
            return 0.0
        # Each with a few roundings: of the mean, of its bounds, and of the windows.
        return 4 * self.slack_of_sums()

    def _result(self, status: Status) -> SearchResult:
        """Return the result, as values of player 0."""
        root = self.root
        low, high = self._bounds()
        ends = [end for entry in self.found for end in (entry.low, entry.high)]
        self.roundings.put_back(root, [low, high, *ends])
        slack = self._slack()
        if status is Status.SOLVED:
            for entry in self.found:  # what is proven takes the place of what was estimated
                entry.kind, entry.score = UPPER, entry.high
                if entry.low >= low:
                    entry.kind, entry.score = EXACT, entry.low
        best = max(entry.score for entry in self.found) if self.depth else root.estimate()
        actions = tuple(
            root.searched_action(
                entry.choice, entry.score, entry.kind, (entry.low, entry.high), slack
            )
            for entry in self.found
        )
        lower, upper = root.values(low, high, slack)
        return SearchResult(
            **self.common(status, self.depth),
            value=root.value(min(max(best, self.low), self.high)),
            lower=lower,
            upper=upper,
            best_actions=tuple(
                entry.choice.action
                for entry in self.found
                if self.depth and entry.score >= best - slack
            ),
            actions=actions if self.depth else (),
            principal_variation=(),
            guarantee=Guarantee.TWO_SIDED,
            has_value=self.depth > 0,
        )

    def _line(self, result: SearchResult) -> tuple[tuple[Any, Any], ...]:
        """Follow best play until chance decides, the depth ends, or it takes too much work.

        At every position the first best action is taken, by the same search with as many plies less
        as have been played. Together, these searches may take as much work as the search itself, or
        a tenth of its limits.
        """
        options, root = self.options, self.root
        nodes = min(result.statistics.nodes + 10_000, options.max_nodes / 10)
        seconds = min(max(1.0, result.statistics.seconds), options.max_seconds / 10)
        rest, line = result.statistics.depth, []
        while result.best_actions and not self.budget.interrupted:
            action = result.quickest_actions[0]
            successor = step(root, next(entry for entry in root.choices if entry.action == action))
            if successor is None:
                break
            line.append((action, successor))
            rest -= 1
            root = root_of(root.rules.game, successor, "Expectiminimax", with_chance=True)
            if not root.choices or rest < 1 or nodes < 1 or seconds <= 0:
                break
            shorter = attrs.evolve(
                options,
                depth=None if self.to_the_end else rest,
                bounds=False,
                max_nodes=nodes,
                max_seconds=seconds,
            )
            result = ExpectiminimaxSearch(
                shorter, root, self.compile, None, to_the_end=self.to_the_end
            ).look_ahead()
            if result.status in {Status.NODE_LIMIT, Status.TIME_LIMIT}:
                break
            nodes -= result.statistics.nodes
            seconds -= result.statistics.seconds
        return tuple(line)


def _below(score: float) -> float:
    """Return a slightly smaller number, or minus infinity."""
    return -above(-score) if math.isfinite(score) else -INFINITY
