"""The best answer to policies, to a field of them, and cross tables."""

import itertools
import math
from fractions import Fraction

import attrs
import numba
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from symmetric_games import Board, TicTacToe

import gamedp
from gamedp.errors import InvalidParameterError, UnsupportedProblemError
from gamedp.games.matches import Matches, Nim
from gamedp.games.wubbel import Wubbel
from gamedp.policies.policy import choices_in
from gamedp.policies.response import gain_of
from gamedp.testing.models import random_model
from gamedp.testing.strategies import models

COMPILED = not numba.config.DISABLE_JIT

GAME = Wubbel() if COMPILED else Wubbel(goal=12)
"""The 66,250 states of the whole game take a minute in plain Python; its numbers are known."""

LATE, SOON = (20, 10) if COMPILED else (5, 2)


@attrs.frozen
class Hold:
    """Roll up to so many points a turn, then save."""

    points: int

    def choose(self, state):
        return 1 if state.turn >= self.points else 0


def all_policies(model):
    """Yield every policy without chance."""
    offsets = model.choice_offsets.tolist()
    rows = [range(first, stop) for first, stop in itertools.pairwise(offsets) if stop > first]
    for choices in itertools.product(*rows):
        numbers = np.zeros(model.num_choices)
        numbers[list(choices)] = 1
        yield gamedp.Policy(model, numbers)


@pytest.fixture(scope="module")
def wubbel():
    """The optimal policy of Wubbel."""
    return gamedp.solve(GAME, tolerance=1e-10)


SMALL = [Matches(matches=6), Matches(matches=5, misere=False), Wubbel(goal=3, faces=3, busts=(3,))]


@pytest.mark.parametrize("game", SMALL, ids=repr)
@pytest.mark.parametrize("player", [0, 1])
def test_no_policy_at_all_answers_better(game, player):
    model = gamedp.compile(game, compile="never")
    other = gamedp.Policy.uniform(model)
    found = gamedp.best_response(model, other, player)
    values = []
    for policy in all_policies(model):
        pair = [other, other]
        pair[player] = policy
        values.append(gamedp.evaluate(model, pair).value(player=player))
    assert found.value() == pytest.approx(max(values), abs=1e-9)
    pair = [other, other]
    pair[player] = found.policy
    assert gamedp.evaluate(model, pair).value(player=player) == pytest.approx(found.value())


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32))
def test_the_answer_is_no_worse_than_any_policy(seed):
    rng = np.random.default_rng(seed)
    model = random_model(seed, num_states=6, num_players=2, end_components=False)
    every = [gamedp.Policy.uniform(model)]
    offsets = model.choice_offsets.tolist()
    for _ in range(4):
        numbers = np.zeros(model.num_choices)
        for first, stop in itertools.pairwise(offsets):
            if stop > first:
                numbers[rng.integers(first, stop)] = 1
        every.append(gamedp.Policy(model, numbers))
    for player in (0, 1):
        for other in every[:2]:
            high = gamedp.best_response(model, other, player).bounds()[1]
            for mine in every:
                pair = [other, other]
                pair[player] = mine
                assert gamedp.evaluate(model, pair).bounds(player=player)[0] <= high


@pytest.mark.slow
def test_answers_to_hold_20_are_those_of_the_trial(wubbel):
    # The optimal policy is the article's; these numbers were first found by fixing one player.
    against = gamedp.evaluate(wubbel.model, [wubbel, Hold(LATE)]).value()
    second = gamedp.evaluate(wubbel.model, [Hold(LATE), wubbel]).value(player=1)
    if COMPILED:
        assert against == pytest.approx(0.5910956, abs=5e-8)
        assert second == pytest.approx(0.5164313, abs=5e-8)
        assert (against + second) / 2 == pytest.approx(0.5537634, abs=5e-8)
    for player, value, optimal in ((0, 0.6036614, against), (1, 0.5285285, second)):
        found = gamedp.best_response(wubbel.model, Hold(LATE), player)
        assert found.value() >= optimal - 1e-9
        assert not COMPILED or found.value() == pytest.approx(value, abs=5e-8)
        assert found.guarantee is gamedp.Guarantee.TWO_SIDED
        assert found.bounds()[1] - found.bounds()[0] <= 1e-9


