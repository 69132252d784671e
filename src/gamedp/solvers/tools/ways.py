"""The ways to end components: where play finally stays, and numbers that prove it.

Sweeps find them (:mod:`gamedp.bellman.ways`), or if these take too long, solvers of totals: a
model in which each maximal end component is one state with an additional choice: to stay there
permanently. It has no end component of its own, so that play always ends in some such choice or
in a terminal state. With the gains of the components as payoffs, its values are the long-run
averages of the model [1]_; with other rewards, they yield biases.

References
----------
.. [1] P. Ashok, K. Chatterjee, P. Daca, J. Křetínský, T. Meggendorfer, "Value iteration for
   long-run average reward in Markov decision processes", CAV 2017.
"""

from __future__ import annotations

import time
import warnings
from functools import cached_property
from typing import TYPE_CHECKING

import attrs
import numpy as np

from gamedp.bellman import equation, residuals, ways as kernels
from gamedp.bellman.chains import STAY, Room, room_for
from gamedp.errors import InvalidModelError
from gamedp.model.model import Model
from gamedp.model.objectives import TotalReward
from gamedp.model.problem import Problem
from gamedp.results.status import Status
from gamedp.runtime.floats import TINY, UNIT
from gamedp.solvers.tools.components import sweep_components
from gamedp.solvers.tools.end_components import (
    EndComponents,
    is_easy_to_eliminate,
    offsets_of,
    ragged,
)
from gamedp.solvers.tools.policies import improve_policies
from gamedp.solvers.tools.run import Run, RunResult

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from gamedp.runtime.arrays import Flags, Floats, Integers

SWEEPS = 256
"""Sweeps that improve a policy after which the ways are considered slow."""

WORK = 1 << 25
"""Transitions after which they are as well: kernels cannot be interrupted."""


@attrs.frozen(eq=False)
class Found:
    """Results of a search for the ways: N nodes.

    Attributes
    ----------
    lower, upper : (N,)
        Bounds of the best average.
    exits : (N,)
        The choice of the model with which the policy leaves a node, or `STAY`.
    status : Status
        Why the search stopped.
    """

    lower: Floats
    upper: Floats
    exits: NDArray[np.int64]
    status: Status


