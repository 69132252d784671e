"""Decisions, with the expected points or the probability of the player's goal after each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from typing import Any, TypeVar

import attrs

from gamedp.games.kniffel.boxes import box_names, refuse, shown, throw
from gamedp.games.kniffel.rules import Kniffel
from gamedp.games.kniffel.turn import Turn

Thrown = tuple[int, tuple[int, ...]]
"""The number of a throw in the turn, from 1, and the number of dice by face."""


@attrs.frozen(kw_only=True)
class Expectation:
    """The expectation of a game that is played perfectly from here on.

    Attributes
    ----------
    value : float
        The expected final total, the points on the card included.
    lower, upper : float
        Proven bounds of the value.
    rest : float
        The expected remaining points: the article's Restgewinnerwartung, the bonus for the upper
        part included.
    """

    value: float
    lower: float
    upper: float
    rest: float


@attrs.frozen(kw_only=True)
class Prospect:
    """A possible decision, and the probability of the goal after it.

    Attributes
    ----------
    value : float
        The probability under optimal play afterwards, or as advised.
    lower, upper : float
        Proven bounds of the best probability after it.
    kept : tuple of int or None
        The number of dice by face that stay on the table, if this is a keep.
    box : int or None
        The number of the box, from 0, if this is an entry.
    points : int
        The points of the entry in its box; 0 for a keep.
    loss : float
        The difference from the number after the best decision; 0 for a decision that is not proven
        to be worse.
    """

    value: float
    lower: float
    upper: float
    kept: tuple[int, ...] | None = None
    box: int | None = None
    points: int = 0
    loss: float = 0.0

    @property
    def decision(self) -> tuple[tuple[int, ...] | None, int | None, int]:
        """The decision, without its numbers."""
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


@attrs.frozen(kw_only=True)
class Option(Prospect):
    """A possible decision, and the expectation after it.

    Attributes
    ----------
    value, lower, upper, rest : float
        Those of the :class:`Expectation` after it.
    kept, box, points, loss
        As for :class:`Prospect`. The sum of a player's losses is the article's handicap.
    """

    rest: float

    @property
    def expectation(self) -> Expectation:
        """The expectation after it."""
        return Expectation(value=self.value, lower=self.lower, upper=self.upper, rest=self.rest)


Kind = TypeVar("Kind", bound=Prospect)


def with_losses(found: Iterable[Kind], number: Callable[[Kind], float]) -> list[Kind]:
    """Return decisions with their losses: 0 for each that is not proven to be worse.

    Parameters
    ----------
    found : iterable of Prospect
        At least one.
    number : callable
        Returns the number of a decision whose differences are the losses.
    """
    options = list(found)
    top = max(options, key=number)
    return [
        each if each.upper >= top.lower else attrs.evolve(each, loss=number(top) - number(each))
        for each in options
    ]


def prospects(
    inside: Any,
    game: Kniffel,
    context: Any,
    thrown: Thrown,
    state: Callable[[Turn], Any] = lambda turn: turn,
) -> tuple[Prospect, ...]:
    """Return all decisions after a throw, the best one first.

    Among decisions none of which is proven to be worse than another, the one that keeps the most
    dice comes first, or has the most points.

    Parameters
    ----------
    inside : gamedp.Solution
        The solution of the turn.
    game : Kniffel
    context
        That of the turn in the game.
    thrown : (number, dice)
    state : callable
        Returns the state of the stage for a position within the turn.
    """
    turn, (number, dice) = game.stage(), thrown
    decisions: list[tuple[dict[str, Any], Turn]]
    if number < turn.throws:
        keeps = product(*(range(count + 1) for count in dice))
        decisions = [
            ({"kept": stay}, turn.on_the_table(turn.throws - number, stay)) for stay in keeps
        ]
    else:
        entries = game.entries(context, dice)
        decisions = [({"box": end.box, "points": end.points}, end) for end in entries]
    found = []
    for decision, after in decisions:
        index, _ = inside.model.index(state(after))
        numbers = inside.values[index], inside.lower[index], inside.upper[index]
        value, lower, upper = (min(max(float(number), 0.0), 1.0) for number in numbers)
        found.append(Prospect(value=value, lower=lower, upper=upper, **decision))
    found = with_losses(found, lambda each: each.value)
    found.sort(key=lambda each: (each.loss, -sum(each.kept or ()), -each.points))
    return tuple(found)


def as_thrown(rules: Kniffel, dice: str | tuple[int, ...], number: int) -> Thrown:
    """Read a throw, and check that its number is one of the turn's.

    Raises
    ------
    gamedp.errors.InvalidParameterError
        If it is not a throw, or there is no throw of that number.
    """
    if not 1 <= number <= rules.throws:
        refuse(f"there is no throw {number}; a turn has throws 1 to {rules.throws}.")
    if not isinstance(dice, str):
        dice = "".join(str(face) * count for face, count in enumerate(dice, start=1))
    return number, throw(dice, dice=rules.dice, faces=rules.faces)
