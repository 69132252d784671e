"""The conformance kit for searchers: ours pass it on random games, broken ones are caught."""

import math
from typing import NamedTuple

import attrs
import pytest
from hypothesis import given, settings, strategies as st
from named_checks import complaints_of, failed_checks
from search_games import (
    Bounded,
    Dicey,
    DiceyMirrored,
    DiceySum,
    Earning,
    MadeUp,
    Mirrored,
    TightEarning,
    TightMadeUp,
    TightMirrored,
)

import gamedp
from gamedp.testing import ConformanceError, check_searcher, small_games
from gamedp.testing.complaints import BOUNDS, STATUS
from gamedp.testing.searcher_checks import BEST, FORM, LINE
from gamedp.testing.strategies import games

TABLE = {"table_bytes": 2**14}
EXACT = (
    gamedp.searchers.Minimax(),
    gamedp.searchers.AlphaBeta(**TABLE),
    gamedp.searchers.AlphaBeta(table_bytes=0, all_best=False),
    gamedp.searchers.Expectiminimax(**TABLE),
    gamedp.searchers.Expectiminimax(pruning="star1", table_bytes=0),
    gamedp.searchers.MaxN(),
)
LIMITED = (
    gamedp.searchers.Minimax(depth=2),
    gamedp.searchers.Minimax(max_nodes=7),
    gamedp.searchers.AlphaBeta(depth=2, **TABLE),
    gamedp.searchers.AlphaBeta(depth=3, extends=True, all_best=False, **TABLE),
    gamedp.searchers.AlphaBeta(max_nodes=9, **TABLE),
    gamedp.searchers.Expectiminimax(depth=2, **TABLE),
    gamedp.searchers.Expectiminimax(depth=4, bounds=False, max_nodes=12, **TABLE),
    gamedp.searchers.MaxN(depth=2),
)
PROVERS = (
    gamedp.searchers.ProofNumberSearch(**TABLE),
    gamedp.searchers.ProofNumberSearch(at_least=1, table_bytes=0),
    gamedp.searchers.ProofNumberSearch(at_least=-2.0, **TABLE),
    gamedp.searchers.ProofNumberSearch(max_nodes=6, **TABLE),
)
KINDS = (MadeUp, Earning, Mirrored, Bounded, TightMadeUp, TightEarning, TightMirrored)
DICEY = (Dicey, DiceyMirrored, DiceySum)
seldom = settings(deadline=None, max_examples=6)


@pytest.mark.parametrize("searcher", EXACT + LIMITED + PROVERS, ids=repr)
def test_our_searchers_pass(searcher):
    report = check_searcher(searcher)
    assert len(report.searched) + len(report.refused) == 9
    positions = sum(count for _, count in report.searched)
    assert positions >= (51 if searcher in PROVERS else 53)
    assert report.solved == positions or searcher in LIMITED + PROVERS[-1:]
    assert all(reason in str(report) for _, reason in report.refused)


@pytest.mark.slow
@pytest.mark.parametrize("searcher", EXACT + LIMITED, ids=repr)
@seldom
@given(kind=st.sampled_from(KINDS), seed=st.integers(0, 10**6), fine=st.booleans())
def test_they_pass_on_games_without_chance(searcher, kind, seed, fine):
    fine = fine and not issubclass(kind, TightEarning)  # its bounds are sums that are rounded
    check_searcher(searcher, {"made up": kind(seed=seed, layers=4, width=3, fine=fine)})


@pytest.mark.parametrize("searcher", PROVERS, ids=repr)
@settings(deadline=None, max_examples=15)
@given(kind=st.sampled_from([TightMadeUp, TightMirrored]), seed=st.integers(0, 10**6))
def test_provers_pass_on_games_without_chance(searcher, kind, seed):
    check_searcher(searcher, {"made up": kind(seed=seed, layers=4, width=3)})


@pytest.mark.slow
@pytest.mark.parametrize(
    "searcher",
    [each for each in EXACT + LIMITED if not isinstance(each, gamedp.searchers.AlphaBeta)],
    ids=repr,
)
@seldom
@given(kind=st.sampled_from(DICEY), seed=st.integers(0, 10**6), game=games(acyclic=True))
def test_they_pass_on_games_with_chance(searcher, kind, seed, game):
    check_searcher(searcher, {"made up": kind(seed=seed, layers=3, width=3), "drawn": game})


