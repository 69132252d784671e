"""Checks of the shapes and types of the arrays of a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.errors import DamagedFileError
from gamedp.model.validation.arrays import KEPT, TYPES
from gamedp.rules.exactness import read_back
from gamedp.storage.folder import MANIFEST, WAY_OUT

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from fractions import Fraction
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["EXACT", "check_arrays", "length", "numbers_of", "shapes_of_model"]

EXACT = {name: f"exact_{name}" for name in KEPT}
"""Names of the texts of arrays that hold Fractions."""

UNSIGNED = (np.uint8, np.uint16, np.uint32, np.uint64)

DTYPES = {
    **TYPES,
    "values": (np.float64,),
    "lower": (np.float64,),
    "upper": (np.float64,),
    "bias_lower": (np.float64,),
    "bias_upper": (np.float64,),
    "following_values": (np.float64,),
    "following_lower": (np.float64,),
    "following_upper": (np.float64,),
    "tight": (np.bool_,),
    "until": (np.bool_,),
    "target": (np.bool_,),
    "allowed": (np.bool_,),
    "step_policies": UNSIGNED,
    **dict.fromkeys(("exact", *EXACT.values()), (np.uint8,)),
    "error_levels": (np.float64,),
    "error_numbers": UNSIGNED,
}
"""The types that an array may have; the other arrays are int64."""

OPTIONAL = {
    "step_policies",
    "distances",
    *("exact", *EXACT.values()),
    "tight",
    *("until", "target", "allowed"),
    *("following_values", "following_lower", "following_upper"),
    *("bias_lower", "bias_upper"),
}
"""Arrays that only some solutions have."""


def check_arrays(
    folder: Path,
    arrays: Mapping[str, NDArray[Any]],
    files: Mapping[str, Mapping[str, str]],
    shapes: Mapping[str, tuple[int, ...]],
    types: Mapping[str, tuple[type[np.generic], ...]] = DTYPES,
    optional: Collection[str] = OPTIONAL,
) -> None:
    """Raise unless all arrays are there, in the required shapes and types.

    Parameters
    ----------
    folder : Path
    arrays : mapping of name to array
    files : mapping of name to what the manifest says of it
    shapes : mapping of name to shape
    types : mapping of name to types
        Those that an array may have; int64 where it is not named.
    optional : collection of str
        The arrays that may be missing.
    """
    missing = sorted(shapes.keys() - arrays.keys() - set(optional))
    if missing:
        message = f"{folder / MANIFEST} does not name {', '.join(missing)}. {WAY_OUT}."
        raise DamagedFileError(message)
    for name, array in arrays.items():
        its_types = types.get(name, (np.int64,))
        if array.dtype not in its_types or array.shape != shapes.get(name):
            message = (
                f"{folder / files[name]['file']} holds {array.dtype} of shape "
                f"{array.shape}; {name} must hold {' or '.join(t.__name__ for t in its_types)} of "
                f"shape {shapes.get(name)}. {WAY_OUT}."
            )
            raise DamagedFileError(message)


def length(arrays: Mapping[str, NDArray[Any]], name: str) -> int:
    """Return the number of rows of an array; 0 if it is missing or has no rows."""
    return len(arrays[name]) if name in arrays and arrays[name].ndim else 0


def numbers_of(
    folder: Path, text: NDArray[np.uint8], count: int, may_be: Callable[[float], bool]
) -> tuple[Fraction | float, ...]:
    """Return rational numbers that were saved as text, one a line, and any floats among them."""
    try:
        numbers = tuple(read_back(text.tobytes().decode("ascii", errors="replace")))
    except (ValueError, ZeroDivisionError):
        numbers = ()
    floats = [number for number in numbers if isinstance(number, float)]
    if len(numbers) != count or not all(map(may_be, floats)):
        message = (
            f"the exact values in {folder} are not {count:,} rational numbers, one a line. "
            f"{WAY_OUT}."
        )
        raise DamagedFileError(message)
    return numbers


def shapes_of_model(
    arrays: Mapping[str, NDArray[Any]], content: Mapping[str, Any]
) -> dict[str, tuple[int, ...]]:
    """Return the required shape of each array of a model, given the lengths of some.

    Parameters
    ----------
    arrays : mapping of name to array
    content : mapping
        What `gamedp.storage.models` has written of the model.
    """
    states = max(0, length(arrays, "choice_offsets") - 1)
    choices = max(0, length(arrays, "transition_offsets") - 1)
    transitions, ends = length(arrays, "successors"), length(arrays, "terminals")
    starts = length(arrays, "initial_states")
    described = content["model"]
    num_players = described["num_players"]
    own = num_players > 2 or (num_players == 2 and described["constant_sum"] is None)
    columns = (num_players,) if own else ()
    shapes: dict[str, tuple[int, ...]] = {
        "choice_offsets": (states + 1,),
        "transition_offsets": (choices + 1,),
        "successors": (transitions,),
        "probabilities": (transitions,),
        "rewards": (choices, *columns),
        "players": (states,),
        "terminals": (ends,),
        "payoffs": (ends, *columns),
        "action_labels": (choices,),
        "initial_states": (starts,),
        "initial_probabilities": (starts,),
    }
    shapes |= {name: (length(arrays, name),) for name in EXACT.values()}
    if content["states"]["kind"] == "packed":
        shapes["codes"] = (states, content["states"]["num_words"])
    if variables := content.get("names", {}).get("variables"):
        shapes["variables"] = (len(variables), states)
    return shapes
