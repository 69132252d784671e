"""The command line: what it prints, its exit codes, and that it starts fast."""

import csv
import errno
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
import types
import warnings
from importlib.metadata import EntryPoint, entry_points, version
from pathlib import Path
from typing import Any, Literal, NamedTuple

import attrs
import pytest
from staged_games import Date, Journey, Roll, Scores, StagedWubbel, Walk
from waiting import PATIENCE, output_after_interrupt

import gamedp
from gamedp import __main__, cli
from gamedp.cli import COMMANDS, lists, report
from gamedp.cli.games import is_model_file
from gamedp.cli.texts import assignments, kind_of, make, notation, read, written
from gamedp.games.kniffel import ENTERING, Kniffel, Sheet, Turn
from gamedp.games.mancala import Mancala
from gamedp.games.matches import Matches, MatchesState, nim_winning, nim_winning_moves
from gamedp.games.wubbel import State, Wubbel
from gamedp.runtime import limit, registry
from gamedp.runtime.options import settings_of
from gamedp.storage import texts

BASH = shutil.which("bash")

FULL = Path("/dev/full")

SOLVE_KEYS = [
    "game", "parameters", "objective", "solver", "status", "guarantee", "value", "lower", "upper",
    "states", "choices", "transitions", "sweeps", "seconds", "bytes",
]  # fmt: skip

