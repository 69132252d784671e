"""Tables and policies as text for people and other programs: CSV, JSON and DOT."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

from gamedp.errors import InvalidParameterError, UnsupportedProblemError, shown
from gamedp.policies.arrays import columns_inside, columns_of_solution
from gamedp.policies.policy import Policy
from gamedp.results.solution import Solution
from gamedp.runtime.files import as_path, write_whole
from gamedp.runtime.slices import LINES
from gamedp.stages.solution import StagedSolution
from gamedp.storage.dot import dot_lines

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

__all__ = ["check_suffix", "write_csv", "write_policy"]

SUFFIXES = (".csv", ".json", ".dot")


def check_suffix(path: Path) -> str:
    """Return the form that the name of a policy's file shows; raise if it shows none."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        message = (
            f"the name {path.name!r} does not show how to write a policy: let it end in "
            f"{', '.join(SUFFIXES)}."
        )
        raise InvalidParameterError(message)
    return suffix


def write_policy(path: str | os.PathLike[str], policy: Any) -> None:
    """Write a policy as text; see :func:`gamedp.write_policy`."""
    file = as_path(path)
    suffix = check_suffix(file)
    if not isinstance(policy, (Policy, Solution, StagedSolution)):
        message = f"{shown(policy)} is neither a solution nor a policy."
        raise InvalidParameterError(message)
    if suffix == ".dot":
        _write(file, _drawn(policy))
        return
    if isinstance(policy, Policy):
        columns = policy.to_columns()
    elif isinstance(policy, Solution):
        columns = columns_of_solution(policy)
    else:
        columns = columns_inside(policy)
    if suffix == ".csv":
        write_csv(file, columns)
    else:
        _write(file, _objects(columns))


def write_csv(path: Path, columns: Mapping[str, NDArray[Any]]) -> int:
    """Write columns to a file, completely or not at all; return the row count.

    Numbers have all their digits; masked values, such as the action in a terminal state, are empty.

    Raises
    ------
    OSError
        If it cannot be written; names the file.
    """
    _write(path, _lines(columns))
    return _count(columns)


def _write(path: Path, texts: Iterator[str]) -> None:
    """Write texts one after the other."""

    def write(file: Any) -> None:
        for text in texts:
            file.write(text.encode("utf-8", "backslashreplace"))

    write_whole(path, write)


def _count(columns: Mapping[str, NDArray[Any]]) -> int:
    return len(next(iter(columns.values())))


def _rows(columns: Mapping[str, NDArray[Any]], first: int) -> Iterator[tuple[Any, ...]]:
    """Yield some rows from one on; a masked value becomes None."""
    parts: list[np.ndarray[Any, Any]] = [
        column[first : first + LINES] for column in columns.values()
    ]
    yield from zip(*(part.tolist() for part in parts), strict=True)


def _lines(columns: Mapping[str, NDArray[Any]]) -> Iterator[str]:
    """Yield a table with commas as text, some rows at a time."""
    yield _written([columns])
    for first in range(0, _count(columns), LINES):
        yield _written(_rows(columns, first))


def _written(rows: Iterable[Iterable[Any]]) -> str:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _objects(columns: Mapping[str, NDArray[Any]]) -> Iterator[str]:
    """Yield a list of JSON objects as text, one a line."""
    yield "["
    for first in range(0, _count(columns), LINES):
        rows = (dict(zip(columns, row, strict=True)) for row in _rows(columns, first))
        texts = (json.dumps(row, default=str, allow_nan=False) for row in rows)
        yield ("," if first else "") + "\n" + ",\n".join(texts)
    yield "\n]\n"


def _drawn(policy: Policy | Solution | StagedSolution) -> Iterator[str]:
    """Return the lines of a picture of a policy's model."""
    if isinstance(policy, StagedSolution):
        message = (
            "a staged game has a stage in each context, and no single graph; write .csv or .json, "
            "or solution.inside(context) as .dot."
        )
        raise UnsupportedProblemError(message)
    if isinstance(policy, Policy):
        return dot_lines(policy.model, policy.probabilities)
    if policy.counts_steps:
        message = (
            "the best action depends on the steps that are left, which a graph does not show; "
            "write .csv or .json, or solution.steps_left(1) as one of them."
        )
        raise UnsupportedProblemError(message)
    return dot_lines(policy.model, Policy.from_solution(policy).probabilities)
