"""Solvers that are interrupted, or run out of time: nothing is broken, and what is known holds."""

import concurrent.futures
import functools
import signal
import subprocess
import sys

import attrs
import numpy as np
import pytest
from games_of_opponents import big_circle
from solving import REGISTERED
from waiting import PATIENCE

import gamedp
from gamedp.errors import SearchInterrupted
from gamedp.games.mancala import Mancala
from gamedp.games.matches import Nim
from gamedp.games.wubbel import Wubbel
from gamedp.searchers.driver import SearchBudget
from gamedp.testing import problem_kinds
from gamedp.testing.models import random_model

PAIRS_THAT_REPORT = 60
"""At least so many of the pairs below say how far they are, while they are at it."""


def problems():
    """Return problems with several components, new ones each time: so nothing is kept of others."""
    alone = random_model(5, num_states=12)
    opponents = random_model(5, num_states=12, num_players=2)
    ending = random_model(7, num_states=12, num_players=2, end_components=False)
    rewards = np.abs(alone.rewards)
    return {
        **problem_kinds(),
        "circle": gamedp.Problem(big_circle(30), gamedp.Reachability([30])),
        "reach": gamedp.Problem(alone, gamedp.Reachability([12])),
        "reach, opponents": gamedp.Problem(opponents, gamedp.Reachability([12])),
        "costs": gamedp.Problem(
            attrs.evolve(alone, rewards=rewards), gamedp.TotalReward("min", until=[12, 13])
        ),
        "earns": gamedp.Problem(attrs.evolve(alone, rewards=rewards)),
        "ends": gamedp.Problem(ending),
        "discounted game": gamedp.Problem(opponents, gamedp.Discounted(0.9)),
        "long run": gamedp.Problem(alone, gamedp.AverageReward()),
        "some steps": gamedp.Problem(opponents, gamedp.FiniteHorizon(9)),
    }


PAIRS = [
    pytest.param(solver, name, id=f"{type(solver).__name__}-{name}")
    for solver in REGISTERED
    for name, problem in problems().items()
    if solver.supports(problem)
]


class Interrupted:
    """Raises KeyboardInterrupt at the report of some number; counts them."""

    def __init__(self, at=None):
        self.at = at
        self.count = 0

    def __call__(self, report):
        assert report.done >= 0
        self.count += 1
        if self.count == self.at:
            raise KeyboardInterrupt


def solve_interrupted(solver, problem, progress=None):
    try:
        return solver.solve(problem, tolerance=1e-6, progress=progress)
    except gamedp.NotSolvedError as error:
        return error.solution


@functools.cache
def uninterrupted(solver, name):
    """Return the solution, and how many reports there were on the way."""
    counter = Interrupted()
    return solve_interrupted(solver, problems()[name], counter), counter.count


def assert_same_solution(first, second):
    for name in ("values", "lower", "upper", "policy"):
        assert np.array_equal(getattr(first, name), getattr(second, name), equal_nan=True)
    assert first.status is second.status


@pytest.fixture
def all_reports(monkeypatch):
    monkeypatch.setattr("gamedp.runtime.limit.INTERVAL", 0.0)


