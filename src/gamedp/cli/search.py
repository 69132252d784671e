"""``gamedp search``: one position, searched straight by the rules, with no model of the game."""

from __future__ import annotations

import itertools
import math
import textwrap
from collections.abc import Iterator, Sequence
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
from gamedp.compiler.limits import available_bytes
from gamedp.errors import InvalidParameterError, NotSolvedError
from gamedp.registry import SEARCHERS, find

if TYPE_CHECKING:
    from gamedp.search_result import SearchResult

__all__ = ["search"]

ENDINGS_BY_DEFAULT = (3_000_000, 30_000_000, 300_000_000)
"""So many positions at most are put into the tables that ``--exact`` makes by itself: less than a
second, seconds, and half a minute. The larger ones are made when the search with the smaller ones
has looked at a good part of so many positions in vain, and if there is the memory for them."""

POSITIONS_A_NODE = 256
"""So many positions are in a table for each node that a search with it may take."""

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
        Look further until the value is proven, with tables of the endings if the game has them. One
        best action will do, unless --option all_best=true asks for all.
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
        options = self.option or ()
        if (
            self.exact
            and "all_best" in settings
            and not any(option.startswith("all_best=") for option in options)
        ):
            given["all_best"] = False  # to know all takes about twice as long
        asked = given | ({} if not self.endings else {"endings": None})
        for name in asked:
            if name not in settings:
                message = (
                    f"{self.searcher} has no {OPTIONS[name]}; `gamedp searchers` lists what it has."
                )
                raise InvalidParameterError(message)
        made = make(
            kind,
            options,
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
        nodes, seconds = 0, 0.0
        for material, limits in _stages(made, position, searcher, how):
            if material:
                tables = gamedp.EndgameTables.build(
                    made, material, folder=how.endings_folder, compile=compile, progress=progress
                )
                searcher = how.make(endings=tables, **limits)
            result = searcher.search(made, position, compile=compile, progress=progress)
            nodes, seconds = nodes + result.statistics.nodes, seconds + result.statistics.seconds
            if result.status is gamedp.Status.SOLVED:
                break
        work = attrs.evolve(result.statistics, nodes=nodes, seconds=seconds)
        result = attrs.evolve(result, statistics=work)
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


def _stages(
    game: Any, position: Any, searcher: Any, how: SearchOptions
) -> Iterator[tuple[int, dict[str, float]]]:
    """Yield up to how much material to make tables of endings, and limits for the search with them.

    An exact search without limits of its own begins with small tables, and gets larger ones where
    these do not soon lead to a proof. 0 is for no tables at all.
    """
    if how.endings is None and how.exact and "endings" in settings_of(type(searcher)):
        suitable = [_suitable_material(game, position, most) for most in ENDINGS_BY_DEFAULT]
        materials = sorted({*suitable} - {0}) or [0]
    else:
        materials = [how.endings or 0]
    if materials == [0] and how.endings_folder is not None:
        message = "--endings-folder needs --endings, how much material the tables are for."
        raise InvalidParameterError(message)
    if min(how.max_seconds or math.inf, how.max_nodes or math.inf) < math.inf:
        materials = materials[:1]
    for material, larger in itertools.pairwise(materials):
        if _positions(game, larger) > available_bytes() // 2:
            yield material, {}
            return
        yield material, {"max_nodes": max(1, _positions(game, material) // POSITIONS_A_NODE)}
    yield materials[-1], {}


def _positions(game: Any, material: int) -> int:
    """Return how many positions there are in tables up to so much material."""
    return sum(game.num_endings(stratum) for stratum in range(material + 1))


def _suitable_material(game: Any, position: Any, most: int) -> int:
    """Return up to how much material tables have at most so many positions; 0 without tables."""
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
        if more == 0 or positions > most:
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
            is_answered = result.status is gamedp.Status.SOLVED
            words = (
                "value",
                "not asked for: the bounds are the answer"
                if is_answered
                else "none was found before the limit",
            )
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
    """Return names as lines of text that break between them, not within."""
    glue = "\0"
    text = ", ".join(name.replace(" ", glue) for name in names)
    lines = textwrap.fill(text, LINE_WIDTH, break_long_words=False, break_on_hyphens=False)
    return lines.replace(glue, " ")
