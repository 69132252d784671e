"""The parts common to solutions of all kinds: objective, solver, status, guarantee."""

from __future__ import annotations

import contextlib
import math
import operator
import typing
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import attrs
import numpy as np

from gamedp.errors import DamagedFileError, InvalidParameterError, shown
from gamedp.model.objectives import Objective, TotalReward
from gamedp.results.status import Guarantee, Statistics, Status
from gamedp.rules.exactness import as_array, written
from gamedp.runtime.encoding import (
    class_path,
    decode,
    decode_object,
    encode,
    encode_object,
    is_unwritable,
)
from gamedp.runtime.registry import SOLVERS, class_named
from gamedp.storage.contents import numbers_of
from gamedp.storage.folder import MANIFEST, UNFIT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from gamedp.results.solution import Solution
    from gamedp.stages.solution import StagedSolution


SETS = ("until", "target", "allowed")
"""The fields of objectives that are sets of states; their masks are arrays of the folder."""

FINAL = "final"
"""The field of objectives that holds a number for each state."""

OBJECTIVES: dict[str, type] = {class_path(kind): kind for kind in typing.get_args(Objective)}

SomeSolution = TypeVar("SomeSolution", "Solution", "StagedSolution")


@attrs.frozen
class SavedSolver:
    """The solver of a loaded solution that no installed package registers: its name and options.

    It says what solved the problem, and cannot solve another one.

    Attributes
    ----------
    name : str
        ``"module:Class"``.
    options : mapping
        In what JSON has.
    """

    name: str
    options: Mapping[str, Any]


def describe_result(solution: Solution | StagedSolution) -> dict[str, Any]:
    """Return objective, solver, status, guarantee and statistics as JSON data."""
    return {
        "objective": encode_objective(solution.objective),
        "solver": encode_solver(solution.solver),
        "status": solution.status.name,
        "guarantee": solution.guarantee.name,
        "statistics": {
            field.name: encode(getattr(solution.statistics, field.name))
            for field in attrs.fields(Statistics)
        },
    }


def sets_of(objective: Objective) -> dict[str, NDArray[Any]]:
    """Return the masks of an objective, and its final values as text, by their fields' names."""
    fields = {name: getattr(objective, name, None) for name in (*SETS, FINAL)}
    arrays = {name: array for name, array in fields.items() if isinstance(array, np.ndarray)}
    if FINAL in arrays:
        arrays[FINAL] = np.frombuffer(written(arrays[FINAL].tolist()).encode(), np.uint8)
    return arrays


def encode_objective(objective: Objective) -> dict[str, Any]:
    """Return an objective without its masks as JSON data.

    Raises
    ------
    InvalidParameterError
        If a set of states cannot be written down.
    """
    without: dict[str, Any] = dict.fromkeys(sets_of(objective), ())
    if FINAL in without:
        without[FINAL] = None
    encoded = encode_object(attrs.evolve(objective, **without))
    for name, value in encoded["fields"].items():
        if is_unwritable(value):
            message = (
                f"{name} of the objective is a {value['unwritable']}, which cannot be written "
                "down. Give a mask or a list of states."
            )
            raise InvalidParameterError(message)
    return encoded


def restore_objective(
    folder: Path, encoded: dict[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> Objective:
    """Return the objective from the result of `encode_objective` and the saved arrays."""
    # Older folders lack these: of the draw, see `with_draw`.
    later = {"TotalReward": ("draw",), "FiniteHorizon": ("target", "allowed", FINAL)}
    encoded = {**encoded, "fields": {**encoded["fields"]}}
    for name in later.get(encoded["class"].rpartition(":")[2], ()):
        encoded["fields"].setdefault(name, None)
    objective: Objective = decode_object(encoded, OBJECTIVES.get)
    # Without its mask, a set is an empty tuple: then the mask must be there.
    names = [each for each in SETS if each in arrays or getattr(objective, each, None) == ()]
    sets: dict[str, Any] = {name: arrays[name] for name in names}
    if FINAL in arrays:
        numbers = numbers_of(folder, arrays[FINAL], len(arrays["lower"]), math.isfinite)
        sets[FINAL] = as_array(numbers)
    return attrs.evolve(objective, **sets)


def with_draw(objective: Objective, draw: float | None) -> Objective:
    """Return an objective with the draw that older folders store separately, if it has none."""
    if draw is None or not isinstance(objective, TotalReward) or objective.until is not None:
        return objective
    return objective if objective.draw is not None else attrs.evolve(objective, draw=draw)


def _without_draw(
    encoded: dict[str, Any], objective: Objective, model: Any
) -> tuple[dict[str, Any], Objective]:
    """Return a solver and an objective of an older folder, in which the solver had the draw.

    None was half the constant sum.
    """
    fields = encoded["fields"]
    if "draw" not in fields or not encoded["class"].endswith("Retrograde"):
        return encoded, objective
    draw = fields["draw"]
    if draw is None and not model.has_swaps and model.has_opponents and model.constant_sum:
        draw = model.constant_sum / 2
    rest = {name: value for name, value in fields.items() if name != "draw"}
    return {**encoded, "fields": rest}, with_draw(objective, draw)


def encode_solver(solver: Any) -> dict[str, Any]:
    """Return the class and the options of a solver.

    Raises
    ------
    InvalidParameterError
        If an option cannot be written down.
    """
    if isinstance(solver, SavedSolver):
        return {"class": solver.name, "fields": dict(solver.options)}
    encoded = encode_object(solver)
    for name, value in encoded["fields"].items():
        if is_unwritable(value):
            message = (
                f"{name} of {shown(solver)} is a {value['unwritable']}, which cannot be saved. "
                "Solvers have options of numbers, strings and tuples of them."
            )
            raise InvalidParameterError(message)
    return encoded


@contextlib.contextmanager
def fitting(folder: Path, content: dict[str, Any], way_out: str) -> Iterator[None]:
    """Turn errors of objects made from a manifest into an error that names the manifest."""
    try:
        yield
    except UNFIT as error:
        message = (
            f"{folder / MANIFEST} was written by gamedp {content['gamedp']} and does not fit this "
            f"version ({error!r}). Use that one, or {way_out}."
        )
        raise DamagedFileError(message) from error


def restore_result(
    folder: Path,
    content: dict[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    kind: Callable[..., SomeSolution],
    **parts: Any,
) -> SomeSolution:
    """Return a solution of a `kind`, from the result of `describe_result` and its `parts`."""
    with fitting(folder, content, "solve and save again"):
        asked = restore_objective(folder, content["objective"], arrays)
        solver, objective = _without_draw(content["solver"], asked, parts.get("model"))
        return kind(
            objective=objective,
            solver=_restore_solver(solver),
            status=Status[content["status"]],
            guarantee=Guarantee[content["guarantee"]],
            statistics=_restore_statistics(content["statistics"]),
            **parts,
        )


def _restore_statistics(encoded: dict[str, Any]) -> Statistics:
    """Return what solving took; raise TypeError or AttributeError unless it is numbers."""
    saved = {name: decode(value) for name, value in encoded.items()}
    seconds = {str(phase): float(taken) for phase, taken in saved.pop("seconds").items()}
    return Statistics(seconds=seconds, **{name: operator.index(n) for name, n in saved.items()})


def _restore_solver(encoded: dict[str, Any]) -> Any:
    """Return the named solver if it is registered, else its name and options."""
    if class_named(SOLVERS, encoded["class"]) is None:
        return SavedSolver(encoded["class"], encoded["fields"])
    return decode_object(encoded, lambda path: class_named(SOLVERS, path))
