"""The arrays of a solution, over all states of a model."""

from __future__ import annotations

import functools
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.model.model import Model
from gamedp.results.base import BaseSolution

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["Table"]


@attrs.frozen(eq=False, kw_only=True, repr=False)
class Table(BaseSolution[Model]):
    """The fields of a :class:`gamedp.Solution`, which are described there."""

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    policy: NDArray[np.int64]
    step_policies: NDArray[np.unsignedinteger[Any]] | None = None
    distances: NDArray[np.int64] | None = None
    exact: tuple[Fraction | float, ...] | None = None
    biases: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
    following: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]] | None = None
    tight: NDArray[np.bool_] | None = None
    is_part: bool = False

    def __attrs_post_init__(self) -> None:
        """Lock the arrays."""
        always = (self.values, self.lower, self.upper, self.policy)
        others = (self.step_policies, self.distances, self.tight)
        for array in (*always, *others, *(self.biases or ()), *(self.following or ())):
            if array is not None:
                array.flags.writeable = False

    def __reduce__(self) -> tuple[Callable[[], Table], tuple[()]]:
        # Built again by the constructor, the arrays are locked: pickle returns them writable.
        fields = {field.name: getattr(self, field.name) for field in attrs.fields(type(self))}
        return functools.partial(type(self), **fields), ()
