"""``gamedp endings``: build or open the tables of a game's endings."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import gamedp
from gamedp.cli import report
from gamedp.cli.games import make_ordinary_game
from gamedp.cli.options import OUTPUT, Compile, GameName, GameSettings, OutputOptions
from gamedp.cli.watch import watch
from gamedp.runtime.options import values_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["endings"]

COLUMNS = ("material", "positions", "won", "drawn", "lost", "least", "most")


def endings(
    game: GameName,
    /,
    *,
    material: int,
    folder: Path | None = None,
    settings: GameSettings = None,
    verify: int = 0,
    compile: Compile = "auto",
    max_seconds: float = float("inf"),
    output: OutputOptions = OUTPUT,
) -> None:
    """Build or open the tables of a game's endings; print how many the mover wins.

    Parameters
    ----------
    material
        Build them for up to this much material left in play.
    folder
        Keep them in this folder, and continue from what it holds; `gamedp search
        --endings-folder` reads them.
    verify
        Check this many positions against their successors.
    max_seconds
        Stop with an error after this many seconds; what is complete is kept.
    """
    made = make_ordinary_game(game, settings or (), command="endings")
    began = time.perf_counter()
    failure: gamedp.NotSolvedError | None = None
    try:
        with watch(quiet=output.quiet) as progress:
            tables = gamedp.searchers.EndgameTables.build(
                made,
                material,
                folder=folder,
                compile=compile,
                max_seconds=max_seconds,
                progress=progress,
            )
    except gamedp.NotSolvedError as error:
        tables, failure = error.solution, error
    except KeyboardInterrupt:
        if folder is not None:
            words = f"gamedp: what is complete is in {folder}; the same command goes on with it."
            print(words, file=sys.stderr)
        raise
    facts = {
        "game": game,
        "parameters": values_of(made),
        "material": tables.material,
        "positions": tables.num_positions,
        "strata": [
            _stratum(number, tables.stratum(number)) for number in range(tables.material + 1)
        ],
        "folder": None if folder is None else str(folder),
        "seconds": time.perf_counter() - began,
        "verified": tables.verify(verify) if verify else 0,
    }
    if output.json:
        report.print_json(facts)
    else:
        print(report.lines(_words(made, facts)))
    if failure is not None:
        raise failure


def _stratum(material: int, values: NDArray[np.int8]) -> dict[str, int | None]:
    """Return the content of a stratum, from the mover's side with no points settled."""
    some = len(values) > 0
    return {
        "material": material,
        "positions": len(values),
        "won": int(np.count_nonzero(values > 0)),
        "drawn": int(np.count_nonzero(values == 0)),
        "lost": int(np.count_nonzero(values < 0)),
        "least": int(values.min()) if some else None,
        "most": int(values.max()) if some else None,
    }


def _words(game: Any, facts: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the same in words."""
    rows = [
        COLUMNS,
        *(
            tuple("" if row[name] is None else f"{row[name]:,}" for name in COLUMNS)
            for row in facts["strata"]
        ),
    ]
    pairs = [("game", report.game_words(game)), ("strata", report.table(rows))]
    pairs.append(("positions", f"{facts['positions']:,}"))
    if facts["verified"]:
        pairs.append(("verified", f"{facts['verified']:,} positions agree with what they lead to"))
    if facts["folder"] is not None:
        pairs.append(("kept in", facts["folder"]))
    return [*pairs, ("time", f"{facts['seconds']:.3f} s")]
