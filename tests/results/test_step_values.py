"""Values by the number of steps to go: those of every shorter horizon."""

from fractions import Fraction

import numpy as np
import pytest

import gamedp
from gamedp.testing.models import random_model


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("optimum", ["max", "min"])
def test_they_are_the_values_of_shorter_horizons(seed, optimum):
    model = random_model(seed, num_states=12, num_players=1 + seed % 2)
    solution = gamedp.solve(model, gamedp.FiniteHorizon(5, optimum))
    assert solution.step_values.shape == (6, model.num_states)
    assert solution.steps_left(5) is solution
    exact = gamedp.solvers.ExactPolicyIteration()
    for steps in range(5):
        left = solution.steps_left(steps)
        alone = gamedp.solve(model, gamedp.FiniteHorizon(steps, optimum), exact)
        truth = alone.exact
        assert all(
            low <= number <= high and high - low < 1e-12
            for low, number, high in zip(left.lower, truth, left.upper, strict=True)
        )
        assert solution.step_values[steps].tolist() == left.values.tolist()
        assert np.allclose(left.values, alone.values, rtol=1e-13, atol=1e-13)
        ours = gamedp.solve(model, gamedp.FiniteHorizon(steps, optimum))
        assert left.policy.tolist() == ours.policy.tolist()
        state = int(np.argmax(np.diff(model.choice_offsets)))
        assert left.best_actions(state) == ours.best_actions(state)
        assert gamedp.verify(model, gamedp.certify(left))


class Thirds:
    """Pay a third a step: no double holds it."""

    def initial_state(self):
        return 0

    def is_terminal(self, state):
        return state == 1

    def actions(self, state):
        return [0, 1]

    def outcomes(self, state, action):
        return [(1, action)]

    def reward(self, state, action, player):
        return Fraction(1, 3)

    def payoff(self, state, player):
        return Fraction(1, 7)


def test_what_no_double_holds_is_within_the_bounds():
    solution = gamedp.solve(Thirds(), gamedp.FiniteHorizon(4), compile="never")
    for steps in range(1, 5):
        left = solution.steps_left(steps)
        low, high = left.bounds(0)
        assert low < Fraction(steps, 3) + Fraction(1, 7) < high
    assert solution.steps_left(0).bounds(0) == (0.0, 0.0) or solution.steps_left(0).width < 1e-15


COIN = gamedp.Model.from_arrays(
    [0, 1, 1, 2], [0, 2, 3], [1, 2, 2], [0.5, 0.5, 1.0], terminals=[1], payoffs=[4.0]
)
"""A coin says whether play ends with 4, or goes on for ever in another state."""


@pytest.mark.parametrize(
    ("final", "expected"),
    [
        ([7, 1, Fraction(1, 3)], [7, Fraction(2, 3)]),  # payoffs do not count
        ({2: Fraction(1, 3)}, [0, Fraction(13, 6)]),
        ({1: -1}, [0, Fraction(-1, 2)]),
        ({}, [0, 2]),
        (lambda state: state, [0, 3]),  # it is asked where play goes on
    ],
    ids=["all", "a fraction", "a loss", "none", "a function"],
)
def test_values_at_the_end_count_with_no_steps_to_go(final, expected):
    objective = gamedp.FiniteHorizon(1, final=final)
    exact = gamedp.solve(COIN, objective, gamedp.solvers.ExactPolicyIteration())
    solution = gamedp.solve(COIN, objective)
    assert exact.exact[0] == expected[1]
    for steps, value in enumerate(expected):
        low, high = solution.steps_left(steps).bounds(0)
        assert low <= value <= high
        assert high - low < 1e-14
    assert gamedp.verify(COIN, gamedp.certify(solution))


def test_values_at_the_end_change_sides_with_the_players():
    """Who moves, becomes the other one; what is left at the end is the first player's."""
    model = gamedp.Model.from_arrays([0, 1], [0, 1], [0], [-1.0], players=[0], num_players=2)
    only = gamedp.Policy.uniform(model)
    for steps, value in enumerate([8.0, -8.0, 8.0]):
        objective = gamedp.FiniteHorizon(steps, final={0: 8})
        assert gamedp.solve(model, objective).value(0) == value
        assert gamedp.evaluate(model, [only, only], objective).value(player=0) == value
        assert gamedp.best_response(model, only, 1, objective).value() == -value


