"""Games of OpenSpiel as games, and games as those of OpenSpiel."""

import importlib
import io
import pickle
import subprocess
import sys
from fractions import Fraction

import pytest
from rule_games import Marks, Three, Walk
from symmetric_games import Chancy, TakeADie, TicTacToe

import gamedp
from gamedp.adapters import OpenSpiel, as_openspiel
from gamedp.adapters.openspiel import SpielState
from gamedp.errors import (
    InvalidModelError,
    InvalidParameterError,
    UnknownNameError,
    UnknownStateError,
    UnsupportedProblemError,
)
from gamedp.games.matches import Matches
from gamedp.games.wubbel import Wubbel

pyspiel = pytest.importorskip("pyspiel")

from open_spiel.python.algorithms import minimax  # noqa: E402 - only where it is installed
from open_spiel.python.observation import make_observation  # noqa: E402

PIG = "pig(winscore=15,horizon=4)"


def by_histories(state):
    """Return the values of all players by walking through the whole tree."""
    if state.is_terminal():
        return [Fraction(number) for number in state.returns()]
    if state.is_chance_node():
        parts = [(p, by_histories(state.child(event))) for event, p in state.chance_outcomes()]
        chances = [Fraction(p).limit_denominator(1000) for p, _ in parts]
        columns = zip(*(numbers for _, numbers in parts), strict=True)
        return [sum(map(Fraction.__mul__, chances, column)) for column in columns]
    mover = state.current_player()
    found = [by_histories(state.child(action)) for action in state.legal_actions()]
    return max(found, key=lambda numbers: numbers[mover])


class Tree(pyspiel.State):
    """Two choices of two players, then a coin; what each gets is in a table of the class."""

    def __init__(self, game):
        super().__init__(game)
        self.moves = ()

    def current_player(self):
        if len(self.moves) == 3:
            return pyspiel.PlayerId.TERMINAL
        return pyspiel.PlayerId.CHANCE if len(self.moves) == 2 else len(self.moves)

    def _legal_actions(self, _player):
        return [0, 1]

    def chance_outcomes(self):
        return [(0, 0.9), (1, 0.1)]

    def _apply_action(self, action):
        self.moves = (*self.moves, action)

    def _action_to_string(self, player, action):
        return f"{player} plays {action}"

    def is_terminal(self):
        return len(self.moves) == 3

    def returns(self):
        first, second, coin = (*self.moves, 0, 0, 0)[:3]
        if self.get_game().get_type().reward_model == pyspiel.GameType.RewardModel.REWARDS:
            parts = [(0.1, 0.0), (0.7, 0.0)], [(0.0, 0.3), (0.0, 0.2)], [(1.0, 0.0), (-1.0, 0.0)]
            taken = [part[move] for part, move in zip(parts, self.moves, strict=False)]
            return [sum(column) for column in zip((0.0, 0.0), *taken, strict=True)]
        if not self.is_terminal():
            return [0.0, 0.0]
        return [[[3.0, 1.0], [0.0, 0.0]], [[2.0, 2.0], [1.0, 4.0]]][first][second][:: 1 - 2 * coin]

    def __str__(self):
        return self.get_game().text(self.moves)


def tree(name, utility="GENERAL_SUM", reward_model="TERMINAL", least=-5.0, text=str):
    """Register a game made of `Tree`."""
    kind = pyspiel.GameType
    found = kind(
        short_name=name,
        long_name=name,
        dynamics=kind.Dynamics.SEQUENTIAL,
        chance_mode=kind.ChanceMode.EXPLICIT_STOCHASTIC,
        information=kind.Information.PERFECT_INFORMATION,
        utility=getattr(kind.Utility, utility),
        reward_model=getattr(kind.RewardModel, reward_model),
        max_num_players=2,
        min_num_players=2,
        provides_information_state_string=False,
        provides_information_state_tensor=False,
        provides_observation_string=False,
        provides_observation_tensor=False,
        parameter_specification={},
    )
    info = pyspiel.GameInfo(
        num_distinct_actions=2,
        max_chance_outcomes=2,
        num_players=2,
        min_utility=least,
        max_utility=5.0,
        max_game_length=2,
    )

    class TreeGame(pyspiel.Game):
        def __init__(self, params=None):
            super().__init__(found, info, params or {})
            self.text = text

        def new_initial_state(self):
            return Tree(self)

    pyspiel.register_game(found, TreeGame)
    return name


