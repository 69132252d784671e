"""Views: what they refuse, what they draw, and what games show."""

import itertools
import json
import pickle

import numpy as np
import pytest

import gamedp
from gamedp.games import Mancala, Matches, Nim, Wubbel
from gamedp.rules import Rules
from gamedp.views import Card, Dice, Grid, Heaps, Pattern, Pits, Scores, Text, to_plain

VIEWS = [
    Heaps((3, 0, 100), spots={4: (0, 3)}),
    Pits(((1, 2), (3, 4)), (5, 6), ("one", "other"), spots={1: (1, 1)}),
    Pits(((1,), (2,), (30,)), (0, 0, 7)),
    Grid(((0, 1), (2, 0)), (" ", "X", "O"), spots={0: (0, 0)}),
    Pits(((1, 2), (3, 10)), (5, 6), pit_names=(("2", "1"), ("1", "2"))),
    Grid(((0, 1), (2, 0)), (" ", "X", "O"), row_names=("b", "a"), column_names=("1", "22")),
    Dice((1, 6), kept=(False, True), spots={3: (1,)}),
    Card((("Ones", None, 3), ("Twos", "-", 0)), spots={0: (0,)}),
    Scores((("a", 1, 2), ("b", 90)), most=50, spots={0: (1,)}),
    Text("words"),
]


@pytest.mark.parametrize("view", VIEWS, ids=repr)
def test_a_view_is_a_value_that_json_can_hold(view):
    assert pickle.loads(pickle.dumps(view)) == view
    assert hash(view) == hash(pickle.loads(pickle.dumps(view)))
    plain = to_plain(view)
    assert json.loads(json.dumps(plain)) == plain
    assert plain["kind"] == type(view).__name__.lower()
    assert plain["text"] == str(view)
    assert {spot["action"]: tuple(spot["place"]) for spot in plain["spots"]} == view.spots


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Heaps(3), "Heaps: counts must be a sequence of whole numbers, not 3"),
        (lambda: Pattern(3), "Pattern: words must be text, not 3"),
        (lambda: Pattern(claim="won"), "claim is 'won'; it is one of win, draw, loss"),
        (lambda: Pattern(view="0"), "view is '0', and no view"),
        (lambda: Pattern(row=3), "row must be a sequence of (name, state) pairs, not 3"),
        (lambda: Pattern(row=["ab"]), "row has 'ab', which is not a (name, state) pair"),
        (lambda: Pattern(row=[(1, 2)]), "row must be text, not 1"),
        (lambda: Pattern(row=zip(itertools.repeat("a"), itertools.count())), "4,096"),
        (lambda: Pattern(row=[("a", 1)], here=1), "here is 1, which is not a place in the row"),
        (lambda: Heaps((1.5,)), "counts must be whole numbers, 0 to 9007199254740991, not 1.5"),
        (lambda: Heaps((-1,)), "not -1"),
        (lambda: Heaps((True,)), "not True"),
        (lambda: Heaps((2**53,)), "not 9007199254740992"),
        (lambda: Heaps((0,) * 5000), "counts has more than 4,096 entries"),
        (lambda: Heaps(itertools.count()), "counts has more than 4,096 entries"),
        (lambda: Heaps([[[[1]]]]), "counts must be whole numbers"),
        (lambda: Heaps((3,), spots={1: itertools.count()}), "no such part"),
        (lambda: Grid(itertools.repeat(itertools.repeat(0)), ("",)), "more than 4,096 entries"),
        (lambda: Grid((range(9) for _ in itertools.count()), ("",)), "rows"),
        (lambda: Card(itertools.repeat(("a", 1))), "rows have more than 4,096 entries in all"),
        (lambda: Heaps((3,), spots={1: (0, 4)}), "puts action 1 at (0, 4), and there is no such"),
        (lambda: Heaps((3,), spots={1: (1, 1)}), "no such part"),
        (lambda: Heaps((3,), spots={1: 0}), "no such part"),
        (lambda: Heaps((3,), spots={"take": (0, 1)}), "spots names 'take', which is not a whole"),
        (lambda: Heaps((3,), spots=[1]), "spots must map actions to places, not [1]"),
        (
            lambda: Heaps((1,), spots=dict.fromkeys(range(5000), (0, 1))),
            "spots has 5,000 entries",
        ),
        (lambda: Pits(((1, 2), (1,)), (0, 0)), "rows must be equally long; they have [1, 2]"),
        (lambda: Pits(((1,), (1,)), (0,)), "1 stores and 2 rows; give each row one"),
        (lambda: Pits(((1,),), (0,), ("a", "b")), "2 names and 1 rows"),
        (lambda: Pits(((1,),), (0,), (1,)), "names must be text, not 1"),
        (lambda: Pits(((1,),), (0,), ("a" * 300,)), "names has 300 letters; the most is 200"),
        (lambda: Pits(((1,) * 80,) * 60, (0,) * 60), "rows have more than 4,096 entries in all"),
        (
            lambda: Pits(((1,),), (0,), pit_names=(("a", "b"),)),
            "pit_names must have a name for each",
        ),
        (lambda: Pits(((1,),), (0,), pit_names=((1,),)), "pit_names must be text, not 1"),
        (lambda: Pits(((1,),), (0,), pit_names=(3,)), "pit_names must be a sequence of texts"),
        (lambda: Grid(((0,),), ("",), ("a", "b")), "row_names has 2 entries, and must have 1"),
        (lambda: Grid(((0,),), ("",), column_names=(1,)), "column_names must be text, not 1"),
        (lambda: Grid(((0, 2),), ("", "X")), "a cell has symbol 2, and there are 2"),
        (lambda: Grid(((0,),), "XO"), "symbols must be a sequence of texts, not 'XO'"),
        (lambda: Grid(((0,),), ("",), spots={0: (0, 1)}), "no such part"),
        (lambda: Dice((1, 2), kept=(True,)), "kept says it of 1 dice, and there are 2"),
        (lambda: Dice((1,), kept=(1,)), "kept must be truth values, not (1,)"),
        (lambda: Card(((1, 2),)), "the name of a line must be text, not 1"),
        (lambda: Card(((),)), "the name of a line must be text, not None"),
        (lambda: Card((("a", 1.5),)), "an entry must be a whole number, text or None, not 1.5"),
        (lambda: Card((("a", 1), ("b",))), "all lines must have equally many entries"),
        (lambda: Scores((("a", 1),), most=0), "most must be a whole number from 1, not 0"),
        (lambda: Scores((("a", -1),), most=1), "rows must be whole numbers"),
        (lambda: Text(5), "Text: text must be text, not 5"),
        (lambda: Text("a" * 30_000), "text has 30,000 letters; the most is 20,000"),
        (lambda: Text("a", spots={0: ()}), "no such part"),
    ],
    ids=itertools.count(),
)
def test_what_makes_no_picture_is_refused(make, words):
    with pytest.raises(gamedp.errors.InvalidParameterError) as caught:
        make()
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "make",
    [
        lambda rows: Grid(((0,) for _ in range(rows)), ("",)),
        lambda rows: Grid([()] * rows, ("",)),
        lambda rows: Pits([[1]] * rows, [0] * rows, pit_names=[["a"]] * rows),
        lambda rows: Card([["a"]] * rows),
        lambda rows: Scores([["a"]] * rows, most=1),
    ],
    ids=itertools.count(),
)
def test_as_many_rows_as_there_may_be_are_all_taken(make):
    assert len(make(4096).rows) == 4096
    with pytest.raises(gamedp.errors.InvalidParameterError, match=r"4,096"):
        make(4097)


