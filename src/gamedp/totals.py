"""How the totals of a staged game are distributed under a policy: more than their mean."""

from __future__ import annotations

import functools
import math
import operator
import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex

import attrs
import numpy as np

from gamedp.errors import (
    InvalidModelError,
    InvalidParameterError,
    UnknownStateError,
    UnsupportedProblemError,
)
from gamedp.solution import Guarantee
from gamedp.staged_game import StagedRules
from gamedp.staged_model import StagedModel
from gamedp.staged_solution import StagedSolution

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from gamedp.kernels.distribution import Nodes
    from gamedp.kernels.lanes import Program
    from gamedp.model import Model

    Policy = Callable[[Any, Any], int]

__all__ = ["Distribution", "distribution", "end_probabilities"]

UNIT = 2.0**-53
SLICE = 512
"""Contexts whose ends are followed at once."""


@attrs.frozen(eq=False, repr=False)
class Distribution:
    """How probable each total is.

    Attributes
    ----------
    totals : (K,) int64
        Ascending; those of probability zero may be left out.
    probabilities : (K,) float64
    relative_error : float
        Each probability, and each sum of some, is off by at most this share of itself, apart from
        what is smaller than 1e-300.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.kniffel import Kniffel
    >>> solution = gamedp.solve(Kniffel(dice=1, faces=2, throws=1), solver=gamedp.StageInduction())
    >>> points = gamedp.distribution(solution)
    >>> points
    <Distribution of 3 totals, 77 to 80: mean=79.97..., standard deviation=0.19...>
    """

    totals: NDArray[np.int64]
    probabilities: NDArray[np.float64]
    relative_error: float = 0.0

    def __attrs_post_init__(self) -> None:
        """Lock the arrays."""
        self.totals.flags.writeable = False
        self.probabilities.flags.writeable = False

    def __repr__(self) -> str:
        """Say where the totals lie."""
        return (
            f"<Distribution of {len(self.totals)} totals, {self.totals[0]} to {self.totals[-1]}: "
            f"mean={self.mean!r}, standard deviation={self.standard_deviation!r}>"
        )

    def __iter__(self) -> Iterator[tuple[int, float]]:
        """Yield each total and its probability."""
        return zip(self.totals.tolist(), self.probabilities.tolist(), strict=True)

    def expectation(self, worth: Callable[[int], float]) -> float:
        """Return what can be expected if each total is worth ``worth(total)``."""
        return math.fsum(chance * worth(total) for total, chance in self)

    @property
    def mean(self) -> float:
        """The total that can be expected."""
        return self.expectation(float)

    @property
    def mean_error(self) -> float:
        """How far off the mean may be."""
        return (self.relative_error + 4 * UNIT) * self.expectation(abs)

    @property
    def standard_deviation(self) -> float:
        """The root of the mean square of the distance from the mean."""
        mean = self.mean
        return math.sqrt(self.expectation(lambda total: (total - mean) ** 2))

    def probability(self, total: int) -> float:
        """Return how probable it is to end with exactly `total`."""
        place = int(np.searchsorted(self.totals, total))
        if place == len(self.totals) or self.totals[place] != total:
            return 0.0
        return float(self.probabilities[place])

    def at_least(self, total: float) -> float:
        """Return how probable it is to end with `total` or more."""
        return math.fsum(self.probabilities[np.searchsorted(self.totals, total) :].tolist())

    def quantile(self, share: float) -> int:
        """Return the least total that is not exceeded with a probability of at least `share`.

        Raises
        ------
        InvalidParameterError
            If `share` is no probability.
        """
        if not 0 <= share <= 1:
            message = f"the share {share!r} is not between 0 and 1."
            raise InvalidParameterError(message)
        cumulated = np.cumsum(self.probabilities)
        place = int(np.searchsorted(cumulated, min(share, float(cumulated[-1]))))
        return int(self.totals[place])


