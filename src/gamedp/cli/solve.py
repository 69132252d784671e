"""``gamedp solve``: the value of a game, and its basis."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import gamedp
from gamedp.cli import report
from gamedp.cli.games import is_model_file, make_game
from gamedp.cli.keeping import kept_in
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

if TYPE_CHECKING:
    from gamedp.results.solution import Solution
    from gamedp.stages.solution import StagedSolution

__all__ = ["solve", "solved"]


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
    words = itertools.chain(report.value_lines(solution), report.measures(solution), kept)
    report.show(output, game, made, solution.facts(), words)
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
