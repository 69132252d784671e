"""Advice: which actions are best for the player to move, how certain that is, and on what basis.

Nothing else reads a solution or the result of a search for that; the terminal puts the advice in
words, the page in JSON.
"""

from __future__ import annotations

import math
import time
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import attrs
import numpy as np

from gamedp.errors import InvalidModelError, shown
from gamedp.model.objectives import TotalReward, draw_of
from gamedp.results.choice_values import choice_values
from gamedp.results.search_result import SearchResult
from gamedp.results.status import Guarantee, opposite_bounds
from gamedp.runtime.limit import Progress

if TYPE_CHECKING:
    from gamedp.results.solution import Solution
    from gamedp.results.status import Best
    from gamedp.rules.game import Rules
    from gamedp.runtime.arrays import Floats
    from gamedp.runtime.limit import ProgressCallback


Bound: TypeAlias = Literal["exact", "at least", "at most"]
Basis: TypeAlias = Literal["exact", "proven", "equilibrium", "unproven", "estimate"]

OPPOSITE: dict[Bound, Bound] = {"exact": "exact", "at least": "at most", "at most": "at least"}
"""The meaning of a value for the other of two players."""

ROUNDING = 1e-12
"""Largest relative difference that rounding may cause between two equal sums."""

STATES = 4_096
"""Number of states whose bounds are computed together: fewer means less wasted work."""


@attrs.frozen
class AdvisedAction:
    """One action, and what the player to move can expect after it.

    Attributes
    ----------
    action
    name : str
    value, lower, upper : float
        The value, and its proven bounds.
    best : {"certain", "possible", "no"}
        Whether it is best: proven, as far as is known, or not.
    bound : {"exact", "at least", "at most"}
        The meaning of `value`.
    """

    action: Any
    name: str
    value: float
    lower: float
    upper: float
    best: Best
    bound: Bound = "exact"


@attrs.frozen
class Advice:
    """The options of the player to move in a position where the game is not over.

    Attributes
    ----------
    result : Solution or SearchResult
        What the advice rests on.
    state
        The position.
    actions : tuple of AdvisedAction
        All actions, in the game's order; empty if nothing is known of them.
    """

    result: Solution | SearchResult
    state: Hashable
    actions: tuple[AdvisedAction, ...]

    @property
    def best(self) -> list[AdvisedAction]:
        """The actions that are best, or appear to be."""
        return [each for each in self.actions if each.best != "no"]

    @property
    def is_certain(self) -> bool:
        """Whether the best actions are proven to be best.

        With more than two players, the policy of a solution counts as proven: `basis` says what is.
        """
        of_policy = self.depth is None and _rules_of(self.result).is_general_sum
        return of_policy or all(each.best == "certain" for each in self.best)

    @property
    def basis(self) -> Basis:
        """The guarantee that the bounds carry."""
        return basis_of(self.result)

    @property
    def depth(self) -> int | None:
        """The number of plies that a search has looked ahead; None for a solution."""
        return self.result.statistics.depth if isinstance(self.result, SearchResult) else None

    @property
    def values(self) -> tuple[tuple[int, float, float, float], ...]:
        """Each player with the value of the position and its bounds, the player to move first."""
        result, rules = self.result, _rules_of(self.result)
        count, mover = rules.num_players, rules.player(self.state)
        players = [(mover + later) % count for later in range(count)]
        if isinstance(result, SearchResult):
            return tuple((each, result.value(each), *result.bounds(each)) for each in players)
        state = self.state
        return tuple(
            (each, result.value(state, each), *result.bounds(state, each)) for each in players
        )

    @property
    def chosen(self) -> tuple[int, ...]:
        """The actions that attain the value, and win soonest or lose latest; none if unknown."""
        if isinstance(self.result, SearchResult):
            return self.result.quickest_actions
        return tuple(self.result.quickest_actions(self.state))

    @property
    def plies(self) -> float:
        """The number of plies to the end if all choose from these; infinite if unknown."""
        if isinstance(self.result, SearchResult):
            return self.result.plies
        return self.result.plies(self.state)

    @property
    def winner(self) -> int | None:
        """The certain winner in a game for two without chance; None in a draw, or if unknown."""
        result = self.result
        if not isinstance(result, SearchResult):
            return winner_of(result, self.state)
        if not result.rules.has_opponents:
            return None
        return _ahead(*result.bounds(), result.rules.constant_sum / 2)


