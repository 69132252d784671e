"""Search of games with chance: what it finds is what plain minimax finds, whatever is left out."""

import math
from typing import NamedTuple

import attrs
import numba
import pytest
from depth import first_of
from hypothesis import example, given, settings, strategies as st
from search_games import (
    Bounded,
    Dicey,
    DiceyAlone,
    DiceyBounded,
    DiceyClamped,
    DiceyEarning,
    DiceyMirrored,
    DiceyMirroredBounded,
    DiceyPartly,
    DiceySum,
    Mirrored,
    Race,
    assert_follows_best_play,
)

import gamedp
from gamedp.games.mancala import Mancala
from gamedp.games.wubbel import State, Wubbel
from gamedp.searchers import expectiminimax, expectiminimax_loop as loop
from gamedp.searchers.node_loop import ESTIMATE
from gamedp.searchers.root import root_of
from gamedp.searchers.stacks import LOWER, UPPER

GAMES = (
    Bounded,
    Dicey,
    DiceyAlone,
    DiceyBounded,
    DiceyClamped,
    DiceyEarning,
    DiceyMirrored,
    DiceyMirroredBounded,
    DiceyPartly,
    DiceySum,
    Mirrored,
)
COMPILED = (DiceyClamped, DiceyPartly, DiceySum)
PRUNINGS = ("none", "star1", "star2")
TABLES = (0, 400, 2**20)
ROUNDING = 1e-12


def agrees_with_minimax(game, depth, pruning, table_bytes, compile):
    """Compare a search with plain minimax to the same depth, and its bounds with the truth."""
    plain = gamedp.searchers.Minimax(depth=depth).search(game, compile=compile)
    # Made-up ranges that overrule what is found below them bound no true value.
    has_truth = not isinstance(game, DiceyClamped)
    searcher = gamedp.searchers.Expectiminimax(
        depth=depth, pruning=pruning, table_bytes=table_bytes, bounds=has_truth
    )
    found = searcher.search(game, compile=compile)
    assert found.value() == pytest.approx(plain.value(), rel=0, abs=ROUNDING)
    assert [entry.action for entry in found.actions] == [entry.action for entry in plain.actions]
    for entry, other in zip(found.actions, plain.actions, strict=True):
        assert entry.bound != "at least" or entry.value <= other.value + ROUNDING
        assert entry.bound != "at most" or entry.value >= other.value - ROUNDING
        assert entry.bound != "exact" or abs(entry.value - other.value) <= ROUNDING
    sign = 1 if game.player(game.initial_state()) == 0 else -1
    best = max(sign * entry.value for entry in plain.actions)
    expected = {entry.action for entry in plain.actions if sign * entry.value >= best - ROUNDING}
    assert expected & set(found.best_actions)
    for entry in found.actions:  # one of them is left out only where rounding makes it worse
        if entry.action in expected - set(found.best_actions):
            assert 0 < abs(entry.value - found.value()) <= ROUNDING
    for entry in found.actions:  # another one only where no more is known than that
        if entry.action in set(found.best_actions) - expected:
            assert entry.bound != "exact"
            assert abs(entry.value - found.value()) <= ROUNDING
    if has_truth:
        truth = gamedp.searchers.Minimax().search(game, compile=compile)
        assert found.lower <= truth.upper
        assert truth.lower <= found.upper
        for entry, other in zip(found.actions, truth.actions, strict=True):
            assert entry.lower <= other.upper
            assert other.lower <= entry.upper
    if depth is None:
        assert found.status is gamedp.Status.SOLVED
        assert found.upper - found.lower < 1e-9
    return found


