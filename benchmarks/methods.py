"""The methods of Bellman's fixed point, side by side, on kinds of models that tell them apart.

A slippery grid, a queue that is served well or badly, random choices that mix well with a discount,
a gambler's ruin, and the slow chain of Haddad and Monmege. Each method is asked for bounds within
1e-6; the ratio is its time divided by that of the method that gamedp chooses. The largest possible
error of each answer stands beside, by the bounds of all of them together. A method that stops at
its limit of time is shown with the time of its one call and the width that it has proven by then.
"""

from __future__ import annotations

from collections.abc import Iterator

import measure
from problems import SlipGrid, many_choices

import gamedp
from gamedp.comparison import Comparison
from gamedp.testing.models import GamblersRuin, Queue, SlowChain

TOLERANCE = 1e-6
SECONDS = 3.0
"""Time that each method has."""

GOALS = {
    "value-iteration": 1.3,
    "value-iteration(sweep='jacobi')": 1.3,
    "optimistic-value-iteration": 1.5,
    "interval-iteration": 2.0,
    "sound-value-iteration": 2.0,
}
"""Seconds for the slip grid of 200 by 200 fields, 480,000 transitions: the speed of memory that is
read from its beginning to its end."""

SOLVERS = (
    "default",
    "topological-value-iteration",
    "value-iteration",
    gamedp.solvers.ValueIteration(sweep="jacobi"),
    "optimistic-value-iteration",
    "interval-iteration",
    "sound-value-iteration",
    "modified-policy-iteration",
    "policy-iteration",
    "prioritized-sweeping",
    "anderson-acceleration",
    "linear-programming",
)


def problems(quick: bool) -> dict[str, gamedp.Problem]:
    """Return a problem of each kind, by name."""
    size = 100 if quick else 100_000
    kinds = {
        "slip grid": (SlipGrid(size=10 if quick else 200), gamedp.TotalReward()),
        "queue, discounted": (Queue(capacity=20 if quick else 1000), gamedp.Discounted(0.99)),
        "gambler's ruin": (GamblersRuin(goal=size, start=size // 2), gamedp.TotalReward()),
    } | {
        f"slow chain {length}": ((chain := SlowChain(length=length)), chain.objective)
        for length in ((5,) if quick else (10, 20, 30))
    }
    found = {
        name: gamedp.Problem(gamedp.compile(game), objective)
        for name, (game, objective) in kinds.items()
    }
    mixing = gamedp.Model.from_arrays(**many_choices(50 if quick else 1500, 4, 5, seed=1))
    return found | {"random, discounted": gamedp.Problem(mixing, gamedp.Discounted(0.99))}


def rows_of(table: Comparison, quick: bool) -> Iterator[measure.Row]:
    """Yield a row for each method that supports a problem."""
    for problem in table.problems:
        goals = {} if quick or problem != "slip grid" else GOALS
        chosen, *others = table.rows_of(problem)
        for row in (chosen, *others):
            if row.value is None:
                continue
            taken = row.seconds if table.counts(row) else row.first_seconds
            ratio = taken / chosen.seconds
            yield measure.Row(
                what=f"{problem}: {row.method}",
                ours=taken,
                beside=f"what is chosen, {chosen.solver.partition('(')[0]}",
                theirs=chosen.seconds,
                ratio=(ratio, ratio, ratio),
                value=taken if row.method in goals else None,
                goal=("<=", goals[row.method]) if row.method in goals else None,
                agrees=table.verdict(row) in {"proven", "stopped"},
                facts={
                    "states": row.states,
                    "status": row.status,
                    "width": row.width,
                    "largest error": table.error(row),
                    "sweeps": row.sweeps,
                },
            )


def methods(quick: bool) -> list[measure.Row]:
    """Measure each method on each kind."""
    options = {"tolerance": TOLERANCE, "max_seconds": SECONDS, "seconds": 0.01 if quick else 0.5}
    return list(rows_of(gamedp.compare(problems(quick), solvers=SOLVERS, **options), quick))
