"""What the server answers is what the library says."""

import importlib.resources
import itertools
import json
import math
import re

import attrs
import numpy as np
import pytest
from quickest import noughts_and_crosses
from web_client import Client, listed_game

import gamedp
from gamedp.games.mancala import Mancala
from gamedp.games.matches import Matches, MatchesState, Nim, matches_winning
from gamedp.games.wubbel import Wubbel
from gamedp.play.advice import advise
from gamedp.policies import remoteness
from gamedp.results.search_result import SearchResult
from gamedp.runtime.options import settings_of
from gamedp.searchers.max_n import MaxNResult
from gamedp.views import to_plain
from gamedp.web import catalogue, export as web_export
from gamedp.web.catalogue import Listed, description_of, presets_of
from gamedp.web.files import files_of_pages, page_files
from gamedp.web.plugin import Page
from gamedp.web.tables import Limits, WebTables

GAMES = {
    "mancala": {"pits": 2, "stones": 2},
    "matches": {"matches": 12},
    "nim": {"heaps": [2, 3, 3]},
    "wubbel": {"goal": 9},
    "board": {},
}


class RowOfThree:
    """Two players in turn take one of five cells in a row; who gets two side by side has won."""

    num_players = 2

    def initial_state(self):
        return (0, 0, 0, 0, 0)

    def is_terminal(self, state):
        return 0 not in state or self.winner(state) != 0

    def winner(self, state):
        return next((one for one, two in itertools.pairwise(state) if one == two != 0), 0)

    def player(self, state):
        return (5 - state.count(0)) % 2

    def actions(self, state):
        return [cell for cell, owner in enumerate(state) if owner == 0]

    def outcomes(self, state, action):
        owner = 1 + self.player(state)
        yield 1.0, (*state[:action], owner, *state[action + 1 :])

    def payoff(self, state, player):
        winner = self.winner(state)
        return 0.0 if winner == 0 else 1.0 if winner == player + 1 else -1.0

    def view(self, state):
        spots = {} if self.is_terminal(state) else {cell: (0, cell) for cell in self.actions(state)}
        return gamedp.views.Grid([state], ["", "X", "O"], spots=spots)


board = listed_game("board", RowOfThree())


@pytest.fixture(scope="module")
def client():
    with Client(("mancala", "matches", "nim", "wubbel", board)) as client:
        yield client


def numbers(answer):
    return [answer[name] for name in ("number", "lower", "upper")]


def solved(game):
    return gamedp.solve(game, tolerance=1e-9)


@pytest.mark.parametrize("name", GAMES)
def test_every_number_is_the_library_s(client, name):
    parameters = GAMES[name]
    game = client.games[name].make(parameters).rules.game
    solution, rules = solved(game), gamedp.rules.Rules(game)
    rng = np.random.default_rng(1)
    line, state, seen = {"start": None, "actions": [], "outcomes": []}, rules.initial()[0][1], 0
    for _ in range(40):
        answer = client.position(name, parameters=parameters, line=line)
        assert answer["line"] == line
        assert answer["text"] == rules.render(state)
        assert answer["over"] == game.is_terminal(state)
        if answer["over"]:
            ends = [game.payoff(state, player) for player in (0, 1)]
            sums = [had + end for had, end in zip(answer["earned"], ends, strict=True)]
            assert answer["payoffs"] == sums
            assert answer["actions"] == []
            line, state = {"start": None, "actions": [], "outcomes": []}, rules.initial()[0][1]
            continue
        mover = answer["mover"]
        assert mover == rules.player(state)
        assert answer["value"]["number"] == solution.value(state, mover)
        assert tuple(numbers(answer["value"])[1:]) == solution.bounds(state, mover)
        found = solution.action_values(state, mover)
        assert [each["action"] for each in answer["actions"]] == [each.action for each in found]
        for each, known in zip(answer["actions"], found, strict=True):
            assert numbers(each) == [known.value, known.lower, known.upper]
            assert (each["best"], each["name"], each["relation"]) == (known.best, known.name, "=")
            pairs = list(game.outcomes(state, known.action))
            assert [chance["probability"] for chance in each["chance"]] == [one for one, _ in pairs]
            reward = rules.reward(state, known.action, mover)
            for chance, (_, following) in zip(each["chance"], pairs, strict=True):
                assert chance["number"] == reward + solution.value(following, mover)
            if name == "board":
                assert each["spot"] == [0, known.action]
        action = int(rng.choice([each["action"] for each in answer["actions"]]))
        pairs = list(game.outcomes(state, action))
        outcome = int(rng.integers(len(pairs)))
        line["actions"].append(action)
        line["outcomes"].append(outcome)
        state, seen = pairs[outcome][1], seen + 1
    assert seen >= 30


