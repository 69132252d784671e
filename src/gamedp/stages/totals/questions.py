"""Results of a staged game under a policy: distributions of totals, and expected numbers."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import attrs
import numpy as np

from gamedp.errors import (
    InvalidModelError,
    InvalidParameterError,
    UnknownStateError,
    UnsupportedProblemError,
    shown,
)
from gamedp.results.status import Guarantee
from gamedp.runtime.floats import UNIT
from gamedp.runtime.limit import Reporter, callback_of, shows_progress
from gamedp.runtime.machine import processors
from gamedp.runtime.slices import CONTEXTS
from gamedp.stages.solution import StagedSolution
from gamedp.stages.totals.forward import ForwardPass, Layer, Transitions
from gamedp.stages.totals.result import Distribution

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gamedp.runtime.limit import ProgressCallback
    from gamedp.stages.model import StagedModel
    from gamedp.stages.totals.forward import Policy


def distribution(
    solution: StagedSolution | StagedModel,
    context: Any = None,
    *,
    policy: Policy | None = None,
    counting: Any = None,
) -> Distribution:
    """Return the distribution of player 0's total: all rewards, and the payoff at the end.

    Contexts are taken by their tiers, from the highest on: for each that is reached, play is
    followed through the stage to its ends, and its totals are passed on to the contexts after them.
    Only sums and products of positive numbers occur, so the error is relative, and small [1]_,
    but for what is smaller than 1e-300: see :class:`Distribution`. If the solution has proven
    bounds, the mean of its own policy is checked against them.

    Parameters
    ----------
    solution : StagedSolution or StagedModel
        The mover takes the first best choice by rounded numbers: where several are equally good,
        it may be another one than :meth:`StagedSolution.inside` takes, whose sums are rounded
        otherwise. A model will do if there is a `policy`.
    context : optional
        Where play begins; at the start if not given.
    policy : callable, optional
        ``policy(context, state) -> action``, to be followed instead. It is called in every state of
        the stage that is reached with more than one choice, with the context's representative.
    counting : optional
        A staged game with the same stage and the same contexts, whose rewards and payoffs are
        counted instead of the solution's own: for the points of those who play for something else.

    Raises
    ------
    UnsupportedProblemError
        If a total is not a whole number, or from 2**53 on; if totals lie too far apart; or if a
        context leads to one of the same tier.
    UnknownStateError
        If there is no such context.
    InvalidParameterError
        If a model comes without a policy, or `counting` leads elsewhere.
    InvalidModelError
        If the policy takes an invalid choice, or the mean is not the solution's value.

    References
    ----------
    .. [1] N. Higham, "Accuracy and Stability of Numerical Algorithms", SIAM 2002, section 4.2.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.kniffel import Kniffel
    >>> points = gamedp.stages.distribution(gamedp.solve(Kniffel(dice=2, faces=2), tolerance=1e-9))
    >>> points.quantile(0.005), round(points.at_least(85), 6)
    (84, 0.993732)
    """
    forward_pass = ForwardPass(solution, policy, counting)
    result = forward_pass.walk(context)
    if policy is None and counting is None and isinstance(solution, StagedSolution):
        _check_mean(solution, context, result)
    return result


def _check_mean(solution: StagedSolution, context: Any, result: Distribution) -> None:
    """Compare the mean with the value.

    The choices are best for values that are off by the solution's error, which sums up the rounding
    of all sweeps to come. Choosing by rounded numbers costs at most twice as much again.
    """
    low, high = solution.bounds(context)
    if solution.guarantee is not Guarantee.TWO_SIDED or high - low == math.inf:
        return
    value = solution.value(context)
    size = max(abs(value), result.expectation(abs))
    allowed = 2 * (high - low) + result.mean_error + 16 * UNIT * size
    if not abs(result.mean - value) <= allowed:
        message = (
            f"the distribution has the mean {result.mean!r}, and the solution the value {value!r}: "
            "the rules of the game must not change, nor depend on anything but the state."
        )
        raise InvalidModelError(message)


def end_probabilities(
    solution: StagedSolution | StagedModel, context: Any, *, policy: Policy | None = None
) -> dict[Any, float]:
    """Return the probability of each end of the stage when it is played in `context`.

    Parameters and errors are those of :func:`distribution`, but a policy is called with `context`
    itself. Ends of probability zero are left out.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.kniffel import Kniffel, Sheet
    >>> game = Kniffel(dice=1, faces=2, throws=1)
    >>> only_the_ones = Sheet(upper=0, boxes=game.all_boxes - 1, bonus=0)
    >>> ends = gamedp.stages.end_probabilities(gamedp.solve(game, tolerance=1e-9), only_the_ones)
    >>> sorted((end.points, probability) for end, probability in ends.items())
    [(0, 0.5), (1, 0.5)]
    """
    forward_pass = ForwardPass(solution, policy, None)
    _, swapped = forward_pass.model.index(context)
    codes = np.array([forward_pass.model.code(context)])
    onward = forward_pass.model.sweeper.follow(codes)
    if swapped:  # as the stage's players see it
        onward = attrs.evolve(onward, swaps=~onward.swaps, rewards=-onward.rewards)
    if onward.payoffs[0] == onward.payoffs[0]:
        message = f"the game is over in {shown(context)}: there is nothing to play inside."
        raise UnknownStateError(message)
    probabilities = forward_pass.probabilities(codes, onward)[0]
    result: dict[Any, float] = {}
    for node, probability in zip(
        forward_pass.unfolded.end_of_node.tolist(), probabilities.tolist(), strict=True
    ):
        if probability > 0:
            end = forward_pass.model.stage.state(int(forward_pass.model.stage.terminals[node]))
            result[end] = result.get(end, 0.0) + probability
    return result


NOT_REACHED = np.iinfo(np.int64).min
"""Instead of a tier."""


@shows_progress
def distributions(
    solution: StagedSolution,
    contexts: Sequence[Any],
    *,
    progress: ProgressCallback | bool | None = None,
) -> list[Distribution]:
    """Return the distributions of player 0's total from some contexts on.

    Each is what :func:`distribution` returns for the context. All are found together, from the end
    of the game back, in about the time of a single one from the highest tier.

    Parameters
    ----------
    solution : StagedSolution
        The mover takes the first best choice, as in :func:`distribution`.
    contexts : sequence
    progress : callable or bool, optional
        As for :func:`gamedp.solve`; it may raise an exception to stop.

    Raises
    ------
    UnsupportedProblemError
        If a total is not a whole number, or from 2**53 on; if totals lie too far apart; or if a
        context leads to one of the same tier.
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
    tiers, lowest = _reached(play, wanted)
    slots = np.full(size * model.num_players, -1, np.int32)
    layers: dict[int, Layer] = {}
    found: dict[int, Distribution] = {}
    reporter, left = Reporter(callback_of(progress), "solve"), sorted(lowest)
    with ThreadPoolExecutor(processors()) as pool:
        for done, tier in enumerate(left):
            keys = np.flatnonzero(tiers == tier)
            slices = [keys[first : first + CONTEXTS] for first in range(0, len(keys), CONTEXTS)]
            told = f"{len(keys):,} contexts of tier {tier}"
            parts = pool.map(partial(_pulled, play, tier, layers, slots), slices)
            layer = Layer.joined(_reported(parts, partial(reporter.report, done, len(left), told)))
            layers[tier] = layer
            slots[layer.keys] = np.arange(len(layer.keys))
            for key in set(wanted).intersection(layer.keys.tolist()):
                totals = layer.totals(slots[[key]].astype(np.int64), np.zeros(1, np.int64))
                found[key] = Distribution.of(totals, layer.relative_error)
            needed = min((lowest[later] for later in left[done + 1 :]), default=tier + 1)
            layers = {old: layer for old, layer in layers.items() if old >= needed}
    return [found[key] for key in wanted]


