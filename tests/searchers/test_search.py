"""Search: every method gives what plain minimax gives, and bounds that hold the truth."""

import math
import re
from fractions import Fraction
from typing import NamedTuple

import attrs
import numba
import pytest
from depth import first_of
from hypothesis import given, settings, strategies as st
from search_games import (
    Bounded,
    Earning,
    MadeUp,
    Mirrored,
    Node,
    assert_follows_best_play,
)
from shedding_games import Shedding

import gamedp
from gamedp.games.mancala import Mancala
from gamedp.games.matches import Matches, Nim
from gamedp.games.wubbel import Wubbel
from gamedp.rules.game import Rules
from gamedp.searchers import alpha_beta_loop, bound_rules, max_n, proof_number
from gamedp.tables import whole_numbers

large = pytest.mark.skipif(
    bool(numba.config.DISABLE_JIT), reason="the trees take a minute in plain Python"
)

KINDS = (MadeUp, Earning, Mirrored, Bounded)
TABLES = (0, 4000, 2**20)


def agree(game, depth, table_bytes, mode):
    plain = gamedp.searchers.Minimax(depth=depth).search(game, compile=mode)
    quick = gamedp.searchers.AlphaBeta(depth=depth, table_bytes=table_bytes).search(
        game, compile=mode
    )
    truth = gamedp.solve(game, compile=mode)
    assert quick.value() == pytest.approx(plain.value(), abs=1e-12)
    for result in (plain, quick):
        assert result.lower <= truth.value() <= result.upper
        for entry in result.actions:
            exact = {value.action: value.value for value in truth.action_values(result.state)}
            assert entry.lower - 1e-12 <= exact[entry.action] <= entry.upper + 1e-12
    assert quick.best_actions
    if not game.fine:
        assert set(quick.best_actions) <= set(plain.best_actions)
        if not quick.is_proven:
            assert quick.best_actions == plain.best_actions
    if depth is None:
        assert quick.status is gamedp.Status.SOLVED
        assert quick.upper - quick.lower <= 1e-12
        if not game.fine:
            assert list(quick.best_actions) == truth.best_actions(game.initial_state())
    return quick


@pytest.mark.slow
@pytest.mark.parametrize("kind", first_of(KINDS), ids=lambda kind: kind.__name__)
@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    fine=st.booleans(),
    layers=st.integers(2, 8),
    depth=st.one_of(st.none(), st.integers(1, 6)),
    table_bytes=st.sampled_from(TABLES),
)
def test_alpha_beta_is_minimax(kind, seed, fine, layers, depth, table_bytes):
    game = kind(seed=seed, fine=fine, layers=layers)
    agree(game, depth, table_bytes, "auto")


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_tests_that_go_to_the_ends_of_the_game(kind, monkeypatch):
    monkeypatch.setattr(kind, "acyclic", True, raising=False)  # its layers say so
    proofs = []
    for first_attempt in (10**9, 1, 60):
        monkeypatch.setattr("gamedp.searchers.alpha_beta.FIRST_ATTEMPT", first_attempt)
        found = []
        for seed in range(12):
            game = kind(seed=seed, fine=seed % 2 == 1, layers=6)
            result = agree(game, None, TABLES[seed % 3], "never")
            found.append((result.statistics.nodes, result.statistics.depth))
        proofs.append(found)
    assert proofs[0] != proofs[1] != proofs[2] != proofs[0]


@pytest.mark.parametrize("kind", first_of(KINDS, 2), ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("depth", [2, None])
def test_both_tiers_do_the_same_work(kind, depth):
    for seed in range(3):
        game = kind(seed=seed, layers=5)
        results = [
            gamedp.searchers.AlphaBeta(depth=depth).search(game, compile=mode)
            for mode in ("auto", "never")
        ]
        assert results[0].statistics.nodes == results[1].statistics.nodes
        assert results[0].actions == results[1].actions
        assert results[0].principal_variation == results[1].principal_variation


@pytest.mark.slow
@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="it is about compiled loops")
def test_loops_are_compiled_once_for_all_games():
    loops = {
        gamedp.searchers.AlphaBeta: alpha_beta_loop.alpha_beta_jit,
        gamedp.searchers.MaxN: max_n.max_n_jit,
        gamedp.searchers.ProofNumberSearch: proof_number.prove_jit,
    }
    for searcher, loop in loops.items():
        kinds = set()
        for game in (Mancala(pits=2, stones=1), Matches(matches=5)):
            searcher().search(game, compile="always")
            kinds.add(len(loop.overloads))
        assert len(kinds) == 1
    fills = set()
    for game in (Mancala(pits=2, stones=1), Shedding()):
        gamedp.tables.tabulate(game, last_tier=1, compile="always")
        fills.add(len(whole_numbers.value_chunks_jit.overloads))
    assert len(fills) == 1


