"""Solutions in the user's cache folder, so that a problem is solved only once.

The name of a folder is made from the problem: the game with its parameters, the objective, the
solver and the tolerance. The manifest records the rules and the version of gamedp, so the solution
of rules that have been edited since is replaced. A folder is written under a temporary name and
renamed when it is complete, so processes that solve the same problem do not disturb each other.
"""

from __future__ import annotations

import functools
import hashlib
import json
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from gamedp.errors import GamedpError, InvalidParameterError, KeptSolutionWarning, shown, warn
from gamedp.results.status import Statistics
from gamedp.rules.anatomy import rules_digest
from gamedp.rules.game import OF_TABLES
from gamedp.runtime.encoding import encode_object, is_unwritable
from gamedp.runtime.jit import cache_directory
from gamedp.storage.folder import read_folder
from gamedp.storage.kinds import restore, save
from gamedp.storage.results import encode_objective, encode_solver, sets_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gamedp.model.objectives import Objective
    from gamedp.results.solution import Solution
    from gamedp.results.status import Tolerance
    from gamedp.runtime.options import StateChoice
    from gamedp.stages.solution import StagedSolution


TEMPORARY = ".gamedp-tmp"
STALE_AFTER = 24 * 3600.0
"""Seconds after which a temporary folder counts as left over from a killed process."""

NOT_OURS = ("cli", "games", "testing")
"""Parts of gamedp on which no solution depends; the digest of the rules covers the games."""


@attrs.frozen
class LoadedStatistics(Statistics):
    """Statistics of a kept solution: `seconds` has only the time taken to ``"load"`` it.

    Attributes
    ----------
    folder : Path
        The folder from which the solution was read.
    """

    folder: Path


def read_or_solve(
    game: Any,
    problem: tuple[Objective, Any, Tolerance, StateChoice],
    solve: Callable[[], Solution | StagedSolution],
) -> Solution | StagedSolution:
    """Return the kept solution of a game if it is intact, else solve the game and keep the result.

    Parameters
    ----------
    game
        A game or a staged game.
    problem : tuple
        The objective, the solver or None, the tolerance, and which states.
    solve : callable
    """
    try:
        folder, marks = _place(game, problem)
    except InvalidParameterError as error:
        _warn(f"the solution of {shown(game)} is not kept: {error}")
        return solve()
    is_there = folder.exists()
    if is_there:
        try:
            return _read(folder, marks, game)
        except (GamedpError, OSError) as error:
            _warn(f"the solution kept in {folder} is of no use and is replaced: {error}")
    solution = solve()
    try:
        _write(folder, marks, solution, replace=is_there)
    except (GamedpError, OSError) as error:
        _warn(f"the solution of {shown(game)} cannot be kept in {folder}: {error}")
    return solution


def _warn(message: str) -> None:
    """Warn that a solution is not kept, or not read."""
    warn(message, KeptSolutionWarning)


def _place(
    game: Any,
    problem: tuple[Objective, Any, Tolerance, StateChoice],
) -> tuple[Path, dict[str, str]]:
    """Return the folder of the kept solution of a problem, and what its manifest must say.

    That are the digests of the problem, of the game's rules and of gamedp itself.

    Raises
    ------
    InvalidParameterError
        If the game, its rules, the objective or the solver cannot be identified.
    """
    objective, solver, allowed, states = problem
    described, rules = _identified(game, ("box",) if states == "all" else ())
    parts = [
        described,
        _described(objective),
        None if solver is None else encode_solver(solver),
        [allowed.absolute, allowed.relative],
        states,
        [sys.implementation.name, *sys.version_info[:2]],  # rules are compared as byte code
    ]
    text = hashlib.sha256(json.dumps(parts).encode()).hexdigest()
    folder = cache_directory() / "solutions" / f"{type(game).__name__}-{text[:24]}"
    return folder, {"problem": text, "rules": rules, "gamedp": _own_digest()}


