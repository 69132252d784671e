"""Which faults are tried in a run, and which tests are asked about each."""

from __future__ import annotations

import json
import random
import subprocess
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import attrs
from coverage import CoverageData

from mutants.making import Mutant, mutants_of

__all__ = ["Recorded", "Reviewed", "changed_files", "chosen", "known_mutants"]

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "gamedp"

MODULES = (
    "bellman/residuals.py", "bellman/intervals.py", "bellman/dense_elimination.py",
    "bellman/policy_proofs.py", "bellman/equation.py", "runtime/floats.py", "results/solution.py",
    "certificates/checking/*.py", "reduction/*.py", "storage/*.py",
    "model/validation/*.py", "searchers/*.py",
    "compiler/explore_loop.py", "rules/expand.py",
)  # fmt: skip
"""Where a fault that nobody notices costs most."""

FILES = 4
"""Files of tests that are asked at a time: to collect one takes a second."""

OF_ONE = 6
"""Rows of one test's table that are asked at most."""


def known_mutants() -> list[Mutant]:
    """Return all faults of the modules, in their order."""
    paths = sorted({path for pattern in MODULES for path in PACKAGE.glob(pattern)})
    return [
        mutant
        for path in paths
        for mutant in mutants_of(
            path.relative_to(PACKAGE).as_posix(), path.read_text(encoding="utf-8")
        )
    ]


def changed_files(since: str) -> set[str]:
    """Return the files of the package that have changed since a revision; none if it is unknown."""
    command = ["git", "diff", "--name-only", since, "--", str(PACKAGE)]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return {line.removeprefix("src/gamedp/") for line in found.stdout.splitlines()}


@attrs.frozen
class Reviewed:
    """The list of faults that a person has looked at.

    Attributes
    ----------
    equivalent : set of keys
        What these change cannot be noticed, for the reason that stands there.
    noticed : dict of key to str
        These once went unnoticed; the test that was written then must notice them.
    """

    equivalent: frozenset[tuple[str, ...]]
    noticed: dict[tuple[str, ...], str]

    @classmethod
    def read(cls, path: Path) -> Reviewed:
        """Read the list from its file."""
        rows: list[dict[str, Any]] = tomllib.loads(path.read_text(encoding="utf-8")).get(
            "mutant", []
        )

        def reasons(verdict: str) -> dict[tuple[str, ...], str]:
            return {
                (row["path"], row["function"], row["line"], row["change"]): row["why"]
                for row in rows
                if row["verdict"] == verdict
            }

        return cls(frozenset(reasons("equivalent")), reasons("noticed"))


def chosen(
    mutants: Iterable[Mutant],
    reviewed: Reviewed,
    changed: set[str],
    *,
    count: int,
    noticed: int,
    seed: str,
) -> list[Mutant]:
    """Draw faults: some that must be noticed; of the rest half from changed files.

    The same seed draws the same faults of the same files.
    """
    draw = random.Random(seed)  # noqa: S311 - a sample
    all_of = [mutant for mutant in mutants if mutant.key not in reviewed.equivalent]
    known = [mutant for mutant in all_of if mutant.key in reviewed.noticed]
    some = draw.sample(known, min(noticed, len(known)))
    rest = [mutant for mutant in all_of if mutant.key not in reviewed.noticed]
    fresh = [mutant for mutant in rest if mutant.path in changed]
    some += draw.sample(fresh, min((count - len(some)) // 2, len(fresh)))
    others = [mutant for mutant in rest if mutant not in some]
    return some + draw.sample(others, min(count - len(some), len(others)))


class Recorded:
    """What a run of the tests under coverage has left; see `recording`."""

    def __init__(self, path: Path) -> None:
        tests = Path(f"{path}-tests")
        if not tests.exists():
            message = (
                f"There is no {tests}, which says which test runs which line. Run the suite "
                "uncompiled under coverage first, with Python 3.12 or newer."
            )
            raise FileNotFoundError(message)
        self._data = CoverageData(str(tests))
        self._data.read()
        self._files = {
            Path(name).relative_to(Path(name).parents[_depth(name)]).as_posix(): name
            for name in self._data.measured_files()
            if "gamedp" in Path(name).parts
        }
        self._seconds: dict[str, dict[str, float]] = {}
        text = Path(f"{path}-seconds.json").read_text(encoding="utf-8")
        for test, seconds in json.loads(text).items():
            self._seconds.setdefault(test.partition("[")[0], {})[test] = seconds

    def tests_of(self, mutant: Mutant) -> list[str]:
        """Return the tests that run the line of a fault, without their parameters."""
        name = self._files.get(mutant.path)
        contexts = {} if name is None else self._data.contexts_by_lineno(name)
        return sorted(test for test in contexts.get(mutant.number, ()) if test in self._seconds)

    def all_of(self, test: str) -> tuple[list[str], float]:
        """Return a test with all its parameters, and the seconds that it takes."""
        table = self._seconds.get(test, {})
        return sorted(table), sum(table.values())

    def drawn(self, tests: Iterable[str], seconds: float, seed: str) -> tuple[list[str], float]:
        """Draw some of the tests, with parameters, that take so many seconds; add their time.

        They come from few files. A test that takes longer is drawn only if there is no other.
        """
        draw = random.Random(seed)  # noqa: S311 - a sample
        by_file: dict[str, list[str]] = {}
        for test in tests:
            by_file.setdefault(test.partition("::")[0], []).append(test)
        rows: list[tuple[float, str]] = []
        for file in draw.sample(sorted(by_file), min(FILES, len(by_file))):
            for test in by_file[file]:
                table = sorted(self._seconds[test])
                some = draw.sample(table, min(OF_ONE, len(table)))
                rows += [(self._seconds[test][row], row) for row in some]
        draw.shuffle(rows)
        total, found = 0.0, []
        for cost, row in rows:
            if total + cost <= seconds:
                total += cost
                found.append(row)
        if not found and rows:
            total, row = min(rows)
            found = [row]
        return found, total


def _depth(name: str) -> int:
    """Return how deep a file lies within the package."""
    parts = Path(name).parts
    return len(parts) - 2 - max(place for place, part in enumerate(parts) if part == "gamedp")