def test_the_list_says_what_is_known(client):
    client.position("matches", parameters={})
    listed = {each["name"]: each for each in client.get("/api/games").json()}
    assert list(listed) == ["mancala", "matches", "nim", "wubbel", "board"]
    matches = listed["matches"]
    assert (matches["kind"], matches["states"], matches["players"]) == ("table", 19, 2)
    assert matches["parameters"][0] == {
        "name": "matches",
        "kind": "int",
        "default": 18,
        "about": "How many there are at the start.",
    }
    assert listed["wubbel"]["kind"] is None
    kinds = [each["kind"] for each in listed["wubbel"]["parameters"]]
    assert kinds == ["int", "int", "ints", "bool"]
    assert not listed["wubbel"]["fixed"]


def test_games_with_a_name_are_listed_with_all_their_parameters(client):
    listed = {each["name"]: each for each in client.get("/api/games").json()}
    for name in ("mancala", "matches", "nim", "wubbel"):
        own = [each["name"] for each in listed[name]["parameters"]]
        first, *others = listed[name]["presets"]
        assert first["parameters"] == {
            each["name"]: each["default"] for each in listed[name]["parameters"]
        }
        assert others
        for preset in (first, *others):
            assert list(preset["parameters"]) == own
            rules = client.games[name].make(preset["parameters"]).rules
            assert rules.num_players == preset["players"]
            shown = json.loads(json.dumps(to_plain(rules.view(rules.initial()[0][1]))))
            assert {**shown, **preset["example"]["before"]} == shown
            assert preset["example"]["before"] != preset["example"]["after"]
    assert {each["name"] for each in listed["mancala"]["presets"]} >= {"Kalah", "Triancala"}
    assert listed["board"]["presets"] == []


@pytest.mark.slow
def test_of_three_a_search_says_null_where_it_knows_nothing():
    with Client(["mancala"], WebTables(Limits(states=100))) as client:
        check_search_of_three(client, {"players": 3, "pits": 3, "stones": 3})


def check_search_of_three(client, parameters):
    found = client.position("mancala", parameters=parameters, look={"depth": 1})
    assert (found["players"], found["basis"]["kind"], found["basis"]["why"]) == (
        *(3, "search"),
        "estimate",
    )
    assert "Infinity" not in json.dumps(found)
    for entry in found["actions"]:
        assert isinstance(entry["number"], float)
        assert entry["lower"] is entry["upper"] is entry["plies"] is None
    found = client.position("mancala", parameters=parameters, look=None)
    assert found["value"] is None
    assert {entry["number"] for entry in found["actions"]} == {None}
    then = {"player": {"kind": "solution"}, "seed": 1}
    found = client.position("mancala", parameters=parameters, then=then)
    assert found["played"]["mover"] == 0
    assert found["mover"] == 1


class Odd:
    """Names games that there are not.

    It has rules: who takes
    the last one loses.

    Parameters
    ----------
    nothing : int
    """

    num_players = 1

    @classmethod
    def presets(cls):
        return {"one": 3}


def test_what_an_author_says_wrongly_of_games_is_left_out(caplog):
    assert presets_of(Odd) == []
    assert presets_of(object) == []
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    assert description_of(Odd) == ["It has rules: who takes the last one loses."]


def test_seeds_draw_the_same_and_all_outcomes(client):
    def rolled(seed):
        then = {"action": 0, "seed": seed}
        return client.position("wubbel", parameters={"goal": 9}, then=then)

    assert rolled(5) == rolled(5)
    assert {rolled(seed)["played"]["outcome"] for seed in range(60)} == set(range(6))


def test_chance_by_hand(client):
    parameters = {"goal": 9}
    answer = client.position("wubbel", parameters=parameters, then={"action": 0, "outcome": 3})
    assert answer["played"]["outcome_name"] == "a 4"
    assert answer["line"] == {"start": None, "actions": [0], "outcomes": [3]}
    assert answer["state"] == {"player": 0, "own": 0, "opponent": 0, "turn": 4}
    then = {"player": {"kind": "solution"}, "seed": 1, "by_hand": True}
    answer = client.position("wubbel", parameters=parameters, then=then)
    assert answer["played"] is None
    assert answer["line"]["actions"] == []
    assert answer["pending"]["action"] == 0
    assert [each["name"][:3] for each in answer["pending"]["chance"]] == [
        f"a {face}" for face in range(1, 7)
    ]


