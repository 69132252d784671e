"""``gamedp serve``: a page in the browser, to play against solutions and searches."""

from __future__ import annotations

import contextlib
import gc
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gamedp.cli.games import first_value, is_saved, load_saved, make_ordinary_game
from gamedp.cli.options import Flag, GameSettings, SavedGame
from gamedp.cli.players import checked_solution
from gamedp.cli.report import watch
from gamedp.cli.texts import assignments, how_to_draw, refuse
from gamedp.errors import GamedpError, UnsupportedProblemError
from gamedp.rules.game import is_staged
from gamedp.runtime.options import REQUIRED, settings_of, values_of
from gamedp.runtime.registry import GAMES, PAGES, load, registered

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gamedp.web.catalogue import Listed
    from gamedp.web.plugin import Page
    from gamedp.web.tables import WebTables


LOOPBACK = "127.0.0.1"


def serve(  # noqa: PLR0913 - what is usually set in one call
    game: str | None = None,
    /,
    *,
    games: str | None = None,
    port: int = 8000,
    host: str = LOOPBACK,
    allow_host: list[str] | None = None,
    memory: str = "2G",
    workers: int = 2,
    rules: SavedGame = None,
    settings: GameSettings = None,
    solve: Flag = False,
    export: Path | None = None,
    quiet: Flag = False,
) -> None:
    """Serve a page for the browser: play any game, and see what every action is worth.

    With GAME the game is solved first. Ctrl-C ends the server.

    Parameters
    ----------
    game
        A game as for `gamedp solve`, or a folder that `gamedp solve --save` has written; if not
        given, all that `gamedp games` lists.
    games
        Serve these registered games instead, commas between them.
    port
        Listen at this port; 0 for any that is free.
    host
        Listen at this address; nobody but this machine can reach 127.0.0.1.
    allow_host
        Answer browsers that know this machine by this name, too; repeatable.
    memory
        Keep tables of this many bytes at most, such as 500M or 2G; solve no larger one.
    workers
        Solve this many games at a time, and search this many positions.
    solve
        Solve GAME however many positions it has, and however long it takes; else one of more than
        600,000 is searched, and one of OpenSpiel's that takes more than 5 seconds.
    export
        Write a folder that needs no server of ours, with all positions of the games, and end.
    quiet
        Do not show progress.
    """
    from gamedp.web.serve import require_packages, serve as run  # noqa: PLC0415 - not for --help
    from gamedp.web.tables import Limits, WebTables  # noqa: PLC0415 - likewise

    require_packages()
    if workers < 1:
        refuse(f"--workers is {workers}; it must be at least 1.")
    tables = WebTables(Limits(bytes=_bytes(memory)), workers)
    if game in registered(PAGES):
        game, games = None, game
    if game is None:
        if settings or rules or solve:
            refuse("--set, --game and --solve are for one GAME that is served; name it.")
        listed, pages = _all(games)
    elif games is not None:
        refuse(f"{game} is served alone; leave --games out, or name it there.")
    else:
        endless = float("inf")
        limits = Limits(endless, endless, endless, bytes=tables.limits.bytes)
        with watch(quiet=quiet) as progress, _refusals_told():
            listed, pages = [_one(game, rules, settings)], []
            made = listed[0].make({})
            basis = tables.prepare(made, progress, limits if solve else None)
        if basis.solution is None:
            print(f"{game} is searched, not solved: {basis.why_not}")

    if export is not None:
        _say_left_out(pages, listed)
        _export(listed, tables, export, quiet=quiet)
        return

    def ready(address: str) -> None:
        names = ", ".join([*(each.name for each in listed), *(page.name for page in pages)])
        hint = "" if game is None else how_to_draw(listed[0].kind)
        print(f"{names} at {address}\nCtrl-C ends it.{hint}", flush=True)

    gc.set_threshold(10_000)  # a server keeps running: garbage must be collected
    run(
        {each.name: each for each in listed},
        tables,
        host=host,
        port=port,
        allowed_hosts=tuple(allow_host or ()),
        pages=pages,
        ready=ready,
    )


@contextlib.contextmanager
def _refusals_told() -> Iterator[None]:
    """Raise a refusal to a browser as an error of the command."""
    from gamedp.web.refusals import Refused  # noqa: PLC0415 - not needed for --help

    try:
        yield
    except Refused as refused:
        raise UnsupportedProblemError(refused.message) from None


