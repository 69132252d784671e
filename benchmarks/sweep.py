"""One look at all choices of a model, an application of Bellman's operator, at memory's speed.

Four actions in each state lead to five states each: anywhere, so that their values lie all over
the memory; or within a band around the state, as in models whose states are well ordered. Beside it
is a copy of the arrays that are read, and the same loop in C, which keeps the best choices as well,
but does not measure by how much they are better, nor what the probabilities sum to.

The goal is 0.8e9 transitions a second on one core, where a copy of the same bytes does twice that;
half of what the copy does where it does less. There is none where the values lie all over more
memory than the processor keeps at hand. Each figure is of the fastest of a few sweeps, in seconds
of processor time.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import measure
import numpy as np
from problems import many_choices

import gamedp
from gamedp.kernels import whole
from gamedp.solvers.discounted import equation_of

DISCOUNT = 0.99
ACTIONS, BRANCHES = 4, 5
BAND = 500
SWEEPS = 10
GOAL = 0.8e9
"""Transitions a second."""
AT_HAND = 2**20
"""Bytes of the values that a core has at hand."""

CASES = ((5_000, False), (50_000, False), (500_000, False), (500_000, True))
"""Numbers of states, with 20 transitions each, and whether they lead no farther than the band."""

QUICK = ((100, False), (2_000, True))


def fastest(action: Callable[[], object]) -> float:
    """Return the seconds of the fastest of some calls."""
    return min(measure.processor_seconds(action) for _ in range(SWEEPS))


def of_case(states: int, banded: bool, rounds: int) -> list[measure.Row]:
    """Return the rows of one model: beside a copy, and beside C."""
    arrays = many_choices(states, ACTIONS, BRANCHES, seed=states)
    if banded:
        near = np.random.default_rng(states).integers(0, BAND, len(arrays["successors"]))
        start = np.repeat(np.arange(states), ACTIONS * BRANCHES)
        arrays["successors"] = (start + near) % states
    model = gamedp.Model.from_arrays(**arrays)
    values = np.random.default_rng(1).random(states)
    equation, kept = equation_of(gamedp.Problem(model, gamedp.Discounted(DISCOUNT)))
    new_values = np.empty(states)
    everything = (np.uintp(0), np.uintp(states), False, 0.0)

    def sweep() -> None:
        whole.examine_jit(*everything, equation, kept, values, new_values)

    def ours() -> float:
        return fastest(sweep)

    read = (model.successors, model.probabilities, model.rewards)
    copies = [array.copy() for array in read]

    def copy() -> None:
        for array, target in zip(read, copies, strict=True):
            np.copyto(target, array)

    kept.policy[:] = -1
    sweep()
    what = f"{'banded' if banded else 'random'}, {model.num_transitions:,} transitions"
    taken = measure.compare(
        what, ours, lambda: fastest(copy), rounds=rounds, beside="a copy of the same"
    )
    num_bytes = sum(array.nbytes for array in read)
    rate, copied = (model.num_transitions / (side or 1.0) for side in (taken.ours, taken.theirs))
    low, middle, high = sorted(1 / part for part in taken.ratio or (1.0,) * 3)
    row = attrs.evolve(
        taken,
        unit=" transitions/s",
        ours=rate,
        theirs=copied,
        ratio=(middle, low, high),
        value=rate,
        goal=(">=", min(GOAL, copied / 2)) if banded or values.nbytes <= AT_HAND else None,
        facts={
            "bytes read a transition": num_bytes / model.num_transitions,
            "bytes a second": num_bytes / taken.ours,
        },
    )
    rows = [row]
    program = measure.build_peer("sweep")
    if program is None:
        return [*rows, attrs.evolve(taken, theirs=None, ratio=None, beside="no compiler for C")]
    with tempfile.TemporaryDirectory(prefix="gamedp-sweep-") as folder:
        file = Path(folder) / "model"
        with file.open("wb") as stream:
            for array in (model.choice_offsets, model.transition_offsets, *read, values):
                array.tofile(stream)
        sizes = (model.num_states, model.num_choices, model.num_transitions)
        found: dict[str, Any] = {}

        def theirs() -> float:
            found.update(measure.run_peer(program, file, *sizes, DISCOUNT, SWEEPS))
            return float(found["seconds"])

        row = measure.compare(what, ours, theirs, rounds=rounds, beside="C", goal=("<=", 1.5))
    agrees = bool(np.isclose(new_values.sum(), found["sum"], rtol=1e-12))
    agrees &= int(kept.policy.sum()) == found["chosen"]
    return [*rows, attrs.evolve(row, agrees=agrees)]


def sweep(quick: bool = False) -> list[measure.Row]:
    """Measure all models."""
    cases, rounds = (QUICK, 1) if quick else (CASES, 3)
    return [row for states, banded in cases for row in of_case(states, banded, rounds)]


if __name__ == "__main__":
    sys.exit(measure.main(sweep))
