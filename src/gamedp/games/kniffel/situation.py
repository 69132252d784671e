"""A situation in a game of Kniffel: the card, the number of the last throw, and its dice."""

from __future__ import annotations

import attrs

import gamedp
from gamedp.errors import shown as in_short
from gamedp.games._parameters import as_whole, whole_at_least
from gamedp.games.kniffel.boxes import shown, throw
from gamedp.games.kniffel.card import BOXES, DICE, FACES, Card

__all__ = ["Situation"]

EMPTY_TABLE = (0,) * FACES


def _as_dice(dice: str | tuple[int, ...]) -> tuple[int, ...]:
    """Read a throw from a text; leave anything else to the validator."""
    return throw(dice) if isinstance(dice, str) else tuple(dice)


@attrs.frozen
class Situation:
    """The situation of a player before a throw, or at a decision after one.

    Parameters
    ----------
    card : Card
    number : int
        The number of the last throw of the turn; 0 before the first one.
    dice : str or tuple of int
        Its faces, such as ``"13345"``, or the number of dice by face; none before the first throw.

    Raises
    ------
    gamedp.errors.InvalidParameterError
        If the situation is impossible; the message says why.

    Examples
    --------
    >>> situation = Situation.of("- 8 - 16 15 - 15 9 25 30 40 - - 3 13345")
    >>> situation.card.total, situation.number, situation.dice
    (158, 3, (1, 0, 2, 1, 1, 0))
    >>> situation.arguments
    '- 8 - 16 15 - 15 9 25 30 40 - - 3 13345'
    """

    card: Card = attrs.field(factory=Card, validator=attrs.validators.instance_of(Card))
    number: int = attrs.field(default=0, converter=as_whole, validator=whole_at_least(0))
    dice: tuple[int, ...] = attrs.field(default=EMPTY_TABLE, converter=_as_dice)

    @dice.validator
    def _dice_lie_there_after_a_throw(self, _attribute: object, dice: tuple[int, ...]) -> None:
        if self.number == 0:
            if dice != EMPTY_TABLE:
                message = (
                    f"before the first throw no dice are on the table, and {shown(dice)} are "
                    "given; say which throw shows them: 1 for the first one."
                )
                raise gamedp.errors.InvalidParameterError(message)
            return
        if all(entry is not None for entry in self.card.entries):
            message = "the card is full: there is nothing to throw for, and 0 is the only throw."
            raise gamedp.errors.InvalidParameterError(message)
        if len(dice) != FACES or min(dice) < 0 or sum(dice) != DICE:
            message = (
                f"{in_short(dice)} is not a throw of {DICE} dice, counted face by face; throw "
                f'{self.number} needs one, or a text such as "13345".'
            )
            raise gamedp.errors.InvalidParameterError(message)

    @classmethod
    def of(cls, *words: str | int, further: int = 0) -> Situation:
        """Read a situation as the article's program does.

        Parameters
        ----------
        *words : str or int
            The thirteen boxes of the card from Einser to Chance, a number or ``-`` for each; then
            the number of the last throw, 0 before the first; then its dice, unless it is 0. A
            single text may hold them all.
        further : int
            As for :class:`Card`.

        Raises
        ------
        gamedp.errors.InvalidParameterError
            If the situation is impossible; the message says why.

        Examples
        --------
        >>> Situation.of("0 0 0 0 0 0 0 0 0 0 0 - 0 0").card.free_boxes()
        ('Kniffel',)
        """
        items = [word for each in words for word in str(each).split()]
        if len(items) <= BOXES:
            message = (
                f"a situation is the {BOXES} boxes of the card, from Einser to Chance, with - for "
                "one that is free; then which throw was the last, 0 before the first; then its "
                f"dice: - 8 - 16 15 - 15 9 25 30 40 - - 3 13345. Given are {len(items)} words."
            )
            raise gamedp.errors.InvalidParameterError(message)
        number = items[BOXES]
        if not number.isdecimal():
            message = (
                f"after the {BOXES} boxes comes which throw was the last, 0 before the first, "
                f"and not {in_short(number)}."
            )
            raise gamedp.errors.InvalidParameterError(message)
        card = Card.of(*items[:BOXES], further=further)
        dice = throw(" ".join(items[BOXES + 1 :])) if items[BOXES + 1 :] else EMPTY_TABLE
        if int(number) > 0 and dice == EMPTY_TABLE:
            message = f"after the number of the throw, {number}, come its dice, such as 13345."
            raise gamedp.errors.InvalidParameterError(message)
        return cls(card, int(number), dice)

    @property
    def arguments(self) -> str:
        """The situation in the format of :meth:`of`."""
        dice = f" {shown(self.dice)}" if self.number else ""
        return f"{self.card.arguments} {self.number}{dice}"
