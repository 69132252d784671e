"""How much memory an exploration takes: 10^8 transitions fit in 3 GiB.

A process of its own builds the slip grid of 2,900 by 2,900 fields. Its peak stands beside the bytes
of the finished model: the arrays grow in place, so that no moment needs twice of anything.
Another process has less memory allowed than that needs, and is told in time.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import measure
from problems import SlipGrid

import gamedp

MOST = 3 * 2**30


def child(size: int, max_bytes: float | None) -> dict[str, Any]:
    """Build the grid in this process and return what that took."""
    gamedp.compile(SlipGrid(size=2))  # what the compiler takes is not the model's
    before = measure.peak_bytes()
    reports: list[gamedp.Progress] = []
    try:
        model = gamedp.compile(SlipGrid(size=size), progress=reports.append, max_bytes=max_bytes)
    except gamedp.LimitExceededError as error:
        return {"message": str(error), "peak": measure.peak_bytes(), "reports": len(reports)}
    return {
        "before": before,
        "peak": measure.peak_bytes(),
        "model": model.num_bytes,
        "states": model.num_states,
        "choices": model.num_choices,
        "transitions": model.num_transitions,
        "seconds": model.seconds["explore"],
        "reports": len(reports),
        "last report": reports[-1].detail if reports else "",
    }


def in_a_child(size: int, max_bytes: int | None = None) -> dict[str, Any]:
    """Return what a process of its own found."""
    command = [sys.executable, __file__, "--child", str(size), str(max_bytes or "")]
    found: dict[str, Any] = json.loads(measure.run_child(command).output)
    return found


def memory(quick: bool) -> list[measure.Row]:
    size = 100 if quick else 2900
    found = in_a_child(size)
    peak, model = found["peak"], found["model"]
    ratio = peak / model
    stopped = in_a_child(size, max_bytes=model // 4)
    facts = {
        "states": found["states"],
        "choices": found["choices"],
        "transitions": found["transitions"],
        "bytes a transition at the peak": peak / found["transitions"],
        "of the model": model / found["transitions"],
        "before, with the compiler loaded": measure.scaled(found["before"], "B"),
        "seconds": found["seconds"],
        "reports of progress": found["reports"],
        "the last of them": found["last report"],
    }
    return [
        measure.Row(
            what=f"grid {size}: peak memory",
            ours=peak,
            unit="B",
            beside="the model alone",
            theirs=model,
            ratio=(ratio, ratio, ratio),
            value=peak,
            goal=("<=", MOST),
            facts=facts,
        ),
        measure.Row(
            what=f"grid {size}: stopped at a limit of {measure.scaled(model // 4, 'B')}",
            ours=stopped["peak"],
            unit="B",
            facts={"says": stopped["message"]},
        ),
    ]


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        size, limit = sys.argv[2:]
        print(json.dumps(child(int(size), float(limit) if limit else None)))
        sys.exit()
    sys.exit(measure.main(memory))
