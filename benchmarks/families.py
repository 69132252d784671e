"""Families of standard models, each from small to large, beside Storm: means by classes of size.

One set of models favours a program that was tuned on it. So these are the protocols of
`models.py` and others, asked in several ways (probabilities and expected steps, the most and the
least) for a range of their parameters; nobody has tuned anything on them. A model of less than a
thousand transitions tells what a call costs that hardly has anything to do; and the classes are of
10^2 to 10^3 transitions, 10^3 to 10^4, and so on.

What is measured is said in `models.py`, whose warm rows these are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import measure
from models import AT_MOST, Instance, beside_storm, mean_of, problems

Question = tuple[str, str | None, Literal["max", "min"]]
"""What is to be reached, the reward till then or None for the probability, and the optimum."""


def _family(
    name: str, program: str, constants: list[dict[str, Any]], questions: list[Question]
) -> Iterator[tuple[str, Instance]]:
    """Go through the instances of a program: each choice of constants, each question."""
    for chosen in constants:
        numbers = " ".join([name, ", ".join(map(str, chosen.values()))]).strip()
        for target, reward, optimum in questions:
            instance = Instance(program, chosen, target, reward, optimum)
            yield f"{numbers}: {optimum} {reward or target}", instance


FAMILIES = dict((
    *_family(
        "consensus",
        "mdp/coin2.nm",
        [{"K": barrier} for barrier in (1, 2, 4, 8, 32)],
        [
            ("finished & all_coins_equal_1", None, "min"),
            ("finished & !agree", None, "max"),
            ("finished", "steps", "max"),
            ("finished", "steps", "min"),
        ],
    ),
    *_family(
        "retransmission",
        "dtmc/brp.pm",
        [{"N": 4, "MAX": 2}, {"N": 16, "MAX": 2}, {"N": 64, "MAX": 5}, {"N": 512, "MAX": 5}],
        [("target", None, "max")],
    ),
    *_family(
        "crowds",
        "dtmc/crowds-5-5.pm",
        [{"TotalRuns": runs} for runs in (2, 3, 4, 6)],
        [("observe0Greater1", None, "max"), ("observeIGreater1", None, "max")],
    ),
    *_family(
        "NAND",
        "dtmc/nand-5-2.pm",
        [{"N": 3, "K": 1}, {"N": 5, "K": 2}, {"N": 10, "K": 2}, {"N": 20, "K": 2}],
        [("target", None, "max")],
    ),
    *_family(
        "leader election", "dtmc/leader-3-5.pm", [{"K": 5}], [("elected", "num_rounds", "max")]
    ),
    *_family(
        "leader election",
        "mdp/leader4.nm",
        [{}],
        [("elected", None, "min"), ("elected", "rounds", "max")],
    ),
    *_family(
        "CSMA",
        "mdp/csma2-2.nm",
        [{}],
        [
            ("all_delivered", "time", "max"),
            ("all_delivered", "time", "min"),
            ("collision_max_backoff", None, "max"),
        ],
    ),
    *_family(
        "FireWire",
        "mdp/firewire.nm",
        [{"delay": 3, "fast": 0.5}, {"delay": 12, "fast": 0.5}],
        [("elected", "time", "max"), ("elected", "time", "min"), ("elected", None, "min")],
    ),
    *_family(
        "WLAN",
        "mdp/wlan0_collide.nm",
        [{"COL": 2, "TRANS_TIME_MAX": 10}, {"COL": 2, "TRANS_TIME_MAX": 40}],
        [("twoCollisions", None, "max"), ("twoCollisions", None, "min")],
    ),
    *_family("two dice", "mdp/two_dice.nm", [{}], [("seven", None, "max"), ("done", None, "min")]),
    *_family(
        "Herman's ring",
        "herman",
        [{"processes": number} for number in (3, 5, 7, 9)],
        [("stable", "steps", "max")],
    ),
    *_family(
        "contract signing",
        "contract",
        [{"pairs": 2, "bits": 2}, {"pairs": 3, "bits": 4}, {"pairs": 4, "bits": 6}],
        [("unfair", None, "max")],
    ),
    *_family(
        "address configuration",
        "zeroconf",
        [
            {"probes": 2, "apart": 2, "latest": 4},
            {"probes": 2, "apart": 4, "latest": 12},
            {"probes": 4, "apart": 4, "latest": 16},
        ],
        [
            ("error", None, "max"),
            ("error", None, "min"),
            ("settled", "time", "max"),
            ("settled", "time", "min"),
        ],
    ),
    *_family(
        "backoff",
        "ethernet",
        [{"stations": 2, "backoff": 2}, {"stations": 2, "backoff": 4}],
        [("delivered", "time", "max"), ("delivered", "time", "min")],
    ),
    *_family(
        "shared coin of many",
        "consensus",
        [{"processes": 3, "barrier": 1}, {"processes": 3, "barrier": 2}],
        [("split", None, "max"), ("heads", None, "min"), ("decided", "steps", "min")],
    ),
    *_family("slow chain", "slow", [{"length": 5}, {"length": 15}], [("target", None, "max")]),
    *_family("slip grid", "grid", [{"size": size} for size in (4, 12, 40)], [
        ("target", "steps", "min")
    ]),
))  # fmt: skip

QUICK = ("two dice:", "slow chain 5:", "slip grid 4:", "Herman's ring 3:", "retransmission 4,")


def families(quick: bool = False) -> list[measure.Row]:
    """Measure all instances, and their means by classes of size."""
    chosen = {
        name: instance for name, instance in FAMILIES.items() if not quick or name.startswith(QUICK)
    }
    rows = beside_storm(problems(chosen), 0.01 if quick else 0.3)
    return [*rows, *by_size(rows)]


def by_size(rows: list[measure.Row]) -> list[measure.Row]:
    """Return the means of rows by the power of ten of their transitions, and of all."""
    means = []
    for power in range(1, 9):
        least, most = 10**power, 10 ** (power + 1)
        of_class = [row for row in rows if least <= row.facts["transitions"] < most]
        words = f"10^{power} to 10^{power + 1} transitions"
        means += mean_of(of_class, words, goal=("<=", AT_MOST))
    return [*means, *mean_of(rows, "all sizes", goal=("<=", AT_MOST))]