def test_states_that_are_any_objects_are_searched_too():
    @attrs.frozen
    class Words:
        num_players = 2

        def initial_state(self):
            return ""

        def is_terminal(self, state):
            return len(state) == 4

        def player(self, state):
            return len(state) % 2

        def actions(self, state):
            yield from (0, 1)

        def outcomes(self, state, action):
            yield 1.0, state + "ab"[action]

        def payoff(self, state, player):
            worth = float(state.count("ab") - state.count("ba"))
            return worth if player == 0 else -worth

    result = gamedp.searchers.AlphaBeta().search(Words(), compile="never")
    assert result.value() == gamedp.solve(Words(), compile="never").value()
    assert result.is_proven
    assert len(result.principal_variation) == 4
    assert gamedp.searchers.perft(Words(), 4, compile="never").positions == (1, 2, 4, 8, 16)


@pytest.mark.parametrize("game", [Matches(matches=21), Nim((3, 4, 5)), Nim((1, 2, 3), misere=True)])
def test_the_article_games_are_proven(game):
    truth = gamedp.solve(game)
    result = gamedp.searchers.AlphaBeta().search(game)
    assert (result.lower, result.upper) == (truth.value(), truth.value())


@pytest.mark.parametrize("matches", [1, 2])
def test_what_the_first_moves_show_is_a_depth_of_one(matches):
    result = gamedp.searchers.AlphaBeta().search(Matches(matches=matches), compile="never")
    assert result.is_proven
    assert result.statistics.depth == matches


class TestLines:
    def test_best_play_reaches_the_value(self):
        game = Mancala(pits=3, stones=2)
        result = gamedp.searchers.AlphaBeta().search(game)
        state = game.initial_state()
        for action, following in result.principal_variation:
            assert (1.0, following) in list(game.outcomes(state, action))
            state = following
        assert game.is_terminal(state)
        assert game.payoff(state, 0) == result.value()

    @pytest.mark.parametrize("depth", [1, 4, 7])
    def test_it_is_as_long_as_the_search_was_deep(self, depth):
        result = gamedp.searchers.AlphaBeta(depth=depth).search(Mancala(pits=4, stones=4))
        assert len(result.principal_variation) == depth

    @pytest.mark.parametrize("depth", [1, 3, 5, None])
    @pytest.mark.parametrize("compile", ["auto", "never"])
    def test_plain_minimax_follows_best_play(self, depth, compile):
        game = Mancala(pits=3, stones=1)
        result = gamedp.searchers.Minimax(depth=depth).search(game, compile=compile)
        assert_follows_best_play(game, result, depth)

    def test_the_line_of_plain_minimax_ends_where_dice_are_thrown(self):
        game = Wubbel(goal=2, faces=2, busts=(2,), grace=True)
        assert (
            gamedp.searchers.Minimax(depth=2).search(game, compile="never").principal_variation
            == ()
        )

    def test_a_limit_cuts_the_line_off_and_nothing_else(self):
        game = Mancala(pits=4, stones=4)
        whole = gamedp.searchers.Minimax(depth=5).search(game)
        nodes = whole.statistics.nodes
        short = gamedp.searchers.Minimax(depth=5, max_nodes=nodes).search(game)
        assert short.statistics.nodes == nodes
        assert short.value() == whole.value()
        length = len(short.principal_variation)
        assert 0 < length < len(whole.principal_variation) == 5
        assert short.principal_variation == whole.principal_variation[:length]

    def test_the_same_player_may_move_again_without_costing_depth(self):
        game = Mancala.kalah(pits=4, stones=3)
        plain = gamedp.searchers.AlphaBeta(depth=4).search(game)
        extended = gamedp.searchers.AlphaBeta(depth=4, extends=True).search(game)
        assert len(extended.principal_variation) > len(plain.principal_variation)
        assert extended.statistics.nodes > plain.statistics.nodes