class TestValues:
    @pytest.mark.parametrize(
        ("name", "states", "value"),
        [
            ("tic_tac_toe", 5478, 0),
            ("misere(game=tic_tac_toe())", 5478, 0),
            ("nim(pile_sizes=1;2;3)", None, -1),  # three heaps whose sum of Nim is zero
            ("nim(pile_sizes=1;2;2)", None, 1),
            ("connect_four(rows=3,columns=3,x_in_row=3)", None, 0),
            ("catch(rows=5,columns=3)", None, 1),
            ("dots_and_boxes(num_rows=1,num_cols=2)", None, None),
            (PIG, None, Fraction(5, 54)),
            ("pig(winscore=6,horizon=3,diceoutcomes=4)", None, None),
        ],
    )
    def test_known(self, name, states, value):
        game = OpenSpiel(name)
        solution = gamedp.solve(game, solver="exact-policy-iteration")
        if value is None:
            value = by_histories(pyspiel.load_game(name).new_initial_state())[0]
        assert solution.exact_value() == value
        assert states in {None, solution.model.num_states}

    @pytest.mark.deep
    def test_a_board_of_four_by_four(self):
        solution = gamedp.solve(OpenSpiel("connect_four(rows=4,columns=4,x_in_row=4)"))
        assert solution.model.num_states == 161_029
        assert solution.bounds() == (0, 0)

    def test_histories_give_the_same_as_what_is_found(self):
        for name in ("nim(pile_sizes=1;2;2)", PIG, "connect_four(rows=2,columns=3,x_in_row=3)"):
            found, told = gamedp.solve(OpenSpiel(name)), gamedp.solve(OpenSpiel(name, "history"))
            assert found.bounds() == pytest.approx(told.bounds(), abs=1e-12)
            assert found.model.num_states < told.model.num_states

    def test_a_text_that_hides_something(self):
        name = tree("gamedp_hidden", text=lambda _moves: "a tree")
        assert gamedp.solve(OpenSpiel(name)).value() == pytest.approx(2.8)
        assert gamedp.solve(OpenSpiel(name, "text")).value() != pytest.approx(2.8, abs=0.1)

    def test_three_players_maximise_their_own(self):
        name = "pig(players=3,winscore=3,horizon=5,diceoutcomes=3)"
        solution = gamedp.solve(OpenSpiel(name))
        assert solution.model.num_players == 3
        values = by_histories(pyspiel.load_game(name).new_initial_state())
        (start,) = solution.model.initial_states
        assert solution.values[start] == pytest.approx([float(each) for each in values])

    def test_two_who_are_no_opponents(self):
        solution = gamedp.solve(OpenSpiel(tree("gamedp_tree")))
        assert (solution.model.num_players, solution.model.is_general_sum) == (2, True)
        # The second player answers 0 with 0, and 1 with 1; the coin swaps what they get.
        assert solution.value() == pytest.approx(0.9 * 3 + 0.1 * 1)
        (start,) = solution.model.initial_states
        assert solution.values[start] == pytest.approx([2.8, 1.2])

    def test_payoffs_on_the_way(self):
        solution = gamedp.solve(OpenSpiel(tree("gamedp_paid", reward_model="REWARDS")))
        (start,) = solution.model.initial_states
        assert solution.values[start] == pytest.approx([0.7 + 0.8, 0.3])
        game = solution.model.rules.game
        ((_, first),) = game.initial_state()
        assert game.reward(first, 1, 0) == 0.7
        assert [chance for chance, _ in game.outcomes(first, 0)] == [1]

    def test_payoffs_beyond_their_limits(self):
        with pytest.raises(InvalidModelError, match=r"payoff of 0\.0.*from 0\.5 to 5\.0"):
            gamedp.solve(OpenSpiel(tree("gamedp_bounds", least=0.5)))


