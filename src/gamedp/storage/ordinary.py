"""Conversion of solutions of ordinary games to JSON data and arrays, and back."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.results.solution import Solution
from gamedp.rules.exactness import written
from gamedp.storage.arrays import check_arrays, length, numbers_of, shapes_of_model
from gamedp.storage.contents import check_contents
from gamedp.storage.models import arrays_of_model, describe_model, restore_model
from gamedp.storage.results import SETS, describe_result, restore_result, sets_of
from gamedp.storage.rules import game_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["SOLUTION_ARRAYS", "describe", "restore"]

SOLUTION_ARRAYS = ("values", "lower", "upper", "policy", "step_policies", "distances", "tight")

BIASES = ("bias_lower", "bias_upper")

FOLLOWING = ("following_values", "following_lower", "following_upper")


def describe(solution: Solution) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the manifest's description of a solution, and its arrays."""
    content = {
        "kind": "ordinary",
        **describe_result(solution),
        **describe_model(solution.model),
    }
    own = {name: getattr(solution, name) for name in SOLUTION_ARRAYS}
    if solution.biases is not None:
        own |= dict(zip(BIASES, solution.biases, strict=True))
    if solution.following is not None:
        own |= dict(zip(FOLLOWING, solution.following, strict=True))
    arrays = arrays_of_model(solution.model)
    arrays |= {name: array for name, array in own.items() if array is not None}
    if solution.exact is not None:
        arrays["exact"] = np.frombuffer(written(solution.exact).encode(), np.uint8)
    return content, arrays | sets_of(solution.objective)


def restore(
    folder: Path, content: dict[str, Any], arrays: Mapping[str, NDArray[Any]], game: Any
) -> Solution:
    """Return the described solution; see :func:`gamedp.load`."""
    shapes = shapes_of_model(arrays, content)
    shapes |= dict.fromkeys(("values", "lower", "upper"), _shape_of_values(shapes))
    shapes |= {
        "policy": shapes["players"],
        "distances": shapes["players"],
        **dict.fromkeys((*SETS, *BIASES, *FOLLOWING), shapes["players"]),
        "tight": shapes["action_labels"],
        "step_policies": (length(arrays, "step_policies"), *shapes["players"]),
        "exact": (length(arrays, "exact"),),
    }
    check_arrays(folder, arrays, content["arrays"], shapes)
    model = restore_model(folder, content, arrays, game_of(folder, content["game"], game))
    biases = tuple(arrays[name] for name in BIASES if name in arrays)
    following = tuple(arrays[name] for name in FOLLOWING if name in arrays)
    solution = restore_result(
        folder,
        content,
        arrays,
        Solution,
        model=model,
        exact=_exact_values(folder, arrays, model.num_states),
        biases=biases if len(biases) == len(BIASES) else None,
        following=following if len(following) == len(FOLLOWING) else None,
        **{name: arrays.get(name) for name in SOLUTION_ARRAYS},
    )
    check_contents(folder, solution)
    return solution


def _shape_of_values(shapes: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    """Return the shape: a row for each state and, for more than two players, reward columns."""
    return (*shapes["players"], *shapes["rewards"][1:])


def _exact_values(
    folder: Path, arrays: Mapping[str, NDArray[Any]], num_states: int
) -> tuple[Fraction | float, ...] | None:
    """Return the exact values of a folder, some of which may be infinite; None if it has none."""
    if "exact" not in arrays:
        return None
    return numbers_of(folder, arrays["exact"], num_states, math.isinf)
