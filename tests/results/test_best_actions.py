"""What actions are worth by each objective, and which are best: ties, waits, certainty."""

import functools
import math
from fractions import Fraction
from typing import NamedTuple

import attrs
import numpy as np
import pytest

import gamedp
from gamedp.games.wubbel import State, Wubbel
from gamedp.testing import (
    ConformanceError,
    check_solver,
    exact_choice_values,
    exact_committed_values,
    exact_values,
)
from gamedp.testing.advice import AdviceTrial

UNFAIR = Fraction(2, 5)


class Capital(NamedTuple):
    units: int


@attrs.frozen
class Gambler:
    """Stake what you have on a coin that is not fair, until you have the goal or nothing.

    R. Sutton, A. Barto, "Reinforcement Learning", 2nd edition, example 4.3.
    """

    goal: int = 100
    least: int = 1
    chance: float | Fraction = 0.4

    def initial_state(self):
        return Capital(self.goal // 2)

    def is_terminal(self, state):
        return state.units in (0, self.goal)

    def actions(self, state):
        yield from range(self.least, min(state.units, self.goal - state.units) + 1)

    def outcomes(self, state, action):
        yield self.chance, Capital(state.units + action)
        yield 1 - self.chance, Capital(state.units - action)

    def payoff(self, state, player):
        return 1.0 if state.units else 0.0


@functools.cache
def best_stakes(goal, chance=UNFAIR):
    """Return all best stakes: bold play is worth the value of an unfair game, exactly.

    L. Dubins, L. Savage, "How to Gamble If You Must", 1965.
    """

    def doubled(units):
        """Return where bold play leads, and with which factor and constant."""
        if 2 * units <= goal:
            return 2 * units, chance, Fraction(0)
        return 2 * units - goal, 1 - chance, chance

    values = {0: Fraction(0), goal: Fraction(1)}
    for start in range(1, goal):
        units, factor, constant = start, Fraction(1), Fraction(0)
        seen = {}
        while units not in values:
            if units in seen:  # the sum of a geometric series
                before, so_far = seen[units]
                values[units] = (constant - so_far) / (before - factor)
                break
            seen[units] = (factor, constant)
            units, share, sure = doubled(units)
            constant += factor * sure
            factor *= share
        values[start] = constant + factor * values[units] if start != units else values[units]
    best = {}
    for units in range(1, goal):
        by_stake = {
            stake: chance * values[units + stake] + (1 - chance) * values[units - stake]
            for stake in range(1, min(units, goal - units) + 1)
        }
        assert max(by_stake.values()) == values[units]
        best[units] = [stake for stake, number in by_stake.items() if number == values[units]]
    return best


@pytest.mark.parametrize(
    ("solver", "least"), [(None, 0), (None, 1), (gamedp.solvers.PolicyIteration(), 1)], ids=str
)
def test_all_best_stakes_of_a_gambler(solver, least):
    """A stake of 0 is worth what the state is, and whoever keeps to it never wins."""
    game = Gambler(least=least)
    solution = gamedp.solve(game, solver=solver, tolerance=1e-12, compile="never")
    for units, best in best_stakes(100).items():
        state = Capital(units)
        assert solution.best_actions(state) == best
        assert solution.best_action(state) in best
        assert solution.best_actions(state, certain=True) == (best if len(best) == 1 else [])
        standings = {entry.action: entry.best for entry in solution.action_values(state)}
        assert [stake for stake, best_ in standings.items() if best_ != "no"] == best


@pytest.mark.parametrize("least", [0, 1])
def test_exact_values_tell_ties_for_certain(least):
    game = Gambler(goal=20, least=least, chance=UNFAIR)
    solution = gamedp.solve(game, solver=gamedp.solvers.ExactPolicyIteration(), compile="never")
    several = 0
    for units, best in best_stakes(20).items():
        state = Capital(units)
        assert solution.best_actions(state) == best
        assert solution.best_actions(state, certain=True) == best
        several += len(best) > 1
    assert several > 10


def test_loose_bounds_leave_more_open():
    game = Gambler()
    loose = gamedp.solve(game, tolerance=1e-3, compile="never")
    for units, best in best_stakes(100).items():
        state = Capital(units)
        assert set(best) <= set(loose.best_actions(state))
        assert set(loose.best_actions(state, certain=True)) <= set(best)


def model_of(*states, **keywords):
    """Make a model of states: lists of (reward, {successor: probability}), or numbers at ends."""
    choices, offsets, successors, probabilities, rewards, payoffs = [0], [0], [], [], [], []
    for state in states:
        if isinstance(state, list):
            for reward, outcomes in state:
                rewards.append(reward)
                successors += outcomes.keys()
                probabilities += outcomes.values()
                offsets.append(len(successors))
        else:
            payoffs.append(state)
        choices.append(len(rewards))
    return gamedp.Model.from_arrays(
        choices, offsets, successors, probabilities, rewards=rewards, payoffs=payoffs, **keywords
    )


def values_of_actions(solution, state):
    return [entry.value for entry in solution.action_values(state)]


def test_rewards_do_not_count_where_a_target_does():
    model = model_of([(0.0, {1: 1.0}), (3.0, {1: 0.5, 2: 0.5})], 0.0, 0.0)
    solution = gamedp.solve(model, gamedp.Reachability([1]))
    assert values_of_actions(solution, 0) == [1.0, 0.5]
    assert solution.best_actions(0) == solution.best_actions(0, certain=True) == [0]
    least = gamedp.solve(model, gamedp.Reachability([1], optimum="min"))
    assert least.best_actions(0) == [1]


def test_after_the_end_of_an_objective_nothing_counts():
    model = model_of([(1.0, {1: 1.0}), (5.0, {2: 1.0})], [(7.0, {0: 1.0}), (9.0, {2: 1.0})], 4.0)
    reached = gamedp.solve(model, gamedp.Reachability([1]))
    assert values_of_actions(reached, 1) == [1.0, 1.0]
    assert reached.best_actions(1, certain=True) == [0, 1]
    barred = gamedp.solve(model, gamedp.Reachability([2], allowed=[0]))
    assert values_of_actions(barred, 1) == [0.0, 0.0]
    assert barred.best_actions(0) == [1]
    until = gamedp.solve(model, gamedp.TotalReward("min", until=[1, 2]))
    assert values_of_actions(until, 0) == [1.0, 9.0]
    assert values_of_actions(until, 1) == [0.0, 0.0]
    assert until.best_actions(1) == [0, 1]


def test_a_finite_horizon_has_action_values_and_ties(tmp_path):
    model = model_of(
        [(1.0, {0: 1.0}), (0.0, {1: 1.0}), (0.5, {0: 0.5, 1: 0.5})], [(2.0, {2: 1.0})], 0.0
    )
    for solver in (gamedp.solvers.BackwardInduction(), gamedp.solvers.ExactPolicyIteration()):
        solution = gamedp.solve(model, gamedp.FiniteHorizon(2), solver)
        assert values_of_actions(solution, 0) == [2.0, 2.0, 2.0]
        assert solution.best_actions(0) == [0, 1, 2]
        gamedp.save(solution, tmp_path / type(solver).__name__)
        loaded = gamedp.load(tmp_path / type(solver).__name__)
        assert loaded.action_values(0) == solution.action_values(0)
    assert solution.best_actions(0, certain=True) == [0, 1, 2]
    assert gamedp.solve(model, gamedp.FiniteHorizon(0)).best_actions(0) == []
    once = gamedp.solve(model, gamedp.FiniteHorizon(1))
    assert values_of_actions(once, 0) == [1.0, 0.0, 0.5]
    assert once.best_actions(0) == [0]


def test_infinite_totals_have_no_nan():
    model = model_of(
        [(1.0, {0: 1.0}), (3.0, {0: 0.5, 1: 0.5}), (0.0, {1: 1.0})],
        [(0.0, {2: 1.0}), (1.0, {2: 0.5, 0: 0.5})],
        2.0,
    )
    solution = gamedp.solve(model)
    for entry in solution.action_values(0)[:2]:
        assert (entry.value, entry.lower, entry.upper) == (math.inf,) * 3
    # What both infinities come from is undefined; the bounds say so.
    numbers = np.array([math.inf, 0.0, -math.inf])
    both = attrs.evolve(solution, values=numbers, lower=numbers.copy(), upper=numbers.copy())
    entry = both.action_values(1)[1]
    assert (entry.value, entry.lower, entry.upper) == (-math.inf, -math.inf, math.inf)


def test_to_wait_is_not_to_earn_for_ever():
    model = model_of([(0.0, {0: 1.0}), (1.0, {0: 1.0}), (0.0, {1: 1.0})], 0.0)
    solution = gamedp.solve(model)
    assert values_of_actions(solution, 0) == [math.inf, math.inf, 0.0]
    assert solution.best_actions(0) == [1]


def test_a_way_round_is_best_if_it_leads_on():
    """Each of two states may be left by way of the other; but nobody may stay for ever."""
    model = model_of(
        [(0.0, {0: 1.0}), (0.0, {1: 1.0}), (0.0, {2: 1.0})],
        [(0.0, {0: 1.0}), (0.0, {2: 1.0})],
        1.0,
    )
    solution = gamedp.solve(model, solver=gamedp.solvers.StrategyIteration())
    assert solution.best_actions(0) == solution.best_actions(0, certain=True) == [1, 2]
    assert solution.best_actions(1) == [0, 1]
    # Where steps are counted, the shortest way is better.
    shortest = gamedp.solve(model, solver=gamedp.solvers.Retrograde())
    assert (shortest.best_actions(0), shortest.best_actions(1)) == ([2], [1])


def test_an_opponent_may_keep_one_waiting():
    """What leads to an end by an opponent's leave does not lead there."""
    model = model_of(
        [(0.0, {1: 1.0}), (0.0, {2: 1.0})],
        [(0.0, {0: 1.0}), (0.0, {2: 1.0})],
        1.0,
        players=[0, 1, 0],
    )
    for solver in (gamedp.solvers.StrategyIteration(), gamedp.solvers.ExactPolicyIteration()):
        solution = gamedp.solve(model, solver=solver)
        assert values_of_actions(solution, 0) == [1.0, 1.0]
        assert solution.best_actions(0) == [1]
        assert solution.best_actions(1) == [0, 1]  # all is lost
        least = gamedp.solve(model, gamedp.TotalReward("min"), solver)
        assert (least.best_actions(0), least.best_actions(1)) == ([0, 1], [1])


def test_an_opponent_does_not_wait_where_that_is_paid_for():
    """To stay would keep the end away and cost the opponent 1 a step: so both ways lead there."""
    model = model_of(
        [(0.0, {1: 1.0}), (0.0, {1: 1.0}), (0.0, {2: 1.0})],
        [(1.0, {1: 1.0}), (1.0, {0: 1.0}), (0.0, {2: 1.0})],
        1.0,
        players=[0, 1, 0],
    )
    solution = gamedp.solve(model, solver=gamedp.solvers.StrategyIteration())
    assert solution.values.tolist() == pytest.approx([1.0, 1.0, 1.0])
    assert solution.best_actions(0) == [0, 1, 2]
    assert solution.best_actions(1) == [2]


def test_averages_compare_the_way_there_too():
    cycle = [(3.0, {0: 1.0}), (3.0, {1: 1.0}), (2.0, {0: 1.0}), (2.0, {2: 1.0})]
    model = model_of(cycle, [(3.0, {0: 1.0})], [(0.0, {0: 1.0}), (-1.0, {0: 1.0})])
    solution = gamedp.solve(model, gamedp.AverageReward())
    assert values_of_actions(solution, 0) == pytest.approx([3.0] * 4)
    assert solution.best_actions(0) == [0, 1]
    assert solution.best_actions(2) == [0]
    without = attrs.evolve(solution, biases=None)
    assert without.best_actions(0) == [0, 1, 2, 3]
    assert without.best_actions(0, certain=True) == []
    least = gamedp.solve(model, gamedp.AverageReward("min"))
    assert least.value(0) == pytest.approx(0.5, abs=1e-6)
    assert (least.best_actions(0), least.best_actions(2)) == ([3], [1])
    two = model_of([(0.0, {1: 1.0}), (0.0, {2: 1.0})], [(1.0, {1: 1.0})], [(2.0, {2: 1.0})])
    assert gamedp.solve(two, gamedp.AverageReward()).best_actions(0, certain=True) == [1]


def test_no_bias_makes_up_for_an_average_that_may_be_better():
    """Action 0 of state 2 leads to a reward of 1 for ever, though so seldom that few would wait."""
    often, seldom, loss, far = 2.0**-10, 2.0**-40, 2.0**-23, 1e-12
    rows = [
        [(1.0, {0: 1.0})],
        [(1.0, {0: seldom, 3: 1 - seldom})],
        [(1.0, {1: often, 3: 1 - often}), (1.0, {3: 1.0})],
        [(1 - loss, {2: 1.0})],
    ]
    apart = [[(0.0, {4: 1.0}), (1.0, {5: 1.0})], [(0.0, {4: 1 - far, 6: far})], [(0.0, {6: 1.0})]]
    for model in (model_of(*rows), model_of(*rows, *apart)):
        exact = gamedp.solve(model, gamedp.AverageReward(), "exact-policy-iteration")
        assert exact.exact_value(2) == 1
        assert 0 in exact.best_actions(2)
        solution = gamedp.solve(model, gamedp.AverageReward())
        assert 0 in solution.best_actions(2)
        assert 1 not in solution.best_actions(2, certain=True)


def test_actions_that_are_the_same_are_as_good():
    far = 1e-12
    twice = [(0.0, {0: 1 - far, 2: far})] * 2
    model = model_of([(0.0, {0: 1.0}), (1.0, {1: 1.0})], twice, [(0.0, {2: 1.0})])
    solution = gamedp.solve(model, gamedp.AverageReward())
    assert len({action.best for action in solution.action_values(1)}) == 1


def test_unproven_values_say_what_seems_best():
    model = model_of([(0.0, {1: 1.0}), (0.0, {2: 1.0})], 1.0, 0.0)
    solution = gamedp.solve(model)
    infinite = np.full(3, np.inf)
    unproven = attrs.evolve(
        solution, guarantee=gamedp.Guarantee.NONE, lower=-infinite, upper=infinite
    )
    assert unproven.best_actions(0) == [0]
    assert unproven.best_actions(0, certain=True) == []


SOLVERS = (
    None,
    gamedp.solvers.ExactPolicyIteration(),
    gamedp.solvers.PolicyIteration(),
    gamedp.solvers.IntervalIteration(),
    gamedp.solvers.StrategyIteration(),
    gamedp.solvers.Retrograde(),
    gamedp.solvers.TopologicalValueIteration(),
)


def drawn_model(rng, *, always_ends=False):
    """Return a small model with many ties: few probabilities, rewards and payoffs.

    If it always ends, every choice may lead to an end, and no places are changed.
    """
    players, inner, ends = int(rng.integers(1, 3)), int(rng.integers(2, 5)), int(rng.integers(3))
    ends += always_ends
    swaps = players == 2 and not always_ends and rng.random() < 0.35
    some = [(0.0,), (0.0,), (0.0, 0.0, 1.0, 2.0), (0.0, 0.0, -1.0, -2.0), (0.0, 1.0, -1.0, 2.0)]
    rewards = some[int(rng.integers(len(some)))]
    states = []
    for _ in range(inner):
        choices = []
        for _ in range(int(rng.integers(1, 4))):
            targets = rng.choice(inner + ends, size=int(rng.integers(1, 3)), replace=False).tolist()
            if always_ends and max(targets) < inner:
                targets[-1] = inner + int(rng.integers(ends))
            probabilities = [1.0] if len(targets) == 1 else [0.5, 0.5]
            if len(targets) == 2 and rng.random() < 0.5:
                probabilities = [0.25, 0.75]
            signs = np.where(swaps & (rng.random(len(targets)) < 0.4), -1, 1).tolist()
            outcomes = {t: p * s for t, p, s in zip(targets, probabilities, signs, strict=True)}
            choices.append((float(rng.choice(rewards)), outcomes))
        states.append(choices)
    states += rng.choice([-1.0, 0.0, 1.0, 2.0], size=ends).tolist()
    return model_of(
        *states,
        players=rng.integers(players, size=inner + ends),
        num_players=players,
        constant_sum=float(rng.integers(2)) if swaps else 0.0,
    )


def drawn_objective(rng, model):
    some, most = rng.random(model.num_states) < 0.3, rng.random(model.num_states) < 0.8
    optimum = str(rng.choice(["max", "min"]))
    kinds = (
        gamedp.TotalReward(optimum),
        gamedp.TotalReward(optimum, until=some),
        gamedp.Reachability(some, None, optimum),
        gamedp.Reachability(some, most, optimum),
        gamedp.Discounted(0.5, optimum),
        gamedp.FiniteHorizon(int(rng.integers(1, 4)), optimum),
        gamedp.AverageReward(optimum),
    )
    return kinds[int(rng.integers(len(kinds)))]


def judged(rng, model, objective):
    """Return whether the advice of some solver about a model could be judged; it must be right."""
    solver = SOLVERS[int(rng.integers(len(SOLVERS)))]
    try:
        solution = gamedp.solve(model, objective, solver, tolerance=1e-9)
        truth = exact_values(model, objective)
    except gamedp.UnsupportedProblemError:
        return False
    if solution.guarantee is not gamedp.Guarantee.TWO_SIDED:
        return False
    assert list(AdviceTrial.of(solution, truth, Fraction(1, 10**8)).complaints()) == []
    return True


@pytest.mark.filterwarnings("ignore:no play ends")
@pytest.mark.parametrize("seed", range(8))
def test_random_models_against_the_exact_judge(seed):
    rng = np.random.default_rng(seed)
    models = [drawn_model(rng) for _ in range(20)]
    assert sum(judged(rng, model, drawn_objective(rng, model)) for model in models) > 5


@pytest.mark.parametrize("seed", range(4))
def test_random_models_in_which_play_ends_and_may_miss_its_target(seed):
    """Missing it is worth infinity, and so is all that may: not all of that misses it in time."""
    rng = np.random.default_rng(seed)
    models = [drawn_model(rng, always_ends=True) for _ in range(30)]
    objectives = [
        gamedp.TotalReward(
            str(rng.choice(["max", "min"])), until=rng.random(model.num_states) < 0.3
        )
        for model in models
    ]
    assert sum(map(judged, [rng] * len(models), models, objectives)) > 15


def test_what_comes_back_to_infinity_does_not_attain_it():
    model = model_of(
        [(1.0, {0: 0.5, 1: 0.5}), (0.0, {2: 1.0})], 0.0, 0.0, players=[1, 0, 0], num_players=2
    )
    solution = gamedp.solve(model, gamedp.TotalReward("min", until=[1]))
    assert solution.value(0) == math.inf
    assert solution.best_actions(0) == solution.best_actions(0, certain=True) == [1]
    least = gamedp.solve(model, gamedp.TotalReward("max", until=[1]))
    assert least.best_actions(0) == least.best_actions(0, certain=True) == [0]


def test_who_cannot_help_missing_a_target_does_all_as_well():
    """Against an opponent who keeps away from it for ever, whatever is done."""
    model = model_of(
        [(0.0, {0: 1.0}), (0.0, {1: 1.0}), (0.0, {2: 1.0})],
        [(0.0, {0: 1.0}), (1.0, {0: 1.0})],
        0.0,
        players=[0, 1, 0],
        num_players=2,
    )
    solution = gamedp.solve(model, gamedp.TotalReward(until=[2]))
    assert solution.best_actions(0, certain=True) == solution.best_actions(0) == [0, 1]
    assert solution.best_actions(1, certain=True) == [0, 1]


@attrs.frozen
class Spoiled:
    """Another's solver, which gets ties wrong."""

    tight: bool
    inner: gamedp.solvers.ExactPolicyIteration = attrs.field(
        factory=gamedp.solvers.ExactPolicyIteration
    )

    def supports(self, problem):
        return self.inner.supports(problem)

    def solve(self, problem, *, tolerance, progress=None):
        solution = self.inner.solve(problem, tolerance=tolerance)
        if solution.tight is None:  # of a long-run average, other numbers tell what is best
            return attrs.evolve(solution, solver=self)
        tight = np.full_like(solution.tight, self.tight)
        return attrs.evolve(solution, solver=self, tight=tight)


@pytest.mark.parametrize(
    ("tight", "words"),
    [
        (False, "best_actions are best: in state 0: action 1 is as good as any, and missing"),
        (True, "a walk: best_actions are best: in state 2: action 1 counts as best and"),
        (True, "action 1 is not best, and said to be for certain"),
    ],
)
def test_check_solver_sees_best_actions_that_are_wrong(tight, words):
    with pytest.raises(ConformanceError) as caught:
        check_solver(Spoiled(tight))
    assert words in str(caught.value)


def test_check_solver_sees_action_values_that_are_wrong():
    """Bounds of a horizon's values hold, and those with a step less to go do not."""

    class Hasty(gamedp.solvers.BackwardInduction):
        def solve(self, problem, *, tolerance, progress=None):
            solution = super().solve(problem, tolerance=tolerance)
            numbers = (solution.values, solution.lower, solution.upper)
            return attrs.evolve(solution, following=numbers)

    model = model_of([(1.0, {0: 1.0}), (0.0, {1: 1.0})], 0.0)
    problem = gamedp.Problem(model, gamedp.FiniteHorizon(2))
    with pytest.raises(ConformanceError, match=r"action 0 is worth 2\.0, not 3\.0"):
        check_solver(Hasty(), {"steps": problem})


class Brief(gamedp.solvers.BackwardInduction):
    """Keeps no values for the steps of a horizon."""

    def solve(self, problem, *, tolerance, progress=None):
        solution = super().solve(problem, tolerance=tolerance)
        return attrs.evolve(solution, following=None)


def test_check_solver_asks_for_no_values_that_are_not_kept():
    model = model_of([(1.0, {0: 1.0}), (0.0, {1: 1.0})], 0.0)
    problem = gamedp.Problem(model, gamedp.FiniteHorizon(2))
    assert check_solver(Brief(), {"steps": problem}).solved == ("steps",)


def test_what_is_committed_is_worth_no_more():
    model = model_of([(0.0, {0: 1.0}), (0.0, {1: 1.0})], 0.5)
    assert exact_choice_values(model) == [Fraction(1, 2)] * 2
    assert exact_committed_values(model) == [0, Fraction(1, 2)]


class Side(NamedTuple):
    player: int
    left: int


@attrs.frozen
class Racing:
    """Whoever moves may end the game, or wait a little; the mover wins more often."""

    def initial_state(self):
        return Side(0, 3)

    def is_terminal(self, state):
        return state.left == 0

    def player(self, state):
        return state.player

    def actions(self, state):
        yield from (1, 2)

    def outcomes(self, state, action):
        yield 1.0, Side(state.player, max(state.left - action, 0))

    def payoff(self, state, player):
        return 0.75 if player == state.player else 0.25

    def canonical(self, state):
        return Side(0, state.left), state.player == 1

    num_players = 2
    constant_sum = 1.0


@pytest.mark.parametrize("objective", [gamedp.Discounted(0.5), gamedp.FiniteHorizon(2)])
def test_a_payoff_that_may_not_count_adds_up_to_nothing(objective):
    """No place is changed on the way: the model has no swaps, and yet swapped states are asked."""
    solution = gamedp.solve(Racing(), objective, compile="never")
    assert not solution.model.has_swaps
    mirror = Side(1, 3)
    for question in (solution.value, solution.bounds, solution.action_values):
        with pytest.raises(gamedp.UnsupportedProblemError, match="do not add up to a constant"):
            question(mirror)
    with pytest.raises(gamedp.UnsupportedProblemError, match="do not add up to a constant"):
        solution.value(player=1)
    assert solution.best_actions(mirror) == solution.best_actions(Side(0, 3))


def test_a_swapped_state_of_a_total_pays_the_rest():
    solution = gamedp.solve(Racing(), compile="never")
    assert (solution.value(Side(1, 3)), solution.value(player=1)) == (0.25, 0.25)
    average = gamedp.solve(Racing(), gamedp.AverageReward(), compile="never")
    assert average.value(Side(1, 3)) == pytest.approx(0.0, abs=1e-300)


def test_who_prevents_a_target():
    solution = gamedp.solve(Racing(), gamedp.Reachability([Side(0, 1)]), compile="never")
    assert (solution.value(), solution.value(player=1)) == (1.0, 0.0)
    with pytest.raises(gamedp.UnsupportedProblemError, match="Ask for the representative"):
        solution.value(Side(1, 3))
    with pytest.raises(gamedp.UnsupportedProblemError, match="Ask for the representative"):
        solution.best_actions(Side(1, 3))


def test_swapped_starts_of_a_discounted_game_are_refused():
    model = model_of([(0.0, {1: 1.0})], 1.0, initial=[(0.5, 0), (-0.5, 0)], num_players=2,
                     constant_sum=1.0)  # fmt: skip
    assert not model.has_swaps
    with pytest.raises(gamedp.UnsupportedProblemError, match="be combined with constant_sum"):
        gamedp.solve(model, gamedp.Discounted(0.5))
    assert gamedp.solve(model).value() == 0.5


def test_swapped_states_have_the_same_best_actions():
    solution = gamedp.solve(Wubbel(goal=12), compile="never", tolerance=1e-9)
    for turn in range(5):
        entries = solution.action_values(State(0, 3, 5, turn))
        others = solution.action_values(State(1, 3, 5, turn))
        assert [entry.best for entry in entries] == [entry.best for entry in others]


def test_a_horizon_of_which_no_step_is_kept_says_what_its_policy_does():
    """As another's solver leaves it: what follows the first step is not known."""
    model = model_of([(1.0, {0: 1.0}), (0.0, {1: 1.0})], [(3.0, {0: 1.0})], 0.0)
    solution = gamedp.solve(model, gamedp.FiniteHorizon(3))
    unknown = attrs.evolve(solution, step_policies=None, following=None)
    assert (unknown.best_action(0), unknown.best_actions(0)) == (0, [0])
    assert solution.principal_variation(0) == [0, 0, 1, 0]
    assert unknown.principal_variation(0) == [0, 0]


def test_nothing_is_best_where_the_game_is_over():
    """Whatever the objective: no action, and no error of numpy's."""
    model = gamedp.Model.from_arrays([0, 1, 2, 2], [0, 1, 2], [1, 2], [1.0, 1.0], payoffs=[3.0])
    objectives = [
        *(gamedp.TotalReward(), gamedp.Discounted(0.5), gamedp.FiniteHorizon(2)),
        *(gamedp.AverageReward(), gamedp.Reachability([2]), gamedp.TotalReward("min", until=[2])),
    ]
    for objective in objectives:
        solution = gamedp.solve(model, objective)
        assert solution.best_actions(2) == []
        assert (solution.best_action(2), solution.action_values(2)) == (None, [])


@pytest.mark.parametrize(
    "objective",
    [
        gamedp.TotalReward("min"),
        gamedp.Discounted(0.5, "min"),
        gamedp.FiniteHorizon(2, "min"),
        gamedp.AverageReward("min"),
    ],
)
def test_exact_values_decide_within_a_tolerance_too(objective):
    """Nothing, a twelfth less, and much more, where doubles cannot tell the first two apart."""
    large, half = 10**15, Fraction(1, 2)
    numbers = [large, -large, -large - Fraction(1, 6)]
    forever = isinstance(objective, gamedp.AverageReward)
    ends = {"terminals": [1, 2, 3], "payoffs": numbers}
    stays = {"rewards": [0, 0, 0, *numbers]}
    model = gamedp.Model.from_arrays(
        [0, 3, 4, 5, 6] if forever else [0, 3, 3, 3, 3],
        [0, 2, 4, 5, 6, 7, 8][: 7 if forever else 4],
        [1, 2, 1, 3, 1, 1, 2, 3][: 8 if forever else 5],
        [half, half, half, half, 1, 1, 1, 1][: 8 if forever else 5],
        **(stays if forever else ends),
    )
    solution = gamedp.solve(model, objective, solver=gamedp.solvers.ExactPolicyIteration())
    assert solution.best_actions(0, certain=True) == [1]
    if not forever:  # an average has no second best by bias
        assert solution.best_actions(0, 1e-3) == [1]
        assert solution.best_actions(0, 1e-3, certain=True) == [1]
        assert solution.best_actions(0, 0.1, certain=True) == [0, 1]
        assert solution.best_actions(0, math.inf, certain=True) == [0, 1, 2]


def test_infinite_exact_values_decide_within_a_tolerance():
    model = model_of([(0.0, {1: 1.0}), (0.0, {2: 1.0})], [(1.0, {1: 1.0})], [(-1.0, {2: 1.0})])
    solution = gamedp.solve(model, solver=gamedp.solvers.ExactPolicyIteration())
    assert solution.best_actions(0, 0.5) == [0]


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("tolerance", [1.0, 1e-8])
def test_to_wait_may_be_best_where_no_draw_is_declared(sign, tolerance):
    arrays = ([0, 2, 2, 2], [0, 1, 3], [0, 1, 2], [1.0, 0.75, 0.25])
    model = gamedp.Model.from_arrays(
        *arrays,
        terminals=[1, 2],
        payoffs=[0.0, sign * 0.5],
        num_players=2,
        players=[0, 0, 0],
        constant_sum=sign * 1.0,
    )
    undeclared = gamedp.TotalReward(optimum="max" if sign > 0 else "min")
    try:
        solution = gamedp.solve(model, undeclared, tolerance=tolerance)
    except gamedp.NotSolvedError as error:
        solution = error.solution
    assert solution.best_actions(0) == [0, 1]
    assert solution.best_actions(0, certain=True) == []
    assert [entry.best for entry in solution.action_values(0)] == ["possible", "possible"]
    for draw, best in ((0.0, [1]), (sign * 0.5, [0])):
        declared = gamedp.solve(model, attrs.evolve(undeclared, draw=draw))
        assert declared.best_actions(0, certain=True) == declared.best_actions(0) == best
