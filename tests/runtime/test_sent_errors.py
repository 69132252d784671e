"""Errors and explanations reach another process as they are."""

import inspect
import pickle

import pytest

import gamedp
from gamedp import errors
from gamedp.games.matches import Matches
from gamedp.games.wubbel import Wubbel

KINDS = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, gamedp.GamedpError) and kind.__module__ == errors.__name__
]


def sent(thing):
    return pickle.loads(pickle.dumps(thing))


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_keeps_its_words_and_attributes(kind):
    own = vars(kind).get("__init__")  # most have that of Exception
    parameters = {} if own is None else inspect.signature(own).parameters
    options = {
        name: number
        for number, (name, each) in enumerate(parameters.items())
        if each.kind is each.KEYWORD_ONLY or name == "solution"
    }
    error = kind("the words", **options)
    found = sent(error)
    assert type(found) is kind
    assert (str(found), found.args) == (str(error), error.args)
    for name, value in options.items():
        assert getattr(found, name) == value


def test_what_a_solver_knew_is_sent_with_its_error():
    solver = gamedp.solvers.ValueIteration(max_sweeps=1)
    with pytest.raises(gamedp.NotSolvedError) as caught:
        gamedp.solve(Wubbel(12), solver=solver, compile="never")
    found = sent(caught.value)
    assert found.solution.bounds() == caught.value.solution.bounds()


def test_an_explanation_keeps_its_solver():
    words = gamedp.explain(gamedp.compile(Matches(), compile="never"))
    found = sent(words)
    assert (found, found.solver) == (words, words.solver)
