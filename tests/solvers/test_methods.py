"""What each method of Bellman's fixed point is for, and what they have in common."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from solving import FIXED_POINT, REGISTERED, assert_contains, walk

import gamedp
from gamedp.runtime import limit
from gamedp.testing import exact_values, problem_kinds, support_table
from gamedp.testing.solver_checks import _model as model_of
from gamedp.testing.strategies import models

relaxed = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])

BY_NAME = {type(solver).__name__: solver for solver in FIXED_POINT}


def slow_chain(length):
    """From the middle to the right with probability 0.7; each step out may lead back (2018).

    S. Haddad and B. Monmege's chain, turned so that the answer is the same number for each length:
    both sides take equally long.
    """
    last = 2 * length - 2
    states = [[(0.0, [(0.7, 1), (0.3, length)])]]
    for first, win in ((1, 1), (length, 2)):
        for step in range(1, length):
            here = first + step - 1
            onward = here + 1 if step < length - 1 else last + win
            states.append([(0.0, [(0.5, onward), (0.5, 0)])])
    return model_of(*states, 1.0, 0.0)


@relaxed
@given(models(), st.sampled_from([1e-3, 1e-8]))
def test_relative_tolerances(model, tolerance):
    truth = exact_values(model)
    for solver in FIXED_POINT:
        if not solver.supports(gamedp.Problem(model)):
            continue
        try:
            solution = gamedp.solve(model, solver=solver, tolerance=tolerance, relative=True)
        except gamedp.NotSolvedError as error:
            solution = error.solution
            assert solution.status is gamedp.Status.ROUNDING
        assert_contains(solution, truth)
        if solution.status is gamedp.Status.SOLVED:
            widths = (solution.upper - solution.lower).tolist()
            for width, value in zip(widths, truth, strict=True):
                assert width <= Fraction(tolerance) * abs(value)


NATIVE = tuple(solver for solver in FIXED_POINT if solver.goes_relative)
"""Those that know relative tolerances themselves."""


@pytest.mark.parametrize("solver", NATIVE, ids=str)
def test_a_tiny_probability_is_no_zero(solver):
    """Ten steps that each succeed once in 40000 tries, or lose: 1e-46 is the answer."""
    probability = 2.5e-5
    states = [
        [(0.0, [(probability, step + 1), (1e-3, max(step - 1, 0)), (1 - 1e-3 - probability, 11)])]
        for step in range(10)
    ]
    model = model_of(*states, 1.0, 0.0)
    truth = exact_values(model)
    assert 1e-47 < truth[0] < 1e-45
    solution = gamedp.solve(model, solver=solver, tolerance=1e-6, relative=True)
    assert solution.status is gamedp.Status.SOLVED
    assert_contains(solution, truth)
    low, high = solution.bounds(0)
    assert 0 < low <= high <= low * (1 + 1e-6)


def test_rounding_forbids_a_tiny_probability_to_others():
    """Their errors are in proportion within a component: they say so, and what is known holds."""
    model = model_of(
        [(0.0, [(1e-30, 1), (0.5, 0), (0.5, 2)])], [(0.0, [(0.5, 0), (0.5, 3)])], 0.0, 1.0
    )
    with pytest.raises(gamedp.NotSolvedError, match=r"relative tolerance 1e-06") as caught:
        gamedp.solve(model, solver=gamedp.solvers.TopologicalValueIteration(), relative=True)
    assert_contains(caught.value.solution, exact_values(model))


def test_a_relative_tolerance_that_rounding_forbids():
    """The value is the difference of large numbers, and zero."""
    model = model_of([(1e6, [(0.3, 0), (0.7, 1)])], [(-1e6 / 0.7, [(1.0, 2)])], 0.0)
    for solver in (
        gamedp.solvers.TopologicalValueIteration(),
        gamedp.solvers.OptimisticValueIteration(),
    ):
        with pytest.raises(gamedp.NotSolvedError, match="rounding") as caught:
            gamedp.solve(model, solver=solver, relative=True)
        solution = caught.value.solution
        assert solution.status is gamedp.Status.ROUNDING
        assert_contains(solution, exact_values(model))


ZEROS = {
    "as ends cancel": [[(0.0, [(0.5, 0), (0.25, 1), (0.25, 2)])], 1.0, -1.0],
    "as rewards cancel": [[(1.0, [(0.5, 1), (0.5, 2)])], [(-2.0, [(0.5, 0), (0.5, 2)])], 0.0],
    "in a slow component": [
        [(0.0, [(0.5, 1), (0.25, 2), (0.25, 3)])],
        [(0.0, [(0.9, 1), (0.1, 0)])],
        1.0,
        -1.0,
    ],
}


@pytest.mark.parametrize("name", ZEROS)
def test_a_relative_tolerance_where_the_value_is_zero(name):
    """Whoever rounds says that it may be 0, and by how much not; no solver named: it is proven."""
    model = model_of(*ZEROS[name])
    truth = exact_values(model)
    assert truth[0] == 0
    for solver in (gamedp.solvers.OptimisticValueIteration(), gamedp.solvers.IntervalIteration()):
        words = r"known to within \S+e-1\d, and some may be 0.*ask for an absolute tolerance"
        with pytest.raises(gamedp.NotSolvedError, match=words) as caught:
            gamedp.solve(model, solver=solver, relative=True)
        solution = caught.value.solution
        assert solution.status is gamedp.Status.ROUNDING
        assert solution.statistics.sweeps < 2000
        assert_contains(solution, truth)
        assert gamedp.solve(model, solver=solver, tolerance=1e-9).width <= 1e-9
    solution = gamedp.solve(model, relative=True)
    assert solution.status is gamedp.Status.SOLVED
    assert solution.bounds(0) == (0.0, 0.0)
    assert_contains(solution, truth)


def test_a_relative_tolerance_where_nothing_pays():
    """Zero is proven by all, as nothing is rounded."""
    model = model_of([(0.0, [(0.5, 0), (0.5, 1)])], 0.0)
    for solver in FIXED_POINT:
        assert gamedp.solve(model, solver=solver, relative=True).bounds(0) == (0.0, 0.0)


def test_rationals_are_as_close_as_doubles_can_be():
    """A relative tolerance below a double's last place is refused by no one who is exact."""
    model = model_of([(0.0, [(0.5, 0), (0.125, 1), (0.375, 2)])], 1 / 3, 0.1)
    solver = gamedp.solvers.ExactPolicyIteration()
    solution = gamedp.solve(model, solver=solver, tolerance=1e-18, relative=True)
    assert solution.status is gamedp.Status.ROUNDING
    assert solution.exact_value(0) == exact_values(model)[0]
    assert solution.bounds(0)[0] < solution.exact_value(0) < solution.bounds(0)[1]


