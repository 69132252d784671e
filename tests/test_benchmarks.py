"""Every benchmark runs, in its quick form, and finds what its rivals find. No time is asserted."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
COMPILER = shutil.which("cc")
LINUX = sys.platform.startswith("linux")

pytestmark = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT", "0") != "0", reason="benchmarks are of compiled code"
)

RUST = importlib.util.find_spec("yatzy_solver") is not None
SPIEL = importlib.util.find_spec("pyspiel") is not None
STORM = importlib.util.find_spec("stormpy") is not None
SOLVERS = sum(
    importlib.util.find_spec(name) is not None for name in ("quantecon", "mdpsolver", "mdptoolbox")
)

# How many rows each has, and how many of them compare two answers, with and without a C compiler.
EXPECTED = {
    "exploration": (9, 3, 1),
    "wubbel": (2, 2, 0),
    "pig": (2, 2, 2),
    "kniffel": (5, 3 + RUST, 2 + RUST),
    "mancala": (9, 4 + SPIEL, SPIEL),
    # A row for each model, warm and cold, and two means; without Storm, those of our own models.
    "models": (12, 10, 10) if STORM else (2, 0, 0),
    # A row for each instance, and means by classes of size and of all.
    "families": (9, 6, 6) if STORM else (2, 0, 0),
    "averages": (4, 4 * STORM, 4 * STORM),
    "certificates": (5, 0, 0),
    "discounted": (max(1, SOLVERS), SOLVERS, SOLVERS),
    "sweep": (6, 4, 2),
    "methods": (60, 60, 60),
    "start": (5, 2, 2),
    "memory": (6, 0, 0),
    "graph": (2, 2, 2),
    "referee": (3, 1, 1),
    "server": (4 + LINUX, 1, 1),
    "games": (4, 2, 0),
    "tables": (5, 5, 5),
    # A row for each program, their mean, and an explicit file.
    "reading": (7, 6 * STORM, 6 * STORM),
}


def run_benchmarks(folder, *arguments, environment=None):
    """Return the exit code, the text, and the object that a run of the benchmarks writes."""
    file = folder / "found.json"
    command = [sys.executable, BENCHMARKS, "--quick", "--json", file, *arguments]
    finished = subprocess.run(
        command, check=False, capture_output=True, text=True, env=environment, timeout=280
    )
    found = json.loads(file.read_text(encoding="utf-8")) if file.exists() else None
    return finished.returncode, finished.stdout + finished.stderr, found


@pytest.mark.deep
@pytest.mark.parametrize("name", EXPECTED)
def test_a_benchmark_runs_and_its_sides_agree(name, tmp_path):
    code, text, found = run_benchmarks(tmp_path, name)
    assert code == 0, text
    count, compared, compared_without_c = EXPECTED[name]
    rows = found["rows"]
    verdicts = [row["agrees"] for row in rows if row["agrees"] is not None]
    assert verdicts == [True] * (compared if COMPILER else compared_without_c), text
    assert len(rows) == count
    for row in rows:
        assert row["ours"] > 0 or "beyond" in row["what"]  # a difference of two times
        assert row["what"] in text
    if not COMPILER and name in {"exploration", "wubbel"}:
        assert "no compiler for C" in text


@pytest.mark.deep
def test_without_a_compiler_the_rest_is_measured(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    code, text, found = run_benchmarks(tmp_path, "wubbel")
    assert code == 0, text
    assert "no compiler for C" in text
    assert [row["theirs"] for row in found["rows"]] == [None, None]
    assert found["rows"][0]["facts"]["status"] == "SOLVED"


def test_every_benchmark_is_listed():
    helpers = {"__main__", "measure", "problems", "programs", "storm"}
    assert {path.stem for path in BENCHMARKS.glob("*.py")} - helpers == set(EXPECTED)
    text = (BENCHMARKS / "README.md").read_text(encoding="utf-8")
    assert all(f"| `{name}` |" in text for name in EXPECTED)


FAKE = """
import sys
sys.path.insert(0, sys.argv.pop(1))
import measure

def row(found, sense, allowed):
    what = f"{found} {sense} {allowed}"
    return measure.Row(what=what, ours=1, value=found, goal=(sense, allowed))

def fake(quick):
    bare = [measure.Row(what="bare", ours=1, goal=goal) for goal in (None, ("<=", 1))]
    return bare + [row(*map(eval, goal.split())) for goal in GOALS]

GOALS = sys.argv.pop(1).split(";")
sys.exit(measure.main(fake))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("goals", "missed"),
    [
        ("3.9 '<=' 3.0;2.3 '>=' 3.0;-1.0 '<=' 3.0", []),
        ("4.1 '<=' 3.0;2.9 '<=' 3.0", ["4.1 <= 3.0"]),
        ("2.2 '>=' 3.0;0.0 '>=' 3.0", ["2.2 >= 3.0", "0.0 >= 3.0"]),
    ],
)
def test_a_goal_missed_by_more_than_a_third_fails_where_that_is_asked(goals, missed):
    def run(*options):
        command = [sys.executable, "-c", FAKE, BENCHMARKS, goals, *options]
        finished = subprocess.run(command, check=False, capture_output=True, text=True)
        lines = finished.stdout.splitlines()
        told = [line.split(": ")[1] for line in lines if line.startswith("GOAL MISSED")]
        return finished.returncode, told, finished.stderr

    assert run("--check")[:2] == (bool(missed), missed)
    assert run()[:2] == (0, [])
    code, _, error = run("--check", "--quick")
    assert code == 2
    assert "leave out --quick" in error


def test_an_unknown_name(tmp_path):
    code, text, found = run_benchmarks(tmp_path, "chess")
    assert code == 2
    assert "there is no benchmark 'chess'" in text
    assert found is None
