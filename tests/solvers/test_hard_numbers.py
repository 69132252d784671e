"""Bounds where rounding does its worst: against rational numbers, for all solvers."""

import math
from fractions import Fraction

import attrs
import numba
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies as st
from solving import solve_best_effort

import gamedp
from gamedp.bellman import blocks, component_sweeps, policy_proofs
from gamedp.testing import exact_choice_values, exact_values
from gamedp.testing.strategies import models

FEW = 300
"""Sweeps, for numbers that ask for as many as there are."""
SOLVERS = (
    gamedp.solvers.BackwardInduction(),
    gamedp.solvers.TopologicalValueIteration(max_sweeps=FEW),
    gamedp.solvers.ValueIteration(max_sweeps=FEW),
    gamedp.solvers.PolicyIteration(),
    gamedp.solvers.OptimisticValueIteration(max_sweeps=FEW),
    gamedp.solvers.IntervalIteration(max_sweeps=FEW),
    gamedp.solvers.SoundValueIteration(max_sweeps=FEW),
    gamedp.solvers.ModifiedPolicyIteration(max_sweeps=FEW),
    gamedp.solvers.PrioritizedSweeping(max_sweeps=FEW),
    gamedp.solvers.AndersonAcceleration(max_sweeps=FEW),
    gamedp.solvers.StrategyIteration(),
    gamedp.solvers.LinearProgramming(),
)
relaxed = settings(
    max_examples=8 if numba.config.DISABLE_JIT else 30,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


def contains(bounds, truth):
    pairs = zip(bounds.lower.tolist(), bounds.upper.tolist(), truth, strict=True)
    return all(low <= number <= high for low, high, number in pairs)


def disturbed(model, seed):
    """Return the model with probabilities two units off, those of a choice with the same sum."""
    rng = np.random.default_rng(seed)
    probabilities = model.probabilities.copy()
    for choice in range(model.num_choices):
        places = rng.permutation(np.arange(*model.transition_offsets[choice : choice + 2]))
        for one, other in zip(places[::2], places[1::2], strict=False):
            sizes = [Fraction(abs(probabilities[place])) for place in (one, other)]
            unit = 2 * math.ulp(float(min(sizes))) * rng.choice([-1, 1])
            moved = [float(sizes[0] + Fraction(unit)), float(sizes[1] - Fraction(unit))]
            if min(moved) > 0 and Fraction(moved[0]) + Fraction(moved[1]) == sum(sizes):
                probabilities[[one, other]] = np.copysign(moved, probabilities[[one, other]])
    return attrs.evolve(model, probabilities=probabilities)


NOTHING = [
    gamedp.TotalReward(until=[2]),
    gamedp.TotalReward("min", until=[2]),
    gamedp.TotalReward(),
    gamedp.Discounted(0.9),
]
"""Under which a model that pays nothing is worth 0 where 2 is sure to be reached."""


@pytest.mark.parametrize("objective", NOTHING, ids=str)
@pytest.mark.parametrize("solver", [None, *SOLVERS], ids=lambda one: type(one).__name__)
def test_where_nothing_is_earned_the_value_is_zero(objective, solver):
    if isinstance(solver, gamedp.solvers.ModifiedPolicyIteration):
        pytest.skip("proves its bounds by themselves, to within the least numbers")
    model = gamedp.Model.from_arrays(
        [0, 1, 2, 2], [0, 2, 4], [0, 1, 0, 2], [0.7, 0.3, 1 / 3, 2 / 3], payoffs=[0]
    )
    try:
        solution = gamedp.solve(model, objective, solver)
    except gamedp.UnsupportedProblemError as error:
        pytest.skip(str(error))
    assert solution.lower.tolist() == [0, 0, 0]
    assert solution.upper.tolist() == [0, 0, 0]
    gamedp.verify(model, gamedp.certify(solution))


@pytest.mark.parametrize("sign", [1, -1])
def test_bounds_have_the_one_sign_of_what_is_earned(sign):
    """Also where a target may be missed, and so much is earned until it that it is infinite."""
    model = gamedp.Model.from_arrays(
        [0, 1, 2, 2, 2], [0, 2, 4], [0, 2, 0, 3], [0.75, 0.25, 0.5, 0.5],
        rewards=[sign * 5e-324, 0], payoffs=[0, 0],
    )  # fmt: skip
    for until in ([2], [3], [2, 3]):
        solution = gamedp.solve(model, gamedp.TotalReward(until=until))
        truth = exact_values(model, gamedp.TotalReward(until=until))
        assert contains(solution, truth)
        finite = np.isfinite(solution.lower)
        assert (sign * solution.lower[finite] >= 0).all()
        assert (sign * solution.upper[finite] >= 0).all()


@relaxed
@given(
    models(max_states=4, hard=True),
    st.sampled_from(["max", "min"]),
    st.sampled_from([1.0, 0.9, 1 - 1e-9]),
    st.sampled_from([1e-12, 1e-6, 1e-3, 0.1]),
    st.integers(0, 2**32 - 1),
)
def test_bounds_contain_the_values(model, optimum, discount, tolerance, seed):
    """Of the model, and of those that its probabilities may stand for."""
    objective = gamedp.TotalReward(optimum)
    if discount < 1 and not (model.has_swaps and model.constant_sum):
        objective = gamedp.Discounted(discount, optimum)
    else:  # endless play counts half of the sum; where no double holds that, it is refused
        assume(model.constant_sum / 2 * 2 == model.constant_sum)
    truths = [exact_values(one, objective) for one in (model, disturbed(model, seed))]
    scale = max(float(np.abs(numbers).max()) for numbers in (model.rewards, model.payoffs))
    problem = gamedp.Problem(model, objective)
    for solver in SOLVERS:
        if not solver.supports(problem):
            continue
        solution = solve_best_effort(model, objective, solver, max(tolerance * scale, 5e-324))
        assert solution.guarantee is gamedp.Guarantee.TWO_SIDED
        for truth in truths:
            assert contains(solution, truth), solver
        if solver != SOLVERS[seed % len(SOLVERS)]:
            continue
        certificate = gamedp.certify(solution)
        for truth in truths:
            assert contains(certificate, truth), solver
        choices = exact_choice_values(model, objective)
        for state, (first, last) in enumerate(
            zip(model.choice_offsets, model.choice_offsets[1:], strict=False)
        ):
            for choice in range(first, last):
                entry = solution.action_values(state)[choice - first]
                assert entry.lower <= choices[choice] <= entry.upper


@relaxed
@given(
    models(max_states=4, players=[1], ends=False, hard=True),
    st.sampled_from(["max", "min"]),
    st.sampled_from([1e-12, 1e-6, 0.1]),
    st.integers(0, 2**32 - 1),
)
def test_other_objectives(model, optimum, tolerance, seed):
    scale = max(float(np.abs(numbers).max()) for numbers in (model.rewards, model.payoffs))
    goal = model.terminals[:1].tolist()
    for objective, solver in (
        (gamedp.FiniteHorizon(seed % 6, optimum), gamedp.solvers.BackwardInduction()),
        (gamedp.AverageReward(optimum), gamedp.solvers.RelativeValueIteration(max_sweeps=FEW)),
        (gamedp.Reachability(goal, optimum=optimum), SOLVERS[1 + seed % 6]),
    ):
        try:
            truths = [exact_values(one, objective) for one in (model, disturbed(model, seed))]
            solution = solve_best_effort(model, objective, solver, max(tolerance * scale, 5e-324))
        except gamedp.UnsupportedProblemError:  # too many policies, or a chain too slow for doubles
            continue
        for truth in truths:
            assert contains(solution, truth), objective


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: type(solver).__name__)
def test_a_reward_that_cancels_the_share_of_the_constant_sum(solver):
    total = 1e6
    model = gamedp.Model.from_arrays(
        [0, 1, 1, 1, 1], [0, 3], [1, 2, 3], [-0.1, -0.2, 0.7],
        rewards=[-total * (0.1 + 0.2)], players=[0] * 4, terminals=[1, 2, 3], payoffs=[0.0] * 3,
        num_players=2, constant_sum=total,
    )  # fmt: skip
    problem = gamedp.Problem(model)
    if not solver.supports(problem):
        assert type(solver).__name__ in {"SoundValueIteration", "LinearProgramming"}
        return
    truth = exact_values(model)[0]
    assert -3.4e-11 < truth < -3.3e-11
    solution = gamedp.solve(model, solver=solver, tolerance=1e-6)
    certificate = gamedp.certify(solution)
    for low, high in (
        solution.bounds(0),
        (solution.action_values(0)[0].lower, solution.action_values(0)[0].upper),
        (certificate.lower[0], certificate.upper[0]),
    ):
        assert low <= truth <= high <= 2e-9
    gamedp.verify(model, certificate)


