"""A picture of convergence: bounds, or changes, row by row of a trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gamedp.errors import UnsupportedProblemError, shown
from gamedp.pictures.canvas import COLOURS, canvas, in_words, short, whole_ticks

if TYPE_CHECKING:
    from collections.abc import Hashable

    from matplotlib.axes import Axes

    from gamedp.policies.trace import Trace

__all__ = ["plot_trace"]


def plot_trace(trace: Trace, *, state: Hashable | None = None, ax: Axes | None = None) -> Axes:
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
        _draw_value(ax, trace, state)
        return ax
    steps = np.arange(1, len(trace.values))
    if trace.kind == "improvements":
        differs = (np.diff(trace.policies, axis=0) != 0).sum(axis=1)
        ax.bar(steps, differs, color=COLOURS[0])
        for step, count in zip(steps.tolist(), differs.tolist(), strict=True):
            ax.annotate(f"{count:,}", (step, count), ha="center", va="bottom")
        ax.set(xlabel="policy", ylabel="states with another action than before")
    else:
        with np.errstate(invalid="ignore"):
            widths = (trace.upper - trace.lower)[1:].max(axis=1, initial=0.0)
        # Where all has come to rest there is nothing to show on a logarithmic scale.
        changes = np.where(trace.changes > 0, trace.changes, np.nan)
        ax.plot(steps, changes, color=COLOURS[0], marker=".", label="largest change")
        if np.isfinite(widths).all():
            ax.plot(
                steps,
                widths,
                color=COLOURS[1],
                marker=".",
                linestyle="--",
                label="distance of the bounds",
            )
        ax.set_yscale("log")
        ax.set(xlabel="sweep", ylabel="in units of value")
        ax.legend()
    whole_ticks(ax.xaxis)
    return ax


def _draw_value(ax: Axes, trace: Trace, state: Hashable) -> None:
    """Draw the value of one state, step by step, with its bounds."""
    index, swapped = trace.model.index(state)
    if swapped:
        message = f"{shown(state)} stands for one with the players' places changed; name that one."
        raise UnsupportedProblemError(message)
    steps = np.arange(len(trace.values))
    low, high = (
        np.where(np.isfinite(side), side, np.nan)[:, index] for side in (trace.lower, trace.upper)
    )
    ax.fill_between(steps, low, high, color=COLOURS[4], alpha=0.5, label="bounds")
    ax.plot(steps, trace.values[:, index], color=COLOURS[0], marker=".", label="value")
    step = "policy" if trace.kind == "improvements" else "sweep"
    ax.set(xlabel=step, ylabel="value", title=f"value of {short(in_words(state))}")
    whole_ticks(ax.xaxis)
    ax.legend(frameon=False)
