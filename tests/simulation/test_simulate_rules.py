"""Games that are played by the rules alone, in pairs, or until enough is known."""

import math
from typing import NamedTuple

import attrs
import numba
import numpy as np
import pytest

import gamedp
from gamedp.errors import (
    CompilationWarning,
    InvalidModelError,
    InvalidParameterError,
    UnsupportedProblemError,
)
from gamedp.games.mancala import Mancala
from gamedp.games.matches import Matches
from gamedp.games.wubbel import Hold, Wubbel
from gamedp.rules.game import Rules
from gamedp.rules.layout import Layout
from gamedp.simulation import kernels, rules_games, simulate_pairs, tally
from gamedp.simulation.result import Stopping
from gamedp.simulation.rules_games import JoinedRules
from gamedp.simulation.rules_loop import play_games_jit
from gamedp.simulation.tally import Tally

SMALL = Wubbel(goal=10)


def facts(found):
    """Return all that games have brought."""
    return found.outcomes, found.means, found.deviations, found.mean_plies, found.unfinished


class Walk(NamedTuple):
    """A place, and who moves."""

    place: int
    mover: int


@attrs.frozen
class Race:
    """Three players push a counter, which chance pushes as well; each push costs its mover."""

    goal: int = 6

    num_players = 3

    def initial_state(self):
        return [(0.25, Walk(0, 0)), (0.75, Walk(1, 1))]

    def is_terminal(self, state):
        return state.place >= self.goal

    def player(self, state):
        return state.mover

    def actions(self, state):
        return range(1, 3) if state.place < self.goal - 1 else range(1, 2)

    def outcomes(self, state, action):
        following = (state.mover + 1) % 3
        yield 0.5, Walk(state.place + action, following)
        yield 0.2, Walk(state.place, following)
        yield 0.3, Walk(state.place + action + 1, following)

    def reward(self, state, action, player):
        return -0.25 * action if player == state.mover else 0.0

    def payoff(self, state, player):
        return float(state.place - self.goal + player)


def push(state):
    """Push hard from the middle on."""
    return 2 if state.place > 2 else 1


def test_compiled_and_plain_rules_play_the_same_games():
    for game, policies in (
        (SMALL, [Hold(4), gamedp.play.RandomPlayer(SMALL)]),
        (Race(), [push, gamedp.play.RandomPlayer(Race()), push]),
    ):
        plain = gamedp.simulate(game, policies, games=200, seed=5, by_rules=True, compile="never")
        again = gamedp.simulate(game, policies, games=200, seed=5, by_rules=True, compile="always")
        assert facts(plain) == facts(again)
        assert plain.finished == 200


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_the_loop_is_compiled_once_for_all_games():
    kinds = set()
    for game, policies in (
        (SMALL, [Hold(4), gamedp.play.RandomPlayer(SMALL)]),
        (Race(), [push, gamedp.play.RandomPlayer(Race()), push]),
    ):
        gamedp.simulate(game, policies, games=1, seed=5, by_rules=True, compile="always")
        kinds.add(len(play_games_jit.overloads))
    assert len(kinds) == 1


def games_with_room_for(positions, outcomes, game, policies, *, in_pairs, most=30):
    """Return some games, and how many positions and outcomes were kept."""
    rules, key = Rules(game), np.uint64(12345)
    games = rules_games.RulesGames(rules, policies, key, most, 1, "auto", in_pairs=in_pairs)
    if numba.config.DISABLE_JIT:  # the functions that are compiled, as they stand
        ((_, state),) = rules.initial()[:1]
        layout = Layout.of(state)
        games._joined = JoinedRules.compiled(rules, policies, layout, state)
    assert games._joined.has_fields
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rules_games, "POSITIONS", positions)
        patch.setattr(rules_games, "OUTCOMES", outcomes)
        found = games.played(0, 300)
    (known,) = games._known
    assert (known["used"] <= [positions, outcomes]).all()
    return found, known["used"]


