# ruff: noqa: E501 - each program is one line
"""Programs in the PRISM language and in JANI: states, numbers, and what is refused where."""

import json
import re
from fractions import Fraction

import numpy as np
import pytest
from model_programs import (
    COST,
    DIE,
    GAMES,
    GOAL,
    JANI,
    NOT_OF_STORM,
    PROGRAMS,
    STEP,
    X,
    automaton,
    bounded,
    edge,
    is_,
    jani,
    plus,
)

import gamedp
from gamedp.errors import (
    GamedpError,
    InvalidModelError,
    InvalidParameterError,
    LimitExceededError,
    UnknownNameError,
)

EACH = [
    pytest.param(kind, text, counts, id=f"{kind}: {name}")
    for kind, table in (("prism", PROGRAMS), ("smg", GAMES), ("jani", JANI))
    for name, (text, counts) in table.items()
]


def written(folder, text, kind="prism"):
    path = folder / f"model.{kind}"
    path.write_text(text, encoding="utf-8")
    return path


def loaded(folder, text, kind="prism", **options):
    return gamedp.read_model(written(folder, text, kind), **options)


def counts_of(found):
    model = found.with_coalition([0]).model
    return model.num_states, model.num_choices, model.num_transitions


@pytest.mark.parametrize(("kind", "text", "counts"), EACH)
def test_states_choices_and_transitions_are_storms(tmp_path, kind, text, counts):
    assert counts_of(loaded(tmp_path, text, kind)) == counts


OTHERS = {PROGRAMS[name][0] for name in NOT_OF_STORM}


@pytest.mark.parametrize(
    ("kind", "text", "counts"), [each for each in EACH if each.values[1] not in OTHERS]
)
def test_the_table_is_what_storm_says(tmp_path, kind, text, counts):
    stormpy = pytest.importorskip("stormpy")
    path = str(written(tmp_path, text, kind))
    program = (
        stormpy.parse_jani_model(path)[0] if kind == "jani" else stormpy.parse_prism_program(path)
    )
    built = stormpy.build_model(program, options=stormpy.BuilderOptions(build_full=True))
    assert (built.nr_states, built.nr_choices, built.nr_transitions) == counts


def test_what_a_program_names_is_in_the_model(tmp_path):
    found = loaded(tmp_path, PROGRAMS["label and reward of an action"][0])
    assert set(found.labels) == {"end", "deadlock"}
    assert found.states("end").tolist() == [False, False, True]
    assert found.variables["x"].tolist() == [0, 1, 2]
    assert found.rewards["go"].tolist() == [1.5, 2.5, 0.5]
    assert [found.action_name(action) for action in found.model.action_labels] == ["go", "go", ""]


def test_numbers_are_exact(tmp_path):
    """0.1 is one tenth, and products of three are made once."""
    found = loaded(tmp_path, PROGRAMS["products of three"][0])
    exact = found.model.fractions["probabilities"]
    assert set(exact[:8]) == {
        x * y * z
        for x in (Fraction(1, 3), Fraction(2, 3))
        for y in (Fraction(1, 3), Fraction(2, 3))
        for z in (Fraction(1, 10), Fraction(9, 10))
    }
    value = gamedp.solve(
        found.model,
        gamedp.Reachability((found.variables["x"] == 1) & (found.variables["z"] == 1)),
        "exact-policy-iteration",
    )
    assert value.bounds() == (1.0, 1.0)


def test_formulas_expand_before_modules_are_renamed(tmp_path):
    """The formula of the renamed module speaks of its variable: both stop at 2."""
    found = loaded(tmp_path, PROGRAMS["formula in a renamed module"][0])
    assert found.variables["x"].max() == found.variables["y"].max() == 2


def test_deadlocks_lead_to_themselves_and_are_labelled(tmp_path):
    found = loaded(tmp_path, PROGRAMS["deadlock"][0])
    assert found.states("deadlock").tolist() == [False, False, True]
    assert len(found.model.terminals) == 0


def test_commands_of_a_chain_are_equally_likely_and_so_are_their_rewards(tmp_path):
    text = (
        "dtmc module a x : [0..2]; [] x=0 -> (x'=1); [t] x=0 -> (x'=2); [] x=0 -> (x'=2); "
        'endmodule rewards "r" [] x=0 : 1; [t] true : 4; endrewards'
    )
    found = loaded(tmp_path, text)
    assert found.model.fractions["probabilities"][:2].tolist() == [
        Fraction(1, 3), Fraction(2, 3),
    ]  # fmt: skip
    assert found.rewards["r"].tolist() == [2.0, 0.0, 0.0]


