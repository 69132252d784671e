"""Formulas: what they mean, how they are read, and what is refused where."""

import contextlib
import json
from fractions import Fraction

import attrs
import numpy as np
import pytest
from formula_reference import SmallGame
from hypothesis import example, given, settings, strategies as st
from rule_games import Walk

import gamedp
from gamedp.errors import (
    GamedpError,
    InvalidParameterError,
    UnknownNameError,
    UnknownStateError,
    UnsupportedProblemError,
)
from gamedp.languages.expressions import Label, Literal, Name, Operation
from gamedp.languages.formulas import Query, Temporal, read_formula

ONE, HALF, THIRD = Fraction(1), Fraction(1, 2), Fraction(1, 3)


def a_game(**changes):
    """Return three players' game: p1 chooses between chance and p2's state, p2 between the ends."""
    game = SmallGame(
        rows=[
            [(ONE, {3: HALF, 4: HALF}), (ONE * 0, {1: ONE})],
            [(ONE * 0, {3: ONE}), (ONE * 0, {2: ONE})],
            [(ONE * 3, {3: THIRD, 4: 2 * THIRD}), (ONE * 0, {4: ONE})],
            [(ONE * 0, {3: ONE})],
            [(ONE * 0, {4: ONE})],
        ],
        owners=[0, 1, 2, 0, 0],
        labels={"goal": {3}, "lost": {4}, "two words": {0, 1}},
        earned=[ONE * 0, ONE * 2, ONE * 0, ONE * 0, ONE * 0],
    )
    return attrs.evolve(game, **changes)


@pytest.fixture(scope="module")
def loaded():
    return a_game().loaded()


VALUES = {
    'Pmax=? [F "goal"]': 1,
    'Pmin=? [F "goal"]': 0,
    '<<1>> Pmax=? [F "goal"]': HALF,
    '<<p1>> Pmax=? [F "goal"]': HALF,
    '<<"p1">> Pmin=? [F "goal"]': HALF,
    '<<1,2>> Pmax=? [F "goal"]': 1,
    '<<2>> Pmax=? [F "goal"]': HALF,
    '<<p2,p3>> Pmin=? [F "goal"]': 0.5,
    '<<*>> Pmin=? [F "goal"]': 0,
    '<<>> Pmax=? [F "goal"]': 0,
    '<<1,3>> Pmin=? [F "goal"]': HALF,
    '<<1>> R{"cost"}max=? [F s>=3]': 2,
    "Rmax=? [F s>=3]": 5,
    "R{1}min=? [C]": 1,
    "Rmax=? [C<=2]": 2,
    "Rmax=? [I=1]": 2,
    'R{"cost"}max=? [Fc s=2]': 2,
    'Rmin=? [F "goal"]': 2,
    'LRAmax=? ["goal"]': 1,
    'LRAmin=? ["lost"]': 0,
    "Rmax=? [S]": 0,
    'Pmax=? [X "goal"]': HALF,
    'Pmax=? [F<=1 "goal"]': HALF,
    'Pmax=? [F<2 "goal"]': HALF,
    "Pmax=? [F=2 s=2]": 1,
    "Pmax=? [F[2,2] s=2]": 1,
    "Pmax=? [F>=2 s=1]": 0,
    'Pmax=? [G !"lost"]': 1,
    "Pmax=? [s<2 U s=2]": 1,
    'Pmin=? [!"lost" W "goal"]': 0,
    'Pmax=? ["goal" R !"lost"]': 1,
    "Pmax=? [F (s=1 & (X s=2))]": 1,
    "Pmax=? [(F s=1) & (F s=2)]": 1,
    "pow(2,3)": 8,
    "s + three": 3,
    "filter(sum, s)": 10,
    "filter(avg, s, s>0)": Fraction(5, 2),
    "filter(count, odd)": 2,
    'filter(max, Pmin=? [F "goal"])': 1,
    'filter(min, Pmax=? [F "goal"], !"lost")': THIRD,
    'filter(state, Pmax=? [F "goal"], s=2)': THIRD,
    'filter(first, Pmax=? [F "goal"], s>1)': THIRD,
    'filter(print, Pmax=? [F "goal"])': 1,
    'Pmax=? [F "goal"] - Pmin=? [F "goal"]': 1,
    'max(Pmin=? [F "goal"], 1/4) * 2': HALF,
    '-Pmax=? [F "goal"]': -1,
}  # fmt: skip


