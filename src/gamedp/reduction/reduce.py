"""Reduction of a problem with targets and end components to a proper one.

If play may stay for ever, Bellman's equation has many solutions. First, the graph alone decides
where the target is reached with probability 0 or 1, and where a total is infinite. End components
with zero rewards are collapsed: within one, the player gets to any exit. The quotient is proper: it
has a proper policy from each state, and improper ones are infinitely bad for the player who chooses
them. Then the solution is unique [1]_, and every fixed-point solver finds and proves it.

Some models are transformed first: players who change places are unfolded into two states, and flat
end components, which earn and lose in turn, are replaced by hubs.

References
----------
.. [1] D. Bertsekas, J. Tsitsiklis, "An analysis of stochastic shortest path problems", Mathematics
   of Operations Research 16 (1991); for two players: S. Patek, D. Bertsekas, "Stochastic shortest
   path games", SIAM Journal on Control and Optimization 37 (1999).
.. [2] K. Chatterjee, M. Henzinger, "Faster and dynamic algorithms for maximal end-component
   decomposition and related graph problems in probabilistic verification", SODA 2011.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

from gamedp.errors import UnsupportedProblemError, shown
from gamedp.graph.sets import (
    almost_sure,
    attractor,
    buchi_states,
    end_components,
    first_choices,
    leads_into,
)
from gamedp.graph.structure import Structure
from gamedp.model.objectives import Reachability, TotalReward
from gamedp.model.problem import Problem
from gamedp.reduction.gains import (
    UNDECIDED,
    have_both_signs,
    never,
    sign_for_all,
    sign_of_gain,
    signs_of_endless_play,
)
from gamedp.reduction.potentials import (
    FlatParts,
    Flattening,
    find_flat_parts,
    flat_parts,
    flattened,
    without_end,
)
from gamedp.reduction.reduction import NONE, Reduction, quotient
from gamedp.reduction.unfolding import Unfolding, unfold

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from gamedp.model.model import Model
    from gamedp.runtime.arrays import Flags, Integers


def needs_reduction(problem: Problem) -> bool:
    """Return whether a problem has targets, or undiscounted play that may go on for ever."""
    objective = problem.objective
    if problem.improper_is_worst:
        return False
    return isinstance(objective, Reachability) or (
        isinstance(objective, TotalReward)
        and (objective.until is not None or not problem.model.structure.always_ends)
    )


def reduce(problem: Problem, out_of_time: Callable[[], bool] = never) -> Reduction:
    """Make a problem proper.

    Parameters
    ----------
    problem : Problem
        A problem that :func:`needs_reduction`.
    out_of_time : callable
        Called now and then where it may take long; returns whether to give up.

    Raises
    ------
    OutOfTimeError
        If it returns True.
    UnsupportedProblemError
        If the rewards of an end component have both signs and do not surely add up to ever more, or
        ever less; or if a total is infinite both ways.
    """
    if problem.model.is_general_sum:
        message = (
            "where each player has payoffs of their own, values are found by BackwardInduction "
            "alone."
        )
        raise UnsupportedProblemError(message)
    recasts: list[Unfolding | Flattening] = []
    original = problem
    if problem.model.has_swaps:
        if problem.lacks_draw:
            raise UnsupportedProblemError(problem.undeclared())
        recasts.append(Unfolding(unfold(problem.model), problem.model))
        problem = attrs.evolve(problem, model=recasts[-1].model)
    while True:
        case = _Case(problem, original, tuple(recasts), out_of_time)
        reduction = case.reduction()
        if reduction is not None:
            return reduction
        recasts.append(case.flattening())
        problem = _moved(problem, recasts[-1].model)


def _moved(problem: Problem, model: Model) -> Problem:
    """Return the same problem on a model with more states, none of which is a target."""
    objective = problem.objective
    if isinstance(objective, TotalReward) and objective.until is not None:
        more = np.zeros(model.num_states - problem.model.num_states, np.bool_)
        objective = attrs.evolve(objective, until=np.append(objective.until, more))
    return attrs.evolve(problem, model=model, objective=objective)


class UndefinedTotalError(UnsupportedProblemError):
    """Raised if each of two opponents can make a total infinite, in their own direction."""


class _FlatPartsError(Exception):
    """Raised if end components must be made flat first."""


@attrs.define(eq=False, slots=False)
class _Case:
    """The sets that make a problem proper, as they are found."""

    problem: Problem
    original: Problem
    recasts: tuple[Unfolding | Flattening, ...]
    out_of_time: Callable[[], bool]

    def __attrs_post_init__(self) -> None:
        problem, model = self.problem, self.problem.model
        self.model = model
        # Separate: what is found on the way is not kept as long as the model.
        self.structure = Structure.of(
            model.choice_offsets, model.transition_offsets, model.successors
        )
        optimum = problem.objective.optimum
        self.maximise = (model.players == 0) == (optimum == "max")
        # If nobody chooses, either side may count as choosing: the one that is found sooner.
        self.nobody_chooses = model.num_choices == model.num_states - len(model.terminals)
        self.one_sided = True
        if self.nobody_chooses:
            self.maximise[:] = optimum == "max"
        else:
            chooses = self.maximise[np.diff(model.choice_offsets) > 1]
            self.one_sided = bool(chooses.all() or not chooses.any())
            if self.one_sided:
                self.maximise[:] = chooses.all()
        dtype = self.structure.choice_type
        self.known = np.full(model.num_states, np.nan)
        self.policy = np.full(model.num_states, NONE, dtype)
        self.labels: Integers | None = None
        self.stays: Flags | None = None
        self.keep = np.ones(model.num_choices, np.bool_)
        self.ends = np.zeros(1)
        self.may_stop = False
        self.improper_state = -1
        self.improper_value = 0.0
        self.parts: FlatParts | None = None

    def reduction(self) -> Reduction | None:
        """Find the sets, and build the smaller problem; None if some are to be made flat."""
        model, objective = self.model, self.problem.objective
        rewards = np.asarray(model.rewards)
        if isinstance(objective, Reachability):
            rewards = np.zeros(1)
            self._reachability(objective)
        elif isinstance(objective, TotalReward):
            try:
                self._total_reward(objective)
            except _FlatPartsError:
                return None
        if self.stays is not None:
            self.keep &= ~self.stays
        players = (self.maximise != (objective.optimum == "max")).view(np.int8)
        small = quotient(
            model, players, self.known, rewards, self.labels, self.keep, self.may_stop, self.ends
        )
        improper_value = None if self.improper_state < 0 else self.improper_value
        return Reduction(
            Problem.reduced(small.model, TotalReward(objective.optimum), improper_value),
            self.original,
            self.recasts,
            model,
            self.known,
            self.policy,
            self.labels,
            self.stays,
            small,
            self._of_original(self.improper_state) if self.improper_state >= 0 else -1,
        )

    def flattening(self) -> Flattening:
        """Return the model in which the end components that were found are flat."""
        parts = self.parts
        assert parts is not None  # noqa: S101 - there is no reduction
        most = bool(self.maximise.all())
        mover = int(most != (self.problem.objective.optimum == "max"))
        if self.may_stop and (state := without_end(self.model, parts)) >= 0:
            self._refuse_rounds(state)
        sign = 1.0 if most else -1.0
        return flattened(self.model, parts, sign, mover, may_stop=self.may_stop)

    def _of_original(self, state: int) -> int:
        """Return the state of the original model that a state represents."""
        for recast in reversed(self.recasts):
            state = recast.origin(state)
        return state

    def _name(self, state: int) -> str:
        return shown(self.original.model.state(self._of_original(state)))

    def _choose(self, states: Flags, choices: Integers) -> None:
        """Set the policy of those states that have one of these choices."""
        np.copyto(self.policy, choices, where=states & (choices >= 0))

    def _reachability(self, objective: Reachability) -> None:
        """Find probabilities that are 0 or 1; a player who wants to reach the target may wait."""
        target = objective.target
        ends = target if objective.allowed is None else target | ~objective.allowed
        active = ~ends[self.structure.owners]
        helps = np.zeros_like(self.maximise) if self.nobody_chooses else self.maximise
        sure = almost_sure(self.structure, helps, target, active)
        self._choose(sure.members | ~(sure.possible | self.maximise), sure.via)
        self.known[~sure.possible] = 0.0
        self.known[sure.members] = 1.0
        self.ends = np.array([0.0, 1.0])
        # Players who can stay away from the target for ever do, if they want to.
        if helps.any():
            self._collapse(active, active)

    def _collapse(self, idle: Flags, choices: Flags) -> None:
        """Collapse the end components that idle choices form among the states that are not known.

        Those in which two opponents have something to choose are left unchanged.
        """
        found = end_components(self.structure, np.isnan(self.known), idle)
        if found is None:
            return
        self.labels, self.stays = found
        if self.one_sided:
            return
        most, least = self._choosers(self.labels, choices)
        if (most & least).any():
            self.improper_state = int((most & least).argmax())
        # All choices in the others are made by one of the two.
        one = (self.labels >= 0) & ~(most & least)
        self.maximise[one] = most[one]
        self.labels[~one] = -1
        self.stays &= one[self.structure.owners]

    def _choosers(self, labels: Integers, choices: Flags) -> tuple[Flags, Flags]:
        """Return whether the maximiser, and the minimiser, can choose in a state's component."""
        choices = choices & np.isnan(self.known)[self.structure.owners]
        counts = np.bincount(self.structure.owners[choices], minlength=len(self.known))
        free = (labels >= 0) & (counts > 1)
        return tuple(  # type: ignore[return-value] # two of them
            (labels >= 0) & np.isin(labels, labels[free & side])
            for side in (self.maximise, ~self.maximise)
        )

    def _total_reward(self, objective: TotalReward) -> None:
        """Find where totals are infinite, and where nothing is earned."""
        model = self.model
        if objective.until is None:
            target, ended = model.is_terminal, slice(None)
        else:
            target = objective.until
            self.known[target] = 0.0
            ended = target[model.terminals]
        self.known[model.terminals[ended]] = model.payoffs[ended]
        if model.payoffs.any():
            self.ends = np.unique(np.append(model.payoffs[ended], 0.0))
        active = ~target[self.structure.owners]
        if objective.until is None:
            self._without_target(active)
        else:
            self._with_target(target, active)

    def _with_target(self, target: Flags, active: Flags) -> None:
        """Find infinite totals up to a target: missing the target counts plus infinity."""
        helps = np.zeros_like(target) if self.nobody_chooses else ~self.maximise
        sure = almost_sure(self.structure, helps, target, active)
        self.known[~sure.members] = np.inf
        self._choose(~sure.members & self.maximise, sure.via)
        # From elsewhere one may lead there as well, but need not.
        self.keep = sure.safe & sure.members[self.structure.owners]
        self.improper_value = np.inf
        if not self.one_sided:
            self._two_with_target(self.keep)
        # A player who does not want to get there can stay away from it nowhere else.
        elif helps.any():
            self._settle_cycles(self.keep)

    def _two_with_target(self, choices: Flags) -> None:
        """Find totals up to the target of two opponents, one of whom may keep play from it."""
        found = end_components(self.structure, np.isnan(self.known), choices)
        if found is None:
            return
        # A player may go round where all loses, as long as desired, and then reach the target.
        losing = self._force(choices, -1)
        self.keep = choices & ~leads_into(self.structure, losing)
        found = end_components(self.structure, np.isnan(self.known), self.keep)
        if found is None:
            return
        labels, stays = found
        signs, _ = self._signs(labels, stays, sign_for_all(self.model, stays, self.out_of_time))
        falls = stays & (signs[labels[self.structure.owners]] < 0)
        if falls.any():
            self._refuse_detours(int((falls & (np.asarray(self.model.rewards) < 0)).argmax()))
        self._settle_opponents(self.keep)

    def _without_target(self, active: Flags) -> None:
        """Find totals without a target: staying for ever counts its rewards, or 0 without any."""
        self.may_stop = True
        if not self.one_sided:
            self._two_without_target(active)
            return
        earning = self._settle_cycles(active)
        structure, everyone = self.structure, np.ones(self.model.num_states, np.bool_)
        unbounded = np.isinf(self.known)
        ends = self.model.is_terminal | earning
        if self.labels is not None:
            ends |= self.labels >= 0
        sure = almost_sure(structure, everyone, ends, active)
        if unbounded.any():
            wholly, _ = attractor(structure, everyone, earning, sure.safe)
            both = unbounded & ~(sure.members & wholly)
            if both.any():
                self._refuse_both_ways(int(both.argmax()))
        self.known[~sure.members] = -np.inf if self.maximise.all() else np.inf
        self.keep = sure.safe

    def _settle_cycles(self, choices: Flags) -> Flags:
        """Handle the end components of the only player who is left to choose.

        If staying earns, its total is infinite, and so is that of all states from where it can
        be reached. If nothing is earned, states are collapsed. If staying costs, nobody does.
        If rewards have both signs, the best average decides.

        Returns
        -------
        earning : (S,) bool
            The states of the end components of the first kind.
        """
        structure = self.structure
        earning = np.zeros(self.model.num_states, np.bool_)
        rewards = np.asarray(self.model.rewards)
        sign = 1.0 if self.maximise.all() else -1.0
        costs_alone = not (sign * rewards > 0).any()
        idle = choices & (rewards == 0)
        matters = idle if costs_alone else choices
        found = end_components(structure, np.isnan(self.known), matters)
        if found is None:
            return earning
        if not costs_alone:
            self._earn_for_ever(*found, sign, choices, earning)
            found = end_components(structure, np.isnan(self.known), idle)
        if found is not None:
            self.labels, self.stays = found
        return earning

    def _earn_for_ever(
        self, labels: Integers, stays: Flags, sign: float, choices: Flags, earning: Flags
    ) -> None:
        """Find the end components in which staying earns; fill in their states."""
        structure = self.structure
        policy = np.full(len(labels), -1, np.int64)
        gaps = np.full(self.model.num_choices, np.inf)

        def decide(members: Flags) -> int:
            gain = sign_of_gain(self.model, members, stays, sign, self.out_of_time)
            policy[members] = gain.policy[members]
            np.minimum(gaps, gain.gaps, out=gaps)
            return int(sign) * gain.sign

        # If all play goes up and down, no sweep is needed to decide.
        both = have_both_signs(self.model, labels, stays)
        self._make_flat(flat_parts(self.model, np.where(both, labels, NONE), stays))
        signs, mixed = signs_of_endless_play(self.model, labels, stays, decide)
        unsure = np.isin(labels, np.flatnonzero(signs == UNDECIDED))
        if unsure.any():
            self._make_flat(find_flat_parts(self.model, unsure, stays, gaps))
            self._refuse_mixed(int(unsure.argmax()))
        earning[labels >= 0] = sign * signs[labels[labels >= 0]] > 0
        if earning.any():
            everyone = np.ones(len(labels), np.bool_)
            unbounded, via = attractor(structure, everyone, earning, choices)
            self.known[unbounded] = sign * np.inf
            self._choose(unbounded, via)
            # Within, from one choice that earns to the next; or with the largest average reward.
            earns = stays & (sign * np.asarray(self.model.rewards) > 0)
            sources = first_choices(structure, earns)
            _, towards = attractor(structure, everyone, sources >= 0, stays)
            self._choose(earning, towards)
            self._choose(earning, sources)
            self._choose(earning & mixed, policy)

    def _make_flat(self, parts: FlatParts | None) -> None:
        """Have end components made flat, if there are any; the reduction then starts again."""
        if parts is not None:
            self.parts = parts
            raise _FlatPartsError

    def _signs(
        self, labels: Integers, stays: Flags, decide: Callable[[Flags], int]
    ) -> tuple[NDArray[np.int64], Flags]:
        """Return the signs of endless play, and where rewards have both; refuse open cases."""
        signs, mixed = signs_of_endless_play(self.model, labels, stays, decide)
        if (signs == UNDECIDED).any():
            self._refuse_mixed(int(np.isin(labels, np.flatnonzero(signs == UNDECIDED)).argmax()))
        return signs, mixed

    def _two_without_target(self, active: Flags) -> None:
        """Find totals of two opponents: infinite where one can force ever more, or ever less."""
        structure = self.structure
        if self.problem.lacks_draw:
            raise UnsupportedProblemError(self.original.undeclared())
        forced = [self._force(active, sign) for sign in (1, -1)]
        both = forced[0] & forced[1]
        if both.any():
            raise UndefinedTotalError(self._both_ways(int(both.argmax())))
        if forced[0].any() and forced[1].any():
            self._refuse_both_ways(int(forced[0].argmax()))
        self.keep = active & ~leads_into(structure, forced[0] | forced[1])
        self._settle_opponents(self.keep)

    def _force(self, choices: Flags, sign: int) -> Flags:
        """Set values to infinity where an opponent can force that with positive probability."""
        structure, rewards = self.structure, np.asarray(self.model.rewards)
        found = end_components(structure, ~self.model.is_terminal, choices)
        if found is None:
            return np.zeros(self.model.num_states, np.bool_)
        labels, stays = found
        signs, mixed = self._signs(labels, stays, sign_for_all(self.model, stays, self.out_of_time))
        # If rewards have both signs, all endless play earns, or loses.
        good = stays & (signs[labels[structure.owners]] == sign)
        good &= mixed[structure.owners] | (rewards != 0)
        helps = self.maximise if sign > 0 else ~self.maximise
        members, via = buchi_states(structure, helps, good, choices)
        self.known[members] = sign * np.inf
        self._choose(members, via)
        return members

    def _settle_opponents(self, choices: Flags) -> None:
        """Collapse where nothing is earned and one player alone chooses; find those with two."""
        self._collapse(choices & (np.asarray(self.model.rewards) == 0), choices)
        found = end_components(self.structure, np.isnan(self.known), choices)
        if found is None:
            return
        most, least = self._choosers(found[0], choices)
        self.improper_state = int((most & least).argmax()) if (most & least).any() else -1

    def _refuse_mixed(self, state: int) -> None:
        message = (
            "proves no totals where play may go on for ever and earns both positive and negative "
            f"rewards, as around state {self._name(state)}, unless their sum surely grows or "
            "falls without limit, or they cancel out on every cycle of one player: the average "
            "there is 0, or too close to 0 to tell. Discounted and AverageReward have an answer."
        )
        raise UnsupportedProblemError(message)

    def _refuse_rounds(self, state: int) -> None:
        message = (
            f"finds no total around state {self._name(state)}: play goes on for ever there, earns "
            "and loses in turn, and the sums go up and down without a limit. Use AverageReward, "
            "Discounted, or TotalReward with until."
        )
        raise UnsupportedProblemError(message)

    def _refuse_both_ways(self, state: int) -> None:
        raise UnsupportedProblemError(self._both_ways(state))

    def _both_ways(self, state: int) -> str:
        return (
            f"finds a total that is infinite both ways from state {self._name(state)}: it "
            "is undefined. Use AverageReward or Discounted."
        )

    def _refuse_detours(self, choice: int) -> None:
        state = self._name(int(self.structure.owners[choice]))
        (action,) = self.model.actions_of(choice, choice + 1)
        message = (
            "needs rewards of at least 0 where one of two opponents may keep play from its target "
            f"for ever; action {shown(action)} in {state} earns "
            f"{float(self.model.rewards[choice]):g}, and the player who must reach the target "
            "would rather prolong play there, as long as the other one allows it: no memoryless "
            "policy is optimal. Use Discounted, or FiniteHorizon."
        )
        raise UnsupportedProblemError(message)
