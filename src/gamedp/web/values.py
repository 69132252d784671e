"""The values of a position and its actions for the mover, from a table or a search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import attrs

from gamedp.results.status import Best, Guarantee, opposite_bounds

if TYPE_CHECKING:
    from collections.abc import Callable

    from gamedp.results.search_result import SearchResult
    from gamedp.results.solution import Solution
    from gamedp.rules.game import Rules

__all__ = [
    "SLACK",
    "OfAction",
    "Values",
    "actions_by_table",
    "by_search",
    "by_table",
    "is_less",
    "why_of",
]

SLACK = 1e-12
"""Largest relative difference that rounding may cause between two equal sums."""

Relation: TypeAlias = Literal["=", "≥", "≤"]

RELATIONS: dict[str, Relation] = {"exact": "=", "at least": "≥", "at most": "≤"}
TURNED: dict[Relation, Relation] = {"=": "=", "≥": "≤", "≤": "≥"}


@attrs.frozen
class OfAction:
    """An action, for the mover."""

    action: int
    name: str
    number: float
    lower: float
    upper: float
    relation: Relation
    best: Best


@attrs.frozen
class Values:
    """A position, for the mover.

    Attributes
    ----------
    kind : str
        ``"table"`` or ``"search"``.
    why : str
        The basis of the bounds.
    depth : int or None
        Number of plies that a search has looked ahead.
    each : tuple of (int, float, float, float)
        Each player with value and bounds, the mover first.
    relation : str
    actions : tuple of OfAction
    choose : callable
        Returns the actions to choose from for play that attains the value.
    """

    kind: Literal["table", "search"]
    why: Literal["exact", "proven", "equilibrium", "estimate", "unproven"]
    depth: int | None
    each: tuple[tuple[int, float, float, float], ...]
    relation: Relation
    actions: tuple[OfAction, ...]
    choose: Callable[[], tuple[int, ...]]


def is_less(value: float, most: float) -> bool:
    """Return whether a value is less than another one by more than rounding."""
    return value < most - SLACK * max(1.0, abs(most))


def why_of(solution: Solution) -> Literal["exact", "proven", "equilibrium", "unproven"]:
    """Return the basis of the bounds of a table."""
    if solution.guarantee is Guarantee.EQUILIBRIUM:
        return "equilibrium"
    if solution.guarantee is Guarantee.NONE:
        return "unproven"
    return "proven" if solution.width > 0 else "exact"


def by_table(solution: Solution, rules: Rules, state: Any) -> Values:
    """Return the values of a non-terminal position from a table."""
    actions = actions_by_table(solution, rules, state)
    return Values(
        kind="table",
        why=why_of(solution),
        depth=None,
        each=tuple(
            (player, solution.value(state, player), *solution.bounds(state, player))
            for player in _from(rules.player(state), rules.num_players)
        ),
        relation="=",
        actions=actions,
        choose=lambda: tuple(solution.quickest_actions(state)),
    )


def actions_by_table(solution: Solution, rules: Rules, state: Any) -> tuple[OfAction, ...]:
    """Return the values of the actions in a non-terminal position from a table."""
    found = solution.action_values(state, rules.player(state))
    bests: list[Best] = [each.best for each in found]
    if rules.num_players > 2:
        own = solution.best_action(state)
        of_own = next((each.value for each in found if each.action == own), float("-inf"))
        bests = [
            "no" if is_less(each.value, of_own) else each.best if each.action == own else "possible"
            for each in found
        ]
    return tuple(
        OfAction(each.action, each.name, each.value, each.lower, each.upper, "=", best)
        for each, best in zip(found, bests, strict=True)
    )


def by_search(result: SearchResult, rules: Rules, state: Any) -> Values:
    """Return the values of a non-terminal position from a search."""
    mover = rules.player(state)
    many = rules.num_players > 2
    certain, possible = set(result.certain_actions), set(result.best_actions)
    numbers = [_seen(each, rules, mover) for each in result.actions]
    if many:  # the search names one of them, and all values are exact
        most = max(
            (
                number
                for number, each in zip(numbers, result.actions, strict=True)
                if each.action in possible
            ),
            default=float("-inf"),
        )
        possible = {
            each.action
            for number, each in zip(numbers, result.actions, strict=True)
            if not is_less(number, most)
        }
    turned = mover == 1 and not many
    actions = []
    for each, number in zip(result.actions, numbers, strict=True):
        relation = RELATIONS[each.bound]
        low, high = (each.lower, each.upper) if not many else (float("-inf"), float("inf"))
        if many and mover == 0:
            low, high = each.lower, each.upper
        if turned:
            low, high = opposite_bounds(rules.constant_sum, low, high)
        best: Best = "certain" if each.action in certain else "possible"
        if each.action not in possible:
            best = "no"
        actions.append(
            OfAction(
                each.action,
                each.name,
                number,
                low,
                high,
                TURNED[relation] if turned else relation,
                best,
            )
        )
    return Values(
        kind="search",
        why="proven" if result.is_proven else "estimate",
        depth=result.statistics.depth,
        each=tuple(
            (player, result.value(player), *result.bounds(player))
            for player in _from(mover, rules.num_players)
        ),
        relation="=",
        actions=tuple(actions),
        choose=lambda: result.quickest_actions,
    )


def _from(mover: int, count: int) -> list[int]:
    """Return the players in turn, the mover first."""
    return [(mover + later) % count for later in range(count)]


def _seen(each: Any, rules: Rules, mover: int) -> float:
    """Return the mover's value after an action that was searched."""
    if rules.num_players > 2:
        return float(each.values[mover])
    return float(each.value if mover == 0 else rules.constant_sum - each.value)
