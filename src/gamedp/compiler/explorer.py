"""Exploration by compiled rules: drives the loop over them, and handles its requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from gamedp.compiler import explore_loop
from gamedp.compiler.bridge import record
from gamedp.compiler.limits import SHOWN_STATES
from gamedp.compiler.methods import disagree, refuse_overflow
from gamedp.compiler.native import RecordPointer
from gamedp.compiler.reasons import NAMED_ACTIONS, OUTCOMES_EARN
from gamedp.errors import CompilationError, InvalidModelError, shown
from gamedp.rules.exactness import LONG_ROW
from gamedp.rules.expand import canonical_state, expand, is_state
from gamedp.rules.layout import Codec, PackedTable, rows_of_box
from gamedp.runtime.machine import enlarge, trim
from gamedp.runtime.slices import NEW_TRANSITIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from gamedp.compiler.limits import ExplorationBudget
    from gamedp.compiler.methods import CompiledRules
    from gamedp.compiler.native import NativeFunction
    from gamedp.rules.game import Rules
    from gamedp.rules.layout import Layout

__all__ = ["Explorer"]

DIRECT_SIZE = 1 << 22
"""Largest table of codes (4 bytes each) that is indexed directly even if few are used."""

DIRECT_FACTOR = 16
"""Beyond that, largest ratio of the size of a direct table to the number of states; a table for
hashing has up to 8 places a state."""

PAGE_CHOICES, PAGE_OUTCOMES = 64, 512
"""Initial room for choices and outcomes of one state."""

INDEX_LIMIT = 2**31 - 1
"""Largest number of states with 32-bit indices."""


class Explorer:
    """A running exploration: the growing arrays, and the ranges of the states' fields."""

    direct_size = DIRECT_SIZE
    pause_after = NEW_TRANSITIONS
    LOOPED = (
        "codes", "table", "mask", "counters", "choice_offsets", "transition_offsets", "successors",
        "probabilities", "rewards", "labels", "players", "terminals", "payoffs", "rests",
    )  # fmt: skip

    def __init__(
        self, rules: Rules, layout: Layout, compiled: CompiledRules, budget: ExplorationBudget
    ) -> None:
        self.rules = rules
        self.layout = layout
        self.compiled = compiled
        self.budget = budget
        self.counters = np.zeros(6, np.int64)
        stored = rules.num_players if rules.is_general_sum else 1
        self.has_rewards = hasattr(rules.game, "reward")
        self.choice_offsets = np.zeros(1025, np.int64)
        self.players = np.empty(1024, np.int8)
        self.transition_offsets = np.zeros(2049, np.int64)
        self.rewards = np.empty((2048 if self.has_rewards else 0, stored))
        self.labels = np.empty(2048, np.int32)
        self.successors: NDArray[Any] = np.empty(8192, np.int32)
        self.probabilities = np.empty(8192)
        self.terminals = np.empty(256, np.int64)
        self.payoffs = np.empty((256, stored))
        self.codes = np.empty((1024, 1), np.int64)
        self.table: NDArray[Any] = np.empty(0, np.int32)
        self.mask = -1
        self.rests = np.empty(LONG_ROW)
        self.found = np.zeros(3, np.int64)
        self.page_size = PAGE_CHOICES, PAGE_OUTCOMES
        self.page: RecordPointer
        self.low: list[int] = []
        self.high: list[int] = []
        self.codec = Codec.of_ranges([], [])

    def warm_up(self, *, with_box: bool) -> None:
        """Compile the loops and the rules, or load them from disk, with nothing to explore."""
        self.low = self.high = [0] * sum(1 for _ in self.layout.names())
        self._lay_out()
        self._explore()
        if with_box:
            self._seed_rows(np.empty((0, len(self.low)), np.int64))

    def run(self, seeds: Sequence[Any], box: Sequence[tuple[int, int]]) -> PackedTable:
        """Explore what can be reached, also from the box; leave the arrays at their exact size."""
        fields = [self.layout.flatten(state) for state in seeds]
        columns = list(zip(*fields, *zip(*box, strict=True), strict=True))
        self.low, self.high = list(map(min, columns)), [max(column) + 1 for column in columns]
        self._lay_out()
        distinct = np.array(list(dict.fromkeys(map(tuple, fields))), np.int64)
        while len(self.codes) <= len(distinct):
            self._grow_states()
        self.codes[: len(distinct)] = self.codec.pack(distinct)
        self.counters[explore_loop.STATES] = len(distinct)
        self._index_states()
        for rows in rows_of_box(box) if box else ():
            self._seed(rows)
        self._explore_all()
        self._shrink()
        return PackedTable(self.layout, self.codec, self.codes)

    def _explore_all(self) -> None:
        """Expand all states that are entered, and those that are found."""
        while (status := self._guarded(self._explore, self._explain)) != explore_loop.DONE:
            self._mend(status)
        self._check_limits()

    def _work(self) -> Any:
        """Return the record of all data of the loops."""
        values = {name: getattr(self, name) for name in self.LOOPED}
        return record("work", {**values, "constant_sum": self.rules.constant_sum})

    def _new_page(self) -> RecordPointer:
        """Return a page for the present packing and with the present room."""
        codec, num_players = self.codec, self.rules.num_players
        choices, outcomes = self.page_size
        values = record(
            "page",
            {
                "fields": np.zeros(len(self.low), np.int64),
                "own": np.zeros(codec.num_words, np.int64),
                "low": codec.low,
                "high": codec.high,
                "stride": codec.stride,
                "word": codec.word,
                "direct": codec.size > 0,
                "num_players": num_players,
                "has_opponents": self.rules.has_opponents,
                "has_rewards": self.has_rewards,
                "has_symmetry": hasattr(type(self.rules.game), "canonical"),
                "found": self.found,
                "payoffs": np.empty(num_players),
                "labels": np.empty(choices, np.int64),
                "ends": np.empty(choices, np.int64),
                "rewards": np.empty((choices if self.has_rewards else 0, num_players)),
                "probabilities": np.empty(outcomes),
                "keys": np.empty((outcomes + 1) * codec.num_words, np.int64),
            },
        )
        if not hasattr(self, "page"):
            return RecordPointer(values)
        self.page.put(values)
        return self.page

    @property
    def fields(self) -> NDArray[np.int64]:
        """The fields of a state that does not fit, as left on the page by the rules."""
        page = self.page.record
        values: Any = getattr(page, "values", page)
        return values.fields  # type: ignore[no-any-return] # numba has no types

    def _explore(self) -> int:
        return self._run(explore_loop.explore_jit, "expand", self._expanding(), self.pause_after)

    def _expanding(self) -> NativeFunction:
        """Return the function that writes the choices of a state to the page."""
        return self.compiled.expand(self.page)

    def _run(
        self, function: Callable[..., int], name: str, asked: NativeFunction, *arguments: Any
    ) -> int:
        """Call a loop; raise the rules' error if they raise one in it."""
        game, page = self.compiled.game, self.page
        rules = record("rules", {name: asked.given, "game": game.given, "page": page.given})
        status = int(function(self._work(), page.itself, rules, *arguments))
        if status == explore_loop.FAILED:
            asked.function(game.itself, page.itself)
        return status

    def _seed(self, rows: NDArray[np.int64]) -> None:
        """Enter the real states among rows of fields, before any is expanded."""
        self.counters[explore_loop.SEED] = 0

        def explain(error: Exception | None) -> NoReturn:
            self._explain_seed(rows[self.counters[explore_loop.SEED]], error)

        while self.counters[explore_loop.SEED] < len(rows):
            self._mend(self._guarded(lambda: self._seed_rows(rows), explain))

    def _seed_rows(self, rows: NDArray[np.int64]) -> int:
        represent = self.compiled.represent(self.page)
        return self._run(explore_loop.seed_jit, "represent", represent, rows)

    def _mend(self, status: int) -> None:
        """Handle the request of a call, so that it can go on."""
        if status == explore_loop.WIDEN:
            self._widen(self.fields.tolist())
        elif status == explore_loop.GROW_STATES:
            self._grow_states()
        elif status == explore_loop.GROW_TABLE:
            self._index_states()
        elif status == explore_loop.GROW_CHOICES:
            self._grow_choices()
        elif status == explore_loop.GROW_TRANSITIONS:
            self._grow(("successors", "probabilities"), explore_loop.TRANSITIONS)
        elif status == explore_loop.GROW_PAGE:
            choices, outcomes = self.page_size
            self.page_size = 2 * choices, 2 * outcomes
            self.page = self._new_page()
        self._check_limits()

    def _check_limits(self) -> None:
        """Report the progress of the exploration to the budget, which raises at a limit."""
        counters = self.counters
        self.budget.check(
            int(counters[explore_loop.NEXT]),
            int(counters[explore_loop.STATES]),
            int(counters[explore_loop.CHOICES]),
            int(counters[explore_loop.TRANSITIONS]),
            self._num_bytes(),
            self._late_states,
        )

    def _late_states(self) -> list[Any]:
        """Return the states found last."""
        found = int(self.counters[explore_loop.STATES])
        rows = self.codec.unpack(self.codes[max(0, found - SHOWN_STATES) : found])
        return [self.layout.build(iter(row.tolist())) for row in rows]

    def _num_bytes(self) -> int:
        """Return the memory of the arrays, counting only the written parts."""
        used = (
            (explore_loop.STATES, (self.choice_offsets, self.players, self.codes)),
            (explore_loop.CHOICES, (self.transition_offsets, self.rewards, self.labels)),
            (explore_loop.TRANSITIONS, (self.successors, self.probabilities)),
            (explore_loop.TERMINALS, (self.terminals, self.payoffs)),
        )
        choices, outcomes = self.page_size
        page = 8 * (choices * (2 + self.rules.num_players) + outcomes * (1 + self.codec.num_words))
        return (
            self.table.nbytes
            + page
            + sum(
                int(self.counters[counter]) * array[:1].nbytes
                for counter, arrays in used
                for array in arrays
            )
        )

    def _grow(self, names: tuple[str, ...], counter: int) -> None:
        """Enlarge arrays that grow together to twice the room of the shortest.

        The loop looks at the length of the first one alone, so that is kept to what all can hold.
        """
        # All that the counter has not passed yet belongs to a state that is begun anew.
        used = int(self.counters[counter]) + 1
        wanted = 2 * min(len(getattr(self, name)) for name in names) + 1024
        for name in names:
            array = getattr(self, name)
            room = wanted + name.endswith("offsets")
            if len(array) < room:
                setattr(self, name, enlarge(array, used, room, self.budget.limits.max_bytes))
        first, *others = names
        held = min(len(getattr(self, name)) - name.endswith("offsets") for name in others)
        setattr(self, first, getattr(self, first)[:held])

    def _grow_states(self) -> None:
        if len(self.codes) == INDEX_LIMIT:
            # Only what is written: the room reserved behind it would become memory.
            written = int(self.counters[explore_loop.TRANSITIONS]) + 1
            self.successors = self.successors[:written].astype(np.int64)
            self.table = self.table.astype(np.int64)
        self._grow(("codes", "choice_offsets", "players"), explore_loop.STATES)
        self.codes = self._indexable(self.codes)

    def _indexable(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Limit the room for codes to that of indices and of the other arrays."""
        held = min(len(self.players), len(self.choice_offsets) - 1)
        return codes[: min(held, INDEX_LIMIT) if self.successors.dtype == np.int32 else held]

    def _grow_choices(self) -> None:
        if self.counters[explore_loop.TERMINALS] >= len(self.terminals):
            self._grow(("terminals", "payoffs"), explore_loop.TERMINALS)
            return
        rewards = ("rewards",) if self.has_rewards else ()
        self._grow(("labels", "transition_offsets", *rewards), explore_loop.CHOICES)

    def _shrink(self) -> None:
        """Release the unfilled part of each array."""
        states, choices, transitions, terminals = (
            int(self.counters[place])
            for place in (
                explore_loop.STATES,
                explore_loop.CHOICES,
                explore_loop.TRANSITIONS,
                explore_loop.TERMINALS,
            )
        )
        self.codes = trim(self.codes, states)
        self.choice_offsets = trim(self.choice_offsets, states + 1)
        self.players = trim(self.players, states)
        self.labels = trim(self.labels, choices)
        self.transition_offsets = trim(self.transition_offsets, choices + 1)
        self.rewards = trim(self.rewards, choices)
        self.successors = trim(self.successors, transitions)
        self.probabilities = trim(self.probabilities, transitions)
        self.terminals = trim(self.terminals, terminals)
        self.payoffs = trim(self.payoffs, terminals)
        self.table = self.table[:0]

    def _lay_out(self) -> None:
        """Compute the packing for the present ranges, and repack the known states."""
        num_states = int(self.counters[explore_loop.STATES])
        codec = Codec.of_ranges(self.low, self.high)
        codes = self.codes
        if codec.num_words != self.codec.num_words:
            codes = np.empty((num_states + 1, codec.num_words), np.int64)
            codes = enlarge(codes, 0, 2 * num_states + 1024, self.budget.limits.max_bytes)
        for first in range(0, num_states, 1 << 16):
            block = slice(first, min(first + (1 << 16), num_states))
            codes[block] = codec.pack(self.codec.unpack(self.codes[block]))
        self.codec, self.codes = codec, self._indexable(codes)
        self.page = self._new_page()
        self._index_states()

    def _index_states(self) -> None:
        """Build a table with room for more states: direct if that is small enough, else hashed."""
        num_states = int(self.counters[explore_loop.STATES])
        dtype = self.successors.dtype
        size = self.codec.size
        if 0 < size <= max(self.direct_size, DIRECT_FACTOR * num_states):
            self.mask = -1
        else:
            size = 1 << max(16, (4 * num_states).bit_length())
            self.mask = size - 1
        self.table = np.full(size, -1, dtype)
        if self.mask < 0:
            self.table[self.codes[:num_states, 0]] = np.arange(num_states, dtype=dtype)
        elif num_states > 0:
            explore_loop.rehash_jit(self._work(), self.page.itself)

    def _widen(self, fields: list[int]) -> None:
        """Widen the ranges for a state whose fields are outside them, with some to spare."""
        self._check_overflow()
        for k, value in enumerate(fields):
            low, high = self.low[k], self.high[k]
            room = max(4, high - low)
            if value >= high:
                self.high[k] = max(value + 1, low + 2 * room)
            elif value < low:
                self.low[k] = min(value, high - 2 * room)
        self._lay_out()

    def _check_overflow(self) -> None:
        """Expand the state in plain Python to find the integers that overflow in compiled rules."""
        if self.counters[explore_loop.NEXT] >= self.counters[explore_loop.STATES]:
            return
        state = self._present_state()
        for choice in expand(self.rules, state, look=self._check_limits).choices:
            for successor, _ in choice.outcomes:
                for name, value in zip(
                    self.layout.names(), self.layout.flatten(successor), strict=True
                ):
                    if not -(2**63) <= value < 2**63:
                        message = (
                            f"action {choice.action} in {shown(state)} leads to {name} = {value}, "
                            "which is beyond 64 bits. Bound the field, or compile='never'."
                        )
                        raise InvalidModelError(message)

    def _present_state(self) -> Any:
        return self._state(int(self.counters[explore_loop.NEXT]))

    def _state(self, index: int) -> Any:
        row = self.codec.unpack(self.codes[index : index + 1])[0]
        return self.layout.build(iter(row.tolist()))

    @staticmethod
    def _guarded(call: Callable[[], int], explain: Callable[[Exception | None], NoReturn]) -> int:
        """Call a loop; explain the error of the rules if it stops at one."""
        try:
            status = call()
        except Exception as error:  # noqa: BLE001 - whatever the rules may raise
            explain(error)
        if status in {explore_loop.BAD, explore_loop.FAILED, explore_loop.NO_REPRESENTATIVE}:
            explain(None)
        return status

    def _explain(self, error: Exception | None) -> NoReturn:
        """Raise the error of the state at which the loop stopped."""
        state = self._present_state()
        refuse_overflow(self.rules, self.compiled.game.record, [state], error)
        for each in (state, *self._before()):
            for choice in expand(self.rules, each, look=self._check_limits).choices:
                if choice.spread is not None or type(choice.action) is not int:
                    reason = NAMED_ACTIONS if choice.spread is None else OUTCOMES_EARN
                    message = f"the rules cannot be compiled: {reason}"
                    raise CompilationError(message)
                for successor, _ in choice.outcomes:
                    self.layout.flatten(successor)
        disagree(f"in {shown(state)}", error)

    def _before(self) -> list[Any]:
        """Return the state from which the present one was found, which may not represent itself."""
        index, known = (
            int(self.counters[place]) for place in (explore_loop.NEXT, explore_loop.TRANSITIONS)
        )
        found = np.flatnonzero(self.successors[:known] == index)[:1]
        choices = self.transition_offsets[: int(self.counters[explore_loop.CHOICES])]
        choice = np.searchsorted(choices, found, "right") - 1
        owner = np.searchsorted(self.choice_offsets[:index], choice, "right") - 1
        return [self._state(int(each)) for each in owner]

    def _explain_seed(self, row: NDArray[np.int64], error: Exception | None) -> NoReturn:
        """Raise the error of the state of the box at which the loop stopped."""
        state = self.layout.build(iter(row.tolist()))
        if is_state(self.rules, state):
            canonical_state(self.rules, state, "the box")
        refuse_overflow(self.rules, self.compiled.game.record, [state], error)
        disagree(f"in {shown(state)} of the box", error)
