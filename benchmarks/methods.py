"""The methods of Bellman's fixed point, side by side, on kinds of models that tell them apart.

A slippery grid, a queue that is served well or badly, random choices that mix well with a discount,
a gambler's ruin, and the slow chain of Haddad and Monmege. Each method is asked for bounds within
1e-6; the ratio is its time divided by that of the method that gamedp chooses. The error
of each answer stands beside, against the values of policy iteration, and the sides agree if the
bounds of both overlap everywhere. A method that stops at its limit of time is shown with the width
that it has proven by then.

Measured is the solving alone; seconds are of processor time. The slow methods are not repeated.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import attrs
import measure
import numpy as np
from problems import SlipGrid, many_choices

import gamedp
from gamedp.testing.models import GamblersRuin, Queue, SlowChain

TOLERANCE = 1e-6
SECONDS = 3.0
"""Time that each method has."""

Case = tuple[str, gamedp.Model, Any]


def cases(quick: bool) -> Iterator[Case]:
    """Yield the name of each kind, a model, and the objective."""
    grid = gamedp.compile(SlipGrid(size=10 if quick else 100))
    yield "slip grid", grid, gamedp.TotalReward()
    queue = gamedp.compile(Queue(capacity=20 if quick else 1000))
    yield "queue, discounted", queue, gamedp.Discounted(0.99)
    mixing = gamedp.Model.from_arrays(**many_choices(50 if quick else 1500, 4, 5, seed=1))
    yield "random, discounted", mixing, gamedp.Discounted(0.99)
    size = 100 if quick else 100_000
    ruin = gamedp.compile(GamblersRuin(goal=size, start=size // 2))
    yield "gambler's ruin", ruin, gamedp.TotalReward()
    for length in (5,) if quick else (10, 20, 30):
        chain = SlowChain(length=length)
        yield f"slow chain {length}", gamedp.compile(chain), chain.objective


def by_name() -> dict[str, Any]:
    """Return the methods, with the limit of time."""
    limit = {"max_seconds": SECONDS}
    return {
        "topological": gamedp.solvers.TopologicalValueIteration(**limit),
        "value iteration": gamedp.solvers.ValueIteration(**limit),
        "Jacobi": gamedp.solvers.ValueIteration(sweep="jacobi", **limit),
        "optimistic": gamedp.solvers.OptimisticValueIteration(**limit),
        "interval": gamedp.solvers.IntervalIteration(**limit),
        "sound": gamedp.solvers.SoundValueIteration(**limit),
        "modified policy": gamedp.solvers.ModifiedPolicyIteration(**limit),
        "policy": gamedp.solvers.PolicyIteration(**limit),
        "prioritized": gamedp.solvers.PrioritizedSweeping(**limit),
        "Anderson": gamedp.solvers.AndersonAcceleration(**limit),
        "linear programming": gamedp.solvers.LinearProgramming(**limit),
    }


def solved(model: gamedp.Model, objective: Any, solver: Any) -> gamedp.Solution:
    """Solve, and take what is known when a limit stops it."""
    try:
        return gamedp.solve(model, objective, solver, tolerance=TOLERANCE)
    except gamedp.NotSolvedError as error:
        solution: gamedp.Solution = error.solution
        return solution


def of_case(case: Case, warm: Case) -> list[measure.Row]:
    """Measure each method on one model, after a small one of the kind that compiles it."""
    name, model, objective = case
    truth = solved(model, objective, gamedp.solvers.PolicyIteration())
    rows = []
    chosen = float("nan")
    best = attrs.evolve(solved(warm[1], warm[2], None).solver, max_seconds=SECONDS)
    for label, solver in ({"chosen": best} | by_name()).items():
        if not solver.supports(gamedp.Problem(model, objective)):
            continue
        solved(warm[1], warm[2], solver)
        last: list[gamedp.Solution] = []
        seconds = measure.processor_seconds(
            lambda solver=solver, last=last: last.append(solved(model, objective, solver))
        )
        solution = last[0]
        print(f"{name}: {label}, {seconds:.2f} s", file=sys.stderr, flush=True)
        if label == "chosen":
            chosen, label = seconds, f"chosen ({type(solution.solver).__name__})"  # noqa: PLW2901
        error = float(np.abs(solution.values - truth.values).max())
        apart = np.maximum(solution.lower - truth.upper, truth.lower - solution.upper)
        ratio = seconds / chosen
        rows.append(
            measure.Row(
                what=f"{name}: {label}",
                ours=seconds,
                beside="what is chosen",
                theirs=chosen,
                ratio=(ratio, ratio, ratio),
                agrees=bool((apart <= 0).all()),
                facts={
                    "states": model.num_states,
                    "status": solution.status.name,
                    "width": solution.width,
                    "true error": error,
                    "sweeps": solution.statistics.sweeps,
                },
            )
        )
    return rows


def methods(quick: bool) -> list[measure.Row]:
    warm = list(cases(True))
    pairs = zip(cases(quick), warm + warm[-1:] * 2, strict=False)
    return [row for case, small in pairs for row in of_case(case, small)]


if __name__ == "__main__":
    sys.exit(measure.main(methods))
