"""Small games that have, one or several each, every feature that rules may have."""

import enum
from typing import NamedTuple

import attrs
import numpy as np
import other_file
from other_file import clipped

import gamedp


class Spot(NamedTuple):
    warm: bool
    where: tuple[tuple[int, int], int]
    depth: int


@attrs.frozen
class Walk:
    """Truth values, nested tuples, numbers that turn negative; cyclic; one player, rewards."""

    size: int = 4

    def initial_state(self):
        return Spot(True, ((0, 0), 0), 0)

    def is_terminal(self, state):
        return state.depth <= -self.size

    def actions(self, state):
        yield 0
        if state.warm:
            yield 7
        if not state.warm:
            yield -1

    def outcomes(self, state, action):
        (x, y), turns = state.where
        deeper = state.depth - 1
        if action == 0:
            yield 0.5, Spot(not state.warm, ((clipped(x - 1, -self.size, 0), y), turns), deeper)
            yield 0.5, Spot(state.warm, ((x, clipped(y + 1, 0, self.size)), turns), deeper)
        else:
            yield 0.25, Spot(action > 0, ((y - 3, -x), (turns + 1) % 3), state.depth)
            yield 0.75, Spot(state.warm, ((x, y), turns), deeper)

    def payoff(self, state, player):
        return float(state.where[0][0] * state.where[0][1])

    def reward(self, state, action, player):
        return 0.125 * action + state.depth

    def is_state(self, state):
        (x, y), _ = state.where
        return x + y <= 1


class Board(NamedTuple):
    player: int
    cells: tuple[int, int, int, int, int, int, int, int, int, int, int]


@attrs.frozen
class Marks:
    """More bits than a word holds; two players, symmetry, a random start, array fields."""

    marks: np.ndarray = attrs.field(
        default=(3000, 7, 3001), converter=np.asarray, eq=attrs.cmp_using(np.array_equal)
    )
    num_players = 2
    constant_sum = 1.0

    def initial_state(self):
        empty = (0,) * 11
        return [(0.25, Board(0, empty)), (0.5, Board(1, empty)), (0.25, Board(1, (0, *empty[1:])))]

    def is_terminal(self, state):
        return self.marked(state.cells) >= 3

    def marked(self, cells):
        count = 0
        for cell in cells:
            count += cell > 0
        return count

    def player(self, state):
        return state.player

    def actions(self, state):
        return [place for place in range(11) if state.cells[place] == 0]

    def outcomes(self, state, action):
        mark = self.marks[self.marked(state.cells)]
        cells = gamedp.with_item(state.cells, action, mark)
        return (
            (0.5, Board(1 - state.player, cells)),
            (0.5, Board(1 - state.player, gamedp.with_item(cells, action, mark + 1))),
        )

    def payoff(self, state, player):
        won = (sum(state.cells) + state.player) % 2
        return 1.0 * (won == player)

    def canonical(self, state):
        turned = state.cells
        for place in range(11):
            turned = gamedp.with_item(turned, place, state.cells[10 - place])
        # Numba has no minimum of two tuples.
        first = turned if turned < state.cells else state.cells  # noqa: FURB136
        return Board(0, first), state.player == 1


class Bits(NamedTuple):
    low: int
    high: int
    count: int


@attrs.frozen
class Wide:
    """Numbers that take all 64 bits of a word."""

    smallest: int = -(2**63)
    largest: int = 2**63 - 1

    def initial_state(self):
        return Bits(self.smallest, 0, 0)

    def is_terminal(self, state):
        return state.count == 4

    def actions(self, state):
        yield 0
        yield 1

    def outcomes(self, state, action):
        if action == 0:
            yield 1.0, Bits(state.low // 2, state.high ^ (1 << (62 - state.count)), state.count + 1)
        else:
            yield 0.5, Bits(self.largest - state.high, state.high, state.count + 1)
            yield 0.5, Bits(state.low, self.largest, state.count + 1)

    def payoff(self, state, player):
        return float(state.low % 7 + state.high % 5)


class Turn(NamedTuple):
    player: int
    pot: int


class Move(enum.IntEnum):
    PASS = 3
    RAISE = 5


@attrs.frozen
class Three:
    """Three players, each with payoffs and rewards of their own; chance; enumerated actions."""

    limit: int = 6
    probabilities: tuple[float, ...] = (0.25, 0.75)
    num_players = 3

    def initial_state(self):
        return Turn(0, 0)

    def is_terminal(self, state):
        return state.pot >= self.limit

    def player(self, state):
        return state.player

    def actions(self, state):
        yield Move.PASS
        yield Move.RAISE

    def outcomes(self, state, action):
        following = (state.player + 1) % 3
        if action == Move.PASS:
            yield 1.0, Turn(following, state.pot + 1)
        else:
            for index, chance in enumerate(self.probabilities):
                yield chance, Turn(following, state.pot + index * other_file.STEP)
            yield 0.0, Turn(following, -1)

    def payoff(self, state, player):
        return state.pot / 3 if player == state.player else -0.5

    def reward(self, state, action, player):
        return -0.1 if player == state.player and action == Move.RAISE else 0.0


class Dice(NamedTuple):
    player: int
    total: int


@attrs.frozen
class Long:
    """Rows with more than 16 outcomes, many of them twice, some swapped."""

    dice: int = 3
    rounds: int = 2
    num_players = 2
    constant_sum = 0.0

    def initial_state(self):
        return Dice(0, 0)

    def is_terminal(self, state):
        return state.total >= 1000 * self.rounds

    def player(self, state):
        return state.player

    def actions(self, state):
        yield 0

    def outcomes(self, state, action):
        count = 6**self.dice
        for roll in range(count):
            total = 0
            rest = roll * 5 % count  # another order than that of the indices
            for _ in range(self.dice):
                total += rest % 6
                rest //= 6
            following = state.player if total % 3 else 1 - state.player
            yield 1 / count, Dice(following, state.total // 1000 * 1000 + 1000 + total // 2 * 2)

    def payoff(self, state, player):
        lead = state.total % 7 - 3.0
        return lead if player == state.player else -lead

    def canonical(self, state):
        return Dice(0, state.total), state.player == 1
