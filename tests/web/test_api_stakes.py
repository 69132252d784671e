"""What a value is said to mean is proven by the table: a chance to win, a result, a lead, a sum."""

from typing import NamedTuple

import pytest
from web_client import listed_game

import gamedp
from gamedp.games.mancala import Mancala
from gamedp.games.matches import Matches
from gamedp.games.wubbel import Wubbel
from gamedp.web.sentences import texts_of
from gamedp.web.stakes import stakes_of


class At(NamedTuple):
    """How far it has come."""

    place: int


class Race:
    """The first player's action is a payoff; after a `loop`, play may never end."""

    num_players = 2

    def __init__(self, payoffs, total, loop=False, reward=0.0):
        self.payoffs, self.constant_sum = payoffs, total
        self.loop, self.gain = loop, reward

    def initial_state(self):
        return At(-1)

    def is_terminal(self, state):
        return state.place >= 0

    def player(self, state):
        return 0

    def actions(self, state):
        return range(len(self.payoffs) + self.loop)

    def outcomes(self, state, action):
        yield 1.0, At(action if action < len(self.payoffs) else -1)

    def payoff(self, state, player):
        first = self.payoffs[state.place]
        return first if player == 0 else self.constant_sum - first

    def reward(self, state, action, player):
        return self.gain if player == 0 else -self.gain


def stakes(game):
    solution = gamedp.solve(game, tolerance=1e-9, compile="never")
    lengths = gamedp.policies.remoteness(solution)
    return stakes_of(gamedp.rules.Rules(game), solution, lengths)


@pytest.mark.parametrize(
    ("game", "kind"),
    [
        (Race((0.0, 1.0), 1.0), "win"),
        (Race((0.0, 0.5, 1.0), 1.0), "result"),
        (Race((-1.0, 0.0), 0.0), "result"),
        (Race((0.0, 0.4, 1.0), 1.0), "sum"),
        (Race((-1.0, 0.5, 1.0), 0.0), "lead"),
        (Race((-2.0, 2.0), 0.0), "lead"),
        (Race((0.0, 1.0), 2.0), "sum"),
        (Matches(7), "win"),
        (Wubbel(5), "win"),
        (Mancala(2, 2), "lead"),
    ],
)
def test_what_a_value_means_follows_from_all_payoffs(game, kind):
    found = stakes(game)
    assert found["kind"] == kind
    assert (found["low"] is None) == (kind in {"lead", "sum"})
    assert found["certain"] is not isinstance(game, Wubbel)
    assert found["rewards"] is False


def test_endless_play_is_a_draw_halfway_and_else_unknown():
    """Who never ends gets nothing, which is a draw only if that is halfway."""
    assert stakes(Race((-1.0,), 0.0, loop=True))["kind"] == "result"
    assert (
        stakes_of(
            gamedp.rules.Rules(Race((0.0, 1.0), 1.0)),
            gamedp.solve(Race((0.0, 1.0), 1.0), compile="never"),
        )["kind"]
        == "sum"
    )  # nothing is known of how long it lasts


def test_payoffs_on_the_way_are_no_chances_to_win():
    found = stakes(Race((-1.0, 1.0), 0.0, reward=1.0))
    assert (found["kind"], found["rewards"]) == ("lead", True)


def test_of_a_game_without_a_table_no_payoffs_are_known():
    assert stakes_of(gamedp.rules.Rules(Matches(7))) == {
        "kind": "lead",
        "low": None,
        "high": None,
        "certain": None,
        "rewards": None,
    }


@pytest.mark.parametrize(
    "unit", [{"one": "stone"}, {"many": "{} stones"}, "stones", {"one": "{} of {}"}, {"one": 1}]
)
def test_a_unit_that_is_none_is_left_out(unit, caplog):
    class Named:
        @staticmethod
        def texts(language):
            return {"payoff_unit": unit} if language == "en" else {"about": "x"}

    assert texts_of(Named) == {"de": {"about": "x"}}
    assert "cannot be read" in caplog.text


def test_a_unit_is_listed_with_its_game():
    facts = listed_game("mancala", Mancala(2, 2)).list_facts(None)
    assert facts["texts"]["en"]["payoff_unit"] == {"one": "{} stone", "other": "{} stones"}
