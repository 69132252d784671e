"""What a run of the tests under coverage leaves: which test runs which line, for how long."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

__all__ = ["enter", "leave", "note"]

_seconds: dict[str, float] = {}


def _running() -> Any:
    """Return the coverage that is being measured, if any is."""
    coverage = sys.modules.get("coverage")
    return None if coverage is None else coverage.Coverage.current()


def enter(test: str) -> None:
    """Have the lines that run from now on counted for a test, whatever its parameters."""
    running = _running()
    if running is not None:
        running.switch_context(test.partition("[")[0])


def note(test: str, seconds: float) -> None:
    """Take down what a part of a test took."""
    _seconds[test] = _seconds.get(test, 0.0) + seconds


def leave() -> None:
    """Write what all tests took beside the file of the coverage."""
    running = _running()
    if running is not None:
        path = Path(f"{running.get_data().data_filename()}-seconds.json")
        path.write_text(json.dumps(_seconds), encoding="utf-8")