@attrs.frozen(eq=False)
class Ways:
    """The ways of a model: K end components and R states outside them, its nodes.

    Attributes
    ----------
    model : Model
        The model to be solved.
    sign : float
        1 if player 0 maximises, else -1: rewards are multiplied by it.
    parts : EndComponents
    map : Map
        The model as the kernels take it, with the node of each state.
    """

    model: Model
    sign: float
    parts: EndComponents
    map: kernels.Map

    @classmethod
    def of(cls, model: Model, sign: float, parts: EndComponents) -> Ways:
        """Make each end component of a model one node."""
        structure, node = model.structure, parts.node
        # As the model has them, for all uses in which nothing leaves an end component.
        successor_nodes = model.successors
        if len(parts.choices) < model.num_choices:
            successor_nodes = node[model.successors]
            successor_nodes.flags.writeable = False
        return cls(
            model,
            sign,
            parts,
            kernels.Map(
                structure.order,
                structure.component_offsets,
                node,
                structure.graph,
                successor_nodes,
                model.probabilities,
                ~structure.stays,
            ),
        )

    @property
    def node(self) -> NDArray[np.int64]:
        """The node that represents each state of the model; (S,)."""
        node: NDArray[np.int64] = self.map.node
        return node

    @property
    def num_parts(self) -> int:
        """The number of nodes that are end components (K)."""
        return len(self.parts.offsets) - 1

    @property
    def num_nodes(self) -> int:
        """The number of nodes (K + R)."""
        return self.num_parts + self.model.num_states - len(self.parts.states)

    @property
    def _budget(self) -> int:
        """Largest number of sweeps over a component that improve a policy."""
        return min(SWEEPS, 1 + WORK // max(1, self.model.num_transitions))

    @cached_property
    def _room(self) -> Room:
        """Room for chains of nodes, and for those of states."""
        return room_for(self.model.num_states, self.model.num_transitions)

    @cached_property
    def skeleton(self) -> Model:
        """The ways as a model without rewards, with K places to stay at in the end.

        The label of a choice is that of the model's choice which it represents, or `STAY`.
        """
        model, structure, node = self.model, self.model.structure, self.node
        num_parts, num_nodes = self.num_parts, self.num_nodes
        leaving = np.flatnonzero(~structure.stays)
        mover = np.concatenate([np.arange(num_parts), node[structure.owners[leaving]]])
        # Staying is the first of the choices, so that it is taken among equally good ones.
        order = np.argsort(mover, kind="stable")
        labels = np.concatenate([np.full(num_parts, STAY), leaving])[order]
        lengths = np.diff(model.transition_offsets)[labels]
        lengths[labels == STAY] = 1
        offsets = offsets_of(lengths)
        staying = offsets[:-1][labels == STAY]
        others = np.ones(offsets[-1], np.bool_)
        others[staying] = False
        transitions = ragged(model.transition_offsets, labels[labels != STAY])
        successors = np.empty(offsets[-1], np.int64)
        successors[staying] = num_nodes + mover[order][labels == STAY]
        successors[others] = node[model.successors[transitions]]
        probabilities = np.ones(offsets[-1])
        probabilities[others] = model.probabilities[transitions]
        choice_offsets = offsets_of(np.bincount(mover, minlength=num_nodes + num_parts))
        terminals = np.flatnonzero(np.diff(choice_offsets) == 0)
        return Model.unchecked(
            choice_offsets=choice_offsets,
            transition_offsets=offsets,
            # Parallel transitions stay separate: a sum of their probabilities would be rounded.
            successors=successors.astype(model.successors.dtype),
            probabilities=probabilities,
            rewards=np.zeros(len(labels)),
            players=np.zeros(num_nodes + num_parts, np.int8),
            terminals=terminals,
            payoffs=np.zeros(len(terminals)),
            action_labels=labels,
            initial_states=np.zeros(1, np.int64),
            initial_probabilities=np.ones(1),
        )

    def bounds(
        self,
        gains: Floats,
        allowed: float,
        tolerance: float,
        seconds: Callable[[], float],
        max_sweeps: int,
    ) -> Found:
        """Return bounds of the best average, for bounds of each component's gain.

        Parameters
        ----------
        gains : (K, 2)
        allowed : float
            The width of the gains' bounds for which the averages' bounds are as wide everywhere.
        tolerance : float
            Additional width of the averages' bounds.
        """
        found = self._swept(gains, tolerance, min(self._budget, max_sweeps))
        if found is not None:
            return found
        low = self._solved(gains[:, 0], tolerance, seconds(), max_sweeps)
        apart = float(np.diff(gains).max(initial=0.0))
        if apart <= allowed:  # no gain exceeds its lower bound by more than this
            high, upper = low, moved(low.upper, apart, self.node[self.model.terminals])
        else:
            high = self._solved(gains[:, 1], tolerance, seconds(), max_sweeps)
            upper = high.upper
        exits = np.full(self.num_nodes, STAY)
        chosen = low.policy[: self.num_nodes]
        exits[chosen >= 0] = self.skeleton.action_labels[chosen[chosen >= 0]]
        late = [part.status for part in (low, high) if part.width > tolerance]
        status = late[0] if late else Status.SOLVED
        return Found(low.lower[: self.num_nodes], upper[: self.num_nodes], exits, status)

    def _swept(self, gains: Floats, tolerance: float, budget: int) -> Found | None:
        """Return the result of sweeps, None if there would be many of them."""
        num_nodes, levels = self.num_nodes, self.model.structure.num_cyclic_levels
        low, high, exits = np.empty(num_nodes), np.empty(num_nodes), np.empty(num_nodes, np.int64)
        close = kernels.approach_jit(
            self.num_parts,
            self.map,
            gains,
            tolerance / max(1, levels),
            budget,
            low,
            high,
            exits,
            np.empty((2, self.model.num_choices)),
            np.empty(gains.shape),
            np.empty(self.model.num_choices, np.bool_),
            np.empty((2, num_nodes), np.int64),
            np.empty((2, num_nodes)),
            self._room,
        )
        return Found(low, high, exits, Status.SOLVED) if close else None

    def _solved(
        self, gains: Floats, tolerance: float, seconds: float, max_sweeps: int
    ) -> RunResult:
        """Return the value of staying in the best component, for given gains of each; (K,)."""
        payoffs = np.zeros(len(self.skeleton.terminals))
        payoffs[len(payoffs) - len(gains) :] = gains
        model = attrs.evolve(self.skeleton, payoffs=payoffs)
        return solved_total(model, tolerance, seconds, max_sweeps)

    def policy(
        self, exits: NDArray[np.int64], within: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], Flags]:
        """Return the policy of the model's states, and where it stays permanently.

        Parameters
        ----------
        exits : (K + R,)
            A policy for the ways.
        within : (M,)
            The policy that earns the gain, in the states of the end components.
        """
        parts, graph = self.parts, self.parts.equation.graph
        policy, stays = exits[self.node], np.zeros(self.model.num_states, np.bool_)
        kernels.arrive_jit(
            self.model.choice_offsets,
            graph,
            parts.offsets,
            parts.states,
            parts.choices,
            within,
            policy,
            stays,
            np.empty((2, len(within)), np.int64),
            np.empty((3, len(graph.successors)), np.int64),
        )
        return policy, stays

    def upper_biases(
        self,
        gains: Floats,
        values: Floats,
        tolerance: float,
        seconds: Callable[[], float],
    ) -> Floats | None:
        """Return h with ``g(s) + h(s) >= r + sum(P * h)`` for all choices, up to rounding; (S,).

        Within a component, h is `values`, (S,), plus a constant. The constants, and h outside, are
        total rewards of the ways, if a choice earns ``r - g(s) - values(s) + sum(P * values)``, and
        staying nothing: they are finite, because play on the ways ends.
        """
        num_nodes = self.num_nodes
        constants = np.empty(num_nodes)
        if kernels.leave_totals_jit(
            self.num_parts,
            self.map,
            self.model.rewards,
            self.sign,
            gains,
            values,
            tolerance,
            self._budget,
            np.empty(self.model.num_choices),
            np.empty((self.num_parts, 2)),
            constants,
            *np.empty((2, num_nodes), np.int64),
            np.empty(num_nodes),
            self._room,
        ):
            return np.asarray(values + constants[self.node])
        rewards = np.zeros(self.skeleton.num_choices)
        labels = self.skeleton.action_labels
        leaving = labels != STAY
        rewards[leaving] = self._surplus(labels[leaving], gains, values)
        model = attrs.evolve(self.skeleton, rewards=rewards)
        bound = bound_of_total(model, "upper", seconds())
        return None if bound is None else values + bound[self.node]

    def _surplus(self, choices: NDArray[np.int64], gains: Floats, values: Floats) -> Floats:
        """Return the rewards of choices beyond the gain, with values as potentials; rounded up."""
        if not len(choices):
            return np.zeros(0)
        model = self.model
        state = model.structure.owners[choices]
        counts = np.diff(model.transition_offsets)[choices]
        transitions = ragged(model.transition_offsets, choices)
        starts = offsets_of(counts)[:-1]
        with np.errstate(over="ignore", invalid="ignore"):  # overflows are detected later
            terms = model.probabilities[transitions] * (
                values[model.successors[transitions]] - np.repeat(values[state], counts)
            )
            rewards = self.sign * model.rewards[choices]
            sizes = np.abs(rewards) + np.abs(gains[state]) + np.add.reduceat(np.abs(terms), starts)
            surplus = rewards - gains[state] + np.add.reduceat(terms, starts)
            return np.asarray(
                surplus + (counts + 12) * (UNIT * sizes + TINY) + _margin(surplus, values)
            )

    def lower_biases(
        self,
        gains: Floats,
        values: Floats,
        policy: NDArray[np.int64],
        stays: Flags,
        tolerance: float,
        seconds: Callable[[], float],
    ) -> Floats | None:
        """Return h with ``g(s) + h(s) <= r + sum(P * h)`` for a policy, up to rounding; (S,).

        Where the policy stays in a component, h is `values`; on the way there, the reward beyond
        the gain until it arrives.
        """
        model = self.model
        moving = (policy >= 0) & ~stays
        biases = np.where(moving, 0.0, values)
        if kernels.lead_jit(
            self.map,
            model.rewards,
            self.sign,
            gains,
            policy,
            moving,
            tolerance,
            self._budget,
            biases,
            np.empty(model.num_choices),
            np.empty(model.num_states, np.int64),
            self._room,
        ):
            return biases
        choices = policy[moving]
        transitions = ragged(model.transition_offsets, choices)
        terminals = np.flatnonzero(~moving)
        rewards = self.sign * model.rewards[choices]
        with np.errstate(over="ignore"):  # overflows are detected later
            surplus = rewards - gains[moving]
            surplus -= 4 * UNIT * (np.abs(rewards) + np.abs(gains[moving]))
            surplus -= _margin(surplus, values)
        chain = attrs.evolve(
            self.skeleton,
            choice_offsets=offsets_of(moving),
            transition_offsets=offsets_of(np.diff(model.transition_offsets)[choices]),
            successors=model.successors[transitions],
            probabilities=model.probabilities[transitions],
            rewards=surplus,
            players=np.zeros(model.num_states, np.int8),
            terminals=terminals,
            payoffs=values[terminals],
            action_labels=choices,
        )
        return bound_of_total(chain, "lower", seconds())


