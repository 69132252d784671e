"""Standard models of probabilistic model checking, at a proven 1e-6, beside Storm.

The models are those that Storm brings along in PRISM's language (consensus, CSMA, FireWire, WLAN,
leader election, crowds, bounded retransmission, NAND multiplexing), with larger constants; further
protocols, written for this (`programs.py`: consensus of four, self-stabilisation, contract signing,
address configuration, backoff on a shared line); and a chain on which stopping early is wrong, and
a slippery grid. Storm builds its own and what is a program; both sides have the same model.

Warm: measured by `gamedp.compare`, for all states. Cold: whole processes, from one `.umb` file to
the value, on the clock; compiled kernels are in numba's cache, and Python's bytecode is kept.
Without Storm, what needs it is left out and the rest is measured alone.

Errors are true ones, against a value that a formula tells, or gamedp within 1e-11.
"""

from __future__ import annotations

import importlib.util
import json
import math
import statistics
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import attrs
import measure
import numpy as np
import storm
from problems import SlipGrid

import gamedp
from gamedp.testing.models import SlowChain

TOLERANCE = 1e-6
FINEST = 1e-11
AT_MOST = 1.0  # times Storm's time, on average: the goal
COMMAND_LINE = "import sys; from gamedp.cli import main; sys.exit(main())"
STORM = importlib.util.find_spec("stormpy") is not None
OWN = ("slow", "grid")


@attrs.frozen
class Instance:
    """A model and a question.

    Attributes
    ----------
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
    truth : float or None
        The value at the start, if a formula tells it.
    """

    program: str
    constants: dict[str, Any]
    target: str = "target"
    reward: str | None = None
    optimum: Literal["max", "min"] = "max"
    truth: float | None = None

    def problem(self) -> gamedp.Problem:
        """Return it as gamedp has it."""
        if self.program == "slow":  # values hardly change; the good end is reached with 0.7
            model = gamedp.compile(SlowChain(**self.constants, up=0.7))
            target = model.states.fields()[:, 0] == self.constants["length"]
        elif self.program == "grid":  # Storm wants costs that are not negative
            model = gamedp.compile(SlipGrid(**self.constants))
            target = model.is_terminal
            model = attrs.evolve(model, rewards=-model.rewards)
        else:
            with tempfile.TemporaryDirectory(prefix="gamedp-models-") as folder:
                path = Path(folder, "model.umb")
                storm.build(self.program, self.constants, str(path))
                loaded = gamedp.read_model(path)
            model = loaded.with_rewards(self.reward) if self.reward else loaded.model
            target = np.ones(model.num_states, np.bool_)
            for word in self.target.replace(" ", "").split("&"):
                target &= loaded.states(word.removeprefix("!")) != word.startswith("!")
        objective = (
            gamedp.TotalReward(self.optimum, until=target)
            if self.reward
            else gamedp.Reachability(target, optimum=self.optimum)
        )
        return gamedp.Problem(model, objective)


COIN, WIRE = "mdp/coin2.nm", {"delay": 36, "fast": 0.5}
FOUR = {"processes": 4, "barrier": 2}
ADDRESSES = {"probes": 4, "apart": 6, "latest": 24}
HEADS = "finished & all_coins_equal_1"

LARGE = {
    "consensus 2, K=16, disagree": Instance(COIN, {"K": 16}, "finished & !agree"),
    "consensus 2, K=16, heads": Instance(COIN, {"K": 16}, HEADS, None, "min"),
    "consensus 2, K=16, steps": Instance(COIN, {"K": 16}, "finished", "steps"),
    "CSMA 2, time": Instance("mdp/csma2-2.nm", {}, "all_delivered", "time"),
    "FireWire, delay 36, time": Instance("mdp/firewire.nm", WIRE, "elected", "time"),
    "FireWire, delay 36, least time": Instance("mdp/firewire.nm", WIRE, "elected", "time", "min"),
    "WLAN, 6 collisions": Instance(
        "mdp/wlan0_collide.nm", {"COL": 6, "TRANS_TIME_MAX": 315}, "sixCollisions"
    ),
    "leader election 4, rounds": Instance("mdp/leader4.nm", {}, "elected", "rounds"),
    "crowds 5, 7 runs": Instance("dtmc/crowds-5-5.pm", {"TotalRuns": 7}, "observe0Greater1"),
    "retransmission 256, 20": Instance("dtmc/brp.pm", {"N": 256, "MAX": 20}),
    "NAND 20, 4": Instance("dtmc/nand-5-2.pm", {"N": 20, "K": 4}),
    "consensus 4, K=2, split": Instance("consensus", FOUR, "split"),
    "consensus 4, K=2, heads": Instance("consensus", FOUR, "heads", None, "min"),
    "Herman's ring of 11, steps": Instance("herman", {"processes": 11}, "stable", "steps"),
    # One party completes a pair of five in the first half; or not, and nor does the other.
    "contract signing 5, 6 bits": Instance(
        "contract", {"pairs": 5, "bits": 6}, "unfair", truth=1 - 2**-5 + 2**-10
    ),
    "address configuration, error": Instance("zeroconf", ADDRESSES, "error"),
    "address configuration, time": Instance("zeroconf", ADDRESSES, "settled", "time", "min"),
    "backoff of 3 stations, time": Instance(
        "ethernet", {"stations": 3, "backoff": 3}, "delivered", "time"
    ),
    "slow chain 12": Instance("slow", {"length": 12}, truth=0.7),
    "slip grid 100, steps": Instance("grid", {"size": 100}, reward="steps", optimum="min"),
}