def _reported(parts: Iterable[Layer], report: Callable[[], None]) -> Iterator[Layer]:
    for part in parts:
        report()
        yield part


def _reached(play: ForwardPass, keys: list[int]) -> tuple[NDArray[np.int64], dict[int, int]]:
    """Return the tier of each reachable key, and the lowest tier to which each tier leads."""
    model, size = play.model, play.model.codec.size
    tiers = np.full(size * model.num_players, NOT_REACHED)
    waiting, lowest = set(), {}
    for key in keys:
        tiers[key] = model.rules.tier(model.state(key % size))
        waiting.add(int(tiers[key]))
    while waiting:
        tier = max(waiting)
        waiting.remove(tier)
        lowest[tier] = tier
        reached = np.flatnonzero(tiers == tier)
        for first in range(0, len(reached), CONTEXTS):
            some = reached[first : first + CONTEXTS]
            onward = model.sweeper.follow(some % size)
            allowed = onward.following >= 0
            after = (onward.following + size * (onward.swaps ^ (some >= size)[:, None]))[allowed]
            below = onward.tiers[allowed]
            if not len(below):
                continue
            if below.max() >= tier:
                context = model.state(int(after[np.argmax(below)]) % size)
                message = (
                    f"{shown(context)} is reached from a context of the same tier {tier}. "
                    "Distributions of totals are found for games whose tier() falls with every "
                    "stage."
                )
                raise UnsupportedProblemError(message)
            tiers[after] = below
            lowest[tier] = min(lowest[tier], int(below.min()))
            waiting.update(_distinct(below))
    return tiers, lowest


def _distinct(tiers: NDArray[np.int64]) -> list[int]:
    """Return the distinct tiers; mostly it is one."""
    some: list[int] = [int(tiers[0])] if (tiers == tiers[0]).all() else np.unique(tiers).tolist()
    return some


