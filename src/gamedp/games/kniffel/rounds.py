"""One turn of a recorded game, and its line in a file."""

from __future__ import annotations

from typing import Any, TypeAlias

import attrs

from gamedp.games.kniffel.boxes import box_names, box_number, kept, shown, throw

__all__ = ["Round"]

Dice: TypeAlias = tuple[int, ...]


@attrs.frozen
class Round:
    """The record of a turn, finished or in progress.

    Attributes
    ----------
    throws : tuple of dice
        All dice on the table after each throw.
    keeps : tuple of dice
        The dice that stayed there, after each throw except the last.
    box : int or None
        The box in which the last throw was entered, from 0; None until then.
    """

    throws: tuple[Dice, ...] = ()
    keeps: tuple[Dice, ...] = ()
    box: int | None = None

    def to_line(self, language: str) -> dict[str, Any]:
        """Return the turn as a JSON value, with its box named in a language."""
        return {
            "throws": [shown(dice) for dice in self.throws],
            "keeps": [shown(dice) for dice in self.keeps],
            "entry": None if self.box is None else box_names(language)[self.box],
        }

    @classmethod
    def of_line(cls, line: dict[str, Any]) -> Round:
        """Return the turn in a value of :meth:`to_line`.

        Raises
        ------
        ValueError, TypeError, KeyError, AttributeError
            If it is not such a value.
        """
        box = line["entry"]
        number = None if box is None else box_number(box)
        throws = tuple(throw(dice) for dice in line["throws"])
        keeps = tuple(kept(dice, after) for dice, after in zip(line["keeps"], throws, strict=False))
        if len(keeps) < len(line["keeps"]):
            message = f"a round has {len(line['keeps'])} keeps and {len(throws)} throws."
            raise ValueError(message)
        return cls(throws, keeps, number)