@pytest.mark.slow
@pytest.mark.parametrize("pruning", PRUNINGS)
@pytest.mark.parametrize("kind", GAMES, ids=lambda kind: kind.__name__)
@settings(deadline=None, max_examples=25)
@given(
    seed=st.integers(0, 10**6),
    depth=st.sampled_from([1, 2, 3, 4, None]),
    table_bytes=st.sampled_from(TABLES),
)
@example(seed=768, depth=1, table_bytes=0)  # of the sums, two actions are as good but for rounding
def test_it_finds_what_plain_minimax_finds(kind, pruning, seed, depth, table_bytes):
    agrees_with_minimax(kind(seed=seed, layers=4, width=3), depth, pruning, table_bytes, "never")


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="it is about compiled loops")
@pytest.mark.parametrize("kind", first_of(COMPILED), ids=lambda kind: kind.__name__)
def test_compiled_it_finds_the_same(kind):
    for seed in range(6):
        for depth in (1, 2, 4, 6, None):
            for pruning in PRUNINGS:
                for table_bytes in TABLES:
                    agrees_with_minimax(
                        kind(seed=seed, layers=6), depth, pruning, table_bytes, "auto"
                    )


@pytest.mark.deep
@pytest.mark.parametrize("depth", [4, 8])
def test_bounds_contain_the_value_of_a_game_that_may_go_on_for_ever(depth):
    game = Wubbel(goal=10)
    solution = gamedp.solve(game, tolerance=1e-10)
    results = [
        gamedp.searchers.Expectiminimax(
            depth=depth, pruning=pruning, table_bytes=table_bytes
        ).search(game)
        for pruning in PRUNINGS
        for table_bytes in (0, 2**22)
        if depth == 4 or table_bytes > 0
    ]
    low, high = solution.bounds()
    for result in results:
        assert result.lower <= low
        assert high <= result.upper
        assert result.lower < result.value() < result.upper
        assert result.value() == pytest.approx(results[0].value(), rel=0, abs=ROUNDING)
        assert result.upper - result.lower < {4: 0.6, 8: 0.2}[depth]
        assert result.status is gamedp.Status.DEPTH_LIMIT
    without = gamedp.searchers.Expectiminimax(depth=depth, bounds=False).search(game)
    assert without.value() == pytest.approx(results[0].value(), rel=0, abs=ROUNDING)
    assert (without.lower, without.upper) == pytest.approx((0, 1))


@pytest.mark.parametrize("goal", [2, 5, 12])
@pytest.mark.parametrize("pruning", PRUNINGS)
def test_a_game_that_ends_is_solved(goal, pruning):
    game = Wubbel(goal=goal, grace=True)
    solution = gamedp.solve(game)
    low, high = solution.bounds()
    result = gamedp.searchers.Expectiminimax(pruning=pruning).search(game)
    assert result.lower <= high
    assert low <= result.upper
    assert result.upper - result.lower < 1e-9
    assert result.best_actions == tuple(solution.best_actions(game.initial_state()))
    assert result.status is gamedp.Status.SOLVED
    middle = State(player=1, own=0, opponent=goal - 1, turn=1)
    low, high = solution.bounds(middle)
    result = gamedp.searchers.Expectiminimax(pruning=pruning).search(game, middle)
    assert result.lower <= high
    assert low <= result.upper


@pytest.mark.deep
def test_what_is_left_out_saves_work():
    nodes = {
        pruning: [
            gamedp.searchers.Expectiminimax(depth=3, pruning=pruning, table_bytes=0, bounds=False)
            .search(Race(moves=moves, faces=faces))
            .statistics.nodes
            for moves in (3, 5, 6)
            for faces in (2, 4, 6)
        ]
        for pruning in PRUNINGS
    }
    assert sum(nodes["star2"]) < 0.9 * sum(nodes["star1"])
    assert sum(nodes["star1"]) < 0.9 * sum(nodes["none"])


@pytest.mark.deep
def test_star2_needs_no_ranges():
    games = [Dicey(seed=seed, layers=6, keeps=False) for seed in range(20)]

    def nodes(pruning):
        searcher = gamedp.searchers.Expectiminimax(depth=5, pruning=pruning, table_bytes=0)
        return sum(searcher.search(game).statistics.nodes for game in games)

    assert nodes("star2") < nodes("none")


