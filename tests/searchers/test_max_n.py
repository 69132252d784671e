"""Search of games of several players: it finds the policy that backward induction finds."""

import math
from fractions import Fraction
from typing import NamedTuple

import attrs
import pytest
from depth import first_of
from hypothesis import given, settings, strategies as st
from search_games import (
    Crowd,
    CrowdBounded,
    CrowdEarning,
    DiceyAlone,
    DiceyClamped,
    DiceyEarning,
    DiceyMirrored,
    DiceySum,
    Node,
)

import gamedp
from gamedp.games.mancala import Mancala
from gamedp.games.matches import Matches
from gamedp.games.wubbel import Wubbel
from gamedp.searchers.max_n import ActionValues

CROWDS = (Crowd, CrowdBounded, CrowdEarning)


def agrees_with_induction(game, compile):
    """Compare a search to the end with backward induction, in the first positions."""
    solver = gamedp.solvers.BackwardInduction()
    solution = gamedp.solve(game, solver=solver, compile=compile)
    start = game.initial_state()
    states = [start]
    for action in game.actions(start):
        states += [state for _, state in game.outcomes(start, action)]
    for state in states:
        result = gamedp.searchers.MaxN().search(game, state, compile=compile)
        players = range(game.num_players)
        assert result.values == tuple(solution.value(state, player) for player in players)
        assert result.value() == result.values[0]
        assert result.status is gamedp.Status.SOLVED
        for player in players:
            low, high = solution.bounds(state, player)
            assert result.bounds(player)[0] <= high
            assert low <= result.bounds(player)[1]
            assert result.bounds(player)[0] <= result.values[player] <= result.bounds(player)[1]
        if not game.is_terminal(state):
            assert list(result.best_actions) == solution.best_actions(state)
            assert result.guarantee is gamedp.Guarantee.EQUILIBRIUM
            taken = result.action_value(result.best_actions[0])
            assert taken.values == result.values


@pytest.mark.parametrize("compile", ["auto", "never"])
@pytest.mark.parametrize("stones", [1, 2])
def test_triancala(stones, compile):
    game = Mancala(players=3, pits=2, stones=stones)
    agrees_with_induction(game, compile)
    result = gamedp.searchers.MaxN().search(game, compile=compile)
    assert result.values == {1: (2, 2, 2), 2: (5, 6, 1)}[stones]
    assert all(result.bounds(k) == (value, value) for k, value in enumerate(result.values))
    assert result.is_proven


@pytest.mark.parametrize("num_players", [3, 4])
@pytest.mark.parametrize("kind", CROWDS, ids=lambda kind: kind.__name__)
@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 10**6), dicey=st.booleans())
def test_it_finds_what_backward_induction_finds(kind, num_players, seed, dicey):
    game = kind(seed=seed, layers=4, width=3, num_players=num_players, dicey=dicey)
    agrees_with_induction(game, "never")


@pytest.mark.parametrize("kind", first_of(CROWDS), ids=lambda kind: kind.__name__)
def test_compiled_it_finds_the_same(kind):
    for seed in range(4):
        for num_players in (3, 4):
            agrees_with_induction(kind(seed=seed, num_players=num_players), "auto")


@attrs.frozen
class Plain:
    """Max-n by recursion: what it is, and nothing else."""

    game: object

    def values(self, state, depth):
        game = self.game
        players = range(game.num_players)
        if game.is_terminal(state):
            return tuple(game.payoff(state, player) for player in players)
        if depth == 0:
            return tuple(game.heuristic(state, player) for player in players)
        best = None
        for action in game.actions(state):
            total = [0.0 for _ in players]
            for probability, successor in game.outcomes(state, action):
                for player, value in enumerate(self.values(successor, depth - 1)):
                    total[player] += probability * value
            if hasattr(game, "reward"):
                total = [game.reward(state, action, p) + total[p] for p in players]
            if best is None or total[state.player] > best[state.player]:
                best = total
        return tuple(best)


@pytest.mark.slow
@pytest.mark.parametrize("depth", [1, 2, 3, 5])
@pytest.mark.parametrize("kind", CROWDS, ids=lambda kind: kind.__name__)
def test_at_the_horizon_stands_the_heuristic(kind, depth):
    for seed in range(5):
        for num_players in (3, 4):
            game = kind(seed=seed, num_players=num_players)
            result = gamedp.searchers.MaxN(depth=depth).search(game, compile="never")
            assert result.values == Plain(game).values(game.initial_state(), depth)
            if result.status is gamedp.Status.DEPTH_LIMIT:
                most = 3 if kind is CrowdBounded else math.inf
                assert {result.bounds(player) for player in range(num_players)} == {(-most, most)}
                assert result.guarantee is gamedp.Guarantee.TWO_SIDED