@pytest.mark.parametrize("text", VALUES)
def test_values(loaded, text):
    low, high = gamedp.ask(loaded, text).bounds()
    assert low <= VALUES[text] <= high
    assert high - low <= 1e-9


HOLDS = {
    'P>=1 [F "goal"]': "no",
    '<<1,2>> P>=1 [F "goal"]': "yes",
    '<<1>> P>=0.5 [F "goal"]': "yes",
    '<<1>> P>0.5 [F "goal"]': "no",
    '<<1>> P>=half [F "goal"]': "yes",
    'Pmax>=1 [F "goal"]': "yes",
    "Pmax<=1/3 [F s=2 & (X s=3)]".replace("s=2 & (X s=3)", '(s=2 & (X "goal"))'): "yes",
    'Pmax<1/3 [F (s=2 & (X "goal"))]': "no",
    'P>=1 [F P<=1/3 [F "goal"]]': "no",
    'Pmax>=1 [F (s=2 & Pmax<=1/3 [F "goal"])]': "yes",
    'filter(forall, Pmax>=1/3 [F "goal"], !"lost")': "yes",
    'filter(exists, Pmax<=0 [F "goal"])': "yes",
    'filter(argmax, Pmin=? [F "goal"])': "no",
    'filter(state, filter(argmax, Pmin=? [F "goal"]), s=3)': "yes",
    'filter(argmin, Pmin=? [F "goal"])': "yes",
    '"two words" & !"goal"': "yes",
    '"init"': "yes",
    '"deadlock"': "no",
    "odd = false": "yes",
    "s = 0 | 1/s > 2": "yes",
    'Pmax=? [F "goal"] >= 1': "yes",
    'Pmin=? [F "goal"] = Pmax=? [F "goal"]': "no",
    '(s=0 <=> Pmax>=1 [F "goal"]) => odd': "no",
    '!(P>=1 [F "goal"] | odd)': "yes",
    'R{"cost"}<=5 [F s>=3]': "yes",
    'R{"cost"}<5 [F s>=3]': "no",
}


@pytest.mark.parametrize("text", HOLDS)
def test_what_holds(loaded, text):
    answer = gamedp.ask(loaded, text)
    assert answer.holds == HOLDS[text]
    assert answer.value() == float(HOLDS[text] == "yes")


