"""Max-n: search of games of several players, each of whom maximises their own payoff."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.results.search_result import SearchedAction, SearchResult
from gamedp.results.status import Guarantee, Status, check_player
from gamedp.rules.expand import expand, refuse_rewards_of_outcomes
from gamedp.rules.game import Rules
from gamedp.rules.slips import refuse_hidden
from gamedp.runtime.floats import check_arithmetic, rounds
from gamedp.searchers import max_n_loop as loop
from gamedp.searchers.base import INFINITY, Search, Searcher, limits_last, plies_ahead
from gamedp.searchers.budget import OutOfTime
from gamedp.searchers.driver import Loop
from gamedp.searchers.node_loop import NEXT
from gamedp.searchers.position_loop import (
    follow_many,
    list_actions,
    list_rewards,
    list_shares,
)
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

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gamedp.runtime.limit import ProgressCallback
    from gamedp.runtime.options import CompileMode

__all__ = ["MaxN", "MaxNAction", "MaxNResult"]

UNLIMITED = -1
"""Plies left in a search to the end of the game: counted down, they never reach 0."""

LOOP = Loop(loop.max_n_jit, (list_actions, follow_many, list_shares, list_rewards), loop.PLY)


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

    def _start(
        self, root: Root, compile: CompileMode, progress: ProgressCallback | None
    ) -> MaxNSearch:
        return MaxNSearch(self, root, compile, progress)


@attrs.frozen
class ActionValues:
    """Each player's value after one action, its error, and whether it is not an estimate."""

    action: int
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


def _within(
    values: tuple[float, ...], bounds: tuple[tuple[float, float], ...]
) -> tuple[float, ...]:
    """Return values, each moved to the nearest end of its bounds if it is outside."""
    return tuple(
        min(max(value, low), high) for value, (low, high) in zip(values, bounds, strict=True)
    )


class MaxNSearch(Search[MaxNResult]):
    """A running search."""

    def __init__(
        self,
        options: MaxN,
        root: Root,
        compile: CompileMode,
        progress: ProgressCallback | None,
    ) -> None:
        limits, last = (options.max_seconds, options.max_nodes), options.depth
        super().__init__(
            options,
            root,
            LOOP,
            compile,
            progress,
            arrays=self._arrays,
            with_plies=loop.OF_PLAYERS,
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
            **{name: np.zeros(shape) for name in loop.OF_PLAYERS},
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
            return self._result(_within(values, bounds), bounds, (), [], status)
        best = max(found, key=lambda entry: entry.values[self.root.player])  # the first such
        if status is Status.SOLVED:
            bounds = self._bounds(best, found)
        return self._result(_within(best.values, bounds), bounds, (best.action,), found, status)

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
        # What the mover may get more, the other one gets less.
        return tuple(
            (low, max(high, most)) if player == mover else (_minus(_minus(own, most), -low), end)
            for player, (own, end) in enumerate(bounds)
        )

    def _search(self, action: int, plies: int) -> ActionValues:
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
        best_actions: tuple[int, ...],
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
