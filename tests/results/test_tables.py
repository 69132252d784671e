"""Tables for notebooks and data frames."""

import re

import numpy as np
import pytest

import gamedp
from gamedp.games.matches import Matches
from gamedp.games.wubbel import Hold, Wubbel


def cells(table):
    return dict(re.findall(r"<tr><th>(.*?)</th><td>(.*?)</td></tr>", table))


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize(
    ("game", "objective"),
    [
        (Wubbel(6, faces=2, busts=(2,)), gamedp.TotalReward()),  # places change
        (Matches(6), gamedp.TotalReward()),
        (Matches(6), gamedp.Discounted(0.9)),
    ],
)
def test_a_q_table_has_the_value_of_each_action(game, objective, player):
    solution = gamedp.solve(game, objective, compile="never")
    table = solution.q_table(player)
    model = solution.model
    assert all(len(column) == model.num_choices for column in table.values())
    row = 0
    for number in range(model.num_states):
        state = model.state(number)
        for one in solution.action_values(state, player) if not model.is_terminal[number] else []:
            assert tuple(state) == tuple(table[name][row] for name in state._fields)
            found = [table[name][row] for name in ("action", "value", "lower", "upper")]
            assert found == [one.action, one.value, one.lower, one.upper]
            assert table["taken"][row] == (one.action == solution.best_action(state))
            row += 1
    assert row == model.num_choices


def test_a_q_table_of_a_model_of_arrays():
    model = gamedp.Model.from_arrays(
        [0, 2, 2], [0, 1, 2], [1, 1], [1.0, 1.0], payoffs=[0.0], rewards=[3.0, 5.0]
    )
    table = gamedp.solve(model).q_table()
    assert table["state"].tolist() == [0, 0]
    assert table["value"].tolist() == [3.0, 5.0]
    assert table["taken"].tolist() == [False, True]
    with pytest.raises(LookupError, match="there is no player 1"):
        gamedp.solve(model).q_table(1)


def test_a_model_shows_its_size():
    model = gamedp.compile(Matches(6), compile="never")
    table = cells(model._repr_html_())
    assert table["states"] == str(model.num_states)
    assert table["choices"] == str(model.num_choices)
    assert table["game"].startswith("Matches(matches=6")
    arrays = gamedp.Model.from_arrays([0, 1, 1], [0, 1], [1], [1.0], payoffs=[1.0])
    assert "game" not in cells(arrays._repr_html_())


def test_a_policy_shows_what_it_leaves_open_and_no_markup():
    model = gamedp.compile(Matches(6), compile="never")
    numbers = np.array(gamedp.Policy.uniform(model).probabilities)
    numbers[: model.choice_offsets[1]] = 0
    table = cells(gamedp.Policy(model, numbers, name="<b>odd</b>")._repr_html_())
    assert table["policy"] == "&lt;b&gt;odd&lt;/b&gt;"
    choices = int((np.diff(model.choice_offsets) > 1).sum())
    assert table["states with a choice"] == str(choices)
    assert table["left to chance"] == str(choices - 1)
    assert table["not answered"] == "1"


def test_an_evaluation_and_a_cross_table_show_what_policies_get():
    game = Wubbel(8)
    found = gamedp.evaluate(game, [Hold(3), Hold(5)], compile="never")
    table = cells(found._repr_html_())
    low, high = found.bounds()
    assert table["bounds for player 0"] == f"{low!r} … {high!r}"
    assert table["guarantee"] == "the true value lies between the bounds"
    assert table["player 1"] == found.policies[1].name
    cross = gamedp.cross_table(game, {"<three>": Hold(3), "five": Hold(5)}, compile="never")
    shown = cells(cross._repr_html_())
    assert list(shown)[1:] == [name.replace("<three>", "&lt;three&gt;") for name in cross.ranking()]
    assert float(shown["five"]) == pytest.approx(cross.means[1], abs=1e-6)