def test_nothing_is_stored_twice_where_there_is_no_constant_sum():
    model = gamedp.Model.from_arrays(
        [0, 1, 1], [0, 1], [1], [-1.0], rewards=[1.0], terminals=[1], num_players=2
    )
    equation = gamedp.Problem(model).equation()
    assert equation.constants is equation.sizes is model.rewards


@pytest.mark.parametrize("solver", SOLVERS[1:], ids=lambda solver: type(solver).__name__)
@pytest.mark.parametrize("discount", [0.9, 1 - 2.0**-20])
def test_discounted_totals_of_the_smallest_numbers(solver, discount):
    """What is added to a total is lost as soon as it is less than half the smallest number."""
    least = 5e-324
    model = gamedp.Model.from_arrays(
        [0, 1, 2], [0, 1, 2], [1, 0], [1.0, 1.0], rewards=[3 * least, 2 * least]
    )
    objective = gamedp.Discounted(discount)
    if not solver.supports(gamedp.Problem(model, objective)):
        assert type(solver).__name__ == "StrategyIteration"
        return
    solution = solve_best_effort(model, objective, solver, 1e-300)
    assert contains(solution, exact_values(model, objective))
    assert solution.width < 1e-300


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: type(solver).__name__)
def test_errors_that_come_back_through_a_change_of_places(solver):
    """At a loose tolerance; what is known of a successor to that counts whoever moves there."""
    size = 1e3
    for sides in ((1, 1), (1, -1), (-1, -1)):
        # State 2 goes on for long; states 1 and 0 lead there with either player to move.
        model = gamedp.Model.from_arrays(
            [0, 1, 2, 4, 4],
            [0, 2, 4, 6, 8],
            [1, 2, 2, 3, 2, 3, 2, 3],
            [0.5 * sides[0], 0.5 * sides[1], 0.75 * sides[0], 0.25, 0.99, 0.01, 0.98, 0.02],
            rewards=[0.0, 0.0, size / 100, size / 50],
            terminals=[3],
            num_players=2,
        )
        if not solver.supports(gamedp.Problem(model)):
            continue
        truth = exact_values(model)
        for tolerance in (0.3, 0.03, 1e-3):
            assert contains(solve_best_effort(model, None, solver, tolerance * size), truth)


