"""The probability of a throw that counts in one box, for a player with no other goal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import attrs

import gamedp
from gamedp.games._parameters import as_whole, whole_at_least
from gamedp.games.kniffel.boxes import box_number, refuse
from gamedp.games.kniffel.turn import ENTERING, KniffelTurn, Turn

__all__ = ["Chance", "chance_of"]


class Chance(NamedTuple):
    """A probability with proven bounds."""

    value: float
    lower: float
    upper: float


@attrs.frozen
class TurnForOneBox(KniffelTurn):
    """A turn in which a single box can be filled, and only points there count.

    Parameters
    ----------
    box : int
    at_least : int
        The number of points that suffices.
    """

    box: int = 0
    at_least: int = attrs.field(default=1, converter=as_whole, validator=whole_at_least(1))

    def actions(self, state: Turn) -> Iterator[int]:
        if state.phase == ENTERING:
            yield self.box
        else:
            yield from KniffelTurn.actions(self, state)

    def payoff(self, state: Turn, player: int) -> float:
        return 1.0 if state.points >= self.at_least else 0.0


def chance_of(
    box: str | int,
    *,
    throws: int = 3,
    at_least: int = 1,
    dice: int = 5,
    faces: int = 6,
    kniffel_is_full_house: bool = True,
) -> Chance:
    """Return the probability of a throw that counts in a box, if there is no other goal.

    For a Kniffel and a straight, whose points are constant, the article computes it in the same
    way: as the expectation of a card on which only that box is free, divided by the points.

    Parameters
    ----------
    box : str or int
        The name of the box, or its number from 0.
    throws : int
        Number of throws.
    at_least : int
        The number of points that suffices.
    dice, faces : int
        Numbers of dice and of faces.
    kniffel_is_full_house : bool
        Whether a Kniffel counts as a Full House.

    Raises
    ------
    gamedp.errors.InvalidParameterError
        If there is no such box, or no such turn.

    Examples
    --------
    >>> print(f"{chance_of('Kniffel').value:.2%}, {chance_of('Grosse Strasse').value:.2%}")
    4.60%, 26.11%
    >>> print(f"{chance_of('Yahtzee', throws=1).value:.4%}")
    0.0772%
    """
    number = box_number(box, faces) if isinstance(box, str) else box
    turn = TurnForOneBox(
        dice=dice,
        faces=faces,
        throws=throws,
        kniffel_is_full_house=kniffel_is_full_house,
        box=number,
        at_least=at_least,
    )
    if not 0 <= turn.box < turn.boxes:
        refuse(f"there is no box {box}; they are numbered from 0 to {turn.boxes - 1}.")
    # Two thousand states: plain Python is done before numba has started.
    solution = gamedp.solve(turn, compile="never")
    low, high = solution.bounds()
    return Chance(solution.value(), max(low, 0.0), min(high, 1.0))
