"""Two opponents who can keep each other from an end: bounds and policies against all policies."""

import math

import attrs
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import gamedp
from gamedp.testing import exact_values
from gamedp.testing.strategies import models

SOLVERS = (gamedp.solvers.StrategyIteration(), gamedp.solvers.ExactPolicyIteration())

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


def solved_best_effort(solver, problem, truth):
    """Solve, and take what is known where rewards differ too much in size for 64 bits."""
    try:
        return solver.solve(problem, tolerance=1e-7 * largest(truth))
    except gamedp.NotSolvedError as error:
        sizes = np.append(np.abs(problem.model.rewards[problem.model.rewards != 0]), largest(truth))
        if error.solution.status is gamedp.Status.ROUNDING and sizes.min() < 1e-5 * sizes.max():
            return error.solution
        raise


def assert_strategies_found(problem):
    """Bounds contain the value, rationals are it, and whoever keeps to the policy gets it."""
    model, objective = problem.model, problem.objective
    truth = exact_values(model, objective)
    for solver in SOLVERS:
        solution = solved_best_effort(solver, problem, truth)
        assert solution.guarantee is gamedp.Guarantee.TWO_SIDED
        for low, value, high in zip(
            solution.lower.tolist(), truth, solution.upper.tolist(), strict=True
        ):
            assert low <= value <= high
        if isinstance(solver, gamedp.solvers.ExactPolicyIteration):
            assert list(solution.exact) == truth
        slack = 0 if solution.exact else solution.width + 1e-9 * largest(truth)
        for player in (0, 1):
            got = exact_values(model, objective, policy=solution.policy.tolist(), player=player)
            wants_most = (player == 0) == (objective.optimum == "max")
            for value, best in zip(got, truth, strict=True):
                # Written so that an infinite value is equal to itself.
                lost = 0 if value == best else best - value if wants_most else value - best
                assert lost <= slack


@relaxed
@given(st.data(), sides)
def test_reachability(data, optimum):
    model = data.draw(loopy)
    target = data.draw(masks(model))
    allowed = data.draw(st.none() | masks(model))
    assert_strategies_found(gamedp.Problem(model, gamedp.Reachability(target, allowed, optimum)))


@relaxed
@given(loopy, sides, st.sampled_from([-1, 0, 1]))
def test_play_without_end_is_worth_what_it_earns(model, optimum, sign):
    model = attrs.evolve(model, rewards=sign * np.abs(model.rewards))
    assert_strategies_found(gamedp.Problem(model, gamedp.TotalReward(optimum)))


@relaxed
@given(loopy, sides)
def test_rewards_of_both_signs_where_nobody_stays(model, optimum):
    rewards = np.where(model.structure.stays, 0.0, model.rewards)
    problem = gamedp.Problem(attrs.evolve(model, rewards=rewards), gamedp.TotalReward(optimum))
    assert_strategies_found(problem)


@relaxed
@given(swapping, sides)
def test_payoffs_where_places_change(model, optimum):
    model = attrs.evolve(model, constant_sum=0.0, rewards=0 * model.rewards)
    assert_strategies_found(gamedp.Problem(model, gamedp.TotalReward(optimum)))


@relaxed
@given(st.data(), sides)
def test_until(data, optimum):
    model = data.draw(loopy)
    model = attrs.evolve(model, rewards=np.abs(model.rewards))
    objective = gamedp.TotalReward(optimum, until=data.draw(masks(model)))
    assert_strategies_found(gamedp.Problem(model, objective))


def back_and_forth(**keywords):
    """Each can send the other back, or leave: 3 is reached by 1/4 from 0, by 3/4 from 1."""
    return gamedp.Model.from_arrays(
        [0, 2, 4, 4, 4],
        [0, 1, 3, 4, 6],
        [1, 2, 3, 0, 2, 3],
        [1.0, 0.75, 0.25, 1.0, 0.25, 0.75],
        players=[0, 1, 0, 0],
        terminals=[2, 3],
        **keywords,
    )


