"""Mancala beside plain C: search, and the tables of endings, both by the same rules.

Search deepens with a table of positions on both sides. They order moves a little differently and so
do not come to the same positions: what is compared is the time for each, and the value.

There are two peers in C for the tables. One works as gamedp does for any game: it makes each move
of each board and looks up where that leads to. The other knows what Mancala has in particular, that
a move of one row does the same for all rows across, and takes them all at once.

All sides write the same bytes: they are compared, one by one. Seconds are of processor time.

OpenSpiel's game `mancala` is what `Mancala.kalah` is here, so its alpha-beta search in Python over
rules in C++ stands beside the one here, if it is installed (``pip install --group peers``). Both
find what the difference of the stores can be made so many moves ahead. It searches to that depth at
once and keeps no table.

How many positions a proof takes is a row of its own, for boards that were solved in print with the
same means: tables of endings, transposition cutoffs and bounds from the stones in play.
"""

from __future__ import annotations

import importlib.util
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
TO_SOLVE = 2_000_000  # positions to prove a value: the goal


def endings(stones: int, rounds: int) -> list[measure.Row]:
    """Return the rows of the tables of all boards with up to so many stones."""
    game = Mancala(pits=PITS, majority_stop=False)
    kept: dict[str, gamedp.tables.Tables] = {}

    def ours() -> float:
        kept.clear()  # never two at a time
        return measure.processor_seconds(
            lambda: kept.update(tables=gamedp.tables.tabulate(game, last_tier=stones))
        )

    def row(mode: str, beside: str, **more: Any) -> measure.Row:
        program = measure.build_peer("mancala")
        theirs: Callable[[], float] | None = None
        agrees = None
        if program is not None:
            agrees = written(program, mode) == ours_written()

            def theirs() -> float:
                return float(measure.run_peer(program, mode, PITS, stones)["seconds"])

        facts = {"positions": positions}
        name = f"all endings of {PITS} pits and up to {stones} stones, {beside}"
        return measure.compare(
            name, ours, theirs, rounds=rounds, beside="C", agrees=agrees, facts=facts, **more
        )

    def written(program: Path, mode: str) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "table"
            measure.run_peer(program, mode, PITS, stones, path)
            return path.read_bytes()

    def ours_written() -> bytes:
        tables = kept["tables"].for_search()
        return np.concatenate([tables.of_tier(tier) for tier in range(stones + 1)]).tobytes()

    ours()
    positions = kept["tables"].num_places
    rate = measure.Row(
        what=f"endings of {PITS} pits and up to {stones} stones valued in a second",
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
    searcher = gamedp.searchers.AlphaBeta(depth=depth + 4, all_best=False)
    plain = gamedp.searchers.Minimax(depth=depth).search(game).statistics.nodes
    looked_at = (
        gamedp.searchers.AlphaBeta(depth=depth, all_best=False).search(game).statistics.nodes
    )
    program = measure.build_peer("mancala")

    def counting() -> float:
        return measure.processor_seconds(lambda: gamedp.searchers.perft(game, depth))

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

    lines, value = gamedp.searchers.perft(game, depth).positions[-1], searcher.search(game).value()
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


def beside_open_spiel(depth: int, rounds: int) -> measure.Row:
    """Return the row of a search of Kalah so many moves ahead, no further than any game ends."""
    game = Mancala.kalah()
    searcher = gamedp.searchers.AlphaBeta(depth=depth, all_best=False)
    found = searcher.search(game)
    facts: dict[str, Any] = {"value": found.value(), "positions": found.statistics.nodes}
    theirs: Callable[[], float] | None = None
    agrees = None
    if importlib.util.find_spec("pyspiel") is not None:
        import pyspiel  # noqa: PLC0415 - may be missing
        from open_spiel.python.algorithms import minimax  # noqa: PLC0415 - may be missing

        leaves: list[float] = []
        kalah = pyspiel.load_game("mancala")

        def difference(state: Any) -> float:
            stones = state.observation_tensor(0)  # theirs lies before our pits, ours behind them
            leaves.append(stones[PITS + 1] - stones[0])
            return leaves[-1]

        def theirs() -> float:
            leaves.clear()
            return measure.processor_seconds(
                lambda: minimax.alpha_beta_search(
                    kalah, value_function=difference, maximum_depth=depth
                )
            )

        value, _ = minimax.alpha_beta_search(kalah, value_function=difference, maximum_depth=depth)
        # Who wins is all that it says of a game that is over.
        none_ends = not any(gamedp.searchers.perft(game, depth).ended)
        agrees = none_ends and value == found.value()
        facts["leaves of OpenSpiel"] = len(leaves)
    return measure.compare(
        f"Kalah of {PITS} pits with {STONES} stones, {depth} moves ahead",
        lambda: measure.processor_seconds(lambda: searcher.search(game)),
        theirs,
        rounds=rounds,
        beside="OpenSpiel",
        missing="without",
        agrees=agrees,
        facts=facts,
    )


def solved(name: str, game: Mancala, stones: int, *, all_best: bool) -> measure.Row:
    """Return the row of proving a value, with tables of endings up to so many stones."""
    kept: list[Any] = []

    def build() -> None:
        kept.append(gamedp.tables.tabulate(game, last_tier=stones))

    building = measure.processor_seconds(build)
    searcher = gamedp.searchers.AlphaBeta(endings=kept[0], all_best=all_best)
    searching = measure.processor_seconds(lambda: kept.append(searcher.search(game)))
    result = kept[1]
    if not result.is_proven:
        message = f"the value of {game} was not proven"
        raise RuntimeError(message)
    which = "all best moves" if all_best else "one best move"
    return measure.Row(
        what=f"positions looked at to solve {name}, {which}",
        ours=float(result.statistics.nodes),
        unit="",
        value=float(result.statistics.nodes),
        goal=("<=", TO_SOLVE),
        facts={
            "value": result.value(),
            "best": list(result.best_actions),
            "endings up to": stones,
            "seconds for tables": building,
            "seconds of search": searching,
        },
    )


def mancala(quick: bool) -> list[measure.Row]:
    small = [
        solved("Kalah of 4 pits with 4 stones", Mancala.kalah(4, 4), 10, all_best=True),
        solved("Kalah of 5 pits with 3 stones", Mancala.kalah(5, 3), 10, all_best=True),
    ]
    if quick:
        return [*trees(6, 2), *endings(8, 2), beside_open_spiel(6, 2), *small]
    large = "6 pits with 3 stones"
    return [
        *trees(9, 7),
        *endings(13, 7),
        beside_open_spiel(8, 5),
        *small,
        solved("Kalah of 6 pits with 3 stones", Mancala.kalah(6, 3), 16, all_best=True),
        solved(large, Mancala(PITS, 3), 20, all_best=False),
        solved(large, Mancala(PITS, 3), 20, all_best=True),
    ]
