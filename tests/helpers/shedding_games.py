"""A made-up game whose positions shed material, for endgame tables; and what it does wrong."""

from typing import NamedTuple

import attrs
from search_games import MadeUp


class Heap(NamedTuple):
    player: int
    left: int
    place: int
    won: int


@attrs.frozen
class Shedding:
    """Random moves among places, with less and less left; what is won on the way is settled.

    An action that sheds nothing leads to an earlier place, or to a later one with `ahead`. Players
    may move again. The value of a position to the mover depends on what is left and on the place.
    """

    seed: int = 0
    layers: int = 4
    width: int = 90
    ahead: bool = False
    num_players = 2

    mix = MadeUp.mix

    def initial_state(self):
        return Heap(0, self.layers, self.width - 1 if not self.ahead else 0, 0)

    def is_terminal(self, state):
        return state.left == 0 or self.mix(state.left, state.place, 1) % 9 == 0

    def player(self, state):
        return state.player

    def actions(self, state):
        for action in range(1 + self.mix(state.left, state.place, 2) % 3):  # noqa: UP028 - numba has none
            yield action

    def outcomes(self, state, action):
        number = self.mix(state.left, state.place, 10 + action)
        left = state.left
        step = 1 + number // 5 % 7
        place = state.place + step if self.ahead else state.place - step
        if number % 3 == 0 or place < 0 or place >= self.width:
            left -= 1
            place = number // 11 % self.width
        mover = state.player if number // 3 % 4 == 0 else 1 - state.player
        yield 1.0, Heap(mover, left, place, state.won + self.gain(state, number % 4))

    def gain(self, state, points):
        return points if state.player == 0 else -points

    def payoff(self, state, player):
        value = float(self.mix(state.left, state.place, 3) % 5 - 2)
        if state.player == 1:
            value = -value
        value += state.won
        return value if player == 0 else -value

    def material(self, state):
        return state.left

    def settled(self, state, player):
        return float(state.won if player == 0 else -state.won)

    def num_endings(self, material):
        return self.width if material <= self.layers else 0

    def ending_index(self, state):
        return state.place

    def ending_state(self, material, index):
        return Heap(0, material, index, 0)


@attrs.frozen
class Stepping(Shedding):
    """The same, and it can step from one to the next."""

    def next_ending(self, state):
        return Heap(0, state.left, state.place + 1, 0)


@attrs.frozen
class Symmetric(Stepping):
    """The same, with the players exchanged where the second one is to move."""

    def canonical(self, state):
        if state.player == 1:
            return Heap(0, state.left, state.place, -state.won), True
        return state, False


@attrs.frozen
class Rewarding(Shedding):
    """The same, with rewards at once instead of what is won."""

    def gain(self, state, points):
        return 0

    def reward(self, state, action, player):
        points = float(self.mix(state.left, state.place, 10 + action) % 4)
        return points if player == state.player else -points


@attrs.frozen
class Rising(Shedding):
    def material(self, state):
        return 3 - state.left if state.place == 40 else state.left


@attrs.frozen
class Negative(Shedding):
    def material(self, state):
        return -1 if state.place == 40 and state.won != 0 else state.left


@attrs.frozen
class TooHigh(Shedding):
    def ending_index(self, state):
        return state.place + self.width if state.won != 0 else state.place


@attrs.frozen
class TooLow(Shedding):
    def ending_index(self, state):
        return state.place - 5 if state.won != 0 else state.place


@attrs.frozen
class Shared(Shedding):
    """Two positions share a number."""

    def ending_index(self, state):
        return state.place - state.place % 2


@attrs.frozen
class Shifted(Shedding):
    """Positions that differ in what is won have the numbers of others."""

    def ending_index(self, state):
        return (state.place + state.won * state.won) % self.width


@attrs.frozen
class Stumbling(Shedding):
    """Steps over one."""

    def next_ending(self, state):
        return Heap(0, state.left, state.place + 1 + (state.place == 30), 0)


@attrs.frozen
class Unsettled(Shedding):
    def ending_state(self, material, index):
        return Heap(0, material, index, 1)


@attrs.frozen
class Opposed(Shedding):
    def ending_state(self, material, index):
        return Heap(1, material, index, 0)


@attrs.frozen
class Forgetful(Shedding):
    """Half of what is won is not settled."""

    def settled(self, state, player):
        won = state.won if player == 0 else -state.won
        return float(won - won % 2)


@attrs.frozen
class Looping(Shedding):
    def is_terminal(self, state):
        return state.left == 0

    def outcomes(self, state, action):
        yield 1.0, Heap(1 - state.player, state.left, (state.place + 1) % self.width, state.won)


@attrs.frozen
class Staying(Shedding):
    def outcomes(self, state, action):
        yield 1.0, Heap(1 - state.player, state.left, state.place, state.won)


@attrs.frozen
class Dicing(Shedding):
    def outcomes(self, state, action):
        yield 0.5, Heap(1 - state.player, state.left - 1, 3, state.won)
        yield 0.5, Heap(1 - state.player, state.left - 1, 4, state.won)


@attrs.frozen
class Idle(Shedding):
    """Has a position without an action."""

    def actions(self, state):
        for action in range(0 if state.place == 50 else 1):  # noqa: UP028 - numba has none
            yield action


@attrs.frozen
class Huge(Shedding):
    def payoff(self, state, player):
        return 126.0 if player == 0 else -126.0


@attrs.frozen
class Fine(Shedding):
    def payoff(self, state, player):
        return 0.5 if player == 0 else -0.5


@attrs.frozen
class Undefined(Shedding):
    def payoff(self, state, player):
        return float("nan")


@attrs.frozen
class Failing(Shedding):
    def outcomes(self, state, action):
        if state.place == 70:
            raise ValueError("no way on from here")  # noqa: EM101, TRY003 - for numba
        yield 1.0, Heap(1 - state.player, state.left - 1, 4, state.won)


@attrs.frozen
class LateOutside(Shedding):
    """Numbers go wrong only when much is won, which does not happen while tables are built."""

    def ending_index(self, state):
        if state.won > 4:
            return 10_000_000_000
        if state.won < -4:
            return -10_000_000_000
        return state.place
