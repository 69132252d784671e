"""The states in which an action is best, in binary: for two fields, intervals of a third."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from gamedp.errors import shown
from gamedp.results.base import of_player
from gamedp.results.columns import fields_of
from gamedp.web.refusals import Refused

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.model.model import Model
    from gamedp.results.solution import Solution

__all__ = ["AXES", "surface_bytes"]

AXES = ("x", "y", "z", "action")

NO_STATES = -1
"""Marker for no states in the place of their largest z."""

MOST_CELLS = 1_000_000
MOST_HEIGHT = 2**15 - 1
"""Largest z, which is sent in two bytes."""

MOST_VALUES = 4_000_000
"""Largest number of values."""


def surface_bytes(solution: Solution, x: str, y: str, z: str, action: int) -> bytes:
    """Return the answer to `surface`; docs/reference/web-api.md describes it.

    Raises
    ------
    Refused
        If there are no such fields, they are not integers, or several states have the same ones.
    """
    places = _places(solution.model, (x, y, z))
    # As Python integers, which do not overflow.
    low, high = places.min(axis=0).tolist(), places.max(axis=0).tolist()
    extents = [last - first + 1 for first, last in zip(low[:2], high[:2], strict=True)]
    count = math.prod(extents)
    if count > MOST_CELLS or low[2] < 0 or high[2] > MOST_HEIGHT:
        raise Refused(422, "these fields make no surface that a page can draw.")
    cells = np.ravel_multi_index(tuple((places[:, :2] - low[:2]).T), tuple(extents))
    order = np.lexsort((places[:, 2], cells))  # up each column
    cells, heights = cells[order], places[order, 2]
    same = cells[1:] == cells[:-1]
    if (same & (heights[1:] == heights[:-1])).any():
        raise Refused(422, "several states have the same {x}, {y} and {z}.", x=x, y=y, z=z)
    policy, labels = solution.policy, solution.model.action_labels
    taking = ((policy >= 0) & (np.where(policy >= 0, labels[policy], 0) == action))[order]
    # An interval goes on while the next state of the column takes the action, too.
    goes_on = same & taking[1:] & taking[:-1]
    first = taking & ~np.concatenate(([False], goes_on))
    last = taking & ~np.concatenate((goes_on, [False]))
    tops = np.full(count, NO_STATES, "<i2")
    tops[cells] = heights  # the highest one is written last
    sizes = np.maximum(tops.astype(np.int64) - low[2] + 1, 0)  # of the columns
    if sizes.sum() > MOST_VALUES:
        raise Refused(422, "these fields make no surface that a page can draw.")
    values = np.full(sizes.sum(), np.nan, "<f4")
    places = (np.cumsum(sizes) - sizes)[cells] + heights - low[2]
    values[places] = of_player(solution.values, 0)[order]
    reached = np.zeros(count, "u1")
    reached[cells[_reached(solution)[order]]] = 1
    parts = (
        np.array([low[0], extents[0], low[1], extents[1], low[2], high[2]], "<i4"),
        tops,
        np.bincount(cells[first], minlength=count).astype("<i2"),
        reached,
        np.column_stack((heights[first], heights[last])).astype("<i2"),
        values,
    )
    return b"".join(part.tobytes() for part in parts)


def _places(model: Model, names: tuple[str, ...]) -> NDArray[np.int64]:
    """Return the three fields of all states."""
    fields = fields_of(model)
    columns = []
    for name in names:
        if name not in fields:
            sentence = "a state has no field {name}; it has: {list}."
            raise Refused(422, sentence, name=shown(name), list=", ".join(fields))
        column = fields[name]
        if column.dtype.kind not in "iub":
            raise Refused(422, "the field {name} holds no whole numbers.", name=name)
        columns.append(column.astype(np.int64))
    return np.column_stack(columns)


def _reached(solution: Solution) -> NDArray[np.bool_]:
    """Return which states are reached from the start by the policy."""
    model = solution.model
    seen = np.zeros(model.num_states, np.bool_)
    frontier = np.unique(model.initial_states)
    while len(frontier):
        seen[frontier] = True
        choices = solution.policy[frontier]
        choices = choices[choices >= 0]
        starts, ends = model.transition_offsets[choices], model.transition_offsets[choices + 1]
        lengths = ends - starts
        within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        following = np.unique(model.successors[np.repeat(starts, lengths) + within])
        frontier = following[~seen[following]]
    return seen
