"""``gamedp search`` and ``gamedp perft``: what they print, and what they refuse."""

import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import attrs
import pytest
from figures import BY_NAME
from waiting import PATIENCE, output_after_interrupt

import gamedp
from gamedp.games.mancala import Mancala
from gamedp.games.matches import Matches, MatchesState, Nim
from gamedp.games.wubbel import Hold, State, Wubbel
from gamedp.searchers.driver import SearchBudget
from gamedp.tables.whole_numbers import WholeFiller

SMALL = ("mancala", "--set", "pits=3,stones=2")
ROW_OF_THREE = """
from typing import NamedTuple

class Place(NamedTuple):
    cells: tuple

class Row:
    def initial_state(self): return Place((0, 0, 0))
    def is_terminal(self, state): return state.cells[2] == 1
    def actions(self, state): return [0, 1]
    def outcomes(self, state, action): return [(1.0, Place((0, 0, action)))]
    def payoff(self, state, player): return 1.0
    def render(self, state): return "".join(".X"[cell] for cell in state.cells)
"""

PLAIN = ("--compile", "never")
EXAMPLES = Path(__file__).parents[2] / "examples"
BOT = EXAMPLES / "bots" / "hold.py"
COMMAND = (sys.executable, "-c", "import sys, gamedp.cli; sys.exit(gamedp.cli.main())")


def words_of(out):
    """Return what stands behind each label."""
    words, label = {}, ""
    for line in out.splitlines():
        label = line[:10].strip() or label
        words.setdefault(label, []).append(line[12:])
    return words


@pytest.fixture(autouse=True)
def no_endings_kept(monkeypatch, tmp_path):
    """Let tables that other tests have made be of no use here."""
    monkeypatch.setattr("gamedp.storage.kept.cache_directory", lambda: tmp_path)