class TestStates:
    def test_they_are_rebuilt_from_moves_alone(self):
        here = SpielState("tic_tac_toe", "text", "4 0 8")
        there = SpielState("tic_tac_toe", "text", "8 0 4")
        assert here == there
        assert hash(here) == hash(there)
        assert not here != there  # noqa: SIM202 - a tuple has both
        assert here != SpielState("tic_tac_toe", "history", "4 0 8")
        assert here != SpielState("tic_tac_toe", "text", "4 8 0")
        assert SpielState("tic_tac_toe", "history", "4 0 8") != there
        assert here != ("tic_tac_toe", "text", "4 0 8")
        assert pickle.loads(pickle.dumps(here)) == there
        solution = gamedp.solve(OpenSpiel("tic_tac_toe"), compile="never")
        assert solution.value(there) == 0
        assert solution.best_action(SpielState("tic_tac_toe", "text", "0 4 1")) == 2

    def test_text_is_enough_where_it_says_everything(self):
        tells = {name: OpenSpiel(name)._told_by for name in ("tic_tac_toe", "connect_four", PIG)}
        assert tells["tic_tac_toe"] == tells["connect_four"] == "text"
        assert tells[PIG] != "text"

    @pytest.mark.parametrize(
        ("moves", "words"),
        [
            ("4 4", "number 2 is '4', and 0, 1, 2, 3, 5, 6, 7, 8 can be played"),
            ("x", "number 1 is 'x'"),
            ("-1", "number 1 is '-1'"),
            ("9" * 30, "number 1 is"),
            ("0 3 1 4 2 5", "number 6 is '5', and the game is over"),
        ],
    )
    def test_moves_that_cannot_be(self, moves, words):
        with pytest.raises(UnknownStateError, match=words):
            hash(SpielState("tic_tac_toe", "text", moves))

    def test_states_of_other_games(self):
        with pytest.raises(UnknownStateError, match="outcome of chance at the end"):
            hash(SpielState(PIG, "text", "0"))
        with pytest.raises(UnknownStateError, match="text, counts, history"):
            hash(SpielState(PIG, "magic", ""))
        with pytest.raises(UnknownNameError, match="tick"):
            hash(SpielState("tick", "text", ""))

    def test_words(self):
        rules = gamedp.rules.Rules(OpenSpiel(PIG))
        ((_, start),) = rules.initial()
        assert rules.action_name(start, 0) == "roll"
        assert rules.render(start).startswith("Scores: 0 0")
        assert len(rules.outcome_name(start, 0, 2)) > 0
        assert not rules.outcome_name(start, 1, 0)

    def test_check_game(self):
        gamedp.testing.check_game(OpenSpiel("nim(pile_sizes=1;2;2)"))
        gamedp.testing.check_game(OpenSpiel(PIG))


SAVED = """
import sys
import gamedp
from gamedp.adapters.openspiel import SpielState
kept = gamedp.load(sys.argv[1])
assert kept.model.rules.game == gamedp.adapters.OpenSpiel("nim(pile_sizes=1;2;2)")
assert kept.value(SpielState("nim(pile_sizes=1;2;2)", "text", sys.argv[2])) == 1.0
print(kept.bounds())
"""


