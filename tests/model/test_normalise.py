"""Probabilities that were rounded or computed: refused with a way out, and normalised if asked."""

import json
from fractions import Fraction

import numpy as np
import pytest

import gamedp
from gamedp.errors import InvalidModelError, InvalidParameterError
from gamedp.model.validation.outcomes import MOST_NEGATIVE, MOST_SUM

REWARDS = [0.0, 1.0]
THIRDS = [[1 / 3, 2 / 3], [2 / 3, 1 / 3]]

WAY_OUT = "normalise=True of from_arrays, from_scipy and read_model"


def of_matrix(matrix, **keywords):
    return gamedp.Model.from_scipy([np.asarray(matrix)], rewards=REWARDS, **keywords)


def of_arrays(matrix, **keywords):
    matrix = np.asarray(matrix)
    return gamedp.Model.from_arrays(
        [0, 1, 2], [0, 2, 4], [0, 1, 0, 1], matrix.ravel(), rewards=REWARDS, **keywords
    )


def of_file(matrix, folder, **keywords):
    rows = [
        f"state {state}{' init' * (not state)}\naction 0 [{REWARDS[state]}]\n"
        + "".join(f"{to} : {float(chance)!r}\n" for to, chance in enumerate(row))
        for state, row in enumerate(np.asarray(matrix))
    ]
    head = "@type: MDP\n@reward_models\nr\n@nr_states\n2\n@model\n"
    (folder / "m.drn").write_text(head + "".join(rows))
    return gamedp.read_model(folder / "m.drn", **keywords)


OFF = {
    "single precision": np.array(THIRDS, np.float32),
    "three digits": [[0.333, 0.666], [0.5, 0.5]],
    "short by a little": [[0.5, 0.5 - 1e-5], [0.5, 0.5]],
    "computed": [[1 + 2.0**-52, -(2.0**-52)], [0.5, 0.5]],
    "badly computed": [[1 + 1e-9, -1e-9], [0.5, 0.5]],
    "at the limits": [[MOST_SUM, -MOST_NEGATIVE], [0.45, 0.45]],
}


@pytest.mark.parametrize("make", [of_matrix, of_arrays])
@pytest.mark.parametrize("name", OFF)
def test_what_is_off_is_refused_with_a_way_out_and_taken_if_asked(make, name):
    given = np.asarray(OFF[name], np.float64)
    with pytest.raises(InvalidModelError, match=WAY_OUT):
        make(OFF[name])
    model = make(OFF[name], normalise=True)
    wanted = np.maximum(given, 0)
    wanted /= wanted.sum(axis=1, keepdims=True)
    assert np.allclose(model.transition_matrix.toarray(), wanted, rtol=1e-15, atol=0)
    totals = np.add.reduceat(model.probabilities, model.transition_offsets[:-1])
    assert np.abs(totals - 1).max() < 1e-15
    (note,) = model.notes
    assert ("below 0" in note) == bool((given < 0).any())
    assert ("divided by their sum" in note) == bool((wanted != np.maximum(given, 0)).any())


@pytest.mark.parametrize("name", OFF)
def test_files_are_treated_alike(name, tmp_path):
    loaded = of_file(OFF[name], tmp_path, normalise=True)
    again = of_arrays(OFF[name], normalise=True).transition_matrix.toarray()
    assert np.allclose(loaded.model.transition_matrix.toarray(), again, rtol=1e-15, atol=0)
    assert loaded.notes
    if name in {"three digits", "computed", "badly computed", "at the limits"}:
        with pytest.raises(InvalidModelError, match=WAY_OUT):
            of_file(OFF[name], tmp_path)


