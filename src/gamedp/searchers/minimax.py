"""Plain minimax: every line of play down to a depth, without pruning."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import attrs

from gamedp.results.search_result import SearchResult, SearchStatistics
from gamedp.results.status import Guarantee, Status
from gamedp.runtime.floats import TINY
from gamedp.runtime.options import positive, whole_and_positive
from gamedp.searchers import tree_loop as loop
from gamedp.searchers.driver import Driver, Loop
from gamedp.searchers.position_loop import enter, estimate, follow, list_actions
from gamedp.searchers.root import RoundingLog, checked_range, ended, root_of, step
from gamedp.searchers.transposition import EXACT
from gamedp.searchers.watch import OutOfTime, Watch, heeding_ctrl_c

if TYPE_CHECKING:
    from gamedp.runtime.progress import ProgressCallback
    from gamedp.searchers.root import Choice, Outcome, Root

__all__ = ["Minimax"]

INFINITY = math.inf

LOOP = Loop(loop.minimax_jit, (enter, list_actions, follow, estimate), loop.MINIMAX_PLY)


@attrs.frozen(kw_only=True)
class Minimax:
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

    depth: int | None = attrs.field(
        default=None, validator=attrs.validators.optional(whole_and_positive)
    )
    max_seconds: float = attrs.field(default=INFINITY, validator=positive)
    max_nodes: float = attrs.field(default=INFINITY, validator=positive)

    def search(
        self,
        game: Any,
        state: Any = None,
        *,
        compile: Literal["auto", "always", "never"] = "auto",
        progress: ProgressCallback | None = None,
    ) -> SearchResult:
        """Search a position; the parameters and errors are those of :meth:`AlphaBeta.search`."""
        root = root_of(game, state, "Minimax", with_chance=True)
        if not root.choices:
            return ended(root, self)
        search = _Search(self, root, compile, progress)
        return heeding_ctrl_c(search.watch, search.run)


class _Search:
    """A running search."""

    def __init__(
        self,
        options: Minimax,
        root: Root,
        compile: Literal["auto", "always", "never"],
        progress: ProgressCallback | None,
    ) -> None:
        self.options = options
        self.root = root
        self.roundings = RoundingLog()
        self.driver = Driver("Minimax", LOOP, root.rules, root.state, compile)
        self.tally = self.driver.tally
        self.tally.deepest = -1  # a ply after the root: no position has been left yet
        self.watch = Watch(
            options.max_seconds, options.max_nodes, progress, lambda: self.driver.nodes
        )

    def run(self) -> SearchResult:
        """Search all actions; at a limit, the rules' own bounds of the value remain."""
        root = self.root
        low, high = (
            self.roundings.add(end, -root.half)
            for end in checked_range(root.rules, root.state, root.player)
        )
        scores: list[tuple[float, bool]] = []
        status = Status.SOLVED if self.options.depth is None else Status.DEPTH_LIMIT
        try:
            for choice in root.choices:
                scores.append(self._after(root, choice, self.options.depth))  # noqa: PERF401 - the first ones stay
        except OutOfTime:
            status = self.watch.status
            return self._result(min(max(root.estimate(), low), high), low, high, [], status)
        best = min(max(low, *(score for score, _ in scores)), high)
        if all(proven for _, proven in scores):
            return self._result(best, best, best, scores, Status.SOLVED)
        return self._result(best, low, high, scores, status)

    def _after(self, root: Root, choice: Choice, depth: int | None) -> tuple[float, bool]:
        """Return an action's score, from its mover's side, and whether nothing was estimated."""
        total, is_proven = choice.reward, True
        for outcome in choice.outcomes:
            score, proven = self._search(outcome, depth)
            total = self.roundings.add(
                total, outcome.probability * outcome.sign(root.player) * score
            )
            is_proven &= proven
        return total, is_proven

    def _line(self, action: int) -> tuple[tuple[int, Any], ...]:
        """Follow best play until chance decides, the depth ends, or it takes too much work.

        At every position the first best action is taken, by the same search with as many plies less
        as have been played.
        """
        self.watch = self.watch.for_line()
        root, depth, line = self.root, self.options.depth, []
        taken = next(choice for choice in root.choices if choice.action == action)
        while (successor := step(root, taken)) is not None:
            line.append((taken.action, successor))
            depth = None if depth is None else depth - 1
            root = root_of(root.rules.game, successor, "Minimax", with_chance=True)
            if not root.choices or depth == 0:
                break
            try:
                scores = [self._after(root, choice, depth)[0] for choice in root.choices]
            except OutOfTime:
                break
            best = max(scores)
            equal = [
                choice for choice, score in zip(root.choices, scores, strict=True) if score == best
            ]
            taken = root.suited(equal, best)
        return tuple(line)

    def _search(self, outcome: Outcome, depth: int | None) -> tuple[float, bool]:
        """Return the score of a position after the root, from its mover's side."""
        driver = self.driver
        driver.enter(outcome.state).rest = -1 if depth is None else depth - 1
        driver.tally.phase = loop.BEGIN
        driver.run(self.watch)
        return float(self.tally.score), bool(self.tally.proven)

    def _result(
        self,
        best: float,
        low: float,
        high: float,
        scores: list[tuple[float, bool]],
        status: Status,
    ) -> SearchResult:
        root = self.root
        slack = 0.0
        self.roundings.put_back(root, [low, high, *(score for score, _ in scores)])
        is_exact = self.roundings.are_exact and not self.tally.inexact
        certain = all(
            [outcome.probability for outcome in choice.outcomes] == [1.0] for choice in root.choices
        )
        if not is_exact or not certain:
            # Every ply adds the outcomes of an action, each with a rounding or two.
            steps = (int(self.tally.deepest) + 4) * (int(self.tally.most) + 8)
            largest = max(float(self.tally.largest), self.roundings.largest)
            slack = steps * (2.0**-52 * (largest + abs(root.half)) + TINY)
        actions = []
        for choice, (score, proven) in zip(root.choices, scores, strict=False):
            bounds = (score, score) if proven else (-INFINITY, INFINITY)
            actions.append(root.searched_action(choice, score, EXACT, bounds, slack))
        lower, upper = root.values(low, high, slack)
        # The range of the root may cut off what was found, but makes no two actions equal.
        top = max((score for score, _ in scores), default=best)
        best_actions = tuple(
            choice.action
            for choice, (score, _) in zip(root.choices, scores, strict=False)
            if score >= top - 2 * slack
        )
        work = SearchStatistics(
            nodes=self.driver.nodes + 1,
            depth=(self.options.depth or int(self.tally.deepest) + 2) if scores else 0,
            seconds=self.watch.seconds,
        )
        result = SearchResult(
            rules=root.rules,
            state=root.state,
            searcher=self.options,
            value=root.value(best),
            lower=lower,
            upper=upper,
            best_actions=best_actions,
            actions=tuple(actions),
            principal_variation=(),
            status=status,
            guarantee=Guarantee.TWO_SIDED,
            statistics=work,
            has_value=bool(scores),
        )
        if not best_actions:
            return result
        line = self._line(result.quickest_actions[0])
        return attrs.evolve(result, principal_variation=line)
