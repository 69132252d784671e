"""Max-n: search of games of several players, each of whom maximises their own payoff."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.compiler.native import RAISED, call_native, compiled_for_all
from gamedp.results.search_result import SearchedAction, SearchResult
from gamedp.results.status import Guarantee, Status, check_player
from gamedp.rules.expand import expand, refuse_rewards_of_outcomes
from gamedp.rules.game import Rules
from gamedp.rules.slips import refuse_hidden
from gamedp.runtime.floats import TINY, UNIT, UPWARD, check_arithmetic, rounds
from gamedp.runtime.jit import inlined
from gamedp.runtime.options import limits_last
from gamedp.searchers.base import INFINITY, Search, Searcher, plies_ahead
from gamedp.searchers.driver import Loop, OutOfTime
from gamedp.searchers.node_loop import (
    ENTER,
    NEXT,
    ask_outcomes_jit,
    begin_actions_jit,
    come_to_jit,
    next_outcome_jit,
)
from gamedp.searchers.position_loop import follow_many, list_actions, list_rewards, list_shares
from gamedp.searchers.root import (
    ASKED,
    Root,
    RootChoice,
    checked_range,
    estimate_of,
    payoff_of,
    refuse_rounded_rewards,
    result_of_end,
    root_state,
)
from gamedp.searchers.stacks import Fields, LoopStatus

if TYPE_CHECKING:
    from collections.abc import Iterable


RETURN = 2
"""A phase, besides ENTER and NEXT."""

# What `share_out` returns: the scores are estimates, or certain; or the rules are wrong.
ESTIMATED, CERTAIN = range(2)
BAD_NUMBER, BAD_ESTIMATE = -1, -2

PLY = Fields(
    "row first count current mover rest first_row outcomes outcome all_proven",
    "high others",
)
"""A position on the way, its actions, and the outcomes of the one that is being searched."""

OF_PLAYERS = ("best", "best_error", "sum", "sum_error", "size")
"""Arrays with a row for each ply and a column for each player: the scores after the best action,
and what the outcomes of the current one add up to so far; their errors by rounding; and the sum of
the absolute values. The scores of a position that is done with stand in the first two."""


def share_out(work: Any, shares: Any, ply: int, is_over: bool) -> int:
    """Enter the scores of a position that is not searched further; return their kind."""
    infinity, found = float("inf"), CERTAIN
    num_players = work.num_players
    for player in range(num_players):
        share = shares[player]
        score, error = share.estimate, 0.0
        if is_over:
            if player == 1 and work.has_opponents:
                # The rest of the constant sum, whatever the rules return after rounding.
                score = work.constant_sum - work.best[ply, 0]
                if work.constant_sum != 0.0:
                    error = abs(score) * UNIT * UPWARD
            if not abs(score) < infinity:
                return BAD_NUMBER
        else:
            low, high = share.low, share.high
            if not low <= high or low == infinity or high == -infinity:
                return BAD_NUMBER
            if not work.has_heuristic:
                score = work.half
            if not abs(score) < infinity:
                return BAD_ESTIMATE
            score = min(max(score, low), high)
            if low < high:
                found = ESTIMATED
        work.best[ply, player] = score
        work.best_error[ply, player] = error
    return found


share_out_jit = inlined(share_out)


def widen(work: Any, ply: int, mover: int, others: float) -> None:
    """Widen two players' errors, as rounding may have hidden that another action is better."""
    best, error = work.best[ply, mover], work.best_error[ply, mover]
    more = gap = -error
    if others > -float("inf"):
        gap = others - best
        more = gap + error + 4.0 * UNIT * (abs(gap) + error)  # rounded up
    if more > 0.0:
        work.best_error[ply, mover] = max(error, gap * UPWARD)
        for player in range(work.num_players):
            if player != mover:
                work.best_error[ply, player] = (work.best_error[ply, player] + more) * UPWARD


widen_jit = inlined(widen)


