"""Rules that mislead: refused in words that name the place, before a wrong number comes out."""

import itertools
import math
import time
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import attrs
import numpy as np
import pytest
from numba import config

import gamedp
from gamedp.cli import main
from gamedp.compiler import build, limits, spot_check
from gamedp.rules.expand import expand

MODES = ["never", "always"]
compiling = pytest.mark.skipif(config.DISABLE_JIT, reason="with the JIT disabled nothing compiles")


class Spot(NamedTuple):
    """How many steps are left."""

    left: int


@attrs.frozen
class Countdown:
    """One step after the other, to the end."""

    start: int = 5

    def initial_state(self):
        """Return the first state."""
        return Spot(self.start)

    def is_terminal(self, state):
        """Say whether no step is left."""
        return state.left == 0

    def actions(self, state):
        """Return the one action."""
        return range(1)

    def outcomes(self, state, action):
        """Yield the next step."""
        yield 1.0, Spot(state.left - 1)

    def payoff(self, state, player):
        """Return 1."""
        return 1.0


def odd(**members):
    """Return a countdown with other members."""
    return type("Odd", (Countdown,), members)()


REFUSED = {
    "a sum that is nan": ({"num_players": 2, "constant_sum": math.nan}, "constant_sum is nan"),
    "a sum of text": ({"num_players": 2, "constant_sum": "1"}, "constant_sum is '1'"),
    "2.7 players": ({"num_players": 2.7}, "num_players is 2.7; it must be an integer"),
    "a third as a sum": (
        {"num_players": 2, "constant_sum": Fraction(1, 3)},
        "constant_sum is Fraction(1, 3), which no 64-bit float is equal to. Scale all payoffs",
    ),
    "a sum beyond 53 bits": (
        {"num_players": 2, "constant_sum": 2**53 + 1},
        "constant_sum is 9007199254740993, which no 64-bit float is equal to",
    ),
    "such a sum of numpy's": (
        {"num_players": 2, "constant_sum": np.int64(2**53 + 1)},
        "constant_sum is np.int64(9007199254740993), which no 64-bit float is equal to",
    ),
    "no players": ({"num_players": 0}, "num_players is 0; it must be an integer, 1 to 127"),
    "nine tenths of a player": (
        {"num_players": 2, "player": lambda self, state: 0.9},
        "player(Spot(left=5)) is 0.9; it must be one player's number",
    ),
    "two players at once": (
        {"num_players": 2, "player": lambda self, state: (0, 1)},
        "player(Spot(left=5)) is (0, 1); one player moves at a time",
    ),
    "a payoff of text": (
        {"payoff": lambda self, state, player: "7"},
        "payoff(Spot(left=0), 0) is '7'; it must be one finite number",
    ),
    "a payoff that is masked": (
        {"payoff": lambda self, state, player: np.ma.masked},
        "payoff(Spot(left=0), 0) is masked; it must be one finite number",
    ),
    "a payoff beyond doubles": (
        {"payoff": lambda self, state, player: 10**400},
        "it must be one finite number",
    ),
    "a probability of text": (
        {"outcomes": lambda self, state, action: [("1.0", Spot(state.left - 1))]},
        "contain ('1.0', Spot(left=4)), which is not a (probability, state) pair",
    ),
    "a list as a state": (
        {"initial_state": lambda self: [0, 5]},
        "the initial states are [0, 5]. A list means (probability, state) pairs; if this is one",
    ),
    "a list in a state": (
        {"initial_state": lambda self: (0, [5])},
        "cannot be a state: unhashable type: 'list'",
    ),
    "no outcomes": (
        {"outcomes": lambda self, state, action: iter(())},
        "the outcomes of action 0 in Spot(left=5): outcomes yielded nothing",
    ),
    "nan in a state": (
        {"initial_state": lambda self: (0, (1.0, math.nan))},
        "(0, (1.0, nan)) holds nan, which is not equal to itself",
    ),
}


@pytest.mark.slow
@pytest.mark.usefixtures("compile_at_once")
@pytest.mark.parametrize("compile", ["never", "auto"])
@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.filterwarnings("ignore::gamedp.errors.CompilationWarning")
def test_what_makes_no_sense_is_refused_in_words(name, compile):
    members, words = REFUSED[name]
    with pytest.raises(gamedp.InvalidModelError) as caught:
        gamedp.compile(odd(**members), compile=compile)
    assert words in str(caught.value)


