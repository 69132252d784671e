"""Iterating over a gathered component until it is solved: sweeps, and policy evaluation.

A full sweep evaluates all choices and improves the policy. In between, the policy alone is
followed: by elimination, which gives its values exactly, as long as that takes few terms compared
with the sweeps so far (:mod:`gamedp.bellman.sparse_elimination`); or by some sweeps over its own
choices. Values of an eliminated policy that no sweep can improve are solved, up to rounding: policy
iteration [1]_, with improvements that see each other within a sweep. The weights for the proof, the
expected steps of the policy within the component, are computed in either case.

Two opponents begin with sweeps of both. Once one changes no choice, or if convergence is slow, the
minimisers improve their answer to the policy of the maximisers as long as they can, then the
maximisers improve theirs [2]_.

References
----------
.. [1] M. Puterman, "Markov Decision Processes", Wiley 1994, sections 6.4, 6.5 and 7.2.
.. [2] A. Hoffman, R. Karp, "On nonterminating stochastic games", Management Science 12 (1966).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gamedp.bellman.blocks import (
    ELIMINATED,
    VALUE,
    WEIGHT,
    Block,
    gather_jit,
    lead_out_jit,
    sweep_jit as sweep_with_weights_jit,
)
from gamedp.bellman.sparse_elimination import STAYS, TOO_EXPENSIVE, eliminate_jit
from gamedp.runtime.jit import compiled

if TYPE_CHECKING:
    from gamedp.bellman.equation import Equation
    from gamedp.runtime.arrays import Floats


ONE = np.uintp(1)

SURE, ALONE, OPPONENTS, SWAPS = 0, 1, 2, 3
"""Choosers in a component: nobody, one side, or opponents; or the players change places."""

BOTH, MAXIMISERS, MINIMISERS = 0, 1, 2
"""The side whose choices a sweep may improve."""

MORE, REORDER, CHANGING_LITTLE, EXACT = 0, 1, 2, 3
"""Progress of a component: there is more to do; its states should be put in another order, see
:func:`gamedp.bellman.blocks.nearest_exits_first`; values change so little that something can
be proven; or the policy is best."""

SWEEPS, WORK, SINCE, COST, NEEDED, ROUNDS = range(6)
SIDE, RELATIVE, LED_OUT, REORDERED, IS_STEADY, CHANGE = range(6, 12)
MEMORY = 12
"""Size of the memory of a component between calls, as floating-point numbers:

* SWEEPS: full sweeps so far. CHANGE: the largest change of a value in the last one.
* WORK: transitions visited. SINCE: those since the last elimination. COST: the cost of that one.
* NEEDED: terms that the next elimination must be allowed to combine. ROUNDS: eliminations so far.
* SIDE: which of two opponents improves next.
* RELATIVE: the relative error of the weights while the values are those of the policy, by
  elimination; else 0.
* IS_STEADY: whether sweeps along the policy change little.
* LED_OUT: whether the policy was replaced by one that leaves the component. REORDERED: whether
  `REORDER` was returned before.
