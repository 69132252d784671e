"""Walks: a gambler, a chain that hardly moves, a path across ice; a ladder, and a shared coin."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import attrs

import gamedp
from gamedp.errors import shown
from gamedp.testing.exact import exact_from
from gamedp.testing.models._parameters import between, whole

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


FLIP, WRITE, CHECK, DONE = 0, 1, 2, 3


class CoinState(NamedTuple):
    """The shared counter, and for each process its next step and its coin: 2 * step + coin."""

    counter: int
    processes: tuple[int, ...]


@attrs.frozen
class ConsensusCoin:
    """N processes move a shared counter up and down by coins of their own, until it is far out.

    Each process flips a coin, moves the counter by it, and looks: with K * N or more above or below
    the middle, it is done and takes the side for its coin; else it begins anew. A scheduler, who
    knows everything, chooses which process takes the next step, and so may bring about that they
    end with different coins. The value is the probability that all coins agree: how likely at
    least, or at most.

    J. Aspnes, M. Herlihy, "Fast randomized consensus using shared memory", Journal of Algorithms 11
    (1990); as a model for checkers by M. Kwiatkowska, G. Norman, R. Segala, "Automated verification
    of a randomized distributed consensus protocol using Cadence SMV and PRISM", CAV 2001. For two
    processes the least probability of agreement is 5/6 with K = 1 and 107/120 with K = 2, where the
    model has 272 states.

    Parameters
    ----------
    processes : int
        The number N.
    bound : int
        The number K.

    Examples
    --------
    >>> coin = ConsensusCoin(processes=2, bound=1)
    >>> state = coin.initial_state()
    >>> list(coin.outcomes(state, 1))[1]
    (0.5, CoinState(counter=4, processes=(0, 3)))
    """

    processes: int = attrs.field(default=2, validator=whole(1))
    bound: int = attrs.field(default=2, validator=whole(1))

    @property
    def objective(self) -> gamedp.TotalReward:
        """The objective intended for the model: the worst scheduler; "max" is for the best."""
        return gamedp.TotalReward("min")

    @property
    def middle(self) -> int:
        """The initial value of the counter, which stays between 0 and twice that."""
        return (self.bound + 1) * self.processes

    def initial_state(self) -> CoinState:
        return CoinState(self.middle, (0,) * self.processes)

    def is_terminal(self, state: CoinState) -> bool:
        for process in state.processes:
            if process // 2 != DONE:
                return False
        return True

    def actions(self, state: CoinState) -> Iterator[int]:
        for number in range(self.processes):
            if state.processes[number] // 2 != DONE:
                yield number

    def outcomes(self, state: CoinState, action: int) -> Iterator[tuple[float, CoinState]]:
        step = state.processes[action] // 2
        coin = state.processes[action] % 2
        counter = state.counter
        if step == FLIP:
            for side in range(2):
                flipped = gamedp.with_item(state.processes, action, 2 * WRITE + side)
                yield 0.5, CoinState(counter, flipped)
        elif step == WRITE:
            counter = max(counter - 1, 0) if coin == 0 else min(counter + 1, 2 * self.middle)
            written = gamedp.with_item(state.processes, action, 2 * CHECK)
            yield 1.0, CoinState(counter, written)
        else:
            after = 2 * FLIP
            if counter <= self.processes:
                after = 2 * DONE
            elif counter >= 2 * self.middle - self.processes:
                after = 2 * DONE + 1
            yield 1.0, CoinState(counter, gamedp.with_item(state.processes, action, after))

    def payoff(self, state: CoinState, player: int) -> float:
        for process in state.processes:
            if process != state.processes[0]:
                return 0.0
        return 1.0

    def action_name(self, state: CoinState, action: int) -> str:
        return f"process {action}"
