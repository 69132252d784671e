"""Max-n: search of games of several players, each of whom maximises their own payoff."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any, Literal

import attrs
import numpy as np

from gamedp.results.search_result import SearchedAction, SearchResult, SearchStatistics
from gamedp.results.status import Guarantee, Status, check_player
from gamedp.rules.expand import expand
from gamedp.rules.game import Rules
from gamedp.rules.slips import refuse_hidden
from gamedp.runtime.floats import check_arithmetic, rounds
from gamedp.runtime.options import positive, whole_and_positive
from gamedp.searchers import max_n_loop as loop
from gamedp.searchers.driver import Driver, Loop
from gamedp.searchers.node_loop import NEXT
from gamedp.searchers.position_loop import (
    follow_many,
    list_actions,
    list_rewards,
    list_shares,
)
from gamedp.searchers.root import (
    ASKED,
    checked_range,
    estimate_of,
    payoff_of,
    refuse_rounded_rewards,
    root_state,
)
from gamedp.searchers.watch import OutOfTime, Watch, heeding_ctrl_c

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gamedp.rules.expand import Expansion
    from gamedp.runtime.progress import ProgressCallback

__all__ = ["MaxN", "MaxNAction", "MaxNResult"]

INFINITY = math.inf
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

    def __repr__(self) -> str:
        """Return the values, their bounds and the depth of the search."""
        return (
            f"<MaxNResult values={list(self.values)} bounds={list(self._bounds)} "
            f"best_actions={list(self.best_actions)} depth={self.statistics.depth} "
            f"status={self.status.name}>"
        )


@attrs.frozen(kw_only=True)
class MaxN:
    """Search one position of a game of any number of players, with chance or without.

    The max-n algorithm [1]_: each mover maximises their own value and takes the first of equally
    good actions, as :class:`gamedp.solvers.BackwardInduction` does, so that both find the same
    policy where the search reaches the end of the game. Sums over chance are rounded; where two
    actions differ only by rounding, the two may choose differently.

    Outcomes of chance are averaged. The value at the horizon is each player's own ``heuristic``,
    clipped to their ``value_range``, as the values of the root are. A position is left when its
    mover has found the most that ``value_range`` allows: with more than two players, bounds of the
    others' values alone allow no cutoff.

    With three players and more, the result of a search to the end of the game is an equilibrium:
    nobody gains by doing otherwise alone. There may be others, with other values. A search that
    needed estimates returns the game's own ``value_range`` as bounds.

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
    ) -> MaxNResult:
        """Search a position.

        Parameters
        ----------
        game
            A game for any number of players.
        state
            The position; the start of the game if not given.
        compile : {"auto", "always", "never"}
            As for :func:`gamedp.compile`.
        progress : callable, optional
            Called with a :class:`gamedp.Progress` now and then.

        Raises
        ------
        UnsupportedProblemError
            If the game can go on for ever, and neither a depth nor a limit is given.
        InvalidModelError
            If the rules are wrong somewhere; the message names the state and the action.
        """
        rules = Rules(game)
        check_arithmetic()
        refuse_hidden(rules.game, ASKED)
        state = root_state(rules, state)
        expansion = expand(rules, state)
        if expansion.payoffs is not None:
            return _ended(self, rules, state)
        for choice in expansion.choices:
            refuse_rounded_rewards(rules, state, choice.action)
        search = _Search(self, rules, state, expansion, compile, progress)
        return heeding_ctrl_c(search.watch, search.run)


def _ended(searcher: MaxN, rules: Rules, state: Any) -> MaxNResult:
    """Return the result of a game that is over."""
    players = range(rules.num_players)
    values = tuple(payoff_of(rules, state, player) for player in players)
    return MaxNResult(
        rules=rules,
        state=state,
        searcher=searcher,
        value=values[0],
        lower=values[0],
        upper=values[0],
        values=values,
        bounds=tuple(zip(values, values, strict=True)),
        best_actions=(),
        actions=(),
        principal_variation=(),
        status=Status.SOLVED,
        guarantee=Guarantee.TWO_SIDED,
        statistics=SearchStatistics(nodes=1, depth=0),
    )


@attrs.frozen
class _Found:
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


