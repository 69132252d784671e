"""A game that shows each kind of view, one after the other; two of its actions lead on."""

from typing import NamedTuple

from gamedp.views import Card, Dice, Grid, Heaps, Pits, Scores, Text

LONG = "a name that is rather long, and has to find its place on a small telephone, too"

VIEWS = (
    lambda spots: Heaps((0, 3, 75), spots={0: (1, 2), 1: (2, 70)}),
    lambda spots: Pits(((0, 1), (30, 4), (5, 6)), stores=(0, 17, 2), names=("x", LONG, "z")),
    lambda spots: Pits(((0, 1) * 6, (30, 4) * 6), stores=(0, 17), spots=spots),
    lambda spots: Grid(
        ((0, 1, 2, 3, 4, 5) * 2,) * 2, symbols=("", "x", "O", "●", "○", "wK"), spots=spots
    ),
    lambda spots: Dice((1, 2, 6, 20), kept=(True, False, False, True), spots={0: (2,), 1: (3,)}),
    lambda spots: Card(((LONG, 3, None, "-"), ("Twos", -5, 10**9, LONG)), spots={0: (1,)}),
    lambda spots: Scores(((LONG, 4, 5), ("b", 0, 2), ("c", 99)), most=37, spots={1: (2,)}),
    lambda spots: Text("A text as wide as this one, which is wider than a telephone. " * 2),
)


class Seen(NamedTuple):
    """Which view it is."""

    number: int


class AllViews:
    """Every kind of view, in turn; who goes on wins."""

    num_players = 2
    constant_sum = 1.0

    def initial_state(self):
        return Seen(0)

    def is_terminal(self, state):
        return state.number >= len(VIEWS)

    def player(self, state):
        return state.number % 2

    def actions(self, state):
        return (0, 1)

    def outcomes(self, state, action):
        return [(1.0, Seen(state.number + 1))]

    def payoff(self, state, player):
        return 1.0 if player == 0 else 0.0

    def view(self, state):
        return VIEWS[min(state.number, len(VIEWS) - 1)]({0: (0, 0), 1: (1, 0)})
