"""Decisions, and the probability of the player's goal after each."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import attrs

import gamedp
from gamedp.games.kniffel.boxes import box_names, shown, throw
from gamedp.games.kniffel.rules import Kniffel
from gamedp.games.kniffel.turn import KniffelTurn, Turn

__all__ = ["Prospect", "as_thrown", "prospects"]


@attrs.frozen
class Prospect:
    """A possible decision, and the probability of the goal after it.

    Attributes
    ----------
    kept : tuple of int or None
        The number of dice by face that stay on the table, if this is a keep.
    box : int or None
        The number of the box, from 0, if this is an entry.
    points : int
        The points of the entry in its box; 0 for a keep.
    value : float
        The probability under optimal play afterwards, or as advised.
    lower, upper : float
        Proven bounds of the best probability after it.
    loss : float
        The difference from the probability after the best decision; 0 for a decision that is not
        proven to be worse.
    """

    kept: tuple[int, ...] | None
    box: int | None
    points: int
    value: float
    lower: float
    upper: float
    loss: float = 0.0

    @property
    def decision(self) -> tuple[tuple[int, ...] | None, int | None, int]:
        """The decision, without its probability."""
        return self.kept, self.box, self.points

    @property
    def kind(self) -> str:
        """Whether it is a ``"keep"`` or an ``"entry"``."""
        return "entry" if self.kept is None else "keep"

    def name(self, language: str = "de") -> str:
        """Return the dice that are kept, or the name of the box."""
        if self.kept is not None:
            return shown(self.kept)
        return box_names(language)[-1 if self.box is None else self.box]


def prospects(
    inside: Any,
    turn: KniffelTurn,
    entries: list[Turn],
    situation: tuple[int, tuple[int, ...]],
    state: Callable[[Turn], Any],
) -> tuple[Prospect, ...]:
    """Return all decisions after a throw, the best one first.

    Among decisions none of which is proven to be worse than another, the one that keeps the most
    dice comes first, or has the most points.

    Parameters
    ----------
    inside : gamedp.Solution
        The solution of the turn.
    turn : KniffelTurn
    entries : list of Turn
        The ways to enter the throw, if it is the last one.
    situation : (number, dice)
        The number of the throw, and the number of dice by face.
    state : callable
        Returns the state of the stage for a position within the turn.
    """
    number, dice = situation
    decisions: list[tuple[tuple[int, ...] | None, int | None, int, Turn]]
    if number < turn.throws:
        left = turn.throws - number
        keeps = product(*(range(count + 1) for count in dice))
        decisions = [(stay, None, 0, turn.on_the_table(left, stay)) for stay in keeps]
    else:
        decisions = [(None, end.box, end.points, end) for end in entries]
    found = []
    for stay, box, points, after in decisions:
        index, _ = inside.model.index(state(after))
        numbers = inside.values[index], inside.lower[index], inside.upper[index]
        value, lower, upper = (min(max(float(number), 0.0), 1.0) for number in numbers)
        found.append(Prospect(stay, box, points, value, lower, upper))
    top = max(found, key=lambda each: each.value)
    found = [
        each if each.upper >= top.lower else attrs.evolve(each, loss=top.value - each.value)
        for each in found
    ]
    found.sort(key=lambda each: (each.loss, -sum(each.kept or ()), -each.points))
    return tuple(found)


def as_thrown(rules: Kniffel, dice: str | tuple[int, ...], number: int) -> tuple[int, ...]:
    """Read a throw, and check that its number is one of the turn's.

    Raises
    ------
    gamedp.errors.InvalidParameterError
        If it is not a throw, or there is no throw of that number.
    """
    if not 1 <= number <= rules.throws:
        message = f"there is no throw {number}; a turn has throws 1 to {rules.throws}."
        raise gamedp.errors.InvalidParameterError(message)
    if not isinstance(dice, str):
        dice = "".join(str(face) * count for face, count in enumerate(dice, start=1))
    return throw(dice, dice=rules.dice, faces=rules.faces)
