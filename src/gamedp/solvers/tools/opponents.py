"""Strategy improvement: one of two opponents improves a policy against the other's best replies.

Bellman's equation has many solutions if two opponents can keep each other in an end component.
But against a fixed policy of one, the other has a decision process with one answer, which the
reduction makes proper. Therefore one of the two, the improver, holds a policy that is improved
where a choice is strictly better by the values v of the best answer. Whether the policy is the
best one when no choice is better depends on the value of endless play to the improver:

* Minus infinity (a total until a target, for the minimiser): improved policies keep reaching
  the target, if no end component earns the improver anything. In the end v is attained by one, and
  whatever the other one does by choices that v calls best, nobody can improve on it.
* The rewards, and 0 from then on (no target): the same, except that v may be below 0 where waiting
  for ever would get 0. Let N be the states with v < 0. If with choices that v calls best the
  opponent cannot force play out of N, the improver can keep it there for ever, which gets 0: a
  better policy. If the opponent can, that is its best answer to everything, and v is the value.
  This requires end components that bring the improver no losses: rewards that are never negative,
  or that surely add up to ever more.
* Nothing, with no value below 0 (the probability of reaching a target): the same; there is no N.

In all three, the sum of the rewards and of v at the state reached never falls, on
average, under the improved policy; and play that stays in an end component under it was possible
before, or earns for ever: so no state's value falls, and no policy recurs [1]_, [2]_.

References
----------
.. [1] A. Condon, "On algorithms for simple stochastic games", DIMACS Series 13 (1993).
.. [2] K. Chatterjee, L. de Alfaro, T. Henzinger, "Termination criteria for solving concurrent
   safety and reachability games", SODA 2009.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

from gamedp.errors import shown
from gamedp.graph.sets import almost_sure, attractor, end_components, first_choices, leads_into
from gamedp.model.objectives import (
    AverageReward,
    Discounted,
    FiniteHorizon,
    Reachability,
    TotalReward,
    over_in,
)
from gamedp.model.problem import Problem
from gamedp.reduction import OutOfTimeError, Reduction
from gamedp.reduction.gains import UNDECIDED, sign_for_all, signs_of_endless_play
from gamedp.reduction.unfolding import fix, unfold
from gamedp.solvers.request import Refusal, Undecided, refused_endless_value, refused_opponents

if TYPE_CHECKING:
    from collections.abc import Callable

    from gamedp.graph.structure import Structure
    from gamedp.model.model import Model
    from gamedp.model.objectives import Objective
    from gamedp.runtime.arrays import Flags, Integers


@attrs.frozen(eq=False)
class Opponents:
    """A problem of two opponents, and the improver's initial policy.

    Attributes
    ----------
    problem : Problem
        Unfolded if players change places: it has S states, and no transition is negative.
    improver : (S,) bool
        The improver's states; none at all if only one side has anything to choose.
    sign : int
        1 if the improver wants the values to be large, -1 if small.
    start : (S,)
        The improver's initial policy, and some choice of each other state.
    may_wait : bool
        Whether the value of endless play is the sum of its rewards.
    lost : (S,) bool
        The states in which the opponent of `start` forces infinity, whatever the improver does.
    over : (S,) bool
        The states at which play is decided, by the objective: all keep to `start` there.
    """

    problem: Problem
    improver: Flags
    sign: int
    start: Integers
    may_wait: bool
    lost: Flags
    over: Flags

    @property
    def improves(self) -> Flags:
        """The choices that an improved policy may have; (C,)."""
        return (self.improver & ~self.over)[self.model.structure.owners]

    @property
    def earns(self) -> bool:
        """Whether rewards and payoffs count."""
        return not isinstance(self.problem.objective, Reachability)

    @property
    def model(self) -> Model:
        """The unfolded model."""
        return self.problem.model

    def kept(self, policy: Integers, who: Flags) -> tuple[Problem, Integers]:
        """Return the problem that is left if some players keep to a policy, and its choices."""
        if not (who | self.over).any():
            return self.problem, np.arange(self.model.num_choices)
        fixed, rows = fix(self.model, np.where(self.over, self.start, policy), who | self.over)
        return attrs.evolve(self.problem, model=fixed), rows

    def answer(self, policy: Integers, waiting: Integers) -> Integers:
        """Return the policy of the opponent's best answer, where the improver keeps to `policy`.

        Parameters
        ----------
        policy : (S,)
            The opponent's choices against the improver's policy.
        waiting : (S,)
            As :meth:`escapes` returns it.
        """
        policy = np.where(~self.improver & (waiting >= 0), waiting, policy)
        return np.where(~self.improver & self.lost, self.start, policy)

    def escapes(self, below: Flags, best: Flags) -> tuple[Flags, Integers]:
        """Find where the improver can wait for ever among states whose values are less than that.

        Parameters
        ----------
        below : (S,) bool
            The states whose value to the improver is less than 0.
        best : (C,) bool
            The choices that the values call best.

        Returns
        -------
        stuck : (S,) bool
            Where the improver can keep play.
        via : (S,)
            For the improver in those states, the choice that keeps it there; for the opponent in
            the others of `below`, the one by which it gets out. -1 elsewhere.
        """
        structure = self.model.structure
        below = below & (np.diff(self.model.choice_offsets) > 0)
        if not self.may_wait or not below.any():
            return np.zeros_like(below), np.full(len(below), -1, np.int64)
        active = best & below[structure.owners]
        out, via = attractor(structure, ~self.improver, ~below, active)
        stuck = below & ~out
        keeps = first_choices(structure, active & ~leads_into(structure, out))
        return stuck, np.where(stuck & self.improver, keeps, np.where(out, via, -1))


def find_opponents(
    problem: Problem,
    out_of_time: Callable[[], bool],
    reduce: Callable[[Problem], Reduction | Refusal | Undecided | None],
) -> Opponents | Refusal | Undecided:
    """Return the opponents of a problem, or why policies are not improved against each other.

    Parameters
    ----------
    problem : Problem
    out_of_time : callable
        Called before numbers are iterated, and now and then on the way; returns whether to stop.
    reduce : callable
        Returns the reduction that makes a problem proper, within that time.

    Returns
    -------
    Undecided
        If no time is left to find it out.
    """
    if refusal := _refused_at_once(problem):
        return Refusal(refusal)
    original = problem
    problem = _unfolded(problem)
    maximise = problem.maximise
    over = _over(problem)
    free = (np.diff(problem.model.choice_offsets) > 1) & ~over
    if not maximise[free].all() and maximise[free].any():
        try:
            return _Finder(problem, original, maximise, over, out_of_time).find()
        except OutOfTimeError:
            return Undecided()
    nobody = np.zeros(len(over), np.bool_)
    start = first_choices(problem.model.structure, np.ones(problem.model.num_choices, np.bool_))
    opponents = Opponents(problem, nobody, 1, start, False, nobody, over)
    found = reduce(opponents.kept(start, nobody)[0])
    if isinstance(found, Reduction):
        return refused_opponents(found) if found.problem.needs_deflation else opponents
    return opponents if found is None else found


def _refused_at_once(problem: Problem) -> str:
    """Return why a problem is not for opponents, whatever its graph; empty if it may be."""
    if isinstance(problem.objective, FiniteHorizon):
        return "does not support finite horizons; BackwardInduction does."
    if isinstance(problem.objective, AverageReward):
        return "does not support long-run averages; RelativeValueIteration does."
    if problem.model.is_general_sum:
        return "is for one player or two opponents; BackwardInduction supports more."
    return refused_endless_value(problem)


def _over(problem: Problem) -> Flags:
    """Return the states at which the objective ends."""
    over = over_in(problem.objective)
    return np.zeros(problem.model.num_states, np.bool_) if over is None else over


def _unfolded(problem: Problem) -> Problem:
    if not problem.model.has_swaps:
        return problem
    # Problems with targets have no players who change places.
    return attrs.evolve(problem, model=unfold(problem.model))


@attrs.frozen(eq=False)
class _Finder:
    """Finds the improver and its initial policy, where two sides have something to choose."""

    problem: Problem
    original: Problem
    maximise: Flags
    over: Flags
    out_of_time: Callable[[], bool]

    @property
    def structure(self) -> Structure:
        return self.problem.model.structure

    def find(self) -> Opponents | Refusal:
        """Return the opponents, or why there are none."""
        objective: Objective = self.problem.objective
        if isinstance(objective, Reachability):
            return self._reachability(objective)
        if isinstance(objective, TotalReward) and objective.until is not None:
            return self._until()
        if isinstance(objective, Discounted) or self.structure.always_ends:
            return self._made(maximise=True, via=None)
        return self._total()

    def _made(
        self,
        *,
        maximise: bool,
        via: Integers | None,
        may_wait: bool = False,
        lost: Flags | None = None,
    ) -> Opponents:
        start = first_choices(self.structure, np.ones(self.problem.model.num_choices, np.bool_))
        if via is not None:
            start = np.where(via >= 0, via, start)
        return Opponents(
            self.problem,
            self.maximise if maximise else ~self.maximise,
            1 if maximise else -1,
            start,
            may_wait,
            np.zeros(len(start), np.bool_) if lost is None else lost,
            self.over,
        )

    def _reachability(self, objective: Reachability) -> Opponents:
        """Let the player who wants to reach the target improve, from a policy that attracts."""
        active = ~self.over[self.structure.owners]
        _, via = attractor(self.structure, self.maximise, objective.target, active)
        return self._made(maximise=True, via=via)

    def _until(self) -> Opponents | Refusal:
        """Let the player who must reach the target improve, from a policy that surely does."""
        target = self.over
        active = ~target[self.structure.owners]
        sure = almost_sure(self.structure, ~self.maximise, target, active)
        found = end_components(self.structure, sure.members & ~target, sure.safe)
        below = np.zeros(len(active), np.bool_)
        if found is not None:
            labels, stays = found
            signs, mixed = self._signs(labels, stays)
            rewards = np.asarray(self.problem.model.rewards)
            earns = mixed & (np.append(signs, 0)[labels] == 1)
            below = stays & (rewards < 0) & ~earns[self.structure.owners]
        if below.any():
            return self._refusal(
                below,
                "needs rewards of at least 0 where play may be kept from its target for ever",
                "the player who must reach it would rather prolong play there: no memoryless "
                "policy is optimal. Use Discounted, or FiniteHorizon.",
            )
        return self._made(maximise=False, via=sure.via, lost=~sure.members)

    def _total(self) -> Opponents | Refusal:
        """Let the player improve to whom no end component brings losses."""
        model = self.problem.model
        if self.problem.lacks_draw:
            return Refusal(self.original.undeclared())
        if self.problem.improper_is_worst:
            return Refusal("takes problems as they are, not reduced ones.")
        labels, stays = np.asarray(self.structure.end_component), self.structure.stays
        signs, mixed = self._signs(labels, stays)
        if (signs == UNDECIDED).any() or ((signs > 0).any() and (signs < 0).any()):
            return self._refusal(
                stays & (model.rewards < 0),
                "needs rewards of one sign where play may go on for ever",
                "others are above 0. Use IntervalIteration, Discounted, or FiniteHorizon.",
            )
        maximise = not (signs < 0).any()
        sign = 1 if maximise else -1
        good = mixed.copy()
        good[model.terminals] = sign * model.payoffs > 0
        good[self.structure.owners[stays & (model.rewards != 0)]] = True
        everything = np.ones(model.num_choices, np.bool_)
        improver = self.maximise if maximise else ~self.maximise
        _, via = attractor(self.structure, improver, good, everything)
        return self._made(maximise=maximise, via=via, may_wait=True)

    def _signs(self, labels: Integers, stays: Flags) -> tuple[Integers, Flags]:
        """Return whether endless play earns in each end component, and where it also loses."""
        model = self.problem.model
        decide = sign_for_all(model, stays, self.out_of_time)
        return signs_of_endless_play(model, labels, stays, decide)

    def _refusal(self, choices: Flags, need: str, reason: str) -> Refusal:
        choice = int(choices.argmax())
        model = self.problem.model
        place = self._state(int(self.structure.owners[choice]))
        (action,) = model.actions_of(choice, choice + 1)
        reward = float(model.rewards[choice])
        side = " (with the players' places changed)" if self.original.model.has_swaps else ""
        return Refusal(
            f"{need}; action {shown(action)} in {place}{side} earns {reward:g}, and {reason}"
        )

    def _state(self, state: int) -> str:
        model = self.original.model
        return repr(model.state(state % model.num_states))