def distribution(
    solution: StagedSolution | StagedModel,
    context: Any = None,
    *,
    policy: Policy | None = None,
    counting: Any = None,
) -> Distribution:
    """Return how the total of player 0 is distributed: all rewards, and the payoff at the end.

    Contexts are taken by their ranks, from the highest on: for each that is reached, play is
    followed through the stage to its ends, and its totals are passed on to the contexts after them.
    Only sums and products of positive numbers occur, so the error is relative, and small [1]_. If
    the solution has proven bounds, the mean of its own policy is checked against them.

    Parameters
    ----------
    solution : StagedSolution or StagedModel
        Whoever moves takes the first best choice, as in :meth:`StagedSolution.inside`. A model will
        do if there is a `policy`.
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
        If a total is not a whole number, or a context leads to one of the same rank.
    UnknownStateError
        If there is no such context.
    InvalidParameterError
        If a model comes without a policy, or `counting` leads elsewhere.
    InvalidModelError
        If the policy takes what is no choice, or the mean is not the solution's value.

    References
    ----------
    .. [1] N. Higham, "Accuracy and Stability of Numerical Algorithms", SIAM 2002, section 4.2.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.kniffel import Kniffel
    >>> points = gamedp.distribution(gamedp.solve(Kniffel(dice=2, faces=2), tolerance=1e-9))
    >>> points.quantile(0.005), round(points.at_least(85), 6)
    (84, 0.993732)
    """
    walker = _Walker(solution, policy, counting)
    result = walker.walk(context)
    if policy is None and counting is None and isinstance(solution, StagedSolution):
        _check_mean(solution, context, result)
    return result


