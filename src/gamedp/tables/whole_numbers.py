"""Tables of whole numbers, one byte a position: their values in memory, and how they are computed.

For deterministic games of two players that number the positions of each tier. The positions of a
tier are valued in the order of their numbers, by some threads that take a chunk of numbers each.
One that needs the value of another of its tier waits until that has been valued. If two threads
value the same one, both write the same byte.
"""

from __future__ import annotations

import contextlib
import copy
import math
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any, NoReturn, Self

import numpy as np

from gamedp.compiler.methods import disagree, refuse_overflow
from gamedp.compiler.native import RAISED, call_native, compiled_for_all
from gamedp.errors import (
    DamagedFileError,
    InvalidModelError,
    InvalidParameterError,
    LimitExceededError,
    UnsupportedProblemError,
    shown,
)
from gamedp.rules.expand import expand, refuse_rewards_of_outcomes
from gamedp.runtime.block_file import BLOCK
from gamedp.runtime.machine import allocate_lazily, available_bytes, processors
from gamedp.searchers.bound_rules import bind_once
from gamedp.searchers.driver import Driver, Loop, OutOfTime, SearchBudget
from gamedp.searchers.position_loop import CHECKED_MASK, MAX_ENDING_VALUE, UNKNOWN, value_endings
from gamedp.searchers.root import refuse_chance
from gamedp.searchers.stacks import PLIES, Fields, LoopStatus, clear
from gamedp.tables.numbered_plan import check_numbers, number_in_tier
from gamedp.tables.places import Places

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Executor

    from numpy.typing import NDArray

    from gamedp.runtime.arrays import Integers
    from gamedp.runtime.options import CompileMode
    from gamedp.tables.blocks import TierBlock
    from gamedp.tables.numbered_plan import NumberedPlan

__all__ = ["WholeFiller", "WholeNumbers"]

CHUNK = 1 << 9
"""Number of positions that a thread takes at a time: few, as those of others wait for them."""

SHARE = 1 << 16
"""Number of positions for which another thread is of use."""

TICK = 0.05
"""Seconds between two looks at what the threads have done."""

PLY = Fields("index")
"""At ply 0, the next position in the order of numbers; above, each is one that the ply below waits
for."""


def value_chunks(work: Any, page: Any, rules: Any, budget: int) -> int:  # noqa: C901 - a loop
    """Compute the values of a tier, chunk by chunk, each after its successors in the same tier.

    It is compiled once for all games, and asks the rules through pointers; see
    :func:`gamedp.searchers.position_loop.value_endings`.

    Parameters
    ----------
    work
        ``plies`` is the stack of what waits. ``taken``, which all threads share, holds the first
        number that none has taken: if two take the same chunk, as they may, both write the same
        bytes. ``chunk`` holds the end of this one, how many numbers the next one is to have, and a
        number that waits: the first, second, fourth, ... that was put on the stack is noted there.
        If one is waited for that waits itself, the stack grows by the same numbers again and again,
        so that a noted position is visited (Brent's algorithm).
    page, rules
        The record of a question to the rules, see `gamedp.searchers.driver`. The tier is
        ``question.tier``.
    budget : int
        Positions after which to pause.

    Returns
    -------
    status : LoopStatus
        BAD_RULES if the position numbered ``question.first`` is wrong; ``question.fault`` says how.
    """
    plies, tally, question, chunk = work.plies, work.tally[0], page.question[0], work.chunk
    ply, left = tally.ply, budget
    size = page.ending_sizes[question.tier]
    while True:
        here = plies[ply]
        if ply == 0 and here.index == chunk[0]:
            first = work.taken[0]
            if first >= size:
                return LoopStatus.DONE
            here.index = first
            chunk[0] = min(first + chunk[1], size)
            work.taken[0] = chunk[0]
        tally.ply = ply
        if left <= 0:
            return LoopStatus.PAUSED
        if ply + 2 > len(plies):
            tally.wanted = PLIES
            return LoopStatus.GROW
        question.first = here.index
        question.last = here.index + 1
        if ply == 0:
            question.last = min(chunk[0], here.index + left)
        found = call_native(rules.value_endings, rules.game, rules.page)
        here.index = question.first
        tally.nodes += question.number
        left -= question.number + 1
        if found < 0:
            return LoopStatus.FAILED if found == RAISED else LoopStatus.BAD_RULES
        if found > 0:
            if question.row == chunk[2]:
                question.fault = LoopStatus.COMES_AGAIN
                return LoopStatus.BAD_RULES
            ply += 1
            if ply & (ply - 1) == 0:
                chunk[2] = question.row
            plies[ply].index = question.row
        elif ply > 0:
            ply -= 1