def test_only_views_are_made_plain():
    with pytest.raises(
        TypeError, match=r"'text' is not a view; a view is one of gamedp\.views: Heaps"
    ):
        to_plain("text")


def test_lists_and_integers_of_numpy_are_taken():
    assert Heaps(np.array([3, 5]), spots={np.int8(1): [0, 1]}) == Heaps((3, 5), spots={1: (0, 1)})


def test_rows_columns_and_pits_may_be_called_as_actions_name_them():
    grid = Grid(((0, 1), (2, 0)), (" ", "X", "O"), column_names=("1", "22"))
    assert str(grid).splitlines() == [".  X", "O  .", "1  22"]
    rows = ((1, 2), (3, 4), (0, 12))
    pits = Pits(rows, (0, 0, 0), pit_names=(("1", "2"),) * 3)
    assert str(pits).splitlines()[2:] == ["   0 12     0", "   1  2"]
    others = Pits(rows, (0, 0, 0), pit_names=(("1", "2"), ("1", "2"), ("2", "1")))
    assert [line.split() for line in str(others).splitlines()[2:]] == [
        ["1", "2"],
        ["0", "12", "0"],
        ["2", "1"],
    ]


@pytest.mark.parametrize("players", [2, 3])
def test_a_pit_of_mancala_is_called_as_its_action(players):
    game = Mancala(pits=3, stones=2, players=players)
    state, movers = game.initial_state(), set()
    while len(movers) < players and not game.is_terminal(state):
        view = game.view(state)
        for action, (row, place) in view.spots.items():
            assert game.action_name(state, action) == f"pit {view.pit_names[row][place]}"
        movers.add(state.player)
        state = next(iter(game.outcomes(state, action)))[1]
    assert len(movers) == players


