"""What becomes of games: how long they are, how they end, where they pass, what errors cost."""

import itertools
import math
from fractions import Fraction
from operator import mul

import attrs
import numba
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import binomtest, norm

import gamedp
from gamedp.errors import InvalidParameterError, UnknownStateError, UnsupportedProblemError
from gamedp.games.matches import Matches
from gamedp.games.wubbel import ROLL, Wubbel
from gamedp.policies import greatest_survival
from gamedp.policies.statistics import p_value
from gamedp.testing.models import random_model


@attrs.frozen
class Hold:
    """Roll up to so many points a turn, then save."""

    points: int

    def choose(self, state):
        return 1 if state.turn >= self.points else 0


large = pytest.mark.skipif(
    bool(numba.config.DISABLE_JIT), reason="66,250 positions take long in plain Python"
)


@large
def test_most_games_of_the_best_are_over_after_100_throws():
    # L_n of "Würfeln mit Wubbel", computed in 128-bit floating point by a program of its own.
    wubbel = gamedp.solve(Wubbel(), tolerance=1e-10)
    found = gamedp.evaluate(wubbel.model, [wubbel, wubbel])
    low, high = found.unfinished(100, actions={ROLL})
    assert low <= 0.015384782339658882 <= high
    assert high - low <= 1e-12
    low, high = greatest_survival(wubbel.model, 100, actions={ROLL}).bounds(100)
    assert low <= 0.553060863986907 + 1e-15
    assert high >= 0.553060863986907 - 1e-15
    assert high - low <= 1e-11
    assert found.unfinished(100)[0] > 0.0153848  # saves count, too


def test_hold_20_plays_53_plies():
    # 100,000 games of a program of its own took 53.36 on average, give or take 0.06.
    goal, points = (12, 5) if numba.config.DISABLE_JIT else (50, 20)
    found = gamedp.evaluate(Wubbel(goal), [Hold(points), Hold(points)])
    assert numba.config.DISABLE_JIT or found.mean_plies == pytest.approx(53.36, abs=0.2)
    lower, upper = found.visits()
    ends = found.chain.model.is_terminal
    assert lower[~ends].sum() <= found.mean_plies <= upper[~ends].sum()
    assert upper[ends].sum() == pytest.approx(1.0, abs=1e-6)
    assert (upper - lower).max() <= 1e-9
    wins = found.distribution()
    assert wins[1.0][0] <= found.value() <= wins[1.0][1]
    assert wins[0.0][0] + wins[1.0][0] <= 1 <= wins[0.0][1] + wins[1.0][1]


def counts(model, weights, plies):
    """Return the exact chances to be in each state after some steps; visits before them."""
    here = [Fraction(0)] * model.num_states
    here[0] = Fraction(1)
    seen = list(here)
    for _ in range(plies):
        following = [Fraction(0)] * model.num_states
        for state, probability in enumerate(here):
            first, stop = model.choice_offsets[state : state + 2].tolist()
            total = sum((Fraction(w) for w in weights[first:stop]), Fraction(0))
            for choice in range(first, stop):
                begin, end = model.transition_offsets[choice : choice + 2].tolist()
                whole = sum(map(Fraction, model.probabilities[begin:end].tolist()))
                for edge in range(begin, end):
                    part = Fraction(weights[choice]) / total
                    part *= Fraction(model.probabilities[edge]) / whole
                    following[int(model.successors[edge])] += probability * part
        here = following
        seen = [one + other for one, other in zip(seen, here, strict=True)]
    return here, seen


@pytest.mark.slow
@settings(deadline=None, max_examples=20)
@given(st.integers(0, 2**32))
def test_what_is_left_after_some_plies_is_exact(seed):
    model = random_model(seed, num_states=5, end_components=False)
    weights = np.random.default_rng(seed).random(model.num_choices) + 0.1
    owners = np.repeat(np.arange(model.num_states), np.diff(model.choice_offsets))
    weights /= np.bincount(owners, weights, minlength=model.num_states)[owners]
    policy = gamedp.Policy(model, weights)
    found = gamedp.evaluate(model, policy)
    curve, most = found.survival(6), greatest_survival(model, 6)
    for plies in range(7):
        here, _ = counts(model, policy.probabilities.tolist(), plies)
        low, high = curve.bounds(plies)
        assert low <= sum(here[:5]) <= high
        assert (low, high) == found.unfinished(plies)
        assert high <= most.bounds(plies)[1] * (1 + 1e-12)
        assert most.bounds(plies) == greatest_survival(model, plies).bounds(plies)
    here, seen = counts(model, policy.probabilities.tolist(), 40)
    assert found.unfinished(40)[0] <= sum(here[:5]) <= found.unfinished(40)[1]
    _, upper = found.visits()
    for node in range(found.chain.num_nodes):
        assert seen[found.chain.state(node)] <= upper[node] + sum(here[:5])


