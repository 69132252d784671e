"""Evaluations, traces and policies as columns of tables."""

import numpy as np
import pytest
from search_games import Crowd

import gamedp
from gamedp.games.matches import Matches
from gamedp.policies import trace_improvements, trace_sweeps
from gamedp.testing.models import random_model


def arrays_with_names():
    return gamedp.Model.from_arrays(
        [0, 2, 2],
        [0, 1, 2],
        [0, 1],
        [1.0, 1.0],
        payoffs=[1.0],
        action_names=["stay", "leave"],
        variables={"sweep": np.array([3, 4])},
    )


@pytest.mark.parametrize("everywhere", [False, True])
def test_an_evaluation_has_a_row_for_each_position(everywhere):
    model = gamedp.compile(Matches(matches=7), compile="never")
    one = gamedp.Policy.from_function(model, lambda state: 1, "one")
    found = gamedp.evaluate(model, [one, gamedp.Policy.uniform(model)], everywhere=everywhere)
    columns = found.to_columns()
    assert {len(column) for column in columns.values()} == {found.chain.num_nodes}
    assert columns["swapped"].any()
    for number in range(found.chain.num_nodes):
        state = found.chain.state(number)
        assert (columns["player"][number], columns["left"][number]) == state
        assert columns["swapped"][number] == found.chain.is_changed(number)
        if not columns["swapped"][number]:
            assert columns["value"][number] == found.value(state)
            assert (columns["lower"][number], columns["upper"][number]) == found.bounds(state)
    start = (columns["left"] == 7) & ~columns["swapped"]
    assert columns["value"][start].tolist() == [found.value()]


def test_three_players_have_columns_of_their_own():
    game = Crowd(seed=1)
    solution = gamedp.solve(game, compile="never")
    found = gamedp.evaluate(solution.model, [solution] * 3)
    columns = found.to_columns()
    assert "swapped" not in columns
    for number in range(found.chain.num_nodes):
        state = found.chain.state(number)
        for player in range(3):
            assert columns[f"value_{player}"][number] == found.value(state, player)
            bounds = columns[f"lower_{player}"][number], columns[f"upper_{player}"][number]
            assert bounds == found.bounds(state, player)


def test_a_trace_has_a_row_for_each_state_in_each_sweep():
    model = random_model(3)
    trace = trace_sweeps(model, gamedp.Discounted(0.9), sweeps=4)
    columns = trace.to_columns()
    assert list(columns) == ["sweep", "state", "value", "lower", "upper", "action"]
    for name in ("value", "lower", "upper"):
        array = {"value": trace.values, "lower": trace.lower, "upper": trace.upper}[name]
        assert np.array_equal(columns[name].reshape(array.shape), array)
    assert np.array_equal(columns["action"].filled(-1).reshape(5, -1), trace.actions)
    assert columns["sweep"].tolist() == np.repeat(np.arange(5), model.num_states).tolist()
    assert columns["state"].tolist() == 5 * list(range(model.num_states))


def test_no_column_of_a_trace_hides_another():
    trace = trace_sweeps(arrays_with_names(), gamedp.Discounted(0.5), sweeps=1)
    columns = trace.to_columns()
    assert columns["sweep"].tolist() == [0, 0, 1, 1]
    assert columns["state_sweep"].tolist() == [3, 4, 3, 4]
    assert columns["action_name"].tolist() == ["leave", None, "leave", None]


def test_improvements_are_numbered_by_policies():
    trace = trace_improvements(arrays_with_names(), gamedp.Discounted(0.5))
    columns = trace.to_columns()
    assert next(iter(columns)) == "policy"
    assert columns["action_name"].tolist() == ["stay", None, "leave", None]
    assert (columns["lower"] <= columns["value"]).all()
    assert (columns["value"] <= columns["upper"]).all()


def test_a_model_that_is_over_has_a_trace_without_actions():
    model = gamedp.Model.from_arrays([0, 0], [0], [], [], payoffs=[2.0])
    for table in (trace_sweeps(model, sweeps=1), gamedp.solve(model)):
        columns = table.to_columns()
        assert columns["value"].tolist()[-1] == 2.0
        assert columns["action"].mask.all()
