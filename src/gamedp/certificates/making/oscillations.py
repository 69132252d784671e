"""Totals without certificates: those of play that earns and loses in turn for ever."""

from __future__ import annotations

from collections import deque
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.errors import UnsupportedProblemError, shown
from gamedp.graph.structure import Structure
from gamedp.model.objectives import TotalReward

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.model.model import Model
    from gamedp.results.solution import Solution

    Flags = NDArray[np.bool_]
    Integers = NDArray[np.signedinteger[Any]]

__all__ = ["refuse_oscillations"]

CLOSE = 2.0**-40
"""Tolerance for the difference of values and rewards, as a part of the largest number."""


def refuse_oscillations(solution: Solution) -> None:
    """Refuse totals without a target where one player may go round, and earn and lose in turn.

    Let an end component of theirs have a step with a gain, and a cycle with the sum 0. The rules of
    certificates require that a player in a cycle gains nothing in any step, or loses more and more:
    neither holds here. An end component is also theirs if the other player has no choice there.

    Raises
    ------
    UnsupportedProblemError
        Names a state.
    """
    model, objective = solution.model, solution.objective
    rewards, owners = model.rewards, model.structure.owners
    if not isinstance(objective, TotalReward) or objective.until is not None or model.has_swaps:
        return
    if not (rewards > 0).any() or not (rewards < 0).any() or model.structure.always_ends:
        return
    claimed, tight = _looked_at(solution)
    forced = np.diff(model.choice_offsets) == 1
    for player in range(model.num_players):
        wants = 1.0 if (player == 0) == (objective.optimum == "max") else -1.0
        own = claimed & model.structure.stays & (forced | (model.players == player))[owners]
        labels, stays = _end_components(model, own)
        gainful = np.isin(labels, labels[owners[stays & (wants * rewards > 0)]]) & (labels >= 0)
        parts, stays = _end_components(model, stays & tight & gainful[owners])
        for part in np.unique(parts[parts >= 0]):
            if _is_flat(model, np.flatnonzero(stays & (parts == part)[owners])):
                state = model.state(int((parts == part).argmax()))
                message = (
                    "there is no certificate for totals where one player may go round for ever, "
                    f"and earn and lose in turn, as around state {shown(state)}: certificates have "
                    "no rule for such totals. The bounds hold all the same; if play has to end, "
                    "totals with `until` have a certificate."
                )
                raise UnsupportedProblemError(message)


def _looked_at(solution: Solution) -> tuple[Flags, Flags]:
    """Return the choices that a bound must prove, and those whose reward seems to match; (C,).

    Nothing is to be proven where the bound is infinite that a mover would have to be kept to.
    """
    model, objective = solution.model, solution.objective
    values, lower, upper = solution.values, solution.lower, solution.upper
    most = (model.players == 0) == (objective.optimum == "max")
    finite = np.isfinite(values) & np.isfinite(np.where(most, upper, lower))
    lengths = np.diff(model.transition_offsets)
    sources, successors = np.repeat(model.structure.owners, lengths), model.successors
    size = np.abs(values[np.isfinite(values)]).max(initial=np.abs(model.rewards).max())
    with np.errstate(invalid="ignore"):  # of infinite values, none is tight
        width = np.where(finite, upper - lower, 0.0)
        missed = np.abs(values[sources] - values[successors] - np.repeat(model.rewards, lengths))
        tight = missed <= CLOSE * size + width[sources] + width[successors]
    starts = model.transition_offsets[:-1]
    claimed = np.logical_and.reduceat(finite[sources] & finite[successors], starts)
    return claimed, np.logical_and.reduceat(tight, starts)


def _end_components(model: Model, flags: Flags) -> tuple[Integers, Flags]:
    """Find the end components of some choices; return state labels, and the choices in them."""
    choices, stays = np.flatnonzero(flags), np.zeros_like(flags)
    counts = np.bincount(model.structure.owners[choices], minlength=model.num_states)
    lengths = np.diff(model.transition_offsets)[choices]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    begin = model.transition_offsets[:-1][choices] - offsets[:-1]
    part = Structure.of(
        choice_offsets=np.concatenate([[0], np.cumsum(counts)]),
        transition_offsets=offsets,
        successors=model.successors[np.arange(offsets[-1]) + np.repeat(begin, lengths)],
    )
    stays[choices[part.stays]] = True
    return part.end_component, stays


def _is_flat(model: Model, choices: Integers) -> bool:
    """Return whether the rewards in an end component are exactly the falls of some numbers."""
    steps: dict[int, list[tuple[Fraction, int]]] = {}
    for choice in choices.tolist():
        row = slice(*model.transition_offsets[choice : choice + 2].tolist())
        earned = Fraction(float(model.rewards[choice]))
        after = [(earned, successor) for successor in model.successors[row].tolist()]
        steps.setdefault(int(model.structure.owners[choice]), []).extend(after)
    first = next(iter(steps))
    heights = {first: Fraction(0)}
    waiting = deque([first])
    while waiting:
        state = waiting.popleft()
        for earned, successor in steps[state]:
            height = heights[state] - earned
            if successor not in heights:
                heights[successor] = height
                waiting.append(successor)
            elif heights[successor] != height:
                return False
    return True
