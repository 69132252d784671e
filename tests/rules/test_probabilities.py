"""What is stored of the probabilities that rules give: equal outcomes added up, sums made one."""

import itertools
import math
from fractions import Fraction
from typing import NamedTuple

import attrs
import numpy as np
import pytest
from depth import first_of
from hypothesis import given, strategies as st

import gamedp
from gamedp.rules.exactness import LONG_ROW, Gathering

MODES = ["never", "always"]
TWO_UNITS = Fraction(1, 2**51)


def off(stored, meant):
    """Return by what part of itself a probability is off."""
    return abs(Fraction(stored) - meant) / meant


class Sum(NamedTuple):
    """What the dice show together."""

    points: int


@attrs.frozen
class Dice:
    """Six dice are thrown once; each throw is written down on its own. The end is worth one."""

    wanted: int = 20

    def initial_state(self):
        """Return the state before the throw."""
        return Sum(0)

    def is_terminal(self, state):
        """Say whether the dice have been thrown."""
        return state.points > 0

    def actions(self, state):
        """Return the one action."""
        return range(1)

    def outcomes(self, state, action):
        """Yield every throw."""
        for one in range(1, 7):
            for two in range(1, 7):
                for three in range(1, 7):
                    for four in range(1, 7):
                        for five in range(1, 7):
                            for six in range(1, 7):
                                yield 1 / 46656, Sum(one + two + three + four + five + six)

    def payoff(self, state, player):
        """Return 1 for the sum that is wanted."""
        return 1.0 if state.points == self.wanted else 0.0


def ways():
    """Return how many throws of six dice have each sum."""
    found = dict.fromkeys(range(6, 37), 0)
    for throw in itertools.product(range(1, 7), repeat=6):
        found[sum(throw)] += 1
    return found


@pytest.fixture(scope="module", params=MODES)
def six_dice(request):
    """Return the model of the throw of six dice."""
    return gamedp.compile(Dice(), compile=request.param)


def test_six_dice_are_stored_as_the_rules_mean_them(six_dice):
    exact = ways()
    assert six_dice.num_transitions == len(exact) == 31
    successors, probabilities = six_dice.successors.tolist(), six_dice.probabilities.tolist()
    for successor, chance in zip(successors, probabilities, strict=True):
        meant = Fraction(exact[six_dice.state(successor).points], 6**6)
        assert off(chance, meant) <= TWO_UNITS


def test_bounds_and_certificates_are_about_the_throw_of_six_dice(six_dice):
    for points, count in ways().items():
        meant = Fraction(count, 6**6)
        payoffs = [
            1.0 if six_dice.state(s).points == points else 0.0 for s in six_dice.terminals.tolist()
        ]
        model = attrs.evolve(six_dice, payoffs=np.array(payoffs))
        solution = gamedp.solve(model)
        low, high = solution.bounds()
        assert low <= meant <= high
        assert high - low < 1e-14
        claim = gamedp.verify(model, gamedp.certify(solution))
        assert claim.width < 1e-14
        start = int(model.initial_states[0])
        certificate = gamedp.certify(solution)
        assert certificate.lower[start] <= meant <= certificate.upper[start]


def test_both_tiers_store_the_same_bits():
    plain, compiled = (gamedp.compile(Dice(), compile=mode) for mode in MODES)
    assert plain.digest() == compiled.digest()


# Rows of all kinds, in both modes ---------------------------------------------------------------


class Row(NamedTuple):
    """A row of a table, the start; or one of its columns."""

    number: int
    column: int


@attrs.frozen
class Table:
    """One step with the outcomes of a table: weights, the total of each row, columns."""

    weights: np.ndarray
    totals: np.ndarray
    columns: np.ndarray
    num_players: int = 2

    def initial_state(self):
        """Return the first row."""
        return Row(0, -1)

    def is_terminal(self, state):
        """Say whether the end is reached."""
        return state.number == len(self.weights)

    def actions(self, state):
        """Return the one action."""
        return range(1)

    def outcomes(self, state, action):
        """Yield the row's outcomes, and go on with the next row in one of them."""
        row = state.number
        for place in range(self.weights.shape[1]):
            chance = self.weights[row, place] / self.totals[row]
            column = self.columns[row, place]
            yield chance, Row(row + 1 if column == 0 else len(self.weights), column)

    def canonical(self, state):
        """Let the players change places on the way to odd columns."""
        if state.column > 0 and state.column % 2 == 1:
            return Row(state.number, state.column - 1), True
        return state, False

    def payoff(self, state, player):
        """Return nothing."""
        return 0.0


