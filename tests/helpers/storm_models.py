"""Random models as text, and what Storm says of them in rational numbers.

The text is written here, by hand as it were, and not by what gamedp writes.
"""

from fractions import Fraction

import attrs
import numpy as np
import stormpy
from stormpy import io as storm_io

import gamedp

PARTS = (8, 16, 10)
"""Probabilities are multiples of one of these parts: of two powers of two, and of tenths."""

LABELS = ("goal", "safe", "both")
REWARDS = ("cost", "time")


@attrs.frozen
class Row:
    """A choice: its outcomes in parts of the whole, and its rewards."""

    outcomes: dict[int, Fraction]
    rewards: tuple[Fraction, ...]


@attrs.frozen
class RandomProcess:
    """A Markov chain or decision process that Storm and gamedp are both asked about."""

    rows: list[list[Row]]
    state_rewards: list[tuple[Fraction, ...]]
    labels: dict[str, set[int]]
    start: int
    is_chain: bool

    def drn(self) -> str:
        """Return it in Storm's format of text."""
        lines = [f"@type: {'DTMC' if self.is_chain else 'MDP'}", "@parameters", ""]
        lines += ["@reward_models", " ".join(REWARDS) + " "]
        lines += ["@nr_states", str(len(self.rows))]
        lines += ["@nr_choices", str(sum(map(len, self.rows))), "@model"]
        for state, rows in enumerate(self.rows):
            words = ["init"] * (state == self.start)
            words += [name for name, states in self.labels.items() if state in states]
            lines.append(
                " ".join([f"state {state} [{_listed(self.state_rewards[state])}]", *words])
            )
            for number, row in enumerate(rows):
                lines.append(f"\taction {number} [{_listed(row.rewards)}]")
                lines += [f"\t\t{target} : {_decimal(p)}" for target, p in row.outcomes.items()]
        return "\n".join([*lines, ""])


def _decimal(number: Fraction) -> str:
    """Return a number of few digits exactly."""
    text = f"{float(number):.10f}".rstrip("0").rstrip(".")
    assert Fraction(text) == number
    return text


def _listed(numbers: tuple[Fraction, ...]) -> str:
    return ", ".join(map(_decimal, numbers))


def random_process(seed: int) -> RandomProcess:
    """Return a small process; end components, ties and traps are likely."""
    rng = np.random.default_rng(seed)
    states = int(rng.integers(2, 9))
    is_chain = bool(rng.integers(4) == 0)
    whole = int(rng.choice(PARTS))
    earns = rng.random()  # how likely a choice has a reward: where few have, loops are free
    rows = []
    for state in range(states):
        count = 1 if is_chain else int(rng.integers(1, 4))
        # Some lead nowhere else, as absorbing states do.
        if rng.random() < 0.2:
            rows.append([Row({state: Fraction(1)}, (Fraction(0),) * len(REWARDS))])
            continue
        rows.append([_row(rng, states, whole, earns) for _ in range(count)])
    return RandomProcess(
        rows=rows,
        state_rewards=[
            _rewards(rng, earns) if any(state not in row.outcomes for row in rows[state])
            else (Fraction(0),) * len(REWARDS)
            for state in range(states)
        ],
        labels={
            "goal": set(_some(rng, states, 0.2)),
            "safe": set(_some(rng, states, 0.7)),
            "both": set(_some(rng, states, 0.4)),
        },
        start=int(rng.integers(states)),
        is_chain=is_chain,
    )  # fmt: skip


def _some(rng: np.random.Generator, states: int, share: float) -> list[int]:
    return np.flatnonzero(rng.random(states) < share).tolist() or [int(rng.integers(states))]


def _row(rng: np.random.Generator, states: int, whole: int, earns: float) -> Row:
    count = int(rng.integers(1, min(3, states) + 1))
    targets = rng.choice(states, count, replace=False).tolist()
    cuts = sorted((1 + rng.choice(whole - 1, count - 1, replace=False)).tolist())
    parts = np.diff([0, *cuts, whole]).tolist()
    outcomes = {
        target: Fraction(part, whole)
        for target, part in sorted(zip(targets, parts, strict=True))
    }  # fmt: skip
    return Row(outcomes, _rewards(rng, earns))


def _rewards(rng: np.random.Generator, earns: float) -> tuple[Fraction, ...]:
    return tuple(
        Fraction(int(rng.integers(1, 9)), int(rng.choice([1, 2, 4]))) * bool(rng.random() < earns)
        for _ in REWARDS
    )


QUESTIONS = {
    'P{optimum}=? [F "goal"]': lambda of, opt: gamedp.Reachability(of["goal"], optimum=opt),
    'P{optimum}=? ["safe" U "both"]': lambda of, opt: gamedp.Reachability(
        of["both"], of["safe"], opt
    ),
    'R{{"cost"}}{optimum}=? [F "goal"]': lambda of, opt: gamedp.TotalReward(opt, until=of["goal"]),
    'R{{"time"}}{optimum}=? [F "both"]': lambda of, opt: gamedp.TotalReward(opt, until=of["both"]),
    'R{{"cost"}}{optimum}=? [C]': lambda of, opt: gamedp.TotalReward(opt),
    'R{{"time"}}{optimum}=? [C<=7]': lambda of, opt: gamedp.FiniteHorizon(7, opt),
    'P{optimum}=? [F<=5 "goal"]': lambda of, opt: gamedp.FiniteHorizon(5, opt, target=of["goal"]),
    'P{optimum}=? ["safe" U<=3 "both"]': lambda of, opt: gamedp.FiniteHorizon(
        3, opt, target=of["both"], allowed=of["safe"]
    ),
    'R{{"cost"}}{optimum}=? [LRA]': lambda of, opt: gamedp.AverageReward(opt),
}
"""Formulas of Storm's, and the objectives that ask the same."""


def answers(model, formula: str) -> list[Fraction | float]:
    """Return what Storm says of every state of an exact model; infinity is a float."""
    (wanted,) = stormpy.parse_properties(formula)
    found = stormpy.model_checking(model, wanted)
    return [_fraction(found.get_value(state)) for state in range(model.nr_states)]


def _fraction(number) -> Fraction | float:
    text = str(number)
    return float("inf") if "inf" in text else Fraction(text)


def exact_model(path):
    """Return Storm's model of a UMB file, with rational numbers."""
    options = storm_io.UmbImportOptions()
    options.build_state_valuations = False
    options.value_type = storm_io.UmbImportValueType.RATIONAL
    return stormpy.build_model_from_umb(str(path), options=options)