def compare(
    work: Any, shares: Any, ply: int, mover: int, others: float, number: int, is_sure: bool
) -> float:
    """Take an action, after summing its outcomes, if it is better for the mover.

    Parameters
    ----------
    work
        Of the loop.
    shares
        Each player's reward for the action, if there are rewards.
    ply, mover : int
    others : float
        The most that an action that was not taken may give the mover.
    number : int
        The number of outcomes of the action.
    is_sure : bool
        Whether it has a single one, for certain.

    Returns
    -------
    others : float
        NaN if a reward is not a finite number.
    """
    num_players, is_better = work.num_players, False
    # The mover's own number first: it decides whether the others' are wanted.
    for place in range(num_players):
        player = (mover + place) % num_players
        reward = 0.0
        if work.has_rewards:
            reward = shares[player].reward
            if not abs(reward) < float("inf"):
                return float("nan")
        total = reward + work.sum[ply, player]
        slack = work.sum_error[ply, player]
        if not is_sure or reward != 0.0:
            size = work.size[ply, player] + abs(reward) + slack
            count = number + 8
            slack = (slack + count * UNIT * size) * UPWARD + count * TINY
        if place == 0:
            best, error = work.best[ply, player], work.best_error[ply, player]
            is_better = total > best
            most, off = (best, error) if is_better else (total, slack)
            if off > 0.0:
                most += off
                most += 2.0 * UNIT * abs(most)  # rounded up
            others = max(others, most)
        if is_better:
            work.best[ply, player] = total
            work.best_error[ply, player] = slack
    return others


compare_jit = inlined(compare)


def max_n(work: Any, page: Any, rules: Any, budget: int) -> Any:
    """Search the first of the actions on the stack, in the position at ply 0.

    The phases::

        ENTER   a position             --> NEXT; RETURN if over or at the horizon
        NEXT    outcome, or action     --> ENTER one ply down; RETURN after the last, or a cutoff
        RETURN  with a score           --> NEXT one ply up

    It is one function, because its phases share the arrays and where they stand in them.

    Parameters
    ----------
    work
        The stacks and constants. Ply 0 stands there as if its position had been entered, with one
        action.
    page, rules
        The record of a question to the rules, see `gamedp.searchers.driver`.
    budget : int
        Positions after which to pause.

    Returns
    -------
    status : LoopStatus
        DONE, with the scores and their errors in the first rows of ``best`` and ``best_error``, and
        in ``tally.proven`` whether no estimate was needed.
    """
    plies, positions, actions, shares = work.plies, page.positions, page.actions, page.shares
    tally, question = work.tally[0], page.question[0]
    num_players, infinity = work.num_players, float("inf")
    ply, phase, proven = tally.ply, tally.phase, 1
    last_node = tally.nodes + budget
    while True:
        here = plies[ply]
        if phase == ENTER:
            status = come_to_jit(tally, plies, ply, last_node)
            if status != LoopStatus.DONE:
                return status
            above, position = plies[ply - 1], positions[here.row]
            mover, high = position.mover, position.high
            if mover < 0 or mover >= num_players:
                return LoopStatus.BAD_RULES
            here.rest = above.rest - 1
            question.row = here.row
            if position.is_over or here.rest == 0:
                if not work.is_general_sum and position.is_over:
                    shares[0].estimate = position.low
                elif call_native(rules.list_shares, rules.game, rules.page) == RAISED:
                    return LoopStatus.FAILED
                proven = share_out_jit(work, shares, ply, position.is_over)
                if proven == BAD_ESTIMATE:
                    return LoopStatus.BAD_ESTIMATE
                if proven == BAD_NUMBER:
                    return LoopStatus.BAD_RULES
                tally.nodes += 1
                phase = RETURN
                continue
            if not position.low <= high or position.low == infinity or high == -infinity:
                return LoopStatus.BAD_RULES
            status = begin_actions_jit(tally, question, rules, plies, ply)
            if status != LoopStatus.DONE:
                return status
            tally.nodes += 1
            here.mover = mover
            here.all_proven = 1
            here.high = high
            here.others = -infinity
            work.best[ply, mover] = -infinity
            work.best_error[ply, mover] = 0.0
            phase = NEXT
        elif phase == NEXT:
            if next_outcome_jit(plies, ply):
                ply += 1
                phase = ENTER
                continue
            mover = here.mover
            tally.ply = ply
            tally.phase = NEXT
            if here.outcomes > 0:
                question.row = here.row
                question.action = actions[here.first + here.current].label
                if (
                    work.has_rewards
                    and call_native(rules.list_rewards, rules.game, rules.page) == RAISED
                ):
                    return LoopStatus.FAILED
                is_sure = here.outcomes == 1 and positions[here.first_row].probability == 1.0
                others = compare_jit(work, shares, ply, mover, here.others, here.outcomes, is_sure)
                if others != others:  # noqa: PLR0124 - not a number
                    return LoopStatus.BAD_RULES
                here.others = others
                here.current += 1
                here.outcomes = 0
                here.outcome = 0
            if here.current > 0 and work.best[ply, mover] >= here.high:
                # Nothing is better, and the first of equally good actions is taken.
                if here.current < here.count:
                    tally.cutoffs += 1
                here.current = here.count
            if here.current == here.count:
                proven = here.all_proven
                if not work.is_general_sum:
                    widen_jit(work, ply, mover, here.others)
                phase = RETURN
                continue
            action = actions[here.first + here.current].label
            status = ask_outcomes_jit(
                tally, question, rules, rules.follow_many, plies, ply, action, mover
            )
            if status != LoopStatus.DONE:
                return status
            for player in range(num_players):
                work.sum[ply, player] = 0.0
                work.sum_error[ply, player] = 0.0
                work.size[ply, player] = 0.0
        else:
            if ply == 0:
                tally.ply = 0
                tally.proven = proven
                return LoopStatus.DONE
            position = positions[here.row]
            probability, swapped = position.probability, position.swapped
            ply -= 1
            for player in range(num_players):
                # Only two opponents can change places.
                seat = 1 - player if swapped else player
                term = probability * work.best[ply + 1, seat]
                work.sum[ply, player] += term
                work.size[ply, player] += abs(term)
                work.sum_error[ply, player] += probability * work.best_error[ply + 1, seat]
            plies[ply].all_proven &= proven
            phase = NEXT


