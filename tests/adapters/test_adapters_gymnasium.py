"""Environments of Gymnasium as games."""

import pickle
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

import gamedp
from gamedp.adapters import Gymnasium
from gamedp.adapters.gymnasium import EnvironmentState
from gamedp.errors import InvalidModelError, InvalidParameterError, UnsupportedProblemError

gymnasium = pytest.importorskip("gymnasium")

NAMES = (
    "FrozenLake-v1",
    "FrozenLake-v1(is_slippery=False)",
    "FrozenLake8x8-v1",
    "FrozenLake-v1(map_name='8x8', is_slippery=False)",
    "CliffWalking-v1",
    "CliffWalkingSlippery-v1",
    "Taxi-v4",
)


def made(name, **options):
    """Make the environment of a name in another way."""
    name, _, arguments = name.partition("(")
    given = eval(f"dict({arguments or ')'}")  # noqa: S307 - of this file
    return gymnasium.make(name, **given, **options)


def reference(env, discount, sweeps=4_000):
    """Return the values of all states by plain sweeps over the table: (S,)."""
    table = env.unwrapped.P
    outcomes = [
        (state, action, p, to, reward, end)
        for state in table
        for action in table[state]
        for p, to, reward, end in table[state][action]
    ]
    state, action, p, to, reward, end = map(np.array, zip(*outcomes, strict=True))
    values = np.zeros(len(table))
    for _ in range(sweeps):
        chances = np.zeros((len(table), action.max() + 1))
        np.add.at(chances, (state, action), p * (reward + discount * values[to] * ~end))
        values = chances.max(axis=1)
    return values


def contains(solution, place, value, slack):
    lower, upper = solution.bounds(place)
    return lower - slack <= value <= upper + slack


@pytest.mark.slow
@pytest.mark.parametrize("discount", [0.99, 1.0])
@pytest.mark.parametrize("name", NAMES)
def test_bounds_contain_the_values_of_plain_sweeps(name, discount):
    objective = gamedp.Discounted(discount) if discount < 1 else gamedp.TotalReward()
    solution = gamedp.solve(Gymnasium(name), objective, tolerance=1e-9)
    assert solution.guarantee is gamedp.Guarantee.TWO_SIDED
    env = made(name)
    values = reference(env, discount)
    start = env.unwrapped.initial_state_distrib
    (lower, upper) = solution.bounds()
    assert lower - 1e-8 <= np.dot(start, values) <= upper + 1e-8
    states = [solution.model.state(index) for index in range(solution.model.num_states)]
    assert all(contains(solution, at, 0 if at.over else values[at.number], 1e-8) for at in states)
    assert sum(not at.over for at in states) > 10


def test_known_values():
    exact = {"solver": "exact-policy-iteration"}
    assert gamedp.solve(Gymnasium("FrozenLake-v1"), **exact).exact_value() == Fraction(14, 17)
    assert gamedp.solve(Gymnasium("FrozenLake8x8-v1"), **exact).exact_value() == 1
    assert gamedp.solve(Gymnasium("CliffWalking-v1"), **exact).exact_value() == -13
    taxi = Gymnasium("Taxi-v4")
    assert gamedp.solve(taxi, **exact).exact_value() == Fraction(793, 100)
    # Of its 500 states 400 are before the end, 4 after it, and the others cannot be reached.
    assert gamedp.compile(taxi).num_states == 404


def test_an_end_belongs_to_the_transition():
    """One state, left and come back to, or ended in, as chance has it."""
    env = made("FrozenLake-v1").unwrapped
    env.P = {0: {0: [(0.5, 0, 1.0, False), (0.25, 0, 3.0, True), (0.25, 0, 3.0, True)]}}
    env.initial_state_distrib = np.array([1.0])
    game = Gymnasium(env)
    solution = gamedp.solve(game)
    assert solution.model.num_states == 2
    assert contains(solution, EnvironmentState(0, over=False), 4.0, 0)
    assert contains(solution, EnvironmentState(0, over=True), 0.0, 0)


