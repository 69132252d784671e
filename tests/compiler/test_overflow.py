"""Compiled rules whose numbers outgrow 64 bits are refused, wherever it happens."""

import math
import operator
from typing import NamedTuple

import attrs
import numba
import numpy as np
import pytest
from depth import first_of

import gamedp
from gamedp.compiler import bridge
from gamedp.compiler.integers import CheckedCompiler
from gamedp.rules.game import helper

MOST, LEAST = 2**63 - 1, -(2**63)

pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="plain integers do not overflow")

FAR = 70_001
"""The state in which numbers get too large, of 100,000; no state that is compared has this one."""


class Step(NamedTuple):
    place: int


@helper
def too_large(is_there):
    """Return 2**64 % 5, which is 1, or 0; what wraps around is 0 in any case."""
    number = 256 * is_there
    for _ in range(3):
        number *= number
    return number % 5


@attrs.frozen
class Walk:
    """A long way with one state in which a number gets too large: 0 after wrapping around."""

    number: int
    far: int = FAR
    steps: int = 100_000

    def wrong(self, state, number):
        return too_large(number == self.number and state.place == self.far)

    def initial_state(self):
        return Step(0)

    def is_terminal(self, state):
        return state.place >= self.steps - self.wrong(state, 1)

    def actions(self, state):
        yield 5 + self.wrong(state, 2)

    def outcomes(self, state, action):
        yield 1.0, Step(state.place + 1 + self.wrong(state, 3))

    def payoff(self, state, player):
        return 1.0 + self.wrong(state, 7)

    def reward(self, state, action, player):
        return 1.0 * self.wrong(state, 4)

    def canonical(self, state):
        return Step(state.place + self.wrong(state, 5)), False

    def heuristic(self, state, player):
        return 1.0 * self.wrong(state, 6)

    def box(self):
        return {"place": (0, 100)}

    def is_state(self, state):
        return state.place < 200 + self.wrong(state, 8)


def refused_overflow(call):
    with pytest.raises(
        gamedp.InvalidModelError, match="cannot hold: a \\* b is beyond 64"
    ) as error:
        call()
    assert "compile='never'" in str(error.value)
    return str(error.value)


THERE = f"Step(place={FAR})"
CALLS = {
    1: f"is_terminal({THERE}) computes",
    2: f"actions({THERE}) computes",
    3: f"outcomes({THERE}, 5) computes",
    4: f"reward({THERE}, 5, 0) computes",
    5: f"canonical({THERE}), after action 5 in Step(place={FAR - 1}) computes",
}


@pytest.mark.parametrize("number", CALLS)
def test_one_state_of_many_that_overflows_is_named(number):
    """No state that is compared has anything wrong, and nor have the values that come out."""
    assert CALLS[number] in refused_overflow(
        lambda: gamedp.solve(Walk(number=number), compile="always")
    )


def test_payoffs_and_the_states_of_a_box_are_watched_too():
    end = Walk(number=7, far=50, steps=50)
    assert "payoff(Step(place=50), 0) computes" in refused_overflow(
        lambda: gamedp.compile(end, compile="always")
    )
    game = Walk(number=8, far=70, steps=300)
    text = refused_overflow(lambda: gamedp.compile(game, states="all", compile="always"))
    assert "is_state(Step(place=70)) computes" in text


def test_without_that_state_all_is_well():
    model = gamedp.compile(Walk(number=3, far=-1), compile="always")
    assert model.num_states == 100_001


