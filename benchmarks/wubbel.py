"""Wubbel solved to a proven 1e-10, beside the article's own algorithm in plain C.

The article sweeps until no value changes by more than some number, which proves nothing. Here that
number is chosen so that the peer, too, is right within 1e-10: the largest one for which its true
error, measured against the truth, is no more. The truth is our own solution at the tightest
tolerance that rounding allows; how far that may be off is known, and counts as an error of the
peer's as well. Our error, in turn, is measured against the peer's tables at its finest, besides
being proven.

Ours is measured once from a model already built (its structure, then the solve), and once from the
rules (the exploration, too). Seconds are of processor time.
"""

from __future__ import annotations

import copy
import tempfile
from pathlib import Path
from typing import Any

import measure
import numpy as np
from numpy.typing import NDArray

import gamedp
from gamedp.games.wubbel import Wubbel

ERROR = 1e-10
FINEST = 1e-14  # change per sweep at which the peer comes to rest well within rounding
AT_MOST = 2.0  # times the peer's time: the goal


def fresh(model: gamedp.Model) -> gamedp.Model:
    """Return the same model with nothing computed yet: its structure is part of a solve."""
    return copy.copy(model)


def truth_of(model: gamedp.Model) -> tuple[gamedp.Solution, float]:
    """Return the tightest solution within reach, and how far off its values may be."""
    best = gamedp.solve(model, tolerance=ERROR)
    for exponent in range(11, 15):
        try:
            best = gamedp.solve(model, tolerance=10.0**-exponent)
        except gamedp.NotSolvedError:
            break
    return best, float(np.maximum(best.upper - best.values, best.values - best.lower).max())


def in_order_of(model: gamedp.Model, table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the peer's value of every state of the model."""
    columns = dict(zip(model.states.layout.names(), model.states.fields().T, strict=True))
    own, opponent, turn = (columns[name] for name in ("own", "opponent", "turn"))
    playing = own + turn < len(table)
    values = np.ones(model.num_states)
    values[playing] = table[own[playing], opponent[playing], turn[playing]]
    return values


class Peer:
    """The C program, for one goal."""

    def __init__(self, program: Path, goal: int) -> None:
        self.program = program
        self.goal = goal

    def solve(self, change: float) -> dict[str, Any]:
        """Return what it prints."""
        return measure.run_peer(self.program, self.goal, repr(change))

    def values(self, model: gamedp.Model, change: float) -> NDArray[np.float64]:
        """Return its values of the model's states."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "table"
            measure.run_peer(self.program, self.goal, repr(change), path)
            table = np.fromfile(path).reshape(self.goal, self.goal, self.goal)
        return in_order_of(model, table)

    def change_for(self, truth: gamedp.Solution, slack: float) -> tuple[float, float]:
        """Return the largest change (within 2 %) that makes the error at most ERROR, and the error.

        `slack` is how far the truth may be off.
        """

        def error_at(change: float) -> float:
            values = self.values(truth.model, change)
            return float(np.abs(values - truth.values).max()) + slack

        low, high = ERROR / 1e4, ERROR
        while high > 1.02 * low:
            middle = (low * high) ** 0.5
            if error_at(middle) <= ERROR:
                low = middle
            else:
                high = middle
        return low, error_at(low)


def of_goal(goal: int, rounds: int) -> list[measure.Row]:
    game = Wubbel(goal=goal)
    model = gamedp.compile(game, compile="always")
    truth, slack = truth_of(model)
    solution = gamedp.solve(fresh(model), tolerance=ERROR)
    facts = {
        "proven bound": solution.width,
        "status": solution.status.name,
        "guarantee": solution.guarantee.name,
        "sweeps": solution.statistics.sweeps,
        "states": model.num_states,
        "bytes": solution.statistics.bytes,
    }
    program = measure.build_peer("wubbel")
    theirs = agrees = None
    if program is not None:
        peer = Peer(program, goal)
        change, their_error = peer.change_for(truth, slack)
        our_error = float(np.abs(peer.values(model, FINEST) - solution.values).max())
        agrees = max(our_error, their_error) <= ERROR
        printed = peer.solve(change)
        facts |= {
            "true error": our_error,
            "peer's true error": their_error,
            "peer's change": change,
            "peer's sweeps over pairs": printed["sweeps"],
            "peer's evaluations": printed["evaluations"],
        }

        def theirs() -> float:
            return float(peer.solve(change)["seconds"])

    def solve() -> float:
        built = fresh(model)
        return measure.processor_seconds(lambda: gamedp.solve(built, tolerance=ERROR))

    def explore_and_solve() -> float:
        return measure.processor_seconds(
            lambda: gamedp.solve(game, compile="always", tolerance=ERROR)
        )

    name = f"wubbel {goal} to {ERROR:g}"
    common: dict[str, Any] = {"rounds": rounds, "beside": "C", "agrees": agrees}
    return [
        measure.compare(
            f"{name}: structure, solve", solve, theirs, goal=("<=", AT_MOST), facts=facts, **common
        ),
        measure.compare(f"{name}: explore too", explore_and_solve, theirs, **common),
    ]


def wubbel(quick: bool) -> list[measure.Row]:
    goals, rounds = ((12,), 2) if quick else ((50, 100), 9)
    return [row for goal in goals for row in of_goal(goal, rounds)]
