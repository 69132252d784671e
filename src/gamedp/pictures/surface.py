"""A picture of the states in which a policy takes an action, as a body in space."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.errors import InvalidParameterError
from gamedp.pictures.canvas import (
    canvas,
    colour_bar,
    select,
    values_of,
    what_values_are,
    whole_ticks,
)
from gamedp.pictures.slices import named, taking

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from matplotlib.colors import Normalize
    from numpy.typing import NDArray

    from gamedp.pictures.canvas import Selection
    from gamedp.results.solution import Solution


NEVER = "#B0B0B0"
LUMINANCE = np.array([0.299, 0.587, 0.114])
"""The luminance of red, green and blue."""

DARK_LUMINANCE = 0.45
"""Luminance of faces below which they have light edges."""

SQUARE = np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)])


def plot_surface(  # noqa: PLR0913 - what is usually set in one call
    solution: Solution,
    x: str,
    y: str,
    z: str,
    *,
    action: Hashable,
    where: Mapping[str, int] | None = None,
    told_apart: bool = True,
    norm: Normalize | None = None,
    ax: Any = None,
) -> Any:
    """Draw all states in which the policy takes an action, as a body coloured by player 0's values.

    Its surface is where the decision changes, or the states end. Turn it with ``ax.view_init``.

    Cells that the policy can reach from the start have edges; in the others the decision matters
    only after a mistake. If there are states with some `x` and `y` but the action is taken in none
    of them, a grey square lies above them: a plateau on which other actions are always taken.

    Parameters
    ----------
    solution : Solution
    x, y, z : str
        Fields of the state, named as in :meth:`gamedp.Solution.to_columns`.
    action
        The action.
    where, norm
        As for :func:`plot_values`.
    told_apart : bool
        Whether to show which cells play reaches, and where the action is never taken.
    ax : mpl_toolkits.mplot3d.axes3d.Axes3D, optional
        The axes to draw into, made with ``projection="3d"``; a new figure if not given.

    Returns
    -------
    mpl_toolkits.mplot3d.axes3d.Axes3D

    Raises
    ------
    UnknownNameError, InvalidParameterError, UnsupportedProblemError, MissingPackageError
        As for :func:`plot_values`; also if the policy takes the action in none of the states.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.wubbel import SAVE, Wubbel
    >>> solution = gamedp.solve(Wubbel(goal=12, faces=2, busts=(2,)), compile="never")
    >>> ax = gamedp.pictures.plot_surface(solution, "own", "opponent", "turn", action=SAVE)
    >>> ax.get_title(), ax.get_zlabel()
    ('all states in which to SAVE', 'turn')
    """
    selection = select(solution, (x, y, z), where)
    chosen = taking(solution, action)[selection.states]
    if not chosen.any():
        message = f"the policy takes action {action!r} in none of these states."
        raise InvalidParameterError(message)
    ax = canvas(ax, space=True)
    from matplotlib import colormaps, rcParams
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    values = values_of(solution, 0)[0][selection.states]
    body = selection.grid(np.where(chosen, 1.0, 0.0)) == 1.0
    faces, cells = _faces(body)
    plateau = _plateau(selection, chosen if told_apart else np.ones_like(chosen))
    reached = selection.grid(_reached(solution)[selection.states])[tuple(cells.T)] == 1.0
    seen = np.concatenate([reached & told_apart, np.zeros(len(plateau), np.bool_)])
    shades = np.full(len(seen), np.nan)  # the plateau has no value
    shades[: len(cells)] = selection.grid(values)[tuple(cells.T)]
    corners = np.concatenate([faces + selection.low, plateau])
    colours = colormaps[rcParams["image.cmap"]].with_extremes(bad=NEVER)
    body_faces = Poly3DCollection(
        corners,
        linewidths=0.5,
        cmap=colours,
        norm=norm,
        axlim_clip=True,
    )
    body_faces.set_array(np.ma.masked_invalid(shades))
    body_faces.autoscale_None()
    body_faces.set_edgecolor(_inks(body_faces.to_rgba(body_faces.get_array()), seen))
    ax.add_collection3d(body_faces)
    limits = _limits(corners.reshape(-1, 3))
    ax.set(xlim=limits[0], ylim=limits[1], zlim=limits[2], xlabel=x, ylabel=y, zlabel=z)
    whole_ticks(ax.xaxis, ax.yaxis, ax.zaxis, most=5)
    ax.set_box_aspect([high - low for low, high in limits], zoom=0.85)  # room for the labels
    ax.view_init(18, -140)
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        axis.set_pane_color((0.5, 0.5, 0.5, 0.08))
    name = named(solution, selection, action)
    some_reached = told_apart and not reached.all()
    _explain(ax, name, has_plateau=bool(len(plateau)), some_reached=some_reached)
    suffix = f", {selection.where}" if selection.where else ""
    ax.set_title(f"all states in which to {name}{suffix}")
    if norm is None:
        colour_bar(ax, body_faces, what_values_are(solution))
    return ax


def _plateau(selection: Selection, chosen: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the corners of a square above each column without chosen states."""
    states = ~np.isnan(selection.grid(np.ones(len(chosen))))
    taken = selection.grid(np.where(chosen, 1.0, 0.0)) == 1.0
    columns = np.argwhere(states.any(axis=2) & ~taken.any(axis=2))
    tops = states.shape[2] - 1 - states[:, :, ::-1].argmax(axis=2)[tuple(columns.T)]
    corners = np.zeros((len(columns), 4, 3))
    corners[:, :, :2] = columns[:, None, :] + SQUARE
    corners[:, :, 2] = tops[:, None] + 0.5
    found: NDArray[np.float64] = corners + selection.low
    return found


