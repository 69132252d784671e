"""Plain minimax: every line of play down to a depth, without pruning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from gamedp.bellman.equation import rounds_jit
from gamedp.compiler.native import RAISED, call_native, compiled_for_all
from gamedp.results.search_result import SearchResult
from gamedp.results.status import Guarantee, Status
from gamedp.runtime.options import limits_last
from gamedp.searchers.base import RootAction, Search, Searcher, plies_ahead
from gamedp.searchers.driver import Loop, OutOfTime
from gamedp.searchers.node_loop import (
    ENTER,
    NEXT,
    ask_estimate_jit,
    ask_outcomes_jit,
    begin_actions_jit,
    come_to_jit,
    next_outcome_jit,
    zero_sum_range_jit,
)
from gamedp.searchers.position_loop import enter, estimate, follow, list_actions
from gamedp.searchers.root import checked_range, root_of, step
from gamedp.searchers.stacks import EXACT, Fields, LoopStatus

if TYPE_CHECKING:
    from gamedp.searchers.root import Outcome, Root, RootChoice

# Phases of minimax, besides ENTER and NEXT.
RETURN, BEGIN = range(2, 4)

PLY = Fields(
    "row first count current rest flips_sign first_row outcomes outcome all_proven most",
    "best sum reward low high",
)
"""A position on the way, its actions, and the outcomes of the one that is being searched."""


def minimax(work: Any, page: Any, rules: Any, budget: int) -> Any:
    """Compute the value of the position at ply 0 from every line of play down to a depth: the loop.

    The value is the mover's, with half of the constant sum taken off. Chance is averaged over. The
    phases::

        BEGIN   at the first position  --> ENTER
        ENTER   a position             --> NEXT; RETURN if over or at the horizon
        NEXT    outcome, or action     --> ENTER one ply down; RETURN after the last
        RETURN  with a score           --> NEXT one ply up

    It is one function, because its phases share a score and the arrays.

    Parameters
    ----------
    work
        ``plies`` is the stack. ``tally.score`` takes the score, ``tally.largest`` the largest one
        met. For the error by rounding, the tally says whether there may be one, how many plies were
        searched, and how many outcomes an action had at most.
    page, rules
        The record of a question to the rules, see `gamedp.searchers.driver`.
    budget : int
        Positions after which to pause.
    """
    plies, positions, actions = work.plies, page.positions, page.actions
    tally, question, half = work.tally[0], page.question[0], work.half
    num_players = work.num_players
    infinity = float("inf")
    ply, phase = tally.ply, tally.phase
    score, proven = tally.score, tally.proven
    last_node = tally.nodes + budget
    if phase == BEGIN:
        question.row = 0
        if call_native(rules.enter, rules.game, rules.page) == RAISED:
            return LoopStatus.FAILED
        phase = ENTER
    while True:
        here = plies[ply]
        if phase == ENTER:
            status = come_to_jit(tally, plies, ply, last_node)
            if status != LoopStatus.DONE:
                return status
            position = positions[here.row]
            mover = position.mover
            if mover < 0 or mover >= num_players:
                return LoopStatus.BAD_RULES
            if ply > 0:
                above = plies[ply - 1]
                here.rest = above.rest - 1
                swaps = position.swapped
                here.flips_sign = (mover ^ swaps) != positions[above.row].mover
            low, high = zero_sum_range_jit(tally, position, half)
            if position.is_over:
                if not abs(low) < infinity:
                    return LoopStatus.BAD_RULES
                tally.nodes += 1
                score = low
                proven = 1
                phase = RETURN
                continue
            if not low <= high or low == infinity or high == -infinity:
                return LoopStatus.BAD_RULES
            if here.rest == 0:
                status, score = ask_estimate_jit(work, question, rules, here.row, mover)
                if status != LoopStatus.DONE:
                    return status
                tally.nodes += 1
                if score < low:
                    score = low
                elif score > high:
                    score = high
                proven = 1 if low == high else 0
                phase = RETURN
                continue
            status = begin_actions_jit(tally, question, rules, plies, ply)
            if status != LoopStatus.DONE:
                return status
            tally.nodes += 1
            here.all_proven = 1
            here.best = -infinity
            here.low = low
            here.high = high
            phase = NEXT
        elif phase == NEXT:
            if next_outcome_jit(plies, ply):
                ply += 1
                phase = ENTER
                continue
            if here.outcomes > 0:
                total = here.sum + here.reward
                if rounds_jit(here.reward, here.sum, total):
                    tally.inexact = 1
                if here.outcomes > 1 or positions[here.first_row].probability != 1.0:
                    tally.inexact = 1
                if total > here.best:
                    here.best = total
                here.current += 1
                here.outcomes = 0
            if here.current == here.count:
                score = here.best
                proven = here.all_proven
                if score < here.low:
                    score = here.low
                elif score > here.high:
                    score = here.high
                phase = RETURN
                continue
            action, mover = actions[here.first + here.current].label, positions[here.row].mover
            status = ask_outcomes_jit(
                tally, question, rules, rules.follow, plies, ply, action, mover
            )
            if status != LoopStatus.DONE:
                return status
            here.sum = 0.0
            here.reward = question.reward
        else:
            if ply == 0:
                tally.ply = 0
                tally.proven = proven
                tally.score = score
                return LoopStatus.DONE
            if abs(score) > tally.largest:
                tally.largest = abs(score)
            if here.flips_sign:
                score = -score
            row = here.row
            ply -= 1
            plies[ply].sum += positions[row].probability * score
            if proven == 0:
                plies[ply].all_proven = 0
            phase = NEXT


minimax_jit = compiled_for_all(minimax)


LOOP = Loop(minimax_jit, (enter, list_actions, follow, estimate), PLY)


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

    def _start(self, root: Root, *asked: Any) -> MinimaxSearch:
        return MinimaxSearch(self, root, *asked)


class MinimaxSearch(Search[SearchResult]):
    """A running search."""

    loop = LOOP

    def __init__(self, options: Minimax, root: Root, *asked: Any) -> None:
        super().__init__(options, root, *asked)
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

    def _line(self, action: Any) -> tuple[tuple[Any, Any], ...]:
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
        driver.tally.phase = BEGIN
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