class TestLimits:
    def test_nodes(self):
        result = gamedp.searchers.AlphaBeta(max_nodes=5000).search(Mancala(stones=4))
        assert result.status is gamedp.Status.NODE_LIMIT
        assert result.statistics.nodes < 2 * 5000
        assert result.lower < result.upper
        assert result.best_actions

    def test_time(self):
        result = gamedp.searchers.AlphaBeta(max_seconds=0.3).search(Mancala(stones=4))
        assert result.status is gamedp.Status.TIME_LIMIT
        assert result.best_actions

    def test_a_stop_before_anything_is_known_claims_nothing(self):
        result = gamedp.searchers.AlphaBeta(max_nodes=1).search(Mancala(stones=4))
        assert not result.has_value
        assert result.value() == 0.0
        assert all(entry.value <= entry.upper for entry in result.actions)
        assert {entry.bound for entry in result.actions} == {"at least"}
        assert result.best_actions == ()
        assert result.lower < 0 < result.upper

    def test_minimax_without_a_depth_says_how_deep_the_game_is(self):
        for matches, plies in ((1, 1), (2, 2), (7, 7)):
            result = gamedp.searchers.Minimax().search(Matches(matches=matches), compile="never")
            assert result.statistics.depth == plies

    def test_minimax_claims_nothing_either(self):
        result = gamedp.searchers.Minimax(depth=9, max_nodes=100).search(Mancala(stones=4))
        assert result.status is gamedp.Status.NODE_LIMIT
        assert not result.has_value
        assert (result.value(), result.statistics.depth) == (0.0, 0)

    def test_perft_says_how_far_it_got(self):
        with pytest.raises(gamedp.errors.LimitExceededError, match="positions"):
            gamedp.searchers.perft(Mancala(), 12, max_seconds=0.05)

    def test_progress_is_reported(self):
        seen = []
        gamedp.searchers.AlphaBeta(max_seconds=0.5).search(Mancala(stones=4), progress=seen.append)
        assert seen
        assert re.search("(depth .*|to the end), [0-9,]+ nodes", seen[-1].detail)

    @pytest.mark.parametrize("options", [{"depth": 0}, {"max_nodes": 0}, {"max_seconds": -1.0}])
    def test_options_are_checked(self, options):
        with pytest.raises(gamedp.errors.InvalidParameterError):
            gamedp.searchers.AlphaBeta(**options)


class TestRefusals:
    def test_chance(self):
        with pytest.raises(gamedp.UnsupportedProblemError, match="more than one outcome"):
            gamedp.searchers.AlphaBeta(depth=3).search(Wubbel(goal=10))

    def test_chance_further_on(self):
        @attrs.frozen
        class Late(MadeUp):
            def outcomes(self, state, action):
                if state.layer < 2:
                    yield 1.0, Node(1 - state.player, state.layer + 1, action)
                else:
                    yield 0.5, Node(0, state.layer + 1, 0)
                    yield 0.5, Node(1, state.layer + 1, 1)

            def is_terminal(self, state):
                return state.layer >= self.layers

        with pytest.raises(gamedp.UnsupportedProblemError, match=r"layer=2"):
            gamedp.searchers.AlphaBeta(depth=5).search(Late(layers=5), compile="never")

    def test_three_players(self):
        with pytest.raises(gamedp.UnsupportedProblemError, match="MaxN"):
            gamedp.searchers.AlphaBeta(depth=3).search(Mancala(players=3))

    @pytest.mark.parametrize("mode", first_of(["never", "auto"]))
    def test_a_range_without_a_number_in_it(self, mode):
        @attrs.frozen
        class Wrong(MadeUp):
            def value_range(self, state, player):
                return (1.0, -1.0) if state.layer == 2 else (-9.0, 9.0)

        with pytest.raises(gamedp.InvalidModelError, match="value_range"):
            gamedp.searchers.AlphaBeta(depth=6).search(Wrong(seed=3), compile=mode)

    @pytest.mark.parametrize(
        "searcher", [gamedp.searchers.AlphaBeta(depth=6), gamedp.searchers.Minimax(depth=6)]
    )
    def test_rules_that_lead_nowhere(self, searcher):
        @attrs.frozen
        class Stuck(MadeUp):
            def actions(self, state):
                for action in range(2 if state.layer < 3 else 0):  # noqa: UP028 - numba has none
                    yield action

            def is_terminal(self, state):
                return state.layer >= self.layers

        with pytest.raises(gamedp.InvalidModelError, match="no actions"):
            searcher.search(Stuck(seed=1), compile="auto")


def test_a_game_that_is_over_is_worth_its_payoff():
    game = Matches(matches=3)
    over = next(state for _, state in game.outcomes(game.initial_state(), 3))
    result = gamedp.searchers.AlphaBeta().search(game, over)
    assert result.is_proven
    assert result.value() == game.payoff(over, 0)
    assert result.actions == ()


