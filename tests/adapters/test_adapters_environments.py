"""Games as environments of Gymnasium and PettingZoo."""

import copy
import pickle
import subprocess
import sys
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence
from pettingzoo.test import api_test, seed_test
from rule_games import Marks, Three, Walk
from staged_games import StagedWubbel
from symmetric_games import Chancy, TakeADie, TicTacToe

import gamedp
from gamedp.adapters import as_environment, as_pettingzoo
from gamedp.errors import InvalidModelError, InvalidParameterError, UnsupportedProblemError
from gamedp.games.matches import Matches
from gamedp.games.wubbel import Wubbel

GAMES = [
    Chancy(),
    Matches(matches=7),
    Wubbel(goal=8),
    Marks(),
    Three(),
    TicTacToe(),
    TakeADie(),
    Walk(),
]


class Fair:
    """Toss until tails: 1 for each head; states are texts. It may be begun with a head already."""

    def initial_state(self):
        return [(0.25, "one"), (0.75, "none")]

    def is_terminal(self, state):
        return state == "over"

    def actions(self, state):
        return [3, 5] if state == "none" else [5]

    def outcomes(self, state, action):
        return [(0.5, "over"), (0.5, "one")]

    def reward(self, state, action, player):
        return 0.5 if action == 5 else 0.25

    def payoff(self, state, player):
        return 0.0


def by_index(model):
    """Return the model as arrays alone."""
    return gamedp.Model.from_arrays(
        model.choice_offsets, model.transition_offsets, model.successors, model.probabilities,
        rewards=model.rewards, players=model.players, payoffs=model.payoffs,
        action_labels=model.action_labels, num_players=model.num_players,
        constant_sum=model.constant_sum, initial=int(model.initial_states[0]),
    )  # fmt: skip


def returns(env, solution, episodes, seed):
    """Return the sum of the rewards of each episode in which the best actions are taken."""
    env.reset(seed=seed)
    numbers = {label: number for number, label in enumerate(env.positions.labels.tolist())}
    sums = np.zeros(episodes)
    for episode in range(episodes):
        observation, info = env.reset()
        over = False
        while not over:
            action = numbers[solution.best_action(env.state)]
            assert info["action_mask"][action] == 1
            observation, reward, over, truncated, info = env.step(action)
            assert observation in env.observation_space
            assert not truncated
            sums[episode] += reward
    return sums


def agrees(sums, value):
    """Return whether a mean is within six standard errors of a value, which are few."""
    error = sums.std(ddof=1) / len(sums) ** 0.5
    return 0 < error < 0.2 * (1 + abs(value)) and abs(sums.mean() - value) < 6 * error