def longest(model, plies):
    """Return exactly how likely play is not over after so many plies from each state, at most."""
    offsets = model.choice_offsets.tolist()
    goes_on = [Fraction(first < stop) for first, stop in itertools.pairwise(offsets)]
    for _ in range(plies):
        after = []
        for choice in range(model.num_choices):
            begin, end = model.transition_offsets[choice : choice + 2].tolist()
            chances = [abs(Fraction(p)) for p in model.probabilities[begin:end].tolist()]
            reached = [goes_on[s] for s in model.successors[begin:end].tolist()]
            after.append(sum(map(mul, chances, reached), Fraction(0)) / sum(chances))
        goes_on = [max(after[i:k], default=Fraction(0)) for i, k in itertools.pairwise(offsets)]
    return goes_on


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 2**32), st.booleans())
def test_the_longest_games_are_exact_from_any_starts(seed, swapped):
    model = random_model(seed, num_states=6, num_players=2, end_components=False)
    chances = np.random.default_rng(seed).dirichlet([1.0] * 3)
    model = attrs.evolve(
        model,
        initial_states=np.array([0, 3, 4]),
        initial_probabilities=np.where([False, swapped, False], -chances, chances),
    )
    whole = sum(map(Fraction, chances.tolist()))
    found = greatest_survival(model, 6)
    for plies in (0, 1, 2, 6):
        each = longest(model, plies)
        true = sum(Fraction(p) * each[s] for s, p in zip((0, 3, 4), chances.tolist(), strict=True))
        low, high = found.bounds(plies)
        assert low <= true / whole <= high
        assert high - low <= 1e-13


@pytest.mark.parametrize("actions", [["1"], [1.5], [None], "1", 3])
def test_actions_that_are_none_are_refused(actions):
    model = gamedp.compile(Matches(matches=6), compile="never")
    found = gamedp.evaluate(model, [gamedp.Policy.uniform(model)] * 2)
    with pytest.raises(InvalidParameterError, match="actions is"):
        greatest_survival(model, 3, actions=actions)
    with pytest.raises(InvalidParameterError, match="actions is"):
        found.survival(3, actions=actions)
    all_of_them = greatest_survival(model, 3, actions=[1, 2, 3, 2**80])
    assert (all_of_them.upper == greatest_survival(model, 3).upper).all()
    for plies in (-1, 10**12, 1.5):
        with pytest.raises(InvalidParameterError, match="plies is"):
            greatest_survival(model, plies)


def test_a_survival_shows_itself():
    chain = gamedp.Model.from_arrays(
        [0, 1, 1], [0, 2], [0, 1], [0.75, 0.25], terminals=[1], payoffs=[1.0], action_labels=[3]
    )
    found = gamedp.evaluate(chain, gamedp.Policy.uniform(chain)).survival(100, actions=[3])
    assert repr(found) == "<Survival of uniform: 0 ... 100 actions that count>"
    text = found._repr_html_()
    assert "<tr><th>0</th><td>1 … 1</td></tr>" in text
    assert "<tr><th>100</th>" in text
    assert text.count("<tr>") <= 14
    assert "<th>1</th>" in greatest_survival(chain, 1)._repr_html_()
    assert "the longest games" in repr(greatest_survival(chain, 0))
    for plies in (-1, 101, 1.5, None):
        with pytest.raises(InvalidParameterError, match="an integer, 0 to 100"):
            found.bounds(plies)
    with pytest.raises(ValueError, match="read-only"):
        found.lower[0] = 0.0


