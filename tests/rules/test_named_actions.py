"""Actions that are not integers: any hashable objects, in games that run as plain Python."""

import dataclasses
import enum
from fractions import Fraction
from typing import NamedTuple

import attrs
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numba import config
from solving import SOLVERS
from staged_games import Roll, Scores, StagedWubbel, WubbelTurn
from web_client import Client, listed_game

import gamedp
from gamedp.compiler import build
from gamedp.errors import (
    CompilationError,
    InvalidParameterError,
    UnknownNameError,
    UnknownStateError,
)
from gamedp.model.objectives import TotalReward
from gamedp.model.problem import Problem
from gamedp.play import RandomPlayer, load_games, play_game, save_games
from gamedp.play.protocol import Fault, action_in, question
from gamedp.rules import Rules
from gamedp.testing import check_game


class Place(NamedTuple):
    player: int
    number: int


class Move(NamedTuple):
    row: int
    column: int


class Word(enum.Enum):
    STAY = 1
    GO = 2


@dataclasses.dataclass(frozen=True)
class Jump:
    height: float


NAMES = ("roll", Move(2, 3), Word.GO, Jump(0.5), (1, "two"), frozenset("ab"), 7, Fraction(1, 3))
"""Actions of all kinds, an integer among them."""


@attrs.frozen
class Table:
    """Walks up to the last row; `rows[n][a]` has (weight, steps) of each outcome, and a reward."""

    rows: tuple
    names: tuple = ()
    num_players: int = 2
    acyclic = True

    def initial_state(self):
        return Place(0, 0)

    def is_terminal(self, state):
        return state.number >= len(self.rows)

    def player(self, state):
        return state.player

    def actions(self, state):
        for place in range(len(self.rows[state.number])):
            yield self.names[(state.number + place) % len(self.names)] if self.names else place

    def place(self, state, action):
        return list(self.actions(state)).index(action)

    def outcomes(self, state, action):
        ways, _ = self.rows[state.number][self.place(state, action)]
        size = sum(weight for weight, _ in ways)
        for weight, steps in ways:
            number = min(state.number + steps, len(self.rows))
            yield weight / size, Place((state.player + 1) % self.num_players, number)

    def reward(self, state, action, player):
        earned = float(self.rows[state.number][self.place(state, action)][1])
        if self.num_players < 3:
            return earned if player == 0 else -earned
        return earned * (player + 1)

    def payoff(self, state, player):
        return [1.0, -1.0, 2.0][player] if self.num_players > 1 else 0.25


ROWS = st.lists(
    st.lists(
        st.tuples(
            st.lists(st.tuples(st.integers(1, 3), st.integers(1, 2)), min_size=1, max_size=2),
            st.integers(-2, 2),
        ),
        min_size=1,
        max_size=4,
    ),
    min_size=1,
    max_size=4,
).map(lambda rows: tuple(tuple((tuple(ways), earned) for ways, earned in row) for row in rows))

CERTAIN = ROWS.map(
    lambda rows: tuple(tuple((ways[:1], earned) for ways, earned in row) for row in rows)
)


def twins(rows, num_players):
    return Table(rows, (), num_players), Table(rows, NAMES, num_players)


SEARCHERS = (
    gamedp.searchers.AlphaBeta(),
    gamedp.searchers.Expectiminimax(),
    gamedp.searchers.MaxN(),
    gamedp.searchers.Minimax(),
)


@settings(max_examples=15, deadline=None)
@given(rows=ROWS, num_players=st.integers(1, 3))
def test_every_solver_finds_the_same_as_with_integers(rows, num_players):
    numbered, named = twins(rows, num_players)
    one, other = (gamedp.compile(game, compile="never") for game in (numbered, named))
    for field in ("choice_offsets", "successors", "probabilities", "rewards", "payoffs"):
        assert np.array_equal(getattr(one, field), getattr(other, field))
    assert not one.actions
    assert len(set(other.actions)) == len(other.actions) <= len(NAMES)
    for solver in SOLVERS:
        problem = Problem(one, TotalReward())
        if not solver.supports(problem):
            continue
        first, second = (gamedp.solve(model, solver=solver) for model in (one, other))
        assert np.array_equal(first.values, second.values)
        for index in range(one.num_states):
            state = one.state(index)
            own = [] if one.is_terminal[index] else list(named.actions(state))
            assert second.actions(state) == own
            assert [each.action for each in second.action_values(state)] == own
            assert second.best_actions(state) == [own[k] for k in first.best_actions(state)]
            best = first.best_action(state)
            assert second.best_action(state) == (None if best is None else own[best])


