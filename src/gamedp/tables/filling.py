"""Valuing the positions of a tier: explored and solved like any model, with known ends below.

Let the value of each end be known within e, and let play leave the tier almost surely whatever the
players do. Then the values of the tier move by no more than e if those of the ends are replaced by
what is known of them: Bellman's operator is monotone, and a constant that is added to all ends is
added to all values. So the error that a solver proves with these ends, plus e, bounds the distance
to the true values. The kernels add it, as the error of what lies outside of a component.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from gamedp.compiler.limits import ExplorationBudget, ExplorationLimits
from gamedp.compiler.tier_explorer import TierExplorer
from gamedp.errors import InvalidModelError, UnsupportedProblemError, shown
from gamedp.model.problem import Problem
from gamedp.solvers.tools.components import sweep_components
from gamedp.solvers.tools.run import Run
from gamedp.tables.blocks import encoded

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from gamedp.model.model import Model
    from gamedp.runtime.arrays import Floats, Integers
    from gamedp.tables.plan import Plan

    Look = Callable[[Integers, Integers], tuple[Floats, Floats]]

__all__ = ["Filler"]

MAX_SWEEPS = 1_000_000
"""Largest number of sweeps over one component."""


class Filler:
    """Values tiers of a game, one after the other.

    Parameters
    ----------
    plan : Plan
    look : callable
        Returns the values and errors of positions, given their levels and places; NaN for none.
    tolerance : float
        The largest width of bounds in the whole table.
    max_bytes : float or None
        Of the model of a tier; nine tenths of the free memory if not given.
    """

    def __init__(self, plan: Plan, look: Look, tolerance: float, max_bytes: float | None) -> None:
        limits = (
            ExplorationLimits() if max_bytes is None else ExplorationLimits(max_bytes=max_bytes)
        )
        self._plan = plan
        self._look = look
        self._share = tolerance / (4 * len(plan.tiers))
        budget = ExplorationBudget(limits, None)
        self._explorer = TierExplorer(plan.rules, plan.layout, budget, plan.box, plan.first)

    def fill(self, level: int) -> tuple[NDArray[np.int8], dict[str, Any]]:
        """Return the block of a level, as `encoded`; the levels below it must be there.

        Raises
        ------
        InvalidModelError
            If the rules, or the tiers or the box, are wrong.
        UnsupportedProblemError
            If play can stay in the tier for ever.
        LimitExceededError
            If the tier takes too much memory.
        """
        plan = self._plan
        found = self._explorer.explore(int(plan.tiers[level]), plan.rows(level))
        values = np.full(plan.size(level), np.nan)
        if not found.entered:
            return encoded(values, 0.0, np.inf)
        fenced = found.terminals[found.is_fenced]
        levels, places = plan.places(found.states.fields())
        self._check(level, found, levels)
        below, errors = self._look(levels[fenced], places[fenced])
        if np.isnan(below).any():
            self._refuse(found, int(fenced[np.isnan(below).argmax()]), "is no position: is_state "
                         "is false there, or canonical leads elsewhere")  # fmt: skip
        found.payoffs[found.is_fenced, 0] = below
        model = found.model()
        problem = Problem(model)
        if not problem.is_proper:
            self._refuse_endless(model, level)
        run = Run(problem, self._share, None)
        run.errors[fenced] = errors
        with np.errstate(over="ignore", invalid="ignore"):  # no bound is proven then
            sweep_components(run, MAX_SWEEPS)
        values[places[: found.entered]] = run.values[: found.entered]
        return encoded(values, float(run.errors[: found.entered].max()), self._share)

    def _check(self, level: int, found: TierExplorer, levels: Integers) -> None:
        """Raise if states are not where the game says they are."""
        plan, entered = self._plan, found.entered
        tier = int(plan.tiers[level])
        wrong = np.flatnonzero(levels[:entered] != level)
        if len(wrong):
            state = found.states.state(int(wrong[0]))
            message = (
                f"canonical leads from a state of tier {tier} to {shown(state)}, which is of "
                "another tier or outside the box; a state and its representative must be of one "
                "tier."
            )
            raise InvalidModelError(message)
        is_end = np.zeros(len(levels), np.bool_)
        is_end[found.terminals] = True
        if len(strays := np.flatnonzero(~is_end[entered:])):
            self._refuse(found, entered + int(strays[0]), f"is of the same tier, {tier}, but no "
                         "position: it is outside the box, or is_state is false there")  # fmt: skip
        fenced = found.terminals[found.is_fenced]
        outside = fenced[levels[fenced] < 0]
        if len(outside):
            self._refuse(found, int(outside[0]), "is outside the box")
        higher = fenced[levels[fenced] >= level]
        if len(higher):
            state = found.states.state(int(higher[0]))
            self._refuse(found, int(higher[0]), f"is of tier {plan.rules.game.tier(state)}; tier() "
                         f"must never rise along play, and it is {tier} before")  # fmt: skip

    def _refuse(self, found: TierExplorer, index: int, what: str) -> NoReturn:
        """Raise the error of a state that an action leads to."""
        state = found.states.state(index)
        transitions = np.flatnonzero(found.successors == index)[:1]
        choice = np.searchsorted(found.transition_offsets, transitions, "right") - 1
        owner = np.searchsorted(found.choice_offsets, choice, "right") - 1
        way = "a start"
        if len(owner):
            before = shown(found.states.state(int(owner[0])))
            way = f"action {int(found.labels[choice[0]])} in {before}"
        message = f"{way} leads to {shown(state)}, which {what}."
        raise InvalidModelError(message)

    def _refuse_endless(self, model: Model, level: int) -> NoReturn:
        state = model.state(int((model.structure.end_component >= 0).argmax()))
        message = (
            f"play can stay in tier {int(self._plan.tiers[level])} for ever, as around "
            f"{shown(state)}; tables are for games whose play leaves every tier almost surely, "
            "whatever the players do. gamedp.solve supports others."
        )
        raise UnsupportedProblemError(message)
