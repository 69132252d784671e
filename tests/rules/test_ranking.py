"""Numbers of distributions: a bijection without gaps, in both modes, and refused out of range."""

import itertools
import math
from typing import NamedTuple

import attrs
import pytest
from hypothesis import given, strategies as st

import gamedp
from gamedp.rules.ranking import LARGEST_N


@given(st.integers(0, LARGEST_N), st.integers(0, 2 * LARGEST_N))
def test_binomials(n, k):
    exact = math.comb(n, k)
    if exact < 2**63:
        assert gamedp.rules.binomial(n, k) == exact
    else:
        with pytest.raises(OverflowError, match="does not fit into 64 bits"):
            gamedp.rules.binomial(n, k)


@pytest.mark.parametrize(("n", "k"), [(-1, 0), (3, -1), (LARGEST_N + 1, 1)])
def test_binomials_out_of_range(n, k):
    with pytest.raises(ValueError, match="n from 0 to 127, and k of at least 0"):
        gamedp.rules.binomial(n, k)


@pytest.mark.parametrize(("total", "parts"), [(0, 1), (0, 5), (7, 1), (9, 2), (6, 3), (5, 5)])
def test_all_distributions_have_numbers_without_a_gap(total, parts):
    counts = [
        counts
        for counts in itertools.product(range(total + 1), repeat=parts)
        if sum(counts) == total
    ]
    ranks = [gamedp.rules.rank_distribution(each) for each in counts]
    assert sorted(ranks) == list(range(gamedp.rules.binomial(total + parts - 1, parts - 1)))
    for rank, each in zip(ranks, counts, strict=True):
        assert gamedp.rules.unrank_distribution(rank, total, (0,) * parts) == each


@given(st.lists(st.integers(0, 6), min_size=1, max_size=14).map(tuple))
def test_there_and_back(counts):
    rank = gamedp.rules.rank_distribution(counts)
    assert gamedp.rules.unrank_distribution(rank, sum(counts), counts) == counts


def test_the_largest_and_the_first_one_that_is_too_large():
    counts = (12,) + (0,) * 35
    last = math.comb(47, 12) - 1
    assert gamedp.rules.rank_distribution(counts) == last
    assert gamedp.rules.unrank_distribution(last, 12, counts) == counts
    with pytest.raises(OverflowError):
        gamedp.rules.rank_distribution((0,) * 40 + (40,))  # of which there are more than 2^63
    with pytest.raises(OverflowError):
        gamedp.rules.unrank_distribution(0, 40, (0,) * 41)


def test_what_has_no_number():
    with pytest.raises(ValueError, match="a count is negative"):
        gamedp.rules.rank_distribution((2, -1))
    with pytest.raises(ValueError, match="binomial"):
        gamedp.rules.rank_distribution(())
    with pytest.raises(ValueError, match="binomial"):
        gamedp.rules.rank_distribution((LARGEST_N, 0, 0))
    for index in (-1, 6):
        with pytest.raises(ValueError, match="no distribution has this number"):
            gamedp.rules.unrank_distribution(index, 2, (0, 0, 0))
    with pytest.raises(ValueError, match="no distribution has this number"):
        gamedp.rules.unrank_distribution(0, -1, (0, 0, 0))


class Row(NamedTuple):
    counts: tuple[int, ...]


@attrs.frozen
class NextRow:
    """From each distribution to the next one, found by its number."""

    total: int = 5

    def initial_state(self):
        return Row((0, 0, 0, self.total))

    def is_terminal(self, state):
        return state.counts[0] == self.total

    def actions(self, state):
        yield 0

    def outcomes(self, state, action):
        rank = gamedp.rules.rank_distribution(state.counts)
        yield 1.0, Row(gamedp.rules.unrank_distribution(rank + 1, self.total, state.counts))

    def payoff(self, state, player):
        return float(gamedp.rules.rank_distribution(state.counts))


@pytest.mark.parametrize("mode", ["always", "never"])
def test_rules_may_rank_and_unrank(mode):
    solution = gamedp.solve(NextRow(), compile=mode)
    assert solution.model.num_states == math.comb(8, 3)
    assert solution.value() == math.comb(8, 3) - 1
