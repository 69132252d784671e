"""``gamedp search``: one position, searched straight by the rules, with no model of the game."""

from __future__ import annotations

import math
import shutil
import tempfile
import textwrap
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import attrs
from cyclopts import Group, Parameter

import gamedp
from gamedp.cli import report
from gamedp.cli.games import make_ordinary_game, picture_of, position_of, starts_of
from gamedp.cli.options import (
    OUTPUT,
    Compile,
    Flag,
    GameName,
    GameSettings,
    OutputOptions,
    StateTexts,
    names_in,
)
from gamedp.cli.report import watch
from gamedp.cli.texts import make, refuse
from gamedp.errors import (
    KeptSolutionWarning,
    NotSolvedError,
    SearchInterrupted,
    warn,
)
from gamedp.rules.game import numbers_positions
from gamedp.runtime.limit import without_compiling
from gamedp.runtime.machine import available_bytes
from gamedp.runtime.options import settings_of, values_of
from gamedp.runtime.registry import SEARCHERS, find, name_of
from gamedp.searchers.choose import searcher_for
from gamedp.storage.kept import kept_tables

if TYPE_CHECKING:
    from gamedp.results.search_result import SearchResult
    from gamedp.runtime.limit import ProgressCallback
    from gamedp.tables import Tables


FIRST_ENDINGS, MOST_ENDINGS = 3_000_000, 300_000_000
"""Largest numbers of positions in the tables that ``--exact`` builds: before the first search, less
than a second, and in all, half a minute, if there is enough memory."""

POSITIONS_A_NODE = 24
"""Number of positions that are tabulated in at most twice the time of one node of a search. A
search with smaller tables takes about half the time of extending them by a tier."""

OPTIONS = {
    "depth": "--depth",
    "max_seconds": "--max-seconds",
    "max_nodes": "--max-nodes",
    "table_bytes": "--table-mib",
    "endings": "--endings",
}
"""Names of searcher options on the command line, where they differ."""


@Parameter(name="*", group=Group("Search", sort_key=1))
@attrs.frozen(kw_only=True)
class SearchOptions:
    """The searcher and its limits.

    Parameters
    ----------
    depth : int
        Look ahead this many plies.
    exact : bool
        Search until the value is proven, with tables of the endings if the game has them. One
        best action will do, unless --option all_best=true asks for all.
    max_seconds : float
        Stop after this many seconds and print what is known.
    max_nodes : float
        Stop after this many positions and print what is known.
    table_mib : float
        Limit the table of positions already searched, in MiB.
    searcher : str
        Use this searcher; `gamedp searchers` lists them. If not given, the one that fits: max-n for
        three players and more, expectiminimax where there is chance, else alpha-beta.
    option : list of str
        Set an option of that searcher, as name=value; repeatable.
    endings : int
        Make tables of the endings, up to this tier; 0 for none. With --exact, as many as take
        seconds, if not given; these are kept in the cache folder.
    endings_folder : Path
        Keep these tables in this folder and read them next time.
    """

    depth: int | None = None
    exact: Flag = False
    max_seconds: float | None = None
    max_nodes: float | None = None
    table_mib: float | None = None
    searcher: Annotated[str | None, Parameter(completer=names_in(SEARCHERS))] = None
    option: list[str] | None = None
    endings: int | None = None
    endings_folder: Path | None = None

    def keywords(self) -> dict[str, Any]:
        """Return the options that are set by the searchers' names, without the endings."""
        table_bytes = None if self.table_mib is None else self.table_mib * 2**20
        values = {
            "depth": self.depth,
            "max_seconds": self.max_seconds,
            "max_nodes": self.max_nodes,
            "table_bytes": table_bytes,
        }
        return {name: value for name, value in values.items() if value is not None}

    def make(self, **more: Any) -> Any:
        """Return the named searcher.

        Raises
        ------
        UnknownNameError
            If there is no such searcher, or it has no such option.
        InvalidParameterError
            If it refuses an option, or if there is no limit of the search.
        """
        assert self.searcher is not None  # noqa: S101 - whoever calls has chosen one
        kind = find(SEARCHERS, self.searcher)
        settings = settings_of(kind)
        given = self.keywords() | more
        options = self.option or ()
        if (
            self.exact
            and "all_best" in settings
            and not any(option.startswith("all_best=") for option in options)
        ):
            given["all_best"] = False  # finding all takes about twice as long
        asked = given | ({} if not self.endings else {"endings": None})
        for name in asked:
            if name not in settings:
                refuse(
                    f"{self.searcher} has no {OPTIONS[name]}; `gamedp searchers` lists what it has."
                )
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
        """Refuse to search without any limit."""
        values = values_of(searcher)
        if self.exact and values.get("depth") is not None:
            refuse("--exact sets no depth; leave --depth out.")
        limits = [values.get(name, math.inf) for name in ("max_seconds", "max_nodes")]
        endless = "depth" in values and values["depth"] is None and min(limits) == math.inf
        if endless and not self.exact:
            refuse(
                "give a limit: --depth 10, or --max-seconds 60, or --exact for a proven "
                "value, however long that takes."
            )


