"""Expressions: what is read, which value it has, and what is refused at which place."""

from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from gamedp.errors import InvalidModelError
from gamedp.languages.expressions import (
    MOST_DEPTH,
    ExpressionReader,
    Label,
    Literal,
    Name,
    Operation,
    evaluate_constant,
    names_in,
    substitute,
    type_of,
)
from gamedp.languages.tokens import Source, tokens_of


def read(text):
    reader = ExpressionReader(Source("text", text))
    found = reader.expression()
    assert not reader.token.text, "all of the text was read"
    return found


def written(expression):
    """Return the structure in words, with a bracket about each operation."""
    if isinstance(expression, Literal):
        return str(expression.value)
    if isinstance(expression, Operation):
        return f"({' '.join([expression.operator, *map(written, expression.operands)])})"
    return expression.name


@pytest.mark.parametrize(
    ("text", "structure"),
    [
        ("a ? b : c", "(? a b c)"),
        ("a ? b : c ? d : e", "(? a b c d e)"),
        ("a ? b ? c : d : e", "(? a (? b c d) e)"),
        ("a => b <=> c | d & !e", "(=> a (<=> b (| c (& d (! e)))))"),
        ("a => b => c", "(=> a (=> b c))"),
        ("a | b & c | d", "(| a (& b c) d)"),
        ("!x = 3 & b", "(& (! (= x 3)) b)"),
        ("!!a", "(! (! a))"),
        ("b & !x < 3", "(& b (! (< x 3)))"),
        ("x < 3 = b", "(= (< x 3) b)"),
        ("x = y + 1", "(= x (+ y 1))"),
        ("x - 1 - y", "(- (- x 1) y)"),
        ("x + 1 + y - 2 + z", "(+ (- (+ x 1 y) 2) z)"),
        ("x * y / 2 * z", "(* (/ (* x y) 2) z)"),
        ("-x * y - -2", "(- (* (- x) y) (- 2))"),
        ("(a | b) & c", "(& (| a b) c)"),
        ("min(x, 1, y) + func(max, 2, z)", "(+ (min x 1 y) (max 2 z))"),
        ('"goal" & x = 1', "(& goal (= x 1))"),
        ("// a comment\nx\n// another", "x"),
    ],
)
def test_operators_bind_as_the_language_says(text, structure):
    assert written(read(text)) == structure


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.1 + 0.2", Fraction(3, 10)),
        ("1 / 3", Fraction(1, 3)),
        ("4 / 2", Fraction(2)),
        ("1e-3", Fraction(1, 1000)),
        (".5", Fraction(1, 2)),
        ("2 + 3 * 4", 14),
        ("-7", -7),
        ("mod(-7, 3)", 2),
        ("floor(-0.5)", -1),
        ("ceil(0.5)", 1),
        ("round(0.5)", 1),
        ("round(-0.5)", 0),
        ("pow(2, 10)", 1024),
        ("pow(0.5, 2)", Fraction(1, 4)),
        ("pow(2.0, -1)", Fraction(1, 2)),
        ("min(3, 1.5, 2)", Fraction(3, 2)),
        ("max(1, 2)", 2),
        ("log(8, 2)", 3.0),
        ("pow(2.0, 0.5)", 2**0.5),
        ("1 < 2 & 2 <= 2 & 3 > 2 & 3 >= 3 & 1 != 2", True),
        ("true => false", False),
        ("false => 1 / 0 > 1", True),
        ("true | 1 / 0 > 1", True),
        ("false ? 1 : 2", 2),
        ("true <=> false", False),
    ],
)
def test_values_are_exact(text, value):
    found = evaluate_constant(read(text), {})
    assert found == value
    assert type(found) is type(value)


@given(st.lists(st.integers(-9, 9), min_size=2, max_size=6), st.data())
def test_sums_and_products_are_those_of_python(numbers, data):
    """The two languages agree on + - * and comparisons, except for what Python chains."""
    words = [str(numbers[0])]
    for number in numbers[1:]:
        words += [data.draw(st.sampled_from(["+", "-", "*"])), str(number)]
    text = " ".join(words)
    assert evaluate_constant(read(text), {}) == eval(text)  # noqa: S307 - made above


def test_names_are_found_and_replaced():
    expression = read('x + y * 2 = 3 & "goal"')
    assert names_in(expression) == {"x", "y"}
    changed = substitute(expression, {"x": read("a - b")}, {"goal": read("c")})
    assert written(changed) == "(& (= (+ (- a b) (* y 2)) 3) c)"
    assert substitute(expression, {"z": read("1")}) is expression
    assert isinstance(read('"goal"'), Label)
    assert isinstance(read("goal"), Name)