max_n_jit = compiled_for_all(max_n)


UNLIMITED = -1
"""Plies left in a search to the end of the game: counted down, they never reach 0."""

LOOP = Loop(max_n_jit, (list_actions, follow_many, list_shares, list_rewards), PLY)


@attrs.frozen
class MaxNAction(SearchedAction):
    """One action at the root, with each player's value after it.

    Attributes
    ----------
    values : tuple of float
        One for each player; `value` is the first.
    """

    values: tuple[float, ...]


@attrs.frozen(eq=False, kw_only=True, repr=False)
class MaxNResult(SearchResult):
    """Each player's value of one position, and the action that its mover takes.

    Adds to :class:`SearchResult` the values of all players. `lower` and `upper` are player 0's;
    `best_actions` holds the one action that is taken, the first of those that are best for the
    mover: the values of the others depend on the choice.

    Attributes
    ----------
    values : tuple of float
        One for each player.
    """

    values: tuple[float, ...]
    _bounds: tuple[tuple[float, float], ...]

    def value(self, player: int = 0) -> float:
        """Return the value of `player` in the position, if all players maximise their own."""
        check_player(len(self.values), player)
        return self.values[player]

    def bounds(self, player: int = 0) -> tuple[float, float]:
        """Return (lower, upper) bounds of it; `guarantee` says what they bound."""
        check_player(len(self.values), player)
        return self._bounds[player]

    def _facts_of_players(self) -> dict[str, Any]:
        values = self.values if self.has_value else [None for _ in self.values]
        return {"values": values, "bounds": list(self._bounds)}

    def __repr__(self) -> str:
        """Return the values, their bounds and the depth of the search."""
        return (
            f"<MaxNResult values={list(self.values)} bounds={list(self._bounds)} "
            f"best_actions={list(self.best_actions)} depth={self.statistics.depth} "
            f"status={self.status.name}>"
        )


