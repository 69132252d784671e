"""Deflation: bounds of games in which two opponents can prolong play for ever.

Applying Bellman's operator alone does not lower an upper bound where play can go on for ever: in an
end component, the maximiser keeps the value that the bound promises by never leaving. The bound is
therefore deflated from time to time: lowered to the value of leaving [1]_, [2]_. Let the minimiser
keep to the choices that are best by the lower bound, and consider the end components of the
remaining graph in which all rewards are zero. In each of them, the maximiser gets at most the value
of endless play, or that of the best exit: an upper bound, whichever choices the minimiser keeps to.
The lower bound is inflated in the same way, to the minimiser's best exit, with the maximiser
keeping to choices that are best by the upper bound.

**Theorem.** The bounds converge to each other, in exact arithmetic, if in each end component all
rewards have one sign, or all endless play has a positive average reward, or all of it a negative
one. The proof is in ``docs/explanation/deflation.md``.

References
----------
.. [1] E. Kelmendi, J. Krämer, J. Křetínský, M. Weininger, "Value iteration for simple stochastic
   games: stopping criterion and learning algorithm", CAV 2018.
.. [2] J. Křetínský, T. Meggendorfer, M. Weininger, "Stopping criteria for value iteration on
   stochastic games with quantitative objectives", LICS 2023.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gamedp.bellman import intervals
from gamedp.bellman.equation import sweep_jit
from gamedp.errors import UnsupportedProblemError
from gamedp.graph.sets import almost_sure, end_components
from gamedp.graph.structure import Structure
from gamedp.model.objectives import TotalReward
from gamedp.model.problem import Problem
from gamedp.reduction import OutOfTimeError
from gamedp.reduction.unfolding import fix
from gamedp.results.status import Status
from gamedp.runtime.limit import Limit, Reporter
from gamedp.solvers.tools.bound_pair import BoundPair
from gamedp.solvers.tools.end_components import ragged
from gamedp.solvers.tools.opponents import Opponents
from gamedp.solvers.tools.prepared import Prepared, prepare, solve_process
from gamedp.solvers.tools.run import Run, RunResult, finer_tolerance
from gamedp.solvers.tools.strategies import improve_strategies

if TYPE_CHECKING:
    from gamedp.runtime.arrays import Flags, Floats, Integers


SWEEPS_BEFORE_POLICIES = 1000
"""Sweeps over a component after which its policies are evaluated; then four times as many."""


def bound_by_deflation(run: Run, max_sweeps: int) -> None:
    """Bound the values of a run in which two opponents can keep each other from an end.

    Parameters
    ----------
    run : Run
        A run whose problem :attr:`~gamedp.Problem.needs_deflation`.
    max_sweeps : int
        Largest number of sweeps over one component.
    """
    pair = _Deflating(run, max_sweeps)

    def narrow(number: int) -> None:
        if not pair.is_finite(number):
            pair.keep_to_policies()
        if not pair.is_finite(number):
            pair.improve_policies()
        if pair.is_finite(number):
            pair.narrow(number)

    pair.go_through(narrow)


class _Deflating(BoundPair):
    """Bounds that are deflated where needed."""

    def __init__(self, run: Run, max_sweeps: int) -> None:
        super().__init__(run, max_sweeps)
        model = run.problem.model
        self.improper_value: float = run.problem.improper_value  # type: ignore[assignment] # not None here
        structure = model.structure
        self.idle = structure.stays & (np.asarray(model.rewards) == 0)
        self.inside = np.zeros(model.num_choices, np.bool_)
        self.replies = np.full(model.num_states, -1, np.int64)
        self._number = -1
        self._start: tuple[Floats, Floats] | None = None
        self._improved = False
        if self.improper_value == np.inf:
            # Before anything is known, the player who must not stay for ever keeps to an exit.
            ends = np.diff(model.choice_offsets) == 0
            everything = np.ones(model.num_choices, np.bool_)
            least = ~run.equation.maximise
            sure = almost_sure(structure, least, ends, everything)
            run.policy[least] = sure.via[least]

    def _surround(self, number: int) -> None:
        """Bound a component by what it leads to, and by the value of endless play."""
        super()._surround(number)
        states = self.states(number)
        ends = self.run.problem.model.structure.end_component[states] >= 0
        if np.isfinite(self.improper_value) and ends.any():
            np.minimum.at(self.lower, states, self.improper_value)
            np.maximum.at(self.upper, states, self.improper_value)
        self._number = number
        self._take_start()

    def _take_start(self) -> None:
        """Narrow the component's bounds to those that policies prove, if these were found."""
        if self._start is None:
            return
        states = self.states(self._number)
        self.lower[states] = np.maximum(self.lower[states], self._start[0][states])
        self.upper[states] = np.minimum(self.upper[states], self._start[1][states])

    def keep_to_policies(self) -> None:
        """Bound all states by the guarantees of fixed policies, one for each side.

        The policies are those that look best after some sweeps, and after more of them as long as
        a bound is infinite.
        """
        if self._start is not None:
            return
        run, equation = self.run, self.run.equation
        model = run.problem.model
        lower = np.full(model.num_states, -np.inf)
        upper = np.full(model.num_states, np.inf)
        values, policy = run.values.copy(), run.policy.copy()
        if self.improper_value == np.inf:
            self._keep_to(policy, ~equation.maximise, lower, upper)
        sweeps, due = 0, 1
        while not (np.isfinite(lower).all() and np.isfinite(upper).all()):
            sweep_jit(0, model.num_states, equation, values, policy)
            run.visits[0] += model.num_states
            sweeps += 1
            if sweeps == due:
                due *= 2
                for side in (equation.maximise, ~equation.maximise):
                    self._keep_to(policy, side, lower, upper)
            if self.limit_reached(sweeps) or sweeps == 16 * SWEEPS_BEFORE_POLICIES:
                break
        self._start = lower, upper
        self._take_start()

    def improve_policies(self) -> None:
        """Bound all states by policies that are improved against each other, if possible.

        Bounds that sweeps do not reach, or 64-bit numbers cannot prove by residuals, may be found
        by strategy iteration; it is tried once.
        """
        run = self.run
        if self._improved or run.out_of_time:
            return
        self._improved = True
        model = run.problem.model
        ends = np.diff(model.choice_offsets) == 0
        until = ends if self.improper_value == np.inf else None
        problem = Problem(model, TotalReward(run.problem.objective.optimum, until=until))
        limit = Limit(max(run.max_seconds - run.reporter.spent, 1e-3))
        prepared = prepare(problem)
        try:
            prepared.decide_opponents(limit)
        except OutOfTimeError:
            return
        if not isinstance(prepared.opponents, Opponents):
            return
        least_share = 0.9 * run.tolerance / max(1, len(self._cyclic_levels))
        answer = _bound_opponents(prepared, least_share, limit.left, relative=run.relative)
        states = np.asarray(self.states(self._number))
        known = np.isfinite(answer.lower) & np.isfinite(answer.upper)
        before = self.upper[states] - self.lower[states]
        if not known.all() or not (answer.upper - answer.lower)[states].max() < before.max():
            return
        # All of it: its policies keep its bounds in these states and in those they lead to.
        self._start = answer.lower, answer.upper
        self.lower[:], self.upper[:] = self._start
        run.policy[:] = answer.policy

    def _keep_to(self, policy: Integers, who: Flags, lower: Floats, upper: Floats) -> None:
        """Replace infinite bounds by those of the problem in which one side keeps to a policy."""
        run = self.run
        bounds = lower if (who == run.equation.maximise).all() else upper
        if np.isfinite(bounds).all():
            return
        size = float(np.abs(run.problem.model.rewards).max(initial=0.0))
        proven = self._proven_by(policy, who, size)
        better = ~np.isfinite(bounds) & np.isfinite(proven)
        bounds[better] = proven[better]
        run.policy[better & who] = policy[better & who]

    def _proven_by(self, policy: Integers, who: Flags, tolerance: float) -> Floats:
        """Return what players who keep to a policy get at least, or let the others get at most."""
        run, model = self.run, self.run.problem.model
        # Later states lead here, and none of these leads there: any choice will do.
        fixed, _ = fix(model, np.where(policy < 0, model.choice_offsets[:-1], policy), who)
        ends = np.diff(model.choice_offsets) == 0
        until = ends if self.improper_value == np.inf else None
        problem = Problem(fixed, TotalReward(run.problem.objective.optimum, until=until))
        left = max(run.max_seconds - run.reporter.spent, 1e-3)
        maximises = bool((who == run.equation.maximise).all())
        try:
            answer = solve_process(problem, tolerance, left)
        except UnsupportedProblemError:  # a policy that keeps nobody from losing all
            return np.full(model.num_states, -np.inf if maximises else np.inf)
        return answer.lower if maximises else answer.upper

    def evaluate_policies(self, number: int) -> None:
        """Narrow a component's bounds to those that linear systems prove of its policies.

        They are those that attain the bounds so far, and the replies to the opposite bounds.
        """
        run, states = self.run, np.asarray(self.states(number), np.int64)
        apart = float((self.upper[states] - self.lower[states]).max())
        for most in (True, False):
            who = run.equation.maximise == most
            mine = states[who[states]]
            replies = run.policy.copy()
            opposite = self.upper if most else self.lower
            intervals.reply_jit(mine, run.equation, opposite, most, replies)
            for policy in (run.policy.copy(), replies):
                proven = self._proven_by(policy, who, 1e-6 * apart)
                bounds = self.lower if most else self.upper
                narrower = proven > bounds if most else proven < bounds
                narrower[np.setdiff1d(np.arange(len(who)), states)] = False
                bounds[narrower] = proven[narrower]
                run.policy[narrower & who] = policy[narrower & who]

    def narrow(self, number: int) -> None:
        """Sweep and deflate until the bounds are close, nothing moves, or a limit is reached.

        If play hardly ever leaves, sweeps take as long as play does; linear systems do not.
        """
        run = self.run
        start, stop = run.component(number)
        part = _ComponentPart(self, number)
        allowed = self.share(number)
        moved, sweeps, due, patience = 1, 0, 1, SWEEPS_BEFORE_POLICIES
        while not sweeps or (moved and self.width(number) > allowed):
            moved = intervals.narrow_jit(
                start, stop, run.equation, self.lower, self.upper, run.policy
            )
            run.visits[0] += stop - start
            sweeps += 1
            if sweeps >= due or not moved:
                moved += part.deflate()
                due = sweeps + 1 + sweeps // 8
            if sweeps == patience and moved and self.width(number) > allowed:
                if patience > SWEEPS_BEFORE_POLICIES:
                    self.improve_policies()
                self.evaluate_policies(number)
                patience *= 4
            run.reporter.report(sweeps, None, f"component {number:,}: {moved:,} bounds moved")
            if self.limit_reached(sweeps):
                return
        if self.width(number) > allowed:
            self.improve_policies()


