"""Games in tiers with rules out of a hat; with some, one thing is wrong."""

import hashlib
from typing import NamedTuple

import attrs

import gamedp

RISING, LEAVING, UNREAL, STAYING, BLENDING = range(1, 6)


def digest(folder):
    """Return a checksum of all complete files of a folder."""
    found = hashlib.sha256()
    for path in sorted(folder.glob("*.blocks")):
        found.update(path.name.encode() + path.read_bytes())
    return found.hexdigest()


class Place(NamedTuple):
    player: int
    level: int
    place: int


@gamedp.helper
def mixed(seed, one, two, three):
    """Return a number below 1009 that looks drawn; of seeds to 10**5, it needs 64 bits."""
    found = seed * 7919 + one * 104729 + two * 1299709 + three * 15485863 + 17
    return (found * found // 64) % 1009


@attrs.frozen
class Floors:
    """Play stays on a floor with probability 3/4 and else goes down by one or two; 0 is the end.

    Rewards and payoffs have both signs; all probabilities are exact in binary.
    """

    seed: int = 0
    levels: int = 6
    places: int = 5
    symmetric: bool = False
    fault: int = 0

    num_players = 2

    def initial_state(self):
        return Place(0, self.levels, 0)

    def is_terminal(self, state):
        return state.level <= 0

    def player(self, state):
        return state.player

    def actions(self, state):
        return range(1 + mixed(self.seed, state.level, state.place, 3) % 3)

    def outcomes(self, state, action):
        drawn = mixed(self.seed, state.level, state.place, 100 + action)
        there = drawn % self.places
        below = max(state.level - 1 - drawn % 2, 0)
        if self.fault == STAYING and state.level == 3:
            below = 3
        yield 0.25, Place(1 - state.player, below, there)
        yield 0.5, Place(1 - state.player, state.level, (state.place + 1) % self.places)
        yield 0.25, Place(1 - state.player, state.level, (there + drawn % 3) % self.places)

    def payoff(self, state, player):
        mine = float(mixed(self.seed, state.place, 5, 9) % 21 - 10)
        return mine if player == state.player else -mine

    def reward(self, state, action, player):
        mine = float(mixed(self.seed, state.level, state.place, action) % 9 - 4)
        return mine if player == state.player else -mine

    def canonical(self, state):
        if self.symmetric:
            return Place(0, state.level, state.place), state.player == 1
        if self.fault == BLENDING:
            return Place(state.player, min(state.level, 2), state.place), False
        return state, False

    def tier(self, state):
        if self.fault == RISING:
            return 10 - state.level
        return state.level

    def box(self):
        places = self.places - (self.fault == LEAVING)
        return {
            "player": (0, 1 - self.symmetric), "level": (1, self.levels), "place": (0, places - 1),
        }  # fmt: skip

    def is_state(self, state):
        return not (self.fault == UNREAL and state.place == 1)


@attrs.frozen
class Walk:
    """One player walks down, with rewards; each tier holds what has been counted so far as well."""

    height: int = 9

    def initial_state(self):
        return Place(0, self.height, 0)

    def is_terminal(self, state):
        return state.level == 0

    def actions(self, state):
        yield 0
        if state.place < 4:
            yield 1

    def outcomes(self, state, action):
        if action == 1:
            yield 1.0, Place(0, state.level, state.place + 1)
            return
        yield 0.3, Place(0, state.level - 1, 0)
        yield 0.7, Place(0, state.level - 1, state.place)

    def payoff(self, state, player):
        return -0.1 * state.place

    def reward(self, state, action, player):
        return 0.1 if action == 0 else 0.01 * state.level - 0.05

    def tier(self, state):
        return state.level

    def box(self):
        return {"player": (0, 0), "level": (1, self.height), "place": (0, 4)}


@attrs.frozen
class Crossing:
    """Rows of a tier lead to the next one, in a circle, at one place of 30 alone."""

    height: int = 4
    rises: bool = False

    def initial_state(self):
        return Place(0, 4 * self.height, 0)

    def is_terminal(self, state):
        return state.level < 4

    def actions(self, state):
        yield 0
        if state.place == 17:
            yield 1

    def outcomes(self, state, action):
        if action == 1:
            yield 0.5, Place(0, state.level - state.level % 4 + (state.level + 1) % 4, 0)
            yield 0.5, Place(0, state.level - 4, 29)
            return
        below = state.level + 4 if self.rises and 5 < state.level < 12 else state.level - 4
        yield 0.5, Place(0, below, (7 * state.place) % 30)
        yield 0.5, Place(0, state.level, (state.place + 1) % 30)

    def payoff(self, state, player):
        return float((state.place * 11 + state.level * 5) % 13)

    def tier(self, state):
        return state.level // 4

    def box(self):
        return {"player": (0, 0), "level": (4, 4 * self.height + 3), "place": (0, 29)}
