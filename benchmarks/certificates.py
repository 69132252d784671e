"""Making and checking certificates, beside solving.

What a certificate costs is what it takes to make one, which checks it once, and to check it again,
with nothing known of the model but its arrays, and their digest, which was taken for the
certificate. Seconds are of processor time.
"""

from __future__ import annotations

import copy

import measure
import numpy as np
from problems import SlipGrid

import gamedp
from gamedp.games.wubbel import Wubbel
from gamedp.testing.models import random_model

AT_MOST = 3.0  # solves


def instances(quick: bool) -> dict[str, tuple[gamedp.Model, gamedp.Reachability | None]]:
    """Return models and questions by name; the total reward where there is none."""
    grid, goal, size = (8, 5, 100) if quick else (60, 50, 50_000)
    proper = random_model(1, num_states=size, end_components=False)
    contest = random_model(2, num_states=size, num_players=2, end_components=False)
    mixed = random_model(3, num_states=size)
    return {
        f"slip grid {grid}": (gamedp.compile(SlipGrid(grid)), None),
        f"Wubbel {goal}": (gamedp.compile(Wubbel(goal)), None),
        f"{size:,} states, one player": (proper, None),
        f"{size:,} states, opponents": (contest, None),
        f"{size:,} states, least probability": (
            mixed,
            gamedp.Reachability(np.array([size]), optimum="min"),
        ),
    }


def of_instance(
    name: str, model: gamedp.Model, objective: gamedp.Reachability | None, rounds: int
) -> measure.Row:
    """Return the row of one model."""

    def solved() -> gamedp.Solution:
        return gamedp.solve(copy.copy(model), objective)

    def certified(solution: gamedp.Solution) -> gamedp.Verified:
        certificate = gamedp.certify(solution)
        return gamedp.verify(copy.copy(solution.model), certificate)

    def measured() -> float:
        solution = solved()  # each time anew, so that nothing is left of earlier certificates
        return measure.processor_seconds(lambda: certified(solution))

    verified = certified(solved())
    return measure.compare(
        f"certificate: {name}",
        measured,
        lambda: measure.processor_seconds(solved),
        rounds=rounds,
        beside="its solve",
        goal=("<=", AT_MOST),
        facts={
            "states": model.num_states,
            "transitions": model.num_transitions,
            "in rationals": verified.in_rationals,
            "proven width": verified.width,
        },
    )


def certificates(quick: bool = False) -> list[measure.Row]:
    """Measure all models."""
    rounds = 1 if quick else 5
    return [of_instance(name, *asked, rounds) for name, asked in instances(quick).items()]
