"""Games without chance, or with some, made up from a number: their trees are as odd as can be."""

import functools
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

    def amount(self, number):
        whole = number % self.values - self.values // 2
        if self.fine:
            return whole * 0.1 + 0.03
        return float(whole)

    def payoff(self, state, player):
        value = self.amount(self.mix(state.layer, state.place, 3 + state.player))
        return value if player == 0 else -value

    def heuristic(self, state, player):
        value = self.amount(self.mix(state.layer, state.place, 5 + state.player))
        return value if player == 0 else -value


@attrs.frozen
class Earning(MadeUp):
    """The same with rewards on the way."""

    def reward(self, state, action, player):
        value = self.amount(self.mix(state.layer, state.place, 40 + action))
        return value if player == 0 else -value


@attrs.frozen
class Mirrored(MadeUp):
    """The same with the players in the position exchanged wherever the second one is to move.

    Every payoff is the mover's own, so both players see the same game.
    """

    def canonical(self, state):
        return Node(0, state.layer, state.place), state.player == 1

    def payoff(self, state, player):
        value = self.amount(self.mix(state.layer, state.place, 3))
        return value if player == state.player else -value

    def heuristic(self, state, player):
        value = self.amount(self.mix(state.layer, state.place, 5))
        return value if player == state.player else -value