REFUSED = {
    "": "line 1, column 1: the text ends where an expression should be",
    "F s=1": "line 1, column 1: F is about paths",
    "P=? [F s=1": "where ']' should be",
    'P=? [F "goal"]': "say Pmin or Pmax: there are choices",
    "Pmax=? [F s=1 U s=2 U s=3]": "put U or U in parentheses",
    "Pmax=? [odd & F s=1]": "put F and what it is about in parentheses",
    "Pmax=? [G (F s=1)]": "column 9: this path formula is not co-safe, nor is its opposite",
    "Pmax=? [F s]": "this is a number, and should be true or false",
    "Pmax=? [F Pmax=? [F odd]]": "this is a number, and should be true or false",
    "Pmax=? [F[3,2] odd]": "counts from step 3 to 2",
    "Pmax=? [F<=-1 odd]": "where a number, a constant, or an expression in parentheses should be",
    "Pmax=? [F<=(0-1) odd]": "counts from step 0 to -1",
    "Pmax=? [F<=s odd]": "s is not a constant",
    "Pmax=? [F<=half odd]": "1/2 is not a number of steps",
    'Pmax=? [F{"cost"}<=3 odd]': "bounds of rewards are not understood",
    "P>=2 [F odd]": "a probability is from 0 to 1",
    "P>=true [F odd]": "a bound is a number",
    'P>="goal" [F odd]': "a bound is a number",
    "R=? [F0 odd]": "F0, whose total is zero",
    "Rmax=? [X odd]": "where F, C, C<=k, I=k or S should be",
    "Rmax=? [F<=3 odd]": "use C<=k",
    'R{"cost"/"time"}max=? [C]': "ratios of rewards",
    "R{2}max=? [C]": "there is no reward structure 2; there are 'cost'",
    "<<4>> Pmax=? [F odd]": "there is no player '4'; the players are p1, p2, p3",
    "<<0>> Pmax=? [F odd]": "there is no player '0'",
    "<<1:2>> Pmax=? [F odd]": "several coalitions",
    "<<1>> odd": "where P, R, S or LRA should be",
    "[[1]] Pmax=? [F odd]": "name those who play together",
    "multi(Pmax=? [F odd])": "several objectives at once",
    "E [F odd]": "CTL is not understood; for E",
    "A [G odd]": "CTL is not understood; for A",
    "filter(median, s)": "there is no filter 'median'; there are min, max",
    "filter(state, s, s>1)": "there are 3 such states, and not one",
    "filter(max, s, s>7)": "there is no state that the filter looks at",
    "filter(max, odd)": "this is true or false, and should be a number",
    "filter(count, s)": "this is a number, and should be true or false",
    "Pmax=? [F odd] / 2": "'/' cannot join answers to formulas; + - * min max can",
    "Pmax=? [F odd] & odd": "this is a number, and should be true or false",
    "s = true": "must be true or false here",
    "1/s > 2": "this divides by zero",
    "P=? [F odd] P=? [F odd]": "where the end should be",
    "é": "cannot stand here",
    '"goal': "a quotation mark that is not closed",
}  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused_is_refused_at_its_place(loaded, text):
    with pytest.raises(InvalidParameterError, match=r"^the formula, line 1, column \d+: ") as error:
        gamedp.ask(loaded, text)
    assert REFUSED[text] in str(error.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('Pmax=? [F "gaol"]', "column 11: There is no label 'gaol'; did you mean 'goal'?"),
        ("Pmax=? [F t=3]", "column 11: There is no variable or constant 't'"),
        ('R{"costs"}max=? [C]', "column 1: There is no reward structure 'costs'; did you mean"),
    ],
)
def test_names_that_a_model_does_not_have(loaded, text, words):
    with pytest.raises(UnknownNameError) as error:
        gamedp.ask(loaded, text)
    assert words in str(error.value)


def test_lines_are_counted(loaded):
    with pytest.raises(InvalidParameterError, match="line 3, column 2"):
        gamedp.ask(loaded, "Pmax=? // much\n[F\n @]")


def test_binding():
    assert read_formula("Pmax=? [F odd & s=1]").path == Temporal(
        "F", (Operation("&", (_name("odd"), _equal("s", 1)), None),), None, None, None
    )
    path = read_formula("P>0.1+0.2 [!odd U<=2 X odd];").path
    assert path.operator == "U"
    assert path.last == Literal(2, None)
    assert path.operands[1].operator == "X"
    assert read_formula('"a"') == Label("a", None)
    assert read_formula("S=? [odd]") == Query("LRA", None, None, None, None, _name("odd"), None)


def _name(name):
    return Name(name, None)


def _equal(name, number):
    return Operation("=", (_name(name), Literal(number, None)), None)


