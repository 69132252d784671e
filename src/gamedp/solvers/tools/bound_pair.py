"""Lower and upper bounds that a solver maintains, component by component."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from gamedp.bellman import intervals
from gamedp.results.status import Status
from gamedp.runtime.floats import TINY, UNIT
from gamedp.solvers.tools.run import Run, outward

if TYPE_CHECKING:
    from numpy.typing import NDArray


class BoundPair:
    """Lower and upper bounds of a run, narrowed component by component.

    The bounds of finished components hold. A component that earns nothing, or only gains or only
    losses, begins with bounds from the values that it leads to; any other with bounds that are
    proven as other solvers do it. They are then narrowed.

    Parameters
    ----------
    run : Run
    max_sweeps : int
        Largest number of sweeps over one component.

    Attributes
    ----------
    lower, upper : (S,) float64
        Infinite where nothing is known yet.
    """

    def __init__(self, run: Run, max_sweeps: int) -> None:
        self.run = run
        self.max_sweeps = max_sweeps
        model = run.problem.model
        self.lower = np.full(model.num_states, -np.inf)
        self.upper = np.full(model.num_states, np.inf)
        self.lower[model.terminals] = self.upper[model.terminals] = model.payoffs
        structure = model.structure
        self._cyclic_levels = np.unique(structure.levels[structure.nontrivial])

    def go_through(self, solve_one: Callable[[int], None]) -> None:
        """Bound all states, successors first; `solve_one` narrows the bounds of a component."""
        structure = self.run.problem.model.structure
        total = structure.num_components
        number = 0
        while number < total:
            before = number
            number = intervals.tighten_trivial_jit(
                number,
                total,
                structure.component_offsets,
                structure.nontrivial,
                self.run.equation,
                self.lower,
                self.upper,
                self.run.policy,
            )
            self._agree(*self._span(before, number))
            self.run.visits[0] += number - before
            if number < total:
                self._surround(number)
                solve_one(number)
                self._agree(*self.run.component(number))
                number += 1
            self.run.reporter.report(number, total, f"{number:,} of {total:,} components bounded")
        self.run.bounds = (self.lower, self.upper)

    def share(self, number: int) -> float:
        """Return the allowed width of a component's bounds: a part is left for those above it."""
        level = self.run.problem.model.structure.levels[number]
        rank = int(np.searchsorted(self._cyclic_levels, level)) + 1
        return 0.9 * self.run.tolerance * rank / len(self._cyclic_levels)

    def states(self, number: int) -> NDArray[np.signedinteger]:
        """Return the states of a component."""
        start, stop = self.run.component(number)
        return self.run.equation.order[start:stop]

    def is_finite(self, number: int) -> bool:
        """Return whether all states of a component are bounded on both sides."""
        states = self.states(number)
        return bool(np.isfinite(self.lower[states]).all() and np.isfinite(self.upper[states]).all())

    def width(self, number: int) -> float:
        """Return the width of a component's bounds, as the tolerance measures it."""
        start, stop = self.run.component(number)
        widths = intervals.widest_jit(start, stop, self.run.equation, self.lower, self.upper)
        return float(widths[self.run.relative])

    def tighten(self, number: int) -> tuple[int, int]:
        """Sweep once over the bounds of a component; return how many moved, and were refuted."""
        start, stop = self.run.component(number)
        self.run.visits[0] += stop - start
        moved, refuted = intervals.tighten_jit(
            start, stop, self.run.equation, self.lower, self.upper, self.run.policy
        )
        return int(moved), int(refuted)

    def approach(self, number: int) -> float:
        """Sweep once over the values of a component; return the change, by the tolerance's measure.

        A change that rounding alone may cause counts as 0.
        """
        start, stop = self.run.component(number)
        self.run.visits[0] += stop - start
        change, relative = intervals.approach_jit(
            start, stop, self.run.equation, self.run.values, self.run.policy
        )
        if self.run.relative:
            return 0.0 if relative <= 8 * UNIT or change <= 8 * TINY else float(relative)
        floor = 8 * (UNIT * float(np.abs(self.run.values[self.states(number)]).max()) + TINY)
        return 0.0 if change <= floor else float(change)

    def prove(self, number: int, effort: int) -> bool:
        """Bound a component by a proof for its present values; return whether there is one.

        For a component that is not narrowed yet: the policy is the greedy one then.

        Parameters
        ----------
        effort : int
            Largest number of sweeps to find out how long play stays in the component.
        """
        run, states = self.run, self.states(number)
        width = run.prove(number, np.finfo(np.float64).max, min(effort, self.max_sweeps))
        lower, upper = outward(run.values[states], run.errors[states])
        self.lower[states] = np.maximum(self.lower[states], lower)
        self.upper[states] = np.minimum(self.upper[states], upper)
        return bool(np.isfinite(width))

    def limit_reached(self, sweeps: int) -> bool:
        """Return whether to stop, with the reason in the run's status."""
        if self.run.out_of_time:
            self.run.status = Status.TIME_LIMIT
        elif sweeps >= self.max_sweeps:
            self.run.status = Status.SWEEP_LIMIT
        else:
            return False
        return True

    def bound_somehow(self, number: int) -> None:
        """Sweep over a component until both sides are bounded, even widely, or at a limit."""
        threshold = np.inf
        sweeps = 0
        while not self.is_finite(number):
            change = self.approach(number)
            sweeps += 1
            if not np.isfinite(change):
                return  # an overflow, which is reported at the end
            stops = self.limit_reached(sweeps)
            if change <= threshold or stops:
                effort = 100 + 10 * sweeps
                # If values do not change, only a longer look at how play ends can help.
                while not (proven := self.prove(number, effort)) and change == 0:
                    if stops or self.limit_reached(effort):
                        return
                    effort *= 8
                if proven or stops:
                    return
                threshold = change / 16

    def verify_guess(self, number: int, patience: int) -> bool:
        """Guess bounds about the values of a component, try to verify them in `patience` sweeps.

        The guess is as wide as bounds may be. It is discarded if that fails.
        """
        run, states = self.run, self.states(number)
        before = self.lower[states], self.upper[states], run.policy[states]
        values = run.values[states]
        margin = 0.5 * self.share(number)
        margins = margin * np.abs(values) if run.relative else margin
        self.lower[states], self.upper[states] = values - margins, values + margins
        for _ in range(patience):
            _, refuted = self.tighten(number)
            if refuted == 0:
                return True
            if run.out_of_time:
                break
        self.lower[states], self.upper[states], run.policy[states] = before
        return False

    def settle_for_less(self, number: int, sweeps: int) -> None:
        """Prove what is possible, if guesses are finer than rounding allows, or time is up."""
        self.prove(number, 100 + 10 * sweeps)
        if self.is_finite(number):
            self.narrow(number)

    def narrow(self, number: int) -> None:
        """Sweep over the finite bounds of a component until they are close, or at a limit."""
        allowed = self.share(number)
        moved, sweeps = 1, 0
        # One sweep at least: it sets the policy.
        while not sweeps or (moved and self.width(number) > allowed):
            moved, _ = self.tighten(number)
            sweeps += 1
            self.run.reporter.report(sweeps, None, f"component {number:,}: {moved:,} bounds moved")
            if self.limit_reached(sweeps):
                return

    def _span(self, first: int, last: int) -> tuple[int, int]:
        offsets = self.run.problem.model.structure.component_offsets
        return int(offsets[first]), int(offsets[last])

    def _surround(self, number: int) -> None:
        """Bound a component by what it leads to, if that is directly possible."""
        run = self.run
        start, stop = run.component(number)
        low, high, least, most, swaps = intervals.surroundings_jit(
            start, stop, run.equation, self.lower, self.upper
        )
        discount = run.equation.discount
        if discount < 1:
            # Rewards from now on; rounded outward.
            low = _widened(min(low, least / (1 - discount)), -1)
            high = _widened(max(high, most / (1 - discount)), 1)
            if swaps:
                low, high = -max(-low, high), max(-low, high)
        elif swaps:
            low, high = run.problem.range_of_values()
        else:
            low = low if least >= 0 else -np.inf
            high = high if most <= 0 else np.inf
        states = self.states(number)
        # Numbers beyond the range bound nothing.
        self.lower[states] = low if low < np.inf else -np.inf
        self.upper[states] = high if high > -np.inf else np.inf

    def _agree(self, start: int, stop: int) -> None:
        """Set the values to the middle of the bounds, and the errors to their distance from it."""
        run, states = self.run, self.run.equation.order[start:stop]
        lower, upper = self.lower[states], self.upper[states]
        known = np.isfinite(lower) & np.isfinite(upper)
        with np.errstate(invalid="ignore"):
            middle = np.where(known, lower + 0.5 * (upper - lower), run.values[states])
            errors = np.maximum(middle - lower, upper - middle)
        # Values of proper problems are finite: an overflow, which is reported at the end.
        middle[(lower == np.inf) | (upper == -np.inf)] = np.nan
        run.values[states] = middle
        run.errors[states] = np.where(lower == upper, 0.0, np.nextafter(errors, np.inf))


def _widened(number: float, sign: int) -> float:
    if not np.isfinite(number):
        return number
    return number + sign * (1e-12 * abs(number) + TINY)