@attrs.frozen
class Bounded(MadeUp):
    """The same, and it knows bounds of every value."""

    def value_range(self, state, player):
        most = float(self.values // 2)
        if self.mix(state.layer, state.place, 6) % 3 == 0:
            return -most, most
        return -most - 1.0, most + 2.0


@functools.lru_cache(maxsize=4096)
def value_by_hand(game, state):
    """Return what player 0 gets from a position without dice, by looking at all there is."""
    if game.is_terminal(state):
        return game.payoff(state, 0)
    values = []
    for action in game.actions(state):
        earned = game.reward(state, action, 0) if hasattr(game, "reward") else 0.0
        ((_, following),) = game.outcomes(state, action)
        values.append(earned + value_by_hand(game, following))
    return max(values) if game.player(state) == 0 else min(values)


class Tight:
    """Bounds of every value that are as tight as can be, here and there, on one side or both."""

    acyclic = True  # its layers say so

    def value_range(self, state, player):
        number = self.mix(state.layer, state.place, 60 + state.player)
        room = (0.0, 0.0, 1.0, 4.0, float("inf"))
        low = value_by_hand(self, state) - room[number % 5]
        high = value_by_hand(self, state) + room[number // 5 % 5]
        return (low, high) if player == 0 else (-high, -low)


@attrs.frozen
class TightMadeUp(Tight, MadeUp):
    """Whoever moves."""


@attrs.frozen
class TightEarning(Tight, Earning):
    """Rewards on the way."""


@attrs.frozen
class TightMirrored(Tight, Mirrored):
    """Exchanged players."""


@attrs.frozen
class Dicey(MadeUp):
    """The same with dice: every action has up to four outcomes, now and then one that cannot be."""

    def outcomes(self, state, action):
        number = self.mix(state.layer, state.place, 10 + action)
        sides = 1 + number % 4
        left = 1.0
        for side in range(sides):
            throw = self.mix(state.layer, state.place, 100 + 10 * action + side)
            mover = 1 - state.player
            if self.keeps and throw % 3 == 0:
                mover = state.player
            following = Node(mover, state.layer + 1 + throw // 3 % 2, throw // 7 % self.width)
            probability = left
            if side < sides - 1:
                probability = left * (throw % 8) * 0.1
            left -= probability
            yield probability, following


@attrs.frozen
class DiceyEarning(Earning, Dicey):
    """Dice and rewards."""


@attrs.frozen
class DiceyMirrored(Mirrored, Dicey):
    """Dice, and the players in the position exchanged wherever the second one is to move."""


@attrs.frozen
class DiceyBounded(Bounded, Dicey):
    """Dice and bounds of every value."""


@attrs.frozen
class DiceyPartly(Dicey):
    """Dice, and bounds of some values only, or on one side only."""

    def value_range(self, state, player):
        most = float(self.values // 2)
        number = self.mix(state.layer, state.place, 8 + state.player) % 4
        low, high = -most, most
        if number == 0 or number == 3:  # noqa: PLR1714 - numba takes it apart
            low = -float("inf")
        if number == 1 or number == 3:  # noqa: PLR1714
            high = float("inf")
        if player == 0:
            return low, high
        return -high, -low


@attrs.frozen
class DiceyMirroredBounded(Mirrored, Bounded, Dicey):
    """Dice, exchanged players, and bounds of every value."""


@attrs.frozen
class DiceyClamped(DiceyEarning):
    """Dice, rewards, and ranges at random, which overrule what is found below: some are a single
    number, some have no end."""

    def value_range(self, state, player):
        number = self.mix(state.layer, state.place, 7 + state.player)
        low = float(number % 9 - 5)
        high = low + float(number // 9 % 5)
        if number // 45 % 5 == 0:
            low = -float("inf")
        if number // 225 % 5 == 0:
            high = float("inf")
        if player == 0:
            return low, high
        return -high, -low


@attrs.frozen
class DiceySum(DiceyMirrored):
    """Dice, exchanged players, and payoffs that add up to one."""

    constant_sum = 1.0

    def payoff(self, state, player):
        value = self.mix(state.layer, state.place, 3) % 5 * 0.25
        return value if player == state.player else 1.0 - value

    def heuristic(self, state, player):
        value = self.mix(state.layer, state.place, 5) % 7 * 0.2
        return value if player == state.player else 1.0 - value

    def value_range(self, state, player):
        return 0.0, 1.0


@attrs.frozen
class DiceyAlone(Dicey):
    """Dice for one player."""

    num_players = 1

    def player(self, state):
        return 0

    def payoff(self, state, player):
        return self.amount(self.mix(state.layer, state.place, 3))

    def heuristic(self, state, player):
        return self.amount(self.mix(state.layer, state.place, 5))

    def reward(self, state, action, player):
        return self.amount(self.mix(state.layer, state.place, 40 + action)) * 0.5


class Racer(NamedTuple):
    player: int
    turn: int
    one: int
    other: int
    die: int


@attrs.frozen
class Race:
    """Two players in turn choose what to make of a throw; the better standing at the end counts."""

    turns: int = 6
    moves: int = 5
    faces: int = 4
    num_players = 2

    def initial_state(self):
        return Racer(0, 0, 0, 0, 1)

    def is_terminal(self, state):
        return state.turn >= self.turns

    def player(self, state):
        return state.player

    def actions(self, state):
        for action in range(self.moves):  # noqa: UP028 - numba has none
            yield action

    def outcomes(self, state, action):
        gain = (state.die * (action + 1) * (state.one + 2 * state.other + 3)) % 7
        loss = (state.die + action * 3 + state.one + state.other) % 5
        one, other = state.one, state.other
        if state.player == 0:
            one, other = one + gain, other - loss
        else:
            one, other = one - loss, other + gain
        for face in range(1, self.faces + 1):
            yield 1.0 / self.faces, Racer(1 - state.player, state.turn + 1, one, other, face)

    def payoff(self, state, player):
        value = float(state.one - state.other)
        return value if player == 0 else -value

    def heuristic(self, state, player):
        value = float(state.one - state.other)
        return value if player == 0 else -value

    def value_range(self, state, player):
        left = 11.0 * (self.turns - state.turn)
        value = float(state.one - state.other)
        if player == 1:
            value = -value
        return value - left, value + left


@attrs.frozen
class Crowd(MadeUp):
    """Three players and more, each with payoffs of their own; the dice are fair coins, so that all
    sums are exact and equally good actions are exactly equal."""

    num_players: int = 3
    dicey: bool = True

    def outcomes(self, state, action):
        sides = 1
        if self.dicey:
            sides = 1 << self.mix(state.layer, state.place, 10 + action) % 3
        for side in range(sides):
            throw = self.mix(state.layer, state.place, 100 + 10 * action + side)
            mover = (state.player + 1 + throw % 2) % self.num_players
            following = Node(mover, state.layer + 1 + throw // 3 % 2, throw // 7 % self.width)
            yield 1.0 / sides, following

    def payoff(self, state, player):
        return self.amount(self.mix(state.layer, state.place, 50 + 7 * player))

    def heuristic(self, state, player):
        return self.amount(self.mix(state.layer, state.place, 90 + 7 * player))


@attrs.frozen
class CrowdEarning(Crowd):
    """The same with rewards for everybody."""

    def reward(self, state, action, player):
        return self.amount(self.mix(state.layer, state.place, 40 + 11 * player + action))


@attrs.frozen
class CrowdBounded(Crowd):
    """The same, and it knows bounds of every value."""

    def value_range(self, state, player):
        most = float(self.values // 2)
        return -most, most


def assert_follows_best_play(game, result, depth):
    """Check that the line of a game without dice is play by the rules, value what was found."""
    state = game.initial_state()
    for action, following in result.principal_variation:
        assert (1.0, following) in list(game.outcomes(state, action))
        state = following
    if game.is_terminal(state):
        assert game.payoff(state, 0) == result.value()
    else:
        assert len(result.principal_variation) == depth
        assert game.heuristic(state, 0) == result.value()
