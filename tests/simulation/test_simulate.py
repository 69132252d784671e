"""Games of given policies, and what they say of the exact value."""

import math

import attrs
import numba
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import kstest, norm

import gamedp
from gamedp.errors import InvalidParameterError, UnsupportedProblemError
from gamedp.games.matches import Matches
from gamedp.games.wubbel import SAVE, Hold, Wubbel
from gamedp.policies.statistics import as_paid
from gamedp.simulation import kernels
from gamedp.simulation.tally import BLOCK
from gamedp.testing.models import random_model

GAMES = 2_000 if numba.config.DISABLE_JIT else 20_000
"""Uncompiled, most of the time would go into throwing dice."""


@pytest.fixture(scope="module")
def small():
    return gamedp.compile(Wubbel(goal=10), compile="never")


def facts(found):
    """Return all that games have brought."""
    return found.outcomes, found.means, found.deviations, found.mean_plies, found.unfinished


def test_games_do_not_depend_on_the_number_of_threads():
    model = random_model(2, num_states=8, end_components=False)  # with rewards, which are rounded
    policy = gamedp.Policy.uniform(model)
    games = 1 + (1 if numba.config.DISABLE_JIT else 3) * BLOCK
    one, two, eight = (
        gamedp.simulate(model, policy, games=games, seed=3, threads=threads)
        for threads in (1, 2, 8)
    )
    assert facts(one) == facts(two) == facts(eight)
    assert facts(one) != facts(gamedp.simulate(model, policy, games=games, seed=4))


def test_the_compiled_loop_plays_the_games_of_the_plain_one(small, monkeypatch):
    pair = [Hold(4), gamedp.Policy.uniform(small)]
    compiled = gamedp.simulate(small, pair, games=300, seed=11)
    monkeypatch.setattr(kernels, "walk_jit", kernels.walk)
    monkeypatch.setattr(kernels, "mixed_jit", kernels.mixed)
    assert facts(compiled) == facts(gamedp.simulate(small, pair, games=300, seed=11))


@pytest.mark.parametrize("seed", range(6))
def test_games_agree_with_the_exact_values(seed):
    # By seeds that are fixed: a p-value below 1e-4 comes once in 10,000 right programs.
    model = random_model(seed, num_states=8, num_players=2, end_components=False)
    pair = [gamedp.Policy.uniform(model)] * 2
    true = gamedp.evaluate(model, pair)
    found = gamedp.simulate(model, pair, games=GAMES, seed=seed)
    for player in (0, 1):
        assert found.agrees_with(true, player) > 1e-4
    low, high = true.mean_plies_bounds
    assert low * 0.9 <= found.mean_plies <= high * 1.1
    assert found.finished == found.games == sum(found.outcomes[0].values())


def test_hold_at_any_number_agrees_with_its_exact_value(small):
    values = []
    for points in range(1, 11):
        pair = [Hold(points), Hold(5)]
        found = gamedp.simulate(small, pair, games=GAMES, seed=points)
        true = gamedp.evaluate(small, pair)
        values.append(found.agrees_with(true))
        low, high = found.interval(1.0, confidence=0.9999)
        assert low <= true.value() <= high
        narrow = found.interval(1.0, kind="wilson", confidence=0.9999)
        assert narrow[0] <= true.value() <= narrow[1]
        assert narrow[1] - narrow[0] < high - low
        shares = true.distribution(player=1)
        assert found.count(1.0, player=1) == found.count(0.0)
        assert shares[0.0][0] <= true.value() + 1e-9
    assert sum(value < 0.05 for value in values) <= 4
    wrong = gamedp.evaluate(small, [Hold(1), Hold(5)])
    assert gamedp.simulate(small, [Hold(5)] * 2, games=GAMES, seed=1).agrees_with(wrong) < 1e-9


def three_ends(reward=0.0):
    """One throw: 0, 1 or 2, and what is earned by it."""
    return gamedp.Model.from_arrays(
        [0, 1, 1, 1, 1],
        [0, 3],
        [1, 2, 3],
        [0.25, 0.5, 0.25],
        rewards=[reward],
        terminals=[1, 2, 3],
        payoffs=[0.0, 1.0, 2.0],
    )


def test_few_games_that_end_alike_are_no_proof_of_an_error():
    model = three_ends()
    policy = gamedp.Policy.uniform(model)
    true = gamedp.evaluate(model, policy)
    values = []
    for seed in range(400):
        found = gamedp.simulate(model, policy, games=2, seed=seed)
        values.append(found.agrees_with(true))
        # The mean of two games deviates by 1/2.
        assert values[-1] == pytest.approx(2 * norm.sf(abs(found.means[0] - 1) / 0.5))
    assert min(values) > 0.04
    earned = three_ends(reward=1.0)
    policy = gamedp.Policy.uniform(earned)
    true = gamedp.evaluate(earned, policy)
    one = gamedp.simulate(earned, policy, games=1, seed=2)
    assert abs(one.means[0] - 2.0) > 0.5
    with pytest.raises(UnsupportedProblemError, match="no p-value"):
        one.agrees_with(true)


