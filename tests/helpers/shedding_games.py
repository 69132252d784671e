"""A made-up game whose positions shed tier, for tables; and what it does wrong."""

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
        yield 1.0, self.after(state, action)

    def after(self, state, action):
        number = self.mix(state.left, state.place, 10 + action)
        left = state.left
        step = 1 + number // 5 % 7
        place = state.place + step if self.ahead else state.place - step
        if number % 3 == 0 or place < 0 or place >= self.width:
            left -= 1
            place = number // 11 % self.width
        mover = state.player if number // 3 % 4 == 0 else 1 - state.player
        return Heap(mover, left, place, state.won + self.gain(state, number % 4))

    def gain(self, state, points):
        return points if state.player == 0 else -points

    def payoff(self, state, player):
        value = float(self.mix(state.left, state.place, 3) % 5 - 2)
        if state.player == 1:
            value = -value
        value += state.won
        return value if player == 0 else -value

    def tier(self, state):
        return state.left

    def settled(self, state, player):
        return float(state.won if player == 0 else -state.won)

    def tier_size(self, tier):
        return self.width if tier <= self.layers else 0

    def tier_index(self, state):
        return state.place

    def tier_state(self, tier, index):
        return Heap(0, tier, index, 0)


@attrs.frozen
class Stepping(Shedding):
    """The same, and it can step from one to the next."""

    def next_in_tier(self, state):
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


(
    RISING,
    NEGATIVE,
    TOO_HIGH,
    TOO_LOW,
    SHARED,
    UNSETTLED,
    OPPOSED,
    LOOPING,
    STAYING,
    DICING,
    IDLE,
    HUGE,
    FINE,
    UNDEFINED,
    FAILING,
    LATE_OUTSIDE,
) = range(16)


@attrs.frozen
class Wrong(Shedding):
    """With one of the faults above; as that is a number, they are compiled together."""

    fault: int = RISING

    def is_terminal(self, state):
        if self.fault == LOOPING:
            return state.left == 0
        return state.left == 0 or self.mix(state.left, state.place, 1) % 9 == 0

    def actions(self, state):
        count = 1 + self.mix(state.left, state.place, 2) % 3
        if self.fault == IDLE:  # has a position without an action
            count = 0 if state.place == 50 else 1
        for action in range(count):  # noqa: UP028 - numba has none
            yield action

    def outcomes(self, state, action):
        other = 1 - state.player
        if self.fault == LOOPING:
            yield 1.0, Heap(other, state.left, (state.place + 1) % self.width, state.won)
        elif self.fault == STAYING:
            yield 1.0, Heap(other, state.left, state.place, state.won)
        elif self.fault == DICING:
            yield 0.5, Heap(other, state.left - 1, 3, state.won)
            yield 0.5, Heap(other, state.left - 1, 4, state.won)
        elif self.fault == FAILING:
            if state.place == 70:
                raise ValueError("no way on from here")  # noqa: EM101, TRY003 - for numba
            yield 1.0, Heap(other, state.left - 1, 4, state.won)
        else:
            yield 1.0, self.after(state, action)

    def payoff(self, state, player):
        value = float(self.mix(state.left, state.place, 3) % 5 - 2)
        if state.player == 1:
            value = -value
        value += state.won
        if self.fault == HUGE:
            value = 126.0
        elif self.fault == FINE:
            value = 0.5
        elif self.fault == UNDEFINED:
            value = float("nan")
        return value if player == 0 else -value

    def tier(self, state):
        if self.fault == RISING and state.place == 40:
            return 3 - state.left
        if self.fault == NEGATIVE and state.place == 40 and state.won != 0:
            return -1
        return state.left

    def tier_index(self, state):
        if self.fault == TOO_HIGH and state.won != 0:
            return state.place + self.width
        if self.fault == TOO_LOW and state.won != 0:
            return state.place - 5
        if self.fault == SHARED:  # two positions share a number
            return state.place - state.place % 2
        # Numbers go wrong only when much is won, which does not happen while tables are built.
        if self.fault == LATE_OUTSIDE and state.won > 4:
            return 10_000_000_000
        if self.fault == LATE_OUTSIDE and state.won < -4:
            return -10_000_000_000
        return state.place

    def tier_state(self, tier, index):
        won = 1 if self.fault == UNSETTLED else 0
        return Heap(1 if self.fault == OPPOSED else 0, tier, index, won)


@attrs.frozen
class Stumbling(Shedding):
    """Steps over one."""

    def next_in_tier(self, state):
        return Heap(0, state.left, state.place + 1 + (state.place == 30), 0)


@attrs.frozen
class Forgetful(Shedding):
    """Half of what is won is not settled."""

    def settled(self, state, player):
        won = state.won if player == 0 else -state.won
        return float(won - won % 2)


@attrs.frozen
class Undefined(Shedding):
    """Some ends of the game are worth no number."""

    def payoff(self, state, player):
        return float("nan") if state.won == 2 else float(state.won if player == 0 else -state.won)


@attrs.frozen
class Unsettling(Shedding):
    """Some winnings are settled at no number."""

    def settled(self, state, player):
        return float("nan") if state.won == 2 else float(state.won if player == 0 else -state.won)


@attrs.frozen
class Reversed(Shedding):
    """The bounds of endings are the wrong way round."""

    def ending_range(self, state, value):
        return value + 1.0, value - 1.0
