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
from gamedp.compiler.tier_explorer import explorer_of_tiers
from gamedp.errors import InvalidModelError, UnsupportedProblemError, shown
from gamedp.model.problem import Problem
from gamedp.solvers.tools.components import sweep_components
from gamedp.solvers.tools.run import Run
from gamedp.tables.blocks import encoded
from gamedp.tables.plan import refuse_rise, tier_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from gamedp.compiler.tier_explorer import (
        CompiledTierExplorer,
        ExploredTier,
        PlainTierExplorer,
    )
    from gamedp.model.model import Model
    from gamedp.runtime.arrays import Floats, Integers
    from gamedp.runtime.options import CompileMode
    from gamedp.tables.plan import Plan

    Look = Callable[[Integers, Integers], tuple[Floats, Floats]]

__all__ = ["Filler", "cut"]

LOOKED_AT = 8
"""Number of places of a row that are looked at for where they lead, when a tier is cut."""

MAX_SWEEPS = 1_000_000
"""Largest number of sweeps over one component."""


def explorer_of(
    plan: Plan, max_bytes: float | None, compile: CompileMode
) -> CompiledTierExplorer | PlainTierExplorer:
    """Return what explores the tiers of a plan; see `Filler`."""
    limits = ExplorationLimits() if max_bytes is None else ExplorationLimits(max_bytes=max_bytes)
    budget = ExplorationBudget(limits, None)
    return explorer_of_tiers(plan.rules, plan.layout, budget, plan.box, plan.first, compile)


def cut(plan: Plan, size: int, compile: CompileMode) -> Plan:
    """Return a plan with tiers of more than `size` places cut into several blocks.

    What leads to each other is to lie in one block, or it is explored for both. That is looked up
    at some places of each row, so for a fraction of what exploring the tiers takes.
    """
    large = [level for level in range(len(plan.tiers)) if plan.size(level) > size]
    if not large:
        return plan
    explorer = explorer_of(plan, None, compile)
    parts = np.zeros(len(plan.levels), np.int64)
    for level in large:
        parts[plan.rows(level)] = _parts(plan, explorer, level, size)
    return plan.cut(parts)


def _parts(
    plan: Plan, explorer: CompiledTierExplorer | PlainTierExplorer, level: int, size: int
) -> Integers:
    """Return the part of each row of a tier."""
    import scipy.sparse  # noqa: PLC0415 - slow to import, and rarely needed

    count = plan.count(level)
    numbers = np.unique(np.linspace(0, plan.depth - 1, LOOKED_AT).astype(np.int64))
    fields = plan.fields_of(plan.rows(level), numbers)
    steps = np.empty((2, 0), np.int64)
    found = explorer.explore(int(plan.tiers[level]), fields, only_these=True)
    if found is not None:
        levels, places = plan.places(found.fields)
        before, after = found.steps()
        is_inside = (levels[before] == level) & (levels[after] == level)
        steps = np.stack([places[before[is_inside]], places[after[is_inside]]]) % count
    graph = scipy.sparse.coo_array((np.ones(len(steps[0])), tuple(steps)), (count, count))
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
    compile : {"auto", "always", "never"}
        As for :func:`gamedp.compile`.
    """

    apply = map  # blocks are packed one after the other

    def __init__(
        self,
        plan: Plan,
        look: Look,
        tolerance: float,
        max_bytes: float | None,
        compile: CompileMode,
    ) -> None:
        self._plan = plan
        self._look = look
        self._share = tolerance / (4 * len(np.unique(plan.tiers)))
        self._explorer = explorer_of(plan, max_bytes, compile)

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
        explored = self._explored(level)
        if explored is None:
            return encoded(values, 0.0, self._share)
        found, levels, places = explored
        own = np.flatnonzero(levels[: found.entered] == level)
        fenced = found.model.terminals[found.is_fenced]
        below, errors = self._look(levels[fenced], places[fenced])
        if np.isnan(below).any():
            self._refuse(found, int(fenced[np.isnan(below).argmax()]), "is not a position: is_state"
                         " is false there, or canonical leads elsewhere")  # fmt: skip
        model = found.ended(below)
        problem = Problem(model)
        if not problem.is_proper:
            self._refuse_endless(model, level)
        run = Run(problem, self._share, None)
        run.errors[fenced] = errors
        with np.errstate(over="ignore", invalid="ignore"):  # no bound is proven then
            sweep_components(run, MAX_SWEEPS)
        values[places[own]] = run.values[own]
        return encoded(values, float(run.errors[own].max(initial=0.0)), self._share)

    def _explored(self, level: int) -> tuple[ExploredTier, Integers, Integers] | None:
        """Return what is found from a block on, and where it stands; None for no position.

        If play leads to other blocks of the tier, rows of these are explored along with it.
        """
        plan = self._plan
        tier, rows = int(plan.tiers[level]), plan.rows(level)
        while True:
            found = self._explorer.explore(tier, plan.fields_of(rows))
            if found is None:
                return None
            levels, places = plan.places(found.fields)
            is_end = np.zeros(len(levels), np.bool_)
            is_end[found.model.terminals] = True
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

    def _check(self, tier: int, found: ExploredTier, levels: Integers) -> None:
        """Raise if states are not where the game says they are."""
        plan, entered = self._plan, levels[: found.entered]
        wrong = np.flatnonzero((entered < 0) | (plan.tiers[entered] != tier))
        if len(wrong):
            state = found.model.state(int(wrong[0]))
            message = (
                f"canonical leads from a state of tier {tier} to {shown(state)}, which is of "
                "another tier or outside the box; a state and its representative must be of one "
                "tier."
            )
            raise InvalidModelError(message)
        fenced = found.model.terminals[found.is_fenced]
        outside = fenced[levels[fenced] < 0]
        if len(outside):
            self._refuse(found, int(outside[0]), "is outside the box")
        higher = fenced[plan.tiers[levels[fenced]] >= tier]
        if len(higher):
            index = int(higher[0])
            state = found.model.state(index)
            refuse_rise(found.way_to(index), state, tier_of(plan.rules, state), tier)

    def _refuse(self, found: ExploredTier, index: int, what: str) -> NoReturn:
        """Raise the error of a state that an action leads to."""
        state = found.model.state(index)
        message = f"{found.way_to(index)} leads to {shown(state)}, which {what}."
        raise InvalidModelError(message)

    def _refuse_endless(self, model: Model, level: int) -> NoReturn:
        state = model.state(int((model.structure.end_component >= 0).argmax()))
        message = (
            f"play can stay in tier {int(self._plan.tiers[level])} for ever, as around "
            f"{shown(state)}; tables are for games whose play leaves every tier almost surely, "
            "whatever the players do. gamedp.solve supports others."
        )
        raise UnsupportedProblemError(message)
