"""The picture of a position shows what the game's view has."""

import pytest
from all_views import VIEWS, AllViews, Seen

import gamedp
from gamedp.games.mancala import Mancala
from gamedp.games.matches import Matches, MatchesState, Nim, NimState
from gamedp.pictures import plot, plot_board
from gamedp.pictures.canvas import short

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def words(ax):
    return [text.get_text() for text in ax.texts]


def rings(ax):
    return [line.get_xydata()[0].tolist() for line in ax.lines if line.get_markersize() == 26]


@pytest.mark.parametrize("number", range(len(VIEWS)))
def test_every_kind_of_view_has_a_picture_with_its_words(number):
    game = AllViews()
    ax = plot_board(game, Seen(number))
    ax.figure.canvas.draw()
    seen = "".join(words(ax)).replace("\n", "")
    plain = gamedp.views.to_plain(game.view(Seen(number)))
    for name in ("counts", "faces", "stores"):
        for part in plain.get(name, ()):
            assert str(part) in words(ax)
    if plain["kind"] in {"card", "scores"}:
        for row in plain["rows"]:
            assert short(row[0]) in words(ax)
    if plain["kind"] == "text":
        assert seen == plain["text"].replace("\n", "")


def test_best_actions_are_marked_where_they_are_played():
    solution = gamedp.solve(Mancala(pits=2, stones=2), compile="never")
    ax = plot_board(solution)
    view = solution.model.rules.view(solution.initial_state())
    places = [view.spots[action] for action in solution.best_actions()]
    assert rings(ax) == [[column, row] for row, column in places]
    assert not rings(plot_board(solution, best=False))
    assert not rings(plot_board(Mancala(pits=2, stones=2)))


def test_a_search_shows_its_position():
    found = gamedp.search(Nim((1, 2)), NimState(1, (1, 2)), depth=4, compile="never")
    ax = plot_board(found)
    assert rings(ax)
    assert words(ax) == ["1", "1", "2", "2"]
    assert not rings(plot_board(found, NimState(1, (1, 1))))


def test_what_has_a_view_is_drawn_by_default():
    assert words(plot(Matches(5))) == ["1", "5"]


def test_a_game_without_a_view_is_drawn_in_letters():
    class Plain:
        def initial_state(self):
            return [(0.5, (1, 2)), (0.5, (2, 1))]

        def is_terminal(self, state):
            return True

        def actions(self, state):
            return []

        def outcomes(self, state, action):
            return []

        def payoff(self, state, player):
            return 0.0

    assert words(plot_board(Plain(), (1, 2))) == ["(1, 2)"]
    with pytest.raises(gamedp.errors.UnknownStateError, match="one of several"):
        plot_board(Plain())
    with pytest.raises(gamedp.UnsupportedProblemError, match="no picture"):
        plot(Plain())


def test_what_has_no_board_is_refused():
    model = gamedp.Model.from_arrays([0, 1, 1], [0, 1], [1], [1.0], payoffs=[1.0])
    with pytest.raises(gamedp.UnsupportedProblemError, match="needs the rules"):
        plot_board(model)
    with pytest.raises(LookupError):
        plot_board(gamedp.solve(Matches(5), compile="never"), MatchesState(0, 9))
