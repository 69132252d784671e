"""Pictures of players and policies compared: gains, ratings, results, and cross tables."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.errors import UnknownNameError, UnsupportedProblemError
from gamedp.pictures.canvas import COLOURS, HATCHES, canvas, colour_bar, legend_beside, short
from gamedp.play.match import Match
from gamedp.play.pairing import Meeting, Pairing
from gamedp.play.tournament import Tournament

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from gamedp.play.pairing import Pairing
    from gamedp.play.statistics import Ratings
    from gamedp.policies.cross_table import CrossTable
    from gamedp.policies.response import Exploitability


def plot_gains(found: Exploitability, *, ax: Axes | None = None) -> Axes:
    """Draw each player's possible gain by a best response to the others, and the average.

    Lines are proven bounds.

    Parameters
    ----------
    found : gamedp.policies.Exploitability
    ax : matplotlib.axes.Axes, optional
        The axes to draw into; a new figure if not given.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    MissingPackageError
        If matplotlib is not installed.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> model = gamedp.compile(Matches(matches=6), compile="never")
    >>> chance = gamedp.Policy.uniform(model)
    >>> ax = gamedp.pictures.plot_gains(gamedp.exploitability(model, [chance, chance]))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['player 0', 'player 1']
    """
    from matplotlib import rcParams

    gains = np.array(found.gains)
    places, middle = np.arange(len(gains)), gains.mean(axis=1)
    ax = canvas(ax, size=(6.4, 0.4 * len(gains) + 1.8))
    ax.barh(
        places,
        middle,
        xerr=np.array([middle - gains[:, 0], gains[:, 1] - middle]).clip(0),
        height=0.6,
        color=COLOURS[4],
        edgecolor=COLOURS[0],
        ecolor=rcParams["text.color"],
        capsize=4,
    )
    ax.axvline((found.lower + found.upper) / 2, color=COLOURS[3], linestyle="--")
    ends = dict.fromkeys(f"{end:.4g}" for end in (found.lower, found.upper))
    ax.set_yticks(places, [f"player {place}" for place in places])
    ax.set(
        ylim=(len(gains) - 0.5, -0.5),
        xlabel="gain by the best response",
        title=f"exploitability, the average (dashed): {' … '.join(ends)}",
    )
    return ax


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
            "a tournament of a game for two is drawn by plot_cross_table and plot_ratings; each "
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


SEATS = {
    "both": "what the row gets, average over both seats",
    "first": "what the row gets as player 0",
    "second": "what the row gets as player 1",
}
MOST_WITH_NUMBERS = 8
MOST_LETTERS = 50
"""Largest number of characters of all names side by side."""

MOST_TICKS = 26


RATES = {
    "both": "points a game of the row, in both seats",
    "first": "points a game of the row as player 0",
    "second": "points a game of the row as player 1",
}
MOST_WITH_INTERVALS = 5


def plot_cross_table(
    table: CrossTable | Tournament, seats: str = "both", *, ax: Axes | None = None
) -> Axes:
    """Draw each policy's value against every other as colours; a small table with numbers.

    For a tournament, it is the points a game: 1 for a win, 1/2 for a draw. With up to five
    players, Wilson's interval of 95 % stands below, with each pair of games as one trial; it is at
    least as wide as necessary. Computed values have none.

    Parameters
    ----------
    table : gamedp.policies.CrossTable or gamedp.play.Tournament
    seats : {"both", "first", "second"}
        Whether the policy of the row plays in both seats in turn, or as player 0, or as player 1.
    ax : matplotlib.axes.Axes, optional
        The axes to draw into; a new figure if not given.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    UnknownNameError
        If `seats` is not one of these.
    UnsupportedProblemError
        If it is a tournament of a game for three players and more.
    MissingPackageError
        If matplotlib is not installed.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> model = gamedp.compile(Matches(matches=6), compile="never")
    >>> table = gamedp.cross_table(
    ...     model, {"best": gamedp.solve(model), "chance": gamedp.Policy.uniform(model)}
    ... )
    >>> ax = gamedp.pictures.plot_cross_table(table)
    >>> [text.get_text() for text in ax.texts]
    ['0.000', '0.889', '-0.889', '0.000']
    """
    if seats not in SEATS:
        raise UnknownNameError.nearest(kind="choice of", name=str(seats), known=SEATS)
    count = len(table.names)
    if isinstance(table, Tournament):
        numbers, trials = _rates(table, seats)
        who, what, unit, least, most = "player", RATES[seats], "points a game", 0.0, 1.0
    else:
        numbers, trials = getattr(table, seats), np.full((count, count), np.inf)
        who, what, unit = "policy", SEATS[seats], "value"
        least, most = numbers.min(), numbers.max()
    ax = canvas(ax)
    shown = ax.imshow(numbers, cmap="cividis", vmin=least, vmax=most)
    step = -(-count // MOST_TICKS)
    places = np.arange(0, count, step)
    names = [short(name) for name in table.names[::step]]
    turned = sum(map(len, names)) > MOST_LETTERS
    ax.set_xticks(places, names, rotation=90 if turned else 0)
    ax.set_yticks(places, names)
    ax.set(xlabel="against", ylabel=who, title=what)
    if count <= MOST_WITH_NUMBERS:
        middle = sum(shown.get_clim()) / 2
        for row, column in np.argwhere(~np.isnan(numbers)).tolist():
            number = float(numbers[row, column])
            ink = "black" if number > middle else "white"
            text = f"{number + 0.0:.3f}"
            if np.isfinite(trials[row, column]) and count <= MOST_WITH_INTERVALS:
                text += "\n{:.2f} … {:.2f}".format(*_wilson(number, trials[row, column]))
            ax.text(column, row, text, color=ink, ha="center", va="center", size="small")
    colour_bar(ax, shown, unit)
    return ax


def _rates(table: Tournament, seats: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the points a game of each player against each other, and the number of trials.

    A player has none against itself, or before the first game; a trial is a pair of games in both
    seats, or a game; the number is infinite for computed values.
    """
    count = len(table.names)
    number = {name: place for place, name in enumerate(table.names)}
    rates, trials = np.full((2, count, count), np.nan)
    for pairing in _pairings(table):
        one, other = number[pairing.one], number[pairing.other]
        # Wins, draws and losses of the row's player in the seats that count.
        first, second = np.array(pairing.first), np.array(pairing.second)
        for row, column, as_first, as_second in (
            (one, other, first, second),
            (other, one, second[::-1], first[::-1]),
        ):
            parts = {"both": as_first + as_second, "first": as_first, "second": as_second}
            wins, draws, losses = parts[seats].tolist()
            games = wins + draws + losses
            if games:
                rates[row, column] = (wins + draws / 2) / games
                known = games / 2 if seats == "both" else games
                trials[row, column] = np.inf if pairing.is_exact else known
    return rates, trials


def _pairings(table: Tournament) -> tuple[Pairing, ...]:
    if not table.pairings:
        message = "a tournament of three seats and more is drawn by plot_results."
        raise UnsupportedProblemError(message)
    return table.pairings


def _wilson(rate: float, trials: float) -> tuple[float, float]:
    """Return Wilson's interval of 95 %: no other distribution of points varies more."""
    square = DEVIATIONS**2 / trials
    middle = (rate + square / 2) / (1 + square)
    reach = math.sqrt(rate * (1 - rate) * square + square**2 / 4) / (1 + square)
    return max(0.0, middle - reach), min(1.0, middle + reach)
