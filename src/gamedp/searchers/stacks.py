"""The data of search loops: stacks of records with named fields.

Compiled loops take arrays of numpy records. The same loops as plain Python take lists of objects
with slots, whose fields Python reads and writes five times as fast.
"""

from __future__ import annotations

import functools
from enum import IntEnum
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray


class LoopStatus(IntEnum):
    """Reason for which a search loop has returned.

    GROW: the stack `tally.wanted` is full. READ: the block `tally.wanted` of an endgame table is
    not in memory. FAILED: the rules have raised an error. The others are faults of the rules in the
    position at ply `tally.ply`: wrong in general, wrong about an outcome or an estimate, with
    chance where there must be none, contradictory about the value, and without a number in the
    endgame tables. The last four are faults found when these tables are filled: a position comes
    again, an action raises the material, a position does not have the number it was made from, and
    a value is not a whole number or is too large for a byte.
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
    COMES_AGAIN = 11
    RISES = 12
    MISNUMBERED = 13
    TOO_LARGE = 14


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

    @functools.cached_property
    def _slotted(self) -> type:
        """A class with slots, created when plain Python first needs it."""
        zeros = zip(self._dtype.names or (), np.zeros((), self._dtype).item(), strict=True)
        attributes = {name: attrs.field(default=zero) for name, zero in zeros}
        return attrs.make_class("Slotted", attributes, eq=False, repr=False, slots=True)

    def stack(self, length: int, *, compiled: bool) -> Any:
        """Return records of zeros, for a compiled loop or for plain Python."""
        if compiled:
            return np.zeros(length, self._dtype)
        return [self._slotted() for _ in range(length)]


def enlarge(stack: Any) -> Any:
    """Return a stack or array twice as long that begins with the given one."""
    if isinstance(stack, list):
        return stack + [type(stack[0])() for _ in stack]
    more: NDArray[Any] = np.zeros_like(stack)
    return np.concatenate((stack, more))


class _Named:
    """A record of numpy's, with its fields as attributes; numpy's own are ten times as slow."""

    __slots__ = ("_record",)

    def __init__(self, record: np.void) -> None:
        object.__setattr__(self, "_record", record)

    def __getattr__(self, name: str) -> Any:
        return self._record[name]

    def __setattr__(self, name: str, value: Any) -> None:
        self._record[name] = value


def record_at(stack: Any, place: int) -> Any:
    """Return a record of a stack, whose fields can be read and written from Python by name."""
    return stack[place] if isinstance(stack, list) else _Named(stack[place])


def clear(stack: Any, place: int) -> None:
    """Set all fields of a record to zero."""
    stack[place] = type(stack[place])() if isinstance(stack, list) else 0


TALLY = Fields(
    "ply phase nodes kind proven hits cutoffs inexact deepest most most_plies probes age wanted "
    "proof disproof",
    "score largest",
)
"""The position of a loop, its counts, and its results: one record."""

QUESTION = Fields("what row first last number action mover material fault", "reward estimate")
"""A question of a loop to the rules, see :mod:`gamedp.searchers.position_loop`: one record."""

POSITION = Fields(
    "is_over mover swapped is_rounded ending block material flips_sign is_true",
    "probability banked low high ending_low ending_high estimate reward rest_low rest_high",
)
"""The rules' answers for a position before it is searched, and the searchers' additions."""

SHARE = Fields("", "reward low high estimate")
"""One player's reward, range and estimate in the position in question; at the end of the game, the
estimate is the payoff."""

ACTION = Fields("label order row proof disproof", "promise")
"""One action of a position on the stack; its `label` is the game's, the rest the searcher's."""