RULES = '''
from typing import NamedTuple


class Coin(NamedTuple):
    flips: int
    heads: int


class Flips:
    """Flip a coin, and stop when you like: a point for each head, unless tails come first.

    This line is not the first.
    """

    def __init__(self, most: int, prize: float = 1.0):
        if most < 0:
            raise ValueError("most must not be negative")
        self.most = most
        self.prize = prize

    def initial_state(self):
        return [(0.5, Coin(0, 0)), (0.5, Coin(0, 1))]

    def is_terminal(self, state):
        return state.flips > self.most

    def actions(self, state):
        return [0, 1]

    def outcomes(self, state, action):
        if action == 0 or state.flips == self.most:
            return [(1.0, Coin(self.most + 1, state.heads))]
        further = state.flips + 1
        return [(0.5, Coin(further, state.heads + 1)), (0.5, Coin(self.most + 1, 0))]

    def payoff(self, state, player):
        return self.prize * state.heads


class Words:
    num_players = 3

    def initial_state(self):
        return "ab"

    def is_terminal(self, state):
        return len(state) == 4

    def player(self, state):
        return len(state) - 2

    def actions(self, state):
        return [0, 1]

    def outcomes(self, state, action):
        return [(1.0, state + "ab"[action])]

    def payoff(self, state, player):
        return float(state.count("abx"[player]))


class Forever:
    def initial_state(self):
        return (0, (1, 2))

    def is_terminal(self, state):
        return state[0] == 1

    def actions(self, state):
        return [0, 1]

    def outcomes(self, state, action):
        return [(1.0, (action, state[1]))]

    def payoff(self, state, player):
        return -1.0


class Slow:
    def initial_state(self):
        return 0

    def is_terminal(self, state):
        return False

    def actions(self, state):
        return [0]

    def outcomes(self, state, action):
        if state == 100:
            open("started", "w").close()
        return [(1.0, state + 1)]

    def payoff(self, state, player):
        return 0.0


class Earning(Forever):
    def reward(self, state, action, player):
        return 1.0


class Broken(Forever):
    def initial_state(self):
        return []


class NoGame:
    pass
'''


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Stand in an empty folder with a file of rules; forget afterwards what was imported."""
    (tmp_path / "own_rules.py").write_text(RULES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path.copy())
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def command(*arguments):
    return [sys.executable, "-c", "import sys, gamedp.cli; sys.exit(gamedp.cli.main())", *arguments]


class TestSolve:
    def test_prints_everything(self, run):
        code, out, err = run("solve", "matches", "--set", "matches=18", "--compile", "never")
        assert (code, err) == (0, "")
        words = dict(line.split(maxsplit=1) for line in out.splitlines())
        assert list(words) == [
            "game", "value", "bounds", "guarantee", "status", "objective", "solver", "size", "work",
            "time", "memory",
        ]  # fmt: skip
        assert words["game"] == "Matches(matches=18, takes=(1, 2, 3), misere=True)"
        assert words["value"] == "1.0   for the first player"
        assert words["bounds"] == "1.0 to 1.0   (0 apart)"
        assert words["guarantee"] == gamedp.Guarantee.TWO_SIDED.value
        assert words["status"] == gamedp.Status.SOLVED.value
        assert words["size"] == "19 states, 51 choices, 51 transitions"
        for phase in ("compile", "explore", "solve"):
            assert phase in words["time"]

    def test_json(self, run_json):
        facts = run_json("solve", "wubbel", "--set", "goal=10,busts=1,6")
        solution = gamedp.solve(Wubbel(goal=10, busts=(1, 6)))
        assert list(facts) == SOLVE_KEYS
        assert facts["game"] == "wubbel"
        assert facts["parameters"] == {"goal": 10, "faces": 6, "busts": [1, 6], "grace": False}
        assert facts["objective"] == {"name": "total", "optimum": "max"}
        assert facts["solver"]["name"] == "topological-value-iteration"
        assert facts["solver"]["max_seconds"] == "inf"
        assert (facts["status"], facts["guarantee"]) == ("SOLVED", "TWO_SIDED")
        assert facts["value"] == solution.value()
        assert (facts["lower"], facts["upper"]) == solution.bounds()
        for name in ("states", "choices", "transitions", "sweeps", "bytes"):
            assert facts[name] == getattr(solution.statistics, name)
        assert sorted(facts["seconds"]) == ["compile", "explore", "solve"]

    def test_bounds_that_are_infinite_are_texts(self, run_json, folder):
        options = ("--compile", "never", "--solver", "topological-value-iteration")
        facts = run_json("solve", "own_rules.py:Earning", *options)
        assert (facts["guarantee"], facts["status"]) == ("TWO_SIDED", "SOLVED")
        assert (facts["lower"], facts["upper"]) == ("inf", "inf")

    @pytest.mark.parametrize(
        ("options", "objective", "value"),
        [
            ([], {"name": "total"}, -1.0),
            (["--optimum", "min"], {"name": "total", "optimum": "min"}, -1.0),
            (["--discount", "0.5"], {"name": "discounted", "discount": 0.5}, -0.25),
            (["--objective=horizon", "--horizon=1"], {"name": "horizon", "horizon": 1}, 0.0),
        ],
    )
    def test_objectives(self, run_json, options, objective, value):
        # Two matches, taken one by one: the second player takes the last one and wins.
        settings = ["--set", "matches=2", "--set", "takes=1", "--set", "misere=false"]
        facts = run_json("solve", "matches", *settings, "--compile=never", *options)
        assert facts["objective"] == {"optimum": "max"} | objective
        assert facts["value"] == value

    def test_solver_and_its_options(self, run_json):
        arguments = ["--solver", "value-iteration", "--option", "sweep=jacobi", "--tolerance=1e-9"]
        facts = run_json("solve", "wubbel", "--set", "goal=5", *arguments)
        assert facts["solver"]["name"] == "value-iteration"
        assert facts["solver"]["sweep"] == "jacobi"
        assert facts["upper"] - facts["lower"] <= 1e-9

    def test_not_solved_prints_what_is_known_and_fails(self, run):
        solver = ["--solver", "value-iteration", "--option", "max_sweeps=1"]
        code, out, err = run("solve", "wubbel", "--set", "goal=10", *solver, "--json")
        facts = json.loads(out)
        assert code == 1
        assert facts["status"] == "SWEEP_LIMIT"
        assert facts["lower"] <= 0.657967 <= facts["upper"]
        assert err.startswith("gamedp: ValueIteration stopped")

    def test_says_where_it_is_saved(self, run, folder):
        out = run("solve", "own_rules.py:Flips", "--set=most=1", "--save=kept", "--compile=never")[
            1
        ]
        assert out.startswith("game        Flips(most=1, prize=1.0)\n")
        assert out.endswith("saved in    kept\n")

    @pytest.mark.parametrize("option", ["--save", "--certificate"])
    def test_a_file_is_no_folder_and_that_is_said_at_once(self, run, folder, monkeypatch, option):
        monkeypatch.delattr(gamedp, "solve")
        code, out, err = run("solve", "nim", option, "own_rules.py")
        assert (code, out) == (2, "")
        assert err == (
            f"gamedp: own_rules.py is a file; {option} takes a folder: name one that is new.\n"
        )

    def test_own_games(self, run_json, folder):
        by_file = run_json(
            "solve", str(folder / "own_rules.py:Flips"), "--set", "most=3", "--compile", "never"
        )
        by_module = run_json(
            "solve", "own_rules:Flips", "--set", "most=3,prize=2", "--compile=never"
        )
        assert by_file["parameters"] == {"most": 3, "prize": 1.0}
        assert by_module["value"] == 2 * by_file["value"]

    @pytest.mark.usefixtures("compile_at_once")
    def test_rules_that_do_not_compile_are_named_once(self, run, folder):
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            code, out, err = run("solve", "own_rules.py:Words")
        assert code == 0
        assert err.startswith("gamedp: warning: the rules of Words run as plain Python")
        assert err.count("\n") == 1
        assert out.count("value ") == 3  # one for each player


class TestExplainInJson:
    def test_a_game(self, run, run_json):
        arguments = ("explain", "matches", "--compile", "never")
        facts = run_json(*arguments)
        model = gamedp.compile(Matches(), compile="never")
        assert facts["states"] == model.num_states
        assert (facts["choices"], facts["transitions"]) == (
            model.num_choices,
            model.num_transitions,
        )
        assert facts["solver"] == "BackwardInduction"
        assert "\n".join(facts["lines"]) + "\n" == run(*arguments)[1]

    def test_a_staged_game_and_a_saved_solution(self, run_json, tmp_path):
        small = ("kniffel", "--set", "dice=1,faces=2,throws=1,threshold=3", "--compile", "never")
        facts = run_json("explain", *small)
        assert (facts["solver"], facts["contexts"] > facts["states"]) == ("StageInduction", True)
        gamedp.save(gamedp.solve(Matches(6), compile="never"), tmp_path / "kept")
        assert run_json("explain", tmp_path / "kept")["states"] == 7


class TestCsv:
    command = ("solve", "matches", "--set", "matches=5", "--compile", "never")

    def test_all_states(self, run, tmp_path):
        path = tmp_path / "table.csv"
        code, out, err = run(*self.command, "--csv", str(path))
        assert (code, err) == (0, "")
        assert f"table in    {path}, 6 lines under a line of names\n" in out
        solution = gamedp.solve(Matches(matches=5), compile="never")
        with path.open(newline="") as file:
            head, *rows = csv.reader(file)
        assert head == ["player", "left", "value", "lower", "upper", "action"]
        assert len(rows) == 6
        for player, left, value, lower, upper, action in rows:
            state = MatchesState(int(player), int(left))
            assert float(value) == solution.value(state)
            assert (float(lower), float(upper)) == solution.bounds(state)
            best = solution.best_action(state)
            assert action == ("" if best is None else str(best))

    def test_more_states_than_are_written_at_once(self, run, tmp_path, monkeypatch):
        run(*self.command, "--csv", str(tmp_path / "whole.csv"))
        monkeypatch.setattr(texts, "LINES", 2)
        run(*self.command, "--csv", str(tmp_path / "parts.csv"))
        whole = (tmp_path / "whole.csv").read_text()
        assert (tmp_path / "parts.csv").read_text() == whole
        assert whole.count("\n") == 7

    def test_contexts_of_a_staged_game(self, run, tmp_path, cache):
        path = tmp_path / "cards.csv"
        small = ("kniffel", "--set", "dice=2,faces=2,throws=1,threshold=3")
        code, out, _ = run("solve", *small, "--compile", "never", "--csv", str(path))
        assert code == 0
        solution = gamedp.solve(Kniffel(dice=2, faces=2, throws=1, threshold=3), compile="never")
        columns = solution.to_columns()
        with path.open(newline="") as file:
            head, *rows = csv.reader(file)
        assert head == list(columns)
        assert [float(row[3]) for row in rows] == columns["value"].tolist()
        # Full cards are contexts, too, but nothing is played there.
        full = sum(boxes == max(columns["boxes"]) for boxes in columns["boxes"])
        assert (
            f"size        {len(rows) - full:,} contexts to play in, of {len(rows):,} in all" in out
        )

    def test_a_full_disk_leaves_what_was_there_and_is_named(self, run, tmp_path, monkeypatch):
        path = tmp_path / "table.csv"
        path.write_text("before")

        def full(_handle):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(os, "fsync", full)
        code, _, err = run(*self.command, "--csv", str(path))
        assert (code, err) == (1, f"gamedp: {path}: {os.strerror(errno.ENOSPC)}\n")
        assert [each.name for each in tmp_path.iterdir()] == ["table.csv"]
        assert path.read_text() == "before"

    def test_no_folder_is_said_at_once(self, run, tmp_path):
        code, out, err = run(*self.command, "--csv", str(tmp_path / "no" / "table.csv"))
        assert (code, out) == (2, "")
        assert "there is no folder" in err

    def test_a_folder_is_no_table(self, run, tmp_path):
        code, out, err = run(*self.command, "--csv", str(tmp_path))
        assert (code, out) == (2, "")
        assert "--csv takes a file" in err

    @pytest.mark.parametrize("name", ["pipe", "link"])
    def test_a_pipe_is_no_table(self, run, name, tmp_path, pipe):
        pipe(tmp_path / "pipe")
        (tmp_path / "link").symlink_to(tmp_path / "figures.csv")
        code, out, err = run(*self.command, "--csv", str(tmp_path / name))
        assert (code, out) == (2, "")
        assert "is a link, a device or a pipe; --csv takes a file" in err


class TestPolicy:
    command = ("solve", "matches", "--set", "matches=5", "--compile", "never")

    def test_actions_by_name(self, run, tmp_path):
        path = tmp_path / "policy.csv"
        code, out, err = run(*self.command, "--policy", path)
        assert (code, err) == (0, "")
        assert f"policy in   {path}\n" in out
        head, *rows = path.read_text().splitlines()
        assert head == "player,left,mover,action,action_name,probability"
        assert "0,5,0,1,take 1,1.0" in rows

    def test_of_a_file_with_names(self, run, tmp_path):
        model = gamedp.Model.from_arrays(
            [0, 2, 2], [0, 1, 2], [0, 1], [1.0, 1.0], payoffs=[1.0], action_names=["stay", "leave"]
        )
        gamedp.write_model(tmp_path / "model.drn", model)
        path = tmp_path / "policy.json"
        code, _, err = run("solve", tmp_path / "model.drn", "--policy", path, "--max")
        assert (code, err) == (0, "")
        assert json.loads(path.read_text())[0]["action_name"] == "leave"

    def test_a_graph_of_a_small_model_alone(self, run, tmp_path):
        path = tmp_path / "model.dot"
        assert run(*self.command, "--policy", path)[0] == 0
        assert path.read_text().startswith("digraph model {")
        large = ("solve", "matches", "--set", "matches=2000", "--compile", "never")
        code, out, err = run(*large, "--policy", tmp_path / "large.dot")
        assert (code, out) == (1, "")
        assert "write the policy as .csv or .json" in err

    @pytest.mark.parametrize(
        ("name", "words"),
        [
            ("", "--policy takes a file"),
            ("policy.txt", ".csv, .json, .dot"),
            ("no/p.csv", "no fol"),
        ],
    )
    def test_what_cannot_be_written_is_said_at_once(self, run, tmp_path, name, words):
        code, out, err = run(*self.command, "--policy", tmp_path / name)
        assert (code, out) == (2, "")
        assert words in err


class TestQuery:
    def test_words(self, run):
        state = ["--state", "player=1,heaps=1,2,2", "--compile", "never"]
        code, out, err = run("query", "nim", *state)
        assert (code, err) == (0, "")
        assert "second player to move: heaps of 1, 2, 2" in out
        assert "to move     the second player, who wants the value as low as possible" in out
        assert "value       -1.0   for the first player" in out
        assert "actions     * take 1 from heap 1  -1.0   (-1.0 to -1.0)" in out
        assert "take 1 from heap 2  1.0" in out
        assert "best        take 1 from heap 1" in out

    def test_words_where_all_actions_are_as_good(self, run):
        out = run("query", "nim", "--state", "heaps=2,4,6", "--compile", "never")[1]
        assert "best        any of them" in out

    @pytest.mark.parametrize(
        "text", ["heaps=2,4,6", "heaps=(2,4,6)", "heaps=2;4;6", "player=0,heaps=2,4,6"]
    )
    def test_json(self, run_json, text):
        facts = run_json("query", "nim", "--state", text, "--compile", "never")
        keys = [*SOLVE_KEYS, "state", "plies", "actions", "best", "best_names"]
        assert list(facts) == keys
        assert facts["state"] == {"player": 0, "heaps": [2, 4, 6]}
        assert facts["plies"] == 11.0  # lost, and so slowly
        assert facts["value"] == (1.0 if nim_winning((2, 4, 6)) else -1.0)
        assert [sorted(entry) for entry in facts["actions"]] == 12 * [
            ["action", "best", "name", "value"]
        ]
        assert facts["best"] == [entry["action"] for entry in facts["actions"]]
        assert facts["best_names"] == [entry["name"] for entry in facts["actions"]]
        assert not nim_winning_moves((2, 4, 6))

    def test_agrees_with_python(self, run_json):
        facts = run_json("query", "wubbel", "--set", "goal=10", "--state", "opponent=4,turn=7")
        solution = gamedp.solve(Wubbel(goal=10))
        state = State(0, 0, 4, 7)
        assert facts["value"] == solution.value(state)
        assert (facts["lower"], facts["upper"]) == solution.bounds(state)
        assert facts["best"] == solution.best_actions(state)
        entries = [
            (entry.action, entry.name, entry.value, entry.best)
            for entry in solution.action_values(state)
        ]
        assert [tuple(entry.values()) for entry in facts["actions"]] == entries

    def test_start_and_end(self, run, run_json):
        start = run_json("query", "matches", "--compile", "never")
        assert start["state"] == {"player": 0, "left": 18}
        end = run_json("query", "matches", "--state", "left=0", "--compile", "never")
        assert (end["value"], end["actions"], end["best"]) == (1.0, [], [])
        words = run("query", "matches", "--state", "left=0", "--compile", "never")[1]
        assert "nobody: the game is over" in words

    def test_random_start(self, run, run_json, folder):
        game = ["query", "own_rules.py:Flips", "--set", "most=3", "--compile", "never"]
        facts = run_json(*game, "--state", "heads=1")
        assert facts["state"] == {"flips": 0, "heads": 1}
        assert facts["actions"][0] == {
            "action": 0,
            "name": "0",
            "value": 1.0,
            "best": "possible",
        }
        assert run(*game)[2] == "gamedp: --state must say heads: the game starts at random.\n"

    def test_states_without_names(self, run_json, folder):
        words = ["query", "own_rules.py:Words", "--compile=never"]
        facts = run_json(*words, "--state", "abb")
        assert facts["state"] == "abb"
        assert facts["value"] == 1.0
        assert facts["actions"] == [
            {
                "action": action,
                "name": str(action),
                "value": values[0],
                "best": best,
                "values": values,
                "bounds": [[value, value] for value in values],
            }
            for action, values, best in ((0, [2, 2, 0], "no"), (1, [1, 3, 0], "certain"))
        ]
        assert facts["values"] == [1, 3, 0]
        assert facts["bounds"] == [[1, 1], [3, 3], [0, 0]]
        assert (facts["best"], facts["best_names"]) == ([1], ["1"])
        tuples = ["query", "own_rules.py:Forever", "--compile=never"]
        assert run_json(*tuples, "--state", "1,(1,2)")["state"] == [1, [1, 2]]

    def test_json_has_the_values_of_all_three_players(self, run_json):
        game = Mancala(players=3, pits=2, stones=2)
        command = ("mancala", "--set=players=3,pits=2,stones=2", "--compile=never")
        solution = gamedp.solve(game, compile="never")
        for facts in (run_json("solve", *command), run_json("query", *command)):
            assert facts["values"] == [solution.value(player=player) for player in range(3)]
            assert facts["bounds"] == [list(solution.bounds(player=player)) for player in range(3)]
            assert facts["value"] == facts["values"][0]
        assert "values" not in run_json("solve", "matches", "--compile=never")

    def test_three_players_see_what_each_gets_after_every_action(self, run, folder):
        code, out, _ = run("query", "own_rules.py:Words", "--compile=never", "--state", "abb")
        assert code == 0
        rows = out[out.index("actions") : out.index("best")].splitlines()
        assert [" ".join(row.replace("actions", "").split()) for row in rows] == [
            "0 2.0 (2.0 to 2.0) for the first player",
            "2.0 (2.0 to 2.0) for the second player",
            "0.0 (0.0 to 0.0) for the third player",
            "* 1 1.0 (1.0 to 1.0) for the first player",
            "3.0 (3.0 to 3.0) for the second player",
            "0.0 (0.0 to 0.0) for the third player",
        ]

    def test_what_no_solver_keeps_is_said(self, run, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        solution = gamedp.solve(Matches(5), gamedp.FiniteHorizon(3), compile="never")
        gamedp.save(attrs.evolve(solution, following=None), "kept")
        code, out, _ = run("query", "kept")
        assert code == 0
        assert "no values" in out
        assert "BackwardInduction keeps none with one step fewer to go" in out
        assert f"?  {solution.best_action()}" not in out

    def test_horizon(self, run_json):
        facts = run_json("query", "matches", "--horizon", "3", "--compile", "never")
        assert [action["value"] for action in facts["actions"]] == [0.0, 0.0, 0.0]
        assert facts["best"] == [1, 2, 3]

    def test_saved(self, run, run_json, folder):
        solved = run_json("solve", "matches", "--save", "kept", "--compile", "never")
        facts = run_json("query", "kept", "--state", "left=17")
        assert facts["game"] == "kept"
        assert facts["parameters"] == solved["parameters"]
        assert facts["value"] == gamedp.load("kept").value(MatchesState(0, 17)) == -1.0
        code, out, err = run("query", "kept", "--set", "matches=3")
        assert (code, out) == (2, "")
        assert "kept holds a solution" in err
        (folder / "kept" / "manifest.json").write_text("{}")
        code, out, err = run("query", "kept")
        assert (code, out) == (1, "")
        assert "manifest.json" in err

    def test_saved_own_game(self, run, run_json, folder):
        run_json("solve", "own_rules.py:Flips", "--set=most=2", "--save=kept", "--compile=never")
        del sys.modules["own_rules"]
        sys.path.remove(str(folder))
        code, _, err = run("query", "kept", "--state", "heads=0")
        assert (code, err.count("\n")) == (2, 1)
        assert "Flips of module own_rules is not registered" in err
        assert "--game file.py:ClassName" in err
        query = ["query", "kept", "--state", "heads=0", "--game", "own_rules.py:Flips"]
        facts = run_json(*query, "--set=most=2")
        assert facts["parameters"] == {"most": 2, "prize": 1.0}
        assert "most differs" in run(*query, "--set=most=3")[2]

    def test_saved_arrays(self, run_json, folder):
        model = gamedp.Model.from_arrays(
            [0, 1, 1], [0, 2], [0, 1], [0.5, 0.5], terminals=[1], payoffs=[3.0]
        )
        gamedp.save(gamedp.solve(model), "kept")
        facts = run_json("query", "kept", "--state", "0")
        assert (facts["model"], facts["state"], facts["best"]) == ("kept", 0, [0])


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """Keep solutions in a cache folder of its own; return where they are."""
    monkeypatch.setenv("GAMEDP_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "solutions"


JOURNEY = ("staged_games:Journey", "--set", "days=2", "--compile", "never")

STAGED_ERRORS = {
    "inside an ordinary game": (["nim", "--inside", "x=1"], 2, "--inside is for staged games"),
    "unknown field": ([*JOURNEY, "--state=luck=0", "--inside", "plce=1"], 2, "mean 'place'?"),
    "random start": ([*JOURNEY], 2, "--state must say luck"),
    "no context": ([*JOURNEY, "--state", "left=7,luck=0"], 1, "outside the box of contexts"),
    "no state of the stage": (
        [*JOURNEY, "--state", "luck=0", "--inside", "place=9"], 1, "is not a state",
    ),
    "game over": (
        [*JOURNEY, "--state", "left=0,luck=0", "--inside", "place=2"], 1, "nothing to play",
    ),
}  # fmt: skip


class TestStaged:
    kniffel = ("kniffel", "--set", "dice=2,faces=2,throws=2,threshold=3")
    game = Kniffel(dice=2, faces=2, throws=2, threshold=3)
    wubbel = ("staged_games:StagedWubbel", "--set", "goal=5", "--compile", "never")

    def test_the_table_is_kept(self, run, cache):
        command = ("solve", *self.kniffel, "--compile", "never")
        code, first, err = run(*command)
        assert (code, err) == (0, "")
        assert "read from" not in first
        code, again, err = run(*command)
        assert (code, err) == (0, "")
        words, before = (
            dict(line.split("  ", 1) for line in text.splitlines()) for text in (again, first)
        )
        (folder,) = cache.iterdir()
        assert words.pop("read from").strip() == str(folder)
        phases = [re.findall("[a-z]+(?= [0-9])", each.pop("time")) for each in (words, before)]
        assert phases == [["load"], ["compile", "explore", "solve"]]
        assert words == before
        fresh = run(*command, "--fresh")[1]
        assert "read from" not in fresh
        assert f"value       {gamedp.solve(self.game, compile='never').value()!r}" in fresh

    def test_json(self, run_json, cache):
        solution = gamedp.solve(self.game, compile="never")
        command = ("solve", *self.kniffel, "--solver", "stage-induction", "--compile", "never")
        for phases in (["compile", "explore", "solve"], ["compile", "explore", "solve", "load"]):
            facts = run_json(*command)
            assert list(facts) == SOLVE_KEYS
            assert list(facts["seconds"]) == phases
            assert facts["game"] == "kniffel"
            assert (facts["parameters"]["rules"], facts["parameters"]["faces"]) == ("article", 2)
            assert facts["solver"]["name"] == "stage-induction"
            assert facts["objective"] == {"name": "total", "optimum": "max"}
            assert (facts["status"], facts["guarantee"]) == ("SOLVED", "TWO_SIDED")
            assert facts["value"] == solution.value()
            assert (facts["lower"], facts["upper"]) == solution.bounds()
            for name in ("states", "choices", "transitions", "sweeps", "bytes"):
                assert facts[name] == getattr(solution.statistics, name)

    def test_rules_by_name(self, run_json, cache):
        settings = ("--set", "rules=yahtzee,dice=2,faces=2,throws=2,threshold=3")
        facts = run_json("solve", "kniffel", *settings, "--compile", "never")
        assert facts["parameters"]["further_bonus"] == 100
        assert facts["parameters"]["joker"] == "forced"

    def test_a_damaged_table_is_said_and_computed_anew(self, run, cache):
        command = ("solve", *JOURNEY)
        first = run(*command)[1]
        (folder,) = cache.iterdir()
        next(folder.glob("values-*")).unlink()
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            code, out, err = run(*command)
        assert code == 0
        assert err.startswith(f"gamedp: warning: the solution kept in {folder} is of no use")
        assert err.count("\n") == 1
        assert "read from" not in out
        assert out.splitlines()[:2] == first.splitlines()[:2]
        assert "read from" in run(*command)[1]

    def test_a_cache_that_cannot_be_written(self, run, tmp_path, monkeypatch):
        (tmp_path / "file").write_text("")
        monkeypatch.setenv("GAMEDP_CACHE_DIR", str(tmp_path / "file"))
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            code, out, err = run("solve", *JOURNEY)
        assert code == 0
        assert "value " in out
        assert "cannot be kept in" in err

    def test_query_of_a_context(self, run, run_json, cache):
        command = ("query", *self.kniffel, "--state", "upper=1,boxes=5", "--compile", "never")
        context = Sheet(1, 5, 0)
        solution = gamedp.solve(self.game, compile="never")
        facts = run_json(*command)
        assert list(facts) == [
            *SOLVE_KEYS,
            "state",
            "inside",
            "actions",
            "best",
            "best_names",
        ]
        assert facts["state"] == context._asdict()
        assert (facts["inside"], facts["actions"], facts["best"]) == (None, [], [])
        assert facts["value"] == solution.value(context)
        out = run(*command)[1]
        assert "free: Zweier" in out
        assert f"value       {facts['value']!r}" in out
        assert "actions" not in out
        assert "read from" in out

    def test_query_inside(self, run, run_json, cache):
        turn = f"phase={ENTERING},throws=0,dice=1,1"
        place = ("--state", "upper=1,boxes=5", "--inside", turn, "--compile", "never")
        context, state = Sheet(1, 5, 0), Turn(ENTERING, 0, (1, 1), 0, 0, 0)
        solution = gamedp.solve(self.game, compile="never")
        facts = run_json("query", *self.kniffel, *place)
        assert facts["inside"] == {**state._asdict(), "dice": [1, 1]}
        assert facts["value"] == solution.inside(context).value(state)
        assert facts["best"] == solution.best_actions(context, state)
        entries = [
            (entry.action, entry.name, entry.value, entry.best)
            for entry in solution.action_values(context, state)
        ]
        assert [tuple(entry.values()) for entry in facts["actions"]] == entries
        out = run("query", *self.kniffel, *place)[1]
        assert "after throw 2 of 2: 12 to enter" in out
        best = [name for action, name, _, _ in entries if action in facts["best"]]
        assert all(f"? {name}" in out for name in best)
        assert f"maybe best  {', '.join(best)}\n" in out
        assert "to move" not in out

    @pytest.mark.parametrize("mover", [0, 1])
    def test_query_where_places_are_changed(self, run, run_json, cache, mover):
        state = f"player={mover},own=2,opponent=3"
        place = ("--state", state, "--inside", "turn=2")
        facts = run_json("query", *self.wubbel, *place)
        solution = gamedp.solve(StagedWubbel(5), compile="never")
        part = solution.inside(Scores(mover, 2, 3))
        entries = part.action_values(Roll(2, over=False))
        seen = [entry.value if mover == 0 else 1 - entry.value for entry in entries]
        assert [entry["value"] for entry in facts["actions"]] == seen
        assert facts["value"] == (max if mover == 0 else min)(seen)
        assert facts["lower"] <= facts["value"] <= facts["upper"]
        assert facts["best"] == part.best_actions(Roll(2, over=False))
        out = run("query", *self.wubbel, *place)[1]
        wish = ("the first player, who wants the value as high as possible",
                "the second player, who wants the value as low as possible")[mover]  # fmt: skip
        assert f"to move     {wish}" in out
        assert f"value       {facts['value']!r}   for the first player" in out

    def test_query_of_ends(self, run, cache):
        over = run("query", *JOURNEY, "--state", "left=0,luck=1")[1]
        assert "to move     nobody: the game is over, and the value is the payoff" in over
        assert "value       1.0" in over
        place = ("--state", "luck=0", "--inside", "step=3,mover=1,place=5")
        assert "to move     nobody: this ends the stage" in run("query", *JOURNEY, *place)[1]
        opponent = run("query", *JOURNEY, "--state", "luck=0", "--inside", "step=1,mover=1")
        assert "to move     the second player, who wants" in opponent[1]
        start = run("query", *JOURNEY, "--state", "luck=0", "--inside", "place=2")[1]
        solution = gamedp.solve(Journey(days=2), compile="never")
        begin = solution.inside(Date(2, 0)).value(Walk(2, 0, 0, rested=False))
        assert f"value       {begin!r}" in start

    def test_a_saved_table(self, run, run_json, cache, folder):
        solved = run_json("solve", *JOURNEY, "--save", "days")
        assert {path.name for path in folder.iterdir()} >= {"days", "cache"}
        where = ["--state", "left=1,luck=0", "--inside", "place=2"]
        own = ["--game", "staged_games:Journey", "--set", "days=2"]
        facts = run_json("query", "days", *where, *own)
        assert facts["game"] == "days"
        assert facts["parameters"] == solved["parameters"] == {"days": 2, "again": True}
        assert facts["state"] == {"left": 1, "luck": 0}
        solution = gamedp.solve(Journey(days=2), compile="never")
        assert facts["value"] == solution.inside(Date(1, 0)).value()
        code, out, err = run("query", "days", "--fresh")
        assert (code, out) == (2, "")
        assert "days holds a solution" in err

    @pytest.mark.parametrize(
        ("arguments", "code", "words"), STAGED_ERRORS.values(), ids=STAGED_ERRORS
    )
    def test_errors(self, run, cache, arguments, code, words):
        if "--compile" not in arguments:
            arguments = [*arguments, "--compile", "never"]
        found, out, err = run("query", *arguments)
        assert (found, out) == (code, "")
        assert words in err
        assert err.count("\n") == 1

    def test_half_a_game(self, run, folder):
        (folder / "half.py").write_text("class Half:\n    def stage(self):\n        return 1\n")
        code, out, err = run("solve", "half.py:Half")
        assert (code, out) == (2, "")
        assert "Half is not a game: it has no box, initial_state" in err

    def test_the_protocol_is_no_game_of_a_file(self, run, folder):
        text = "from gamedp import Game\nfrom gamedp.games.wubbel import Wubbel\n"
        (folder / "with_protocol.py").write_text(text)
        code, out, err = run("solve", "with_protocol.py")
        assert (code, out) == (2, "")
        assert "as in with_protocol.py:Wubbel." in err

    def test_explain_and_games(self, run, run_json):
        out = run("explain", *JOURNEY)[1]
        assert "6 contexts, in each a stage of 19 states" in out
        assert "StageInduction" in out
        entry = next(entry for entry in run_json("games") if entry["name"] == "kniffel")
        defaults = {each["name"]: each["default"] for each in entry["parameters"]}
        assert (defaults["rules"], defaults["further_bonus"]) == ("article", 0)
        assert "--set joker=none" in run("games")[1]

    @pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
    def test_interrupt(self, folder, cache):
        (folder / "slow.py").write_text(
            "import staged_games\n\n\n"
            "class Slow(staged_games.Journey):\n"
            "    def is_terminal(self, context):\n"
            "        if context.left == 500:\n"
            "            open('started', 'w').close()\n"
            "        return context.left == 0\n"
        )
        tests = str(Path(__file__).parents[1] / "helpers")
        process = subprocess.Popen(
            command("solve", "slow.py:Slow", "--set", "days=100000", "--compile", "never"),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([*filter(None, sys.path), tests])},
        )
        assert output_after_interrupt(process, folder / "started") == (
            130,
            "",
            "gamedp: interrupted.\n",
        )
        assert not cache.exists()


class Bare:
    """A game without parameters."""

    initial_state = is_terminal = actions = outcomes = payoff = lambda *_: ()


class TestFirstParameter:
    """A value after the name of a registered game is that of its first parameter."""

    def test_it_is_the_same_as_set(self, run_json):
        short, long = run_json("solve", "wubbel:7"), run_json("solve", "wubbel", "--set", "goal=7")
        assert short["parameters"] == long["parameters"]
        assert short["parameters"]["goal"] == 7
        assert (short["lower"], short["upper"]) == (long["lower"], long["upper"])

    def test_values_with_commas_and_points(self, run_json):
        heaps = run_json("solve", "nim:1,2", "--set", "misere=false")["parameters"]
        assert heaps == {"heaps": [1, 2], "misere": False}
        assert not is_model_file("wubbel:7.5")
        assert is_model_file("other:7.drn")

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (("wubbel:many",), "goal=many: 'many' is not a whole number"),
            (("wubbel:",), "goal=: '' is not a whole number"),
            (("wubbel:7.5",), "goal=7.5: '7.5' is not a whole number"),
            (("wubbel:7", "--set", "goal=8"), "goal=8 repeats"),
            (("wubbel:-1",), "goal"),
            (("no-such-game:7",), "there is no module no-such-game"),
        ],
    )
    def test_what_it_refuses(self, run, arguments, words):
        code, out, err = run("solve", *arguments)
        assert (code != 0, out) == (True, "")
        assert words in err

    def test_a_game_without_parameters_takes_none(self, run, register, monkeypatch):
        register(registry.GAMES, f"{__name__}:Bare")
        known = registry.registered
        points = {"bare": known(registry.GAMES)[f"{__name__}:Bare"]}
        monkeypatch.setattr("gamedp.cli.games.registered", lambda _: points)
        monkeypatch.setattr(registry, "registered", lambda _: points)
        assert "bare has no parameters" in run("solve", "bare:7")[2]


class TestLists:
    def test_games(self, run, run_json):
        out = run("games")[1]
        assert "--set takes=1,2,3" in out
        assert "gamedp.games.matches:Nim" in out
        entries = {entry["name"]: entry for entry in run_json("games")}
        assert entries["wubbel"]["parameters"][0] == {
            "name": "goal", "type": "int", "required": False, "default": 50,
        }  # fmt: skip
        assert entries["matches"]["summary"].startswith("One row of matches")

    def test_solvers(self, run, run_json):
        assert "--option sweep=gauss-seidel" in run("solvers")[1]
        names = [entry["name"] for entry in run_json("solvers")]
        assert names == sorted(point.name for point in entry_points(group="gamedp.solvers"))

    def test_a_broken_plugin_hides_no_other(self, run, monkeypatch):
        bad = EntryPoint("bad", "gamedp_no_such_module:Game", lists.GAMES)
        good = EntryPoint("good", "gamedp.games.matches:Nim", lists.GAMES)
        monkeypatch.setattr(lists, "registered", lambda group: {"bad": bad, "good": good})
        code, out, err = run("games")
        assert code == 0
        assert out.startswith("good ")
        assert err.startswith("gamedp: warning: bad is left out: ModuleNotFoundError")

    @pytest.mark.parametrize(
        ("text", "word"),
        [
            ("raise SystemExit('enough')", "SystemExit: enough"),
            ("1 / 0", "ZeroDivisionError: division by zero"),
            ("class Game:\n    def __init__(self): raise KeyError('no')", "KeyError: 'no'"),
            ("", "AttributeError"),
        ],
    )
    def test_a_plugin_that_fails_is_named_and_harms_no_other(
        self, text, word, run, monkeypatch, folder
    ):
        (folder / "failing_plugin.py").write_text(text)
        monkeypatch.syspath_prepend(str(folder))
        points = {
            "bad": EntryPoint("bad", "failing_plugin:Game", lists.GAMES),
            "good": EntryPoint("good", "gamedp.games.matches:Nim", lists.GAMES),
        }
        monkeypatch.setattr(registry, "registered", lambda group: points)
        monkeypatch.setattr(lists, "registered", lambda group: points)
        try:
            code, out, err = run("games")
            assert code == 0
            assert out.startswith("good ")
            assert f"gamedp: warning: bad is left out: {word}" in err
            code, out, err = run("solve", "bad")
            assert code != 0
            assert "bad" in err
            assert err.count("\n") == 1
            assert run("solve", "good", "--set", "heaps=1,2", "--compile=never")[0] == 0
        finally:
            sys.modules.pop("failing_plugin", None)

    def test_a_plugin_does_not_take_the_name_of_a_built_in_game(self, monkeypatch, caplog):
        own = entry_points(group=registry.GAMES)
        other = EntryPoint("wubbel", "aaa_other:Game", registry.GAMES)
        object.__setattr__(other, "dist", types.SimpleNamespace(name="aaa-other"))
        asked = []

        def found_now(group):
            asked.append(group)
            return [other, *own]

        monkeypatch.setattr("importlib.metadata.entry_points", found_now)
        monkeypatch.syspath_prepend("another")  # what is known along a path is known for good
        for _ in range(2):  # every command asks several times
            found = registry.registered(registry.GAMES)["wubbel"]
            assert found.value == "gamedp.games.wubbel:Wubbel"
        words = "'wubbel' is registered twice; gamedp.games.wubbel:Wubbel counts"
        assert caplog.text.count(words) == 1
        assert asked == [registry.GAMES]

    def test_a_plugin_brings_a_command(self, run, monkeypatch, folder):
        """One that cannot be loaded is left out, and none takes the name of gamedp's own."""
        (folder / "greeting_plugin.py").write_text("def greet(name):\n    print('Hello', name)\n")
        monkeypatch.syspath_prepend(str(folder))
        points = {
            "greet": EntryPoint("greet", "greeting_plugin:greet", cli.PLUGINS),
            "lost": EntryPoint("lost", "gamedp_no_such_module:lost", cli.PLUGINS),
            "solve": EntryPoint("solve", "greeting_plugin:greet", cli.PLUGINS),
        }
        monkeypatch.setattr(cli, "registered", lambda group: points)
        try:
            code, out, err = run("greet", "Ada")
            assert (code, out) == (0, "Hello Ada\n")
            assert "lost (gamedp_no_such_module:lost) cannot be loaded" in err
            assert "greeting_plugin:greet is left out: solve is a command of gamedp" in err
            assert run("solve", "nim", "--set", "heaps=1,2", "--compile=never")[0] == 0
            assert " greet " in run("--help")[1]
        finally:
            sys.modules.pop("greeting_plugin", None)

    def test_explain_takes_what_is_saved(self, run, monkeypatch, tmp_path):
        solution = gamedp.solve(Matches(matches=12), compile="never")
        kept = tmp_path / "kept"
        gamedp.save(solution, kept)
        expected = run("explain", "matches", "--set=matches=12", "--compile=never")[1]
        monkeypatch.setattr("gamedp.compiler.build.compile_game", None)  # nothing is explored
        code, out, err = run("explain", kept)
        assert (code, out, err) == (0, expected, "")
        discounted = run("explain", kept, "--discount=0.9")[1]
        assert discounted == f"{gamedp.explain(solution.model, gamedp.Discounted(0.9))}\n"
        for wrong, part in (
            ((kept, "--max-states=9"), "whose model is explored"),
            ((kept, "--set=matches=3"), "--set goes with --game"),
            (("matches", "--game=x.py:X"), "--game is for the folder of a saved solution"),
        ):
            code, out, err = run("explain", *wrong)
            assert (code, out) == (2, "")
            assert part in err

    def test_explain(self, run):
        code, out, err = run("explain", "matches", "--compile", "never")
        assert (code, err) == (0, "")
        assert "BackwardInduction" in out

    def test_version(self, run):
        assert run("--version") == (0, version("gamedp") + "\n", "")

    @pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"]])
    def test_help(self, run, arguments):
        code, out, err = run(*arguments)
        assert (code, err) == (0, "")
        for name in ("solve", "query", "explain", "games", "solvers"):
            assert f" {name} " in out
        assert "Solve a game" in out
        assert "Examples" in out

    @pytest.mark.parametrize("name", ["solve", "query", "explain", "games", "solvers"])
    def test_help_of_commands(self, run, name):
        code, out, err = run(name, "--help")
        assert (code, err) == (0, "")
        assert f"Usage: gamedp {name}" in out
        assert "Examples" not in out

    def test_help_is_a_command_too(self, run):
        assert run("help") == run("--help")
        assert run("help", "solve") == run("solve", "--help")

    @pytest.mark.parametrize("shell", ["bash", "fish", "zsh"])
    def test_completion_knows_all_commands(self, run, shell):
        code, out, err = run("completion", shell)
        assert (code, err) == (0, "")
        for name in COMMANDS:
            assert re.search(rf"\b{name}\b", out)

    @pytest.mark.slow
    @pytest.mark.skipif(BASH is None, reason="bash is not installed")
    def test_bash_completes(self, run, tmp_path):
        offered = {
            "so": "solve solvers",
            "solve wubbel --obj": "--objective",
            "solve wubbel --objective d": "discounted",
            "solve wu": "wubbel",
            "solve wubbel --solver val": "value-iteration",
            "search mancala --searcher m": "max-n minimax",
            "help se": "search serve selfplay searchers",
        }
        gamedp = tmp_path / "gamedp"  # asked by the script for the names that are registered
        gamedp.write_text(f'#!/bin/sh\nexec {shlex.join(command())} "$@"\n')
        gamedp.chmod(0o755)
        lines = [run("completion", "bash")[1]]
        for line in offered:
            words = ["gamedp", *line.split()]
            lines += [f"COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}; _gamedp"]
            lines += ['echo "${COMPREPLY[*]}"']
        path = os.pathsep.join([str(tmp_path), os.environ["PATH"]])
        shown = subprocess.run(
            [BASH, "-c", "\n".join(lines)],
            env=os.environ | {"PATH": path},
            capture_output=True,
            text=True,
            check=True,
        )
        assert shown.stdout.splitlines() == list(offered.values())