def _say_left_out(pages: list[Page], listed: list[Listed]) -> None:
    """Report the pages that a folder cannot contain.

    Raises
    ------
    UnsupportedProblemError
        If there is nothing else to write.
    """
    for page in pages:
        message = f"{page.name} is a page that needs a server, and cannot be exported."
        if not listed:
            raise UnsupportedProblemError(message)
        print(f"gamedp: warning: {message}", file=sys.stderr)


def _export(listed: list[Listed], tables: WebTables, folder: Path, *, quiet: bool) -> None:
    """Write the folder for games, which are solved first if necessary."""
    from gamedp.web.export import export  # noqa: PLC0415 - not needed for --help

    for each in listed:
        made = each.make({})
        if tables.known(made) is None:
            with watch(quiet=quiet) as progress, _refusals_told():
                tables.prepare(made, progress)
    with _refusals_told():
        written = export(listed, tables, folder)
    for name, (count, path) in written.items():
        print(f"{name}: {count:,} positions in {path}")


def _all(names: str | None) -> tuple[list[Listed], list[Page]]:
    """Return the registered games that are named, or all, and the pages of games."""
    from gamedp.web.catalogue import from_registry  # noqa: PLC0415 - not needed for --help

    with_pages = registered(PAGES)
    if names is None:
        wanted = list(registered(GAMES))
    else:
        wanted = list(dict.fromkeys(name.strip() for name in names.split(",")))
    listed, pages = [], []
    for name in wanted:
        try:
            if name in with_pages:
                pages.append(load(with_pages[name]))
                continue
            game = from_registry(name)
            if names is None and _needs_parameters(game.kind):
                continue
            if is_staged(game.kind):
                message = f"{name} is a staged game, which this page cannot show."
                raise UnsupportedProblemError(message)
            with _refusals_told():
                game.make({})  # the page first shows the game with its defaults
            listed.append(game)
        except GamedpError as error:
            if names is not None:
                raise
            print(f"gamedp: warning: {name} is left out: {error}", file=sys.stderr)
    return listed, pages


def _needs_parameters(kind: type) -> bool:
    """Return whether a game has no defaults with which a page could first show it."""
    return any(each.default is REQUIRED for each in settings_of(kind).values())


def _one(name: str, rules: str | None, settings: list[str] | None) -> Listed:
    """Return the game that GAME stands for."""
    from gamedp.web.catalogue import Listed, from_registry, made  # noqa: PLC0415 - as above

    if is_saved(name):
        solution = checked_solution(load_saved(name, rules, settings), name)
        game: Any = solution.model.rules.game  # type: ignore[union-attr] # it was checked
        short = _short(type(game).__name__)
        return Listed(short, type(game), fixed=made(short, game, solution))
    if rules is not None:
        refuse(f"--game is for the folder of a saved solution; {name} is a game.")
    game = make_ordinary_game(name, settings or (), command="serve")
    name, value = first_value(name)
    if name in registered(GAMES) and not _needs_parameters(type(game)):
        values = values_of(game)
        given = assignments(settings or (), option="--set").keys()
        first = () if value is None else [*values][:1]
        return from_registry(name, {key: values[key] for key in (*first, *given)})
    text = next(iter(values_of(game).values()), None)  # of OpenSpiel: pig(winscore=15)
    is_named = name in registered(GAMES) and isinstance(text, str)
    short = _short(str(text).partition("(")[0] if is_named else type(game).__name__)
    return Listed(short, type(game), fixed=made(short, game))


def _short(name: str) -> str:
    """Return the name of a class as part of an address, a hyphen between its words.

    >>> _short("NoughtsAndCrosses"), _short("TicTacToe3D"), _short("HTTPGame")
    ('noughts-and-crosses', 'tic-tac-toe3d', 'http-game')
    """
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z0-9])(?=[A-Z][a-z])", "-", name)
    return re.sub(r"[^A-Za-z0-9]", "-", words).lower()


def _bytes(text: str) -> float:
    """Return the number of bytes in a text such as 500M.

    Raises
    ------
    InvalidParameterError
        If it is not a size in bytes.
    """
    factor = {"K": 2.0**10, "M": 2.0**20, "G": 2.0**30, "T": 2.0**40}.get(text[-1:].upper(), 1.0)
    digits = text if factor == 1 else text[:-1]
    try:
        number = float(digits) * factor
    except ValueError:
        number = float("nan")
    if not 0 < number < float("inf"):
        refuse(f"--memory is {text}; it must be a number of bytes, such as 500M or 2G.")
    return number
