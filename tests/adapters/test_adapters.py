"""Models in files of other tools: what is read, what is written, and what is refused."""

import bz2
import gzip
import io
import json
import lzma
import pickle
import struct
import tarfile
import tracemalloc
from fractions import Fraction

import attrs
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import gamedp
from gamedp.errors import (
    DamagedFileError,
    InvalidModelError,
    InvalidParameterError,
    UnknownNameError,
    UnknownStateError,
)
from gamedp.games.matches import Matches
from gamedp.games.wubbel import Wubbel
from gamedp.model.model import describe_choice
from gamedp.model.validation.forms import ARRAYS
from gamedp.testing.strategies import models

CAREFUL = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

KINDS = ("umb", "drn", "tra")

DRN = """\
// Written by hand
@type: MDP
@parameters

@reward_models
 steps
@nr_states
4
@nr_choices
5
@model
state 0 [0, 1] init
//[s=0]
	action go [0.5, 2]
		1 : 0.5
		2 : 1/2
	action wait [0, 0]
		0 : 1
state 1 [0, 1] "bad luck" low
	action __NOLABEL__ [0, 0]
		1 : 0.25
		3 : 0.75
state 2
	action go [0, 0]
		3 : 1
state 3 [7, 0] goal low
	action wait [0, 0]
		3 : 1
"""

TRA = """\
4 5 7
0 0 1 0.5 go
0 0 2 0.5 go
0 1 0 1 wait
1 0 1 0.25
1 0 3 0.75
2 0 3 1 go
3 0 3 1 wait
"""
LAB = '0="init" 1="deadlock" 2="bad luck" 3="low" 4="goal"\n0: 0\n1: 2 3\n3: 3 4\n'
SREW = '# Reward structure "steps"\n# State rewards\n4 2\n0 1\n1 1\n'
TREW = '# Reward structure "steps"\n# Transition rewards\n4 5 3\n0 0 1 1\n0 0 2 3\n1 0 3 4\n'

CHAIN_TRA = "3 4\n0 1 0.5\n0 2 0.5 step\n1 1 1.0\n2 0 1.0\n"
DIALECT_TRA = "mdp\n0 0 1 0.5\n0 0 0 0.5\n0 1 1 1\n1 0 1 1\n"
DIALECT_LAB = "#DECLARATION\ninit deadlock done\n#END\n0 init\n1 done\n"


@pytest.fixture
def folder(tmp_path):
    return tmp_path


def written(folder, **files):
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text)
    return folder


def a_model(**changes):
    """Return a model with two states that decide, and one that is left nowhere."""
    arrays = {
        "choice_offsets": [0, 2, 3, 4],
        "transition_offsets": [0, 2, 3, 5, 6],
        "successors": [1, 2, 0, 0, 2, 2],
        "probabilities": [0.25, 0.75, 1.0, 0.1, 0.9, 1.0],
        "rewards": [1.0, -0.5, 1 / 3, 0.0],
    }
    return gamedp.Model.from_arrays(**arrays | changes)


def saved(folder, kind="umb", model=None, **keywords):
    path = folder / f"model.{kind}"
    gamedp.write_model(path, a_model() if model is None else model, **keywords)
    return path


def assert_same_arrays(found, model):
    for name in ARRAYS:
        one, other = getattr(found, name), getattr(model, name)
        assert one.dtype == other.dtype, name
        np.testing.assert_array_equal(one, other, err_msg=name)
    assert found.num_players == model.num_players


# What is read


def by_hand(folder, kind):
    if kind == "drn":
        return gamedp.read_model(written(folder, model_drn=DRN) / "model.drn")
    files = {"model_tra": TRA, "model_lab": LAB, "model_srew": SREW, "model_trew": TREW}
    return gamedp.read_model(written(folder, **files) / "model.tra")


def action_names_of(loaded):
    """Return the name of the action of each choice."""
    return [loaded.action_name(action) for action in loaded.model.action_labels.tolist()]


@pytest.mark.parametrize("kind", ["drn", "tra"])
def test_files_written_by_hand(folder, kind):
    loaded = by_hand(folder, kind)
    model = loaded.model
    assert model.choice_offsets.tolist() == [0, 2, 3, 4, 5]
    assert model.transition_offsets.tolist() == [0, 2, 3, 5, 6, 7]
    assert model.successors.tolist() == [1, 2, 0, 1, 3, 3, 3]
    assert model.probabilities.tolist() == [0.5, 0.5, 1, 0.25, 0.75, 1, 1]
    assert model.initial_states.tolist() == [0]
    assert model.num_players == 1
    assert action_names_of(loaded) == ["go", "wait", "", "go", "wait"]
    assert np.flatnonzero(loaded.states("bad luck")).tolist() == [1]
    assert np.flatnonzero(loaded.states("low")).tolist() == [1, 3]
    assert np.flatnonzero(loaded.states("goal")).tolist() == [3]
    assert "init" not in loaded.labels
    # Of a state and of a choice, or of a state and, on average, of its transitions.
    steps = {"drn": [3, 1, 1, 0, 0], "tra": [3, 1, 4, 0, 0]}
    assert loaded.rewards["steps"].tolist() == steps[kind]
    assert loaded.with_rewards("steps").rewards.tolist() == steps[kind]
    assert ["depends on where" in note for note in loaded.notes] == [True] * (kind == "tra")


def test_a_reward_structure_without_a_name(folder):
    loaded = by_hand(folder, "drn")
    assert list(loaded.rewards) == ["default", "steps"]
    assert loaded.rewards["default"].tolist() == [0.5, 0, 0, 0, 7]
    assert loaded.model.rewards.tolist() == [0] * 5  # which one is meant is not known


def test_a_markov_chain_of_prism(folder):
    loaded = gamedp.read_model(written(folder, chain_tra=CHAIN_TRA) / "chain.tra")
    assert loaded.model.probabilities.tolist() == [0.5, 0.5, 1, 1]
    assert loaded.model.choice_offsets.tolist() == [0, 1, 2, 3]
    assert loaded.labels == {}
    assert loaded.notes == ("the file names no initial state; state 0 is taken as the start",)


def test_the_dialect_of_storm(folder):
    files = {"model_tra": DIALECT_TRA, "model_lab": DIALECT_LAB, "model_srew": "1 2.5\n"}
    loaded = gamedp.read_model(written(folder, **files) / "model.tra")
    assert loaded.model.successors.tolist() == [1, 0, 1, 1]  # in the order of the file
    assert loaded.states("done").tolist() == [False, True]
    assert loaded.rewards["reward"].tolist() == [0, 0, 2.5]


STA = "(s,safe)\n0:(0,true)\n1:(-3,false)\n2:(7,true)\n3:(7,false)\n"


def test_the_variables_of_states(folder):
    """PRISM writes them beside, and so does gamedp."""
    loaded = gamedp.read_model(written(folder, model_tra=TRA, model_sta=STA) / "model.tra")
    assert loaded.variables["s"].tolist() == [0, -3, 7, 7]
    assert loaded.variables["safe"].tolist() == [True, False, True, False]
    assert loaded.state_name(1) == "s=-3, safe=false"
    assert "variables 's', 'safe'" in repr(loaded)
    chance = gamedp.solve(loaded.model, gamedp.Reachability(loaded.variables["s"] == 7))
    assert chance.value(1) == 1.0
    gamedp.write_model(folder / "again.tra", pickle.loads(pickle.dumps(loaded)))
    assert (folder / "again.sta").read_text() == STA
    with pytest.raises(ValueError, match="read-only"):
        loaded.variables["s"][0] = 1
    without = gamedp.read_model(written(folder, other_tra=TRA) / "other.tra")
    assert (without.variables, without.state_name(1)) == ({}, "1")
    with pytest.raises(InvalidParameterError, match=r"again\.sta is there already"):
        gamedp.write_model(folder / "again.tra", without)


NAMED = """@type: MDP
@reward_models
gain
@nr_states
3
@model
state 0 init
    action go [1]
        1 : 1
state 1 "(x = 1)"
    action go [0]
        2 : 1
    action left [9]
        2 : 1
state 2 end
"""
"""Its second state has the actions 0 and 1, which are the choices 1 and 2."""


def named(folder):
    return gamedp.read_model(written(folder, named_drn=NAMED) / "named.drn")


def test_an_action_is_its_number_as_in_games(folder):
    loaded = named(folder)
    solution = gamedp.solve(loaded.with_rewards("gain"))
    names = [loaded.action_name(solution.best_action(state)) for state in (0, 1)]
    assert names == ["go", "left"]
    assert [entry.name for entry in solution.action_values(1)] == ["go", "left"]
    assert loaded.model.action_name(1) == "left"
    process = gamedp.evaluate(loaded.with_rewards("gain"), solution)
    assert [entry.name for entry in process.action_values(1)] == ["go", "left"]
    assert "(action 1 'left') of state 1" in describe_choice(loaded.model, 2)