@pytest.mark.parametrize(
    "kind", [DiceyAlone, DiceyEarning, DiceyMirrored, DiceySum], ids=lambda kind: kind.__name__
)
@pytest.mark.parametrize("depth", [2, 4, None])
def test_with_one_player_or_two_it_is_minimax(kind, depth):
    for seed in range(8):
        game = kind(seed=seed)
        result = gamedp.searchers.MaxN(depth=depth).search(game, compile="never")
        plain = gamedp.searchers.Minimax(depth=depth).search(game, compile="never")
        assert result.value() == pytest.approx(plain.value(), rel=0, abs=1e-12)
        assert result.guarantee is gamedp.Guarantee.TWO_SIDED
        if kind is DiceySum:
            assert sum(result.values) == pytest.approx(1)


@pytest.mark.slow
def test_a_range_leaves_out_what_is_no_better():
    nodes, cutoffs = {}, {}
    for kind in (Crowd, CrowdBounded):
        results = [
            gamedp.searchers.MaxN().search(kind(seed=seed), compile="never") for seed in range(10)
        ]
        nodes[kind] = sum(result.statistics.nodes for result in results)
        cutoffs[kind] = sum(result.statistics.cutoffs for result in results)
    assert nodes[CrowdBounded] < nodes[Crowd]
    assert cutoffs[CrowdBounded] > cutoffs[Crowd] == 0


def test_estimates_are_kept_within_the_range():
    game = DiceyClamped(seed=1)
    result = gamedp.searchers.MaxN(depth=1).search(game, compile="never")
    for action in game.actions(game.initial_state()):
        low = high = game.reward(game.initial_state(), action, 0)
        for probability, state in game.outcomes(game.initial_state(), action):
            ends = game.value_range(state, 0)
            if game.is_terminal(state):
                ends = (game.payoff(state, 0),) * 2
            low, high = low + probability * ends[0], high + probability * ends[1]
        assert low - 1e-12 <= result.action_value(action).value <= high + 1e-12


def test_limits_leave_the_estimate_and_the_range():
    game = CrowdBounded(seed=3, layers=8)
    result = gamedp.searchers.MaxN(max_nodes=1).search(game, compile="never")
    assert result.status is gamedp.Status.NODE_LIMIT
    assert not result.has_value
    start = game.initial_state()
    assert result.values == tuple(game.heuristic(start, player) for player in range(3))
    assert result.statistics.depth == 0
    assert {result.bounds(player) for player in range(3)} == {(-3, 3)}
    assert result.best_actions == result.actions == ()


def test_a_limit_leaves_the_last_depth_that_was_finished():
    game = CrowdBounded(seed=3, layers=8)
    result = gamedp.searchers.MaxN(max_nodes=500).search(game, compile="never")
    assert result.status is gamedp.Status.NODE_LIMIT
    depth = result.statistics.depth
    assert 1 < depth < 8
    same = gamedp.searchers.MaxN(depth=depth).search(game, compile="never")
    assert (result.values, result.actions) == (same.values, same.actions)
    assert result.best_actions == same.best_actions
    assert {result.bounds(player) for player in range(3)} == {(-3, 3)}
    less = gamedp.searchers.MaxN(depth=2, max_nodes=500).search(game, compile="never")
    assert (less.status, less.statistics.depth) == (gamedp.Status.DEPTH_LIMIT, 2)


def test_with_a_limit_it_ends_once_it_has_seen_the_end():
    game = CrowdBounded(seed=3)
    alone = gamedp.searchers.MaxN().search(game, compile="never")
    result = gamedp.searchers.MaxN(max_nodes=1e9).search(game, compile="never")
    assert result.status is gamedp.Status.SOLVED
    assert (result.values, result.actions) == (alone.values, alone.actions)


def test_time_is_a_limit_and_progress_is_told():
    seen = []
    game = Crowd(seed=3, layers=14, width=9)
    result = gamedp.searchers.MaxN(max_seconds=1).search(
        game, compile="never", progress=seen.append
    )
    assert result.status is gamedp.Status.TIME_LIMIT
    assert seen
    assert all("action" in progress.detail for progress in seen)
    assert 0 < result.statistics.depth < 14


def test_a_game_that_is_over_has_its_payoffs():
    game = Crowd()
    state = Node(1, game.layers, 2)
    result = gamedp.searchers.MaxN().search(game, state, compile="never")
    assert result.values == tuple(game.payoff(state, player) for player in range(3))
    assert result.is_proven