@pytest.mark.parametrize("solver", FIXED_POINT, ids=str)
def test_limits_leave_bounds_that_hold(solver):
    model = walk(states=200)
    truth = [Fraction(state, 199) for state in range(200)]
    limits = {"max_seconds": 1e-9}
    if hasattr(solver, "max_sweeps"):
        limits = {"max_sweeps": 3}
    elif hasattr(solver, "max_policies"):
        limits = {"max_policies": 1}
    limited = type(solver)(**limits)
    try:
        solution = gamedp.solve(model, solver=limited, tolerance=1e-12)
    except gamedp.NotSolvedError as error:
        solution = error.solution
        assert solution.status in {gamedp.Status.SWEEP_LIMIT, gamedp.Status.TIME_LIMIT,
                                   gamedp.Status.ROUNDING}  # fmt: skip
    assert_contains(solution, truth)
    assert solution.lower.min() >= 0
    assert solution.upper.max() <= 1


@pytest.mark.parametrize("length", [5, 10])
@pytest.mark.parametrize("solver", FIXED_POINT, ids=str)
def test_the_slow_chain(solver, length):
    solution = gamedp.solve(slow_chain(length), solver=solver)
    assert abs(solution.values[0] - 0.7) <= 1e-6
    assert solution.lower[0] <= 0.7 <= solution.upper[0]


