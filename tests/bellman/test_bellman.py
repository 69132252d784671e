"""The kernels of Bellman's equation: compiled and plain twins agree, and their proofs are right."""

from fractions import Fraction

import numpy as np
import pytest
from equations import (
    blank,
    cases,
    changed,
    equation_of,
    fixed_point,
    gathered,
    locked,
    make,
    random_equation,
    twins,
)
from hypothesis import assume, given, settings, strategies as st

from gamedp.bellman import (
    blocks,
    component_sweeps,
    equation as bellman,
    residuals,
    topological,
)
from gamedp.graph.graph import Graph


@settings(max_examples=30, deadline=None)
@given(cases)
def test_twins_agree(case):
    equation = make(case)
    values, errors, policy = blank(equation)
    num_states = len(values)
    weights = np.ones(num_states)
    inner = 1  # the terminal state is first in the order
    block, numbers, _ = gathered(equation, inner, values, errors)
    block.policy[:] = 0
    size, discount = num_states - inner, equation.discount
    for module, name, arguments in (
        (bellman, "sweep", (inner, num_states, equation, values, policy)),
        (blocks, "measure", (inner, num_states, equation)),
        (
            blocks,
            "gather",
            (inner, num_states, inner, num_states, equation, values, errors, block),
        ),
        (blocks, "sweep", (size, discount, block, numbers)),
        (
            residuals,
            "certify",
            (inner, num_states, equation, 5, values, weights, errors + 0.5, policy),
        ),
    ):
        compiled, plain = twins(module, name, *arguments)
        np.testing.assert_array_equal(compiled[0], plain[0])
        for one, other in zip(compiled[1], plain[1], strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-13, atol=1e-13)


@settings(max_examples=60, deadline=None)
@given(cases, st.floats(0, 1e-3))
def test_certified_errors_contain_the_truth(case, disturbance):
    equation = make(case)
    truth = fixed_point(equation)
    values, errors, policy = blank(equation)
    num_states = len(values)
    for _ in range(200):
        bellman.sweep_jit(0, num_states, equation, values, policy)
    rng = np.random.default_rng(0)
    values[:-1] += disturbance * rng.normal(size=num_states - 1)
    weights = np.ones(num_states)
    width = np.inf
    for mode in (residuals.GREEDY, residuals.NEAR, residuals.ALL):
        weights[:] = 1.0
        for _ in range(10_000):
            increase = residuals.weigh_jit(
                1, num_states, equation, values, policy, mode, 1e-3, weights
            )
            if increase <= 0.5:
                break
        width = residuals.certify_jit(1, num_states, equation, 5, values, weights, errors, policy)
        if np.isfinite(width):
            break
    assert np.isfinite(width)
    assert (np.abs(values - truth) <= errors + 1e-17).all()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 40), st.booleans(), st.sampled_from([1.0, 0.95]))
def test_newton_solves_components_with_one_key_state(seed, size, swaps, discount):
    rng = np.random.default_rng(seed)
    # A run of states that can only go on, fall back to the first one, or leave.
    successors, probabilities, offsets, choices = [], [], [0], [0]
    for state in range(size):
        for _ in range(int(rng.integers(1, 3))):
            targets = [0, *range(state + 1, min(state + 3, size)), size]
            weights = rng.random(len(targets)) + 0.01
            weights /= weights.sum()
            signs = rng.choice([-1.0, 1.0], len(targets)) if swaps else 1.0
            successors += targets
            probabilities += list(weights * signs)
            offsets.append(len(successors))
        choices.append(len(offsets) - 1)
    choices.append(len(offsets) - 1)
    constants = rng.normal(size=len(offsets) - 1)
    equation = equation_of(
        order=np.concatenate([[size], np.arange(size)[::-1]]).astype(np.int32),
        place=np.concatenate([np.arange(size)[::-1] + 1, [0]]).astype(np.uint32),
        choice_offsets=np.array(choices, np.int64),
        transition_offsets=np.array(offsets, np.int64),
        successors=np.array(successors, np.int32),
        probabilities=np.array(probabilities),
        constants=constants,
        sizes=constants,
        maximise=rng.random(size + 1) < 0.5,
        discount=discount,
    )
    values, errors, policy = blank(equation)
    block, numbers, [key, outside] = gathered(equation, 1, values, errors)
    assert (key, outside) == (size - 1, 0.0)  # state 0, the last one in the order
    sweeps = topological.newton_jit(size, discount, key, 0.0, block, numbers)
    assert 0 < sweeps <= 20
    values[equation.order[1:]] = numbers[blocks.VALUE]
    weights = np.zeros(size + 1)
    weights[equation.order[1:]] = numbers[blocks.WEIGHT]
    width = residuals.certify_jit(1, size + 1, equation, 100, values, weights, errors, policy)
    assert width < 1e-9
    assert not weights.any()
    assert (np.abs(values - fixed_point(equation)) <= errors + 1e-17).all()


@settings(max_examples=60, deadline=None)
@given(cases)
def test_components_solved_in_the_kernel_are_proven(case):
    equation = make(case)
    values, errors, policy = blank(equation)
    num_states = len(values)
    values[-1], errors[-1] = 0.25, 1e-3  # known to within so much
    args = (*components(num_states), equation, 1 << 20, 1e-6)
    args += (False, bool((equation.probabilities < 0).any()), False)
    args += (room(equation, 100, 1000, 10_000), np.empty(component_sweeps.MEMORY))
    for solve in (topological.solve_components_jit, topological.solve_components):
        found = [array.copy() for array in (values, errors, policy)]
        done = solve(0, 2, *args, *found, np.zeros(3, np.int64), np.empty((2, 100)))
        assume(done == 2)  # what does not settle soon is left to the solver
        for disturbed in (0.25 - 1e-3, 0.25 + 1e-3):
            truth = fixed_point(equation, start=disturbed)
            assert (np.abs(found[0] - truth) <= found[1] + 1e-17).all()
        assert (found[1][:-1] <= 1e-3 + 1.1e-6).all()


