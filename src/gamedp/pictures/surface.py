"""The states in which a policy takes an action, as a body in space."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.errors import InvalidParameterError
from gamedp.pictures.canvas import canvas, colour_bar, values_of, what_values_are, whole_ticks
from gamedp.pictures.selection import select
from gamedp.pictures.slices import taking

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.colors import Normalize
    from numpy.typing import NDArray

    from gamedp.results.solution import Solution

__all__ = ["plot_surface"]

SQUARE = np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)])


def plot_surface(
    solution: Solution,
    x: str,
    y: str,
    z: str,
    *,
    action: int,
    where: Mapping[str, int] | None = None,
    norm: Normalize | None = None,
    ax: Any = None,
) -> Any:
    """Draw all states in which the policy takes an action, as a body coloured by player 0's values.

    Its surface is where the decision changes, or the states end. Turn it with ``ax.view_init``.

    Parameters
    ----------
    solution : Solution
    x, y, z : str
        Fields of the state, named as in :meth:`gamedp.Solution.to_columns`.
    action : int
        The action.
    where, norm
        As for :func:`plot_values`.
    ax : mpl_toolkits.mplot3d.axes3d.Axes3D, optional
        Where to draw: axes made with ``projection="3d"``; a new figure if not given.

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
    model = solution.model
    selection = select(model, (x, y, z), where)
    chosen = taking(solution, action)[selection.states]
    if not chosen.any():
        message = f"the policy takes action {action!r} in none of these states."
        raise InvalidParameterError(message)
    ax = canvas(ax, space=True)
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    values = values_of(solution, 0)[0][selection.states]
    body = selection.grid(np.where(chosen, 1.0, 0.0)) == 1.0
    faces, cells = _faces(body)
    body_faces = Poly3DCollection(faces + selection.low, edgecolor="#0003", linewidth=0.2)
    body_faces.set(array=selection.grid(values)[tuple(cells.T)], norm=norm)
    ax.add_collection3d(body_faces)
    limits = _limits(selection.places[chosen])
    ax.set(xlim=limits[0], ylim=limits[1], zlim=limits[2], xlabel=x, ylabel=y, zlabel=z)
    whole_ticks(ax.xaxis, ax.yaxis, ax.zaxis, most=5)
    ax.set_box_aspect([high - low for low, high in limits], zoom=0.85)  # room for the labels
    ax.view_init(18, -140)
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        axis.set_pane_color((0.5, 0.5, 0.5, 0.08))
    if model.rules is None:
        name = f"take action {action}"
    else:
        first = int(selection.states[chosen.argmax()])
        name = model.rules.action_name(model.state(first), action)
    suffix = f", {selection.where}" if selection.where else ""
    ax.set_title(f"all states in which to {name}{suffix}")
    if norm is None:
        colour_bar(ax, body_faces, what_values_are(solution))
    return ax


def _faces(body: NDArray[np.bool_]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the corners of the faces between cells of a body and others, and whose they are.

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


def _limits(places: NDArray[np.int64]) -> list[tuple[float, float]]:
    """Return how far each axis goes: from zero, where that is near."""
    ends = []
    for low, high in zip(places.min(axis=0).tolist(), places.max(axis=0).tolist(), strict=True):
        first = 0 if 0 < low <= high / 2 else low
        ends.append((first - 0.5, high + 0.5))
    return ends
