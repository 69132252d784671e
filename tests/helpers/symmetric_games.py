"""Games whose symmetry gives the actions other numbers: what is meant differs from state to state.

Each has a field `merges`; without it, `canonical` leaves all states as they are.
"""

from typing import NamedTuple

import attrs

import gamedp


class Board(NamedTuple):
    player: int
    cells: tuple[int, ...]


LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
QUARTER = (6, 3, 0, 7, 4, 1, 8, 5, 2)
FLIP = (2, 1, 0, 5, 4, 3, 8, 7, 6)


@attrs.frozen
class TicTacToe:
    """Three in a row; turned, reflected and recoloured boards are one. An action is a cell."""

    merges: bool = True
    num_players = 2

    def initial_state(self):
        return Board(0, (0,) * 9)

    def winner(self, cells):
        for one, two, three in LINES:
            if cells[one] != 0 and cells[one] == cells[two] == cells[three]:
                return cells[one]
        return 0

    def is_terminal(self, state):
        return self.winner(state.cells) != 0 or 0 not in state.cells

    def player(self, state):
        return state.player

    def actions(self, state):
        return [place for place in range(9) if state.cells[place] == 0]

    def outcomes(self, state, action):
        mark = 1 + state.player
        yield 1.0, Board(1 - state.player, gamedp.with_item(state.cells, action, mark))

    def payoff(self, state, player):
        winner = self.winner(state.cells)
        return 0.0 if winner == 0 else 1.0 if winner == 1 + player else -1.0

    def canonical(self, state):
        if not self.merges:
            return state, False
        cells = state.cells
        if state.player == 1:
            cells = tuple((0, 2, 1)[cell] for cell in cells)
        least = cells
        for _ in range(2):
            for _ in range(4):
                cells = tuple(cells[place] for place in QUARTER)
                least = min(least, cells)
            cells = tuple(cells[place] for place in FLIP)
        return Board(0, least), state.player == 1


class Piles(NamedTuple):
    player: int
    sizes: tuple[int, ...]


@attrs.frozen
class Chancy:
    """Take from a pile; it loses one or two stones by chance, and its size is the mover's reward.

    Players take turns, and whoever empties the last pile gets a prize. With `refills`, one stone
    may come back instead, so that play has no bounded length. An action is the number of a pile,
    counted from 1.
    """

    sizes: tuple[int, ...] = (3, 1, 2)
    merges: bool = True
    refills: bool = False
    num_players: int = 2
    constant_sum: float = 0.0

    def initial_state(self):
        return Piles(0, self.sizes)

    def is_terminal(self, state):
        return max(state.sizes) == 0

    def player(self, state):
        return state.player

    def actions(self, state):
        for pile, size in enumerate(state.sizes):
            if size > 0:
                yield pile + 1

    def outcomes(self, state, action):
        size = state.sizes[action - 1]
        after = (state.player + 1) % self.num_players
        down = 0.75 if size % 2 else 0.5
        up = max(size - 2, 0) if not self.refills or size == 3 else size + 1
        yield down, Piles(after, gamedp.with_item(state.sizes, action - 1, size - 1))
        yield 1 - down, Piles(after, gamedp.with_item(state.sizes, action - 1, up))

    def reward(self, state, action, player):
        size = float(state.sizes[action - 1])
        if player == state.player:
            return size / 3
        return -size / 3 / (self.num_players - 1)

    def payoff(self, state, player):
        if self.num_players != 2:
            return 2.5 * (player == state.player)
        half, mine = self.constant_sum / 2, player == state.player
        return half - 0.75 if mine else half + 0.75

    def canonical(self, state):
        if not self.merges:
            return state, False
        swaps = self.num_players == 2 and state.player == 1
        return Piles(0 if swaps else state.player, tuple(sorted(state.sizes))), swaps


class Thrown(NamedTuple):
    """A throw of two dice, -1 before; and the number that was taken, -1 before, 3 for none."""

    dice: tuple[int, int]
    taken: int


@attrs.frozen
class TakeADie:
    """Throw two dice and take the first one, the second one, or none: all at a price."""

    merges: bool = True

    def initial_state(self):
        return Thrown((-1, -1), -1)

    def is_terminal(self, state):
        return state.taken >= 0

    def actions(self, state):
        if state.dice[0] < 0:
            yield 0
        else:
            yield 1
            yield 2
            yield 3

    def outcomes(self, state, action):
        if action == 3:
            yield 1.0, Thrown((0, 0), 3)
        elif action == 0:
            for first in range(3):
                for second in range(3):
                    yield 1 / 9, Thrown((first, second), -1)
        else:
            yield 1.0, Thrown((0, 0), state.dice[action - 1])

    def reward(self, state, action, player):
        if action == 3:
            return -0.25
        return -0.125 * state.dice[action - 1] if action else 0.0

    def payoff(self, state, player):
        return float(state.taken)

    def canonical(self, state):
        dice = state.dice
        if self.merges and dice[0] > dice[1]:
            dice = dice[1], dice[0]
        return Thrown(dice, state.taken), False


