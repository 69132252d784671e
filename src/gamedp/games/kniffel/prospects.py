"""Decisions, and the probability that each leaves of what the player wants."""

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
    """A decision that can be taken, and the probability it leaves.

    Attributes
    ----------
    kept : tuple of int or None
        How many dice of each face stay on the table, if this is a keep.
    box : int or None
        The number of the box, from 0, if this is an entry.
    points : int
        What the entry counts in its box; 0 for a keep.
    value : float
        The probability if play is at its best afterwards, or as advised.
    lower, upper : float
        The best that can be reached after it is proven to lie between these.
    loss : float
        By how much less probable it is than after the best decision: 0 for one that is not proven
        to be worse.
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
        """What is decided, without its probability."""
        return self.kept, self.box, self.points

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

    Of decisions none of which is proven to be worse than another, that which keeps most dice comes
    first, or counts most points.

    Parameters
    ----------
    inside : gamedp.Solution
        Of the turn.
    turn : KniffelTurn
    entries : list of Turn
        The ways to enter the throw, if it is the last one.
    situation : (number, dice)
        Which throw it was, and how many dice show each face.
    state : callable
        The state of the stage that a position within the turn is.
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
    """Read a throw, and see that its number is one of the turn's.

    Raises
    ------
    gamedp.errors.InvalidParameterError
        If it is no throw, or there is none of that number.
    """
    if not 1 <= number <= rules.throws:
        message = f"there is no throw {number}; a turn has throws 1 to {rules.throws}."
        raise gamedp.errors.InvalidParameterError(message)
    if not isinstance(dice, str):
        dice = "".join(str(face) * count for face, count in enumerate(dice, start=1))
    return throw(dice, dice=rules.dice, faces=rules.faces)
