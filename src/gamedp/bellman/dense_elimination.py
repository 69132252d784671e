"""The values of a policy in a gathered component, by elimination in a dense matrix.

The same as :mod:`gamedp.bellman.sparse_elimination`, for matrices that fill in: then searching for
nonzeros takes longer than processing all numbers, row by row as they lie in memory, some dozens at
a time. The errors are bounded by the same theorem.

Rows and columns of the matrix are states; the last columns are right-hand sides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gamedp.bellman.blocks import ERROR, VALUE, WEIGHT, size_of_jit
from gamedp.bellman.sparse_elimination import FAINT, LARGE_ERROR, NEGLIGIBLE_UNDERFLOW
from gamedp.runtime.floats import UNIT
from gamedp.runtime.jit import compiled

if TYPE_CHECKING:
    from gamedp.bellman.blocks import Block
    from gamedp.runtime.arrays import Floats


AWAY, GAIN, LENGTH, SIZE, INHERITED = range(5)
"""Columns after those of the states: see :mod:`gamedp.bellman.sparse_elimination`."""
EXTRA = 5
STRIP = 512
"""Number of columns processed together: they fit into the processor's cache."""
ONE = np.uintp(1)


def lay_out(size: int, discount: float, block: Block, matrix: Floats, costs: Floats) -> bool:
    """Fill in the equation of a component's policy; no players swap.

    Parameters
    ----------
    matrix : (S, S + EXTRA)
        Zero.
    costs : (S,)
        Filled: the number of roundings in each row.

    Returns
    -------
    clear : bool
        Whether all probabilities sum to one, up to rounding.
    """
    graph = block.graph
    clear = True
    for state in range(np.uintp(size)):
        choice = block.policy[state]
        first = graph.transition_offsets[choice]
        last = graph.transition_offsets[choice + ONE]
        total = block.leaving[choice]
        outside = block.outer[choice]
        cost = 4.0 + (outside + 2.0 if outside > 0.0 else 0.0) + (3.0 if discount < 1.0 else 0.0)
        for t in range(first, last):
            successor = np.uintp(graph.successors[t])
            if matrix[state, successor] > 0.0:
                cost += 1.0
            matrix[state, successor] += discount * block.probabilities[t]
            total += block.probabilities[t]
        if total != 1.0:
            clear = clear and abs(total - 1.0) <= (float(last - first) + outside + 8.0) * UNIT
            cost += abs(total - 1.0) / UNIT
        matrix[state, size + AWAY] = (1.0 - discount) + discount * block.leaving[choice]
        matrix[state, size + GAIN] = block.constants[choice]
        matrix[state, size + LENGTH] = 1.0
        matrix[state, size + SIZE] = size_of_jit(block, choice)
        matrix[state, size + INHERITED] = discount * block.slacks[choice]
        costs[state] = cost
    return clear


lay_out_jit = compiled(lay_out)


def put_in(
    first: int, last: int, top: int, bottom: int, size: int, matrix: Floats, costs: Floats
) -> None:
    """Substitute the eliminated states ``first .. last-1`` into the rows ``top .. bottom-1``.

    `last` - `first` is a multiple of four, except for the last states of all.
    """
    width = size + EXTRA
    for row in range(top, bottom):
        for state in range(first, last):
            probability = matrix[row, state]
            if probability > 0.0:
                # The sum may have lost three units; the division, the product and the addition.
                costs[row] += 6.0
                for column in range(state + 1, last):
                    matrix[row, column] += probability * matrix[state, column]
    for begin in range(last, width, STRIP):
        end = min(begin + STRIP, width)
        for row in range(top, bottom):
            state = first
            while state + 4 <= last:
                one, two = matrix[row, state], matrix[row, state + 1]
                three, four = matrix[row, state + 2], matrix[row, state + 3]
                if one + two + three + four > 0.0:
                    for column in range(begin, end):
                        matrix[row, column] += (
                            one * matrix[state, column] + two * matrix[state + 1, column]
                        ) + (three * matrix[state + 2, column] + four * matrix[state + 3, column])
                state += 4
            while state < last:
                one = matrix[row, state]
                if one > 0.0:
                    for column in range(begin, end):
                        matrix[row, column] += one * matrix[state, column]
                state += 1


put_in_jit = compiled(put_in)


def divide(first: int, last: int, size: int, matrix: Floats, costs: Floats) -> float:
    """Eliminate the states ``first .. last-1``, into which all previous ones have been substituted.

    Returns
    -------
    narrowest : float
        The least probability of going elsewhere; 0 if play stays for ever.
    """
    width = size + EXTRA
    narrowest = np.inf
    for state in range(first, last):
        for other in range(first, state):
            probability = matrix[state, other]
            if probability > 0.0:
                costs[state] += 6.0
                for column in range(other + 1, width):
                    matrix[state, column] += probability * matrix[other, column]
        out = matrix[state, size + AWAY]
        lost = 0.0
        for column in range(state + 1, size):
            part = matrix[state, column] - lost
            total = out + part
            lost = (total - out) - part
            out = total
        if not out > 0.0:
            return 0.0
        narrowest = min(narrowest, out)
        for column in range(state + 1, width):
            matrix[state, column] /= out
    return narrowest


divide_jit = compiled(divide)


def conclude(
    size: int, clear: bool, narrowest: float, matrix: Floats, costs: Floats, numbers: Floats
) -> float:
    """Set values, weights and errors, the last states first.

    Returns
    -------
    relative : float
        The relative error of the weights; infinite if nothing is known, as are the errors.
    """
    roundings = most_along = longest = highest = 0.0
    earns = False
    for position in range(size):
        state = size - 1 - position
        value, weight = matrix[state, size + GAIN], matrix[state, size + LENGTH]
        total, inherited = matrix[state, size + SIZE], matrix[state, size + INHERITED]
        way = 0.0
        count = 0.0
        for later in range(state + 1, size):
            share = matrix[state, later]
            if share > 0.0:
                value += share * numbers[VALUE, later]
                weight += share * numbers[WEIGHT, later]
                total += share * matrix[later, size + SIZE]
                inherited += share * matrix[later, size + INHERITED]
                way = max(way, numbers[ERROR, later])
                count += 1.0
        way += 6.0 + count
        numbers[VALUE, state], numbers[WEIGHT, state] = value, weight
        numbers[ERROR, state] = way
        matrix[state, size + SIZE], matrix[state, size + INHERITED] = total, inherited
        roundings += costs[state]
        most_along = max(most_along, way)
        longest = max(longest, weight)
        highest = max(highest, total)
        earns = earns or total > 0.0 or inherited > 0.0
    spread = 2.0 * roundings * UNIT
    faint = FAINT * (float(size) + 16.0) * float(size) * float(size) / narrowest
    relative = (spread + most_along * UNIT) * (1.0 + 4.0 * LARGE_ERROR)
    if not clear or not relative < LARGE_ERROR or not faint * longest < NEGLIGIBLE_UNDERFLOW:
        relative = np.inf
    for state in range(size):
        off = spread + numbers[ERROR, state] * UNIT
        error = (off * matrix[state, size + SIZE] + matrix[state, size + INHERITED]) * (
            1.0 + 4.0 * off
        )
        if earns:
            error += faint * (2.0 + 4.0 * highest) * numbers[WEIGHT, state]
        numbers[ERROR, state] = error if relative < LARGE_ERROR and error < np.inf else np.inf
    return relative


conclude_jit = compiled(conclude)