@attrs.frozen
class LongWay:
    """One step after the other; the payoff says how many there were."""

    steps: int = 12_000
    num_players = 2

    def initial_state(self):
        return Node(0, 0, 0)

    def is_terminal(self, state):
        return state.layer == self.steps

    def player(self, state):
        return state.player

    def actions(self, state):
        yield 0
        if state.layer % 1000 == 0 and state.place == 0:
            yield 1

    def outcomes(self, state, action):
        yield 1.0, Node(1 - state.player, state.layer + 1, max(state.place, action))

    def payoff(self, state, player):
        return float(state.layer if player == 0 else -state.layer)


def test_a_game_of_many_thousand_plies_needs_no_stack_of_pythons():
    game = LongWay()
    assert gamedp.searchers.Minimax().search(game).value() == 12_000
    far = gamedp.searchers.AlphaBeta(depth=11_000, max_seconds=20.0)
    assert far.search(game, Node(0, 11_990, 0)).value() == 12_000


class Digits(NamedTuple):
    player: int
    number: int


@attrs.frozen
class LargeNumbers:
    """Two players make a number grow to 25 digits; a remainder of it is the payoff."""

    num_players = 2

    def initial_state(self):
        return Digits(0, 10**21)

    def is_terminal(self, state):
        return state.number >= 10**24

    def player(self, state):
        return state.player

    def actions(self, state):
        return range(1, 8, 3)

    def outcomes(self, state, action):
        yield 1.0, Digits(1 - state.player, action * state.number * 10 % 10**25 + action)

    def payoff(self, state, player):
        remainder = float(state.number % 17)
        return remainder if player == 0 else -remainder


@pytest.mark.parametrize("searcher", [gamedp.searchers.Minimax(), gamedp.searchers.AlphaBeta()])
def test_plain_python_computes_beyond_64_bits(searcher):
    truth = gamedp.solve(LargeNumbers(), compile="never").value()
    result = searcher.search(LargeNumbers(), compile="never")
    assert result.lower == result.value() == result.upper == truth


class Step(NamedTuple):
    place: int


@attrs.frozen
class Path:
    """One way, on which player 0 alone moves: what that earns is added up."""

    rewards: tuple = (0.0, 0.0, 0.0)
    last: float = 0.0
    constant_sum: float = 0.0
    num_players = 2

    def initial_state(self):
        return Step(0)

    def is_terminal(self, state):
        return state.place == len(self.rewards)

    def player(self, state):
        return 0

    def actions(self, state):
        yield 0

    def outcomes(self, state, action):
        yield 1.0, Step(state.place + 1)

    def reward(self, state, action, player):
        reward = self.rewards[state.place]
        return reward if player == 0 else -reward

    def payoff(self, state, player):
        return self.last if player == 0 else self.constant_sum - self.last


SUMS = [
    ((0.1, 0.2, 0.0), 0.0, 0.0),
    ((0.1, 0.0, 0.0), 0.2, 0.0),
    ((0.3, 0.1, 0.2), 0.0, 0.0),
    ((1.0, 1e17, 0.0), 0.0, 0.0),
    ((0.0, 1.0, 0.0), 1e17, 0.0),
    ((0.0, 0.0, 1.0), 1e17, 0.0),
    ((0.0, 0.0, 0.0), 0.1, 1.0),
    ((0.0, 0.0, 0.0), 8.1, 0.6),
    ((0.0, 0.2, 0.0), 0.1, 0.3),
    ((0.0, 0.0, 1e-17), 1.0, 2.0),
    ((3.0, 0.0, 1.0), 2.0, 0.0),
    ((3.0, -0.25, 1.0), 2.0, 1.0),
]
EXACT = SUMS[-2:]


@pytest.mark.parametrize("mode", first_of(["never", "always"]))
@pytest.mark.parametrize(
    "searcher",
    [gamedp.searchers.Minimax(), gamedp.searchers.AlphaBeta(), gamedp.searchers.Expectiminimax()],
)
def test_bounds_hold_what_rounding_loses(searcher, mode):
    for rewards, last, constant_sum in SUMS:
        game = Path(rewards, last, constant_sum)
        result = searcher.search(game, compile=mode)
        truth = sum(map(Fraction, rewards)) + Fraction(last)
        assert Fraction(result.lower) <= truth <= Fraction(result.upper), game
        (action,) = result.actions
        assert Fraction(action.lower) <= truth <= Fraction(action.upper), game
        assert result.upper - result.lower <= 1e-12 * max(1, abs(truth))
        assert result.is_proven or (rewards, last, constant_sum) not in EXACT


@attrs.frozen
class Known(Path):
    """After a step, the rules say what it is worth, or what it is worth at least."""

    value: float = -1e-20
    room: float = 0.0

    def value_range(self, state, player):
        if state.place == 0:
            return -math.inf, math.inf
        if player == 0:
            return self.value, self.value + self.room
        return self.constant_sum - self.value - self.room, self.constant_sum - self.value

    def heuristic(self, state, player):
        return 0.0


