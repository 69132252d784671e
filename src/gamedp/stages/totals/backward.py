"""The totals of many contexts together, backwards from the end of the game."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.errors import UnsupportedProblemError, shown
from gamedp.runtime.limit import Reporter
from gamedp.runtime.machine import processors
from gamedp.runtime.slices import CONTEXTS
from gamedp.stages.totals.forward import ForwardPass, Layer, Transitions
from gamedp.stages.totals.result import Distribution, relative_error_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from gamedp.runtime.limit import ProgressCallback
    from gamedp.stages.solution import StagedSolution

__all__ = ["distributions"]

NOT_REACHED = np.iinfo(np.int64).min
"""Instead of a rank."""


def distributions(
    solution: StagedSolution,
    contexts: Sequence[Any],
    *,
    progress: ProgressCallback | None = None,
) -> list[Distribution]:
    """Return the distributions of player 0's total from some contexts on.

    Each is what :func:`distribution` returns for the context. All are found together, from the end
    of the game back, in about the time of a single one from the highest rank.

    Parameters
    ----------
    solution : StagedSolution
        The mover takes the first best choice, as in :func:`distribution`.
    contexts : sequence
    progress : callable, optional
        As for :func:`gamedp.solve`; it may raise an exception to stop.

    Raises
    ------
    UnsupportedProblemError
        If a total is not a whole number, or from 2**53 on; if totals lie too far apart; or if a
        context leads to one of the same rank.
    UnknownStateError
        If there is no such context.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.kniffel import Kniffel, Sheet
    >>> game = Kniffel(dice=1, faces=2, throws=1)
    >>> solution = gamedp.solve(game, tolerance=1e-9)
    >>> only_the_ones = Sheet(upper=0, boxes=game.all_boxes - 1, bonus=0)
    >>> one, all_boxes = gamedp.stages.distributions(solution, [only_the_ones, Sheet(0, 0, 0)])
    >>> list(one), all_boxes.mean == gamedp.stages.distribution(solution).mean
    ([(0, 0.5), (1, 0.5)], True)
    """
    play = ForwardPass(solution, None, None)
    model, size = play.model, play.model.codec.size
    wanted = []
    for context in contexts:
        code, swapped = model.index(context)
        wanted.append(code + size * int(swapped))
    ranks, lowest = _reached(play, wanted)
    slots = np.full(size * model.num_players, -1, np.int32)
    layers: dict[int, Layer] = {}
    found: dict[int, Distribution] = {}
    reporter, left = Reporter(progress, "solve"), sorted(lowest)
    with ThreadPoolExecutor(processors()) as pool:
        for done, rank in enumerate(left):
            keys = np.flatnonzero(ranks == rank)
            slices = [keys[first : first + CONTEXTS] for first in range(0, len(keys), CONTEXTS)]
            told = f"{len(keys):,} contexts of rank {rank}"
            parts = pool.map(partial(_pulled, play, rank, layers, slots), slices)
            layer = Layer.joined(_reported(parts, partial(reporter.report, done, len(left), told)))
            layers[rank] = layer
            slots[layer.keys] = np.arange(len(layer.keys))
            for key in set(wanted).intersection(layer.keys.tolist()):
                found[key] = _distribution(layer, int(slots[key]))
            needed = min((lowest[later] for later in left[done + 1 :]), default=rank + 1)
            layers = {old: layer for old, layer in layers.items() if old >= needed}
    return [found[key] for key in wanted]


def _reported(parts: Iterable[Layer], report: Callable[[], None]) -> Iterator[Layer]:
    for part in parts:
        report()
        yield part


def _reached(play: ForwardPass, keys: list[int]) -> tuple[NDArray[np.int64], dict[int, int]]:
    """Return the rank of each reachable key, and the lowest rank to which each rank leads."""
    model, size = play.model, play.model.codec.size
    ranks = np.full(size * model.num_players, NOT_REACHED)
    waiting, lowest = set(), {}
    for key in keys:
        ranks[key] = int(model.rules.call("rank", model.state(key % size)))
        waiting.add(int(ranks[key]))
    while waiting:
        rank = max(waiting)
        waiting.remove(rank)
        lowest[rank] = rank
        reached = np.flatnonzero(ranks == rank)
        for first in range(0, len(reached), CONTEXTS):
            some = reached[first : first + CONTEXTS]
            onward = model.sweeper.follow(some % size)
            allowed = onward.following >= 0
            after = (onward.following + size * (onward.swaps ^ (some >= size)[:, None]))[allowed]
            below = onward.ranks[allowed]
            if not len(below):
                continue
            if below.max() >= rank:
                context = model.state(int(after[np.argmax(below)]) % size)
                message = (
                    f"{shown(context)} is reached from a context of the same rank {rank}. "
                    "Distributions of totals are found for games whose rank() falls with every "
                    "stage."
                )
                raise UnsupportedProblemError(message)
            ranks[after] = below
            lowest[rank] = min(lowest[rank], int(below.min()))
            waiting.update(_distinct(below))
    return ranks, lowest


def _distinct(ranks: NDArray[np.int64]) -> list[int]:
    """Return the distinct ranks; mostly it is one."""
    some: list[int] = [int(ranks[0])] if (ranks == ranks[0]).all() else np.unique(ranks).tolist()
    return some


def _pulled(
    play: ForwardPass,
    rank: int,
    layers: dict[int, Layer],
    slots: NDArray[np.int32],
    keys: NDArray[np.int64],
) -> Layer:
    """Return the totals of some contexts, from those of their successors."""
    transitions, over, payoffs = play.expand_some(keys)
    result = Layer()
    zeros = np.zeros(len(over), np.int64)
    certain = Transitions(zeros, keys[over], zeros + rank, payoffs, np.ones(len(over)))
    if len(over):
        one = np.zeros(1, np.int64)
        result.take(certain, slots, Layer(keys[over][:1], one, one, one, np.ones(1)), 0.0)
    for target in _distinct(transitions.ranks) if len(transitions.ranks) else ():
        part = transitions.some(transitions.ranks == target)
        layer = layers[target]
        backward = part._replace(
            sources=slots[part.successors].astype(np.int64), successors=keys[part.sources]
        )
        error = layer.relative_error + play.unfolded.relative_error
        result.take(backward, slots, layer, error)
    return result


def _distribution(layer: Layer, slot: int) -> Distribution:
    """Return the totals of a slot."""
    low, start = int(layer.lows[slot]), int(layer.starts[slot])
    part = layer.pool[start : start + int(layer.highs[slot]) - low + 1]
    places = np.flatnonzero(part)
    return Distribution(low + places, part[places], relative_error_of(layer.relative_error))