KNOWN = [
    # Waiting reaches nothing, so the maximiser leaves; the minimiser would wait for ever.
    (gamedp.Reachability([3]), [0.25, 0.25, 0, 1], [1, 2, -1, -1]),
    (gamedp.Reachability([3], optimum="min"), [0.25, 0.75, 0, 1], [1, 3, -1, -1]),
    # To wait for ever is worth 0, and that is more than the maximiser gets by leaving.
    (gamedp.TotalReward(), [0, 0, -3, 2], [0, 2, -1, -1]),
    # It is worth infinity, so the minimiser must leave.
    (gamedp.TotalReward(until=[2, 3]), [0.75, 0.75, -3, 2], [0, 3, -1, -1]),
    (gamedp.TotalReward(until=[3]), [math.inf, math.inf, math.inf, 2], None),
    (gamedp.Discounted(0.5), [0, 0, -3, 2], [0, 2, -1, -1]),
]


@pytest.mark.parametrize("solver", [None, *SOLVERS], ids=str)
@pytest.mark.parametrize(("objective", "values", "policy"), KNOWN, ids=str)
def test_known_values(objective, values, policy, solver):
    model = back_and_forth(payoffs=[-3.0, 2.0])
    solution = gamedp.solve(model, objective, solver, tolerance=1e-9)
    assert solution.guarantee is gamedp.Guarantee.TWO_SIDED
    assert (solution.lower <= values).all()
    assert (solution.upper >= values).all()
    assert solution.width <= 1e-9
    if policy is not None:
        assert solution.policy.tolist() == policy
    if isinstance(objective, gamedp.Reachability) and solver is None:
        assert isinstance(solution.solver, gamedp.solvers.StrategyIteration)
        assert "either player can prolong play for ever" in gamedp.explain(model, objective)


@pytest.mark.parametrize(
    ("model", "objective", "words"),
    [
        (
            back_and_forth(rewards=[1.0, 0.0, -1.0, 0.0]),
            gamedp.TotalReward(),
            "rewards of one sign where play may go on for ever; action 0 in 1 earns -1",
        ),
        (
            back_and_forth(rewards=[-1.0, 0.0, 0.0, 0.0]),
            gamedp.TotalReward(until=[2, 3]),
            "at least 0 where play may be kept from its target for ever; action 0 in 0 earns -1",
        ),
        (back_and_forth(), gamedp.AverageReward(), "does not support long-run averages"),
        (back_and_forth(), gamedp.FiniteHorizon(3), "BackwardInduction does"),
    ],
)
def test_what_is_refused(model, objective, words):
    with pytest.raises(gamedp.UnsupportedProblemError, match=words):
        gamedp.solve(model, objective, gamedp.solvers.StrategyIteration())


def three_doors():
    """The first way out that the maximiser finds in 0 is not the best, nor is it to go to 1."""
    return gamedp.Model.from_arrays(
        [0, 3, 5, 5, 5],
        [0, 1, 3, 5, 6, 8],
        [1, 2, 3, 2, 3, 0, 2, 3],
        [1.0, 0.9, 0.1, 0.1, 0.9, 1.0, 0.5, 0.5],
        players=[0, 1, 0, 0],
        terminals=[2, 3],
    )


@pytest.mark.parametrize(
    ("options", "status"),
    [({"max_policies": 1}, "SWEEP_LIMIT"), ({"max_seconds": 1e-9}, "TIME_LIMIT")],
)
def test_limits_leave_bounds_that_hold(options, status):
    model, objective = three_doors(), gamedp.Reachability([3])
    truth = exact_values(model, objective)
    assert gamedp.solve(model, objective).values == pytest.approx([0.9, 0.5, 0.0, 1.0])
    with pytest.raises(gamedp.NotSolvedError, match="Raise max_") as caught:
        gamedp.solve(model, objective, gamedp.solvers.StrategyIteration(**options))
    solution = caught.value.solution
    assert solution.status.name == status
    assert solution.width > 1e-6
    for low, value, high in zip(
        solution.lower.tolist(), truth, solution.upper.tolist(), strict=True
    ):
        assert low <= value <= high
