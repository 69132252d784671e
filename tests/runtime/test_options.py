"""Whole numbers among the options: integers of any library, and nothing else."""

import numpy as np
import pytest

import gamedp
from gamedp.errors import InvalidParameterError
from gamedp.games.matches import Matches
from gamedp.pictures import plot_tree
from gamedp.runtime.options import LARGEST_COUNT, checked_whole
from gamedp.searchers.perft import perft
from gamedp.solvers import PolicyIteration, ValueIteration
from gamedp.sums.octal import OctalGame

GAME = Matches(matches=5)
MODEL = gamedp.compile(GAME, compile="never")

TAKING = {
    "depth of perft": lambda number: perft(GAME, number, compile="never").positions,
    "depth of a tree": lambda number: (
        plot_tree(gamedp.solve(GAME, compile="never"), depth=number) and number
    ),
    "games": lambda number: (
        gamedp.simulate(
            GAME, [gamedp.Policy.uniform(MODEL)] * 2, games=number, seed=number, compile="never"
        ).games
    ),
    "horizon": lambda number: gamedp.FiniteHorizon(number).horizon,
    "max_sweeps": lambda number: ValueIteration(max_sweeps=number).max_sweeps,
    "max_policies": lambda number: PolicyIteration(max_policies=number).max_policies,
    "up_to": lambda number: OctalGame("0.77").grundy_sequence(number).tolist(),
}


@pytest.mark.parametrize("name", TAKING)
def test_whole_numbers_are_of_any_type(name):
    take = TAKING[name]
    assert take(np.int64(3)) == take(np.uint8(3)) == take(3)


@pytest.mark.parametrize("name", TAKING)
@pytest.mark.parametrize("number", [-1, 1.0, 2.5, True, "3", None, float("nan")])
def test_other_numbers_are_refused(name, number):
    with pytest.raises(InvalidParameterError, match="must be an integer"):
        TAKING[name](number)


def test_numbers_have_limits():
    assert checked_whole("n", LARGEST_COUNT, 0) == LARGEST_COUNT
    with pytest.raises(InvalidParameterError, match=r"an integer, 0 to 1,000,000,000,000\.$"):
        checked_whole("n", LARGEST_COUNT + 1, 0)
    with pytest.raises(InvalidParameterError, match=r"n is 7; it must be an integer, 1 to 6\.$"):
        checked_whole("n", 7, 1, 6)
    with pytest.raises(InvalidParameterError, match=r"n is 0; it must be an integer, 1 to 6\.$"):
        checked_whole("n", 0, 1, 6)
