"""Games, solvers and searchers by name, through entry points: built-in and installed ones."""

from __future__ import annotations

import functools
import importlib
import logging
import re
import sys
from typing import TYPE_CHECKING, Any

from gamedp.errors import UnknownNameError
from gamedp.runtime.encoding import class_path, stable_path

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

FORMATS = "gamedp.formats"
GAMES = "gamedp.games"
PAGES = "gamedp.pages"
PEERS = "gamedp.peers"
PLAYERS = "gamedp.players"
SEARCHERS = "gamedp.searchers"
SOLVERS = "gamedp.solvers"

MADE_OF_PARTS = {
    "gamedp:Flattened": "gamedp.stages.flattened",
    "gamedp:Sum": "gamedp.sums.composition",
    "gamedp:OctalGame": "gamedp.sums.octal",
    "gamedp.testing.table_game:TableGame": "gamedp.testing.table_game",
}
"""Games of this library without names of their own: they are made of other games or numbers."""

logger = logging.getLogger("gamedp")


def registered(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of a group by name, sorted; nothing is imported yet.

    Where two packages take one name, gamedp's own counts, then that of the lesser place; a warning
    names both.

    Parameters
    ----------
    group : str
        ``"gamedp.formats"``, ``"gamedp.games"``, ``"gamedp.peers"``, ``"gamedp.players"``,
        ``"gamedp.searchers"`` or ``"gamedp.solvers"``.
    """
    return dict(_found_along(group, *map(str, sys.path)))


@functools.cache
def _found_along(group: str, *_path: str) -> dict[str, EntryPoint]:
    """Search all packages installed on a path; cached, as every command asks several times."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - slow to import

    found: dict[str, EntryPoint] = {}
    for point in sorted(entry_points(group=group), key=_precedence):
        first = found.setdefault(point.name, point)
        if first.value != point.value:
            words = "%s: %r is registered twice; %s counts, and %s is left out"
            logger.warning(words, group, point.name, first.value, point.value)
    return found


def _precedence(point: EntryPoint) -> tuple[str, bool, str]:
    is_own = point.dist is not None and point.dist.name == "gamedp"
    return point.name, not is_own, point.value


def load(point: EntryPoint) -> Any:
    """Return the object of an entry point.

    Raises
    ------
    UnknownNameError
        If it cannot be imported, whatever the package does; names the package.
    """
    try:
        return point.load()
    except (Exception, SystemExit) as error:
        package = point.value if point.dist is None else f"{point.value}, of {point.dist.name}"
        message = (
            f"{point.name} ({package}) cannot be loaded: {type(error).__name__}: {error}. Fix or "
            "remove that package."
        )
        raise UnknownNameError(message) from error


def find(group: str, name: str) -> Any:
    """Return the object registered under `name`.

    Raises
    ------
    UnknownNameError
        If nothing is, or it cannot be loaded; offers the nearest name.
    """
    points = registered(group)
    if name not in points:
        kind = group.removeprefix("gamedp.").removesuffix("s")
        raise UnknownNameError.nearest(kind, name, points)
    return load(points[name])


def name_of(group: str, tool: Any) -> str:
    """Return the registered name of a solver or a searcher, otherwise that of its class."""
    name = type(tool).__qualname__
    if type(tool).__module__.startswith("gamedp."):
        # All of the package's own are registered by the name of their class, without a look-up.
        return re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()
    home = f"{type(tool).__module__}:{name}"
    names = (name for name, point in registered(group).items() if point.value == home)
    return next(names, name)


def class_named(group: str, path: str) -> type | None:
    """Return the registered class that files call ``"module:Class"``; None if there is none.

    Only what is registered is imported, whatever the file says.
    """
    path = stable_path(path)
    if group == GAMES and path in MADE_OF_PARTS:
        made: type = getattr(importlib.import_module(MADE_OF_PARTS[path]), path.partition(":")[2])
        return made
    for point in registered(group).values():
        if point.attr == path.partition(":")[2]:
            found = load(point)
            if isinstance(found, type) and class_path(found) == path:
                return found
    return None