@pytest.mark.parametrize("wrong", [-1, -2, 2, 99, True, np.True_, "0", "go", None, 1.0, [1]])
def test_what_is_no_action_or_state_has_no_name(folder, wrong):
    loaded = named(folder)
    numbered = gamedp.Model.from_arrays([0, 2, 2], [0, 1, 2], [1, 1], [1.0] * 2, payoffs=[0.0])
    for model in (loaded, loaded.model, numbered):
        with pytest.raises(UnknownNameError, match=r"there is no action .*; those of this model"):
            model.action_name(wrong)
        if wrong != 2 or model is numbered:
            with pytest.raises(UnknownStateError, match="there is no state"):
                model.state_name(wrong)
    assert (numbered.action_name(np.int8(1)), numbered.state_name(1)) == ("1", "1")


def test_columns_have_names_and_variables(folder):
    loaded = gamedp.read_model(written(folder, model_tra=TRA, model_sta=STA) / "model.tra")
    solution = gamedp.solve(loaded.model, gamedp.Reachability(loaded.variables["s"] == 7))
    columns = solution.to_columns()
    assert list(columns)[:3] == ["state", "s", "safe"]
    assert columns["safe"].tolist() == [True, False, True, False]
    names = [loaded.action_name(action) for action in columns["action"].tolist()]
    assert columns["action_name"].tolist() == names
    table = solution.q_table()
    assert table["action_name"].tolist() == action_names_of(loaded)
    assert table["s"].tolist() == [0, 0, -3, 7, 7]
    ended = gamedp.solve(named(folder).with_rewards("gain")).to_columns()
    assert ended["action_name"].tolist() == ["go", "left", None]


def test_names_are_saved_with_a_solution(folder):
    loaded = gamedp.read_model(written(folder, model_tra=TRA, model_sta=STA) / "model.tra")
    solution = gamedp.solve(loaded.model, gamedp.Reachability(loaded.variables["s"] == 7))
    for thing in (solution, gamedp.Policy.from_solution(solution)):
        place = folder / type(thing).__name__
        gamedp.save(thing, place)
        model = gamedp.load(place).model
        assert model.action_names == loaded.action_names
        assert model.state_name(1) == "s=-3, safe=false"
        assert [column.dtype for column in model.variables.values()] == [np.int64, np.bool_]
        assert not model.variables["s"].flags.writeable
        assert model.digest() == loaded.model.digest()


def test_names_are_kept_beside_fractions(folder):
    """In folders and files; the digest is of the numbers alone."""
    third, share = Fraction(1, 3), Fraction(3, 5)
    names = {"action_names": ["stay", "leave"], "variables": {"x": [4, -5]}}
    arrays = [[0, 2, 2], [0, 1, 3], [0, 0, 1], [Fraction(1), third, share]]
    plain = gamedp.Model.from_arrays(*arrays, payoffs=[third], normalise=True)
    model = gamedp.Model.from_arrays(*arrays, payoffs=[third], normalise=True, **names)
    assert model.fractions["probabilities"].tolist() == [1.0, Fraction(5, 14), Fraction(9, 14)]
    assert model.digest() == plain.digest() != attrs.evolve(plain, fractions={}).digest()
    gamedp.save(gamedp.solve(model), folder / "saved")
    gamedp.write_model(folder / "m.umb", model, rewards={})
    saved, read = gamedp.load(folder / "saved").model, gamedp.read_model(folder / "m.umb").model
    for again in (saved, read):
        assert (again.action_names[:2], again.state_name(1)) == (("stay", "leave"), "x=-5")
        numbers = again.fractions["probabilities"].tolist()[:3]
        assert numbers == model.fractions["probabilities"].tolist()
    assert (saved.digest(), saved.rounding) == (model.digest(), model.rounding)
    assert saved.notes == model.notes != ()


def test_names_of_a_model_of_arrays(folder):
    """They may be given, and go to files of any format that has a place for them."""
    fields = {"action_names": ["stay", "leave"], "variables": {"x": [4, -5], "done": [False, True]}}
    fields["variables"]["done"] = np.array(fields["variables"]["done"])
    model = gamedp.Model.from_arrays(
        [0, 2, 2], [0, 1, 2], [0, 1], [1.0, 1.0], payoffs=[1.0], **fields
    )
    assert (model.state_name(1), model.action_name(1)) == ("x=-5, done=true", "leave")
    for kind in KINDS:
        gamedp.write_model(folder / f"m.{kind}", model)
        loaded = gamedp.read_model(folder / f"m.{kind}")
        assert loaded.action_names[:2] == ("stay", "leave")
        if kind != "drn":
            assert loaded.variables["x"].tolist() == [4, -5, 0]  # and the state that pays
    swapped = gamedp.Model.from_arrays(
        [0, 1, 1],
        [0, 1],
        [1],
        [-1.0],
        payoffs=[1.0],
        num_players=2,
        action_names=["go"],
        variables={"x": [1, 2]},
    )
    gamedp.write_model(folder / "swapped.umb", swapped, rewards={})
    again = gamedp.read_model(folder / "swapped.umb")
    assert again.variables["x"].tolist() == [1, 2, 1, 2]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"action_names": "ab"}, "it must be a sequence of texts"),
        ({"action_names": [1, 2]}, "1 cannot name an action or a variable"),
        ({"action_names": ["one"]}, r"none for action 1 \(1 of 2 choices is off\)"),
        ({"variables": [1, 2]}, "it must be a mapping of names to arrays"),
        ({"variables": {"x": [1]}}, "variable 'x' has 1 entries, but there are 2 states"),
        ({"variables": {"x": [0.5, 1.0]}}, "variable 'x' holds float64; it must hold integers"),
        ({"variables": {1: [1, 2]}}, "1 cannot name"),
    ],
)
def test_names_that_do_not_fit_are_refused(fields, words):
    with pytest.raises(InvalidModelError, match=words):
        gamedp.Model.from_arrays([0, 2, 2], [0, 1, 2], [1, 1], [1.0] * 2, payoffs=[0.0], **fields)


