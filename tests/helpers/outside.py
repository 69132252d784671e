"""A package of somebody else's, as `gamedp new` writes it: found by its entry point."""

import contextlib
import importlib
import sys
import tomllib

from gamedp.cli.new import files_of

__all__ = ["installed"]


@contextlib.contextmanager
def installed(name, kind, folder, monkeypatch):
    """Yield the module of a new package in a folder, installed as far as Python can tell."""
    for path, text in files_of(name, kind).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module = project["name"].replace("-", "_")
    information = folder / "src" / f"{module}-{project['version']}.dist-info"
    information.mkdir()
    words = f"Name: {project['name']}\nVersion: {project['version']}\n"
    (information / "METADATA").write_text(words, encoding="utf-8")
    ((group, points),) = project["entry-points"].items()
    lines = [f"[{group}]", *(f"{key} = {value}" for key, value in points.items())]
    (information / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.syspath_prepend(folder / "src")
    importlib.invalidate_caches()
    yield importlib.import_module(module)
    sys.modules.pop(module, None)