def moved(bounds: Floats, by: float, ends: Integers) -> Floats:
    """Return bounds that are moved outward, except for terminal states, whose value is zero."""
    if by == 0:
        return bounds
    result = np.nextafter(bounds + by * (1 + 2.0**-40), np.copysign(np.inf, by))
    result[ends] = bounds[ends]
    return np.asarray(result)


def _margin(surplus: Floats, values: Floats) -> float:
    """Return how much a bias may gain or lose on each step, so that its rounding is harmless."""
    scale = np.abs(surplus).max(initial=0.0) + np.abs(values).max(initial=0.0)
    return float(kernels.MARGIN * scale + TINY)


FEW_SWEEPS = 1000
"""Sweeps over a component before linear systems are tried."""


def solved_total(
    model: Model, tolerance: float, seconds: float, max_sweeps: int = 1_000_000
) -> RunResult:
    """Return the total of a model in which all play ends, as far as it was found.

    By sweeps, if few of them suffice; otherwise by linear systems if these are easy, for the values
    and for the weights of the proof: if an end component is hardly ever left, sweeps take as many
    steps as play does.
    """
    problem = Problem(model, TotalReward())
    begin = time.monotonic()
    easy = is_easy_to_eliminate(model.structure.graph)
    run = Run(problem, tolerance, None, seconds)
    with np.errstate(over="ignore", invalid="ignore"):  # an overflow is refused at the end
        sweep_components(run, min(max_sweeps, FEW_SWEEPS) if easy else max_sweeps)
        swept = run.answer(proven=problem.is_proper)
    left = seconds - (time.monotonic() - begin)
    if swept.width <= tolerance or not easy or left <= 0:
        return swept
    direct = _EliminatingRun(problem, tolerance, None, left)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a matrix that is singular as far as these numbers tell
        improve_policies(direct)
    if np.isfinite(direct.values).all():
        solved = direct.answer(proven=problem.is_proper)
        if solved.width <= swept.width:
            return solved
    # More sweeps would not bring these bounds closer.
    return attrs.evolve(swept, status=Status.ROUNDING)


