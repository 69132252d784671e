"""Saving the results of `gamedp solve`: the solution, its proof, and a text table of all states."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.runtime.files import write_whole
from gamedp.runtime.slices import LINES
from gamedp.verbs.certifying import certify
from gamedp.verbs.saving import save

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gamedp.cli.options import KeepOptions
    from gamedp.comparison import Comparison
    from gamedp.results.solution import Solution
    from gamedp.stages.solution import StagedSolution

__all__ = ["kept_in", "write_csv"]


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
        count = write_csv(keep.csv, solution)
        pairs.append(("table in", f"{keep.csv}, {count:,} lines under a line of names"))
    return pairs


def write_csv(path: Path, table: Solution | StagedSolution | Comparison) -> int:
    """Write the columns of a result to a file, completely or not at all; return the row count.

    Numbers have all their digits; masked values, such as the action in a terminal state, are empty.

    Raises
    ------
    OSError
        If it cannot be written; names the file.
    """
    columns = table.to_columns()
    count = len(next(iter(columns.values())))

    def write(file: Any) -> None:
        for lines in _lines(columns, count):
            file.write(lines.encode())

    write_whole(path, write)
    return count


def _lines(columns: dict[str, np.ndarray[Any, Any]], count: int) -> Iterator[str]:
    """Yield the file as text, some rows at a time."""
    for first in range(-1, count, LINES):
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        if first < 0:
            writer.writerow(columns)
        parts = [column[max(first, 0) : first + LINES] for column in columns.values()]
        # A masked number becomes None, which is written as an empty field.
        writer.writerows(zip(*(part.tolist() for part in parts), strict=True))
        yield text.getvalue()