@settings(max_examples=15, deadline=None)
@given(rows=CERTAIN, num_players=st.integers(1, 3))
def test_every_searcher_finds_the_same_as_with_integers(rows, num_players):
    numbered, named = twins(rows, num_players)
    for searcher in SEARCHERS:
        if num_players == 3 and not isinstance(searcher, gamedp.searchers.MaxN):
            continue
        first, second = (searcher.search(game, compile="never") for game in (numbered, named))
        own = list(named.actions(named.initial_state()))
        assert second.bounds() == first.bounds()
        assert [each.action for each in second.actions] == [own[e.action] for e in first.actions]
        assert all(each.name == str(each.action) for each in second.actions)
        # Searchers order actions by number, so they may find another of several equally good ones.
        values = {each.action: (each.lower, each.upper) for each in second.actions}
        assert {values[action] for action in second.best_actions} == {
            values[own[action]] for action in first.best_actions
        }
        for action, following in second.principal_variation[:1]:
            assert named.outcomes(named.initial_state(), action).__next__()[1] == following


@settings(max_examples=15, deadline=None)
@given(rows=ROWS)
def test_policies_take_and_return_the_actions_of_the_rules(rows):
    numbered, named = twins(rows, 2)

    def first(game):
        return lambda state: next(game.actions(state))

    def mixed(game):
        def choose(state):
            actions = list(game.actions(state))
            return dict.fromkeys(actions, 1 / len(actions))

        return choose

    for rule in (first, mixed):
        one, other = (
            gamedp.evaluate(
                game, [rule(game), gamedp.solve(game, compile="never")], compile="never"
            )
            for game in (numbered, named)
        )
        assert one.bounds() == other.bounds()
    solution = gamedp.solve(named, compile="never")
    policy = gamedp.Policy.from_solution(solution)
    for number in range(len(rows)):
        for player in (0, 1):
            try:
                best = solution.best_action(Place(player, number))
            except UnknownStateError:
                continue
            assert policy.actions(Place(player, number)) == {best: 1.0}
    games = [
        gamedp.simulate(
            game, [rule(game) for rule in (first, mixed)], games=20, seed=1, compile="never"
        )
        for game in (numbered, named)
    ]
    assert games[0].outcomes == games[1].outcomes
    records = [
        play_game(game, [RandomPlayer(game), RandomPlayer(game)], seed=3)
        for game in (numbered, named)
    ]
    assert records[0].states == records[1].states
    assert [
        named.place(state, action)
        for state, action in zip(records[1].states, records[1].actions, strict=False)
    ] == list(records[0].actions)


@attrs.frozen
class Choosing:
    """One decision between given actions, the k-th of which pays k."""

    given: tuple
    num_players: int = 1

    def initial_state(self):
        return Place(0, -1)

    def is_terminal(self, state):
        return state.number >= 0

    def actions(self, state):
        return list(self.given)

    def outcomes(self, state, action):
        return [(1.0, Place(0, self.given.index(action)))]

    def payoff(self, state, player):
        return float(state.number)


def solved(*actions):
    return gamedp.solve(Choosing(actions), compile="never")


def test_the_best_action_is_the_one_that_the_rules_have():
    for last in NAMES:
        best = solved("none", last).best_action()
        assert best == last
        assert type(best) is type(last)


def test_columns_show_the_actions_of_the_rules():
    solution = solved("roll", Move(2, 3), 7)
    columns = solution.to_columns()
    assert columns["action"].tolist() == [7, None, None, None]
    assert solution.q_table()["action"].tolist() == ["roll", Move(2, 3), 7]
    policy = gamedp.Policy.uniform(solution.model).to_columns()
    assert policy["action"].tolist() == ["roll", Move(2, 3), 7]
    assert policy["action_name"].tolist() == ["roll", "Move(row=2, column=3)", "7"]


def test_integers_alone_stay_their_own_numbers():
    solution = solved(5, np.int64(-3), enum.IntEnum("Level", {"HIGH": 9}).HIGH)
    assert solution.model.actions == ()
    assert solution.model.action_labels.tolist() == [5, -3, 9]
    assert [type(action) for action in solution.actions()] == [int] * 3


