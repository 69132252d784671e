"""The conformance kit: good games pass, and every broken one is caught in words."""

from typing import NamedTuple

import attrs
import numpy as np
import pytest
from named_checks import complaints_of, failed_checks
from numba import config

import gamedp
from gamedp.games.matches import Matches, Nim
from gamedp.games.wubbel import Wubbel
from gamedp.testing import ConformanceError, check_game
from gamedp.testing.complaints import DETERMINISTIC, VALUE
from gamedp.testing.game_checks import (
    ACTIONS,
    ACYCLIC,
    CANONICAL,
    COMPILED,
    ERRORS,
    HEURISTIC,
    IS_STATE,
    MOVER,
    NAMES,
    NUMBERS,
    PATTERNS,
    PROBABILITIES,
    STATES,
    STEPS,
    VIEWS,
)


class Spot(NamedTuple):
    player: int
    left: int


@attrs.frozen
class Good:
    """Take one or two; who takes the last wins. Players swap through `canonical`."""

    left: int = 6
    num_players = 2
    constant_sum = 1.0
    acyclic = True

    def initial_state(self):
        return Spot(0, self.left)

    def is_terminal(self, state):
        return state.left == 0

    def player(self, state):
        return state.player

    def actions(self, state):
        yield 1
        if state.left > 1:
            yield 2

    def outcomes(self, state, action):
        yield 1.0, Spot(1 - state.player, state.left - action)

    def payoff(self, state, player):
        return 0.0 if player == state.player else 1.0

    def canonical(self, state):
        return Spot(0, state.left), state.player == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "game", [Good(), Wubbel(goal=8), Wubbel(goal=8, grace=True), Matches(), Nim((2, 3))], ids=repr
)
def test_good_games_pass(game):
    report = check_game(game)
    assert report.complete
    assert report.compiled
    assert "canonical is a symmetry" in str(report)


def test_steps_are_checked_where_they_are_told():
    assert STEPS in check_game(Matches(), compile=False).checks
    assert STEPS not in check_game(Good(), compile=False).checks
    assert STEPS not in check_game(Horizon(), compile=False).checks


def test_only_so_many_states():
    report = check_game(Wubbel(), max_states=50, compile=False)
    assert (report.positions, report.complete) == (50, False)
    assert report.states == 28
    assert "there are more" in str(report)


class Throw(Good):
    """First a throw decides who begins; what follows a drawn game is another such throw."""

    acyclic = False

    def initial_state(self):
        return Spot(0, -1)

    def is_terminal(self, state):
        return state.left in {0, -2}

    def actions(self, state):
        yield 1
        if state.left > 1:
            yield 2

    def outcomes(self, state, action):
        if state.left == -1:
            yield 0.5, Spot(0, self.left)
            yield 0.5, Spot(1, self.left)
        elif state.left > action:
            yield 1.0, Spot(1 - state.player, state.left - action)
        else:
            yield 0.5, Spot(1 - state.player, 0)
            yield 0.25, Spot(0, -1)
            yield 0.25, Spot(0, -2)

    def payoff(self, state, player):
        return 0.5 if state.left == -2 else super().payoff(state, player)

    def canonical(self, state):
        return Spot(0, state.left), state.player == 1 and state.left >= 0


def test_positions_that_are_their_own_mirror_image():
    report = check_game(Throw(), compile=False)
    assert (report.states, report.positions) == (9, 16)


def test_the_same_may_be_done_in_more_ways_than_one():
    """How often it can be done does not matter: one action of the representative is enough."""
    solution = gamedp.solve(Twice(), compile="never")
    assert len(solution.actions(Spot(1, 5))) == 3
    assert check_game(Twice(), compile=False).complete


def test_arrays_in_games_are_fine():
    assert check_game(TableWithoutHash(), compile=False).complete


class Forgetful(Good):
    calls = 0

    def actions(self, state):
        Forgetful.calls += 1
        return [1, 2][: 1 + Forgetful.calls % 2]


