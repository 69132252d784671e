"""Backward induction over the contexts of a staged game, many of them at a time."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.errors import NotSolvedError, UnsupportedProblemError
from gamedp.model.objectives import TotalReward
from gamedp.model.problem import Problem, StagedProblem
from gamedp.results.solution import Guarantee, Statistics, Status
from gamedp.runtime.floats import TINY, UNIT
from gamedp.runtime.options import positive, whole_and_positive
from gamedp.runtime.progress import Reporter
from gamedp.solvers.tools.support import Support
from gamedp.stages.in_turns import always_changes_places, settle_in_turns
from gamedp.stages.kernels import bound_rounding_jit
from gamedp.stages.solution import StagedSolution
from gamedp.stages.vector_code import LANES, Program

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.model.model import Model
    from gamedp.runtime.progress import ProgressCallback
    from gamedp.stages.model import Sweep

__all__ = ["StageInduction", "program_of"]

SLICE = 512 * LANES
"""Contexts between two looks at the limits: some hundredths of a second."""

ENDLESS = 1e-9
"""Play that ends less likely than this, however often it may, is taken for play that never ends."""


def _threads(_instance: object, _attribute: object, value: int | None) -> None:
    if value is not None:
        whole_and_positive(_instance, _attribute, value)


@attrs.frozen(kw_only=True)
class StageInduction:
    """Solve a staged game by sweeping the stage for all contexts of one rank, the last ranks first.

    Contexts of one rank that lead to each other are swept again until their values settle. Errors
    are proven as by :class:`TopologicalValueIteration` [1]_: one sweep of the stage is a monotone
    operator T on the values of contexts, and where positive weights w satisfy
    ``w >= 1 + (the largest expectation of w over contexts of the same rank)``, the distance from
    the unique fixed point is at most the error of the ranks below plus ``w`` times the residual
    ``max |T v - v|``, rounding included. Without such weights, where play may go on for ever,
    nothing is claimed.

    Rounding is bounded beforehand: a sum of k products is off by at most ``(k + 8) u`` times the
    largest number in it, where u is half a unit in the last place, and the errors of one sweep add
    up along the longest way through the stage [2]_. That covers probabilities which are off by two
    units in the last place.

    Parameters
    ----------
    threads : int, optional
        Threads to sweep with; as many as there are processors if not given. The values do not
        depend on it.
    unrolls : bool, optional
        Whether the stage is compiled into straight machine code, for sweeps that are two or three
        times as fast and find the same. That takes some seconds, once, for the code is kept on
        disk; and 240 MiB. If not given, where the code is on disk, and where compiling it saves
        more time than it takes.
    max_sweeps : int
        Sweeps over one rank at most.
    max_seconds : float
        Time at most.

    References
    ----------
    .. [1] D. Bertsekas, J. Tsitsiklis, "An analysis of stochastic shortest path problems",
       Mathematics of Operations Research 16 (1991).
    .. [2] N. Higham, "Accuracy and Stability of Numerical Algorithms", SIAM 2002, section 3.1.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.kniffel import Kniffel
    >>> solution = gamedp.solve(Kniffel(dice=2, faces=2), solver=gamedp.stages.StageInduction(threads=1))
    >>> solution.guarantee.name
    'TWO_SIDED'
    """

    threads: int | None = attrs.field(default=None, validator=_threads)
    unrolls: bool | None = None
    max_sweeps: int = attrs.field(default=100_000, validator=whole_and_positive)
    max_seconds: float = attrs.field(default=float("inf"), validator=positive)

    def supports(self, problem: Problem | StagedProblem) -> Support:
        """Say whether this solver can do the problem, and why not."""
        if not isinstance(problem, StagedProblem):
            return Support(False, "is for staged games; an ordinary game has other solvers.")
        if not isinstance(problem.objective, TotalReward) or problem.objective.until is not None:
            reason = "computes the total reward of a staged game, no other objective."
            return Support(False, reason)
        return Support(True)

    def solve(
        self,
        problem: Problem | StagedProblem,
        *,
        tolerance: float,
        progress: ProgressCallback | None = None,
    ) -> StagedSolution:
        """Solve the problem so that every value is known within `tolerance`."""
        support = self.supports(problem)
        if not support or not isinstance(problem, StagedProblem):
            message = f"{type(self).__name__} {support.reason}"
            raise UnsupportedProblemError(message)
        run = Run(self, problem, tolerance, progress)
        threads = self.threads or _processors()
        with ThreadPoolExecutor(threads) as pool:
            run.pool, run.threads = pool, threads
            run.solve()
        return run.solution()


def _largest(values: NDArray[np.float64]) -> float:
    """Return the largest absolute value; 0 if none is a number."""
    return float(np.fmax(np.fmax.reduce(values, initial=0.0), -np.fmin.reduce(values, initial=0.0)))


def _processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Run:
    """The solver at work."""

    pool: ThreadPoolExecutor
    threads: int

    def __init__(
        self,
        solver: StageInduction,
        problem: StagedProblem,
        tolerance: float,
        progress: ProgressCallback | None,
    ) -> None:
        self.solver = solver
        self.problem = problem
        self.tolerance = tolerance
        self.reporter = Reporter(progress, "solve")
        self.model = model = problem.model
        begin = time.perf_counter()
        contexts = model.sweeper.survey()
        self.explored = time.perf_counter() - begin
        self.codes, self.offsets, self.values = contexts.codes, contexts.offsets, contexts.values
        self.program = model.sweeper.straighten(
            program_of(model.stage, optimum=problem.objective.optimum),
            len(self.codes),
            unrolls=solver.unrolls,
        )
        self.stage_error = _rounding_of(model.stage)
        self.errors = np.zeros(len(self.offsets) - 1)
        self.largest = _largest(self.values)  # absolute value known so far
        self.sweeps = 0
        self.status = Status.SOLVED
        self.is_proven = True

    @property
    def is_out_of_time(self) -> bool:
        return self.reporter.seconds > self.solver.max_seconds

    def solve(self) -> None:
        """Solve rank after rank, as far as the limits allow."""
        error = 0.0
        for rank in range(len(self.errors)):
            codes = self.codes[self.offsets[rank] : self.offsets[rank + 1]]
            reward = self._sweep_once(codes)
            if reward is None:
                error = self._settle(codes, error)
            else:
                error += self.rounding(reward)
            self.largest = max(self.largest, _largest(self.values[codes]))
            self.errors[rank] = error
            if self.status is not Status.SOLVED:
                self.values[self.codes[self.offsets[rank] :]] = np.nan
                self.errors[rank:] = np.inf
                return

    def rounding(self, reward: float, apart: float = 0.0) -> float:
        """Return how far off one sweep may be by rounding.

        Parameters
        ----------
        reward : float
            What an end earns at most.
        apart : float
            How far numbers may be beyond the largest value so far.
        """
        relative, rewards = self.stage_error
        size = self.largest + apart + abs(self.model.constant_sum) + reward + rewards
        # Three times for the sums at the end of the stage, once for this very formula.
        return (relative + 4 * UNIT) * (size + TINY / UNIT)  # and of what underflows

    def _sweep_once(self, codes: NDArray[np.int64]) -> float | None:
        """Sweep contexts that do not lead to each other; return the largest reward, None if so."""
        reward = 0.0
        for first in range(0, len(codes), SLICE * self.threads):
            some = codes[first : first + SLICE * self.threads]
            share = -(-len(some) // self.threads // LANES) * LANES or LANES
            parts = [some[a : a + share] for a in range(0, len(some), share)]
            results = list(self.pool.map(self._sweep, parts))
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

    def _sweep(self, codes: NDArray[np.int64]) -> Sweep:
        return self.model.sweeper.sweep(self.program, codes, self.values)

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
            self.largest = max(self.largest, _largest(self.values[codes]))
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
        """Return the largest weight: of how many stages there are at most to come, expected."""
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
            if number >= len(codes) and rise >= 1 - ENDLESS:
                break
            if heaviest > 1 / (relative + UNIT) or self.is_out_of_time:
                break
        return np.inf

    def solution(self) -> StagedSolution:
        """Put together what is known; raise NotSolvedError if that is not what was asked."""
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


def _rounding_of(stage: Model) -> tuple[float, float]:
    """Return how far off a sweep may be, relatively, and the largest sum of rewards on the way."""
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


def program_of(
    stage: Model, *, optimum: str = "max", weights: bool = False, keeps_all: bool = False
) -> Program:
    """Return the stage as the sweep takes it.

    Parameters
    ----------
    stage : Model
        Acyclic, for one or two players; its first initial state is the one that counts.
    optimum : {"max", "min"}
        What player 0 wants.
    weights : bool
        For the largest expectation under any policies of both players, without rewards.
    keeps_all : bool
        Whether every state has a row of its own, those of inner states in their order.
    """
    counts = np.diff(stage.choice_offsets)
    order = np.asarray(stage.structure.order)
    start = int(stage.initial_states[0])
    inner = order[counts[order] > 0]
    # The value of the stage is the last row: nothing that comes after the start matters.
    inner = inner[: int(np.flatnonzero(inner == start)[0]) + 1]
    choices = _ranges(stage.choice_offsets[inner], counts[inner])
    lengths = np.diff(stage.transition_offsets)[choices]
    transitions = _ranges(stage.transition_offsets[choices], lengths)
    successors = np.asarray(stage.successors)[transitions]
    choice_offsets = np.concatenate([[0], np.cumsum(counts[inner])])
    transition_offsets = np.concatenate([[0], np.cumsum(lengths)])
    rows, num_rows = _allocate(
        stage, inner.tolist(), choice_offsets, transition_offsets, successors, keeps_all
    )
    maximise = (stage.players[inner] == 0) == (optimum == "max")
    return Program(
        choice_offsets.astype(np.int64),
        transition_offsets.astype(np.int64),
        rows[successors],
        np.asarray(stage.probabilities)[transitions],
        np.zeros(len(choices)) if weights else np.asarray(stage.rewards)[choices],
        np.ones(len(inner), np.bool_) if weights else maximise,
        rows[inner],
        num_rows,
    )


def _ranges(starts: NDArray[Any], lengths: NDArray[Any]) -> NDArray[np.int64]:
    """Return the numbers of all ranges, one range after the other."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    shifts: NDArray[np.int64] = np.repeat(starts - (ends - lengths), lengths)
    return np.arange(total) + shifts


