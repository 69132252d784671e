"""Backward induction over the contexts of a staged game, many at a time.

Contexts of one tier may lead to each other, with players changing places on each such way.

Let v be their values, T Bellman's operator, and e > 0 a number for each context such that
``T(v - e) >= v - e + c`` and ``T(v + e) <= v + e - c`` for some c > 0, where T takes the value for
one player to be the constant sum minus the other's bound. Then a player who takes the choices that
are best by v - e gains at least c in expectation with each stage that stays in the tier, whatever
the other one does. Gains are bounded, so play leaves the tier almost surely, and its value is at
least v - e. So the value of endless play does not matter. Since every way within the tier changes
places, T(v + e) has the lower bounds, and T(v - e) the upper ones.

Each e is a multiple of a weight: the expected number of stages in the tier still to come, under
choices that are best or nearly best. Weights are measured: for a small d, the difference of
T(v - d w) and T(v) is d times the expected weight of the next context. A player who is far behind
stays in the tier almost surely with the next stage, but not with the one after that.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.errors import NotSolvedError, UnsupportedProblemError
from gamedp.model.objectives import TotalReward
from gamedp.model.problem import AnyProblem
from gamedp.results.status import Guarantee, Statistics, Status
from gamedp.runtime.floats import TINY, UNIT
from gamedp.runtime.jit import LANES
from gamedp.runtime.limit import Budget
from gamedp.runtime.machine import processors
from gamedp.runtime.options import positive, whole_and_positive
from gamedp.runtime.slices import CONTEXTS
from gamedp.solvers.request import Support
from gamedp.stages.kernels import bound_rounding_jit
from gamedp.stages.model import StagedModel
from gamedp.stages.solution import StagedSolution
from gamedp.stages.vector_code import program_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.model.model import Model
    from gamedp.runtime.arrays import Floats
    from gamedp.runtime.limit import ProgressCallback

    Integers = NDArray[np.int64]


LEAST_END_PROBABILITY = 1e-9
"""Least probability of an end; play that ends with a smaller one counts as endless."""


@attrs.frozen(kw_only=True)
class StageInduction:
    """Solve a staged game by sweeping the stage for all contexts of one tier, the last tiers first.

    Contexts of one tier that lead to each other are swept repeatedly until their values converge.
    Errors are proven as by :class:`TopologicalValueIteration` [1]_: one sweep of the stage is a
    monotone operator T on the values of contexts, and where positive weights w satisfy
    ``w >= 1 + (the largest expectation of w over contexts of the same tier)``, the distance from
    the unique fixed point is at most the error of the tiers below plus ``w`` times the residual
    ``max |T v - v|``, rounding included. Without such weights, where play may go on for ever, no
    bound is claimed.

    Rounding is bounded beforehand: a sum of k products is off by at most ``(k + 8) u`` times the
    largest number in it, where u is half a unit in the last place, and the errors of one sweep add
    up along the longest path through the stage [2]_. That covers probabilities with errors of up to
    two units in the last place.

    Parameters
    ----------
    threads : int, optional
        The number of threads; that of the processors if not given. The values do not depend on it.
    unrolls : bool, optional
        Whether the stage is compiled into unrolled machine code, for sweeps that are two or three
        times as fast, with the same results. Compiling takes some seconds, once, as the code is
        kept on disk; and 240 MiB. If not given, this is done if the code is on disk, or if
        compiling it saves more time than it takes.
    max_sweeps : int
        The largest number of sweeps over one tier.
    max_seconds : float
        The time limit.

    References
    ----------
    .. [1] D. Bertsekas, J. Tsitsiklis, "An analysis of stochastic shortest path problems",
       Mathematics of Operations Research 16 (1991).
    .. [2] N. Higham, "Accuracy and Stability of Numerical Algorithms", SIAM 2002, section 3.1.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.kniffel import Kniffel
    >>> solver = gamedp.stages.StageInduction(threads=1)
    >>> solution = gamedp.solve(Kniffel(dice=2, faces=2), solver=solver)
    >>> solution.guarantee.name
    'TWO_SIDED'
    """

    threads: int | None = attrs.field(
        default=None, validator=attrs.validators.optional(whole_and_positive)
    )
    unrolls: bool | None = None
    max_sweeps: int = attrs.field(default=100_000, validator=whole_and_positive)
    max_seconds: float = attrs.field(default=float("inf"), validator=positive)

    def supports(self, problem: AnyProblem[Any]) -> Support:
        """Return whether this solver supports the problem, and why not."""
        if not isinstance(problem.model, StagedModel):
            return Support(False, "is for staged games; an ordinary game has other solvers.")
        if not isinstance(problem.objective, TotalReward) or problem.objective.until is not None:
            reason = "computes the total reward of a staged game, no other objective."
            return Support(False, reason)
        return Support(True)

    def solve(
        self,
        problem: AnyProblem[Any],
        *,
        tolerance: float,
        progress: ProgressCallback | None = None,
    ) -> StagedSolution:
        """Solve the problem so that every value is known within `tolerance`."""
        support = self.supports(problem)
        if not support:
            message = f"{type(self).__name__} {support.reason}"
            raise UnsupportedProblemError(message)
        run = StageRun(self, problem, tolerance, progress)
        threads = self.threads or processors()
        with ThreadPoolExecutor(threads) as pool:
            run.pool, run.threads = pool, threads
            run.solve()
        return run.solution()


class StageRun:
    """A running solver of a staged game: its program, limits and rounding."""

    pool: ThreadPoolExecutor
    threads: int

    def __init__(
        self,
        solver: StageInduction,
        problem: AnyProblem[StagedModel],
        tolerance: float,
        progress: ProgressCallback | None,
    ) -> None:
        self.solver = solver
        self.problem = problem
        self.tolerance = tolerance
        self.reporter = Budget(progress, "solve", solver.max_seconds)
        self.model = model = problem.model
        begin = time.perf_counter()
        contexts = model.sweeper.survey()
        self.explored = time.perf_counter() - begin
        self.codes, self.offsets, self.values = contexts.codes, contexts.offsets, contexts.values
        self.program = model.sweeper.unroll(
            program_of(model.stage, optimum=problem.objective.optimum),
            len(self.codes),
            unrolls=solver.unrolls,
        )
        self.stage_error = _rounding_of(model.stage)
        self.errors = np.zeros(len(self.offsets) - 1)
        self.largest = largest(self.values)  # absolute value known so far
        self.sweeps = 0
        self.status = Status.SOLVED
        self.is_proven = True

    @property
    def is_out_of_time(self) -> bool:
        """Whether the solver's time is up."""
        return self.reporter.is_late

    def rounding(self, reward: float, apart: float = 0.0) -> float:
        """Return the bound of the rounding error of one sweep.

        Parameters
        ----------
        reward : float
            The largest reward of an end.
        apart : float
            The largest excess of numbers over the largest value so far.
        """
        relative, rewards = self.stage_error
        size = self.largest + apart + abs(self.model.constant_sum) + reward + rewards
        # Three times for the sums at the end of the stage, once for this very formula.
        return (relative + 4 * UNIT) * (size + TINY / UNIT)  # and of what underflows

    def solve(self) -> None:
        """Solve tier after tier, as far as the limits allow."""
        error = 0.0
        for tier in range(len(self.errors)):
            codes = self.codes[self.offsets[tier] : self.offsets[tier + 1]]
            reward = self._sweep_once(codes)
            if reward is None:
                error = self._settle(codes, error)
            else:
                error += self.rounding(reward)
            self.largest = max(self.largest, largest(self.values[codes]))
            self.errors[tier] = error
            if self.status is not Status.SOLVED:
                self.values[self.codes[self.offsets[tier] :]] = np.nan
                self.errors[tier:] = np.inf
                return

    def _sweep_once(self, codes: NDArray[np.int64]) -> float | None:
        """Sweep contexts unless they lead to each other; return the largest reward, or None."""
        reward = 0.0
        step = CONTEXTS * LANES * self.threads
        for first in range(0, len(codes), step):
            some = codes[first : first + step]
            share = -(-len(some) // self.threads // LANES) * LANES or LANES
            parts = [some[a : a + share] for a in range(0, len(some), share)]
            results = list(
                self.pool.map(
                    lambda part: self.model.sweeper.sweep(self.program, part, self.values), parts
                )
            )
            if not all(result.is_complete for result in results):
                return None
            reward = max(reward, *(result.reward for result in results))
            self.sweeps += len(some)
            self.reporter.report(
                self.sweeps, len(self.codes), f"{self.sweeps:,} of {len(self.codes):,} contexts"
            )
            if self.is_out_of_time:
                self.status = Status.TIME_LIMIT
                return reward
        return reward

    def _settle(self, codes: NDArray[np.int64], below: float) -> float:
        """Sweep contexts that lead to each other until they are known; return their error."""
        sweep = self.model.sweeper.sweep
        self.values[codes] = 0.0
        allowed = max(self.tolerance / 4 / len(self.errors), 0.0)
        if always_changes_places(self, codes):
            error = settle_in_turns(self, codes, allowed)
            if np.isfinite(error):
                return below + error * (1 + 4 * UNIT)
            if self.status is not Status.SOLVED:
                return np.inf
            self.values[codes] = 0.0
        heaviest = self._heaviest(codes)
        error = np.inf
        for _ in range(self.solver.max_sweeps):
            self.sweeps += len(codes)
            result = sweep(self.program, codes, self.values)
            if self.is_out_of_time:
                self.status = Status.TIME_LIMIT
                break
            self.largest = max(self.largest, largest(self.values[codes]))
            floor = self.rounding(result.reward)
            if result.change * heaviest <= allowed or result.change <= 8 * floor:
                check = sweep(self.program, codes, self.values, writes=False)
                error = heaviest * (check.change + floor)
                if error <= allowed or check.change <= 8 * floor or not np.isfinite(heaviest):
                    break
        else:
            self.status = Status.SWEEP_LIMIT
        if not np.isfinite(heaviest):
            self.is_proven = False
        return below + error * (1 + 4 * UNIT)

    def _heaviest(self, codes: NDArray[np.int64]) -> float:
        """Return the largest weight: the largest expected number of further stages."""
        weights = np.zeros_like(self.values)
        program = program_of(self.model.stage, weights=True)
        sweep = self.model.sweeper.sweep
        relative, _ = self.stage_error
        for number in range(self.solver.max_sweeps):
            sweep(program, codes, weights, weights=True)
            check = sweep(program, codes, weights, weights=True, writes=False)
            heaviest = float(weights[codes].max())
            # If one more sweep adds at most r < 1, the weights over 1 - r do what is asked of them.
            rise = check.rise + (relative + 3 * UNIT) * (heaviest + 1)
            if rise <= 0.5:
                return heaviest / (1 - rise) * (1 + 4 * UNIT)
            # The rise is the largest probability that play has not left yet. Where it surely
            # leaves, it may have left after as many sweeps as there are contexts.
            if number >= len(codes) and rise >= 1 - LEAST_END_PROBABILITY:
                break
            if heaviest > 1 / (relative + UNIT) or self.is_out_of_time:
                break
        return np.inf

    def solution(self) -> StagedSolution:
        """Return the solution; raise NotSolvedError if it is not within the tolerance."""
        errors = np.zeros_like(self.values)
        errors[self.codes] = np.repeat(self.errors, np.diff(self.offsets))
        model, stage = self.model, self.model.stage
        num_codes = len(self.codes)
        guarantee = Guarantee.TWO_SIDED if self.is_proven else Guarantee.NONE
        if not self.is_proven and self.status is Status.SOLVED:
            self.status = Status.UNPROVEN
        width = 2 * float(self.errors.max(initial=0.0))
        if self.status is Status.SOLVED and width > self.tolerance:
            self.status = Status.ROUNDING
        explore = model.seconds.get("explore", 0.0) + self.explored
        solution = StagedSolution(
            model=model,
            objective=self.problem.objective,
            solver=self.solver,
            values=self.values,
            errors=errors,
            status=self.status,
            guarantee=guarantee,
            statistics=Statistics(
                states=num_codes,
                choices=num_codes * stage.num_choices,
                transitions=num_codes * stage.num_transitions,
                sweeps=-(-self.sweeps // max(1, num_codes)),
                seconds={
                    "compile": model.seconds.get("compile", 0.0),
                    "explore": explore,
                    "solve": self.reporter.seconds - self.explored,
                },
                bytes=self.values.nbytes + errors.nbytes + stage.num_bytes,
            ),
        )
        if self.status in {Status.SWEEP_LIMIT, Status.TIME_LIMIT, Status.ROUNDING}:
            way_out = {
                Status.SWEEP_LIMIT: "Raise max_sweeps",
                Status.TIME_LIMIT: "Raise max_seconds",
                Status.ROUNDING: f"Ask for a tolerance of {2 * width:.1g}",
            }[self.status]
            message = (
                f"StageInduction {self.status.value.split(':')[0]}; bounds are {width:.3g} apart. "
                f"{way_out}, or read .solution on this error."
            )
            raise NotSolvedError(message, solution)
        return solution


def largest(values: NDArray[np.float64]) -> float:
    """Return the largest absolute value; 0 if there is no number."""
    return float(np.fmax(np.fmax.reduce(values, initial=0.0), -np.fmin.reduce(values, initial=0.0)))


def _rounding_of(stage: Model) -> tuple[float, float]:
    """Return the relative error bound of a sweep, and the largest sum of rewards on the way."""
    errors, rewards = np.zeros(stage.num_states), np.zeros(stage.num_states)
    bound_rounding_jit(
        stage.structure.order,
        stage.choice_offsets,
        stage.transition_offsets,
        stage.successors,
        stage.probabilities,
        stage.rewards,
        errors,
        rewards,
    )
    start = stage.initial_states[0]
    return float(errors[start]), float(rewards[start])


MARGINS = 12
"""Number of times that a margin is quadrupled and tried again."""


SWEEPS_PER_EXTRAPOLATION = 4
"""Number of sweeps between two extrapolations of the values."""


MOST_AHEAD = 16
"""Largest number of extrapolations: after them, sweeps alone must converge."""


MAX_STEADY_RATIO = 0.9
"""Largest ratio of successive changes at which values are extrapolated."""


MOST_WEIGHING = 64
"""Largest number of sweeps to find weights: with those found, a proof is tried."""


NEARLY_BEST_FACTOR = 2.0**12
"""Multiple of the rounding by which a nearly best choice may be worse."""


def always_changes_places(run: StageRun, codes: Integers) -> bool:
    """Return whether players change places on every way from a context to one of its tier."""
    for first in range(0, len(codes), LANES):
        onward = run.model.sweeper.follow(codes[first : first + LANES])
        stays = (onward.following >= 0) & np.isin(onward.following, codes)
        if (stays & ~onward.swaps).any():
            return False
    return True


def settle_in_turns(run: StageRun, codes: Integers, allowed: float) -> float:
    """Find the values of the contexts `codes`; return their error, infinite if unproven.

    Parameters
    ----------
    run : Run
    codes
        All contexts of a tier, which :func:`always_changes_places`.
    allowed : float
        The error that is small enough.
    """
    threshold = allowed / 64
    trail: list[Floats] = []
    times_ahead = 0
    for _ in range(run.solver.max_sweeps):
        run.sweeps += len(codes)
        result = run.model.sweeper.sweep(run.program, codes, run.values)
        if run.is_out_of_time:
            run.status = Status.TIME_LIMIT
            return np.inf
        values = run.values[codes]
        run.largest = max(run.largest, float(np.abs(values).max()))
        floor = run.rounding(result.reward)
        if result.change <= max(threshold, 8 * floor):
            error = _prove(run, codes, 2 * (result.change + 4 * floor))
            if error <= allowed or result.change <= 8 * floor or not np.isfinite(error):
                return error
            threshold = result.change / 16
        trail.append(values)
        if len(trail) > SWEEPS_PER_EXTRAPOLATION and times_ahead < MOST_AHEAD:
            run.values[codes] = _ahead(trail[0], trail[SWEEPS_PER_EXTRAPOLATION // 2], values)
            times_ahead += 1
            trail.clear()
    return np.inf


def _ahead(first: Floats, second: Floats, third: Floats) -> Floats:
    """Return the limit of values whose changes shrink by a constant factor (Aitken's method)."""
    change = third - second
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = change / (second - first)
    steady = (factor > 0) & (factor < MAX_STEADY_RATIO)
    factor = np.where(steady, factor, 0.0)
    return third + change * (factor / (1 - factor))


def _prove(run: StageRun, codes: Integers, margin: float) -> float:
    """Return the largest proven error, trying from `margin` for each weight on."""
    values = run.values[codes].copy()
    weights = _weigh(run, codes, values)
    try:
        for _ in range(MARGINS):
            if run.is_out_of_time:
                break
            below, above = values - margin * weights, values + margin * weights
            # Players change places: from bounds above follow those below.
            least, reward = _swept(run, codes, above)
            most, other_reward = _swept(run, codes, below)
            room = min(float((least - below).min()), float((above - most).min()))
            apart = margin * float(weights.max())
            if room > 4 * run.rounding(max(reward, other_reward), apart) + 2.0**-20 * margin:
                return float(np.maximum(values - below, above - values).max())
            margin *= 4
    finally:
        run.values[codes] = values
    return np.inf


def _weigh(run: StageRun, codes: Integers, values: Floats) -> Floats:
    """Return the expected number of further stages in the tier, by best or nearly best choices."""
    weights = np.ones(len(codes))
    present, reward = _swept(run, codes, values)
    small = NEARLY_BEST_FACTOR * run.rounding(reward)
    for _ in range(MOST_WEIGHING):
        moved, _ = _swept(run, codes, values - small * weights)
        longer = 1 + (moved - present) / small
        rise = float((longer - weights).max())
        weights = np.maximum(weights, longer)
        if not rise > 0.5 or run.is_out_of_time:
            break
    return weights


def _swept(run: StageRun, codes: Integers, values: Floats) -> tuple[Floats, float]:
    """Return the values of the contexts `codes` after a sweep, and the largest reward.

    Within LANES contexts, all is read before anything is written.
    """
    run.values[codes] = values
    found, reward = np.empty(len(codes)), 0.0
    for first in range(0, len(codes), LANES):
        part = slice(first, first + LANES)
        result = run.model.sweeper.sweep(run.program, codes[part], run.values)
        found[part] = run.values[codes[part]]
        if not result.is_complete:
            found[part] = np.nan
        run.values[codes[part]] = values[part]
        reward = max(reward, result.reward)
    run.sweeps += len(codes)
    return found, reward


def solver_of_stages(solver: Any) -> StageInduction:
    """Return the solver for a staged game; raise UnsupportedProblemError for any other."""
    solver = StageInduction() if solver is None else solver
    if not isinstance(solver, StageInduction):
        message = (
            f"{type(solver).__name__} is for ordinary games. A staged game is solved by "
            "StageInduction, or as the ordinary one that gamedp.stages.Flattened(game) is."
        )
        raise UnsupportedProblemError(message)
    return solver


def explain_stages(model: StagedModel) -> str:
    """Describe a staged model, and how it is solved."""
    stage, contexts = model.stage, model.num_states
    return (
        f"{contexts:,} context{'s' * (contexts != 1)}, in each a stage of {stage.num_states:,} "
        f"states, {stage.num_choices:,} choices, {stage.num_transitions:,} transitions.\n"
        "StageInduction: one sweep of the stage for each context, after those that follow it."
    )