PIECES = st.sampled_from(
    ["P", "Pmax", "R", "=?", ">=", "0.5", "[", "]", "(", ")", "F", "G", "U", "X", "<=", "3", '"a"',
     "s", "&", "!", "<<", ">>", ",", "filter", "max", "I", "C", "{", "}", "?", ":", "1e400", "S",
     "LRA", "min", "pow", "9" * 2000, "Fc", "F0", "true", "/", "-", "half", "\x00", "\u00b4"]
)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=12).map(" ".join) | st.text(max_size=30))
@example("(" * 100_000)
@example("!" * 100_000)
@example("-" * 100_000 + "1")
@example("P>=0[" * 5_000)
@example("Pmax=? [" + "X " * 100_000 + "true]")
@example("filter(max, " * 5_000)
@example("Pmax=? [" + "(" * 200 + "F true" + ")" * 200 + "]")
@example("pow(10, pow(10, 10))")
@example("P>=pow(2, 0-99999999) [F true]")
@example("s" + "+s" * 50_000 + ">0")
@example("Pmax=? [" + " & ".join(f"(F s={i})" for i in range(40)) + "]")
def test_hostile_texts_are_answered_or_refused(text):
    loaded = a_game().loaded()
    with contextlib.suppress(GamedpError):
        assert len(gamedp.ask(loaded, text).lower) == 5


def test_a_formula_is_text(loaded):
    with pytest.raises(InvalidParameterError, match="a formula is a text"):
        gamedp.ask(loaded, 3)


# Coalitions


def test_all_players_play_together_unless_a_coalition_is_named():
    """The coins of the documentation: 3/4 if both want heads, and 1/4 if one of them does not."""
    coins = SmallGame(
        rows=[
            [(ONE * 0, {1: ONE}), (ONE * 0, {2: ONE})],
            [(ONE * 0, {3: 3 * HALF / 2, 4: HALF / 2}), (ONE * 0, {3: HALF / 2, 4: 3 * HALF / 2})],
            [(ONE * 0, {3: HALF / 2, 4: 3 * HALF / 2})],
            [(ONE * 0, {3: ONE})],
            [(ONE * 0, {4: ONE})],
        ],
        owners=[0, 1, 1, 0, 0], labels={"heads": {3}}, earned=[ONE * 0] * 5,
    ).loaded()  # fmt: skip
    ask = 'Pmax=? [F "heads"]'
    assert gamedp.ask(coins, ask).value() == 0.75
    assert gamedp.ask(coins, f"<<*>> {ask}").value() == 0.75
    assert gamedp.ask(coins, f"<<1>> {ask}").value() == 0.25
    # In Python, players count from zero, and a coalition that is chosen there stays.
    assert gamedp.ask(coins.with_coalition([0]), ask).value() == 0.25
    assert gamedp.ask(coins.with_coalition(["p1"]), f"<<1,2>> {ask}").value() == 0.75


# Undecided sets


def rounded_game():
    """Return a process that goes on with a third as a double, which is no third."""
    return gamedp.Model.from_arrays(
        [0, 1, 2, 3, 4], [0, 3, 4, 5, 7], [1, 2, 3, 1, 2, 0, 3],
        [1 / 3, 1 / 3, 1 / 3, 1, 1, 0.5, 0.5],
        variables={"x": [0, 1, 2, 3]},
    )  # fmt: skip


def test_what_rounding_leaves_open_stays_undecided_with_the_reason():
    answer = gamedp.ask(rounded_game(), "P>=1/2 [F x=1]")
    assert answer.holds == "undecided"
    assert answer.bounds() == (0.0, 1.0)
    assert "do not add up to one" in " ".join(answer.notes)
    with pytest.raises(UnsupportedProblemError, match=r"undecided in 2 states, such as 0 \(x=0\)"):
        answer.states()


DRN = """@type: MDP
@reward_models
r
@nr_states
3
@model
state 0 [{of_state}] init
	action a [{of_action}]
		1 : {first}
		2 : {second}
state 1 [0] t
	action a [0]
		1 : 1
state 2 [0]
	action a [0]
		2 : 1
"""


