"""Rules that numba does not take: each message has the line of the rules and what to write."""

import inspect
import itertools
import re
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest
from numba import config

import gamedp
from gamedp.compiler.reasons import REMEDIES, first_reason

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")

WORTH = {0: 1.0, 1: 2.0}
ODD = [1, 3, 5]
MIXED = (1, 2.5, 3)
UNEQUAL = ((0, 1), (1,))


class Cells(NamedTuple):
    player: int
    cells: tuple[int, ...]


def is_taken(cells):
    return cells[0] == 1


class Filling:
    """One player fills three cells."""

    def initial_state(self):
        return Cells(0, (0, 0, 0))

    def is_terminal(self, state):
        return min(state.cells) > 0

    def actions(self, state):
        for cell in range(3):
            if state.cells[cell] == 0:
                yield cell

    def outcomes(self, state, action):
        yield 1.0, Cells(0, gamedp.with_item(state.cells, action, 1 + state.player))

    def payoff(self, state, player):
        return 1.0


class GeneratorExpression(Filling):
    def is_terminal(self, state):
        return all(cell > 0 for cell in state.cells)  # here


class YieldFrom(Filling):
    def actions(self, state):
        yield from [cell for cell in range(3) if state.cells[cell] == 0]  # here


class Inherited(Filling):
    def outcomes(self, state, action):
        return super().outcomes(state, action)  # here


class Unmarked(Filling):
    def payoff(self, state, player):
        return 1.0 if is_taken(state.cells) else 0.0  # here


class Dictionary(Filling):
    def payoff(self, state, player):
        return WORTH[state.cells[0]]  # here


class AnyOfList(Filling):
    def is_terminal(self, state):
        return not any([cell == 0 for cell in state.cells])  # here # noqa: C419 - as people write


class Fractional(Filling):
    def payoff(self, state, player):
        return float(Fraction(state.cells[0], 2))  # here


class Mapped(Filling):
    def payoff(self, state, player):
        return 1.0 * sum(map(int, state.cells))  # here


class GlobalList(Filling):
    def payoff(self, state, player):
        return 1.0 * ODD[state.cells[0]]  # here


class Slices(Filling):
    def outcomes(self, state, action):
        cells = state.cells
        yield 1.0, Cells(0, cells[:action] + (1,) + cells[action + 1 :])  # here # noqa: RUF005


class Replaced(Filling):
    def outcomes(self, state, action):
        yield 1.0, state._replace(cells=gamedp.with_item(state.cells, action, 1))  # here


class AsDictionary(Filling):
    def payoff(self, state, player):
        return 1.0 * state._asdict()["player"]  # here


class Braces(Filling):
    def payoff(self, state, player):
        return 1.0 * len({cell for cell in state.cells})  # here # noqa: C416 - as people write


class Count(Filling):
    def is_terminal(self, state):
        return state.cells.count(0) == 0  # here


class Combinations(Filling):
    def actions(self, state):
        for one, _other in itertools.combinations(range(3), 2):  # here
            if state.cells[one] == 0:
                yield one
        if state.cells[2] == 0:
            yield 2


class TupleOfList(Filling):
    def outcomes(self, state, action):
        cells = list(state.cells)
        cells[action] = 1
        yield 1.0, Cells(0, tuple(cells))  # here


class Multiplied(Filling):
    def outcomes(self, state, action):
        yield 1.0, Cells(0, (1,) * len(state.cells))  # here


class TwoTuples(Filling):
    def actions(self, state):
        return (0, 1, 2) if state.cells[0] + state.cells[1] == 0 else (2,)  # here

    def outcomes(self, state, action):
        yield 1.0, Cells(0, (1, 1, 1))


class MixedTuple(Filling):
    def payoff(self, state, player):
        return 1.0 * MIXED[state.cells[0]]  # here


class UnequalTuples(Filling):
    def payoff(self, state, player):
        total = 0.0
        for pair in UNEQUAL:  # here
            total += pair[0]
        return total


class FloatOfTruth(Filling):
    def payoff(self, state, player):
        return float(state.cells[0] == 1)  # here


class Caught(Filling):
    def payoff(self, state, player):
        try:
            return 1.0 / state.cells[0]
        except ZeroDivisionError:  # here
            return 0.0


class Power(Filling):
    def payoff(self, state, player):
        return 1.0 * pow(3, state.cells[0], 2)  # here


class ByKey(Filling):
    def payoff(self, state, player):
        return 1.0 * max(state.cells, key=lambda cell: -cell)  # here


class Isinstance(Filling):
    def payoff(self, state, player):
        return 1.0 if isinstance(state, Cells) else 0.0  # here


class CallsItself(Filling):
    def depth(self, left):
        return 0 if left == 0 else 1 + self.depth(left - 1)  # here

    def payoff(self, state, player):
        return 1.0 * self.depth(state.cells[0])


class DictionaryField(Filling):
    def __init__(self):
        self.worth = {1: 1.0}

    def payoff(self, state, player):
        return self.worth[1]  # here


class Text(Filling):
    def payoff(self, state, player):
        return float(int("3"))  # here


class Inverted(Filling):
    def payoff(self, state, player):
        return 1.0 * (5 & ~(state.player > 0))  # here