USAGE_ERRORS = {
    "unknown game": (["solve", "wubel"], "did you mean 'wubbel'?"),
    "unknown parameter": (["solve", "wubbel", "--set", "gaol=9"], "did you mean 'goal'?"),
    "unknown solver": (["solve", "nim", "--solver", "value-iterations"], "mean 'value-iteration'?"),
    "unknown solver's option": (
        ["solve", "nim", "--solver", "value-iteration", "--option", "max_sweep=3"],
        "did you mean 'max_sweeps'?",
    ),
    "unknown field": (["query", "wubbel", "--state", "trun=3"], "did you mean 'turn'?"),
    "unknown command": (["solv"], 'Did you mean "solve"?'),
    "help about an unknown command": (["help", "solv"], 'Did you mean "solve"?'),
    "unknown option": (["solve", "nim", "--sett", "x"], "Did you mean --set?"),
    "no game": (["solve"], "GAME"),
    "no such file": (["solve", "missing.py:Game"], "there is no file"),
    "no such module": (["solve", "missing.module:Game"], "there is no module missing.module"),
    "no such class": (["solve", "own_rules.py:Flip"], "did you mean 'Flips'?"),
    "no class": (["solve", "own_rules.py"], "own_rules.py:Flips"),
    "not a class": (["solve", "own_rules.py:__name__"], "is not a class"),
    "not a game": (["solve", "own_rules.py:NoGame"], "it has no initial_state"),
    "no name": (["solve", "nim", "--set", "3"], "must be name=value"),
    "twice": (["solve", "nim", "--set", "misere=true", "--set", "misere=false"], "twice"),
    "not an int": (["solve", "wubbel", "--set", "goal=many"], "'many' is not a whole number"),
    "not a bool": (["solve", "nim", "--set", "misere=1"], "'1' is not true or false"),
    "not a choice": (
        ["solve", "nim", "--solver", "value-iteration", "--option", "sweep=fast"],
        "'fast' is not gauss-seidel or jacobi",
    ),
    "refused": (["solve", "wubbel", "--set", "goal=0"], "must be a whole number of at least 1"),
    "refused with ValueError": (["solve", "own_rules.py:Flips", "--set", "most=-1"], "negative"),
    "needed": (["solve", "own_rules.py:Flips"], "needs --set most=..."),
    "tolerance": (["solve", "matches", "--compile=never", "--tolerance", "0"], "a positive number"),
    "option without solver": (["solve", "nim", "--option", "x=1"], "needs --solver"),
    "discount and horizon": (["solve", "nim", "--discount=0.5", "--horizon=2"], "be combined with"),
    "no discount": (["solve", "nim", "--objective", "discounted"], "needs --discount"),
    "bad discount": (["solve", "nim", "--discount", "1"], "below 1"),
    "bad compile": (["solve", "nim", "--compile", "maybe"], "Choose from"),
    "state of a wrong type": (["query", "wubbel", "--state", "own=x"], "is not a whole number"),
    "state without a name": (["query", "wubbel", "--state", "3"], "must be name=value"),
    "two texts for one state": (
        ["query", "own_rules.py:Words", "--state", "a", "--state", "b"], "give one --state",
    ),
}  # fmt: skip