"""

REPEATS = 8
"""Sweeps along a policy between two that may improve it."""
SWEEPS_BEFORE_POLICIES = 64
"""Sweeps with opponents before their policies are improved in turns."""
SWEEPS_BEFORE_PLAIN_ONES = 5000
"""Sweeps after which nothing but them is trusted to converge."""
MAX_ELIMINATION_TERMS = float(1 << 26)
"""Largest number of terms of an elimination: some tenths of a second that nothing interrupts."""


def improve(
    num_states: int, discount: float, block: Block, who: int, margin: float, numbers: Floats
) -> tuple[float, int]:
    """Set all states to the values of their best choices, in place (Gauss-Seidel).

    Parameters
    ----------
    who : int
        The side whose choices may change: the others follow the policy.
    margin : float
        The relative margin by which a choice must be better to replace that of the policy.

    Returns
    -------
    change : float
        The largest change of a value.
    changed : int
        The number of choices of the policy that were replaced.
    """
    graph = block.graph
    change = 0.0
    changed = 0
    for state in range(np.uintp(num_states)):
        sign = block.signs[state]
        kept = block.policy[state]
        first = graph.choice_offsets[state]
        last = graph.choice_offsets[state + ONE]
        if who != BOTH and (who == MAXIMISERS) != (sign > 0.0):
            first = kept
            last = kept + ONE
        best = present = -np.inf
        best_choice = kept
        for choice in range(first, last):
            total = 0.0
            for t in range(
                graph.transition_offsets[choice], graph.transition_offsets[choice + ONE]
            ):
                total += block.probabilities[t] * numbers[VALUE, graph.successors[t]]
            value = sign * (block.constants[choice] + discount * total)
            if choice == kept:
                present = value
            if value > best:
                best = value
                best_choice = choice
        if best_choice != kept and best > present + margin * max(abs(best), abs(present)):
            block.policy[state] = best_choice
            changed += 1
        difference = abs(sign * best - numbers[VALUE, state])
        # Written so that a NaN counts as an infinite change.
        if not difference <= change:
            change = difference
        numbers[VALUE, state] = sign * best
    return change, changed


improve_jit = compiled(improve)


def follow(
    num_states: int, discount: float, block: Block, repeats: int, enough: float, numbers: Floats
) -> tuple[float, float, int]:
    """Sweep over values and weights of a policy until no value changes by more than `enough`.

    Returns
    -------
    change, increase
        The largest change of a value, and the largest increase of a weight, in the last sweep.
    sweeps : int
    """
    graph = block.graph
    change = increase = 0.0
    for sweep in range(repeats):
        change = increase = 0.0
        for state in range(np.uintp(num_states)):
            choice = block.policy[state]
            total = length = 0.0
            for t in range(
                graph.transition_offsets[choice], graph.transition_offsets[choice + ONE]
            ):
                successor = graph.successors[t]
                total += block.probabilities[t] * numbers[VALUE, successor]
                length += block.probabilities[t] * numbers[WEIGHT, successor]
            value = block.constants[choice] + discount * total
            weight = 1.0 + discount * length
            difference = abs(value - numbers[VALUE, state])
            if not difference <= change:
                change = difference
            if weight - numbers[WEIGHT, state] > increase:
                increase = weight - numbers[WEIGHT, state]
            numbers[VALUE, state] = value
            numbers[WEIGHT, state] = weight
        if change <= enough:
            return change, increase, sweep + 1
    return change, increase, repeats


follow_jit = compiled(follow)


def begin(num_states: int, block: Block) -> None:
    """Prepare for the first sweep: the policy takes the first choices."""
    for state in range(np.uintp(num_states)):
        block.policy[state] = block.graph.choice_offsets[state]


begin_jit = compiled(begin)


def chooser(num_states: int, block: Block, swaps: bool) -> int:
    """Return who chooses in a component: `SURE`, `ALONE`, `OPPONENTS` or `SWAPS`."""
    graph = block.graph
    if swaps:
        return SWAPS
    sign = 0.0
    for state in range(np.uintp(num_states)):
        if graph.choice_offsets[state + ONE] - graph.choice_offsets[state] > ONE:
            if sign * block.signs[state] < 0.0:
                return OPPONENTS
            sign = block.signs[state]
    return SURE if sign == 0.0 else ALONE


chooser_jit = compiled(chooser)


def take(
    start: int,
    stop: int,
    equation: Equation,
    swaps: bool,
    values: Floats,
    errors: Floats,
    block: Block,
) -> tuple[int, float]:
    """Gather the component ``order[start:stop]`` into a new block, before its first sweep.

    Returns
    -------
    who : int
        Who chooses, see :func:`chooser`.
    outside : float
        The largest error of a successor outside.
    """
    size = stop - start
    _, outside = gather_jit(start, stop, start, stop, equation, values, errors, block)
    begin_jit(size, block)
    return chooser_jit(size, block, swaps), outside


take_jit = compiled(take)


def iterate(
    num_states: int,
    num_choices: int,
    num_transitions: int,
    discount: float,
    who: int,
    may_stay: bool,
    threshold: float,
    max_sweeps: int,
    budget: int,
    block: Block,
    numbers: Floats,
    memory: Floats,
) -> int:
    """Continue with a component for about `budget` transitions; return its progress.

    The order of the steps, until one of the results on the right::

        sweep over all choices
          |-- change small, values steady ----------------> CHANGING_LITTLE
          |-- nothing improves an exact policy -----------> EXACT, or the other opponent's turn
          v
        is an elimination due, and cheap enough?
          |-- yes: eliminate the policy, its values are exact; sweep again
          |-- too expensive for one player, the first time -> REORDER
          v
        follow the policy for a few sweeps; sweep again

    If players change places, and at first if there are opponents, only the sweeps are made.

    Parameters
    ----------
    who : int
        Who chooses, see :func:`chooser`.
    may_stay : bool
        Whether policies may stay in the component for ever, which is the worst outcome for the
        player able to do so.
    threshold : float
        The change that is small enough to prove something.
    max_sweeps : int
        Largest number of full sweeps, including those of earlier calls.
    numbers : (NUMBERS, S)
        Initial values, and otherwise zero.
    memory : (MEMORY,)
        State kept between calls, zero at first.
    """
    enough = memory[WORK] + budget
    size = num_states + num_transitions
    while memory[WORK] < enough and memory[SWEEPS] < max_sweeps:
        plain = who == SWAPS or (who == OPPONENTS and memory[ROUNDS] == 0.0)
        increase = np.inf
        changed = 1
        if plain:
            change, increase, same = sweep_with_weights_jit(num_states, discount, block, numbers)
            changed = 0 if same else 1
        elif who == SURE and memory[SWEEPS] == 0.0:
            change = np.inf  # there is nothing to improve
            changed = 0
        else:
            # Differences by rounding alone must not be improved for ever.
            margin = 2.0 ** (0.5 * min(max(memory[ROUNDS] - 32.0, 0.0), 20.0) - 50.0)
            side = int(memory[SIDE]) if who == OPPONENTS else BOTH
            change, changed = improve_jit(num_states, discount, block, side, margin, numbers)
            if memory[RELATIVE] > 0.0 and changed == 0:
                if side != MINIMISERS:
                    return EXACT
                memory[SIDE] = MAXIMISERS
                continue
            memory[SIDE] = MINIMISERS
        memory[RELATIVE] = 0.0
        memory[CHANGE] = change
        memory[SWEEPS] += 1.0
        memory[WORK] += size
        memory[SINCE] += size
        if change <= threshold and (memory[IS_STEADY] > 0.0 or (plain and increase <= 0.5)):
            return CHANGING_LITTLE
        memory[IS_STEADY] = 0.0
        may = min(8 * num_states + memory[WORK] / 8.0, MAX_ELIMINATION_TERMS)
        too_expensive = memory[NEEDED] > may or who == SWAPS
        due = changed == 0 or change <= threshold or memory[SINCE] >= memory[COST]
        if plain:
            # A policy that both keep to may be best: then one policy each is all that is needed.
            due = memory[SWEEPS] >= SWEEPS_BEFORE_POLICIES or (
                changed == 0 and memory[SWEEPS] > 1.0
            )
        if due and not too_expensive:
            terms = STAYS
            relative = np.inf
            while terms == STAYS:
                terms, relative = eliminate_jit(num_states, discount, block, int(may), numbers)
                if not may_stay or memory[LED_OUT] > 0.0:
                    break
                if terms == STAYS:
                    memory[LED_OUT] = 1.0
                    sequence = np.empty(num_states, np.uintp)
                    lead_out_jit(num_states, num_choices, num_transitions, block, sequence)
                    memory[WORK] += 2 * size
            memory[SINCE] = 0.0
            if terms >= 0:
                memory[COST] = 2.0 * (terms + 2 * num_states)
                memory[WORK] += memory[COST]
                memory[ROUNDS] += 1.0
                memory[RELATIVE] = relative
                for state in range(np.uintp(num_states)):
                    numbers[ELIMINATED, state] = numbers[VALUE, state]
                memory[SIDE] = MINIMISERS
                continue
            memory[WORK] += 2.0 * may
            memory[NEEDED] = np.inf if terms == STAYS else 4.0 * may
            too_expensive = True
            if (
                terms == TOO_EXPENSIVE
                and who == ALONE
                and memory[REORDERED] == 0.0
                and discount == 1.0
            ):
                memory[REORDERED] = 1.0
                memory[NEEDED] = 0.0
                return REORDER
        if plain or not too_expensive:
            continue
        if who == OPPONENTS:
            memory[ROUNDS] = 0.0  # sweeps along the policies of both need not converge
            continue
        if memory[SWEEPS] > SWEEPS_BEFORE_PLAIN_ONES:
            if change <= threshold:
                return CHANGING_LITTLE
            continue
        goal = max(0.1 * change, 0.1 * threshold)
        change, increase, sweeps = follow_jit(num_states, discount, block, REPEATS, goal, numbers)
        memory[WORK] += sweeps * (num_states + num_transitions * num_states // num_choices)
        # Then these are its values; and if the next sweep finds nothing better, it is best.
        memory[IS_STEADY] = 1.0 if change <= threshold and increase <= 0.5 else 0.0
    return MORE


iterate_jit = compiled(iterate)
