"""Endgame tables: the value of every position with little left in play."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import attrs
import numpy as np

from gamedp.compiler import endings_loop as loop
from gamedp.compiler.memory import untouched
from gamedp.compiler.search import SearchRules, search_rules
from gamedp.errors import (
    DamagedFileError,
    InvalidModelError,
    InvalidParameterError,
    UnsupportedProblemError,
)
from gamedp.game import Rules, method
from gamedp.plain import encode_object
from gamedp.searchers.base import OutOfTime, Watch, refuse_chance
from gamedp.storage.blocks import BLOCK, BlockFile, write_blocks
from gamedp.storage.rules import rules_digest

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

    from gamedp.progress import ProgressCallback

__all__ = ["EndgameTables"]

METHODS = ("material", "settled", "num_endings", "ending_index", "ending_state")
"""What a game must have for endgame tables, besides the rules."""


@attrs.frozen(eq=False, repr=False)
class EndgameTables:
    """The value of every position with at most so much material, one byte each.

    For deterministic games of two players that shed material: stones, pieces, empty squares. The
    positions with a given material form a stratum and are numbered; the strata are filled from the
    smallest up. Made by :meth:`build`; passed to a searcher, which then needs to look no further
    than to the first position in the table.

    What the players have already won counts apart from what is still in play: the table holds one
    value for all positions that differ only in that. The game says how, by these methods:

    ``material(state) -> int``
        What is left; no action may raise it.
    ``settled(state, player) -> float``
        What `player` has for certain: the value of the state is this and that of its ending.
    ``num_endings(material) -> int``
        How many positions a stratum has; 0 where there is no table.
    ``ending_index(state) -> int``
        The number of the position among these, seen from the player to move, whatever is settled.
    ``ending_state(material, index) -> state``
        A position with this number, in which player 0 moves and nothing is settled.
    ``ending_range(state, value) -> (low, high)``, optional
        Bounds of what the mover gets in `state`, if the ending alone is worth `value`; where it is
        left out, what is settled plus `value`.

    Attributes
    ----------
    game
    material : int
        The largest that the tables cover.
    values : (N,) int8
        Of all strata; read block by block where they are on disk.
    offsets : (material + 1,) int64
        Where in `values` a stratum begins.
    present : (N / BLOCK,) bool
        Which blocks have been read.
    """

    game: Any
    material: int
    values: NDArray[np.int8]
    offsets: NDArray[np.int64]
    present: NDArray[np.bool_]
    _files: list[BlockFile | None]

    @classmethod
    def build(
        cls,
        game: Any,
        material: int,
        *,
        folder: str | Path | None = None,
        compile: Literal["auto", "always", "never"] = "auto",
        max_seconds: float = float("inf"),
        progress: ProgressCallback | None = None,
    ) -> EndgameTables:
        """Make the tables, or open those that are already in the folder.

        Parameters
        ----------
        game
            With the methods named above.
        material : int
            The largest to cover.
        folder : str or Path, optional
            Where the strata are kept, a file each, written when it is complete: building goes on
            where it was interrupted. Without one the tables live in memory.
        compile : {"auto", "always", "never"}
            As for :func:`gamedp.compile`.
        max_seconds : float
            After which to stop, with the strata that are complete.
        progress : callable, optional
            Is called with a :class:`gamedp.Progress` now and then.

        Raises
        ------
        UnsupportedProblemError
            If the game lacks a method, has not two players, or values that are no whole numbers.
        InvalidModelError
            If the methods contradict the rules.
        DamagedFileError
            If a file is damaged, or is of another game.
        """
        rules = Rules(game)
        sizes = _sizes(rules, material)
        starts = np.cumsum([0, *(-(-size // BLOCK) * BLOCK for size in sizes)])
        offsets = np.array(starts[:-1], np.int64)
        tables = cls(
            game,
            len(sizes) - 1,
            untouched((int(starts[-1]),), np.int8),
            offsets,
            np.zeros(int(starts[-1]) // BLOCK, np.bool_),
            [None] * len(sizes),
        )
        home = None if folder is None else _Home(Path(folder), rules)
        builder: _Builder | None = None
        for stratum, size in enumerate(sizes):
            file = None if home is None else home.open(stratum, size)
            if file is not None:
                tables._files[stratum] = file
                continue
            tables._read_all(stratum)
            if builder is None:
                builder = _Builder(rules, tables, compile, max_seconds, progress)
            if not builder.fill(stratum, size):
                return tables._up_to(stratum - 1)
            if home is not None:
                first = int(offsets[stratum])
                home.write(stratum, tables.values[first : first + size])
        return tables

    def __repr__(self) -> str:
        """Say what the tables cover."""
        return (
            f"<EndgameTables of {self.game!r}: material 0 to {self.material}, "
            f"{self.num_positions:,} positions>"
        )

    @property
    def num_positions(self) -> int:
        """How many positions the tables cover."""
        return sum(self.game.num_endings(stratum) for stratum in range(self.material + 1))

    def read(self, block: int) -> None:
        """Read one block of the values from its file.

        Raises
        ------
        DamagedFileError
            If it is not what was written.
        """
        stratum = int(np.searchsorted(self.offsets, block * BLOCK, side="right")) - 1
        # Empty strata begin where the next one does.
        file = self._files[stratum]
        if file is not None:
            first = block * BLOCK
            data = file.read(block - int(self.offsets[stratum]) // BLOCK)
            self.values[first : first + len(data)] = data
        self.present[block] = True

    def value(self, state: Hashable) -> tuple[float, float]:
        """Return bounds of what the mover gets in a position, from the tables alone.

        Raises
        ------
        UnsupportedProblemError
            If there is more material in it than the tables cover.
        """
        rules = Rules(self.game)
        state, _ = rules.canonical(state)
        material = int(self.game.material(state))
        if not 0 <= material <= self.material:
            message = (
                f"{state!r} has material {material}; the tables go to {self.material}. "
                "Build larger ones, or search."
            )
            raise UnsupportedProblemError(message)
        place = int(self.offsets[material]) + int(self.game.ending_index(state))
        if not self.present[place // BLOCK]:
            self.read(place // BLOCK)
        low, high = method(self.game, "ending_range")(self.game, state, float(self.values[place]))
        return float(low), float(high)

    def _read_all(self, below: int) -> None:
        """Read all strata below one that is to be filled."""
        last = int(self.offsets[below]) // BLOCK
        for block in np.flatnonzero(~self.present[:last]):
            self.read(int(block))

    def _up_to(self, material: int) -> EndgameTables:
        """Return the tables of less material."""
        return attrs.evolve(
            self,
            material=material,
            offsets=self.offsets[: material + 1],
            files=self._files[: material + 1],
        )


def _sizes(rules: Rules, material: int) -> list[int]:
    """Return how many positions each stratum has, after checking that the game has strata."""
    game = rules.game
    name = type(game).__name__
    missing = [needed for needed in METHODS if not callable(getattr(game, needed, None))]
    if missing:
        message = f"{name} has no endgame tables: it lacks {', '.join(missing)}."
        raise UnsupportedProblemError(message)
    if rules.num_players != 2 or rules.constant_sum != 0:
        message = f"endgame tables are for two players whose payoffs add up to 0; not so {name}."
        raise UnsupportedProblemError(message)
    if material < 0 or material != int(material):
        message = f"material is {material!r}; it must be a whole number, 0 or more."
        raise InvalidParameterError(message)
    sizes = [int(game.num_endings(stratum)) for stratum in range(int(material) + 1)]
    if 0 in sizes[1:]:
        stratum = sizes.index(0, 1)
        message = (
            f"{game!r} has no endgame table for material {stratum}"
            f"{f': the largest is {stratum - 1}.' if stratum > 1 else ' or any other.'}"
        )
        raise UnsupportedProblemError(message)
    return sizes


class _Home:
    """The folder that the strata of one game are kept in."""

    def __init__(self, folder: Path, rules: Rules) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._content = {"game": encode_object(rules.game), "rules": rules_digest(rules.game)}
        self._name = repr(rules.game)

    def _path(self, stratum: int) -> Path:
        return self._folder / f"endings-{stratum:03d}.blocks"

    def open(self, stratum: int, size: int) -> BlockFile | None:
        """Return the file of a stratum, or None if it has not been completed yet."""
        try:
            file = BlockFile.open(self._path(stratum))
        except FileNotFoundError:
            return None
        if file.content != {**self._content, "material": stratum} or file.num_bytes != size:
            message = (
                f"{file.path} is not of {self._name} with the rules that it has now. Remove the "
                "file, or choose another folder."
            )
            raise DamagedFileError(message)
        return file

    def write(self, stratum: int, values: NDArray[np.int8]) -> None:
        """Keep a stratum that is complete."""
        write_blocks(self._path(stratum), {**self._content, "material": stratum}, values)


class _Builder:
    """Fills strata, one after the other."""

    def __init__(
        self,
        rules: Rules,
        tables: EndgameTables,
        compile: Literal["auto", "always", "never"],
        max_seconds: float,
        progress: ProgressCallback | None,
    ) -> None:
        self._tables = tables
        self._stack = np.zeros(1 << 10, np.int64)
        self._counters = np.zeros(loop.COUNTERS, np.int64)
        self._fields = np.zeros((1, 1), np.int64)
        self._rules = search_rules(
            rules,
            rules.game.ending_state(0, 0),
            loop.fill_stratum,
            lambda search: self._work(search, 0, 0),
            compile=compile,
            more=METHODS,
        )
        self._watch = Watch(
            max_seconds, float("inf"), progress, lambda: int(self._counters[loop.EXPANDED])
        )

    def _work(self, search: SearchRules, stratum: int, size: int) -> Any:
        return search.work(
            values=self._tables.values,
            offsets=self._tables.offsets,
            stack=self._stack,
            counters=self._counters,
            material=stratum,
            size=size,
            has_rewards=hasattr(search.rules.game, "reward"),
        )

    def fill(self, stratum: int, size: int) -> bool:
        """Give all positions of a stratum their values; return false if time ran out."""
        first = int(self._tables.offsets[stratum])
        self._tables.values[first : first + size] = loop.UNKNOWN
        self._counters[[loop.HEIGHT, loop.NEXT]] = 0
        self._watch.detail = f"material {stratum}, "
        work = self._work(self._rules, stratum, size)
        while True:
            status = self._rules.run(work, self._watch.budget(), self._fields[:0])
            if status == loop.DONE:
                self._tables.present[first // BLOCK : -(-(first + size) // BLOCK)] = True
                return True
            if status == loop.PAUSED:
                try:
                    self._watch.look()
                except OutOfTime:
                    return False
            elif status == loop.GROW_STACK:
                self._stack = np.concatenate((self._stack, np.zeros_like(self._stack)))
                work = self._work(self._rules, stratum, size)
            else:
                self._complain(status, stratum)

    def _complain(self, status: int, stratum: int) -> None:
        """Raise the error of the position on top of the stack."""
        game = self._rules.rules.game
        index = int(self._stack[int(self._counters[loop.HEIGHT]) - 1])
        state = game.ending_state(stratum, index)
        action = int(self._counters[loop.ACTION])
        if status == loop.CHANCE:
            refuse_chance(state, action, "EndgameTables")
        if status == loop.LOOPS:
            message = (
                f"{state!r} can come again without losing material; endgame tables are for games "
                "in which no position comes again. Use Retrograde."
            )
            raise UnsupportedProblemError(message)
        if status == loop.RISES:
            message = (
                f"action {action} in {state!r}, of material {stratum}, leads to more of it; "
                "material() must never rise."
            )
            raise InvalidModelError(message)
        if status == loop.TOO_LARGE:
            message = (
                f"the value of {state!r} is no whole number between -{loop.MOST} and {loop.MOST}, "
                "which is what endgame tables hold."
            )
            raise UnsupportedProblemError(message)
        self._rules.explain(self._rules.stack_of(state))