SEARCH = SearchOptions()
"""The defaults."""


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
    """Search one position: print its value, the best actions, and a line of best play."""
    made = make_ordinary_game(game, settings or (), command="search")
    rules = gamedp.rules.Rules(made)
    position = position_of(starts_of(rules), state or (), "--state")
    if how.searcher is None:
        kind = searcher_for(rules, position)
        how = attrs.evolve(how, searcher=name_of(SEARCHERS, kind()))
    searcher = how.make()  # before tables are built for it
    first = last = how.endings or 0
    grows = how.endings is None and how.exact and "endings" in settings_of(type(searcher))
    if grows:
        most = max(FIRST_ENDINGS, min(MOST_ENDINGS, available_bytes() // 2))
        first, last = _suitable_tiers(made, position, most)
    _check_endings(game, made, last, how)
    if last and not grows:  # above a tier without a table, there is none
        first = last = next((tier for tier in range(last) if not made.tier_size(tier + 1)), last)

    keeps = grows and last > 0 and how.endings_folder is None

    def search_in(progress: ProgressCallback | None, folder: Path) -> SearchResult:
        given: dict[str, Any] = {"compile": compile, "progress": progress}
        if not last:
            alone: SearchResult = searcher.search(made, position, **given)
            return alone
        return _with_endings(made, position, how, folder, range(first, last + 1), **given)

    with tempfile.TemporaryDirectory(prefix="gamedp-tables-") as temporary:
        folder = how.endings_folder or Path(temporary)
        with watch(quiet=output.quiet) as progress:
            result, interrupted = _as_far_as(
                lambda: (
                    _with_kept_tables(made, folder, lambda kept: search_in(progress, kept))
                    if keeps
                    else search_in(progress, folder)
                )
            )
        report.show(output, game, made, result.facts(), _words(result))
    if interrupted:
        message = (
            f"interrupted after depth {result.statistics.depth}; the output shows what is known."
        )
        raise KeyboardInterrupt(message)
    if result.status in {gamedp.Status.TIME_LIMIT, gamedp.Status.NODE_LIMIT}:
        message = (
            f"{type(searcher).__name__} stopped at a limit after depth "
            f"{result.statistics.depth}; the output shows what is known so far. "
            f"{_way_out(made)}"
        )
        raise NotSolvedError(message, result)


def _check_endings(name: str, game: Any, last: int, how: SearchOptions) -> None:
    """Refuse tables that a search cannot have."""
    if last < 0:
        refuse(f"--endings is {last}; it must be 0 or more.")
    if last and not numbers_positions(game):
        refuse(f"{name} does not number its positions, so a search can read no tables of it.")
    if not last and how.endings_folder is not None:
        refuse("--endings-folder needs --endings, the highest tier of the tables.")


def _with_endings(
    game: Any,
    position: Any,
    how: SearchOptions,
    folder: Path,
    tiers: range,
    **given: Any,
) -> SearchResult:
    """Return the result of a search with tables of endings, which grow from tier to tier.

    It begins with small tables, and continues with larger ones if these do not soon lead to a
    proof. All work counts for the limits; at a limit, the result so far is returned.
    """
    nodes, seconds, spent = 0, 0.0, 0.0
    most_nodes, most_seconds = how.max_nodes or math.inf, how.max_seconds or math.inf
    result: SearchResult | None = None
    for tier in tiers:
        begin = time.perf_counter()
        left = most_seconds - spent - seconds if how.endings is None else math.inf
        tables, is_late = _next_tables(game, folder, tier, max(1e-9, left), result, **given)
        spent += without_compiling(time.perf_counter() - begin)
        is_last = is_late or tier == tiers[-1]
        if not is_late or result is None:
            share = math.inf
            if not is_last:
                share = max(1, game.tier_size(tier + 1) // POSITIONS_A_NODE)
            limits = {
                "max_nodes": min(share, most_nodes - nodes),
                "max_seconds": max(1e-3, most_seconds - spent - seconds),
            }
            finite = {name: limit for name, limit in limits.items() if limit < math.inf}
            within = how.make(endings=tables, **finite)
            found, interrupted = _as_far_as(lambda: within.search(game, position, **given))  # noqa: B023 - called at once
            nodes += found.statistics.nodes
            seconds += found.statistics.seconds
            result = attrs.evolve(
                found,
                searcher=how.make(endings=tables),
                statistics=attrs.evolve(found.statistics, nodes=nodes, seconds=seconds),
            )
            if interrupted:
                raise SearchInterrupted(result)
        if is_late:
            return attrs.evolve(result, status=gamedp.Status.TIME_LIMIT)
        if nodes >= most_nodes or result.status in {
            gamedp.Status.SOLVED,
            gamedp.Status.TIME_LIMIT,
        }:
            break
    assert result is not None  # noqa: S101 - there is a tier
    return result


def _with_kept_tables(
    game: Any, other: Path, search: Callable[[Path], SearchResult]
) -> SearchResult:
    """Return the result of a search that keeps its tables; in the other folder if it cannot."""
    kept = kept_tables(game)
    try:
        return search(kept or other)
    except OSError as error:  # including a damaged file
        if kept is None:
            raise
        shutil.rmtree(kept, ignore_errors=True)
        message = f"the tables kept in {kept} are of no use and are removed: {error}"
        warn(message, KeptSolutionWarning)
        return search(other)


def _as_far_as(search: Callable[[], SearchResult]) -> tuple[SearchResult, bool]:
    """Return the result of a search, and whether Ctrl-C has stopped it."""
    try:
        return search(), False
    except SearchInterrupted as stop:
        return stop.result, True


def _next_tables(
    game: Any,
    folder: Path,
    tier: int,
    max_seconds: float,
    result: SearchResult | None,
    **given: Any,
) -> tuple[Tables, bool]:
    """Return tables up to a tier, and whether time was up; after Ctrl-C, raise with the result."""
    try:
        made = gamedp.tables.tabulate(
            game, folder, last_tier=tier, max_seconds=max_seconds, **given
        )
    except NotSolvedError as error:
        return error.solution, True
    except KeyboardInterrupt:
        if result is None:
            raise
        known = attrs.evolve(result, status=gamedp.Status.INTERRUPTED)
        raise SearchInterrupted(known) from None
    return made, False


def _suitable_tiers(game: Any, position: Any, most: int) -> tuple[int, int]:
    """Return the tiers up to which tables have few positions, and at most some; 0 for none."""
    rules = gamedp.rules.Rules(game)
    if not numbers_positions(game) or not rules.has_opponents or rules.constant_sum != 0:
        return 0, 0
    positions = game.tier_size(0)
    first = last = 0
    # A tier that is never risen to is never needed.
    while last < game.tier(rules.canonical(position)[0]):
        more = game.tier_size(last + 1)
        if more == 0 or positions + more > most:
            break
        if positions < FIRST_ENDINGS:
            first += 1
        positions += more
        last += 1
    return first, last


LINE_WIDTH = 80


def _words(result: SearchResult) -> Iterator[tuple[str, str]]:
    """Yield the result in words."""
    rules, work = result.rules, result.statistics
    yield "state", picture_of(rules, result.state)
    if not result.actions and result.is_proven:
        yield "to move", report.OVER
    elif rules.num_players > 1:
        mover = rules.player(result.state)
        two = rules.has_opponents
        who = report.wish(mover, wants_most=mover == 0) if two else report.player_name(mover)
        yield "to move", who
    yield from _value_lines(result)
    if result.actions:
        yield "actions", "\n".join(_rows(result))
    yield from _best_lines(result)
    if result.principal_variation:
        yield "line", _wrapped(result.line_names())
        yield "its end", picture_of(rules, result.principal_variation[-1][1])
    yield "guarantee", result.guarantee.value
    yield "status", result.status.value
    yield "searcher", report.with_options(result.searcher, without="endings")
    yield "depth", f"{work.depth} {'ply' if work.depth == 1 else 'plies'}"
    yield "nodes", f"{work.nodes:,}, {work.nodes_per_second:,.0f} a second"
    if work.table_entries:
        yield "table", f"{work.table_hits:,} hits, {work.table_entries:,} entries"
    tables = values_of(result.searcher).get("endings")
    if tables is not None:
        size = f"tiers 0 to {tables.last_tier}, {tables.num_places:,} positions"
        yield "endings", f"{size}, read {work.ending_probes:,} times"
    yield "time", f"{work.seconds:.3f} s"


def _way_out(game: Any) -> str:
    """Return advice for a search that has reached a limit."""
    if hasattr(game, "value_range"):
        more = "" if hasattr(game, "heuristic") else " A heuristic would estimate what lies beyond."
        return f"Raise --max-seconds or --max-nodes, or set --depth.{more}"
    return (
        "More time alone may not help: give the rules a value_range(state, player), for without it "
        "no win ends a search; a heuristic, which estimates what lies beyond; or set --depth."
    )


def _best_lines(result: SearchResult) -> Iterator[tuple[str, str]]:
    """Yield the best actions in words, and the others that the bounds do not exclude."""
    best, possible = set(result.best_actions), set(result.possible_actions)
    if not best:
        return

    def names(actions: set[Any]) -> str:
        return ", ".join(entry.name for entry in result.actions if entry.action in actions)

    yield "best" if best <= set(result.certain_actions) else "seem best", names(best)
    if not result.rules.is_general_sum and possible - best:
        yield "may be", names(possible | best)
    played = set(result.quickest_actions)
    if played < best:
        yield "played", names(played)
    if math.isfinite(result.plies) and result.rules.has_opponents:
        who = report.player_name(0 if result.lower > result.rules.constant_sum / 2 else 1)
        yield "to the end", f"{report.how_long(result.plies)}: {who} wins"


def _value_lines(result: SearchResult) -> Iterator[tuple[str, str]]:
    """Yield the value and its bounds in words, for each player with separate values."""
    count = result.rules.num_players
    several = result.rules.is_general_sum and isinstance(result, gamedp.searchers.MaxNResult)
    for player in range(count if several else 1):
        whose = None if count == 1 else player
        value, bounds = report.bounded(result.value(player), *result.bounds(player), player=whose)
        if result.has_value:
            yield value
        elif result.status is gamedp.Status.SOLVED:
            yield "value", "not computed: only bounds were asked for"
        else:
            yield "value", "none found before the limit"
        yield bounds


def _rows(result: SearchResult) -> Sequence[str]:
    """Return a line for each action, with a star before the best ones."""
    names = max(len(entry.name) for entry in result.actions)
    values = [
        repr(entry.values)
        if result.rules.is_general_sum and hasattr(entry, "values")
        else report.exactly(entry.value)
        for entry in result.actions
    ]
    width = max(map(len, values))
    return [
        f"{'*' if entry.action in result.best_actions else ' '} {entry.name:<{names}}  "
        f"{value:>{width}}   {entry.bound}"
        for entry, value in zip(result.actions, values, strict=True)
    ]


def _wrapped(names: Sequence[str]) -> str:
    """Return names as lines of text that break between names only."""
    glue = "\0"
    text = ", ".join(name.replace(" ", glue) for name in names)
    lines = textwrap.fill(text, LINE_WIDTH, break_long_words=False, break_on_hyphens=False)
    return lines.replace(glue, " ")
