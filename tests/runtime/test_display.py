"""`progress=True` shows a bar in a terminal or in a notebook, and nothing elsewhere."""

import io
import sys
import types

import pytest

import gamedp
from gamedp.errors import InvalidParameterError
from gamedp.games.mancala import Mancala
from gamedp.games.matches import Matches
from gamedp.runtime import limit

VERBS = {
    "solve": lambda progress: gamedp.solve(Matches(9), compile="never", progress=progress),
    "compile": lambda progress: gamedp.compile(Matches(9), compile="never", progress=progress),
    "search": lambda progress: gamedp.search(Matches(9), compile="never", progress=progress),
    "perft": lambda progress: gamedp.searchers.perft(
        Matches(9), 4, compile="never", progress=progress
    ),
    "verify": lambda progress: gamedp.verify(
        solved().model, gamedp.certify(solved()), progress=progress
    ),
    "match": lambda progress: gamedp.play.match(
        Matches(9), random(), random(), games=4, seed=1, compile="never", progress=progress
    ),
    "tournament": lambda progress: gamedp.play.tournament(
        Matches(9),
        {"a": random(), "b": random()},
        games=4,
        seed=1,
        compile="never",
        progress=progress,
    ),
    "remoteness": lambda progress: gamedp.policies.remoteness(solved(), progress=progress),
    "endings": lambda progress: gamedp.tables.tabulate(
        Mancala(pits=2, stones=2), last_tier=2, compile="never", progress=progress
    ),
    "compare": lambda progress: gamedp.compare(
        Matches(9), solvers=["retrograde"], seconds=0.01, progress=progress
    ),
}


def solved():
    return gamedp.solve(Matches(9), compile="never")


def random():
    return gamedp.play.RandomPlayer(Matches(9))


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def notebook(monkeypatch):
    """Pretend to be in a notebook; return what is shown in it, one text after the other."""
    shown = []

    class Handle:
        def update(self, data, *, raw):
            shown.append(data["text/plain"])

    def show(data, *, raw, display_id):
        shown.append(data["text/plain"])
        return Handle()

    ipython = types.ModuleType("IPython")
    ipython.get_ipython = lambda: types.SimpleNamespace(kernel=None)
    ipython.display = types.SimpleNamespace(display=show)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setattr(limit, "INTERVAL", 0.0)
    return shown


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_that_tells_of_its_progress_shows_a_bar(verb, monkeypatch):
    made = []

    class Spy(limit.Display):
        def __init__(self):
            made.append(self)
            super().__init__()

    monkeypatch.setattr(limit, "Display", Spy)
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    VERBS[verb](True)
    assert made
    assert all(each._closed for each in made)
    before = len(made)
    VERBS[verb](False)
    VERBS[verb](None)
    assert len(made) == before


@pytest.mark.parametrize("verb", VERBS)
def test_what_is_no_callback_is_refused(verb):
    with pytest.raises(InvalidParameterError, match="it must be True or be called"):
        VERBS[verb]("yes")


def test_a_notebook_has_a_line_that_goes_when_all_is_done(notebook):
    gamedp.play.match(
        Matches(9), random(), random(), games=8, seed=1, compile="never", progress=True
    )
    assert any(text.startswith("playing [") for text in notebook)
    assert notebook[-1] == ""


def test_a_notebook_is_tidied_up_after_an_error(notebook):
    def interrupted():
        with limit.bar() as report:
            report(gamedp.Progress("explore", 1, None, 0.0, "1 state"))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert notebook == ["looking for states  1 state  0 s", ""]


def test_elsewhere_nothing_is_shown(monkeypatch, capsys):
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    monkeypatch.setattr(limit, "INTERVAL", 0.0)
    VERBS["solve"](True)
    assert capsys.readouterr() == ("", "")
