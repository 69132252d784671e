"""Endless play: its value, to which payoffs are shifted; and players who can force an end.

If payoffs are paid at the end only, let the value of endless play be d. Subtract d from every
payoff, and 2 d from the constant sum: then the value of every pair of policies falls by d, and that
of endless play is 0, which is the problem that solvers know.

In many games that could go on for ever, no player wants that, whatever d is: in Pig, both players
might hold with nothing to hold, again and again, but either would do better to roll. Bellman's
equation is then solved as if play surely ended. That is not a proof yet: the error bounds (as in
:mod:`gamedp.bellman.residuals`) are for models in which all policies are proper. But fix the
maximiser's policy that was found, and let the minimiser choose. If the graph of that model has no
end component, all play ends there, whatever the minimiser does. The lower bound of the values v,
with errors e, is about this model: ``v - e <= T(v - e)`` involves the maximiser's choices of the
policy alone, and all of the minimiser's. There Bellman's operator T has a unique fixed point [1]_,
the value of the maximiser's policy, so v - e is a lower bound of it. In the same way, the
minimiser's policy proves v + e.

Since all play ends against either policy, neither the value of endless play nor its rewards
matter.

References
----------
.. [1] D. Bertsekas, J. Tsitsiklis, "An analysis of stochastic shortest path problems", Mathematics
   of Operations Research 16 (1991).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.bellman.enclosures import rounded_outward
from gamedp.errors import InvalidModelError
from gamedp.graph.end_components import CLEARED, UNSETTLED
from gamedp.graph.sets import end_components
from gamedp.model.model import given_numbers
from gamedp.model.objectives import TotalReward
from gamedp.model.problem import Problem
from gamedp.reduction.unfolding import unfold
from gamedp.results.status import Status
from gamedp.rules.exactness import as_given, errors_of, model_numbers
from gamedp.solvers.tools.base import solution_of
from gamedp.solvers.tools.components import (
    MAX_GATHERED_NUMBERS,
    MAX_STATES_IN_KERNEL,
    solve_by_components,
    solve_component,
)
from gamedp.solvers.tools.run import Run

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.model.model import Model
    from gamedp.results.solution import Solution
    from gamedp.runtime.arrays import Flags, Floats, Integers
    from gamedp.runtime.limit import ProgressCallback


MAXIMISER_KEEPS, MINIMISER_KEEPS = np.uint8(1), np.uint8(2)
"""Two parts of a model: in each, one player keeps to the policy, and the other has all choices."""

SWEEPS_BEFORE_GIVING_UP = 1000
"""Sweeps over a component in which play may stay, before this method is given up."""


class _NotForcedError(Exception):
    """Raised if nothing is proven in this way."""


def may_be_forced(problem: Problem) -> bool:
    """Return whether two opponents play for a total, and play could go on for ever."""
    model, objective = problem.model, problem.objective
    if not isinstance(objective, TotalReward) or objective.until is not None:
        return False
    if not model.has_opponents or problem.is_proper or problem.needs_deflation:
        return False
    free = np.diff(model.choice_offsets) > 1
    movers = model.players[free]
    return model.has_swaps or bool((movers == 0).any() and (movers == 1).any())


def solve_where_ends_are_forced(
    solver: Any,
    problem: Problem,
    tolerance: float,
    progress: ProgressCallback | None,
    max_sweeps: int,
    max_seconds: float,
) -> Solution | None:
    """Return the solution, if under the policy found each player makes an end; else None.

    Parameters
    ----------
    solver
        The solver that the solution names.
    problem : Problem
        A problem that :func:`may_be_forced`; the value of endless play does not matter in it.
    max_sweeps : int
        Largest number of sweeps over one component.
    """
    run = Run(problem.presuming_ends(), tolerance, progress, max_seconds)
    structure = problem.model.structure

    def solve_one(number: int) -> None:
        start, stop = run.component(number)
        states = run.equation.order[start:stop]
        if sum(run.measure(number)) > MAX_GATHERED_NUMBERS:
            raise _NotForcedError
        solve_component(run, number, min(max_sweeps, SWEEPS_BEFORE_GIVING_UP))
        # Only long runs justify a check of where play may stay for ever.
        takes_long = run.status is Status.SWEEP_LIMIT and max_sweeps > SWEEPS_BEFORE_GIVING_UP
        if takes_long and not (structure.end_component[states] >= 0).any():
            run.status = Status.SOLVED
            solve_component(run, number, max_sweeps)
        if run.status is not Status.SOLVED or not np.isfinite(run.errors[states]).all():
            raise _NotForcedError

    try:
        with np.errstate(over="ignore", invalid="ignore"):
            solve_by_components(run, solve_one, MAX_STATES_IN_KERNEL)
    except _NotForcedError:
        return None
    if not 2 * run.errors.max(initial=0.0) <= tolerance:
        return None
    if not _each_makes_an_end(problem.model, run.policy, run.equation.maximise):
        return None
    return solution_of(run, solver)


def _each_makes_an_end(model: Model, policy: Integers, maximise: Flags) -> bool:
    """Return whether all play ends if either player keeps to a policy and the other does not."""
    if model.has_swaps:
        return _makes_an_end(model, policy, maximise)
    where_free = np.where(maximise, MINIMISER_KEEPS, MAXIMISER_KEEPS)
    sides = np.repeat(where_free, np.diff(model.choice_offsets))
    sides[policy[policy >= 0]] = MAXIMISER_KEEPS | MINIMISER_KEEPS
    found = model.structure.clear(sides)
    if found != UNSETTLED:
        return found == CLEARED
    return all(_makes_an_end(model, policy, side) for side in (maximise, ~maximise))


def _makes_an_end(model: Model, policy: Integers, who: Flags) -> bool:
    """Return whether all play ends if some players keep to a policy, whatever the others do.

    If players change places, one of them keeps to it, on whichever side of a state.
    """
    structure = model.structure
    if model.has_swaps:
        choices = model.num_choices
        structure = unfold(model).structure
        policy = np.concatenate([policy, np.where(policy >= 0, policy + choices, policy)])
        who = np.concatenate([who, ~who])
    chosen = np.zeros(len(structure.owners), np.bool_)
    chosen[policy[who & (policy >= 0)]] = True
    active = chosen | ~who[structure.owners]
    return end_components(structure, np.ones(structure.num_states, np.bool_), active) is None


def counts_zero(problem: Problem) -> bool:
    """Return whether endless play counts 0, or all play ends."""
    return problem.draws == (0.0, 0.0)


def at_zero(problem: Problem) -> Problem:
    """Return the problem with payoffs shifted so that endless play counts 0.

    If that is not declared, it is the problem in which it counts the least possible number.
    """
    if counts_zero(problem):
        return problem
    model, draw = problem.model, problem.draws[0]
    payoffs = _less(given_numbers(model, "payoffs"), draw)
    numbers = model_numbers(payoffs=payoffs)
    error, part = errors_of(payoffs)
    unknown = 0.0 if "payoffs" in model.fractions else model.rounding[0]
    if unknown or (error and not model.fractions):
        # Rounded up, it says that these numbers were not given as fractions, to be solved as such.
        error = math.nextafter(error + unknown, math.inf)
    kept = {name: array for name, array in model.fractions.items() if name != "payoffs"}
    shifted = attrs.evolve(
        model,
        payoffs=numbers["payoffs"],
        fractions=kept | numbers["fractions"],
        constant_sum=model.constant_sum - 2 * draw,
        rounding=(error, model.rounding[1], max(part, model.rounding[2])),
    )
    object.__setattr__(shifted, "structure", model.structure)  # found once
    return Problem(shifted, TotalReward(problem.objective.optimum, draw=0.0))


def _less(payoffs: NDArray[Any], draw: float) -> NDArray[Any]:
    """Return payoffs as they were given, less a number, exactly."""
    given = payoffs.tolist()
    less = {number: Fraction(number) - Fraction(draw) for number in set(given)}
    try:
        return as_given([less[number] for number in given])
    except OverflowError:
        message = (
            f"the payoffs less {draw!r}, which endless play counts, are beyond the range of 64-bit "
            "floating point."
        )
        raise InvalidModelError(message) from None


def declare(problem: Problem, draw: float) -> Problem:
    """Return the problem with a declared value of endless play."""
    return attrs.evolve(problem, objective=TotalReward(problem.objective.optimum, draw=draw))


def shifted_back(solution: Solution, problem: Problem) -> Solution:
    """Return the solution of a problem, from that of the one with shifted payoffs."""
    model, draw = problem.model, problem.draws[0]
    exact = None
    if solution.exact is not None:
        from gamedp.solvers.tools.exact.systems import enclosed_values  # noqa: PLC0415

        exact = tuple(
            value + Fraction(draw) if isinstance(value, Fraction) else value
            for value in solution.exact
        )
        values, lower, upper = enclosed_values(model, exact)
    else:
        lower, upper = (
            _plus(numbers, draw, outward)
            for numbers, outward in ((solution.lower, -np.inf), (solution.upper, np.inf))
        )
        paid = rounded_outward(model.payoffs, model.payoffs, model.rounding[0])
        lower[model.terminals], upper[model.terminals] = paid
        values = np.clip(solution.values + draw, lower, upper)
    return attrs.evolve(
        solution,
        model=model,
        objective=problem.objective,
        values=values,
        lower=lower,
        upper=upper,
        exact=exact,
    )


def _plus(numbers: Floats, addend: float, outward: float) -> Floats:
    """Return sums, rounded outward; exact ones unchanged."""
    total = numbers + addend
    with np.errstate(invalid="ignore"):  # infinite ones stay so
        part = total - numbers
        lost = (numbers - (total - part)) + (addend - part)
    return np.where((lost == 0) | np.isinf(numbers), total, np.nextafter(total, outward))