@pytest.mark.parametrize("name", ["PolicyIteration", "LinearProgramming"])
@pytest.mark.parametrize("length", [20, 40])
def test_elimination_solves_the_slow_chain_to_the_last_digits(name, length):
    """Play stays for 2**40 steps and more; no digit of the value is lost by that."""
    try:
        solution = gamedp.solve(slow_chain(length), solver=BY_NAME[name])
    except gamedp.NotSolvedError as error:
        solution = error.solution
    assert abs(solution.values[0] - 0.7) <= 1e-14
    assert solution.lower[0] <= 0.7 <= solution.upper[0]


def endless(reward):
    """From 0, stop for 5, or go on by 1, which leads back; each step earns `reward`."""
    return model_of(
        [(reward, [(1.0, 1)]), (0.0, [(1.0, 2)])],
        [(reward, [(1.0, 0)]), (reward, [(0.5, 2), (0.5, 0)])],
        5.0,
    )


@pytest.mark.parametrize("solver", FIXED_POINT, ids=str)
@pytest.mark.parametrize(("optimum", "cost"), [("max", -1.0), ("min", 1.0)])
def test_policies_that_never_end_are_no_way_to_begin(solver, optimum, cost):
    """The first choices go round for ever, at a cost; the linear system of that is singular."""
    solution = gamedp.solve(endless(cost), gamedp.TotalReward(optimum), solver, tolerance=1e-9)
    # Who stops at once gets 5; from 1, half of the time that takes one more step.
    other = cost + 5.0
    for value, low, high in zip((5.0, other, 5.0), solution.lower, solution.upper, strict=True):
        assert low <= value <= high
    assert solution.width <= 1e-9


@pytest.mark.parametrize("solver", FIXED_POINT, ids=str)
def test_negative_rewards_are_bounded_from_below_as_well(solver):
    """Costs and gains that all but cancel out: zero is no lower bound to begin with."""
    model = model_of([(-1.0, [(0.9, 1), (0.1, 2)])], [(1.0, [(0.9, 0), (0.1, 2)])], -3.0)
    assert_contains(gamedp.solve(model, solver=solver, tolerance=1e-9), exact_values(model))


def two(players):
    return model_of(
        [(0.0, [(0.5, 1), (0.5, 2)]), (0.0, [(1.0, 2)])],
        [(0.0, [(0.5, 0), (0.5, 3)]), (0.0, [(1.0, 2)])],
        1.0,
        0.0,
        players=players,
    )


def test_what_is_refused():
    swapping = model_of([(0.0, [(-0.5, 0), (0.5, 1)])], 1.0, num_players=2)
    opponents = two([0, 1, 0, 0])
    for model, solver, words in (
        (swapping, gamedp.solvers.SoundValueIteration(), "change the players' places"),
        (swapping, gamedp.solvers.LinearProgramming(), "change the players' places"),
        (opponents, gamedp.solvers.LinearProgramming(), "one player alone"),
    ):
        with pytest.raises(gamedp.UnsupportedProblemError, match=words):
            gamedp.solve(model, solver=solver)
    assert gamedp.solvers.LinearProgramming().supports(gamedp.Problem(two([1, 1, 0, 0])))


def test_modified_policy_iteration_calms_down():
    """Without sweeps along the policy it is value iteration, and says so by its sweeps."""
    plain, modified = (
        gamedp.solve(walk(), solver=gamedp.solvers.ModifiedPolicyIteration(inner_sweeps=inner))
        for inner in (0, 50)
    )
    assert np.abs(plain.values - modified.values).max() <= 2e-6


def mixing(players=1, states=200):
    """Return a model of random choices, for one player or for two opponents who take turns."""
    random = np.random.default_rng(7)
    probabilities = random.random((3 * states, 4)) + 0.1
    return gamedp.Model.from_arrays(
        3 * np.arange(states + 1),
        4 * np.arange(3 * states + 1),
        random.integers(0, states, 12 * states),
        (probabilities / probabilities.sum(axis=1, keepdims=True)).ravel(),
        rewards=random.random(3 * states),
        players=np.arange(states) % players,
        num_players=players,
    )