class _EliminatingRun(Run):
    """A run whose proofs count the steps of the greedy policy by a linear system."""

    def prove_all(self, max_sweeps: int = 1000) -> float:
        """Prove errors for all values, with weights for the choices that are best by them."""
        ignored = np.empty_like(self.values)
        equation.sweep_apart_jit(0, len(ignored), self.equation, self.values, ignored, self.policy)
        return super().prove_all(max_sweeps)

    def _weigh(self, start: int, stop: int, mode: int, margin: float, max_sweeps: int) -> None:
        model, structure = self.problem.model, self.problem.model.structure
        states = np.asarray(self.equation.order[start:stop], np.int64)
        if mode == residuals.GREEDY:
            choices = self.policy[states]
        else:
            choices = ragged(model.choice_offsets, states)
        if mode == residuals.NEAR:
            followed = model.transition_matrix[choices] @ self.values
            worse = self.values[structure.owners[choices]] - model.rewards[choices] - followed
            choices = choices[worse <= margin]
        weights = _most_steps(model, states, choices, self.max_seconds - self.reporter.seconds)
        if np.isfinite(weights).all() and (weights > 0).all():
            self.weights[states] = weights
        else:
            super()._weigh(start, stop, mode, margin, max_sweeps)


def _most_steps(
    model: Model, states: NDArray[np.int64], choices: NDArray[np.int64], seconds: float
) -> Floats:
    """Return the largest number of steps that some choices can take to leave their states."""
    size = len(states)
    place = np.full(model.num_states, size)
    place[states] = np.arange(size)
    transitions = ragged(model.transition_offsets, choices)
    counts = np.bincount(place[model.structure.owners[choices]], minlength=size + 1)
    part = attrs.evolve(
        model,
        choice_offsets=offsets_of(counts),
        transition_offsets=offsets_of(np.diff(model.transition_offsets)[choices]),
        successors=place[model.successors[transitions]].astype(  # type: ignore[arg-type]
            model.successors.dtype
        ),
        probabilities=model.probabilities[transitions],
        rewards=np.ones(len(choices)),
        players=np.zeros(size + 1, np.int8),
        terminals=np.array([size]),
        payoffs=np.zeros(1),
        action_labels=choices,
    )
    run = Run(Problem(part, TotalReward()), np.inf, None, max(1e-3, seconds))
    improve_policies(run)
    return run.values[:size]


def bound_of_total(model: Model, which: str, seconds: float) -> Floats | None:
    """Return a bound of the total reward, close enough for a bias; None if there is none."""
    scale = max(np.abs(numbers).max(initial=0.0) for numbers in (model.rewards, model.payoffs))
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            solution = solved_total(model, 1e-3 * float(scale) + TINY, seconds)
    except InvalidModelError:  # beyond the range of these numbers
        return None
    bound: Floats = getattr(solution, which)
    return bound if np.isfinite(bound).all() else None
