"""The contraction argument of the Wubbel article: its norm, its factor, and what breaks it."""

from fractions import Fraction

import attrs
import numpy as np
import pytest
from figures import BY_NAME
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as arrays
from wubbel_reference import winning_probabilities

from gamedp.errors import InvalidParameterError
from gamedp.games.wubbel import (
    ROLL,
    SAVE,
    State,
    Wubbel,
    contraction_factor,
    contraction_weights,
    least_contraction_factor,
)

GOAL = 50
FIGURE = BY_NAME["contraction.weights"]
WEIGHTS = contraction_weights()
RAISED_BY = WEIGHTS[1] - Fraction(1, 6)
UNRAISED = [WEIGHTS[0], *(weight - RAISED_BY for weight in WEIGHTS[1:])]


def approx(value, tolerance=FIGURE.tolerance):
    return pytest.approx(value, abs=tolerance, rel=0)


class TestWeights:
    def test_the_first_ones(self):
        assert len(WEIGHTS) == GOAL + 1
        assert [str(weight) for weight in UNRAISED[:8]] == [
            str(Fraction(weight)) for weight in FIGURE.value["first d'"]
        ]
        assert float(RAISED_BY) == approx(FIGURE.value["raised by"])
        assert float(UNRAISED[50]) == approx(FIGURE.value["d'_50"])

    def test_they_fulfil_the_article_s_recurrence(self):
        for u in range(1, 6):
            assert UNRAISED[u] == Fraction(1, 6) * Fraction(7, 6) ** (u - 1)
        for u in range(6, GOAL + 1):
            assert UNRAISED[u] == (7 * UNRAISED[u - 1] - UNRAISED[u - 6]) / 6

    def test_they_sum_to_six_without_end(self):
        """What is missing from 6 is a sum of the last five of them, which tends to zero."""
        for last in range(5, GOAL + 1):
            missing = sum((5 - j) * UNRAISED[last - j] for j in range(5))
            assert FIGURE.value["sum of all d'"] - sum(UNRAISED[: last + 1]) == missing
        assert float(6 - sum(UNRAISED)) == approx(FIGURE.value["sum of d' from 51"])
        assert (6 - sum(UNRAISED)) / 6 / 100 == RAISED_BY

    def test_both_inequalities_are_strict(self):
        assert sum(WEIGHTS) / 6 < WEIGHTS[0]
        for u in range(1, GOAL + 1):
            assert sum(WEIGHTS[max(0, u - 5) : u]) / 6 < WEIGHTS[u]

    def test_without_the_raise_they_are_not(self):
        assert contraction_factor(UNRAISED) == 1

    def test_the_factor(self):
        factor = contraction_factor(WEIGHTS)
        assert float(factor) == approx(FIGURE.value["factor"])
        assert float(1 - factor) == approx(FIGURE.value["slack"])
        assert float(1 - sum(WEIGHTS) / 6) == approx(FIGURE.value["slack at 0"])
        worst = FIGURE.value["worst u"]
        assert sum(WEIGHTS[worst - 5 : worst]) / 6 / WEIGHTS[worst] == factor

    @pytest.mark.parametrize("faces", [2, 3, 6, 20])
    @pytest.mark.parametrize("goal", [1, 2, 5, 13, 100])
    def test_other_dice_and_goals(self, goal, faces):
        weights = contraction_weights(goal, faces)
        assert len(weights) == goal + 1
        assert min(weights) > 0
        assert contraction_factor(weights, faces) < 1


def all_roll_matrix(size):
    """Return who is reached by a roll from where, for two players in mirrored positions."""
    matrix = np.zeros((size, size))
    matrix[:, 0] = 1 / 6
    for points in range(size):
        matrix[points, points + 1 : points + 6] += 1 / 6
    return matrix


@pytest.mark.parametrize("size", BY_NAME["contraction.optimal_factor"].value)
def test_the_least_factor_is_the_perron_root_of_always_rolling(size):
    figure = BY_NAME["contraction.optimal_factor"]
    assert least_contraction_factor(size) == approx(figure.value[size], figure.tolerance)
    roots, vectors = np.linalg.eig(all_roll_matrix(size).T)
    largest = int(np.argmax(roots.real))
    assert roots[largest] == approx(figure.value[size], figure.tolerance)

    weights = vectors[:, largest].real / vectors[0, largest].real
    assert weights.min() > 0
    factor = contraction_factor([Fraction(weight) for weight in weights])
    assert float(factor) == approx(figure.value[size], figure.tolerance)
    assert factor < contraction_factor(WEIGHTS)
    if size == GOAL + 1:
        known = BY_NAME["contraction.optimal_weights"]
        for weight, expected in zip(weights, known.value, strict=False):
            assert weight == approx(expected, known.tolerance)