def test_payoffs_that_are_large_and_near_have_their_deviation():
    model = attrs.evolve(three_ends(), payoffs=1e9 + np.arange(3.0))
    policy = gamedp.Policy.uniform(model)
    found = gamedp.simulate(model, policy, games=1000, seed=1)
    assert found.deviations[0] == pytest.approx(math.sqrt(0.5), rel=0.1)
    assert found.agrees_with(gamedp.evaluate(model, policy)) > 1e-4


def test_pairs_with_payoffs_that_are_large_and_near_have_their_deviation():
    """One policy lets chance decide between three payoffs, the other one takes the middle one."""
    found = []
    for least in (0.0, 3e9):
        model = gamedp.Model.from_arrays(
            [0, 2, 2, 2, 2], [0, 3, 4], [1, 2, 3, 2], [0.25, 0.5, 0.25, 1.0],
            terminals=[1, 2, 3], payoffs=least + np.array([0.0, 1.0, 5.0]),
            players=[0] * 4, num_players=2, constant_sum=2 * least + 2,
        )  # fmt: skip
        pair = [
            gamedp.Policy.from_function(model, lambda _state, action=action: action)
            for action in (0, 1)
        ]
        found.append(gamedp.simulation.simulate_pairs(model, pair, pairs=2000, seed=1))
    small, large = found
    assert large.deviation == small.deviation > 0.5
    assert large.means == pytest.approx([mean + 3e9 for mean in small.means], abs=1e-5)


def test_squares_that_were_rounded_stop_no_games():
    """What is earned is large and differs by little: sums of squares lose how much it differs."""
    model = three_ends(reward=3e9)
    policy = gamedp.Policy.uniform(model)
    found = gamedp.simulate(model, policy, games=20_000, width=0.01, seed=1)
    assert found.games == 20_000
    assert found.sequential.width > 0.01
    assert found.sequential.low <= 3e9 + 1 <= found.sequential.high


def test_games_without_chance_agree_or_do_not():
    model = gamedp.compile(Matches(5), compile="never")
    one, two = [lambda state: 1], [lambda state: min(2, state.left)]
    found = gamedp.simulate(model, [*one, *two], games=3, seed=1)
    first, second = (gamedp.evaluate(model, pair) for pair in ([*one, *two], one * 2))
    assert first.value() == -second.value()
    assert (found.agrees_with(first), found.agrees_with(second)) == (1.0, 0.0)


def test_games_begin_where_the_model_says():
    model = gamedp.Model.from_arrays(
        [0, 0, 0, 0],
        [0],
        [],
        [],
        terminals=[0, 1, 2],
        payoffs=[0.0, 1.0, 5.0],
        initial=[(0.5, 0), (0.2, 1), (0.3, 2)],
    )
    found = gamedp.simulate(model, [gamedp.Policy.uniform(model)], games=30_000, seed=5)
    assert found.mean_plies == 0
    for payoff, probability in ((0.0, 0.5), (1.0, 0.2), (5.0, 0.3)):
        low, high = found.interval(payoff, confidence=0.9999)
        assert low <= probability <= high


def test_games_that_do_not_end_are_counted():
    model = gamedp.Model.from_arrays(
        [0, 1, 2, 2],
        [0, 2, 3],
        [1, 2, 1],
        [0.5, 0.5, 1.0],
        terminals=[2],
        payoffs=[1.0],
    )
    policy = gamedp.Policy.uniform(model)
    found = gamedp.simulate(model, policy, games=1000, seed=1, max_plies=50)
    assert 400 < found.unfinished < 600
    assert found.means[0] == 1.0
    with pytest.raises(UnsupportedProblemError, match="unfinished"):
        found.agrees_with(gamedp.evaluate(model, policy))
    never = gamedp.Model.from_arrays([0, 1], [0, 1], [0], [1.0])
    none = gamedp.simulate(never, gamedp.Policy.uniform(never), games=10, seed=1, max_plies=5)
    assert none.unfinished == 10
    assert np.isnan(none.means[0])
    assert "nan" not in none._repr_html_() + repr(none)
    with pytest.raises(UnsupportedProblemError, match="none of 10"):
        none.interval(1.0)


@pytest.mark.parametrize(
    "option", [{"games": 0}, {"games": True}, {"threads": 0}, {"max_plies": 1.5}, {"seed": -1}]
)
def test_numbers_that_make_no_sense_are_refused(small, option):
    with pytest.raises(InvalidParameterError, match=next(iter(option))):
        gamedp.simulate(small, [Hold(4), Hold(5)], **option)


