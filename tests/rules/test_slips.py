"""What somebody who writes a first game gets wrong is named, with the way out."""

import enum
import functools
import itertools
import re
import warnings
from typing import NamedTuple

import attrs
import numpy as np
import pytest
from staged_games import Journey

import gamedp
from gamedp.compiler import build, limits
from gamedp.play import RandomPlayer
from gamedp.rules import expand as rules, game as games
from gamedp.rules.game import Rules
from gamedp.testing import check_game, check_searcher


class Square(NamedTuple):
    """Who is to move, and where both stand."""

    who: int
    mine: int
    yours: int


class Members:
    """A race for two, as members to make classes of."""

    def initial_state(self):
        """Return the start of the track."""
        return Square(0, 0, 0)

    def is_terminal(self, state):
        """Say whether somebody has come to the end."""
        return state.yours >= 3

    def player(self, state):
        """Return who is to move."""
        return state.who

    def actions(self, state):
        """Yield one step and two."""
        return [1, 2]

    def outcomes(self, state, action):
        """Yield what the coin says."""
        yield 0.5, Square(1 - state.who, state.yours, state.mine + action)
        yield 0.5, Square(1 - state.who, state.yours, state.mine + 3 - action)

    def payoff(self, state, player):
        """Return 1 to who has won."""
        return 1.0 if player != state.who else 0.0


def race(**changes):
    """Return a game with some members of the race left out, renamed or exchanged."""
    members = {name: value for name, value in vars(Members).items() if not name.startswith("__")}
    members |= {"num_players": 2, "constant_sum": 1.0} | changes
    kept = {name: value for name, value in members.items() if value is not None}
    return type("Race", (), kept)()


class Side(enum.Enum):
    """Players by name."""

    WHITE = "w"