@attrs.frozen
class WubbelWithPass(Wubbel):
    """The rule as the article's functional has it: a player may save nothing."""

    def actions(self, state):
        yield ROLL
        yield SAVE


class Block:
    """The positions with two given scores, and one sweep of a game's own rules over them."""

    def __init__(self, game, own, opponent, values):
        self.game = game
        self.scores = ((own, opponent), (opponent, own))
        self.values = values

    def lookup(self, table, state):
        """Return the mover's value: from `table` within the block, the true one outside."""
        if self.game.is_terminal(state):
            return 1.0
        if (state.own, state.opponent) == self.scores[state.player]:
            return table[state.player][state.turn]
        return self.values[state.own, state.opponent, state.turn]

    def sweep(self, table):
        swept = np.ones_like(table)
        for player, (own, opponent) in enumerate(self.scores):
            for turn in range(self.game.goal - own):
                state = State(player, own, opponent, turn)
                swept[player][turn] = max(
                    sum(
                        chance * (value if after.player == player else 1 - value)
                        for chance, after in self.game.outcomes(state, action)
                        for value in [self.lookup(table, after)]
                    )
                    for action in self.game.actions(state)
                )
        return swept

    def distance(self, first, second):
        """Return the article's weighted sum of absolute differences."""
        weights = np.array([float(weight) for weight in WEIGHTS[:-1]])
        return sum(
            weights[: self.game.goal - own]
            @ np.abs(first[player] - second[player])[: self.game.goal - own]
            for player, (own, _) in enumerate(self.scores)
        )


@pytest.fixture(scope="module")
def values():
    return winning_probabilities()


@st.composite
def tables(draw):
    """Draw two tables of winning probabilities that often differ in a few positions only."""
    unit = st.floats(0, 1, width=16)
    first = draw(arrays.arrays(float, (2, GOAL), elements=unit))
    second = draw(
        st.one_of(
            arrays.arrays(float, (2, GOAL), elements=unit),
            st.builds(
                lambda player, turn, value: with_entry(first, player, turn, value),
                st.integers(0, 1),
                st.integers(0, 6),
                unit,
            ),
        )
    )
    return first, second


def with_entry(table, player, turn, value):
    changed = table.copy()
    changed[player, turn] = value
    return changed


scores = st.integers(0, GOAL - 1)


@settings(deadline=None)
@given(own=scores, opponent=scores, pair=tables())
def test_a_sweep_is_a_contraction(values, own, opponent, pair):
    block = Block(Wubbel(), own, opponent, values)
    before = block.distance(*pair)
    after = block.distance(block.sweep(pair[0]), block.sweep(pair[1]))
    assert after <= float(contraction_factor(WEIGHTS)) * before + 1e-14


def test_a_sweep_with_a_pass_is_not_a_contraction(values):
    """Who passes at 0:30 hands on the whole difference, and the busts add theirs."""
    first = np.ones((2, GOAL))
    first[1, 1:6] = 0  # rolling would be hopeless, so player 1, who has 0 points, passes
    second = with_entry(first, player=0, turn=0, value=0)

    def growth(game):
        block = Block(game, 30, 0, values)
        after = block.distance(block.sweep(first), block.sweep(second))
        return after / block.distance(first, second)

    assert BY_NAME["contraction.pass"].value is False
    assert growth(WubbelWithPass()) == approx(1.79, 1e-3)
    with_pass = contraction_factor(WEIGHTS, may_pass=True)
    assert growth(WubbelWithPass()) <= with_pass < 1.7928
    assert with_pass == 1 + sum(WEIGHTS[1:]) / 6
    assert growth(Wubbel()) < contraction_factor(WEIGHTS)


@pytest.mark.parametrize(("own", "opponent"), [(0, 0), (30, 0), (40, 45), (49, 49)])
def test_sweeps_stay_within_the_bound_promised_before(values, own, opponent):
    """After k sweeps the solution is at most factor^k / (1 - factor) times the first step away."""
    block = Block(Wubbel(), own, opponent, values)
    factor = float(contraction_factor(WEIGHTS))
    solution = np.ones((2, GOAL))
    for player, (mine, theirs) in enumerate(block.scores):
        for turn in range(GOAL - mine):
            solution[player, turn] = values[mine, theirs, turn]

    table = np.zeros((2, GOAL))
    first_step = block.distance(table, block.sweep(table))
    for sweeps in range(1, 31):
        table = block.sweep(table)
        promised = factor**sweeps / (1 - factor) * first_step
        assert block.distance(table, solution) <= promised


@pytest.mark.parametrize("options", [{"size": 0}, {"size": 2.5}, {"faces": 0}])
def test_a_matrix_has_rows_and_a_die_faces(options):
    with pytest.raises(InvalidParameterError, match="whole number of at least 1"):
        least_contraction_factor(**options)
