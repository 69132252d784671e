"""Pig by its rules: a game that could go on for ever, although neither player wants that."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import attrs

import gamedp

HOLD, ROLL = 0, 1
FORMULA_UP_TO = 6


class PigState(NamedTuple):
    """The player to move, the scores of both players, and the points of the turn so far."""

    player: int
    first: int
    second: int
    turn: int


@attrs.frozen
class Pig:
    """Pig for two: roll as often as you like, and lose the turn's points with a one.

    The first player with `goal` points wins. With a goal of 100, the one who begins wins with
    probability 0.5306 (T. Neller, C. Presser, "Optimal play of the dice game Pig", The UMAP Journal
    25, 2004).

    Parameters
    ----------
    goal : int
    win, loss : float
        The payoffs of the winner and of the loser.
    ends : bool
        Whether play must end: nobody may hold without points, or roll with enough of them to win.
        By Pig's own rules both are allowed, so play could go on for ever.
    throws : bool
        Whether the throw of the die is a state of its own, with `turn` -1 minus the points so far.

    Examples
    --------
    >>> Pig(goal=6).exact()
    Fraction(24, 31)
    """

    goal: int = attrs.field(default=100)
    win: float = 1.0
    loss: float = 0.0
    ends: bool = attrs.field(default=False, kw_only=True)
    throws: bool = attrs.field(default=False, kw_only=True)

    num_players = 2

    @goal.validator
    def _is_positive(self, _attribute: object, goal: int) -> None:
        if goal < 1:
            message = f"goal must be at least 1, not {goal}."
            raise gamedp.errors.InvalidParameterError(message)

    @property
    def constant_sum(self) -> float:
        """The sum of both players' payoffs."""
        return self.win + self.loss

    @property
    def objective(self) -> gamedp.TotalReward:
        """The objective intended for the model."""
        return gamedp.TotalReward()

    def exact(self) -> Fraction:
        """Return player 0's value, for goals of up to 6, where it is optimal to roll until the end.

        Raises
        ------
        gamedp.errors.InvalidParameterError
            For larger goals.
        """
        if self.goal > FORMULA_UP_TO:
            message = f"there is a formula for goals of up to {FORMULA_UP_TO}, not {self.goal}."
            raise gamedp.errors.InvalidParameterError(message)
        reaches = [Fraction(1)] * FORMULA_UP_TO  # before any points are missing
        for _ in range(self.goal):
            reaches.append(sum(reaches[-6:-1], Fraction(0)) / 6)
        first_wins = 1 / (2 - reaches[-1])
        return first_wins * Fraction(self.win) + (1 - first_wins) * Fraction(self.loss)

    def initial_state(self) -> PigState:
        return PigState(0, 0, 0, 0)

    def is_terminal(self, state: PigState) -> bool:
        return state.first >= self.goal or state.second >= self.goal

    def player(self, state: PigState) -> int:
        return state.player

    def actions(self, state: PigState) -> Iterator[int]:
        own = state.second if state.player else state.first
        if not self.ends or state.turn < 0 or own + state.turn < self.goal:
            yield ROLL
        if state.turn > 0 or (state.turn == 0 and not self.ends):
            yield HOLD

    def outcomes(self, state: PigState, action: int) -> Iterator[tuple[float, PigState]]:
        own = state.second if state.player else state.first
        if action == HOLD:
            if state.player == 0:
                yield 1.0, PigState(1, state.first + state.turn, state.second, 0)
            else:
                yield 1.0, PigState(0, state.first, state.second + state.turn, 0)
        elif self.throws and state.turn >= 0:
            yield 1.0, PigState(state.player, state.first, state.second, -1 - state.turn)
        else:
            yield 1 / 6, PigState(1 - state.player, state.first, state.second, 0)
            turn = state.turn if state.turn >= 0 else -1 - state.turn
            for die in range(2, 7):
                after = min(turn + die, self.goal - own)
                yield 1 / 6, PigState(state.player, state.first, state.second, after)

    def payoff(self, state: PigState, player: int) -> float:
        won = state.first >= self.goal if player == 0 else state.second >= self.goal
        return self.win if won else self.loss

    def action_name(self, state: PigState, action: int) -> str:
        return "roll" if action == ROLL else "hold"
