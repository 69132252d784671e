"""Policies as values, and what they are worth against each other."""

import itertools
from decimal import Decimal
from fractions import Fraction

import attrs
import numba
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from symmetric_games import Pile, TwoWaysToTakeOne

import gamedp
from gamedp.errors import (
    InvalidParameterError,
    NotSolvedError,
    UnknownNameError,
    UnknownStateError,
    UnsupportedProblemError,
)
from gamedp.games.matches import Matches
from gamedp.games.wubbel import Wubbel
from gamedp.policies import InducedChain
from gamedp.testing.models import random_model


@attrs.frozen
class Hold:
    """Roll up to so many points a turn, then save."""

    points: int

    def choose(self, state):
        return 1 if state.turn >= self.points else 0


class Apart(Wubbel):
    """Wubbel with positions that tell who is to move."""

    def canonical(self, state):
        return state, False


def values_of_chain(model, policies):
    """Solve the chain of mixed policies in fractions, by the fundamental matrix.

    Returns the values of player 0 in all states, with places as they are and changed.
    """
    num_states = model.num_states
    size = 2 * num_states
    rows = [[Fraction(0)] * size + [Fraction(0)] for _ in range(size)]
    payoffs = dict(zip(model.terminals.tolist(), model.payoffs.tolist(), strict=True))
    total = Fraction(model.constant_sum)
    for node in range(size):
        state, changed = node % num_states, node // num_states
        rows[node][node] += 1
        if state in payoffs:
            own = Fraction(payoffs[state])
            rows[node][size] = total - own if changed else own
            continue
        mover = int(model.players[state]) ^ changed if model.num_players == 2 else 0
        weights = policies[mover].probabilities
        first, stop = model.choice_offsets[state : state + 2].tolist()
        sum_of_weights = sum(Fraction(weights[c]) for c in range(first, stop))
        for choice in range(first, stop):
            weight = Fraction(weights[choice]) / sum_of_weights
            reward = Fraction(model.rewards[choice])
            rows[node][size] += weight * (-reward if changed else reward)
            begin, end = model.transition_offsets[choice : choice + 2].tolist()
            probabilities = [Fraction(p) for p in model.probabilities[begin:end].tolist()]
            whole = sum(map(abs, probabilities))
            for successor, probability in zip(
                model.successors[begin:end], probabilities, strict=True
            ):
                side = changed ^ (probability < 0)
                rows[node][side * num_states + int(successor)] -= weight * abs(probability) / whole
    for pivot in range(size):
        place = next(row for row in range(pivot, size) if rows[row][pivot])
        rows[pivot], rows[place] = rows[place], rows[pivot]
        head = rows[pivot][pivot]
        rows[pivot] = [number / head for number in rows[pivot]]
        for row in range(size):
            if row != pivot and (factor := rows[row][pivot]):
                rows[row] = [a - factor * b for a, b in zip(rows[row], rows[pivot], strict=True)]
    return [rows[node][size] for node in range(size)]


def random_policy(model, rng, *, mixed=True):
    """Return a policy with random probabilities, or with random actions."""
    numbers = np.zeros(model.num_choices)
    offsets = model.choice_offsets.tolist()
    for first, stop in itertools.pairwise(offsets):
        if first == stop:
            continue
        if mixed:
            weights = rng.integers(0, 4, stop - first) + 1e-3 * (rng.random(stop - first) < 0.2)
            weights[rng.integers(stop - first)] += 1
            numbers[first:stop] = weights / weights.sum()
        else:
            numbers[rng.integers(first, stop)] = 1
    return gamedp.Policy(model, numbers)


def with_swaps(model, rng):
    """Let the players of a model change places on some transitions."""
    signs = np.where(rng.random(model.num_transitions) < 0.4, -1.0, 1.0)
    offsets, ends = model.transition_offsets, model.terminals.tolist()
    return gamedp.Model.from_arrays(
        model.choice_offsets,
        offsets,
        model.successors,
        model.probabilities * signs,
        rewards=model.rewards,
        players=model.players,
        terminals=ends,
        payoffs=model.payoffs,
        num_players=2,
        constant_sum=float(rng.choice([0.0, 1.0])),
    )


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32), st.sampled_from(["one", "two", "swaps"]))
def test_values_are_those_of_the_fundamental_matrix(seed, kind):
    rng = np.random.default_rng(seed)
    players = 1 if kind == "one" else 2
    model = random_model(seed, num_states=4, num_players=players, end_components=False)
    if kind == "swaps":
        model = with_swaps(model, rng)
    policies = [random_policy(model, rng, mixed=rng.random() < 0.7) for _ in range(players)]
    found = gamedp.evaluate(model, policies, everywhere=True)
    true = values_of_chain(model, policies)
    for state in range(model.num_states):
        low, high = found.bounds(state)
        assert low <= true[state] <= high
        assert high - low <= 1e-9
        if players == 2:
            low, high = found.bounds(state, player=1)
            assert low <= Fraction(model.constant_sum) - true[state] <= high


