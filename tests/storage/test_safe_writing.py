"""Files while things go wrong: damage, a full disk, kills, Ctrl-C, little that one may write."""

import contextlib
import importlib.util
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from depth import first_of
from staged_games import StagedWubbel
from waiting import PATIENCE

import gamedp
from gamedp.errors import DamagedFileError, GamedpError
from gamedp.games.kniffel import Card, Record, RecordOfTwo, load_record
from gamedp.games.matches import Matches, Nim
from gamedp.runtime.files import is_temporary, write_whole
from gamedp.storage.texts import write_csv

POSIX = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals and limits")


def model_of_arrays():
    return gamedp.Model.from_arrays(
        [0, 2, 3, 3],
        [0, 2, 3, 4],
        [1, 0, 2, 2],
        [0.25, 0.75, 1.0, 1.0],
        rewards=[1.0, 0.5, 2.0],
        payoffs=[0.0],
    )


def write_records(path):
    games = [gamedp.play.play_game(Matches(9), [lambda state, _: 1] * 2, compile="never")]
    gamedp.play.save_games(path, Matches(9), games * 3)


def write_kniffel(path):
    Record(start=Card.of("- 8 - 16 15 - 15 9 25 30 40 - -")).thrown("11456").save(path)


def write_kniffel_of_two(path):
    players = (Record(seed=1).thrown("11456").keeping("11"), Record(seed=2))
    RecordOfTwo(players).save(path)


def write_figures(path):
    """Write what the benchmarks have found, as they do."""
    script = Path(__file__).parents[2] / "benchmarks" / "measure.py"
    spec = importlib.util.spec_from_file_location("measure", script)
    measure = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(measure)
    measure.save(path, {"rows": [{"what": "states a second", "ours": number} for number in "123"]})


WRITERS = {
    "solution": lambda path: gamedp.save(gamedp.solve(Matches(5), compile="never"), path),
    "solution of arrays": lambda path: gamedp.save(gamedp.solve(model_of_arrays()), path),
    "staged solution": lambda path: gamedp.save(
        gamedp.solve(StagedWubbel(4), compile="never"), path
    ),
    "certificate": lambda path: gamedp.save(gamedp.certify(gamedp.solve(model_of_arrays())), path),
    "games.jsonl": write_records,
    "model.umb": lambda path: gamedp.write_model(path, model_of_arrays()),
    "model.drn": lambda path: gamedp.write_model(path, model_of_arrays()),
    "table.csv": lambda path: write_csv(
        path, gamedp.solve(Matches(5), compile="never").to_columns()
    ),
    "policy.json": lambda path: gamedp.write_policy(
        path, gamedp.solve(Matches(5), compile="never")
    ),
    "kniffel.jsonl": write_kniffel,
    "two.jsonl": write_kniffel_of_two,
    "figures.json": write_figures,
}
"""What writes a file or a folder, by the name that it gets."""

READERS = {
    "solution": gamedp.load,
    "solution of arrays": gamedp.load,
    "staged solution": lambda path: gamedp.load(path, game=StagedWubbel(4)),
    "certificate": gamedp.load,
    "games.jsonl": gamedp.play.load_games,
    "model.umb": lambda path: gamedp.read_model(path, max_bytes=1e7),
    "model.drn": lambda path: gamedp.read_model(path, max_bytes=1e7),
    "table.csv": Path.read_text,
    "policy.json": lambda path: json.loads(path.read_text()),
    "kniffel.jsonl": load_record,
    "two.jsonl": load_record,
    "figures.json": lambda path: json.loads(path.read_text()),
}
LOADED = [name for name in READERS if name not in {"table.csv", "policy.json", "figures.json"}]

CHECKED = {"solution", "solution of arrays", "staged solution", "certificate"}
"""Those with checksums: whatever is damaged is noticed."""


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    """Write each kind once."""
    folder = tmp_path_factory.mktemp("originals")
    for name, write in WRITERS.items():
        write(folder / name)
    return folder


def dice_of(seed):
    """Return random numbers that are the same each time."""
    return random.Random(seed)  # noqa: S311 - nothing is secret


def contents(path):
    """Return the files of a folder, or the file itself, with their bytes."""
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    return {str(each): each.read_bytes() for each in files if each.is_file()}


def copied_file(original, path):
    if original.is_dir():
        shutil.copytree(original, path)
    else:
        shutil.copy(original, path)
    return path


# Damage ------------------------------------------------------------------------------------------


def damage(path, dice):
    """Flip some bits of one file, or cut it short, or put something else into it."""
    files = [Path(name) for name in contents(path)]
    victim = dice.choice(files)
    data = bytearray(victim.read_bytes())
    kind = dice.randrange(4)
    if kind == 0:
        del data[dice.randrange(len(data)) :]
    elif kind == 1:
        start = dice.randrange(len(data))
        data[start : start + dice.randrange(1, 9)] = dice.randbytes(dice.randrange(9))
    else:
        for _ in range(dice.choice((1, 1, 1, 5, 50))):
            data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    changed = bytes(data) != victim.read_bytes()
    victim.write_bytes(bytes(data))
    return changed