SEARCHES = {
    "alpha-beta": lambda game: gamedp.searchers.AlphaBeta(depth=60).search(game, compile="always"),
    "expectiminimax": lambda game: gamedp.searchers.Expectiminimax(depth=60).search(
        game, compile="always"
    ),
    "max-n": lambda game: gamedp.searchers.MaxN(depth=60).search(game, compile="always"),
    "perft": lambda game: gamedp.searchers.perft(game, 60, compile="always"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", first_of(SEARCHES))
def test_searches_are_watched_and_name_the_position(name):
    for number in (3, 6) if name != "perft" else (3,):
        far = 60 if number == 6 else 33
        game = Walk(number=number, far=far, steps=100)
        call = (
            f"outcomes(Step(place={far}), 5)" if number == 3 else f"heuristic(Step(place={far}), 0)"
        )
        assert call in refused_overflow(lambda game=game: SEARCHES[name](game))


class Score(NamedTuple):
    points: int


@attrs.frozen
class Coin:
    """The stage: heads or tails."""

    def initial_state(self):
        return Step(0)

    def is_terminal(self, state):
        return state.place > 0

    def actions(self, state):
        yield 0

    def outcomes(self, state, action):
        yield 0.5, Step(1)
        yield 0.5, Step(2)

    def payoff(self, state, player):
        return 0.0


@attrs.frozen
class Tosses:
    """A staged game with one context in which a number gets too large."""

    number: int
    far: int
    goal: int = 600

    def wrong(self, context, number):
        return too_large(number == self.number and context.points == self.far)

    def stage(self):
        return Coin()

    def box(self):
        return {"points": (0, self.goal + 2)}

    def initial_state(self):
        return Score(0)

    def is_terminal(self, context):
        return context.points >= self.goal

    def payoff(self, context, player):
        return float(context.points)

    def following(self, context, end):
        return Score(context.points + end.place + self.wrong(context, 1) * (end.place == 2))

    def reward(self, context, end, player):
        return 1.0 * self.wrong(context, 2)

    def tier(self, context):
        return self.goal + 2 - context.points + self.wrong(context, 3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "call"),
    [
        (1, "following(Score(points=234), Step(place=1))"),
        (2, "reward(Score(points=234), Step(place=1), 0)"),
        (3, "tier(Score(points=234))"),
    ],
)
def test_staged_games_are_watched_in_every_context(number, call):
    assert call in refused_overflow(lambda: gamedp.solve(Tosses(number, 234), compile="always"))
    solution = gamedp.solve(Tosses(number, -1), compile="always")
    assert solution.value() == pytest.approx(600 + 1 / 3, abs=0.01)


def checked(function):
    return numba.njit(function, pipeline_class=CheckedCompiler)


def inplace(a, b):
    total = a
    for _ in range(2):
        total += b
        total -= 1
        total *= 1
        total <<= 0
    return total


BIG, ROUNDED = 2**62, 2**53 + 1

OPERATIONS = {
    "+": (
        lambda a, b: a + b,
        [(MOST - 1, 1), (True, True)],
        [(MOST, 1), (LEAST, -1), (True, MOST)],
    ),
    "-": (lambda a, b: a - b, [(-1, LEAST), (True, 3)], [(LEAST, 1), (0, LEAST), (False, LEAST)]),
    "*": (lambda a, b: a * b, [(2**32, 2**30), (-(2**32), 2**31)], [(2**32, 2**31), (LEAST, -1)]),
    "<<": (
        lambda a, b: a << b,
        [(1, 62), (-1, 63), (0, 64), (MOST, 0)],
        [(1, 63), (1, 64), (0, -1), (1, -1), (3, 62), (-2, 63), (1, 128)],
    ),
    "1 <<": (lambda a, _: 1 << a, [(0, 0), (62, 0)], [(63, 0), (64, 0), (-1, 0), (MOST, 0)]),
    "5 <<": (lambda a, _: 5 << a, [(0, 0), (60, 0)], [(61, 0), (64, 0), (-1, 0), (LEAST, 0)]),
    "0 <<": (lambda a, _: 0 << a, [(63, 0), (64, 0), (MOST, 0)], [(-1, 0)]),
    "-1 <<": (lambda a, _: -1 << a, [(0, 0), (63, 0)], [(64, 0), (-1, 0)]),
    ">>": (lambda a, b: a >> b, [(MOST, 63), (MOST, 64), (-1, 200), (LEAST, 63)], [(5, -1)]),
    "//": (lambda a, b: a // b, [(LEAST, 1), (7, -2), (LEAST, 2)], [(LEAST, -1)]),
    "%": (lambda a, b: a % b, [(LEAST, -1), (7, -2), (MOST, 10)], []),
    "divmod": (lambda a, b: divmod(a, b)[0], [(7, -2)], [(LEAST, -1)]),
    "/": (lambda a, b: a / b, [(2**60, 3), (LEAST, 3), (0, 3)], [(MOST, 3), (1, ROUNDED)]),
    "**": (
        lambda a, b: a**b,
        [(2, 62), (-2, 63), (0, 0), (10, 18), (-1, 1000001), (3037000499, 2)],
        [(2, 63), (2, -1), (1, -1), (10, 19), (3037000500, 2)],
    ),
    "pow": (lambda a, b: 0 + pow(a, b), [(2, 62)], [(2, 63)]),
    "** 2": (lambda a, _: a**2, [(3037000499, 0)], [(3037000500, 0)]),
    "-a": (lambda a, _: -a, [(MOST, 0), (True, 0)], [(LEAST, 0)]),
    "abs": (lambda a, _: abs(a), [(-MOST, 0), (True, 0)], [(LEAST, 0)]),
    "sum": (lambda a, b: sum((a, b)), [(MOST, -1)], [(MOST, 1)]),
    "sum from": (lambda a, b: sum((a, b), 1), [(5, 6)], [(MOST - 1, 1), (MOST, 0)]),
    "sum of a list": (lambda a, b: sum([a, b]), [(MOST, -5)], [(MOST, 1)]),
    "sum of several types": (lambda a, b: sum((a, b, True)), [(MOST - 1, 0)], [(MOST, 0)]),
    "in place": (inplace, [(5, 7), (BIG, -1)], [(MOST, 4), (LEAST, -1)]),
    "& | ^ ~": (lambda a, b: (a & b | a ^ b) + ~a // 2, [(LEAST, MOST), (5, 6), (-7, 12)], []),
    "from operator": (lambda a, b: 0 + operator.add(a, b), [(5, 6)], [(MOST, 1)]),
    "an inner function": (lambda a, _: (lambda b: b * 3)(a), [(5, 0)], [(MOST, 0)]),  # noqa: PLC3002
    "int": (lambda a, _: int(a * 1.5), [(BIG, 0), (-5, 0)], [(MOST, 0), (LEAST, 0)]),
    "round": (lambda a, _: round(a * 1.5), [(BIG, 0), (5, 0)], [(MOST, 0)]),
    "floor": (lambda a, _: math.floor(a * 1.5), [(BIG, 0), (-5, 0)], [(MOST, 0), (LEAST, 0)]),
    "ceil": (lambda a, _: math.ceil(a * 1.5), [(BIG, 0), (-5, 0)], [(MOST, 0), (LEAST, 0)]),
    "trunc": (lambda a, _: math.trunc(a * -1.5), [(BIG, 0), (5, 0)], [(MOST, 0), (LEAST, 0)]),
    "== float": (lambda a, b: a == float(b), [(2**53, 2**53), (ROUNDED, 7)], [(ROUNDED, 2**53)]),
    "< float": (lambda a, b: a < float(b), [(2**53 - 1, 2**53), (7, 8)], [(ROUNDED, 2**53)]),
    "int8": (lambda a, _: np.int8(a) + 0, [(100, 0), (-128, 0)], [(200, 0), (-129, 0)]),
    "a mask": (lambda a, _: a & 0xFFFFFFFFFFFFFFFF, [(200, 0)], [(-1, 0)]),
    "no sign": (lambda a, _: a + 0x8000000000000000, [], [(5, 0)]),
    "or no sign": (lambda a, _: a | 0x8000000000000000, [], [(5, 0)]),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_gives_what_python_gives_or_raises(name):
    function, fitting, beyond = OPERATIONS[name]
    compiled = checked(function)
    for case in fitting:
        assert compiled(*case) == function(*case), case
    for case in beyond:
        with pytest.raises(OverflowError):
            compiled(*case)


def instructions_of(compiled):
    """Return the lines of LLVM's code of a function, without what Python calls it by."""
    (overload,) = compiled.overloads.values()
    text = overload.library.get_llvm_str()
    begin = text.index(f"@{overload.fndesc.mangled_name}(", text.index("\ndefine "))
    return text[begin:].split("\n}")[0].splitlines()[1:]


def test_what_cannot_overflow_is_not_looked_at():
    """A mask takes one comparison in all; what is left after it, none."""
    compiled = checked(lambda a, b: ((1 << b) - 1, (a & 0xFF) + (a >> 60 & 7) * 5 - 3))
    assert compiled(0x7000000000000011, 3) == (7, 0x11 + 35 - 3)
    code = instructions_of(compiled)
    assert sum(" icmp " in line for line in code) == 1
    assert not any("with.overflow" in line for line in code)


def test_memory_that_is_only_lent_is_not_counted():
    compiled = checked(lambda numbers, place: numbers[place] + 1)
    assert compiled(np.array([5, 6]), 1) == 7
    assert not any("NRT_" in line for line in instructions_of(compiled))
    made = checked(lambda number: len([number, number]))
    assert made(5) == 2


class AddressedWalk(Walk):
    """A class that no other test compiles."""


def test_methods_are_given_the_address_of_the_rules():
    """Calls that took all fields along cost more than what they called."""
    model = gamedp.compile(AddressedWalk(number=3, far=-1, steps=10), compile="always")
    assert model.num_states == 11
    receivers = {
        type(arguments[0]).__name__
        for (key, name), dispatcher in bridge._dispatchers.items()
        if key.startswith("AddressedWalk-") and name in {"outcomes", "wrong", "canonical"}
        for arguments in dispatcher.overloads
    }
    assert receivers == {"RecordPointerType"}


def test_other_functions_that_numba_compiles_are_checked_with_the_rules():
    doubled = numba.njit(lambda number: number * 2)
    compiled = checked(lambda number: doubled(number))  # noqa: PLW0108 - what is compiled
    assert compiled(5) == 10
    with pytest.raises(OverflowError):
        compiled(MOST)


def test_a_fraction_among_integers_is_not_cut_off():
    """Plain Python puts it into the tuple; compiled rules that cut it off are refused."""
    compiled = checked(lambda a, b: gamedp.with_item((a, 1), 0, b))
    assert compiled(5, 6) == (6, 1)
    with pytest.raises(numba.TypingError):
        compiled(5, 0.5)


@attrs.frozen
class Powers:
    """A staged game whose contexts are `least` and more: numbers that 32 bits may hold, or not."""

    least: int
    factor: int = 1

    def stage(self):
        return Coin()

    def box(self):
        return {"points": (self.least, self.least + 3)}

    def initial_state(self):
        return Score(self.least)

    def is_terminal(self, context):
        return context.points == self.least + 3

    def payoff(self, context, player):
        return 0.0

    def following(self, context, end):
        return Score(min(context.points + end.place, self.least + 3))

    def reward(self, context, end, player):
        # Sums and products of what may stand in 32 bits, in ints that have 64.
        total = context.points + context.points + end.place
        product = context.points * context.points
        return float((total - 2 * context.points) * 1000 + product % 7 + product * self.factor % 5)

    def tier(self, context):
        return self.least + 3 - context.points


EDGES = [2**31 - 4, 2**31 - 3, 2**31, -(2**31), -(2**31) - 1, 3037000496]


@pytest.mark.slow
@pytest.mark.parametrize("least", EDGES)
def test_contexts_at_the_edge_of_32_bits_are_computed_with_in_64(least):
    solution = gamedp.solve(Powers(least), compile="always")
    assert solution.value() == gamedp.solve(Powers(least), compile="never").value()
    # 2**31 times 2**31 has room, twice that has none.
    text = refused_overflow(lambda: gamedp.solve(Powers(least, factor=4), compile="always"))
    assert "reward(Score(points=" in text


def test_a_square_beyond_64_bits_is_refused_though_its_root_has_room_in_32_and_a_half():
    gamedp.solve(Powers(3037000496), compile="always")  # the root of 2**63 less three
    text = refused_overflow(lambda: gamedp.solve(Powers(3037000498), compile="always"))
    assert "reward(Score(points=3037000500)" in text