@pytest.mark.parametrize("mode", first_of(["never", "always"]))
@pytest.mark.parametrize("room", [0.0, 3.0])
@pytest.mark.parametrize(
    "searcher",
    [
        gamedp.searchers.Minimax(depth=1),
        gamedp.searchers.AlphaBeta(depth=1),
        gamedp.searchers.Expectiminimax(depth=1),
    ],
)
def test_ranges_that_half_the_sum_rounds(searcher, room, mode):
    """What is left of -1e-20 once one is taken off is -1, and zero once it is added again."""
    game = Known(constant_sum=2.0, last=-1e-20, room=room)
    result = searcher.search(game, compile=mode)
    for found in (result, *result.actions):
        assert found.lower <= -1e-20 <= found.upper


@large
def test_work_is_saved():
    game = Mancala(stones=4)
    plain = gamedp.searchers.Minimax(depth=7).search(game).statistics.nodes
    pruned = gamedp.searchers.AlphaBeta(depth=7, table_bytes=0).search(game).statistics.nodes
    tabled = gamedp.searchers.AlphaBeta(depth=7).search(game).statistics.nodes
    assert pruned < plain / 8
    assert tabled < pruned
    assert tabled < plain / 10


@large
def test_settled_scores_are_shared_between_positions():
    with_stop = gamedp.searchers.AlphaBeta().search(Mancala(pits=4, stones=2))
    without = gamedp.searchers.AlphaBeta().search(Mancala(pits=4, stones=2, majority_stop=False))
    assert with_stop.value() == without.value() == 0.0
    assert without.statistics.nodes < with_stop.statistics.nodes


class TestPerft:
    def test_the_rules_lead_where_they_should(self):
        found = gamedp.searchers.perft(Mancala(stones=3), 6)
        assert found.positions == (1, 6, 36, 183, 939, 4422, 21121)
        assert not any(found.ended)

    def test_chance_counts_every_outcome(self):
        found = gamedp.searchers.perft(Wubbel(goal=12), 4)
        assert found.positions == (1, 6, 41, 276, 1721)
        assert found == attrs.evolve(gamedp.searchers.perft(Wubbel(goal=12), 4, compile="never"),
                                     seconds=found.seconds)  # fmt: skip

    def test_depth_nothing(self):
        assert gamedp.searchers.perft(Mancala(), 0).positions == (1,)

    def test_depth_is_checked(self):
        with pytest.raises(gamedp.errors.InvalidParameterError, match="depth"):
            gamedp.searchers.perft(Mancala(), -1)


@pytest.mark.parametrize(
    ("pits", "stones"), [(3, 2), (4, 1), pytest.param(4, 2, marks=pytest.mark.deep)]
)
def test_one_best_action_leaves_open_what_is_not_known_of_the_others(pits, stones):
    game = Mancala(pits, stones)
    solution = gamedp.solve(game)
    truth = {worth.action: worth.value for worth in solution.action_values(game.initial_state())}
    result = gamedp.searchers.AlphaBeta(all_best=False).search(game)
    assert result.value() == max(truth.values())
    assert {truth[action] for action in result.best_actions} == {result.value()}
    for entry in result.actions:
        assert entry.lower <= truth[entry.action] <= entry.upper
        assert entry.value >= truth[entry.action]
        assert entry.bound == "at most" or entry.value == truth[entry.action]


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="it is about compiled rules")
def test_a_search_without_tables_hands_on_no_fields_of_theirs():
    """Every call of a method copies all fields, an array's as many words."""
    game = Mancala(pits=2, stones=2)
    rules, state = Rules(game), game.initial_state()
    fields = []
    for with_endings in (True, False):
        found = bound_rules.search_rules(
            rules,
            state,
            alpha_beta_loop.alpha_beta_jit,
            lambda _: None,
            compile="always",
            with_endings=with_endings,
        )
        fields.append({name for name, _ in found.game.numba_type.fields})
    assert fields[1] < fields[0]


@pytest.mark.parametrize("table_bytes", [-1, math.nan, math.inf, 1e18, "much"])
@pytest.mark.parametrize(
    "searcher",
    [
        gamedp.searchers.AlphaBeta,
        gamedp.searchers.Expectiminimax,
        gamedp.searchers.ProofNumberSearch,
    ],
)
def test_a_table_has_as_many_bytes_as_are_free(searcher, table_bytes):
    with pytest.raises(gamedp.errors.InvalidParameterError, match="table_bytes is"):
        searcher(table_bytes=table_bytes).search(Matches(matches=5), compile="never")
