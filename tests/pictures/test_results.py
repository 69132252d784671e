"""The pictures of games between players, and of what is to gain, show what was counted."""

import itertools

import attrs
import numpy as np
import pytest
from scipy import stats

import gamedp
from gamedp.errors import InvalidParameterError
from gamedp.games.mancala import Mancala
from gamedp.games.matches import Matches
from gamedp.games.wubbel import Hold, Wubbel
from gamedp.pictures import plot, plot_cross_table, plot_gains, plot_results, plot_survival
from gamedp.play import Meeting, Pairing, Tournament

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def shares(ax):
    """The widths of the bars of each kind, by its name."""
    return {
        bars.get_label(): [patch.get_width() for patch in bars]
        for bars in ax.containers
        if bars.get_label() in {"won", "drawn", "lost", "unfinished"}
    }


def test_a_tournament_shows_its_shares_by_seat():
    game = Mancala(players=3, pits=2, stones=2)
    players = [gamedp.play.RandomPlayer(game)] * 2
    found = gamedp.play.match(game, *players, games=30, seed=1, max_plies=12)
    by_seat = found.by_seat
    assert by_seat.shape == (3, 4)
    assert by_seat.sum(axis=0).tolist() == [found.wins, found.draws, found.losses, found.unfinished]
    assert (by_seat.sum(axis=0) > 0).all()  # all kinds are there
    ax = plot(found)
    for place, kind in enumerate(("won", "drawn", "lost", "unfinished")):
        assert shares(ax)[kind] == pytest.approx(by_seat[:, place] / 10)
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        f"as player {seat}" for seat in range(3)
    ]
    *_, intervals = ax.collections
    for (won, *_), path in zip(by_seat.tolist(), intervals.get_paths(), strict=True):
        ends = stats.binomtest(won, 10).proportion_ci(0.95)
        assert path.vertices[:, 0].tolist() == pytest.approx(list(ends))


def test_a_pairing_has_intervals_only_where_it_was_played():
    game, players = Wubbel(9), {"three": Hold(3), "five": Hold(5)}
    played, computed = (
        gamedp.play.tournament(game, players, games=8, seed=1, exact=exact, compile="never")
        for exact in (False, True)
    )
    ax = plot(played.pairings[0])
    wins = [played.pairings[0].first[0] / 4, played.pairings[0].second[0] / 4]
    assert shares(ax)["won"] == pytest.approx(wins)
    assert "drawn" not in shares(ax)
    assert len(ax.collections) == 1
    assert ax.get_title() == "three against five"
    ax = plot_results(computed.pairings[0])
    assert len(ax.collections) == 0
    assert shares(ax)["won"][0] == pytest.approx(computed.pairings[0].first[0] / 4)
    none = Pairing("a", "b", unfinished=3)
    assert plot_results(none).get_title() == "a against b, 3 more games unfinished"


def test_a_round_robin_of_two_seats_is_a_table_of_points():
    pairings = (
        Pairing("a", "b", first=[3, 2, 5], second=[6, 0, 4]),
        Pairing("a", "c", first=[10, 0, 0], second=[10, 0, 0], is_exact=True),
        Pairing("b", "c", unfinished=20),
    )
    found = Tournament(("a", "b", "c"), pairings, games=20, seed=1)
    numbers = {
        seats: plot_cross_table(found, seats).images[0].get_array().filled(np.nan)
        for seats in ("both", "first", "second")
    }
    none = np.nan
    for seats, rows in {
        "both": [[none, 0.5, 1.0], [0.5, none, none], [0.0, none, none]],
        "first": [[none, 0.4, 1.0], [0.4, none, none], [0.0, none, none]],
        "second": [[none, 0.6, 1.0], [0.6, none, none], [0.0, none, none]],
    }.items():
        assert numbers[seats] == pytest.approx(np.array(rows), nan_ok=True)
    texts = [text.get_text() for text in plot_cross_table(found).texts]
    low, high = stats.binomtest(5, 10).proportion_ci(0.95, "wilson")
    both = f"0.500\n{low:.2f} … {high:.2f}"
    assert texts == [both, "1.000", both, "0.000"]
    many = Meeting(tuple("abc"), payoffs=[(1.0, 2.0, 3.0)])
    of_three = attrs.evolve(found, meetings=(many,))
    with pytest.raises(gamedp.UnsupportedProblemError, match="drawn by plot_results"):
        plot_cross_table(of_three)
    with pytest.raises(gamedp.UnsupportedProblemError, match="by plot_cross_table and"):
        plot_results(found)


