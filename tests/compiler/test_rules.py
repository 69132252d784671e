"""From rules to models: both modes agree, and every mistake gets one clear error."""

import os
import shutil
import subprocess
import sys
import textwrap
import types
import warnings
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import attrs
import numpy as np
import pytest
from numba import config
from numba.core import event
from rule_games import Long, Marks, Three, Walk, Wide

import gamedp
from gamedp.compiler import build, explore_loop, explorer, limits, methods
from gamedp.compiler.build import Patience
from gamedp.games.matches import Matches, Nim
from gamedp.games.wubbel import State, Wubbel
from gamedp.model.validation.forms import ARRAYS
from gamedp.rules import expand as expanding
from gamedp.rules.anatomy import dissect
from gamedp.runtime.compile_clock import reporting_compilation

MODES = ["never", "always"]

compiling = pytest.mark.skipif(config.DISABLE_JIT, reason="with the JIT disabled nothing compiles")


def assert_same_model(one, other):
    for name in ARRAYS:
        left, right = getattr(one, name), getattr(other, name)
        assert left.dtype == right.dtype, name
        np.testing.assert_array_equal(left, right, err_msg=name)
    for index in range(0, one.num_states, 1 + one.num_states // 50):
        assert one.state(index) == other.state(index)


GAMES = [Walk(), Marks(), Wide(), Three(), Long(), Wubbel(goal=9), Matches(12), Nim((1, 2, 3))]


@pytest.mark.parametrize("game", GAMES, ids=lambda game: type(game).__name__)
def test_both_tiers_give_the_same_model(game):
    plain = gamedp.compile(game, compile="never")
    assert_same_model(plain, gamedp.compile(game, compile="always"))
    # Once more in other parameters' ranges: the compiled rules are used again.
    for index in range(0, plain.num_states, 1 + plain.num_states // 50):
        assert plain.index(plain.state(index)) == (index, False)


def test_models_are_as_the_rules_say():
    model = gamedp.compile(Matches(matches=3))
    assert (model.num_states, model.num_choices, model.num_transitions) == (4, 6, 6)
    assert model.has_swaps
    assert model.payoffs.tolist() == [1.0]
    walk = gamedp.compile(Walk())
    assert walk.rewards.any()
    assert gamedp.compile(Three()).payoffs.shape[1] == 3


class Number(NamedTuple):
    left: int


class Chatty:
    """Says where it is asked."""

    def initial_state(self):
        return Number(3)

    def is_terminal(self, state):
        return state.left == 0

    def actions(self, state):
        print("at", state.left, 0.5 * state.left)  # noqa: T201 - that is what is tested
        yield 1

    def outcomes(self, state, action):
        yield 1.0, Number(state.left - action)

    def payoff(self, state, player):
        return 1.0


@pytest.mark.parametrize("mode", MODES)
def test_rules_may_print(monkeypatch, capsys, mode):
    monkeypatch.setattr(build, "spot_check", lambda *_: None)  # it would ask plain Python again
    monkeypatch.setattr(build, "ask_again", lambda *_: None)
    for _ in range(2):  # compiled, then read from disk
        methods.native_function.cache_clear()
        gamedp.compile(Chatty(), compile=mode)
        lines = capsys.readouterr().out.splitlines()  # a state is asked again if arrays must grow
        assert list(dict.fromkeys(lines)) == ["at 3 1.5", "at 2 1.0", "at 1 0.5"]


def boxed(game, box):
    """Return a game of the same rules with another box."""
    kind = type(type(game).__name__, (type(game),), {"box": lambda self: box})
    return kind(**attrs.asdict(game, recurse=False))


@pytest.mark.parametrize("mode", MODES)
def test_a_box_is_enumerated(mode):
    box = {"player": (0, 1), "own": (0, 4), "opponent": (0, 4), "turn": (0, 12)}
    game = boxed(Wubbel.pig(5), box)
    model = gamedp.compile(game, compile=mode, states="all")
    reached = gamedp.compile(game, compile=mode)
    assert model.num_states > reached.num_states
    assert_same_model(model, gamedp.compile(game, compile="never", states="all"))
    assert model.index(State(0, 1, 1, 1))  # nobody comes to a single point
    assert model.index(State(0, 4, 4, 6))
    with pytest.raises(gamedp.errors.UnknownStateError):
        model.index(State(0, 4, 4, 7))  # is_state is false there
    box.popitem()
    with pytest.raises(gamedp.errors.InvalidParameterError, match="turn; it gives player, own,"):
        gamedp.compile(game, compile=mode, states="all")


@pytest.mark.parametrize("mode", [*MODES, "auto"])
def test_all_states_need_a_box(mode):
    game, refused = Countdown(), gamedp.UnsupportedProblemError
    words = r"Countdown has no method box\(\), .*\{'player': \(first, last\), 'left': "
    with pytest.raises(refused, match=words):
        gamedp.compile(game, compile=mode, states="all")
    with pytest.raises(refused, match="NamedTuples of ints and tuples of ints; Text has others"):
        gamedp.compile(boxed(Text(), {}), compile=mode, states="all")
    valued = type("Valued", (Countdown,), {"box": {"player": (0, 0), "left": (0, 5)}})()
    assert gamedp.compile(valued, compile=mode).num_states == 6
    with pytest.raises(TypeError, match=r"write it as a method, def box\(self\)"):
        gamedp.compile(valued, compile=mode, states="all")
    broken = type("Broken", (Countdown,), {"box": lambda self: {}["left"]})()
    with pytest.raises(KeyError) as lost:
        gamedp.compile(broken, compile=mode, states="all")
    assert lost.value.__notes__ == ["gamedp: raised by the rules in box()"]


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_mistakes_in_a_box_name_the_state(mode):
    box = {"player": (0, 1), "left": (0, 3)}
    for options, words in (
        ({"restless": True}, "canonical(Spot(player=0, left="),
        ({"fault": "swap", "num_players": 1}, "swaps the players, which takes two"),
        ({"fault": "swapped"}, "must represent itself, not swapped"),
    ):
        with pytest.raises(gamedp.InvalidModelError) as caught:
            gamedp.compile(boxed(Faulty(**options), box), compile=mode, states="all")
        assert words in str(caught.value)
    with pytest.raises(KeyError) as lost:
        gamedp.compile(boxed(Faulty("is_state"), box), compile=mode, states="all")
    assert lost.value.__notes__ == [f"gamedp: raised by the rules in is_state({IN_2})"]


@pytest.mark.parametrize("mode", MODES)
def test_a_box_keeps_to_real_states(mode):
    box = {"warm": (0, 1), "where[0][0]": (-4, 4), "where[0][1]": (-4, 4), "where[1]": (0, 2),
           "depth": (-4, 0)}  # fmt: skip
    game = boxed(Walk(), box)
    model = gamedp.compile(game, compile=mode, states="all")
    assert_same_model(model, gamedp.compile(game, compile="never", states="all"))


def test_arrays_and_ranges_grow_as_they_must():
    game = Walk(size=9)
    model = gamedp.compile(game, compile="always")
    assert model.num_states > 5000
    assert_same_model(gamedp.compile(game, compile="never"), model)


@pytest.mark.deep
@pytest.mark.parametrize("game", [Wubbel(goal=20), Marks()], ids=["one word", "several words"])
def test_more_states_than_32_bits_can_number(game, monkeypatch):
    monkeypatch.setattr(explorer, "INDEX_LIMIT", 2048)
    model = gamedp.compile(game, compile="always")
    assert model.successors.dtype == np.int64
    monkeypatch.undo()
    narrow = gamedp.compile(game, compile="always")
    np.testing.assert_array_equal(model.successors, narrow.successors)
    assert gamedp.solve(model).value() == pytest.approx(gamedp.solve(narrow).value(), abs=1e-9)


class Spot(NamedTuple):
    player: int
    left: int


@attrs.frozen
class Countdown:
    """Nothing to choose, and nothing wrong."""

    start: int = 5

    def initial_state(self):
        return Spot(0, self.start)

    def is_terminal(self, state):
        return state.left <= 0

    def actions(self, state):
        yield 1

    def outcomes(self, state, action):
        yield 1.0, Spot(state.player, state.left - action)

    def payoff(self, state, player):
        return 1.0


@attrs.frozen
class Endless(Countdown):
    """Two loops may have no end: that of the actions, and that of the outcomes."""

    loop: int = 0

    def actions(self, state):
        yield 1
        while self.loop == 1:
            yield 1

    def outcomes(self, state, action):
        yield 1.0, Spot(state.player, state.left - action)
        number = 0
        while self.loop == 2:
            number += 1
            yield 2.0**-40, Spot(state.player, number)
        while self.loop == 3:
            yield 0.0, state


@pytest.mark.slow
@pytest.mark.parametrize("loop", [1, 2, 3], ids=["actions", "outcomes", "no outcomes"])
@pytest.mark.parametrize("mode", MODES)
def test_a_loop_without_an_end_keeps_to_the_limit_of_time(monkeypatch, mode, loop):
    monkeypatch.setattr(expanding, "MOST_IN_A_ROW", 1 << 40)  # a fast machine gets to it in time
    with pytest.raises(gamedp.errors.LimitExceededError, match="stopped at max_seconds=0"):
        gamedp.compile(Endless(loop=loop), compile=mode, max_seconds=0.1)


@pytest.mark.parametrize("loop", [1, 2, 3], ids=["actions", "outcomes", "no outcomes"])
def test_the_clock_is_looked_at_within_a_state(monkeypatch, loop):
    taken = []

    class Counting(Endless):
        def actions(self, state):
            for action in super().actions(state):
                taken.append(action)
                yield action

        def outcomes(self, state, action):
            for pair in super().outcomes(state, action):
                taken.append(pair)
                yield pair

    monkeypatch.setattr(limits.ExplorationBudget, "seconds", property(lambda self: len(taken)))
    with pytest.raises(gamedp.errors.LimitExceededError, match="max_seconds=20000"):
        gamedp.compile(Counting(loop=loop), compile="never", max_seconds=20_000)
    assert 20_000 < len(taken) < 20_000 + 2 * expanding.IN_A_ROW


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_a_large_box_keeps_to_the_limit_of_time(mode):
    class Never(Countdown):
        def is_state(self, state):
            return state.left == 0

        def box(self):
            return {"player": (0, 0), "left": (0, 2**40)}

    with pytest.raises(gamedp.errors.LimitExceededError, match="stopped at max_seconds=0"):
        gamedp.compile(Never(), compile=mode, states="all", max_seconds=0.5)


@pytest.mark.parametrize("mode", [*MODES, "auto"])
@pytest.mark.parametrize(
    ("left", "error", "words"),
    [
        ((0, 2**62), "LimitExceededError", "too many to enumerate"),
        ((0, 2**63), "InvalidParameterError", "is beyond 64 bits"),
        ((-(2**80), 0), "InvalidParameterError", "is beyond 64 bits"),
        ((0.0, 1.0), "InvalidParameterError", r"it must be \(first, last\)"),
        (5, "InvalidParameterError", r"it must be \(first, last\)"),
        ((1, 2, 3), "InvalidParameterError", r"it must be \(first, last\)"),
        ((5, 1), "InvalidParameterError", "which is empty"),
    ],
)
def test_a_box_that_cannot_be_is_refused(mode, left, error, words):
    game = boxed(Countdown(), {"player": (0, 0), "left": left})
    with pytest.raises(getattr(gamedp.errors, error), match=rf"^box\(\) of Countdown .*{words}"):
        gamedp.compile(game, compile=mode, states="all")
    with pytest.raises(gamedp.errors.InvalidParameterError, match=r"box\(\) of Countdown is \["):
        gamedp.compile(boxed(Countdown(), [left]), compile=mode, states="all")


@attrs.frozen
class Private(Countdown):
    """The rules read a private attribute."""

    _step: int = 2

    def outcomes(self, state, action):
        yield 1.0, Spot(state.player, state.left - self._step)


def test_rules_may_read_private_attributes():
    model = gamedp.compile(Private(start=5), compile="always")
    assert_same_model(gamedp.compile(Private(start=5), compile="never"), model)
    assert model.num_states == 4


@attrs.frozen
class Faulty:
    """A countdown with one fault or another, in one class, so that it compiles once."""

    fault: str = "none"
    number: float = 0.0
    num_players: int = 2
    constant_sum: float = 1.0
    wrong: bool = False
    empty: bool = False
    repeated: bool = False
    restless: bool = False
    factor: int = 0

    def initial_state(self):
        return Spot(0, 5)

    def raise_if(self, method, state):
        if self.fault == method and state.left == 2:
            raise KeyError

    def is_terminal(self, state):
        self.raise_if("is_terminal", state)
        return state.left == 0

    def actions(self, state):
        self.raise_if("actions", state)
        if not self.empty or state.left != 3:
            yield 2**33 if self.fault == "label" else 4

    def outcomes(self, state, action):
        self.raise_if("outcomes", state)
        if self.factor > 0:
            yield 1.0, Spot(1 - state.player, state.left * self.factor)
        elif self.wrong and state.left == 2:
            yield self.number, Spot(1 - state.player, state.left - 1)
            yield 0.5, Spot(1 - state.player, 0)
        elif self.repeated:
            yield 0.25, Spot(1 - state.player, state.left - 1)
            yield 0.0, Spot(1, 77)
            yield 0.5, Spot(1 - state.player, 0)
            yield 0.25, Spot(1 - state.player, state.left - 1)
        else:
            yield 1.0, Spot(1 - state.player, state.left - 1)

    def player(self, state):
        self.raise_if("player", state)
        return 5 if self.fault == "mover" and state.left == 2 else state.player

    def payoff(self, state, player):
        if self.fault == "no payoff":
            raise KeyError
        if self.fault == "payoff":
            return self.number
        return 1.0 if state.player == player else 0.0

    def reward(self, state, action, player):
        self.raise_if("no reward", state)
        if self.fault == "reward" and state.left == 2:
            return self.number
        return 0.0

    def canonical(self, state):
        self.raise_if("canonical", state)
        if self.restless:
            return Spot(state.player, state.left + 1), False
        if self.fault == "swap":
            return Spot(0, state.left), state.player == 1
        if self.fault == "swapped":
            return state, state.left == 2
        return state, False

    def is_state(self, state):
        if state.player == 1:
            self.raise_if("is_state", state)
        return True


IN_2 = "Spot(player=1, left=2)"

FAULTS = [
    ({"wrong": True, "number": 0.4}, [f"action 4 in {IN_2}", "total probability 0.9, not 1"]),
    ({"wrong": True, "number": -0.5}, [f"action 4 in {IN_2}", "-0.5", "between 0 and 1"]),
    ({"wrong": True, "number": np.nan}, [f"action 4 in {IN_2}", "nan"]),
    ({"wrong": True, "number": np.inf}, [f"action 4 in {IN_2}", "inf"]),
    ({"empty": True}, ["Spot(player=0, left=3) has no actions and is not terminal"]),
    ({"restless": True}, ["canonical(Spot(player=0, left=5))", "must represent itself"]),
    ({"fault": "swap", "num_players": 1}, ["swaps the players, which takes two"]),
    ({"fault": "swapped"}, [f"canonical({IN_2})", "must represent itself, not swapped"]),
    ({"fault": "label"}, ["action 8589934592 in Spot(player=0, left=5)", "32 bits"]),
    ({"fault": "mover"}, [f"player({IN_2}) is 5", "0 to 1"]),
    ({"fault": "payoff", "number": np.nan}, ["payoff(Spot(player=1, left=0), 0) is nan"]),
    ({"fault": "payoff", "number": -np.inf}, ["is -inf", "finite number"]),
    ({"fault": "payoff", "number": 0.7}, ["0.7 and 0.7", "add up to constant_sum = 1.0"]),
    ({"fault": "reward", "number": 2.0}, [f"action 4 in {IN_2}", "add up to zero"]),
    ({"fault": "reward", "number": np.inf}, [f"reward({IN_2}, 4, 0) is inf"]),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("options", "words"), FAULTS, ids=lambda value: str(value)[:60])
def test_wrong_rules_get_one_clear_error(options, words, mode):
    with pytest.raises(gamedp.InvalidModelError) as caught:
        gamedp.compile(Faulty(**options), compile=mode)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("mode", MODES)
def test_duplicate_outcomes_are_merged_and_impossible_ones_dropped(mode):
    model = gamedp.compile(Faulty(repeated=True), compile=mode)
    row = slice(*model.transition_offsets[:2].tolist())
    assert model.probabilities[row].tolist() == [0.5, 0.5]
    assert Spot(1, 77) not in [model.state(index) for index in range(model.num_states)]


@pytest.mark.slow
@pytest.mark.parametrize("factor", [2, 3, 5, 7])
def test_integers_that_outgrow_64_bits_are_noticed(factor):
    """Times 5 wraps around to a number that is in the range of the others."""
    game = Faulty(factor=factor)
    with pytest.raises(gamedp.InvalidModelError, match="beyond 64 bits") as caught:
        gamedp.compile(game, compile="always")
    assert "Spot(player=" in str(caught.value)
    assert "compile='never'" in str(caught.value)
    with pytest.raises(gamedp.errors.LimitExceededError):
        gamedp.compile(game, compile="never", max_states=500)


@attrs.frozen
class Bounded(Countdown):
    """Numbers beyond 64 bits in plain Python, but not without end."""

    start: int = 60

    def is_terminal(self, state):
        return state.left >= 2**66

    def outcomes(self, state, action):
        return [(1.0, Spot(state.player, state.left * 3))]


def test_plain_python_knows_no_largest_integer():
    model = gamedp.compile(Bounded(), compile="never")
    largest = model.state(model.num_states - 1)
    assert largest.left >= 2**66
    assert model.index(largest) == (model.num_states - 1, False)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("fault", "call"),
    [
        ("is_terminal", f"is_terminal({IN_2})"),
        ("player", f"player({IN_2})"),
        ("actions", f"actions({IN_2})"),
        ("outcomes", f"outcomes({IN_2}, 4)"),
        ("canonical", f"canonical({IN_2})"),
        ("no reward", f"reward({IN_2}, 4, 0)"),
        ("no payoff", "payoff(Spot(player=1, left=0), 0)"),
    ],
)
def test_what_the_rules_raise_comes_through_with_the_place(fault, call, mode):
    with pytest.raises(KeyError) as caught:
        gamedp.compile(Faulty(fault), compile=mode)
    assert caught.value.__notes__ == [f"gamedp: raised by the rules in {call}"]


FIRST = "Spot(player=0, left=5)"


class Tally(NamedTuple):
    player: int
    left: int
    sum: int


WRONG_TYPES = {
    "no state": (
        {"outcomes": lambda self, state, action: [(1.0, None)]},
        f"the outcomes of action 1 in {FIRST} contain None, which is not a state like {FIRST}",
    ),
    "a bare tuple": (
        {"outcomes": lambda self, state, action: [(1.0, (0, 4))]},
        f"the outcomes of action 1 in {FIRST} contain (0, 4), which is not a state like {FIRST}",
    ),
    "a number": (
        {"outcomes": lambda self, state, action: [(1.0, 4)]},
        f"the outcomes of action 1 in {FIRST} contain 4, which is not a state like {FIRST}",
    ),
    "unhashable": (
        {"outcomes": lambda self, state, action: [(1.0, Spot([1], 2))]},
        "contain Spot(player=[1], left=2), which cannot be a state: unhashable type: 'list'",
    ),
    "no pair": (
        {"outcomes": lambda self, state, action: [Tally(0, 4, 0)]},
        "contain Tally(player=0, left=4, sum=0), which is not a (probability, state) pair",
    ),
    "a lone pair": (
        {"outcomes": lambda self, state, action: (1.0, state)},
        "contain 1.0, which is not a (probability, state) pair",
    ),
    "no outcomes": (
        {"outcomes": lambda self, state, action: None},
        f"the outcomes of action 1 in {FIRST} are None",
    ),
    "no actions": (
        {"actions": lambda self, state: None},
        f"actions({FIRST}) returns None; it must yield actions",
    ),
    "a text for actions": (
        {"actions": lambda self, state: "one"},
        f"actions({FIRST}) returns 'one'; a single action is yielded, or returned in a list",
    ),
    "a position for actions": (
        {"actions": lambda self, state: state},
        f"actions({FIRST}) returns {FIRST}; a single action is yielded",
    ),
    "no action": (
        {"actions": lambda self, state: (None,)},
        f"an action in {FIRST} is None, which stands for no action at all. Give it a name",
    ),
    "an action without a hash": (
        {"actions": lambda self, state: ([1],)},
        f"action [1] in {FIRST} is neither an integer nor hashable: unhashable type: 'list'.",
    ),
    "an array for an action": (
        {"actions": lambda self, state: (np.array([1, 2]),)},
        f"action array([1, 2]) in {FIRST} is neither an integer nor hashable",
    ),
    "an action that is nan": (
        {"actions": lambda self, state: (("raise", np.nan),)},
        f"action ('raise', nan) in {FIRST} is not equal to itself, as nan is",
    ),
    "equal actions": (
        {"actions": lambda self, state: (1, 1.0)},
        f"actions({FIRST}) yields 1 and 1.0, which are equal. Yield each action once",
    ),
    "two payoffs": (
        {"payoff": lambda self, state, player: (1.0, 0.0)},
        "payoff(Spot(player=0, left=0), 0) is (1.0, 0.0); it must be one finite number",
    ),
    "two rewards": (
        {"reward": lambda self, state, action, player: (1.0, 0.0)},
        f"reward({FIRST}, 1, 0) is (1.0, 0.0); it must be one finite number",
    ),
    "a representative alone": (
        {"canonical": lambda self, state: state},
        f"canonical({FIRST}) is {FIRST}; it must be a pair (representative, swapped)",
    ),
    "no representative": (
        {"canonical": lambda self, state: ((state.player, state.left), False)},
        f"the answers of canonical({FIRST}) contain (0, 5), which is not a state like {FIRST}",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "mode"),
    [
        # Each is compiled anew.
        pytest.param(name, mode, marks=[pytest.mark.deep] * (mode == "always" and number > 2))
        for number, name in enumerate(WRONG_TYPES)
        for mode in MODES
    ],
)
def test_wrong_types_get_one_clear_error(name, mode):
    methods, words = WRONG_TYPES[name]
    game = type("Odd", (Countdown,), methods)()
    with pytest.raises(gamedp.InvalidModelError) as caught:
        gamedp.compile(game, compile=mode)
    assert words in str(caught.value)


@pytest.mark.parametrize("mode", MODES)
def test_an_initial_state_that_is_none_gets_a_clear_error(mode):
    for start, words in (
        (None, "the initial states contain None, which is not a state"),
        ([(0.5, Spot(0, 1))], "the initial states have total probability 0.5, not 1"),
        ([Spot(0, 1)], "contain Spot(player=0, left=1), which is not a (probability, state) pair"),
        ([], "the initial states have total probability 0.0, not 1"),
        ({}, "the initial states contain {}, which cannot be a state: unhashable type: 'dict'"),
    ):
        game = type("Odd", (Countdown,), {"initial_state": lambda self, start=start: start})()
        with pytest.raises(gamedp.InvalidModelError) as caught:
            gamedp.compile(game, compile=mode)
        assert words in str(caught.value)


def test_states_of_two_classes_are_for_plain_python():
    class Mixed(Countdown):
        def outcomes(self, state, action):
            return [(1.0, Tally(0, state.left - 1, state.left))]

    model = gamedp.compile(Mixed(), compile="never")
    assert [type(model.state(index)) for index in range(3)] == [Spot, Tally, Tally]
    assert model.index(model.state(2)) == (2, False)
    words = "Tally" if config.DISABLE_JIT else "in the first state there is a Spot of 2 items"
    with pytest.raises((gamedp.errors.CompilationError, gamedp.InvalidModelError), match=words):
        gamedp.compile(Mixed(), compile="always")


@attrs.frozen
class Text:
    """States that are text: never compiled."""

    length: int = 3

    def initial_state(self):
        return ""

    def is_terminal(self, state):
        return len(state) == self.length

    def actions(self, state):
        return (0, 1)

    def outcomes(self, state, action):
        return [(0.5, state + "ab"[action]), (0.5, state + "c")]

    def payoff(self, state, player):
        return float(state.count("a"))


@pytest.mark.usefixtures("compile_at_once")
def test_states_may_be_any_hashable_object():
    with pytest.warns(gamedp.errors.CompilationWarning, match="not NamedTuples of ints"):
        solution = gamedp.solve(Text())
    assert solution.value() == pytest.approx(1.5)
    assert solution.value("ab") == pytest.approx(1.5)
    with pytest.raises(gamedp.errors.UnknownStateError, match="'zzz' is not a state"):
        solution.value("zzz")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gamedp.solve(Text())  # it was said once
        gamedp.solve(Text(4), compile="never")
    with pytest.raises(gamedp.errors.CompilationError, match="rules of Text cannot be compiled"):
        gamedp.solve(Text(), compile="always")


@attrs.frozen
class Beyond(Countdown):
    """Rules outside the subset that numba compiles."""

    def payoff(self, state, player):
        return float(Fraction(state.left, 1 + player))


@compiling
@pytest.mark.usefixtures("compile_at_once")
def test_rules_outside_the_subset_run_as_plain_python_and_say_why():
    with pytest.warns(gamedp.errors.CompilationWarning) as caught:
        model = gamedp.compile(Beyond())
    assert model.num_states == 6
    text = str(caught[0].message)
    assert "Beyond" in text
    assert "test_rules.py, line" in text
    assert "\x1b" not in text
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gamedp.compile(Beyond())  # it was said once
        gamedp.compile(Beyond(3), compile="never")
    with pytest.raises(
        gamedp.errors.CompilationError, match=r"Beyond cannot be compiled: .*line \d+"
    ):
        gamedp.compile(Beyond(), compile="always")


class Asked(Countdown):
    """Counts how often plain Python asks it."""

    count = 0

    def is_terminal(self, state):
        Asked.count += 1
        return state.left == 0


@pytest.fixture
def counted_rules(monkeypatch):
    monkeypatch.setattr(Asked, "count", 0)
    monkeypatch.setattr(build, "ask_again", lambda rules, model: None)
    return Asked


def test_a_small_game_is_explored_before_numba_begins(monkeypatch):
    monkeypatch.setattr(build, "_compiled", lambda *_, **__: pytest.fail("is compiled"))
    for game in (Text(), Beyond(), Walk(), Matches(500)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = gamedp.compile(game)
        assert_same_model(model, gamedp.compile(game, compile="never"))
        assert model.seconds["compile"] == 0.0
    game = boxed(Countdown(), {"player": (0, 1), "left": (1, 5)})
    assert gamedp.compile(game, states="all").num_states == 12


class Mirrored(Countdown):
    """Either player stands for the other; counts how often that is asked."""

    num_players = 2
    constant_sum = 0.0
    asked = 0
    plain = False

    def player(self, state):
        return state.player

    def outcomes(self, state, action):
        for place in range(8):
            player, left = place % 2, max(0, state.left - 1 - place // 4)
            if self.plain and (place, state.left) == (7, 2):
                yield 1 / 8, (player, left)
            else:
                yield 1 / 8, Spot(player, left)

    def payoff(self, state, player):
        return 1.0 if player == state.player else -1.0

    def canonical(self, state):
        type(self).asked += 1
        return Spot(0, state.left), state.player == 1


def test_what_stands_for_a_state_is_asked_once(monkeypatch):
    monkeypatch.setattr(Mirrored, "asked", 0)
    monkeypatch.setattr(build, "ask_again", lambda rules, model: None)
    model = gamedp.compile(Mirrored(40), compile="never")
    assert (model.num_states, model.num_transitions) == (41, 40 * 4 - 2)
    # Of either player's state, and again of the one that stands for it.
    assert Mirrored.asked <= 2 * (2 * model.num_states)


def test_a_tuple_is_no_state_though_an_equal_one_is_known(monkeypatch):
    monkeypatch.setattr(Mirrored, "plain", True)
    with pytest.raises(gamedp.InvalidModelError, match=r"contain \(1, 0\), which is not a state"):
        gamedp.compile(Mirrored(9), compile="never")


@pytest.mark.filterwarnings("ignore::gamedp.errors.CompilationWarning")
def test_plain_python_goes_on_where_it_began_if_rules_do_not_compile(counted_rules, monkeypatch):
    monkeypatch.setattr(build, "AT_MOST", Patience(states=80))
    monkeypatch.setattr(build, "AT_FIRST", Patience(transitions=20))
    monkeypatch.setattr(build, "_is_kept", lambda rules, layout: False)
    monkeypatch.setattr(build, "_compiled", lambda *_, **__: None)
    model = gamedp.compile(counted_rules(100))
    assert counted_rules.count == model.num_states == 101


class Stroll(Walk):
    """Compiled by no other test."""


@pytest.mark.slow
@compiling
def test_a_large_game_is_compiled_once_that_is_clear(monkeypatch):
    explored = []
    explore = build.explore

    def counting(rules, rows, *others):
        done = explore(rules, rows, *others)
        explored.append((rows.done, len(rows.states)))
        return done

    monkeypatch.setattr(build, "explore", counting)
    monkeypatch.setattr(build, "AT_FIRST", Patience(states=20))
    monkeypatch.setattr(build, "AT_MOST", Patience(transitions=100))
    plain = gamedp.compile(Stroll(19), compile="never")
    explored.clear()
    model = gamedp.compile(Stroll(19))
    assert_same_model(model, plain)
    # Once more, plain Python stops as soon as the compiled rules are found on disk.
    assert [found >= 20 for _, found in explored] == [True, True]
    assert explored[-1][0] < plain.num_states
    assert model.seconds["compile"] > 0
    explored.clear()
    assert_same_model(gamedp.compile(Stroll(19)), plain)
    assert [found for _, found in explored] == [explored[0][1]]
    assert explored[0][1] <= 25
    # Memory that plain Python would not have is no reason to stop.
    monkeypatch.setattr(build, "AT_MOST", Patience())
    monkeypatch.setattr(build, "AT_FIRST", Patience())
    limit = 400 * plain.num_states
    with pytest.raises(gamedp.errors.LimitExceededError, match="max_bytes"):
        gamedp.compile(Stroll(19), compile="never", max_bytes=limit)
    assert_same_model(gamedp.compile(Stroll(19), max_bytes=limit), plain)


@pytest.mark.parametrize("mode", MODES)
def test_limits_say_how_far_the_exploration_got(mode):
    with pytest.raises(
        gamedp.errors.LimitExceededError, match="stopped at max_states=500"
    ) as caught:
        gamedp.compile(Wubbel(goal=30), compile=mode, max_states=500)
    assert caught.value.states > 500
    assert caught.value.transitions > 0
    with pytest.raises(gamedp.errors.LimitExceededError, match="max_seconds"):
        gamedp.compile(Wubbel(goal=30), compile=mode, max_seconds=1e-9)
    with pytest.raises(gamedp.errors.LimitExceededError, match="MiB") as caught:
        gamedp.compile(Wubbel(goal=30), compile=mode, max_bytes=1000)
    assert "bytes a state" in str(caught.value)
    with pytest.raises(gamedp.errors.InvalidParameterError, match="must be positive"):
        gamedp.compile(Wubbel(), max_states=0)
    with pytest.raises(gamedp.errors.LimitExceededError, match="max_states=3"):
        gamedp.compile(Faulty(), compile=mode, max_states=3)
    assert gamedp.compile(Faulty(), compile=mode, max_states=6).num_states == 6


def test_progress_is_reported(monkeypatch):
    monkeypatch.setattr("gamedp.runtime.limit.INTERVAL", 0.0)
    seen = []
    gamedp.solve(Wubbel(goal=30), progress=seen.append)
    assert {report.phase for report in seen} - {"compile"} == {"explore", "solve"}
    assert all(report.seconds >= 0 for report in seen)


DIGESTED = """
from pathlib import Path
from typing import NamedTuple
import enum
import attrs
import numpy as np
import gamedp
import outer.inner
from outer import TABLE, SIZES

STEP = 1
LIMITS = {"low", "high", "middle"}

class Spot(NamedTuple):
    left: int
    bonus: int = 0

class Move(enum.IntEnum):
    TAKE = 1

@gamedp.helper
def after(left, action, *, extra=0):
    return left - action * STEP - extra

@attrs.frozen
class Game:
    start: int = 5
    def initial_state(self): return Spot(self.start)
    def is_terminal(self, state): return state.left <= 0
    def actions(self, state):
        yield Move.TAKE
        yield outer.inner.twice(1)
    def outcomes(self, state, action, slack=0):
        yield 1.0, Spot(after(state.left, action) - slack)
    def payoff(self, state, player): return TABLE[0] + SIZES[1] + outer.SCALE * self.share()
    def share(self): return 0.5 + outer.halved(1) + outer.squared(2) + self.more("low" in LIMITS)
    def more(self, number):
        return outer.raised(number) + outer.Odds.doubled(1) + outer.ODDS.of(number) + outer.least()
"""

OUTER = """
import functools
import math
import numpy as np
SCALE = 2.0

def halved(number):
    return helped(number) / 2.0

def helped(number):
    return math.floor(number) + 7

@functools.cache
def squared(number):
    return number ** 2

raised = functools.partial(pow, exp=3)

class Odds:
    def __init__(self, base): self.base = base
    @staticmethod
    def doubled(number): return number * 4
    def of(self, number, plus=8): return self.base + number + plus + self.shift
    @property
    def shift(self): return 11

ODDS = Odds(5)

def counted(least):
    @functools.wraps(least)
    def count(*numbers): return least(*numbers) + 12
    return count

@counted
def least(): return 13
TABLE = np.array([1.0, 2.0])
SIZES = (1, (2, 3))
"""

INNER = """
import gamedp
@gamedp.helper
def twice(number):
    return 2 * number
"""


def digest_of(monkeypatch, edit, start=5):
    """Return the digest of the game above after replacing a text in its files."""
    modules = {}
    for name, source in (("outer.inner", INNER), ("outer", OUTER), ("digested", DIGESTED)):
        modules[name] = types.ModuleType(name)
        monkeypatch.setitem(sys.modules, name, modules[name])
        if name == "outer":
            modules[name].inner = modules["outer.inner"]
        text = source.replace(*edit)
        exec(compile(text, f"{name}.py", "exec", dont_inherit=True), modules[name].__dict__)  # noqa: S102
    return dissect(modules["digested"].Game(start)).digest


@pytest.mark.parametrize(
    "edit",
    [
        ("return 0.5", "return 0.25"),
        ("state.left <= 0", "state.left < 0"),
        ("slack=0", "slack=1"),
        ("extra=0", "extra=1"),
        ("action * STEP", "action + STEP"),
        ("STEP = 1", "STEP = 2"),
        ("left: int", "rest: int"),
        ("bonus: int = 0", "bonus: int = 1"),
        ("TAKE = 1", "TAKE = 2"),
        ("2 * number", "3 * number"),
        ("SCALE = 2.0", "SCALE = 3.0"),
        ("SCALE = 2.0", "SCALE = 2"),
        ("[1.0, 2.0]", "[1.0, 2.5]"),
        ("[1.0, 2.0]", "[[1.0, 2.0]]"),
        ("np.array([1.0, 2.0])", "np.array([1.0, 2.0]).view(np.int64)"),
        ("(2, 3)", "(2, 4)"),
        ("halved(number):\n    return", "halved(number):\n    return 1 +"),
        ("(number) + 7", "(number) - 7"),
        ("math.floor", "math.ceil"),
        ("number ** 2", "number ** 4"),
        ("exp=3", "exp=2"),
        ("number * 4", "number * 6"),
        ("Odds(5)", "Odds(6)"),
        ("plus=8", "plus=9"),
        ("return 11", "return 10"),
        ("+ 12", "+ 14"),
        ("return 13", "return 15"),
        ('"middle"', '"centre"'),
    ],
    ids=" to ".join,
)
def test_the_digest_sees_every_edit(edit, monkeypatch):
    before = digest_of(monkeypatch, ("", ""))
    assert any(edit[0] in source for source in (DIGESTED, OUTER, INNER))
    assert digest_of(monkeypatch, edit) != before
    assert digest_of(monkeypatch, ("", "")) == before


def test_the_digest_sees_nothing_else(monkeypatch):
    before = digest_of(monkeypatch, ("", ""))
    assert digest_of(monkeypatch, ("", ""), start=7) == before
    assert digest_of(monkeypatch, ("    def share", "\n    # a comment\n    def share")) == before
    assert digest_of(monkeypatch, ("import numpy as np", "import numpy as np, math")) == before
    unused = ("class Odds:", "class Odds:\n    def unused(self): return 1\n")
    assert digest_of(monkeypatch, unused) == before


def test_the_digest_is_the_same_in_every_process(tmp_path):
    (tmp_path / "outer").mkdir()
    (tmp_path / "outer" / "__init__.py").write_text(OUTER)
    (tmp_path / "outer" / "inner.py").write_text(INNER)
    (tmp_path / "digested.py").write_text(DIGESTED)
    script = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import digested; "
        "from gamedp.rules.anatomy import dissect; print(dissect(digested.Game()).digest)"
    )
    digests = set()
    for seed in ("1", "2", "3"):
        environment = os.environ | {"PYTHONHASHSEED": seed}
        ran = subprocess.run(
            [sys.executable, "-c", script],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        digests.add(ran.stdout)
    assert len(digests) == 1


GAME_FILE = """
from pathlib import Path
from typing import NamedTuple
import attrs, gamedp, helpers

class Spot(NamedTuple):
    left: int

@attrs.frozen
class Game:
    start: int = 5
    def initial_state(self): return Spot(self.start)
    def is_terminal(self, state): return state.left <= 0
    def actions(self, state):
        yield 1
        yield 2
    def outcomes(self, state, action):
        yield 1.0, Spot(helpers.after(state.left, action))
    def payoff(self, state, player): return float(state.left)
"""

HELPERS = """
import gamedp
@gamedp.helper
def after(left, action):
    return left - action * {factor}
"""

MAIN = """
import logging, sys
from numba.core import event
compiled = []
class Listener(event.Listener):
    def on_start(self, event): pass
    def on_end(self, event): compiled.append(event.data["dispatcher"].py_func.__name__)
with event.install_listener("numba:compile", Listener()):
    import gamedp
    {where}
    print(gamedp.solve(Game(), compile="always").value(), compiled.count("expand_state"))
"""


def run_main(folder, where="from game import Game", cache=None):
    cache = cache or folder / "cache"
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    environment = os.environ | {"GAMEDP_CACHE_DIR": str(cache), "PYTHONPATH": path}
    script = MAIN.format(where=textwrap.indent(where, "    ").strip())
    (folder / "main.py").write_text(script)
    ran = subprocess.run(
        [sys.executable, str(folder / "main.py")],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    value, count = ran.stdout.split()
    return float(value), int(count)


class Told(Stroll):
    """As large as another game, with rules of its own."""

    def payoff(self, state, player):
        return 3.0 * state.depth


@compiling
def test_of_a_second_game_the_rules_alone_are_compiled():
    gamedp.compile(Walk(3), compile="always")
    compiled = []

    class Listener(event.Listener):
        def on_start(self, event):
            compiled.append(event.data["dispatcher"].py_func.__name__)

        def on_end(self, event):
            pass

    with event.install_listener("numba:compile", Listener()):
        model = gamedp.compile(Told(3), compile="always")
    assert_same_model(model, gamedp.compile(Told(3), compile="never"))
    assert {"expand_state", "payoff", "outcomes"} <= set(compiled)
    assert not {"explore", "rehash", "seed", "merge_row"} & set(compiled)


class Thirds(Countdown):
    """Few states, whose numbers lie far apart."""

    def outcomes(self, state, action):
        yield 1.0, Spot(state.player, state.left // 3)


def test_states_are_hashed_only_where_their_codes_are_many(monkeypatch):
    hashed = []
    rehash = explore_loop.rehash_jit

    monkeypatch.setattr(
        explore_loop, "rehash_jit", lambda *records: hashed.append(1) or rehash(*records)
    )
    assert_same_model(
        gamedp.compile(Thirds(99), compile="always"), gamedp.compile(Thirds(99), compile="never")
    )
    assert not hashed
    assert_same_model(
        gamedp.compile(Thirds(9**15), compile="always"),
        gamedp.compile(Thirds(9**15), compile="never"),
    )
    assert hashed


@attrs.frozen(eq=False)
class Counted:
    """Reads a text, a list and an array, of which numba counts or borrows the memory."""

    text: str = "abcde"
    steps: list[int] = attrs.field(factory=lambda: [1, 2, 3])
    prizes: np.ndarray = attrs.field(factory=lambda: np.arange(40.0))

    def initial_state(self):
        return Spot(0, 30)

    def is_terminal(self, state):
        return state.left <= 0

    def actions(self, state):
        return [step for step in self.steps if step <= len(self.text)]

    def outcomes(self, state, action):
        yield 1.0, Spot(1 - state.player, max(0, state.left - action))

    def payoff(self, state, player):
        return self.prizes[state.player] + len(self.text)


@pytest.mark.filterwarnings("ignore::numba.NumbaPendingDeprecationWarning")
def test_what_numba_counts_may_be_read_again_and_again():
    plain = gamedp.compile(Counted(), compile="never")
    for _ in range(20):
        assert_same_model(gamedp.compile(Counted(), compile="always"), plain)


class Broad(Countdown):
    """Very many choices in one state, and very many outcomes of one choice."""

    def actions(self, state):
        return range(300 if state.left == 5 else 1)

    def outcomes(self, state, action):
        count = 3000 if action == 7 else 1
        for place in range(count):
            yield 1 / count, Spot(0, (place + action) % 5)


@pytest.mark.parametrize("mode", MODES)
def test_one_state_may_have_very_many_choices_and_outcomes(mode):
    model = gamedp.compile(Broad(), compile=mode)
    assert (model.num_states, model.num_choices) == (6, 304)
    with pytest.raises(gamedp.errors.LimitExceededError, match="max_bytes"):
        gamedp.compile(Broad(), compile=mode, max_bytes=5_000)


@compiling
def test_a_variable_named_as_a_field_compiles_nothing_anew(monkeypatch):
    source = GAME_FILE.replace(", helpers", "")
    source = source.replace("helpers.after(state.left, action)", "state.left - action")
    source = source.replace("float(state.left)", "float(self.start)")
    notebook = types.ModuleType("notebook")
    monkeypatch.setitem(sys.modules, "notebook", notebook)
    exec(compile(source, "notebook.py", "exec", dont_inherit=True), vars(notebook))  # noqa: S102
    compiled = []
    with reporting_compilation(lambda count, _seconds: compiled.append(count)):
        for start in (5, 6, 7):
            notebook.start = start
            gamedp.compile(notebook.Game(start), compile="always")
            assert bool(compiled) == (start == 5)
            compiled.clear()


@pytest.fixture
def folder(tmp_path):
    gamedp.compile(Walk(3), compile="always")
    (tmp_path / "cache").mkdir()
    for loop in (explore_loop.explore_jit, explore_loop.rehash_jit):  # what all games share
        cache = loop._cache
        for path in Path(cache.cache_path).glob(f"{cache._impl.filename_base}*"):
            shutil.copy(path, tmp_path / "cache")
    (tmp_path / "game.py").write_text(GAME_FILE)
    (tmp_path / "helpers.py").write_text(HELPERS.format(factor=1))
    return tmp_path


@pytest.mark.deep
@compiling
def test_a_second_process_compiles_nothing_and_edits_are_seen(folder):
    assert run_main(folder) == (0.0, 1)
    assert run_main(folder) == (0.0, 0)
    (folder / "helpers.py").write_text(HELPERS.format(factor=3))
    assert run_main(folder) == (-1.0, 1)
    assert run_main(folder) == (-1.0, 0)
    for file in (folder / "cache").iterdir():
        if not file.name.startswith("explore-"):
            file.write_bytes(file.read_bytes()[:100])
    assert run_main(folder) == (-1.0, 1)


@pytest.mark.deep
@compiling
def test_rules_written_in_a_script_are_kept_too(folder):
    assert run_main(folder, GAME_FILE) == (0.0, 1)
    assert run_main(folder, GAME_FILE) == (0.0, 0)


@pytest.mark.deep
@compiling
def test_a_cache_that_cannot_be_written_does_no_harm(folder):
    (folder / "file").write_text("not a folder")
    assert run_main(folder, cache=folder / "file" / "cache") == (0.0, 1)


def test_importing_gamedp_loads_neither_numba_nor_scipy():
    script = "import sys, gamedp; print(sorted({'numba', 'scipy', 'numpy'} & set(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


@compiling
def test_a_game_of_some_thousand_states_is_solved_without_what_compiles_rules(tmp_path):
    script = """
import sys, gamedp
from gamedp.games.matches import Matches
print(gamedp.solve(Matches(matches=2000)).statistics.states)
slow = {"gamedp.compiler.bridge", "numpy.ma", "scipy.linalg", "scipy.sparse"}
print(sorted(slow & set(sys.modules)))
"""
    environment = {**os.environ, "GAMEDP_CACHE_DIR": str(tmp_path)}  # no other test's rules
    for _ in range(2):  # the first may have to compile kernels
        command = [sys.executable, "-c", script]
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    states, loaded = ran.stdout.splitlines()
    assert int(states) > build.AT_FIRST.states
    assert loaded == "[]"


def test_the_public_names_are_there():
    for name in gamedp.__all__:
        assert getattr(gamedp, name) is not None
    assert set(gamedp.__all__) <= set(dir(gamedp))
    with pytest.raises(AttributeError, match="No gamedp attribute solv"):
        gamedp.solv  # noqa: B018


class Constant(NamedTuple):
    kind: int
    place: int


class Leap:
    """One step to a place so far that a word of a code has no room for it."""

    def initial_state(self):
        return Constant(7, 0)

    def is_terminal(self, state):
        return state.place != 0

    def actions(self, state):
        yield 0

    def outcomes(self, state, action):
        yield 1.0, Constant(state.kind, 2**62 + 2**60)

    def payoff(self, state, player):
        return float(state.kind)


@pytest.mark.slow
def test_a_field_with_one_value_beside_one_without_room():
    model = gamedp.compile(Leap(), compile="always")
    assert model.state(1) == Constant(7, 2**62 + 2**60)
    assert gamedp.solve(model).value() == 7.0
