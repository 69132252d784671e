"""The games that readers of these pages play, and the figure of one: without a server.

The gallery says itself what is played: below the title of each problem stands a block such as

    ```{problem} noughts
    The board after a cross in a corner, and a ring around the only answer
    ```

with the name of a solution in the cells of the page, and the alternative text of the problem's
picture: the first one that its cells draw. ``:game:`` names another solution to play by, and
``:why:`` says why there is nothing to play. Building the pages runs these cells once more, for the
games and the small pictures that lie beside the pages.
"""

import contextlib
import io
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs

from gamedp.cli.players import checked_solution
from gamedp.web.catalogue import Listed, from_registry, made
from gamedp.web.export import export
from gamedp.web.tables import WebTables

GAMES: dict[str, dict[str, Any]] = {"matches": {}, "nim": {"misere": False}, "wubbel": {"goal": 10}}
FIGURES: dict[str, dict[str, Any]] = {"wubbel": {}}  # too large to be played without a server

GALLERY = Path(__file__).parent / "gallery"
PAGES = ("grids", "chance", "decisions", "boards")
"""The pages of the gallery, in the order of its index."""

LISTED = "PROBLEMS-OF-THE-GALLERY\n"
"""Where a page lists all problems."""

CELL = r"^```\{code-cell\} python\n(?::tags: .*?\n)?(.*?)^```$"

DOTS_PER_INCH = 80
"""Of the small pictures, which are shown at about half of their size."""


@attrs.frozen
class Section:
    """A section of a page of the gallery.

    Attributes
    ----------
    title : str
    block : str
        The block of its problem; empty for a section without one.
    name : str
        The name of its picture, and of its game in the browser.
    game : str or None
        The solution to play by; None if there is nothing to play.
    cells : list of str
    """

    title: str
    block: str
    name: str
    game: str | None
    cells: list[str]


def sections_of(page: str) -> list[Section]:
    """Return the sections of a page, the first of which has what stands above all others."""
    text = (GALLERY / f"{page}.md").read_text(encoding="utf-8")
    first, *others = re.split("^## ", text, flags=re.MULTILINE)
    return [_section(part) for part in (first.partition("\n# ")[2], *others)]


def _section(text: str) -> Section:
    title = text.partition("\n")[0]
    cells = re.findall(CELL, text, re.DOTALL | re.MULTILINE)
    block = re.search(r"^```\{problem\} (\w+)\n(.*?)^```\n", text, re.DOTALL | re.MULTILINE)
    if block is None:
        return Section(title, "", "", None, cells)
    said = dict(re.findall("^:(game|why): (.+)$", block[2], re.MULTILINE))
    game = None if "why" in said else said.get("game", block[1])
    return Section(title, block[0], block[1], game, cells)


def with_problems(text: str) -> str:
    """Return the text of a page with its list of all problems."""
    if LISTED not in text:
        return text
    lines = []
    for page in PAGES:
        first, *sections = sections_of(page)
        lines += [f"## [{first.title}]({page}.md)", "", "`````{container} problems"]
        for each in sections:
            if each.block:
                place = re.sub(r"[^\w -]", "", each.title.lower()).replace(" ", "-")
                link = f"[{each.title}]({page}.md#{place})"
                lines += ["````{container} problem", link, "", each.block + "````"]
        lines += ["`````", ""]
    return text.replace(LISTED, "\n".join(lines))


def write_games(folder: Path, games: dict[str, dict[str, Any]]) -> None:
    """Write the page and all positions of the games into a folder, as `gamedp serve --export`."""
    _export([from_registry(name, given) for name, given in games.items()], folder)


def write_gallery(folder: Path, pages: Sequence[str] = PAGES) -> list[Listed]:
    """Write the games and the small pictures of the gallery's pages, and return the games."""
    games = [game for page in pages for game in run_page(page, folder / "pictures")]
    _export(games, folder / "play")
    return games


def run_page(page: str, pictures: Path) -> list[Listed]:
    """Run the cells of a page, write the first picture of each problem, and return the games."""
    import matplotlib.pyplot as plt  # noqa: PLC0415 - the blocks are read without it

    pictures.mkdir(parents=True, exist_ok=True)
    found: dict[str, Any] = {}
    games = []
    for section in sections_of(page):
        with (
            plt.rc_context(fname=os.fspath(GALLERY.parent / "matplotlibrc")),
            contextlib.redirect_stdout(io.StringIO()),
        ):
            for cell in section.cells:
                exec(compile(cell, f"{page}.md", "exec"), found)  # noqa: S102 - our own cells
            if section.block:
                figure = plt.figure(plt.get_fignums()[0])
                path = pictures / f"{section.name}.png"
                figure.savefig(path, dpi=DOTS_PER_INCH, bbox_inches="tight")
            plt.close("all")
        if section.game is not None:
            solution: Any = checked_solution(found[section.game], section.title)
            game = solution.model.rules.game
            games.append(Listed(section.name, type(game), fixed=made(section.name, game, solution)))
    return games


def _export(listed: Sequence[Listed], folder: Path) -> None:
    tables = WebTables()
    for each in listed:
        tables.prepare(each.make({}), None)
    export(listed, tables, folder)
    tables.close()
