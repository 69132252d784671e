"""A picture of results of games: shares of games won, drawn and lost, or mean payoffs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.errors import UnsupportedProblemError
from gamedp.pictures.canvas import COLOURS, HATCHES, canvas, legend_beside, short
from gamedp.pictures.ratings import draw_intervals
from gamedp.play.match import Match
from gamedp.play.pairing import Meeting, Pairing
from gamedp.play.tournament import Tournament

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

__all__ = ["plot_results"]

KINDS = {"won": (0, ""), "drawn": (2, ""), "lost": (1, ""), "unfinished": (7, HATCHES[3])}
"""Results of a game, with colour and hatches; the colours differ in grey print, too."""


def plot_results(found: Match | Pairing | Meeting | Tournament, *, ax: Axes | None = None) -> Axes:
    """Draw results of games: shares won, drawn and lost in each seat, or mean payoffs.

    Of a match and of a pairing, the first player's games are counted by the seat; lines are
    intervals of 95 % of the share of games won, by Clopper and Pearson, if the number of games was
    fixed beforehand. Of three players and more in a tournament, it is each player's mean payoff
    with an interval of 95 %, the best first.

    Parameters
    ----------
    found : Match, Pairing, Meeting or Tournament
        Of :mod:`gamedp.play`; a tournament of three seats or more. For two, see
        :func:`gamedp.pictures.plot_cross_table` and :func:`gamedp.pictures.plot_ratings`.
    ax : matplotlib.axes.Axes, optional
        The axes to draw into; a new figure if not given.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    UnsupportedProblemError
        If it is a tournament of a game for two.
    MissingPackageError
        If matplotlib is not installed.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> game = Matches(matches=9)
    >>> players = gamedp.searchers.AlphaBeta(), gamedp.play.RandomPlayer(game)
    >>> found = gamedp.play.match(game, *players, games=20, seed=1, compile="never")
    >>> ax = gamedp.pictures.plot_results(found)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['as player 0', 'as player 1']
    """
    if isinstance(found, Tournament) and found.pairings:
        message = (
            "a round robin of a game for two is drawn by plot_cross_table and plot_ratings; each "
            "of its pairings by plot_results."
        )
        raise UnsupportedProblemError(message)
    if isinstance(found, Tournament | Meeting):
        means, errors = np.array([found.payoff(name) for name in found.names]).T
        ax = draw_intervals(found.names, means, _factor(found) * errors, ax)
        title = "intervals of 95 %, over all orders of the seats"
        if np.isnan(means).any():
            title = "no game was played to the end by all"
        elif np.isnan(errors).any():
            title = "no intervals: one group of games does not tell"
        ax.set(xlabel="mean payoff", title=title)
        return ax
    if isinstance(found, Match):
        title = _lead(found)
        return _draw_shares(found.by_seat, title, ax, sampled=True)
    counts = np.array([found.first, found.second], dtype=float)
    title = f"{short(found.one)} against {short(found.other)}"
    if found.unfinished:
        title += f", {found.unfinished:,.6g} more games unfinished"
    return _draw_shares(counts, title, ax, sampled=not found.is_exact)


def _lead(found: Match) -> str:
    """Return words for the first player's lead and its certainty."""
    if math.isnan(found.mean_difference):
        return f"no {found.group_word} of games has ended"
    mean = f"mean lead of the first player {found.mean_difference:.3g}"
    if found.interval is None:
        return f"{mean}, no interval: one {found.group_word}"
    low, high = found.interval
    return f"{mean}, 95 % interval {low:.3g} … {high:.3g}" if high > low else mean


def _draw_shares(counts: NDArray[Any], title: str, ax: Axes | None, *, sampled: bool) -> Axes:
    """Draw the share of games with each result in each seat.

    Parameters
    ----------
    counts : (seats, 3 or 4)
        The number of games of each of the `KINDS`, in their order.
    title : str
    ax : matplotlib.axes.Axes or None
    sampled : bool
        Whether these games were played, so that the share won needs an interval.
    """
    seats = np.arange(len(counts))
    games = counts.sum(axis=1)
    shares = counts / np.maximum(games, 1)[:, np.newaxis]
    ax = canvas(ax, size=(6.4, 0.5 * len(counts) + 1.6))
    left = np.zeros(len(counts))
    for (name, (colour, hatch)), share in zip(KINDS.items(), shares.T, strict=False):
        if share.any() or name in ("won", "lost"):
            ax.barh(
                seats,
                share,
                left=left,
                height=0.6,
                label=name,
                color=COLOURS[colour],
                hatch=hatch,
                edgecolor="white",
            )
        left += share
    if sampled:
        ends = np.array([_interval(int(row[0]), int(row.sum())) for row in counts])
        won = shares[:, 0]
        lines = np.abs(np.array([won - ends[:, 0], ends[:, 1] - won]))
        ax.errorbar(won, seats, xerr=lines, fmt="none", ecolor="black", capsize=4)
    known = "; 95 % intervals of those won" if sampled else ""
    ax.set_yticks(seats, [f"as player {seat}" for seat in seats])
    ax.set(
        xlim=(0, 1),
        ylim=(len(counts) - 0.5, -0.5),
        xlabel=f"share of the first player's games{known}",
        title=title,
    )
    legend_beside(ax)
    return ax


def _factor(found: Tournament | Meeting) -> float:
    """Return the number of standard errors in half an interval of 95 %, by Student's distribution.

    For a tournament, it is that of the meeting with the fewest groups of games, so that the
    intervals are too long rather than too short.
    """
    from scipy.special import stdtrit

    meetings = found.meetings if isinstance(found, Tournament) else [found]
    groups = min((len(each.payoffs) for each in meetings if isinstance(each, Meeting)), default=0)
    return float(stdtrit(max(groups - 1, 1), 0.975))


def _interval(won: int, games: int) -> tuple[float, float]:
    """Return the interval of 95 % of a probability, by Clopper and Pearson."""
    from scipy.stats import binomtest

    if not games:
        return math.nan, math.nan
    low, high = binomtest(won, games).proportion_ci(0.95)
    return float(low), float(high)
