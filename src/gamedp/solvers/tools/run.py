"""A solver at work: the numbers of one run, their proofs, and its cost so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gamedp.bellman import residuals
from gamedp.reduction import never
from gamedp.results.status import Status, width_of
from gamedp.runtime.progress import ProgressCallback, Reporter
from gamedp.runtime.slices import GATHERED_STATES
from gamedp.solvers.tools.finish import check_range, finished

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from gamedp.graph.structure import Structure
    from gamedp.model.problem import Problem
    from gamedp.reduction import Reduction
    from gamedp.solvers.tools.facts import Parts, Searched
    from gamedp.solvers.tools.finish import Numbers

__all__ = ["Run"]


class Run:
    """A solver at work: the arrays it fills, the limits it keeps, the work it counts.

    Attributes
    ----------
    tolerance : float
        The allowed distance between bounds.
    relative : bool
        Whether `tolerance` is to be multiplied by the absolute value of each state.
    stop : callable
        Returns whether to stop for another reason, such as the limit of a larger computation.
    searched : Searched or None
        The part that a search has solved and ordered, if no reduction is needed.
    parts : Structure or Parts
        The components, in the order of the equation.
    values, errors : (S,) float64
        ``|values - true values| <= errors`` once they are proven.
    policy : (S,) int64
    visits : (1,) int64
        The number of states visited.
    bounds : tuple of two (S,) float64, or None
        Lower and upper bounds, if the solver proves them itself; `errors` do not count then.
    """

    def __init__(
        self,
        problem: Problem,
        tolerance: float,
        progress: ProgressCallback | None,
        max_seconds: float = float("inf"),
        *,
        relative: bool = False,
        stop: Callable[[], bool] = never,
        searched: Searched | None = None,
    ) -> None:
        model = problem.model
        self.problem = problem
        self.tolerance = tolerance
        self.relative = relative
        self.max_seconds = max_seconds
        self.stop = stop
        self.reporter = Reporter(progress, "solve")
        self.parts: Structure | Parts
        if searched is None:
            self.parts, self.equation = model.structure, problem.equation()
            self.values = np.zeros(model.num_states)
            self.values[model.terminals] = model.payoffs
            self.errors = np.zeros(model.num_states)
            self.policy = np.full(model.num_states, -1, np.int64)
        else:
            self.parts, self.equation = searched.parts, searched.equation
            self.values = searched.values.copy()
            self.errors = searched.errors.copy()
            self.policy = searched.policy.copy()
        self.searched = searched
        self.weights = np.zeros(model.num_states)  # except while a component is proven
        self.needs_sweeps = False  # whether the last proof needed more sweeps over them
        self.visits = np.zeros(1, np.int64)
        self.status = Status.SOLVED
        self.too_wide = Status.ROUNDING  # replaces SOLVED if bounds are too far apart
        self.bounds: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
        self._measured = -1, (0, 0)  # a component is measured a few times in a row

    @property
    def out_of_time(self) -> bool:
        """Whether the time limit has passed."""
        return self.reporter.seconds > self.max_seconds or self.stop()

    @property
    def sweeps(self) -> int:
        """The number of passes over all states, rounded up."""
        inner = max(1, self.problem.model.num_states - len(self.problem.model.terminals))
        return -(-int(self.visits[0]) // inner)

    def component(self, number: int) -> tuple[int, int]:
        """Return where in the order a component starts and stops."""
        offsets = self.parts.component_offsets
        return int(offsets[number]), int(offsets[number + 1])

    def measure(self, number: int) -> tuple[int, int]:
        """Return the number of choices and of transitions of a component's states."""
        if self._measured[0] == number:
            return self._measured[1]
        start, stop = self.component(number)
        states = self.equation.order[start:stop]
        first = self.equation.graph.choice_offsets[states]
        last = self.equation.graph.choice_offsets[states + 1]
        offsets = self.equation.graph.transition_offsets
        sizes = int((last - first).sum()), int((offsets[last] - offsets[first]).sum())
        self._measured = number, sizes
        return sizes

    def prove_all(self, max_sweeps: int = 1000) -> float:
        """Prove errors for all values, component by component; return the largest.

        Parameters
        ----------
        max_sweeps : int
            Largest number of sweeps over the weights of a component.
        """
        structure = self.parts
        arguments = (self.equation, self.values, self.errors, self.policy)
        needs_sweeps = False
        number = 0
        while number < structure.num_components:
            number = residuals.settle_components_jit(
                number,
                structure.num_components,
                structure.component_offsets,
                structure.nontrivial,
                *arguments,
            )
            if number < structure.num_components:
                self.prove(number, self.tolerance, max_sweeps)
                needs_sweeps |= self.needs_sweeps
                number += 1
        self.needs_sweeps = needs_sweeps
        return float(self.errors.max(initial=0.0))

    def prove(self, number: int, tolerance: float, max_sweeps: int) -> float:
        """Prove errors for the values of a component with cycles; return the width it adds.

        The weights count the steps of the greedy policy first; if that does not suffice, of nearly
        optimal actions; then of all.

        Parameters
        ----------
        number : int
            The component.
        tolerance : float
            The width that is good enough.
        max_sweeps : int
            Largest number of sweeps over the weights.
        """
        start, stop = self.component(number)
        states = self.equation.order[start:stop]
        width = np.inf
        if not self.problem.is_proper:
            self.errors[states] = np.inf
            return float(width)
        weights = self.weights
        self.needs_sweeps = False
        scale = float(np.abs(self.values[states]).max())
        for mode in (residuals.GREEDY, residuals.NEAR, residuals.ALL):
            if self.equation.discount < 1:
                weights[states] = 1 / (1 - self.equation.discount)
            else:
                weights[states] = 1.0
                self._weigh(start, stop, mode, 1e-3 * scale, max_sweeps)
            width = residuals.certify_jit(
                start,
                stop,
                self.equation,
                GATHERED_STATES,
                self.values,
                weights,
                self.errors,
                self.policy,
            )
            if width <= tolerance or self.equation.discount < 1 or self.out_of_time:
                break
            if np.isfinite(width):
                break
        return float(width)

    def _weigh(self, start: int, stop: int, mode: int, margin: float, max_sweeps: int) -> None:
        for count in range(1, max_sweeps + 1):
            self.reporter.report(
                count, None, f"{count:,} sweeps to prove the values of {stop - start:,} states"
            )
            increase = residuals.weigh_jit(
                start, stop, self.equation, self.values, self.policy, mode, margin, self.weights
            )
            if increase <= 0.5 or self.out_of_time:
                return
        self.needs_sweeps = True

    def end_unproven(self) -> None:
        """Record why values that no longer change are unproven, unless it is rounding."""
        if self.out_of_time:
            self.too_wide = Status.TIME_LIMIT
        elif self.needs_sweeps:
            self.too_wide = Status.SWEEP_LIMIT

    def results(
        self, *, proven: bool = True, reduction: Reduction | None = None
    ) -> tuple[Numbers, NDArray[np.int64]]:
        """Return values, lower and upper bounds, and the policy; set the status accordingly.

        Parameters
        ----------
        proven : bool
            Whether errors can be proven at all.
        reduction : Reduction, optional
            How the problem was derived from the one that is solved.
        """
        problem = self.problem
        if not np.isfinite(self.values).all():
            self._check_range(reduction)
        if not proven:
            self.prove_all()  # for states whose value does not depend on endless play
        low, high = problem.range_of_values() if proven else (-np.inf, np.inf)
        if self.bounds is None:
            model = problem.model if reduction is None else reduction.original.model
            numbers, policy, width = finished(
                model, reduction, self.values, self.errors, self.policy, low, high
            )
        else:
            numbers, policy, width = self._clipped(*self.bounds, reduction, low, high)
        if self.relative:
            width = width_of(*numbers[1:], relative=True)
        if not proven:
            self.status = Status.UNPROVEN if self.status is Status.SOLVED else self.status
        elif self.status is Status.SOLVED:
            self.status = Status.SOLVED if width <= self.tolerance else self.too_wide
        return numbers, policy

    def _check_range(self, reduction: Reduction | None) -> None:
        """Refuse values that are too large for a number, except infinite ones."""
        if reduction is not None:
            known = reduction.project(reduction.known)
            check_range(reduction.original.model, reduction.expand(self.values), known)
            return
        infinite = np.zeros(1) if self.searched is None else self.searched.values
        known = np.where(np.isinf(infinite), infinite, np.nan)
        check_range(self.problem.model, self.values, known)

    def _clipped(
        self,
        lower: NDArray[np.float64],
        upper: NDArray[np.float64],
        reduction: Reduction | None,
        low: float,
        high: float,
    ) -> tuple[Numbers, NDArray[np.int64], float]:
        """Return the same if the solver has found bounds itself."""
        infinite = (lower == np.inf) | (upper == -np.inf)
        np.clip(lower, low, None, out=lower, where=~infinite)
        np.clip(upper, None, high, out=upper, where=~infinite)
        np.clip(self.values, lower, upper, out=self.values)
        width = width_of(lower, upper)
        if reduction is None:
            return (self.values, lower, upper), self.policy, width
        numbers = (
            reduction.expand(self.values),
            reduction.expand(lower, -1),
            reduction.expand(upper, 1),
        )
        return numbers, reduction.expand_policy(self.policy), max(width, width_of(*numbers[1:]))