value_chunks_jit = compiled_for_all(value_chunks)

LOOP = Loop(value_chunks_jit, (value_endings,), PLY, ("tier_state",))


class WholeNumbers:
    """The values of the tiers of a game in one array, as searches read them.

    Parameters
    ----------
    plan : NumberedPlan
    opened : callable
        Returns the block of a tier.

    Attributes
    ----------
    plan : NumberedPlan
    top : int
        The highest tier that a search may look at; -1 for none.
    offsets : (L,) int64
        The index in `values` at which each tier begins.
    sizes : (L,) int64
        The number of positions of each tier.
    """

    def __init__(self, plan: NumberedPlan, opened: Callable[[int], TierBlock]) -> None:
        self._opened = opened
        self.plan = plan
        self.sizes = plan.sizes
        blocks = -(-plan.sizes // BLOCK)
        self.offsets = (np.cumsum(blocks) - blocks) * BLOCK
        self._blocks = blocks
        self._ends = np.cumsum(blocks).tolist()
        self.top = -1
        self._arrays = np.zeros(0, np.int8), np.zeros(0, np.bool_)

    @property
    def values(self) -> NDArray[np.int8]:
        """The values, to the mover, without what is settled."""
        return self._arrays[0]

    @property
    def present(self) -> NDArray[np.bool_]:
        """Of each block of values, whether it has been read from its file, or computed."""
        return self._arrays[1]

    def reserve(self, top: int) -> tuple[NDArray[np.int8], NDArray[np.bool_]]:
        """Make room for the tiers up to one, which takes no memory yet; return the arrays.

        Those of before stay as they are: other threads, and searches, may still read into them.
        """
        arrays = before, was_present = self._arrays
        count = self._ends[top] if top >= 0 else 0
        if count > len(was_present):
            arrays = allocate_lazily((count * BLOCK,), np.int8), np.zeros(count, np.bool_)
            for block in np.flatnonzero(was_present).tolist():
                part = slice(block * BLOCK, (block + 1) * BLOCK)
                arrays[0][part] = before[part]
                arrays[1][block] = True
            self._arrays = arrays
        return arrays

    def up_to(self, top: int) -> Self:
        """Return these for a search that looks at the tiers up to one."""
        self.reserve(top)
        found = copy.copy(self)
        found.top = top
        return found

    def read(self, block: int) -> None:
        """Read one block of the values from its file.

        Raises
        ------
        DamagedFileError
            If it is not what was written.
        """
        self._read(block, *self._arrays)

    def _read(self, block: int, values: NDArray[np.int8], present: NDArray[np.bool_]) -> None:
        # An empty tier begins where the next one does.
        tier = int(np.searchsorted(self.offsets, block * BLOCK, side="right")) - 1
        first = block * BLOCK
        file = self._opened(tier).file
        data = file.read(block - int(self.offsets[tier]) // BLOCK)
        if (data == UNKNOWN).any():
            message = f"{file.path} is damaged: a position has no value. Remove the file."
            raise DamagedFileError(message)
        values[first : first + len(data)] = data
        present[block] = True

    def number(self, tier: int, place: int) -> tuple[float, float]:
        """Return the value at a place and its error, 0."""
        values, present = self.reserve(tier)
        index = int(self.offsets[tier]) + place
        if not present[index // BLOCK]:
            self._read(index // BLOCK, values, present)
        return float(values[index]), 0.0

    def of_tier(self, tier: int) -> NDArray[np.int8]:
        """Return the values of a tier, by the numbers of the positions.

        Raises
        ------
        UnknownStateError
            If the tier has not been made.
        DamagedFileError
            If its file is damaged.
        """
        values, present = self.reserve(tier)
        first, blocks = int(self.offsets[tier]), self._blocks_of(tier)
        for block in np.flatnonzero(~present[blocks]).tolist():
            self._read(blocks.start + block, values, present)
        return values[first : first + int(self.sizes[tier])]

    def _blocks_of(self, tier: int) -> slice:
        first = int(self.offsets[tier]) // BLOCK
        return slice(first, first + int(self._blocks[tier]))

    def note(self, tier: int) -> None:
        """Note that a tier has been computed."""
        self.present[self._blocks_of(tier)] = True

    def forget(self, tier: int) -> None:
        """Read a tier anew when it is looked at next."""
        if self._ends[tier] <= len(self.present):
            self.present[self._blocks_of(tier)] = False

    def refuse(self, state: Any) -> NoReturn:
        """Raise the error of a position without a number in the tables, or before such a one."""
        rules = self.plan.rules
        after = [pair[0] for choice in expand(rules, state).choices for pair in choice.outcomes]
        game = rules.game
        for each in (state, *after):
            if not game.is_terminal(each) and game.tier(each) <= self.top:
                number_in_tier(game, each, int(game.tier(each)), self.sizes)
        disagree(f"at the tables, after {shown(state)}", None)


class WholeFiller:
    """Values tiers of a game, one after the other, by threads.

    Parameters
    ----------
    values : WholeNumbers
        To be filled.
    top : int
        The highest tier that will be.
    compile : {"auto", "always", "never"}
        As for :func:`gamedp.compile`.
    executor : ThreadPoolExecutor or None
        Of the threads; None has one for each processor.
    tick : callable
        Called now and then with the number of positions of the tier that have been valued; what it
        raises ends the work.

    Raises
    ------
    LimitExceededError
        If there is not enough memory.
    """

    def __init__(
        self,
        values: WholeNumbers,
        top: int,
        compile: CompileMode,
        executor: Executor | None,
        tick: Callable[[int], None],
    ) -> None:
        if not (executor is None or isinstance(executor, ThreadPoolExecutor)):
            message = (
                f"executor is {shown(executor)}; numbered positions are valued by threads, which "
                "share one array: give a ThreadPoolExecutor, or none."
            )
            raise InvalidParameterError(message)
        self._values = values
        self._tick = tick
        sizes = values.sizes[: top + 1]
        _check_room(int(sizes.sum()))
        values.reserve(top)
        self._taken = np.zeros(1, np.int64)
        with bind_once():
            self._workers = [Worker(values, compile, self._taken)]
            if self._workers[0].asked.is_compiled:
                useful = min(processors(), -(-int(sizes.max(initial=1)) // SHARE))
                self._workers += [Worker(values, compile, self._taken) for _ in range(1, useful)]
        self._pool = executor or ThreadPoolExecutor(len(self._workers))
        self.apply = self._pool.map  # which packs blocks

    def fill(self, level: int) -> tuple[NDArray[np.int8], dict[str, Any]]:
        """Return a block, and what describes it, as `Filler.fill`; lower tiers must be there.

        Raises
        ------
        InvalidModelError
            If the rules, or the tiers and numbers, are wrong.
        UnsupportedProblemError
            If a value is not a whole number of a byte, there is chance, or a position can repeat.
        """
        values, size = self._values, int(self._values.sizes[level])
        for below in range(level):
            values.of_tier(below)  # has all of it read
        first = int(values.offsets[level])
        values.values[first : first + size] = UNKNOWN
        self._taken[0] = 0
        workers = self._workers
        before = sum(worker.nodes for worker in workers)
        waiting = {self._pool.submit(worker.value, level) for worker in workers}
        try:
            while waiting:
                done, waiting = wait(waiting, TICK, FIRST_COMPLETED)
                for future in done:
                    future.result()
                self._tick(min(size, sum(worker.nodes for worker in workers) - before))
        except BaseException:
            for worker in workers:
                worker.stop()
            wait(waiting)
            raise
        values.note(level)
        described = {"store": "int8", "low": 0.0, "step": 1.0, "error": 0.0}
        return values.values[first : first + size], described


def _check_room(positions: int) -> None:
    """Raise unless memory has room for some number of positions."""
    room = available_bytes()
    if positions > room:
        message = (
            f"the tables have {positions:,} positions or more, and take a byte of memory for each "
            f"while they are made; there is room for {room:,}. Make them up to a lower tier, by "
            "last_tier."
        )
        raise LimitExceededError(message, states=positions, choices=0, transitions=0)


class Worker(Driver):
    """Values chunks of a tier in a thread; `taken` is that of all threads, see `value_chunks`."""

    def __init__(self, values: WholeNumbers, compile: CompileMode, taken: Integers) -> None:
        self._values = values
        self._tier = 0
        super().__init__(
            "tabulate",
            LOOP,
            values.plan.rules,
            values.plan.first,
            compile,
            arrays=lambda _: {"chunk": np.zeros(3, np.int64), "taken": taken},
            endings=values,
        )
        tally = self.tally  # and not this worker, or both would never go
        self._budget = SearchBudget(math.inf, math.inf, None, lambda: int(tally.nodes))

    def value(self, tier: int) -> None:
        """Take chunks of a tier until there are none."""
        self._tier = self.question.tier = tier
        self.tally.ply = 0
        clear(self.work["plies"], 0)
        self.work["chunk"][:] = 0, CHUNK, -1
        with contextlib.suppress(OutOfTime):
            self.run(self._budget)

    def stop(self) -> None:
        """End the work soon."""
        self._budget.interrupted = True

    def _index(self) -> int:
        """Return the number of the position at which the loop has stopped."""
        return int(self.question.first)

    def refuse(self, status: LoopStatus) -> NoReturn:
        """Raise the error of the position on top of the stack."""
        if status is LoopStatus.BAD_RULES:
            status = LoopStatus(int(self.question.fault))
        rules, tier = self.asked.rules, self._tier
        if status is LoopStatus.MISNUMBERED:
            last = self._index()
            for index in range(max(0, last - CHECKED_MASK), last + 1):
                check_numbers(rules, tier, index)
            self.explain()
        state = rules.game.tier_state(tier, self._index())
        action = int(self.question.action)
        if status is LoopStatus.CHANCE:
            refuse_chance(state, action, "a table of whole numbers")
        if status is LoopStatus.COMES_AGAIN:
            message = (
                f"{shown(state)} can recur without leaving tier {tier}; tables of numbered "
                "positions are for games in which no position recurs. Use Retrograde."
            )
            raise UnsupportedProblemError(message)
        if status in {LoopStatus.RISES, LoopStatus.OUTSIDE}:
            Places(rules.game).check(state)
        if status is LoopStatus.TOO_LARGE:
            expand(rules, state)
            message = (
                f"the value of {shown(state)} is not a whole number between -{MAX_ENDING_VALUE} "
                f"and {MAX_ENDING_VALUE}, which is what tables of numbered positions hold."
            )
            raise UnsupportedProblemError(message)
        self.explain()

    def explain(self, error: Exception | None = None) -> NoReturn:
        """Raise the error of the rules in the position at which the loop has stopped."""
        rules, index, tier = self.asked.rules, self._index(), self._tier
        state = rules.game.tier_state(tier, index)
        refuse_overflow(rules, self.asked.game, [state], error)
        if self.page["steps"] and index > 0:
            rules.game.next_in_tier(rules.game.tier_state(tier, index - 1))
        expansion = expand(rules, state)
        refuse_rewards_of_outcomes(expansion, state)
        for choice in expansion.choices:
            for successor, _ in choice.outcomes:
                if rules.game.is_terminal(successor):
                    expand(rules, successor)
                else:
                    tier = int(rules.game.tier(successor))
                    number_in_tier(rules.game, successor, tier, self._values.sizes)
                    for player in range(2):
                        given = rules.game.settled(successor, player)
                        if not math.isfinite(given):
                            message = (
                                f"settled({shown(successor)}, {player}) is {shown(given)}; it must "
                                "be finite."
                            )
                            raise InvalidModelError(message)
        disagree(f"in {shown(state)}", error)