class Repeats(Good):
    def actions(self, state):
        return [1, 1]


class Idle(Good):
    def actions(self, state):
        return []


class Wordy(Good):
    def actions(self, state):
        return [["one"]]


class Short(Good):
    def outcomes(self, state, action):
        yield 0.9, Spot(1 - state.player, state.left - 1)


class Negative(Good):
    def outcomes(self, state, action):
        yield -0.5, Spot(1 - state.player, state.left - 1)
        yield 1.5, Spot(1 - state.player, 0)


class Pairless(Good):
    def outcomes(self, state, action):
        yield Spot(1 - state.player, state.left - 1)[1:]


class Elsewhere(Good):
    def outcomes(self, state, action):
        yield 1.0, "the end"


class Listed(Good):
    def outcomes(self, state, action):
        yield 1.0, Spot([1 - state.player], state.left - 1)

    def canonical(self, state):
        return state, False


class Generous(Good):
    def payoff(self, state, player):
        return 1.0


class Endless(Good):
    def payoff(self, state, player):
        return float("nan")


class Rewarding(Good):
    def reward(self, state, action, player):
        return 1.0


class Restless(Good):
    def canonical(self, state):
        return Spot(1 - state.player, state.left), True


class Lopsided(Good):
    """Swaps the players without changing who wins."""

    def payoff(self, state, player):
        return float(player)


class Careless(Good):
    """Merges positions that are not alike."""

    def canonical(self, state):
        return Spot(0, min(state.left, 3)), state.player == 1


class Alone(Good):
    num_players = 1


class Stranger(Good):
    def player(self, state):
        return 7


class Circular(Good):
    def outcomes(self, state, action):
        yield 0.5, Spot(1 - state.player, state.left - action)
        yield 0.5, state


class Mute(Good):
    def render(self, state):
        return 5


class Nameless(Good):
    def action_name(self, state, action):
        return action


class Wordless(Good):
    def outcome_name(self, state, action, outcome):
        return outcome


class Drawing(Good):
    def view(self, state):
        return "6 left"


class Misplaced(Good):
    def view(self, state):
        return gamedp.views.Heaps((state.left,), spots={state.left: (0, 1)} if state.left else {})


class Unlike(Good):
    def pattern(self, state):
        return gamedp.views.Pattern(row=[("six", 6)])


class Misled(Good):
    def pattern(self, state):
        return gamedp.views.Pattern(row=[("none", Spot(0, 0))], here=0)


class Lecturing(Good):
    def pattern(self, state):
        return "the mover wins"


class Horizon(Good):
    steps = 3  # no method, so not what tells of a move


class Wandering(Good):
    def view(self, state):
        return gamedp.views.Heaps((state.left,))

    def steps(self, state, action, outcome):
        return [("taken", gamedp.views.Heaps((state.left + 1,)))]


class Silent(Good):
    def steps(self, state, action, outcome):
        return ["taken"]


class Babbling(Good):
    def steps(self, state, action, outcome):
        return [("taken", self.view(state))] * 1001

    def view(self, state):
        return gamedp.views.Heaps((state.left,))


class Showing(Good):
    def outcome_view(self, state, action, outcome):
        return outcome


class Unsure(Good):
    def heuristic(self, state, player):
        return float("inf")


class Denying(Good):
    def is_state(self, state):
        return state.left != 3


class Shared(Good):
    """Merges positions with who is to move, but tells the players apart."""

    def canonical(self, state):
        return Spot(0, state.left), False


class Distant(Good):
    """A position far from the start is merged with one that is not alike."""

    def canonical(self, state):
        if state == (1, 1):
            return Spot(1, 0), False
        return state, False


class Twice(Good):
    """Player 1 may take two with either hand."""

    def actions(self, state):
        return [1] if state.left == 1 else [1, 2, 3][: 2 + state.player]

    def outcomes(self, state, action):
        yield 1.0, Spot(1 - state.player, state.left - min(action, 2))


