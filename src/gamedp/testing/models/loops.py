"""A stochastic game in which two players may keep each other going for ever."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import attrs

import gamedp

__all__ = ["Ladder", "Rung"]

ON, OFF = 0, 1
WON, LOST = -1, -2


class Rung(NamedTuple):
    """A place on the ladder: the player to move and the height; heights below 0 are the ends."""

    player: int
    height: int


@attrs.frozen
class Ladder:
    """Two players on a ladder, each of whom may step off it, or pass the move.

    At each height player 0 steps off, and wins with a certain probability, or hands the move to
    player 1; who steps off with another probability for player 0 to win, or hands the move back:
    one height further up if there is one, and to the same place at the top. Player 0 wants to win,
    and has not won if play goes on for ever. At the top the two may do so, and the sweeps of value
    iteration from above never learn that this is no way to win: E. Kelmendi, J. Krämer,
    J. Křetínský, M. Weininger, "Value iteration for simple stochastic games: stopping criterion and
    learning algorithm", CAV 2018.

    From the top down, with a and b the probabilities of the two, the values x of player 0's and y
    of player 1's place are ``x = a, y = min(a, b)`` at the top, and ``y = min(b, x')``,
    ``x = max(a, y)`` below it, x' being the value above.

    Parameters
    ----------
    first, second : tuple of float
        The probabilities that player 0 wins if player 0, or player 1, steps off at each height.

    Examples
    --------
    >>> Ladder(first=(0.25, 0.5), second=(0.75, 0.625)).exact()
    Fraction(1, 2)
    """

    first: tuple[float, ...] = (0.25, 0.375, 0.5)
    second: tuple[float, ...] = attrs.field(default=(0.625, 0.75, 0.25))

    num_players = 2
    constant_sum = 1.0

    @second.validator
    def _is_as_high(self, _attribute: object, second: tuple[float, ...]) -> None:
        probabilities = (*self.first, *second)
        if len(second) != len(self.first) or not all(0 < each < 1 for each in probabilities):
            message = "first and second must be as long as each other, of numbers between 0 and 1."
            raise gamedp.errors.InvalidParameterError(message)

    @property
    def objective(self) -> gamedp.Reachability:
        """The objective intended for the model."""
        return gamedp.Reachability(lambda rung: rung.height == WON)

    def exact(self) -> Fraction:
        """Return the probability that player 0 wins."""
        value = Fraction(self.first[-1])
        for a, b in zip(self.first[-2::-1], self.second[-2::-1], strict=True):
            value = max(Fraction(a), min(Fraction(b), value))
        return value

    def initial_state(self) -> Rung:
        return Rung(0, 0)

    def is_terminal(self, state: Rung) -> bool:
        return state.height < 0

    def player(self, state: Rung) -> int:
        return state.player

    def actions(self, state: Rung) -> Iterator[int]:
        yield ON
        yield OFF

    def outcomes(self, state: Rung, action: int) -> Iterator[tuple[float, Rung]]:
        height = state.height
        if action == OFF:
            chance = self.first[height] if state.player == 0 else self.second[height]
            yield chance, Rung(0, WON)
            yield 1.0 - chance, Rung(0, LOST)
        elif state.player == 0:
            yield 1.0, Rung(1, height)
        else:
            yield 1.0, Rung(0, min(height + 1, len(self.first) - 1))

    def payoff(self, state: Rung, player: int) -> float:
        won = 1.0 if state.height == WON else 0.0
        return won if player == 0 else 1.0 - won

    def action_name(self, state: Rung, action: int) -> str:
        return "step off" if action == OFF else "hand over"
