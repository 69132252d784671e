"""Programs at play: what they are asked, and what becomes of those that misbehave."""

import contextlib
import gc
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
import tracemalloc
from pathlib import Path
from typing import NamedTuple

import attrs
import pytest
from hypothesis import given, strategies
from waiting import PATIENCE, wait_until

import gamedp
from gamedp.errors import InvalidParameterError, UnsupportedProblemError
from gamedp.games.wubbel import State, Wubbel
from gamedp.play import Program, Remote
from gamedp.play.channel import KEEPER, Channel
from gamedp.play.protocol import Fault, action_in, message_line, name_in, question, read_answer
from gamedp.rules import Rules

BAD_BOT = Path(__file__).parent.parent / "helpers" / "bad_bot.py"
PYTHON = (sys.executable, "-I", "-S")

PATIENT = {"seconds": 600, "start_seconds": 300}
"""Time for those that must not lose on it, however busy the machine is."""

HASTY = {"seconds": 0.2, "margin": 0.1, "increment": 0, "start_seconds": 300}
"""Time for those that lose on it."""

FAULTS = {
    "crash": ("disconnect", "exit status 1. Its last output: 'out of ideas'"),
    "signal": ("disconnect", "It has ended with signal "),
    "hang": ("time", "no answer within"),
    "nonsense": ("protocol error", "which is not JSON"),
    "illegal": ("illegal action", "the action 7"),
    "true": ("illegal action", "the action True"),
    "nan": ("protocol error", "NaN is not a JSON number"),
    "flood": ("protocol error", "a line of more than 65,536 bytes"),
    "lines": ("protocol error", "it writes more than its answer"),
    "ahead": ("protocol error", "it writes more than its answer"),
    "drip": ("time", "no answer within"),
    "brackets": ("protocol error", "nested too deeply"),
    "stubborn": ("time", "no answer within"),
    "closes": ("disconnect", "it has closed its output"),
    "memory": ("disconnect", "MemoryError"),
    "bytes": ("protocol error", "which is not UTF-8"),
}
"""Sixteen of eighteen ways to lose; a program that does not exist has no moments, and one that
floods its standard error does not lose."""


class Rung(NamedTuple):
    player: int
    ply: int
    sum: int


@attrs.frozen
class Unbounded:
    """Six plies, in turn; whoever has put in more wins."""

    num_players = 2

    def initial_state(self):
        return Rung(0, 0, 0)

    def is_terminal(self, state):
        return state.ply == 6

    def player(self, state):
        return state.player

    def actions(self, state):
        return (0, 1)

    def outcomes(self, state, action):
        sign = 1 - 2 * state.player
        return [(1.0, Rung(1 - state.player, state.ply + 1, state.sum + sign * action))]

    def payoff(self, state, player):
        lead = (state.sum > 0) - (state.sum < 0)
        return float(lead if player == 0 else -lead)


@attrs.frozen
class Ladder(Unbounded):
    """The same, and its rules say how much there is to win."""

    def value_range(self, state, player):
        return -1.0, 1.0


def high(state, _rng):
    return 1


