"""The searcher that fits: the same for the function, the command, players and pages."""

import itertools

import attrs
import pytest
from search_games import Crowd

import gamedp
from gamedp.games.mancala import Mancala
from gamedp.games.matches import Matches
from gamedp.games.wubbel import Wubbel
from gamedp.rules import Rules
from gamedp.searchers import AlphaBeta, Expectiminimax, MaxN
from gamedp.searchers.choose import searcher_for


@attrs.frozen
class Late:
    """A walk with a die at its end alone, and many side paths on the way there."""

    steps: int
    num_players = 2

    def initial_state(self):
        return 0, 0

    def is_terminal(self, state):
        return state[0] > self.steps

    def player(self, state):
        return state[0] % 2

    def actions(self, state):
        return [0, 1]

    def outcomes(self, state, action):
        step, number = state
        if step == self.steps:
            return [(0.25, (step + 1, 0)), (0.75, (step + 1, 1))]
        return [(1.0, (step + 1, 2 * number + action))]

    def payoff(self, state, player):
        won = state[1] == 1
        return 1.0 if won == (player == 0) else -1.0


@pytest.mark.parametrize(
    ("game", "kind"),
    [
        (Matches(), AlphaBeta),
        (Mancala(), AlphaBeta),
        (Wubbel(goal=120), Expectiminimax),
        (Crowd(dicey=True), MaxN),
        (Mancala(players=3), MaxN),
        (Late(100), Expectiminimax),  # 2^100 positions before a die is rolled
    ],
    ids=str,
)
def test_the_rules_say_which_one_fits(game, kind):
    assert searcher_for(Rules(game)) is kind


def test_from_a_position_on():
    game = Late(3)
    assert searcher_for(Rules(game), (3, 0)) is Expectiminimax
    assert searcher_for(Rules(game), (4, 0)) is AlphaBeta
    assert gamedp.search(game, compile="never").value() == 0.5


def test_where_chance_is_hidden_the_message_says_what_to_use(monkeypatch):
    monkeypatch.setattr("gamedp.searchers.choose.MAX_ANSWERS", 9)
    with pytest.raises(gamedp.UnsupportedProblemError, match="Use Expectiminimax"):
        gamedp.search(Late(6), compile="never")


def test_wrong_rules_are_worded_by_the_search():
    @attrs.frozen
    class Wrong(Late):
        def outcomes(self, state, action):
            return [None]

    with pytest.raises(gamedp.InvalidModelError, match="outcomes of action 0"):
        gamedp.search(Wrong(3), depth=2, compile="never")


@attrs.frozen
class Endless(Late):
    """With no end of what the rules yield, where that is asked for."""

    of: str = "actions"

    def actions(self, state):
        return itertools.count() if self.of == "actions" else [0]

    def outcomes(self, state, action):
        if self.of == "actions":
            return [(1.0, state)]
        return ((0.0, state) for _ in itertools.count())


@pytest.mark.parametrize("of", ["actions", "outcomes"])
def test_rules_that_yield_without_an_end_are_not_followed(of):
    assert searcher_for(Rules(Endless(3, of))) is AlphaBeta


def test_a_limit_of_time_is_enough_where_positions_come_again_and_where_lines_are_long():
    for game in (Wubbel(goal=120), Mancala(players=3)):
        result = gamedp.search(game, max_seconds=0.5)
        assert result.status is gamedp.Status.TIME_LIMIT
        for player in range(game.num_players):
            low, high = result.bounds(player)
            assert low <= result.value(player) <= high
        assert result.statistics.depth < 100


@pytest.mark.parametrize(
    ("searcher", "game"),
    [
        (gamedp.searchers.AlphaBeta(max_nodes=1), Mancala(stones=4)),
        (gamedp.searchers.Minimax(max_nodes=1), Mancala(stones=4)),
        (gamedp.searchers.Expectiminimax(max_nodes=1), Wubbel(goal=120)),
        (gamedp.searchers.MaxN(max_nodes=1), Mancala(players=3)),
        (gamedp.searchers.ProofNumberSearch(max_nodes=1), Mancala(stones=4)),
    ],
    ids=lambda each: type(each).__name__,
)
def test_a_result_without_a_value_has_the_estimate_within_its_bounds(searcher, game):
    result = searcher.search(game, compile="never")
    assert not result.has_value
    assert result.best_actions == ()
    for player in range(game.num_players):
        low, high = result.bounds(player)
        assert low <= result.value(player) <= high
    assert all(entry.value == entry.value for entry in result.actions)


@attrs.frozen
class Guessed(Late):
    """With an estimate that lies outside the range."""

    guess: float = 0.0

    def heuristic(self, state, player):
        return self.guess if player == 0 else -self.guess

    def value_range(self, state, player):
        return -1.0, 1.0


@pytest.mark.parametrize(("guess", "value"), [(0.5, 0.5), (9.0, 1.0), (-9.0, -1.0)])
@pytest.mark.parametrize("kind", [AlphaBeta, gamedp.searchers.Minimax, Expectiminimax, MaxN])
@pytest.mark.parametrize("first", [(0, 0), (1, 0)], ids=["first", "second"])
def test_the_estimate_is_kept_within_the_range(kind, guess, value, first):
    result = kind(max_nodes=1).search(Guessed(40, guess), first, compile="never")
    assert (result.has_value, result.value(), result.bounds()) == (False, value, (-1.0, 1.0))


@attrs.frozen
class Shared:
    """Take one or two of some matches; the last one wins. The payoffs add up to a constant."""

    constant_sum: float
    matches: int = 9
    num_players = 2

    def initial_state(self):
        return 0, self.matches

    def is_terminal(self, state):
        return state[1] == 0

    def player(self, state):
        return state[0]

    def actions(self, state):
        yield 1
        if state[1] > 1:
            yield 2

    def outcomes(self, state, action):
        yield 1.0, (1 - state[0], state[1] - action)

    def payoff(self, state, player):
        half = 0.5 * self.constant_sum
        return half - 0.5 if player == state[0] else half + 0.5


@pytest.mark.parametrize("compile", ["never", "always"])
@pytest.mark.parametrize("name", ["alpha-beta", "expectiminimax", "max-n", "minimax"])
def test_without_a_heuristic_neither_of_two_is_ahead_whatever_their_payoffs_add_up_to(
    name, compile
):
    for depth in range(1, 6):
        found = [
            gamedp.search(Shared(total), searcher=name, depth=depth, compile=compile)
            for total in (0.0, 1.0, -2.0)
        ]
        zero, *others = found
        for total, other in zip((1.0, -2.0), others, strict=True):
            assert other.value() == zero.value() + total / 2
            assert other.best_actions == zero.best_actions
        assert depth > 4 or zero.value() == 0.0
