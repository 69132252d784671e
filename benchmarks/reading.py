"""From a file to a model in memory: programs in PRISM's language, and explicit files.

Beside Storm's own reader, where stormpy is installed. Both sides must find as many states, choices
and transitions. Seconds are of processor time, in this process; but for `--quick`, the loops that
read programs have been compiled.
"""

from __future__ import annotations

import math
import tempfile
from pathlib import Path
from typing import Any

import attrs
import measure
from programs import PROGRAMS

import gamedp

try:
    import stormpy
except ImportError:
    stormpy = None

AT_MOST = 1.0  # times Storm's time: the goal for each program
ON_AVERAGE = 0.5
EXPLICIT = 1.15  # a file of 300,000 states: 1.5 s where Storm takes 1.3

SIZES: dict[str, list[dict[str, int]]] = {
    "consensus": [{"processes": 3}, {"processes": 4}, {"processes": 5}],
    "herman": [{"processes": 9}, {"processes": 11}],
    "contract": [{"pairs": 4, "bits": 3}, {"pairs": 5, "bits": 6}],
    "zeroconf": [{"probes": 3}, {"probes": 8, "latest": 16}],
    "ethernet": [{"stations": 2}, {"stations": 3}],
}
"""The programs, from small to large."""


@attrs.frozen
class Files:
    """Where the files are, and what was last read of them by each side."""

    folder: Path
    found: dict[str, tuple[int, int, int]] = attrs.field(factory=dict)

    def ours(self, path: Path) -> None:
        """Read a file."""
        model = gamedp.read_model(path).model
        self.found["ours"] = (model.num_states, model.num_choices, model.num_transitions)

    def theirs(self, path: Path) -> None:
        """Let Storm read a file."""
        if path.suffix == ".prism":
            options = stormpy.BuilderOptions(build_full=True)
            model = stormpy.build_model(stormpy.parse_prism_program(str(path)), options=options)
        else:
            model = stormpy.build_model_from_drn(str(path))
        self.found["theirs"] = (model.nr_states, model.nr_choices, model.nr_transitions)

    def row(self, what: str, path: Path, rounds: int, at_most: float) -> measure.Row:
        """Return the row of a file that both sides read."""
        row = measure.compare(
            what,
            lambda: measure.processor_seconds(lambda: self.ours(path)),
            stormpy and (lambda: measure.processor_seconds(lambda: self.theirs(path))),
            rounds=rounds,
            beside="Storm",
            missing="without",
            goal=("<=", at_most) if stormpy else None,
        )
        names = ("states", "choices", "transitions")
        facts: dict[str, Any] = dict(zip(names, self.found["ours"], strict=True))
        agrees = self.found["theirs"] == self.found["ours"] if stormpy else None
        return attrs.evolve(row, agrees=agrees, facts=facts)


def explicit(path: Path, states: int) -> Path:
    """Write a file of so many states, four times the transitions, and rewards."""
    with path.open("w", encoding="utf-8") as file:
        file.write(f"@type: MDP\n@parameters\n\n@reward_models\nr \n@nr_states\n{states}\n")
        file.write(f"@nr_choices\n{2 * states}\n@model\n")
        for state in range(states):
            label = " init" if state == 0 else " goal" if state % 7 == 0 else ""
            file.write(f"state {state} [0.5]{label}\n")
            for choice in range(2):
                after = sorted({(7 * state + choice + 1) % states, (state + 1) % states})
                file.write(f"\taction {choice} [{state % 10 / 4}]\n")
                file.writelines(f"\t\t{each} : {1 / len(after)}\n" for each in after)
    return path


def reading(quick: bool = False) -> list[measure.Row]:
    """Measure all files."""
    rounds = 1 if quick else 3
    rows = []
    with tempfile.TemporaryDirectory() as name:
        files = Files(Path(name))
        if not quick:  # a large program, so that the loops are compiled
            large = files.folder / "large.prism"
            large.write_text(PROGRAMS["consensus"](processes=5), encoding="utf-8")
            files.ours(large)
        for program, sizes in SIZES.items():
            for constants in sizes[: 1 if quick else None]:
                path = files.folder / f"{program}{len(rows)}.prism"
                path.write_text(PROGRAMS[program](**constants), encoding="utf-8")
                size = ", ".join(map(str, constants.values()))
                rows.append(files.row(f"{program} {size}", path, rounds, AT_MOST))
        ratios = [row.ratio[0] for row in rows if row.ratio]
        ours = math.exp(sum(math.log(row.ours) for row in rows) / len(rows))
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None
        rows.append(
            measure.Row(
                what="programs, geometric mean",
                ours=ours,
                beside="Storm" if ratios else "without Storm",
                ratio=None if mean is None else (mean, min(ratios), max(ratios)),
                goal=None if mean is None else ("<=", ON_AVERAGE),
            )
        )
        states = 1_000 if quick else 300_000
        path = explicit(files.folder / "explicit.drn", states)
        rows.append(files.row(f"a .drn of {states:,} states", path, rounds, EXPLICIT))
    return rows