SMALL = {
    "consensus 2, K=1, disagree": Instance(COIN, {"K": 1}, "finished & !agree"),
    "leader election 3 of 5, rounds": Instance("dtmc/leader-3-5.pm", {}, "elected", "num_rounds"),
    "contract signing 3, 2 bits": Instance(
        "contract", {"pairs": 3, "bits": 2}, "unfair", truth=1 - 2**-3 + 2**-6
    ),
    "slow chain 4": Instance("slow", {"length": 4}, truth=0.7),
    "slip grid 8, steps": Instance("grid", {"size": 8}, reward="steps", optimum="min"),
}


def problems(instances: Mapping[str, Instance]) -> dict[str, gamedp.Problem]:
    """Return the problems that can be built here, by name."""
    return {
        name: instance.problem()
        for name, instance in instances.items()
        if STORM or instance.program in OWN
    }


def beside_storm(asked: dict[str, gamedp.Problem], seconds: float) -> list[measure.Row]:
    """Return a row for each problem, warm."""
    table = gamedp.compare(
        asked,
        solvers="default",
        peers=["storm"],
        tolerance=TOLERANCE,
        max_seconds=600.0,
        seconds=seconds,
    )
    return measure.beside_peers(table)


def with_truth(row: measure.Row, problem: gamedp.Problem, truth: float | None) -> measure.Row:
    """Return a row with the true error of our value."""
    source = "a formula"
    if truth is None:
        try:
            finest = gamedp.solve(problem.model, problem.objective, tolerance=FINEST)
        except gamedp.NotSolvedError as error:
            finest = error.solution
        low, high = finest.bounds()
        truth, source = (low + high) / 2, f"gamedp, within {(high - low) / 2:.1g}"
    error = abs(row.facts["value"] - truth)
    return attrs.evolve(row, facts=row.facts | {"true error": error, "truth from": source})


def of_processes(name: str, problem: gamedp.Problem, rounds: int) -> measure.Row:
    """Return the row of one model, cold: whole processes."""
    model, objective = problem.model, problem.objective
    rewards = {"reward": model.rewards} if isinstance(objective, gamedp.TotalReward) else {}
    target = objective.until if rewards else objective.target
    with tempfile.TemporaryDirectory(prefix="gamedp-models-") as folder:
        path = str(Path(folder, "model.umb"))
        gamedp.write_model(path, model, labels={"target": target}, rewards=rewards)
        option, what = ("--target", 'R{"reward"}') if rewards else ("--reach", "P")
        options = [option, "target", f"--{objective.optimum}"]
        formula = f'{what}{objective.optimum}=? [F "target"]'
        ours = [sys.executable, "-c", COMMAND_LINE, "solve", path, "--json", *options]
        theirs = [sys.executable, storm.__file__, path, formula, str(TOLERANCE)]
        environment = measure.with_bytecode(folder)
        values = [
            json.loads(measure.run_child(ours, environment).output)["value"],
            float(measure.run_child(theirs, environment).output.splitlines()[-1]),
        ]
        return measure.compare(
            f"{name}: whole process",
            lambda: measure.run_child(ours, environment).seconds,
            lambda: measure.run_child(theirs, environment).seconds,
            rounds=rounds,
            beside="storm",
            agrees=abs(values[0] - values[1]) <= 3 * TOLERANCE,
        )


def mean_of(rows: list[measure.Row], words: str, **more: Any) -> list[measure.Row]:
    """Return a row with the geometric mean of the ratios; none if there are none."""
    ratios = [row.ratio[0] for row in rows if row.ratio]
    if not ratios:
        return []
    mean = math.exp(statistics.fmean(map(math.log, ratios)))
    return [
        measure.Row(
            what=f"geometric mean of {len(ratios)} models, {words}",
            ours=mean,
            unit="times Storm",
            ratio=(mean, min(ratios), max(ratios)),
            **more,
        )
    ]


def models(quick: bool = False) -> list[measure.Row]:
    """Measure all models, warm and cold, and their means."""
    instances = SMALL if quick else LARGE
    asked = problems(instances)
    warm = [
        with_truth(row, asked[row.what], instances[row.what].truth)
        for row in beside_storm(asked, 0.01 if quick else 1.0)
    ]
    rounds = 1 if quick else 2
    cold = [of_processes(name, asked[name], rounds) for name in asked] if STORM else []
    return [
        *warm,
        *mean_of(warm, "warm", goal=("<=", AT_MOST)),
        *cold,
        *mean_of(cold, "whole processes"),
    ]
