"""Plain minimax: every line of play down to a depth, without pruning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from gamedp.results.search_result import SearchResult
from gamedp.results.status import Guarantee, Status
from gamedp.searchers import minimax_loop as loop
from gamedp.searchers.base import RootAction, Search, Searcher, limits_last, plies_ahead
from gamedp.searchers.budget import OutOfTime
from gamedp.searchers.driver import Loop
from gamedp.searchers.position_loop import enter, estimate, follow, list_actions
from gamedp.searchers.root import checked_range, root_of, step
from gamedp.searchers.transposition import EXACT

if TYPE_CHECKING:
    from gamedp.runtime.limit import ProgressCallback
    from gamedp.runtime.options import CompileMode
    from gamedp.searchers.root import Outcome, Root, RootChoice

__all__ = ["Minimax"]


LOOP = Loop(loop.minimax_jit, (enter, list_actions, follow, estimate), loop.PLY)


@attrs.frozen(kw_only=True, field_transformer=limits_last)
class Minimax(Searcher[SearchResult]):
    """Search every line of play down to a depth.

    The plain method [1]_: no position is left out and none is remembered, so its work grows with
    every ply by the number of actions. It is the reference for other searchers. The value at the
    horizon is the game's ``heuristic``; outcomes of chance are averaged. The score of every
    position on the way, including the root, is clipped to the game's ``value_range`` there.

    ``best_actions`` holds the actions with the highest score before it is clipped to the range of
    the root, and those that differ from these only by rounding.

    Parameters
    ----------
    depth : int or None
        Plies to look ahead; None looks to the end of the game.
    max_seconds, max_nodes : float
        Limits; if one stops the search, only the game's own estimate and range are known.

    References
    ----------
    .. [1] C. E. Shannon, "Programming a computer for playing chess", Philosophical Magazine 41
       (1950).

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> gamedp.searchers.Minimax().search(Matches(matches=9), compile="never").value()
    -1.0
    """

    depth: int | None = plies_ahead()

    def _start(
        self, root: Root, compile: CompileMode, progress: ProgressCallback | None
    ) -> MinimaxSearch:
        return MinimaxSearch(self, root, compile, progress)


class MinimaxSearch(Search[SearchResult]):
    """A running search."""

    def __init__(
        self,
        options: Minimax,
        root: Root,
        compile: CompileMode,
        progress: ProgressCallback | None,
    ) -> None:
        super().__init__(options, root, LOOP, compile, progress)
        self.tally.deepest = -1  # a ply after the root: no position has been left yet

    def run(self) -> SearchResult:
        """Search all actions; at a limit, the rules' own bounds of the value remain."""
        root = self.root
        low, high = (
            self.roundings.add(end, -root.half)
            for end in checked_range(root.rules, root.state, root.player)
        )
        status = Status.SOLVED if self.options.depth is None else Status.DEPTH_LIMIT
        try:
            found = [self._after(root, choice, self.options.depth) for choice in root.choices]
        except OutOfTime:
            estimate = min(max(root.estimate(), low), high)
            return self._result(estimate, low, high, [], self.budget.status)
        best = min(max(low, *(entry.score for entry in found)), high)
        if all(entry.is_true for entry in found):
            return self._result(best, best, best, found, Status.SOLVED)
        return self._result(best, low, high, found, status)

    def _after(self, root: Root, choice: RootChoice, depth: int | None) -> RootAction:
        """Return an action's score, from its mover's side, and whether nothing was estimated."""
        total, is_proven = choice.reward, True
        for outcome in choice.outcomes:
            score, proven = self._search(outcome, depth)
            total = self.roundings.add(
                total, outcome.probability * outcome.sign(root.player) * score
            )
            is_proven &= proven
        entry = RootAction(choice, total, EXACT, is_proven)
        if is_proven:
            entry.narrow(total, EXACT)
        return entry

    def _line(self, action: int) -> tuple[tuple[int, Any], ...]:
        """Follow best play until chance decides, the depth ends, or it takes too much work.

        At every position the first best action is taken, by the same search with as many plies less
        as have been played.
        """
        self.budget = self.budget.for_line()
        root, depth, line = self.root, self.options.depth, []
        taken = next(choice for choice in root.choices if choice.action == action)
        while (successor := step(root, taken)) is not None:
            line.append((taken.action, successor))
            depth = None if depth is None else depth - 1
            root = root_of(root.rules.game, successor, "Minimax", with_chance=True)
            if not root.choices or depth == 0:
                break
            try:
                found = [self._after(root, choice, depth) for choice in root.choices]
            except OutOfTime:
                break
            best = max(entry.score for entry in found)
            equal = [entry.choice for entry in found if entry.score == best]
            taken = root.suited(equal, best)
        return tuple(line)

    def _search(self, outcome: Outcome, depth: int | None) -> tuple[float, bool]:
        """Return the score of a position after the root, from its mover's side."""
        driver = self.driver
        driver.enter(outcome.state).rest = -1 if depth is None else depth - 1
        driver.tally.phase = loop.BEGIN
        driver.run(self.budget)
        return float(self.tally.score), bool(self.tally.proven)

    def _result(
        self,
        best: float,
        low: float,
        high: float,
        found: list[RootAction],
        status: Status,
    ) -> SearchResult:
        root = self.root
        slack = 0.0
        self.roundings.put_back(root, [low, high, *(entry.score for entry in found)])
        is_exact = self.roundings.are_exact and not self.tally.inexact
        certain = all(
            [outcome.probability for outcome in choice.outcomes] == [1.0] for choice in root.choices
        )
        if not is_exact or not certain:
            slack = self.slack_of_sums()
        lower, upper = root.values(low, high, slack)
        # The range of the root may cut off what was found, but makes no two actions equal.
        top = max((entry.score for entry in found), default=best)
        depth = self.options.depth or int(self.tally.deepest) + 2
        result = SearchResult(
            **self.common(status, depth if found else 0),
            value=root.value(best),
            lower=lower,
            upper=upper,
            best_actions=tuple(
                entry.choice.action for entry in found if entry.score >= top - 2 * slack
            ),
            actions=tuple(
                root.searched_action(
                    entry.choice, entry.score, entry.kind, (entry.low, entry.high), slack
                )
                for entry in found
            ),
            principal_variation=(),
            guarantee=Guarantee.TWO_SIDED,
            has_value=bool(found),
        )
        if not found:
            return result
        return attrs.evolve(result, principal_variation=self._line(result.quickest_actions[0]))