SLIPS = {
    "method": (
        {"canonicl": lambda self, state: (state, False)},
        r"Race has canonicl.*If you mean canonical",
    ),
    "exchanged": (
        {"reward": None, "rewrad": lambda self, state, action, player: 0.0},
        r"has rewrad.*If you mean reward",
    ),
    "value": (
        {"num_players": None, "num_player": 2, "player": None},
        r"has num_player, .*If you mean num_players",
    ),
    "players": ({"num_players": None, "player": None}, r"payoff depends on the player.*= 2"),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_that_still_is_a_game_is_warned_of(slip):
    """Without the warning these are other games, which gamedp would solve without a word."""
    changes, words = SLIPS[slip]
    game = race(**changes)
    with warnings.catch_warnings(record=True) as met:
        warnings.simplefilter("always")
        gamedp.compile(game, compile="never")
        gamedp.compile(game, compile="never")  # each class is warned of once
    matching = [pytest.raises(Warning, match=words).matches(one.message) for one in met]
    assert sum(matching) == 1


def test_no_slip_no_warning():
    """A name of one's own, a field of a name like a method's, and a payoff handed on are fine."""

    @attrs.frozen
    class Single:
        rewards: tuple[float, ...] = (1.0, 2.0)

        def initial_state(self):
            return 2

        def is_terminal(self, state):
            return state == 0

        def actions(self, state):
            return [1]

        def outcomes(self, state, action):
            yield 1.0, state - 1

        def payoff(self, state, player):
            return self.rewards[state]

    class Handed(Single):
        def payoff(self, state, player):
            return 2 * super().payoff(state, player)

    for game in (Single(), Handed()):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            gamedp.compile(game, compile="never")


class Place(NamedTuple):
    """A state with a field of the name that an argument of payoff has."""

    player: int


def test_a_field_of_that_name_is_no_player():
    """A payoff may read `state.player` without its argument `player`."""
    game = race(
        num_players=None,
        player=None,
        initial_state=lambda self: Place(0),
        is_terminal=lambda self, state: state.player == 1,
        outcomes=lambda self, state, action: [(1.0, Place(1))],
        payoff=lambda self, state, player: float(state.player),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert gamedp.solve(game, compile="never").value() == 1.0


def test_explain_says_that_a_player_never_moves():
    """A game of two in which player() always says the same."""
    alone = race(player=lambda self, state: 0)
    assert "only player 0 ever moves" in gamedp.explain(alone)
    assert "ever moves" not in gamedp.explain(race())


ASKED = {
    "compile": gamedp.compile,
    "solve": gamedp.solve,
    "explain": gamedp.explain,
    "search": gamedp.search,
    "max-n": lambda game: gamedp.searchers.MaxN().search(game),
    "check_game": check_game,
    "check_searcher": lambda game: check_searcher(gamedp.searchers.AlphaBeta(), {"race": game}),
    "evaluate": lambda game: gamedp.evaluate(game, [lambda state: 1] * 2),
    "simulate": lambda game: gamedp.simulate(game, [lambda state: 1] * 2, games=1),
    "simulate by rules": lambda game: gamedp.simulate(
        game, [lambda state: 1] * 2, games=1, by_rules=True
    ),
    "play": lambda game: gamedp.play.play_game(game, [lambda state, rng: 1] * 2, 0),
    "perft": lambda game: gamedp.searchers.perft(game, 1),
}
"""All that takes a game, with which it is refused before anything is done."""


@pytest.mark.parametrize("verb", ASKED)
@pytest.mark.parametrize("players", [2, 3])
def test_a_game_in_which_nobody_is_said_to_move_is_refused(verb, players):
    """Every move would be player 0's: the value of six matches would be that of a sure win."""
    game = race(player=None, num_players=players, constant_sum=0.0)
    with pytest.raises(gamedp.InvalidModelError, match="does not say who moves: every move would"):
        ASKED[verb](game)


def test_a_misspelt_player_is_named():
    """One letter off."""
    with (
        pytest.warns(RuntimeWarning, match="If you mean player, rename it"),
        pytest.raises(gamedp.InvalidModelError, match="Does playr mean player"),
    ):
        gamedp.solve(race(player=None, playr=Members.player))


def test_players_who_change_places_need_no_method_player():
    """Player 0 is then always the one who moves."""

    def mirrored(_self, state):
        return Square(0, state.mine, state.yours), state.who == 1

    merged = race(player=None, canonical=mirrored)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        value = gamedp.solve(merged, compile="never").value()
    assert value == pytest.approx(gamedp.solve(race(), compile="never").value(), abs=1e-6)
    three = race(player=None, canonical=mirrored, num_players=3, constant_sum=0.0)
    with pytest.raises(gamedp.InvalidModelError, match="does not say who moves"):
        gamedp.solve(three)
    never = race(player=None, canonical=lambda self, state: (state, False))
    with pytest.warns(RuntimeWarning, match="its canonical never lets the players change places"):
        gamedp.solve(never, compile="never")


@pytest.mark.parametrize("mode", ["never", "always"])
def test_who_moves_is_the_same_without_a_method_player(mode):
    """Player 1 does where the players change places to get to the representative."""

    def mirrored(_self, state):
        return Square(0, state.mine, state.yours), state.who == 1

    said, unsaid = race(canonical=mirrored), race(player=None, canonical=mirrored)
    found = []
    for game in (said, unsaid):
        solution = gamedp.solve(game, compile=mode)
        other = RandomPlayer(game)
        options = {"games": 40, "seed": 1, "compile": mode}
        found.append(
            (
                [
                    gamedp.search(game, Square(1, mine, 1), compile=mode).bounds()
                    for mine in (0, 1, 2)
                ],
                gamedp.play.play_game(game, [other, solution], seed=2).actions,
                gamedp.play.match(game, other, solution, **options).mean_difference,
                gamedp.simulate(game, [other, other], by_rules=True, **options).means,
                gamedp.evaluate(game, [other, solution], compile=mode).bounds(),
            )
        )
    assert found[0] == found[1]
    assert Rules(unsaid).player(Square(1, 0, 0)) == 1


def test_the_stage_of_a_staged_game_says_who_moves():
    """Or the contexts change places."""

    class Alone(Journey):
        def stage(self):
            return race(num_players=None, player=None)

    for asked in (gamedp.solve, gamedp.compile, gamedp.explain, gamedp.stages.Flattened):
        with pytest.raises(gamedp.InvalidModelError, match="Alone has num_players = 2, and Race"):
            asked(Alone())


class Round(NamedTuple):
    """A place on a way round."""

    place: int


class Endless:
    """A walk round five places, whose end is a place that there is not."""

    def initial_state(self):
        """Return the first place."""
        return Round(0)

    def is_terminal(self, state):
        """Say whether the walk is over."""
        return state.place == 7

    def actions(self, state):
        """Yield one step and two."""
        yield from (1, 2)

    def outcomes(self, state, action):
        """Yield the next place."""
        yield 1.0, Round((state.place + action) % 5)

    def payoff(self, state, player):
        """Return 1."""
        return 1.0


class Earned(Endless):
    """Each step earns 1."""

    def reward(self, state, action, player):
        """Return 1."""
        return 1.0


FORGOTTEN = r"is_terminal\(state\) is false in all 5 states, as play can go Round\(place=0\) → .*"


def test_a_forgotten_end_is_warned_of():
    """Else the answer is 0.0, proven."""
    for asked in (gamedp.solve, gamedp.explain, check_game):
        with pytest.warns(RuntimeWarning, match=FORGOTTEN + "Is an end missing"):
            asked(Endless())
    model = gamedp.compile(Endless(), compile="never")
    for objective in (None, gamedp.Discounted(0.5), gamedp.FiniteHorizon(3)):
        with pytest.warns(RuntimeWarning, match=FORGOTTEN):
            gamedp.solve(model, objective)


def test_what_is_about_something_else_than_ends_is_not_warned_of():
    """A target, a draw that is declared, a reward."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gamedp.solve(Endless(), gamedp.Reachability([Round(3)]))
        gamedp.solve(Endless(), gamedp.TotalReward("min", until=[Round(3)]))
        gamedp.solve(Endless(), gamedp.TotalReward(draw=0.0))
        gamedp.solve(gamedp.Model.from_arrays([0, 1], [0, 1], [0], [1.0]))  # no game
        gamedp.solve(Earned(), gamedp.Discounted(0.5))


def test_a_missing_method_is_named_with_the_one_that_is_nearly_it():
    """Typed wrong."""
    with pytest.raises(TypeError, match=r"no method is_terminal\..*Does is_terminl mean is_term"):
        gamedp.solve(race(is_terminal=None, is_terminl=Members.is_terminal))


def pairs(*given):
    """Return outcomes that answer with this."""
    return lambda self, state, action: given


WAYS_OUT = {
    "no end of actions": (
        {"actions": lambda self, state: itertools.repeat(1)},
        r"actions\(Square.*: 50 actions and no end",
    ),
    "no end of outcomes": (
        {"outcomes": lambda self, state, action: ((0.5, state) for _ in itertools.count())},
        r"outcomes of action 1 in Square.*: 50 pairs and no end.*return a list",
    ),
    "no probability": ({"outcomes": pairs(Square(0, 0, 1))}, r"pair\. If it is certain.* 1\.0"),
    "wrong order": ({"outcomes": pairs((Square(0, 0, 1), 1.0))}, r"The probability comes first"),
    "one pair": (
        {"outcomes": lambda self, state, action: (1.0, state)},
        r"A single pair is yielded, or returned in a list",
    ),
    "a word": ({"outcomes": pairs("one")}, r"Yield pairs, or return a list of them"),
    "no start": ({"initial_state": lambda self: None}, r"contain None.*Is a return missing\?"),
    "no answer": (
        {"is_terminal": lambda self, state: None},
        r"is_terminal\(Square\(.*is None; it must be True or False\. Is a return missing\?",
    ),
    "a word for an answer": (
        {"is_terminal": lambda self, state: "no"},
        r"is_terminal\(Square\(.*is 'no'; it must be True or False\. bool\(",
    ),
    "a word of numpy's": (
        {"is_terminal": lambda self, state: np.str_("no")},
        r"is_terminal\(Square\(.*no'\)?; it must be True or False",
    ),
    "nan for an answer": (
        {"is_terminal": lambda self, state: float("nan")},
        r"is_terminal\(Square\(.*is nan; it must be True or False",
    ),
    "a text for a probability": ({"outcomes": pairs(("1", 0))}, r"a number, not a text"),
    "no pairs": ({"outcomes": lambda self, state, action: None}, r"pairs\. Is a yield missing\?"),
    "no actions": (
        {"actions": lambda self, state: None},
        r"must yield actions\. Is a yield missing\?",
    ),
    "nobody moves": ({"player": lambda self, state: None}, r"Is a return missing\?"),
    "a side that is no number": (
        {"player": lambda self, state: Side.WHITE},
        r"is <Side\.WHITE: 'w'>; .* Make Side an enum\.IntEnum, numbered from 0",
    ),
    "a name for a player": ({"player": lambda self, state: "w"}, r"Players are numbered from 0"),
    "no payoff": (
        {"payoff": lambda self, state, player: None},
        r"is None; it must be one finite number\. Is a return missing\?",
    ),
    "payoffs for all": (
        {"payoff": lambda self, state, player: (1.0, 0.0)},
        r"is \(1\.0, 0\.0\); .* number\. payoff is asked for one player at a time\.",
    ),
    "no sum": ({"constant_sum": None}, r"If they always add up to 1, set constant_sum = 1\.0"),
}


NO_METHODS = {
    "player": (property(lambda self: 0), r"is a property.*, def player\(self, state\)\."),
    "is_terminal": (
        property(lambda self: False),
        r"property.* def is_terminal\(self, state\)",
    ),
    "initial_state": (property(lambda self: 0), r"is a property.* def initial_state\(self\)\."),
    "reward": (functools.cached_property(len), r"is a property.*\(self, state, action, player\)\."),
    "canonical": (1, r"Race\.canonical is 1; write it as a method"),
    "actions": (
        (1, 2),
        r"Race\.actions is \(1, 2\); write it as a method, def actions\(",
    ),
    "heuristic": (0.5, r"Race\.heuristic is 0\.5; write it as a method"),
}


@pytest.mark.parametrize("kind", [staticmethod, classmethod])
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("player", "state"),
        ("actions", "state"),
        ("payoff", "state, player"),
        ("heuristic", "state, player"),
    ],
)
@pytest.mark.parametrize("ask", [gamedp.solve, gamedp.search])
def test_a_method_without_the_game_is_refused(kind, name, arguments, ask):
    """Compiled rules are called with it; so a game would be one for solving and none to search."""
    game = race(**{name: kind(lambda *given: 0)})
    words = rf"Race\.{name} is a {kind.__name__}; write .* def {name}\(self, {arguments}\)\."
    with pytest.raises(TypeError, match=words):
        (gamedp.search if name == "heuristic" else ask)(game, compile="never")


@attrs.frozen
class Earning(Members):
    """Keeps a number by the name of a method."""

    num_players = 2
    constant_sum = 1.0
    reward: float = 2.0


def test_a_number_by_the_name_of_a_method():
    """An attribute of the object is not in the way of the rules; a field of the class is."""
    game = race()
    game.reward = 2.0
    value = gamedp.solve(game, compile="never").value()
    assert value == gamedp.solve(race(), compile="never").value()
    with pytest.raises(TypeError, match=r"Earning\.reward is a field, .*; rename it"):
        gamedp.solve(Earning(), compile="never")


def test_what_a_staged_game_lacks_is_told_with_its_arguments():
    class Stages:
        following = property(lambda self: None)
        stage = box = initial_state = Members.initial_state
        is_terminal, payoff = Members.is_terminal, Members.payoff

    words = r"Stages\.following is a property.* def following\(self, context, end\)\."
    with pytest.raises(TypeError, match=words):
        gamedp.compile(Stages(), compile="never")

    class Tiered(Stages):
        following = Members.outcomes
        tier = 3

    with pytest.raises(TypeError, match=r"Tiered\.tier is 3; write it as a method"):
        gamedp.compile(Tiered(), compile="never")


def test_what_lacks_methods_is_not_told_of_its_properties():
    """A model has a property is_terminal, and is no game all the same."""
    model = gamedp.compile(race(), compile="never")
    with pytest.raises(TypeError, match=r"Model is not a game: it has no method initial_state"):
        gamedp.search(model)


@pytest.mark.parametrize(
    ("name", "method", "taken", "right"),
    [
        ("reward", lambda self, s, a: 0.0, "self, s, a", "self, state, action, player"),
        ("payoff", lambda self, s: 0.0, "self, s", "self, state, player"),
        ("outcomes", lambda self: [], "self", "self, state, action"),
        ("actions", lambda self, state, more: [], "self, state, more", "self, state"),
        ("initial_state", lambda self, seed: 0, "self, seed", "self"),
    ],
)
def test_a_method_with_other_arguments(name, method, taken, right):
    words = f"Race.{name} takes ({taken}); write it as a method, def {name}({right})."
    with pytest.raises(TypeError, match=re.escape(words)):
        gamedp.solve(race(**{name: method}), compile="never")


def test_more_arguments_with_defaults_and_decorators_are_fine():
    def counted(method):
        @functools.wraps(method)
        def call(*arguments):
            return method(*arguments)

        return call

    class More(Members):
        num_players, constant_sum = 2, 1.0
        actions = counted(Members.actions)

        def payoff(self, state, player, *, scale=1):
            return scale * super().payoff(state, player)

        def is_terminal(self, *state):
            return super().is_terminal(*state)

        def outcomes(self, state, action, times=1):
            return super().outcomes(state, times * action)

    value = gamedp.solve(More(), compile="never").value()
    assert value == gamedp.solve(race(), compile="never").value()


class Inherited(gamedp.Game):
    def initial_state(self):
        return 0

    def is_terminal(self, state):
        return state == 1

    def actions(self, state):
        return [1]

    def outcome(self, state, action):
        return [(1, 1)]


def test_the_empty_methods_of_the_protocol_are_none():
    words = r"has no method outcomes, payoff\..* Does outcome mean outcomes\?"
    with pytest.raises(TypeError, match=words):
        gamedp.solve(Inherited(), compile="never")

    class Stages(gamedp.StagedGame):
        def stage(self):
            return Inherited()

    with pytest.raises(TypeError, match="has no method box, initial_state, is_terminal, payoff, f"):
        gamedp.solve(Stages(), compile="never")


def test_arguments_of_a_staged_game_are_called_so():
    class Stages:
        stage = box = initial_state = Members.initial_state
        is_terminal, payoff, following = Members.is_terminal, Members.payoff, Members.outcomes

        def reward(self, context, player):
            return 0.0

    with pytest.raises(TypeError, match=r"def reward\(self, context, end, player\)\."):
        gamedp.solve(Stages(), compile="never")


STARTS = {
    "none": (None, r"the initial states contain None.* Is a return missing\?"),
    "a list": (
        [0, 1],
        r"A list means \(probability, state\) pairs; if this is one state, use",
    ),
    "a list inside": (
        Square([], 0, 0),
        r"be a state: unhashable .* Use a NamedTuple of ints",
    ),
    "a dict": ({"who": 0}, r"Use a NamedTuple or a tuple instead of a dict"),
}


@pytest.mark.parametrize("what", STARTS)
@pytest.mark.parametrize(
    "ask",
    [gamedp.solve, gamedp.search, lambda game, compile: gamedp.searchers.perft(game, 2)],
)
def test_a_start_that_is_no_state(what, ask):
    """Every verb says the same about it."""
    start, words = STARTS[what]
    with pytest.raises(gamedp.InvalidModelError, match=words):
        ask(race(initial_state=lambda self: start), compile="never")


@pytest.mark.parametrize("answer", [None, "over", float("nan")])
def test_an_answer_below_the_root_that_is_none(answer):
    """Far from the start, where only a search asks; each would count as yes or as no."""
    game = race(
        is_terminal=lambda self, state: answer if state[1:] == (3, 3) else False,
        outcomes=lambda self, state, action: [
            (1.0, Square(1 - state.who, state.yours, state.mine + action))
        ],
    )
    assert gamedp.search(game, depth=2, compile="never").statistics.depth == 2
    words = rf"is_terminal\(Square\(who=\d, mine=3, yours=3\)\) is {answer!r}; it must be True or"
    kinds = gamedp.searchers
    for searcher in (kinds.AlphaBeta(depth=4), kinds.MaxN(depth=4), kinds.Expectiminimax(depth=4)):
        with pytest.raises(gamedp.InvalidModelError, match=words):
            gamedp.search(game, searcher=searcher, compile="never")


def test_a_position_to_search_that_is_no_state():
    with pytest.raises(gamedp.InvalidModelError, match=r"positions to search contain \[0, 0, 0\]"):
        gamedp.search(race(), [0, 0, 0], depth=2, compile="never")


@pytest.mark.parametrize("name", NO_METHODS)
def test_what_should_be_a_method_and_is_not(name):
    member, words = NO_METHODS[name]
    ask = gamedp.search if name == "heuristic" else gamedp.solve
    with pytest.raises(TypeError, match=words):
        ask(race(**{name: member}), compile="never")


def test_names_of_methods_that_are_not_asked_are_free():
    """Who counts positions asks for no estimate; a search without tables, for no tier."""
    assert gamedp.searchers.perft(race(heuristic=3), 1, compile="never")
    assert gamedp.search(race(tier=7, next_in_tier=1), depth=2, compile="never").best_actions


def test_a_method_that_would_be_passed_over_is_refused():
    """Rules call methods of the class; what an object has besides would be another game."""
    game = race(player=None)
    game.player = lambda state: state.who
    with pytest.raises(TypeError, match=r"player is not in the class.* def player\(self, state\)"):
        gamedp.solve(game, compile="never")

    class Wrapper:
        def __getattr__(self, name):
            return getattr(race(), name)

    with pytest.raises(TypeError, match=r"Wrapper\.player is not in the class"):
        gamedp.solve(Wrapper(), compile="never")


class Steps(NamedTuple):
    """A place, and something that grows with the steps to it."""

    place: int
    past: object


@pytest.mark.parametrize(
    ("first", "then", "words"),
    [
        (0, lambda past, step: past + 1 + step, r"past has grown from [\d,.]+ to [\d,.]+"),
        (
            np.int64(0),
            lambda past, step: past + np.int64(1 + step),
            r"past has grown from [\d,.]+ to [\d,.]+",
        ),
        (-1.5, lambda past, step: past - 1.5 - step, r"past has grown from [\d,.]+ to [\d,.]+"),
        ("", lambda past, step: past + "LR"[step], r"the length of past has grown from [\d,.]+ to"),
        ((), lambda past, step: (*past, step), r"the length of past has grown from [\d,.]+ to"),
    ],
)
def test_what_grows_without_end_is_warned_of_early(first, then, words, monkeypatch):
    monkeypatch.setattr(build, "INTERPRETED_STATES_BEFORE_WARNING", 300)
    game = steps(then, lambda past: False, first)
    with (
        pytest.warns(RuntimeWarning, match=f"{words}.*If that has no end, bound it"),
        pytest.raises(gamedp.errors.LimitExceededError),
    ):
        gamedp.solve(game, compile="never", max_bytes=4e6)


class Corner(NamedTuple):
    """A place in a triangle."""

    row: int
    column: int


def steps(then, end, first):
    """Make a race with two ways on from each place, to a last past."""
    return race(
        initial_state=lambda self: Steps(0, first),
        is_terminal=lambda self, state: end(state.past),
        player=lambda self, state: 0,
        actions=lambda self, state: [0, 1],
        outcomes=lambda self, state, step: [(1.0, Steps(step, then(state.past, step)))],
        payoff=lambda self, state, player: 0.5,
    )


@pytest.mark.parametrize(
    ("first", "then", "end"),
    [
        (0, lambda past, step: past + 1 + step, lambda past: past >= 800),
        ("", lambda past, step: past + "LR"[step], lambda past: len(past) == 10),
        (1 << 1100, lambda past, step: past + 1 + step, lambda past: past >= (1 << 1100) + 800),
    ],
    ids=["number", "text", "large number"],
)
def test_what_ends_soon_is_not_warned_of(first, then, end, monkeypatch, recwarn):
    """A number may double once, a text get longer once, and a number be any number."""
    monkeypatch.setattr(build, "INTERPRETED_STATES_BEFORE_WARNING", 300)
    assert gamedp.compile(steps(then, end, first), compile="never").num_states > 1024
    assert not recwarn.list


def test_what_grows_slowly_is_warned_of_late(monkeypatch):
    """In a triangle, both sides grow by 1.41 with twice the states: that has to last long."""
    monkeypatch.setattr(build, "INTERPRETED_STATES_BEFORE_WARNING", 300)
    monkeypatch.setattr(limits, "STATES_BEFORE_WARNING", 2400)
    game = race(
        initial_state=lambda self: Corner(0, 0),
        is_terminal=lambda self, state: False,
        player=lambda self, state: 0,
        actions=lambda self, state: [0],
        outcomes=lambda self, state, action: [
            (
                1.0,
                Corner(state.row + 1, 0)
                if state.column == state.row
                else state._replace(column=state.column + 1),
            )
        ],
    )
    with (
        pytest.warns(
            RuntimeWarning, match=r"row has grown from [\d,]+ to [\d,]+\. If that"
        ) as caught,
        pytest.raises(gamedp.errors.LimitExceededError),
    ):
        gamedp.solve(game, compile="never", max_bytes=2e7)
    assert int(str(caught[0].message).split()[0].replace(",", "")) >= 4800


@pytest.mark.parametrize("kind", [int, float, np.bool_, np.int8])
def test_numbers_say_whether_a_game_is_over_as_truth_values_do(kind):
    terminal = Members.is_terminal
    found = gamedp.compile(
        race(is_terminal=lambda self, state: kind(terminal(self, state))), compile="never"
    )
    assert found.digest() == gamedp.compile(race(), compile="never").digest()


def test_an_endless_start_is_refused(monkeypatch):
    monkeypatch.setattr(games, "MOST_STARTS", 50)
    starts = [(1 / 51, Square(0, 1 + k, 2)) for k in range(51)]
    listed = gamedp.solve(race(initial_state=lambda self: starts), compile="never")
    assert len(listed.model.initial_states) == 51
    for many in (itertools.repeat(starts[0]), iter(starts)):
        with pytest.raises(gamedp.InvalidModelError, match="yields 50 pairs and no end"):
            gamedp.solve(race(initial_state=lambda self, many=many: many), compile="never")


def test_nothing_of_a_long_loop_is_left_out(monkeypatch):
    """Pairs of no probability count, too: what comes after them is not cut off."""
    monkeypatch.setattr(rules, "MOST_IN_A_ROW", 50)
    tiny = 2.0**-31

    def outcomes(self, state, action, idle=49):
        yield 1.0 - tiny, Square(1 - state.who, 3, 3)
        yield from itertools.repeat((0.0, state), idle)
        yield tiny, Square(state.who, 3, 3)

    with pytest.raises(gamedp.InvalidModelError, match="50 pairs and no end"):
        gamedp.solve(race(outcomes=outcomes), compile="never")
    fewer = gamedp.solve(race(outcomes=lambda *of: outcomes(*of, idle=48)), compile="never")
    listed = gamedp.solve(race(outcomes=lambda *of: list(outcomes(*of))), compile="never")
    assert fewer.value() == listed.value()
    assert fewer.model.num_transitions == listed.model.num_transitions == 4


def test_to_look_for_slips_computes_no_property_and_needs_nothing_of_the_class():
    class Odd(type):
        __hash__ = None

    class Single(metaclass=Odd):
        cyclic = True

        @property
        def rewards(self):
            raise RuntimeError

        def __dir__(self):
            raise RuntimeError

        def initial_state(self):
            return 1

        def is_terminal(self, state):
            return state == 0

        def actions(self, state):
            return [1]

        def outcomes(self, state, action):
            yield 1.0, 0

        def payoff(self, state, player):
            return 3.0

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert gamedp.solve(Single(), compile="never").value() == 3.0


@pytest.mark.parametrize("mistake", WAYS_OUT)
def test_a_mistake_is_told_with_the_way_out(mistake, monkeypatch):
    """Each message says what to write instead."""
    monkeypatch.setattr(rules, "MOST_IN_A_ROW", 50)
    changes, words = WAYS_OUT[mistake]
    with pytest.raises(gamedp.InvalidModelError, match=words):
        gamedp.solve(race(**changes), compile="never")


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("render", ((5,),)),
        ("view", ((5,),)),
        ("action_name", ((5,), 1)),
        ("outcome_name", ((5,), 1, 0)),
        ("outcome_view", ((5,), 1, 0)),
        ("pattern", ((5,),)),
        ("steps", ((5,), 1, 0)),
    ],
)
def test_errors_of_methods_for_people_name_the_method_and_the_state(name, arguments):
    def fail(self, *_):
        raise ZeroDivisionError

    members = {each: lambda self, *_: None for each in ("is_terminal", "actions", "outcomes")}
    members |= {"payoff": lambda self, state, player: 0.0, "initial_state": lambda self: (5,)}
    game = type("Failing", (), members | {name: fail})()
    with pytest.raises(ZeroDivisionError) as caught:
        getattr(gamedp.rules.Rules(game), name)(*arguments)
    words = ", ".join(map(repr, arguments))
    assert caught.value.__notes__ == [f"gamedp: raised by the rules in {name}({words})"]
