"""Pictures of comparisons show the times that count, and no others."""

import math

import pytest

import gamedp
from gamedp.comparison import Comparison, Measurement
from gamedp.errors import UnknownNameError, UnsupportedProblemError

pytest.importorskip("matplotlib")


def solved(problem, method, seconds, low=0.0, **more):
    return Measurement(
        problem=problem,
        method=method,
        kind="solver",
        status="SOLVED",
        guarantee="TWO_SIDED",
        value=low,
        lower=low,
        upper=low,
        warm_seconds=(seconds, 2 * seconds, 3 * seconds),
        **more,
    )


def times_in(ax):
    return sorted(float(x) for line in ax.lines for x in line.get_xdata() if len(line.get_xdata()))


def test_one_problem():
    rows = (solved("p", "slow", 1.0), solved("p", "quick", 0.1))
    ax = gamedp.pictures.plot(Comparison(rows, 1e-6))
    assert [label.get_text() for label in ax.get_yticklabels()] == ["quick", "slow"]
    assert times_in(ax) == pytest.approx([0.1, 0.2, 0.3, 1.0, 2.0, 3.0])


def test_one_that_disagrees_is_not_drawn():
    rows = (solved("p", "a", 1.0), solved("p", "b", 1.0), solved("p", "wrong", 0.1, low=1.0))
    ax = gamedp.pictures.plot(Comparison(rows, 1e-6))
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b"]


def test_sizes():
    rows = tuple(
        solved(f"p({size})", "a", size * 0.5, size=float(size), transitions=size)
        for size in (10, 100, 1000)
    )
    table = Comparison(rows, 1e-6)
    (growth,) = table.growth()
    assert growth.exponent == pytest.approx(1.0)
    assert growth.error == pytest.approx(0.0, abs=1e-9)
    ax = gamedp.pictures.plot(table)
    (line,) = ax.lines
    assert line.get_xdata().tolist() == [10, 100, 1000]
    assert "exponent 1.00" in ax.get_legend().get_texts()[0].get_text()


def test_several_problems():
    rows = (solved("p", "a", 1.0), solved("q", "a", 0.5), solved("p", "b", 0.1))
    ax = gamedp.pictures.plot(Comparison(rows, 1e-6))
    assert [line.get_ydata().tolist() for line in ax.lines] == [[1, 2], [1]]
    assert ax.get_ylabel() == "problems solved, of 2"


def test_two_methods_against_each_other():
    rows = (solved("p", "a", 1.0), solved("q", "a", 0.5), solved("p", "b", 0.1))
    table = Comparison(rows, 1e-6)
    ax = gamedp.pictures.plot_comparison(table, scatter=("a", "b"))
    points = ax.lines[-1]
    assert (points.get_xdata()[0], points.get_ydata()[0]) == (2.0, 0.2)
    with pytest.raises(UnknownNameError):
        gamedp.pictures.plot_comparison(table, scatter=("a", "c"))
    apart = Comparison((solved("p", "a", 1.0), solved("q", "b", 1.0)), 1e-6)
    with pytest.raises(UnsupportedProblemError, match="in common"):
        gamedp.pictures.plot_comparison(apart, scatter=("a", "b"))


def test_nothing_that_counts():
    table = Comparison((solved("p", "a", 1.0), solved("p", "b", 1.0, low=1.0)), 1e-6)
    assert math.isnan(table.to_columns()["seconds"][0])
    with pytest.raises(UnsupportedProblemError, match="no method"):
        gamedp.pictures.plot(table)
