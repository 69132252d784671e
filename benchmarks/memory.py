"""How much memory it takes: 10^8 transitions are explored in 3 GiB, 10^7 are solved in 2 GiB.

A process of its own builds the slip grid of 2,900 by 2,900 fields. Its peak stands beside the bytes
of the finished model: the arrays grow in place, so that no moment needs twice of anything.
Another process may use less memory than that needs, and is refused before it runs out.

More processes solve models made of arrays: random choices with a discount, 10^7 transitions in all;
and a chain of 10^7 states, in each of which a step costs 1, with and without a discount. All counts
that such a process ever takes, the making of the model included. Of a slip grid, one component with
10^7 transitions, and of Pig, which is certified as well, what counts is the peak above that of the
process before the model.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import measure
import numpy as np
from problems import SlipGrid, chain, many_choices

import gamedp
from gamedp.games.wubbel import Wubbel
from gamedp.runtime.machine import peak_bytes

MOST = 3 * 2**30
MOST_SOLVED = 2 * 2**30
MOST_OF_GRID = 65.0
"""Bytes a transition, above the start, at the peak of making and solving a slip grid."""
MOST_OF_PIG = 60.0
"""The same of Pig, solved and certified."""
DISCOUNT = 0.99


def child(size: int, max_bytes: float | None) -> dict[str, Any]:
    """Build the grid in this process and return what that took."""
    gamedp.compile(SlipGrid(size=2), compile="always")  # what the compiler takes is not the model's
    before = peak_bytes()
    reports: list[gamedp.Progress] = []
    try:
        model = gamedp.compile(
            SlipGrid(size=size), compile="always", progress=reports.append, max_bytes=max_bytes
        )
    except gamedp.errors.LimitExceededError as error:
        return {"message": str(error), "peak": peak_bytes(), "reports": len(reports)}
    return {
        "before": before,
        "peak": peak_bytes(),
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


def model_of(shape: str, size: int) -> gamedp.Model:
    """Return a model of arrays with about so many transitions."""
    if shape == "grid":
        return gamedp.compile(SlipGrid(size=size), compile="always")
    if shape == "pig":
        return gamedp.compile(Wubbel.pig(size), compile="always")
    if shape == "random":
        return gamedp.Model.from_arrays(**many_choices(size // 20, 4, 5, seed=1))
    offsets, successors = chain(size)
    ones = np.ones(len(successors))
    return gamedp.Model.from_arrays(
        offsets, np.arange(len(successors) + 1), successors, ones, rewards=-ones, payoffs=[0.0]
    )


def solving_child(shape: str, size: int) -> dict[str, Any]:
    """Make a model in this process and solve it, certify Pig; return what that took."""
    certified = shape == "pig"
    discounts = {"random": (DISCOUNT,), "chain": (DISCOUNT, 1.0)}.get(shape, (1.0,))
    found: dict[str, Any] = {}
    for discount in discounts:
        objective = gamedp.Discounted(discount) if discount < 1 else gamedp.TotalReward()
        # Compiles what is to be compiled.
        solution = gamedp.solve(model_of(shape, 20 if certified else 100), objective)
        if certified:
            gamedp.certify(solution)
    before = peak_bytes()
    model = model_of(shape, size)
    for discount in discounts:
        objective = gamedp.Discounted(discount) if discount < 1 else gamedp.TotalReward()
        solution = gamedp.solve(model, objective)
        found |= {
            f"width, discount {discount}": solution.width,
            f"seconds, discount {discount}": solution.statistics.seconds["solve"],
        }
        if certified:
            gamedp.certify(solution)
    return found | {
        "before": before,
        "peak": peak_bytes(),
        "model": model.num_bytes,
        "states": model.num_states,
        "transitions": model.num_transitions,
    }


def above_start(shape: str, size: int, done: str, at_most: float) -> measure.Row:
    """Return the row of the memory that a transition takes: of one large component, or of Pig."""
    command = [sys.executable, __file__, "--solve", shape, str(size)]
    found: dict[str, Any] = json.loads(measure.run_child(command).output)
    above = found["peak"] - found.pop("before")
    return measure.Row(
        what=f"{shape} {size}: {done}, bytes a transition above the start",
        ours=above,
        unit="B",
        value=above / found["transitions"],
        goal=("<=", at_most),
        facts=found,
    )


def solving(shape: str, size: int) -> measure.Row:
    """Return the row of the memory that solving takes."""
    command = [sys.executable, __file__, "--solve", shape, str(size)]
    found: dict[str, Any] = json.loads(measure.run_child(command).output)
    what = f"{shape}, {found['transitions']:,} transitions: solved"
    return beside_model(what, found.pop("peak"), found.pop("model"), MOST_SOLVED, found)


def beside_model(
    what: str, peak: int, model: int, at_most: float, facts: dict[str, Any]
) -> measure.Row:
    """Return the row of a peak of memory, beside the bytes of the model alone."""
    ratio = peak / model
    return measure.Row(
        what=what,
        ours=peak,
        unit="B",
        beside="the model alone",
        theirs=model,
        ratio=(ratio, ratio, ratio),
        value=peak,
        goal=("<=", at_most),
        facts=facts,
    )


def memory(quick: bool) -> list[measure.Row]:
    size = 100 if quick else 2900
    found = in_a_child(size)
    peak, model = found["peak"], found["model"]
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
        beside_model(f"grid {size}: peak memory", peak, model, MOST, facts),
        measure.Row(
            what=f"grid {size}: stopped at a limit of {measure.scaled(model // 4, 'B')}",
            ours=stopped["peak"],
            unit="B",
            facts={"says": stopped["message"]},
        ),
        above_start("grid", 100 if quick else 900, "solved", MOST_OF_GRID),
        above_start("pig", 20 if quick else 200, "certified", MOST_OF_PIG),
        *(solving(shape, 10_000 if quick else 10_000_000) for shape in ("random", "chain")),
    ]


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        size, limit = sys.argv[2:]
        print(json.dumps(child(int(size), float(limit) if limit else None)))
    else:
        print(json.dumps(solving_child(sys.argv[2], int(sys.argv[3]))))
