"""A cross table of policies as a heat map."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from gamedp.errors import UnknownNameError, UnsupportedProblemError
from gamedp.pictures.bars import DEVIATIONS
from gamedp.pictures.canvas import canvas, colour_bar, short
from gamedp.play.tournament import Tournament

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from gamedp.play.pairing import Pairing
    from gamedp.policies.cross_table import CrossTable

__all__ = ["plot_cross_table"]

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
