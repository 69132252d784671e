"""The long-run average: the gain of every end component, then the way to the best one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

from gamedp.bellman import average
from gamedp.model.objectives import AverageReward
from gamedp.model.problem import Problem
from gamedp.results.solution import Solution
from gamedp.results.status import Status, width_of
from gamedp.runtime.floats import UNIT
from gamedp.runtime.limit import ProgressCallback, Reporter
from gamedp.runtime.options import positive, whole_and_positive
from gamedp.runtime.slices import END_COMPONENTS
from gamedp.solvers.request import Support
from gamedp.solvers.tools.base import make_solution, require
from gamedp.solvers.tools.end_components import (
    EndComponents,
    best_policy,
    equation_of,
    is_easy_to_eliminate,
)
from gamedp.solvers.tools.prepared import support_of_averages
from gamedp.solvers.tools.run import check_range
from gamedp.solvers.tools.ways import Found, Ways

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Biases = tuple[NDArray[np.float64], NDArray[np.float64]]

MAX_STATES_IN_KERNEL = 1 << 14
"""Largest number of states of an end component swept within a kernel; others sweep by sweep."""

MAX_QUICK_SWEEPS = 128
"""Sweeps after which a small end component is considered slow to mix."""

SWEEPS_BEFORE_ATTEMPT = 512
"""Sweeps after which a large one is."""


@attrs.frozen(kw_only=True)
class RelativeValueIteration:
    """The expected reward per step in the long run, for one player, on any model.

    If play goes on for ever, it stays in an end component eventually [1]_, and in each maximal
    one the best gain is the same for all of its states. It is found by sweeps over the component
    alone, some of them along the policy; the bounds ``min(Tv - v) <= gain <= max(Tv - v)`` hold for
    any values v that the sweeps reach (Odoni; Puterman [2]_, theorem 8.5.5), and the lower
    one is a lower bound of the greedy policy's gain. In a component of few states, v are biases of
    policies, by elimination. The sweeps move only in part, so that periodic chains converge as well
    (Schweitzer). If they converge slowly, policies are evaluated by linear systems: these only
    propose values, for which the same bounds are proven.

    What remains is to reach the best component: a total reward, earned by staying in one, on the
    model in which each is a single state. Sweeps along policies propose its values, and expected
    numbers of steps prove bounds around them. If play takes long to get there,
    :class:`TopologicalValueIteration` solves that model.

    The solution has `biases`: numbers h with which anyone can check the bounds g, for a maximum by
    ``g(s) >= sum(P * g)`` and ``g(s) + h(s) >= r + sum(P * h)`` for all choices (above) and the
    opposite for those of the policy (below) [2]_, theorem 9.1.2.

    Parameters
    ----------
    max_sweeps : int
        Largest number of sweeps over one end component, and over one component of the ways to them.
    max_seconds : float
        Time limit.

    References
    ----------
    .. [1] L. de Alfaro, "Formal verification of probabilistic systems", PhD thesis, Stanford
       University, 1997.
    .. [2] M. Puterman, "Markov Decision Processes", Wiley 1994, sections 8.5 and 9.1.

    Examples
    --------
    A machine that runs, earning 10, breaks down with probability 1/10, and is repaired in one step
    for 20: it runs in 10 steps of 11.

    >>> import gamedp
    >>> model = gamedp.Model.from_arrays(
    ...     [0, 1, 2], [0, 2, 3], [0, 1, 0], [0.9, 0.1, 1.0], rewards=[10.0, -20.0]
    ... )
    >>> solution = gamedp.solve(model, gamedp.AverageReward(), tolerance=1e-9)
    >>> round(solution.value(), 9) == round(80 / 11, 9)
    True
    """

    max_sweeps: int = attrs.field(default=1_000_000, validator=whole_and_positive)
    max_seconds: float = attrs.field(default=float("inf"), validator=positive)

    def supports(self, problem: Problem) -> Support:
        """Return whether this solver supports the problem, and why not."""
        if not isinstance(problem.objective, AverageReward):
            kind = type(problem.objective).__name__
            return Support(False, f"is for AverageReward, not for {kind}.")
        return support_of_averages(problem)

    @np.errstate(over="ignore", invalid="ignore")  # an overflow is refused at the end
    def solve(
        self, problem: Problem, *, tolerance: float, progress: ProgressCallback | None = None
    ) -> Solution:
        """Solve the problem so that every value is known within `tolerance`."""
        require(self, problem)
        search = _GainSearch(self, problem, tolerance, Reporter(progress, "solve"))
        search.find_gains()
        return search.solution()


@attrs.define(eq=False, slots=False)
class _GainSearch:
    """The solver at work."""

    solver: RelativeValueIteration
    problem: Problem
    tolerance: float
    reporter: Reporter

    def __attrs_post_init__(self) -> None:
        problem, model = self.problem, self.problem.model
        mover = (model.choice_offsets[1:] > model.choice_offsets[:-1]).argmax()
        self.sign = 1.0 if problem.maximise[mover] else -1.0
        self.parts = EndComponents.of(model, self.sign)
        # Half of the tolerance is for the gains, the other half for the ways to them.
        self.allowed = 0.5 * self.tolerance
        size = len(self.parts.states)
        self.values, self.new_values = np.zeros((2, size))
        self.policy = np.full(size, -1, np.int64)
        self.bounds = np.zeros((len(self.parts.offsets) - 1, 2))
        self.visits = np.zeros(1, np.int64)
        self.status = Status.SOLVED

    def out_of_time(self) -> bool:
        return self.reporter.spent > self.solver.max_seconds

    def find_gains(self) -> None:
        """Find bounds of the gain of each end component."""
        total = len(self.bounds)
        number = 0
        while number < total:
            late = self.out_of_time()
            stopped = average.settle_jit(
                number,
                min(total, number + END_COMPONENTS),
                self.parts.offsets,
                MAX_STATES_IN_KERNEL,
                1 if late else min(MAX_QUICK_SWEEPS, self.solver.max_sweeps),
                np.inf if late else self.allowed,
                self.parts.equation,
                self.values,
                self.new_values,
                self.policy,
                self.bounds,
                self.visits,
            )
            if late:
                self.status = Status.TIME_LIMIT
            if stopped < min(total, number + END_COMPONENTS):
                self._settle(stopped)
                stopped += 1
            number = stopped
            self.reporter.report(number, total, f"{number:,} of {total:,} end components")

    def _settle(self, number: int) -> None:
        """Sweep over one end component until its gain is known, or a limit is reached."""
        start, stop = self.parts.offsets[number : number + 2].tolist()
        size = stop - start
        attempt = 1 if size <= MAX_STATES_IN_KERNEL else SWEEPS_BEFORE_ATTEMPT
        shift, before, repeats = 0.0, np.inf, average.REPEATS
        for sweep in range(1, self.solver.max_sweeps + 1):
            noise = self._sweep(number, shift)
            lowest, highest = self.bounds[number].tolist()
            self.reporter.report(
                sweep, None, f"end component {number:,}: {size:,} states, ± {highest - lowest:.2e}"
            )
            # Sweeps achieve nothing more once the rounding of the values themselves dominates.
            coarse = 4 * UNIT * float(np.abs(self.values[start:stop]).max())
            if highest - lowest <= max(self.allowed, 4 * noise, coarse):
                return
            if self.out_of_time():
                self.status = Status.TIME_LIMIT
                return
            if sweep == self.solver.max_sweeps:
                self.status = Status.SWEEP_LIMIT
                return
            shift = lowest + 0.5 * (highest - lowest)
            if sweep == attempt:
                attempt *= 8
                if self._propose(number):
                    continue
            if sweep > 1 and not highest - lowest <= 0.9 * before:
                repeats //= 2
            before = highest - lowest
            average.follow_jit(
                start,
                stop,
                shift,
                repeats,
                self.parts.equation,
                self.values,
                self.new_values,
                self.policy,
            )
            self.visits[0] += repeats * size

    def _sweep(self, number: int, shift: float) -> float:
        start, stop = self.parts.offsets[number : number + 2].tolist()
        lowest, highest, noise = average.sweep_jit(
            start, stop, shift, self.parts.equation, self.values, self.new_values, self.policy
        )
        self.visits[0] += stop - start
        self.bounds[number] = lowest, highest
        return float(noise)

    def _propose(self, number: int) -> bool:
        """Take the biases of the best policy if they prove more than the values do."""
        start, stop = self.parts.offsets[number : number + 2].tolist()
        equation = self.parts.part(number)
        if not is_easy_to_eliminate(equation.graph):
            return False
        first = self.parts.equation.graph.choice_offsets[start]
        biases = best_policy(
            equation, self.policy[start:stop] - first, 0.1 * self.allowed, self.out_of_time
        )
        if biases is None:
            return False
        before = self.bounds[number].copy()
        kept = self.values[start:stop].copy()
        following = self.new_values[start:stop].copy()
        self.values[start:stop] = biases
        self._sweep(number, float(before.mean()))
        if np.diff(self.bounds[number]) < np.diff(before):
            return True
        self.values[start:stop], self.new_values[start:stop] = kept, following
        self.bounds[number] = before
        return False

    def solution(self) -> Solution:
        """Find the ways to the best components, and return the solution."""
        model, sweeps = self.problem.model, self.solver.max_sweeps
        ways = Ways.of(model, self.sign, self.parts)
        self._check_range()
        # A fifth for the ways; a tenth for rounding.
        found = ways.bounds(
            self.bounds, self.allowed, 0.2 * self.tolerance, self._seconds_left, sweeps
        )
        if self.status is Status.SOLVED:
            self.status = found.status
        policy, stays = ways.policy(found.exits, self.policy)
        lower, upper, biases = self._with_biases(ways, found, policy, stays)
        if self.sign < 0:
            lower, upper = 0.0 - upper, 0.0 - lower  # without negative zeros
            biases = None if biases is None else (-biases[1], -biases[0])
        return self._put_together(lower, upper, policy, biases)

    def _seconds_left(self) -> float:
        return max(1e-3, self.solver.max_seconds - self.reporter.spent)

    def _check_range(self) -> None:
        """Raise InvalidModelError if rewards are so large that their sums overflow."""
        if np.isfinite(np.add.reduce(self.bounds, axis=None)):
            return
        gains = np.zeros(self.problem.model.num_states)
        gains[self.parts.states] = np.repeat(
            np.abs(self.bounds).max(axis=1), np.diff(self.parts.offsets)
        )
        check_range(self.problem.model, gains)

    def _with_biases(
        self,
        ways: Ways,
        found: Found,
        policy: NDArray[np.int64],
        stays: NDArray[np.bool_],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], Biases | None]:
        """Return the bounds and biases that prove them.

        Rounding errors of the biases are covered by the bounds: a constant added to all of them
        changes nothing else. If the bounds were then too wide, there are no biases: 64-bit numbers
        are too coarse for them.
        """
        model = self.problem.model
        lower, upper = found.lower[ways.node], found.upper[ways.node]
        values = np.zeros(model.num_states)
        values[self.parts.states] = self.values
        low = ways.lower_biases(lower, values, policy, stays, self.tolerance, self._seconds_left)
        high = ways.upper_biases(upper, values, self.tolerance, self._seconds_left)
        if low is None or high is None:
            return lower, upper, None
        equation, most = equation_of(model, self.sign), 0.95 * self.tolerance
        if not average.cover_jit(equation, lower, upper, low, high, policy, most):
            return lower, upper, None
        return lower, upper, (low, high)

    def _put_together(
        self,
        lower: NDArray[np.float64],
        upper: NDArray[np.float64],
        policy: NDArray[np.int64],
        biases: Biases | None,
    ) -> Solution:
        if self.status is not Status.SOLVED and width_of(lower, upper) <= self.tolerance:
            self.status = Status.SOLVED
        inner = max(1, self.problem.model.num_states - len(self.problem.model.terminals))
        values = lower + 0.5 * (upper - lower)
        return make_solution(
            self.problem,
            self.solver,
            (np.minimum(values, upper), lower, upper),
            policy,
            status=self.status,
            tolerance=self.tolerance,
            sweeps=-(-int(self.visits[0]) // inner),
            seconds=self.reporter.seconds,
            biases=biases,
        )