def components(num_states):
    """Return where a terminal state and the component of all others begin, and which is cyclic."""
    return locked(np.array([0, 1, num_states], np.int32)), locked(np.array([False, True]))


def room(equation, *sizes):
    """Return a block for so many states, choices and transitions, and an array for numbers."""
    return blocks.reserve(*sizes, equation), np.empty((blocks.NUMBERS, sizes[0]))


def test_a_component_without_room_is_left():
    equation = make((0, 8, 1.0, True, False))
    args = (*components(8), equation, 1 << 20, 1e-6, False, False, False)
    too_small = ((6, 100, 1000), (100, 1, 1000), (100, 100, 1))  # for seven states
    for its_room in (None, *(room(equation, *sizes) for sizes in too_small)):
        values, errors, policy = blank(equation)
        for solve in (topological.solve_components_jit, topological.solve_components):
            visits = np.zeros(3, np.int64)
            rest = values, errors, policy, visits, np.empty((2, 100))
            assert solve(0, 2, *args, its_room, None, *rest) == 1
            assert not values[:-1].any()
            assert not visits[0]


@settings(max_examples=30, deadline=None)
@given(cases, st.integers(1, 5))
def test_a_proof_in_pieces_is_the_same(case, piece):
    equation = make(case)
    values, errors, policy = blank(equation)
    rng = np.random.default_rng(0)
    values[:] = rng.normal(size=len(values))
    weights = 1.0 + 100.0 * rng.random(len(values))
    outcomes = []
    for states in (piece, 100):
        found = [array.copy() for array in (weights, errors, policy)]
        width = residuals.certify_jit(1, len(values), equation, states, values, *found)
        outcomes.append([width, *found])
    for one, other in zip(*outcomes, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_sure_step_loses_nothing():
    equation = random_equation(0, 2, 1.0, cyclic=False, swaps=False)
    values, errors = np.array([0.0, 0.1]), np.array([0.0, 0.25])
    one = changed(
        equation,
        graph=Graph(np.array([0, 1, 1]), np.array([0, 1]), np.array([1], np.int32)),
        probabilities=np.array([-1.0]),
        constants=np.array([1.0]),
        sizes=np.array([1.0]),
    )
    # 1 - 0.1 is rounded: what is lost is stated, and hardly more.
    value, lost = residuals.rounded_jit(0, one, values, errors * 0)
    truth = abs(1 - Fraction(0.1) - Fraction(0.9))
    assert value == 0.9
    assert truth <= lost <= truth * (1 + Fraction(1, 2**40))
    nothing = np.zeros(1)
    free = changed(one, constants=nothing, sizes=nothing)
    assert residuals.rounded_jit(0, free, values, errors * 0) == (-0.1, 0.0)
    assert residuals.rounded_jit(0, free, values, errors) == (-0.1, pytest.approx(0.25, rel=1e-13))


def test_values_without_bound_are_not_called_settled():
    equation = random_equation(0, 2, 1.0, cyclic=False, swaps=False)
    values, _, policy = blank(equation)
    values[1] = np.nan
    change = bellman.sweep_jit(0, 2, equation, values, policy)
    assert not change <= 1.0


def test_max_n_takes_what_is_best_for_the_mover():
    # State 0: player 2 chooses between the ends 1 and 2.
    values = np.array([[0.0, 0.0, 0.0], [5.0, 1.0, 2.0], [1.0, 1.0, 3.0]])
    for solve in (bellman.solve_max_n_jit, bellman.solve_max_n):
        found, errors, policy = values.copy(), np.zeros((3, 3)), np.full(3, -1)
        solve(
            np.array([1, 2, 0], np.int32),
            np.array([0, 2, 2, 2]),
            np.array([0, 1, 2]),
            np.array([1, 2], np.int32),
            np.ones(2),
            np.zeros((2, 3)),
            np.array([2, 0, 0], np.int8),
            1.0,
            found,
            errors,
            policy,
        )
        assert found[0].tolist() == [1.0, 1.0, 3.0]
        assert policy.tolist() == [1, -1, -1]
        assert not errors.any()


@settings(max_examples=30, deadline=None)
@given(cases)
def test_one_look_gives_what_two_looks_do(case):
    equation = make((*case[:3], False, case[4]))
    values, errors, policy = blank(equation)
    values[-1], errors[-1] = 0.25, 1e-3
    for conclude in (residuals.conclude_jit, residuals.conclude):
        its_values, its_errors, its_policy = values.copy(), errors.copy(), policy.copy()
        for state in equation.order[1:].tolist():
            scratch = np.empty((2, 3))
            its_values[state], its_errors[state], its_policy[state] = conclude(
                state, equation, its_values, its_errors, *scratch
            )
            expected, choice = bellman.backup(state, equation, its_values)
            np.testing.assert_allclose(its_values[state], expected, rtol=1e-15)
            assert its_policy[state] == choice
            error = residuals.settle(state, equation, its_values, its_errors, its_policy.copy())
            np.testing.assert_allclose(its_errors[state], error, rtol=1e-12)
