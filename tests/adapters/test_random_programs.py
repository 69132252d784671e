"""Random programs: states, choices, transitions and values as Storm's, games too."""

import pytest
from random_programs import random_program

import gamedp
from gamedp.compiler import model_programs
from gamedp.errors import GamedpError, UnsupportedProblemError

stormpy = pytest.importorskip("stormpy", reason="stormpy, with which we compare, is not installed")

QUESTIONS = ('P{}=? [F "goal"]', 'R{{"r"}}{}=? [C<=4]')
TOLERANCE = 2e-6  # of what Storm's sound methods find


def agrees_with_storm(path, seed):
    """Compare one program; return how many values were compared, or None if neither takes it."""
    text = random_program(seed)
    path.write_text(text, encoding="utf-8")
    try:
        found = gamedp.read_model(path)
    except GamedpError as error:
        refused = str(error)
    else:
        refused = ""
    if refused:
        # Storm lets some values leave their range, and wraps them around.
        assert "outside its range" in refused or not _built(path), text
        return None
    built = _built(path)
    assert built, text
    program, storms = built
    ours = found.with_coalition([0]).model
    counts = ours.num_states, ours.num_choices, ours.num_transitions
    assert counts == (storms.nr_states, storms.nr_choices, storms.nr_transitions), text
    kind = text.split(maxsplit=1)[0]
    if kind == "smg":  # Storm has no values for these
        value = gamedp.ask(found, '<<one>> Pmax=? [F "goal"]')
        model = found.with_coalition(["one"]).model
        try:
            exact = gamedp.testing.exact_values(model, gamedp.Reachability(found.states("goal")))
        except UnsupportedProblemError:  # a few have too many policies to compare all
            return 0
        start = int(model.initial_states[0])
        assert value.lower[start] <= exact[start] <= value.upper[start], text
        return 1
    is_dropped = any("deadlocks" in note for note in found.notes)
    questions = QUESTIONS[:1] if is_dropped else QUESTIONS
    optima = ("",) if kind == "dtmc" else ("min", "max")
    for formula in (question.format(optimum) for question in questions for optimum in optima):
        (wanted,) = stormpy.parse_properties(formula, program)
        environment = stormpy.environments.sound()
        answer = stormpy.model_checking(storms, wanted, environment=environment)
        lower, upper = gamedp.ask(found, formula).bounds()
        value = answer.get_value(storms.initial_states[0])
        assert lower - TOLERANCE <= value <= upper + TOLERANCE, (formula, text)
    return len(questions) * len(optima)


def _built(path):
    try:
        program = stormpy.parse_prism_program(str(path))
        options = stormpy.BuilderOptions(build_full=True)
        return program, stormpy.build_model(program, options=options)
    except RuntimeError:
        return None


@pytest.mark.parametrize("first", range(0, 60, 10))
def test_random_programs_are_read_as_storm_reads_them(tmp_path, first):
    compared = [agrees_with_storm(tmp_path / "m.prism", first + each) for each in range(10)]
    assert sum(1 for each in compared if each) >= 5


@pytest.mark.parametrize("first", range(0, 20, 10))
def test_arrays_give_what_lists_give(tmp_path, monkeypatch, first):
    monkeypatch.setattr(model_programs, "_patience", lambda: 0.0)
    for each in range(10):
        agrees_with_storm(tmp_path / "m.prism", first + each)


@pytest.mark.deep
@pytest.mark.parametrize("first", range(100, 2100, 100))
def test_two_thousand_random_programs(tmp_path, first):
    compared = [agrees_with_storm(tmp_path / "m.prism", first + each) for each in range(100)]
    assert sum(1 for each in compared if each) >= 50
