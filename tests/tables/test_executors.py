"""Blocks made by workers: the same bytes whoever makes them, in whatever order, and how often."""

import contextlib
import functools
import importlib.util
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import attrs
import pytest
from executors import Shuffling, processes
from table_games import Crossing, digest

from gamedp.compiler import tier_explorer
from gamedp.errors import (
    DamagedFileError,
    InvalidModelError,
    InvalidParameterError,
    LimitExceededError,
    NotSolvedError,
)
from gamedp.games.wubbel import Wubbel
from gamedp.tables import Tables, tabulate

PIG = Wubbel.pig(25)
SIZE = 100
KILLS = int(os.environ.get("GAMEDP_KILLS", "2"))
"""Random moments at which processes are killed: 2, or as many as are asked for."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Tables made here, one block after the other."""
    return tabulate(PIG, tmp_path_factory.mktemp("whole") / "tables", block_size=SIZE)


@pytest.mark.slow
@pytest.mark.parametrize(
    "start",
    [lambda: ThreadPoolExecutor(1), lambda: ThreadPoolExecutor(2), Shuffling],
    ids=["one thread", "two threads", "shuffled"],
)
def test_the_bytes_do_not_depend_on_the_workers(start, whole, tmp_path):
    with start() as executor:
        tables = tabulate(PIG, tmp_path, block_size=SIZE, executor=executor)
    assert tables.num_blocks > 2 * tables.num_tiers
    assert digest(tmp_path) == digest(whole.folder)


def test_processes_make_the_same_bytes(pool, whole, tmp_path):
    tabulate(PIG, tmp_path / "some", last_tier=20, block_size=SIZE)
    tabulate(PIG, tmp_path / "some", block_size=SIZE, executor=pool)
    assert digest(tmp_path / "some") == digest(whole.folder)
    assert whole.verify(None) > 0


def test_two_runs_in_one_folder(whole, tmp_path):
    with ThreadPoolExecutor(2) as threads:
        asked = [threads.submit(tabulate, PIG, tmp_path, block_size=SIZE) for _ in range(2)]
        assert {each.result().bounds() for each in asked} == {whole.bounds()}
    assert digest(tmp_path) == digest(whole.folder)