SEARCHERS = [
    gamedp.searchers.AlphaBeta(),
    gamedp.searchers.Expectiminimax(),
    gamedp.searchers.Minimax(),
    gamedp.searchers.MaxN(),
]


@pytest.mark.parametrize("searcher", SEARCHERS, ids=lambda searcher: type(searcher).__name__)
@pytest.mark.parametrize("name", ["nine tenths of a player", "a payoff of text", "2.7 players"])
def test_searchers_refuse_it_too(name, searcher):
    members, words = REFUSED[name]
    with pytest.raises(gamedp.InvalidModelError) as caught:
        searcher.search(odd(**members), compile="never")
    assert words in str(caught.value)


@compiling
def test_a_player_that_numba_would_round_is_refused():
    late = odd(
        start=5,
        num_players=2,
        player=lambda self, state: 0.9 if state.left == 2 else 0.0,
    )
    words = r"player\(\) returns values of type float64|player\(Spot\(left=5\)\) is 0.0"
    with pytest.raises((gamedp.InvalidModelError, gamedp.errors.CompilationError), match=words):
        gamedp.compile(late, compile="always")


@pytest.mark.parametrize("searcher", SEARCHERS, ids=lambda searcher: type(searcher).__name__)
@pytest.mark.parametrize("payoff", [Fraction(1, 3), 2**53 + 1, Fraction(1, 2), 2**53], ids=str)
def test_searchers_refuse_payoffs_that_they_would_round(searcher, payoff):
    game = odd(payoff=lambda self, state, player: payoff)
    if Fraction(float(payoff)) == payoff:
        assert searcher.search(game, compile="never").value() == payoff
    else:
        with pytest.raises(gamedp.InvalidModelError, match="which no 64-bit number is equal to"):
            searcher.search(game, compile="never")


class Loose:  # noqa: PLW1641 - the very mistake that is tested
    """A state that can be compared, but has no hash."""

    def __init__(self, left):
        self.left = left

    def __eq__(self, other):
        return self.left == other.left


def test_equality_without_a_hash_is_named():
    with pytest.raises(gamedp.InvalidModelError, match="Loose defines __eq__ without __hash__"):
        gamedp.compile(odd(initial_state=lambda self: Loose(5)), compile="never")