def test_a_reward_of_a_common_action_counts_once(tmp_path):
    text = (
        "mdp module a x : [0..1]; [t] x=0 -> (x'=1); endmodule module b y : [0..1]; "
        "[t] y=0 -> (y'=1); endmodule rewards [t] true : 3; endrewards"
    )
    assert loaded(tmp_path, text).rewards[""].tolist() == [3.0, 0.0]


def test_rewards_have_a_value_only_where_their_guard_holds(tmp_path):
    text = (
        "mdp module a x : [0..2]; [] x<2 -> (x'=x+1); endmodule rewards x>0 : 1/x; endrewards "
        'label "half" = x>0 & 1/x<0.75;'
    )
    found = loaded(tmp_path, text)
    assert found.rewards[""].tolist() == [0.0, 1.0, 0.5]
    assert found.states("half").tolist() == [False, False, True]


def test_many_starts_are_all_in_the_model(tmp_path):
    found = loaded(tmp_path, PROGRAMS["many starts"][0])
    starts = found.model.initial_states
    x, y = found.variables["x"][starts], found.variables["y"][starts]
    assert sorted(zip(x.tolist(), y.tolist(), strict=True)) == [(2, 1), (3, 0), (3, 1)]


def test_equal_targets_are_one_transition_and_probabilities_of_zero_are_none(tmp_path):
    found = loaded(tmp_path, PROGRAMS["equal targets"][0])
    assert found.model.probabilities[:2].tolist() == [0.5, 0.5]
    assert loaded(tmp_path, PROGRAMS["probability zero"][0]).model.probabilities.tolist() == [1, 1]


def test_rewards_of_deadlocks_count_and_a_note_says_so(tmp_path):
    text = "mdp module m x : [0..1]; [] x=0 -> (x'=1); endmodule rewards true : 1; endrewards"
    found = loaded(tmp_path, text)
    assert found.rewards[""].tolist() == [1.0, 1.0]
    assert any("deadlocks" in note for note in found.notes)


def test_wide_states_take_several_words(tmp_path):
    found = loaded(tmp_path, PROGRAMS["wide states"][0])
    assert len(found.variables) == 20
    assert all(column.tolist() == [0, 1, 2, 3] for column in found.variables.values())


def test_players_keep_their_states(tmp_path):
    found = loaded(tmp_path, GAMES["three players"][0])
    assert found.player_names == ("p1", "p2", "p3")
    assert found.owners[[0, 1, 2]].tolist() == [0, 1, 2]


def test_constants_are_given_by_name(tmp_path):
    text = "mdp const int N; const double p; module m x : [0..N]; [] x<N -> p:(x'=x+1)+1-p:true; endmodule"
    found = loaded(tmp_path, text, constants={"N": 3, "p": 0.1})
    assert found.constants == {"N": 3, "p": Fraction(1, 10)}
    assert found.model.num_states == 4
    same = loaded(tmp_path, text, constants={"N": "1+2", "p": "1/10"})
    assert same.model.digest() == found.model.digest()
    with pytest.raises(
        InvalidModelError, match=r"line 1, column 15: the constants N, p have no va"
    ):
        loaded(tmp_path, text)
    with pytest.raises(UnknownNameError, match=r"no constant 'n'; known: N, p"):
        loaded(tmp_path, text, constants={"n": 3})
    with pytest.raises(GamedpError, match=r"of type int, not double, as 2\.5 is"):
        loaded(tmp_path, text, constants={"N": 2.5, "p": 1})


def test_files_that_list_their_states_take_no_constants_and_no_limits(tmp_path):
    path = tmp_path / "model.drn"
    gamedp.write_model(path, loaded(tmp_path, DIE).model)
    for options in ({"constants": {"N": 1}}, {"max_states": 10}, {"max_seconds": 1}):
        with pytest.raises(InvalidParameterError, match=f"{next(iter(options))} is for programs"):
            gamedp.read_model(path, **options)


