"""Pictures with curves: convergence, the end of play, contexts of staged games, and times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.errors import InvalidParameterError, UnknownNameError, UnsupportedProblemError, shown
from gamedp.pictures.canvas import (
    COLOURS,
    canvas,
    in_words,
    legend_beside,
    short,
    values_of,
    what_values_are,
    whole_ticks,
)
from gamedp.policies.lengths import Survival

if TYPE_CHECKING:
    from collections.abc import Hashable

    from matplotlib.axes import Axes

    from gamedp.comparison.comparison import Comparison
    from gamedp.policies.trace import Trace
    from gamedp.stages.solution import StagedSolution


PAIRS = ((0, 1), (3, 6), (5, 7), (4, 2))
"""Colours of the lines of each of several traces in one picture."""

MARKERS = (".", "s", "^", "x")


def plot_trace(
    trace: Trace,
    *,
    state: Hashable | None = None,
    label: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the convergence of a method.

    For sweeps, by the number of the sweep on a logarithmic scale: the largest change of a value,
    and the largest distance of the proven bounds where there are any. For improvements, by the
    number of the policy: in how many states it acts differently from the one before. For a single
    state, its value and the proven bounds.

    Parameters
    ----------
    trace : gamedp.policies.Trace
    state : optional
        A state whose value is drawn.
    label : str, optional
        The name of the trace in the legend, where several are drawn into the same axes.
    ax : matplotlib.axes.Axes, optional
        The axes to draw into; a new figure if not given.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    UnknownStateError
        If there is no such state.
    UnsupportedProblemError
        If the players have changed places in the state that stands for it.
    MissingPackageError
        If matplotlib is not installed.

    Examples
    --------
    >>> import gamedp
    >>> model = gamedp.Model.from_arrays([0, 1], [0, 1], [0], [1.0], rewards=[1.0])
    >>> trace = gamedp.policies.trace_sweeps(model, gamedp.Discounted(0.5), sweeps=20)
    >>> ax = gamedp.pictures.plot_trace(trace)
    >>> [line.get_label() for line in ax.lines]
    ['largest change', 'distance of the bounds']
    """
    ax = canvas(ax)
    if state is not None:
        _draw_value(ax, trace, state, label)
        return ax
    place, named = _place(ax), "" if label is None else f"{short(label)}: "
    steps = np.arange(1, len(trace.values))
    if trace.kind == "improvements":
        differs = (np.diff(trace.policies, axis=0) != 0).sum(axis=1)
        if label is None:
            ax.bar(steps, differs, color=COLOURS[0])
            for step, count in zip(steps.tolist(), differs.tolist(), strict=True):
                ax.annotate(f"{count:,}", (step, count), ha="center", va="bottom")
        else:
            colour = COLOURS[PAIRS[place][0]]
            ax.plot(steps, differs, color=colour, label=short(label), **_marks(place))
            ax.legend(frameon=False)
        ax.set(xlabel="policy", ylabel="states with another action than before")
    else:
        with np.errstate(invalid="ignore"):
            widths = (trace.upper - trace.lower)[1:].max(axis=1, initial=0.0)
        # Where all has come to rest there is nothing to show on a logarithmic scale.
        changes = np.where(trace.changes > 0, trace.changes, np.nan)
        of_changes, of_bounds = (COLOURS[number] for number in PAIRS[place])
        label = f"{named}largest change"
        ax.plot(steps, changes, color=of_changes, label=label, **_marks(place))
        if np.isfinite(widths).all():
            ax.plot(
                steps,
                widths,
                color=of_bounds,
                linestyle="--",
                label=f"{named}distance of the bounds",
                **_marks(place),
            )
        ax.set_yscale("log")
        ax.set(xlabel="sweep", ylabel="in units of value")
        ax.legend()
    whole_ticks(ax.xaxis)
    return ax


def _place(ax: Axes) -> int:
    """Return how many traces the axes have already, as a place among the colours."""
    return sum(line.get_linestyle() == "-" for line in ax.lines) % len(PAIRS)


