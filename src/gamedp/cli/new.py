"""``gamedp new``: a package for a game or a solver of one's own, written from a template."""

from __future__ import annotations

import importlib.resources
import keyword
import re
import string
import tempfile
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from cyclopts import Parameter

from gamedp.cli.options import Flag
from gamedp.cli.report import print_json
from gamedp.cli.texts import refuse
from gamedp.runtime.files import as_path
from gamedp.runtime.registry import GAMES, SOLVERS, registered

Kind: TypeAlias = Literal["game", "solver"]

NAMES = re.compile(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*")
"""Names of games and solvers that are also names of packages and modules."""

OWN_NAMES = {"State"}
"""Names of classes in the templates."""

WORDS: dict[Kind, dict[str, str]] = {
    "game": {
        "kind": "game",
        "group": GAMES,
        "dependencies": '"attrs", "gamedp"',
        "example": "gamedp solve $name --set rows=3",
    },
    "solver": {
        "kind": "solver",
        "group": SOLVERS,
        "dependencies": '"attrs", "gamedp", "numpy"',
        "example": "gamedp solve matches --discount 0.9 --solver $name",
    },
}
"""Words in the templates, for each kind of package."""

FILES = {
    "pyproject.toml": "pyproject",
    "README.md": "readme",
    "src/$package/__init__.py": "$kind",
    "tests/test_$module.py": "${kind}_tests",
}
"""The template of each file."""


def new(
    name: str,
    /,
    *,
    solver: Flag = False,
    directory: Path = Path(),
    as_json: Annotated[Flag, Parameter(name="--json", help="Print a JSON object.")] = False,
) -> None:
    """Write a package for a game of your own, with its tests: a small game, for you to change.

    Parameters
    ----------
    name
        The name of the game or solver: small letters, digits, and - or _ between them. The package
        is the new folder `gamedp-NAME`.
    solver
        Write a package for a solver instead.
    directory
        Make that folder in this one; the current folder if not given.
    """
    kind: Kind = "solver" if solver else "game"
    files = files_of(name, kind)
    if name in registered(WORDS[kind]["group"]):
        refuse(f"there is a {kind} {name} already, as `gamedp {kind}s` tells; choose another.")
    folder = _write(as_path(directory) / _folder(name), files)
    steps = [f"cd {folder}", 'python -m pip install -e ".[test]"', "python -m pytest"]
    if as_json:
        print_json({"name": name, "kind": kind, "folder": str(folder), "files": list(files)})
    else:
        print(f"{folder} holds the {kind} {name}:", *files, sep="\n  ")
        print("\nInstall it, and run its tests:", *steps, sep="\n  ")


def _folder(name: str) -> str:
    return f"gamedp-{name.replace('_', '-')}"


def files_of(name: str, kind: Kind) -> dict[str, str]:
    """Return the files of a new package: their paths in its folder, and their texts.

    Raises
    ------
    InvalidParameterError
        If the name makes no package, module and class.
    """
    class_name = "".join(part.capitalize() for part in re.split("[-_]", name))
    if not NAMES.fullmatch(name):
        refuse(
            f"{name!r} cannot be the name of a new {kind}; choose one of small letters and digits, "
            "with - or _ between them, such as my-game."
        )
    if keyword.iskeyword(class_name) or class_name in OWN_NAMES:
        refuse(f"the class of {name} would be {class_name}, which is taken; choose another name.")
    module = name.replace("-", "_")
    words = WORDS[kind] | {
        "name": name,
        "module": module,
        "package": f"gamedp_{module}",
        "folder": _folder(name),
        "class_name": class_name,
    }
    words["example"] = string.Template(words["example"]).substitute(words)
    templates = importlib.resources.files("gamedp.cli") / "template"

    def filled(text: str) -> str:
        return string.Template(text).substitute(words)

    return {
        filled(path): filled((templates / f"{filled(template)}.txt").read_text("utf-8"))
        for path, template in FILES.items()
    }


def _write(folder: Path, files: dict[str, str]) -> Path:
    """Write a new folder, or nothing at all."""
    if folder.exists() or folder.is_symlink():
        refuse(f"{folder} exists already; choose another name, or another --directory.")
    if not folder.parent.is_dir():
        refuse(f"there is no folder {folder.parent} to write {folder.name} in.")
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as beside:
        made = Path(beside, folder.name)
        for path, text in files.items():
            (made / path).parent.mkdir(parents=True, exist_ok=True)
            (made / path).write_text(text, "utf-8")
        made.rename(folder)
    return folder