REFUSED = {
    "ctmc module m endmodule": ("line 1, column 1", "'ctmc' stands for a chain of continuous time"),
    "ma module m endmodule": ("line 1, column 1", "'ma' stands for"),
    "pta module m endmodule": ("line 1, column 1", "'pta' stands for"),
    "pomdp observables x endobservables": ("line 1, column 1", "hidden states"),
    "csg player p m endplayer": ("line 1, column 1", "at the same time"),
    "mdp\nsystem m endsystem": ("line 2, column 1", "composition of modules"),
    "mdp module m x : [0..1]; [] x=0 -> [0.1,0.2] : (x'=1) + 0.5 : true; endmodule": (
        "line 1, column 36", "interval",
    ),
    "mdp module m x : clock; endmodule": ("line 1, column 18", "continuous time"),
    "mdp module m x : [0..1]; invariant true endinvariant endmodule": (
        "line 1, column 36", "':' should be",
    ),
    "mdp mdp": ("line 1, column 5", "named before"),
    "mdp": ("line 1, column 4", "no module"),
    "mdp module m x : [0..1]; [] x=0 -> (y'=1); endmodule": ("line 1, column 40", "no module"),
    "mdp module m x : [0..1]; endmodule module n [] x=0 -> (x'=1); endmodule": (
        "line 1, column 59", "another module",
    ),
    "mdp module m x : [0..1]; x : [0..1]; endmodule": ("line 1, column 26", "declared before"),
    "mdp module m x : [0..1]; y : [0..x]; endmodule": ("line 1, column 34", "'x' is a variable"),
    "mdp module m x : [0..1]; [] min(x)=0 -> true; endmodule": ("line 1, column 29", "at least 2"),
    "mdp module m x : [0..1]; [] true -> (x'=min(x,1)); endmodule module n = m [x=y, min=floor] "
    "endmodule": ("line 1, column 69", "floor takes 1 arguments, not 2"),
    'mdp module m x : [0..1]; endmodule label "init" = x=1;': ("line 1, column 52", "label 'init'"),
    'mdp module m x : [0..1]; endmodule label "deadlock" = x=1;': (
        "line 1, column 56", "every model has a label 'deadlock'",
    ),
    "mdp module m x : [0..1]; [] x -> true; endmodule": ("line 1, column 29", "a guard must be"),
    "mdp module m x : [0..1]; [] x=0 -> (x'=0.5); endmodule": ("line 1, column 40", "type int"),
    "mdp module m x : [0..1]; [] x=0 -> (x'=1) & (x'=0); endmodule": (
        "line 1, column 46", "changed twice",
    ),
    "mdp module m x : [0..2]; [] x=0 -> (x'=3); endmodule": (
        "line 1, column 40", "'x' becomes 3, outside its range [0..2], from the state {'x': 0}",
    ),
    "mdp module m x : [2..1]; endmodule": ("line 1, column 14", "[2..1] of 'x' is empty"),
    "mdp module m x : [0..1] init 2; endmodule": ("line 1, column 30", "starts with 2"),
    "mdp module m x : [0..y]; endmodule": ("line 1, column 22", "'y' is not a constant"),
    "mdp module m x : [0..1]; [] true -> 1/x : true; endmodule": ("line 1, column 38", "zero"),
    "mdp module m x : [0..2]; [] true -> 2-x : true; endmodule": (
        "line 1, column 38", "a probability is 2 in the state {'x': 0}",
    ),
    "mdp module m x : [0..1]; [] true -> 0.5 : true; endmodule": ("line 1: choice 0", "0.5, not 1"),
    "mdp module m [a] true -> true; endmodule rewards [b] true : 1; endrewards": (
        "line 1, column 50", "'b', which no command has",
    ),
    "mdp formula f = g; formula g = f; module m x : [0..1]; endmodule": (
        "line 1, column 17", "depends on itself",
    ),
    "mdp const int a = b; const int b = a; module m x : [0..a]; endmodule": (
        "line 1, column 15", "depends on itself",
    ),
    "mdp module n = m [x=y] endmodule": ("line 1, column 16", "no module 'm'"),
    "mdp module a x : [0..1]; endmodule module b = c [y=z] endmodule module c = a [x=y] endmodule": (
        "line 1, column 47", "no module 'c' before",
    ),
    "mdp module m x : [0..1]; endmodule module n = m [z=y] endmodule": (
        "line 1, column 43", "another name for the variable 'x'",
    ),
    "mdp global g : [0..1]; module m [a] true -> (g'=1); endmodule module n [a] true -> (g'=0); "
    "endmodule": ("line 1, column 88", "changed by two modules at once"),
    "mdp player p m endplayer module m x : [0..1]; endmodule": ("line 1, column 12", "no players"),
    "smg module m x : [0..1]; endmodule": ("line 1, column 12", "a game needs players"),
    "smg player p m, n endplayer module m x : [0..1]; endmodule": ("line 1, column 12", "module 'n'"),
    "smg player p m endplayer player q m endplayer module m x : [0..1]; endmodule": (
        "line 1, column 33", "belongs to another player",
    ),
    "smg player p [a] endplayer player q [b] endplayer module m x : [0..1]; [a] x=0 -> (x'=1); "
    "[b] x=0 -> (x'=0); endmodule": (
        "line 1, column 91", "in the state {'x': 0} both p and q may move",
    ),
    "smg player p [a] endplayer module m x : [0..1]; [a] x=0 -> (x'=1); [b] x=1 -> true; "
    "endmodule": ("line 1, column 68", "'b' belongs to no player, but is enabled in the state"),
    "mdp module m x : [0..1]; y : int init 5; [] true -> (y'=y*y); endmodule": (
        "line 1, column 58", "outside its range",
    ),
    "mdp module m x : [0..1]; endmodule init x=7 endinit": ("line 1, column 42", "no state is an"),
    "mdp module m x : [0..1] init 0; endmodule init x=0 endinit": (
        "line 1, column 30", "no initial value where there is init",
    ),
    'mdp module m x : [0..1]; [] "a" -> true; endmodule label "a" = true;': (
        "line 1, column 29", 'label "a"',
    ),
}  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_program_is_refused_at_its_place(tmp_path, text):
    place, words = REFUSED[text]
    with pytest.raises(InvalidModelError) as error:
        loaded(tmp_path, text)
    assert f"model.prism, {place}" in str(error.value)
    assert words in str(error.value)