class TestValue:
    def test_a_game_of_openspiel_is_the_text_that_loads_it(self):
        game = OpenSpiel(pyspiel.load_game(PIG))
        assert game == OpenSpiel("pig(horizon=4,winscore=15)")
        assert pickle.loads(pickle.dumps(game)) == game

    def test_a_saved_solution_in_a_new_process(self, tmp_path):
        solution = gamedp.solve(OpenSpiel("nim(pile_sizes=1;2;2)"))
        gamedp.save(solution, tmp_path / "saved")
        # Moves that lead where others have led when it was solved.
        moves = next(
            " ".join(map(str, history))
            for one, two, three in _threes(pyspiel.load_game("nim(pile_sizes=1;2;2)"))
            for history in [(one, two, three)]
            if solution.value(SpielState("nim(pile_sizes=1;2;2)", "text", f"{one} {two} {three}"))
            == 1
        )
        command = [sys.executable, "-c", SAVED, str(tmp_path / "saved"), moves]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert done.stdout == "(1.0, 1.0)\n"


def _threes(game):
    """Yield all first three moves, the last ones first."""
    start = game.new_initial_state()
    for one in reversed(start.legal_actions()):
        after = start.child(one)
        for two in reversed(after.legal_actions()):
            for three in reversed(after.child(two).legal_actions()):
                yield one, two, three


class TestRefusals:
    @pytest.mark.parametrize(
        ("name", "words"),
        [
            ("kuhn_poker", "kuhn_poker cannot be solved.*players do not see everything"),
            ("goofspiel", "goofspiel cannot.*at the same time"),
            ("matrix_pd", "at the same time"),
            ("stones_and_gems", "probabilities of chance are not told"),
            ("morpion_solitaire", "copies of its states"),
        ],
    )
    def test_games_of_other_kinds(self, name, words):
        with pytest.raises(UnsupportedProblemError, match=words):
            OpenSpiel(name)

    @pytest.mark.slow
    def test_too_much_chance_at_once(self):
        with pytest.raises(UnsupportedProblemError, match="more than 100,000 outcomes"):
            gamedp.solve(OpenSpiel("einstein_wurfelt_nicht"))

    @pytest.mark.parametrize(
        ("name", "kind", "words"),
        [
            ("tictactoe", UnknownNameError, "did you mean 'tic_tac_toe'"),
            ("", UnknownNameError, "no game of OpenSpiel ''"),
            ("tic_tac_toe\0", UnknownNameError, "did you mean 'tic_tac_toe'"),
            ("pig(foo=3)", UnknownNameError, "no parameter of pig 'foo'"),
            ("pig(winscore=x)", InvalidParameterError, "winscore is 'x'.*must be a int"),
            ("pig(winscore=15.5)", InvalidParameterError, "winscore is 15.5"),
            ("pig(winscore=15", InvalidParameterError, "parameters are written as"),
            ("tic_tac_toe()()", InvalidParameterError, "parameters are written as"),
            ("connect_four(rows=0)", InvalidParameterError, "rows is 0.*1 at least"),
            ("hex(board_size=-3)", InvalidParameterError, "board_size is -3"),
            ("go(board_size=99)", InvalidParameterError, "cannot load go"),
            ("nfg_game", InvalidParameterError, "cannot load nfg_game"),
            ("efg_game(filename=/no/such)", InvalidParameterError, "cannot load efg_game"),
            (7, InvalidParameterError, "name is 7; it must be"),
        ],
    )
    def test_names(self, name, kind, words):
        with pytest.raises(kind, match=words):
            OpenSpiel(name)

    def test_what_tells_states_apart(self):
        with pytest.raises(InvalidParameterError, match="tells is 'magic'"):
            OpenSpiel("tic_tac_toe", tells="magic")


