"""How the benchmarks measure, and how they say what they found.

Absolute seconds drift with the machine and with what else it does. So two sides are run in turns, a
few times, and the median of the ratios within the pairs counts; its spread is shown along with it.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from gamedp.comparison import Comparison
from gamedp.runtime import jit
from gamedp.runtime.files import write_whole

__all__ = [
    "Child",
    "Row",
    "beside_peers",
    "build_peer",
    "compare",
    "forget_peak",
    "main",
    "processor_seconds",
    "run_child",
    "run_peer",
    "save",
    "scaled",
    "with_bytecode",
]

PEERS = Path(__file__).parent / "peers"
FAR_OFF = 4 / 3  # times what the goal allows: missed by more than a third
PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"))


@attrs.frozen(kw_only=True)
class Row:
    """One claim and what was found: a line of the table.

    Attributes
    ----------
    what : str
        What was measured.
    ours : float
        What gamedp took.
    unit : str
        Of `ours` and `theirs`: ``s`` for seconds, ``B`` for bytes, ...
    beside : str
        The rival, or why there is none.
    theirs : float or None
        What the rival took.
    ratio : (median, lowest, highest) or None
        Ours divided by theirs, pair by pair.
    value : float or None
        The number that `goal` is about; the median ratio if not given.
    goal : (sense, number) or None
        ``("<=", 2.0)``: what must hold of `value`.
    agrees : bool or None
        Whether both sides found the same; None where there is nothing to compare.
    facts : dict
        What else is known: sizes, errors, status.
    """

    what: str
    ours: float
    unit: str = "s"
    beside: str = ""
    theirs: float | None = None
    ratio: tuple[float, float, float] | None = None
    value: float | None = None
    goal: tuple[str, float] | None = None
    agrees: bool | None = None
    facts: dict[str, Any] = attrs.field(factory=dict)

    @property
    def judged(self) -> float | None:
        """The number that the goal is about."""
        return self.ratio[0] if self.value is None and self.ratio else self.value

    @property
    def factor(self) -> float | None:
        """By how many times the goal is missed, 1 at most if it is met; None as for `is_met`."""
        if self.goal is None or self.judged is None:
            return None
        sense, number = self.goal
        found, allowed = (self.judged, number) if sense == "<=" else (number, self.judged)
        return found / allowed if allowed > 0 else float("inf")

    @property
    def is_met(self) -> bool | None:
        """Whether the goal is reached; None without one, or without what it takes to know."""
        return None if self.factor is None else self.factor <= 1

    @property
    def is_far_off(self) -> bool:
        """Whether the goal is known to be missed by more than a third."""
        return self.factor is not None and self.factor > FAR_OFF


@attrs.frozen
class Child:
    """What a process took: seconds on the clock and of the processor; and what it printed."""

    seconds: float
    processor_seconds: float
    output: str


def processor_seconds(action: Callable[[], object]) -> float:
    """Return the processor time that `action` takes in this process."""
    start = time.process_time()
    action()
    return time.process_time() - start


def run_child(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Child:
    """Run a process to its end; raise CalledProcessError if it fails."""
    before = os.times()
    start = time.perf_counter()
    finished = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, env=environment
    )
    seconds = time.perf_counter() - start
    after = os.times()
    used = after.children_user + after.children_system
    return Child(seconds, used - before.children_user - before.children_system, finished.stdout)


def with_bytecode(folder: Path | str) -> dict[str, str]:
    """Return the environment, but for processes that keep bytecode, as an installed package has.

    Parameters
    ----------
    folder
        Where to keep it.
    """
    environment = dict(os.environ) | {"PYTHONPYCACHEPREFIX": str(Path(folder, "bytecode"))}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return environment


def forget_peak() -> None:
    """Let the peak start anew from what this process has now, where the system can."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


@functools.cache
def _peers() -> tempfile.TemporaryDirectory[str]:
    """Return where the peers are built; it goes when the process ends."""
    return tempfile.TemporaryDirectory(prefix="gamedp-peers-")


