"""Policies as text: what is read back is what was known."""

import csv
import json
import re

import numpy as np
import pytest
from staged_games import StagedWubbel

import gamedp
from gamedp.errors import InvalidParameterError, UnsupportedProblemError
from gamedp.games.kniffel import Kniffel
from gamedp.games.matches import Matches, MatchesState
from gamedp.games.wubbel import Wubbel
from gamedp.policies import arrays
from gamedp.storage import texts

TAKEN = "style=bold"


def model_with_names(**more):
    """Two states with names: stay or leave, and chance between; then one that is the end."""
    return gamedp.Model.from_arrays(
        [0, 2, 3, 3],
        [0, 1, 3, 4],
        [0, 0, 1, 2],
        [1.0, 0.25, 0.75, 1.0],
        rewards=[0.0, 2.0, 0.0],
        payoffs=[1.0],
        action_names=["stay", 'say "go"\\now'],
        action_labels=[0, 1, 1],
        variables={"x": np.array([4, 5, 6])},
        **more,
    )


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def solution():
    return gamedp.solve(Matches(matches=9), compile="never")


def test_a_table_names_states_and_actions(solution, tmp_path):
    path = tmp_path / "policy.csv"
    gamedp.write_policy(path, solution)
    rows = rows_of(path)
    assert len(rows) == int((solution.policy >= 0).sum())
    for row in rows:
        state = MatchesState(int(row["player"]), int(row["left"]))
        action = int(row["action"])
        assert row["mover"] == row["player"]
        assert action == solution.best_action(state)
        assert row["action_name"] == solution.model.action_name(action, state)
        assert row["probability"] == "1.0"


def test_json_has_the_same_rows(solution, tmp_path, monkeypatch):
    gamedp.write_policy(tmp_path / "policy.csv", solution)
    monkeypatch.setattr(texts, "LINES", 3)  # more than are written at once
    gamedp.write_policy(tmp_path / "policy.JSON", solution)
    found = json.loads((tmp_path / "policy.JSON").read_text(), parse_constant=pytest.fail)
    assert [{key: str(value) for key, value in row.items()} for row in found] == rows_of(
        tmp_path / "policy.csv"
    )


def test_a_mixed_policy_keeps_its_probabilities(solution, tmp_path):
    mixed = gamedp.Policy.from_function(
        solution.model, lambda state: {1: 1 / 3, 2: 2 / 3} if state.left > 1 else 1
    )
    path = tmp_path / "policy.json"
    gamedp.write_policy(path, mixed)
    for row in json.loads(path.read_text()):
        state = MatchesState(row["player"], row["left"])
        assert mixed.actions(state)[row["action"]] == row["probability"]
    written = sum(row["probability"] for row in json.loads(path.read_text()))
    assert written == pytest.approx(solution.model.num_states - 1)


def test_where_a_policy_says_nothing_nothing_is_invented(tmp_path):
    model = model_with_names()
    policy = gamedp.Policy(model, [0.0, 0.0, 1.0])
    path = tmp_path / "policy.json"
    gamedp.write_policy(path, policy)
    nothing, goes = json.loads(path.read_text())
    assert nothing == dict.fromkeys(["action", "action_name", "probability"]) | {"state": 0, "x": 4}
    assert (goes["state"], goes["x"], goes["action_name"]) == (1, 5, 'say "go"\\now')
    gamedp.write_policy(tmp_path / "policy.csv", policy)
    assert rows_of(tmp_path / "policy.csv")[0]["action"] == ""


def test_each_number_of_steps_has_its_own_policy(tmp_path):
    model = gamedp.Model.from_arrays(
        [0, 2, 3, 3], [0, 1, 2, 3], [0, 1, 2], [1.0] * 3, rewards=[1, 0, 3], terminals=[2]
    )
    solution = gamedp.solve(model, gamedp.FiniteHorizon(3))
    path = tmp_path / "policy.json"
    gamedp.write_policy(path, solution)
    rows = json.loads(path.read_text())
    assert [row["steps_left"] for row in rows] == [3, 3, 2, 2, 1, 1]
    for row in rows:
        after = solution.steps_left(row["steps_left"])
        assert row["action"] == after.best_action(row["state"])
    assert len({row["action"] for row in rows if row["state"] == 0}) == 2


