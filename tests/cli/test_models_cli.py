"""The command line solves a model in a file as it solves a game."""

import functools
import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import gamedp
from gamedp.cli import main

# State 0 may stay for nothing, go for 1, or gamble for 2; state 1 leads to 2 for 4; 3 is a trap.
ARRAYS = {
    "choice_offsets": [0, 3, 4, 5, 6],
    "transition_offsets": [0, 1, 2, 4, 5, 6, 7],
    "successors": [0, 1, 2, 3, 2, 2, 3],
    "probabilities": [1.0, 1.0, 0.75, 0.25, 1.0, 1.0, 1.0],
}
STEPS, COINS = [0.0, 1.0, 2.0, 4.0, 0.0, 0.0], [0.0, 0.0, 8.0, 0.0, 0.0, 0.0]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    labels = {"goal": [2], "bad luck": [3], "on the way": [0, 1]}
    model = gamedp.Model.from_arrays(**ARRAYS)
    rewards = {"steps": np.array(STEPS), "coins": np.array(COINS)}
    gamedp.write_model("model.umb", model, labels=labels, rewards=rewards)
    gamedp.write_model("one.umb", model, labels=labels, rewards={"steps": np.array(STEPS)})
    gamedp.write_model("none.umb", model, labels=labels)
    game = gamedp.Model.from_arrays(**ARRAYS, players=[1, 0, 0, 0], num_players=2)
    gamedp.write_model("game.umb", game, labels=labels)
    thirds = gamedp.Model.from_arrays([0, 1, 2], [0, 2, 3], [0, 1, 0], [1 / 3, 2 / 3, 1.0])
    gamedp.write_model("thirds.umb", thirds, rewards={"coins": np.array([0.1, 0.7])})
    text = "@type: DTMC\n@nr_states\n2\n@model\nstate 0 init\naction 0\n0 : 0.3333333333\n"
    (tmp_path / "chain.drn").write_text(f"{text}1 : 0.6666666666\nstate 1 end\naction 0\n1 : 1\n")
    (tmp_path / "walk.tra").write_text("3 4\n0 1 0.25\n0 2 0.75\n1 1 1\n2 2 1\n")
    (tmp_path / "walk.sta").write_text("(x,won)\n0:(0,false)\n1:(1,true)\n2:(-1,false)\n")
    (tmp_path / "cut.umb").write_bytes((tmp_path / "model.umb").read_bytes()[:200])
    return tmp_path


@pytest.fixture
def solve(folder, run):
    """Solve a model in the folder by the command; return its exit code and what it wrote."""
    return functools.partial(run, "solve")


@pytest.mark.parametrize(
    ("options", "value", "objective"),
    [
        (["--reach", "goal"], 1.0, {"name": "reach", "target": "goal"}),
        (["--reach", "goal", "--max"], 1.0, {"name": "reach", "target": "goal"}),
        (["--reach", "goal", "--min"], 0.0, {"name": "reach", "target": "goal", "optimum": "min"}),
        (["--reach", "bad luck"], 0.25, {"name": "reach", "target": "bad luck"}),
        (["--reach", "2,3"], 1.0, {"name": "reach", "target": "2,3"}),
        (
            ["--reach", "goal", "--allowed", "0"],
            0.75,
            {"name": "reach", "target": "goal", "allowed": "0"},
        ),
        (
            ["--reach", "goal", "--allowed", "on the way"],
            1.0,
            {"name": "reach", "target": "goal", "allowed": "on the way"},
        ),
        (
            ["--reward", "steps", "--target", "goal", "--min"],
            5.0,
            {"name": "total", "reward": "steps", "until": "goal", "optimum": "min"},
        ),
        (
            ["--reward", "steps", "--target", "2,3", "--optimum", "min"],
            2.0,
            {"name": "total", "reward": "steps", "until": "2,3", "optimum": "min"},
        ),
        (
            ["--reward", "steps", "--target", "goal"],
            "inf",
            {"name": "total", "reward": "steps", "until": "goal"},
        ),
        (["--reward", "coins"], 8.0, {"name": "total", "reward": "coins"}),
        (
            ["--reward", "steps", "--discount", "0.5"],
            3.0,
            {"name": "discounted", "reward": "steps", "discount": 0.5},
        ),
        (
            ["--reward", "steps", "--horizon", "1"],
            2.0,
            {"name": "horizon", "reward": "steps", "horizon": 1},
        ),
    ],
)
def test_what_is_asked(solve, options, value, objective):
    code, out, err = solve("model.umb", "--json", *options)
    assert (code, err) == (0, "")
    facts = json.loads(out)
    assert facts["value"] == pytest.approx(value, abs=1e-5) if value != "inf" else value
    assert facts["objective"] == {"optimum": "max"} | objective
    assert facts["model"] == "model.umb"
    assert facts["guarantee"] == "TWO_SIDED"
    assert float(facts["lower"]) <= float(facts["value"]) <= float(facts["upper"])
    assert facts["notes"] == []