def test_labels_of_a_model_and_actions_of_its_rules():
    model = solved("roll", Move(2, 3), 7).model
    assert [model.action_label(action) for action in model.actions] == [0, 1, 2]
    assert model.action_label((2, 3)) == 1  # a tuple that equals a named tuple finds it
    assert model.action_name(Move(2, 3), Place(0, -1)) == "Move(row=2, column=3)"
    with pytest.raises(UnknownNameError, match=r"'stay' is not an action of this model; its"):
        model.action_label("stay")
    plain = solved(4, 5).model
    assert plain.action_label(np.int8(5)) == 5
    with pytest.raises(UnknownNameError, match="its actions are integers"):
        plain.action_label("stay")


@pytest.mark.parametrize(
    ("first", "other", "words"),
    [
        (Move(2, 3), (2, 3), "are equal, but one is of type Move and the other tuple"),
        (1.0, 1, "are equal, but one is of type float and the other int"),
    ],
)
def test_equal_actions_of_two_types_are_refused(first, other, words):
    @attrs.frozen
    class Both(Choosing):
        def actions(self, state):
            return [first, "x"] if state.player == 0 else [other]

        def outcomes(self, state, action):
            return [(1.0, Place(1, -1) if state.player == 0 else Place(0, 1))]

    with pytest.raises(gamedp.InvalidModelError, match=words):
        gamedp.solve(Both(()), compile="never")


def test_compiled_rules_refuse_them_by_name():
    game = Choosing(("roll", "save"))
    calls = (
        lambda: gamedp.solve(game, compile="always"),
        lambda: gamedp.search(game, compile="always"),
        lambda: gamedp.simulate(game, [lambda state: "roll"], games=2, compile="always"),
    )
    for call in calls if not config.DISABLE_JIT else calls[:1]:
        with pytest.raises(CompilationError, match="its actions are not all integers"):
            call()


def test_large_games_go_on_as_plain_python_with_one_warning(monkeypatch):
    @attrs.frozen
    class Long(Table):
        pass

    row = ((((1, 1),), 0),)
    monkeypatch.setattr(build, "AT_FIRST", build.Patience(states=2))
    monkeypatch.setattr(build, "AT_MOST", build.Patience(states=2))
    with pytest.warns(gamedp.errors.CompilationWarning, match="its actions are not all integers"):
        model = gamedp.compile(Long((row,) * 9, ("roll", "save")))
    assert set(model.actions) == {"roll", "save"}


def test_policies_refuse_what_is_no_action():
    game = Choosing(("roll", Move(2, 3)))
    model = gamedp.compile(game, compile="never")
    with pytest.raises(InvalidParameterError, match=r"chooses \['roll'\] in .* hashable"):
        gamedp.Policy.from_function(model, lambda _: ["roll"])
    with pytest.raises(InvalidParameterError, match="chooses 'stay' in"):
        gamedp.evaluate(model, [lambda _: "stay"])
    with pytest.raises(InvalidParameterError, match="chooses 'stay' with probability 1"):
        gamedp.evaluate(model, [lambda _: {"stay": 1.0}])
    with pytest.raises(InvalidParameterError, match="chooses 'stay' in"):
        gamedp.simulate(game, [lambda _: "stay"], games=2, compile="never")
    with pytest.raises(InvalidParameterError, match="takes 'stay' in"):
        play_game(game, [lambda _state, _rng: "stay"])
    numbers = gamedp.compile(Choosing((4, 5)), compile="never")
    with pytest.raises(InvalidParameterError, match=r"chooses 'roll' .* is an integer"):
        gamedp.Policy.from_function(numbers, lambda _: "roll")


def test_solutions_and_games_are_saved_and_loaded(tmp_path):
    game = Table((((((1, 1),), 1), (((1, 2),), 0)),) * 3, ("roll", Move(2, 3), Word.GO, Jump(0.5)))
    solution = gamedp.solve(game, compile="never")
    gamedp.save(solution, tmp_path / "solution")
    again = gamedp.load(tmp_path / "solution", game=game)
    assert again.model.actions == solution.model.actions
    for index in range(solution.model.num_states):
        state = solution.model.state(index)
        assert again.best_action(state) == solution.best_action(state)
    gamedp.write_policy(tmp_path / "policy.csv", gamedp.Policy.uniform(solution.model))
    assert "Move(row=2, column=3)" in (tmp_path / "policy.csv").read_text()
    record = play_game(game, [RandomPlayer(game)] * 2, seed=2)
    save_games(tmp_path / "games", game, [record])
    assert load_games(tmp_path / "games", game=game)[1] == [record]