def test_visits_of_a_known_chain():
    # Heads with 1/4 ends: 4 throws on average.
    model = gamedp.Model.from_arrays(
        [0, 1, 1], [0, 2], [0, 1], [0.75, 0.25], terminals=[1], payoffs=[1.0]
    )
    found = gamedp.evaluate(model, gamedp.Policy.uniform(model))
    (low, once), (high, at_most) = found.visits()
    assert low <= 4 <= high
    assert once <= 1 <= at_most
    assert high - low <= 1e-8
    assert found.mean_plies == pytest.approx(4)
    assert found.unfinished(3)[0] <= 0.75**3 <= found.unfinished(3)[1]


@pytest.mark.parametrize("sign", [1, -1])
def test_visits_count_what_probabilities_are_off(sign):
    """To two units in the last place, as those that were meant may be; likewise the start."""
    stay, first = 1 - 2.0**-12, 0.25
    model = gamedp.Model.from_arrays(
        [0, 1, 2, 2], [0, 2, 4], [0, 1, 0, 2], [stay, 1 - stay, first, 1 - first],
        terminals=[2], payoffs=[0.0], initial=[(first, 0), (1 - first, 1)],
    )  # fmt: skip
    lower, upper = gamedp.evaluate(model, gamedp.Policy.uniform(model)).visits()
    p, back, start = (
        Fraction(x) + sign * 2 * Fraction(np.spacing(x)) for x in (stay, first, first)
    )
    # x = start + p x + back y, and y = 1 - start + (1 - p) x.
    x = (start + back * (1 - start)) / ((1 - p) * (1 - back))
    for low, truth, high in zip(lower, (x, 1 - start + (1 - p) * x, 1), upper, strict=True):
        assert low <= truth <= high
        assert high - low < 1e-6


@pytest.mark.parametrize("sign", [1, -1])
def test_survival_counts_what_probabilities_are_off(sign):
    stay, first = 0.5, 0.25
    model = gamedp.Model.from_arrays(
        [0, 1, 2, 2], [0, 2, 3], [0, 2, 2], [stay, 1 - stay, 1.0],
        terminals=[2], payoffs=[0.0], initial=[(first, 0), (1 - first, 1)],
    )  # fmt: skip
    found = gamedp.evaluate(model, gamedp.Policy.uniform(model)).survival(1000)
    p, start = (Fraction(x) + sign * 2 * Fraction(np.spacing(x)) for x in (stay, first))
    for plies in (0, 1, 2, 7, 100, 1000):
        low, high = found.bounds(plies)
        assert low <= (start * p**plies if plies else 1) <= high
        assert high <= low * (1 + 1e-11)


def test_games_that_may_never_end_are_said_to():
    model = gamedp.Model.from_arrays(
        [0, 2, 3, 3],
        [0, 2, 3, 4],
        [1, 2, 2, 1],
        [0.5, 0.5, 1.0, 1.0],
        terminals=[2],
        payoffs=[1.0],
        action_labels=[0, 1, 0],
    )
    found = gamedp.evaluate(model, lambda state: 0)
    assert found.mean_plies == math.inf
    assert found.unfinished(10**4)[0] == pytest.approx(0.5)
    low, high = found.distribution()[1.0]
    assert low <= 0.5 <= high
    assert high - low <= 1e-9
    with pytest.raises(UnsupportedProblemError, match="for ever"):
        found.visits()
    assert gamedp.evaluate(model, lambda state: 1).mean_plies == 1


def test_no_policy_lasts_longer():
    model = gamedp.compile(Wubbel(goal=3, faces=3, busts=(3,)), compile="never")
    offsets = model.choice_offsets.tolist()
    rows = [range(first, stop) for first, stop in itertools.pairwise(offsets) if stop > first]
    most = greatest_survival(model, 4).upper[4]
    seen = []
    for choices in itertools.product(*rows):
        numbers = np.zeros(model.num_choices)
        numbers[list(choices)] = 1
        policy = gamedp.Policy(model, numbers)
        seen.append(gamedp.evaluate(model, [policy, policy]).unfinished(4)[0])
    assert max(seen) <= most
    assert most < 1


def test_what_is_no_number_of_plies_is_refused():
    model = gamedp.compile(Matches(matches=5), compile="never")
    for plies in (-1, 2.5, "3"):
        with pytest.raises(InvalidParameterError, match="plies"):
            greatest_survival(model, plies)
    loop = gamedp.Model.from_arrays([0, 1], [0, 1], [0], [1.0])
    with pytest.raises(UnsupportedProblemError, match="not counted"):
        greatest_survival(loop, 3, actions={7})


