"""Bounds of opponents' values from rationals, where play lasts too long for 64-bit sums."""

import math

import attrs
import numpy as np
import pytest

import gamedp
from gamedp.runtime.limit import Reporter
from gamedp.solvers.tools.exact import work
from gamedp.solvers.tools.exact.work import bounds_by_rationals
from gamedp.solvers.tools.prepared import Prepared
from gamedp.testing import exact_values

TARGETS = [4, 5]


def weary(rare=3e-6, rewards=None, payoffs=(1.0, -2.0), **keywords):
    """Two opponents who send each other round, and hardly ever get away; each step may cost 1.

    States 0 and 2 are the maximiser's, 1 and 3 the minimiser's; both can wait, which earns nothing.
    """
    return gamedp.Model.from_arrays(
        [0, 2, 4, 5, 7, 7, 7],
        [0, 1, 4, 5, 7, 9, 10, 12],
        [1, 1, 2, 4, 0, 2, 3, 3, 5, 1, 0, 4],
        [
            *(1.0, 0.75 - rare, 0.25, rare, 1.0, 0.6, 0.4),
            *(1 - 2 * rare, 2 * rare, 1.0, 1 - rare, rare),
        ],
        rewards=[0.0, 1.0, 0.0, 1.0, 0.0, 2.0, 1.0] if rewards is None else rewards,
        players=[0, 1, 0, 1, 0, 0],
        terminals=TARGETS,
        payoffs=payoffs,
        **keywords,
    )


OBJECTIVES = [gamedp.TotalReward("max", until=TARGETS), gamedp.TotalReward("min", until=TARGETS)]


@pytest.mark.parametrize(
    ("objective", "tolerance"), [(OBJECTIVES[0], 4e-9), (OBJECTIVES[1], 1e-8)], ids=str
)
def test_what_doubles_do_not_prove(objective, tolerance):
    model = weary()
    problem = gamedp.Problem(model, objective)
    truth = exact_values(model, objective)
    assert max(truth) > 1e5
    with pytest.raises(gamedp.NotSolvedError, match="limit of 64-bit rounding"):
        gamedp.solvers.StrategyIteration(rationals=False).solve(problem, tolerance=tolerance)
    for solver in (gamedp.solvers.StrategyIteration(), gamedp.solvers.IntervalIteration()):
        solution = solver.solve(problem, tolerance=tolerance)
        assert solution.status is gamedp.Status.SOLVED
        for low, value, high in zip(
            solution.lower.tolist(), truth, solution.upper.tolist(), strict=True
        ):
            assert low <= value <= high
            assert high - low <= tolerance
        for player in (0, 1):
            got = exact_values(model, objective, policy=solution.policy.tolist(), player=player)
            assert got == pytest.approx(truth, rel=1e-12)


def nudged(model, seed):
    """Return a model whose probabilities are others, by one unit in the last place at most."""
    rng = np.random.default_rng(seed)
    towards = rng.choice([-np.inf, 1.0], model.num_transitions)
    moved = np.nextafter(model.probabilities, towards)
    single = np.diff(model.transition_offsets) == 1
    moved[model.transition_offsets[:-1][single]] = 1.0
    return attrs.evolve(model, probabilities=moved)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("objective", OBJECTIVES, ids=str)
def test_bounds_hold_for_all_that_round_to_the_model(objective, seed):
    model = weary(1e-4)
    guess = np.array([1, 2, 4, 5, -1, -1])
    problem = gamedp.Problem(model, objective)
    prepared = Prepared(problem)
    lower, upper, _ = bounds_by_rationals(prepared, guess, 60.0, Reporter(None, "solve"))
    other = exact_values(nudged(model, seed), objective)
    assert other != exact_values(model, objective)
    for low, value, high in zip(lower.tolist(), other, upper.tolist(), strict=True):
        assert low <= value <= high
        assert high - low <= 1e-12 * (abs(value) + 2)


def found(problem, seconds=60.0):
    guess = np.where(problem.model.is_terminal, -1, problem.model.choice_offsets[:-1])
    prepared = Prepared(problem)
    prepared.decide_opponents()
    return bounds_by_rationals(prepared, guess, seconds, Reporter(None, "solve"))


def test_what_is_left_to_doubles(monkeypatch):
    until = OBJECTIVES[1]
    assert found(gamedp.Problem(weary(), until)) is not None
    # Rewards of both signs may cancel out, and errors do not.
    model = weary(rewards=[0.0, 1.0, -1e-9, 1.0, 0.0, 0.0, 0.0])
    ends = gamedp.Problem(
        attrs.evolve(model, players=np.zeros(6, np.int8)), gamedp.TotalReward("max")
    )
    assert work._offset(Prepared(ends).opponents) is None
    assert found(ends) is None
    assert found(gamedp.Problem(weary(), until), seconds=1e-9) is None
    tiny = gamedp.Problem(weary(2.0**-1010), gamedp.Reachability([4]))
    assert found(tiny) is None
    assert found(gamedp.Problem(weary(), gamedp.Discounted(0.5))) is None
    monkeypatch.setattr(work, "MOST_STATES", 5)
    monkeypatch.setattr(work, "MOST_WITHOUT_FLINT", 5)
    assert found(gamedp.Problem(weary(), until)) is None


def test_losses_and_payoffs_of_either_sign():
    """All rewards below 0, and payoffs above: what is lost counts, as seen from the best payoff."""
    model = weary(rewards=[0.0, -1.0, 0.0, -1.0, 0.0, -2.0, -1.0], payoffs=(3.0, -1.0))
    objective = gamedp.TotalReward("max")
    truth = exact_values(model, objective)
    lower, upper, policy = found(gamedp.Problem(model, objective))
    for low, value, high in zip(lower.tolist(), truth, upper.tolist(), strict=True):
        assert low <= value <= high
    assert exact_values(model, objective, policy=policy.tolist(), player=0) == truth


def test_infinite_values_stay_so():
    model = weary()
    objective = gamedp.TotalReward("max", until=[4])
    lower, upper, _ = found(gamedp.Problem(model, objective))
    assert lower[0] == upper[0] == math.inf