REFUSED_JANI = {
    "{": ("line 1, column 2", "not JSON"),
    "[" * 100_000: ("line 1, column 1", "nested too deeply"),
    "[]": ("the model", "where an object should be"),
    '{"type": NaN}': ("line 1, column 1", "NaN is no number"),
    '{"type": 1' + "0" * 2000 + "}": ("line 1, column 1", "at most 1,000 digits"),
    jani([automaton("a", ["l"], [STEP])], variables=[X], kind="ctmc"): ("type", "'ctmc' is not"),
    jani([automaton("a", ["l"], [STEP])]): ("automata.a.edges[0]", "'x' is not a constant"),
    jani([automaton("a", ["l"], [edge("l", None, ("m", {}, None))])]): (
        "automata.a.edges[0].destinations[0]", "no location 'm'",
    ),
    jani([automaton("a", ["l"], [edge("l", None, ("l", {}, None), rate={"exp": 1})])]): (
        "automata.a.edges[0].rate", "continuous time",
    ),
    jani([automaton("a", ["l"], [STEP])], variables=[X], syncs=[{"synchronise": ["a", "b"]}]): (
        "system.syncs[0]", "1 automata, not 2",
    ),
    jani([automaton("a", ["l"], [STEP])], variables=[X | {"type": {"kind": "array", "base": "int"}}]): (
        "variables.x.type", "not supported",
    ),
    jani([automaton("a", ["l"], [edge("l", {"op": "∃", "exp": True}, ("l", {}, None))])]): (
        "automata.a.edges[0].guard", "'∃' is not supported",
    ),
    jani([automaton("a", ["l"], [STEP])], variables=[X, X | {"name": "y", "type": bounded(0, "x")}]): (
        "variables.y.type", "'x' is a variable",
    ),
    jani([automaton("a", ["l"], [STEP])], variables=[X, GOAL | {"name": "init"}]): (
        "variables.init", "every model has a label 'init'",
    ),
    jani([automaton("a", ["l"], [STEP]) | {"initial-locations": [["l"]]}], variables=[X]): (
        "automata.a.initial-locations[0]", "wrong type",
    ),
    jani([automaton("a", ["l"], [edge("l", {"constant": []}, ("l", {}, None))])]): (
        "automata.a.edges[0].guard.constant", "wrong type",
    ),
    jani([automaton("a", ["l"], [STEP | {"assignments": [None]}])], variables=[X]): (
        "automata.a.edges[0].assignments[0]", "wrong type",
    ),
    jani([automaton("a", ["l"], [STEP | {"assignments": [{"ref": []}]}])], variables=[X]): (
        "automata.a.edges[0].ref", "wrong type",
    ),
    jani([automaton("a", ["l"], [STEP]) | {"locations": [5]}], variables=[X]): (
        "automata.a.locations[0]", "wrong type",
    ),
    jani([automaton("a", ["l"], [STEP])], variables=[X], constants=[[]]): (
        "the model.constants[0]", "wrong type",
    ),
    jani([automaton("a", ["l"], [edge("l", None, ("l", {"x": 9}, None))])], variables=[X]): (
        "automata.a.edges[0].destinations[0]", "'x' becomes 9",
    ),
}  # fmt: skip


