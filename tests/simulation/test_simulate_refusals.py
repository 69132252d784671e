"""What cannot be played rightly is refused, and not played wrongly; who stops, stops soon."""

import math
import time
from typing import NamedTuple

import attrs
import numba
import pytest

import gamedp
from gamedp.errors import (
    GamedpError,
    InvalidModelError,
    InvalidParameterError,
    UnsupportedProblemError,
)
from gamedp.play import RandomPlayer
from gamedp.runtime.workers import deal
from gamedp.simulation.tally import BLOCK, blocks


class Turn(NamedTuple):
    """Where the round stands; who moves is its rest by the number of players."""

    number: int
    sum: int


@attrs.frozen
class Round:
    """All players in turn say 0 or 1, and each is paid 1 if the sum says so."""

    num_players: int = 70

    def initial_state(self):
        return Turn(0, 0)

    def is_terminal(self, state):
        return state.number == self.num_players

    def player(self, state):
        return state.number

    def actions(self, state):
        yield 0
        yield 1

    def outcomes(self, state, action):
        yield 0.5, Turn(state.number + 1, (state.sum + action) % 3)
        yield 0.5, Turn(state.number + 1, (state.sum + 2 * action) % 3)

    def payoff(self, state, player):
        return 1.0 if (player + state.sum) % 3 == 0 else 0.0


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_games_of_seventy_players_who_leave_it_to_chance():
    """Twice as many streams of random numbers as a byte with a sign can count."""
    game = Round()
    players = [RandomPlayer(game)] * 70
    found = [
        gamedp.simulate(game, players, games=40, seed=1, by_rules=True, compile=mode).means
        for mode in ("always", "never")
    ]
    assert found[0] == found[1]


class Place(NamedTuple):
    """Where a walk is."""

    number: int
    over: int


class TwoWays:
    """Two actions in each state, until play is over."""

    def is_terminal(self, state):
        return state.over == 1

    def actions(self, state):
        yield 0
        yield 1


@attrs.frozen
class TooMuch(TwoWays):
    """At one place the outcomes sum to 1.5, and mostly the first of them is drawn."""

    def initial_state(self):
        return Place(0, 0)

    def outcomes(self, state, action):
        if state.number == 3:
            yield 0.9, Place(4, 1)
            yield 0.6, Place(5, 1)
        else:
            yield 0.5, Place(1, 1)
            yield 0.5, Place(3, 0)

    def payoff(self, state, player):
        return float(state.number)


def test_wrong_probabilities_are_named_whichever_game_meets_them():
    for seed in range(4):
        with pytest.raises(InvalidModelError, match=r"number=3.*total probability 1\.5"):
            gamedp.simulate(
                TooMuch(), lambda state: 0, games=64, seed=seed, by_rules=True, compile="auto"
            )


class End(NamedTuple):
    """How a stage ends; -1 before."""

    place: int


@attrs.frozen
class Stage:
    """Two ways to end, between which a player chooses, or a coin."""

    is_coin: bool = False

    def initial_state(self):
        return End(-1)

    def is_terminal(self, state):
        return state.place >= 0

    def actions(self, state):
        yield 0
        if not self.is_coin:
            yield 1

    def outcomes(self, state, action):
        if self.is_coin:
            yield 0.5, End(0)
            yield 0.5, End(1)
        else:
            yield 1.0, End(action)

    def payoff(self, state, player):
        return 0.0


class Piles(NamedTuple):
    """Stones on two piles."""

    one: int
    other: int


@attrs.frozen
class Taking:
    """A stone is taken from either pile; the smaller pile stands first, whichever it was."""

    def stage(self):
        return Stage()

    def box(self):
        return {"one": (0, 4), "other": (0, 4)}

    def initial_state(self):
        return Piles(3, 1)

    def is_terminal(self, context):
        return context.one + context.other == 0

    def payoff(self, context, player):
        return 0.0

    def allows(self, context, end):
        return context[end.place] > 0

    def following(self, context, end):
        if end.place == 0:
            return Piles(context.one - 1, context.other)
        return Piles(context.one, context.other - 1)

    def reward(self, context, end, player):
        return float(context[end.place] ** 2 * (context[1 - end.place] + 1))

    def canonical(self, context):
        return Piles(min(context), max(context)), False

    def tier(self, context):
        return context.one + context.other


def test_rules_are_not_asked_where_contexts_go_on_otherwise_than_those_that_represent_them():
    assert gamedp.solve(Taking(), compile="never").value() == 29.0
    with pytest.raises(InvalidModelError, match=r"continue differently.*Leave canonical\(\) out"):
        gamedp.simulate(
            Taking(), lambda at: int(at.context.one < at.context.other), games=5, seed=1,
            compile="never",
        )  # fmt: skip


