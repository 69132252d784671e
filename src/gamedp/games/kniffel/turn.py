"""One turn of Kniffel: up to three throws with dice kept in between, and the entry at the end.

Also the probability of a throw that counts in one box, for a player with no other goal.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import attrs

import gamedp
from gamedp.games._parameters import a_truth_value, as_whole, whole_at_least
from gamedp.games.kniffel.boxes import (
    FULL_HOUSE,
    LARGE_STRAIGHT,
    LOWER_BOXES,
    SMALL_STRAIGHT,
    a_language,
    box_names,
    box_number,
    counted,
    kniffel_face,
    points,
    points_as_joker,
    refuse,
    shown,
)

ROLLING, KEEPING, ENTERING, DONE = range(4)


class Turn(NamedTuple):
    """A position within a turn.

    Attributes
    ----------
    phase : int
        `ROLLING`: a throw is in progress, and the next die will fall. `KEEPING`: the dice are on
        the table; some may go back into the cup. `ENTERING`: the last throw is to be entered.
        `DONE`.
    throws : int
        The number of throws left; while `ROLLING`, the current one included.
    dice : tuple of int
        The number of dice on the table by face; none once the turn is done.
    box : int
        The box of the entry; 0 until then.
    points : int
        The points of the entry; 0 until then.
    kniffel : int
        If all dice of the entry showed the same face and the rules need it, that face; otherwise 0.
    """

    phase: int
    throws: int
    dice: tuple[int, ...]
    box: int
    points: int
    kniffel: int


@attrs.frozen
class KniffelTurn:
    """A turn as a lattice of small steps: dice fall one by one and go back one by one.

    A throw of several dice is the same as throwing them one after the other, and setting dice aside
    is the same as putting the others back into the cup, one face at a time. Positions with the same
    dice on the table are merged, regardless of the history. So 1,930 states and 10,500 transitions
    represent the 252 throws, the 462 ways of keeping dice and everything that may happen between
    them.

    While `ROLLING` the only action is 0. While `KEEPING` an action below `faces` puts one die back
    into the cup, of the face ``action + 1``, and the action `faces` throws what is in the cup; that
    may be nothing. While `ENTERING` an action is the number of a box; ``box + faces + 7`` is the
    same box for a joker.

    Solved alone, the value of the turn is the points of its entry.

    Parameters
    ----------
    dice, faces, throws : int
        Numbers of dice, of faces, and of throws.
    kniffel_is_full_house : bool
        Whether dice that are all alike count as a Full House.
    tells_kniffels : bool
        Whether the end of a turn records if the dice were all alike, and their face.
    jokers : bool
        Whether dice that are all alike may be entered as a joker, for the full points, in the Full
        House and in the straights. The end of the turn then records their face, too.
    language : {"de", "en"}
        The language of the names of the boxes.

    Raises
    ------
    gamedp.errors.InvalidParameterError
        If a parameter is invalid.

    Examples
    --------
    >>> turn = KniffelTurn()
    >>> state = Turn(KEEPING, 2, (1, 1, 0, 2, 1, 0), 0, 0, 0)
    >>> print(turn.render(state))
    after throw 1 of 3: 12445 on the table
    >>> [turn.action_name(state, action) for action in turn.actions(state)]
    ['put a 1 back', 'put a 2 back', 'put a 4 back', 'put a 5 back', 'keep all']
    """

    dice: int = attrs.field(default=5, converter=as_whole, validator=whole_at_least(1))
    faces: int = attrs.field(default=6, converter=as_whole, validator=whole_at_least(2))
    throws: int = attrs.field(default=3, converter=as_whole, validator=whole_at_least(1))
    kniffel_is_full_house: bool = attrs.field(default=True, validator=a_truth_value)
    tells_kniffels: bool = attrs.field(default=False, validator=a_truth_value)
    jokers: bool = attrs.field(default=False, validator=a_truth_value)
    language: str = attrs.field(default="de", validator=a_language)

    acyclic = True

    @property
    def boxes(self) -> int:
        """The number of boxes of the sheet."""
        return self.faces + LOWER_BOXES

    @property
    def empty_table(self) -> tuple[int, ...]:
        """No dice of any face."""
        return (0,) * self.faces

    def initial_state(self) -> Turn:
        """Return the start of the turn: all dice are in the cup."""
        return Turn(ROLLING, self.throws, self.empty_table, 0, 0, 0)

    def is_terminal(self, state: Turn) -> bool:
        """Return whether the entry has been made."""
        return state.phase == DONE

    def actions(self, state: Turn) -> Iterator[int]:
        """Yield the legal actions: see the class."""
        if state.phase == ROLLING:
            yield 0
        elif state.phase == KEEPING:
            for face in range(self.faces):
                if state.dice[face] > 0:
                    yield face
            yield self.faces
        else:
            for box in range(self.boxes):  # noqa: UP028 - numba knows no `yield from`
                yield box
            if self.jokers and kniffel_face(state.dice) > 0:
                first = SMALL_STRAIGHT if self.kniffel_is_full_house else FULL_HOUSE
                for lower in range(first, LARGE_STRAIGHT + 1):
                    yield self.boxes + self.faces + lower

    def outcomes(self, state: Turn, action: int) -> Iterator[tuple[float, Turn]]:
        """Yield the outcomes of a die, or the result of putting back, throwing, or entering."""
        if state.phase == ROLLING:
            for face in range(self.faces):
                fallen = gamedp.with_item(state.dice, face, state.dice[face] + 1)
                yield 1.0 / self.faces, self.on_the_table(state.throws, fallen)
        else:
            yield 1.0, self.after_decision(state, action)

    def after_decision(self, state: Turn, action: int) -> Turn:
        """Return the position after entering, throwing, or putting a die back."""
        if state.phase == ENTERING:
            return self.entry(state.dice, action)
        if action == self.faces:
            return self.on_the_table(state.throws, state.dice)
        left = gamedp.with_item(state.dice, action, state.dice[action] - 1)
        return Turn(KEEPING, state.throws, left, 0, 0, 0)

    def on_the_table(self, throws: int, dice: tuple[int, ...]) -> Turn:
        """Return the next position when these dice are on the table during a throw."""
        if sum(dice) < self.dice:
            return Turn(ROLLING, throws, dice, 0, 0, 0)
        if throws > 1:
            return Turn(KEEPING, throws - 1, dice, 0, 0, 0)
        return Turn(ENTERING, 0, dice, 0, 0, 0)

    def entry(self, dice: tuple[int, ...], action: int) -> Turn:
        """Return the end of the turn when these dice are entered by the `action`."""
        kniffel = kniffel_face(dice) if self.tells_kniffels or self.jokers else 0
        if action >= self.boxes:
            box = action - self.boxes
            worth = points_as_joker(self.faces, box)
        else:
            box = action
            worth = points(dice, box, self.kniffel_is_full_house)
        return Turn(DONE, 0, self.empty_table, box, worth, kniffel)

    def payoff(self, state: Turn, player: int) -> float:
        """Return the points of the entry."""
        return float(state.points)

    def action_name(self, state: Turn, action: int) -> str:
        """Return the action in words."""
        if state.phase == ROLLING:
            return "roll a die"
        if state.phase == ENTERING:
            name = box_names(self.language, self.faces)[action % self.boxes]
            return name if action < self.boxes else f"{name} (Joker)"
        if action < self.faces:
            return f"put a {action + 1} back"
        missing = self.dice - sum(state.dice)
        if missing in {0, self.dice}:
            return f"throw all {self.dice}" if missing else "keep all"
        return f"keep {shown(state.dice)}, throw {missing}"

    def render(self, state: Turn) -> str:
        """Return the position in words.

        Examples
        --------
        >>> turn = KniffelTurn()
        >>> print(turn.render(turn.initial_state()))
        throw 1 of 3: - on the table, 5 to roll
        >>> print(turn.render(Turn(ENTERING, 0, (1, 0, 2, 1, 1, 0), 0, 0, 0)))
        after throw 3 of 3: 13345 to enter
        >>> print(turn.render(Turn(DONE, 0, (0, 0, 0, 0, 0, 0), 2, 6, 0)))
        6 points in Dreier
        """
        if state.phase == DONE:
            name = box_names(self.language, self.faces)[state.box]
            alike = f", all dice showing {state.kniffel}" if state.kniffel else ""
            return f"{counted(state.points, 'point')} in {name}{alike}"
        lying = shown(state.dice)
        missing = self.dice - sum(state.dice)
        if state.phase == ROLLING:
            number = self.throws - state.throws + 1
            return f"throw {number} of {self.throws}: {lying} on the table, {missing} to roll"
        after = f"after throw {self.throws - state.throws} of {self.throws}: {lying}"
        if state.phase == ENTERING:
            return f"{after} to enter"
        return f"{after} on the table" + (f", {missing} back in the cup" if missing else "")


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
