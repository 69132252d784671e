"""The values of the choices of a solved model, by the objective, with bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gamedp.bellman.enclosures import (
    enclosed_difference,
    enclosed_sums,
    estimated_sums,
    rounded_outward,
)
from gamedp.errors import UnsupportedProblemError
from gamedp.model.objectives import AverageReward, FiniteHorizon, Reachability

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
    probabilities and rewards may be off. A sure step to a sum that is a 64-bit number is not
    rounded at all.

    Raises
    ------
    UnsupportedProblemError
        If the solution does not keep the values that follow.
    """
    model, objective = solution.model, solution.objective
    if first == end:
        return ChoiceValues(*np.empty((3, 0)))
    begin, stop = model.transition_offsets[[first, end]].tolist()
    offsets = model.transition_offsets[first : end + 1] - begin
    discount = getattr(objective, "discount", 1.0)
    weights = model.probabilities[begin:stop]
    successors = model.successors[begin:stop]
    swapped = weights < 0
    values, lower, upper = (
        _of_player(numbers, player)[successors] for numbers in following or _following(solution)
    )
    rewards: Floats = np.zeros(end - first)
    shares: Floats = np.zeros(end - first)
    reward_off, total = 0.0, 0.0
    if not isinstance(objective, (Reachability, AverageReward)):
        rewards, reward_off = _of_player(model.rewards[first:end], player), model.rounding[1]
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
    # In the order in which solvers add up: so the best is the state's value, to the bit.
    with np.errstate(over="ignore", invalid="ignore"):
        totals = rewards + shares + discount * estimated_sums(offsets, weights, values)
    if isinstance(objective, Reachability):
        bounds = np.clip(bounds[0], 0.0, 1.0), np.clip(bounds[1], 0.0, 1.0)
    totals = np.clip(np.where(np.isnan(totals), bounds[0], totals), *bounds)
    return _where_it_goes_on(solution, first, end, ChoiceValues(totals, *bounds))


def opposite_values(total: float, numbers: ChoiceValues) -> ChoiceValues:
    """Return what one of two players gets, from what the other one gets; bounds go outward."""
    bounds = enclosed_difference(total, numbers.lower, numbers.upper)
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
