"""Problems that are no games: compiled as in plain Python, and their known answers."""

from fractions import Fraction

import attrs
import numpy as np
import pytest
from depth import first_of

import gamedp
from gamedp.testing import check_game, exact_choice_values, exact_values
from gamedp.testing.models import (
    Cell,
    ConsensusCoin,
    GamblersRuin,
    Inventory,
    Ladder,
    MachineReplacement,
    Pig,
    Queue,
    Rung,
    SlipperyGrid,
    SlowChain,
    Stock,
    random_model,
)

EVERY = (
    GamblersRuin(goal=6, start=2, up=0.375),
    SlowChain(length=6),
    SlipperyGrid(rows=3, columns=4),
    Inventory(),
    Queue(capacity=6),
    MachineReplacement(worst=5),
    ConsensusCoin(processes=2, bound=1),
    Ladder(),
    Pig(goal=4),
    Pig(goal=4, ends=True, throws=True),
)

SOLVED = (
    GamblersRuin(),
    GamblersRuin(goal=20, start=3, up=0.25),
    GamblersRuin(goal=7, start=7),
    SlipperyGrid(),
    SlipperyGrid(rows=1, columns=9),
    SlipperyGrid(rows=3, columns=6, slip=0.5),
    SlowChain(length=10),
    SlowChain(length=20, up=0.25),
    Inventory(),
    Inventory(capacity=10, demand=(0.125, 0.25, 0.25, 0.25, 0.125), fixed=6.0),
    Queue(),
    Queue(arrival=0.5, service=0.25, fee=40.0, capacity=30),
    MachineReplacement(),
    MachineReplacement(worst=40, decay=0.5, wear=0.125, cost=30.0),
    Ladder(),
    Ladder(first=(0.125, 0.5, 0.25, 0.375), second=(0.75, 0.25, 0.625, 0.125)),
    *(Pig(goal) for goal in range(1, 7)),
    Pig(6, ends=True, throws=True),
)
"""With probabilities that are exact as doubles, or whose rounding the bounds allow for."""


@pytest.mark.parametrize("model", EVERY, ids=repr)
def test_they_keep_the_protocol_of_games(model):
    check_game(model, compile=False)


@pytest.mark.slow
@pytest.mark.parametrize("model", first_of(EVERY, 4), ids=repr)
def test_compiled_rules_do_the_same(model):
    compiled, plain = (gamedp.compile(model, compile=how) for how in ("always", "never"))
    assert compiled.digest() == plain.digest()
    assert compiled.state(compiled.num_states - 1) == plain.state(plain.num_states - 1)


@pytest.mark.parametrize("model", SOLVED, ids=repr)
def test_known_answers(model):
    solution = gamedp.solve(model, model.objective, compile="never")
    low, high = solution.bounds()
    assert Fraction(low) <= model.exact() <= Fraction(high)
    assert high - low <= 1e-6


@pytest.mark.parametrize(
    "model",
    [
        GamblersRuin(goal=6, start=2, up=0.375),
        Queue(capacity=7),
        Queue(arrival=0.5, service=0.25, capacity=5),
        Queue(arrival=0.125, service=0.125, fee=100.0, capacity=8),
        MachineReplacement(worst=6),
        MachineReplacement(worst=6, income=2.0, wear=3.0),
    ],
    ids=repr,
)
def test_formulas_agree_with_rational_numbers(model):
    """So the control limits that the formulas take for best are the best of all policies."""
    compiled = gamedp.compile(model, compile="never")
    start = compiled.index(model.initial_state())[0]
    assert exact_values(compiled, model.objective)[start] == model.exact()


def test_pig_has_a_formula_for_small_goals_alone():
    assert Pig(2, loss=-1.0).exact() == Fraction(5, 7)
    with pytest.raises(gamedp.errors.InvalidParameterError, match="goals of up to 6, not 7"):
        Pig(7).exact()
    with pytest.raises(gamedp.errors.InvalidParameterError, match="at least 1"):
        Pig(0)


def test_the_slow_chain():
    chain = gamedp.compile(SlowChain(length=8, up=0.75), compile="never")
    assert exact_values(chain)[chain.index(SlowChain(length=8).initial_state())[0]] == Fraction(
        3, 4
    )


def test_puterman_s_inventory():
    """Puterman 1994, section 4.6.1: three months, and the orders that are best in the first."""
    solution = gamedp.solve(Inventory(), gamedp.FiniteHorizon(3), compile="never")
    values = [solution.value(Stock(level)) for level in range(4)]
    assert values == [67 / 16, 129 / 16, 194 / 16, 227 / 16]
    assert [solution.best_action(Stock(level)) for level in range(4)] == [3, 0, 0, 0]
    assert Inventory().exact() == Fraction(97, 44)


@pytest.mark.parametrize(("bound", "states", "least"), [(1, 144, "5/6"), (2, 272, "107/120")])
def test_two_processes_and_a_coin(bound, states, least):
    """272 states, and disagreement with probability 13/120 at most, are PRISM's numbers, too."""
    model = ConsensusCoin(processes=2, bound=bound)
    solution = gamedp.solve(model, model.objective, compile="never", tolerance=1e-9)
    assert solution.model.num_states == states
    low, high = solution.bounds()
    assert Fraction(low) <= Fraction(least) <= Fraction(high)
    best = gamedp.solve(solution.model, gamedp.TotalReward("max"), tolerance=1e-9)
    assert best.bounds()[1] <= 1
    assert best.bounds()[0] > high


