"""Exploration of one tier of a game after the other.

A state of another tier is entered, but not expanded: it is an end, whose value is found elsewhere.
Where rules compile, the arrays and the table of states are kept from tier to tier: making them
anew would take longer than exploring a small tier.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, NoReturn

import attrs
import numpy as np

from gamedp.compiler import explore_loop
from gamedp.compiler.build import (
    ExploredRows,
    explore,
    fall_back,
    model_of_arrays,
    model_of_rows,
    seeds_of,
)
from gamedp.compiler.explorer import Explorer
from gamedp.compiler.methods import compile_rules
from gamedp.compiler.reasons import first_reason
from gamedp.errors import InvalidModelError, UnsupportedProblemError, shown
from gamedp.model.model import Model
from gamedp.rules.exactness import MAX_EXACT_INTEGER
from gamedp.rules.layout import PackedTable
from gamedp.rules.slips import Calling

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gamedp.compiler.limits import ExplorationBudget
    from gamedp.rules.game import Rules
    from gamedp.rules.layout import Layout
    from gamedp.runtime.arrays import Flags, Floats
    from gamedp.runtime.options import CompileMode

__all__ = ["ExploredTier", "explorer_of_tiers"]


@attrs.frozen(eq=False)
class ExploredTier:
    """The states, choices and ends that were found in a tier.

    Attributes
    ----------
    model : Model
        Its states are a `PackedTable`.
    entered : int
        The number of states that were entered before any was expanded; they come first.
    is_fenced : (E,) bool
        Of the ends, whether they are states of other tiers. Their payoffs say nothing yet.
    """

    model: Model
    entered: int
    is_fenced: Flags

    def __attrs_post_init__(self) -> None:
        """Refuse numbers that are rounded."""
        model = self.model
        ends = model.payoffs[~self.is_fenced]
        sizes = [np.abs(earned).max(initial=0.0) for earned in (ends, model.rewards)]
        if max(sizes) >= MAX_EXACT_INTEGER or any(model.rounding):
            assert model.rules is not None  # noqa: S101 - it was made of a game
            message = (
                "tables are for payoffs and rewards that are 64-bit floats below 2**53; those of "
                f"{shown(model.rules.game)} are not, or have a mean that is not."
            )
            raise UnsupportedProblemError(message)

    @property
    def fields(self) -> NDArray[np.int64]:
        """The fields of all states."""
        assert isinstance(self.model.states, PackedTable)  # noqa: S101 - as said above
        return self.model.states.fields()

    def steps(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the states before and after each transition from those that were entered."""
        model = self.model
        offsets = model.choice_offsets[: self.entered + 1]
        states = np.repeat(np.arange(self.entered), np.diff(offsets))
        ends = model.transition_offsets[: offsets[-1] + 1]
        return np.repeat(states, np.diff(ends)), model.successors[: ends[-1]].astype(np.int64)

    def way_to(self, index: int) -> str:
        """Return by what play comes to a state, in words."""
        model = self.model
        transitions = np.flatnonzero(model.successors == index)[:1]
        choice = np.searchsorted(model.transition_offsets, transitions, "right") - 1
        owner = np.searchsorted(model.choice_offsets, choice, "right") - 1
        if not len(owner):
            return "a start"
        (action,) = model.actions_of(int(choice[0]), int(choice[0]) + 1)
        return f"action {shown(action)} in {shown(model.state(int(owner[0])))}"

    def ended(self, values: Floats) -> Model:
        """Return the model with values for the states of other tiers."""
        payoffs = self.model.payoffs.copy()
        payoffs[self.is_fenced] = values
        return Model.unchecked(**{**self.model.__getstate__(), "payoffs": payoffs})


def explorer_of_tiers(
    rules: Rules,
    layout: Layout,
    budget: ExplorationBudget,
    box: Sequence[tuple[int, int]],
    state: Any,
    compile: CompileMode,
) -> CompiledTierExplorer | PlainTierExplorer:
    """Return what explores tiers: by compiled rules if they compile, else in plain Python.

    Parameters
    ----------
    rules : Rules
        Of a game that has a method `tier`.
    layout : Layout
    budget : ExplorationBudget
    box : sequence of (int, int)
        The range of each field, both ends included.
    state
        A state of the game.
    compile : {"auto", "always", "never"}
        As for :func:`gamedp.compile`.

    Raises
    ------
    CompilationError
        If the rules must be compiled, and cannot be.
    """
    if compile != "never":
        try:
            return CompiledTierExplorer(rules, layout, budget, box, state)
        except Exception as error:  # noqa: BLE001 - numba has errors outside its own family, too
            fall_back(rules.game, first_reason(error), must=compile == "always")
    return PlainTierExplorer(rules, layout, budget)