def advise(result: Solution | SearchResult, state: Hashable) -> Advice:
    """Return the advice in a state in which the game is not over.

    Parameters
    ----------
    result : Solution or SearchResult
        Of the game, for the largest total reward; or of a search of this state.
    state
    """
    if isinstance(result, SearchResult):
        return Advice(result, state, _by_search(result, state))
    state = result.model.own_state(state)
    return Advice(result, state, _by_solution(result, state))


def bounds_in_equilibria(
    solution: Solution, *, progress: ProgressCallback | None = None
) -> tuple[Floats, Floats]:
    """Return the value of each choice to its player, whichever equally good actions follow.

    Where each player has payoffs of their own, a player's values are not unique: they depend on
    which of their equally good actions the others choose. These bounds hold in every equilibrium
    that is subgame-perfect: a choice that is taken in one of them has an upper bound that reaches
    the largest lower bound of its state. By backward induction: from no bounds at all, until
    nothing changes.

    Parameters
    ----------
    solution : Solution
        Of a model without cycles, for the largest total reward.
    progress : callable, optional
        As for :func:`gamedp.solve`: it counts the states in whose part nothing has changed since.

    Returns
    -------
    lower, upper : (num_choices,)

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.mancala import Mancala
    >>> solution = gamedp.solve(Mancala(pits=2, stones=1, players=3), compile="never")
    >>> lower, upper = bounds_in_equilibria(solution)
    >>> lower[:2].tolist(), upper[:2].tolist()
    ([1.0, 2.0], [1.0, 2.0])
    """
    model = solution.model
    places = np.flatnonzero(np.diff(model.choice_offsets))
    own: Floats = np.empty((2, model.num_choices))
    lower = np.full((model.num_states, model.num_players), -np.inf)
    upper = -lower
    lower[model.terminals] = upper[model.terminals] = model.payoffs
    # The last states first: most are found after those that lead to them.
    parts = [places[max(0, last - STATES) : last] for last in range(len(places), 0, -STATES)]
    changed = np.zeros(model.num_states, np.int64)  # after how many looks at parts
    seen, looks, done, began = [-1] * len(parts), 0, 0, time.monotonic()
    while done < len(places):
        done = 0
        for number, some in enumerate(parts):
            first, end = model.choice_offsets[[some[0], some[-1] + 1]].tolist()
            begin, stop = model.transition_offsets[[first, end]].tolist()
            if changed[model.successors[begin:stop]].max(initial=0) <= seen[number]:
                done += len(some)
                continue
            if progress is not None:
                passed = time.monotonic() - began
                progress(Progress("verify", done, len(places), passed, f"{done:,} states"))
            seen[number], looks = looks, looks + 1
            starts, rows = model.choice_offsets[some] - first, np.arange(end - first)
            owners = np.repeat(np.arange(len(some)), np.diff(starts, append=end - first))
            movers = model.players[some]
            known = [
                choice_values(
                    solution, first, end, player, following=(solution.values, lower, upper)
                )
                for player in range(model.num_players)
            ]
            low, high = np.stack([(each.lower, each.upper) for each in known], axis=1)
            own[:, first:end] = low[movers[owners], rows], high[movers[owners], rows]
            most = np.maximum.reduceat(own[:, first:end], starts, axis=1)
            is_possible = own[1, first:end] >= most[0, owners]
            after = (
                np.minimum.reduceat(np.where(is_possible, low, np.inf), starts, axis=1).T,
                np.maximum.reduceat(np.where(is_possible, high, -np.inf), starts, axis=1).T,
            )
            for bounds, found, of_mover in zip((lower, upper), after, most, strict=True):
                found[np.arange(len(some)), movers] = of_mover
                changed[some[np.any(bounds[some] != found, axis=1)]] = looks
                bounds[some] = found
    return own[0], own[1]