class Numbers(NamedTuple):
    free: int
    sum: int


@attrs.frozen
class ThreeNumbers:
    """Take 0, 1 and 2 from throws, each once; the order is worth something."""

    merges: bool = True

    def stage(self):
        return TakeADie(self.merges)

    def box(self):
        return {"free": (0, 7), "sum": (0, 12)}

    def initial_state(self):
        return Numbers(7, 0)

    def is_terminal(self, context):
        return context.free == 0 or context.sum >= 8

    def payoff(self, context, player):
        return context.sum - 2.0 * context.free

    def following(self, context, end):
        bit = 1 << end.taken
        if context.free & bit:
            return Numbers(context.free - bit, min(context.sum + end.taken * 2, 12))
        return Numbers(context.free, min(context.sum + 1, 12))

    def allows(self, context, end):
        return context.free != 5 or end.taken != 1

    def reward(self, context, end, player):
        return -0.25 * (context.free & 1)

    def tier(self, context):
        return context.free * 16 - context.sum


class Pick(NamedTuple):
    """Which of two heaps a player has chosen, and how many are taken; 0 as long as it is open."""

    heap: int
    taken: int


@attrs.frozen
class TakeSome:
    """Choose a heap, then take one or two from it."""

    num_players = 2

    def initial_state(self):
        return Pick(0, 0)

    def is_terminal(self, state):
        return state.taken > 0

    def player(self, state):
        return 0

    def actions(self, state):
        yield 1
        yield 2

    def outcomes(self, state, action):
        if state.heap == 0:
            yield 0.875, Pick(action, 0)
            yield 0.125, Pick(3 - action, 0)
        else:
            yield 1.0, Pick(state.heap, action)

    def payoff(self, state, player):
        return 0.0

    def reward(self, state, action, player):
        return 0.0 if state.heap == 0 else (2.0 * action - 3.0) * (1 - 2 * player)


class Heaps(NamedTuple):
    player: int
    first: int
    second: int


@attrs.frozen
class TwoHeaps:
    """Whoever makes the last move wins; the order of the heaps does not matter in a context.

    But inside it does: the ends of the stage name a heap. Points on the way count too.
    """

    most: int = 3
    merges: bool = True
    num_players = 2
    constant_sum = 1.0

    def stage(self):
        return TakeSome()

    def box(self):
        return {"player": (0, 1), "first": (0, self.most), "second": (0, self.most)}

    def initial_state(self):
        return Heaps(0, self.most, self.most)

    def is_terminal(self, context):
        return context.first == 0 or context.second == 0

    def payoff(self, context, player):
        return 0.0 if player == context.player else 1.0

    def following(self, context, end):
        first = context.first - end.taken * (end.heap == 1)
        second = context.second - end.taken * (end.heap == 2)
        return Heaps(1 - context.player, max(first, 0), max(second, 0))

    def reward(self, context, end, player):
        size = context.first if end.heap == 1 else context.second
        gain = 0.25 * size / self.most
        return gain if player == context.player else -gain

    def canonical(self, context):
        first, second = context.first, context.second
        if self.merges:
            first, second = min(first, second), max(first, second)
        return Heaps(0, first, second), context.player == 1

    def tier(self, context):
        return context.first + context.second


class Pile(NamedTuple):
    player: int
    left: int


@attrs.frozen
class TwoWaysToTakeOne:
    """Who takes the last stone gets 0.9 of 1. Actions 0 and 1 both take one, action 2 takes two."""

    merges: bool = True
    num_players = 2
    constant_sum = 1.0

    def initial_state(self):
        return Pile(0, 5)

    def is_terminal(self, state):
        return state.left == 0

    def player(self, state):
        return state.player

    def actions(self, state):
        yield 0
        yield 1
        if state.left > 1:
            yield 2

    def outcomes(self, state, action):
        left = state.left - max(action, 1)
        yield 0.75, Pile(1 - state.player, left)
        yield 0.25, Pile(state.player, left)

    def payoff(self, state, player):
        return 0.1 if player == state.player else 0.9

    def canonical(self, state):
        return Pile(0, state.left) if self.merges else state, self.merges and state.player == 1