def _check_mean(solution: StagedSolution, context: Any, result: Distribution) -> None:
    """Hold the mean against the value.

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
    """Return how probable each end of the stage is when it is played in `context`.

    Parameters and errors are those of :func:`distribution`, but a policy is called with `context`
    itself. Ends of probability zero are left out.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.kniffel import Kniffel, Sheet
    >>> game = Kniffel(dice=1, faces=2, throws=1)
    >>> only_the_ones = Sheet(upper=0, boxes=game.all_boxes - 1, bonus=0)
    >>> ends = gamedp.end_probabilities(gamedp.solve(game, tolerance=1e-9), only_the_ones)
    >>> sorted((end.points, chance) for end, chance in ends.items())
    [(0, 0.5), (1, 0.5)]
    """
    walker = _Walker(solution, policy, None)
    _, swapped = walker.model.index(context)
    codes = np.array([walker.model.code(context)])
    onward = walker.model.sweeper.follow(codes)
    if swapped:  # as the stage's players see it
        onward = attrs.evolve(onward, swaps=~onward.swaps, rewards=-onward.rewards)
    if onward.payoffs[0] == onward.payoffs[0]:
        message = f"the game is over in {context!r}: there is nothing to play inside."
        raise UnknownStateError(message)
    chances = walker.chances(codes, onward)[0]
    result: dict[Any, float] = {}
    for node, chance in zip(walker.unfolded.end_of_node.tolist(), chances.tolist(), strict=True):
        if chance > 0:
            end = walker.model.stage.state(int(walker.model.stage.terminals[node]))
            result[end] = result.get(end, 0.0) + chance
    return result


class _Edges(NamedTuple):
    """Where play leads to from the contexts of one rank: n edges.

    `sources` are slots of that rank, `targets` keys of contexts, `shifts` what is earned.
    """

    sources: NDArray[np.int64]
    targets: NDArray[np.int64]
    ranks: NDArray[np.int64]
    shifts: NDArray[np.int64]
    weights: NDArray[np.float64]

    def some(self, chosen: NDArray[np.bool_]) -> _Edges:
        return _Edges(
            self.sources[chosen],
            self.targets[chosen],
            self.ranks[chosen],
            self.shifts[chosen],
            self.weights[chosen],
        )

    @classmethod
    def joined(cls, parts: list[_Edges]) -> _Edges:
        return cls(
            np.concatenate([part.sources for part in parts]),
            np.concatenate([part.targets for part in parts]),
            np.concatenate([part.ranks for part in parts]),
            np.concatenate([part.shifts for part in parts]),
            np.concatenate([part.weights for part in parts]),
        )


@attrs.define(eq=False)
class _Layer:
    """The contexts of one rank that are reached, each in a slot, with their totals so far.

    The key of a context is its code, plus the size of the box if the players have changed places.
    The totals ``low .. high`` of a slot begin at ``start`` in the pool.
    """

    keys: NDArray[np.int64] = attrs.field(factory=lambda: np.zeros(0, np.int64))
    lows: NDArray[np.int64] = attrs.field(factory=lambda: np.zeros(0, np.int64))
    highs: NDArray[np.int64] = attrs.field(factory=lambda: np.zeros(0, np.int64))
    starts: NDArray[np.int64] = attrs.field(factory=lambda: np.zeros(0, np.int64))
    pool: NDArray[np.float64] = attrs.field(factory=lambda: np.zeros(0))
    additions: NDArray[np.int64] = attrs.field(factory=lambda: np.zeros(0, np.int64))
    before: float = 0.0

    @property
    def relative_error(self) -> float:
        """How far off a probability may be: the errors so far, and those of adding up."""
        return self.before + (int(self.additions.max(initial=0)) + 2) * UNIT

    def take(self, edges: _Edges, slots: NDArray[np.int32], source: _Layer, error: float) -> None:
        """Add the totals of another layer, which are off by `error`, along `edges` to this one."""
        from gamedp.kernels import distribution as kernels  # noqa: PLC0415

        found = np.empty(len(edges.targets), np.int64)
        new = kernels.enlist_jit(edges.targets, slots, len(self.keys), found)
        places = slots[edges.targets].astype(np.int64)
        self.keys = np.concatenate([self.keys, found[:new]])
        lows = np.concatenate([self.lows, np.full(new, np.iinfo(np.int64).max)])
        highs = np.concatenate([self.highs, np.full(new, np.iinfo(np.int64).min)])
        np.minimum.at(lows, places, source.lows[edges.sources] + edges.shifts)
        np.maximum.at(highs, places, source.highs[edges.sources] + edges.shifts)
        self._lay_out(lows, highs)
        counts = np.bincount(places, minlength=len(lows))
        counts[: len(self.additions)] += self.additions
        self.additions, self.before = counts, max(self.before, error)
        kernels.push_jit(
            edges.sources, places, edges.shifts, edges.weights,
            source.starts, source.lows, source.highs, source.pool,
            self.starts, self.lows, self.pool,
        )  # fmt: skip

    def _lay_out(self, lows: NDArray[np.int64], highs: NDArray[np.int64]) -> None:
        """Make room for the totals ``lows .. highs``."""
        from gamedp.kernels import distribution as kernels  # noqa: PLC0415

        ends = np.cumsum(highs - lows + 1)
        starts = np.concatenate([[0], ends[:-1]])
        pool = np.zeros(int(ends[-1]))
        kernels.move_jit(self.starts, self.lows, self.highs, self.pool, starts, lows, pool)
        self.lows, self.highs, self.starts, self.pool = lows, highs, starts, pool

    def totals(self, slots: NDArray[np.int64], shifts: NDArray[np.int64]) -> dict[int, list[float]]:
        """Return the probabilities of some slots' totals, each total shifted."""
        found: dict[int, list[float]] = {}
        for slot, shift in zip(slots.tolist(), shifts.tolist(), strict=True):
            low, start = int(self.lows[slot]), int(self.starts[slot])
            part = self.pool[start : start + int(self.highs[slot]) - low + 1]
            for place in np.flatnonzero(part).tolist():
                found.setdefault(low + shift + place, []).append(float(part[place]))
        return found


