"""The command, and the folder that needs no server."""

import gzip
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tomllib
from pathlib import Path

import httpx
import numba
import numpy as np
import pytest
from web_client import Client

import gamedp
from gamedp.cli import main
from gamedp.cli.serve import _short as short_name
from gamedp.games.matches import Matches
from gamedp.games.wubbel import SAVE, State, Wubbel
from gamedp.runtime import registry
from gamedp.web import export, positions, serve
from gamedp.web.catalogue import Listed
from gamedp.web.tables import WebTables

MAIN = "import sys; from gamedp.cli import main; sys.exit(main())"

GAME_FILE = """
class Countdown:
    num_players = 2
    constant_sum = 1.0

    def initial_state(self):
        return (0, 5)

    def is_terminal(self, state):
        return state[1] <= 0

    def player(self, state):
        return state[0]

    def actions(self, state):
        return (1, 2)

    def outcomes(self, state, action):
        return [(1.0, (1 - state[0], state[1] - action))]

    def payoff(self, state, player):
        return 1.0 if player == state[0] else 0.0
"""


def test_a_folder_holds_what_the_server_answers(tmp_path, run):
    code, out, err = run("serve", "--games=matches,nim", f"--export={tmp_path / 'out'}", "--quiet")
    assert (code, err) == (0, "")
    assert "matches: 36 positions" in out
    listed = json.loads((tmp_path / "out/data/games.json").read_text())
    assert [each["name"] for each in listed] == ["matches", "nim"]
    assert {each["kind"] for each in listed} == {"table"}
    assert all(each["fixed"] for each in listed)
    data = json.loads(gzip.decompress((tmp_path / "out" / listed[0]["file"]).read_bytes()))
    with Client() as client:
        line = {"start": None, "actions": [], "outcomes": []}
        place, last_steps = data["starts"][0]["position"], []
        while True:
            answer = client.position("matches", line=line)
            position = data["positions"][place]
            assert {name: answer[name] for name in ("game", "range")} == {
                name: data[name] for name in ("game", "range")
            }
            if answer["over"]:
                break
            for each in position["actions"]:
                assert each.pop("rewards") == [0, 0]
            following = {
                each["action"]: [chance.pop("next") for chance in each["chance"]]
                for each in position["actions"]
            }
            steps = {
                each["action"]: [chance.pop("steps") for chance in each["chance"]]
                for each in position["actions"]
            }
            best = [each["action"] for each in answer["actions"] if each["best"] != "no"]
            assert position.pop("chosen") == best
            assert position == {name: answer[name] for name in position}
            left = {"game", "line", "played", "previous", "pending", "earned", "range", "basis"}
            assert answer.keys() - position.keys() == left | {"steps"}
            assert answer["steps"] == last_steps
            action = answer["actions"][-1]["action"]
            last_steps = steps[action][0]
            line["actions"].append(action)
            line["outcomes"].append(0)
            place = following[action][0]
    page = (tmp_path / "out/index.html").read_text()
    assert 'data-mode="folder"' in page
    assert "content-security-policy" in page


def test_a_folder_is_written_anew_but_nothing_else_is(tmp_path, run):
    folder = tmp_path / "out"
    assert run("serve", "--games=nim", f"--export={folder}", "--quiet")[0] == 0
    assert run("serve", "matches", "--set=matches=5", f"--export={folder}", "--quiet")[0] == 0
    names = sorted(path.name for path in (folder / "data").iterdir())
    assert names == ["games.json", "matches.json.gz"]
    (folder / "mine.txt").write_text("mine")
    others = tmp_path / "others"
    (others / "data").mkdir(parents=True)
    (others / "data" / "mine.json").write_text("{}")
    for page in (None, "<html>mine</html>"):
        if page is not None:
            (others / "index.html").write_text(page)
        for full in (folder, others):
            code, _, err = run("serve", "matches", f"--export={full}", "--quiet")
            assert code == 2
            assert "holds something else" in err
    assert (others / "data" / "mine.json").exists()
    assert (others / "index.html").read_text() == "<html>mine</html>"