def test_nothing_exploits_the_optimal_policy(wubbel):
    found = gamedp.exploitability(wubbel.model, [wubbel, wubbel])
    assert found.lower == 0
    assert found.upper <= 1e-9
    assert gamedp.exploitability(wubbel.model, [Hold(LATE), wubbel]).lower > 0.01


def test_random_play_of_nim_is_as_exploitable_as_others_say():
    # OpenSpiel's nash_conv of the uniformly random policy is 1.985185.
    model = gamedp.compile(Nim(heaps=(1, 3, 5)), compile="never")
    probability = gamedp.Policy.uniform(model)
    low, high = gamedp.exploitability(model, [probability, probability]).nash_conv
    assert low <= 1.985185 + 5e-7
    assert high >= 1.985185 - 5e-7
    assert high - low <= 1e-8


def test_a_field_is_answered_without_being_told_who_plays(wubbel):
    # Found first by rules with the subset of opponents in the state: 98,600 states.
    found = gamedp.best_response(wubbel.model, {Hold(LATE): 0.7, Hold(SOON): 0.3})
    if COMPILED:
        assert found.value() == pytest.approx(0.6298381, abs=5e-8)
        assert found.told[0] == pytest.approx(0.6300364, abs=5e-8)
    assert found.bounds()[1] <= found.told[1]


@pytest.mark.parametrize("player", [0, 1])
def test_no_policy_with_memory_answers_a_field_better(player):
    game = Matches(matches=5)
    model = gamedp.compile(game, compile="never")
    one, two, three = (
        gamedp.Policy.from_function(model, lambda state, k=k: min(k, state.left)) for k in (1, 2, 3)
    )
    field = {one: 0.5, two: 0.3, three: 0.2}

    def best(left, mover, members):
        """Search the tree of what is seen."""
        if left == 0:
            return sum(members.values()) * (1.0 if mover == player else -1.0)
        if mover == player:
            return max(best(left - k, 1 - mover, members) for k in (1, 2, 3) if k <= left)
        groups = {}
        for policy, weight in members.items():
            taken = min((one, two, three).index(policy) + 1, left)
            groups.setdefault(taken, {})[policy] = weight
        return sum(best(left - k, 1 - mover, group) for k, group in groups.items())

    found = gamedp.best_response(model, field, player)
    assert found.value() == pytest.approx(best(5, 0, field), abs=1e-9)
    assert found.value() <= found.told[1]
    state = game.initial_state()
    assert found.possible_after(state, 2, [0, 1, 2]) == (1,)


def test_a_field_has_policies_without_chance():
    model = gamedp.compile(Matches(matches=5), compile="never")
    probability = gamedp.Policy.uniform(model)
    one = gamedp.Policy.from_function(model, lambda state: 1)
    with pytest.raises(UnsupportedProblemError, match="chance"):
        gamedp.best_response(model, {probability: 0.5, one: 0.5})
    with pytest.raises(InvalidParameterError, match="sum to 1"):
        gamedp.best_response(model, {probability: 0.5, one: 0.4})
    found = gamedp.best_response(model, {one: 1.0})
    assert found.value() == gamedp.best_response(model, one).value()


def test_one_of_three_players_answers_the_others():
    rng = np.random.default_rng(3)
    model = random_model(3, num_states=6, end_components=False)
    rewards = rng.normal(size=(model.num_choices, 3))
    payoffs = np.array([[1.0, 0.0, -1.0], [0.0, 2.0, 0.0]])
    three = gamedp.Model.from_arrays(
        model.choice_offsets, model.transition_offsets, model.successors, model.probabilities,
        rewards=rewards, players=[0, 1, 2, 0, 1, 2, 0, 0], terminals=[6, 7], payoffs=payoffs,
        num_players=3,
    )  # fmt: skip
    probability = gamedp.Policy.uniform(three)
    for player in range(3):
        found = gamedp.best_response(three, [probability, probability], player)
        joint = [probability] * 3
        assert found.value() >= gamedp.evaluate(three, joint).value(player=player) - 1e-9
        joint[player] = found.policy
        assert gamedp.evaluate(three, joint).value(player=player) == pytest.approx(found.value())
    assert gamedp.exploitability(three, [probability] * 3).lower > 0