@pytest.mark.parametrize("text", REFUSED_JANI, ids=range(len(REFUSED_JANI)))
def test_what_is_no_jani_model_is_refused_at_its_place(tmp_path, text):
    place, words = REFUSED_JANI[text]
    with pytest.raises(InvalidModelError) as error:
        loaded(tmp_path, text, "jani")
    assert f"model.jani, {place}" in str(error.value)
    assert words in str(error.value)


def test_a_byte_order_mark_is_no_part_of_a_model(tmp_path):
    path = tmp_path / "model.jani"
    path.write_bytes(b"\xef\xbb\xbf" + JANI["variables"][0].encode())
    assert gamedp.read_model(path).model.num_states == 4


def test_transient_values_are_labels_and_rewards(tmp_path):
    found = loaded(tmp_path, JANI["transient values"][0], "jani")
    assert found.states("goal").tolist() == [False, True]
    assert found.rewards["cost"].tolist() == [3.5, 0.0]


@pytest.mark.parametrize("cut", range(0, len(DIE), 7))
def test_a_cut_program_gives_one_clear_error_or_is_whole(tmp_path, cut):
    path = written(tmp_path, DIE[:cut])
    try:
        gamedp.read_model(path)
    except GamedpError as error:
        assert "model.prism, line " in str(error)  # noqa: PT017 - either may come


@pytest.mark.parametrize(
    "text",
    ["\0", "mdp\0", "é", "mdp module m x : [0..1]; [] " + "(" * 10_000, "mdp " + "(" * 10_000,
     "mdp module m x : [0..1]; [] x=" + "9" * 5000 + " -> true; endmodule",
     "mdp module m x : [0.." + "9" * 900 + "]; endmodule"],
    ids=range(7),
)  # fmt: skip
def test_hostile_text_gives_one_clear_error(tmp_path, text):
    with pytest.raises(InvalidModelError, match=r"model\.prism, line 1, column"):
        loaded(tmp_path, text)


def test_bytes_that_are_no_text_are_named(tmp_path):
    path = tmp_path / "model.prism"
    path.write_bytes(b"mdp \xff")
    with pytest.raises(gamedp.errors.DamagedFileError, match="byte 4 is not of UTF-8"):
        gamedp.read_model(path)


MANY = "mdp module m x : [0..1000000]; [] x<1000000 -> (x'=x+1); [] true -> (x'=0); endmodule"


def test_limits_stop_an_exploration(tmp_path):
    with pytest.raises(LimitExceededError, match="max_states=500"):
        loaded(tmp_path, MANY, max_states=500)
    with pytest.raises(LimitExceededError, match="max_seconds"):
        loaded(tmp_path, MANY, max_seconds=1e-9)
    with pytest.raises(LimitExceededError, match="max_bytes"):
        gamedp.read_model(written(tmp_path, MANY), max_bytes=100_000)


def test_synchronisations_that_multiply_are_stopped_by_the_limit(tmp_path):
    """Thirty modules with ten branches each have 10**30 outcomes."""
    modules = " ".join(
        f"module m{i} x{i} : [0..9]; [t] true -> "
        + " + ".join(f"0.1 : (x{i}'={value})" for value in range(10))
        + "; endmodule"
        for i in range(30)
    )
    with pytest.raises(LimitExceededError, match="max_bytes"):
        loaded(tmp_path, f"mdp {modules}")


def test_progress_is_reported(tmp_path):
    met = []
    text = MANY.replace("1000000", "30000")
    found = loaded(tmp_path, text, progress=met.append)
    assert found.model.num_states == 30_001
    assert all(one.phase == "explore" for one in met)


