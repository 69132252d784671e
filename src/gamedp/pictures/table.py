"""A cross table of policies as a heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gamedp.errors import UnknownNameError
from gamedp.pictures.canvas import canvas, colour_bar, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from gamedp.policies.cross_table import CrossTable

__all__ = ["plot_cross_table"]

SEATS = {
    "both": "what the row gets, average over both seats",
    "first": "what the row gets as player 0",
    "second": "what the row gets as player 1",
}
MOST_WITH_NUMBERS = 8
MOST_LETTERS = 50
"""Of all names side by side."""

MOST_TICKS = 26


def plot_cross_table(table: CrossTable, seats: str = "both", *, ax: Axes | None = None) -> Axes:
    """Draw what every policy gets against every other one, as colours; a small table with numbers.

    Parameters
    ----------
    table : gamedp.policies.CrossTable
    seats : {"both", "first", "second"}
        Whether the policy of the row sits in both seats in turn, or is player 0, or player 1.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    UnknownNameError
        If `seats` is none of these.
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
    numbers = getattr(table, seats)
    ax = canvas(ax)
    shown = ax.imshow(numbers, cmap="cividis")
    count = len(table.names)
    step = -(-count // MOST_TICKS)
    places = np.arange(0, count, step)
    names = [short(name) for name in table.names[::step]]
    turned = sum(map(len, names)) > MOST_LETTERS
    ax.set_xticks(places, names, rotation=90 if turned else 0)
    ax.set_yticks(places, names)
    ax.set(xlabel="against", ylabel="policy", title=SEATS[seats])
    if count <= MOST_WITH_NUMBERS:
        middle = (np.nanmin(numbers) + np.nanmax(numbers)) / 2
        for row, column in np.ndindex(count, count):
            number = float(numbers[row, column])
            ink = "black" if number > middle else "white"
            text = f"{number + 0.0:.3f}"
            ax.text(column, row, text, color=ink, ha="center", va="center", size="small")
    colour_bar(ax, shown, "value")
    return ax