class PlainTierExplorer:
    """Explores tiers in plain Python, to the same models; see `explorer_of_tiers`."""

    def __init__(self, rules: Rules, layout: Layout, budget: ExplorationBudget) -> None:
        self._rules = rules
        self._layout = layout
        self._budget = budget

    def explore(
        self, tier: int, rows: NDArray[np.int64], *, only_these: bool = False
    ) -> ExploredTier | None:
        """Return what was found in a tier; see `CompiledTierExplorer.explore`."""
        rules, game = self._rules, self._rules.game
        seeds = seeds_of(rules, self._layout, [rows], self._budget)
        if not seeds:
            return None
        found = ExploredRows(seeds, self._budget)

        def is_fenced(state: Any) -> bool:
            with Calling("is_terminal", state):
                if game.is_terminal(state):
                    return False
            with Calling("tier", state):
                return game.tier(state) != tier or (only_these and found.done >= len(seeds))

        explore(rules, found, is_fenced=is_fenced)
        model = model_of_rows(rules, [(1.0, found.states[0], False)], found)
        if not isinstance(model.states, PackedTable):
            self._refuse_layout(found.states)
        return ExploredTier(model, len(seeds), np.isin(found.terminals, found.fenced))

    def _refuse_layout(self, states: list[Any]) -> NoReturn:
        """Raise the error of states that are not all laid out alike, with fields of 64 bits."""
        most = max(states, key=lambda state: max(map(abs, self._layout.flatten(state))))
        message = f"{shown(most)} has a field beyond 64 bits. Bound it."
        raise InvalidModelError(message)


class CompiledTierExplorer(Explorer):
    """An explorer that is kept from tier to tier; see `explorer_of_tiers`."""

    direct_size = 0  # the table of codes is emptied for each tier

    def __init__(
        self,
        rules: Rules,
        layout: Layout,
        budget: ExplorationBudget,
        box: Sequence[tuple[int, int]],
        state: Any,
    ) -> None:
        compiled = compile_rules(rules, layout, state, ("tier",))
        super().__init__(rules, layout, compiled, budget)
        self._record: tuple[tuple[Any, ...], Any] = (), None
        self.low, self.high = [first for first, _ in box], [last + 1 for _, last in box]
        self._lay_out()
        self._explore()
        self._seed_rows(np.empty((0, len(box)), np.int64))

    def explore(
        self, tier: int, rows: NDArray[np.int64], *, only_these: bool = False
    ) -> ExploredTier | None:
        """Return what was found in a tier; None if there is no state to begin with.

        Parameters
        ----------
        tier : int
        rows : (N, K) int64
            Fields of states of the tier. Those that are not real are left out, and so are states
            that another one represents.
        only_these : bool
            Expand these, and hardly more; if not, all that they lead to in the tier as well.
        """
        self.counters[:] = 0
        self.table.fill(-1)
        self.found[explore_loop.TIER] = tier
        self._seed(rows)
        entered = int(self.counters[explore_loop.STATES])
        if only_these:
            self.pause_after = entered
            while (left := entered - int(self.counters[explore_loop.NEXT])) > 0:
                self.pause_after = left  # each has a transition at least
                self._mend(self._guarded(self._explore, self._explain))
            del self.pause_after  # back to that of all
        elif entered:
            self._explore_all()
        if not entered:
            return None
        found = self._copied()
        table = PackedTable(self.layout, self.codec, found.codes)
        fenced = np.isnan(found.payoffs[:, 0])
        model = model_of_arrays(self.rules, [(1.0, table.state(0), False)], found, table)
        return ExploredTier(model, entered, fenced)

    def _copied(self) -> CompiledTierExplorer:
        """Return a copy whose arrays have their exact sizes."""
        found = copy.copy(self)
        counts = (
            (explore_loop.STATES, ("codes", "players")),
            (explore_loop.CHOICES, ("labels", "rewards")),
            (explore_loop.TRANSITIONS, ("successors", "probabilities")),
            (explore_loop.TERMINALS, ("terminals", "payoffs")),
        )
        for counter, names in counts:
            for name in names:
                setattr(found, name, getattr(self, name)[: int(self.counters[counter])].copy())
        states, choices = int(self.counters[explore_loop.NEXT]), len(found.labels)
        found.choice_offsets = self.choice_offsets[: states + 1].copy()
        found.transition_offsets = self.transition_offsets[: choices + 1].copy()
        return found

    def _expanding(self) -> Any:
        return self.compiled.expand_in_tier(self.page)

    def _work(self) -> Any:
        """Return the record of all data of the loops, made anew only if some of it has changed."""
        held = tuple(map(id, (getattr(self, name) for name in self.LOOPED)))
        if held != self._record[0]:
            self._record = held, super()._work()
        return self._record[1]
