"""Chomp holds what it claims, and its known values come out."""

import importlib.metadata

import pytest
from gamedp_chomp import Chomp, State

import gamedp
from gamedp.testing import each_check


@each_check(Chomp(rows=2, columns=4), Chomp(rows=3, columns=3))
def test_the_rules_hold_what_they_claim(check):
    check()


@pytest.mark.parametrize(("rows", "columns"), [(1, 2), (2, 2), (3, 4), (4, 5), (5, 5)])
def test_whoever_begins_wins(rows, columns):
    assert gamedp.solve(Chomp(rows=rows, columns=columns)).bounds() == (1.0, 1.0)


def test_two_rows():
    solution = gamedp.solve(Chomp(rows=2, columns=20))
    for first in range(1, 21):
        for second in range(first + 1):
            wins = solution.value(State(0, (first, second))) > 0
            assert wins == (first - second != 1)


def test_gamedp_finds_it_by_its_name():
    (entry,) = importlib.metadata.entry_points(group="gamedp.games", name="chomp")
    assert entry.load() is Chomp