@pytest.mark.parametrize(
    ("states", "value"), [("x=-1", 0.75), ("won=true", 0.25), ("x=1 & won", 0.25)]
)
def test_states_by_their_variables(solve, states, value):
    code, out, _ = solve("walk.tra", "--reach", states, "--json")
    assert (code, json.loads(out)["value"]) == (0, value)


def test_lines_for_people(solve):
    code, out, _ = solve("model.umb", "--reach", "goal", "--allowed", "0", "--tolerance", "1e-9")
    assert code == 0
    words = dict(line.split(maxsplit=1) for line in out.splitlines())
    assert words["model"].startswith("<LoadedModel model.umb: <Model 4 states")
    assert "labels 'goal', 'bad luck', 'on the way'; rewards 'steps', 'coins'" in words["model"]
    assert words["value"] == "0.75"
    assert words["objective"] == "reach, target goal, allowed 0, optimum max"
    assert "note" not in words


def test_infinite_values_are_texts(solve):
    _, out, _ = solve("one.umb", "--target", "goal")
    words = dict(line.split(maxsplit=1) for line in out.splitlines())
    assert words["value"] == "inf"
    assert words["bounds"] == "inf to inf   (0 apart)"


def test_the_only_reward_need_not_be_named(solve):
    code, out, _ = solve("one.umb", "--target", "goal", "--min", "--json")
    assert code == 0
    assert json.loads(out)["objective"]["reward"] == "steps"


def test_players(solve):
    for options, value in (([], 0.0), (["--coalition", "min"], 1.0), (["--coalition", "1"], 1.0)):
        code, out, _ = solve("game.umb", "--reach", "goal", "--json", *options)
        assert (code, json.loads(out)["value"]) == (0, value)


def test_what_was_not_quite_as_in_the_file_is_said(solve):
    code, out, _ = solve("chain.drn", "--reach", "end")
    assert code == 0
    assert "note        the probabilities of 1 of 2 choices were rounded in the file" in out
    _, out, _ = solve("chain.drn", "--reach", "end", "--json")
    (note,) = json.loads(out)["notes"]
    assert note.startswith("the probabilities of 1 of 2")


def test_a_solution_is_saved(solve, folder):
    code, out, _ = solve("model.umb", "--reach", "bad luck", "--save", "kept")
    assert code == 0
    assert "saved in    kept" in out
    assert gamedp.load(folder / "kept").value() == 0.25


def test_a_relative_tolerance(solve):
    options = ["--reach", "bad luck", "--tolerance", "1e-9", "--relative", "--json"]
    code, out, _ = solve("model.umb", *options)
    facts = json.loads(out)
    assert code == 0
    assert facts["lower"] <= 0.25 <= facts["upper"] <= facts["lower"] + 0.25 * 1e-9