class TestCommandLine:
    def test_solve(self, run_json):
        facts = run_json("solve", f"openspiel:{PIG}")
        assert facts["parameters"] == {"name": PIG, "tells": None}
        assert facts["value"] == pytest.approx(5 / 54)

    def test_one_position(self, run_json):
        facts = run_json("query", "openspiel:tic_tac_toe", "--state", "moves=4 1 0")
        assert facts["value"] == 1.0
        assert len(facts["actions"]) == 6

    def test_perft(self, run):
        assert "3,024" in run("perft", "openspiel:tic_tac_toe", "--depth", "4")[1]

    def test_play_looks_ahead(self, run, monkeypatch):
        monkeypatch.setattr("sys.stdin", io.StringIO("3\nquit\n"))
        code, out, err = run("play", "openspiel:connect_four", "--level", "1")
        assert (code, err) == (0, "")
        assert "The computer plays o" in out

    def test_refusals(self, run):
        assert "needs --set name=..." in run("solve", "openspiel")[2]
        assert "did you mean 'tic_tac_toe'" in run("solve", "openspiel:tictactoe")[2]

    def test_it_is_served_as_it_is(self, run, monkeypatch):
        served = {}
        monkeypatch.setattr("gamedp.web.serve.serve", lambda games, *_, **__: served.update(games))
        assert run("serve", "openspiel:tic_tac_toe", "--quiet")[0] == 0
        assert served["tic-tac-toe"].fixed.parameters["name"] == "tic_tac_toe"

    @pytest.mark.slow
    def test_too_large_to_solve_in_a_moment(self, run, monkeypatch):
        served = {}
        monkeypatch.setattr("gamedp.web.serve.serve", lambda games, *_, **__: served.update(games))
        code, out, _ = run("serve", "openspiel:go(board_size=19)", "--quiet")
        assert code == 0
        assert "is searched, not solved: exploration stopped at max_" in out
        assert list(served) == ["go"]


WITHOUT = """
import sys
sys.modules["pyspiel"] = None
import gamedp
from gamedp.cli import main
assert main(["games", "--json"]) == 0
assert main(["solve", "openspiel:tic_tac_toe"]) == 1
"""


def test_without_openspiel():
    command = [sys.executable, "-c", WITHOUT]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert '"openspiel"' in done.stdout
    assert done.stderr == "gamedp: pyspiel is not installed; pip install gamedp[openspiel]\n"


def test_nothing_is_imported_before_it_is_used():
    words = "import sys, gamedp; gamedp.adapters.OpenSpiel; assert 'pyspiel' not in sys.modules"
    subprocess.run([sys.executable, "-c", words], check=True)


# What follows is about the other way: games of gamedp as games of OpenSpiel.

TWO_OPPONENTS = [Chancy(), Matches(matches=7), Wubbel(goal=4), TicTacToe()]