@pytest.mark.parametrize("game", SMALL, ids=repr)
def test_a_cross_table_has_the_values_of_all_pairs(game):
    model = gamedp.compile(game, compile="never")
    family = {"best": gamedp.solve(model), "chance": gamedp.Policy.uniform(model)}
    table = gamedp.cross_table(model, family)
    for row, one in enumerate(family.values()):
        for column, other in enumerate(family.values()):
            alone = gamedp.evaluate(model, [one, other])
            assert table.first[row, column] == pytest.approx(alone.value(), abs=1e-9)
            assert table.second[column, row] == pytest.approx(alone.value(player=1), abs=1e-9)
    assert table.ranking() == ["best", "chance"]
    assert table.means[0] == pytest.approx(table.both[0, 1])
    assert table.width <= 1e-9


@pytest.mark.slow
def test_the_best_of_twelve_holds_at_17():
    # The trial's numbers, each policy against itself among them: 17 gets .5215, 22 .4796.
    points = range(15, 27) if COMPILED else range(2, 6)
    table = gamedp.cross_table(GAME, {f"hold={k}": Hold(k) for k in points})
    means = dict(zip(table.names, table.both.mean(axis=1), strict=True))
    assert means[table.ranking()[0]] == max(means.values())
    if COMPILED:
        assert table.ranking()[0] == "hold=17"
        for name, mean in (("hold=17", 0.5215), ("hold=22", 0.4796), ("hold=25", 0.5037)):
            assert means[name] == pytest.approx(mean, abs=5e-5)
    assert table.width <= 1e-9


@pytest.mark.parametrize(
    "objective",
    [gamedp.Discounted(0.9), gamedp.FiniteHorizon(5), gamedp.AverageReward(), None],
    ids=repr,
)
def test_a_cross_table_counts_steps_as_an_evaluation_does(objective):
    model = random_model(3, num_states=5, num_players=2, end_components=False)
    chance = gamedp.Policy.uniform(model)
    table = gamedp.cross_table(model, {"a": chance, "b": chance}, objective)
    found = gamedp.evaluate(model, [chance, chance], objective)
    assert table.bounds("a", "b") == found.bounds()


def test_a_cross_table_has_both_seats_only_of_values_with_a_sum():
    model = gamedp.compile(Wubbel(goal=4), compile="never")
    policies = {"one": Hold(1), "two": Hold(2)}
    with pytest.raises(UnsupportedProblemError, match="constant_sum=1"):
        gamedp.cross_table(model, policies, gamedp.Discounted(0.9))
    apart = attrs.evolve(random_model(4, num_states=4, num_players=2), constant_sum=1.0)
    chance = gamedp.Policy.uniform(apart)
    with pytest.raises(UnsupportedProblemError, match="no table of both seats"):
        gamedp.cross_table(apart, {"a": chance}, gamedp.Discounted(0.9))
    reached = gamedp.cross_table(apart, {"a": chance}, gamedp.Reachability([4]))
    assert reached.first + reached.second == pytest.approx(1.0)


def test_a_policy_alone_in_a_cross_table_meets_itself():
    model = gamedp.compile(Wubbel(goal=4), compile="never")
    table = gamedp.cross_table(model, {"one": Hold(1)})
    assert table.means.tolist() == pytest.approx([0.5])


@pytest.mark.parametrize("num_players", [1, 2])
def test_who_pays_gains_by_paying_less(num_players):
    model = random_model(3, num_states=5, num_players=num_players, end_components=False)
    dear = attrs.evolve(model, rewards=-model.rewards, payoffs=-model.payoffs)
    chance, other = gamedp.Policy.uniform(model), gamedp.Policy.uniform(dear)
    gains = gamedp.exploitability(model, [chance] * num_players).gains
    saved = gamedp.exploitability(
        dear, [other] * num_players, gamedp.TotalReward(optimum="min")
    ).gains
    assert max(high for _, high in gains) > 0.1
    for one, same in zip(gains, saved, strict=True):
        assert same == pytest.approx(one, abs=1e-8)


def test_one_player_alone_responds_by_the_solution():
    model = random_model(5, num_states=6, end_components=False)
    chance = gamedp.Policy.uniform(model)
    found = gamedp.best_response(model, [])
    assert found.value() == pytest.approx(gamedp.solve(model).value(), abs=1e-6)
    ((low, high),) = gamedp.exploitability(model, [chance]).gains
    gain = gamedp.solve(model, tolerance=1e-9).value() - gamedp.evaluate(model, chance).value()
    assert low - 1e-8 <= gain <= high + 1e-8


