"""Sweeps along the ways to end components, and how they are extrapolated."""

import numpy as np
import pytest

from gamedp.bellman import ways


@pytest.mark.parametrize("name", ["combine", "combine_jit"])
@pytest.mark.parametrize("size", [1, 3, 5, ways.REPEATS - 1])
def test_sweeps_in_few_dimensions_are_extrapolated_to_their_end(size, name):
    """With more sweeps than dimensions there is a combination that does not change any more."""
    random = np.random.default_rng(size)
    factors = random.random((size, size))
    factors *= 0.99 / factors.sum(axis=1, keepdims=True)
    constants = random.random(size)
    values, deltas = np.zeros(size), np.full((ways.REPEATS, size + 2), np.nan)
    for sweep in range(ways.REPEATS):
        deltas[sweep, :size] = factors @ values + constants - values
        values += deltas[sweep, :size]
    weights = np.empty(ways.REPEATS)
    assert getattr(ways, name)(size, deltas, weights)
    end = np.linalg.solve(np.eye(size) - factors, constants)
    before = np.abs(values - end).max()
    found = values - weights @ np.where(np.isnan(deltas), 0.0, deltas)[:, :size]
    assert np.abs(found - end).max() <= 1e-4 * before
    assert before >= 1.0


@pytest.mark.parametrize("name", ["combine", "combine_jit"])
@pytest.mark.parametrize("change", [0.0, float("inf"), float("nan")])
def test_sweeps_that_change_nothing_or_too_much_are_not_extrapolated(change, name):
    deltas = np.ones((ways.REPEATS, 4)) + np.arange(4)
    deltas[3] = change
    assert not getattr(ways, name)(4, deltas, np.empty(ways.REPEATS))