def test_one_process_agrees_with_itself():
    coin = ConsensusCoin(processes=1)
    assert gamedp.solve(coin, coin.objective, compile="never").bounds()[1] == 1.0


@pytest.mark.parametrize("rows", [1, 2, 4])
def test_the_way_over_ice(rows):
    sure = SlipperyGrid(rows=rows, columns=5, slip=0.0)
    assert sure.exact() == rows + 3
    slippery = attrs.evolve(sure, slip=0.25)
    if rows == 1:
        assert slippery.exact() == Fraction(4) / Fraction(3, 4)
    else:
        assert rows + 3 < slippery.exact() < 2 * (rows + 3)
    model = gamedp.compile(slippery, compile="never")
    assert not model.structure.always_ends
    assert gamedp.Problem(model, slippery.objective).objective.until.sum() == 1


def test_the_way_over_ice_does_not_keep_to_the_border():
    """Pushing at it for ever would be no way to the goal; all cells lead there in the end."""
    grid = SlipperyGrid(rows=3, columns=3)
    solution = gamedp.solve(grid, grid.objective, compile="never")
    assert np.isfinite(solution.upper).all()
    assert solution.value(Cell(2, 2)) == 0
    assert solution.value(Cell(2, 1)) < solution.value(Cell(2, 0)) < solution.value(Cell(0, 0))


def rungs(ladder):
    return [Rung(player, height) for height in range(len(ladder.first)) for player in (0, 1)]


def ladders():
    rng = np.random.default_rng(3)
    for size in (1, 2, 3, 5):
        first, second = (tuple((rng.integers(1, 16, size) / 16).tolist()) for _ in range(2))
        yield Ladder(first=first, second=second)


@pytest.mark.parametrize("ladder", [Ladder(), *ladders()], ids=repr)
def test_the_ladder_from_below(ladder):
    """Sweeps from zero reach the least solution, which is the value, and here in a few steps."""
    values = dict.fromkeys(rungs(ladder), Fraction(0))
    for _ in range(len(values) + 2):
        for rung in values:
            worth = [
                sum(
                    Fraction(chance)
                    * (values[after] if after.height >= 0 else Fraction(ladder.payoff(after, 0)))
                    for chance, after in ladder.outcomes(rung, action)
                )
                for action in ladder.actions(rung)
            ]
            values[rung] = (max if rung.player == 0 else min)(worth)
    assert values[ladder.initial_state()] == ladder.exact()


@pytest.mark.parametrize("players", [1, 2])
@pytest.mark.parametrize("seed", range(5))
def test_random_models(players, seed):
    ends = random_model(seed, num_players=players, end_components=False)
    assert ends.structure.always_ends
    stays = random_model(seed, num_players=players)
    assert not stays.structure.always_ends
    assert stays.num_players == players
    assert stays.digest() == random_model(seed, num_players=players).digest()
    assert stays.digest() != random_model(seed + 1, num_players=players).digest()
    tied = random_model(seed, num_players=players, near_ties=True)
    assert tied.num_choices % 2 == 0
    huge = random_model(seed, num_players=players, magnitude=1e200, rare=1e-12)
    assert np.abs(huge.rewards).max() > 1e199
    if huge.num_transitions > huge.num_choices:
        assert huge.probabilities.min() < 1e-11


@pytest.mark.parametrize("options", [{}, {"near_ties": True}, {"magnitude": 1e-200}])
@pytest.mark.parametrize("seed", range(4))
def test_averages_of_random_models(seed, options):
    model = random_model(seed, num_states=8, **options)
    objective = gamedp.AverageReward()
    solution = gamedp.solve(model, objective, tolerance=1e-9 * options.get("magnitude", 1.0))
    truth = exact_values(model, objective)
    for low, value, high in zip(
        solution.lower.tolist(), truth, solution.upper.tolist(), strict=True
    ):
        assert Fraction(low) <= value <= Fraction(high)
    worth = exact_choice_values(model, objective)
    for state, choice in enumerate(solution.policy.tolist()):
        assert choice < 0 or abs(worth[choice] - truth[state]) <= 2 * Fraction(solution.width)


@pytest.mark.parametrize(
    ("make", "options"),
    [
        (GamblersRuin, {"goal": 0}),
        (GamblersRuin, {"goal": 3, "start": 4}),
        (GamblersRuin, {"up": 1.0}),
        (SlowChain, {"length": 1.5}),
        (SlipperyGrid, {"rows": True}),
        (SlipperyGrid, {"slip": -0.5}),
        (Queue, {"arrival": 0.75, "service": 0.5}),
        (MachineReplacement, {"wear": 0.0}),
        (Ladder, {"first": (0.5,)}),
        (Ladder, {"first": (1.0,), "second": (0.5,)}),
        (random_model, {"seed": 1, "num_players": 3}),
    ],
)
def test_parameters_that_make_no_model(make, options):
    with pytest.raises(gamedp.errors.InvalidParameterError):
        make(**options)
