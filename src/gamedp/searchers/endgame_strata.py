"""Strata of endgame tables: their values, in memory or on disk, and how these are computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import attrs
import numpy as np

from gamedp.compiler.methods import disagree, refuse_overflow
from gamedp.compiler.native import RAISED, call_native, compiled_for_all
from gamedp.errors import DamagedFileError, InvalidModelError, UnsupportedProblemError, shown
from gamedp.rules.anatomy import rules_digest
from gamedp.rules.expand import expand, refuse_rewards_of_outcomes
from gamedp.rules.game import Rules, method
from gamedp.runtime.block_file import BLOCK, BlockFile, remove_leftovers, write_blocks
from gamedp.runtime.encoding import encode_object
from gamedp.searchers.driver import Driver, Loop, OutOfTime, SearchBudget
from gamedp.searchers.position_loop import BEGUN, CHECKED, MAX_ENDING_VALUE, UNKNOWN, value_endings
from gamedp.searchers.root import refuse_chance
from gamedp.searchers.stacks import PLIES, Fields, LoopStatus, clear

if TYPE_CHECKING:
    from collections.abc import Hashable
    from pathlib import Path

    from numpy.typing import NDArray

    from gamedp.runtime.limit import ProgressCallback
    from gamedp.runtime.options import CompileMode

METHODS = ("material", "settled", "num_endings", "ending_index", "ending_state")
"""Methods that a game needs for endgame tables, besides the rules."""

STEP = "next_ending"
"""An optional method for endgame tables."""

IDENTIFIED = (*METHODS, STEP, "player", "reward", "canonical")
"""Methods on which tables depend, besides those of every game."""

PLY = Fields("index")
"""At ply 0, the next ending in the order of numbers; above, each is one that the ply below waits
for."""


def fill_stratum(work: Any, page: Any, rules: Any, budget: int) -> int:
    """Compute the value of every position of a stratum, after its successors in the same stratum.

    It is compiled once for all games, and asks the rules through pointers; see
    :func:`gamedp.searchers.position_loop.value_endings`.

    Parameters
    ----------
    work
        ``plies`` is the stack of what waits.
    page, rules
        The record of a question to the rules, see `gamedp.searchers.driver`. The stratum is
        ``question.material``.
    budget : int
        Positions after which to pause.

    Returns
    -------
    status : LoopStatus
        BAD_RULES if the ending numbered ``question.first`` is wrong; ``question.fault`` says how.
    """
    plies, tally, question, values = work.plies, work.tally[0], page.question[0], page.endings
    material = question.material
    start, size = page.ending_offsets[material], page.ending_sizes[material]
    ply, left = tally.ply, budget
    while True:
        here = plies[ply]
        tally.ply = ply
        if left <= 0:
            return LoopStatus.PAUSED
        if ply + 2 > len(plies):
            tally.wanted = PLIES
            return LoopStatus.GROW
        question.first = here.index
        question.last = here.index + 1
        if ply == 0:
            question.last = min(size, here.index + left)
        found = call_native(rules.value_endings, rules.game, rules.page)
        here.index = question.first
        tally.nodes += question.number
        left -= question.number + 1
        if found < 0:
            return LoopStatus.FAILED if found == RAISED else LoopStatus.BAD_RULES
        if found > 0:
            values[start + here.index] = BEGUN
            ply += 1
            plies[ply].index = question.row
        elif ply > 0:
            ply -= 1
        elif here.index == size:
            return LoopStatus.DONE


fill_stratum_jit = compiled_for_all(fill_stratum)

LOOP = Loop(fill_stratum_jit, (value_endings,), PLY, ("ending_state",))


@attrs.frozen(eq=False, repr=False)
class Strata:
    """The arrays of :class:`gamedp.searchers.EndgameTables`, described there."""

    game: Any
    material: int
    values: NDArray[np.int8]
    offsets: NDArray[np.int64]
    sizes: NDArray[np.int64]
    present: NDArray[np.bool_]
    files: list[BlockFile | None]

    @property
    def num_positions(self) -> int:
        """The number of positions that the tables cover."""
        return int(self.sizes.sum())

    @property
    def num_bytes(self) -> int:
        """The number of bytes of the values that are in memory."""
        return int(np.count_nonzero(self.present)) * BLOCK

    def read(self, block: int) -> None:
        """Read one block of the values from its file.

        Raises
        ------
        DamagedFileError
            If it is not what was written.
        """
        stratum = int(np.searchsorted(self.offsets, block * BLOCK, side="right")) - 1
        # Empty strata begin where the next one does.
        file = self.files[stratum]
        if file is not None:
            first = block * BLOCK
            data = file.read(block - int(self.offsets[stratum]) // BLOCK)
            self.values[first : first + len(data)] = data
        self.present[block] = True

    def value(self, state: Hashable) -> tuple[float, float]:
        """Return bounds of the mover's value in a position, from the tables alone.

        Raises
        ------
        UnsupportedProblemError
            If there is more material in it than the tables cover.
        InvalidModelError
            If the game gives it a number that its stratum does not have.
        """
        rules = Rules(self.game)
        state, _ = rules.canonical(state)
        if self.game.is_terminal(state):
            payoff = float(self.game.payoff(state, rules.player(state)))
            return payoff, payoff
        material = int(self.game.material(state))
        if material > self.material:
            message = (
                f"{shown(state)} has material {material}; the tables go to {self.material}. "
                "Build larger ones, or search."
            )
            raise UnsupportedProblemError(message)
        place = int(self.offsets[material]) + number_in_stratum(self.game, state, self.sizes)
        if not self.present[place // BLOCK]:
            self.read(place // BLOCK)
        low, high = method(self.game, "ending_range")(self.game, state, float(self.values[place]))
        return float(low), float(high)

    def refuse(self, state: Hashable) -> NoReturn:
        """Raise the error of a position without a number in the tables, or before such a one."""
        rules = Rules(self.game)
        after = [pair[0] for choice in expand(rules, state).choices for pair in choice.outcomes]
        for each in (state, *after):
            if not self.game.is_terminal(each) and self.game.material(each) <= self.material:
                number_in_stratum(self.game, each, self.sizes)
        disagree(f"at the endgame tables, after {shown(state)}", None)

    def stratum(self, material: int) -> NDArray[np.int8]:
        """Return the values of the positions with exactly some material, by their numbers.

        Raises
        ------
        UnsupportedProblemError
            If the tables do not go so far.
        DamagedFileError
            If a file is damaged.
        """
        if not 0 <= material <= self.material:
            message = (
                f"there is no material {shown(material)} in the tables, but 0 to {self.material}."
            )
            raise UnsupportedProblemError(message)
        first, size = int(self.offsets[material]), int(self.sizes[material])
        blocks = slice(first // BLOCK, -(-(first + size) // BLOCK))
        for block in np.flatnonzero(~self.present[blocks]):
            self.read(blocks.start + int(block))
        return self.values[first : first + size]


def number_in_stratum(game: Any, state: Any, sizes: NDArray[np.int64]) -> int:
    """Return the number of a position in its stratum.

    Raises
    ------
    InvalidModelError
        If its stratum, or that number, does not exist.
    """
    material = int(game.material(state))
    if not 0 <= material < len(sizes):
        message = (
            f"{shown(state)} has material {material}; the tables have strata for 0 to "
            f"{len(sizes) - 1}."
        )
        raise InvalidModelError(message)
    index, size = int(game.ending_index(state)), int(sizes[material])
    if not 0 <= index < size:
        message = (
            f"ending_index({shown(state)}) is {index}; by num_endings({material}) there are "
            f"numbers from 0 to {size - 1}."
        )
        raise InvalidModelError(message)
    return index


class Home:
    """The folder in which the strata of one game are kept."""

    def __init__(self, folder: Path, rules: Rules) -> None:
        digest = rules_digest(rules.game, IDENTIFIED)
        if digest is None:
            message = (
                f"what the rules of {shown(rules.game)} call cannot be followed to the end, so a "
                "file could not tell whether they have changed. Leave the folder out."
            )
            raise UnsupportedProblemError(message)
        folder.mkdir(parents=True, exist_ok=True)
        remove_leftovers(folder)
        self._folder = folder
        self._content = {"game": encode_object(rules.game), "rules": digest}
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
        """Save a complete stratum."""
        write_blocks(self._path(stratum), {**self._content, "material": stratum}, values)


class Builder(Driver):
    """Fills strata, one after the other.

    Parameters
    ----------
    rules : Rules
    tables : Strata
        To be filled.
    missing : list of int
        The strata that will be.
    compile, max_seconds, progress
        As for `EndgameTables.build`.
    """

    def __init__(
        self,
        rules: Rules,
        tables: Strata,
        missing: list[int],
        compile: CompileMode,
        max_seconds: float,
        progress: ProgressCallback | None,
    ) -> None:
        self._tables = tables
        self._is_late = False
        state = rules.game.ending_state(missing[0], 0)
        super().__init__("EndgameTables", LOOP, rules, state, compile, endings=tables)
        self._budget = SearchBudget(
            max_seconds,
            float("inf"),
            progress,
            lambda: self.nodes,
            total=int(tables.sizes[missing].sum()),
            unit="positions",
        )

    def fill(self, stratum: int) -> bool:
        """Give all positions of a stratum their values; return false if time has run out."""
        first, size = int(self._tables.offsets[stratum]), int(self._tables.sizes[stratum])
        for below in range(stratum):
            self._tables.stratum(below)  # has all of it read
        self._tables.values[first : first + size] = UNKNOWN
        self.question.material = stratum
        self.tally.ply = 0
        clear(self.work["plies"], 0)
        self._budget.detail = f"material {stratum}, "
        try:
            if not self._is_late:
                self.run(self._budget)
        except OutOfTime:
            self._is_late = True
        if self._is_late:
            return False
        self._tables.present[first // BLOCK : -(-(first + size) // BLOCK)] = True
        self._look()
        return True

    def _look(self) -> None:
        """Report progress, and note if time has run out."""
        try:
            self._budget.look()
        except OutOfTime:
            self._is_late = True

    def _index(self) -> int:
        """Return the number of the position at which the loop has stopped."""
        return int(self.question.first)

    def refuse(self, status: LoopStatus) -> NoReturn:
        """Raise the error of the position on top of the stack."""
        if status is LoopStatus.BAD_RULES:
            status = LoopStatus(int(self.question.fault))
        rules, stratum = self.asked.rules, int(self.question.material)
        if status is LoopStatus.MISNUMBERED:
            self._check_numbers(stratum)
            self.explain()
        state = rules.game.ending_state(stratum, self._index())
        action = int(self.question.action)
        if status is LoopStatus.CHANCE:
            refuse_chance(state, action, "EndgameTables")
        if status is LoopStatus.COMES_AGAIN:
            message = (
                f"{shown(state)} can come again without losing material; endgame tables are for "
                "games in which no position comes again. Use Retrograde."
            )
            raise UnsupportedProblemError(message)
        if status in {LoopStatus.RISES, LoopStatus.OUTSIDE}:
            self._check_successors(state, stratum, action)
        if status is LoopStatus.TOO_LARGE:
            expand(rules, state)
            message = (
                f"the value of {shown(state)} is not a whole number between -{MAX_ENDING_VALUE} "
                f"and {MAX_ENDING_VALUE}, which is what endgame tables hold."
            )
            raise UnsupportedProblemError(message)
        self.explain()

    def _check_successors(self, state: Any, stratum: int, action: int) -> None:
        """Raise the error of an action that leads to more material, or to no number."""
        rules = self.asked.rules
        for probability, successor in rules.game.outcomes(state, action):
            after, _ = rules.canonical(successor)
            if probability == 0 or rules.game.is_terminal(after):
                continue
            material = rules.game.material(after)
            if not 0 <= material <= stratum:
                message = (
                    f"action {action} in {shown(state)}, of material {stratum}, leads to "
                    f"{shown(after)}, of material {material}; material() must never rise, nor fall "
                    "below 0."
                )
                raise InvalidModelError(message)
            number_in_stratum(rules.game, after, self._tables.sizes)

    def _check_numbers(self, stratum: int) -> None:
        """Raise the error of numbers whose positions have other numbers."""
        game, last = self.asked.rules.game, self._index()
        for index in range(max(0, last - CHECKED), last + 1):
            ways = [(f"ending_state({stratum}, {index})", game.ending_state(stratum, index))]
            if self.page["steps"] and index > 0:
                before = game.ending_state(stratum, index - 1)
                ways.append((f"next_ending({shown(before)})", game.next_ending(before)))
            for words, state in ways:
                found = game.material(state), game.ending_index(state)
                if found != (stratum, index):
                    message = (
                        f"{words} is {shown(state)}, which has material {found[0]} and "
                        f"ending_index {found[1]}; it should have material {stratum} and "
                        f"ending_index {index}."
                    )
                    raise InvalidModelError(message)
                if game.is_terminal(state):
                    continue
                player, settled = self.asked.rules.player(state), game.settled(state, 0)
                if player != 0 or settled != 0:
                    message = (
                        f"{words} is {shown(state)}, in which player {player} is to move and "
                        f"{shown(settled)} is settled for player 0; player 0 should move, and "
                        "nothing be settled."
                    )
                    raise InvalidModelError(message)

    def explain(self, error: Exception | None = None) -> NoReturn:
        """Raise the error of the rules in the position at which the loop has stopped."""
        rules, index, stratum = self.asked.rules, self._index(), int(self.question.material)
        state = rules.game.ending_state(stratum, index)
        refuse_overflow(rules, self.asked.game, [state], error)
        if self.page["steps"] and index > 0:
            rules.game.next_ending(rules.game.ending_state(stratum, index - 1))
        expansion = expand(rules, state)
        refuse_rewards_of_outcomes(expansion, state)
        for choice in expansion.choices:
            for successor, _ in choice.outcomes:
                if not rules.game.is_terminal(successor):
                    number_in_stratum(rules.game, successor, self._tables.sizes)
                    for player in range(2):
                        rules.game.settled(successor, player)
        disagree(f"in {shown(state)}", error)
