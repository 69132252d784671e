"""From a problem with targets and end components to one in which play surely ends.

Where play may stay for ever, Bellman's equation has many solutions. What the graph alone decides is
known first: where the target is reached with probability 0 or 1, and where a total is infinite. End
components in which nothing is earned are collapsed: within one, the mover gets to any exit. What is
left is proper: each state can surely end, and staying for ever is worth minus infinity to its mover
if it is possible at all. Then there is one solution [1]_, and every solver of fixed points finds
and proves it.

References
----------
.. [1] D. Bertsekas, J. Tsitsiklis, "An analysis of stochastic shortest path problems", Mathematics
   of Operations Research 16 (1991).
.. [2] K. Chatterjee, M. Henzinger, "Faster and dynamic algorithms for maximal end-component
   decomposition and related graph problems in probabilistic verification", SODA 2011.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.errors import UnsupportedProblemError
from gamedp.objectives import Reachability, TotalReward
from gamedp.problem import Problem
from gamedp.reduction.endless import forced_again_and_again
from gamedp.reduction.quotient import STOP, Quotient, quotient
from gamedp.reduction.sets import (
    almost_sure,
    end_components,
    first_choices,
    leads_into,
    positive,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.structure import Structure

    Flags = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    Integers = NDArray[np.signedinteger[Any]]

__all__ = ["Reduction", "needs_reduction", "reduce"]


@attrs.frozen(eq=False)
class Reduction:
    """A smaller problem with the same answer, and the way back.

    Attributes
    ----------
    problem : Problem
        The smaller one: the total reward of a model in which play surely ends, or in which two
        opponents can keep each other from that, and nothing else keeps it from ending.
    original : Problem
    known : (S,)
        The values that the graph tells; NaN for the others.
    policy : (S,)
        What to choose where the value is known; -1 elsewhere.
    labels : (S,)
        The end component that was collapsed, -1 for a state in none.
    stays : (C,) bool
        The choices that stay in a collapsed end component.
    quotient : Quotient
        What became of states and choices.
    contested : int
        A state around which two opponents can keep each other from ending play; -1 if none can.
    """

    problem: Problem
    original: Problem
    known: Floats
    policy: Integers
    labels: Integers
    stays: Flags
    quotient: Quotient
    contested: int = -1

    def lift(self, numbers: Floats) -> Floats:
        """Return a number for each state of the original problem, from those of the smaller one."""
        class_of = self.quotient.class_of
        return np.where(class_of >= 0, numbers[class_of], self.known)

    def lift_policy(self, policy: Integers) -> NDArray[np.int64]:
        """Return the choice in each state of the original problem that attains the same.

        In an end component, towards the state where the policy leaves it: choosing there what looks
        best might stay for ever.
        """
        structure = self.original.model.structure
        class_of = self.quotient.class_of
        left = np.flatnonzero(class_of >= 0)
        chosen = np.full(len(class_of), STOP, np.int64)
        chosen[left] = self.quotient.choice_of[policy[class_of[left]]]
        lifted = self.policy.astype(np.int64)
        single = left[self.labels[left] < 0]
        lifted[single] = chosen[single]
        collapsed = left[self.labels[left] >= 0]
        if len(collapsed):
            leaving = collapsed[chosen[collapsed] != STOP]
            exits = np.zeros(len(class_of), np.bool_)
            exits[structure.owners[chosen[leaving]]] = True
            everyone = np.ones(len(class_of), np.bool_)
            _, towards = positive(structure, everyone, exits, self.stays)
            stay = first_choices(structure, self.stays)
            lifted[collapsed] = np.where(
                exits[collapsed],
                chosen[collapsed],
                np.where(towards[collapsed] >= 0, towards[collapsed], stay[collapsed]),
            )
        return lifted


def needs_reduction(problem: Problem) -> bool:
    """Say whether a problem has targets, or play that may go on for ever and is not discounted."""
    objective = problem.objective
    if problem.endless_is_worst:
        return False
    return isinstance(objective, Reachability) or (
        isinstance(objective, TotalReward)
        and (objective.until is not None or not problem.model.structure.always_ends)
    )


def reduce(problem: Problem) -> Reduction:
    """Make a problem proper.

    Parameters
    ----------
    problem : Problem
        One that :func:`needs_reduction`.

    Raises
    ------
    UnsupportedProblemError
        If the rewards of an end component have both signs, or if a total is infinite both ways.
    """
    if problem.model.num_players > 2:
        message = "values of more than two players are solved by BackwardInduction alone."
        raise UnsupportedProblemError(message)
    if problem.model.has_swaps:
        message = "proves no totals where the players change places and play may go on for ever."
        raise UnsupportedProblemError(message)
    return _Case(problem).reduction()


class _Case:
    """The sets that make a problem proper, as they are found."""

    def __init__(self, problem: Problem) -> None:
        model = problem.model
        self.problem = problem
        self.model = model
        self.structure: Structure = model.structure
        optimum = problem.objective.optimum
        self.maximise = (model.players == 0) == (optimum == "max")
        free = np.diff(model.choice_offsets) > 1
        self.one_sided = bool(self.maximise[free].all() or not self.maximise[free].any())
        if self.one_sided:
            self.maximise[:] = self.maximise[free].all() if free.any() else optimum == "max"
        self.terminal = np.diff(model.choice_offsets) == 0
        self.known = np.full(model.num_states, np.nan)
        self.policy = first_choices(self.structure, np.ones(model.num_choices, np.bool_))
        self.labels = np.full(model.num_states, -1, np.int64)
        self.stays = np.zeros(model.num_choices, np.bool_)
        self.keep = np.ones(model.num_choices, np.bool_)
        self.may_stop = False
        self.contested = -1
        self.endless = 0.0

    def reduction(self) -> Reduction:
        """Find the sets, and put the smaller problem together."""
        model, objective = self.model, self.problem.objective
        rewards = np.asarray(model.rewards)
        if isinstance(objective, Reachability):
            rewards = np.zeros(model.num_choices)
            self._reachability(objective)
        elif isinstance(objective, TotalReward):
            self._total_reward(objective)
        unknown = np.isnan(self.known)
        self.keep &= unknown[self.structure.owners] & ~self.stays
        players = (self.maximise != (objective.optimum == "max")).astype(np.int8)
        small = quotient(model, players, self.known, rewards, self.labels, self.keep, self.may_stop)
        total = TotalReward(objective.optimum)
        if self.contested < 0:
            problem = Problem(small.model, total, endless_is_worst=True)
        else:
            problem = Problem(small.model, total, endless=self.endless)
        self.policy[unknown] = -1
        return Reduction(
            problem,
            self.problem,
            self.known,
            self.policy,
            self.labels,
            self.stays,
            small,
            self.contested,
        )

    def _choose(self, states: Flags, choices: Integers) -> None:
        """Set the policy of those of the states that have such a choice."""
        states = states & (choices >= 0)
        self.policy[states] = choices[states]

    def _reachability(self, objective: Reachability) -> None:
        """Probabilities 0 and 1; for who wants to reach, waiting is no obstacle."""
        target = objective.target
        active = ~target[self.structure.owners]
        if objective.allowed is not None:
            active &= objective.allowed[self.structure.owners]
        possible, _ = positive(self.structure, self.maximise, target, active)
        safe = active & ~leads_into(self.structure, possible)
        self._choose(~possible & ~self.maximise, first_choices(self.structure, safe))
        sure, _, via = almost_sure(self.structure, self.maximise, target, active)
        self._choose(sure & ~target, via)
        self.known[~possible] = 0.0
        self.known[sure] = 1.0
        choices = active & np.isnan(self.known)[self.structure.owners]
        self._collapse(choices, choices)

    def _collapse(self, idle: Flags, choices: Flags) -> None:
        """Collapse what end components idle choices form among the states that are not known.

        Those in which two opponents have something to choose are left as they are.
        """
        self.labels, self.stays = end_components(self.structure, np.isnan(self.known), idle)
        if self.one_sided or not self.stays.any():
            return
        most, least = self._choosers(self.labels, choices)
        if (most & least).any():
            self.contested = int((most & least).argmax())
        # All that is chosen in the others is for one of the two to choose.
        one = (self.labels >= 0) & ~(most & least)
        self.maximise[one] = most[one]
        self.labels[~one] = -1
        self.stays &= one[self.structure.owners]

    def _choosers(self, labels: Integers, choices: Flags) -> tuple[Flags, Flags]:
        """Say whether who wants the most, and the least, can choose in a state's end component."""
        counts = np.bincount(self.structure.owners[choices], minlength=len(self.known))
        free = (labels >= 0) & (counts > 1)
        return tuple(  # type: ignore[return-value] # two of them
            (labels >= 0) & np.isin(labels, labels[free & side])
            for side in (self.maximise, ~self.maximise)
        )

    def _total_reward(self, objective: TotalReward) -> None:
        """Totals that are infinite, and where nothing is earned."""
        model, structure = self.model, self.structure
        if objective.until is None:
            target = self.terminal
            self.known[model.terminals] = model.payoffs
        else:
            target = objective.until
            self.known[target] = 0.0
            ends = target[model.terminals]
            self.known[model.terminals[ends]] = model.payoffs[ends]
        active = ~target[structure.owners]
        if objective.until is None:
            self._without_target(active)
        else:
            self._with_target(target, active)

    def _with_target(self, target: Flags, active: Flags) -> None:
        """To miss the target counts plus infinity."""
        structure = self.structure
        minimises = ~self.maximise
        sure, safe, via = almost_sure(structure, minimises, target, active)
        self.known[~sure] = np.inf
        self._choose(~sure & self.maximise, via)
        self.keep = safe
        self.endless = np.inf
        if self.one_sided:
            self._settle_cycles(safe)
            return
        _, stays = end_components(structure, np.isnan(self.known), safe)
        falls = stays & (np.asarray(self.model.rewards) < 0)
        if falls.any():
            self._refuse_gains(int(falls.argmax()))
        self._settle_contests(safe)

    def _without_target(self, active: Flags) -> None:
        """To stay for ever counts what it earns; where it earns nothing, 0."""
        self.may_stop = True
        if not self.one_sided:
            self._two_without_target(active)
            return
        earning = self._settle_cycles(active)
        structure, everyone = self.structure, np.ones(self.model.num_states, np.bool_)
        unbounded = np.isinf(self.known)
        ends = self.terminal | (self.labels >= 0) | earning
        sure, safe, _ = almost_sure(structure, everyone, ends, active)
        wholly, _ = positive(structure, everyone, earning, safe)
        if (unbounded & ~(sure & wholly)).any():
            self._refuse_both_ways(int((unbounded & ~(sure & wholly)).argmax()))
        self.known[~sure] = -np.inf if self.maximise.all() else np.inf
        self.keep = safe

    def _settle_cycles(self, choices: Flags) -> Flags:
        """Deal with the end components of the one player who is left to choose.

        Where staying earns, its total is infinite, and so is that of all states from where it can
        be reached. Where nothing is earned, states are collapsed. Where staying costs, nobody does.

        Returns
        -------
        earning : (S,) bool
            The states of the end components of the first kind.
        """
        structure = self.structure
        labels, stays = end_components(structure, np.isnan(self.known), choices)
        earning = np.zeros(len(labels), np.bool_)
        if not stays.any():
            return earning
        sign = 1.0 if self.maximise.all() else -1.0
        most, _ = self._extremes(labels, stays, sign)
        earning[labels >= 0] = (most > 0)[labels[labels >= 0]]
        if earning.any():
            everyone = np.ones(len(labels), np.bool_)
            unbounded, via = positive(structure, everyone, earning, choices)
            self.known[unbounded] = sign * np.inf
            self._choose(unbounded, via)
            # Within, from one choice that earns to the next.
            gains = stays & (sign * np.asarray(self.model.rewards) > 0)
            sources = first_choices(structure, gains)
            _, towards = positive(structure, everyone, sources >= 0, stays)
            self._choose(earning, towards)
            self._choose(earning, sources)
        idle = choices & (np.asarray(self.model.rewards) == 0)
        self.labels, self.stays = end_components(structure, np.isnan(self.known), idle)
        return earning

    def _extremes(self, labels: Integers, stays: Flags, sign: float) -> tuple[Floats, Floats]:
        """Return the most and the least that a step in each end component earns; of one sign."""
        earned = sign * np.asarray(self.model.rewards)[stays]
        where = labels[self.structure.owners[stays]]
        number = int(labels.max()) + 1
        most, least = np.full(number, -np.inf), np.full(number, np.inf)
        np.maximum.at(most, where, earned)
        np.minimum.at(least, where, earned)
        mixed = (most > 0) & (least < 0)
        if mixed.any():
            self._refuse_mixed(int(np.isin(labels, np.flatnonzero(mixed)).argmax()))
        return most, least

    def _two_without_target(self, active: Flags) -> None:
        """Totals of two opponents: infinite where one can force ever more, or ever less."""
        structure, rewards = self.structure, np.asarray(self.model.rewards)
        if self.model.constant_sum != 0:
            self._refuse_constant(int((structure.end_component >= 0).argmax()))
        labels, stays = end_components(structure, np.isnan(self.known), active)
        if not stays.any():
            return
        self._extremes(labels, stays, 1.0)
        forced = []
        for sign, helps in ((1.0, self.maximise), (-1.0, ~self.maximise)):
            good = stays & (sign * rewards > 0)
            members, via = forced_again_and_again(structure, helps, good, active)
            self.known[members] = sign * np.inf
            self._choose(members, via)
            forced.append(members)
        if forced[0].any() and forced[1].any():
            self._refuse_both_ways(int(forced[0].argmax()))
        self.keep = active & ~leads_into(structure, forced[0] | forced[1])
        self._settle_contests(self.keep)

    def _settle_contests(self, choices: Flags) -> None:
        """Collapse where nothing is earned and one alone chooses; find who is left to contest."""
        choices = choices & np.isnan(self.known)[self.structure.owners]
        self._collapse(choices & (np.asarray(self.model.rewards) == 0), choices)
        labels, _ = end_components(self.structure, np.isnan(self.known), choices)
        most, least = self._choosers(labels, choices)
        self.contested = int((most & least).argmax()) if (most & least).any() else -1

    def _refuse_mixed(self, state: int) -> None:
        message = (
            "proves no totals where play may go on for ever and earns both positive and negative "
            f"rewards on the way, as around state {self.model.state(state)!r}. Discounted and "
            "AverageReward have an answer there."
        )
        raise UnsupportedProblemError(message)

    def _refuse_both_ways(self, state: int) -> None:
        message = (
            f"finds a total that is infinite both ways from state {self.model.state(state)!r}: it "
            "is undefined. Use AverageReward or Discounted."
        )
        raise UnsupportedProblemError(message)

    def _refuse_gains(self, choice: int) -> None:
        state = self.model.state(int(self.structure.owners[choice]))
        label = int(self.model.action_labels[choice])
        message = (
            "needs rewards of at least 0 where one of two opponents may keep play from its target "
            f"for ever; action {label} in {state!r} earns {float(self.model.rewards[choice]):g}, "
            "and whoever must reach it would go round before that. Use Discounted, or "
            "FiniteHorizon."
        )
        raise UnsupportedProblemError(message)

    def _refuse_constant(self, state: int) -> None:
        message = (
            f"needs play to end: the payoffs add up to {self.model.constant_sum:g}, and what play "
            f"without end is worth, as around {self.model.state(state)!r}, is for the rules to "
            "say. Let the game end after so many turns, or use constant_sum=0."
        )
        raise UnsupportedProblemError(message)