class TestSearch:
    def test_words(self, run):
        code, out, err = run("search", *SMALL, "--depth", 4, *PLAIN)
        assert (code, err) == (0, "")
        words = words_of(out)
        assert list(words) == [
            "game", "state", "to move", "value", "bounds", "actions", "seem best", "line",
            "its end", "guarantee", "status", "searcher", "depth", "nodes", "table", "time",
        ]  # fmt: skip
        game = Mancala(pits=3, stones=2)
        result = gamedp.searchers.AlphaBeta(depth=4).search(game, compile="never")
        assert words["to move"] == ["the first player, who wants the value as high as possible"]
        assert words["value"] == [f"{result.value()!r}   for the first player"]
        assert words["bounds"][0].startswith(f"{result.lower!r} to {result.upper!r}   (")
        assert words["status"] == [result.status.value]
        assert words["guarantee"] == [result.guarantee.value]
        assert words["searcher"] == ["AlphaBeta(depth=4)"]
        assert words["depth"] == ["4 plies"]
        assert words["nodes"][0].startswith(f"{result.statistics.nodes:,}, ")
        assert len(words["actions"]) == 3
        for entry, row in zip(result.actions, words["actions"], strict=True):
            assert (row[0] == "*") == (entry.action in result.best_actions)
            assert row[2:].split() == [*entry.name.split(), repr(entry.value), *entry.bound.split()]
        names = [f"pit {action}" for action in result.best_actions]
        assert words["seem best"] == [", ".join(names)]
        line = [f"pit {action}" for action, _ in result.principal_variation]
        assert words["line"] == [", ".join(line)]
        end = game.render(result.principal_variation[-1][1])
        assert [row.rstrip() for row in words["its end"][1:]] == end.splitlines()

    def test_what_is_best_for_certain_is_told_from_what_may_be(self, run, run_json):
        one = words_of(run("search", *SMALL, "--depth", 2, "--option=all_best=false", *PLAIN)[1])
        assert (one["seem best"], one["may be"]) == (["pit 3"], ["pit 1, pit 2, pit 3"])
        assert "best" not in one
        proven = words_of(run("search", *SMALL, "--exact", *PLAIN)[1])
        assert proven["best"] == ["pit 3"]
        assert "seem best" not in proven
        facts = run_json("search", *SMALL, "--depth", 4, *PLAIN)
        assert (facts["certainly_best"], facts["possibly_best"]) == ([], [1, 2, 3])
        facts = run_json("search", *SMALL, "--exact", *PLAIN)
        assert facts["certainly_best"] == facts["best"] == [3]

    def test_json(self, run_json):
        facts = run_json("search", *SMALL, "--depth", 5, *PLAIN)
        result = gamedp.searchers.AlphaBeta(depth=5).search(
            Mancala(pits=3, stones=2), compile="never"
        )
        assert facts["searcher"]["name"] == "alpha-beta"
        assert facts["searcher"]["depth"] == 5
        assert facts["parameters"]["pits"] == 3
        assert (facts["status"], facts["guarantee"]) == ("DEPTH_LIMIT", "TWO_SIDED")
        for name in ("value", "lower", "upper"):
            found = getattr(result, name)
            assert facts[name] == (found() if callable(found) else found)
        assert facts["actions"] == [attrs.asdict(entry) for entry in result.actions]
        assert facts["best"] == list(result.best_actions)
        assert [step["action"] for step in facts["line"]] == [
            action for action, _ in result.principal_variation
        ]
        end = result.principal_variation[-1][1]
        assert facts["end"] == {"player": end.player, "sides": list(end.sides)}
        assert facts["nodes"] == result.statistics.nodes

    def test_exact_is_what_the_solver_finds(self, run, run_json):
        game = Mancala(pits=3, stones=2)
        solution = gamedp.solve(game, compile="never")
        facts = run_json("search", *SMALL, "--exact", *PLAIN)
        assert facts["proven"]
        assert facts["value"] == facts["lower"] == facts["upper"] == solution.value()
        assert set(facts["best"]) <= set(solution.best_actions(game.initial_state()))
        facts = run_json("search", *SMALL, "--exact", "--option=all_best=true", *PLAIN)
        assert facts["best"] == solution.best_actions(game.initial_state())
        # Beyond half of the stones the majority stop counts, which tables do not know.
        assert facts["searcher"]["endings"]["last_tier"] == 11
        words = words_of(run("search", *SMALL, "--exact", *PLAIN)[1])
        assert words["endings"][0].startswith("tiers 0 to 11, 12,376 positions, read ")
        assert words["searcher"] == ["AlphaBeta(all_best=False)"]

    @pytest.mark.parametrize(("endings", "last_tier"), [(0, None), (3, 3), (12, 11)])
    def test_endings_as_asked(self, run_json, endings, last_tier):
        facts = run_json("search", *SMALL, "--exact", "--endings", endings, *PLAIN)
        tables = facts["searcher"]["endings"]
        assert (tables and tables["last_tier"]) == last_tier
        assert facts["value"] == gamedp.solve(Mancala(pits=3, stones=2), compile="never").value()

    def test_default_tables_take_seconds(self, monkeypatch):
        from gamedp.cli import search

        def suitable(game, state):
            return search._suitable_tiers(game, state, search.FIRST_ENDINGS)[1]

        assert suitable(Mancala(), Mancala().initial_state()) == 12
        assert suitable(Mancala(pits=2, stones=1), Mancala().initial_state()) == 3
        assert suitable(Mancala(players=3), Mancala().initial_state()) == 0
        assert suitable(Matches(), MatchesState(0, 9)) == 0
        few = Mancala(majority_stop=False)
        assert suitable(few, few.position([1] * 6, [0, 1, 0, 0, 0, 0])) == 7

    def test_larger_tables_where_small_ones_do_not_soon_lead_to_a_proof(
        self, monkeypatch, run, run_json
    ):
        monkeypatch.setattr("gamedp.cli.search.FIRST_ENDINGS", 28)
        monkeypatch.setattr("gamedp.cli.search.MOST_ENDINGS", 5000)
        monkeypatch.setattr("gamedp.cli.search.kept_tables", lambda _: None)
        facts = run_json("search", *SMALL, "--exact", *PLAIN)
        assert 2 < facts["searcher"]["endings"]["last_tier"] < 9
        assert facts["proven"]
        assert "max_nodes" not in words_of(run("search", *SMALL, "--exact", *PLAIN)[1])["searcher"]
        # So they do where there is a limit, too, and what they take counts for it.
        for limit in ("--max-nodes=100000", "--max-seconds=600"):
            limited = run_json("search", *SMALL, "--exact", limit, *PLAIN)
            assert limited["proven"]
            assert limited["nodes"] == facts["nodes"]
            assert limited["searcher"]["endings"] == facts["searcher"]["endings"]

    @pytest.mark.parametrize(
        ("limit", "last_tier", "status"),
        [("--max-nodes=3", 2, "NODE_LIMIT"), ("--max-seconds=1e-9", None, "TIME_LIMIT")],
    )
    def test_limits_hold_while_tables_grow(self, monkeypatch, run, limit, last_tier, status):
        monkeypatch.setattr("gamedp.cli.search.POSITIONS_A_NODE", 16)
        monkeypatch.setattr("gamedp.cli.search.FIRST_ENDINGS", 28)
        code, out, err = run("search", *SMALL, "--exact", limit, *PLAIN, "--json")
        facts = json.loads(out)
        assert code == 1
        assert "stopped at a limit" in err
        assert facts["status"] == status
        assert facts["searcher"]["endings"]["last_tier"] == last_tier
        assert not facts["proven"]
        assert facts["lower"] <= 0 <= facts["upper"]

    def test_endings_are_kept(self, run_json, tmp_path):
        command = ("search", *SMALL, "--exact", "--endings-folder", tmp_path / "tables", *PLAIN)
        first, again = run_json(*command), run_json(*command)
        assert (tmp_path / "tables").is_dir()
        assert first["value"] == again["value"]

    @pytest.mark.slow
    @pytest.mark.filterwarnings("default")
    def test_endings_are_kept_for_the_next_call(self, monkeypatch, run, run_json, tmp_path):
        command = ("search", *SMALL, "--exact", *PLAIN)
        first = run_json(*command)
        (kept,) = (tmp_path / "tables").glob("Mancala-*/*")
        (kept.parent / "of other rules").mkdir()
        monkeypatch.setattr("gamedp.tables.tables.WholeFiller", None)  # makes nothing
        again = run_json(*command)
        assert again["value"] == first["value"]
        assert again["searcher"]["endings"] == first["searcher"]["endings"]
        assert list(kept.parent.iterdir()) == [kept]
        monkeypatch.setattr("gamedp.tables.tables.WholeFiller", WholeFiller)

        def warned():
            code, out, err = run(*command, "--json")
            assert (code, json.loads(out)["value"]) == (0, first["value"])
            return err

        block = kept / "tier-000003-0000.blocks"
        whole = block.read_bytes()
        block.write_bytes(b"nothing")
        assert warned() == ""
        assert block.read_bytes() == whole
        (kept / "plan.blocks").write_bytes(b"nothing")
        assert warned().startswith(f"gamedp: warning: the tables kept in {kept} are of no use")
        assert not kept.exists()
        (tmp_path / "tables").rename(tmp_path / "gone")
        (tmp_path / "tables").write_text("no folder", encoding="utf-8")
        assert "are not kept" in warned()

    def test_a_position(self, run_json):
        facts = run_json("search", "matches", "--state", "player=1,left=6", "--exact", *PLAIN)
        assert facts["state"] == {"player": 1, "left": 6}
        assert (facts["value"], facts["best"]) == (-1.0, [1])

    def test_where_the_game_is_over(self, run, run_json):
        facts = run_json("search", "matches", "--state", "left=0", "--depth", 3, *PLAIN)
        assert (facts["value"], facts["actions"], facts["line"]) == (1.0, [], [])
        assert facts["end"] == facts["state"]
        words = words_of(run("search", "matches", "--state", "left=0", "--depth", 3, *PLAIN)[1])
        assert words["to move"] == ["nobody: the game is over, and the value is the payoff"]
        assert "actions" not in words

    def test_another_searcher(self, run_json):
        command = ("search", "nim", "--set", "heaps=1,2,2", "--searcher", "minimax", *PLAIN)
        facts = run_json(*command, "--option", "depth=3")
        assert facts["searcher"]["name"] == "minimax"
        assert facts["depth"] == 3
        value = gamedp.searchers.Minimax().search(Nim(heaps=(1, 2, 2)), compile="never").value()
        assert run_json(*command, "--exact")["value"] == value == 1.0

    def test_chance_with_minimax(self, run_json):
        command = ("search", "wubbel", "--set", "goal=2,faces=2,busts=2,grace=true")
        facts = run_json(*command, "--searcher=minimax", "--exact", *PLAIN)
        assert facts["value"] == 0.8125
        assert facts["lower"] <= 0.8125 <= facts["upper"]

    def test_a_long_line_breaks_between_actions(self, run):
        rows = words_of(run("search", "matches", "--set=takes=1", "--exact", *PLAIN)[1])["line"]
        assert len(rows) == 2
        assert max(map(len, rows)) <= 80
        assert " ".join(rows) == ", ".join(["take 1"] * 18)
        assert all(row.startswith("take 1,") for row in rows)

    def test_a_limit_prints_what_is_known_and_fails(self, run):
        command = ("search", *SMALL, "--exact", "--max-nodes", 20, "--endings", 0, *PLAIN)
        code, out, err = run(*command, "--json")
        facts = json.loads(out)
        assert code == 1
        assert facts["status"] == "NODE_LIMIT"
        assert facts["lower"] < facts["upper"]
        assert err.startswith("gamedp: AlphaBeta stopped at a limit after depth ")
        code, out, _ = run(*command)
        assert code == 1
        assert words_of(out)["status"] == [gamedp.Status.NODE_LIMIT.value]

    @pytest.mark.parametrize("at", [1, 5, 15])
    @pytest.mark.parametrize("endings", [[], ["--endings", 0]], ids=["tables", "none"])
    def test_ctrl_c_prints_what_is_known(self, run, at, endings, monkeypatch):
        looks, look = [0], SearchBudget.look

        def pressed(watch):
            looks[0] += watch._unit == "nodes"  # not while tables are made
            if looks[0] == at:
                signal.raise_signal(signal.SIGINT)
            look(watch)

        monkeypatch.setattr(SearchBudget, "look", pressed)
        monkeypatch.setattr(SearchBudget, "next_slice", lambda _: 50)
        monkeypatch.setattr("gamedp.cli.search.FIRST_ENDINGS", 28)
        code, out, err = run("search", *SMALL, "--exact", *endings, *PLAIN, "--json")
        facts = json.loads(out)
        assert code == 130
        assert err.startswith(f"gamedp: interrupted after depth {facts['depth']}; the output shows")
        assert facts["status"] in {"INTERRUPTED", "SOLVED"}
        assert facts["lower"] <= 0 <= facts["upper"]

    def test_no_value_at_a_limit(self, run):
        command = ("search", *SMALL, "--searcher=minimax", "--max-nodes=5", *PLAIN)
        code, out, _ = run(*command)
        assert code == 1
        words = words_of(out)
        assert words["value"] == ["none found before the limit"]
        assert "best" not in words

    def test_a_question_is_answered_by_bounds(self, run):
        searcher = "--searcher=proof-number-search"
        code, out, _ = run("search", "matches", "--set=matches=18", searcher, *PLAIN)
        assert code == 0
        words = words_of(out)
        assert words["value"] == ["not computed: only bounds were asked for"]
        assert words["bounds"][0].startswith("just above 0 to inf")
        assert words["best"] == ["take 1"]

    def test_three_players(self, run, run_json):
        command = ("search", "mancala", "--set=players=3,pits=2,stones=1", "--exact")
        command += ("--searcher=max-n", *PLAIN)
        game = Mancala(players=3, pits=2, stones=1)
        result = gamedp.searchers.MaxN().search(game, compile="never")
        facts = run_json(*command)
        assert facts["values"] == list(result.values)
        assert facts["bounds"] == [list(result.bounds(player)) for player in range(3)]
        words = words_of(run(*command)[1])
        assert words["to move"] == ["the first player"]
        assert [row.split()[0] for row in words["value"]] == [repr(v) for v in result.values]
        assert len(words["bounds"]) == 3
        for entry, row in zip(result.actions, words["actions"], strict=True):
            assert repr(entry.values) in row

    def test_chance(self, run_json):
        command = ("search", "wubbel", "--set", "goal=2,faces=2,busts=2,grace=true")
        facts = run_json(*command, "--searcher=expectiminimax", "--exact", *PLAIN)
        assert facts["lower"] <= 0.8125 <= facts["upper"]
        assert facts["value"] == pytest.approx(0.8125)

    @pytest.mark.parametrize(
        ("game", "name"),
        [
            ("mancala", "alpha-beta"),
            ("mancala --set=players=3", "max-n"),
            ("wubbel --set=goal=120", "expectiminimax"),
        ],
    )
    def test_the_searcher_that_fits(self, run_json, game, name):
        facts = run_json("search", *game.split(), "--depth=2", *PLAIN)
        assert facts["searcher"]["name"] == name

    @pytest.mark.parametrize(
        ("methods", "words"),
        [
            ("", "give the rules a value_range(state, player)"),
            ("value_range", "Raise --max-seconds or --max-nodes, or set --depth. A heuristic"),
            ("value_range heuristic", "Raise --max-seconds or --max-nodes, or set --depth."),
        ],
    )
    def test_at_a_limit_the_message_says_what_helps(
        self, run, tmp_path, monkeypatch, methods, words
    ):
        text = """
class Round:
    num_players = 2
    def initial_state(self): return 0, 0
    def is_terminal(self, state): return False
    def player(self, state): return state[0]
    def actions(self, state): return [0, 1]
    def outcomes(self, state, action): yield 1.0, (1 - state[0], (state[1] + action + 1) % 7)
    def payoff(self, state, player): return 0.0
"""
        if "value_range" in methods:
            text += "    def value_range(self, state, player): return -1.0, 1.0\n"
        if "heuristic" in methods:
            text += "    def heuristic(self, state, player): return 0.0\n"
        name = f"round_{len(text)}.py"  # Python keeps what it has imported
        (tmp_path / name).write_text(text)
        monkeypatch.setattr(sys, "path", sys.path.copy())
        monkeypatch.chdir(tmp_path)
        code, out, err = run("search", f"{name}:Round", "--max-nodes=2000", *PLAIN)
        assert code == 1
        assert words in err
        assert ("A heuristic" in err) == (methods == "value_range")
        assert words_of(out)["value"][0].startswith("0.0 ")

    def test_one_player(self, run, tmp_path, monkeypatch):
        (tmp_path / "climb.py").write_text(
            "class Climb:\n"
            "    def initial_state(self):\n        return 0\n\n"
            "    def is_terminal(self, state):\n        return state >= 7\n\n"
            "    def actions(self, state):\n        return [1, 2, 3]\n\n"
            "    def outcomes(self, state, action):\n        return [(1.0, state + action)]\n\n"
            "    def payoff(self, state, player):\n        return float(state)\n"
        )
        monkeypatch.setattr(sys, "path", sys.path.copy())
        monkeypatch.chdir(tmp_path)
        words = words_of(run("search", "climb.py:Climb", "--exact", *PLAIN)[1])
        assert "to move" not in words
        assert words["value"] == ["9.0"]

    @pytest.mark.parametrize(
        ("arguments", "code", "message"),
        [
            ((*SMALL,), 2, "give a limit: --depth 10"),
            ((*SMALL, "--depth=3", "--exact"), 2, "--exact sets no depth"),
            ((*SMALL, "--depth=0"), 2, "depth is 0"),
            ((*SMALL, "--depth=3", "--searcher=alphabeta"), 2, "did you mean 'alpha-beta'?"),
            ((*SMALL, "--depth=3", "--option=deep=1"), 2, "option of alpha-beta called 'deep'"),
            ((*SMALL, "--depth=3", "--option=depth=4"), 2, "repeats another"),
            ((*SMALL, "--depth=3", "--endings=-1"), 2, "--endings is -1"),
            ((*SMALL, "--depth=3", "--endings-folder=x"), 2, "--endings-folder needs --endings"),
            ((*SMALL, "--depth=3", "--searcher=minimax", "--endings=3"), 2, "has no --endings"),
            ((*SMALL, "--depth=3", "--searcher=minimax", "--table-mib=1"), 2, "has no --table-mib"),
            (("matches", "--depth=3", "--endings=3"), 2, "matches does not number its positions"),
            (("matches", "--depth=3", "--state=lef=3"), 2, "did you mean 'left'?"),
            (
                ("wubbel", "--depth=3", "--searcher=alpha-beta"),
                1,
                "AlphaBeta is for games without chance",
            ),
            (("wubbel", "--depth=3", "--endings=3"), 2, "expectiminimax has no --endings"),
            (("kniffel", "--depth=3"), 1, "kniffel is a staged game"),
        ],
    )
    def test_refusals(self, run, arguments, code, message):
        found, out, err = run("search", *arguments, *PLAIN)
        assert (found, out) == (code, "")
        assert message in err
        assert err.startswith("gamedp: ")
        assert err.count("\n") == 1

    def test_ctrl_c(self, tmp_path):
        (tmp_path / "slow.py").write_text(
            "class Slow:\n"
            "    num_players = 2\n\n"
            "    def initial_state(self):\n        return 0\n\n"
            "    def is_terminal(self, state):\n        return False\n\n"
            "    def actions(self, state):\n        return [0, 1]\n\n"
            "    def player(self, state):\n        return 0\n\n"
            "    def outcomes(self, state, action):\n"
            "        if state > 3000:\n            open('started', 'w').close()\n"
            "        return [(1.0, 2 * state + action + 1)]\n\n"
            "    def payoff(self, state, player):\n        return 0.0\n"
        )
        process = subprocess.Popen(
            # Its rules are asked by the search alone, and not to choose a searcher before.
            [*COMMAND, "search", "slow.py:Slow", "--exact", "--searcher=alpha-beta", *PLAIN],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        code, out, err = output_after_interrupt(process, tmp_path / "started")
        assert code == 130
        assert words_of(out)["status"] == [gamedp.Status.INTERRUPTED.value]
        assert re.fullmatch(
            r"gamedp: interrupted after depth \d+; the output shows what is known\.\n", err
        )


class TestSearchers:
    def test_list(self, run, run_json):
        assert "--option table_bytes=67108864" in run("searchers")[1]
        names = [entry["name"] for entry in run_json("searchers")]
        assert names == sorted(point.name for point in entry_points(group="gamedp.searchers"))
        assert {"alpha-beta", "expectiminimax", "max-n", "minimax"} <= set(names)

    @pytest.mark.parametrize("point", entry_points(group="gamedp.searchers"), ids=lambda p: p.name)
    def test_each_can_search(self, point):
        assert callable(point.load().search)


class TestPerft:
    def test_words(self, run):
        code, out, err = run("perft", "matches", "--set", "matches=5", "--depth=4", *PLAIN)
        assert (code, err) == (0, "")
        words = words_of(out)
        assert words["lines"] == [
            "ply  positions  ended",
            "  0          1      0",
            "  1          3      0",
            "  2          8      2",
            "  3         10      6",
            "  4          5      4",
        ]
        assert words["in all"] == ["27"]
        assert words["time"][0].endswith(" positions a second")

    def test_the_lines_of_mancala(self, run_json):
        facts = run_json("perft", "mancala", "--set", "stones=3", "--depth", 4)
        assert facts["positions"] == [1, *BY_NAME["mancala.perft"].value[3][:4]]
        assert facts["ended"] == [0] * 5
        assert facts["parameters"]["stones"] == 3
        assert facts["positions_per_second"] > 0

    def test_from_a_position(self, run_json):
        facts = run_json("perft", "matches", "--state", "left=2", "--depth", 2, *PLAIN)
        assert (facts["positions"], facts["ended"]) == ([1, 2, 1], [0, 1, 1])

    @pytest.mark.parametrize(
        ("arguments", "code", "message"),
        [
            (("matches",), 2, "--depth"),
            (("matches", "--depth=-1"), 2, "depth is -1"),
            (("kniffel", "--depth=1"), 1, "kniffel is a staged game"),
            (
                ("mancala", "--depth=30", "--max-seconds=0.2"),
                1,
                "counting stopped at --max-seconds 0.2",
            ),
        ],
    )
    def test_refusals(self, run, arguments, code, message):
        found, out, err = run("perft", *arguments, *PLAIN)
        assert (found, out) == (code, "")
        assert message in err


def typed(monkeypatch, *lines):
    """Let these lines come from the person at the terminal, and then no more."""
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))


