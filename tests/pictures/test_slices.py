"""Pictures over fields of the state show what the solution says."""

import sys

import numpy as np
import pytest
from all_pictures import ways

import gamedp
from gamedp.errors import MissingPackageError
from gamedp.games.matches import Matches
from gamedp.games.wubbel import ROLL, SAVE, Hold, Wubbel
from gamedp.pictures import plot_policy, plot_surface, plot_values

plt = pytest.importorskip("matplotlib.pyplot")

GOAL = 12


@pytest.fixture(scope="module")
def solution():
    return gamedp.solve(Wubbel(GOAL, faces=2, busts=(2,)), compile="never")


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def drawn(ax):
    """What a heat map shows, by the two fields."""
    table = ax.collections[0].get_array()
    return {
        (x, y): table[y, x] for y, x in np.argwhere(~np.ma.getmaskarray(table)).tolist()
    }  # both fields begin with zero


def columns(solution, **where):
    """The rows of a solution with some fields, as dictionaries."""
    table = solution.to_columns()
    for values in zip(*table.values(), strict=True):
        row = dict(zip(table, values, strict=True))
        if all(row[name] == value for name, value in where.items()):
            yield row


def test_values_are_those_of_the_solution(solution):
    ax = plot_values(solution, "opponent", "turn", where={"own": 3})
    expected = {(r["opponent"], r["turn"]): r["value"] for r in columns(solution, own=3)}
    assert drawn(ax) == expected
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("opponent", "turn")
    assert ax.get_title() == "winning probability of player 0, own = 3"
    (bar,) = set(ax.figure.axes) - {ax}
    assert bar.get_ylabel() == "winning probability of player 0"


def test_cells_are_where_the_axes_say(solution):
    ax = plot_values(solution, "turn", "own", where={"opponent": 0})
    corners = ax.collections[0].get_coordinates()
    assert corners[0, 0].tolist() == [-0.5, -0.5]
    assert corners[-1, -1].tolist() == [GOAL + 0.5, GOAL - 0.5]


def test_the_other_player_gets_the_rest(solution):
    one = drawn(plot_values(solution, "opponent", "turn", where={"own": 3}))
    other = drawn(plot_values(solution, "opponent", "turn", where={"own": 3}, player=1))
    assert one.keys() == other.keys()
    assert all(one[place] + other[place] == pytest.approx(1) for place in one)


def test_values_where_one_action_is_taken(solution):
    ax = plot_values(solution, "opponent", "turn", where={"own": 0}, action=SAVE)
    rows = [r for r in columns(solution, own=0) if r["action"] is not np.ma.masked]
    expected = {(r["opponent"], r["turn"]): r["value"] for r in rows if r["action"] == SAVE}
    assert expected
    assert drawn(ax) == expected


def test_a_line_has_its_bounds():
    loose = gamedp.solve(Wubbel(GOAL, faces=2, busts=(2,)), tolerance=0.1, compile="never")
    ax = plot_values(loose, "turn", where={"own": 0, "opponent": 5})
    rows = list(columns(loose, own=0, opponent=5))
    (line,) = ax.lines
    assert line.get_xydata().tolist() == [[r["turn"], r["value"]] for r in rows]
    (band,) = ax.collections
    corners = band.get_paths()[0].vertices
    ends = {(r["turn"], r[side]) for r in rows for side in ("lower", "upper")}
    assert {tuple(corner) for corner in corners.tolist()} >= ends
    assert ax.get_ylabel() == "winning probability of player 0"


def test_a_policy_has_a_colour_for_each_action(solution):
    ax = plot_policy(solution, "opponent", "turn", where={"own": 0})
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["ROLL", "SAVE"]
    expected = {
        (r["opponent"], r["turn"]): float(r["action"])
        for r in columns(solution, own=0)
        if r["action"] is not np.ma.masked
    }
    assert drawn(ax) == expected
    assert set(expected.values()) == {ROLL, SAVE}
    mesh, patches = ax.collections[0], ax.get_legend().get_patches()
    for action, patch in enumerate(patches):
        assert mesh.to_rgba(action) == pytest.approx(patch.get_facecolor())


def test_a_given_policy_may_leave_it_to_chance(solution):
    def rule(state):
        return {ROLL: 0.5, SAVE: 0.5} if state.turn > 8 else Hold(5).choose(state)

    policy = gamedp.Policy.from_function(solution.model, rule, name="odd")
    ax = plot_policy(policy, "opponent", "turn", where={"own": 0})
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["ROLL", "SAVE", "left to chance"]
    table = drawn(ax)
    assert [table[0, turn] for turn in (4, 5, 9)] == [0, 1, 2]
    assert ax.get_title() == "action of odd, own = 0"


