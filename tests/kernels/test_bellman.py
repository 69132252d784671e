"""The kernels of Bellman's equation: compiled and plain twins agree, and their proofs are right."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gamedp.kernels import bellman, maxn, proofs, topological


def random_rows(seed, num_states, discount, *, cyclic, swaps):
    """Return the equation of a random model whose last state is terminal and always near."""
    rng = np.random.default_rng(seed)
    choice_counts = rng.integers(1, 4, num_states)
    choice_counts[-1] = 0
    choice_offsets = np.concatenate([[0], np.cumsum(choice_counts)])
    num_choices = int(choice_offsets[-1])
    successors, probabilities, offsets = [], [], [0]
    state_of = np.repeat(np.arange(num_states), choice_counts)
    for choice in range(num_choices):
        first = 0 if cyclic else state_of[choice] + 1
        count = int(rng.integers(0, 4))
        targets = rng.integers(first, num_states, count) if first < num_states else []
        weights = rng.random(len(targets) + 1) + 0.05
        weights /= weights.sum()
        if swaps:
            weights *= rng.choice([-1.0, 1.0], len(weights))
        successors.extend([*targets, num_states - 1])
        probabilities.extend(weights)
        offsets.append(len(successors))
    return bellman.Rows(
        order=np.arange(num_states)[::-1].astype(np.int32),
        component=np.concatenate([np.zeros(num_states - 1, np.int32), [1]]).astype(np.int32),
        choice_offsets=choice_offsets.astype(np.int64),
        transition_offsets=np.array(offsets, np.int64),
        successors=np.array(successors, np.int32),
        probabilities=np.array(probabilities),
        constants=rng.normal(size=num_choices),
        constant_error=0.0,
        maximise=rng.random(num_states) < 0.5,
        discount=discount,
    )


cases = st.tuples(
    st.integers(0, 2**32 - 1),
    st.integers(2, 12),
    st.sampled_from([1.0, 0.9, 0.0]),
    st.booleans(),
    st.booleans(),
)


def make(case):
    seed, num_states, discount, cyclic, swaps = case
    return random_rows(seed, num_states, discount, cyclic=cyclic, swaps=swaps)


def blank(rows):
    num_states = len(rows.maximise)
    return np.zeros(num_states), np.zeros(num_states), np.full(num_states, -1, np.int64)


def twins(module, name, rows, *arguments):
    """Run a kernel compiled and plain on copies of its arrays; return both with what they gave."""
    outcomes = []
    for kernel in (getattr(module, f"{name}_jit"), getattr(module, name)):
        copies = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
        with np.errstate(all="ignore"):
            result = kernel(*copies[:2], rows, *copies[2:])
        outcomes.append((result, [a for a in copies if isinstance(a, np.ndarray)]))
    return outcomes


@settings(max_examples=30, deadline=None)
@given(cases)
def test_twins_agree(case):
    rows = make(case)
    values, errors, policy = blank(rows)
    num_states = len(values)
    weights = np.ones(num_states)
    inner = 1  # the terminal state is first in the order
    for module, name, arguments in (
        (bellman, "sweep", (inner, num_states, values, policy)),
        (proofs, "certify", (inner, num_states, 0.5, values, weights, errors, policy)),
        (proofs, "survey", (inner, num_states, errors, np.zeros(num_states, np.int32))),
    ):
        compiled, plain = twins(module, name, rows, *arguments)
        np.testing.assert_array_equal(compiled[0], plain[0])
        for one, other in zip(compiled[1], plain[1], strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-13, atol=1e-13)


def fixed_point(rows, sweeps=20_000):
    """Return the values after very many plain sweeps in extended precision."""
    values = np.zeros(len(rows.maximise), np.longdouble)
    offsets, starts = rows.choice_offsets, rows.transition_offsets[:-1]
    terms = rows.probabilities.astype(np.longdouble)
    sign = np.where(rows.maximise[:-1], 1, -1)
    for _ in range(sweeps):
        totals = np.add.reduceat(terms * values[rows.successors], starts)
        results = rows.constants + rows.discount * totals
        counts = np.diff(offsets)[:-1]
        best = sign * np.maximum.reduceat(np.repeat(sign, counts) * results, offsets[:-2])
        change = np.abs(best - values[:-1]).max()
        values[:-1] = best
        if change < 1e-18:
            break
    return values


@settings(max_examples=60, deadline=None)
@given(cases, st.floats(0, 1e-3))
def test_certified_errors_contain_the_truth(case, disturbance):
    rows = make(case)
    truth = fixed_point(rows)
    values, errors, policy = blank(rows)
    num_states = len(values)
    for _ in range(200):
        bellman.sweep_jit(0, num_states, rows, values, policy)
    rng = np.random.default_rng(0)
    values[:-1] += disturbance * rng.normal(size=num_states - 1)
    weights = np.ones(num_states)
    width = np.inf
    for mode in (proofs.GREEDY, proofs.NEAR, proofs.ALL):
        weights[:] = 1.0
        for _ in range(10_000):
            increase = proofs.weigh_jit(1, num_states, rows, values, policy, mode, 1e-3, weights)
            if increase <= 0.5:
                break
        width = proofs.certify_jit(1, num_states, rows, 0.0, values, weights, errors, policy)
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
    rows = bellman.Rows(
        order=np.concatenate([[size], np.arange(size)[::-1]]).astype(np.int32),
        component=np.concatenate([np.ones(size), [0]]).astype(np.int32),
        choice_offsets=np.array(choices, np.int64),
        transition_offsets=np.array(offsets, np.int64),
        successors=np.array(successors, np.int32),
        probabilities=np.array(probabilities),
        constants=rng.normal(size=len(offsets) - 1),
        constant_error=0.0,
        maximise=rng.random(size + 1) < 0.5,
        discount=discount,
    )
    values, errors, policy = blank(rows)
    slopes, weights, shares = (np.zeros(size + 1) for _ in range(3))
    key, outside = proofs.survey_jit(1, size + 1, rows, errors, np.zeros(size + 1, np.int32))
    assert (key, outside) == (0, 0.0)
    sweeps = topological.newton_jit(1, size + 1, rows, 0, values, slopes, weights, shares, policy)
    assert 0 < sweeps <= 20
    width = proofs.certify_jit(1, size + 1, rows, 0.0, values, weights, errors, policy)
    assert width < 1e-9
    assert (np.abs(values - fixed_point(rows)) <= errors + 1e-17).all()


def test_a_sure_step_loses_nothing():
    rows = random_rows(0, 2, 1.0, cyclic=False, swaps=False)
    values, errors = np.array([0.0, 0.1]), np.array([0.0, 0.25])
    one = rows._replace(
        choice_offsets=np.array([0, 1, 1]),
        transition_offsets=np.array([0, 1]),
        successors=np.array([1], np.int32),
        probabilities=np.array([-1.0]),
        constants=np.array([1.0]),
    )
    assert proofs.rounded_jit(0, one, values, errors * 0) == (0.9, pytest.approx(0.0, abs=1e-16))
    assert proofs.rounded_jit(0, one._replace(constants=np.array([0.0])), values, errors) == (
        -0.1,
        0.25,
    )
    # 1 - 0.1 is rounded: what is lost is stated, no more.
    lost = proofs.rounded_jit(0, one, values, errors * 0)[1]
    from fractions import Fraction

    assert Fraction(lost) == abs(1 - Fraction(0.1) - Fraction(0.9))


def test_values_without_bound_are_not_called_settled():
    rows = random_rows(0, 2, 1.0, cyclic=False, swaps=False)
    values, _, policy = blank(rows)
    values[1] = np.nan
    change = bellman.sweep_jit(0, 2, rows, values, policy)
    assert not change <= 1.0


def test_max_n_takes_what_is_best_for_the_mover():
    # State 0: player 2 chooses between the ends 1 and 2.
    values = np.array([[0.0, 0.0, 0.0], [5.0, 1.0, 2.0], [1.0, 1.0, 3.0]])
    for solve in (maxn.solve_jit, maxn.solve):
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