class TestGymnasium:
    @pytest.mark.parametrize("observed", ["fields", "index"])
    @pytest.mark.parametrize("game", [Walk(), Fair()])
    def test_its_own_check_has_no_warning(self, game, observed):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            check_env(as_environment(game, illegal="stay", observed=observed))

    def test_its_own_check_where_every_action_is_possible(self):
        lake = gamedp.adapters.Gymnasium("FrozenLake-v1")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            check_env(as_environment(lake, render_mode="ansi"))

    @pytest.mark.parametrize(
        ("game", "episodes"),
        [(Walk(), 400), (Fair(), 400), (gamedp.adapters.Gymnasium("FrozenLake-v1"), 50)],
    )
    def test_the_mean_of_the_best_policy_is_the_value(self, game, episodes):
        solution = gamedp.solve(game)
        assert solution.guarantee is gamedp.Guarantee.TWO_SIDED
        sums = returns(as_environment(game), solution, episodes, seed=7)
        assert agrees(sums, solution.value())

    def test_a_model_without_a_game_is_played_the_same(self):
        model = gamedp.compile(Walk())
        envs = as_environment(model, observed="index"), as_environment(by_index(model))
        sums = [returns(env, gamedp.solve(env.positions.model), 20, seed=3) for env in envs]
        assert np.array_equal(*sums)
        assert envs[1].observation_space == gymnasium.spaces.Discrete(model.num_states)

    def test_what_is_observed(self):
        env = as_environment(Walk())
        fields = env.positions.model.states.fields()
        assert env.observation_space.low.tolist() == fields.min(axis=0).tolist()
        assert env.observation_space.high.tolist() == fields.max(axis=0).tolist()
        observation, _ = env.reset(seed=1)
        assert observation.tolist() == [1, 0, 0, 0, 0]
        observation[:] = 9  # is the caller's own
        assert env.reset(seed=1)[0].tolist() == [1, 0, 0, 0, 0]
        assert env.state == Walk().initial_state()
        assert env.positions.labels.tolist() == [-1, 0, 7]

    def test_a_field_that_never_changes_still_has_a_space(self):
        env = as_environment(gamedp.adapters.Gymnasium("CliffWalking-v1"))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            check_env(env)
        first, _ = env.reset(seed=0)
        assert first in env.observation_space

    def test_an_action_that_is_not_possible(self):
        env = as_environment(Walk())
        _, info = env.reset(seed=1)
        assert info["action_mask"].tolist() == [0, 1, 1]
        for action in (0, 3, -1, 0.5, None, "0"):
            with pytest.raises(InvalidParameterError, match=r"warm=True.*ones are 1, 2, as info"):
                env.step(action)
        assert env.step(np.int8(1))[1] == 0.0  # nothing has happened before

    def test_it_may_change_nothing(self):
        env = as_environment(Walk(), illegal="stay")
        first, _ = env.reset(seed=1)
        observation, reward, terminated, truncated, info = env.step(0)
        assert (observation.tolist(), reward) == (first.tolist(), 0.0)
        assert (terminated, truncated) == (False, False)
        assert info["action_mask"].tolist() == [0, 1, 1]

    def test_a_seed_gives_the_same_episode_again(self):
        env, other = as_environment(Fair()), as_environment(Fair())
        env.action_space.seed(5)
        draws = set()
        for seed in range(30):
            assert data_equivalence(env.reset(seed=seed), other.reset(seed=seed))
            over = False
            while not over:
                action = env.action_space.sample(other.positions.mask(other._position))
                step = env.step(action)
                assert data_equivalence(step, other.step(action))
                over = step[2]
            draws.add(float(env.np_random.random()))
        assert len(draws) == 30

    def test_nothing_goes_on_without_an_episode(self):
        env = as_environment(Fair())
        assert env.state is None
        with pytest.raises(InvalidParameterError, match="call reset"):
            env.step(1)
        env.reset(seed=0)
        while not env.step(1)[2]:
            pass
        with pytest.raises(InvalidParameterError, match="call reset"):
            env.step(1)

    def test_render(self):
        env = as_environment(Walk(), render_mode="ansi")
        env.reset(seed=0)
        assert env.render() == str(Walk().initial_state())
        assert as_environment(Walk()).render() is None
        lone = as_environment(by_index(gamedp.compile(Walk())), render_mode="ansi")
        lone.reset(seed=0)
        assert lone.render() == "0"

    def test_several_of_them_side_by_side(self):
        spec = as_environment(Walk(), illegal="stay").spec
        envs = gymnasium.make_vec(spec, num_envs=3, vectorization_mode="sync")
        observations, infos = envs.reset(seed=1)
        assert observations.shape == (3, 5)
        assert infos["action_mask"].tolist() == [[0, 1, 1]] * 3
        envs.close()

    def test_a_copy_plays_alone(self):
        env = as_environment(Walk())
        env.reset(seed=0)
        for other in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
            other.step(1)
            assert other.state != env.state

    @pytest.mark.parametrize(
        ("game", "options", "kind", "words"),
        [
            (Matches(), {}, UnsupportedProblemError, r"one player, and this game 2.*as_pettingzoo"),
            (StagedWubbel(), {}, UnsupportedProblemError, r"gamedp\.stages\.Flattened\(game\)"),
            (Fair(), {"illegal": "skip"}, InvalidParameterError, "illegal is 'skip'"),
            (Fair(), {"observed": "all"}, InvalidParameterError, "observed is 'all'"),
            (Fair(), {"render_mode": "human"}, InvalidParameterError, "render_mode is 'human'"),
            (Fair, {}, TypeError, "pass an instance"),
        ],
    )
    def test_refusals(self, game, options, kind, words):
        with pytest.raises(kind, match=words):
            as_environment(game, **options)

    def test_models_that_no_environment_can_be(self):
        over = gamedp.Model.from_arrays([0, 0, 1], [0, 1], [0], [1.0], payoffs=[1.0])
        with pytest.raises(UnsupportedProblemError, match="over at the start"):
            as_environment(over)
        twice = gamedp.Model.from_arrays(
            [0, 1, 3], [0, 1, 2, 3], [1, 0, 1], [1.0] * 3, action_labels=[4, 4, 4]
        )
        with pytest.raises(UnsupportedProblemError, match="state 1 has action 4 twice"):
            as_environment(twice)