def _pulled(
    play: ForwardPass,
    tier: int,
    layers: dict[int, Layer],
    slots: NDArray[np.int32],
    keys: NDArray[np.int64],
) -> Layer:
    """Return the totals of some contexts, from those of their successors."""
    transitions, over, payoffs = play.expand_some(keys)
    result = Layer()
    zeros = np.zeros(len(over), np.int64)
    certain = Transitions(zeros, keys[over], zeros + tier, payoffs, np.ones(len(over)))
    if len(over):
        one = np.zeros(1, np.int64)
        result.take(certain, slots, Layer(keys[over][:1], one, one, one, np.ones(1)), 0.0)
    for target in _distinct(transitions.tiers) if len(transitions.tiers) else ():
        part = transitions.some(transitions.tiers == target)
        layer = layers[target]
        backward = part._replace(
            sources=slots[part.successors].astype(np.int64), successors=keys[part.sources]
        )
        error = layer.relative_error + play.unfolded.relative_error
        result.take(backward, slots, layer, error)
    return result


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
    """The contributions of some contexts of one tier to each of n starts, and their successors."""

    counts: NDArray[np.float64]
    rewards: NDArray[np.float64]
    payoffs: NDArray[np.float64]
    following: NDArray[np.int64]
    tiers: NDArray[np.int64]
    weights: NDArray[np.float64]


@shows_progress
def expected_ends(
    solution: StagedSolution,
    starts: Sequence[Mapping[Any, float]],
    *,
    progress: ProgressCallback | bool | None = None,
) -> list[ExpectedEnds]:
    """Return the expected number of occurrences of each end of the stage from some contexts on.

    The mover takes the first best choice, as in :func:`distribution`. `rewards` and `payoff` add up
    to the mean of the contexts' values, but for rounding.

    Parameters
    ----------
    solution : StagedSolution
        The solution of a game for one player, in which each stage leads to a context of lower tier.
    starts : sequence of mappings
        The probability of beginning in each context, or the number of times: finite and
        non-negative. The counts are proportional to them. Several starts are followed together, in
        the time of one.
    progress : callable or bool, optional
        As for :func:`gamedp.solve`; it may raise an exception to stop.

    Returns
    -------
    list of ExpectedEnds
        One for each start.

    Raises
    ------
    UnsupportedProblemError
        If the game has more than one player, pays what is not whole on the way to the end of a
        stage, or leads from a context to one of the same tier.
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
            tier = model.rules.tier(model.state(code))
            waiting.setdefault(tier, []).append(np.array([code]))
    reporter, first = Reporter(callback_of(progress), "solve"), max(waiting, default=0)
    counts = np.zeros((len(model.stage.terminals), len(starts)))
    rewards, payoffs = np.zeros(len(starts)), np.zeros(len(starts))
    with ThreadPoolExecutor(processors()) as pool:
        while waiting:
            tier = max(waiting)
            codes = np.unique(np.concatenate(waiting.pop(tier)))
            slices = [codes[begin : begin + CONTEXTS] for begin in range(0, len(codes), CONTEXTS)]
            for part in pool.map(_expand, repeat(play), slices, repeat(weights), repeat(tier)):
                reporter.report(first - tier, first, f"{len(codes):,} contexts of tier {tier}")
                counts += part.counts
                rewards += part.rewards
                payoffs += part.payoffs
                weights[part.following] += part.weights
                for target in np.unique(part.tiers).tolist():
                    waiting.setdefault(target, []).append(part.following[part.tiers == target])
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
    play: ForwardPass, codes: NDArray[np.int64], weights: NDArray[np.float64], tier: int
) -> _ContextPart:
    """Play one stage in some contexts of a tier, with the probabilities in `weights` (B, n)."""
    onward = play.model.sweeper.follow(codes)
    own = weights[codes]
    sources, nodes, probabilities = play.ways(codes, onward)
    ends, is_over = play.unfolded.end_of_node[nodes], ~np.isnan(onward.payoffs)
    following, seen, places = np.unique(
        onward.following[sources, ends], return_index=True, return_inverse=True
    )
    tiers = onward.tiers[sources, ends][seen]
    if len(tiers) and tiers.max() >= tier:
        context = play.model.state(int(following[np.argmax(tiers)]))
        message = (
            f"{shown(context)} is reached from a context of the same tier {tier}. What is expected "
            "is found for games whose tier() falls with every stage."
        )
        raise UnsupportedProblemError(message)
    earned = onward.rewards[sources, ends] + play.unfolded.paid[nodes]
    reached = probabilities[:, None] * own[sources]
    return _ContextPart(
        counts=_sums(ends, reached, len(play.model.stage.terminals)),
        rewards=earned @ reached,
        payoffs=onward.payoffs[is_over] @ own[is_over],
        following=following,
        tiers=tiers,
        weights=_sums(places, reached, len(following)),
    )


def _sums(places: NDArray[np.int64], rows: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """Return the sum of the rows (m, n) at each place, (size, n)."""
    columns = [np.bincount(places, column, size) for column in rows.T]
    return np.stack(columns, axis=1)
