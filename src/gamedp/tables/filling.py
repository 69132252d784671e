"""Valuing the positions of a block: explored and solved like any model, with known ends below.

Let the value of each end be known within e, and let play leave the tier almost surely whatever the
players do. Then the values of the tier move by no more than e if those of the ends are replaced by
the known ones: Bellman's operator is monotone, and a constant that is added to all ends is
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

LOOKED_AT = 8
"""Number of places of a row that are looked at for where they lead, when a tier is cut."""

MAX_SWEEPS = 1_000_000
"""Largest number of sweeps over one component."""


class Filler:
    """Values blocks of a game, one after the other.

    Parameters
    ----------
    plan : Plan
    look : callable
        Returns the values and errors of positions, given their levels and places; NaN for none.
    tolerance : float
        The largest width of bounds in the whole table.
    max_bytes : float or None
        Of the model of a block; nine tenths of the free memory if not given.
    """

    def __init__(self, plan: Plan, look: Look, tolerance: float, max_bytes: float | None) -> None:
        limits = (
            ExplorationLimits() if max_bytes is None else ExplorationLimits(max_bytes=max_bytes)
        )
        self._plan = plan
        self._look = look
        self._share = tolerance / (4 * len(np.unique(plan.tiers)))
        budget = ExplorationBudget(limits, None)
        self._explorer = TierExplorer(plan.rules, plan.layout, budget, plan.box, plan.first)

    def cut(self, size: int) -> Plan:
        """Return the plan with tiers of more than `size` places cut into several blocks.

        What leads to each other is to lie in one block, or it is explored for both. That is looked
        up at some places of each row, so for a fraction of what exploring the tiers takes.
        """
        plan = self._plan
        parts = np.zeros(len(plan.levels), np.int64)
        for level in range(len(plan.tiers)):
            if plan.size(level) > size:
                parts[plan.rows(level)] = self._parts(level, size)
        return plan.cut(parts)

    def _parts(self, level: int, size: int) -> Integers:
        """Return the part of each row of a tier."""
        import scipy.sparse  # noqa: PLC0415 - slow to import, and rarely needed

        plan, count = self._plan, self._plan.count(level)
        numbers = np.unique(np.linspace(0, plan.depth - 1, LOOKED_AT).astype(np.int64))
        fields = plan.fields_of(plan.rows(level), numbers)
        found = self._explorer.explore(int(plan.tiers[level]), fields, only_these=True)
        levels, places = plan.places(found.states.fields())
        before, after = found.steps()
        is_inside = (levels[before] == level) & (levels[after] == level)
        steps = places[before[is_inside]] % count, places[after[is_inside]] % count
        graph = scipy.sparse.coo_array((np.ones(len(steps[0])), steps), (count, count))
        _, labels = scipy.sparse.csgraph.connected_components(graph, directed=False)
        # Components in the order of their first rows, and as many in a part as make up its share.
        _, firsts, which, sizes = np.unique(
            labels, return_index=True, return_inverse=True, return_counts=True
        )
        order = np.argsort(firsts)
        begins = np.empty(len(sizes), np.int64)
        begins[order] = np.cumsum(sizes[order]) - sizes[order]
        number = -(-plan.size(level) // size)
        found_parts: Integers = (begins * number // count)[which]
        return found_parts

    def fill(self, level: int) -> tuple[NDArray[np.int8], dict[str, Any]]:
        """Return a block, as `encoded`; those of lower tiers must be there.

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
        values = np.full(plan.size(level), np.nan)
        found, levels, places = self._explored(level)
        own = np.flatnonzero(levels[: found.entered] == level)
        if not len(own):
            return encoded(values, 0.0, np.inf)
        fenced = found.terminals[found.is_fenced]
        below, errors = self._look(levels[fenced], places[fenced])
        if np.isnan(below).any():
            self._refuse(found, int(fenced[np.isnan(below).argmax()]), "is not a position: is_state"
                         " is false there, or canonical leads elsewhere")  # fmt: skip
        found.payoffs[found.is_fenced, 0] = below
        model = found.model()
        problem = Problem(model)
        if not problem.is_proper:
            self._refuse_endless(model, level)
        run = Run(problem, self._share, None)
        run.errors[fenced] = errors
        with np.errstate(over="ignore", invalid="ignore"):  # no bound is proven then
            sweep_components(run, MAX_SWEEPS)
        values[places[own]] = run.values[own]
        return encoded(values, float(run.errors[own].max()), self._share)

    def _explored(self, level: int) -> tuple[TierExplorer, Integers, Integers]:
        """Return what is found from a block on, and where it stands.

        If play leads to other blocks of the tier, rows of these are explored along with it.
        """
        plan = self._plan
        tier, rows = int(plan.tiers[level]), plan.rows(level)
        while True:
            found = self._explorer.explore(tier, plan.fields_of(rows))
            levels, places = plan.places(found.states.fields())
            is_end = np.zeros(len(levels), np.bool_)
            is_end[found.terminals] = True
            strays = found.entered + np.flatnonzero(~is_end[found.entered :])
            known = strays[(levels[strays] >= 0) & (plan.tiers[levels[strays]] == tier)]
            more = np.setdiff1d(plan.rows_at(levels[known], places[known]), rows)
            if not len(more):
                break
            rows = np.concatenate([rows, more])
        self._check(tier, found, levels)
        if len(strays):
            self._refuse(found, int(strays[0]), f"is of the same tier, {tier}, but no position: "
                         "it is outside the box, or is_state is false there")  # fmt: skip
        return found, levels, places

    def _check(self, tier: int, found: TierExplorer, levels: Integers) -> None:
        """Raise if states are not where the game says they are."""
        plan, entered = self._plan, levels[: found.entered]
        wrong = np.flatnonzero((entered < 0) | (plan.tiers[entered] != tier))
        if len(wrong):
            state = found.states.state(int(wrong[0]))
            message = (
                f"canonical leads from a state of tier {tier} to {shown(state)}, which is of "
                "another tier or outside the box; a state and its representative must be of one "
                "tier."
            )
            raise InvalidModelError(message)
        fenced = found.terminals[found.is_fenced]
        outside = fenced[levels[fenced] < 0]
        if len(outside):
            self._refuse(found, int(outside[0]), "is outside the box")
        higher = fenced[plan.tiers[levels[fenced]] >= tier]
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