@pytest.mark.parametrize("depth", [1, 2, 3])
@settings(deadline=None, max_examples=15)
@given(kind=st.sampled_from(KINDS), seed=st.integers(0, 10**6))
def test_at_a_depth_the_best_actions_are_those_of_minimax(depth, kind, seed):
    """In every position: whoever moves, and whatever the ranges cut off."""
    game = kind(seed=seed, layers=4, width=3)
    model = gamedp.compile(game, compile="never")
    for number in range(model.num_states):
        state = model.state(number)
        plain = gamedp.searchers.Minimax(depth=depth).search(game, state, compile="never")
        for searcher in (
            gamedp.searchers.AlphaBeta(depth=depth, **TABLE),
            gamedp.searchers.AlphaBeta(depth=depth, all_best=False, **TABLE),
            gamedp.searchers.Expectiminimax(depth=depth, **TABLE),
        ):
            found = searcher.search(game, state, compile="never")
            assert found.lower <= plain.value() <= found.upper or not found.is_proven
            if plain.status is not gamedp.Status.SOLVED and not found.is_proven:
                assert found.value() == plain.value()
                if getattr(searcher, "all_best", True):
                    assert found.best_actions == plain.best_actions
                else:
                    assert set(found.best_actions) <= set(plain.best_actions)
            assert found.best_actions or model.is_terminal[number]


def player_one_wins():
    """Player 1 wins by action 0 at once; action 1 leads over another position to a draw."""
    game = small_games()["moves"]
    return attrs.evolve(
        game,
        moves=((1, 2), (), (3,), ()),
        players=(1, 0, 0, 0),
        payoffs=(0.0, -1.0, 0.0, 0.0),
        ranges=((-1.0, 1.0),) * 4,
    )


def test_a_minimiser_that_wins_is_not_told_to_draw():
    result = gamedp.searchers.ProofNumberSearch().search(player_one_wins(), compile="never")
    assert result.best_actions == result.certain_actions == (0,)
    assert result.upper < 0
    win, draw = result.actions
    assert (win.lower, win.upper, win.bound) == (-1.0, -1.0, "exact")
    assert draw.lower >= result.lower
    assert draw.lower <= 0 <= draw.upper


@pytest.mark.parametrize("all_best", [True, False])
@pytest.mark.parametrize("moves", [1, 2])
def test_ranges_that_meet_at_the_root_leave_best_actions(all_best, moves):
    """The value is known by the range of the root; which action reaches it is an estimate."""
    game = attrs.evolve(
        small_games()["moves"],
        moves=((1, 2)[:moves], (3,), (4,), (5,), (5,), ()),
        players=(0, 1, 1, 0, 0, 0),
        payoffs=(0.0,) * 6,
        ranges=((0.0, 0.0), *[(-3.0, 3.0)] * 5),
    )
    # The estimates of the positions 1 and 2 are 2 and 0.
    searcher = gamedp.searchers.AlphaBeta(depth=1, all_best=all_best)
    plain = gamedp.searchers.Minimax(depth=1).search(game, compile="never")
    result = searcher.search(game, compile="never")
    assert (result.value(), result.lower, result.upper) == (0.0, 0.0, 0.0)
    assert result.best_actions == plain.best_actions == (0,)
    assert result.certain_actions == ()
    assert result.possible_actions == (0, 1)[:moves]
    assert result.status is gamedp.Status.DEPTH_LIMIT
    solved = attrs.evolve(searcher, depth=None).search(game, compile="never")
    assert solved.status is gamedp.Status.SOLVED
    assert len(solved.best_actions) == (moves if all_best else 1)
    assert set(solved.best_actions) <= set(solved.certain_actions)


def test_what_a_range_alone_makes_equal_is_not_equally_good():
    """Action 1 is estimated at 0; that it cannot be more than 2 does not make it 2."""
    game = attrs.evolve(
        small_games()["moves"],
        moves=((1, 2), (3,), (3,), ()),
        players=(0, 1, 1, 0),
        payoffs=(0.0,) * 4,
        ranges=((-9.0, 9.0), (-2.0, 2.0), (-2.0, 2.0), (0.0, 0.0)),
    )
    for searcher in (gamedp.searchers.AlphaBeta(depth=1), gamedp.searchers.Minimax(depth=1)):
        result = searcher.search(game, compile="never")
        assert [result.value(), *result.best_actions] == [2.0, 0]