@pytest.mark.parametrize("players", [1, 2])
def test_few_sweeps_of_a_discounted_model_that_mixes_well(players):
    """The bounds of one improvement hold for all values at once, so that a digit takes a sweep."""
    model, objective = mixing(players), gamedp.Discounted(0.999)
    solution = gamedp.solve(model, objective)
    assert isinstance(solution.solver, gamedp.solvers.ModifiedPolicyIteration)
    assert solution.statistics.sweeps < 100
    assert 1e-9 < solution.width <= 1e-6  # no closer than was asked, by far
    truth = gamedp.solve(model, objective, tolerance=1e-7)
    assert (solution.lower <= truth.upper).all()
    assert (solution.upper >= truth.lower).all()
    assert gamedp.verify(model, gamedp.certify(solution)).width <= 1.001e-6


def narrow(width, players, states=100):
    """Return a model whose states lead no farther than `width`, the last ones to an end, too."""
    random = np.random.default_rng(1)
    probabilities = random.random((2 * states, 3)) + 0.1
    near = np.arange(2 * states)[:, None] // 2 + random.integers(-width, width + 1, (2 * states, 3))
    near[-1], near[0] = states, [states, width, 0]
    return gamedp.Model.from_arrays(
        [*range(0, 2 * states + 1, 2), 2 * states],
        3 * np.arange(2 * states + 1),
        np.clip(near, 0, states).ravel(),
        (probabilities / probabilities.sum(axis=1, keepdims=True)).ravel(),
        rewards=random.random(2 * states),
        players=np.arange(states + 1) % players,
        payoffs=[1.0],
        num_players=players,
    )


@pytest.mark.parametrize("players", [1, 2])
@pytest.mark.parametrize(
    ("width", "discount", "name"),
    [
        (3, 0.99, "TopologicalValueIteration"),
        (7, 0.99, "TopologicalValueIteration"),
        (8, 0.99, "ModifiedPolicyIteration"),
        (8, 0.999, "TopologicalValueIteration"),
        (25, 0.9999, "ModifiedPolicyIteration"),
        (1, 0.8, "ModifiedPolicyIteration"),
    ],
)
def test_the_narrower_and_the_farther_seen_the_rather_by_elimination(
    players, width, discount, name
):
    model, objective = narrow(width, players), gamedp.Discounted(discount)
    solution = gamedp.solve(model, objective)
    assert type(solution.solver).__name__ == name
    assert ("nearby ones alone" in gamedp.explain(model, objective)) == (name[0] == "T")
    other = gamedp.solve(model, objective, gamedp.solvers.PolicyIteration())
    assert (solution.lower <= other.upper).all()
    assert (solution.upper >= other.lower).all()
    assert solution.width <= 1e-6


@pytest.mark.parametrize("players", [1, 2])
@pytest.mark.parametrize(
    ("options", "tolerance", "status"),
    [
        ({"max_sweeps": 2}, 1e-6, "SWEEP_LIMIT"),
        ({"max_seconds": 1e-9}, 1e-6, "TIME_LIMIT"),
        ({"inner_sweeps": 0, "max_sweeps": 5}, 1e-6, "SWEEP_LIMIT"),
        ({}, 1e-15, "ROUNDING"),
    ],
)
def test_bounds_at_a_limit_of_a_discounted_model(players, options, tolerance, status, monkeypatch):
    monkeypatch.setattr(gamedp.solvers.tools.discounted, "TRANSITIONS", 100)
    model, objective = mixing(players), gamedp.Discounted(0.99)
    truth = gamedp.solve(model, objective, gamedp.solvers.PolicyIteration(), tolerance=1e-7)
    solver = gamedp.solvers.ModifiedPolicyIteration(**options)
    with pytest.raises(gamedp.NotSolvedError) as caught:
        gamedp.solve(model, objective, solver, tolerance=tolerance)
    solution = caught.value.solution
    assert solution.status.name == status
    assert solution.width > tolerance
    assert (solution.lower <= truth.upper).all()
    assert (solution.upper >= truth.lower).all()
    if status == "ROUNDING":
        assert solution.width <= 1e-9