def _reached(solution: Solution) -> NDArray[np.float64]:
    """Return 1 for states that the policy can reach from the start, else 0; (S,)."""
    model = solution.model
    found = np.zeros(model.num_states)
    new = np.unique(model.initial_states)
    while len(new):
        found[new] = 1.0
        choices = solution.policy[new]
        choices = choices[choices >= 0]
        firsts = model.transition_offsets[choices]
        counts = model.transition_offsets[choices + 1] - firsts
        places = np.repeat(firsts - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        following = np.unique(model.successors[places])
        new = following[found[following] == 0.0]
    return found


def _inks(papers: Any, seen: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the colours of edges: those of the faces, or black or white where visible; (n, 4)."""
    inks: NDArray[np.float64] = np.array(papers, np.float64)
    bright = inks[seen, :3] @ LUMINANCE
    inks[seen, :3] = np.where(bright < DARK_LUMINANCE, 1.0, 0.0)[:, None]
    return inks


def _explain(ax: Any, name: str, *, has_plateau: bool, some_reached: bool) -> None:
    """Draw the legend of everything but the colours."""
    from matplotlib.patches import Patch

    handles = []
    if some_reached:
        handles.append(Patch(facecolor="none", edgecolor="#808080", label="reached in play"))
        handles[-1].set_linewidth(1.5)
    if has_plateau:
        handles.append(Patch(facecolor=NEVER, edgecolor="none", label=f"never {name}"))
    if handles:
        ax.legend(handles=handles, loc="upper left", frameon=False, fontsize="small")


def _faces(body: NDArray[np.bool_]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the corners of the faces between cells of a body and others, and their owners.

    Returns
    -------
    corners : (n, 4, 3) float64
    cells : (n, 3) int64
        The cell of the body that each face belongs to.
    """
    corners, cells = [], []
    for axis in range(3):
        ends = [(1, 1) if other == axis else (0, 0) for other in range(3)]
        change = np.diff(np.pad(body, ends).astype(np.int8), axis=axis)
        for entering, beyond in ((1, 0), (-1, -1)):
            owner = np.argwhere(change == entering)
            owner[:, axis] += beyond
            face = np.repeat(owner[:, None, :].astype(float), 4, axis=1)
            face[:, :, axis] += -0.5 if entering == 1 else 0.5
            face[:, :, [other for other in range(3) if other != axis]] += SQUARE
            corners.append(face)
            cells.append(owner)
    return np.concatenate(corners), np.concatenate(cells)


def _limits(corners: NDArray[np.float64]) -> list[tuple[float, float]]:
    """Return the limits of each axis, beginning at the cells of zero if they are near."""
    ends = []
    for low, high in zip(corners.min(axis=0).tolist(), corners.max(axis=0).tolist(), strict=True):
        ends.append((-0.5 if -0.5 < low <= high / 2 else low, high))
    return ends