@pytest.mark.parametrize(
    ("of_state", "of_action", "total"),
    [
        ("0.1", "0", "0.1"),
        ("0", "0.7", "7/10"),
        ("0.1", "0.2", "0.3"),  # 0.30000000000000004 in doubles
        ("0.3", "0.6", "9/10"),  # 0.8999999999999999 in doubles
        ("2/3", "0.1", "23/30"),
        ("1/3", "1/3", "2/3"),
        ("-0.3", "0.1", "-0.2"),
        ("1e-320", "0", "1e-320"),
    ],
)
@pytest.mark.parametrize("path", ["C", "C<=1", 'Fc "t"', "I=0"])
def test_rewards_are_compared_as_decimals(tmp_path, of_state, of_action, total, path):
    if path == "I=0":
        total = of_state
    text = DRN.format(of_state=of_state, of_action=of_action, first="0.3", second="7/10")
    (tmp_path / "model.drn").write_text(text)
    loaded = gamedp.read_model(tmp_path / "model.drn")
    for comparison, holds in (("<=", "yes"), (">=", "yes"), ("<", "no"), (">", "no")):
        assert gamedp.ask(loaded, f"R{comparison}{total} [{path}]").holds == holds


@pytest.mark.parametrize(
    ("first", "second", "chance", "holds"),
    [
        ("0.3", "7/10", "0.3", "yes"),
        ("0.2", "4/5", "1/5", "yes"),
        ("0.3333333333333333", "2/3", "1/3", "undecided"),
        ("0.2222222222222222", "0.7777777777777778", "2/9", "undecided"),  # the decimals add up
        ("0.272727", "0.727272", "3/11", "undecided"),  # divided by their sum
        ("0.0009765625", "0.9990234375", "1/1024", "yes"),
    ],
)
def test_probabilities_are_compared_as_decimals_unless_rounded(
    tmp_path, first, second, chance, holds
):
    text = DRN.format(of_state="0", of_action="0", first=first, second=second)
    (tmp_path / "model.drn").write_text(text)
    loaded = gamedp.read_model(tmp_path / "model.drn", normalise=True)
    assert gamedp.ask(loaded, f'P>={chance} [F "t"]').holds == holds
    opposite = {"yes": "no"}.get(holds, holds)
    assert gamedp.ask(loaded, f'P<{chance} [F "t"]').holds == opposite


def test_rewards_of_both_signs_on_an_endless_way_are_compared_as_decimals():
    """Where no bound of steps is known, the error of a double would add up for ever."""
    model = gamedp.Model.from_arrays(
        [0, 2, 3, 4], [0, 1, 2, 4, 5], [1, 1, 0, 2, 2], [1.0, 1.0, 0.5, 0.5, 1.0],
        rewards=[0.1, -0.2, 0.2, 0.0], variables={"x": [0, 1, 2]},
    )  # fmt: skip
    assert gamedp.ask(model, "Rmax=? [F x=2]").value() == pytest.approx(0.6)
    for comparison, holds in (("<=", "yes"), (">=", "yes"), ("<", "no"), (">", "no")):
        assert gamedp.ask(model, f"Rmax{comparison}0.6 [F x=2]").holds == holds


def test_sums_beyond_the_range_of_doubles_have_no_upper_bound():
    model = gamedp.Model.from_arrays(
        [0, 1, 2], [0, 1, 2], [0, 1], [1.0, 1.0], rewards=[1.5e308, 1.5e308]
    )
    answer = gamedp.ask(model, "filter(sum, R=? [C<=1])")
    assert answer.bounds()[1] == float("inf")


def test_rewards_that_are_left_out_do_not_count_as_rounded():
    model = gamedp.Model.from_arrays(
        [0, 1, 2], [0, 1, 2], [1, 1], [1.0, 1.0], rewards=[Fraction(1, 3), 0],
        variables={"x": [0, 1]},
    )  # fmt: skip
    assert gamedp.ask(model, "R<=0 [Fc x=0]").holds == "yes"