def test_a_long_heap_is_cut_and_counted():
    assert str(Heaps((1000,))) == "1  " + "|" * 40 + " ...  1000"
    assert Heaps((1000,)).draw(200) == "1  " + "| " * 40 + "...  1000"


def test_empty_pictures_have_a_drawing():
    for view in (Heaps(()), Pits((), ()), Grid((), ()), Dice(()), Card(()), Text("")):
        assert str(view) == ""
    assert str(Scores((), most=1)) == "  up to 1"


@pytest.mark.parametrize(
    "game",
    [
        *(Matches(), Matches(matches=9, takes=(2, 4)), Nim(), Nim(heaps=(0, 2)), Wubbel()),
        *(Wubbel(goal=7, grace=True), Mancala(), Mancala(pits=3, stones=1, players=3)),
    ],
    ids=repr,
)
def test_every_action_of_a_board_has_its_spot(game):
    """Along a random game; and Wubbel's view shows numbers, which play nothing."""
    rules, rng = Rules(game), np.random.default_rng(5)
    state = game.initial_state()
    while not game.is_terminal(state):
        view, actions = rules.view(state), list(game.actions(state))
        assert set(view.spots) == (set() if isinstance(game, Wubbel) else set(actions))
        action = actions[rng.integers(len(actions))]
        outcomes = list(game.outcomes(state, action))
        place = int(rng.integers(len(outcomes)))
        seen = rules.outcome_view(state, action, place)
        assert seen == (Dice((place + 1,)) if len(outcomes) > 1 else None)
        state = outcomes[place][1]
    assert rules.view(state).spots == {}


def test_a_spot_of_a_board_is_the_pit_that_is_played():
    """The pit at the spot is empty afterwards, or was sown round into."""
    game = Mancala(pits=4, stones=2)
    rules, rng = Rules(game), np.random.default_rng(2)
    state, seen = game.initial_state(), set()
    while not game.is_terminal(state):
        view = rules.view(state)
        board = game.board(state)
        for pit, (row, place) in view.spots.items():
            assert view.rows[row][place] == board.rows[state.player][pit - 1] > 0
        seen.add(state.player)
        state = next(iter(game.outcomes(state, int(rng.choice(list(view.spots))))))[1]
    assert seen == {0, 1}


def test_a_game_without_a_view_shows_its_words():
    class Wordless(Matches):
        view = None
        render = None

    assert Rules(Wordless()).view((0, 5)) == Text("(0, 5)")
    assert Rules(Wordless()).outcome_view((0, 5), 1, 0) is None


def test_a_game_with_a_view_alone_has_words():
    class Drawn(Matches):
        render = None

    assert Rules(Drawn()).render(Drawn().initial_state()).startswith("1  | | |")


def test_what_is_no_view_is_refused():
    class Mistaken(Matches):
        def view(self, state):
            return 7

        def outcome_view(self, state, action, outcome):
            return 7

    with pytest.raises(gamedp.InvalidModelError, match=r"is 7; it must be one of the classes of"):
        Rules(Mistaken()).view(Matches().initial_state())
    with pytest.raises(gamedp.InvalidModelError, match=r"is 7; it must be one of the classes of"):
        Rules(Mistaken()).outcome_view(Matches().initial_state(), 1, 0)


def test_many_matches_have_a_bounded_view():
    view = Nim(heaps=(10**6, 2)).view(Nim(heaps=(10**6, 2)).initial_state())
    assert view.spots == {}
    assert len(str(view)) < 300


def test_the_terminal_draws_what_the_words_do_not_show():
    from gamedp.cli.play import _picture

    start = Nim(heaps=(1, 2)).initial_state()
    assert _picture(Rules(Nim(heaps=(1, 2))), start) == (
        "first player to move: heaps of 1, 2\n1  |    1\n2  | |  2"
    )
    mancala = Mancala(pits=2, stones=1)  # its words are a drawing
    assert _picture(Rules(mancala), mancala.initial_state()) == mancala.render(
        mancala.initial_state()
    )


@pytest.mark.parametrize("columns", [25, 40, 60, 80])
@pytest.mark.parametrize(
    "view",
    [
        Heaps((40,)),
        Heaps((41, 3, 0, 1000)),
        Heaps((1,) * 12),
        Scores((("first", 10, 5), ("second", 20)), most=40),
    ],
    ids=repr,
)
def test_a_drawing_is_as_wide_as_the_terminal(view, columns):
    drawing = view.draw(columns)
    assert max(map(len, drawing.splitlines())) <= columns
    assert str(view) == view.draw(80)
    short, whole = drawing.splitlines(), str(view).splitlines()
    assert [line.split()[-1] for line in short] == [line.split()[-1] for line in whole]
