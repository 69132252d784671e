"""Solves small models of all kinds by all methods, and prints what is found, to the last bit.

Run as a script, with the seconds that a kernel may take in plain Python. The last line is the
number of functions that were compiled.
"""

import sys
from importlib.metadata import entry_points

import numpy as np
from numba.core import event

import gamedp
from gamedp.runtime import jit

ROUNDS = 2


class Count(event.Listener):
    """Counts what is compiled."""

    number = 0

    def on_start(self, event):
        self.number += 1

    def on_end(self, event):
        pass


def made_up(rng, players, swaps):
    """Return a model with a target, its last state."""
    states = int(rng.integers(3, 12))
    choices = rng.integers(1, 4, states)
    choices[-1] = 0
    outcomes = rng.integers(1, min(4, states), choices.sum())
    successors, probabilities = [], []
    for size in outcomes:
        successors += sorted(rng.choice(states, size, replace=False).tolist())
        row = rng.integers(1, 8, size)
        signs = rng.choice([1, -1], size) if swaps else 1
        probabilities += (signs * row / row.sum()).tolist()
    return gamedp.Model.from_arrays(
        choice_offsets=[0, *np.cumsum(choices)],
        transition_offsets=[0, *np.cumsum(outcomes)],
        successors=successors,
        probabilities=probabilities,
        rewards=rng.integers(-2 if players == 1 else 0, 3, len(outcomes)) * 1.0,
        payoffs=[1.0],
        players=rng.integers(0, players, states) * (choices > 0),
        num_players=players,
    )


def methods():
    """Return the solvers that come with gamedp, and None for the one it picks."""
    points = sorted(entry_points(group="gamedp.solvers"), key=lambda point: point.name)
    return [None, *(point.load()() for point in points if ".methods." in point.value)]


def solve_all(model):
    """Yield a line for each array that a method finds for an objective."""
    objectives = [
        gamedp.TotalReward(),
        gamedp.Discounted(0.9),
        gamedp.FiniteHorizon(5),
        gamedp.Reachability([model.num_states - 1]),
        gamedp.AverageReward(),
    ]
    for objective in objectives:
        yield from solutions(model, objective, methods())


def solutions(model, objective, solvers):
    """Yield a line for each array that one of some methods finds for an objective."""
    for solver in solvers:
        try:
            found = gamedp.solve(model, objective, solver)
        except gamedp.errors.GamedpError as error:
            yield f"{type(error).__name__} {error}"
            continue
        for array in (found.values, found.lower, found.upper, found.policy):
            yield " ".join(float(number).hex() for number in np.ravel(array))


if __name__ == "__main__":
    jit.SECONDS_BEFORE_COMPILING = float(sys.argv[1])
    count = Count()
    event.register("numba:compile", count)
    random = np.random.default_rng(7)
    lines = []
    for _ in range(ROUNDS):
        for players, swaps in ((1, False), (2, False), (2, True)):
            lines += solve_all(made_up(random, players, swaps))
    sys.stdout.write("\n".join([*lines, str(count.number)]))
