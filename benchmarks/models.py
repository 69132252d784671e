"""Standard models of probabilistic model checking, at a proven 1e-6, beside Storm.

The models are those that Storm brings along in PRISM's language (consensus, CSMA, FireWire, WLAN,
leader election, crowds, bounded retransmission, NAND multiplexing), with larger constants; further
protocols, written for this (`programs.py`: consensus of four, self-stabilisation, contract signing,
address configuration, backoff on a shared line); and a chain on which stopping early is wrong, and
a slippery grid. Storm builds its own and what is a program; gamedp reads them as `.umb` files,
writes them as such again, and both read and answer that one file. Storm runs its sparse engine with
sound methods, its default, and an absolute precision of 1e-6.

Warm: both have the model in memory, and what is measured is the answer, for all states, structure
of the model included; seconds are of processor time. Cold: whole processes, from the file to the
value, on the clock; compiled kernels are in numba's cache, and Python's bytecode is kept. Without
Storm, what needs it is left out and the rest is measured alone.

Errors are true ones, against a value that is known by other means: by a formula, by Storm's exact
engine, or else by gamedp within 1e-11.
"""

from __future__ import annotations

import copy
import json
import math
import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import attrs
import measure
import numpy as np
import storm
from problems import SlipGrid

import gamedp
from gamedp.testing.models import SlowChain

ERROR = "1/1000000"
TOLERANCE = 1e-6
FINEST = 1e-11
AT_MOST = 1.0  # times Storm's time, on average: the goal
COMMAND_LINE = "import sys; from gamedp.cli import main; sys.exit(main())"


@attrs.frozen(kw_only=True)
class Instance:
    """A model and a question.

    Attributes
    ----------
    name : str
    program : str
        One of Storm's, or a name in `PROGRAMS` or `OWN`.
    constants : dict
        What is put in.
    target : str
        The states to be reached: labels, each negated by ``!`` or not, joined by ``&``.
    reward : str or None
        The reward to be added up till then; the probability is asked for if not given. In a program
        with a nameless one, ``"default"``.
    optimum : {"max", "min"}
    truth : float or "exact" or None
        The value at the start, if a formula tells it; or that Storm's exact engine does in time.
    """

    name: str
    program: str
    constants: dict[str, Any] = attrs.field(factory=dict)
    target: str = "target"
    reward: str | None = None
    optimum: Literal["max", "min"] = "max"
    truth: float | Literal["exact"] | None = None

    @property
    def formula(self) -> str:
        """The question in Storm's words, of the file that both read."""
        what = 'R{"reward"}' if self.reward else "P"
        return f'{what}{self.optimum}=? [F "target"]'


def slow(length: int) -> gamedp.adapters.LoadedModel:
    """Return the chain on which values hardly change; the good end is reached with 0.7."""
    model = gamedp.compile(SlowChain(length=length, up=0.7))
    return _labelled(model, lambda state: state.place == length, {})


def grid(size: int) -> gamedp.adapters.LoadedModel:
    """Return the slippery grid, each step costing 1."""
    game = SlipGrid(size)
    model = gamedp.compile(game)
    return _labelled(model, game.is_terminal, {"steps": -model.rewards})


def _labelled(
    model: gamedp.Model, is_target: Callable[[Any], bool], rewards: dict[str, Any]
) -> gamedp.adapters.LoadedModel:
    states = map(model.state, range(model.num_states))
    mask = np.fromiter(map(is_target, states), np.bool_, model.num_states)
    path = Path("model.umb")
    return gamedp.adapters.LoadedModel(
        model=model, labels={"target": mask}, rewards=rewards, path=path
    )


OWN = {"slow": slow, "grid": grid}