@pytest.mark.parametrize("command", ["solve", "query"])
def test_a_solver_that_stops_too_early(folder, run, command):
    options = ["--solver", "value-iteration", "--option", "max_sweeps=1", "--discount", "0.99"]
    code, out, err = run(command, "one.umb", *options, "--json")
    assert code == 1
    assert json.loads(out)["status"] == "SWEEP_LIMIT"
    assert err.startswith("gamedp: ValueIteration stopped")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["model.umb", "--reach", "gaol"], "no label 'gaol'; did you mean 'goal'"),
        (["model.umb", "--reach", "4"], "there is no state 4; they are numbered 0 to 3"),
        (["model.umb", "--reach", "1" * 5000], "a number has at most 1,000 digits"),
        (["walk.tra", "--reach", "y=1"], "no variable or constant 'y'; known: won, x."),
        (["walk.tra", "--reach", "won=1"], "what '=' joins must be true or false"),
        (["walk.tra", "--reach", "x=true"], "what '=' joins must be"),
        (["walk.tra", "--reach", "x=1 & !won"], "there is no state with x=1 & !won"),
        (["model.umb"], "--reward must say which reward counts: steps, coins."),
        (["model.umb", "--reward", "step"], "no reward structure 'step'; did you mean 'steps'"),
        (["none.umb"], "has no rewards; --reach asks for a probability. Its labels: goal, bad"),
        (["one.umb", "--reach", "goal", "--target", "goal"], "cannot be combined with --target"),
        (["one.umb", "--reach", "goal", "--reward", "steps"], "cannot be combined with --reward"),
        (["one.umb", "--reach", "goal", "--horizon", "3"], "cannot be combined with objective hor"),
        (["one.umb", "--target", "goal", "--discount", "0.5"], "with the objective discounted"),
        (["one.umb", "--allowed", "goal"], "--allowed needs --reach"),
        (["one.umb", "--reach", "goal", "--min", "--max"], "--min cannot be combined with max"),
        (["one.umb", "--reach", "goal", "--min", "--optimum", "max"], "--min cannot be combined"),
        (["one.umb", "--average", "--discount", "0.5"], "cannot be combined with"),
        (["one.umb", "--set", "a=1"], "--set is for games and programs; one.umb lists"),
        (["one.umb", "--fresh"], "--fresh is for games"),
        (["one.umb", "--compile", "never"], "the options for exploring are for games and programs"),
        (["model.dat"], "the name 'model.dat' does not show the format"),
        (["nim", "--reach", "goal"], "--reach is for a model in a file"),
        (["nim", "--coalition", "max"], "--coalition is for a model in a file"),
    ],
)
def test_options_that_make_no_sense(solve, arguments, words):
    code, out, err = solve(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("gamedp: ")
    assert words in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["missing.umb", "--reach", "goal"], "No such file"),
        (["cut.umb", "--reach", "goal"], "cut.umb is not a complete tar archive"),
        (["game.umb", "--reach", "goal", "--coalition", "mix"], "no player 'mix'"),
    ],
)
def test_files_that_are_none(solve, arguments, words):
    code, out, err = solve(*arguments)
    assert (code, out) == (1, "")
    assert words in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("option", ["--min", "--max"])
def test_what_the_first_player_of_a_game_wants(solve, option):
    settings = ["--set", "matches=2", "--set", "takes=1", "--set", "misere=false"]
    code, out, _ = solve("matches", *settings, "--compile", "never", "--json", option)
    assert code == 0
    assert json.loads(out)["objective"] == {"name": "total", "optimum": option[2:]}
    assert json.loads(out)["value"] == -1.0  # there is no choice


def test_a_model_is_explained(folder, capsys):
    assert main(["explain", "model.umb", "--reach", "goal", "--min"]) == 0
    words = capsys.readouterr().out
    assert "4 states, 6 choices, 7 transitions" in words
    assert "The graph alone determines" in words


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["model.umb", "--min"], "--reward must say which reward counts"),
        (["model.umb", "--reach", "gaol"], "There is no label 'gaol'"),
        (["model.umb", "--reach", "goal", "--set", "size=3"], "model.umb lists all of its states"),
        (["matches", "--reach", "goal"], "--reach is for a model in a file"),
    ],
)
def test_what_cannot_be_explained(folder, capsys, arguments, words):
    assert main(["explain", *arguments]) == 2
    assert words in capsys.readouterr().err


