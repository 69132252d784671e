"""Models as discrete dynamic programs of QuantEcon, and back."""

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from quantecon.markov import DiscreteDP
from rule_games import Walk

import gamedp
from gamedp.adapters import as_discrete_dp
from gamedp.errors import InvalidParameterError, UnsupportedProblemError
from gamedp.games.matches import Matches

CHAIN = gamedp.Model.from_arrays(
    [0, 2, 2, 3, 3], [0, 1, 3, 4], [1, 2, 3, 0], [1.0, 0.25, 0.75, 1.0],
    rewards=[1.0, -2.0, 0.5], terminals=[1, 3], payoffs=[4.0, 16.0],
)  # fmt: skip


def values(program, sweeps=3_000):
    """Return the values of a program of pairs, by plain sweeps over its own arrays: (S,)."""
    found = np.zeros(program.num_states)
    for _ in range(sweeps):
        chances = program.R + program.beta * (program.Q @ found)
        found = np.maximum.reduceat(chances, program.a_indptr[:-1])
    return found


def back(program):
    """Return a program as a model."""
    pairs = program.to_sa_pair_form()
    return gamedp.Model.from_arrays(
        pairs.a_indptr, pairs.Q.indptr, pairs.Q.indices, pairs.Q.data, rewards=pairs.R
    )


@pytest.mark.parametrize("discount", [0.0, 0.5, 0.99])
@pytest.mark.parametrize("given", [CHAIN, Walk(), gamedp.adapters.Gymnasium("FrozenLake-v1")])
def test_values_are_those_of_the_model(given, discount):
    solution = gamedp.solve(given, gamedp.Discounted(discount), tolerance=1e-9)
    program = as_discrete_dp(solution.model, discount)
    assert isinstance(program, DiscreteDP)
    assert program.beta == discount
    found = values(program)
    assert (solution.lower - 1e-8 <= found).all()
    assert (found <= solution.upper + 1e-8).all()
    assert np.ptp(found) > 0.1
    again = gamedp.solve(back(program), gamedp.Discounted(discount), tolerance=1e-9)
    assert np.allclose(again.values, solution.values, atol=1e-8)


def test_what_quantecon_finds_itself():
    result = as_discrete_dp(CHAIN, 0.9).solve(method="policy_iteration")
    assert np.allclose(result.v, gamedp.solve(CHAIN, gamedp.Discounted(0.9)).values, atol=1e-6)


def test_rewards_that_forbid_an_action_do_not_come_back():
    program = DiscreteDP([[1.0, -np.inf], [2.0, 3.0]], [[[0, 1], [1, 0]], [[1, 0], [0, 1]]], 0.5)
    model = back(program)
    assert (model.num_states, model.num_choices) == (2, 3)
    solution = gamedp.solve(model, gamedp.Discounted(0.5))
    assert solution.values.tolist() == pytest.approx([4.0, 6.0])


@pytest.mark.parametrize("discount", [1.0, -0.1, float("nan"), "0.5", None])
def test_discounts(discount):
    with pytest.raises(InvalidParameterError, match="from 0 to below 1"):
        as_discrete_dp(CHAIN, discount)


def test_several_players():
    with pytest.raises(UnsupportedProblemError, match="one player, and this model 2"):
        as_discrete_dp(Matches(matches=4), 0.5)


def test_without_the_package():
    words = """
import sys
sys.modules["quantecon"] = None
import gamedp
from gamedp.games.wubbel import Wubbel
model = gamedp.Model.from_arrays([0, 1], [0, 1], [0], [1.0])
try:
    gamedp.adapters.as_discrete_dp(model, 0.5)
except gamedp.errors.MissingPackageError as error:
    assert str(error) == "quantecon is not installed; pip install gamedp[quantecon]", error
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", words], check=True)


class TestWhatIsNoGame:
    """What belongs to another library, handed to `solve`: the error names the way in."""

    def test_a_program_of_quantecon(self):
        program = as_discrete_dp(CHAIN, 0.5)
        with pytest.raises(
            TypeError, match=r"gamedp\.Model\.from_arrays\(pairs\.a_indptr"
        ) as error:
            gamedp.solve(program)
        call = str(error.value).partition("as a model: ")[2].removesuffix(".")
        model = {"gamedp": gamedp, "program": program}
        setting, _, made = call.partition("; ")
        exec(setting, model)  # noqa: S102 - what the error says
        assert eval(made, model).num_choices == 5  # noqa: S307

    def test_an_environment_of_pettingzoo(self):
        env = gamedp.adapters.as_pettingzoo(Matches(matches=4))
        with pytest.raises(TypeError, match=r"PettingZoo has no table.*as a class") as error:
            gamedp.solve(env)
        assert "Gymnasium" not in str(error.value)

    def test_an_environment_of_gymnasium_and_its_table(self):
        import gymnasium

        env = gymnasium.make("FrozenLake-v1")
        for given in (env, env.unwrapped, env.unwrapped.P):
            with pytest.raises(TypeError, match=r"gamedp\.adapters\.Gymnasium\(env\)"):
                gamedp.solve(given)

    def test_a_game_of_openspiel(self):
        kind = type("TicTacToeGame", (), {"__module__": "pyspiel.tic_tac_toe"})
        with pytest.raises(TypeError, match=r"OpenSpiel is solved as gamedp\.adapters\.OpenSpiel"):
            gamedp.solve(kind())

    def test_what_is_nobodys(self):
        for given in ({}, {"a": 1}, SimpleNamespace(), [1]):
            with pytest.raises(TypeError, match="is not a game") as error:
                gamedp.solve(given)
            assert "is solved" not in str(error.value)
