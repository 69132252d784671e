"""What all tests share."""

import gc
import json
import os
import signal
from importlib.metadata import EntryPoint

import numba
import pytest
from executors import processes
from mutants import recording
from order import longest_first

from gamedp.cli import main
from gamedp.compiler import build
from gamedp.compiler.build import Patience
from gamedp.runtime import jit, registry
from gamedp.runtime.compile_clock import without_collection


def pytest_configure():
    """Let Ctrl-C be sent to processes that tests start.

    A shell starts what runs in its background deaf to it, and children inherit that.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Look for no garbage while tests are collected, and later on never among them: all stay.

    A test that asks for garbage to be collected would else look through half a million objects.
    While a file is tested there may be garbage of a million objects: to look for it all the time
    took a twentieth of the time.
    """
    with without_collection():
        result = yield
    gc.freeze()
    gc.set_threshold(1_000_000)
    return result


def pytest_runtest_teardown(item, nextitem):
    """Look for garbage after each file, among what is new."""
    if nextitem is None or nextitem.path != item.path:
        gc.collect()
        gc.freeze()


@pytest.hookimpl(tryfirst=True)  # before what was not asked for is left out
def pytest_collection_modifyitems(items):
    """Leave what is slow to the deep runs where loops are compiled; begin with what takes long."""
    if not numba.config.DISABLE_JIT:
        for item in items:
            if item.get_closest_marker("slow"):
                item.add_marker("deep")
    longest_first(items)


@pytest.fixture(autouse=True, scope="session")
def fresh_cache(request, tmp_path_factory):
    """Keep compiled rules apart from the person's own, and compile them anew in each run.

    What one worker has compiled or solved, the others read. Kernels are compiled at once: it is
    the compiled ones that are tested.
    """
    folder = tmp_path_factory.getbasetemp()
    if hasattr(request.config, "workerinput"):
        folder = folder.parent
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GAMEDP_CACHE_DIR", str(folder / "compiled-rules"))
        patch.setattr(jit, "SECONDS_BEFORE_COMPILING", 0.0)
        yield


@pytest.fixture
def compile_at_once(monkeypatch):
    """Let `compile="auto"` compile the smallest game, too."""
    for patience in ("AT_FIRST", "AT_MOST"):
        monkeypatch.setattr(build, patience, Patience(states=0))


@pytest.fixture(scope="module")
def pool():
    """Two processes that know nothing of this one."""
    with processes() as executor:
        yield executor


@pytest.fixture
def pipe():
    """Return what makes a pipe with a name; who waits for the other end fails after a minute."""
    if not hasattr(os, "mkfifo"):
        pytest.skip("no pipes with names on this system")

    def give_up(*_):
        pytest.fail("something waits for a pipe")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(60)
    yield os.mkfifo
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def register(monkeypatch):
    """Register classes, each named ``"module:Class"``, as an installed package would."""
    known, more = registry.registered, []
    monkeypatch.setattr(
        registry,
        "registered",
        lambda group: known(group) | {point.name: point for point in more if point.group == group},
    )

    def add(group, *paths):
        more.extend(EntryPoint(path, path, group) for path in paths)

    return add


@pytest.fixture
def run(capsys):
    """Run a command in this process; return its exit code and what it wrote."""

    def runner(*arguments):
        code = main([str(each) for each in arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return runner


@pytest.fixture
def run_json(run):
    """Run a command in this process that succeeds; return its JSON."""

    def runner(*arguments):
        code, out, err = run(*arguments, "--json")
        assert (code, err) == (0, "")
        return json.loads(out, parse_constant=pytest.fail)

    return runner


def pytest_runtest_setup(item):
    """Tell coverage, if it is measured, which test the lines belong to."""
    recording.enter(item.nodeid)


def pytest_runtest_logreport(report):
    """Take down what a test took."""
    recording.note(report.nodeid, report.duration)


def pytest_sessionfinish():
    """Keep it beside the coverage."""
    recording.leave()