def test_many_outcomes_that_underflow():
    """Each product is rounded to zero, and there are too many for one allowance."""
    count = 1 << 17
    small = 1.5 * 2.0**-1058
    model = gamedp.Model.from_arrays(
        [0, 1, *[1] * count],
        [0, count],
        np.arange(1, count + 1),
        np.full(count, 1 / count),
        terminals=np.arange(1, count + 1),
        payoffs=np.full(count, small),
    )
    for solver in (gamedp.solvers.BackwardInduction(), gamedp.solvers.IntervalIteration()):
        solution = gamedp.solve(model, solver=solver)
        assert solution.lower[0] <= small <= solution.upper[0] < 1e-300
        gamedp.verify(model, gamedp.certify(solution))


def test_signs_of_rewards_count_for_both_players():
    """A reward of the one is a loss to the other: factors say nothing where they change places."""
    stay = 1 - 1e-6
    model = gamedp.Model.from_arrays(
        [0, 2, 3, 3],
        [0, 2, 4, 6],
        [1, 2, 1, 2, 0, 2],
        [-stay, 1 - stay] * 3,
        rewards=[1.0, 1.0 + 4e-9, 1.0],
        terminals=[2],
        num_players=2,
    )
    problem = gamedp.Problem(model)
    equation = problem.equation()
    truth = exact_values(model)
    values, errors, policy = np.zeros(3), np.zeros(3), np.full(3, -1)
    question = 1, 3, equation
    block, _, _ = blocks.isolate_jit(1, 3, 1, 3, equation, values, errors)
    numbers = np.zeros((blocks.NUMBERS, 2))
    component_sweeps.begin_jit(2, block)  # the choice that earns less
    width = policy_proofs.prove_policy_jit(
        *question, 0.0, 1000, problem.has_one_sign, component_sweeps.SWAPS, 0.0, block, numbers,
        values, errors, policy,
    )  # fmt: skip
    assert abs(values[0] - truth[0]) > 1e-4
    assert width == np.inf or all(
        abs(Fraction(value) - number) <= Fraction(error)
        for value, number, error in zip(values, truth, errors, strict=True)
    )