# Certificates, and the two numbers that a person wants to see again


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--reach", "goal", "--allowed", "0"], "reach, target goal, allowed 1 of 4 states"),
        (["--reward", "coins"], "total, reward coins, optimum max"),
        (
            ["--reward", "steps", "--target", "goal", "--min"],
            "total, reward steps, optimum min, until goal",
        ),
    ],
)
def test_a_certificate_is_checked_against_the_file(solve, capsys, options, words):
    code, out, _ = solve("model.umb", "--certificate", "proof", *options)
    solved = dict(line.split(maxsplit=1) for line in out.splitlines())
    assert code == 0
    capsys.readouterr()
    assert main(["verify", "model.umb", "proof"]) == 0
    checked = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert words in checked["objective"]
    low, _, high = checked["start"].split()
    assert float(low) <= float(solved["value"]) <= float(high)
    assert float(high) - float(low) <= 1e-5
    assert main(["verify", "model.umb", "proof", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["verified"], facts["lower"], facts["upper"]) == (True, float(low), float(high))


def test_a_certificate_of_another_file_is_refused(solve, capsys):
    solve("model.umb", "--certificate", "proof", "--reach", "goal")
    assert main(["verify", "chain.drn", "proof"]) == 1
    assert "of another model" in capsys.readouterr().err


def test_a_solution_is_no_certificate(solve, capsys):
    solve("model.umb", "--save", "kept", "--reach", "goal")
    assert main(["verify", "model.umb", "kept"]) == 1
    assert "holds a solution, not a certificate" in capsys.readouterr().err


def test_exact_values_are_shown_as_fractions(solve):
    options = ["--reach", "bad luck", "--solver", "exact-policy-iteration"]
    code, out, _ = solve("model.umb", *options)
    assert code == 0
    assert "exactly     1/4" in out
    _, out, _ = solve("model.umb", *options, "--json")
    assert json.loads(out)["exact"] == "1/4"
    _, out, _ = solve("model.umb", "--reach", "bad luck", "--json")
    assert "exact" not in json.loads(out)


def test_exact_values_that_nobody_would_read(solve):
    options = ["--reward", "coins", "--horizon", "900", "--solver", "exact-policy-iteration"]
    code, out, _ = solve("thirds.umb", *options)
    assert code == 0
    assert "letters, which --json shows" in out
    _, out, _ = solve("thirds.umb", *options, "--json")
    exact, lower = Fraction(json.loads(out)["exact"]), json.loads(out)["lower"]
    assert Fraction(lower) <= exact


def test_what_to_do_first_is_said_by_name(solve, folder):
    loaded = gamedp.read_model(folder / "model.umb")
    _, out, _ = solve("model.umb", "--reach", "bad luck", "--json")
    assert json.loads(out)["action"] == loaded.action_name(2)  # the one that gambles
    _, out, _ = solve("chain.drn", "--reach", "end", "--json")
    assert "action" not in json.loads(out)


NAMED = """3 4 4
0 0 1 1 go
1 0 2 1 go
1 1 2 1 left
2 0 2 1
"""


@pytest.fixture
def named(tmp_path, monkeypatch, run):
    """Ask about a file with names and variables; return the exit code and what was written."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "named.tra").write_text(NAMED)
    (tmp_path / "named.lab").write_text('0="init" 1="end"\n0: 0\n2: 1\n')
    (tmp_path / "named.sta").write_text("(x,b)\n0:(3,true)\n1:(4,false)\n2:(4,true)\n")
    (tmp_path / "named.trew").write_text("3 4 2\n0 0 1 1\n1 1 2 9\n")
    return run


TOTAL = ("--target", "end")


@pytest.mark.parametrize("state", ["1", "x=4 & !b", "!b"])
def test_a_state_of_a_file_is_asked_about(named, state):
    code, out, _ = named("query", "named.tra", *TOTAL, "--state", state)
    lines = out.splitlines()
    assert code == 0
    assert lines[0].startswith("model       <LoadedModel named.tra")
    assert "state       1   x=4, b=false" in lines
    assert "actions       go    0.0   (0.0 to 0.0)" in lines
    assert "            * left  9.0   (9.0 to 9.0)" in lines
    assert "best        left" in lines
    assert "objective   total, reward reward, until end, optimum max" in lines
    _, out, _ = named("query", "named.tra", *TOTAL, "--state", state, "--json")
    facts = json.loads(out)
    assert (facts["model"], facts["state"], facts["value"]) == ("named.tra", 1, 9.0)
    assert facts["variables"] == {"x": 4, "b": False}
    assert [action["name"] for action in facts["actions"]] == ["go", "left"]
    assert (facts["best"], facts["best_names"]) == ([1], ["left"])
    assert facts["objective"]["until"] == "end"


def test_the_start_and_a_nameless_action(named):
    _, out, _ = named("query", "named.tra", "--reach", "end")
    assert "state       0   x=3, b=true" in out
    assert "best        go" in out
    _, out, _ = named("query", "named.tra", "--reach", "1", "--state", "2")
    assert "best        2" in out


def test_a_kept_solution_keeps_names_and_variables(named):
    named("solve", "named.tra", *TOTAL, "--save", "kept", "--csv", "table.csv")
    _, out, _ = named("query", "kept", "--state", "x=4 & !b")
    assert "state       1   x=4, b=false" in out
    assert "* left  9.0" in out
    lines = Path("table.csv").read_text().splitlines()
    assert lines[0] == "state,x,b,value,lower,upper,action,action_name"
    assert lines[2] == "1,4,False,9.0,9.0,9.0,1,left"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["named.tra", *TOTAL, "--state", "7"], "there is no state 7"),
        (["named.tra", *TOTAL, "--state", "y=1"], "no variable or constant 'y'"),
        (["named.tra", *TOTAL, "--state", "x=5"], "there is no state with x=5"),
        (["named.tra", *TOTAL, "--state", "x=true"], "what '=' joins must be"),
        (
            ["named.tra", *TOTAL, "--state", "x=4"],
            "there are 2 states with x=4, such as 1 (x=4, b=false) and 2 (x=4, b=true)",
        ),
        (["named.tra", *TOTAL, "--set", "a=1"], "--set is for games and programs; named.tra lists"),
        (["named.tra", *TOTAL, "--fresh"], "--fresh is for games"),
        (["named.tra", *TOTAL, "--game", "wubbel"], "--game is for the folder of a saved solution"),
        (["named.tra", *TOTAL, "--inside", "1"], "--inside is for staged games"),
        (["named.tra", *TOTAL, "--max-states", "3"], "named.tra lists its states"),
        (["none.tra"], "none.tra"),
        (["matches", *TOTAL], "--target is for a model in a file, not for a game"),
    ],
)
def test_questions_about_a_file_that_make_no_sense(named, arguments, words):
    code, _, err = named("query", *arguments)
    assert code != 0
    assert words in err


@pytest.mark.parametrize(
    ("arguments", "needless"),
    [
        (
            ["solve", "chain.drn", "--reach", "end"],
            {"gamedp.storage", "gamedp.certificates", "gamedp.stages.compile"}
            | {"gamedp.compiler.methods", "scipy.optimize", "scipy.sparse"},
        ),
        (["--version"], {"numba", "scipy", "rich.markdown", "gamedp.storage"}),
    ],
)
def test_a_start_imports_only_what_it_needs(folder, arguments, needless):
    code = (
        "import sys; from gamedp.cli import main; assert main(sys.argv[1:]) == 0; "
        f"sys.exit(' '.join({needless} & set(sys.modules)) or 0)"
    )
    started = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert started.returncode == 0, started.stderr


# Formulas


@pytest.mark.parametrize(
    ("formula", "low", "high"),
    [
        ('Pmax=? [F "end"]', 1.0, 1.0),
        ("Pmin=? [F x=4 & !b]", 1.0, 1.0),
        ("Pmin=? [G !b]", 0.0, 0.0),
        ('R{"reward"}max=? [F "end"]', 10.0, 10.0),
        ("filter(count, b)", 2.0, 2.0),
    ],
)
def test_a_formula_is_answered(named, formula, low, high):
    code, out, _ = named("solve", "named.tra", "--property", formula, "--json")
    facts = json.loads(out)
    assert code == 0
    assert (facts["model"], facts["formula"], facts["holds"]) == ("named.tra", formula, None)
    assert (facts["lower"], facts["upper"]) == (pytest.approx(low), pytest.approx(high))
    assert facts["lower"] <= facts["value"] <= facts["upper"]
    code, out, _ = named("solve", "named.tra", "--property", formula)
    assert code == 0
    assert f"formula     {formula}" in out.splitlines()


def test_facts_have_the_same_names_however_they_are_asked_for(named):
    formula = 'Pmax=? [F "end"]'
    by_formula = json.loads(named("solve", "named.tra", "--property", formula, "--json")[1])
    by_option = json.loads(named("solve", "named.tra", "--reach", "end", "--json")[1])
    assert by_option.keys() - by_formula.keys() <= {"objective", "action"}
    assert by_formula.keys() - by_option.keys() == {"formula", "holds"}
    assert by_formula["value"] == by_option["value"]
    asked = json.loads(named("query", "named.tra", "--property", formula, "--json")[1])
    assert (asked["model"], asked["formula"]) == ("named.tra", formula)
    assert "parameters" not in asked
    assert asked["notes"] == by_formula["notes"]
    words = named("query", "named.tra", "--property", formula)[1]
    assert f"formula     {formula}" in words.splitlines()
    holds = json.loads(named("solve", "named.tra", "--property", "P>0 [F x=4]", "--json")[1])
    assert (holds["holds"], holds["value"]) == ("yes", None)


@pytest.mark.parametrize(
    "formula", ['Pmin=? [F "end"]', "Pmax=? [F<=3 x=4]", 'R{"reward"}max=? [F "end"]']
)
def test_the_proof_of_a_formula_is_checked_against_the_file(named, formula):
    code, out, _ = named("solve", "named.tra", "--property", formula, "--certificate", "proof")
    assert code == 0
    assert "note " not in out
    code, out, _ = named("verify", "named.tra", "proof", "--json")
    assert code == 0
    assert json.loads(out)["verified"]


def test_where_a_model_is_made_for_a_formula_its_proof_says_how_it_is_checked(named):
    asked = ("solve", "named.tra", "--property", "Pmax=? [F (b & (X x=4))]")
    code, out, _ = named(*asked, "--certificate", "proof")
    assert code == 0
    assert "--save FOLDER keeps it. Check it with gamedp verify FOLDER proof." in out
    code, _, err = named("verify", "named.tra", "proof")
    assert code == 1
    assert "of another model" in err
    code, out, _ = named(*asked, "--certificate", "again", "--save", "kept")
    assert "Check it with gamedp verify kept again." in out
    code, out, _ = named("verify", "kept", "again", "--json")
    assert code == 0
    assert json.loads(out)["verified"]


@pytest.mark.parametrize(
    ("formula", "holds"),
    [
        ("P>=1 [F b & x=4]", "yes"),
        ('R{"reward"}>1 [F "end"]', "no"),
        ("x=3 & P>=1 [X x=4]", "yes"),
    ],
)
def test_whether_a_bound_holds(named, formula, holds):
    code, out, _ = named("solve", "named.tra", "--property", formula, "--csv", "holds.csv")
    assert code == 0
    assert f"holds       {holds}" in out.splitlines()
    lines = Path("holds.csv").read_text().splitlines()
    assert lines[0].startswith("state,x,b,lower,upper,holds")
    assert lines[1].startswith(f"0,3,True,{float(holds == 'yes')},")


def test_several_initial_states_have_a_range(named):
    Path("named.lab").write_text('0="init" 1="end"\n0: 0\n1: 0\n2: 1\n')
    code, out, _ = named("solve", "named.tra", "--property", 'Rmin=? [F "end"]')
    assert code == 0
    assert "values      0.0 to 1.0, in 2 initial states" in out


def test_the_actions_of_a_state_by_a_formula(named):
    Path("named.props").write_text("const int k; P>=0 [ F<=k b ]", encoding="utf-8")
    given = ("--properties", "named.props", "--set", "k=2", "--property", "1")
    code, out, _ = named("solve", "named.tra", *given)
    assert (code, "yes" in out) == (0, True)
    code, out, _ = named("query", "named.tra", "--property", 'Rmax=? [F "end"]', "--state", "!b")
    assert code == 0
    assert "            * left  9.0   (9.0 to 9.0)" in out.splitlines()
    code, _, err = named("query", "named.tra", "--property", "Pmax=? [G b]")
    assert code != 0
    assert "by way of another question" in err


@pytest.mark.parametrize("command", ["play", "simulate", "perft"])
def test_a_command_for_games_says_so_of_a_file(named, command):
    given = {"simulate": ["--players", "uniform"], "perft": ["--depth", "1"]}.get(command, [])
    code, _, err = named(command, "named.tra", *given)
    assert code == 2
    assert "named.tra is a model in a file, and this is for games" in err


def test_a_file_of_properties_without_a_property_lists_them(named, tmp_path):
    (tmp_path / "more.props").write_text('"sure": P=? [F "end"];\n')
    given = ("named.tra", "--properties", str(tmp_path / "more.props"))
    code, _, err = named("solve", *given)
    assert code == 2
    assert "--properties needs --property, which says which one is meant: sure." in err
    code, out, _ = named("explain", *given)
    assert code == 0
    assert 'sure: P=? [F "end"]' in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--property", "Pmax=? [F x=]"], "line 1, column 13: ']' stands where an expression"),
        (["--property", 'Pmax=? [F "ned"]'], "There is no label 'ned'; did you mean 'end'?"),
        (["--property", "Pmax=? [F x==2]"], "equal is asked by a single =."),
        (["--property", "x", "--reach", "end"], "--reach cannot be combined with --property"),
        (["--property", "x", "--min"], "--min cannot be combined with it"),
        (["--property", "x", "--save", "kept"], "there is none to keep"),
    ],
)
def test_formulas_that_make_no_sense(named, arguments, words):
    code, out, err = named("solve", "named.tra", *arguments)
    assert (code, out) == (2, "")
    assert words in err


def test_a_formula_with_another_command_is_refused(named):
    code, _, err = named("explain", "named.tra", "--property", "x")
    assert code == 2
    assert "--property is for `gamedp solve` and `gamedp query`" in err


def test_what_is_in_a_file(named):
    code, out, _ = named("explain", "named.tra")
    lines = out.splitlines()
    assert code == 0
    assert "size        3 states, 4 choices, 4 transitions" in lines
    assert 'labels      "end" (1 state)' in lines
    assert "variables   x (3 to 4), b (true or false)" in lines
    asks = [line.partition("--property ")[2].strip("'") for line in lines if "--property" in line]
    assert len(asks) >= 4
    for formula in asks:
        assert named("solve", "named.tra", "--property", formula)[0] == 0, formula
    facts = json.loads(named("explain", "named.tra", "--json")[1])
    assert (facts["labels"], facts["rewards"]) == ({"end": 1}, ["reward"])
    assert facts["variables"] == {"x": [3, 4], "b": [False, True]}


def test_a_program_takes_constants_and_limits(named):
    Path("walk.prism").write_text(WALK)
    question = ["walk.prism", "--property", "P=? [F x=n]", "--set", "n=4"]
    code, out, _ = named("solve", *question, "--json")
    assert code == 0
    assert json.loads(out)["lower"] == pytest.approx(1 / 15)
    code, out, _ = named("explain", "walk.prism", "--set", "n=4,p=1/2", "--json")
    assert json.loads(out)["constants"] == {"n": "4", "p": "1/2"}
    code, out, _ = named("query", "walk.prism", "--set", "n=4", "--reach", "x=n", "--state", "x=2")
    assert code == 0
    assert "0.2" in out
    refused = {
        (): "line 2, column 11: the constant n has no value.",
        ("--set", "m=4"): "There is no constant 'm'; known: n, p.",
        ("--set", "n=9999", "--max-states", "100"): "exploration stopped at --max-states 100",
        ("--set", "n=4", "--compile", "never"): "--compile is for games",
        ("--set", "n=4", "--fresh"): "--fresh is for games",
    }
    for options, words in refused.items():
        code, _, err = named("solve", "walk.prism", "--reach", "x=4", *options)
        assert code != 0, options
        assert words in err


def test_programs_are_compared_with_their_constants(named):
    Path("walk.prism").write_text(WALK)
    code, out, _ = named(
        *("compare", "walk.prism?n=4&reach=x=n", "--solvers", "value-iteration", "--json")
    )
    assert code == 0
    assert json.loads(out)["rows"][0]["lower"] == pytest.approx(1 / 15)


WALK = """dtmc
const int n; const double p = 1/3;
module walk
    x : [0..n] init 1;
    [] x > 0 & x < n -> p : (x' = x + 1) + 1-p : (x' = x - 1);
endmodule
"""


def test_a_formula_about_a_game(named):
    Path("coin.py").write_text(COIN)
    code, out, _ = named(
        "solve", "coin.py:Coin", "--property", "P>=0.5 [F heads=1]", "--compile", "never"
    )
    assert code == 0
    assert "holds       yes" in out.splitlines()


COIN = """
from typing import NamedTuple


class Toss(NamedTuple):
    thrown: bool
    heads: int


class Coin:
    def initial_state(self):
        return Toss(False, 0)

    def is_terminal(self, state):
        return state.thrown

    def actions(self, state):
        return [0]

    def outcomes(self, state, action):
        return [(0.5, Toss(True, 0)), (0.5, Toss(True, 1))]

    def payoff(self, state, player):
        return 0.0
"""