@pytest.mark.skipif(
    bool(numba.config.DISABLE_JIT), reason="66,250 positions take long in plain Python"
)
def test_hold_20_against_itself_wins_as_often_as_published():
    # "Würfeln mit Wubbel" gives the strategy; the number is from solving its chain of 6,390 states.
    found = gamedp.evaluate(Wubbel(), [Hold(20), Hold(20)])
    assert found.value() == pytest.approx(0.5387327, abs=5e-8)
    assert found.bounds()[1] - found.bounds()[0] <= 1e-9
    assert found.chain.num_nodes == 6390
    assert found.guarantee is gamedp.Guarantee.TWO_SIDED


@pytest.mark.parametrize("points", [(1, 3), (3, 1), (2, 2)])
def test_seats_are_told_apart_where_positions_are_merged(points):
    policies = [Hold(number) for number in points]
    merged = gamedp.evaluate(gamedp.compile(Wubbel(goal=6), compile="never"), policies)
    apart = gamedp.evaluate(gamedp.compile(Apart(goal=6), compile="never"), policies)
    for player in (0, 1):
        assert merged.value(player=player) == pytest.approx(apart.value(player=player), abs=1e-12)
    assert merged.value() + merged.value(player=1) == pytest.approx(1.0, abs=1e-12)
    both = {merged.chain.is_changed(node) for node in range(merged.chain.num_nodes)}
    assert both == {False, True}


def test_a_solution_attains_its_own_value_and_is_certified():
    solution = gamedp.solve(Wubbel(goal=8), compile="never", tolerance=1e-12)
    found = gamedp.evaluate(Wubbel(goal=8), [solution, solution])
    assert found.chain.of is solution.model
    assert found.value() == pytest.approx(solution.value(), abs=1e-9)
    proof = gamedp.certify(found.solutions[0])
    assert gamedp.verify(found.chain.model, proof).width <= 1e-9


def test_three_players_each_have_a_value():
    model = random_model(5, num_states=6, end_components=False)
    rewards = np.random.default_rng(1).normal(size=(model.num_choices, 3))
    model = gamedp.Model.from_arrays(
        model.choice_offsets,
        model.transition_offsets,
        model.successors,
        model.probabilities,
        rewards=rewards,
        players=[0, 1, 2, 0, 1, 2, 0, 0],
        terminals=[6, 7],
        payoffs=[[1.0, 0.0, -1.0], [0.0, 2.0, 0.0]],
        num_players=3,
    )
    policy = gamedp.Policy.uniform(model)
    found = gamedp.evaluate(model, [policy] * 3)
    for player in range(3):
        alone = attrs.evolve(
            model,
            rewards=rewards[:, player].copy(),
            payoffs=model.payoffs[:, player].copy(),
            players=np.zeros(8, np.int8),
            num_players=1,
        )
        same = gamedp.evaluate(alone, gamedp.Policy.uniform(alone))
        assert found.value(player=player) == pytest.approx(same.value(), abs=1e-9)


def test_a_reachability_does_not_count_throws():
    model = random_model(3, num_states=5, end_components=False)
    policy = gamedp.Policy.uniform(model)
    reached = gamedp.evaluate(model, policy, gamedp.Reachability([5]))
    missed = gamedp.evaluate(model, policy, gamedp.Reachability([6]))
    assert reached.value() + missed.value() == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("answer", [7, True, 1.0, "1", None, [1]])
def test_what_is_no_action_is_named(answer):
    model = gamedp.compile(Matches(matches=5), compile="never")
    with pytest.raises(InvalidParameterError, match=r"chooses .* in MatchesState"):
        gamedp.evaluate(model, [lambda state: answer, gamedp.Policy.uniform(model)])