@pytest.mark.parametrize(
    ("final", "words"),
    [
        ([1.0], "one number for each state of the model: .3,."),
        ([1.0, np.nan, 0.0], "final has nan for state 1; it must be a finite number"),
        ({0: "a"}, "final has 'a' for state 0; it must be a finite number"),
        ("end", "final is 'end'; give an array of numbers"),
        ({7: 1.0}, "7"),
        (lambda state: None, "final has None for state 0"),
    ],
)
def test_values_at_the_end_are_a_number_of_each_state(final, words):
    with pytest.raises(gamedp.errors.GamedpError, match=words):
        gamedp.solve(COIN, gamedp.FiniteHorizon(1, final=final))


@pytest.mark.parametrize("final", [[1.0, 2.0], {0: 1.0}, abs], ids=["array", "mapping", "function"])
def test_values_at_the_end_are_not_for_more_players(final):
    three = gamedp.Model.from_arrays(
        [0, 1, 1], [0, 1], [1], [1.0], payoffs=[[1.0, 2.0, 3.0]], num_players=3
    )
    with pytest.raises(gamedp.errors.InvalidParameterError, match="are those of player 0"):
        gamedp.Problem(three, gamedp.FiniteHorizon(1, final=final))


def test_values_at_the_end_are_those_of_one_side():
    def solve(**players):
        model = gamedp.Model.from_arrays([0, 1], [0, 1], [0], [1.0], **players)
        gamedp.solve(model, gamedp.FiniteHorizon(1, final={0: 1}))

    with pytest.raises(gamedp.errors.UnsupportedProblemError, match="payoffs that add up to 0"):
        solve(num_players=2, constant_sum=1.0)
    with pytest.raises(gamedp.errors.InvalidParameterError, match="for one player or two"):
        solve(num_players=3)


def test_bad_questions_are_refused():
    model = gamedp.Model.from_arrays([0, 1], [0, 1], [0], [1.0], rewards=[1.0])
    solution = gamedp.solve(model, gamedp.FiniteHorizon(2))
    for steps in (-1, 3):
        with pytest.raises(gamedp.errors.InvalidParameterError, match="an integer, 0 to 2"):
            solution.steps_left(steps)
    assert solution.steps_left(0).best_action(0) is None
    with pytest.raises(gamedp.errors.UnsupportedProblemError, match="FiniteHorizon alone"):
        gamedp.solve(model, gamedp.Discounted(0.5)).steps_left(1)


def test_a_horizon_that_rounding_stops_keeps_its_steps():
    model = gamedp.Model.from_arrays(
        [0, 2, 3, 3], [0, 1, 2, 3], [0, 1, 2], [1.0] * 3, rewards=[1e6 / 3, 0, 1e6], terminals=[2]
    )
    with pytest.raises(gamedp.NotSolvedError) as caught:
        gamedp.solve(model, gamedp.FiniteHorizon(3), tolerance=1e-15)
    stopped, solved = caught.value.solution, gamedp.solve(model, gamedp.FiniteHorizon(3))
    assert stopped.status is gamedp.Status.ROUNDING
    assert np.array_equal(stopped.step_policies, solved.step_policies)
    assert stopped.steps_left(1).value(0) == solved.steps_left(1).value(0) == 1e6 / 3
    assert stopped.action_values(0) == solved.action_values(0)


def test_with_fewer_steps_to_go_nothing_is_best_because_it_was_with_more():
    """In the last step the reward is best; before, it is as good to wait for it."""
    model = gamedp.Model.from_arrays(
        [0, 2, 2], [0, 1, 2], [0, 1], [1.0, 1.0], rewards=[0, 1], terminals=[1], payoffs=[0]
    )
    exact = gamedp.solvers.ExactPolicyIteration()
    solution = gamedp.solve(model, gamedp.FiniteHorizon(3), solver=exact)
    assert solution.best_actions(0, certain=True) == [0, 1]
    last = solution.steps_left(1)
    assert last.best_actions(0) == last.best_actions(0, certain=True) == [1]
    assert [entry.best for entry in last.action_values(0)] == ["no", "certain"]
    assert solution.steps_left(0).best_actions(0) == []