def test_masked_arrays_are_refused():
    masked = np.ma.masked_array([1.0, 2.0], [False, True])
    with pytest.raises(gamedp.InvalidModelError, match="rewards is a masked array"):
        gamedp.Model.from_arrays([0, 1, 2], [0, 1, 2], [0, 1], [1.0, 1.0], rewards=masked)
    with pytest.raises(gamedp.InvalidModelError, match="successors is a masked array"):
        gamedp.Model.from_arrays(
            [0, 1, 2], [0, 1, 2], np.ma.masked_array([0, 1], [False, True]), [1.0, 1.0]
        )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rewards": np.array(["7", 1], object)}, "rewards holds object; it must hold real"),
        ({"constant_sum": "1", "num_players": 2}, "constant_sum is '1'"),
        ({"initial": [("0.5", 0), (0.5, 1)]}, "initial contains"),
        ({"num_players": 2.7}, "num_players is 2.7"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_text_is_no_number_in_arrays(options, words):
    with pytest.raises(gamedp.InvalidModelError, match=words):
        gamedp.Model.from_arrays([0, 1, 2], [0, 1, 2], [0, 1], [1.0, 1.0], **options)


# Rules that do not repeat their answers -----------------------------------------------------------


class Board:
    """Cells that can be changed in place; equal boards have the same hash."""

    def __init__(self, cells):
        self.cells = cells

    def __eq__(self, other):
        return self.cells == other.cells

    def __hash__(self):
        return hash(tuple(self.cells))

    def __repr__(self):
        return f"Board({self.cells})"


def placed(state):
    """Put a stone on the board itself."""
    state.cells[state.cells.index(0)] = 1
    return state


RNG = np.random.default_rng(1)


class Fickle:
    """Rules that remember how often they were asked."""

    def __init__(self, kind, length=40):
        self.kind = kind
        self.length = length
        self.asked = 0

    def initial_state(self):
        """Return the first state."""
        return Spot(self.length)

    def is_terminal(self, state):
        """Say whether no step is left."""
        return state.left == 0

    def actions(self, state):
        """Yield both actions in an order that may change."""
        self.asked += self.kind == "actions"
        return (1, 0) if self.asked > self.length else (0, 1)

    def outcomes(self, state, action):
        """Yield the next steps, with chances that may change."""
        chance = RNG.random() if self.kind == "outcomes" else 0.5
        return [(chance, Spot(state.left - 1)), (1 - chance, Spot(0))]

    def payoff(self, state, player):
        """Return what may change."""
        return RNG.random() if self.kind == "payoff" else 1.0

    def reward(self, state, action, player):
        """Return what may change."""
        return RNG.random() if self.kind == "reward" else 0.0


FICKLE = {
    "outcomes": r"action 0 in Spot\(left=40\) yields .* when asked again",
    "payoff": r"the payoffs in Spot\(left=0\) are .*, when asked again",
    "reward": r"action 0 in Spot\(left=40\) yields .* when asked again",
    "actions": r"the actions in Spot\(left=\d+\) are \[0, 1\], when asked again \[1, 0\]",
}


@pytest.mark.parametrize("kind", FICKLE)
def test_rules_that_change_their_answers_are_refused(kind):
    with pytest.raises(gamedp.InvalidModelError, match=FICKLE[kind]) as caught:
        gamedp.solve(Fickle(kind), compile="never")
    assert "the rules answer differently when asked twice" in str(caught.value)


def test_states_that_are_changed_in_place_are_refused():
    board = odd(
        initial_state=lambda self: Board([0, 0, 0]),
        is_terminal=lambda self, state: all(state.cells),
        outcomes=lambda self, state, action: [(1.0, placed(state))],
    )
    with pytest.raises(gamedp.InvalidModelError, match=r"Board\(.*\) was changed in place"):
        gamedp.solve(board, compile="never")
    first = Board([0, 0, 0])

    def remembered(self, state, player):
        first.cells.append(1)  # a state met before, as the game ends
        return 1.0

    other = odd(
        initial_state=lambda self: first,
        is_terminal=lambda self, state: all(state.cells),
        outcomes=lambda self, state, action: [(1.0, placed(Board(list(state.cells))))],
        payoff=remembered,
    )
    with pytest.raises(gamedp.InvalidModelError, match=r"Board\(.*\) is another state now"):
        gamedp.solve(other, compile="never")


@attrs.frozen
class Drawn(Countdown):
    """Rules that draw random numbers, in a way that numba compiles as well."""

    def outcomes(self, state, action):
        """Yield the next steps, with random chances."""
        chance = np.random.random()  # noqa: NPY002 - what numba knows
        yield chance, Spot(state.left - 1)
        yield 1 - chance, Spot(0)


@pytest.mark.parametrize("mode", MODES)
def test_random_numbers_are_noticed_in_both_tiers(mode):
    with pytest.raises(gamedp.InvalidModelError, match="answer differently when asked twice"):
        gamedp.compile(Drawn(), compile=mode)


def test_asking_again_is_a_small_share():
    counted = []

    def outcomes(self, state, action):
        counted.append(state)
        return [(1 / 8, Spot(max(0, state.left - step))) for step in range(1, 9)]

    long = odd(outcomes=outcomes, initial_state=lambda self: Spot(4000))
    model = gamedp.compile(long, compile="never")
    again = len(counted) - model.num_choices
    assert 1 < again * 8 <= max(1000, model.num_transitions // 32) + 8


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_asking_again_takes_little_time_and_is_counted(mode, monkeypatch):
    game = Countdown(start=60)
    asked = []

    def slowly(rules, state):
        asked.append(state)
        time.sleep(0.02)
        return expand(rules, state)

    monkeypatch.setattr(spot_check, "expand", slowly)
    model = gamedp.compile(game, compile=mode)
    assert len(set(asked)) == len(asked) >= spot_check.SPOT_CHECKS
    asked.clear()
    monkeypatch.setattr(spot_check, "MOST_SECONDS", 0.0)
    model = gamedp.compile(game, compile=mode)
    assert len(asked) == spot_check.MIN_SPOT_CHECKS
    assert {asked[0], asked[1]} == {model.state(0), model.state(model.num_states - 1)}
    assert model.seconds["explore"] >= 0.02 * spot_check.MIN_SPOT_CHECKS


# What a limit says --------------------------------------------------------------------------------


@attrs.frozen
class Growing(Countdown):
    """Play that never ends, in a field that grows."""

    def outcomes(self, state, action):
        """Yield the next number."""
        yield 1.0, Spot(state.left + 1)


@pytest.mark.parametrize("mode", MODES)
def test_a_limit_shows_what_grows(mode):
    with pytest.raises(gamedp.errors.LimitExceededError) as caught:
        gamedp.compile(Growing(), compile=mode, max_states=500)
    text = str(caught.value)
    assert "still to explore" in text
    late = [int(part.split(")")[0]) for part in text.split("Spot(left=")[1:]]
    assert len(late) == 3
    assert min(late) >= 500
    assert "If a field grows without end, bound it" in text


def test_long_texts_are_cut():
    long = odd(
        initial_state=lambda self: tuple(range(5000)),
        is_terminal=lambda self, state: False,
        outcomes=lambda self, state, action: [(0.5, state)],
    )
    with pytest.raises(gamedp.InvalidModelError) as caught:
        gamedp.compile(long, compile="never")
    assert "(0, 1, 2, 3" in str(caught.value)
    assert "4998, 4999)" in str(caught.value)
    assert len(str(caught.value)) < 600
    for state in (tuple(range(5000)), "x" * 5000):
        with pytest.raises(gamedp.errors.UnknownStateError) as unknown:
            gamedp.compile(Countdown(), compile="never").index(state)
        assert len(str(unknown.value)) < 600


@pytest.mark.usefixtures("compile_at_once")
@pytest.mark.parametrize("left", [2**63, -(2**70)])
def test_an_initial_state_beyond_64_bits_is_for_plain_python(left):
    ends = odd(
        initial_state=lambda self: Spot(left),
        outcomes=lambda self, state, action: [(1.0, Spot(0))],
    )
    with pytest.warns(gamedp.errors.CompilationWarning, match="has a field beyond 64 bits"):
        assert gamedp.solve(ends).value() == 1.0
    with pytest.raises(gamedp.errors.CompilationError, match="has a field beyond 64 bits"):
        gamedp.compile(ends, compile="always")


# Rules that fail in a search ----------------------------------------------------------------------


@attrs.frozen
class Stumbling(Countdown):
    """Estimates that fail near the end."""

    at: int = 2
    kind: int = 0

    def heuristic(self, state, player):
        """Divide by zero in one state."""
        return 1.0 / (state.left - self.at) if self.kind == 0 else 0.0

    def value_range(self, state, player):
        """Divide by zero in one state."""
        return -2.0, 2.0 + (1.0 / (state.left - self.at) if self.kind == 1 else 0.0)


@pytest.mark.parametrize("searcher", SEARCHERS, ids=lambda searcher: type(searcher).__name__)
@pytest.mark.parametrize("kind", [0, 1])
def test_what_rules_raise_in_a_search_comes_through(searcher, kind):
    with pytest.raises(ZeroDivisionError) as caught:
        attrs.evolve(searcher, depth=3).search(Stumbling(kind=kind), compile="never")
    method = ("heuristic", "value_range")[kind]
    assert caught.value.__notes__ == [f"gamedp: raised by the rules in {method}(Spot(left=2), 0)"]


@attrs.frozen
class Sour(Countdown):
    """The payoffs fail where the game ends, many moves away."""

    def payoff(self, state, player):
        """Divide by zero."""
        return 1.0 / state.left


@pytest.mark.parametrize(
    "searcher",
    [gamedp.searchers.AlphaBeta(), gamedp.searchers.Expectiminimax(), gamedp.searchers.Minimax()],
    ids=lambda searcher: type(searcher).__name__,
)
def test_what_rules_raise_far_away_in_a_compiled_search_is_placed(searcher):
    with pytest.raises(ZeroDivisionError) as caught:
        searcher.search(Sour())
    assert caught.value.__notes__ == ["gamedp: raised by the rules in payoff(Spot(left=0), 0)"]


# Rules that fail on the command line -------------------------------------------------------------

FAILING = """
from typing import NamedTuple


class Spot(NamedTuple):
    left: int


class Failing:
    def initial_state(self):
        return Spot(5)

    def is_terminal(self, state):
        return state.left == 0

    def actions(self, state):
        return range(1)

    def outcomes(self, state, action):
        yield 1.0 / undefined, Spot(state.left - 1)

    def payoff(self, state, player):
        return 1.0
"""


@pytest.mark.parametrize("compile", ["auto", "never"])
def test_what_rules_raise_is_one_line_on_the_command_line(tmp_path, capsys, compile):
    file = tmp_path / f"failing_{compile}.py"
    file.write_text(FAILING)
    assert main(["solve", f"{file}:Failing", "--compile", compile]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert said.startswith(
        "gamedp: NameError: name 'undefined' is not defined, raised by the rules"
    )
    assert "in outcomes(Spot(left=5), 0)" in said
    assert f"{file}, line 20: yield 1.0 / undefined, Spot(state.left - 1)" in said
    with pytest.raises(NameError):
        main(["solve", f"{file}:Failing", "--compile", compile, "--debug"])


def test_debug_shows_the_way_of_our_own_errors_too(capsys):
    assert main(["solve", "no-such-game"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    with pytest.raises(gamedp.errors.UnknownNameError):
        main(["solve", "no-such-game", "--debug"])


class Place(NamedTuple):
    row: int
    column: int


@attrs.frozen
class Plane(Countdown):
    """A walk on a plane, with a border or without."""

    width: int = 2**62

    def initial_state(self):
        """Begin in the corner."""
        return Place(0, 0)

    def is_terminal(self, state):
        """Say whether the end is there."""
        return state.column >= 2

    def actions(self, state):
        """Return the only action."""
        return (0,)

    def outcomes(self, state, action):
        """Yield two steps."""
        yield 0.5, Place(min(state.row + 1, self.width), state.column)
        yield 0.5, Place(state.row, state.column + 1)

    def payoff(self, state, player):
        """Return the payoff."""
        return 1.0


@pytest.mark.parametrize("mode", MODES)
def test_a_field_that_goes_on_growing_is_named_before_memory_is_full(mode, monkeypatch):
    monkeypatch.setattr(limits, "STATES_BEFORE_WARNING", 2000)
    monkeypatch.setattr(build, "INTERPRETED_STATES_BEFORE_WARNING", 2000)
    with (
        pytest.warns(RuntimeWarning, match=r"row has grown from [\d,]+ to [\d,]+\. If") as caught,
        pytest.raises(gamedp.errors.LimitExceededError),
    ):
        gamedp.compile(Plane(), compile=mode, max_bytes=2e7)
    assert len(caught) == 1
    assert "column" not in str(caught[0].message)
    assert Path(caught[0].filename) == Path(__file__)  # the line that has called gamedp
    # Who sets a limit knows, and where it ends nothing is said.
    with pytest.raises(gamedp.errors.LimitExceededError):
        gamedp.compile(Plane(), compile=mode, max_states=40_000)


class TurnInGame:
    """Two players in turn, of whom the game and not the state knows who is to move."""

    num_players = 2

    def __init__(self):
        self.turn = 0

    def initial_state(self):
        return (0, 0)

    def is_terminal(self, state):
        return state[0] >= 5

    def actions(self, state):
        return [1, 2]

    def outcomes(self, state, action):
        self.turn = 1 - self.turn
        return [(1.0, (state[0] + action, action))]

    def player(self, state):
        return self.turn

    def payoff(self, state, player):
        return state[1] if player == 0 else -state[1]


class DrawnStart(TurnInGame):
    num_players = 1
    starts = itertools.cycle([(0, 0), (1, 0), (1, 0)])

    def initial_state(self):
        return next(self.starts)


@pytest.mark.parametrize("kind", [TurnInGame, DrawnStart])
def test_rules_that_answer_otherwise_each_time_are_refused(kind):
    with pytest.raises(gamedp.InvalidModelError, match="answer differently when asked twice"):
        gamedp.solve(kind(), compile="never")
