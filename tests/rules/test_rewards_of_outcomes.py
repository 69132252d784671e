"""Rewards that depend on the outcome, r(s, a, s'): their mean, and what refuses them."""

from fractions import Fraction
from typing import NamedTuple

import attrs
import pytest
from hypothesis import given, settings, strategies as st
from shedding_games import Stepping

import gamedp
from gamedp.games.matches import Matches
from gamedp.rules import Rules
from gamedp.testing import check_game


class Step(NamedTuple):
    number: int


@attrs.frozen
class Walk:
    """Steps forward; `rows[n][a]` has the (weight, length, reward) of each outcome of action a."""

    rows: tuple
    certain: float = 0.0

    def initial_state(self):
        return Step(0)

    def is_terminal(self, state):
        return state.number >= len(self.rows)

    def actions(self, state):
        yield from range(len(self.rows[state.number]))

    def outcomes(self, state, action):
        row = self.rows[state.number][action]
        size = sum(weight for weight, _, _ in row)
        for weight, length, reward in row:
            yield weight / size, Step(min(state.number + length, len(self.rows))), reward

    def reward(self, state, action, player):
        return self.certain

    def payoff(self, state, player):
        return 0.25


def slow(game):
    """Return the exact value of the start of a walk with Fractions alone."""
    values = {len(game.rows): Fraction(1, 4)}
    for number in reversed(range(len(game.rows))):
        best = []
        for row in game.rows[number]:
            size = sum((Fraction(weight) for weight, _, _ in row), Fraction(0))
            best.append(
                Fraction(game.certain)
                + sum(
                    Fraction(weight)
                    / size
                    * (Fraction(reward) + values[min(number + length, len(game.rows))])
                    for weight, length, reward in row
                )
            )
        values[number] = max(best)
    return values


WEIGHTS = st.integers(1, 9)
REWARDS = st.one_of(
    st.integers(-(2**60), 2**60),
    st.floats(-1e6, 1e6),
    st.fractions(-10, 10, max_denominator=99),
)


def walks(weights):
    outcome = st.tuples(weights, st.integers(1, 2), REWARDS)
    action = st.lists(outcome, min_size=1, max_size=4).map(tuple)
    actions = st.lists(action, min_size=1, max_size=2).map(tuple)
    rows = st.lists(actions, min_size=1, max_size=4).map(tuple)
    return st.builds(Walk, rows=rows, certain=st.sampled_from([0.0, 0.1, -3.0]))


@settings(deadline=None, max_examples=60)
@given(game=walks(WEIGHTS.map(Fraction)))
def test_fractions_are_kept_exactly(game):
    model = gamedp.compile(game, compile="never")
    assert model.mean_rewards
    solution = gamedp.solve(model, solver="exact-policy-iteration")
    exact = slow(game)
    assert solution.exact_value() == exact[0]
    bounds = gamedp.solve(model, tolerance=1e6)
    for state in range(model.num_states):
        low, high = bounds.bounds(model.state(state))
        assert Fraction(low) <= exact[model.state(state).number] <= Fraction(high)


@settings(deadline=None, max_examples=60)
@given(game=walks(WEIGHTS))
def test_bounds_allow_for_rounded_probabilities(game):
    # A sixth is meant exactly, and rounded twice: by the division, and by the mean.
    model = gamedp.compile(game, compile="never")
    low, high = gamedp.solve(model, tolerance=1e6).bounds()
    assert Fraction(low) <= slow(game)[0] <= Fraction(high)


@attrs.frozen
class Coin:
    """A fair bet of one, twice: its mean is 0."""

    def initial_state(self):
        return Step(0)

    def is_terminal(self, state):
        return state.number == 2

    def actions(self, state):
        yield 0

    def outcomes(self, state, action):
        yield 0.5, Step(state.number + 1), 1.0
        yield 0.5, Step(state.number + 1), -1.0

    def payoff(self, state, player):
        return 0.0


def test_single_games_are_never_played_with_the_mean():
    model = gamedp.compile(Coin(), compile="never")
    assert not model.rewards.any()
    uniform = gamedp.Policy.uniform(model)
    found = gamedp.evaluate(model, [uniform])
    low, high = found.bounds()
    assert low <= 0 <= high
    for ask in (found.distribution, lambda: found.p_value({0.0: 10})):
        with pytest.raises(gamedp.UnsupportedProblemError, match="on the way"):
            ask()
    with pytest.raises(gamedp.UnsupportedProblemError, match="keeps their means"):
        gamedp.simulate(model, [uniform], games=10)
    paid = {
        gamedp.play.play_game(Coin(), [lambda _state, _rng: 0], seed=seed).payoffs
        for seed in range(20)
    }
    assert paid == {(2.0,), (0.0,), (-2.0,)}
    check_game(Coin())


def refused():
    return pytest.raises(gamedp.UnsupportedProblemError, match="rewards of their own")