class Summed(Good):
    num_players = 1

    def canonical(self, state):
        return state, False

    def player(self, state):
        return 0


@attrs.define(unsafe_hash=True)
class Loose:
    left: int = 6
    num_players = 2
    constant_sum = 1.0
    initial_state, is_terminal, player = Good.initial_state, Good.is_terminal, Good.player
    actions, outcomes, payoff = Good.actions, Good.outcomes, Good.payoff


@attrs.frozen
class Doubling(Good):
    more: int = attrs.field(default=1, converter=lambda number: 2 * number)


@attrs.frozen
class Table(Good):
    more: np.ndarray = attrs.field(factory=lambda: np.arange(3), eq=attrs.cmp_using(np.array_equal))


@attrs.frozen
class TableWithoutHash(Good):
    more: np.ndarray = attrs.field(
        factory=lambda: np.arange(3), eq=attrs.cmp_using(np.array_equal), hash=False
    )


@attrs.define(unsafe_hash=True)
class Changeable:
    left: int


class Melting(Good):
    """States that can be changed after they were met."""

    num_players = 1
    constant_sum = 0.0

    def initial_state(self):
        return Changeable(2)

    def is_terminal(self, state):
        return state.left == 0

    def player(self, state):
        return 0

    def actions(self, state):
        return [1]

    def outcomes(self, state, action):
        return [(1.0, Changeable(state.left - 1))]

    def payoff(self, state, player):
        return 0.0

    def canonical(self, state):
        return state, False


class Huge(Good):
    def actions(self, state):
        return [2**40]


class Raising(Good):
    def actions(self, state):
        raise RuntimeError(state)