NOUGHTS = f"{EXAMPLES / 'noughts.py'}:NoughtsAndCrosses"
MATCHES = ("matches", "--set", "matches=6", "--seed", 1, *PLAIN)


ALONE = """
from typing import NamedTuple


class Throw(NamedTuple):
    points: int
    rolls: int
    over: int


class Dicing:
    def initial_state(self):
        return Throw(0, 0, 0)

    def is_terminal(self, state):
        return state.over == 1 or state.rolls == 4

    def actions(self, state):
        return [0, 1]

    def outcomes(self, state, action):
        if action == 1:
            return [(1.0, Throw(state.points, state.rolls, 1))]
        return [
            (0.25, Throw(state.points + gain, state.rolls + 1, 0)) for gain in (-3, 1, 2, 3)
        ]

    def payoff(self, state, player):
        return float(state.points)

    def action_name(self, state, action):
        return ("roll", "stop")[action]
"""


BARE = """
from typing import NamedTuple

import gamedp

class State(NamedTuple):
    player: int
    left: int

class Bare:
    num_players = 2
    constant_sum = 1.0
    def initial_state(self):
        return State(0, 3)
    def is_terminal(self, state):
        return state.left == 0
    def player(self, state):
        return state.player
    def actions(self, state):
        return (1,)
    def outcomes(self, state, action):
        return [(1.0, State(1 - state.player, state.left - action))]
    def payoff(self, state, player):
        return 1.0 if player == state.player else 0.0

class Drawn(Bare):
    def view(self, state):
        return gamedp.views.Heaps((state.left,))

class Told(Bare):
    def render(self, state):
        return "three"
"""