class TestAsOpenSpiel:
    @pytest.mark.parametrize("observed", ["fields", "index"])
    @pytest.mark.parametrize("game", [*TWO_OPPONENTS, TakeADie(), Three(), Walk(), Marks()])
    def test_its_own_check_plays_it(self, game, observed):
        made = as_openspiel(game, observed=observed)
        pyspiel.random_sim_test(made, num_sims=3, serialize=False, verbose=False)

    def test_what_it_says_of_itself(self):
        made = as_openspiel(Wubbel(goal=4))
        kinds = pyspiel.GameType
        assert made.get_type().utility == kinds.Utility.CONSTANT_SUM
        assert made.utility_sum() == 1
        assert made.get_type().chance_mode == kinds.ChanceMode.EXPLICIT_STOCHASTIC
        assert (made.min_utility(), made.max_utility()) == (0, 1)
        without_chance = as_openspiel(Matches(matches=7)).get_type()
        assert without_chance.chance_mode == kinds.ChanceMode.DETERMINISTIC
        assert without_chance.reward_model == kinds.RewardModel.TERMINAL
        assert as_openspiel(Matches(matches=7)).max_game_length() == 7
        assert as_openspiel(Walk()).get_type().reward_model == kinds.RewardModel.REWARDS

    @pytest.mark.parametrize("matches", [6, 9])
    def test_alpha_beta_finds_our_value(self, matches):
        game = Matches(matches=matches)
        made, solution = as_openspiel(game), gamedp.solve(game)
        value, action = minimax.alpha_beta_search(made)
        assert value == solution.value()
        values = {each.action: each.value for each in solution.action_values()}
        assert values[made.positions.labels[action]] == value

    def test_alpha_beta_where_the_players_change_places(self):
        made = as_openspiel(TicTacToe())
        state = made.new_initial_state()
        while len(state.legal_actions()) > 5:  # the tree of the whole game takes minutes
            state.apply_action(state.legal_actions()[0])
        value, _ = minimax.alpha_beta_search(made, state=state, maximizing_player_id=0)
        solution = gamedp.solve(TicTacToe())
        mover = state.current_player()
        own = solution.value(state.state, player=solution.model.rules.player(state.state))
        assert value == (own if mover == 0 else -own)

    @pytest.mark.parametrize("game", [Chancy(), TakeADie()])
    def test_expectiminimax_finds_our_value(self, game):
        made = as_openspiel(game)
        value, _ = minimax.expectiminimax(made.new_initial_state(), 20, None, 0)
        assert value == pytest.approx(gamedp.solve(game).value(), abs=1e-12)

    def test_compiled_algorithms_find_our_value(self):
        made = as_openspiel(Matches(matches=5))
        solver = pyspiel.CFRSolver(made)
        for _ in range(300):
            solver.evaluate_and_update_policy()
        policy = solver.average_policy()
        assert pyspiel.exploitability(made, policy) < 0.02
        first = pyspiel.expected_returns(made.new_initial_state(), [policy, policy], -1, True)[0]
        assert first == pytest.approx(gamedp.solve(Matches(matches=5)).value(), abs=0.02)

    @pytest.mark.parametrize("game", [Wubbel(goal=4), Matches(matches=6), Matches(matches=7)])
    def test_value_iteration_finds_our_values(self, game):
        pytest.importorskip("cvxpy", reason="OpenSpiel's value iteration imports it")
        value_iteration = importlib.import_module("open_spiel.python.algorithms.value_iteration")
        model = gamedp.compile(game)
        made, solution = as_openspiel(model, zero_sum=True), gamedp.solve(model)
        values = value_iteration.value_iteration(made, -1, 1e-10, cyclic_game=True)
        for state in range(model.num_states):
            expected = solution.value(model.state(state))
            assert made.value_of(state, values) == pytest.approx(expected, abs=1e-6)

    def test_what_cannot_be(self):
        with pytest.raises(UnsupportedProblemError, match="Walk has no sum of zero"):
            as_openspiel(Walk(), zero_sum=True)
        state = as_openspiel(Matches(matches=2)).new_initial_state()
        with pytest.raises(
            InvalidParameterError, match=r"possible ones are 0, 1, as legal_actions\(\)"
        ):
            state.apply_action(2)
        made = as_openspiel(Matches(matches=2))
        with pytest.raises(InvalidParameterError, match="begins at its start"):
            made.new_initial_state({"board": []})
        with pytest.raises(InvalidParameterError, match="params is"):
            made.make_py_observer(None, {"size": 2})

    def test_actions_that_are_no_integers_have_their_names(self):
        class Named(Matches):
            def actions(self, state):
                return ["one", "two"][: state.left]

            def outcomes(self, state, action):
                return list(super().outcomes(state, ["one", "two"].index(action) + 1))

            def action_name(self, state, action):
                return f"take {action}"

        state = as_openspiel(Named(matches=5)).new_initial_state()
        assert [state.action_to_string(each) for each in state.legal_actions()] == [
            "take one",
            "take two",
        ]

    def test_what_is_observed(self):
        made = as_openspiel(Wubbel(goal=4))
        observation, state = make_observation(made), made.new_initial_state()
        observation.set_from(state, 0)
        assert not observation.tensor.any()
        state.apply_action(0)
        assert state.is_chance_node()
        assert sum(chance for _, chance in state.chance_outcomes()) == pytest.approx(1)
        assert state.action_to_string(1).startswith("outcome 2: ")
        assert observation.string_from(state, 1) == str(state)
        state.apply_action(1)
        copy = state.clone()
        assert str(copy) == str(state)
        assert copy.state == state.state
