"""The decision boundary in binary: for two fields of the state, a threshold of a third."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from gamedp.errors import shown
from gamedp.results.columns import fields_of
from gamedp.web.refusals import Refused

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.model.model import Model
    from gamedp.results.solution import Solution

__all__ = ["AXES", "surface_bytes"]

AXES = ("x", "y", "z", "action")

NEVER, NO_STATES = -1, -2

MOST_CELLS = 1_000_000
NO_ACTION_MARKER = 2**15 - 1
"""Marker for no action; numbers of z are sent in two bytes, and are smaller."""


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
    if count > MOST_CELLS or low[2] < 0 or high[2] >= NO_ACTION_MARKER:
        raise Refused(422, "these fields make no surface that a page can draw.")
    cells = np.ravel_multi_index(tuple((places[:, :2] - low[:2]).T), tuple(extents))
    heights = places[:, 2]
    if len(np.unique(cells * (high[2] + 1) + heights)) < len(cells):
        raise Refused(422, "several states have the same {x}, {y} and {z}.", x=x, y=y, z=z)
    model = solution.model
    chosen = np.where(solution.policy >= 0, model.action_labels[solution.policy], action - 1)
    taking = (solution.policy >= 0) & (chosen == action)
    tops = np.full(count, NO_STATES, "<i2")
    np.maximum.at(tops, cells, heights.astype("<i2"))
    least = np.full(count, NO_ACTION_MARKER, "<i2")
    np.minimum.at(least, cells[taking], heights[taking].astype("<i2"))
    least[least == NO_ACTION_MARKER] = NEVER
    least[tops == NO_STATES] = NO_STATES
    values = np.full(count, np.nan, "<f4")
    descending = np.argsort(-heights, kind="stable")  # the lowest one is written last
    values[cells[descending]] = _numbers(solution)[descending]
    reached = np.zeros(count, "u1")
    reached[cells[_reached(solution)]] = 1
    head = np.array([low[0], extents[0], low[1], extents[1], low[2], high[2]], "<i4")
    return b"".join(part.tobytes() for part in (head, least, tops, values, reached))


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


def _numbers(solution: Solution) -> NDArray[np.float64]:
    return solution.values if solution.values.ndim == 1 else solution.values[:, 0]


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