OTHER_ERRORS = {
    "unreachable": (["query", "matches", "--state", "left=19"], "left=19"),
    "wrong length": (["query", "nim", "--state", "heaps=3,4"], "3 items"),
    "limit": (["solve", "wubbel", "--max-states", "10"], "--max-states 10:"),
    "unsupported": (
        ["solve", "wubbel", "--set=goal=3", "--solver", "backward-induction"], "acyclic",
    ),
    "does not compile": (["solve", "own_rules.py:Words", "--compile", "always"], "Words"),
    "bad rules": (["solve", "own_rules.py:Broken"], "initial"),
    "bad rules queried": (["query", "own_rules.py:Broken"], "initial"),
    "does not import": (["solve", "torn.py:Game"], "SyntaxError"),
    "fails as it is imported": (["solve", "failing.py:Game"], "failing.py, line 3)"),
    "cannot be saved": (["solve", "matches", "--save", "own_rules.py/kept"], "own_rules.py"),
}  # fmt: skip


class TestErrors:
    @pytest.mark.parametrize(("arguments", "words"), USAGE_ERRORS.values(), ids=USAGE_ERRORS)
    def test_usage(self, run, folder, arguments, words):
        code, out, err = run(*arguments)
        assert (code, out) == (2, "")
        self.check(err, words)

    @pytest.mark.parametrize(("arguments", "words"), OTHER_ERRORS.values(), ids=OTHER_ERRORS)
    def test_others(self, run, folder, arguments, words):
        (folder / "torn.py").write_text("class Game(:\n")
        (folder / "failing.py").write_text("import os\n\nos.path.no_such_thing\n")
        if "--compile" not in arguments and arguments[0] in {"solve", "query"}:
            arguments = [*arguments, "--compile", "never"]
        code, out, err = run(*arguments)
        assert (code, out) == (1, "")
        self.check(err, words)

    def check(self, err, words):
        assert words in err
        assert err.startswith("gamedp: ")
        assert err.count("\n") == 1

    def test_a_name_that_another_module_has(self, run, folder):
        (folder / "json.py").write_text(RULES)
        code, out, err = run("solve", "json.py:Forever")
        assert (code, out) == (2, "")
        assert "rename the file" in err

    def test_a_file_without_its_ending_and_class(self, run, folder):
        code, out, err = run("solve", "own_rules")
        assert (code, out) == (2, "")
        self.check(err, "for the file own_rules.py, say own_rules.py:ClassName")

    def test_a_folder_is_no_game(self, run, folder):
        (folder / "kept").mkdir()
        code, out, err = run("solve", "kept")
        assert (code, out) == (2, "")
        self.check(err, "kept is a folder, not a game; `gamedp query`")

    def test_a_parameter_without_its_option(self, run):
        code, out, err = run("solve", "wubbel", "goal=20", "grace=true")
        assert (code, out) == (2, "")
        self.check(err, "did you mean `--set goal=20 --set grace=true`?")
        for words in (("solve", "wubbel", "goal=20", "20"), ("searchers", "goal=20")):
            code, out, err = run(*words)
            assert (code, out) == (2, "")
            assert "--set" not in err

    def test_a_position_that_is_not_reached(self, run):
        code, out, err = run("query", "matches", "--state", "left=30", "--compile", "never")
        assert (code, out) == (1, "")
        self.check(err, "it cannot be reached from the start. `gamedp search` takes any position.")
        assert "box" not in err
        code, out, err = run("search", "matches", "--state", "left=30", "--depth=2")
        assert (code, err) == (0, "")

    def test_a_word_too_many(self, run):
        code, out, err = run("games", "more", "still")
        assert (code, out) == (2, "")
        self.check(err, "`gamedp games` takes no 'more still' here; `gamedp help games` lists")

    def test_full_memory(self, run, monkeypatch):
        monkeypatch.setattr(gamedp, "solve", self.raising(MemoryError))
        assert run("solve", "nim") == (
            1, "", "gamedp: out of memory; --max-bytes sets a limit that stops earlier.\n",
        )  # fmt: skip

    def test_interrupt(self, run, monkeypatch):
        monkeypatch.setattr(gamedp, "solve", self.raising(KeyboardInterrupt))
        assert run("solve", "nim") == (130, "", "gamedp: interrupted.\n")

    def test_mistakes_in_rules_keep_their_traceback(self, run, monkeypatch):
        monkeypatch.setattr(gamedp, "solve", self.raising(ZeroDivisionError))
        with pytest.raises(ZeroDivisionError):
            run("solve", "nim")

    def raising(self, error):
        def solve(*args, **keywords):
            raise error

        return solve