LARGE = (
    Instance(
        name="consensus 2, K=16, disagree",
        program="mdp/coin2.nm",
        constants={"K": 16},
        target="finished & !agree",
        truth="exact",
    ),
    Instance(
        name="consensus 2, K=16, heads",
        program="mdp/coin2.nm",
        constants={"K": 16},
        target="finished & all_coins_equal_1",
        optimum="min",
        truth="exact",
    ),
    Instance(
        name="consensus 2, K=16, steps",
        program="mdp/coin2.nm",
        constants={"K": 16},
        target="finished",
        reward="steps",
        truth="exact",
    ),
    Instance(
        name="CSMA 2, time",
        program="mdp/csma2-2.nm",
        target="all_delivered",
        reward="time",
        truth="exact",
    ),
    Instance(
        name="FireWire, delay 36, time",
        program="mdp/firewire.nm",
        constants={"delay": 36, "fast": 0.5},
        target="elected",
        reward="time",
    ),
    Instance(
        name="FireWire, delay 36, least time",
        program="mdp/firewire.nm",
        constants={"delay": 36, "fast": 0.5},
        target="elected",
        reward="time",
        optimum="min",
    ),
    Instance(
        name="WLAN, 6 collisions",
        program="mdp/wlan0_collide.nm",
        constants={"COL": 6, "TRANS_TIME_MAX": 315},
        target="sixCollisions",
    ),
    Instance(
        name="leader election 4, rounds",
        program="mdp/leader4.nm",
        target="elected",
        reward="rounds",
        truth="exact",
    ),
    Instance(
        name="crowds 5, 7 runs",
        program="dtmc/crowds-5-5.pm",
        constants={"TotalRuns": 7},
        target="observe0Greater1",
    ),
    Instance(
        name="retransmission 256, 20",
        program="dtmc/brp.pm",
        constants={"N": 256, "MAX": 20},
    ),
    Instance(name="NAND 20, 4", program="dtmc/nand-5-2.pm", constants={"N": 20, "K": 4}),
    Instance(
        name="consensus 4, K=2, split",
        program="consensus",
        constants={"processes": 4, "barrier": 2},
        target="split",
        truth="exact",
    ),
    Instance(
        name="consensus 4, K=2, heads",
        program="consensus",
        constants={"processes": 4, "barrier": 2},
        target="heads",
        optimum="min",
        truth="exact",
    ),
    Instance(
        name="Herman's ring of 11, steps",
        program="herman",
        constants={"processes": 11},
        target="stable",
        reward="steps",
    ),
    Instance(
        name="contract signing 5, 6 bits",
        program="contract",
        constants={"pairs": 5, "bits": 6},
        target="unfair",
        # One party completes a pair of five in the first half; or not, and nor does the other.
        truth=1 - 2**-5 + 2**-10,
    ),
    Instance(
        name="address configuration, error",
        program="zeroconf",
        constants={"probes": 4, "apart": 6, "latest": 24},
        target="error",
    ),
    Instance(
        name="address configuration, time",
        program="zeroconf",
        constants={"probes": 4, "apart": 6, "latest": 24},
        target="settled",
        reward="time",
        optimum="min",
    ),
    Instance(
        name="backoff of 3 stations, time",
        program="ethernet",
        constants={"stations": 3, "backoff": 3},
        target="delivered",
        reward="time",
    ),
    Instance(name="slow chain 12", program="slow", constants={"length": 12}, truth=0.7),
    Instance(name="slip grid 100, steps", program="grid", constants={"size": 100}, reward="steps",
             optimum="min"),
)  # fmt: skip

SMALL = (
    Instance(
        name="consensus 2, K=1, disagree",
        program="mdp/coin2.nm",
        constants={"K": 1},
        target="finished & !agree",
        truth="exact",
    ),
    Instance(
        name="leader election 3 of 5, rounds",
        program="dtmc/leader-3-5.pm",
        target="elected",
        reward="num_rounds",
        truth="exact",
    ),
    Instance(
        name="contract signing 3, 2 bits",
        program="contract",
        constants={"pairs": 3, "bits": 2},
        target="unfair",
        truth=1 - 2**-3 + 2**-6,
    ),
    Instance(name="slow chain 4", program="slow", constants={"length": 4}, truth=0.7),
    Instance(name="slip grid 8, steps", program="grid", constants={"size": 8}, reward="steps",
             optimum="min"),
)  # fmt: skip


def prepared(instance: Instance, path: Path) -> gamedp.adapters.LoadedModel:
    """Write the file that both sides read; return it as gamedp reads it."""
    if instance.program in OWN:
        source = OWN[instance.program](**instance.constants)
    else:
        from stormpy import io  # noqa: PLC0415 - may be missing

        io.export_to_umb(storm.build(instance.program, instance.constants), str(path))
        source = gamedp.read_model(path)
    mask = np.ones(source.model.num_states, np.bool_)
    for word in instance.target.replace(" ", "").split("&"):
        states = source.states(word.removeprefix("!"))
        mask &= ~states if word.startswith("!") else states
    rewards = {} if instance.reward is None else {"reward": source.rewards[instance.reward]}
    gamedp.write_model(path, source.model, labels={"target": mask}, rewards=rewards)
    return gamedp.read_model(path)


def solved(
    instance: Instance, loaded: gamedp.adapters.LoadedModel, tolerance: float = TOLERANCE
) -> gamedp.Solution:
    """Return our answer, its model's structure found anew."""
    target = loaded.states("target")
    objective = (
        gamedp.TotalReward(instance.optimum, until=target)
        if instance.reward
        else gamedp.Reachability(target, optimum=instance.optimum)
    )
    try:
        return gamedp.solve(copy.copy(loaded.model), objective, tolerance=tolerance)
    except gamedp.NotSolvedError as error:
        return error.solution


