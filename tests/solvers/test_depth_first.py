"""Targets, solved or put in order by a depth-first search."""

import math

import numba
import numpy as np
import pytest
from hypothesis import HealthCheck, given, reject, settings, strategies as st

import gamedp
from gamedp.solvers.tools import prepared
from gamedp.testing import exact_choice_values, exact_values
from gamedp.testing.strategies import models

relaxed = settings(
    max_examples=60 if numba.config.DISABLE_JIT else 200,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
briefly = settings(relaxed, max_examples=30 if numba.config.DISABLE_JIT else 60)
MAX, MIN = "max", "min"
masks = st.lists(st.booleans(), min_size=10, max_size=10)


def with_sinks(model):
    """Let terminal states lead to themselves for ever, as other tools write them."""
    counts = np.maximum(np.diff(model.choice_offsets), 1)
    lengths = np.diff(model.transition_offsets)
    owners = np.repeat(np.arange(model.num_states), np.diff(model.choice_offsets))
    successors, probabilities, sizes = [], [], []
    for state in range(model.num_states):
        for choice in np.flatnonzero(owners == state):
            row = slice(*model.transition_offsets[choice : choice + 2])
            successors.extend(model.successors[row])
            probabilities.extend(model.probabilities[row])
            sizes.append(lengths[choice])
        if state in model.terminals:
            successors.append(state)
            probabilities.append(1.0)
            sizes.append(1)
    return gamedp.Model.from_arrays(
        np.cumsum([0, *counts]),
        np.cumsum([0, *sizes]),
        successors,
        probabilities,
        players=model.players,
        num_players=model.num_players,
    )


def check_acyclic(model, objective):
    """Hold the answer of one pass against exact arithmetic."""
    found = prepared.search_depth_first(gamedp.Problem(model, objective))
    assert found is not None
    assert not found.parts.num_components
    assert check_exactly(model, objective).solver == gamedp.solvers.BackwardInduction()


def check_exactly(model, objective, precision=1e-12):
    """Hold an answer against exact arithmetic: values, bounds and the policy."""
    try:
        solution = gamedp.solve(model, objective)
    except gamedp.NotSolvedError as error:
        solution = error.solution
    truth = exact_values(model, objective)
    exact = exact_choice_values(model, objective)
    is_probability = isinstance(objective, gamedp.Reachability)
    asked = solution.objective
    ends = asked.target if is_probability else asked.until
    reached = exact_values(model, objective, policy=solution.policy.tolist())
    for state, value in enumerate(truth):
        assert solution.lower[state] <= value <= solution.upper[state]
        slack = precision * max(1.0, abs(float(value))) if abs(value) != math.inf else 0.0
        choice = solution.policy[state]
        assert (choice >= 0) == (model.choice_offsets[state] < model.choice_offsets[state + 1])
        if choice >= 0 and not math.isinf(value):
            assert ends[state] or abs(exact[choice] - value) <= slack
        if model.num_players == 1:
            assert reached[state] == value or abs(reached[state] - value) <= slack
        # What the graph alone tells is exact.
        if value == math.inf or (is_probability and value in {0, 1}):
            assert solution.lower[state] == solution.upper[state] == value
    return solution


@relaxed
@given(
    models(max_states=5, acyclic=True, swaps=False, ends=False),
    masks,
    st.one_of(st.none(), masks),
    st.sampled_from([MAX, MIN]),
    st.booleans(),
)
def test_probabilities(model, target, allowed, optimum, sinks):
    model = with_sinks(model) if sinks else model
    target = np.array(target[: model.num_states])
    if allowed is not None:
        allowed = np.array(allowed[: model.num_states])
    check_acyclic(model, gamedp.Reachability(target, allowed, optimum))


@relaxed
@given(
    models(max_states=5, players=[1], acyclic=True, ends=False),
    masks,
    st.sampled_from([MAX, MIN]),
)
def test_totals(model, target, optimum):
    check_acyclic(model, gamedp.TotalReward(optimum, until=np.array(target[: model.num_states])))


@relaxed
@given(
    models(max_states=5, players=[2], acyclic=True, swaps=False, ends=False),
    masks,
    st.sampled_from([MAX, MIN]),
)
def test_totals_of_two_opponents(model, target, optimum):
    check_acyclic(model, gamedp.TotalReward(optimum, until=np.array(target[: model.num_states])))


@relaxed
@given(models(max_states=6, acyclic=True, swaps=False, ends=False), masks)
def test_work_in_small_pieces_comes_to_the_same(model, target):
    objective = gamedp.Reachability(np.array(target[: model.num_states]))
    whole = prepared.search_depth_first(gamedp.Problem(model, objective))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prepared, "VISITS", 1)
        pieces = prepared.search_depth_first(gamedp.Problem(model, objective))
    for one, other in zip(whole[:3], pieces[:3], strict=True):
        assert one.tolist() == other.tolist()


