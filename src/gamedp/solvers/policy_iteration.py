"""Policy iteration: the values of a policy by a sparse linear system, then a better policy."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.reduction import sets
from gamedp.solution import Status
from gamedp.solvers.base import FixedPointSolver, Support, reduction_of
from gamedp.solvers.options import positive, whole_and_positive

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.problem import Problem
    from gamedp.solvers.base import Run

__all__ = ["PolicyIteration"]

MARGIN = 1e-12
"""An action must be better by this, relatively, to replace the policy's: rounding must not."""


@attrs.frozen(kw_only=True)
class PolicyIteration(FixedPointSolver):
    """Evaluate a policy exactly, improve it where another action is better, until none is [1]_.

    Two opponents take turns: for each policy of the maximiser, the minimiser's best answer is
    found first (Hoffman and Karp [2]_). A model in which the players change places is unfolded
    into one state for each side.

    The linear systems are solved by sparse LU decomposition, which is fast on sparse structures and
    can take much memory on others. Its rounding does not matter for the proof: errors are proven
    for the values that come out, as by :class:`TopologicalValueIteration`.

    Parameters
    ----------
    max_policies : int
        Linear systems to solve at most.
    max_seconds : float
        Time at most.

    References
    ----------
    .. [1] R. Howard, "Dynamic Programming and Markov Processes", MIT Press 1960.
    .. [2] A. Hoffman, R. Karp, "On nonterminating stochastic games", Management Science 12 (1966).

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.wubbel import Wubbel
    >>> solution = gamedp.solve(Wubbel(goal=10), solver="policy-iteration", compile="never")
    >>> round(solution.value(), 6)
    0.67072
    """

    max_policies: int = attrs.field(default=10_000, validator=whole_and_positive)
    max_seconds: float = attrs.field(default=float("inf"), validator=positive)

    def supports(self, problem: Problem) -> Support:
        """Say whether this solver can do the problem, and why not."""
        support = super().supports(problem)
        if support and isinstance(reduction_of(problem), str):
            state = problem.model.structure.end_component.argmax()
            return Support(
                False,
                "needs play to end almost surely whatever the players do; from "
                f"{problem.model.state(int(state))!r} it may go on for ever, and the linear system "
                "of such a policy has no solution. Use TopologicalValueIteration, or Discounted.",
            )
        return support

    def iterate(self, run: Run) -> None:
        """Improve policies until none is better, and prove what the last one is worth."""
        system = _System.of(run.problem, run)
        values = self._iterate(system, run)
        run.values = values[: run.problem.model.num_states].copy()
        run.prove_all()

    def _iterate(self, system: _System, run: Run) -> NDArray[np.float64]:
        """Improve the maximiser's policy, each time against the minimiser's best answer."""
        policy = system.first_policy(run.problem)
        solved = 0
        values = system.start
        # Values improve strictly, so that no policy comes again, save by rounding: then the choices
        # that differ are equally good as far as these numbers can tell.
        seen: set[bytes] = set()
        for improving in self._turns(system):
            while True:
                digest = hashlib.blake2b(policy.tobytes(), digest_size=16).digest()
                if digest in seen:
                    return values
                seen.add(digest)
                values = system.evaluate(policy)
                solved += 1
                run.visits[0] += len(system.first)
                run.reporter.report(solved, None, f"{solved:,} policies evaluated")
                if solved >= self.max_policies:
                    run.status = Status.SWEEP_LIMIT
                    return values
                if run.out_of_time:
                    run.status = Status.TIME_LIMIT
                    return values
                if not system.improve(policy, values, improving):
                    break
            if improving is not None and not system.improve(policy, values, ~improving):
                return values
        return values

    @staticmethod
    def _turns(system: _System) -> Any:
        """Yield whose choices the inner loop improves: all at once if nobody opposes."""
        if system.maximise.all() or not system.maximise.any():
            yield None
            return
        while True:
            yield ~system.maximise