def test_changed_names_are_changed_rules(tmp_path):
    @attrs.frozen
    class Renamed(Choosing):
        def actions(self, state):
            return [f"{action}!" for action in self.given] if CHANGES else list(self.given)

        def outcomes(self, state, action):
            return [(1.0, Place(0, self.given.index(action.strip("!"))))]

    CHANGES = []
    game = Renamed(("roll", "save"))
    gamedp.save(gamedp.solve(game, compile="never"), tmp_path / "solution")
    CHANGES.append(1)
    # Files keep no names: these are the rules' own, as the states of such games are.
    assert gamedp.load(tmp_path / "solution", game=game).best_action() == "save!"


def test_the_length_of_play_counts_some_actions():
    game = Table((((((1, 1),), 0), (((1, 1),), 0)),) * 4, ("roll", "save"))
    model = gamedp.compile(game, compile="never")
    found = gamedp.policies.greatest_survival(model, 2, actions=["roll"])
    assert found.actions == ("roll",)
    assert found.bounds(1) == gamedp.policies.greatest_survival(model, 1).bounds(1)
    with pytest.raises(InvalidParameterError, match="'stay' is not an action of this model"):
        gamedp.policies.greatest_survival(model, 2, actions=["stay"])


def test_conformance_of_a_game_with_named_actions():
    report = check_game(Choosing(("roll", Move(2, 3), Word.GO)))
    assert not report.compiled


def test_programs_get_and_give_the_actions_in_json():
    rules = Rules(Choosing(("roll", Move(2, 3), 7)))
    actions = ["roll", Move(2, 3), 7]
    asked = question(rules, Place(0, -1), actions)
    assert asked["actions"] == ["roll", {"row": 2, "column": 3}, 7]
    for action, written in zip(actions, asked["actions"], strict=True):
        assert action_in({"action": written}, actions) == action
    for wrong in (True, 7.5, "save", [2, 3], None):
        with pytest.raises(Fault):
            action_in({"action": wrong}, actions)
    with pytest.raises(gamedp.UnsupportedProblemError, match="cannot be told apart by a program"):
        question(rules, Place(0, -1), [Word.GO, "GO"])
    with pytest.raises(gamedp.UnsupportedProblemError, match="cannot be sent to a program"):
        question(rules, Place(0, -1), [frozenset("ab")])


@attrs.frozen
class Heap:
    left: int
    names: tuple = ("one", Move(2, 3))
    num_players = 2
    acyclic = True

    def initial_state(self):
        return Place(0, self.left)

    def is_terminal(self, state):
        return state.number == 0

    def player(self, state):
        return state.player

    def actions(self, state):
        return self.names[: state.number]

    def outcomes(self, state, action):
        yield 1.0, Place(1 - state.player, state.number - 1 - self.names.index(action))

    def payoff(self, state, player):
        return -1.0 if player == state.player else 1.0


def test_a_proof_finds_the_same_as_with_integers():
    prover = gamedp.searchers.ProofNumberSearch()
    one, other = (
        prover.search(Heap(5, names), compile="never") for names in (("one", Move(2, 3)), (0, 1))
    )
    assert one.bounds() == other.bounds()
    assert one.best_actions == tuple(("one", Move(2, 3))[place] for place in other.best_actions)
    assert one.best_actions


def test_sums_of_games_take_them():
    one, other = (
        gamedp.sums.grundy_values(gamedp.sums.Sum(Heap(4, names), Heap(2, names)))
        for names in (("one", Move(2, 3)), (0, 1))
    )
    assert one.value() == other.value() != 0
    assert {action[1] for action in one.winning_actions()} <= {"one", Move(2, 3)}
    assert len(one.winning_actions()) == len(other.winning_actions()) > 0