class _Walker:
    """Follows play from context to context, rank by rank."""

    def __init__(self, solution: Any, policy: Policy | None, counting: Any) -> None:
        if isinstance(solution, StagedSolution):
            self.model, self.values = solution.model, solution.values
            optimum = solution.objective.optimum
        elif isinstance(solution, StagedModel) and policy is not None:
            self.model, self.values, optimum = solution, np.zeros(0), "max"
        else:
            message = (
                "a distribution is of the totals of a solved staged game, or of a StagedModel with "
                f"a policy=; {type(solution).__name__} is neither."
            )
            raise InvalidParameterError(message)
        self.policy = policy
        self.counted = None if counting is None else _counted(counting, self.model)
        self.unfolded = _unfolded(self.model.stage, optimum)

    def walk(self, context: Any) -> Distribution:
        """Follow play from `context`, or from the start, to its end."""
        rules, size = self.model.rules, self.model.codec.size
        slots = np.full(size * self.model.num_players, -1, np.int32)
        layers: dict[int, _Layer] = {}
        for chance, start in rules.initial() if context is None else [(1.0, context)]:
            if chance > 0:
                code, swapped = self.model.index(start)
                rank = int(rules.call("rank", self.model.state(code)))
                zero = np.zeros(1, np.int64)
                key = zero + code + size * swapped
                edge = _Edges(zero, key, zero + rank, zero, np.array([chance]))
                origin = _Layer(zero, zero, zero, zero, np.ones(1))
                layers.setdefault(rank, _Layer()).take(edge, slots, origin, 0.0)
        found: dict[int, list[float]] = {}
        error = 0.0
        with ThreadPoolExecutor(_processors()) as pool:
            while layers:
                rank = max(layers)
                layer = layers.pop(rank)
                edges, over, payoffs = self._expand(layer, rank, pool)
                for total, parts in layer.totals(over, payoffs).items():
                    found.setdefault(total, []).extend(parts)
                    error = max(error, layer.relative_error)
                after = layer.relative_error + self.unfolded.relative_error
                for target in np.unique(edges.ranks).tolist():
                    part = edges.some(edges.ranks == target)
                    layers.setdefault(target, _Layer()).take(part, slots, layer, after)
        totals = np.array(sorted(found), np.int64)
        chances = np.array([math.fsum(found[total]) for total in totals.tolist()])
        # (1 + u) ** n - 1 is at most n u / (1 - n u).
        return Distribution(totals, chances, (error + UNIT) / (1 - error - UNIT) * (1 + 8 * UNIT))

    def _expand(
        self, layer: _Layer, rank: int, pool: ThreadPoolExecutor
    ) -> tuple[_Edges, NDArray[np.int64], NDArray[np.int64]]:
        """Return the edges that lead on from a layer; the slots where play ends, with payoffs."""
        firsts = range(0, len(layer.keys), SLICE)
        parts = [layer.keys[first : first + SLICE] for first in firsts]
        # A policy in Python is called in one thread only.
        results = list((pool.map if self.policy is None else map)(self._expand_some, parts))
        edges, over, payoffs = [], [], []
        for first, (some, ended, paid) in zip(firsts, results, strict=True):
            edges.append(some._replace(sources=some.sources + first))
            over.append(ended + first)
            payoffs.append(paid)
        result = _Edges.joined(edges)
        bad = np.flatnonzero(result.ranks >= rank)
        if len(bad):
            source, target = layer.keys[result.sources[bad[0]]], result.targets[bad[0]]
            message = (
                f"{self._context(source)!r} leads to {self._context(target)!r} of the same rank "
                f"{rank}. The distribution of a total is found for games whose rank() falls with "
                "every stage."
            )
            raise UnsupportedProblemError(message)
        return result, np.concatenate(over), np.concatenate(payoffs)

    def _context(self, key: int) -> Any:
        return self.model.state(int(key) % self.model.codec.size)

    def _expand_some(
        self, keys: NDArray[np.int64]
    ) -> tuple[_Edges, NDArray[np.int64], NDArray[np.int64]]:
        """Do `_expand` for some contexts of a layer."""
        size = self.model.codec.size
        swapped, codes = keys >= size, keys % size
        onward = self.model.sweeper.follow(codes)
        counted = onward if self.counted is None else self._recount(codes, onward)
        is_over = onward.payoffs == onward.payoffs
        over = np.flatnonzero(is_over)
        payoffs = self._whole(counted.payoffs[over], lambda place: (codes[over[place]], None))
        other = swapped[over]
        payoffs[other] = self._constant_sum(other.any()) - payoffs[other]
        inner = np.flatnonzero(~is_over)
        some = attrs.evolve(
            onward,
            **{name: getattr(onward, name)[inner] for name in ("following", "swaps", "rewards")},
        )
        chances = self.chances(codes[inner], some)
        rows, nodes = np.nonzero(chances > 0)
        sources, ends = inner[rows], self.unfolded.end_of_node[nodes]
        rewards = self._whole(
            counted.rewards[sources, ends], lambda place: (codes[sources[place]], ends[place])
        )
        shifts = rewards + self.unfolded.paid[nodes]
        shifts[swapped[sources]] *= -1
        sides = onward.swaps[sources, ends] ^ swapped[sources]
        edges = _Edges(
            sources,
            onward.following[sources, ends] + size * sides,
            onward.ranks[sources, ends],
            shifts,
            chances[rows, nodes],
        )
        return edges, over, payoffs

    def _recount(self, codes: NDArray[np.int64], onward: Any) -> Any:
        """Return what the other game counts; refuse one that leads elsewhere."""
        assert self.counted is not None  # noqa: S101 - for the type checker
        counted = self.counted.sweeper.follow(codes)
        same = (
            (counted.following == onward.following).all(axis=1)
            & (counted.swaps == onward.swaps).all(axis=1)
            & ((counted.payoffs == counted.payoffs) == (onward.payoffs == onward.payoffs))
        )
        if not same.all():
            context = self.model.state(int(codes[np.flatnonzero(~same)[0]]))
            message = (
                f"from {context!r}, {self.counted.rules.game!r} does not lead to where "
                f"{self.model.rules.game!r} does; counting= takes a game that differs in its "
                "rewards and payoffs alone."
            )
            raise InvalidParameterError(message)
        return counted

    def _constant_sum(self, wanted: Any) -> int:
        """Return what the payoffs add up to, if that is wanted."""
        if not wanted:
            return 0
        total = float((self.counted or self.model).constant_sum)
        return int(self._whole(np.array([total]), lambda _: (None, None))[0])

    def _whole(
        self, numbers: NDArray[np.float64], place: Callable[[int], tuple[Any, Any]]
    ) -> NDArray[np.int64]:
        """Return numbers as integers; refuse those that are none."""
        whole = np.rint(numbers)
        bad = np.flatnonzero(~((whole == numbers) & (np.abs(numbers) < 2.0**53)))
        if len(bad):
            code, end = place(int(bad[0]))
            where = "constant_sum"
            if code is not None:
                where = f"the payoff in {self.model.state(int(code))!r}"
            if end is not None:
                state = self.model.stage.state(int(self.model.stage.terminals[end]))
                where = f"the reward for {state!r} in {self.model.state(int(code))!r}"
            raise UnsupportedProblemError(_not_whole(where, float(numbers[bad[0]])))
        return whole.astype(np.int64)

    def chances(self, codes: NDArray[np.int64], onward: Any) -> NDArray[np.float64]:
        """Return for each context how probable it is to end in each node (n, Z)."""
        from gamedp.kernels.distribution import trace_jit  # noqa: PLC0415

        unfolded = self.unfolded
        chances = np.zeros((len(codes), len(unfolded.nodes.ends)))
        if self.policy is not None:
            for place, code in enumerate(codes.tolist()):
                self._follow_policy(code, onward.following[place], chances[place])
            return chances
        worths = self.values[onward.following]
        worths[onward.swaps] = self.model.constant_sum - worths[onward.swaps]
        worths += onward.rewards
        worths[onward.following < 0] = np.nan
        bad = trace_jit(unfolded.program, unfolded.nodes, worths, chances)
        if bad >= 0:
            message = (
                f"the solution knows no values after {self.model.state(int(codes[bad]))!r}; it was "
                "stopped before it got there."
            )
            raise UnsupportedProblemError(message)
        return chances

    def _follow_policy(
        self, code: int, following: NDArray[np.int64], chances: NDArray[np.float64]
    ) -> None:
        """Fill `chances` (Z,) by asking the policy wherever it has a choice."""
        from gamedp.kernels.distribution import spread_jit  # noqa: PLC0415

        program, nodes = self.unfolded.program, self.unfolded.nodes
        context, stage = self.model.state(code), self.model.stage
        choices = np.full(len(program.own_rows), -1)
        reached = np.zeros(len(nodes.places), np.bool_)
        reached[0] = True
        for node, place in enumerate(nodes.places.tolist()):
            if not reached[node] or place < 0:
                continue
            first, last = program.choice_offsets[place : place + 2].tolist()
            if choices[place] < 0:
                is_free = last - first > 1
                asked = self._asked(context, self.unfolded.inner[place]) if is_free else 0
                choices[place] = first + asked
            begin, end = program.transition_offsets[choices[place] : choices[place] + 2].tolist()
            shift = int(nodes.firsts[node]) - int(program.transition_offsets[first])
            reached[nodes.successors[begin + shift : end + shift]] = True
        weights = np.empty(len(nodes.places))
        spread_jit(program, nodes, choices, weights)
        chances[:] = weights[nodes.ends]
        forbidden = np.flatnonzero((chances > 0) & (following[self.unfolded.end_of_node] < 0))
        if len(forbidden):
            end = int(stage.terminals[self.unfolded.end_of_node[forbidden[0]]])
            message = (
                f"the policy leads to {stage.state(end)!r} in {context!r}, which is not allowed."
            )
            raise InvalidModelError(message)

    def _asked(self, context: Any, index: int) -> int:
        """Return which of its choices the policy takes in a state of the stage."""
        assert self.policy is not None  # noqa: S101 - for the type checker
        stage = self.model.stage
        state = stage.state(index)
        action: Any = self.policy(context, state)
        known = stage.action_labels[slice(*stage.choice_offsets[index : index + 2])].tolist()
        number = operator.index(action) if isinstance(action, SupportsIndex) else None
        if number not in known:
            message = (
                f"the policy takes {action!r} in {state!r} of {context!r}; the actions there are "
                f"{', '.join(map(str, known))}."
            )
            raise InvalidModelError(message)
        return int(known.index(number))


