"""The size of the house, in numbers that may fall but not rise unnoticed.

Each budget is what was counted when it was last changed. A change that needs more says so here, in
the same commit and with the reason; one that needs less lowers it.
"""

import ast
import collections
import io
import json
import os
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest

import gamedp

PACKAGE = Path(gamedp.__file__).parent

MODEL_TO_BOUNDS, GAME_TO_SOLUTION = 39, 51
"""Files of which functions run from a model to its bounds, and from a game to its solution."""

FILES, CODE_LINES, CODE_LINES_OF_THE_CORE = 490, 63_900, 51_700
"""In the package; the core is all but the command line, the pages and Kniffel."""

SOLVERS_FLOORS = 19
"""Modules in the longest chain of imports inside `solvers`."""

SHARED_CLASS_NAMES = 30
"""Names of classes that stand in two modules or more."""

BARE_ADJECTIVES = frozenset({"LARGEST", "LARGE", "PATIENCE", "MANY", "MOST", "FEW", "SMALL"})
BARE_CONSTANTS = 55
"""Constants of a module whose whole name is one of these: neither what nor in which unit."""

OPENINGS = ("Say whether", "What", "How", "Who")
"""With these no docstring begins: it says what is returned, or names what something is."""

TRACED = """
import json, sys, threading
import gamedp
from gamedp.games.wubbel import Wubbel

package = sys.argv[1]


def files_of(work):
    seen = set()

    def note(frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(package) and code.co_name != "<module>":
            if not code.co_name.startswith("<"):
                seen.add(code.co_filename[len(package) + 1:])

    threading.setprofile(note)
    sys.setprofile(note)
    result = work()
    sys.setprofile(None)
    threading.setprofile(None)
    return sorted(seen), result


game = Wubbel(goal=12)
model = gamedp.compile(game)
gamedp.solve(model).bounds()
from_model, _ = files_of(lambda: gamedp.solve(model).bounds())
from_game, _ = files_of(lambda: gamedp.solve(game))
print(json.dumps([from_model, from_game]))
"""


@pytest.fixture(scope="module")
def trees():
    return {path: ast.parse(path.read_text("utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}


def within(name, count, budget, detail=""):
    """Print a count, and hold it to its budget."""
    print(f"{name}: {count:,} of {budget:,}")  # noqa: T201 - `pytest -rA` shows how much is left
    assert count <= budget, f"{name}: {count:,}, and not {budget:,}. {detail}"


def strings_of(tree):
    """Return the docstrings of a module, those below attributes and constants included."""
    for node in ast.walk(tree):
        body = getattr(node, "body", [])
        for child in body if isinstance(body, list) else []:
            value = child.value if isinstance(child, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield value.value.strip()


def code_lines(path, tree):
    """Return the number of lines that are neither blank, nor comments, nor docstrings."""
    ignored = {
        tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
        tokenize.ENCODING, tokenize.ENDMARKER,
    }  # fmt: skip
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(path.read_text("utf-8")).readline):
        if token.type not in ignored:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(tree):
        value = node.value if isinstance(node, ast.Expr) else None
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            lines -= set(range(node.lineno, node.end_lineno + 1))
    return len(lines)


def test_few_files_run_for_one_number():
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    environment.pop("COVERAGE_PROCESS_START", None)
    found = subprocess.run(
        [sys.executable, "-c", TRACED, str(PACKAGE)],
        env=environment, capture_output=True, text=True, check=True, timeout=300,
    )  # fmt: skip
    from_model, from_game = json.loads(found.stdout)
    within("files from a model to its bounds", len(from_model), MODEL_TO_BOUNDS, from_model)
    within("files from a game to its solution", len(from_game), GAME_TO_SOLUTION, from_game)


def test_the_package_does_not_grow_unnoticed(trees):
    lines = {path.relative_to(PACKAGE): code_lines(path, tree) for path, tree in trees.items()}
    core = sum(
        count
        for path, count in lines.items()
        if path.parts[0] not in {"cli", "web"} and path.parts[:2] != ("games", "kniffel")
    )
    within("files", len(lines), FILES)
    within("lines of code", sum(lines.values()), CODE_LINES)
    within("lines of code of the core", core, CODE_LINES_OF_THE_CORE)


def test_solvers_have_few_floors(trees):
    inside = {
        ".".join(("gamedp", *path.relative_to(PACKAGE).with_suffix("").parts)): tree
        for path, tree in trees.items()
        if path.relative_to(PACKAGE).parts[0] == "solvers" and path.name != "__init__.py"
    }
    below = {
        name: {
            target
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module
            for target in (node.module, *(f"{node.module}.{each.name}" for each in node.names))
            if target in inside
        }
        for name, tree in inside.items()
    }
    heights: dict[str, int] = {}

    def height(name):
        if name not in heights:
            heights[name] = 0  # a circle, as of types, ends here
            heights[name] = 1 + max(map(height, below[name]), default=0)
        return heights[name]

    within("floors inside solvers", max(map(height, inside)), SOLVERS_FLOORS)


def test_names_say_what_they_are(trees):
    homes = collections.Counter(
        node.name for tree in trees.values() for node in tree.body if isinstance(node, ast.ClassDef)
    )
    shared = sorted(name.lstrip("_") for name, count in homes.items() if count > 1)
    within("names of several classes", len(shared), SHARED_CLASS_NAMES, shared)
    bare = [
        f"{path.relative_to(PACKAGE)}: {name.id}"
        for path, tree in trees.items()
        for node in tree.body
        if isinstance(node, (ast.Assign, ast.AnnAssign))
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        for name in ast.walk(target)
        if isinstance(name, ast.Name) and name.id in BARE_ADJECTIVES
    ]
    within("constants without a noun", len(bare), BARE_CONSTANTS, bare)


def test_docstrings_begin_with_what_is_returned_or_named(trees):
    odd = [
        f"{path.relative_to(PACKAGE)}: {text.splitlines()[0]}"
        for path, tree in trees.items()
        for text in strings_of(tree)
        if text.split(" ")[0] in OPENINGS or text.startswith(OPENINGS[0])
    ]
    within("docstrings that begin oddly", len(odd), 0, odd)