class TestTexts:
    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("a=1", {"a": "1"}),
            ("a=1,b=2", {"a": "1", "b": "2"}),
            (" a = 1 , b = 2 ", {"a": "1", "b": "2"}),
            ("a=1,2,b=3", {"a": "1,2", "b": "3"}),
            ("a=(1,2),b=", {"a": "(1,2)", "b": ""}),
            ("a=x=y", {"a": "x=y"}),
            ("a=-1,b=-2", {"a": "-1", "b": "-2"}),
        ],
    )
    def test_assignments(self, text, found):
        assert assignments([text], option="--set") == found

    class Pair(NamedTuple):
        left: int
        right: tuple[int, ...]

    @pytest.mark.parametrize(
        ("text", "kind", "value"),
        [
            ("-3", int, -3),
            ("1e3", float, 1000.0),
            ("inf", float, float("inf")),
            ("True", bool, True),
            ("false", bool, False),
            ("", str, ""),
            ("1,2", str, "1,2"),
            ("6", tuple[int, ...], (6,)),
            ("(6,)", tuple[int, ...], (6,)),
            ("", tuple[int, ...], ()),
            ("()", tuple[int, ...], ()),
            ("1;2", tuple[int, int], (1, 2)),
            ("(1,2),(3,4)", tuple[tuple[int, ...], ...], ((1, 2), (3, 4))),
            ("((1,2))", tuple[int, ...], (1, 2)),
            ("[1,2.5]", list[float], [1.0, 2.5]),
            ("a,b", tuple[str, ...], ("a", "b")),
            ("1,(2,3)", Pair, Pair(1, (2, 3))),
            ("none", int | None, None),
            ("7", int | None, 7),
            ("x", str | int, "x"),
            ("7", str | int, 7),
            ("b", Literal["a", "b"], "b"),
            ("2", Literal[1, 2], 2),
            ("TWO_SIDED", gamedp.Guarantee, gamedp.Guarantee.TWO_SIDED),
            ("(1, 'x')", Any, (1, "x")),
            ("x y", Any, "x y"),
        ],
    )  # fmt: skip
    def test_read(self, text, kind, value):
        found = read(text, kind)
        assert found == value
        assert type(found) is type(value)

    @pytest.mark.parametrize(
        ("text", "kind"),
        [
            ("1.5", int),
            ("", int),
            ("yes", bool),
            ("1,,2", tuple[int, ...]),
            ("(1,2", tuple[int, ...]),
            ("1,2,3", tuple[int, int]),
            ("x", int | None),
            ("c", Literal["a", "b"]),
            ("1", dict[str, int]),
        ],
    )
    def test_read_refuses(self, text, kind):
        with pytest.raises(ValueError):
            read(text, kind)

    @pytest.mark.parametrize("value", [3, 2.5, True, None, "word", (3, 5), ((1, 2), (3, 4)), ()])
    def test_what_is_written_can_be_read(self, value):
        assert read(written(value), kind_of(value)) == value or value is None

    def test_states_that_cannot_be_written(self):
        with pytest.raises(gamedp.errors.InvalidParameterError, match="frozenset"):
            kind_of((1, frozenset()))

    def test_notation(self):
        assert notation(int) == "int"
        assert notation(tuple[int, ...]) == "tuple[int, ...]"
        assert notation(Literal["a"]) == "Literal['a']"


