"""The games that readers of these pages play, and the figure of one: without a server."""

from pathlib import Path
from typing import Any

from gamedp.web.catalogue import from_registry
from gamedp.web.export import export
from gamedp.web.tables import Tables

GAMES: dict[str, dict[str, Any]] = {"matches": {}, "nim": {"misere": False}, "wubbel": {"goal": 10}}
FIGURES: dict[str, dict[str, Any]] = {"wubbel": {}}  # too large to be played without a server


def write_games(folder: Path, games: dict[str, dict[str, Any]]) -> None:
    """Write the page and all positions of the games into a folder, as `gamedp serve --export`."""
    tables = Tables()
    listed = [from_registry(name, given) for name, given in games.items()]
    for each in listed:
        tables.prepare(each.make({}), None)
    export(listed, tables, folder)
