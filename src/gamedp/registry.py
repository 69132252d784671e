"""Games, solvers and searchers by name, through entry points: the project's own and anyone's."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from gamedp.errors import UnknownNameError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["GAMES", "SEARCHERS", "SOLVERS", "find", "registered"]

GAMES = "gamedp.games"
SEARCHERS = "gamedp.searchers"
SOLVERS = "gamedp.solvers"

logger = logging.getLogger("gamedp")


def registered(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of a group by name, sorted; nothing is imported yet.

    Parameters
    ----------
    group : str
        ``"gamedp.games"``, ``"gamedp.searchers"`` or ``"gamedp.solvers"``.
    """
    from importlib.metadata import entry_points  # noqa: PLC0415 - slow to import

    found: dict[str, EntryPoint] = {}
    for point in sorted(entry_points(group=group), key=lambda point: (point.name, point.value)):
        if point.name in found and found[point.name].value != point.value:
            logger.warning("%s: %r is registered twice; %s counts", group, point.name,
                           found[point.name].value)  # fmt: skip
            continue
        found[point.name] = point
    return found


def find(group: str, name: str) -> Any:
    """Return what is registered under `name`.

    Raises
    ------
    UnknownNameError
        If nothing is; offers the nearest name.
    """
    points = registered(group)
    if name not in points:
        kind = group.removeprefix("gamedp.").removesuffix("s")
        raise UnknownNameError.nearest(kind, name, points)
    return points[name].load()