def test_a_game_without_an_end_asks_for_a_depth():
    with pytest.raises(gamedp.UnsupportedProblemError, match=r"can recur.* depth"):
        gamedp.searchers.MaxN().search(Wubbel(goal=10), compile="never")
    assert gamedp.searchers.MaxN(depth=2).search(Wubbel(goal=10), compile="never").status is (
        gamedp.Status.DEPTH_LIMIT
    )


@attrs.frozen
class Deep(Crowd):
    """Longer than the stack at first, and with many actions in one place."""

    def is_terminal(self, state):
        return state.layer >= 200

    def actions(self, state):
        for action in range(1500 if state.layer == 190 else 1):  # noqa: UP028 - numba has none
            yield action

    def outcomes(self, state, action):
        yield 1.0, Node((state.player + 1) % 3, state.layer + 1, action % 7)


@pytest.mark.parametrize("compile", ["auto", "never"])
def test_the_stacks_grow(compile):
    game = Deep()
    result = gamedp.searchers.MaxN().search(game, compile=compile)
    assert result.statistics.depth == 200
    assert result.values == tuple(game.payoff(Node(0, 200, 0), player) for player in range(3))


@attrs.frozen
class Improbable(Crowd):
    def outcomes(self, state, action):
        yield 1.0 if state.layer < 2 else 0.9, Node(0, state.layer + 1, 0)


@attrs.frozen
class Guessless(Crowd):
    def heuristic(self, state, player):
        return math.inf if player == 2 else 0.0


@attrs.frozen
class Turned(Crowd):
    def value_range(self, state, player):
        return (1.0, 0.0) if state.layer == 2 else (0.0, 1.0)


@attrs.frozen
class Swapping(Crowd):
    def canonical(self, state):
        return state._replace(player=0), state.player > 0


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Improbable, r"action 0 in Node\(player=0, layer=2, place=0\) .* 0\.9"),
        (Guessless, r"heuristic\(Node\(.*\), 2\) is inf"),
        (Turned, r"value_range\(Node\(.*layer=2.*\) is \(1\.0, 0\.0\)"),
        (Swapping, r"swaps the players"),
    ],
)
def test_wrong_rules_are_named(kind, words):
    with pytest.raises(gamedp.InvalidModelError, match=words):
        gamedp.searchers.MaxN(depth=4).search(kind(seed=2), compile="never")


def test_the_result_shows_all_values():
    result = gamedp.searchers.MaxN().search(Mancala(players=3, pits=2, stones=1), compile="never")
    assert "values=[2.0, 2.0, 2.0]" in repr(result)
    assert isinstance(result, gamedp.SearchResult)


class Stop(NamedTuple):
    place: int


@attrs.frozen
class NearlyOne:
    """After a step: one for certain, or by chance ten units less, for which ten are allowed."""

    num_players = 2

    def initial_state(self):
        return Stop(0)

    def is_terminal(self, state):
        return state.place > 1

    def player(self, state):
        return 0

    def actions(self, state):
        yield 0
        if state.place == 1:
            yield 1

    def outcomes(self, state, action):
        if action == 0:
            yield 1.0, Stop(state.place + 1)
        else:
            yield 0.5, Stop(3)
            yield 0.5, Stop(4)

    def payoff(self, state, player):
        payoff = 1.0 if state.place == 2 else 1.0 - 10 * 2.0**-53
        return payoff if player == 0 else -payoff


@pytest.mark.parametrize("mode", ["always", "never"])
def test_what_another_action_may_be_worth_is_rounded_up(mode):
    """A sum of the score and its error that is just above one is not rounded to one."""
    result = gamedp.searchers.MaxN().search(NearlyOne(), compile=mode)
    assert 1.0 < result.upper < 1 + 1e-15
    assert -1 - 1e-15 < result.bounds(1)[0] < -1.0


def test_bounds_of_several_players_are_rounded_outward():
    (low, high), exact = ActionValues(0, (1.0, 0.75), (2.0**-55, 0.25), True).bounds()
    assert Fraction(low) <= 1 - Fraction(1, 2**55)
    assert 1 + Fraction(1, 2**55) <= Fraction(high)
    assert exact == (0.5, 1.0)


def test_what_each_player_gets_is_asked_for():
    result = gamedp.searchers.AlphaBeta(depth=2).search(Matches(matches=9), compile="never")
    low, high = result.bounds()
    assert result.value(player=1) == -result.value()
    assert result.bounds(player=1) == (-high, -low)
    for question in (result.value, result.bounds):
        with pytest.raises(gamedp.errors.UnknownNameError, match="there is no player 2"):
            question(player=2)
