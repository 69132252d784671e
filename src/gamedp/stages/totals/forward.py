"""Propagation of play from context to context."""

from __future__ import annotations

import functools
import operator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex

import attrs
import numpy as np

from gamedp.errors import InvalidModelError, InvalidParameterError, UnsupportedProblemError, shown
from gamedp.rules.game import StagedRules
from gamedp.runtime.floats import UNIT
from gamedp.runtime.machine import processors
from gamedp.runtime.slices import CONTEXTS
from gamedp.stages.model import StagedModel
from gamedp.stages.solution import StagedSolution
from gamedp.stages.totals.result import Distribution

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Policy = Callable[[Any, Any], int]
    from collections.abc import Iterable, Iterator

    from gamedp.model.model import Model
    from gamedp.stages.model import Onward
    from gamedp.stages.totals.kernels import Nodes
    from gamedp.stages.vector_code import StageProgram


class ForwardPass:
    """Follows play from context to context, tier by tier."""

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
        self.unfolded = unfolded_stage(self.model.stage, optimum)

    def walk(self, context: Any) -> Distribution:
        """Follow play from `context`, or from the start, to its end."""
        rules, size = self.model.rules, self.model.codec.size
        slots = np.full(size * self.model.num_players, -1, np.int32)
        layers: dict[int, Layer] = {}
        for probability, start in self.model.starts if context is None else [(1.0, context)]:
            if probability > 0:
                code, swapped = self.model.index(start)
                tier = rules.tier(self.model.state(code))
                zero = np.zeros(1, np.int64)
                key = zero + code + size * swapped
                transition = Transitions(zero, key, zero + tier, zero, np.array([probability]))
                origin = Layer(zero, zero, zero, zero, np.ones(1))
                off = 0.0 if probability == 1 else 4 * UNIT  # two units in the last place
                layers.setdefault(tier, Layer()).take(transition, slots, origin, off)
        found: dict[int, list[float]] = {}
        error = 0.0
        with ThreadPoolExecutor(processors()) as pool:
            while layers:
                tier = max(layers)
                layer = layers.pop(tier)
                transitions, over, payoffs = self._expand(layer, tier, pool)
                for total, parts in layer.totals(over, payoffs).items():
                    found.setdefault(total, []).extend(parts)
                    error = max(error, layer.relative_error)
                after = layer.relative_error + self.unfolded.relative_error
                for target in np.unique(transitions.tiers).tolist():
                    part = transitions.some(transitions.tiers == target)
                    layers.setdefault(target, Layer()).take(part, slots, layer, after)
        return Distribution.of(found, error)

    def _expand(
        self, layer: Layer, tier: int, pool: ThreadPoolExecutor
    ) -> tuple[Transitions, NDArray[np.int64], NDArray[np.int64]]:
        """Return the transitions from a layer; the slots where play ends, with payoffs."""
        firsts = range(0, len(layer.keys), CONTEXTS)
        parts = [layer.keys[first : first + CONTEXTS] for first in firsts]
        # A policy in Python is called in one thread only.
        results = list((pool.map if self.policy is None else map)(self.expand_some, parts))
        transitions, over, payoffs = [], [], []
        for first, (some, ended, paid) in zip(firsts, results, strict=True):
            transitions.append(some._replace(sources=some.sources + first))
            over.append(ended + first)
            payoffs.append(paid)
        result = Transitions.joined(transitions)
        bad = np.flatnonzero(result.tiers >= tier)
        if len(bad):
            source, target = layer.keys[result.sources[bad[0]]], result.successors[bad[0]]
            message = (
                f"{shown(self._context(source))} leads to {shown(self._context(target))} of the "
                f"same tier {tier}. The distribution of a total is found for games whose tier() "
                "falls with every stage."
            )
            raise UnsupportedProblemError(message)
        return result, np.concatenate(over), np.concatenate(payoffs)

    def _context(self, key: int) -> Any:
        return self.model.state(int(key) % self.model.codec.size)

    def expand_some(
        self, keys: NDArray[np.int64]
    ) -> tuple[Transitions, NDArray[np.int64], NDArray[np.int64]]:
        """Return the transitions from some contexts, and which are over, with payoffs."""
        size = self.model.codec.size
        swapped, codes = keys >= size, keys % size
        onward = self.model.sweeper.follow(codes)
        counted = onward if self.counted is None else self._recount(codes, onward)
        over = np.flatnonzero(~np.isnan(onward.payoffs))
        payoffs = self._whole(counted.payoffs[over], lambda place: (codes[over[place]], None))
        other = swapped[over]
        payoffs[other] = self._constant_sum(other.any()) - payoffs[other]
        sources, nodes, probabilities = self.ways(codes, onward)
        ends = self.unfolded.end_of_node[nodes]
        rewards = self._whole(
            counted.rewards[sources, ends], lambda place: (codes[sources[place]], ends[place])
        )
        shifts = rewards + self.unfolded.paid[nodes]
        shifts[swapped[sources]] *= -1
        sides = onward.swaps[sources, ends] ^ swapped[sources]
        transitions = Transitions(
            sources,
            onward.following[sources, ends] + size * sides,
            onward.tiers[sources, ends],
            shifts,
            probabilities,
        )
        return transitions, over, payoffs

    def ways(
        self, codes: NDArray[np.int64], onward: Onward
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Return the ways through the stage from contexts that are not over.

        Returns
        -------
        sources, nodes : (w,) int64
            The place of each way's context among the codes, and the node in which it ends.
        probabilities : (w,) float64
        """
        inner = np.flatnonzero(np.isnan(onward.payoffs))
        some = attrs.evolve(
            onward,
            **{name: getattr(onward, name)[inner] for name in ("following", "swaps", "rewards")},
        )
        probabilities = self.probabilities(codes[inner], some)
        rows, nodes = np.nonzero(probabilities > 0)
        return inner[rows], nodes, probabilities[rows, nodes]

    def _recount(self, codes: NDArray[np.int64], onward: Onward) -> Onward:
        """Return the numbers counted by the other game; refuse one that leads elsewhere."""
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
                f"from {shown(context)}, {shown(self.counted.rules.game)} does not lead to where "
                f"{shown(self.model.rules.game)} does; counting= takes a game that differs in its "
                "rewards and payoffs alone."
            )
            raise InvalidParameterError(message)
        return counted

    def _constant_sum(self, wanted: Any) -> int:
        """Return the sum of the payoffs, if it is needed."""
        if not wanted:
            return 0
        total = float((self.counted or self.model).constant_sum)
        return int(self._whole(np.array([total]), lambda _: (None, None))[0])

    def _whole(
        self, numbers: NDArray[np.float64], place: Callable[[int], tuple[Any, Any]]
    ) -> NDArray[np.int64]:
        """Return numbers as integers; refuse those that are not whole, or too large."""
        bad = np.flatnonzero(~are_countable(numbers))
        if len(bad):
            code, end = place(int(bad[0]))
            where = "constant_sum"
            if code is not None:
                where = f"the payoff in {shown(self.model.state(int(code)))}"
            if end is not None:
                state = self.model.stage.state(int(self.model.stage.terminals[end]))
                where = f"the reward for {shown(state)} in {shown(self.model.state(int(code)))}"
            raise UnsupportedProblemError(not_counted(where, float(numbers[bad[0]])))
        return numbers.astype(np.int64)

    def probabilities(self, codes: NDArray[np.int64], onward: Onward) -> NDArray[np.float64]:
        """Return for each context the probability of ending in each node (n, Z)."""
        from gamedp.stages.totals.kernels import trace_jit  # noqa: PLC0415

        unfolded = self.unfolded
        probabilities = np.zeros((len(codes), len(unfolded.nodes.ends)))
        if self.policy is not None:
            for place, code in enumerate(codes.tolist()):
                self._follow_policy(code, onward.following[place], probabilities[place])
            return probabilities
        end_values = self.values[onward.following]
        end_values[onward.swaps] = self.model.constant_sum - end_values[onward.swaps]
        end_values += onward.rewards
        end_values[onward.following < 0] = np.nan
        bad = trace_jit(unfolded.program, unfolded.nodes, end_values, probabilities)
        if bad >= 0:
            message = (
                f"the solution knows no values after {shown(self.model.state(int(codes[bad])))}; "
                "it was "
                "stopped before it got there."
            )
            raise UnsupportedProblemError(message)
        return probabilities

    def _follow_policy(
        self, code: int, following: NDArray[np.int64], probabilities: NDArray[np.float64]
    ) -> None:
        """Fill `probabilities` (Z,) by asking the policy wherever it has a choice."""
        from gamedp.stages.totals.kernels import spread_jit  # noqa: PLC0415

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
                asked = self._choice_at(context, self.unfolded.inner[place]) if is_free else 0
                choices[place] = first + asked
            begin, end = program.transition_offsets[choices[place] : choices[place] + 2].tolist()
            shift = int(nodes.firsts[node]) - int(program.transition_offsets[first])
            reached[nodes.successors[begin + shift : end + shift]] = True
        weights = np.empty(len(nodes.places))
        spread_jit(program, nodes, choices, weights)
        probabilities[:] = weights[nodes.ends]
        forbidden = np.flatnonzero((probabilities > 0) & (following[self.unfolded.end_of_node] < 0))
        if len(forbidden):
            end = int(stage.terminals[self.unfolded.end_of_node[forbidden[0]]])
            message = (
                f"the policy leads to {shown(stage.state(end))} in {shown(context)}, which is not "
                "allowed."
            )
            raise InvalidModelError(message)

    def _choice_at(self, context: Any, index: int) -> int:
        """Return the choice that the policy takes in a state of the stage."""
        assert self.policy is not None  # noqa: S101 - for the type checker
        stage = self.model.stage
        state = stage.state(index)
        action: Any = self.policy(context, state)
        known = stage.actions_of(*stage.choice_offsets[index : index + 2].tolist())
        own = operator.index(action) if isinstance(action, SupportsIndex) else action
        if own not in known:
            message = (
                f"the policy takes {shown(action)} in {shown(state)} of {shown(context)}; the "
                f"actions there are {', '.join(map(str, known))}."
            )
            raise InvalidModelError(message)
        return known.index(own)


def _counted(game: Any, model: StagedModel) -> StagedModel:
    """Return the model of the game whose totals are counted."""
    if isinstance(game, StagedModel):
        counted = game
    else:
        from gamedp.stages.compile import compile_staged  # noqa: PLC0415 - only needed here

        own = StagedRules(game).game.stage()
        known = model.stage.rules
        is_known = known is not None and bool(own == known.game)
        counted = compile_staged(game, stage=model.stage if is_known else None)
    same_stage = counted.stage is model.stage or counted.stage.digest() == model.stage.digest()
    same_box = counted.codec.size == model.codec.size and counted.num_players == model.num_players
    if not (same_stage and same_box):
        message = (
            f"{shown(counted.rules.game)} does not have the stage and the contexts of "
            f"{shown(model.rules.game)}; counting= takes a game that differs in its rewards and "
            "payoffs alone."
        )
        raise InvalidParameterError(message)
    return counted


MOST_TOTALS = 1 << 30
"""For all contexts of a tier: 8 GiB."""


class Transitions(NamedTuple):
    """Transitions of play from the contexts of one tier: n of them.

    `sources` are slots of that tier, `successors` keys of contexts, `shifts` what is earned.
    """

    sources: NDArray[np.int64]
    successors: NDArray[np.int64]
    tiers: NDArray[np.int64]
    shifts: NDArray[np.int64]
    weights: NDArray[np.float64]

    def some(self, chosen: NDArray[np.bool_]) -> Transitions:
        """Return the chosen transitions."""
        return Transitions._make(column[chosen] for column in self)

    @classmethod
    def joined(cls, parts: list[Transitions]) -> Transitions:
        """Return all transitions of some parts, in their order."""
        return cls._make(map(np.concatenate, zip(*parts, strict=True)))


@attrs.define(eq=False)
class Layer:
    """The reached contexts of one tier, each in a slot, with their totals so far.

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

    @classmethod
    def joined(cls, parts: Iterable[Layer]) -> Layer:
        """Return the contexts of some disjoint parts."""
        keys, lows, highs, starts, additions = [], [], [], [], []
        pool, before = np.zeros(0), 0.0
        for part in parts:  # one by one, as the pools are large
            first = len(pool)
            _check_room(first + len(part.pool))
            pool.resize(first + len(part.pool), refcheck=False)
            pool[first:] = part.pool
            keys.append(part.keys)
            lows.append(part.lows)
            highs.append(part.highs)
            starts.append(part.starts + first)
            additions.append(part.additions)
            before = max(before, part.before)
        return cls(
            np.concatenate(keys),
            np.concatenate(lows),
            np.concatenate(highs),
            np.concatenate(starts),
            pool,
            np.concatenate(additions),
            before,
        )

    @property
    def relative_error(self) -> float:
        """The relative error bound of a probability: the errors so far, and those of summation.

        As a part of itself, and apart from what is too small for a number.
        """
        return self.before + (int(self.additions.max(initial=0)) + 2) * UNIT

    def take(
        self, transitions: Transitions, slots: NDArray[np.int32], source: Layer, error: float
    ) -> None:
        """Add the totals of another layer, with the error `error`, along `transitions`."""
        from gamedp.stages.totals import kernels  # noqa: PLC0415

        found = np.empty(len(transitions.successors), np.int64)
        new = kernels.enlist_jit(transitions.successors, slots, len(self.keys), found)
        places = slots[transitions.successors].astype(np.int64)
        self.keys = np.concatenate([self.keys, found[:new]])
        lows = np.concatenate([self.lows, np.full(new, np.iinfo(np.int64).max)])
        highs = np.concatenate([self.highs, np.full(new, np.iinfo(np.int64).min)])
        np.minimum.at(lows, places, source.lows[transitions.sources] + transitions.shifts)
        np.maximum.at(highs, places, source.highs[transitions.sources] + transitions.shifts)
        self._lay_out(lows, highs)
        counts = np.bincount(places, minlength=len(lows))
        counts[: len(self.additions)] += self.additions
        self.additions, self.before = counts, max(self.before, error)
        kernels.push_jit(
            transitions.sources, places, transitions.shifts, transitions.weights,
            source.starts, source.lows, source.highs, source.pool,
            self.starts, self.lows, self.pool,
        )  # fmt: skip

    def _lay_out(self, lows: NDArray[np.int64], highs: NDArray[np.int64]) -> None:
        """Make room for the totals ``lows .. highs``.

        Raises
        ------
        UnsupportedProblemError
            If one is too large, or if they lie too far apart.
        """
        from gamedp.stages.totals import kernels  # noqa: PLC0415

        largest = max(highs.max(initial=0), -lows.min(initial=0))
        if largest >= TOO_LARGE:
            raise UnsupportedProblemError(not_counted("a total", int(largest)))
        _check_room(int((highs - lows).sum(dtype=np.float64)) + len(lows))
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


def _check_room(wanted: int) -> None:
    """Refuse too many totals."""
    if wanted > MOST_TOTALS:
        message = (
            f"the contexts of one tier have {wanted:,} totals from the least of each to its "
            f"greatest; there is room for {MOST_TOTALS:,}. Count in a larger unit, or let "
            "gamedp.simulate play."
        )
        raise UnsupportedProblemError(message)


TOO_LARGE = 2**53
"""Bound of a total's absolute value: from here on, floats do not hold all integers."""

MOST_NODES = 1_000_000
"""More are not unfolded: half a gigabyte."""


@functools.lru_cache(maxsize=4)
def unfolded_stage(stage: Model, optimum: str) -> Unfolded:
    """Unfold a stage, unless it has just been done."""
    return Unfolded.of(stage, optimum)


@attrs.frozen(eq=False)
class Unfolded:
    """A stage whose states include the rewards collected on the way.

    Attributes
    ----------
    program : StageProgram
        With a row for every state.
    inner : list of int
        The inner states of the program.
    nodes : Nodes
    end_of_node : (Z,) int64
        Which end each node in which the stage is over is: its place in ``stage.terminals``.
    paid : (Z,) int64
        The sum of the stage's rewards on the way there.
    relative_error : float
        How far off the probability of a node may be by rounding, as a part of itself, and apart
        from what is too small for a number.
    """

    program: StageProgram
    inner: list[int]
    nodes: Nodes
    end_of_node: NDArray[np.int64]
    paid: NDArray[np.int64]
    relative_error: float

    @classmethod
    def of(cls, stage: Model, optimum: str) -> Unfolded:
        """Unfold a stage from its start, in an order in which successors come later."""
        from gamedp.stages.totals.kernels import Nodes  # noqa: PLC0415 - brings numba along
        from gamedp.stages.vector_code import program_of  # noqa: PLC0415 - likewise

        bad = np.flatnonzero(~are_countable(stage.rewards))
        if len(bad):
            state = int(np.searchsorted(stage.choice_offsets, bad[0], side="right")) - 1
            where = f"a reward on the way, in {shown(stage.state(state))},"
            raise UnsupportedProblemError(not_counted(where, float(stage.rewards[bad[0]])))
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
                successor = numbers[following, paid + reward]
                successors.append(successor)
                # Of the product, and of a probability that is off by two units in the last place.
                step = 0.0 if probability == 1 else 5 * UNIT
                errors[successor] = max(errors[successor], errors[number] + step)
                reads[successor] += 1
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
    nodes = 1
    for state in states:
        if state in found:
            for following, reward, _ in _transitions(stage, state):
                sums = found.setdefault(following, set())
                nodes -= len(sums)
                sums.update(paid + reward for paid in found[state])
                nodes += len(sums)
                if nodes > MOST_NODES:
                    message = (
                        f"the stage pays more than {MOST_NODES:,} different sums on the way to its "
                        "states, too many to follow each. Count in a larger unit."
                    )
                    raise UnsupportedProblemError(message)
    for state, sums in found.items():
        largest = max(sums, key=abs)
        if abs(largest) >= TOO_LARGE:
            where = f"the sum of rewards on the way to {shown(stage.state(state))}"
            raise UnsupportedProblemError(not_counted(where, largest))
    return found


def are_countable(numbers: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which numbers are whole, and small enough to be counted."""
    countable: NDArray[np.bool_] = (np.rint(numbers) == numbers) & (np.abs(numbers) < TOO_LARGE)
    return countable


def not_counted(where: str, number: float) -> str:
    """Return the message that a number is not whole, or too large."""
    why, unit = "not a whole number", "smaller"
    if abs(number) >= TOO_LARGE:
        why, unit = "too large: from 2**53 on, floats are not told from their neighbours", "larger"
    return (
        f"{where} is {number!r}, {why}; the distribution of a total is found for games that count "
        f"in whole numbers. Count in a {unit} unit."
    )