@pytest.mark.parametrize("in_pairs", [False, True])
@pytest.mark.parametrize("which", ["hold", "random", "three"])
def test_what_is_kept_of_positions_changes_no_game(which, in_pairs):
    """The games are bit for bit the same, however much room there is, and full or not."""
    small = Wubbel(goal=10, grace=True)
    game, policies = {
        "hold": (SMALL, [Hold(4), Hold(6)]),
        "random": (small, [gamedp.play.RandomPlayer(small), Hold(3)]),
        "three": (Race(), [push, gamedp.play.RandomPlayer(Race()), push]),
    }[which]
    rooms = [(0, 0), (1, 1), (2, 50), (20, 40), (25, 10_000), (10_000, 10_000)]
    found, used = zip(
        *(games_with_room_for(*room, game, policies, in_pairs=in_pairs) for room in rooms),
        strict=True,
    )
    over = found[0].is_over
    assert over.any()
    for other in found[1:]:
        assert (other.plies == found[0].plies).all()
        assert (other.is_over == over).all()
        assert (other.earned[over] == found[0].earned[over]).all()
        assert (other.paid[over] == found[0].paid[over]).all()
    assert not used[0].any()
    assert 25 < used[-1][0] < 10_000
    assert used[4][0] == 25


LIMIT = 4


def bold(state):
    """Save from a limit on."""
    return 1 if state.turn >= LIMIT else 0


def test_what_a_policy_reads_may_change(monkeypatch):
    found = []
    for limit in (4, 7):
        monkeypatch.setitem(globals(), "LIMIT", limit)
        plain, again = (
            gamedp.simulate(SMALL, [bold, bold], games=300, seed=1, by_rules=True, compile=mode)
            for mode in ("never", "always")
        )
        assert facts(plain) == facts(again)
        found.append(facts(plain))
    assert found[0] != found[1]


def test_games_by_rules_do_not_depend_on_the_number_of_threads(monkeypatch):
    block = 16 if numba.config.DISABLE_JIT else 64
    monkeypatch.setattr(tally, "BLOCK", block)
    pair, games = [Hold(4), Hold(6)], 5 * block + 1
    one, three = (
        gamedp.simulate(SMALL, pair, games=games, seed=3, threads=threads, by_rules=True)
        for threads in (1, 3)
    )
    assert facts(one) == facts(three)
    assert facts(one) != facts(gamedp.simulate(SMALL, pair, games=games, seed=4, by_rules=True))


def test_a_call_of_the_loop_returns_after_some_plies(monkeypatch):
    """Between two calls it can be interrupted; where it goes on, the games are the same."""
    found = []
    for plies in (1_000_000, 100):
        monkeypatch.setattr(rules_games, "SLICE", plies)
        games = rules_games.RulesGames(
            Rules(SMALL), [Hold(4), Hold(6)], np.uint64(7), 1000, 1, "never"
        )
        begins, loop = [], games._joined.loop

        def counted(page, rules, begin, end, begins=begins, loop=loop):
            begins.append(begin)
            return loop(page, rules, begin, end)

        games._joined = attrs.evolve(games._joined, loop=counted)
        found.append((games.played(0, 50), len(begins)))
    (all_at_once, once), (in_parts, calls) = found
    assert once == 1
    assert 3 < calls < 50
    assert (all_at_once.earned == in_parts.earned).all()
    assert (all_at_once.plies == in_parts.plies).all()


@pytest.mark.parametrize("game", [SMALL, Wubbel(goal=10, grace=True)], ids=["plain", "grace"])
def test_games_by_rules_agree_with_the_exact_value(game):
    games = 1_000 if numba.config.DISABLE_JIT else 20_000
    for pair in ([Hold(4), Hold(6)], [Hold(9), gamedp.play.RandomPlayer(game)]):
        true = gamedp.evaluate(game, pair)
        found = gamedp.simulate(game, pair, games=games, seed=1, by_rules=True)
        for player in (0, 1):
            assert found.agrees_with(true, player) > 1e-4
        low, high = true.mean_plies_bounds
        assert low * 0.9 <= found.mean_plies <= high * 1.1