def test_bounds_are_those_of_the_normalised_model():
    model = of_matrix(OFF["three digits"], normalise=True)
    solution = gamedp.solve(model, gamedp.Discounted(0.5), tolerance=1e-12)
    # By the numbers as they are stored, in proportion.
    stored = [[Fraction(chance) for chance in row] for row in OFF["three digits"]]
    (a, b), (c, d) = ([chance / sum(row) for chance in row] for row in stored)
    half = Fraction(1, 2)
    determinant = (1 - half * a) * (1 - half * d) - half * b * half * c
    truth = half * b / determinant  # of state 0, where only state 1 earns 1
    assert solution.lower[0] <= truth <= solution.upper[0]
    assert solution.width < 1e-12


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        ([[0.9, 0.5], [0.1, 0.5]], r"total probability 1\.4, .* If they are weights, such as"),
        ([[30.0, 70.0], [50.0, 50.0]], "divide them by their sum"),
        ([[0.5, 0.35], [0.5, 0.5]], r"total probability 0\.85"),
        ([[1.1, -0.1], [0.5, 0.5]], r"with probability -0\.1 .* change places\.$"),
        ([[1.0, -2e-6], [0.5, 0.5]], r"with probability -2e-06 .* change places\.$"),
        ([[np.nan, 1.0], [0.5, 0.5]], "leads to state 0 with probability nan"),
        ([[np.inf, 1.0], [0.5, 0.5]], "with probability inf"),
        ([[-1e-9, -1e-9], [0.5, 0.5]], r"total probability 0\.0"),
    ],
)
def test_what_is_no_rounding_is_refused_all_the_same(matrix, words):
    with pytest.raises(InvalidModelError, match=words):
        of_arrays(matrix, normalise=True)


def test_what_is_right_stays_as_it_is():
    model = of_arrays([[0.25, 0.75], [0.5, 0.5]], normalise=True)
    assert model.notes == ()
    assert model.digest() == of_arrays([[0.25, 0.75], [0.5, 0.5]]).digest()


def test_large_matrices_as_other_tools_make_them():
    rng = np.random.default_rng(1)
    matrix = rng.random((300, 300)).astype(np.float32)
    matrix /= matrix.sum(axis=1, keepdims=True)
    computed = rng.random((300, 300))
    np.fill_diagonal(computed, 0)
    computed /= computed.sum(axis=1)[:, None]
    np.fill_diagonal(computed, 1 - computed.sum(axis=1))
    for given in (matrix, computed):
        model = gamedp.Model.from_scipy([given], rewards=np.arange(300.0), normalise=True)
        totals = model.transition_matrix.sum(axis=1)
        assert np.abs(totals - 1).max() < 1e-13
        assert np.abs(model.transition_matrix.toarray() - given).max() < 1e-7


def test_signs_of_players_who_change_places_stay():
    model = of_arrays([[0.5, -0.5 + 1e-6], [1.0, 0.0]], num_players=2, normalise=True)
    assert np.sign(model.probabilities).tolist() == [1, -1, 1]
    assert abs(model.probabilities[:2]).sum() == 1


def test_the_start_is_normalised_too():
    chances = np.array([1 / 3, 2 / 3], np.float32).tolist()
    initial = list(zip(chances, (0, 1), strict=True))
    with pytest.raises(InvalidModelError, match=f"initial states have .* {WAY_OUT}"):
        of_arrays([[1.0, 0.0], [0.0, 1.0]], initial=initial)
    model = of_arrays([[1.0, 0.0], [0.0, 1.0]], initial=initial, normalise=True)
    assert model.initial_probabilities.sum() == 1
    (note,) = model.notes
    assert note.startswith("the probabilities of 1 of 1 starts, which sum to one within 3e-08")


SHORT = [Fraction(1, 3), Fraction(3, 5)]
"""As exact numbers that miss one by 1/15."""


def exact_file(folder, **keywords):
    lines = "".join(f"{to} : {chance}\n" for to, chance in enumerate(SHORT))
    head = "@type: MDP\n@reward_models\nr\n@nr_states\n2\n@model\nstate 0 init\naction 0 [1]\n"
    (folder / "m.drn").write_text(f"{head}{lines}state 1\naction 0 [0]\n0 : 0.5\n1 : 0.5\n")
    return gamedp.read_model(folder / "m.drn", **keywords)


