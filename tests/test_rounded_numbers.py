"""Payoffs and rewards that no double holds: bounds contain what the rules give."""

import math
from fractions import Fraction
from typing import NamedTuple

import attrs
import pytest

import gamedp

TIERS = ["never", "auto"]
THIRD = Fraction(1, 3)
LARGE = 2**53 + 1


class Place(NamedTuple):
    """How many steps have been taken."""

    step: int


@attrs.frozen
class Steps:
    """Some steps, which earn; perhaps back to the start; and a payoff at the end."""

    earned: object = 0.0
    end: object = 0.0
    steps: int = 5
    back: float = 0.0
    costs: object = 0.0

    def initial_state(self):
        """Return the start."""
        return Place(0)

    def is_terminal(self, state):
        """Say whether all steps have been taken."""
        return state.step == self.steps

    def actions(self, state):
        """Return the one action."""
        return range(1)

    def outcomes(self, state, action):
        """Yield the next step, and the way back."""
        yield 1.0 - self.back, Place(state.step + 1)
        if self.back > 0.0:
            yield self.back, Place(0)

    def reward(self, state, action, player):
        """Return what a step earns; the first one may cost something."""
        return self.costs if state.step == 0 and self.costs else self.earned

    def payoff(self, state, player):
        """Return the payoff."""
        return self.end


@attrs.frozen
class Last:
    """A payoff alone, an integer in compiled rules."""

    end: int = LARGE

    def initial_state(self):
        """Return the start."""
        return Place(0)

    def is_terminal(self, state):
        """Say whether the step has been taken."""
        return state.step == 1

    def actions(self, state):
        """Return the one action."""
        return range(1)

    def outcomes(self, state, action):
        """Yield the end."""
        yield 1.0, Place(1)

    def payoff(self, state, player):
        """Return the payoff."""
        return self.end


def holds(solution, exact):
    """Say whether the bounds contain a value, and are no wider than they need be."""
    low, high = solution.bounds()
    assert low <= exact <= high
    return high - low


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("end", [LARGE, -LARGE, 2**60 + 3, 2**53, 7])
def test_integers_beyond_doubles(end, tier):
    solution = gamedp.solve(Last(end), compile=tier)
    assert holds(solution, end) <= 2 * abs(int(float(end)) - end) + math.ulp(end) * 4
    assert (solution.bounds(Place(1))[0] == end) == (float(end) == end)
    assert solution.bounds(Place(1))[0] <= end <= solution.bounds(Place(1))[1]


@pytest.mark.filterwarnings("ignore::gamedp.CompilationWarning")
@pytest.mark.parametrize(
    ("game", "exact"),
    [
        (Steps(end=THIRD), THIRD),
        (Steps(earned=THIRD), 5 * THIRD),
        (Steps(earned=THIRD, end=-2 * THIRD), THIRD * 3),
        (Steps(earned=LARGE, end=-5 * LARGE), 0),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "objective", [None, gamedp.Discounted(0.5), gamedp.FiniteHorizon(3)], ids=str
)
def test_fractions_in_a_game_that_ends(game, exact, objective):
    size = float(max(abs(Fraction(game.earned)), abs(Fraction(game.end))))
    solution = gamedp.solve(game, objective, tolerance=1e-12 * size)
    if isinstance(objective, gamedp.Discounted):
        half = Fraction(1, 2)
        exact = sum(half**k for k in range(5)) * Fraction(game.earned) + half**5 * Fraction(
            game.end
        )
    if isinstance(objective, gamedp.FiniteHorizon):
        exact = 3 * Fraction(game.earned)
    assert holds(solution, exact) <= 80 * size * 2.0**-52


def test_an_average_of_fractions():
    for_ever = Steps(earned=THIRD, end=0.0, steps=4, back=1.0)
    objective = gamedp.AverageReward()
    assert holds(gamedp.solve(for_ever, objective, compile="never"), THIRD) < 1e-6


def test_fractions_where_states_come_again():
    game = Steps(earned=THIRD, end=THIRD, steps=3, back=0.5)
    # Three steps in a row, each with probability one half: 14 steps.
    exact = 14 * THIRD + THIRD
    solution = gamedp.solve(game, compile="never", tolerance=1e-12)
    assert holds(solution, exact) < 1e-12


def test_rounded_rewards_of_both_signs_for_ever_are_for_exact_solvers():
    game = Steps(earned=THIRD, end=0.0, steps=3, back=0.5, costs=-2 * THIRD)
    with pytest.raises(gamedp.UnsupportedProblemError, match="ExactPolicyIteration"):
        gamedp.solve(game, compile="never")
    solution = gamedp.solve(game, None, gamedp.ExactPolicyIteration(), compile="never")
    # Of the 14 steps, 8 are the first one.
    exact = 6 * THIRD - 8 * 2 * THIRD
    assert solution.exact_value() == exact
    holds(solution, exact)


@pytest.mark.parametrize(
    "game", [Steps(end=THIRD), Steps(earned=THIRD, end=LARGE), Last()], ids=str
)
def test_exact_answers_are_those_of_the_rules(game):
    solution = gamedp.solve(game, None, gamedp.ExactPolicyIteration(), compile="never")
    exact = 5 * Fraction(game.earned) + Fraction(game.end) if isinstance(game, Steps) else LARGE
    assert solution.exact_value() == exact
    assert holds(solution, exact) <= math.ulp(float(exact))


def test_a_model_that_was_kept_knows_it(tmp_path):
    solution = gamedp.solve(Last(), compile="never")
    solution.save(tmp_path / "kept")
    kept = gamedp.load(tmp_path / "kept", game=Last())
    assert kept.model.rounding == solution.model.rounding == (1.0, 0.0, 2.0**-53)
    holds(gamedp.solve(kept.model), LARGE)
