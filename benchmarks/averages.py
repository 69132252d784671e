"""Long-run averages at a proven 1e-6, beside Storm's sparse engine with sound methods.

Models with one end component and with many, by size; both sides read the same `.umb` file, and have
the model in memory. Seconds are of processor time.
"""

from __future__ import annotations

import copy
import sys
import tempfile
from pathlib import Path

import attrs
import measure
import numpy as np
import storm
from problems import many_choices

import gamedp
from gamedp.testing.models import random_model

ERROR, TOLERANCE = "1/1000000", 1e-6
AT_MOST = 1.0  # times Storm's time: the goal
SHORT = 10_000  # transitions below which a round is over so soon that there are more of them
FORMULA = 'R{"reward"}max=? [LRA]'


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


def of_instance(name: str, model: gamedp.Model, path: Path, rounds: int) -> measure.Row:
    """Return the row of one model; rewards are moved up to be at least 0, as Storm wants them."""
    model = attrs.evolve(model, rewards=model.rewards - min(0.0, float(model.rewards.min())))
    gamedp.write_model(path, model, labels={}, rewards={"reward": model.rewards})
    rounds *= 10 if model.num_transitions < SHORT else 1

    def solved() -> gamedp.Solution:
        return gamedp.solve(copy.copy(model), gamedp.AverageReward(), tolerance=TOLERANCE)

    found, theirs, agrees = solved(), None, None
    if storm.is_installed():
        read, environment = storm.load(path), storm.sound(ERROR)
        value = storm.value_at_start(read, storm.check(read, FORMULA, environment))
        agrees = abs(found.value() - value) <= 3 * TOLERANCE * max(1.0, abs(value))

        def theirs() -> float:
            return measure.processor_seconds(lambda: storm.check(read, FORMULA, environment))

    return measure.compare(
        f"average: {name}",
        lambda: measure.processor_seconds(solved),
        theirs,
        rounds=rounds,
        beside="Storm",
        missing="without",
        agrees=agrees,
        goal=("<=", AT_MOST),
        facts={
            "states": model.num_states,
            "transitions": model.num_transitions,
            "end components": model.structure.num_end_components,
            "sweeps": found.statistics.sweeps,
            "proven bound": found.width,
        },
    )


def averages(quick: bool = False) -> list[measure.Row]:
    """Measure all models."""
    with tempfile.TemporaryDirectory(prefix="gamedp-averages-") as folder:
        return [
            of_instance(name, model, Path(folder, f"{number}.umb"), 1 if quick else 5)
            for number, (name, model) in enumerate(instances(quick).items())
        ]


if __name__ == "__main__":
    sys.exit(measure.main(averages))