def truth_of(
    instance: Instance, loaded: gamedp.adapters.LoadedModel, path: Path
) -> tuple[float, str]:
    """Return the value at the start, and how it is known."""
    if isinstance(instance.truth, float):
        return instance.truth, "a formula"
    if instance.truth == "exact" and storm.is_installed():
        model = storm.load(path, exact=True)
        return storm.value_at_start(model, storm.check(model, instance.formula)), "Storm, exactly"
    finest = solved(instance, loaded, FINEST)
    low, high = finest.bounds()
    return (low + high) / 2, f"gamedp, within {(high - low) / 2:.1g}"


def of_instance(instance: Instance, path: Path, rounds: int, short: int = 0) -> measure.Row:
    """Return the row of one model, warm; of ten times the rounds below `short` transitions."""
    loaded = prepared(instance, path)
    rounds *= 10 if loaded.model.num_transitions < short else 1
    truth, source = truth_of(instance, loaded, path)
    found = solved(instance, loaded)
    theirs, value = None, None
    if storm.is_installed():
        model, environment = storm.load(path), storm.sound(ERROR)
        value = storm.value_at_start(model, storm.check(model, instance.formula, environment))

        def theirs() -> float:
            return measure.processor_seconds(
                lambda: storm.check(model, instance.formula, environment)
            )

    row = measure.compare(
        instance.name,
        lambda: measure.processor_seconds(lambda: solved(instance, loaded)),
        theirs,
        rounds=rounds,
        beside="Storm",
        missing="without",
        agrees=None if value is None else abs(found.value() - value) <= 3 * TOLERANCE,
    )
    low, high = found.bounds()
    facts = {
        "states": loaded.model.num_states,
        "transitions": loaded.model.num_transitions,
        "value": found.value(),
        "status": found.status.name,
        "solver": type(found.solver).__name__,
        "sweeps": found.statistics.sweeps,
        "proven bound": high - low,
        "true error": abs(found.value() - truth),
        "truth from": source,
    }
    if value is not None:
        facts["Storm's true error"] = abs(value - truth)
    return attrs.evolve(row, facts=facts)


def of_processes(instance: Instance, path: Path, rounds: int) -> measure.Row:
    """Return the row of one model, cold: whole processes."""
    options = ["--target" if instance.reward else "--reach", "target", f"--{instance.optimum}"]
    ours = [sys.executable, "-c", COMMAND_LINE, "solve", str(path), "--json", *options]
    script = Path(storm.__file__)
    theirs = [sys.executable, str(script), str(path), instance.formula, ERROR]
    environment = measure.with_bytecode(path.parent)
    values = [
        json.loads(measure.run_child(ours, environment).output)["value"],
        float(measure.run_child(theirs, environment).output.splitlines()[-1]),
    ]
    return measure.compare(
        f"{instance.name}: whole process",
        lambda: measure.run_child(ours, environment).seconds,
        lambda: measure.run_child(theirs, environment).seconds,
        rounds=rounds,
        beside="Storm",
        agrees=abs(values[0] - values[1]) <= 3 * TOLERANCE,
    )


def mean_of(rows: list[measure.Row], words: str, **more: Any) -> list[measure.Row]:
    """Return a row with the geometric mean of the ratios; none if there are none."""
    ratios = [row.ratio[0] for row in rows if row.ratio]
    if not ratios:
        return []
    mean = math.exp(statistics.fmean(map(math.log, ratios)))
    what = f"geometric mean of {len(ratios)} models, {words}"
    return [
        measure.Row(
            what=what,
            ours=mean,
            unit="times Storm",
            ratio=(mean, min(ratios), max(ratios)),
            **more,
        )
    ]


def models(quick: bool = False) -> list[measure.Row]:
    """Measure all models, warm and cold, and their means."""
    rounds = 1 if quick else 3
    instances = [
        instance
        for instance in (SMALL if quick else LARGE)
        if storm.is_installed() or instance.program in OWN
    ]
    warm, cold = [], []
    with tempfile.TemporaryDirectory(prefix="gamedp-models-") as folder:
        for number, instance in enumerate(instances):
            path = Path(folder, f"{number}.umb")
            warm.append(of_instance(instance, path, rounds))
            if storm.is_installed():
                cold.append(of_processes(instance, path, 1 if quick else 2))
    return [
        *warm,
        *mean_of(warm, "warm", goal=("<=", AT_MOST)),
        *cold,
        *mean_of(cold, "whole processes"),
    ]


if __name__ == "__main__":
    sys.exit(measure.main(models))
