"""Saving the results of `gamedp solve`: the solution, its proof, tables of states and policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gamedp.storage.texts import write_csv
from gamedp.verbs.certifying import certify
from gamedp.verbs.saving import save, write_policy

if TYPE_CHECKING:
    from gamedp.cli.options import KeepOptions
    from gamedp.results.solution import Solution
    from gamedp.stages.solution import StagedSolution

__all__ = ["kept_in"]


def kept_in(solution: Solution | StagedSolution, keep: KeepOptions) -> list[tuple[str, str]]:
    """Save the requested results; describe in words where they are."""
    pairs = []
    if keep.save is not None:
        save(solution, keep.save)
        pairs.append(("saved in", str(keep.save)))
    if keep.certificate is not None:
        save(certify(solution), keep.certificate)
        pairs.append(("proof in", str(keep.certificate)))
    if keep.csv is not None:
        count = write_csv(keep.csv, solution.to_columns())
        pairs.append(("table in", f"{keep.csv}, {count:,} lines under a line of names"))
    if keep.policy is not None:
        write_policy(keep.policy, solution)
        pairs.append(("policy in", str(keep.policy)))
    return pairs
