"""Forms of arrays from outside, and the names of actions and variables of states."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs
import numpy as np

from gamedp.errors import InvalidModelError, shown
from gamedp.rules.exactness import MAX_EXACT_INTEGER, as_given, as_real
from gamedp.rules.layout import MAX_INT64

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.runtime.arrays import Flags

    Integers = NDArray[np.int64]
    Variables: TypeAlias = Mapping[str, NDArray[np.int64] | Flags]

ARRAYS = (
    "choice_offsets",
    "transition_offsets",
    "successors",
    "probabilities",
    "rewards",
    "players",
    "terminals",
    "payoffs",
    "action_labels",
    "initial_states",
    "initial_probabilities",
)
"""The arrays that a model is made of."""


@attrs.frozen(eq=False)
class Rows:
    """The state and the label of each choice, as error messages need them."""

    choice_offsets: Integers
    transition_offsets: Integers
    labels: NDArray[np.signedinteger[Any]]

    def choice(self, choice: int) -> str:
        """Return a description of a choice."""
        state = _row_of(self.choice_offsets, choice)
        return f"choice {choice} (action {self.labels[choice]}) of state {state}"

    def transition(self, transition: int) -> str:
        """Return a description of the origin of a transition."""
        return self.choice(_row_of(self.transition_offsets, transition))


def _row_of(offsets: Integers, place: int) -> int:
    return int(np.searchsorted(offsets, place, side="right")) - 1


def offsets_of(counts: NDArray[Any]) -> Integers:
    """Return the start of each row, for rows of these lengths, and the end of the last one."""
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def how_many(bad: Flags, of_what: str) -> str:
    """Return the number of bad places, in brackets."""
    count = int(np.count_nonzero(bad))
    return f"({count:,} of {len(bad):,} {of_what} {'is' if count == 1 else 'are'} off)"


def _as_array(name: str, values: Any, dimensions: tuple[int, ...]) -> NDArray[Any]:
    """Return `values` as an array of one of these numbers of dimensions."""
    if isinstance(values, np.ma.MaskedArray):
        message = (
            f"{name} is a masked array, and what is masked has no number. Fill it first: "
            f"{name}.filled(...)."
        )
        raise InvalidModelError(message)
    try:
        array = np.asarray(values)
    except ValueError as error:
        message = f"{name} is not an array: its rows differ in length or kind ({error})."
        raise InvalidModelError(message) from None
    if array.ndim not in dimensions:
        wanted = " or ".join(map(str, dimensions))
        message = f"{name} has {array.ndim} dimensions (shape {array.shape}) instead of {wanted}."
        raise InvalidModelError(message)
    return array


def as_integers(name: str, values: Any) -> Integers:
    """Return a copy as 64-bit integers."""
    array = _as_array(name, values, (1,))
    if array.size and (
        array.dtype.kind not in "iu" or (array.dtype == np.uint64 and array.max() > MAX_INT64)
    ):
        message = (
            f"{name} holds {array.dtype}; it must hold integers of at most 64 bits with a sign. "
            f"If these are whole numbers, convert them: {name}.astype(numpy.int64)."
        )
        raise InvalidModelError(message)
    return array.astype(np.int64)


def as_numbers(name: str, values: Any, dimensions: tuple[int, ...] = (1,)) -> NDArray[Any]:
    """Return a copy as doubles; as objects if some numbers are not equal to a double.

    Those are then Fractions, and the others floats.
    """
    array = _as_array(name, values, dimensions)
    if array.dtype.kind in "iufO":
        try:
            if not _may_round(array):
                return array.astype(np.float64)
            if not isinstance(values, np.ndarray):  # a list of ints and floats is made floats
                array = _as_array(name, np.asarray(values, object), dimensions)
            numbers = array.ravel().tolist() if array.dtype.itemsize <= 8 else list(array.flat)
            for number in numbers:
                as_real(number)  # refuses texts, among others
            return as_given(numbers).reshape(array.shape)
        except (TypeError, ValueError, OverflowError):
            pass  # objects that are not numbers
    message = f"{name} holds {array.dtype}; it must hold real numbers."
    raise InvalidModelError(message)


def _may_round(array: NDArray[Any]) -> bool:
    """Return whether an array or a list may contain numbers that are not equal to a double."""
    if array.dtype.kind == "O" or array.dtype.itemsize > 8:
        return True
    return array.dtype.itemsize == 8 and bool(
        array.max(initial=0) >= MAX_EXACT_INTEGER or array.min(initial=0) <= -MAX_EXACT_INTEGER
    )


def as_index(name: str, value: Any) -> int:
    """Return an integer of any library; bools do not count as such."""
    try:
        if not isinstance(value, (bool, np.bool_)):
            return operator.index(value)
    except TypeError:
        pass  # not an integer either
    message = f"{name} is {shown(value)}; it must be an integer."
    raise InvalidModelError(message)


def check_offsets(name: str, offsets: Integers, end: int, row: str, items: str) -> None:
    """Refuse offsets that do not begin with 0, fall, or do not end where the items do."""
    if len(offsets) == 0 or offsets[0] != 0:
        begin = f"begins with {offsets[0]}" if len(offsets) else "is empty"
        message = f"{name} {begin}; the first entry must be 0, where the {items} begin."
        raise InvalidModelError(message)
    falls = offsets[1:] < offsets[:-1]
    if falls.any():
        place = int(falls.argmax())
        message = (
            f"{name} falls from {offsets[place]} to {offsets[place + 1]} at {row} {place} "
            f"{how_many(falls, f'{row}s')}. Offsets never fall; a {row} without {items} repeats "
            "the entry before."
        )
        raise InvalidModelError(message)
    if offsets[-1] != end:
        message = (
            f"{name} ends with {offsets[-1]}, but there are {end:,} {items}. The last entry must "
            f"be the number of {items}."
        )
        raise InvalidModelError(message)


def check_length(name: str, array: NDArray[Any], length: int, items: str) -> None:
    """Refuse an array that does not have exactly one entry for each item."""
    if len(array) != length:
        message = (
            f"{name} has {len(array):,} entries, but there are {length:,} {items}; each needs one."
        )
        raise InvalidModelError(message)


def names_and_variables(action_names: Any, variables: Any) -> tuple[tuple[str, ...], Variables]:
    """Return both as a model keeps them, the arrays copied; they are not checked yet."""
    if isinstance(action_names, str) or not isinstance(action_names, Sequence):
        message = f"action_names is {shown(action_names)}; it must be a sequence of texts."
        raise InvalidModelError(message)
    if not isinstance(variables, Mapping):
        message = f"variables is {shown(variables)}; it must be a mapping of names to arrays."
        raise InvalidModelError(message)
    columns = {}
    for name, given in variables.items():
        is_truth = getattr(given, "dtype", None) == np.bool_
        columns[name] = np.array(given) if is_truth else as_integers(f"variable {name!r}", given)
    return tuple(action_names), columns


def check_names(model: Any) -> None:
    """Raise InvalidModelError unless actions and states have names that fit the model."""
    names, labels = model.action_names, model.action_labels
    for name in (*names, *model.variables):
        if not isinstance(name, str):
            message = f"{shown(name)} is no name of an action or a variable; it must be a text."
            raise InvalidModelError(message)
    bad = (labels < 0) | (labels >= len(names)) if names else np.zeros(0, np.bool_)
    if bad.any():
        message = (
            f"action_names has {len(names):,} names, and none for action {labels[bad.argmax()]} "
            f"{how_many(bad, 'choices')}. The name of an action stands at its number."
        )
        raise InvalidModelError(message)
    for name, column in model.variables.items():
        array: Any = column
        if not isinstance(array, np.ndarray) or array.dtype not in (np.int64, np.bool_):
            message = f"variable {name!r} is {shown(array)}; it must be an array of int64 or bool."
            raise InvalidModelError(message)
        check_length(f"variable {name!r}", array, model.num_states, "states")
