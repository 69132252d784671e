"""Bounds from rational values, where sums in 64-bit numbers prove too little.

A proof by residuals loses a rounding error with each step of play, which is too much if play takes
millions of steps. The values of the stored probabilities, scaled to sum to one, are rational, and
can be computed exactly (:mod:`gamedp.solvers.tools.exact.work`). It remains to bound how far they
move for other probabilities that round to the stored ones.

Let n states have choices with chance, and consider memoryless policies of both players. The
expected number of visits to a state, and the probability of ending in some place, are quotients of
two sums over forests in the graph: of products of n - 1 or n probabilities, none of which leads
from a state to itself, and with no minus sign [1]_. So if each state's probabilities are off by a
factor between 1 - e and 1 + e, these are off by a factor of at most the product of all ``(1 + e) /
(1 - e)``. Where no reward is negative, and no payoff less than -c, the same is true of a total plus
c, for any two policies, and so of the value plus c. Elimination without subtraction rests on the
same fact.

References
----------
.. [1] M. Freidlin, A. Wentzell, "Random Perturbations of Dynamical Systems", Springer 1984,
   chapter 6.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from gamedp.errors import InvalidModelError, UnsupportedProblemError
from gamedp.model.objectives import Discounted
from gamedp.results.status import Status, width_of
from gamedp.runtime.floats import UNIT
from gamedp.runtime.limit import Reporter
from gamedp.solvers.tools.exact.process import StoppedError
from gamedp.solvers.tools.exact.systems import as_fraction, enclosed, flint
from gamedp.solvers.tools.exact.work import Work
from gamedp.solvers.tools.opponents import Opponents
from gamedp.solvers.tools.run import Answer
from gamedp.solvers.tools.strategies import middle_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.solvers.tools.prepared import Prepared

    Floats = NDArray[np.float64]

MOST_STATES, MOST_WITHOUT_FLINT = 1000, 200
"""Largest models whose linear systems in rational numbers take at most seconds."""

SMALLEST = 2.0**-1000
"""Smaller probabilities are not known to within a factor near to 1."""


@np.errstate(over="ignore", invalid="ignore")  # an overflow is refused at the end
def narrowed(
    prepared: Prepared, answer: Answer, tolerance: float, seconds: float, reporter: Reporter
) -> Answer:
    """Return an answer whose bounds rational numbers have narrowed, or the given one.

    Parameters
    ----------
    prepared : Prepared
        A problem whose opponents are settled.
    answer : Answer
        The result in doubles.
    tolerance : float
    seconds : float
        Time limit, counted by `reporter`.
    """
    found = bounds_by_rationals(prepared, answer.policy, seconds, reporter)
    if found is None or width_of(answer.lower, answer.upper) <= width_of(found[0], found[1]):
        return answer
    states = slice(prepared.problem.model.num_states)
    lower, upper, policy = found[0][states], found[1][states], found[2][states]
    status = Status.SOLVED if width_of(lower, upper) <= tolerance else answer.status
    return Answer(middle_of(lower, upper), lower, upper, policy, status, answer.sweeps)


def bounds_by_rationals(
    prepared: Prepared, guess: NDArray[np.int64], seconds: float, reporter: Reporter
) -> tuple[Floats, Floats, NDArray[np.int64]] | None:
    """Return lower and upper bounds and a policy; None if they cannot be found that way.

    Parameters
    ----------
    prepared : Prepared
        A problem whose opponents are settled.
    guess : (S,)
        A policy that is nearly the best, if not the best one.
    seconds : float
        Time limit, counted by `reporter`.
    """
    opponents = prepared.opponents
    assert isinstance(opponents, Opponents)  # noqa: S101 - settled
    most = MOST_STATES if flint is not None else MOST_WITHOUT_FLINT
    if opponents.model.num_states > most or isinstance(prepared.problem.objective, Discounted):
        return None
    spread, offset = _spread(opponents), _offset(opponents)
    if spread is None or offset is None:
        return None
    try:
        work = Work(prepared, np.inf, reporter, lambda: guess, max_seconds=seconds)
        values, policy = work.best_policies()
        numbers = [_around(as_fraction(value), spread, offset) for value in values]
    except (StoppedError, InvalidModelError, UnsupportedProblemError, OverflowError):
        return None  # time is up, or values are beyond the range: the known bounds stand
    lower, upper = (np.array(bounds) for bounds in zip(*numbers, strict=True))
    return lower, upper, policy


def _around(value: Fraction | float, spread: Fraction, offset: Fraction) -> tuple[float, float]:
    """Return 64-bit bounds of a value for all possible probabilities."""
    if isinstance(value, float):
        return value, value
    error = spread * (abs(value) + offset)
    return enclosed(value - error)[1], enclosed(value + error)[2]


def _spread(opponents: Opponents) -> Fraction | None:
    """Return by which part of itself a sum without minus signs may move; None if by too much."""
    model = opponents.model
    probabilities = np.abs(model.probabilities)
    if not len(probabilities) or probabilities.min() < SMALLEST:
        return None
    owners = model.structure.owners.tolist()
    successors = model.successors.tolist()
    off = [0.0] * model.num_states
    for choice, (first, last) in enumerate(itertools.pairwise(model.transition_offsets.tolist())):
        if len(set(successors[first:last])) > 1:  # else it is certain
            # Stored numbers need not sum to one, and rules may have given rationals next to them.
            scaled = abs(math.fsum([*probabilities[first:last].tolist(), -1.0]))
            error = UNIT + scaled + max(4 * UNIT, scaled)
            off[owners[choice]] = max(off[owners[choice]], error)
    total = math.fsum(off)
    # The product of all (1 + e) / (1 - e) is at most exp(2.001 x), x their sum, so 1 + 2.01 x.
    return Fraction(2.01 * total) if total < 2.0**-10 else None


def _offset(opponents: Opponents) -> Fraction | None:
    """Return an offset that makes all rewards positive, or negative; None if there is none.

    Endless play that earns nothing ends with 0.
    """
    if not opponents.earns:
        return Fraction(0)
    model = opponents.model
    rewards = np.asarray(model.rewards)
    least, most = float(model.payoffs.min(initial=0.0)), float(model.payoffs.max(initial=0.0))
    sides = [
        Fraction(-least if sign > 0 else most) for sign in (1, -1) if (sign * rewards >= 0).all()
    ]
    # A payoff that a constant sum leaves to the other side may be rounded.
    return min(sides) * Fraction(1 + 2.0**-40) if sides else None