@functools.cache
def build_peer(name: str) -> Path | None:
    """Build ``peers/NAME.c`` with the system's compiler; return None where there is none."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    program = Path(_peers().name) / name
    source = PEERS / f"{name}.c"
    subprocess.run([compiler, "-O3", "-march=native", "-o", program, source], check=True)
    return program


def run_peer(program: Path, *arguments: object) -> dict[str, Any]:
    """Run a peer and return the object that it prints; its own time is ``seconds``."""
    printed = run_child([str(program), *map(str, arguments)]).output
    found: dict[str, Any] = json.loads(printed)
    return found


def alternate(
    ours: Callable[[], float], theirs: Callable[[], float], rounds: int
) -> list[tuple[float, float]]:
    """Run both sides in turns; the first round warms up and does not count."""
    pairs = []
    for number in range(rounds + 1):
        if number % 2:
            second = theirs()
            first = ours()
        else:
            first = ours()
            second = theirs()
        pairs.append((first, second))
    return pairs[1:]


def compare(
    what: str,
    ours: Callable[[], float],
    theirs: Callable[[], float] | None,
    *,
    rounds: int,
    beside: str,
    missing: str = "no compiler for",
    **more: Any,
) -> Row:
    """Measure two sides in turns and return their row.

    Parameters
    ----------
    what, beside
        As in `Row`.
    ours, theirs : callables
        Each runs its side once and returns what that took. Without `theirs`, ours runs alone.
    rounds : int
        How often.
    missing : str
        What to say before `beside` where the rival is missing.
    **more
        Further attributes of the row.
    """
    if theirs is None:
        taken = statistics.median([ours() for _ in range(rounds + 1)][1:])
        return Row(what=what, ours=taken, beside=f"{missing} {beside}", **more)
    pairs = alternate(ours, theirs, rounds)
    ratios = [first / second for first, second in pairs]
    return Row(
        what=what,
        ours=statistics.median(first for first, _ in pairs),
        theirs=statistics.median(second for _, second in pairs),
        beside=beside,
        ratio=(statistics.median(ratios), min(ratios), max(ratios)),
        **more,
    )


def beside_peers(table: Comparison, goal: tuple[str, float] | None = None) -> list[Row]:
    """Return a row for each other program that a comparison has asked, or one without any.

    The ratios are those of the calls, which were made in turns. A program agrees if it is off by no
    more than three times what it was asked for, of the value where that is more than 1: some take
    their precision as relative.
    """
    rows = []
    for problem in table.problems:
        ours, *peers = table.rows_of(problem)
        facts = {
            "states": ours.states,
            "transitions": ours.transitions,
            "value": ours.value,
            "status": ours.status,
            "solver": ours.solver.partition("(")[0],
            "sweeps": ours.sweeps,
            "proven bound": ours.width,
        }
        allowed = 3 * table.tolerance * max(1.0, abs(ours.value or 0.0))
        asked = [peer for peer in peers if peer.value is not None]
        for peer in asked:
            pairs = zip(ours.warm_seconds, peer.warm_seconds, strict=False)
            ratios = [first / second for first, second in pairs]
            rows.append(
                Row(
                    what=problem,
                    ours=ours.seconds,
                    beside=peer.method,
                    theirs=peer.seconds,
                    ratio=(statistics.median(ratios), min(ratios), max(ratios)),
                    goal=goal,
                    agrees=table.error(peer) <= allowed,
                    facts=facts | {f"largest error of {peer.method}": table.error(peer)},
                )
            )
        if not asked:
            rows.append(Row(what=problem, ours=ours.seconds, beside="without peers", facts=facts))
    return rows


def scaled(number: float | None, unit: str) -> str:
    """Return a number in words: ``31 ms``, ``1.9 GiB``."""
    if number is None:
        return ""
    if unit == "B":
        for power, name in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
            if abs(number) >= 2**power:
                return f"{number / 2**power:.3g} {name}"
        return f"{number:.3g} B"
    if unit.startswith("times"):
        return f"{number:.3g} {unit}"
    for size, prefix in PREFIXES:
        if abs(number) >= size:
            return f"{number / size:.3g} {prefix}{unit}"
    return f"{number:.3g} {unit}"


def times(ratio: float) -> str:
    """Return a ratio in words: ``1.73``, or ``1/125`` for a small one."""
    return f"{ratio:.3g}" if ratio >= 0.2 else f"1/{1 / ratio:.3g}"


def _cells(row: Row) -> list[str]:
    """Return a row of the table as text."""
    ratio = ""
    if row.ratio:
        middle, low, high = map(times, row.ratio)
        ratio = f"{middle} ({low} .. {high})"
    goal = ""
    if row.goal:
        sense, number = row.goal
        limit = times(number) if row.value is None else scaled(number, row.unit)
        goal = f"{sense} {limit}"
        if row.is_met is not None:
            goal += ": met" if row.is_met else ": missed"
    beside = f"{row.beside} {scaled(row.theirs, row.unit)}".strip()
    return [row.what, scaled(row.ours, row.unit), beside, ratio, goal]


def _table(rows: Iterable[Row], *, with_goals: bool) -> str:
    heads = ["what", "gamedp", "beside", "ratio (spread)", "goal"]
    lines = [heads, *map(_cells, rows)]
    if not with_goals:
        lines = [line[:-1] for line in lines]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    texts = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
    texts.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(texts)


def _facts(row: Row) -> str:
    """Return the facts of a row as one line."""
    parts = [f"{name} {_fact(value)}" for name, value in row.facts.items()]
    if row.agrees is not None:
        parts.insert(0, "both sides agree" if row.agrees else "THE SIDES DISAGREE")
    return f"{row.what}: {'; '.join(parts)}" if parts else ""


def _fact(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, dict):
        return ", ".join(f"{name} {_fact(part)}" for name, part in value.items())
    return f"{value:,}" if isinstance(value, int) else str(value)


def _machine() -> dict[str, Any]:
    """Return what the numbers depend on."""
    return {
        "load": os.getloadavg(),
        "processors": os.cpu_count(),
        "machine": platform.machine(),
        "python": platform.python_version(),
    }


def save(path: Path, found: Mapping[str, Any]) -> None:
    """Write what was found as JSON, whole or not at all."""
    text = json.dumps(found, indent=1) + "\n"
    write_whole(path, lambda file: file.write(text.encode()))


def main(*benchmarks: Callable[[bool], list[Row]]) -> int:
    """Run benchmarks as the command line asks, print the table, and return the exit code."""
    names = {benchmark.__name__: benchmark for benchmark in benchmarks}
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    if len(names) > 1:
        parser.add_argument("names", nargs="*", metavar="NAME", help=f"which: {', '.join(names)}")
    parser.add_argument("--quick", action="store_true", help="small sizes, which prove no claim")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write all that was found")
    parser.add_argument(
        "--check", action="store_true", help="fail if a goal is missed by more than a third"
    )
    options = parser.parse_args()
    if options.check and options.quick:
        parser.error("--check is about goals, and small sizes have none; leave out --quick")
    chosen = getattr(options, "names", []) or list(names)
    unknown = [name for name in chosen if name not in names]
    if unknown:
        parser.error(f"there is no benchmark {unknown[0]!r}; there are {', '.join(names)}")

    jit.SECONDS_BEFORE_COMPILING = 0.0  # what is measured is compiled, small models too
    rows: list[Row] = []
    for name in chosen:
        print(f"{name} ...", file=sys.stderr, flush=True)
        rows += names[name](options.quick)
    machine = _machine()
    load = ", ".join(f"{value:.2f}" for value in machine["load"])
    print(_table(rows, with_goals=not options.quick))
    print("", *filter(None, map(_facts, rows)), sep="\n")
    print(f"\nload average {load} on {machine['processors']} processors")
    if options.json:
        entries = [attrs.asdict(row) | {"met": row.is_met} for row in rows]
        found = {"quick": options.quick, **machine, "rows": entries}
        save(options.json, found)
    far_off = [row for row in rows if options.check and row.is_far_off]
    for row in far_off:
        print(f"GOAL MISSED BY MORE THAN A THIRD: {row.what}")
    return 1 if far_off or any(row.agrees is False for row in rows) else 0