def test_lists_and_arrays_give_the_same_model(tmp_path, monkeypatch):
    from gamedp.compiler import model_programs

    text = PROGRAMS["products of three"][0]
    plain = loaded(tmp_path, text)
    monkeypatch.setattr(model_programs, "_patience", lambda: 0.0)
    again = loaded(tmp_path, text)
    assert plain.model.digest() == again.model.digest()


def test_properties_of_a_jani_model_are_formulas(tmp_path):
    def ask(name, expression):
        return {"name": name, "expression": expression}

    def initial(values, fun="max"):
        return {"op": "filter", "fun": fun, "values": values, "states": {"op": "initial"}}

    goal = {"op": "F", "exp": "goal"}
    properties = [
        ask("p", initial({"op": "Pmax", "exp": goal})),
        ask("at least", initial({"op": "≥", "left": {"op": "Pmin", "exp": goal}, "right": 0.5})),
        ask("cost", initial({"op": "Emin", "exp": "cost", "accumulate": ["steps", "exit"], "reach": "goal"})),
        ask("steps", initial({"op": "Emax", "exp": 1, "accumulate": ["steps"], "reach": "goal"})),
        ask("bounded", initial({"op": "Pmax", "exp": goal | {"step-bounds": {"upper": 3}}})),
        ask("until", initial({"op": "Pmax", "exp": {"op": "U", "left": {"op": "¬", "exp": is_("x", 2)}, "right": "goal"}})),
        ask("time", initial({"op": "Pmax", "exp": goal | {"time-bounds": {"upper": 3}}})),
    ]  # fmt: skip
    start = {"name": "l", "transient-values": [{"ref": "cost", "value": 2}]}
    end = {"name": "m", "transient-values": [{"ref": "goal", "value": True}]}
    model = json.loads(
        jani(
            [
                automaton(
                    "a", [start, end], [edge("l", None, ("m", {"cost": 3}, 0.5), ("l", {}, 0.5))]
                )
            ],
            variables=[X, COST, GOAL],
        )
    )
    model["properties"] = properties
    found = loaded(tmp_path, json.dumps(model), "jani")
    assert found.properties == {
        "p": 'Pmax=? [ F "goal" ]',
        "at least": 'Pmin>=(1/2) [ F "goal" ]',
        "cost": 'R{"cost"}min=? [ F "goal" ]',
        "steps": 'R{"1 for each steps"}max=? [ F "goal" ]',
        "bounded": 'Pmax=? [ F<=3 "goal" ]',
        "until": 'Pmax=? [ (!(x = 2)) U "goal" ]',
    }
    assert any("'time' is left out" in note for note in found.notes)
    assert np.isclose(gamedp.ask(found, "cost").value(), 7.0)
    assert np.isclose(gamedp.ask(found, "steps").value(), 2.0)
    assert np.isclose(gamedp.ask(found, "bounded").value(), 0.875)


def counting(variable="x", start=0, on_edges=None, **more):
    """A model that counts to five, and earns one more than the count in each state."""
    place = {"name": "l", "transient-values": [{"ref": "cost", "value": plus(variable, 1)}]}
    below = {"op": "<", "left": variable, "right": 5}
    moves = {variable: plus(variable, 1)} | ({} if on_edges is None else {"cost": on_edges})
    edges = [edge("l", below, ("l", moves, None)), edge("l", is_(variable, 5), ("l", {}, None))]
    variables = [X | {"name": variable, "type": bounded(0, 9)}, COST | {"initial-value": start}]
    return jani([automaton("a", ["l" if on_edges else place], edges)], variables=variables, **more)


def with_property(text, **expression):
    values = {"op": "filter", "fun": "max", "values": expression, "states": {"op": "initial"}}
    return json.dumps(json.loads(text) | {"properties": [{"name": "it", "expression": values}]})


def earned(exp, *accumulated, until=3, **model):
    end = {"step-instant": until} if isinstance(until, int) else {"reach": until}
    accumulate = {"accumulate": list(accumulated)} if accumulated else {}
    return with_property(counting(**model), op="Emax", exp=exp, **accumulate, **end)


