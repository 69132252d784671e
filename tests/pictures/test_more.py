"""The pictures of actions, components, distributions, ratings and stages show what was found."""

import numpy as np
import pytest

import gamedp
from gamedp.games.kniffel import Kniffel
from gamedp.games.matches import Matches, MatchesState
from gamedp.games.wubbel import Wubbel
from gamedp.pictures import (
    plot_actions,
    plot_components,
    plot_distribution,
    plot_ratings,
    plot_stages,
    plot_values,
)

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def matches():
    return gamedp.solve(Matches(6), compile="never")


@pytest.fixture(scope="module")
def kniffel():
    return gamedp.solve(Kniffel(dice=2, faces=2, throws=1, threshold=3), compile="never")


def points(ax):
    return [tuple(np.ravel(line.get_xydata()).tolist()) for line in ax.lines]


def rows(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


@pytest.mark.parametrize("player", [0, 1])
def test_actions_have_their_values(matches, player):
    state = MatchesState(1, 5)
    ax = plot_actions(matches, state, player=player)
    entries = matches.action_values(state, player)
    assert rows(ax) == [entry.name for entry in entries]
    assert points(ax) == [(entry.value, place) for place, entry in enumerate(entries)]
    filled = [line.get_markerfacecolor() != "none" for line in ax.lines]
    assert filled == [entry.best != "no" for entry in entries]
    assert ax.get_title() == "actions in left = 5"
    assert ax.get_xlabel() == f"value for player {player}"


def test_actions_of_a_search_say_what_is_known():
    found = gamedp.search(Matches(7), compile="never")
    ax = plot_actions(found)
    assert points(ax) == [(entry.value, place) for place, entry in enumerate(found.actions)]
    markers = {"exact": "o", "at least": ">", "at most": "<"}
    assert [line.get_marker() for line in ax.lines] == [
        markers[entry.bound] for entry in found.actions
    ]
    with pytest.raises(gamedp.UnsupportedProblemError, match="name neither"):
        plot_actions(found, player=1)


def test_infinite_bounds_end_at_the_edge():
    model = gamedp.Model.from_arrays(
        *([0, 2, 3, 3], [0, 1, 2, 3], [2, 1, 1], [1.0, 1.0, 1.0]),
        rewards=[0.0, 0.0, 1.0],
        payoffs=[3.0],
    )
    solution = gamedp.solve(model)
    assert solution.value(1) == np.inf
    ax = plot_actions(solution, 0)
    left, right = ax.get_xlim()
    assert np.isfinite([left, right]).all()
    assert points(ax)[1] == (right, 1)
    with pytest.raises(gamedp.UnsupportedProblemError, match="there is no action in 2"):
        plot_actions(solution, 2)


def test_of_many_actions_the_best_are_shown():
    values = np.arange(60.0) * (-1) ** np.arange(60)
    model = gamedp.Model.from_arrays(
        [0, 60, 60], np.arange(61), [1] * 60, [1.0] * 60, payoffs=[0.0], rewards=values
    )
    ax = plot_actions(gamedp.solve(model))
    drawn = {value for value, _ in points(ax)}
    assert drawn == set(np.sort(values)[-40:].tolist())
    assert ax.get_title() == "40 of 60 actions in the first state"


def test_components_have_their_kinds():
    from all_pictures import wheel

    ax = plot_components(wheel())
    colours = {text.get_text(): text.get_bbox_patch().get_facecolor() for text in ax.texts[:4]}
    words = dict(zip(legend(ax), ax.get_legend().get_patches(), strict=True))
    expected = {
        "0": "once at most",
        "1, 4": "again, but not for ever",
        "2, 3": "play may stay (end component)",
        "5": "game over",
    }
    assert {text: words[kind].get_facecolor() for text, kind in expected.items()} == colours
    arrows = {
        (tuple(map(float, arrow.xyann)), tuple(map(float, arrow.xy))) for arrow in ax.texts[4:]
    }
    where = {text.get_text(): text.get_position() for text in ax.texts[:4]}
    pairs = [("0", "1, 4"), ("0", "2, 3"), ("1, 4", "5"), ("2, 3", "5")]
    assert arrows == {(where[one], where[other]) for one, other in pairs}
    assert ax.get_title() == "4 components of 6 states, 2 with a cycle"


def test_levels_have_all_states():
    model = gamedp.compile(Wubbel(12, faces=2, busts=(2,)), compile="never")
    ax = plot_components(model)
    tops = sum(patch.get_data().values - patch.get_data().baseline for patch in ax.patches)
    structure = model.structure
    levels = structure.levels[structure.component]
    assert tops.tolist() == np.bincount(levels).tolist()
    assert legend(ax) == ["game over", "again, but not for ever"]


def test_payoffs_have_their_probabilities():
    model = gamedp.compile(Matches(6), compile="never")
    chance = gamedp.Policy.uniform(model)
    found = gamedp.evaluate(model, [chance, chance])
    for player in (0, 1):
        ax = plot_distribution(found, player=player)
        heights = [bar.get_height() for bar in ax.patches]
        assert heights == pytest.approx(
            [(low + high) / 2 for low, high in found.distribution(player).values()]
        )
        assert [label.get_text() for label in ax.get_xticklabels()] == ["-1", "1"]
    games = gamedp.simulate(model, [chance, chance], games=100, seed=3)
    ax = plot_distribution(games)
    assert [bar.get_height() for bar in ax.patches] == [
        games.count(-1.0) / 100,
        games.count(1.0) / 100,
    ]
    (bars,) = ax.collections
    ends = [tuple(path.vertices[:, 1].tolist()) for path in bars.get_paths()]
    assert ends == [pytest.approx(games.interval(payoff)) for payoff in (-1.0, 1.0)]
    with pytest.raises(LookupError, match="there is no player 2"):
        plot_distribution(games, player=2)
    stopped = gamedp.simulate(model, [chance, chance], width=0.5, games=10_000, seed=3)
    assert stopped.sequential is not None
    assert not plot_distribution(stopped).collections  # intervals for a fixed number are wrong


def test_games_that_have_not_ended_have_no_picture(matches):
    chance = gamedp.Policy.uniform(matches.model)
    games = gamedp.simulate(matches.model, [chance, chance], games=3, seed=1, max_plies=1)
    with pytest.raises(gamedp.errors.UnsupportedProblemError, match="none of 3 games has ended"):
        plot_distribution(games)


class Bets(Matches):
    """Names with dollars, between which matplotlib would read a formula."""

    def action_name(self, state, action):
        return f"bet $\\frac{{{action}$ of $5"


def test_names_with_dollars_are_drawn_as_they_stand():
    solution = gamedp.solve(Bets(4), compile="never")
    mixed = gamedp.Policy.uniform(solution.model)
    where = {"player": 0}
    for draw, said in (
        (lambda: plot_actions(solution), 3),
        (lambda: gamedp.pictures.plot_policy(solution, "left", where=where), 3),
        (lambda: gamedp.pictures.plot_policy(solution, "left", "player"), 3),
        (lambda: plot_values(solution, "left", where=where, action=1), 1),
        (lambda: gamedp.pictures.plot_tree(solution, depth=1), 3),
        (lambda: gamedp.pictures.plot_tree(solution, depth=0, text=lambda _: "$\\frac{$"), 1),
        (lambda: plot_distribution(gamedp.evaluate(solution.model, [mixed, mixed])), 0),
    ):
        ax = draw()
        ax.get_figure().canvas.draw()  # a formula with a fault would be an error here
        texts = [text.get_text() for text in ax.findobj(plt.Text)]
        found = {text for text in texts if "frac{" in text}
        assert len(found) >= said
        assert all(text.count("$") == text.count(r"\$") for text in found)


def test_totals_far_apart_are_lines():
    totals = np.array([0, *range(10**9, 10**9 + 20)])
    spread = gamedp.stages.Distribution(totals, np.full(21, 1 / 21))
    ax = plot_distribution(spread)
    (lines,) = ax.collections
    assert [path.vertices[0, 0] for path in lines.get_paths()] == totals.tolist()
    near = gamedp.stages.Distribution(totals[1:], np.full(20, 1 / 20))
    (outline,) = plot_distribution(near).patches
    assert outline.get_data().values.tolist() == [1 / 20] * 20


def test_ratings_are_sorted_with_intervals():
    numbers = np.array([-50.0, 80.0, -30.0])
    ratings = gamedp.play.Ratings(("a", "b", "c"), numbers, np.array([5.0, 10.0, 20.0]), 3.0, 4.0)
    ax = plot_ratings(ratings)
    assert rows(ax) == ["b", "c", "a"]
    assert ax.lines[0].get_xdata().tolist() == [80.0, -30.0, -50.0]
    (bars,) = ax.collections
    ends = [path.vertices[:, 0].tolist() for path in bars.get_paths()]
    assert ends == [pytest.approx([mean - 1.96 * error, mean + 1.96 * error])
                    for mean, error in ((80, 10), (-30, 20), (-50, 5))]  # fmt: skip


def test_stages_go_from_the_start_to_the_end(kniffel):
    ax = plot_stages(kniffel)
    table = kniffel.to_columns()
    free = np.array([9 - int(boxes).bit_count() for boxes in table["boxes"].tolist()])
    for tier, median in ax.lines[0].get_xydata().tolist():
        assert median == pytest.approx(np.median(table["value"][free == tier]))
    assert ax.lines[0].get_xdata().tolist() == list(range(10))
    assert ax.xaxis.get_inverted()
    assert ax.lines[1].get_xydata().tolist() == [[9, kniffel.value()]]


def test_contexts_are_drawn_over_their_fields(kniffel):
    ax = plot_values(kniffel, "upper", where={"boxes": 0, "bonus": 0})
    table = kniffel.to_columns()
    there = (table["boxes"] == 0) & (table["bonus"] == 0)
    assert ax.lines[0].get_ydata().tolist() == table["value"][there].tolist()
    with pytest.raises(gamedp.UnsupportedProblemError, match="has no action of its own"):
        plot_values(kniffel, "upper", where={"boxes": 0, "bonus": 0}, action=0)