def test_a_game_of_many_positions_is_not_exported(tmp_path, run, monkeypatch):
    for limit, words in (
        ("MOST_POSITIONS", "more than 20 positions"),
        ("MOST_BYTES", "more than 20 bytes"),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(export, limit, 20)
            code, _, err = run("serve", "matches", f"--export={tmp_path / 'out'}", "--quiet")
        assert code == 1
        assert words in err
    assert not (tmp_path / "out").exists()


def test_a_game_with_a_position_that_no_page_can_show_is_not_exported(tmp_path, run, monkeypatch):
    monkeypatch.setattr(positions, "MOST_OUTCOMES", 2)
    code, _, err = run("serve", "matches", f"--export={tmp_path / 'out'}", "--quiet")
    assert code == 1
    assert "a position of matches has more than 2 outcomes of its actions." in err
    assert not (tmp_path / "out").exists()


def test_an_export_that_was_interrupted_can_be_done_again(tmp_path, run, monkeypatch):
    folder, written = tmp_path / "out", []

    def stop(path, content):
        if len(written) == 3:
            raise KeyboardInterrupt
        written.append(path)
        write(path, content)

    write = export._write
    monkeypatch.setattr(export, "_write", stop)
    assert run("serve", "--games=matches", f"--export={folder}", "--quiet")[0] != 0
    monkeypatch.undo()
    assert 0 < len(list(folder.rglob("*.*"))) < 10
    (folder / "index.html.0123456789abcdef.gamedp-tmp").write_text("of a process that was killed")
    assert run("serve", "--games=matches", f"--export={folder}", "--quiet")[0] == 0
    assert (folder / "data" / "matches.json.gz").exists()


def test_no_name_of_a_game_is_in_the_way_of_another_file(tmp_path, run):
    names = ["games", "matches", "Matches", "../x"]
    listed = [Listed(name, Matches, {"matches": 3 + n}) for n, name in enumerate(names)]
    tables = WebTables()
    for each in listed:
        tables.prepare(each.make({}), None)
    counts = export.export(listed, tables, tmp_path / "out")
    tables.close()
    files = ["games-2.json.gz", "matches.json.gz", "matches-2.json.gz", "x.json.gz"]
    assert [path.name for _, path in counts.values()] == files
    found = json.loads((tmp_path / "out" / "data" / "games.json").read_text())
    for each, file in zip(found, files, strict=True):
        assert each["file"] == f"data/{file}"
        data = json.loads(gzip.decompress((tmp_path / "out" / each["file"]).read_bytes()))
        assert data["game"] == {"name": each["name"], "parameters": each["given"]}


@pytest.mark.slow
def test_a_surface_is_exported_if_the_game_has_one(tmp_path, run):
    folder = tmp_path / "out"
    assert run("serve", "wubbel", "--set=goal=9", f"--export={folder}", "--quiet")[0] == 0
    (listed,) = json.loads((folder / "data" / "games.json").read_text())
    axes = listed["surface"]
    content = (folder / axes.pop("file")).read_bytes()
    assert axes.pop("name") == "SAVE"
    assert axes.pop("at") == [0, 24]
    assert axes.pop("stakes")["kind"] == "win"
    with Client() as client:
        client.position("wubbel", parameters={"goal": 9})
        query = {**axes, "parameters": '{"goal":9}'}
        assert client.get("/api/games/wubbel/surface", params=query).content == content
    assert run("serve", "--games=matches", f"--export={folder}", "--quiet")[0] == 0
    assert sorted(path.name for path in (folder / "data").iterdir()) == [
        "games.json",
        "matches.json.gz",
    ]


@pytest.mark.slow
def test_of_a_large_game_the_figure_is_exported_with_all_its_values(tmp_path, run):
    goal = 12 if numba.config.DISABLE_JIT else 50
    folder = tmp_path / "out"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gamedp.web.export.MOST_POSITIONS", min(10_000, goal**2))
        code = run("serve", "wubbel", f"--set=goal={goal}", f"--export={folder}", "--quiet")[0]
    assert code == 0
    (listed,) = json.loads((folder / "data" / "games.json").read_text())
    assert listed["file"] is None
    assert sorted(path.name for path in (folder / "data").iterdir()) == ["games.json", "wubbel.bin"]
    content = (folder / "data" / "wubbel.bin").read_bytes()
    count = goal * goal
    intervals = int(np.frombuffer(content, "<i2", count, 24 + 2 * count).sum())
    start = 24 + 5 * count
    ends = np.frombuffer(content, "<i2", 2 * intervals, start).reshape(-1, 2)
    values = np.frombuffer(content, "<f4", -1, start + 4 * intervals)
    solution = gamedp.solve(Wubbel(goal), tolerance=1e-9)
    assert (
        len(values)
        == solution.model.num_states
        == sum(goal * (goal - own + 1) for own in range(goal))
    )
    if goal == 50:
        assert len(values) == 66_250
    states = [
        State(0, own, other, turn)
        for own in range(goal)
        for other in range(goal)
        for turn in range(goal - own + 1)
    ]
    known = [solution.value(state) for state in states]
    assert values.tolist() == np.array(known, "f4").tolist()
    counts = np.frombuffer(content, "<i2", count, 24 + 2 * count)
    saves = np.zeros(len(values), bool)  # cell by cell
    firsts = np.cumsum([0, *(goal - own + 1 for own in range(goal) for _ in range(goal))])
    for column, (low, high) in zip(np.repeat(np.arange(count), counts), ends.tolist(), strict=True):
        saves[firsts[column] + low : firsts[column] + high + 1] = True
    is_over = [state.own + state.turn >= goal for state in states]
    best = [
        None if over else solution.best_action(state)
        for state, over in zip(states, is_over, strict=True)
    ]
    assert [bool(each) for each in saves] == [each == SAVE for each in best]
    if goal == 50:
        at = [
            ends[n].tolist()
            for n in range(intervals)
            if np.repeat(np.arange(count), counts)[n] == 24
        ]
        assert at == [[16, 17], [21, 44]]  # the article's 0:24


def test_a_page_that_needs_a_server_is_not_left_out_silently(tmp_path, run, register, monkeypatch):
    name = "gamedp.games.kniffel.page:page"
    register("gamedp.pages", name)
    monkeypatch.setattr("gamedp.cli.serve.registered", registry.registered)
    words = "kniffel is a page that needs a server, and cannot be exported."
    code, _, err = run("serve", f"--games={name}", f"--export={tmp_path / 'out'}", "--quiet")
    assert (code, words in err) == (1, True)
    assert not (tmp_path / "out").exists()
    code, out, err = run("serve", f"--games=matches,{name}", f"--export={tmp_path / 'out'}")
    assert (code, f"warning: {words}" in err) == (0, True)
    assert "matches: 36 positions" in out


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--memory=much"], 2, "it must be a number of bytes"),
        (["--memory=nanG"], 2, "it must be a number of bytes"),
        (["--workers=0"], 2, "must be at least 1"),
        (["--set=goal=9"], 2, "name it"),
        (["matches", "--games=nim"], 2, "leave --games out"),
        (["--games=bridge"], 2, "There is no game 'bridge'"),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_said(run, arguments, code, words):
    answer = run("serve", *arguments)
    assert answer[0] == code
    assert words in answer[2]


def test_without_the_extra_the_way_is_said(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "starlette", None)
    code, out, err = run("serve", "matches")
    assert (code, out) == (1, "")
    assert "pip install gamedp[web]" in err


def test_the_command_is_light():
    script = (
        "import gamedp, sys; from gamedp.cli import main; main(['serve', '--help']);"
        "print([name for name in ('starlette', 'uvicorn', 'numba') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="SIGINT is sent")
@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])  # noqa: S104 - for a moment
def test_it_serves_until_ctrl_c(tmp_path, host):
    """At an address that can be asked for as it is printed."""
    file = tmp_path / "countdown.py"
    file.write_text(GAME_FILE)
    process = subprocess.Popen(
        [sys.executable, "-c", MAIN, "serve", f"{file}:Countdown", "--port=0", f"--host={host}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        line = process.stdout.readline()
        assert line.startswith("countdown at http://127.0.0.1:")
        home = line.split(" at ")[1].strip()
        assert process.stdout.readline() == "Ctrl-C ends it.\n"
        assert process.stdout.readline() == "\n"
        assert process.stdout.readline().startswith("Positions are shown as Python prints them.")
        response = httpx.post(f"{home}api/games/countdown/position", json={"line": {}}, timeout=60)
        answer = response.json()
        policy = response.headers["content-security-policy"]
        assert answer["value"]["number"] == 1.0
        assert answer["game"]["parameters"] == {}
        assert policy.startswith("default-src 'none'")
        process.send_signal(signal.SIGINT)
        err = process.communicate(timeout=60)[1]
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, err) == (0, "")


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
@pytest.mark.parametrize("name", ["data", "static", "index.html"])
def test_an_export_follows_no_links(tmp_path, run, name):
    """What lies behind a link is of others: nothing is written there, and nothing removed."""
    folder, others = tmp_path / "out", tmp_path / "others"
    assert run("serve", "--games=matches", f"--export={folder}", "--quiet")[0] == 0
    (folder / name).rename(others)
    (folder / name).symlink_to(others)
    if others.is_dir():
        (others / "own.json").write_text("{}")
    before = others.stat().st_mtime_ns
    code, _, err = run("serve", "--games=matches", f"--export={folder}", "--quiet")
    assert code != 0
    assert "holds something else" in err
    assert others.stat().st_mtime_ns == before
    if others.is_dir():
        assert (others / "own.json").exists()


@pytest.mark.skipif(os.name == "nt", reason="SIGINT is sent")
def test_ctrl_c_ends_it_while_a_game_is_being_solved():
    process = subprocess.Popen(
        [sys.executable, "-c", MAIN, "serve", "--games=wubbel", "--port=0", "--quiet"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        home = re.search(r"http://\S+/", process.stdout.readline())[0]
        asked = {"line": {}, "parameters": {"goal": 93}}  # takes long
        response = httpx.post(f"{home}api/games/wubbel/position", json=asked, timeout=60)
        assert response.status_code == 202
        process.send_signal(signal.SIGINT)
        err = process.communicate(timeout=60)[1]
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, err) == (0, "")


@pytest.mark.parametrize(
    ("host", "names"),
    [
        ("0.0.0.0", ()),  # noqa: S104 - nothing is bound
        ("::", ()),
        ("192.0.2.7", ("192.0.2.7",)),
        ("fe80::1", ("[fe80::1]",)),
    ],
)
def test_browsers_may_ask_for_the_address_that_is_listened_at(host, names):
    assert serve._own_names(host) == names


def test_a_saved_solution_is_served(tmp_path, run, monkeypatch):
    folder = tmp_path / "saved"
    assert run("solve", "matches", "--set=matches=9", f"--save={folder}", "--quiet")[0] == 0
    served = {}
    monkeypatch.setattr(serve, "serve", lambda games, tables, **_: served.update(games=games))
    assert main(["serve", str(folder), "--quiet"]) == 0
    (listed,) = served["games"].values()
    assert listed.name == "matches"
    with Client([listed]) as client:
        answer = client.position("matches")
    assert answer["basis"]["states"] == 10
    assert answer["value"]["number"] == -1
    assert answer["game"]["parameters"] == {"matches": 9, "takes": [1, 2, 3], "misere": True}
    assert listed.fixed.rules.game == Matches(9)


def test_the_first_parameter_may_follow_a_colon(monkeypatch):
    served = {}
    monkeypatch.setattr(serve, "serve", lambda games, tables, **_: served.update(games=games))
    assert main(["serve", "matches:9", "--set=takes=1,2", "--quiet"]) == 0
    (listed,) = served["games"].values()
    assert (listed.name, listed.given) == ("matches", {"matches": 9, "takes": (1, 2)})


def test_a_page_that_a_game_brings_along_is_served(run, register, monkeypatch):
    name = "gamedp.games.kniffel.page:page"
    register("gamedp.pages", name)
    monkeypatch.setattr("gamedp.cli.serve.registered", registry.registered)
    served = {}
    monkeypatch.setattr(serve, "serve", lambda games, tables, **more: served.update(more))
    for arguments in ([name], [f"--games={name}"]):
        served.clear()
        assert run("serve", *arguments)[0] == 0
        assert [page.name for page in served["pages"]] == ["kniffel"]


class Bare:
    """A registered game that cannot be made from its defaults."""

    def __init__(self, size):
        self.size = size


class Wide:
    """Chance has more outcomes than a page can show."""

    def initial_state(self):
        return 0

    def is_terminal(self, state):
        return state == 1

    def actions(self, state):
        return (0,)

    def outcomes(self, state, action):
        return [(1 / 5_000, 1)] * 5_000

    def payoff(self, state, player):
        return 1.0


def test_what_cannot_be_served_is_left_out_of_all_and_an_error_by_name(run, register, monkeypatch):
    names = [f"{__name__}:Bare", f"{__name__}:Wide", "no.such.package:Game"]
    register("gamedp.games", *names)
    monkeypatch.setattr("gamedp.cli.serve.registered", registry.registered)
    served = {}
    monkeypatch.setattr(serve, "serve", lambda games, tables, **more: served.update(games))
    code, _, err = run("serve")
    assert code == 0
    assert list(served) == ["mancala", "matches", "nim", "wubbel"]
    for name, why in zip(names, ("needs size", "4,000 outcomes", "cannot be loaded"), strict=True):
        warning = re.search(f"warning: {name} is left out: .*{why}", err)
        # Among all, a game without defaults is no surprise.
        assert (warning is None) == (why == "needs size")
        code, _, err_of_one = run("serve", f"--games={name}")
        assert code != 0
        assert why in err_of_one


def test_a_game_that_is_too_wide_is_an_error_of_the_command(run):
    code, out, err = run("serve", f"{__file__}:Wide", "--quiet")
    assert (code, out) == (1, "")
    assert "more than 4,000 outcomes" in err


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("NoughtsAndCrosses", "noughts-and-crosses"),
        ("TicTacToe3D", "tic-tac-toe3d"),
        ("HTTPGame", "http-game"),
        ("Über_Spiel", "-ber-spiel"),
        ("nim", "nim"),
    ],
)
def test_the_name_of_a_class_becomes_words(name, address):
    assert short_name(name) == address


def test_the_pages_are_registered():
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    points = tomllib.loads(text)["project"]["entry-points"]["gamedp.pages"]
    assert points == {"kniffel": "gamedp.games.kniffel.page:page"}


def test_a_port_that_is_taken_is_said(run):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, _, err = run("serve", "matches", f"--port={port}", "--quiet")
    assert code == 2
    assert f"port {port} of 127.0.0.1 cannot be listened at" in err
    code, _, err = run("serve", "matches", "--port=99999", "--quiet")
    assert (code, "Name another" in err) == (2, True)
