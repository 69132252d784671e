"""Long-run averages at a proven 1e-6, beside Storm's sparse engine with sound methods.

Models with one end component and with many, by size; both sides read the same `.umb` file, and have
the model in memory. Seconds are of processor time.
"""

from __future__ import annotations

import attrs
import measure
import numpy as np
from problems import many_choices

import gamedp
from gamedp.testing.models import random_model

TOLERANCE = 1e-6
AT_MOST = 1.0  # times Storm's time: the goal


def queue(size: int) -> gamedp.Model:
    """Return a queue with room for so many, served at one of three speeds, each at its price."""
    arrive = 0.4
    successors, probabilities, rewards = [], [], []
    for length in range(size):
        for served, price in ((0.35, 1.0), (0.45, 1.9), (0.6, 4.0)):
            outcomes: dict[int, float] = {}
            up, down = arrive * (1 - served), served * (1 - arrive)
            for target, chance in ((1, up), (-1, down), (0, 1 - up - down)):
                place = min(max(length + target, 0), size - 1)
                outcomes[place] = outcomes.get(place, 0.0) + chance
            successors.append(list(outcomes))
            probabilities.append(list(outcomes.values()))
            rewards.append(0.1 * min(length, 50) + price)
    return gamedp.Model.from_arrays(
        3 * np.arange(size + 1),
        np.cumsum([0, *map(len, successors)]),
        np.concatenate(successors),
        np.concatenate(probabilities),
        rewards=rewards,
    )


def instances(quick: bool) -> dict[str, gamedp.Model]:
    """Return models by name."""
    large = 500 if quick else 5000
    models = {"queue": queue(50)}
    for size in (200, large):
        models[f"many end components, {size:,} states"] = random_model(3, num_states=size)
    models[f"one end component, {large:,} states"] = gamedp.Model.from_arrays(
        **many_choices(large, 5, 4, seed=1)
    )
    return models


def problems(quick: bool) -> dict[str, gamedp.Model]:
    """Return the models, their rewards moved up to be at least 0, as Storm wants them."""
    return {
        f"average: {name}": attrs.evolve(
            model, rewards=model.rewards - min(0.0, float(model.rewards.min()))
        )
        for name, model in instances(quick).items()
    }


def averages(quick: bool = False) -> list[measure.Row]:
    """Measure all models."""
    table = gamedp.compare(
        problems(quick),
        gamedp.AverageReward(),
        "default",
        peers=["storm"],
        tolerance=TOLERANCE,
        max_seconds=600.0,
        seconds=0.01 if quick else 1.0,
    )
    return measure.beside_peers(table, goal=("<=", AT_MOST))
