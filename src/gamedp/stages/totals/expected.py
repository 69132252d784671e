"""The expected number of times that each end of a stage occurs until the game is over."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import attrs
import numpy as np

from gamedp.errors import InvalidParameterError, UnsupportedProblemError, shown
from gamedp.runtime.limit import Reporter
from gamedp.runtime.machine import processors
from gamedp.runtime.slices import CONTEXTS
from gamedp.stages.totals.forward import ForwardPass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from gamedp.runtime.limit import ProgressCallback
    from gamedp.stages.solution import StagedSolution

__all__ = ["ExpectedEnds", "expected_ends"]


@attrs.frozen
class ExpectedEnds:
    """Expected numbers of all stages that are still to be played.

    Attributes
    ----------
    counts : dict
        The expected number of times that the stage ends in each of its ends; those that are never
        reached are left out.
    rewards : float
        The expected sum of the rewards of all stages, including those on the way to their ends.
    payoff : float
        The expected payoff at the end of the game.
    """

    counts: dict[Any, float]
    rewards: float
    payoff: float


class _ContextPart(NamedTuple):
    """The contributions of some contexts of one rank to each of n starts, and their successors."""

    counts: NDArray[np.float64]
    rewards: NDArray[np.float64]
    payoffs: NDArray[np.float64]
    following: NDArray[np.int64]
    ranks: NDArray[np.int64]
    weights: NDArray[np.float64]


def expected_ends(
    solution: StagedSolution,
    starts: Sequence[Mapping[Any, float]],
    *,
    progress: ProgressCallback | None = None,
) -> list[ExpectedEnds]:
    """Return the expected number of occurrences of each end of the stage from some contexts on.

    The mover takes the first best choice, as in :func:`distribution`. `rewards` and `payoff` add up
    to the mean of the contexts' values, but for rounding.

    Parameters
    ----------
    solution : StagedSolution
        The solution of a game for one player, in which each stage leads to a context of lower rank.
    starts : sequence of mappings
        The probability of beginning in each context, or the number of times: finite and
        non-negative. The counts are proportional to them. Several starts are followed together, in
        the time of one.
    progress : callable, optional
        As for :func:`gamedp.solve`; it may raise an exception to stop.

    Returns
    -------
    list of ExpectedEnds
        One for each start.

    Raises
    ------
    UnsupportedProblemError
        If the game has more than one player, pays what is not whole on the way to the end of a
        stage, or leads from a context to one of the same rank.
    UnknownStateError
        If there is no such context.
    InvalidParameterError
        If a probability is negative or not finite.

    Examples
    --------
    The number of dice out of two that show a one in the end, if only that counts:

    >>> import gamedp
    >>> from gamedp.games.kniffel import Kniffel, Sheet
    >>> game = Kniffel(dice=2, faces=2)
    >>> only_the_ones = Sheet(upper=0, boxes=game.all_boxes - 1, bonus=0)
    >>> solution = gamedp.solve(game, tolerance=1e-9)
    >>> [found] = gamedp.stages.expected_ends(solution, [{only_the_ones: 1.0}])
    >>> round(found.rewards, 9), found.payoff
    (1.75, 0.0)
    >>> sorted((end.points, round(count, 9)) for end, count in found.counts.items())
    [(0, 0.015625), (1, 0.21875), (2, 0.765625)]
    """
    play = ForwardPass(solution, None, None)
    model = play.model
    if model.num_players != 1:
        message = f"expected_ends() is for games of one player, not of {model.num_players}."
        raise UnsupportedProblemError(message)
    weights = np.zeros((model.codec.size, len(starts)))
    waiting: dict[int, list[NDArray[np.int64]]] = {}
    for column, start in enumerate(starts):
        for context, weight in start.items():
            if not 0 <= weight < math.inf:
                message = (
                    f"a start is to begin in {shown(context)} with probability {shown(weight)}; "
                    "it must be a finite number, 0 or more."
                )
                raise InvalidParameterError(message)
            code, _ = model.index(context)
            weights[code, column] += weight
            rank = int(model.rules.call("rank", model.state(code)))
            waiting.setdefault(rank, []).append(np.array([code]))
    reporter, first = Reporter(progress, "solve"), max(waiting, default=0)
    counts = np.zeros((len(model.stage.terminals), len(starts)))
    rewards, payoffs = np.zeros(len(starts)), np.zeros(len(starts))
    with ThreadPoolExecutor(processors()) as pool:
        while waiting:
            rank = max(waiting)
            codes = np.unique(np.concatenate(waiting.pop(rank)))
            slices = [codes[begin : begin + CONTEXTS] for begin in range(0, len(codes), CONTEXTS)]
            for part in pool.map(_expand, repeat(play), slices, repeat(weights), repeat(rank)):
                reporter.report(first - rank, first, f"{len(codes):,} contexts of rank {rank}")
                counts += part.counts
                rewards += part.rewards
                payoffs += part.payoffs
                weights[part.following] += part.weights
                for target in np.unique(part.ranks).tolist():
                    waiting.setdefault(target, []).append(part.following[part.ranks == target])
    ends = [model.stage.state(index) for index in model.stage.terminals.tolist()]
    return [
        ExpectedEnds(
            {end: count for end, count in zip(ends, column.tolist(), strict=True) if count > 0},
            float(earned),
            float(paid),
        )
        for column, earned, paid in zip(counts.T, rewards, payoffs, strict=True)
    ]


def _expand(
    play: ForwardPass, codes: NDArray[np.int64], weights: NDArray[np.float64], rank: int
) -> _ContextPart:
    """Play one stage in some contexts of a rank, with the probabilities in `weights` (B, n)."""
    onward = play.model.sweeper.follow(codes)
    own = weights[codes]
    is_over = onward.payoffs == onward.payoffs
    inner = np.flatnonzero(~is_over)
    some = attrs.evolve(
        onward,
        **{name: getattr(onward, name)[inner] for name in ("following", "swaps", "rewards")},
    )
    probabilities = play.probabilities(codes[inner], some)
    rows, nodes = np.nonzero(probabilities > 0)
    sources, ends = inner[rows], play.unfolded.end_of_node[nodes]
    following, seen, places = np.unique(
        onward.following[sources, ends], return_index=True, return_inverse=True
    )
    ranks = onward.ranks[sources, ends][seen]
    if len(ranks) and ranks.max() >= rank:
        context = play.model.state(int(following[np.argmax(ranks)]))
        message = (
            f"{shown(context)} is reached from a context of the same rank {rank}. What is expected "
            "is found for games whose rank() falls with every stage."
        )
        raise UnsupportedProblemError(message)
    earned = onward.rewards[sources, ends] + play.unfolded.paid[nodes]
    reached = probabilities[rows, nodes][:, None] * own[sources]
    return _ContextPart(
        counts=_sums(ends, reached, len(play.model.stage.terminals)),
        rewards=earned @ reached,
        payoffs=onward.payoffs[is_over] @ own[is_over],
        following=following,
        ranks=ranks,
        weights=_sums(places, reached, len(following)),
    )


def _sums(places: NDArray[np.int64], rows: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """Return the sum of the rows (m, n) at each place, (size, n)."""
    columns = [np.bincount(places, column, size) for column in rows.T]
    return np.stack(columns, axis=1)
