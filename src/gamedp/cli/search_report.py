"""The output of ``gamedp search``: facts for JSON, or lines in words."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import attrs

import gamedp
from gamedp.cli import report
from gamedp.cli.positions import picture_of
from gamedp.runtime.registry import SEARCHERS
from gamedp.runtime.settings import values_of

if TYPE_CHECKING:
    from gamedp.results.search_result import SearchResult

__all__ = ["facts", "way_out", "words"]

LINE_WIDTH = 80


def facts(name: str, result: SearchResult) -> dict[str, Any]:
    """Return the result, for JSON."""
    searcher, work = result.searcher, result.statistics
    options = values_of(searcher)
    tables = options.get("endings")
    if tables is not None:
        options["endings"] = {"material": tables.material, "positions": tables.num_positions}
    line = [
        {"action": action, "name": words}
        for (action, _), words in zip(result.principal_variation, _line(result), strict=True)
    ]
    end = result.principal_variation[-1][1] if line else result.state
    return {
        "game": name,
        "parameters": values_of(result.rules.game),
        "searcher": {"name": report.registered_name(SEARCHERS, searcher), **options},
        "state": result.state,
        "status": result.status.name,
        "guarantee": result.guarantee.name,
        "proven": result.is_proven,
        "value": result.value() if result.has_value else None,
        "lower": result.lower,
        "upper": result.upper,
        **_for_each(result),
        "actions": [attrs.asdict(entry) for entry in result.actions],
        "best": result.best_actions,
        "quickest": result.quickest_actions,
        "certainly_best": result.certain_actions,
        "possibly_best": result.possible_actions,
        "line": line,
        "end": end,
        **attrs.asdict(work),
        "nodes_per_second": work.nodes_per_second,
    }


def words(result: SearchResult) -> list[tuple[str, str]]:
    """Return the result in words."""
    rules, work = result.rules, result.statistics
    several = rules.num_players > 1
    pairs = [
        ("game", report.game_words(rules.game)),
        ("state", picture_of(rules, result.state)),
    ]
    if not result.actions and result.is_proven:
        pairs.append(("to move", "nobody: the game is over, and the value is the payoff"))
    elif several:
        mover = rules.player(result.state)
        two = rules.num_players == 2
        who = report.wish(mover, wants_most=mover == 0) if two else report.player_name(mover)
        pairs.append(("to move", who))
    pairs += _value_lines(result)
    if result.actions:
        pairs.append(("actions", "\n".join(_rows(result))))
    pairs += _best_lines(result)
    if result.principal_variation:
        end = result.principal_variation[-1][1]
        pairs += [("line", _wrapped(_line(result))), ("its end", picture_of(rules, end))]
    pairs += [
        ("guarantee", result.guarantee.value),
        ("status", result.status.value),
        ("searcher", report.with_options(result.searcher, without="endings")),
        ("depth", f"{work.depth} {'ply' if work.depth == 1 else 'plies'}"),
        ("nodes", f"{work.nodes:,}, {work.nodes_per_second:,.0f} a second"),
    ]
    if work.table_entries:
        pairs.append(("table", f"{work.table_hits:,} hits, {work.table_entries:,} entries"))
    tables = values_of(result.searcher).get("endings")
    if tables is not None:
        size = f"material up to {tables.material}, {tables.num_positions:,} positions"
        pairs.append(("endings", f"{size}, read {work.ending_probes:,} times"))
    return [*pairs, ("time", f"{work.seconds:.3f} s")]


def way_out(game: Any) -> str:
    """Return advice for a search that has reached a limit."""
    if hasattr(game, "value_range"):
        more = "" if hasattr(game, "heuristic") else " A heuristic would estimate what lies beyond."
        return f"Raise --max-seconds or --max-nodes, or set --depth.{more}"
    return (
        "More time alone may not help: give the rules a value_range(state, player), for without it "
        "no win ends a search; a heuristic, which estimates what lies beyond; or set --depth."
    )


def _best_lines(result: SearchResult) -> list[tuple[str, str]]:
    """Return the best actions in words, and the others that the bounds do not exclude."""
    best, possible = set(result.best_actions), set(result.possible_actions)
    if not best:
        return []

    def names(actions: set[int]) -> str:
        return ", ".join(entry.name for entry in result.actions if entry.action in actions)

    lines = [("best" if best <= set(result.certain_actions) else "seem best", names(best))]
    if result.rules.num_players < 3 and possible - best:
        lines.append(("may be", names(possible | best)))
    played = set(result.quickest_actions)
    if played < best:
        lines.append(("played", names(played)))
    if math.isfinite(result.plies) and result.rules.num_players == 2:
        who = report.player_name(0 if result.lower > result.rules.constant_sum / 2 else 1)
        lines.append(("to the end", f"{report.how_long(result.plies)}: {who} wins"))
    return lines


def _value_lines(result: SearchResult) -> list[tuple[str, str]]:
    """Return the value and its bounds in words, for each player with separate values."""
    count = result.rules.num_players
    pairs = []
    for player, (value, (lower, upper)) in enumerate(_values(result)):
        whose = None if count == 1 else player
        words, bounds = report.bounded(value, lower, upper, player=whose)
        if not result.has_value:
            is_answered = result.status is gamedp.Status.SOLVED
            words = (
                "value",
                "not computed: only bounds were asked for"
                if is_answered
                else "none found before the limit",
            )
        pairs += [words, bounds]
    return pairs


def _for_each(result: SearchResult) -> dict[str, Any]:
    """Return the value of each player, for a searcher for any number of players."""
    if not isinstance(result, gamedp.searchers.MaxNResult):
        return {}
    players = range(len(result.values))
    values = result.values if result.has_value else [None for _ in players]
    return {"values": values, "bounds": [result.bounds(player) for player in players]}


def _values(result: SearchResult) -> list[tuple[float, tuple[float, float]]]:
    """Return value and bounds for each of more than two players; otherwise those of the first."""
    several = result.rules.num_players > 2 and isinstance(result, gamedp.searchers.MaxNResult)
    players = range(result.rules.num_players if several else 1)
    return [(result.value(player), result.bounds(player)) for player in players]


def _rows(result: SearchResult) -> Sequence[str]:
    """Return a line for each action, with a star before the best ones."""
    names = max(len(entry.name) for entry in result.actions)
    values = [
        repr(entry.values)
        if result.rules.num_players > 2 and hasattr(entry, "values")
        else report.exactly(entry.value)
        for entry in result.actions
    ]
    width = max(map(len, values))
    return [
        f"{'*' if entry.action in result.best_actions else ' '} {entry.name:<{names}}  "
        f"{value:>{width}}   {entry.bound}"
        for entry, value in zip(result.actions, values, strict=True)
    ]


def _line(result: SearchResult) -> list[str]:
    """Return the actions of best play in words."""
    states = [result.state, *(state for _, state in result.principal_variation)]
    return [
        result.rules.action_name(state, action)
        for state, (action, _) in zip(states, result.principal_variation, strict=False)
    ]


def _wrapped(names: Sequence[str]) -> str:
    """Return names as lines of text that break between names only."""
    glue = "\0"
    text = ", ".join(name.replace(" ", glue) for name in names)
    lines = textwrap.fill(text, LINE_WIDTH, break_long_words=False, break_on_hyphens=False)
    return lines.replace(glue, " ")
