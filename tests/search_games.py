"""Games without chance, or with some, made up from a number: their trees are as odd as can be."""

from typing import NamedTuple

import attrs


class Node(NamedTuple):
    player: int
    layer: int
    place: int


@attrs.frozen
class MadeUp:
    """Layers of positions with random moves between them; the same ones are reached in many ways.

    With `keeps`, a player may move again; with `loops`, moves may lead back to earlier layers.
    """

    seed: int = 0
    layers: int = 6
    width: int = 5
    values: int = 7
    earns: bool = False
    keeps: bool = True
    fine: bool = False
    num_players = 2

    def mix(self, first, second, third):
        number = (
            self.seed * 7919 + first * 104729 + second * 1299709 + third * 15485863
        ) % 2147483647
        number = (number * 48271) % 2147483647
        number = (number ^ (number >> 13)) * 69621 % 2147483647
        return number >> 4

    def initial_state(self):
        return Node(0, 0, 0)

    def is_terminal(self, state):
        if state.layer == 0:
            return False
        return state.layer >= self.layers or self.mix(state.layer, state.place, 1) % 11 == 0

    def player(self, state):
        return state.player

    def actions(self, state):
        for action in range(1 + self.mix(state.layer, state.place, 2) % 4):  # noqa: UP028 - numba has none
            yield action

    def outcomes(self, state, action):
        number = self.mix(state.layer, state.place, 10 + action)
        mover = 1 - state.player
        if self.keeps and number % 3 == 0:
            mover = state.player
        yield 1.0, Node(mover, state.layer + 1 + number // 3 % 2, number // 7 % self.width)

    def worth(self, number):
        whole = number % self.values - self.values // 2
        if self.fine:
            return whole * 0.1 + 0.03
        return float(whole)

    def payoff(self, state, player):
        worth = self.worth(self.mix(state.layer, state.place, 3 + state.player))
        return worth if player == 0 else -worth

    def heuristic(self, state, player):
        worth = self.worth(self.mix(state.layer, state.place, 5 + state.player))
        return worth if player == 0 else -worth


@attrs.frozen
class Earning(MadeUp):
    """The same with rewards on the way."""

    def reward(self, state, action, player):
        worth = self.worth(self.mix(state.layer, state.place, 40 + action))
        return worth if player == 0 else -worth


@attrs.frozen
class Mirrored(MadeUp):
    """The same with the players in the position exchanged wherever the second one is to move.

    Every payoff is the mover's own, so both players see the same game.
    """

    def canonical(self, state):
        return Node(0, state.layer, state.place), state.player == 1

    def payoff(self, state, player):
        worth = self.worth(self.mix(state.layer, state.place, 3))
        return worth if player == state.player else -worth

    def heuristic(self, state, player):
        worth = self.worth(self.mix(state.layer, state.place, 5))
        return worth if player == state.player else -worth


@attrs.frozen
class Bounded(MadeUp):
    """The same, and it knows bounds of every value."""

    def value_range(self, state, player):
        most = float(self.values // 2)
        if self.mix(state.layer, state.place, 6) % 3 == 0:
            return -most, most
        return -most - 1.0, most + 2.0