def test_a_mistake_costs_what_the_policy_loses_by_it():
    solution = gamedp.solve(Matches(matches=6), compile="never")
    found = gamedp.evaluate(solution.model, [solution, solution], everywhere=True)
    values = {one.action: one for one in found.action_values()}
    assert {action: one.best for action, one in values.items()} == {1: "certain", 2: "no", 3: "no"}
    for action, one in values.items():
        assert one.lower <= one.value <= one.upper
        assert one.value == pytest.approx(1.0 if action == 1 else -1.0)
    others = {one.action: one.value for one in found.action_values(player=1)}
    assert others == pytest.approx({1: -1.0, 2: 1.0, 3: 1.0})
    alone = gamedp.evaluate(solution.model, [solution, solution])
    with pytest.raises(UnknownStateError, match="everywhere"):
        alone.action_values()


@pytest.mark.parametrize("objective", [gamedp.Discounted(0.9), gamedp.FiniteHorizon(5)], ids=repr)
def test_steps_are_counted_where_chance_decides_between_actions(objective):
    model = random_model(8, num_states=6)
    policy = gamedp.Policy.uniform(model)
    found = gamedp.evaluate(model, policy, objective, everywhere=True)
    rows = np.repeat(np.arange(model.num_states), np.diff(model.choice_offsets))
    discount = getattr(objective, "discount", 1.0)
    values = np.zeros(model.num_states)
    values[model.terminals] = model.payoffs
    for _ in range(getattr(objective, "horizon", 2000)):
        choice_values = model.rewards + discount * (model.transition_matrix @ values)
        values = np.bincount(rows, policy.probabilities * choice_values, minlength=model.num_states)
        values[model.terminals] = model.payoffs
    for state in range(model.num_states):
        low, high = found.bounds(state)
        assert low - 1e-12 <= values[state] <= high + 1e-12
        assert high - low <= 1e-8


def exact_averages(model, weights):
    """Return the long-run average in each state, in fractions.

    Solves g = P g and g + h = r + P h, which determine g (Puterman, Theorem 8.2.6).
    """
    count = model.num_states
    rows = []
    for state in range(count):
        probabilities, reward = [Fraction(0)] * count, Fraction(0)
        first, stop = model.choice_offsets[state : state + 2].tolist()
        whole = sum(Fraction(weights[choice]) for choice in range(first, stop))
        for choice in range(first, stop):
            share = Fraction(weights[choice]) / whole
            reward += share * Fraction(model.rewards[choice])
            begin, end = model.transition_offsets[choice : choice + 2].tolist()
            total = sum(map(Fraction, model.probabilities[begin:end].tolist()))
            for edge in range(begin, end):
                part = share * Fraction(model.probabilities[edge]) / total
                probabilities[model.successors[edge]] += part
        if first == stop:
            probabilities[state] = Fraction(1)
        less = [(state == other) - probability for other, probability in enumerate(probabilities)]
        rows.append([*less, *[Fraction(0)] * (count + 1)])
        rows.append([*[Fraction(state == other) for other in range(count)], *less, reward])
    done = 0
    for column in range(2 * count):
        found = next((row for row in range(done, len(rows)) if rows[row][column]), None)
        if found is None:
            continue  # one of h, which is determined but for a constant in each class
        rows[done], rows[found] = rows[found], rows[done]
        head = rows[done][column]
        rows[done] = [number / head for number in rows[done]]
        for row in range(len(rows)):
            if row != done and (factor := rows[row][column]):
                rows[row] = [a - factor * b for a, b in zip(rows[row], rows[done], strict=True)]
        done += 1
    assert all(rows[state][state] == 1 for state in range(count))
    return [rows[state][-1] for state in range(count)]


