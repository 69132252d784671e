"""Components of a problem: each solved by what suits it, successors first."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.bellman import (
    blocks,
    component_sweeps,
    dense_elimination,
    equation,
    policy_proofs,
    sparse_elimination,
    topological,
)
from gamedp.results.status import Status
from gamedp.runtime.floats import UNIT
from gamedp.runtime.slices import TRANSITIONS, VISITS
from gamedp.solvers.tools.run import Run

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.bellman.equation import Equation
    from gamedp.runtime.arrays import Floats

INITIAL_CAPACITY = 1 << 10, 1 << 12, 1 << 14
"""Numbers of states, choices and transitions of a component for which there is room at first, if
the model is that large: nothing is written to it yet."""

HARD_COMPONENTS_BEFORE_COMPILING = 2
"""Number of hard components from which it pays to compile what solves them one after the other.

In a small model it is one: to call kernels for it takes longer than to solve it.
"""


def solve_by_components(
    run: Run, solve_one: Callable[[int], None], small: int = 0, noun: str = "components"
) -> None:
    """Solve the components in reverse topological order; a single state without a loop in one step.

    Parameters
    ----------
    run : Run
    solve_one : callable
        Finds and proves the values of the component of that number.
    small : int
        Components of up to this many states are solved within a kernel if they converge soon. Code
        only for hard ones is compiled once there are several; the first is left to `solve_one`.
    noun : str
        How reports call them.
    """
    structure, graph = run.parts, run.equation.graph
    total = structure.num_components
    allowed = run.share
    sizes = len(run.values), len(run.equation.constants), len(graph.successors)
    most = sizes[1]
    if most > INITIAL_CAPACITY[1]:  # else there is room for all of them
        counts = graph.choice_offsets[1:] - graph.choice_offsets[:-1]
        most = int(counts.max())
    scratch = np.empty((2, most))
    room = memory = None
    if small > 0 and run.problem.is_proper and not structure.is_acyclic:
        capacity = tuple(map(min, sizes, INITIAL_CAPACITY))
        room = _room_for(run, *capacity)
        enough_hard = 1 if sizes[0] == capacity[0] else HARD_COMPONENTS_BEFORE_COMPILING
    hard = 0
    number = 0
    while number < total:
        enough = int(run.visits[0]) + VISITS
        stopped = topological.solve_components_jit(
            number,
            total,
            structure.component_offsets,
            structure.nontrivial,
            run.equation,
            VISITS,
            allowed,
            run.problem.improper_is_worst,
            run.problem.model.has_swaps,
            run.problem.has_one_sign,
            room,
            memory,
            run.values,
            run.errors,
            run.policy,
            run.visits,
            scratch,
        )
        if stopped < total and run.visits[0] <= enough:
            start, stop = run.component(stopped)
            if room is not None:
                sizes = stop - start, *run.visits[1:].tolist()
                run.measured = stopped, sizes[1:]
            if room is not None and stop - start <= small:
                if any(map(operator.gt, sizes, capacity)):
                    capacity = min(2 * sizes[0], small), 2 * sizes[1], 2 * sizes[2]
                    room = _room_for(run, *capacity)
                    number = stopped
                    continue
                hard += 1
                # For a single state, nothing is better than what the kernel does.
                if memory is None and (hard == enough_hard or stop - start == 1):
                    memory = np.empty(component_sweeps.MEMORY)
                    number = stopped
                    continue
            _solve(run, stopped, solve_one, tried=memory is not None and stop - start <= small)
            stopped += 1
        number = stopped
        if run.reporter.is_due:
            run.reporter.report(number, total, f"{number:,} of {total:,} {noun} solved")


def _solve(run: Run, number: int, solve_one: Callable[[int], None], *, tried: bool) -> None:
    """Solve a component; keep what a kernel that has tried it has proven, if that is closer."""
    start, stop = run.component(number)
    states = run.equation.order[start:stop]

    def solve() -> float:
        # Near the fixed point, sweeps would keep to the first of choices that are as good.
        if tried and len(run.values) <= INITIAL_CAPACITY[0]:
            run.values[states] = 0.0
        solve_one(number)
        return float(run.errors[states].max())

    width = float(run.errors[states].max()) if tried else np.inf
    solve() if width == np.inf else run.better_of(states, width, solve)


def _room_for(
    run: Run, num_states: int, num_choices: int, num_transitions: int
) -> tuple[blocks.Block, Floats]:
    """Return a block for a number of states, and an array for their numbers."""
    block = blocks.reserve(num_states, num_choices, num_transitions, run.equation)
    return block, np.empty((blocks.NUMBERS, num_states))


def sweep_until_proven(
    run: Run, number: int, sweep: Callable[[float], float], max_sweeps: int
) -> None:
    """Sweep over one component until its error is proven to be small, or a limit is reached.

    Parameters
    ----------
    run : Run
    number : int
        The component.
    sweep : callable
        Takes the change that is small enough to prove something; returns the largest change that
        Bellman's operator made.
    max_sweeps : int
    """
    start, stop = run.component(number)
    states = run.equation.order[start:stop]
    allowed = run.share
    threshold = 0.01 * allowed
    for count in range(1, max_sweeps + 1):
        change = sweep(threshold)
        run.visits[0] += stop - start
        run.reporter.report(
            count, None, f"component {number:,}: {stop - start:,} states, change {change:.2e}"
        )
        if not np.isfinite(change):
            run.errors[states] = np.inf  # an overflow, reported at the end
            return
        if run.out_of_time:
            run.status = Status.TIME_LIMIT
            break
        floor = 8 * UNIT * float(np.abs(run.values[states]).max())
        if change <= max(threshold, floor):
            if not run.problem.is_proper or run.prove(number, allowed, max_sweeps) <= allowed:
                return
            if change <= floor:
                run.end_unproven()
                return
            threshold = change / 16
    else:
        run.status = Status.SWEEP_LIMIT
    run.prove(number, allowed, max_sweeps)


MAX_GATHERED_NUMBERS = 1 << 25
"""Largest number of choices and transitions of a component that is gathered: a few gigabytes."""

MAX_ELIMINATION_TERMS = 1 << 30
"""Largest number of terms of an elimination: about a second that nothing interrupts."""

MAX_DENSE_STATES = 8000
"""Largest number of states of a component eliminated in a dense matrix: half a gigabyte."""
PANEL = 64
"""Number of states that are eliminated together."""
ROUND = 64
"""Largest distance of changes from the floor, if rounding goes round in circles."""
SWEEPS_BEFORE_ANOTHER_WAY = 4096
"""Sweeps over a small component before another way is tried."""
SWEEPS_OF_WEIGHTS = 1000
"""Largest number of sweeps over the weights of a component."""
DENSE_TERMS_PER_TRANSITION = 8
"""Terms of a dense matrix handled in the time of one transition of a sweep."""


def solve_component(run: Run, number: int, max_sweeps: int) -> None:
    """Iterate over one component until its error is proven to be small, or a limit is reached.

    Parameters
    ----------
    run : Run
        The run of a proper problem.
    number : int
        The component.
    max_sweeps : int
    """
    component = Component(run, number)
    allowed = run.share
    threshold = 0.01 * allowed
    while True:
        floor = component.floor
        found = component.iterate(max(threshold, floor), max_sweeps)
        if found == component_sweeps.REORDER:
            component.reorder()
        elif found != component_sweeps.MORE:
            solved = found == component_sweeps.EXACT or component.change <= floor
            if component.prove(allowed, last=solved) <= allowed or solved:
                return
            threshold = component.change / 16
        elif component.is_crawling:
            width = component.settle()
            if width <= allowed:
                return
            if np.isfinite(width) and component.change <= ROUND * component.floor:
                # Sweeps whose changes add up and cancel out may round for ever.
                component.prove(allowed, last=True)
                return
        if run.out_of_time or component.sweeps >= max_sweeps:
            limit = Status.TIME_LIMIT if run.out_of_time else Status.SWEEP_LIMIT
            if not component.prove(allowed) <= allowed:
                run.status = limit
            return


class Component:
    """One component, and the state of its solution.

    Attributes
    ----------
    is_expensive : bool
        Whether its policy was too expensive to eliminate.
    """

    def __init__(self, run: Run, number: int) -> None:
        self.run, self.number = run, number
        self.start, self.stop = run.component(number)
        self.states = run.equation.order[self.start : self.stop]
        self.size = self.stop - self.start
        num_choices, num_transitions = run.measure(number)
        self.block = blocks.reserve(self.size, num_choices, num_transitions, run.equation)
        self.numbers = np.zeros((blocks.NUMBERS, self.size))
        self.numbers[blocks.VALUE] = run.values[self.states]
        self.who, self.outside = component_sweeps.take_jit(
            self.start,
            self.stop,
            run.equation,
            run.problem.model.has_swaps,
            run.values,
            run.errors,
            self.block,
        )
        self.lengths = num_choices, int(self.block.graph.transition_offsets[num_choices])
        self.memory = np.zeros(component_sweeps.MEMORY)
        self.reordered: _Reordered | None = None
        self.is_expensive = False
        self.budget = min(TRANSITIONS, SWEEPS_BEFORE_ANOTHER_WAY * (self.size + self.lengths[1]))
        self.due = float(self.budget)

    @property
    def is_crawling(self) -> bool:
        """Whether sweeps have taken long enough to try another way, or to try it again."""
        return bool(self.memory[component_sweeps.WORK] >= self.due)

    @property
    def sweeps(self) -> int:
        """The number of sweeps over all choices so far."""
        return int(self.memory[component_sweeps.SWEEPS])

    @property
    def change(self) -> float:
        """The largest change of a value in the last sweep."""
        return float(self.memory[component_sweeps.CHANGE])

    @property
    def floor(self) -> float:
        """The change that rounding alone may cause."""
        return 8 * UNIT * float(np.abs(self._at_work[blocks.VALUE]).max())

    def _relative_error(self) -> float:
        """Return that of the weights if the numbers are those of the policy's elimination, or 0.

        That is asked once, for a proof which may replace the policy.
        """
        found = float(self.memory[component_sweeps.RELATIVE])
        self.memory[component_sweeps.RELATIVE] = 0.0
        return found if self.reordered is None else 0.0

    @property
    def _at_work(self) -> Floats:
        return self.numbers if self.reordered is None else self.reordered.numbers

    def _gather(self, given: Equation) -> None:
        """Fill the block by the order of an equation."""
        bounds, run = (self.start, self.stop), self.run
        blocks.gather_jit(*bounds, *bounds, given, run.values, run.errors, self.block)

    def iterate(self, threshold: float, max_sweeps: int) -> int:
        """Iterate for a while, and return the progress."""
        run, before = self.run, self.sweeps
        self._take_up()
        found = component_sweeps.iterate_jit(
            self.size,
            *self.lengths,
            run.equation.discount,
            self.who,
            run.problem.improper_is_worst,
            threshold,
            max_sweeps,
            self.budget,
            self.block,
            self._at_work,
            self.memory,
        )
        run.visits[0] += (self.sweeps - before) * self.size
        if run.reporter.is_due:
            run.reporter.report(
                self.sweeps,
                None,
                f"component {self.number:,}: {self.size:,} states, change {self.change:.2e}",
            )
        return int(found)

    def reorder(self) -> None:
        """Start again with the states that are nearest to an exit first."""
        sequence = np.empty(self.size, np.uintp)
        sizes = self.size, *self.lengths
        blocks.nearest_exits_first_jit(*sizes, self.block, self.numbers, sequence)
        numbers = np.zeros(self.numbers.shape)
        numbers[blocks.VALUE] = self.numbers[blocks.VALUE, sequence]
        chosen = (self.block.policy - self.block.graph.choice_offsets[:-1])[sequence]
        ordered = self.run.reordered(self.start, self.stop, self.states[sequence])
        self.reordered = _Reordered(ordered, numbers, sequence, chosen)

    def take_policy(self) -> None:
        """Take over the policy of the run."""
        chosen = self.run.policy[self.states] - self.run.equation.graph.choice_offsets[self.states]
        self.block.policy[:] = self.block.graph.choice_offsets[:-1] + chosen.astype(np.uintp)

    def evaluate(self, enough: float) -> bool:
        """Compute the values of the policy: by elimination or, if that is too expensive, by sweeps.

        Parameters
        ----------
        enough : float
            The change at which sweeps stop.

        Returns
        -------
        bool
            Whether play leaves the component almost surely; if not, nothing is changed.
        """
        sizes = self.size, self.run.equation.discount, self.block
        if not self.is_expensive:
            terms, _ = sparse_elimination.eliminate_jit(*sizes, MAX_ELIMINATION_TERMS, self.numbers)
            if terms != sparse_elimination.TOO_EXPENSIVE:
                return bool(terms >= 0)
            self.is_expensive = True
        repeats = 1 + TRANSITIONS // (self.size + self.lengths[1])
        change = np.inf
        work = 0
        while not change <= enough and not self.run.out_of_time:
            if self._may_be_dense(work):
                return self._eliminate_densely() is not None or self.run.out_of_time
            work += TRANSITIONS
            change, increase, sweeps = component_sweeps.follow_jit(
                *sizes, repeats, enough, self.numbers
            )
            self.run.visits[0] += sweeps * self.size
            self.run.reporter.report(
                int(self.run.visits[0]),
                None,
                f"component {self.number:,}: {self.size:,} states, change {change:.2e}",
            )
            if change <= enough and increase > 0.5:
                change = np.inf  # the expected steps are not known yet
        return True

    def improve(self, who: int, margin: float) -> int:
        """Let the policy take choices that are better by a relative margin; return their number.

        Parameters
        ----------
        who : int
            Whose choices may change, see :func:`gamedp.bellman.component_sweeps.improve`.
        """
        self.run.visits[0] += self.size
        _, changed = component_sweeps.improve_jit(
            self.size, self.run.equation.discount, self.block, who, margin, self.numbers
        )
        return int(changed)

    def prove(self, allowed: float, *, last: bool = False) -> float:
        """Prove errors for the values as they are, or better ones; return the width.

        Parameters
        ----------
        allowed : float
            The width that is good enough.
        last : bool
            Whether no other way is left: then elimination in a dense matrix may take longer
            than the sweeps did.
        """
        run = self.run
        self._put_back()
        width = self._prove(allowed, TRANSITIONS if self.is_expensive else MAX_ELIMINATION_TERMS)
        if width <= allowed:
            return float(width)
        dense = (last or self.is_expensive) and allowed > self.size * self.floor / 8
        if dense and self._may_be_dense(np.inf):
            width = run.better_of(self.states, width, self._settle_densely)
            if width > allowed:
                # Values are as exact now as they can be: rounding on all steps may be less.
                width = run.better_of(self.states, width, lambda: self._prove(allowed, 0))
        if width <= allowed or np.isfinite(width):
            return float(width)
        return run.prove(self.number, allowed, SWEEPS_OF_WEIGHTS)

    def _prove(self, allowed: float, most: int) -> float:
        run = self.run
        question = self.start, self.stop, run.equation, self.outside
        width = topological.take_over_and_prove_jit(
            *question, self.block, self.numbers, run.values, run.errors, run.policy
        )
        if width <= allowed or most == 0:
            return float(width)
        width = topological.prove_by_policy_jit(
            *question,
            allowed,
            most,
            self.who,
            run.problem.has_one_sign,
            self._relative_error(),
            self.block,
            self.numbers,
            run.values,
            run.errors,
            run.policy,
        )
        return float(width)

    def settle(self) -> float:
        """Eliminate the policy that sweeps have found, if that takes no longer than they did.

        It is improved and proven, see :mod:`gamedp.bellman.policy_proofs`; return the width. If
        that is infinite, sweeps go on from its values.
        """
        run, work = self.run, self.memory[component_sweeps.WORK]
        self.due = 2 * work
        self._put_back()
        most = int(min(work / 4, MAX_ELIMINATION_TERMS))
        question = self.start, self.stop, run.equation
        answer = run.values, run.errors, run.policy
        width = policy_proofs.prove_policy_jit(
            *question,
            self.outside,
            most,
            run.problem.has_one_sign,
            self.who,
            self._relative_error(),
            self.block,
            self.numbers,
            *answer,
        )
        if not np.isfinite(width) and self._may_be_dense(work):
            width = self._settle_densely()
        other = self.reordered
        if np.isfinite(width):
            self.reordered = None
        elif other is not None:
            other.numbers[blocks.VALUE] = self.numbers[blocks.VALUE, other.sequence]
        return float(width)

    def _may_be_dense(self, work: float) -> bool:
        """Return whether elimination in a dense matrix is as fast as visiting some transitions."""
        rows = self.size * (2 if self.who == component_sweeps.SWAPS else 1)
        return rows <= MAX_DENSE_STATES and rows**3 / 3 <= DENSE_TERMS_PER_TRANSITION * work

    def _settle_densely(self) -> float:
        run = self.run
        question = self.start, self.stop, run.equation
        found = (-1, np.inf, np.inf)
        for _ in range(policy_proofs.ROUNDS):
            relative = self._eliminate_densely()
            if relative is None:
                found = (-1, np.inf, np.inf)
                break
            found = policy_proofs.look_around_jit(
                *question,
                relative,
                self.who,
                self.block,
                self.numbers,
                run.values,
                run.errors,
                run.policy,
            )
            if found[0] <= 0:
                break
        width = policy_proofs.grant_jit(
            *question,
            self.outside,
            run.problem.has_one_sign,
            *found,
            self.numbers,
            run.values,
            run.errors,
        )
        return float(width)

    def _eliminate_densely(self) -> float | None:
        """Set the numbers to those of the policy; return the error of the weights.

        None if time is up or play stays for ever; the numbers are then unchanged.
        """
        block, size = self.block, self.size
        if self.who == component_sweeps.SWAPS:
            block, size = policy_proofs.mirrored_jit(size, block), 2 * size
        matrix = np.zeros((size, size + dense_elimination.EXTRA))
        costs = np.empty(size)
        clear = dense_elimination.lay_out_jit(
            size, self.run.equation.discount, block, matrix, costs
        )
        narrowest = np.inf
        for first in range(0, size, PANEL):
            last = min(first + PANEL, size)
            narrowest = min(
                narrowest, dense_elimination.divide_jit(first, last, size, matrix, costs)
            )
            if narrowest == 0 or self.run.out_of_time:
                return None
            dense_elimination.put_in_jit(first, last, last, size, size, matrix, costs)
            self.run.reporter.report(
                last, size, f"component {self.number:,}: {last:,} of {size:,} states eliminated"
            )
        numbers = np.zeros((blocks.NUMBERS, size))
        relative = dense_elimination.conclude_jit(size, clear, narrowest, matrix, costs, numbers)
        self.numbers[:] = numbers[:, : self.size]
        return float(relative)

    def _take_up(self) -> None:
        """Gather the block in the other order, if there is one, with the policy it had there."""
        other = self.reordered
        if other is None or other.is_gathered:
            return
        self._gather(other.equation)
        self.block.policy[:] = self.block.graph.choice_offsets[:-1] + other.chosen
        other.is_gathered = True

    def _put_back(self) -> None:
        """Gather the block in its own order, with policy and numbers found in the other one."""
        other = self.reordered
        if other is None:
            return
        if other.is_gathered:
            other.chosen = self.block.policy - self.block.graph.choice_offsets[:-1]
            self._gather(self.run.equation)
            other.is_gathered = False
        sequence = other.sequence
        for number in (blocks.VALUE, blocks.WEIGHT):
            self.numbers[number, sequence] = other.numbers[number]
        self.block.policy[sequence] = self.block.graph.choice_offsets[sequence] + other.chosen


@attrs.define(eq=False)
class _Reordered:
    """Another order of a component's states, and what sweeps have found in it.

    There is room for the component once: its block is gathered in this order for sweeps, and in its
    own for proofs.

    Attributes
    ----------
    equation : Equation
        The run's, but for the order.
    numbers : (NUMBERS, S)
    sequence, chosen : (S,)
        The states' numbers in their own order; the place of the policy's choice among a state's.
    is_gathered : bool
        Whether the block is in this order now.
    """

    equation: Equation
    numbers: Floats
    sequence: NDArray[np.uintp]
    chosen: NDArray[Any]
    is_gathered: bool = False


MAX_STATES_IN_KERNEL = 1 << 14
"""Largest number of states of a component solved within a kernel; larger ones sweep by sweep."""


def sweep_components(run: Run, max_sweeps: int) -> None:
    """Find the values of a run, and prove their errors where its problem is proper.

    Parameters
    ----------
    run : Run
        Its values, errors, policy and status are filled in.
    max_sweeps : int
        Largest number of sweeps over one component.
    """

    def solve_one(number: int) -> None:
        if run.problem.is_proper and sum(run.measure(number)) <= MAX_GATHERED_NUMBERS:
            solve_component(run, number, max_sweeps)
            return
        start, stop = run.component(number)

        def sweep(_: float) -> float:
            return float(equation.sweep_jit(start, stop, run.equation, run.values, run.policy))

        sweep_until_proven(run, number, sweep, max_sweeps)

    solve_by_components(run, solve_one, MAX_STATES_IN_KERNEL)
