"""The picture of a game tree has all nodes, their values and the best actions."""

import warnings
from collections import Counter

import pytest

import gamedp
from gamedp.games.matches import Matches, MatchesState
from gamedp.games.wubbel import State, Wubbel
from gamedp.pictures import plot_tree

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def boxes(ax):
    return [text.get_text() for text in ax.texts if text.get_bbox_patch()]


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_every_position_has_its_value():
    game = Matches(4)
    solution = gamedp.solve(game, compile="never")
    expected = []

    def walk(state):
        expected.append(f"{state.left}\n{solution.value(state):.0f}")
        if not game.is_terminal(state):
            for action in game.actions(state):
                [(_, following)] = game.outcomes(state, action)
                walk(following)

    walk(game.initial_state())
    ax = plot_tree(solution, depth=4)
    assert boxes(ax) == expected
    assert ax.get_title() == "below each position: value of player 0"
    assert legend(ax) == ["player 0 to move", "player 1 to move", "game over", "best action"]
    ax.figure.canvas.draw()


def test_best_actions_are_thick():
    solution = gamedp.solve(Matches(8), compile="never")
    ax = plot_tree(solution, MatchesState(0, 8), depth=1)
    names = [text.get_text() for text in ax.texts if not text.get_bbox_patch()]
    thick = [line.get_linewidth() > 1 for line in ax.lines]
    best = solution.best_actions(MatchesState(0, 8))
    assert dict(zip(names, thick, strict=True)) == {f"take {k}": k in best for k in (1, 2, 3)}
    assert best == [3]
    assert [text.endswith("…") for text in boxes(ax)] == [False, True, True, True]


def test_boxes_do_not_overlap_and_children_are_below():
    ax = plot_tree(gamedp.solve(Matches(5), compile="never"), depth=5)
    ax.figure.canvas.draw()
    ends = [text.get_bbox_patch().get_window_extent() for text in ax.texts if text.get_bbox_patch()]
    for place, one in enumerate(ends):
        assert not any(one.overlaps(other) for other in ends[place + 1 :])
    for line in ax.lines:
        above, below = line.get_ydata()
        assert above > below


def test_chance_has_a_node_of_its_own():
    solution = gamedp.solve(Wubbel(4, faces=3, busts=(3,)), compile="never")
    ax = plot_tree(solution, State(0, 0, 0, 1), depth=1)
    words = Counter(text.get_text() for text in ax.texts if not text.get_bbox_patch())
    assert words == {"ROLL": 1, "SAVE": 1, "1/3": 3}
    assert len(boxes(ax)) == 1 + 3 + 1
    assert "chance" in legend(ax)
    assert ax.get_title() == "below each position: winning probability of player 0"


def test_the_text_of_a_state_is_given():
    solution = gamedp.solve(Matches(4), compile="never")
    ax = plot_tree(solution, depth=0, text=lambda state: f"<{state.left}>")
    assert boxes(ax) == ["<4>\n1\n…"]


@pytest.mark.parametrize("game", [Matches(18), Wubbel(6)])
def test_of_more_than_forty_leaves_forty_are_drawn(game):
    solution = gamedp.solve(game, compile="never")
    with pytest.warns(RuntimeWarning, match="more leaves than the 40 drawn"):
        ax = plot_tree(solution, depth=6)
    assert ax.get_xlim() == pytest.approx((-0.6, 39.6))
    # The root has a branch that is left out, or one below it has.
    assert sum(text.endswith("…") for text in boxes(ax)) > 0


def test_of_forty_leaves_all_are_drawn_in_peace():
    class Fork:
        """One choice between forty ends."""

        def initial_state(self):
            return 0

        def is_terminal(self, state):
            return state > 0

        def actions(self, state):
            return range(1, 41)

        def outcomes(self, state, action):
            return [(1.0, action)]

        def payoff(self, state, player):
            return float(state)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ax = plot_tree(gamedp.solve(Fork(), compile="never"), depth=1)
    assert len(boxes(ax)) == 41


def test_what_cannot_be_drawn_is_refused():
    solution = gamedp.solve(Matches(500, takes=(1,)), compile="never")
    with pytest.raises(ValueError, match=r"more than 400 nodes; draw fewer actions \(depth\)"):
        plot_tree(solution, depth=500)
    for depth in (-1, 1.5, True):
        with pytest.raises(ValueError, match="it must be an integer, 0 or more"):
            plot_tree(solution, depth=depth)
    with pytest.raises(LookupError):
        plot_tree(solution, MatchesState(0, 501))
    model = gamedp.Model.from_arrays([0, 1, 1], [0, 1], [1], [1.0], payoffs=[1.0])
    with pytest.raises(gamedp.UnsupportedProblemError, match="needs the rules"):
        plot_tree(model)
    horizon = gamedp.solve(Matches(4), gamedp.FiniteHorizon(2), compile="never")
    with pytest.raises(gamedp.UnsupportedProblemError, match="steps that are left"):
        plot_tree(horizon)