@pytest.mark.usefixtures("all_reports")
@pytest.mark.parametrize(("solver", "name"), PAIRS)
def test_an_interruption_breaks_nothing(solver, name):
    """Interrupted at the first report, in the middle or at the last, it can be solved again."""
    expected, count = uninterrupted(solver, name)
    settings = np.geterr()
    for at in sorted({1, count // 2, count} - {0} if count else set()):
        problem = problems()[name]
        before = problem.model.digest()
        with pytest.raises(KeyboardInterrupt):
            solver.solve(problem, tolerance=1e-6, progress=Interrupted(at))
        assert problem.model.digest() == before
        assert np.geterr() == settings
        assert_same_solution(solve_interrupted(solver, problem), expected)


@pytest.mark.usefixtures("all_reports")
def test_most_of_them_report():
    assert sum(uninterrupted(*pair.values)[1] > 0 for pair in PAIRS) >= PAIRS_THAT_REPORT


@pytest.mark.parametrize(
    ("solver", "name"), [pair for pair in PAIRS if hasattr(pair.values[0], "max_seconds")]
)
def test_bounds_hold_when_time_is_up(solver, name):
    limited = attrs.evolve(solver, max_seconds=1e-9)
    problem = problems()[name]
    solution = solve_interrupted(limited, problem)
    truth = gamedp.solve(problem.model, problem.objective, tolerance=1e-6)
    assert truth.guarantee is gamedp.Guarantee.TWO_SIDED
    if solution.guarantee is gamedp.Guarantee.TWO_SIDED:
        assert (solution.lower <= truth.upper).all()
        assert (truth.lower <= solution.upper).all()
    if solution.status is gamedp.Status.SOLVED:
        assert solution.width <= 1e-6


SEARCHES = [
    (gamedp.searchers.AlphaBeta(), Mancala(pits=2, stones=2)),
    (gamedp.searchers.ProofNumberSearch(), Mancala(pits=3, stones=1)),
    (gamedp.searchers.Minimax(), Nim(heaps=(2, 3))),
    (gamedp.searchers.MaxN(), Nim(heaps=(2, 3))),
    (gamedp.searchers.Expectiminimax(), Wubbel(goal=3, faces=2, busts=(2,), grace=True)),
]


def pressing_ctrl_c(monkeypatch, at, times=1):
    """Let Ctrl-C be pressed so many times when a search looks at its limits after some nodes."""
    looks, look = [0], SearchBudget.look

    def pressed(watch):
        looks[0] += 1
        if looks[0] == at:
            for _ in range(times):
                signal.raise_signal(signal.SIGINT)
        look(watch)

    monkeypatch.setattr(SearchBudget, "next_slice", lambda _: 5)
    monkeypatch.setattr(SearchBudget, "look", pressed)
    return looks


@pytest.mark.parametrize(("searcher", "game"), SEARCHES, ids=lambda each: type(each).__name__)
def test_ctrl_c_ends_a_search_with_what_is_known(searcher, game, monkeypatch):
    usual = signal.getsignal(signal.SIGINT)
    assert usual is signal.default_int_handler
    whole = searcher.search(game, compile="never")
    assert whole.upper - whole.lower < 1e-9
    looks = pressing_ctrl_c(monkeypatch, None)
    searcher.search(game, compile="never")
    total = looks[0]
    assert total > 3
    interrupted = 0
    for at in (1, 2, total // 2, total - 1):
        looks = pressing_ctrl_c(monkeypatch, at)
        with pytest.raises(SearchInterrupted) as caught:
            searcher.search(game, compile="never")
        monkeypatch.undo()
        assert signal.getsignal(signal.SIGINT) is usual
        result = caught.value.result
        assert result.lower <= whole.upper
        assert whole.lower <= result.upper
        interrupted += result.status is gamedp.Status.INTERRUPTED
        assert result.status in {gamedp.Status.INTERRUPTED, gamedp.Status.SOLVED}
    assert interrupted >= 3
    assert searcher.search(game, compile="never").value() == whole.value()


def test_ctrl_c_twice_ends_a_search_at_once(monkeypatch):
    searcher, game = SEARCHES[0]
    looks = pressing_ctrl_c(monkeypatch, 2, times=2)
    with pytest.raises(KeyboardInterrupt) as caught:
        searcher.search(game, compile="never")
    assert not isinstance(caught.value, SearchInterrupted)
    assert looks[0] == 2
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_search_in_a_thread_leaves_signals_alone():
    searcher, game = SEARCHES[0]
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        result = pool.submit(searcher.search, game, compile="never").result(300)
    assert result.is_proven


IN_A_CALLBACK = """
import ctypes, signal, sys, time
from gamedp import cli

signal.signal(signal.SIGINT, signal.default_int_handler)

def command(tokens, debug):
    ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(signal.SIGINT))()
    print("ignored", flush=True)
    ctypes.CFUNCTYPE(None)(lambda: time.sleep(SECONDS))()
    time.sleep(3600)

cli._run = command
sys.exit(cli.main(["solve"]))
"""


@pytest.mark.parametrize("seconds", [0, 3600], ids=["once", "and when it is sent again"])
def test_ctrl_c_is_not_swallowed_where_c_calls_python_back(seconds):
    """As LLVM does while numba compiles: Python ignores errors there."""
    ran = subprocess.run(
        [sys.executable, "-c", IN_A_CALLBACK.replace("SECONDS", str(seconds))],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert (ran.returncode, ran.stdout) == (130, "ignored\n")
    assert ran.stderr.endswith("gamedp: interrupted.\n")


WHILE_IMPORTED = """
import signal, sys

signal.signal(signal.SIGINT, signal.default_int_handler)

class Swallows:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)

class Presses:
    def find_spec(self, name, path=None, target=None):
        if name != NAME:
            return
        if HOW == "swallowed":
            Swallows()
            return
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt as error:
            if HOW == "as another error":
                raise ImportError(name) from error
            raise

sys.meta_path.insert(0, Presses())
from gamedp.__main__ import main

if HOW == "twice":
    import gamedp.cli
    gamedp.cli._complain = lambda *_: signal.raise_signal(signal.SIGINT)
sys.argv = ["gamedp", "games"]
sys.exit(main())
"""


@pytest.mark.parametrize(
    ("name", "how"),
    [
        *((name, "raised") for name in ("gamedp.cli", "numpy", "cyclopts", "gamedp.cli.lists")),
        *((name, "swallowed") for name in ("gamedp.cli", "numpy", "cyclopts", "gamedp.cli.lists")),
        ("gamedp.cli.lists", "as another error"),
        ("gamedp.cli.lists", "twice"),
    ],
)
def test_ctrl_c_while_modules_are_imported(name, how):
    code = WHILE_IMPORTED.replace("NAME", repr(name)).replace("HOW", repr(how))
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, "", "gamedp: interrupted.\n")
