"""The classical methods step by step: values and policies as textbooks print them."""

import math
from fractions import Fraction

import numpy as np
import pytest

import gamedp
from gamedp.errors import InvalidParameterError, UnsupportedProblemError
from gamedp.policies import trace_improvements, trace_sweeps
from gamedp.testing.models import random_model

MOVES = ((0, 1), (1, 0), (0, -1), (-1, 0))


def grid_world():
    """A grid of 4 by 4 with two terminal corners; each step costs 1 (Sutton, Barto 4.1)."""
    matrices = np.zeros((4, 16, 16))
    for action, (down, right) in enumerate(MOVES):
        for state in range(1, 15):
            row, column = min(max(state // 4 + down, 0), 3), min(max(state % 4 + right, 0), 3)
            matrices[action, state, 4 * row + column] = 1.0
    return gamedp.Model.from_scipy(matrices, rewards=[-1.0] * 16, payoffs=[0.0, 0.0], initial=1)


def test_sweeps_of_a_random_policy_are_those_of_the_book():
    model = grid_world()
    trace = trace_sweeps(model, policy=gamedp.Policy.uniform(model), sweeps=10)
    assert trace.values.shape == (11, 16)
    assert trace.values[1, 1:15].tolist() == [-1.0] * 14
    assert trace.values[2, 1:4].tolist() == [-1.75, -2.0, -2.0]
    assert np.allclose(trace.values[3, 1:4], [-2.4, -2.9, -3.0], atol=0.05)
    assert np.allclose(trace.values[10, 1:4], [-6.1, -8.4, -9.0], atol=0.05)
    assert np.isinf(
        trace.upper[10, 1:15]
    ).all()  # without a discount, a small change proves nothing
    # Greedy after three sweeps, one goes the shortest way, long before the values come to rest.
    best = gamedp.solve(model)
    for row in trace.policies[3:]:
        chosen = row[1:15]
        after = model.successors[model.transition_offsets[chosen]]
        assert (best.values[after] == best.values[1:15] + 1).all()


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("optimum", ["max", "min"])
def test_bounds_of_sweeps_contain_the_values(seed, optimum):
    model = random_model(seed, num_states=8, num_players=1 + seed % 2)
    objective = gamedp.Discounted(0.75, optimum)
    exact = gamedp.solve(model, objective, gamedp.solvers.ExactPolicyIteration()).exact
    trace = trace_sweeps(model, objective, sweeps=400, start=np.arange(model.num_states))
    for lower, upper in zip(trace.lower, trace.upper, strict=True):
        for low, truth, high in zip(lower, exact, upper, strict=True):
            assert Fraction(low) <= truth <= Fraction(high) if np.isfinite(high) else low < truth
    assert (trace.upper - trace.lower)[-1].max() < 1e-11
    assert trace.changes[0] > trace.changes[-1]
    assert np.allclose(trace.values[-1], [float(number) for number in exact], atol=1e-11)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("optimum", ["max", "min"])
def test_improvements_end_at_the_best_policy(seed, optimum):
    model = random_model(seed, num_states=10)
    objective = gamedp.Discounted(0.9, optimum)
    trace = trace_improvements(model, objective)
    solution = gamedp.solve(model, objective, tolerance=1e-9)
    assert np.allclose(trace.values[-1], solution.values, atol=1e-8)
    sign = 1 if optimum == "max" else -1
    assert (sign * np.diff(trace.values, axis=0) >= -1e-9).all()
    assert len({row.tobytes() for row in trace.policies}) == len(trace.policies)
    again = trace_improvements(model, objective, start=solution)
    assert len(again.policies) == 1
    for values, policy in zip(trace.values, trace.policies, strict=True):
        probabilities = np.zeros(model.num_choices)
        probabilities[policy[policy >= 0]] = 1.0
        alone = gamedp.evaluate(model, gamedp.Policy(model, probabilities), objective)
        assert alone.value() == pytest.approx(values[model.initial_states[0]], abs=1e-8)


def test_bad_questions_are_refused():
    model = grid_world()
    two = random_model(1, num_players=2)
    uniform = gamedp.Policy.uniform(model)
    with pytest.raises(InvalidParameterError, match="leaves actions to chance"):
        trace_improvements(model, start=uniform)
    with pytest.raises(InvalidParameterError, match="one finite number for each of the 16"):
        trace_sweeps(model, start=[1.0])
    with pytest.raises(UnsupportedProblemError, match="one player"):
        trace_improvements(two, gamedp.Discounted(0.5))
    with pytest.raises(UnsupportedProblemError, match="without targets"):
        trace_sweeps(model, gamedp.Reachability([0]))
    with pytest.raises(InvalidParameterError, match="of a Model"):
        trace_sweeps(object())
    with pytest.raises(UnsupportedProblemError, match="infinite"):
        trace_improvements(model)  # to the right for ever
    silent = gamedp.Policy(model, np.zeros(model.num_choices))
    with pytest.raises(InvalidParameterError, match="says nothing in 1"):
        trace_sweeps(model, policy=silent)


def test_notebooks_show_the_mean_over_the_start():
    model = gamedp.Model.from_arrays(
        [0, 1, 2, 2], [0, 1, 2], [2, 2], [1.0, 1.0], rewards=[1.0, 3.0], terminals=[2],
        initial=[(0.25, 0), (0.75, 1)],
    )  # fmt: skip
    for trace in (
        trace_sweeps(model, gamedp.Discounted(0.5), sweeps=3),
        trace_improvements(model, gamedp.Discounted(0.5)),
    ):
        row = trace._repr_html_().rsplit("<tr>", 1)[1]
        assert "<td>2.5</td>" in row
        assert "2.5 … 2.5" in row
        assert "3" not in row.replace("<th>3</th>", "")


def test_bounds_of_sweeps_count_what_cancels():
    """By a policy with chance, in which all but nothing is earned."""
    rewards, chances = [7682634567168466.0, -4824547939636795.0], [395 / 1024, 629 / 1024]
    model = gamedp.Model.from_arrays([0, 2], [0, 1, 2], [0, 0], [1.0, 1.0], rewards=rewards)
    policy = gamedp.Policy(model, chances, "mixed")
    earned = sum(Fraction(p) * Fraction(r) for p, r in zip(chances, rewards, strict=True))
    assert earned == Fraction(15, 1024)
    trace = trace_sweeps(model, gamedp.Discounted(0.5), policy=policy, sweeps=60)
    for low, high in zip(trace.lower[1:, 0], trace.upper[1:, 0], strict=True):
        assert Fraction(low) <= 2 * earned <= Fraction(high)
    assert trace.upper[-1, 0] - trace.lower[-1, 0] < 60


def test_the_picture_shows_what_is_there():
    pytest.importorskip("matplotlib.pyplot")
    model = random_model(3)
    sweeps = trace_sweeps(model, gamedp.Discounted(0.5), sweeps=20)
    ax = gamedp.pictures.plot_trace(sweeps)
    assert [line.get_label() for line in ax.lines] == ["largest change", "distance of the bounds"]
    assert ax.lines[0].get_ydata().tolist() == sweeps.changes.tolist()
    assert (ax.get_xlabel(), ax.get_yscale()) == ("sweep", "log")
    steps = trace_improvements(model, gamedp.Discounted(0.5))
    ax = gamedp.pictures.plot_trace(steps)
    assert [bar.get_height() for bar in ax.patches] == [
        float((old != new).sum())
        for old, new in zip(steps.policies[:-1], steps.policies[1:], strict=True)
    ]
    ax = gamedp.pictures.plot_trace(sweeps, state=2)
    assert ax.lines[0].get_ydata().tolist() == sweeps.values[:, 2].tolist()
    (band,) = ax.collections
    corners = {tuple(corner) for corner in band.get_paths()[0].vertices.tolist()}
    assert {(20.0, sweeps.lower[20, 2]), (20.0, sweeps.upper[20, 2])} <= corners
    assert (ax.get_xlabel(), ax.get_title()) == ("sweep", "value of 2")


@pytest.mark.parametrize(
    ("make", "option"),
    [
        (trace_sweeps, {"sweeps": -1}),
        (trace_sweeps, {"sweeps": 2.5}),
        (trace_sweeps, {"tolerance": -1.0}),
        (trace_sweeps, {"tolerance": math.nan}),
        (trace_improvements, {"most": 0}),
    ],
)
def test_limits_that_make_no_sense_are_refused(make, option):
    (name,) = option
    with pytest.raises(InvalidParameterError, match=f"{name} is"):
        make(random_model(3), gamedp.Discounted(0.9), **option)


@pytest.mark.parametrize("kind", ["sweeps", "values", "improvements"])
def test_two_traces_share_a_picture_with_their_names(kind):
    plt = pytest.importorskip("matplotlib.pyplot")
    model = random_model(3)
    state = 0 if kind == "values" else None
    if kind == "improvements":
        traces = [trace_improvements(model, gamedp.Discounted(rate)) for rate in (0.9, 0.5)]
    else:
        traces = [trace_sweeps(model, gamedp.Discounted(rate), sweeps=9) for rate in (0.9, 0.5)]
    ax = gamedp.pictures.plot_trace(traces[0], state=state, label="far")
    gamedp.pictures.plot_trace(traces[1], state=state, label="near", ax=ax)
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    per_trace = len(words) // 2
    assert len(words) == (2 if kind == "improvements" else 4)
    assert all(word.startswith("far") for word in words[:per_trace])
    assert all(word.startswith("near") for word in words[per_trace:])
    colours = [(line.get_color(), line.get_marker()) for line in ax.lines]
    assert len(set(colours)) == len(colours)
    plt.close("all")
