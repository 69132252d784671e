"""The games that readers of these pages play: in the browser, and without a server."""

from pathlib import Path
from typing import Any

from gamedp.web.catalogue import from_registry
from gamedp.web.export import export
from gamedp.web.tables import Tables

GAMES: dict[str, dict[str, Any]] = {"matches": {}, "nim": {"misere": False}, "wubbel": {"goal": 10}}


def write_games(folder: Path) -> None:
    """Write the page and all positions of the games into a folder, as `gamedp serve --export`."""
    tables = Tables()
    listed = [from_registry(name, given) for name, given in GAMES.items()]
    for each in listed:
        tables.prepare(each.make({}), None)
    export(listed, tables, folder)