@pytest.mark.parametrize(
    "player",
    [
        {"kind": "solution"},
        {"kind": "search", "depth": 12},
        {"kind": "search", "seconds": 2},
        {"kind": "mistaken", "chance": 0},
    ],
    ids=lambda player: player["kind"] + str(player.get("depth", "")),
)
def test_who_plays_well_takes_a_best_action(client, player):
    then = {"player": player, "seed": 3}
    answer = client.position("matches", parameters={"matches": 12}, then=then)
    assert answer["played"]["action"] == 3  # leaves 9, one more than a multiple of 4
    assert answer["played"]["mover"] == 0
    assert answer["mover"] == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "player",
    [{"kind": "solution"}, {"kind": "search", "depth": 9}, {"kind": "mistaken", "chance": 0}],
    ids=lambda player: player["kind"],
)
def test_the_computer_takes_a_win_that_stands_there(player):
    # X X O / O X . / O . ., X to move: c2 wins, too, but later.
    line = {"start": None, "actions": [0, 2, 1, 3, 4, 6], "outcomes": [0] * 6}
    with Client([listed_game("noughts", noughts_and_crosses())]) as client:
        answer = client.position("noughts", line=line)
        plies = {each["action"]: (each["plies"], each["ends"]) for each in answer["actions"]}
        assert plies == {5: (3.0, "win"), 7: (1.0, "win"), 8: (1.0, "win")}
        taken = {
            client.position("noughts", line=line, then={"player": player, "seed": seed})["played"][
                "action"
            ]
            for seed in range(12)
        }
    assert taken == {7, 8}


def test_who_plays_at_random_takes_any(client):
    for player in ({"kind": "random"}, {"kind": "mistaken", "chance": 1}):
        taken = {
            client.position("matches", then={"player": player, "seed": seed})["played"]["action"]
            for seed in range(40)
        }
        assert taken == {1, 2, 3}


def test_how_long_play_lasts_is_forced_without_chance_and_a_mean_with_it(client):
    answer = client.position("matches", parameters={"matches": 8})
    assert answer["basis"]["plies"] == "forced"
    assert (answer["plies"], answer["ends"]) == (4.0, "win")
    found = [(each["plies"], each["ends"]) for each in answer["actions"]]
    assert found == [(5.0, "loss"), (5.0, "loss"), (4.0, "win")]
    answer = client.position("wubbel", parameters={"goal": 9})
    length = remoteness(solved(Wubbel(goal=9)))
    assert (answer["basis"]["plies"], answer["ends"]) == ("mean", None)
    assert answer["plies"] == pytest.approx(length.plies(), abs=1e-5)
    assert {each["ends"] for each in answer["actions"]} == {None}
    with Client(["matches"], WebTables(Limits(states=3))) as searching:
        answer = searching.position("matches")
        assert (answer["basis"]["plies"], answer["plies"], answer["ends"]) == (None,) * 3
        assert {each["plies"] for each in answer["actions"]} == {None}


def test_a_game_too_large_for_a_table_is_searched():
    few = WebTables(Limits(states=10))
    with Client([listed_game("large", Matches(matches=40))], few) as client:
        answer = client.position("large", look={"depth": 3})
        assert answer["basis"]["kind"] == "search"
        assert answer["basis"]["depth"] == 3
        assert answer["basis"]["why"] == "estimate"
        assert answer["value"]["lower"] is answer["value"]["upper"] is None  # nothing is proven
        assert client.position("large", look=None)["value"] is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "game",
    [Mancala(players=3, pits=2, stones=2), Wubbel(goal=120)],
    ids=lambda game: type(game).__name__,
)
def test_what_is_too_large_is_played_against_the_computer_all_the_same(game):
    """Three players, and positions that recur: a search with a limit of time does both."""
    few = WebTables(Limits(states=10))
    actions, outcomes = [], []
    with Client([listed_game("large", game)], few) as client:
        answer = client.position("large", look={"seconds": 0.05})
        assert answer["basis"]["kind"] == "search"
        assert [each["player"] for each in answer["each"]] == list(range(game.num_players))
        for _ in range(60 if game.num_players == 3 else 8):
            numbers = [each["number"] for each in answer["each"]]
            assert all(isinstance(number, float) for number in numbers)
            player = {"kind": "search", "seconds": 0.05}
            line = {"actions": actions, "outcomes": outcomes}
            answer = client.position("large", line=line, then={"player": player, "seed": 7})
            assert answer["played"]["action"] in range(100)
            actions, outcomes = answer["line"]["actions"], answer["line"]["outcomes"]
            if answer["over"]:
                break
    if game.num_players == 3:
        assert answer["over"]
        assert sum(answer["payoffs"]) == 12


