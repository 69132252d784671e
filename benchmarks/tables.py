"""Pig by tiers on disk, beside the same positions solved all in memory.

By tiers, each is explored, solved and written, and memory holds one at a time. Seconds are of
processor time, and peaks those of the process above what it began with. Both
prove a width of at most 1e-6.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable

import measure

import gamedp
from gamedp.games.wubbel import Wubbel
from gamedp.runtime.machine import peak_bytes

AT_MOST = 1.25  # times as long as in memory


def tables(quick: bool = False) -> list[measure.Row]:
    """Measure both ways."""
    goal, rounds = (20, 1) if quick else (200, 5)
    game = Wubbel.pig(goal)
    found: dict[str, tuple[float, float]] = {}
    facts: dict[str, float] = {"positions": goal**2 * (goal + 1) / 2}

    def by_tiers() -> None:
        with tempfile.TemporaryDirectory() as folder:
            made = gamedp.tables.tabulate(game, folder)
            found["tiers"] = made.bounds()
            facts["proven width"], facts["bytes on disk"] = made.width, made.num_bytes

    def in_memory() -> None:
        solution = gamedp.solve(game, tolerance=1e-6, compile="always")
        found["memory"] = solution.bounds()
        facts["proven width in memory"] = solution.width

    def measured(work: Callable[[], None], name: str) -> float:
        measure.forget_peak()
        before = peak_bytes()
        seconds = measure.processor_seconds(work)
        facts[f"peak bytes {name}"] = peak_bytes() - before
        return seconds

    by_tiers(), in_memory()
    (low, high), (least, most) = found["tiers"], found["memory"]
    row = measure.compare(
        f"Pig to {goal} by tiers",
        lambda: measured(by_tiers, "by tiers"),
        lambda: measured(in_memory, "in memory"),
        rounds=rounds,
        beside="in memory",
        goal=("<=", AT_MOST),
        agrees=low <= most and least <= high,
        facts=facts,
    )
    return [row]