EARNED = {
    "within steps": (earned("cost", "steps", "exit"), 6),
    "of states within steps": (earned("cost", "exit"), 6),
    "of edges within steps": (earned("cost", "steps", on_edges=plus("x", 1)), 6),
    "within number of steps": (earned(1, "steps"), 3),
    "of expression within steps": (earned("x", "exit"), 3),
    "at step": (earned("cost"), 4),
    "of expression at step": (earned("x"), 3),
    "where edges set nothing": (earned("cost", "steps", "exit", until=is_("x", 2), start=7), 17),
    "of edges that set nothing": (earned("cost", "steps", until=is_("x", 2), start=7), 14),
    "of states, not of edges": (earned("cost", "exit", until=is_("x", 2), start=7, on_edges=1), 14),
}


@pytest.mark.parametrize("name", EARNED)
def test_rewards_of_a_jani_model_are_those_of_storm(tmp_path, name):
    """The values are Storm's (stormpy 2.0.0)."""
    text, value = EARNED[name]
    assert np.isclose(gamedp.ask(loaded(tmp_path, text, "jani"), "it").value(), value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (earned("cost", "steps", start=7, on_edges=1), "'cost' is set on edges"),
        (earned("cost", until=is_("x", 2)), "give 'step-instant'"),
        (with_property(counting(), op=[]), r"op: \[\] is of a wrong type"),
        (with_property(counting(), op="Emax", exp=1, accumulate=[[]]), "wrong type"),
        (
            with_property(counting(), op="Emax", exp=1, accumulate=["steps"], reach=True)
            .replace('"reach"', '"step-instant": 3, "reach"'),
            "reach and step-instant",
        ),
    ],
    ids=range(5),
)  # fmt: skip
def test_properties_that_cannot_be_expressed_are_left_out(tmp_path, text, words):
    found = loaded(tmp_path, text, "jani")
    assert not found.properties
    assert re.search(f"'it' is left out: .*{words}", " ".join(found.notes))


NAMES = ["P", "X", "R", "F", "U", "S", "E", "Pmax", "T", "true", "init", "a.b", "2x", "é", "filter"]


@pytest.mark.parametrize("name", NAMES)
def test_names_in_a_jani_model_may_be_words_of_formulas(tmp_path, name):
    """Each step counts one, so three is reached in three steps and no fewer."""
    within = {"op": "F", "exp": is_(name, "n"), "step-bounds": {"upper": "n"}}
    text = with_property(counting(name), op="Pmin", exp=within)
    constant = {"type": "int", "value": 3}
    found = loaded(
        tmp_path,
        text.replace(
            '"name": "test"',
            f'"name": "test", "constants": [{json.dumps({"name": "n"} | constant)}]',
        ),
        "jani",
    )
    assert gamedp.ask(found, "it").value() == 1
    within = {"op": "F", "exp": is_("y", name), "step-bounds": {"upper": name}}
    text = counting("y", constants=[{"name": name} | constant])
    assert (
        gamedp.ask(
            loaded(tmp_path, with_property(text, op="Pmin", exp=within), "jani"), "it"
        ).value()
        == 1
    )


def call(function, *arguments):
    return {"op": "call", "function": function, "args": list(arguments)}


def function(name, body, *parameters):
    listed = [{"name": each, "type": "int"} for each in parameters]
    return {"name": name, "type": "int", "parameters": listed, "body": body}


def test_functions_see_what_is_declared_around_them_and_not_who_calls_them(tmp_path):
    edges = [edge("l", is_("x", 1), ("l", {"x": call("outer", 3)}, None))]
    own = [function("inner", 2)]
    both = [
        automaton("a", ["l"], edges, functions=own),
        automaton("b", ["l"], [edge("l", is_("x", 1), ("l", {"x": plus(call("inner"), 2)}, None))]),
    ]
    functions = [function("inner", "x"), function("outer", plus(call("inner"), -1), "x")]
    text = jani(both, variables=[X | {"initial-value": 1}], functions=functions)
    assert sorted(loaded(tmp_path, text, "jani").variables["x"].tolist()) == [0, 1, 3]


def synchronised(first, second, **more):
    """Two automata that act together, each with assignments: a variable, a value, an index."""
    variables = [X | {"name": name, "type": bounded(0, 9)} for name in ("g", "y")]
    listed = []
    for name, assigned in (("a", first), ("b", second)):
        step = edge("l", None, ("l", {}, None), action="go")
        step["destinations"][0]["assignments"] = [
            dict(zip(("ref", "value", "index"), each, strict=True)) for each in assigned
        ]
        listed.append(automaton(name, [{"name": "l", **more.get(name, {})}], [step]))
    syncs = [{"synchronise": ["go", "go"], "result": "go"}]
    return jani(listed, variables=[*variables, COST], syncs=syncs)