@pytest.mark.parametrize("players", [2, 3])
def test_what_a_search_cannot_tell_is_null(players, monkeypatch):
    def unsure(result, state):
        advice = advise(result, state)
        actions = [attrs.evolve(each, value=math.nan) for each in advice.actions]
        return attrs.evolve(advice, actions=tuple(actions))

    monkeypatch.setattr("gamedp.web.positions.advise", unsure)
    for kind in (SearchResult, MaxNResult):
        monkeypatch.setattr(kind, "value", lambda _result, _player=0: math.nan)
    listed = listed_game("large", Mancala(players=players))
    with Client([listed], WebTables(Limits(states=10))) as client:
        answer = client.position("large", look={"depth": 1})
    assert answer["basis"]["kind"] == "search"
    assert answer["value"]["number"] is None
    assert {each["number"] for each in answer["each"]} == {None}
    assert {(each["number"], each["loss"]) for each in answer["actions"]} == {(None, None)}


def test_bounds_of_the_second_player_are_turned_round():
    few = WebTables(Limits(states=3))
    line = {"actions": [1], "outcomes": [0]}
    with Client([listed_game("few", Matches(matches=12))], few) as client:
        answer = client.position("few", line=line, look={"depth": 12})
    assert answer["mover"] == 1
    assert answer["basis"]["why"] == "proven"
    assert numbers(answer["value"]) == [1, 1, 1]
    found = {each["action"]: each for each in answer["actions"]}
    assert numbers(found[2]) == [1, 1, 1]  # leaves 9
    assert (found[2]["relation"], found[2]["best"], found[2]["loss"]) == ("=", "certain", 0)
    for action in (1, 3):
        assert found[action]["upper"] < 1
        assert found[action]["relation"] in "=≤"
        assert (found[action]["best"], found[action]["loss"] > 0) == ("no", True)


def test_a_start_of_one_s_own(client):
    line = {"start": {"state": {"player": 1, "left": 5}}}
    answer = client.position("matches", line=line)
    assert answer["mover"] == 1
    assert answer["value"]["number"] == -1
    assert answer["line"]["start"] == line["start"]
    for state in (
        {"player": 1, "left": 500},
        {"player": 1},
        {"player": True, "left": 5},
        [1, 5],
        {"player": 1, "left": "5e9"},
        {"player": "1", "left": "-99999999999999999999"},
    ):
        asked = client.asked("matches", line={"start": {"state": state}})
        assert asked.status_code == 422, asked.text


def test_what_the_server_was_started_with_counts():
    games = Listed("short", Matches, {"matches": 5}), listed_game("own", Matches(7))
    with Client(games) as client:
        assert client.position("short")["state"]["left"] == 5
        assert client.position("short", parameters={"matches": 6})["state"]["left"] == 6
        assert client.position("own")["state"]["left"] == 7
        assert client.asked("own", parameters={"matches": 6}).status_code == 422


def test_a_game_is_made_once_for_the_same_parameters_and_few_are_kept(monkeypatch):
    """To read the class, and to check its parameters, takes longer than an answer."""
    asked = []
    monkeypatch.setattr(
        catalogue, "settings_of", lambda kind: asked.append(kind) or settings_of(kind)
    )
    monkeypatch.setattr(catalogue, "MOST_MADE", 2)
    with Client(["matches"]) as client:
        listed = client.games["matches"]
        for takes in ([1, 2], [1, 2, 3], [1, 2]):
            answer = client.position("matches", parameters={"matches": 9, "takes": takes})
            assert answer["game"]["parameters"]["takes"] == takes
        assert len(asked) == 2
        # What is equal in Python may differ in a request.
        assert client.asked("matches", parameters={"matches": 9, "misere": 1}).status_code == 422
        assert client.asked("matches", parameters={"matches": 9, "misere": True}).is_success
        assert client.asked("matches", parameters={"misere": True, "matches": 9}).is_success
        assert len(asked) == 4
        assert len(listed._made) == 2
        nested = json.loads("[" * 600 + "]" * 600)
        assert client.asked("matches", parameters={"takes": nested}).status_code == 422


def test_answers_are_plain_json(client):
    text = client.asked("nim").text
    assert json.loads(text, parse_constant=pytest.fail)


def played(client, name, seed, **parameters):
    """Play a game at random; return its line and the answer at the end."""
    line, answer = {"start": None, "actions": [], "outcomes": []}, {"over": False}
    while not answer["over"]:
        then = {"player": {"kind": "random"}, "seed": seed}
        answer = client.position(name, parameters=parameters, line=line, then=then)
        line = answer["line"]
    return line, answer