@pytest.mark.parametrize(
    ("outer", "low", "high"),
    [
        ("P=? [F {inner}]", 0.0, 1.0),
        ("P=? [G !{inner}]", 0.0, 1.0),
        ("P=? [X {inner}]", 0.0, 1 / 3),
        ("P=? [x!=3 U<=3 {inner}]", 0.0, 1.0),
        ("P=? [(F {inner}) & (F x=2)]", 0.0, 0.5),
        ("P=? [F x=2 | {inner}]", 0.5, 1.0),
        ("LRA=? [{inner}]", 0.0, 0.0),
        ("filter(count, {inner})", 1.0, 3.0),
    ],
)
def test_what_is_inside_and_undecided_widens_the_bounds(outer, low, high):
    """Both answers of the part that is undecided are possible, and no other is."""
    inner = "(x=0 | x=3 | x=1) & P>=1/2 [F x=1] & x!=1"
    if outer.startswith("filter"):
        inner = "P>=1/2 [F x=1]"
    answer = gamedp.ask(rounded_game(), outer.format(inner=f"({inner})"))
    found_low, found_high = answer.bounds()
    assert found_low <= low + 1e-9
    assert found_high >= high - 1e-9
    assert abs(found_low - low) < 1e-6
    assert abs(found_high - high) < 1e-6
    assert any("undecided" in note for note in answer.notes)


def test_decimals_are_what_they_are_written_as(tmp_path):
    path = tmp_path / "tenth.tra"
    path.write_text("3 4\n0 1 0.1\n0 2 0.9\n1 1 1\n2 2 1\n")
    loaded = gamedp.read_model(path)
    assert gamedp.ask(loaded, "P>=0.1 [F filter(exists, true) & P>=1 [G P<=0.1 [F true]]]").holds
    model = attrs.evolve(loaded.model, variables={"x": np.array([0, 1, 2])})
    for compare, holds in ((">=", "yes"), ("<=", "yes"), (">", "no"), ("<", "no")):
        assert gamedp.ask(model, f"P{compare}0.1 [F x=1]").holds == holds
        assert gamedp.ask(model, f"P{compare}0.1 [X x=1]").holds == holds
        assert gamedp.ask(model, f"P{compare}0.1 [F<=3 x=1]").holds == holds


# Formats and games


@pytest.mark.parametrize("suffix", ["umb", "drn", "tra"])
def test_formulas_about_every_format(tmp_path, suffix):
    process = attrs.evolve(a_game(), owners=[0] * 5)
    path = tmp_path / f"model.{suffix}"
    gamedp.write_model(path, process.loaded())
    loaded = gamedp.read_model(path)
    assert gamedp.ask(loaded, 'Pmax>=1/3 [F<=1 "goal"]').holds == "yes"
    assert gamedp.ask(loaded, 'Rmax=? [F "goal" | "lost"]').value() == pytest.approx(5)
    if suffix != "drn":  # which has no variables
        assert gamedp.ask(loaded, "Pmax=? [F s=2 & !odd]").value() == 1.0


def test_formulas_about_the_states_of_a_game():
    model = gamedp.compile(Walk(), compile="never")
    assert gamedp.ask(model, "Pmin=? [F depth=-4]").value() == 1.0
    assert gamedp.ask(model, "Pmin=? [F<=4 depth=-4]").value() == pytest.approx(0.75**4)
    assert gamedp.ask(model, "warm & depth=0").holds == "yes"
    total = gamedp.solve(model).value()
    assert gamedp.ask(model, "Rmax=? [C]").value() == pytest.approx(total)


# Answers


def test_an_answer_says_what_it_rests_on(loaded):
    answer = gamedp.ask(loaded, '<<1,2>> Pmax=? [F "goal"]')
    assert answer.holds is None
    assert answer.verdicts() is None
    assert answer.solution.guarantee is gamedp.Guarantee.TWO_SIDED
    assert answer.solution_of_states().best_action(0) == 1
    assert answer.bounds(2) == (0.0, 0.0)
    assert repr(answer) == '<Answer <<1,2>> Pmax=? [F "goal"]: from 1.0 to 1.0>'
    with pytest.raises(UnknownStateError, match="there is no state 5; they are numbered 0 to 4"):
        answer.bounds(5)
    with pytest.raises(UnsupportedProblemError, match="is a number"):
        answer.states()
    columns = answer.to_columns()
    assert columns["s"].tolist() == [0, 1, 2, 3, 4]
    assert columns["upper"].tolist() == [1, 1, 0, 1, 0]
    facts = json.loads(json.dumps(answer.facts()))
    assert (facts["lower"], facts["holds"], facts["guarantee"]) == (1.0, None, "TWO_SIDED")


