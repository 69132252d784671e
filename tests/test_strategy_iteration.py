"""Two opponents who can keep each other from an end: bounds and policies against all policies."""

import math

import attrs
import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gamedp
from gamedp.testing import exact_values
from gamedp.testing.strategies import models

SOLVERS = (gamedp.StrategyIteration(), gamedp.ExactPolicyIteration())

relaxed = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))

loopy = models(max_states=3, players=[2], ends=False, acyclic=False, swaps=False)
swapping = models(max_states=2, players=[2], ends=False, acyclic=False, swaps=True)
sides = st.sampled_from(["max", "min"])


def masks(model):
    return st.lists(st.booleans(), min_size=model.num_states, max_size=model.num_states).map(
        np.array
    )


def largest(truth):
    return max([1.0, *(abs(float(value)) for value in truth if abs(value) < math.inf)])


def solved_anyhow(solver, problem, truth):
    """Solve, and take what is known where rewards differ too much in size for 64 bits."""
    try:
        return solver.solve(problem, tolerance=1e-7 * largest(truth))
    except gamedp.NotSolvedError as error:
        sizes = np.abs(problem.model.rewards[problem.model.rewards != 0])
        if error.solution.status is gamedp.Status.ROUNDING and sizes.min() < 1e-5 * sizes.max():
            return error.solution
        raise


def assert_solved(problem):
    """Bounds contain the value, rationals are it, and whoever keeps to the policy gets it."""
    model, objective = problem.model, problem.objective
    truth = exact_values(model, objective)
    for solver in SOLVERS:
        solution = solved_anyhow(solver, problem, truth)
        assert solution.guarantee is gamedp.Guarantee.TWO_SIDED
        for low, value, high in zip(
            solution.lower.tolist(), truth, solution.upper.tolist(), strict=True
        ):
            assert low <= value <= high
        if isinstance(solver, gamedp.ExactPolicyIteration):
            assert list(solution.exact) == truth
        slack = 0 if solution.exact else solution.width + 1e-9 * largest(truth)
        for player in (0, 1):
            got = exact_values(model, objective, policy=solution.policy.tolist(), player=player)
            wants_most = (player == 0) == (objective.optimum == "max")
            for value, best in zip(got, truth, strict=True):
                assert value >= best - slack if wants_most else value <= best + slack


@relaxed
@given(st.data(), sides)
def test_reachability(data, optimum):
    model = data.draw(loopy)
    target = data.draw(masks(model))
    allowed = data.draw(st.none() | masks(model))
    assert_solved(gamedp.Problem(model, gamedp.Reachability(target, allowed, optimum)))


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