def line(*successors, **keywords):
    """Make a chain: the one state that each state leads to; None for a terminal state."""
    counts = [target is not None for target in successors]
    targets = [target for target in successors if target is not None]
    return gamedp.Model.from_arrays(
        np.cumsum([0, *counts]),
        np.arange(len(targets) + 1),
        targets,
        np.ones(len(targets)),
        terminals=[state for state, target in enumerate(successors) if target is None],
        **keywords,
    )


@pytest.mark.parametrize(
    ("model", "left"),
    [
        (line(1, 0, None), 0),
        (line(1, 2, 1, None), 0),
        # To wait is a way to stay for ever as soon as there is something else to do.
        (gamedp.Model.from_arrays([0, 2, 2], [0, 1, 2], [0, 1], [1.0, 1.0], terminals=[1]), None),
        (gamedp.Model.from_arrays([0, 1, 1], [0, 2], [0, 1], [0.5, 0.5], terminals=[1]), 1),
    ],
)
def test_cycles_that_play_surely_leaves_are_put_off(model, left):
    last = model.num_states - 1
    for objective in (
        gamedp.Reachability([last], allowed=np.ones(model.num_states, np.bool_)),
        gamedp.TotalReward(until=[last]),
    ):
        found = prepared.search_depth_first(gamedp.Problem(model, objective))
        # All exits are sure, so that a probability is known at once.
        count = 0 if left and isinstance(objective, gamedp.Reachability) else left
        assert (None if found is None else found.parts.num_components) == count
        check_exactly(model, objective)


def check_in_order(model, objective):
    """Hold what a search has put in order against exact arithmetic, and against a reduction."""
    found = prepared.search_depth_first(gamedp.Problem(model, objective))
    if found is None:
        return
    offsets, place = found.parts.component_offsets, found.equation.place
    assert offsets[-1] == len(found.equation.order)
    assert [place[state] for state in found.equation.order] == list(range(offsets[-1]))
    try:
        exact_values(model, objective)
    except gamedp.UnsupportedProblemError:
        reject()  # no memoryless policy attains them
    solution = check_exactly(model, objective, 2e-6)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gamedp.solvers.tools.prepared.search_depth_first", lambda *_: None)
        reduced = check_exactly(model, objective, 2e-6)
    assert (solution.guarantee, solution.status) == (reduced.guarantee, reduced.status)
    most = 1e-6 * max(1.0, float(np.abs(solution.values).max()))  # a millionth of large values
    assert solution.width <= most or solution.status is not gamedp.Status.SOLVED


@briefly
@given(
    models(max_states=4, acyclic=False, swaps=False, ends=False),
    masks,
    st.one_of(st.none(), masks),
    st.sampled_from([MAX, MIN]),
    st.booleans(),
)
def test_probabilities_where_states_come_again(model, target, allowed, optimum, sinks):
    model = with_sinks(model) if sinks else model
    target = np.array(target[: model.num_states])
    if allowed is not None:
        allowed = np.array(allowed[: model.num_states])
    check_in_order(model, gamedp.Reachability(target, allowed, optimum))


@briefly
@given(
    models(max_states=4, players=[1], acyclic=False, ends=False),
    masks,
    st.sampled_from([MAX, MIN]),
)
def test_totals_where_states_come_again(model, target, optimum):
    check_in_order(model, gamedp.TotalReward(optimum, until=np.array(target[: model.num_states])))


