"""The data of search loops: stacks of records with named fields, and the transposition table.

Compiled loops take arrays of numpy records. The same loops as plain Python take lists of objects
with slots, whose fields Python reads and writes five times as fast.

One more is the transposition table: results for searched positions, in buckets of four. The key of
an entry is the whole position, all its fields, and not a hash of them: two positions that fall into
the same bucket are distinguished, so a collision can make a search slower and never wrong. When a
bucket is full, the entry goes that cost the least to find: of an older search first, then the
shallowest. What was searched to the ends of the game stays, however old.
"""

from __future__ import annotations

import functools
from enum import IntEnum
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from gamedp.runtime.jit import inlined


class LoopStatus(IntEnum):
    """Reason for which a search loop has returned.

    GROW: the stack `tally.wanted` is full. READ: the block `tally.wanted` of an endgame table is
    not in memory. FAILED: the rules have raised an error. The others are faults of the rules in the
    position at ply `tally.ply`: wrong in general, wrong about an outcome or an estimate, with
    chance where there must be none, contradictory about the value, and without a number in the
    endgame tables. The last four are faults found when these tables are filled: a position comes
    again, an action raises the tier, a position does not have the number it was made from, and
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

QUESTION = Fields("what row first last number action mover tier fault", "reward estimate")
"""A question of a loop to the rules, see :mod:`gamedp.searchers.position_loop`: one record."""

POSITION = Fields(
    "is_over mover swapped is_rounded ending block tier flips_sign is_true",
    "probability banked low high ending_low ending_high estimate reward rest_low rest_high",
)
"""The rules' answers for a position before it is searched, and the searchers' additions."""

SHARE = Fields("", "reward low high estimate")
"""One player's reward, range and estimate in the position in question; at the end of the game, the
estimate is the payoff."""

ACTION = Fields("label order row proof disproof", "promise")
"""One action of a position on the stack; its `label` is the game's, the rest the searcher's."""


BUCKET = 4
"""Entries of one bucket; they lie side by side."""

# What a score says about the value of its position, in two bits; both make it exact.
LOWER, UPPER, EXACT = 1, 2, 3

PROOF, USED, AGE, MOVE, DEPTH = 2, 4, 5, 13, 33
"""First bits of the parts in the number that describes an entry; the kind of bound begins at 0."""

AGES, MOVES = (1 << 8) - 1, (1 << 20) - 1
"""The largest age and move that an entry has room for."""


def flipped(kind: int) -> int:
    """Return the kind of bound after a change of sign: a lower bound becomes an upper one."""
    return (kind >> 1) | ((kind & LOWER) << 1)


flipped_jit = inlined(flipped)


def hash_fields(fields: NDArray[np.int64]) -> int:
    """Mix the fields of a position; 31 bits at a time, so that nothing overflows."""
    mixed = 0
    for k in range(fields.size):
        word = fields[k] ^ mixed
        low = word & 0x7FFFFFFF
        high = (word >> 31) & 0x7FFFFFFF
        mixed = low * 0x2C1B3C6D + high * 0x297A2D39
        mixed ^= mixed >> 29
        mixed = (mixed & 0x7FFFFFFF) * 0x1B873593 ^ (mixed >> 31)
        mixed ^= mixed >> 32
    return mixed


hash_fields_jit = inlined(hash_fields)


def find_entry(
    keys: NDArray[np.int64], infos: NDArray[np.int64], fields: NDArray[np.int64], mixed: int
) -> int:
    """Return the entry of a position, or -1.

    Parameters
    ----------
    keys : (N, K) int64
    infos : (N,) int64
    fields : (K,) int64
        The position.
    mixed : int
        Its hash.
    """
    first = (mixed & (infos.size // BUCKET - 1)) * BUCKET
    for entry in range(first, first + BUCKET):
        if infos[entry] != 0:
            same = True
            for k in range(fields.size):
                if keys[entry, k] != fields[k]:
                    same = False
                    break
            if same:
                return entry
    return -1


find_entry_jit = inlined(find_entry)


def usable(info: int, depth: int, strict: bool) -> tuple[int, int]:
    """Return the kind of bound of an entry's score for a search of a depth, and the proven part.

    In a strict search it must be what a search of just this depth would find: there, a proof of
    fewer plies is part of it, and one of more plies is not.
    """
    stored = info >> DEPTH
    proven = (info >> PROOF) & EXACT
    if strict and stored > depth:
        return 0, 0
    if stored < depth:
        return proven, proven
    return (info & EXACT) | proven, proven


usable_jit = inlined(usable)


def keep_entry(
    keys: NDArray[np.int64],
    scores: NDArray[np.float64],
    infos: NDArray[np.int64],
    fields: NDArray[np.int64],
    mixed: int,
    age: int,
    score: float,
    kind: int,
    proof: int,
    move: int,
    depth: int,
) -> None:
    """Enter the result of a search of a position; replace the least important entry of its bucket.

    Parameters
    ----------
    keys, scores, infos
        The table, written.
    fields : (K,) int64
        The position.
    mixed : int
        Its hash.
    age : int
        Of this search; modulo `AGES`.
    score : float
    kind, proof : int
        The kind of bound of the score for a search of this depth, and what of it holds permanently.
    move : int
        Place of the best action among those of the position; -1 if none is known.
    depth : int
        Plies that were searched below the position.
    """
    first = (mixed & (infos.size // BUCKET - 1)) * BUCKET
    place = first
    least = 1 << 62
    for entry in range(first, first + BUCKET):
        info = infos[entry]
        if info == 0:
            place = entry
            least = -1
            continue
        same = True
        for k in range(fields.size):
            if keys[entry, k] != fields[k]:
                same = False
                break
        if same:
            place = entry
            break
        rank = info >> DEPTH
        if ((info >> AGE) & AGES) == age:
            rank += 1 << 27
        if rank < least:
            least = rank
            place = entry
    for k in range(fields.size):
        keys[place, k] = fields[k]
    scores[place] = score
    if move < 0 or move >= MOVES:
        move = -1
    infos[place] = (
        kind | proof << PROOF | 1 << USED | age << AGE | (move + 1) << MOVE | depth << DEPTH
    )


keep_entry_jit = inlined(keep_entry)
