"""What solutions of all kinds have in common: for what and how they were found, and how good."""

from __future__ import annotations

import typing
from typing import TYPE_CHECKING, Any, TypeVar

import attrs

from gamedp.errors import DamagedFileError, InvalidParameterError, UnknownNameError
from gamedp.objectives import Objective
from gamedp.plain import decode, decode_object, encode, encode_object, is_unwritable
from gamedp.solution import Guarantee, Statistics, Status
from gamedp.storage.folder import MANIFEST

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from gamedp.solution import Solution
    from gamedp.staged_solution import StagedSolution

__all__ = ["describe_result", "encode_solver", "restore_result"]

SomeSolution = TypeVar("SomeSolution", "Solution", "StagedSolution")


def describe_result(solution: Solution | StagedSolution) -> dict[str, Any]:
    """Return objective, solver, status, guarantee and statistics in what JSON has."""
    return {
        "objective": encode_object(solution.objective),
        "solver": encode_solver(solution.solver),
        "status": solution.status.name,
        "guarantee": solution.guarantee.name,
        "statistics": {
            field.name: encode(getattr(solution.statistics, field.name))
            for field in attrs.fields(Statistics)
        },
    }


def encode_solver(solver: Any) -> dict[str, Any]:
    """Return the class and the options of a solver.

    Raises
    ------
    InvalidParameterError
        If an option cannot be written down.
    """
    encoded = encode_object(solver)
    for name, value in encoded["fields"].items():
        if is_unwritable(value):
            message = (
                f"{name} of {solver!r} is a {value['unwritable']}, which cannot be saved. "
                "Solvers have options of numbers, strings and tuples of them."
            )
            raise InvalidParameterError(message)
    return encoded


def restore_result(
    folder: Path, content: dict[str, Any], kind: Callable[..., SomeSolution], **parts: Any
) -> SomeSolution:
    """Return a solution of that `kind`, of what `describe_result` has returned and its `parts`."""
    try:
        return kind(
            objective=decode_object(content["objective"], typing.get_args(Objective).__contains__),
            solver=decode_object(content["solver"], _is_solver),
            status=Status[content["status"]],
            guarantee=Guarantee[content["guarantee"]],
            statistics=Statistics(
                **{name: decode(value) for name, value in content["statistics"].items()}
            ),
            **parts,
        )
    except UnknownNameError as error:
        message = f"the solution in {folder} needs a class that cannot be had: {error}"
        raise UnknownNameError(message) from error
    except (KeyError, TypeError, ValueError) as error:
        message = (
            f"{folder / MANIFEST} was written by gamedp {content['gamedp']} and does not fit this "
            f"version ({error!r}). Use that one, or solve and save again."
        )
        raise DamagedFileError(message) from error


def _is_solver(kind: type) -> bool:
    return callable(getattr(kind, "solve", None)) and callable(getattr(kind, "supports", None))
