"""What a run of the tests under coverage leaves: which test runs which line, for how long.

`sys.monitoring`, which Python has since 3.12, tells of a line once for each test function and is
silent from then on: loops in plain Python run at full speed. Coverage's own contexts need its
tracer, which is asked at every line and doubles the time of the whole suite.
"""

from __future__ import annotations

import json
import os
import sys
from array import array
from pathlib import Path
from types import CodeType
from typing import Any

from coverage import Coverage, CoverageData

__all__ = ["enter", "leave", "note", "write"]

PACKAGE = f"{os.sep}gamedp{os.sep}"
"""What is in the path of each file of the library."""

TOOL = 4
"""Which of the six tools of `sys.monitoring` this is; coverage is number 1."""

_seconds: dict[str, float] = {}
_numbers: dict[tuple[str, int], int] = {}  # of each line that has been run, by file and line
_lines_of: dict[str, array[int]] = {}  # the numbers of lines, for each test function
_current: array[int] = array("I")


def _take_down(code: CodeType, line: int) -> Any:
    """Take down a line of the library; hear no more of it until the next test."""
    if PACKAGE in code.co_filename:
        _current.append(_numbers.setdefault((code.co_filename, line), len(_numbers)))
    return sys.monitoring.DISABLE


def enter(test: str) -> None:
    """Have the lines that run from now on taken down for a test, whatever its parameters."""
    global _current  # noqa: PLW0603 - the one that runs
    if Coverage.current() is None or sys.version_info < (3, 12):
        return
    monitoring = sys.monitoring
    if monitoring.get_tool(TOOL) is None:
        monitoring.use_tool_id(TOOL, "gamedp's tests")
        monitoring.register_callback(TOOL, monitoring.events.LINE, _take_down)
        monitoring.set_events(TOOL, monitoring.events.LINE)
    of_test = _lines_of.setdefault(test.partition("[")[0], array("I"))
    if of_test is not _current:
        _current = of_test
        monitoring.restart_events()


def note(test: str, seconds: float) -> None:
    """Take down what a part of a test took."""
    _seconds[test] = _seconds.get(test, 0.0) + seconds


def leave() -> None:
    """Write what tests ran and took beside the file of the coverage."""
    running = Coverage.current()
    if running is None or not _lines_of:
        return
    sys.monitoring.set_events(TOOL, 0)
    places = list(_numbers)
    lines: dict[str, dict[str, list[int]]] = {}
    for test, numbers in _lines_of.items():
        of_test = lines[test] = {}
        for number in numbers:
            file, line = places[number]
            of_test.setdefault(file, []).append(line)
    write(Path(running.get_data().data_filename()), lines, _seconds)


def write(path: Path, lines: dict[str, dict[str, list[int]]], seconds: dict[str, float]) -> None:
    """Write which lines of which files each test ran, as contexts, and its seconds."""
    data = CoverageData(f"{path}-tests")
    data.erase()
    for test, of_test in lines.items():
        data.set_context(test)
        data.add_lines(of_test)
    data.close()
    Path(f"{path}-seconds.json").write_text(json.dumps(seconds), encoding="utf-8")