def _allocate(
    stage: Model,
    inner: list[int],
    choice_offsets: NDArray[np.int64],
    transition_offsets: NDArray[np.int64],
    successors: NDArray[Any],
    keeps_all: bool,
) -> tuple[NDArray[np.int64], int]:
    """Give every state a row, and a row again once the last state that reads it is done.

    So the rows in use stay few enough for the processor's cache.
    """
    reads = np.diff(transition_offsets[choice_offsets])
    reader = np.full(stage.num_states, -1)
    # The last one that reads counts: of equal indices, numpy keeps the last.
    reader[successors] = np.repeat(np.arange(len(inner)), reads)
    rows = np.full(stage.num_states, -1, np.int64)
    rows[stage.terminals] = np.arange(len(stage.terminals))
    is_end = np.zeros(stage.num_states, np.bool_)
    is_end[stage.terminals] = True
    done: list[list[int]] = [[] for _ in inner]
    for state in [] if keeps_all else np.flatnonzero((reader >= 0) & ~is_end).tolist():
        done[reader[state]].append(state)
    free: list[int] = []
    num_rows = len(stage.terminals)
    for place, state in enumerate(inner):
        if not free:
            free.append(num_rows)
            num_rows += 1
        rows[state] = free.pop()
        # Only now: a state must not overwrite what it reads.
        free.extend(int(rows[one]) for one in done[place])
    return rows, num_rows
