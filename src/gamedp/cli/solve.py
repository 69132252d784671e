"""``gamedp solve``: the value of a game, and its basis."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

import numpy as np

import gamedp
from gamedp.cli import report
from gamedp.cli.games import is_model_file, make_game
from gamedp.cli.options import (
    FILE,
    KEEP,
    METHOD,
    OUTPUT,
    FileOptions,
    Fresh,
    GameOrFile,
    GameSettings,
    KeepOptions,
    Method,
    OutputOptions,
)
from gamedp.cli.watch import watch
from gamedp.rules.game import is_staged
from gamedp.runtime.files import write_whole
from gamedp.runtime.slices import LINES
from gamedp.verbs.certifying import certify
from gamedp.verbs.saving import save

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gamedp.results.solution import Solution
    from gamedp.stages.solution import StagedSolution

__all__ = ["kept_in", "solve", "solved", "write_csv"]


def solve(
    game: GameOrFile,
    /,
    *,
    settings: GameSettings = None,
    fresh: Fresh = False,
    keep: KeepOptions = KEEP,
    file: FileOptions = FILE,
    method: Method = METHOD,
    output: OutputOptions = OUTPUT,
) -> None:
    """Solve a game, or a model in a file: print its value, its bounds, and what they rest on."""
    keep.check()
    if is_model_file(game):
        if settings or fresh:
            message = f"{'--set' if settings else '--fresh'} is for games; {game} is a file."
            raise gamedp.errors.InvalidParameterError(message)
        from gamedp.cli.models import solve_file  # noqa: PLC0415 - games do not need it

        solve_file(game, file, method, output, keep)
        return
    file.refuse()
    made = make_game(game, settings or ())
    solution, failure = solved(made, method, fresh=fresh, quiet=output.quiet)
    kept = kept_in(solution, keep)
    if output.json:
        report.print_json(report.facts(game, solution))
    else:
        pairs = [("game", report.game_words(made)), *report.value_lines(solution)]
        print(report.lines([*pairs, *report.measures(solution), *kept]))
    if failure is not None:
        raise failure


def solved(
    game: Any, method: Method, *, fresh: bool, quiet: bool
) -> tuple[Solution | StagedSolution, gamedp.NotSolvedError | None]:
    """Solve a game, or read the stored table of a staged one unless `fresh` is set.

    If the solver stops too early, return its result so far and its error.
    """
    keep = is_staged(game) and not fresh
    try:
        with watch(quiet=quiet) as progress:
            return gamedp.solve(game, progress=progress, keep=keep, **method.keywords()), None
    except gamedp.NotSolvedError as error:
        return error.solution, error


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


def write_csv(path: Path, solution: Solution | StagedSolution) -> int:
    """Write the columns of a solution to a file, completely or not at all; return the row count.

    Numbers have all their digits; masked values, such as the action in a terminal state, are empty.

    Raises
    ------
    OSError
        If it cannot be written; names the file.
    """
    columns = solution.to_columns()
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
