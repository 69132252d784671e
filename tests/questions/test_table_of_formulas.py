"""The table of what can be said in formulas: each row is asked here, and the page shows these rows.

``python tests/questions/test_table_of_formulas.py`` writes the table into the page.
"""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import gamedp
from gamedp.adapters.parts import assemble
from gamedp.errors import InvalidParameterError

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "formulas.md"
MARKS = "<!-- formulas -->\n", "<!-- end of formulas -->\n"

HALF = Fraction(1, 2)

ROWS = [
    ("a set of states, by labels, variables and constants", '"lost" | x>=2 & !warm', "no"),
    ("the initial states, and those without a choice", '"init" & !"deadlock"', "yes"),
    ("a number", "pow(2,3) + x", 8),
    ("the largest probability of reaching states", "Pmax=? [ F x=2 ]", 1),
    ("the least", "Pmin=? [ F x=2 ]", HALF),
    ("on a way through allowed states", "Pmax=? [ !warm U x=2 ]", HALF),
    ("of staying in states", 'Pmin=? [ G !"lost" ]', HALF),
    ("of staying in them unless others are reached", 'Pmax=? [ x<2 W "lost" ]', HALF),
    ("of staying in states until others release them", "Pmax=? [ x=2 R x<=2 ]", 1),
    ("in the next step", "Pmax=? [ X x=2 ]", HALF),
    ("within 3 steps; fewer than 3", 'Pmin=? [ F<=3 "lost" ]', 0),
    ("from step 1 to step 2", "Pmax=? [ F[1,2] x=2 ]", 1),
    ("from step 2 on", "Pmax=? [ F>=2 x=2 ]", 1),
    ("first one, then the other, and more of co-safe LTL", "Pmax=? [ F (warm & (X x=2)) ]", 1),
    ("whether a probability is at least so large, whatever is chosen", "P>=0.5 [ F x=2 ]", "yes"),
    ("one formula inside of another", "Pmax=? [ F (x<2 & P>=1 [ X x=2 ]) ]", 1),
    ("what a coalition can make sure of, by names or numbers from 1", "<<1>> Pmax=? [ F x=2 ]", 1),
    ("what all players can reach together", "<<*>> Pmin=? [ F x=2 ]", HALF),
    ("the expected reward until states are reached", 'R{"cost"}max=? [ F x>=2 ]', 3),
    ("where missing them counts what was earned", 'R{"cost"}max=? [ Fc x=3 ]', 3),
    ("the total", 'R{"cost"}min=? [ C ]', 1),
    ("of 2 steps", 'R{"cost"}max=? [ C<=2 ]', 3),
    ("the reward of the state after 1 step", 'R{"cost"}max=? [ I=1 ]', 2),
    ("the reward of a step in the long run", 'R{"cost"}max=? [ S ]', 0),
    ("the share of the steps in some states in the long run", "LRAmin=? [ x=2 ]", HALF),
    ("the least, largest, average or sum over states", "filter(avg, Pmin=? [ F x=2 ], x<2)", 0.75),
    ("how many states there are", "filter(count, P>=1 [ F x=2 ])", 2),
    ("whether a formula holds in all states, or in one", "filter(forall, P>0 [ F x>=2 ])", "yes"),
    ("the states with the least or the largest number", "filter(argmin, Pmax=? [ X warm ])", "no"),
    ("the first such state, or the only one", "filter(state, Pmax=? [ F x=2 ], warm)", 1),
    ("sums, products, least and largest of answers", "Pmax=? [ F x=2 ] - Pmin=? [ F x=2 ]", HALF),
]  # fmt: skip
"""What it is, an example, and the answer in the model of the page."""

REFUSED = [
    ("LTL of which no finite part of a path decides, such as G F", "Pmax=? [ G (F x=1) ]"),
    ("several objectives at once", "multi(Pmax=? [ F x=1 ], Pmax=? [ F x=2 ])"),
    ("CTL", "E [ F x=1 ]"),
    ("F0", 'R{"cost"}max=? [ F0 x=2 ]'),
    ("bounds of rewards", 'Pmax=? [ F{"cost"}<=3 x=2 ]'),
    ("ratios of rewards", 'R{"cost"/"steps"}max=? [ C ]'),
]


def page_model():
    """Return the model of the page: wait at a cost, and go on for sure, or gamble at once."""
    return gamedp.adapters.Parts(
        path=Path("model.umb"),
        choice_offsets=np.array([0, 2, 3, 4, 5]),
        transition_offsets=np.array([0, 1, 3, 4, 5, 6]),
        successors=np.array([1, 2, 3, 2, 2, 3]),
        probabilities=np.array([1, HALF, HALF, 1, 1, 1], object),
        players=np.zeros(4, np.int64),
        num_players=2,
        player_names=("one", "two"),
        initial=np.array([0]),
        labels={"lost": np.arange(4) == 3},
        rewards={
            "cost": {"states": np.array([0.0, 2, 0, 0]), "choices": np.array([1.0, 1, 0, 0, 0])}
        },
        variables={"x": np.array([0, 1, 2, 3]), "warm": np.array([False, True, False, False])},
    )


def table():
    """Return the table as it stands in the page."""
    lines = ["| | formula |", "|---|---|"]
    lines += [f"| {words} | `{text.replace('|', chr(92) + '|')}` |" for words, text, _ in ROWS]
    lines += ["", "Not understood, and refused at its place, with line and column:", ""]
    lines += ["| | such as |", "|---|---|"]
    lines += [f"| {words} | `{text}` |" for words, text in REFUSED]
    return "\n".join(["", *lines, "", ""])


@pytest.mark.parametrize(("words", "text", "expected"), ROWS)
def test_each_row_can_be_asked(words, text, expected):
    answer = gamedp.ask(assemble(page_model(), None), text)
    if isinstance(expected, str):
        assert answer.holds == expected
    else:
        low, high = answer.bounds()
        assert low <= expected <= high
        assert high - low < 1e-9


@pytest.mark.parametrize(("words", "text"), REFUSED)
def test_what_is_not_understood_is_refused(words, text):
    with pytest.raises(InvalidParameterError, match=r"line 1, column \d+"):
        gamedp.ask(assemble(page_model(), None), text)


def test_the_page_shows_the_table():
    shown = PAGE.read_text("utf-8").split(MARKS[0])[1].split(MARKS[1])[0]
    assert shown == table(), "`python tests/questions/test_table_of_formulas.py` writes it"


if __name__ == "__main__":
    before, rest = PAGE.read_text("utf-8").split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    PAGE.write_text(before + MARKS[0] + table() + MARKS[1] + after, "utf-8")
