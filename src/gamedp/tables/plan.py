"""Where each position of a table stands: the blocks of a game, and the numbers of their positions.

The fields that `tier` reads determine the tier; their values are called a row. A block is all rows
of a tier, or some of them if there are many positions. Within a block, rows run fastest and the
other fields slowest. So positions of lower tiers that play leads to lie together.
"""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any, NoReturn

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
from gamedp.rules.game import OF_TABLES, Rules
from gamedp.rules.layout import Layout, shaped_like
from gamedp.rules.slips import Calling
from gamedp.runtime.encoding import encode_object

if TYPE_CHECKING:
    from collections.abc import Hashable

    from gamedp.runtime.arrays import Integers

__all__ = ["MAX_PLACES", "Box", "Plan", "identity_of", "refuse_rise", "tier_of", "whole"]

MAX_ROWS = 1 << 24
"""Largest number of rows: `tier` is asked for each in plain Python, for half a minute in all."""

MAX_PLACES = 2**40
"""Largest number of places: a day's work for a thousand processors."""


@attrs.frozen(eq=False)
class Box:
    """Where the positions of a game are, by its method of that name.

    Attributes
    ----------
    rules : Rules
    layout : Layout
    box : list of (int, int)
        The range of each field, both ends included.
    first : state
        A state of the game.
    """

    rules: Rules
    layout: Layout
    box: list[tuple[int, int]]
    first: Any

    @classmethod
    def of_game(cls, game: Any) -> Box:
        """Return the box of a game that has tiers.

        Raises
        ------
        UnsupportedProblemError
            If the game has no tiers, no box, or more than two players.
        InvalidParameterError
            If the box is none.
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
        return Box(rules, layout, ranges_of(rules, layout), first)

    def fields(self, state: Hashable) -> list[int]:
        """Return the fields of a state; raise UnknownStateError if it is none."""
        try:
            return self.layout.flatten(state)
        except InvalidModelError as error:
            raise UnknownStateError(str(error)) from None

    def fields_within(self, state: Hashable) -> list[int]:
        """Return the fields of a state; raise UnknownStateError if it is outside the box."""
        fields = self.fields(state)
        for name, value, (first, last) in zip(self.layout.names(), fields, self.box, strict=True):
            if not first <= value <= last:
                message = f"{shown(state)} is outside the box, where {name} is {first} to {last}."
                raise UnknownStateError(message)
        return fields

    def is_position(self, state: Any) -> bool:
        """Return whether a state at a place is a position, and its own representative."""
        return self.rules.is_state(state) and self.rules.canonical(state)[0] == state


@attrs.frozen(eq=False)
class Plan(Box):
    """The numbering of the positions of a game.

    Attributes
    ----------
    read, others : list of int
        The fields that `tier` reads, and the others.
    tiers : (L,) int64
        The tier of each block, from the lowest up. The place of a block here is its level.
    levels : (R,) int64
        The level of each row.
    order : (R,) int64
        All rows, those of a level one after the other.
    starts : (L + 1,) int64
        Where each level begins there.
    ranks : (R,) int64
        The number of each row among those of its level.
    """

    stores = ("fixed32", "float64")

    read: list[int]
    others: list[int]
    tiers: Integers
    levels: Integers
    order: Integers
    starts: Integers
    ranks: Integers

    @classmethod
    def of(cls, game: Any, packed: Integers | None = None) -> Plan:
        """Return the plan of a game's tables; a tier is one block, or as `packed` says.

        Parameters
        ----------
        game
        packed : (N,) int64, optional
            The same as `packed` of a plan of this game.

        Raises
        ------
        UnsupportedProblemError, InvalidParameterError
            As of `Box.of_game`.
        InvalidModelError
            If a tier is not an integer of 64 bits.
        InvalidParameterError
            If `packed` is of no plan of this game.
        """
        home = Box.of_game(game)
        rules, layout, box = home.rules, home.layout, home.box
        name = type(game).__name__
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
        if packed is None:
            found = np.unique(_tiers_of_rows(rules, layout, box, read, rows), return_inverse=True)
        else:
            found = _unpacked(packed, rows)
        others = [k for k in range(len(box)) if k not in read]
        return cls(rules, layout, box, home.first, read, others, *_numbered(*found))

    def cut(self, parts: Integers) -> Plan:
        """Return a plan with smaller blocks.

        Parameters
        ----------
        parts : (R,) int64
            Of each row, the number of its part of its block.
        """
        numbers = self.levels * (int(parts.max()) + 1) + parts
        _, firsts, levels = np.unique(numbers, return_index=True, return_inverse=True)
        tiers, levels, order, starts, ranks = _numbered(self.tiers[self.levels[firsts]], levels)
        return attrs.evolve(
            self, tiers=tiers, levels=levels, order=order, starts=starts, ranks=ranks
        )

    @property
    def identity(self) -> dict[str, Any]:
        """Everything that the tables depend on, as JSON data.

        Raises
        ------
        UnsupportedProblemError
            If the rules cannot be followed to the end.
        """
        return {**identity_of(self.rules.game), "box": [list(each) for each in self.box]}

    @property
    def packed(self) -> Integers:
        """The tiers of blocks, and the level of each row, in one array."""
        return np.concatenate([[len(self.tiers)], self.tiers, self.levels])

    def part(self, level: int) -> int:
        """Return the number of a block among those of its tier."""
        return level - int(np.searchsorted(self.tiers, self.tiers[level]))

    def count(self, level: int) -> int:
        """Return the number of rows of a block."""
        return int(self.starts[level + 1] - self.starts[level])

    def size(self, level: int) -> int:
        """Return the number of places of a block."""
        return self.count(level) * self.depth

    @property
    def depth(self) -> int:
        """The number of places of a row."""
        return math.prod(self._extents(self.others))

    def _extents(self, which: list[int]) -> tuple[int, ...]:
        return tuple(self.box[k][1] + 1 - self.box[k][0] for k in which)

    def rows(self, level: int) -> Integers:
        """Return the rows of a block."""
        return self.order[self.starts[level] : self.starts[level + 1]]

    def fields_of(self, rows: Integers, numbers: Integers | None = None) -> Integers:
        """Return the fields of all places of some rows, or of those with some numbers, (N, K)."""
        if numbers is None:
            numbers = np.arange(self.depth)
        fields = np.empty((len(numbers), len(rows), len(self.box)), np.int64)
        for k, values in zip(self.read, _unravelled(rows, self._extents(self.read)), strict=True):
            fields[:, :, k] = values + self.box[k][0]
        for k, values in zip(
            self.others, _unravelled(numbers, self._extents(self.others)), strict=True
        ):
            fields[:, :, k] = values[:, None] + self.box[k][0]
        return fields.reshape(-1, len(self.box))

    def rows_at(self, levels: Integers, places: Integers) -> Integers:
        """Return the rows of places."""
        counts = self.starts[levels + 1] - self.starts[levels]
        return self.order[self.starts[levels] + places % counts]

    def places(self, fields: Integers) -> tuple[Integers, Integers]:
        """Return the levels and places of states, given their fields; -1 for those outside."""
        inside = np.ones(len(fields), np.bool_)
        rows, numbers = found = np.zeros((2, len(fields)), np.int64)
        for number, which in zip(found, (self.read, self.others), strict=True):
            for k, extent in zip(which, self._extents(which), strict=True):
                offsets = fields[:, k] - self.box[k][0]
                inside &= offsets.view(np.uint64) < extent  # those below 0 are large there
                np.multiply(number, extent, out=number)
                np.add(number, offsets, out=number)
        found *= inside
        levels = self.levels[rows]
        places = numbers * np.diff(self.starts)[levels] + self.ranks[rows]
        return np.where(inside, levels, -1), np.where(inside, places, -1)

    def checked(self, state: Hashable) -> Any:
        """Return a state as the game has it; raise UnknownStateError if it is not one."""
        state = shaped_like(self.first, state)
        self.fields(state)
        return state

    def ends(self, state: Any, value: float, error: float) -> tuple[float, float]:  # noqa: ARG002 - as of a numbering
        """Return bounds of what player 0 can expect in a position, given the value in the table."""
        if not error:
            return value, value
        return math.nextafter(value - error, -math.inf), math.nextafter(value + error, math.inf)

    def place(self, state: Hashable) -> tuple[int, int]:
        """Return the level and the place of one state.

        Raises
        ------
        UnknownStateError
            If it is outside the box.
        """
        fields = self.fields_within(state)
        row = number = 0
        for which, is_read in ((self.read, True), (self.others, False)):
            found = 0
            for k in which:
                first, last = self.box[k]
                found = found * (last + 1 - first) + fields[k] - first
            row, number = (found, number) if is_read else (row, found)
        level = int(self.levels[row])
        return level, number * self.count(level) + int(self.ranks[row])

    def state(self, level: int, place: int) -> Any:
        """Return the state at a place."""
        number, rank = divmod(place, self.count(level))
        row = int(self.order[self.starts[level] + rank])
        fields = np.empty(len(self.box), np.int64)
        for which, found in ((self.read, row), (self.others, number)):
            for k, value in zip(which, _unravelled(found, self._extents(which)), strict=True):
                fields[k] = value + self.box[k][0]
        return self.layout.build(iter(fields.tolist()))


def identity_of(game: Any) -> dict[str, Any]:
    """Return what tables depend on, as JSON data: a game's parameters, and a digest of its rules.

    Raises
    ------
    UnsupportedProblemError
        If the rules cannot be followed to the end.
    """
    digest = rules_digest(game, OF_TABLES)
    if digest is None:
        message = (
            f"what the rules of {shown(game)} call cannot be followed to the end, so files could "
            "not tell whether they have changed. Leave the folder out."
        )
        raise UnsupportedProblemError(message)
    return {"game": encode_object(game), "rules": digest}


def tier_of(rules: Rules, state: Any) -> int:
    """Return the tier of a position.

    Raises
    ------
    InvalidModelError
        If it is not an integer of 64 bits.
    """
    with Calling("tier", state):
        tier = whole(f"tier({shown(state)})", rules.game.tier(state))
    if not -(2**63) <= tier < 2**63:
        message = f"tier({shown(state)}) is {tier}; it must be an integer of 64 bits."
        raise InvalidModelError(message)
    return tier


def whole(what: str, number: Any) -> int:
    """Return a number from the rules as an int; raise InvalidModelError if it is not whole."""
    try:
        return operator.index(number)
    except TypeError:
        message = f"{what} is {shown(number)}; it must be an integer."
        raise InvalidModelError(message) from None


def refuse_rise(way: str, after: Any, risen: int, tier: int) -> NoReturn:
    """Raise the error of play that leads from a tier to a higher one, or below all."""
    must = "fall below 0" if risen < tier else f"rise along play, and it is {tier} before"
    message = f"{way} leads to {shown(after)}, which is of tier {risen}; tier() must never {must}."
    raise InvalidModelError(message)


def _unravelled(numbers: Any, extents: tuple[int, ...]) -> Any:
    return np.unravel_index(numbers, extents) if extents else ()


def _numbered(
    tiers: Integers, levels: Integers
) -> tuple[Integers, Integers, Integers, Integers, Integers]:
    """Return these, the rows in the order of levels, where each level begins there, and ranks."""
    levels = levels.astype(np.int64)
    keys = levels.astype(np.uint16) if len(tiers) <= 2**16 else levels  # short ones are counted
    order = np.argsort(keys, kind="stable")
    counts = np.bincount(levels, minlength=len(tiers))
    starts = np.concatenate([[0], np.cumsum(counts)])
    ranks = np.empty(len(levels), np.int64)
    ranks[order] = np.arange(len(levels)) - np.repeat(starts[:-1], counts)
    return tiers, levels, order, starts, ranks


def _unpacked(packed: Integers, rows: int) -> tuple[Integers, Integers]:
    """Return the tiers and levels that were packed for a number of rows."""
    count = int(packed[0]) if len(packed) else 0
    tiers, levels = np.split(packed[1:], [max(count, 0)])
    is_sound = 0 < count == len(tiers) and len(levels) == rows
    is_sound = is_sound and 0 <= levels.min() <= levels.max() < count
    if not (is_sound and np.bincount(levels, minlength=count).all()):
        message = f"these are not the levels of {rows:,} rows."
        raise InvalidParameterError(message)
    if (tiers[1:] < tiers[:-1]).any():
        message = "these tiers are not in order."
        raise InvalidParameterError(message)
    return tiers, levels


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
        found[row] = tier_of(rules, state)
        for k in reversed(read):  # the next row, in the order of `numpy.ravel_multi_index`
            fields[k] += 1
            if fields[k] <= box[k][1]:
                break
            fields[k] = box[k][0]
    return found
