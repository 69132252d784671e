"""Saving and loading of solutions of all kinds of games."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from gamedp.errors import DamagedFileError, GamedpError
from gamedp.rules.game import Rules, StagedRules, is_staged
from gamedp.runtime.files import as_path
from gamedp.stages.solution import StagedSolution
from gamedp.storage import ordinary, staged
from gamedp.storage.folder import MANIFEST, UNFIT, WAY_OUT, read_folder, write_folder

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from gamedp.results.solution import Solution

__all__ = ["load_solution", "restore", "save_solution"]


def save_solution(
    solution: Solution | StagedSolution,
    path: str | os.PathLike[str],
    remarks: Mapping[str, Any] | None = None,
) -> None:
    """Save a solution and its model as a folder; see :func:`gamedp.save`.

    Parameters
    ----------
    solution : Solution or StagedSolution
    path : path-like
        The folder, made if it does not exist. A solution that it holds is replaced. Who saves waits
        until others who save there are done; any number may read it meanwhile.
    remarks : mapping, optional
        Further content of the manifest, as JSON data.

    Raises
    ------
    DamagedFileError
        If the folder has a manifest of something else, which is not overwritten.
    InvalidParameterError
        If the solver has an option that cannot be written down.
    OSError
        If the files cannot be written; the folder then holds what it held before.
    """
    if isinstance(solution, StagedSolution):
        content, arrays = staged.describe(solution)
    else:
        content, arrays = ordinary.describe(solution)
    write_folder(as_path(path), {**content, **(remarks or {})}, arrays)


def load_solution(path: str | os.PathLike[str], game: Any = None) -> Solution | StagedSolution:
    """Load a solution that :func:`save_solution` has saved; see :func:`gamedp.load`."""
    folder = as_path(path)
    return restore(folder, *read_folder(folder), game)


def restore(
    folder: Path, content: dict[str, Any], arrays: Mapping[str, NDArray[Any]], game: Any
) -> Solution | StagedSolution:
    """Return the solution from the result of `read_folder`; see :func:`gamedp.load`."""
    if game is not None:
        _ = StagedRules(game) if is_staged(game) else Rules(game)  # refuses what is no game
    kinds: dict[Any, Callable[..., Solution | StagedSolution]] = {
        "ordinary": ordinary.restore,
        "staged": staged.restore,
    }
    try:
        if content.get("kind") in kinds:
            return kinds[content["kind"]](folder, content, arrays, game)
    except GamedpError:
        raise
    except UNFIT as error:
        message = f"{folder / MANIFEST} does not say what a solution must ({error!r}). {WAY_OUT}."
        raise DamagedFileError(message) from error
    message = (
        f"{folder} holds a solution of the kind {content.get('kind')!r}, written by gamedp "
        f"{content['gamedp']}, which this version cannot read. Solve and save again."
    )
    raise DamagedFileError(message)
