"""Mancala beside plain C: the tables of endings, which either side makes by the same rules.

There are two peers in C for the tables. One works as gamedp does for any game: it makes each move
of each board and looks up where that leads to. The other knows what Mancala has in particular, that
a move of one row does the same for all rows across, and takes them all at once.

All sides write the same bytes: they are compared, one by one. Seconds are of processor time.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import measure
import numpy as np

import gamedp
from gamedp.games.mancala import Mancala

PITS = 6
AT_MOST = 3.0  # times the time of the peer that works in the same way: the goal


def endings(material: int, rounds: int) -> list[measure.Row]:
    """Return the rows of the tables of all boards with up to so many stones."""
    game = Mancala(pits=PITS, majority_stop=False)
    kept: dict[str, gamedp.EndgameTables] = {}

    def ours() -> float:
        kept.clear()  # never two at a time
        return measure.processor_seconds(
            lambda: kept.update(tables=gamedp.EndgameTables.build(game, material))
        )

    def row(mode: str, beside: str, **more: Any) -> measure.Row:
        program = measure.build_peer("mancala")
        theirs: Callable[[], float] | None = None
        agrees = None
        if program is not None:
            agrees = written(program, mode) == ours_written()

            def theirs() -> float:
                return float(measure.run_peer(program, mode, PITS, material)["seconds"])

        facts = {"positions": positions}
        name = f"all endings of {PITS} pits and up to {material} stones, {beside}"
        return measure.compare(
            name, ours, theirs, rounds=rounds, beside="C", agrees=agrees, facts=facts, **more
        )

    def written(program: Path, mode: str) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "table"
            measure.run_peer(program, mode, PITS, material, path)
            return path.read_bytes()

    def ours_written() -> bytes:
        tables = kept["tables"]
        strata = [tables.stratum(stones) for stones in range(material + 1)]
        return np.concatenate(strata).tobytes()

    ours()
    positions = kept["tables"].num_positions
    rate = measure.Row(
        what=f"endings of {PITS} pits and up to {material} stones valued in a second",
        ours=positions / min(ours() for _ in range(rounds)),
        unit="",
        facts={"positions": positions, "bytes": kept["tables"].num_bytes},
    )
    return [
        rate,
        row("endings-plain", "board by board", goal=("<=", AT_MOST)),
        row("endings", "by rows"),
    ]


def mancala(quick: bool) -> list[measure.Row]:
    return endings(8, 2) if quick else endings(13, 7)


if __name__ == "__main__":
    sys.exit(measure.main(mancala))