class TestPettingZoo:
    @pytest.mark.filterwarnings("ignore:Observation numpy array is all zeros")
    @pytest.mark.parametrize("game", GAMES, ids=lambda game: type(game).__name__)
    def test_its_own_tests(self, game):
        model = gamedp.compile(game)
        api_test(as_pettingzoo(model, render_mode="ansi"), num_cycles=200)
        seed_test(lambda: as_pettingzoo(model), num_cycles=200)

    @pytest.mark.parametrize(
        "game", [Wubbel(goal=8), Chancy(constant_sum=1.0), Chancy(num_players=3), Walk()]
    )
    def test_the_mean_of_the_best_play_is_the_value(self, game):
        solution = gamedp.solve(game)
        env = as_pettingzoo(solution.model)
        env.reset(seed=11)
        numbers = {label: number for number, label in enumerate(env.positions.labels.tolist())}
        sums = np.zeros((400, len(env.possible_agents)))
        for row in sums:
            env.reset()
            for agent in env.agent_iter():
                _, reward, over, _, info = env.last()
                row[env.possible_agents.index(agent)] += reward
                action = None
                if not over:
                    action = numbers[solution.best_action(env.state())]
                    assert info["action_mask"][action] == 1
                env.step(action)
        if solution.model.num_players == 2:
            assert np.allclose(sums.sum(axis=1), solution.model.constant_sum)
        values = np.atleast_1d(solution.value())
        for player, value in enumerate(values):
            assert agrees(sums[:, player], value)

    def test_players_who_change_places_stay_who_they_are(self):
        env = as_pettingzoo(TicTacToe())
        env.reset(seed=0)
        movers = []
        for agent in env.agent_iter():
            over = env.terminations[agent]
            movers += [] if over else [agent]
            env.step(None if over else int(env.infos[agent]["action_mask"].argmax()))
        assert len(movers) >= 5
        assert movers == [f"player_{number % 2}" for number in range(len(movers))]

    def test_only_the_player_to_move_has_actions(self):
        env = as_pettingzoo(Matches(matches=2))
        env.reset(seed=0)
        assert env.infos["player_0"]["action_mask"].tolist() == [1, 1]
        assert env.infos["player_1"]["action_mask"].tolist() == [0, 0]
        with pytest.raises(InvalidParameterError, match="action 2 is not possible in"):
            env.step(2)
        env.step(0)
        env.step(0)
        assert env.infos["player_0"]["action_mask"].tolist() == [0, 0]
        assert env.rewards == {"player_0": 1.0, "player_1": -1.0}

    def test_before_and_after_a_game(self):
        env = as_pettingzoo(Matches(matches=1), render_mode="ansi")
        assert env.render() is None
        assert env.observe("player_0") is None
        with pytest.raises(InvalidParameterError, match="call reset"):
            env.step(0)
        env.reset(seed=0)
        assert env.render() == "first player to move: 1 left"
        env.step(0)
        env.step(None)
        env.step(None)
        assert env.agents == []
        with pytest.raises(InvalidParameterError, match="call reset"):
            env.step(None)

    def test_refusals(self):
        with pytest.raises(UnsupportedProblemError, match="Flattened"):
            as_pettingzoo(StagedWubbel())
        with pytest.raises(InvalidParameterError, match="render_mode is 'human'"):
            as_pettingzoo(Matches(), render_mode="human")


class Wrong(Fair):
    def outcomes(self, state, action):
        return [(0.4, "over"), (0.5, "one")]


@pytest.mark.parametrize("call", [as_environment, as_pettingzoo])
def test_wrong_rules_are_found_at_once(call):
    with pytest.raises(InvalidModelError, match=r"'(one|none)'"):
        call(Wrong())


@pytest.mark.parametrize(
    ("call", "package"), [("as_environment", "gymnasium"), ("as_pettingzoo", "pettingzoo")]
)
def test_without_the_package(call, package):
    words = f"""
import sys
sys.modules[{package!r}] = None
import gamedp
from gamedp.games.matches import Matches
try:
    gamedp.adapters.{call}(Matches())
except gamedp.errors.MissingPackageError as error:
    assert str(error) == "{package} is not installed; pip install gamedp[{package}]", error
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", words], check=True)


def test_nothing_is_imported_before_it_is_used():
    words = (
        "import sys, gamedp; gamedp.adapters.as_environment; "
        "assert not {'gymnasium', 'pettingzoo', 'quantecon', 'numba', 'scipy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", words], check=True)
