"""Exploration of one tier of a game after the other, by compiled rules.

A state of another tier is entered, but not expanded: it is an end, whose value is found elsewhere.
The arrays and the table of states are kept from tier to tier: making them anew would take longer
than exploring a small tier.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.compiler import explore_loop
from gamedp.compiler.build import fall_back, model_of_arrays
from gamedp.compiler.explorer import Explorer
from gamedp.compiler.methods import compile_rules
from gamedp.compiler.reasons import first_reason
from gamedp.errors import UnsupportedProblemError, shown
from gamedp.rules.exactness import MAX_EXACT_INTEGER
from gamedp.rules.layout import PackedTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gamedp.compiler.limits import ExplorationBudget
    from gamedp.model.model import Model
    from gamedp.rules.game import Rules
    from gamedp.rules.layout import Layout

__all__ = ["TierExplorer"]


class TierExplorer(Explorer):
    """An explorer that is kept from tier to tier.

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

    Attributes
    ----------
    entered : int
        The number of states that were entered before any was expanded; they come first.
    states : PackedTable
        All states.
    is_fenced : (E,) bool
        Of the ends, whether they are states of other tiers. Their payoffs are still to be put in.

    Raises
    ------
    CompilationError
        If the rules cannot be compiled.
    """

    direct_size = 0  # the table of codes is emptied for each tier
    entered: int
    states: PackedTable
    is_fenced: NDArray[np.bool_]

    def __init__(
        self,
        rules: Rules,
        layout: Layout,
        budget: ExplorationBudget,
        box: Sequence[tuple[int, int]],
        state: Any,
    ) -> None:
        try:
            compiled = compile_rules(rules, layout, state, ("tier",))
            super().__init__(rules, layout, compiled, budget)
            self._record: tuple[tuple[Any, ...], Any] = (), None
            self.low, self.high = [first for first, _ in box], [last + 1 for _, last in box]
            self._lay_out()
            self._explore()
            self._seed_rows(np.empty((0, len(box)), np.int64))
        except Exception as error:  # noqa: BLE001 - numba has errors outside its own family, too
            fall_back(rules.game, first_reason(error), must=True)

    def explore(
        self, tier: int, rows: NDArray[np.int64], *, only_these: bool = False
    ) -> TierExplorer:
        """Return a copy with all that was found in a tier, in arrays of their exact sizes.

        Parameters
        ----------
        tier : int
        rows : (N, K) int64
            Fields of states of the tier, of which at least one is real. Those that are not are left
            out, and so are states that another one represents.
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
        found = self._copied()
        found.entered = entered
        found.states = PackedTable(self.layout, self.codec, found.codes)
        found.is_fenced = np.isnan(found.payoffs[:, 0])
        return found

    def steps(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the states before and after each transition of what was found."""
        choices = np.repeat(np.arange(len(self.labels)), np.diff(self.transition_offsets))
        states = np.repeat(np.arange(len(self.choice_offsets) - 1), np.diff(self.choice_offsets))
        return states[choices], self.successors.astype(np.int64)

    def model(self) -> Model:
        """Return the model of what was found, once the fenced ends have payoffs."""
        for earned in (self.payoffs, self.rewards):
            if np.abs(earned).max(initial=0.0) >= MAX_EXACT_INTEGER:
                message = (
                    "tables are for payoffs and rewards below 2**53, which are not those of "
                    f"{shown(self.rules.game)}."
                )
                raise UnsupportedProblemError(message)
        begin = [(1.0, self.states.state(0), False)]
        return model_of_arrays(self.rules, begin, self, self.states)

    def _copied(self) -> TierExplorer:
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