def test_an_action_that_is_missing_where_nobody_gets_is_no_error():
    model = gamedp.compile(Wubbel(goal=6), compile="never")

    def bold(state):
        return 0 if state.own == 0 else 9

    value = gamedp.evaluate(model, [bold, Hold(1)]).value()
    assert value == pytest.approx(gamedp.evaluate(model, [Hold(9), Hold(1)]).value())


def test_endless_play_must_be_declared():
    model = gamedp.Model.from_arrays(
        [0, 2, 4, 4, 4],
        [0, 1, 2, 3, 4],
        [1, 2, 0, 3],
        [1.0] * 4,
        players=[0, 1, 0, 0],
        terminals=[2, 3],
        payoffs=[1.0, 0.0],
        num_players=2,
        constant_sum=1.0,
        action_labels=[0, 1, 0, 1],
    )
    with pytest.raises(NotSolvedError, match="draw"):
        gamedp.evaluate(model, [lambda state: 0] * 2)
    halves = gamedp.evaluate(model, [lambda state: 0] * 2, gamedp.TotalReward(draw=0.5))
    assert halves.bounds() == (0.5, 0.5)
    lost = gamedp.evaluate(model, [lambda state: 0] * 2, gamedp.TotalReward(draw=0))
    assert lost.bounds(player=1) == (1.0, 1.0)
    assert gamedp.evaluate(model, [lambda state: 1] * 2).value() == 1.0
    assert gamedp.evaluate(model, [lambda state: 0, lambda state: 1]).value() == 0.0


def test_policies_of_another_model_are_refused():
    solution = gamedp.solve(Matches(matches=5), compile="never")
    model = gamedp.compile(Matches(matches=6), compile="never")
    with pytest.raises(InvalidParameterError, match="another model"):
        InducedChain(model, [solution, solution])
    with pytest.raises(InvalidParameterError, match="each player needs one"):
        InducedChain(solution.model, [solution])


def test_a_policy_of_steps_is_refused():
    solution = gamedp.solve(Matches(matches=5), gamedp.FiniteHorizon(3), compile="never")
    for steps in (solution, attrs.evolve(solution, step_policies=None)):  # as another's solver has
        with pytest.raises(UnsupportedProblemError, match=r"steps that are left.* steps_left\(2\)"):
            gamedp.Policy.from_solution(steps)
        with pytest.raises(UnsupportedProblemError, match="steps that are left"):
            gamedp.evaluate(solution.model, [steps, steps], gamedp.FiniteHorizon(3))


@pytest.mark.parametrize("numbers", [[0.5, 0.6], [-0.1, 1.1], [np.nan, 1.0], [1e-320, 1.0]])
def test_what_is_no_probability_is_refused(numbers):
    model = gamedp.Model.from_arrays(
        [0, 2, 2], [0, 1, 2], [1, 1], [1.0, 1.0], terminals=[1], payoffs=[1.0]
    )
    with pytest.raises(InvalidParameterError):
        gamedp.Policy(model, np.array(numbers))


def test_a_mixture_draws_in_every_state():
    model = gamedp.compile(Matches(matches=6), compile="never")
    one, two = (
        gamedp.Policy.from_function(model, lambda state, k=k: min(k, state.left)) for k in (1, 2)
    )
    mixed = gamedp.Policy.mix({one: 0.25, two: 0.75})
    assert mixed.actions(model.state(0)) == {1: 0.25, 2: 0.75}
    assert mixed.is_mixed
    assert not one.is_mixed


def test_a_rule_that_tells_merged_positions_apart_is_refused():
    def seated(state):
        return 1 if state.turn >= (2 if state.player == 0 else 4) else 0

    merged = gamedp.compile(Wubbel(goal=6), compile="never")
    with pytest.raises(InvalidParameterError, match="canonical says that the two"):
        gamedp.evaluate(merged, [seated, Hold(2)])
    with pytest.raises(InvalidParameterError, match="canonical says that the two"):
        gamedp.Policy.from_function(merged, seated)
    apart = gamedp.compile(Apart(goal=6), compile="never")
    same = gamedp.evaluate(apart, [Hold(2), Hold(4)])
    assert gamedp.evaluate(apart, [seated, seated]).value() == same.value()