@functools.lru_cache(maxsize=4)
def _unfolded(stage: Model, optimum: str) -> _Unfolded:
    """Unfold a stage, unless it has just been done."""
    return _Unfolded.of(stage, optimum)


def _processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _counted(game: Any, model: StagedModel) -> StagedModel:
    """Return the model of the game that counts."""
    if isinstance(game, StagedModel):
        counted = game
    else:
        from gamedp.compiler.stages import compile_staged  # noqa: PLC0415 - only needed here

        own = StagedRules(game).game.stage()
        known = model.stage.rules
        is_known = known is not None and bool(own == known.game)
        counted = compile_staged(game, stage=model.stage if is_known else None)
    same_stage = counted.stage is model.stage or counted.stage.digest() == model.stage.digest()
    same_box = counted.codec.size == model.codec.size and counted.num_players == model.num_players
    if not (same_stage and same_box):
        message = (
            f"{counted.rules.game!r} does not have the stage and the contexts of "
            f"{model.rules.game!r}; counting= takes a game that differs in its rewards and payoffs "
            "alone."
        )
        raise InvalidParameterError(message)
    return counted


def _not_whole(where: str, number: float) -> str:
    return (
        f"{where} is {number!r}, not a whole number; the distribution of a total is found for "
        "games that count in whole numbers. Count in a smaller unit."
    )


