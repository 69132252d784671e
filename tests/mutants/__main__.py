"""Tries some faults and says which of them the tests have not noticed."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mutants.choosing import ROOT, Recorded, Reviewed, changed_files, chosen, known_mutants
from mutants.making import Mutant
from mutants.trying import SURVIVED, UNCOVERED, Tried, tried, what_fails

LEAST = 0.25
"""The share of faults that must be noticed: a sound suite notices at least twice as many."""


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m mutants",
        description="Put faults into the library, one at a time, and ask the tests that run there.",
    )
    parser.add_argument("--count", type=int, default=25, help="how many faults (%(default)s)")
    parser.add_argument("--noticed", type=int, default=5,
                        help="how many of them once went unnoticed (%(default)s)")  # fmt: skip
    parser.add_argument("--seed", help="what the draw depends on (the commit)")
    parser.add_argument("--since", default="HEAD~10",
                        help="half come from files that changed since (%(default)s)")  # fmt: skip
    parser.add_argument("--only", default="", help="draw from files whose path begins so")
    parser.add_argument("--jobs", type=int, default=1, help="tried at the same time (%(default)s)")
    parser.add_argument("--coverage", type=Path, default=ROOT / ".coverage",
                        help="what `coverage run -m pytest` has left (%(default)s)")  # fmt: skip
    return parser.parse_args()


def main() -> int:
    """Try the faults, print what became of them, and return the exit status."""
    wanted = options()
    commit = subprocess.run(["git", "rev-parse", "HEAD"],  # noqa: S607
                            cwd=ROOT, capture_output=True, text=True, check=False)  # fmt: skip
    seed = wanted.seed or commit.stdout.strip()
    recorded = Recorded(wanted.coverage.absolute())
    reviewed = Reviewed.read(Path(__file__).parent / "reviewed.toml")
    some = chosen(
        [mutant for mutant in known_mutants() if mutant.path.startswith(wanted.only)],
        reviewed, changed_files(wanted.since),
        count=wanted.count, noticed=wanted.noticed, seed=seed,
    )  # fmt: skip
    print(f"{len(some)} faults, drawn by {seed}", flush=True)
    results = []
    with ThreadPoolExecutor(wanted.jobs) as pool:

        def ask(mutant: Mutant) -> Tried:
            return tried(mutant, recorded, seed, reviewed.noticed.get(mutant.key, ""))

        for result in pool.map(ask, some):
            results.append(result)
            print(line_of(result), flush=True)
    return judged(results, reviewed)


def line_of(result: Tried) -> str:
    """Return one line about a fault."""
    mutant = result.mutant
    by = f" by {result.test}" if result.test else ""
    how = " also compiled" if result.is_compiled and result.verdict == SURVIVED else ""
    return (
        f"{result.verdict:9} {result.seconds:4.0f} s  {mutant.path}:{mutant.number} "
        f"{mutant.function}: {mutant.change}{how}{by}"
    )


def judged(results: list[Tried], reviewed: Reviewed) -> int:
    """Print what matters of the results; return 1 if the tests have got worse.

    Where a test fails without any fault, in a copy of the library or on a machine too busy for its
    time, what it has noticed says nothing: then the share is not judged.
    """
    counts = Counter(result.verdict for result in results)
    print(", ".join(f"{count} {verdict}" for verdict, count in counts.most_common()))
    void = what_fails(sorted({result.test for result in results if "::" in result.test}))
    if void:
        print(f"how many were noticed is not judged: without any fault, {void}")
    unnoticed = [result for result in results if result.verdict in {SURVIVED, UNCOVERED}]
    for result in unnoticed:
        mutant = result.mutant
        names = ("path", "function", "line", "change")
        rows = [f"{name} = {json.dumps(getattr(mutant, name))}" for name in names]
        print("\n[[mutant]]", *rows, 'verdict = ""', 'why = ""', sep="\n")
    back = [result for result in unnoticed if result.mutant.key in reviewed.noticed]
    if back:
        print(f"\n{len(back)} of these were noticed before:")
        print("\n".join(map(line_of, back)))
    too_many = len(unnoticed) > (1 - LEAST) * len(results)
    if too_many and not void:
        print(f"\nonly {len(results) - len(unnoticed)} of {len(results)} were noticed")
    return int(bool(back) or (too_many and not void))


if __name__ == "__main__":
    sys.exit(main())