def test_actions_that_do_the_same_are_the_same_in_each_seat():
    merged, apart = (
        gamedp.compile(TwoWaysToTakeOne(merges), compile="never") for merges in (True, False)
    )

    def seated(state):
        return state.player if state.left % 2 else 2

    found, known = (gamedp.evaluate(model, [seated, seated]) for model in (merged, apart))
    assert found.value() == pytest.approx(known.value(), abs=1e-15)
    policy = gamedp.Policy.from_function(merged, lambda state: 1)
    assert (policy.choose(Pile(0, 3)), policy.choose(Pile(1, 3))) == (1, 0)
    even = gamedp.Policy.uniform(merged)
    assert even.actions(Pile(1, 3)) == pytest.approx({0: 2 / 3, 2: 1 / 3})
    with pytest.raises(InvalidParameterError, match="canonical says that the two"):
        gamedp.evaluate(merged, [lambda state: 2 * state.player if state.left > 1 else 0] * 2)

    def split(state):
        if state.left == 1:
            return state.player
        return {0: 0.7, 2: 0.3} if state.player else {0: 0.1, 1: 0.6, 2: 0.3}

    assert gamedp.evaluate(merged, [split, split]).value() == pytest.approx(
        gamedp.evaluate(apart, [split, split]).value()
    )


@pytest.mark.parametrize("merges", [True, False])
def test_a_payoff_is_one_number_in_both_seats(merges):
    """What is left of the constant sum 1 if one gets 0.9 is not 0.1, and yet the same payoff."""
    model = gamedp.compile(TwoWaysToTakeOne(merges), compile="never")
    pair = [gamedp.Policy.uniform(model)] * 2
    found = gamedp.evaluate(model, pair)
    games = gamedp.simulate(model, pair, games=2_000, seed=1)
    for player in (0, 1):
        assert list(found.distribution(player)) == list(games.outcomes[player]) == [0.1, 0.9]
        wins = found.results(player)[0]
        assert wins == found.distribution(player)[0.9]
        assert games.agrees_with(found, player) > 0.001
        assert found.p_value(games.outcomes[player], player) > 0.001
    assert sum(low for low, _ in found.distribution().values()) == pytest.approx(1.0)
    pairs = gamedp.simulation.simulate_pairs(model, pair, pairs=500, seed=1)
    assert all(list(each) == [0.1, 0.9] for seat in pairs.seatings for each in seat.outcomes)
    narrow = gamedp.simulate(model, pair, games=20_000, seed=1, width=0.1).sequential
    assert narrow.low < found.value() < narrow.high
    assert narrow.looks == 1  # by the binomial distribution, as there are two payoffs


TWO_WAYS = gamedp.Model.from_arrays([0, 2, 3, 4], [0, 1, 2, 3, 4], [1, 2, 1, 2], [1.0] * 4)


@pytest.mark.parametrize(
    "answer",
    [{0: "a", 1: 0.5}, {0: 1j}, {0: 10**400, 1: 1}, {7: "a"}, {0: [1, 2], 1: 0}, 10**30, {7: 0.5}],
    ids=["text", "complex", "huge", "unknown text", "list", "huge action", "unknown action"],
)
def test_what_is_no_probability_is_one_error(answer):
    def policy(state):
        return answer if state == 0 else 0

    with pytest.raises(InvalidParameterError, match="chooses"):
        gamedp.evaluate(TWO_WAYS, policy, gamedp.Discounted(0.5))


def test_what_is_no_weight_is_one_error():
    first = gamedp.Policy.from_array(TWO_WAYS, [0, 0, 0], "places")
    for weights in ({}, {first: "a"}, {first: 10**400}):
        with pytest.raises(InvalidParameterError, match="weight"):
            gamedp.Policy.mix(weights)


@pytest.mark.parametrize("player", ["a", None, 1.0, 1, -1])
def test_who_is_no_player_is_one_error(player):
    solution = gamedp.solve(TWO_WAYS, gamedp.Discounted(0.5))
    with pytest.raises(UnknownNameError, match="there is no player"):
        solution.bounds(player=player)
    with pytest.raises(UnknownNameError, match="there is no player"):
        gamedp.best_response(TWO_WAYS, [], player=player)
    assert solution.bounds(player=np.int64(0)) == solution.bounds()


