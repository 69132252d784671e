"""``gamedp search``: one position, searched straight by the rules, with no model of the game."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
from cyclopts import Group, Parameter

import gamedp
from gamedp.cli import report
from gamedp.cli.games import make_ordinary_game
from gamedp.cli.options import (
    OUTPUT,
    Compile,
    Flag,
    GameName,
    GameSettings,
    OutputOptions,
    StateTexts,
)
from gamedp.cli.parameters import make, settings_of, values_of
from gamedp.cli.positions import picture_of, position_of, starts_of
from gamedp.cli.watch import watch
from gamedp.errors import InvalidParameterError, NotSolvedError
from gamedp.registry import SEARCHERS, find

if TYPE_CHECKING:
    from gamedp.progress import ProgressCallback
    from gamedp.search_result import SearchResult

__all__ = ["search"]

ENDINGS_BY_DEFAULT = 3_000_000
"""So many positions at most are put into the tables that ``--exact`` makes by itself: seconds."""

LINE_WIDTH = 80

OPTIONS = {
    "depth": "--depth",
    "max_seconds": "--max-seconds",
    "max_nodes": "--max-nodes",
    "table_bytes": "--table-mib",
    "endings": "--endings",
}
"""What an option of a searcher is called here, where it has a name of its own."""


@Parameter(name="*", group=Group("Search", sort_key=1))
@attrs.frozen(kw_only=True)
class SearchOptions:
    """By which searcher, and how far.

    Parameters
    ----------
    depth : int
        Plies to look ahead.
    exact : bool
        Look further until the value is proven, with tables of the endings if the game has them.
    max_seconds : float
        Stop after so many seconds, with what is known by then.
    max_nodes : float
        Stop after so many positions, with what is known by then.
    table_mib : float
        What the table of positions already searched may take, in MiB.
    searcher : str
        A searcher that `gamedp searchers` lists.
    option : list of str
        An option of that searcher, name=value; as often as needed.
    endings : int
        Make tables of the endings with up to so much material; 0 for none. With --exact, as many
        as take seconds, if not given.
    endings_folder : Path
        Keep these tables in this folder, and read them the next time.
    """

    depth: int | None = None
    exact: Flag = False
    max_seconds: float | None = None
    max_nodes: float | None = None
    table_mib: float | None = None
    searcher: str = "alpha-beta"
    option: list[str] | None = None
    endings: int | None = None
    endings_folder: Path | None = None

    def given(self) -> dict[str, Any]:
        """Return what is set, as the searchers call it; without the tables of endings."""
        table_bytes = None if self.table_mib is None else self.table_mib * 2**20
        values = {
            "depth": self.depth,
            "max_seconds": self.max_seconds,
            "max_nodes": self.max_nodes,
            "table_bytes": table_bytes,
        }
        return {name: value for name, value in values.items() if value is not None}

    def make(self, **more: Any) -> Any:
        """Return the searcher.

        Raises
        ------
        UnknownNameError
            If there is no such searcher, or option of it.
        InvalidParameterError
            If it refuses an option, and if nothing says how far to look.
        """
        kind = find(SEARCHERS, self.searcher)
        settings = settings_of(kind)
        given = self.given() | more
        asked = given | ({} if not self.endings else {"endings": None})
        for name in asked:
            if name not in settings:
                message = (
                    f"{self.searcher} has no {OPTIONS[name]}; `gamedp searchers` lists what it has."
                )
                raise InvalidParameterError(message)
        made = make(
            kind,
            self.option or (),
            name=self.searcher,
            option="--option",
            word="option",
            given=given,
        )
        self._check_reach(made)
        return made

    def _check_reach(self, searcher: Any) -> None:
        """Refuse to look nobody knows how far."""
        values = values_of(searcher)
        if self.exact and values.get("depth") is not None:
            message = "--exact looks as far as it takes; --depth does not go with it."
            raise InvalidParameterError(message)
        limits = [values.get(name, math.inf) for name in ("max_seconds", "max_nodes")]
        endless = "depth" in values and values["depth"] is None and min(limits) == math.inf
        if endless and not self.exact:
            message = (
                "say how far to look: --depth 10, or --max-seconds 60, or --exact for a proven "
                "value, however long that takes."
            )
            raise InvalidParameterError(message)


SEARCH = SearchOptions()
"""What holds where nothing is said."""


def search(
    game: GameName,
    /,
    *,
    state: StateTexts = None,
    settings: GameSettings = None,
    how: SearchOptions = SEARCH,
    compile: Compile = "auto",
    output: OutputOptions = OUTPUT,
) -> None:
    """Search one position: its value, the best actions, and how play may go on from there."""
    made = make_ordinary_game(game, settings or (), command="search")
    position = position_of(starts_of(gamedp.Rules(made)), state or (), "--state")
    searcher = how.make()  # before tables are made for it
    with watch(quiet=output.quiet) as progress:
        tables = _endings(made, position, searcher, how, compile, progress)
        if tables is not None:
            searcher = how.make(endings=tables)
        result = searcher.search(made, position, compile=compile, progress=progress)
    if output.json:
        report.print_json(_facts(game, result))
    else:
        print(report.lines(_words(result)))
    if result.status in {gamedp.Status.TIME_LIMIT, gamedp.Status.NODE_LIMIT}:
        message = (
            f"{type(searcher).__name__} stopped at a limit after depth "
            f"{result.statistics.depth}; what is printed is what it knows. Raise --max-seconds or "
            "--max-nodes."
        )
        raise NotSolvedError(message, result)


def _endings(
    game: Any,
    position: Any,
    searcher: Any,
    how: SearchOptions,
    compile: Compile,
    progress: ProgressCallback | None,
) -> Any:
    """Return the tables of endings that are asked for, or that suit an exact search."""
    material = how.endings
    if material is None and how.exact and "endings" in settings_of(type(searcher)):
        material = _suitable_material(game, position)
    if not material:
        if how.endings_folder is not None:
            message = "--endings-folder needs --endings, how much material the tables are for."
            raise InvalidParameterError(message)
        return None
    return gamedp.EndgameTables.build(
        game, material, folder=how.endings_folder, compile=compile, progress=progress
    )


def _suitable_material(game: Any, position: Any) -> int:
    """Return up to how much material tables are made in seconds; 0 if the game has none."""
    from gamedp.searchers.endings_builder import METHODS  # noqa: PLC0415 - seldom needed

    rules = gamedp.Rules(game)
    if rules.num_players != 2 or rules.constant_sum != 0:
        return 0
    if not all(callable(getattr(game, name, None)) for name in METHODS):
        return 0
    positions = game.num_endings(0)
    material = 0
    # What is never gained is never needed.
    while material < game.material(rules.canonical(position)[0]):
        more = game.num_endings(material + 1)
        positions += more
        if more == 0 or positions > ENDINGS_BY_DEFAULT:
            break
        material += 1
    return material


def _facts(name: str, result: SearchResult) -> dict[str, Any]:
    """Return what was found, for JSON."""
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
        **{name: getattr(result, name) for name in ("value", "lower", "upper")},
        **{name: getattr(result, name) for name in ("values", "bounds") if hasattr(result, name)},
        "actions": [attrs.asdict(entry) for entry in result.actions],
        "best": result.best_actions,
        "line": line,
        "end": end,
        **attrs.asdict(work),
        "nodes_per_second": work.nodes_per_second,
    }


def _words(result: SearchResult) -> list[tuple[str, str]]:
    """Return what was found in words."""
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
    if result.best_actions:
        names = [entry.name for entry in result.actions if entry.action in result.best_actions]
        pairs.append(("best", ", ".join(names)))
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


def _value_lines(result: SearchResult) -> list[tuple[str, str]]:
    """Return the value and its bounds in words, for each player that has values of its own."""
    count = result.rules.num_players
    pairs = []
    for player, (value, (lower, upper)) in enumerate(_values(result)):
        whose = None if count == 1 else player
        words, bounds = report.bounded(value, lower, upper, player=whose)
        if math.isnan(value):
            words = ("value", "none was found before the limit")
        pairs += [words, bounds]
    return pairs


def _values(result: SearchResult) -> list[tuple[float, tuple[float, float]]]:
    """Return value and bounds for each player of more than two; else those of the first."""
    if result.rules.num_players > 2 and hasattr(result, "values"):
        return list(zip(result.values, result.bounds, strict=True))  # type: ignore[attr-defined] # MaxN's
    return [(result.value, (result.lower, result.upper))]


def _rows(result: SearchResult) -> Sequence[str]:
    """Return a line for each action, with a star before the best ones."""
    names = max(len(entry.name) for entry in result.actions)
    values = [
        repr(getattr(entry, "values", entry.value) if result.rules.num_players > 2 else entry.value)
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
    """Return names as lines of text that break between them, not within."""
    glue = "\0"
    text = ", ".join(name.replace(" ", glue) for name in names)
    lines = textwrap.fill(text, LINE_WIDTH, break_long_words=False, break_on_hyphens=False)
    return lines.replace(glue, " ")