@attrs.frozen(kw_only=True, field_transformer=limits_last)
class MaxN(Searcher[MaxNResult]):
    """Search one position of a game of any number of players, with chance or without.

    The max-n algorithm [1]_: each mover maximises their own value and takes the first of equally
    good actions, as :class:`gamedp.solvers.BackwardInduction` does, so that both find the same
    policy where the search reaches the end of the game. Sums over chance are rounded; where two
    actions differ only by rounding, the two may choose differently.

    Outcomes of chance are averaged. The value at the horizon is each player's own ``heuristic``,
    clipped to their ``value_range``, as the values of the root are. A position is left when its
    mover has found the most that ``value_range`` allows: where each has payoffs of their own,
    bounds of the others' values alone allow no cutoff.

    Where each has payoffs of their own, the result of a search to the end of the game is an
    equilibrium: nobody gains by doing otherwise alone. There may be others, with other values. A
    search that needed estimates returns the game's own ``value_range`` as bounds.

    Parameters
    ----------
    depth : int or None
        The number of plies to look ahead; None looks to the end of the game, which every line must
        have, unless there is a limit.
    max_seconds, max_nodes : float
        Limits. With one, the search looks one ply further at a time, until it has seen the end of
        the game on all lines that matter; where a limit stops it, the result of the last depth that
        was finished is returned, with a status that says so.

    References
    ----------
    .. [1] C. Luckhardt, K. Irani, "An algorithmic solution of N-person games", AAAI 1986.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.mancala import Mancala
    >>> game = Mancala(players=3, pits=2, stones=1)
    >>> gamedp.searchers.MaxN().search(game, compile="never").values
    (2.0, 2.0, 2.0)
    """

    depth: int | None = plies_ahead()

    def _root(self, game: Any, state: Any) -> Root:
        rules = Rules(game)
        check_arithmetic()
        refuse_hidden(rules.game, ASKED)
        state = root_state(rules, state)
        expansion = expand(rules, state)
        refuse_rewards_of_outcomes(expansion, state)
        if expansion.payoffs is not None:
            return Root(rules, state, 0, payoff_of(rules, state, 0), ())
        for choice in expansion.choices:
            refuse_rounded_rewards(rules, state, choice.action)
        choices = tuple(
            RootChoice(choice.action, rules.reward(state, choice.action, expansion.player), ())
            for choice in expansion.choices
        )
        return Root(rules, state, expansion.player, None, choices)

    def _ended(self, root: Root) -> MaxNResult:
        players = range(root.rules.num_players)
        values = tuple(payoff_of(root.rules, root.state, player) for player in players)
        bounds = tuple(zip(values, values, strict=True))
        result: MaxNResult = result_of_end(root, self, MaxNResult, values=values, bounds=bounds)
        return result

    def _start(self, root: Root, *asked: Any) -> MaxNSearch:
        return MaxNSearch(self, root, *asked)


@attrs.frozen
class ActionValues:
    """Each player's value after one action, its error, and whether it is not an estimate."""

    action: Any
    values: tuple[float, ...]
    errors: tuple[float, ...]
    is_proven: bool

    def bounds(self) -> tuple[tuple[float, float], ...]:
        """Return bounds that allow for rounding."""
        return tuple(
            (_minus(value, error), -_minus(-value, error))
            for value, error in zip(self.values, self.errors, strict=True)
        )


def _minus(number: float, error: float) -> float:
    """Return the difference, or a number below it if it is rounded."""
    less = number - error
    is_exact = error == 0 or not rounds(number, -error, less)
    return less if is_exact else math.nextafter(less, -INFINITY)


def _clip(values: tuple[float, ...], bounds: tuple[tuple[float, float], ...]) -> tuple[float, ...]:
    """Return values, each moved to the nearest end of its bounds if it is outside."""
    return tuple(
        min(max(value, low), high) for value, (low, high) in zip(values, bounds, strict=True)
    )


