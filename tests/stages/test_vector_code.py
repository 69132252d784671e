"""The sweep of a stage: in registers and in plain Python the same, for all columns at once."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from gamedp.stages.kernels import sweep_stage_jit
from gamedp.stages.vector_code import LANES, StageProgram, settle_plainly

SCRATCH = np.zeros((1, LANES))


def random_program(seed, num_ends, num_inner, *, rewards):
    """Return a stage of random choices, each to earlier states, and the values of its ends."""
    rng = np.random.default_rng(seed)
    choices, offsets, rows, probabilities = [0], [0], [], []
    for place in range(num_inner):
        for _ in range(int(rng.integers(1, 4))):
            count = int(rng.integers(1, 5))
            weights = rng.random(count) + 0.1
            rows += rng.integers(0, num_ends + place, count).tolist()
            probabilities += (weights / weights.sum()).tolist()
            offsets.append(len(rows))
        choices.append(len(offsets) - 1)
    program = StageProgram(
        np.array(choices, np.int64),
        np.array(offsets, np.int64),
        np.array(rows, np.int64),
        np.array(probabilities),
        rng.normal(size=choices[-1]) * rewards,
        rng.random(num_inner) < 0.5,
        np.arange(num_ends, num_ends + num_inner),
        num_ends + num_inner,
    )
    block = np.full((program.num_rows, LANES), np.nan)
    block[:num_ends] = rng.normal(size=(num_ends, LANES))
    block[:num_ends][rng.random((num_ends, LANES)) < 0.1] = np.nan
    alive = np.zeros(program.num_rows, np.bool_)
    alive[:num_ends] = rng.random(num_ends) < 0.8
    block[:num_ends][~alive[:num_ends]] = np.nan
    return program, alive, block


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 6), st.integers(1, 12), st.sampled_from([0, 1]))
def test_registers_and_plain_python_agree(seed, num_ends, num_inner, rewards):
    program, alive, block = random_program(seed, num_ends, num_inner, rewards=rewards)
    plain_alive, plain_block = alive.copy(), block.copy()
    for state in range(num_inner):
        row = program.own_rows[state]
        plain_alive[row] = settle_plainly(program, state, plain_alive, plain_block)
    sweep_stage_jit(program, alive, block[None], SCRATCH)
    np.testing.assert_array_equal(alive, plain_alive)
    np.testing.assert_allclose(block[alive], plain_block[alive], rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("maximise", [True, False])
def test_a_choice_with_a_forbidden_outcome_is_not_taken(maximise):
    program = StageProgram(
        np.array([0, 2]),
        np.array([0, 2, 3]),
        np.array([0, 1, 2]),
        np.array([0.5, 0.5, 1.0]),
        np.zeros(2),
        np.array([maximise]),
        np.array([3]),
        4,
    )
    value = 10.0 if maximise else -10.0
    block = np.zeros((4, LANES))
    block[0], block[1], block[2] = value, value, 1.0
    block[1, 5] = np.nan  # forbidden in one context
    block[2, 6] = np.nan
    block[:3, 7] = np.nan
    alive = np.array([True, True, True, False])
    sweep_stage_jit(program, alive, block[None], SCRATCH)
    expected = np.full(LANES, value)
    expected[5], expected[7] = 1.0, np.nan
    np.testing.assert_array_equal(block[3], expected)
    assert alive[3]
    alive[:] = [True, False, False, True]
    sweep_stage_jit(program, alive, block[None], SCRATCH)
    assert not alive[3]