class TestParameters:
    def test_any_class_has_them(self):
        class Plain:
            def __init__(self, size, wide: bool = False, *rest, **more):
                self.size = size

        settings = settings_of(Plain)
        assert list(settings) == ["size", "wide"]
        assert settings["size"].kind is Any
        assert settings["wide"].kind is bool
        made = make(Plain, ["size=3"], name="plain", option="--set", word="parameter")
        assert made.size == 3

    def test_private_and_made_defaults(self):
        import attrs

        @attrs.frozen
        class Game:
            _hidden: int = 3
            many: tuple[int, ...] = attrs.field(factory=tuple)
            later: int = attrs.field(init=False, default=1)

        settings = settings_of(Game)
        assert list(settings) == ["hidden", "many"]
        assert settings["hidden"].kind is int
        assert settings["many"].default == ()


class Terminal(io.StringIO):
    def isatty(self):
        return True


class TestProgress:
    # sys.stderr is replaced within the tests: pytest sets it again after the fixtures have run.

    def test_is_shown_after_a_moment(self, monkeypatch):
        monkeypatch.setattr(limit, "SECONDS_BEFORE_PROGRESS", 0.0)
        shown = threading.Event()
        show = limit.Display._show

        def show_and_tell(shown_bar):
            show(shown_bar)
            shown.set()

        monkeypatch.setattr(limit.Display, "_show", show_and_tell)
        monkeypatch.setattr(sys, "stderr", Terminal())
        with report.watch(quiet=False) as tell:
            assert shown.wait(PATIENCE)
            tell(gamedp.Progress("explore", 7, None, 1.0, "seven states"))
        assert "looking for states" in sys.stderr.getvalue()
        assert "seven states" in sys.stderr.getvalue()

    def test_is_not_shown_at_once(self, monkeypatch):
        monkeypatch.setattr(sys, "stderr", Terminal())
        with report.watch(quiet=False) as tell:
            tell(gamedp.Progress("solve", 1, 2, 0.1, "half"))
        assert not sys.stderr.getvalue()

    def test_is_not_shown_to_nobody(self, monkeypatch):
        monkeypatch.setattr(sys, "stderr", Terminal())
        with report.watch(quiet=True) as tell:
            assert tell is None
        monkeypatch.setattr(sys, "stderr", io.StringIO())
        with report.watch(quiet=False) as tell:
            assert tell is None


