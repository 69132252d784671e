"""Where each position of a table stands if the game itself numbers the positions of each tier."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.errors import (
    InvalidModelError,
    InvalidParameterError,
    UnknownStateError,
    UnsupportedProblemError,
    shown,
)
from gamedp.rules.expand import start
from gamedp.rules.game import Rules, method
from gamedp.rules.layout import Layout, shaped_like
from gamedp.runtime.floats import rounds
from gamedp.tables.plan import MAX_PLACES, identity_of, tier_of, whole

if TYPE_CHECKING:
    from collections.abc import Hashable

    from gamedp.runtime.arrays import Integers

__all__ = ["NUMBERS", "NumberedPlan", "check_numbers", "number_in_tier"]

NUMBERS = ("tier", "tier_size", "tier_index", "tier_state", "settled")
"""Methods of a game that numbers its positions."""


@attrs.frozen(eq=False)
class NumberedPlan:
    """The tiers of a game, from 0 up, as it numbers their positions; each is one block.

    Attributes
    ----------
    rules : Rules
    first : state
        A state of the game.
    sizes : (L,) int64
        The number of positions of each tier.
    """

    rules: Rules
    first: Any
    sizes: Integers

    stores = ("int8",)

    @classmethod
    def of(cls, game: Any, packed: Integers | None = None) -> NumberedPlan:
        """Return the numbering of a game: up to the tier in which it begins, as far as it goes.

        Parameters
        ----------
        game
        packed : (L,) int64, optional
            The same as `packed` of a numbering of this game.

        Raises
        ------
        UnsupportedProblemError
            If the game lacks a method, or does not have two players with payoffs that add up to 0.
        InvalidModelError
            If a size is not a whole number, or less than 0.
        InvalidParameterError
            If `packed` is of no numbering of this game.
        """
        rules = Rules(game)
        name = type(game).__name__
        missing = [each for each in NUMBERS if not callable(getattr(game, each, None))]
        if missing:
            message = f"{name} numbers its positions, but has no method {', '.join(missing)}."
            raise UnsupportedProblemError(message)
        if not rules.has_opponents or rules.constant_sum != 0:
            message = (
                f"tables of numbered positions are for two players whose payoffs add up to 0; not "
                f"so {name}."
            )
            raise UnsupportedProblemError(message)
        states = [state for _, state, _ in start(rules)]
        sizes: list[int] = []
        for tier in range(max(tier_of(rules, state) for state in states) + 1):
            size = whole(f"tier_size({tier})", game.tier_size(tier))
            if size < 0:
                message = f"tier_size({tier}) is {size}; it must be 0 or more."
                raise InvalidModelError(message)
            if (size == 0 and tier > 0) or sum(sizes) + size > MAX_PLACES:
                break
            sizes.append(size)
        if not sum(sizes):
            message = f"{shown(game)} numbers no positions: tier_size() is 0."
            raise UnsupportedProblemError(message)
        if packed is not None and packed.tolist() != sizes:
            message = "these are not the sizes of the tiers."
            raise InvalidParameterError(message)
        return cls(rules, states[0], np.array(sizes, np.int64))

    @property
    def tiers(self) -> Integers:
        """The tier of each block."""
        return np.arange(len(self.sizes))

    @property
    def identity(self) -> dict[str, Any]:
        """Everything that the tables depend on, as JSON data; see `Plan.identity`."""
        return identity_of(self.rules.game)

    @property
    def packed(self) -> Integers:
        """The sizes of all tiers."""
        return self.sizes

    def part(self, level: int) -> int:  # noqa: ARG002 - as of a plan
        """Return the number of a block within its tier, which has one block."""
        return 0

    def size(self, level: int) -> int:
        """Return the number of positions of a block."""
        return int(self.sizes[level])

    def checked(self, state: Hashable) -> Any:
        """Return a state as the game has it; raise UnknownStateError if it is not one."""
        state = shaped_like(self.first, state)
        layout = Layout.of(self.first)
        try:
            if layout is not None:
                layout.flatten(state)
        except InvalidModelError as error:
            raise UnknownStateError(str(error)) from None
        if type(state) is not type(self.first):
            message = f"{shown(state)} is not a state; states are like {shown(self.first)}."
            raise UnknownStateError(message)
        return state

    def place(self, state: Hashable) -> tuple[int, int]:
        """Return the tier of a position and its number there.

        Raises
        ------
        UnknownStateError
            If it is of a higher tier than the game begins in, or than it numbers.
        InvalidModelError
            If there is no such number.
        """
        tier = tier_of(self.rules, state)
        if tier >= len(self.sizes):
            message = (
                f"{shown(state)} is of tier {tier}; the game numbers those of 0 to "
                f"{len(self.sizes) - 1}."
            )
            raise UnknownStateError(message)
        return tier, number_in_tier(self.rules.game, state, tier, self.sizes)

    def state(self, level: int, place: int) -> Any:
        """Return the position with a number, after a check that it has that number."""
        state = self.rules.game.tier_state(level, place)
        check_number(self.rules, f"tier_state({level}, {place})", state, level, place)
        return state

    def is_position(self, state: Any) -> bool:  # noqa: ARG002 - as of a plan
        """Return whether a state at a place is a position: each that has a number is."""
        return True

    def ends(self, state: Any, value: float, error: float) -> tuple[float, float]:  # noqa: ARG002 - as of a plan
        """Return bounds of what player 0 can expect in a position, given the value in the table."""
        game, player = self.rules.game, self.rules.player(state)
        low, high = map(float, method(game, "ending_range")(game, state, value))
        settled = float(game.settled(state, player))
        if low == high == settled + value and rounds(settled, value, low):
            low, high = math.nextafter(low, -math.inf), math.nextafter(high, math.inf)
        if not -math.inf < low <= high < math.inf:
            message = (
                f"ending_range({shown(state)}, {value:g}) is {low:g} to {high:g}; it must be two "
                "finite numbers, the lower one first."
            )
            raise InvalidModelError(message)
        return (low, high) if player == 0 else (0.0 - high, 0.0 - low)


def number_in_tier(game: Any, state: Any, tier: int, sizes: Integers) -> int:
    """Return the number of a position in its tier.

    Raises
    ------
    InvalidModelError
        If its tier, or that number, does not exist.
    """
    if not 0 <= tier < len(sizes):
        message = f"{shown(state)} is of tier {tier}; there are tiers 0 to {len(sizes) - 1}."
        raise InvalidModelError(message)
    index, size = whole(f"tier_index({shown(state)})", game.tier_index(state)), int(sizes[tier])
    if not 0 <= index < size:
        message = (
            f"tier_index({shown(state)}) is {index}; by tier_size({tier}) there are numbers from 0 "
            f"to {size - 1}."
        )
        raise InvalidModelError(message)
    return index


def check_numbers(rules: Rules, tier: int, index: int) -> None:
    """Raise InvalidModelError unless a number is that of its position, and of the next one."""
    game = rules.game
    state = game.tier_state(tier, index)
    check_number(rules, f"tier_state({tier}, {index})", state, tier, index)
    if hasattr(game, "next_in_tier") and index > 0:
        before = game.tier_state(tier, index - 1)
        words = f"next_in_tier({shown(before)})"
        check_number(rules, words, game.next_in_tier(before), tier, index)


def check_number(rules: Rules, words: str, state: Any, tier: int, index: int) -> None:
    """Raise InvalidModelError unless a position is the one with a number; `words` are its own."""
    game = rules.game
    found = game.tier(state), game.tier_index(state)
    if found != (tier, index):
        message = (
            f"{words} is {shown(state)}, which is of tier {found[0]} and has tier_index "
            f"{found[1]}; it should be of tier {tier} and have tier_index {index}."
        )
        raise InvalidModelError(message)
    if game.is_terminal(state):
        return
    player, settled = rules.player(state), game.settled(state, 0)
    if player != 0 or settled != 0:
        message = (
            f"{words} is {shown(state)}, in which player {player} is to move and {shown(settled)} "
            "is settled for player 0; player 0 should move, and nothing be settled."
        )
        raise InvalidModelError(message)
