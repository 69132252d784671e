"""Where each position of a table stands: the tiers of a game, and the numbers of their positions.

The fields that `tier` reads tell the tier; call their values a row. Within a tier, rows run fastest
and the other fields slowest. So positions of lower tiers that play leads to lie together.
"""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.compiler.build import ranges_of
from gamedp.errors import (
    InvalidModelError,
    InvalidParameterError,
    LimitExceededError,
    UnknownStateError,
    UnsupportedProblemError,
    shown,
)
from gamedp.rules.anatomy import fields_read, rules_digest
from gamedp.rules.expand import start
from gamedp.rules.game import Rules
from gamedp.rules.layout import Layout
from gamedp.runtime.encoding import encode_object

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

    from gamedp.runtime.arrays import Integers

__all__ = ["IDENTIFIED", "Plan"]

IDENTIFIED = ("tier", "is_state", "player", "reward", "canonical")
"""Methods on which tables depend, besides those of every game."""

MAX_ROWS = 1 << 24
"""Largest number of rows: `tier` is asked for each in plain Python, for half a minute in all."""

MAX_PLACES = 2**40
"""Largest number of places: a day's work for a thousand processors."""


@attrs.frozen(eq=False)
class Plan:
    """The numbering of the positions of a game.

    Attributes
    ----------
    rules : Rules
    layout : Layout
    box : list of (int, int)
        The range of each field, both ends included.
    first : state
        A state of the game.
    read, others : list of int
        The fields that `tier` reads, and the others.
    tiers : (L,) int64
        All tiers from the lowest up. The place of a tier here is its level.
    levels : (R,) int32
        The level of each row.
    ranks : (R,) int64
        The number of each row among those of its level.
    counts : (L,) int64
        The number of rows of each level.
    """

    rules: Rules
    layout: Layout
    box: list[tuple[int, int]]
    first: Any
    read: list[int]
    others: list[int]
    tiers: Integers
    levels: NDArray[np.int32]
    ranks: Integers
    counts: Integers

    @classmethod
    def of(cls, game: Any, given: Integers | None = None) -> Plan:
        """Return the plan of a game's tables.

        Parameters
        ----------
        game
        given : (R,) int64, optional
            The tier of each row, if it is known.

        Raises
        ------
        UnsupportedProblemError
            If the game has no tiers, no box, or more than two players.
        InvalidModelError
            If a tier is not an integer of 64 bits.
        """
        rules = Rules(game)
        name = type(game).__name__
        missing = [each for each in ("tier", "box") if not callable(getattr(game, each, None))]
        if missing:
            message = (
                f"{name} has no method {' and no method '.join(missing)}, which tables need: "
                "tier(state) says in which order positions can be valued, and box() where they "
                "are; see the page on tables."
            )
            raise UnsupportedProblemError(message)
        if rules.is_general_sum:
            message = f"tables are for one player or two opponents; {name} has others."
            raise UnsupportedProblemError(message)
        first = start(rules)[0][1]
        layout = Layout.of(first)
        if layout is None or not layout.is_compilable:
            message = (
                f"tables need states that are NamedTuples of ints and tuples of ints; those of "
                f"{name} are like {shown(first)}."
            )
            raise UnsupportedProblemError(message)
        box = ranges_of(layout, game.box())
        read = _fields_of_tier(game, list(layout.names()))
        rows = math.prod(box[k][1] + 1 - box[k][0] for k in read)
        places = math.prod(last + 1 - first for first, last in box)
        if rows > MAX_ROWS or places > MAX_PLACES:
            names = list(layout.names())
            message = (
                f"tier() of {name} reads {', '.join(names[k] for k in read)}, which take "
                f"{rows:,} values together, and the box has {places:,} places; tables take up to "
                f"{MAX_ROWS:,} and {MAX_PLACES:,}. Let tier() read few fields, each as state.name."
            )
            raise LimitExceededError(message, states=places, choices=0, transitions=0)
        if given is None:
            given = _tiers_of_rows(rules, layout, box, read, rows)
        if len(given) != rows:
            message = f"there are {len(given):,} tiers for {rows:,} rows."
            raise InvalidParameterError(message)
        tiers, levels, counts = np.unique(given, return_inverse=True, return_counts=True)
        order = np.argsort(levels, kind="stable")
        ranks = np.empty(rows, np.int64)
        ranks[order] = np.arange(rows) - np.repeat(np.cumsum(counts) - counts, counts)
        others = [k for k in range(len(box)) if k not in read]
        return cls(
            rules, layout, box, first, read, others,
            tiers, levels.astype(np.int32), ranks, counts.astype(np.int64),
        )  # fmt: skip

    @property
    def identity(self) -> dict[str, Any]:
        """Everything that the tables depend on, as JSON data.

        Raises
        ------
        UnsupportedProblemError
            If the rules cannot be followed to the end.
        """
        game = self.rules.game
        digest = rules_digest(game, IDENTIFIED)
        if digest is None:
            message = (
                f"what the rules of {shown(game)} call cannot be followed to the end, so files "
                "could not tell whether they have changed."
            )
            raise UnsupportedProblemError(message)
        box = [list(each) for each in self.box]
        return {"game": encode_object(game), "rules": digest, "box": box}

    @property
    def given(self) -> Integers:
        """The tier of each row, (R,) int64."""
        return self.tiers[self.levels]

    def size(self, level: int) -> int:
        """Return the number of places of a level."""
        return int(self.counts[level]) * self._depth

    @property
    def _depth(self) -> int:
        """The number of values of the fields that `tier` does not read."""
        return math.prod(self._extents(self.others))

    def _extents(self, which: list[int]) -> tuple[int, ...]:
        return tuple(self.box[k][1] + 1 - self.box[k][0] for k in which)

    def rows(self, level: int) -> Integers:
        """Return the fields of all places of a level, (size, K)."""
        rows = np.flatnonzero(self.levels == level)
        fields = np.empty((self._depth, len(rows), len(self.box)), np.int64)
        for k, values in zip(self.read, _unravelled(rows, self._extents(self.read)), strict=True):
            fields[:, :, k] = values + self.box[k][0]
        numbers = np.arange(self._depth)
        for k, values in zip(
            self.others, _unravelled(numbers, self._extents(self.others)), strict=True
        ):
            fields[:, :, k] = values[:, None] + self.box[k][0]
        return fields.reshape(-1, len(self.box))

    def places(self, fields: Integers) -> tuple[Integers, Integers]:
        """Return the levels and places of states, given their fields; -1 for those outside."""
        inside = np.ones(len(fields), np.bool_)
        found = np.zeros((2, len(fields)), np.int64)
        for number, which in zip(found, (self.read, self.others), strict=True):
            for k, extent in zip(which, self._extents(which), strict=True):
                offsets = fields[:, k] - self.box[k][0]
                inside &= (offsets >= 0) & (offsets < extent)
                np.multiply(number, extent, out=number)
                np.add(number, offsets, out=number)
        rows, numbers = np.where(inside, found, 0)
        levels = self.levels[rows].astype(np.int64)
        places = numbers * self.counts[levels] + self.ranks[rows]
        return np.where(inside, levels, -1), np.where(inside, places, -1)

    def fields(self, state: Hashable) -> list[int]:
        """Return the fields of a state; raise UnknownStateError if it is none."""
        try:
            return self.layout.flatten(state)
        except InvalidModelError as error:
            raise UnknownStateError(str(error)) from None

    def place(self, state: Hashable) -> tuple[int, int]:
        """Return the level and the place of one state.

        Raises
        ------
        UnknownStateError
            If it is outside the box.
        """
        fields = self.fields(state)
        row = number = 0
        for which, is_read in ((self.read, True), (self.others, False)):
            found = 0
            for k in which:
                first, last = self.box[k]
                if not first <= fields[k] <= last:
                    name = list(self.layout.names())[k]
                    message = (
                        f"{shown(state)} is outside the box, where {name} is {first} to {last}."
                    )
                    raise UnknownStateError(message)
                found = found * (last + 1 - first) + fields[k] - first
            row, number = (found, number) if is_read else (row, found)
        level = int(self.levels[row])
        return level, number * int(self.counts[level]) + int(self.ranks[row])

    def state(self, level: int, place: int) -> Any:
        """Return the state at a place."""
        number, rank = divmod(place, int(self.counts[level]))
        row = int(np.flatnonzero(self.levels == level)[rank])
        fields = np.empty(len(self.box), np.int64)
        for which, found in ((self.read, row), (self.others, number)):
            for k, value in zip(which, _unravelled(found, self._extents(which)), strict=True):
                fields[k] = value + self.box[k][0]
        return self.layout.build(iter(fields.tolist()))