class TestPlay:
    def test_a_whole_game(self, run, monkeypatch):
        # With six matches the first player wins by taking one, and then what leaves one.
        typed(monkeypatch, "1")
        out = run("play", *MATCHES)[1]
        taken = int(
            re.search(r"The computer plays take (\d), one of 3 equally good actions\.", out)[1]
        )
        typed(monkeypatch, "1", f"TAKE {4 - taken}")
        code, out, err = run("play", *MATCHES)
        assert (code, err) == (0, "")
        assert out.startswith("You are the first player, the computer the second player; seed 1.")
        assert "first player to move: 6 left" in out
        assert "  1  take 1\n  2  take 2\n  3  take 3\n" in out
        assert "second player to move: 5 left\n\nThe computer plays take " in out
        assert out.endswith("You have won: 1 for you, -1 for the computer.\n")

    def test_lines_fit_into_a_narrow_terminal(self, run, monkeypatch):
        typed(monkeypatch, "help", "hint", "roll", "roll")
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        monkeypatch.setattr(shutil, "get_terminal_size", lambda: os.terminal_size((40, 24)))
        out = run("play", "wubbel", "--set=goal=10", "--level=1", "--seed=3", *PLAIN)[1]
        assert max(map(len, out.splitlines())) <= 40
        assert "  undo   take back your last action, and\n         what came after it\n" in out
        assert "\nfirst player  " in out

    @pytest.mark.parametrize(("width", "beside"), [(80, 3), (60, 2), (30, 1)])
    def test_many_actions_stand_side_by_side(self, run, monkeypatch, width, beside):
        typed(monkeypatch)
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        monkeypatch.setattr(shutil, "get_terminal_size", lambda: os.terminal_size((width, 24)))
        rows = re.findall(
            r"^ +\d+  take.*$", run("play", "nim", "--seed=1", *PLAIN)[1], re.MULTILINE
        )
        assert max(row.count("take") for row in rows) == beside
        assert len(rows) == 15 // beside + (15 % beside > 0)
        names = [name for row in rows for name in re.findall(r"take \d from heap \d", row)]
        assert len(set(names)) == len(names) == 15

    def test_the_end_is_drawn_too(self, run, monkeypatch):
        typed(monkeypatch, "1")
        out = run("play", "matches", "--state", "player=0,left=1", "--seed=1", *PLAIN)[1]
        assert re.search(r"0 left\n1 +0\nThe computer has won", out)

    def test_a_start_that_the_rules_cannot_deal_with_is_one_error(self, run, tmp_path, monkeypatch):
        (tmp_path / "row_of_three.py").write_text(ROW_OF_THREE)
        monkeypatch.chdir(tmp_path)
        for cells, where in (("1,0", "is_terminal"), ("5,0,0", "render")):
            code, _, err = run("play", "row_of_three.py:Row", "--state", f"cells={cells}", *PLAIN)
            assert code == 1
            assert len(err.splitlines()) == 1
            assert f"raised by the rules in {where}(" in err

    def test_a_game_without_pictures_is_told_how_to_draw(self, run, monkeypatch, tmp_path):
        file = tmp_path / "bare.py"
        file.write_text(BARE)
        outs = {}
        for name in ("Bare", "Drawn", "Told"):
            typed(monkeypatch)
            outs[name] = run("play", f"{file}:{name}", "--seed=1", *PLAIN)[1]
        hint = "def view(self, state):\n        return gamedp.views.Heaps((state.left,))"
        assert [hint in outs[name] for name in outs] == [True, False, False]
        assert "State(player=0, left=3)" in outs["Bare"]
        assert "\n1  | | |  3\n" in outs["Drawn"]  # what it was told
        assert "State" not in outs["Drawn"]
        assert "\nthree\n" in outs["Told"]

    def test_the_computer_wins_where_it_can(self, run, monkeypatch):
        typed(monkeypatch, "1", "1", "1")
        code, out, _ = run("play", *MATCHES, "--first", "computer", "--level", 6)
        assert code == 0
        assert out.startswith("You are the second player, the computer the first player")
        assert "The computer plays take 1, the best action." in out  # the one way to win
        assert out.endswith("The computer has won: -1 for you, 1 for the computer.\n")

    def test_the_seed_decides_who_begins(self, run, monkeypatch):
        begun = set()
        for seed in range(8):
            outs = []
            for _ in range(2):
                typed(monkeypatch, "quit")
                command = ("play", "matches", *PLAIN, "--first=random", "--seed", seed)
                outs.append(run(*command)[1])
            assert outs[0] == outs[1]
            begun.add(outs[0].split(",")[0])
        assert begun == {"You are the first player", "You are the second player"}

    @pytest.mark.parametrize("lines", [("quit",), (), ("help", "QUIT")])
    def test_leaving(self, run, monkeypatch, lines):
        typed(monkeypatch, *lines)
        code, out, err = run("play", *MATCHES)
        assert (code, err) == (0, "")
        assert out.endswith("The game is left unfinished.\n")
        assert ("undo   take back" in out) == ("help" in lines)

    def test_what_is_no_action(self, run, monkeypatch):
        typed(monkeypatch, "4", "take 2x", "", "undo", "quit")
        out = run("play", *MATCHES)[1]
        assert "There is no action '4' here; `help` lists what there is." in out
        assert "There is no action 'take 2x' here; did you mean 'take 2'?" in out
        assert "There is no action '' here" in out
        assert "There is nothing to take back." in out

    @pytest.mark.parametrize(
        ("first", "left", "rows", "verdict"),
        [
            ("human", 6, ["* take 1           1", "  take 2          -1", "  take 3  at most -1"],
             "take 1 is best.\nYou win in 4 plies."),
            ("computer", 5, ["* take 1  -1", "* take 2  -1", "* take 3  -1"],
             "All actions are equally good.\nThe computer wins in 3 plies."),
        ],
    )  # fmt: skip
    def test_hint_of_a_search(self, run, monkeypatch, first, left, rows, verdict):
        typed(monkeypatch, "hint")
        out = run("play", *MATCHES, "--first", first, "--level", 9)[1]
        assert "The computer looks 9 plies ahead; what lies beyond is taken for even." in out
        assert f"to move: {left} left" in out
        shown = out[out.index("> ") + 2 :].splitlines()
        assert shown[: len(rows) + 4] == [
            "After each action you can expect:",
            *rows,
            *verdict.splitlines(),
            "The values are proven: the search has seen all that matters.",
        ]

    def test_hint_of_a_search_that_does_not_see_the_end(self, run, monkeypatch):
        typed(monkeypatch, "hint", "1")
        out = run("play", *MATCHES, "--level", 2)[1]
        assert "All actions seem equally good." in out
        assert "The values are estimates: a search to depth 2." in out
        assert ", one of 3 actions that seem equally good." in out

    def test_hints_and_the_computer_are_by_the_solution_of_a_small_game(self, run, monkeypatch):
        spot = ("--set", "goal=20", "--state", "own=0,opponent=6,turn=9", "--seed=3")
        typed(monkeypatch, "hint", "save")
        out = run("play", "wubbel", *spot, *PLAIN)[1]
        solution = gamedp.solve(Wubbel(goal=20), compile="never")
        state = State(0, 0, 6, 9)
        values = {each.name: each.value for each in solution.action_values(state)}
        best = max(values, key=values.get)
        for name, value in values.items():
            assert f"{'*' if name == best else ' '} {name}  {value:.6f}\n" in out
        assert f"{best} is best.\n" in out
        count = solution.model.num_states
        told = f"by the solution of all {count:,} positions; values are proven to within "
        assert f"The computer plays {told}" in out
        assert f"This rests on{told.removeprefix('by')}" in out
        assert "The computer plays ROLL.\n" in out  # there is nothing else to do
        typed(monkeypatch, "hint")
        assert "a search to depth 2" in run("play", "wubbel", *spot, *PLAIN, "--level", 2)[1]

    def test_the_computer_plays_by_the_solution(self, run, monkeypatch):
        # It takes what is best for the second player, whom values count against.
        solution = gamedp.solve(Wubbel(goal=12), compile="never")
        typed(monkeypatch, "roll", *["save", "roll"] * 20)
        out = run("play", "wubbel", "--set", "goal=12", "--seed", 3, *PLAIN)[1]
        words = r"second player to move: (\d+) safe \+ (\d+) of this turn against (\d+), up to 12"
        spots = re.findall(words + r"\n\nThe computer plays (\w+), the best", out)
        assert len(spots) == 3
        for own, turn, opponent, name in spots:
            state = State(1, int(own), int(opponent), int(turn))
            [best] = solution.best_actions(state)
            assert name == Wubbel().action_name(state, best)

    @pytest.mark.parametrize("level", ["best", 9])
    def test_the_computer_takes_the_win_that_stands_there(self, run, monkeypatch, level):
        # X X O / O X . / O . ., X to move: b1 and c1 win at once, c2 later.
        spot = ("--state", "cells=1,1,2,2,1,0,2,0,0", "--level", level, *PLAIN)
        ends = set()
        for seed in range(8):
            typed(monkeypatch)
            out = run("play", NOUGHTS, *spot, "--first", "computer", "--seed", seed)[1]
            ends.add(re.search(r"The computer plays (\w+), (.*)\.\n", out).groups())
        words = "of 3 equally good actions one that wins soonest or loses latest"
        assert ends == {("b1", words), ("c1", words)}

    def test_a_hint_says_who_wins_and_when(self, run, monkeypatch):
        typed(monkeypatch, "hint")
        spot = ("--state", "cells=1,1,2,2,1,0,2,0,0", "--seed=1", *PLAIN)
        out = run("play", NOUGHTS, *spot)[1]
        assert "All actions are equally good.\nYou win in 1 ply, with b1 or c1.\n" in out
        typed(monkeypatch, "hint")
        out = run("play", *MATCHES, "--first", "computer")[1]
        assert "All actions are equally good.\nThe computer wins in 3 plies.\n" in out

    def test_a_game_that_is_too_large_is_searched_unless_asked_otherwise(self, run, monkeypatch):
        monkeypatch.setattr("gamedp.cli.play.MAX_STATES_IN_PYTHON", 5)
        typed(monkeypatch, "hint")
        out = run("play", *MATCHES)[1]
        assert "More than 5 positions are too many to solve now; --level best solves them." in out
        assert "The computer looks 6 plies ahead" in out
        typed(monkeypatch, "hint")
        out = run("play", *MATCHES, "--level", "best")[1]
        assert "This rests on the solution of all 7 positions; values are proven exactly." in out

    def test_a_game_that_takes_long_is_not_said_to_be_large(self, run, monkeypatch):
        monkeypatch.setattr("gamedp.cli.play.SECONDS_TO_FIND", 1e-9)
        typed(monkeypatch, "hint")
        out = run("play", "wubbel", *PLAIN)[1]
        assert "To find its positions takes longer than 1e-09 seconds" in out
        assert "too many" not in out

    def test_a_position_that_is_not_reached_from_the_start(self, run, monkeypatch):
        spot = ("nim", "--set", "heaps=1,2", "--state", "heaps=2,2", *PLAIN)
        typed(monkeypatch)
        out = run("play", *spot)[1]
        assert "this position cannot be reached from there. The computer looks 6 plies" in out
        typed(monkeypatch)
        code, out, err = run("play", *spot, "--level", "best")
        assert (code, out) == (1, "")
        assert "cannot be reached" in err or "no state" in err

    def test_one_person_plays_alone(self, run, monkeypatch, tmp_path):
        (tmp_path / "dicing.py").write_text(ALONE)
        monkeypatch.setattr(sys, "path", sys.path.copy())
        monkeypatch.chdir(tmp_path)
        game = ("dicing.py:Dicing", "--seed=4", *PLAIN)
        typed(monkeypatch, "hint", "roll", "undo", "roll", *["stop"] * 9)
        code, out, err = run("play", *game)
        assert (code, err) == (0, "")
        assert out.startswith("You play alone; seed 4.\n")
        assert "computer" not in out
        assert "Chance decides" in out
        assert "  stop  0" in out
        assert "This rests on the solution of all" in out
        assert re.search(r"\nThe game is over: -?\d+ for you\.\n$", out)
        assert "It is a draw" not in out
        typed(monkeypatch, "hint")
        out = run("play", *game, "--level=2")[1]
        assert "The values are estimates: a search to depth 2." in out
        for wrong in (["--against=random"], ["--first=computer"]):
            code, out, err = run("play", *game, *wrong)
            assert (code, out) == (2, "")
            assert "is for one player" in err

    def test_a_saved_solution_plays(self, run, monkeypatch, tmp_path):
        gamedp.save(gamedp.solve(Matches(matches=6), compile="never"), tmp_path / "kept")
        typed(monkeypatch, "hint")
        code, out, err = run("play", tmp_path / "kept", "--seed=1")
        assert (code, err) == (0, "")
        assert "first player to move: 6 left" in out
        assert "take 1 is best." in out
        code, out, err = run("play", tmp_path / "kept", "--level=3")
        assert (code, out) == (2, "")
        assert "leave out --level" in err
        gamedp.save(
            gamedp.solve(Matches(matches=6), gamedp.FiniteHorizon(2), compile="never"),
            tmp_path / "steps",
        )
        code, out, err = run("play", tmp_path / "steps")
        assert (code, out) == (2, "")
        assert "solved for FiniteHorizon" in err

    @pytest.mark.parametrize("level", [(), ("--level", 2)])
    def test_three_players(self, run, monkeypatch, level):
        typed(monkeypatch, "hint", *["1", "2"] * 9)
        three = ("mancala", "--set", "players=3,pits=2,stones=2", "--seed=1", *PLAIN)
        code, out, err = run("play", *three, *level)
        assert (code, err) == (0, "")
        assert out.startswith("You are the first player of 3, the computer plays the others;")
        assert "The computer, as the second player, plays pit " in out
        assert "The computer, as the third player, plays pit " in out
        *_, end = out.splitlines()
        assert re.fullmatch(r"(You have|The \w+ player has|.* have got the most|It is a draw).*: "
                            r"\d+ for you, \d+ for the second player, \d+ for the third player\.",
                            end)  # fmt: skip
        if level:
            assert "looks 2 plies ahead" in out
        else:
            assert "a proven equilibrium: no player gains by deviating alone" in out
            # What the first player gets after each action, by the solution of the whole game.
            game = Mancala(players=3, pits=2, stones=2)
            solution = gamedp.solve(game, compile="never")
            start = game.initial_state()
            for action in game.actions(start):
                [(_, following)] = game.outcomes(start, action)
                assert f" pit {action}  {solution.value(following, 0):g}\n" in out

    @pytest.mark.parametrize(("first", "seat"), [("human", "first"), ("computer", "second")])
    def test_the_seat_of_one_among_three(self, run, monkeypatch, first, seat):
        typed(monkeypatch)
        three = ("mancala", "--set", "players=3,pits=2,stones=1", "--seed=1", *PLAIN)
        out = run("play", *three, "--first", first)[1]
        assert out.startswith(f"You are the {seat} player of 3")

    def test_ties_of_three_are_told_by_a_search(self, run, monkeypatch):
        typed(monkeypatch, "hint")
        three = ("mancala", "--set", "players=3,pits=3,stones=3", "--seed=1", *PLAIN)
        rows = run("play", *three, "--level", 1)[1].split("expect:\n")[1].splitlines()
        found = gamedp.searchers.MaxN(depth=1).search(
            Mancala(players=3, pits=3, stones=3), compile="never"
        )
        values = [each.value for each in found.actions]
        stars = ["*" if value == max(values) else " " for value in values]
        assert stars.count("*") > 1
        assert [row[0] for row in rows[:3]] == stars
        assert "seem equally good" in rows[3]

    def test_ctrl_c_leaves_in_order(self):
        with subprocess.Popen(
            [*COMMAND, "play", *map(str, MATCHES)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
            text=True,
        ) as process:
            seen = ""
            while not seen.endswith("> "):
                letter = process.stdout.read(1)
                assert letter, process.stderr.read()
                seen += letter
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=PATIENCE)
        assert (process.returncode, err) == (130, "gamedp: interrupted.\n")
        assert out == "\nThe game is left unfinished.\n"

    def test_undo_takes_chance_back_as_well(self, run, monkeypatch):
        typed(monkeypatch, "roll", "undo", "roll", "quit")
        command = ("play", "wubbel", "--set", "goal=40", "--level", 1, "--seed", 3, *PLAIN)
        out = run(*command)[1]
        assert re.search(r"^> Chance decides: a [1-5]\.$", out, re.MULTILINE)
        assert "probability" not in out
        # A person who may save has a turn with points in it; the same ones after the undo.
        scenes = out.split("> ")
        assert len(scenes) == 5
        assert scenes[1] == scenes[3]
        assert scenes[0].splitlines()[3:] == scenes[2].splitlines()[1:]

    def test_from_a_position(self, run, monkeypatch):
        typed(monkeypatch, "1")
        out = run("play", "matches", "--state", "player=1,left=2", "--seed=1", *PLAIN)[1]
        assert out.startswith("You are the second player")
        assert out.endswith("You have won: 1 for you, -1 for the computer.\n")

    @pytest.mark.parametrize("kind", ["policy", "program", "random"])
    def test_other_players(self, run, monkeypatch, kind):
        name = {"policy": "hold=3", "random": "random", "program": f"{sys.executable} {BOT}"}[kind]
        spot = ("wubbel", "--set=goal=9", "--state", "opponent=1", "--seconds=600", *PLAIN)
        typed(monkeypatch, "hint", *["roll", "save"] * 3, "quit")
        code, out, err = run("play", *spot, "--seed=1", "--against", name)
        assert (code, err) == (0, "")
        assert f"The computer plays as {name}.\n" in out
        assert "This rests on the solution of all" in out  # the hint, whoever plays
        choice = r"second player to move: \d safe \+ [1-9] .*\n\nThe computer plays (ROLL|SAVE)\.\n"
        assert re.search(choice, out)

    def test_a_policy_plays_the_same_after_an_undo(self, run, monkeypatch):
        outs = []
        for lines in (("roll", "quit"), ("roll", "undo", "roll", "quit")):
            typed(monkeypatch, *lines)
            outs.append(run("play", "wubbel", "--seed=5", "--against=random", *PLAIN)[1])
        assert outs[1].endswith(outs[0].partition("> ")[2])

    def test_a_program_that_fails_loses(self, run, monkeypatch, tmp_path):
        typed(monkeypatch)
        code, out, err = run("play", *MATCHES, "--against", f"{tmp_path}/missing")
        assert (code, err) == (0, "")
        assert "The computer loses the game by its fault: no start: " in out
        # How much it loses, nobody says.
        assert out.endswith("first player to move: 6 left\n1  | | | | | |  6\n")
        typed(monkeypatch)
        spot = ("play", "wubbel", "--set=goal=9", *PLAIN)
        out = run(*spot, "--against", f"{tmp_path}/missing")[1]
        assert out.endswith("You have won: 1 for you, 0 for the computer.\n")

    def test_two_people(self, run, monkeypatch):
        typed(monkeypatch, "1", "2", "hint", "3")
        code, out, err = run("play", *MATCHES, "--against=person")
        assert (code, err) == (0, "")
        assert out.startswith("All 2 players are people; seed 1.\n")
        assert "It is the second player's turn.\n\nsecond player to move: 5 left" in out
        assert "After each action you can expect:" in out
        end = "The second player has won: -1 for the first player, 1 for the second player.\n"
        assert out.endswith(end)

    def test_where_the_game_is_over(self, run, monkeypatch):
        typed(monkeypatch)
        out = run("play", "matches", "--state", "left=0", "--seed=1", *PLAIN)[1]
        assert out.endswith("You have won: 1 for you, -1 for the computer.\n")

    def test_a_draw(self, run, monkeypatch):
        typed(monkeypatch, *["1", "2", "3"] * 30)
        out = run("play", "mancala", "--set", "pits=1,stones=1", "--seed=1", *PLAIN)[1]
        assert "for the computer." in out

    @pytest.mark.parametrize(
        ("arguments", "code", "message"),
        [
            (("matches", "--level=0"), 2, "depth is 0"),
            (("matches", "--first=me"), 2, "Invalid value"),
            (("matches", "--seed=-1"), 2, "seed is -1"),
            (("matches", "--level=high"), 2, "no player 'high'"),
            (("matches", "--against=level=x"), 2, "not a whole number"),
            (("matches", "--against=hold=4"), 2, "hold plays Wubbel, not Matches"),
            (("matches", "--against=tcp:here"), 2, "host:port"),
            (("matches", "--game=nim"), 2, "--game is for the folder of a saved solution"),
            (("kniffel",), 1, "kniffel is a staged game"),
        ],
    )
    def test_refusals(self, run, monkeypatch, arguments, code, message):
        typed(monkeypatch, "quit")
        found, out, err = run("play", *arguments, *PLAIN)
        assert (found, out) == (code, "")
        assert message in err