class TestProcess:
    @pytest.mark.deep
    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            ("solve wubbel --set goal=10", "solved"),
            ("solve matches --set matches=18", "solved"),
            ("solve nim --set heaps=3,5,7 --set misere=true", "solved"),
            ("query kniffel", "245.904728"),
            ("kniffel - 8 - 16 15 - 15 9 25 30 40 - - 3 13345", "13345"),
            ("search mancala --set stones=1 --exact", "value"),
            ("play matches", "18 left"),
            ("evaluate wubbel --set goal=10 --players optimal,hold=5", "value"),
            ("respond wubbel --set goal=10 --against hold=5", "value"),
            ("simulate matches --players optimal,random --games 1000 --seed 1", "games"),
        ],
    )
    def test_commands_on_a_new_machine(self, arguments, words, tmp_path):
        """Nothing is compiled yet: some of it begins in plain Python, in one process."""
        caches = {name: str(tmp_path / name) for name in ("GAMEDP_CACHE_DIR", "NUMBA_CACHE_DIR")}
        done = subprocess.run(
            command(*arguments.split()),
            env={**os.environ, **caches},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert words in done.stdout

    def test_is_installed(self):
        (point,) = entry_points(group="console_scripts", name="gamedp")
        assert point.load() is __main__.main

    def test_solves(self):
        solve = command("solve", "matches", "--compile", "never", "--json")
        done = subprocess.run(solve, capture_output=True, text=True, check=True)
        assert json.loads(done.stdout)["value"] == 1.0
        assert not done.stderr

    def test_exit_code_of_the_package_run_as_a_module(self):
        asked = [sys.executable, "-m", "gamedp", "solve", "nimm"]
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (2, "")
        assert "did you mean 'nim'?" in done.stderr

    def test_nobody_reads(self):
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run(
            command("games"), stdout=writing, stderr=subprocess.PIPE, text=True, check=False
        )
        os.close(writing)
        assert (done.returncode, done.stderr) == (141, "")

    @pytest.mark.skipif(not FULL.exists(), reason="needs a device that is full")
    def test_full_disk(self):
        with FULL.open("w") as full:
            done = subprocess.run(
                command("games"), stdout=full, stderr=subprocess.PIPE, text=True, check=False
            )
        assert done.returncode == 1
        assert done.stderr == f"gamedp: [Errno {errno.ENOSPC}] {os.strerror(errno.ENOSPC)}\n"

    @pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
    def test_interrupt(self, folder):
        arguments = ["solve", "own_rules.py:Slow", "--compile", "never", "--save", "kept"]
        process = subprocess.Popen(
            command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert output_after_interrupt(process, folder / "started") == (
            130,
            "",
            "gamedp: interrupted.\n",
        )
        assert not (folder / "kept").exists()

    def test_listing_games_is_light(self):
        script = (
            "import sys, gamedp.cli; gamedp.cli.main(['games']); "
            "sys.exit(bool({'numba', 'scipy', 'rich', 'cattrs'} & set(sys.modules)))"
        )
        subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)

    def test_solving_is_light(self):
        script = (
            "import sys, gamedp.cli; gamedp.cli.main(['solve', 'matches', '--compile=never']); "
            "sys.exit(bool({'scipy.sparse', 'rich', 'cattrs'} & set(sys.modules)))"
        )
        subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ("Declare it: TotalReward(draw=0.5) shares it", "Declare it: --draw 0.5 shares it"),
        ("the objective TotalReward(draw=...).", "--draw ...."),
        ("stopped at max_states=1,000:", "stopped at --max-states 1,000:"),
        ("max_states= sets a limit", "--max-states sets a limit"),
        ("Raise max_seconds, or read .solution", "Raise --max-seconds, or read .solution"),
        ("raise max_sweeps.", "raise it by --option max_sweeps=...."),
        ("a field max_stateside=3", "a field max_stateside=3"),
    ],
)
def test_ways_out_are_written_as_options(words, options):
    assert cli._in_options(words) == options