def model_in_parts(rng):
    """Return a model of two loops that are never left, of states before them, and of an end."""
    places = [[0, 1, 2], [0, 1, 2], [0, 1, 2], [3, 4], [3, 4], range(8), range(8)]
    offsets, ends, successors, probabilities = [0], [0], [], []
    for place in places:
        for _ in range(int(rng.integers(1, 4))):
            targets = rng.choice(place, int(rng.integers(1, len(place) + 1)), replace=False)
            parts = rng.integers(1, 8, len(targets))
            successors += targets.tolist()
            probabilities += (parts / parts.sum()).tolist()
            ends.append(len(successors))
        offsets.append(len(ends) - 1)
    rewards = rng.integers(-3, 4, len(ends) - 1).astype(float)
    arrays = (np.array([*offsets, offsets[-1]]), np.array(ends), np.array(successors))
    return gamedp.Model.from_arrays(
        *arrays, np.array(probabilities), rewards=rewards, payoffs=[5.0]
    )


@pytest.mark.parametrize("seed", range(12))
def test_averages_where_chance_decides_between_actions(seed):
    rng = np.random.default_rng(seed)
    model = model_in_parts(rng)
    weights = np.zeros(model.num_choices)
    for first, stop in itertools.pairwise(model.choice_offsets.tolist()):
        if first < stop:
            drawn = rng.integers(0, 4, stop - first) * (rng.random() < 0.7)  # or no chance
            drawn[rng.integers(stop - first)] += 1
            weights[first:stop] = drawn / drawn.sum()
    found = gamedp.evaluate(
        model, gamedp.Policy(model, weights), gamedp.AverageReward(), everywhere=True
    )
    assert found.guarantee is gamedp.Guarantee.TWO_SIDED
    for state, exact in enumerate(exact_averages(model, weights)):
        low, high = found.bounds(state)
        assert low <= exact <= high
        assert high - low <= 1e-8


def test_averages_of_mixed_policies_at_one_table():
    model = random_model(5, num_states=5, num_players=2)
    uniform = gamedp.Policy.uniform(model)
    found = gamedp.evaluate(model, [uniform, uniform], gamedp.AverageReward(), everywhere=True)
    exact = exact_averages(model, uniform.probabilities)
    for state, number in enumerate(exact):
        low, high = found.bounds(state)
        assert low <= number <= high
        assert high - low <= 1e-8


def test_games_that_others_have_counted_are_held_against_the_exact_value():
    model = gamedp.compile(Matches(matches=6), compile="never")
    found = gamedp.evaluate(model, [gamedp.Policy.uniform(model)] * 2)
    chance = (found.value() + 1) / 2
    for wins in (0, 23, 50):
        expected = binomtest(wins, 50, chance).pvalue
        assert found.p_value({1.0: wins, -1.0: 50 - wins}) == pytest.approx(expected)
        assert found.p_value({-1.0: wins, 1.0: 50 - wins}, player=1) == pytest.approx(expected)
    assert found.p_value({1.0: 5, 0.0: 1}) == 0.0  # nobody can get that
    rounded = {1.0 - 1e-15: 20, 1.0: 3, -1.0: 27}
    assert found.p_value(rounded) == found.p_value({1.0: 23, -1.0: 27})
    for counts in ({}, {1.0: 0}, {1.0: -1}, {1.0: 2.5}):
        with pytest.raises(InvalidParameterError, match=r"no games|a count is"):
            found.p_value(counts)
    discounted = gamedp.evaluate(model, [gamedp.Policy.uniform(model)] * 2, gamedp.Discounted(0.9))
    with pytest.raises(UnsupportedProblemError, match="counted as they are"):
        discounted.p_value({1.0: 5})


def test_payoffs_that_nobody_can_get_count_for_nothing():
    """By the policy, play ends with 0 or 1; the other choice alone leads to a payoff of 2."""
    model = gamedp.Model.from_arrays(
        [0, 2, 2, 2, 2], [0, 2, 3], [1, 2, 3], [0.25, 0.75, 1.0],
        terminals=[1, 2, 3], payoffs=[0.0, 1.0, 2.0],
    )  # fmt: skip
    found = gamedp.evaluate(model, gamedp.Policy.from_function(model, lambda state: 0))
    expected = binomtest(70, 100, 0.75).pvalue
    assert found.p_value({0.0: 30, 1.0: 70, 2.0: 0}) == pytest.approx(expected)
    assert found.p_value({0.0: 25, 1.0: 74, 2.0: 1}) == 0.0
    sure = gamedp.evaluate(model, gamedp.Policy.from_function(model, lambda state: 1))
    assert (sure.p_value({2.0: 3}), sure.p_value({1.0: 1, 2.0: 2})) == (1.0, 0.0)


