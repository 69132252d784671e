"""What games by the rules have learned of positions, and walks along it.

A node is what is done in a position; its edges are the outcomes of that. Where the policy leaves an
action to chance, the edges are the actions instead, and each of them has a node of its own. Games
are drawn as in :mod:`gamedp.policies.walk_kernels`, and are the same with and without what is kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.policies.walk_kernels import GAMMA, ONE, S11, UNIT, mixed_jit
from gamedp.runtime.jit import compiled, inlined
from gamedp.searchers.transposition import hash_fields_jit

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers = npt.NDArray[Any]
    Floats = npt.NDArray[np.float64]

__all__ = [
    "EDGES",
    "NODES",
    "drawn_from",
    "drawn_from_jit",
    "node_of",
    "node_of_action",
    "node_of_action_jit",
    "node_of_jit",
    "walk_on",
    "walk_on_jit",
]

NODES, EDGES = range(2)
"""Places in `used`."""

S32 = np.uint64(32)


def drawn_from(streams: Any, coming: Any, stream: Any) -> float:
    """Draw a number in [0, 1) from a stream.

    It was mixed beforehand: a walk knows late from which stream it draws, and need not wait.

    Parameters
    ----------
    streams : (M,) uint64
        The counters; moved on.
    coming : (M,) uint64
        Each mixed: what is drawn next; written.
    stream : int
    """
    number = coming[stream]
    streams[stream] += GAMMA
    coming[stream] = mixed_jit(streams[stream])
    return float(np.int64(number >> S11)) * UNIT


drawn_from_jit = inlined(drawn_from)


def node_of(slots: Integers, keys: Integers, used: Integers, fields: Integers) -> int:
    """Return the node of a position, a new one if it has none; -1 if there is no room for it.

    Parameters
    ----------
    slots : (2**k,) int32
        One more than the node of each position, 0 if empty; more than there are nodes.
    keys : (nodes, K) int64
    used : (2,) int64
        How many nodes and edges there are; written.
    fields : (K,) int64
        The position.
    """
    slot = hash_fields_jit(fields) & (len(slots) - 1)
    while slots[slot] != 0:
        node = slots[slot] - 1
        is_same = True
        for field in range(len(fields)):
            if keys[node, field] != fields[field]:
                is_same = False
                break
        if is_same:
            return int(node)
        slot = (slot + 1) & (len(slots) - 1)
    node = used[NODES]
    if node == len(keys):
        return -1
    for field in range(len(fields)):
        keys[node, field] = fields[field]
    used[NODES] = node + 1
    slots[slot] = node + 1
    return int(node)


node_of_jit = compiled(node_of)


def node_of_action(
    firsts: Integers,
    sizes: Integers,
    successors: Integers,
    used: Integers,
    node: int,
    place: int,
    count: int,
) -> int:
    """Return the node of one of the actions that chance decides between; -1 if there is no room.

    Parameters
    ----------
    firsts, sizes : (nodes,)
        As for `walk_on`; written.
    successors : (edges,)
        Likewise.
    used : (2,) int64
        How many nodes and edges there are; written.
    node : int
        Of the position.
    place, count : int
        Which of how many actions.
    """
    if sizes[node] == 0:
        first = used[EDGES]
        if used[NODES] + count > len(firsts) or first + count > len(successors):
            return -1
        for each in range(count):
            successors[first + each] = used[NODES] + each
        used[NODES] += count
        used[EDGES] += count
        firsts[node] = first
        sizes[node] = -count
    return int(successors[firsts[node] + place])


node_of_action_jit = compiled(node_of_action)


def walk_on(
    node: int,
    plies: int,
    most: int,
    streams: Any,
    coming: Any,
    firsts: Integers,
    sizes: Integers,
    drawers: Integers,
    cumulative: Floats,
    successors: Integers,
    has_rewards: bool,
    rewards: Floats,
    earned: Floats,
    row: int,
) -> tuple[int, int]:
    """Take a game along what is known; return the node where that ends, and its plies.

    Which outcome is drawn is guessed as if all were equally likely: most often that is right.

    Parameters
    ----------
    node : int
        Where the game is.
    plies, most : int
        How many it has taken, and may take.
    streams, coming : (M,) uint64
        As for `drawn_from`.
    firsts, sizes : (nodes,)
        The first edge of a node, and how many there are; negative if they are actions that chance
        decides between; 0 if they are not known.
    drawers : (nodes,)
        From which stream one of them is drawn.
    cumulative : (edges,) float64
        Up to each outcome of its node, how likely these are together; infinite at the last one.
    successors : (edges,)
        The node that each leads to.
    has_rewards : bool
    rewards : (nodes, N) float64
        What each player earns there.
    earned : (games, N) float64
        What they have earned in each game; added to.
    row : int
        Of this game.
    """
    here = np.uintp(node)
    size = sizes[here]
    while size != 0 and plies < most:
        drawer = np.uintp(drawers[here])
        first = np.uintp(firsts[here])
        number = coming[drawer]
        drawn = float(np.int64(number >> S11)) * UNIT
        if size > 0:
            edge = first + np.uintp(((number >> S32) * np.uint64(size)) >> S32)
            while cumulative[edge] <= drawn:
                edge += ONE
            while edge > first and cumulative[edge - ONE] > drawn:
                edge -= ONE
            if has_rewards:
                for player in range(rewards.shape[1]):
                    earned[row, player] += rewards[here, player]
            plies += 1
            here = np.uintp(successors[edge])
        else:
            action = np.uintp(successors[first + np.uintp(np.int64(drawn * -size))])
            if sizes[action] == 0:
                break
            here = action
        drawn_from_jit(streams, coming, drawer)
        size = sizes[here]
    return np.int64(here), plies  # type: ignore[return-value] # an unsigned one would become a float


walk_on_jit = compiled(walk_on)