@attrs.frozen(eq=False)
class _Unfolded:
    """A stage, its states told apart by what has been paid on the way.

    Attributes
    ----------
    program : Program
        With a row for every state.
    inner : list of int
        The inner states of the program.
    nodes : Nodes
    end_of_node : (Z,) int64
        Which end each node in which the stage is over is: its place in ``stage.terminals``.
    paid : (Z,) int64
        What the stage has paid on the way there.
    relative_error : float
        How far off the probability of a node may be by rounding.
    """

    program: Program
    inner: list[int]
    nodes: Nodes
    end_of_node: NDArray[np.int64]
    paid: NDArray[np.int64]
    relative_error: float

    @classmethod
    def of(cls, stage: Model, optimum: str) -> _Unfolded:
        """Unfold a stage from its start, in an order in which successors come later."""
        from gamedp.kernels.distribution import Nodes  # noqa: PLC0415 - brings numba along
        from gamedp.solvers.stage_induction import program_of  # noqa: PLC0415 - likewise

        fractions = np.flatnonzero(stage.rewards != np.rint(stage.rewards))
        if len(fractions):
            state = int(np.searchsorted(stage.choice_offsets, fractions[0], side="right")) - 1
            where = f"a reward on the way, in {stage.state(state)!r},"
            raise UnsupportedProblemError(_not_whole(where, float(stage.rewards[fractions[0]])))
        program = program_of(stage, optimum=optimum, keeps_all=True)
        counts = np.diff(stage.choice_offsets)
        inner = [state for state in stage.structure.order.tolist() if counts[state] > 0]
        inner = inner[: len(program.own_rows)]
        found = _reached_with(stage, inner[::-1])
        ends = stage.terminals.tolist()
        numbers: dict[tuple[int, int], int] = {}
        for state in (*inner[::-1], *ends):
            for paid in sorted(found.get(state, ())):
                numbers[state, paid] = len(numbers)
        firsts: list[int] = []
        successors: list[int] = []
        errors, reads = np.zeros(len(numbers)), np.zeros(len(numbers))
        for (state, paid), number in numbers.items():
            firsts.append(len(successors))
            errors[number] += reads[number] * UNIT  # of adding up; all that leads here is known
            for following, reward, probability in _transitions(stage, state):
                target = numbers[following, paid + reward]
                successors.append(target)
                # Of the product, and of a probability that is off by two units in the last place.
                step = 0.0 if probability == 1 else 5 * UNIT
                errors[target] = max(errors[target], errors[number] + step)
                reads[target] += 1
        places = {state: place for place, state in enumerate(inner)}
        places_of_ends = {state: place for place, state in enumerate(ends)}
        over = [(number, key) for key, number in numbers.items() if key[0] in places_of_ends]
        nodes = Nodes(
            np.array([places.get(state, -1) for state, _ in numbers]),
            np.array(firsts),
            np.array(successors),
            np.array([number for number, _ in over]),
        )
        return cls(
            program,
            inner,
            nodes,
            np.array([places_of_ends[state] for _, (state, _) in over]),
            np.array([paid for _, (_, paid) in over]),
            float(errors.max()),
        )


def _transitions(stage: Model, state: int) -> Iterator[tuple[int, int, float]]:
    """Yield (successor, reward, probability) of all choices of a state."""
    for choice in range(*stage.choice_offsets[state : state + 2].tolist()):
        row = slice(*stage.transition_offsets[choice : choice + 2].tolist())
        reward = int(stage.rewards[choice])
        for following, probability in zip(
            stage.successors[row].tolist(), stage.probabilities[row].tolist(), strict=True
        ):
            yield following, reward, probability


def _reached_with(stage: Model, states: list[int]) -> dict[int, set[int]]:
    """Return the sums of rewards with which each state can be reached from the first one."""
    found: dict[int, set[int]] = {states[0]: {0}}
    for state in states:
        if state in found:
            for following, reward, _ in _transitions(stage, state):
                found.setdefault(following, set()).update(paid + reward for paid in found[state])
    return found
