"""Bounds of weighted sums, beside the same sums in fractions."""

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from hypothesis import example, given, strategies as st

from gamedp.bellman.enclosures import (
    Products,
    enclosed_difference,
    enclosed_sum,
    enclosed_sums,
    estimated_sums,
    rounded_outward,
    scaled,
)
from gamedp.results.status import opposite_bounds
from gamedp.runtime.floats import LEAST, PROBABILITY_ROUNDING as STORED, TINY, UNIT

ROWS = 300


def number(rng):
    """A number of any size and sign, often 0."""
    return rng.choice([0.0, 1.0, -1.0, rng.uniform(-1, 1)]) * 10.0 ** rng.randint(-320, 150)


def random_rows(rng, *, cancelling):
    """Rows of up to five terms; if cancelling, the last one takes back most of the others."""
    lengths = [rng.randint(0, 5) for _ in range(ROWS)]
    weights, terms = [], []
    for length in lengths:
        own = [rng.choice([1.0, -1.0]) * rng.random() for _ in range(length)]
        if length == 1:
            own = [rng.choice([1.0, own[0]])]
        seen = [rng.uniform(-1e16, 1e16) if cancelling else number(rng) for _ in range(length)]
        if cancelling and length > 1:
            rest = sum(w * t for w, t in zip(own[:-1], seen[:-1], strict=True))
            seen[-1] = -rest / own[-1]
        weights += own
        terms += seen
    return np.cumsum([0, *lengths]), np.array(weights), np.array(terms)


def exact_sums(offsets, weights, terms):
    return [
        sum(
            (Fraction(w) * Fraction(t) for w, t in zip(weights[a:b], terms[a:b], strict=True)),
            Fraction(0),
        )
        for a, b in itertools.pairwise(offsets.tolist())
    ]


@pytest.mark.parametrize("cancelling", [False, True])
def test_sums_lie_between_their_bounds(cancelling):
    rng = random.Random(f"sums {cancelling}")  # noqa: S311 - numbers, no secrets
    offsets, weights, terms = random_rows(rng, cancelling=cancelling)
    wide = np.abs(terms) * np.array([rng.choice([0.0, 1e-9]) for _ in terms])
    constants = np.array([number(rng) for _ in range(ROWS)])
    factor = 0.875
    lower, upper = enclosed_sums(
        offsets,
        weights,
        terms - wide,
        terms + wide,
        factor=factor,
        constants=(constants, constants),
    )
    seen = 0
    for sign in (-1, 1):
        # The weights and the terms that are farthest on one side, of all that are left open.
        ends = np.where((weights > 0) == (sign > 0), terms + wide, terms - wide)
        off = [
            Fraction(w) * (1 + sign * Fraction(STORED) * (1 if w * t > 0 else -1))
            for w, t in zip(weights.tolist(), ends.tolist(), strict=True)
        ]
        for low, high, truth, length, weight, constant in zip(
            lower.tolist(),
            upper.tolist(),
            exact_sums(offsets, off, ends.tolist()),
            np.diff(offsets).tolist(),
            [weights[place] if place < len(weights) else 0 for place in offsets[:-1].tolist()],
            constants.tolist(),
            strict=True,
        ):
            if length == 1 and weight == 1:
                continue  # a sure one is not off
            seen += 1
            assert Fraction(low) <= Fraction(factor) * truth + Fraction(constant) <= Fraction(high)
    assert seen > ROWS
    # Not wider than a few units of the absolute products.
    sizes = np.array(exact_sums(offsets, np.abs(weights).tolist(), np.abs(terms).tolist()), float)
    allowed = 2.1e-9 * sizes + 60 * UNIT * (sizes + np.abs(constants)) + 40 * TINY
    assert (upper - lower <= allowed).all()


def test_a_sure_sum_that_is_a_double_is_exact():
    offsets, one = np.array([0, 1, 2, 3]), np.ones(3)
    terms = np.array([0.5, 1e16, 0.1])
    constants = np.array([0.25, 1.0, 0.2])
    lower, upper = enclosed_sums(offsets, one, terms, terms, constants=(constants, constants))
    assert (lower[0], upper[0]) == (0.75, 0.75)
    assert Fraction(lower[1]) < Fraction(10**16 + 1) < Fraction(upper[1])
    assert Fraction(lower[2]) < Fraction(0.1) + Fraction(0.2) < Fraction(upper[2])
    # Not where it is discounted, nor where weights are off.
    found = enclosed_sums(offsets, one, terms, terms, factor=0.5)
    assert (found[0] < found[1]).all()
    found = enclosed_sums(offsets, one, terms, terms, absolute=1e-9)
    assert np.allclose(found[1] - found[0], 2e-9 * terms, rtol=0.05)


def test_zeros_are_exact_and_what_is_too_small_is_not():
    offsets = np.array([0, 2, 2, 4])
    weights, terms = np.array([0.5, 0.5, 0.5, 0.5]), np.array([0.0, 0.0, LEAST, LEAST])
    lower, upper = enclosed_sums(offsets, weights, terms, terms)
    assert lower[:2].tolist() == upper[:2].tolist() == [0.0, 0.0]
    assert Fraction(lower[2]) < Fraction(LEAST) < Fraction(upper[2])