def setting(cost):
    return {"transient-values": [{"ref": "cost", "value": cost}]}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (synchronised([("g", 5, 0)], [("y", "g", 1)]), "'b' reads 'g' at the index 1, after 'a'"),
        (synchronised([("cost", 5, 0)], [("cost", 2, 0)]), "'cost' is changed by two modules"),
        (synchronised([("cost", 5, 0), ("cost", 2, 0)], []), "'cost' is assigned twice"),
        (synchronised([], [], a=setting(1), b=setting(2)), "locations of two automata set"),
    ],
    ids=range(4),
)
def test_what_two_automata_do_to_one_variable_is_refused(tmp_path, text, words):
    with pytest.raises(InvalidModelError, match=words):
        loaded(tmp_path, text, "jani")
    assert loaded(tmp_path, synchronised([("g", 5, 0)], [("y", "g", 0)]), "jani")
    assert loaded(tmp_path, synchronised([], [], a=setting(1), b=setting(1)), "jani")


def test_assignments_of_a_later_index_see_those_of_an_earlier_one(tmp_path):
    text = synchronised([("y", "g", 1), ("g", 5, 0)], [])
    assert loaded(tmp_path, text, "jani").variables["y"].tolist() == [0, 5]


WALK = (
    "dtmc const int n; module walk x : [0..n] init 1; "
    "[] x>0 & x<n -> 1/3 : (x'=x+1) + 2/3 : (x'=x-1); endmodule"
)
PROPERTIES = """// of the walk
const double p = n/60; const int k;
label "top" = x=n; label "end" = "top" | low;
formula low = x<1;
"win": P>=p [ F "top" ]
P=? [ F<=k low ]
multi(P>=1 [F low], P>=1 [F "top"])
"last": P=? [ F "end" ];
E [ F low ]
"""


def test_properties_stand_in_a_file_of_their_own(tmp_path):
    file = tmp_path / "walk.props"
    file.write_text(PROPERTIES, encoding="utf-8")
    found = loaded(tmp_path, WALK, constants={"n": 4, "k": 3}, properties=file)
    assert list(found.properties) == ["win", "2", "3", "last", "5"]
    assert gamedp.ask(found, "win").holds == "yes"  # in fair thirds, 1/15 exactly
    assert gamedp.ask(found, "2").value() == pytest.approx(22 / 27)
    assert gamedp.ask(found, "last").value() == 1.0
    for name, words in (("3", "several objectives"), ("5", "CTL is not understood")):
        with pytest.raises(InvalidParameterError, match=f"property {name}, .*{words}"):
            gamedp.ask(found, name)
    explicit = tmp_path / "walk.drn"
    gamedp.write_model(explicit, found)
    file.write_text("const int k; P=? [ F<=k true ]", encoding="utf-8")
    assert gamedp.ask(gamedp.read_model(explicit, properties=file, constants={"k": 3}), "1").value()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("const int k; P=? [ F<=k low ]", "line 1, column 11: the constant k has no value"),
        ('"a": true; "a": false', "there is a property 'a' before"),
        ("label low = x=1;", "the name of a label in quotation marks"),
        ("const int n = 3;", "n has been declared in model.prism"),
        ("formula x = 3;", "x has been declared in model.prism"),
        ('label "deadlock" = true;', '"deadlock" has been declared in model.prism'),
        ('label "init" = true;', '"init" has been declared in model.prism'),
    ],
)
def test_what_a_file_of_properties_cannot_declare_is_refused_at_its_place(tmp_path, text, words):
    file = tmp_path / "walk.props"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(GamedpError, match=words):
        loaded(tmp_path, WALK.replace("int n;", "int n = 4;"), properties=file)


def test_a_label_of_properties_that_is_made_of_itself_is_refused(tmp_path):
    file = tmp_path / "walk.props"
    file.write_text('label "a" = !"a"; P=? [ F "a" ]', encoding="utf-8")
    found = loaded(tmp_path, WALK, constants={"n": 4}, properties=file)
    with pytest.raises(UnknownNameError, match="no label 'a'"):
        gamedp.ask(found, "1")
