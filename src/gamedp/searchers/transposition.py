"""The transposition table: results for searched positions, in buckets of four.

The key of an entry is the whole position, all its fields, and not a hash of them: two positions
that fall into the same bucket are distinguished, so a collision can make a search slower and never
wrong. When a bucket is full, the entry goes that cost the least to find: of an older search first,
then the shallowest. What was searched to the ends of the game stays, however old.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gamedp.runtime.jit import inlined

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