class TestWhatItIs:
    @pytest.mark.parametrize("name", NAMES)
    def test_an_environment_is_the_text_that_makes_it(self, name):
        game = Gymnasium(made(name, render_mode="ansi"))
        assert game == Gymnasium(name) or "Slippery" in name
        assert isinstance(game.env, str)
        assert pickle.loads(pickle.dumps(game)) == game
        assert hash(game) == hash(Gymnasium(game.env))

    def test_what_no_text_makes_is_kept_as_its_table(self, tmp_path):
        env = gymnasium.make("FrozenLake-v1", desc=["SFH", "FFG"])
        assert isinstance(Gymnasium(env).env, str)
        env.unwrapped.P[0][0] = [(1.0, 0, 0.5, True)]
        game = Gymnasium(env)
        assert repr(game) == "Gymnasium(env=<table of 6 states>)"
        solution = gamedp.solve(game)
        gamedp.save(solution, tmp_path / "saved")
        kept = gamedp.load(tmp_path / "saved")
        assert kept.model.rules.game == game
        assert kept.bounds() == solution.bounds()

    def test_a_saved_solution_of_a_named_one_comes_back(self, tmp_path):
        solution = gamedp.solve(Gymnasium("FrozenLake-v1"))
        gamedp.save(solution, tmp_path / "saved")
        kept = gamedp.load(tmp_path / "saved")
        assert kept.model.rules.game == Gymnasium("FrozenLake-v1")
        assert kept.bounds() == solution.bounds()

    def test_probabilities_that_no_simple_fraction_explains(self):
        env = made("FrozenLake-v1").unwrapped
        env.P = {0: {0: [(0.1 + 0.2, 0, 1.0, True), (0.7123456789, 0, 2.0, True)]}}
        env.initial_state_distrib = [1.0]
        with pytest.raises(InvalidModelError, match=r"1\.01"):  # off by more than rounding
            gamedp.solve(Gymnasium(env))
        env.P = {0: {0: [(0.2876543211, 0, 1.0, True), (0.7123456789, 0, 2.0, True)]}}
        first, second = Fraction(0.2876543211), Fraction(0.7123456789)
        exact = gamedp.solve(Gymnasium(env), solver="exact-policy-iteration").exact_value()
        assert exact == (first + 2 * second) / (first + second)


class TestRefusals:
    def test_no_table(self):
        for env in ("CartPole-v1", gymnasium.make("CartPole-v1")):
            with pytest.raises(
                UnsupportedProblemError, match=r"CartPole-v1 has no `P`.*as a class"
            ):
                Gymnasium(env)

    def test_no_start(self):
        env = made("FrozenLake-v1").unwrapped
        env.initial_state_distrib = None
        with pytest.raises(UnsupportedProblemError, match="no `initial_state_distrib`"):
            Gymnasium(env)

    def test_wrappers(self):
        env = gymnasium.wrappers.TransformReward(made("FrozenLake-v1"), lambda reward: 2 * reward)
        with pytest.raises(UnsupportedProblemError, match=r"TransformReward.*env\.unwrapped"):
            Gymnasium(env)
        assert Gymnasium(env.unwrapped) == Gymnasium("FrozenLake-v1")

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("NoSuchThing-v0", "cannot make NoSuchThing-v0: NameNotFound"),
            ("FrozenLake-v1(is_slippery=false)", "arguments are written"),
            ("FrozenLake-v1(is_slippery=False) + 1", "arguments are written"),
            ("FrozenLake-v1(7)", "arguments are written"),
            ("FrozenLake-v1(no_such=7)", "cannot make FrozenLake-v1.*TypeError"),
            ("antigravity:FrozenLake-v1", "imports no module"),
            ("FrozenLake-v1(desc={'a': 1})", "imports no module"),
            (7, "env is 7; it must be"),
        ],
    )
    def test_texts(self, text, words):
        with pytest.raises(InvalidParameterError, match=words):
            Gymnasium(text)
        assert "antigravity" not in sys.modules

    @pytest.mark.parametrize(
        "rows",
        [7, {0: {0: [(1.0, 0)]}}, {0: {0: [(float("nan"), 0, 0.0, False)]}}, {0: {0: [7]}}],
    )
    def test_tables_that_are_none(self, rows):
        env = made("FrozenLake-v1").unwrapped
        env.P, env.initial_state_distrib = rows, [1.0]
        with pytest.raises(InvalidModelError, match="is not one of Gymnasium's"):
            Gymnasium(env)

    def test_a_state_that_the_table_lacks(self):
        env = made("FrozenLake-v1").unwrapped
        env.P, env.initial_state_distrib = {0: {0: [(1.0, 7, 0.0, False)]}}, [1.0]
        with pytest.raises(InvalidModelError, match="state 7"):
            gamedp.solve(Gymnasium(env))

    def test_an_environment_is_no_game_but_nearly(self):
        with pytest.raises(TypeError, match=r"gamedp\.adapters\.Gymnasium\(env\)"):
            gamedp.solve(made("Taxi-v4"))