class Round3(NamedTuple):
    """How many throws are left, and how the last one fell."""

    left: int
    last: int


@attrs.frozen
class Throwing:
    """Three throws of a coin, with something wrong in it."""

    wrong: str

    def stage(self):
        return Stage(is_coin=True)

    def box(self):
        return {"left": (0, 3), "last": (0, 1)}

    def initial_state(self):
        return Round3(3, 0)

    def is_terminal(self, context):
        return context.left == 0

    def payoff(self, context, player):
        return float({"payoff": "nan"}.get(self.wrong, context.last))

    def allows(self, context, end):
        return not (self.wrong == "end" and context.left == 2 and end.place == 1)

    def following(self, context, end):
        return Round3(context.left - 1, end.place)

    def reward(self, context, end, player):
        return float("inf") if self.wrong == "reward" and context.left == 1 else 0.0

    def tier(self, context):
        return context.left


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ("payoff", r"payoff\(Round3\(left=0.*is nan"),
        ("reward", r"Round3\(left=1.*inf"),
        ("end", r"in Round3\(left=2.*allows\(\)"),
    ],
)
def test_wrong_rules_of_staged_games_are_refused_though_nothing_was_solved(wrong, words):
    with pytest.raises(InvalidModelError, match=words):
        gamedp.simulate(Throwing(wrong), lambda at: 0, games=50, seed=1, compile="never")
    right = gamedp.simulate(Throwing(""), lambda at: 0, games=50, seed=1, compile="never")
    assert right.mean_plies == 3.0


class Mirror(NamedTuple):
    """A place on a line, and whether play is over."""

    x: int
    over: int


@attrs.frozen
class Folded(TwoWays):
    """A stage whose states on the left are represented by those on the right."""

    def initial_state(self):
        return Mirror(0, 0)

    def outcomes(self, state, action):
        if state.x == 0:
            yield 0.5, Mirror(-1, 0)
            yield 0.5, Mirror(1, 0)
        else:
            yield 1.0, Mirror(state.x * (3 - action), 1)

    def payoff(self, state, player):
        return 0.0

    def canonical(self, state):
        return Mirror(abs(state.x), state.over), False


class OneFolded(Throwing):
    def stage(self):
        return Folded()

    def following(self, context, end):
        return Round3(context.left - 1, 0)


def test_rules_are_not_asked_where_the_stage_joins_states():
    with pytest.raises(UnsupportedProblemError, match=r"has canonical\(\)"):
        gamedp.simulate(
            OneFolded(""), lambda at: int(at.state.x > 0), games=5, seed=1, compile="never"
        )


@pytest.mark.parametrize("answer", [[0], {0: None}, {0: "x"}, "one"])
def test_an_answer_that_is_none_names_the_player_and_the_position(answer):
    def odd(position):
        return answer

    with pytest.raises(InvalidParameterError, match=r"odd.*Position"):
        gamedp.simulate(attrs.evolve(Plain(), start=2), odd, games=5, seed=1, compile="never")


@attrs.frozen
class Plain(Taking):
    """The same without piles changing places."""

    start: int = 3

    def initial_state(self):
        return Piles(self.start, 1)

    def canonical(self, context):
        return context, False


@pytest.mark.slow
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_in_one_thread_ends_the_others(error):
    played = []

    def play(calls):
        for begin, _ in calls:
            if begin == 0:
                raise error
            played.append(begin)
            time.sleep(0.01)
            yield begin

    with pytest.raises(error):
        list(deal(2, play, blocks(0, 20_000 * BLOCK)))
    assert len(played) < 5_000


@pytest.mark.parametrize("answer", [math.nan, None, "no"])
def test_what_does_not_say_whether_play_is_over_is_refused(answer):
    class Unsure(TooMuch):
        def is_terminal(self, state):
            return answer

    with pytest.raises(gamedp.InvalidModelError, match=r"is_terminal\(Place\(.*True or False"):
        gamedp.simulate(Unsure(), lambda state: 0, games=4, by_rules=True, compile="never")


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda found: found.agrees_with(None, player=7), "there is no player 7"),
        (lambda found: found.agrees_with(None, player="a"), "there is no player a"),
        (lambda found: found.interval(1.0, kind="x"), "kind is 'x'"),
        (lambda found: found.interval(1.0, confidence=5), "5; it must lie between 0 and 1"),
        (lambda found: found.interval(1.0, confidence="a"), "'a'; it must lie between 0 and 1"),
    ],
)
def test_what_is_no_player_kind_or_confidence(ask, words):
    game = Round(num_players=3)
    found = gamedp.simulate(game, [RandomPlayer(game)] * 3, games=9, seed=1, compile="never")
    with pytest.raises(GamedpError, match=words):
        ask(found)