@attrs.frozen
class Outside:
    """Another's searcher, which does all that ours can and passes."""

    inner: gamedp.searchers.AlphaBeta = attrs.field(
        factory=lambda: gamedp.searchers.AlphaBeta(depth=2)
    )

    def search(self, game, state=None, *, compile="auto", progress=None):
        result = self.inner.search(game, state, compile=compile)
        return self.spoil(attrs.evolve(result, searcher=self))

    def spoil(self, result):
        return result


class Estimating(Outside):
    """Takes the value at a depth for the truth."""

    def spoil(self, result):
        return attrs.evolve(result, lower=result.value(), upper=result.value())


class Copying(Outside):
    """Says of every action what holds of the position."""

    def spoil(self, result):
        entries = [
            attrs.evolve(entry, lower=result.lower, upper=result.upper) for entry in result.actions
        ]
        return attrs.evolve(result, actions=tuple(entries))


class Confident(Outside):
    """Says that it is done, and that all actions are best."""

    def spoil(self, result):
        actions = tuple(entry.action for entry in result.actions)
        return attrs.evolve(result, status=gamedp.Status.SOLVED, best_actions=actions)


class Silent(Outside):
    """Knows the value, and names no action."""

    def spoil(self, result):
        return attrs.evolve(result, best_actions=())


class Wandering(Outside):
    """Its line goes where no action leads."""

    def spoil(self, result):
        line = tuple((action, result.state) for action, _ in result.principal_variation)
        return attrs.evolve(result, principal_variation=line)


class Unknowing(Outside):
    """Has no number where it has found none."""

    def spoil(self, result):
        return attrs.evolve(result, value=math.nan)


class Elsewhere(Outside):
    """Forgets which position was asked about."""

    def spoil(self, result):
        return attrs.evolve(result, state=None)


def test_anyones_searcher_may_pass():
    assert check_searcher(Outside()).solved > 0


@pytest.mark.parametrize(
    ("kind", "checks", "words"),
    [
        (Estimating, {BOUNDS, BEST}, r"the bounds hold: in Place.* the value is"),
        (Copying, {BOUNDS, BEST}, r"the bounds hold: in Place.* action .* is worth"),
        (Confident, {STATUS, BEST}, r"the best actions are best: in Place.* is worth"),
        (Silent, {BEST}, r"the best actions are best: in Place.* there are none"),
        (Wandering, {LINE}, "the line is play by the rules: in Place"),
        (Unknowing, {FORM, BOUNDS}, r"results have their form: in Place.* the value is NaN"),
        (Elsewhere, {FORM}, r"results have their form: in Place.* not of this state"),
    ],
)
def test_broken_searchers_are_caught(kind, checks, words):
    failed = failed_checks(kind())
    assert failed.keys() == checks
    with pytest.raises(ConformanceError, match=words) as caught:
        check_searcher(kind())
    assert complaints_of(str(caught.value)) == complaints_of(*failed.values())


def test_a_searcher_that_refuses_everything_has_shown_nothing():
    with pytest.raises(ConformanceError, match="something is searched: every game was refused"):
        check_searcher(gamedp.searchers.AlphaBeta(), {"dice": Dicey()})


@attrs.frozen(kw_only=True)
class Claims(type(small_games()["moves"])):
    """Moves with an estimate and a range in position 5 that may be no such thing."""

    estimate: float = 0.0
    ends: tuple[float, float] = (-3.0, 3.0)

    def heuristic(self, state, player):
        return self.estimate if state.number == 5 else 0.0

    def value_range(self, state, player):
        return self.ends if state.number == 5 else (-9.0, 9.0)


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        ({"estimate": -math.inf}, "heuristic.*number=5.* is -inf"),
        ({"estimate": math.inf}, "heuristic.*number=5.* is inf"),
        ({"estimate": math.nan}, "heuristic.*number=5.* is nan"),
        ({"ends": (1.0, -1.0)}, r"value_range.*number=5.* is \(1.0, -1.0\)"),
        ({"ends": (math.nan, 1.0)}, r"value_range.*number=5.* is \(nan, 1.0\)"),
        ({"ends": (math.inf, math.inf)}, r"value_range.*number=5.* is \(inf, inf\)"),
        ({"ends": (-math.inf, -math.inf)}, r"value_range.*number=5.* is \(-inf, -inf\)"),
    ],
)
@pytest.mark.parametrize(
    "searcher",
    [
        gamedp.searchers.AlphaBeta(depth=2),
        gamedp.searchers.Minimax(depth=2),
        gamedp.searchers.Expectiminimax(depth=2),
        gamedp.searchers.MaxN(depth=2),
        gamedp.searchers.ProofNumberSearch(),
    ],
    ids=lambda searcher: type(searcher).__name__,
)
def test_claims_that_are_no_numbers_are_refused(searcher, claim, words):
    moves = attrs.asdict(small_games()["moves"], recurse=False) | claim
    del moves["ranges"]
    game = Claims(**moves, ranges=())
    with pytest.raises(gamedp.InvalidModelError, match=words):
        searcher.search(game, compile="never")
    fine = attrs.evolve(game, estimate=1.0, ends=(-2.0, 2.0))
    assert searcher.search(fine, compile="never").best_actions


