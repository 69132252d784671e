"""The values of the choices of a solved model, by the objective, with bounds."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gamedp.bellman.enclosures import (
    enclosed_difference,
    enclosed_sums,
    estimated_sums,
    rounded_outward,
)
from gamedp.errors import UnsupportedProblemError
from gamedp.model.model import given_numbers
from gamedp.model.objectives import AverageReward, FiniteHorizon, is_probability, over_in
from gamedp.results.base import exact_mean, of_player

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.results.base import Table
    from gamedp.runtime.arrays import Flags, Floats


class ChoiceBounds(NamedTuple):
    """Values of some choices for one player, with their bounds; (n,) each."""

    values: Floats
    lower: Floats
    upper: Floats


def decided(solution: Table) -> Flags | None:
    """Return in which states the objective has ended; None if it names no such states."""
    return over_in(solution.objective)


def choice_values(
    solution: Table,
    first: int,
    end: int,
    player: int = 0,
    *,
    following: tuple[Floats, Floats, Floats] | None = None,
) -> ChoiceBounds:
    """Return the values of the choices from `first` up to but excluding `end`.

    With two players they are player 0's; with more, those of `player`, if all players keep to the
    policy after the choice.

    Each is the right-hand side of the objective's Bellman equation at the successors' values: with
    the reward of the choice if rewards count, and with one step fewer to go for a finite horizon.
    For the long-run average it is the average after the step. Where the objective has ended, it is
    the value of the state.

    The successors' values are `following` if given: values, lower and upper bounds.

    The bounds widen those of the values by the possible rounding of this sum and by the possible
    error of the stored probabilities and rewards. A certain step to a sum that is a 64-bit number
    is not rounded at all.

    Raises
    ------
    UnsupportedProblemError
        If the solution does not keep the successors' values.
    """
    model, objective = solution.model, solution.objective
    if first == end:
        return ChoiceBounds(*np.empty((3, 0)))
    begin, stop = model.transition_offsets[[first, end]].tolist()
    offsets = model.transition_offsets[first : end + 1] - begin
    discount = getattr(objective, "discount", 1.0)
    weights = model.probabilities[begin:stop]
    successors = model.successors[begin:stop]
    swapped = weights < 0
    values, lower, upper = (
        of_player(numbers, player)[successors] for numbers in following or _following(solution)
    )
    rewards: Floats = np.zeros(end - first)
    shares: Floats = np.zeros(end - first)
    reward_off, total = 0.0, 0.0
    if not (is_probability(objective) or isinstance(objective, AverageReward)):
        rewards, reward_off = of_player(model.rewards[first:end], player), model.rounding[1]
        if model.constant_sum and swapped.any():
            total = model.constant_sum
            shares = estimated_sums(
                offsets, np.where(swapped, -weights, 0.0), np.ones(len(weights))
            )
            shares *= discount * total
    if swapped.any():
        others = enclosed_difference(total, lower, upper)
        lower, upper = (
            np.where(swapped, *each) for each in zip(others, (lower, upper), strict=True)
        )
    earned = rounded_outward(rewards, rewards, reward_off)
    bounds = enclosed_sums(
        offsets, np.abs(weights), lower, upper, factor=discount, constants=earned
    )
    # Added in the solvers' order, so that the best choice has the state's value to the bit.
    with np.errstate(over="ignore", invalid="ignore"):
        totals = rewards + shares + discount * estimated_sums(offsets, weights, values)
    if is_probability(objective):
        bounds = np.clip(bounds[0], 0.0, 1.0), np.clip(bounds[1], 0.0, 1.0)
    totals = np.clip(np.where(np.isnan(totals), bounds[0], totals), *bounds)
    return _where_it_goes_on(solution, first, end, ChoiceBounds(totals, *bounds))


def exact_choice_bounds(solution: Table, first: int, end: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return bounds of the values of choices in rational numbers, for a solution with exact values.

    They are equal, except for a finite horizon: the exact values with one step fewer are not kept,
    only the doubles next to them. Infinite values are floats. Choices after the objective's end do
    not count.
    """
    model, objective = solution.model, solution.objective
    known: Any = (solution.exact, solution.exact)
    if isinstance(objective, FiniteHorizon):
        known = [numbers.tolist() for numbers in _following(solution)[1:]]
    earns = not (is_probability(objective) or isinstance(objective, AverageReward))
    discount = Fraction(getattr(objective, "discount", 1.0))
    rewards, weights = given_numbers(model, "rewards"), given_numbers(model, "probabilities")
    bounds = np.empty((2, end - first), object)
    for choice in range(first, end):
        row = slice(*model.transition_offsets[choice : choice + 2].tolist())
        signed, successors = weights[row].tolist(), model.successors[row].tolist()
        earned = Fraction(rewards[choice]) if earns else Fraction(0)
        for place, (own, other) in enumerate((known, known[::-1])):
            numbers = [
                (other if weight < 0 else own)[successor]
                for weight, successor in zip(signed, successors, strict=True)
            ]
            mean = exact_mean(numbers, signed, model.constant_sum)
            bounds[place, choice - first] = earned + discount * mean
    return bounds[0], bounds[1]


def opposite_values(total: float, numbers: ChoiceBounds) -> ChoiceBounds:
    """Return one of two players' values from the other's; bounds are rounded outward."""
    bounds = enclosed_difference(total, numbers.lower, numbers.upper)
    return ChoiceBounds(total - numbers.values, *bounds)


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


def _where_it_goes_on(solution: Table, first: int, end: int, numbers: ChoiceBounds) -> ChoiceBounds:
    """Return the numbers, with the state's own for choices after the objective's end."""
    over = decided(solution)
    if over is None:
        return numbers
    offsets = solution.model.choice_offsets
    owners = np.searchsorted(offsets, np.arange(first, end), side="right") - 1
    ended = over[owners]
    known = (solution.values, solution.lower, solution.upper)
    return ChoiceBounds(
        *(
            np.where(ended, of_state[owners], found)
            for of_state, found in zip(known, numbers, strict=True)
        )
    )
