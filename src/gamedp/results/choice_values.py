"""The values of the choices of a solved model, by the objective, with bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gamedp.errors import UnsupportedProblemError
from gamedp.model.objectives import AverageReward, FiniteHorizon, Reachability
from gamedp.runtime.floats import TINY, UNIT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.results.table import Table

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

__all__ = ["ChoiceValues", "choice_values", "decided", "opposite_values"]


class ChoiceValues(NamedTuple):
    """The values of some choices for one player, and bounds of them; (n,) each."""

    values: Floats
    lower: Floats
    upper: Floats


def decided(solution: Table) -> Flags | None:
    """Return in which states the objective has ended whatever follows; None if it names none."""
    objective = solution.objective
    if isinstance(objective, Reachability):
        target = np.asarray(objective.target)
        return target if objective.allowed is None else target | ~np.asarray(objective.allowed)
    until = getattr(objective, "until", None)
    return None if until is None else np.asarray(until)


def choice_values(
    solution: Table,
    first: int,
    end: int,
    player: int = 0,
    *,
    following: tuple[Floats, Floats, Floats] | None = None,
) -> ChoiceValues:
    """Return the values of the choices from `first` to `end`, that one excluded.

    They are player 0's with two players; with more, those of `player`, if all keep to the policy
    after the choice.

    That is what Bellman's equation of the objective says of the values that follow: with the reward
    of the choice if rewards count, and with one step fewer to go for a finite horizon. In the long
    run it is the average after the step. Where the objective has ended, it is the state's value.

    Those that follow are `following` if that is given: values, lower and upper bounds.

    The bounds add to those of the values what this very sum may be rounded, and what the stored
    probabilities may be off. A sure step to a sum that is a 64-bit number is not rounded at all.

    Raises
    ------
    UnsupportedProblemError
        If the solution does not keep the values that follow.
    """
    model, objective = solution.model, solution.objective
    if first == end:
        return ChoiceValues(*np.empty((3, 0)))
    begin, stop = model.transition_offsets[[first, end]].tolist()
    starts = model.transition_offsets[first:end] - begin
    lengths = np.diff(model.transition_offsets[first : end + 1])
    owners = np.repeat(np.arange(end - first), lengths)
    discount = getattr(objective, "discount", 1.0)
    weights = model.probabilities[begin:stop]
    successors = model.successors[begin:stop]
    swapped = weights < 0
    values, lower, upper = (
        _of_player(numbers, player)[successors] for numbers in following or _following(solution)
    )
    if swapped.any():
        lower, upper = np.where(swapped, upper, lower), np.where(swapped, lower, upper)
    rewards: Floats = np.zeros(end - first)
    shares: Floats = np.zeros(end - first)
    if not isinstance(objective, (Reachability, AverageReward)):
        rewards = _of_player(model.rewards[first:end], player)
        if model.constant_sum and swapped.any():
            shares[:] = np.bincount(owners, np.where(swapped, -weights, 0.0))
            shares *= discount * model.constant_sum
    with np.errstate(over="ignore", invalid="ignore"):
        largest = np.maximum(np.abs(lower), np.abs(upper))
        sizes = np.abs(rewards) + np.abs(shares)
        terms = np.where(np.isfinite(largest), np.abs(weights) * largest, 0.0)
        sizes += discount * np.bincount(owners, terms)
        slack = (lengths + 12) * UNIT * sizes + (lengths + 4) * TINY
        sure = (lengths == 1) & (discount * np.abs(weights[starts]) == 1)
        sure &= _adds_up(rewards, shares)
        constants = rewards + shares
        bounds = []
        for numbers, outward in ((lower, -np.inf), (upper, np.inf)):
            totals = constants + discount * np.bincount(owners, weights * numbers)
            exact = sure & _adds_up(constants, weights[starts] * numbers[starts])
            exact |= np.logical_or.reduceat(np.isinf(numbers), starts)
            moved = np.nextafter(totals + np.copysign(slack, outward), outward)
            bounds.append(_defined(np.where(exact, totals, moved), outward))
        # In the order in which solvers add up: so the best is the state's value, to the bit.
        totals = constants + discount * np.bincount(owners, weights * values)
    if isinstance(objective, Reachability):
        bounds = [np.clip(bound, 0.0, 1.0) for bound in bounds]
    totals = np.clip(_defined(totals, bounds[0]), *bounds)
    return _where_it_goes_on(solution, first, end, ChoiceValues(totals, *bounds))


def opposite_values(total: float, numbers: ChoiceValues) -> ChoiceValues:
    """Return what one of two players gets, from what the other one gets; bounds go outward."""
    bounds = []
    for bound, outward in ((numbers.upper, -np.inf), (numbers.lower, np.inf)):
        rest = total - bound
        with np.errstate(invalid="ignore"):
            exact = _adds_up(np.full(len(bound), total), -bound) | np.isinf(bound)
        bounds.append(np.where(exact, rest, np.nextafter(rest, outward)))
    return ChoiceValues(total - numbers.values, *bounds)


def _following(solution: Table) -> tuple[Floats, Floats, Floats]:
    """Return the values one step later, and their bounds."""
    if not isinstance(solution.objective, FiniteHorizon):
        return solution.values, solution.lower, solution.upper
    if solution.following is None:
        message = (
            f"{type(solution.solver).__name__} keeps no values with one step fewer to go, as "
            "action values of a finite horizon need them; see best_action()."
        )
        raise UnsupportedProblemError(message)
    return solution.following


def _of_player(numbers: Floats, player: int) -> Floats:
    """Return the column of a player where there is one for each."""
    return numbers if numbers.ndim == 1 else numbers[:, player]


def _adds_up(one: Floats, other: Floats) -> Flags:
    """Say where the sum of two numbers is a 64-bit number itself (D. Knuth's two-sum)."""
    total = one + other
    seen = total - one
    exact: Flags = (one - (total - seen)) + (other - seen) == 0
    return exact


def _defined(totals: Floats, otherwise: Floats | float) -> Floats:
    """Return totals with another number where plus and minus infinity have met."""
    return np.where(np.isnan(totals), otherwise, totals)


def _where_it_goes_on(solution: Table, first: int, end: int, numbers: ChoiceValues) -> ChoiceValues:
    """Return the numbers, with those of their states for choices after the objective's end."""
    over = decided(solution)
    if over is None:
        return numbers
    offsets = solution.model.choice_offsets
    owners = np.searchsorted(offsets, np.arange(first, end), side="right") - 1
    ended = over[owners]
    known = (solution.values, solution.lower, solution.upper)
    return ChoiceValues(
        *(
            np.where(ended, of_state[owners], found)
            for of_state, found in zip(known, numbers, strict=True)
        )
    )