def test_rewards_and_starts_of_three_players_agree_with_the_exact_values():
    games = 1_000 if numba.config.DISABLE_JIT else 40_000
    policies = [push, push, gamedp.play.RandomPlayer(Race())]
    true = gamedp.evaluate(Race(), policies)
    found = gamedp.simulate(Race(), policies, games=games, seed=2, by_rules=True)
    for player in range(3):
        assert found.agrees_with(true, player) > 1e-4
    on_chain = gamedp.simulate(Race(), policies, games=games, seed=2)
    assert all(
        abs(one - other) < 5 * math.hypot(found.standard_error(place), on_chain.standard_error())
        for place, (one, other) in enumerate(zip(found.means, on_chain.means, strict=True))
    )


def test_a_game_with_too_many_positions_is_played_by_its_rules():
    game = Mancala(stones=12)

    def first(state):
        for action in game.actions(state):
            return action
        return 0

    pair = [first, gamedp.play.RandomPlayer(game)]
    found = gamedp.simulate(game, pair, games=20, seed=1, by_rules=True, compile="never")
    assert found.finished == 20


def test_a_policy_may_leave_actions_to_chance_by_rule():
    def mixed(_state):
        return {1: 0.5, 2: 0.5}

    game, options = Matches(matches=5, takes=(1, 2)), {"games": 2_000, "seed": 3, "by_rules": True}
    pair = [mixed, lambda _state: 1]
    found = gamedp.simulate(game, pair, compile="never", **options)
    assert found.agrees_with(gamedp.evaluate(game, pair, compile="never")) > 1e-4
    if not numba.config.DISABLE_JIT:
        with pytest.warns(CompilationWarning, match="plain Python"):
            again = gamedp.simulate(game, pair, **options)
        assert facts(again) == facts(found)


SUM, PAYOFFS, ERROR = range(3)