@pytest.mark.parametrize("name", GAMES)
def test_history_tells_choice_and_luck_apart(client, name):
    solution = solved(client.games[name].make(GAMES[name]).rules.game)
    line, end = played(client, name, 2, **GAMES[name])
    asked = client.asked(name, "history", parameters=GAMES[name], line=line)
    answer = asked.json()
    assert len(answer["plies"]) == len(line["actions"])
    for ply in answer["plies"]:
        assert ply["choice"] <= 0
        assert ply["before"] + ply["choice"] + ply["luck"] == pytest.approx(ply["after"], abs=1e-12)
        assert ply["mistake"] == (ply["choice"] < -1e-9)
        assert ply["values"][ply["mover"]] == pytest.approx(ply["before"], abs=1e-9)
    for one, two in zip(answer["plies"], answer["plies"][1:], strict=False):
        assert one["after"] == two["values"][one["mover"]]
    assert answer["values"] == answer["payoffs"] == end["payoffs"]
    # What a player gets is what was to be expected, with all choices and all luck.
    for player in (0, 1):
        own = answer["players"][player]
        other = answer["players"][1 - player]
        change = own["luck"] - own["cost"] - other["luck"] + other["cost"]
        assert solution.value(player=player) + change == pytest.approx(end["payoffs"][player])
    costs = [answer["plies"][ply]["choice"] for ply in answer["mistakes"]]
    assert costs == sorted(costs)
    assert len(costs) == sum(each["mistakes"] for each in answer["players"])


def test_history_without_a_table_has_no_values():
    few = WebTables(Limits(states=3))
    with Client([listed_game("large", Matches(matches=20))], few) as client:
        line = {"actions": [1, 2], "outcomes": [0, 0]}
        answer = client.asked("large", "history", line=line).json()
    assert answer["kind"] == "none"
    assert [ply["before"] for ply in answer["plies"]] == [None, None]
    assert [ply["name"] for ply in answer["plies"]]
    assert answer["values"] is None


def test_the_surface_is_that_of_the_policy(client):
    parameters = {"goal": 16, "faces": 3, "busts": [3]}
    game = client.games["wubbel"].make(parameters).rules.game
    solution = solved(game)
    query = {"x": "own", "y": "opponent", "z": "turn", "action": 1}
    query["parameters"] = json.dumps(parameters)
    client.position("wubbel", parameters=parameters)
    answer = client.get("/api/games/wubbel/surface", params=query)
    assert answer.status_code == 200
    x0, width, y0, height, z0, z1 = np.frombuffer(answer.content, "<i4", 6).tolist()
    assert (x0, width, y0, height, z0, z1) == (0, 16, 0, 16, 0, 16)
    count = width * height
    tops = np.frombuffer(answer.content, "<i2", count, 24).reshape(width, height)
    counts = np.frombuffer(answer.content, "<i2", count, 24 + 2 * count)
    reached = np.frombuffer(answer.content, "u1", count, 24 + 4 * count).reshape(width, height)
    total = int(counts.sum())
    assert len(answer.content) == 24 + 5 * count + 4 * total + 4 * len(solution.values)
    ends = np.frombuffer(answer.content, "<i2", 2 * total, 24 + 5 * count).reshape(total, 2)
    values = iter(np.frombuffer(answer.content, "<f4", -1, 24 + 5 * count + 4 * total))
    assert counts.max() == 2  # further up in a column, rolling is better again
    state, number = type(game.initial_state()), 0
    for own in range(16):
        for opponent in range(16):
            turns = [state(0, own, opponent, turn) for turn in range(16 - own)]
            saves = [each.turn for each in turns if solution.best_action(each) == 1]
            assert tops[own, opponent] == 16 - own
            for each in [*turns, state(0, own, opponent, 16 - own)]:
                assert next(values) == np.float32(solution.value(each))
            told = []
            for low, high in ends[number : number + counts[own * height + opponent]].tolist():
                told += range(low, min(high, 15 - own) + 1)
                number += 1
            assert told == saves
    assert number == total
    assert set(np.unique(reached)) == {0, 1}
    assert reached[0, 0] == 1
    listed = {each["name"]: each["surface"] for each in client.get("/api/games").json()}
    assert listed["wubbel"] == {
        "x": "own",
        "y": "opponent",
        "z": "turn",
        "action": 1,
        "name": "SAVE",
        "at": [0, 24],
    }
    assert listed["nim"] is None
    again = client.get(
        "/api/games/wubbel/surface", params=query, headers={"if-none-match": answer.headers["etag"]}
    )
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"x": "nothing"}, 422),
        ({"x": "player"}, 422),
        ({"action": "one"}, 400),
        ({"action": "1" * 400}, 400),
        ({"parameters": "[1]"}, 400),
        ({"parameters": "{"}, 400),
        ({"w": "1"}, 400),
    ],
    ids=str,
)
def test_a_surface_that_is_none(client, change, status):
    query = {"x": "own", "y": "opponent", "z": "turn", "action": "1", "parameters": '{"goal":9}'}
    client.position("wubbel", parameters={"goal": 9})
    answer = client.get("/api/games/wubbel/surface", params=query | change)
    assert answer.status_code == status