LEVELS = ("selfplay", *SMALL, "--level", 4, "--against", 1, "--games", 40, "--seed", 1)


class TestSelfplay:
    def test_words(self, run):
        code, out, err = run(*LEVELS, "--random-opening", 1, *PLAIN)
        assert (code, err) == (0, "")
        words = words_of(out)
        result = gamedp.play.match(
            Mancala(pits=3, stones=2),
            gamedp.play.LevelPlayer(4),
            gamedp.play.LevelPlayer(1),
            games=40,
            seed=1,
            opening=1,
            compile="never",
        )
        assert words["players"] == ["level 4 against level 1"]
        assert words["seed"] == ["1"]
        assert words["level 4"] == [
            f"wins {result.wins}, draws {result.draws}, loses {result.losses}"
        ]
        low, high = result.interval
        mean, error = result.mean_difference, result.standard_error
        assert words["payoff"] == [
            f"{mean:+.3f} on average for level 4 over level 1, standard error {error:.3f}",
            f"between {low:+.3f} and {high:+.3f} with 95% confidence: level 4 plays better",
        ]
        assert words["length"] == [f"{result.mean_plies:.1f} plies on average"]
        assert words["games"] == [f"40, {result.distinct} of them different"]

    def test_json_is_the_same_for_the_same_seed(self, run_json):
        first, again = run_json(*LEVELS, *PLAIN), run_json(*LEVELS, *PLAIN)
        for facts in (first, again):
            assert facts.pop("seconds") > 0
        assert first == again
        assert first["wins"] + first["draws"] + first["losses"] == 40
        assert (first["unfinished"], first["seed"]) == (0, 1)

    def test_a_seed_that_is_drawn_is_told(self, run_json):
        command = ("selfplay", *MATCHES[:3], "--level=1", "--against=1", "--games=20", *PLAIN)
        facts = run_json(*command)
        again = run_json(*command, "--seed", facts["seed"])
        assert {**facts, "seconds": 0} == {**again, "seconds": 0}

    def test_the_games_are_kept(self, run, tmp_path):
        path = tmp_path / "games.jsonl"
        code, out, _ = run(*LEVELS, "--save", path, *PLAIN)
        assert code == 0
        assert words_of(out)["saved in"] == [str(path)]
        game, records = gamedp.play.load_games(path)
        assert game == Mancala(pits=3, stones=2)
        assert f"wins {gamedp.play.Match(records).wins}, " in out

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (("--against=6", "--level=1", "--random-opening=1"), "level 6 plays better"),
            (("--against=2", "--level=2", "--random-opening=1"), "not enough to say which one"),
            (("--against=1", "--level=3", "--games=2"), "play more --games"),
            (("--against=1", "--level=1", "--max-plies=1"), "unknown: no pair of games was"),
        ],
    )
    def test_verdicts(self, run, arguments, words):
        command = ("selfplay", "mancala", "--set=pits=3,stones=2", "--seed=2", *PLAIN)
        code, out, _ = run(*command, *arguments)
        assert code == 0
        assert words in out
        if "--max-plies=1" in arguments:
            assert "draws 0, loses 0, 100 unfinished after 1 plies" in out

    def test_of_a_single_pair_nothing_is_known_of_the_error(self, run_json):
        command = ("selfplay", *MATCHES[:3], "--level=1", "--against=3", "--seed=1", *PLAIN)
        found = run_json(*command, "--games=2")
        assert (found["standard_error"], found["interval"]) == (None, None)
        assert found["mean_difference"] is not None
        none = run_json(*command, "--games=2", "--max-plies=1")
        assert (none["mean_difference"], none["standard_error"]) == (None, None)

    def test_three_players(self, run, run_json):
        three = ("selfplay", "mancala", "--set=players=3,pits=2,stones=2", "--seed=2", *PLAIN)
        command = (*three, "--level=4", "--against=1", "--random-opening=1")
        facts = run_json(*command)
        assert facts["games"] == 102
        assert facts["wins"] + facts["draws"] + facts["losses"] == facts["games"]
        out = run(*command)[1]
        score = "gets the most in {wins}, shares the most in {draws}, gets less in {losses}"
        assert words_of(out)["level 4"] == [score.format(**facts)]

    def test_players_by_name(self, run, run_json, tmp_path):
        solution = gamedp.solve(Wubbel(goal=12), compile="never")
        gamedp.save(solution, tmp_path / "kept")
        command = ("selfplay", "wubbel", "--set=goal=12", "--seed=2", "--games=10", *PLAIN)
        best, kept = (
            run_json(*command, f"--level={name}", "--against=hold=4")
            for name in ("best", tmp_path / "kept")
        )
        policy = gamedp.Policy.from_function(solution.model, Hold(4).choose, "careful")
        gamedp.save(policy, tmp_path / "careful")
        same_policy = run_json(*command, "--level=best", "--against", tmp_path / "careful")
        assert same_policy["wins"] == best["wins"]
        other = run("selfplay", "matches", "--level=2", "--against", tmp_path / "careful", *PLAIN)
        assert (other[0], "this policy is of Wubbel(goal=12" in other[2]) == (2, True)
        not_solved = run("query", tmp_path / "careful")
        assert (not_solved[0], "holds a policy, not a solution" in not_solved[2]) == (2, True)
        assert (kept["level"], kept["against"]) == (f"{tmp_path}/kept", "hold=4")
        same = ("wins", "losses", "mean_plies", "mean_difference")
        assert {key: kept[key] for key in same} == {key: best[key] for key in same}
        out = run(*command, "--level=level=1", "--against", f"{tmp_path}/missing")[1]
        words = words_of(out)
        assert words["players"] == [f"level 1 against {tmp_path}/missing"]
        assert words["level 1"] == ["wins 10, draws 0, loses 0"]
        assert words["forfeits"] == [f"{tmp_path}/missing: no start, 10 games"]

    def test_the_best_level_plays_by_the_solution(self, run_json):
        command = ("selfplay", "wubbel", "--set=goal=12", "--seed=2", *PLAIN)
        facts = run_json(*command, "--level=best", "--against=1", "--games=10")
        game = Wubbel(goal=12)
        players = gamedp.solve(game, compile="never"), gamedp.play.LevelPlayer(1)
        result = gamedp.play.match(game, *players, games=10, seed=2, compile="never")
        assert (facts["level"], facts["against"]) == ("best", 1)
        assert (facts["wins"], facts["losses"]) == (result.wins, result.losses)
        assert facts["mean_plies"] == result.mean_plies

    def test_games_are_rounded_up_and_it_says_so(self, run):
        command = ("selfplay", "matches", "--seed=2", "--level=1", "--against=1", "--games=3")
        out = run(*command, *PLAIN)[1]
        assert "4, instead of 3: each takes all seats" in out

    def test_games_that_are_all_the_same_tell_nothing(self, run):
        # One match at a time: there is nothing to choose.
        command = ("selfplay", "matches", "--set=takes=1", "--seed=2", "--level=1", "--against=1")
        out = run(*command, *PLAIN)[1]
        assert "100, 1 of them different" in out
        assert "the same in all pairs of games" in out
        assert "--random-opening makes games differ" in out

    @pytest.mark.parametrize(
        ("arguments", "code", "message"),
        [
            (("matches", "--level=2"), 2, "--against"),
            (("matches", "--level=2", "--against=0"), 2, "depth is 0"),
            (("matches", "--level=2", "--against=1", "--games=0"), 2, "games is 0; it must be"),
            (("matches", "--level=2", "--against=low"), 2, "no player 'low'"),
            (("matches", "--level=2", "--against=person"), 2, "only in `gamedp play`"),
            (("kniffel", "--level=2", "--against=1"), 1, "kniffel is a staged game"),
            (("matches", "--level=2", "--against=1", "--seed=-1"), 2, "seed is -1"),
            (("matches", "--level=2", "--against=1", "--save=no/such"), 2, "no folder no to"),
        ],
    )
    def test_refusals(self, run, arguments, code, message):
        found, out, err = run("selfplay", *arguments, *PLAIN)
        assert (found, out) == (code, "")
        assert message in err
        assert err.count("\n") == 1
