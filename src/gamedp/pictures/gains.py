"""A picture of the players' possible gains by leaving a joint policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gamedp.pictures.canvas import COLOURS, canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from gamedp.policies.response import Exploitability

__all__ = ["plot_gains"]


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