def test_places_are_those_of_the_text():
    expression = read("a &\n  bc = 2")
    assert str(expression.operands[1].operands[0].place) == "line 2, column 3"


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("", "line 1, column 1", "the text ends where an expression should be"),
        ("x +", "line 1, column 4", "the text ends"),
        ("x +\n * 2", "line 2, column 2", "'*' stands where an expression"),
        ("(x", "line 1, column 3", "where ')' should be"),
        ("a ? b", "line 1, column 6", "where ':' should be"),
        ("x @ 2", "line 1, column 3", "'@' cannot stand here"),
        ("x\0", "line 1, column 2", "cannot stand here"),
        ('"goal', "line 1, column 1", "not closed"),
        ("x é", "line 1, column 3", "'é' cannot stand here"),
        ("sin(x)", "line 1, column 1", "no function 'sin'"),
        ("pow(1)", "line 1, column 1", "takes 2 arguments, not 1"),
        ("x + max(3)", "line 1, column 5", "max takes at least 2 arguments, not 1"),
        ("true => " * 2000 + "true", "line 1, column 15046", "nested more than 120 times"),
        ("1e999999999", "line 1, column 1", "exponent"),
        ("1" * 1001, "line 1, column 1", "at most 1,000 digits"),
        ("1e" + "9" * 5000, "line 1, column 1", "at most 1,000 digits"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_place(text, place, words):
    with pytest.raises(InvalidModelError, match=f"text, {place}: .*") as error:
        read(text)
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("1 / 0", "column 3", "divides by zero"),
        ("mod(1, 0)", "column 1", "divides by zero"),
        ("mod(1.5, 2)", "column 1", "mod takes integers"),
        ("1 & true", "column 1", "true or false"),
        ("true + 1", "column 1", "a number"),
        ("true = 1", "column 8", "true or false"),
        ("2 ? 1 : 2", "column 1", "true or false"),
        ("true ? 1 : false", "column 6", "one value here is a number"),
        ("x + 1", "column 1", "'x' is not a constant"),
        ('"goal"', "column 1", 'label "goal"'),
        ("pow(2, 1000000)", "column 1", "too large"),
        ("pow(2, -1)", "column 1", "no value"),
        ("log(0, 2)", "column 1", "no value"),
        ("pow(pow(2, 6000), 60000)", "column 1", "too large"),
        ("*".join(["pow(2, 30000)"] * 3), "column 14", "too large"),
    ],
)
def test_what_has_no_value_is_named_with_its_place(text, place, words):
    with pytest.raises(InvalidModelError) as error:
        evaluate_constant(read(text), {})
    assert f"text, line 1, {place}: " in str(error.value)
    assert words in str(error.value)


def test_types_are_those_of_the_language():
    types = {"b": "bool", "n": "int", "p": "double"}
    for text, kind in {
        "b & n = 3": "bool",
        "n + 2 * n": "int",
        "n + p": "double",
        "n / 2": "double",
        "floor(p)": "int",
        "b ? n : p": "double",
        "b ? n : 2": "int",
        "pow(n, 2)": "int",
        "b = true": "bool",
        "max(n, p)": "double",
    }.items():
        assert type_of(read(text), types) == kind, text


@pytest.mark.parametrize(
    "text",
    ["(" * 5000, "!" * 100_000 + "a", "-" * 100_000 + "1", "a?" * 5000, "min(" * 5000],
)
def test_deep_nesting_is_refused_and_no_crash(text):
    with pytest.raises(InvalidModelError, match=f"more than {MOST_DEPTH}"):
        read(text)


def test_long_chains_are_not_deep():
    assert len(read("&".join(["a"] * 10_000)).operands) == 10_000
    assert len(read("a ? 1 : " * 10_000 + "2").operands) == 20_001


def test_formulas_that_multiply_are_refused_before_they_fill_the_memory():
    def doubled(times):
        expression = read("x + x")
        for _ in range(times):
            expression = substitute(read("x + x"), {"x": expression})

    with pytest.raises(InvalidModelError, match=r"more than 200,000 parts"):
        doubled(100)


def test_intervals_are_not_taken_for_decimals():
    assert [token.text for token in tokens_of(Source("text", "[0..5]"))][:-1] == [
        "[", "0", "..", "5", "]",
    ]  # fmt: skip
