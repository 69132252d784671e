"""Pictures of comparisons: time by method, by size, and over many problems."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gamedp.errors import UnknownNameError, UnsupportedProblemError
from gamedp.pictures.canvas import COLOURS, canvas, legend_beside, short, whole_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from gamedp.comparison.comparison import Comparison

__all__ = ["plot_comparison"]

MARKERS = "osD^v<>P*X"


MAX_NAME_LETTERS = 32
"""Largest number of characters of the name of a method."""


def plot_comparison(
    comparison: Comparison, *, scatter: tuple[str, str] | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the warm times of a comparison, on logarithmic scales.

    For one problem, the median of each method with its least and largest time. For sizes of one
    problem, the time of each method by the number of transitions, with the fitted exponent. For
    several problems, the quantile plot of solver competitions: how many problems each method solves
    within which time. For two methods, a point for each problem: below the diagonal, the second
    one is faster. Only times that count are drawn.

    Parameters
    ----------
    comparison : gamedp.comparison.Comparison
    scatter : (str, str), optional
        The two methods whose times are drawn against each other.
    ax : matplotlib.axes.Axes, optional
        The axes to draw into; a new figure if not given.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    UnsupportedProblemError
        If no time counts, or no problem has times of both methods.
    UnknownNameError
        If a method has no row.
    MissingPackageError
        If matplotlib is not installed.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> table = gamedp.compare(Matches(matches=18), solvers=["retrograde", "value-iteration"])
    >>> ax = gamedp.pictures.plot_comparison(table)
    >>> ax.get_xlabel()
    'processor seconds of a warm call'
    """
    if not any(comparison.counts(row) for row in comparison.rows):
        message = "no method of this comparison has a time that counts; print it to see why."
        raise UnsupportedProblemError(message)
    ax = canvas(ax, size=(7.0, 4.0))
    if scatter is not None:
        _draw_scatter(ax, comparison, scatter)
    elif len(comparison.problems) == 1:
        _draw_methods(ax, comparison)
    elif comparison.growth():
        _draw_growth(ax, comparison)
    else:
        _draw_quantiles(ax, comparison)
    return ax


def _draw_methods(ax: Axes, comparison: Comparison) -> None:
    (problem,) = comparison.problems
    rows = comparison.ranking(problem)
    for place, row in enumerate(rows):
        ax.plot(row.spread, [place, place], color=COLOURS[0], linewidth=1.5)
        ax.plot([row.seconds], [place], "o", color=COLOURS[0])
    ax.set_xscale("log")
    ax.set_yticks(range(len(rows)), [short(row.method, MAX_NAME_LETTERS) for row in rows])
    ax.invert_yaxis()
    ax.set_xlabel("processor seconds of a warm call")
    ax.set_title(short(comparison.title(problem), 60))


def _draw_scatter(ax: Axes, comparison: Comparison, methods: tuple[str, str]) -> None:
    for method in methods:
        if method not in comparison.methods:
            kind = "method"
            raise UnknownNameError.nearest(kind, method, comparison.methods)
    times = [
        {row.problem: row.seconds for row in comparison.rows
         if row.method == method and comparison.counts(row)}
        for method in methods
    ]  # fmt: skip
    points = [(times[0][problem], times[1][problem]) for problem in times[0].keys() & times[1]]
    if not points:
        message = f"{methods[0]} and {methods[1]} have no problem in common that both have solved."
        raise UnsupportedProblemError(message)
    ends = min(map(min, points)) / 2, max(map(max, points)) * 2
    for factor, style in ((1.0, "-"), (10.0, ":"), (0.1, ":")):
        ax.plot(ends, [factor * end for end in ends], style, color=COLOURS[-1], linewidth=1)
    ax.plot(*zip(*points, strict=True), "o", color=COLOURS[0])
    ax.set(xscale="log", yscale="log", xlim=ends, ylim=ends, aspect="equal")
    ax.set_xlabel(f"seconds of {short(methods[0], MAX_NAME_LETTERS)}")
    ax.set_ylabel(f"seconds of {short(methods[1], MAX_NAME_LETTERS)}")


def _draw_growth(ax: Axes, comparison: Comparison) -> None:
    sizes = {row.problem: row.transitions for row in comparison.rows if row.transitions}
    for number, growth in enumerate(comparison.growth()):
        points = sorted(
            (sizes[row.problem], row.seconds)
            for row in comparison.rows
            if row.method == growth.method and comparison.counts(row) and sizes.get(row.problem)
        )
        ax.plot(
            *zip(*points, strict=True),
            marker=MARKERS[number % len(MARKERS)],
            color=COLOURS[number % len(COLOURS)],
            label=f"{short(growth.method, MAX_NAME_LETTERS)}, exponent {growth.exponent:.2f}",
        )
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("transitions")
    ax.set_ylabel("processor seconds of a warm call")
    legend_beside(ax)


def _draw_quantiles(ax: Axes, comparison: Comparison) -> None:
    for number, method in enumerate(comparison.methods):
        times = sorted(
            row.seconds
            for row in comparison.rows
            if row.method == method and comparison.counts(row)
        )
        if times:
            ax.plot(
                times,
                np.arange(1, len(times) + 1),
                drawstyle="steps-post",
                marker=MARKERS[number % len(MARKERS)],
                color=COLOURS[number % len(COLOURS)],
                label=short(method, MAX_NAME_LETTERS),
            )
    ax.set_xscale("log")
    ax.set_xlabel("processor seconds of a warm call")
    ax.set_ylabel(f"problems solved, of {len(comparison.problems)}")
    whole_ticks(ax.yaxis)
    legend_beside(ax)