class MaxNSearch(Search[MaxNResult]):
    """A running search."""

    loop = LOOP

    def __init__(self, options: MaxN, root: Root, *asked: Any) -> None:
        limits, last = (options.max_seconds, options.max_nodes), options.depth
        super().__init__(
            options,
            root,
            *asked,
            with_plies=OF_PLAYERS,
            must_end=last is None and min(limits) == INFINITY,
        )
        self.depth = 0
        self.plies: Iterable[int] = (UNLIMITED if last is None else last,)
        if min(limits) < INFINITY:
            self.plies = itertools.count(1) if last is None else range(1, last + 1)

    def _arrays(self, _num_fields: int) -> dict[str, Any]:
        """Return the arrays of the players at each ply, and the sum of all payoffs."""
        shape = 64, self.root.rules.num_players
        return {
            **{name: np.zeros(shape) for name in OF_PLAYERS},
            "constant_sum": float(self.root.rules.constant_sum),
        }

    def run(self) -> MaxNResult:
        """Search all actions; at a limit, the results of the last finished depth remain."""
        players = range(self.root.rules.num_players)
        bounds = tuple(
            checked_range(self.root.rules, self.root.state, player) for player in players
        )
        found: list[ActionValues] = []
        status = Status.DEPTH_LIMIT
        try:
            for plies in self.plies:
                found = self._look_ahead(plies)
                self.depth = plies if plies != UNLIMITED else int(self.tally.deepest) + 1
                if all(entry.is_proven for entry in found):
                    status = Status.SOLVED
                    break
                self.budget.look()
        except OutOfTime:
            status = self.budget.status
        if not found:
            values = tuple(
                estimate_of(self.root.rules, self.root.state, player) for player in players
            )
            return self._result(_clip(values, bounds), bounds, (), [], status)
        best = max(found, key=lambda entry: entry.values[self.root.player])  # the first such
        if status is Status.SOLVED:
            bounds = self._bounds(best, found)
        return self._result(_clip(best.values, bounds), bounds, (best.action,), found, status)

    def _look_ahead(self, plies: int) -> list[ActionValues]:
        """Search all actions to a depth."""
        found = []
        deep = "" if plies == UNLIMITED else f"depth {plies}, "
        for number, choice in enumerate(self.root.choices):
            self.budget.detail = f"{deep}action {number + 1} of {len(self.root.choices)}, "
            found.append(self._search(choice.action, plies))
        return found

    def _bounds(
        self, best: ActionValues, found: list[ActionValues]
    ) -> tuple[tuple[float, float], ...]:
        """Return bounds of the best action's values that allow for rounding.

        For one and two players another action may be better by as much as rounding hides.
        """
        bounds = best.bounds()
        if self.root.rules.is_general_sum:
            return bounds
        mover = self.root.player
        low, high = bounds[mover]
        others = [entry.bounds()[mover][1] for entry in found if entry is not best]
        most = max(others, default=low)
        if most <= low:
            return bounds
        # If the mover may get more, the other one gets that much less.
        return tuple(
            (low, max(high, most)) if player == mover else (_minus(_minus(own, most), -low), end)
            for player, (own, end) in enumerate(bounds)
        )

    def _search(self, action: Any, plies: int) -> ActionValues:
        """Run the loop on one action at the root until it is done."""
        driver, work = self.driver, self.driver.work
        first = driver.enter(self.root.state)
        driver.enter_action(action)
        first.all_proven = 1
        first.mover = self.root.player
        first.rest = plies
        first.high, first.others = INFINITY, -INFINITY
        work["best"][0] = -INFINITY
        work["best_error"][0] = 0.0
        self.tally.phase = NEXT
        driver.run(self.budget)
        return ActionValues(
            action,
            tuple(driver.work["best"][0].tolist()),
            tuple(driver.work["best_error"][0].tolist()),
            bool(self.tally.proven),
        )

    def _result(
        self,
        values: tuple[float, ...],
        bounds: tuple[tuple[float, float], ...],
        best_actions: tuple[Any, ...],
        found: list[ActionValues],
        status: Status,
    ) -> MaxNResult:
        """Return the result."""
        is_policy = status is Status.SOLVED and self.root.rules.is_general_sum
        actions = tuple(
            MaxNAction(
                entry.action,
                self.root.rules.action_name(self.root.state, entry.action),
                entry.values[0],
                "exact",
                *(entry.bounds()[0] if entry.is_proven else (-INFINITY, INFINITY)),
                entry.values,
            )
            for entry in found
        )
        return MaxNResult(
            **self.common(status, self.depth),
            value=values[0],
            lower=bounds[0][0],
            upper=bounds[0][1],
            values=values,
            bounds=bounds,
            best_actions=best_actions,
            actions=actions,
            principal_variation=(),
            guarantee=Guarantee.EQUILIBRIUM if is_policy else Guarantee.TWO_SIDED,
            has_value=bool(found),
        )