class _ComponentPart:
    """The states of a component among which play can stay without earning anything."""

    def __init__(self, pair: _Deflating, number: int) -> None:
        self.pair = pair
        model = pair.run.problem.model
        structure = model.structure
        states = np.sort(np.asarray(pair.states(number), np.int64))
        self.states = states[structure.end_component[states] >= 0]
        choices = ragged(model.choice_offsets, self.states)
        self.choices = choices[pair.idle[choices]]
        place = np.full(model.num_states, -1, structure.successors.dtype)
        place[self.states] = np.arange(len(self.states))
        self.owners = place[structure.owners[self.choices]]
        transitions = ragged(model.transition_offsets, self.choices)
        lengths = np.diff(model.transition_offsets)[self.choices]
        counts = np.bincount(self.owners, minlength=len(self.states))
        self.structure = Structure.of(
            choice_offsets=np.concatenate([[0], np.cumsum(counts)]),
            transition_offsets=np.concatenate([[0], np.cumsum(lengths)]),
            successors=place[model.successors[transitions]],
        )
        self.sets: dict[bool, tuple[Integers, Integers, Integers]] = {}

    def deflate(self) -> int:
        """Lower upper bounds, and raise lower ones; return how many moved."""
        pair, moved = self.pair, 0
        if not len(self.choices):
            return moved
        for side, bounds in ((True, pair.lower), (False, pair.upper)):
            if (np.inf if side else -np.inf) == pair.improper_value:
                continue
            equation = pair.run.equation
            changed = intervals.reply_jit(self.states, equation, bounds, not side, pair.replies)
            if changed or side not in self.sets:
                self.sets[side] = self._end_components(side)
            offsets, members, stays = self.sets[side]
            pair.inside[stays] = True
            moved += intervals.deflate_jit(
                offsets,
                members,
                pair.inside,
                equation,
                pair.lower,
                pair.upper,
                side,
                pair.improper_value,
                pair.replies,
                pair.run.policy,
            )
            pair.inside[stays] = False
        return moved

    def _end_components(self, side: bool) -> tuple[Integers, Integers, Integers]:
        """Find the end components if one side keeps to its replies.

        Returns
        -------
        offsets, members
            The states of each of them.
        stays
            The choices that stay in them.
        """
        mine = self.pair.run.equation.maximise[self.states][self.owners] == side
        kept = self.pair.replies[self.states][self.owners] == self.choices
        everywhere = np.ones(len(self.states), np.bool_)
        found = end_components(self.structure, everywhere, mine | kept)
        if found is None:
            return np.zeros(1, np.int64), self.states[:0], self.choices[:0]
        labels, stays = found
        sequence = np.argsort(labels, kind="stable")
        sequence = sequence[np.searchsorted(labels[sequence], 0) :]
        offsets = np.concatenate([[0], np.cumsum(np.bincount(labels[sequence]))])
        return offsets, self.states[sequence], self.choices[stays]


def _bound_opponents(
    prepared: Prepared, tolerance: float, max_seconds: float, *, relative: bool
) -> RunResult:
    """Bound a game by policies that are improved, and by rational numbers if that helps.

    Parameters
    ----------
    prepared : Prepared
        A problem whose opponents are settled.
    tolerance : float
    max_seconds : float
        Time limit.
    relative : bool
        Whether that is `tolerance` times the absolute value, for each state: then it is repeated
        with a smaller absolute one, as long as that helps.
    """
    opponents = prepared.opponents
    assert isinstance(opponents, Opponents)  # noqa: S101 - settled
    reporter = Reporter(None, "solve")
    absolute = tolerance
    while True:
        answer = improve_strategies(
            prepared.problem, opponents, absolute, reporter, max_seconds=max_seconds
        )
        if answer.status is Status.ROUNDING:
            from gamedp.solvers.tools.exact.work import narrowed  # noqa: PLC0415 - rare

            answer = narrowed(prepared, answer, absolute, max_seconds, reporter)
        if not relative or answer.status is not Status.SOLVED:
            return answer
        finer = finer_tolerance(answer.lower, answer.upper, tolerance)
        if not 0 < finer < absolute:
            return answer
        absolute = finer