@pytest.mark.slow
@briefly
@given(models(max_states=4, acyclic=False, swaps=False), st.sampled_from([MAX, MIN]))
def test_totals_where_play_surely_ends(model, optimum):
    until = np.arange(model.num_states) == model.num_states - 1
    check_in_order(model, gamedp.TotalReward(optimum, until=until | model.is_terminal))
    check_in_order(model, gamedp.Reachability(until, optimum=optimum))


def walk(length, *, back=0.5):
    """Make a walk on a line whose last step but one has a choice: how far play surely gets."""
    inner = length - 1
    successors = [[state - 1, state + 1] for state in range(1, length)]
    rows = [*successors, successors[-1]]
    return gamedp.Model.from_arrays(
        [0, 0, *range(1, inner), inner + 1, inner + 1],
        2 * np.arange(len(rows) + 1),
        np.concatenate(rows),
        [back, 1 - back] * len(rows),
        terminals=[0, length],
    )


def test_where_play_leaves_is_found_against_the_order_of_states():
    model = walk(200)
    found = prepared.search_depth_first(gamedp.Problem(model, gamedp.Reachability([200])))
    assert found.parts.component_offsets.tolist() == [0, 199]
    solution = gamedp.solve(model, gamedp.Reachability([200]))
    assert abs(solution.values - np.arange(201) / 200).max() <= 1e-6


def test_a_cycle_behind_the_target_does_not_matter():
    model = line(1, 2, 1, None)
    assert prepared.search_depth_first(gamedp.Problem(model, gamedp.Reachability([1]))) is not None
    solution = gamedp.solve(model, gamedp.Reachability([1], allowed=[0, 1]))
    assert solution.values.tolist() == [1.0, 1.0, 0.0, 0.0]
    assert solution.width == 0.0


def test_what_is_too_large_for_a_number_is_no_missed_target():
    model = line(1, 2, None, rewards=[1.5e308, 1.5e308])
    with pytest.raises(gamedp.InvalidModelError, match="beyond the range"):
        gamedp.solve(model, gamedp.TotalReward(until=[2]))


def test_payoffs_count_where_the_target_is_an_end():
    model = line(1, 2, None, rewards=[1.0, 2.0], payoffs=[5.0])
    assert gamedp.solve(model, gamedp.TotalReward(until=[2])).values.tolist() == [8.0, 7.0, 5.0]
    assert gamedp.solve(model, gamedp.TotalReward(until=[1])).values.tolist() == [
        1.0,
        0.0,
        math.inf,
    ]


def test_other_objectives_are_none_of_this():
    model = line(1, None)
    for objective in (gamedp.TotalReward(), gamedp.Discounted(0.5)):
        assert prepared.search_depth_first(gamedp.Problem(model, objective)) is None


def test_progress_is_reported(monkeypatch):
    monkeypatch.setattr("gamedp.runtime.limit.INTERVAL", 0.0)
    reports = []
    gamedp.solve(line(1, 2, None), gamedp.Reachability([2]), progress=reports.append)
    assert reports[-1].phase == "solve"
    assert reports[-1].detail == "3 of 3 states seen"


@pytest.mark.parametrize("choices", [1, 2])
def test_large_models_are_searched_if_nobody_chooses(choices, monkeypatch):
    """Of those with choices many have an end component, where the search would be lost."""
    monkeypatch.setattr(prepared, "MAX_SEARCHED_TRANSITIONS", 5)
    steps = 4
    following = np.repeat(np.arange(steps) + 1, choices)
    model = gamedp.Model.from_arrays(
        np.minimum(np.arange(steps + 3), steps) * choices,
        np.arange(steps * choices + 1) * 2,
        np.column_stack([following, np.full_like(following, steps + 1)]).ravel(),
        np.full(2 * steps * choices, 0.5),
        terminals=[steps, steps + 1],
        payoffs=[0.0, 0.0],
    )
    objective = gamedp.Reachability([steps])
    found = prepared.search_depth_first(gamedp.Problem(model, objective))
    assert (found is None) == (choices > 1)
    assert gamedp.solve(model, objective).value() == 0.5**steps
