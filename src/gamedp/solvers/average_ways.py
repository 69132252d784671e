"""The ways to end components: where play stays in the end, and numbers that prove it.

A model in which each maximal end component is one state, with one more choice: to stay there, for
good. It has no end component of its own, so that play always ends in some such choice or in a
terminal state. With the gains of the components as payoffs, its values are the long-run averages of
the model [1]_; with other rewards, biases come out of it.

References
----------
.. [1] P. Ashok, K. Chatterjee, P. Daca, J. Křetínský, T. Meggendorfer, "Value iteration for
   long-run average reward in Markov decision processes", CAV 2017.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

from gamedp.kernels import average
from gamedp.kernels.rounding import TINY, UNIT
from gamedp.model import Model
from gamedp.reduction.sets import positive
from gamedp.solvers.average_parts import EndComponents, graph_of, offsets_of, ragged
from gamedp.solvers.average_totals import bound_of_total, solved_total

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.solution import Solution

__all__ = ["Ways"]

STAY = -1
"""The label of the choice to stay in an end component for good."""

MARGIN = 2.0**-30
"""How much of the largest numbers biases are off on each step: they need not be close."""


@attrs.frozen(eq=False)
class Ways:
    """The model of the ways: K end components, R states outside them, and K places to stay at.

    Attributes
    ----------
    model : Model
        What is to be solved.
    sign : float
        1 where player 0 wants the most, else -1: rewards are multiplied by it.
    parts : EndComponents
    node : (S,)
        The state of the ways that stands for a state of the model.
    skeleton : Model
        The ways, without rewards; the label of a choice is that of the model which it stands for,
        or `STAY`.
    """

    model: Model
    sign: float
    parts: EndComponents
    node: NDArray[np.int64]
    skeleton: Model

    @classmethod
    def of(cls, model: Model, sign: float, parts: EndComponents) -> Ways:
        """Make each end component of a model one state."""
        structure = model.structure
        num_parts = structure.num_end_components
        outside = np.flatnonzero(structure.end_component < 0)
        node = np.asarray(structure.end_component, np.int64).copy()
        node[outside] = num_parts + np.arange(len(outside))
        num_nodes = num_parts + len(outside)
        leaving = np.flatnonzero(~structure.stays)
        mover = np.concatenate([np.arange(num_parts), node[structure.owners[leaving]]])
        # To stay comes first among the choices, so that of equally good ones it is taken.
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
        skeleton = Model.unchecked(
            choice_offsets=choice_offsets,
            transition_offsets=offsets,
            # Parallel transitions stay apart: a sum of their probabilities would be rounded.
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
        return cls(model, sign, parts, node, skeleton)

    def values(
        self, gains: NDArray[np.float64], tolerance: float, seconds: float, max_sweeps: int
    ) -> Solution:
        """Return what staying in the best component is worth, for given gains of each; (K,)."""
        payoffs = np.zeros(len(self.skeleton.terminals))
        payoffs[len(payoffs) - len(gains) :] = gains
        model = attrs.evolve(self.skeleton, payoffs=payoffs)
        return solved_total(model, tolerance, seconds, max_sweeps)

    def policy(
        self, chosen: NDArray[np.int64], within: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the policy of the model's states, and where it stays for good.

        Parameters
        ----------
        chosen : (K + R + K,)
            A policy for the ways.
        within : (M,)
            The policy that earns the gain, in the states of the end components.
        """
        model, parts, structure = self.model, self.parts, self.model.structure
        labels = np.full(len(chosen), STAY)
        labels[chosen >= 0] = self.skeleton.action_labels[chosen[chosen >= 0]]
        is_inside = structure.end_component >= 0
        stays = is_inside & (labels[self.node] == STAY)
        policy = np.where(is_inside, STAY, labels[self.node])
        policy[parts.states] = parts.choices[within]
        exits = labels[: len(parts.offsets) - 1]
        exits = exits[exits != STAY]
        if len(exits):
            # From the other states of the component towards the one where it is left: what earns
            # the gain might stay for ever.
            at = np.zeros(model.num_states, np.bool_)
            at[structure.owners[exits]] = True
            everyone = np.ones(model.num_states, np.bool_)
            _, towards = positive(structure, everyone, at, structure.stays)
            left = is_inside & ~stays
            policy[left] = towards[left]
            policy[structure.owners[exits]] = exits
        return policy, stays

    def upper_biases(
        self, gains: NDArray[np.float64], values: NDArray[np.float64], seconds: float
    ) -> NDArray[np.float64] | None:
        """Return h with ``g(s) + h(s) >= r + sum(P * h)`` for all choices, but for rounding; (S,).

        Within a component, h is `values`, (S,), plus a constant. The constants, and h outside, are
        total rewards of the ways, if a choice earns ``r - g(s) - values(s) + sum(P * values)``, and
        to stay nothing: they are finite, for play on the ways ends.
        """
        rewards = np.zeros(self.skeleton.num_choices)
        labels = self.skeleton.action_labels
        leaving = labels != STAY
        rewards[leaving] = self._surplus(labels[leaving], gains, values)
        model = attrs.evolve(self.skeleton, rewards=rewards)
        constants = bound_of_total(model, "upper", seconds)
        return None if constants is None else values + constants[self.node]

    def _surplus(
        self, choices: NDArray[np.int64], gains: NDArray[np.float64], values: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return what choices earn beyond the gain, with values as potentials; rounded up."""
        if not len(choices):
            return np.zeros(0)
        model = self.model
        state = model.structure.owners[choices]
        counts = np.diff(model.transition_offsets)[choices]
        transitions = ragged(model.transition_offsets, choices)
        starts = offsets_of(counts)[:-1]
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is found out later
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
        gains: NDArray[np.float64],
        values: NDArray[np.float64],
        policy: NDArray[np.int64],
        stays: NDArray[np.bool_],
        seconds: float,
    ) -> NDArray[np.float64] | None:
        """Return h with ``g(s) + h(s) <= r + sum(P * h)`` for a policy, but for rounding; (S,).

        Where the policy stays in a component, h is `values`; on the way there, what it earns beyond
        the gain until it gets there.
        """
        model = self.model
        moving = (policy >= 0) & ~stays
        choices = policy[moving]
        transitions = ragged(model.transition_offsets, choices)
        terminals = np.flatnonzero(~moving)
        rewards = self.sign * model.rewards[choices]
        with np.errstate(over="ignore"):  # what overflows is found out later
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
        return bound_of_total(chain, "lower", seconds)

    def excess(
        self,
        upward: bool,
        gains: NDArray[np.float64],
        biases: NDArray[np.float64],
        policy: NDArray[np.int64],
    ) -> float:
        """Return what gains must be moved by, so that their inequality holds; see the kernel."""
        graph = graph_of(self.model, self.sign)
        over = average.excess_jit(1.0 if upward else -1.0, graph, gains, biases, policy)
        return max(0.0, float(over))


def _margin(surplus: NDArray[np.float64], values: NDArray[np.float64]) -> float:
    """Return what a bias may gain or lose on each step, so that rounding it does no harm."""
    scale = np.abs(surplus).max(initial=0.0) + np.abs(values).max(initial=0.0)
    return float(MARGIN * scale + TINY)
