"""The largest items of many sets: common parts of several sets are compared once."""

from __future__ import annotations

import heapq
import itertools
from collections import defaultdict
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["share"]

Pair: TypeAlias = tuple[int, int]
Owners: TypeAlias = defaultdict[Pair, set[int]]


def share(sets: list[set[int]], first: int) -> dict[int, Pair]:
    """Replace pairs of items that lie in more than one set by new items, the commonest pair first.

    The largest item of each set is then found with fewer comparisons: one for each new item, and
    one less than it has items for each set. To find the fewest is hard; taking the commonest pair
    again and again is the heuristic of [1]_ for sums.

    Parameters
    ----------
    sets : list of sets of int
        Changed in place.
    first : int
        The first new item; above all others.

    Returns
    -------
    pairs : dict of new item to the two items that it stands for
        An item comes after those that it stands for.

    References
    ----------
    .. [1] C. Paar, "Optimized arithmetic for Reed-Solomon encoders", ISIT 1997.

    Examples
    --------
    >>> sets = [{1, 2, 3}, {1, 2, 4}, {2, 3}]
    >>> share(sets, 10)
    {10: (1, 2)}
    >>> sets
    [{10, 3}, {10, 4}, {2, 3}]
    """
    owners: Owners = defaultdict(set)
    for number, items in enumerate(sets):
        for pair in itertools.combinations(sorted(items), 2):
            owners[pair].add(number)
    waiting: list[tuple[int, Pair]] = []
    _wait(waiting, owners, owners)
    pairs: dict[int, Pair] = {}
    while waiting:
        count, pair = heapq.heappop(waiting)
        if len(owners[pair]) != -count:
            _wait(waiting, owners, [pair])  # others have taken some since it was counted
            continue
        new = first + len(pairs)
        pairs[new] = pair
        _wait(waiting, owners, _replace(pair, new, sets, owners))
    return pairs


def _wait(waiting: list[tuple[int, Pair]], owners: Owners, found: Iterable[Pair]) -> None:
    """Queue pairs that lie in more than one set."""
    for pair in found:
        if len(owners[pair]) > 1:
            heapq.heappush(waiting, (-len(owners[pair]), pair))


def _replace(pair: Pair, new: int, sets: list[set[int]], owners: Owners) -> set[Pair]:
    """Replace a pair by a new item; return the pairs that it is part of."""
    met = set()
    for number in owners.pop(pair):
        items = sets[number]
        items.difference_update(pair)
        for other in items:
            for old in pair:
                owners[min(old, other), max(old, other)].discard(number)
            owners[other, new].add(number)
            met.add((other, new))
        items.add(new)
    return met
