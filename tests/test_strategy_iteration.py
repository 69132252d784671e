"""Two opponents who can keep each other from an end: bounds and policies against all policies."""

import attrs
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from opponents_judge import INFINITE, values_by_policies

import gamedp
from gamedp.testing.strategies import models

SOLVERS = (gamedp.StrategyIteration(), gamedp.ExactPolicyIteration())

relaxed = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))

loopy = models(max_states=4, players=[2], ends=False, acyclic=False, swaps=False)
swapping = models(max_states=2, players=[2], ends=False, acyclic=False, swaps=True)
sides = st.sampled_from(["max", "min"])


def masks(model):
    return st.lists(st.booleans(), min_size=model.num_states, max_size=model.num_states).map(
        np.array
    )


def as_number(value):
    return float(value) if isinstance(value, float) else value


def assert_solved(problem):
    truth = values_by_policies(problem)
    for solver in SOLVERS:
        try:
            solution = solver.solve(problem, tolerance=1e-7)
        except gamedp.NotSolvedError as error:
            assert error.solution.status is gamedp.Status.ROUNDING
            solution = error.solution
            size = max((abs(value) for value in truth if abs(value) < INFINITE), default=0)
            assert solution.width <= 1e-9 * max(1, size)
        assert solution.guarantee is gamedp.Guarantee.TWO_SIDED
        for low, value, high in zip(
            solution.lower.tolist(), truth, solution.upper.tolist(), strict=True
        ):
            assert low <= value <= high
        if solution.exact is not None:
            assert list(solution.exact) == truth
        assert_policy_attains(problem, solution, truth)


def assert_policy_attains(problem, solution, truth):
    """Who keeps to the policy gets the value, whatever the other one does."""
    model = problem.model
    finite = [abs(value) for value in truth if abs(value) < INFINITE]
    slack = 1e-5 * max([1, *finite])
    for player in (0, 1):
        kept = attrs.evolve(problem, model=kept_to(model, solution.policy, player))
        got = values_by_policies(kept)
        wants_most = (player == 0) == (problem.objective.optimum == "max")
        for value, best in zip(got, truth, strict=True):
            assert value >= best - slack if wants_most else value <= best + slack


def kept_to(model, policy, player):
    """Return the model in which a player has the choices of a policy alone."""
    owners = np.repeat(np.arange(model.num_states), np.diff(model.choice_offsets))
    keep = (model.players[owners] != player) | (policy[owners] == np.arange(model.num_choices))
    lengths = np.diff(model.transition_offsets)
    places = np.repeat(keep, lengths)
    return gamedp.Model.from_arrays(
        np.concatenate([[0], np.cumsum(np.bincount(owners[keep], minlength=model.num_states))]),
        np.concatenate([[0], np.cumsum(lengths[keep])]),
        model.successors[places],
        model.probabilities[places],
        rewards=model.rewards[keep],
        players=model.players,
        terminals=model.terminals,
        payoffs=model.payoffs,
        num_players=2,
        constant_sum=model.constant_sum,
    )


@relaxed
@given(st.data(), sides)
def test_reachability(data, optimum):
    model = data.draw(loopy)
    target = data.draw(masks(model))
    allowed = data.draw(st.none() | masks(model))
    assert_solved(gamedp.Problem(model, gamedp.Reachability(target, allowed, optimum)))


@relaxed
@given(st.data(), sides)
def test_reachability_where_places_change(data, optimum):
    model = attrs.evolve(data.draw(swapping), constant_sum=0.0)
    objective = gamedp.Reachability(data.draw(masks(model)), None, optimum)
    assert_solved(gamedp.Problem(model, objective))


@relaxed
@given(loopy, sides, st.sampled_from([-1, 0, 1]))
def test_play_without_end_is_worth_what_it_earns(model, optimum, sign):
    model = attrs.evolve(model, rewards=sign * np.abs(model.rewards))
    assert_solved(gamedp.Problem(model, gamedp.TotalReward(optimum)))


@relaxed
@given(loopy, sides)
def test_rewards_of_both_signs_where_nobody_stays(model, optimum):
    rewards = np.where(model.structure.stays, 0.0, model.rewards)
    problem = gamedp.Problem(attrs.evolve(model, rewards=rewards), gamedp.TotalReward(optimum))
    assert_solved(problem)


@relaxed
@given(swapping, sides)
def test_payoffs_where_places_change(model, optimum):
    model = attrs.evolve(model, constant_sum=0.0, rewards=0 * model.rewards)
    assert_solved(gamedp.Problem(model, gamedp.TotalReward(optimum)))


@relaxed
@given(st.data(), sides)
def test_until(data, optimum):
    model = data.draw(loopy)
    model = attrs.evolve(model, rewards=np.abs(model.rewards))
    objective = gamedp.TotalReward(optimum, until=data.draw(masks(model)))
    assert_solved(gamedp.Problem(model, objective))


@relaxed
@given(st.data(), sides)
def test_until_where_places_change(data, optimum):
    model = data.draw(swapping)
    objective = gamedp.TotalReward(optimum, until=data.draw(masks(model)))
    problem = gamedp.Problem(model, objective)
    assume(gamedp.StrategyIteration().supports(problem))
    assert_solved(problem)
