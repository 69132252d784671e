"""Making certificates: how often bounds are looked at, ranked and checked."""

import attrs
import numpy as np
import pytest

import gamedp
from gamedp.certificates.making import (
    bounds,
    kernels,
    ranks,
)
from gamedp.games.wubbel import Wubbel
from gamedp.testing.models import random_model


def counted(monkeypatch, module, name):
    """Count the calls of a function from now on; return the list that grows by one for each."""
    function, calls = getattr(module, name), []

    def counting(*args):
        calls.append(name)
        return function(*args)

    monkeypatch.setattr(module, name, counting)
    return calls


CASES = {
    "a game": (lambda: gamedp.compile(Wubbel(goal=12), compile="never"), None),
    "opponents": (lambda: random_model(2, num_players=2, end_components=False), None),
    "a total": (lambda: random_model(1, end_components=False), None),
    "steps": (lambda: random_model(4, end_components=False), gamedp.TotalReward(until=[20, 21])),
    "least probability": (
        lambda: random_model(3, num_states=200),
        gamedp.Reachability([200], optimum="min"),
    ),
    "discounted": (lambda: random_model(6), gamedp.Discounted(0.9)),
    "average": (lambda: random_model(5), gamedp.AverageReward()),
}


@pytest.mark.parametrize("name", CASES)
def test_bounds_are_looked_at_and_checked_once(name, monkeypatch):
    """Also where bounds have to be widened for rounding, as those of the least probability."""
    make, objective = CASES[name]
    solution = gamedp.solve(make(), objective)
    along = counted(monkeypatch, kernels, "look_along_jit")
    found = counted(monkeypatch, kernels, "look_jit")
    checked = counted(monkeypatch, bounds, "accept")
    spread = counted(monkeypatch, kernels, "spread_jit")
    certificate = gamedp.certify(solution)
    assert len(checked) == 1
    assert len(along) == (name != "average")
    assert not found
    assert not spread
    assert gamedp.verify(solution.model, certificate).states == solution.model.num_states


def test_sweeps_and_a_search_find_ranks_alike(monkeypatch):
    """What sweeps leave, the search ranks; and both fall, as the checker says."""
    solution = gamedp.solve(Wubbel(goal=12), compile="never")
    monkeypatch.setattr(bounds, "certified_along_policy", lambda *_: None)
    searched = []
    for most in (0, 1, 2, 10):
        monkeypatch.setattr(ranks, "MOST_RANKING_SWEEPS", most)
        spread = counted(monkeypatch, kernels, "spread_jit")
        certificate = gamedp.certify(solution)
        searched.append(len(spread))
        gamedp.verify(solution.model, certificate)
    assert searched[0] == 1
    assert searched[-1] == 0


@pytest.mark.parametrize("name", CASES)
def test_bounds_that_a_policy_does_not_keep_are_certified_by_other_choices(name, monkeypatch):
    """The policy's choices are only where to look first: others do as well, or are looked for."""
    make, objective = CASES[name]
    solution = gamedp.solve(make(), objective)
    model = solution.model
    first = np.where(np.diff(model.choice_offsets) > 0, model.choice_offsets[:-1], -1)
    last = np.where(first < 0, -1, model.choice_offsets[1:] - 1)
    width = gamedp.verify(model, gamedp.certify(solution)).width
    for policy in (first, last):
        certificate = gamedp.certify(attrs.evolve(solution, policy=policy))
        assert gamedp.verify(model, certificate).width <= 1.01 * width + 1e-12
    monkeypatch.setattr(bounds, "certified_along_policy", lambda *_: None)
    assert gamedp.verify(model, gamedp.certify(solution)).width <= 1.01 * width + 1e-12


def test_states_in_a_bad_order_are_ranked_in_that_of_solvers_or_by_a_search(monkeypatch):
    """A long chain whose states come in random order: few are ranked by each sweep."""
    size = 200
    order = np.random.default_rng(1).permutation(size)
    place = np.append(np.argsort(order), size)
    follow = np.empty(size, np.int64)
    follow[place[:-1]] = place[1:]
    model = gamedp.Model.from_arrays(
        [*range(size + 1), size], np.arange(size + 1), follow, np.ones(size), rewards=np.ones(size),
        terminals=[size], payoffs=[0.0],
    )  # fmt: skip
    spread = counted(monkeypatch, kernels, "spread_jit")
    solution = gamedp.solve(model, gamedp.TotalReward(until=[size]))
    for searches in (0, 1):
        certificate = gamedp.certify(solution)
        assert len(spread) == searches
        assert (certificate.lower == certificate.upper).all()
        assert gamedp.verify(model, certificate).width == 0
        monkeypatch.setattr(bounds, "certified_along_policy", lambda *_: None)


@pytest.mark.parametrize(
    ("seed", "players", "states", "optimum", "options"),
    [
        (957, 1, 9, "max", {"rare": 0.2}),
        (973, 1, 5, "min", {"rare": 0.2}),
        (1230, 1, 7, "max", {"magnitude": 1e3}),
        (1350, 2, 5, "min", {"near_ties": True}),
        (1533, 1, 8, "min", {"near_ties": True, "rare": 0.2}),
        (38, 1, 9, "max", {"magnitude": 1e3}),
    ],
)
def test_averages_that_were_rounded_off_the_mean_of_those_that_follow(
    seed, players, states, optimum, options
):
    """The bounds of states on the way miss that by a unit in the last place, and move there."""
    model = random_model(seed, num_states=states, num_players=players, **options)
    tolerance = 1e-13 * options.get("magnitude", 1.0)
    solution = gamedp.solve(model, gamedp.AverageReward(optimum), tolerance=tolerance)
    certificate = gamedp.certify(solution)
    verified = gamedp.verify(model, certificate)
    assert verified.width <= 1.1 * tolerance
    moved = np.maximum(solution.lower - certificate.lower, certificate.upper - solution.upper)
    assert 0 < moved.max() <= 0.1 * tolerance
    assert moved.min() >= 0


@pytest.mark.parametrize(
    ("seed", "states", "optimum"), [(53288, 23, "min"), (53588, 24, "min"), (53603, 16, "max")]
)
def test_averages_on_the_way_to_which_play_goes_round_for_long(seed, states, optimum):
    """Each mean is missed by what is rounded, again and again round a cycle seldom left."""
    model = random_model(seed, num_states=states, rare=1e-7)
    solution = gamedp.solve(model, gamedp.AverageReward(optimum), tolerance=1e-7)
    certificate = gamedp.certify(solution)
    assert gamedp.verify(model, certificate).width <= 1e-7
    assert (certificate.lower <= solution.lower).all()
    assert (certificate.upper >= solution.upper).all()