def test_a_table_saves_work():
    game = Race()
    results = [
        gamedp.searchers.Expectiminimax(depth=4, table_bytes=table_bytes).search(game)
        for table_bytes in (0, 2**20)
    ]
    assert results[0].value() == pytest.approx(results[1].value(), rel=0, abs=1e-10)
    assert results[1].statistics.nodes < results[0].statistics.nodes
    assert results[1].statistics.table_hits > 0


def test_bounds_close_in_with_the_depth():
    game = Race(turns=4)
    results = [
        gamedp.searchers.Expectiminimax(depth=depth).search(game, compile="never")
        for depth in range(1, 6)
    ]
    widths = [result.upper - result.lower for result in results]
    assert widths == sorted(widths, reverse=True)
    assert widths[0] > 1
    assert widths[-1] < 1e-9
    assert results[-1].status is gamedp.Status.SOLVED
    assert results[-1].statistics.depth == 4


@pytest.mark.slow
@pytest.mark.parametrize("kind", GAMES, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("pruning", ["star1", "star2"])
def test_what_a_window_cuts_off_is_never_called_exact(kind, pruning):
    kinds = set()
    for seed in range(4):
        game = kind(seed=seed, layers=4, width=3)
        for depth in (1, 3, loop.UNLIMITED):
            plies = None if depth == loop.UNLIMITED else depth
            plain = gamedp.searchers.Minimax(depth=plies).search(game, compile="never")
            truth = gamedp.searchers.Minimax().search(game, compile="never")
            root = root_of(game, None, "Expectiminimax", with_chance=True)
            options = gamedp.searchers.Expectiminimax(depth=plies, pruning=pruning)
            search = expectiminimax.ExpectiminimaxSearch(
                options, root, "never", None, to_the_end=plies is None
            )
            for alpha in (-math.inf, -4.0, -1.0, 0.0, 0.5, 1.0, 4.0):
                for entry, true in zip(plain.actions, truth.actions, strict=True):
                    found = search._search(entry.action, depth, ESTIMATE, alpha)
                    score, what, is_true = found
                    kinds.add(what)
                    for value in (entry.value, true.value) if is_true else (entry.value,):
                        # Both are the mover's, half of the constant sum off.
                        expected = root.value(value) if root.player else value - root.half
                        low = score if what & LOWER else -math.inf
                        high = score if what & UPPER else math.inf
                        assert low - ROUNDING <= expected <= high + ROUNDING
                    if score > alpha:
                        assert what & LOWER
    assert LOWER | UPPER in kinds
    if kind in {Bounded, DiceyBounded, DiceyMirroredBounded}:  # others know no bounds to cut with
        assert UPPER in kinds


@pytest.mark.parametrize("depth", [1, 3, 5, None])
@pytest.mark.parametrize("compile", first_of(["never", "auto"]))
def test_the_line_is_best_play_where_there_are_no_dice(depth, compile):
    game = Mancala(pits=3, stones=1)
    result = gamedp.searchers.Expectiminimax(depth=depth).search(game, compile=compile)
    assert_follows_best_play(game, result, depth)


def test_the_line_ends_where_dice_are_thrown():
    certain = 0
    for seed in range(12):
        game = Dicey(seed=seed, layers=4, width=3)
        result = gamedp.searchers.Expectiminimax().search(game, compile="never")
        state = game.initial_state()
        for action, following in result.principal_variation:
            assert [pair for pair in game.outcomes(state, action) if pair[0] > 0] == [
                (1.0, following)
            ]
            state = following
            certain += 1
        if not game.is_terminal(state):
            later = gamedp.searchers.Expectiminimax().search(game, state, compile="never")
            assert later.value() == pytest.approx(result.value(), rel=0, abs=ROUNDING)
            assert later.principal_variation == ()
    assert certain > 0


@pytest.mark.deep
def test_limits_leave_the_last_depth_that_was_finished():
    game = Race()
    whole = gamedp.searchers.Expectiminimax(depth=6).search(game, compile="never")
    seen = []
    part = gamedp.searchers.Expectiminimax(depth=6, max_nodes=whole.statistics.nodes // 3).search(
        game, compile="never", progress=seen.append
    )
    assert part.status is gamedp.Status.NODE_LIMIT
    assert 0 < part.statistics.depth < 6
    assert part.lower <= whole.value() <= part.upper
    again = gamedp.searchers.Expectiminimax(depth=part.statistics.depth).search(
        game, compile="never"
    )
    assert again.value() == pytest.approx(part.value(), rel=0, abs=1e-10)


def test_without_any_depth_finished_the_value_is_the_estimate():
    game = Race()
    result = gamedp.searchers.Expectiminimax(depth=6, max_nodes=1).search(game, compile="never")
    assert not result.has_value
    assert result.value() == game.heuristic(game.initial_state(), 0)
    assert result.best_actions == result.actions == ()
    assert (result.lower, result.upper) == pytest.approx((-66, 66))
    assert result.status is gamedp.Status.NODE_LIMIT


def test_with_a_limit_it_deepens_though_positions_come_again():
    game = Wubbel(goal=12)
    result = gamedp.searchers.Expectiminimax(max_nodes=3000).search(game, compile="never")
    assert result.status is gamedp.Status.NODE_LIMIT
    depth = result.statistics.depth
    assert depth > 1
    same = gamedp.searchers.Expectiminimax(depth=depth).search(game, compile="never")
    assert (result.value(), result.best_actions) == (same.value(), same.best_actions)
    assert same.has_value
    assert result.has_value
    with pytest.raises(gamedp.UnsupportedProblemError, match="a depth or a limit"):
        gamedp.searchers.Expectiminimax().search(game, compile="never")


def test_with_a_limit_it_ends_once_it_has_seen_the_end():
    game = Race(turns=3)
    alone = gamedp.searchers.Expectiminimax().search(game, compile="never")
    result = gamedp.searchers.Expectiminimax(max_nodes=1e9).search(game, compile="never")
    assert result.status is alone.status is gamedp.Status.SOLVED
    assert result.value() == pytest.approx(alone.value(), rel=0, abs=ROUNDING)


def test_time_is_a_limit():
    result = gamedp.searchers.Expectiminimax(depth=6, max_seconds=1e-9).search(
        Race(), compile="never"
    )
    assert result.statistics.depth < 6
    assert result.status is gamedp.Status.TIME_LIMIT


def test_time_is_a_limit_where_each_depth_takes_a_moment():
    # The game may go on for ever, and a deeper search of it is over before a slice of its work is.
    searcher = gamedp.searchers.Expectiminimax(max_seconds=0.3)
    result = searcher.search(Wubbel(goal=20))
    assert result.status is gamedp.Status.TIME_LIMIT
    assert result.lower < result.upper


def test_progress_is_told(monkeypatch):
    monkeypatch.setattr("gamedp.runtime.limit.INTERVAL", 0.0)
    seen = []
    gamedp.searchers.Expectiminimax(depth=4, pruning="none").search(
        Race(), compile="never", progress=seen.append
    )
    assert seen
    assert all("depth" in progress.detail for progress in seen)


def test_a_game_that_is_over_has_its_payoff():
    game = Wubbel(goal=5)
    result = gamedp.searchers.Expectiminimax().search(game, State(1, 3, 0, 2), compile="never")
    assert (result.lower, result.value(), result.upper) == (0, 0, 0)
    assert result.actions == ()


class Place(NamedTuple):
    number: int


@attrs.frozen
class Line:
    """One player goes from 0 to the last place; what happens on the way is for others to say."""

    last: int = 3
    num_players = 1

    def initial_state(self):
        return Place(0)

    def is_terminal(self, state):
        return state.number >= self.last

    def actions(self, state):
        yield 0

    def outcomes(self, state, action):
        yield 1.0, Place(state.number + 1)

    def payoff(self, state, player):
        return 1.0


@attrs.frozen
class Long(Line):
    """Longer than the stack at first, with many actions and outcomes."""

    last: int = 300

    def actions(self, state):
        for action in range(1 if state.number % 100 else 1500):  # noqa: UP028 - numba has none
            yield action

    def outcomes(self, state, action):
        many = 1 if action != 7 else 1200
        for _ in range(many):
            yield 1.0 / many, Place(state.number + 1)


@attrs.frozen
class Tied(Line):
    """Two actions of the same worth, which two sums round in different ways; one that is less."""

    def actions(self, state):
        yield 0
        yield 1
        yield 2

    def outcomes(self, state, action):
        if action == 0:
            for _ in range(10):
                yield 0.1, Place(10)
        elif action == 1:
            yield 1.0, Place(10)
        else:
            yield 1.0, Place(9)

    def payoff(self, state, player):
        return state.number * 0.1


@attrs.frozen
class Unlikely(Line):
    """Outcomes that hardly ever come, and ranges without end; nothing here is to become NaN."""

    def actions(self, state):
        yield 0
        yield 1

    def outcomes(self, state, action):
        yield 1e-300, Place(state.number + 1)
        yield 1.0 if action else 0.5, Place(state.number + 2)
        if not action:
            yield 0.5, Place(state.number + 1)

    def payoff(self, state, player):
        return float(state.number)

    def value_range(self, state, player):
        if state.number == 1:
            return 2.0, float("inf")
        return -float("inf"), float("inf")


@attrs.frozen
class Huge(Line):
    """Numbers near the largest ones."""

    def actions(self, state):
        yield 0
        yield 1

    def outcomes(self, state, action):
        yield 0.5, Place(state.number + 1)
        yield 0.5, Place(state.number + 2)

    def payoff(self, state, player):
        return 1e300 if state.number == 3 else -1e300

    def value_range(self, state, player):
        return -1e300, 1e300


@pytest.mark.parametrize("compile", first_of(["never", "auto"]))
@pytest.mark.parametrize("pruning", first_of(PRUNINGS))
def test_the_stacks_grow(compile, pruning):
    result = gamedp.searchers.Expectiminimax(pruning=pruning).search(Long(), compile=compile)
    assert result.value() == pytest.approx(1)
    assert result.statistics.depth == 300
    assert len(result.best_actions) == 1500


@pytest.mark.parametrize("pruning", PRUNINGS)
def test_what_only_rounding_tells_apart_is_equally_good(pruning):
    result = gamedp.searchers.Expectiminimax(pruning=pruning).search(Tied(), compile="never")
    values = {entry.action: entry.value for entry in result.actions}
    assert values[0] != values[1]
    assert result.best_actions == (0, 1)
    assert result.lower < 1 < result.upper


@pytest.mark.parametrize("pruning", PRUNINGS)
@pytest.mark.parametrize("kind", [Unlikely, Huge])
@pytest.mark.parametrize("depth", [1, 2, 3, None])
def test_extreme_numbers_do_no_harm(pruning, kind, depth):
    game = kind()
    result = gamedp.searchers.Expectiminimax(depth=depth, pruning=pruning).search(
        game, compile="never"
    )
    plain = gamedp.searchers.Minimax(depth=depth).search(game, compile="never")
    assert result.value() == pytest.approx(plain.value())
    truth = gamedp.searchers.Minimax().search(game, compile="never").value()
    assert result.lower <= truth <= result.upper


@attrs.frozen
class Improbable(Line):
    def outcomes(self, state, action):
        yield 1.0 if state.number < 2 else 0.9, Place(state.number + 1)


@attrs.frozen
class Guessless(Line):
    def heuristic(self, state, player):
        return float("nan") if state.number == 2 else 0.0


@attrs.frozen
class Turned(Line):
    def value_range(self, state, player):
        return (0.0, 1.0) if state.number < 2 else (1.0, 0.0)


@attrs.frozen
class Endless(Line):
    def payoff(self, state, player):
        return float("inf")


@attrs.frozen
class Strange(Line):
    def player(self, state):
        return 0 if state.number < 2 else 1


@attrs.frozen
class Stuck(Line):
    def actions(self, state):
        if state.number < 2:
            yield 0


@attrs.frozen
class Raising(Line):
    def outcomes(self, state, action):
        if state.number == 2:
            raise ZeroDivisionError
        yield 1.0, Place(state.number + 1)


@pytest.mark.parametrize(
    ("kind", "depth", "error", "words"),
    [
        (Improbable, None, gamedp.InvalidModelError, r"action 0 in Place\(number=2\) .* 0\.9"),
        (Guessless, 2, gamedp.InvalidModelError, r"heuristic\(Place\(number=2\), 0\) is nan"),
        (Turned, None, gamedp.InvalidModelError, r"value_range\(Place\(number=2\), 0\)"),
        (Endless, None, gamedp.InvalidModelError, r"payoff\(Place\(number=3\), 0\) is inf"),
        (Strange, None, gamedp.InvalidModelError, r"player\(Place\(number=2\)\) is 1"),
        (Stuck, None, gamedp.InvalidModelError, r"Place\(number=2\) has no actions"),
        (Raising, None, ZeroDivisionError, None),
    ],
)
def test_wrong_rules_are_named(kind, depth, error, words):
    with pytest.raises(error, match=words):
        gamedp.searchers.Expectiminimax(depth=depth).search(kind(), compile="never")


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        (Improbable, gamedp.InvalidModelError),
        pytest.param(Raising, ZeroDivisionError, marks=pytest.mark.deep),
    ],
)
def test_wrong_rules_are_named_when_compiled(kind, error):
    with pytest.raises(error):
        gamedp.searchers.Expectiminimax().search(kind())


