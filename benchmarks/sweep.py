"""One look at all choices of a model, an application of Bellman's operator, at memory's speed.

Four actions in each state lead to five states each: anywhere, so that their values lie all over
the memory; or within a band around the state, as in models whose states are well ordered. Beside it
is a copy of the arrays that are read, and the same loop in C, which keeps the best choices as well,
but does not measure by how much they are better, nor what the probabilities sum to.

The goal is 0.8e9 transitions a second on one core, where a copy of the same bytes does twice that;
half of what the copy does where it does less. There is none where the values lie all over more
memory than the processor keeps at hand. Each figure is of the fastest of a few sweeps, in seconds
of processor time.

The probabilities are those of a loaded die, so each model is read twice: with eight bytes for a
probability, and with two for its number in a codebook, which is what solvers do with large models.
Both find the same to the last bit.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import measure
import numpy as np
from problems import many_choices

import gamedp
from gamedp.bellman import policy_rows
from gamedp.solvers.tools.discounted import equation_of

DISCOUNT = 0.99
ACTIONS, BRANCHES = 4, 5
BAND = 500
SWEEPS = 10
GOAL = 0.8e9
"""Transitions a second."""
AT_HAND = 2**20
"""Bytes of the values that a core has at hand."""

DIE = np.array([1, 2, 3, 5, 25]) / 36
CASES = ((5_000, False), (50_000, False), (500_000, False), (50_000, True), (500_000, True))
"""Numbers of states, with 20 transitions each, and whether they lead no farther than the band."""

QUICK = ((100, False), (2_000, True))


def fastest(action: Callable[[], object]) -> float:
    """Return the seconds of the fastest of some calls."""
    return min(measure.processor_seconds(action) for _ in range(SWEEPS))


def model_of(states: int, banded: bool) -> gamedp.Model:
    """Return the model of a case."""
    arrays = many_choices(states, ACTIONS, BRANCHES, seed=states)
    random = np.random.default_rng(states)
    arrays["probabilities"] = random.permuted(np.tile(DIE, (states * ACTIONS, 1)), axis=1).ravel()
    if banded:
        near = random.integers(0, BAND, len(arrays["successors"]))
        start = np.repeat(np.arange(states), ACTIONS * BRANCHES)
        arrays["successors"] = (start + near) % states
    return gamedp.Model.from_arrays(**arrays)


class Sweep:
    """A look at all choices of a model, by probabilities or by their numbers in a codebook."""

    def __init__(self, model: gamedp.Model, *, coded: bool) -> None:
        self.model = model
        problem = gamedp.Problem(model, gamedp.Discounted(DISCOUNT))
        self.values = np.random.default_rng(1).random(model.num_states)
        self.new_values = np.empty(model.num_states)
        equation, self.extremes, rows = equation_of(problem)
        found = model.coded_probabilities if coded else None
        probabilities, codebook = found or (model.probabilities, None)
        self.equation = equation._replace(probabilities=probabilities, codebook=codebook)
        room = np.empty(len(rows.room_successors), probabilities.dtype)
        self.rows = rows._replace(probabilities=room, codebook=codebook, room_probabilities=room)
        self.rows.policy[:] = -1
        self.read = (model.successors, probabilities, model.rewards)

    def run(self) -> None:
        """Sweep once."""
        everything = (np.uintp(0), np.uintp(len(self.values)), False, 0.0)
        policy_rows.examine_jit(
            *everything, self.equation, self.extremes, self.rows, self.values, self.new_values
        )

    def beside_a_copy(self, what: str, banded: bool, rounds: int) -> measure.Row:
        """Return the row that compares it with a copy of what it reads."""
        copies = [array.copy() for array in self.read]

        def copy() -> None:
            for array, target in zip(self.read, copies, strict=True):
                np.copyto(target, array)

        self.run()
        taken = measure.compare(
            what,
            lambda: fastest(self.run),
            lambda: fastest(copy),
            rounds=rounds,
            beside="a copy of the same",
        )
        count = self.model.num_transitions
        num_bytes = sum(array.nbytes for array in self.read)
        rate, copied = (count / (side or 1.0) for side in (taken.ours, taken.theirs))
        low, middle, high = sorted(1 / part for part in taken.ratio or (1.0,) * 3)
        has_goal = banded or self.values.nbytes <= AT_HAND
        return attrs.evolve(
            taken,
            unit=" transitions/s",
            ours=rate,
            theirs=copied,
            ratio=(middle, low, high),
            value=rate,
            goal=(">=", min(GOAL, copied / 2)) if has_goal else None,
            facts={
                "bytes read a transition": num_bytes / count,
                "bytes a second": num_bytes / taken.ours,
            },
        )


def of_case(states: int, banded: bool, rounds: int) -> list[measure.Row]:
    """Return the rows of one model: beside a copy, without and with a codebook, and beside C."""
    model = model_of(states, banded)
    plain, short = (Sweep(model, coded=coded) for coded in (False, True))
    what = f"{'banded' if banded else 'random'}, {model.num_transitions:,} transitions"
    rows = [
        plain.beside_a_copy(what, banded, rounds),
        short.beside_a_copy(f"{what}, codebook", banded, rounds),
    ]
    agrees = np.array_equal(plain.new_values, short.new_values)
    agrees &= np.array_equal(plain.rows.policy, short.rows.policy)
    rows[1] = attrs.evolve(rows[1], agrees=agrees)
    program = measure.build_peer("sweep")
    if program is None:
        return [*rows, attrs.evolve(rows[0], theirs=None, ratio=None, beside="no compiler for C")]
    with tempfile.TemporaryDirectory(prefix="gamedp-sweep-") as folder:
        file = Path(folder) / "model"
        with file.open("wb") as stream:
            offsets = (model.choice_offsets, model.transition_offsets)
            for array in (*offsets, *plain.read, plain.values):
                array.tofile(stream)
        sizes = (model.num_states, model.num_choices, model.num_transitions)
        found: dict[str, Any] = {}

        def theirs() -> float:
            found.update(measure.run_peer(program, file, *sizes, DISCOUNT, SWEEPS))
            return float(found["seconds"])

        row = measure.compare(
            what,
            lambda: fastest(plain.run),
            theirs,
            rounds=rounds,
            beside="C",
            goal=("<=", 1.5),
        )
    agrees = bool(np.isclose(plain.new_values.sum(), found["sum"], rtol=1e-12))
    agrees &= int(plain.rows.policy.sum()) == found["chosen"]
    return [*rows, attrs.evolve(row, agrees=agrees)]


def sweep(quick: bool = False) -> list[measure.Row]:
    """Measure all models."""
    cases, rounds = (QUICK, 1) if quick else (CASES, 3)
    return [row for states, banded in cases for row in of_case(states, banded, rounds)]
