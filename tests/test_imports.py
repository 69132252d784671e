"""No file imports, directly or not, a file that imports it: not inside functions nor for types."""

import ast
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path

import gamedp
from gamedp.runtime.registry import SOLVERS

ROOT = Path(gamedp.__file__).parent


def modules():
    """Return the files by the names of their modules."""
    found = {}
    for path in ROOT.rglob("*.py"):
        parts = ("gamedp", *path.relative_to(ROOT).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def imports_in(path):
    """Return the lines of a file that import something, anywhere in it."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return [node for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom))]


def imported_by(path, known):
    """Return which modules a file imports anywhere; of a package, the part that is named."""
    found = set()
    for node in imports_in(path):
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module is not None:
            for alias in node.names:
                part = f"{node.module}.{alias.name}"
                found.add(part if part in known else node.module)
        elif isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
    return found & known


def circles(graph):
    """Return the groups of modules that can reach each other, by Tarjan's algorithm."""
    order, low, stack, found = {}, {}, [], []

    def visit(module):
        order[module] = low[module] = len(order)
        stack.append(module)
        for other in sorted(graph[module]):
            if other not in order:
                visit(other)
            if other in stack:
                low[module] = min(low[module], low[other])
        if low[module] == order[module]:
            group = stack[stack.index(module) :]
            del stack[stack.index(module) :]
            if len(group) > 1:
                found.append(sorted(group))

    for module in sorted(graph):
        if module not in order:
            visit(module)
    return found


def test_there_is_no_circle_of_imports():
    paths = modules()
    graph = {name: imported_by(path, paths.keys()) - {name} for name, path in paths.items()}
    # The public face itself imports nothing: its names are looked up when they are asked for.
    graph["gamedp"] = set()
    assert len(graph) > 250
    assert circles(graph) == []


def test_only_what_chooses_a_method_imports_methods():
    paths = modules()
    methods = {name for name in paths if name.startswith("gamedp.solvers.methods.")}
    registered = {point.value.partition(":")[0] for point in entry_points(group=SOLVERS)}
    assert methods == {name for name in registered if name.startswith("gamedp.solvers.")}
    importing = {name for name, path in paths.items() if imported_by(path, methods - {name})}
    assert importing == {"gamedp.solvers.choose"}


INSIDE = {
    *(f"compiler/{name}.py" for name in ("bridge", "cache", "integers", "native")),
    "runtime/jit.py",
    "stages/vector_code.py",
}
"""What knows the inside of numba, which any release may change: mend them if one does."""

PUBLIC = {"numba", "numba.extending", "numba.types", "numba.typed"}
"""Modules of numba with a promise."""


def test_few_files_know_the_inside_of_numba():
    knowing = set()
    for path in ROOT.rglob("*.py"):
        for node in imports_in(path):
            names = (
                {node.module or ""} if isinstance(node, ast.ImportFrom) else
                {alias.name for alias in node.names}
            )  # fmt: skip
            inside = {name for name in names if name.split(".")[0] == "numba"} - PUBLIC
            private = isinstance(node, ast.ImportFrom) and node.module == "numba" and any(
                alias.name.startswith("_") or alias.name == "core" for alias in node.names
            )  # fmt: skip
            if inside or private:
                knowing.add(path.relative_to(ROOT).as_posix())
    assert knowing == INSIDE


def test_a_registered_method_is_a_public_name():
    """Type checkers read no entry points: so its one line in the stub is needed, and no other."""
    paths = [point.value.partition(":") for point in entry_points(group=SOLVERS)]
    classes = {name for module, _, name in paths if module.startswith("gamedp.solvers.")}
    missing = classes - set(gamedp.solvers.__all__)
    assert not missing, f"name these in src/gamedp/solvers/__init__.pyi: {missing}"


def test_a_circle_would_be_seen():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == [["b", "c"]]
