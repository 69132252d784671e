"""Where play starts: states of no chance, starts that are merged, numbers of any kind."""

from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest

import gamedp
from gamedp.errors import UnknownStateError


class Late:
    """Pays once for an action at the start 0, and again at the end; starts elsewhere never."""

    def initial_state(self):
        return [(0.0, 3), (1.0, 0)]

    def is_terminal(self, state):
        return state >= 10

    def actions(self, state):
        return ["a", "b"]

    def outcomes(self, state, action):
        return [(1.0, 3)] if state == 0 else [(1.0, 10 if action == "a" else 12)]

    def reward(self, state, action, player):
        return float(state == 0 and action == "a")

    def payoff(self, state, player):
        return float(state)


def test_play_never_starts_where_the_probability_is_0():
    solution = gamedp.solve(Late(), compile="never")
    assert solution.bounds() == (13.0, 13.0)
    assert solution.best_actions(certain=True) == solution.best_actions(0) == ["a"]
    assert solution.principal_variation() == [0, 3, 12]
    assert max(entry.value for entry in solution.action_values()) == solution.value()
    assert gamedp.search(Late(), depth=3, compile="never").value() == 13.0


@pytest.mark.parametrize("zero", [0, 0.0, Fraction(0), Decimal(0), np.float64(0), False], ids=repr)
def test_a_probability_of_0_of_any_kind(zero):
    class Game(Late):
        def initial_state(self):
            return [(zero, "unheard of"), (1, 0)]

    rules = gamedp.rules.Rules(Game())
    assert rules.initial() == [(1, 0)]
    assert rules.only_start() == 0
    assert gamedp.solve(Game(), compile="never").value() == 13.0


def test_no_start_at_all_is_refused_as_before():
    class Game(Late):
        def initial_state(self):
            return [(0.0, 3)]

    with pytest.raises(gamedp.InvalidModelError, match="the initial states"):
        gamedp.solve(Game(), compile="never")


class Heap:
    """A heap, of which any number is taken; who takes the last wins."""

    num_players = 2

    def initial_state(self):
        return [(0.0, (0, 2)), (1.0, (0, 5))]

    def is_terminal(self, state):
        return state[1] == 0

    def player(self, state):
        return state[0]

    def actions(self, state):
        return list(range(1, state[1] + 1))

    def outcomes(self, state, action):
        return [(1.0, (1 - state[0], state[1] - action))]

    def payoff(self, state, player):
        return -1.0 if player == state[0] else 1.0


def test_nim_values_are_those_of_the_start():
    found = gamedp.sums.grundy_values(Heap(), compile="never")
    assert (found.value(), found.winning_actions()) == (5, [5])


class Mirrored:
    """Two starts, each with actions of its own, that canonical merges."""

    def initial_state(self):
        return [(0.5, (1, 0)), (0.5, (0, 0))]

    def is_terminal(self, state):
        return state[1] > 0

    def actions(self, state):
        return [10 + state[0], 20 + state[0]]

    def outcomes(self, state, action):
        return [(1.0, (state[0], action // 10))]

    def payoff(self, state, player):
        return float(state[1])

    def canonical(self, state):
        return (0, state[1]), False


def test_starts_that_are_merged_have_actions_of_their_own():
    solution = gamedp.solve(Mirrored(), compile="never")
    assert solution.bounds() == (2.0, 2.0)
    assert [solution.best_actions((side, 0)) for side in (0, 1)] == [[20], [21]]
    for ask in (solution.best_actions, solution.best_action, solution.action_values):
        with pytest.raises(UnknownStateError, match="one of several states"):
            ask()
    assert solution.principal_variation() == []


class Place(NamedTuple):
    """A counter, and a number that nothing depends on."""

    left: int
    other: int


class Counted:
    """Each end pays the same, so that is the value from any start."""

    def __init__(self, starts, paid=1e9):
        self.starts, self.paid = starts, paid

    def initial_state(self):
        return self.starts

    def is_terminal(self, state):
        return state.left == 0

    def actions(self, state):
        return [0]

    def outcomes(self, state, action):
        return [(1.0, Place(state.left - 1, state.other))]

    def payoff(self, state, player):
        return self.paid

    def tier(self, state):
        return state.left

    def box(self):
        return {"left": (1, 4), "other": (0, 9)}


@pytest.mark.parametrize(
    "chances",
    [
        (0.3333333332, 0.3333333334, 0.3333333333),
        (Decimal("0.1"), Decimal("0.2"), Decimal("0.7")),
        (Fraction(1, 3),) * 3,
        (0.25, 0.75, 0.0),
    ],
)
def test_tables_take_starts_as_solutions_do(chances):
    places = (Place(4, 3), Place(3, 2), Place(7, 7) if chances[2] == 0 else Place(2, 2))
    game = Counted(list(zip(chances, places, strict=True)))
    tables = gamedp.tables.tabulate(game, compile="never")
    low, high = tables.bounds()
    assert low <= 1e9 <= high
    assert high - low < 1e-3
    assert tables.value() == pytest.approx(1e9, rel=1e-15)
    assert gamedp.solve(game, compile="never").bounds() == (1e9, 1e9)
    with pytest.raises(UnknownStateError, match="one of several states"):
        tables.best_actions()


def test_a_single_start_of_tables_is_known_among_those_of_no_chance():
    game = Counted([(0.0, Place(9, 9)), (1.0, Place(4, 3))])
    assert gamedp.tables.tabulate(game, compile="never").best_actions() == [0]


@pytest.mark.parametrize("number", [np.array(1.0), np.array(1), np.float32(1)])
def test_an_array_of_no_dimensions_is_a_number(number):
    class Game(Late):
        def outcomes(self, state, action):
            return [(number, following) for _, following in super().outcomes(state, action)]

        def payoff(self, state, player):
            return number

    assert gamedp.solve(Game(), compile="never").value() == 2.0
    assert gamedp.search(Game(), depth=5, compile="never").value() == 2.0


@pytest.mark.parametrize("state", [np.array([0, 1]), np.array(1.0), [0], 1.0])
def test_what_is_no_number_of_a_state_is_refused(state):
    model = gamedp.Model.from_arrays([0, 1, 1], [0, 1], [1], [1.0], payoffs=[1.0])
    with pytest.raises(UnknownStateError, match="there is no state"):
        gamedp.solve(model).bounds(state)