def test_fractions_are_divided_exactly(tmp_path):
    rows = np.array([SHORT, [0.5, 0.5]], object)
    with pytest.raises(InvalidModelError, match=WAY_OUT):
        of_arrays(rows)
    with pytest.raises(InvalidModelError, match=WAY_OUT):
        exact_file(tmp_path)
    loaded = exact_file(tmp_path, normalise=True)
    made = of_arrays(rows, normalise=True)
    wanted = [Fraction(5, 14), Fraction(9, 14), 0.5, 0.5]
    for model, notes in ((made, made.notes), (loaded.model, loaded.notes)):
        assert model.fractions["probabilities"].tolist() == wanted
        assert notes[0].startswith("the probabilities of 1 of 2 choices, which sum to one within 0")


def test_what_is_given_exactly_and_right_stays_as_it_is():
    rows = np.array([[Fraction(1, 3), Fraction(2, 3)], [Fraction(1, 2), 0.5]], object)
    model = of_arrays(rows, normalise=True)
    assert model.notes == ()
    assert model.digest() == of_arrays(rows).digest()


def test_fractions_below_zero_and_of_players_who_change_places():
    little = Fraction(1, 10**7)
    rows = np.array([[1 + little, -little], [0.5, 0.5]], object)
    model = of_arrays(rows, normalise=True)
    assert (model.probabilities.tolist(), model.fractions) == ([1.0, 0.5, 0.5], {})
    assert model.notes[0].startswith("1 probabilities below 0, by at most 1e-07, were taken for 0")
    model = of_arrays(rows, num_players=2, normalise=True)
    total = 1 + 2 * little
    wanted = [(1 + little) / total, -little / total, 0.5, 0.5]
    assert model.fractions["probabilities"].tolist() == wanted


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_what_is_no_number_is_refused_beside_fractions(number):
    with pytest.raises(InvalidModelError, match=f"with probability {number}"):
        of_arrays(np.array([[Fraction(1, 3), number], [0.5, 0.5]], object), normalise=True)


def test_a_start_in_fractions_is_divided_exactly():
    initial = [(Fraction(1, 3), 0), (Fraction(1, 5), 1), (Fraction(2, 5), 1)]
    model = of_arrays([[1.0, 0.0], [0.0, 1.0]], initial=initial, normalise=True)
    exact = [Fraction(5, 14), Fraction(9, 14)]
    assert model.fractions["initial_probabilities"].tolist() == exact
    assert len(model.notes) == 1


def test_rewards_of_transitions_are_weighted_by_what_was_normalised():
    matrix = [[1 + 1e-9, -1e-9], [0.5, 0.5]]
    earned = [[[2.0, 1e9], [1.0, 3.0]]]
    model = gamedp.Model.from_scipy([matrix], transition_rewards=earned, normalise=True)
    assert model.rewards.tolist() == [2.0, 2.0]


def test_notes_are_saved(tmp_path):
    model = of_matrix(OFF["three digits"], normalise=True)
    gamedp.save(gamedp.solve(model, gamedp.Discounted(0.5)), tmp_path)
    assert gamedp.load(tmp_path).model.notes == model.notes


def test_the_command_takes_it_too(tmp_path, run):
    of_file(OFF["single precision"], tmp_path)
    path = tmp_path / "m.drn"
    path.write_text(path.read_text().replace("0 : 0.5", "0 : 0.49"))
    of_file(OFF["three digits"], tmp_path, normalise=True)
    options = [str(path), "--discount", "0.5", "--json"]
    code, _, err = run("solve", *options)
    assert (code != 0, WAY_OUT in err) == (True, True)
    proof = str(tmp_path / "proof")
    code, out, _ = run("solve", *options, "--normalise", "--certificate", proof)
    assert code == 0
    assert "divided by their sum" in json.loads(out)["notes"][0]
    assert run("verify", str(path), proof, "--normalise")[0] == 0
    code, _, err = run("solve", "matches", "--normalise")
    assert "--normalise is for a model in a file" in err


def test_policies_are_told_a_way_out_as_well():
    model = gamedp.Model.from_arrays([0, 3, 3], [0, 1, 2, 3], [1] * 3, [1.0] * 3, payoffs=[0.0])
    rounded = np.array([1 / 3, 1 / 3, 1 / 3], np.float32)
    with pytest.raises(InvalidParameterError, match="divide those of each state by their sum"):
        gamedp.Policy(model, rounded)
    exact = rounded.astype(float)
    assert gamedp.Policy(model, exact / exact.sum()).is_mixed