class Digits(Filling):
    def payoff(self, state, player):
        return round(2.675 + state.player, 2)  # here


class OrderOfSet(Filling):
    def actions(self, state):
        cells = {state.player + 2, 0, 1}
        for cell in cells:  # here
            if state.cells[cell] == 0:
                yield cell


class Unsigned(Filling):
    def __init__(self):
        self.large = np.array([2**63 + 5], np.uint64)

    def payoff(self, state, player):
        return 1.0 if self.large[0] > state.player else 0.0  # here


CASES = {
    GeneratorExpression: "write a loop instead of the generator expression",
    YieldFrom: "write a loop with `yield` instead of `yield from`",
    Inherited: "write the method in full, or a helper that both classes use",
    Unmarked: "mark is_taken with @gamedp.helper",
    Dictionary: "use a tuple, indexed by number, instead of the dict",
    AnyOfList: "write a loop instead of any(...)",
    Fractional: "use numbers, tuples and helpers instead of Fraction",
    Mapped: "write a loop instead of the generator",
    GlobalList: "make the list a tuple",
    Slices: "change an item with gamedp.with_item instead of slices",
    Replaced: "write Cells(...) with all its fields instead of _replace",
    AsDictionary: "read the fields of the state by their names instead of _asdict",
    Braces: "write a loop instead of the set in braces",
    Count: "write a loop instead of .count(...)",
    Combinations: "write what combinations does as a loop or a helper",
    TupleOfList: "begin with a tuple, such as the state's own, and change items with",
    Multiplied: "write the tuple out, or keep one in a field of the game",
    TwoTuples: "make both tuples equally long, or yield their items one by one",
    MixedTuple: "give the tuple items of one type, such as floats alone",
    UnequalTuples: "give the tuple items of one type, and tuples in it one length",
    FloatOfTruth: "write 1.0 if ... else 0.0 instead of float(...)",
    Caught: "test beforehand instead of catching the error",
    Power: "write a loop that takes % after each product",
    ByKey: "write a loop instead of key=",
    Isinstance: "tell states apart by a field instead of isinstance",
    CallsItself: "write a loop instead of a method that calls itself",
    DictionaryField: "make worth a number, a tuple of one type or a numpy array",
    Text: "use numbers instead of texts",
    Inverted: "write `not` instead of ~",
    Digits: "keep the digits, or count in whole numbers",
    OrderOfSet: "use a tuple instead of the set",
    Unsigned: "write int(...) around the numbers of an array",
}


def line_of(kind):
    """Return the marked line of a class, as a message shows it, and its number."""
    lines, first = inspect.getsourcelines(kind)
    [(place, line)] = [(place, line) for place, line in enumerate(lines) if "# here" in line]
    return " ".join(line.split()), first + place


@pytest.mark.slow
@pytest.mark.parametrize("kind", CASES, ids=lambda kind: kind.__name__)
def test_the_message_says_what_to_write_instead(kind):
    with pytest.raises(gamedp.errors.CompilationError) as caught:
        gamedp.compile(kind(), compile="always")
    message = str(caught.value)
    line, number = line_of(kind)
    shown = re.search(r"\((\S+), line (\d+): `(.+)`\); (.+)$", message)
    assert shown is not None, message
    path, found, code, remedy = shown.groups()
    assert path.endswith("test_reasons.py")
    assert int(found) == number
    assert line.startswith(code.removesuffix(" ..."))
    assert CASES[kind] in remedy
    assert "\n" not in message


def test_each_remedy_is_tried():
    tried = set()
    for kind in CASES:
        with pytest.raises(gamedp.errors.CompilationError) as caught:
            gamedp.compile(kind(), compile="always")
        reason = str(caught.value)
        tried.add(next(pattern for pattern, _ in REMEDIES if re.search(pattern, reason)))
    assert tried == {pattern for pattern, _ in REMEDIES}


def test_a_search_says_it_as_well():
    with pytest.raises(gamedp.errors.CompilationError, match=r"mark is_taken with @gamedp\.helper"):
        gamedp.search(Unmarked(), depth=2, compile="always")
    with pytest.warns(gamedp.errors.CompilationWarning, match="write a loop instead of any"):
        gamedp.search(AnyOfList(), depth=2)


def test_what_is_unknown_has_neither_line_nor_remedy():
    assert first_reason(ValueError("numba is at a loss.")) == "numba is at a loss"
    assert first_reason(ValueError()) == "ValueError"


BONUS = 2


@gamedp.helper
def bonus(player):
    return BONUS + player


class WithBonus(Filling):
    def payoff(self, state, player):
        return 1.0 * bonus(state.player)


def test_a_helper_whose_constant_has_changed_is_not_used_as_it_was(monkeypatch):
    """Its machine code stays; with it, the new rules would be cached as the old ones."""
    assert gamedp.solve(WithBonus(), compile="always").value() == 2.0
    monkeypatch.setitem(globals(), "BONUS", 20)
    with pytest.raises(gamedp.errors.CompilationError, match="helper bonus reads something that"):
        gamedp.compile(WithBonus(), compile="always")
    assert gamedp.solve(WithBonus(), compile="never").value() == 20.0
    monkeypatch.undo()
    assert gamedp.solve(WithBonus(), compile="always").value() == 2.0
