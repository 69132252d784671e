"""A picture of the probability that play is not over, by the number of actions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.errors import InvalidParameterError, shown
from gamedp.pictures.canvas import COLOURS, canvas, short, whole_ticks
from gamedp.policies.survival import Survival

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_survival"]

SMALL = 0.01
"""Probability below which the axis is logarithmic."""

FAINTEST = 1e-12
"""Least probability that is drawn."""

SEEN = 1e-3
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
            f"{shown(others[0])} is no gamedp.policies.Survival; Evaluation.survival and "
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
        if (curve.upper - curve.lower).max() > SEEN:
            ax.fill_between(plies, curve.lower, curve.upper, color=colour, alpha=0.3, linewidth=0)
    least = min(float(curve.upper.min()) for curve in curves)
    if least < SMALL:
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