class Wide:
    """Numbers so far apart that their difference is no 64-bit number."""

    num_players = 1

    def initial_state(self):
        return (0, 0, 0)

    def is_terminal(self, state):
        return state != (0, 0, 0)

    def actions(self, state):
        return [0, 1, 2]

    def outcomes(self, state, action):
        yield 1.0, [(2**62, 2**62, 0), (-(2**62), -(2**62), 1), (1, 0, 2)][action]

    def payoff(self, state, player):
        return 0.0


def test_a_surface_of_huge_numbers_is_refused(caplog):
    with Client([listed_game("wide", Wide())]) as client:
        assert client.asked("wide").status_code == 200
        query = {"x": "[0]", "y": "[1]", "z": "[2]", "action": "1"}
        answer = client.get("/api/games/wide/surface", params=query)
    assert answer.status_code == 422
    assert answer.json()["error"] == "these fields make no surface that a page can draw."
    assert not caplog.records


class High(Wide):
    """One decision, so high up."""

    def __init__(self, height):
        self.height = height

    def initial_state(self):
        return (0, 0, self.height)

    def is_terminal(self, state):
        return state[0] == 1

    def actions(self, state):
        return [1]

    def outcomes(self, state, action):
        yield 1.0, (1, 0, 0)


def test_a_surface_is_right_as_high_as_it_goes():
    query = {"x": "[0]", "y": "[1]", "z": "[2]", "action": "1"}
    games = [listed_game(f"high-{height}", High(height)) for height in (2**15 - 1, 2**15)]
    with Client(games) as client:
        for game in games:
            assert client.asked(game.name).status_code == 200
        highest, higher = (
            client.get(f"/api/games/{game.name}/surface", params=query) for game in games
        )
    assert np.frombuffer(highest.content, "<i2")[12] == 2**15 - 1
    assert higher.status_code == 422


class ThreeTakes:
    """Three players in turn take one or two of seven; who takes the last gets 2, the next one 1."""

    num_players = 3

    def initial_state(self):
        return (0, 7)

    def is_terminal(self, state):
        return state[1] == 0

    def player(self, state):
        return state[0]

    def actions(self, state):
        return [1, 2][: state[1]]

    def outcomes(self, state, action):
        yield 1.0, ((state[0] + 1) % 3, state[1] - action)

    def payoff(self, state, player):
        return (1.0, 0.0, 2.0)[(player - state[0]) % 3]


@pytest.mark.parametrize("states", [600_000, 2], ids=["table", "search"])
def test_three_players_have_a_value_each(states):
    game = ThreeTakes()
    solution = solved(game)
    with Client([listed_game("three", game)], WebTables(Limits(states=states))) as client:
        line = {"start": None, "actions": [1], "outcomes": [0]}
        answer = client.position("three", line=line, look={"depth": 9})
        assert answer["basis"]["kind"] == ("table" if states > 2 else "search")
        assert [each["player"] for each in answer["each"]] == [1, 2, 0]
        values = [solution.value((1, 6), player) for player in (1, 2, 0)]
        assert [each["number"] for each in answer["each"]] == values
        assert answer["value"]["number"] == values[0]
        found = solution.action_values((1, 6), 1)
        assert [each["number"] for each in answer["actions"]] == [each.value for each in found]
        assert min(each["loss"] for each in answer["actions"]) == 0
        assert all(each["best"] != "no" for each in answer["actions"] if each["loss"] == 0)
        assert client.asked("three", "history", line=line).status_code == 200