@pytest.mark.parametrize("state", [-1, 7, "a", 1.0, True, [1]], ids=repr)
def test_a_line_begins_in_a_state(state):
    solution = gamedp.solve(TWO_WAYS, gamedp.Discounted(0.5))
    with pytest.raises(UnknownStateError):
        solution.principal_variation(state)


def test_numbers_beyond_the_range_of_doubles_are_one_error():
    with pytest.raises(InvalidParameterError, match="beyond the range"):
        gamedp.solve(TWO_WAYS, gamedp.Discounted(0.5), tolerance=10**400)
    with pytest.raises(InvalidParameterError, match="draw is"):
        gamedp.TotalReward(draw=10**400)
    with pytest.raises(InvalidParameterError, match="must return True or False"):
        gamedp.solve(TWO_WAYS, gamedp.Reachability(lambda _: np.array([1, 2])))


WRONG_CHANCES = {"huge": 10**400, "complex": 1j, "array": np.array([1.0]), "text": "1"}


@pytest.mark.parametrize("given", WRONG_CHANCES.values(), ids=WRONG_CHANCES)
def test_what_is_no_probability_of_an_action_is_refused(given):
    game = Matches(matches=5)
    model = gamedp.compile(game, compile="never")
    policies = [lambda _: {1: given}, gamedp.Policy.uniform(model)]
    with pytest.raises(InvalidParameterError, match="is not a number that a 64-bit float holds"):
        gamedp.evaluate(model, policies)
    seats = [policies[0], gamedp.play.RandomPlayer(game)]
    with pytest.raises(InvalidParameterError, match="is not a number that a 64-bit float holds"):
        gamedp.simulate(game, seats, by_rules=True, compile="never", games=3)


def test_decimals_are_probabilities_of_actions():
    game = Matches(matches=5)
    tenth = {1: Decimal("0.1"), 2: Decimal("0.9")}
    seats = [lambda state: tenth if state.left > 1 else 1, gamedp.play.RandomPlayer(game)]
    found = gamedp.simulate(game, seats, by_rules=True, compile="never", games=50, seed=1)
    assert found.games == 50


WRONG_POLICIES = {
    "text": lambda model: gamedp.Policy(model, "abc"),
    "complex numbers": lambda model: gamedp.Policy(model, np.ones(model.num_choices) * 1j),
    "ragged": lambda model: gamedp.Policy.from_array(model, [[1], [1, 2]]),
    "mixture of names": lambda _: gamedp.Policy.mix({"a": 1.0}),
    "list": lambda model: gamedp.Policy.mix([gamedp.Policy.uniform(model)]),
    "number as a solution": lambda _: gamedp.Policy.from_solution(3),
    "number as a rule": lambda model: gamedp.Policy.from_function(model, 3),
    "game as a model": lambda _: gamedp.Policy.uniform(Matches(matches=5)),
    "game as the model of a rule": lambda _: gamedp.Policy.from_function(Matches(matches=5), max),
    "game as the model of an array": lambda _: gamedp.Policy.from_array(Matches(matches=5), [0]),
}


@pytest.mark.parametrize("make", WRONG_POLICIES.values(), ids=WRONG_POLICIES)
def test_what_a_policy_cannot_be_made_of_is_refused(make):
    model = gamedp.compile(Matches(matches=5), compile="never")
    with pytest.raises(InvalidParameterError):
        make(model)


def test_probabilities_of_choices_may_be_called_so():
    model = gamedp.compile(Matches(matches=5), compile="never")
    policy = gamedp.Policy.uniform(model)
    again = gamedp.Policy.from_array(model, policy.probabilities, meaning="choices")
    assert np.array_equal(again.probabilities, policy.probabilities)


@pytest.mark.parametrize("counts", [[1], {"a": 1}, {1.0: 10**30, -1.0: 10**30}, {1.0: 0.5}])
def test_what_are_no_counts_of_payoffs_is_refused(counts):
    model = gamedp.compile(Matches(matches=5), compile="never")
    found = gamedp.evaluate(model, [gamedp.Policy.uniform(model)] * 2)
    with pytest.raises(InvalidParameterError):
        found.p_value(counts)


def test_of_an_action_that_is_there_twice_one_is_taken():
    class Twice(Matches):
        def actions(self, state):
            return [1, 1]

    game = Twice(matches=5)
    found = gamedp.evaluate(game, [lambda _: 1] * 2, compile="never")
    assert found.bounds() == gamedp.solve(game, compile="never").bounds()