def test_anderson_needs_far_fewer_sweeps_on_a_chain():
    accelerated = gamedp.solve(slow_chain(10), solver=gamedp.solvers.AndersonAcceleration())
    plain = gamedp.solve(slow_chain(10), solver=gamedp.solvers.ValueIteration())
    assert 10 * accelerated.statistics.sweeps < plain.statistics.sweeps


def test_components_too_large_for_elimination():
    """More than two thousand states: the sparse decomposition, with weights of its own."""
    solution = gamedp.solve(walk(states=2500), solver=gamedp.solvers.PolicyIteration())
    truth = np.arange(2500) / 2499
    assert np.abs(solution.values - truth).max() <= 1e-9
    assert solution.width <= 1e-6


@pytest.mark.parametrize("kind", problem_kinds())
def test_the_table_of_who_does_what(kind):
    """A solver that says yes agrees with the exact values; one that says no raises its reason."""
    problem = problem_kinds()[kind]
    truth = exact_values(problem.model, problem.objective)
    table = support_table()
    solvers = {type(solver).__name__: solver for solver in REGISTERED}
    assert table.keys() == solvers.keys()
    count = 0
    for name, cells in table.items():
        solver = solvers[name]
        if cells[kind]:
            count += 1
            solution = gamedp.solve(problem.model, problem.objective, solver)
            # Two opponents who may play on for ever are iterated, but most prove nothing of them.
            unproven = kind == "sure, 2 pl." and name == "ValueIteration"
            assert (solution.guarantee is gamedp.Guarantee.NONE) == unproven
            for low, value, high in zip(solution.lower, truth, solution.upper, strict=True):
                assert low <= value <= high
        else:
            assert cells[kind].reason
            with pytest.raises(gamedp.UnsupportedProblemError, match="^" + name):
                gamedp.solve(problem.model, problem.objective, solver)
    assert count


def test_slow_costs_are_left_to_policy_iteration():
    """A ten-thousandth each step, until ten are spent: sweeps would take a hundred thousand."""
    model = model_of([(-1e-4, [(1.0, 0)]), (-10.0, [(1.0, 1)])], 0.0)
    assert "PolicyIteration: play may go on for ever at a low cost" in gamedp.explain(model)
    solution = gamedp.solve(model)
    assert solution.value(0) == -10
    assert solution.statistics.sweeps < 10
    expensive = model_of([(-1.0, [(1.0, 0)]), (-10.0, [(1.0, 1)])], 0.0)
    assert "TopologicalValueIteration" in gamedp.explain(expensive)


@pytest.mark.parametrize(
    "kind", [gamedp.solvers.ModifiedPolicyIteration, gamedp.solvers.ValueIteration]
)
def test_a_proof_that_wants_more_sweeps_says_so(kind, monkeypatch):
    """Values are exact at once, but steps to the end are counted for long: that is no rounding."""
    rare = 1 / 21
    model = gamedp.Model.from_arrays(
        [0, 2, 3, 4, 4],
        [0, 1, 3, 5, 7],
        [1, 0, 2, 2, 0, 0, 3],
        [1.0, 1 - rare, rare, rare, 1 - rare, 1 - rare, rare],
        rewards=[0.0] * 4,
        terminals=[3],
        payoffs=[1e-8],
    )
    objective = gamedp.TotalReward("max")
    with pytest.raises(
        gamedp.NotSolvedError, match=r"its limit of sweeps.*Raise max_sweeps"
    ) as stop:
        gamedp.solve(model, objective, kind(max_sweeps=100), tolerance=1e-13)
    assert stop.value.solution.status is gamedp.Status.SWEEP_LIMIT
    monkeypatch.setattr(limit, "INTERVAL", 0.0)
    told = []
    solution = gamedp.solve(model, objective, kind(), tolerance=1e-13, progress=told.append)
    assert solution.width <= 1e-13
    assert any("200 sweeps to prove the values of 3 states" in each.detail for each in told)
