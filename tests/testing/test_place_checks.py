"""What check_game finds wrong with where a game says that its positions stand in tables."""

import attrs
import pytest
import shedding_games
import table_games
from shedding_games import (
    Forgetful,
    Heap,
    Rewarding,
    Shedding,
    Stepping,
    Stumbling,
    Symmetric,
    Wrong,
)
from table_games import Crossing, Floors, Place, Walk

import gamedp
from gamedp.games.mancala import Mancala
from gamedp.games.wubbel import Wubbel
from gamedp.testing import ConformanceError, check_game
from gamedp.testing.place_checks import TABLES


@pytest.mark.parametrize(
    "game",
    [
        Wubbel.pig(8), Wubbel(goal=9, grace=True), Floors(), Floors(symmetric=True), Walk(),
        Crossing(2), Shedding(), Stepping(), Symmetric(), Rewarding(), Shedding(ahead=True),
        Mancala(pits=2, stones=2), Mancala.kalah(pits=2, stones=2),
    ],
    ids=repr,
)  # fmt: skip
def test_games_whose_positions_are_in_place(game):
    assert TABLES in check_game(game, compile=False, max_states=1000).checks


def test_games_without_tables():
    for game in (gamedp.games.matches.Matches(5), Mancala(pits=2, stones=1, players=3)):
        assert TABLES not in check_game(game, compile=False, max_states=100).checks


class Halves(Floors):
    def tier(self, state):
        return state.level / 2


class Changing(Floors):
    """The players change their tier as they change places."""

    def tier(self, state):
        return state.level + state.player


class Boxless(Floors):
    def box(self):
        return {"player": (0, 1), "level": (1, self.levels)}


class Shorter(Floors):
    """One action leaves the box, at a place where play does not come."""

    def outcomes(self, state, action):
        if state.level == 99:
            yield 1.0, Place(0, 98, 77)
        else:
            yield from super().outcomes(state, action)

    def box(self):
        return super().box() | {"level": (1, 99)}


class Undecided(Floors):
    """`is_state` accepts what the rules do not know."""

    def actions(self, state):
        return [range(3)[state.place - 1]]

    def box(self):
        return super().box() | {"place": (0, 9)}


class Mistaken(Floors):
    def tier(self, state):
        return {1: 1}[state.level]


class Negative(Shedding):
    def tier_size(self, tier):
        return -1


class Fractional(Shedding):
    def tier_index(self, state):
        return state.place / 1


@attrs.frozen
class Careless(Shedding):
    """What is settled is that of player 0, whoever asks."""

    def settled(self, state, player):
        return float(state.won)


@attrs.frozen
class Ending(Shedding):
    """Play is over once much is won, and has a number nevertheless."""

    def is_terminal(self, state):
        return super().is_terminal(state) or abs(state.won) > 3


def floors(fault):
    return Floors(fault=getattr(table_games, fault))


def wrong(fault):
    return Wrong(fault=getattr(shedding_games, fault))


@pytest.mark.parametrize(
    ("game", "words"),
    [
        (floors("RISING"), r"action 0 in Place\(.*leads to Place\(.*is of tier 5; .* never rise"),
        (floors("LEAVING"), r"action 0 in Place\(.*outside the box, where place is 0 to 3"),
        (floors("UNREAL"), r"action 0 in Place\(.*leads to Place\(.*is_state is false there"),
        (floors("BLENDING"), r"canonical\(Place\(.*of tier 2 and not 6; .* be of one tier"),
        (Halves(), r"tier\(Place\(.*\) is 3.0; it must be an integer"),
        (Changing(symmetric=True), r"canonical\(Place\(player=1.*must be of one tier"),
        (Boxless(), r"must give a range for each field of the state, player, level, place"),
        (Shorter(), r"action 0 in Place\(player=\d, level=99, .*leads to Place\(.*place=77.*box"),
        (Undecided(), r"around Place\(.*the rules raise IndexError"),
        (Mistaken(), r"around Place\(.*the rules raise KeyError: 6"),
        (wrong("RISING"), r"action 0 in Heap\(.*leads to Heap.*place=40.*of tier 2 .*of tier 1"),
        (wrong("NEGATIVE"), r"action 0 in Heap\(.*is of tier -1; tier\(\) must never fall below 0"),
        (wrong("TOO_HIGH"), r"action 0 in Heap\(.*tier_index\(Heap.*is 97; .* from 0 to 89"),
        (wrong("TOO_LOW"), r"action 1 in Heap\(.*tier_index\(Heap.*is -5; .* from 0 to 89"),
        (wrong("SHARED"), r"place=89.* and .*place=88.* have one number, but action 0 in Heap"),
        (wrong("UNSETTLED"), r"tier_state\(4, 89\) is Heap.*1.0 is settled for player 0"),
        (wrong("OPPOSED"), r"tier_state\(4, 89\) is Heap.*player 1 is to move"),
        (Stumbling(), r"action 0 in Heap\(.*next_in_tier\(Heap.*should .* have tier_index 31"),
        (Forgetful(), r"won=1.*have one number, but action 1 in Heap.*earns something else"),
        (Careless(), r"player=1.*have one number, but action \d in Heap.*earns something else"),
        (Ending(), r"have one number, but action \d in Heap"),
        (Negative(), r"tier_size\(0\) is -1; it must be 0 or more"),
        (Fractional(), r"tier_index\(Heap.* is 89.0; it must be an integer"),
    ],
    ids=lambda each: "" if isinstance(each, str) else repr(each),
)
def test_positions_out_of_place(game, words):
    with pytest.raises(ConformanceError, match=f"{TABLES}: .*{words}"):
        check_game(game, compile=False, max_states=500)


def test_the_tier_of_a_position():
    places = gamedp.tables.Places(Shedding())
    assert places.tier(Heap(1, 3, 40, 2)) == 3
    with pytest.raises(gamedp.InvalidModelError, match="there are tiers 0 to 4"):
        gamedp.tables.Places(Shedding()).tier(Heap(1, -1, 40, 2))