def test_the_files_of_the_page_travel_packed(client):
    plain = client.get("/", headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers
    packed = client.get("/", headers={"accept-encoding": "gzip"})
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.content == plain.content == client.get("/index.html").content
    assert b'data-mode="server"' in plain.content
    again = client.get("/", headers={"if-none-match": plain.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    sizes = {path: len(file.packed) for path, file in page_files().items()}
    surface = sum(size for path, size in sizes.items() if "surface" in path)
    # Loaded when it is looked at; when somebody asks; without a server.
    later = {"static/why.js": 5_000, "static/puzzles.js": 3_500, "static/folder.js": 3_000}
    assert 0 < surface < 8_000
    assert all(0 < sizes[path] < most for path, most in later.items())
    assert sum(sizes.values()) - surface - sum(sizes[path] for path in later) < 53_000
    assert sum(sizes.values()) < 80_000


def without_comment(line):
    if line.startswith(("//", "/*")):
        return ""
    for mark in ";,{":
        head, comment, _ = line.partition(f"{mark} // ")
        line = head + mark if comment else head
    return line.partition(" /*")[0]


def test_comments_and_indentation_stay_at_home():
    """Lines keep their numbers; a text of several lines in a script would lose its indentation."""
    static = importlib.resources.files("gamedp.web").joinpath("static")
    for path, file in page_files().items():
        source = static.joinpath(path.removeprefix("static/")).read_text("utf-8")
        served = file.content.decode()
        if not path.endswith((".css", ".js")):
            assert served == source
            continue
        assert len(served) < len(source)
        for before, after in zip(source.split("\n"), served.split("\n"), strict=True):
            assert before.count("`") % 2 == 0
            expected, sent = without_comment(before.strip()), after
            if path.endswith(".css"):
                expected, sent = (re.sub("[ ;]", "", each) for each in (expected, sent))
            assert sent == expected


def test_only_files_of_the_page_are_served(client):
    for path, file in page_files().items():
        answer = client.get(f"/{path}")
        assert answer.status_code == 200
        assert answer.headers["content-type"] == file.kind
        assert answer.content == file.content
    assert client.get("/static/__init__.py").status_code == 404


def test_a_page_brings_its_own_files(tmp_path):
    (tmp_path / "parts").mkdir()
    script = b"  // kept as it is\n  x = `\n  // a text`;\n"
    (tmp_path / "own.js").write_bytes(script)
    (tmp_path / "parts" / "own.css").write_bytes(b"p { margin: 0 }")
    for hidden in ("rules.py", "{name}.js", "no type"):
        (tmp_path / hidden).write_text("hidden")
    page = Page(
        name="own",
        title="Own",
        answer=lambda *_: {},
        draw=lambda *_: "",
        static=tmp_path,
        texts=lambda language: {"about": f"in {language}"},
        icon=gamedp.views.Dice((1,)),
        presets={"Own": {}, "Other": {"rules": "other"}},
    )
    with Client(["matches"], pages=[page]) as client:
        assert set(files_of_pages([page])) == {"own/static/own.js", "own/static/parts/own.css"}
        answer = client.get("/own/static/own.js")
        assert answer.content == script
        assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")
        assert client.get("/own/static/parts/own.css").content == b"p { margin: 0 }"
        for hidden in ("rules.py", "{name}.js", "any.js", "no type", "../own.js"):
            assert client.get(f"/own/static/{hidden}").status_code == 404
        (listed,) = client.get("/api/pages").json()
        assert listed["texts"] == {"en": {"about": "in en"}, "de": {"about": "in de"}}
        assert listed["icon"]["kind"] == "dice"
        assert listed["presets"] == {"Own": {}, "Other": {"rules": "other"}}
    with pytest.raises(gamedp.errors.InvalidParameterError, match="own has no folder"):
        attrs.evolve(page, static=tmp_path / "none")


def test_who_looks_at_a_wrong_address_is_told_in_a_page(client):
    shown = client.get("/<b>", headers={"accept": "text/html,*/*"})
    assert (shown.status_code, shown.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "There is nothing at this address." in shown.text
    assert '<a href="/">All games</a>' in shown.text
    assert client.get("/<b>").json() == {"error": "there is nothing at this address."}


class Failing(Matches):
    """Says nothing of what happens, at the top of its voice."""

    def steps(self, state, action, outcome):
        message = "no words for it"
        raise ValueError(message)


def test_what_an_action_does_is_told_in_steps(client):
    line = {"actions": [2], "outcomes": [0]}
    assert client.position("matches", parameters={"matches": 12})["steps"] == []
    found = client.position("matches", parameters={"matches": 12}, line=line)
    [step] = found["steps"]
    assert step["words"] == "2 taken, 10 left"
    assert step["view"] == found["view"] | {"spots": [], "text": ""}
    with Client((listed_game("failing", Failing()),)) as other:
        assert other.position("failing", line=line)["steps"] == []


def test_a_folder_with_too_many_steps_has_none(monkeypatch):
    monkeypatch.setattr(web_export, "MOST_BYTES_OF_STEPS", 3_000)
    tables = WebTables()
    for count, has_steps in ((5, True), (18, False)):
        made = catalogue.made("matches", Matches(matches=count))
        data = web_export.table_data(made, tables.prepare(made, None))
        [chance] = data["positions"][0]["actions"][0]["chance"]
        assert ("steps" in chance) == has_steps
    tables.close()


def test_a_row_of_a_pattern_says_what_the_table_proves(client):
    found = client.position("matches", parameters={"matches": 12})["pattern"]
    assert found["here"] == 12
    assert (found["words"], found["view"]) == ("", None)
    wins = {str(left): matches_winning(left) for left in range(13)}
    assert {each["name"]: each["ends"] == "win" for each in found["row"]} == wins
    gaps = client.position("matches", parameters={"matches": 7, "takes": [2, 3]})["pattern"]["row"]
    solution = gamedp.solve(Matches(matches=7, takes=(2, 3)), compile="never")
    for each in gaps:
        left = int(each["name"])
        if left == 6:  # nobody can leave 6 of 7
            assert each["ends"] is None
        else:
            value = solution.value(MatchesState(0, left))
            assert each["ends"] == {1.0: "win", -1.0: "loss"}[value]


def test_the_nim_sum_says_what_the_table_proves(client):
    for misere in (False, True):
        game = Nim(heaps=(1, 3, 4), misere=misere)
        solution = gamedp.solve(game, compile="never")
        for index in range(solution.model.num_states):
            state = solution.model.state(index)
            if not game.is_terminal(state):
                value = {"win": 1.0, "loss": -1.0}[game.pattern(state).claim]
                assert solution.value(state) == value
        found = client.position("nim", parameters={"heaps": [1, 3, 4], "misere": misere})
        assert found["pattern"]["words"] == game.pattern(game.initial_state()).words
        assert found["pattern"]["view"]["rows"][-1][0] == "nim-sum"


class Boasting(Matches):
    """Claims that whoever is to move wins, and knows a position that there is not."""

    def pattern(self, state):
        row = [("here", state), ("beyond", state._replace(left=99))]
        return gamedp.views.Pattern("the mover always wins", claim="win", row=row)


class Even(Boasting):
    """Ends in a draw, whatever is done."""

    def payoff(self, state, player):
        return 0.0


class Lucky(Wubbel):
    """Calls it a win where the mover has a good chance."""

    def pattern(self, state):
        return gamedp.views.Pattern("you win", claim="win", row=[("here", state)])


class Raising(Matches):
    """Has a pattern that fails."""

    def pattern(self, state):
        return 1 / 0


class Silent(Matches):
    """Knows no pattern of this position."""

    def pattern(self, state):
        return None


@pytest.mark.slow
def test_only_what_is_proven_of_a_pattern_is_said():
    games = (
        listed_game("boasting", Boasting()),
        listed_game("even", Even()),
        listed_game("lucky", Lucky(goal=6)),
        listed_game("raising", Raising()),
        listed_game("silent", Silent()),
        listed_game("board", RowOfThree()),
    )
    with Client((*games, "wubbel")) as client:
        won = client.position("boasting")["pattern"]
        lost = client.position("boasting", line={"actions": [1], "outcomes": [0]})["pattern"]
        assert (won["words"], lost["words"]) == ("the mover always wins", "")
        assert won["row"] == [{"name": "here", "ends": "win"}, {"name": "beyond", "ends": None}]
        even, lucky = (client.position(name)["pattern"] for name in ("even", "lucky"))
        assert (even["words"], even["row"][0]["ends"]) == ("", "draw")
        assert (lucky["words"], lucky["row"]) == ("", [{"name": "here", "ends": None}])
        for name in ("raising", "silent", "board", "wubbel"):
            assert client.position(name)["pattern"] is None
    tables = WebTables(Limits(states=3, shapes=0))
    with Client((listed_game("boasting", Boasting()),), tables=tables) as client:
        assert client.position("boasting")["pattern"]["words"] == ""  # there is no table


class Weighted(Matches):
    """A game with an array as a parameter, and one that it does not keep."""

    def __init__(self, weights, size=3, other=None):
        super().__init__(matches=size)
        for name, value in (("weights", weights), ("size", size)):
            object.__setattr__(self, name, value)


def test_parameters_that_were_chosen_are_listed_whatever_they_are():
    facts = listed_game("own", Weighted(np.array([1, 2]), 4)).list_facts(None)
    assert facts["given"] == {"weights": "array([1, 2])", "size": 4}
    assert listed_game("own", Weighted([1, 2])).list_facts(None)["given"] == {"weights": [1, 2]}