class TestCommandLine:
    def test_solve(self, run_json):
        facts = run_json("solve", "gymnasium:FrozenLake-v1", "--discount", "0.99")
        assert facts["parameters"] == {"env": "FrozenLake-v1"}
        assert facts["value"] == pytest.approx(0.5420259320004727)

    def test_one_position(self, run_json):
        facts = run_json("query", "gymnasium:Taxi-v4", "--state", "number=1,over=false")
        assert len(facts["actions"]) == 6

    def test_refusals(self, run):
        assert "needs --set env=..." in run("solve", "gymnasium")[2]
        assert "CartPole-v1 has no `P`" in run("solve", "gymnasium:CartPole-v1")[2]

    def test_it_is_listed(self, run_json):
        (entry,) = (each for each in run_json("games") if each["name"] == "gymnasium")
        assert entry["parameters"] == [
            {"name": "env", "type": "str", "required": True, "default": None}
        ]

    def test_it_is_served_as_it_is(self, run, monkeypatch):
        served = {}
        monkeypatch.setattr("gamedp.web.serve.serve", lambda games, *_, **__: served.update(games))
        assert run("serve", "gymnasium:FrozenLake-v1", "--quiet")[0] == 0
        assert served["frozen-lake-v1"].fixed.parameters == {"env": "FrozenLake-v1"}


WITHOUT = """
import sys
sys.modules["gymnasium"] = None
import gamedp
from gamedp.cli import main
assert main(["games", "--json"]) == 0
assert main(["solve", "gymnasium:Taxi-v4"]) == 1
"""


def test_without_gymnasium():
    command = [sys.executable, "-c", WITHOUT]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert '"gymnasium"' in done.stdout
    assert done.stderr == "gamedp: gymnasium is not installed; pip install gamedp[gymnasium]\n"


def test_nothing_is_imported_before_it_is_used():
    words = "import sys, gamedp; gamedp.adapters.Gymnasium; assert 'gymnasium' not in sys.modules"
    subprocess.run([sys.executable, "-c", words], check=True)


def test_single_episodes_do_not_earn_means():
    lake = gamedp.adapters.Gymnasium("FrozenLake-v1")
    model = gamedp.compile(lake)
    assert model.mean_rewards
    solution = gamedp.solve(model)
    with pytest.raises(UnsupportedProblemError, match="rewards differ between the outcomes"):
        gamedp.simulate(model, [solution], games=10)
    earned = {gamedp.play.play_game(lake, [solution], seed=n).payoffs for n in range(10)}
    assert earned == {(0.0,), (1.0,)}
    cliff = gamedp.adapters.Gymnasium("CliffWalking-v1")
    assert not gamedp.compile(cliff).mean_rewards
