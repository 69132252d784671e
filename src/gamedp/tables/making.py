"""Making tables: the blocks of a tier are made here, or by the workers of an executor.

The blocks of a tier do not need each other. A worker opens the tables by itself: it is sent the
game and the number of a block, reads lower tiers from the folder and writes the block into it.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import functools
import itertools
import math
import threading
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.errors import DamagedFileError, InvalidParameterError, NotSolvedError, shown
from gamedp.rules.game import numbers_positions
from gamedp.rules.layout import MAX_INT64
from gamedp.runtime.files import as_path
from gamedp.runtime.limit import Budget, callback_of, shows_progress
from gamedp.runtime.options import CompileMode, check_word, checked_whole, is_number
from gamedp.runtime.workers import check_executor, deal
from gamedp.tables.tables import Tables

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence
    from concurrent.futures import Executor
    from pathlib import Path

    from gamedp.runtime.limit import ProgressCallback
    from gamedp.tables.filling import Filler
    from gamedp.tables.whole_numbers import WholeFiller

__all__ = ["tabulate"]

TOLERANCE = 1e-6
"""The largest distance between bounds, unless another is asked for."""

BLOCK_SIZE = 1 << 16
"""Largest number of places of a block, unless another is asked for."""

SAMPLES = 100
"""Number of positions that are verified when blocks have been made."""


@attrs.frozen
class Order:
    """Orders of a worker, besides the numbers of blocks."""

    folder: Path
    game: Any
    digest: str
    max_bytes: float | None
    compile: CompileMode


LOCAL = threading.local()
"""The tables that a worker has opened last, and its filler; each thread has its own."""


def make_blocks(order: Order, levels: Sequence[int]) -> Iterator[float]:
    """Make blocks in a worker; yield the error of each."""
    if getattr(LOCAL, "order", None) != order:
        tables = Tables.open(order.folder, order.game)
        if tables.digest != order.digest:
            message = (
                f"a worker finds other tables in {order.folder}, or other rules of "
                f"{shown(order.game)}: give all workers the same folder and the same program."
            )
            raise DamagedFileError(message)
        filler = tables.filler(order.max_bytes, compile=order.compile)
        LOCAL.order, LOCAL.tables, LOCAL.filler = order, tables, filler
    for level in levels:
        yield LOCAL.tables.make(LOCAL.filler, level)


class Makers:
    """Makes blocks.

    Parameters
    ----------
    tables : Tables
    executor : Executor or None
        Of the workers; None makes all blocks here, one after the other.
    options : dict
        Of what values blocks; see `Tables.filler`.
    """

    def __init__(
        self,
        tables: Tables,
        executor: Executor | None,
        options: dict[str, Any],
    ) -> None:
        self._tables = tables
        self._executor = executor
        self._options = options
        self._filler: Filler | WholeFiller | None = None
        sent = options["max_bytes"], options["compile"]
        self._order = Order(tables.folder.absolute(), tables.game, tables.digest, *sent)

    def blocks(self, levels: list[int]) -> Generator[tuple[int, float]]:
        """Make blocks of one tier; yield the level and the error of each when it is there.

        A single one is made here, as there is nothing to make in parallel.

        Raises
        ------
        NotSolvedError
            If a worker is lost.
        """
        if self._executor is None or len(levels) == 1:
            self._filler = self._filler or self._tables.filler(**self._options)
            for level in levels:
                yield level, self._tables.make(self._filler, level)
            return
        made = deal(self._executor, functools.partial(make_blocks, self._order), levels)
        try:
            with contextlib.closing(made):
                yield from zip(levels, made, strict=True)
        except concurrent.futures.BrokenExecutor as error:
            message = (
                f"{error} tabulate goes on with what is in {self._tables.folder}. The tables so "
                "far are the .solution of this error."
            )
            raise NotSolvedError(message, self._tables) from error


@shows_progress
def tabulate(  # noqa: PLR0913 - what is usually set in one call
    game: Any,
    folder: str | Path | None = None,
    *,
    last_tier: int | None = None,
    tolerance: float = TOLERANCE,
    block_size: int = BLOCK_SIZE,
    executor: Executor | None = None,
    max_bytes: float | None = None,
    compile: CompileMode = "auto",
    max_seconds: float = float("inf"),
    progress: ProgressCallback | bool | None = None,
) -> Tables:
    """Value all positions of a game, tier by tier, and keep them in a folder.

    For games of one player or two opponents that say in which order their positions can be valued,
    by a method besides the rules:

    ``tier(state) -> int``
        Never rises along play. A state and its representative, by ``canonical``, are of one tier.

    And where they are, in one of two ways. The first is for all such games:

    ``box() -> dict``
        The range ``(first, last)`` of each field of the positions in which play goes on, by its
        name. ``is_state(state)`` says which combinations are positions; all, if it is left out.
        ``tier`` must answer in the whole box, and should read few fields, each as ``state.name``.

    A tier is then a block, or several if it has more than `block_size` places: it is cut between
    values of the fields that ``tier`` reads, where play does not lead across if possible. Each
    block is explored and solved as a model of its own, which must fit in memory, with the values of
    lower tiers as ends and their errors in its bounds.

    The second way is for two players without chance whose payoffs are whole numbers that add up to
    0: the game numbers the positions of each tier, from tier 0 up, whatever has been won in them.
    Such tables take a byte a position, have no error, and are read by searches.

    ``tier_size(tier) -> int``
        The number of positions of a tier; 0 for one without a table.
    ``tier_index(state) -> int``
        The number of the position among these, seen from the player to move.
    ``tier_state(tier, index) -> state``
        A position with this number, in which player 0 moves and nothing is settled.
    ``settled(state, player) -> float``
        The settled winnings of `player`: the value of the state is their sum with the table's.
    ``next_in_tier(state) -> state``, optional
        The same as ``tier_state`` for the number after that of `state`, where that is faster.
    ``ending_range(state, value) -> (low, high)``, optional
        Bounds of the mover's value in `state`, if that in the table is `value`; where it is left
        out, what is settled plus `value`.

    The positions of such a tier are valued in the order of their numbers, by threads. So an action
    that stays in the tier should lead to a smaller number, whose value is known by then. Otherwise
    the position has to wait and is looked at twice, which takes longer and changes nothing else.

    Each block is written as one file with a checksum when it is complete: after an interruption, of
    whatever kind, the same call goes on. It makes files again that are damaged. The bytes depend on
    the game, `tolerance` and `block_size` alone. In the end some positions are verified.

    Parameters
    ----------
    game
        Without numbers of its own, its rules must be compilable, and its states NamedTuples of ints
        and tuples of ints.
    folder : str or Path, optional
        New, or one in which tables of the game have been begun. Without one, the tables are in a
        temporary folder, which is removed with them.
    last_tier : int, optional
        The highest tier to make, between the first and the last; all, if not given.
    tolerance : float
        The largest distance between the bounds of any value.
    block_size : int
        The number of places of the box beyond which a tier is cut. Smaller blocks take less memory
        and keep more workers busy.
    executor : concurrent.futures.Executor, optional
        Its workers make the blocks of a tier side by side, such as those of a
        ``ProcessPoolExecutor``. They must reach the folder, and processes must be able to import
        the game's class. If not given, blocks are made here, one after the other. Numbered
        positions are valued by its threads, if it has threads; if not given, by one for each
        processor.
    max_bytes : float, optional
        Limit of the memory of the model of a block, for each worker; nine tenths of the free
        memory, if not given.
    compile : {"auto", "always", "never"}
        As for :func:`gamedp.compile`; no byte depends on it.
    max_seconds : float
        The time limit, looked at after each block, and within those of numbered positions.
    progress : callable or bool, optional
        As for :func:`gamedp.solve`.

    Returns
    -------
    Tables

    Raises
    ------
    UnsupportedProblemError
        If the game lacks a method, or play can stay in a tier for ever. If it numbers its
        positions, also if one can repeat, or a value is not a whole number that fits a byte.
    InvalidModelError
        If the methods contradict the rules, which the message shows by a state and an action.
    CompilationError
        If `compile` is "always" and the rules cannot be compiled.
    LimitExceededError
        If a block takes too much memory.
    NotSolvedError
        After `max_seconds`, if a worker is lost, or if the tolerance is out of reach; its
        `solution` has the tables so far.
    DamagedFileError
        If the folder is of another game, or its rules have changed.
    OSError
        If a file cannot be read or written.

    Examples
    --------
    >>> import tempfile, gamedp
    >>> from gamedp.games.wubbel import Wubbel
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tables = gamedp.tables.tabulate(Wubbel.pig(20), folder)
    ...     round(tables.value(), 6), tables.width < 1e-6, tables.best_actions((0, 0, 18, 11))
    (0.615559, True, [0])
    >>> from gamedp.games.mancala import Mancala
    >>> game = Mancala(pits=3, stones=2)
    >>> tables = gamedp.tables.tabulate(game, last_tier=4)
    >>> tables.bounds(game.position((0, 1, 0), (0, 2, 1)))
    (-2.0, -2.0)
    >>> gamedp.searchers.AlphaBeta(endings=tables).search(game).value()
    0.0
    """
    numbers: dict[str, Any] = {"tolerance": tolerance, "max_seconds": max_seconds}
    for name, number in numbers.items():
        if not (is_number(number) and number > 0) or tolerance == math.inf:
            message = f"{name} is {shown(number)}; it must be positive, and tolerance finite."
            raise InvalidParameterError(message)
    given: Any = last_tier
    if not (given is None or isinstance(given, (int, np.integer))):
        message = f"last_tier is {shown(given)}; it must be an integer."
        raise InvalidParameterError(message)
    size = checked_whole("block_size", block_size, 1, MAX_INT64)
    check_executor(executor, {"the game": game})
    if (
        folder is None
        and executor is not None
        and not isinstance(executor, concurrent.futures.ThreadPoolExecutor)
    ):
        message = "workers in other processes need a folder; name one."
        raise InvalidParameterError(message)
    check_word("compile", compile, CompileMode)
    if numbers_positions(game):  # then no byte depends on them
        tolerance, size = TOLERANCE, BLOCK_SIZE
    budget = Budget(callback_of(progress), "solve", max_seconds)
    tables = Tables.begin(
        None if folder is None else as_path(folder), game, float(tolerance), int(size), compile
    )
    _fill(tables, last_tier, max_bytes, compile, budget, executor)
    return tables


def _fill(
    tables: Tables,
    last_tier: int | None,
    max_bytes: float | None,
    compile: CompileMode,
    budget: Budget,
    executor: Executor | None,
) -> None:
    """Make the blocks that are missing or damaged, from the lowest up; see `tabulate`."""
    plan, wanted = tables.plan, tables.levels_up_to(last_tier)
    tables.write_plan()
    bad = set(tables.damaged())
    missing = [level for level in wanted if not tables.has(level) or tables.path(level) in bad]
    if not missing:
        return
    total, done, tier = sum(map(plan.size, missing)), 0, int(plan.tiers[missing[0]])

    def tick(more: int) -> None:
        budget.report(done + more, total, f"tier {tier}")
        if done + more < total:
            _stop_if_late(tables, budget, tier)

    tick(0)
    options = {"max_bytes": max_bytes, "compile": compile}
    own = {"top": missing[-1], "executor": executor, "tick": tick}
    make = Makers(tables, executor, {**options, **own})
    for tier, levels in itertools.groupby(missing, lambda level: int(plan.tiers[level])):
        with contextlib.closing(make.blocks(list(levels))) as made:
            for level, error in made:
                _refuse_wide(tables, error, tier)
                tables.forget(level)
                done += plan.size(level)
                tick(0)
    tables.verify(SAMPLES)


def _stop_if_late(tables: Tables, budget: Budget, tier: int) -> None:
    if budget.is_late:
        way_out = "Raise it, or name a folder, from which the same call goes on."
        if tables.is_kept:
            way_out = f"Call again: it goes on with what is in {tables.folder}."
        message = (
            f"tabulate stopped at its limit of {budget.max_seconds:g} seconds in tier {tier}. "
            f"{way_out} The tables so far are the .solution of this error."
        )
        raise NotSolvedError(message, tables)


def _refuse_wide(tables: Tables, error: float, tier: int) -> None:
    if error == math.inf:
        message = (
            f"no bounds could be proven in tier {tier}: choices that rounding makes as good as the "
            "best keep play there for too long. A smaller tolerance, in another folder, keeps "
            "finer values. The tables so far are the .solution of this error."
        )
        raise NotSolvedError(message, tables)
    if not 2 * error <= tables.tolerance:
        message = (
            f"the bounds are {2 * error:.3g} apart in tier {tier}, and the tolerance is "
            f"{tables.tolerance:g}: rounding allows no less, and higher tiers are not closer. "
            "Ask for a larger tolerance in another folder. The tables so far are the .solution "
            "of this error."
        )
        raise NotSolvedError(message, tables)