LABELS = ["(x = 1)", "two words", "[one]", "!not", "{set}", "plain"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("label", LABELS)
def test_labels_come_back_as_they_were(folder, kind, label):
    path = saved(folder, kind, labels={label: [1], f"un{label}": []})
    labels = gamedp.read_model(path).labels
    assert {name: mask.tolist() for name, mask in labels.items()} == {
        label: [False, True, False],
        f"un{label}": [False, False, False],
    }


@pytest.mark.parametrize("name", ["a[b]", "a\nb", " a", "\t"])
def test_names_of_actions_that_would_not_be_read_are_not_written(folder, name):
    model = attrs.evolve(a_model(action_labels=[0, 1, 0, 0]), action_names=("a", name))
    with pytest.raises(InvalidModelError, match="allows no brackets"):
        gamedp.write_model(folder / "m.drn", model)
    assert not list(folder.glob("m.drn*"))


NASTY = [
    "@model",
    "01",
    "1",
    "007",
    "\u0663",
    "1" * 5000,
    "__NOLABEL__",
    "// No",
    "{x",
    "!x",
    "[1]",
]
NAMES = st.sampled_from(
    [*NASTY, "", "#", "x,y", "(x)", " a", "\ud800", "init", "default", "reward"]
)
ANY_NAME = NAMES | st.text(max_size=3) | st.text('0123[]{}()!@/# ,:"', max_size=3)


@CAREFUL
@given(
    kind=st.sampled_from(KINDS),
    actions=st.lists(ANY_NAME, min_size=2, max_size=2),
    others=st.lists(ANY_NAME, min_size=3, max_size=3),
)
def test_names_come_back_or_are_refused(tmp_path_factory, kind, actions, others):
    label, reward, variable = others
    folder = tmp_path_factory.mktemp("names")
    model = attrs.evolve(
        a_model(action_labels=[0, 1, 0, 1], rewards=np.zeros(4)),
        action_names=tuple(actions),
        variables={} if kind == "drn" else {variable: np.array([3, 1, 2])},
    )
    try:
        path = saved(folder, kind, model, labels={label: [1]}, rewards={reward: np.arange(4)})
    except InvalidModelError:
        assert not list(folder.iterdir())
        return
    loaded = gamedp.read_model(path)
    assert action_names_of(loaded) == [*actions, *actions]
    assert {name: mask.tolist() for name, mask in loaded.labels.items()} == {
        label: [False, True, False]
    }
    assert {name: list(column) for name, column in loaded.rewards.items()} == {reward: [0, 1, 2, 3]}
    assert list(loaded.variables) == list(model.variables)


@pytest.mark.parametrize("kind", ["drn", "tra"])
@pytest.mark.parametrize("name", ["01", "007", "\u0663", "1" * 5000])
def test_actions_are_numbers_only_as_python_writes_them(folder, kind, name):
    text = DRN.replace("go", name).replace("wait", "1").replace("__NOLABEL__", "7")
    table = TRA.replace("go", name).replace("wait", "1").replace("0.75\n", "0.75 7\n")
    files = {"m_drn": text, "m_tra": table.replace("0.25\n", "0.25 7\n")}
    loaded = gamedp.read_model(written(folder, **files) / f"m.{kind}")
    assert action_names_of(loaded) == [name, "1", "7", name, "1"]


@pytest.mark.parametrize(
    ("kind", "fields", "keywords", "words"),
    [
        ("drn", {"action_names": ("a", "__NOLABEL__")}, {}, "'__NOLABEL__' stands for no name"),
        ("drn", {}, {"rewards": {"@model": np.ones(4)}}, "begins with @ is a keyword"),
        ("tra", {"action_names": ("", "")}, {}, "every choice has the name ''"),
        ("tra", {"variables": {"x,y": np.arange(3)}}, {}, "cannot name a variable 'x,y'"),
        ("tra", {"variables": {"": np.arange(3)}}, {}, "cannot name a variable ''"),
        ("tra", {"variables": {" x": np.arange(3)}}, {}, "cannot name a variable ' x'"),
        ("tra", {"action_names": ("a", "\ud800")}, {}, r"'\\ud800' is not text that a file"),
        ("umb", {"action_names": ("a", "\ud800")}, {}, r"'\\ud800' is not text that a file"),
        ("drn", {}, {"labels": {"\udfff": [1]}}, r"'\\udfff' is not text that a file"),
        ("umb", {}, {"labels": {5: [1]}}, "the name 5 is not text that a file can hold"),
    ],
)
def test_names_that_would_not_be_read_are_not_written(folder, kind, fields, keywords, words):
    model = attrs.evolve(a_model(action_labels=[0, 1, 0, 1]), **fields)
    with pytest.raises(InvalidModelError, match=words):
        saved(folder, kind, model, **keywords)
    assert not list(folder.iterdir())


@pytest.mark.parametrize("kind", ["umb", "tra"])
def test_a_reward_structure_may_have_an_empty_name(folder, kind):
    loaded = gamedp.read_model(saved(folder, kind, rewards={"": np.ones(4), "r": np.ones(4)}))
    assert list(loaded.rewards) == ["", "r"]


def with_variables(folder, **variables):
    """Write a model of three states and variables, and return what is read of it."""
    loaded = gamedp.read_model(saved(folder))
    arrays = {name: np.array(column) for name, column in variables.items()}
    path = folder / "again.umb"
    gamedp.write_model(path, attrs.evolve(loaded.model, variables=arrays))
    return path


@pytest.mark.parametrize(
    "column",
    [
        [0, 0, 0],
        [0, 1, 2],
        [-1, 0, 0],
        [-4, 3, 0],
        [-5, 3, 0],
        [2**62, 5, 2**63 - 1],
        [-(2**63), -1, 2**63 - 1],
        [True, False, True],
        [False, False, False],
    ],
)
def test_variables_are_packed_into_bits(folder, column):
    path = with_variables(folder, before=[1, 0, 1], it=column, behind=[-3, 0, 100])
    variables = gamedp.read_model(path).variables
    assert list(variables) == ["before", "it", "behind"]
    assert variables["before"].tolist() == [1, 0, 1]
    assert variables["it"].tolist() == column
    assert variables["it"].dtype == np.array(column).dtype
    assert variables["behind"].tolist() == [-3, 0, 100]


@given(
    columns=st.lists(
        st.one_of(
            st.lists(st.integers(-(2**63), 2**63 - 1), min_size=3, max_size=3),
            st.lists(st.integers(-9, 9), min_size=3, max_size=3),
            st.lists(st.booleans(), min_size=3, max_size=3),
        ),
        min_size=1,
        max_size=6,
    )
)
@CAREFUL
def test_any_variables_come_back(tmp_path_factory, columns):
    folder = tmp_path_factory.mktemp("variables")
    path = with_variables(folder, **{f"v{number}": each for number, each in enumerate(columns)})
    found = gamedp.read_model(path).variables
    assert [array.tolist() for array in found.values()] == columns


def test_a_value_is_counted_from_its_offset(folder):
    path = with_variables(folder, x=[0, 1, 2])
    index, files = unpacked(path)
    index["valuations"]["states"]["classes"][0]["variables"][0]["offset"] = -1
    packed(path, index, files)
    assert gamedp.read_model(path).variables["x"].tolist() == [-1, 0, 1]


UNREAD = {
    "several kinds": (lambda group: group["classes"].append({"variables": []}), "several kinds"),
    "a text": (lambda group: retyped(group, {"type": "string", "size": 8}), "x is 'string'"),
    "a double": (lambda group: retyped(group, {"type": "double", "size": 64}), "x is 'double'"),
    "too wide": (
        lambda group: retyped(group, {"type": "uint", "size": 72}),
        "x is 'uint', 72 bits",
    ),
    "optional": (
        lambda group: group["classes"][0]["variables"][0].update({"is-optional": True}),
        "x is optional",
    ),
    "half a byte": (lambda group: group["classes"][0]["variables"].pop(), "whole bytes"),
}


def retyped(group, kind):
    group["classes"][0]["variables"][0]["type"] = kind


@pytest.mark.parametrize(
    ("kind", "offset", "numbers", "found"),
    [
        ("uint", 0, [2**63, 1, 2], None),
        ("uint", -5, [2**63, 5, 7], [2**63 - 5, 0, 2]),
        ("uint", 1, [2**63 - 1, 1, 2], None),
        ("int", -1, [-(2**63), 1, 2], None),
        ("int", -1, [2**63 - 1, 1, -2], [2**63 - 2, 0, -3]),
    ],
)
def test_variables_beyond_64_bits_are_not_read(folder, kind, offset, numbers, found):
    path = with_variables(folder, x=[-(2**63), 1, 2])
    index, files = unpacked(path)
    (entry,) = index["valuations"]["states"]["classes"][0]["variables"]
    entry |= {"type": {"type": kind, "size": 64}, "offset": offset}
    files["valuations/states/valuations.bin"] = b"".join(
        number.to_bytes(8, "little", signed=number < 0) for number in numbers
    )
    packed(path, index, files)
    loaded = gamedp.read_model(path)
    if found is None:
        assert loaded.variables == {}
        assert "x is too large for integers of 64 bits" in loaded.notes[-1]
    else:
        assert loaded.variables["x"].tolist() == found


@pytest.mark.parametrize("case", UNREAD)
def test_variables_that_are_not_read(folder, case):
    """They are not needed: the model is, and a note says so."""
    change, words = UNREAD[case]
    path = with_variables(folder, x=[0, 1, 2])
    index, files = unpacked(path)
    change(index["valuations"]["states"])
    packed(path, index, files)
    loaded = gamedp.read_model(path)
    assert loaded.variables == {}
    (note,) = loaded.notes
    assert note.startswith("the variables of the states are not read: ")
    assert words in note


BROKEN = {
    "no classes": (lambda group: group.pop("classes"), "without a list of classes"),
    "no variables": (lambda group: group["classes"][0].pop("variables"), "not a list of variables"),
    "a number": (
        lambda group: group["classes"][0]["variables"].append(3),
        "not a list of variables",
    ),
    "no type": (lambda group: retyped(group, None), "not a list of variables"),
    "a negative size": (
        lambda group: retyped(group, {"type": "uint", "size": -8}),
        "not a list of variables",
    ),
    "other sizes": (
        lambda group: group["classes"][0]["variables"][1].update(padding=14),
        "has 3 bytes in",
    ),
    "one name": (
        lambda group: group["classes"][0].update(
            variables=[{"name": "x", "type": {"type": "uint", "size": 4}}] * 2
        ),
        "two variables of one name",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_variables_that_are_damaged(folder, case):
    change, words = BROKEN[case]
    path = with_variables(folder, x=[0, 1, 2])
    index, files = unpacked(path)
    change(index["valuations"]["states"])
    packed(path, index, files)
    with pytest.raises(DamagedFileError, match=words):
        gamedp.read_model(path)


def test_rows_may_come_in_any_order(folder):
    rows = TRA.splitlines()
    shuffled = "\n".join([rows[0], *(rows[place] for place in (7, 3, 1, 6, 2, 4, 5))])
    found = gamedp.read_model(written(folder, model_tra=shuffled) / "model.tra")
    in_order = gamedp.read_model(written(folder, other_tra=TRA) / "other.tra")
    for name in ("choice_offsets", "transition_offsets", "successors", "probabilities"):
        assert getattr(found.model, name).tolist() == getattr(in_order.model, name).tolist()
    assert action_names_of(found) == ["go", "wait", "", "go", "wait"]


def test_rewards_beside_that_go_with_another_model(folder):
    files = {"model_tra": TRA, "model1_tra": TRA, "model1_srew": SREW, "model2_srew": SREW}
    written(folder, **files)
    assert list(gamedp.read_model(folder / "model1.tra").rewards) == ["steps"]
    assert list(gamedp.read_model(folder / "model.tra").rewards) == ["steps"]
    assert gamedp.read_model(folder / "model.tra").rewards["steps"].tolist() == [1, 1, 1, 0, 0]


def test_equal_rewards_of_transitions_are_not_rounded(folder):
    tra = "1 2 2\n0 0 0 1\n0 1 0 1\n".replace("0 1 0 1", "0 1 0 1.0")
    trew = "1 2 1\n0 1 0 0.1\n"
    loaded = gamedp.read_model(written(folder, m_tra=tra, m_trew=trew) / "m.tra")
    assert loaded.rewards["reward"].tolist() == [0, 0.1]


def test_placeholders(folder):
    text = DRN.replace("@model\n", "@placeholders\n$half : 0.5\n@model\n")
    text = text.replace("1 : 0.5", "1 : $half").replace("go [0.5, 2]", "go [$half, 2]")
    loaded = gamedp.read_model(written(folder, model_drn=text) / "model.drn")
    assert loaded.model.probabilities[0] == 0.5
    assert loaded.rewards["default"][0] == 0.5


def test_numbers_as_actions_have_no_names(folder):
    text = DRN.replace("go", "10").replace("wait", "2").replace("__NOLABEL__", "0")
    loaded = gamedp.read_model(written(folder, model_drn=text) / "model.drn")
    assert loaded.model.action_labels.tolist() == [10, 2, 0, 10, 2]
    assert loaded.action_names == ()
    assert action_names_of(loaded) == ["10", "2", "0", "10", "2"]


def test_a_state_without_choices_is_terminal(folder):
    text = DRN.replace("\taction wait [0, 0]\n\t\t3 : 1\n", "").replace("choices\n5", "choices\n4")
    loaded = gamedp.read_model(written(folder, model_drn=text) / "model.drn")
    assert loaded.model.terminals.tolist() == [3]
    assert loaded.model.payoffs.tolist() == [0]
    (note,) = loaded.notes
    assert "'default'" in note


def test_probabilities_that_were_rounded(folder):
    third = DRN.replace("1 : 0.5", "1 : 0.3333333333").replace("2 : 1/2", "2 : 0.6666666666")
    loaded = gamedp.read_model(written(folder, model_drn=third) / "model.drn")
    assert loaded.model.probabilities[:2].sum() == 1
    assert loaded.model.probabilities[0] == pytest.approx(1 / 3, abs=1e-10)
    assert loaded.model.probabilities[3:5].tolist() == [0.25, 0.75]  # the others stay
    (note,) = loaded.notes
    assert "1 of 5 choices" in note


def test_several_initial_states(folder):
    text = DRN.replace("state 2\n", "state 2 init\n")
    loaded = gamedp.read_model(written(folder, model_drn=text) / "model.drn")
    assert loaded.model.initial_states.tolist() == [0, 2]
    assert loaded.model.initial_probabilities.tolist() == [0.5, 0.5]
    (note,) = loaded.notes
    assert "2 initial states" in note


@pytest.mark.deep
def test_a_million_transitions_in_seconds(folder):
    size = 500_000
    body = "".join(
        f"state {s}\n\taction 0\n\t\t{s} : 0.5\n\t\t{(s + 1) % size} : 0.5\n" for s in range(size)
    )
    text = f"@type: DTMC\n@reward_models\n\n@nr_states\n{size}\n@model\n{body}"
    model = gamedp.read_model(written(folder, model_drn=text) / "model.drn").model
    assert (model.num_states, model.num_transitions) == (size, 2 * size)
    assert model.successors[-2:].tolist() == [size - 1, 0]


# What a loaded model is


def test_names_that_do_not_exist(folder):
    loaded = by_hand(folder, "drn")
    with pytest.raises(UnknownNameError, match="did you mean 'goal'"):
        loaded.states("gaol")
    with pytest.raises(UnknownNameError, match="did you mean 'steps'"):
        loaded.with_rewards("step")


def test_a_loaded_model_is_locked_also_after_pickling(folder):
    loaded = by_hand(folder, "drn")
    for one in (loaded, pickle.loads(pickle.dumps(loaded))):
        for array in (one.labels["goal"], one.rewards["steps"]):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1
    assert repr(loaded) == (
        "<LoadedModel model.drn: <Model 4 states, 5 choices, 7 transitions>; "
        "labels 'bad luck', 'low', 'goal'; rewards 'default', 'steps'>"
    )


def test_a_loaded_model_is_solved(folder):
    loaded = by_hand(folder, "tra")
    goal = loaded.states("goal")
    assert gamedp.solve(loaded.model, gamedp.Reachability(goal)).value() == 1
    steps = gamedp.TotalReward("min", until=goal)
    lower, upper = gamedp.solve(loaded.with_rewards("steps"), steps).bounds()
    # 3 for the first step; then from state 1, half of the time, 4 steps of 4/3 on average.
    assert lower <= 3 + 0.5 * 4 * 4 / 3 <= upper


# What is written and read again


def without_payoffs(model):
    return attrs.evolve(model, payoffs=np.zeros(len(model.terminals)))


@CAREFUL
@given(model=models(players=(1,)).map(without_payoffs), kind=st.sampled_from(KINDS))
def test_round_trips(folder, model, kind):
    mask = np.arange(model.num_states) % 2 == 0
    path = saved(
        folder, kind, model, labels={"even": mask}, rewards={"r": model.rewards}, ends="none"
    )
    loaded = gamedp.read_model(path)
    assert_same_arrays(loaded.model, model)
    assert loaded.labels["even"].tolist() == mask.tolist()
    assert loaded.notes == ()
    gamedp.write_model(path, loaded, ends="none")
    assert_same_arrays(gamedp.read_model(path).model, model)


@CAREFUL
@given(model=models(players=(2,), swaps=False).map(without_payoffs))
def test_round_trips_of_games(folder, model):
    loaded = gamedp.read_model(saved(folder, model=model, ends="none"))
    assert_same_arrays(loaded.model, model)
    assert loaded.player_names == ("max", "min")


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_written_of_one_format_is_read_of_another(folder, kind):
    loaded = by_hand(folder, "drn")
    path = folder / f"other.{kind}"
    gamedp.write_model(path, loaded)
    again = gamedp.read_model(path)
    assert list(again.labels) == list(loaded.labels)
    for name, mask in loaded.labels.items():
        assert again.labels[name].tolist() == mask.tolist()
    assert list(again.rewards) == list(loaded.rewards)
    for name, rewards in loaded.rewards.items():
        assert again.rewards[name].tolist() == rewards.tolist()
    assert action_names_of(again) == action_names_of(loaded)


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_model_gives_the_same_bytes(folder, kind):
    path = saved(folder, kind)
    content = path.read_bytes()
    saved(folder, kind)
    assert path.read_bytes() == content
    assert not list(folder.glob("*.gamedp-tmp"))


def test_payoffs_become_rewards(folder):
    model = a_model(
        choice_offsets=[0, 2, 3, 3],
        transition_offsets=[0, 2, 3, 5],
        successors=[1, 2, 0, 0, 2],
        probabilities=[0.25, 0.75, 1, 0.1, 0.9],
        rewards=[1, -0.5, 1 / 3],
        payoffs=[5.0],
    )
    for ends, last in (("loop", 2), ("none", 1)):
        loaded = gamedp.read_model(saved(folder, model=model, ends=ends))
        assert np.diff(loaded.model.choice_offsets).tolist() == [2, 1, 1, last - 1]
        assert loaded.rewards["reward"][3] == 5
        found = gamedp.solve(loaded.model).value(0)
        assert found == pytest.approx(gamedp.solve(model).value(0), abs=1e-5)
    # They belong to the model's own rewards.
    without = gamedp.read_model(saved(folder, model=model, rewards={"other": np.ones(3)}))
    assert without.model.num_states == 3
    assert without.rewards["other"].tolist() == [1, 1, 1, 0]


@pytest.mark.parametrize(
    "game", [Matches(matches=7), Wubbel(goal=6)], ids=lambda game: type(game).__name__
)
def test_players_who_change_places_are_unfolded(folder, game):
    model = gamedp.compile(game, compile="never")
    assert model.has_swaps
    path = saved(folder, model=model, labels={"over": game.is_terminal})
    loaded = gamedp.read_model(path)
    assert not loaded.model.has_swaps
    solution, again = gamedp.solve(model), gamedp.solve(loaded.model)
    size = model.num_states
    assert (again.lower[:size] <= solution.upper).all()
    assert (solution.lower <= again.upper[:size]).all()
    assert (again.lower[size : 2 * size] <= model.constant_sum - solution.lower).all()
    assert (model.constant_sum - solution.upper <= again.upper[size : 2 * size]).all()
    assert loaded.states("swapped").sum() == size
    assert loaded.states("over").sum() == 2 * len(model.terminals)


def test_actions_with_any_numbers(folder):
    model = a_model(action_labels=[-3, 10**12, 0, 5])
    for kind in KINDS:
        loaded = gamedp.read_model(saved(folder, kind, model))
        found = action_names_of(loaded)
        if kind == "drn" or loaded.action_names:
            assert found == ["-3", "1000000000000", "0", "5"]


def test_labels_as_objectives_take_them(folder):
    labels = {"one": [1], "mask": np.array([True, False, True]), "Rule, any": lambda s: s > 0}
    loaded = gamedp.read_model(saved(folder, labels=labels))
    assert {name: mask.tolist() for name, mask in loaded.labels.items()} == {
        "one": [False, True, False],
        "mask": [True, False, True],
        "Rule, any": [False, True, True],
    }


@pytest.mark.parametrize("kind", KINDS)
def test_labels_that_no_state_has(folder, kind):
    """In DRN, there is no place for them but a comment."""
    loaded = gamedp.read_model(saved(folder, kind, labels={"never": [], "once": [1], "no": []}))
    assert sorted(loaded.labels) == ["never", "no", "once"]
    assert not loaded.states("never").any()
    assert loaded.states("once").tolist() == [False, True, False]


def test_labels_that_are_alike_in_the_letters_of_files(folder):
    names = ["a b", "a_b", "A B", "", "Ä" * 300]
    labels = {name: [number % 3] for number, name in enumerate(names)}
    loaded = gamedp.read_model(saved(folder, labels=labels))
    assert list(loaded.labels) == names
    for number, name in enumerate(names):
        assert np.flatnonzero(loaded.labels[name]).tolist() == [number % 3]


REFUSED_TO_WRITE = {
    "three players": (
        {"model": lambda: a_model(rewards=np.zeros((4, 3)), num_players=3)},
        InvalidModelError,
        "3 players",
    ),
    "an uneven start": (
        {"model": lambda: a_model(initial=[(0.25, 0), (0.75, 1)])},
        InvalidModelError,
        "unequal probabilities",
    ),
    "a label with a name that is taken": ({"labels": {"init": [0]}}, InvalidModelError, "'init'"),
    "a label of the wrong shape": (
        {"labels": {"goal": np.ones(2, bool)}},
        InvalidModelError,
        r"\(2,\)",
    ),
    "rewards of the wrong shape": ({"rewards": {"r": [1.0]}}, InvalidModelError, "'r'"),
    "a format that does not exist": ({"format": "xml"}, InvalidParameterError, "'xml'"),
    "ends that do not exist": ({"ends": "sink"}, InvalidParameterError, "'sink'"),
    "a game in DRN": (
        {"model": lambda: a_model(num_players=2), "kind": "drn"},
        InvalidModelError,
        "write a game as .umb",
    ),
    "a game of PRISM": (
        {"model": lambda: a_model(num_players=2), "kind": "tra"},
        InvalidModelError,
        "write a game as .umb",
    ),
    "a label with quotation marks": (
        {"labels": {'"': [0]}, "kind": "tra"},
        InvalidModelError,
        "quotation marks",
    ),
}


@pytest.mark.parametrize("case", REFUSED_TO_WRITE)
def test_what_cannot_be_written(folder, case):
    keywords, error, words = REFUSED_TO_WRITE[case]
    model = keywords.get("model", a_model)()
    with pytest.raises(error, match=words):
        saved(folder, **keywords | {"model": model})
    assert list(folder.iterdir()) == []


def test_rewards_beside_that_would_be_taken_for_the_model_s(folder):
    saved(folder, "tra", rewards={"one": np.ones(4), "two": np.ones(4)})
    assert list(gamedp.read_model(folder / "model.tra").rewards) == ["one", "two"]
    with pytest.raises(InvalidParameterError, match=r"model1\.trew is there already"):
        saved(folder, "tra")


# What is refused


def drn(*changes):
    text = DRN
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return {"model_drn": text}


def tra(*changes, **more):
    text = TRA
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return {"model_tra": text, **more}


DAMAGED_TEXTS = {
    "no model": ({"model_drn": "@type: MDP\n"}, "line 2: there is no @model"),
    "no type": (drn(("@type: MDP\n", "")), "no @type"),
    "a cut file": ({"model_drn": DRN[:-60]}, "@nr_states says 4"),
    "too few choices": (drn(("choices\n5", "choices\n6")), "there are 5 choices"),
    "states that do not follow": (drn(("state 2", "state 3")), "line 23: state 2 must come next"),
    "an action first": (drn(("state 0 [0, 1] init\n", "")), "line 13: an action must follow"),
    "a transition first": (drn(("\taction go [0.5, 2]\n", "")), "line 14: a transition must"),
    "no transition": (drn(("\t\t3 : 1\nstate 3", "state 3")), "line 24.* leads nowhere"),
    "a word too many": (drn(("state 2", "label 2")), "line 23: a line must begin"),
    "no probability": (drn(("1 : 0.5", "1 : p")), "line 15: a probability must be a number"),
    "an interval": (drn(("1 : 0.5", "1 : [0.5, 0.6]")), "line 15: a probability"),
    "no state": (drn(("1 : 0.5", "1x : 0.5")), "line 15: a state must be a number"),
    "a division by zero": (drn(("2 : 1/2", "2 : 1/0")), "line 16: a probability"),
    "an open bracket": (drn(("[0.5, 2]", "[0.5, 2")), "line 14: a bracket is not closed"),
    "too few rewards": (drn(("[0.5, 2]", "[0.5]")), "line 14: there are 2 reward models"),
    "no reward": (drn(("[0.5, 2]", "[0.5, x]")), "line 14: a reward must be a number"),
    "an exit rate": (drn(("state 2", "state 2 !5")), "line 23.*exit rate"),
    "an observation": (drn(("state 2", "state 2 {5}")), "line 23.*observation"),
    "equal names": (drn((" steps", "steps steps")), "two reward models have one name"),
    "a state beyond": (drn(("2 : 1/2", "4 : 1/2")), "leads to state 4"),
    "NaN": (drn(("1 : 0.5", "1 : nan")), "line 14: choice 0 of state 0 .* probability nan"),
    "negative": (drn(("1 : 0.5", "1 : -0.5")), "probability -0.5"),
    "a sum": (drn(("1 : 0.5", "1 : 0.499")), "line 14: .* total probability 0.999, .*1 of 5"),
    "an infinite reward": (drn(("[0.5, 2]", "[0.5, inf]")), "'steps' of choice 0 is inf"),
    "a Markov automaton": (drn(("MDP", "MA")), "type MA"),
    "hidden states": (drn(("MDP", "POMDP")), "type POMDP"),
    "a game without players": (drn(("MDP", "SMG")), "does not say who moves"),
    "parameters": (drn(("@parameters\n", "@parameters\np q\n")), "parameters p q"),
    "intervals": (drn(("@parameters", "@value_type: double-interval\n@parameters")), "intervals"),
    "nothing": ({"model_tra": ""}, "line 1: there is nothing"),
    "a header": (tra(("4 5 7", "4 5 7 8")), "line 1: the first line must have"),
    "too few entries": (tra(("0 1 0 1 wait", "0 1 0")), "line 4: there must be 4 or 5"),
    "a count of transitions": (tra(("4 5 7", "4 5 8")), "there are 7 transitions"),
    "a count of choices": (tra(("4 5 7", "4 6 7")), "there are 5 choices"),
    "a count of states": (tra(("4 5 7", "3 5 7")), "there is a state 3"),
    "a count that is no number": (tra(("4 5 7", "4 5 x")), "line 1: the number of transitions"),
    "a gap in the choices": (tra(("0 1 0 1 wait", "0 2 0 1 wait")), "line 4: the choices"),
    "a negative state": (tra(("2 0 3 1 go", "-2 0 3 1 go")), "line 7: a state cannot be neg"),
    "a state that is no number": (tra(("2 0 3 1 go", "x 0 3 1 go")), "line 7: a state must be"),
    "rates": (tra(("3 0 3 1 wait", "3 0 3 0.5 wait")), "line 8: .*rates of continuous time"),
    "a state with too many digits": (tra(("2 0 3 1 go", f"2 0 {10**20} 1 go")), "line 7: a state"),
    "far too many states": (tra(("4 5 7", f"{10**15} 5 7")), "line 1: the last state that"),
    "digits with underscores": (tra(("3 0.75", "3 0_0.75")), "line 6: a probability must"),
    "variables without names": (tra(model_sta="0:(1)\n"), "line 1: the first line must name"),
    "variables of one name": (tra(model_sta="(x,x)\n"), "line 1: the first line must name"),
    "variables of another model": (tra(model_sta="(x)\n0:(1)\n"), "line 3: there are 1 states"),
    "variables out of order": (tra(model_sta="(x)\n1:(1)\n"), "line 2: state 0 must come next"),
    "too few values": (tra(model_sta="(x,y)\n0:(1)\n"), "line 2: there must be a value for each"),
    "a value that is none": (
        tra(model_sta="(x)\n0:(1)\n1:(2)\n2:(z)\n3:(4)\n"),
        "line 4: the value of a variable must be a number",
    ),
    "labels without names": (tra(model_lab="0: 0\n"), "line 1: the first line must name"),
    "a label that does not exist": (tra(model_lab='0="init"\n0: 1\n'), "line 2: there is no label"),
    "a label of no state": (tra(model_lab='0="init"\n9: 0\n'), "line 2: there is no state 9"),
    "labels without an end": (tra(model_lab="#DECLARATION\ninit\n0 init\n"), "no #END"),
    "a reward of no state": (tra(model_srew="4 1\n4 1\n"), "line 2: there is no state 4"),
    "a count of rewards": (tra(model_srew="4 2\n1 1\n"), "there are 1 rewards"),
    "a reward twice": (tra(model_srew="4 2\n0 1\n0 5\n"), "line 3: this has a reward already"),
    "rewards of more states": (tra(model_srew="7 1\n1 1\n"), "there are 4 states"),
    "a label twice": (tra(model_lab='0="init" 1="t" 2="t"\n0: 0\n'), "a label or its number twice"),
    "a number twice": (tra(model_lab='0="init" 1="t" 1="u"\n0: 0\n'), "or its number twice"),
    "more than labels": (tra(model_lab='0="init" t\n0: 0\n'), "line 1: the first line must name"),
    "a line cut off": (tra(model_lab='0="init" 1="t"\n0: 0\n1:'), "state 1 has no label"),
    "a reward of no transition": (tra(model_trew="4 5 1\n0 0 3 1\n"), "line 2: .* no such tr"),
    "a reward of no choice": (tra(model_trew="4 5 1\n1 1 3 1\n"), "line 2: .* no such tr"),
    "a reward of a choice far away": (
        tra(model_trew=f"4 5 1\n1 {2**63 - 1} 0 7\n"),
        "line 2: there is no choice 9223372036854775807",
    ),
    "a reward that leads far away": (
        tra(model_trew=f"4 5 1\n0 0 {2**63 - 1} 7\n"),
        "line 2: there is no state 9223372036854775807",
    ),
    **{
        f"{what} of 5000 times {digit}": (files, words)
        for digit in "10"
        for what, files, words in (
            (
                "@nr_states",
                drn(("states\n4", f"states\n{digit * 5000}")),
                "line 8: the number of s",
            ),
            ("@nr_choices", drn(("choices\n5", f"choices\n{digit * 5000}")), "line 10: the number"),
            ("states", tra(("4 5 7", f"{digit * 5000} 5 7")), "line 1: states must be a whole"),
            ("choices", tra(("4 5 7", f"4 {digit * 5000} 7")), "line 1: the number of choices"),
            ("transitions", tra(("4 5 7", f"4 5 {digit * 5000}")), "line 1: the number of trans"),
            (
                "state rewards",
                tra(model_srew=f"4 {digit * 5000}\n1 1\n"),
                "line 1: the number of r",
            ),
            (
                "rewards",
                tra(model_trew=f"4 5 {digit * 5000}\n0 0 1 1\n"),
                "line 1: the number of r",
            ),
            ("labels", tra(model_lab=f'0="init"\n{digit * 5000}: 0\n'), "line 2: a state must be"),
        )
    },
    "a reward that is none": (tra(model_srew="4 1\n1 x\n"), "line 2: a reward must be"),
}


@pytest.mark.parametrize("case", DAMAGED_TEXTS)
def test_damaged_files_of_text(folder, case):
    files, words = DAMAGED_TEXTS[case]
    path = written(folder, **files) / next(iter(files)).replace("_", ".")
    with pytest.raises((DamagedFileError, InvalidModelError), match=words) as caught:
        gamedp.read_model(path)
    assert str(folder) in str(caught.value)
    assert "\n" not in str(caught.value)


def _bare(folder, states):
    """Return an archive with nothing but an index."""
    counts = dict.fromkeys(["#states", "#choices", "#branches"], states)
    zeros = dict.fromkeys(["#players", "#initial-states", "#choice-actions", "#branch-actions"], 0)
    system = {"time": "discrete", "#observations": 0, **counts, **zeros}
    packed(folder / "m.umb", {"format-version": 1, "transition-system": system}, {})
    return folder / "m.umb"


def _wide():
    return gamedp.Model.from_arrays(np.arange(5001), np.arange(5001), [0] * 5000, [1.0] * 5000)


SMALL = {
    "states of a dialect": lambda folder: written(folder, m_tra="mdp\n0 0 99999 1\n") / "m.tra",
    "states of an index": lambda folder: _bare(folder, 100_000),
    "labels beside": lambda folder: (
        written(
            folder,
            m_tra="dtmc\n0 99999 1\n",
            m_lab=f"#DECLARATION\n{' '.join(map(str, range(300)))}\n#END\n",
        )
        / "m.tra"
    ),
    "rewards beside": lambda folder: (
        written(
            folder,
            m_tra="dtmc\n0 99999 1\n",
            **{f"m{number}_srew": "0 1\n" for number in range(10)},
        )
        / "m.tra"
    ),
    "labels of an archive": lambda folder: saved(
        folder, model=_wide(), labels={str(number): [] for number in range(300)}
    ),
    "variables of an archive": lambda folder: saved(
        folder,
        model=attrs.evolve(
            _wide(), variables={str(number): np.zeros(5000, np.int64) for number in range(100)}
        ),
    ),
    "labels in a comment": lambda folder: (
        written(
            folder,
            m_drn=f"// No state has these labels: {' '.join(map(str, range(3000)))}\n"
            "@type: DTMC\n@model\n" + "".join(f"state {state}\n" for state in range(3000)),
        )
        / "m.drn"
    ),
    "rewards of models": lambda folder: (
        written(
            folder,
            m_drn=f"@type: DTMC\n@reward_models\n{' '.join(map(str, range(1000)))}\n@model\n"
            + "".join(f"state {state}\n\taction 0\n\t\t0 : 1\n" for state in range(1000)),
        )
        / "m.drn"
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", SMALL)
def test_reading_a_small_file_takes_no_more_than_it_may(folder, case):
    path = SMALL[case](folder)
    gamedp.read_model(path)  # imports
    tracemalloc.start()
    gamedp.read_model(path)
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert taken > 20 * path.stat().st_size
    gamedp.read_model(path, max_bytes=2.5 * taken)
    with pytest.raises(gamedp.errors.LimitExceededError, match=r"which take more than .* bytes"):
        gamedp.read_model(path, max_bytes=0.8 * taken)


def test_a_file_that_is_no_text(folder):
    (folder / "model.drn").write_bytes(b"\xff\xfe")
    with pytest.raises(DamagedFileError, match="not a file of text"):
        gamedp.read_model(folder / "model.drn")
    (folder / "model.drn").write_bytes(b"\xef\xbb\xbf@type: DTMC\n")
    with pytest.raises(DamagedFileError, match="begins with a byte-order mark"):
        gamedp.read_model(folder / "model.drn")


def test_a_name_that_does_not_tell_the_format(folder):
    path = saved(folder)
    other = path.rename(folder / "model.dat")
    with pytest.raises(InvalidParameterError, match=r"'model\.dat' does not show the format"):
        gamedp.read_model(other)
    assert gamedp.read_model(other, format="umb").model.num_states == 3
    with pytest.raises(FileNotFoundError):
        gamedp.read_model(path)


# The archives of UMB


def unpacked(path):
    with tarfile.open(path) as tar:
        files = {member.name: tar.extractfile(member).read() for member in tar}
    index = json.loads(files.pop("index.json"))
    return index, files


def packed(path, index, files, mode="w"):
    with tarfile.open(path, mode) as tar:
        for name, content in {"index.json": json.dumps(index).encode(), **files}.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))


def test_holes_of_an_archive_count_as_bytes(folder):
    """A member whose map says that it is a hole takes no bytes, and fills memory with zeros."""
    path = saved(folder)
    index, files = unpacked(path)
    packed(path, index, files)
    size = 10**12
    hole = tarfile.TarInfo("annotations/aps/hole/values.bin")
    hole.pax_headers = {
        "GNU.sparse.map": f"{size},0",
        "GNU.sparse.size": str(size),
        "GNU.sparse.name": hole.name,
    }
    with tarfile.open(path, "a", format=tarfile.PAX_FORMAT) as tar:
        tar.addfile(hole)
    with pytest.raises(gamedp.errors.LimitExceededError, match="unpacks to"):
        gamedp.read_model(path)


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:xz"])
def test_archives_of_every_compression(folder, mode):
    path = saved(folder)
    packed(path, *unpacked(path), mode)
    magic = {"w:gz": b"\x1f\x8b", "w:xz": b"\xfd7zXZ"}.get(mode, b"index.json")
    assert path.read_bytes().startswith(magic)
    assert_same_arrays(gamedp.read_model(path).model, a_model())


def test_fractions_are_read_as_the_nearest_doubles(folder):
    path = saved(folder, rewards={})
    index, files = unpacked(path)
    large = Fraction(10**17 + 1, 10**18 + 9)
    for bits in (128, 256):
        probabilities = [Fraction(1, 3), Fraction(2, 3), Fraction(1), large, 1 - large, Fraction(1)]
        half = bits // 16
        files["branch-to-probability.bin"] = b"".join(
            chance.numerator.to_bytes(half, "little", signed=True)
            + chance.denominator.to_bytes(half, "little")
            for chance in probabilities
        )
        index["transition-system"]["branch-probability-type"] = {"type": "rational", "size": bits}
        packed(path, index, files)
        loaded = gamedp.read_model(path)
        assert loaded.model.probabilities.tolist() == list(map(float, probabilities))
        assert loaded.model.fractions["probabilities"].tolist() == probabilities
        assert loaded.notes == ()


@pytest.mark.parametrize("kind", ["int", "uint", "rational"])
def test_integers_that_no_double_is_equal_to_are_kept(folder, kind):
    path = saved(folder, rewards={"r": np.ones(4)})
    index, files = unpacked(path)
    content = np.array([[2**53 + 1, 1]] * 4, "<i8")[:, : 2 if kind == "rational" else 1].tobytes()
    files["annotations/rewards/r/choices/values.bin"] = content
    index["annotations"]["rewards"]["r"]["type"] = {"type": kind}
    packed(path, index, files)
    loaded = gamedp.read_model(path)
    assert loaded.rewards["r"].tolist() == [2.0**53] * 4
    assert loaded.fractions["r"].tolist() == [2**53 + 1] * 4
    assert loaded.model.rounding == (0.0, 1.0, 2.0**-53)
    assert loaded.model.fractions["rewards"].tolist() == [2**53 + 1] * 4
    gamedp.write_model(path, loaded)
    assert gamedp.read_model(path).fractions["r"].tolist() == [2**53 + 1] * 4


@pytest.mark.parametrize("values", ["double", "rational"])
def test_decimals_are_exact_beside_rational_numbers(folder, values):
    text = DRN.replace("@reward_models", f"@value_type: {values}\n@reward_models")
    text = text.replace("1 : 0.5", "1 : 0.1").replace("2 : 1/2", "2 : 9/10")
    loaded = gamedp.read_model(written(folder, model_drn=text) / "model.drn")
    tenth = Fraction(1, 10)
    assert loaded.model.fractions["probabilities"].tolist()[:2] == [tenth, 1 - tenth]
    assert loaded.notes == ()


@pytest.mark.parametrize("word", ["1e400", "1e999999999", "1/0", "1/3/3", "0x1", "1" + "0" * 400])
def test_numbers_that_are_none_where_values_are_rational(folder, word):
    text = DRN.replace("@reward_models", "@value_type: rational\n@reward_models")
    text = text.replace("2 : 1/2", f"2 : {word}")
    with pytest.raises(gamedp.errors.DamagedFileError, match="a probability must be a number"):
        gamedp.read_model(written(folder, model_drn=text) / "model.drn")


@pytest.mark.parametrize("chance", ["0.1", "1/10"])
def test_a_note_says_how_closely_the_reward_of_transitions_is_known(folder, chance):
    rest = "0.9" if "." in chance else "9/10"
    texts = {"model_tra": f"2 3\n0 0 {chance}\n0 1 {rest}\n1 1 1\n", "model_trew": "2 1\n0 1 1/3\n"}
    loaded = gamedp.read_model(written(folder, **texts) / "model.tra")
    notes = [note for note in loaded.notes if "depends on where" in note]
    if chance == "1/10":
        assert not notes
        assert loaded.fractions["reward"].tolist() == [Fraction(3, 10), 0]
        assert 0 < loaded.rounding["reward"][0] < 2**-54
    else:
        assert len(notes) == 1
        assert 0.05 * 2**-51 < loaded.rounding["reward"][0] < 2**-51
    assert loaded.model.rounding[1] == loaded.rounding["reward"][0]


def test_rewards_of_states_choices_and_branches_are_added(folder):
    path = saved(folder, rewards={"r": np.ones(4)})
    index, files = unpacked(path)
    index["annotations"]["rewards"]["r"]["applies-to"] = ["states", "choices", "branches"]
    base = "annotations/rewards/r"
    files[f"{base}/states/values.bin"] = np.array([10.0, 20, 30]).tobytes()
    files[f"{base}/branches/values.bin"] = np.array([100.0, 200, 0, 0, 0, 400]).tobytes()
    packed(path, index, files)
    assert gamedp.read_model(path).rewards["r"].tolist() == [186, 11, 21, 431]


def test_what_may_be_left_out(folder):
    """Without offsets there is one each, without probabilities they are sure."""
    path = folder / "model.umb"
    system = {
        "time": "discrete", "#players": 1, "#states": 2, "#initial-states": 0, "#choices": 2,
        "#choice-actions": 1, "#branches": 2, "#branch-actions": 0, "#observations": 0,
    }  # fmt: skip
    index = {"format-version": 1, "format-revision": 7, "transition-system": system}
    packed(path, index, {"valuations/states/valuations.bin": b"not read"})
    model = gamedp.read_model(path).model
    assert model.successors.tolist() == [0, 0]
    assert model.probabilities.tolist() == [1, 1]
    assert model.action_labels.tolist() == [0, 0]


@pytest.mark.parametrize("coalition", [["min"], [1], ["1"]])
def test_coalitions(folder, coalition):
    model = a_model(players=[0, 1, 1], num_players=2)
    path = saved(folder, model=model)
    assert gamedp.read_model(path).model.players.tolist() == [0, 1, 1]
    assert gamedp.read_model(path, coalition=coalition).model.players.tolist() == [1, 0, 0]
    with pytest.raises(InvalidModelError, match="no player 'maximum'; the players are max, min"):
        gamedp.read_model(path, coalition=["maximum"])
    with pytest.raises(InvalidModelError, match="no player '1111"):
        gamedp.read_model(path, coalition=["1" * 5000])


def three_players(folder):
    path = saved(folder, model=a_model(players=[0, 1, 1], num_players=2))
    index, files = unpacked(path)
    index["transition-system"] |= {"#players": 3, "player-names": ["a", "b", "c"]}
    files["state-to-player.bin"] = np.array([2, 1, 0], "<u4").tobytes()
    packed(path, index, files)
    return path


def test_more_than_two_players_need_a_coalition(folder):
    path = three_players(folder)
    loaded = gamedp.read_model(path)
    assert loaded.owners.tolist() == [2, 1, 0]
    assert (loaded.num_players, loaded.coalition) == (3, None)
    with pytest.raises(InvalidModelError, match=r"3 players \(a, b, c\); name those who play"):
        gamedp.solve(loaded.model)
    assert gamedp.read_model(path, coalition=["a", "c"]).model.players.tolist() == [0, 1, 0]


def test_a_coalition_is_named_when_the_question_is_asked(folder):
    loaded = gamedp.read_model(three_players(folder))
    for players in (["a", "c"], [0, 2], "b"):
        sides = loaded.with_coalition(players)
        again = sides.with_coalition([1]).with_coalition(players)
        assert sides.model.digest() == again.model.digest()
        expected = [1, 0, 1] if players == "b" else [0, 1, 0]
        assert sides.model.players.tolist() == expected
        assert sides.owners.tolist() == [2, 1, 0]
    alone = loaded.with_coalition(["a", "b", "c"]).model
    assert (alone.num_players, alone.players.any()) == (1, False)
    with pytest.raises(InvalidModelError, match="no player 3; the players are a, b, c"):
        loaded.with_coalition([3])


@pytest.mark.parametrize("coalition", [None, ["b"]])
def test_players_of_the_file_are_written_whoever_plays_together(folder, coalition):
    loaded = gamedp.read_model(three_players(folder), coalition=coalition)
    gamedp.write_model(folder / "again.umb", loaded)
    again = gamedp.read_model(folder / "again.umb")
    assert again.owners.tolist() == [2, 1, 0]
    assert again.player_names == ("a", "b", "c")


def changing(**values):
    def change(index, files):
        index["transition-system"] |= {
            name.replace("__", "#").replace("_", "-"): value for name, value in values.items()
        }

    return change


def cut(name, size=-8):
    def change(index, files):
        files[name] = files[name][:size]

    return change


def without(name):
    return lambda index, files: files.pop(name)


def content(name, array):
    def change(index, files):
        files[name] = array.tobytes()

    return change


def indexed(**values):
    return lambda index, files: index.update(
        {name.replace("_", "-"): value for name, value in values.items()}
    )


def annotated(group, **values):
    def change(index, files):
        (entry,) = index["annotations"][group].values()
        entry.update({name.replace("_", "-"): value for name, value in values.items()})

    return change


DAMAGED_ARCHIVES = {
    "another version": (indexed(format_version=2), "version 2"),
    "no version": (indexed(format_version=None), "version None"),
    "no system": (indexed(transition_system=3), "without a transition-system"),
    "annotations that are none": (indexed(annotations=[1]), "annotations"),
    "continuous time": (changing(time="stochastic"), "time 'stochastic'"),
    "observations": (changing(__observations=3), "observations"),
    "no number": (changing(__states="3"), "#states '3'"),
    "a number below zero": (changing(__states=-3), "#states -3"),
    "more states": (changing(__states=4), "32 bytes in state-to-choices.bin; 5 entries"),
    "more choices": (changing(__choices=5), "state-to-choices.bin that do not rise from 0 to 5"),
    "more branches": (changing(__branches=7), "choice-to-branches.bin that do not rise"),
    "more starts": (changing(__initial_states=2), "1 initial states"),
    "no offsets": (without("choice-to-branches.bin"), "no choice-to-branches.bin"),
    "no probabilities": (without("branch-to-probability.bin"), "no branch-to-probability.bin"),
    "no type": (changing(branch_probability_type=None), "several branches and no probabilities"),
    "intervals": (
        changing(branch_probability_type={"type": "double-interval"}),
        "type 'double-interval'",
    ),
    "another size": (
        changing(branch_probability_type={"type": "double", "size": 32}),
        "double with 32 bits",
    ),
    "a cut array": (cut("branch-to-probability.bin"), "40 bytes in branch-to-probability.bin"),
    "a cut bitmap": (cut("state-is-initial.bin"), "0 bytes in state-is-initial.bin"),
    "bits beyond": (
        content("state-is-initial.bin", np.array([9], "<u8")),
        "beyond the last one",
    ),
    "falling offsets": (
        content("choice-to-branches.bin", np.array([0, 3, 2, 5, 6], "<u8")),
        "do not rise",
    ),
    "a huge number": (
        content("branch-to-target.bin", np.full(6, 2**63, "<u8")),
        "number 9223372036854775808 in branch-to-target.bin",
    ),
    "a state that does not exist": (
        content("branch-to-target.bin", np.full(6, 3, "<u8")),
        "leads to state 3",
    ),
    "NaN": (content("branch-to-probability.bin", np.full(6, np.nan)), "probability nan"),
    "a sum": (
        content("branch-to-probability.bin", np.array([0.25, 0.749, 1, 0.1, 0.9, 1])),
        "choice 0 of state 0 has the total probability 0.999",
    ),
    "an infinite reward": (
        content("annotations/rewards/reward/choices/values.bin", np.full(4, np.inf)),
        "'reward' of choice 0 is inf",
    ),
    "a reward without values": (
        without("annotations/rewards/reward/choices/values.bin"),
        "no annotations/rewards/reward",
    ),
    "a reward of players": (annotated("rewards", applies_to=["players"]), "'players'"),
    "a random reward": (annotated("rewards", probability_type={}), "random reward"),
    "a label without values": (
        without("annotations/aps/goal/states/values.bin"),
        "proposition 'goal'",
    ),
    "a label of choices": (annotated("aps", applies_to=["choices"]), "proposition 'goal'"),
    "an action that does not exist": (changing(__choice_actions=1), "action 1"),
    "names that are no text": (
        content("actions/choices/strings.bin", np.full(2, 255, np.uint8)),
        "not UTF-8",
    ),
    "names without offsets": (without("actions/choices/strings.bin"), "no actions/choices/str"),
    "a type that is none": (
        changing(branch_probability_type={"type": [], "size": 64}),
        "numbers of no type in branch-to-probability.bin",
    ),
    "an absent type": (annotated("rewards", type={}), "numbers of no type in annotations/rewards"),
    "far too many bits": (
        changing(branch_probability_type={"type": "rational", "size": 128 * 10**4290}),
        "numbers of the type rational with",
    ),
    "a reward of a list": (annotated("rewards", applies_to=[[]]), r"apply to \[\[\]\]"),
    **{
        f"an alias of {group} that is {alias}": (
            annotated(group, alias=alias),
            "has the alias .* in index.json, which must be a text",
        )
        for group in ("aps", "rewards")
        for alias in (None, 5, [], {})
    },
    "players without names": (changing(player_names=["max", None]), "player-names .* not 2 texts"),
    "player names": (changing(player_names=["a"]), "player-names"),
    "a player that does not exist": (
        content("state-to-player.bin", np.full(3, 2, "<u4")),
        "player 2; there are 2",
    ),
}


@pytest.mark.parametrize("case", DAMAGED_ARCHIVES)
def test_damaged_archives(folder, case):
    change, words = DAMAGED_ARCHIVES[case]
    model = a_model(players=[0, 1, 0], num_players=2, action_labels=[7, 8, 7, 8])
    path = saved(folder, model=model, labels={"goal": [2]})
    index, files = unpacked(path)
    change(index, files)
    packed(path, index, files)
    with pytest.raises((DamagedFileError, InvalidModelError), match=words) as caught:
        gamedp.read_model(path)
    assert str(path) in str(caught.value)


PACKERS = [bytes, gzip.compress, lzma.compress, bz2.compress]


@pytest.mark.parametrize("pack", PACKERS, ids=lambda p: p.__module__)
def test_every_cut_is_noticed(folder, pack):
    path = saved(folder)
    whole = pack(gzip.decompress(path.read_bytes()))
    path.write_bytes(whole)
    assert_same_arrays(gamedp.read_model(path).model, a_model())
    end = len(whole)
    if pack is bytes:
        with tarfile.open(path) as tar:  # what follows is padding, and may be missing
            end = max(member.offset_data + member.size for member in tar)
    for size in (0, 1, 7, 100, end // 3, end // 2, end - 9, end - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(DamagedFileError, match=r"model\.umb"):
            gamedp.read_model(path)


@pytest.mark.parametrize("pack", PACKERS[1:], ids=lambda p: p.__module__)
def test_a_changed_byte_is_noticed(folder, pack):
    path = saved(folder)
    whole = pack(gzip.decompress(path.read_bytes()))
    for place in (10, len(whole) // 3, len(whole) // 2, len(whole) - 6):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        with pytest.raises((DamagedFileError, InvalidModelError), match=r"model\.umb"):
            gamedp.read_model(path)


def test_indexes_that_are_none(folder):
    path = saved(folder)
    _, files = unpacked(path)
    for text, words in ((b"{", "not JSON"), (b"[]", "not a JSON object"), (None, "no index.json")):
        with tarfile.open(path, "w") as tar:
            for name, content in ({} if text is None else {"index.json": text} | files).items():
                info = tarfile.TarInfo(name)
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
        with pytest.raises(DamagedFileError, match=words):
            gamedp.read_model(path)


def test_fractions_that_are_none(folder):
    path = saved(folder, rewards={})
    index, files = unpacked(path)
    index["transition-system"]["branch-probability-type"] = {"type": "rational"}
    for pair, words in (((1, 0), "denominator 0"), ((-1, 2), "probability -0.5")):
        files["branch-to-probability.bin"] = struct.pack("<qQ", *pair) * 6
        packed(path, index, files)
        with pytest.raises((DamagedFileError, InvalidModelError), match=words):
            gamedp.read_model(path)


def test_a_loaded_file_is_not_a_model_but_has_one(folder):
    """What someone tries first is told the way."""
    loaded = by_hand(folder, "drn")
    with pytest.raises(TypeError, match=r"pass the `\.model` of this LoadedModel"):
        gamedp.solve(loaded)
    with pytest.raises(InvalidParameterError, match=r"loaded\.states\('goal'\)"):
        gamedp.Reachability("goal")
    objective = gamedp.Reachability(loaded.states("goal"))
    solution = gamedp.solve(loaded.model, objective)
    certificate = gamedp.certify(solution)
    with pytest.raises(InvalidParameterError, match=r"nor a model; give its `\.model`"):
        gamedp.verify(loaded, certificate)
    with pytest.raises(InvalidParameterError, match=r"gamedp\.certify\(solution\) makes one"):
        gamedp.verify(loaded.model, solution)
    assert gamedp.verify(loaded.model, certificate).states == 4
