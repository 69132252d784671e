"""What is compiled is told apart from what is solved, and told to those who wait."""

import gc
import os
import subprocess
import sys
import threading
import time

import attrs
import numba
import numpy as np
import pytest

import gamedp
import gamedp.runtime.jit  # who tells that numba compiles
from gamedp.runtime import compile_clock
from gamedp.runtime.limit import Budget

PAUSE = 0.02


def compile_for(seconds, inner=0):
    """Do as numba does: begin, wait, compile what is called, and end in any case."""
    try:
        compile_clock.begin()
        for _ in range(inner):
            compile_for(seconds)
        time.sleep(seconds)
    finally:
        compile_clock.end()


@attrs.frozen
class Slow(gamedp.solvers.ValueIteration):
    """Compiles for a while before it solves, and while it does."""

    def iterate(self, run):
        compile_for(PAUSE, inner=1)
        super().iterate(run)


@attrs.frozen
class Late(gamedp.solvers.ValueIteration):
    """Compiles before its clock starts, as what finds the structure does."""

    def solve(self, problem, **keywords):
        compile_for(2 * PAUSE)
        return super().solve(problem, **keywords)


def model():
    return gamedp.Model.from_arrays([0, 1], [0, 1], [0], [1.0], rewards=[1.0])


class Clock:
    """Goes on when it is told to, so that a busy machine changes nothing."""

    def __init__(self):
        self.now = 1000.0

    def perf_counter(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(compile_clock, "time", clock)
    monkeypatch.setattr(time, "sleep", clock.sleep)
    monkeypatch.setattr(compile_clock._record, "spans", [])
    return clock


def test_spans_are_counted_once_and_from_a_moment_on(clock):
    compile_for(8.0, inner=2)
    clock.sleep(1.0)
    compile_for(2.0)
    assert compile_clock.seconds_within(27.0) == 26.0
    assert compile_clock.seconds_within(4.0) == 3.0
    assert compile_clock.seconds_within(1.0) == 1.0
    assert compile_clock.seconds_within(0.0) == 0.0


def test_other_threads_do_not_count():
    began = time.perf_counter()
    thread = threading.Thread(target=compile_for, args=(PAUSE,))
    thread.start()
    thread.join()
    assert compile_clock.seconds_within(time.perf_counter() - began) == 0.0


def test_who_waits_is_told():
    told = []
    with compile_clock.reporting_compilation(lambda *facts: told.append(facts)):
        compile_for(PAUSE, inner=1)
        compile_for(0.0)
    compile_for(0.0)
    assert [count for count, _ in told] == [0, 1, 2]
    assert told[0][1] == 0.0
    assert told[2][1] >= 2 * PAUSE


def test_nothing_is_collected_meanwhile():
    told = []
    with compile_clock.reporting_compilation(lambda *_: told.append(gc.isenabled())):
        compile_for(0.0, inner=2)
        assert gc.isenabled()
        compile_clock.begin()
        thread = threading.Thread(target=compile_for, args=(0.0,))
        thread.start()
        thread.join()
        assert not gc.isenabled()  # here something is compiled still
        compile_clock.end()
    assert gc.isenabled()
    assert told == [False] * 4


def test_a_collector_that_is_off_stays_off():
    gc.disable()
    try:
        compile_for(0.0)
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_who_interrupts_leaves_no_trace(clock):
    def interrupt(count, seconds):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), compile_clock.reporting_compilation(interrupt):
        compile_for(1.0)
    assert gc.isenabled()
    compile_for(2.0)
    assert compile_clock.seconds_within(3.0) == 2.0


@pytest.mark.parametrize("solver", [Slow(), Late()])
def test_statistics_tell_it_apart(solver):
    gamedp.solve(model(), gamedp.Discounted(0.5), gamedp.solvers.ValueIteration())
    reports = []
    began = time.perf_counter()
    solution = gamedp.solve(model(), gamedp.Discounted(0.5), solver, progress=reports.append)
    took = time.perf_counter() - began
    seconds = solution.statistics.seconds
    assert 2 * PAUSE <= seconds["compile"] <= took
    assert 0 <= seconds["solve"] <= took - seconds["compile"]
    assert reports[0].phase == "compile"
    assert "first time" in reports[0].detail