def random_table(seed, width, kinds, spread):
    """Return a table of random rows."""
    rng = np.random.default_rng(seed)
    weights = np.floor(np.exp(rng.uniform(0, spread, (12, width)))) + 1.0
    columns = rng.integers(0, kinds, (12, width))
    columns[:, 0] = 0
    return Table(weights, weights.sum(axis=1), columns)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("width", "kinds"), [(9, 4), (40, 10), (60, 40), (300, 90)])
def test_rows_of_all_lengths_are_the_same_in_both_tiers_and_as_meant(seed, width, kinds):
    game = random_table(seed, width, kinds, (0.0, 3.0, 20.0)[seed % 3])
    plain, compiled = (gamedp.compile(game, compile=mode) for mode in MODES)
    assert plain.digest() == compiled.digest()
    for state in range(plain.num_states):
        for choice in range(*plain.choice_offsets[state : state + 2].tolist()):
            row = plain.state(state).number
            meant = {}
            for weight, column in zip(game.weights[row], game.columns[row], strict=True):
                after = Row(row + 1 if column == 0 else len(game.weights), int(column))
                key = game.canonical(after)
                share = Fraction(weight) / Fraction(game.totals[row])
                meant[key] = meant.get(key, Fraction(0)) + share
            for t in range(*plain.transition_offsets[choice : choice + 2].tolist()):
                stored = float(plain.probabilities[t])
                key = plain.state(int(plain.successors[t])), stored < 0
                assert off(abs(stored), meant[key]) <= TWO_UNITS


@given(
    st.lists(
        st.tuples(st.integers(0, 20), st.integers(1, 10**6)), min_size=1, max_size=3 * LONG_ROW
    ),
    st.sampled_from(["floats", "fractions", "both"]),
)
def test_what_is_gathered_is_within_two_units(pairs, kind):
    total = sum(weight for _, weight in pairs)
    gathering, meant = Gathering(), {}
    for place, (key, weight) in enumerate(pairs):
        share = Fraction(weight, total)
        exact = kind == "fractions" or (kind == "both" and place % 2)
        gathering.add(key, share if exact else float(share))
        meant[key] = meant.get(key, 0) + share
    stored = gathering.scaled("here")
    assert stored.keys() == meant.keys()
    limit = TWO_UNITS / 4 if kind == "fractions" else TWO_UNITS
    assert all(off(stored[key], meant[key]) <= limit for key in meant)


@given(st.lists(st.floats(2.0**-60, 1), min_size=1, max_size=50), st.integers(1, 20))
def test_numbers_that_miss_one_are_scaled_to_the_last_digit(weights, kinds):
    total = math.fsum(weights) * (1 + 3e-10)
    given_numbers = [weight / total for weight in weights]
    sums = {}
    gathering = Gathering()
    for place, number in enumerate(given_numbers):
        gathering.add(place % kinds, number)
        sums[place % kinds] = sums.get(place % kinds, 0) + Fraction(number)
    one = sum(map(Fraction, given_numbers))
    stored = gathering.scaled("here")
    assert all(off(stored[key], sums[key] / one) <= TWO_UNITS for key in sums)


def test_arrays_are_added_up_as_rules_are():
    exact = ways()
    throws = [sum(throw) for throw in itertools.product(range(1, 7), repeat=6)]
    ends = [1 + points - 6 for points in throws]
    model = gamedp.Model.from_arrays(
        [0, 1] + [1] * 31,
        [0, 6**6],
        ends,
        [1 / 6**6] * 6**6,
        terminals=range(1, 32),
        payoffs=[0.0] * 31,
    )
    for successor, chance in zip(model.successors, model.probabilities, strict=True):
        assert off(float(chance), Fraction(exact[int(successor) + 5], 6**6)) <= TWO_UNITS
    short = gamedp.Model.from_arrays(
        [0, 1, 1, 1], [0, 60], [1, 2] * 30, [1 / 60] * 60, terminals=[1, 2], payoffs=[0.0] * 2
    )
    assert all(off(float(chance), Fraction(1, 2)) <= TWO_UNITS for chance in short.probabilities)


# Probabilities that miss one, in every searcher ---------------------------------------------------


@attrs.frozen
class Thirds:
    """Three outcomes of 0.3333333333: they miss one by 1e-10."""

    num_players: int = 2

    def initial_state(self):
        """Return the start."""
        return Sum(0)

    def is_terminal(self, state):
        """Say whether there has been a throw."""
        return state.points > 1

    def player(self, state):
        """Let both move."""
        return state.points % 2

    def actions(self, state):
        """Return the actions."""
        return range(1)

    def outcomes(self, state, action):
        """Yield one sure step, and then three ends."""
        if state.points == 0:
            yield 1 - 1e-10, Sum(1)
        else:
            for end in range(2, 5):
                yield 0.3333333333, Sum(end)

    def payoff(self, state, player):
        """Return large numbers."""
        return (1e6 if player == 0 else -1e6) * (state.points - 1)


