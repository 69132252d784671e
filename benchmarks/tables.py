"""Pig by tiers on disk, beside the same positions solved all in memory.

By tiers, each is explored, solved and written, and memory holds one at a time. Seconds are of
processor time, and peaks those of the process above what it began with. Both
prove a width of at most 1e-6. Two processes that make blocks are beside one, on the clock, and so
are two threads that value the endings of Mancala. Looking up and opening have no rival.
"""

from __future__ import annotations

import functools
import multiprocessing
import tempfile
import time
import timeit
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import attrs
import measure

import gamedp
from gamedp.games.mancala import Mancala
from gamedp.games.wubbel import State, Wubbel
from gamedp.runtime.machine import peak_bytes
from gamedp.tables import Tables

AT_MOST = 1.25  # times as long as in memory
TWO_AT_MOST = 1 / 1.6  # of the time of one worker
LOOK_UP = 10e-6  # seconds, from Python, of what has been read
TO_OPEN = 0.2  # seconds, with a plan of 10^6 rows


def tables(quick: bool = False) -> list[measure.Row]:
    """Measure both ways, and then two processes."""
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
    pig, mancala = Wubbel.pig(20 if quick else 500), Mancala(majority_stop=False)
    process_pool = functools.partial(
        ProcessPoolExecutor, mp_context=multiprocessing.get_context("spawn")
    )
    with process_pool(2) as processes, ThreadPoolExecutor(2) as two, ThreadPoolExecutor(1) as one:
        return [
            row,
            two_workers(
                f"Pig to {pig.goal} by two processes", pig, processes, None, 1,
                block_size=300 if quick else 1 << 15,
            ),
            two_workers(
                "all endings of Mancala by two threads", mancala, two, one, rounds,
                last_tier=8 if quick else 14,
            ),
            *looks(20 if quick else 200, 20 if quick else 1000),
        ]  # fmt: skip


def looks(goal: int, largest: int) -> list[measure.Row]:
    """Measure a look-up of what has been read, and the opening of tables with a large plan."""
    game = Wubbel.pig(goal)
    states = [State(0, own, goal - 1 - own, 2 * (own % 4)) for own in range(2, goal - 7)]
    solution = gamedp.solve(game, tolerance=1e-6, compile="always")
    with tempfile.TemporaryDirectory() as folder:
        made = gamedp.tables.tabulate(game, folder)
        pairs = [(made.bounds(state), solution.bounds(state)) for state in states]
        seconds = min(timeit.repeat(lambda: [*map(made.bounds, states)], number=10, repeat=10))
    look_up = measure.Row(
        what="bounds of a position that has been read",
        ours=seconds / (10 * len(states)),
        beside="none",
        value=seconds / (10 * len(states)),
        goal=("<=", LOOK_UP),
        agrees=all(low <= most and least <= high for (low, high), (least, most) in pairs),
    )
    game, lowest = Wubbel.pig(largest), State(0, largest - 1, largest - 1, 0)
    with tempfile.TemporaryDirectory() as folder:
        made = gamedp.tables.tabulate(game, folder, last_tier=game.tier(lowest))
        seconds = min(timeit.repeat(lambda: Tables.open(folder, game), number=1, repeat=5))
        agrees = Tables.open(folder, game).bounds(lowest) == made.bounds(lowest)
    opening = measure.Row(
        what=f"tables of Pig to {largest} are opened",
        ours=seconds,
        beside="none",
        value=seconds,
        goal=("<=", TO_OPEN),
        agrees=agrees,
        facts={"positions": largest**2 * (largest + 1) / 2},
    )
    return [look_up, opening]


def two_workers(
    name: str, game: Any, two: Executor, one: Executor | None, rounds: int, **options: int
) -> measure.Row:
    """Measure two workers side by side, and one that makes the same bytes."""
    made = set()

    def seconds(executor: Executor | None) -> float:
        with tempfile.TemporaryDirectory() as folder:
            begin = time.perf_counter()
            gamedp.tables.tabulate(game, folder, executor=executor, **options)
            taken = time.perf_counter() - begin
            made.add(b"".join(path.read_bytes() for path in sorted(Path(folder).iterdir())))
        return taken

    row = measure.compare(
        name,
        lambda: seconds(two),
        lambda: seconds(one),
        rounds=rounds,
        beside="one",
        goal=("<=", TWO_AT_MOST),
    )
    return attrs.evolve(row, agrees=len(made) == 1)