@pytest.mark.parametrize(
    ("game", "checks", "words"),
    [
        (
            Forgetful(),
            {DETERMINISTIC},
            "actions(Spot(player=0, left=6)) is [1, 2] first and [1] then",
        ),
        (Repeats(), {ACTIONS}, "repeats itself: [1, 1]"),
        (Idle(), {ACTIONS}, "Spot(player=0, left=6) is not terminal and has no actions"),
        (Wordy(), {ACTIONS}, "action ['one'] in Spot(player=0, left=6) is neither an integer of"),
        (Short(), {PROBABILITIES}, "outcomes(Spot(player=0, left=6), 1) sum to 0.9"),
        (Negative(), {PROBABILITIES}, "have probabilities [-0.5, 1.5]"),
        (Pairless(), {PROBABILITIES}, "not (probability, state) pairs"),
        (Elsewhere(), {STATES}, "leads to 'the end', not a Spot"),
        (Listed(), {STATES}, "unhashable type"),
        (Generous(), {NUMBERS}, "1.0 and 1.0, which do not add up to 1.0"),
        (Endless(), {NUMBERS, CANONICAL}, "0) is nan"),
        (Rewarding(), {NUMBERS}, "reward(Spot(player=0, left=6), 1, player) are 1.0 and 1.0"),
        (Restless(), {CANONICAL}, "must represent itself"),
        (
            Lopsided(),
            {CANONICAL},
            "they do not correspond: their payoffs are (1.0, 0.0) and (0.0, 1.0)",
        ),
        (
            Careless(),
            {CANONICAL},
            "but they do not correspond: action 1 in Spot(player=1, left=5) earns (0.0, 0.0) and",
        ),
        (Alone(), {MOVER, NUMBERS, CANONICAL}, "swaps players, but there are not two"),
        (Stranger(), {MOVER, CANONICAL}, "is 7 of 2 players"),
        (Circular(), {ACYCLIC}, "claims to be acyclic, but play can go"),
        (Mute(), {NAMES}, "render(Spot(player=0, left=6)) is not text"),
        (Nameless(), {NAMES}, "action_name(Spot(player=0, left=6), 1) is not text"),
        (Wordless(), {NAMES}, "outcome_name(Spot(player=0, left=6), 1, 0) is not text"),
        (
            Drawing(),
            {VIEWS},
            "view(Spot(player=0, left=6)) is '6 left'; it must be one of the classes of",
        ),
        (
            Misplaced(),
            {VIEWS},
            "view(Spot(player=0, left=6)) has a spot for 6, which is not an action there",
        ),
        (
            Showing(),
            {VIEWS},
            "outcome_view(Spot(player=0, left=6), 1, 0) is 0; it must be one of the classes",
        ),
        (Wandering(), {STEPS}, "steps(Spot(player=0, left=6), 1, 0) ends with another picture"),
        (Silent(), {STEPS}, "has the step 'taken'; a step is (words, view)"),
        (Babbling(), {STEPS}, "has more than 1,000 steps; tell several in one"),
        (Unlike(), {PATTERNS}, "pattern(Spot(player=0, left=6)) calls 6 six, which is not a Spot"),
        (Misled(), {PATTERNS}, "has another position where here says it is"),
        (Lecturing(), {PATTERNS}, "it must be a gamedp.views.Pattern or None"),
        (Unsure(), {HEURISTIC}, "heuristic(Spot(player=0, left=6), 0) is inf"),
        (Denying(), {IS_STATE}, "left=3), which is_state() denies"),
        (
            Shared(),
            {CANONICAL},
            "they do not correspond: player 1 chooses in the one, player 0 in the other",
        ),
        (
            Distant(),
            {CANONICAL},
            "they do not correspond: only in Spot(player=1, left=0) the game is over",
        ),
        (Summed(), {NUMBERS}, "constant_sum is for two players"),
        (Loose(), {VALUE}, "left can be changed; use attrs.frozen"),
        (Doubling(), {VALUE}, "given its own parameters, makes Doubling(left=6, more=4) of it"),
        (Table(), {VALUE}, "; give the field hash=False, or keep a tuple in it"),
        (Melting(), {STATES}, "Changeable(left=1), whose left can be changed"),
        (
            Huge(),
            {ACTIONS},
            "action 1099511627776 in Spot(player=0, left=6) is neither an integer of 32 bits nor",
        ),
        (Raising(), {ERRORS}, "raises RuntimeError: Spot(player=0, left=6)"),
    ],
    ids=lambda value: "" if isinstance(value, (str, set)) else type(value).__name__,
)
def test_broken_games_are_caught(game, checks, words):
    """By these checks alone; `check_game` has the complaints of them all."""
    failed = failed_checks(game, compile=False)
    assert failed.keys() == checks
    assert any(words in message for message in failed.values())
    with pytest.raises(ConformanceError) as caught:
        check_game(game, compile=False)
    assert complaints_of(str(caught.value)) == complaints_of(*failed.values())


def test_many_complaints_are_counted():
    with pytest.raises(ConformanceError, match=r"and \d+ more like this"):
        check_game(Short(left=30), compile=False)


class Textual(Good):
    def payoff(self, state, player):
        return float(sorted({"b": 1, "a": 0}.items())[state.player == player][1])


@pytest.mark.slow
@pytest.mark.skipif(config.DISABLE_JIT, reason="with the JIT disabled nothing compiles")
def test_rules_that_do_not_compile():
    assert not check_game(Textual()).compiled
    with pytest.raises(ConformanceError, match=f"{COMPILED}: the rules of Textual cannot be"):
        check_game(Textual(), compile=True)


def test_a_class_that_pickle_cannot_find():
    class Local(Good):
        pass

    with pytest.raises(ConformanceError, match=r"is a value: pickle fails: Can.*Local"):
        check_game(Local(), compile=False)


def test_no_game():
    with pytest.raises(TypeError, match="has no method initial_state"):
        check_game(object())
    assert issubclass(ConformanceError, gamedp.GamedpError)
