"""Propagation of play from context to context."""

from __future__ import annotations

import math
import operator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, SupportsIndex

import attrs
import numpy as np

from gamedp.errors import InvalidModelError, InvalidParameterError, UnsupportedProblemError, shown
from gamedp.rules.game import StagedRules
from gamedp.runtime.floats import UNIT
from gamedp.runtime.machine import processors
from gamedp.runtime.slices import CONTEXTS
from gamedp.stages.model import StagedModel
from gamedp.stages.solution import StagedSolution
from gamedp.stages.totals.layers import Layer, Transitions
from gamedp.stages.totals.result import Distribution, relative_error_of
from gamedp.stages.totals.unfolded import are_countable, not_counted, unfolded_stage

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Policy = Callable[[Any, Any], int]

__all__ = ["ForwardPass"]


class ForwardPass:
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
        self.unfolded = unfolded_stage(self.model.stage, optimum)

    def walk(self, context: Any) -> Distribution:
        """Follow play from `context`, or from the start, to its end."""
        rules, size = self.model.rules, self.model.codec.size
        slots = np.full(size * self.model.num_players, -1, np.int32)
        layers: dict[int, Layer] = {}
        for probability, start in self.model.starts if context is None else [(1.0, context)]:
            if probability > 0:
                code, swapped = self.model.index(start)
                rank = int(rules.call("rank", self.model.state(code)))
                zero = np.zeros(1, np.int64)
                key = zero + code + size * swapped
                transition = Transitions(zero, key, zero + rank, zero, np.array([probability]))
                origin = Layer(zero, zero, zero, zero, np.ones(1))
                off = 0.0 if probability == 1 else 4 * UNIT  # two units in the last place
                layers.setdefault(rank, Layer()).take(transition, slots, origin, off)
        found: dict[int, list[float]] = {}
        error = 0.0
        with ThreadPoolExecutor(processors()) as pool:
            while layers:
                rank = max(layers)
                layer = layers.pop(rank)
                transitions, over, payoffs = self._expand(layer, rank, pool)
                for total, parts in layer.totals(over, payoffs).items():
                    found.setdefault(total, []).extend(parts)
                    error = max(error, layer.relative_error)
                after = layer.relative_error + self.unfolded.relative_error
                for target in np.unique(transitions.ranks).tolist():
                    part = transitions.some(transitions.ranks == target)
                    layers.setdefault(target, Layer()).take(part, slots, layer, after)
        totals = np.array(sorted(found), np.int64)
        probabilities = np.array([math.fsum(found[total]) for total in totals.tolist()])
        return Distribution(totals, probabilities, relative_error_of(error))

    def _expand(
        self, layer: Layer, rank: int, pool: ThreadPoolExecutor
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
        bad = np.flatnonzero(result.ranks >= rank)
        if len(bad):
            source, target = layer.keys[result.sources[bad[0]]], result.successors[bad[0]]
            message = (
                f"{shown(self._context(source))} leads to {shown(self._context(target))} of the "
                f"same rank {rank}. The distribution of a total is found for games whose rank() "
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
        probabilities = self.probabilities(codes[inner], some)
        rows, nodes = np.nonzero(probabilities > 0)
        sources, ends = inner[rows], self.unfolded.end_of_node[nodes]
        rewards = self._whole(
            counted.rewards[sources, ends], lambda place: (codes[sources[place]], ends[place])
        )
        shifts = rewards + self.unfolded.paid[nodes]
        shifts[swapped[sources]] *= -1
        sides = onward.swaps[sources, ends] ^ swapped[sources]
        transitions = Transitions(
            sources,
            onward.following[sources, ends] + size * sides,
            onward.ranks[sources, ends],
            shifts,
            probabilities[rows, nodes],
        )
        return transitions, over, payoffs

    def _recount(self, codes: NDArray[np.int64], onward: Any) -> Any:
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

    def probabilities(self, codes: NDArray[np.int64], onward: Any) -> NDArray[np.float64]:
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
                asked = self._asked(context, self.unfolded.inner[place]) if is_free else 0
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

    def _asked(self, context: Any, index: int) -> int:
        """Return the choice that the policy takes in a state of the stage."""
        assert self.policy is not None  # noqa: S101 - for the type checker
        stage = self.model.stage
        state = stage.state(index)
        action: Any = self.policy(context, state)
        known = stage.action_labels[slice(*stage.choice_offsets[index : index + 2])].tolist()
        number = operator.index(action) if isinstance(action, SupportsIndex) else None
        if number not in known:
            message = (
                f"the policy takes {shown(action)} in {shown(state)} of {shown(context)}; the "
                f"actions there are {', '.join(map(str, known))}."
            )
            raise InvalidModelError(message)
        return int(known.index(number))


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