def test_a_round_robin_of_three_seats_shows_mean_payoffs():
    meetings = tuple(
        Meeting(names, payoffs=[(1.0, 2.0, 3.0), (2.0, 4.0, 9.0)])
        for names in itertools.combinations("abcd", 3)
    )
    found = Tournament(tuple("abcd"), meetings, games=12, seed=1)
    ax = plot(found)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["d", "c", "b", "a"]
    means = [found.payoff(name)[0] for name in "dcba"]
    assert ax.lines[0].get_xdata().tolist() == pytest.approx(means)
    ax = plot(meetings[0])
    assert ax.lines[0].get_xdata().tolist() == [6.0, 3.0, 1.5]
    assert ax.get_xlabel() == "mean payoff"


def test_one_group_of_games_has_no_interval():
    one = Meeting(tuple("abc"), payoffs=[(1.0, 2.0, 3.0)])
    ax = plot(one)
    assert ax.get_title() == "no intervals: one group of games does not tell"
    assert ax.lines[0].get_xdata().tolist() == [3.0, 2.0, 1.0]
    assert plot(Meeting(tuple("abc"))).get_title() == "no game was played to the end by all"
    game = Matches(6)
    players = [gamedp.play.RandomPlayer(game)] * 2
    found = gamedp.play.match(game, *players, games=2, seed=1)
    title = plot(found).get_title()
    assert title.startswith("mean lead of the first player")
    assert title.endswith(", no interval: one pair")
    none = gamedp.play.match(game, *players, games=2, seed=1, max_plies=1)
    assert plot(none).get_title() == "no pair of games has ended"


def test_gains_are_drawn_with_their_bounds():
    found = gamedp.policies.Exploitability(gains=((0.0, 0.5), (0.25, 0.75)))
    ax = plot(found)
    assert [bar.get_width() for bar in ax.patches] == [0.25, 0.5]
    (bounds,) = ax.collections
    assert [path.vertices[:, 0].tolist() for path in bounds.get_paths()] == [[0, 0.5], [0.25, 0.75]]
    assert ax.get_title() == "exploitability, the average (dashed): 0.125 … 0.625"
    best = gamedp.solve(Matches(6), compile="never")
    exact = plot_gains(gamedp.exploitability(best.model, [best, best]))
    assert exact.get_xlabel() == "gain by the best response"


def test_survival_curves_are_what_was_found():
    model = gamedp.compile(Matches(6), compile="never")
    chance = gamedp.Policy.uniform(model)
    given = gamedp.evaluate(model, [chance, chance]).survival(7)
    most = gamedp.policies.greatest_survival(model, 7)
    ax = plot_survival(given, most)
    for line, curve in zip(ax.lines, (given, most), strict=True):
        plies, chances = line.get_data()
        assert plies.tolist() == list(range(8))
        there = curve.upper > 1e-12
        assert np.isnan(chances).tolist() == (~there).tolist()
        assert (chances[there] <= curve.upper[there]).all()
        assert (chances[there] >= curve.lower[there]).all()
    assert ax.get_yscale() == "log"
    assert plot(most, ax=plt.figure().add_subplot()).get_yscale() == "log"
    short = gamedp.policies.greatest_survival(model, 3, actions={1})
    ax = plot_survival(short)
    assert (ax.get_yscale(), ax.get_xlabel()) == ("linear", "actions that count")
    for curves in ((), (most, short)):
        with pytest.raises(InvalidParameterError, match="one curve or more"):
            plot_survival(*curves)
    with pytest.raises(InvalidParameterError, match=r"3 is not a gamedp\.policies\.Survival"):
        plot_survival(most, 3)