class _Search:
    """A running search."""

    def __init__(
        self,
        options: MaxN,
        rules: Rules,
        state: Any,
        expansion: Expansion,
        compile: Literal["auto", "always", "never"],
        progress: ProgressCallback | None,
    ) -> None:
        self.options = options
        self.rules = rules
        self.state = state
        self.expansion = expansion
        self.depth = 0
        limits, last = (options.max_seconds, options.max_nodes), options.depth
        must_end = last is None and min(limits) == INFINITY
        self.plies: Iterable[int] = (UNLIMITED if last is None else last,)
        if min(limits) < INFINITY:
            self.plies = itertools.count(1) if last is None else range(1, last + 1)
        self.driver = Driver(
            "MaxN",
            LOOP,
            rules,
            state,
            compile,
            arrays=self._arrays,
            with_plies=loop.OF_PLAYERS,
            must_end=must_end,
        )
        self.tally = self.driver.tally
        self.watch = Watch(*limits, progress, lambda: self.driver.nodes)

    def _arrays(self, _num_fields: int) -> dict[str, Any]:
        """Return the arrays of the players at each ply, and the sum of all payoffs."""
        shape = 64, self.rules.num_players
        return {
            **{name: np.zeros(shape) for name in loop.OF_PLAYERS},
            "constant_sum": float(self.rules.constant_sum),
        }

    def run(self) -> MaxNResult:
        """Search all actions; at a limit, the results of the last finished depth remain."""
        players = range(self.rules.num_players)
        bounds = tuple(checked_range(self.rules, self.state, player) for player in players)
        found: list[_Found] = []
        status = Status.DEPTH_LIMIT
        try:
            for plies in self.plies:
                found = self._look_ahead(plies)
                self.depth = plies if plies != UNLIMITED else int(self.tally.deepest) + 1
                if all(entry.is_proven for entry in found):
                    status = Status.SOLVED
                    break
                self.watch.look()
        except OutOfTime:
            status = self.watch.status
        if not found:
            values = tuple(estimate_of(self.rules, self.state, player) for player in players)
            return self._result(_within(values, bounds), bounds, (), [], status)
        best = max(found, key=lambda entry: entry.values[self.expansion.player])  # the first such
        if status is Status.SOLVED:
            bounds = self._bounds(best, found)
        return self._result(_within(best.values, bounds), bounds, (best.action,), found, status)

    def _look_ahead(self, plies: int) -> list[_Found]:
        """Search all actions to a depth."""
        found = []
        deep = "" if plies == UNLIMITED else f"depth {plies}, "
        for number, choice in enumerate(self.expansion.choices):
            self.watch.detail = f"{deep}action {number + 1} of {len(self.expansion.choices)}, "
            found.append(self._search(choice.action, plies))
        return found

    def _bounds(self, best: _Found, found: list[_Found]) -> tuple[tuple[float, float], ...]:
        """Return bounds of the best action's values that allow for rounding.

        For one and two players another action may be better by as much as rounding hides.
        """
        bounds = best.bounds()
        if len(bounds) > 2:
            return bounds
        mover = self.expansion.player
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

    def _search(self, action: int, plies: int) -> _Found:
        """Run the loop on one action at the root until it is done."""
        driver, work = self.driver, self.driver.work
        first = driver.enter(self.state)
        driver.enter_action(action)
        first.all_proven = 1
        first.mover = self.expansion.player
        first.rest = plies
        first.high, first.others = INFINITY, -INFINITY
        work["best"][0] = -INFINITY
        work["best_error"][0] = 0.0
        self.tally.phase = NEXT
        driver.run(self.watch)
        return _Found(
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
        found: list[_Found],
        status: Status,
    ) -> MaxNResult:
        """Return the result."""
        is_policy = status is Status.SOLVED and self.rules.num_players > 2
        actions = tuple(
            MaxNAction(
                entry.action,
                self.rules.action_name(self.state, entry.action),
                entry.values[0],
                "exact",
                *(entry.bounds()[0] if entry.is_proven else (-INFINITY, INFINITY)),
                entry.values,
            )
            for entry in found
        )
        return MaxNResult(
            rules=self.rules,
            state=self.state,
            searcher=self.options,
            value=values[0],
            lower=bounds[0][0],
            upper=bounds[0][1],
            values=values,
            bounds=bounds,
            best_actions=best_actions,
            actions=actions,
            principal_variation=(),
            status=status,
            guarantee=Guarantee.EQUILIBRIUM if is_policy else Guarantee.TWO_SIDED,
            statistics=SearchStatistics(
                nodes=self.driver.nodes + 1,
                depth=self.depth,
                cutoffs=int(self.tally.cutoffs),
                seconds=self.watch.seconds,
            ),
            has_value=bool(found),
        )
