"""Chomp holds what it claims, and its known values come out."""

import importlib.metadata

import numpy as np
import pytest
from gamedp_chomp import Bar, Chomp, two_rows_winning

import gamedp
from gamedp.testing import check_game


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_the_rules_hold_what_they_claim(rows):
    check_game(Chomp(rows=rows, columns=4))


@pytest.mark.parametrize(("rows", "columns"), [(1, 2), (2, 2), (3, 4), (4, 5), (5, 5)])
def test_whoever_begins_wins(rows, columns):
    solution = gamedp.solve(Chomp(rows=rows, columns=columns))
    np.testing.assert_equal(solution.bounds(), (1.0, 1.0))


def test_two_rows():
    solution = gamedp.solve(Chomp(rows=2, columns=20))
    bars = [(first, second) for first in range(1, 21) for second in range(first + 1)]
    wins = [solution.value(Bar(0, bar)) > 0 for bar in bars]
    np.testing.assert_equal(wins, [two_rows_winning(*bar) for bar in bars])


def test_gamedp_finds_it_by_its_name():
    (entry,) = importlib.metadata.entry_points(group="gamedp.games", name="chomp")
    np.testing.assert_equal(entry.load(), Chomp)