def test_what_is_known_at_a_limit_tells_it_as_well():
    solver = Slow(max_sweeps=1)
    with pytest.raises(gamedp.NotSolvedError) as caught:
        gamedp.solve(model(), gamedp.Discounted(0.999), solver)
    assert caught.value.solution.statistics.seconds["compile"] >= 2 * PAUSE


def test_it_does_not_count_against_a_limit():
    budget = Budget(None, "solve", max_seconds=0.25)
    compile_for(0.3)
    assert budget.seconds >= 0.3
    assert not budget.is_late
    time.sleep(0.3)
    assert budget.is_late


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_numba_is_watched():
    function = numba.njit(lambda number: number + 1)
    told = []
    began = time.perf_counter()
    with compile_clock.reporting_compilation(lambda *facts: told.append(facts)):
        function(1)
        count = len(told)
        took = time.perf_counter() - began
        assert 0 < compile_clock.seconds_within(took) <= took
        function(2)
    assert len(told) == count > 0


LIST = """
import gamedp
import gamedp.runtime.jit
from numba.core import event

class Names(event.Listener):
    def on_start(self, event):
        print(event.data["dispatcher"].py_func.__qualname__, end=" ")
    def on_end(self, event):
        pass

event.register("numba:compile", Names())
"""

SOLVE_TWO_MODELS = """
ends = gamedp.Model.from_arrays([0, 1, 1], [0, 1], [1], [1.0], payoffs=[1.0])
gamedp.solve(ends, solver=gamedp.solvers.BackwardInduction())
print()
comes_again = gamedp.Model.from_arrays(
    [0, 1, 2, 2], [0, 1, 3], [1, 0, 2], [1.0, 0.5, 0.5], payoffs=[1.0]
)
gamedp.solve(comes_again, solver=gamedp.solvers.TopologicalValueIteration())
"""


SOLVE_A_GAME = """
from typing import NamedTuple

class Place(NamedTuple):
    x: int
    flag: bool

class Walk:
    def initial_state(self):
        return Place(0, False)
    def is_terminal(self, state):
        return state.x == 9
    def actions(self, state):
        return range(2)
    def outcomes(self, state, action):
        yield 0.5, Place(state.x, not state.flag)
        yield 0.5, Place(state.x + 1, action == 1)
    def payoff(self, state, player):
        return 1.0 if state.flag else 0.0

gamedp.solve(gamedp.compile(Walk(), compile="always"))
"""


def compiled_by(script, folder, patience=0.0):
    """Return the names of the functions that a script compiles, with empty caches, line by line."""
    # A file, since the text of rules is read from there.
    file = folder / "script.py"
    setting = f"gamedp.runtime.jit.SECONDS_BEFORE_COMPILING = {patience}\n"
    file.write_text(LIST + setting + script, encoding="utf-8")
    caches = {"NUMBA_CACHE_DIR": f"{folder}/kernels", "GAMEDP_CACHE_DIR": f"{folder}/rules"}
    done = subprocess.run(
        [sys.executable, str(file)],
        env={**os.environ, **caches},
        check=True,
        capture_output=True,
        text=True,
    )
    return [line.split() for line in done.stdout.splitlines()]


@pytest.mark.deep
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_what_a_model_does_not_need_is_not_compiled(tmp_path):
    acyclic, cyclic = map(set, compiled_by(SOLVE_TWO_MODELS, tmp_path))
    assert "solve_components" in acyclic & cyclic
    assert "gather" in cyclic - acyclic
    assert not (acyclic | cyclic) & {"eliminate", "iterate", "prove_policy", "prove_by_policy"}


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_small_models_are_solved_before_anything_is_compiled(tmp_path):
    assert not any(compiled_by(SOLVE_TWO_MODELS, tmp_path, patience=60.0))


@pytest.mark.deep
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_no_function_is_compiled_to_convert_a_number_or_to_read_a_page(tmp_path):
    (names,) = compiled_by(SOLVE_A_GAME, tmp_path)
    assert {"explore", "expand_state", "Walk.outcomes", "solve_components"} <= set(names)
    # numba's overloads and ours are functions within others: one for each kind of arguments.
    assert [name for name in names if "<locals>" in name] == []


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_kernels_that_make_arrays_in_another_way_are_refused():
    def doubled(values):
        return (2.0 * values).sum()

    kernel = gamedp.runtime.jit.compiled(doubled)
    kernel._cache = numba.core.caching.NullCache()
    with pytest.raises(numba.core.errors.NumbaError, match="NRT required"):
        kernel(np.ones(2))
