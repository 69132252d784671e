"""Puts one fault into a copy of the library and asks the tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import attrs

from mutants.choosing import PACKAGE, ROOT, Recorded
from mutants.making import Mutant

__all__ = ["KILLED", "SURVIVED", "TIMEOUT", "UNCOVERED", "Tried", "tried", "what_fails"]

KILLED, TIMEOUT, SURVIVED, UNCOVERED = "killed", "timeout", "survived", "uncovered"

SHARES = (5.0, 20.0)
"""Seconds of tests that are asked first, and those that are asked where these notice nothing."""

PATIENCE, START = 4.0, 60.0
"""How many times longer tests may take than before, and how long they may take to start."""

COMPILED = ("bellman/", "graph/", "compiler/")
"""What is tried compiled, too, if nothing is noticed; kernels alone, whose tests compile little."""


@attrs.frozen
class Tried:
    """What became of a fault: the verdict, the test that noticed it, and the seconds taken."""

    mutant: Mutant
    verdict: str
    test: str
    seconds: float
    is_compiled: bool = False


@contextmanager
def _with_fault(mutant: Mutant | None) -> Iterator[Path]:
    """Make a copy of the library with a fault; return the folder that it lies in."""
    with tempfile.TemporaryDirectory(prefix="gamedp-mutant-") as folder:
        copy = Path(folder) / "gamedp"
        shutil.copytree(PACKAGE, copy)  # with its byte code, which holds but for the fault
        if mutant is not None:
            file = copy / mutant.path
            file.write_text(mutant.applied_to(file.read_text(encoding="utf-8")), encoding="utf-8")
        yield Path(folder)


def _asked(folder: Path, tests: list[str], seconds: float, *, compiled: bool) -> tuple[str, str]:
    """Run tests against the library in a folder; return the verdict and the test that failed."""
    names = folder / "tests.txt"
    names.write_text("\n".join(tests), encoding="utf-8")
    environment = os.environ | {
        "PYTHONPATH": str(folder),
        "NUMBA_DISABLE_JIT": "0" if compiled else "1",
        "NUMBA_CACHE_DIR": str(folder / "numba"),
        "COVERAGE_PROCESS_START": "",
    }
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-rfE", "-p", "no:cacheprovider",
               "--numprocesses=0", "-m", "", "--no-header", f"@{names}"]  # fmt: skip
    try:
        found = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
            timeout=START + PATIENCE * seconds,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return TIMEOUT, ""
    if found.returncode == 0:
        return SURVIVED, ""
    failed = [line for line in found.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    words = failed[0].split(" - ")[0].partition(" ")[2] if failed else found.stderr.strip()[-200:]
    return KILLED, words


def tried(mutant: Mutant, recorded: Recorded, seed: str, test: str = "") -> Tried:
    """Try one fault: first on a few tests that run its line, then on more, then compiled.

    Where a `test` is known that must notice it, that is the one that is asked.
    """
    begin = time.monotonic()

    def result(verdict: str, test: str = "", *, compiled: bool = False) -> Tried:
        return Tried(mutant, verdict, test, time.monotonic() - begin, compiled)

    tests = [test] if test else recorded.tests_of(mutant)
    if not tests:
        return result(UNCOVERED)
    with _with_fault(mutant) as folder:
        if test:
            return result(*_asked(folder, *recorded.all_of(test), compiled=False))
        for share in SHARES:
            some, seconds = recorded.drawn(tests, share, f"{seed} {share}")
            verdict, by = _asked(folder, some, seconds, compiled=False)
            if verdict != SURVIVED:
                return result(verdict, by)
        if mutant.path.startswith(COMPILED):
            some, seconds = recorded.drawn(tests, SHARES[0], f"{seed} compiled")
            verdict, by = _asked(folder, some, seconds + START, compiled=True)
            return result(verdict, by, compiled=True)
    return result(SURVIVED)


def what_fails(tests: list[str]) -> str:
    """Say which of the tests fails without any fault, if one does."""
    if not tests:
        return ""
    with _with_fault(None) as folder:
        verdict, test = _asked(folder, tests, 10 * START, compiled=False)
    return "" if verdict == SURVIVED else f"{verdict} {test}"
