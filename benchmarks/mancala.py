"""Mancala beside plain C: search, and the tables of endings, both by the same rules.

Search deepens with a table of positions on both sides. They order moves a little differently and so
do not come to the same positions: what is compared is the time for each, and the value.

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
STONES = 4  # in each pit, for search
AT_MOST = 3.0  # times the time of the peer that works in the same way: the goal
SAVED = 1 / 10  # of the positions of plain minimax are looked at: the goal


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


def trees(depth: int, rounds: int) -> list[measure.Row]:
    """Return the rows of counting lines of play and of searching, so many moves ahead."""
    game = Mancala(pits=PITS, stones=STONES)
    searcher = gamedp.AlphaBeta(depth=depth + 4, all_best=False)
    plain = gamedp.Minimax(depth=depth).search(game).statistics.nodes
    looked_at = gamedp.AlphaBeta(depth=depth, all_best=False).search(game).statistics.nodes
    program = measure.build_peer("mancala")

    def counting() -> float:
        return measure.processor_seconds(lambda: gamedp.perft(game, depth))

    def searching() -> float:
        results = []
        seconds = measure.processor_seconds(lambda: results.append(searcher.search(game)))
        return seconds / results[0].statistics.nodes

    def peer(mode: str, ahead: int) -> Any:
        return measure.run_peer(program, mode, PITS, STONES, ahead) if program else {}

    def counted() -> float:
        return float(peer("perft", depth)["seconds"])

    def searched() -> float:
        found = peer("deepening", depth + 4)
        return float(found["seconds"] / found["nodes"])

    lines, value = gamedp.perft(game, depth).positions[-1], searcher.search(game).value
    same_lines = peer("perft", depth)["leaves"] == lines if program else None
    same_value = peer("deepening", depth + 4)["value"] == value if program else None
    return [
        measure.compare(
            f"all lines of {depth} moves of {PITS} pits with {STONES} stones",
            counting,
            counted if program else None,
            rounds=rounds,
            beside="C",
            agrees=same_lines,
            goal=("<=", AT_MOST),
            facts={"lines": lines},
        ),
        measure.compare(
            f"a position of a search {depth + 4} moves ahead, with a table",
            searching,
            searched if program else None,
            rounds=rounds,
            beside="C",
            agrees=same_value,
            goal=("<=", AT_MOST),
            facts={"value": value},
        ),
        measure.Row(
            what=f"positions looked at of those of plain minimax, {depth} moves ahead",
            ours=float(looked_at),
            unit="",
            beside="gamedp's own",
            theirs=float(plain),
            ratio=(looked_at / plain,) * 3,
            goal=("<=", SAVED),
        ),
    ]


def mancala(quick: bool) -> list[measure.Row]:
    if quick:
        return [*trees(6, 2), *endings(8, 2)]
    return [*trees(9, 7), *endings(13, 7)]


if __name__ == "__main__":
    sys.exit(measure.main(mancala))
