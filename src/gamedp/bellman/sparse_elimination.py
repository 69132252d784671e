r"""The values of a policy in a gathered component, by sparse elimination.

States are eliminated in the order of the sweeps: play that reaches a state before it goes on to
where that one leads in the end. In depth-first order most successors of a state come before it, so
that little is left of each equation: the few states later in the order to which cycles lead back.
The probability of leaving a state is the sum of those of going elsewhere, never one minus the rest.
Nothing is subtracted, so no digits are lost by cancellation however long play lasts [1]_, and the
effect of rounding has an a priori bound, by the following theorem.

**Values as quotients.** Let state i lead to j with probability :math:`p_{ij}` and leave the
component with :math:`p_{i0}`, and let a visit of i have the reward :math:`g_i \ge 0`. By the matrix
tree theorem [2]_, values are quotients of sums of positive terms, each of which takes exactly one
number of each row :math:`(p_{i1}, \dots, p_{i0}, g_i)` but :math:`p_{ii}`; see
``docs/explanation/elimination.md``. If the numbers of row i change by a factor between
:math:`1 - \varepsilon_i` and :math:`1 + \varepsilon_i` each, the value changes by a factor of at
most

.. math:: \prod_i \frac{1 + \varepsilon_i}{1 - \varepsilon_i},

however long play lasts. That a row sums to one is not used: the rest is the probability to stay.

**Rounding.** Let :math:`S_m` be the sum of the numbers of row m after its substitutions.
Putting row m into row i replaces :math:`p_{ij}` by :math:`p_{ij} + p_{im} p_{mj} / S_m`: done
exactly, it changes no value. All terms are positive, so the result is off by a factor of at most
:math:`1 + c_m u`, u = 2**-53, where :math:`c_m` counts what the sum may have lost, the division,
the product and the addition: this is a change of row i as above. Rows count their changes while
they are put together (`COST`): those of the stored probabilities, each of which may be off by two
units in the last place; of sums over successors outside; and one for each row put in. In the end
values follow from those after them in the order, where the count along the longest way is added.
The bound is proportional to the terms that there are, not to the steps of play: on a chain in which
each state has one successor later in the order, about 20 u a state.

Where rewards have both signs, gains and losses are bounded separately. A rounded difference counts
as rounding of both, in proportion. So the errors of values are relative to the sum of both, which
has a right-hand side of its own (`SIZE`); so have the errors of known values outside (`INHERITED`).

**What underflows** may lose all of its digits, but no more than `FAINT` of a number of a row, and
that divided by :math:`S_m` once the row is divided. Such a
change of a row changes values by at most that, times the expected steps, times twice the largest
value (the effect of going elsewhere once).

Numbers of states are unsigned where they are used most, see :mod:`gamedp.bellman.blocks`.

References
----------
.. [1] W. Grassmann, M. Taksar, D. Heyman, "Regenerative analysis and steady state distributions for
   Markov chains", Operations Research 33 (1985).
.. [2] C. O'Cinneide, "Entrywise perturbation theory and error analysis for Markov chains",
   Numerische Mathematik 65 (1993); "Relative-error bounds for the LU decomposition via the GTH
   algorithm", Numerische Mathematik 73 (1996).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gamedp.bellman.blocks import ERROR, VALUE, WEIGHT, size_of_jit
from gamedp.runtime.floats import UNIT
from gamedp.runtime.jit import compiled, inlined

if TYPE_CHECKING:
    from gamedp.bellman.blocks import Block
    from gamedp.runtime.arrays import Floats, Naturals


STAYS, TOO_EXPENSIVE = -1, -2
"""Reasons why there is no result: play stays for ever with the policy; or the cost is too high."""

GAIN, LENGTH, AWAY, SIZE, INHERITED, COST = range(6)
"""Numbers kept of an eliminated state: its reward, its steps, its probability of leaving the
component; its reward if nothing cancels out, and the contribution of errors outside; and its
number of roundings."""
COLUMNS = 8  # one line of the processor's cache

FAINT = 2.0**-1072
"""Upper bound of the loss of a number by underflow."""
LARGE_ERROR = 0.01
"""Relative error from which errors are not considered small."""
NEGLIGIBLE_UNDERFLOW = 2.0**-100
"""Bound up to which underflow on all steps of play together does not change their number."""

ONE = np.uintp(1)


def push(heap: Naturals, count: int, number: int) -> None:
    """Push a number onto a heap of `count` numbers, the least first."""
    place = np.uintp(count)
    while place > 0 and heap[(place - ONE) >> ONE] > number:
        heap[place] = heap[(place - ONE) >> ONE]
        place = (place - ONE) >> ONE
    heap[place] = number


push_jit = inlined(push)


def sift(heap: Naturals, count: int) -> None:
    """Replace the first number of a heap by the one after its end."""
    number = heap[count]
    place = np.uintp(0)
    while True:
        child = place + place + ONE
        if child >= count:
            break
        if child + ONE < count and heap[child + ONE] < heap[child]:
            child += ONE
        if heap[child] >= number:
            break
        heap[place] = heap[child]
        place = child
    heap[place] = number


sift_jit = inlined(sift)


def eliminate(
    num_states: int, discount: float, block: Block, most: int, numbers: Floats
) -> tuple[int, float]:
    """Set values, weights and errors of a component to those of its policy; no players swap.

    The weights are the expected steps within the component. The errors bound the distance to the
    true values, for every model whose probabilities agree with the stored ones to two units in
    the last place.

    The steps for each state, in the order of the sweeps, and then once for all::

        read the policy's row: earlier successors go to the heap `before`, the others to `after`
          v
        while `before` has a state: put its eliminated row in its place, the least state first
          v
        divide by the probability to go elsewhere, `out`; keep the row in `columns` and `shares`,
        its right-hand sides in `found`
          v
        from the last state to the first: values, weights and errors

    Parameters
    ----------
    most : int
        Largest number of terms to combine.

    Returns
    -------
    terms : int
        The number of terms combined; or, with the numbers unchanged, `STAYS` or `TOO_EXPENSIVE`.
    relative : float
        The relative error of the weights; infinite if nothing is known, as are the errors
        then.
    """
    graph = block.graph
    offsets = np.empty(num_states + 1, np.uintp)
    columns = np.empty(2 * num_states + 16, graph.successors.dtype)
    shares = np.empty(2 * num_states + 16)
    found = np.empty((num_states, COLUMNS))
    probabilities = np.empty(num_states)
    seen = np.empty(num_states, np.uintp)
    seen[:] = num_states
    before = np.empty(num_states + 1, np.uintp)
    after = np.empty(num_states, np.uintp)
    used = terms = np.uintp(0)
    roundings = 0.0
    narrowest = np.inf
    earns = vague = False
    offsets[0] = 0
    for state in range(np.uintp(num_states)):
        # Read the policy's row.
        choice = block.policy[state]
        first = graph.transition_offsets[choice]
        last = graph.transition_offsets[choice + ONE]
        gain = block.constants[choice]
        length = 1.0
        leaving = (1.0 - discount) + discount * block.leaving[choice]
        size = size_of_jit(block, choice)
        inherited = discount * block.slacks[choice]
        if size > 0.0 or inherited > 0.0:
            earns = True
        total = block.leaving[choice]
        cost = 4.0
        num_before = num_after = np.uintp(0)
        for t in range(first, last):
            successor = np.uintp(graph.successors[t])
            probability = discount * block.probabilities[t]
            total += block.probabilities[t]
            if seen[successor] == state:
                probabilities[successor] += probability
                cost += 1.0
                continue
            seen[successor] = state
            probabilities[successor] = probability
            if successor < state:
                push_jit(before, num_before, successor)
                num_before += ONE
            else:
                after[num_after] = successor
                num_after += ONE
        outside = block.outer[choice]
        if outside > 0.0:
            cost += outside + 2.0
        if discount < 1.0:
            cost += 3.0
        if total != 1.0:
            # For probabilities that are scaled; if they are far from a sum of one, what is meant?
            vague = vague or abs(total - 1.0) > (float(last - first) + outside + 8.0) * UNIT
            cost += abs(total - 1.0) / UNIT
        # Substitute the rows of earlier states.
        while num_before > 0:
            middle = before[0]
            num_before -= ONE
            sift_jit(before, num_before)
            probability = probabilities[middle]
            gain += probability * found[middle, GAIN]
            length += probability * found[middle, LENGTH]
            leaving += probability * found[middle, AWAY]
            size += probability * found[middle, SIZE]
            inherited += probability * found[middle, INHERITED]
            cost += found[middle, COST]
            terms += ONE
            for place in range(offsets[middle], offsets[middle + ONE]):
                successor = np.uintp(columns[place])
                terms += ONE
                if seen[successor] == state:
                    probabilities[successor] += probability * shares[place]
                    continue
                seen[successor] = state
                probabilities[successor] = probability * shares[place]
                if successor < state:
                    push_jit(before, num_before, successor)
                    num_before += ONE
                else:
                    after[num_after] = successor
                    num_after += ONE
        if terms > most:
            return TOO_EXPENSIVE, np.inf
        roundings += cost
        # Divide by the probability to go elsewhere. Kahan's sum: its error is
        # little more than two units, whatever the number of terms.
        out = leaving
        lost = 0.0
        count = 1.0 if leaving > 0.0 else 0.0
        for number in range(num_after):
            if after[number] != state:
                part = probabilities[after[number]] - lost
                total = out + part
                lost = (total - out) - part
                out = total
                count += 1.0
        if not out > 0.0:
            return STAYS, np.inf
        if used + num_after > len(columns):
            more = np.empty(2 * len(columns) + num_states, columns.dtype)
            larger = np.empty(len(more))
            for place in range(used):
                more[place] = columns[place]
                larger[place] = shares[place]
            columns, shares = more, larger
        if out < narrowest:
            narrowest = out
        for number in range(num_after):
            later = after[number]
            if later != state:
                columns[used] = later
                shares[used] = probabilities[later] / out
                used += ONE
        offsets[state + ONE] = used
        found[state, GAIN] = gain / out
        found[state, LENGTH] = length / out
        found[state, AWAY] = leaving / out
        found[state, SIZE] = size / out
        found[state, INHERITED] = inherited / out
        # The loss of the sum, the division, the product and the addition.
        found[state, COST] = min(count - 1.0, 3.0) + 3.0
    # Back from the last state to the first: values and weights.
    along = probabilities  # roundings on the longest way through states after this one
    highest = longest = most_along = 0.0
    for position in range(num_states):
        last = np.uintp(num_states - 1 - position)
        value = found[last, GAIN]
        weight = found[last, LENGTH]
        size = found[last, SIZE]
        inherited = found[last, INHERITED]
        way = 0.0
        for place in range(offsets[last], offsets[last + ONE]):
            later = np.uintp(columns[place])
            share = shares[place]
            value += share * numbers[VALUE, later]
            weight += share * numbers[WEIGHT, later]
            size += share * found[later, SIZE]
            inherited += share * found[later, INHERITED]
            way = max(way, along[later])
        way += found[last, COST] + float(offsets[last + ONE] - offsets[last])
        along[last] = way
        most_along = max(most_along, way)
        longest = max(longest, weight)
        highest = max(highest, size)
        found[last, SIZE] = size
        found[last, INHERITED] = inherited
        numbers[VALUE, last] = value
        numbers[WEIGHT, last] = weight
    # The errors.
    faint = FAINT * (float(terms) + 16.0 * num_states) / narrowest
    spread = 2.0 * roundings * UNIT
    relative = (spread + most_along * UNIT) * (1.0 + 4.0 * LARGE_ERROR)
    if vague or not relative < LARGE_ERROR or not faint * longest < NEGLIGIBLE_UNDERFLOW:
        relative = np.inf
    for state in range(np.uintp(num_states)):
        off = spread + along[state] * UNIT
        # Products of small errors, and the error of both sums, are a few of `LARGE_ERROR`.
        error = (off * found[state, SIZE] + found[state, INHERITED]) * (1.0 + 4.0 * off)
        if earns:
            error += faint * (2.0 + 4.0 * highest) * numbers[WEIGHT, state]
        numbers[ERROR, state] = error if relative < LARGE_ERROR and error < np.inf else np.inf
    return int(terms), relative


eliminate_jit = compiled(eliminate)