def _identified(game: Any, methods: tuple[str, ...]) -> tuple[dict[str, Any], str]:
    """Return the parameters of a game, and the digest of its rules and some other methods.

    Raises
    ------
    InvalidParameterError
        If they cannot be identified.
    """
    described = encode_object(game)
    for name, value in described["fields"].items():
        if is_unwritable(value):
            message = f"its parameter {name} is a {value['unwritable']}, which cannot be compared."
            raise InvalidParameterError(message)
    rules = rules_digest(game, methods)
    if rules is None:
        message = (
            "its rules call something other than plain functions, or read what cannot be saved, so "
            "that they cannot be compared."
        )
        raise InvalidParameterError(message)
    return described, rules


def kept_tables(game: Any) -> Path | None:
    """Return the folder for a game's tables; None, with a warning, if it cannot have one.

    What other rules, or another gamedp, have left there is removed: its name is that of the game
    with its parameters, and below it that of all that the tables depend on.
    """
    try:
        described, rules = _identified(game, OF_TABLES)
        problem = hashlib.sha256(json.dumps(described).encode()).hexdigest()
        version = [rules, _own_digest(), sys.implementation.name, *sys.version_info[:2]]
        name = hashlib.sha256(json.dumps(version).encode()).hexdigest()[:24]
        home = cache_directory() / "tables" / f"{type(game).__name__}-{problem[:24]}"
        (home / name).mkdir(parents=True, exist_ok=True)
        for other in home.iterdir():
            if other.name != name:
                shutil.rmtree(other, ignore_errors=True)
    except (InvalidParameterError, OSError) as error:
        _warn(f"the tables of {shown(game)} are not kept: {error}")
        return None
    return home / name


def _described(objective: Objective) -> dict[str, Any]:
    """Return an objective as JSON data, with the digests of masks."""
    masks = {
        name: hashlib.sha256(f"{mask.shape}".encode() + mask.tobytes()).hexdigest()
        for name, mask in sets_of(objective).items()
    }
    return {**encode_objective(objective), "masks": masks}


@functools.cache
def _own_digest() -> str:
    """Return the digest of the source that a solution depends on besides the rules."""
    package = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        if path.relative_to(package).parts[0] not in NOT_OURS:
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _read(folder: Path, marks: Mapping[str, str], game: Any) -> Solution | StagedSolution:
    """Return the kept solution; raise if it is damaged, or that of another problem."""
    begin = time.perf_counter()
    content, arrays = read_folder(folder)
    reasons = {
        "problem": "it is of another problem",
        "rules": "the rules have changed since",
        "gamedp": f"it was computed by another gamedp, of version {content['gamedp']}",
    }
    for name, reason in reasons.items():
        if content.get("kept", {}).get(name) != marks[name]:
            raise GamedpError(reason + ".")
    solution: Solution | StagedSolution = restore(folder, content, arrays, game)
    fields = attrs.asdict(solution.statistics, recurse=False)
    fields["seconds"] = dict.fromkeys(fields["seconds"], 0.0) | {
        "load": time.perf_counter() - begin
    }
    return attrs.evolve(solution, statistics=LoadedStatistics(**fields, folder=folder))


def _write(
    folder: Path,
    marks: Mapping[str, str],
    solution: Solution | StagedSolution,
    *,
    replace: bool,
) -> None:
    """Keep a solution; one that another process has just kept stays, unless replacement is due."""
    home, name = folder.parent, folder.name
    home.mkdir(parents=True, exist_ok=True)
    for left in home.glob(f"{name}.*{TEMPORARY}"):
        if time.time() - left.stat().st_mtime > STALE_AFTER:
            shutil.rmtree(left, ignore_errors=True)
    beside = Path(tempfile.mkdtemp(TEMPORARY, f"{name}.", home))
    try:
        save(solution, beside / "new", {"kept": dict(marks)})
        if replace and folder.exists():
            folder.rename(beside / "old")
        if not folder.exists():
            _rename_unless_there(beside / "new", folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _rename_unless_there(complete: Path, folder: Path) -> None:
    """Rename a complete folder to its final name, unless another process was first."""
    try:
        complete.rename(folder)
    except OSError:
        if not folder.exists():  # else another process was faster, with the same solution
            raise
