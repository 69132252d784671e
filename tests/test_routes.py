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

MODEL_TO_BOUNDS, GAME_TO_SOLUTION = 27, 39
"""Files of which functions run from a model to its bounds, and from a game to its solution."""

FILES, CODE_LINES, CODE_LINES_OF_THE_CORE = 399, 73_483, 62_034
"""In the package; the core is all but the command line, the pages and Kniffel.

Lines of new capabilities, and their new files in brackets:

- programs: PRISM and JANI 3,300 (11), formulas and their answers 1,900 (10), files of properties
  85, lines of files made on request 40, shared readers -180;
- comparisons of methods, with command and picture: 1,530 (10);
- tables on disk: tiers 820 (7), blocks, workers and command 460 (2), refusals 100, threads 30,
  rules that do not compile, and checks of places 330 (2);
- other libraries: Gymnasium 200 (2), OpenSpiel 400 (2), games made into theirs 310 (5), and into
  OpenSpiel's, with its methods in comparisons 260 (1);
- output: policies as text, columns, pictures of boards and `gamedp plot` 900 (5), results that
  describe themselves 190, a parameter after a game's name 18;
- pages: steps, patterns and puzzles 480 (1), puzzles of Kniffel and of more players 130 (1), that
  differ 13, their distance and Mancala's end 50, values on boards, rules and presets 160;
- plugins: `gamedp new` and checks by name 320 (2), formats of files 96 (1);
- rules: any hashable action, dataclasses 320, rewards of outcomes 160, two players' own payoffs 60,
  values at the end of a horizon 100, targets within one 66;
- speed: states in the order of the sweeps 70, fewer calls of kernels 70, components without copies
  25, games and tournaments on executors 62 (1);
- rigour: best actions of averages 20, weights and players that are none 20, proofs of formulas 15,
  searches that find out less than a value 19, starts and files that are refused 29,
  ways out as options 23, arguments of methods 25, facts of formulas 19, starts 30,
  what policies are made of 38, rewards added exactly 21, JANI's rewards, scopes and names 91,
  errors of ratings 26, arguments and manifests that are refused 30, who moves 15, decimals in
  formulas 80, rules that change or answer otherwise compiled 60, files of PRISM and archives 30,
  links that state parameters 20.
"""

SOLVERS_FLOORS = 10
"""Modules in the longest chain of imports inside `solvers`."""

SHARED_CLASS_NAMES = 2
"""Names of classes that stand in two modules or more. `Card` is the one of Kniffel and a view;
`OpenSpiel` a game and a program in comparisons."""

BARE_ADJECTIVES = frozenset({"LARGEST", "LARGE", "PATIENCE", "MANY", "MOST", "FEW", "SMALL"})
BARE_CONSTANTS = 0
"""Constants of a module whose whole name is one of these: neither what nor in which unit."""

OPENINGS = ("Say whether", "What", "How", "Who")
"""With these no docstring begins: it says what is returned, or names what something is."""

TRACED = """
import json, sys, threading
import gamedp
from gamedp.games.mancala import Mancala
from gamedp.games.wubbel import Hold, Wubbel

package = sys.argv[1]


def files_of(work):
    seen = {}

    def note(frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(package) and code.co_name != "<module>":
            if not code.co_name.startswith("<") and not code.co_filename.endswith("__init__.py"):
                seen.setdefault(code.co_filename[len(package) + 1:])

    threading.setprofile(note)
    sys.setprofile(note)
    work()
    sys.setprofile(None)
    threading.setprofile(None)
    return list(seen)


game, mancala = Wubbel(goal=12), Mancala(stones=1, pits=3)
model = gamedp.compile(game)
solution = gamedp.solve(model)
works = {
    "solve": lambda: gamedp.solve(model).bounds(),
    "search": lambda: gamedp.search(mancala, depth=3).bounds(),
    "evaluate": lambda: gamedp.evaluate(game, [solution, Hold(5)]).bounds(),
    "certify": lambda: gamedp.verify(model, gamedp.certify(solution)),
    "game": lambda: gamedp.solve(game),
}
for work in works.values():
    work()  # what is done once is no part of the way
print(json.dumps({name: files_of(work) for name, work in works.items()}))
"""

ROUTES = {
    "solve": "From a model to the bounds of a position, `gamedp.solve(model).bounds()`",
    "search": "From a position to its value some moves ahead, `gamedp.search(game, depth=3)`",
    "evaluate": "From two policies to their values, `gamedp.evaluate(game, policies)`",
    "certify": "From a solution to its proof, `gamedp.verify(model, gamedp.certify(solution))`",
}

GUIDE = Path(__file__).parents[1] / "CONTRIBUTING.md"
MARKS = "<!-- routes: python tests/test_routes.py -->\n", "<!-- end of the routes -->\n"


def traced():
    """Return the files of which functions run, in order of their first call, for each route."""
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    environment.pop("COVERAGE_PROCESS_START", None)
    found = subprocess.run(
        [sys.executable, "-c", TRACED, str(PACKAGE)],
        env=environment, capture_output=True, text=True, check=True, timeout=300,
    )  # fmt: skip
    return json.loads(found.stdout)


def written(routes):
    """Return the routes as the guide shows them: each file with its own first sentence."""
    lines = []
    for name, title in ROUTES.items():
        known = set(routes["solve"]) if name != "solve" else set()
        besides = ", in addition to files of the first route" if known & set(routes[name]) else ""
        lines += [f"{title}{besides}:", ""]
        for file in (file for file in routes[name] if file not in known):
            path = PACKAGE / file
            sentence = ast.get_docstring(ast.parse(path.read_text("utf-8"))).split("\n\n")[0]
            lines.append(f"- `{file}`: {' '.join(sentence.split())}")
        lines.append("")
    return "\n".join(lines)


@pytest.fixture(scope="module")
def routes():
    return traced()


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


def test_few_files_run_for_one_number(routes):
    within("files from a model to its bounds", len(routes["solve"]), MODEL_TO_BOUNDS)
    within("files from a game to its solution", len(routes["game"]), GAME_TO_SOLUTION)


def test_the_guide_shows_the_routes_as_they_are(routes):
    shown = GUIDE.read_text("utf-8").split(MARKS[0])[1].split(MARKS[1])[0]
    assert shown == written(routes), "`python tests/test_routes.py` writes them"


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


if __name__ == "__main__":
    before, _, rest = GUIDE.read_text("utf-8").partition(MARKS[0])
    after = rest.partition(MARKS[1])[2]
    GUIDE.write_text(before + MARKS[0] + written(traced()) + MARKS[1] + after, "utf-8")