def test_endless_gains_are_none_or_all():
    loop = gamedp.Model.from_arrays(
        [0, 2, 2], [0, 1, 2], [0, 1], [1.0, 1.0], rewards=[1.0, 0.0], payoffs=[3.0]
    )
    stay, leave = (gamedp.Policy(loop, numbers) for numbers in ([1.0, 0.0], [0.0, 1.0]))
    assert gamedp.exploitability(loop, [stay]).gains == ((0.0, 0.0),)
    assert gamedp.exploitability(loop, [leave]).gains == ((math.inf, math.inf),)


def test_gains_beyond_the_largest_number_are_bounded():
    low, high = gain_of((-1.7e308, -1.7e308), (1.7e308, 1.7e308), "max")
    assert (math.isfinite(low), high) == (True, math.inf)
    assert gain_of((1.0, 2.0), (math.inf, math.inf), "max") == (math.inf, math.inf)
    assert gain_of((-math.inf, -math.inf), (-math.inf, 3.0), "max") == (0.0, math.inf)
    assert gain_of((3.0, 4.0), (1.0, 1.5), "min") == pytest.approx((1.5, 3.0))


def test_where_play_is_over_nobody_responds():
    model = gamedp.compile(Matches(6), compile="never")
    found = gamedp.best_response(model, lambda state: 1, everywhere=True)
    for end in model.terminals.tolist():
        with pytest.raises(InvalidParameterError, match="does not move in"):
            found.choose(model.state(end))


def test_a_cross_table_has_averages_of_finite_totals():
    model = gamedp.Model.from_arrays(
        *([0, 2, 3, 3], [0, 1, 2, 3], [0, 1, 2], [1.0, 1.0, 1.0]),
        rewards=[1.0, 0.0, 0.0],
        payoffs=[0.0],
        players=[0, 1, 0],
        num_players=2,
    )
    stay, leave = (gamedp.Policy(model, [*first, 1.0]) for first in ([1.0, 0.0], [0.0, 1.0]))
    with pytest.raises(UnsupportedProblemError, match="stay against stay is infinite"):
        gamedp.cross_table(model, {"stay": stay, "leave": leave})
    assert gamedp.cross_table(model, {"leave": leave}).means.tolist() == [0.0]
    with pytest.raises(InvalidParameterError, match="mapping of names"):
        gamedp.cross_table(model, [stay, leave])


def field():
    model = gamedp.compile(Matches(6), compile="never")
    names = {"one": lambda state: 1, "two": lambda state: min(2, state.left)}
    made = [gamedp.Policy.from_function(model, rule, name) for name, rule in names.items()]
    return model, made


def test_who_may_still_play_is_one_of_the_field():
    model, (one, two) = field()
    found = gamedp.best_response(model, {one: 0.5, two: 0.5}, player=1)
    start = model.state(0)
    assert found.value(start, [0, 1]) == found.value()
    for possible in ([], [2], [-1], [0, 5], [0.5]):
        with pytest.raises(InvalidParameterError, match="possible is"):
            found.value(start, possible)
    alone = gamedp.best_response(model, one, player=1)
    with pytest.raises(InvalidParameterError, match="possible is"):
        alone.value(start, [1])
    assert found.possible_after(start, 2, (0, 1)) == (1,)
    with pytest.raises(InvalidParameterError, match="no action 7"):
        found.possible_after(start, 7, (0, 1))


def test_one_of_a_field_who_says_nothing_is_no_opponent():
    model, (one, _) = field()
    lost = gamedp.Policy.from_function(model, lambda state: 9, "lost")
    with pytest.raises(InvalidParameterError, match="lost chooses 9 in"):
        gamedp.best_response(model, {one: 0.5, lost: 0.5}, player=1)
    with pytest.raises(InvalidParameterError, match="lost chooses 9 in"):
        gamedp.best_response(model, {lost: 0.5, one: 0.5}, player=0)


def test_a_weight_of_a_field_is_no_fainter_than_a_probability():
    model, (one, two) = field()
    assert gamedp.best_response(model, {one: 1.0, two: 1e-300}, player=1).value() == 1.0
    with pytest.raises(InvalidParameterError, match="too few digits"):
        gamedp.best_response(model, {one: 1.0, two: 1e-320}, player=1)