@pytest.mark.parametrize("compile", ["auto", "never"])
def test_what_has_no_use_for_them_refuses_them(compile):
    for searcher in (None, gamedp.searchers.MaxN(), gamedp.searchers.Expectiminimax()):
        with refused():
            gamedp.search(Coin(), searcher=searcher, compile="never")
    with refused():
        gamedp.simulate(Coin(), [lambda _: 0], games=5, by_rules=True, compile="never")
    with pytest.raises(gamedp.errors.CompilationError, match="compiled rules cannot have"):
        gamedp.compile(Coin(), compile="always")
    assert gamedp.compile(Coin(), compile=compile).mean_rewards


class Late(Coin):
    """Only the second step has rewards of its outcomes."""

    def outcomes(self, state, action):
        if state.number == 0:
            yield 1.0, Step(1)
        else:
            yield 0.5, Step(2), 1.0
            yield 0.5, Step(2), -1.0


def test_they_are_found_wherever_they_are():
    with refused():
        gamedp.search(Late(), compile="never")
    with refused():
        gamedp.simulate(Late(), [lambda _: 0], games=5, by_rules=True, compile="never")
    with pytest.raises(gamedp.errors.CompilationError, match="compiled rules cannot have"):
        gamedp.compile(Late(), compile="always")


class Paid(Matches):
    """The last match loses, and each that is taken is worth something."""

    def outcomes(self, state, action):
        for chance, following in super().outcomes(state, action):
            yield chance, following, float(action)


def test_sums_of_games_refuse_them():
    game = gamedp.sums.Sum(Paid(matches=3, misere=False), Matches(matches=2, misere=False))
    with refused():
        gamedp.solve(game, compile="never")
    with pytest.raises(gamedp.UnsupportedProblemError, match="nothing earned on the way"):
        gamedp.sums.grundy_values(Paid(matches=3, misere=False))


class Shared(Stepping):
    """A game with tables of endings whose outcomes have rewards."""

    def outcomes(self, state, action):
        yield 1.0, self.after(state, action), 1.0


def test_tables_of_endings_refuse_them():
    game = Shared(seed=1, layers=2, width=3)
    with refused():
        gamedp.tables.tabulate(game, last_tier=2, compile="never")


def test_matrices_keep_their_means():
    even = [[[0.5, 0.5], [0.0, 0.0]]]
    model = gamedp.Model.from_scipy(
        even, transition_rewards=[[[-1.0, 1.0], [0.0, 0.0]]], payoffs=[0.0]
    )
    assert model.mean_rewards
    uniform = gamedp.Policy.uniform(model)
    with pytest.raises(gamedp.UnsupportedProblemError, match="on the way"):
        gamedp.evaluate(model, [uniform]).distribution()
    with pytest.raises(gamedp.UnsupportedProblemError, match="keeps their means"):
        gamedp.simulate(model, [uniform], games=10)


def test_they_are_saved_with_the_model(tmp_path):
    solution = gamedp.solve(Coin(), compile="never")
    gamedp.save(solution, tmp_path / "found")
    assert gamedp.load(tmp_path / "found", game=Coin()).model.mean_rewards


@attrs.frozen
class Duel(Coin):
    """Two players, and whatever an outcome gives them."""

    given: object = 1.0
    constant_sum: float | None = 0.0
    num_players = 2

    def player(self, state):
        return state.number

    def outcomes(self, state, action):
        yield Fraction(1, 2), Step(state.number + 1), self.given
        yield Fraction(1, 2), Step(2), self.given


def test_of_two_opponents_the_other_one_loses_it():
    for earned in (1.5, (1.5, -1.5), Fraction(3, 2)):
        solution = gamedp.solve(Duel(earned), solver="exact-policy-iteration", compile="never")
        assert solution.exact_value() == Fraction(9, 4)
        assert solution.exact_value(player=1) == Fraction(-9, 4)
        outcome = (0.5, Step(1), earned)
        assert [Rules(Duel()).outcome_reward(outcome, player) for player in (0, 1)] == [1.5, -1.5]
    own = gamedp.solve(Duel((1.0, 4.0), None), compile="never")
    assert [own.value(player=player) for player in (0, 1)] == [1.5, 6]


@pytest.mark.parametrize(
    ("game", "message"),
    [
        (Duel((1.0, 1.0)), "must add up to zero"),
        (Duel((1.0, 1.0, 0.0)), "for each of 2 players"),
        (Duel(1.0, None), "for each of 2 players"),
        (Duel("a lot"), "finite number"),
        (Duel(float("nan")), "finite number"),
        (Duel(None), "finite number"),
        (Duel((Fraction(1, 3), 0), None), "known up to rounding only"),
        (Duel(10**400), "finite number"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_wrong_rewards(game, message):
    with pytest.raises(gamedp.InvalidModelError, match=message):
        gamedp.compile(game, compile="never")


class Mixed(Coin):
    def outcomes(self, state, action):
        yield 0.5, Step(state.number + 1), 1.0
        yield 0.0, Step(state.number + 1), 7.0
        yield 0.5, Step(state.number + 1)


def test_all_outcomes_of_an_action_have_one_or_none():
    with pytest.raises(gamedp.InvalidModelError, match="for every outcome of an action, or for"):
        gamedp.compile(Mixed(), compile="never")