class Server:
    """Starts a program for each connection, as inetd does; all are gone after `stop`."""

    def __init__(self, command):
        self.command, self.processes = command, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                link, _ = self.listener.accept()
                with link:
                    # The limit is there before the program begins, however busy the machine is.
                    limited = ["sh", "-c", 'ulimit -v 4194304 && exec "$@"', "sh", *self.command]
                    started = subprocess.Popen(
                        limited, stdin=link, stdout=link, stderr=subprocess.DEVNULL,
                        start_new_session=True,
                    )  # fmt: skip
                    self.processes.append(started)

    def stop(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join()
        for process in self.processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """Wait for those that are about to end, however busy the machine is."""
    for limit in ("GRACE", "LAST_WORDS", "DYING"):
        monkeypatch.setattr(f"gamedp.play.channel.{limit}", 60.0)


@pytest.fixture(autouse=True, scope="module")
def nothing_forgotten():
    """Close files that tests before have forgotten, which are counted else."""
    gc.collect()
    gc.freeze()  # what is there by now is not looked through again


@pytest.fixture(params=["pipe", "tcp"])
def outside(request):
    """Make a player of a command, reached over pipes or TCP."""
    gc.collect()
    servers = []

    def make(*command, **times):
        if request.param == "pipe":
            return Program(command, **times)
        servers.append(Server(command))
        return Remote(servers[-1].address, **times)

    def stop():
        while servers:
            servers.pop().stop()

    make.kind, make.stop = request.param, stop
    yield make
    stop()


def files_open():
    return {path.name for path in Path("/proc/self/fd").iterdir()}


def running(mark):
    """Return the processes with this text on their command line."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                if str(mark).encode() in (folder / "cmdline").read_bytes():
                    found.append(int(folder.name))
    return found


def all_end(mark):
    """Wait until no process has this text on its command line: the system takes its time."""
    wait_until(lambda: not running(mark))


def bad(outside, tmp_path, fault, moment, **times):
    return outside(*PYTHON, str(BAD_BOT), fault, str(moment), str(tmp_path), **times)


linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")


@pytest.mark.slow
@linux
@pytest.mark.parametrize("moment", range(3), ids=["first", "middle", "last"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_program_that_misbehaves_loses_its_games_and_nothing_else_happens(
    outside, tmp_path, monkeypatch, fault, moment
):
    if fault == "closes":  # and does not end
        monkeypatch.setattr("gamedp.play.channel.LAST_WORDS", 0.05)
    reason, detail = FAULTS[fault]
    times = HASTY if reason == "time" else PATIENT
    before = files_open()
    player = bad(outside, tmp_path, fault, moment, **times)
    result = gamedp.play.match(Ladder(), player, high, games=2, seed=0)
    outside.stop()
    assert files_open() == before
    all_end(tmp_path)
    assert (result.wins, result.losses, result.unfinished, result.forfeits) == (0, 2, 0, (2, 0))
    for seat, record in enumerate(result.records):
        assert record.forfeit.player == seat
        assert record.forfeit.reason == reason
        if outside.kind == "pipe" or fault not in {
            "crash",
            "memory",
            "signal",
        }:  # it ends elsewhere
            assert detail in record.forfeit.detail
        assert record.payoffs == ((-1.0, 1.0), (1.0, -1.0))[seat]
        assert not record.is_finished
        if reason != "time":  # on a busy machine, it may have lost earlier
            assert record.plies == 2 * moment + seat
            assert record.actions == tuple((ply + seat) % 2 for ply in range(record.plies))
    after = gamedp.play.match(Ladder(), high, lambda state, rng: 0, games=2, seed=0)
    assert after.wins == 2


@linux
def test_a_program_that_floods_its_standard_error_plays_on(outside, tmp_path):
    before = files_open()
    for moment in range(3):
        player = bad(outside, tmp_path, "stderr", moment, **PATIENT)
        record = gamedp.play.play_game(Ladder(), [player, high])
        assert record.forfeit is None
        assert record.actions == (0, 1) * 3
    outside.stop()
    assert files_open() == before
    all_end(tmp_path)


def test_a_program_that_cannot_be_started_loses(tmp_path):
    taken = socket.socket()  # bound, so that nobody else listens there, and does not listen itself
    taken.bind(("127.0.0.1", 0))
    port = taken.getsockname()[1]
    text = tmp_path / "text"
    text.write_text("no program")
    for player, detail in [
        (Program(str(tmp_path / "missing")), "No such file"),
        (Program(str(text)), "Is it executable (chmod +x"),
        (Remote(f"127.0.0.1:{port}"), "refused"),
        (Remote("no..such:80"), "does not answer"),
    ]:
        record = gamedp.play.play_game(Ladder(), [high, player])
        assert (record.forfeit.player, record.forfeit.reason) == (1, "no start")
        assert detail in record.forfeit.detail
        assert (record.plies, record.payoffs) == (0, (1.0, -1.0))
    taken.close()


def test_floods_take_no_memory(outside, tmp_path):
    players = [
        bad(outside, tmp_path, fault, 0, **PATIENT) for fault in ("flood", "lines", "stderr")
    ]
    for player in players:
        gamedp.play.play_game(Ladder(), [player, high])  # modules and caches
    tracemalloc.start()
    for player in players:
        gamedp.play.play_game(Ladder(), [player, high])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2_000_000


def test_programs_stay_for_all_games_and_are_told_how_each_ends(tmp_path):
    log = tmp_path / "log"
    script = (
        "import json, os, sys\n"
        "for line in sys.stdin:\n"
        "    message = json.loads(line)\n"
        f"    print(os.getpid(), line, file=open({str(log)!r}, 'a'), end='')\n"
        "    if 'ask' in message:\n"
        "        print(json.dumps({'id': message['id'], 'action': 1, 'note': [1]}), flush=True)\n"
        f"print('end', file=open({str(log)!r}, 'a'))\n"
    )
    player = Program((*PYTHON, "-c", script), **PATIENT)
    result = gamedp.play.match(Ladder(), player, high, games=4, seed=0)
    assert (result.draws, result.forfeits) == (4, (0, 0))
    *lines, last = log.read_text().splitlines()
    assert last == "end"  # it has seen the end of its input, and has not been killed
    processes, messages = zip(*(line.split(" ", 1) for line in lines), strict=True)
    assert len(set(processes)) == 1
    messages = [json.loads(message) for message in messages]
    assert len({message.pop("id") for message in messages if "ask" in message}) == 4 * 4
    assert messages[:2] == [
        {
            "ask": "hello", "protocol": 1, "game": "Ladder", "parameters": {}, "seat": 0,
            "seconds": 600, "increment": 0.1,
        },
        {
            "ask": "action", "state": {"player": 0, "ply": 0, "sum": 0}, "actions": [0, 1],
            "names": ["0", "1"], "left": 600,
        },
    ]  # fmt: skip
    assert [message["seat"] for message in messages if message.get("ask") == "hello"] == [0, 1] * 2
    assert [message for message in messages if "tell" in message] == [
        {"tell": "end", "payoffs": [0.0, 0.0]}
    ] * 4


def test_the_other_program_is_told_of_a_forfeit(tmp_path):
    log = tmp_path / "log"
    script = (
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    message = json.loads(line)\n"
        f"    print(line, file=open({str(log)!r}, 'a'), end='')\n"
        "    if 'ask' in message:\n"
        "        print(json.dumps({'id': message['id'], 'action': 1}), flush=True)\n"
    )
    good = Program((*PYTHON, "-c", script), **PATIENT)
    offender = Program((*PYTHON, str(BAD_BOT), "illegal", "1"), **PATIENT)
    record = gamedp.play.play_game(Ladder(), [good, offender])
    assert record.forfeit.player == 1
    assert json.loads(log.read_text().splitlines()[-1]) == {
        "tell": "end", "payoffs": [1.0, -1.0],
        "forfeit": {"player": 1, "reason": "illegal action"},
    }  # fmt: skip


def test_each_seat_of_a_program_is_a_process_of_its_own():
    player = Program((*PYTHON, str(BAD_BOT), "nothing", "9"), **PATIENT)
    record = gamedp.play.play_game(Ladder(), [player, player])
    assert (record.actions, record.forfeit) == ((0,) * 6, None)


def test_a_forfeit_without_a_range_of_values_has_no_payoffs_and_is_lost():
    player = Program((*PYTHON, str(BAD_BOT), "illegal", "0"), **PATIENT)
    result = gamedp.play.match(Unbounded(), high, player, games=2, seed=0)
    assert [record.payoffs for record in result.records] == [None, None]
    assert (result.wins, result.unfinished, result.forfeits) == (2, 0, (0, 2))


def test_forfeited_games_are_kept_in_files(tmp_path):
    player = Program((*PYTHON, str(BAD_BOT), "illegal", "1"), **PATIENT)
    result = gamedp.play.match(Ladder(), player, high, games=2, seed=0)
    path = tmp_path / "games.jsonl"
    gamedp.play.save_games(path, Ladder(), result.records)
    _, records = gamedp.play.load_games(path, Ladder())
    assert records == list(result.records)
    text = path.read_text()
    for wrong in ('"player": 5', '"player": true', '"reason": "bad manners"', '"detail": 3'):
        name = wrong.partition(":")[0]
        first, entry, second = text.splitlines()
        changed = json.loads(entry)
        changed["forfeit"][name.strip('"')] = json.loads(wrong.partition(":")[2])
        path.write_text("\n".join([first, json.dumps(changed), second]))
        with pytest.raises(gamedp.errors.DamagedFileError, match="no forfeit"):
            gamedp.play.load_games(path, Ladder())


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"", "not JSON"),
        (b"[" * 20_000, "nested too deeply"),
        (b'{"id": 7, "action": 1' + b"0" * 5_000 + b"}", "not JSON"),
        (b"7", "not a JSON object"),
        (b"{}", "the id of the question is 7"),
        (b'{"id": 6, "action": 1}', "the id of the question is 7"),
        (b'{"id": 7.0, "action": 1}', "the id of the question is 7"),
        (b'{"id": true}', "the id of the question is 7"),
        (b'{"id": 7, "action": Infinity}', "not a JSON number"),
        (b"\xff", "not UTF-8"),
    ],
)
def test_what_is_no_answer_is_refused(line, reason):
    with pytest.raises(Fault, match=reason):
        read_answer(line, 7)


@given(line=strategies.binary(max_size=50))
def test_any_bytes_are_an_answer_or_a_fault(line):
    with contextlib.suppress(Fault):
        assert action_in(read_answer(line, 7), [0, 1]) in {0, 1}


@pytest.mark.parametrize("action", [True, 1.0, "1", None, [1], 2, -1, 1 << 70, {}])
def test_an_action_is_one_of_the_numbers_that_were_offered(action):
    with pytest.raises(Fault) as caught:
        action_in({"id": 7, "action": action}, [0, 1])
    assert caught.value.reason == "illegal action"


def test_names_are_short_and_printable():
    assert name_in({"name": "a\x1b[31m\nb" + "c" * 1_000}, "x") == "a[31mb" + "c" * 92
    with pytest.raises(Fault, match="not text"):
        name_in({"name": 3}, "x")


def test_states_that_cannot_be_sent_are_refused():
    class Odd(NamedTuple):
        part: object

    with pytest.raises(UnsupportedProblemError, match="a function cannot be written down"):
        question(Rules(Ladder()), Odd(high), [0, 1])
    with pytest.raises(UnsupportedProblemError, match="at most 65,536"):
        message_line({"state": "x" * 70_000})
    with pytest.raises(UnsupportedProblemError, match="cannot be sent"):
        message_line({"state": float("nan")})
    asked = question(Rules(Wubbel()), State(0, 0, 24, 17), [0, 1])
    assert asked["state"] == {"player": 0, "own": 0, "opponent": 24, "turn": 17}


class Wire:
    """The two ends of a program, and a clock that goes on when it is told to."""

    def __init__(self):
        self.near, self.far = socket.socketpair()
        self.near.setblocking(False)
        self.now = 0.0
        self.channel = Channel(
            self.near, self.near, self.near.recv, self.near.send, lambda: self.now
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.channel.close()
        self.near.close()
        self.far.close()


def test_an_answer_that_lies_ready_counts_although_this_process_has_slept():
    with Wire() as wire:
        wire.far.sendall(b'{"id": 1}\n')
        ticks = iter([0.0, 99.0, 99.0])
        wire.channel._clock = lambda: next(ticks)
        assert wire.channel.ask(b"?\n", 1.0) == (b'{"id": 1}', 99.0)


def test_no_answer_is_a_loss_on_time_and_half_an_answer_too():
    for sent in (b"", b'{"id":'):
        with Wire() as wire:
            wire.far.sendall(sent)
            ticks = iter([0.0, 0.5, 1.5])
            wire.channel._clock = lambda ticks=ticks: next(ticks, 2.0)
            with pytest.raises(Fault, match=r"no answer within 1\.000 s"):
                wire.channel.ask(b"?\n", 1.0)


def test_a_line_has_64_kib_at_most():
    for size, fits in ((65_535, True), (65_536, False)):
        with Wire() as wire:
            sender = threading.Thread(target=wire.far.sendall, args=(b"x" * size + b"\n",))
            sender.start()
            if fits:
                assert wire.channel.ask(b"?\n", 300.0)[0] == b"x" * size
            else:
                with pytest.raises(Fault, match="more than 65,536 bytes"):
                    wire.channel.ask(b"?\n", 300.0)
            sender.join()


def test_a_program_that_does_not_read_loses_on_time_and_the_rest_is_sent_when_it_does():
    with Wire() as wire:
        wire.near.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4_096)
        long = b"x" * 1_000_000 + b"\n"
        wire.channel._clock = iter([0.0, 0.0, 2.0]).__next__
        with pytest.raises(Fault) as caught:
            wire.channel.ask(long, 1.0)
        assert caught.value.reason == "time"
        received = []

        def read():
            while not (received and received[-1].endswith(b"\n")):
                received.append(wire.far.recv(65_536))
            wire.far.sendall(b"done\n")

        reader = threading.Thread(target=read)
        reader.start()
        wire.channel._clock = time.monotonic
        answer, _ = wire.channel.ask(b"", 300.0)
        reader.join()
        assert (b"".join(received), answer) == (long, b"done")


def test_players_that_make_no_sense_are_refused():
    for make, part in [
        (lambda: Program(""), "a program and its arguments"),
        (lambda: Program(()), "a program and its arguments"),
        (lambda: Program((1,)), "a program and its arguments"),
        (lambda: Program("'a"), "split into words"),
        (lambda: Program("a", seconds=0), "seconds is 0"),
        (lambda: Program("a", seconds=float("inf")), "finite"),
        (lambda: Program("a", margin=-1), "margin is -1"),
        (lambda: Program("a", max_bytes=0), "max_bytes is 0"),
        (lambda: Remote("7000"), "host:port"),
        (lambda: Remote("localhost:99999"), "host:port"),
        (lambda: Remote("localhost:x"), "host:port"),
    ]:
        with pytest.raises(InvalidParameterError, match=part):
            make()


def test_programs_are_values():
    assert Program("./bot --level 3") == Program(("./bot", "--level", "3"))
    assert len({Program("a"), Program("a"), Program("a", seconds=1), Remote("a:1")}) == 3
    assert str(Program("'a b' c")) == "'a b' c"
    assert Program("a", max_bytes=None).max_bytes is None


@linux
def test_an_error_of_somebody_else_leaves_no_program_behind(outside, tmp_path):
    def fails(state, _rng):
        raise KeyboardInterrupt

    before = files_open()
    player = bad(outside, tmp_path, "nothing", 9, **PATIENT)
    with pytest.raises(KeyboardInterrupt):
        gamedp.play.play_game(Ladder(), [player, fails])
    with pytest.raises(KeyboardInterrupt):
        gamedp.play.tournament(Ladder(), {"a": player, "b": fails}, games=2)
    outside.stop()
    assert files_open() == before
    all_end(tmp_path)


STUBBORN = r"""
trap '' HUP INT TERM
while read -r line; do
    id=${line#*'"id":'}
    case $line in
    *'"ask"'*) echo "{\"id\":${id%%,*},\"name\":\"stubborn\",\"action\":0}" ;;
    esac
done
while :; do sleep 600; done
"""
"""Plays, and goes on after its input has ended."""


def stubborn(mark, before=""):
    return Program(["sh", "-c", before + STUBBORN, str(mark)], max_bytes=None, **PATIENT)


@contextlib.contextmanager
def ctrl_c_at(lines):
    """Raise KeyboardInterrupt at such lines that run in the files of programs, by their numbers."""
    files = ("/gamedp/play/", "/subprocess.py")
    count, usual = 0, sys.gettrace()

    def trace(frame, event, argument):
        nonlocal count
        if not any(part in frame.f_code.co_filename for part in files):
            return None
        count += event == "line"
        if event == "line" and count - 1 in lines:
            raise KeyboardInterrupt
        return trace

    sys.settrace(trace)
    try:
        yield lambda: count
    finally:
        sys.settrace(usual)


@pytest.mark.slow
@linux
@pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
@pytest.mark.parametrize("again", [None, 1, 9], ids=["once", "twice at once", "twice"])
def test_ctrl_c_leaves_no_program_behind_at_whatever_moment(tmp_path, monkeypatch, again):
    monkeypatch.setattr("gamedp.play.channel.GRACE", 0.02)

    def play():
        with contextlib.suppress(KeyboardInterrupt):
            player = stubborn(tmp_path)
            gamedp.play.play_game(Ladder(), [player, high], seed=1)

    with ctrl_c_at(()) as count:
        play()
    assert count() > 500
    for line in range(0, count(), 29):
        with ctrl_c_at({line} if again is None else {line, line + again}):
            play()
        gc.collect()
        all_end(tmp_path)


STARTS = """
import sys, time
import gamedp.play.channel

program = gamedp.play.channel.Pipes(sys.argv[1:], None)
print("started", flush=True)
time.sleep(600)
"""


@linux
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_program_ends_with_who_has_started_it(tmp_path, how):
    command = stubborn(tmp_path / "program").command
    parent = subprocess.Popen(
        [sys.executable, "-c", STARTS, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        process_group=0,
    )
    with parent.stdout as out:
        assert out.readline() == b"started\n"
    assert running(tmp_path / "program")
    os.killpg(parent.pid, how)
    parent.wait()
    all_end(tmp_path)


@pytest.mark.slow
@linux
@pytest.mark.parametrize(
    "before",
    [
        """sh -c 'while :; do sleep 600; done' "$0" & """,
        "kill -9 $PPID; ",  # what stands between
        "kill -TERM 0; kill -INT 0; kill -HUP 0; ",  # as scripts tidy up, with what stands between
        "kill -STOP $PPID; ",
        'exec setsid sh "$0/program.sh"; ',
    ],
    ids=["a child", "kills", "tidies up", "stops", "leaves the group"],
)
@pytest.mark.parametrize("is_late", [False, True], ids=["", "before the keeper reports"])
def test_a_program_is_killed_whatever_it_does_to_others(tmp_path, monkeypatch, before, is_late):
    monkeypatch.setattr("gamedp.play.channel.GRACE", 0.02)
    if is_late:
        last_step = "    try:\n        if most:"
        assert last_step in KEEPER.read_text()
        late = "    __import__('time').sleep(0.5)\n" + last_step
        (tmp_path / "keeper.py").write_text(KEEPER.read_text().replace(last_step, late))
        monkeypatch.setattr("gamedp.play.channel.KEEPER", tmp_path / "keeper.py")
    if "STOP" in before:  # which keeps it from killing
        monkeypatch.setattr("gamedp.play.channel.DYING", 0.2)
    (tmp_path / "program.sh").write_text(STUBBORN)
    player = stubborn(tmp_path, "trap '' HUP INT TERM; " + before)
    record = gamedp.play.play_game(Ladder(), [player, high], seed=1)
    all_end(tmp_path)
    assert record.is_finished or "-9" in before  # it may be gone before it says that all is well


@linux
def test_a_command_that_is_interrupted_twice_leaves_no_program_behind(tmp_path):
    command = " ".join(map(shlex.quote, stubborn(tmp_path / "program").command))
    process = subprocess.Popen(
        [sys.executable, "-m", "gamedp", "referee", "check", command, "matches"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    wait_until(lambda: len(running(tmp_path / "program")) > 2, process)  # and what stands between
    for _ in range(2):
        process.send_signal(signal.SIGINT)
        time.sleep(0.05)
    process.communicate(timeout=PATIENCE)
    all_end(tmp_path / "program")
