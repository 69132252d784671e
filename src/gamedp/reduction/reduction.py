"""A smaller problem with the same answer, and the way back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

from gamedp.graph.sets import attractor, first_choices
from gamedp.model.model import Model
from gamedp.model.problem import Problem
from gamedp.reduction import quotient_kernels
from gamedp.reduction.potentials import LEG, Flattening
from gamedp.reduction.quotient_kernels import STOP
from gamedp.reduction.unfolding import Unfolding

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.runtime.arrays import Flags, Floats, Integers


NONE = -1


@attrs.frozen(eq=False)
class Reduction:
    """A smaller problem with the same answer, and the way back.

    Attributes
    ----------
    problem : Problem
        The smaller problem: the total reward of a model in which play surely ends, or in which two
        opponents can keep each other from that, and nothing else keeps it from ending.
    original : Problem
    recasts : tuple
        The transformations of the model before, in sequence. The S states of the last
        model begin with those of the original one.
    model : Model
        The last of these models, or the original one.
    known : (S,)
        The values that the graph determines; NaN for the others.
    policy : (S,)
        The choice if the value is known; -1 where any choice will do, and elsewhere.
    labels : (S,) or None
        The end component that was collapsed, -1 for a state in none; None if there was none.
    stays : (C,) bool or None
        The choices that stay in a collapsed end component.
    quotient : Quotient
        The origin of states and choices.
    improper_state : int
        A state around which two opponents can keep each other from ending play; -1 if none can.
    """

    problem: Problem
    original: Problem
    recasts: tuple[Unfolding | Flattening, ...]
    model: Model
    known: Floats
    policy: Integers
    labels: Integers | None
    stays: Flags | None
    quotient: Quotient
    improper_state: int = -1

    def expand(self, numbers: Floats, rounding: int = 0) -> Floats:
        """Return a number for each state of the original problem, from those of the smaller one.

        Parameters
        ----------
        numbers : (S',)
        rounding : int
            -1 to round sums down, if there are any; 1 up; 0 to the nearest.
        """
        class_of = self.quotient.class_of
        return self.project(np.where(class_of >= 0, numbers[class_of], self.known), rounding)

    def expand_policy(self, policy: Integers) -> NDArray[np.int64]:
        """Return the choice in each state of the original problem that attains the same value."""
        class_of = self.quotient.class_of
        left = class_of >= 0
        any_choice = np.where(self.model.is_terminal, NONE, self.model.choice_offsets[:-1])
        expanded = np.where(self.policy >= 0, self.policy, any_choice)
        expanded[left] = self.quotient.choice_of[policy[class_of[left]]]
        self.leave(expanded)
        return self.project_policy(expanded)

    def project(self, numbers: Floats, rounding: int = 0) -> Floats:
        """Return the numbers of the original states, from those of the model that was reduced."""
        for recast in reversed(self.recasts):
            numbers = recast.project(numbers, rounding)
        return numbers

    def project_policy(self, policy: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the same policy of the original model, from one of the model that was reduced."""
        for recast in reversed(self.recasts):
            policy = recast.project_policy(policy)
        return policy

    def original_choices(self) -> NDArray[np.int64]:
        """Return the original model's choice for each of the reduced one; `LEG` for none.

        It has the same outcomes. Not for players who change places.
        """
        chosen = np.arange(self.model.num_choices)
        for recast in reversed(self.recasts):
            assert isinstance(recast, Flattening)  # noqa: S101 - nobody changes places
            chosen = np.where(chosen >= 0, recast.choice_of[chosen], LEG)
        return chosen

    def open_cases(self) -> tuple[Integers, Floats]:
        """Return where earning and losing in turn for ever might be better, and by how much.

        Returns
        -------
        states : (number,)
            States of the original problem.
        limsups : (number,)
            The largest limit superior of any sum there: it must not exceed the value, as the
            sums have no limit.
        """
        if not self.recasts:
            return np.empty(0, np.int64), np.empty(0)
        size = self.original.model.num_states
        found = [each.open_cases() for each in self.recasts if isinstance(each, Flattening)]
        states = np.concatenate([np.empty(0, np.int64), *(states for states, _ in found)])
        limsups = np.concatenate([np.empty(0), *(limsups for _, limsups in found)])
        return states[states < size], limsups[states < size]

    def leave(self, policy: NDArray[np.int64]) -> None:
        """Make a policy go, within each end component, to the state at which it leaves that.

        Choosing there by the values alone might mean staying for ever.

        Parameters
        ----------
        policy : (S,)
            In each state of an end component the choice by which it leaves that, or `STOP`; changed
            in place.
        """
        if self.labels is None or self.stays is None:
            return
        structure = self.model.structure
        class_of = self.quotient.class_of
        collapsed = np.flatnonzero((class_of >= 0) & (self.labels >= 0))
        leaving = collapsed[policy[collapsed] != STOP]
        exits = np.zeros(len(class_of), np.bool_)
        exits[structure.owners[policy[leaving]]] = True
        everyone = np.ones(len(class_of), np.bool_)
        _, towards = attractor(structure, everyone, exits, self.stays)
        stay = first_choices(structure, self.stays)
        policy[collapsed] = np.where(
            exits[collapsed],
            policy[collapsed],
            np.where(towards[collapsed] >= 0, towards[collapsed], stay[collapsed]),
        )


def in_order(problem: Problem, reduction: Reduction | None) -> Reduction:
    """Return a reduction to the same problem, with its states in the order of the sweeps.

    A sweep then reads the arrays from their beginning to their end. In a model larger than the
    processor's cache that is several times as fast; numbers are the same to the last bit.

    Parameters
    ----------
    problem : Problem
    reduction : Reduction or None
        That of the problem; None if it is proper as it is.
    """
    proper = problem if reduction is None else reduction.problem
    model, structure = proper.model, proper.model.structure
    renumbered, choices, transitions = structure.in_order()
    order, place = structure.order, structure.place.astype(structure.order.dtype)
    terminals = place[model.terminals]
    by_place = np.argsort(terminals)
    ordered = Model.unchecked(
        choice_offsets=renumbered.choice_offsets,
        transition_offsets=renumbered.transition_offsets,
        successors=renumbered.successors,
        probabilities=model.probabilities[transitions],
        rewards=model.rewards[choices],
        players=model.players[order],
        terminals=terminals[by_place].astype(np.int64),
        payoffs=model.payoffs[by_place],
        action_labels=choices,
        initial_states=place[model.initial_states].astype(np.int64),
        initial_probabilities=model.initial_probabilities,
        num_players=model.num_players,
        constant_sum=model.constant_sum,
        rounding=model.rounding,
    )
    object.__setattr__(ordered, "structure", renumbered)
    proper = attrs.evolve(proper, model=ordered)
    if reduction is not None:
        small = reduction.quotient
        class_of = np.where(small.class_of >= 0, place[small.class_of], NONE)
        small = Quotient(ordered, class_of.astype(place.dtype), small.choice_of[choices])
        return attrs.evolve(reduction, problem=proper, quotient=small)
    known = np.full(model.num_states, np.nan)
    known[model.terminals] = model.payoffs
    place[model.terminals] = NONE
    unknown = np.full(model.num_states, NONE, structure.choice_type)
    identity = Quotient(ordered, place, choices)
    return Reduction(proper, problem, (), model, known, unknown, None, None, identity)


@attrs.frozen(eq=False)
class Quotient:
    """A smaller model, and the origin of its states and choices in the given one.

    Attributes
    ----------
    model : Model
        A model with S' states, the last ones terminal, and C' choices.
    class_of : (S,)
        The state of the small model that represents each state; -1 where the value is known.
    choice_of : (C',) int64
        The given model's choice for each choice of the small model; `STOP` for staying for ever.
    """

    model: Model
    class_of: Integers
    choice_of: NDArray[np.int64]


def quotient(
    model: Model,
    players: Integers,
    known: Floats,
    rewards: Floats,
    labels: Integers | None,
    keep: Flags,
    may_stop: bool,
    ends: Floats,
) -> Quotient:
    """Collapse end components, and cut off known values.

    Parameters
    ----------
    model : Model
        A model with S states and C choices, in which no players change places.
    players : (S,)
        The player who chooses in each state.
    known : (S,)
        The values that are known; NaN for the states that are left.
    rewards : (C,) or (1,)
        Rewards of the choices; one number if all are equal.
    labels : (S,) or None
        The end component that each remaining state represents; -1 for a single state. All states of
        one belong to one player, and staying there earns nothing. None if none is collapsed.
    keep : (C,) bool
        The choices that are left: of states that are left, to such states or to known finite
        values. In an end component, only those that may leave it.
    may_stop : bool
        Whether staying in an end component for ever is a choice as well; its value is 0.
    ends : (Z,)
        The finite known values, and 0; ascending, without duplicates.
    """
    dtype = np.int32 if model.num_states + len(ends) < 2**31 else np.int64
    given = np.empty(0, dtype) if labels is None else labels.astype(dtype, copy=False)
    most = model.num_states + len(ends)
    class_of: Integers = np.empty(model.num_states, dtype)
    choice_offsets = np.empty(most + 1, np.int64)
    small_players = np.empty(most, np.int8)
    number, num_transitions = quotient_kernels.classify_jit(
        model.choice_offsets,
        model.transition_offsets,
        players,
        known,
        given,
        keep,
        may_stop,
        len(ends),
        class_of,
        np.empty_like(given),
        choice_offsets,
        small_players,
    )
    num_states = number + len(ends)
    choice_offsets, small_players = choice_offsets[: num_states + 1], small_players[:num_states]
    num_choices = int(choice_offsets[-1])
    if same := labels is None and num_choices == model.num_choices:
        # Nothing is merged or cut off: but for the numbers of states, the arrays are the model's.
        choice_of = np.arange(num_choices)
        transition_offsets, probabilities = model.transition_offsets, model.probabilities
        small_rewards = rewards if len(rewards) == num_choices else np.zeros(num_choices)
        number_of = np.where(class_of >= 0, class_of, number + np.searchsorted(ends, known))
        same = num_states == len(number_of) and (number_of == np.arange(num_states)).all()
        successors = model.successors if same else number_of.astype(dtype)[model.successors]
    else:
        choice_of = np.empty(num_choices, np.int64)
        transition_offsets = np.empty(num_choices + 1, np.int64)
        successors = np.empty(num_transitions, dtype)
        probabilities = np.empty(num_transitions)
        small_rewards = np.empty(num_choices)
        quotient_kernels.copy_choices_jit(
            model.choice_offsets,
            model.transition_offsets,
            model.successors,
            model.probabilities,
            rewards,
            known,
            keep,
            class_of,
            ends,
            choice_offsets,
            np.empty(number, np.int64),
            choice_of,
            transition_offsets,
            successors,
            probabilities,
            small_rewards,
        )
    small = Model.unchecked(
        choice_offsets=choice_offsets,
        transition_offsets=transition_offsets,
        successors=successors,
        probabilities=probabilities,
        rewards=small_rewards,
        players=small_players,
        terminals=np.arange(number, num_states),
        payoffs=ends,
        action_labels=choice_of,
        initial_states=np.zeros(1, np.int64),
        initial_probabilities=np.ones(1),
        num_players=model.num_players,
    )
    if same:
        object.__setattr__(small, "structure", model.structure)  # known, as a rule
    return Quotient(small, class_of, choice_of)
