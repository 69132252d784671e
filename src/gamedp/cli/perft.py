"""``gamedp perft``: the number of positions of a game, ply by ply."""

from __future__ import annotations

import gamedp
from gamedp.cli import report
from gamedp.cli.games import make_ordinary_game
from gamedp.cli.options import OUTPUT, Compile, GameName, GameSettings, OutputOptions, StateTexts
from gamedp.cli.positions import position_of, starts_of
from gamedp.cli.watch import watch
from gamedp.runtime.options import values_of

__all__ = ["perft"]


def perft(
    game: GameName,
    /,
    *,
    depth: int,
    state: StateTexts = None,
    settings: GameSettings = None,
    compile: Compile = "auto",
    max_seconds: float = float("inf"),
    output: OutputOptions = OUTPUT,
) -> None:
    """Count the lines of play, ply by ply, to compare two versions of the same rules.

    Parameters
    ----------
    depth
        Plies.
    max_seconds
        Stop with an error after this many seconds.
    """
    made = make_ordinary_game(game, settings or (), command="perft")
    position = position_of(starts_of(gamedp.rules.Rules(made)), state or (), "--state")
    with watch(quiet=output.quiet) as progress:
        found = gamedp.searchers.perft(
            made, depth, position, compile=compile, max_seconds=max_seconds, progress=progress
        )
    total = sum(found.positions)
    a_second = total / found.seconds if found.seconds > 0 else 0.0
    if output.json:
        counts = {name: getattr(found, name) for name in ("positions", "ended", "seconds")}
        where = {"game": game, "parameters": values_of(made), "state": position}
        report.print_json({**where, "depth": depth, **counts, "positions_per_second": a_second})
        return
    rows = [("ply", "positions", "ended")]
    rows += [
        (str(ply), f"{positions:,}", f"{ended:,}")
        for ply, (positions, ended) in enumerate(zip(found.positions, found.ended, strict=True))
    ]
    pairs = [("game", report.game_words(made)), ("lines", report.table(rows))]
    time = f"{found.seconds:.3f} s, {a_second:,.0f} positions a second"
    print(report.lines([*pairs, ("in all", f"{total:,}"), ("time", time)]))