@pytest.mark.filterwarnings("ignore::gamedp.errors.CompilationWarning")
def test_commands_take_them(tmp_path, run, run_json, monkeypatch):
    (tmp_path / "pick.py").write_text(
        "import attrs\n"
        "from typing import NamedTuple\n"
        "class Move(NamedTuple):\n    row: int\n    column: int\n"
        "class At(NamedTuple):\n    number: int\n"
        "@attrs.frozen\n"
        "class Pick:\n"
        "    def initial_state(self):\n        return At(-1)\n"
        "    def is_terminal(self, state):\n        return state.number >= 0\n"
        "    def actions(self, state):\n        return ['roll', Move(2, 3)]\n"
        "    def outcomes(self, state, action):\n"
        "        yield 1.0, At(0 if action == 'roll' else 1)\n"
        "    def payoff(self, state, player):\n        return float(state.number)\n"
    )
    game = f"{tmp_path / 'pick.py'}:Pick"
    words = {"row": 2, "column": 3}
    assert run_json("search", game, "--exact")["best"] == [words]
    assert run_json("query", game)["best"] == [words]
    picture = tmp_path / "a.png"
    for action in ("Move(row=2, column=3)", "roll"):
        values = ("plot", game, "--kind", "values", "--output", picture, "--action")
        assert run(*values, action)[0] == 0
        assert picture.stat().st_size > 0
    code, _, problem = run(*values, "stay")
    assert code == 2
    assert "stay" in problem
    answers = iter(["Move(row=2, column=3)"])
    monkeypatch.setattr("builtins.input", lambda *_: next(answers))
    code, written, _ = run("play", game)
    assert code == 0
    assert "  Move(row=2, column=3)" in written


def test_pages_give_them_numbers():
    game = Table((((((1, 1),), 0), (((1, 1),), 0)),) * 3, ("roll", Move(2, 3)))
    with Client((listed_game("named", game),)) as client:
        answer = client.position("named")
        assert [each["action"] for each in answer["actions"]] == [0, 1]
        assert [each["name"] for each in answer["actions"]] == ["roll", "Move(row=2, column=3)"]
        line = {"start": None, "actions": [1, 0], "outcomes": [0, 0]}
        after = client.position("named", line=line)
        assert after["line"] == line
        answer = client.position("named", line=line, then={"action": 1, "outcome": 0})
        assert answer["played"]["action"] == 1
        assert answer["played"]["name"] == "Move(row=2, column=3)"
        played = client.position("named", then={"player": {"kind": "random"}, "seed": 1})["played"]
        assert played["action"] in {0, 1}
        assert client.asked("named", line=line, then={"action": 2, "outcome": 0}).status_code == 422


WORDS = ("roll", Move(0, 1))


class WordyTurn(WubbelTurn):
    def actions(self, state):
        return [WORDS[action] for action in WubbelTurn.actions(self, state)]

    def outcomes(self, state, action):
        return list(WubbelTurn.outcomes(self, state, WORDS.index(action)))


class WordyWubbel(StagedWubbel):
    def stage(self):
        return WordyTurn(self.goal)


def test_staged_games_find_the_same_as_with_integers():
    games = StagedWubbel(5), WordyWubbel(5)
    one, other = (gamedp.solve(game, compile="never") for game in games)
    assert one.value() == other.value()
    for context in (Scores(0, 2, 3), Scores(1, 1, 0)):
        for turn in (-1, 2, 4):
            best = one.best_actions(context, Roll(turn, False))
            assert other.best_actions(context, Roll(turn, False)) == [WORDS[each] for each in best]
    rolls = []
    for game, solution, word in zip(games, (one, other), (0, "roll"), strict=True):
        players = solution, lambda _, word=word: word
        rolls.append(gamedp.simulate(game, players, games=40, seed=1, compile="never"))
    assert rolls[0].outcomes == rolls[1].outcomes
    with pytest.raises(CompilationError, match="its actions are not all integers"):
        gamedp.solve(games[1], compile="always")


def test_files_of_other_tools_have_their_names(tmp_path):
    model = solved("roll", Move(2, 3), 7).model
    gamedp.write_model(tmp_path / "model.umb", model)
    again = gamedp.read_model(tmp_path / "model.umb").model
    assert set(again.action_names) >= {"roll", "Move(row=2, column=3)", "7"}
    assert gamedp.solve(again).value(0) == 2.0
    gamedp.write_model(tmp_path / "twice.umb", solved("1", 1).model)
    assert set(gamedp.read_model(tmp_path / "twice.umb").model.action_names) >= {"'1'", "1"}
