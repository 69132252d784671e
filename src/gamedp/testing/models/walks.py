"""Walks: a gambler's ruin, a chain that hardly moves, and a path across ice."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import attrs

import gamedp
from gamedp.errors import shown
from gamedp.testing.exact import exact_from
from gamedp.testing.models._parameters import between, whole

__all__ = ["Cell", "GamblersRuin", "SlipperyGrid", "SlowChain", "Spot"]

RIGHT, DOWN, LEFT, UP = 0, 1, 2, 3
DIRECTIONS = ((0, 1), (1, 0), (0, -1), (-1, 0))
DIRECTION_NAMES = ("RIGHT", "DOWN", "LEFT", "UP")


class Spot(NamedTuple):
    """The position of a walk."""

    place: int


class Cell(NamedTuple):
    """A field of the grid, from (0, 0) at the upper left."""

    row: int
    column: int


@attrs.frozen
class GamblersRuin:
    """A gambler stakes 1 a round, until they reach their goal or lose everything.

    The value is the probability of reaching the goal. With q = (1 - p)/p it is
    (1 - q^start) / (1 - q^goal), and start/goal for p = 1/2: W. Feller, "An Introduction to
    Probability Theory and Its Applications" 1, Wiley 1968, section XIV.2.

    Parameters
    ----------
    goal : int
    start : int
        The gambler's initial capital, at most the goal.
    up : float
        The probability p of winning a round.

    Raises
    ------
    gamedp.errors.InvalidParameterError
        If a parameter makes no walk.

    Examples
    --------
    >>> GamblersRuin(goal=4, start=1, up=0.75).exact()
    Fraction(27, 40)
    """

    goal: int = attrs.field(default=10, validator=whole(1))
    start: int = attrs.field(default=5, validator=whole(0))
    up: float = attrs.field(default=0.5, validator=between(0, 1))

    @start.validator
    def _is_not_beyond(self, _attribute: object, start: int) -> None:
        if start > self.goal:
            message = f"start={shown(start)} is beyond the goal {self.goal}."
            raise gamedp.errors.InvalidParameterError(message)

    @property
    def objective(self) -> gamedp.TotalReward:
        """The objective intended for the model."""
        return gamedp.TotalReward()

    def exact(self) -> Fraction:
        """Return the probability of reaching the goal."""
        p = Fraction(self.up)
        if p == Fraction(1, 2):
            return Fraction(self.start, self.goal)
        q = (1 - p) / p
        return (1 - q**self.start) / (1 - q**self.goal)

    def initial_state(self) -> Spot:
        return Spot(self.start)

    def is_terminal(self, state: Spot) -> bool:
        return state.place in (0, self.goal)

    def actions(self, state: Spot) -> Iterator[int]:
        yield 0

    def outcomes(self, state: Spot, action: int) -> Iterator[tuple[float, Spot]]:
        yield self.up, Spot(state.place + 1)
        yield 1.0 - self.up, Spot(state.place - 1)

    def payoff(self, state: Spot, player: int) -> float:
        return 1.0 if state.place == self.goal else 0.0


@attrs.frozen
class SlowChain:
    """A chain that nearly always falls back to its start, so that its values hardly change.

    From the start it goes to one of two sides, to the good one with probability p. On each side
    every step leads on or back to the start, equally likely, until after n steps the end of the
    side is reached. Value iteration changes its values by less than 2^-n a sweep, and is far from
    the answer all the while: S. Haddad, B. Monmege, "Interval iteration algorithm for MDPs and
    IMDPs", Theoretical Computer Science 735 (2018), where p is 1/2.

    An attempt ends well with probability p / 2^(n-1), badly with (1 - p) / 2^(n-1), and else begins
    anew. So the good end is reached with probability p.

    Parameters
    ----------
    length : int
        The steps n to either end.
    up : float
        The probability p of the good side.

    Examples
    --------
    >>> SlowChain(length=30, up=0.75).exact()
    Fraction(3, 4)
    """

    length: int = attrs.field(default=20, validator=whole(1))
    up: float = attrs.field(default=0.7, validator=between(0, 1))

    @property
    def objective(self) -> gamedp.TotalReward:
        """The objective intended for the model."""
        return gamedp.TotalReward()

    def exact(self) -> Fraction:
        """Return the probability of the good end."""
        return Fraction(self.up)

    def initial_state(self) -> Spot:
        return Spot(0)

    def is_terminal(self, state: Spot) -> bool:
        return abs(state.place) == self.length

    def actions(self, state: Spot) -> Iterator[int]:
        yield 0

    def outcomes(self, state: Spot, action: int) -> Iterator[tuple[float, Spot]]:
        if state.place == 0:
            yield self.up, Spot(1)
            yield 1.0 - self.up, Spot(-1)
        else:
            yield 0.5, Spot(state.place + 1 if state.place > 0 else state.place - 1)
            yield 0.5, Spot(0)

    def payoff(self, state: Spot, player: int) -> float:
        return 1.0 if state.place > 0 else 0.0


@attrs.frozen
class SlipperyGrid:
    """The shortest way across ice, from the upper left to the lower right corner.

    A step goes where it is meant to with probability 1 - slip, and to either side of that with
    slip/2 each; at the border, one stays. The value is the expected number of steps.
    A policy that pushes against the border may stay there for ever, so only some policies are
    proper: a stochastic shortest path problem as in D. Bertsekas, J. Tsitsiklis,
    "An analysis of stochastic shortest path problems", Mathematics of Operations Research 16
    (1991).

    On a single row the sides are the border, each step succeeds with probability 1 - slip, and the
    value is (columns - 1) / (1 - slip). In general `exact` solves the problem in rational numbers.

    Parameters
    ----------
    rows, columns : int
    slip : float

    Examples
    --------
    >>> SlipperyGrid(rows=1, columns=4, slip=0.25).exact()
    Fraction(4, 1)
    """

    rows: int = attrs.field(default=4, validator=whole(1))
    columns: int = attrs.field(default=4, validator=whole(1))
    slip: float = attrs.field(default=0.25, validator=between(-1e-300, 1))

    @property
    def objective(self) -> gamedp.TotalReward:
        """The objective intended for the model: the least over the policies that reach the goal."""
        rows, columns = self.rows, self.columns
        return gamedp.TotalReward(
            "min", until=lambda cell: cell.row == rows - 1 and cell.column == columns - 1
        )

    def exact(self) -> Fraction:
        """Return the least expected number of steps; feasible for some dozens of fields."""
        model = gamedp.compile(self, compile="never")
        policy = [-1] * model.num_states
        for number in range(model.num_states):
            if number not in model.terminals:
                meant = RIGHT if model.state(number).column < self.columns - 1 else DOWN
                policy[number] = int(model.choice_offsets[number]) + meant
        start: int = model.index(self.initial_state())[0]
        return exact_from(model, policy, gamedp.TotalReward("min"))[start]

    def initial_state(self) -> Cell:
        return Cell(0, 0)

    def is_terminal(self, state: Cell) -> bool:
        return state.row == self.rows - 1 and state.column == self.columns - 1

    def actions(self, state: Cell) -> Iterator[int]:
        for direction in range(4):  # noqa: UP028 - numba knows no `yield from`
            yield direction

    def reward(self, state: Cell, action: int, player: int) -> float:
        return 1.0

    def outcomes(self, state: Cell, action: int) -> Iterator[tuple[float, Cell]]:
        yield 1.0 - self.slip, self.step(state, action)
        if self.slip > 0:
            yield 0.5 * self.slip, self.step(state, (action + 1) % 4)
            yield 0.5 * self.slip, self.step(state, (action + 3) % 4)

    def step(self, state: Cell, direction: int) -> Cell:
        """Return the next field in a direction, or the same at the border."""
        down, right = DIRECTIONS[direction]
        row, column = state.row + down, state.column + right
        if 0 <= row < self.rows and 0 <= column < self.columns:
            return Cell(row, column)
        return state

    def payoff(self, state: Cell, player: int) -> float:
        return 0.0

    def action_name(self, state: Cell, action: int) -> str:
        return DIRECTION_NAMES[action]