@attrs.define(eq=False)
class _System:
    """Bellman's equation as a sparse matrix, without players who change places.

    Attributes
    ----------
    matrix : (C, S) csr_array
        Discounted probabilities.
    constants : (C,)
    start : (S,)
        The payoffs in terminal states, else 0.
    inner : (M,)
        The states with choices.
    first, counts : (M,)
        The first choice of each of them, and how many there are.
    maximise : (M,) bool
    """

    matrix: Any
    constants: NDArray[np.float64]
    start: NDArray[np.float64]
    inner: NDArray[np.int64]
    first: NDArray[np.int64]
    counts: NDArray[np.int64]
    maximise: NDArray[np.bool_]

    @classmethod
    def of(cls, problem: Problem, run: Run) -> _System:
        """Set up the equation; unfold it into two sides if the players change places."""
        import scipy.sparse  # noqa: PLC0415 - slow to import

        model = problem.model
        matrix = problem.discount * model.transition_matrix
        counts = np.diff(model.choice_offsets)
        inner = np.flatnonzero(counts)
        first, counts = model.choice_offsets[:-1][inner], counts[inner]
        maximise = run.rows.maximise[inner]
        if not model.has_swaps:
            constants = np.asarray(model.rewards)
            return cls(matrix, constants, run.values, inner, first, counts, maximise)
        # Not by matrix.maximum(0): that adds up parallel transitions, and these may cancel out.
        straight, crossed = (
            scipy.sparse.csr_array(
                (
                    matrix.data.clip(min=0.0) if side > 0 else -matrix.data.clip(max=0.0),
                    matrix.indices,
                    matrix.indptr,
                ),
                shape=matrix.shape,
            )
            for side in (1, -1)
        )
        ends = np.zeros(model.num_states)
        ends[model.terminals] = model.constant_sum - model.payoffs
        return cls(
            scipy.sparse.csr_array(
                scipy.sparse.block_array([[straight, crossed], [crossed, straight]])
            ),
            np.concatenate([model.rewards, -model.rewards]),
            np.concatenate([run.values, ends]),
            np.concatenate([inner, inner + model.num_states]),
            np.concatenate([first, first + model.num_choices]),
            np.concatenate([counts, counts]),
            np.concatenate([maximise, ~maximise]),
        )

    def first_policy(self, problem: Problem) -> NDArray[np.int64]:
        """Return a policy under which play surely ends: else its equations have no solution."""
        if not problem.endless_is_worst:
            return self.first.copy()
        structure = problem.model.structure
        everyone = np.ones(structure.num_states, np.bool_)
        ends = np.diff(structure.choice_offsets) == 0
        any_choice = np.ones(len(structure.owners), np.bool_)
        _, towards = sets.positive(structure, everyone, ends, any_choice)
        return towards[self.inner].astype(np.int64)

    def evaluate(self, policy: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the values of all states under a policy."""
        import scipy.sparse  # noqa: PLC0415
        import scipy.sparse.linalg  # noqa: PLC0415

        rows = self.matrix[policy]
        known = self.constants[policy] + rows @ self.start
        system = scipy.sparse.eye_array(len(self.inner)) - rows[:, self.inner]
        values = self.start.copy()
        values[self.inner] = scipy.sparse.linalg.spsolve(scipy.sparse.csc_array(system), known)
        return values

    def improve(
        self,
        policy: NDArray[np.int64],
        values: NDArray[np.float64],
        who: NDArray[np.bool_] | None,
    ) -> bool:
        """Change the policy where another choice is better, for the states `who`; say if any."""
        sign = np.where(self.maximise, 1.0, -1.0)
        results = np.repeat(sign, self.counts) * self._results(values)
        offsets = np.concatenate([[0], np.cumsum(self.counts)])
        best = np.maximum.reduceat(results, offsets[:-1])
        present = results[policy - self.first + offsets[:-1]]
        better = best > present + MARGIN * np.maximum(np.abs(best), np.abs(present))
        if who is not None:
            better &= who
        if not better.any():
            return False
        is_best = np.flatnonzero(results == np.repeat(best, self.counts))
        states = np.searchsorted(offsets, is_best, side="right") - 1
        _, places = np.unique(states, return_index=True)
        choices = is_best[places] - offsets[:-1] + self.first
        policy[better] = choices[better]
        return True

    def _results(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the value of every choice, in the order of the states `inner`."""
        return np.asarray(self.constants + self.matrix @ values)