def test_what_leads_to_other_blocks_is_explored_with_them(tmp_path, monkeypatch):
    """Rows are linked at one place alone, which is not looked at when the tier is cut."""
    explored = []
    true = tier_explorer.CompiledTierExplorer.explore

    def counting(self, tier, rows, **more):
        explored.append(len(rows))
        return true(self, tier, rows, **more)

    monkeypatch.setattr(tier_explorer.CompiledTierExplorer, "explore", counting)
    game = Crossing()
    uncut = tabulate(game, tmp_path / "uncut")
    explored.clear()
    cut = tabulate(game, tmp_path / "cut", block_size=60)
    assert cut.num_blocks > cut.num_tiers
    assert len(explored) > cut.num_blocks + cut.num_tiers  # some were explored again, with more
    with ThreadPoolExecutor(2) as threads:
        tabulate(game, tmp_path / "threads", block_size=60, executor=threads)
    assert digest(tmp_path / "cut") == digest(tmp_path / "threads")
    for level in range(cut.num_blocks):
        for place in range(cut.plan.size(level)):
            state = cut.plan.state(level, place)
            (low, high), (least, most) = cut.bounds(state), uncut.bounds(state)
            assert low <= most
            assert least <= high
    assert cut.verify(200) >= 200


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
@pytest.mark.parametrize("moment", range(KILLS))
def test_a_worker_that_is_killed(moment, whole, tmp_path):
    others = set(multiprocessing.active_children())
    drawn = random.Random(moment)  # noqa: S311 - no secret
    enough = drawn.randrange(whole.num_blocks)
    ended = threading.Event()

    def kill():
        while len(list(tmp_path.glob("tier-*"))) < enough and not ended.is_set():
            time.sleep(0.001)
        mine = sorted(set(multiprocessing.active_children()) - others, key=lambda one: one.pid)
        if mine:
            os.kill(drawn.choice(mine).pid, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    with processes() as executor:
        killer.start()
        with contextlib.suppress(NotSolvedError):  # or it was ready before
            tabulate(PIG, tmp_path, block_size=SIZE, executor=executor)
        ended.set()
        killer.join()
    for path in tmp_path.glob("*.blocks"):
        assert path.read_bytes() == (whole.folder / path.name).read_bytes()
    tabulate(PIG, tmp_path, block_size=SIZE)
    assert digest(tmp_path) == digest(whole.folder)


KILLED = """
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from gamedp.games.wubbel import Wubbel
from gamedp.tables import tabulate
if __name__ == "__main__":
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        tabulate(Wubbel.pig(25), {folder!r}, block_size=100, executor=pool)
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
def test_all_processes_killed_at_any_moment(whole, tmp_path):
    program, killed = tmp_path / "program.py", tmp_path / "killed"
    program.write_text(KILLED.format(folder=str(killed)), encoding="utf-8")
    drawn = random.Random(7)  # noqa: S311 - no secret
    for _ in range(KILLS):
        with subprocess.Popen([sys.executable, program], start_new_session=True) as process:
            more = len(list(killed.glob("tier-*"))) + drawn.randrange(1, 40)
            while process.poll() is None and len(list(killed.glob("tier-*"))) < more:
                time.sleep(0.001)
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
        for path in killed.glob("*.blocks"):
            assert path.read_bytes() == (whole.folder / path.name).read_bytes()
    tabulate(PIG, killed, block_size=SIZE)
    assert digest(killed) == digest(whole.folder)


class Misled(ThreadPoolExecutor):
    """Its workers are told something else."""

    def __init__(self, **told):
        super().__init__(1)
        self._told = told

    def submit(self, do, levels):
        (make,) = do.args
        order = attrs.evolve(*make.args, **self._told)
        return super().submit(do.func, functools.partial(make.func, order), levels)


def test_workers_with_other_rules_or_another_folder(whole, tmp_path):
    with (
        Misled(game=Wubbel(goal=25)) as executor,
        pytest.raises(DamagedFileError, match=r"not belong to Wubbel.* with its present rules"),
    ):
        tabulate(PIG, tmp_path / "rules", block_size=SIZE, executor=executor)
    with (
        Misled(folder=whole.folder) as executor,
        pytest.raises(DamagedFileError, match="a worker finds other tables in"),
    ):
        tabulate(PIG, tmp_path / "folder", block_size=SIZE + 1, executor=executor)
    for path in (tmp_path / "rules").glob("*.blocks"):
        assert path.read_bytes() == (whole.folder / path.name).read_bytes()


def test_errors_of_workers_are_those_of_the_call(pool, tmp_path):
    with pytest.raises(InvalidModelError, match=r"action 0 in Place.*never rise"):
        tabulate(Crossing(rises=True), tmp_path / "rising", block_size=60, executor=pool)
    with pytest.raises(LimitExceededError, match="max_bytes"):
        tabulate(PIG, tmp_path / "small", block_size=SIZE, max_bytes=20_000, executor=pool)
    with pytest.raises(NotSolvedError, match="rounding allows no less") as caught:
        tabulate(PIG, tmp_path / "fine", tolerance=1e-300, block_size=SIZE, executor=pool)
    assert isinstance(caught.value.solution, Tables)
    with pytest.raises(NotSolvedError, match="limit of 1e-09 seconds"):
        tabulate(PIG, tmp_path / "late", max_seconds=1e-9, executor=pool)

    with processes(1) as lost:
        asked = lost.submit(os.abort)
        with pytest.raises(NotSolvedError, match="Call again with a new executor") as caught:
            tabulate(PIG, tmp_path / "lost", block_size=SIZE, executor=lost)
        assert asked.exception() is not None
        assert " 4 of 49 tiers" in repr(caught.value.solution)  # of one block each: made here

    class Here(Crossing):
        pass

    with pytest.raises(InvalidParameterError, match=r"cannot be sent to workers.*in a module"):
        tabulate(Here(), tmp_path / "here", block_size=60, executor=pool)
    with pytest.raises(InvalidParameterError, match=r"must be a concurrent\.futures\.Executor"):
        tabulate(PIG, tmp_path / "none", executor=2)


MPI = """
    import sys
    from gamedp.games.wubbel import Wubbel
    from gamedp.tables import tabulate
    from mpi4py.futures import MPIPoolExecutor
    if __name__ == "__main__":
        with MPIPoolExecutor() as executor:
            tabulate(Wubbel.pig(25), sys.argv[1], block_size=100, executor=executor)
"""
DASK = """
    import sys
    from distributed import Client
    from gamedp.games.wubbel import Wubbel
    from gamedp.tables import tabulate
    if __name__ == "__main__":
        with Client(n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
            executor = client.get_executor()
            tabulate(Wubbel.pig(25), sys.argv[1], block_size=100, executor=executor)
"""
RANKS = ["mpiexec", "-n", "3", sys.executable, "-m", "mpi4py.futures"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("package", "program", "command"),
    [("mpi4py", MPI, RANKS), ("distributed", DASK, [sys.executable])],
)
def test_clusters_make_the_same_bytes(package, program, command, whole, tmp_path):
    beside = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    first = shutil.which(command[0], path=beside)
    if importlib.util.find_spec(package) is None or first is None:
        pytest.skip(f"{package} is not installed")
    script = Path(tmp_path / "program.py")
    script.write_text(textwrap.dedent(program), encoding="utf-8")
    subprocess.run([first, *command[1:], script, tmp_path / "made"], check=True, cwd=tmp_path)
    assert digest(tmp_path / "made") == digest(whole.folder)
