"""``gamedp tables``: makes tables of all positions, goes on with them, shows and verifies them."""

from __future__ import annotations

import contextlib
import multiprocessing
import sys
import time
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

import gamedp
from gamedp.cli import report
from gamedp.cli.games import make_ordinary_game
from gamedp.cli.options import OUTPUT, Flag, GameName, GameSettings, OutputOptions
from gamedp.cli.report import watch
from gamedp.cli.texts import refuse
from gamedp.rules.game import Rules, numbers_positions
from gamedp.runtime.machine import processors
from gamedp.runtime.options import values_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


def tables(  # noqa: PLR0913 - they are its options
    game: GameName,
    folder: Path,
    /,
    *,
    settings: GameSettings = None,
    show: Flag = False,
    last_tier: int | None = None,
    tolerance: float = 1e-6,
    block_size: int = 1 << 16,
    workers: int | None = None,
    verify: int | Literal["all"] = 0,
    max_seconds: float = float("inf"),
    output: OutputOptions = OUTPUT,
) -> None:
    """Make tables of all positions of a game in a folder, or go on with those that are there.

    `gamedp search --endings-folder` reads those of a game that numbers its positions.

    Parameters
    ----------
    folder
        Where the tables are, or will be.
    show
        Make nothing: show what is there.
    last_tier
        The highest tier to make; all, if not given.
    tolerance
        The largest distance between the bounds of any value.
    block_size
        The number of places beyond which a tier is cut into blocks.
    workers
        The number of processes that make the blocks of a tier side by side, or of threads if the
        game numbers its positions; one for each processor if not given.
    verify
        Check this many positions against those that follow; or all, by making every block again.
    max_seconds
        Stop with an error after this many seconds; what is complete is kept.
    """
    made = make_ordinary_game(game, settings or (), command="tables")
    number = _number_of(workers, verify)
    began = time.perf_counter()
    failure: gamedp.NotSolvedError | None = None
    try:
        with contextlib.ExitStack() as stack:
            pool: Executor | None = None
            if show:
                pass
            elif numbers_positions(made):
                pool = stack.enter_context(ThreadPoolExecutor(number))
            elif number > 1:
                context = multiprocessing.get_context("spawn")
                pool = stack.enter_context(ProcessPoolExecutor(number, mp_context=context))
            if show:
                found = gamedp.tables.Tables.open(folder, made)
            else:
                found = gamedp.tables.tabulate(
                    made,
                    folder,
                    last_tier=last_tier,
                    tolerance=tolerance,
                    block_size=block_size,
                    executor=pool,
                    max_seconds=max_seconds,
                    progress=stack.enter_context(watch(quiet=output.quiet)),
                )
    except gamedp.NotSolvedError as error:
        found, failure = error.solution, error
    except KeyboardInterrupt:
        words = f"gamedp: what is complete is in {folder}; the same command goes on with it."
        print(words, file=sys.stderr)
        raise
    facts = {
        "game": game,
        "parameters": values_of(made),
        "folder": str(folder),
        "tiers": found.num_tiers,
        "blocks": found.num_blocks,
        "blocks_made": found.num_made,
        "bytes": found.num_bytes,
        "width": found.width if found.num_made else None,
        "places": found.num_places,
        "guarantee": found.guarantee.value,
        **_start(found),
        "values": _values(found),
        "verified": found.verify(None if verify == "all" else verify) if verify else 0,
        "seconds": time.perf_counter() - began,
    }
    if output.json:
        report.print_json(facts)
    else:
        print(report.lines(_words(made, facts, MADE_AGAIN if verify == "all" else AGREE)))
    if failure is not None:
        raise failure


MADE_AGAIN, AGREE = "places, made again: the same bytes", "positions agree with what they lead to"

SLICE = 1 << 20
"""Number of values that are counted at a time: a tier may take a third of the memory."""

COLUMNS = ("tier", "positions", "won", "drawn", "lost", "least", "most")


def _number_of(workers: int | None, verify: int | Literal["all"]) -> int:
    """Return the number of workers; refuse an invalid one, or an invalid number of positions."""
    number = processors() if workers is None else workers
    if number < 1:
        refuse(f"--workers is {number}; it must be at least 1.")
    if verify != "all" and verify < 0:
        refuse(f"--verify is {verify}; it must be 0 or more, or all.")
    return number


def _start(found: gamedp.tables.Tables) -> dict[str, Any]:
    """Return the value of the game at its start, if the tables contain it."""
    try:
        return {"value": found.value(), "bounds": found.bounds()}
    except gamedp.errors.UnknownStateError:
        return {"value": None, "bounds": None}


def _values(found: gamedp.tables.Tables) -> list[dict[str, int | None]]:
    """Return what is in each tier of numbered positions, for the mover with nothing settled."""
    if not numbers_positions(found.game):
        return []
    tiers = found.for_search()
    return [{"tier": tier, **_count(tiers.of_tier(tier))} for tier in range(tiers.top + 1)]


def _count(values: NDArray[np.int8]) -> dict[str, int | None]:
    """Return how many positions of a tier are won, drawn and lost, and by how much at most."""
    counts = np.zeros(256, np.int64)
    for first in range(0, len(values), SLICE):
        counts += np.bincount(values[first : first + SLICE].view(np.uint8), minlength=256)
    counts = np.roll(counts, 128)  # of -128 first
    there = np.flatnonzero(counts) - 128
    return {
        "positions": len(values),
        "won": int(counts[129:].sum()),
        "drawn": int(counts[128]),
        "lost": int(counts[:128].sum()),
        "least": int(there[0]) if len(there) else None,
        "most": int(there[-1]) if len(there) else None,
    }


def _words(game: Any, facts: dict[str, Any], how: str) -> list[tuple[str, str]]:
    """Return the same in words."""
    pairs = [
        ("game", report.game_words(game)),
        ("tiers", f"{facts['tiers']:,}"),
        ("blocks", f"{facts['blocks_made']:,} of {facts['blocks']:,}"),
        ("kept in", f"{facts['folder']}, {facts['bytes']:,} bytes"),
    ]
    if facts["width"] is not None:
        pairs.append(("width", f"at most {facts['width']:.3g}, proven"))
    if facts["values"]:
        rows = [
            tuple("" if row[name] is None else f"{row[name]:,}" for name in COLUMNS)
            for row in facts["values"]
        ]
        pairs.append(("values", report.table([COLUMNS, *rows])))
    if facts["bounds"] is not None:
        player = 0 if Rules(game).num_players > 1 else None
        pairs += report.bounded(facts["value"], *facts["bounds"], player=player)
    if facts["verified"]:
        pairs.append(("verified", f"{facts['verified']:,} {how}"))
    return [*pairs, ("time", f"{facts['seconds']:.3f} s")]