def _marks(place: int) -> dict[str, Any]:
    """Return the marks on the lines of one of several traces, which differ in grey print, too."""
    return {"marker": MARKERS[place], "markersize": 3 if place else None}


def _draw_value(ax: Axes, trace: Trace, state: Hashable, label: str | None) -> None:
    """Draw the value of one state, step by step, with its bounds."""
    index, swapped = trace.model.index(state)
    if swapped:
        message = f"{shown(state)} stands for one with the players' places changed; name that one."
        raise UnsupportedProblemError(message)
    steps = np.arange(len(trace.values))
    low, high = (
        np.where(np.isfinite(side), side, np.nan)[:, index] for side in (trace.lower, trace.upper)
    )
    place, named = _place(ax), "" if label is None else f"{short(label)}: "
    colour, band = COLOURS[PAIRS[place][0]], COLOURS[PAIRS[place][0] if place else 4]
    alpha = 0.2 if place else 0.5
    ax.fill_between(steps, low, high, color=band, alpha=alpha, label=f"{named}bounds")
    line = trace.values[:, index]
    ax.plot(steps, line, color=colour, label=f"{named}value", **_marks(place))
    ax.set(xlabel=trace.step, ylabel="value", title=f"value of {short(in_words(state))}")
    whole_ticks(ax.xaxis)
    ax.legend(frameon=False)


LOGARITHMIC_BELOW = 0.01
"""Probability below which the axis is logarithmic."""

FAINTEST = 1e-12
"""Least probability that is drawn."""

VISIBLE_WIDTH = 1e-3
"""Distance of bounds below which they are drawn as one line."""

LINES = ("-", "--", "-.", ":")


def plot_survival(*curves: Survival, ax: Axes | None = None) -> Axes:
    """Draw the probability that play is not over after n actions.

    The scale is logarithmic where the probability becomes small: a decline by the same factor with
    each action is then a straight line.

    Parameters
    ----------
    *curves : gamedp.policies.Survival
        Curves that count the same actions; of given policies, or the greatest of all.
    ax : matplotlib.axes.Axes, optional
        The axes to draw into; a new figure if not given.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InvalidParameterError
        If there is no curve, something else is given, or their actions differ.
    MissingPackageError
        If matplotlib is not installed.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> model = gamedp.compile(Matches(matches=6), compile="never")
    >>> chance = gamedp.Policy.uniform(model)
    >>> given = gamedp.evaluate(model, [chance, chance]).survival(6)
    >>> most = gamedp.policies.greatest_survival(model, 6)
    >>> ax = gamedp.pictures.plot_survival(given, most)
    >>> [line.get_label() for line in ax.lines], ax.get_xlabel()
    (['uniform against uniform', 'the longest games'], 'plies')
    """
    given: tuple[Any, ...] = curves
    others = [curve for curve in given if not isinstance(curve, Survival)]
    if others:
        message = (
            f"{shown(others[0])} is not a gamedp.policies.Survival; Evaluation.survival and "
            "gamedp.policies.greatest_survival make one."
        )
        raise InvalidParameterError(message)
    if len({curve.actions for curve in curves}) != 1:
        message = "name one curve or more, all with the same actions that count."
        raise InvalidParameterError(message)
    ax = canvas(ax)
    for place, curve in enumerate(curves):
        plies = np.arange(curve.plies + 1)
        middle = curve.lower + (curve.upper - curve.lower) / 2
        colour = COLOURS[(0, 3, 5, 6)[place % 4]]
        ax.plot(
            plies,
            np.where(middle > FAINTEST, middle, np.nan),
            color=colour,
            linestyle=LINES[place % len(LINES)],
            label=short(curve.title, 40),
        )
        if (curve.upper - curve.lower).max() > VISIBLE_WIDTH:
            ax.fill_between(plies, curve.lower, curve.upper, color=colour, alpha=0.3, linewidth=0)
    least = min(float(curve.upper.min()) for curve in curves)
    if least < LOGARITHMIC_BELOW:
        ax.set_yscale("log")
    else:
        ax.set_ylim(0, 1.03)
    ax.set(
        xlabel="plies" if curves[0].actions is None else "actions that count",
        ylabel="probability that play is not over",
    )
    whole_ticks(ax.xaxis)
    ax.legend(frameon=False)
    return ax


SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)


def plot_stages(solution: StagedSolution, *, player: int = 0, ax: Axes | None = None) -> Axes:
    """Draw the values of all contexts of a staged game by their tier, from the start to the end.

    For each tier, the picture shows the least and the largest value, the quartiles and the median
    over all its contexts, each counted once, regardless of its probability. The value at the start
    is marked.

    Parameters
    ----------
    solution : StagedSolution
    player : int
        The player whose values are drawn; where `canonical` merges contexts, those of the
        representatives.
    ax : matplotlib.axes.Axes, optional
        The axes to draw into; a new figure if not given.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    UnknownNameError
        If there is no such player.
    MissingPackageError
        If matplotlib is not installed.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.kniffel import Kniffel
    >>> solution = gamedp.solve(Kniffel(dice=2, faces=2), compile="never")
    >>> ax = gamedp.pictures.plot_stages(solution)
    >>> ax.get_xlabel()
    'tier of the context'
    """
    model, values = solution.model, values_of(solution, player)[0]
    contexts = model.sweeper.survey()
    over = np.flatnonzero(~np.isnan(contexts.values))
    groups = np.split(contexts.codes, contexts.offsets[1:-1])
    tiers = [model.rules.tier(model.state(int(codes[0]))) for codes in groups]
    if len(over):
        first = model.rules.tier(model.state(int(over[0])))
        if first not in tiers:
            groups, tiers = [over, *groups], [first, *tiers]
    spread = np.array([np.nanquantile(values[codes], SHARES) for codes in groups])
    ax = canvas(ax)
    from matplotlib import rcParams

    blue = COLOURS[0]
    ax.fill_between(tiers, spread[:, 0], spread[:, 4], color=blue, alpha=0.2, label="all contexts")
    ax.fill_between(tiers, spread[:, 1], spread[:, 3], color=blue, alpha=0.4, label="middle half")
    ax.plot(tiers, spread[:, 2], color=rcParams["text.color"], marker=".", label="median")
    starts = [model.rules.tier(context) for _, context in model.starts]
    start = solution.value(player=player)
    ax.plot(starts[:1], [start], "D", color=COLOURS[3], label=f"at the start: {start:.6g}")
    ax.set(xlabel="tier of the context", ylabel=what_values_are(solution, player))
    ax.invert_xaxis()
    whole_ticks(ax.xaxis)
    ax.legend(frameon=False, loc="lower left")
    ax.set_title(f"{sum(map(len, groups)):,} contexts")
    return ax


SERIES_MARKERS = "osD^v<>P*X"

MAX_NAME_LETTERS = 32
"""Largest number of characters of the name of a method."""

WARM_SECONDS = "processor seconds of a warm call"


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
    ax.set_yticks(range(len(rows)), [short(row.method, MAX_NAME_LETTERS) for row in rows])
    ax.invert_yaxis()
    ax.set(xscale="log", xlabel=WARM_SECONDS, title=short(comparison.title(problem), 60))


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
    names = [f"seconds of {short(method, MAX_NAME_LETTERS)}" for method in methods]
    ax.set(xscale="log", yscale="log", xlim=ends, ylim=ends, aspect="equal")
    ax.set(xlabel=names[0], ylabel=names[1])


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
            marker=SERIES_MARKERS[number % len(SERIES_MARKERS)],
            color=COLOURS[number % len(COLOURS)],
            label=f"{short(growth.method, MAX_NAME_LETTERS)}, exponent {growth.exponent:.2f}",
        )
    ax.set(xscale="log", yscale="log", xlabel="transitions", ylabel=WARM_SECONDS)
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
                marker=SERIES_MARKERS[number % len(SERIES_MARKERS)],
                color=COLOURS[number % len(COLOURS)],
                label=short(method, MAX_NAME_LETTERS),
            )
    solved = f"problems solved, of {len(comparison.problems)}"
    ax.set(xscale="log", xlabel=WARM_SECONDS, ylabel=solved)
    whole_ticks(ax.yaxis)
    legend_beside(ax)
