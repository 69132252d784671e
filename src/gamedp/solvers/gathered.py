"""Solving one component that is gathered into memory of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.kernels import blocks, iteration, proofs, sparse_elimination, topological
from gamedp.solution import Status
from gamedp.solvers.components import share_of_tolerance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.solvers.run import Run

__all__ = ["LARGEST", "Component", "solve_gathered"]

LARGEST = 1 << 25
"""Choices and transitions of a component that is gathered: a few gigabytes."""

BUDGET = 10_000_000
"""Transitions between two looks at the limits: some hundredths of a second."""

MOST = 1 << 28
"""Terms that an elimination may combine: half a second or two, for it cannot be interrupted."""


def solve_gathered(run: Run, number: int, max_sweeps: int) -> None:
    """Iterate over one component until its error is proven to be small, or a limit is reached.

    Parameters
    ----------
    run : Run
        Of a proper problem.
    number : int
        The component.
    max_sweeps : int
    """
    component = Component(run, number)
    allowed = share_of_tolerance(run)
    threshold = 0.01 * allowed
    while True:
        floor = component.floor
        found = component.iterate(max(threshold, floor), max_sweeps)
        if found == iteration.TURNING:
            component.turn()
        elif found != iteration.MORE:
            solved = found == iteration.EXACT or component.change <= floor
            if component.prove(allowed) <= allowed or solved:
                return
            threshold = component.change / 16
        if run.out_of_time or component.sweeps >= max_sweeps:
            run.status = Status.TIME_LIMIT if run.out_of_time else Status.SWEEP_LIMIT
            component.prove(allowed)
            return


class Component:
    """A component by itself, and what has been found.

    Attributes
    ----------
    is_dear : bool
        Whether its policy was too dear to eliminate.
    """

    def __init__(self, run: Run, number: int) -> None:
        self.run, self.number = run, number
        self.start, self.stop = run.component(number)
        self.states = run.rows.order[self.start : self.stop]
        self.size = self.stop - self.start
        self.block, _, self.outside = blocks.isolate_jit(
            self.start, self.stop, self.start, self.stop, run.rows, run.values, run.errors
        )
        self.lengths = (
            len(self.block.known),
            int(self.block.first_transition[len(self.block.known)]),
        )
        self.numbers = np.zeros((blocks.NUMBERS, self.size))
        self.numbers[blocks.VALUE] = run.values[self.states]
        iteration.begin_jit(self.size, self.block)
        swaps = run.problem.model.has_swaps
        self.who = iteration.chooser_jit(self.size, self.block, swaps)
        self.memory = np.zeros(iteration.MEMORY)
        self.rearranged: tuple[Any, NDArray[np.float64], NDArray[Any]] | None = None
        self.is_dear = False

    @property
    def sweeps(self) -> int:
        """Sweeps over all choices up to now."""
        return int(self.memory[iteration.SWEEPS])

    @property
    def change(self) -> float:
        """The largest change of a value in the last sweep."""
        return float(self.memory[iteration.CHANGE])

    @property
    def floor(self) -> float:
        """A change that rounding alone may make."""
        return 8 * proofs.UNIT * float(np.abs(self._at_work[1][blocks.VALUE]).max())

    @property
    def _at_work(self) -> tuple[Any, NDArray[np.float64]]:
        if self.rearranged is None:
            return self.block, self.numbers
        return self.rearranged[:2]

    def iterate(self, threshold: float, max_sweeps: int) -> int:
        """Go on for a while, and say how far it is."""
        run, before = self.run, self.sweeps
        found = iteration.iterate_jit(
            self.size,
            *self.lengths,
            run.rows.discount,
            self.who,
            run.problem.endless_is_worst,
            threshold,
            max_sweeps,
            BUDGET,
            *self._at_work,
            self.memory,
        )
        run.visits[0] += (self.sweeps - before) * self.size
        run.reporter.report(
            self.sweeps,
            None,
            f"component {self.number:,}: {self.size:,} states, change {self.change:.2e}",
        )
        return int(found)

    def turn(self) -> None:
        """Begin anew from the other side, see :func:`gamedp.kernels.iteration.turn`."""
        sequence = np.empty(self.size, np.uintp)
        sizes = self.size, *self.lengths
        block = iteration.turn_jit(*sizes, self.block, self.numbers, sequence)
        numbers = np.zeros_like(self.numbers)
        numbers[blocks.VALUE] = self.numbers[blocks.VALUE, sequence]
        self.rearranged = block, numbers, sequence

    def take_policy(self) -> None:
        """Take over the policy of the run."""
        chosen = self.run.policy[self.states] - self.run.rows.choice_offsets[self.states]
        self.block.policy[:] = self.block.first_choice[:-1] + chosen.astype(np.uintp)

    def evaluate(self, enough: float) -> bool:
        """Find the values of the policy: by elimination or, where that is dear, by sweeps.

        Parameters
        ----------
        enough : float
            The change up to which there are sweeps.

        Returns
        -------
        bool
            Whether play leaves the component almost surely; if not, nothing is changed.
        """
        sizes = self.size, self.run.rows.discount, self.block
        if not self.is_dear:
            terms, _ = sparse_elimination.eliminate_jit(*sizes, MOST, self.numbers)
            if terms != sparse_elimination.DEAR:
                return bool(terms >= 0)
            self.is_dear = True
        repeats = 1 + BUDGET // (self.size + self.lengths[1])
        change = np.inf
        while not change <= enough and not self.run.out_of_time:
            change, increase, sweeps = iteration.follow_jit(*sizes, repeats, enough, self.numbers)
            self.run.visits[0] += sweeps * self.size
            self.run.reporter.report(
                int(self.run.visits[0]),
                None,
                f"component {self.number:,}: {self.size:,} states, change {change:.2e}",
            )
            if change <= enough and increase > 0.5:
                change = np.inf  # the expected steps are not there yet
        return True

    def improve(self, who: int, margin: float) -> int:
        """Let the policy take choices that are better by a relative margin; return how many.

        Parameters
        ----------
        who : int
            Whose choices may change, see :func:`gamedp.kernels.iteration.improve`.
        """
        self.run.visits[0] += self.size
        _, changed = iteration.improve_jit(
            self.size, self.run.rows.discount, self.block, who, margin, self.numbers
        )
        return int(changed)

    def prove(self, allowed: float) -> float:
        """Prove errors for the values as they are, or better ones; return the width."""
        run = self.run
        if self.rearranged is not None:
            block, numbers, sequence = self.rearranged
            iteration.put_back_jit(self.size, block, numbers, sequence, self.block, self.numbers)
        width = topological.prove_jit(
            self.start,
            self.stop,
            run.rows,
            self.outside,
            allowed,
            BUDGET if self.is_dear else MOST,
            self.who,
            run.problem.has_one_sign,
            self.block,
            self.numbers,
            run.values,
            run.errors,
            run.policy,
        )
        if width <= allowed or np.isfinite(width):
            return float(width)
        return run.prove(self.number, allowed, max_sweeps=1000)