@pytest.mark.parametrize("mode", first_of(MODES))
@pytest.mark.parametrize("depth", [None, 3])
@pytest.mark.parametrize(
    "searcher",
    [
        *(
            gamedp.searchers.Expectiminimax(pruning=pruning)
            for pruning in ("none", "star1", "star2")
        ),
        gamedp.searchers.Minimax(),
        gamedp.searchers.MaxN(),
    ],
    ids=lambda searcher: f"{type(searcher).__name__} {getattr(searcher, 'pruning', '')}",
)
def test_searchers_scale_probabilities_as_models_do(searcher, depth, mode):
    exact = 2 * Fraction(10) ** 6
    model_low, model_high = gamedp.solve(gamedp.compile(Thirds(), compile=mode)).bounds()
    assert model_low <= exact <= model_high
    result = attrs.evolve(searcher, depth=depth).search(Thirds(), compile=mode)
    assert result.lower <= exact <= result.upper
    assert result.upper - result.lower < 1e-6
    before = attrs.evolve(searcher, depth=depth).search(Thirds(), Sum(1), compile=mode)
    assert before.lower <= exact <= before.upper


@attrs.frozen
class Missing(Thirds):
    """Outcomes that miss one by far, but not at the root."""

    def outcomes(self, state, action):
        """Yield a sure step, and then half of what would be one."""
        yield 1.0 if state.points == 0 else 0.5, Sum(state.points + 1)


@pytest.mark.parametrize(
    "searcher",
    [gamedp.searchers.Expectiminimax(), gamedp.searchers.Minimax(), gamedp.searchers.MaxN()],
)
@pytest.mark.parametrize("mode", first_of(MODES))
def test_searchers_refuse_what_is_far_from_one(searcher, mode):
    with pytest.raises(gamedp.InvalidModelError, match=r"total probability 0\.5"):
        searcher.search(Missing(), compile=mode)


@attrs.frozen
class Faint(Thirds):
    """An outcome that is too faint, but not at the root: half of the smallest normal number."""

    chance: float = 2.0**-1023

    def outcomes(self, state, action):
        """Yield a sure step, and then two ends."""
        if state.points > 0:
            yield self.chance, Sum(3)
        yield 1.0, Sum(state.points + 1)


FEW_DIGITS = "has too few digits for proofs"


@pytest.mark.slow
@pytest.mark.parametrize(
    "ask",
    [
        gamedp.compile,
        gamedp.searchers.Expectiminimax().search,
        gamedp.searchers.Minimax().search,
        gamedp.searchers.MaxN().search,
    ],
    ids=["compile", "Expectiminimax", "Minimax", "MaxN"],
)
@pytest.mark.parametrize("mode", MODES)
def test_probabilities_with_too_few_digits_are_refused_in_rules(ask, mode):
    """Two units in the last place of them are no small part of them."""
    words = rf"action 0 in Sum\(points=1\) give .* the probability 1\.1125.*e-308.*{FEW_DIGITS}"
    with pytest.raises(gamedp.InvalidModelError, match=words):
        ask(Faint(), compile=mode)
    ask(Faint(chance=2.0**-1021), compile=mode)


def test_fractions_that_no_double_is_near_are_refused():
    for chance in (Fraction(1, 10**400), Fraction(1, 10**310)):
        with pytest.raises(gamedp.InvalidModelError, match=FEW_DIGITS):
            gamedp.compile(Faint(chance=chance), compile="never")


def test_arrays_hold_no_probability_with_too_few_digits():
    """Nor does one that is allowed lose its digits where all are scaled."""

    def made(chance, initial=0):
        return gamedp.Model.from_arrays(
            [0, 1, 2, 2], [0, 1, 3], [1, 0, 2], [1.0, 1.0, chance],
            terminals=[2], num_players=2, initial=initial,
        )  # fmt: skip

    for chance in (5e-324, -(2.0**-1023), 2.0**-1022):
        with pytest.raises(gamedp.InvalidModelError, match=f"choice 1 .*state 1 .*{FEW_DIGITS}"):
            made(chance)
        with pytest.raises(gamedp.InvalidModelError, match=f"starts in state 1 .*{FEW_DIGITS}"):
            made(1e-300, [(1.0, 0), (chance, 1)])
    scaled = gamedp.Model.from_arrays(
        [0, 1, 1, 1], [0, 2], [1, 2], [1 + 9e-10, 2.0**-1021], terminals=[1, 2]
    )
    assert 2.0**-1022 < scaled.probabilities[1] < 2.0**-1021
