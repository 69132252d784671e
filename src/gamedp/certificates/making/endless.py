"""Endless play: numbers that prove that it earns ever more, and totals that have no certificate."""

from __future__ import annotations

from collections import deque
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from gamedp.errors import UnsupportedProblemError, shown
from gamedp.graph.structure import Structure
from gamedp.model.objectives import TotalReward

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.model.model import Model
    from gamedp.results.solution import Solution
    from gamedp.runtime.arrays import Flags, Floats, Integers

STEP = 0.5
"""Step size of each sweep: less than 1, as play may go round in a circle."""

SLACK = 2.0**-46
"""Least reward of each step, as a part of the size of the numbers, for the checker to see it."""

MOST_SWEEPS = 2000
"""Number of sweeps until the states that earn least are given up."""


def find_drifts(
    model: Model, helps: Flags, rewards: Floats, good: Flags, ranked: Flags, members: Flags
) -> tuple[Flags, Floats, NDArray[np.int64]]:
    """Find drifts: numbers that are less than the expected reward and drift of the next step.

    Value iteration of the average: states that earn too little are given up, until those that are
    left all earn, or none is.

    Parameters
    ----------
    model : Model
        In which no players change places.
    helps : (S,) bool
        Whether the mover of a state wants to earn.
    rewards : (C,)
    good : (C,) bool
        The choices that count.
    ranked : (S,) bool
        Where opponents may lead to as well.
    members : (S,) bool
        Where to look for such states.

    Returns
    -------
    members : (S,) bool
        Those that are found: play stays among them, or leads to ranked ones.
    drifts : (S,)
        Their numbers.
    via : (S,)
        The choice of helping members; -1 elsewhere.
    """
    structure, starts = model.structure, model.transition_offsets[:-1]
    owners, size = structure.owners, float(np.abs(rewards).max(initial=0.0))
    leads = np.logical_or.reduceat(ranked[model.successors], starts)
    numbers = np.zeros(model.num_states)
    via = np.full(model.num_states, -1, np.int64)

    while True:
        members, stays = _closed(model, helps, good, leads, members)
        if not members.any():
            return members, numbers, via
        choices = np.flatnonzero(stays)
        movers = owners[choices]
        first = np.flatnonzero(np.append(True, movers[1:] != movers[:-1]))
        states = movers[first]
        sign = np.where(helps[states], 1.0, -1.0)
        numbers[:] = 0.0
        for _ in range(MOST_SWEEPS):
            following = np.add.reduceat(model.probabilities * numbers[model.successors], starts)
            values = np.where(helps[movers], 1.0, -1.0) * (rewards + following)[choices]
            best = np.maximum.reduceat(values, first)
            change = sign * best - numbers[states]
            enough = change > SLACK * (size + float(np.abs(numbers).max()))
            if enough.all():
                greedy = np.flatnonzero(
                    values == np.repeat(best, np.diff(np.append(first, len(movers))))
                )
                via[movers[greedy[::-1]]] = choices[greedy[::-1]]
                return members, numbers, np.where(members & helps, via, -1)
            numbers[states] += STEP * change
            numbers[states] -= numbers[states].mean()
        members = members.copy()
        members[states[~enough]] = False


def _closed(
    model: Model, helps: Flags, good: Flags, leads: Flags, members: Flags
) -> tuple[Flags, Flags]:
    """Return the largest part in which the helper can stay, and the others stay or lead to ranks.

    Returns
    -------
    members : (S,) bool
    stays : (C,) bool
        The good choices that stay among them.
    """
    owners, starts = model.structure.owners, model.transition_offsets[:-1]
    while True:
        inside = np.logical_and.reduceat(members[model.successors], starts) & members[owners]
        stays = inside & good
        some = np.bincount(owners[stays], minlength=len(members)) > 0
        wrong = np.bincount(owners[~(good & (inside | leads))], minlength=len(members)) > 0
        kept = members & some & (helps | ~wrong)
        if (kept == members).all():
            return members, stays
        members = kept


CLOSE_SHARE = 2.0**-40
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
        tight = missed <= CLOSE_SHARE * size + width[sources] + width[successors]
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
