"""Models in files, against Storm: it reads ours as we do, we read its, and both find the same."""

from fractions import Fraction

import numpy as np
import pytest

import gamedp

stormpy = pytest.importorskip("stormpy", reason="stormpy, with which we compare, is not installed")

from storm_models import QUESTIONS, answers, exact_model, random_process  # noqa: E402
from stormpy import examples, io as storm_io  # noqa: E402 - after what may skip all of this

# A model of each kind that Storm brings along, in its own language.
PROGRAMS = {
    "die": ("dtmc/die.pm", "", 'P=? [F "one"]', 1 / 6),
    "crowds": ("dtmc/crowds5_5.pm", "", 'P=? [F "observe0Greater1"]', None),
    "brp": ("dtmc/brp-16-2.pm", "", 'P=? [F "target"]', None),
    "two dice": ("mdp/two_dice.nm", "", 'Pmax=? [F "two"]', 1 / 36),
    "coins": ("mdp/coin2-2.nm", "", 'Pmin=? [F "all_coins_equal_1"]', None),
    "leader": ("mdp/leader3.nm", "", 'Pmax=? [F "elected"]', 1.0),
}


def program(name):
    folder = examples.__path__[0]
    return stormpy.parse_prism_program(f"{folder}/files/{PROGRAMS[name][0]}")


def built_by_storm(name):
    """Return Storm's model with labels, rewards and actions."""
    options = stormpy.BuilderOptions(build_full=True)
    options.set_build_choice_labels(True)
    return stormpy.build_model(program(name), options=options)


def entries_of(matrix):
    return [
        (row, entry.column, entry.value)
        for row in range(matrix.nr_rows)
        for entry in matrix.get_row(row)
    ]


def rows_of_model(model):
    choices = np.repeat(np.arange(model.num_choices), np.diff(model.transition_offsets))
    rows = (choices.tolist(), model.successors.tolist(), model.probabilities.tolist())
    return sorted(zip(*rows, strict=True))


def assert_as_theirs(loaded, theirs, *, digits=17):
    """Assert that our model is theirs; text of few digits may round the probabilities."""
    assert loaded.model.num_states == theirs.nr_states
    ours, rows = rows_of_model(loaded.model), entries_of(theirs.transition_matrix)
    assert [row[:2] for row in ours] == [row[:2] for row in rows]
    probabilities = np.array([[row[2] for row in side] for side in (ours, rows)])
    np.testing.assert_allclose(*probabilities, rtol=0 if digits == 17 else 10.0**-digits)
    for label in theirs.labeling.get_labels() - {"init"}:
        states = list(theirs.labeling.get_states(label))
        if label in loaded.labels or states:
            assert np.flatnonzero(loaded.states(label)).tolist() == states
    starts = list(theirs.initial_states)
    assert loaded.model.initial_states.tolist() == starts
    for name, structure in theirs.reward_models.items():
        rewards = np.zeros(loaded.model.num_choices)
        if structure.has_state_rewards:
            counts = np.diff(loaded.model.choice_offsets)
            rewards += np.repeat(list(structure.state_rewards), counts)
        if structure.has_state_action_rewards:
            rewards += list(structure.state_action_rewards)
        assert loaded.rewards[name or "default"].tolist() == rewards.tolist()


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("suffix", ["umb", "drn"])
def test_what_storm_writes_is_read(tmp_path, name, suffix):
    theirs, path = built_by_storm(name), tmp_path / f"model.{suffix}"
    if suffix == "umb":
        storm_io.export_to_umb(theirs, str(path))
    else:
        storm_io.export_to_drn(theirs, str(path))
    assert_as_theirs(gamedp.read_model(path), theirs, digits=17 if suffix == "umb" else 9)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("suffix", ["umb", "drn"])
def test_storm_reads_what_is_written(tmp_path, name, suffix):
    theirs, path = built_by_storm(name), tmp_path / "model.umb"
    storm_io.export_to_umb(theirs, str(path))
    loaded = gamedp.read_model(path)
    again = tmp_path / f"again.{suffix}"
    gamedp.write_model(again, loaded)
    read = stormpy.build_model_from_umb if suffix == "umb" else stormpy.build_model_from_drn
    assert_as_theirs(loaded, read(str(again)))


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_variables_of_states(tmp_path, name):
    """Numbers, truth values, and least values other than 0: ours of theirs, and theirs of ours."""
    options = stormpy.BuilderOptions()
    options.set_build_state_valuations(True)
    theirs, path = stormpy.build_model(program(name), options=options), tmp_path / "model.umb"
    storm_io.export_to_umb(theirs, str(path))
    loaded = gamedp.read_model(path)
    again = tmp_path / "again.umb"
    gamedp.write_model(again, loaded)
    reading = storm_io.UmbImportOptions()
    reading.build_state_valuations = True
    for model in (theirs, stormpy.build_model_from_umb(str(again), options=reading)):
        variables = model.state_valuations.get_all_variables()
        assert sorted(variable.name for variable in variables) == sorted(loaded.variables)
        for variable in variables:
            ask = model.state_valuations
            ask = ask.get_boolean_value if variable.has_boolean_type() else ask.get_int64_value
            expected = [ask(state, variable) for state in range(model.nr_states)]
            assert loaded.variables[variable.name].tolist() == expected