def test_infinite_terms():
    offsets = np.array([0, 2, 4, 6])
    weights = np.array([0.5, 0.5, 0.5, -0.5, 0.5, 0.5])
    lower = np.array([1.0, -math.inf, math.inf, 1.0, math.inf, -math.inf])
    upper = np.array([1.0, 2.0, math.inf, 1.0, math.inf, -math.inf])
    low, high = enclosed_sums(offsets, weights, lower, upper)
    assert low.tolist() == [-math.inf, math.inf, -math.inf]
    assert high[0] == pytest.approx(1.5)
    assert high[1:].tolist() == [math.inf, math.inf]
    huge = np.full(2, 1.7e308)
    low, high = enclosed_sums(np.array([0, 2]), np.ones(2), huge, huge)
    assert (low[0], high[0]) == (-math.inf, math.inf)


def test_a_weight_that_is_off_counts_for_each_term_though_the_sum_is_zero():
    low, high = enclosed_sum([3 / 11, 8 / 11], [8e15, -3e15], [8e15, -3e15])
    truth = Fraction(3 * 8 * 10**15, 11) - Fraction(8 * 3 * 10**15, 11)
    assert low <= truth <= high
    stored = Fraction(3 / 11) * 8 * 10**15 - Fraction(8 / 11) * 3 * 10**15
    assert stored != 0
    assert low <= stored <= high
    # And exact ones only for what is rounded.
    low, high = enclosed_sum([0.5, 0.5], [1e16, -1.0], [1e16, -1.0], relative=0.0)
    assert low <= Fraction(10**16 - 1, 2) <= high
    assert high - low < 40


def test_differences_go_outward():
    numbers = np.array([0.1, 0.25, math.inf, -1e300])
    low, high = enclosed_difference(1.0, numbers, numbers)
    for one, least, most in zip(numbers[[0, 3]], low[[0, 3]], high[[0, 3]], strict=True):
        assert Fraction(least) < 1 - Fraction(one) < Fraction(most)
    assert (low[1], high[1]) == (0.75, 0.75)
    assert (low[2], high[2]) == (-math.inf, -math.inf)
    low, high = enclosed_difference(math.inf, numbers, numbers)
    assert (low[0], high[0]) == (math.inf, math.inf)
    assert (low[2], high[2]) == (-math.inf, math.inf)
    low, high = enclosed_difference(1.7e308, np.float64(-1.7e308), np.float64(-1.7e308))
    assert (float(low), float(high)) == (np.finfo(float).max, math.inf)


@given(st.floats(allow_nan=False), st.floats(allow_nan=False), st.floats(allow_nan=False))
@example(1.7e308, -1.7e308, 1.0)
@example(math.inf, math.inf, math.inf)
@example(1.0, 0.1, 0.25)
def test_bounds_of_one_opponent_are_as_those_of_many(total, low, high):
    found = enclosed_difference(total, np.array([low]), np.array([high]))
    assert opposite_bounds(total, low, high) == tuple(float(each[0]) for each in found)


def test_what_is_wider_is_wider():
    lower, upper = np.array([1.0, -math.inf]), np.array([1.0, math.inf])
    low, high = rounded_outward(lower, upper, 1e-30)
    assert low[0] < 1 < high[0]
    assert (low[1], high[1]) == (-math.inf, math.inf)


def test_products_of_what_is_not_negative_keep_their_digits():
    rng = np.random.default_rng(5)
    dense = np.where(rng.random((20, 20)) < 0.3, rng.random((20, 20)), 0.0)
    matrix = scipy.sparse.csr_array(dense)
    vector = 10.0 ** rng.uniform(-300, 0, 20) * (rng.random(20) < 0.8)
    low, high = Products(matrix).enclosed(vector, vector * (1 + 1e-9))
    off = 1 + Fraction(STORED)
    for least, most, row in zip(low.tolist(), high.tolist(), dense.tolist(), strict=True):
        true = sum(Fraction(w) * Fraction(t) for w, t in zip(row, vector.tolist(), strict=True))
        assert Fraction(least) <= true / off
        assert true * off * (1 + Fraction(1, 10**9)) <= Fraction(most) * (1 + Fraction(UNIT) * 4)
        assert most <= least * (1 + 2e-9) + 1e-310


def test_what_is_scaled_sums_to_one():
    weights, off = scaled(np.array([1.0, -2.0, 4.0]))
    for weight, truth in zip(weights.tolist(), (1, 2, 4), strict=True):
        assert abs(Fraction(weight) - Fraction(truth, 7)) <= Fraction(off) * Fraction(truth, 7)


def test_estimates_are_plain_sums():
    found = estimated_sums(np.array([0, 2, 2]), np.array([0.5, 0.25]), np.array([2.0, 4.0]))
    assert found.tolist() == [2.0, 0.0]
