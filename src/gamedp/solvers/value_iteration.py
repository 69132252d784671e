"""Value iteration: sweeps over all states until the error is proven to be small."""

from __future__ import annotations

from typing import Literal

import attrs
import numpy as np

from gamedp.errors import InvalidParameterError
from gamedp.kernels import bellman, proofs
from gamedp.solution import Status
from gamedp.solvers.base import FixedPointSolver, Run
from gamedp.solvers.options import positive, whole_and_positive

__all__ = ["ValueIteration"]

SLICE = 1 << 20
"""States in one call of a kernel."""


def _is_order(_instance: object, _attribute: object, value: str) -> None:
    if value not in ("jacobi", "gauss-seidel"):
        message = f'sweep is {value!r}; it must be "jacobi" or "gauss-seidel".'
        raise InvalidParameterError(message)


@attrs.frozen(kw_only=True)
class ValueIteration(FixedPointSolver):
    """Apply Bellman's operator to all states again and again.

    A small change per sweep proves nothing. When the change is small, errors are proven as by
    :class:`TopologicalValueIteration`; if they are not small enough, the sweeps go on. With a
    discount b and Jacobi sweeps, the values are first moved to the middle of the interval
    ``v + b/(1-b) * [min d, max d]`` that contains the true ones, d being the last change
    (Puterman [1]_, theorem 6.6.3).

    Parameters
    ----------
    sweep : {"gauss-seidel", "jacobi"}
        Whether a sweep uses its own new values, in depth-first order, or the last sweep's alone.
    max_sweeps : int
        Sweeps at most.
    max_seconds : float
        Time at most.

    References
    ----------
    .. [1] M. Puterman, "Markov Decision Processes", Wiley 1994, sections 6.3 and 6.6.

    Examples
    --------
    >>> import gamedp
    >>> model = gamedp.Model.from_arrays([0, 1], [0, 1], [0], [1.0], rewards=[1.0])
    >>> solver = gamedp.ValueIteration(sweep="jacobi")
    >>> solution = gamedp.solve(model, gamedp.Discounted(0.9), solver, tolerance=1e-9)
    >>> abs(solution.value() - 10) < 1e-9
    True
    """

    sweep: Literal["gauss-seidel", "jacobi"] = attrs.field(
        default="gauss-seidel", validator=_is_order
    )
    max_sweeps: int = attrs.field(default=1_000_000, validator=whole_and_positive)
    max_seconds: float = attrs.field(default=float("inf"), validator=positive)

    def iterate(self, run: Run) -> None:
        """Sweep until the error is proven to be small enough, or a limit is reached."""
        proper, tolerance = run.problem.is_proper, run.tolerance
        threshold = 0.01 * tolerance
        for sweep in range(1, self.max_sweeps + 1):
            lowest, highest = self._sweep_once(run)
            change = max(-lowest, highest)
            run.reporter.report(sweep, None, f"{sweep:,} sweeps, change {change:.2e}")
            if run.out_of_time:
                run.status = Status.TIME_LIMIT
                break
            spread = self._spread(run, lowest, highest)
            floor = 8 * proofs.UNIT * float(np.abs(run.values).max())
            if min(change, spread) <= max(threshold, floor):
                if spread < change:
                    self._move_to_middle(run, lowest, highest)
                if not proper or run.prove_all() <= 0.5 * tolerance or change <= floor:
                    break
                threshold = min(change, spread) / 16
        else:
            run.status = Status.SWEEP_LIMIT
        if proper and run.status is not Status.SOLVED:
            run.prove_all()

    def _sweep_once(self, run: Run) -> tuple[float, float]:
        """Sweep over all states; return the smallest and the largest change, signed."""
        num_states = len(run.values)
        run.visits[0] += num_states - len(run.problem.model.terminals)
        lowest, highest = np.inf, -np.inf
        if self.sweep == "gauss-seidel":
            change = 0.0
            for start in range(0, num_states, SLICE):
                stop = min(start + SLICE, num_states)
                change = max(
                    change, bellman.sweep_jit(start, stop, run.rows, run.values, run.policy)
                )
            return -change, change
        new_values = np.empty_like(run.values)
        for start in range(0, num_states, SLICE):
            stop = min(start + SLICE, num_states)
            low, high = bellman.sweep_apart_jit(
                start, stop, run.rows, run.values, new_values, run.policy
            )
            lowest, highest = min(lowest, low), max(highest, high)
        run.values = new_values
        if len(run.problem.model.terminals):
            lowest, highest = min(lowest, 0.0), max(highest, 0.0)
        return lowest, highest

    def _spread(self, run: Run, lowest: float, highest: float) -> float:
        """Return how wide the interval of the true values is, where that is a theorem."""
        discount = run.rows.discount
        if self.sweep == "jacobi" and discount < 1 and not run.problem.model.has_swaps:
            return (highest - lowest) * discount / (1 - discount)
        return np.inf

    @staticmethod
    def _move_to_middle(run: Run, lowest: float, highest: float) -> None:
        discount = run.rows.discount
        inner = np.ones(len(run.values), np.bool_)
        inner[run.problem.model.terminals] = False
        run.values[inner] += 0.5 * (lowest + highest) * discount / (1 - discount)
