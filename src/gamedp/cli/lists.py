"""``gamedp games``, ``solvers`` and ``searchers``: lists with the parameters of each entry."""

from __future__ import annotations

import inspect
import re
import sys
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from cyclopts import Parameter

from gamedp.cli.report import print_json
from gamedp.cli.texts import notation, written
from gamedp.runtime.options import REQUIRED, settings_of, values_of
from gamedp.runtime.registry import GAMES, SEARCHERS, SOLVERS, registered

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


AsJson: TypeAlias = Annotated[bool, Parameter(name="--json", help="Print a JSON list.")]


def games(*, as_json: AsJson = False) -> None:
    """List the built-in and installed games, and their parameters."""
    _show(GAMES, as_json=as_json, option="--set")


def solvers(*, as_json: AsJson = False) -> None:
    """List the solvers and their options."""
    _show(SOLVERS, as_json=as_json, option="--option")


def searchers(*, as_json: AsJson = False) -> None:
    """List the searchers and their options."""
    _show(SEARCHERS, as_json=as_json, option="--option")


def _show(group: str, *, as_json: bool, option: str) -> None:
    entries = _entries(group)
    if as_json:
        print_json(entries)
    else:
        print("\n\n".join(_described(entry, option) for entry in entries))


def _entries(group: str) -> list[dict[str, Any]]:
    """Return the registered classes; one that cannot be imported is left out with a warning."""
    entries = []
    for name, point in registered(group).items():
        try:
            entries.append(_entry(name, point))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the others are unharmed
            message = f"{name} is left out: {type(error).__name__}: {error}"
            print("gamedp: warning:", " ".join(message.split()), file=sys.stderr)
    return entries


def _entry(name: str, point: EntryPoint) -> dict[str, Any]:
    """Return the entry of a registered class: its settings, and the first line of its docstring."""
    kind = point.load()
    first_line = (inspect.getdoc(kind) or "").partition("\n")[0]
    defaults = _defaults(kind)
    settings = [
        {
            "name": setting.name,
            "type": notation(setting.kind),
            "required": setting.default is REQUIRED,
            "default": defaults[setting.name],
        }
        for setting in settings_of(kind).values()
    ]
    return {
        "name": name,
        "class": point.value,
        "summary": re.sub(r" \[\d+\]_", "", first_line),  # without references to literature
        "parameters": settings,
    }


def _defaults(kind: type) -> dict[str, Any]:
    """Return the default of each setting, taken from an instance: it may depend on others."""
    settings = settings_of(kind).values()
    if all(setting.default is not REQUIRED for setting in settings):
        return values_of(kind())
    return {each.name: None if each.default is REQUIRED else each.default for each in settings}


def _described(entry: dict[str, Any], option: str) -> str:
    """Return an entry in words: each parameter as it would be typed, and its type."""
    rows = [f"{entry['name']}   {entry['summary']}", f"    {entry['class']}"]
    for setting in entry["parameters"]:
        default = "..." if setting["required"] else written(setting["default"])
        typed = f"{option} {setting['name']}={default}"
        rows.append(f"    {typed:<32} {setting['type']}")
    return "\n".join(rows)
