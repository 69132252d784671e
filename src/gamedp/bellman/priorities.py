"""Backups in the order of priority: first the state whose value is likely to change most.

The arrays are described in :mod:`gamedp.bellman.equation`. Priorities are kept in buckets, one for
each power of two. A bucket is a queue, first in, first out: a doubly linked ring, so that a state
is inserted or removed in a few steps.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gamedp.bellman.equation import backup_jit
from gamedp.runtime.jit import compiled, inlined

if TYPE_CHECKING:
    from gamedp.bellman.equation import Equation
    from gamedp.graph.graph import Reverse
    from gamedp.runtime.arrays import Floats, Integers


LOWEST = -1100
"""The exponent of the lowest bucket: below that of any number."""

NUM_BUCKETS = 2200
"""Number of buckets, for all exponents up to that of infinity."""


class BucketQueue(NamedTuple):
    """The states of a component by priority: S states.

    Attributes
    ----------
    following, preceding : (S + NUM_BUCKETS,)
        The ring of each bucket; link S + b belongs to bucket b itself.
    bucket : (S,)
        The bucket of a state; -1 for none.
    priority : (S,)
        A bound on the change of its value.
    """

    following: Integers
    preceding: Integers
    bucket: Integers
    priority: Floats


def put(number: int, priority: float, queue: BucketQueue) -> int:
    """Put a state into the bucket of its priority, out of the one it is in; return the bucket."""
    size = len(queue.bucket)
    if math.isinf(priority):
        bucket = NUM_BUCKETS - 1
    else:
        bucket = max(0, math.frexp(priority)[1] - LOWEST)
    queue.priority[number] = priority
    if queue.bucket[number] == bucket:
        return bucket
    if queue.bucket[number] >= 0:
        before, after = queue.preceding[number], queue.following[number]
        queue.following[before] = after
        queue.preceding[after] = before
    last = queue.preceding[size + bucket]
    queue.following[last] = number
    queue.preceding[number] = last
    queue.following[number] = size + bucket
    queue.preceding[size + bucket] = number
    queue.bucket[number] = bucket
    return bucket


put_jit = inlined(put)


def ceiling(bucket: int) -> float:
    """Return the power of two that bounds all priorities in a bucket from above."""
    return np.inf if bucket + LOWEST > 1023 else math.ldexp(1.0, bucket + LOWEST)


ceiling_jit = inlined(ceiling)


def fill(size: int) -> BucketQueue:
    """Return a queue of all states, all with the highest priority."""
    following = np.arange(size + NUM_BUCKETS)
    preceding = np.arange(size + NUM_BUCKETS)
    queue = BucketQueue(following, preceding, np.full(size, -1), np.zeros(size))
    for number in range(size):
        put_jit(number, np.inf, queue)
    return queue


fill_jit = compiled(fill)


def back_up_first(
    start: int,
    stop: int,
    equation: Equation,
    reverse: Reverse,
    threshold: float,
    values: Floats,
    policy: Integers,
    queue: BucketQueue,
) -> float:
    """Back up as many states of ``order[start:stop]`` as there are, highest priority first.

    Stops earlier if no priority is above the threshold.

    Returns
    -------
    change : float
        The largest possible change of any value.
    """
    graph = equation.graph
    size = stop - start
    top = NUM_BUCKETS - 1
    for _ in range(size):
        while top >= 0 and queue.following[size + top] == size + top:
            top -= 1
        if top < 0:
            return 0.0
        if ceiling_jit(top) <= threshold:
            break
        number = queue.following[size + top]
        after = queue.following[number]
        queue.following[size + top] = after
        queue.preceding[after] = size + top
        queue.bucket[number] = -1
        queue.priority[number] = 0.0
        state = equation.order[start + number]
        value, policy[state] = backup_jit(state, equation, values)
        change = equation.discount * abs(value - values[state])
        values[state] = value
        # Written so that a NaN counts as an infinite change.
        if change == 0.0:
            continue
        if not change < np.inf:
            return np.inf
        for place in range(reverse.offsets[state], reverse.offsets[state + 1]):
            choice = reverse.choices[place]
            other = int(equation.place[reverse.owners[choice]])
            if not start <= other < stop:
                continue
            share = 0.0
            for t in range(graph.transition_offsets[choice], graph.transition_offsets[choice + 1]):
                if graph.successors[t] == state:
                    share += abs(equation.probabilities[t])
            priority = queue.priority[other - start] + share * change
            if priority > 0.0:
                top = max(top, put_jit(other - start, priority, queue))
    while top >= 0 and queue.following[size + top] == size + top:
        top -= 1
    return ceiling_jit(top) if top >= 0 else 0.0


back_up_first_jit = compiled(back_up_first)