@pytest.mark.slow
@pytest.mark.parametrize("game", [Kniffel(dice=1, faces=2, throws=1, threshold=3), StagedWubbel(4)])
def test_a_staged_game_has_the_stage_of_each_context(game, tmp_path):
    solution = gamedp.solve(game, compile="never")
    path = tmp_path / "policy.json"
    gamedp.write_policy(path, solution)
    rows = json.loads(path.read_text())
    model, met = solution.model, set()
    for row in rows:
        inside = {name[7:]: row[name] for name in row if name.startswith("inside_")}
        given = model.layout.names()
        context = model.layout.build(iter([row.get(f"state_{name}", row[name]) for name in given]))
        part = solution.inside(context)
        state = part.model.states.layout.build(iter(inside.values()))
        assert row["action"] == part.best_action(state)
        if model.num_players == 2:
            assert row["mover"] == part.model.players[part.model.index(state)[0]]
        else:
            assert "mover" not in row
        met.add((context, state))
    assert len(met) == len(rows) > 0


def test_a_staged_game_of_too_many_positions_is_refused(tmp_path, monkeypatch):
    solution = gamedp.solve(Kniffel(dice=1, faces=2, throws=1, threshold=3), compile="never")
    monkeypatch.setattr(arrays, "MAX_ROWS", 10)
    with pytest.raises(UnsupportedProblemError, match="10 are the most"):
        gamedp.write_policy(tmp_path / "policy.csv", solution)
    assert not list(tmp_path.iterdir())


def test_a_graph_has_all_choices_and_marks_what_is_taken(tmp_path):
    solution = gamedp.solve(model_with_names(), gamedp.Discounted(0.5))
    path = tmp_path / "model.dot"
    gamedp.write_policy(path, solution)
    text = path.read_text()
    assert text.count("{") == text.count("}") == 1
    assert 's0 [label="x=4", shape=box, peripheries=2];' in text
    assert 's2 [label="x=6\\n1.0", shape=note];' in text
    stay = next(line for line in text.splitlines() if "stay" in line)
    go = next(line for line in text.splitlines() if "s0 -> c1" in line)
    assert TAKEN not in stay
    assert TAKEN in go
    assert 'label="say \\"go\\"\\\\now\\nearns 2.0"' in go
    assert re.findall(r'c1 -> s\d \[label="(.*?)"', text) == ["1/4", "3/4"]


def test_a_graph_shows_chance_of_a_policy_and_places_that_change(tmp_path):
    model = gamedp.compile(Wubbel(goal=3, faces=2, busts=(2,)), compile="never")
    gamedp.write_policy(tmp_path / "model.dot", gamedp.Policy.uniform(model))
    text = (tmp_path / "model.dot").read_text()
    assert "ROLL, taken with 1/2" in text
    swaps = int((model.probabilities < 0).sum())
    assert text.count("places change") == swaps > 0


def test_payoffs_of_three_players_stand_in_a_graph(tmp_path):
    from search_games import Crowd

    solution = gamedp.solve(Crowd(seed=1), compile="never")
    gamedp.write_policy(tmp_path / "model.dot", solution)
    text = (tmp_path / "model.dot").read_text()
    first = ", ".join(map(str, solution.model.payoffs[0].tolist()))
    assert f'\\n{first}"' in text


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("policy", "solution", "let it end in .csv, .json, .dot"),
        ("policy.csv", "neither", "is neither a solution nor a policy"),
    ],
)
def test_what_cannot_be_written_is_said(solution, name, given, words, tmp_path):
    thing = solution if given == "solution" else solution.model
    with pytest.raises(InvalidParameterError, match=words):
        gamedp.write_policy(tmp_path / name, thing)


def test_what_no_graph_shows_is_refused(tmp_path):
    path = tmp_path / "model.dot"
    large = gamedp.solve(Matches(matches=1001), compile="never")
    with pytest.raises(UnsupportedProblemError, match=r"write the policy as \.csv or \.json"):
        gamedp.write_policy(path, large)
    with pytest.raises(UnsupportedProblemError, match="no single graph"):
        gamedp.write_policy(path, gamedp.solve(StagedWubbel(4), compile="never"))
    steps = gamedp.solve(Matches(), gamedp.FiniteHorizon(2), compile="never")
    with pytest.raises(UnsupportedProblemError, match="steps that are left"):
        gamedp.write_policy(path, steps)
    assert not list(tmp_path.iterdir())