@attrs.frozen(kw_only=True)
class Pays(type(small_games()["moves"])):
    """Moves whose ends pay one amount each to the first player, and its opposite to the second."""

    amount: float

    def payoff(self, state, player):
        return self.amount if player == 0 else -self.amount

    def value_range(self, state, player):
        return -9.0, 9.0


@pytest.mark.parametrize("amount", [-math.inf, math.inf, math.nan])
@pytest.mark.parametrize(
    "searcher",
    [
        gamedp.searchers.AlphaBeta(),
        gamedp.searchers.Minimax(),
        gamedp.searchers.Expectiminimax(),
        gamedp.searchers.MaxN(),
        gamedp.searchers.ProofNumberSearch(),
    ],
    ids=lambda searcher: type(searcher).__name__,
)
def test_payoffs_that_are_no_numbers_are_refused(searcher, amount):
    moves = attrs.asdict(small_games()["moves"], recurse=False)
    with pytest.raises(gamedp.InvalidModelError, match=f"payoff.* is -?{abs(amount)}"):
        searcher.search(Pays(**moves, amount=amount), compile="never")
    assert searcher.search(Pays(**moves, amount=2.0), compile="never").lower > 0


def test_what_is_estimated_is_not_proven():
    game = small_games()["moves"]
    for searcher in (
        gamedp.searchers.AlphaBeta(depth=1),
        gamedp.searchers.Minimax(depth=1),
        gamedp.searchers.MaxN(depth=1),
    ):
        result = searcher.search(game, compile="never")
        assert result.lower < result.upper
        assert not result.is_proven
        assert not result.certain_actions
        assert result.possible_actions == (0, 1, 2)
    assert gamedp.searchers.AlphaBeta().search(game, compile="never").is_proven


class Long(NamedTuple):
    ply: int
    branch: int
    leaf: int


@attrs.frozen
class Thicket:
    """After the first move, action 0 leads into a thicket, action 1 to the end of a straight way.

    Either is worth `worth` of that action.
    """

    worth: tuple[float, float] = (0.0, 0.0)
    plies: int = 13
    num_players = 2

    def initial_state(self):
        return Long(0, -1, 0)

    def is_terminal(self, state):
        return state.ply == (self.plies if state.branch == 0 else 4)

    def player(self, state):
        return 0

    def actions(self, state):
        return range(1 if state.ply == 0 or (state.branch == 1 and state.ply > 1) else 2)

    def outcomes(self, state, action):
        branch = action if state.ply == 1 else state.branch
        leaf = 0 if state.ply < 2 else 2 * state.leaf + action
        yield 1.0, Long(state.ply + 1, branch, leaf)

    def payoff(self, state, player):
        # The last leaf of the thicket is the only good one.
        last = state.leaf == 2 ** (self.plies - 2) - 1
        worth = self.worth[state.branch] if state.branch == 1 or last else -9.0
        return worth if player == 0 else -worth


@pytest.mark.parametrize(("worth", "branch"), [((1.0, 1.0), 1), ((2.0, 1.0), 0), ((1.0, 2.0), 1)])
def test_a_line_goes_on_where_an_action_takes_more_than_its_share(worth, branch):
    """The thicket has more positions than are looked at before the other action is tried."""
    game = Thicket(worth)
    searcher = gamedp.searchers.AlphaBeta(depth=game.plies, table_bytes=0)
    result = searcher.search(game, compile="never")
    assert result.value() == max(worth)
    actions = [action for action, _ in result.principal_variation]
    assert actions[:2] == [0, branch]
    assert len(actions) == (game.plies if branch == 0 else 4)
