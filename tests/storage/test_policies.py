"""Policies on disk: what comes back, and what is refused."""

import attrs
import numpy as np
import pytest

import gamedp
from gamedp.errors import DamagedFileError, InvalidParameterError, UnknownNameError
from gamedp.games.matches import Matches
from gamedp.games.wubbel import Hold, Wubbel
from gamedp.testing.models import random_model


def policies():
    """Return policies of a model of arrays, of packed states, and of three kinds of choice."""
    game = gamedp.compile(Wubbel(goal=9), compile="never")
    return {
        "mixed": gamedp.Policy.uniform(random_model(3, num_players=2)),
        "pure": gamedp.Policy.from_function(game, Hold(5).choose, "hold at 5"),
        "optimal": gamedp.Policy.from_solution(gamedp.solve(game)),
    }


@pytest.mark.parametrize("name", ["mixed", "pure", "optimal"])
def test_what_is_saved_comes_back(name, tmp_path):
    policy = policies()[name]
    gamedp.save(policy, tmp_path)
    loaded = gamedp.load(tmp_path, as_=gamedp.Policy)
    assert loaded.probabilities.tobytes() == policy.probabilities.tobytes()
    assert (loaded.name, loaded.rule) == (policy.name, None)
    assert loaded.model.digest() == policy.model.digest()
    assert not loaded.probabilities.flags.writeable
    both = [
        gamedp.evaluate(one.model, [one, one]).bounds() if name != "mixed" else one.is_mixed
        for one in (policy, loaded)
    ]
    assert both[0] == both[1]


def test_it_is_neither_a_solution_nor_written_over_one(tmp_path):
    policy = policies()["pure"]
    gamedp.save(policy, tmp_path / "policy")
    with pytest.raises(DamagedFileError, match="holds a Policy, not a Solution"):
        gamedp.load(tmp_path / "policy", as_=gamedp.Solution)
    solution = gamedp.solve(policy.model)
    with pytest.raises(DamagedFileError, match="not of a saved solution"):
        gamedp.save(solution, tmp_path / "policy")
    gamedp.save(solution, tmp_path / "solution")
    with pytest.raises(DamagedFileError, match="not of a saved policy"):
        gamedp.save(policy, tmp_path / "solution")
    gamedp.save(gamedp.Policy.uniform(policy.model), tmp_path / "policy")
    assert gamedp.load(tmp_path / "policy", as_=gamedp.Policy).name == "uniform"


@attrs.frozen
class Own(Matches):
    """A game that no package registers."""


def test_an_own_game_must_be_passed_and_be_the_same(tmp_path):
    policy = gamedp.Policy.uniform(gamedp.compile(Own(matches=5), compile="never"))
    gamedp.save(policy, tmp_path)
    with pytest.raises(UnknownNameError, match=r"game=\.\.\."):
        gamedp.load(tmp_path)
    game = Own(matches=5)
    assert gamedp.load(tmp_path, game, as_=gamedp.Policy).model.rules.game is game
    with pytest.raises(InvalidParameterError, match="matches differs"):
        gamedp.load(tmp_path, Own(matches=6))
    with pytest.raises(TypeError, match="is a class"):
        gamedp.load(tmp_path, Own)


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        (lambda old: old * 2, "not a policy: .* probability 2.0"),
        (lambda old: old * np.nan, "not a policy: .* probability .*nan"),
        (lambda old: old * 0.5, "sum to 0.5, not 1"),
        (lambda old: -old, "not a policy"),
        (lambda old: old[:-1], "policy_probabilities must hold float64 of shape"),
        (lambda old: old.astype(np.float32), "policy_probabilities must hold float64"),
    ],
)
def test_numbers_that_are_no_probabilities(numbers, words, tmp_path):
    policy = policies()["pure"]
    object.__setattr__(policy, "probabilities", numbers(policy.probabilities))
    gamedp.save(policy, tmp_path)
    with pytest.raises(DamagedFileError, match=words):
        gamedp.load(tmp_path)
