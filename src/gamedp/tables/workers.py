"""Making the blocks of a tier, here or by the workers of an executor.

The blocks of a tier do not need each other. A worker opens the tables by itself: it is sent the
game and the number of a block, reads lower tiers from the folder and writes the block into it.
"""

from __future__ import annotations

import concurrent.futures
import threading
from typing import TYPE_CHECKING, Any

import attrs

from gamedp.errors import DamagedFileError, InvalidParameterError, NotSolvedError, shown

if TYPE_CHECKING:
    from collections.abc import Generator
    from concurrent.futures import Executor
    from pathlib import Path

    from gamedp.tables.filling import Filler
    from gamedp.tables.tables import Tables

__all__ = ["Makers"]


@attrs.frozen
class Order:
    """An order to a worker, besides the number of a block."""

    tables: type[Tables]
    folder: Path
    game: Any
    digest: str
    max_bytes: float | None


LOCAL = threading.local()
"""The tables that a worker has opened last, and its filler; each thread has its own."""


def make_block(order: Order, level: int) -> float:
    """Make a block in a worker; return its error."""
    if getattr(LOCAL, "order", None) != order:
        tables = order.tables.open(order.folder, order.game)
        if tables.digest != order.digest:
            message = (
                f"a worker finds other tables in {order.folder}, or other rules of "
                f"{shown(order.game)}: give all workers the same folder and the same program."
            )
            raise DamagedFileError(message)
        LOCAL.order, LOCAL.tables, LOCAL.filler = order, tables, tables.filler(order.max_bytes)
    tables, filler = LOCAL.tables, LOCAL.filler
    error: float = tables.make(filler, level)
    return error


class Makers:
    """Makes blocks.

    Parameters
    ----------
    tables : Tables
    max_bytes : float or None
        Of the model of a block.
    executor : Executor or None
        Of the workers; None makes all blocks here, one after the other.
    """

    def __init__(self, tables: Tables, max_bytes: float | None, executor: Executor | None) -> None:
        self._tables = tables
        self._executor = executor
        self._filler: Filler | None = None
        self._order = Order(
            type(tables), tables.folder.absolute(), tables.game, tables.digest, max_bytes
        )

    def blocks(self, levels: list[int]) -> Generator[tuple[int, float]]:
        """Make blocks of one tier; yield the level and the error of each when it is there.

        A single one is made here: none can be made beside it.

        Closing the generator withdraws what has not been begun.

        Raises
        ------
        NotSolvedError
            If a worker is lost.
        InvalidParameterError
            If the game cannot be sent to workers.
        """
        if self._executor is None or len(levels) == 1:
            self._filler = self._filler or self._tables.filler(self._order.max_bytes)
            for level in levels:
                yield level, self._tables.make(self._filler, level)
            return
        asked: dict[Any, int] = {}
        try:
            for level in levels:
                asked[self._executor.submit(make_block, self._order, level)] = level
            for future in concurrent.futures.as_completed(asked):
                yield asked[future], future.result()
        except concurrent.futures.BrokenExecutor as error:
            message = (
                f"a worker of {shown(self._executor)} has ended: {error} Call again with a new "
                f"executor: tabulate goes on with what is in {self._tables.folder}. The tables so "
                "far are the .solution of this error."
            )
            raise NotSolvedError(message, self._tables) from error
        except Exception as error:
            if "pickle" not in f"{type(error).__name__} {error}".lower():
                raise
            message = (
                f"{shown(self._tables.game)} cannot be sent to workers: {error}. Define its class "
                "in a module that they can import, or give an executor of threads."
            )
            raise InvalidParameterError(message) from error
        finally:
            for future in asked:
                future.cancel()
