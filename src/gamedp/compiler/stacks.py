"""What the loops of search work on: stacks of records, whose fields have names.

Compiled loops take arrays of numpy records. The same loops as plain Python take lists of objects
with slots, whose fields Python reads and writes five times as fast.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["ACTION", "POSITION", "QUESTION", "TALLY", "Fields", "LoopStatus", "grown", "record_at"]


class LoopStatus(IntEnum):
    """Why a loop of search has returned.

    GROW: the stack `tally.wanted` is full. READ: so is it with a block of an endgame table that is
    not in memory. FAILED: the rules have raised an error. The others are faults of the rules in the
    position at ply `tally.ply`: wrong in general, wrong about an outcome or an estimate, with
    chance where there must be none, contradictory about the value, and without a number in the
    endgame tables.
    """

    DONE = 0
    PAUSED = 1
    GROW = 2
    READ = 3
    FAILED = 4
    BAD_RULES = 5
    BAD_OUTCOME = 6
    BAD_ESTIMATE = 7
    CHANCE = 8
    UNORDERED = 9
    OUTSIDE = 10


PLIES, ACTIONS, POSITIONS = range(3)
"""The stacks that a loop may find full, in `tally.wanted`."""


class Fields:
    """The fields of a record.

    Parameters
    ----------
    integers, floats : str
        Their names, with spaces between.
    """

    def __init__(self, integers: str, floats: str = "") -> None:
        kinds = dict.fromkeys(integers.split(), np.int64) | dict.fromkeys(
            floats.split(), np.float64
        )
        self._dtype = np.dtype(list(kinds.items()), align=True)

        class Slotted:
            __slots__ = tuple(kinds)

            def __init__(self) -> None:
                for name, kind in kinds.items():
                    setattr(self, name, 0 if kind is np.int64 else 0.0)

        self._slotted = Slotted

    def stack(self, length: int, *, compiled: bool) -> Any:
        """Return records full of zeros, as a compiled loop takes them or as plain Python does."""
        if compiled:
            return np.zeros(length, self._dtype)
        return [self._slotted() for _ in range(length)]


def grown(stack: Any) -> Any:
    """Return a stack, or an array, that begins with this one and is twice as long."""
    if isinstance(stack, list):
        return stack + [type(stack[0])() for _ in stack]
    more: NDArray[Any] = np.zeros_like(stack)
    return np.concatenate((stack, more))


def record_at(stack: Any, place: int) -> Any:
    """Return a record of a stack, whose fields can be read and written from Python by name."""
    return stack[place] if isinstance(stack, list) else stack.view(np.recarray)[place]


TALLY = Fields(
    "ply phase nodes kind proven hits cutoffs inexact deepest most most_plies probes year wanted",
    "score largest",
)
"""Where a loop stands, what it has counted, and what it hands back; the only one of its stack."""

QUESTION = Fields("what row first number action mover", "reward estimate")
"""What a loop asks of the rules, see :mod:`gamedp.compiler.position_loop`; the only one, too."""

POSITION = Fields(
    "is_over mover swapped is_rounded ending block",
    "probability gained low high ending_low ending_high reward",
)
"""What the rules say of a position before it is searched."""

ACTION = Fields("label order row", "promise")
"""One action of a position on the stack; all but its number are the searchers' own."""
