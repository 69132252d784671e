"""Selection of the states in a picture, and their places."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.errors import InvalidParameterError, UnknownNameError, UnsupportedProblemError, shown
from gamedp.results.columns import fields_of
from gamedp.stages.model import StagedModel

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

__all__ = ["Selection", "fields_in", "select"]

FIELD = "field of the state"
MOST_CELLS = 4_000_000
"""Largest number of cells: more than the points of a picture."""


@attrs.frozen(eq=False)
class Selection:
    """Some states of a model, each in a cell of its own.

    Attributes
    ----------
    names : tuple of str
        The fields along the picture's axes.
    states : (n,) int64
        The numbers of the states.
    places : (n, number of axes) int64
        Their fields.
    where : str
        What all of them have in common, in words; empty if nothing was asked for.
    """

    names: tuple[str, ...]
    states: Integers
    places: Integers
    where: str

    @property
    def low(self) -> Integers:
        """The least of each field."""
        least: Integers = self.places.min(axis=0)
        return least

    def grid(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the states' numbers in an array with an axis for each field, NaN elsewhere."""
        sizes = np.ptp(self.places, axis=0) + 1
        table = np.full(sizes, np.nan)
        table[tuple((self.places - self.low).T)] = numbers
        return table

    def edges(self, axis: int) -> NDArray[np.float64]:
        """Return the edges of the cells along an axis."""
        low, high = self.places[:, axis].min(), self.places[:, axis].max()
        ends: NDArray[np.float64] = np.arange(low, high + 2) - 0.5
        return ends


def fields_in(thing: Any) -> tuple[dict[str, NDArray[Any]], NDArray[np.bool_]]:
    """Return the fields of the states of a solution or policy, and which states exist."""
    model = thing.model
    if not isinstance(model, StagedModel):
        return fields_of(model), np.ones(model.num_states, np.bool_)
    packed = model.codec.unpack(np.arange(model.num_states)[:, None])
    return dict(zip(model.layout.names(), packed.T, strict=True)), ~np.isnan(thing.values)


def select(thing: Any, names: Sequence[str], where: Mapping[str, int] | None) -> Selection:
    """Return the states that have the given fields, placed by some of their other fields.

    Parameters
    ----------
    thing : Solution, StagedSolution or Policy
        Whose states; of a staged game, the contexts.
    names : sequence of str
        The fields along the picture's axes.
    where : mapping of str to int, or None

    Raises
    ------
    UnknownNameError
        If the states have no such field.
    InvalidParameterError
        If a field is named twice, no state is left, or several are in one place.
    UnsupportedProblemError
        If a field is not an integer, or the picture would have too many cells.
    """
    fields, chosen = fields_in(thing)
    wanted = {} if where is None else dict(where)
    for name in (*names, *wanted):
        if name not in fields:
            raise UnknownNameError.nearest(FIELD, str(name), fields)
        if [*names, *wanted].count(name) > 1:
            message = f"the field {name} is named twice: {', '.join([*names, *wanted])}."
            raise InvalidParameterError(message)
    for name, value in wanted.items():
        chosen &= np.asarray(fields[name] == value, np.bool_)
    said = ", ".join(f"{name} = {value}" for name, value in wanted.items())
    states = np.flatnonzero(chosen)
    if not len(states):
        message = f"no state has {said}."
        raise InvalidParameterError(message)
    places = np.column_stack([_integers(name, fields[name][states]) for name in names])
    extents = np.ptp(places, axis=0).astype(float) + 1
    if math.prod(extents.tolist()) > MOST_CELLS:
        ranges = " by ".join(f"{extent:,.0f}" for extent in extents)
        message = f"the picture would have {ranges} cells; {MOST_CELLS:,} are the most."
        raise UnsupportedProblemError(message)
    if len(np.unique(places, axis=0)) < len(places):
        raise InvalidParameterError(_shared(fields, names, wanted, states))
    return Selection(tuple(names), states, places, said)


def _integers(name: str, column: NDArray[Any]) -> Integers:
    """Return a column as integers."""
    if column.dtype == object:
        strange = next((item for item in column if type(item) is not int), None)
        if strange is not None:
            message = f"the field {name} is not an integer: {shown(strange)}."
            raise UnsupportedProblemError(message)
    return column.astype(np.int64)


def _shared(
    fields: dict[str, NDArray[Any]],
    names: Sequence[str],
    wanted: Mapping[str, int],
    states: Integers,
) -> str:
    """Return the message that states share a place, with the fields that distinguish them."""
    others = [name for name in fields if name not in names and name not in wanted]
    varying = [name for name in others if (fields[name][states] != fields[name][states[0]]).any()]
    example = ", ".join(f"{name!r}: {fields[name][states[0]]}" for name in varying)
    return (
        f"several states have the same {' and '.join(names)}; name a value of "
        f"{', '.join(varying)}, as where={{{example}}}."
    )