@pytest.mark.parametrize("name", PROGRAMS)
def test_both_find_the_same(tmp_path, name):
    theirs, path = built_by_storm(name), tmp_path / "model.umb"
    storm_io.export_to_umb(theirs, str(path))
    loaded = gamedp.read_model(path)
    _, _, formula, known = PROGRAMS[name]
    (prop,) = stormpy.parse_properties(formula, program(name))
    found = stormpy.model_checking(theirs, prop)
    label = formula.split('"')[1]
    objective = gamedp.Reachability(
        loaded.states(label), optimum="min" if formula.startswith("Pmin") else "max"
    )
    solution = gamedp.solve(loaded.model, objective, tolerance=1e-8)
    for state in range(loaded.model.num_states):
        bounds = solution.bounds(state)
        assert bounds[0] - 1e-5 <= found.get_value(state) <= bounds[1] + 1e-5
    if known is not None:
        low, high = solution.bounds()
        assert low - 1e-15 <= known <= high + 1e-15


def test_a_game_of_storm(tmp_path):
    """Players, by name: this format alone has them."""
    folder = examples.__path__[0]
    game = stormpy.parse_prism_program(f"{folder}/files/smg/example_smg.nm")
    theirs, path = stormpy.build_model(game), tmp_path / "game.umb"
    storm_io.export_to_umb(theirs, str(path))
    loaded = gamedp.read_model(path, coalition=["maxP"])
    assert loaded.player_names == ("maxP", "minP", "sinkstates")
    assert loaded.model.players.tolist() == [1, 0, 0, 0]
    again = tmp_path / "again.umb"
    gamedp.write_model(again, loaded)
    assert stormpy.build_model_from_umb(str(again)).model_type == stormpy.models.ModelType.SMG


def test_one_terminal_state_with_a_payoff(tmp_path):
    """Storm's expected reward is our total, payoff included."""
    model = gamedp.Model.from_arrays(
        [0, 2, 2, 2], [0, 2, 4], [0, 1, 1, 2], [0.5, 0.5, 0.75, 0.25],
        rewards=[1.0, 2.0], payoffs=[5.0, 3.0],
    )  # fmt: skip
    path = tmp_path / "model.umb"
    gamedp.write_model(path, model, labels={"over": [1, 2]})
    loaded = gamedp.read_model(path)
    sink = loaded.model.num_states - 1
    gamedp.write_model(path, loaded, labels={"sink": [sink]})
    (prop,) = stormpy.parse_properties('R{"reward"}max=? [F "sink"]')
    theirs = stormpy.model_checking(stormpy.build_model_from_umb(str(path)), prop)
    assert theirs.get_value(0) == pytest.approx(7.0)
    assert gamedp.solve(model).value(0) == pytest.approx(7.0)


# Random models


def question_of(loaded, process, formula, optimum):
    """Return the model and the objective that a formula is about."""
    named = [name for name in loaded.rewards if f'"{name}"' in formula]
    model = loaded.with_rewards(named[0]) if named else loaded.model
    return model, QUESTIONS[formula](
        {name: loaded.states(name) for name in process.labels}, optimum
    )


def assert_known_between(solution, truth):
    """Assert that each state's exact value lies between its bounds."""
    for lower, value, upper in zip(solution.lower, truth, solution.upper, strict=True):
        if isinstance(value, float):
            assert lower == value == upper
        else:
            assert Fraction(float(lower)) <= value <= Fraction(float(upper))


@pytest.mark.parametrize("seed", range(24))
def test_random_models_are_solved_as_storm_does_in_rational_numbers(tmp_path, seed):
    """Loops, traps, ties, several labels, rewards of states and of choices, in two structures."""
    process = random_process(seed)
    path = tmp_path / "model.drn"
    path.write_text(process.drn())
    theirs = stormpy.build_model_from_drn[stormpy.Rational](str(path))
    loaded = gamedp.read_model(path)
    compared = 0
    for formula in QUESTIONS:
        for optimum in ("min", "max"):
            wanted = formula.format(optimum="" if process.is_chain else optimum)
            model, objective = question_of(loaded, process, formula, optimum)
            if formula.startswith("R") and not model.rewards.any():
                continue  # Storm refuses to add up nothing but zeros
            solution = gamedp.solve(model, objective, tolerance=1e-7)
            assert solution.width <= 1e-7
            assert_known_between(solution, answers(theirs, wanted))
            compared += 1
    assert compared >= 4


@pytest.mark.parametrize("seed", range(100, 106))
def test_storm_finds_in_our_files_what_it_found_in_the_first(tmp_path, seed):
    process = random_process(seed)
    path = tmp_path / "model.drn"
    path.write_text(process.drn())
    first = stormpy.build_model_from_drn[stormpy.Rational](str(path))
    loaded = gamedp.read_model(path)
    gamedp.write_model(tmp_path / "again.umb", loaded)
    gamedp.write_model(tmp_path / "again.drn", gamedp.read_model(tmp_path / "again.umb"))
    seconds = [
        exact_model(tmp_path / "again.umb"),
        stormpy.build_model_from_drn[stormpy.Rational](str(tmp_path / "again.drn")),
    ]
    for formula in QUESTIONS:
        model, _ = question_of(loaded, process, formula, "max")
        if formula.startswith("R") and not model.rewards.any():
            continue
        wanted = formula.format(optimum="" if process.is_chain else "max")
        truth = answers(first, wanted)
        for second in seconds:  # tenths become doubles on the way
            found = answers(second, wanted)
            assert [float(value) for value in found] == pytest.approx(truth, rel=1e-12)