def test_where_a_bound_holds(loaded):
    answer = gamedp.ask(loaded, 'Pmax>=1/3 [F "goal"]')
    assert answer.verdicts().tolist() == ["yes", "yes", "yes", "yes", "no"]
    assert answer.states().tolist() == [True, True, True, True, False]
    with pytest.raises(UnsupportedProblemError, match="so no action has a value"):
        answer.solution_of_states()


def test_an_opposite_has_the_formulas_own_bounds(loaded):
    answer = gamedp.ask(loaded, 'Pmin=? [G !"goal"]')
    assert answer.value() == 0.0
    assert answer.solution.value(0) == 1.0
    assert any("opposite event" in note for note in answer.notes)
    with pytest.raises(UnsupportedProblemError, match="another question"):
        answer.solution_of_states()


def test_several_initial_states():
    loaded = a_game(starts=(1, 2)).loaded()
    answer = gamedp.ask(loaded, 'Pmax=? [F "goal"]')
    assert answer.bounds()[1] == 1.0
    with pytest.raises(UnknownStateError, match="filter"):
        answer.value()
    assert gamedp.ask(loaded, 'filter(max, Pmax=? [F "goal"], "init")').value() == 1.0
    assert gamedp.ask(loaded, 'filter(avg, Pmax=? [F "goal"], "init")').bounds()[0] <= 2 / 3
    assert gamedp.ask(loaded, 'Pmax>=1 [F "goal"]').holds == "no"
    assert gamedp.ask(loaded, 'Pmax>=1/3 [F "goal"]').holds == "yes"


def test_totals_of_nothing_are_nothing():
    """Rewards that are all zero once gave bounds around zero, and a bound >0 was undecided."""
    loaded = SmallGame(
        rows=[[(ONE * 0, {0: HALF, 1: HALF})], [(ONE * 0, {1: ONE})]],
        owners=[0, 0], labels={"end": {1}}, earned=[ONE * 0, ONE * 0],
    ).loaded()  # fmt: skip
    for text in ('R=? [F "end"]', "R=? [C]", "R=? [C<=5]", "R=? [S]"):
        assert gamedp.ask(loaded, text).bounds() == (0.0, 0.0), text


def test_a_target_that_may_be_missed():
    """F counts infinity, and Fc what was earned."""
    loaded = SmallGame(
        rows=[
            [(ONE * 2, {1: HALF, 2: HALF})],
            [(ONE * 0, {1: ONE})],
            [(ONE, {1: ONE})],
        ],
        owners=[0, 0, 0], labels={"goal": {2}}, earned=[ONE * 0] * 3,
    ).loaded()  # fmt: skip
    assert gamedp.ask(loaded, 'R=? [F "goal"]').bounds() == (np.inf, np.inf)
    assert gamedp.ask(loaded, 'R=? [Fc "goal"]').value() == pytest.approx(2)
    assert gamedp.ask(loaded, 'R>=2 [Fc "goal"]').holds == "yes"


def test_play_that_ends_stays_where_it_is():
    model = gamedp.Model.from_arrays(
        [0, 1, 1], [0, 1], [1], [1.0], terminals=[1], variables={"x": [0, 1]}
    )
    for text in ("P=? [X (X x=1)]", "P=? [F>=5 x=1]", "LRA=? [x=1]", "P=? [G (x=0 | x=1)]"):
        assert gamedp.ask(model, text).bounds()[1] == pytest.approx(1.0), text
    assert gamedp.ask(model, '"deadlock"').verdicts().tolist() == ["no", "yes"]


def test_players_who_change_places_are_refused():
    from gamedp.games.matches import Matches

    with pytest.raises(UnsupportedProblemError, match="players change places"):
        gamedp.ask(Matches(matches=5), "Pmax=? [F left=0]")