def test_equal_actions_tell_the_same_of_who_plays():
    model = gamedp.compile(TicTacToe(), compile="never")
    offsets = model.choice_offsets
    inner = np.flatnonzero(np.diff(offsets))
    firsts, lasts = np.zeros((2, model.num_choices))
    firsts[offsets[inner]] = 1.0
    lasts[offsets[inner + 1] - 1] = 1.0
    policies = [gamedp.Policy(model, numbers) for numbers in (firsts, lasts)]
    found = gamedp.best_response(model, dict.fromkeys(policies, 0.5), player=0)
    state = Board(1, (0, 0, 0, 0, 0, 0, 0, 0, 1))
    choices = dict(choices_in(model, state))
    assert len(set(choices.values())) < len(choices)
    for action, choice in choices.items():
        expected = tuple(m for m in (0, 1) if policies[m].probabilities[choice] > 0)
        assert found.possible_after(state, action, (0, 1)) == expected
    assert found.possible_after(state, 0, ()) == ()


def expected_in_steps(model, state, steps, chosen):
    """Return what player 0 expects exactly, if one chooses by the steps and all else is even."""
    first, end = model.choice_offsets[state : state + 2].tolist()
    if first == end or steps == 0:
        return Fraction(float(model.payoffs[model.terminals == state].sum()))
    total, choices = Fraction(0), chosen(state, steps) or range(first, end)
    for choice in choices:
        row = slice(*model.transition_offsets[choice : choice + 2].tolist())
        after = (
            Fraction(chance) * expected_in_steps(model, successor, steps - 1, chosen)
            for chance, successor in zip(
                model.probabilities[row].tolist(), model.successors[row].tolist(), strict=True
            )
        )
        total += Fraction(float(model.rewards[choice])) + sum(after)
    return total / len(choices)


@given(models(max_states=4, players=[2], swaps=False), st.integers(0, 1), st.integers(1, 4))
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_response_is_asked_with_the_steps_that_are_left(model, player, horizon):
    """Whoever follows what it chooses with so many steps left gets its value."""
    other, objective = gamedp.Policy.uniform(model), gamedp.FiniteHorizon(horizon)
    found = gamedp.best_response(model, other, player, objective, everywhere=True)

    def chosen(state, steps):
        if model.players[state] != player:
            return []
        return [int(model.choice_offsets[state]) + found.choose(state, steps=steps)]

    low, high = found.bounds(0)
    total = expected_in_steps(model, 0, horizon, chosen)
    total = total if player == 0 else Fraction(model.constant_sum) - total
    slack = Fraction(1, 10**9) * max(1, abs(total))  # models are stored with rounded probabilities
    assert low - slack <= total <= high + slack


def test_a_response_that_counts_steps_is_no_policy():
    """Which would wait in each step for a reward that it could only get in the last one."""
    model = gamedp.Model.from_arrays(
        [0, 2, 3], [0, 1, 2, 3], [0, 1, 0], [1.0] * 3, rewards=[1, 0, 3], players=[0, 0],
        num_players=2,
    )  # fmt: skip
    other = gamedp.Policy.uniform(model)
    found = gamedp.best_response(model, other, 0, gamedp.FiniteHorizon(3))
    assert found.value() == 4.0
    assert [found.choose(0, steps=steps) for steps in (3, 2, 1)] == [0, 1, 0]
    for asked in (
        lambda: found.policy,
        lambda: found.choose(0),
        lambda: gamedp.evaluate(model, [found, other], gamedp.FiniteHorizon(3)),
        lambda: gamedp.simulate(model, [found, other], games=1),
        lambda: gamedp.evaluate(model, [found.policy, other], gamedp.FiniteHorizon(3)),
    ):
        with pytest.raises(UnsupportedProblemError, match=r"steps that are left.* steps=2"):
            asked()
    with pytest.raises(InvalidParameterError, match="steps is 4; it must be an integer, 0 to 3"):
        found.choose(0, steps=4)
    with pytest.raises(UnsupportedProblemError, match="steps are counted for FiniteHorizon"):
        gamedp.best_response(model, other, 0, gamedp.Discounted(0.5)).choose(0, steps=1)
