"""The check of programs, and the two that come as examples."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import gamedp
from gamedp.cli import main
from gamedp.errors import InvalidParameterError
from gamedp.games.matches import Matches
from gamedp.games.wubbel import SAVE, Wubbel
from gamedp.play import Program, check_program

ROOT = Path(__file__).parent.parent.parent
BOTS = ROOT / "examples" / "bots"
BAD_BOT = ROOT / "tests" / "helpers" / "bad_bot.py"
PATIENT = {"seconds": 600, "start_seconds": 300}


def hold(state, _rng):
    return SAVE if state.turn >= 20 else 0


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """Wait for those that are about to end, however busy the machine is."""
    for limit in ("GRACE", "LAST_WORDS", "DYING"):
        monkeypatch.setattr(f"gamedp.play.channel.{limit}", 60.0)


@pytest.fixture(scope="module", params=["hold.py", "hold.c"])
def bot(request, tmp_path_factory):
    if request.param == "hold.py":
        return Program((sys.executable, str(BOTS / "hold.py")), **PATIENT)
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    path = tmp_path_factory.mktemp("bots") / "hold"
    warnings = ["-Wall", "-Wextra", "-Werror", "-O1"]
    subprocess.run([compiler, *warnings, "-o", path, BOTS / "hold.c"], check=True)
    return Program((str(path),), **PATIENT)


def test_the_example_plays_as_it_says(bot):
    programs = gamedp.play.match(Wubbel(), bot, bot, games=4, seed=3)
    functions = gamedp.play.match(Wubbel(), hold, hold, games=4, seed=3)
    assert programs.records == functions.records


def test_the_example_keeps_all_rules(bot):
    found = check_program(Wubbel(goal=30), bot, games=2, seed=0)
    assert [check.rule for check in found if not check.is_kept] == []
    assert len(found) == 6
    assert found[0].detail.startswith("hold at 20")
    assert found[5].detail == "exit status 0"


SCRIPT = """
import json, sys, time
for line in sys.stdin:
    message = json.loads(line)
    if {strict} and message.get("tell") not in (None, "end"):
        raise SystemExit("what?")
    if "ask" in message:
        answer = {{"id": message["id"], "action": message.get("actions", [0])[0]}}
        if {strict} and set(message) - {{"ask", "id", "state", "actions", "names", "left", "seat",
            "protocol", "game", "parameters", "seconds", "increment"}}:
            raise SystemExit("what?")
        print(json.dumps(answer), flush=True)
    elif {chatty}:
        print("good game", flush=True)
if {lasting}:
    time.sleep(600)
"""


@pytest.mark.parametrize(
    ("habit", "rules", "detail"),
    [
        ("strict", {"passes over what it does not know"}, "what?"),
        ("chatty", {"plays whole games", "plays on from positions that it has not seen",
                    "passes over what it does not know", "is silent unless it is asked"},
         "good game"),
        ("lasting", {"ends when its input ends"}, "killed"),
    ],
)  # fmt: skip
def test_each_rule_that_is_broken_is_named(monkeypatch, habit, rules, detail):
    if habit == "lasting":
        monkeypatch.setattr("gamedp.play.channel.GRACE", 0.05)
    if habit == "chatty":  # heard as soon as it speaks
        monkeypatch.setattr("gamedp.play.compliance.SILENCE", 60.0)
    habits = dict.fromkeys(["strict", "chatty", "lasting"], False) | {habit: True}
    player = Program((sys.executable, "-I", "-S", "-c", SCRIPT.format(**habits)), **PATIENT)
    broken = [
        check for check in check_program(Matches(), player, games=2, seed=0) if not check.is_kept
    ]
    assert {check.rule for check in broken} == rules
    assert all(detail in check.detail for check in broken)


def test_only_programs_are_checked():
    for player, games, part in [(hold, 1, "not a program"), (Program("a"), 0, "games is 0")]:
        with pytest.raises(InvalidParameterError, match=part):
            check_program(Wubbel(), player, games=games)


def test_the_command_says_what_is_kept(capsys):
    program = f"{sys.executable} -I -S {BAD_BOT}"
    command = ["referee", "check", f"{program} none 999", "matches", "--seconds=600", "--games=2"]
    assert main(command) == 0
    out = capsys.readouterr().out
    assert [line.split()[0] for line in out.splitlines()] == ["ok"] * 6
    assert "none bot" in out
    assert main(["referee", "check", f"{program} illegal 0", *command[3:5], "--json"]) == 1
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    assert (found["passed"], found["game"], len(found["checks"])) == (False, "matches", 6)
    assert found["checks"][0] == {
        "rule": "starts and says hello", "is_kept": True, "detail": "illegal bot"
    }  # fmt: skip
    assert "illegal action: in game 1" in found["checks"][1]["detail"]
    assert "plays whole games" in captured.err
    assert main(["referee", "check", "tcp:nowhere", "matches"]) == 2
    assert main(["referee", "check", "", "matches"]) == 2