def test_a_game_of_two_whose_payoffs_have_a_sum():
    """Rewards are the first player's: both together want them, and the second alone does not."""
    model = gamedp.Model.from_arrays(
        [0, 2, 4, 4, 4], [0, 1, 2, 3, 4], [1, 2, 2, 3], [1.0] * 4, players=[0, 1, 0, 0],
        terminals=[2, 3], payoffs=[0.25, 1.0], num_players=2, constant_sum=1.0,
        variables={"x": [0, 1, 2, 3]},
    )  # fmt: skip
    assert gamedp.ask(model, "Pmax=? [F x=3]").value() == 1.0
    assert gamedp.ask(model, "<<1>> Pmax=? [F x=3]").value() == 0.0
    assert gamedp.ask(model, "<<2>> Pmax=? [F x=3]").value() == 0.0
    assert gamedp.ask(model, "<<2>> Pmin=? [F<=2 x=3]").value() == 0.0
    assert gamedp.ask(model, "Rmax=? [C]").value() == 1.0
    assert gamedp.ask(model, "<<1>> Rmax=? [C]").value() == 0.25
    assert gamedp.ask(model, "<<2>> Rmin=? [C]").value() == 0.25


# Numbers that no double is equal to


def test_rewards_that_no_double_is_equal_to_keep_their_rounding():
    third = Fraction(1, 3)
    model = gamedp.Model.from_arrays(
        [0, 1, 1], [0, 1], [1], [1.0], rewards=[third], terminals=[1], variables={"x": [0, 1]}
    )
    for formula in ("R=? [C]", "R=? [C<=3]", "R=? [F x=1]"):
        low, high = gamedp.ask(model, formula).bounds()
        assert Fraction(low) <= third <= Fraction(high)
    assert gamedp.ask(model, "R>=1/3 [C]").holds == "yes"
    assert gamedp.ask(model, "R>1/3 [C]").holds == "no"


def test_a_payoff_that_no_double_is_equal_to_is_decided():
    ends = {"payoffs": [Fraction(1, 3)], "terminals": [1]}
    model = gamedp.Model.from_arrays([0, 1, 1], [0, 1], [1], [1.0], **ends)
    answer = gamedp.ask(model, "R>=1/3 [C]")
    assert (answer.holds, answer.notes) == ("yes", ())


ROUND = """@type: MDP
@reward_models
r
@nr_states
2
@model
state 0 init [0]
    action a [1/3]
        1 : 1
state 1 [2/3]
    action b [0]
        1 : 1
"""


def test_an_average_may_be_the_largest_reward_rounded_either_way(tmp_path):
    path = tmp_path / "round.drn"
    path.write_text(ROUND)
    loaded = gamedp.read_model(path)
    low, high = gamedp.ask(loaded, "R=? [S]").bounds()
    assert Fraction(low) <= Fraction(2, 3) <= Fraction(high)
    assert gamedp.ask(loaded, "R>=2/3 [S]").holds == "yes"
    assert gamedp.ask(loaded, "R<2/3 [S]").holds == "no"


def test_means_of_rewards_in_decimals_are_not_taken_for_exact(tmp_path):
    """It is 0.1 * 0.3 + 0.9 * 0.7 = 0.66, and the mean of the doubles is something else."""
    (tmp_path / "mean.tra").write_text("3 4\n0 1 0.1\n0 2 0.9\n1 1 1\n2 2 1\n")
    (tmp_path / "mean.trew").write_text("3 2\n0 1 0.3\n0 2 0.7\n")
    loaded = gamedp.read_model(tmp_path / "mean.tra")
    low, high = gamedp.ask(loaded, "R=? [C<=1]").bounds()
    assert Fraction(low) <= Fraction(66, 100) <= Fraction(high)
    for formula in ("R>=66/100 [C<=1]", "R<66/100 [C<=1]"):
        answer = gamedp.ask(loaded, formula)
        assert answer.holds == "undecided"
        assert "averages of numbers that are rounded" in " ".join(answer.notes)
    assert gamedp.ask(loaded, "R>=0.65 [C<=1]").holds == "yes"
