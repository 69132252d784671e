"""All score cards of Kniffel, beside the same recurrence in straight-line C and a solver in Rust.

Ours is the sweep of a stage that any staged game gets: as it is by default, and as unrolled machine
code that has been made before. Both sides' values of all cards are compared.
The solver in Rust, `yatzy-solver`, takes part where it is installed; its five equal dice are no
Full House, so ours are not either. Seconds are of processor time unless said otherwise; ours begin
with the model, so that the rules are compiled and their stage is explored.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import attrs
import measure
import numpy as np
from numpy.typing import NDArray

import gamedp
from gamedp.games.kniffel import Kniffel, Sheet

AT_MOST = 3.0  # times the C peer's time
AT_LEAST = 1.7  # times as fast with two threads
PEAK = 300 * 2**20
QUERY = 1.0  # seconds of a whole process, on a table that is there
WITHIN = 0.010  # seconds in a running one

RUST = """
import json, time
import yatzy_solver
start = time.process_time()
solver = yatzy_solver.Solver.build(yatzy_solver.Variant("american+no-bonus"))
seconds = time.process_time() - start
print(json.dumps({"seconds": seconds, "value": solver.state_value("upper 0 | filled -")}))
"""

WHOLE = """
import gamedp
from gamedp.games.kniffel import Kniffel
from gamedp.runtime.machine import peak_bytes
gamedp.solve(Kniffel(), solver=gamedp.stages.StageInduction(threads=2))
print(peak_bytes())
"""


def solver(threads: int = 1, *, unrolls: bool | None = None) -> gamedp.stages.StageInduction:
    return gamedp.stages.StageInduction(threads=threads, unrolls=unrolls)


def seconds_of(model: Any, chosen: gamedp.stages.StageInduction) -> float:
    return measure.processor_seconds(lambda: gamedp.solve(model, solver=chosen))


def table_of(program: Path) -> NDArray[np.float64]:
    """Return the peer's value of every card."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table"
        measure.run_peer(program, 1, path)
        return np.fromfile(path)


def beside_c(rounds: int, *, with_unrolled_code: bool) -> list[measure.Row]:
    model = gamedp.compile(Kniffel())
    program = measure.build_peer("kniffel")

    def theirs() -> float:
        return float(measure.run_peer(program, 1)["seconds"])  # type: ignore[arg-type]

    rows = []
    for unrolls in [None, True] if with_unrolled_code else [None]:
        chosen = solver(unrolls=unrolls)
        begin = time.perf_counter()
        solution = gamedp.solve(model, solver=chosen)
        first = time.perf_counter() - begin
        facts: dict[str, Any] = {
            "proven bound": solution.width,
            "guarantee": solution.guarantee.name,
            "cards": solution.statistics.states,
            "seconds of the first solve": first,
        }
        agrees = None
        if program is not None:
            difference = float(np.nanmax(np.abs(table_of(program) - solution.values)))
            facts["largest difference"] = difference
            agrees = difference < 1e-9
        rows.append(
            measure.compare(
                f"kniffel, one thread, {'unrolled code' if unrolls else 'by default'}",
                lambda chosen=chosen: seconds_of(model, chosen),
                None if program is None else theirs,
                rounds=rounds,
                beside="C",
                agrees=agrees,
                facts=facts,
                goal=("<=", AT_MOST),
            )
        )
    return rows


def beside_rust(rounds: int) -> list[measure.Row]:
    what = "kniffel, five alike no Full House, one thread"
    model = gamedp.compile(Kniffel(kniffel_is_full_house=False))
    chosen = solver()
    solution = gamedp.solve(model, solver=chosen)
    if importlib.util.find_spec("yatzy_solver") is None:
        taken = min(seconds_of(model, chosen) for _ in range(rounds))
        return [measure.Row(what=what, ours=taken, beside="yatzy-solver is not installed")]

    found_values: list[float] = []

    def theirs() -> float:
        environment = os.environ | {"RAYON_NUM_THREADS": "1"}
        found = json.loads(measure.run_child([sys.executable, "-c", RUST], environment).output)
        found_values.append(found["value"])
        return float(found["seconds"])

    row = measure.compare(
        what,
        lambda: seconds_of(model, chosen),
        theirs,
        rounds=rounds,
        beside="yatzy-solver",
        goal=("<=", 1.0),
        facts={"proven bound": solution.width},
    )
    agrees = all(abs(value - solution.value()) < 1e-9 for value in found_values)
    return [attrs.evolve(row, agrees=agrees)]


def threads(rounds: int) -> measure.Row:
    model = gamedp.compile(Kniffel())

    def seconds(count: int) -> float:
        begin = time.perf_counter()
        gamedp.solve(model, solver=solver(count))
        return time.perf_counter() - begin

    pairs = measure.alternate(lambda: seconds(1), lambda: seconds(2), rounds)
    speedup = sorted(one / two for one, two in pairs)[len(pairs) // 2]
    same = {gamedp.solve(model, solver=solver(count)).values.tobytes() for count in (1, 2, 3)}
    return measure.Row(
        what="kniffel, two threads: times as fast as one, on the clock",
        ours=speedup,
        unit="",
        value=speedup,
        goal=(">=", AT_LEAST),
        agrees=len(same) == 1,
    )


def peak() -> measure.Row:
    command = [sys.executable, "-c", WHOLE]
    measure.run_child(command)  # the first one compiles
    found = int(measure.run_child(command).output)
    return measure.Row(
        what="kniffel, second start: peak of the whole process",
        ours=found,
        unit="B",
        value=found,
        goal=("<=", PEAK),
    )


def queries(rounds: int) -> list[measure.Row]:
    command = "import sys; from gamedp.cli import main; sys.exit(main())"
    card = ["-", "8", "-", "16", "15", "-", "15", "9", "25", "30", "40", "-", "-", "3", "13345"]
    with tempfile.TemporaryDirectory(prefix="gamedp-kniffel-") as folder:
        environment = measure.with_bytecode(folder) | {"GAMEDP_CACHE_DIR": folder}
        line = [sys.executable, "-c", command, "kniffel", *card]
        first = measure.run_child(line, environment)
        runs = [measure.run_child(line, environment) for _ in range(rounds)]
        whole = sorted(run.seconds for run in runs)[rounds // 2]
        agrees = all("239.713069" in run.output for run in [first, *runs])
    solution = gamedp.solve(Kniffel(), solver=solver())
    solution.inside(Sheet(0, 0, 0))  # what is looked up once
    taken = []
    for number in range(1, 21):
        begin = time.perf_counter()
        solution.inside(Sheet(number, 64 * number + 21, 0)).action_values(_keeping())
        taken.append(time.perf_counter() - begin)
    inside = sorted(taken)[len(taken) // 2]
    return [
        measure.Row(
            what="gamedp kniffel, one position, table kept: whole process, on the clock",
            ours=whole,
            value=whole,
            goal=("<=", QUERY),
            agrees=agrees,
        ),
        measure.Row(
            what="one position of a new card in a running process, on the clock",
            ours=inside,
            value=inside,
            goal=("<=", WITHIN),
        ),
    ]


def _keeping() -> Any:
    from gamedp.games.kniffel import KEEPING, Turn, throw  # noqa: PLC0415

    return Turn(KEEPING, 2, throw("11245"), 0, 0, 0)


def kniffel(quick: bool) -> list[measure.Row]:
    rounds = 1 if quick else 9
    rows = [*beside_c(rounds, with_unrolled_code=not quick), *beside_rust(min(rounds, 3))]
    rows += [threads(rounds), *queries(rounds)]
    return rows if quick else [*rows, peak()]