def test_a_game_without_an_end_asks_for_a_depth():
    with pytest.raises(gamedp.UnsupportedProblemError, match=r"can recur.* depth"):
        gamedp.searchers.Expectiminimax().search(Wubbel(goal=10), compile="never")


@attrs.frozen
class Three(Line):
    num_players = 3

    def player(self, state):
        return 0


def test_more_players_are_refused():
    with pytest.raises(gamedp.UnsupportedProblemError, match="MaxN"):
        gamedp.searchers.Expectiminimax().search(Three())


@pytest.mark.parametrize("options", [{"pruning": "alpha"}, {"depth": 0}, {"max_nodes": 0}])
def test_options_are_checked(options):
    with pytest.raises(gamedp.errors.InvalidParameterError):
        gamedp.searchers.Expectiminimax(**options)


@attrs.frozen
class Typed(Race):
    """Rules that take whole numbers as Python has them, which do not overflow."""

    def check(self, state, *numbers):
        assert all(type(number) is int for number in (*state, *numbers))

    def outcomes(self, state, action):
        self.check(state, action)
        return super().outcomes(state, action)

    def reward(self, state, action, player):
        self.check(state, action, player)
        return 0.0

    def heuristic(self, state, player):
        self.check(state, player)
        return super().heuristic(state, player)

    def value_range(self, state, player):
        self.check(state, player)
        return super().value_range(state, player)


@pytest.mark.parametrize(
    "searcher", [gamedp.searchers.Expectiminimax(depth=3), gamedp.searchers.MaxN(depth=3)]
)
def test_plain_rules_meet_plain_integers(searcher):
    assert searcher.search(Typed(moves=2), compile="never").statistics.nodes > 10


def test_wubbels_estimate_is_a_chance_to_win():
    game = Wubbel(goal=8)
    for own in range(8):
        for opponent in range(8):
            for turn in range(8 - own):
                state = State(1, own, opponent, turn)
                low, high = game.value_range(state, 1)
                estimates = [game.heuristic(state, player) for player in (0, 1)]
                assert low < min(estimates) <= max(estimates) < high
                assert sum(estimates) == pytest.approx(1)
                assert game.heuristic(state._replace(player=0), 0) == estimates[1]