def lasting(payoffs, chances):
    """One throw decides what is paid; what chances leave goes on for ever and pays nothing."""
    ends = len(payoffs)
    return gamedp.Model.from_arrays(
        [0, 1, 2, *[2] * ends], [0, ends + 1, ends + 2], [*range(2, ends + 2), 1, 1],
        [*chances, 1 - sum(chances), 1.0], terminals=range(2, ends + 2), payoffs=payoffs,
    )  # fmt: skip


def test_games_that_are_counted_are_those_that_end():
    found = gamedp.evaluate(lasting([1.0, -1.0], [0.4, 0.1]), lambda state: 0)
    for wins, losses in ((400, 100), (325, 175), (420, 80)):
        expected = binomtest(wins, wins + losses, 0.8).pvalue
        assert found.p_value({1.0: wins, -1.0: losses}) == pytest.approx(expected, abs=1e-12)
    assert found.p_value({1.0: 400, -1.0: 100}) == pytest.approx(1.0)
    # With more payoffs than two, by the mean and the deviation of games that end.
    found = gamedp.evaluate(lasting([1.0, 0.0, -1.0], [0.25, 0.125, 0.125]), lambda state: 0)
    assert found.p_value({1.0: 200, 0.0: 100, -1.0: 100}) == pytest.approx(1.0)
    mean, deviation = 0.25, math.sqrt(0.75 - 0.25**2)
    off = abs((190 - 110) / 400 - mean) / (deviation / 20)
    expected = 2 * norm.sf(off)
    assert found.p_value({1.0: 190, 0.0: 100, -1.0: 110}) == pytest.approx(expected, rel=1e-6)


def test_what_bounds_leave_open_counts_for_nobody_with_many_payoffs_too():
    wide = {1.0: (0.2, 0.4), 0.0: (0.2, 0.4), -1.0: (0.2, 0.4)}
    assert p_value({1.0: 400, 0.0: 300, -1.0: 300}, wide) == 1.0
    assert p_value({1.0: 900, 0.0: 50, -1.0: 50}, wide) < 1e-9
    assert p_value({1.0: 5, 0.0: 5}, {1.0: (0, 1), 0.0: (0, 1), -1.0: (0, 1)}) == 1.0


def test_what_bounds_leave_open_is_held_against_no_game():
    distribution = {-1.0: (0.45, 0.55), 1.0: (0.45, 0.55)}
    games = 1_000_000
    for wins in (490_000, 500_000, 510_000):
        counts = {-1.0: games - wins, 1.0: wins}
        assert p_value(counts, distribution) == 1.0
    counts = {-1.0: 449_000, 1.0: 551_000}
    expected = binomtest(551_000, games, 0.55).pvalue
    assert p_value(counts, distribution) == pytest.approx(expected)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("chance", [1e-3, 1e-15, 1e-17, 1e-300])
def test_visits_where_play_is_very_long_are_bounded(chance):
    """From state 0 to 1, which is left by a small chance, or to 2, from where half return."""
    model = gamedp.Model.from_arrays(
        [0, 1, 2, 3, 3, 3],
        [0, 2, 4, 6],
        [1, 2, 1, 3, 0, 4],
        [0.5, 0.5, 1 - chance, chance, 0.5, 0.5],
        terminals=[3, 4],
    )
    lower, upper = gamedp.evaluate(model, gamedp.Policy.uniform(model)).visits()
    true = np.array([4 / 3, 2 / 3 / chance, 2 / 3, 2 / 3, 1 / 3])
    assert (lower <= true).all()
    assert (true <= upper).all()
    assert (upper[3:] <= 1 + 1e-9).all()
    assert upper[1] <= 2 / chance


def test_visits_of_a_start_that_is_almost_certain():
    """Another start has a chance of 1e-300: this one is visited a little less than once."""
    model = gamedp.Model.from_arrays(
        [0, 0, 0], [0], [], [], terminals=[0, 1], initial=[(1.0, 0), (1e-300, 1)]
    )
    lower, upper = gamedp.evaluate(model, gamedp.Policy.uniform(model)).visits()
    assert lower[0] < 1 <= upper[0]
    assert lower[1] <= 1e-300 <= upper[1]
