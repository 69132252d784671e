"""Checks of a folder's content: the shapes and types of its arrays, and whether they fit together.

Checksums have shown that the bytes are those that were written; these checks are of the numbers. A
policy's choices are checked wherever one is made.
"""

from __future__ import annotations

import sys
from functools import singledispatch
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gamedp.certificates.certificate import Certificate
from gamedp.errors import DamagedFileError
from gamedp.model.objectives import FiniteHorizon
from gamedp.model.validation.arrays import KEPT, TYPES
from gamedp.results.solution import Solution
from gamedp.rules.exactness import read_back
from gamedp.stages.solution import StagedSolution
from gamedp.storage.folder import MANIFEST, WAY_OUT

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from fractions import Fraction
    from pathlib import Path

    from numpy.typing import NDArray


LARGEST_DOUBLE = sys.float_info.max

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
    **dict.fromkeys(("exact", "final", *EXACT.values()), (np.uint8,)),
    "error_levels": (np.float64,),
    "error_numbers": UNSIGNED,
}
"""The types that an array may have; the other arrays are int64."""

OPTIONAL = {
    "step_policies",
    "distances",
    *("exact", *EXACT.values()),
    "tight",
    *("until", "target", "allowed", "final"),
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


class _Demand(NamedTuple):
    """Requirement for the numbers of an array: which ones are valid, and a description."""

    name: str
    array: NDArray[Any]
    right: NDArray[np.bool_]
    words: str


def check_contents(folder: Path, thing: Solution | StagedSolution | Certificate) -> None:
    """Raise DamagedFileError if the content of a folder contradicts itself."""
    for name, array, right, words in _demands(thing):
        if not right.all():
            place = np.argwhere(~right)[0].tolist()
            where = ", ".join(map(str, place))
            index = f"[{where}]" if place else ""
            message = (
                f"{name}{index} in {folder} is {array.item(*place)!r}; it must be {words}. "
                f"{WAY_OUT}."
            )
            raise DamagedFileError(message)


@singledispatch
def _demands(thing: Any) -> Iterator[_Demand]:
    """Yield the requirements for the arrays, each assuming that those before it hold."""
    raise NotImplementedError  # each kind of thing that is stored registers its own below


@_demands.register(Solution)
def _(solution: Solution) -> Iterator[_Demand]:
    lower, upper = solution.lower, solution.upper
    yield from _between("values", lower, solution.values, upper)
    model, policy = solution.model, solution.policy
    first, counts = model.choice_offsets[:-1], np.diff(model.choice_offsets)
    # With no steps to go, there is nothing to choose.
    chosen = 0 if _horizon(solution) == 0 else np.minimum(counts, 1)
    own = np.where(chosen, (first <= policy) & (policy - first < counts), policy == -1)
    yield _Demand("policy", policy, own, "a choice of the state, or -1 where it has none")
    if solution.step_policies is not None:
        yield from _of_steps(solution, first, counts)
    if solution.distances is not None:
        steps, over = solution.distances, model.is_terminal
        right = (steps >= -1) & ((steps == 0) == over)
        yield _Demand("distances", steps, right, "0 where the game is over, else 1 or more, or -1")
    if solution.exact is not None:
        sides = zip(lower.tolist(), solution.exact, upper.tolist(), strict=True)
        right = np.array([low <= number <= high for low, number, high in sides], np.bool_)
        near = [
            float(min(max(number, -LARGEST_DOUBLE), LARGEST_DOUBLE)) for number in solution.exact
        ]
        yield _Demand("exact", np.array(near), right, "between the bounds")
    if solution.following is not None:
        values, low, high = solution.following
        yield from _between("following_values", low, values, high, "following_")
    for name, biases in zip(("bias_lower", "bias_upper"), solution.biases or (), strict=False):
        yield _Demand(name, biases, np.isfinite(biases), "a finite number")


def _of_steps(
    solution: Solution, first: NDArray[np.int64], counts: NDArray[np.int64]
) -> Iterator[_Demand]:
    """Yield the requirement that a policy takes existing actions at each number of steps to go."""
    places: Any = solution.step_policies
    length = np.array(len(places))
    right = np.array(len(places) == _horizon(solution))
    yield _Demand("the length of step_policies", length, right, "the horizon of the objective")
    most = places.max(axis=0, initial=0)
    right = most < np.maximum(counts, 1)
    yield _Demand("step_policies, the largest", most, right, "the place of an action of the state")
    if len(places):
        right = (counts == 0) | (first + places[-1].astype(np.int64) == solution.policy)
        words = "the policy's action, with all steps to go"
        yield _Demand("step_policies, the last", places[-1], right, words)


@_demands.register(StagedSolution)
def _(solution: StagedSolution) -> Iterator[_Demand]:
    values, errors = solution.values, solution.errors
    yield _Demand("errors", errors, errors >= 0, "0 or more")
    yield _Demand("values", values, ~np.isinf(values), "finite, or nan where there is no context")
    starts = solution.model.initial_states
    known = ~np.isnan(values[starts]) | np.isinf(errors[starts])
    yield _Demand("the start's values", values[starts], known, "known, if their errors are")


@_demands.register(Certificate)
def _(certificate: Certificate) -> Iterator[_Demand]:
    lower, upper = certificate.lower, certificate.upper
    absent = np.isnan(lower) & (certificate.rules == "stages")
    yield _Demand("lower", lower, absent | ~np.isnan(lower), "a number")
    right = (lower <= upper) | (absent & np.isnan(upper))
    yield _Demand("upper", upper, right, "a number, at least lower")


def _between(
    name: str,
    lower: NDArray[np.float64],
    values: NDArray[np.float64],
    upper: NDArray[np.float64],
    kind: str = "",
) -> Iterator[_Demand]:
    """Yield the requirement that values lie between their bounds, and that all are numbers."""
    yield _Demand(f"{kind}lower", lower, ~np.isnan(lower), "a number")
    yield _Demand(f"{kind}upper", upper, upper >= lower, "a number, at least lower")
    right = (lower <= values) & (values <= upper)
    yield _Demand(name, values, right, "between the bounds")


def _horizon(solution: Solution) -> int | None:
    """Return the number of steps, if it is limited."""
    objective = solution.objective
    return objective.horizon if isinstance(objective, FiniteHorizon) else None
