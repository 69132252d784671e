"""A picture of ratings of players, with errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gamedp.pictures.canvas import COLOURS, canvas, short
from gamedp.play.tournament import Tournament

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from gamedp.play.statistics import Ratings

__all__ = ["draw_intervals", "plot_ratings"]

DEVIATIONS = 1.96
"""Number of standard errors on either side of an interval of 95 %."""


def plot_ratings(found: Tournament | Ratings, *, ax: Axes | None = None) -> Axes:
    """Draw the ratings of players, the strongest first, with intervals of 95 %.

    Only differences matter: the mean of the players is 0. The errors assume independent games.

    Parameters
    ----------
    found : gamedp.play.Tournament or gamedp.play.Ratings
    ax : matplotlib.axes.Axes, optional
        The axes to draw into; a new figure if not given.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    UnsupportedProblemError
        If the games are for more than two players, which gives no ratings.
    MissingPackageError
        If matplotlib is not installed.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> game = Matches(matches=9)
    >>> players = {"random": gamedp.play.RandomPlayer(game), "best": gamedp.searchers.AlphaBeta()}
    >>> found = gamedp.play.tournament(game, players, games=20, seed=1, compile="never")
    >>> ax = gamedp.pictures.plot_ratings(found)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['best', 'random']
    """
    ratings = found.ratings() if isinstance(found, Tournament) else found
    error = DEVIATIONS * ratings.first_move_error
    ax = draw_intervals(ratings.names, ratings.elo, DEVIATIONS * ratings.errors, ax)
    ax.axvline(0, color=COLOURS[7], linewidth=1, zorder=0)
    ax.set(
        xlabel="rating in Elo, from the mean of the players",
        title=f"intervals of 95 %; the first move is worth {ratings.first_move:.0f} ± {error:.0f}",
    )
    return ax


def draw_intervals(
    names: Sequence[str],
    means: NDArray[np.float64],
    reaches: NDArray[np.float64],
    ax: Axes | None,
) -> Axes:
    """Draw numbers of some players with intervals of 95 %, the largest first.

    Parameters
    ----------
    names : sequence of str
    means, reaches : (N,) float64
        The numbers, and half the lengths of their intervals; NaN if unknown.
    ax : matplotlib.axes.Axes or None
    """
    order = np.argsort(-means, kind="stable")
    places = np.arange(len(order))
    ax = canvas(ax, size=(6.4, max(2.2, 0.35 * len(order) + 1.4)))
    ax.errorbar(
        means[order],
        places,
        xerr=reaches[order],
        fmt="o",
        color=COLOURS[0],
        elinewidth=4,
        markersize=8,
        markeredgecolor="white",
    )
    ax.set_yticks(places, [short(names[place]) for place in order])
    ax.set_ylim(len(order) - 0.5, -0.5)
    return ax
