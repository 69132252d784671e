"""A picture of the values of a staged game, from the first stage to the last."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gamedp.pictures.canvas import COLOURS, canvas, values_of, what_values_are, whole_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from gamedp.stages.solution import StagedSolution

__all__ = ["plot_stages"]

SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)


def plot_stages(solution: StagedSolution, *, player: int = 0, ax: Axes | None = None) -> Axes:
    """Draw the values of all contexts of a staged game by their rank, from the start to the end.

    For each rank, the picture shows the least and the largest value, the quartiles and the median
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
    'rank of the context'
    """
    model, values = solution.model, values_of(solution, player)[0]
    contexts = model.sweeper.survey()
    over = np.flatnonzero(~np.isnan(contexts.values))
    groups = np.split(contexts.codes, contexts.offsets[1:-1])
    ranks = [model.rules.call("rank", model.state(int(codes[0]))) for codes in groups]
    if len(over):
        first = model.rules.call("rank", model.state(int(over[0])))
        if first not in ranks:
            groups, ranks = [over, *groups], [first, *ranks]
    spread = np.array([np.nanquantile(values[codes], SHARES) for codes in groups])
    ax = canvas(ax)
    from matplotlib import rcParams

    blue = COLOURS[0]
    ax.fill_between(ranks, spread[:, 0], spread[:, 4], color=blue, alpha=0.2, label="all contexts")
    ax.fill_between(ranks, spread[:, 1], spread[:, 3], color=blue, alpha=0.4, label="middle half")
    ax.plot(ranks, spread[:, 2], color=rcParams["text.color"], marker=".", label="median")
    starts = [model.rules.call("rank", context) for _, context in model.starts]
    start = solution.value(player=player)
    ax.plot(starts[:1], [start], "D", color=COLOURS[3], label=f"at the start: {start:.6g}")
    ax.set(xlabel="rank of the context", ylabel=what_values_are(solution, player))
    ax.invert_xaxis()
    whole_ticks(ax.xaxis)
    ax.legend(frameon=False, loc="lower left")
    ax.set_title(f"{sum(map(len, groups)):,} contexts")
    return ax