@attrs.frozen
class Wrong:
    """Two push a counter on by one or two; with a mistake that shows late."""

    mistake: int
    goal: int = 6

    num_players = 2

    def initial_state(self):
        return Walk(0, 0)

    def is_terminal(self, state):
        return state.place >= self.goal

    def player(self, state):
        return state.mover

    def actions(self, state):
        yield 1
        yield 2

    def outcomes(self, state, action):
        yield 0.5, Walk(state.place + action, 1 - state.mover)
        if self.mistake != SUM or state.place < 4:
            yield 0.5, Walk(state.place, 1 - state.mover)

    def payoff(self, state, player):
        if self.mistake == ERROR:
            return 1.0 / (state.place // 10)
        if self.mistake == PAYOFFS:
            return 1.0
        return 1.0 if player == state.mover else -1.0


@pytest.mark.parametrize("mode", ["never", "always"])
@pytest.mark.parametrize(
    ("mistake", "error", "words"),
    [
        (SUM, InvalidModelError, r"probabilit.* Walk\(place=[45]|Walk\(place=[45].*probabilit"),
        (PAYOFFS, InvalidModelError, "add up"),
        (ERROR, ZeroDivisionError, "division"),
    ],
    ids=["sum", "payoffs", "error"],
)
def test_wrong_rules_are_refused_where_they_are_met(mistake, error, words, mode):
    with pytest.raises(error, match=words):
        gamedp.simulate(Wrong(mistake), [push] * 2, games=500, seed=1, by_rules=True, compile=mode)


@attrs.frozen
class Growing:
    """A number that grows beyond 64 bits."""

    def initial_state(self):
        return Walk(1, 0)

    def is_terminal(self, state):
        return state.mover >= 9

    def actions(self, state):
        yield 0
        yield 1

    def outcomes(self, state, action):
        yield 1.0, Walk(state.place * 1000 + action, state.mover + 1)

    def payoff(self, state, player):
        return 1.0


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_integers_beyond_64_bits_are_refused_where_rules_are_compiled():
    options = {"games": 2, "seed": 1, "by_rules": True}
    assert gamedp.simulate(Growing(), lambda _: 1, **options, compile="never").means == (1.0,)
    with pytest.raises(InvalidModelError, match=r"64 bits.*outcomes|outcomes.*64 bits"):
        gamedp.simulate(Growing(), lambda _: 1, **options, compile="always")


@attrs.frozen
class Stubborn:
    """Saves whether it may or not."""

    def choose(self, state):
        return 5 if state.turn > 3 else 0


@pytest.mark.parametrize("mode", ["never", "always"])
def test_an_action_that_there_is_not_is_refused(mode):
    with pytest.raises(InvalidParameterError, match=r"Stubborn\(\) chooses 5 in State\("):
        gamedp.simulate(SMALL, [Hold(3), Stubborn()], games=9, seed=1, by_rules=True, compile=mode)


def test_what_cannot_play_by_rules_is_refused():
    model = gamedp.compile(SMALL, compile="never")
    pair = [gamedp.Policy.uniform(model)] * 2
    with pytest.raises(InvalidParameterError, match="table of positions"):
        gamedp.simulate(model, pair, by_rules=True)
    with pytest.raises(InvalidParameterError, match="2 players"):
        gamedp.simulate(SMALL, Hold(3), by_rules=True)
    other = gamedp.play.RandomPlayer(Wubbel(goal=11))
    for by_rules in (False, True):
        with pytest.raises(InvalidParameterError, match="does not play"):
            gamedp.simulate(SMALL, [Hold(3), other], by_rules=by_rules, compile="never")
    bare = gamedp.Model.from_arrays([0, 0], [0], [], [], terminals=[0], payoffs=[1.0])
    with pytest.raises(InvalidParameterError, match="no game"):
        gamedp.simulate(bare, Hold(3), by_rules=True)


def test_games_stop_once_enough_is_known():
    pair = [Hold(4), Hold(6)]
    true = gamedp.evaluate(SMALL, pair).value()
    wide, narrow = (
        gamedp.simulate(SMALL, pair, games=10**7, seed=1, width=width) for width in (0.05, 0.02)
    )
    for found, width in ((wide, 0.05), (narrow, 0.02)):
        assert found.sequential.width <= width
        assert found.sequential.low <= true <= found.sequential.high
    assert wide.games < narrow.games < 10**6
    assert wide.sequential.looks < narrow.sequential.looks
    short = gamedp.simulate(SMALL, pair, games=1000, seed=1, width=1e-4)
    assert short.games == 1000
    assert short.sequential.width > 1e-4
    assert gamedp.simulate(SMALL, pair, games=1000, seed=1).sequential is None
    by_rules = gamedp.simulate(
        SMALL, pair, games=1000, seed=1, width=0.5, by_rules=True, compile="never"
    )
    assert by_rules.sequential.low <= true <= by_rules.sequential.high
    assert by_rules.sequential.width > short.sequential.width  # only the range is known there


@pytest.mark.parametrize(
    "option", [{"width": 0.0}, {"width": math.nan}, {"width": 1.0, "confidence": 1.0}]
)
def test_a_width_that_makes_no_sense_is_refused(option):
    with pytest.raises(InvalidParameterError):
        gamedp.simulate(SMALL, [Hold(3)] * 2, seed=1, games=10, **option)


@pytest.mark.parametrize("by_rules", [False, True])
def test_games_with_rewards_stop_by_an_interval_that_is_said_to_be_approximate(by_rules):
    trio = [push] * 3
    true = gamedp.evaluate(Race(), trio, compile="never").value()
    found = gamedp.simulate(
        Race(), trio, games=20_000, seed=1, width=0.1, by_rules=by_rules, compile="never"
    )
    known = found.sequential
    assert known.is_approximate
    assert known.low <= true <= known.high
    assert known.width <= 0.1
    assert known.looks == 1


def test_a_width_needs_a_range_of_payoffs():
    open_ended = attrs.make_class("Open", [], bases=(Wubbel,))
    open_ended.value_range = lambda self, state, player: (0.0, math.inf)
    with pytest.raises(UnsupportedProblemError, match="value_range"):
        gamedp.simulate(
            open_ended(goal=5), [Hold(2)] * 2, width=0.1, by_rules=True, compile="never"
        )


@pytest.mark.parametrize("payoffs", [{0.0, 1.0}, None], ids=["two payoffs", "a range"])
def test_intervals_of_all_looks_contain_the_mean_as_often_as_promised(payoffs):
    """Over many runs, those in which any look's interval misses are no more than the error."""
    rng = np.random.default_rng(7)
    chance, runs, missed = 0.3, 100, 0
    stopping = Stopping(1e-9, 0.9, 100_000, payoffs, 0.0, 1.0)
    looks = stopping.looks()
    assert looks == sorted(set(looks))
    assert looks[-1] == 100_000
    for _ in range(runs):
        wins, games, hit = 0, 0, True
        for number, look in enumerate(looks, 1):
            wins += int(rng.binomial(look - games, chance))
            games = look
            counts = ({0.0: games - wins, 1.0: wins},)
            so_far = Tally(games, 0, 0, counts, (((float(wins), float(wins)),),))
            found = stopping.interval(so_far, number)
            hit = hit and found.low <= chance <= found.high
        missed += not hit
    assert missed <= 0.1 * runs + 3 * math.sqrt(0.09 * runs)


@pytest.mark.parametrize("by_rules", [False, True])
def test_pairs_share_their_dice(by_rules):
    options = {"pairs": 400, "seed": 3, "by_rules": by_rules, "compile": "never"}
    same = simulate_pairs(SMALL, [Hold(4), Hold(4)], **options)
    assert same.means == (0.5, 0.5)  # both games of each pair go alike
    assert same.deviation == 0
    assert same.independent_error > 0.01
    pair = [Hold(4), gamedp.play.RandomPlayer(SMALL)]
    both = simulate_pairs(SMALL, pair, **options)
    exact = [gamedp.evaluate(SMALL, order) for order in (pair, pair[::-1])]
    assert both.agrees_with(*exact) > 1e-4
    for each, true in zip(both.seatings, exact, strict=True):
        assert each.agrees_with(true) > 1e-4
    assert both.finished == 400
    assert math.isclose(sum(both.means), 1.0)
    threaded = simulate_pairs(SMALL, pair, **options | {"threads": 2})
    assert (threaded.means, threaded.deviation) == (both.means, both.deviation)


def test_the_compiled_loop_plays_the_pairs_of_the_plain_one(monkeypatch):
    model = gamedp.compile(SMALL, compile="never")
    pair = [Hold(4), gamedp.Policy.uniform(model)]
    compiled = simulate_pairs(model, pair, pairs=200, seed=11)
    monkeypatch.setattr(kernels, "walk_in_seats_jit", kernels.walk_in_seats)
    monkeypatch.setattr(kernels, "mixed_jit", kernels.mixed)
    plain = simulate_pairs(model, pair, pairs=200, seed=11)
    assert (plain.means, plain.deviation) == (compiled.means, compiled.deviation)
    for one, other in zip(plain.seatings, compiled.seatings, strict=True):
        assert facts(one) == facts(other)


def test_pairs_are_compared_with_less_luck():
    pair = [Hold(5), Hold(6)]
    found = simulate_pairs(SMALL, pair, pairs=5_000, seed=1)
    assert found.standard_error < 0.6 * found.independent_error


def test_pairs_are_for_two():
    with pytest.raises(UnsupportedProblemError, match="for two"):
        simulate_pairs(Race(), [push] * 3, compile="never")
