"""A picture of the probability of each payoff or total."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.errors import UnsupportedProblemError
from gamedp.pictures.canvas import COLOURS, canvas, short, whole_ticks
from gamedp.policies.evaluation import Evaluation
from gamedp.results.status import check_player
from gamedp.simulation.result import Simulation
from gamedp.stages.totals.result import Distribution

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray


MOST_BARS = 8
"""Largest number of bars side by side, each with its numbers."""

MAX_HIDDEN = 1e-4
"""With more bars, largest probability beyond either edge of the picture."""

VISIBLE_WIDTH = 1e-3
"""Distance of bounds below which they are drawn as one line."""

MOST_SPAN = 200_000
"""Largest span of integers that are drawn as one outline."""


@attrs.frozen(eq=False)
class _Chances:
    """Payoffs, the bounds of their probabilities, and a description of the picture."""

    payoffs: NDArray[np.float64]
    middle: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    what: str
    title: str


def plot_distribution(
    found: Distribution | Evaluation | Simulation, *, player: int = 0, ax: Axes | None = None
) -> Axes:
    """Draw the probability of each payoff or total, and the mean.

    Up to eight payoffs are bars: with bounds of the probability for an evaluation, and with
    intervals of 95 % by Clopper and Pearson for simulated games, if their number was fixed
    beforehand. With more payoffs, the rarest ten-thousandth on either side is left out.

    Parameters
    ----------
    found : gamedp.stages.Distribution, gamedp.policies.Evaluation or gamedp.simulation.Simulation
    player : int
        The player whose payoffs are drawn. A distribution of totals has only player 0's.
    ax : matplotlib.axes.Axes, optional
        The axes to draw into; a new figure if not given.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    UnsupportedProblemError
        If there are rewards on the way, or no game has ended.
    UnknownNameError
        If there is no such player.
    MissingPackageError
        If matplotlib is not installed.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> model = gamedp.compile(Matches(matches=6), compile="never")
    >>> chance = gamedp.Policy.uniform(model)
    >>> ax = gamedp.pictures.plot_distribution(gamedp.evaluate(model, [chance, chance]))
    >>> ax.get_title(), [round(float(bar.get_height()), 3) for bar in ax.patches]
    ('uniform against uniform', [0.537, 0.463])
    """
    chances = _chances(found, player)
    ax = canvas(ax)
    if len(chances.payoffs) <= MOST_BARS:
        _draw_bars(ax, chances)
    else:
        _draw_many(ax, chances)
    ax.set(xlabel=chances.what, ylabel="probability", title=chances.title)
    return ax


def _chances(found: Any, player: int) -> _Chances:
    """Return the probabilities to draw."""
    if isinstance(found, Distribution):
        if player != 0:
            message = "a distribution of totals is player 0's; name no other player."
            raise UnsupportedProblemError(message)
        numbers = found.probabilities
        title = f"mean {found.mean:.4g}, standard deviation {found.standard_deviation:.3g}"
        totals = found.totals.astype(float)
        return _Chances(totals, numbers, numbers, numbers, "total of player 0", title)
    what = f"payoff of player {player}"
    if isinstance(found, Simulation):
        check_player(len(found.means), player)
        if not found.finished:
            message = f"none of {found.games:,} games has ended; raise max_plies."
            raise UnsupportedProblemError(message)
        payoffs = sorted(found.outcomes[player])
        rates = [found.count(payoff, player) / found.finished for payoff in payoffs]
        # Where games stopped once enough was known, intervals for a fixed number are wrong.
        ends = [
            (rate, rate) if found.sequential else found.interval(payoff, player)
            for payoff, rate in zip(payoffs, rates, strict=True)
        ]
        left = f", {found.unfinished:,} more unfinished" if found.unfinished else ""
        title = f"{short(' against '.join(found.names), 40)}, {found.finished:,} games{left}"
        return _Chances(np.array(payoffs), np.array(rates), *_columns(np.array(ends)), what, title)
    bounds = found.distribution(player)
    low, high = _columns(np.array(list(bounds.values())))
    names = short(" against ".join(policy.name for policy in found.policies), 60)
    return _Chances(np.array(list(bounds)), low + (high - low) / 2, low, high, what, names)


def _columns(pairs: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return two columns of pairs, of which there may be none."""
    low, high = pairs.reshape(-1, 2).T
    return low, high


def _draw_bars(ax: Axes, chances: _Chances) -> None:
    """Draw a bar for each payoff side by side, with its bounds, and its probability above."""
    from matplotlib import rcParams

    places = np.arange(len(chances.payoffs))
    down, up = chances.middle - chances.lower, chances.upper - chances.middle
    seen = (down + up).max(initial=0) > VISIBLE_WIDTH
    ax.bar(
        places,
        chances.middle,
        yerr=np.maximum([down, up], 0) if seen else None,
        color=COLOURS[4],
        edgecolor=COLOURS[0],
        ecolor=rcParams["text.color"],
        capsize=4,
    )
    for place, top, number in zip(places, chances.upper, chances.middle, strict=True):
        ax.annotate(
            f"{number:.3g}",
            (place, top),
            xytext=(0, 3),
            textcoords="offset points",
            ha="center",
            va="bottom",
        )
    ax.set_xticks(places, [f"{payoff:.6g}" for payoff in chances.payoffs])
    ax.margins(y=0.12)


def _draw_many(ax: Axes, chances: _Chances) -> None:
    """Draw very many payoffs at their places, and the mean, without the rarest payoffs."""
    payoffs, middle = chances.payoffs, chances.middle
    shown = np.cumsum(middle)
    edges = [MAX_HIDDEN, (1 - MAX_HIDDEN) * shown[-1]]
    first, last = np.searchsorted(shown, edges).tolist()
    places = payoffs - payoffs[first]
    if places[last] <= MOST_SPAN and (places == np.round(places)).all():
        dense = np.zeros(int(places[last]) + 1)
        dense[places[first : last + 1].astype(int)] = middle[first : last + 1]
        edges = payoffs[first] + np.arange(len(dense) + 1) - 0.5
        ax.stairs(dense, edges, fill=True, color=COLOURS[0])
        whole_ticks(ax.xaxis)
    else:
        ax.vlines(payoffs[first : last + 1], 0, middle[first : last + 1], color=COLOURS[0])
        ax.set_ylim(bottom=0)
    mean = float(payoffs @ middle / middle.sum())
    ax.axvline(mean, color=COLOURS[3], linestyle="--", label=f"mean {mean:.4g}")
    ax.legend(frameon=False)