def _unravelled(numbers: Any, extents: tuple[int, ...]) -> Any:
    return np.unravel_index(numbers, extents) if extents else ()


def _fields_of_tier(game: Any, names: list[str]) -> list[int]:
    """Return the fields that `tier` reads, all if that is not known."""
    function = type(game).tier
    read = fields_read(function, 1) if hasattr(function, "__code__") else None
    tops = [name.split("[")[0].split(".")[0] for name in names]
    if read is None or not read <= set(tops):
        return list(range(len(names)))
    return [k for k, top in enumerate(tops) if top in read]


def _tiers_of_rows(
    rules: Rules, layout: Layout, box: list[tuple[int, int]], read: list[int], rows: int
) -> Integers:
    """Return the tier of each row."""
    found = np.empty(rows, np.int64)
    fields = [first for first, _ in box]
    for row in range(rows):
        state = layout.build(iter(fields))
        given = rules.game.tier(state)
        try:
            found[row] = operator.index(given)
        except (TypeError, OverflowError):
            message = f"tier({shown(state)}) is {shown(given)}; it must be an integer of 64 bits."
            raise InvalidModelError(message) from None
        for k in reversed(read):  # the next row, in the order of `numpy.ravel_multi_index`
            fields[k] += 1
            if fields[k] <= box[k][1]:
                break
            fields[k] = box[k][0]
    return found