def test_many_actions_have_a_colour_bar():
    """The chain of 12 states, with one action fewer in each."""
    counts = [*range(11, 0, -1), 0]
    total = sum(counts)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    labels = np.concatenate([np.arange(count) for count in counts])
    successors = np.repeat(np.arange(12), counts) + labels + 1
    model = gamedp.Model.from_arrays(
        offsets,
        np.arange(total + 1),
        successors,
        np.ones(total),
        payoffs=[0.0],
        rewards=labels * 1.0,
    )
    solved = gamedp.solve(model)
    ax = plot_policy(solved, "state")
    (line,) = ax.lines
    assert line.get_ydata()[:-1].tolist() == solved.to_columns()["action"][:-1].tolist()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("state", "action")
    assert plot_values(solved, "state").get_title() == "value"


def test_actions_over_one_field_are_named():
    solution = gamedp.solve(Matches(8), compile="never")
    ax = plot_policy(solution, "left", where={"player": 0})
    ticks = [tick.get_text() for tick in ax.get_yticklabels()]
    assert ticks == ["take 1", "take 2", "take 3"]
    (line,) = ax.lines
    points = {x: y for x, y in line.get_xydata().tolist() if not np.isnan(y)}
    expected = {r["left"]: r["action"] - 1 for r in columns(solution, player=0) if r["left"]}
    assert points == expected


def test_the_surface_is_where_the_decision_changes(solution):
    ax = plot_surface(solution, "own", "opponent", "turn", action=SAVE)
    saves = {
        (r["own"], r["opponent"], r["turn"]): r["value"]
        for r in columns(solution)
        if r["action"] is not np.ma.masked and r["action"] == SAVE
    }
    steps = [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
    expected = []
    for place, value in saves.items():
        for step in steps:
            for way in (1, -1):
                beyond = tuple(np.array(place) + way * np.array(step))
                if beyond not in saves:
                    middle = np.array(place) + way * np.array(step) / 2
                    expected.append((*middle.tolist(), value))
    (body,) = ax.collections
    middles = np.asarray(body._faces).mean(axis=1)
    values = body.get_array()
    coloured = ~np.ma.getmaskarray(values)
    found = np.column_stack([middles, values.data])[coloured].tolist()
    assert sorted(map(tuple, found)) == sorted(expected)
    # The plateau: above all columns whose states never save.
    tops = {}
    for r in columns(solution):
        place = r["own"], r["opponent"]
        tops[place] = max(tops.get(place, 0), r["turn"] + 0.5)
    for own, opponent, _ in saves:
        tops.pop((own, opponent), None)
    assert sorted(map(tuple, middles[~coloured].tolist())) == sorted(
        (*place, top) for place, top in tops.items()
    )
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words == ["reached in play", "never SAVE"]
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_zlabel()) == ("own", "opponent", "turn")
    ax.figure.canvas.draw()


def test_dark_edges_are_where_play_gets(solution):
    model, reached, new = solution.model, set(), [solution.initial_state()]
    while new:
        state = new.pop()
        representative = model.state(model.index(state)[0])
        if representative in reached:
            continue
        reached.add(representative)
        if not model.rules.game.is_terminal(representative):
            action = solution.best_action(representative)
            new += [after for _, after in model.rules.game.outcomes(representative, action)]
    ax = plot_surface(solution, "own", "opponent", "turn", action=SAVE)
    (body,) = ax.collections
    middles = np.asarray(body._faces).mean(axis=1)
    below = np.isclose(middles[:, 2] % 1, 0.5) & ~np.ma.getmaskarray(body.get_array())
    dark = (body._edgecolor3d != body.to_rgba(body.get_array())).any(axis=1)
    # A face at the bottom or top of a cell: one of the two cells saves.
    saves = {
        (r["own"], r["opponent"], r["turn"])
        for r in columns(solution)
        if r["action"] is not np.ma.masked and r["action"] == SAVE
    }
    played = {(state.own, state.opponent, state.turn) for state in reached}
    for (own, opponent, height), seen in zip(middles[below], dark[below], strict=True):
        cells = [(int(own), int(opponent), int(height + side)) for side in (0.5, -0.5)]
        (owner,) = [cell for cell in cells if cell in saves]
        assert seen == (owner in played)
    assert 0 < dark[below].sum() < len(dark[below])


def test_kinds_of_cells_need_not_be_told_apart(solution):
    ax = plot_surface(solution, "own", "opponent", "turn", action=SAVE, told_apart=False)
    (body,) = ax.collections
    assert not np.ma.getmaskarray(body.get_array()).any()
    assert (body._edgecolor3d == body.to_rgba(body.get_array())).all()
    assert ax.get_legend() is None


def test_axes_that_are_given_are_drawn_into(solution):
    figure, panels = plt.subplots(1, 2)
    norm = plt.Normalize(0, 1)
    for own, panel in enumerate(panels):
        where = {"own": own}
        assert plot_values(solution, "opponent", "turn", where=where, norm=norm, ax=panel) is panel
    assert figure.axes == list(panels)
    assert all(panel.collections[0].norm is norm for panel in panels)


def test_settings_stay_as_they_are(solution):
    before = dict(plt.rcParams)
    with plt.rc_context({"text.color": "#123456"}):
        ax = plot_policy(solution, "opponent", "turn", where={"own": 0})
        assert ax.get_legend().get_texts()[0].get_color() == "#123456"
    assert dict(plt.rcParams) == before