def holding(model, points):
    """Return the policy that saves as soon as a turn has brought so many points."""
    turns = model.states.fields()[:, list(model.states.layout.names()).index("turn")]
    counts = np.diff(model.choice_offsets)
    turns, counts = np.repeat(turns, counts), np.repeat(counts, counts)
    numbers = (counts == 1) | ((turns >= points) == (model.action_labels == SAVE))
    return gamedp.Policy(model, numbers, f"hold={points}")


def test_a_policy_of_arrays_is_that_of_the_rule(small):
    for points in (1, 4, 10):
        asked = gamedp.Policy.from_function(small, Hold(points).choose)
        assert (holding(small, points).probabilities == asked.probabilities).all()


@pytest.mark.deep
def test_every_hold_at_k_meets_its_exact_value():
    """Tests of true hypotheses: their p-values are as good as uniform, over the first 20 seeds."""
    model = gamedp.compile(Wubbel())
    other = holding(model, 20)
    found = []
    for points in range(1, 51):
        pair = [holding(model, points), other]
        true = gamedp.evaluate(model, pair)
        for seed in range(20):
            games = gamedp.simulate(model, pair, games=50_000, seed=1000 * seed + points)
            found.append(games.agrees_with(true))
    assert len(found) == 1000
    assert kstest(found, "uniform").pvalue > 0.001
    # 5 % of 1,000 are 50, with a standard deviation of 6.9.
    assert sum(p < 0.05 for p in found) <= 71
    by_points = np.array(found).reshape(50, 20)
    assert (by_points < 0.5).sum(axis=1).max() <= 19  # no policy is off in nearly all seeds


@pytest.mark.parametrize(
    ("numbers", "word"),
    [({"confidence": 95}, "confidence is 95"), ({"count": 2.5}, "count is 2.5")],
)
def test_student_interval_refuses_what_cannot_be(numbers, word):
    with pytest.raises(InvalidParameterError, match=word):
        gamedp.policies.student_interval(**{"mean": 1.0, "deviation": 2.0, "count": 9} | numbers)
    assert gamedp.policies.student_interval(1.0, math.nan, 1) == (-math.inf, math.inf)


@settings(deadline=None)
@given(
    st.lists(st.floats(-10, 10).map(lambda number: round(number, 2)), max_size=5),
    st.sampled_from([0.0, 0.3, 1.0, 7.0, 100.0]),
)
def test_payoffs_of_both_seats_are_written_alike(payoffs, total):
    """Each as few digits as the rules have, whichever seat it was computed from."""
    numbers = np.array(payoffs)
    left = as_paid(numbers, total, of_other=True)
    assert np.allclose(left, total - numbers, rtol=0, atol=1e-13)
    assert as_paid(numbers, total).tolist() == payoffs
    both = as_paid(np.concatenate([numbers, total - left]), total)
    assert both.tolist() == payoffs * 2


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [1e-200, 1e155, 1e200, 1.5e308])
def test_statistics_of_payoffs_whose_squares_are_no_doubles(size):
    model = attrs.evolve(three_ends(), payoffs=size * np.array([-1.0, 0.0, 1.0]))
    same = attrs.evolve(model, payoffs=np.array([-1.0, 0.0, 1.0]))
    policy = gamedp.Policy.uniform(model)
    found = gamedp.simulate(model, policy, games=1000, seed=1)
    wanted = gamedp.simulate(same, gamedp.Policy.uniform(same), games=1000, seed=1)
    assert found.means[0] == pytest.approx(size * wanted.means[0])
    assert found.deviations[0] == pytest.approx(size * wanted.deviations[0])
    counts = [300, 450, 250]
    likely, true = (
        gamedp.evaluate(each, gamedp.Policy.uniform(each)).p_value(
            dict(zip(each.payoffs.tolist(), counts, strict=True))
        )
        for each in (model, same)
    )
    assert likely == pytest.approx(true)


@pytest.mark.filterwarnings("error")
def test_earnings_whose_squares_are_no_doubles_have_an_infinite_deviation():
    model = three_ends(reward=1e200)
    found = gamedp.simulate(model, gamedp.Policy.uniform(model), games=100, seed=1)
    assert found.means[0] == pytest.approx(1e200)
    assert found.deviations == (math.inf,)


@pytest.mark.filterwarnings("error")
def test_pairs_with_payoffs_whose_squares_are_no_doubles_lose_no_games():
    model = gamedp.Model.from_arrays(
        [0, 2, 2, 2], [0, 2, 3], [1, 2, 2], [0.5, 0.5, 1.0],
        terminals=[1, 2], payoffs=[-1e200, 1e200], players=[0] * 3, num_players=2,
    )  # fmt: skip
    pair = [
        gamedp.Policy.from_function(model, lambda _state, action=action: action)
        for action in (0, 1)
    ]
    found = gamedp.simulation.simulate_pairs(model, pair, pairs=100, seed=1)
    assert found.deviation == math.inf
    assert found.seatings[0].deviations[0] == pytest.approx(1e200, rel=0.1)
