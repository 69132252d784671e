"""A cache of positions that games by the rules have visited, and walks along it.

A node is the action taken in a position; its edges are the outcomes. If the policy randomises, the
edges are the actions instead, and each of them has its own node. Games are drawn as in
:mod:`gamedp.policies.random_kernels`, and are the same with and without the cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.policies.random_kernels import GAMMA, S11, UNIT, mixed_jit
from gamedp.runtime.jit import compiled, inlined
from gamedp.searchers.transposition import hash_fields_jit
from gamedp.simulation.walk_kernels import ONE

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
"""Indices into `used`."""

S32 = np.uint64(32)


def drawn_from(streams: Any, coming: Any, stream: Any) -> float:
    """Draw a number in [0, 1) from a stream.

    It is mixed in advance: a walk learns late from which stream it draws, and need not wait.

    Parameters
    ----------
    streams : (M,) uint64
        The counters; advanced.
    coming : (M,) uint64
        The mixed counters, which are drawn next; written.
    stream : int
    """
    number = coming[stream]
    streams[stream] += GAMMA
    coming[stream] = mixed_jit(streams[stream])
    return float(np.int64(number >> S11)) * UNIT


drawn_from_jit = inlined(drawn_from)


def node_of(slots: Integers, keys: Integers, used: Integers, fields: Integers) -> int:
    """Return the node of a position, a new one if it has none; -1 if there is no space for it.

    Parameters
    ----------
    slots : (2**k,) int32
        One more than the node of each position, 0 if empty; more than there are nodes.
    keys : (nodes, K) int64
    used : (2,) int64
        The numbers of nodes and edges; written.
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
    """Return the node of an action of a policy that randomises; -1 if there is no space.

    Parameters
    ----------
    firsts, sizes : (nodes,)
        As for `walk_on`; written.
    successors : (edges,)
        Likewise.
    used : (2,) int64
        The numbers of nodes and edges; written.
    node : int
        Of the position.
    place, count : int
        The index of the action, and the number of actions.
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
    """Advance a game along the known positions; return the last node, and its plies.

    The first guess of the drawn outcome assumes that all are equally likely, which is usually
    right.

    Parameters
    ----------
    node : int
        Where the game is.
    plies, most : int
        The number of plies taken, and its limit.
    streams, coming : (M,) uint64
        As for `drawn_from`.
    firsts, sizes : (nodes,)
        The first edge of a node, and the number of its edges; negative if they are actions that
        chance decides between; 0 if unknown.
    drawers : (nodes,)
        The stream from which one of them is drawn.
    cumulative : (edges,) float64
        The cumulative probability of the outcomes of a node; infinite at the last one.
    successors : (edges,)
        The node that each leads to.
    has_rewards : bool
    rewards : (nodes, N) float64
        The rewards of each player in the node.
    earned : (games, N) float64
        The total rewards of each game; increased.
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