def test_a_field_that_still_varies_must_be_named(solution):
    with pytest.raises(ValueError, match=r"name a value of own, as where=\{'own': 0\}"):
        plot_values(solution, "opponent", "turn")


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (("opponent", "turns", {"own": 0}), LookupError, "did you mean 'turn'"),
        (("opponent", "turn", {"mine": 0}), LookupError, "no field of the state 'mine'"),
        (("opponent", "own", {"own": 0}), ValueError, "own is named twice"),
        (("opponent", "turn", {"own": 99}), ValueError, "no state has own = 99"),
    ],
)
def test_wrong_fields_are_refused(solution, arguments, error, words):
    x, y, where = arguments
    for draw in (plot_values, plot_policy):
        with pytest.raises(error, match=words) as raised:
            draw(solution, x, y, where=where)
        assert isinstance(raised.value, gamedp.GamedpError)


def test_other_wrong_arguments_are_refused(solution):
    place = {"where": {"own": 0}}
    with pytest.raises(ValueError, match="no state has an action 7; there are 0, 1"):
        plot_values(solution, "opponent", "turn", action=7, **place)
    with pytest.raises(LookupError, match="there is no player 2"):
        plot_values(solution, "opponent", "turn", player=2, **place)
    with pytest.raises(ValueError, match="projection='3d'"):
        plot_surface(solution, "own", "opponent", "turn", action=SAVE, ax=plt.subplots()[1])
    never = gamedp.solve(Wubbel(2), compile="never")
    with pytest.raises(ValueError, match="in none of these states"):
        plot_surface(never, "own", "opponent", "turn", action=SAVE)


def test_states_that_are_no_integers_are_refused():
    class Words:
        def initial_state(self):
            return "first"

        def is_terminal(self, state):
            return state == "last"

        def actions(self, state):
            return [0]

        def outcomes(self, state, action):
            return [(1.0, "last")]

        def payoff(self, state, player):
            return 1.0

    solution = gamedp.solve(Words(), compile="never")
    with pytest.raises(gamedp.UnsupportedProblemError, match="state is not an integer: 'first'"):
        plot_values(solution, "state")


def test_without_matplotlib_the_error_says_what_to_install(solution, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install gamedp\[plots\]") as raised:
        plot_values(solution, "opponent", "turn", where={"own": 0})
    assert isinstance(raised.value, MissingPackageError)


def test_the_only_field_that_varies_need_not_be_named(solution):
    known = gamedp.solve(Matches(9), compile="never")
    assert plot_values(known).get_xlabel() == "left"
    assert plot_policy(known).get_xlabel() == "left"
    where = {"own": 0, "turn": 0}
    ax = plot_values(solution, where=where)
    assert ax.get_xlabel() == "opponent"
    with pytest.raises(ValueError, match="own, opponent, turn vary"):
        plot_values(solution)
    with pytest.raises(ValueError, match="no field varies"):
        plot_values(known, where={"left": 3})
    with pytest.raises(LookupError, match="lefft"):
        plot_values(known, where={"lefft": 3})


def test_arrows_point_to_where_the_policy_leads():
    known = ways()
    ax = plot_policy(known, "[1]", "[0]", arrows=True)
    (arrows,) = ax.collections
    tails = np.array(arrows.get_offsets())
    ways_of = np.column_stack([arrows.U, arrows.V])
    assert np.hypot(*ways_of.T) == pytest.approx(0.7)
    found = {}
    for tail, way in zip(tails, ways_of, strict=True):
        column, row = (tail + way / 2).round().astype(int).tolist()
        found[row, column] = way
    states = [known.model.state(number) for number in range(known.model.num_states)]
    assert set(found) == {state for state in states if state != (2, 2)}
    for state, way in found.items():
        outcomes = known.model.rules.game.outcomes(state, known.best_action(state))
        mean = sum(chance * np.array(after) for chance, after in outcomes) - np.array(state)
        assert way == pytest.approx(0.7 * mean[::-1] / np.hypot(*mean))


def test_a_policy_that_stays_has_points_and_one_field_no_arrows():
    known = ways()
    stays = gamedp.Policy.from_function(known.model, lambda state: {0: 0.5, 2: 0.5})
    ax = plot_policy(stays, "[1]", "[0]", arrows=True)
    (points,) = ax.lines
    assert points.get_xydata().tolist() == [[1.0, 1.0]]  # elsewhere the walls are in the way
    with pytest.raises(ValueError, match="name two fields"):
        plot_policy(gamedp.solve(Matches(9), compile="never"), "left", arrows=True)


def test_two_fields_that_alone_vary_need_not_be_named(solution):
    ax = plot_values(solution, where={"own": 3})
    named = plot_values(solution, "opponent", "turn", where={"own": 3})
    assert drawn(ax) == drawn(named)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("opponent", "turn")
    with pytest.raises(gamedp.errors.InvalidParameterError, match="own, opponent, turn vary"):
        plot_values(solution)