def check_damages(name, originals, tmp_path, seeds):
    """Read what was damaged: an error of ours, or something to be read; and never another error."""
    refused = 0
    for seed in seeds:
        dice = dice_of(f"{name} {seed}")
        path = copied_file(originals / name, tmp_path / f"{seed}-{name}")
        changed = damage(path, dice)
        try:
            READERS[name](path)
        except (GamedpError, FileNotFoundError):
            refused += 1
        else:
            assert not (changed and name in CHECKED)
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    return refused


@pytest.mark.parametrize("name", LOADED)
def test_damaged_files_are_refused_in_words(name, originals, tmp_path):
    assert check_damages(name, originals, tmp_path, range(25)) > 5


@pytest.mark.deep
@pytest.mark.parametrize("name", LOADED)
def test_files_damaged_in_many_ways_are_refused_in_words(name, originals, tmp_path):
    assert check_damages(name, originals, tmp_path, range(1000, 1300)) > 50


# A full disk -------------------------------------------------------------------------------------


@contextlib.contextmanager
def full_disk_after(num_bytes):
    """Let no file grow beyond so many bytes: what goes on writing fails, as on a full disk."""
    import resource

    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (num_bytes, usual[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)


@POSIX
@pytest.mark.parametrize("before", [False, True], ids=["new", "again"])
@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_leaves_what_was_there_and_the_error_names_the_file(
    name, before, originals, tmp_path
):
    path = tmp_path / name
    largest = max(map(len, contents(originals / name).values()))
    if before:
        copied_file(originals / name, path)
    kept = contents(path) if before else {}
    for num_bytes in sorted({0, 1, largest // 2}):
        with pytest.raises(OSError, match=r".") as raised, full_disk_after(num_bytes):
            WRITERS[name](path)
        assert raised.value.filename is not None
        assert str(path) in str(raised.value)
        assert not list(filter(is_temporary, tmp_path.rglob("*")))
        if before:
            assert contents(path) == kept
            READERS[name](path)
        else:
            with pytest.raises((GamedpError, OSError)):
                READERS[name](path)
    WRITERS[name](path)
    READERS[name](path)


# Kills and Ctrl-C --------------------------------------------------------------------------------

WRITING = """
import pathlib, sys, gamedp
from gamedp.games.kniffel import Card, Record, RecordOfTwo, load_record
from gamedp.games.matches import Matches, Nim
from test_safe_writing import WRITERS
solutions = [gamedp.solve(game, compile="never") for game in (Matches(5), Nim(heaps=(2, 3)))]
kind, path = sys.argv[1], pathlib.Path(sys.argv[2])
write = {
    "solution": lambda turn: gamedp.save(solutions[turn], path),
    "certificate": lambda turn: gamedp.save(gamedp.certify(solutions[turn]), path),
}.get(kind, lambda turn: WRITERS[kind](path))
write(0)
print("ready", flush=True)
turn = 0
while True:
    turn = 1 - turn
    write(turn)
"""


def writing(name, path):
    """Return a process that writes a file again and again, once it does."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITING, name, str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ
        | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])},
    )
    assert process.stdout.readline() == "ready\n"
    return process


def wait(seconds):
    threading.Event().wait(seconds)


STOPPED = ("solution", "games.jsonl", "model.umb")
"""A folder, some lines, and a single file."""


@pytest.mark.deep
@POSIX
@pytest.mark.parametrize(
    "stop",
    first_of(
        [
            *[(name, signal.SIGKILL) for name in STOPPED],
            *[(name, signal.SIGINT) for name in ("solution", "model.umb")],
            *[(name, signal.SIGKILL) for name in ("certificate", "model.drn", "table.csv")],
            *[(name, signal.SIGKILL) for name in ("kniffel.jsonl", "two.jsonl", "figures.json")],
        ],
        4,
    ),
    ids=lambda stop: f"{stop[0]}-{stop[1]}",
)
def test_who_stops_while_writing_leaves_what_can_be_read(stop, tmp_path):
    name, how = stop
    path = tmp_path / name
    process = writing(name, path)
    wait(dice_of(f"{name} {how}").uniform(0.0, 0.1))
    process.send_signal(how)
    process.communicate(timeout=PATIENCE)
    assert process.returncode in {-how, 130}
    READERS[name](path)
    if how == signal.SIGINT:  # who is killed cannot tidy up
        assert not list(filter(is_temporary, tmp_path.rglob("*")))
    WRITERS[name](path)
    READERS[name](path)


def read_beside_two_writers(name, path, rounds):
    """Load what two processes save again and again; return how often each, and what was refused."""
    games = (Matches(5), Nim(heaps=(2, 3)))
    solutions = [gamedp.solve(game, compile="never") for game in games]
    whole = [(each.values, each.lower, each.upper, each.model.digest()) for each in solutions]
    seen, refused = [0, 0], []
    writers = [writing(name, path) for _ in range(2)]
    try:
        for done in range(100 * rounds):
            if done >= rounds and min(seen) > 0:
                break
            try:
                found = READERS[name](path)
            except GamedpError as error:
                refused.append(error)
                continue
            digest = found.digest if name == "certificate" else found.model.digest()
            number = [each[-1] for each in whole].index(digest)
            for array, expected in zip((found.lower, found.upper), whole[number][1:3], strict=True):
                assert (array == expected).all()
            seen[number] += 1
    finally:
        for writer in writers:
            writer.kill()
            writer.communicate(timeout=PATIENCE)
    return seen, refused


@POSIX
@pytest.mark.parametrize(
    "rounds", [25, pytest.param(300, marks=pytest.mark.deep)], ids=["some", "many"]
)
@pytest.mark.parametrize("name", first_of(["solution", "certificate"]))
def test_what_two_save_at_once_is_that_of_one_of_them(name, rounds, tmp_path):
    path = tmp_path / name
    seen, refused = read_beside_two_writers(name, path, rounds)
    assert min(seen) > 0
    assert all(isinstance(error, DamagedFileError) for error in refused)
    assert all("is missing. Restore the folder" in str(error) for error in refused)
    READERS[name](path)
    WRITERS[name](path)
    READERS[name](path)
    assert not list(filter(is_temporary, tmp_path.rglob("*")))


SOLVING = """
import sys
from gamedp import cli
run = cli._run
def ready(*arguments, **options):
    print("ready", flush=True)
    return run(*arguments, **options)
cli._run = ready
sys.exit(cli.main(sys.argv[1:]))
"""


def interrupt_at_random(tmp_path, seeds):
    """Press Ctrl-C at some moment of a command that solves and saves; count how often it did."""
    command = ["solve", "wubbel", "--set", "goal=12", "--compile=never", "--save", "kept"]
    stopped = 0
    for seed in seeds:
        process = subprocess.Popen(
            [sys.executable, "-c", SOLVING, *command],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert process.stdout.readline() == "ready\n"
        wait(dice_of(seed).uniform(0.0, 1.5))
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
        if process.returncode == -signal.SIGINT:  # Python heeds no signals any more as it ends
            assert (err, (tmp_path / "kept").exists()) == ("", True)
        elif process.returncode != 0:
            assert (process.returncode, err) == (130, "gamedp: interrupted.\n")
            stopped += 1
        assert not list(filter(is_temporary, tmp_path.rglob("*")))
        if (tmp_path / "kept" / "manifest.json").exists():
            assert gamedp.load(tmp_path / "kept").value() > 0
        elif (tmp_path / "kept").exists():  # pressed between the first folder and its first file
            assert list((tmp_path / "kept").iterdir()) == []
    return stopped


@pytest.mark.deep
@POSIX
def test_ctrl_c_at_some_moments_of_a_command(tmp_path):
    interrupt_at_random(tmp_path, range(4))


@POSIX
@pytest.mark.deep
def test_ctrl_c_at_many_moments_of_a_command(tmp_path):
    assert interrupt_at_random(tmp_path, range(100, 112)) > 0


# Little that one may write -----------------------------------------------------------------------

AS_SOMEBODY = """
import gamedp
from gamedp.runtime import jit
jit.SECONDS_BEFORE_COMPILING = 0.0
model = gamedp.Model.from_arrays([0, 1, 1], [0, 1], [1], [1.0], rewards=[2.0], payoffs=[0.0])
print(model.coded_probabilities[1])  # by a small kernel, which is compiled and kept
"""


@pytest.mark.skipif(
    not (hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("setpriv")),
    reason="only root can become somebody else, by setpriv",
)
def test_somebody_who_may_write_nothing_but_the_cache(tmp_path):
    """With the right to read all, as where a package is installed for all users."""
    cache = tmp_path / "cache"
    cache.mkdir()
    os.chown(cache, 65534, 65534)
    command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    command += [f"--{of}-caps=-all,+dac_read_search" for of in ("inh", "ambient", "bounding")]
    command = [each.replace("bounding-caps", "bounding-set") for each in command]
    nowhere = {"HOME": "/nonexistent", "GAMEDP_CACHE_DIR": str(cache), "TMPDIR": str(cache)}
    environment = {key: value for key, value in os.environ.items() if key != "NUMBA_CACHE_DIR"}
    ran = subprocess.run(
        [*command, sys.executable, "-c", AS_SOMEBODY],
        env=environment | nowhere,
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert (ran.returncode, ran.stdout) == (0, "[1.]\n"), ran.stderr
    if not environment.get("NUMBA_DISABLE_JIT"):
        assert {each.stat().st_uid for each in cache.rglob("*")} == {65534}


def test_an_error_names_the_file_that_was_to_be(tmp_path):
    """And not the new one beside it, whose name nobody knows."""
    path = tmp_path / "missing" / "file"
    with pytest.raises(FileNotFoundError) as caught:
        write_whole(path, lambda file: file.write(b"something"))
    assert caught.value.filename == str(path)