def basis_of(result: Solution | SearchResult) -> Basis:
    """Return what the bounds of a result rest on."""
    if isinstance(result, SearchResult):
        return "proven" if result.is_proven else "estimate"
    if result.guarantee is Guarantee.EQUILIBRIUM:
        return "equilibrium"
    if result.guarantee is Guarantee.NONE:
        return "unproven"
    return "proven" if result.width > 0 else "exact"


def own_action(solution: Solution, state: Hashable) -> Any:
    """Return the action of a solution's policy in a state in which the game is not over.

    Raises
    ------
    InvalidModelError
        If the solution takes the state for an end of the game.
    """
    action = solution.best_action(state)
    if action is None:
        message = f"the solution takes {shown(state)} for an end of the game, unlike the rules."
        raise InvalidModelError(message)
    return action


def winner_of(solution: Solution, state: Hashable) -> int | None:
    """Return the winner from a state of a game without chance; None in a draw or other games."""
    model, objective = solution.model, solution.objective
    for_two = model.has_opponents and isinstance(objective, TotalReward)
    if not for_two or not model.is_deterministic or not math.isfinite(solution.plies(state)):
        return None
    return _ahead(*solution.bounds(state), draw_of(objective, model))


def _ahead(lower: float, upper: float, draw: float) -> int | None:
    """Return which of two players is certain to get more than in a draw."""
    return 0 if lower > draw else 1 if upper < draw else None


def _rules_of(result: Solution | SearchResult) -> Rules:
    rules = result.rules if isinstance(result, SearchResult) else result.model.rules
    assert rules is not None  # noqa: S101 - solutions of other models are refused
    return rules


def _by_solution(solution: Solution, state: Hashable) -> tuple[AdvisedAction, ...]:
    """Return the actions with their values in a solution.

    With more than two players, whatever has the value of the policy's own action is as good.
    """
    rules = _rules_of(solution)
    found = solution.action_values(state, rules.player(state))
    bests: list[Best] = [each.best for each in found]
    if rules.is_general_sum:
        own = solution.best_action(state)
        value = max((each.value for each in found if each.action == own), default=-math.inf)
        bests = [
            "no" if _is_less(each.value, value) else each.best if each.action == own else "possible"
            for each in found
        ]
    return tuple(
        AdvisedAction(each.action, each.name, each.value, each.lower, each.upper, best)
        for each, best in zip(found, bests, strict=True)
    )


def _by_search(result: SearchResult, state: Hashable) -> tuple[AdvisedAction, ...]:
    """Return the actions with the values that a search has found.

    With more than two players, the search names one of the best actions, and all values are exact.
    """
    rules = result.rules
    mover, many = rules.player(state), rules.is_general_sum
    seen = [_for_mover(each, rules, mover) for each in result.actions]
    certain, possible = set(result.certain_actions), set(result.best_actions)
    if many:
        most = max((each.value for each in seen if each.action in possible), default=-math.inf)
        possible = {each.action for each in seen if not _is_less(each.value, most)}
    return tuple(
        attrs.evolve(each, best="certain" if each.action in certain else "possible")
        if each.action in possible
        else each
        for each in seen
    )


def _for_mover(each: Any, rules: Rules, mover: int) -> AdvisedAction:
    """Return an action that was searched, for the player to move; none is best yet."""
    value, low, high, bound = each.value, each.lower, each.upper, each.bound
    if rules.is_general_sum:
        value = each.values[mover]
        if mover != 0:  # the search bounds player 0's value alone
            low, high = -math.inf, math.inf
    elif mover == 1:
        value = rules.constant_sum - value
        low, high = opposite_bounds(rules.constant_sum, low, high)
        bound = OPPOSITE[bound]
    return AdvisedAction(each.action, each.name, float(value), low, high, "no", bound)


def _is_less(value: float, most: float) -> bool:
    """Return whether a value is less than another one by more than rounding."""
    return value < most - ROUNDING * max(1.0, abs(most))
